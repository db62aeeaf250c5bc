/* What the files of the simulated CANN runtime share.
 *
 * The runtime answers torch_npu's calls of CANN with success, keeps device memory that is reserved and committed only
 * where it is touched, and writes down which kernels it was asked for. No kernel computes anything.
 *
 * Every function that torch_npu looks up and that no file here defines is a weak stub in a generated file; a
 * definition here replaces it. All integers and pointers are 64 bits wide (x86-64 and AArch64).
 */
#ifndef OPSCAN_SIMULATOR_H
#define OPSCAN_SIMULATOR_H

#include <stddef.h>
#include <stdint.h>

/* The only symbols that leave the library; it is compiled with hidden visibility. */
#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, INVALID_PARAMETER = 100000, OUT_OF_MEMORY = 207001 };

/* ---- text.c: text that grows ------------------------------------------------------------------------------ */

struct text {
  char *data;
  size_t length, capacity;
};

void *resize(void *memory, size_t size); /* realloc that ends the process where memory is out */
void text_bytes(struct text *text, const char *bytes, size_t count);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_number(struct text *text, double value); /* null where JSON has no number for it */
void text_name(struct text *text, const char *name); /* a JSON string of a kernel's name */
void text_free(struct text *text);

/* ---- log.c: what happened, in order ----------------------------------------------------------------------- */

void log_event(const struct text *line);       /* one JSON value without line break */
void log_words(const char *kind, const char *name); /* ["kind","name"] */

/* ---- handles.c: the objects that torch_npu makes, and what they are --------------------------------------- */

/* Kinds, as in the log: tensors, lists of tensors, scalars, arrays of int, bool and float, lists of scalars; tensor
 * descriptions of the legacy path; executors; and what needs no content (streams, events, buffers, attributes). */
enum kind {
  TENSOR = 'T',
  TENSOR_LIST = 'L',
  SCALAR = 'S',
  INTS = 'I',
  BOOLS = 'B',
  FLOATS = 'F',
  SCALAR_LIST = 'Z',
  DESCRIPTION = 'D',
  EXECUTOR = 'X',
  PLAIN = 'P',
};

struct handle {
  uint32_t magic;
  int32_t kind;
  int32_t dtype;    /* aclDataType of a tensor, description or scalar */
  int32_t format;   /* aclFormat of a tensor or description */
  uint64_t count;   /* dimensions, or elements of an array or list */
  void *content;    /* int64_t dimensions, values, or handles of a list; owned */
  double value;     /* of a scalar */
  uint64_t next;    /* of the free list */
};

struct handle *handle_make(enum kind kind, uint64_t count, const void *content, size_t element);
struct handle *handle_at(const void *address); /* NULL unless it is a living handle: any 64 bits may be asked about */
void handle_free(const void *address);         /* with the members of a list; ignores what is no living handle */

/* ---- shapes.c: shapes that depend on data ------------------------------------------------------------------ */

/* Gives the tensor or description the next shape that was set, if one was. */
void take_next_shape(struct handle *tensor);

/* ---- describe.c: handles as JSON --------------------------------------------------------------------------- */

void describe_tensor(struct text *text, const struct handle *tensor); /* [dtype,[dims],format], or null */
void describe_argument(struct text *text, const struct handle *handle);

#endif
