/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies the rules of now to a recorded experiment, and prints what they find: rule, level,
 * seconds that it is about, gain with its bounds, upper bound as a share of the run (-1: none),
 * text, what to do.
 */
#include <stdio.h>
#include <stdlib.h>

#include "advise/advise.h"
#include "experiment/experiment.h"

static int fail(const struct as_error *err)
{
    fprintf(stderr, "again: %s\n", err->text);
    return 1;
}

int main(int argc, char **argv)
{
    static const char sql[] =
        "SELECT f.rule, f.level, ifnull(f.time_s, 0), ifnull(f.gain_s, 0), ifnull(f.gain_low_s, 0),"
        " ifnull(f.gain_high_s, 0), ifnull(1 - 1 / f.gain_high, -1), f.text || ifnull(' ' || "
        "replace(f.more, char(10), ' '), ''),"
        " ifnull(f.workaround, '') FROM v_findings f ORDER BY "
        "f.rank";
    struct as_experiment *experiment;
    struct as_error err = {0};
    struct as_rows *rows;

    if (argc != 2)
        return 2;
    if (as_experiment_open(argv[1], &experiment, &err) < 0 ||
        as_advise_run(experiment, 1, &err) < 0 || as_rows_open(experiment, sql, &rows, &err) < 0)
        return fail(&err);
    while (as_rows_next(rows, &err) > 0)
        printf("%s\t%s\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%s\t%s\n", as_rows_text(rows, 0),
               as_rows_text(rows, 1), as_rows_real(rows, 2), as_rows_real(rows, 3),
               as_rows_real(rows, 4), as_rows_real(rows, 5), as_rows_real(rows, 6),
               as_rows_text(rows, 7), as_rows_text(rows, 8));
    as_rows_close(&rows);
    return as_experiment_close(&experiment, &err) < 0 ? fail(&err) : 0;
}
