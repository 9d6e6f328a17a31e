/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows pointers through the instructions of a body. The values of registers at the start of each
 * block are sums of pointers (base_values.c). DWARF shows the pointer variable, or the address of a
 * variable, that a register holds (base_places.c). Paths that merge keep common values. If a value
 * turns out to be a pointer, all blocks are walked again, because sums leave numbers out. Source:
 * Kildall, "A unified approach to global program optimization", POPL 1973.
 */
#include "code/bases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/search.h"
#include "code/base_values.h"
#include "isa/form.h"

#define INSNS_MOST  30000
#define BLOCKS_MOST 4000
#define ROUNDS_MOST 8
#define VISITS_MOST 64 /* of a block in a round */

static const struct as_base_value unknown_value = {.unknown = true};

/* ---- Blocks ---------------------------------------------------------------------------------- */

void as_base_run_block(struct as_bases *b, uint32_t block, uint32_t until,
                       struct as_base_state *state)
{
    const struct as_program *p = b->program;
    const struct as_block *at = &p->block[p->body[b->body].first_block + block];

    for (uint32_t i = at->first_insn; i < at->first_insn + at->insns; i++) {
        struct as_base_step s = {b, state, block, i, &p->code.insn[i], NULL};
        s.form = as_form_of(s.at);
        as_base_places_apply(b, block, s.at->address, state);
        if (i == until)
            return;
        as_base_step_run(&s);
    }
}

static void start_state(struct as_base_state *state)
{
    state->reached = true;
    for (unsigned i = 0; i < AS_BASE_LOCATIONS; i++)
        state->at[i] = i < AS_BASE_REGISTERS ? as_base_value_root(i) : unknown_value;
}

static bool merge_base_state(struct as_bases *b, uint32_t block, const struct as_base_state *from)
{
    struct as_base_state *into = &b->in[block];
    const uint32_t number = b->program->body[b->body].first_block + block;
    bool changed = false;

    if (!into->reached) {
        *into = *from;
        return true;
    }
    for (unsigned i = 0; i < AS_BASE_REGISTERS + b->words; i++)
        changed |= as_base_merge(b, &into->at[i], &from->at[i], as_base_root_meeting(b, number, i));
    return changed;
}

/* Walks all blocks once until nothing changes. Returns false if a block needs too many visits. */
static bool run_round(struct as_bases *b, uint32_t *queue, uint8_t *visits, bool *waits)
{
    const struct as_program *p = b->program;
    const struct as_body *body = &p->body[b->body];
    struct as_base_state state;
    uint32_t from = 0, n = 0;

    memset(visits, 0, body->blocks);
    for (uint32_t i = 0; i < body->blocks; i++) {
        const struct as_block *block = &p->block[body->first_block + i];
        b->in[i].reached = false;
        waits[i] = false;
        if (!(block->bits & (AS_BLOCK_ENTRY | AS_BLOCK_SECOND | AS_BLOCK_LANDING)) && block->preds)
            continue;
        start_state(&b->in[i]);
        if (!(block->bits & AS_BLOCK_ENTRY))
            for (unsigned k = 0; k < AS_BASE_REGISTERS; k++)
                b->in[i].at[k] = unknown_value;
        waits[i] = true;
        queue[n++ % body->blocks] = i;
    }
    while (from < n && !b->failed) {
        const uint32_t at = queue[from++ % body->blocks];
        const struct as_block *block = &p->block[body->first_block + at];
        waits[at] = false;
        if (visits[at]++ == VISITS_MOST)
            return false;
        state = b->in[at];
        as_base_run_block(b, at, AS_NONE, &state);
        for (uint32_t e = 0; e < block->succs; e++) {
            const uint32_t to = p->succ[block->first_succ + e].block - body->first_block;
            if (to >= body->blocks || !merge_base_state(b, to, &state) || waits[to])
                continue;
            waits[to] = true;
            queue[n++ % body->blocks] = to;
        }
    }
    return true;
}

/* Finds the words of the frame with an address that the code takes. */
static void find_escaped(struct as_bases *b)
{
    b->escaped_b = INT64_MAX;
    for (uint32_t i = 0; i < b->insns; i++) {
        const struct as_insn *at = &b->program->code.insn[b->first_insn + i];
        const struct as_form *form = as_form_of(at);
        const bool copies = form->insn_class == AS_CLASS_MOVE && form->operands == 2 &&
                            form->operand[1].kind == AS_OPERAND_REG &&
                            at->reg[form->operand[1].slot] == AS_BASE_SP;
        int64_t offset_b;
        if (copies && form->operand[0].kind == AS_OPERAND_REG && at->reg[0] == AS_BASE_BP)
            continue;
        if (copies)
            b->escaped_b = INT64_MIN;
        if (form->insn_class != AS_CLASS_LEA ||
            (at->base != AS_BASE_SP && at->base != AS_BASE_BP) || at->reg[0] == AS_BASE_SP)
            continue;
        if (!as_base_frame_offset(b, at->address, at->base, at->disp, &offset_b)) {
            if (at->base == AS_BASE_SP &&
                as_base_frame_offset(b, at->address, AS_BASE_BP, 0, &offset_b) &&
                offset_b < AS_BASE_ALIGNED_MOST)
                b->escaped_b = INT64_MIN; /* the address is somewhere in an aligned frame */
            continue;
        }
        b->escaped_b = offset_b < b->escaped_b ? offset_b : b->escaped_b;
    }
}

static bool is_system_scope(const struct as_bases *b, uint32_t scope)
{
    const uint32_t file = b->variables.scope[scope].file;

    return file < b->program->debug.file_n && as_source_is_system(b->program->debug.file[file]);
}

static int make_tables(struct as_bases *b)
{
    const struct as_body *body = &b->program->body[b->body];

    b->is_system = as_arena_array(&b->arena, bool, b->variables.scope_n + 1);
    b->root = as_arena_array(&b->arena, struct as_base_root, as_base_roots(b) + 1);
    b->in = as_arena_array(&b->arena, struct as_base_state, body->blocks);
    if (!b->is_system || !b->root || !b->in)
        return AS_ERR_NOMEM;
    for (uint32_t i = 0; i < b->variables.scope_n; i++)
        b->is_system[i] = is_system_scope(b, i);
    for (size_t i = 0; i < as_base_roots(b); i++)
        b->root[i].object = AS_NONE;
    return as_base_places_list(b);
}

/* Runs rounds until no root turns into a pointer. Sets `*good` to false if a limit ended the
 * analysis. Returns 0 or AS_ERR_NOMEM. */
static int run_rounds(struct as_bases *b, bool *good)
{
    const struct as_body *body = &b->program->body[b->body];
    uint32_t *queue = as_arena_array(&b->arena, uint32_t, body->blocks);
    uint8_t *visits = as_arena_array(&b->arena, uint8_t, body->blocks);
    bool *waits = as_arena_array(&b->arena, bool, body->blocks);

    *good = false;
    if (!queue || !visits || !waits)
        return AS_ERR_NOMEM;
    find_escaped(b);
    for (unsigned round = 0; round < ROUNDS_MOST; round++) {
        b->changed = false;
        if (!run_round(b, queue, visits, waits) || b->failed)
            return b->failed ? AS_ERR_NOMEM : 0;
        if (!b->changed) {
            *good = true;
            return 0;
        }
    }
    return 0;
}

/* ---- Interface ------------------------------------------------------------------------------- */

/* Finds the range of instructions of the body. They are adjacent except for cold parts. Returns
 * false if the body has none or exceeds a limit. */
static bool list_insns(struct as_bases *b)
{
    const struct as_program *p = b->program;
    const struct as_body *body = &p->body[b->body];
    uint32_t low = AS_NONE, high = 0;

    for (uint32_t i = 0; i < body->blocks; i++) {
        const struct as_block *block = &p->block[body->first_block + i];
        low = block->first_insn < low ? block->first_insn : low;
        high = block->first_insn + block->insns > high ? block->first_insn + block->insns : high;
    }
    b->first_insn = low;
    b->insns = high > low ? high - low : 0;
    return body->blocks && body->blocks <= BLOCKS_MOST && b->insns && b->insns <= INSNS_MOST;
}

static int make_bases(struct as_bases *b, bool *good, struct as_error *err)
{
    const struct as_code *code = &b->program->code;
    const struct as_insn *last;

    *good = false;
    if (!b->program->object || !list_insns(b))
        return 0;
    last = &code->insn[b->first_insn + b->insns - 1];
    AS_TRY(as_object_variables(b->program->object, b->program->body[b->body].entry,
                               last->address + last->length, &b->variables, err));
    if (!b->variables.place_n)
        return 0;
    int rc = make_tables(b);
    if (rc == 0)
        rc = run_rounds(b, good);
    return rc < 0 ? as_error_nomem(err, "the names of operands") : 0;
}

int as_bases_new(const struct as_program *program, uint32_t body, struct as_bases **out,
                 struct as_error *err)
{
    bool good = false;

    *out = as_calloc(1, sizeof **out);
    if (!*out)
        return as_error_nomem(err, "the names of operands");
    (*out)->program = program;
    (*out)->body = body;
    as_arena_init(&(*out)->arena);
    const int rc = make_bases(*out, &good, err);
    if (rc < 0 || !good)
        as_bases_free(out);
    return rc;
}

void as_bases_free(struct as_bases **bases)
{
    struct as_bases *b = *bases;

    if (!b)
        return;
    as_data_variables_free(&b->variables);
    as_vec_fini(&b->object);
    as_arena_fini(&b->arena);
    as_free(b);
    *bases = NULL;
}

/* ---- Names ----------------------------------------------------------------------------------- */

const char *as_base_plain_text(const char *text)
{
    if (strncmp(text, "__", 2) == 0) /* a name from a macro */
        return NULL;
    if (strncmp(text, "this", 4) != 0)
        return text;
    return text[4] == 0 ? NULL : strncmp(text + 4, "->", 2) == 0 ? text + 6 : text;
}

static bool is_visible(const struct as_bases *b, const struct as_base_object *object, uint64_t pc)
{
    return object->scope == AS_NONE || as_scope_holds(&b->variables, object->scope, pc);
}

static uint32_t depth_of(const struct as_bases *b, const struct as_base_object *object)
{
    return object->scope == AS_NONE ? 0 : 1 + b->variables.scope[object->scope].depth;
}

/* Returns the innermost visible variable of the tags. Returns NULL if there is none, or if two have
 * the same scope. */
static const struct as_base_object *choose_object(const struct as_bases *b,
                                                  const struct as_base_value *value, uint64_t pc)
{
    const struct as_base_object *best = NULL;
    bool ambiguous = false;

    for (unsigned i = 0; i < value->tags; i++) {
        const struct as_base_object *it = &b->object.at[value->tag[i].object];
        if (it->loose || !is_visible(b, it, pc) || !as_base_plain_text(it->text))
            continue;
        if (!best || depth_of(b, it) > depth_of(b, best)) {
            best = it;
            ambiguous = false;
        } else if (depth_of(b, it) == depth_of(b, best)) {
            ambiguous = true;
        }
    }
    return ambiguous ? NULL : best;
}

uint32_t as_base_block_of(const struct as_bases *b, uint32_t insn)
{
    const struct as_program *p = b->program;
    const struct as_body *body = &p->body[b->body];
    uint32_t block = 0;

    while (block < body->blocks && insn - p->block[body->first_block + block].first_insn >=
                                       p->block[body->first_block + block].insns)
        block++;
    return block < body->blocks ? block : AS_NONE;
}

bool as_bases_name(const struct as_bases *bases, uint32_t insn, unsigned operand,
                   struct as_base_name *out)
{
    const struct as_program *p = bases->program;
    const uint32_t block = as_base_block_of(bases, insn);
    struct as_memory memory[2];

    if (block == AS_NONE || !bases->in[block].reached ||
        as_insn_memory(&p->code, &p->code.insn[insn], memory) <= (int)operand)
        return false;
    struct as_base_state state = bases->in[block];
    struct as_bases *b = (struct as_bases *)bases; /* this walk makes no new objects */
    as_base_run_block(b, block, insn, &state);
    struct as_base_step s = {b, &state, block, insn, &p->code.insn[insn], NULL};
    s.form = as_form_of(s.at);
    const struct as_base_value address = as_base_step_address(&s, &memory[operand]);
    const struct as_base_object *object = choose_object(bases, &address, s.at->address);
    if (!object)
        return false;
    *out = (struct as_base_name){.type = object->type, .through = object->through};
    const char *text = as_base_plain_text(object->text);
    return (size_t)snprintf(out->text, sizeof out->text, "%s", text) < sizeof out->text;
}
