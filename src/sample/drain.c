/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading of the kernel's ring buffers. The kernel moves data_head forward, we move data_tail; a
 * record may wrap around the end. Source: perf_event_open(2), "MMAP layout".
 */
#include <string.h>

#include "sample/sampler.h"

/* Copies `n` bytes at ring position `at`. */
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

/* What is left is moved to the front, so that the buffer does not grow for ever. */
static void close_up(struct as_ring *ring)
{
    if (ring->from == 0)
        return;
    ring->wait.n -= ring->from;
    if (ring->wait.n)
        memmove(ring->wait.at, ring->wait.at + ring->from, ring->wait.n);
    ring->from = 0;
}

int as_ring_drain(struct assay_sampler *sampler, struct as_ring *ring)
{
    if (!ring->page)
        return 0;
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = ring->page->data_tail; /* ours */
    if (head == tail)
        return 0;
    close_up(ring);
    size_t n = (size_t)(head - tail), begin = ring->wait.n;
    if (n > ring->data_b) { /* cannot be: the kernel does not overwrite */
        sampler->counts.damaged++;
        __atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
        return 0;
    }
    AS_TRY(as_vec_reserve(&ring->wait, begin + n));
    copy_out(ring, tail, ring->wait.at + begin, n);
    __atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
    ring->wait.n += n;
    /* Only whole records are between tail and head; a size of nonsense ends this batch. */
    for (size_t at = begin; at < ring->wait.n;) {
        struct perf_event_header header;
        memcpy(&header, ring->wait.at + at, sizeof header);
        if (header.size < sizeof header || header.size % 8 || header.size > ring->wait.n - at) {
            sampler->counts.damaged++;
            ring->wait.n = at;
            break;
        }
        at += header.size;
    }
    return 0;
}
