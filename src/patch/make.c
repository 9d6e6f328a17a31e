/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans the loops of a module. It chooses regions from outer to inner loops and makes their clones.
 * Each loop gets a verdict: its number in the plan, or the reason why it is not there.
 */
#include "patch/internal.h"

#include <string.h>

#include "base/sort.h"
#include "patch/variant.h"

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
                       struct as_error *err)
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
    as_vec_fini(&m->term);
    as_vec_fini(&m->variant);
    as_vec_fini(&m->stream);
    as_vec_fini(&m->code);
    as_vec_fini(&m->text);
    as_address_plan_fini(&m->addresses);
    as_free(m);
    *maker = NULL;
}

/* ---- Larger regions ------------------------------------------------------------------------- */

/* State of a loop as a region. */
enum { LARGER_REFUSED = 1, LARGER_CARRIES = 2, LARGER_PLANNED = 4 };

/* The loops of one body. The element after the last loop is the body itself. */
struct nest_plan {
    struct as_patch_code *code;
    struct as_patch_verdict *verdict;
    uint32_t body, first, end;
    uint8_t *state; /* by loop number minus `first` */
};

static uint32_t around(const struct nest_plan *n, uint32_t loop)
{
    const uint32_t parent = n->code->program->loop[loop].parent;
    return parent == AS_NONE ? n->end : parent;
}

static int try_in_nest(struct as_patch_maker *m, const struct nest_plan *n, uint32_t loop,
                       struct as_patch_verdict *verdict, unsigned *refusal)
{
    return as_patch_region_try(m, n->code, n->body, loop == n->end ? AS_NONE : loop, verdict,
                               refusal);
}

static bool is_in_planned(const struct nest_plan *n, uint32_t loop)
{
    while (loop != n->end && !(n->state[loop - n->first] & LARGER_PLANNED))
        loop = around(n, loop);
    return n->state[loop - n->first] & LARGER_PLANNED;
}

static bool holds_planned(const struct nest_plan *n, uint32_t loop)
{
    for (uint32_t l = loop + 1; l < n->end; l++) {
        uint32_t at = l;
        while (at != n->end && at != loop)
            at = around(n, at);
        if (at == loop && n->state[l - n->first] & LARGER_PLANNED)
            return true;
    }
    return false;
}

/* VARY: plans one loop of each nest; its inner loops vary with it. `nests` plans outer loops before
 * inner ones, else inner loops come first. */
static int plan_variants(struct as_patch_maker *m, const struct nest_plan *n)
{
    for (uint32_t k = 0; k < n->end - n->first; k++) {
        const uint32_t l = n->code->nests ? n->first + k : n->end - 1 - k;
        const struct as_patch_mark before = as_patch_mark_of(m);
        const struct as_patch_verdict asked = n->verdict[l];
        unsigned refusal = 0;
        if (!as_patch_is_wanted(n->code, l))
            continue;
        AS_TRY(try_in_nest(m, n, l, n->verdict, &refusal));
        if (!refusal && (is_in_planned(n, l) || holds_planned(n, l))) {
            as_patch_go_back(m, &before);
            n->verdict[l] = asked;
            memset(n->verdict[l].unvaried, AS_UNVARIED_NESTED, sizeof n->verdict[l].unvaried);
            refusal = AS_PATCH_REFUSED_VARIANTS;
        }
        n->verdict[l].refusal = (uint8_t)refusal;
        n->state[l - n->first] |= refusal ? LARGER_REFUSED : LARGER_PLANNED;
    }
    return 0;
}

/* Plans regions from outer to inner: wanted loops and carriers of others. */
static int plan_nest(struct as_patch_maker *m, struct nest_plan *n)
{
    unsigned refusal;
    if (n->state[n->end - n->first] & LARGER_CARRIES) {
        n->state[n->end - n->first] |= LARGER_PLANNED;
        AS_TRY(try_in_nest(m, n, n->end, n->verdict, &refusal));
    }
    for (uint32_t l = n->first; l < n->end; l++) {
        const bool carries = n->state[l - n->first] & LARGER_CARRIES;
        const bool waits = as_patch_is_wanted(n->code, l) && n->verdict[l].loop == AS_NONE;
        if (!waits && (!carries || is_in_planned(n, l)))
            continue;
        AS_TRY(try_in_nest(m, n, l, n->verdict, &refusal));
        if (!carries)
            n->verdict[l].refusal = (uint8_t)refusal;
        n->state[l - n->first] |= refusal ? LARGER_REFUSED : LARGER_PLANNED;
    }
    return 0;
}

/* Finds the smallest loop around a refused loop, or the body, that can be a region. It was not
 * asked for. A jump that would overwrite a block after the refused loop may fit in the larger
 * region. */
static int find_carrier(struct as_patch_maker *m, struct nest_plan *n, uint32_t loop, bool *any)
{
    const struct as_patch_mark before = as_patch_mark_of(m);
    unsigned refusal;
    if (n->code->program->loop[loop].bits & AS_LOOP_UNREACHED)
        return 0; /* it is never measured */
    while (loop != n->end) {
        loop = around(n, loop);
        uint8_t *state = &n->state[loop - n->first];
        if (!(*state & (LARGER_REFUSED | LARGER_CARRIES))) {
            AS_TRY(try_in_nest(m, n, loop, NULL, &refusal));
            *state |= refusal ? LARGER_REFUSED : LARGER_CARRIES;
            as_patch_go_back(m, &before);
        }
        if (*state & LARGER_CARRIES) {
            *any = true;
            return 0;
        }
    }
    return 0;
}

static void begin_nest(struct nest_plan *n)
{
    for (uint32_t l = n->first; l < n->end; l++) {
        n->state[l - n->first] &= (uint8_t)~LARGER_PLANNED;
        if (as_patch_is_wanted(n->code, l))
            n->verdict[l] = (struct as_patch_verdict){
                .asked = true, .loop = AS_NONE, .induction = AS_PATCH_NONE, .tally = AS_PATCH_NONE};
    }
}

static int plan_nests(struct as_patch_maker *m, struct nest_plan *n)
{
    const struct as_patch_mark before = as_patch_mark_of(m);
    bool any = false;
    begin_nest(n);
    if (n->code->varies)
        return plan_variants(m, n);
    AS_TRY(plan_nest(m, n));
    for (uint32_t l = n->first; l < n->end; l++)
        if (as_patch_is_wanted(n->code, l) && n->verdict[l].refusal)
            AS_TRY(find_carrier(m, n, l, &any));
    if (!any)
        return 0;
    as_patch_go_back(m, &before);
    begin_nest(n);
    return plan_nest(m, n);
}

/* ---- One module ----------------------------------------------------------------------------- */

static int code_init(struct as_patch_code *code, const struct as_program *p, const bool *wanted)
{
    struct as_sort_key *key = as_calloc(p->block_n + 1, sizeof *key);
    *code = (struct as_patch_code){.program = p, .wanted = wanted, .live_body = AS_NONE};
    code->by_start = as_calloc(p->block_n + 1, sizeof *code->by_start);
    int rc = key && code->by_start ? 0 : AS_ERR_NOMEM;
    for (uint32_t b = 0; rc == 0 && b < p->block_n; b++) {
        key[b] = (struct as_sort_key){p->block[b].start, b};
    }
    if (rc == 0)
        rc = as_sort_keys(key, p->block_n);
    for (size_t b = 0; rc == 0 && b < p->block_n; b++)
        code->by_start[b] = key[b].at;
    as_free(key);
    return rc;
}

static void code_fini(struct as_patch_code *code)
{
    as_free(code->by_start);
    as_free(code->live);
}

static int add_module(struct as_patch_maker *m, const struct as_program *p)
{
    const struct as_object_info *info = as_object_info(p->object);
    const struct as_segment *segment;
    struct as_patch_module module = {
        .path = m->text.n, .low = UINT64_MAX, .first_region = (uint32_t)m->region.n};
    const size_t n = as_object_segments(p->object, &segment), path_b = strlen(info->path) + 1;
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

/* Returns the refusal that applies to all loops of a file, or 0. */
static unsigned file_refusal(const struct as_program *p)
{
    const char *soname = as_object_info(p->object)->soname;
    const struct as_section *section;
    const struct as_segment *segment;
    size_t n = as_object_sections(p->object, &section);
    /* The loader runs before a clone has its environment. */
    if (soname && strncmp(soname, "ld-linux", 8) == 0)
        return AS_PATCH_REFUSED_LOADER;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(section[i].name, "__rseq_cs") == 0)
            return AS_PATCH_REFUSED_RESTARTED;
        /* Go turns faults into panics, moves stacks, and stops threads by signals at addresses of
         * its tables. The tables do not contain clones. */
        if (strstr(section[i].name, ".gopclntab"))
            return AS_PATCH_REFUSED_GO;
    }
    n = as_object_segments(p->object, &segment);
    for (size_t i = 0; i < n; i++)
        if (segment[i].type == 1 && segment[i].exec && segment[i].write)
            return AS_PATCH_REFUSED_WRITABLE;
    return 0;
}

static int plan_body_loops(struct as_patch_maker *m, struct as_patch_code *code, uint32_t body,
                           struct as_patch_verdict *verdict)
{
    const struct as_body *b = &code->program->body[body];
    struct nest_plan n = {.code = code,
                          .verdict = verdict,
                          .body = body,
                          .first = b->first_loop,
                          .end = b->first_loop + b->loops,
                          .state = as_calloc((size_t)b->loops + 1, 1)};
    const int rc = n.state ? plan_nests(m, &n) : AS_ERR_NOMEM;
    as_free(n.state);
    return rc;
}

static int plan_loops(struct as_patch_maker *m, struct as_patch_code *code,
                      struct as_patch_verdict *verdict)
{
    const struct as_program *p = code->program;
    const unsigned refusal = file_refusal(p);
    for (uint32_t l = 0; l < p->loop_n; l++) {
        if (!as_patch_is_wanted(code, l) || verdict[l].asked)
            continue;
        if (!refusal)
            AS_TRY(plan_body_loops(m, code, p->loop[l].body, verdict));
        else
            verdict[l] = (struct as_patch_verdict){.asked = true,
                                                   .refusal = (uint8_t)refusal,
                                                   .loop = AS_NONE,
                                                   .induction = AS_PATCH_NONE,
                                                   .tally = AS_PATCH_NONE};
    }
    return 0;
}

/* Plans bodies that are wanted as a whole. Their loops need no region of their own. */
static int plan_bodies(struct as_patch_maker *m, struct as_patch_code *code,
                       const struct as_patch_bodies *bodies, struct as_patch_verdict *verdict)
{
    const struct as_program *p = code->program;
    const unsigned of_file = file_refusal(p);
    for (uint32_t b = 0; b < p->body_n; b++) {
        unsigned refusal = of_file;
        if (!bodies->wanted[b])
            continue;
        if (!refusal)
            AS_TRY(as_patch_region_try(m, code, b, AS_NONE, NULL, &refusal));
        bodies->refusal[b] = (uint8_t)refusal;
        for (uint32_t l = p->body[b].first_loop;
             !refusal && l < p->body[b].first_loop + p->body[b].loops; l++)
            verdict[l] = (struct as_patch_verdict){
                .asked = true, .loop = AS_NONE, .induction = AS_PATCH_NONE, .tally = AS_PATCH_NONE};
    }
    return 0;
}

void as_patch_maker_addresses(struct as_patch_maker *maker, struct as_address_plan *out)
{
    *out = maker->addresses;
    maker->addresses = (struct as_address_plan){.missed = {.n = 0}};
}

int as_patch_maker_text(struct as_patch_maker *maker, const char *text, uint64_t *at,
                        struct as_error *err)
{
    const size_t text_b = strlen(text) + 1;
    *at = maker->text.n;
    if (as_vec_reserve(&maker->text, maker->text.n + text_b) < 0)
        return as_error_nomem(err, "the plan");
    memcpy(maker->text.at + maker->text.n, text, text_b);
    maker->text.n += text_b;
    return 0;
}

int as_patch_maker_add(struct as_patch_maker *maker, const struct as_program *program,
                       const bool *wanted, struct as_patch_verdict *verdict, struct as_error *err)
{
    return as_patch_maker_add_bodies(maker, program, NULL, wanted, verdict, err);
}

int as_patch_maker_add_bodies(struct as_patch_maker *maker, const struct as_program *program,
                              const struct as_patch_bodies *bodies, const bool *wanted,
                              struct as_patch_verdict *verdict, struct as_error *err)
{
    struct as_patch_code code;
    memset(verdict, 0, program->loop_n * sizeof *verdict);
    int rc = code_init(&code, program, wanted);
    if (rc == 0)
        rc = add_module(maker, program);
    code.bare = true;
    code.counts = maker->wish.mode == AS_PATCH_COUNT;
    code.points = maker->wish.points;
    code.varies = maker->wish.mode == AS_PATCH_VARY;
    code.nests = maker->wish.nests;
    if (rc == 0 && bodies)
        rc = plan_bodies(maker, &code, bodies, verdict);
    code.bare = false;
    if (rc == 0)
        rc = plan_loops(maker, &code, verdict);
    if (rc == 0)
        maker->module.at[maker->module.n - 1].regions =
            (uint32_t)maker->region.n - maker->module.at[maker->module.n - 1].first_region;
    code_fini(&code);
    return rc < 0 ? as_error_nomem(err, "the plan") : 0;
}
