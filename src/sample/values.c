/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four counters per register find each value that more than a fifth of the samples have (J. Misra,
 * D. Gries, "Finding repeated elements", Science of Computer Programming 2 (1982) 143). A count is
 * never above the true count.
 */
#include "sample/values.h"

#include <inttypes.h>
#include <stdio.h>

enum { DWARF_RSP = 7 };

static void count_value(uint64_t *value, uint32_t *n, uint64_t it)
{
    unsigned unused = AS_VALUES_MOST;

    for (unsigned i = 0; i < AS_VALUES_MOST; i++) {
        if (n[i] && value[i] == it) {
            n[i]++;
            return;
        }
        if (!n[i])
            unused = i;
    }
    if (unused < AS_VALUES_MOST) {
        value[unused] = it;
        n[unused] = 1;
        return;
    }
    for (unsigned i = 0; i < AS_VALUES_MOST; i++)
        n[i]--;
}

void as_values_add(struct as_register_values *values, const uint64_t *regs)
{
    values->sample_n++;
    for (unsigned reg = 0; reg < AS_VALUES_REGISTERS; reg++)
        count_value(values->value[reg], values->n[reg], regs[reg]);
}

unsigned as_values_text(const struct as_register_values *values, char *out)
{
    unsigned written_n = 0;
    int at = snprintf(out, AS_VALUES_TEXT_B, "%" PRIu32, values->sample_n);

    for (unsigned reg = 0; reg < AS_VALUES_REGISTERS; reg++) {
        for (unsigned i = 0; i < AS_VALUES_MOST && reg != DWARF_RSP; i++) {
            const uint32_t n = values->n[reg][i];

            if (n < 2 || 10 * (uint64_t)n < values->sample_n)
                continue;
            at += snprintf(out + at, (size_t)(AS_VALUES_TEXT_B - at), " %u:%" PRIx64 ":%" PRIu32,
                           reg, values->value[reg][i], n);
            written_n++;
        }
    }
    return written_n;
}
