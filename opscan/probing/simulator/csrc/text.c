/* Text that grows, for events of any length. */
#include "simulator.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *resize(void *memory, size_t size) {
  void *resized = realloc(memory, size ? size : 1);
  if (!resized) {
    fputs("opscan: the simulated CANN runtime is out of host memory\n", stderr);
    abort();
  }
  return resized;
}

static void reserve_more(struct text *text, size_t count) {
  if (text->length + count + 1 <= text->capacity) return;
  text->capacity = 2 * (text->length + count) + 256;
  text->data = resize(text->data, text->capacity);
}

void text_bytes(struct text *text, const char *bytes, size_t count) {
  reserve_more(text, count);
  memcpy(text->data + text->length, bytes, count);
  text->length += count;
  text->data[text->length] = '\0';
}

void text_format(struct text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int count = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  reserve_more(text, (size_t)count);
  va_start(arguments, format);
  vsnprintf(text->data + text->length, (size_t)count + 1, format, arguments);
  va_end(arguments);
  text->length += (size_t)count;
}

void text_number(struct text *text, double value) {
  if (isfinite(value))
    text_format(text, "%.17g", value);
  else
    text_format(text, "null");
}

void text_name(struct text *text, const char *name) {
  text_bytes(text, "\"", 1);
  for (; *name; name++) {
    int plain = isalnum((unsigned char)*name) || strchr("_.:-", *name);
    text_bytes(text, plain ? name : "?", 1);
  }
  text_bytes(text, "\"", 1);
}

void text_free(struct text *text) {
  free(text->data);
  *text = (struct text){0};
}
