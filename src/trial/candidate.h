/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates: the rules of data/try/ that fit a program, and their changes.
 */
#ifndef AS_TRIAL_CANDIDATE_H
#define AS_TRIAL_CANDIDATE_H

#include "base/arena.h"
#include "base/vec.h"
#include "launch/launch.h"
#include "trial/build.h"
#include "trial/output.h"
#include "trial/race.h"
#include "trial/tables.h"

#define AS_PARTS_MOST 8

/* A change of settings or build, and its result. */
struct as_candidate {
    const char *name, *title, *group;
    unsigned what;
    const char *finding; /* rules of findings that it answers, separated by blanks; may be "" */
    bool is_found;       /* one of these rules has a finding */
    /* The changed settings; NULL or 0 = unchanged. */
    struct as_setting *variable; /* "env:NAME" */
    size_t variable_n;
    const char *const *wrap, *const *launcher; /* words, ended by NULL */
    const char *ranks, *flags, *train, *merge;
    const char *const *only;      /* files that get the flags, ended by NULL; NULL = all files */
    bool is_trained;              /* profile-guided: built with `train` first */
    uint32_t part[AS_PARTS_MOST]; /* indices of the candidates that a combination consists of */
    size_t part_n;
    /* Progress and result. */
    struct as_build build; /* DONE if it has flags; without flags, the base build is used */
    int racer;             /* index in the race; -1 if the candidate does not run */
    bool differs;          /* its results differ from those of the unchanged program */
    const char *const *command;
    enum as_trial_verdict verdict;
    const char *message; /* why it does not run, or why it fails; or NULL */
    int64_t run_id;      /* id of its first run */
    unsigned run_n;
    struct as_output_difference output; /* largest difference over its runs */
    const char *why;                    /* what changed in the program, or NULL */
};

typedef AS_VEC(struct as_candidate) as_candidate_list;

/* Facts about program and machine for the choice of candidates. */
struct as_candidate_facts {
    const char *const *command; /* the user's command */
    enum as_launch_kind launcher;
    const char *libraries; /* names of the libraries in use, with a blank before and behind each */
    const char *compilers; /* compiler families, separated by blanks; "" = nothing is built */
    const char *rules;     /* rules with findings, with a blank before and behind each */
    int64_t cpu_n, core_n, numa_n, thread_n;
    int first_cpu;
};

/*
 * Chooses the rules of the kinds `what` that fit; rules for findings come first. Rules without
 * effect are left out, such as a variable that already has the value. Errors: NOMEM.
 */
int as_candidates_choose(const struct as_candidate_facts *facts, unsigned what,
                         struct as_arena *arena, as_candidate_list *out, struct as_error *err);
/* Returns the words that run a candidate: `words` with its changes. NULL without memory. */
const char *const *as_candidate_words(const struct as_candidate *it,
                                      const struct as_candidate_facts *facts,
                                      const char *const *words, struct as_arena *arena);
/* Makes a combination of candidates. Its name joins their names with '+'. Errors: NOMEM. */
int as_candidates_join(const as_candidate_list *all, const uint32_t *part, size_t part_n,
                       struct as_arena *arena, struct as_candidate *out, struct as_error *err);
/* Returns the command for the user: variables and words, after the build command. NULL without
 * memory. */
const char *as_candidate_type(const struct as_candidate *it, const struct as_candidate_facts *facts,
                              const char *build, struct as_arena *arena);

#endif
