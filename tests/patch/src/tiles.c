/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that multiply tiles (AMX), and loops without tiles that run while tiles hold numbers: what
 * the tiles hold afterwards is printed. The kernel gives tiles to those that ask.
 */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALONE __attribute__((noinline, noclone))
#define TILES __attribute__((target("amx-tile,amx-int8")))
enum { ASK = 0x1023, TILE_DATA = 18, ROWS = 16, ROW_B = 64 };

static struct {
    uint8_t palette, start, unused[14];
    uint16_t row_b[16];
    uint8_t rows[16];
} __attribute__((aligned(64))) config = {.palette = 1};
static int8_t left[ROWS][ROW_B], right[ROWS][ROW_B];
static int32_t product[ROWS][ROWS];

ALONE TILES static void multiply(long n)
{
    _tile_zero(0);
    for (long i = 0; i < n; i++) {
        _tile_loadd(1, left, ROW_B);
        _tile_loadd(2, right, ROW_B);
        _tile_dpbssd(0, 1, 2);
    }
    _tile_stored(0, product, ROW_B);
}

ALONE static double scalar(long n, double *values)
{
    double s = 1;
    for (long i = 0; i < n; i++) {
        s = s * 0.75 + values[i & 63];
        values[i & 63] = s;
    }
    return s;
}

/* Stores while variants of its loop run, and tiles are in use. */
ALONE TILES static double between(long n, double *values)
{
    _tile_zero(0);
    _tile_loadd(1, left, ROW_B);
    _tile_loadd(2, right, ROW_B);
    const double s = scalar(n, values);
    _tile_dpbssd(0, 1, 2);
    _tile_stored(0, product, ROW_B);
    return s;
}

static uint64_t sum_of_product(void)
{
    uint64_t s = 14695981039346656037u;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < ROWS; k++)
            s = (s ^ (uint32_t)product[i][k]) * 1099511628211u;
    return s;
}

int main(void)
{
    double values[64] = {1, 2, 3}, s = 0;
    uint64_t sums = 0;
    if (syscall(SYS_arch_prctl, ASK, TILE_DATA) < 0) {
        puts("no tiles");
        return 0;
    }
    for (int i = 0; i < 8; i++) {
        config.row_b[i] = ROW_B;
        config.rows[i] = ROWS;
    }
    for (int i = 0; i < ROWS * ROW_B; i++) {
        left[i / ROW_B][i % ROW_B] = (int8_t)(i * 7 % 251);
        right[i / ROW_B][i % ROW_B] = (int8_t)(i * 11 % 241);
    }
    __asm__ volatile("ldtilecfg %0" ::"m"(config));
    for (int i = 0; i < 600; i++) {
        multiply(20 + i % 3);
        sums = sums * 31 + sum_of_product();
        left[i % ROWS][i % ROW_B]++;
        s += between(30 + i % 5, values);
        sums = sums * 31 + sum_of_product();
    }
    __asm__ volatile("tilerelease");
    printf("%a %llx\n", s, (unsigned long long)sums);
    fprintf(stderr, "truth multiply 600 12600\ntruth scalar 600 19200\n");
    return 0;
}
