/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the ring buffers of the kernel. The kernel moves data_head, the reader moves data_tail. A
 * record may wrap around the end. Source: perf_event_open(2), "MMAP layout".
 */
#include <string.h>

#include "sample/sampler.h"

/* Copies `n` bytes at ring position `at` to `to`. */
static void copy_out(const struct as_ring *ring, uint64_t at, uint8_t *to, size_t n)
{
    const uint8_t *data = (const uint8_t *)ring->page + ring->page->data_offset;
    size_t offset = (size_t)(at & (ring->data_b - 1)), first = ring->data_b - offset;
    if (first > n)
        first = n;
    memcpy(to, data + offset, first);
    if (n > first)
        memcpy(to + first, data, n - first);
}

/* Moves the remaining records to the front, so that the buffer stays small. */
static void close_up(struct as_ring *ring)
{
    if (ring->from == 0)
        return;
    ring->wait.n -= ring->from;
    if (ring->wait.n)
        memmove(ring->wait.at, ring->wait.at + ring->from, ring->wait.n);
    ring->from = 0;
}

/* Copies the record of `n` bytes at `at`. Leaves out the unused end of a stack copy. A record with
 * the smaller copy is too short for the larger copy, so its size tells the two apart. */
static void copy_ring_record(struct as_ring *ring, uint64_t at, size_t n, uint32_t deep_b)
{
    uint32_t stack_b = deep_b && n > deep_b ? deep_b : ring->attr->sample_stack_user;
    uint8_t *to = ring->wait.at + ring->wait.n;
    struct perf_event_header header;
    uint64_t size_b = 0, used_b;
    copy_out(ring, at, (uint8_t *)&header, sizeof header);
    /* A sample ends with: size of the copy, the copy, bytes used in it. */
    if (header.type == PERF_RECORD_SAMPLE && stack_b && n > stack_b + 24u) {
        copy_out(ring, at + n - stack_b - 16, (uint8_t *)&size_b, sizeof size_b);
        copy_out(ring, at + n - 8, (uint8_t *)&used_b, sizeof used_b);
    }
    if (size_b != stack_b || size_b == 0 || used_b == 0 || used_b > size_b || used_b % 8) {
        copy_out(ring, at, to, n);
        ring->wait.n += n;
        return;
    }
    size_t head_b = n - stack_b - 8, kept_b = head_b + (size_t)used_b + 8;
    copy_out(ring, at, to, head_b + (size_t)used_b);
    memcpy(to + kept_b - 8, &used_b, sizeof used_b);
    memcpy(to + head_b - 8, &used_b, sizeof used_b);
    header.size = (uint16_t)kept_b;
    memcpy(to, &header, sizeof header);
    ring->wait.n += kept_b;
}

/* Returns the size of the complete record at `at` with `left` bytes, or 0. */
static size_t size_at(const uint8_t *at, uint64_t left)
{
    struct perf_event_header header;
    if (left < sizeof header)
        return 0;
    memcpy(&header, at, sizeof header);
    return header.size < sizeof header || header.size % 8 || header.size > left ? 0 : header.size;
}

/* Copies small records, up to a million a second, at once. Returns false if some are damaged. */
static bool copy_small_records(struct as_ring *ring, uint64_t tail, size_t n)
{
    uint8_t *to = ring->wait.at + ring->wait.n;
    size_t good = 0, size_b;
    copy_out(ring, tail, to, n);
    while (good < n && (size_b = size_at(to + good, n - good)) > 0)
        good += size_b;
    ring->wait.n += good;
    return good == n;
}

/* Copies large records. Between tail and head are only complete records; an invalid size ends the
 * batch. */
static bool copy_large_records(struct as_ring *ring, uint64_t tail, uint64_t head, uint32_t deep_b)
{
    while (tail != head) {
        uint8_t start[sizeof(struct perf_event_header)];
        copy_out(ring, tail, start, sizeof start);
        const size_t size_b = size_at(start, head - tail);
        if (!size_b)
            return false;
        copy_ring_record(ring, tail, size_b, deep_b);
        tail += size_b;
    }
    return true;
}

int as_ring_drain(struct as_sampler *sampler, struct as_ring *ring)
{
    if (!ring->page)
        return 0;
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = ring->page->data_tail; /* the reader owns data_tail */
    if (head == tail)
        return 0;
    close_up(ring);
    if (head - tail > ring->data_b) { /* impossible: the kernel does not overwrite */
        sampler->counts.damaged++;
        tail = head;
    }
    AS_TRY(as_vec_reserve(&ring->wait, ring->wait.n + (size_t)(head - tail)));
    const bool large = ring->channel == AS_CHANNEL_SAMPLES || ring->channel == AS_CHANNEL_WAITS;
    if (!(large ? copy_large_records(ring, tail, head, sampler->choice.deep_b)
                : copy_small_records(ring, tail, (size_t)(head - tail))))
        sampler->counts.damaged++;
    __atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
    return 0;
}
