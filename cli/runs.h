/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs that run a program several times: says beforehand how many runs there are, and each run
 * with the time that is left. On standard error, and nothing with --quiet.
 */
#ifndef AS_CLI_RUNS_H
#define AS_CLI_RUNS_H

#include "cli.h"
#include "profile/profile.h"
#include "profiling.h"

/* Runs of a kind: `min` to `max` of them. */
struct as_run_part {
    const char *kind; /* as in the table `run` */
    unsigned min, max;
};

struct as_run_count {
    const struct as_cli *cli;
    struct as_stage *stage; /* its line gives way to ours; or NULL */
    unsigned min, max, begun;
    bool is_attached; /* to a process: it is measured for a time, and not run */
    uint64_t start_ns;
};

/* Says what is planned, and makes `request` tell each run. `count` is borrowed until the last. */
void as_run_count_begin(struct as_run_count *count, const struct as_cli *cli,
                        const struct as_run_part *part, size_t part_n,
                        struct as_profile_request *request);

/* Writes ", about 5 s left": of `left` runs, of which `begun` took `past_s`; "" before the first.
 */
void as_run_time_left(char *text, size_t text_b, double past_s, size_t begun, size_t left);

#endif
