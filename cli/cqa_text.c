/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code quality analysis as text, in 80 columns. Each loop has a line or a report: verdict, source,
 * possible gains, obstacles, advice by level, and everything for experts.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "cqa.h"
#include "loop_words.h"
#include "text.h"

#define WIDTH         79
#define SOURCE_LINES  8
#define LIMIT_COLUMNS 13
#define EVIDENCE_MOST 2    /* reasons of one kind that are shown */
#define GAIN          1.05 /* smaller gains have no line of their own */

void as_cqa_wrapped(struct as_quality_view *view, const char *first, unsigned indent,
                    const struct as_str *text)
{
    struct as_str line = {0};

    as_str_appendz(&line, first);
    as_wrap(&line, as_str_z(text), (unsigned)strlen(first), indent, WIDTH);
    as_cli_print(view->cli, "%s", as_str_z(&line));
    as_str_fini(&line);
}

/* ---- A line a loop ------------------------------------------------------------------------- */

void as_cqa_text_table(struct as_quality_view *view)
{
    if (as_table_is_cited(view->uarch))
        as_cli_wrapped(view->cli, "",
                       "The table of this core comes from publications: cycles may be wrong. Run "
                       "'assay machine --measure instructions' on the core to measure it.");
}

void as_cqa_text_head(struct as_quality_view *view)
{
    as_cli_print(view->cli, "on %s, data in L1\n", view->uarch->words);
    as_cqa_text_table(view);
    as_cli_style(view->cli, AS_STYLE_BOLD);
    as_cli_print(view->cli, "%6s  %-27s %8s %7s %-9s %s", "loop", "function, source", "cycles",
                 "vectors", "limit", "to gain");
    as_cli_style(view->cli, AS_STYLE_PLAIN);
    as_cli_print(view->cli, "\n");
}

/* The name, shortened in front of its place in the source. */
static void place_column(const struct as_quality_view *view, const struct as_cqa *cqa, char *out,
                         size_t columns)
{
    struct as_str words = {0};

    as_cqa_place_words(view, cqa, &words);
    const char *comma = strrchr(as_str_z(&words), ',');
    const size_t tail = comma ? strlen(comma) : 0;
    const size_t room = columns > tail ? columns - tail : 0;

    if (words.n <= columns || room < 6)
        snprintf(out, columns + 1, "%s", as_str_z(&words));
    else
        snprintf(out, columns + 1, "%.*s..%s", (int)room - 2, as_str_z(&words), comma ? comma : "");
    as_str_fini(&words);
}

void as_cqa_text_row(struct as_quality_view *view, const struct as_cqa *cqa)
{
    enum { PLACE = 27 };
    const struct as_cqa_path *mean = &cqa->mean;
    char place[PLACE + 1], id[16] = "-", vectors[16] = "-", gain[32] = "-";

    place_column(view, cqa, place, PLACE);
    if (cqa->loop != AS_NONE)
        snprintf(id, sizeof id, "%" PRIu32, cqa->loop);
    if (!cqa->path_n) {
        char lacks[128] = "no path (outsize nest)", words[96];

        if (cqa->lacks)
            snprintf(lacks, sizeof lacks, "not for this core (%s)",
                     as_extension_words(cqa->lacks, words, sizeof words));
        as_cli_print(view->cli, "%6s  %-27s %s\n", id, place, lacks);
        return;
    }
    const double ratio = as_cqa_value(mean, "vec_eff_all_pct");
    const int best = as_cqa_best(mean);

    if (!isnan(ratio))
        snprintf(vectors, sizeof vectors, "%.0f %%", ratio);
    if (best >= 0)
        snprintf(gain, sizeof gain, "%.1fx %s", mean->what_if[best].speedup,
                 as_cqa_variant_name((enum as_cqa_variant)best));
    as_cli_print(view->cli, "%6s  %-27s %8.2f %7s %-9s %s\n", id, place,
                 as_cqa_value(mean, "cycles"), vectors, as_bound_name(mean->bound), gain);
    as_cqa_remarks_row(view, cqa);
}

/* ---- The verdict --------------------------------------------------------------------------- */

static void emit_head(struct as_quality_view *view, const struct as_cqa *cqa)
{
    struct as_str head = {0}, more = {0};

    if (cqa->loop != AS_NONE)
        as_str_appendf(&head, "loop %" PRIu32 ": ", cqa->loop);
    as_cqa_place_words(view, cqa, &head);
    if (view->shown > 1)
        as_cli_print(view->cli, "\n");
    as_cli_styled(view->cli, AS_STYLE_BOLD, as_str_z(&head));
    if (cqa->loop != AS_NONE) {
        const struct as_loop *loop = &view->chosen.program->loop[cqa->loop];

        if (!loop->sources)
            as_str_appendf(&more, " at 0x%" PRIx64,
                           view->chosen.program->block[loop->header].start);
        as_str_appendf(&more, " (%s, %s", as_level_word(loop->level), as_role_word(loop->role));
        if (loop->unroll > 1)
            as_str_appendf(&more, ", %u source iterations each", loop->unroll);
        as_cli_print(view->cli, "%s)", as_str_z(&more));
    }
    as_cli_print(view->cli, "\n");
    as_str_fini(&head);
    as_str_fini(&more);
}

static void write_time(struct as_quality_view *view, const struct as_cqa_path *mean)
{
    static const char *const words[] = {
        [AS_BOUND_DISPATCH] = "dispatch (micro-operations per cycle of the front end)",
        [AS_BOUND_DECODE] = "fetch and decode",
        [AS_BOUND_BRANCH] = "its taken branches",
        [AS_BOUND_PORTS] = "the execution ports",
        [AS_BOUND_UNIT] = "a unit that is not pipelined:",
        [AS_BOUND_LATENCY] = "a loop-carried dependence",
        [AS_BOUND_WINDOW] = "the buffers of the core (several limits add up)"};
    _Static_assert(sizeof words / sizeof *words == AS_BOUNDS,
                   "an entry for each of the enumeration");
    const double cycles = as_cqa_value(mean, "cycles"),
                 source = as_cqa_value(mean, "cycles_source");
    const double worst = as_cqa_value(mean, "cycles_worst");
    struct as_str text = {0};

    as_str_appendf(&text, "%.2f cycles per iteration", cycles);
    if (!isnan(source) && fabs(source - cycles) > 0.005)
        as_str_appendf(&text, " (%.2f a source iteration)", source);
    if (worst > cycles * 1.005)
        as_str_appendf(&text, ", %.2f with the slowest divisions", worst);
    const bool divides = mean->bound == AS_BOUND_PORTS && strstr(mean->limit, "div");
    const bool memory =
        mean->bound == AS_BOUND_UNIT && (strncmp(mean->limit, "loads", 5) == 0 ||
                                         strncmp(mean->limit, "stores", 6) == 0); /* no units */
    as_str_appendf(&text, ", limited by %s",
                   divides  ? "the divider,"
                   : memory ? "the bandwidth of L1:"
                            : words[mean->bound]);
    if (*mean->limit)
        as_str_appendf(&text, " %s", mean->limit);
    as_str_appendz(&text, ".");
    const double estimated = as_cqa_value(mean, "estimated_n");
    if (estimated > 0)
        as_str_appendf(&text,
                       " %.0f of its instructions are not in the table of the core: they are "
                       "estimated.",
                       ceil(estimated)); /* a mean over paths */
    if (as_cqa_value(mean, "transition_n") >= 0.5)
        as_str_appendz(&text, " Transitions between AVX and SSE are not in these cycles; they may "
                              "cost hundreds.");
    as_cqa_wrapped(view, "  ", 4, &text);
    as_str_fini(&text);
}

static void emit_vectors(struct as_quality_view *view, const struct as_cqa_path *mean)
{
    const double ratio = as_cqa_value(mean, "vec_ratio_all_pct");
    const double width = as_cqa_value(mean, "vec_eff_all_pct");
    const double peak = as_cqa_value(mean, "fp_peak_pct");
    struct as_str text = {0};

    if (isnan(ratio))
        as_str_appendz(&text, "No vectorisable instructions");
    else if (ratio > 99.5)
        as_str_appendf(&text, "Fully vectorised, on %.0f %% of the core's width", width);
    else if (ratio < 0.5)
        as_str_appendf(&text, "Not vectorised: %.0f %% of the core's vectors in use", width);
    else
        as_str_appendf(&text,
                       "Partly vectorised: %.0f %% of the vectorisable instructions; %.0f %% of "
                       "the core's vectors in use",
                       ratio, width);
    if (as_cqa_value(mean, "fp_op_n") > 0 && !isnan(peak))
        as_str_appendf(&text, "; %.0f %% of peak arithmetic", peak);
    as_str_appendz(&text, ".");
    as_cqa_wrapped(view, "  ", 4, &text);
    as_str_fini(&text);
}

static void write_best(struct as_quality_view *view, const struct as_cqa_path *mean)
{
    const int best = as_cqa_best(mean);
    struct as_str text = {0};

    if (best >= 0)
        as_str_appendf(&text, "Largest gain: %s, %.2f cycles, %.1f times as fast.",
                       as_cqa_variant_words((enum as_cqa_variant)best), mean->what_if[best].cycles,
                       mean->what_if[best].speedup);
    else
        as_str_appendz(&text, "With all data in L1, no rewrite of this loop gains 5 % on this "
                              "core.");
    as_cqa_wrapped(view, "  ", 4, &text);
    as_str_fini(&text);
}

/* ---- The source ---------------------------------------------------------------------------- */

static void print_cqa_source(struct as_quality_view *view, const struct as_cqa *cqa)
{
    const struct as_program *program = view->chosen.program;
    const struct as_loop *loop = cqa->loop == AS_NONE ? NULL : &program->loop[cqa->loop];
    const struct as_source_range *range =
        loop && loop->sources ? &program->loop_source[loop->source] : NULL;
    bool any = false;

    for (uint32_t k = 0; range && k < SOURCE_LINES && range->first_line + k <= range->last_line;
         k++) {
        const struct as_view text = as_source_line(
            &view->sources, range->file, program->debug.file[range->file], range->first_line + k);
        if (!text.p)
            break;
        if (!any)
            as_cli_print(view->cli, "\n");
        any = true;
        as_cli_style(view->cli, AS_STYLE_CYAN);
        as_cli_print(view->cli, "%6" PRIu32 " | %.*s", range->first_line + k,
                     (int)(text.n < WIDTH - 9 ? text.n : WIDTH - 9), text.p);
        as_cli_style(view->cli, AS_STYLE_PLAIN);
        as_cli_print(view->cli, "\n");
    }
    if (any && range->last_line >= range->first_line + SOURCE_LINES)
        as_cli_print(view->cli, "%6s | (%" PRIu32 " lines more)\n", "",
                     range->last_line - range->first_line - SOURCE_LINES + 1);
}

/* ---- Gains --------------------------------------------------------------------------------- */

static void gain_row(struct as_quality_view *view, const struct as_cqa_path *mean, unsigned v)
{
    const struct as_cqa_what_if *it = &mean->what_if[v];
    struct as_str bound = {0};

    as_cqa_bound_words(it->bound, it->limit, &bound);
    const bool unsound = (v == AS_CQA_VECTOR || v == AS_CQA_FP_VECTOR) && !it->sound;
    const bool cut = bound.n > LIMIT_COLUMNS;
    as_cli_print(view->cli, "  %-47.47s %8.2f %6.1fx %s%.*s%s\n",
                 as_cqa_variant_words((enum as_cqa_variant)v), it->cycles, it->speedup,
                 unsound ? "(" : "", cut ? LIMIT_COLUMNS - 2 : LIMIT_COLUMNS, as_str_z(&bound),
                 cut ? ".." : "");
    as_str_fini(&bound);
}

static void write_gains(struct as_quality_view *view, const struct as_cqa_path *mean)
{
    bool unsound = false;
    unsigned shown = 0;

    for (unsigned v = 0; v < AS_CQA_VARIANTS; v++) {
        const struct as_cqa_what_if *it = &mean->what_if[v];
        const bool always = view->levels & AS_LEVEL_EXPERT;

        if (!it->applies || (!always && it->speedup < GAIN))
            continue;
        if (!shown++) {
            as_cli_print(view->cli, "\n");
            as_cli_style(view->cli, AS_STYLE_BOLD);
            as_cli_print(view->cli, "  %-47s %8s %7s %s", "with other code", "cycles", "faster",
                         "then by");
            as_cli_style(view->cli, AS_STYLE_PLAIN);
            as_cli_print(view->cli, "\n");
        }
        unsound |= (v == AS_CQA_VECTOR || v == AS_CQA_FP_VECTOR) && !it->sound;
        gain_row(view, mean, v);
    }
    if (unsound)
        as_cli_print(view->cli, "  ( only after the obstacles to vectorisation are removed\n");
}

/* ---- Obstacles ----------------------------------------------------------------------------- */

static void begin_obstacles(struct as_quality_view *view)
{
    as_cli_print(view->cli, "\n  ");
    as_cli_styled(view->cli, AS_STYLE_BOLD, "obstacles to wider vectors");
    as_cli_print(view->cli, "\n");
}

static void write_reason(struct as_quality_view *view, const struct as_cqa *cqa, size_t number,
                         const char *first)
{
    struct as_str text = {0};
    char words[512];

    as_vector_reason_text(view->chosen.program, cqa->verdict, &cqa->verdict->reason[number], words,
                          sizeof words);
    as_str_appendz(&text, words);
    as_cqa_wrapped(view, first, 4, &text);
    as_str_fini(&text);
}

/* Prints the evidence in the code, with addresses and lines. */
static void write_evidence(struct as_quality_view *view, const struct as_cqa *cqa, uint32_t bit)
{
    static const uint32_t of[AS_VECTOR_OBSTACLES] = {
        [AS_VECTOR_CALL] = AS_CQA_OBSTACLE_CALL,
        [AS_VECTOR_CHAIN] = AS_CQA_OBSTACLE_RECURRENCE,
        [AS_VECTOR_REDUCTION] = AS_CQA_OBSTACLE_REDUCTION,
        [AS_VECTOR_STRIDE] = AS_CQA_OBSTACLE_STRIDE | AS_CQA_OBSTACLE_UNKNOWN_STEP,
        [AS_VECTOR_INDIRECT] = AS_CQA_OBSTACLE_INDIRECT,
        [AS_VECTOR_WAYS] = AS_CQA_OBSTACLE_WAYS};
    unsigned n = 0;

    for (size_t i = 0; cqa->verdict && i < cqa->verdict->reason_n; i++)
        if (of[cqa->verdict->reason[i].obstacle] & bit && n++ < EVIDENCE_MOST)
            write_reason(view, cqa, i, "    ");
    if (n > EVIDENCE_MOST)
        as_cli_print(view->cli, "    and %u more like it\n", n - EVIDENCE_MOST);
}

/* Prints facts about the whole loop: its end, and aliasing of its arrays. */
static void print_loop_obstacles(struct as_quality_view *view, const struct as_cqa *cqa,
                                 unsigned shown)
{
    for (size_t i = 0; cqa->verdict && i < cqa->verdict->reason_n; i++) {
        const unsigned obstacle = cqa->verdict->reason[i].obstacle;

        if (obstacle != AS_VECTOR_EXITS && obstacle != AS_VECTOR_ALIAS &&
            obstacle != AS_VECTOR_OVERLAP)
            continue;
        if (!shown++)
            begin_obstacles(view);
        write_reason(view, cqa, i, "  - ");
    }
}

static void emit_obstacles(struct as_quality_view *view, const struct as_cqa *cqa)
{
    const struct as_cqa_path *mean = &cqa->mean;
    const double width = as_cqa_value(mean, "vec_eff_all_pct");
    unsigned shown = 0;

    if (isnan(width) || width > 99.5)
        return;
    for (unsigned i = 0; as_cqa_obstacle_words(i); i++) {
        struct as_str text = {0};

        if (!(mean->obstacles >> i & 1))
            continue;
        if (!shown++)
            begin_obstacles(view);
        if (1u << i == AS_CQA_OBSTACLE_REDUCTION)
            as_cqa_order_words(view, cqa, &text);
        else
            as_str_appendz(&text, as_cqa_obstacle_words(i));
        as_cqa_wrapped(view, "  - ", 4, &text);
        write_evidence(view, cqa, 1u << i);
        as_str_fini(&text);
    }
    print_loop_obstacles(view, cqa, shown);
}

/* ---- Paths --------------------------------------------------------------------------------- */

static void emit_paths(struct as_quality_view *view, const struct as_cqa *cqa)
{
    if (cqa->merged)
        as_cli_print(view->cli,
                     "\n"
                     "  %" PRIu64 " paths: treated as one path, every block counted once\n",
                     cqa->path_count);
    if (cqa->path_n < 2)
        return;
    as_cli_print(view->cli, "\n  ");
    as_cli_styled(view->cli, AS_STYLE_BOLD, "path  share  instructions   cycles  limited by");
    as_cli_print(view->cli, "%s\n", cqa->weighed ? "" : "   (shares are estimates from the code)");
    for (size_t i = 0; i < cqa->path_n; i++) {
        const struct as_cqa_path *path = &cqa->path[i];
        struct as_str bound = {0};

        as_cqa_bound_words(path->bound, path->limit, &bound);
        as_cli_print(view->cli, "  %4" PRIu32 " %4.0f %% %13.0f %8.2f  %.40s\n", path->number,
                     100 * path->weight, as_cqa_value(path, "insn_n"), as_cqa_value(path, "cycles"),
                     as_str_z(&bound));
        as_str_fini(&bound);
    }
}

/* Why there are no figures. */
static void write_why_none(struct as_quality_view *view, const struct as_cqa *cqa)
{
    struct as_str text = {0};
    char words[256];

    if (cqa->lacks)
        as_str_appendf(&text, "Not for this core: the loop needs %s, which %s lacks.",
                       as_extension_words(cqa->lacks, words, sizeof words), view->uarch->words);
    else
        as_str_appendf(&text, "its paths were not analysed: %s",
                       cqa->outsize ? "the nest is too large" : "no path leads back to its header");
    as_cqa_wrapped(view, "  ", 4, &text);
    as_str_fini(&text);
}

void as_cqa_text_report(struct as_quality_view *view, const struct as_cqa *cqa)
{
    emit_head(view, cqa);
    if (!cqa->path_n) {
        write_why_none(view, cqa);
        return;
    }
    write_time(view, &cqa->mean);
    emit_vectors(view, &cqa->mean);
    if (view->levels & AS_LEVEL_GAIN)
        write_best(view, &cqa->mean);
    print_cqa_source(view, cqa);
    if (view->levels & (AS_LEVEL_GAIN | AS_LEVEL_EXPERT))
        write_gains(view, &cqa->mean);
    if (view->levels & AS_LEVEL_POTENTIAL)
        emit_obstacles(view, cqa);
    if (view->levels & AS_LEVEL_POTENTIAL)
        as_cqa_options_report(view, cqa);
    as_cqa_remarks_report(view, cqa);
    as_cqa_advice_report(view, cqa);
    emit_paths(view, cqa);
    if (view->levels & AS_LEVEL_EXPERT)
        as_cqa_text_expert(view, cqa);
}
