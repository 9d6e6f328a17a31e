/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benchmark target: the simulator on a generated ring. Each rank computes, exchanges a message with
 * both neighbours and waits for all four requests. Each tenth step ends with an allreduce. Prints
 * actions per CPU second and resident memory, without and with limits of the network. usage:
 * simulate RANKS STEPS
 */
#include <time.h>

#include "simulate/simulation.h"
#include "status.h"

#define STEP_ACTIONS_N   10u /* of a step; the last is an allreduce or a burst */
#define ALLREDUCE_STEP_N 10u

struct ring {
    uint32_t rank_n, step_n;
    uint32_t step[1 << 16], action[1 << 16]; /* next, by rank */
};

/* Writes it in place and without a division: the generator is not what is measured. */
static void make_action(const struct ring *ring, uint32_t rank, uint32_t step, uint32_t at,
                        struct as_action *out)
{
    const uint32_t left = rank ? rank - 1 : ring->rank_n - 1;
    const uint32_t right = rank + 1 < ring->rank_n ? rank + 1 : 0;
    const bool is_left = at == 1 || at == 3;
    if (at == 0 || (at == STEP_ACTIONS_N - 1 && step % ALLREDUCE_STEP_N))
        *out = (struct as_action){.kind = AS_ACTION_COMPUTE, .ns = 1000 + (rank * 7 + step) % 97};
    else if (at <= 2)
        *out = (struct as_action){.kind = AS_ACTION_RECEIVE,
                                  .partner = is_left ? left : right,
                                  .tag = is_left,
                                  .request = at};
    else if (at <= 4)
        *out = (struct as_action){.kind = AS_ACTION_SEND,
                                  .partner = is_left ? left : right,
                                  .tag = !is_left,
                                  .sent_b = 8192,
                                  .request = at};
    else if (at < STEP_ACTIONS_N - 1)
        *out = (struct as_action){.kind = AS_ACTION_WAIT, .request = at - 4};
    else
        *out = (struct as_action){
            .kind = AS_ACTION_COLLECTIVE, .collective = AS_COLLECTIVE_ALLREDUCE, .sent_b = 8};
}

static int read_ring(void *context, uint32_t rank, struct as_action *out, size_t capacity,
                     size_t *n, struct as_error *err)
{
    struct ring *ring = context;
    (void)err;
    for (*n = 0; *n < capacity && ring->step[rank] < ring->step_n;) {
        make_action(ring, rank, ring->step[rank], ring->action[rank]++, &out[(*n)++]);
        if (ring->action[rank] == STEP_ACTIONS_N) {
            ring->action[rank] = 0;
            ring->step[rank]++;
        }
    }
    return 0;
}

static void measure(struct as_simulated_program *program, const struct as_machine_model *model,
                    const char *name)
{
    struct as_simulated simulated;
    struct as_error err = {0};
    const clock_t begin = clock();
    if (as_simulate_program(program, model, &simulated, &err) < 0) {
        fprintf(stderr, "bench-simulate: %s\n", err.text);
        exit(1);
    }
    const double s = (double)(clock() - begin) / CLOCKS_PER_SEC;
    printf("%s: %.1f M actions in %.2f s, %.2f M/s, %ld KiB resident at most, %llu in flight\n",
           name, (double)simulated.actions_n / 1e6, s, (double)simulated.actions_n / 1e6 / s,
           bench_status_kib("VmHWM"), (unsigned long long)simulated.in_flight_max);
    as_simulated_fini(&simulated);
}

int main(int argc, char **argv)
{
    static struct ring ring;
    struct as_simulated_program program = {.context = &ring, .read = read_ring};
    struct as_machine_model model;
    if (argc != 3)
        return 2;
    ring.rank_n = program.rank_n = (uint32_t)strtoul(argv[1], NULL, 10);
    ring.step_n = (uint32_t)strtoul(argv[2], NULL, 10);
    struct as_program_comm world = {0};
    for (uint32_t i = 0; i < ring.rank_n; i++)
        if (as_vec_push(&world.rank, i) < 0)
            return 1;
    if (as_vec_push(&program.comm, world) < 0)
        return 1;
    as_machine_ideal(&model);
    model.network[AS_NETWORK_BETWEEN] = (struct as_network){1000, 10000000000u, 0, 0, 0, 0};
    measure(&program, &model, "unlimited");
    for (uint32_t i = 0; i < ring.rank_n; i++)
        ring.step[i] = ring.action[i] = 0;
    model.network[AS_NETWORK_BETWEEN] =
        (struct as_network){1000, 10000000000u, ring.rank_n / 2, 1, 1, 0};
    measure(&program, &model, "limited");
    as_program_fini(&program);
    return 0;
}
