/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging: experiments of the ranks or nodes of one job become one experiment with one run
 * (doc/internals/merge.md). One input is open at a time. Knows nothing of samples; what follows
 * from them is made anew.
 */
#ifndef AS_MERGE_MERGE_H
#define AS_MERGE_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "experiment/experiment.h"

/* Differences to be accepted. */
enum as_merge_accept {
    AS_MERGE_BINARIES = 1 << 0, /* other files under the same path */
    AS_MERGE_JOBS = 1 << 1,     /* ranks of several jobs */
    AS_MERGE_TIMES = 1 << 2     /* runs that lie far from each other */
};

struct as_merge_request {
    const char *const *path; /* of the experiments */
    size_t n;
    int64_t run_id;    /* of each; 0 = its last */
    const char *label; /* NULL = theirs, if they have the same */
    unsigned accept;   /* enum as_merge_accept */
    /* NULL: streams of traces are copied at once. Else files are created empty, and this
     * function is called for each file to copy later (as_merge_copy); `copies` is its
     * context. */
    int (*copy_later)(void *copies, const char *from, const char *to, struct as_error *err);
    void *copies;
    void (*progress)(void *context, const char *stage, uint64_t done, uint64_t total); /* or NULL */
    void *context;
};

struct as_merge_result {
    int64_t run_id;
    size_t rank_n, host_n;
    size_t left_n; /* inputs that hold further runs, which are not merged */
};

/*
 * Looks at all inputs, and only then adds the merged run, with its sums, to `to`, open for writing.
 * Errors: USAGE and CORRUPT with the input and the reason, those of reading it, LIMIT (stopped).
 * After one, `to` is not whole and is to be discarded.
 */
int as_merge_experiments(struct as_experiment *to, const struct as_merge_request *request,
                         struct as_merge_result *result, struct as_error *err);

/* Fills a file that was made. Errors: IO. */
int as_merge_copy(const char *from, const char *to, struct as_error *err);

#endif
