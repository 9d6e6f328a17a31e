/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far predictions are, for people and for programs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "validate.h"

struct shown_judgement {
    struct as_predicting *p;
    const struct as_judged *piece;
    size_t n;
    const struct as_left_out *left_out;
    size_t left_out_n;
    struct as_judgement of[AS_JUDGED_KINDS];
    struct as_since since;
};

static void show_kinds(const struct shown_judgement *s)
{
    struct as_cli *cli = s->p->cli;
    as_cli_print(cli, "%-14s %6s %8s %8s %6s %7s %7s\n", "blocks", "n", "MAPE %", "median %", "tau",
                 "5 %", "10 %");
    for (unsigned kind = 0; kind < AS_JUDGED_KINDS; kind++)
        if (s->of[kind].n)
            as_cli_print(cli, "%-14s %6zu %8.2f %8.2f %6.3f %7.1f %7.1f\n",
                         as_judged_kind_word(kind), s->of[kind].n, s->of[kind].mape,
                         s->of[kind].median, s->of[kind].tau, s->of[kind].within5,
                         s->of[kind].within10);
    for (size_t i = 0; i < s->left_out_n; i++)
        as_cli_print(cli, "%s%6zu not compared: %s\n", i ? "" : "\n", s->left_out[i].n,
                     s->left_out[i].why);
    if (s->since.path)
        as_cli_print(cli,
                     "\n"
                     "since %s, of %zu in both: mean error %.2f %% before, %.2f %% now; %zu are "
                     "better, %zu worse\n",
                     s->since.path, s->since.n, s->since.before, s->since.now, s->since.better_n,
                     s->since.worse_n);
    if (s->since.changed_n)
        as_cli_print(cli, "%zu have the same name but other code: not compared\n",
                     s->since.changed_n);
}

static int compare_pieces(const void *a, const void *b)
{
    const double x = as_judged_error(*(const struct as_judged *const *)a),
                 y = as_judged_error(*(const struct as_judged *const *)b);
    return x > y ? -1 : x < y;
}

static int show_worst(const struct shown_judgement *s, struct as_error *err)
{
    const struct as_arguments *args = &s->p->cli->args;
    const size_t most = as_given(args, AS_OPTION_WORST) ? args->number[AS_OPTION_WORST] : 10;
    const struct as_judged **by_error = as_calloc(s->n + 1, sizeof *by_error);
    if (!by_error)
        return as_error_nomem(err, "the pieces by error");
    for (size_t i = 0; i < s->n; i++)
        by_error[i] = &s->piece[i];
    qsort(by_error, s->n, sizeof *by_error, compare_pieces);
    as_cli_print(s->p->cli, "\n%-32s %9s %9s  %s\n", "farthest off", "measured", "predicted",
                 "bound");
    for (size_t i = 0; i < most && i < s->n; i++)
        as_cli_print(s->p->cli, "%-32s %9.3f %9.3f  %s\n", by_error[i]->id, by_error[i]->measured,
                     by_error[i]->predicted, as_bound_name(by_error[i]->bound));
    as_free(by_error);
    return 0;
}

static void write_kinds(struct as_facts *facts, const struct shown_judgement *s)
{
    as_facts_array(facts, "kinds");
    for (unsigned kind = 0; kind < AS_JUDGED_KINDS; kind++) {
        as_facts_object(facts, NULL);
        as_json_key_string(&facts->json, "kind", as_judged_kind_word(kind));
        as_json_key_u64(&facts->json, "n", s->of[kind].n);
        as_json_key_double(&facts->json, "mape_percent", s->of[kind].mape);
        as_json_key_double(&facts->json, "median_percent", s->of[kind].median);
        as_json_key_double(&facts->json, "kendall_tau", s->of[kind].tau);
        as_json_key_double(&facts->json, "within_5_percent", s->of[kind].within5);
        as_json_key_double(&facts->json, "within_10_percent", s->of[kind].within10);
        as_facts_close(facts);
    }
    as_facts_close(facts);
}

static void write_pieces(struct as_facts *facts, const struct shown_judgement *s)
{
    as_facts_array(facts, "blocks");
    for (size_t i = 0; i < s->n; i++) {
        as_facts_object(facts, NULL);
        as_json_key_string(&facts->json, "id", s->piece[i].id);
        as_json_key_double(&facts->json, "measured_cy", s->piece[i].measured);
        as_json_key_double(&facts->json, "predicted_cy", s->piece[i].predicted);
        as_json_key_string(&facts->json, "bound", as_bound_name(s->piece[i].bound));
        as_facts_close(facts);
    }
    as_facts_close(facts);
    as_facts_array(facts, "not_judged");
    for (size_t i = 0; i < s->left_out_n; i++) {
        as_facts_object(facts, NULL);
        as_json_key_string(&facts->json, "why", s->left_out[i].why);
        as_json_key_u64(&facts->json, "n", s->left_out[i].n);
        as_facts_close(facts);
    }
    as_facts_close(facts);
}

static void show_json(const struct shown_judgement *s)
{
    struct as_facts *facts = &s->p->facts;
    as_facts_begin(facts, s->p->cli);
    write_kinds(facts, s);
    write_pieces(facts, s);
    if (s->since.path) {
        as_facts_object(facts, "since");
        as_json_key_string(&facts->json, "path", s->since.path);
        as_json_key_u64(&facts->json, "n", s->since.n);
        as_json_key_double(&facts->json, "mape_before_percent", s->since.before);
        as_json_key_double(&facts->json, "mape_now_percent", s->since.now);
        as_json_key_u64(&facts->json, "nearer_n", s->since.better_n);
        as_json_key_u64(&facts->json, "farther_n", s->since.worse_n);
        as_json_key_u64(&facts->json, "other_code_n", s->since.changed_n);
        as_facts_close(facts);
    }
    as_facts_end(facts);
}

static void show_csv(const struct shown_judgement *s)
{
    static const char *const head[] = {"id", "measured_cy", "predicted_cy", "error", "bound"};
    struct as_csv csv;
    as_cli_csv(s->p->cli, &csv);
    as_csv_header(&csv, head, sizeof head / sizeof *head);
    for (size_t i = 0; i < s->n; i++) {
        const struct as_judged *piece = &s->piece[i];
        as_csv_string(&csv, piece->id);
        as_csv_double(&csv, piece->measured);
        as_csv_double(&csv, piece->predicted);
        as_csv_double(&csv, (piece->predicted - piece->measured) / piece->measured);
        as_csv_string(&csv, as_bound_name(piece->bound));
        as_csv_row_end(&csv);
    }
}

static int refuse_nothing(const struct shown_judgement *s, struct as_error *err)
{
    struct as_str why = {0};
    for (size_t i = 0; i < s->left_out_n; i++)
        as_str_appendf(&why, "%s%zu: %s", i ? "; " : " (", s->left_out[i].n, s->left_out[i].why);
    const int rc = as_error_set(err, AS_ERR_USAGE, "validate: nothing to compare%s%s",
                                as_str_z(&why), why.n ? ")" : "");
    as_str_fini(&why);
    return rc;
}

int as_validate_show(struct as_predicting *p, const struct as_validation *judged,
                     struct as_error *err)
{
    const struct as_arguments *args = &p->cli->args;
    struct shown_judgement s = {.p = p};
    s.n = as_validation_pieces(judged, &s.piece);
    s.left_out_n = as_validation_left_out(judged, &s.left_out);
    if (!s.n)
        return refuse_nothing(&s, err);
    for (unsigned kind = 0; kind < AS_JUDGED_KINDS; kind++)
        AS_TRY(as_judge(s.piece, s.n, kind, &s.of[kind], err));
    if (as_given(args, AS_OPTION_AGAINST_RECORD))
        AS_TRY(
            as_record_compare(args->value[AS_OPTION_AGAINST_RECORD], s.piece, s.n, &s.since, err));
    if (as_given(args, AS_OPTION_SAVE))
        AS_TRY(as_record_save(args->value[AS_OPTION_SAVE], s.piece, s.n, err));
    if (p->cli->format == AS_FORMAT_JSON) {
        show_json(&s);
    } else if (p->cli->format == AS_FORMAT_CSV) {
        show_csv(&s);
    } else {
        show_kinds(&s);
        return show_worst(&s, err);
    }
    return 0;
}
