/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benchmark driver: the whole analysis of a binary's code, then the dependences of all innermost
 * loops: bench-program [--jobs N] [--source] FILE. Prints the amount of code and the memory beyond
 * the mapped file. Also prints the part of CPU time that threads shared (base/pool.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/pool.h"
#include "code/code.h"
#include "status.h"

/* Dependences of every innermost loop; returns how many there are, or -1. */
static long long all_dependences(const struct as_program *program, struct as_error *err)
{
    long long total = 0;
    for (uint32_t l = 0; l < program->loop_n; l++) {
        struct as_paths paths = {0};
        struct as_dependences dependences = {0};
        unsigned level = program->loop[l].level;
        if (level != AS_LEVEL_INNERMOST && level != AS_LEVEL_SINGLE)
            continue;
        if (as_loop_paths(program, l, 1, &paths, err) < 0 ||
            as_loop_dependences(program, l, &paths, 0, &dependences, err) < 0)
            return -1;
        total += (long long)dependences.n;
        as_dependences_free(&dependences);
        as_paths_free(&paths);
    }
    return total;
}

int main(int argc, char **argv)
{
    struct as_program_options options = {.jobs = 1, .path_limit = AS_PATH_LIMIT};
    struct as_program *program = NULL;
    struct as_object *object = NULL;
    struct as_error err = {0};
    bool dependences = true;
    int i = 1;
    for (; i + 1 < argc; i++) {
        if (!strcmp(argv[i], "--jobs"))
            options.jobs = (unsigned)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--source"))
            options.with_source = true;
        else if (!strcmp(argv[i], "--no-dependences"))
            dependences = false;
    }
    as_alloc_keep(); /* as the program does */
    if (i >= argc) {
        fprintf(stderr, "usage: %s [--jobs N] [--source] [--no-dependences] FILE\n", argv[0]);
        return 2;
    }
    long before_kib = bench_status_kib("RssAnon");
    if (as_object_open(argv[i], NULL, &object, &err) ||
        as_program_new(object, &options, &program, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    long long n = dependences ? all_dependences(program, &err) : 0;
    if (n < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    long used_kib = bench_status_kib("VmHWM") - bench_status_kib("RssFile") - before_kib;
    const struct as_pool_times times = as_pool_times();
    const int64_t all_ns = as_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    printf("all_s %.4f\nshared_s %.4f\nlongest_s %.4f\n", (double)all_ns * 1e-9,
           (double)times.shared_ns * 1e-9, (double)times.longest_ns * 1e-9);
    printf("instructions %zu\nbytes %llu\nloops %zu\ndependences %lld\nkib %ld\n"
           "bytes_per_instruction %.2f\n",
           program->code.n, (unsigned long long)as_object_info(object)->text_b, program->loop_n, n,
           used_kib, program->code.n ? (double)used_kib * 1024 / (double)program->code.n : 0);
    as_program_free(&program);
    as_object_close(&object);
    return 0;
}
