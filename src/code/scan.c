/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans every noted instruction for facts that connect regions: calls, jumps out of a region, and
 * constant addresses. These are addresses of functions, and of data that may be a jump table. Each
 * worker collects the facts of a run of regions; the results are joined in address order.
 */
#include <stdlib.h>
#include <string.h>

#include "code/internal.h"

struct findings {
    AS_VEC(struct as_crossing) crossing;
    AS_VEC(struct as_reference) reference;
    AS_VEC(uint64_t) data_address;
    AS_VEC(uint64_t) label;
    AS_VEC(uint32_t) called;
};

struct scan {
    struct as_builder *b;
    struct findings *piece; /* per run of notes */
};

static int scan_transfer(const struct as_builder *b, struct findings *f, uint32_t from,
                         const struct as_insn *insn, unsigned insn_class)
{
    uint64_t target;
    if (!as_insn_target_fast(insn, &target))
        return 0;
    const struct as_region *own = &b->region.at[from];
    if (insn_class != AS_CLASS_CALL && target >= own->start && target < own->end)
        return 0;
    uint32_t to = as_region_at(b, target);
    if (to == AS_NONE)
        return 0;
    if (insn_class == AS_CLASS_CALL)
        return b->region.at[to].start == target ? as_vec_push(&f->called, to) : 0;
    return as_vec_push(&f->crossing,
                       (struct as_crossing){.from = from,
                                            .to = to,
                                            .target = target,
                                            .conditional = insn_class == AS_CLASS_BRANCH});
}

static int note_address(const struct as_builder *b, struct findings *f, uint32_t from, size_t i,
                        uint64_t address)
{
    uint32_t to = as_region_at(b, address);
    if (to == AS_NONE)
        return as_vec_push(&f->data_address, address);
    if (b->region.at[to].start != address)
        return as_vec_push(&f->label, address);
    return as_vec_push(&f->reference, (struct as_reference){.from = from, .to = to, .insn = i});
}

static int scan_insn(const struct as_builder *b, struct findings *f, uint32_t from, size_t i)
{
    const struct as_insn *insn = &b->program->code.insn[i];
    const struct as_form *form = as_form_of(insn);
    uint64_t address;
    switch (form->insn_class) {
    case AS_CLASS_CALL:
    case AS_CLASS_JUMP:
    case AS_CLASS_BRANCH:
        AS_TRY(scan_transfer(b, f, from, insn, form->insn_class));
        break;
    default:
        break;
    }
    if (insn->bits & AS_INSN_MEM) {
        if (as_insn_memory_address(insn, &address))
            return note_address(b, f, from, i, address);
        /* disp32(,%index,8): a table of position-dependent code. */
        if (insn->base == AS_REG_NONE && insn->index != AS_REG_NONE && insn->disp > 0)
            return note_address(b, f, from, i, (uint64_t)insn->disp);
        return 0;
    }
    if (as_form_flows[insn->form] & AS_FORM_ADDRESS && insn->imm > 0)
        return note_address(b, f, from, i, (uint64_t)insn->imm);
    return 0;
}

/* Adds landing pads in another region as crossings: only exceptions reach such a cold part. */
static int scan_landings(const struct as_builder *b, struct findings *f, uint32_t from,
                         as_landings *landing)
{
    landing->n = 0;
    AS_TRY(as_landings_read(b, &b->region.at[from], landing));
    for (size_t i = 0; i < landing->n; i++) {
        uint32_t to = as_region_at(b, landing->at[i].pad);
        if (to == AS_NONE || to == from)
            continue;
        AS_TRY(as_vec_push(&f->crossing, (struct as_crossing){.from = from,
                                                              .to = to,
                                                              .target = landing->at[i].pad,
                                                              .conditional = true}));
    }
    return 0;
}

/* Scans one region. Sets `*next` to the first note after it. */
static int scan_region(const struct as_builder *b, struct findings *f, uint32_t from,
                       const struct as_code_notes *notes, size_t *next)
{
    const struct as_region *region = &b->region.at[from];
    const size_t end = region->first_insn + region->insns;
    while (*next < notes->insn.n && notes->insn.at[*next] < region->first_insn)
        ++*next;
    for (; *next < notes->insn.n && notes->insn.at[*next] < end; ++*next)
        AS_TRY(scan_insn(b, f, from, notes->insn.at[*next]));
    if (!region->lsda)
        return 0;
    as_landings landing = {0};
    int rc = scan_landings(b, f, from, &landing);
    as_vec_fini(&landing);
    return rc;
}

static int scan_some(void *ctx, size_t from, size_t to, unsigned worker, struct as_error *err)
{
    (void)worker;
    const struct scan *s = ctx;
    const struct as_builder *b = s->b;
    for (size_t piece = from; piece < to; piece++) {
        const struct as_code_notes *notes = &b->notes.at[piece];
        size_t next = 0;
        for (uint32_t r = as_region_at(b, notes->start);
             r < b->region.n && b->region.at[r].start < notes->end; r++) {
            if (!b->region.at[r].is_gap && scan_region(b, &s->piece[piece], r, notes, &next) < 0)
                return as_error_nomem(err, "references between functions");
        }
    }
    return 0;
}

static int append_findings(struct as_builder *b, const struct findings *f)
{
    for (size_t i = 0; i < f->crossing.n; i++)
        AS_TRY(as_vec_push(&b->crossing, f->crossing.at[i]));
    for (size_t i = 0; i < f->reference.n; i++)
        AS_TRY(as_vec_push(&b->reference, f->reference.at[i]));
    for (size_t i = 0; i < f->data_address.n; i++)
        AS_TRY(as_vec_push(&b->data_address, f->data_address.at[i]));
    for (size_t i = 0; i < f->label.n; i++)
        AS_TRY(as_vec_push(&b->label, f->label.at[i]));
    for (size_t i = 0; i < f->called.n; i++)
        b->region.at[f->called.at[i]].is_called = true;
    return 0;
}

/* Marks the entry point and initialisation functions as called, because the loader calls them. */
static void mark_called_by_loader(struct as_builder *b)
{
    const uint64_t *init;
    size_t n = as_object_init_functions(b->object, &init);
    for (size_t i = 0; i <= n; i++) {
        uint64_t address = i < n ? init[i] : as_object_info(b->object)->entry;
        uint32_t region = address ? as_region_at(b, address) : AS_NONE;
        if (region != AS_NONE && b->region.at[region].start == address)
            b->region.at[region].is_called = true;
    }
}

/* Marks functions with an address that code or data takes; they may be called. */
static void mark_taken(struct as_builder *b)
{
    as_vec_foreach (&b->reference, reference)
        b->region.at[reference->to].is_called = true;
    for (size_t i = 0; i < b->pointers.n; i++) {
        uint32_t region = as_region_at(b, b->pointers.pointer[i].target);
        if (region != AS_NONE && b->region.at[region].start == b->pointers.pointer[i].target)
            b->region.at[region].is_pointed = true;
    }
}

/* Adds the addresses inside regions that data holds: labels of computed gotos and
 * of jump tables. */
static int add_labels_of_data(struct as_builder *b)
{
    for (size_t i = 0; i < b->pointers.n; i++) {
        uint64_t target = b->pointers.pointer[i].target;
        uint32_t region = as_region_at(b, target);
        if (region != AS_NONE && b->region.at[region].start != target)
            AS_TRY(as_vec_push(&b->label, target));
    }
    return 0;
}

int as_regions_scan(struct as_builder *b, struct as_error *err)
{
    const size_t pieces = b->notes.n;
    struct scan s = {.b = b, .piece = as_calloc(pieces, sizeof *s.piece)};
    if (!s.piece)
        return as_error_nomem(err, "references between functions");
    int rc = as_pool_for(b->pool, pieces, 1, scan_some, &s, err);
    for (size_t i = 0; i < pieces; i++) {
        if (rc == 0 && append_findings(b, &s.piece[i]) < 0)
            rc = as_error_nomem(err, "references between functions");
        as_vec_fini(&s.piece[i].crossing);
        as_vec_fini(&s.piece[i].reference);
        as_vec_fini(&s.piece[i].data_address);
        as_vec_fini(&s.piece[i].label);
        as_vec_fini(&s.piece[i].called);
    }
    as_free(s.piece);
    as_notes_release(b);
    mark_called_by_loader(b);
    mark_taken(b);
    if (rc == 0 && add_labels_of_data(b) < 0)
        rc = as_error_nomem(err, "labels in data");
    b->data_address.n = as_sort_unique(b->data_address.at, b->data_address.n);
    b->label.n = as_sort_unique(b->label.at, b->label.n);
    return rc;
}
