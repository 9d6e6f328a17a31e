/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf's files made by hand: each kind of record, several events, order, features, pipes,
 * compression; then the same files cut at every byte and with every byte wrong: an error or
 * records, never a crash, and never one read outside the file (which the address sanitizer sees).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "sample/perf_data.h"
#include "sample/sampler.h"
#include "session.h"

#include "base/alloc.h"
#include "base/str.h"

/* ---- Bytes -------------------------------------------------------------------------------- */

struct bytes {
    AS_VEC(uint8_t) b;
    size_t record; /* where the one being written begins */
};

static void put(struct bytes *to, const void *p, size_t n)
{
    assert_int_equal(as_vec_reserve(&to->b, to->b.n + n + 1), 0);
    if (n)
        memcpy(to->b.at + to->b.n, p, n);
    to->b.n += n;
}

static void u16(struct bytes *to, uint16_t v)
{
    put(to, &v, sizeof v);
}

static void u32(struct bytes *to, uint32_t v)
{
    put(to, &v, sizeof v);
}

static void u64(struct bytes *to, uint64_t v)
{
    put(to, &v, sizeof v);
}

/* With its zero, filled up to whole words as the kernel does. */
static void text(struct bytes *to, const char *z)
{
    put(to, z, strlen(z) + 1);
    while (to->b.n % 8)
        put(to, "", 1);
}

static void begin(struct bytes *to, uint32_t type, uint16_t misc)
{
    to->record = to->b.n;
    u32(to, type);
    u16(to, misc);
    u16(to, 0);
}

static void end(struct bytes *to)
{
    uint16_t size = (uint16_t)(to->b.n - to->record);
    memcpy(to->b.at + to->record + 6, &size, sizeof size);
}

/* ---- Records ------------------------------------------------------------------------------ */

#define TYPE                                                                                       \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |  \
     PERF_SAMPLE_CALLCHAIN)

static struct perf_event_attr attr_of(uint32_t type, uint64_t config, uint64_t sample_type)
{
    return (struct perf_event_attr){.type = type,
                                    .size = sizeof(struct perf_event_attr),
                                    .config = config,
                                    .sample_freq = 999,
                                    .freq = 1,
                                    .sample_type = sample_type,
                                    .sample_id_all = 1,
                                    .sample_regs_user = 0xff0fff,
                                    .sample_stack_user = 64};
}

static struct perf_event_attr clock_attr(uint64_t sample_type)
{
    return attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, sample_type);
}

/* Appends the fields that sample_id_all adds to a record. */
static void id_and_end(struct bytes *to, const struct perf_event_attr *attr, uint32_t pid,
                       uint64_t time_ns, uint64_t id)
{
    if (attr->sample_type & PERF_SAMPLE_TID) {
        u32(to, pid);
        u32(to, pid + 1);
    }
    if (attr->sample_type & PERF_SAMPLE_TIME)
        u64(to, time_ns);
    if (attr->sample_type & PERF_SAMPLE_ID)
        u64(to, id);
    if (attr->sample_type & PERF_SAMPLE_CPU)
        u64(to, 3);
    if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
        u64(to, id);
    end(to);
}

static void sample(struct bytes *to, const struct perf_event_attr *attr, uint32_t pid,
                   uint64_t time_ns, uint64_t id)
{
    uint64_t type = attr->sample_type;
    begin(to, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    if (type & PERF_SAMPLE_IDENTIFIER)
        u64(to, id);
    u64(to, 0x401000 + pid);
    u32(to, pid);
    u32(to, pid ? pid + 1 : 0);
    u64(to, time_ns);
    if (type & PERF_SAMPLE_ADDR)
        u64(to, 0xadd);
    if (type & PERF_SAMPLE_ID)
        u64(to, id);
    if (type & PERF_SAMPLE_CPU)
        u64(to, 2);
    if (type & PERF_SAMPLE_PERIOD)
        u64(to, 1001001);
    if (type & PERF_SAMPLE_READ) { /* a group of two, with times and numbers */
        for (uint64_t i = 0; i < 7; i++)
            u64(to, i ? i : 2);
    }
    if (type & PERF_SAMPLE_CALLCHAIN) {
        u64(to, 3);
        u64(to, (uint64_t)PERF_CONTEXT_USER);
        u64(to, 0x401000 + pid);
        u64(to, 0x402005);
    }
    if (type & PERF_SAMPLE_RAW) {
        u32(to, 4);
        u32(to, 0xfeed);
    }
    if (type & PERF_SAMPLE_BRANCH_STACK) {
        u64(to, 1);
        for (unsigned i = 0; i < 3; i++)
            u64(to, 0xb0b);
    }
    if (type & PERF_SAMPLE_REGS_USER) {
        u64(to, PERF_SAMPLE_REGS_ABI_64);
        for (unsigned i = 0; i < 24; i++)
            if (attr->sample_regs_user >> i & 1)
                u64(to, i == 7 ? 0x7ffc0000 : 0x100 + i);
    }
    if (type & PERF_SAMPLE_STACK_USER) {
        u64(to, 64);
        for (uint64_t i = 0; i < 8; i++)
            u64(to, 0x5000 + i);
        u64(to, 40);
    }
    end(to);
}

static void map(struct bytes *to, const struct perf_event_attr *attr, uint64_t time_ns,
                const char *path)
{
    begin(to, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
    u32(to, 100);
    u32(to, 100);
    u64(to, 0x400000);
    u64(to, 0x8000);
    u64(to, 0x1000);
    u32(to, 8);
    u32(to, 1);
    u64(to, 77);
    u64(to, 0);
    u64(to, 0x500000002);
    text(to, path);
    id_and_end(to, attr, 100, time_ns, 0);
}

static void round_end(struct bytes *to)
{
    begin(to, AS_PERF_FINISHED_ROUND, 0);
    end(to);
}

/* One of each kind, in order of time. */
static void every_record(struct bytes *to, const struct perf_event_attr *attr)
{
    begin(to, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
    u32(to, 100);
    u32(to, 100);
    text(to, "solver");
    id_and_end(to, attr, 100, 1000, 0);
    map(to, attr, 1001, "/nowhere/solver");
    begin(to, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
    u32(to, 100);
    u32(to, 100);
    u64(to, 0x500000);
    u64(to, 0x1000);
    u64(to, 0);
    u32(to, 20);
    for (uint32_t i = 0; i < 5; i++)
        u32(to, 0x01010101u * (i + 1));
    u64(to, 0x500000002);
    text(to, "/nowhere/lib");
    id_and_end(to, attr, 100, 1002, 0);
    begin(to, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
    u32(to, 100);
    u32(to, 100);
    u64(to, 0x600000);
    u64(to, 0x2000);
    u64(to, 0x3000);
    text(to, "//anon");
    id_and_end(to, attr, 100, 1003, 0);
    begin(to, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA);
    u32(to, 100);
    u32(to, 100);
    u64(to, 0x700000);
    u64(to, 0x2000);
    u64(to, 0);
    text(to, "/nowhere/data");
    id_and_end(to, attr, 100, 1004, 0);
    for (unsigned i = 0; i < 2; i++) {
        begin(to, i ? PERF_RECORD_EXIT : PERF_RECORD_FORK, 0);
        u32(to, 200);
        u32(to, 100);
        u32(to, 201);
        u32(to, 101);
        u64(to, 1005 + i);
        id_and_end(to, attr, 200, 1005 + i, 0);
    }
    sample(to, attr, 100, 1007, 0);
    begin(to, PERF_RECORD_LOST, 0);
    u64(to, 9);
    u64(to, 5);
    id_and_end(to, attr, 100, 1008, 0);
    begin(to, PERF_RECORD_LOST_SAMPLES, 0);
    u64(to, 6);
    id_and_end(to, attr, 100, 1009, 0);
    begin(to, PERF_RECORD_SWITCH,
          PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
    id_and_end(to, attr, 100, 1010, 0);
    begin(to, PERF_RECORD_SWITCH_CPU_WIDE, 0);
    u32(to, 1);
    u32(to, 2);
    id_and_end(to, attr, 100, 1011, 0);
    for (unsigned i = 0; i < 2; i++) {
        begin(to, i ? PERF_RECORD_UNTHROTTLE : PERF_RECORD_THROTTLE, 0);
        u64(to, 1012 + i);
        u64(to, 9);
        u64(to, 9);
        id_and_end(to, attr, 100, 1012 + i, 0);
    }
    begin(to, PERF_RECORD_AUX, 0);
    for (unsigned i = 0; i < 3; i++)
        u64(to, i);
    id_and_end(to, attr, 100, 1014, 0);
    begin(to, AS_PERF_AUXTRACE, 0);
    u64(to, 24); /* bytes behind it that are not records */
    for (unsigned i = 0; i < 4; i++)
        u64(to, 0);
    end(to);
    for (unsigned i = 0; i < 3; i++)
        u64(to, UINT64_MAX);
    begin(to, 60, 0); /* of a kernel to come */
    u64(to, 1);
    id_and_end(to, attr, 100, 1015, 0);
    round_end(to);
    sample(to, attr, 0, 1016, 0); /* an idle CPU */
    sample(to, attr, 300, 1017, 0);
}

/* ---- Files -------------------------------------------------------------------------------- */

struct event {
    struct perf_event_attr attr;
    uint64_t id[2];
    size_t ids;
};

static void header_text(struct bytes *to, const char *z)
{
    u32(to, 64);
    char padded[64] = "";
    snprintf(padded, sizeof padded, "%s", z);
    put(to, padded, sizeof padded);
}

static void build_id_record(struct bytes *to, uint16_t misc, uint8_t size_b, const char *path)
{
    uint8_t id[24];
    begin(to, AS_PERF_BUILD_ID, misc);
    u32(to, UINT32_MAX);
    memset(id, 0xab, sizeof id);
    memset(id + 20, 0, 4);
    id[20] = size_b;
    put(to, id, sizeof id);
    text(to, path);
    while ((to->b.n - to->record) % 8)
        put(to, "", 1);
    end(to);
}

static void feature(struct bytes *to, unsigned number)
{
    static const char *const words[] = {
        "/usr/bin/perf", "record", "-F", "99", "-g", "-e", "x", "--", "solver", "a b"};
    switch (number) {
    case AS_FEATURE_BUILD_ID:
        build_id_record(to, 0, 0, "/other");
        build_id_record(to, 1u << 15, 16, "/nowhere/solver");
        break;
    case AS_FEATURE_HOSTNAME:
        header_text(to, "node7");
        break;
    case AS_FEATURE_OSRELEASE:
        header_text(to, "6.1.0");
        break;
    case AS_FEATURE_VERSION:
        header_text(to, "6.1.76");
        break;
    case AS_FEATURE_ARCH:
        header_text(to, "x86_64");
        break;
    case AS_FEATURE_NRCPUS:
        u32(to, 4);
        u32(to, 8);
        break;
    case AS_FEATURE_CPUDESC:
        header_text(to, "A Processor");
        break;
    case AS_FEATURE_CPUID:
        header_text(to, "GenuineIntel,6,143,8");
        break;
    case AS_FEATURE_TOTAL_MEM:
        u64(to, 1 << 20);
        break;
    case AS_FEATURE_CMDLINE:
        u32(to, sizeof words / sizeof *words);
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            header_text(to, words[i]);
        break;
    case AS_FEATURE_EVENT_DESC:
        u32(to, 1);
        u32(to, 16);
        u64(to, 0);
        u64(to, 0);
        u32(to, 1);
        header_text(to, "cpu-clock:u");
        u64(to, 5);
        break;
    case AS_FEATURE_SAMPLE_TIME:
        u64(to, 1007);
        u64(to, 1017);
        break;
    case AS_FEATURE_CLOCK_DATA:
        u32(to, 1);
        u32(to, 1);
        u64(to, 1700000000000000000u);
        u64(to, 1000);
        break;
    default:
        break;
    }
}

static const unsigned all_features[] = {
    AS_FEATURE_BUILD_ID,  AS_FEATURE_HOSTNAME, AS_FEATURE_OSRELEASE,  AS_FEATURE_VERSION,
    AS_FEATURE_ARCH,      AS_FEATURE_NRCPUS,   AS_FEATURE_CPUDESC,    AS_FEATURE_CPUID,
    AS_FEATURE_TOTAL_MEM, AS_FEATURE_CMDLINE,  AS_FEATURE_EVENT_DESC, AS_FEATURE_SAMPLE_TIME,
    AS_FEATURE_CLOCK_DATA};
#define FEATURES (sizeof all_features / sizeof *all_features)

static void put_at(struct bytes *to, size_t at, uint64_t v)
{
    memcpy(to->b.at + at, &v, sizeof v);
}

/* A file of `events` with `data` and `features` of all_features. */
static void make_file(struct bytes *to, const struct event *events, size_t n,
                      const struct bytes *data, size_t features)
{
    put(to, "PERFILE2", 8);
    u64(to, 104);
    u64(to, sizeof(struct perf_event_attr) + 16);
    for (unsigned i = 0; i < 10; i++)
        u64(to, 0);
    size_t ids[8];
    for (size_t i = 0; i < n; i++) {
        ids[i] = to->b.n;
        put(to, events[i].id, events[i].ids * 8);
    }
    put_at(to, 24, to->b.n);
    for (size_t i = 0; i < n; i++) {
        put(to, &events[i].attr, sizeof events[i].attr);
        u64(to, ids[i]);
        u64(to, events[i].ids * 8);
    }
    put_at(to, 32, to->b.n - (to->b.n - n * (sizeof(struct perf_event_attr) + 16)));
    put_at(to, 40, to->b.n);
    put_at(to, 48, data->b.n);
    put(to, data->b.at, data->b.n);
    size_t table = to->b.n;
    uint64_t flags = 0;
    for (size_t i = 0; i < features; i++) {
        flags |= UINT64_C(1) << all_features[i];
        u64(to, 0);
        u64(to, 0);
    }
    put_at(to, 72, flags);
    for (size_t i = 0; i < features; i++) {
        size_t from = to->b.n;
        feature(to, all_features[i]);
        put_at(to, table + i * 16, from);
        put_at(to, table + i * 16 + 8, to->b.n - from);
    }
}

static void make_pipe(struct bytes *to, const struct event *events, size_t n,
                      const struct bytes *data)
{
    put(to, "PERFILE2", 8);
    u64(to, 16);
    for (size_t i = 0; i < n; i++) {
        begin(to, AS_PERF_HEADER_ATTR, 0);
        put(to, &events[i].attr, sizeof events[i].attr);
        put(to, events[i].id, events[i].ids * 8);
        end(to);
    }
    begin(to, AS_PERF_EVENT_UPDATE, 0);
    u64(to, 2);
    u64(to, 5);
    text(to, "cpu-clock:u");
    end(to);
    for (size_t i = 1; i < FEATURES; i++) {
        begin(to, AS_PERF_FEATURE, 0);
        u64(to, all_features[i]);
        feature(to, all_features[i]);
        end(to);
        while (to->b.n % 8)
            put(to, "", 1);
        end(to);
    }
    build_id_record(to, 0, 0, "/nowhere/solver");
    put(to, data->b.at, data->b.n);
}

/* The same data as compressed records of any size, cut where it comes. */
static void compress(struct bytes *to, const struct bytes *data, size_t piece_b)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    for (size_t at = 0; at < data->b.n; at += piece_b) {
        uint8_t packed[8192];
        size_t n = data->b.n - at < piece_b ? data->b.n - at : piece_b;
        ZSTD_inBuffer in = {data->b.at + at, n, 0};
        ZSTD_outBuffer out = {packed, sizeof packed, 0};
        assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush), 0);
        begin(to, AS_PERF_COMPRESSED, 0);
        put(to, packed, out.pos);
        end(to);
    }
    ZSTD_freeCCtx(context);
}

/* ---- Reading ------------------------------------------------------------------------------ */

static int file_fd = -1;
static char file_path[64];

/* The bytes as a file; without a disk. */
static const char *as_file(const uint8_t *p, size_t n)
{
    if (file_fd < 0)
        file_fd = memfd_create("perf.data", 0);
    assert_true(file_fd >= 0);
    assert_int_equal(ftruncate(file_fd, (off_t)n), 0);
    assert_int_equal(pwrite(file_fd, p, n, 0), n);
    snprintf(file_path, sizeof file_path, "/proc/self/fd/%d", file_fd);
    return file_path;
}

static int log_record(void *context, const struct as_sample_record *r, struct as_error *err)
{
    static const char *const kinds[] = {"sample", "map",  "comm",   "fork",
                                        "exit",   "lost", "switch", "throttle"};
    struct as_str *out = context;
    (void)err;
    as_str_appendf(out, "%" PRIu64 " %s %u/%u cpu%u", r->time_ns, kinds[r->kind], r->pid, r->tid,
                   r->cpu);
    if (r->kind == AS_SAMPLE_SAMPLE)
        as_str_appendf(out, " ip %" PRIx64 " period %" PRIu64, r->ip, r->period);
    for (size_t i = 0; i < r->chain_n; i++)
        as_str_appendf(out, " %" PRIx64, r->chain[i]);
    if (r->regs)
        as_str_appendf(out, " pc %" PRIx64 " r15 %" PRIx64, r->regs[16], r->regs[15]);
    if (r->stack)
        as_str_appendf(out, " stack %" PRIx64 "+%zu %x", r->stack_at, r->stack_b, r->stack[8]);
    if (r->kind == AS_SAMPLE_MAP)
        as_str_appendf(out, " %" PRIx64 "+%" PRIx64 "@%" PRIx64 " %" PRIu64 " id%u:%02x",
                       r->address, r->size_b, r->offset, r->inode, r->build_id_b, r->build_id[0]);
    if (r->text)
        as_str_appendf(out, " %s", r->text);
    if (r->kind == AS_SAMPLE_FORK || r->kind == AS_SAMPLE_EXIT)
        as_str_appendf(out, " of %u/%u", r->parent_pid, r->parent_tid);
    if (r->lost)
        as_str_appendf(out, " %" PRIu64, r->lost);
    as_str_appendf(out, "%s%s\n", r->out ? " out" : "", r->preempted ? " preempted" : "");
    return 0;
}

static struct as_perf_data *open_bytes(const struct bytes *file)
{
    struct as_perf_data *data;
    struct as_error err = {0};
    if (as_perf_data_open(as_file(file->b.at, file->b.n), &data, &err) < 0)
        fail_msg("%s", err.text);
    return data;
}

static struct as_str read_all(struct as_perf_data *data)
{
    struct as_str out = {0};
    struct as_error err = {0};
    if (as_perf_data_read(data, log_record, &out, &err) < 0)
        fail_msg("%s", err.text);
    return out;
}

static void fini(struct bytes *bytes)
{
    as_vec_fini(&bytes->b);
}

/* ---- Tests -------------------------------------------------------------------------------- */

static const char records[] =
    "1000 comm 100/100 cpu3 solver out\n"
    "1001 map 100/100 cpu3 400000+8000@1000 77 id16:ab /nowhere/solver\n"
    "1002 map 100/100 cpu3 500000+1000@0 0 id20:01 /nowhere/lib\n"
    "1003 map 100/100 cpu3 600000+2000@3000 0 id0:00 //anon\n"
    "1005 fork 200/201 cpu3 of 100/101\n"
    "1006 exit 200/201 cpu3 of 100/101\n"
    "1007 sample 100/101 cpu2 ip 401064 period 1001001 fffffffffffffe00 401064 402005\n"
    "1008 lost 100/101 cpu3 5\n"
    "1009 lost 100/101 cpu3 6\n"
    "1010 switch 100/101 cpu3 out preempted\n"
    "1011 switch 100/101 cpu3\n"
    "1012 throttle 100/101 cpu3 out\n"
    "1013 throttle 100/101 cpu3\n"
    "1017 sample 300/301 cpu2 ip 40112c period 1001001 fffffffffffffe00 40112c 402005\n";

static void make_whole(struct bytes *file)
{
    struct event event = {.attr = clock_attr(TYPE), .id = {5, 6}, .ids = 2};
    struct bytes data = {0};
    every_record(&data, &event.attr);
    make_file(file, &event, 1, &data, FEATURES);
    fini(&data);
}

static void test_records(void **state)
{
    (void)state;
    struct bytes file = {0};
    make_whole(&file);
    struct as_perf_data *data = open_bytes(&file);
    struct as_str out = read_all(data);
    assert_string_equal(as_str_z(&out), records);
    const struct as_sample_counts *counts = as_perf_data_counts(data);
    assert_int_equal(counts->samples, 2);
    assert_int_equal(counts->lost, 11);
    assert_int_equal(counts->throttled, 1);
    assert_int_equal(counts->damaged, 0);
    assert_int_equal(counts->late, 0);
    assert_int_equal(as_perf_data_facts(data)->idle, 1);
    assert_string_equal(as_perf_data_damage(data), "");
    as_perf_data_close(&data);
    assert_null(data);
    as_str_fini(&out);
    fini(&file);
}

static void expect_facts(const struct as_perf_facts *facts)
{
    assert_string_equal(facts->host, "node7");
    assert_string_equal(facts->os_release, "6.1.0");
    assert_string_equal(facts->perf_version, "6.1.76");
    assert_string_equal(facts->arch, "x86_64");
    assert_string_equal(facts->cpu_model, "A Processor");
    assert_string_equal(facts->cpu_id, "GenuineIntel,6,143,8");
    assert_int_equal(facts->cpus_online, 4);
    assert_int_equal(facts->cpus, 8);
    assert_int_equal(facts->memory_b, 1 << 30);
    assert_string_equal(facts->perf_argv[0], "/usr/bin/perf");
    assert_string_equal(facts->argv[0], "solver");
    assert_string_equal(facts->argv[1], "a b");
    assert_null(facts->argv[2]);
    assert_int_equal(facts->first_ns, 1007);
    assert_int_equal(facts->last_ns, 1017);
    assert_true(facts->clock_offset_exact);
    assert_int_equal(facts->clock_offset_ns, 1699999999999999000);
    assert_int_equal(facts->stacks, AS_STACKS_FRAME);
    assert_int_equal(facts->event_n, 1);
    assert_string_equal(facts->event[0].name, "cpu-clock:u");
    assert_true(facts->event[0].is_time);
}

static void test_facts(void **state)
{
    (void)state;
    struct bytes file = {0};
    make_whole(&file);
    struct as_perf_data *data = open_bytes(&file);
    expect_facts(as_perf_data_facts(data));
    const struct as_sample_choice *choice = as_perf_data_choice(data);
    assert_int_equal(choice->event, AS_EVENT_CPU_CLOCK);
    assert_int_equal(choice->rate_hz, 999);
    assert_true(choice->kernel);
    assert_true(choice->imported);
    assert_string_equal(choice->reason, "");
    as_perf_data_close(&data);
    fini(&file);
}

/* The same from a pipe: features and events are records, and nothing says the times. */
static void test_pipe(void **state)
{
    (void)state;
    struct event event = {.attr = clock_attr(TYPE), .id = {5, 6}, .ids = 2};
    struct bytes records_bytes = {0}, file = {0};
    every_record(&records_bytes, &event.attr);
    make_pipe(&file, &event, 1, &records_bytes);
    struct as_perf_data *data = open_bytes(&file);
    assert_true(as_perf_data_facts(data)->pipe);
    expect_facts(as_perf_data_facts(data));
    struct as_str out = read_all(data);
    char *id = strstr(out.p, "id20:ab /nowhere/solver");
    assert_non_null(id); /* here the build-id has no size of its own */
    memcpy(id, "id16", 4);
    assert_string_equal(as_str_z(&out), records);
    as_perf_data_close(&data);
    as_str_fini(&out);
    fini(&records_bytes);
    fini(&file);
}

/* Cut into compressed pieces of any size the records are the same. */
static void test_compressed(void **state)
{
    (void)state;
    static const size_t pieces[] = {7, 64, 333, 4096};
    struct event event = {.attr = clock_attr(TYPE), .id = {5, 6}, .ids = 2};
    struct bytes whole = {0};
    every_record(&whole, &event.attr);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct bytes packed = {0}, file = {0};
        /* perf does not compress what it made itself, and none of ours needs AUX traces. */
        const uint8_t *trace = memmem(whole.b.at, whole.b.n, "\x47\0\0\0\0\0\x30\0", 8);
        assert_non_null(trace);
        struct bytes plain = {0};
        put(&plain, whole.b.at, (size_t)(trace - whole.b.at));
        put(&plain, trace + 48 + 24, (size_t)(whole.b.at + whole.b.n - trace) - 72);
        compress(&packed, &plain, pieces[i]);
        make_file(&file, &event, 1, &packed, FEATURES);
        struct as_perf_data *data = open_bytes(&file);
        struct as_str out = read_all(data);
        assert_string_equal(as_str_z(&out), records);
        assert_true(as_perf_data_facts(data)->compressed);
        assert_string_equal(as_perf_data_damage(data), "");
        as_perf_data_close(&data);
        as_str_fini(&out);
        fini(&plain);
        fini(&packed);
        fini(&file);
    }
    fini(&whole);
}

/* Registers in perf's order become those of DWARF; of the stack the used part is given. Fields of
 * no interest before and between are passed over. */
static void test_stacks(void **state)
{
    (void)state;
    const uint64_t type = TYPE | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_READ |
                          PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
                          PERF_SAMPLE_STACK_USER | PERF_SAMPLE_IDENTIFIER;
    struct event event = {.attr = clock_attr(type), .id = {5}, .ids = 1};
    event.attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                             PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
    struct bytes bytes = {0}, file = {0};
    sample(&bytes, &event.attr, 100, 50, 5);
    make_file(&file, &event, 1, &bytes, 0);
    struct as_perf_data *data = open_bytes(&file);
    assert_int_equal(as_perf_data_facts(data)->stacks, AS_STACKS_DWARF);
    struct as_str out = read_all(data);
    assert_string_equal(as_str_z(&out),
                        "50 sample 100/101 cpu2 ip 401064 period 1001001 fffffffffffffe00 401064 "
                        "402005 pc 108 r15 117 stack 7ffc0000+40 1\n");
    as_perf_data_close(&data);
    as_str_fini(&out);
    fini(&bytes);
    fini(&file);
}

/* Calls of branch records are stacks; branches of another kind are none. */
static void test_branch_stacks(void **state)
{
    (void)state;
    const uint64_t type = TYPE | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK;
    for (int calls = 0; calls < 2; calls++) {
        struct event event = {.attr = clock_attr(type), .id = {5}, .ids = 1};
        event.attr.branch_sample_type =
            calls ? PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK
                  : PERF_SAMPLE_BRANCH_ANY;
        struct bytes bytes = {0}, file = {0};
        sample(&bytes, &event.attr, 100, 50, 5);
        make_file(&file, &event, 1, &bytes, 0);
        struct as_perf_data *data = open_bytes(&file);
        assert_int_equal(as_perf_data_facts(data)->stacks, calls ? AS_STACKS_LBR : AS_STACKS_FRAME);
        assert_string_equal(as_perf_data_choice(data)->reason, "");
        as_perf_data_close(&data);
        fini(&bytes);
        fini(&file);
    }
}

/* Records that were read out of order are handed out in order of time; later rounds wait for their
 * turn. */
static void test_order(void **state)
{
    (void)state;
    struct event event = {.attr = clock_attr(TYPE), .id = {5}, .ids = 1};
    static const uint64_t times[] = {10, 40, 20, 30, 0, 60, 50, 35, 0, 80, 55, 0, 70, 81, 0, 5};
    static const uint64_t order[] = {10, 20, 30, 35, 40, 50, 55, 60, 70, 80, 5, 81};
    struct bytes bytes = {0}, file = {0};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (times[i])
            sample(&bytes, &event.attr, 100, times[i], 5);
        else
            round_end(&bytes);
    }
    make_file(&file, &event, 1, &bytes, 0);
    struct as_perf_data *data = open_bytes(&file);
    struct as_str out = read_all(data);
    const char *at = as_str_z(&out);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        assert_int_equal(strtoull(at, NULL, 10), order[i]);
        at = strchr(at, '\n') + 1;
    }
    assert_int_equal(*at, 0);
    assert_int_equal(as_perf_data_counts(data)->late, 1); /* the last, of which no order helps */
    as_perf_data_close(&data);
    as_str_fini(&out);
    fini(&bytes);
    fini(&file);
}

/* Two events: the one of time is handed out, the other counted. `type` selects the field that
 * distinguishes them. */
static void expect_two(uint64_t type)
{
    struct event events[] = {
        {.attr = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, type), .id = {7}, .ids = 1},
        {.attr = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, type), .id = {8}, .ids = 1},
        {.attr = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, type), .id = {9}, .ids = 1},
    };
    struct bytes bytes = {0}, file = {0};
    map(&bytes, &events[0].attr, 5, "/nowhere/x");
    sample(&bytes, &events[0].attr, 100, 10, 7);
    sample(&bytes, &events[0].attr, 100, 11, 8);
    sample(&bytes, &events[0].attr, 100, 12, 9);
    sample(&bytes, &events[0].attr, 100, 13, 9);
    sample(&bytes, &events[0].attr, 100, 14, 4711); /* unknown event */
    make_file(&file, events, 3, &bytes, 0);
    struct as_perf_data *data = open_bytes(&file);
    struct as_str out = read_all(data);
    const struct as_perf_facts *facts = as_perf_data_facts(data);
    assert_int_equal(as_perf_data_choice(data)->event, AS_EVENT_CYCLES);
    assert_string_equal(as_perf_data_choice(data)->reason,
                        "samples of event 1:2, task-clock were only counted");
    assert_int_equal(facts->event[0].samples, 1);
    assert_int_equal(facts->event[1].samples, 1);
    assert_int_equal(facts->event[2].samples, 2);
    assert_int_equal(as_perf_data_counts(data)->samples, 2);
    assert_int_equal(as_perf_data_counts(data)->damaged, 1);
    assert_non_null(strstr(as_str_z(&out), "5 map "));
    assert_non_null(strstr(as_str_z(&out), "\n12 sample "));
    assert_null(strstr(as_str_z(&out), "\n11 sample "));
    as_perf_data_close(&data);
    as_str_fini(&out);
    fini(&bytes);
    fini(&file);
}

static void test_events(void **state)
{
    (void)state;
    expect_two(TYPE | PERF_SAMPLE_IDENTIFIER);
    expect_two(TYPE | PERF_SAMPLE_ID);
}

/* A counter of a fixed number of cycles has the rate that its samples show. */
static void test_fixed_period(void **state)
{
    (void)state;
    struct event event = {.attr = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
                                          TYPE & ~(uint64_t)PERF_SAMPLE_PERIOD),
                          .id = {5},
                          .ids = 1};
    event.attr.freq = 0;
    event.attr.sample_period = 3000000;
    struct bytes bytes = {0}, file = {0};
    for (uint64_t i = 1; i <= 100; i++)
        sample(&bytes, &event.attr, 100, i * 1000000 + (i > 50 ? 70000000 : 0), 5);
    make_file(&file, &event, 1, &bytes, 0);
    struct as_perf_data *data = open_bytes(&file);
    assert_int_equal(as_perf_data_choice(data)->rate_hz, 1000);
    assert_string_equal(as_perf_data_choice(data)->reason,
                        "a sample every 3000000 cycles: taken as 1000 a second, the median");
    struct as_str out = read_all(data);
    assert_non_null(strstr(as_str_z(&out), "period 3000000"));
    assert_int_equal(as_perf_data_counts(data)->samples, 100);
    as_perf_data_close(&data);
    as_str_fini(&out);
    fini(&bytes);
    fini(&file);
}

static void refused(const struct bytes *file, int code, const char *part)
{
    struct as_perf_data *data;
    struct as_error err = {0};
    assert_int_equal(as_perf_data_open(as_file(file->b.at, file->b.n), &data, &err), code);
    assert_null(data);
    if (!strstr(err.text, part))
        fail_msg("'%s' has no '%s'", err.text, part);
}

static void test_refusals(void **state)
{
    (void)state;
    struct event faults = {.attr = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, TYPE),
                           .ids = 0};
    struct event two[2] = {{.attr = clock_attr(TYPE)}, {.attr = clock_attr(TYPE)}};
    struct bytes file = {0}, none = {0};
    struct as_perf_data *data;
    struct as_error err = {0};
    put(&none, "", 1);
    none.b.n = 0;
    make_whole(&file);
    memcpy(file.b.at, "2ELIFREP", 8);
    refused(&file, AS_ERR_ARCH, "big-endian");
    memcpy(file.b.at, "PERFFILE", 8);
    refused(&file, AS_ERR_UNSUPPORTED, "first version");
    memcpy(file.b.at, "PERFILE3", 8);
    refused(&file, AS_ERR_CORRUPT, "not a perf file");
    memcpy(file.b.at, "PERFILE2", 8);
    uint8_t *arch = memmem(file.b.at, file.b.n, "x86_64", 6);
    memcpy(arch, "armv99", 6);
    refused(&file, AS_ERR_ARCH, "armv99");
    fini(&file);
    make_file(&file, &faults, 1, &none, 0);
    refused(&file, AS_ERR_UNSUPPORTED, "record with '-e cycles'");
    fini(&file);
    make_file(&file, two, 2, &none, 0);
    refused(&file, AS_ERR_CORRUPT, "cannot be distinguished");
    fini(&file);
    put(&file, "PERFILE2", 8);
    refused(&file, AS_ERR_CORRUPT, "8 bytes");
    u64(&file, 16);
    refused(&file, AS_ERR_CORRUPT, "has no events");
    fini(&file);
    assert_int_equal(as_perf_data_open("/nowhere", &data, &err), AS_ERR_NOT_FOUND);
    assert_int_equal(as_perf_data_open("/", &data, &err), AS_ERR_NOT_REGULAR);
    assert_int_equal(as_perf_data_open("/dev/null", &data, &err), AS_ERR_NOT_REGULAR);
    fini(&none);
}

/* perf was killed: no size, no features; what is there is read, and that is said. */
static void test_unfinished(void **state)
{
    (void)state;
    struct bytes file = {0};
    make_whole(&file);
    put_at(&file, 48, 0);
    put_at(&file, 72, 0);
    uint64_t data_at;
    memcpy(&data_at, file.b.at + 40, sizeof data_at);
    struct bytes whole = {0};
    struct perf_event_attr attr = clock_attr(TYPE);
    every_record(&whole, &attr);
    file.b.n = (size_t)data_at + whole.b.n - 16; /* in the last sample */
    struct as_perf_data *data = open_bytes(&file);
    struct as_str out = read_all(data);
    assert_int_equal(as_perf_data_counts(data)->samples, 1);
    assert_non_null(strstr(as_perf_data_damage(data), "perf was stopped before"));
    as_perf_data_close(&data);
    as_str_fini(&out);
    fini(&whole);
    fini(&file);
}

/* ---- Damage ------------------------------------------------------------------------------- */

static struct as_recorder *recorder;

/* Touches all that is given. */
static int touch(void *context, const struct as_sample_record *r, struct as_error *err)
{
    uint64_t *sum = context;
    for (size_t i = 0; i < r->chain_n; i++)
        *sum += r->chain[i];
    for (size_t i = 0; i < r->stack_b; i++)
        *sum += r->stack[i];
    for (size_t i = 0; r->regs && i < 17; i++)
        *sum += r->regs[i];
    *sum += r->text ? strlen(r->text) : 0;
    return recorder ? as_recorder_add(recorder, r, err) : 0;
}

/* An error with a sentence, or records. Now and then through the recorder too. */
static void survive(const uint8_t *p, size_t n, bool record)
{
    struct as_perf_data *data;
    struct as_error err = {0};
    uint64_t sum = 0;
    if (as_perf_data_open(as_file(p, n), &data, &err) < 0) {
        assert_null(data);
        assert_true(err.text[0] != 0);
        return;
    }
    if (record)
        assert_int_equal(
            as_recorder_new(session_stream(), as_perf_data_choice(data), 0, &recorder, &err), 0);
    if (as_perf_data_read(data, touch, &sum, &err) < 0)
        assert_true(err.text[0] != 0);
    if (record)
        assert_int_equal(as_recorder_finish(&recorder, as_perf_data_counts(data), &err), 0);
    as_perf_data_close(&data);
}

static void hurt(const struct bytes *file)
{
    static const uint8_t wrong[] = {0xff, 0x01, 0x80};
    for (size_t n = 0; n < file->b.n; n++) {
        uint8_t *copy = malloc(n + 1);
        memcpy(copy, file->b.at, n);
        survive(copy, n, n % 16 == 0);
        free(copy);
    }
    for (size_t i = 0; i < file->b.n; i++) {
        for (size_t k = 0; k < sizeof wrong; k++) {
            file->b.at[i] ^= wrong[k];
            survive(file->b.at, file->b.n, (i + k) % 16 == 0);
            file->b.at[i] ^= wrong[k];
        }
    }
}

static void test_damage(void **state)
{
    (void)state;
    struct event event = {.attr = clock_attr(TYPE | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER),
                          .id = {5},
                          .ids = 1};
    struct bytes data = {0}, packed = {0}, file = {0};
    make_whole(&file);
    hurt(&file);
    fini(&file);
    every_record(&data, &event.attr);
    make_pipe(&file, &event, 1, &data);
    hurt(&file);
    fini(&file);
    compress(&packed, &data, 333);
    make_file(&file, &event, 1, &packed, 0);
    hurt(&file);
    fini(&file);
    fini(&packed);
    fini(&data);
}

/* Out of memory at every place is an error, and nothing leaks. */
static void test_no_memory(void **state)
{
    (void)state;
    struct bytes file = {0};
    struct as_perf_data *data;
    struct as_error err = {0};
    int rc = -1;
    make_whole(&file);
    const char *path = as_file(file.b.at, file.b.n);
    for (int64_t after = 0; rc < 0; after++) {
        uint64_t sum = 0;
        as_alloc_fail_after(after);
        rc = as_perf_data_open(path, &data, &err);
        if (rc == 0)
            rc = as_perf_data_read(data, touch, &sum, &err);
        as_alloc_fail_after(-1);
        if (rc < 0)
            assert_int_equal(rc, AS_ERR_NOMEM);
        as_perf_data_close(&data);
    }
    fini(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),      cmocka_unit_test(test_facts),
        cmocka_unit_test(test_pipe),         cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_stacks),       cmocka_unit_test(test_branch_stacks),
        cmocka_unit_test(test_order),        cmocka_unit_test(test_events),
        cmocka_unit_test(test_fixed_period), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_unfinished),   cmocka_unit_test(test_damage),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("sample/perf-data", tests, NULL, NULL);
}
