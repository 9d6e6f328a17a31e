/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes stream files. The file grows by one block, and one block is mapped at a time. System calls
 * are made directly, because the program may define functions with their names.
 */
#include "trace/write.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/ticks.h"

/* ---- Clocks ------------------------------------------------------------------------------- */

static struct as_trace_pair read_pair(const struct as_trace_writer *w)
{
    struct as_trace_pair pair = {0};
    if (w->clock == AS_TRACE_GIVEN)
        return (struct as_trace_pair){w->tick, (int64_t)w->tick};
    if (w->clock == AS_TRACE_TSC) {
        pair.tick = as_ticks_at(4, &pair.raw_ns);
    } else {
        pair.raw_ns = as_clock_ns(CLOCK_MONOTONIC_RAW);
        pair.tick = (uint64_t)pair.raw_ns;
    }
    return pair;
}

/* ---- The file ----------------------------------------------------------------------------- */

static int open_stream_file(const char *path, int flags)
{
    const long fd = syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd < 0 ? -errno : (int)fd;
}

/* Allocates the bytes on the disk. A write to a hole on a full disk would kill the program. A file
 * larger than its limit would too. */
static int allocate_block(int fd, uint64_t offset, uint64_t size_b)
{
    struct rlimit limit;
    int error = EINTR;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        offset + size_b > limit.rlim_cur)
        return -EFBIG;
    for (unsigned i = 0; i < 16 && error == EINTR; i++)
        error = posix_fallocate(fd, (off_t)offset, (off_t)size_b);
    return -error;
}

static uint64_t place_of(const struct as_trace_head *head, uint64_t number)
{
    const uint64_t place = head->ring_n ? number % head->ring_n : number;
    return AS_TRACE_PAGE_B + place * AS_TRACE_BLOCK_B;
}

static void *map_at(int fd, uint64_t offset, size_t size_b)
{
    void *at = mmap(NULL, size_b, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    return at == MAP_FAILED ? NULL : at;
}

/* ---- Blocks ------------------------------------------------------------------------------- */

static bool is_affordable(struct as_trace_writer *w, uint64_t number)
{
    const bool grows = w->head->ring_n == 0 || number < w->head->ring_n;
    if (!w->budget_b || !grows)
        return true;
    if (atomic_fetch_sub(w->budget_b, AS_TRACE_BLOCK_B) >= (int64_t)AS_TRACE_BLOCK_B)
        return true;
    atomic_fetch_add(w->budget_b, AS_TRACE_BLOCK_B);
    return false;
}

static void drop_block(struct as_trace_writer *w)
{
    if (w->block)
        munmap(w->block, AS_TRACE_BLOCK_B);
    w->block = NULL;
    w->at = w->limit = NULL;
}

static int begin_block(struct as_trace_writer *w, int fd, uint64_t number, uint64_t tick)
{
    const uint64_t offset = place_of(w->head, number);
    const bool grows = w->head->ring_n == 0 || number < w->head->ring_n;
    const int rc = grows ? allocate_block(fd, offset, AS_TRACE_BLOCK_B) : 0;
    struct as_trace_block *block = rc < 0 ? NULL : map_at(fd, offset, AS_TRACE_BLOCK_B);
    if (!block)
        return rc < 0 ? rc : -errno;
    /* In a ring, the memory has an older block until here. */
    atomic_store_explicit(&block->magic, 0, memory_order_release);
    block->number = number;
    block->before_n = w->records_n;
    block->at = read_pair(w);
    block->tick = w->tick = tick > w->tick ? tick : w->tick;
    atomic_store(&block->used_b, (uint32_t)sizeof *block);
    atomic_store_explicit(&block->magic, AS_TRACE_BLOCK_MAGIC, memory_order_release);
    w->block = block;
    w->caller = 0;
    w->stack_n = 0;
    w->at = (uint8_t *)(block + 1);
    w->limit = (uint8_t *)block + AS_TRACE_BLOCK_B - AS_TRACE_SLACK_B;
    w->head->latest = block->at;
    atomic_store_explicit(&w->head->blocks_n, number + 1, memory_order_release);
    return 0;
}

static void stop_writing(struct as_trace_writer *w, enum as_trace_end end, int error)
{
    w->head->end_errno = error;
    atomic_store_explicit(&w->head->end, (uint32_t)end, memory_order_release);
    drop_block(w);
}

/* Writes an OFF record, for which a full block has reserved space. */
static void emit_stop_record(struct as_trace_writer *w, uint64_t tick)
{
    uint8_t *at = as_trace_lead(w, w->at, AS_TRACE_OFF, tick);
    as_trace_commit(w, as_trace_number(at, AS_TRACE_BY_LIMIT));
}

bool as_trace_writer_turn(struct as_trace_writer *w, uint64_t tick)
{
    const int saved = errno;
    if (!w->block)
        return false;
    const uint64_t number = w->head->blocks_n;
    const bool affordable = is_affordable(w, number);
    if (w->handlers_lost) {
        atomic_fetch_add(&w->head->lost, w->handlers_lost);
        w->handlers_lost = 0;
    }
    if (!affordable) {
        emit_stop_record(w, tick);
        stop_writing(w, AS_TRACE_LIMIT, 0);
        return false;
    }
    const int fd = open_stream_file(w->path, O_RDWR);
    struct as_trace_block *full = w->block;
    const int rc = fd < 0 ? fd : begin_block(w, fd, number, tick);
    if (fd >= 0)
        syscall(SYS_close, fd);
    if (rc < 0)
        stop_writing(w, AS_TRACE_REFUSED, -rc);
    else
        munmap(full, AS_TRACE_BLOCK_B);
    errno = saved;
    return rc == 0;
}

/* ---- The stream --------------------------------------------------------------------------- */

static void copy_name(char *to, size_t n, const char *from)
{
    size_t i = 0;
    for (; from && from[i] && i + 1 < n; i++)
        to[i] = from[i];
    to[i] = 0;
}

static void fill_head(struct as_trace_writer *w, const struct as_trace_writing *how)
{
    struct as_trace_head *head = w->head;
    head->version = AS_TRACE_VERSION;
    head->block_b = AS_TRACE_BLOCK_B;
    head->pid = how->pid;
    head->tid = how->tid;
    head->parent_tid = how->parent_tid;
    head->clock = how->clock;
    head->ring_n = how->ring_n;
    head->tick_hz = how->tick_hz;
    const bool is_given = how->clock == AS_TRACE_GIVEN;
    w->tick = how->begin_tick;
    head->begin = head->latest = read_pair(w);
    head->monotonic_ns = is_given ? head->begin.raw_ns : as_clock_ns(CLOCK_MONOTONIC);
    head->real_ns = is_given ? head->begin.raw_ns : as_clock_ns(CLOCK_REALTIME);
    copy_name(head->name, sizeof head->name, how->name);
    w->tick = head->begin.tick;
}

int as_trace_writer_open(struct as_trace_writer *w, const struct as_trace_writing *how)
{
    const int saved = errno;
    memset(w, 0, offsetof(struct as_trace_writer, path));
    copy_name(w->path, sizeof w->path, how->path);
    w->clock = how->clock;
    const uint64_t hz = how->clock == AS_TRACE_TSC ? how->tick_hz : 1000000000;
    w->gap_most = hz / 1000000;
    w->span_most = hz / 10;
    w->polls_most = AS_TRACE_POLLS_N;
    w->budget_b = how->budget_b;
    w->aside = how->aside;
    w->aside_n = how->aside_n;
    const int fd = open_stream_file(how->path, O_RDWR | O_CREAT | O_EXCL);
    int rc = fd < 0 ? fd : allocate_block(fd, 0, AS_TRACE_PAGE_B);
    w->head = rc < 0 ? NULL : map_at(fd, 0, AS_TRACE_PAGE_B);
    if (rc == 0 && !w->head)
        rc = errno ? -errno : -ENOMEM;
    if (w->head) {
        fill_head(w, how);
        rc = is_affordable(w, 0) ? begin_block(w, fd, 0, w->tick) : -EDQUOT;
        if (rc < 0)
            stop_writing(w, rc == -EDQUOT ? AS_TRACE_LIMIT : AS_TRACE_REFUSED, -rc);
        atomic_store_explicit(&w->head->magic, AS_TRACE_MAGIC, memory_order_release);
    } else if (fd >= 0) {
        syscall(SYS_unlinkat, AT_FDCWD, how->path, 0);
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = saved;
    return rc;
}

void as_trace_writer_stamp(struct as_trace_writer *w)
{
    if (w->head && w->block)
        w->head->latest = read_pair(w);
}

void as_trace_writer_forget(struct as_trace_writer *w)
{
    drop_block(w);
    if (w->head)
        munmap(w->head, AS_TRACE_PAGE_B);
    w->head = NULL;
    w->state = 0;
    w->polls_n = 0;
    w->aside_told = w->aside_put;
}

void as_trace_writer_close(struct as_trace_writer *w, enum as_trace_end end)
{
    const int saved = errno;
    if (w->state != AS_TRACE_BUSY)
        as_trace_settle(w);
    if (w->head && w->block) {
        as_trace_writer_stamp(w);
        atomic_fetch_add(&w->head->lost, w->handlers_lost);
        stop_writing(w, end, 0);
    }
    as_trace_writer_forget(w);
    errno = saved;
}

/* ---- Lists -------------------------------------------------------------------------------- */

/* Ensures space for `size_b` bytes and the rest of a record. Begins a new block if needed. */
static bool has_room(struct as_trace_writer *w, uint64_t tick, size_t size_b)
{
    const size_t most_b = AS_TRACE_BLOCK_B - sizeof *w->block - AS_TRACE_SLACK_B;
    if (!w->block)
        return false;
    if (size_b > most_b) {
        w->handlers_lost++;
        return false;
    }
    return w->at + size_b < w->limit || as_trace_writer_turn(w, tick);
}

static uint8_t *encode_differences(uint8_t *at, uint64_t before, const uint64_t *list, size_t n)
{
    at = as_trace_number(at, n);
    for (size_t i = 0; i < n; before = list[i++])
        at = as_trace_number(at, as_trace_zigzag((int64_t)(list[i] - before)));
    return at;
}

static bool emit_list_owned(struct as_trace_writer *w, unsigned kind, uint64_t tick,
                            const uint64_t *field, unsigned n, const uint64_t *list, size_t list_n)
{
    if (list_n >= AS_TRACE_BLOCK_B || !has_room(w, tick ? tick : w->tick, 10 * list_n + 16))
        return false;
    uint8_t *at = as_trace_lead(w, w->at, kind, tick);
    for (unsigned i = 0; i < n; i++)
        at = as_trace_number(at, field[i]);
    at = encode_differences(at, kind == AS_TRACE_CALLERS ? w->caller : 0, list, list_n);
    if (kind == AS_TRACE_CALLERS && list_n)
        w->caller = list[0];
    as_trace_commit(w, at);
    return true;
}

/* ---- Samples ------------------------------------------------------------------------------ */

/* Writes a sample. The outermost callers that equal those of the previous sample are left out. */
static void emit_sample_owned(struct as_trace_writer *w, uint64_t tick, uint64_t period_ns,
                              const uint64_t *stack, unsigned n)
{
    unsigned same = 0;
    if (!has_room(w, tick,
                  10 * (size_t)n + 32)) /* first, because a new block has no previous stack */
        return;
    while (same < n && same < w->stack_n && stack[n - 1 - same] == w->stack[w->stack_n - 1 - same])
        same++;
    uint8_t *at = as_trace_lead(w, w->at, AS_TRACE_SAMPLE, tick);
    at = as_trace_number(at, period_ns);
    at = as_trace_number(at, same);
    at = encode_differences(at, w->stack_n ? w->stack[0] : 0, stack, n - same);
    memcpy(w->stack, stack, n * sizeof *stack);
    w->stack_n = n;
    as_trace_commit(w, at);
}

/* Words of a deferred sample before its addresses: tick, period, number of addresses. */
#define ASIDE_HEAD_N 3u

static bool set_sample_aside(struct as_trace_writer *w, uint64_t tick, uint64_t period_ns,
                             const uint64_t *stack, unsigned n)
{
    const uint64_t head[ASIDE_HEAD_N] = {tick, period_ns, n};
    const uint32_t at = w->aside_put, mask = w->aside_n - 1;
    if (w->aside_n < at - w->aside_told + ASIDE_HEAD_N + n)
        return false;
    for (uint32_t i = 0; i < ASIDE_HEAD_N; i++)
        w->aside[(at + i) & mask] = head[i];
    for (uint32_t i = 0; i < n; i++)
        w->aside[(at + ASIDE_HEAD_N + i) & mask] = stack[i];
    atomic_signal_fence(memory_order_seq_cst);
    w->aside_put = at + ASIDE_HEAD_N + n;
    return true;
}

/* Writes the deferred samples up to `until`. The caller has acquired the writer. A handler may add
 * more at the same time. */
static void emit_aside_samples(struct as_trace_writer *w, uint64_t until)
{
    uint64_t stack[AS_TRACE_STACK_N];
    const uint32_t mask = w->aside_n - 1;
    while (w->aside_told != w->aside_put && w->aside[w->aside_told & mask] <= until) {
        const uint32_t at = w->aside_told;
        const unsigned n = (unsigned)w->aside[(at + 2) & mask];
        for (uint32_t i = 0; i < n; i++)
            stack[i] = w->aside[(at + ASIDE_HEAD_N + i) & mask];
        emit_sample_owned(w, w->aside[at & mask], w->aside[(at + 1) & mask], stack, n);
        atomic_signal_fence(memory_order_seq_cst);
        w->aside_told = at + ASIDE_HEAD_N + n;
    }
}

bool as_trace_sample(struct as_trace_writer *w, uint64_t tick, uint64_t period_ns,
                     const uint64_t *stack, unsigned n, bool waits)
{
    if (!w->block)
        return false;
    if ((w->state || waits) && set_sample_aside(w, tick, period_ns, stack, n))
        return true;
    if (waits || (w->state & AS_TRACE_BUSY) || !as_trace_acquire(w)) {
        atomic_fetch_add(&w->head->samples_lost, 1);
        return false;
    }
    emit_sample_owned(w, tick, period_ns, stack, n);
    as_trace_release(w);
    return true;
}

/* ---- Polls -------------------------------------------------------------------------------- */

static void emit_poll(struct as_trace_writer *w, const struct as_trace_polls *p, uint64_t begin,
                      uint64_t end)
{
    const uint64_t field[] = {p->n, p->inside, p->longest};
    const uint64_t traffic[] = {p->sent_b, p->received_b};
    emit_aside_samples(w, begin);
    as_trace_emit_owned(w, AS_TRACE_ENTER, begin, &p->name, 1);
    if (p->callers_n)
        emit_list_owned(w, AS_TRACE_CALLERS, 0, NULL, 0, p->caller, p->callers_n);
    if (p->kind)
        as_trace_emit_owned(w, p->kind, 0, p->field, p->field_n);
    if (p->n > 1 || w->are_sums)
        as_trace_emit_owned(w, AS_TRACE_REPEATED, 0, field, 3);
    if (w->are_sums)
        as_trace_emit_owned(w, AS_TRACE_TRAFFIC, 0, traffic, 2);
    emit_aside_samples(w, end);
    as_trace_emit_owned(w, AS_TRACE_LEAVE, end, &p->name, 1);
}

/* Writes the pending polls. The caller has acquired the writer. If several routines were called in
 * turn, their order is lost. Each then gets an interval in proportion to its time. */
static void emit_pending_polls(struct as_trace_writer *w)
{
    const unsigned n = w->polls_n;
    const double span = (double)(w->polls_end - w->polls_begin);
    uint64_t begin = w->polls_begin, end;
    double inside = 0, before = 0;
    w->polls_n = 0;
    for (unsigned i = 0; i < n; i++)
        inside += (double)w->poll[i].inside;
    for (unsigned i = 0; i < n; i++, begin = end) {
        before += (double)w->poll[i].inside;
        end = i + 1 < n && inside > 0 ? w->polls_begin + (uint64_t)(span * (before / inside))
                                      : w->polls_end;
        emit_poll(w, &w->poll[i], begin, end);
    }
}

bool as_trace_settle(struct as_trace_writer *w)
{
    if (w->state & AS_TRACE_BUSY) {
        w->handlers_lost++;
        return false;
    }
    w->state |= AS_TRACE_BUSY;
    atomic_signal_fence(memory_order_seq_cst);
    emit_pending_polls(w);
    emit_aside_samples(w, UINT64_MAX);
    as_trace_release(w);
    return true;
}

/* Returns the entry of the routine, or a new one. NULL if the pending polls must be written first.
 */
static struct as_trace_polls *find_poll(struct as_trace_writer *w, uint64_t name, uint64_t enter,
                                        uint64_t leave)
{
    if (!w->polls_n || enter > w->polls_end + w->gap_most || leave > w->polls_begin + w->span_most)
        return NULL;
    for (unsigned i = 0; i < w->polls_n; i++)
        if (w->poll[i].name == name)
            return &w->poll[i];
    return w->polls_n < w->polls_most ? &w->poll[w->polls_n] : NULL;
}

void as_trace_poll_traffic(struct as_trace_writer *w, uint64_t name, uint64_t sent_b,
                           uint64_t received_b)
{
    for (unsigned i = 0; i < w->polls_n; i++)
        if (w->poll[i].name == name) {
            w->poll[i].sent_b += sent_b;
            w->poll[i].received_b += received_b;
        }
}

void as_trace_writer_sum(struct as_trace_writer *w, uint64_t gap, uint64_t tick_hz)
{
    w->are_sums = true;
    w->gap_most = gap;
    w->span_most = tick_hz;
    w->polls_most = AS_TRACE_SUMS_N;
}

struct as_trace_polls *as_trace_poll(struct as_trace_writer *w, uint64_t name, uint64_t enter,
                                     uint64_t leave)
{
    const uint64_t took = leave > enter ? leave - enter : 0;
    if (!w->block)
        return NULL;
    if (w->state & AS_TRACE_BUSY) {
        w->handlers_lost++;
        return NULL;
    }
    w->state |= AS_TRACE_BUSY; /* a handler with a sample must not write the polls now */
    atomic_signal_fence(memory_order_seq_cst);
    struct as_trace_polls *p = find_poll(w, name, enter, leave);
    if (!p) {
        emit_pending_polls(w);
        emit_aside_samples(w, enter); /* later samples belong to this call */
        p = &w->poll[0];
        w->polls_begin = enter > w->tick ? enter : w->tick;
    }
    const bool is_first = p == &w->poll[w->polls_n];
    if (is_first) {
        *p = (struct as_trace_polls){.name = name};
        w->polls_n++;
    }
    p->n++;
    p->inside += took;
    p->longest = took > p->longest ? took : p->longest;
    w->polls_end = leave > w->polls_begin ? leave : w->polls_begin;
    atomic_signal_fence(memory_order_seq_cst);
    w->state = AS_TRACE_POLLED;
    return is_first ? p : NULL;
}

/* ---- Long records ------------------------------------------------------------------------- */

static uint8_t *encode_bytes(uint8_t *at, const char *text, size_t n)
{
    at = as_trace_number(at, n);
    memcpy(at, text, n);
    return at + n;
}

/* Max bytes of a text; longer ones are cut. */
#define TEXT_MOST_B 4096u

static size_t text_size_b(const char *text)
{
    const size_t n = strlen(text);
    return n < TEXT_MOST_B ? n : TEXT_MOST_B;
}

bool as_trace_emit_text(struct as_trace_writer *w, unsigned kind, uint64_t tick,
                        const uint64_t *field, unsigned n, const char *text)
{
    if (!as_trace_acquire(w))
        return false;
    const size_t text_b = text_size_b(text);
    const char *more = kind == AS_TRACE_FACT ? text + strlen(text) + 1 : NULL;
    const size_t more_b = more ? text_size_b(more) : 0;
    const bool fits = has_room(w, tick ? tick : w->tick, text_b + more_b + 16);
    if (fits) {
        uint8_t *at = as_trace_lead(w, w->at, kind, tick);
        for (unsigned i = 0; i < n; i++)
            at = as_trace_number(at, field[i]);
        at = encode_bytes(at, text, text_b);
        if (more)
            at = encode_bytes(at, more, more_b);
        as_trace_commit(w, at);
    }
    as_trace_release(w);
    return fits;
}

bool as_trace_emit_list(struct as_trace_writer *w, unsigned kind, uint64_t tick,
                        const uint64_t *field, unsigned n, const uint64_t *list, size_t list_n)
{
    if (!as_trace_acquire(w))
        return false;
    const bool fits = emit_list_owned(w, kind, tick, field, n, list, list_n);
    as_trace_release(w);
    return fits;
}
