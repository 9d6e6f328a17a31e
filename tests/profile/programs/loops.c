/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops with measured shares. A mark "LOOP name" ends the line where the loop stands; the JSON has
 * the time of each name. Usage: loops SECONDS
 */
#include "truth.h"

static uint64_t seed = 1;
static uint64_t some(void)
{
    return 100000 + truth_random(&seed) % 300000;
}
#define KEEP(x) __asm__ volatile("" : "+r"(x))

static NOINLINE void nested(void)
{
    uint64_t first = 0, second = 0, all = thread_ns();
    for (int round = 0; round < 8; round++) { /* LOOP outer */
        uint64_t begin = thread_ns(), n = some();
        for (uint64_t i = 0; i < n; i++) /* LOOP inner_one */
            KEEP(i);
        uint64_t between = thread_ns();
        n = 2 * some();
        for (uint64_t i = 0; i < n; i++) /* LOOP inner_two */
            KEEP(i);
        first += between - begin;
        second += thread_ns() - between;
    }
    truth_add("outer", thread_ns() - all);
    truth_add("inner_one", first);
    truth_add("inner_two", second);
}

static NOINLINE void single(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) /* LOOP single */
        KEEP(i);
}

float numbers[4096];
static NOINLINE float unrolled(void)
{
    float sum = 0;
    for (int i = 0; i < 4096; i++) /* LOOP unrolled */
        sum += numbers[i];
    return sum;
}
static NOINLINE void summing(void)
{
    for (int i = 0; i < 60; i++) { /* LOOP summing */
        volatile float sum = unrolled();
        (void)sum;
        STAY();
    }
}

int main(int argc, char **argv)
{
    uint64_t end = (uint64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 0.3));
    while (thread_ns() < end) {
        nested();
        MEASURE("single", single(4 * some()));
        uint64_t begin = thread_ns();
        summing();
        uint64_t spent = thread_ns() - begin;
        truth_add("unrolled", spent);
        truth_add("summing", spent);
    }
    truth_print(stdout);
    return 0;
}
