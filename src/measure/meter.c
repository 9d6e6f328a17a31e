/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meter: calibrates chain and canary, starts a child for each block, and changes to another CPU
 * under external load.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "measure/internal.h"

#define ATTEMPT_MS 700 /* of one child; then another CPU may be better */
/* CANARIES is the number of canaries per check; a CPU with CALM_CANARIES passing ones is calm.
 * LOOKS is the number of other CPUs to check. */
enum { CANARIES = 16, CALM_CANARIES = 12, LOOKS = 4 };

struct as_meter_shared {
    struct as_cycles result;
    struct as_sample_series series;
};

struct as_meter {
    struct as_meter_options options;
    struct as_meter_frame *frame;
    struct as_gate gate;
    struct as_counter pmu, *counter; /* NULL: chains are the clock; `uncounted` says why */
    char uncounted[96];
    struct as_meter_shared *shared;
    int memory;
    int cpu;
    bool may_switch;
    double core_per_tick;
    uint64_t clean_n, sample_n;
    int64_t refused_ns;
    unsigned switch_n;
};

static const struct {
    const char *word, *sentence;
} status_texts[] = {
#define STATUS_TEXT(name, word, sentence) [AS_METER_##name] = {word, sentence},
    AS_METER_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
};

const char *as_meter_status_word(enum as_meter_status status)
{
    return status < AS_METER_STATUS_COUNT ? status_texts[status].word : "?";
}

const char *as_meter_status_text(enum as_meter_status status)
{
    return status < AS_METER_STATUS_COUNT ? status_texts[status].sentence : "?";
}

/* ---- CPUs ---------------------------------------------------------------------------------- */

/* Returns the next allowed CPU after `cpu`, cyclically. */
static int cpu_behind(const cpu_set_t *set, int cpu)
{
    for (int i = 1; i <= CPU_SETSIZE; i++) {
        const int next = (cpu + i) % CPU_SETSIZE;
        if (CPU_ISSET((size_t)next, set))
            return next;
    }
    return -1;
}

/* Runs `work` on a CPU and restores the affinity. */
static void work_on(int cpu, void (*work)(struct as_meter *), struct as_meter *meter)
{
    cpu_set_t before, one;

    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    const bool known = sched_getaffinity(0, sizeof before, &before) == 0;
    if (known && sched_setaffinity(0, sizeof one, &one) == 0) {
        work(meter);
        sched_setaffinity(0, sizeof before, &before);
    } else {
        work(meter);
    }
}

static void calibrate_here(struct as_meter *meter)
{
    as_gate_calibrate(&meter->gate, 60);
}

static unsigned passes_here_n; /* of the last call of count_passes */

static void count_passes(struct as_meter *meter)
{
    passes_here_n = as_gate_passes(&meter->gate, CANARIES);
}

/* Chooses the calmest of the first few CPUs. All CPUs are compared to the best canary of any. */
static int choose_cpu(struct as_meter *meter, struct as_error *err)
{
    cpu_set_t set;
    unsigned best = 0;

    if (sched_getaffinity(0, sizeof set, &set) < 0 || CPU_COUNT(&set) == 0)
        return as_error_set(err, AS_ERR_IO, "measuring: no CPU may be used: %s", strerror(errno));
    meter->may_switch = meter->options.cpu < 0 && CPU_COUNT(&set) > 1;
    meter->cpu = meter->options.cpu >= 0 ? meter->options.cpu : cpu_behind(&set, 0);
    if (!CPU_ISSET((size_t)meter->cpu, &set))
        return as_error_set(err, AS_ERR_USAGE, "measuring: CPU %d may not be used by this process",
                            meter->cpu);
    work_on(meter->cpu, calibrate_here, meter);
    if (!meter->may_switch)
        return 0;
    const int tries = CPU_COUNT(&set) < 8 ? CPU_COUNT(&set) : 8;
    for (int i = 1, cpu = meter->cpu; i < tries; i++) {
        cpu = cpu_behind(&set, cpu);
        work_on(cpu, calibrate_here, meter);
    }
    for (int i = 0, cpu = meter->cpu; i < tries; i++, cpu = cpu_behind(&set, cpu)) {
        work_on(cpu, count_passes, meter);
        if (passes_here_n > best) {
            best = passes_here_n;
            meter->cpu = cpu;
        }
    }
    return 0;
}

/* Changes to one of the next CPUs if more canaries pass there. */
static void switch_cpu(struct as_meter *meter)
{
    cpu_set_t set;

    if (!meter->may_switch || sched_getaffinity(0, sizeof set, &set) < 0)
        return;
    work_on(meter->cpu, count_passes, meter);
    const unsigned passes_n = passes_here_n;
    int next = cpu_behind(&set, meter->cpu);
    for (unsigned i = 0; i < LOOKS && next != meter->cpu && passes_n < CALM_CANARIES; i++) {
        work_on(next, count_passes, meter);
        if (passes_here_n > passes_n) {
            meter->cpu = next;
            meter->switch_n++;
            return;
        }
        next = cpu_behind(&set, next);
    }
}

/* ---- Creation ------------------------------------------------------------------------------ */

static int make_memory(struct as_meter *meter, struct as_error *err)
{
    meter->memory = memfd_create("assay-meter", MFD_CLOEXEC);
    if (meter->memory < 0 || ftruncate(meter->memory, (off_t)meter->options.page_n * 4096) < 0)
        return as_error_set(err, AS_ERR_IO, "measuring: no memory for the data of blocks: %s",
                            strerror(errno));
    void *shared = mmap(NULL, sizeof *meter->shared, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return as_error_nomem(err, "the samples of a measurement");
    meter->shared = shared;
    return 0;
}

int as_meter_new(const struct as_meter_options *options, struct as_meter **out,
                 struct as_error *err)
{
    struct as_meter *meter = as_calloc(1, sizeof *meter);
    struct as_widths widths;
    int rc;

    *out = meter;
    if (!meter)
        return as_error_nomem(err, "the meter of this processor");
    meter->memory = -1;
    meter->options = options ? *options : (struct as_meter_options){.cpu = -1};
    meter->options.samples = meter->options.samples ? meter->options.samples : 120;
    meter->options.page_n = meter->options.page_n ? meter->options.page_n : 8;
    meter->options.patience_ms = meter->options.patience_ms ? meter->options.patience_ms : 3000;
    as_widths_read(&widths);
    rc = as_frame_new(&widths, &meter->frame, err);
    if (rc == 0)
        rc = make_memory(meter, err);
    if (rc == 0)
        rc = choose_cpu(meter, err);
    if (rc < 0)
        as_meter_free(out);
    else if (as_counter_find(&meter->pmu, as_gate_cycles(&meter->gate), meter->uncounted,
                             sizeof meter->uncounted))
        meter->counter = &meter->pmu;
    return rc;
}

void as_meter_count_by(struct as_meter *meter, struct as_counter *counter)
{
    meter->counter = counter;
}

void as_meter_be_patient(struct as_meter *meter, unsigned patience_ms)
{
    meter->options.patience_ms = patience_ms;
}

void as_meter_free(struct as_meter **meter)
{
    struct as_meter *m = *meter;

    if (!m)
        return;
    as_frame_free(&m->frame);
    if (m->memory >= 0)
        close(m->memory);
    if (m->shared)
        munmap(m->shared, sizeof *m->shared);
    as_free(m);
    *meter = NULL;
}

void as_meter_state_get(const struct as_meter *meter, struct as_meter_state *out)
{
    *out = (struct as_meter_state){
        .cpu = meter->cpu,
        .clock = meter->counter ? "pmu" : "chain",
        .uncounted = meter->counter ? "" : meter->uncounted,
        .core_per_tick = meter->core_per_tick,
        .chain_cycles = meter->gate.chain_cycles,
        .canary_best = meter->gate.best,
        .clean_share = meter->sample_n ? (double)meter->clean_n / (double)meter->sample_n : 1,
        .refused_s = (double)meter->refused_ns / 1e9,
        .switch_n = meter->switch_n};
}

/* ---- A block --------------------------------------------------------------------------------- */

static int fill_memory(const struct as_meter *meter, struct as_error *err)
{
    uint64_t page[512];

    for (size_t i = 0; i < 512; i++)
        page[i] = AS_METER_FILL;
    for (unsigned i = 0; i < meter->options.page_n; i++)
        if (pwrite(meter->memory, page, sizeof page, (off_t)i * 4096) != (ssize_t)sizeof page)
            return as_error_set(err, AS_ERR_IO, "measuring: cannot write to memory: %s",
                                strerror(errno));
    return 0;
}

/* Runs a child. Signals are blocked until it has its own handlers, so it inherits none. */
static int run_child(struct as_meter *meter, const struct as_child *child, struct as_error *err)
{
    struct as_cycles *result = &meter->shared->result;
    int end;

    result->status = AS_METER_TIMEOUT;
    AS_TRY(fill_memory(meter, err));
    const pid_t pid = fork();
    if (pid == 0)
        as_child_run(child);
    if (pid < 0)
        return as_error_set(err, AS_ERR_IO, "measuring: no process can be started: %s",
                            strerror(errno));
    while (waitpid(pid, &end, 0) < 0)
        if (errno != EINTR)
            return as_error_set(err, AS_ERR_IO, "measuring: lost its process: %s", strerror(errno));
    if (WIFSIGNALED(end) && WTERMSIG(end) != SIGALRM) {
        result->status = AS_METER_FAULTING;
        result->signal = WTERMSIG(end);
    }
    return 0;
}

static int attempt(struct as_meter *meter, const struct as_child *what, unsigned limit_ms,
                   struct as_error *err)
{
    struct as_cycles *result = &meter->shared->result;
    struct as_child child = *what;

    child.frame = meter->frame;
    child.gate = meter->gate;
    child.counter = meter->counter;
    child.samples = meter->options.samples;
    child.enough = meter->options.enough;
    child.page_n = meter->options.page_n;
    child.limit_ms = limit_ms;
    child.memory = meter->memory;
    child.cpu = meter->cpu;
    child.result = result;
    child.series = &meter->shared->series;
    *result = (struct as_cycles){0};
    meter->shared->series.n = 0;
    meter->shared->series.refused_ns = 0;
    AS_TRY(run_child(meter, &child, err));
    meter->refused_ns += meter->shared->series.refused_ns;
    if (result->status != AS_METER_OK)
        return 0;
    as_gate_learn(&meter->gate, &meter->shared->series);
    as_series_estimate(&meter->shared->series, meter->options.samples, result);
    for (size_t i = 0; i < meter->shared->series.n; i++)
        meter->clean_n += meter->shared->series.clean[i];
    meter->sample_n += meter->shared->series.n;
    return 0;
}

/* Returns true if the second attempt is better than the first. */
static bool is_better(const struct as_cycles *a, const struct as_cycles *b)
{
    if (a->status != b->status)
        return b->status == AS_METER_TIMEOUT || a->status == AS_METER_OK;
    return a->sample_n > b->sample_n;
}

static int measure_patiently(struct as_meter *meter, const struct as_child *what,
                             struct as_cycles *out, struct as_error *err)
{
    const int64_t until_ns =
        as_monotonic_ns() + (int64_t)meter->options.patience_ms * INT64_C(1000000);

    out->status = AS_METER_TIMEOUT;
    for (;;) {
        const int64_t left_ms = (until_ns - as_monotonic_ns()) / 1000000;
        if (left_ms <= 0)
            return 0;
        AS_TRY(attempt(meter, what, left_ms < ATTEMPT_MS ? (unsigned)left_ms : ATTEMPT_MS, err));
        const struct as_cycles *result = &meter->shared->result;
        if (is_better(result, out))
            *out = *result;
        if (result->status == AS_METER_OK)
            meter->core_per_tick = result->core_per_tick;
        const bool is_over = result->status != AS_METER_NOISY && result->status != AS_METER_TIMEOUT;
        /* Also after success, so that the next block need not wait as long. */
        if (!is_over || as_series_is_disturbed(&meter->shared->series, result->noisy_n))
            switch_cpu(meter);
        if (is_over)
            return 0;
    }
}

int as_meter_block(struct as_meter *meter, const uint8_t *bytes, size_t size_b,
                   enum as_meter_mode mode, struct as_cycles *out, struct as_error *err)
{
    struct as_metered_block block;
    const struct as_child what = {.block = &block, .mode = mode};
    int rc = as_block_init(&block, bytes, size_b);

    *out = (struct as_cycles){0};
    if (rc == AS_METER_OK && block.uses_segment) {
        struct as_widths widths;
        as_widths_read(&widths);
        rc = widths.fsgsbase ? AS_METER_OK : AS_METER_EXCLUDED;
    }
    if (rc < 0)
        rc = as_error_nomem(err, "a block of instructions");
    else if (rc != AS_METER_OK)
        out->status = (enum as_meter_status)rc;
    else
        rc = measure_patiently(meter, &what, out, err);
    out->insn_n = (unsigned)block.code.n;
    as_block_fini(&block);
    return rc < 0 ? rc : 0;
}

int as_meter_work(struct as_meter *meter, const struct as_meter_work *work, struct as_cycles *out,
                  struct as_error *err)
{
    const struct as_child what = {.work = work};

    *out = (struct as_cycles){0};
    return measure_patiently(meter, &what, out, err);
}
