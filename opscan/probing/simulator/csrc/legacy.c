/* Kernels of the legacy path: a graph-engine operator compiled and launched by name (acl/acl_op_compiler.h). */
#include "simulator.h"

#include <stdlib.h>
#include <string.h>

EXPORT void *aclCreateTensorDesc(int32_t dtype, int32_t count, const int64_t *dims, int32_t format) {
  struct handle *description = handle_make(DESCRIPTION, count > 0 ? (uint64_t)count : 0, dims, sizeof *dims);
  if (description) description->dtype = dtype, description->format = format;
  return description;
}

EXPORT void *aclCreateDataBuffer(void *data, size_t size) { return handle_make(PLAIN, 0, NULL, 0); }
EXPORT void *aclopCreateAttr(void) { return handle_make(PLAIN, 0, NULL, 0); }

EXPORT int32_t aclGetTensorDescType(const void *address) {
  struct handle *description = handle_at(address);
  return description ? description->dtype : -1;
}

EXPORT int32_t aclGetTensorDescFormat(const void *address) {
  struct handle *description = handle_at(address);
  return description ? description->format : -1;
}

EXPORT size_t aclGetTensorDescNumDims(const void *address) {
  struct handle *description = handle_at(address);
  return description ? description->count : 0;
}

EXPORT int32_t aclGetTensorDescDimV2(const void *address, size_t index, int64_t *size) {
  struct handle *description = handle_at(address);
  if (!description || index >= description->count) return INVALID_PARAMETER;
  *size = ((int64_t *)description->content)[index];
  return SUCCESS;
}

static void describe_all(struct text *text, int32_t count, void *const descriptions[]) {
  text_format(text, ",[");
  for (int32_t i = 0; i < count; i++) {
    if (i) text_format(text, ",");
    struct handle *description = handle_at(descriptions[i]);
    describe_tensor(text, description && description->dtype >= 0 ? description : NULL); /* an input left out has none */
  }
  text_format(text, "]");
}

static void log_operator(const char *name, int32_t inputs, void *const in[], int32_t outputs, void *const out[]) {
  struct text line = {0};
  text_format(&line, "[\"legacy\",");
  text_name(&line, name);
  describe_all(&line, inputs, in);
  describe_all(&line, outputs, out);
  text_format(&line, "]");
  log_event(&line);
  text_free(&line);
}

EXPORT int32_t aclopCompileAndExecute(const char *name, int32_t inputs, void *const in[], void *const in_buffers[],
                                      int32_t outputs, void *const out[]) {
  log_operator(name, inputs, in, outputs, out);
  return SUCCESS;
}

/* torch_npu calls this one where it must know the shapes of the results, which it then asks the descriptions for. */
EXPORT int32_t aclopCompileAndExecuteV2(const char *name, int32_t inputs, void *const in[], void *const in_buffers[],
                                        int32_t outputs, void *const out[]) {
  log_operator(name, inputs, in, outputs, out);
  for (int32_t i = 0; i < outputs; i++) {
    struct handle *description = handle_at(out[i]);
    if (description) take_next_shape(description);
  }
  return SUCCESS;
}

/* torch_npu takes its default for jit compile, which is the legacy path, from here: on for chips before Ascend910B1. */
static int legacy_by_default(void) {
  const char *soc = getenv("OPSCAN_SIMULATED_SOC");
  return soc && (strstr(soc, "310") || strstr(soc, "910A") || strstr(soc, "910Pr") || !strcmp(soc, "Ascend910B"));
}

EXPORT size_t aclGetCompileoptSize(int32_t option) { return 64; }

EXPORT int32_t aclGetCompileopt(int32_t option, char *value, size_t length) {
  const char *answer = legacy_by_default() ? "enable" : "";
  if (length <= strlen(answer)) return INVALID_PARAMETER;
  memcpy(value, answer, strlen(answer) + 1);
  return SUCCESS;
}
