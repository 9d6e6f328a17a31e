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

static int fail(const struct assay_error *err)
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
    struct assay_experiment *experiment;
    struct assay_error err = {0};
    struct assay_rows *rows;

    if (argc != 2)
        return 2;
    if (assay_experiment_open(argv[1], &experiment, &err) < 0 ||
        assay_advise_run(experiment, 1, &err) < 0 ||
        assay_rows_open(experiment, sql, &rows, &err) < 0)
        return fail(&err);
    while (assay_rows_next(rows, &err) > 0)
        printf("%s\t%s\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%s\t%s\n", assay_rows_text(rows, 0),
               assay_rows_text(rows, 1), assay_rows_real(rows, 2), assay_rows_real(rows, 3),
               assay_rows_real(rows, 4), assay_rows_real(rows, 5), assay_rows_real(rows, 6),
               assay_rows_text(rows, 7), assay_rows_text(rows, 8));
    assay_rows_close(&rows);
    return assay_experiment_close(&experiment, &err) < 0 ? fail(&err) : 0;
}
