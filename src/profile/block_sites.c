/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a run by address and time, and the code that allocated them; see block_sites.h. */
#include "profile/block_sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/str.h"
#include "object/variables.h"

enum { CALLERS_MOST = 4 };

/* A call in the user's code. */
struct site_place {
    const char *function;
    int64_t module_id, line_id;
    const struct as_tally_frame *frame;
    unsigned level; /* of inlined calls at that frame (as_scope_returns_pointer) */
};

/* A site of the tally: the call that allocates, and its callers. */
struct found_site {
    struct site_place place[CALLERS_MOST];
    unsigned n, at;     /* number of calls found; index of the one that stands for the site */
    bool by_system;     /* a system library called malloc or mmap */
    uint64_t size_b[2]; /* of its largest block, and of its largest mapping */
};

struct as_block_sites {
    struct as_attribution *all;
    uint64_t *high;           /* by block: max end of this block and earlier ones of its process */
    struct found_site *found; /* by site of the tally; the first site of a line has the sizes */
    uint32_t *first;          /* by site of the tally: the first site with its line */
};

/* ---- Code ------------------------------------------------------------------------------------ */

/* Returns true for a runtime library, which allocates on behalf of its caller. */
static bool is_runtime(const char *path)
{
    static const char *const runtime[] = {
        "libc.so",        "libc-",       "libstdc++.so",    "libc++.so",      "libc++abi.so",
        "libgfortran.so", "libgcc_s.so", "libm.so",         "libm-",          "libpthread",
        "ld-linux-",      "libflang",    "libFortran_main", "libjemalloc.so", "libtcmalloc"};
    const char *name = as_path_last(path);

    for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++)
        if (strncmp(name, runtime[i], strlen(runtime[i])) == 0)
            return true;
    return false;
}

static bool is_runtime_function(const char *name)
{
    static const char *const runtime[] = {"_ZNSt", "_ZNKSt",        "_ZSt",      "_ZN9__gnu_cxx",
                                          "_Znw",  "_Zna",          "_gfortran", "_ZNVSt",
                                          "__gnu", "_ZNK9__gnu_cxx"};

    for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++)
        if (strncmp(name, runtime[i], strlen(runtime[i])) == 0)
            return true;
    return false;
}

/* A source line in a module of the user. */
struct user_place {
    uint32_t file, line; /* line 0: none */
    const char *name;    /* NULL: unknown */
    unsigned level;
};

/* Finds the user's lines at an address, inlined calls first. Returns their number. */
static unsigned user_places_at(const struct as_catalogue_module *code, uint64_t address,
                               struct user_place *out, unsigned capacity)
{
    const struct as_debug *debug = &code->debug;
    struct as_catalogue_function function = {0};
    struct as_catalogue_place place;
    unsigned n = 0;

    as_catalogue_find(code, address, &place);
    if (place.function < as_catalogue_function_n(code))
        as_catalogue_function_get(code, place.function, &function);
    struct user_place it = {.file = place.file, .line = place.line};
    for (uint32_t at = place.inlined; n < capacity;) {
        const bool is_inlined = at < debug->inline_n && debug->inlines[at].parent != AS_NONE;
        const bool has_file = it.file < debug->file_n;
        it.name = is_inlined ? debug->inlines[at].name : function.linkage_name;
        it.line = has_file ? it.line : 0;
        if (!(it.line && as_source_is_system(debug->file[it.file])) && it.name &&
            (it.line || !is_runtime_function(it.name)))
            out[n++] = it;
        if (!is_inlined)
            break;
        it.file = debug->inlines[at].call_file;
        it.line = debug->inlines[at].call_line;
        at = debug->inlines[at].parent;
        it.level++;
    }
    return n;
}

static int set_found_site(struct as_attribution *all, struct as_catalogue_module *code,
                          const struct as_tally_frame *frame, const struct user_place *place,
                          struct found_site *out, struct as_error *err)
{
    struct site_place *to = &out->place[out->n];
    char plain[512];
    const char *name = as_demangle(place->name, plain, sizeof plain) > 0 ? plain : place->name;

    to->frame = frame;
    to->level = place->level;
    AS_TRY(as_catalogue_row(code, &to->module_id, err));
    if (place->line)
        AS_TRY(as_catalogue_row_line(code, place->file, place->line, &to->line_id, err));
    to->function = as_arena_strndup(&all->tally.arena, name, strlen(name));
    if (!to->function)
        return as_error_nomem(err, "the sites of blocks");
    out->n++;
    return 0;
}

static int look_at_frame(struct as_attribution *all, const struct as_tally_frame *frame,
                         struct found_site *out, struct as_error *err)
{
    struct as_catalogue_module *code = NULL;
    struct user_place place[CALLERS_MOST];
    uint64_t address;
    unsigned n = 0;
    int rc = 0;

    AS_TRY(as_attribute_open(all, frame->module, &code, err));
    if (as_catalogue_address(code, frame->address, &address))
        n = user_places_at(code, address, place, CALLERS_MOST - out->n);
    for (unsigned i = 0; i < n && rc == 0; i++)
        rc = set_found_site(all, code, frame, &place[i], out, err);
    as_catalogue_close(all->catalogue, &code);
    return rc;
}

/* Finds the innermost calls in the user's code. If there are none, finds those in a library that is
 * not a runtime. */
static int find_site(struct as_attribution *all, const struct as_tally_site *site,
                     struct found_site *out, struct as_error *err)
{
    const struct as_tally_module *module = all->tally.module.at;

    out->by_system = !site->frame_n || as_attribute_is_system(&module[site->frame[0].module]);
    for (int of_system = 0; of_system < 2 && !out->n; of_system++)
        for (uint32_t i = 0; i < site->frame_n && out->n < CALLERS_MOST; i++) {
            const struct as_tally_module *of = &module[site->frame[i].module];
            if (of->kind == AS_MODULE_FILE && as_attribute_is_system(of) == of_system &&
                !is_runtime(of->path))
                AS_TRY(look_at_frame(all, &site->frame[i], out, err));
        }
    return 0;
}

/* ---- Functions that allocate for others ------------------------------------------------------ */

static const struct site_place *place_of(const struct found_site *site)
{
    return site->n ? &site->place[site->at] : NULL;
}

/* Returns true if both are one place. Functions without lines are compared by name. */
static bool is_same_place(const struct site_place *a, const struct site_place *b)
{
    return a->module_id == b->module_id && a->line_id == b->line_id &&
           (a->line_id || strcmp(a->function, b->function) == 0);
}

/* Returns true if the function of site `i` allocates at one line only, with known callers. */
static bool allocates_once(const struct found_site *site, size_t n, size_t i)
{
    const struct site_place *it = place_of(&site[i]);

    if (!it || !it->line_id)
        return false;
    for (size_t k = 0; k < n; k++) {
        const struct site_place *other = place_of(&site[k]);
        if (!other || other->module_id != it->module_id)
            continue;
        if (other->line_id == it->line_id ? site[k].at + 1 == site[k].n
                                          : strcmp(other->function, it->function) == 0)
            return false;
    }
    return true;
}

/* Returns the number of calls outwards from site `i` to the first that differs among the sites of
 * its line; 0 if none differs, or some are unknown. */
static unsigned calls_that_differ(const struct found_site *site, size_t n, size_t i)
{
    const struct site_place *it = place_of(&site[i]);

    for (unsigned far = 1; site[i].at + far < site[i].n; far++)
        for (size_t k = 0; k < n; k++) {
            const struct site_place *other = place_of(&site[k]);
            if (!other || !is_same_place(other, it))
                continue;
            if (site[k].at + far >= site[k].n)
                return 0;
            if (!is_same_place(other + far, it + far))
                return far;
        }
    return 0;
}

/* Sets *out to true if the function at `place` returns a pointer. Otherwise its caller does not get
 * the block. */
static int returns_pointer(struct as_attribution *all, const struct site_place *place, bool *out,
                           struct as_error *err)
{
    struct as_catalogue_module *code = NULL;
    struct as_data_variables variables = {0};
    uint64_t address;
    int rc = 0;

    *out = false;
    AS_TRY(as_attribute_open(all, place->frame->module, &code, err));
    if (code->object && as_catalogue_address(code, place->frame->address, &address)) {
        rc = as_object_variables(code->object, address, address + 1, &variables, err);
        *out = rc == 0 && as_scope_returns_pointer(&variables, address, place->level);
        as_data_variables_free(&variables);
    }
    as_catalogue_close(all->catalogue, &code);
    return rc;
}

/* Returns the index of the first site with the place of site `i`. */
static size_t first_of_place(const struct found_site *site, size_t i)
{
    const struct site_place *it = place_of(&site[i]);
    size_t k = 0;

    for (; k < i; k++) {
        const struct site_place *other = place_of(&site[k]);
        if (other && it && is_same_place(other, it) && strcmp(other->function, it->function) == 0)
            break;
    }
    return k;
}

/* Sets *out to the number of calls outwards from site `i` to the code that it allocates for; 0 if
 * it allocates for itself. */
static int calls_to_pass(struct as_attribution *all, const struct found_site *site, size_t n,
                         size_t i, uint8_t *out, struct as_error *err)
{
    const unsigned far = allocates_once(site, n, i) ? calls_that_differ(site, n, i) : 0;
    bool passes = far > 0;

    for (unsigned k = 0; k < far && passes; k++)
        AS_TRY(returns_pointer(all, &site[i].place[site[i].at + k], &passes, err));
    *out = passes ? (uint8_t)far : 0;
    return 0;
}

/* Replaces the program's own allocation functions, which work like malloc, by their callers. A
 * caller may be such a function too. */
static int pass_allocators(struct as_attribution *all, struct found_site *site, size_t n,
                           struct as_error *err)
{
    uint8_t *far = as_calloc(n + 1, sizeof *far);
    bool moves = far != NULL;
    int rc = far ? 0 : as_error_nomem(err, "the sites of blocks");

    for (unsigned round = 1; round < CALLERS_MOST && moves && rc == 0; round++) {
        moves = false;
        for (size_t i = 0; i < n && rc == 0; i++) {
            const size_t first = first_of_place(site, i); /* many ranks have equal places */
            if (first < i)
                far[i] = far[first];
            else
                rc = calls_to_pass(all, site, n, i, &far[i], err);
        }
        for (size_t i = 0; i < n && rc == 0; i++) {
            site[i].at += far[i];
            moves |= far[i] > 0;
        }
    }
    as_free(far);
    return rc;
}

/* ---- Order ----------------------------------------------------------------------------------- */

static int by_stream_and_number(const void *a, const void *b)
{
    const struct as_tally_site *x = a, *y = b;

    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_process_start_birth(const void *a, const void *b)
{
    const struct as_tally_block *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->born_ns > y->born_ns) - (x->born_ns < y->born_ns);
}

static uint32_t site_of(const struct as_tally *tally, const struct as_tally_block *block)
{
    const struct as_tally_site key = {.stream = block->stream, .number = block->site};
    const struct as_tally_site *site =
        block->site == AS_NONE || !tally->site.n
            ? NULL
            : bsearch(&key, tally->site.at, tally->site.n, sizeof key, by_stream_and_number);

    return site ? (uint32_t)(site - tally->site.at) : AS_NONE;
}

static bool is_same_site(const struct found_site *a, const struct found_site *b)
{
    const struct site_place *x = place_of(a), *y = place_of(b);

    return x && y && x->module_id == y->module_id && x->line_id == y->line_id &&
           strcmp(x->function, y->function) == 0;
}

/* Returns true for a mapping made by a library. Its contents are unknown. */
static bool is_foreign(const struct as_block_sites *s, const struct as_tally_block *block)
{
    return block->mapped && (block->site == AS_NONE || s->found[block->site].by_system);
}

static void join_sites(struct as_block_sites *s)
{
    const struct as_tally *tally = &s->all->tally;

    for (uint32_t i = 0; i < tally->site.n; i++) {
        s->first[i] = 0;
        while (s->first[i] < i && !is_same_site(&s->found[s->first[i]], &s->found[i]))
            s->first[i]++;
    }
    as_vec_foreach (&tally->block, block) {
        if (block->site == AS_NONE)
            continue;
        uint64_t *size_b = &s->found[s->first[block->site]].size_b[block->mapped];
        if (block->end - block->start > *size_b)
            *size_b = block->end - block->start;
    }
}

static void order_blocks(struct as_block_sites *s)
{
    struct as_tally *tally = &s->all->tally;
    size_t n = 0;

    as_vec_foreach (&tally->block, block) {
        block->site = site_of(tally, block);
        if (!is_foreign(s, block))
            tally->block.at[n++] = *block;
    }
    tally->block.n = n;
    if (n)
        qsort(tally->block.at, n, sizeof *tally->block.at, by_process_start_birth);
    for (size_t i = 0; i < n; i++) {
        const struct as_tally_block *at = &tally->block.at[i];
        const bool is_first = i == 0 || at[-1].process != at->process;
        s->high[i] = !is_first && s->high[i - 1] > at->end ? s->high[i - 1] : at->end;
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

static int fill_sites(struct as_block_sites *s, struct as_error *err)
{
    struct as_tally *tally = &s->all->tally;

    s->high = as_calloc(tally->block.n + 1, sizeof *s->high);
    s->found = as_calloc(tally->site.n + 1, sizeof *s->found);
    s->first = as_calloc(tally->site.n + 1, sizeof *s->first);
    if (!s->high || !s->found || !s->first)
        return as_error_nomem(err, "the sites of blocks");
    if (tally->site.n)
        qsort(tally->site.at, tally->site.n, sizeof *tally->site.at, by_stream_and_number);
    for (size_t i = 0; i < tally->site.n; i++)
        AS_TRY(find_site(s->all, &tally->site.at[i], &s->found[i], err));
    AS_TRY(pass_allocators(s->all, s->found, tally->site.n, err));
    order_blocks(s);
    join_sites(s);
    return 0;
}

int as_block_sites_new(struct as_attribution *all, struct as_block_sites **out,
                       struct as_error *err)
{
    *out = NULL;
    if (!all->tally.block.n)
        return 0;
    *out = as_calloc(1, sizeof **out);
    if (!*out)
        return as_error_nomem(err, "the sites of blocks");
    (*out)->all = all;
    const int rc = fill_sites(*out, err);
    if (rc < 0)
        as_block_sites_free(out);
    return rc;
}

void as_block_sites_free(struct as_block_sites **sites)
{
    if (!*sites)
        return;
    as_free((*sites)->high);
    as_free((*sites)->found);
    as_free((*sites)->first);
    as_free(*sites);
    *sites = NULL;
}

/* Blocks with the same start exist at different times. If one block is inside another, the one
 * that was allocated later counts. */
const struct as_tally_block *as_block_at(const struct as_block_sites *sites, uint32_t process,
                                         uint64_t address, uint64_t time_ns)
{
    if (!sites || !time_ns)
        return NULL;
    const struct as_tally_block *at = sites->all->tally.block.at, *best = NULL;
    const size_t n = sites->all->tally.block.n;
    size_t end = as_first_not(
        i, n, at[i].process < process || (at[i].process == process && at[i].start <= address));
    while (end > 0 && at[end - 1].process == process && sites->high[end - 1] > address) {
        const uint64_t start = at[end - 1].start;
        const size_t first = as_first_not(
            i, end, at[i].process < process || (at[i].process == process && at[i].start < start));
        const size_t later = first + as_first_not(i, end - first, at[first + i].born_ns <= time_ns);
        const struct as_tally_block *it = later > first ? &at[later - 1] : NULL;
        if (it && it->died_ns > time_ns && it->end > address &&
            (!best || it->born_ns > best->born_ns))
            best = it;
        end = first;
    }
    return best;
}

void as_block_row(const struct as_block_sites *sites, const struct as_tally_block *block,
                  struct as_row_data_object *row)
{
    *row = (struct as_row_data_object){.kind = block->mapped ? "mapping" : "block",
                                       .size_b = as_known((int64_t)(block->end - block->start))};
    if (block->site == AS_NONE || !sites->found[block->site].n)
        return;
    const struct found_site *site = &sites->found[sites->first[block->site]];
    const struct site_place *place = place_of(site);
    row->size_b = as_known((int64_t)site->size_b[block->mapped]);
    row->module_id = place->module_id;
    row->site = place->function;
    row->site_line_id = place->line_id;
}
