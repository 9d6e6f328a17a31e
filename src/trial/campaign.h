/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of a campaign, shared by its files. run.c holds the order of its steps; runs, builds and
 * facts have one file each.
 */
#ifndef AS_TRIAL_CAMPAIGN_H
#define AS_TRIAL_CAMPAIGN_H

#include "campaign/campaign.h"
#include "trial/candidate.h"
#include "trial/trial.h"

/* Kind of the runs of a campaign, except the first run; label of the runs of the unchanged
 * program. */
#define AS_TRIAL_KIND "try"
#define AS_TRIAL_BASE "base"
/* Max number of trials that are added after the race: combinations, and one for hot files only. */
#define AS_COMBINATIONS_MOST 3
#define AS_LATE_MOST         (AS_COMBINATIONS_MOST + 1)

struct as_trial {
    struct as_experiment *experiment;
    const struct as_trial_request *request;
    struct as_trial_result *result;
    struct as_campaign *campaign;
    struct as_catalogue *catalogue; /* code of all runs; each module is read once */
    struct as_arena arena;
    struct as_build_tree build_tree;
    bool has_build_tree;
    struct as_build base_build;
    const char *const *base_command;
    struct as_candidate_facts facts;
    as_candidate_list candidate;
    struct as_race race;
    struct as_output_model output;
    int64_t begin_ns;
    double budget_s;
    /* seconds of the first run: of the program, and with all overheads */
    double base_s, base_cost_s;
    double limit_s; /* time limit of later runs, seconds */
    /* time limit of the user's check, seconds; 0 = no limit, because it has not run yet */
    double check_limit_s;
    bool is_single;          /* one thread works, so time without a CPU is subtracted */
    bool is_over;            /* the user stopped the campaign */
    unsigned base_failed_n;  /* failed runs of the unchanged program */
    char *libraries, *rules; /* strings of `facts`; on the heap */
    char compilers[64];
    size_t round_of_build, build_all;
};

/* Returns the seconds left of the budget; negative if it is exceeded. */
double as_trial_left(const struct as_trial *t);
/* Passes a formatted note to the user through the callback of the request. */
void as_trial_note(const struct as_trial *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns true if the user has stopped the campaign; `trial` is a struct as_trial. */
bool as_trial_stopped(void *trial);

struct as_trial_outcome {
    bool is_good;  /* exited with status 0 within its time limit */
    double time_s; /* the time that is compared */
    double wall_s;
    double cost_s; /* with the overhead of assay */
    struct as_profile_result profile;
};

/* Runs the unchanged program (`candidate` NULL; `first`: its properties are recorded) or a
 * candidate. Errors: those of the campaign; a failing program is not an error. */
int as_trial_start(struct as_trial *t, struct as_candidate *candidate, bool first,
                   struct as_trial_outcome *out, struct as_error *err);
/* Compares the output of a run with the unchanged program, or runs the user's check. Returns
 * false if the candidate gives other results. */
int as_trial_judge(struct as_trial *t, struct as_candidate *candidate, int64_t run_id,
                   bool *is_fine, struct as_error *err);
/* Result of the user's check on the output of a run. */
struct as_trial_check {
    bool passes, is_late; /* is_late: the check was killed, because it exceeded its time limit */
    char message[256];    /* first line of the check's output */
};
/* Runs the user's check on the file `output`. Errors: LIMIT (no pipe or process). */
int as_trial_check(struct as_trial *t, const char *output, struct as_trial_check *out,
                   struct as_error *err);
/* Runs the user's check, if there is one, on a run of the unchanged program. A check that
 * rejects this run is useless. Errors: UNSUPPORTED (the check rejects it), LIMIT. */
int as_trial_check_base(struct as_trial *t, int64_t run_id, struct as_error *err);
/* Adds the output of a run of the unchanged program to the output model. Errors: NOMEM. */
int as_trial_learn(struct as_trial *t, int64_t run_id, struct as_error *err);
/* Returns the failure in a few words: "ended with status 3: its last line". */
const char *as_trial_failure(struct as_trial *t, const struct as_trial_outcome *run);

/* Builds the unchanged program. Errors: those of the build; NOT_FOUND (the build fails), USAGE
 * (it does not build the program). */
int as_trial_build_base(struct as_trial *t, struct as_error *err);
/* Builds the candidates from index `from` on that have flags. A candidate with the code of an
 * earlier one gets the verdict SAME. */
int as_trial_build(struct as_trial *t, size_t from, struct as_error *err);

/* Adds a candidate with the flags of `it` for hot files only. Adds nothing without debug
 * information, or if all files are hot. Errors: NOMEM, those of the experiment. */
int as_trial_add_hot(struct as_trial *t, const struct as_candidate *it, struct as_error *err);

/* Reads the facts that select candidates: findings and machine of the first run, and its
 * libraries. */
int as_trial_find_facts(struct as_trial *t, struct as_error *err);
/* Writes the rows of the table `trial`, best first, and what changed in the program. */
int as_trial_write(struct as_trial *t, struct as_error *err);

#endif
