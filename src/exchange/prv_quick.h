/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of the body of a .prv file as most of them are: fields of digits alone, none of them empty,
 * objects that the header has. Separators are found sixteen bytes at once. Numbers are read eight
 * digits at once. The four fields of an object are looked up as text. All other lines, and all
 * lines with a fault, are left to the reader of prv_read.c.
 */
#ifndef AS_EXCHANGE_PRV_QUICK_H
#define AS_EXCHANGE_PRV_QUICK_H

#include "exchange/prv_read.h"

#define AS_PRV_QUICK_OBJECTS 2048u /* a power of two */
#define AS_PRV_QUICK_DIGITS  16u   /* the longest number that is read here */

/* "cpu:application:task:thread" that was valid once. */
struct as_prv_quick_object {
    uint64_t text[2]; /* both 0: none */
    uint32_t thread, cpu;
};

struct as_prv_quick {
    int64_t unit_ns;
    unsigned time_digits_max; /* such a time is in bounds, in nanoseconds too */
    struct as_prv_quick_object object[AS_PRV_QUICK_OBJECTS];
};

void as_prv_quick_init(struct as_prv_quick *quick, int64_t unit_ns);
/* Notes the object of a line that was read: the text from its CPU to its thread. */
void as_prv_quick_note(struct as_prv_quick *quick, struct as_view object, uint32_t thread,
                       uint32_t cpu);
/* Reads the line at the front of `text` and returns its bytes with the line end. Returns 0 if the
 * line is for the other reader, or if its end or memory is missing. AS_LINES_MARGIN_B bytes on both
 * sides of `text` must be readable. */
size_t as_prv_quick_line(const struct as_prv_quick *quick, struct as_view text,
                         struct as_prv_line_read *out);

#endif
