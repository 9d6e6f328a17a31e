/* SPDX-License-Identifier: Apache-2.0 */
/* Experiments made by hand, see synthetic.h. */
#include "synthetic.h"

#include <math.h>

/* ---- Code ---------------------------------------------------------------------------------- */

static void add_instructions(struct synthetic *s, size_t i, int64_t module, int64_t address,
                             const struct synthetic_code *code)
{
    for (int64_t k = 0; k < 3; k++) {
        const struct as_row_disassembly row = {.module_id = module,
                                               .address = address + 4 * k,
                                               .function_id = s->function[i],
                                               .size_b = 4,
                                               .text = k == 1 && code->changed == (int)i
                                                           ? "mulsd xmm0, xmm1"
                                                       : k == 1 ? "addsd xmm0, xmm1"
                                                                : "mov rax, rbx",
                                               .loop_id = s->loop[i]};
        fine(as_experiment_add_disassembly(s->experiment, &row, err));
    }
}

static int64_t add_line(struct synthetic *s, int64_t file, int64_t number)
{
    const struct as_row_line row = {.source_file_id = file, .number = number};
    int64_t id = 0;
    if (file)
        fine(as_experiment_add_line(s->experiment, &row, &id, err));
    return id;
}

static void add_loop(struct synthetic *s, size_t i, int64_t module, int64_t file,
                     const struct synthetic_code *code)
{
    char name[80];
    const int64_t at = (int64_t)i, line = 10 * at + code->line_shift;
    const int64_t address = 0x1000 + 64 * at + code->address_shift;
    snprintf(name, sizeof name, "%s%zu%s", code->prefix ? code->prefix : "kernel_", i,
             code->suffix ? code->suffix : "");
    const struct as_row_function function = {.module_id = module,
                                             .name = name,
                                             .linkage_name = name,
                                             .address = as_known(address),
                                             .size_b = as_known(64),
                                             .line_id = add_line(s, file, line + 1)};
    fine(as_experiment_add_function(s->experiment, &function, &s->function[i], err));
    const struct as_row_loop loop = {.function_id = s->function[i],
                                     .address = address + 16,
                                     .depth = 1,
                                     .is_innermost = true,
                                     .role = "main",
                                     .first_line_id = add_line(s, file, line + 2),
                                     .last_line_id = add_line(s, file, line + 5),
                                     .instruction_n = as_known(8 + at)};
    fine(as_experiment_add_loop(s->experiment, &loop, &s->loop[i], err));
    const struct as_row_location location = {.module_id = module,
                                             .address = address + 20,
                                             .function_id = s->function[i],
                                             .loop_id = s->loop[i]};
    fine(as_experiment_add_location(s->experiment, &location, &s->location[i], err));
    const struct as_row_callpath path = {
        .function_id = s->function[i], .category_id = s->category, .depth = 1};
    fine(as_experiment_add_callpath(s->experiment, &path, &s->path[i], err));
    if (!code->no_disassembly)
        add_instructions(s, i, module, address + 16, code);
}

void synthetic_open(struct synthetic *s, const char *path, size_t loop_n,
                    const struct synthetic_code *code)
{
    const struct as_row_module module = {.path = "/bin/program",
                                         .name = "program",
                                         .build_id = code->build_id ? code->build_id : "1",
                                         .kind = "executable"};
    const struct as_row_category category = {
        .name = "application", .title = "Application", .meaning = "x"};
    const struct as_row_source_file source = {.path = code->file ? code->file : "/src/program.c"};
    int64_t module_id, file = 0;
    *s = (struct synthetic){.loop_n = loop_n};
    fine(as_experiment_create(path, AS_EXPERIMENT_FORCE, &s->experiment, err));
    fine(as_experiment_begin(s->experiment, err));
    fine(as_experiment_add_category(s->experiment, &category, &s->category, err));
    fine(as_experiment_add_module(s->experiment, &module, &module_id, err));
    if (source.path[0])
        fine(as_experiment_add_source_file(s->experiment, &source, &file, err));
    for (size_t i = 0; i < loop_n; i++)
        add_loop(s, i, module_id, file, code);
    fine(as_experiment_commit(s->experiment, err));
}

/* ---- Runs ---------------------------------------------------------------------------------- */

static void add_thread(struct synthetic *s, int64_t process, size_t t,
                       const struct synthetic_run *run)
{
    const struct as_row_thread row = {.process_id = process, .tid = 100 + (int64_t)t};
    int64_t thread;
    fine(as_experiment_add_thread(s->experiment, &row, &thread, err));
    for (size_t i = 0; i < s->loop_n; i++) {
        const int64_t n = run->sample_n[t * s->loop_n + i];
        const struct as_row_sample sample = {.thread_id = thread,
                                             .callpath_id = s->path[i],
                                             .location_id = s->location[i],
                                             .state = AS_SAMPLE_RUNNING,
                                             .n = n,
                                             .time_ns = n * SYNTHETIC_SAMPLE_NS};
        if (n)
            fine(as_experiment_add_sample(s->experiment, &sample, err));
    }
}

int64_t synthetic_add(struct synthetic *s, const struct synthetic_run *run)
{
    const struct as_row_host host = {.name = run->host ? run->host : "here",
                                     .cpu_n = as_known(run->cpu_n ? run->cpu_n : 64)};
    int64_t host_id, run_id, process_id;
    fine(as_experiment_begin(s->experiment, err));
    fine(as_experiment_add_host(s->experiment, &host, &host_id, err));
    const struct as_row_run row = {.kind = run->kind,
                                   .label = run->label,
                                   .command = "./program",
                                   .host_id = host_id,
                                   .wall_ns = as_known(llround(run->wall_s * 1e9)),
                                   .exit_code = as_known(run->exit_code),
                                   .state = "complete",
                                   .event = run->event ? run->event : "cpu-clock",
                                   .rate_hz = as_known(500),
                                   .host_steal_ns = as_known(run->steal_ns)};
    fine(as_experiment_add_run(s->experiment, &row, &run_id, err));
    const struct as_row_process process = {.run_id = run_id, .pid = 100, .host_id = host_id};
    fine(as_experiment_add_process(s->experiment, &process, &process_id, err));
    for (size_t t = 0; t < run->thread_n; t++)
        add_thread(s, process_id, t, run);
    if (run->setting)
        fine(as_compare_mark(s->experiment, run_id, run->setting, err));
    fine(as_experiment_commit(s->experiment, err));
    fine(as_experiment_summarise(s->experiment, run_id, err));
    return run_id;
}

/* ---- Noise --------------------------------------------------------------------------------- */

static uint64_t rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

static uint64_t next(struct noise *noise)
{
    uint64_t *s = noise->state;
    const uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

void noise_seed(struct noise *noise, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        noise->state[i] = z ^ z >> 31;
    }
}

double noise_uniform(struct noise *noise)
{
    return ((double)(next(noise) >> 11) + 0.5) / 9007199254740992.0;
}

double noise_normal(struct noise *noise)
{
    const double radius = sqrt(-2 * log(noise_uniform(noise)));
    return radius * cos(2 * M_PI * noise_uniform(noise));
}

/* Counting exponential gaps where there are few, the normal distribution where there are many. */
int64_t noise_poisson(struct noise *noise, double mean)
{
    if (mean > 200)
        return llround(fmax(mean + sqrt(mean) * noise_normal(noise), 0));
    int64_t n = -1;
    for (double sum = 0; sum <= mean; n++)
        sum -= log(noise_uniform(noise));
    return n;
}
