/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels behind the ceilings of a machine. `n` and `passes` are the last arguments of each
 * function. The comment of each kernel says how much one call moves or computes.
 */
#ifndef AS_MEASURE_KERNELS_H
#define AS_MEASURE_KERNELS_H

#include "measure/assemble.h"

enum as_width {
    AS_WIDTH_SCALAR, /* one element in a vector register; integers in general registers */
    AS_WIDTH_128,
    AS_WIDTH_256,
    AS_WIDTH_512,
    AS_WIDTHS
};

/* Extensions that this CPU and the kernel permit. */
struct as_kernel_host {
    enum as_width widest;
    bool vex, fma, avx2;
};
void as_kernel_host_read(struct as_kernel_host *host);

/* Returns "scalar", "sse", "avx2" or "avx512". */
const char *as_width_name(enum as_width width);
unsigned as_width_b(enum as_width width, unsigned element_b);

/* ---- Memory ---------------------------------------------------------------------------------- */

enum as_stream_kernel {
    AS_STREAM_READ,
    AS_STREAM_WRITE,
    AS_STREAM_COPY,
    AS_STREAM_TRIAD,
    AS_STREAMS
};
const char *as_stream_name(enum as_stream_kernel stream);
/* Returns the bytes that a program moves per byte of an array: 1 for read and write, 2 for copy, 3
 * for triad. */
unsigned as_stream_moved(enum as_stream_kernel stream);
#define AS_STREAM_BLOCK_B 1024 /* array lengths are multiples of it */

/* Generates a kernel over arrays of `n` bytes, `passes` times. Triad: a = b + 3 c. */
int as_kernel_stream(const struct as_kernel_host *host, enum as_stream_kernel stream,
                     bool nontemporal, struct as_kernel *kernel, struct as_error *err);
/* Generates a kernel that reads 8 bytes every `stride_b` bytes in `n` bytes at `a`, once per pass.
 * n / stride_b must be a multiple of 8. */
int as_kernel_stride(unsigned stride_b, struct as_kernel *kernel, struct as_error *err);
/* Generates a kernel that reads doubles by 32-bit indices: a[b[i]], with `n` indices per pass (a
 * multiple of 64). It uses gathers of the widest vectors or scalar loads. */
int as_kernel_gather(const struct as_kernel_host *host, bool gathers, struct as_kernel *kernel,
                     struct as_error *err);
/* Writes `n` pointers, one per `apart_b` bytes of an area, in one random cycle (Sattolo 1986).
 * `order` has space for `n` numbers. */
void as_chase_thread(uint8_t *area, size_t n, size_t apart_b, uint32_t *order);
/* Generates a kernel that follows 64 pointers per pass. It starts at *`b` and stores the last
 * pointer there. */
int as_kernel_chase(struct as_kernel *kernel, struct as_error *err);

/* ---- Arithmetic ------------------------------------------------------------------------------ */

enum as_operation { AS_OPERATION_ADD, AS_OPERATION_MUL, AS_OPERATION_FMA, AS_OPERATIONS };
enum as_number_type { AS_NUMBER_F64, AS_NUMBER_F32, AS_NUMBER_I64, AS_NUMBER_I32, AS_NUMBERS };

const char *as_operation_name(enum as_operation operation);
const char *as_number_name(enum as_number_type number);

struct as_arithmetic {
    enum as_operation operation;
    enum as_number_type number;
    enum as_width width;
};

/* Returns false if x86 or this CPU does not have the instruction. */
bool as_arithmetic_exists(const struct as_kernel_host *host, const struct as_arithmetic *what);
/* Returns true if the operation uses general registers: scalar integers. */
bool as_arithmetic_is_general(const struct as_arithmetic *what);
/* Generates a kernel of independent chains that fill all pipes; `passes` is the number of loop
 * iterations. `*operations` gets the arithmetic operations per iteration (an FMA counts as two).
 * Other arguments are unused. `beside` dependent integer multiplications run along with each pass,
 * as a clock at the frequency of the kernel. It must be 0 for kernels of general registers. */
int as_kernel_arithmetic(const struct as_kernel_host *host, const struct as_arithmetic *what,
                         unsigned beside, double *operations, struct as_kernel *kernel,
                         struct as_error *err);

#endif
