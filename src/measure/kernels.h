/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels behind the ceilings of a machine. In each, `n` and `passes` are the last arguments of
 * the function; what one call moves or computes is said beside it.
 */
#ifndef AS_MEASURE_KERNELS_H
#define AS_MEASURE_KERNELS_H

#include "measure/assemble.h"

enum as_width {
    AS_WIDTH_SCALAR, /* one element in a vector register; integers in general ones */
    AS_WIDTH_128,
    AS_WIDTH_256,
    AS_WIDTH_512,
    AS_WIDTHS
};

/* What this processor and its kernel let programs use. */
struct as_kernel_host {
    enum as_width widest;
    bool vex, fma, avx2;
};
void as_kernel_host_read(struct as_kernel_host *host);

/* "scalar", "sse", "avx2", "avx512" */
const char *as_width_name(enum as_width width);
unsigned as_width_b(enum as_width width, unsigned element_b);

/* ---- Memory ---------------------------------------------------------------------------------- */

enum as_stream { AS_STREAM_READ, AS_STREAM_WRITE, AS_STREAM_COPY, AS_STREAM_TRIAD, AS_STREAMS };
const char *as_stream_name(enum as_stream stream);
/* Bytes that a program sees moved for each byte of an array: read, write 1, copy 2, triad 3. */
unsigned as_stream_moved(enum as_stream stream);
#define AS_STREAM_BLOCK_B 1024 /* arrays are a multiple of it long */

/* Arrays of `n` bytes, `passes` times over. Triad: a = b + 3 c. */
int as_kernel_stream(const struct as_kernel_host *host, enum as_stream stream, bool nontemporal,
                     struct as_kernel *kernel, struct assay_error *err);
/* Reads 8 bytes at every `stride_b` of `n` bytes at `a`, once a pass; n / stride_b a multiple of 8.
 */
int as_kernel_stride(unsigned stride_b, struct as_kernel *kernel, struct assay_error *err);
/* Reads doubles by 32-bit indices: a[b[i]], `n` indices a pass (a multiple of 64), by gathers of
 * the widest vectors or one by one. */
int as_kernel_gather(const struct as_kernel_host *host, bool gathers, struct as_kernel *kernel,
                     struct assay_error *err);
/* Pointers at every `apart_b` bytes of an area, in one random cycle through all `n` (Sattolo 1986);
 * `order` has room for a number each. */
void as_chase_thread(uint8_t *area, size_t n, size_t apart_b, uint32_t *order);
/* Follows 64 pointers a pass from where *`b` points, and leaves there where it came to. */
int as_kernel_chase(struct as_kernel *kernel, struct assay_error *err);

/* ---- Arithmetic ------------------------------------------------------------------------------ */

enum as_operation { AS_OPERATION_ADD, AS_OPERATION_MUL, AS_OPERATION_FMA, AS_OPERATIONS };
enum as_number { AS_NUMBER_F64, AS_NUMBER_F32, AS_NUMBER_I64, AS_NUMBER_I32, AS_NUMBERS };

const char *as_operation_name(enum as_operation operation);
const char *as_number_name(enum as_number number);

struct as_arithmetic {
    enum as_operation operation;
    enum as_number number;
    enum as_width width;
};

/* False: x86 has no such instruction, or this processor has not. */
bool as_arithmetic_exists(const struct as_kernel_host *host, const struct as_arithmetic *what);
/* Independent chains, enough to fill all pipes; `passes` times the loop, `*operations` arithmetic
 * operations each (an FMA is two). The other arguments are not used. `beside`: so many dependent
 * multiplications of integers go along with each pass, a clock that sees the core as the kernel has
 * it; none beside those of general registers. */
bool as_arithmetic_is_general(const struct as_arithmetic *what);
int as_kernel_arithmetic(const struct as_kernel_host *host, const struct as_arithmetic *what,
                         unsigned beside, double *operations, struct as_kernel *kernel,
                         struct assay_error *err);

#endif
