/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/column.h"

#define WIDTHS_N 5u

unsigned as_timeline_column_measure(const int64_t *value, uint32_t n, int64_t *min)
{
    int64_t low = n ? value[0] : 0, max = low;
    for (uint32_t i = 1; i < n; i++) {
        low = value[i] < low ? value[i] : low;
        max = value[i] > max ? value[i] : max;
    }
    const uint64_t span = (uint64_t)max - (uint64_t)low;
    *min = low;
    if (span == 0)
        return 0;
    return span <= UINT8_MAX ? 1 : span <= UINT16_MAX ? 2 : span <= UINT32_MAX ? 3 : 4;
}

/* Numbers of one size; little-endian. */
#define WRITE_NUMBERS(type)                                                                        \
    for (uint32_t i = 0; i < n; i++) {                                                             \
        const type above = (type)((uint64_t)value[i] - (uint64_t)min);                             \
        memcpy(out + sizeof above * i, &above, sizeof above);                                      \
    }

void as_timeline_column_write(const int64_t *value, uint32_t n, unsigned width, int64_t min,
                              uint8_t *out)
{
    const uint64_t size_b = as_timeline_column_size_b(width, n);
    memcpy(out, &min, sizeof min);
    if (width == 0)
        return;
    memset(out + size_b - sizeof min, 0, sizeof min); /* what fills the last word */
    out += sizeof min;
    if (width == 1)
        WRITE_NUMBERS(uint8_t)
    else if (width == 2)
        WRITE_NUMBERS(uint16_t)
    else if (width == 3)
        WRITE_NUMBERS(uint32_t)
    else
        WRITE_NUMBERS(uint64_t)
}

uint64_t as_timeline_columns_size_b(uint32_t widths, unsigned columns_n, uint32_t n)
{
    uint64_t size_b = columns_n ? sizeof(int64_t) : 0;
    if ((uint64_t)widths >> columns_n * AS_TIMELINE_WIDTH_BITS)
        return UINT64_MAX;
    for (unsigned i = 0; i < columns_n; i++) {
        if (as_timeline_column_width(widths, i) >= WIDTHS_N)
            return UINT64_MAX;
        size_b += as_timeline_column_size_b(as_timeline_column_width(widths, i), n);
    }
    return size_b;
}
