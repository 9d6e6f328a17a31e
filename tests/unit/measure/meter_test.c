/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meter: what it says of blocks that cannot be measured, and what it makes of samples. How long
 * anything takes is never judged: samples are made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "isa/encode.h"
#include "measure/internal.h"

#define PATIENCE_MS 1500

static size_t assemble(const char *text, uint8_t *out)
{
    char copy[512], *rest = NULL;
    size_t n = 0;

    strcpy(copy, text);
    for (char *line = strtok_r(copy, ";", &rest); line; line = strtok_r(NULL, ";", &rest)) {
        uint8_t insn[AS_ENCODE_B];
        const size_t length = as_encode_text(line, insn);
        if (!length)
            fail_msg("cannot encode %s", line);
        memcpy(out + n, insn, length);
        n += length;
    }
    return n;
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A machine so busy that not eight samples came to their end: said, not judged. But then all the
 * time that there was has passed, less the part of a millisecond that is rounded away. */
static bool ran_out_of_time(const struct as_cycles *c, double began_s)
{
    if (c->status != AS_METER_TIMEOUT)
        return false;
    assert_true(now_s() - began_s >= (PATIENCE_MS - 2) / 1e3);
    return true;
}

static double measure_began_s; /* of the last */

static struct as_cycles measure_bytes(const uint8_t *bytes, size_t n, enum as_meter_mode mode)
{
    const struct as_meter_options options = {.cpu = -1, .samples = 16, .patience_ms = PATIENCE_MS};
    struct as_meter *meter;
    struct as_error err;
    struct as_cycles cycles;

    assert_int_equal(as_meter_new(&options, &meter, &err), 0);
    measure_began_s = now_s();
    assert_int_equal(as_meter_block(meter, bytes, n, mode, &cycles, &err), 0);
    as_meter_free(&meter);
    assert_null(meter);
    return cycles;
}

static struct as_cycles measure_text(const char *text, enum as_meter_mode mode)
{
    uint8_t bytes[512];
    return measure_bytes(bytes, assemble(text, bytes), mode);
}

static void expect_status(const char *text, enum as_meter_mode mode, enum as_meter_status expected)
{
    const struct as_cycles c = measure_text(text, mode);
    if (c.status != expected)
        fail_msg("%s: %s, expected %s", text, as_meter_status_word(c.status),
                 as_meter_status_word(expected));
    assert_true(c.cycles == 0);
}

static bool was_measured(const struct as_cycles *c)
{
    if (ran_out_of_time(c, measure_began_s))
        return true;
    return (c->status == AS_METER_OK || c->status == AS_METER_NOISY) && c->cycles > 0 &&
           c->low <= c->high && c->core_per_tick > 0;
}

static void blocks_are_measured(void **state)
{
    (void)state;
    struct as_cycles c = measure_text("add rax,rcx;mov rdx,m64[rbx+rsi*8]", AS_METER_UNROLLED);
    assert_true(was_measured(&c));
    assert_int_equal(c.insn_n, 2);
    c = measure_text("imul rax,rax", AS_METER_LOOP);
    assert_true(was_measured(&c));
    /* Its stack, floating point of the old kind, data at fixed distances. */
    c = measure_text("push rax;pop rcx;fadd st0,st1;mov m64[rip+256],rcx", AS_METER_UNROLLED);
    assert_true(was_measured(&c));
}

/* 4,000 iterations would touch 40 and 391 pages, which share 8 physical ones. */
static void a_walk_stays_in_the_first_cache(void **state)
{
    (void)state;
    struct as_cycles c = measure_text("mov m64[rsi],rcx;add rsi,40", AS_METER_LOOP);
    assert_true(was_measured(&c));
    if (c.cycles > 0)
        assert_in_range(c.page_n, 2, AS_METER_NEAR_PAGES);
    c = measure_text("mov m64[rsi],rcx;add rsi,400", AS_METER_LOOP);
    assert_true(was_measured(&c));
    if (c.cycles > 0)
        assert_in_range(c.page_n, AS_METER_NEAR_PAGES + 1, 80);
}

static void what_faults_is_said(void **state)
{
    (void)state;
    struct as_cycles c = measure_text("xor ecx,ecx;div rcx", AS_METER_UNROLLED);
    assert_int_equal(c.status, AS_METER_FAULTING);
    assert_int_equal(c.signal, SIGFPE);
    c = measure_text("movaps xmm0,m128[rbx+1]", AS_METER_UNROLLED);
    assert_int_equal(c.status, AS_METER_FAULTING);
    assert_int_equal(c.signal, SIGSEGV);
    /* Byte by byte a page further each time. */
    expect_status("add rsi,4096;mov rax,m64[rsi]", AS_METER_LOOP, AS_METER_PAGES);
}

static void what_this_processor_has_not_is_said(void **state)
{
    /* vp2intersectd k0,zmm0,zmm1 of few CPUs; vpermw of AMD's XOP, on CPUs until 2017: no CPU has
     * both. */
    static const uint8_t newer[] = {0x62, 0xf2, 0x7f, 0x48, 0x68, 0xc1};
    static const uint8_t older[] = {0x8f, 0xe8, 0x78, 0xa2, 0xc1, 0x20};
    (void)state;
    const struct as_cycles a = measure_bytes(newer, sizeof newer, AS_METER_UNROLLED);
    const struct as_cycles b = measure_bytes(older, sizeof older, AS_METER_UNROLLED);
    assert_true(a.status == AS_METER_UNSUPPORTED || b.status == AS_METER_UNSUPPORTED);
    if (a.status == AS_METER_UNSUPPORTED)
        assert_int_equal(a.signal, SIGILL);
}

static void what_cannot_be_measured_is_not_started(void **state)
{
    static const uint8_t jump[] = {0x75, 0xfe}, undecoded[] = {0x06}, rep[] = {0xf3, 0xa4};
    (void)state;
    expect_status("rdtsc", AS_METER_UNROLLED, AS_METER_EXCLUDED);
    expect_status("syscall", AS_METER_UNROLLED, AS_METER_EXCLUDED);
    expect_status("popfq", AS_METER_UNROLLED, AS_METER_EXCLUDED);
    expect_status("wrfsbase rax", AS_METER_UNROLLED, AS_METER_EXCLUDED);
    assert_int_equal(measure_bytes(jump, 2, AS_METER_UNROLLED).status, AS_METER_EXCLUDED);
    assert_int_equal(measure_bytes(rep, 2, AS_METER_UNROLLED).status, AS_METER_EXCLUDED);
    assert_int_equal(measure_bytes(undecoded, 1, AS_METER_UNROLLED).status, AS_METER_UNDECODED);
    assert_int_equal(measure_bytes(undecoded, 0, AS_METER_UNROLLED).status, AS_METER_UNDECODED);
    /* A loop needs a register of its own. */
    expect_status(
        "add rax,rcx;add rdx,rbx;add rbp,rsi;add rdi,r8;add r9,r10;add r11,r12;add r13,r14;"
        "add r15,rax",
        AS_METER_LOOP, AS_METER_REGISTERS);
}

static void one_processor_is_enough(void **state)
{
    cpu_set_t before, one;
    struct as_meter_options options = {.cpu = -1};
    struct as_meter *meter;
    struct as_error err;
    struct as_meter_state now;
    int first = 0;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    while (!CPU_ISSET((size_t)first, &before))
        first++;
    CPU_ZERO(&one);
    CPU_SET((size_t)first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(as_meter_new(&options, &meter, &err), 0);
    as_meter_state_get(meter, &now);
    assert_int_equal(now.cpu, first);
    as_meter_free(&meter);
    options.cpu = first + 1;
    assert_int_equal(as_meter_new(&options, &meter, &err), AS_ERR_USAGE);
    assert_non_null(strstr(err.text, "may not be used"));
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

/* ---- The estimator --------------------------------------------------------------------------- */

static struct as_sample_series series;

/* 300 executions apart, `cycles` each, with a common part of 5000; every third sample is disturbed.
 */
static void make_series(size_t n, double cycles, double disturbed, bool gate_sees_it)
{
    series.n = n;
    series.span = 300;
    for (size_t i = 0; i < n; i++) {
        const bool is_bad = i % 3 == 2;
        const double jitter = (double)(i * 7 % 11) * 0.3; /* ticks of a coarse clock */
        series.shorter[i] = 5000 + 150 * cycles * (is_bad ? disturbed : 1) + jitter;
        series.longer[i] = 5000 + 450 * cycles * (is_bad ? disturbed : 1) + jitter;
        series.ratio[i] = 1.5;
        series.clean[i] = !is_bad || !gate_sees_it;
    }
}

static void disturbed_samples_do_not_count(void **state)
{
    struct as_cycles c = {0};
    (void)state;
    make_series(120, 4, 1.4, true);
    as_series_estimate(&series, 120, &c);
    assert_int_equal(c.status, AS_METER_OK);
    assert_int_equal(c.sample_n, 80);
    assert_true(fabs(c.cycles - 4) < 0.02);
    assert_true(c.high < 4.1);
    assert_true(fabs(c.core_per_tick - 1.5) < 1e-9);
    /* Disturbances that the gate misses widen the spread, and the estimate stays. */
    make_series(120, 4, 1.4, false);
    as_series_estimate(&series, 120, &c);
    assert_true(fabs(c.cycles - 4) < 0.02);
    assert_true(c.high > 5);
}

static void a_busy_machine_is_said(void **state)
{
    struct as_cycles c = {0};
    (void)state;
    make_series(60, 4, 1.4, true);
    for (size_t i = 0; i < 60; i++)
        series.clean[i] = i < 5;
    as_series_estimate(&series, 120, &c);
    assert_int_equal(c.status, AS_METER_NOISY);
    assert_int_equal(c.sample_n, 5);
    assert_true(c.cycles > 3.9 && c.cycles < 5.7);
    make_series(7, 4, 1.4, true);
    as_series_estimate(&series, 120, &c);
    assert_int_equal(c.status, AS_METER_TIMEOUT);
}

static void quantiles_are_of_sorted_values(void **state)
{
    double value[] = {5, 1, 4, 2, 3};
    (void)state;
    assert_true(as_sample_quantile(value, 5, 0) == 1);
    assert_true(as_sample_quantile(value, 5, 0.5) == 3);
    assert_true(as_sample_quantile(value, 5, 1) == 5);
    assert_true(isnan(as_sample_quantile(value, 0, 0.5)));
}

/* A made-up core: chains take three cycles each, with a tick per cycle. Canaries follow the rates
 * of a series, one look after the other. */
static const double *rates;
static unsigned looked, chains_n;
static unsigned slow_chain; /* the n-th is interrupted; 0: none */

static uint64_t made_chain(void)
{
    return ++chains_n == slow_chain ? 4 * 3 * AS_CHAIN_N : 3 * AS_CHAIN_N;
}

static uint64_t made_adds(void)
{
    return AS_CHAIN_N;
}

static uint64_t made_canary(void)
{
    return (uint64_t)(AS_CANARY_N / rates[looked++]);
}

static const struct as_gate_clock made_clock = {made_chain, made_adds, made_canary};

static unsigned passes_of(const double *of, double best)
{
    struct as_gate gate = {.clock = &made_clock, .chain_cycles = 3, .best = best};

    rates = of;
    looked = chains_n = slow_chain = 0;
    const unsigned n = as_gate_passes(&gate, 6);
    assert_int_equal(looked, 6);
    return n;
}

/* Six looks: one that passes is enough for trials. After a change of threads the first looks are
 * slow by a tenth. This was seen on a Zen 5 in a virtual machine and on a Granite Rapids. Beside a
 * busy neighbour none passes. */
static void six_looks_tell_a_change_from_a_neighbour(void **state)
{
    static const double changed[] = {4.7, 4.8, 5.1, 5.3, 5.29, 5.3},
                        neighbour[] = {3.6, 3.5, 3.62, 3.4, 3.7, 3.58},
                        leaving[] = {3.6, 3.5, 3.6, 3.6, 3.6, 5.28};
    (void)state;
    assert_int_equal(passes_of(changed, 5.3), 3);
    assert_int_equal(passes_of(neighbour, 5.3), 0);
    assert_int_equal(passes_of(leaving, 5.3), 1);
    /* 96.5 % of the best pass, less does not. */
    static const double edge[] = {5.12, 5.11, 5.12, 5.11, 5.12, 5.11};
    assert_int_equal(passes_of(edge, 5.3), 3);
}

static void the_best_canary_is_one_beside_calm_chains(void **state)
{
    /* One alone is too fast to be one: both chains beside it were interrupted. */
    static const double ends[] = {4.4, 5.25, 5.3, 7.15, 5.28, 5.2, 3.6, 3.6, 3.6, 3.6, 3.6, 3.6};
    struct as_gate gate = {.clock = &made_clock};

    (void)state;
    rates = ends;
    looked = chains_n = slow_chain = 0;
    as_gate_calibrate(&gate, 6);
    assert_true(gate.chain_cycles == 3);
    assert_true(fabs(gate.best - 5.28) < 0.01);
    /* Worse ones later change nothing. */
    as_gate_calibrate(&gate, 6);
    assert_true(fabs(gate.best - 5.28) < 0.01);
    /* A chain that was interrupted makes its canary look four times as fast. */
    gate = (struct as_gate){.clock = &made_clock};
    looked = chains_n = 0;
    slow_chain = 1 + 6 + 2 * 2 + 1; /* in front of the third canary */
    as_gate_calibrate(&gate, 6);
    assert_true(fabs(gate.best - 5.25) < 0.01);
}

/* Heavy operations leave a state behind that ends within the first chain: of nine most see it. */
static unsigned chain_of_look, left_n;

static void run_nothing(void *context)
{
    (void)context;
    chain_of_look = 0;
    left_n++;
}

static uint64_t ticks_of_state(void)
{
    return chain_of_look++ == 0 && left_n % 5 != 0 ? 7446 : 6033; /* Granite Rapids */
}

static uint64_t ticks_interrupted(void)
{
    return chain_of_look++ == 0 && left_n % 3 == 0 ? 9000 : 6033;
}

static void heavy_operations_are_told_by_chains(void **state)
{
    (void)state;
    left_n = 0;
    assert_true(as_chain_is_left(run_nothing, ticks_of_state, NULL));
    assert_int_equal(left_n, 9);
    left_n = 0;
    assert_false(as_chain_is_left(run_nothing, ticks_interrupted, NULL));
}

/* A neighbour that goes makes the gate higher; single fast canaries do not. */
static void the_gate_learns(void **state)
{
    struct as_gate gate = {.chain_cycles = 3, .best = 3.6};

    (void)state;
    memset(&series, 0, sizeof series);
    series.n = 48;
    for (size_t i = 0; i < series.n; i++)
        series.canary[i] = i % 4 ? 3.58 : 5.3; /* gone for a quarter of the time */
    as_gate_learn(&gate, &series);
    assert_true(gate.best == 3.6);
    for (size_t i = 0; i < series.n; i++)
        series.canary[i] = i % 4 ? 5.28 : 3.6;
    as_gate_learn(&gate, &series);
    assert_true(gate.best == 5.28);
    for (size_t i = 0; i < series.n; i++)
        series.canary[i] = i % 4 ? 5.27 : 5.5; /* the clock's steps */
    as_gate_learn(&gate, &series);
    assert_true(gate.best == 5.28);
    series.n = 4; /* too few */
    for (size_t i = 0; i < series.n; i++)
        series.canary[i] = 6;
    as_gate_learn(&gate, &series);
    assert_true(gate.best == 5.28);
}

/* ---- Counted cycles -------------------------------------------------------------------------- */

/* A counter and the work that it counts: seven cycles an iteration, and a hundred around it. */
struct fake_work {
    uint64_t count;
    unsigned opened;
    bool is_refused;
};

static bool open_fake(struct as_counter *counter)
{
    struct fake_work *work = counter->context;
    work->opened++;
    return !work->is_refused;
}

static bool open_steady(struct as_counter *counter)
{
    (void)counter;
    return true;
}

static uint64_t read_fake(struct as_counter *counter)
{
    const struct fake_work *work = counter->context;
    return work->count;
}

static void run_fake(void *context, bool longer, unsigned repeats)
{
    struct fake_work *work = context;
    work->count += 100 + 7 * (uint64_t)repeats * (longer ? 30 : 10);
}

static void a_counter_takes_the_place_of_the_chain(void **state)
{
    const struct as_meter_options options = {.cpu = -1, .samples = 16, .patience_ms = PATIENCE_MS};
    struct fake_work fake = {0};
    struct as_counter counter = {.open = open_fake, .read = read_fake, .context = &fake};
    const struct as_meter_work work = {run_fake, &fake, 20};
    struct as_meter_state seen;
    struct as_meter *meter;
    struct as_cycles cycles;
    struct as_error err;

    (void)state;
    assert_int_equal(as_meter_new(&options, &meter, &err), 0);
    as_meter_state_get(meter, &seen);
    /* Here as it may be: with a counter, or with the reason why not. */
    assert_true(!strcmp(seen.clock, "pmu") == !*seen.uncounted);
    as_meter_count_by(meter, &counter);
    as_meter_state_get(meter, &seen);
    assert_string_equal(seen.clock, "pmu");
    assert_string_equal(seen.uncounted, "");
    const double began_s = now_s();
    assert_int_equal(as_meter_work(meter, &work, &cycles, &err), 0);
    if (!ran_out_of_time(&cycles, began_s)) {
        assert_true(cycles.status == AS_METER_OK || cycles.status == AS_METER_NOISY);
        assert_true(fabs(cycles.cycles - 7) < 1e-9 && fabs(cycles.median - 7) < 1e-9);
    }
    assert_int_equal(fake.opened, 0); /* in the process that is measured, never here */
    fake.is_refused = true;
    assert_int_equal(as_meter_work(meter, &work, &cycles, &err), 0);
    assert_int_equal(cycles.status, AS_METER_TIMEOUT);
    as_meter_free(&meter);
}

static void run_unsteady(void *context, bool longer, unsigned repeats)
{
    struct fake_work *work = context;
    work->opened = work->opened * 1103515245 + 12345;
    const uint64_t factor = 100 + work->opened / 65536 % 20; /* up to a fifth more */
    work->count += 100 + 7 * (uint64_t)repeats * (longer ? 30 : 10) * factor / 100;
}

/* Sixteen where those agree; where not, all that there is time for (700 ms of one child). */
static void samples_that_agree_are_enough(void **state)
{
    const struct as_meter_options options = {
        .cpu = -1, .samples = 48, .enough = 16, .patience_ms = 1500};
    struct fake_work fake = {0};
    struct as_counter counter = {.open = open_steady, .read = read_fake, .context = &fake};
    const struct as_meter_work steady = {run_fake, &fake, 20}, unsteady = {run_unsteady, &fake, 20};
    struct as_meter *meter;
    struct as_cycles cycles;
    struct as_error err;

    (void)state;
    assert_int_equal(as_meter_new(&options, &meter, &err), 0);
    as_meter_count_by(meter, &counter);
    assert_int_equal(as_meter_work(meter, &steady, &cycles, &err), 0);
    if (cycles.status == AS_METER_OK) /* else the host was never calm */
        assert_true(cycles.sample_n <= 16);
    const double began_s = now_s();
    assert_int_equal(as_meter_work(meter, &unsteady, &cycles, &err), 0);
    const double took_s = now_s() - began_s;
    assert_true(cycles.sample_n <= 48);
    if (cycles.status == AS_METER_OK && cycles.sample_n < 48)
        assert_true(took_s >= 0.7 || cycles.sample_n + cycles.noisy_n >= AS_METER_SAMPLES);
    as_meter_free(&meter);
}

/* Counters have fewer bits than a word, and go on from where the kernel left them. */
static void counts_are_put_together(void **state)
{
    (void)state;
    assert_int_equal(as_counter_sum(0, 5, 48), 5);
    assert_int_equal(as_counter_sum(1000, 5, 48), 1005);
    /* The kernel starts 48-bit counters below zero, so that an overflow notifies it. */
    assert_int_equal(as_counter_sum(INT64_C(0x10000), UINT64_C(0xffffffff0000), 48), 0);
    assert_int_equal(as_counter_sum(7, 3, 64), 10);
    assert_int_equal(as_counter_sum(7, 3, 0), 10);
    assert_true(as_counter_agrees(21000, 21000) && as_counter_agrees(21900, 21000));
    assert_false(as_counter_agrees(26000, 21000)); /* reference cycles, at another rate */
    assert_false(as_counter_agrees(0, 21000));     /* never scheduled */
    assert_false(as_counter_agrees(0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_measured),
        cmocka_unit_test(a_walk_stays_in_the_first_cache),
        cmocka_unit_test(what_faults_is_said),
        cmocka_unit_test(a_counter_takes_the_place_of_the_chain),
        cmocka_unit_test(samples_that_agree_are_enough),
        cmocka_unit_test(counts_are_put_together),
        cmocka_unit_test(six_looks_tell_a_change_from_a_neighbour),
        cmocka_unit_test(the_best_canary_is_one_beside_calm_chains),
        cmocka_unit_test(heavy_operations_are_told_by_chains),
        cmocka_unit_test(the_gate_learns),
        cmocka_unit_test(what_this_processor_has_not_is_said),
        cmocka_unit_test(what_cannot_be_measured_is_not_started),
        cmocka_unit_test(one_processor_is_enough),
        cmocka_unit_test(disturbed_samples_do_not_count),
        cmocka_unit_test(a_busy_machine_is_said),
        cmocka_unit_test(quantiles_are_of_sorted_values),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
