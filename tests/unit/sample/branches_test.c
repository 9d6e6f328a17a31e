/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks by branch records, on records made by hand in the layout of the kernel: few machines
 * have them. A machine without them must report that exactly.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sample/branches.h"
#include "session.h"

#define CODE   UINT64_C(0x400000) /* where /bin/one is mapped, of 1 MiB */
#define KERNEL UINT64_C(0xffffffff81000000)

struct made {
    uint64_t word[512];
    size_t n;
};

static void put(struct made *made, uint64_t word)
{
    assert_true(made->n < sizeof made->word / sizeof *made->word);
    made->word[made->n++] = word;
}

static struct perf_event_attr asked(void)
{
    struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                                  PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                                                  PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN};
    as_branches_request(&attr);
    return attr;
}

struct sample {
    bool in_kernel, no_regs;
    uint64_t from[33]; /* ends with `n` */
    size_t n;
};

/* Makes the sample of a thread at CODE + 0x10, or in the kernel with the program there. */
static void make(struct made *made, const struct perf_event_attr *attr, const struct sample *sample)
{
    struct perf_event_header header = {.type = PERF_RECORD_SAMPLE,
                                       .misc = sample->in_kernel ? PERF_RECORD_MISC_KERNEL
                                                                 : PERF_RECORD_MISC_USER};
    made->n = 0;
    put(made, 0);
    put(made, sample->in_kernel ? KERNEL + 0x20 : CODE + 0x10);
    put(made, UINT64_C(100) << 32 | 100);
    put(made, 5000);
    put(made, 1);
    put(made, 2004008);
    put(made, sample->in_kernel ? 3 : 0);
    if (sample->in_kernel) {
        put(made, (uint64_t)PERF_CONTEXT_KERNEL);
        put(made, KERNEL + 0x20);
        put(made, KERNEL + 0x31);
    }
    put(made, sample->n);
    if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
        put(made, 7);
    for (size_t i = 0; i < sample->n; i++) {
        put(made, sample->from[i]);
        put(made, CODE + 0x900 + i); /* to: the function that was called */
        put(made, 0);
    }
    if (attr->branch_sample_type & 1u << 19)
        for (size_t i = 0; i < sample->n; i++)
            put(made, 0xc0de);
    if (attr->sample_type & PERF_SAMPLE_REGS_USER) {
        put(made, sample->no_regs ? PERF_SAMPLE_REGS_ABI_NONE : PERF_SAMPLE_REGS_ABI_64);
        for (unsigned bit = 0; !sample->no_regs && bit < 64; bit++)
            if (attr->sample_regs_user >> bit & 1)
                put(made, bit == 8 ? CODE + 0x10 : bit);
    }
    header.size = (uint16_t)(made->n * 8);
    memcpy(made->word, &header, sizeof header);
}

/* The stack as the recorder has it: "10 400 500" for CODE + 0x10 and its callers, "k20" for the
 * kernel's, "..." when it may be cut. */
static void expect(const struct perf_event_attr *attr, const struct sample *sample,
                   const char *want)
{
    const struct as_sample_choice choice = {.event = AS_EVENT_CYCLES, .rate_hz = 499};
    const struct as_sample_record map = {.kind = AS_SAMPLE_MAP,
                                         .pid = 100,
                                         .tid = 100,
                                         .address = CODE,
                                         .size_b = 1 << 20,
                                         .text = "/bin/one"};
    const char *const path = session_stream();
    struct as_sample_counts counts = {0};
    struct as_sample_record record;
    struct as_stream_record read;
    struct as_recorder *recorder;
    struct as_stream *stream;
    struct as_error err;
    struct made made;
    uint64_t regs[AS_SAMPLE_REGS_N];
    char got[1024] = "";
    bool damaged;
    size_t n, at = 0;
    make(&made, attr, sample);
    assert_true(as_record_parse(attr, (const uint8_t *)made.word, &record, regs, &damaged));
    assert_int_equal(as_recorder_new(path, &choice, 0, &recorder, &err), 0);
    assert_int_equal(as_recorder_add(recorder, &map, &err), 0);
    assert_int_equal(as_recorder_add(recorder, &record, &err), 0);
    assert_int_equal(as_recorder_finish(&recorder, &counts, &err), 0);
    assert_int_equal(as_stream_open(path, &stream, &err), 0);
    while (as_stream_next(stream, &read, &err) > 0 && read.kind != AS_STREAM_SAMPLE)
        ;
    assert_int_equal(read.kind, AS_STREAM_SAMPLE);
    const struct as_stream_module *module = as_stream_modules(stream, &n);
    const struct as_stream_node *node = as_stream_nodes(stream, &n);
    for (uint32_t i = read.node; i; i = node[i].parent) {
        const bool in_kernel = module[node[i].module].kind == AS_MODULE_KERNEL;
        at += (size_t)snprintf(
            got + at, sizeof got - at, "%s%s%llx", at ? " " : "", in_kernel ? "k" : "",
            (unsigned long long)(in_kernel ? node[i].address - KERNEL : node[i].address));
    }
    snprintf(got + at, sizeof got - at, "%s", read.end == AS_STACK_CUT ? " ..." : "");
    assert_string_equal(got, want);
    as_stream_close(&stream);
}

/* The place of the sample, then the calls themselves: nothing is taken off their addresses. */
static void test_user(void **state)
{
    (void)state;
    struct perf_event_attr attr = asked();
    const struct sample sample = {.from = {CODE + 0x400, CODE + 0x500}, .n = 2};
    expect(&attr, &sample, "10 400 500");
    attr.branch_sample_type |= PERF_SAMPLE_BRANCH_HW_INDEX;
    expect(&attr, &sample, "10 400 500");
    attr.branch_sample_type |= 1u << 19; /* counters, behind all entries */
    expect(&attr, &sample, "10 400 500");
    const struct sample outermost = {.n = 0};
    expect(&attr, &outermost, "10");
}

/* In the kernel: its own chain first; the program's place is in its registers, or what it called
 * last. */
static void test_kernel(void **state)
{
    (void)state;
    const struct perf_event_attr attr = asked();
    struct sample sample = {.in_kernel = true, .from = {CODE + 0x400}, .n = 1};
    expect(&attr, &sample, "k20 k30 10 400");
    sample.no_regs = true;
    expect(&attr, &sample, "k20 k30 900 400");
    sample.n = 0; /* a thread of the kernel's */
    expect(&attr, &sample, "k20 k30");
}

/* A record that is full may have lost the outer calls; an entry never filled ends it. */
static void test_depth(void **state)
{
    (void)state;
    const struct perf_event_attr attr = asked();
    struct sample sample = {.n = 16};
    for (size_t i = 0; i < 16; i++)
        sample.from[i] = CODE + 0x100;
    expect(&attr, &sample,
           "10 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 ...");
    sample.n = 3;
    expect(&attr, &sample, "10 100 100 100");
    sample.n = 16;
    sample.from[2] = 0;
    expect(&attr, &sample, "10 100 100");
}

/* Branches that were not asked for as calls are passed over; lengths that cannot be are damage. */
static void test_other(void **state)
{
    (void)state;
    struct perf_event_attr attr = asked();
    const struct sample sample = {.from = {CODE + 0x400}, .n = 1};
    struct as_sample_record record;
    uint64_t regs[AS_SAMPLE_REGS_N];
    struct made made;
    bool damaged;
    attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
    make(&made, &attr, &sample);
    assert_true(as_record_parse(&attr, (const uint8_t *)made.word, &record, regs, &damaged));
    assert_null(record.calls);
    assert_int_equal(record.regs[16], CODE + 0x10);
    attr = asked();
    make(&made, &attr, &sample);
    for (uint64_t n = 2; n; n <<= 1) { /* more than there are, until it overflows */
        if (n > 1 && n < 10)
            continue; /* what follows is taken for branches: no harm, and not seen */
        made.word[7] = n;
        assert_false(as_record_parse(&attr, (const uint8_t *)made.word, &record, regs, &damaged));
        assert_true(damaged);
    }
    as_branches_leave(&attr);
    assert_false(as_branches_asked(&attr));
    assert_int_equal(attr.branch_sample_type, 0);
}

/* Nothing else is taken in its place. */
static void test_refusal(void **state)
{
    (void)state;
    const struct as_sample_options options = {.stacks = AS_STACKS_LBR};
    struct as_sampler *sampler;
    struct as_error err = {0};
    if (!session_has_events())
        return;
    const int rc = as_sampler_open(getpid(), &options, &sampler, &err);
    if (rc == 0) { /* a machine that has them */
        assert_true(as_sampler_choice(sampler)->event <= AS_EVENT_REF_CYCLES);
        as_sampler_close(&sampler);
        return;
    }
    assert_int_equal(rc, AS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "call stacks by branch records (lbr): "));
    assert_non_null(strstr(err.text, "; use --call-stacks dwarf or fp"));
    struct perf_event_attr attr = asked(); /* a clock has no branches, and is there */
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    attr.sample_period = 1000000;
    attr.size = sizeof attr;
    attr.exclude_kernel = 1;
    as_branches_refused(&attr, 0, -1, EOPNOTSUPP, &err);
    assert_string_equal(err.text,
                        "call stacks by branch records (lbr): this CPU, or its virtual "
                        "machine, has no branch records (EOPNOTSUPP); use --call-stacks dwarf or "
                        "fp");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_user),  cmocka_unit_test(test_kernel),  cmocka_unit_test(test_depth),
        cmocka_unit_test(test_other), cmocka_unit_test(test_refusal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
