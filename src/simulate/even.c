/* SPDX-License-Identifier: Apache-2.0 */
/* The parameter of a fitted network is a factor of its least value: 2^fit. */
#include "simulate/even.h"

#include <math.h>

#include "base/error.h"

#define FIT_MAX       30.0 /* 2^30 ns are a second */
#define FIT_STEPS_N   24
#define FIT_TOLERANCE 0.002

enum even_network { EVEN_IDEAL, EVEN_LATENCY, EVEN_BANDWIDTH, EVEN_NETWORKS_N };

struct even_state {
    struct as_simulated_program *program;
    struct as_machine_model model;
    int64_t recorded_ns;
    struct as_error *err;
};

/* 2^fit ns of latency, or 2^fit ns for each MiB. */
static void set_network(struct even_state *s, enum even_network network, double fit)
{
    for (unsigned i = 0; i < AS_NETWORKS_N; i++) {
        s->model.network[i].latency_ns = network == EVEN_LATENCY ? (int64_t)exp2(fit) : 0;
        s->model.network[i].bandwidth_bps =
            network == EVEN_BANDWIDTH ? (uint64_t)fmax(1, 1048576e9 / exp2(fit)) : 0;
    }
}

static int simulate_total(const struct even_state *s, int64_t *total_ns)
{
    struct as_simulated result;
    const int rc = as_simulate_program(s->program, &s->model, &result, s->err);
    *total_ns = result.total_ns;
    as_simulated_fini(&result);
    return rc;
}

/* Bisects until the simulated time is the recorded one. *total_ns is 0 if no value fits. */
static int fit_network(struct even_state *s, enum even_network network, int64_t *total_ns)
{
    double low = 0, high = FIT_MAX;
    for (unsigned i = 0; i < FIT_STEPS_N; i++) {
        const double fit = (low + high) / 2;
        set_network(s, network, fit);
        const int rc = simulate_total(s, total_ns);
        if (rc == AS_ERR_CORRUPT) /* beyond the longest time that is simulated */
            *total_ns = AS_SIMULATED_NS_MAX;
        else if (rc < 0)
            return rc;
        if (fabs((double)(*total_ns - s->recorded_ns)) <= FIT_TOLERANCE * (double)s->recorded_ns)
            return 0;
        *(*total_ns < s->recorded_ns ? &low : &high) = fit;
    }
    *total_ns = 0;
    return 0;
}

static int set_even_speeds(struct even_state *s, const struct as_simulated *ideal)
{
    double mean_ns = 0;
    as_vec_foreach (&ideal->rank, rank)
        mean_ns += (double)rank->computing_ns / (double)ideal->rank.n;
    for (uint32_t i = 0; i < ideal->rank.n; i++) {
        const double own_ns = (double)ideal->rank.at[i].computing_ns;
        const struct as_speed speed = {.number = i, .times = own_ns / mean_ns};
        if (own_ns > 0 && mean_ns > 0 && as_vec_push(&s->model.speeds, speed) < 0)
            return as_error_nomem(s->err, "speeds of ranks");
    }
    return 0;
}

/* Widens the interval by the saving on a network and by its distance from the recorded time. */
static void add_saving(const struct even_state *s, int64_t total_ns, int64_t even_ns,
                       bool is_fitted, struct as_even_gain *out)
{
    const int64_t saved_ns = total_ns - even_ns;
    const double off = fabs((double)(total_ns - s->recorded_ns)) / (double)s->recorded_ns;
    const int64_t error_ns = is_fitted ? (int64_t)ceil(off * fabs((double)saved_ns)) : 0;
    const int64_t low_ns = saved_ns - error_ns, high_ns = saved_ns + error_ns;
    out->low_ns = out->network_n && out->low_ns < low_ns ? out->low_ns : low_ns;
    out->high_ns = out->network_n && out->high_ns > high_ns ? out->high_ns : high_ns;
    out->network_n++;
}

/* Keeps the network that is set. */
static int add_even_run(struct even_state *s, const struct as_simulated *ideal, int64_t total_ns,
                        bool is_fitted, struct as_even_gain *out)
{
    int64_t even_ns = 0;
    AS_TRY(set_even_speeds(s, ideal));
    const int rc = simulate_total(s, &even_ns);
    s->model.speeds.n = 0;
    if (rc == 0)
        add_saving(s, total_ns, even_ns, is_fitted, out);
    return rc;
}

static int simulate_even(struct even_state *s, const struct as_simulated *ideal,
                         struct as_even_gain *out)
{
    AS_TRY(add_even_run(s, ideal, ideal->total_ns, false, out));
    const bool is_fitted = ideal->actions_n <= AS_EVEN_FITTED_ACTIONS_N &&
                           (double)ideal->total_ns < (1 - FIT_TOLERANCE) * (double)s->recorded_ns;
    for (unsigned network = EVEN_LATENCY; is_fitted && network < EVEN_NETWORKS_N; network++) {
        int64_t total_ns = 0;
        AS_TRY(fit_network(s, (enum even_network)network, &total_ns));
        if (total_ns)
            AS_TRY(add_even_run(s, ideal, total_ns, true, out));
    }
    return 0;
}

int as_even_gain_of(struct as_simulated_program *program, const struct as_simulated *ideal,
                    int64_t recorded_ns, struct as_even_gain *out, struct as_error *err)
{
    struct even_state s = {.program = program, .recorded_ns = recorded_ns, .err = err};
    *out = (struct as_even_gain){0};
    if (recorded_ns <= 0 || ideal->rank.n < 2)
        return 0;
    as_machine_ideal(&s.model);
    const int rc = simulate_even(&s, ideal, out);
    as_machine_fini(&s.model);
    out->saved_ns = out->low_ns + (out->high_ns - out->low_ns) / 2;
    return rc;
}
