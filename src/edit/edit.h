/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes to traces of Paraver: parts of the time, filters, software counters, shifted times and
 * other numbers of events. A trace streams from file to file, a line at a time. Only shifted times
 * need a temporary file, which sorts the lines. Rules: doc/manual/edit.md.
 */
#ifndef AS_EDIT_EDIT_H
#define AS_EDIT_EDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/out.h"
#include "base/vec.h"
#include "exchange/prv_read.h"

/* Numbers from first to last. */
struct as_edit_range {
    int64_t first, last;
};

/* Types of events, each with some values or all. */
struct as_edit_type {
    struct as_edit_range range;
    AS_VEC(int64_t) value; /* empty: all */
};

struct as_edit_types {
    AS_VEC(struct as_edit_type) type;
};

struct as_edit_cut {
    bool is_on;
    bool is_percent;                   /* of the length; else times */
    int64_t from_ns, to_ns;            /* of the trace */
    double from_pct, to_pct;           /* 0 to 100 */
    bool keeps_times;                  /* else the part begins at 0 */
    bool keeps_whole_states;           /* those across a border are not broken */
    bool drops_first_states;           /* that begin before the part */
    bool drops_last_states;            /* that end behind it */
    bool keeps_border_events;          /* inside whole states across a border */
    AS_VEC(struct as_edit_range) task; /* from 1, of any application; empty: all */
};

struct as_edit_filter {
    bool is_on;
    bool drops_states, drops_events, drops_messages;
    AS_VEC(char *) state; /* numbers or labels; empty: all */
    int64_t min_state_ns;
    struct as_edit_types types; /* empty: all */
    bool discards_types;        /* else they are what is kept */
    int64_t min_size_b;         /* of messages */
};

struct as_edit_counters {
    bool is_on;
    bool is_by_bursts;                 /* else at intervals of time */
    int64_t interval_ns, min_burst_ns; /* 1 or more; 0 or more */
    bool has_types;                    /* else all events are counted */
    struct as_edit_types count, sum;
    bool is_each_value; /* a counter for each value of a type */
    bool removes_states;
    bool sums_bursts;          /* the running time is a counter, states are removed */
    bool is_in_bursts;         /* counts events inside bursts only */
    struct as_edit_types kept; /* events that stay */
};

/* Moves times of objects: numbers from 1, 0 for all. */
struct as_edit_shift {
    uint32_t application, task, thread;
    int64_t ns;
};

/* The n-th object of a level is moved by the n-th number; `level`: 1 applications, 2 tasks,
 * 3 threads. */
struct as_edit_shifts_of_level {
    unsigned level;
    AS_VEC(int64_t) ns;
};

struct as_edit_translation {
    int64_t type, value;
    bool has_value; /* else all values keep their number */
    int64_t new_type, new_value;
};

struct as_edit {
    struct as_edit_cut cut;
    struct as_edit_filter filter;
    struct as_edit_counters counters;
    AS_VEC(struct as_edit_shift) shift;
    struct as_edit_shifts_of_level shifts;
    AS_VEC(struct as_edit_translation) translation;
    char *like;               /* a .pcf that gives values their numbers; NULL: none */
    char *ignored;            /* a key of an option file that has no effect here; NULL: none */
    bool (*is_stopped)(void); /* asked now and then; NULL: never */
};

struct as_edit_counts {
    uint64_t read_n, written_n; /* records */
    struct as_prv_bad bad;      /* lines that were left out */
};

/* ---- edit_words.c, edit_file.c: what to do ---- */
/* Words of an option, KEY or KEY=VALUE. Errors: USAGE with the option's name, NOMEM, those of
 * reading a file that a word names. */
int as_edit_add_cut(struct as_edit *edit, const char *word, struct as_error *err);
int as_edit_add_filter(struct as_edit *edit, const char *word, struct as_error *err);
int as_edit_add_counters(struct as_edit *edit, const char *word, struct as_error *err);
int as_edit_add_shift(struct as_edit *edit, const char *word, struct as_error *err);
int as_edit_add_translation(struct as_edit *edit, const char *word, struct as_error *err);
/* Returns whether the words fit each other. Errors: USAGE. */
int as_edit_check(const struct as_edit *edit, struct as_error *err);
/* Adds the sections cutter, filter and software_counters of an option file. `name` is for
 * messages. Errors: CORRUPT with the line, NOMEM. */
int as_edit_parse_options(struct as_edit *edit, struct as_view text, const char *name,
                          struct as_error *err);
void as_edit_fini(struct as_edit *edit);

/* ---- edit_run.c: doing it ---- */
/* Writes the changed trace `path` to `out`. `date` is "YYYYMMDDhhmmss", for the line about a cut.
 * Errors: those of reading; USAGE (a part that the trace does not have, an unknown state); IO and
 * NOMEM. */
int as_edit_run(const struct as_edit *edit, const char *path, const char *date, struct as_out *out,
                struct as_edit_counts *counts, struct as_error *err);

/* ---- edit_labels.c: files beside it ---- */
/* Appends the labels (.pcf) of the changed trace to `out`: those beside `path`, and what the
 * changes add. Nothing is appended if there is no file. Errors: IO, NOMEM, NOT_FOUND (`like`). */
int as_edit_labels(const struct as_edit *edit, const char *path, struct as_str *out,
                   struct as_error *err);
/* "x.prv", "x.prv.gz" and "x" with ".pcf" give "x.pcf". */
void as_edit_name_beside(const char *path, const char *ending, struct as_str *out);

#endif
