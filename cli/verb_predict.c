/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay predict`: finds the requested code (digits, a file of digits, loops, code between markers)
 * and predicts it piece by piece.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/infile.h"
#include "predict.h"
#include "program.h"

/* Ten million blocks. */
#define HEX_FILE_MAX_B ((size_t)1 << 30)

enum { PREDICTED_MOST_B = 65536 };

/* ---- Digits -------------------------------------------------------------------------------- */

/* With the vectors that the core has. */
static int decode_digits(const struct as_predicting *p, const uint8_t *bytes, size_t n,
                         struct as_code *out, struct as_error *err)
{
    const struct as_bytes range = {
        .bytes = bytes, .size_b = n, .k1om = p->uarch->set[AS_UARCH_mvex] > 0};
    return as_decode_ranges(&range, 1, out, NULL, err);
}

static int predict_hex(struct as_predicting *p, const char *text, struct as_error *err)
{
    static uint8_t bytes[PREDICTED_MOST_B];
    struct as_code code;
    const int n = as_hex_read(text, strlen(text), bytes, sizeof bytes, "--hex", err);
    AS_TRY(n);
    AS_TRY(decode_digits(p, bytes, (size_t)n, &code, err));
    const struct as_piece piece = {.name = "code", .code = &code, .n = code.n, .bytes = bytes};
    const int rc = as_predict_show(p, &piece, err);
    as_code_free(&code);
    return rc;
}

static void write_predicted_csv_row(struct as_csv *csv, struct as_view id,
                                    const struct as_prediction *out)
{
    as_csv_view(csv, id);
    as_csv_double(csv, out->cycles);
    as_csv_string(csv, as_bound_name(out->bound));
    as_csv_string(csv, out->limit);
    for (unsigned i = 0; i < AS_BOUNDS; i++)
        as_csv_double(csv, out->bounds[i]);
    as_csv_u64(csv, out->insn_n);
    as_csv_u64(csv, out->estimated_n);
    as_csv_u64(csv, out->alike_n);
    as_csv_row_end(csv);
}

/* Predicts one line "id,hex,..."; a heading (other letters in its second column) is skipped. */
static int predict_line(struct as_predicting *p, struct as_csv *csv, char *line, size_t number,
                        struct as_error *err)
{
    static uint8_t bytes[PREDICTED_MOST_B];
    char what[64];
    struct as_view rest = as_view_of(line), id, hex;
    struct as_code code;
    struct as_prediction out;
    if (!as_view_split(&rest, ',', &id) || !as_view_split(&rest, ',', &hex))
        return as_error_set(err, AS_ERR_USAGE, "--hex-file: line %zu is not 'id,hex'", number);
    hex = as_view_trim(hex);
    snprintf(what, sizeof what, "--hex-file: line %zu", number);
    const int n = as_hex_read(hex.p, hex.n, bytes, sizeof bytes, what, err);
    if (n < 0 && number == 1)
        return 0;
    AS_TRY(n);
    AS_TRY(decode_digits(p, bytes, (size_t)n, &code, err));
    const int rc = as_predict(p->predictor, &code, 0, code.n, &p->options, &out, err);
    if (rc == 0)
        write_predicted_csv_row(csv, id, &out);
    as_code_free(&code);
    return rc;
}

static int predict_hex_file(struct as_predicting *p, const char *path, struct as_error *err)
{
    static const char *const head[] = {
        "id",    "cycles", "bound",   "limit",  "dispatch",     "decode",      "branch",
        "ports", "unit",   "latency", "window", "instructions", "estimated_n", "alike_n"};
    struct as_csv csv;
    char *text, *rest, *line;
    size_t n, number = 0;
    int rc = 0;
    AS_TRY(as_infile_read_text(path, "--hex-file", HEX_FILE_MAX_B, AS_INFILE_PIPE, &text, &n, err));
    rest = text;
    as_cli_csv(p->cli, &csv);
    as_csv_header(&csv, head, sizeof head / sizeof *head);
    while (rc == 0 && (line = as_infile_line(&rest))) {
        number++;
        if (*line && *line != '#')
            rc = predict_line(p, &csv, line, number, err);
    }
    as_free(text);
    return rc;
}

/* ---- Loops of a binary --------------------------------------------------------------------- */

/* Cycles of an iteration by path. */
static int predict_paths(struct as_predicting *p, const struct as_chosen *chosen,
                         const struct as_paths *paths, double *cycles, struct as_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < paths->path_n; i++) {
        struct as_prediction out = {0};
        struct as_code code;
        rc = as_path_code(chosen->program, paths, i, &code, err);
        if (rc == 0 && code.n)
            rc = as_predict(p->predictor, &code, 0, code.n, &p->options, &out, err);
        cycles[i] = out.cycles;
        as_code_free(&code);
    }
    return rc;
}

/* How often each path is taken, by what --experiment knows, else as likely as the code tells; and
 * cycles of an iteration over all of them. */
static int weigh_paths(struct as_predicting *p, const struct as_chosen *chosen, uint32_t loop,
                       const struct as_paths *paths, struct as_arena *arena, double **weight,
                       struct as_piece *piece, struct as_error *err)
{
    double *cycles = as_arena_array(arena, double, paths->path_n);
    size_t n;
    if (!cycles)
        return as_error_nomem(err, "the paths of a loop");
    AS_TRY(predict_paths(p, chosen, paths, cycles, err));
    AS_TRY(as_quality_sampled_weights(arena, &p->sampled, chosen->program, loop, cycles, weight, &n,
                                      &piece->counted, err));
    piece->sampled = *weight != NULL;
    piece->counted &= piece->sampled;
    if (!*weight && !paths->merged)
        AS_TRY(as_quality_static_weights(arena, chosen->program, loop, paths, weight, err));
    piece->weighted = 0;
    for (size_t i = 0; i < paths->path_n; i++)
        piece->weighted += cycles[i] * (*weight ? (*weight)[i] : 1. / (double)paths->path_n);
    return 0;
}

static int show_path(struct as_predicting *p, const struct as_chosen *chosen, uint32_t loop,
                     const struct as_paths *paths, size_t path, const struct as_piece *common,
                     struct as_error *err)
{
    struct as_piece piece = *common;
    struct as_code code;
    struct as_str name = {0};
    as_str_appendf(&name, "loop %" PRIu32, loop);
    if (paths->path_n > 1)
        as_str_appendf(&name, " path %zu of %zu", path + 1, paths->path_n);
    if (paths->merged)
        as_str_appendz(&name, " (all paths together)");
    int rc = as_path_code(chosen->program, paths, path, &code, err);
    piece.name = as_str_z(&name);
    piece.code = &code;
    piece.n = code.n;
    if (rc == 0 && code.n)
        rc = as_predict_show(p, &piece, err);
    as_code_free(&code);
    as_str_fini(&name);
    return rc;
}

/* Finds the bytes moved by the loop, for --level. */
static int find_traffic(struct as_predicting *p, const struct as_chosen *chosen, uint32_t loop,
                        struct as_traffic *out, struct as_error *err)
{
    struct as_streams streams;
    AS_TRY(as_loop_streams(chosen->program, loop, &streams, err));
    as_traffic_of(&streams, p->uarch->set[AS_UARCH_line_b], out);
    as_streams_free(&streams);
    return 0;
}

static int predict_loop(struct as_predicting *p, const struct as_chosen *chosen, uint32_t loop,
                        struct as_error *err)
{
    struct as_piece piece = {.object = chosen->object};
    struct as_traffic traffic;
    struct as_paths paths;
    struct as_arena arena;
    double *weight = NULL;
    int rc = 0;
    AS_TRY(as_loop_paths(chosen->program, loop, AS_PATH_LIMIT, &paths, err));
    if (as_given(&p->cli->args, AS_OPTION_DATA_LEVEL)) {
        rc = find_traffic(p, chosen, loop, &traffic, err);
        piece.traffic = &traffic;
    }
    as_arena_init(&arena);
    if (rc == 0 && paths.path_n > 1)
        rc = weigh_paths(p, chosen, loop, &paths, &arena, &weight, &piece, err);
    for (size_t i = 0; rc == 0 && i < paths.path_n; i++) {
        piece.several = paths.path_n > 1;
        if (piece.several)
            piece.weight = weight ? weight[i] : 1. / (double)paths.path_n;
        rc = show_path(p, chosen, loop, &paths, i, &piece, err);
        if (rc == 0 && i + 1 < paths.path_n && p->cli->format == AS_FORMAT_TEXT)
            as_cli_print(p->cli, "\n");
    }
    as_arena_fini(&arena);
    as_paths_free(&paths);
    return rc;
}

/* Innermost loops of the functions chosen, or the one of --loop. */
static int predict_loops(struct as_predicting *p, struct as_error *err)
{
    struct as_chosen chosen;
    uint32_t one = AS_NONE;
    size_t shown = 0;
    int rc = as_chosen_load(p->cli, 0, &chosen, err);
    if (rc == 0 && chosen.object)
        rc = as_core_fits(p->uarch, chosen.object, err);
    if (rc == 0 && chosen.object)
        rc = as_sampled_open(p->cli, chosen.object, &p->sampled, err);
    if (rc == 0 && chosen.object && as_given(&p->cli->args, AS_OPTION_LOOP))
        rc = as_loop_of_option(p->cli, chosen.program, &one, err);
    for (uint32_t i = 0; rc == 0 && chosen.object && i < chosen.program->loop_n; i++) {
        const struct as_loop *loop = &chosen.program->loop[i];
        const bool inner = loop->level == AS_LEVEL_INNERMOST || loop->level == AS_LEVEL_SINGLE;
        if (one != AS_NONE ? i != one : !inner || !chosen.body[loop->body])
            continue;
        if (shown++ && p->cli->format == AS_FORMAT_TEXT)
            as_cli_print(p->cli, "\n");
        rc = predict_loop(p, &chosen, i, err);
    }
    if (rc == 0 && chosen.object && !shown)
        rc = as_error_set(err, AS_ERR_NO_CODE,
                          "predict: --function chose no innermost loop; 'assay loops' lists all "
                          "loops");
    as_chosen_free(&chosen);
    return rc;
}

/* ---- An object file ------------------------------------------------------------------------ */

/* mov ebx,111 (222); fs addr32 nop: the markers of IACA, which OSACA takes too. */
static size_t find_marker(const uint8_t *bytes, size_t from, size_t n, uint8_t number)
{
    const uint8_t marker[] = {0xbb, number, 0, 0, 0, 0x64, 0x67, 0x90};
    for (size_t i = from; i + sizeof marker <= n; i++)
        if (memcmp(bytes + i, marker, sizeof marker) == 0)
            return i;
    return n;
}

static int predict_section(struct as_predicting *p, struct as_object *object,
                           const struct as_section *section, bool marked, struct as_error *err)
{
    enum { MARKER_B = 8 };
    const size_t n = section->size_b;
    const size_t mark = find_marker(section->data, 0, n, 111);
    const size_t start = marked ? mark + MARKER_B : 0;
    const size_t end = marked ? find_marker(section->data, start, n, 222) : n;
    const struct as_bytes range = {.bytes = section->data + start,
                                   .size_b = end - start,
                                   .address = section->address + start,
                                   .k1om = as_object_info(object)->is_k1om};
    struct as_code code;
    AS_TRY(as_decode_ranges(&range, 1, &code, NULL, err));
    const struct as_piece piece = {.name = marked ? "between markers" : section->name,
                                   .code = &code,
                                   .n = code.n,
                                   .object = object};
    const int rc = as_predict_show(p, &piece, err);
    as_code_free(&code);
    return rc;
}

/* The section with markers, else the first one with code. */
static int predict_sections(struct as_predicting *p, struct as_object *object, struct as_error *err)
{
    const struct as_section *section, *chosen = NULL;
    bool marked = false;
    const size_t n = as_object_sections(object, &section);
    for (size_t i = 0; i < n; i++) {
        if (!section[i].exec || !section[i].data || !section[i].size_b)
            continue;
        const bool here =
            find_marker(section[i].data, 0, section[i].size_b, 111) < section[i].size_b;
        if (here && !marked)
            chosen = &section[i];
        else if (!chosen)
            chosen = &section[i];
        marked |= here;
    }
    if (!chosen)
        return as_error_set(err, AS_ERR_NO_CODE, "%s: has no code section",
                            as_object_info(object)->path);
    if (!marked && as_object_info(object)->type != AS_OBJECT_RELOCATABLE)
        return as_error_set(err, AS_ERR_USAGE,
                            "predict: nothing chosen; use --loop ID or --function NAME ('assay "
                            "loops' lists the loops)");
    return predict_section(p, object, chosen, marked, err);
}

static int predict_object(struct as_predicting *p, struct as_error *err)
{
    struct as_object *object = as_cli_open(p->cli, p->cli->args.positional[0]);
    if (!object)
        return 0;
    int rc = as_core_fits(p->uarch, object, err);
    if (rc == 0)
        rc = predict_sections(p, object, err);
    as_object_close(&object);
    return rc;
}

/* ---- The verb ------------------------------------------------------------------------------ */

static int predict_given(struct as_predicting *p, struct as_error *err)
{
    const struct as_arguments *args = &p->cli->args;
    const bool digits = as_given(args, AS_OPTION_HEX) || as_given(args, AS_OPTION_HEX_FILE);
    if (!p->equal_given)
        p->options.equal_memory = digits;
    if (as_given(args, AS_OPTION_HEX_FILE) && as_given(args, AS_OPTION_FORMAT) &&
        p->cli->format != AS_FORMAT_CSV)
        return as_error_set(err, AS_ERR_USAGE,
                            "--format: predictions of --hex-file are csv; use --format csv");
    if (as_given(args, AS_OPTION_HEX_FILE))
        return predict_hex_file(p, args->value[AS_OPTION_HEX_FILE], err);
    if (p->cli->format == AS_FORMAT_CSV)
        return as_error_set(
            err, AS_ERR_USAGE,
            "--format: 'predict' writes csv with --hex-file only; use text or json");
    if (p->cli->format == AS_FORMAT_JSON) {
        as_facts_begin(&p->facts, p->cli);
        as_facts_array(&p->facts, "predictions");
    }
    int rc;
    if (as_given(args, AS_OPTION_HEX))
        rc = predict_hex(p, args->value[AS_OPTION_HEX], err);
    else if (as_given(args, AS_OPTION_LOOP) || as_given(args, AS_OPTION_FUNCTION))
        rc = predict_loops(p, err);
    else
        rc = predict_object(p, err);
    if (p->cli->format == AS_FORMAT_JSON) {
        as_facts_close(&p->facts);
        as_facts_end(&p->facts);
    }
    return rc;
}

int as_verb_predict(struct as_cli *cli, struct as_error *err)
{
    const struct as_arguments *args = &cli->args;
    const unsigned inputs = (unsigned)args->positional_n + as_given(args, AS_OPTION_HEX) +
                            as_given(args, AS_OPTION_HEX_FILE);
    struct as_predicting p;
    if (as_given(args, AS_OPTION_SAMPLED) &&
        !(as_given(args, AS_OPTION_LOOP) || as_given(args, AS_OPTION_FUNCTION)))
        return as_error_set(err, AS_ERR_USAGE,
                            "predict: --experiment needs loops; use --loop or --function");
    if (inputs != 1)
        return as_error_set(err, AS_ERR_USAGE,
                            "predict: several inputs or none; use one of FILE, --hex BYTES and "
                            "--hex-file FILE");
    int rc = as_predicting_init(cli, &p, err);
    if (rc == 0)
        rc = predict_given(&p, err);
    as_predicting_fini(&p);
    return rc;
}
