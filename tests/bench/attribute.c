/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benchmark driver: attribution of a recorded stream, from the file to the finished database:
 * bench-attribute [--jobs N] STREAM DIRECTORY. Makes DIRECTORY/x.assay, which must not exist, on
 * the file system of the stream.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "profile/profile.h"
#include "status.h"

static int attribute(const char *stream, const char *directory, unsigned jobs, struct as_error *err)
{
    char path[4096], run[4096], to[4200];
    struct as_experiment *experiment;
    const struct as_row_run row = {
        .kind = "import", .command = stream, .state = "complete", .start_ns = 1};
    const struct as_attribute_options options = {.jobs = jobs};
    int64_t id;
    snprintf(path, sizeof path, "%s/x.assay", directory);
    int rc = as_experiment_create(path, 0, &experiment, err);
    if (rc < 0)
        return rc;
    rc = as_experiment_add_run(experiment, &row, &id, err);
    if (rc == 0)
        rc = as_experiment_run_directory(experiment, id, run, sizeof run, err);
    snprintf(to, sizeof to, "%.4000s/main.samples", run);
    if (rc == 0 && link(stream, to) < 0) { /* a symbolic link is not followed there */
        snprintf(err->text, sizeof err->text, "%.900s: has to lie on the file system of the result",
                 stream);
        rc = -1;
    }
    if (rc == 0)
        rc = as_profile_attribute(experiment, id, &options, err);
    const int closed = as_experiment_close(&experiment, rc < 0 ? NULL : err);
    return rc < 0 ? rc : closed;
}

int main(int argc, char **argv)
{
    struct as_error err = {0};
    unsigned jobs = 0;
    int i = 1;
    as_alloc_keep(); /* as the program does */
    if (argc > 2 && !strcmp(argv[1], "--jobs")) {
        jobs = (unsigned)atoi(argv[2]);
        i = 3;
    }
    if (argc - i != 2) {
        fprintf(stderr, "usage: %s [--jobs N] STREAM DIRECTORY\n", argv[0]);
        return 2;
    }
    if (attribute(argv[i], argv[i + 1], jobs, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("kib %ld\n", bench_status_kib("VmHWM"));
    return 0;
}
