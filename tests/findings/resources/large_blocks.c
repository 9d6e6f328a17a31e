/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The filter reads and writes large blocks already, and the kernel copies them.
 * place: read_block write_block filter_file
 * finding: nothing
 * false: input_output system_calls kernel_time waiting memory_bandwidth
 * flags: -O3 -g
 * arguments: 1024 20
 * naive: Blocks are 16 times as large.
 * clock: cpu */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef NAIVE
#define BLOCK_B (4L << 20)
#else
#define BLOCK_B (256L << 10)
#endif

static int scratch_file(void)
{
    const char *directory = getenv("TMPDIR");
    char path[4096];

    snprintf(path, sizeof path, "%s/blocks-XXXXXX", directory ? directory : "/tmp");
    int file = mkstemp(path);

    unlink(path);
    return file;
}

static void write_block(int file, const uint8_t *block, long size, long offset)
{
    if (pwrite(file, block, (size_t)size, offset) != size) /* HERE */
        abort();
}

static void read_block(int file, uint8_t *block, long size, long offset)
{
    if (pread(file, block, (size_t)size, offset) != size) /* HERE */
        abort();
}

static void filter(uint8_t *block, long size)
{
    for (long i = 0; i < size; i++)
        block[i] = (uint8_t)(block[i] ^ 0x5a);
}

static void filter_file(int from, int to, long size_b)
{
    uint8_t *block = aligned_alloc(4096, BLOCK_B);

    for (long at = 0; at < size_b; at += BLOCK_B) {
        read_block(from, block, BLOCK_B, at);
        filter(block, BLOCK_B);
        write_block(to, block, BLOCK_B, at);
    }
    free(block);
}

static void fill_file(int file, long size_b)
{
    uint8_t *block = aligned_alloc(4096, BLOCK_B);

    for (long i = 0; i < BLOCK_B; i++)
        block[i] = (uint8_t)(i * 7);
    for (long at = 0; at < size_b; at += BLOCK_B)
        write_block(file, block, BLOCK_B, at);
    free(block);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    long size_b = atol(argv[1]) << 18, sum = 0;
    int first = scratch_file(), second = scratch_file();
    uint8_t sample[256];

    fill_file(first, size_b);
    for (int pass = 0; pass < atoi(argv[2]); pass++) {
        filter_file(pass % 2 ? second : first, pass % 2 ? first : second, size_b);
        read_block(pass % 2 ? first : second, sample, sizeof sample, 4096 * pass);
        sum += sample[pass];
    }
    printf("checksum %ld\n", sum);
    return 0;
}
