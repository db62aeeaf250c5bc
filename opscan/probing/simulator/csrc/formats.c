/* How large a tensor is in a storage format of the device's own. */
#include "simulator.h"

#include <string.h>

enum { FRACTAL_NZ = 29, BLOCK = 16, BLOCK_BYTES = 32 };

static int64_t size_of(int32_t dtype) {
  switch (dtype) {
  case 2: case 4: case 12: return 1;           /* int8, uint8, bool */
  case 1: case 6: case 7: case 27: return 2;   /* float16, int16, uint16, bfloat16 */
  case 9: case 10: case 11: case 16: return 8; /* int64, uint64, float64, complex64 */
  default: return 4;
  }
}

static int64_t blocks(int64_t size, int64_t block) { return (size + block - 1) / block; }

/* A matrix [m, n] is kept in blocks of 16 rows and 32 bytes, column of blocks by column: [n / c, m / 16, 16, c]. A
 * tensor in any other format is taken to be as large as it is. The caller frees the dimensions. */
EXPORT int32_t aclnnNpuFormatCastCalculateSizeAndFormat(const void *source, int32_t format, int32_t additional_dtype,
                                                        int64_t **dims, uint64_t *count, int32_t *actual_format) {
  struct handle *tensor = handle_at(source);
  if (!tensor || tensor->kind != TENSOR) return INVALID_PARAMETER;
  uint64_t rank = tensor->count;
  const int64_t *from = tensor->content;
  int64_t *to = resize(NULL, (rank + 2) * sizeof *to);
  if (rank) memcpy(to, from, rank * sizeof *to);
  *count = rank;
  if (format == FRACTAL_NZ && rank >= 2) {
    int64_t width = BLOCK_BYTES / size_of(tensor->dtype);
    to[rank - 2] = blocks(from[rank - 1], width);
    to[rank - 1] = blocks(from[rank - 2], BLOCK);
    to[rank] = BLOCK;
    to[rank + 1] = width;
    *count = rank + 2;
  }
  *dims = to;
  *actual_format = format;
  return SUCCESS;
}
