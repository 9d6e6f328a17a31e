/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the prediction: all bounds, the simulation if it can add information, and the report of
 * both.
 */
#include <math.h>
#include <string.h>

#include <stdio.h>

#include "base/error.h"
#include "predict/internal.h"

/* Bounds above this share of the highest one may add up, so the block is simulated. */
#define NEAR_TIE 0.6

const char *as_bound_name(enum as_bound bound)
{
    static const char *const name[] = {
        [AS_BOUND_DISPATCH] = "dispatch", [AS_BOUND_DECODE] = "decode",
        [AS_BOUND_BRANCH] = "branch",     [AS_BOUND_PORTS] = "ports",
        [AS_BOUND_UNIT] = "unit",         [AS_BOUND_LATENCY] = "latency",
        [AS_BOUND_WINDOW] = "window"};
    _Static_assert(sizeof name / sizeof *name == AS_BOUNDS, "an entry for each of the enumeration");
    return (unsigned)bound < AS_BOUNDS ? name[bound] : "?";
}

static int first_group(const struct as_uarch *uarch, const char *const *name)
{
    for (; *name; name++) {
        const int group = as_uarch_group_find(uarch, *name);
        if (group >= 0)
            return group;
    }
    return -1;
}

int as_predictor_new(const struct as_uarch *uarch, struct as_predictor **out, struct as_error *err)
{
    static const char *const load[] = {"LD", "AGU", NULL}, *const load_fp[] = {"LDV", "LD", NULL},
                             *const address[] = {"STA", "AGU", NULL}, *const data[] = {"STD", NULL},
                             *const alu[] = {"ALU", NULL}, *const fp[] = {"FANY", NULL},
                             *const branch[] = {"BR", "ALU", NULL};
    struct as_predictor *p = as_calloc(1, sizeof *p);
    *out = p;
    if (!p)
        return as_error_nomem(err, "the predictor");
    p->uarch = uarch;
    as_arena_init(&p->arena);
    p->group_load = first_group(uarch, load);
    p->group_load_fp = first_group(uarch, load_fp);
    p->group_store_address = first_group(uarch, address);
    p->group_store_data = first_group(uarch, data);
    p->group_alu = first_group(uarch, alu);
    p->group_fp = first_group(uarch, fp);
    p->group_branch = first_group(uarch, branch);
    return 0;
}

void as_predictor_free(struct as_predictor **predictor)
{
    struct as_predictor *p = *predictor;
    *predictor = NULL;
    if (!p)
        return;
    as_vec_fini(&p->known);
    as_vec_fini(&p->block.edge);
    as_index_fini(&p->known_index);
    as_values_free(&p->values);
    as_simulation_free(&p->simulation);
    as_arena_fini(&p->arena);
    as_free(p);
}

/* ---- Bounds -------------------------------------------------------------------------------- */

static void name_ports(const struct as_uarch *uarch, uint64_t ports, char *out, size_t out_b)
{
    size_t n = 0;
    out[0] = 0;
    for (; ports && n < out_b; ports &= ports - 1)
        n += (size_t)snprintf(out + n, out_b - n, "%s%s", n ? " " : "",
                              uarch->port[__builtin_ctzll(ports)]);
}

static int store_predicted_chain(struct as_predictor *p, const uint32_t *edge, size_t edge_n,
                                 struct as_prediction *out)
{
    struct as_chain_step *step = as_arena_array(&p->arena, struct as_chain_step, edge_n + 1);
    if (!step)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < edge_n; i++) {
        const struct as_dependence_edge *e = &p->block.edge.at[edge[i]];
        step[i] = (struct as_chain_step){p->block.op[e->from].insn, e->weight, e->memory,
                                         (uint8_t)e->distance};
    }
    out->chain = step;
    out->chain_n = edge_n;
    return 0;
}

static int find_chain(struct as_predictor *p, struct as_prediction *out)
{
    size_t edge_n = 0;
    uint32_t *edge = as_arena_array(&p->arena, uint32_t, p->block.op_n + 1);
    const double cycles = edge ? as_chain_longest(&p->block, &p->arena, edge, &edge_n) : -1;
    if (cycles < 0 || store_predicted_chain(p, edge, edge_n, out) < 0)
        return AS_ERR_NOMEM;
    out->bounds[AS_BOUND_LATENCY] = cycles;
    return 0;
}

/* Finds the bounds of dispatch, decode, branches and ports. On an in-order core, dispatch and pipes
 * depend on the issues of one thread. */
static void find_bounds_of_issue(const struct as_predictor *p, struct as_prediction *out,
                                 uint64_t *ports)
{
    const struct as_piece_of_code *block = &p->block;
    const double gap = p->uarch->set[AS_UARCH_in_order];
    if (!(block->without & AS_WITHOUT_FRONT_END))
        out->bounds[AS_BOUND_DISPATCH] = as_front_dispatch(block) * (gap > 0 ? gap : 1);
    if (!(block->without & (AS_WITHOUT_FRONT_END | AS_WITHOUT_DECODE)) && !(gap > 0))
        out->bounds[AS_BOUND_DECODE] = as_front_decode(block);
    out->bounds[AS_BOUND_BRANCH] = as_front_branch(block);
    if (!(block->without & AS_WITHOUT_PORTS))
        out->bounds[AS_BOUND_PORTS] = as_ports_busiest(block, ports);
    if (gap > 0 && !(block->without & AS_WITHOUT_PORTS)) {
        uint64_t first = 0;
        const double alone = as_in_order_pipe(p, &first);
        if (alone > out->bounds[AS_BOUND_PORTS]) {
            out->bounds[AS_BOUND_PORTS] = alone;
            *ports = first;
        }
    }
}

struct unit_bound {
    double cycles;
    const char *name;
};

static void raise_unit(struct unit_bound *out, double cycles, const char *name)
{
    if (cycles > out->cycles)
        *out = (struct unit_bound){cycles, name};
}

/* Returns the highest bound of units that are not pipelined and of the first-level cache. */
static struct unit_bound find_unit_bound(const struct as_piece_of_code *block)
{
    const double lines = block->uarch->set[AS_UARCH_store_lines];
    const char *name = "";
    struct unit_bound found = {.name = ""};
    const double own = as_units_busiest(block, &name);
    raise_unit(&found, own, name);
    raise_unit(&found, lines > 0 ? as_store_lines(block) / lines : 0, "stores to lines");
    if (!(block->without & AS_WITHOUT_PORTS)) {
        const double bytes = as_memory_bytes(block, &name);
        raise_unit(&found, bytes, name);
        raise_unit(&found, as_memory_mixed(block), "loads and stores");
    }
    raise_unit(&found, as_bank_busiest(block), "loads from one bank");
    return found;
}

static int find_bounds(struct as_predictor *p, struct as_prediction *out)
{
    const struct as_piece_of_code *block = &p->block;
    const struct unit_bound unit = find_unit_bound(block);
    uint64_t ports = 0;
    find_bounds_of_issue(p, out, &ports);
    out->bounds[AS_BOUND_UNIT] = unit.cycles;
    if (!(block->without & AS_WITHOUT_LATENCY))
        AS_TRY(find_chain(p, out));
    for (unsigned i = 0; i < AS_BOUND_WINDOW; i++)
        if (out->bounds[i] > out->cycles) {
            out->cycles = out->bounds[i];
            out->bound = (enum as_bound)i;
        }
    if (out->bound == AS_BOUND_PORTS)
        name_ports(p->uarch, ports, out->limit, sizeof out->limit);
    else if (out->bound == AS_BOUND_UNIT)
        snprintf(out->limit, sizeof out->limit, "%s", unit.name);
    return 0;
}

/* ---- Results per instruction ---------------------------------------------------------------- */

static bool is_idiom(const struct as_piece_of_code *block, const struct as_op *op)
{
    return !op->move && !op->use_n && !op->memory_n && op->at != UINT32_MAX &&
           block->code->insn[op->at].bits & AS_INSN_IDIOM;
}

/* Returns true if one slot holds an access and other work, or the address and the
 * data of a store. */
static bool is_micro_fused(const struct as_op *op)
{
    bool address = false, other = false;
    for (unsigned i = 0; i < op->use_n; i++) {
        address |= op->use[i].address;
        other |= !op->use[i].address;
    }
    return address && other && op->slots <= 1;
}

static int describe_insns(struct as_predictor *p, struct as_prediction *out)
{
    const struct as_piece_of_code *block = &p->block;
    struct as_insn_prediction *insn =
        as_arena_array(&p->arena, struct as_insn_prediction, block->insn_n + 1);
    double *port_use = as_arena_array(&p->arena, double, p->uarch->port_n + 1);
    float *insn_port = as_arena_array(&p->arena, float, (block->insn_n + 1) * p->uarch->port_n + 1);
    if (!insn || !port_use || !insn_port)
        return AS_ERR_NOMEM;
    for (uint32_t i = 0; i < block->insn_n; i++)
        insn[i].fused = true;
    for (uint32_t i = 0; i < block->op_n; i++) {
        const struct as_op *op = &block->op[i];
        if (op->insn >= block->insn_n)
            continue;
        insn[op->insn] =
            (struct as_insn_prediction){.timing = op->timing,
                                        .eliminated = op->move || (!op->use_n && !op->memory_n),
                                        .moved = op->move,
                                        .idiom = is_idiom(block, op),
                                        .micro_fused = is_micro_fused(op),
                                        .estimated = op->flags & AS_TIMING_ESTIMATED,
                                        .slots = op->slots,
                                        .latency = op->latency};
    }
    for (size_t i = 0; i < out->chain_n; i++)
        if (out->chain[i].insn < block->insn_n)
            insn[out->chain[i].insn].chain = true;
    if (!(block->without & AS_WITHOUT_SPREAD))
        as_ports_spread(block, port_use, insn_port);
    out->insn = insn;
    out->insn_n = block->insn_n;
    out->port_use = port_use;
    out->insn_port = insn_port;
    out->port_n = p->uarch->port_n;
    return 0;
}

static bool near_tie(const struct as_prediction *out)
{
    unsigned near = 0;
    for (unsigned i = 0; i < AS_BOUND_WINDOW; i++)
        near += out->bounds[i] > NEAR_TIE * out->cycles;
    return near > 1;
}

/* Returns true if only the simulation shows how a block fills groups of slots. */
static bool fills_groups(const struct as_piece_of_code *block)
{
    for (uint32_t i = 0; i < block->op_n; i++)
        if (as_front_begins_group(block, &block->op[i]))
            return true;
    return false;
}

static int add_simulation(struct as_predictor *p, const struct as_predict_options *options,
                          struct as_prediction *out)
{
    struct as_timeline_entry *timeline = NULL;
    const bool in_order = p->uarch->set[AS_UARCH_in_order] > 0;
    out->simulated = -1;
    for (unsigned i = 0; i < AS_BUFFERS; i++)
        out->full_cy[i] = -1;
    if (options->without & AS_WITHOUT_SIMULATION ||
        (!options->simulate && !options->timeline_n && !in_order && !near_tie(out) &&
         !fills_groups(&p->block)))
        return 0;
    AS_TRY((in_order ? as_simulate_in_order : as_simulate)(p, options->timeline_n, &out->simulated,
                                                           &timeline, &out->timeline_n));
    if (!in_order)
        as_simulated_waits(p->simulation, out->full_cy);
    out->timeline = timeline;
    out->bounds[AS_BOUND_WINDOW] = out->simulated;
    if (out->simulated > out->cycles * 1.02) {
        out->bound = AS_BOUND_WINDOW;
        out->limit[0] = 0; /* removes the name of the ports or unit that would limit alone */
    }
    if (out->simulated > out->cycles)
        out->cycles = out->simulated;
    return 0;
}

static void set_front_end_cycles(const struct as_piece_of_code *block, struct as_prediction *out)
{
    struct as_front_stages stages = {-1, -1, -1, -1};
    if (!(block->without & AS_WITHOUT_SPREAD))
        stages = as_front_stages(block);
    out->fetch_cy = stages.fetch;
    out->predecode_cy = stages.predecode;
    out->decoder_cy = stages.decoders;
    out->cached_cy = stages.cached;
}

int as_predict(struct as_predictor *predictor, const struct as_code *code, size_t first, size_t n,
               const struct as_predict_options *options, struct as_prediction *out,
               struct as_error *err)
{
    struct as_predictor *p = predictor;
    memset(out, 0, sizeof *out);
    if (!n || first + n > code->n)
        return as_error_set(err, AS_ERR_NO_CODE,
                            "predict: no instruction to predict; use code "
                            "with instructions");
    as_arena_reset(&p->arena);
    const __typeof__(p->block.edge) edge = p->block.edge;
    p->block = (struct as_piece_of_code){
        .without = options->without,
        .mode = options->mode,
        .without_load = options->without_load ? first + options->without_load : 0,
        .ready = options->ready,
        .equal_memory = options->equal_memory,
        .worst = options->worst};
    memcpy(&p->block.edge, &edge, sizeof edge);
    AS_TRY(as_block_build(p, code, first, n, err));
    AS_TRY(as_block_depend(p, err));
    as_ports_split(&p->block);
    as_ports_runs(p, &p->block);
    if (find_bounds(p, out) < 0 || add_simulation(p, options, out) < 0 ||
        describe_insns(p, out) < 0)
        return as_error_nomem(err, "the prediction");
    for (uint32_t i = 0; i < p->block.op_n; i++)
        out->slots += (double)p->block.op[i].slots;
    as_ports_of_memory(&p->block, out);
    set_front_end_cycles(&p->block, out);
    as_units_of_division(&p->block, &out->divide_cy, &out->divide_worst_cy);
    out->estimated_n = p->block.estimated_n;
    out->alike_n = p->block.alike_n;
    out->varies = p->block.varies;
    as_find_hazards(&p->block, out);
    return 0;
}
