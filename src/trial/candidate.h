/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates: the rules of data/try/ that fit a program, and their changes.
 */
#ifndef AS_TRIAL_CANDIDATE_H
#define AS_TRIAL_CANDIDATE_H

#include <assay/launch.h>

#include "base/arena.h"
#include "base/vec.h"
#include "trial/build.h"
#include "trial/output.h"
#include "trial/race.h"
#include "trial/tables.h"

#define AS_PARTS_MOST 8

/* A way to run the program. */
struct as_candidate {
    const char *name, *title, *group;
    unsigned what;
    const char *finding; /* rules that it answers, blanks between; "" */
    bool is_found;       /* one of them has spoken */
    /* Changed setting; NULL and 0: none. */
    struct assay_setting *variable; /* "env:NAME" */
    size_t variable_n;
    const char *const *wrap, *const *launcher; /* words, end with NULL */
    const char *ranks, *flags, *train, *merge;
    const char *const *only;      /* files that get the flags, ends with NULL; NULL: all */
    bool is_trained;              /* guided by a profile: built with `train` first */
    uint32_t part[AS_PARTS_MOST]; /* of a combination: which it is made of */
    size_t part_n;
    /* How it goes. */
    struct as_build build; /* DONE where it has flags, else that of base is used */
    int racer;             /* -1: it does not run */
    bool differs;          /* other results than the program as it is */
    const char *const *command;
    enum assay_trial_verdict verdict;
    const char *message; /* why it does not run, or fails; or NULL */
    int64_t run_id;      /* the first */
    unsigned run_n;
    struct as_output_difference output; /* the worst of its runs */
    const char *why;                    /* what changed in the program, or NULL */
};

typedef AS_VEC(struct as_candidate) as_candidate_list;

/* Facts about program and machine for the choice of candidates. */
struct as_candidate_facts {
    const char *const *command; /* the user's */
    enum assay_launch_kind launcher;
    const char *libraries; /* names of those that it uses, a blank before and behind each */
    const char *compilers; /* families, blanks between; "": nothing is built */
    const char *rules;     /* that have spoken, a blank before and behind each */
    int64_t cpu_n, core_n, numa_n, thread_n;
    int first_cpu;
};

/*
 * Chooses rules of kinds `what`; rules for findings come first. Rules without effect (a variable
 * with the same value) are left out. Errors: NOMEM.
 */
int as_candidates_choose(const struct as_candidate_facts *facts, unsigned what,
                         struct as_arena *arena, as_candidate_list *out, struct assay_error *err);
/* The words that run a candidate: those of `words` with what it changes. NULL: NOMEM. */
const char *const *as_candidate_words(const struct as_candidate *it,
                                      const struct as_candidate_facts *facts,
                                      const char *const *words, struct as_arena *arena);
/*
 * Several together; its name is theirs with '+' between. Errors: NOMEM.
 */
int as_candidates_join(const as_candidate_list *all, const uint32_t *part, size_t part_n,
                       struct as_arena *arena, struct as_candidate *out, struct assay_error *err);
/* Returns the command for the user: variables and words, after the build command. NULL: NOMEM. */
const char *as_candidate_type(const struct as_candidate *it, const struct as_candidate_facts *facts,
                              const char *build, struct as_arena *arena);

#endif
