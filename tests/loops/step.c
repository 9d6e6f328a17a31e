/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executed truth: step MOST_STEPS PROGRAM [ARGUMENT...] runs the program one instruction at a time.
 * Compares every transfer of control in its own file with the analysis of that file. Writes JSON to
 * standard output:
 *
 * - `bad`: transfers that contradict the analysis
 * - `unresolved`: jumps through places that the analysis marks as not understood
 * - how often each loop was entered and iterated
 * - how often each block in loops, and each instruction, ran; a repetition counts as one more
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "code/code.h"
#include "trace.h"

#define NONE     UINT32_MAX
#define MOST_BAD 50

struct check {
    const struct as_program *p;
    uint64_t low, end;
    uint32_t *insn_at;  /* by address - low: index of the instruction that starts there or NONE */
    uint32_t *block_of; /* by instruction */
    uint8_t *seen;      /* by instruction: executed */
    uint64_t *times;    /* by instruction: how often */
    uint64_t *count;    /* by edge of p->succ: how often it was taken */
    struct {
        uint64_t from, to;
        const char *why;
    } bad[MOST_BAD];
    size_t bad_n;
    uint64_t unresolved, transfers, executed, second_entries;
};

/* ---- What the analysis says of an address -------------------------------------------------- */

static uint32_t insn_index(const struct check *c, uint64_t address)
{
    return address >= c->low && address < c->end ? c->insn_at[address - c->low] : NONE;
}

static unsigned class_of(const struct check *c, uint32_t insn)
{
    return as_form_get(c->p->code.insn[insn].form)->insn_class;
}

static uint32_t block_at(const struct check *c, uint64_t address)
{
    uint32_t insn = insn_index(c, address);
    return insn == NONE ? NONE : c->block_of[insn];
}

static bool starts_block(const struct check *c, uint64_t address)
{
    uint32_t block = block_at(c, address);
    return block != NONE && c->p->block[block].start == address;
}

static bool ends_block(const struct check *c, uint32_t insn)
{
    const struct as_block *b = &c->p->block[c->block_of[insn]];
    return insn == b->first_insn + b->insns - 1;
}

/* Edge from the block of `insn` to the block that starts at `to`, of any kind or of `kind`. */
static uint32_t edge_to(const struct check *c, uint32_t insn, uint64_t to, int kind)
{
    const struct as_block *b = &c->p->block[c->block_of[insn]];
    for (uint32_t e = b->first_succ; e < b->first_succ + b->succs; e++) {
        if (c->p->block[c->p->succ[e].block].start == to &&
            (kind < 0 || c->p->succ[e].kind == kind))
            return e;
    }
    return NONE;
}

static void broken(struct check *c, uint64_t from, uint64_t to, const char *why)
{
    for (size_t i = 0; i < c->bad_n; i++) {
        if (c->bad[i].from == from && c->bad[i].to == to)
            return;
    }
    if (c->bad_n < MOST_BAD) {
        c->bad[c->bad_n].from = from;
        c->bad[c->bad_n].to = to;
        c->bad[c->bad_n++].why = why;
    }
}

/* ---- One transfer -------------------------------------------------------------------------- */

/* The call before `to`, when one ends there; else NONE. */
static uint32_t call_before(const struct check *c, uint64_t to)
{
    uint32_t insn = insn_index(c, to);
    if (insn == NONE || insn == 0)
        return NONE;
    const struct as_insn *before = &c->p->code.insn[insn - 1];
    bool is_call = before->address + before->length == to && class_of(c, insn - 1) == AS_CLASS_CALL;
    return is_call && c->block_of[insn - 1] != NONE ? insn - 1 : NONE;
}

/* Control comes to `to` from a return, or from code of other files. */
static const char *check_arrival(struct check *c, uint64_t to, bool may_enter)
{
    uint32_t call = call_before(c, to), block = block_at(c, to);
    if (call != NONE && !ends_block(c, call))
        return NULL;
    if (call != NONE) {
        uint32_t edge = edge_to(c, call, to, AS_EDGE_FALL);
        if (edge != NONE) {
            c->count[edge]++;
            return NULL;
        }
    }
    if (starts_block(c, to) && c->p->block[block].bits & AS_BLOCK_LANDING)
        return NULL;
    if (may_enter && starts_block(c, to)) {
        c->second_entries += !(c->p->block[block].bits & AS_BLOCK_ENTRY);
        return NULL;
    }
    return call != NONE ? "a call said not to return returned" : "arrived at no return site";
}

/* A call, or a jump that leaves the body. */
static const char *check_entry(struct check *c, uint64_t to)
{
    if (to == TRACE_OUTSIDE)
        return NULL;
    if (!starts_block(c, to))
        return "what is called is no start of a block";
    c->second_entries += !(c->p->block[block_at(c, to)].bits & AS_BLOCK_ENTRY);
    return NULL;
}

static const char *check_end(struct check *c, uint32_t insn, uint64_t to)
{
    const struct as_block *b = &c->p->block[c->block_of[insn]];
    unsigned class = class_of(c, insn);
    if (class == AS_CLASS_CALL)
        return check_entry(c, to);
    if (class == AS_CLASS_RETURN)
        return to == TRACE_OUTSIDE ? NULL : check_arrival(c, to, true);
    uint32_t edge = to == TRACE_OUTSIDE ? NONE : edge_to(c, insn, to, -1);
    if (edge != NONE) {
        c->count[edge]++;
        return NULL;
    }
    if (b->bits & AS_BLOCK_TAILCALL)
        return to != TRACE_OUTSIDE && call_before(c, to) != NONE ? check_arrival(c, to, true)
                                                                 : check_entry(c, to);
    if (b->bits & AS_BLOCK_UNRESOLVED) {
        c->unresolved++;
        return NULL;
    }
    return "no edge";
}

static const char *check_transfer(struct check *c, uint64_t from, uint64_t to)
{
    uint32_t insn = insn_index(c, from);
    if (insn == NONE)
        return "executed where no instruction starts";
    if (c->block_of[insn] == NONE)
        return "executed in no block";
    const struct as_block *b = &c->p->block[c->block_of[insn]];
    if (b->bits & AS_BLOCK_UNREACHED && !(c->p->body[b->body].bits & AS_BODY_UNRESOLVED))
        return "executed in a block said not to be reached";
    const struct as_insn *at = &c->p->code.insn[insn];
    if (to == from && as_form_get(at->form)->traits & AS_TRAIT_REP)
        return NULL; /* each repetition is a step */
    if (ends_block(c, insn))
        return check_end(c, insn, to);
    if (class_of(c, insn) == AS_CLASS_CALL)
        return check_entry(c, to);
    return to == at->address + at->length ? NULL : "left a block in its middle";
}

static void on_step(void *user, uint64_t from, uint64_t to)
{
    struct check *c = user;
    const char *why;
    c->transfers++;
    if (from == TRACE_OUTSIDE)
        why = check_arrival(c, to, true);
    else
        why = check_transfer(c, from, to);
    if (why)
        broken(c, from, to, why);
    uint32_t insn = from == TRACE_OUTSIDE ? NONE : insn_index(c, from);
    if (insn != NONE) {
        c->executed += !c->seen[insn];
        c->seen[insn] = 1;
        c->times[insn]++;
    }
}

/* ---- Loops --------------------------------------------------------------------------------- */

static bool in_loop(const struct as_program *p, uint32_t block, uint32_t loop)
{
    uint32_t at = p->block[block].loop;
    while (at != AS_NONE && at != loop)
        at = p->loop[at].parent;
    return at != AS_NONE;
}

static void print_loop(const struct check *c, uint32_t l, const char **before)
{
    const struct as_program *p = c->p;
    const struct as_loop *loop = &p->loop[l];
    uint64_t entered = 0, back = 0;
    for (uint32_t k = 0; k < loop->blocks; k++) {
        uint32_t block = p->loop_block[loop->first_block + k];
        const struct as_block *b = &p->block[block];
        for (uint32_t e = b->first_succ; e < b->first_succ + b->succs; e++) {
            if (p->succ[e].back && p->block[p->succ[e].block].loop == l)
                back += c->count[e];
        }
        for (uint32_t q = b->first_pred; q < b->first_pred + b->preds; q++) {
            const struct as_block *from = &p->block[p->pred[q].block];
            if (in_loop(p, p->pred[q].block, l))
                continue;
            for (uint32_t e = from->first_succ; e < from->first_succ + from->succs; e++) {
                if (p->succ[e].block == block && p->succ[e].kind == p->pred[q].kind)
                    entered += c->count[e];
            }
        }
    }
    if (!entered && !back)
        return;
    printf("%s\n  {\"address\": \"0x%" PRIx64 "\", \"entered\": %" PRIu64 ", \"back\": %" PRIu64
           "}",
           *before, p->block[loop->header].start, entered, back);
    *before = ",";
}

static void print(const struct check *c, const struct trace_result *run)
{
    printf("{\"steps\": %" PRIu64 ", \"limited\": %s, \"status\": %d, \"executed\": %" PRIu64
           ", \"unresolved\": %" PRIu64 ", \"second_entries\": %" PRIu64 ",\n \"bad\": [",
           run->steps, run->limited ? "true" : "false",
           WIFEXITED(run->status) ? WEXITSTATUS(run->status) : -1, c->executed, c->unresolved,
           c->second_entries);
    for (size_t i = 0; i < c->bad_n; i++)
        printf("%s\n  {\"from\": \"%#" PRIx64 "\", \"to\": \"%#" PRIx64 "\", \"why\": \"%s\"}",
               i ? "," : "", c->bad[i].from, c->bad[i].to, c->bad[i].why);
    printf("],\n \"loops\": [");
    const char *before = "";
    for (uint32_t l = 0; l < c->p->loop_n; l++)
        print_loop(c, l, &before);
    printf("],\n \"blocks\": {");
    before = "";
    for (uint32_t b = 0; b < c->p->block_n; b++) {
        const struct as_block *block = &c->p->block[b];
        if (block->loop == NONE || !c->times[block->first_insn])
            continue;
        printf("%s\"%" PRIu64 "\": %" PRIu64, before, block->start, c->times[block->first_insn]);
        before = ", ";
    }
    printf("},\n \"insns\": {");
    before = "";
    for (size_t i = 0; i < c->p->code.n; i++) {
        if (!c->times[i])
            continue;
        printf("%s\"%" PRIu64 "\": %" PRIu64, before, c->p->code.insn[i].address, c->times[i]);
        before = ", ";
    }
    printf("}}\n");
}

static int prepare(struct check *c)
{
    const struct as_program *p = c->p;
    const struct as_segment *segment;
    size_t n = as_object_segments(p->object, &segment);
    for (size_t i = 0; i < n; i++) {
        if (segment[i].type == 1 && segment[i].exec && !c->end) {
            c->low = segment[i].address;
            c->end = segment[i].address + segment[i].size_b;
        }
    }
    size_t span = c->end - c->low;
    c->insn_at = malloc(sizeof *c->insn_at * (span + 1));
    c->block_of = malloc(sizeof *c->block_of * (p->code.n + 1));
    c->seen = calloc(p->code.n + 1, 1);
    c->times = calloc(p->code.n + 1, sizeof *c->times);
    c->count = calloc(p->edge_n + 1, sizeof *c->count);
    if (!span || !c->insn_at || !c->block_of || !c->seen || !c->times || !c->count)
        return -1;
    memset(c->insn_at, 0xff, sizeof *c->insn_at * (span + 1));
    memset(c->block_of, 0xff, sizeof *c->block_of * (p->code.n + 1));
    for (size_t i = 0; i < p->code.n; i++) {
        if (p->code.insn[i].address >= c->low && p->code.insn[i].address < c->end)
            c->insn_at[p->code.insn[i].address - c->low] = (uint32_t)i;
    }
    for (uint32_t b = 0; b < p->block_n; b++) {
        for (uint32_t k = 0; k < p->block[b].insns; k++)
            c->block_of[p->block[b].first_insn + k] = b;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct as_program_options options = {.jobs = 1, .path_limit = AS_PATH_LIMIT};
    struct as_program *program = NULL;
    struct as_object *object = NULL;
    struct as_error err;
    struct trace_result run;
    const char *why = "out of memory";
    if (argc < 3) {
        fprintf(stderr, "usage: step MOST_STEPS PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    if (as_object_open(argv[2], NULL, &object, &err) < 0 ||
        as_program_new(object, &options, &program, &err) < 0) {
        fprintf(stderr, "step: %s\n", err.text);
        return 2;
    }
    struct check c = {.p = program};
    int status = prepare(&c);
    struct trace_image image = {as_object_info(object)->entry, c.low, c.end};
    if (status == 0)
        status = trace_run(argv + 2, &image, strtoull(argv[1], NULL, 10), on_step, &c, &run, &why);
    if (status == 0)
        print(&c, &run);
    else
        fprintf(stderr, "step: %s\n", why);
    free(c.insn_at);
    free(c.block_of);
    free(c.seen);
    free(c.times);
    free(c.count);
    as_program_free(&program);
    as_object_close(&object);
    return status ? 1 : 0;
}
