/* What the generated files of stubs are written in. */
#ifndef OPSCAN_STUBS_H
#define OPSCAN_STUBS_H

#include <stdint.h>

int64_t opscan_sim_workspace(const int64_t *arguments, int count, const void *frame);
int64_t opscan_sim_launch(const char *api, const void *executor);

#define STUB __attribute__((visibility("default")))

/* A function that does nothing and succeeds, unless another file defines it. */
#define ACL(name) \
  STUB __attribute__((weak)) int64_t name(void) { return 0; }

/* More integer and pointer arguments than any kernel has, in rows of eight; launches.c says why this reads them. */
#define ROW(x) \
  int64_t x##0, int64_t x##1, int64_t x##2, int64_t x##3, int64_t x##4, int64_t x##5, int64_t x##6, int64_t x##7
#define NAMES(x) x##0, x##1, x##2, x##3, x##4, x##5, x##6, x##7

/* The first call of every kernel: they differ in name only, so that one function has all the names. */
__attribute__((unused)) static int64_t read_arguments(ROW(a), ROW(b), ROW(c), ROW(d), ROW(e), ROW(f), ROW(g), ROW(h),
                                                      ROW(i), ROW(j), ROW(k), ROW(l)) {
  int64_t arguments[] = {NAMES(a), NAMES(b), NAMES(c), NAMES(d), NAMES(e), NAMES(f),
                         NAMES(g), NAMES(h), NAMES(i), NAMES(j), NAMES(k), NAMES(l)};
  return opscan_sim_workspace(arguments, sizeof arguments / sizeof *arguments, __builtin_frame_address(0));
}

#define WORKSPACE(name) STUB int64_t name##GetWorkspaceSize(void) __attribute__((alias("read_arguments")));

/* The second call. */
#define LAUNCH(name) \
  STUB int64_t name(void *workspace, uint64_t size, void *executor, void *stream) { \
    return opscan_sim_launch(#name, executor); \
  }

#endif
