/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo) of 64 bits: for keys of tables, and to
 * recognise files that were not written as a whole. Anybody can forge it. Runs inside programs,
 * too.
 */
#ifndef AS_BASE_FNV_H
#define AS_BASE_FNV_H

#include <stddef.h>
#include <stdint.h>

#define AS_FNV_BASIS UINT64_C(14695981039346656037)

/* Mixes `n` bytes into `hash`, which begins as AS_FNV_BASIS. */
static inline uint64_t as_fnv_mix(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *at = (const unsigned char *)bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

/* Mixes a number into `hash`, its lowest byte first. */
static inline uint64_t as_fnv_mix_number(uint64_t hash, uint64_t number)
{
    for (unsigned shift = 0; shift < 64; shift += 8)
        hash = (hash ^ (number >> shift & 0xff)) * UINT64_C(1099511628211);
    return hash;
}

#endif
