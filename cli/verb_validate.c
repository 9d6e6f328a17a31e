/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay validate`: predictions beside measured cycles, over all blocks and by kind of block.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "predict.h"

enum { JUDGED_MOST_B = 65536, JUDGED_COLUMNS = 64 };

enum block_kind {
    KIND_ALL,
    KIND_INTEGER,
    KIND_FP_SCALAR,
    KIND_FP_VECTOR,
    KIND_MEMORY,
    KIND_DIVIDE,
    KIND_CHAIN,
    KINDS
};
static const char *const kind_words[KINDS] = {"all",          "integer", "FP scalar", "FP vector",
                                              "memory-heavy", "divide",  "long chain"};

struct judged_block {
    const char *id;
    double measured, predicted;
    enum assay_bound bound;
    uint32_t kinds; /* bit per block_kind */
};

struct validating {
    struct as_predicting p;
    AS_VEC(struct judged_block) block;
    struct as_arena arena;
    struct as_map_view truth; /* id -> index into `cycles` */
    AS_VEC(double) cycles;
    size_t passed_n; /* rows without a usable measurement */
};

/* ---- CSV with a head ----------------------------------------------------------------------- */

struct table_head {
    int id, hex, cycles, ok;
};

static int column_of(struct as_view head, const char *first, const char *second)
{
    struct as_view part;
    int found = -1;
    for (int i = 0; as_view_split(&head, ',', &part); i++) {
        part = as_view_trim(part);
        if (as_view_equal(part, as_view_of(first)))
            return i;
        if (as_view_equal(part, as_view_of(second)))
            found = i;
    }
    return found;
}

static struct table_head read_head(const struct validating *v, const char *line)
{
    const bool unrolled = v->p.options.mode == ASSAY_PREDICT_UNROLLED;
    const struct as_view head = as_view_of(line);
    return (struct table_head){
        column_of(head, "id", "id"), column_of(head, "hex", "hex"),
        column_of(head, unrolled ? "cycles_unrolled" : "cycles_loop", "cycles"),
        column_of(head, unrolled ? "ok_u" : "ok_l", "ok")};
}

static size_t split_row(char *line, struct as_view out[JUDGED_COLUMNS])
{
    struct as_view rest = as_view_of(line);
    size_t n = 0;
    line[strcspn(line, "\r\n")] = 0;
    rest = as_view_of(line);
    while (n < JUDGED_COLUMNS && as_view_split(&rest, ',', &out[n]))
        n++;
    return n;
}

static struct as_view cell_of(const struct as_view *row, size_t n, int column)
{
    return column >= 0 && (size_t)column < n ? as_view_trim(row[column]) : (struct as_view){0};
}

/* The cycles of a row; below 0: not measured, or not to be relied on. */
static double measured_of(const struct table_head *head, const struct as_view *row, size_t n)
{
    char text[64];
    const struct as_view ok = cell_of(row, n, head->ok), cycles = cell_of(row, n, head->cycles);
    if ((head->ok >= 0 && !as_view_equal(ok, as_view_of("1"))) || cycles.n >= sizeof text)
        return -1;
    snprintf(text, sizeof text, "%.*s", (int)cycles.n, cycles.n ? cycles.p : "");
    const double value = strtod(text, NULL);
    return value > 0 ? value : -1;
}

/* Calls `each` for the rows of a file. */
static int read_rows(struct validating *v, const char *path,
                     int (*each)(struct validating *, const struct table_head *,
                                 const struct as_view *, size_t, struct assay_error *),
                     struct assay_error *err)
{
    struct as_view row[JUDGED_COLUMNS];
    struct table_head head = {-1, -1, -1, -1};
    char *line = NULL;
    size_t cap = 0, number = 0;
    int rc = 0;
    FILE *f = fopen(path, "re");
    if (!f)
        return as_error_set(err, ASSAY_ERR_NOT_FOUND, "%s: cannot be read", path);
    while (rc == 0 && getline(&line, &cap, f) >= 0) {
        if (!number++) {
            line[strcspn(line, "\r\n")] = 0;
            head = read_head(v, line);
            if (head.id < 0)
                rc = as_error_set(err, ASSAY_ERR_USAGE, "%s: no column 'id' in its first line",
                                  path);
            continue;
        }
        const size_t n = split_row(line, row);
        rc = each(v, &head, row, n, err);
    }
    free(line); /* of getline */
    fclose(f);
    return rc;
}

/* ---- Blocks -------------------------------------------------------------------------------- */

static uint32_t kinds_of(const struct assay_code *code, const struct assay_prediction *out)
{
    uint32_t kinds = 1u << KIND_ALL;
    size_t memory = 0;
    bool fp = false, packed = false;
    for (size_t i = 0; i < code->n; i++) {
        const struct assay_form *form = assay_form_get(code->insn[i].form);
        memory += code->insn[i].bits & ASSAY_INSN_MEM && form->insn_class != ASSAY_CLASS_LEA &&
                  form->insn_class != ASSAY_CLASS_NOP;
        fp |= form->flops > 0;
        packed |= form->flops > 0 && form->traits & ASSAY_TRAIT_PACKED;
        if (form->insn_class == ASSAY_CLASS_DIV || form->insn_class == ASSAY_CLASS_SQRT)
            kinds |= 1u << KIND_DIVIDE;
    }
    kinds |= 1u << (packed ? KIND_FP_VECTOR : fp ? KIND_FP_SCALAR : KIND_INTEGER);
    kinds |= memory * 2 >= code->n ? 1u << KIND_MEMORY : 0;
    return kinds | (out->bound == ASSAY_BOUND_LATENCY ? 1u << KIND_CHAIN : 0);
}

static int judge_code(struct validating *v, struct as_view id, double measured,
                      const struct assay_code *code, struct assay_error *err)
{
    struct assay_prediction out;
    AS_TRY(assay_predict(v->p.predictor, code, 0, code->n, &v->p.options, &out, err));
    const struct judged_block block = {.id = as_arena_strndup(&v->arena, id.p, id.n),
                                       .measured = measured,
                                       .predicted = out.cycles,
                                       .bound = out.bound,
                                       .kinds = kinds_of(code, &out)};
    return as_vec_push(&v->block, block) < 0 ? as_error_nomem(err, "the blocks") : 0;
}

static int judge_row(struct validating *v, const struct table_head *head, const struct as_view *row,
                     size_t n, struct assay_error *err)
{
    static uint8_t bytes[JUDGED_MOST_B];
    struct assay_code code;
    const struct as_view id = cell_of(row, n, head->id), hex = cell_of(row, n, head->hex);
    double measured = measured_of(head, row, n);
    if (as_given(&v->p.cli->args, AS_OPTION_TRUTHS)) {
        const uint32_t at = as_map_view_get(&v->truth, id);
        measured = at == AS_MAP_NONE ? -1 : v->cycles.at[at];
    }
    if (measured < 0) {
        v->passed_n++;
        return 0;
    }
    if (head->hex < 0)
        return as_error_set(err, ASSAY_ERR_USAGE, "--blocks: no column 'hex' in its first line");
    const int size_b = as_hex_read(hex.p, hex.n, bytes, sizeof bytes, "--blocks", err);
    AS_TRY(size_b);
    AS_TRY(assay_decode(bytes, (size_t)size_b, 0, &code, err));
    const int rc = judge_code(v, id, measured, &code, err);
    assay_code_free(&code);
    return rc;
}

static int keep_truth(struct validating *v, const struct table_head *head,
                      const struct as_view *row, size_t n, struct assay_error *err)
{
    const struct as_view id = cell_of(row, n, head->id);
    const double measured = measured_of(head, row, n);
    const char *kept = as_arena_strndup(&v->arena, id.p, id.n);
    if (measured < 0)
        return 0;
    if (!kept || as_vec_push(&v->cycles, measured) < 0 ||
        as_map_view_put(&v->truth, (struct as_view){kept, id.n}, (uint32_t)v->cycles.n - 1) < 0)
        return as_error_nomem(err, "the measured cycles");
    return 0;
}

/* ---- Statistics ---------------------------------------------------------------------------- */

struct judgement {
    size_t n;
    double mape, median, within5, within10, tau;
};

static double error_of(const struct judged_block *b)
{
    return fabs(b->predicted - b->measured) / b->measured;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Kendall's tau-b over values to a hundredth of a cycle; n log n would be quicker, n is small. */
static double rank_correlation(const struct judged_block *const *at, size_t n)
{
    double agree = 0, only_x = 0, only_y = 0, pairs = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            const double x = rint(100 * at[i]->measured) - rint(100 * at[k]->measured);
            const double y = rint(100 * at[i]->predicted) - rint(100 * at[k]->predicted);
            agree += x * y > 0 ? 1 : x * y < 0 ? -1 : 0;
            only_x += x == 0; /* NOLINT: whole numbers */
            only_y += y == 0;
            pairs++;
        }
    const double scale = sqrt((pairs - only_x) * (pairs - only_y));
    return scale > 0 ? agree / scale : NAN;
}

static int judge_kind(struct validating *v, unsigned kind, struct judgement *out)
{
    const struct judged_block **at = as_calloc(v->block.n + 1, sizeof(struct judged_block *));
    double *error = as_calloc(v->block.n + 1, sizeof *error);
    *out = (struct judgement){.tau = NAN};
    if (!at || !error) {
        as_free(at);
        as_free(error);
        return ASSAY_ERR_NOMEM;
    }
    as_vec_foreach (&v->block, b) {
        if (!(b->kinds >> kind & 1))
            continue;
        at[out->n] = b;
        error[out->n++] = error_of(b);
        out->mape += error_of(b);
        out->within5 += error_of(b) <= 0.05;
        out->within10 += error_of(b) <= 0.1;
    }
    qsort(error, out->n, sizeof *error, compare_doubles);
    if (out->n) {
        const double n = (double)out->n;
        out->median = 100 * error[out->n / 2];
        out->mape *= 100 / n;
        out->within5 *= 100 / n;
        out->within10 *= 100 / n;
        out->tau = rank_correlation(at, out->n);
    }
    as_free(at);
    as_free(error);
    return 0;
}

/* ---- What is shown ------------------------------------------------------------------------- */

static void show_text(struct validating *v, const struct judgement *of)
{
    struct as_cli *cli = v->p.cli;
    as_cli_print(cli, "%-14s %6s %8s %8s %6s %7s %7s\n", "blocks", "n", "MAPE %", "median %", "tau",
                 "5 %", "10 %");
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (of[kind].n)
            as_cli_print(cli, "%-14s %6zu %8.2f %8.2f %6.3f %7.1f %7.1f\n", kind_words[kind],
                         of[kind].n, of[kind].mape, of[kind].median, of[kind].tau, of[kind].within5,
                         of[kind].within10);
    if (v->passed_n)
        as_cli_print(cli, "%zu rows without a measurement to rely on are left out\n", v->passed_n);
}

static int compare_errors(const void *a, const void *b)
{
    const double x = error_of(a), y = error_of(b);
    return x > y ? -1 : x < y;
}

static void show_worst(struct validating *v)
{
    const struct as_arguments *args = &v->p.cli->args;
    const size_t most = as_given(args, AS_OPTION_WORST) ? args->number[AS_OPTION_WORST] : 10;
    qsort(v->block.at, v->block.n, sizeof *v->block.at, compare_errors);
    as_cli_print(v->p.cli, "\n%-24s %9s %9s  %s\n", "farthest off", "measured", "predicted",
                 "bound");
    for (size_t i = 0; i < most && i < v->block.n; i++)
        as_cli_print(v->p.cli, "%-24s %9.3f %9.3f  %s\n", v->block.at[i].id,
                     v->block.at[i].measured, v->block.at[i].predicted,
                     assay_bound_name(v->block.at[i].bound));
}

static void show_json(struct validating *v, const struct judgement *of)
{
    struct as_facts *facts = &v->p.facts;
    as_facts_begin(facts, v->p.cli);
    as_facts_array(facts, "kinds");
    for (unsigned kind = 0; kind < KINDS; kind++) {
        as_facts_object(facts, NULL);
        as_json_key_string(&facts->json, "kind", kind_words[kind]);
        as_json_key_u64(&facts->json, "n", of[kind].n);
        as_json_key_double(&facts->json, "mape_percent", of[kind].mape);
        as_json_key_double(&facts->json, "median_percent", of[kind].median);
        as_json_key_double(&facts->json, "kendall_tau", of[kind].tau);
        as_json_key_double(&facts->json, "within_5_percent", of[kind].within5);
        as_json_key_double(&facts->json, "within_10_percent", of[kind].within10);
        as_facts_close(facts);
    }
    as_facts_close(facts);
    as_facts_array(facts, "blocks");
    as_vec_foreach (&v->block, b) {
        as_facts_object(facts, NULL);
        as_json_key_string(&facts->json, "id", b->id);
        as_json_key_double(&facts->json, "measured_cy", b->measured);
        as_json_key_double(&facts->json, "predicted_cy", b->predicted);
        as_json_key_string(&facts->json, "bound", assay_bound_name(b->bound));
        as_facts_close(facts);
    }
    as_facts_close(facts);
    as_facts_end(facts);
}

static void show_csv(struct validating *v)
{
    static const char *const head[] = {"id", "measured_cy", "predicted_cy", "error", "bound"};
    struct as_csv csv;
    as_cli_csv(v->p.cli, &csv);
    as_csv_header(&csv, head, sizeof head / sizeof *head);
    as_vec_foreach (&v->block, b) {
        as_csv_string(&csv, b->id);
        as_csv_double(&csv, b->measured);
        as_csv_double(&csv, b->predicted);
        as_csv_double(&csv, (b->predicted - b->measured) / b->measured);
        as_csv_string(&csv, assay_bound_name(b->bound));
        as_csv_row_end(&csv);
    }
}

static int show_judgement(struct validating *v, struct assay_error *err)
{
    struct judgement of[KINDS];
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (judge_kind(v, kind, &of[kind]) < 0)
            return as_error_nomem(err, "the blocks");
    if (v->p.cli->format == AS_FORMAT_JSON) {
        show_json(v, of);
    } else if (v->p.cli->format == AS_FORMAT_CSV) {
        show_csv(v);
    } else {
        show_text(v, of);
        show_worst(v);
    }
    return 0;
}

int as_verb_validate(struct as_cli *cli, struct assay_error *err)
{
    const char *blocks = cli->args.value[AS_OPTION_BLOCKS];
    const char *truths = cli->args.value[AS_OPTION_TRUTHS];
    struct validating v = {.p.cli = cli};
    if (!blocks)
        return as_error_set(
            err, ASSAY_ERR_USAGE,
            "validate: write --blocks FILE, a CSV with id, hex and measured cycles");
    int rc = as_predicting_init(cli, &v.p, err);
    as_arena_init(&v.arena);
    as_map_view_init(&v.truth);
    if (!v.p.equal_given)
        v.p.options.equal_memory = true;
    if (rc == 0 && truths)
        rc = read_rows(&v, truths, keep_truth, err);
    if (rc == 0)
        rc = read_rows(&v, blocks, judge_row, err);
    if (rc == 0 && !v.block.n)
        rc = as_error_set(err, ASSAY_ERR_USAGE, "%s: no row with a measurement to rely on",
                          truths ? truths : blocks);
    if (rc == 0)
        rc = show_judgement(&v, err);
    as_vec_fini(&v.block);
    as_vec_fini(&v.cycles);
    as_map_view_fini(&v.truth);
    as_arena_fini(&v.arena);
    as_predicting_fini(&v.p);
    return rc;
}
