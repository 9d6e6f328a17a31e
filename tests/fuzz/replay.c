/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz entry over kept inputs without libFuzzer, so that any compiler and the ordinary test
 * suite can: usage: replay-NAME FILE-OR-DIRECTORY... A broken input aborts; its name was printed.
 */
#include "fuzz.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#pragma weak LLVMFuzzerInitialize
#pragma weak fuzz_taken

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int replay(const char *path, size_t size_b)
{
    /* Exact, so that the address sanitizer sees one byte too many. */
    uint8_t *bytes = malloc(size_b ? size_b : 1);
    FILE *file = fopen(path, "rb");
    if (!bytes || !file || fread(bytes, 1, size_b, file) != size_b) {
        fprintf(stderr, "replay: %s: cannot be read\n", path);
        exit(2);
    }
    fclose(file);
    printf("# %s\n", path);
    fflush(stdout);
    bool *taken = &fuzz_taken;
    if (taken)
        *taken = false;
    LLVMFuzzerTestOneInput(bytes, size_b);
    if (taken && !*taken && strstr(path, "/seed-")) {
        fprintf(stderr, "replay: %s: is turned away and tests nothing: make it anew\n", path);
        exit(1);
    }
    free(bytes);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s FILE-OR-DIRECTORY...\n", argv[0]);
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        char *path = realpath(argv[i], NULL);
        if (!path) {
            fprintf(stderr, "replay: %s: no such file\n", argv[i]);
            return 2;
        }
        argv[i] = path; /* lives as long as the process */
    }
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    int n = 0;
    FTS *tree = fts_open(argv + 1, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    for (FTSENT *entry; tree && (entry = fts_read(tree));)
        if (entry->fts_info == FTS_F)
            n += replay(entry->fts_path, (size_t)entry->fts_statp->st_size);
    fts_close(tree);
    for (int i = 1; i < argc; i++)
        free(argv[i]);
    printf("ok 1 - %d kept inputs replayed\n1..1\n", n);
    return n ? 0 : 1;
}
