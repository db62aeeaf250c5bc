/* What torch_npu asks about the machine: one device of the chip and the CANN release that the environment names. */
#include "simulator.h"

#include <stdlib.h>
#include <string.h>

static const char *setting(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value && *value ? value : otherwise;
}

EXPORT const char *aclrtGetSocName(void) { return setting("OPSCAN_SIMULATED_SOC", "Ascend910B3"); }

static int32_t answer_version(char *version) {
  strncpy(version, setting("OPSCAN_SIMULATED_CANN", "8.5.0"), 127); /* of the 128 that torch_npu has room for */
  version[127] = '\0';
  return SUCCESS;
}

EXPORT int32_t aclsysGetVersionStr(char *package, char *version) { return answer_version(version); }
EXPORT int32_t aclsysGetCANNVersion(int32_t package, char *version) { return answer_version(version); }

EXPORT int32_t aclrtGetDeviceCount(uint32_t *count) {
  *count = 1;
  return SUCCESS;
}

EXPORT int32_t aclrtGetDevice(int32_t *device) {
  *device = 0;
  return SUCCESS;
}

EXPORT int32_t aclrtGetLogicDevIdByUserDevId(int32_t user, int32_t *logic) {
  *logic = user;
  return SUCCESS;
}

EXPORT int32_t aclrtGetCurrentContext(void **context) {
  static char one;
  *context = &one;
  return SUCCESS;
}

EXPORT int32_t aclrtGetPrimaryCtxState(int32_t device, uint32_t *flags, int32_t *active) {
  if (flags) *flags = 0;
  *active = 1;
  return SUCCESS;
}

EXPORT int32_t aclrtDeviceCanAccessPeer(int32_t *possible, int32_t device, int32_t peer) {
  *possible = 0;
  return SUCCESS;
}

/* Cores and other sizes: a number that code can divide by. */
enum { CORES = 24 };

EXPORT int32_t aclrtGetDeviceInfo(uint32_t device, int32_t attribute, int64_t *value) {
  *value = CORES;
  return SUCCESS;
}

EXPORT int32_t aclGetDeviceCapability(uint32_t device, int32_t attribute, int64_t *value) {
  *value = CORES;
  return SUCCESS;
}

EXPORT int32_t aclrtGetDeviceResLimit(int32_t device, int32_t type, uint32_t *value) {
  *value = CORES;
  return SUCCESS;
}

EXPORT int32_t aclrtGetStreamResLimit(void *stream, int32_t type, uint32_t *value) {
  *value = CORES;
  return SUCCESS;
}

EXPORT int32_t aclrtGetResInCurrentThread(int32_t type, uint32_t *value) {
  *value = CORES;
  return SUCCESS;
}

EXPORT int32_t aclrtGetSysParamOpt(int32_t option, int64_t *value) {
  *value = 0;
  return SUCCESS;
}

EXPORT int32_t aclGetCannAttribute(int32_t attribute, int32_t *value) {
  *value = 0;
  return SUCCESS;
}

EXPORT int32_t aclGetCannAttributeList(const int32_t **attributes, size_t *count) {
  *attributes = NULL;
  *count = 0;
  return SUCCESS;
}

EXPORT const char *aclGetRecentErrMsg(void) { return NULL; }
