/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the number of source iterations per iteration of a binary loop by votes. The votes use four
 * facts.
 *
 * Places: an operator of the source occurs once per source iteration, so the number of its lanes is
 * the answer. Footprint: the ratio of the loop's work to that of the smallest scalar loop of its
 * group. Repeats: the same access at equal distances, used if no place is known. Advance: addresses
 * advance by a multiple of the answer in elements, often by exactly that.
 *
 * If a scalar loop of the group does the left-over iterations, no votes are needed. This loop does
 * one source iteration. Addresses of the others advance by a multiple of its bytes (main over
 * tail). Agreement of votes makes the answer sure. The answer remains unknown without votes. It
 * also remains unknown if addresses contradict, or for a vectorised loop without left-over
 * iterations. Only loops without inner loops get an answer. Footprints: CQA paper, section on
 * unrolling.
 */
#include <stdlib.h>

#include "code/source.h"

#define UNROLL_MOST 1024 /* larger quotients are rejected */
#define SURE        98   /* max confidence in percent */
#define LEAST       25   /* min confidence in percent: a single weak vote is below it */
#define COPY_OPS    16   /* max operators searched outside of a loop */
#define ENOUGH      8    /* weight of votes that makes an answer sure, in halves */

struct votes {
    struct vote {
        uint32_t value, weight;
    } at[16];
    uint32_t n;
};

static void vote(struct votes *votes, uint64_t value, uint32_t weight)
{
    if (value == 0 || value > UNROLL_MOST || weight == 0)
        return;
    if (votes->n < sizeof votes->at / sizeof *votes->at)
        votes->at[votes->n++] = (struct vote){(uint32_t)value, weight};
}

/* ---- Places ------------------------------------------------------------------------------ */

/* Work for one operator or access of the source, in lanes. */
struct operator
{
    uint64_t place;
    uint32_t at, kind, element_b, lanes;
};

static int by_place(const void *a, const void *b)
{
    const struct operator* x = a, *y = b;
    if (x->place != y->place)
        return (x->place > y->place) - (x->place < y->place);
    if (x->at != y->at)
        return (x->at > y->at) - (x->at < y->at);
    if (x->kind != y->kind)
        return (x->kind > y->kind) - (x->kind < y->kind);
    return (x->element_b > y->element_b) - (x->element_b < y->element_b);
}

enum part { PART_FP, PART_CALL, PART_INT, PART_MEMORY };

static enum part part_of(const struct as_source_op *op)
{
    if (op->kind >= AS_SOURCE_LOAD)
        return PART_MEMORY;
    if (op->kind == AS_CLASS_CALL)
        return PART_CALL;
    return op->fp ? PART_FP : PART_INT;
}

/* Returns the elements that an operation handles, or 0 if unknown. Packed integer moves have the
 * element of the loop's arithmetic. */
static uint32_t lanes_of(const struct as_source_op *op, const struct as_loop_work *work)
{
    uint32_t element_b = op->element_b;
    if (op->kind < AS_SOURCE_LOAD)
        return op->amount;
    if (!op->packed && !op->fp)
        return 1;
    if (op->packed && !op->fp)
        element_b = work->element_b;
    return element_b && op->amount % element_b == 0 ? op->amount / element_b : 0;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Sorts the operators and adds equal ones. Returns the number of different operators. */
static uint32_t merge_operators(struct operator* one, uint32_t n)
{
    uint32_t m = 0;
    if (n > 1)
        qsort(one, n, sizeof *one, by_place);
    for (uint32_t i = 0; i < n; i++) {
        if (m && by_place(&one[m - 1], &one[i]) == 0)
            one[m - 1].lanes += one[i].lanes;
        else
            one[m++] = one[i];
    }
    return m;
}

/* Returns the most frequent number of lanes, and of equally frequent ones the lowest. Sets `times`
 * to its frequency. */
static uint32_t mode(const struct operator* one, uint32_t n, uint32_t *times)
{
    uint32_t best = 0;
    *times = 0;
    n = n > 256 ? 256 : n; /* a sample is sufficient */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t same = 0;
        for (uint32_t j = 0; j < n; j++)
            same += one[j].lanes == one[i].lanes;
        if (same > *times || (same == *times && one[i].lanes < best)) {
            *times = same;
            best = one[i].lanes;
        }
    }
    return best;
}

/* Lists the operators of one part of the work. Sets `*column` to the number of those with a column.
 * Returns the number of operators. */
static uint32_t operators_of(const struct as_source *s, const struct as_loop_work *work,
                             enum part part, bool only_always, struct operator* one,
                             uint32_t *column)
{
    const struct as_source_op *op = s->op.at + work->first_op;
    uint32_t n = 0;
    *column = 0;
    for (uint32_t i = 0; i < work->ops; i++) {
        uint32_t lanes = lanes_of(&op[i], work);
        if (part_of(&op[i]) != part || !op[i].place || !lanes || (only_always && !op[i].always))
            continue;
        *column += op[i].column;
        one[n++] = (struct operator){.place = op[i].place,
                                     .at = op[i].at,
                                     .kind = op[i].kind,
                                     .element_b = op[i].element_b,
                                     .lanes = lanes};
    }
    return n;
}

static bool is_uniform(const struct operator* one, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        if (one[i].lanes != one[0].lanes)
            return false;
    }
    return true;
}

/*
 * Adds the vote of the operators of one part, with weight `full` if all occur equally often.
 * Several source operators at one place occur a multiple of this. The additions of a reduction may
 * be spread over the places of one line.
 */
static int vote_places(const struct as_source *s, const struct as_loop_work *work, enum part part,
                       bool only_always, uint32_t full, struct votes *votes)
{
    struct operator* one = as_arena_array(s->arena, struct operator,(size_t) work->ops + 1);
    uint32_t all = 0, times, column;
    if (!one)
        return AS_ERR_NOMEM;
    uint32_t n = operators_of(s, work, part, only_always, one, &column);
    if (n == 0)
        return 0;
    if (column < n) /* some places stand for a whole line */
        full /= 2;
    n = merge_operators(one, n);
    uint32_t often = mode(one, n, &times), least = one[0].lanes;
    for (uint32_t i = 0; i < n; i++) {
        all = gcd(all, one[i].lanes);
        least = one[i].lanes < least ? one[i].lanes : least;
    }
    if (is_uniform(one, n)) {
        vote(votes, least, full);
        return 0;
    }
    if (all == least && times * 2 >= n)
        vote(votes, least, often == least ? full / 2 : full / 4);
    else
        vote(votes, often, full / 4);
    for (uint32_t i = 0; i < n; i++)
        one[i].place >>= 16;
    n = merge_operators(one, n);
    if (is_uniform(one, n))
        vote(votes, one[0].lanes, full / 2);
    return 0;
}

static bool has_always(const struct as_source *s, const struct as_loop_work *work, enum part part)
{
    for (uint32_t i = 0; i < work->ops; i++) {
        const struct as_source_op *op = &s->op.at[work->first_op + i];
        if (op->always && part_of(op) == part)
            return true;
    }
    return false;
}

static int vote_all_places(const struct as_source *s, const struct as_loop_work *work,
                           struct votes *votes)
{
    static const uint32_t weight[] = {
        [PART_FP] = 8, [PART_CALL] = 6, [PART_INT] = 4, [PART_MEMORY] = 4};
    _Static_assert(sizeof weight / sizeof *weight == PART_MEMORY + 1,
                   "an entry for each of the enumeration");
    for (enum part part = PART_FP; part <= PART_MEMORY; part++) {
        uint32_t full = part == PART_INT && work->flops ? 0 : weight[part];
        AS_TRY(vote_places(s, work, part, has_always(s, work, part), full, votes));
    }
    return 0;
}

/* ---- Footprint --------------------------------------------------------------------------- */

static void vote_ratio(struct votes *votes, uint64_t whole, uint64_t part, uint32_t each,
                       uint32_t weight)
{
    if (part && whole && whole * each % part == 0)
        vote(votes, whole * each / part, weight);
}

/* ---- Addresses --------------------------------------------------------------------------- */

struct advance {
    uint32_t moving, fits, exact;
};

/* Counts the accesses that advance by a multiple of `value` elements, and by exactly `value`
 * elements. */
static struct advance compare(const struct as_source_motion *motion, uint32_t value)
{
    struct advance a = {0};
    for (uint32_t i = 0; i < motion->n; i++) {
        int64_t by = motion->access[i].by;
        int64_t whole = (int64_t)value * motion->access[i].element_b;
        if (by == 0 || whole == 0)
            continue;
        a.moving++;
        a.fits += by % whole == 0;
        a.exact += by == whole;
    }
    return a;
}

/*
 * Corrects the votes by the addresses. Each source iteration advances an address by whole elements.
 * Values that do not fit the addresses lose weight; exact values gain weight. If no address
 * advances, a counter counts as an address.
 */
static void vote_advance(const struct as_source_motion *motion, struct votes *votes)
{
    uint32_t votes_n = votes->n;
    struct advance one = compare(motion, 1);
    for (uint32_t v = 0; v < votes_n; v++) {
        uint32_t value = votes->at[v].value;
        struct advance a = compare(motion, value);
        bool exact = a.exact > 0, seen = false;
        if (a.moving && a.fits * 2 < a.moving)
            votes->at[v].weight = (votes->at[v].weight + 3) / 4;
        for (unsigned r = 0; r < 16 && a.moving == 0; r++)
            exact |= motion->step[r] == value || motion->step[r] == -(int64_t)value;
        for (uint32_t earlier = 0; earlier < v; earlier++)
            seen |= votes->at[earlier].value == value;
        if (exact && !seen)
            vote(votes, value, 2);
    }
    if (one.moving && one.exact * 2 > one.moving)
        vote(votes, 1, 4); /* one element: at most one iteration */
}

/* ---- Main over tail ---------------------------------------------------------------------- */

/* Finds the min and max bytes that an address advances per iteration. Returns false if none
 * advances. */
static bool find_span(const struct as_source_motion *motion, uint64_t *least, uint64_t *most)
{
    *least = UINT64_MAX;
    *most = 0;
    for (uint32_t i = 0; i < motion->n; i++) {
        const int64_t by = motion->access[i].by;
        const uint64_t bytes = (uint64_t)(by < 0 ? -by : by);
        if (!by)
            continue;
        *least = bytes < *least ? bytes : *least;
        *most = bytes > *most ? bytes : *most;
    }
    return *least > 0 && *most > 0;
}

/* Returns how many iterations of `tail` one iteration of `loop` does, by their addresses; 0 if
 * unknown. Both walk the same arrays, so the widest and the narrowest elements must agree. */
static uint32_t main_over_tail(const struct as_source_motion *loop,
                               const struct as_source_motion *tail)
{
    uint64_t least, most, tail_least, tail_most;
    if (!find_span(loop, &least, &most) || !find_span(tail, &tail_least, &tail_most) ||
        least % tail_least || most % tail_most || least / tail_least != most / tail_most ||
        most / tail_most > UNROLL_MOST)
        return 0;
    return (uint32_t)(most / tail_most);
}

/* Returns true if the loop does the left-over iterations of a loop that does more. */
static bool is_left_over(const struct as_source *s, uint32_t l)
{
    const uint8_t role = s->program->loop[l].role;
    return role == AS_ROLE_TAIL || role == AS_ROLE_PEEL;
}

static void prove(struct as_loop *loop, uint32_t unroll)
{
    loop->unroll = (uint16_t)unroll;
    loop->unroll_confidence = SURE;
}

/* ---- Doubts ------------------------------------------------------------------------------ */

/* Returns true if every address advances by a multiple of `value` elements. */
static bool fits_motion(const struct as_source_motion *motion, uint32_t value)
{
    const struct advance a = compare(motion, value);
    return a.moving == a.fits;
}

/* Work of one iteration, of a loop or of straight code. */
struct footprint {
    uint32_t flops, stores_b, loads_b;
    uint32_t least_b; /* bytes of the narrowest access; 0 = no access */
    bool packed;
};

static void add_to_footprint(const struct as_code *code, const struct as_insn *insn,
                             struct footprint *out)
{
    const struct as_form *form = as_form_get(insn->form);
    struct as_memory memory[2];
    const int n = form->insn_class == AS_CLASS_LEA || form->insn_class == AS_CLASS_NOP
                      ? 0
                      : as_insn_memory(code, insn, memory);

    for (int i = 0; i < n; i++) {
        if (memory[i].stack || memory[i].rip_relative)
            continue;
        if (!out->least_b || memory[i].width_b < out->least_b)
            out->least_b = memory[i].width_b;
        out->loads_b += memory[i].access & AS_ACCESS_READ ? memory[i].width_b : 0;
        out->stores_b += memory[i].access & AS_ACCESS_WRITE ? memory[i].width_b : 0;
    }
    out->flops += insn->bits & AS_INSN_IDIOM ? 0 : form->flops;
    out->packed |= form->traits & AS_TRAIT_PACKED && (form->flops || form->intops);
}

/* Returns how many times the work of `one` the loop does; 0 if the ratio is not a whole number. */
static uint32_t times_of(const struct as_loop_work *loop, const struct footprint *one)
{
    const uint32_t flops = one->flops ? loop->flops / one->flops : 0;
    const uint32_t stores = one->stores_b ? loop->stores_b / one->stores_b : 0;
    const uint32_t times = flops          ? flops
                           : stores       ? stores
                           : one->loads_b ? loop->loads_b / one->loads_b
                                          : 0;

    if (one->packed || loop->flops != one->flops * times ||
        loop->stores_b != one->stores_b * times || times > UNROLL_MOST)
        return 0;
    return one->flops || one->stores_b || loop->loads_b == one->loads_b * times ? times : 0;
}

/* Returns true if the addresses agree that the loop does `times` of the block's work. One address
 * must advance by exactly this many elements. Addresses of structures advance by more; then both
 * stores and operations are required. */
static bool motion_agrees(const struct as_source_motion *motion, const struct footprint *one,
                          uint32_t times)
{
    const int64_t bytes = (int64_t)times * one->least_b;
    bool exact = false, fits = bytes > 0;

    for (uint32_t i = 0; i < motion->n && bytes > 0; i++) {
        const int64_t by = motion->access[i].by;
        exact |= by == bytes || by == -bytes;
        fits &= by % bytes == 0;
    }
    return exact || (fits && one->flops && one->stores_b);
}

/* Returns true if some work of the loop has the same place as code of the block: left-over work. */
static bool shares_place(struct as_source *s, const struct as_loop_work *work, uint32_t block)
{
    const uint32_t ops = work->ops < COPY_OPS ? work->ops : COPY_OPS;

    for (uint32_t i = 0; i < ops; i++)
        if (as_source_has_place(s, block, s->op.at[work->first_op + i].place))
            return true;
    return false;
}

/* Searches a block outside of the loop that does one left-over iteration of it. Returns how many of
 * these one iteration of the loop does, or 0 without such a block. */
static uint32_t main_over_block(struct as_source *s, uint32_t l,
                                const struct as_source_motion *motion)
{
    const struct as_program *program = s->program;
    const struct as_loop_work *work = as_source_work(s, l);
    uint32_t most = 0;

    for (uint32_t b = s->body->first_block; b < s->body->first_block + s->body->blocks; b++) {
        const struct as_block *block = &program->block[b];
        struct footprint one = {0};

        if ((block->loop != AS_NONE && block->loop != program->loop[l].parent) ||
            !shares_place(s, work, b))
            continue;
        for (uint32_t i = 0; i < block->insns; i++)
            add_to_footprint(&program->code, &program->code.insn[block->first_insn + i], &one);
        const uint32_t times = times_of(work, &one);
        most = times > most && motion_agrees(motion, &one, times) ? times : most;
    }
    return most;
}

/* Returns true if some operation of an iteration handles several elements. */
static bool has_packed(const struct as_source *s, const struct as_loop_work *work)
{
    for (uint32_t i = 0; i < work->ops; i++)
        if (s->op.at[work->first_op + i].packed)
            return true;
    return false;
}

/* Returns true if the unroll factor is doubtful: an address does not fit, or the loop has packed
 * operations. Adjacent statements can also become a vector, and a source loop unrolled by hand has
 * no left-over iterations. */
static bool is_doubtful(struct as_source *s, uint32_t l, const struct as_source_motion *motion)
{
    const struct as_loop *loop = &s->program->loop[l];

    return loop->unroll > 1 &&
           (!fits_motion(motion, loop->unroll) || (s->work && has_packed(s, as_source_work(s, l))));
}

/* ---- All loops of a body ----------------------------------------------------------------- */

static void settle(struct as_loop *loop, const struct votes *votes)
{
    uint32_t agree = 0, total = 0, best = 0;
    for (uint32_t i = 0; i < votes->n; i++) {
        uint32_t same = 0;
        total += votes->at[i].weight;
        for (uint32_t j = 0; j < votes->n; j++)
            same += votes->at[j].value == votes->at[i].value ? votes->at[j].weight : 0;
        if (same > agree) {
            agree = same;
            best = votes->at[i].value;
        }
    }
    if (agree == 0)
        return;
    uint32_t strength = agree < ENOUGH ? agree : ENOUGH;
    uint32_t percent = SURE * agree * strength / (total * ENOUGH);
    if (percent < LEAST)
        return;
    loop->unroll = (uint16_t)best;
    loop->unroll_confidence = (uint8_t)percent;
}

static int unroll_loop(struct as_source *s, uint32_t l, uint32_t reference)
{
    struct as_loop *loop = &s->program->loop[l];
    struct as_source_motion motion;
    struct votes votes = {0};
    const bool has_tail = reference != AS_NONE && reference != l;
    AS_TRY(as_source_motion(s, l, &motion));
    if (has_tail && (is_left_over(s, reference) || s->program->loop[reference].unroll == 1)) {
        struct as_source_motion tail;
        AS_TRY(as_source_motion(s, reference, &tail));
        const uint32_t each = s->program->loop[reference].unroll;
        const uint32_t ratio = main_over_tail(&motion, &tail) * (each ? each : 1);
        if (ratio && ratio <= UNROLL_MOST) {
            prove(loop, ratio);
            return 0;
        }
    }
    if (reference == AS_NONE && is_left_over(s, l)) {
        /* A compiler also unrolls tails; their left-over iterations are outside of loops. */
        const uint32_t ratio = s->work ? main_over_block(s, l, &motion) : 0;
        prove(loop, ratio ? ratio : 1);
        return 0;
    }
    if (s->work)
        AS_TRY(vote_all_places(s, as_source_work(s, l), &votes));
    if (has_tail) {
        const struct as_loop_work *work = as_source_work(s, l), *one = as_source_work(s, reference);
        uint32_t each = s->program->loop[reference].unroll;
        each = each ? each : 1;
        vote_ratio(&votes, work->flops, one->flops, each, 4);
        vote_ratio(&votes, work->stores_b, one->stores_b, each, 4);
        vote_ratio(&votes, work->loads_b, one->loads_b, each, 2);
    }
    if (votes.n == 0) {
        /* Fields of a structure are adjacent too, but the address does not advance by them
         * exactly. */
        uint32_t repeats;
        AS_TRY(as_source_repeats(s, &motion, &repeats));
        if (repeats == 1 || compare(&motion, repeats).exact)
            vote(&votes, repeats, 2);
    }
    vote_advance(&motion, &votes);
    settle(loop, &votes);
    if (!has_tail && s->work) {
        const uint32_t ratio = main_over_block(s, l, &motion);
        if (ratio)
            prove(loop, ratio);
        else if (is_doubtful(s, l, &motion))
            loop->unroll = loop->unroll_confidence = 0;
    }
    return 0;
}

static bool is_innermost(const struct as_loop *loop)
{
    return loop->level == AS_LEVEL_INNERMOST || loop->level == AS_LEVEL_SINGLE;
}

/* Finds, per group, the scalar loop with the least work: it shows the work of one iteration.
 * Returns NULL if memory is short. */
static uint32_t *find_references(const struct as_source *s)
{
    const struct as_body *b = s->body;
    uint32_t *reference = as_arena_array(s->arena, uint32_t, b->loops);
    for (uint32_t l = 0; reference && l < b->loops; l++)
        reference[l] = AS_NONE;
    for (uint32_t l = b->first_loop; reference && s->work && l < b->first_loop + b->loops; l++) {
        const struct as_loop *loop = &s->program->loop[l];
        const struct as_loop_work *mine = as_source_work(s, l);
        uint32_t *best = &reference[loop->group - b->first_loop];
        if (mine->vectorised || !is_innermost(loop))
            continue;
        const struct as_loop_work *least = *best == AS_NONE ? NULL : as_source_work(s, *best);
        if (!least || mine->flops < least->flops ||
            (mine->flops == least->flops &&
             mine->loads_b + mine->stores_b < least->loads_b + least->stores_b))
            *best = l;
    }
    return reference;
}

int as_source_unroll(struct as_source *s)
{
    const struct as_body *b = s->body;
    uint32_t *reference = find_references(s);
    if (!reference)
        return AS_ERR_NOMEM;
    for (uint32_t l = 0; l < b->loops; l++) {
        if (reference[l] != AS_NONE)
            AS_TRY(unroll_loop(s, reference[l], AS_NONE));
    }
    for (uint32_t l = b->first_loop; l < b->first_loop + b->loops; l++) {
        uint32_t of_group = reference[s->program->loop[l].group - b->first_loop];
        if (l != of_group && is_innermost(&s->program->loop[l]))
            AS_TRY(unroll_loop(s, l, of_group));
    }
    return 0;
}
