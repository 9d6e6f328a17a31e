/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that do as much as a mask or a count says: vector masks in mask registers, in vector
 * registers, repeated string instructions. Flags, the red zone and all registers are in use around
 * them. Says on standard error what it knows to have been done: "amount FUNCTION KIND N".
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS   500
#define NOINLINE __attribute__((noinline, noclone))

static uint8_t from[4096], to[4096];
static uint32_t drawn = 12345;

static uint32_t draw(void)
{
    drawn = drawn * 1664525u + 1013904223u;
    return drawn >> 8;
}

static void say(const char *function, const char *kind, uint64_t n)
{
    fprintf(stderr, "amount %s %s %llu\n", function, kind, (unsigned long long)n);
}

/* The carry and zero flags of before are needed behind each of them. */
NOINLINE static uint64_t copies(const uint16_t *length, unsigned n)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < n; i++) {
        const void *source = from;
        void *target = to;
        uint64_t count = length[i];
        __asm__ volatile("cmp $100, %2\n\trep movsb\n\tadc $0, %3"
                         : "+S"(source), "+D"(target), "+c"(count), "+r"(sum)
                         :
                         : "memory", "cc");
    }
    return sum;
}

NOINLINE static uint64_t fills(const uint16_t *length, unsigned n)
{
    uint64_t left = 0;
    for (unsigned i = 0; i < n; i++) {
        void *target = to;
        uint64_t count = length[i] / 8;
        __asm__ volatile("rep stosq" : "+D"(target), "+c"(count) : "a"(UINT64_C(7)) : "memory");
        left += count;
    }
    return left;
}

NOINLINE static uint64_t searches(const uint16_t *length, unsigned n, uint64_t *done)
{
    uint64_t found = 0;
    for (unsigned i = 0; i < n; i++) {
        const uint8_t *at = from;
        uint64_t count = length[i];
        __asm__ volatile("xor %%edx, %%edx\n\trepne scasb\n\tsete %%dl\n\tadd %%rdx, %0"
                         : "+r"(found), "+D"(at), "+c"(count)
                         : "a"(200)
                         : "rdx", "cc", "memory");
        *done += length[i] - count;
    }
    return found;
}

NOINLINE __attribute__((target("avx2"))) static void stores_by_signs(const uint8_t *mask,
                                                                     unsigned n)
{
    int64_t lanes[4];
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < 4; k++)
            lanes[k] = -(int64_t)(mask[i] >> k & 1);
        __asm__ volatile("vmovupd %0, %%ymm9\n\tvmaskmovpd %1, %%ymm9, %%ymm1\n\t"
                         "vmaskmovpd %%ymm1, %%ymm9, %2\n\tvmaskmovps %1, %%xmm9, %%xmm2"
                         :
                         : "m"(lanes), "m"(from), "m"(to)
                         : "xmm1", "xmm2", "xmm9", "memory");
    }
}

NOINLINE __attribute__((target("avx2"))) static void gathers_by_signs(const uint8_t *mask,
                                                                      unsigned n)
{
    int64_t lanes[4];
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < 4; k++)
            lanes[k] = -(int64_t)(mask[i] >> k & 1);
        __asm__ volatile("vmovupd %0, %%ymm3\n\tvpxor %%xmm2, %%xmm2, %%xmm2\n\t"
                         "vgatherdpd %%ymm3, (%1,%%xmm2,8), %%ymm1"
                         :
                         : "m"(lanes), "r"(from)
                         : "xmm1", "xmm2", "xmm3", "memory");
    }
}

NOINLINE static void stores_of_bytes(const uint8_t *mask, unsigned n)
{
    uint8_t lanes[16];
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < 16; k++)
            lanes[k] = (uint8_t)((mask[i] >> (k & 7) & 1) << 7);
        __asm__ volatile("movdqu %0, %%xmm8\n\tmaskmovdqu %%xmm8, %%xmm8"
                         :
                         : "m"(lanes), "D"(to)
                         : "xmm8", "memory");
    }
}

NOINLINE __attribute__((target("avx512f"))) static void adds(const uint8_t *mask, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        __asm__ volatile("kmovw %0, %%k3\n\tvaddpd %1, %%zmm0, %%zmm0 %{%%k3%}\n\t"
                         "vmovupd %%zmm0, %2 %{%%k3%}\n\tvaddsd %%xmm1, %%xmm1, %%xmm1 %{%%k3%}"
                         :
                         : "r"((unsigned)mask[i] | 0x100u), "m"(from), "m"(to)
                         : "xmm0", "xmm1", "memory");
}

NOINLINE __attribute__((target("avx512bw"))) static void bytes_of_64(const uint8_t *mask,
                                                                     unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        __asm__ volatile("kmovq %0, %%k1\n\tvmovdqu8 %1, %%zmm0 %{%%k1%}%{z%}\n\t"
                         "vmovdqu8 %%ymm0, %2 %{%%k1%}"
                         :
                         : "r"(mask[i] * UINT64_C(0x0101010101010101)), "m"(from), "m"(to)
                         : "xmm0", "memory");
}

int main(void)
{
    static uint16_t length[ROUNDS];
    static uint8_t mask[ROUNDS];
    uint64_t moved = 0, filled = 0, looked = 0, lanes_4 = 0, lanes_8 = 0, low = 0, first_2 = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        length[i] = (uint16_t)(8 + draw() % 300);
        mask[i] = (uint8_t)draw();
        moved += length[i];
        filled += length[i] / 8;
        lanes_4 += (unsigned)__builtin_popcount(mask[i] & 15u);
        lanes_8 += (unsigned)__builtin_popcount(mask[i]);
        /* the signs of four elements of 4 bytes in the first two of 8 */
        first_2 += 2u * (unsigned)__builtin_popcount(mask[i] & 3u);
        low += mask[i] & 1u;
    }
    for (unsigned i = 0; i < sizeof from; i++)
        from[i] = (uint8_t)(i * 7);
    printf("%llu ", (unsigned long long)copies(length, ROUNDS));
    printf("%llu ", (unsigned long long)fills(length, ROUNDS));
    printf("%llu\n", (unsigned long long)searches(length, ROUNDS, &looked));
    say("copies", "repeats", moved);
    say("fills", "repeats", filled);
    say("searches", "repeats", looked);
    stores_of_bytes(mask, ROUNDS);
    say("stores_of_bytes", "lanes", 2 * lanes_8);
    if (__builtin_cpu_supports("avx2")) {
        stores_by_signs(mask, ROUNDS);
        gathers_by_signs(mask, ROUNDS);
        say("stores_by_signs", "lanes", 2 * lanes_4 + first_2);
        say("gathers_by_signs", "lanes", lanes_4);
    }
    if (__builtin_cpu_supports("avx512f")) {
        adds(mask, ROUNDS);
        say("adds", "lanes", 2 * lanes_8 + low);
    }
    if (__builtin_cpu_supports("avx512bw")) {
        bytes_of_64(mask, ROUNDS);
        say("bytes_of_64", "lanes", 12 * lanes_8);
    }
    uint64_t sum = 0;
    for (unsigned i = 0; i < sizeof to; i++)
        sum = sum * 31 + to[i];
    printf("%llx\n", (unsigned long long)sum);
    return 0;
}
