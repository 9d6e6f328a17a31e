/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code that an experiment speaks of: each module is opened and analysed once for all passes,
 * and its functions, loops, blocks, edges, paths, lines and addresses become rows of the experiment
 * when somebody asks for them, sampled or not. Knows neither samples nor metrics.
 *
 * Opening, closing and finding may be done by any number of threads. Rows belong to the thread that
 * the experiment belongs to at the time.
 */
#ifndef ASSAY_CATALOGUE_H
#define ASSAY_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/code.h>
#include <assay/error.h>
#include <assay/experiment.h>
#include <assay/object.h>
#include <assay/sample.h>

#ifdef __cplusplus
extern "C" {
#endif

struct assay_catalogue;

struct assay_catalogue_options {
    unsigned jobs;                           /* of one analysis; 0 = as many as processors */
    const struct assay_object_options *open; /* how binaries are opened, or NULL; borrowed */
    /* Bytes of tables that may be kept of modules that nobody has open; 0 = a quarter of the
     * machine's memory, 2 GiB at most. Beyond it the module with the smallest share goes first. */
    uint64_t memory_b;
};

/* `experiment` is borrowed until assay_catalogue_free; `options` may be NULL. Errors: NOMEM. */
int assay_catalogue_new(struct assay_experiment *experiment,
                        const struct assay_catalogue_options *options, struct assay_catalogue **out,
                        struct assay_error *err);
/* No module may be open. Nulls the pointer; NULL inside is fine. */
void assay_catalogue_free(struct assay_catalogue **catalogue);

/* What was done since it was made. */
struct assay_catalogue_counts {
    uint64_t opened, analysed; /* files; programs */
    uint64_t dropped;          /* modules given up for want of room */
    uint64_t kept_b;           /* of the tables that are there now, an estimate */
};
struct assay_catalogue_counts assay_catalogue_counts(struct assay_catalogue *catalogue);

/* ---- Modules ----------------------------------------------------------------------------- */

enum assay_catalogue_depth {
    ASSAY_CATALOGUE_LISTED,  /* functions, lines and inlined calls, or more where it is there */
    ASSAY_CATALOGUE_ANALYSED /* blocks, edges and loops too */
};

/* A function of a file of Python. */
struct assay_catalogue_python {
    uint64_t address; /* ASSAY_PYTHON_FUNCTION */
    const char *name;
};

struct assay_catalogue_request {
    /* What ran: path, kind, identity of the file, and the kept copy if there is one. Borrowed. */
    struct assay_stream_module file;
    const char *directory; /* of the run: kept copies, names of generated code; or NULL */
    uint32_t pid;          /* of ANON: whose code it is */
    const struct assay_catalogue_python *python; /* of PYTHON; borrowed until it is opened */
    size_t python_n;
    double share; /* how hot it is: the larger, the longer it is kept */
    enum assay_catalogue_depth depth;
    uint64_t small_b; /* LISTED: a file with less code than this is analysed all the same */
};

/* An open module. All of it is read-only; which of the tables are there depends on its depth. */
struct assay_catalogue_module {
    const char *path;
    uint8_t kind;                          /* assay_module_kind */
    struct assay_object *object;           /* NULL: no file, or it could not be opened */
    struct assay_program *program;         /* NULL: not analysed */
    const struct assay_function *function; /* of the object */
    size_t function_n;
    struct assay_debug debug;
    uint32_t named; /* names of code without a file: of the kernel, of a just-in-time compiler */
    struct assay_error trouble; /* why there is no object or no program; code 0: nothing wrong */
};

/*
 * Opens a module by assay_sample_module_open: the copy that was kept, else the file; another file
 * than the one that ran is none. Who asks for one that is there, or being read by
 * another thread, gets the same. That a file cannot be had is no error: see `trouble`. Every open
 * one is closed. Errors: NOMEM.
 */
int assay_catalogue_open(struct assay_catalogue *catalogue,
                         const struct assay_catalogue_request *request,
                         struct assay_catalogue_module **out, struct assay_error *err);
/* The same by the row of the module, which is what passes after the first know. Errors: NOMEM,
 * NOT_FOUND (no such row), those of the experiment. */
int assay_catalogue_open_row(struct assay_catalogue *catalogue, int64_t module_id, double share,
                             enum assay_catalogue_depth depth, struct assay_catalogue_module **out,
                             struct assay_error *err);
/* One that the caller has opened and analysed, and keeps until it is closed. Errors: NOMEM. */
int assay_catalogue_adopt(struct assay_catalogue *catalogue, struct assay_object *object,
                          struct assay_program *program, struct assay_catalogue_module **out,
                          struct assay_error *err);
/* Nulls the pointer; NULL inside is fine. What was borrowed from it may be gone then. */
void assay_catalogue_close(struct assay_catalogue *catalogue,
                           struct assay_catalogue_module **module);

/* ---- Finding ----------------------------------------------------------------------------- */

/* What a place belongs to; ASSAY_NONE where nothing is known. */
struct assay_catalogue_place {
    uint32_t function;   /* for the functions below: a body, a function of the object, or a name */
    uint32_t loop;       /* of the program: the innermost */
    uint32_t block;      /* of the program */
    uint32_t file, line; /* of `debug`; line 0 = none */
    uint32_t inlined;    /* innermost inlined call, of debug.inlines */
};

struct assay_catalogue_function {
    const char *linkage_name; /* borrowed */
    uint64_t start, size_b;
    uint32_t unit;       /* of `debug`, or ASSAY_NONE */
    uint32_t file, line; /* of its declaration */
    const char *known_from;
};

/* Link-time address of an address of a stream; false when the file has no such place. */
bool assay_catalogue_address(const struct assay_catalogue_module *module, uint64_t recorded,
                             uint64_t *address);
void assay_catalogue_find(const struct assay_catalogue_module *module, uint64_t address,
                          struct assay_catalogue_place *out);
/* The loop whose header stands at `address`, at a depth (0: the innermost); ASSAY_NONE when there
 * is none. */
uint32_t assay_catalogue_find_loop(const struct assay_catalogue_module *module, uint64_t address,
                                   uint32_t depth);

/* How many functions there are, and the facts of one. */
uint32_t assay_catalogue_function_n(const struct assay_catalogue_module *module);
void assay_catalogue_function_get(const struct assay_catalogue_module *module, uint32_t function,
                                  struct assay_catalogue_function *out);

/* ---- Rows -------------------------------------------------------------------------------- */

/*
 * Each gives the id of a row, made at the first question with all that it refers to; the same id
 * to all who ask, also in a later process. 0 where there is nothing: ASSAY_NONE, a module that is
 * not analysed. After a batch that was rolled back rows are made anew: ids from it are void.
 * Errors: NOMEM, those of the experiment.
 */
int assay_catalogue_row(struct assay_catalogue_module *module, int64_t *id,
                        struct assay_error *err);
/* Of code that belongs to no known function: ASSAY_NONE, one row a module. */
int assay_catalogue_row_function(struct assay_catalogue_module *module, uint32_t function,
                                 int64_t *id, struct assay_error *err);
int assay_catalogue_row_loop(struct assay_catalogue_module *module, uint32_t loop, int64_t *id,
                             struct assay_error *err);
int assay_catalogue_row_block(struct assay_catalogue_module *module, uint32_t block, int64_t *id,
                              struct assay_error *err);
/* Of successor number `nth` of a block. */
int assay_catalogue_row_edge(struct assay_catalogue_module *module, uint32_t block, uint32_t nth,
                             int64_t *id, struct assay_error *err);
/* Of path number `nth` of a loop's paths; the merged view is one too. */
int assay_catalogue_row_path(struct assay_catalogue_module *module, uint32_t loop,
                             const struct assay_paths *paths, size_t nth, int64_t *id,
                             struct assay_error *err);
int assay_catalogue_row_line(struct assay_catalogue_module *module, uint32_t file, uint32_t line,
                             int64_t *id, struct assay_error *err);
/* Of an inlined call (assay_catalogue_place.inlined) in a function's code, with those around it and
 * the functions that are inlined. */
int assay_catalogue_row_inlining(struct assay_catalogue_module *module, uint32_t inlined,
                                 int64_t function_id, int64_t *id, struct assay_error *err);
/* What the row of a location is, not yet added; what it refers to is. `place` is what
 * assay_catalogue_find says of `address`. */
int assay_catalogue_location(struct assay_catalogue_module *module, uint64_t address,
                             const struct assay_catalogue_place *place,
                             struct assay_row_location *row, struct assay_error *err);

/* Rows of all loops of a function, each with the one whose source loop it shares. */
int assay_catalogue_rows_loops(struct assay_catalogue_module *module, uint32_t function,
                               struct assay_error *err);
/* Rows of many blocks at once, in a quarter of the time if the experiment had none before; each
 * once, ids in this order. */
int assay_catalogue_rows_blocks(struct assay_catalogue_module *module, const uint32_t *block,
                                size_t n, struct assay_error *err);
/* Source and assembly of a function, so that a report needs neither file. `room`: instructions
 * that may still be kept, lessened. */
int assay_catalogue_rows_excerpt(struct assay_catalogue_module *module, uint32_t function,
                                 size_t *room, struct assay_error *err);
/* Source of a line, and of some around it; of `debug`. */
int assay_catalogue_rows_source(struct assay_catalogue_module *module, uint32_t file, uint32_t line,
                                struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
