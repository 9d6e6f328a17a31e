/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts traces of other tools to streams of assay, which analyses, reports and exports read.
 * Records without an equivalent are counted.
 */
#ifndef AS_EXCHANGE_IMPORT_H
#define AS_EXCHANGE_IMPORT_H

#include "base/error.h"
#include "experiment/experiment.h"

enum as_import_kind {
    AS_IMPORT_NONE, /* no trace: a perf.data file or an unknown file */
    AS_IMPORT_PRV,
    AS_IMPORT_OTF2
};

struct as_import_counts {
    uint64_t records_n;  /* records read */
    uint64_t left_out_n; /* records of kinds that are not imported */
    uint64_t bad_n;      /* invalid lines and calls */
    char first_bad[256]; /* position and reason of the first one, or "" */
    uint64_t processes_n, threads_n;
    int64_t start_ns; /* since 1970, from the file; 0: unknown */
    int64_t length_ns;
};

/* Returns the kind of a trace from the name or first bytes of a file; a directory is an OTF2
 * archive. Returns AS_IMPORT_NONE if the file is unreadable. */
enum as_import_kind as_import_kind_of(const char *path);
/* Returns true for the name of a trace (.prv, .prv.gz, .otf2); the file may be missing. */
bool as_import_names_trace(const char *path);

/* Write the streams of a trace into the existing directory `directory`. Errors: IO, NOT_FOUND,
 * CORRUPT (with the line and the reason), UNSUPPORTED, LIMIT, NOMEM. */
int as_prv_import(const char *path, const char *directory, struct as_import_counts *counts,
                  struct as_error *err);
int as_otf2_import(const char *path, const char *directory, struct as_import_counts *counts,
                   struct as_error *err);

/* A run that gets streams of assay. */
struct as_import_source {
    const char *label, *command; /* `label` may be NULL */
    const char *role;            /* NULL: main */
    int64_t reference_id;        /* the run that it simulates; 0: none */
    /* Writes the streams into the existing directory `directory` and fills the counts. Returns 0 or
     * an error. */
    int (*fill)(void *context, const char *directory, struct as_import_counts *counts,
                struct as_error *err);
    void *context;
};
/* Adds the run to `experiment`, which is open for writing. A failed run stays there unfinished.
 * Errors: those of `fill`, of reading and of writing. */
int as_import_streams(struct as_experiment *experiment, const struct as_import_source *source,
                      int64_t *run_id, struct as_import_counts *counts, struct as_error *err);

/* As as_import_streams for the trace file `path` of either kind. */
int as_import_trace(struct as_experiment *experiment, const char *path, const char *label,
                    int64_t *run_id, struct as_import_counts *counts, struct as_error *err);

#endif
