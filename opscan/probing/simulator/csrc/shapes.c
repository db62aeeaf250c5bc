/* Shapes that depend on data: what the next results shall be, in the order in which they are asked for. */
#include "simulator.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shape {
  struct shape *next;
  uint64_t count;
  int64_t dims[];
} *first;

/* Adds a shape to the queue; without one a result has the largest shape that torch_npu allows for. */
EXPORT void opscan_sim_next_shape(const int64_t *dims, uint64_t count) {
  struct shape *shape = resize(NULL, sizeof *shape + count * sizeof *dims);
  shape->next = NULL;
  shape->count = count;
  if (count) memcpy(shape->dims, dims, count * sizeof *dims);
  pthread_mutex_lock(&lock);
  struct shape **last = &first;
  while (*last) last = &(*last)->next;
  *last = shape;
  pthread_mutex_unlock(&lock);
}

EXPORT void opscan_sim_forget_shapes(void) {
  pthread_mutex_lock(&lock);
  while (first) {
    struct shape *next = first->next;
    free(first);
    first = next;
  }
  pthread_mutex_unlock(&lock);
}

void take_next_shape(struct handle *tensor) {
  pthread_mutex_lock(&lock);
  struct shape *shape = first;
  if (shape) first = shape->next;
  pthread_mutex_unlock(&lock);
  if (!shape) return;
  tensor->content = resize(tensor->content, shape->count * sizeof *shape->dims);
  if (shape->count) memcpy(tensor->content, shape->dims, shape->count * sizeof *shape->dims);
  tensor->count = shape->count;
  free(shape);
}
