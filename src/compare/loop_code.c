/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code of an aligned loop, side by side: the static metrics that explain a difference in speed, and
 * the limit of each version. They are shown even if they do not differ.
 */
#include <math.h>
#include <string.h>

#include "compare/differs.h"
#include "experiment/metric_names.h"

/* Metrics in the order of the report. */
static const char *const handful[] = {AS_METRIC_cqa_cycles, AS_METRIC_cqa_cycles_source,
                                      AS_METRIC_cqa_insn_n, "cqa_vec_ratio_all_pct",
                                      "cqa_vec_eff_all_pct"};
/* Bounds of the cycles. `window` has the cycles that the simulation adds to the largest bound. */
static const struct {
    const char *name, *word;
} bound[] = {{AS_METRIC_cqa_front_end_cy, "front end"},
             {AS_METRIC_cqa_ports_cy, "ports"},
             {AS_METRIC_cqa_divide_cy, "divide"},
             {AS_METRIC_cqa_chain_cy, "chain"}};
static const char window[] = AS_METRIC_cqa_window_cy;

enum {
    HANDFUL = sizeof handful / sizeof *handful,
    BOUNDS = sizeof bound / sizeof *bound,
};

#define ALIKE 0.99 /* a bound from this share of the largest one on limits too */
#define ADDS  0.05 /* the window limits from this share of the cycles on */

bool as_fact_is_short(const char *topic, const char *name)
{
    if (strcmp(topic, "cqa") != 0)
        return true;
    for (size_t i = 0; i < HANDFUL; i++) /* every row has its instructions already */
        if (strcmp(name, handful[i]) == 0)
            return strcmp(name, AS_METRIC_cqa_insn_n) != 0;
    return false;
}

static const struct as_code_value *known_value(const struct as_object_facts *code_facts,
                                               const char *name)
{
    const struct as_code_value *it = as_fact_value(code_facts, name);
    return it && it->value.origin ? it : NULL;
}

static void write_limit(struct as_str *out, const char *word)
{
    as_str_appendf(out, "%s%s", out->n ? ", " : "", word);
}

/* Writes the limits of a loop ("front end, chain"), or nothing if no bound is known. */
static void write_limits(struct as_str *out, const struct as_object_facts *code_facts)
{
    const struct as_code_value *cycles = known_value(code_facts, AS_METRIC_cqa_cycles),
                               *added = known_value(code_facts, window);
    double greatest = 0;
    if (cycles && added && added->value.value > ADDS * cycles->value.value) {
        write_limit(out, "buffers");
        return;
    }
    for (size_t i = 0; i < BOUNDS; i++) {
        const struct as_code_value *it = known_value(code_facts, bound[i].name);
        greatest = it ? fmax(greatest, it->value.value) : greatest;
    }
    for (size_t i = 0; i < BOUNDS; i++) {
        const struct as_code_value *it = known_value(code_facts, bound[i].name);
        if (it && greatest > 0 && it->value.value >= ALIKE * greatest)
            write_limit(out, bound[i].word);
    }
}

/* Returns the metric with this name on the first side that has it, or NULL. */
static const struct as_code_metric *metric_of(const struct as_object_facts *code_facts, size_t n,
                                              const char *name)
{
    for (size_t s = 0; s < n; s++) {
        const struct as_code_value *it = as_fact_value(&code_facts[s], name);
        if (it)
            return it->metric;
    }
    return NULL;
}

static int add_metric(struct as_arena *arena, const struct as_object_facts *code_facts, size_t n,
                      const struct as_code_metric *metric, struct as_compare_fact *out)
{
    const char **text = as_arena_array(arena, const char *, n);
    struct as_bounded_value *value = as_arena_array(arena, struct as_bounded_value, n);
    *out = (struct as_compare_fact){.topic = as_set_text(arena, metric->topic),
                                    .name = as_set_text(arena, metric->name),
                                    .title = as_set_text(arena, metric->title),
                                    .unit = as_set_text(arena, metric->unit),
                                    .text = text,
                                    .value = value};
    if (!text || !value || !out->topic || !out->name || !out->title || !out->unit)
        return AS_ERR_NOMEM;
    for (size_t s = 0; s < n; s++) {
        const struct as_code_value *it = as_fact_value(&code_facts[s], metric->name);
        if (!it)
            continue;
        value[s] = it->value;
        text[s] = it->value.origin ? as_fact_number(arena, it->value.value) : AS_VARIES;
        if (!text[s])
            return AS_ERR_NOMEM;
    }
    return 0;
}

static int add_limits(struct as_arena *arena, const struct as_object_facts *code_facts, size_t n,
                      struct as_compare_fact *out)
{
    const char **text = as_arena_array(arena, const char *, n);
    int rc = text ? 0 : AS_ERR_NOMEM;
    *out = (struct as_compare_fact){
        .topic = "cqa", .name = "cqa_limit", .title = "Limited by", .text = text};
    for (size_t s = 0; rc == 0 && s < n; s++) {
        struct as_str words = {0};
        write_limits(&words, &code_facts[s]);
        text[s] = words.n ? as_set_text(arena, as_str_z(&words)) : NULL;
        rc = words.failed || (words.n && !text[s]) ? AS_ERR_NOMEM : 0;
        as_str_fini(&words);
    }
    return rc;
}

int as_loop_code_compare(struct as_arena *arena, const struct as_object_facts *code_facts, size_t n,
                         struct as_compare_row *row)
{
    struct as_compare_fact *fact;
    if (!metric_of(code_facts, n, handful[0]))
        return 0;
    row->cqa = fact = as_arena_array(arena, struct as_compare_fact, HANDFUL + 1);
    if (!fact)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < HANDFUL; i++) {
        const struct as_code_metric *metric = metric_of(code_facts, n, handful[i]);
        if (metric && add_metric(arena, code_facts, n, metric, &fact[row->cqa_n++]) < 0)
            return AS_ERR_NOMEM;
    }
    return add_limits(arena, code_facts, n, &fact[row->cqa_n++]);
}
