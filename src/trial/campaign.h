/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A campaign at work: what its files share. Runs, builds and facts are in one file each; the order
 * is in run.c.
 */
#ifndef AS_TRIAL_CAMPAIGN_H
#define AS_TRIAL_CAMPAIGN_H

#include <assay/campaign.h>
#include <assay/trial.h>

#include "trial/candidate.h"

/* Kind of runs of a campaign, except for base runs at the beginning. */
#define AS_TRIAL_KIND "try"
#define AS_TRIAL_BASE "base"
/* Maximum number of trials after gains are known: combinations, and one for hot files only. */
#define AS_COMBINATIONS_MOST 3
#define AS_LATE_MOST         (AS_COMBINATIONS_MOST + 1)

struct as_trial {
    struct assay_experiment *experiment;
    const struct assay_trial_request *request;
    struct assay_trial_result *result;
    struct assay_campaign *campaign;
    struct assay_catalogue *catalogue; /* the code of all runs, read once */
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
    double base_s, base_cost_s; /* of the first run */
    double limit_s;             /* of all others */
    double check_limit_s;       /* of the user's check; 0: its first run has no limit */
    bool is_single;             /* one thread works: waiting for a CPU does not count */
    bool is_over;               /* the user ended it */
    unsigned base_failed_n;     /* runs of the program as it is that did not end well */
    char *libraries, *rules;    /* of facts; heap */
    char compilers[64];
    size_t round_of_build, build_all;
};

double as_trial_left(const struct as_trial *t);
void as_trial_note(const struct as_trial *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
bool as_trial_stopped(void *trial);

struct as_trial_run {
    bool is_good;  /* ended by itself with status 0 */
    double time_s; /* that counts */
    double wall_s;
    double cost_s; /* with all around it */
    struct assay_profile_result profile;
};

/* Runs the unchanged program (`candidate` NULL; `first`: its properties are recorded) or a
 * candidate. Errors: those of the campaign; a failing program is not an error. */
int as_trial_start(struct as_trial *t, struct as_candidate *candidate, bool first,
                   struct as_trial_run *out, struct assay_error *err);
/* Compares the output of a run with the unchanged program, or runs the user's check. Returns
 * false if the candidate gives other results. */
int as_trial_judge(struct as_trial *t, struct as_candidate *candidate, int64_t run_id,
                   bool *is_fine, struct assay_error *err);
/* The user's check of a run that wrote `output`. */
struct as_trial_check {
    bool passes, is_late; /* is_late: it was killed, five times as long as its first run */
    char message[256];    /* its first line */
};
/* Errors: LIMIT (no process). */
int as_trial_check(struct as_trial *t, const char *output, struct as_trial_check *out,
                   struct assay_error *err);
/* Asks the user's check, where there is one, of the program as it is: what refuses that judges
 * nothing. Errors: UNSUPPORTED. */
int as_trial_check_base(struct as_trial *t, int64_t run_id, struct assay_error *err);
/* Learns from a run of the program as it is. */
int as_trial_learn(struct as_trial *t, int64_t run_id, struct assay_error *err);
/* Returns the failure in a few words: "ended with status 3: its last line". */
const char *as_trial_failure(struct as_trial *t, const struct as_trial_run *run);

/* The base build; its failure is the campaign's. */
int as_trial_build_base(struct as_trial *t, struct assay_error *err);
/* Builds the candidates from `from` on that have flags. Those with the code of another are SAME. */
int as_trial_build(struct as_trial *t, size_t from, struct assay_error *err);

/* Adds `it`, which has flags, for the files alone that have most of the time; nothing where there
 * is no debug information, or these are all. Errors: NOMEM, those of reading. */
int as_trial_add_hot(struct as_trial *t, const struct as_candidate *it, struct assay_error *err);

/* Findings and hosts of the first run, its libraries: what candidates are chosen by. */
int as_trial_find_facts(struct as_trial *t, struct assay_error *err);
/* Rows of the table `trial`, best first, with what changed in the program. */
int as_trial_write(struct as_trial *t, struct assay_error *err);

#endif
