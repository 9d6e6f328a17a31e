/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A prediction for people: the answer and its limits, a line per instruction, the chain, the time
 * line, what removing a limit would give.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "predict.h"

static void show_answer(struct as_predicting *p, const struct as_predicted *predicted)
{
    const struct as_prediction *out = &predicted->out;
    struct as_cli *cli = p->cli;
    as_cli_styled(cli, AS_STYLE_BOLD, predicted->piece->name);
    as_cli_print(cli, ": %.2f cycles per iteration on %s", out->cycles, p->uarch->words);
    if (out->varies && predicted->worst > out->cycles * 1.005)
        as_cli_print(cli, " (up to %.2f, depending on the operands)", predicted->worst);
    as_cli_print(cli, "\nlimited by %s%s%s\n", as_bound_name(out->bound), *out->limit ? ": " : "",
                 out->limit);
    for (unsigned i = 0; i < AS_BOUNDS; i++)
        if (out->bounds[i] > 0)
            as_cli_print(cli, "  %-9s %8.2f\n", as_bound_name((enum as_bound)i), out->bounds[i]);
    as_cli_print(cli, "table: %s%s%s%s\n", as_table_source(p->uarch), *p->choice.file ? " (" : "",
                 p->choice.file, *p->choice.file ? ")" : "");
    if (*p->choice.core.doubt)
        as_cli_print(cli, "core: %s\n", p->choice.core.doubt);
    if (out->estimated_n)
        as_cli_print(cli, "%u of %zu instructions are estimated: they are not in the table\n",
                     out->estimated_n, out->insn_n);
}

/* Ports with their share of the instruction: "a0 0.5 a1 0.5"; nothing where it takes none. */
static void append_insn_ports(const struct as_predicting *p, const struct as_prediction *out,
                              size_t i, struct as_str *words)
{
    as_str_clear(words);
    for (unsigned port = 0; port < out->port_n; port++) {
        const float n = out->insn_port[i * out->port_n + port];
        if (n > 0.01F)
            as_str_appendf(words, "%s%s %.2g", words->n ? " " : "", p->uarch->port[port],
                           (double)n);
    }
}

static void show_insns(struct as_predicting *p, const struct as_predicted *predicted)
{
    const struct as_prediction *out = &predicted->out;
    struct as_str ports = {0};
    char assembly[256];
    as_cli_print(p->cli, "\n  slots latency  instruction; ports\n");
    for (size_t i = 0; i < out->insn_n; i++) {
        const struct as_insn_prediction *insn = &out->insn[i];
        as_predict_assembly(predicted, i, assembly, sizeof assembly);
        append_insn_ports(p, out, i, &ports);
        if (insn->fused)
            as_cli_print(p->cli, "%c     -       -  %-40s fused with the one before\n", ' ',
                         assembly);
        else
            as_cli_print(p->cli, "%c %5.4g %7.4g  %-40s %s%s\n", insn->chain ? '>' : ' ',
                         (double)insn->slots, (double)insn->latency, assembly, as_str_z(&ports),
                         insn->estimated    ? " (estimated)"
                         : insn->eliminated ? "eliminated"
                                            : "");
    }
    as_str_fini(&ports);
}

static void show_chain(struct as_predicting *p, const struct as_predicted *predicted)
{
    const struct as_prediction *out = &predicted->out;
    char assembly[256];
    if (!out->chain_n)
        return;
    as_cli_print(p->cli, "\n"
                         "longest loop-carried dependence chain (>):\n");
    for (size_t i = 0; i < out->chain_n; i++) {
        const struct as_chain_step *step = &out->chain[i];
        if (step->insn < out->insn_n)
            as_predict_assembly(predicted, step->insn, assembly, sizeof assembly);
        else
            snprintf(assembly, sizeof assembly, "the loop's counter");
        as_cli_print(p->cli, "  %-40s %5.4g cycles%s", assembly, (double)step->cycles,
                     step->memory ? ", through memory" : "");
        if (step->iterations)
            as_cli_print(p->cli, ", %u iteration%s on", step->iterations,
                         step->iterations == 1 ? "" : "s");
        as_cli_print(p->cli, "\n");
    }
}

/* Cycles a row has: dispatched D, waiting for sources and its load =, for a port -, executing e,
 * done '.', retired R. A column stands for `step` cycles and shows the rarest thing in them. */
static void draw_row(char *row, size_t width, const struct as_timeline_entry *e, int32_t from,
                     int32_t step)
{
    for (size_t c = 0; c < width; c++) {
        const int32_t t = (int32_t)c * step + from, end = t + step;
        row[c] = t <= e->dispatch && e->dispatch < end ? 'D'
                 : t <= e->retire && e->retire < end   ? 'R'
                 : t < e->dispatch || t > e->retire    ? ' '
                 : e->issue < end && t < e->done       ? 'e'
                 : t < e->ready                        ? '='
                 : t < e->issue                        ? '-'
                                                       : '.';
    }
    row[width] = 0;
    for (size_t n = width; n && row[n - 1] == ' '; n--)
        row[n - 1] = 0;
}

/* All of it in 80 columns. */
static void show_timeline(struct as_predicting *p, const struct as_predicted *predicted)
{
    enum { WIDTH = 45 };
    const struct as_prediction *out = &predicted->out;
    const int32_t from = out->timeline_n ? out->timeline[0].dispatch : 0;
    char row[WIDTH + 1], assembly[256];
    int32_t last = from;
    if (!out->timeline_n)
        return;
    for (size_t i = 0; i < out->timeline_n; i++)
        last = out->timeline[i].retire > last ? out->timeline[i].retire : last;
    const int32_t step = (last - from) / WIDTH + 1;
    as_cli_print(p->cli,
                 "\ntime line from cycle %" PRId32 " on (D dispatched, = waits for a source or its "
                 "load,\n  - for a port, e executes, . done, R retired",
                 from);
    if (step > 1)
        as_cli_print(p->cli, "; a column is %" PRId32 " cycles", step);
    as_cli_print(p->cli, "):\n");
    for (size_t i = 0; i < out->timeline_n; i++) {
        const struct as_timeline_entry *e = &out->timeline[i];
        draw_row(row, WIDTH, e, from, step);
        if (e->insn < out->insn_n)
            as_predict_assembly(predicted, e->insn, assembly, sizeof assembly);
        else
            snprintf(assembly, sizeof assembly, "the loop's counter");
        as_cli_print(p->cli, "%4" PRIu32 " %-28.28s %s\n", e->iteration, assembly, row);
    }
}

/* Rows of --level, or why there is none. */
static void show_levels(struct as_predicting *p, const struct as_predicted *predicted)
{
    const char *lacking = NULL;
    bool asked = false;
    for (unsigned i = 0; i < AS_PREDICT_LEVELS; i++) {
        asked |= p->level[i];
        if (predicted->level[i].cycles >= 0)
            as_cli_print(p->cli, "%s  data in %-4s %8.2f\n", i ? "" : "\n",
                         as_predict_level_name((enum as_predict_level)i),
                         predicted->level[i].cycles);
        lacking = predicted->level[i].lacking ? predicted->level[i].lacking : lacking;
    }
    if (lacking)
        as_cli_wrapped(p->cli, "  ",
                       "unknown for this machine: %s; run 'assay machine --measure all'", lacking);
    else if (asked && !predicted->piece->traffic)
        as_cli_print(p->cli, "  only loops of a binary have data in other levels\n");
    if (asked && predicted->piece->traffic && predicted->piece->traffic->unknown_n)
        as_cli_print(p->cli, "  %u accesses with an unknown stride are not included\n",
                     predicted->piece->traffic->unknown_n);
}

static void show_what_ifs(struct as_predicting *p, const struct as_predicted *predicted)
{
    char assembly[256];
    as_cli_print(p->cli, "\nwith\n");
    for (unsigned i = 0; i < AS_WHAT_IFS; i++) {
        const struct as_predicted_what_if *what_if = &predicted->what_if[i];
        if (!what_if->is_there)
            continue;
        as_cli_print(p->cli, "  %-38s %8.2f  then %s", what_if->words, what_if->cycles,
                     as_bound_name(what_if->bound));
        if (strcmp(what_if->key, "one_load_fewer") == 0) {
            as_predict_assembly(predicted, predicted->load, assembly, sizeof assembly);
            as_cli_print(p->cli, " (%s)", assembly);
        }
        as_cli_print(p->cli, "\n");
    }
}

void as_predict_text(struct as_predicting *p, const struct as_predicted *predicted)
{
    show_answer(p, predicted);
    show_levels(p, predicted);
    show_insns(p, predicted);
    show_chain(p, predicted);
    show_timeline(p, predicted);
    show_what_ifs(p, predicted);
    if (predicted->piece->sampled)
        as_cli_print(p->cli,
                     "\nall paths of the loop, weighted by %s (this one %.0f %%): %.2f cycles\n",
                     predicted->piece->counted ? "counts" : "samples",
                     100 * predicted->piece->weight, predicted->piece->weighted);
    else if (predicted->piece->several)
        as_cli_print(p->cli,
                     "\nall paths of the loop, by what the code tells (no profile): %.2f cycles\n",
                     predicted->piece->weighted);
}
