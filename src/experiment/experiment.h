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

struct assay_experiment;

/* ---- Opening ----------------------------------------------------------------------------- */

enum assay_experiment_flag {
    ASSAY_EXPERIMENT_FORCE = 1 << 0 /* create: replace an experiment that is there */
};

/*
 * Makes the directory `path` and an empty experiment in it, open for writing. An existing one is
 * refused (USAGE) unless forced; then what assay makes is removed (experiment.db, run-NNN/) and
 * other files stay. A directory that holds something else is never touched. Errors: USAGE,
 * NOT_FOUND (no parent directory), PERMISSION, IO, LIMIT (another process is writing it).
 */
int assay_experiment_create(const char *path, unsigned flags, struct assay_experiment **out,
                            struct assay_error *err);

/*
 * As above, with a name of our choice: STEM TAIL, or STEM-2 TAIL and so on if it exists. Creating
 * the directory is atomic, so concurrent callers get different names.
 */
int assay_experiment_create_free(const char *stem, const char *tail, struct assay_experiment **out,
                                 struct assay_error *err);

/* Returns 0, or USAGE if assay_experiment_create would refuse `path` now. */
int assay_experiment_check_new(const char *path, unsigned flags, struct assay_error *err);

/*
 * Renames a closed experiment: a complete one replaces `to`, under the rules of
 * assay_experiment_create. Errors: USAGE, PERMISSION, LIMIT, IO.
 */
int assay_experiment_move(const char *path, const char *to, unsigned flags,
                          struct assay_error *err);

/* Sets the mode of new directories of experiments: 0700, or if shared that of the umask. Holds
 * for the whole process; call it before threads start. */
void assay_experiment_share(bool share);

/* Every write fails (LIMIT) once `stopped` says so, after a signal for example; NULL = never. */
void assay_experiment_stop_when(struct assay_experiment *experiment, bool (*stopped)(void));

/*
 * Opens for writing: takes the lock. Errors: NOT_FOUND, UNSUPPORTED (another schema), CORRUPT (not
 * an experiment, damaged), PERMISSION, LIMIT, IO.
 */
int assay_experiment_open(const char *path, struct assay_experiment **out, struct assay_error *err);

/*
 * Opens for reading only, even while another process writes: sees the last commit. The rest of a
 * killed writer is recovered first if the directory is writable. Errors as above.
 */
int assay_experiment_read(const char *path, struct assay_experiment **out, struct assay_error *err);

/*
 * Closes; rolls an open batch back. `*experiment` becomes NULL; NULL inside is fine. After writing
 * the experiment is one plain file, unless a reader is still there. Errors: IO.
 */
int assay_experiment_close(struct assay_experiment **experiment, struct assay_error *err);

/*
 * An empty experiment in memory: no directory, no lock, no run's files; gone when it is closed.
 * Errors: NOMEM, IO.
 */
int assay_experiment_transient(struct assay_experiment **out, struct assay_error *err);

/* Closes an experiment that came to nothing, and removes what was made of it. */
void assay_experiment_discard(struct assay_experiment **experiment);

/* Schema this library writes; borrowed path of the directory as it was given. */
int assay_experiment_schema(void);
const char *assay_experiment_path(const struct assay_experiment *experiment);

/*
 * Writes the path of run-NNN/ of a run to `path` (`size_b` bytes, zero-terminated). Creates the
 * directory if the experiment is open for writing. Errors: LIMIT (too long), IO, PERMISSION.
 */
int assay_experiment_run_directory(struct assay_experiment *experiment, int64_t run_id, char *path,
                                   size_t size_b, struct assay_error *err);

/*
 * Removes a run that came to nothing, what was said of it and its directory; the others stay. Not
 * within a batch. Errors: IO, PERMISSION, USAGE (open for reading only).
 */
int assay_experiment_remove_run(struct assay_experiment *experiment, int64_t run_id,
                                struct assay_error *err);

/* ---- Batches ----------------------------------------------------------------------------- */

/*
 * Rows added between begin and commit are stored completely or not at all, and much faster than one
 * by one. After a failure inside a batch, such as a full disk, every further call returns the same
 * error, and commit rolls back. Earlier batches stay. Batches do not nest.
 */
int assay_experiment_begin(struct assay_experiment *experiment, struct assay_error *err);
int assay_experiment_commit(struct assay_experiment *experiment, struct assay_error *err);
void assay_experiment_rollback(struct assay_experiment *experiment);
/* `work` in a batch: committed when it succeeds, rolled back when it fails. */
int assay_experiment_batch(struct assay_experiment *experiment,
                           int (*work)(void *context, struct assay_error *err), void *context,
                           struct assay_error *err);

/* How often a batch came to nothing, by rollback or by a commit that failed: ids from it are void,
 * which whoever remembers ids must know. */
int64_t assay_experiment_rollbacks(const struct assay_experiment *experiment);

/* ---- Rows -------------------------------------------------------------------------------- */

/* A number that may be unknown, so that zero and unknown differ: zero-initialised is unknown. */
struct assay_number {
    int64_t value;
    bool known;
};

static inline struct assay_number assay_known(int64_t value)
{
    struct assay_number number = {value, true};
    return number;
}

/*
 * One struct a table, made from data/experiment/tables.txt, where every column is explained
 * (doc/reference/experiment-tables.md). Texts are borrowed during the call, NULL = unknown. `*_id`
 * members are ids of other rows, 0 = none or unknown. Times are nanoseconds: `start_ns` of a run
 * since 1970 UTC, all others since the start of the run.
 */
#include "experiment/experiment_rows.h"

enum assay_sample_state { ASSAY_SAMPLE_RUNNING = 0, ASSAY_SAMPLE_BLOCKED = 1 };

/*
 * Adds a row and returns its id if the table has ids; `id` may be NULL. If the table has a natural
 * key, an existing row is completed, its sums are added up, or it is replaced, as the table
 * description says. _set_ replaces a whole row.
 */
#define ASSAY_ROW_FUNCTIONS(name)                                                                  \
    int assay_experiment_add_##name(struct assay_experiment *experiment,                           \
                                    const struct assay_row_##name *row, int64_t *id,               \
                                    struct assay_error *err);                                      \
    int assay_experiment_set_##name(struct assay_experiment *experiment, int64_t id,               \
                                    const struct assay_row_##name *row, struct assay_error *err);
ASSAY_ROW_LIST(ASSAY_ROW_FUNCTIONS)
#undef ASSAY_ROW_FUNCTIONS

/*
 * The key index of blocks, locations and call paths is larger than the rows. It is created on the
 * first addition that may be a duplicate, and dropped with the batch. So add such rows in batches.
 * Rows that cannot exist yet are written at once, in a quarter of the time and without a search.
 * They get the ids from `first_id` on, which must be free. A duplicate is an INTERNAL error of the
 * next creation of the index.
 */
int assay_experiment_add_new_blocks(struct assay_experiment *experiment,
                                    const struct assay_row_block *row, size_t n, int64_t first_id,
                                    struct assay_error *err);
int assay_experiment_add_new_locations(struct assay_experiment *experiment,
                                       const struct assay_row_location *row, size_t n,
                                       int64_t first_id, struct assay_error *err);
int assay_experiment_add_new_callpaths(struct assay_experiment *experiment,
                                       const struct assay_row_callpath *row, size_t n,
                                       int64_t first_id, struct assay_error *err);
/* Instructions all at once; one that is there is replaced. */
int assay_experiment_add_disassemblies(struct assay_experiment *experiment,
                                       const struct assay_row_disassembly *row, size_t n,
                                       struct assay_error *err);
/* Samples all at once; best in the order of thread, call path, location, state. */
int assay_experiment_add_samples(struct assay_experiment *experiment,
                                 const struct assay_row_sample *row, size_t n,
                                 struct assay_error *err);

#define ASSAY_PLAIN_ROW_FUNCTIONS(name)                                                            \
    int assay_experiment_add_##name(struct assay_experiment *experiment,                           \
                                    const struct assay_row_##name *row, struct assay_error *err);
ASSAY_PLAIN_ROW_LIST(ASSAY_PLAIN_ROW_FUNCTIONS)
#undef ASSAY_PLAIN_ROW_FUNCTIONS

/* ---- Values ------------------------------------------------------------------------------ */

int assay_experiment_metric(struct assay_experiment *experiment, const struct assay_metric *metric,
                            int64_t *id, struct assay_error *err);

/*
 * Sets the value of a metric, replacing an earlier one of the same subject. INTERNAL when the
 * quantity has no origin, is not a number or not within its bounds.
 */
int assay_experiment_value(struct assay_experiment *experiment, int64_t metric_id,
                           const struct assay_subject *subject, struct assay_quantity quantity,
                           struct assay_error *err);

/*
 * Keeps values of secrets in what is recorded from now on, in the whole process; without it they
 * are replaced (doc/reference/security.md). Before threads start.
 */
void assay_secrets_keep(bool keep);
/* Returns true if a value was replaced in `text` (may be NULL). */
bool assay_secrets_are_in(const char *text);

struct assay_rows;

/*
 * Opens the values of a metric for objects of a kind, of run `run_id` and of every run, in one
 * context. Rows: object, value, low, high, n, origin; ordered by object, those of every run first.
 * Errors: as assay_rows_open.
 */
int assay_experiment_values(struct assay_experiment *experiment, int64_t metric_id,
                            const struct assay_subject *of, struct assay_rows **out,
                            struct assay_error *err);

/* How often values fell into bins: `edge` has `bin_n` + 1 ascending bounds, the lower in its bin.
 */
struct assay_histogram {
    const double *edge;
    const int64_t *count;
    size_t bin_n;
    enum assay_origin origin;
};

/* Replaces an earlier one. INTERNAL when edges do not ascend or a count is negative. */
int assay_experiment_histogram(struct assay_experiment *experiment, int64_t metric_id,
                               const struct assay_subject *subject,
                               const struct assay_histogram *it, struct assay_error *err);

/* ---- Values of many objects -------------------------------------------------------------- */

/*
 * Values of an analysis for all loops, functions and so on: a table set_NAME with a column per
 * metric and a row per object, run and context, and a view v_set_NAME. Values are integers in units
 * of 10^-digits: 3 to 5 bytes each, or 9 to 15 with bounds. The rounding error is half a unit;
 * bounds are rounded outwards.
 */
struct assay_metric_set;

/*
 * Opens a set to add rows to, making it where it is not there. `name` and the names of the metrics
 * are snake_case. A set of that name with other metrics is replaced, with its rows. Close it before
 * the experiment. Errors: INTERNAL (a bad name, digits), LIMIT (more than 600 metrics).
 */
int assay_metric_set_open(struct assay_experiment *experiment, const char *name,
                          enum assay_object_kind kind, const char *pass,
                          const struct assay_set_metric *metric, size_t metric_n,
                          struct assay_metric_set **out, struct assay_error *err);

/*
 * Adds the values of an object and replaces earlier ones. `value` has one entry per metric; zero-
 * initialised ones are unknown. `n` is the number of samples of the row. INTERNAL for a quantity of
 * another origin, outside its bounds, with unexpected bounds, or too large.
 */
int assay_metric_set_add(struct assay_metric_set *set, const struct assay_subject *subject,
                         int64_t n, const struct assay_quantity *value, struct assay_error *err);
void assay_metric_set_close(struct assay_metric_set **set);

/* ---- Arrays ------------------------------------------------------------------------------ */

/* X(NAME, word, bytes) */
#define ASSAY_ARRAY_LIST(X)                                                                        \
    X(F64, "f64", 8)                                                                               \
    X(I64, "i64", 8)                                                                               \
    X(U32, "u32", 4)                                                                               \
    X(U8, "u8", 1)

enum assay_array_type {
#define ASSAY_ARRAY_ENUM(name, word, size_b) ASSAY_ARRAY_##name,
    ASSAY_ARRAY_LIST(ASSAY_ARRAY_ENUM)
#undef ASSAY_ARRAY_ENUM
};

struct assay_array {
    const char *name; /* what it holds, snake_case */
    enum assay_array_type type;
    size_t n; /* elements */
    const void *data;
};

/*
 * Stores an array that is too large for SQL in the file run-NNN/arrays of the subject's run, and
 * its name in the database. An array of the same name and subject is replaced. Errors: INTERNAL (no
 * run), IO, PERMISSION, those of rows.
 */
int assay_experiment_array(struct assay_experiment *experiment, const struct assay_subject *subject,
                           const struct assay_array *it, struct assay_error *err);

/*
 * Reads one: `out->data` is on the heap, to be freed with assay_array_fini. NOT_FOUND when there is
 * none, CORRUPT when its file is too short.
 */
int assay_experiment_read_array(struct assay_experiment *experiment,
                                const struct assay_subject *subject, const char *name,
                                struct assay_array *out, struct assay_error *err);
void assay_array_fini(struct assay_array *array);

/* ---- Conclusions ------------------------------------------------------------------------- */

enum assay_level {
    ASSAY_FINDING_GAIN = 1,
    ASSAY_FINDING_POTENTIAL = 2,
    ASSAY_FINDING_HINT = 3,
    ASSAY_FINDING_EXPERT = 4,
};

/* Something else that is so of the object of a finding. */
struct assay_finding_other {
    const char *text, *workaround;
};

struct assay_finding {
    struct assay_subject of;
    enum assay_level level;
    const char *topic, *text, *workaround; /* workaround may be NULL */
    const struct assay_quantity *gain;     /* factor of speed-up of the run, or NULL */
    int64_t time_ns;                       /* of the run that it is about; 0 = not said */
    const char *pass;                      /* pass that found it: assay_experiment_forget; or
                                            * NULL */
    const char *rule;                      /* of its rules; or NULL */
    const char *command; /* to type next, with "{experiment}" for the path of the experiment, which
                            is a word for a shell then; or NULL */
    const struct assay_finding_other *other; /* what the reader gets when asking for more */
    size_t other_n;
};

/* Caveats: "lost_samples", "few_samples", "event_fallback", "no_symbols", ... */
struct assay_flag {
    int64_t run_id; /* 0 = of every run */
    enum assay_object_kind kind;
    int64_t object_id;
    const char *name, *text;
    int64_t n; /* how many times; at least 1 */
    const char
        *pass; /* pass that replaces it each time: assay_experiment_forget; NULL = the recording */
};

int assay_experiment_finding(struct assay_experiment *experiment, const struct assay_finding *it,
                             struct assay_error *err);
int assay_experiment_flag(struct assay_experiment *experiment, const struct assay_flag *it,
                          struct assay_error *err);

/* A scored check of a run. `score` is 0 to 1, or negative where it cannot be known. */
struct assay_check {
    int64_t run_id;
    const char *name, *title;
    const char *text;   /* what was found */
    const char *advice; /* what to do about it, or NULL */
    double weight, score;
    int position;
    const char *pass; /* pass that wrote it; or NULL */
};

struct assay_what_if_object {
    int64_t id;
    double gain_s;  /* of the run's time, alone */
    double speedup; /* of the run, with all objects before it */
};

/* The run, had something of it been better. */
struct assay_what_if {
    int64_t run_id;
    const char *name, *title, *meaning;
    int position;
    enum assay_object_kind kind; /* of its objects; RUN = it has none */
    double time_s;               /* of the run */
    struct assay_quantity gain_s;
    const struct assay_what_if_object *object; /* most seconds first */
    size_t object_n;
    int64_t to_80_n;  /* objects that give 80 % of the gain; 0 = not known */
    const char *pass; /* pass that wrote it; or NULL */
};

/* Adding a check or what-if of the same run and name again replaces it. INTERNAL when a score or a
 * gain is out of its bounds. */
int assay_experiment_check(struct assay_experiment *experiment, const struct assay_check *it,
                           struct assay_error *err);
int assay_experiment_what_if(struct assay_experiment *experiment, const struct assay_what_if *it,
                             struct assay_error *err);

/* A part of the page of an object: a text, a table, or both. */
struct assay_detail {
    struct assay_subject of;
    const char *name, *title;
    int position;
    const char *text;          /* or NULL */
    const char *const *column; /* titles; `column_n` 0 = no table */
    size_t column_n;
    const struct assay_cell *cell; /* row by row */
    size_t row_n;
    const char *pass; /* pass that wrote it; or NULL */
};

/* Adding a detail of the same object, name and run again replaces it. */
int assay_experiment_detail(struct assay_experiment *experiment, const struct assay_detail *it,
                            struct assay_error *err);

/*
 * Removes the results of `pass` for a run (0: for every run): findings, flags, checks, what-ifs,
 * parts of pages, values of its metrics, facts of a trace. Results of other passes stay.
 */
int assay_experiment_forget(struct assay_experiment *experiment, int64_t run_id, const char *pass,
                            struct assay_error *err);

/* The same of one object of the run alone; what it said of the run, and what-ifs, stays. */
int assay_experiment_forget_object(struct assay_experiment *experiment,
                                   const struct assay_subject *of, const char *pass,
                                   struct assay_error *err);

/*
 * A pass says what it has found of a run, in a batch of its own: what it said before is forgotten,
 * and what `say` adds bears its name where it names no pass. When `say` fails nothing has changed.
 */
int assay_experiment_write_pass(struct assay_experiment *experiment, int64_t run_id,
                                const char *pass,
                                int (*say)(void *context, struct assay_error *err), void *context,
                                struct assay_error *err);

/* The result of a pass for one object. */
struct assay_pass_object {
    struct assay_experiment *experiment;
    const char *pass;
    struct assay_subject of;
    struct assay_metric_set *set; /* or NULL */
    void *context;                /* the pass's */
};

/* A pass that says the same sort of things of all objects of a kind: its name is also that of its
 * set of metrics and its tables, and the topic of its findings. */
struct assay_pass_objects {
    const char *pass;
    enum assay_object_kind kind;
    const struct assay_set_metric *metric; /* NULL: no set */
    size_t metric_n;
    int (*write)(struct assay_pass_object *it, struct assay_error *err);
};

/* All of it as assay_experiment_write_pass does. */
int assay_experiment_write_each(struct assay_experiment *experiment, int64_t run_id,
                                const struct assay_pass_objects *each, void *context,
                                struct assay_error *err);
/* `value`: as of assay_metric_set_add. `where`: what else they depend on, or NULL. */
int assay_pass_write_values(const struct assay_pass_object *it,
                            const struct assay_row_context *where,
                            const struct assay_quantity *value, struct assay_error *err);
int assay_pass_write_table(const struct assay_pass_object *it, const char *title,
                           const char *const *column, size_t column_n,
                           const struct assay_cell *cell, size_t row_n, struct assay_error *err);
int assay_pass_write_finding(const struct assay_pass_object *it, enum assay_level level,
                             const char *text, struct assay_error *err);

/* ---- Summaries --------------------------------------------------------------------------- */

/* Below so many samples an object is marked few_samples: its share is known to about +-36 %. */
#define ASSAY_FEW_SAMPLES 30

/*
 * In place of a summary, for a run of kind `code`: all loops, and the functions that hold them,
 * become its objects, without samples or times. Within a batch.
 */
int assay_experiment_list_code(struct assay_experiment *experiment, int64_t run_id,
                               struct assay_error *err);

/*
 * Adds the samples of a run up by run, process, thread, module, function, loop, block, line, call
 * path and category: exclusive and inclusive (each once a sample, however deep the recursion),
 * blocked time, spread over threads, 95 % intervals of the shares. The views show these sums; call
 * it when all samples of a run are in, again after adding more. It is one batch of its own.
 */
int assay_experiment_summarise(struct assay_experiment *experiment, int64_t run_id,
                               struct assay_error *err);

/* ---- Reading ----------------------------------------------------------------------------- */

/* Limits for SQL of users. */
struct assay_sql_limits {
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
int assay_experiment_limit_sql(struct assay_experiment *experiment,
                               const struct assay_sql_limits *limits, struct assay_error *err);
/* Bytes that SQLite allocated since there is a limit, in the whole process. */
uint64_t assay_sql_memory(void);

/*
 * Prepares one statement that reads ("SELECT ..."). It may use the functions, pragmas and tables of
 * doc/manual/query.md. USAGE for SQL that is wrong, with the place, that changes something, or that
 * is more than one statement. Parameters (?1, ?2, ...) are bound before the first row, NULL
 * otherwise. Close it before its experiment.
 */
int assay_rows_open(struct assay_experiment *experiment, const char *sql, struct assay_rows **out,
                    struct assay_error *err);
void assay_rows_close(struct assay_rows **rows);
void assay_rows_bind_integer(struct assay_rows *rows, int parameter, int64_t value);
void assay_rows_bind_text(struct assay_rows *rows, int parameter, const char *text); /* copied */

/* 1 with a row, 0 after the last, or a negative code. Rows stream: none is held in memory. */
int assay_rows_next(struct assay_rows *rows, struct assay_error *err);

/* Hands each row to `take` until that fails; ?1 is `number`. 0, or the first error. */
int assay_rows_each(struct assay_experiment *experiment, const char *sql, int64_t number,
                    int (*take)(void *context, struct assay_rows *row, struct assay_error *err),
                    void *context, struct assay_error *err);

/*
 * From now on texts of rows have no names of users and hosts and no directories: `user`, `host1`,
 * `dir1/` and so on stand for them, the same for the same. Directories of the system stay. Errors:
 * those of reading, NOMEM.
 */
int assay_experiment_redact(struct assay_experiment *experiment, struct assay_error *err);
bool assay_experiment_is_redacted(const struct assay_experiment *experiment);
/* Its directory as it was given, or, redacted, a word for it: what is shown of it. */
const char *assay_experiment_shown_path(const struct assay_experiment *experiment);

/* Columns, from 0; the name is borrowed until closing. */
int assay_rows_column_n(const struct assay_rows *rows);
const char *assay_rows_column(const struct assay_rows *rows, int column);

/* Cells of the current row. Texts and blobs are borrowed until the next row; a number reads as 0
 * and a text as NULL where the cell is NULL. */
enum assay_cell_kind assay_rows_kind(struct assay_rows *rows, int column);
int64_t assay_rows_integer(struct assay_rows *rows, int column);
double assay_rows_real(struct assay_rows *rows, int column);
const char *assay_rows_text(struct assay_rows *rows, int column);
/* As above, even for an experiment with redacted texts: to open a file by its path. */
const char *assay_rows_stored_text(struct assay_rows *rows, int column);
const void *assay_rows_blob(struct assay_rows *rows, int column, size_t *size_b);

#endif
