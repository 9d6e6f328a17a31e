/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One prediction with all that is said beside it: what removing a limit would give, the worst
 * values, the assembly.
 */
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "machine/machine.h"
#include "predict.h"

/* --level: L1|L2|L3|RAM|all */
static int choose_levels(struct as_predicting *p, struct as_error *err)
{
    const struct as_arguments *args = &p->cli->args;
    const uint64_t chosen = args->number[AS_OPTION_DATA_LEVEL];
    if (!as_given(args, AS_OPTION_DATA_LEVEL))
        return 0;
    for (unsigned i = 0; i < AS_PREDICT_LEVELS; i++)
        p->level[i] = chosen == AS_PREDICT_LEVELS || chosen == i;
    return chosen == AS_PREDICT_L1 ? 0 : as_figures_of_host(&p->figures, err);
}

int as_predicting_init(struct as_cli *cli, struct as_predicting *p, struct as_error *err)
{
    const struct as_arguments *args = &cli->args;
    *p = (struct as_predicting){.cli = cli};
    p->options = (struct as_predict_options){
        .mode = args->number[AS_OPTION_MODE] ? AS_PREDICT_UNROLLED : AS_PREDICT_LOOP,
        .without = (uint32_t)args->number[AS_OPTION_WITHOUT] |
                   (as_given(args, AS_OPTION_BOUNDS) ? AS_WITHOUT_SIMULATION : 0),
        .simulate = true,
        .timeline_n = (unsigned)args->number[AS_OPTION_TIMELINE],
        .equal_memory = args->number[AS_OPTION_MEMORY] == 2};
    p->equal_given = args->number[AS_OPTION_MEMORY] != 0;
    AS_TRY(choose_levels(p, err));
    AS_TRY(as_core_open(cli, &p->uarch, &p->choice, err));
    return as_predictor_new(p->uarch, &p->predictor, err);
}

/* How many lines name the source. */
static size_t lines_of(const struct as_uarch *uarch, size_t source)
{
    size_t n = 0;
    for (size_t i = 0; i < uarch->timing_n; i++)
        n += uarch->timing[i].source == source;
    return n;
}

const char *as_table_source(const struct as_uarch *uarch)
{
    size_t best = 0, best_n = 0;
    for (size_t source = uarch->source_n; source-- > 0;) {
        const size_t n = lines_of(uarch, source);
        if (n > best_n) {
            best = source;
            best_n = n;
        }
        if (source == uarch->source_own && best_n)
            break; /* those of another table say less of this one */
    }
    return uarch->source[best].words;
}

bool as_table_is_cited(const struct as_uarch *uarch)
{
    return strncmp(as_table_source(uarch), "cited", strlen("cited")) == 0;
}

void as_predicting_fini(struct as_predicting *p)
{
    as_predictor_free(&p->predictor);
    as_quality_sampled_fini(&p->sampled);
    as_figures_free(&p->figures);
    as_uarch_free(&p->uarch);
}

int as_hex_read(const char *text, size_t n, uint8_t *out, size_t most, const char *what,
                struct as_error *err)
{
    if (n % 2 || n / 2 > most || !n)
        return as_error_set(err, AS_ERR_USAGE,
                            "%s: %zu hexadecimal digits; use two digits per byte and at most %zu "
                            "bytes",
                            what, n, most);
    const size_t got = as_hex_get(text, out, n / 2);
    if (got < n / 2)
        return as_error_set(err, AS_ERR_USAGE,
                            "%s: '%.2s' is not a hexadecimal byte; use two "
                            "digits 0-9, a-f",
                            what, text + 2 * got);
    return (int)(n / 2);
}

void as_predict_assembly(const struct as_predicted *predicted, size_t i, char *buf, size_t buf_b)
{
    const struct as_piece *piece = predicted->piece;
    const struct as_insn *insn = &piece->code->insn[piece->first + i];
    uint64_t size_b = insn->length;
    const uint8_t *bytes = NULL;
    if (piece->object)
        bytes = as_object_bytes(piece->object, insn->address, &size_b);
    else if (piece->bytes)
        bytes = piece->bytes + (insn->address - piece->code->insn[piece->first].address);
    buf[0] = 0;
    if (bytes)
        as_insn_format(bytes, insn->length, insn->address, AS_SYNTAX_INTEL, buf, buf_b);
}

const char *as_predict_match(const struct as_insn_prediction *insn)
{
    static const char *const word[] = {"exact", "alike", "width", "register", "estimated"};
    return word[insn->match <= AS_TIMING_NONE ? insn->match : AS_TIMING_NONE];
}

/* The same code otherwise, simulated as the answer is. */
static int predict_other(struct as_predicting *p, const struct as_piece *piece,
                         const struct as_predict_options *options,
                         struct as_predicted_what_if *what_if, struct as_error *err)
{
    struct as_prediction out;
    AS_TRY(as_predict(p->predictor, piece->code, piece->first, piece->n, options, &out, err));
    what_if->cycles = out.cycles;
    what_if->bound = out.bound;
    what_if->is_there = true;
    return 0;
}

static bool has_division(const struct as_piece *piece)
{
    for (size_t i = piece->first; i < piece->first + piece->n; i++) {
        const struct as_form *form = as_form_get(piece->code->insn[i].form);
        if ((form->insn_class == AS_CLASS_DIV || form->insn_class == AS_CLASS_SQRT) &&
            form->traits & AS_TRAIT_FP)
            return true;
    }
    return false;
}

static bool loads(const struct as_insn *insn)
{
    const struct as_form *form = as_form_get(insn->form);
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_MEM && form->operand[i].access & AS_ACCESS_READ)
            return form->insn_class != AS_CLASS_NOP && form->insn_class != AS_CLASS_LEA &&
                   form->insn_class != AS_CLASS_PREFETCH;
    return false;
}

/* Leaves out the load with the largest gain: by bounds first, then by the result. */
static int drop_best_load(struct as_predicting *p, struct as_predicted *predicted,
                          struct as_predicted_what_if *what_if, struct as_error *err)
{
    const struct as_piece *piece = predicted->piece;
    struct as_predict_options options = p->options;
    double best = -1;
    options.timeline_n = 0;
    options.without |= AS_WITHOUT_SIMULATION;
    for (size_t i = 0; i < piece->n; i++) {
        struct as_prediction out;
        if (!loads(&piece->code->insn[piece->first + i]))
            continue;
        options.without_load = i + 1;
        AS_TRY(as_predict(p->predictor, piece->code, piece->first, piece->n, &options, &out, err));
        if (best < 0 || out.cycles < best) {
            best = out.cycles;
            predicted->load = i;
        }
    }
    if (best < 0)
        return 0;
    options.without = p->options.without;
    options.without_load = predicted->load + 1;
    return predict_other(p, piece, &options, what_if, err);
}

static int find_what_ifs(struct as_predicting *p, struct as_predicted *predicted,
                         struct as_error *err)
{
    enum { ONE_LOAD = 4, DIVISION = 5 };
    static const struct {
        const char *words, *key;
        uint32_t without;
    } change[AS_WHAT_IFS] = {
        {"no loop-carried dependence", "without_latency", AS_WITHOUT_LATENCY},
        {"no value passed through memory", "without_memory", AS_WITHOUT_MEMORY},
        {"any number of ports", "without_ports", AS_WITHOUT_PORTS},
        {"a perfect front end", "without_front_end", AS_WITHOUT_FRONT_END},
        [ONE_LOAD] = {"one load fewer", "one_load_fewer", 0},
        [DIVISION] = {"divisions as multiplications", "without_division", AS_WITHOUT_DIVISION}};
    for (unsigned i = 0; i < AS_WHAT_IFS; i++) {
        struct as_predicted_what_if *what_if = &predicted->what_if[i];
        struct as_predict_options options = p->options;
        *what_if = (struct as_predicted_what_if){.words = change[i].words, .key = change[i].key};
        options.without |= change[i].without;
        options.timeline_n = 0;
        if (i == ONE_LOAD)
            AS_TRY(drop_best_load(p, predicted, what_if, err));
        else if (i != DIVISION || has_division(predicted->piece))
            AS_TRY(predict_other(p, predicted->piece, &options, what_if, err));
    }
    struct as_predict_options options = p->options;
    struct as_predicted_what_if worst;
    options.worst = true;
    AS_TRY(predict_other(p, predicted->piece, &options, &worst, err));
    predicted->worst = worst.cycles;
    return 0;
}

static void find_levels(struct as_predicting *p, struct as_predicted *predicted)
{
    const struct as_piece *piece = predicted->piece;
    for (unsigned i = 0; i < AS_PREDICT_LEVELS; i++) {
        predicted->level[i].cycles = -1;
        if (!p->level[i] || !piece->traffic)
            continue;
        if (i != AS_PREDICT_L1 && !p->figures)
            predicted->level[i].lacking = "bandwidth";
        else if (!as_predict_at(piece->traffic, p->figures, (enum as_predict_level)i,
                                predicted->out.cycles, &predicted->level[i].cycles,
                                &predicted->level[i].lacking))
            predicted->level[i].cycles = -1;
    }
}

/* Extensions that the piece needs and the core lacks. */
static uint64_t find_lacks(const struct as_predicting *p, const struct as_piece *piece)
{
    uint64_t lacks = 0;
    for (size_t i = piece->first; i < piece->first + piece->n; i++)
        lacks |= as_uarch_lacks(p->uarch, &piece->code->insn[i]);
    return lacks;
}

/* Code that the core cannot run has no cycles. */
static void show_lacks(struct as_predicting *p, const struct as_piece *piece, uint64_t lacks)
{
    struct as_json *json = &p->facts.json;
    char words[256];
    if (p->cli->format != AS_FORMAT_JSON) {
        as_cli_print(p->cli, "%s: not for this core: the code needs %s, which %s lacks\n",
                     piece->name, as_extension_words(lacks, words, sizeof words), p->uarch->words);
        return;
    }
    as_json_object_begin(json);
    as_json_key_string(json, "id", piece->name);
    as_json_key_string(json, "machine", p->uarch->name);
    as_json_key(json, "cycles");
    as_json_null(json);
    as_json_key(json, "lacks");
    as_json_array_begin(json);
    for (unsigned i = 0; i < AS_EXTENSION_COUNT; i++)
        if (lacks >> i & 1)
            as_json_string(json, as_extension_name(i));
    as_json_array_end(json);
    as_json_object_end(json);
}

int as_predict_show(struct as_predicting *p, const struct as_piece *piece, struct as_error *err)
{
    struct as_predicted predicted = {.p = p, .piece = piece};
    const uint64_t lacks = find_lacks(p, piece);
    if (lacks) {
        show_lacks(p, piece, lacks);
        return 0;
    }
    AS_TRY(find_what_ifs(p, &predicted, err));
    AS_TRY(as_predict(p->predictor, piece->code, piece->first, piece->n, &p->options,
                      &predicted.out, err));
    find_levels(p, &predicted);
    if (p->cli->format == AS_FORMAT_JSON)
        as_predict_json(p, &predicted);
    else
        as_predict_text(p, &predicted);
    return 0;
}
