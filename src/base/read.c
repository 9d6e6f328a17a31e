/* SPDX-License-Identifier: Apache-2.0 */
/* LEB128 numbers: the only reads of the cursor with a loop. */
#include "base/read.h"

uint64_t as_read_uleb_slow(struct as_read *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift = shift < 63 ? shift + 7 : shift) {
        const uint8_t *p = as_read_bytes(r, 1);
        if (!p)
            return 0;
        uint64_t bits = *p & 0x7f;
        /* At shift 63 only one bit fits. Behind it only padding may follow; the shift stays above
         * 63. */
        if (shift > 63 ? bits != 0 : shift == 63 && bits > 1) {
            as_read_fail(r);
            return 0;
        }
        if (shift <= 63)
            v |= bits << shift;
        if (shift == 63)
            shift = 64;
        if (!(*p & 0x80))
            return v;
    }
}

int64_t as_read_sleb(struct as_read *r)
{
    uint64_t v = 0;
    unsigned shift = 0;
    for (;;) {
        const uint8_t *p = as_read_bytes(r, 1);
        if (!p)
            return 0;
        uint64_t bits = *p & 0x7f;
        if (shift < 63) {
            v |= bits << shift;
            shift += 7;
            if (!(*p & 0x80)) {
                if (shift < 64 && (bits & 0x40))
                    v |= ~(uint64_t)0 << shift;
                return (int64_t)v;
            }
            continue;
        }
        /* From bit 63 on every bit must repeat the sign. Bit 63 is the sign itself. */
        if (shift == 63)
            v |= bits << 63;
        if (bits != ((int64_t)v < 0 ? 0x7f : 0)) {
            as_read_fail(r);
            return 0;
        }
        shift = 64;
        if (!(*p & 0x80))
            return (int64_t)v;
    }
}
