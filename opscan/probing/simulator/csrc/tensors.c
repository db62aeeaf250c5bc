/* Making and destroying the objects that kernels take as arguments (aclnn/acl_meta.h of CANN, acl/acl_base.h). */
#include "simulator.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

EXPORT void *aclCreateTensor(const int64_t *dims, uint64_t count, int32_t dtype, const int64_t *strides, int64_t offset,
                             int32_t format, const int64_t *storage_dims, uint64_t storage_count, void *data) {
  struct handle *tensor = handle_make(TENSOR, count, dims, sizeof *dims);
  if (tensor) tensor->dtype = dtype, tensor->format = format;
  return tensor;
}

/* The numbers of aclDataType that a scalar can be read as; NaN for others. */
static double number_of(const void *value, int32_t dtype) {
  switch (dtype) {
  case 0: return *(const float *)value;
  case 2: return *(const int8_t *)value;
  case 3: return *(const int32_t *)value;
  case 4: return *(const uint8_t *)value;
  case 6: return *(const int16_t *)value;
  case 9: return (double)*(const int64_t *)value;
  case 11: return *(const double *)value;
  case 12: return *(const bool *)value;
  default: return NAN;
  }
}

EXPORT void *aclCreateScalar(const void *value, int32_t dtype) {
  struct handle *scalar = handle_make(SCALAR, 0, NULL, 0);
  if (scalar) scalar->dtype = dtype, scalar->value = value ? number_of(value, dtype) : NAN;
  return scalar;
}

EXPORT void *aclCreateIntArray(const int64_t *values, uint64_t count) {
  return handle_make(INTS, count, values, sizeof *values);
}

EXPORT void *aclCreateBoolArray(const bool *values, uint64_t count) {
  return handle_make(BOOLS, count, values, sizeof *values);
}

EXPORT void *aclCreateFloatArray(const float *values, uint64_t count) {
  return handle_make(FLOATS, count, values, sizeof *values);
}

EXPORT void *aclCreateTensorList(const void *const *tensors, uint64_t count) {
  return handle_make(TENSOR_LIST, count, tensors, sizeof *tensors);
}

EXPORT void *aclCreateScalarList(const void *const *scalars, uint64_t count) {
  return handle_make(SCALAR_LIST, count, scalars, sizeof *scalars);
}

#define DESTROYS(name) \
  EXPORT int32_t name(const void *handle) { \
    handle_free(handle); \
    return SUCCESS; \
  }
DESTROYS(aclDestroyTensor)
DESTROYS(aclDestroyScalar)
DESTROYS(aclDestroyIntArray)
DESTROYS(aclDestroyBoolArray)
DESTROYS(aclDestroyFloatArray)
DESTROYS(aclDestroyTensorList)
DESTROYS(aclDestroyScalarList)
DESTROYS(aclDestroyAclOpExecutor)
DESTROYS(aclDestroyTensorDesc)
DESTROYS(aclDestroyDataBuffer)
DESTROYS(aclopDestroyAttr)

/* torch_npu asks for the shape of a result after a kernel whose result's size depends on data, and frees it. */
EXPORT int32_t aclGetViewShape(const void *address, int64_t **dims, uint64_t *count) {
  struct handle *tensor = handle_at(address);
  if (!tensor || tensor->kind != TENSOR) return INVALID_PARAMETER;
  take_next_shape(tensor);
  *count = tensor->count;
  *dims = resize(NULL, tensor->count * sizeof **dims);
  if (tensor->count) memcpy(*dims, tensor->content, tensor->count * sizeof **dims);
  return SUCCESS;
}
