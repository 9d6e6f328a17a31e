/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The experiment: a directory NAME.assay/ with experiment.db (SQLite: every fact of the runs) and
 * run-NNN/ (raw streams of each run). Knows nothing of what the facts mean; the schema is the text
 * in data/experiment/, every table and column is explained in doc/reference/experiment.md.
 *
 * One writer at a time (held by a lock that dies with its process), any number of readers beside
 * it. A killed writer leaves what it committed. A connection belongs to one thread at a time and
 * must not be used by a child after fork.
 */
#ifndef AS_EXPERIMENT_EXPERIMENT_H
#define AS_EXPERIMENT_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "experiment/facts.h"

struct as_experiment;

/* ---- Opening ----------------------------------------------------------------------------- */

enum as_experiment_flag {
    AS_EXPERIMENT_FORCE = 1 << 0 /* create: replace an experiment that is there */
};

/*
 * Makes the directory `path` and an empty experiment in it, open for writing. An existing one is
 * refused (USAGE) unless forced; then what assay makes is removed (experiment.db, run-NNN/) and
 * other files stay. A directory that holds something else is never touched. Errors: USAGE,
 * NOT_FOUND (no parent directory), PERMISSION, IO, LIMIT (another process is writing it).
 */
int as_experiment_create(const char *path, unsigned flags, struct as_experiment **out,
                         struct as_error *err);

/*
 * As above, with a name of our choice: STEM TAIL, or STEM-2 TAIL and so on if it exists. Creating
 * the directory is atomic, so concurrent callers get different names.
 */
int as_experiment_create_free(const char *stem, const char *tail, struct as_experiment **out,
                              struct as_error *err);

/* Returns 0, or USAGE if as_experiment_create would refuse `path` now. */
int as_experiment_check_new(const char *path, unsigned flags, struct as_error *err);

/*
 * Renames a closed experiment: a complete one replaces `to`, under the rules of
 * as_experiment_create. Errors: USAGE, PERMISSION, LIMIT, IO.
 */
int as_experiment_move(const char *path, const char *to, unsigned flags, struct as_error *err);

/* Sets the mode of new directories of experiments: 0700, or if shared that of the umask. Holds
 * for the whole process; call it before threads start. */
void as_experiment_share(bool share);

/* Every write fails (LIMIT) once `stopped` says so, after a signal for example; NULL = never. */
void as_experiment_stop_when(struct as_experiment *experiment, bool (*stopped)(void));

/*
 * Opens for writing: takes the lock. Errors: NOT_FOUND, UNSUPPORTED (another schema), CORRUPT (not
 * an experiment, damaged), PERMISSION, LIMIT, IO.
 */
int as_experiment_open(const char *path, struct as_experiment **out, struct as_error *err);

/*
 * Opens for reading only, even while another process writes: sees the last commit. The rest of a
 * killed writer is recovered first if the directory is writable. Errors as above.
 */
int as_experiment_read(const char *path, struct as_experiment **out, struct as_error *err);

/*
 * Closes; rolls an open batch back. `*experiment` becomes NULL; NULL inside is fine. After writing
 * the experiment is one plain file, unless a reader is still there. Errors: IO.
 */
int as_experiment_close(struct as_experiment **experiment, struct as_error *err);

/*
 * An empty experiment in memory: no directory, no lock, no run's files; gone when it is closed.
 * Errors: NOMEM, IO.
 */
int as_experiment_transient(struct as_experiment **out, struct as_error *err);

/* Closes an experiment that came to nothing, and removes what was made of it. */
void as_experiment_discard(struct as_experiment **experiment);

/* Schema this library writes; borrowed path of the directory as it was given. */
int as_experiment_schema(void);
const char *as_experiment_path(const struct as_experiment *experiment);

/*
 * Writes the path of run-NNN/ of a run to `path` (`size_b` bytes, zero-terminated). Creates the
 * directory if the experiment is open for writing. Errors: LIMIT (too long), IO, PERMISSION.
 */
int as_experiment_run_directory(struct as_experiment *experiment, int64_t run_id, char *path,
                                size_t size_b, struct as_error *err);

/*
 * Removes a run that came to nothing, what was said of it and its directory; the others stay. Not
 * within a batch. Errors: IO, PERMISSION, USAGE (open for reading only).
 */
int as_experiment_remove_run(struct as_experiment *experiment, int64_t run_id,
                             struct as_error *err);

/* ---- Batches ----------------------------------------------------------------------------- */

/*
 * Rows added between begin and commit are stored completely or not at all, and much faster than one
 * by one. After a failure inside a batch, such as a full disk, every further call returns the same
 * error, and commit rolls back. Earlier batches stay. Batches do not nest.
 */
int as_experiment_begin(struct as_experiment *experiment, struct as_error *err);
int as_experiment_commit(struct as_experiment *experiment, struct as_error *err);
void as_experiment_rollback(struct as_experiment *experiment);
/* `work` in a batch: committed when it succeeds, rolled back when it fails. */
int as_experiment_batch(struct as_experiment *experiment,
                        int (*work)(void *context, struct as_error *err), void *context,
                        struct as_error *err);

/* How often a batch came to nothing, by rollback or by a commit that failed: ids from it are void,
 * which whoever remembers ids must know. */
int64_t as_experiment_rollbacks(const struct as_experiment *experiment);

/* ---- Rows -------------------------------------------------------------------------------- */

/* A number that may be unknown, so that zero and unknown differ: zero-initialised is unknown. */
struct as_number {
    int64_t value;
    bool known;
};

static inline struct as_number as_known(int64_t value)
{
    struct as_number number = {value, true};
    return number;
}

/*
 * One struct a table, made from data/experiment/tables.txt, where every column is explained
 * (doc/reference/experiment-tables.md). Texts are borrowed during the call, NULL = unknown. `*_id`
 * members are ids of other rows, 0 = none or unknown. Times are nanoseconds: `start_ns` of a run
 * since 1970 UTC, all others since the start of the run.
 */
#include "experiment/experiment_rows.h"

enum as_sample_state { AS_SAMPLE_RUNNING = 0, AS_SAMPLE_BLOCKED = 1 };

/*
 * Adds a row and returns its id if the table has ids; `id` may be NULL. If the table has a natural
 * key, an existing row is completed, its sums are added up, or it is replaced, as the table
 * description says. _set_ replaces a whole row.
 */
#define AS_ROW_FUNCTIONS(name)                                                                     \
    int as_experiment_add_##name(struct as_experiment *experiment,                                 \
                                 const struct as_row_##name *row, int64_t *id,                     \
                                 struct as_error *err);                                            \
    int as_experiment_set_##name(struct as_experiment *experiment, int64_t id,                     \
                                 const struct as_row_##name *row, struct as_error *err);
AS_ROW_LIST(AS_ROW_FUNCTIONS)
#undef AS_ROW_FUNCTIONS

/*
 * The key index of blocks, locations and call paths is larger than the rows. It is created on the
 * first addition that may be a duplicate, and dropped with the batch. So add such rows in batches.
 * Rows that cannot exist yet are written at once, in a quarter of the time and without a search.
 * They get the ids from `first_id` on, which must be free. A duplicate is an INTERNAL error of the
 * next creation of the index.
 */
int as_experiment_add_new_blocks(struct as_experiment *experiment, const struct as_row_block *row,
                                 size_t n, int64_t first_id, struct as_error *err);
int as_experiment_add_new_locations(struct as_experiment *experiment,
                                    const struct as_row_location *row, size_t n, int64_t first_id,
                                    struct as_error *err);
int as_experiment_add_new_callpaths(struct as_experiment *experiment,
                                    const struct as_row_callpath *row, size_t n, int64_t first_id,
                                    struct as_error *err);
/* Instructions all at once; one that is there is replaced. */
int as_experiment_add_disassemblies(struct as_experiment *experiment,
                                    const struct as_row_disassembly *row, size_t n,
                                    struct as_error *err);
/* Samples all at once; best in the order of thread, call path, location, state. */
int as_experiment_add_samples(struct as_experiment *experiment, const struct as_row_sample *row,
                              size_t n, struct as_error *err);

#define AS_PLAIN_ROW_FUNCTIONS(name)                                                               \
    int as_experiment_add_##name(struct as_experiment *experiment,                                 \
                                 const struct as_row_##name *row, struct as_error *err);
AS_PLAIN_ROW_LIST(AS_PLAIN_ROW_FUNCTIONS)
#undef AS_PLAIN_ROW_FUNCTIONS

/* ---- Values ------------------------------------------------------------------------------ */

int as_experiment_metric(struct as_experiment *experiment, const struct as_metric *metric,
                         int64_t *id, struct as_error *err);

/*
 * Sets the value of a metric, replacing an earlier one of the same subject. INTERNAL when the
 * quantity has no origin, is not a number or not within its bounds.
 */
int as_experiment_value(struct as_experiment *experiment, int64_t metric_id,
                        const struct as_subject *subject, struct as_bounded_value quantity,
                        struct as_error *err);

/*
 * Keeps values of secrets in what is recorded from now on, in the whole process; without it they
 * are replaced (doc/reference/security.md). Before threads start.
 */
void as_secrets_keep(bool keep);
/* Returns true if a value was replaced in `text` (may be NULL). */
bool as_secrets_are_in(const char *text);

struct as_rows;

/*
 * Opens the values of a metric for objects of a kind, of run `run_id` and of every run, in one
 * context. Rows: object, value, low, high, n, origin; ordered by object, those of every run first.
 * Errors: as as_rows_open.
 */
int as_experiment_values(struct as_experiment *experiment, int64_t metric_id,
                         const struct as_subject *of, struct as_rows **out, struct as_error *err);

/* How often values fell into bins: `edge` has `bin_n` + 1 ascending bounds, the lower in its bin.
 */
struct as_value_histogram {
    const double *edge;
    const int64_t *count;
    size_t bin_n;
    enum as_origin origin;
};

/* Replaces an earlier one. INTERNAL when edges do not ascend or a count is negative. */
int as_experiment_histogram(struct as_experiment *experiment, int64_t metric_id,
                            const struct as_subject *subject, const struct as_value_histogram *it,
                            struct as_error *err);

/* ---- Values of many objects -------------------------------------------------------------- */

/*
 * Values of an analysis for all loops, functions and so on: a table set_NAME with a column per
 * metric and a row per object, run and context, and a view v_set_NAME. Values are integers in units
 * of 10^-digits: 3 to 5 bytes each, or 9 to 15 with bounds. The rounding error is half a unit;
 * bounds are rounded outwards.
 */
struct as_metric_set;

/*
 * Opens a set to add rows to, making it where it is not there. `name` and the names of the metrics
 * are snake_case. A set of that name with other metrics is replaced, with its rows. Close it before
 * the experiment. Errors: INTERNAL (a bad name, digits), LIMIT (more than 600 metrics).
 */
int as_metric_set_open(struct as_experiment *experiment, const char *name, enum as_object_kind kind,
                       const char *pass, const struct as_set_metric *metric, size_t metric_n,
                       struct as_metric_set **out, struct as_error *err);

/*
 * Adds the values of an object and replaces earlier ones. `value` has one entry per metric; zero-
 * initialised ones are unknown. `n` is the number of samples of the row. INTERNAL for a quantity of
 * another origin, outside its bounds, with unexpected bounds, or too large.
 */
int as_metric_set_add(struct as_metric_set *set, const struct as_subject *subject, int64_t n,
                      const struct as_bounded_value *value, struct as_error *err);
void as_metric_set_close(struct as_metric_set **set);

/* ---- Arrays ------------------------------------------------------------------------------ */

/* X(NAME, word, bytes) */
#define AS_ARRAY_LIST(X)                                                                           \
    X(F64, "f64", 8)                                                                               \
    X(I64, "i64", 8)                                                                               \
    X(U32, "u32", 4)                                                                               \
    X(U8, "u8", 1)

enum as_array_type {
#define AS_ARRAY_ENUM(name, word, size_b) AS_ARRAY_##name,
    AS_ARRAY_LIST(AS_ARRAY_ENUM)
#undef AS_ARRAY_ENUM
};

struct as_array {
    const char *name; /* what it holds, snake_case */
    enum as_array_type type;
    size_t n; /* elements */
    const void *data;
};

/*
 * Stores an array that is too large for SQL in the file run-NNN/arrays of the subject's run, and
 * its name in the database. An array of the same name and subject is replaced. Errors: INTERNAL (no
 * run), IO, PERMISSION, those of rows.
 */
int as_experiment_array(struct as_experiment *experiment, const struct as_subject *subject,
                        const struct as_array *it, struct as_error *err);

/*
 * Reads one: `out->data` is on the heap, to be freed with as_array_fini. NOT_FOUND when there is
 * none, CORRUPT when its file is too short.
 */
int as_experiment_read_array(struct as_experiment *experiment, const struct as_subject *subject,
                             const char *name, struct as_array *out, struct as_error *err);
void as_array_fini(struct as_array *array);

/* ---- Conclusions ------------------------------------------------------------------------- */

enum as_level {
    AS_FINDING_GAIN = 1,
    AS_FINDING_POTENTIAL = 2,
    AS_FINDING_HINT = 3,
    AS_FINDING_EXPERT = 4,
};

/* Something else that is so of the object of a finding. */
struct as_finding_other {
    const char *text, *workaround;
};

struct as_finding {
    struct as_subject of;
    enum as_level level;
    const char *topic, *text, *workaround; /* workaround may be NULL */
    const struct as_bounded_value *gain;   /* factor of speed-up of the run, or NULL */
    int64_t time_ns;                       /* of the run that it is about; 0 = not said */
    const char *pass;                      /* pass that found it: as_experiment_forget; or
                                            * NULL */
    const char *rule;                      /* of its rules; or NULL */
    const char *command; /* to type next, with "{experiment}" for the path of the experiment, which
                            is a word for a shell then; or NULL */
    const struct as_finding_other *other; /* what the reader gets when asking for more */
    size_t other_n;
};

/* Caveats: "lost_samples", "few_samples", "event_fallback", "no_symbols", ... */
struct as_flag {
    int64_t run_id; /* 0 = of every run */
    enum as_object_kind kind;
    int64_t object_id;
    const char *name, *text;
    int64_t n; /* how many times; at least 1 */
    const char
        *pass; /* pass that replaces it each time: as_experiment_forget; NULL = the recording */
};

int as_experiment_finding(struct as_experiment *experiment, const struct as_finding *it,
                          struct as_error *err);
int as_experiment_flag(struct as_experiment *experiment, const struct as_flag *it,
                       struct as_error *err);

/* A scored check of a run. `score` is 0 to 1, or negative where it cannot be known. */
struct as_check {
    int64_t run_id;
    const char *name, *title;
    const char *text;   /* what was found */
    const char *advice; /* what to do about it, or NULL */
    double weight, score;
    int position;
    const char *pass; /* pass that wrote it; or NULL */
};

struct as_what_if_object {
    int64_t id;
    double gain_s;  /* of the run's time, alone */
    double speedup; /* of the run, with all objects before it */
};

/* The run, had something of it been better. */
struct as_what_if {
    int64_t run_id;
    const char *name, *title, *meaning;
    int position;
    enum as_object_kind kind; /* of its objects; RUN = it has none */
    double time_s;            /* of the run */
    struct as_bounded_value gain_s;
    const struct as_what_if_object *object; /* most seconds first */
    size_t object_n;
    int64_t to_80_n;  /* objects that give 80 % of the gain; 0 = not known */
    const char *pass; /* pass that wrote it; or NULL */
};

/* Adding a check or what-if of the same run and name again replaces it. INTERNAL when a score or a
 * gain is out of its bounds. */
int as_experiment_check(struct as_experiment *experiment, const struct as_check *it,
                        struct as_error *err);
int as_experiment_what_if(struct as_experiment *experiment, const struct as_what_if *it,
                          struct as_error *err);

/* A part of the page of an object: a text, a table, or both. */
struct as_detail {
    struct as_subject of;
    const char *name, *title;
    int position;
    const char *text;          /* or NULL */
    const char *const *column; /* titles; `column_n` 0 = no table */
    size_t column_n;
    const struct as_sql_cell *cell; /* row by row */
    size_t row_n;
    const char *pass; /* pass that wrote it; or NULL */
};

/* Adding a detail of the same object, name and run again replaces it. */
int as_experiment_detail(struct as_experiment *experiment, const struct as_detail *it,
                         struct as_error *err);

/*
 * Removes the results of `pass` for a run (0: for every run): findings, flags, checks, what-ifs,
 * parts of pages, values of its metrics, facts of a trace. Results of other passes stay.
 */
int as_experiment_forget(struct as_experiment *experiment, int64_t run_id, const char *pass,
                         struct as_error *err);

/* The same of one object of the run alone; what it said of the run, and what-ifs, stays. */
int as_experiment_forget_object(struct as_experiment *experiment, const struct as_subject *of,
                                const char *pass, struct as_error *err);

/*
 * A pass says what it has found of a run, in a batch of its own: what it said before is forgotten,
 * and what `say` adds bears its name where it names no pass. When `say` fails nothing has changed.
 */
int as_experiment_write_pass(struct as_experiment *experiment, int64_t run_id, const char *pass,
                             int (*say)(void *context, struct as_error *err), void *context,
                             struct as_error *err);

/* The result of a pass for one object. */
struct as_pass_object {
    struct as_experiment *experiment;
    const char *pass;
    struct as_subject of;
    struct as_metric_set *set; /* or NULL */
    void *context;             /* the pass's */
};

/* A pass that says the same sort of things of all objects of a kind: its name is also that of its
 * set of metrics and its tables, and the topic of its findings. */
struct as_pass_objects {
    const char *pass;
    enum as_object_kind kind;
    const struct as_set_metric *metric; /* NULL: no set */
    size_t metric_n;
    int (*write)(struct as_pass_object *it, struct as_error *err);
};

/* All of it as as_experiment_write_pass does. */
int as_experiment_write_each(struct as_experiment *experiment, int64_t run_id,
                             const struct as_pass_objects *each, void *context,
                             struct as_error *err);
/* `value`: as of as_metric_set_add. `where`: what else they depend on, or NULL. */
int as_pass_write_values(const struct as_pass_object *it, const struct as_row_context *where,
                         const struct as_bounded_value *value, struct as_error *err);
int as_pass_write_table(const struct as_pass_object *it, const char *title,
                        const char *const *column, size_t column_n, const struct as_sql_cell *cell,
                        size_t row_n, struct as_error *err);
int as_pass_write_finding(const struct as_pass_object *it, enum as_level level, const char *text,
                          struct as_error *err);

/* ---- Summaries --------------------------------------------------------------------------- */

/* Below so many samples an object is marked few_samples: its share is known to about +-36 %. */
#define AS_FEW_SAMPLES 30

/*
 * In place of a summary, for a run of kind `code`: all loops, and the functions that hold them,
 * become its objects, without samples or times. Within a batch.
 */
int as_experiment_list_code(struct as_experiment *experiment, int64_t run_id, struct as_error *err);

/*
 * Adds the samples of a run up by run, process, thread, module, function, loop, block, line, call
 * path and category: exclusive and inclusive (each once a sample, however deep the recursion),
 * blocked time, spread over threads, 95 % intervals of the shares. The views show these sums; call
 * it when all samples of a run are in, again after adding more. It is one batch of its own.
 */
int as_experiment_summarise(struct as_experiment *experiment, int64_t run_id, struct as_error *err);

/* ---- Reading ----------------------------------------------------------------------------- */

/* Limits for SQL of users. */
struct as_sql_limits {
    int64_t deadline_ns;             /* of the monotonic clock; 0: none */
    uint64_t memory_b;               /* of SQLite's heap, `also_b` included; 0: none */
    const uint64_t *also_b;          /* bytes held elsewhere that count; may be NULL */
    const volatile int *interrupted; /* a sig_atomic_t; not 0: a statement stops; may be NULL */
};

/*
 * Sets limits for all later statements of the connection; the struct is copied. Sorts and
 * temporary tables stay in memory from then on, so that no statement fills a disk. A statement
 * beyond a limit fails with LIMIT (time, Ctrl-C) or NOMEM (memory).
 */
int as_experiment_limit_sql(struct as_experiment *experiment, const struct as_sql_limits *limits,
                            struct as_error *err);
/* Bytes that SQLite allocated since there is a limit, in the whole process. */
uint64_t as_sql_memory(void);

/*
 * Prepares one statement that reads ("SELECT ..."). It may use the functions, pragmas and tables of
 * doc/manual/query.md. USAGE for SQL that is wrong, with the place, that changes something, or that
 * is more than one statement. Parameters (?1, ?2, ...) are bound before the first row, NULL
 * otherwise. Close it before its experiment.
 */
int as_rows_open(struct as_experiment *experiment, const char *sql, struct as_rows **out,
                 struct as_error *err);
void as_rows_close(struct as_rows **rows);
void as_rows_bind_integer(struct as_rows *rows, int parameter, int64_t value);
void as_rows_bind_text(struct as_rows *rows, int parameter, const char *text); /* copied */

/* 1 with a row, 0 after the last, or a negative code. Rows stream: none is held in memory. */
int as_rows_next(struct as_rows *rows, struct as_error *err);

/* Hands each row to `take` until that fails; ?1 is `number`. 0, or the first error. */
int as_rows_each(struct as_experiment *experiment, const char *sql, int64_t number,
                 int (*take)(void *context, struct as_rows *row, struct as_error *err),
                 void *context, struct as_error *err);

/*
 * From now on texts of rows have no names of users and hosts and no directories: `user`, `host1`,
 * `dir1/` and so on stand for them, the same for the same. Directories of the system stay. Errors:
 * those of reading, NOMEM.
 */
int as_experiment_redact(struct as_experiment *experiment, struct as_error *err);
bool as_experiment_is_redacted(const struct as_experiment *experiment);
/* Its directory as it was given, or, redacted, a word for it: what is shown of it. */
const char *as_experiment_shown_path(const struct as_experiment *experiment);

/* Columns, from 0; the name is borrowed until closing. */
int as_rows_column_n(const struct as_rows *rows);
const char *as_rows_column(const struct as_rows *rows, int column);

/* Cells of the current row. Texts and blobs are borrowed until the next row; a number reads as 0
 * and a text as NULL where the cell is NULL. */
enum as_sql_cell_kind as_rows_kind(struct as_rows *rows, int column);
int64_t as_rows_integer(struct as_rows *rows, int column);
double as_rows_real(struct as_rows *rows, int column);
const char *as_rows_text(struct as_rows *rows, int column);
/* As above, even for an experiment with redacted texts: to open a file by its path. */
const char *as_rows_stored_text(struct as_rows *rows, int column);
const void *as_rows_blob(struct as_rows *rows, int column, size_t *size_b);

#endif
