/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the bytes are a .dim trace. It is refused by one sentence, or simulated on a machine
 * with limits and on an ideal one. The parts of each rank add up to its end. A trace that is
 * written of it says the same.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "simulate/dim.h"
#include "simulate/simulation.h"

bool fuzz_taken;

static void check_ranks(const struct as_simulated *simulated)
{
    int64_t total_ns = 0;
    as_vec_foreach (&simulated->rank, r) {
        const int64_t part[] = {r->computing_ns, r->latency_ns,    r->link_ns,   r->bus_ns,
                                r->transfer_ns,  r->collective_ns, r->blocked_ns};
        int64_t sum_ns = 0;
        for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
            FUZZ_CHECK(part[i] >= 0);
            sum_ns += part[i];
        }
        FUZZ_CHECK(sum_ns == r->end_ns);
        total_ns = r->end_ns > total_ns ? r->end_ns : total_ns;
    }
    FUZZ_CHECK(total_ns == simulated->total_ns);
}

/* The total, or -1 for a program that is refused. */
static int64_t simulate_once(struct as_simulated_program *program,
                             const struct as_machine_model *model)
{
    struct as_simulated simulated;
    struct as_error err = {0};
    const int rc = as_simulate_program(program, model, &simulated, &err);
    if (rc < 0)
        fuzz_check_error(rc, &err);
    else
        check_ranks(&simulated);
    const int64_t total_ns = rc < 0 ? -1 : simulated.total_ns;
    as_simulated_fini(&simulated);
    return total_ns;
}

static void check_written(struct as_simulated_program *program,
                          const struct as_machine_model *model, int64_t total_ns)
{
    struct as_str text = {0};
    struct as_out out;
    struct as_simulated_program again;
    struct as_error err = {0};
    as_out_init_str(&out, &text);
    FUZZ_CHECK(as_dim_write(program, "again", &out, &err) == 0);
    FUZZ_CHECK(as_out_flush(&out, &err) == 0);
    as_out_fini(&out);
    FUZZ_CHECK(as_dim_parse((struct as_view){as_str_z(&text), text.n}, "again", &again, &err) == 0);
    FUZZ_CHECK(simulate_once(&again, model) == total_ns);
    as_program_fini(&again);
    as_str_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    struct as_machine_model model;
    struct as_simulated_program program;
    struct as_error err = {0};
    char *copy = malloc(size_b + 1); /* of its very size: what is read beyond it is noticed */
    FUZZ_CHECK(copy);
    if (size_b)
        memcpy(copy, bytes, size_b);
    const int rc = as_dim_parse((struct as_view){copy, size_b}, "input", &program, &err);
    if (rc < 0) {
        fuzz_check_error(rc, &err);
        free(copy);
        return 0;
    }
    as_machine_ideal(&model);
    model.eager_b = 1000;
    const int64_t ideal_ns = simulate_once(&program, &model);
    model.network[AS_NETWORK_BETWEEN] = (struct as_network){10, 1000000000, 2, 1, 1, 0};
    model.network[AS_NETWORK_INSIDE] = (struct as_network){1, 0, 1, 0, 0, 0};
    model.ranks_per_node = 2;
    const int64_t total_ns = simulate_once(&program, &model);
    FUZZ_CHECK(ideal_ns < 0 || total_ns < 0 || ideal_ns <= total_ns);
    if (total_ns >= 0)
        check_written(&program, &model, total_ns);
    fuzz_taken |= total_ns >= 0;
    as_program_fini(&program);
    free(copy);
    return 0;
}
