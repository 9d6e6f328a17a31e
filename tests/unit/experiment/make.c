/* SPDX-License-Identifier: Apache-2.0 */
/* usage: make DIRECTORY [LINES]: the experiment of fixture.c, with so many source lines besides. */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

static int add_lines(struct as_experiment *experiment, int n, struct as_error *err)
{
    int rc = as_experiment_begin(experiment, err);

    for (int i = 0; rc == 0 && i < n; i++) {
        const struct as_row_line row = {.source_file_id = 1, .number = 1000 + i, .text = "x"};

        rc = as_experiment_add_line(experiment, &row, NULL, err);
    }
    return rc ? rc : as_experiment_commit(experiment, err);
}

int main(int argc, char **argv)
{
    struct as_experiment *experiment = NULL;
    struct as_error err = {0};
    struct fixture f;
    int rc = argc < 2 ? AS_ERR_USAGE : as_experiment_create(argv[1], 0, &experiment, &err);

    if (rc == 0)
        rc = fixture_fill(experiment, &f, &err);
    if (rc == 0 && argc > 2)
        rc = add_lines(experiment, atoi(argv[2]), &err);
    if (rc == 0)
        rc = as_experiment_close(&experiment, &err);
    if (rc < 0)
        fprintf(stderr, "make: %s\n", err.text);
    return rc < 0;
}
