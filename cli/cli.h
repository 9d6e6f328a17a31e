/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common parts of verbs: destinations of results, errors and notes, and opening a binary with the
 * user's options. The table declares the verbs.
 */
#ifndef AS_CLI_CLI_H
#define AS_CLI_CLI_H

#include <stdbool.h>

#include "base/csv.h"
#include "base/out.h"
#include "base/outfile.h"
#include "base/table.h"
#include "formats.h"
#include "object/object.h"
#include "options.h"

/* An input that could not be used: said on stderr at once, listed in JSON at the end. */
struct as_refusal {
    const char *path; /* borrowed from argv */
    char *text;
};

struct as_cli {
    struct as_arguments args;
    struct as_out out;      /* results */
    int fd;                 /* under `out` */
    bool is_open;           /* `out` is initialised */
    bool is_void;           /* the verb failed: the file of --output stays as it was */
    struct as_outfile file; /* of --output; zeroed for standard output */
    bool color;
    enum as_format format;
    unsigned jobs;
    int status; /* worst exit status so far */
    AS_VEC(struct as_refusal) refused;
};

/* Results: where they go and how they look. Errors: IO (the file cannot be created). */
int as_cli_init(struct as_cli *cli, struct as_error *err);
/* Flushes, says when the result could not be written, frees; returns the exit status. */
int as_cli_fini(struct as_cli *cli);

/* Returns true if a name given by the user is standard output: "-", /dev/stdout, or its file. */
bool as_cli_is_stdout(const char *path);

/* A writer of CSV to where results go, as --csv-safe says. */
void as_cli_csv(struct as_cli *cli, struct as_csv *csv);

/* Columns to wrap sentences at: COLUMNS, the terminal's, or 80. */
unsigned as_cli_width(const struct as_cli *cli);
/* Columns a table may take: the same, but no limit (0) in a file or pipe without COLUMNS. */
unsigned as_cli_table_width(const struct as_cli *cli);
/* Begins a style (PLAIN ends it), where there is colour; `text` in one. */
void as_cli_style(struct as_cli *cli, enum as_style style);
void as_cli_styled(struct as_cli *cli, enum as_style style, const char *text);
void as_cli_print(struct as_cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* `before` (ASCII), and behind it what is formatted, in lines that fit, each below the first. */
void as_cli_wrapped(struct as_cli *cli, const char *before, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* "   12.5 %  because": a share of 1, and what is said of it. */
void as_cli_share(struct as_cli *cli, double share, const char *text);
/* A line of a card: a title of up to 11 characters, and its value in lines that fit. */
void as_cli_fact(struct as_cli *cli, const char *title, const char *value);

/* "assay: sentence" on stderr; remembers the exit status of the code. */
void as_cli_complain(struct as_cli *cli, const struct as_error *err);
/* As as_cli_complain for the input `path`, which JSON output lists under "errors". */
void as_cli_refuse(struct as_cli *cli, const char *path, const struct as_error *err);
/* "assay: sentence" on stderr unless --quiet. */
void as_cli_note(const struct as_cli *cli, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Opens `path` with --source-map and --debug-dir. NULL after having refused it. */
struct as_object *as_cli_open(struct as_cli *cli, const char *path);
/* The same for callers with error texts of their own. Errors: those of as_object_open; USAGE. */
int as_cli_open_object(struct as_cli *cli, const char *path, struct as_object **out,
                       struct as_error *err);

/* One function per verb, each in a file of its own. Returns 0 or an error code with a sentence
 * in `err`. */
#define VERB(id, name, ...) int as_verb_##name(struct as_cli *cli, struct as_error *err);
#include "options.def"

#endif
