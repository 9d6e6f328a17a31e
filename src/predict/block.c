/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns a block into a list of operations: the cost of each instruction by the table, fused pairs,
 * and the operations of the loop's end.
 */
#include <string.h>

#include "base/error.h"
#include "predict/internal.h"

/* ---- Costs --------------------------------------------------------------------------------- */

static uint32_t variant_of(const struct as_insn *insn, const struct as_form *form)
{
    uint32_t variant = (uint32_t)insn->form << 8;
    if (insn->bits & AS_INSN_IDIOM)
        variant |= 1;
    if (insn->index != AS_REG_NONE)
        variant |= 2;
    if (form->insn_class == AS_CLASS_LEA)
        variant |= (insn->base != AS_REG_NONE ? 4u : 0) | (insn->scale > 1 ? 8u : 0) |
                   (insn->disp || insn->wrap ? 16u : 0) | (insn->base == AS_REG_IP ? 32u : 0);
    return variant;
}

static const struct as_known_form *known_form(struct as_predictor *p, const struct as_insn *insn,
                                              const struct as_form *form)
{
    const uint32_t key = variant_of(insn, form);
    const uint64_t hash = as_hash_mix(1, key);
    struct as_probe probe = as_index_probe(&p->known_index, hash);
    for (uint32_t row; (row = as_index_next(&p->known_index, &probe)) != AS_INDEX_NONE;)
        if (p->known.at[row].key == key)
            return &p->known.at[row];
    enum as_timing_match match;
    const struct as_core_timing *timing = as_uarch_timing(p->uarch, insn, &match);
    const struct as_known_form made = {key, timing, (uint8_t)match};
    if (as_vec_push(&p->known, made) < 0 ||
        as_index_add(&p->known_index, hash, (uint32_t)p->known.n - 1) < 0)
        return NULL;
    return &p->known.at[p->known.n - 1];
}

/* Returns true if operations of this group wait for the address alone. The names of groups show
 * this (doc/reference/uarch.md). */
static bool waits_for_address(const struct as_uarch *uarch, unsigned group)
{
    const char *name = uarch->group[group].name;
    return strncmp(name, "AGU", 3) == 0 || strncmp(name, "LD", 2) == 0 ||
           strncmp(name, "STA", 3) == 0;
}

static void set_op_timing(struct as_predictor *p, struct as_op *op,
                          const struct as_core_timing *timing)
{
    op->timing = timing;
    op->flags = timing->flags;
    op->bypass = timing->bypass;
    op->slots = timing->slots;
    op->latency = timing->latency < 0 ? 0 : timing->latency;
    op->worst = timing->worst < 0 ? op->latency : timing->worst;
    p->block.varies |= op->worst > op->latency;
    if (p->block.worst)
        op->latency = op->worst;
    op->own = timing->own;
    for (unsigned i = 0; i < timing->use_n; i++)
        op->use[op->use_n++] =
            (struct as_op_use){.group = timing->use[i].group,
                               .address = waits_for_address(p->uarch, timing->use[i].group),
                               .n = p->block.worst ? timing->use[i].worst : timing->use[i].n},
        p->block.varies |= timing->use[i].worst > timing->use[i].n;
}

static bool is_register_move(const struct as_form *form, const struct as_insn *insn)
{
    return form->traits & AS_TRAIT_REGMOVE && !(insn->bits & AS_INSN_MEM);
}

/* Makes the operation a move that is executed: an ablation turns elimination off, or source and
 * destination are the same. */
static void execute_move(const struct as_predictor *p, struct as_op *op)
{
    const int group = op->vector ? p->group_fp : p->group_alu;
    op->latency = op->worst = 1;
    op->flags &= (uint8_t)~AS_TIMING_MOVE;
    if (!op->use_n && group >= 0)
        op->use[op->use_n++] = (struct as_op_use){.group = (uint8_t)group, .n = 1};
}

/* ---- Changed code ---------------------------------------------------------------------------- */

/* Removes the load of an instruction: its loaded value is ready at once. */
static void drop_load(const struct as_predictor *p, struct as_op *op, const struct as_form *form)
{
    unsigned kept = 0;
    if (!op->loads)
        return;
    for (unsigned i = 0; i < op->use_n; i++) {
        struct as_op_use use = op->use[i];
        if (use.address && strncmp(p->uarch->group[use.group].name, "STA", 3) != 0)
            use.n -= 1;
        if (use.n > 0)
            op->use[kept++] = use;
    }
    op->use_n = (uint8_t)kept;
    op->loads = false;
    op->load_latency = 0;
    for (unsigned i = 0; i < op->memory_n; i++)
        op->memory[i].access &= (uint8_t)~AS_ACCESS_READ;
    if (op->stores)
        return;
    op->memory_n = 0;
    if (form->insn_class == AS_CLASS_MOVE || form->insn_class == AS_CLASS_POP)
        op->slots = op->decoded = op->decoded_more = op->latency = 0, op->use_n = 0;
    kept = 0;
    for (unsigned i = 0; i < op->read_n; i++)
        if (op->read[i].kind != AS_READ_ADDRESS)
            op->read[kept++] = op->read[i];
    op->read_n = (uint8_t)kept;
}

/* Replaces a division or root by a multiplication: one slot, one multiply port, four cycles. */
static void multiply_instead(const struct as_predictor *p, struct as_op *op,
                             const struct as_form *form)
{
    enum { MULTIPLY_CYCLES = 4 };
    static const char *const pipes[] = {"FMUL", "P01", NULL};
    int group = p->group_fp;
    unsigned kept = 0;
    if ((form->insn_class != AS_CLASS_DIV && form->insn_class != AS_CLASS_SQRT) || !op->vector)
        return;
    for (unsigned i = 0; pipes[i]; i++)
        if (as_uarch_group_find(p->uarch, pipes[i]) >= 0)
            group = as_uarch_group_find(p->uarch, pipes[i]);
    for (unsigned i = 0; i < op->use_n; i++)
        if (op->use[i].address)
            op->use[kept++] = op->use[i];
    if (group >= 0 && kept < AS_USES)
        op->use[kept++] = (struct as_op_use){.group = (uint8_t)group, .n = 1};
    op->use_n = (uint8_t)kept;
    op->own = 0;
    op->slots = op->decoded = 1;
    op->latency = op->worst = MULTIPLY_CYCLES;
}

/* ---- One instruction ----------------------------------------------------------------------- */

static bool touches_vectors(const struct as_form *form)
{
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].file >= AS_FILE_MMX && form->operand[i].file <= AS_FILE_X87)
            return true;
    return form->vector_b >= 16 || form->traits & AS_TRAIT_X87;
}

/* Returns the slots in the op cache. Sets `more` to the further slots for a displacement with an
 * immediate, or for a 64-bit immediate. */
static float decoded_slots(const struct as_predictor *p, const struct as_op *op,
                           const struct as_insn *insn, const struct as_form *form, float *more)
{
    float slots = op->slots - (op->flags & AS_TIMING_UNLAMINATE ? 1 : 0);
    bool imm = false;
    if (!(p->uarch->set[AS_UARCH_opcache_imm] > 0))
        return slots;
    for (unsigned i = 0; i < form->operands; i++)
        imm |= form->operand[i].kind == AS_OPERAND_IMM;
    if (slots <= 2)
        slots = slots < 1 ? slots : 1;
    *more = insn->bits & AS_INSN_IMM64 ? 2 : imm && insn->bits & AS_INSN_MEM && insn->disp ? 1 : 0;
    return slots;
}

static int build_op(struct as_predictor *p, const struct as_code *code, size_t at, struct as_op *op)
{
    const struct as_insn *insn = &code->insn[at];
    const struct as_form *form = as_form_get(insn->form);
    const struct as_known_form *known = known_form(p, insn, form);
    if (!known)
        return AS_ERR_NOMEM;
    memset(op, 0, sizeof *op);
    op->at = (uint32_t)at;
    op->length = insn->length;
    op->vector = touches_vectors(form);
    op->locked = form->traits & AS_TRAIT_LOCK;
    op->updates = form->operands == 2 && form->operand[0].kind == AS_OPERAND_MEM &&
                  form->operand[0].access & AS_ACCESS_WRITE &&
                  form->operand[0].access & AS_ACCESS_READ &&
                  form->operand[1].kind == AS_OPERAND_REG;
    op->extends = form->insn_class == AS_CLASS_EXTEND && strcmp(form->mnemonic, "movsxd") != 0;
    op->branch = form->insn_class == AS_CLASS_BRANCH || form->insn_class == AS_CLASS_JUMP ||
                 form->insn_class == AS_CLASS_CALL || form->insn_class == AS_CLASS_RETURN;
    if (known->timing)
        set_op_timing(p, op, known->timing);
    if (!known->timing || known->match == AS_TIMING_REGISTER)
        as_estimate_op(p, form, op, known->timing != NULL);
    /* The front-end model covers the cost of branches and calls, so it is not an estimate. */
    if (op->branch)
        op->flags &= (uint8_t)~AS_TIMING_ESTIMATED;
    p->block.estimated_n +=
        !op->branch && (known->match >= AS_TIMING_REGISTER || op->flags & AS_TIMING_ESTIMATED);
    p->block.alike_n += known->match == AS_TIMING_ALIKE || known->match == AS_TIMING_WIDTH;
    op->decoded = decoded_slots(p, op, insn, form, &op->decoded_more);
    if (p->block.without & AS_WITHOUT_DIVISION)
        multiply_instead(p, op, form);
    const bool copies = is_register_move(form, insn);
    op->move = op->flags & AS_TIMING_MOVE && !(insn->bits & AS_INSN_MEM && !op->timing);
    const bool out_of_rsp =
        copies && insn->reg[1] == AS_REG_GPR + 4 && !(p->uarch->set[AS_UARCH_move_rsp] > 0);
    if (op->flags & AS_TIMING_MOVE && (out_of_rsp || p->block.without & AS_WITHOUT_MOVES ||
                                       (copies && as_insn_same_registers(insn, form) &&
                                        p->uarch->set[AS_UARCH_ports_at_rename] > 0)))
        execute_move(p, op), op->move = false;
    as_op_memory(p, op, insn, form);
    if (op->loads && !op->vector && form->operands && form->operand[0].kind == AS_OPERAND_REG &&
        form->operand[0].access & AS_ACCESS_MERGE && op->latency < 1)
        op->latency = op->worst = 1; /* merges the loaded value with the rest of the register */
    as_op_effects(p, op, insn, form);
    if (p->block.without_load == at + 1)
        drop_load(p, op, form);
    return 0;
}

/* ---- Fusion and the loop's end ------------------------------------------------------------- */

/* Returns true if the instruction fuses with the branch. Sources: SDM optimization manual,
 * "macro-fusion"; AMD's guide: any flag-setting ALU operation. */
static bool may_fuse(const struct as_predictor *p, const struct as_insn *insn,
                     const struct as_insn *branch)
{
    const struct as_form *form = as_form_get(insn->form);
    const struct as_form *jump = as_form_get(branch->form);
    const unsigned kind = (unsigned)p->uarch->set[AS_UARCH_fuse_branch];
    const char *m = form->mnemonic;
    const bool imm = form->operands && form->operand[form->operands - 1].kind == AS_OPERAND_IMM;
    if (jump->insn_class != AS_CLASS_BRANCH || !jump->flags_read || !form->flags_written || !kind)
        return false;
    if (insn->bits & AS_INSN_MEM && (imm || insn->base == AS_REG_IP))
        return false;
    const bool compare = strcmp(m, "cmp") == 0, test = strcmp(m, "test") == 0;
    const bool counts = strcmp(m, "inc") == 0 || strcmp(m, "dec") == 0;
    const bool alu = strcmp(m, "add") == 0 || strcmp(m, "sub") == 0 || strcmp(m, "and") == 0;
    if (form->operands && form->operand[0].kind == AS_OPERAND_MEM && !compare && !test)
        return false;
    if (kind == 3)
        return compare || test || counts || alu || strcmp(m, "or") == 0 || strcmp(m, "xor") == 0;
    const uint8_t odd = jump->flags_read & (AS_FLAG_S | AS_FLAG_P | AS_FLAG_O);
    const bool only_odd = odd && !(jump->flags_read & (AS_FLAG_C | AS_FLAG_Z)) &&
                          jump->flags_read != (AS_FLAG_S | AS_FLAG_O);
    if (test || (kind == 2 && strcmp(m, "and") == 0))
        return true;
    if (compare || (kind == 2 && alu))
        return !only_odd;
    return kind == 2 && counts && !only_odd && !(jump->flags_read & AS_FLAG_C);
}

/* Fuses the branch with the operation before it: one slot, on a branch port. */
static void fuse_branch(const struct as_predictor *p, struct as_op *op)
{
    for (unsigned i = 0; i < op->use_n && p->group_branch >= 0; i++)
        if ((int)op->use[i].group == p->group_alu) {
            op->use[i].group = (uint8_t)p->group_branch;
            break;
        }
    op->branch = true;
}

/* Returns true if an integer instruction fuses with the move before it that wrote
 * its destination. */
static bool may_fuse_move(const struct as_predictor *p, const struct as_op *move,
                          const struct as_insn *from, const struct as_insn *insn)
{
    static const char *const known[] = {"add", "sub", "and", "or", "xor", "inc", "dec", "not"};
    const struct as_form *form = as_form_get(insn->form);
    if (!(p->uarch->set[AS_UARCH_fuse_move] > 0) || !move->move ||
        !is_register_move(as_form_get(from->form), from) || move->vector ||
        insn->bits & (AS_INSN_MEM | AS_INSN_IDIOM) || !form->operands ||
        form->operand[0].kind != AS_OPERAND_REG || insn->reg[0] != from->reg[0] ||
        form->operand[0].width_b != as_form_get(from->form)->operand[0].width_b)
        return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], form->mnemonic) == 0)
            return true;
    return false;
}

static void add_loop_end(struct as_predictor *p, struct as_piece_of_code *block)
{
    struct as_op *op = &block->op[block->op_n++];
    const int group = p->group_branch >= 0 ? p->group_branch : p->group_alu;
    *op = (struct as_op){.insn = block->insn_n,
                         .at = UINT32_MAX,
                         .branch = true,
                         .jump_taken = true,
                         .slots = 1,
                         .decoded = 1,
                         .latency = 1,
                         .worst = 1,
                         .offset = block->size_b,
                         .length = 5};
    if (group >= 0)
        op->use[op->use_n++] = (struct as_op_use){.group = (uint8_t)group, .n = 1};
    if (p->uarch->set[AS_UARCH_in_order] > 0 && p->group_fp >= 0) /* takes an issue of its own */
        op->use[op->use_n++] = (struct as_op_use){.group = (uint8_t)p->group_fp, .n = 1};
    block->size_b += 5;
    block->has_branch = false;
}

/* Returns true if the instruction after code[i] of an iteration is not adjacent in memory. The next
 * iteration begins with code[0]: a rotated loop falls through to its header. */
static bool jumps_away(const struct as_insn *code, size_t n, size_t i)
{
    const struct as_insn *next = &code[i + 1 < n ? i + 1 : 0];
    return next->address != code[i].address + code[i].length;
}

int as_block_build(struct as_predictor *p, const struct as_code *code, size_t first, size_t n,
                   struct as_error *err)
{
    struct as_piece_of_code *block = &p->block;
    block->op = as_arena_array(&p->arena, struct as_op, n + 1);
    if (!block->op)
        return as_error_nomem(err, "the block to predict");
    block->uarch = p->uarch;
    block->code = code;
    block->insn_n = (uint32_t)n;
    block->has_branch = true;
    as_x87_init(&block->x87);
    for (size_t i = 0; i < n; i++) {
        const struct as_insn *insn = &code->insn[first + i];
        struct as_op *op = &block->op[block->op_n];
        const uint32_t offset = block->size_b;
        block->size_b += insn->length;
        if (i && !(block->without & AS_WITHOUT_FUSION) && block->op_n && op[-1].insn == i - 1 &&
            may_fuse(p, insn - 1, insn)) {
            fuse_branch(p, op - 1);
            op[-1].jump_taken = jumps_away(&code->insn[first], n, i);
            op[-1].length += insn->length;
            continue;
        }
        if (build_op(p, code, first + i, op) < 0)
            return as_error_nomem(err, "the block to predict");
        if (i && block->op_n && op[-1].insn == i - 1 && !(block->without & AS_WITHOUT_FUSION) &&
            may_fuse_move(p, op - 1, insn - 1, insn))
            op[-1].slots = op[-1].decoded = 0;
        op->insn = (uint32_t)i;
        op->offset = offset;
        op->jump_taken = op->branch && jumps_away(&code->insn[first], n, i);
        block->op_n++;
    }
    if (block->mode == AS_PREDICT_LOOP && !block->op[block->op_n - 1].branch &&
        jumps_away(&code->insn[first], n, n - 1))
        add_loop_end(p, block);
    return 0;
}
