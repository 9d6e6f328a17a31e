/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the modules, counts their users and drops modules when memory runs short. Only unused
 * modules are dropped: the smallest share first, then the one closed first. A module is read
 * without the lock. Other threads that request this module wait; other modules can be opened
 * meanwhile.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "catalogue/internal.h"

#define MEMORY_MOST_B ((uint64_t)2 << 30)

/* ---- Catalogue ----------------------------------------------------------------------------- */

static uint64_t default_memory_b(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page_b = sysconf(_SC_PAGESIZE);
    const uint64_t all_b = pages > 0 && page_b > 0 ? (uint64_t)pages * (uint64_t)page_b : 0;
    return all_b && all_b / 4 < MEMORY_MOST_B ? all_b / 4 : MEMORY_MOST_B;
}

int as_catalogue_new(struct as_experiment *experiment, const struct as_catalogue_options *options,
                     struct as_catalogue **out, struct as_error *err)
{
    static const struct as_catalogue_options defaults;
    struct as_catalogue *c = as_calloc(1, sizeof *c);
    *out = NULL;
    if (!c)
        return as_error_nomem(err, "the code of an experiment");
    options = options ? options : &defaults;
    c->experiment = experiment;
    c->jobs = options->jobs;
    c->open = options->open;
    c->memory_b = options->memory_b ? options->memory_b : default_memory_b();
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->loaded, NULL);
    as_arena_init(&c->arena);
    as_texts_init(&c->texts);
    *out = c;
    return 0;
}

void as_catalogue_free(struct as_catalogue **catalogue)
{
    struct as_catalogue *c = *catalogue;
    if (!c)
        return;
    as_vec_foreach (&c->entry, it) {
        as_entry_unload(*it);
        as_free(*it);
    }
    as_vec_fini(&c->entry);
    as_texts_fini(&c->texts);
    as_vec_fini(&c->new_blocks.module);
    as_arena_fini(&c->arena);
    pthread_cond_destroy(&c->loaded);
    pthread_mutex_destroy(&c->lock);
    as_free(c);
    *catalogue = NULL;
}

struct as_catalogue_counts as_catalogue_counts(struct as_catalogue *catalogue)
{
    pthread_mutex_lock(&catalogue->lock);
    const struct as_catalogue_counts counts = catalogue->counts;
    pthread_mutex_unlock(&catalogue->lock);
    return counts;
}

/* ---- Entries; the caller holds the lock ---------------------------------------------------- */

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_module(const struct as_catalogue_entry *entry,
                           const struct as_catalogue_request *wanted)
{
    const struct as_stream_module *a = &entry->request.file, *b = &wanted->file;
    return a->kind == b->kind && is_same_text(a->path, b->path) && is_same_text(a->kept, b->kept) &&
           as_file_same(&a->file, &b->file) && entry->request.pid == wanted->pid &&
           /* The directory matters only for stored copies, generated code and Python. */
           ((!a->kept && a->kind != AS_MODULE_ANON && a->kind != AS_MODULE_PYTHON) ||
            is_same_text(entry->request.directory, wanted->directory));
}

/* Returns an entry of the module with at least the requested depth, or NULL. */
static struct as_catalogue_entry *find_entry(const struct as_catalogue *c,
                                             const struct as_catalogue_request *wanted)
{
    struct as_catalogue_entry *found = NULL;
    as_vec_foreach (&c->entry, it) {
        const bool is_deeper = (*it)->request.depth > wanted->depth;
        if ((*it)->request.depth < wanted->depth || !is_same_module(*it, wanted))
            continue;
        /* Prefer an entry that is already analysed, so that a large one is not read again. */
        if (is_deeper ? (*it)->state != AS_ENTRY_EMPTY || (*it)->is_small : !found)
            found = *it;
    }
    return found;
}

static bool copy_text(struct as_arena *arena, const char **text)
{
    if (*text)
        *text = as_arena_strndup(arena, *text, strlen(*text));
    return *text;
}

static struct as_catalogue_entry *add_entry(struct as_catalogue *c,
                                            const struct as_catalogue_request *wanted)
{
    struct as_catalogue_entry *entry = as_calloc(1, sizeof *entry);
    if (!entry)
        return NULL;
    entry->catalogue = c;
    entry->request = *wanted;
    as_arena_init(&entry->arena);
    struct as_catalogue_request *r = &entry->request;
    if (!copy_text(&c->arena, &r->file.path) ||
        (r->file.kept && !copy_text(&c->arena, &r->file.kept)) ||
        (r->directory && !copy_text(&c->arena, &r->directory)) ||
        as_vec_push(&c->entry, entry) < 0) {
        as_free(entry);
        return NULL;
    }
    return entry;
}

/* ---- Memory; the caller holds the lock ----------------------------------------------------- */

static void drop_entry(struct as_catalogue *c, struct as_catalogue_entry *entry)
{
    as_entry_unload(entry);
    c->counts.kept_b -= entry->size_b;
    entry->size_b = 0;
    entry->state = AS_ENTRY_EMPTY;
}

static bool goes_before(const struct as_catalogue_entry *a, const struct as_catalogue_entry *b)
{
    if (a->request.share < b->request.share || a->request.share > b->request.share)
        return a->request.share < b->request.share;
    return a->used < b->used;
}

/* Returns the unused module to drop next, or NULL while all unused ones fit into memory_b. */
static struct as_catalogue_entry *find_surplus(const struct as_catalogue *c)
{
    struct as_catalogue_entry *coldest = NULL;
    uint64_t idle_b = 0;
    as_vec_foreach (&c->entry, it) {
        if ((*it)->state != AS_ENTRY_LOADED || (*it)->users)
            continue;
        idle_b += (*it)->size_b;
        if (!coldest || goes_before(*it, coldest))
            coldest = *it;
    }
    return idle_b > c->memory_b ? coldest : NULL;
}

static void make_room(struct as_catalogue *c)
{
    struct as_catalogue_entry *surplus;
    while ((surplus = find_surplus(c))) {
        drop_entry(c, surplus);
        c->counts.dropped++;
    }
}

/* Drops unused entries of the same module with less depth than `deep`. */
static void drop_shallower(struct as_catalogue *c, const struct as_catalogue_entry *deep)
{
    as_vec_foreach (&c->entry, it)
        if ((*it)->request.depth < deep->request.depth && (*it)->state == AS_ENTRY_LOADED &&
            !(*it)->users && is_same_module(*it, &deep->request))
            drop_entry(c, *it);
}

/* ---- Opening ------------------------------------------------------------------------------- */

/* Call with the lock held; the function releases it while it reads. */
static int load_entry(struct as_catalogue *c, struct as_catalogue_entry *entry,
                      struct as_error *err)
{
    entry->state = AS_ENTRY_LOADING;
    pthread_mutex_unlock(&c->lock);
    const int rc = as_entry_load(entry, err);
    if (rc < 0)
        as_entry_unload(entry);
    pthread_mutex_lock(&c->lock);
    entry->state = rc < 0 ? AS_ENTRY_EMPTY : AS_ENTRY_LOADED;
    if (rc == 0) {
        entry->size_b = as_entry_size_b(entry);
        c->counts.kept_b += entry->size_b;
        c->counts.opened += entry->module.object != NULL;
        c->counts.analysed += entry->module.program != NULL;
        if (entry->module.program && entry->request.depth == AS_CATALOGUE_LISTED) {
            entry->request.depth = AS_CATALOGUE_ANALYSED;
            entry->is_small = true;
        }
        drop_shallower(c, entry);
    }
    pthread_cond_broadcast(&c->loaded);
    return rc;
}

static int open_entry(struct as_catalogue *c, struct as_catalogue_entry *entry, double share,
                      struct as_error *err)
{
    int rc = 0;
    entry->users++;
    if (share > entry->request.share)
        entry->request.share = share;
    while (entry->state == AS_ENTRY_LOADING)
        pthread_cond_wait(&c->loaded, &c->lock);
    if (entry->state == AS_ENTRY_EMPTY)
        rc = load_entry(c, entry, err);
    if (rc < 0)
        entry->users--;
    return rc;
}

int as_catalogue_open(struct as_catalogue *c, const struct as_catalogue_request *request,
                      struct as_catalogue_module **out, struct as_error *err)
{
    *out = NULL;
    pthread_mutex_lock(&c->lock);
    struct as_catalogue_entry *entry = find_entry(c, request);
    if (!entry)
        entry = add_entry(c, request);
    const int rc =
        entry ? open_entry(c, entry, request->share, err) : as_error_nomem(err, request->file.path);
    pthread_mutex_unlock(&c->lock);
    if (rc == 0)
        *out = &entry->module;
    return rc;
}

static int adopt(struct as_catalogue *c, const struct as_catalogue_request *request,
                 struct as_object *object, struct as_program *program,
                 struct as_catalogue_entry **out, struct as_error *err)
{
    struct as_catalogue_entry *entry = add_entry(c, request);
    if (!entry)
        return as_error_nomem(err, request->file.path);
    AS_TRY(as_entry_adopt(entry, object, program, err));
    entry->state = AS_ENTRY_LOADED;
    entry->users = 1;
    *out = entry;
    return 0;
}

int as_catalogue_adopt(struct as_catalogue *c, struct as_object *object, struct as_program *program,
                       struct as_catalogue_module **out, struct as_error *err)
{
    const char *path = as_object_info(object)->path;
    char whole[PATH_MAX];
    const struct as_catalogue_request request = {
        .file = {.path = realpath(path, whole) ? whole : path, .kind = AS_MODULE_FILE},
        .depth = AS_CATALOGUE_ANALYSED};
    struct as_catalogue_entry *entry = NULL;
    *out = NULL;
    pthread_mutex_lock(&c->lock);
    const int rc = adopt(c, &request, object, program, &entry, err);
    pthread_mutex_unlock(&c->lock);
    if (rc == 0)
        *out = &entry->module;
    return rc;
}

void as_catalogue_close(struct as_catalogue *c, struct as_catalogue_module **module)
{
    if (!*module)
        return;
    pthread_mutex_lock(&c->lock);
    struct as_catalogue_entry *entry = as_entry_of(*module);
    entry->users--;
    entry->used = ++c->clock;
    make_room(c);
    pthread_mutex_unlock(&c->lock);
    *module = NULL;
}
