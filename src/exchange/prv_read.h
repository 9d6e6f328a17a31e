/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads Paraver traces line by line: foreign text of any length, plain or gzip. Format: Barcelona
 * Supercomputing Center, "Paraver: traceview and file format". It does not interpret the
 * numbers.
 */
#ifndef AS_EXCHANGE_PRV_READ_H
#define AS_EXCHANGE_PRV_READ_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/* Applications, tasks, threads and nodes are indices from 0. */
struct as_prv_task {
    uint32_t application, first_thread, threads_n, node;
};

struct as_prv_group {
    int64_t number;          /* unique in its application */
    uint32_t application;    /* index from 0 */
    AS_VEC(uint64_t) member; /* indices of tasks over all applications */
};

struct as_prv_header {
    int64_t end_ns;
    int64_t start_ns; /* start of the run since 1970; 0: the header has no valid date */
    int64_t unit_ns;  /* time unit of the file in ns */
    uint32_t nodes_n, threads_n;
    AS_VEC(uint32_t) cpus_n;      /* by node */
    AS_VEC(uint32_t) application; /* index of the first task of each */
    AS_VEC(struct as_prv_task) task;
    AS_VEC(struct as_prv_group) group; /* communicators within one application */
};

enum as_prv_line {
    AS_PRV_LINE_STATE = 1,
    AS_PRV_LINE_EVENTS,
    AS_PRV_LINE_MESSAGE,
    AS_PRV_LINE_OTHER /* a comment or communicator in the body; only `text` is set */
};

/* A line of the body; times are in ns. */
struct as_prv_line_read {
    enum as_prv_line kind;
    uint32_t thread;    /* index over all; message: of the sender */
    int64_t ns, end_ns; /* end of a state; -1: none */
    int64_t state;
    uint32_t receiver;          /* index of the thread */
    uint32_t cpu, receiver_cpu; /* CPU numbers over all nodes, from 1; 0: unknown */
    int64_t physical_send_ns, logical_receive_ns, physical_receive_ns;
    int64_t size_b, tag;
    AS_VEC(int64_t) value; /* events: type, value, type ... */
    struct as_view text;   /* text of AS_PRV_LINE_OTHER, valid until the next line is read */
};

struct as_prv_file;
struct as_stream_digest;

/* Opens a trace and reads its header and communicators. Errors: IO, NOT_FOUND, CORRUPT (with the
 * line and the reason), LIMIT, NOMEM. */
int as_prv_file_open(const char *path, struct as_prv_file **out, struct as_error *err);
/* The same; adds all text that is read to `digest`, borrowed; NULL: none. */
int as_prv_file_open_digested(const char *path, struct as_stream_digest *digest,
                              struct as_prv_file **out, struct as_error *err);
void as_prv_file_close(struct as_prv_file **file);
const struct as_prv_header *as_prv_file_header(const struct as_prv_file *file);

/* Makes as_prv_file_next return lines of AS_PRV_LINE_OTHER too. */
void as_prv_file_keep_others(struct as_prv_file *file);

/* Reads the next valid line, which lives until the next call. Returns 1, or 0 at the end. Errors:
 * IO, LIMIT (a line of more than 64 MiB), NOMEM. */
int as_prv_file_next(struct as_prv_file *file, const struct as_prv_line_read **out,
                     struct as_error *err);

struct as_prv_bad {
    uint64_t lines_n;    /* invalid lines that were left out */
    uint64_t first_line; /* number of the first one */
    const char *why;
    uint64_t cut_line; /* number of the last line if the file ends inside it; 0: none */
};
struct as_prv_bad as_prv_file_bad(const struct as_prv_file *file);
/* Appends "3 lines are left out; the first is line 7: ...". Appends nothing if no line is
 * invalid. */
void as_prv_bad_append(const struct as_prv_bad *bad, struct as_str *out);

/* ---- prv_read_labels.c: files beside the trace ---------------------------------------------- */

struct as_prv_pcf_type {
    int64_t number;
    char *label;
    unsigned precision; /* values are multiplied by ten to this power */
};
struct as_prv_pcf_value {
    int64_t type, value;
    char *label;
};

/* A line of the .row file: the name of object `at` (from 0) of a level. */
struct as_prv_row_label {
    char level[16]; /* "THREAD", "CPU" ... */
    uint32_t at;
    char *label;
};

struct as_prv_pcf {
    AS_VEC(struct as_prv_pcf_type) type;
    AS_VEC(struct as_prv_pcf_value) value;
    AS_VEC(struct as_prv_pcf_value) state; /* type 0 */
    AS_VEC(char *) node;                   /* names of nodes in the .row file */
    AS_VEC(struct as_prv_row_label) row;   /* all names of the .row file */
};

/* Reads the files beside `path` (NAME.pcf, NAME.row). Both may be missing, which gives empty lists.
 * Invalid lines are skipped. Errors: NOMEM. */
int as_prv_pcf_read(const char *path, struct as_prv_pcf *out, struct as_error *err);
void as_prv_pcf_fini(struct as_prv_pcf *pcf);
/* Return NULL if there is none. */
const struct as_prv_pcf_type *as_prv_pcf_type_of(const struct as_prv_pcf *pcf, int64_t type);
const char *as_prv_pcf_label(const struct as_prv_pcf *pcf, int64_t type, int64_t value);
const char *as_prv_pcf_state(const struct as_prv_pcf *pcf, int64_t state);

#endif
