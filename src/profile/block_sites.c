/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a run by address and time, and the code that allocated them; see block_sites.h. */
#include "profile/block_sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/str.h"

/* A site of the tally in the code of the user. */
struct found_site {
    const char *function; /* NULL: not known */
    int64_t module_id, line_id;
    bool by_system; /* what called malloc or mmap is of the distribution */
    bool found;
    uint64_t size_b[2]; /* of its largest block, and of its largest mapping */
};

struct as_block_sites {
    struct as_attribution *all;
    uint64_t *high;           /* by block: the highest end of it and those before in its process */
    struct found_site *found; /* by site of the tally; the first of its line has the sizes */
    uint32_t *first;          /* by site of the tally: the first with its line */
};

/* ---- Code ------------------------------------------------------------------------------------ */

/* Allocates for others: what it is called by is of interest. */
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

/* A place in a module: the innermost inlined call that is the user's. */
struct user_place {
    uint32_t file, line; /* line 0: none */
    const char *name;    /* NULL: not known */
};

/* False: all of it is of the system. */
static bool user_place_at(const struct assay_catalogue_module *code, uint64_t address,
                          struct user_place *out)
{
    const struct assay_debug *debug = &code->debug;
    struct assay_catalogue_function function = {0};
    struct assay_catalogue_place place;

    assay_catalogue_find(code, address, &place);
    if (place.function < assay_catalogue_function_n(code))
        assay_catalogue_function_get(code, place.function, &function);
    *out = (struct user_place){place.file, place.line, function.linkage_name};
    uint32_t at = place.inlined;
    while (out->line && out->file < debug->file_n &&
           assay_source_is_system(debug->file[out->file])) {
        if (at >= debug->inline_n || debug->inlines[at].parent == ASSAY_NONE)
            return false;
        out->file = debug->inlines[at].call_file;
        out->line = debug->inlines[at].call_line;
        at = debug->inlines[at].parent;
    }
    if (out->file >= debug->file_n)
        out->line = 0;
    if (at < debug->inline_n && debug->inlines[at].parent != ASSAY_NONE)
        out->name = debug->inlines[at].name;
    return out->name && (out->line || !is_runtime_function(out->name));
}

static int keep_place(struct as_attribution *all, struct assay_catalogue_module *code,
                      const struct user_place *place, struct found_site *out,
                      struct assay_error *err)
{
    char plain[512];
    const char *name = assay_demangle(place->name, plain, sizeof plain) > 0 ? plain : place->name;

    AS_TRY(assay_catalogue_row(code, &out->module_id, err));
    if (place->line)
        AS_TRY(assay_catalogue_row_line(code, place->file, place->line, &out->line_id, err));
    out->function = as_arena_strndup(&all->tally.arena, name, strlen(name));
    out->found = true;
    return out->function ? 0 : as_error_nomem(err, "the sites of blocks");
}

static int look_at_frame(struct as_attribution *all, const struct as_tally_frame *frame,
                         struct found_site *out, struct assay_error *err)
{
    struct assay_catalogue_module *code = NULL;
    struct user_place place;
    uint64_t address;

    AS_TRY(as_attribute_open(all, frame->module, &code, err));
    int rc = 0;
    if (assay_catalogue_address(code, frame->address, &address) &&
        user_place_at(code, address, &place))
        rc = keep_place(all, code, &place, out, err);
    assay_catalogue_close(all->catalogue, &code);
    return rc;
}

/* The innermost frame of the user; if there is none, of a library other than a runtime. */
static int find_site(struct as_attribution *all, const struct as_tally_site *site,
                     struct found_site *out, struct assay_error *err)
{
    const struct as_tally_module *module = all->tally.module.at;

    out->by_system = !site->frame_n || as_attribute_is_system(&module[site->frame[0].module]);
    for (int of_system = 0; of_system < 2 && !out->found; of_system++)
        for (uint32_t i = 0; i < site->frame_n && !out->found; i++) {
            const struct as_tally_module *of = &module[site->frame[i].module];
            if (of->kind == ASSAY_MODULE_FILE && as_attribute_is_system(of) == of_system &&
                !is_runtime(of->path))
                AS_TRY(look_at_frame(all, &site->frame[i], out, err));
        }
    return 0;
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
        block->site == ASSAY_NONE || !tally->site.n
            ? NULL
            : bsearch(&key, tally->site.at, tally->site.n, sizeof key, by_stream_and_number);

    return site ? (uint32_t)(site - tally->site.at) : ASSAY_NONE;
}

static bool is_same_site(const struct found_site *a, const struct found_site *b)
{
    return a->found && b->found && a->module_id == b->module_id && a->line_id == b->line_id &&
           strcmp(a->function, b->function) == 0;
}

/* Mappings of libraries are their business: what lies in them is not known. */
static bool is_foreign(const struct as_block_sites *s, const struct as_tally_block *block)
{
    return block->mapped && (block->site == ASSAY_NONE || s->found[block->site].by_system);
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
        if (block->site == ASSAY_NONE)
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

static int fill_sites(struct as_block_sites *s, struct assay_error *err)
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
    order_blocks(s);
    join_sites(s);
    return 0;
}

int as_block_sites_new(struct as_attribution *all, struct as_block_sites **out,
                       struct assay_error *err)
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

/* Those of one start exist one after the other. A block may lie in another: the later one counts.
 */
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
                  struct assay_row_data_object *row)
{
    *row =
        (struct assay_row_data_object){.kind = block->mapped ? "mapping" : "block",
                                       .size_b = assay_known((int64_t)(block->end - block->start))};
    if (block->site == ASSAY_NONE || !sites->found[block->site].found)
        return;
    const struct found_site *site = &sites->found[sites->first[block->site]];
    row->size_b = assay_known((int64_t)site->size_b[block->mapped]);
    row->module_id = site->module_id;
    row->site = site->function;
    row->site_line_id = site->line_id;
}
