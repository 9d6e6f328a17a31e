/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: streams of events, whole or scribbled over. The input is
 *     uint8_t head[192];  struct as_trace_head
 * and for each block
 *     uint8_t data_b[2];  little endian: so many bytes of it are given
 *     uint8_t data[];     struct as_trace_block and its records
 * Events must keep the promises of trace/read.h, and seeking must find what reading finds.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scratch.h"
#include "trace/read.h"

#define BLOCKS_MOST 4u
#define NAME        "stream.7.8.9"

bool fuzz_taken;

static void put_file(struct fuzz_input *in)
{
    const uint8_t *head = fuzz_next(in, sizeof(struct as_trace_head));
    const char *path = scratch_write(NAME, head, head ? sizeof(struct as_trace_head) : 0);
    const int fd = open(path, O_RDWR);
    unsigned n = 0;
    FUZZ_CHECK(fd >= 0);
    for (const uint8_t *size; n < BLOCKS_MOST && (size = fuzz_next(in, 2)); n++) {
        size_t data_b = (size_t)size[0] | (size_t)size[1] << 8;
        data_b = data_b < in->left ? data_b : in->left;
        const uint8_t *data = fuzz_next(in, data_b);
        const off_t at = (off_t)(AS_TRACE_PAGE_B + n * AS_TRACE_BLOCK_B);
        FUZZ_CHECK(pwrite(fd, data, data_b, at) == (ssize_t)data_b);
    }
    FUZZ_CHECK(!head ||
               ftruncate(fd, (off_t)(AS_TRACE_PAGE_B + n * (size_t)AS_TRACE_BLOCK_B)) == 0);
    close(fd);
}

static void check_event(const struct as_trace_event *event, int64_t *latest_ns)
{
    FUZZ_CHECK(event->kind > AS_TRACE_NONE && event->kind < AS_TRACE_KINDS_N);
    FUZZ_CHECK(event->raw_ns >= *latest_ns);
    *latest_ns = event->raw_ns;
    fuzz_touch(event->text.p, event->text.n);
    fuzz_touch(event->value.p, event->value.n);
    fuzz_touch(event->list, event->list_n * sizeof *event->list);
    fuzz_touch_string(as_trace_kind_name(event->kind));
    FUZZ_CHECK(event->kind != AS_TRACE_SAMPLE || event->list_n <= AS_TRACE_STACK_N);
}

static void walk_stream(struct as_trace_stream *stream, struct as_error *err)
{
    struct as_trace_event event;
    int64_t latest_ns = INT64_MIN, middle_ns = 0;
    uint64_t n = 0, before_n = 0;
    int rc;
    while ((rc = as_trace_stream_next(stream, &event, err)) > 0) {
        check_event(&event, &latest_ns);
        if (n++ == 7)
            middle_ns = event.raw_ns;
    }
    FUZZ_CHECK(rc == 0);
    fuzz_taken |= n > 0;
    /* Those before a time, counted twice. */
    FUZZ_CHECK(as_trace_stream_seek(stream, INT64_MIN, err) == 0);
    for (uint64_t i = 0; i < n; i++) {
        FUZZ_CHECK(as_trace_stream_next(stream, &event, err) == 1);
        before_n += event.raw_ns < middle_ns;
    }
    FUZZ_CHECK(as_trace_stream_seek(stream, middle_ns, err) == 0);
    while (as_trace_stream_next(stream, &event, err) > 0)
        before_n++;
    FUZZ_CHECK(before_n == n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    struct fuzz_input in = {bytes, size_b};
    struct as_error err = {0};
    struct as_trace_stream *stream;
    struct as_trace trace;
    put_file(&in);
    const int rc = as_trace_stream_open(AT_FDCWD, scratch_path(NAME), &stream, &err);
    if (rc < 0)
        fuzz_check_error(rc, &err);
    else
        walk_stream(stream, &err);
    as_trace_stream_close(&stream);
    /* As definitions. */
    FUZZ_CHECK(rename(scratch_path(NAME), scratch_path("stream.7.8.0")) == 0);
    FUZZ_CHECK(as_trace_open(scratch_directory(), &trace, &err) == 0);
    as_vec_foreach (&trace.process, p) {
        for (int64_t i = -1; i < (int64_t)p->name.n + 2; i++)
            fuzz_touch_string(as_trace_name_of(p, i).text);
        as_vec_foreach (&p->comm, comm) {
            fuzz_touch(comm->member, comm->member_n * sizeof *comm->member);
            FUZZ_CHECK(as_trace_comm_of(p, (int64_t)comm->comm));
        }
    }
    as_trace_close(&trace);
    scratch_empty();
    return 0;
}
