/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams as blocks of threads. A requested part has all its records, and is read from its own
 * blocks. A stream without index, truncated at any byte or damaged yields its complete blocks in
 * order. Thousands of threads need no more memory than their records.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample/recorder.h"
#include "session.h"

static const struct as_sample_choice choice = {
    .event = AS_EVENT_CPU_CLOCK, .rate_hz = 499, .reason = "because"};

/* The compared fields of a record; `number` is its position among the written ones. */
struct fact {
    uint64_t time_ns, period, address;
    uint32_t tid, cpu;
    uint8_t kind;
    bool out, waits;
};

struct facts {
    AS_VEC(struct fact) fact;
    size_t infos;
    bool truncated;
    struct as_stream_reading reading;
};

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* Records of `threads` at random, each some microseconds after another, some late. */
static void write_random(const char *path, unsigned n, unsigned threads, unsigned flush_every,
                         struct facts *out, bool finish)
{
    struct as_recorder *recorder;
    struct as_error err = {0};
    uint64_t seed = n + threads, now_ns = 5000000000;
    assert_int_equal(as_recorder_new(path, &choice, 0, &recorder, &err), 0);
    for (unsigned i = 0; i < n; i++) {
        const uint64_t place = 0x1000 + next_random(&seed) % 300;
        now_ns += next_random(&seed) % 20000;
        struct as_sample_record one = {.kind = AS_SAMPLE_SAMPLE,
                                       .pid = 100,
                                       .tid = 100 + (uint32_t)(next_random(&seed) % threads),
                                       .cpu = (uint32_t)(next_random(&seed) % 4),
                                       .period = 2004008,
                                       .time_ns = now_ns - next_random(&seed) % 30000,
                                       .ip = place,
                                       .waits = next_random(&seed) % 7 == 0};
        struct fact fact = {.time_ns = one.time_ns,
                            .period = one.period,
                            .address = place,
                            .tid = one.tid,
                            .cpu = one.cpu,
                            .kind = AS_STREAM_SAMPLE,
                            .waits = one.waits};
        if (next_random(&seed) % 3 == 0) {
            one.kind = AS_SAMPLE_SWITCH;
            one.out = fact.out = next_random(&seed) % 2;
            fact.kind = AS_STREAM_SWITCH;
            fact.period = fact.address = fact.waits = 0;
        }
        assert_int_equal(as_recorder_add(recorder, &one, &err), 0);
        assert_int_equal(as_vec_push(&out->fact, fact), 0);
        if (flush_every && i % flush_every == flush_every - 1)
            assert_int_equal(as_recorder_flush(recorder, &err), 0);
        if (i == n / 2)
            assert_int_equal(as_recorder_info(recorder, "host", "here", &err), 0);
    }
    if (!finish) /* as if killed behind this */
        assert_int_equal(as_recorder_flush(recorder, &err), 0);
    else
        assert_int_equal(as_recorder_finish(&recorder, NULL, &err), 0);
    if (recorder) { /* its file as it is now */
        char command[256];
        snprintf(command, sizeof command, "cp %s %s.killed", path, path);
        assert_int_equal(system(command), 0);
        assert_int_equal(as_recorder_finish(&recorder, NULL, &err), 0);
        snprintf(command, sizeof command, "%s.killed", path);
        assert_int_equal(rename(command, path), 0);
    }
}

static void read_on(struct as_stream *stream, struct facts *out)
{
    struct as_stream_record r;
    struct as_error err;
    size_t n;
    int rc;
    while ((rc = as_stream_next(stream, &r, &err)) > 0) {
        out->infos += r.kind == AS_STREAM_INFO && strcmp(r.value, "here") == 0;
        if (r.kind == AS_STREAM_INFO)
            continue;
        const struct fact fact = {.time_ns = r.time_ns,
                                  .period = r.period,
                                  .address = as_stream_nodes(stream, &n)[r.node].address,
                                  .tid = as_stream_threads(stream, &n)[r.thread].tid,
                                  .cpu = r.cpu,
                                  .kind = r.kind,
                                  .out = r.out,
                                  .waits = r.waits};
        assert_int_equal(as_vec_push(&out->fact, fact), 0);
    }
    assert_int_equal(rc, 0);
    out->truncated = as_stream_truncated(stream);
    out->reading = as_stream_reading(stream);
}

static void read_file(const char *path, struct facts *out)
{
    struct as_stream *stream;
    struct as_error err = {0};
    *out = (struct facts){0};
    if (as_stream_open(path, &stream, &err) < 0)
        return;
    read_on(stream, out);
    as_stream_close(&stream);
}

static void assert_same(const struct fact *a, const struct fact *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->time_ns, b->time_ns);
    assert_int_equal(a->tid, b->tid);
    assert_int_equal(a->cpu, b->cpu);
    assert_int_equal(a->period, b->period);
    assert_int_equal(a->address, b->address);
    assert_int_equal(a->out, b->out);
    assert_int_equal(a->waits, b->waits);
}

/* All of `part` stands in `whole`, in this order. */
static void assert_within(const struct facts *part, const struct facts *whole)
{
    size_t at = 0;
    as_vec_foreach (&part->fact, fact) {
        while (at < whole->fact.n &&
               (whole->fact.at[at].time_ns != fact->time_ns || whole->fact.at[at].tid != fact->tid))
            at++;
        assert_true(at < whole->fact.n);
        assert_same(fact, &whole->fact.at[at++]);
    }
}

static void free_facts(struct facts *facts)
{
    as_vec_fini(&facts->fact);
}

/* ---- Order, and parts ---------------------------------------------------------------------- */

/* Records are read in the order of writing: few threads and many, with and without flushes. */
static void test_order(void **state)
{
    (void)state;
    static const unsigned threads[] = {1, 3, 200}, flush[] = {0, 7, 3000};
    for (unsigned i = 0; i < 9; i++) {
        const char *path = session_stream();
        struct facts in = {0}, out;
        write_random(path, i % 3 == 1 ? 3000 : 60000, threads[i / 3], flush[i % 3], &in, true);
        read_file(path, &out);
        assert_false(out.truncated);
        assert_true(out.reading.indexed);
        assert_int_equal(out.reading.loaded, out.reading.blocks);
        assert_int_equal(out.infos, 1);
        assert_int_equal(out.fact.n, in.fact.n);
        for (size_t k = 0; k < in.fact.n; k++)
            assert_same(&out.fact.at[k], &in.fact.at[k]);
        free_facts(&in);
        free_facts(&out);
    }
}

static size_t assert_part(struct as_stream *stream, const struct facts *all,
                          const struct as_stream_choice *wanted)
{
    struct as_error err;
    struct facts part = {0};
    size_t n = 0;
    assert_int_equal(as_stream_choose(stream, wanted, &err), 0);
    read_on(stream, &part);
    assert_int_equal(part.infos, 1);
    as_vec_foreach (&all->fact, fact) {
        bool is_of = wanted->thread_n == 0;
        for (size_t i = 0; i < wanted->thread_n; i++)
            is_of |= wanted->thread[i].tid == fact->tid;
        if (!is_of || fact->time_ns < wanted->from_ns ||
            (wanted->to_ns && fact->time_ns >= wanted->to_ns))
            continue;
        assert_true(n < part.fact.n);
        assert_same(&part.fact.at[n++], fact);
    }
    assert_int_equal(part.fact.n, n);
    free_facts(&part);
    return n;
}

static void test_parts(void **state)
{
    (void)state;
    const char *path = session_stream();
    struct facts all = {0};
    struct as_stream *stream;
    struct as_error err;
    struct as_stream_thread some[3];
    uint64_t seed = 3;
    write_random(path, 80000, 20, 1000, &all, true);
    const uint64_t first = all.fact.at[0].time_ns, last = all.fact.at[all.fact.n - 1].time_ns;
    assert_int_equal(as_stream_open(path, &stream, &err), 0);
    for (unsigned i = 0; i < 60; i++) {
        struct as_stream_choice wanted = {.thread = some, .thread_n = i % 4};
        for (unsigned k = 0; k < 3; k++)
            some[k] = (struct as_stream_thread){100, 100 + (uint32_t)next_random(&seed) % 22};
        wanted.from_ns = i % 5 ? first + next_random(&seed) % (last - first) : 0;
        wanted.to_ns = i % 3 ? wanted.from_ns + next_random(&seed) % (last - first) : 0;
        assert_part(stream, &all, &wanted);
    }
    /* A moment of a long run costs what that moment has. */
    as_stream_close(&stream);
    assert_int_equal(as_stream_open(path, &stream, &err), 0);
    const struct as_stream_choice moment = {.from_ns = last - 5000000, .to_ns = last};
    assert_true(assert_part(stream, &all, &moment) > 100);
    const struct as_stream_reading reading = as_stream_reading(stream);
    assert_true(reading.indexed);
    assert_true(reading.loaded < reading.blocks / 4);
    /* And all once more. */
    assert_int_equal(as_stream_choose(stream, NULL, &err), 0);
    struct facts again = {0};
    read_on(stream, &again);
    assert_int_equal(again.fact.n, all.fact.n);
    as_stream_close(&stream);
    free_facts(&again);
    free_facts(&all);
}

/* ---- Killed, cut, damaged ------------------------------------------------------------------ */

static uint8_t *load_file(const char *path, size_t *n)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    *n = (size_t)st.st_size;
    uint8_t *bytes = malloc(*n + 1);
    FILE *f = fopen(path, "rb");
    assert_true(bytes && f && fread(bytes, 1, *n, f) == *n);
    fclose(f);
    return bytes;
}

static void store_file(const char *path, const uint8_t *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_true(f && fwrite(bytes, 1, n, f) == n);
    fclose(f);
}

/* Flushed records are kept. A stream cut in the last two rounds has all earlier rounds. */
static void test_killed(void **state)
{
    (void)state;
    const char *path = session_stream();
    struct facts in = {0}, out;
    size_t n, most = 0;
    write_random(path, 1200, 6, 100, &in, false);
    uint8_t *bytes = load_file(path, &n);
    for (size_t cut = 0; cut <= n; cut += cut < n - n / 5 && cut + 97 < n ? 97 : 1) {
        store_file(path, bytes, cut);
        read_file(path, &out);
        assert_true(out.truncated || cut < AS_CONTAINER_START_B);
        assert_false(out.reading.indexed);
        assert_true(out.fact.n >= most);
        if (cut >= n - n / 5)
            assert_true(out.fact.n >= 800);
        most = out.fact.n;
        for (size_t i = 0; i < out.fact.n && cut == n; i++)
            assert_same(&out.fact.at[i], &in.fact.at[i]);
        assert_within(&out, &in);
        free_facts(&out);
    }
    assert_int_equal(most, 1200);
    free(bytes);
    free_facts(&in);
}

/* Without the index, or with one that is damaged, the blocks are found all the same. */
static void test_without_index(void **state)
{
    (void)state;
    const char *path = session_stream();
    struct facts in = {0}, out;
    size_t n;
    write_random(path, 5000, 6, 500, &in, true);
    uint8_t *bytes = load_file(path, &n);
    for (size_t back = 1; back < 90; back++) {
        bytes[n - back] ^= 0x40;
        store_file(path, bytes, n);
        read_file(path, &out);
        assert_true(out.truncated && !out.reading.indexed);
        assert_int_equal(out.fact.n, 5000);
        for (size_t i = 0; i < out.fact.n; i++)
            assert_same(&out.fact.at[i], &in.fact.at[i]);
        bytes[n - back] ^= 0x40;
        free_facts(&out);
    }
    free(bytes);
    free_facts(&in);
}

/* A block that is damaged is left out, counted and said; all others are read, with or without
 * index. */
static void test_damaged_block(void **state)
{
    (void)state;
    const char *path = session_stream();
    struct facts in = {0}, out;
    struct as_container file;
    size_t n;
    write_random(path, 5000, 4, 250, &in, true);
    uint8_t *bytes = load_file(path, &n);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(as_container_open(&file, fd), 0);
    close(fd);
    assert_true(file.block.n > 20);
    for (size_t i = 0; i < 2 * file.block.n; i++) {
        const struct as_container_block *block = &file.block.at[i / 2];
        const size_t at = block->offset + (i % 3 == 0 ? 16 : i % 3 == 1 ? 0 : 44);
        bytes[at] ^= 0x11; /* its length, its magic, its payload */
        store_file(path, bytes, i % 2 ? n - AS_CONTAINER_END_B : n);
        read_file(path, &out);
        assert_true(out.truncated || i % 2 == 0);
        assert_true(out.reading.damaged >= 1);
        if (!(block->flags & AS_CONTAINER_DEFINES)) {
            const size_t gone = in.fact.n - out.fact.n; /* facts on the recording have no time */
            assert_true(gone <= block->records);
            assert_true(gone == block->records || block->flags & AS_CONTAINER_FACTS);
            assert_within(&out, &in);
        }
        bytes[at] ^= 0x11;
        free_facts(&out);
    }
    as_container_close(&file);
    free(bytes);
    free_facts(&in);
}

/* ---- Many threads --------------------------------------------------------------------------- */

/* 5,000 threads with a record a second each: what they take is their records, not heads. */
static void test_many_threads(void **state)
{
    (void)state;
    const char *path = session_stream();
    struct facts in = {0}, out;
    struct stat st;
    write_random(path, 100000, 5000, 8000, &in, true);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size < 100000 * 14);
    read_file(path, &out);
    assert_false(out.truncated);
    assert_int_equal(out.fact.n, in.fact.n);
    for (size_t k = 0; k < in.fact.n; k++)
        assert_same(&out.fact.at[k], &in.fact.at[k]);
    assert_true(out.reading.blocks < 100);
    free_facts(&in);
    free_facts(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),         cmocka_unit_test(test_parts),
        cmocka_unit_test(test_killed),        cmocka_unit_test(test_without_index),
        cmocka_unit_test(test_damaged_block), cmocka_unit_test(test_many_threads),
    };
    return cmocka_run_group_tests_name("sample/blocks", tests, NULL, NULL);
}
