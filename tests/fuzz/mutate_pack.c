/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer's mutations for the DWARF entry: most of them change the bytes of one section and keep
 * the container around it whole (pack.h); the rest change anything.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "pack.h"

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size_b, size_t most_b);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size_b, size_t most_b, unsigned int seed);

#define RECORDS_MOST 96

/* Starts of the records; the last entry is the end of the container. */
static size_t find_records(const uint8_t *bytes, size_t size_b, size_t at[RECORDS_MOST + 1])
{
    size_t n = 0, here = 0;
    while (n < RECORDS_MOST && size_b - here >= PACK_HEAD_B) {
        const uint8_t *head = bytes + here;
        size_t want = head[1] | (size_t)head[2] << 8 | (size_t)head[3] << 16;
        at[n++] = here;
        here += PACK_HEAD_B;
        here = want > size_b - here ? size_b : here + want;
    }
    at[n] = here;
    return n;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size_b, size_t most_b, unsigned int seed)
{
    size_t at[RECORDS_MOST + 1], n = find_records(bytes, size_b, at);
    if (n == 0 || seed % 8 == 0)
        return LLVMFuzzerMutate(bytes, size_b, most_b);
    size_t pick = (seed >> 8) % n, from = at[pick] + PACK_HEAD_B, rest_b = size_b - at[pick + 1];
    size_t old_b = at[pick + 1] - from, room_b = most_b - from - rest_b;
    uint8_t *section = malloc(room_b + 1);
    FUZZ_CHECK(section && size_b <= most_b);
    memcpy(section, bytes + from, old_b);
    size_t new_b = LLVMFuzzerMutate(section, old_b, room_b);
    memmove(bytes + from + new_b, bytes + from + old_b, rest_b);
    memcpy(bytes + from, section, new_b);
    for (int i = 0; i < 3; i++)
        bytes[at[pick] + 1 + i] = (uint8_t)(new_b >> 8 * i);
    free(section);
    return from + new_b + rest_b;
}
