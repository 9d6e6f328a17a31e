/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: metrics DIRECTORY LOOPS METRICS PATHS: an experiment with so many loops of one run, of
 * each of which an analysis knows so many metrics, for each of its paths; a third of them with
 * bounds. Prints the bytes of the database that a value takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "experiment/experiment.h"

static struct as_error err;

static int add_program(struct as_experiment *e, int loop_n)
{
    const struct as_row_run run = {.kind = "profile",
                                   .command = "./program",
                                   .state = "complete",
                                   .wall_ns = as_known(60000000000)};
    const struct as_row_module module = {
        .path = "/bin/program", .name = "program", .kind = "executable"};
    struct as_row_process process = {.pid = 7};
    struct as_row_thread thread = {.tid = 7};
    struct as_row_function function = {.address = as_known(4096)};
    int64_t run_id, id;

    AS_TRY(as_experiment_add_run(e, &run, &run_id, &err));
    AS_TRY(as_experiment_add_module(e, &module, &function.module_id, &err));
    process.run_id = run_id;
    AS_TRY(as_experiment_add_process(e, &process, &thread.process_id, &err));
    AS_TRY(as_experiment_add_thread(e, &thread, &id, &err));
    for (int i = 0; i < loop_n; i++) {
        char name[32];
        struct as_row_loop loop = {.address = 4096 + 64 * i, .depth = 1, .is_innermost = true};
        struct as_row_location location = {.module_id = function.module_id,
                                           .address = 4100 + 64 * i};
        struct as_row_callpath path = {.depth = 1};
        struct as_row_sample sample = {
            .thread_id = id, .n = 1 + i % 50, .time_ns = 2000000 * (1 + i % 50)};

        snprintf(name, sizeof name, "kernel_%d", i / 4);
        function.name = name;
        function.address = as_known(4096 + 64 * (i / 4 * 4));
        AS_TRY(as_experiment_add_function(e, &function, &loop.function_id, &err));
        AS_TRY(as_experiment_add_loop(e, &loop, &location.loop_id, &err));
        location.function_id = path.function_id = loop.function_id;
        AS_TRY(as_experiment_add_location(e, &location, &sample.location_id, &err));
        AS_TRY(as_experiment_add_callpath(e, &path, &sample.callpath_id, &err));
        AS_TRY(as_experiment_add_sample(e, &sample, &err));
    }
    return 0;
}

/* Like figures of code: mostly small counts, cycles with three digits, per cent. */
static void fill(struct as_bounded_value *value, int metric_n, unsigned seed)
{
    for (int m = 0; m < metric_n; m++) {
        const unsigned r = (seed * 2654435761u + (unsigned)m * 40503u) >> 8;

        if (m % 3 == 0)
            value[m] = as_value_exact(r % 5000, 1);
        else if (m % 3 == 1)
            value[m] = as_value_derived(r % 1001 / 10.0, r % 1001 / 10.0, r % 1001 / 10.0, 1);
        else
            value[m] =
                as_value_modelled(r % 100000 / 1000.0, r % 100000 / 1050.0, r % 100000 / 900.0);
    }
}

static int add_values(struct as_experiment *e, int loop_n, int metric_n, int path_n)
{
    struct as_set_metric *metric = calloc((size_t)metric_n, sizeof *metric);
    struct as_bounded_value *value = calloc((size_t)metric_n, sizeof *value);
    char(*name)[24] = calloc((size_t)metric_n, sizeof *name);
    struct as_metric_set *set = NULL;
    int rc;

    for (int m = 0; m < metric_n; m++) {
        snprintf(name[m], sizeof *name, "metric_%d", m);
        metric[m].metric = (struct as_metric){.name = name[m],
                                              .unit = m % 3 == 1 ? "%" : "cy",
                                              .meaning = "A figure.",
                                              .formula = "a"};
        metric[m].origin = m % 3 == 0   ? AS_ORIGIN_EXACT
                           : m % 3 == 1 ? AS_ORIGIN_DERIVED
                                        : AS_ORIGIN_MODELLED;
        metric[m].digits = m % 3 == 0 ? 0 : m % 3 == 1 ? 1 : 3;
        metric[m].bounded = m % 3 == 2;
    }
    rc = as_metric_set_open(e, "loop_code", AS_OBJECT_LOOP, "bench", metric, (size_t)metric_n, &set,
                            &err);
    for (int path = 0; rc == 0 && path <= path_n; path++) {
        const struct as_row_context row = {.path = as_known(path)};
        struct as_subject loop = {.kind = AS_OBJECT_LOOP};

        if (path)
            rc = as_experiment_add_context(e, &row, &loop.context_id, &err);
        for (int i = 0; rc == 0 && i < loop_n; i++) {
            loop.object_id = i + 1;
            fill(value, metric_n, (unsigned)(i * 9 + path));
            rc = as_metric_set_add(set, &loop, 0, value, &err);
        }
    }
    as_metric_set_close(&set);
    free(metric);
    free(value);
    free(name);
    return rc;
}

static long long size_of(const char *directory)
{
    char path[4096];
    struct stat st;

    snprintf(path, sizeof path, "%s/experiment.db", directory);
    return stat(path, &st) == 0 ? (long long)st.st_size : 0;
}

static int make(const char *path, int loop_n, int metric_n, int path_n)
{
    struct as_experiment *e = NULL;
    long long before;

    AS_TRY(as_experiment_create(path, AS_EXPERIMENT_FORCE, &e, &err));
    AS_TRY(as_experiment_begin(e, &err));
    AS_TRY(add_program(e, loop_n));
    AS_TRY(as_experiment_commit(e, &err));
    AS_TRY(as_experiment_summarise(e, 1, &err));
    AS_TRY(as_experiment_close(&e, &err));
    before = size_of(path);
    AS_TRY(as_experiment_open(path, &e, &err));
    AS_TRY(as_experiment_begin(e, &err));
    AS_TRY(add_values(e, loop_n, metric_n, path_n));
    AS_TRY(as_experiment_commit(e, &err));
    AS_TRY(as_experiment_close(&e, &err));
    printf("values %lld\nbytes_per_value %.2f\n", (long long)loop_n * metric_n * (path_n + 1),
           (double)(size_of(path) - before) / ((double)loop_n * metric_n * (path_n + 1)));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    if (make(argv[1], atoi(argv[2]), atoi(argv[3]), atoi(argv[4])) < 0) {
        fprintf(stderr, "metrics: %s\n", err.text);
        return 1;
    }
    return 0;
}
