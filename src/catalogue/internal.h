/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the catalogue. An entry is a requested module: the data read from it while it is
 * loaded, and the ids of its rows.
 */
#ifndef AS_CATALOGUE_INTERNAL_H
#define AS_CATALOGUE_INTERNAL_H

#include <pthread.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "catalogue/catalogue.h"
#include "catalogue/text.h"

/* The name of an address range in a module without a file. */
struct as_catalogue_name {
    uint64_t start, end;
    const char *name;
};

/* Maps 64-bit keys to row ids. */
struct as_id_map {
    struct as_map_u64 at; /* key -> index into `id` */
    AS_VEC(int64_t) id;
};

/* Row ids; 0 = row not added yet. Only the thread that owns the experiment uses them. */
struct as_catalogue_rows {
    bool is_made;
    /* rollbacks of the experiment at the first id; if it differs, all are void */
    int64_t rollbacks;
    int64_t *function; /* by function; the last one is for code without a known function */
    int64_t *loop, *block, *edge, *file, *unit;
    /* by function: as_catalogue_rows_loops has added its loops */
    bool *has_loops;
    struct as_id_map line, inlining, path; /* keys: file and line; inlined call; loop and path */
    /* lines that as_catalogue_rows_source or an excerpt has looked up */
    struct as_map_u64 text;
    /* as_catalogue_rows_blocks has written blocks of this module */
    bool has_new_blocks;
};

/* Blocks that were added without a lookup of existing rows; blocks.c says when this is safe. */
struct as_new_blocks {
    int64_t rollbacks; /* rollback count of the experiment; the fields are void if it differs */
    int64_t n;         /* number of blocks written; their ids are 1 to n */
    AS_VEC(int64_t) module;
};

enum as_catalogue_state { AS_ENTRY_EMPTY, AS_ENTRY_LOADING, AS_ENTRY_LOADED };

struct as_catalogue_entry {
    struct as_catalogue_module module; /* must be first: callers get a pointer to this member */
    struct as_catalogue *catalogue;
    struct as_catalogue_request request; /* strings: catalogue's arena; share: maximum */
    /* Fields of a loaded entry. */
    AS_VEC(uint32_t) by_start; /* block indices of the program, sorted by address */
    AS_VEC(struct as_catalogue_name) name;
    const char *python_file[1]; /* the file table of a Python file */
    struct as_arena arena;      /* holds the strings in `name` */
    struct as_catalogue_rows rows;
    /* Id of the module's row; 0 = unknown. An id that was not read from the experiment
     * (is_by_row is false) is void after a rollback. */
    int64_t module_id;
    bool is_by_row;
    int64_t rollbacks; /* rollback count of the experiment when module_id was set */
    /* The catalogue's lock guards the fields below. */
    enum as_catalogue_state state;
    bool is_adopted; /* the caller owns object and program */
    bool is_small;   /* requested as LISTED, but analysed because it has little code */
    unsigned users;
    uint64_t size_b, used; /* estimated bytes; value of `clock` at the last close */
};

struct as_catalogue {
    struct as_experiment *experiment;
    unsigned jobs;
    const struct as_object_options *open;
    uint64_t memory_b;
    pthread_mutex_t lock;
    pthread_cond_t loaded; /* signals that an entry has finished loading */
    /* `lock` guards the fields below. */
    AS_VEC(struct as_catalogue_entry *) entry;
    struct as_arena arena;
    struct as_catalogue_counts counts;
    uint64_t clock;
    /* Only the thread that owns the experiment uses the fields below. */
    struct as_texts texts;
    struct as_new_blocks new_blocks;
};

static inline struct as_catalogue_entry *as_entry_of(struct as_catalogue_module *module)
{
    return (struct as_catalogue_entry *)module;
}

static inline const struct as_catalogue_entry *
as_entry_of_const(const struct as_catalogue_module *module)
{
    return (const struct as_catalogue_entry *)module;
}

/* load.c: reads what the request asks for and sets `trouble` where reading fails. Errors: NOMEM. */
int as_entry_load(struct as_catalogue_entry *entry, struct as_error *err);
/* Fills the entry with an object and a program that the caller owns. Errors: NOMEM. */
int as_entry_adopt(struct as_catalogue_entry *entry, struct as_object *object,
                   struct as_program *program, struct as_error *err);
/* Closes and frees all data of the entry, except for adopted objects and programs. */
void as_entry_unload(struct as_catalogue_entry *entry);
/* Returns the estimated memory of a loaded entry in bytes. */
uint64_t as_entry_size_b(const struct as_catalogue_entry *entry);

/* name.c: fills `name` for a module without a file. Errors: NOMEM. */
int as_entry_names(struct as_catalogue_entry *entry, struct as_error *err);
/* Fills `name` for a Python file from the functions in the request. Errors: NOMEM. */
int as_entry_pythons(struct as_catalogue_entry *entry, struct as_error *err);

/* rows.c: makes the id tables, or clears them after a rollback. Errors: NOMEM. */
int as_rows_ready(struct as_catalogue_entry *entry, struct as_error *err);
void as_rows_fini(struct as_catalogue_entry *entry);

/* ids.c: get returns 0 if the key is missing; put returns AS_ERR_NOMEM without memory. */
int64_t as_id_map_get(const struct as_id_map *map, uint64_t key);
int as_id_map_put(struct as_id_map *map, uint64_t key, int64_t id);
void as_id_map_init(struct as_id_map *map);
void as_id_map_fini(struct as_id_map *map);

#endif
