/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a new experiment: --output with %r and others replaced, or a default. If assay runs
 * as several ranks, each rank makes its own (doc/manual/merge.md).
 */
#ifndef AS_CLI_EXPERIMENT_NAME_H
#define AS_CLI_EXPERIMENT_NAME_H

#include "base/str.h"
#include "cli.h"
#include "experiment/experiment.h"

struct as_experiment_name {
    /* The name is `stem` and `tail`; where `is_free`, "-2" and so on go between them when it is
     * there. */
    struct as_str stem, tail;
    bool is_free;
    /* For several ranks: the rank, their number (-1 = unknown), and a shell pattern for the
     * names of all ranks, if %r distinguishes them. */
    bool is_rank;
    int64_t rank, size;
    struct as_str pattern;
    struct as_str made; /* the name it got */
};

/*
 * Finds the name, and whether assay is one of several ranks: all but the first are quiet then, but
 * for what is wrong. `own` is the name where --output says none, without ".assay". Errors: USAGE (a
 * % that is not known, %r where there is no rank), NOMEM.
 */
int as_experiment_name(struct as_cli *cli, const char *own, struct as_experiment_name *name,
                       struct as_error *err);
void as_experiment_name_fini(struct as_experiment_name *name);

/* Makes the experiment, with --force or a free name as it is asked for. */
int as_experiment_name_create(struct as_cli *cli, struct as_experiment_name *name,
                              struct as_experiment **out, struct as_error *err);

/* With --add: opens the one that --output names when it is there; else makes one of just that name.
 * Errors: USAGE (no --output; --force), those of opening. */
int as_experiment_continue(struct as_cli *cli, struct as_experiment_name *name,
                           struct as_experiment **out, struct as_error *err);

/* "the experiment is NAME"; of ranks how to merge them. */
void as_experiment_name_print(const struct as_cli *cli, const struct as_experiment_name *name);

#endif
