/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Showing an experiment: the summary of a profile for a terminal or as JSON, and files for the
 * viewers of others. Reads the experiment only, changes nothing in it, and computes nothing that
 * is not in it but sums, shares and the advice that follows from them.
 */
#ifndef AS_REPORT_REPORT_H
#define AS_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "compare/compare.h"
#include "experiment/experiment.h"

/*
 * The sink of bytes that base/out.h defines. What is written to it fails later, when it is flushed
 * by its owner; the functions below report what reading the experiment meets.
 */
struct as_out;

/* ---- Summary of a profile ----------------------------------------------------------------- */

struct as_report_text_options {
    unsigned width; /* columns of the terminal; 0 = 80; less than 40 counts as 40 */
    bool colour;    /* escape sequences */
    bool utf8;      /* bars and dots beyond ASCII (as_report_locale_is_utf8) */
    size_t rows;    /* functions, loops, ... in each list; 0 = 10 */
    bool brief;     /* the run, its time and three findings, in at most 30 lines of 80 columns */
    bool no_inline; /* as if nothing was inlined: functions of the binary with all their code */
    bool clean; /* report data: control characters in texts become visible escapes, for a page */
};

/* Whether the environment (LC_ALL, LC_CTYPE, LANG) asks for UTF-8. */
bool as_report_locale_is_utf8(void);

/*
 * What a user wants to see first: how the run was measured, where the time went, running and
 * waiting, balance of load, hottest functions and loops, what lessens trust, what to look at next.
 * `run_id` 0 is the last run. No line is wider than the width. Errors: NOT_FOUND (no such run, or
 * none at all), those of reading.
 */
int as_report_profile(struct as_experiment *experiment, int64_t run_id,
                      const struct as_report_text_options *options, struct as_out *out,
                      struct as_error *err);

/* The same as one JSON object, described in doc/reference/json.md. Of the options rows and
 * no_inline count; NULL: none. Errors as above. */
int as_report_profile_json(struct as_experiment *experiment, int64_t run_id,
                           const struct as_report_text_options *options, struct as_out *out,
                           struct as_error *err);

/* ---- The report --------------------------------------------------------------------------- */

/* Raised when a key of the report data changes its meaning or goes away
 * (doc/reference/report-data.md). */
#define AS_REPORT_DATA_SCHEMA 1

struct as_report_data_options {
    const char *made_utc; /* when the document was made; NULL = now */
    size_t path_most;     /* call paths kept, the heaviest; 0 = 100,000 */
    /* With others, of which this experiment is one side; or NULL. */
    const struct as_comparison *comparison;
    /* Bytes of bins that time lines have for looking closer, in all; 0 = 1 MiB. A file of its own
     * is kept small, a page that is served is not. */
    size_t level_most_b;
    bool csv_safe;  /* CSV: no text that a spreadsheet takes for a formula */
    bool no_inline; /* as if nothing was inlined: functions of the binary with all their code */
    bool clean; /* report data: control characters in texts become visible escapes, for a page */
};

/*
 * Writes all that a report of one run shows (0 = the last) as one JSON document. It streams: no
 * more than one view is held in memory at a time. `options` may be NULL. Errors: NOT_FOUND (no such
 * run, or none at all), NOMEM, those of reading.
 */
int as_report_data(struct as_experiment *experiment, int64_t run_id,
                   const struct as_report_data_options *options, struct as_out *out,
                   struct as_error *err);

/* X(NAME, word, file inside the experiment): what a report is written as. */
#define AS_REPORT_LIST(X)                                                                          \
    X(HTML, "html", "report.html") /* one page that needs nothing else */                          \
    X(XLSX, "xlsx", "report.xlsx") /* a workbook with one sheet a view */                          \
    X(TEXT, "text", "report.txt")  /* the summary */                                               \
    X(JSON, "json", "report.json") /* the report data */                                           \
    X(CSV, "csv", "report-csv")    /* a directory with one file a view */

enum as_report_format {
#define AS_REPORT_ENUM(name, word, file) AS_REPORT_##name,
    AS_REPORT_LIST(AS_REPORT_ENUM)
#undef AS_REPORT_ENUM
};

/*
 * Writes the report of a run (0 = the last) to `path`: whole or not at all, by a file beside it
 * that is renamed; files of CSV one by one. What is there is replaced; in the experiment, and in a
 * directory of CSV, links are replaced too and not followed. `options` may be NULL.
 * Errors: NOT_FOUND, PERMISSION and IO (where `path` stands cannot be written, a full disk),
 * UNSUPPORTED, NOMEM, those of reading.
 */
int as_report_write(struct as_experiment *experiment, int64_t run_id, enum as_report_format format,
                    const struct as_report_data_options *options, const char *path,
                    struct as_error *err);

/*
 * The same to `out`, which its owner flushes; after an error what was written is not whole. Errors:
 * UNSUPPORTED for XLSX and CSV, which are no single stream; else as above.
 */
int as_report_stream(struct as_experiment *experiment, int64_t run_id, enum as_report_format format,
                     const struct as_report_data_options *options, struct as_out *out,
                     struct as_error *err);

/* ---- Comparisons --------------------------------------------------------------------------- */

/*
 * Results of compare.h as JSON values (doc/reference/report-data.md), `null` for NULL: a document
 * of the caller's goes on around them. What cannot be written shows when its sink is flushed.
 */
struct as_json;
void as_report_scalability_json(const struct as_scalability *it, struct as_json *json);
void as_report_alternation_json(const struct as_alternation *it, struct as_json *json);
void as_report_stability_json(const struct as_stability *it, struct as_json *json);
void as_report_comparison_json(const struct as_comparison *it, struct as_json *json);

/* ---- Exports ------------------------------------------------------------------------------ */

/* X(NAME, word): files that other programs read (doc/manual/export.md). */
#define AS_EXPORT_LIST(X)                                                                          \
    X(FOLDED, "folded")         /* frames separated by ';', a blank, a count: flame graphs */      \
    X(SPEEDSCOPE, "speedscope") /* JSON of www.speedscope.app */                                   \
    X(PPROF, "pprof")           /* profile.proto, compressed with gzip */

enum as_export_format {
#define AS_EXPORT_ENUM(name, word) AS_EXPORT_##name,
    AS_EXPORT_LIST(AS_EXPORT_ENUM)
#undef AS_EXPORT_ENUM
};

/* What stacks are kept apart by. pprof always has processes and threads, as labels. */
enum as_export_by {
    AS_EXPORT_BY_DEFAULT, /* folded: the run; speedscope: threads */
    AS_EXPORT_BY_RUN,
    AS_EXPORT_BY_PROCESS,
    AS_EXPORT_BY_THREAD
};

struct as_export_options {
    enum as_export_format format;
    enum as_export_by by;
    bool blocked; /* time spent waiting in place of time spent running */
};

/*
 * Writes the call stacks of a run (0 = the last), inlined functions as frames of their own, and
 * sets `*stack_n` (may be NULL) to how many different ones there were: none is no error. Errors:
 * NOT_FOUND, CORRUPT (call paths in a circle), NOMEM, those of reading.
 */
int as_report_export(struct as_experiment *experiment, int64_t run_id,
                     const struct as_export_options *options, struct as_out *out, uint64_t *stack_n,
                     struct as_error *err);

#endif
