/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code quality analysis for programs: JSON (doc/internals/cqa.md) and CSV, and the words that text
 * shares.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cqa.h"
#include "loop_words.h"
#include "model_json.h"

/* ---- Words --------------------------------------------------------------------------------- */

static const struct {
    const char *key, *words;
} obstacles[] = {
    {"call", "a call: its code is outside the loop"},
    {"ways", "several paths through an iteration: a branch where a select (cmov, blend) is "
             "possible"},
    {"recurrence", "a recurrence: each iteration needs the result of the previous one"},
    {"reduction", "a reduction (such as a sum): the compiler must be allowed to reorder it"},
    {"stride", "strided accesses: neighbours in memory belong to different iterations"},
    {"indirect", "indirect accesses (gather): elements are loaded one by one"},
    {"unknown_step",
     "strides that the binary does not show: a leading dimension, or a Fortran pointer that is "
     "not contiguous"},
    {"x87", "x87 instructions, which have no vector form"},
    {"form", "instructions without a vector form"},
    {"memory", "a value that is passed through memory to a later iteration"}};

const char *as_cqa_obstacle_key(unsigned n)
{
    return n < sizeof obstacles / sizeof *obstacles ? obstacles[n].key : NULL;
}

const char *as_cqa_obstacle_words(unsigned n)
{
    return n < sizeof obstacles / sizeof *obstacles ? obstacles[n].words : NULL;
}

double as_cqa_value(const struct as_cqa_path *path, const char *metric)
{
    const int at = as_cqa_metric_find(metric);

    return at < 0 || !path->value ? NAN : path->value[at];
}

void as_cqa_bound_words(enum as_bound bound, const char *limit, struct as_str *out)
{
    as_str_appendz(out, as_bound_name(bound));
    if (*limit)
        as_str_appendf(out, " %s", limit);
}

void as_cqa_place_words(const struct as_quality_view *view, const struct as_cqa *cqa,
                        struct as_str *out)
{
    const struct as_program *program = view->chosen.program;

    as_chosen_name(&view->chosen, cqa->body, out);
    if (cqa->loop == AS_NONE || !program->loop[cqa->loop].sources)
        return;
    as_str_appendz(out, ", ");
    as_words_source(out, &program->debug, &program->loop_source[program->loop[cqa->loop].source],
                    true);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void write_path_metrics(struct as_json *json, const struct as_cqa_path *path)
{
    as_json_key(json, "metrics");
    as_json_object_begin(json);
    for (size_t i = 0; i < as_cqa_metric_count(); i++)
        as_json_key_double(json, as_cqa_metric(i)->name, path->value[i]);
    as_json_object_end(json);
}

static void write_path_what_ifs(struct as_json *json, const struct as_cqa_path *path)
{
    as_json_key(json, "what_if");
    as_json_object_begin(json);
    for (unsigned v = 0; v < AS_CQA_VARIANTS; v++) {
        const struct as_cqa_what_if *it = &path->what_if[v];

        as_json_key(json, as_cqa_variant_name((enum as_cqa_variant)v));
        as_json_object_begin(json);
        as_json_key_bool(json, "applies", it->applies);
        as_json_key_bool(json, "sound", it->sound);
        as_json_key_double(json, "cycles", it->cycles);
        as_json_key_double(json, "speedup", it->speedup);
        as_model_json_bound(json, it->bound, it->limit);
        as_json_key_u64(json, "instructions", it->insn_n);
        as_json_key_u64(json, "iterations", it->iterations);
        as_json_key_u64(json, "gathered", it->gathered_n);
        as_json_key_u64(json, "replicated", it->replicated_n);
        as_json_key_string(json, "why", it->why);
        as_json_object_end(json);
    }
    as_json_object_end(json);
}

static void write_path_ports(const struct as_quality_view *view, struct as_json *json,
                             const struct as_cqa_path *path)
{
    as_json_key(json, "ports_cy");
    as_json_object_begin(json);
    for (unsigned i = 0; path->port_use && i < view->uarch->port_n; i++)
        as_json_key_double(json, view->uarch->port[i], path->port_use[i]);
    as_json_object_end(json);
}

static void write_obstacles(struct as_json *json, uint32_t bits)
{
    as_json_key(json, "obstacles");
    as_json_array_begin(json);
    for (unsigned i = 0; as_cqa_obstacle_key(i); i++)
        if (bits >> i & 1)
            as_json_string(json, as_cqa_obstacle_key(i));
    as_json_array_end(json);
}

/* Writes the obstacles of the whole loop, with their evidence. */
static void emit_reasons(const struct as_quality_view *view, struct as_json *json,
                         const struct as_cqa *cqa)
{
    char text[512];

    as_json_key(json, "against");
    as_json_array_begin(json);
    for (size_t i = 0; cqa->verdict && i < cqa->verdict->reason_n; i++) {
        const struct as_vector_reason *reason = &cqa->verdict->reason[i];

        as_vector_reason_text(view->chosen.program, cqa->verdict, reason, text, sizeof text);
        as_json_object_begin(json);
        as_json_key_string(json, "obstacle", as_vector_obstacle_name(reason->obstacle));
        as_json_key_string(json, "text", text);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}

static void write_path_insns(const struct as_quality_view *view, struct as_json *json,
                             const struct as_cqa_path *path)
{
    const struct as_code *code = &view->chosen.program->code;

    as_json_key(json, "instructions");
    as_json_array_begin(json);
    for (size_t i = 0; i < path->insn_n; i++) {
        const struct as_cqa_insn *it = &path->insn[i];
        char text[128];

        as_cqa_assembly(view, it->insn, text, sizeof text);
        as_json_object_begin(json);
        as_model_json_insn(json, &(struct as_model_insn){.address = code->insn[it->insn].address,
                                                         .assembly = text,
                                                         .slots = (double)it->slots,
                                                         .latency_cy = (double)it->latency,
                                                         .chain = it->chain,
                                                         .fused = it->fused,
                                                         .eliminated = it->eliminated,
                                                         .estimated = it->estimated});
        as_json_key_double(json, "throughput_cy", (double)it->throughput);
        as_json_key_bool(json, "packed", it->packed);
        as_json_key_bool(json, "packable", it->packable);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}

static void print_path(const struct as_quality_view *view, struct as_json *json,
                       const struct as_cqa_path *path)
{
    as_json_object_begin(json);
    as_json_key_u64(json, "number", path->number);
    as_json_key_double(json, "weight", path->weight);
    as_model_json_bound(json, path->bound, path->limit);
    write_obstacles(json, path->obstacles);
    write_path_metrics(json, path);
    write_path_ports(view, json, path);
    write_path_what_ifs(json, path);
    if (path->insn_n)
        write_path_insns(view, json, path);
    as_json_object_end(json);
}

static void write_cqa_place(const struct as_quality_view *view, struct as_json *json,
                            const struct as_cqa *cqa)
{
    const struct as_program *program = view->chosen.program;
    const struct as_loop *loop = cqa->loop == AS_NONE ? NULL : &program->loop[cqa->loop];
    const struct as_source_range *source =
        loop && loop->sources ? &program->loop_source[loop->source] : NULL;
    struct as_str name = {0};

    as_chosen_name(&view->chosen, cqa->body, &name);
    as_json_key(json, "id");
    if (loop)
        as_json_u64(json, cqa->loop);
    else
        as_json_null(json);
    as_json_key_string(json, "function", as_str_z(&name));
    as_json_key(json, "address");
    as_json_hex(json, loop ? program->block[loop->header].start : program->body[cqa->body].entry);
    as_json_key_string(json, "level", loop ? as_level_word(loop->level) : NULL);
    as_json_key_string(json, "role", loop ? as_role_word(loop->role) : NULL);
    as_json_key_string(json, "file", source ? program->debug.file[source->file] : NULL);
    as_json_key_u64(json, "first_line", source ? source->first_line : 0);
    as_json_key_u64(json, "last_line", source ? source->last_line : 0);
    as_str_fini(&name);
}

void as_cqa_json(struct as_quality_view *view, const struct as_cqa *cqa)
{
    struct as_json *json = &view->facts.json;

    as_json_object_begin(json);
    write_cqa_place(view, json, cqa);
    emit_reasons(view, json, cqa);
    as_cqa_remarks_json(view, cqa);
    as_cqa_advice_json(view, cqa);
    as_json_key_u64(json, "paths_total", cqa->path_count);
    as_json_key_bool(json, "merged", cqa->merged);
    as_json_key_bool(json, "outsize", cqa->outsize);
    as_json_key_string(json, "weights", cqa->weighed ? "measured" : "static");
    as_json_key(json, "lacks");
    as_json_array_begin(json);
    for (unsigned i = 0; i < AS_EXTENSION_COUNT; i++)
        if (cqa->lacks >> i & 1)
            as_json_string(json, as_extension_name(i));
    as_json_array_end(json);
    as_json_key(json, "mean");
    if (cqa->path_n)
        print_path(view, json, &cqa->mean);
    else
        as_json_null(json);
    as_json_key(json, "paths");
    as_json_array_begin(json);
    for (size_t i = 0; i < cqa->path_n; i++)
        print_path(view, json, &cqa->path[i]);
    as_json_array_end(json);
    as_json_object_end(json);
}

/* ---- CSV: a row a path, and one of the mean ------------------------------------------------ */

static const char *const csv_first[] = {"id",    "function", "address",   "path",         "weight",
                                        "bound", "limit",    "obstacles", "compiler_said"};
enum { CSV_FIRST = sizeof csv_first / sizeof *csv_first };

void as_cqa_csv_head(struct as_quality_view *view)
{
    as_cli_csv(view->cli, &view->csv);
    for (unsigned i = 0; i < CSV_FIRST; i++)
        as_csv_string(&view->csv, csv_first[i]);
    for (size_t i = 0; i < as_cqa_metric_count(); i++)
        as_csv_string(&view->csv, as_cqa_metric(i)->name);
    for (unsigned v = 0; v < AS_CQA_VARIANTS; v++) {
        char name[64];

        snprintf(name, sizeof name, "%s_cy", as_cqa_variant_name((enum as_cqa_variant)v));
        as_csv_string(&view->csv, name);
        snprintf(name, sizeof name, "%s_bound", as_cqa_variant_name((enum as_cqa_variant)v));
        as_csv_string(&view->csv, name);
    }
    as_csv_row_end(&view->csv);
}

static void write_cqa_csv_row(struct as_quality_view *view, const struct as_cqa *cqa,
                              const struct as_cqa_path *path, const char *number)
{
    const struct as_program *program = view->chosen.program;
    struct as_csv *csv = &view->csv;
    struct as_str words = {0};

    if (cqa->loop == AS_NONE)
        as_csv_string(csv, NULL);
    else
        as_csv_u64(csv, cqa->loop);
    as_chosen_name(&view->chosen, cqa->body, &words);
    as_csv_string(csv, as_str_z(&words));
    as_csv_hex(csv, cqa->loop == AS_NONE ? program->body[cqa->body].entry
                                         : program->block[program->loop[cqa->loop].header].start);
    as_csv_string(csv, number);
    as_csv_double(csv, path->weight);
    as_csv_string(csv, as_bound_name(path->bound));
    as_csv_string(csv, path->limit);
    as_str_clear(&words);
    for (unsigned i = 0; as_cqa_obstacle_key(i); i++)
        if (path->obstacles >> i & 1)
            as_str_appendf(&words, "%s%s", words.n ? ";" : "", as_cqa_obstacle_key(i));
    as_csv_string(csv, as_str_z(&words));
    as_cqa_remarks_csv(view, cqa);
    for (size_t i = 0; i < as_cqa_metric_count(); i++)
        as_csv_double(csv, path->value[i]);
    for (unsigned v = 0; v < AS_CQA_VARIANTS; v++) {
        const struct as_cqa_what_if *it = &path->what_if[v];

        as_csv_double(csv, it->applies ? it->cycles : NAN);
        as_csv_string(csv, it->applies ? as_bound_name(it->bound) : NULL);
    }
    as_csv_row_end(csv);
    as_str_fini(&words);
}

void as_cqa_csv(struct as_quality_view *view, const struct as_cqa *cqa)
{
    char number[16];

    for (size_t i = 0; i < cqa->path_n; i++) {
        snprintf(number, sizeof number, "%u", cqa->path[i].number);
        write_cqa_csv_row(view, cqa, &cqa->path[i], cqa->merged ? "all" : number);
    }
    if (cqa->path_n > 1)
        write_cqa_csv_row(view, cqa, &cqa->mean, "mean");
}
