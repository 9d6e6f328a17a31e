/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the catalogue: an entry is a module that was asked for, with what was read of it while it
 * is loaded, and the ids of its rows.
 */
#ifndef AS_CATALOGUE_INTERNAL_H
#define AS_CATALOGUE_INTERNAL_H

#include <pthread.h>

#include <assay/catalogue.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "catalogue/text.h"

/* A name for a range of addresses of a module without file. */
struct as_catalogue_name {
    uint64_t start, end;
    const char *name;
};

/* Ids by a number of 64 bits. */
struct as_id_map {
    struct as_map_u64 at; /* key -> index */
    AS_VEC(int64_t) id;
};

/* Ids of rows, 0 = not added. Used by the thread of the experiment only. */
struct as_catalogue_rows {
    bool is_made;
    int64_t rollbacks; /* of the experiment when the first was added: others make them void */
    int64_t *function; /* the last is for code of no function */
    int64_t *loop, *block, *edge, *file, *unit;
    bool *has_loops;                       /* by function: as assay_catalogue_rows_loops */
    struct as_id_map line, inlining, path; /* file and line; of the debug tables; loop and number */
    struct as_map_u64 text;                /* lines whose text was looked for */
    bool has_new_blocks;                   /* some were written by assay_catalogue_rows_blocks */
};

/* Blocks that were written without a look whether they are there: see blocks.c. */
struct as_new_blocks {
    int64_t rollbacks; /* of the experiment: others make it void */
    int64_t n;         /* they have the ids from 1 on */
    AS_VEC(int64_t) module;
};

enum as_catalogue_state { AS_ENTRY_EMPTY, AS_ENTRY_LOADING, AS_ENTRY_LOADED };

struct as_catalogue_entry {
    struct assay_catalogue_module module; /* first: this is what users have */
    struct assay_catalogue *catalogue;
    struct assay_catalogue_request request; /* texts in the catalogue's arena; share: the largest */
    /* Of a loaded one. */
    AS_VEC(uint32_t) by_start; /* blocks of the program by address */
    AS_VEC(struct as_catalogue_name) name;
    const char *python_file[1]; /* the table of files of a file of Python */
    struct as_arena arena;      /* texts of names */
    struct as_catalogue_rows rows;
    /* The module's row: 0 = not known. Not from the experiment itself: void after a rollback. */
    int64_t module_id;
    bool is_by_row;
    int64_t rollbacks; /* of the experiment when it was given */
    /* Guarded by the catalogue's lock. */
    enum as_catalogue_state state;
    bool is_adopted; /* object and program are the caller's */
    bool is_small;   /* was to be listed, and is analysed because it has little code */
    unsigned users;
    uint64_t size_b, used; /* estimate; when it was closed last */
};

struct assay_catalogue {
    struct assay_experiment *experiment;
    unsigned jobs;
    const struct assay_object_options *open;
    uint64_t memory_b;
    pthread_mutex_t lock;
    pthread_cond_t loaded; /* some entry is not loading any more */
    /* Guarded by lock. */
    AS_VEC(struct as_catalogue_entry *) entry;
    struct as_arena arena;
    struct assay_catalogue_counts counts;
    uint64_t clock;
    /* Of the thread of the experiment. */
    struct as_texts texts;
    struct as_new_blocks new_blocks;
};

static inline struct as_catalogue_entry *as_entry_of(struct assay_catalogue_module *module)
{
    return (struct as_catalogue_entry *)module;
}

static inline const struct as_catalogue_entry *
as_entry_of_const(const struct assay_catalogue_module *module)
{
    return (const struct as_catalogue_entry *)module;
}

/* load.c: reads what the request asks for; what cannot be had is left out. Errors: NOMEM. */
int as_entry_load(struct as_catalogue_entry *entry, struct assay_error *err);
int as_entry_adopt(struct as_catalogue_entry *entry, struct assay_object *object,
                   struct assay_program *program, struct assay_error *err);
void as_entry_unload(struct as_catalogue_entry *entry);
uint64_t as_entry_size_b(const struct as_catalogue_entry *entry);

/* name.c: fills `name` of a module without file. */
int as_entry_names(struct as_catalogue_entry *entry, struct assay_error *err);
/* The same of a file of Python, from the request. */
int as_entry_pythons(struct as_catalogue_entry *entry, struct assay_error *err);

/* rows.c: the tables of ids are there, and good. Errors: NOMEM. */
int as_rows_ready(struct as_catalogue_entry *entry, struct assay_error *err);
void as_rows_fini(struct as_catalogue_entry *entry);

/* ids.c: 0 when it is not there; NOMEM. */
int64_t as_id_map_get(const struct as_id_map *map, uint64_t key);
int as_id_map_put(struct as_id_map *map, uint64_t key, int64_t id);
void as_id_map_init(struct as_id_map *map);
void as_id_map_fini(struct as_id_map *map);

#endif
