/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A prediction for programs (doc/reference/json.md).
 */
#include "model_json.h"
#include "predict.h"

static void write_predicted_insns(struct as_predicting *p, const struct as_predicted *predicted)
{
    struct as_json *json = &p->facts.json;
    const struct as_prediction *out = &predicted->out;
    char assembly[256];
    as_json_key(json, "instructions");
    as_json_array_begin(json);
    for (size_t i = 0; i < out->insn_n; i++) {
        const struct as_insn_prediction *insn = &out->insn[i];
        as_predict_assembly(predicted, i, assembly, sizeof assembly);
        as_json_object_begin(json);
        as_model_json_insn(
            json, &(struct as_model_insn){
                      .address = predicted->piece->code->insn[predicted->piece->first + i].address,
                      .assembly = assembly,
                      .slots = (double)insn->slots,
                      .latency_cy = (double)insn->latency,
                      .chain = insn->chain,
                      .fused = insn->fused,
                      .eliminated = insn->eliminated,
                      .estimated = insn->estimated});
        as_json_key_string(json, "match", as_predict_match(insn));
        as_json_key_string(json, "line", insn->timing ? insn->timing->key : NULL);
        as_json_key_string(json, "source",
                           insn->timing ? p->uarch->source[insn->timing->source].words : NULL);
        as_json_key(json, "ports");
        as_json_object_begin(json);
        for (unsigned port = 0; port < out->port_n; port++)
            if (out->insn_port[i * out->port_n + port] > 0.01F)
                as_json_key_double(json, p->uarch->port[port],
                                   (double)out->insn_port[i * out->port_n + port]);
        as_json_object_end(json);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}

static void emit_chain(struct as_json *json, const struct as_prediction *out)
{
    as_json_key(json, "chain");
    as_json_array_begin(json);
    for (size_t i = 0; i < out->chain_n; i++) {
        as_json_object_begin(json);
        as_json_key_u64(json, "instruction", out->chain[i].insn);
        as_json_key_double(json, "cycles", (double)out->chain[i].cycles);
        as_json_key_bool(json, "memory", out->chain[i].memory);
        as_json_key_u64(json, "iterations", out->chain[i].iterations);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}

static void write_timeline(struct as_json *json, const struct as_prediction *out)
{
    as_json_key(json, "timeline");
    as_json_array_begin(json);
    for (size_t i = 0; i < out->timeline_n; i++) {
        const struct as_timeline_entry *e = &out->timeline[i];
        as_json_object_begin(json);
        as_json_key_u64(json, "iteration", e->iteration);
        as_json_key_u64(json, "instruction", e->insn);
        as_json_key_i64(json, "dispatch", e->dispatch);
        as_json_key_i64(json, "ready", e->ready);
        as_json_key_i64(json, "issue", e->issue);
        as_json_key_i64(json, "done", e->done);
        as_json_key_i64(json, "retire", e->retire);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}

static void write_answer(struct as_predicting *p, const struct as_predicted *predicted)
{
    struct as_json *json = &p->facts.json;
    const struct as_prediction *out = &predicted->out;
    as_json_key_string(json, "id", predicted->piece->name);
    as_json_key_string(json, "machine", p->uarch->name);
    as_json_key_string(json, "table_source", as_table_source(p->uarch));
    as_json_key_string(json, "table_file", *p->choice.file ? p->choice.file : NULL);
    as_json_key_string(json, "core_doubt", *p->choice.core.doubt ? p->choice.core.doubt : NULL);
    as_json_key_string(json, "mode", p->options.mode == AS_PREDICT_LOOP ? "loop" : "unrolled");
    as_json_key_double(json, "cycles", out->cycles);
    as_json_key_double(json, "cycles_worst", predicted->worst);
    as_model_json_bound(json, out->bound, out->limit);
    as_json_key(json, "bounds");
    as_json_object_begin(json);
    for (unsigned i = 0; i < AS_BOUNDS; i++)
        as_json_key_double(json, as_bound_name((enum as_bound)i), out->bounds[i]);
    as_json_object_end(json);
    as_json_key_u64(json, "estimated_n", out->estimated_n);
    as_json_key_u64(json, "alike_n", out->alike_n);
}

static void write_predicted_what_ifs(struct as_json *json, const struct as_predicted *predicted)
{
    as_json_key(json, "what_if");
    as_json_object_begin(json);
    for (unsigned i = 0; i < AS_WHAT_IFS; i++)
        if (predicted->what_if[i].is_there)
            as_json_key_double(json, predicted->what_if[i].key, predicted->what_if[i].cycles);
    as_json_object_end(json);
    as_json_key(json, "limits_next");
    as_json_object_begin(json);
    for (unsigned i = 0; i < AS_WHAT_IFS; i++)
        if (predicted->what_if[i].is_there)
            as_json_key_string(json, predicted->what_if[i].key,
                               as_bound_name(predicted->what_if[i].bound));
    as_json_object_end(json);
}

static void print_levels(struct as_predicting *p, const struct as_predicted *predicted)
{
    struct as_json *json = &p->facts.json;
    if (predicted->piece->several) {
        as_json_key_double(json, "weight", predicted->piece->weight);
        as_json_key_string(json, "weights",
                           predicted->piece->counted   ? "counts"
                           : predicted->piece->sampled ? "samples"
                                                       : "static");
        as_json_key_double(json, "weighted_cycles", predicted->piece->weighted);
    }
    if (!predicted->piece->traffic)
        return;
    as_json_key(json, "levels");
    as_json_object_begin(json);
    for (unsigned i = 0; i < AS_PREDICT_LEVELS; i++)
        if (predicted->level[i].cycles >= 0)
            as_json_key_double(json, as_predict_level_name((enum as_predict_level)i),
                               predicted->level[i].cycles);
    as_json_object_end(json);
}

void as_predict_json(struct as_predicting *p, const struct as_predicted *predicted)
{
    struct as_json *json = &p->facts.json;
    as_json_object_begin(json);
    write_answer(p, predicted);
    write_predicted_insns(p, predicted);
    emit_chain(json, &predicted->out);
    write_timeline(json, &predicted->out);
    write_predicted_what_ifs(json, predicted);
    print_levels(p, predicted);
    as_json_object_end(json);
}
