/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans the loops of a module: chooses regions from outer to inner, makes their clones, and says of
 * each loop whether it is in the plan or why not.
 */
#include "patch/internal.h"

#include <string.h>

#include "base/sort.h"

const char *as_patch_refusal_text(unsigned refusal)
{
    static const char *const text[] = {
#define AS_PATCH_REFUSAL_TEXT(name, text) text,
        AS_PATCH_REFUSAL_LIST(AS_PATCH_REFUSAL_TEXT)
#undef AS_PATCH_REFUSAL_TEXT
    };
    return refusal < AS_PATCH_REFUSALS ? text[refusal] : "";
}

int as_patch_maker_new(const struct as_patch_wish *wish, struct as_patch_maker **out,
                       struct assay_error *err)
{
    *out = as_calloc(1, sizeof **out);
    if (!*out)
        return as_error_nomem(err, "the plan");
    (*out)->wish = *wish;
    return 0;
}

void as_patch_maker_free(struct as_patch_maker **maker)
{
    struct as_patch_maker *m = *maker;
    if (!m)
        return;
    as_vec_fini(&m->module);
    as_vec_fini(&m->region);
    as_vec_fini(&m->loop);
    as_vec_fini(&m->exit);
    as_vec_fini(&m->pending);
    as_vec_fini(&m->edge);
    as_vec_fini(&m->event);
    as_vec_fini(&m->site);
    as_vec_fini(&m->reloc);
    as_vec_fini(&m->span);
    as_vec_fini(&m->counter);
    as_vec_fini(&m->code);
    as_vec_fini(&m->text);
    as_free(m);
    *maker = NULL;
}

/* ---- One region ----------------------------------------------------------------------------- */

/* How far the tables were, to take back what a refused region added. */
struct mark {
    size_t region, loop, exit, edge, event, site, reloc, span, counter, code;
};

static struct mark mark_of(const struct as_patch_maker *m)
{
    return (struct mark){m->region.n, m->loop.n,  m->exit.n, m->edge.n,    m->event.n,
                         m->site.n,   m->reloc.n, m->span.n, m->counter.n, m->code.n};
}

static void go_back(struct as_patch_maker *m, const struct mark *to)
{
    m->region.n = to->region;
    m->loop.n = to->loop;
    m->exit.n = to->exit;
    m->edge.n = to->edge;
    m->event.n = to->event;
    m->site.n = to->site;
    m->reloc.n = to->reloc;
    m->span.n = to->span;
    m->counter.n = to->counter;
    m->code.n = to->code;
}

struct inners {
    AS_VEC(struct as_patch_inner) at;
};

static bool is_inside(const struct assay_program *p, uint32_t outer, uint32_t loop)
{
    while (loop != ASSAY_NONE && loop != outer)
        loop = p->loop[loop].parent;
    return loop == outer;
}

static int add_loop(struct as_patch_maker *m, struct as_patch_code *code, uint32_t loop,
                    struct inners *inners)
{
    const struct assay_program *p = code->program;
    struct as_patch_inner it = {loop, (uint32_t)m->loop.n, as_patch_induction_find(p, loop),
                                AS_PATCH_NONE, false};
    const bool timed = m->wish.mode == AS_PATCH_TIME || m->wish.mode == AS_PATCH_SAMPLE;
    uint32_t taken = 0;
    as_vec_foreach (&inners->at, outer) {
        if (outer->tally != AS_PATCH_NONE && is_inside(p, outer->loop, loop))
            taken |= 1u << outer->tally;
    }
    if (timed && it.induction.reg == AS_PATCH_NONE)
        AS_TRY(as_patch_tally_find(code, loop, taken, &it.tally));
    it.counts = timed && it.induction.reg == AS_PATCH_NONE && it.tally == AS_PATCH_NONE;
    struct as_patch_loop planned = {.header = p->block[p->loop[loop].header].start,
                                    .step = it.induction.step,
                                    .number = loop,
                                    .region = (uint32_t)m->region.n,
                                    .induction = it.induction.reg,
                                    .induction_b = it.induction.width_b,
                                    .tally = it.tally,
                                    .counter = it.counts ? (uint32_t)m->counter.n : UINT32_MAX};
    if (it.counts)
        AS_TRY(
            as_vec_push(&m->counter, (struct as_patch_counter){planned.header, (uint32_t)m->loop.n,
                                                               (uint32_t)m->module.n - 1}));
    AS_TRY(as_vec_push(&m->loop, planned));
    return as_vec_push(&inners->at, it);
}

/* The region's loop, then those asked for in it: numbers of loops ascend from outer to inner. */
static int add_loops(struct as_patch_maker *m, struct as_patch_code *code, uint32_t loop,
                     struct inners *inners)
{
    const struct assay_program *p = code->program;
    const struct assay_body *body = &p->body[p->loop[loop].body];
    AS_TRY(add_loop(m, code, loop, inners));
    for (uint32_t l = loop + 1; l < body->first_loop + body->loops; l++) {
        if (code->wanted && !code->wanted[l])
            continue;
        if (is_inside(p, loop, l) &&
            !(p->loop[l].bits & (ASSAY_LOOP_IRREDUCIBLE | ASSAY_LOOP_UNREACHED)))
            AS_TRY(add_loop(m, code, l, inners));
    }
    return 0;
}

static int copy_original(const struct assay_program *p, uint64_t address, uint8_t out[8])
{
    uint64_t have_b;
    const uint8_t *bytes = assay_object_bytes(p->object, address, &have_b);
    if (!bytes || have_b < 8)
        return -1;
    memcpy(out, bytes, 8);
    return 0;
}

/* Exits of the region's loops, those of one together. */
static int add_exits(struct as_patch_maker *m, size_t first_loop)
{
    for (size_t l = first_loop; l < m->loop.n; l++) {
        m->loop.at[l].first_exit = (uint32_t)m->exit.n;
        as_vec_foreach (&m->pending, it)
            if (it->loop == l)
                AS_TRY(as_vec_push(&m->exit, it->exit));
    }
    return 0;
}

struct offsets {
    uint32_t *plain, *measured; /* per place of the area */
};

static int add_sites(struct as_patch_maker *m, const struct as_patch_area *area,
                     const struct offsets *at, unsigned *refusal)
{
    for (size_t i = 1; i < area->place.n; i++) {
        struct as_patch_site site = {.address = area->place.at[i].address,
                                     .plain = at->plain[i],
                                     .measured = at->measured[i]};
        if (copy_original(area->code->program, site.address, site.original) < 0)
            *refusal = area->place.at[i].why;
        AS_TRY(as_vec_push(&m->site, site));
    }
    return 0;
}

static int clone_both(struct as_patch_maker *m, const struct as_patch_area *area,
                      const struct inners *inners, struct as_patch_region *region,
                      const struct offsets *at, unsigned *refusal)
{
    struct as_patch_clone clone = {
        m, area, inners->at.at, (uint32_t)inners->at.n, (uint32_t)m->region.n, false};
    if (m->wish.mode == AS_PATCH_IDENT || m->wish.mode == AS_PATCH_SAMPLE)
        AS_TRY(as_patch_clone_make(&clone, &region->plain, at->plain, refusal));
    clone.measured = true;
    if (!*refusal && m->wish.mode != AS_PATCH_IDENT)
        AS_TRY(as_patch_clone_make(&clone, &region->measured, at->measured, refusal));
    return 0;
}

static int add_region(struct as_patch_maker *m, const struct as_patch_area *area,
                      struct inners *inners, const struct offsets *at, unsigned *refusal)
{
    const struct assay_program *p = area->code->program;
    struct as_patch_region region = {.header = area->place.at[0].address,
                                     .module = (uint32_t)m->module.n - 1,
                                     .first_loop = (uint32_t)m->loop.n,
                                     .first_edge = (uint32_t)m->edge.n,
                                     .first_site = (uint32_t)m->site.n};
    m->pending.n = 0;
    AS_TRY(add_loops(m, area->code, area->loop, inners));
    AS_TRY(as_live_find(area->code, p->loop[area->loop].body));
    if (!(as_live_at(area->code, p->loop[area->loop].header) & AS_LIVE_STATUS))
        region.flags |= AS_PATCH_STATUS_FREE;
    AS_TRY(clone_both(m, area, inners, &region, at, refusal));
    if (copy_original(p, region.header, region.original) < 0)
        *refusal = AS_PATCH_REFUSED_NARROW;
    if (*refusal)
        return 0;
    AS_TRY(add_exits(m, region.first_loop));
    AS_TRY(add_sites(m, area, at, refusal));
    region.loops = (uint32_t)m->loop.n - region.first_loop;
    region.edges = (uint32_t)m->edge.n - region.first_edge;
    region.sites = (uint32_t)m->site.n - region.first_site;
    return as_vec_push(&m->region, region);
}

static int try_area(struct as_patch_maker *m, struct as_patch_area *area, struct inners *inners,
                    unsigned *refusal)
{
    const size_t n = area->place.n + 1;
    struct offsets at = {as_calloc(n, sizeof(uint32_t)), as_calloc(n, sizeof(uint32_t))};
    int rc = at.plain && at.measured ? add_region(m, area, inners, &at, refusal) : ASSAY_ERR_NOMEM;
    as_free(at.plain);
    as_free(at.measured);
    return rc;
}

/* Plans `loop` as a region of its own; verdicts of it, and when planned of the loops in it. */
static int try_region(struct as_patch_maker *m, struct as_patch_code *code, uint32_t loop,
                      struct as_patch_verdict *verdict)
{
    struct as_patch_area area;
    struct inners inners = {0};
    const struct mark before = mark_of(m);
    unsigned refusal = 0;
    int rc = as_patch_area_make(code, loop, m->wish.mode, &area, &refusal);
    if (rc == 0 && !refusal)
        rc = try_area(m, &area, &inners, &refusal);
    verdict[loop].refusal = (uint8_t)refusal;
    if (refusal || rc < 0)
        go_back(m, &before);
    else
        as_vec_foreach (&inners.at, it)
            verdict[it->loop] = (struct as_patch_verdict){.asked = true,
                                                          .loop = it->number,
                                                          .induction = it->induction.reg,
                                                          .tally = it->tally,
                                                          .counts = it->counts};
    as_vec_fini(&inners.at);
    as_patch_area_fini(&area);
    return rc;
}

/* ---- One module ----------------------------------------------------------------------------- */

static int code_init(struct as_patch_code *code, const struct assay_program *p, const bool *wanted)
{
    struct as_sort_key *key = as_calloc(p->block_n + 1, sizeof *key);
    *code = (struct as_patch_code){.program = p, .wanted = wanted, .live_body = ASSAY_NONE};
    code->by_start = as_calloc(p->block_n + 1, sizeof *code->by_start);
    code->header_of = as_calloc(p->block_n + 1, sizeof *code->header_of);
    int rc = key && code->by_start && code->header_of ? 0 : ASSAY_ERR_NOMEM;
    for (uint32_t b = 0; rc == 0 && b < p->block_n; b++) {
        key[b] = (struct as_sort_key){p->block[b].start, b};
        code->header_of[b] = ASSAY_NONE;
    }
    if (rc == 0)
        rc = as_sort_keys(key, p->block_n);
    for (size_t b = 0; rc == 0 && b < p->block_n; b++)
        code->by_start[b] = key[b].at;
    for (uint32_t l = 0; rc == 0 && l < p->loop_n; l++)
        code->header_of[p->loop[l].header] = l;
    as_free(key);
    return rc;
}

static void code_fini(struct as_patch_code *code)
{
    as_free(code->by_start);
    as_free(code->header_of);
    as_free(code->live);
}

static int add_module(struct as_patch_maker *m, const struct assay_program *p)
{
    const struct assay_object_info *info = assay_object_info(p->object);
    const struct assay_segment *segment;
    struct as_patch_module module = {
        .path = m->text.n, .low = UINT64_MAX, .first_region = (uint32_t)m->region.n};
    const size_t n = assay_object_segments(p->object, &segment), path_b = strlen(info->path) + 1;
    for (size_t i = 0; i < n; i++) {
        if (segment[i].type != 1) /* PT_LOAD */
            continue;
        if (segment[i].address < module.low)
            module.low = segment[i].address;
        if (segment[i].address + segment[i].size_b > module.high)
            module.high = segment[i].address + segment[i].size_b;
    }
    module.build_id_b = info->build_id_b <= sizeof module.build_id ? (uint32_t)info->build_id_b : 0;
    memcpy(module.build_id, info->build_id, module.build_id_b);
    AS_TRY(as_vec_reserve(&m->text, m->text.n + path_b));
    memcpy(m->text.at + m->text.n, info->path, path_b);
    m->text.n += path_b;
    return as_vec_push(&m->module, module);
}

/* What is said of all loops of a file. */
static unsigned file_refusal(const struct assay_program *p)
{
    const char *soname = assay_object_info(p->object)->soname;
    const struct assay_section *section;
    const struct assay_segment *segment;
    size_t n = assay_object_sections(p->object, &section);
    /* The loader runs before there is anything that a clone could use. */
    if (soname && strncmp(soname, "ld-linux", 8) == 0)
        return AS_PATCH_REFUSED_LOADER;
    for (size_t i = 0; i < n; i++)
        if (strcmp(section[i].name, "__rseq_cs") == 0)
            return AS_PATCH_REFUSED_RESTARTED;
    n = assay_object_segments(p->object, &segment);
    for (size_t i = 0; i < n; i++)
        if (segment[i].type == 1 && segment[i].exec && segment[i].write)
            return AS_PATCH_REFUSED_WRITABLE;
    return 0;
}

static int plan_loops(struct as_patch_maker *m, struct as_patch_code *code,
                      struct as_patch_verdict *verdict)
{
    const struct assay_program *p = code->program;
    const unsigned refusal = file_refusal(p);
    for (uint32_t l = 0; l < p->loop_n; l++) {
        if ((code->wanted && !code->wanted[l]) || verdict[l].asked)
            continue;
        verdict[l] = (struct as_patch_verdict){
            .asked = true, .loop = ASSAY_NONE, .induction = AS_PATCH_NONE, .tally = AS_PATCH_NONE};
        verdict[l].refusal = (uint8_t)refusal;
        if (!refusal)
            AS_TRY(try_region(m, code, l, verdict));
    }
    return 0;
}

int as_patch_maker_add(struct as_patch_maker *maker, const struct assay_program *program,
                       const bool *wanted, struct as_patch_verdict *verdict,
                       struct assay_error *err)
{
    struct as_patch_code code;
    memset(verdict, 0, program->loop_n * sizeof *verdict);
    int rc = code_init(&code, program, wanted);
    if (rc == 0)
        rc = add_module(maker, program);
    if (rc == 0)
        rc = plan_loops(maker, &code, verdict);
    if (rc == 0)
        maker->module.at[maker->module.n - 1].regions =
            (uint32_t)maker->region.n - maker->module.at[maker->module.n - 1].first_region;
    code_fini(&code);
    return rc < 0 ? as_error_nomem(err, "the plan") : 0;
}
