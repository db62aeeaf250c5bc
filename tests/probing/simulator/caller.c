/* Calls kernels as torch_npu does: through pointers of their true types, with the last two arguments on the stack. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

extern int32_t aclnnAddGetWorkspaceSize(), aclnnAdd(), aclnnManyGetWorkspaceSize(), aclnnMany();

typedef int32_t (*launch)(void *, uint64_t, void *, void *);

void add(void *self, void *other, void *alpha, void *out) {
  typedef int32_t (*first)(void *, void *, void *, void *, uint64_t *, void **);
  uint64_t size = 0;
  void *executor = NULL;
  ((first)aclnnAddGetWorkspaceSize)(self, other, alpha, out, &size, &executor);
  ((launch)aclnnAdd)(NULL, size, executor, NULL);
}

void one(void *argument) {
  typedef int32_t (*first)(void *, uint64_t *, void **);
  uint64_t size = 0;
  void *executor = NULL;
  ((first)aclnnAddGetWorkspaceSize)(argument, &size, &executor);
  ((launch)aclnnAdd)(NULL, size, executor, NULL);
}

/* More arguments than registers, of every width, floating-point numbers and short strings between them. */
void many(void *tensor, void *list, volatile int32_t seven, volatile double half) {
  typedef int32_t (*first)(void *, bool, double, int32_t, void *, float, void *, char *, char *, bool, int8_t, int64_t,
                           double, void *, uint64_t *, void **);
  struct {
    char text[16];
  } layout = {"BSH"}, mode = {"mean"};
  uint64_t size = 0;
  void *executor = NULL;
  ((first)aclnnManyGetWorkspaceSize)(tensor, seven == 7, half, seven, NULL, (float)half, list, layout.text, mode.text,
                                     seven == 8, -1, 0, half, tensor, &size, &executor);
  ((launch)aclnnMany)(NULL, size, executor, NULL);
}

/* A second thread has a stack of its own. */
static void *add_in_thread(void *tensor) {
  add(tensor, tensor, NULL, tensor);
  return NULL;
}

void add_elsewhere(void *tensor) {
  pthread_t thread;
  pthread_create(&thread, NULL, add_in_thread, tensor);
  pthread_join(thread, NULL);
}

/* Two kernels prepared before either is launched, and launched in the other order. */
void interleaved(void *tensor, void *scalar) {
  typedef int32_t (*first)(void *, uint64_t *, void **);
  uint64_t sizes[2] = {0, 0};
  void *executors[2] = {NULL, NULL};
  ((first)aclnnAddGetWorkspaceSize)(tensor, &sizes[0], &executors[0]);
  ((first)aclnnAddGetWorkspaceSize)(scalar, &sizes[1], &executors[1]);
  ((launch)aclnnAdd)(NULL, 0, executors[1], NULL);
  ((launch)aclnnAdd)(NULL, 0, executors[0], NULL);
}

void unread(void) { ((launch)aclnnAdd)(NULL, 0, NULL, NULL); }
