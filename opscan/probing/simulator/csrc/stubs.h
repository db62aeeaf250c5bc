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
#define ROW(of, x) of x##0, of x##1, of x##2, of x##3, of x##4, of x##5, of x##6, of x##7
#define ROWS(of) \
  ROW(of, a), ROW(of, b), ROW(of, c), ROW(of, d), ROW(of, e), ROW(of, f), ROW(of, g), ROW(of, h), ROW(of, i), \
      ROW(of, j), ROW(of, k), ROW(of, l)

#define WORKSPACE(name) \
  STUB int64_t name##GetWorkspaceSize(ROWS(int64_t)) { \
    int64_t arguments[] = {ROWS()}; \
    return opscan_sim_workspace(arguments, sizeof arguments / sizeof *arguments, __builtin_frame_address(0)); \
  }

#define LAUNCH(name) \
  STUB int64_t name(void *workspace, uint64_t size, void *executor, void *stream) { \
    return opscan_sim_launch(#name, executor); \
  }

#endif
