/* Memory of the device and the host, and copies between them (acl/acl_rt.h). */
#include "simulator.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What torch_npu is told: more than any device has, so that models of any size go through. */
static const size_t MEMORY = 6400ull << 30;

/* ---- Blocks: device memory is address space, committed page by page where it is written ---------------------- */

struct block {
  uintptr_t start;
  size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks; /* by address */
static size_t block_count, block_capacity;

/* The first block that starts behind the address. */
static size_t position_behind(uintptr_t address) {
  size_t low = 0, high = block_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (blocks[middle].start > address)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static void add_block(struct block block) {
  pthread_mutex_lock(&lock);
  if (block_count == block_capacity) {
    block_capacity = 2 * block_capacity + 64;
    blocks = resize(blocks, block_capacity * sizeof *blocks);
  }
  size_t at = position_behind(block.start);
  memmove(blocks + at + 1, blocks + at, (block_count - at) * sizeof *blocks);
  blocks[at] = block;
  block_count++;
  pthread_mutex_unlock(&lock);
}

/* The size of the block that starts there, which is one no more; 0 where none does. */
static size_t remove_block(uintptr_t start) {
  pthread_mutex_lock(&lock);
  size_t at = position_behind(start), size = 0;
  if (at > 0 && blocks[at - 1].start == start) {
    size = blocks[at - 1].size;
    memmove(blocks + at - 1, blocks + at, (block_count - at) * sizeof *blocks);
    block_count--;
  }
  pthread_mutex_unlock(&lock);
  return size;
}

static bool on_device(const void *address) {
  pthread_mutex_lock(&lock);
  size_t at = position_behind((uintptr_t)address);
  bool found = at > 0 && (uintptr_t)address - blocks[at - 1].start < blocks[at - 1].size;
  pthread_mutex_unlock(&lock);
  return found;
}

static int32_t reserve(void **address, size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t pages = (size + page) / page * page;
  void *start = mmap(NULL, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return OUT_OF_MEMORY;
  madvise(start, pages, MADV_NOHUGEPAGE); /* else one written byte would commit two mebibytes */
  add_block((struct block){(uintptr_t)start, pages});
  *address = start;
  return SUCCESS;
}

static int32_t release(void *address) {
  size_t size = remove_block((uintptr_t)address);
  if (!size) return address ? INVALID_PARAMETER : SUCCESS;
  munmap(address, size);
  return SUCCESS;
}

EXPORT int32_t aclrtMalloc(void **address, size_t size, int32_t policy) { return reserve(address, size); }
EXPORT int32_t aclrtMallocAlign32(void **address, size_t size, int32_t policy) { return reserve(address, size); }
EXPORT int32_t aclrtFree(void *address) { return release(address); }

/* Segments that grow: addresses are reserved first, physical memory is mapped into them later. */
EXPORT int32_t aclrtReserveMemAddress(void **address, size_t size, size_t alignment, void *expected, uint64_t flags) {
  return reserve(address, size);
}

EXPORT int32_t aclrtReleaseMemAddress(void *address) { return release(address); }

EXPORT int32_t aclrtMallocPhysical(void **handle, size_t size, const void *properties, uint64_t flags) {
  *handle = handle_make(PLAIN, 0, NULL, 0);
  return *handle ? SUCCESS : OUT_OF_MEMORY;
}

EXPORT int32_t aclrtFreePhysical(void *handle) {
  handle_free(handle);
  return SUCCESS;
}

EXPORT int32_t aclrtGetMemInfo(int32_t attribute, size_t *free_bytes, size_t *total) {
  *free_bytes = MEMORY - (400ull << 30);
  *total = MEMORY;
  return SUCCESS;
}

/* ---- Host memory ------------------------------------------------------------------------------------------- */

static int32_t allocate_host(void **address, size_t size) {
  *address = calloc(1, size + 64); /* kernels may read a little past the end of what was asked for */
  return *address ? SUCCESS : OUT_OF_MEMORY;
}

EXPORT int32_t aclrtMallocHost(void **address, size_t size) { return allocate_host(address, size); }

EXPORT int32_t aclrtMallocHostWithCfg(void **address, uint64_t size, void *configuration) {
  return allocate_host(address, size);
}

EXPORT int32_t aclrtFreeHost(void *address) {
  free(address);
  return SUCCESS;
}

EXPORT int32_t aclrtHostRegister(void *address, uint64_t size, int32_t type, void **device_address) {
  *device_address = address;
  return SUCCESS;
}

struct pointer_attributes { /* aclrtPtrAttributes */
  uint32_t device, location, page_size, reserved[4];
};

EXPORT int32_t aclrtPointerGetAttributes(const void *address, struct pointer_attributes *attributes) {
  enum { DEVICE = 1, UNREGISTERED = 2 };
  *attributes = (struct pointer_attributes){.location = on_device(address) ? DEVICE : UNREGISTERED, .page_size = 4096};
  return SUCCESS;
}

/* ---- Copies ------------------------------------------------------------------------------------------------- */

static size_t copy_limit = SIZE_MAX;

/* Copies of more bytes than the limit are logged and not done: they would commit the memory of big models. */
EXPORT void opscan_sim_copy_limit(size_t bytes) { copy_limit = bytes; }

/* aclrtMemcpyKind; 4 leaves it to the addresses. */
static const char *direction(int32_t kind, const void *to, const void *from) {
  static const char *const names[] = {"H2H", "H2D", "D2H", "D2D", NULL, "H2D", "D2D", "D2D"};
  if (kind >= 0 && kind <= 7 && names[kind]) return names[kind];
  return names[(on_device(from) ? 2 : 0) + (on_device(to) ? 1 : 0)];
}

/* `waits`: the host waits for the copy's end. */
static int32_t copy(void *to, const void *from, size_t size, int32_t kind, bool waits) {
  const char *where = direction(kind, to, from);
  bool done = size <= copy_limit;
  struct text line = {0};
  text_format(&line, "[\"copy\",\"%s\",%zu,\"%s\",%s]", waits ? "copy" : where, size, where, done ? "true" : "false");
  log_event(&line);
  text_free(&line);
  if (done && size) memmove(to, from, size);
  return SUCCESS;
}

EXPORT int32_t aclrtMemcpy(void *to, size_t room, const void *from, size_t size, int32_t kind) {
  return copy(to, from, size, kind, true);
}

EXPORT int32_t aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t size, int32_t kind, void *stream) {
  return copy(to, from, size, kind, false);
}

EXPORT int32_t aclrtMemcpyAsyncWithCondition(void *to, size_t room, const void *from, size_t size, int32_t kind,
                                             void *stream) {
  return copy(to, from, size, kind, false);
}

static int32_t copy_all(void **to, void **from, const size_t *sizes, size_t count, bool waits) {
  for (size_t i = 0; i < count; i++) copy(to[i], from[i], sizes[i], 4, waits);
  return SUCCESS;
}

EXPORT int32_t aclrtMemcpyBatch(void **to, size_t *rooms, void **from, size_t *sizes, size_t count) {
  return copy_all(to, from, sizes, count, true);
}

EXPORT int32_t aclrtMemcpyBatchAsync(void **to, size_t *rooms, void **from, size_t *sizes, size_t count) {
  return copy_all(to, from, sizes, count, false);
}

/* Zeros cost nothing: whole pages of the device are given back, and read as zeros. */
static int32_t fill(void *to, int32_t value, size_t size) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)to, end = start + size;
  uintptr_t inner = (start + page - 1) / page * page, outer = end / page * page;
  if (value == 0 && inner < outer && on_device(to)) {
    memset(to, 0, inner - start);
    madvise((void *)inner, outer - inner, MADV_DONTNEED);
    memset((void *)outer, 0, end - outer);
  } else if (size <= copy_limit) {
    memset(to, value, size);
  }
  return SUCCESS;
}

EXPORT int32_t aclrtMemset(void *to, size_t room, int32_t value, size_t size) { return fill(to, value, size); }

EXPORT int32_t aclrtMemsetAsync(void *to, size_t room, int32_t value, size_t size, void *stream) {
  return fill(to, value, size);
}
