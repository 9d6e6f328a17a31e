/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filter rules: the names of routines and regions that are recorded or left out. The file syntax is
 * that of Score-P (Score-P User Manual, "Filtering"). The last matching rule decides. A name
 * without a matching rule is recorded. assay reads and checks the rules. The agent gets packed
 * rules, and looks up each name once.
 */
#ifndef AS_TRACE_FILTER_H
#define AS_TRACE_FILTER_H

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "trace/filter_match.h"

struct as_trace_filter {
    struct as_str rules; /* packed: for each rule a letter, a pattern of base/glob.h, a zero byte */
    size_t rules_n;      /* number of rules of names */
    size_t rules_of_file; /* number of rules of source files, which are ignored */
};

/* Classes of wrapped routines. A class tells which other routines of a trace need this one. */
enum as_filter_class {
    AS_FILTERED_ALWAYS,   /* other records have no meaning without it */
    AS_FILTERED_MESSAGE,  /* needed to match messages and requests */
    AS_FILTERED_TEST,     /* as MESSAGE; a call may complete nothing */
    AS_FILTERED_REQUEST,  /* starts a request; can be left out alone */
    AS_FILTERED_PLACE,    /* gives the file of a descriptor */
    AS_FILTERED_TRANSFER, /* other routines of files */
    AS_FILTERED_RELEASE,  /* frees a memory block */
    AS_FILTERED_MEMORY,   /* other routines of memory */
    AS_FILTERED_UNLOCK,   /* releases a lock, which ends the wait of other threads */
    AS_FILTERED_FREE      /* all others */
};
enum as_filter_class as_filter_class_of(const char *name);

/* Parses the rules of a text; messages use `name`. The caller releases `*out` with
 * as_trace_filter_fini, also after an error. Errors: USAGE (with line number), NOMEM. */
int as_trace_filter_parse(struct as_view text, const char *name, struct as_trace_filter *out,
                          struct as_error *err);
/* Reads the rules of a file, as as_trace_filter_parse. Errors: NOT_FOUND, IO, USAGE, NOMEM. */
int as_trace_filter_read(const char *path, struct as_trace_filter *out, struct as_error *err);
void as_trace_filter_fini(struct as_trace_filter *filter);

/*
 * Adds rules that keep the routines which other records of the trace need. `kept` gets the names
 * that the user's rules leave out, but that stay because others of their kind are recorded. Names
 * that always stay, or stay with AS_FILTER_FOUND, are not in `kept`. Errors: NOMEM.
 */
struct as_filter_kept {
    AS_VEC(const char *) name;
};
int as_trace_filter_settle(struct as_trace_filter *filter, struct as_filter_kept *kept);
void as_filter_kept_fini(struct as_filter_kept *kept);

/* Appends a rule that matches exactly this name. */
void as_trace_filter_add(struct as_trace_filter *filter, enum as_filter_verdict verdict,
                         const char *name);

#endif
