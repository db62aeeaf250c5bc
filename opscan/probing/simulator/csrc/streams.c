/* Streams and events (acl/acl_rt.h). Whatever is asked of a stream has been done. */
#include "simulator.h"

#define MAKES(name, ...) \
  EXPORT int32_t name(void **handle, ##__VA_ARGS__) { \
    *handle = handle_make(PLAIN, 0, NULL, 0); \
    return *handle ? SUCCESS : OUT_OF_MEMORY; \
  }
MAKES(aclrtCreateStream)
MAKES(aclrtCreateStreamWithConfig, uint32_t priority, uint32_t flag)
MAKES(aclrtCreateEvent)
MAKES(aclrtCreateEventWithFlag, uint32_t flag)
MAKES(aclrtCreateEventExWithFlag, uint32_t flag)

#define DESTROYS(name) \
  EXPORT int32_t name(void *handle) { \
    handle_free(handle); \
    return SUCCESS; \
  }
DESTROYS(aclrtDestroyStream)
DESTROYS(aclrtDestroyStreamForce)
DESTROYS(aclrtDestroyEvent)

#define SYNCHRONISES(name) \
  EXPORT int32_t name(void) { \
    log_words("sync", #name); \
    return SUCCESS; \
  }
SYNCHRONISES(aclrtSynchronizeStream)
SYNCHRONISES(aclrtSynchronizeStreamWithTimeout)
SYNCHRONISES(aclrtSynchronizeDevice)
SYNCHRONISES(aclrtSynchronizeDeviceWithTimeout)
SYNCHRONISES(aclrtSynchronizeEvent)

/* The numbers of "complete" in aclrtStreamStatus, aclrtEventStatus, aclrtEventWaitStatus, aclrtEventRecordedStatus. */
#define ANSWERS(name, complete) \
  EXPORT int32_t name(void *handle, int32_t *status) { \
    *status = complete; \
    return SUCCESS; \
  }
ANSWERS(aclrtStreamQuery, 0)
ANSWERS(aclrtQueryEvent, 0)
ANSWERS(aclrtQueryEventWaitStatus, 0)
ANSWERS(aclQueryEventWaitStatus, 0)
ANSWERS(aclrtQueryEventStatus, 1)
ANSWERS(aclQueryEventRecordedStatus, 1)

EXPORT int32_t aclrtStreamGetId(void *stream, int32_t *id) {
  *id = 0;
  return SUCCESS;
}

EXPORT int32_t aclrtGetStreamOverflowSwitch(void *stream, uint32_t *flag) {
  *flag = 0;
  return SUCCESS;
}

EXPORT int32_t aclrtEventElapsedTime(float *milliseconds, void *start, void *end) {
  *milliseconds = 0;
  return SUCCESS;
}

EXPORT int32_t aclrtEventGetTimestamp(void *event, uint64_t *timestamp) {
  *timestamp = 0;
  return SUCCESS;
}

/* No stream is being captured into a graph. */
EXPORT int32_t aclmdlRICaptureGetInfo(void *stream, int32_t *status, void **model) {
  *status = 0;
  if (model) *model = NULL;
  return SUCCESS;
}
