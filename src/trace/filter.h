/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which routines and regions are recorded: rules by name, in files of Score-P's syntax (Score-P
 * User Manual, "Filtering"). The later of two rules that match decides; what none matches is
 * recorded. Rules are read and checked outside; the program has them packed, and asks once a name.
 */
#ifndef AS_TRACE_FILTER_H
#define AS_TRACE_FILTER_H

#include <assay/error.h>

#include "base/str.h"
#include "base/vec.h"
#include "trace/filter_match.h"

struct as_trace_filter {
    struct as_str rules;  /* packed: a letter, a pattern of base/glob.h, zero; and so on */
    size_t rules_n;       /* of names */
    size_t rules_of_file; /* of names of files, which decide nothing here */
};

/* What is known of routines that are wrapped: why one cannot be left out by itself. */
enum as_filter_class {
    AS_FILTERED_ALWAYS,   /* others mean nothing without it */
    AS_FILTERED_MESSAGE,  /* messages are matched by all of them, and requests */
    AS_FILTERED_TEST,     /* the same, and may find nothing */
    AS_FILTERED_REQUEST,  /* makes a request; may be left out alone */
    AS_FILTERED_PLACE,    /* says which file a descriptor is */
    AS_FILTERED_TRANSFER, /* other routines of files */
    AS_FILTERED_RELEASE,  /* gives a block of memory back, or a lock */
    AS_FILTERED_MEMORY,   /* other routines of memory */
    AS_FILTERED_UNLOCK,   /* is recorded for threads that are seen to wait alone */
    AS_FILTERED_FREE      /* all others */
};
enum as_filter_class as_filter_class_of(const char *name);

/* Rules of a text; `name` is for messages. Errors: USAGE (with line), NOMEM. Release it in any
 * case. */
int as_trace_filter_parse(struct as_view text, const char *name, struct as_trace_filter *out,
                          struct assay_error *err);
/* Rules of a file. Errors: NOT_FOUND, IO, USAGE, NOMEM. */
int as_trace_filter_read(const char *path, struct as_trace_filter *out, struct assay_error *err);
void as_trace_filter_fini(struct as_trace_filter *filter);

/*
 * Adds rules that keep what the rest of a trace needs, so that what remains is right. `kept` gets
 * the names of routines that the user's rules leave out and that stay, because not all of their
 * kind are left out; not those that always stay, or stay where they find something. 0 or NOMEM.
 */
struct as_filter_kept {
    AS_VEC(const char *) name;
};
int as_trace_filter_settle(struct as_trace_filter *filter, struct as_filter_kept *kept);
void as_filter_kept_fini(struct as_filter_kept *kept);

/* Appends a rule that matches this very name. */
void as_trace_filter_add(struct as_trace_filter *filter, enum as_filter_verdict verdict,
                         const char *name);

#endif
