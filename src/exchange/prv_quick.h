/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fast reader for usual lines of a .prv body: non-empty fields of digits, and objects of the
 * header. Separators are found sixteen bytes at once; numbers are read eight digits at once. The
 * four fields of an object are looked up as text. prv_read.c reads all other lines and reports all
 * faults.
 */
#ifndef AS_EXCHANGE_PRV_QUICK_H
#define AS_EXCHANGE_PRV_QUICK_H

#include "exchange/prv_read.h"

#define AS_PRV_QUICK_OBJECTS 2048u /* a power of two */
#define AS_PRV_QUICK_DIGITS  16u   /* max digits of a number in this reader */

/* A valid "cpu:application:task:thread". */
struct as_prv_quick_object {
    uint64_t text[2]; /* both 0: free slot */
    uint32_t thread, cpu;
};

struct as_prv_quick {
    int64_t unit_ns;
    unsigned time_digits_max; /* max digits of a time that does not overflow in ns */
    struct as_prv_quick_object object[AS_PRV_QUICK_OBJECTS];
};

void as_prv_quick_init(struct as_prv_quick *quick, int64_t unit_ns);
/* Stores the object of a line that was read: the text from its CPU to its thread. */
void as_prv_quick_note(struct as_prv_quick *quick, struct as_view object, uint32_t thread,
                       uint32_t cpu);
/* Reads the line at the front of `text` and returns its length with the line end. Returns 0 if the
 * line is for the other reader, or if its end or memory is missing. AS_LINES_MARGIN_B bytes on both
 * sides of `text` must be readable. */
size_t as_prv_quick_line(const struct as_prv_quick *quick, struct as_view text,
                         struct as_prv_line_read *out);

#endif
