/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of other tools become streams of our own: what analyses, reports and exports read. What
 * they say that has no kind of record here is counted.
 */
#ifndef AS_EXCHANGE_IMPORT_H
#define AS_EXCHANGE_IMPORT_H

#include <assay/error.h>
#include <assay/experiment.h>

enum as_import_kind {
    AS_IMPORT_NONE, /* neither: what perf recorded, or nothing that is known */
    AS_IMPORT_PRV,
    AS_IMPORT_OTF2
};

struct as_import_counts {
    uint64_t records_n;  /* that were read */
    uint64_t left_out_n; /* of kinds that are not taken over */
    uint64_t bad_n;      /* lines and calls that make no sense */
    char first_bad[256]; /* of them: where and why; "" */
    uint64_t processes_n, threads_n;
    int64_t start_ns; /* since 1970, by the file; 0: not known */
    int64_t length_ns;
};

/* By the first bytes of a file, or the anchor in a directory. A file that cannot be read is none.
 */
enum as_import_kind as_import_kind_of(const char *path);
/* Returns whether a name is that of a trace (.prv, .prv.gz, .otf2); the file may be missing. */
bool as_import_names_trace(const char *path);

/* Streams in `directory`, which is there. Errors: IO, NOT_FOUND, CORRUPT (no such trace: which
 * line, what is wrong), UNSUPPORTED, LIMIT, NOMEM. */
int as_prv_import(const char *path, const char *directory, struct as_import_counts *counts,
                  struct assay_error *err);
int as_otf2_import(const char *path, const char *directory, struct as_import_counts *counts,
                   struct assay_error *err);

/* A run that gets streams of our own. */
struct as_import_source {
    const char *label, *command; /* `label` may be NULL */
    const char *role;            /* NULL: main */
    int64_t reference_id;        /* the run that it is a simulation of; 0: none */
    /* Writes the streams to `directory`, which is there, and fills the counts. Errors: its own. */
    int (*fill)(void *context, const char *directory, struct as_import_counts *counts,
                struct assay_error *err);
    void *context;
};
/* Adds the run to `experiment`, open for writing. A run that fails stays there, unfinished.
 * Errors: those of `fill`, of reading and of writing. */
int as_import_streams(struct assay_experiment *experiment, const struct as_import_source *source,
                      int64_t *run_id, struct as_import_counts *counts, struct assay_error *err);

/* A run with the trace of `path`, by its kind, in `experiment`, open for writing. Errors: as above.
 */
int as_import_trace(struct assay_experiment *experiment, const char *path, const char *label,
                    int64_t *run_id, struct as_import_counts *counts, struct assay_error *err);

#endif
