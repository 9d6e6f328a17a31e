/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the bytes are what `perf record` wrote. Each record must keep the promises of
 * sample/sample.h; what a recorder makes of them is read again, and must be what went in.
 */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sample/sample.h"
#include "scratch.h"

struct taken {
    struct as_recorder *recorder;
    uint64_t records, samples;
};

/* Files that records name are those of this machine: never opened. */
static void move_path(struct as_sample_record *record, char *path, size_t path_b)
{
    if (record->kind != AS_SAMPLE_MAP || !record->text || record->text[0] == '[')
        return;
    snprintf(path, path_b, "/nowhere/%.4000s", record->text);
    record->text = path;
}

static int take(void *context, const struct as_sample_record *record, struct as_error *err)
{
    struct taken *taken = context;
    struct as_sample_record copy = *record;
    char path[4096];
    FUZZ_CHECK(record->kind <= AS_SAMPLE_THROTTLE);
    FUZZ_CHECK(record->build_id_b <= sizeof record->build_id);
    FUZZ_CHECK((record->kind != AS_SAMPLE_MAP && record->kind != AS_SAMPLE_COMM) || record->text);
    FUZZ_CHECK((uintptr_t)record->chain % 8 == 0 && (uintptr_t)record->calls % 8 == 0);
    fuzz_touch_string(record->text);
    fuzz_touch(record->chain, 8 * record->chain_n);
    fuzz_touch(record->calls, record->calls ? 24 * record->call_n : 0);
    fuzz_touch(record->stack, record->stack_b);
    fuzz_touch(record->regs, record->regs ? 8 * AS_UNWIND_REGISTERS : 0);
    taken->records++;
    taken->samples += record->kind == AS_SAMPLE_SAMPLE;
    move_path(&copy, path, sizeof path);
    return taken->recorder ? as_recorder_add(taken->recorder, &copy, err) : 0;
}

static void look_facts(const struct as_perf_data *data)
{
    const struct as_perf_facts *facts = as_perf_data_facts(data);
    const char *text[] = {facts->host,   facts->os_release, facts->perf_version,
                          facts->cpu_id, facts->cpu_model,  as_perf_data_damage(data)};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        fuzz_touch_string(text[i]);
    for (size_t i = 0; facts->perf_argv && facts->perf_argv[i]; i++)
        fuzz_touch_string(facts->perf_argv[i]);
    for (size_t i = 0; facts->argv && facts->argv[i]; i++)
        fuzz_touch_string(facts->argv[i]);
    for (size_t i = 0; i < facts->event_n; i++)
        fuzz_touch_string(facts->event[i].name);
    FUZZ_CHECK(facts->event_n > 0 && facts->stacks <= AS_STACKS_LBR);
    FUZZ_CHECK(facts->first_ns <= facts->last_ns);
    FUZZ_CHECK(facts->last_ns <= INT64_MAX && facts->memory_b <= INT64_MAX);
    int64_t since_1970;
    FUZZ_CHECK(
        !__builtin_add_overflow((int64_t)facts->last_ns, facts->clock_offset_ns, &since_1970));
    FUZZ_CHECK(
        !__builtin_add_overflow((int64_t)facts->first_ns, facts->clock_offset_ns, &since_1970));
    const struct as_sample_choice *choice = as_perf_data_choice(data);
    FUZZ_CHECK(choice->imported && choice->rate_hz > 0 && choice->event < AS_EVENTS);
    fuzz_touch_string(choice->reason);
}

/* The stream that came of it: whole, and with as many samples. */
static void read_back(const char *path, uint64_t samples)
{
    struct as_stream *stream;
    struct as_stream_record record;
    struct as_error err = {0};
    uint64_t n = 0;
    FUZZ_CHECK(as_stream_open(path, &stream, &err) == 0);
    while (as_stream_next(stream, &record, &err) == 1)
        n += record.kind == AS_STREAM_SAMPLE;
    FUZZ_CHECK(!as_stream_truncated(stream) && n == samples);
    as_stream_close(&stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    struct as_perf_data *data;
    struct as_error err = {0};
    struct taken taken = {0};
    const bool record = size_b % 4 == 0;
    int rc = as_perf_data_open(scratch_write("perf.data", bytes, size_b), &data, &err);
    if (rc < 0) {
        fuzz_check_error(rc, &err);
        return 0;
    }
    const char *stream = scratch_path("main.samples");
    look_facts(data);
    if (record)
        FUZZ_CHECK(as_recorder_new(stream, as_perf_data_choice(data), 0, &taken.recorder, &err) ==
                   0);
    rc = as_perf_data_read(data, take, &taken, &err);
    FUZZ_CHECK(rc == 0);
    look_facts(data);
    FUZZ_CHECK(as_perf_data_counts(data)->samples == taken.samples);
    if (record) {
        FUZZ_CHECK(as_recorder_finish(&taken.recorder, as_perf_data_counts(data), &err) == 0);
        read_back(stream, taken.samples);
        unlink(stream);
    }
    as_perf_data_close(&data);
    return 0;
}
