/* Kernels of the aclnn interface: aclnnX comes in two calls, aclnnXGetWorkspaceSize(arguments of the kernel,
 * uint64_t *workspace_size, aclOpExecutor **executor), then aclnnX(workspace, size, executor, stream). The first tells
 * the arguments, the second launches; the executor that the first makes joins them into one event.
 *
 * Reading arguments of functions whose signatures nobody declared
 * ----------------------------------------------------------------
 * A generated stub declares many parameters of type long, and the caller passes fewer, through a function pointer of
 * the kernel's true type (never as a variadic call). Both ABIs give the n-th integer or pointer argument the same place
 * whatever its width and whatever stands between: x86-64 (System V) has six integer registers, then the stack; AArch64
 * (AAPCS64 on Linux) eight, then the stack; on the stack every argument has eight bytes of its own, in order.
 * Floating-point arguments travel in registers of their own, so they are not seen and move nothing; only a kernel with
 * more than eight of them would put some on the stack among the others. A stub that reads behind the last argument
 * sees the caller's frame, which is there to be read: callers stand deep in the stack. The caller removes its arguments
 * itself in both ABIs. The upper half of an argument narrower than 64 bits is not defined, so an argument is zero
 * where its lower half is; a pointer is not, unless it lies on a multiple of 4 GiB.
 *
 * Where the arguments end
 * -----------------------
 * The last two are the addresses of two local variables of the caller, which have not been set: two neighbouring
 * arguments that point to different aligned eight bytes of zeros in the stack above this frame. Other arguments may
 * point into the stack too (the text of a short string); so pairs that do not point to zeros count only where there
 * is no pair that does.
 */
#define _GNU_SOURCE
#include "simulator.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

struct stack {
  uintptr_t start, end; /* from this frame to the outermost one */
  bool known;           /* whether all of it may be read */
};

/* The part of this thread's stack that lies above the frame. Where code runs on another stack than its thread's,
 * eight mebibytes are taken for it, and not read. */
static struct stack stack_above(const void *frame) {
  static _Thread_local uintptr_t low, high;
  pthread_attr_t attributes;
  if (!high && pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void *address;
    size_t size;
    if (pthread_attr_getstack(&attributes, &address, &size) == 0) {
      low = (uintptr_t)address;
      high = low + size;
    }
    pthread_attr_destroy(&attributes);
  }
  uintptr_t start = (uintptr_t)frame;
  if (start >= low && start < high) return (struct stack){start, high, true};
  return (struct stack){start, start + (8u << 20), false};
}

static bool is_local(struct stack stack, int64_t argument) {
  uintptr_t address = (uintptr_t)argument;
  return address % 8 == 0 && address > stack.start && address + 8 <= stack.end;
}

static bool is_unset(struct stack stack, int64_t argument) {
  return stack.known && *(const int64_t *)argument == 0;
}

/* The position of the address of workspace_size; -1 where it is not found. */
static int end_of(const int64_t *arguments, int count, struct stack stack) {
  int found = -1;
  for (int i = 0; i + 1 < count; i++) {
    int64_t size = arguments[i], executor = arguments[i + 1];
    if (!is_local(stack, size) || !is_local(stack, executor) || size == executor) continue;
    if (is_unset(stack, size) && is_unset(stack, executor)) return i;
    if (found < 0) found = i;
  }
  return found;
}

static void describe_value(struct text *text, int64_t value) {
  struct handle *handle = handle_at((void *)value);
  if (handle)
    describe_argument(text, handle);
  else
    text_format(text, (int32_t)value == 0 ? "[\"0\"]" : "[\"v\"]");
}

/* The first call, from a stub: its arguments become the content of a new executor. */
EXPORT int64_t opscan_sim_workspace(const int64_t *arguments, int count, const void *frame) {
  int end = end_of(arguments, count, stack_above(frame));
  if (end < 0) return SUCCESS; /* then the launch is logged without arguments */
  struct text text = {0};
  text_format(&text, "[");
  for (int i = 0; i < end; i++) {
    if (i) text_format(&text, ",");
    describe_value(&text, arguments[i]);
  }
  text_format(&text, "]");
  *(uint64_t *)arguments[end] = 0;
  *(void **)arguments[end + 1] = handle_make(EXECUTOR, text.length, text.data, 1);
  text_free(&text);
  return SUCCESS;
}

/* The second call, from a stub. */
EXPORT int64_t opscan_sim_launch(const char *api, const void *address) {
  struct text line = {0};
  text_format(&line, "[\"launch\",");
  text_name(&line, api);
  text_format(&line, ",");
  struct handle *executor = handle_at(address);
  if (executor && executor->kind == EXECUTOR) {
    text_bytes(&line, executor->content, executor->count);
    handle_free(executor);
  } else {
    text_format(&line, "null");
  }
  text_format(&line, "]");
  log_event(&line);
  text_free(&line);
  return SUCCESS;
}
