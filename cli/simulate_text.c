/* SPDX-License-Identifier: Apache-2.0 */
/* Results of `assay simulate`: one sentence first, then efficiencies, simulations and ranks. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "sheet.h"
#include "simulate.h"

#define RANKS_SHOWN 32u

/* ---- Efficiencies ---------------------------------------------------------------------------- */

static const struct as_simulate_case *case_of(const struct as_simulate_view *view,
                                              enum as_simulate_kind kind)
{
    return as_vec_find(&view->cases, kind, kind);
}

struct as_simulate_efficiency as_simulate_efficiency_of(const struct as_simulate_view *view)
{
    const struct as_simulate_case *ideal = case_of(view, AS_SIMULATE_IDEAL);
    const struct as_simulate_case *asked = case_of(view, AS_SIMULATE_ASKED);
    struct as_simulate_efficiency e = {NAN, NAN, NAN, NAN, NAN, NAN, 0, ideal->recorded.rank.n > 0};
    const double ideal_ns = (double)ideal->result.total_ns;
    double max_ns = 0, sum_ns = 0;
    as_vec_foreach (&ideal->result.rank, rank) {
        max_ns = fmax(max_ns, (double)rank->computing_ns);
        sum_ns += (double)rank->computing_ns;
    }
    e.real_ns = e.is_recorded ? as_recorded_ns(&ideal->recorded)
                : asked       ? asked->result.total_ns
                              : 0;
    if (ideal_ns > 0)
        e.serialisation = max_ns / ideal_ns;
    if (max_ns > 0)
        e.balance = sum_ns / (double)ideal->result.rank.n / max_ns;
    if (e.real_ns > 0) {
        e.transfer = ideal_ns / (double)e.real_ns;
        e.parallel = sum_ns / (double)ideal->result.rank.n / (double)e.real_ns;
    }
    const struct as_simulate_case *fast = case_of(view, AS_SIMULATE_NO_LATENCY);
    const struct as_simulate_case *wide = case_of(view, AS_SIMULATE_ALL_BANDWIDTH);
    if (fast && fast->result.total_ns > 0)
        e.bandwidth = ideal_ns / (double)fast->result.total_ns;
    if (wide && wide->result.total_ns > 0)
        e.latency = ideal_ns / (double)wide->result.total_ns;
    return e;
}

/* ---- Sheets ---------------------------------------------------------------------------------- */

static const struct as_field rank_fields[] = {
    {"simulation", NULL, 0},  {"rank", NULL, 0},          {"computing_ns", NULL, 0},
    {"latency_ns", NULL, 0},  {"link_ns", NULL, 0},       {"bus_ns", NULL, 0},
    {"transfer_ns", NULL, 0}, {"collective_ns", NULL, 0}, {"blocked_ns", NULL, 0},
    {"end_ns", NULL, 0},
};
#define RANK_FIELDS_N (sizeof rank_fields / sizeof *rank_fields)

static void fill_simulated_rank(void *context, size_t row, struct as_cell *cell)
{
    const struct as_simulate_case *it = context;
    const struct as_simulated_rank *rank = &it->result.rank.at[row];
    const int64_t ns[] = {rank->computing_ns, rank->latency_ns,    rank->link_ns,    rank->bus_ns,
                          rank->transfer_ns,  rank->collective_ns, rank->blocked_ns, rank->end_ns};
    cell[0] = as_cell_text(as_str_z(&it->name));
    cell[1] = as_cell_count(row);
    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++)
        cell[2 + i] = as_cell_signed(ns[i]);
}

static const struct as_field case_fields[] = {
    {"simulation", NULL, 0},
    {"total_ns", NULL, 0},
    {"latency_ns", NULL, 0},
    {"bandwidth_bps", NULL, 0},
    {"buses", NULL, 0},
    {"in_links", NULL, 0},
    {"out_links", NULL, 0},
    {"inside_latency_ns", NULL, 0},
    {"inside_bandwidth_bps", NULL, 0},
    {"inside_buses", NULL, 0},
    {"ranks_per_node", NULL, 0},
    {"nodes_per_machine", NULL, 0},
    {"wide_latency_ns", NULL, 0},
    {"wide_bandwidth_bps", NULL, 0},
    {"wide_flight_ns", NULL, 0},
    {"wide_links", NULL, 0},
    {"eager_b", NULL, 0},
    {"cpu", NULL, 0},
    {"actions", NULL, 0},
    {"messages", NULL, 0},
    {"unreceived", NULL, 0},
    {"in_flight_max", NULL, 0},
};
#define CASE_FIELDS_N (sizeof case_fields / sizeof *case_fields)

/* Without a limit: no value. */
static struct as_cell limit_cell(uint64_t limit)
{
    return limit ? as_cell_count(limit) : (struct as_cell){.kind = AS_CELL_NONE};
}

static void fill_case(void *context, size_t row, struct as_cell *cell)
{
    const struct as_simulate_view *view = context;
    const struct as_simulate_case *it = &view->cases.at[row];
    const struct as_machine_model *model = &it->machine.model;
    const struct as_network *between = &model->network[AS_NETWORK_BETWEEN];
    const struct as_network *inside = &model->network[AS_NETWORK_INSIDE];
    const struct as_network *wide = &model->network[AS_NETWORK_WIDE];
    unsigned at = 0;
    cell[at++] = as_cell_text(as_str_z(&it->name));
    cell[at++] = as_cell_signed(it->result.total_ns);
    cell[at++] = as_cell_signed(between->latency_ns);
    cell[at++] = limit_cell(between->bandwidth_bps);
    cell[at++] = limit_cell(between->buses);
    cell[at++] = limit_cell(between->in_links);
    cell[at++] = limit_cell(between->out_links);
    cell[at++] = as_cell_signed(inside->latency_ns);
    cell[at++] = limit_cell(inside->bandwidth_bps);
    cell[at++] = limit_cell(inside->buses);
    cell[at++] = limit_cell(model->ranks_per_node);
    cell[at++] = limit_cell(model->nodes_per_machine);
    for (unsigned i = 0; i < 4; i++)
        cell[at + i] = (struct as_cell){.kind = AS_CELL_NONE};
    if (model->nodes_per_machine || model->machine_n > 1) {
        cell[at] = as_cell_signed(wide->latency_ns);
        cell[at + 1] = limit_cell(wide->bandwidth_bps);
        cell[at + 2] = as_cell_signed(wide->flight_ns);
        cell[at + 3] = limit_cell(wide->in_links);
    }
    at += 4;
    cell[at++] = limit_cell(model->eager_b == UINT64_MAX ? 0 : model->eager_b);
    if (model->eager_b == 0)
        cell[at - 1] = as_cell_count(0);
    cell[at++] = as_cell_real(model->speed);
    cell[at++] = as_cell_count(it->result.actions_n);
    cell[at++] = as_cell_count(it->result.messages_n);
    cell[at++] = as_cell_count(it->result.unreceived_n);
    cell[at++] = as_cell_count(it->result.in_flight_max);
}

static struct as_cell efficiency_cell(double value)
{
    return isnan(value) ? (struct as_cell){.kind = AS_CELL_NONE} : as_cell_real(value);
}

static const struct as_field function_fields[] = {
    {"function", NULL, 0}, {"computing_ns", NULL, 0}, {"total_ns", NULL, 0}, {"gain_ns", NULL, 0}};
#define FUNCTION_FIELDS_N (sizeof function_fields / sizeof *function_fields)

static void fill_simulated_function(void *context, size_t row, struct as_cell *cell)
{
    const struct as_simulate_view *view = context;
    const struct as_simulate_function *function = &view->functions.at[row];
    cell[0] = as_cell_text(function->name);
    cell[1] = as_cell_signed(function->computing_ns);
    cell[2] = as_cell_signed(function->total_ns);
    cell[3] = as_cell_signed(view->each_from_ns - function->total_ns);
}

static void show_json(const struct as_simulate_view *view, const struct as_sheet *cases,
                      const struct as_sheet *ranks)
{
    const struct as_simulate_efficiency e = as_simulate_efficiency_of(view);
    struct as_facts facts;
    as_facts_begin(&facts, view->cli);
    as_facts_cell(&facts, "ranks", as_cell_count(view->shown->result.rank.n));
    as_facts_cell(&facts, "recorded_ns",
                  e.is_recorded ? as_cell_signed(e.real_ns)
                                : (struct as_cell){.kind = AS_CELL_NONE});
    as_facts_cell(&facts, "ideal_ns", as_cell_signed(view->cases.at[0].result.total_ns));
    as_facts_cell(&facts, "transfer_efficiency", efficiency_cell(e.transfer));
    as_facts_cell(&facts, "serialisation_efficiency", efficiency_cell(e.serialisation));
    as_facts_cell(&facts, "load_balance", efficiency_cell(e.balance));
    as_facts_cell(&facts, "parallel_efficiency", efficiency_cell(e.parallel));
    as_facts_cell(&facts, "bandwidth_efficiency", efficiency_cell(e.bandwidth));
    as_facts_cell(&facts, "latency_efficiency", efficiency_cell(e.latency));
    as_facts_sheet(&facts, "simulations", cases);
    as_facts_sheet(&facts, "rank_times", ranks);
    as_facts_sheet(&facts, "functions",
                   &(struct as_sheet){function_fields, FUNCTION_FIELDS_N, view->functions.n,
                                      (void *)view, fill_simulated_function});
    as_facts_end(&facts);
}

/* ---- Text ------------------------------------------------------------------------------------ */

#define CPU_WAIT_SHARE 0.03 /* of the recorded time, from which on it is said */

/* One unit for all times of a table. */
struct shown_unit {
    const char *word;
    double ns;
};

static struct shown_unit unit_for(int64_t ns)
{
    return ns >= 10000000000 ? (struct shown_unit){"s", 1e9}
           : ns >= 10000000  ? (struct shown_unit){"ms", 1e6}
           : ns >= 10000     ? (struct shown_unit){"us", 1e3}
                             : (struct shown_unit){"ns", 1};
}

static const char *time_text(int64_t ns, char text[32])
{
    const struct shown_unit unit = unit_for(ns);
    snprintf(text, 32, "%.*f %s", unit.ns > 1 ? 3 : 0, (double)ns / unit.ns, unit.word);
    return text;
}

static void show_ideal(const struct as_simulate_view *view, const struct as_simulate_efficiency *e)
{
    char ideal[32], real[32];
    time_text(view->cases.at[0].result.total_ns, ideal);
    time_text(e->real_ns, real);
    if (e->real_ns == 0)
        as_cli_wrapped(view->cli, "", "With an ideal network the program takes %s.", ideal);
    else if (e->transfer > 1)
        as_cli_wrapped(view->cli, "",
                       "The network has no measurable cost: %s with an ideal network, %s %s.",
                       ideal, real, e->is_recorded ? "recorded" : "with this one");
    else
        as_cli_wrapped(view->cli, "",
                       "With an ideal network the program takes %.1f %% less time: %s instead of "
                       "%s%s.",
                       100 * (1 - e->transfer), ideal, real, e->is_recorded ? " recorded" : "");
    if (e->is_recorded && (double)view->cpu_wait_ns > CPU_WAIT_SHARE * (double)e->real_ns)
        as_cli_wrapped(view->cli, "",
                       "A rank was ready for %s without a CPU. This is not a cost of the network: "
                       "repeat the trace on reserved CPUs.",
                       time_text(view->cpu_wait_ns, ideal));
}

static void show_asked(const struct as_simulate_view *view, const struct as_simulate_efficiency *e)
{
    const struct as_simulate_case *asked = case_of(view, AS_SIMULATE_ASKED);
    char text[32];
    if (!asked || !e->is_recorded || e->real_ns == 0)
        return;
    as_cli_wrapped(view->cli, "", "With this network it takes %s, %+.1f %% of the recorded time.",
                   time_text(asked->result.total_ns, text),
                   100 * ((double)asked->result.total_ns / (double)e->real_ns - 1));
}

static void show_what_if(const struct as_simulate_view *view)
{
    const struct as_simulate_case *changed = case_of(view, AS_SIMULATE_WHAT_IF);
    const struct as_simulate_case *asked = case_of(view, AS_SIMULATE_ASKED);
    const struct as_simulate_case *usual = asked ? asked : case_of(view, AS_SIMULATE_IDEAL);
    char before[32], after[32];
    if (!changed || changed->result.total_ns == 0)
        return;
    as_cli_wrapped(view->cli, "",
                   "With the speeds of --cpu it takes %s instead of %s on %s network: %.2f times "
                   "as fast.",
                   time_text(changed->result.total_ns, after),
                   time_text(usual->result.total_ns, before), asked ? "this" : "an ideal",
                   (double)usual->result.total_ns / (double)changed->result.total_ns);
}

static void show_efficiency(const struct as_simulate_view *view, const char *name, double value,
                            const char *formula)
{
    if (isnan(value))
        as_cli_print(view->cli, "%-26s     ?    %s\n", name, formula);
    else
        as_cli_print(view->cli, "%-26s %5.1f %%  %s\n", name, 100 * value, formula);
}

static void show_efficiencies(const struct as_simulate_view *view,
                              const struct as_simulate_efficiency *e)
{
    const char *real = e->is_recorded ? "recorded" : "simulated";
    char parallel[64], transfer[64];
    snprintf(parallel, sizeof parallel, "mean computation / %s time", real);
    snprintf(transfer, sizeof transfer, "ideal / %s time", real);
    as_cli_print(view->cli, "\n");
    show_efficiency(view, "parallel efficiency", e->parallel, parallel);
    show_efficiency(view, "  load balance", e->balance, "mean / longest computation");
    show_efficiency(view, "  serialisation efficiency", e->serialisation,
                    "longest computation / ideal time");
    show_efficiency(view, "  transfer efficiency", e->transfer, transfer);
    if (isnan(e->latency))
        return;
    as_cli_print(view->cli, "\nOf this network:\n");
    show_efficiency(view, "  bandwidth efficiency", e->bandwidth,
                    "ideal time / time without latency");
    show_efficiency(view, "  latency efficiency", e->latency,
                    "ideal time / time with infinite bandwidth");
}

static void show_sweep(const struct as_simulate_view *view)
{
    const double ideal_ns = (double)view->cases.at[0].result.total_ns;
    char text[32];
    if (!case_of(view, AS_SIMULATE_SWEEP))
        return;
    as_cli_print(view->cli, "\n%14s  %9s  %s\n", "time", "to ideal", "sweep");
    as_vec_foreach (&view->cases, it)
        if (it->kind == AS_SIMULATE_SWEEP)
            as_cli_print(view->cli, "%14s  %8.3fx  %s\n", time_text(it->result.total_ns, text),
                         ideal_ns > 0 ? (double)it->result.total_ns / ideal_ns : 1,
                         as_str_z(&it->name));
}

static const char *title_of_shown(const struct as_simulate_view *view)
{
    switch (view->shown->kind) {
    case AS_SIMULATE_IDEAL:
        return "an ideal network";
    case AS_SIMULATE_ASKED:
        return "this network";
    default:
        return "the speeds of --cpu";
    }
}

static void show_ranks(const struct as_simulate_view *view)
{
    const struct as_simulated *result = &view->shown->result;
    const struct shown_unit unit = unit_for(result->total_ns);
    const int digits = unit.ns > 1 ? 3 : 0;
    as_cli_print(view->cli, "\nRanks with %s, %s:\n", title_of_shown(view), unit.word);
    as_cli_print(view->cli, "%5s %9s %7s %7s %7s %8s %8s %8s %9s\n", "rank", "computing", "latency",
                 "link", "bus", "transfer", "collect.", "blocked", "end");
    for (size_t i = 0; i < result->rank.n && i < RANKS_SHOWN; i++) {
        const struct as_simulated_rank *r = &result->rank.at[i];
        as_cli_print(view->cli, "%5zu %9.*f %7.*f %7.*f %7.*f %8.*f %8.*f %8.*f %9.*f\n", i, digits,
                     (double)r->computing_ns / unit.ns, digits, (double)r->latency_ns / unit.ns,
                     digits, (double)r->link_ns / unit.ns, digits, (double)r->bus_ns / unit.ns,
                     digits, (double)r->transfer_ns / unit.ns, digits,
                     (double)r->collective_ns / unit.ns, digits, (double)r->blocked_ns / unit.ns,
                     digits, (double)r->end_ns / unit.ns);
    }
    if (result->rank.n > RANKS_SHOWN)
        as_cli_print(view->cli, "%u of %zu ranks; use --format csv for all.\n", RANKS_SHOWN,
                     result->rank.n);
}

static void show_text(const struct as_simulate_view *view)
{
    const struct as_simulate_efficiency e = as_simulate_efficiency_of(view);
    show_ideal(view, &e);
    show_asked(view, &e);
    show_what_if(view);
    show_efficiencies(view, &e);
    show_sweep(view);
    as_simulate_each_show(view);
    show_ranks(view);
}

int as_simulate_show(struct as_simulate_view *view, struct as_error *err)
{
    (void)err;
    view->shown = as_simulate_shown(view);
    struct as_sheet cases = {case_fields, CASE_FIELDS_N, view->cases.n, view, fill_case};
    struct as_sheet ranks = {rank_fields, RANK_FIELDS_N, view->shown->result.rank.n,
                             (void *)view->shown, fill_simulated_rank};
    const bool is_sweep = case_of(view, AS_SIMULATE_SWEEP) != NULL;
    if (view->cli->format == AS_FORMAT_TEXT) {
        show_text(view);
    } else if (view->cli->format == AS_FORMAT_CSV) {
        as_sheet_csv_header(view->cli, is_sweep ? &cases : &ranks);
        as_sheet_csv_rows(view->cli, is_sweep ? &cases : &ranks);
    } else {
        show_json(view, &cases, &ranks);
    }
    return 0;
}
