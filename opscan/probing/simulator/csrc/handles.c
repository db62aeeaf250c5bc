/* The objects that torch_npu makes for a call: tensors, scalars, lists, arrays, streams, events.
 *
 * They live in one range of addresses, in slots of equal size, so that any 64-bit value can be asked whether it is a
 * living handle: a kernel's arguments are handles, numbers and other pointers without a word on which is which.
 */
#include "simulator.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAGIC = 0x0ca991e5 };
static const uint64_t SLOTS = 1u << 26; /* 4 GiB of addresses; memory only for the slots in use */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle *slots;
static uint64_t used, first_free; /* slots ever used; the newest free one plus 1 */

static struct handle *slot_of(const void *address) {
  uintptr_t start = (uintptr_t)slots, at = (uintptr_t)address;
  if (!slots || at < start || at >= start + used * sizeof *slots || (at - start) % sizeof *slots) return NULL;
  struct handle *handle = &slots[(at - start) / sizeof *slots];
  return handle->magic == MAGIC ? handle : NULL;
}

static struct handle *take_slot(void) {
  if (!slots) {
    void *range = mmap(NULL, SLOTS * sizeof *slots, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) return NULL;
    slots = range;
  }
  if (first_free) {
    struct handle *handle = &slots[first_free - 1];
    first_free = handle->next;
    return handle;
  }
  return used < SLOTS ? &slots[used++] : NULL;
}

struct handle *handle_make(enum kind kind, uint64_t count, const void *content, size_t element) {
  void *copy = NULL;
  if (content && count) {
    copy = resize(NULL, count * element);
    memcpy(copy, content, count * element);
  }
  pthread_mutex_lock(&lock);
  struct handle *handle = take_slot();
  if (handle)
    *handle = (struct handle){.magic = MAGIC, .kind = kind, .dtype = -1, .format = -1, .count = copy ? count : 0, .content = copy};
  pthread_mutex_unlock(&lock);
  if (!handle) free(copy);
  return handle;
}

struct handle *handle_at(const void *address) {
  pthread_mutex_lock(&lock);
  struct handle *handle = slot_of(address);
  pthread_mutex_unlock(&lock);
  return handle;
}

void handle_free(const void *address) {
  pthread_mutex_lock(&lock);
  struct handle *handle = slot_of(address);
  struct handle freed = {0};
  if (handle) {
    freed = *handle;
    *handle = (struct handle){.next = first_free};
    first_free = (uint64_t)(handle - slots) + 1;
  }
  pthread_mutex_unlock(&lock);
  if (freed.kind == TENSOR_LIST || freed.kind == SCALAR_LIST) /* a list owns its members */
    for (uint64_t i = 0; i < freed.count; i++) handle_free(((void **)freed.content)[i]);
  free(freed.content);
}
