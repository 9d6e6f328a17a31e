/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The experiment: a directory NAME.assay/ with experiment.db (SQLite: every fact of the runs) and
 * run-NNN/ (raw streams of each run). Knows nothing of what the facts mean; the schema is the text
 * in data/experiment/, every table and column is explained in doc/experiment.md.
 *
 * One writer at a time (held by a lock that dies with its process), any number of readers beside
 * it. A killed writer leaves what it committed. A connection belongs to one thread at a time and
 * must not be used by a child after fork.
 */
#ifndef ASSAY_EXPERIMENT_H
#define ASSAY_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/error.h>

#ifdef __cplusplus
extern "C" {
#endif

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
 * Opens for writing: takes the lock, brings an older schema up to date. Errors: NOT_FOUND,
 * UNSUPPORTED (a newer schema), CORRUPT (not an experiment, damaged), PERMISSION, LIMIT, IO.
 */
int assay_experiment_open(const char *path, struct assay_experiment **out, struct assay_error *err);

/*
 * Opens for reading only, also while another process writes: sees what was committed last. What a
 * killed writer left is put in order first, and an older schema brought up to date, both where the
 * directory can be written; an orderly one is read from read-only places too. Errors as above.
 */
int assay_experiment_read(const char *path, struct assay_experiment **out, struct assay_error *err);

/*
 * Closes; rolls an open batch back. `*experiment` becomes NULL; NULL inside is fine. After writing
 * the experiment is one plain file, unless a reader is still there. Errors: IO.
 */
int assay_experiment_close(struct assay_experiment **experiment, struct assay_error *err);

/* Closes an experiment that came to nothing, and removes what was made of it. */
void assay_experiment_discard(struct assay_experiment **experiment);

/* Schema this library writes; borrowed path of the directory as it was given. */
int assay_experiment_schema(void);
const char *assay_experiment_path(const struct assay_experiment *experiment);

/*
 * Path of run-NNN/ of a run into `path` (`size_b` bytes, zero-terminated), making the directory
 * when the experiment is open for writing. Errors: LIMIT (too long), IO, PERMISSION.
 */
int assay_experiment_run_directory(struct assay_experiment *experiment, int64_t run_id, char *path,
                                   size_t size_b, struct assay_error *err);

/* ---- Batches ----------------------------------------------------------------------------- */

/*
 * What is added between begin and commit is there whole or not at all, and much faster than one by
 * one. After a failure inside a batch (a full disk) every further call of the batch gives the same
 * error, and commit rolls it back; earlier batches stay. Batches do not nest.
 */
int assay_experiment_begin(struct assay_experiment *experiment, struct assay_error *err);
int assay_experiment_commit(struct assay_experiment *experiment, struct assay_error *err);
void assay_experiment_rollback(struct assay_experiment *experiment);

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
 * One struct a table; doc/experiment.md explains the columns of the same names. Texts are borrowed
 * during the call, NULL = unknown. `*_id` members are ids of other rows, 0 = none or unknown.
 * Times are nanoseconds: `start_ns` of a run since 1970 UTC, all others since the start of the run.
 */

struct assay_row_host {
    const char *name, *kernel, *os, *cpu_vendor, *cpu_model;
    struct assay_number cpu_family, cpu_model_number, cpu_stepping;
    const char *hypervisor; /* NULL on bare metal */
    struct assay_number socket_n, core_n, cpu_n, numa_n, memory_b, tsc_hz, base_hz, max_hz;
};

struct assay_row_host_fact {
    int64_t host_id;
    const char *name, *value; /* "governor", "performance" */
};

struct assay_row_run {
    const char *kind;               /* "profile", "import", ... */
    const char *label;              /* the user's word for it */
    const char *command;            /* as a shell would read it */
    const char *argv;               /* JSON array of strings */
    const char *environment_digest; /* of all variables; chosen ones are in run_environment */
    const char *cwd;
    const char *launcher; /* "plain", "openmpi", "mpich", "srun", "attach" */
    int64_t host_id;      /* where it was started */
    int64_t start_ns;
    struct assay_number wall_ns, exit_code, exit_signal;
    const char *state;        /* "recording", "complete" or "interrupted" */
    const char *event;        /* "cycles", "ref-cycles", "cpu-clock", "timer" */
    const char *event_reason; /* why not a better one */
    struct assay_number rate_hz;
    const char *call_stacks; /* "fp", "dwarf", "lbr", "off" */
    const char *scope;       /* "user" or "user+kernel" */
    struct assay_number overhead_ns;
};

struct assay_row_run_environment {
    int64_t run_id;
    const char *name, *value;
};

struct assay_row_run_file {
    int64_t run_id;
    const char *path; /* inside the experiment */
    const char *kind; /* "samples", "stdout", "kept-module", ... */
    struct assay_number size_b;
};

struct assay_row_overhead {
    int64_t run_id;
    const char *part; /* "start", "sampling", "unwinding", ... */
    struct assay_number cpu_ns, wall_ns;
    const char *origin; /* word of enum assay_origin */
};

struct assay_row_process {
    int64_t run_id;
    int64_t parent_id;
    int64_t pid;
    struct assay_number parent_pid;
    int64_t host_id;
    struct assay_number rank;
    const char *exe, *command;
    int64_t start_ns;
    struct assay_number end_ns, exit_code, exit_signal;
};

struct assay_row_thread {
    int64_t process_id;
    int64_t tid;
    const char *name;
    struct assay_number omp_thread;
    int64_t start_ns;
    struct assay_number end_ns, cpu_ns, blocked_ns;
    struct assay_number switch_voluntary_n, switch_involuntary_n;
    struct assay_number cpu_migration_n, numa_migration_n;
    int64_t lost_n;
};

/* Adding the same thread and cpu again adds the samples up. */
struct assay_row_thread_cpu {
    int64_t thread_id, cpu;
    struct assay_number numa_node;
    int64_t sample_n;
};

struct assay_row_category {
    const char *name;  /* snake_case: "mpi" */
    const char *title; /* "MPI" */
    int64_t parent_id;
    const char *meaning;
};

struct assay_row_module {
    const char *path, *name, *build_id;
    const char *kind; /* "executable", "shared", "vdso", "kernel", "jit", "anonymous" */
    struct assay_number size_b, has_debug;
    const char *kept_path; /* copy inside the experiment */
};

struct assay_row_mapping {
    int64_t process_id, module_id;
    int64_t start, end; /* addresses in the process */
    int64_t file_offset_b;
    struct assay_number from_ns, to_ns;
};

struct assay_row_source_file {
    const char *path, *language, *digest;
};

/* Adding a line again with its text completes it. */
struct assay_row_line {
    int64_t source_file_id, number;
    const char *text;
};

struct assay_row_unit {
    int64_t module_id;
    const char *name, *language, *compiler, *compiler_version, *flags;
};

/* Code that belongs to no known function: one row a module, named "[unknown]", no address. */
struct assay_row_function {
    int64_t module_id;
    const char *name; /* readable */
    const char *linkage_name;
    struct assay_number address, size_b;
    int64_t unit_id, line_id;
    const char *known_from; /* "symbol", "plt", "dwarf", "unwind", "entry", "jit" */
};

struct assay_row_loop {
    int64_t function_id, parent_id;
    int64_t source_loop_id; /* the main one of those made from one source loop */
    int64_t address, depth; /* depth 1 = outermost */
    bool is_innermost;
    const char *role; /* "main", "peel", "tail", "version" */
    int64_t first_line_id, last_line_id;
    struct assay_number block_n, instruction_n;
};

struct assay_row_block {
    int64_t function_id, loop_id;
    int64_t address, size_b;
    struct assay_number instruction_n;
};

struct assay_row_inlining {
    int64_t function_id, parent_id;
    const char *name;
    int64_t call_line_id;
};

struct assay_row_location {
    int64_t module_id, address;
    int64_t function_id, loop_id, block_id; /* the innermost loop */
    int64_t line_id, inlining_id;
};

struct assay_row_disassembly {
    int64_t module_id, address, function_id, size_b;
    const char *text;
    int64_t loop_id, block_id, line_id;
};

/* A frame: `function_id` called from `call_location_id` in the parent's function. */
struct assay_row_callpath {
    int64_t parent_id; /* 0 = outermost */
    int64_t function_id;
    int64_t call_location_id;
    int64_t category_id; /* of time spent in this frame itself */
    int64_t depth;       /* 1 = outermost */
};

enum assay_sample_state { ASSAY_SAMPLE_RUNNING = 0, ASSAY_SAMPLE_BLOCKED = 1 };

/* Adding the same key again adds the samples up. Without call stacks: a callpath of one frame. */
struct assay_row_sample {
    int64_t thread_id, callpath_id, location_id;
    int64_t state; /* enum assay_sample_state */
    int64_t n, time_ns;
};

/*
 * X(name): a table whose rows have ids. An id is given back; where the table has a natural key
 * (see doc/experiment.md) a row that is there already is completed with what the new one knows,
 * and its id given. `id` may be NULL. _set_ replaces a whole row.
 */
#define ASSAY_ROW_LIST(X)                                                                          \
    X(host)                                                                                        \
    X(run)                                                                                         \
    X(run_file)                                                                                    \
    X(overhead)                                                                                    \
    X(process)                                                                                     \
    X(thread)                                                                                      \
    X(category)                                                                                    \
    X(module)                                                                                      \
    X(mapping)                                                                                     \
    X(source_file)                                                                                 \
    X(line)                                                                                        \
    X(unit)                                                                                        \
    X(function)                                                                                    \
    X(loop)                                                                                        \
    X(block)                                                                                       \
    X(inlining)                                                                                    \
    X(location)                                                                                    \
    X(callpath)

/* X(name): a table without ids. */
#define ASSAY_PLAIN_ROW_LIST(X)                                                                    \
    X(host_fact)                                                                                   \
    X(run_environment)                                                                             \
    X(thread_cpu)                                                                                  \
    X(disassembly)                                                                                 \
    X(sample)

#define ASSAY_ROW_FUNCTIONS(name)                                                                  \
    int assay_experiment_add_##name(struct assay_experiment *experiment,                           \
                                    const struct assay_row_##name *row, int64_t *id,               \
                                    struct assay_error *err);                                      \
    int assay_experiment_set_##name(struct assay_experiment *experiment, int64_t id,               \
                                    const struct assay_row_##name *row, struct assay_error *err);
ASSAY_ROW_LIST(ASSAY_ROW_FUNCTIONS)
#undef ASSAY_ROW_FUNCTIONS

/*
 * As assay_experiment_add_callpath, for a path that cannot be there yet: its parent is new, or
 * there are none at all. It costs half: nothing is looked for. One that is there is an error
 * (INTERNAL).
 */
int assay_experiment_add_new_callpath(struct assay_experiment *experiment,
                                      const struct assay_row_callpath *row, int64_t *id,
                                      struct assay_error *err);

#define ASSAY_PLAIN_ROW_FUNCTIONS(name)                                                            \
    int assay_experiment_add_##name(struct assay_experiment *experiment,                           \
                                    const struct assay_row_##name *row, struct assay_error *err);
ASSAY_PLAIN_ROW_LIST(ASSAY_PLAIN_ROW_FUNCTIONS)
#undef ASSAY_PLAIN_ROW_FUNCTIONS

/* ---- Values ------------------------------------------------------------------------------ */

/* X(NAME, number, word) */
#define ASSAY_ORIGIN_LIST(X)                                                                       \
    X(MEASURED, 1, "measured")                                                                     \
    X(EXACT, 2, "exact")                                                                           \
    X(DERIVED, 3, "derived")                                                                       \
    X(MODELLED, 4, "modelled")                                                                     \
    X(SIMULATED, 5, "simulated")

enum assay_origin {
#define ASSAY_ORIGIN_ENUM(name, number, word) ASSAY_ORIGIN_##name = (number),
    ASSAY_ORIGIN_LIST(ASSAY_ORIGIN_ENUM)
#undef ASSAY_ORIGIN_ENUM
};

/* What a value, a finding or a flag is about. X(NAME, number, word) */
#define ASSAY_OBJECT_LIST(X)                                                                       \
    X(RUN, 1, "run")                                                                               \
    X(HOST, 2, "host")                                                                             \
    X(PROCESS, 3, "process")                                                                       \
    X(THREAD, 4, "thread")                                                                         \
    X(MODULE, 5, "module")                                                                         \
    X(FUNCTION, 6, "function")                                                                     \
    X(LOOP, 7, "loop")                                                                             \
    X(BLOCK, 8, "block")                                                                           \
    X(LOCATION, 9, "location")                                                                     \
    X(LINE, 10, "line")                                                                            \
    X(CALLPATH, 11, "callpath")                                                                    \
    X(CATEGORY, 12, "category")

enum assay_object_kind {
#define ASSAY_OBJECT_ENUM(name, number, word) ASSAY_OBJECT_##name = (number),
    ASSAY_OBJECT_LIST(ASSAY_OBJECT_ENUM)
#undef ASSAY_OBJECT_ENUM
};

/*
 * A number with where it comes from and how far to trust it. Made only by the functions below:
 * there is no way to leave origin or confidence out, and a zero-initialised one is refused.
 */
struct assay_quantity {
    double value;
    double low, high; /* 95 % interval; infinite where no bound is known */
    int64_t n;        /* samples, repetitions or events behind it */
    int origin;       /* enum assay_origin */
};

/* Observed `n` times or in `n` samples, true value within `low` and `high` with 95 %. */
struct assay_quantity assay_measured(double value, double low, double high, int64_t n);
/* Counted: no error. `n` = how many were counted or how often it was counted alike. */
struct assay_quantity assay_exact(double value, int64_t n);
/* Computed from others, with the bounds that follow from theirs. */
struct assay_quantity assay_derived(double value, double low, double high, int64_t n);
/* Said by a model, with its bounds (-INFINITY, INFINITY where it knows none). */
struct assay_quantity assay_modelled(double value, double low, double high);
/* Result of a simulation of `n` events. */
struct assay_quantity assay_simulated(double value, double low, double high, int64_t n);
/* The share `part` / `whole` of samples with its Wilson interval; `whole` > 0. */
struct assay_quantity assay_share(int64_t part, int64_t whole);

enum assay_better {
    ASSAY_BETTER_NEITHER = 0,
    ASSAY_BETTER_HIGHER = 1,
    ASSAY_BETTER_LOWER = 2,
};

/*
 * The first five members are mandatory. Defining a metric again redefines it and gives the same id.
 * `good` and `fair` rate values: at least as good as the first, as the second; equal = not rated.
 */
struct assay_metric {
    const char *name; /* snake_case with its unit */
    const char *unit; /* "s", "%", "x" a factor, "1" for none */
    const char *meaning;
    const char *formula; /* how it comes from others, or "counted", "measured" */
    enum assay_better better;
    const char *title; /* as a heading; NULL = the name */
    const char *topic; /* what it is shown among: "time", "code", "parallel", ...; or NULL */
    double good, fair;
    int position; /* among those of its topic */
};

int assay_experiment_metric(struct assay_experiment *experiment, const struct assay_metric *metric,
                            int64_t *id, struct assay_error *err);

/*
 * Sets the value of a metric for an object in a run (0 = in every run), replacing an earlier one.
 * INTERNAL when the quantity has no origin, is not a number or not within its bounds.
 */
int assay_experiment_value(struct assay_experiment *experiment, int64_t metric_id,
                           enum assay_object_kind kind, int64_t object_id, int64_t run_id,
                           struct assay_quantity quantity, struct assay_error *err);

enum assay_level {
    ASSAY_LEVEL_GAIN = 1,
    ASSAY_LEVEL_POTENTIAL = 2,
    ASSAY_LEVEL_HINT = 3,
    ASSAY_LEVEL_EXPERT = 4,
};

struct assay_finding {
    int64_t run_id; /* 0 = of every run */
    enum assay_object_kind kind;
    int64_t object_id;
    enum assay_level level;
    const char *topic, *text, *workaround; /* workaround may be NULL */
    const struct assay_quantity *gain;     /* factor of speed-up of the run, or NULL */
    int64_t time_ns;                       /* of the run that it is about; 0 = not said */
    const char *pass;                      /* who found it: assay_experiment_forget; or NULL */
};

/* What lessens trust: "lost_samples", "few_samples", "event_fallback", "no_symbols", ... */
struct assay_flag {
    int64_t run_id; /* 0 = of every run */
    enum assay_object_kind kind;
    int64_t object_id;
    const char *name, *text;
    int64_t n; /* how many times; at least 1 */
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
    int64_t to_80_n; /* objects that give 80 % of the gain; 0 = not known */
};

/* Adding a check or what-if of the same run and name again replaces it. INTERNAL when a score or a
 * gain is out of its bounds. */
int assay_experiment_check(struct assay_experiment *experiment, const struct assay_check *it,
                           struct assay_error *err);
int assay_experiment_what_if(struct assay_experiment *experiment, const struct assay_what_if *it,
                             struct assay_error *err);

/* A cell of a table: NULL, INTEGER, REAL or TEXT (borrowed). Zero-initialised is NULL. */
struct assay_cell {
    int kind; /* enum assay_cell_kind */
    int64_t integer;
    double real;
    const char *text;
};

/* A part of the page of an object: a text, a table, or both. */
struct assay_detail {
    int64_t run_id; /* 0 = of every run */
    enum assay_object_kind kind;
    int64_t object_id;
    const char *name, *title;
    int position;
    const char *text;          /* or NULL */
    const char *const *column; /* titles; `column_n` 0 = no table */
    size_t column_n;
    const struct assay_cell *cell; /* row by row */
    size_t row_n;
};

/* Adding a detail of the same object, name and run again replaces it. */
int assay_experiment_detail(struct assay_experiment *experiment, const struct assay_detail *it,
                            struct assay_error *err);

/* Takes the findings of `pass`, and all checks and what-ifs, of a run away before they are made
 * anew. */
int assay_experiment_forget(struct assay_experiment *experiment, int64_t run_id, const char *pass,
                            struct assay_error *err);

/* ---- Summaries --------------------------------------------------------------------------- */

/* Below so many samples an object is marked few_samples: its share is known to about +-36 %. */
#define ASSAY_FEW_SAMPLES 30

/*
 * Adds the samples of a run up by run, process, thread, module, function, loop, block, line, call
 * path and category: exclusive and inclusive (each once a sample, however deep the recursion),
 * blocked time, spread over threads, 95 % intervals of the shares. The views show these sums; call
 * it when all samples of a run are in, again after adding more. It is one batch of its own.
 */
int assay_experiment_summarise(struct assay_experiment *experiment, int64_t run_id,
                               struct assay_error *err);

/* ---- Reading ----------------------------------------------------------------------------- */

struct assay_rows;

enum assay_cell_kind {
    ASSAY_CELL_NULL,
    ASSAY_CELL_INTEGER,
    ASSAY_CELL_REAL,
    ASSAY_CELL_TEXT,
    ASSAY_CELL_BLOB
};

/*
 * Prepares one statement that reads ("SELECT ..."). USAGE for SQL that is wrong, with the place,
 * that changes something, or that is more than one statement. Parameters (?1, ?2, ...) are bound
 * before the first row, NULL otherwise. Close it before its experiment.
 */
int assay_rows_open(struct assay_experiment *experiment, const char *sql, struct assay_rows **out,
                    struct assay_error *err);
void assay_rows_close(struct assay_rows **rows);
void assay_rows_bind_integer(struct assay_rows *rows, int parameter, int64_t value);
void assay_rows_bind_text(struct assay_rows *rows, int parameter, const char *text); /* copied */

/* 1 with a row, 0 after the last, or a negative code. Rows stream: none is held in memory. */
int assay_rows_next(struct assay_rows *rows, struct assay_error *err);

/* Columns, from 0; the name is borrowed until closing. */
int assay_rows_column_n(const struct assay_rows *rows);
const char *assay_rows_column(const struct assay_rows *rows, int column);

/* Cells of the current row. Texts and blobs are borrowed until the next row; a number reads as 0
 * and a text as NULL where the cell is NULL. */
enum assay_cell_kind assay_rows_kind(struct assay_rows *rows, int column);
int64_t assay_rows_integer(struct assay_rows *rows, int column);
double assay_rows_real(struct assay_rows *rows, int column);
const char *assay_rows_text(struct assay_rows *rows, int column);
const void *assay_rows_blob(struct assay_rows *rows, int column, size_t *size_b);

#ifdef __cplusplus
}
#endif
#endif
