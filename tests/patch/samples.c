/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch-samples EVENT STACKS EXPERIMENT PLAN... -- PROGRAM: profiles a program alone (run 1), then
 * with its loops as clones, one more run for each PLAN: `ident`, `time` or `count`, with `+` of
 * nests. EVENT is `timer` or `perf`, STACKS `fp` or `dwarf`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patch/patch.h"
#include "planned.h"
#include "vprof/clones.h"

#include "base/alloc.h"
#include "profile/collector.h"

static uint8_t *make_plan(const char *word, const char *path, size_t *n)
{
    struct as_patch_wish wish = {.mode = AS_PATCH_IDENT, .period = 1, .kept = 256};
    struct as_patch_maker *maker = NULL;
    struct as_error err;
    uint8_t *plan = NULL;
    wish.mode = strncmp(word, "time", 4) == 0    ? AS_PATCH_TIME
                : strncmp(word, "count", 5) == 0 ? AS_PATCH_COUNT
                                                 : AS_PATCH_IDENT;
    if (as_patch_maker_new(&wish, &maker, &err) < 0)
        die(word, err.text);
    plan_loops(maker, path, (struct planned_which){.nests = strchr(word, '+') != NULL}, NULL);
    if (as_patch_maker_bytes(maker, &plan, n, &err) < 0)
        die(word, err.text);
    as_patch_maker_free(&maker);
    return plan;
}

struct sampled {
    struct as_experiment *experiment;
    struct as_input input;
    struct as_profile_request profile;
    struct as_profile_result plain;
};

static void run_clones(struct sampled *it, const char *word)
{
    struct as_profile_result result = {0};
    struct as_instances instances = {0};
    struct as_error err;
    size_t n, done = 0;
    const char *program = it->profile.command[0];
    uint8_t *plan = make_plan(word, program, &n);
    const struct as_clones clones = {.plan = plan,
                                     .plan_n = n,
                                     .program = program,
                                     .kind = "vprof",
                                     .reference_id = it->plain.run_id,
                                     .out = &instances,
                                     .sampling = &it->profile.sampling};
    if (as_clones_run(it->experiment, &it->input, &it->profile, &clones, &result, &err) < 0)
        die(word, err.text);
    as_vec_foreach (&instances.outcome, outcome)
        done += outcome->kind == AS_PATCH_DONE;
    printf("%s %lld %zu %d\n", word, (long long)result.run_id, done, result.exit_code);
    as_instances_fini(&instances);
    as_free(plan);
}

const char planned_program[] = "patch-samples";

int main(int argc, char **argv)
{
    int at = 4;
    while (at < argc && strcmp(argv[at], "--") != 0)
        at++;
    if (at + 1 >= argc)
        die("usage", "EVENT STACKS EXPERIMENT PLAN... -- PROGRAM");
    const struct as_sample_options sampling = {
        .event = strcmp(argv[1], "timer") == 0 ? AS_EVENT_TIMER : AS_EVENT_CPU_CLOCK,
        .stacks = strcmp(argv[2], "fp") == 0 ? AS_STACKS_FRAME : AS_STACKS_DWARF,
        .rate_hz = AS_RATE_HIGH};
    struct sampled it = {
        .profile = {.command = (const char *const *)(argv + at + 1), .sampling = sampling}};
    struct as_error err;
    if (as_experiment_create(argv[3], 0, &it.experiment, &err) < 0)
        die(argv[3], err.text);
    as_input_note(&it.input);
    if (as_clones_record(it.experiment, &it.input, as_collector_kinds, &it.profile, &it.plain,
                         &err) < 0)
        die(argv[at + 1], err.text);
    for (int i = 4; i < at; i++)
        run_clones(&it, argv[i]);
    return as_experiment_close(&it.experiment, &err) < 0 ? 125 : 0;
}
