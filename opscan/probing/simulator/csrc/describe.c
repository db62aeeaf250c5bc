/* Handles as JSON. An argument is a list whose first element is its kind. */
#include "simulator.h"

#include <inttypes.h>
#include <stdbool.h>

void describe_tensor(struct text *text, const struct handle *tensor) {
  if (!tensor) {
    text_format(text, "null");
    return;
  }
  text_format(text, "[%d,[", tensor->dtype);
  for (uint64_t i = 0; i < tensor->count; i++)
    text_format(text, "%s%" PRId64, i ? "," : "", ((int64_t *)tensor->content)[i]);
  text_format(text, "],%d]", tensor->format);
}

static void describe_scalar(struct text *text, const struct handle *scalar) {
  text_format(text, "%d,", scalar ? scalar->dtype : -1);
  text_number(text, scalar ? scalar->value : 0);
}

static void describe_element(struct text *text, const struct handle *handle, uint64_t i) {
  switch (handle->kind) {
  case INTS: text_format(text, "%" PRId64, ((int64_t *)handle->content)[i]); break;
  case BOOLS: text_format(text, "%s", ((bool *)handle->content)[i] ? "true" : "false"); break;
  case FLOATS: text_number(text, ((float *)handle->content)[i]); break;
  case TENSOR_LIST: describe_tensor(text, handle_at(((void **)handle->content)[i])); break;
  case SCALAR_LIST:
    text_format(text, "[");
    describe_scalar(text, handle_at(((void **)handle->content)[i]));
    text_format(text, "]");
    break;
  }
}

void describe_argument(struct text *text, const struct handle *handle) {
  text_format(text, "[\"%c\"", handle->kind);
  if (handle->kind == TENSOR) {
    text_format(text, ",");
    describe_tensor(text, handle);
  } else if (handle->kind == SCALAR) {
    text_format(text, ",");
    describe_scalar(text, handle);
  } else {
    for (uint64_t i = 0; i < handle->count; i++) {
      text_format(text, ",");
      describe_element(text, handle, i);
    }
  }
  text_format(text, "]");
}
