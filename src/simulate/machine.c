/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas of the machine: transfers and collectives. */
#include "simulate/machine.h"

#include <string.h>

#include "base/str.h"

static const char *const collective_words[] = {
#define WORD(number, name, word) [number] = (word),
    AS_COLLECTIVES(WORD)
#undef WORD
};
#define WORD(name, word) word,
static const char *const factor_words[] = {AS_FACTORS(WORD)};
static const char *const size_words[] = {AS_SIZES(WORD)};
#undef WORD

const char *as_collective_word(unsigned number)
{
    return number < AS_COLLECTIVES_N ? collective_words[number] : "?";
}

/* As the reference's ideal configuration (doc/internals/simulate.md). */
void as_machine_ideal(struct as_machine_model *model)
{
    *model = (struct as_machine_model){.eager_b = AS_EAGER_USUAL_B, .speed = 1};
    for (unsigned i = 0; i < AS_COLLECTIVES_N; i++)
        model->collective[i].in.factor = AS_FACTOR_LOGARITHMIC;
    static const uint8_t linear[] = {AS_COLLECTIVE_ALLTOALL, AS_COLLECTIVE_ALLTOALLV,
                                     AS_COLLECTIVE_ALLTOALLW};
    for (size_t i = 0; i < sizeof linear; i++)
        model->collective[linear[i]].in =
            (struct as_collective_phase){AS_FACTOR_LINEAR, AS_SIZE_TWICE_MAX};
    model->collective[AS_COLLECTIVE_REDUCE].in.size = AS_SIZE_TWICE_MAX;
}

void as_machine_fini(struct as_machine_model *model)
{
    as_vec_fini(&model->speeds);
}

/* ---- Models from text ------------------------------------------------------------------------ */

static int word_at(const char *const *words, size_t n, struct as_view word)
{
    for (size_t i = 0; i < n; i++)
        if (as_view_equal(word, as_view_of(words[i])))
            return (int)i;
    return -1;
}

/* "log:2max"; the size may be missing. */
static bool parse_phase(struct as_view text, struct as_collective_phase *out)
{
    struct as_view factor, size = {0};
    if (!as_view_split(&text, ':', &factor))
        return false;
    const bool has_size = as_view_split(&text, ':', &size);
    const int f = word_at(factor_words, AS_FACTORS_N, factor);
    const int s = has_size ? word_at(size_words, AS_SIZES_N, size) : AS_SIZE_MAX;
    if (f < 0 || s < 0 || text.p)
        return false;
    *out = (struct as_collective_phase){(uint8_t)f, (uint8_t)s};
    return true;
}

/* A plus sign stands between the phases, and within "s+r". */
static bool parse_phases(struct as_view text, struct as_collective_model *out)
{
    *out = (struct as_collective_model){0};
    for (size_t i = 0; i <= text.n; i++) {
        const struct as_view front = {text.p, i};
        const struct as_view back = {text.p + i + 1, i < text.n ? text.n - i - 1 : 0};
        if (i < text.n && text.p[i] != '+')
            continue;
        if (parse_phase(front, &out->in) && (i == text.n || parse_phase(back, &out->out)))
            return true;
    }
    return false;
}

bool as_machine_set_collective(struct as_machine_model *model, const char *text)
{
    struct as_view rest = as_view_of(text), name;
    struct as_collective_model parsed;
    if (!as_view_split(&rest, '=', &name) || !rest.p || !parse_phases(rest, &parsed))
        return false;
    const bool is_all = as_view_equal(name, as_view_of("all"));
    const int number = word_at(collective_words, AS_COLLECTIVES_N, name);
    for (int i = 0; i < (int)AS_COLLECTIVES_N; i++)
        if (is_all || i == number)
            model->collective[i] = parsed;
    return is_all || number >= 0;
}

/* ---- Several machines ------------------------------------------------------------------------ */

uint32_t as_machine_of_node(const struct as_machine_model *model, uint32_t node)
{
    const uint32_t of = model->nodes_per_machine;
    uint32_t first = 0;
    if (of)
        return node / of * of;
    for (uint32_t i = 0; i < model->machine_n && model->machine_node[i] <= node; i++)
        first = model->machine_node[i];
    return first;
}

static bool is_within(const struct as_size_limit *limit, int64_t size_b)
{
    return limit->is == '<'   ? size_b < limit->size_b
           : limit->is == '>' ? size_b > limit->size_b
                              : size_b == limit->size_b;
}

static bool has_tag(const struct as_machine_model *model, const struct as_dedicated_link *link,
                    int32_t tag)
{
    for (uint32_t i = 0; i < link->tags_n; i++)
        if (model->link_tag[link->tags_at + i] == tag)
            return true;
    return false;
}

const struct as_dedicated_link *as_machine_link_of(const struct as_machine_model *model,
                                                   uint32_t from_machine, uint32_t to_machine,
                                                   int32_t tag, int64_t size_b)
{
    for (uint32_t i = 0; i < model->link_n; i++) {
        const struct as_dedicated_link *link = &model->link[i];
        const bool is_there = (link->node[0] == from_machine && link->node[1] == to_machine) ||
                              (link->node[1] == from_machine && link->node[0] == to_machine);
        if (!is_there || !has_tag(model, link, tag))
            continue;
        const bool first = is_within(&link->size[0], size_b);
        const bool second = is_within(&link->size[1], size_b);
        if (link->is_either ? first || second : first && second)
            return link;
    }
    return NULL;
}

/* ---- Formulas -------------------------------------------------------------------------------- */

static int64_t bounded_ns(__int128 ns)
{
    return ns > AS_SIMULATED_NS_MAX ? AS_SIMULATED_NS_MAX : (int64_t)ns;
}

int64_t as_network_transfer_ns(const struct as_network *network, int64_t size_b)
{
    const uint64_t bps = network->bandwidth_bps;
    if (bps == 0)
        return 0;
    /* Below 2^33 bytes the product fits 64 bits: a far cheaper division. */
    if (size_b < INT64_C(1) << 33 && bps < UINT64_C(1) << 62)
        return (int64_t)(((uint64_t)size_b * 1000000000u + bps / 2) / bps);
    return bounded_ns(((__int128)size_b * 1000000000 + bps / 2) / bps);
}

static int64_t size_of_collective(const struct as_collective_sizes *sizes, uint8_t size)
{
    switch (size) {
    case AS_SIZE_MIN:
        return sizes->min_b;
    case AS_SIZE_MEAN:
        return sizes->sum_b / (sizes->member_n ? sizes->member_n : 1);
    case AS_SIZE_TWICE_MAX:
        return 2 * sizes->max_b;
    case AS_SIZE_SENT_AND_RECEIVED:
        return sizes->max_b + sizes->received_max_b;
    default:
        return sizes->max_b;
    }
}

/* Steps of a binary tree; the messages of a step share the buses. */
static int64_t logarithmic_steps(uint32_t n, uint32_t buses)
{
    int64_t steps = 0;
    for (; n > 1; n -= n / 2)
        steps += buses ? (n / 2 + buses - 1) / buses : 1;
    return steps;
}

static int64_t phase_ns(const struct as_network *network, const struct as_collective_phase *phase,
                        const struct as_collective_sizes *sizes, uint32_t n)
{
    if (n < 2 || phase->factor == AS_FACTOR_ZERO)
        return 0;
    const int64_t step_ns = network->latency_ns + network->flight_ns +
                            as_network_transfer_ns(network, size_of_collective(sizes, phase->size));
    const int64_t steps = phase->factor == AS_FACTOR_CONSTANT ? 1
                          : phase->factor == AS_FACTOR_LINEAR
                              ? (int64_t)n - 1
                              : logarithmic_steps(n, network->buses);
    return bounded_ns((__int128)step_ns * steps);
}

int64_t as_collective_cost_ns(const struct as_machine_model *model, unsigned collective,
                              const struct as_collective_sizes *sizes,
                              const struct as_collective_spread *spread)
{
    const struct as_collective_model *m = &model->collective[collective];
    __int128 ns = 0;
    for (unsigned i = 0; i < AS_NETWORKS_N; i++)
        ns += (__int128)phase_ns(&model->network[i], &m->in, sizes, spread->n[i]) +
              phase_ns(&model->network[i], &m->out, sizes, spread->n[i]);
    return bounded_ns(ns);
}
