/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries loaded and unloaded in turn, so that one takes the place of the other; with "deleted"
 * each file is removed as soon as it is loaded, with "replaced" another takes its name.
 * Usage: loader kept|deleted|replaced SECONDS, in a folder with liba.so and libb.so.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <dlfcn.h>
#include <unistd.h>

static uint64_t seed = 1;

static NOINLINE void copy(const char *from, const char *to)
{
    static char bytes[1 << 20];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    if (!in || !out)
        _exit(3);
    size_t n = fread(bytes, 1, sizeof bytes, in);
    if (fwrite(bytes, 1, n, out) != n)
        _exit(3);
    fclose(in);
    fclose(out);
}

/* How often the one that started us has slept: assay does once a look, or twice. 0: not known. */
static NOINLINE long sleeps_of_parent(void)
{
    char path[64], line[256];
    long n = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)getppid());
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "voluntary_ctxt_switches: %ld", &n);
    if (status)
        fclose(status);
    return n;
}

static NOINLINE void use(const char *library, const char *function, const char *how)
{
    const char *path = library;
    char temporary[64];
    if (strcmp(how, "kept") != 0) {
        snprintf(temporary, sizeof temporary, "./%s-now.so", how);
        copy(library, temporary);
        path = temporary;
    }
    void *handle = dlopen(path, RTLD_NOW);
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(3);
    }
    void (*burn)(uint64_t) = (void (*)(uint64_t))dlsym(handle, function);
    if (!burn)
        _exit(3);
    if (path == temporary)
        unlink(path);
    if (strcmp(how, "replaced") == 0)
        copy("./libother.so", path);
    /* A library that is unloaded before assay has looked has no name. After so many sleeps of its
     * parent since then, assay has looked, even if it had no CPU for long. A run by hand ends as
     * well. */
    const long enough = strcmp(how, "kept") == 0 ? 0 : sleeps_of_parent() + 4;
    for (int part = 0; part < 12 || (part < 4000 && sleeps_of_parent() < enough); part++) {
        for (int i = 0; i < 100; i++) {
            uint64_t begin = thread_ns();
            burn(100000 + truth_random(&seed) % 300000);
            truth_add(function, thread_ns() - begin);
        }
    }
    dlclose(handle);
    if (path == temporary)
        unlink(path);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "kept";
    uint64_t end = (uint64_t)(1e9 * (argc > 2 ? atof(argv[2]) : 0.3));
    while (thread_ns() < end) {
        use("./liba.so", "burn_a", how);
        use("./libb.so", "burn_b", how);
        use("./libb.so", "burn_b", how);
    }
    truth_print(stdout);
    return 0;
}
