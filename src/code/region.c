/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides all executable bytes of the binary into regions, ascending pieces with one start each.
 * The starts come from the object's functions. Bytes between functions are a gap until a call shows
 * that code begins there. Decoding starts anew in every region, so data between functions cannot
 * shift the decoding.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "code/internal.h"

uint32_t as_region_at(const struct as_builder *b, uint64_t address)
{
    const struct as_near *near = &b->near;
    const uint64_t stretch = (address - near->base) >> near->shift;
    size_t low = 0, high = b->region.n;
    if (stretch < near->n) {
        low = near->first[stretch];
        high = near->first[stretch + 1];
    } else if (near->n) {
        return AS_NONE; /* before the first region or after the last */
    }
    const struct as_region *region = b->region.at;
    const size_t at = low + as_first_not(k, high - low, region[low + k].end <= address);
    assert(at + 1 >= b->region.n || region[at].start <= region[at + 1].start); /* regions ascend */
    return at < b->region.n && region[at].start <= address && address < region[at].end
               ? (uint32_t)at
               : AS_NONE;
}

int as_regions_index(struct as_builder *b)
{
    struct as_near *near = &b->near;
    as_free(near->first);
    *near = (struct as_near){.shift = 6};
    if (!b->region.n)
        return 0;
    const uint64_t base = b->region.at[0].start;
    const uint64_t last = b->region.at[b->region.n - 1].end - 1 - base;
    while (last >> near->shift >= 2 * b->region.n + 16) /* code may be spread over a wide range */
        near->shift++;
    const size_t n = (size_t)(last >> near->shift) + 1;
    uint32_t *first = as_malloc((n + 1) * sizeof *first);
    if (!first)
        return AS_ERR_NOMEM;
    uint32_t r = 0;
    for (size_t i = 0; i < n; i++) {
        while (b->region.at[r].end <= base + ((uint64_t)i << near->shift))
            r++;
        first[i] = r;
    }
    first[n] = (uint32_t)b->region.n - 1;
    near->base = base;
    near->first = first;
    near->n = n;
    return 0;
}

size_t as_region_insn_near(const struct as_builder *b, uint32_t region, uint64_t address,
                           size_t near)
{
    const struct as_region *r = &b->region.at[region];
    const struct as_insn *insn = b->program->code.insn + r->first_insn;
    if (address < r->start || address >= r->end || r->insns == 0)
        return SIZE_MAX;
    assert(near >= r->first_insn && near - r->first_insn < r->insns);
    /* Instructions have similar lengths, so the index that the distance in bytes
     * suggests is close. */
    near -= r->first_insn;
    const double bytes = (double)(int64_t)(address - insn[near].address);
    const double likely = (double)near + bytes * r->insns / (double)(r->end - r->start);
    const size_t from = likely > 0 ? (size_t)likely : 0;
    const size_t after = as_first_not_near(k, (size_t)r->insns, from, insn[k].address <= address);
    assert(after > 0); /* the first instruction starts at the region's start */
    return r->first_insn + after - 1;
}

size_t as_region_insn(const struct as_builder *b, uint32_t region, uint64_t address)
{
    assert(region < b->region.n);
    return as_region_insn_near(b, region, address, b->region.at[region].first_insn);
}

size_t as_lower_bound(const uint64_t *sorted, size_t n, uint64_t address)
{
    const size_t at = as_first_not(k, n, sorted[k] < address);
    assert(at + 1 >= n || sorted[at] <= sorted[at + 1]);
    return at;
}

bool as_pointer_at(const struct as_builder *b, uint64_t at, uint64_t *target)
{
    const struct as_pointer *pointer = b->pointers.pointer;
    const size_t found = as_first_not(k, b->pointers.n, pointer[k].at < at);
    assert(found + 1 >= b->pointers.n || pointer[found].at <= pointer[found + 1].at);
    if (found == b->pointers.n || pointer[found].at != at)
        return false;
    *target = pointer[found].target;
    return true;
}

const char *as_import_at(const struct as_builder *b, uint64_t at)
{
    const struct as_import *import = b->pointers.import;
    const size_t found = as_first_not(k, b->pointers.import_n, import[k].at < at);
    return found < b->pointers.import_n && import[found].at == at ? import[found].name : NULL;
}

static int push_gap(struct as_builder *b, uint64_t start, uint64_t end)
{
    if (start >= end)
        return 0;
    assert(b->region.n == 0 || b->region.at[b->region.n - 1].end <= start);
    return as_vec_push(&b->region, (struct as_region){.start = start,
                                                      .end = end,
                                                      .function = AS_NONE,
                                                      .body = AS_NONE,
                                                      .origin = AS_FUNCTION_ENTRY,
                                                      .is_gap = true});
}

/* Makes the regions of the functions in [start, end), the code of one section or segment. */
static int regions_of_range(struct as_builder *b, uint64_t start, uint64_t end, size_t *next)
{
    const struct as_function *function = b->program->function;
    size_t n = b->program->function_n;
    while (*next < n && function[*next].start < start)
        (*next)++;
    uint64_t at = start;
    for (; *next < n && function[*next].start < end; (*next)++) {
        const struct as_function *f = &function[*next];
        if (f->start < at) /* inside the previous function: a second entry of the same code */
            continue;
        AS_TRY(push_gap(b, at, f->start));
        uint64_t stop = f->end < end ? f->end : end;
        /* A function that ends after this one cuts it; a function inside it is a second entry. */
        for (size_t k = *next + 1; k < n && function[k].start < stop; k++) {
            if (function[k].start > f->start && function[k].end > stop)
                stop = function[k].start;
        }
        if (stop <= f->start)
            stop = f->start + 1;
        AS_TRY(as_vec_push(&b->region, (struct as_region){.start = f->start,
                                                          .end = stop,
                                                          .function = (uint32_t)*next,
                                                          .body = AS_NONE,
                                                          .origin = f->origin,
                                                          .is_part = f->is_part}));
        at = stop;
    }
    return push_gap(b, at, end);
}

static void add_unwind(struct as_builder *b)
{
    const struct as_unwind_range *range;
    size_t n = as_object_unwind_ranges(b->object, &range);
    for (size_t i = 0; i < n; i++) {
        uint32_t region = range[i].lsda ? as_region_at(b, range[i].start) : AS_NONE;
        if (region != AS_NONE && b->region.at[region].start == range[i].start)
            b->region.at[region].lsda = range[i].lsda;
    }
}

struct code_range {
    uint64_t start, end;
};
typedef AS_VEC(struct code_range) code_ranges;

static int add_range(code_ranges *ranges, uint64_t start, uint64_t size_b)
{
    if (size_b == 0 || start + size_b < start) /* the size overflows the address space */
        return 0;
    return as_vec_push(ranges, (struct code_range){start, start + size_b});
}

/* Adds the functions that BOLT left in place in a section that it replaced. */
static int live_code(const struct as_builder *b, const struct as_section *section,
                     code_ranges *ranges)
{
    for (size_t i = 0; i < b->program->function_n; i++) {
        const struct as_function *f = &b->program->function[i];
        if (f->start - section->address < section->size_b)
            AS_TRY(add_range(ranges, f->start, f->end - f->start));
    }
    return 0;
}

/* Adds the executable sections, or the executable segments of a file without sections. */
static int code_of_file(const struct as_builder *b, code_ranges *ranges)
{
    const struct as_section *section;
    const struct as_segment *segment;
    size_t sections = as_object_sections(b->object, &section);
    size_t segments = as_object_segments(b->object, &segment);
    for (size_t i = 0; i < sections; i++) {
        if (!section[i].exec || !section[i].alloc || !section[i].data)
            continue;
        if (section[i].replaced)
            AS_TRY(live_code(b, &section[i], ranges));
        else
            AS_TRY(add_range(ranges, section[i].address, section[i].size_b));
    }
    for (size_t i = 0; i < segments && ranges->n == 0; i++) {
        if (segment[i].exec)
            AS_TRY(add_range(ranges, segment[i].address, segment[i].file_b));
    }
    return 0;
}

static int by_range_start(const void *a, const void *b)
{
    const struct code_range *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

int as_regions_make(struct as_builder *b, struct as_error *err)
{
    code_ranges ranges = {0};
    uint64_t done = 0; /* ranges of damaged files may overlap: the first one gets the bytes */
    size_t next = 0;
    int rc = code_of_file(b, &ranges);
    if (rc == 0 && ranges.n)
        qsort(ranges.at, ranges.n, sizeof *ranges.at, by_range_start);
    for (size_t i = 0; i < ranges.n && rc == 0; i++) {
        uint64_t start = ranges.at[i].start > done ? ranges.at[i].start : done;
        if (start >= ranges.at[i].end)
            continue;
        rc = regions_of_range(b, start, ranges.at[i].end, &next);
        done = ranges.at[i].end;
    }
    as_vec_fini(&ranges);
    if (rc < 0 || as_regions_index(b) < 0)
        return as_error_nomem(err, "regions of code");
    add_unwind(b);
    return 0;
}

/* ---- Splitting gaps ---------------------------------------------------------------------- */

typedef AS_VEC(uint64_t) addresses;
typedef AS_VEC(struct as_region) regions;

struct calls {
    const struct as_builder *b;
    addresses *starts; /* per run of notes */
};

/*
 * Finds starts of code in gaps at the start of an instruction. These are targets of direct calls
 * from anywhere and of jumps out of functions. Such jumps are tail calls, and jumps from entries of
 * a linkage table to its head.
 */
static int starts_of_notes(const struct as_builder *b, const struct as_code_notes *notes,
                           addresses *starts)
{
    const struct as_code *code = &b->program->code;
    uint32_t own = as_region_at(b, notes->start);
    for (size_t i = 0; i < notes->insn.n && own != AS_NONE; i++) {
        const struct as_insn *from = &code->insn[notes->insn.at[i]];
        uint64_t target;
        while (from->address >= b->region.at[own].end && own + 1 < b->region.n)
            own++;
        const struct as_region *r = &b->region.at[own];
        if (!as_insn_target_fast(from, &target))
            continue;
        bool is_call = as_form_of(from)->insn_class == AS_CLASS_CALL;
        if (!is_call && (r->is_gap || (target >= r->start && target < r->end)))
            continue;
        uint32_t region = as_region_at(b, target);
        if (region == AS_NONE || !b->region.at[region].is_gap)
            continue;
        size_t insn = as_region_insn(b, region, target);
        if (insn != SIZE_MAX && code->insn[insn].address == target)
            AS_TRY(as_vec_push(starts, target));
    }
    return 0;
}

static int starts_some(void *ctx, size_t from, size_t to, unsigned worker, struct as_error *err)
{
    (void)worker;
    const struct calls *c = ctx;
    for (size_t i = from; i < to; i++) {
        if (starts_of_notes(c->b, &c->b->notes.at[i], &c->starts[i]) < 0)
            return as_error_nomem(err, "calls into gaps");
    }
    return 0;
}

static int starts_in_gaps(const struct as_builder *b, addresses *starts, struct as_error *err)
{
    const size_t runs = b->notes.n;
    struct calls c = {.b = b, .starts = as_calloc(runs, sizeof *c.starts)};
    if (!c.starts)
        return as_error_nomem(err, "calls into gaps");
    int rc = as_pool_for(b->pool, runs, 1, starts_some, &c, err);
    for (size_t k = 0; k < runs; k++) {
        for (size_t i = 0; i < c.starts[k].n && rc == 0; i++)
            rc = as_vec_push(starts, c.starts[k].at[i]) < 0 ? as_error_nomem(err, "calls into gaps")
                                                            : 0;
        as_vec_fini(&c.starts[k]);
    }
    as_free(c.starts);
    return rc;
}

/* Returns true for the first entry of a linkage table. It calls the loader for the others and has
 * no symbol. */
static bool is_linkage_head(const struct as_builder *b, const struct as_region *gap)
{
    size_t next = (size_t)(gap - b->region.at) + 1;
    return next < b->region.n && b->region.at[next].start == gap->end &&
           b->region.at[next].origin == AS_FUNCTION_PLT;
}

/* Cuts the gap `whole` before each of its starts. Appends the pieces to `out`. */
static int cut_region(const struct as_builder *b, const struct as_region *whole,
                      const addresses *starts, size_t *next, regions *out)
{
    struct as_region piece = *whole;
    for (;;) {
        while (*next < starts->n && starts->at[*next] < piece.start)
            (*next)++;
        bool at_start = *next < starts->n && starts->at[*next] == piece.start;
        if (at_start) {
            piece.is_gap = false;
            if (is_linkage_head(b, whole))
                piece.origin = AS_FUNCTION_PLT;
            (*next)++;
            continue;
        }
        bool more = *next < starts->n && starts->at[*next] < whole->end;
        piece.end = more ? starts->at[*next] : whole->end;
        size_t end_insn = more ? as_region_insn(b, (uint32_t)(whole - b->region.at), piece.end)
                               : whole->first_insn + whole->insns;
        piece.insns = (uint32_t)(end_insn - piece.first_insn);
        AS_TRY(as_vec_push(out, piece));
        if (!more)
            return 0;
        piece.start = piece.end;
        piece.first_insn = end_insn;
        piece.is_gap = true;
    }
}

static int split_all(struct as_builder *b, const addresses *starts, regions *out)
{
    size_t next = 0;
    for (size_t i = 0; i < b->region.n; i++) {
        const struct as_region *r = &b->region.at[i];
        AS_TRY(r->is_gap ? cut_region(b, r, starts, &next, out) : as_vec_push(out, *r));
    }
    return 0;
}

int as_regions_split(struct as_builder *b, struct as_error *err)
{
    addresses starts = {0};
    regions out = {0};
    int rc = starts_in_gaps(b, &starts, err);
    if (rc == 0 && starts.n) {
        starts.n = as_sort_unique(starts.at, starts.n);
        rc = split_all(b, &starts, &out) < 0 ? as_error_nomem(err, "regions of code") : 0;
        if (rc == 0) {
            as_vec_fini(&b->region);
            b->region.at = out.at;
            b->region.n = out.n;
            b->region.cap = out.cap;
            out.at = NULL;
            rc = as_regions_index(b) < 0 ? as_error_nomem(err, "regions of code") : 0;
        }
    }
    as_free(out.at);
    as_vec_fini(&starts);
    return rc;
}
