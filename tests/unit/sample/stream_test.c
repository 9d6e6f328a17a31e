/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder and the stream without a kernel: records made by hand go in, the same facts come
 * out; cut at every byte the reader gives what stands before; damage never leads astray.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "sample/recorder.h"
#include "sample/sampler.h"
#include "session.h"

static const struct as_sample_choice choice = {
    .event = AS_EVENT_CPU_CLOCK, .rate_hz = 499, .reason = "because"};

static void give(struct as_recorder *recorder, struct as_sample_record record)
{
    struct as_error err;
    assert_int_equal(as_recorder_add(recorder, &record, &err), 0);
}

static void give_map(struct as_recorder *recorder, uint32_t pid, uint64_t address, uint64_t size_b,
                     uint64_t offset, const char *path)
{
    give(recorder, (struct as_sample_record){.kind = AS_SAMPLE_MAP,
                                             .pid = pid,
                                             .tid = pid,
                                             .time_ns = 1000,
                                             .address = address,
                                             .size_b = size_b,
                                             .offset = offset,
                                             .inode = 7,
                                             .text = path});
}

static void give_chain(struct as_recorder *recorder, uint32_t pid, uint32_t tid, uint64_t time_ns,
                       const uint64_t *chain, size_t n)
{
    give(recorder, (struct as_sample_record){.kind = AS_SAMPLE_SAMPLE,
                                             .pid = pid,
                                             .tid = tid,
                                             .cpu = tid % 3,
                                             .time_ns = time_ns,
                                             .period = 2004008,
                                             .ip = n ? chain[n - 1] : 0x1234,
                                             .chain = chain,
                                             .chain_n = n});
}

/* Two processes, one a fork of the other that then executes; maps that replace each other. */
static void write_stream(const char *path, unsigned samples)
{
    struct as_recorder *recorder;
    struct as_error err = {0};
    struct as_sample_counts counts = {.samples = samples, .lost = 5, .late = 2};
    if (as_recorder_new(path, &choice, 0, &recorder, &err) < 0)
        fail_msg("%s", err.text);
    give_map(recorder, 10, 0x400000, 0x10000, 0x1000, "/bin/one");
    give_map(recorder, 10, 0x404000, 0x2000, 0, "/lib/two"); /* in the middle of one */
    give_map(recorder, 10, 0x500000, 0x1000, 0, "//anon");
    give(recorder, (struct as_sample_record){.kind = AS_SAMPLE_COMM,
                                             .pid = 10,
                                             .tid = 10,
                                             .text = "one",
                                             .out = false,
                                             .time_ns = 1500});
    give(recorder, (struct as_sample_record){.kind = AS_SAMPLE_FORK,
                                             .pid = 20,
                                             .tid = 20,
                                             .parent_pid = 10,
                                             .parent_tid = 10,
                                             .time_ns = 1600});
    for (unsigned i = 0; i < samples; i++) {
        const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL,
                                  0xffffffff81000010u,
                                  0xffffffff81000021u,
                                  (uint64_t)PERF_CONTEXT_USER,
                                  0x404010 + i % 50,
                                  0x400101,
                                  0x408001,
                                  0x500005};
        give_chain(recorder, i % 2 ? 10 : 20, i % 2 ? 10 : 20, 2000 + i * 1000, chain, 8);
    }
    give(recorder, (struct as_sample_record){
                       .kind = AS_SAMPLE_COMM, .pid = 20, .tid = 20, .text = "new", .out = true});
    give_chain(recorder, 20, 20, 9000000, (const uint64_t[]){0x400100}, 0);
    give(recorder,
         (struct as_sample_record){.kind = AS_SAMPLE_LOST, .pid = 10, .tid = 11, .lost = 5});
    if (as_recorder_finish(&recorder, &counts, &err) < 0)
        fail_msg("%s", err.text);
    assert_null(recorder);
}

static void test_facts(void **state)
{
    (void)state;
    const char *path = session_stream();
    struct as_stream *stream;
    struct as_stream_record r;
    struct as_error err;
    size_t samples = 0, infos = 0, maps = 0, modules, nodes, threads;
    uint64_t lost = 0, dropped;
    write_stream(path, 1000);
    assert_int_equal(as_stream_open(path, &stream, &err), 0);
    while (as_stream_next(stream, &r, &err) > 0) {
        const struct as_stream_module *m = as_stream_modules(stream, &modules);
        const struct as_stream_node *node = as_stream_nodes(stream, &nodes);
        const struct as_stream_thread *thread = as_stream_threads(stream, &threads);
        lost += r.lost;
        maps += r.kind == AS_STREAM_MAP;
        if (r.kind == AS_STREAM_INFO && infos++ == 0) {
            assert_string_equal(r.text, "event");
            assert_string_equal(r.value, "cpu-clock");
        }
        if (r.kind == AS_STREAM_COMM && r.out)
            assert_string_equal(r.text, "new");
        if (r.kind == AS_STREAM_FORK) {
            assert_int_equal(thread[r.thread].pid, 20);
            assert_int_equal(thread[r.parent].pid, 10);
        }
        if (r.kind != AS_STREAM_SAMPLE)
            continue;
        if (samples == 1000) { /* after exec nothing is mapped */
            assert_int_equal(m[node[r.node].module].kind, AS_MODULE_UNKNOWN);
            assert_int_equal(node[r.node].parent, 0);
            break;
        }
        unsigned i = (unsigned)samples++;
        assert_int_equal(r.time_ns, 2000 + i * 1000);
        assert_int_equal(thread[r.thread].pid, i % 2 ? 10 : 20);
        assert_int_equal(r.cpu, i % 2 ? 10 % 3 : 20 % 3);
        assert_int_equal(r.period, 2004008);
        /* Innermost first: the exact address, then the calls before the return addresses. */
        const uint64_t address[] = {
            0xffffffff81000010u, 0xffffffff81000020u, 0x10 + i % 50, 0x1100, 0x9000, 0x500004};
        const char *name[] = {"[kernel]", "[kernel]", "/lib/two", "/bin/one", "/bin/one", "//anon"};
        uint32_t at = r.node;
        for (unsigned k = 0; k < 6; k++, at = node[at].parent) {
            assert_int_not_equal(at, 0);
            assert_int_equal(node[at].address, address[k]);
            assert_string_equal(m[node[at].module].path, name[k]);
        }
        assert_int_equal(at, 0);
    }
    while (as_stream_next(stream, &r, &err) > 0)
        lost += r.lost;
    assert_int_equal(samples, 1000);
    assert_int_equal(maps, 3);
    assert_int_equal(lost, 5);
    assert_false(as_stream_truncated(stream));
    assert_int_equal(as_stream_counts(stream, &dropped)->late, 2);
    assert_int_equal(dropped, 0);
    as_stream_nodes(stream, &nodes);
    assert_int_equal(nodes, 1 + 3 + 50 * 3 + 1); /* each path once */
    as_stream_close(&stream);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size < 1000 * 10 + 4096);
}

/* Reads all; the number of samples. Every value handed out is within its table. */
static size_t walk(const char *path, bool *truncated)
{
    struct as_stream *stream;
    struct as_stream_record r;
    struct as_error err;
    size_t samples = 0, n;
    *truncated = true;
    if (as_stream_open(path, &stream, &err) < 0)
        return 0;
    while (as_stream_next(stream, &r, &err) > 0) {
        const struct as_stream_node *node = as_stream_nodes(stream, &n);
        assert_true(r.node < n);
        as_stream_modules(stream, &n);
        for (uint32_t at = r.node; at; at = node[at].parent)
            assert_true(node[at].parent < at && node[at].module < n);
        assert_true(r.module < n || r.kind != AS_STREAM_MAP);
        as_stream_threads(stream, &n);
        assert_true(r.thread < n || r.kind == AS_STREAM_INFO);
        samples += r.kind == AS_STREAM_SAMPLE;
    }
    *truncated = as_stream_truncated(stream) || as_stream_reading(stream).damaged > 0;
    as_stream_close(&stream);
    return samples;
}

static unsigned open_descriptors(void)
{
    unsigned n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static uint8_t *load(const char *path, size_t *n)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    *n = (size_t)st.st_size;
    uint8_t *bytes = malloc(*n);
    FILE *f = fopen(path, "rb");
    assert_true(bytes && f && fread(bytes, 1, *n, f) == *n);
    fclose(f);
    return bytes;
}

static void store(const char *path, const uint8_t *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_true(f && fwrite(bytes, 1, n, f) == n);
    fclose(f);
}

static void test_every_length(void **state)
{
    (void)state;
    const char *path = session_stream();
    size_t n, most = 0;
    bool truncated;
    write_stream(path, 20000); /* several blocks */
    uint8_t *bytes = load(path, &n);
    assert_int_equal(walk(path, &truncated), 20001);
    assert_false(truncated);
    for (size_t cut = 0; cut < n; cut += n / 60) {
        store(path, bytes, cut);
        size_t samples = walk(path, &truncated);
        assert_true(truncated && samples >= most && samples <= 20001);
        most = samples;
    }
    assert_true(most > 5000); /* whole blocks are kept */
    free(bytes);
}

/* ---- Files -------------------------------------------------------------------------------- */

#define HERE "./stream-module"

/* A file of this process: what is mapped is what the record says. */
static void give_file(struct as_recorder *recorder, const char *path, uint64_t address)
{
    struct stat st = {0};
    assert_int_equal(stat(path, &st), 0);
    char *full = realpath(path, NULL);
    give(recorder, (struct as_sample_record){.kind = AS_SAMPLE_MAP,
                                             .pid = (uint32_t)getpid(),
                                             .tid = (uint32_t)getpid(),
                                             .time_ns = 1000,
                                             .address = address,
                                             .size_b = 0x1000,
                                             .inode = st.st_ino,
                                             .text = full});
    free(full);
}

static void give_place(struct as_recorder *recorder, uint64_t address)
{
    give_chain(recorder, (uint32_t)getpid(), (uint32_t)getpid(), 2000, &address, 1);
}

/* The modules of the stream that are files, of which there are `n`. */
static const struct as_stream_module *files_of(struct as_stream *stream, size_t n)
{
    struct as_stream_record r;
    struct as_error err;
    size_t modules;
    while (as_stream_next(stream, &r, &err) > 0)
        ;
    const struct as_stream_module *module = as_stream_modules(stream, &modules);
    assert_int_equal(modules, 3 + n);
    return module + 3;
}

static void remove_copies(void)
{
    (void)!system("rm -f " HERE "-* module-3 module-4 module-5 module-6");
}

/* One that is replaced, deleted, written over, left alone, or has no samples: copies are made of
 * what is gone and needed, and nothing else is opened in its place. */
static void test_files(void **state)
{
    (void)state;
    static const char *const name[] = {HERE "-replaced", HERE "-over", HERE "-same", HERE "-idle"};
    const char *path = session_stream();
    struct as_recorder *recorder;
    struct as_stream *stream;
    struct as_error err = {0};
    struct as_object *object;
    remove_copies();
    for (unsigned i = 0; i < 4; i++) {
        char command[256];
        snprintf(command, sizeof command, "cp '%s' %s", LIBRARY, name[i]);
        assert_int_equal(system(command), 0);
    }
    assert_int_equal(as_recorder_new(path, &choice, 0, &recorder, &err), 0);
    assert_int_equal(as_recorder_keep(recorder, ".", &err), 0);
    for (unsigned i = 0; i < 4; i++)
        give_file(recorder, name[i], 0x10000 * (i + 1));
    for (unsigned i = 0; i < 3; i++)
        give_place(recorder, 0x10000 * (i + 1) + 16);
    assert_int_equal(system("cp " TARGETS "/sample-spin " HERE "-new && mv " HERE "-new " HERE
                            "-replaced && cat " TARGETS "/sample-spin >" HERE "-over && rm " HERE
                            "-idle"),
                     0);
    assert_int_equal(as_recorder_finish(&recorder, NULL, &err), 0);
    assert_int_equal(as_stream_open(path, &stream, &err), 0);
    const struct as_stream_module *file = files_of(stream, 4);
    assert_string_equal(file[0].kept, "module-3");
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(file[i].file.known, AS_FILE_SEEN);
        assert_true(i == 0 || !file[i].kept);
        const int rc = as_sample_module_open(&file[i], NULL, ".", NULL, &object, &err);
        assert_int_equal(rc, i == 0 || i == 2 ? 0 : AS_ERR_NOT_FOUND);
        as_object_close(&object);
    }
    /* Another file at its path is not accepted. */
    assert_int_equal(as_sample_module_open(&file[0], NULL, NULL, NULL, &object, &err),
                     AS_ERR_NOT_FOUND);
    as_stream_close(&stream);
    remove_copies();
}

/* More files than are held: those with samples keep their copies, the others are known all the
 * same. */
static void test_many_files(void **state)
{
    (void)state;
    enum { N = AS_STOPPED_MAX + 20 };
    const char *path = session_stream();
    struct as_recorder *recorder;
    struct as_stream *stream;
    struct as_error err = {0};
    char name[64];
    remove_copies();
    assert_int_equal(as_recorder_new(path, &choice, 0, &recorder, &err), 0);
    assert_int_equal(as_recorder_keep(recorder, ".", &err), 0);
    for (unsigned i = 0; i < N; i++) {
        snprintf(name, sizeof name, HERE "-%u", i);
        store(name, (const uint8_t *)&i, sizeof i);
        give_file(recorder, name, 0x10000 * (i + 1ull));
        if (i == 0)
            give_place(recorder, 0x10000 + 16);
    }
    assert_true(open_descriptors() <= AS_STOPPED_MAX + 32);
    give_place(recorder, 0x20000 + 16); /* let go by then */
    assert_int_equal(system("rm " HERE "-0 " HERE "-1"), 0);
    assert_int_equal(as_recorder_finish(&recorder, NULL, &err), 0);
    assert_int_equal(as_stream_open(path, &stream, &err), 0);
    const struct as_stream_module *file = files_of(stream, N);
    assert_string_equal(file[0].kept, "module-3");
    assert_null(file[1].kept);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(file[i].file.known, AS_FILE_SEEN);
    as_stream_close(&stream);
    remove_copies();
}

/* A stream of the first version, by hand: MODULE without what the second one added. */
static void test_first_version(void **state)
{
    (void)state;
    const char *path = session_stream();
    uint8_t bytes[] = "ASSAYSMP\1\0\0\0\0\0\0\0"
                      "\x0d\0\0\0\0\0\0\0"    /* 13 bytes */
                      "\2\0\6/a/bin\5\7\0\0"; /* FILE, path, device 5, inode 7, no more */
    const uint32_t sum = (uint32_t)crc32(0, bytes + 24, 13);
    struct as_stream *stream;
    struct as_stream_record r;
    struct as_error err;
    size_t n;
    memcpy(bytes + 20, &sum, sizeof sum);
    store(path, bytes, sizeof bytes - 1);
    assert_int_equal(as_stream_open(path, &stream, &err), 0);
    while (as_stream_next(stream, &r, &err) > 0)
        ;
    const struct as_stream_module *module = as_stream_modules(stream, &n);
    assert_int_equal(n, 1);
    assert_string_equal(module->path, "/a/bin");
    assert_int_equal(module->file.inode, 7);
    assert_int_equal(module->file.known, AS_FILE_INODE);
    as_stream_close(&stream);
}

static void mend_sum(uint8_t *bytes, size_t n)
{
    const uint32_t sum = (uint32_t)crc32(crc32(0, NULL, 0), bytes + 24, (unsigned)(n - 24));
    memcpy(bytes + 20, &sum, sizeof sum);
}

/* One of the second version: blocks as they are, each node with its place, times first. */
static void test_second_version(void **state)
{
    (void)state;
    const char *path = session_stream();
    uint8_t bytes[] = "ASSAYSMP\2\0\0\0\0\0\0\0"
                      "\x2a\0\0\0\0\0\0\0"                   /* so many bytes */
                      "\2\0\6/a/bin\5\7\0\0\1\0\0"           /* MODULE */
                      "\3\x0a\x0b\4\1\0\x20\4\1\0\4"         /* THREAD, two NODEs */
                      "\x80\x14\0\1\x05\4\x87\x06\1\x87\4\0" /* SAMPLEs */
                      "\x0c\2\0\1";                          /* SWITCH in */
    static const uint64_t time_ns[] = {10, 13, 15, 16}, address[] = {18, 16, 16, 0};
    struct as_stream *stream;
    struct as_stream_record r;
    struct as_error err;
    size_t n = 0, nodes;
    bytes[16] = sizeof bytes - 1 - 24;
    mend_sum(bytes, sizeof bytes - 1);
    store(path, bytes, sizeof bytes - 1);
    assert_int_equal(as_stream_open(path, &stream, &err), 0);
    for (; as_stream_next(stream, &r, &err) > 0; n++) {
        assert_true(n < 4);
        assert_int_equal(r.time_ns, time_ns[n]);
        assert_int_equal(as_stream_nodes(stream, &nodes)[r.node].address, address[n]);
        assert_int_equal(r.period, n < 3 ? 5 : 0);
    }
    assert_int_equal(n, 4);
    as_stream_close(&stream);
}

/* One of the third: a packed block, known places by their number, times last and by periods. */
static void test_third_version(void **state)
{
    (void)state;
    static const uint8_t block[] = "\2\0\6/a/bin\5\7\0\0\1\0\0" /* MODULE */
                                   "\3\x0a\x0b\3\x0a\x0c"       /* two THREADs */
                                   "\4\1\0\0\x20\4\1\1"         /* NODE, and one at its place */
                                   "\x80\0\1\x05\4\x0a"         /* SAMPLE: at 0 + 5 + 5 */
                                   "\x86\1\1\4"                 /* of the other, at 0 + 5 + 2 */
                                   "\x87\2\2"                   /* and at 7 + 5 + 1 */
                                   "\x0c\4\0\1";                /* SWITCH in */
    static const uint64_t time_ns[] = {10, 7, 13, 15};
    static const uint32_t tid[] = {11, 12, 12, 11};
    const size_t block_b = sizeof block - 1;
    uint8_t bytes[24 + 9 + sizeof block] = "ASSAYSMP\3";
    struct as_stream *stream;
    struct as_stream_record r;
    struct as_error err;
    const char *path = session_stream();
    size_t n = 0, nodes, threads;
    bytes[16] = (uint8_t)(9 + block_b);
    memcpy(bytes + 24, "\x28\xb5\x2f\xfd\0\x38", 6); /* a frame of zstd, bytes as they are */
    bytes[30] = (uint8_t)(block_b << 3 | 1);
    bytes[31] = (uint8_t)(block_b >> 5);
    memcpy(bytes + 33, block, block_b);
    mend_sum(bytes, 33 + block_b);
    store(path, bytes, 33 + block_b);
    assert_int_equal(as_stream_open(path, &stream, &err), 0);
    for (unsigned again = 0; again < 2; again++, n = 0) {
        for (; as_stream_next(stream, &r, &err) > 0; n++) {
            assert_true(n < 4);
            assert_int_equal(r.time_ns, time_ns[n]);
            assert_int_equal(as_stream_threads(stream, &threads)[r.thread].tid, tid[n]);
            assert_int_equal(r.node, n < 3 ? (n == 0 ? 2 : n == 1 ? 1 : 2) : 0);
            if (r.node)
                assert_int_equal(as_stream_nodes(stream, &nodes)[r.node].address, 16);
        }
        assert_int_equal(n, 4);
        assert_int_equal(as_stream_choose(stream, NULL, &err), 0);
    }
    const struct as_stream_choice late = {.from_ns = 11, .to_ns = 14};
    assert_int_equal(as_stream_choose(stream, &late, &err), 0);
    assert_int_equal(as_stream_next(stream, &r, &err), 1);
    assert_int_equal(r.time_ns, 13);
    assert_int_equal(as_stream_next(stream, &r, &err), 0);
    as_stream_close(&stream);
}

/* The same blocks, none of them packed. */
static void unpack_all(const char *path)
{
    struct as_container file;
    struct as_container_writer *writer;
    struct as_error err = {0};
    uint8_t *payload = malloc(AS_CONTAINER_BLOCK_B);
    size_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(as_container_open(&file, fd), 0);
    unlink(path);
    assert_int_equal(as_container_create(path, AS_STREAM_MAGIC, AS_STREAM_VERSION, &writer, &err),
                     0);
    for (size_t i = 0; i < file.block.n; i++) {
        struct as_container_block block = file.block.at[i];
        assert_true(as_container_load(&file, i, payload, &n));
        block.flags |= AS_CONTAINER_PLAIN;
        assert_int_equal(as_container_write(writer, &block, payload, n), 0);
    }
    assert_int_equal(as_container_finish(&writer, &err), 0);
    as_container_close(&file);
    close(fd);
    free(payload);
}

static void mend_block(uint8_t *bytes, const struct as_container_block *block)
{
    uint8_t *head = bytes + block->offset;
    const uint32_t sum =
        (uint32_t)crc32(crc32(0, NULL, 0), head + 8, AS_CONTAINER_HEAD_B - 8 + block->stored_b);
    memcpy(head + 4, &sum, sizeof sum);
}

/* Damages each byte of each block and corrects the checksum. So the damage reaches the reader of
 * the protected bytes. */
static void damage_all(const char *path)
{
    struct as_container file;
    bool truncated;
    size_t n;
    uint8_t *bytes = load(path, &n);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(as_container_open(&file, fd), 0);
    close(fd);
    assert_true(file.indexed && file.block.n >= 2);
    as_vec_foreach (&file.block, block)
        for (size_t i = 8; i < AS_CONTAINER_HEAD_B + block->stored_b; i++)
            for (unsigned c = 1; c < 256; c = c * 3 + 1) {
                bytes[block->offset + i] ^= (uint8_t)c;
                mend_block(bytes, block);
                store(path, bytes, n);
                walk(path, &truncated);
                bytes[block->offset + i] ^= (uint8_t)c;
                mend_block(bytes, block);
            }
    as_container_close(&file);
    free(bytes);
}

static void test_damage(void **state)
{
    (void)state;
    const char *path = session_stream();
    size_t n;
    bool truncated;
    write_stream(path, 60);
    uint8_t *bytes = load(path, &n);
    bytes[20] ^= 1;
    store(path, bytes, n);
    assert_int_equal(walk(path, &truncated), 0); /* the checksum tells: nothing is defined */
    assert_true(truncated);
    bytes[20] ^= 1;
    store(path, bytes, n);
    damage_all(path);
    store(path, bytes, n);
    unpack_all(path);
    assert_int_equal(walk(path, &truncated), 61);
    assert_false(truncated);
    damage_all(path);
    free(bytes);
}

static size_t plain_blocks(const char *path)
{
    struct as_container file;
    size_t plain = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(as_container_open(&file, fd), 0);
    as_vec_foreach (&file.block, block)
        plain += block->flags & AS_CONTAINER_PLAIN;
    as_container_close(&file);
    close(fd);
    return plain;
}

/* Records of switches at `every_ns`, between them samples: so many of the blocks are not packed. */
static size_t write_switches(const char *path, uint64_t every_ns)
{
    enum { N = 60000 };
    struct as_recorder *recorder;
    struct as_stream *stream;
    struct as_stream_record r;
    struct as_error err = {0};
    size_t n = 0;
    assert_int_equal(as_recorder_new(path, &choice, 0, &recorder, &err), 0);
    for (unsigned i = 0; i < N; i++)
        if (i % 50)
            give(recorder, (struct as_sample_record){.kind = AS_SAMPLE_SWITCH,
                                                     .pid = 100,
                                                     .tid = 100 + i % 7,
                                                     .out = i % 2,
                                                     .preempted = i % 4 == 1,
                                                     .time_ns = 1000 + i * every_ns});
        else
            give_chain(recorder, 100, 100, 1000 + i * every_ns, (const uint64_t[]){0x1000 + i}, 1);
    assert_int_equal(as_recorder_finish(&recorder, NULL, &err), 0);
    assert_int_equal(as_stream_open(path, &stream, &err), 0);
    while (as_stream_next(stream, &r, &err) > 0) {
        if (r.kind != AS_STREAM_SAMPLE && r.kind != AS_STREAM_SWITCH)
            continue;
        assert_int_equal(r.kind == AS_STREAM_SAMPLE, n % 50 == 0);
        assert_int_equal(r.time_ns, 1000 + n * every_ns);
        if (r.kind == AS_STREAM_SWITCH) {
            assert_int_equal(r.out, n % 2);
            assert_int_equal(r.preempted, n % 4 == 1);
        }
        n++;
    }
    assert_false(as_stream_truncated(stream));
    assert_int_equal(n, N);
    as_stream_close(&stream);
    return plain_blocks(path);
}

/* Records of a busy program are written as they are, among packed blocks; few switches are
 * packed. */
static void test_switches(void **state)
{
    (void)state;
    const char *path = session_stream();
    assert_true(write_switches(path, 5000) >= 3);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(write_switches(path, 100000), 0);
}

/* A block that says to be more than a block is when it is unpacked. */
static void test_too_large(void **state)
{
    (void)state;
    const char *path = session_stream();
    /* A block of 128 KiB of one byte. */
    uint8_t bytes[] = "ASSAYSMP\3\0\0\0\0\0\0\0"
                      "\x0a\0\0\0\0\0\0\0"
                      "\x28\xb5\x2f\xfd\0\x38\x03\0\x10\1";
    bool truncated;
    mend_sum(bytes, sizeof bytes - 1);
    store(path, bytes, sizeof bytes - 1);
    assert_int_equal(walk(path, &truncated), 0);
    assert_true(truncated);
}

struct moment {
    uint32_t tid;
    uint64_t time_ns, period;
    bool waits;
};

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* Times of many threads, also such as go back and of every length, and paths at the same places;
 * what is flushed can be read. */
static void test_times(void **state)
{
    (void)state;
    enum { N = 30000, THREADS = 40 };
    const char *path = session_stream();
    struct moment *moment = calloc(N, sizeof *moment);
    struct as_recorder *recorder;
    struct as_stream *stream;
    struct as_stream_record r;
    struct as_error err = {0};
    uint64_t seed = 7, now_ns = 1000000;
    size_t n = 0, threads, nodes;
    assert_int_equal(as_recorder_new(path, &choice, 0, &recorder, &err), 0);
    for (unsigned i = 0; i < N; i++) {
        const uint64_t chain[] = {0x1000 + next_random(&seed) % 200, 0x9000 + i % 3};
        now_ns += next_random(&seed) % 100000;
        moment[i] = (struct moment){.tid = 100 + (uint32_t)(next_random(&seed) % THREADS),
                                    .time_ns = now_ns - next_random(&seed) % 50000,
                                    .period = i % 1000 ? 2004008 : next_random(&seed),
                                    .waits = next_random(&seed) % 5 == 0};
        give(recorder, (struct as_sample_record){.kind = AS_SAMPLE_SAMPLE,
                                                 .pid = 100,
                                                 .tid = moment[i].tid,
                                                 .time_ns = moment[i].time_ns,
                                                 .period = moment[i].period,
                                                 .waits = moment[i].waits,
                                                 .ip = chain[0],
                                                 .chain = chain,
                                                 .chain_n = 2});
        if (i % 7000 == 6999)
            assert_int_equal(as_recorder_flush(recorder, &err), 0);
        if (i == 6999) {
            bool truncated;
            assert_int_equal(walk(path, &truncated), 7000);
            assert_true(truncated);
        }
    }
    assert_int_equal(as_recorder_finish(&recorder, NULL, &err), 0);
    assert_int_equal(as_stream_open(path, &stream, &err), 0);
    while (as_stream_next(stream, &r, &err) > 0) {
        if (r.kind != AS_STREAM_SAMPLE)
            continue;
        assert_int_equal(as_stream_threads(stream, &threads)[r.thread].tid, moment[n].tid);
        assert_int_equal(r.time_ns, moment[n].time_ns);
        assert_int_equal(r.period, moment[n].period);
        assert_int_equal(r.waits, moment[n].waits);
        n++;
    }
    assert_int_equal(n, N);
    as_stream_nodes(stream, &nodes);
    assert_int_equal(nodes, 1 + 3 + 3 * 200);
    as_stream_close(&stream);
    free(moment);
}

static void test_refusals(void **state)
{
    (void)state;
    const char *path = session_stream();
    struct as_recorder *recorder;
    struct as_stream *stream;
    struct as_error err;
    assert_int_equal(as_stream_open(path, &stream, &err), AS_ERR_NOT_FOUND);
    store(path, (const uint8_t *)"hello", 5);
    assert_int_equal(as_stream_open(path, &stream, &err), AS_ERR_CORRUPT);
    assert_int_equal(as_recorder_new(path, &choice, 0, &recorder, &err), AS_ERR_IO);
    assert_non_null(strstr(err.text, "File exists"));
    store(path, (const uint8_t *)"ASSAYSMP\x09\0\0\0\0\0\0\0", 16);
    assert_int_equal(as_stream_open(path, &stream, &err), AS_ERR_UNSUPPORTED);
    assert_int_equal(as_recorder_new("/dev/null/x", &choice, 0, &recorder, &err), AS_ERR_IO);
    assert_null(recorder);
}

/* A disk that is full is said once, at the flush. */
static void test_disk_full(void **state)
{
    (void)state;
    const char *path = session_stream();
    struct as_recorder *recorder;
    struct as_error err = {0};
    int rc = 0, full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full < 0) {
        print_message("# skipped: no /dev/full\n");
        return;
    }
    assert_int_equal(as_recorder_new(path, &choice, 0, &recorder, &err), 0);
    /* The stream's descriptor is the next lower one than a new one would be. */
    for (int fd = 3; fd < 64; fd++) {
        char link[64], target[256] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (readlink(link, target, sizeof target - 1) > 0 && strstr(target, path))
            assert_true(dup2(full, fd) == fd);
    }
    close(full);
    rc = as_recorder_flush(recorder, &err);
    assert_int_equal(rc, AS_ERR_IO);
    assert_non_null(strstr(err.text, "No space left"));
    assert_int_equal(as_recorder_finish(&recorder, NULL, &err), AS_ERR_IO);
}

/* An error names the part that refuses, with the command that solves it. */
static void test_sentences(void **state)
{
    (void)state;
    struct as_error err;
    assert_int_equal(as_sample_refused(&err, 5, EACCES), AS_ERR_PERMISSION);
    assert_non_null(strstr(err.text, "kernel.perf_event_paranoid is "));
    assert_non_null(strstr(err.text, "PERFMON"));
    assert_int_equal(as_sample_refused(&err, 5, EMFILE), AS_ERR_LIMIT);
    assert_non_null(strstr(err.text, "ulimit -n"));
    assert_int_equal(as_sample_refused(&err, 5, ENOSYS), AS_ERR_UNSUPPORTED);
    assert_int_equal(as_sample_refused(&err, 5, ESRCH), AS_ERR_NOT_FOUND);
}

/* ---- Address spaces ----------------------------------------------------------------------- */

static uint32_t module_at(const struct as_spaces *spaces, uint32_t space, uint64_t address,
                          uint64_t *offset)
{
    const struct as_mapping *map = as_space_at(&spaces->space.at[space], address);
    *offset = map ? address - map->start + map->offset : 0;
    return map ? map->module : 0;
}

/* Against a table of one entry a page. */
static void test_maps(void **state)
{
    (void)state;
    struct as_spaces spaces;
    uint32_t model[256] = {0}, space;
    uint64_t at[256] = {0}, seed = 12345;
    assert_int_equal(as_spaces_init(&spaces), 0);
    assert_int_equal(as_space_of(&spaces, 1, &space), 0);
    for (unsigned round = 1; round < 3000; round++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t start = seed >> 33 & 255, size = 1 + (seed >> 45 & 31);
        size = start + size > 256 ? 256 - start : size;
        struct as_mapping map = {start << 12, (start + size) << 12, (uint64_t)round << 20, round};
        assert_int_equal(as_space_map(&spaces, 1, map), 0);
        for (uint64_t i = 0; i < size; i++) {
            model[start + i] = round;
            at[start + i] = ((uint64_t)round << 20) + (i << 12);
        }
        for (unsigned i = 0; i < 256; i++) {
            uint64_t offset;
            assert_int_equal(module_at(&spaces, space, (uint64_t)i << 12, &offset), model[i]);
            assert_int_equal(offset, at[i]);
        }
    }
    as_spaces_fini(&spaces);
}

/* Ten thousand processes that come and go take no more room than those alive at a time. */
static void test_short_lives(void **state)
{
    (void)state;
    struct as_spaces spaces;
    uint64_t offset;
    uint32_t space;
    assert_int_equal(as_spaces_init(&spaces), 0);
    assert_int_equal(as_space_map(&spaces, 1, (struct as_mapping){0x1000, 0x2000, 0, 5}), 0);
    for (uint32_t i = 0; i < 10000; i++) {
        struct as_sample_record task = {
            .pid = 2 + i % 500, .tid = 2 + i % 500, .parent_pid = 1, .parent_tid = 1};
        assert_int_equal(as_space_fork(&spaces, &task), 0);
        assert_int_equal(as_space_of(&spaces, task.pid, &space), 0);
        assert_int_equal(module_at(&spaces, space, 0x1800, &offset), 5);
        task.parent_pid = task.pid; /* a thread of it */
        task.tid = 100000;
        assert_int_equal(as_space_fork(&spaces, &task), 0);
        as_space_exit(&spaces, &task);
        assert_int_equal(module_at(&spaces, space, 0x1800, &offset), 5);
        as_space_exit(&spaces, &task);
    }
    assert_true(spaces.space.n <= 3);
    as_spaces_fini(&spaces);
}

/* ---- Kernel records ------------------------------------------------------------------------- */

/* Whatever a record says, reading it stays within it. */
static void test_hostile_records(void **state)
{
    (void)state;
    struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                                  PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                                                  PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
                                                  PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
                                   .sample_id_all = 1};
    uint64_t seed = 99, sum = 0;
    for (unsigned round = 0; round < 200000; round++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t n = 8 + (seed >> 40) % 64 * 8;
        uint64_t *bytes = malloc(n);
        for (size_t i = 1; i < n / 8; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = seed >> 60 ? seed >> 58 : seed;
        }
        struct perf_event_header header = {(uint32_t)(seed >> 50) % 22, (uint16_t)(seed >> 30),
                                           (uint16_t)n};
        memcpy(bytes, &header, sizeof header);
        struct as_sample_record record;
        uint64_t regs[AS_SAMPLE_REGS_N];
        bool damaged;
        sum += as_record_time(&attr, (const uint8_t *)bytes);
        if (as_record_parse(&attr, (const uint8_t *)bytes, &record, regs, &damaged)) {
            for (size_t i = 0; i < record.chain_n; i++)
                sum += record.chain[i];
            for (size_t i = 0; i < record.stack_b; i++)
                sum += record.stack[i];
            sum += record.text ? strlen(record.text) : 0;
        }
        free(bytes);
    }
    assert_true(sum != 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_switches),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_many_files),
        cmocka_unit_test(test_first_version),
        cmocka_unit_test(test_second_version),
        cmocka_unit_test(test_third_version),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_short_lives),
        cmocka_unit_test(test_hostile_records),
    };
    return cmocka_run_group_tests_name("sample/stream", tests, NULL, NULL);
}
