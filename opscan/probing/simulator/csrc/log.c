/* The events of this process, in order, until somebody drains them. */
#include "simulator.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct text events;

/* A file that receives every event too, named in the environment; written without a buffer, so that the events before
 * a crash are there. Child processes share it. */
static int file_descriptor(void) {
  static int descriptor = -2;
  if (descriptor == -2) {
    const char *path = getenv("OPSCAN_SIMULATED_LOG");
    descriptor = path && *path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
  }
  return descriptor;
}

void log_event(const struct text *line) {
  pthread_mutex_lock(&lock);
  size_t start = events.length;
  text_bytes(&events, line->data, line->length);
  text_bytes(&events, "\n", 1);
  int descriptor = file_descriptor();
  if (descriptor >= 0 && write(descriptor, events.data + start, events.length - start) < 0) { /* it is a copy */
  }
  pthread_mutex_unlock(&lock);
}

void log_words(const char *kind, const char *name) {
  struct text line = {0};
  text_format(&line, "[\"%s\",", kind);
  text_name(&line, name);
  text_format(&line, "]");
  log_event(&line);
  text_free(&line);
}

/* Bytes that wait to be drained. */
EXPORT size_t opscan_sim_pending(void) {
  pthread_mutex_lock(&lock);
  size_t length = events.length;
  pthread_mutex_unlock(&lock);
  return length;
}

/* Moves the oldest events into the buffer, whole lines only; returns how many bytes. */
EXPORT size_t opscan_sim_drain(char *buffer, size_t size) {
  pthread_mutex_lock(&lock);
  size_t count = events.length < size ? events.length : size;
  while (count && events.data[count - 1] != '\n') count--;
  if (count) {
    memcpy(buffer, events.data, count);
    memmove(events.data, events.data + count, events.length - count);
    events.length -= count;
  }
  pthread_mutex_unlock(&lock);
  return count;
}

EXPORT void opscan_sim_discard(void) {
  pthread_mutex_lock(&lock);
  events.length = 0;
  pthread_mutex_unlock(&lock);
}

/* Changes with what a reader must know of this interface. */
EXPORT int opscan_sim_interface(void) { return 1; }
