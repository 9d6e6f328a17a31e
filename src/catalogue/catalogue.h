/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The analysed code of an experiment. Each module is opened and analysed once for all passes.
 * Functions, loops, blocks, edges, paths, lines and addresses become rows of the experiment on
 * request, sampled or not. Knows neither samples nor metrics.
 *
 * Any number of threads may open, close and search. Rows belong to the thread that owns the
 * experiment at the time.
 */
#ifndef AS_CATALOGUE_CATALOGUE_H
#define AS_CATALOGUE_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "code/code.h"
#include "experiment/experiment.h"
#include "object/object.h"
#include "sample/sample.h"

struct as_catalogue;

struct as_catalogue_options {
    unsigned jobs;                        /* threads of one analysis; 0 = one per CPU */
    const struct as_object_options *open; /* how binaries are opened, or NULL; borrowed */
    /* Bytes of tables of closed modules that may stay in memory; 0 = a quarter of the machine's
     * memory, at most 2 GiB. The module with the smallest share is dropped first. */
    uint64_t memory_b;
};

/* `experiment` is borrowed until as_catalogue_free; `options` may be NULL. Errors: NOMEM. */
int as_catalogue_new(struct as_experiment *experiment, const struct as_catalogue_options *options,
                     struct as_catalogue **out, struct as_error *err);
/* No module may be open. Nulls the pointer; NULL inside is fine. */
void as_catalogue_free(struct as_catalogue **catalogue);

/* Counts of the work done since creation. */
struct as_catalogue_counts {
    uint64_t opened, analysed; /* files; programs */
    uint64_t dropped;          /* modules given up for want of room */
    uint64_t kept_b;           /* of the tables that are there now, an estimate */
};
struct as_catalogue_counts as_catalogue_counts(struct as_catalogue *catalogue);

/* ---- Modules ----------------------------------------------------------------------------- */

enum as_catalogue_depth {
    AS_CATALOGUE_LISTED,  /* functions, lines and inlined calls, or more where it is there */
    AS_CATALOGUE_ANALYSED /* blocks, edges and loops too */
};

/* A function of a file of Python. */
struct as_catalogue_python {
    uint64_t address; /* AS_PYTHON_FUNCTION */
    const char *name;
};

struct as_catalogue_request {
    /* The file that ran: path, kind, identity, and the stored copy if there is one. Borrowed. */
    struct as_stream_module file;
    const char *directory; /* of the run: kept copies, names of generated code; or NULL */
    uint32_t pid;          /* of ANON: process with the code */
    const struct as_catalogue_python *python; /* of PYTHON; borrowed until it is opened */
    size_t python_n;
    double share; /* how hot it is: the larger, the longer it is kept */
    enum as_catalogue_depth depth;
    uint64_t small_b; /* LISTED: a file with less code than this is analysed all the same */
};

/* An open module. All of it is read-only; which of the tables are there depends on its depth. */
struct as_catalogue_module {
    const char *path;
    uint8_t kind;                       /* as_module_kind */
    struct as_object *object;           /* NULL: no file, or it could not be opened */
    struct as_program *program;         /* NULL: not analysed */
    const struct as_function *function; /* of the object */
    size_t function_n;
    struct as_debug debug;
    uint32_t named; /* names of code without a file: of the kernel, of a just-in-time compiler */
    struct as_error trouble; /* why there is no object or no program; code 0: nothing wrong */
};

/*
 * Opens a module by as_sample_module_open: the stored copy, else the file, if it is the one that
 * ran. A module that is open or being read by another thread is shared. A missing file is not an
 * error: see `trouble`. Close every opened module. Errors: NOMEM.
 */
int as_catalogue_open(struct as_catalogue *catalogue, const struct as_catalogue_request *request,
                      struct as_catalogue_module **out, struct as_error *err);
/* The same by the row of the module, which is what passes after the first know. Errors: NOMEM,
 * NOT_FOUND (no such row), those of the experiment. */
int as_catalogue_open_row(struct as_catalogue *catalogue, int64_t module_id, double share,
                          enum as_catalogue_depth depth, struct as_catalogue_module **out,
                          struct as_error *err);
/* One that the caller has opened and analysed, and keeps until it is closed. Errors: NOMEM. */
int as_catalogue_adopt(struct as_catalogue *catalogue, struct as_object *object,
                       struct as_program *program, struct as_catalogue_module **out,
                       struct as_error *err);
/* Nulls the pointer; NULL inside is fine. Borrowed data may be freed. */
void as_catalogue_close(struct as_catalogue *catalogue, struct as_catalogue_module **module);

/* ---- Finding ----------------------------------------------------------------------------- */

/* The objects at an address; AS_NONE if unknown. */
struct as_catalogue_place {
    uint32_t function;   /* for the functions below: a body, a function of the object, or a name */
    uint32_t loop;       /* of the program: the innermost */
    uint32_t block;      /* of the program */
    uint32_t file, line; /* of `debug`; line 0 = none */
    uint32_t inlined;    /* innermost inlined call, of debug.inlines */
};

struct as_catalogue_function {
    const char *linkage_name; /* borrowed */
    uint64_t start, size_b;
    uint32_t unit;       /* of `debug`, or AS_NONE */
    uint32_t file, line; /* of its declaration */
    const char *known_from;
};

/* Link-time address of an address of a stream; false when the file has no such place. */
bool as_catalogue_address(const struct as_catalogue_module *module, uint64_t recorded,
                          uint64_t *address);
void as_catalogue_find(const struct as_catalogue_module *module, uint64_t address,
                       struct as_catalogue_place *out);
/* Returns the loop with its header at `address` and this depth (0: the innermost), or
 * AS_NONE. */
uint32_t as_catalogue_find_loop(const struct as_catalogue_module *module, uint64_t address,
                                uint32_t depth);

/* How many functions there are, and the facts of one. */
uint32_t as_catalogue_function_n(const struct as_catalogue_module *module);
void as_catalogue_function_get(const struct as_catalogue_module *module, uint32_t function,
                               struct as_catalogue_function *out);
/* Returns an inlined call (as_catalogue_place.inlined), or NULL for the function itself. */
const struct as_inline *as_catalogue_inlined(const struct as_catalogue_module *module,
                                             uint32_t inlined);

/* ---- Rows -------------------------------------------------------------------------------- */

/*
 * Each returns the id of a row, created on first use with all rows that it refers to. The id is the
 * same for all callers and later processes. 0 for AS_NONE or a module without analysis. A
 * rolled-back batch invalidates its ids. Errors: NOMEM, those of the experiment.
 */
int as_catalogue_row(struct as_catalogue_module *module, int64_t *id, struct as_error *err);
/* AS_NONE: the row of the module for code without a known function. */
int as_catalogue_row_function(struct as_catalogue_module *module, uint32_t function, int64_t *id,
                              struct as_error *err);
int as_catalogue_row_loop(struct as_catalogue_module *module, uint32_t loop, int64_t *id,
                          struct as_error *err);
int as_catalogue_row_block(struct as_catalogue_module *module, uint32_t block, int64_t *id,
                           struct as_error *err);
/* The row of successor number `nth` of a block. */
int as_catalogue_row_edge(struct as_catalogue_module *module, uint32_t block, uint32_t nth,
                          int64_t *id, struct as_error *err);
/* The row of path number `nth` of a loop; the merged view is one too. */
int as_catalogue_row_path(struct as_catalogue_module *module, uint32_t loop,
                          const struct as_paths *paths, size_t nth, int64_t *id,
                          struct as_error *err);
int as_catalogue_row_line(struct as_catalogue_module *module, uint32_t file, uint32_t line,
                          int64_t *id, struct as_error *err);
/* The row of an inlined call (as_catalogue_place.inlined) in the code of a function, with the
 * calls around it and the inlined functions. */
int as_catalogue_row_inlining(struct as_catalogue_module *module, uint32_t inlined,
                              int64_t function_id, int64_t *id, struct as_error *err);
/* The row of the function of an inlined call. `*id` stays as it is if `inlined` is none. */
int as_catalogue_row_inlined(struct as_catalogue_module *module, uint32_t inlined, int64_t *id,
                             struct as_error *err);
/* Fills the row of a location without adding it; rows that it refers to are added. `place` is
 * the result of as_catalogue_find for `address`. */
int as_catalogue_location(struct as_catalogue_module *module, uint64_t address,
                          const struct as_catalogue_place *place, struct as_row_location *row,
                          struct as_error *err);

/* Adds rows of all loops of a function, each with the loop of the same source. */
int as_catalogue_rows_loops(struct as_catalogue_module *module, uint32_t function,
                            struct as_error *err);
/* Rows of many blocks at once, in a quarter of the time if the experiment had none before; each
 * once, ids in this order. */
int as_catalogue_rows_blocks(struct as_catalogue_module *module, const uint32_t *block, size_t n,
                             struct as_error *err);
/* Source and assembly of a function, so that a report needs neither file. `room`: instructions
 * that may still be kept, lessened. */
int as_catalogue_rows_excerpt(struct as_catalogue_module *module, uint32_t function, size_t *room,
                              struct as_error *err);
/* Source of a line, and of some around it; of `debug`. */
int as_catalogue_rows_source(struct as_catalogue_module *module, uint32_t file, uint32_t line,
                             struct as_error *err);

#endif
