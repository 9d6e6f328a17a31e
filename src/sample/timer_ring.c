/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rings that agents write: finds them in the directory, maps them, removes their names (so that
 * no file stays behind) and reads them. The writing process may be damaged or killed at any moment.
 * So every byte is checked.
 */
#include "sample/timer.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Finding ------------------------------------------------------------------------------ */

/* Maps a ring like the agent: the data twice in a row. Returns NULL if the file is not a ring
 * (yet). */
static struct as_agent_ring *map_ring(int fd, uint64_t *data_b)
{
    struct stat status;
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size <= AS_AGENT_PAGE_B)
        return NULL;
    uint64_t n = (uint64_t)status.st_size - AS_AGENT_PAGE_B, all = AS_AGENT_PAGE_B + 2 * n;
    if (n & (n - 1) || n < AS_AGENT_PAGE_B || n > 1u << 30)
        return NULL;
    uint8_t *at = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    struct as_agent_ring *head = (struct as_agent_ring *)(void *)at;
    if (mmap(at, AS_AGENT_PAGE_B + n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
            MAP_FAILED ||
        mmap(at + AS_AGENT_PAGE_B + n, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
             AS_AGENT_PAGE_B) == MAP_FAILED ||
        atomic_load_explicit(&head->magic, memory_order_acquire) != AS_AGENT_MAGIC ||
        head->version != AS_AGENT_VERSION || head->data_b != n) {
        munmap(at, all);
        return NULL;
    }
    *data_b = n;
    return head;
}

void as_timer_ring_close(struct as_timer_ring *ring)
{
    if (ring->head)
        munmap(ring->head, AS_AGENT_PAGE_B + 2 * ring->data_b);
    ring->head = NULL;
    as_vec_fini(&ring->thread);
}

/* Ends the ring of an earlier program with this pid: by exec, or because the pid was reused.
 * Returns true if there was one. */
static bool replace_ring(struct as_timer_sampler *s, uint32_t pid, uint64_t begun_ns)
{
    bool any = false;
    as_vec_foreach (&s->ring, ring) {
        if (!ring->head || ring->pid != pid)
            continue;
        if (ring->dead)
            continue;
        any = ring->dead = ring->executed = true;
        ring->end_ns = begun_ns - 1;
    }
    return any;
}

static int add_ring(struct as_timer_sampler *s, struct as_agent_ring *head, uint64_t data_b)
{
    const uint64_t begun_ns = head->begun_ns; /* read once: the program may still write */
    struct as_timer_ring ring = {.head = head,
                                 .data = (uint8_t *)head + AS_AGENT_PAGE_B,
                                 .data_b = data_b,
                                 .pid = head->pid,
                                 .serial = ++s->serials};
    uint32_t at = 0;
    if (begun_ns == 0 || begun_ns > AS_TIME_MOST_NS) {
        as_timer_ring_close(&ring);
        s->counts.damaged++;
        return 0;
    }
    while (at < s->ring.n && s->ring.at[at].head)
        at++;
    ring.replaced = replace_ring(s, ring.pid, begun_ns) && !head->forked;
    if (at < s->ring.n)
        s->ring.at[at] = ring;
    else if (as_vec_push(&s->ring, ring) < 0) {
        as_timer_ring_close(&ring);
        return AS_ERR_NOMEM;
    }
    s->facts.processes++;
    s->hurry = true;
    return as_timer_add(s, at, AS_TIMER_BEGIN, begun_ns);
}

struct found {
    uint64_t time_ns; /* start time, from its name */
    char name[64];
};

static int by_time(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int open_ring(struct as_timer_sampler *s, int directory, const char *name)
{
    uint64_t data_b;
    int fd = openat(directory, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return 0;
    struct as_agent_ring *head = map_ring(fd, &data_b);
    close(fd);
    if (!head)
        return 0;
    unlinkat(directory, name, 0);
    return add_ring(s, head, data_b);
}

/* Opens rings in time order: a process with two execs between two calls has three rings. */
int as_timer_find(struct as_timer_sampler *s, struct as_error *err)
{
    AS_VEC(struct found) found = {0};
    int rc = 0;
    DIR *dir = opendir(as_agent_session_path(&s->session));
    if (!dir)
        return as_error_set(err, AS_ERR_IO, "%s: cannot be read: %s; keep it until the end",
                            as_agent_session_path(&s->session), strerror(errno));
    for (struct dirent *entry; rc == 0 && (entry = readdir(dir));) {
        struct found one = {0};
        const char *name = entry->d_name;
        const char *dot = strrchr(name, '.');
        if (strncmp(name, AS_AGENT_PREFIX, strlen(AS_AGENT_PREFIX)) != 0 || !dot ||
            strlen(name) >= sizeof one.name)
            continue;
        memcpy(one.name, name, strlen(name) + 1);
        one.time_ns = strtoull(dot + 1, NULL, 10);
        rc = as_vec_push(&found, one);
    }
    if (found.n)
        qsort(found.at, found.n, sizeof *found.at, by_time);
    for (size_t i = 0; rc == 0 && i < found.n; i++)
        rc = open_ring(s, dirfd(dir), found.at[i].name);
    closedir(dir);
    as_vec_fini(&found);
    return rc < 0 ? as_error_nomem(err, "processes") : 0;
}

/* ---- Emptying ----------------------------------------------------------------------------- */

static bool is_whole(const struct as_agent_record *record, uint32_t size_b)
{
    const struct as_agent_sample *sample = (const void *)record;
    const struct as_agent_map_record *map = (const void *)record;
    if (record->time_ns > AS_TIME_MOST_NS)
        return false;
    switch (record->kind) {
    case AS_AGENT_SAMPLE:
        return size_b >= sizeof *sample && sample->period_ns <= AS_PERIOD_MOST &&
               sample->regs_n <= AS_AGENT_REGS_N && sample->chain_n <= AS_AGENT_CHAIN_N &&
               sample->stack_b % 8 == 0 && sample->python_n <= AS_AGENT_PYTHON_MOST_N &&
               sizeof *sample + 8ull * (sample->regs_n + sample->chain_n) + sample->stack_b +
                       sample->python_n * sizeof(struct as_agent_python_frame) ==
                   size_b;
    case AS_AGENT_MAP:
        return size_b > sizeof *map && map->build_id_b <= sizeof map->build_id &&
               memchr(map->line, 0, size_b - offsetof(struct as_agent_map_record, line));
    case AS_AGENT_THREAD:
    case AS_AGENT_NAME:
    case AS_AGENT_EXIT:
        return size_b == sizeof(struct as_agent_thread_record);
    case AS_AGENT_CHILD:
        return size_b == sizeof(struct as_agent_child_record);
    case AS_AGENT_CODE:
        return as_python_code_is_whole((const void *)record, size_b);
    case AS_AGENT_PYTHON:
        return size_b == sizeof(struct as_agent_python_record);
    case AS_AGENT_LOADED:
    case AS_AGENT_END:
        return size_b == sizeof *record;
    default:
        return false;
    }
}

/* Returns space for a record behind the waiting ones, or NULL without memory. */
static struct as_agent_record *room_for(struct as_timer_sampler *s, uint32_t size_b)
{
    const size_t words = size_b / 8;
    return as_vec_reserve(&s->bytes, s->bytes.n + words) < 0 ? NULL
                                                             : (void *)(s->bytes.at + s->bytes.n);
}

/* Adds the record at the end of `bytes` to the waiting ones. */
static int queue_timer_record(struct as_timer_sampler *s, uint32_t ring,
                              const struct as_agent_record *record)
{
    const struct as_timer_item item = {
        .time_ns = record->time_ns, .order = (uint32_t)s->item.n, .ring = ring, .at = s->bytes.n};
    AS_TRY(as_vec_push(&s->item, item));
    s->bytes.n += record->size_b / 8;
    return 0;
}

static void note_python(struct as_timer_sampler *s, struct as_timer_ring *ring,
                        const struct as_agent_python_record *record)
{
    struct as_timer_facts *facts = &s->facts;
    facts->python_read += record->state == AS_AGENT_PYTHON_FOUND;
    facts->python_other += record->state == AS_AGENT_PYTHON_OTHER;
    facts->python_strange += record->state == AS_AGENT_PYTHON_STRANGE;
    if (record->state == AS_AGENT_PYTHON_READ && !ring->python_ns)
        ring->python_ns = record->head.time_ns;
    if (record->state != AS_AGENT_PYTHON_OTHER && record->state != AS_AGENT_PYTHON_STRANGE)
        return;
    size_t n = 0;
    while (n < sizeof facts->python_version - 1 && strchr("0123456789.", record->version[n]) &&
           record->version[n])
        n++;
    memcpy(facts->python_version, record->version, n);
    facts->python_version[n] = 0;
}

/* Copies a record and sets `*whole` if it is valid. Only a copy can be checked, because the program
 * may still write. Returns 0 or NOMEM. */
static int copy_timer_record(struct as_timer_sampler *s, uint32_t ring, const void *from,
                             uint32_t size_b, bool *whole)
{
    struct as_agent_record *record = room_for(s, size_b);
    if (!record)
        return AS_ERR_NOMEM;
    memcpy(record, from, size_b);
    *whole = is_whole(record, size_b);
    record->size_b = *whole ? size_b : 0;
    if (!*whole)
        return 0;
    if (record->kind == AS_AGENT_CODE) /* not queued: samples refer to it */
        return as_python_code_add(&s->python, (const void *)record);
    if (record->kind == AS_AGENT_PYTHON)
        note_python(s, &s->ring.at[ring], (const void *)record);
    else
        AS_TRY(queue_timer_record(s, ring, record));
    return 0;
}

int as_timer_add(struct as_timer_sampler *s, uint32_t ring, uint32_t kind, uint64_t time_ns)
{
    assert(ring < s->ring.n);
    struct as_agent_record *record = room_for(s, sizeof *record);
    if (!record)
        return AS_ERR_NOMEM;
    memset(record, 0, sizeof *record);
    record->size_b = sizeof *record;
    record->kind = kind;
    record->tid = s->ring.at[ring].pid;
    record->time_ns = time_ns;
    return queue_timer_record(s, ring, record);
}

/* Returns the number of unwritten bytes of a killed thread before the next record, or `left`. */
static uint64_t hole(const struct as_timer_ring *ring, uint64_t tail, uint64_t left)
{
    for (uint64_t n = 8; n + sizeof(struct as_agent_record) <= left; n += 8) {
        const struct as_agent_record *record =
            (const void *)(ring->data + ((tail + n) & (ring->data_b - 1)));
        uint32_t size_b = record->size_b;
        if (size_b && size_b % 8 == 0 && size_b <= left - n && is_whole(record, size_b))
            return n;
    }
    return left;
}

int as_timer_drain(struct as_timer_sampler *s, uint32_t index, bool last)
{
    struct as_timer_ring *ring = &s->ring.at[index];
    uint64_t tail = atomic_load_explicit(&ring->head->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&ring->head->head, memory_order_acquire);
    if (head - tail > ring->data_b || tail % 8) { /* overwritten by the program */
        s->counts.damaged++;
        memset(ring->data, 0, ring->data_b);
        atomic_store_explicit(&ring->head->tail, head, memory_order_release);
        return 0;
    }
    while (head - tail >= sizeof(struct as_agent_record)) {
        uint64_t left = head - tail;
        struct as_agent_record *record = (void *)(ring->data + (tail & (ring->data_b - 1)));
        uint64_t size_b = atomic_load_explicit(&record->size_b, memory_order_acquire);
        bool whole = false;
        if (size_b == 0 && !ring->dead && !last)
            return 0;
        if (size_b == 0) {
            s->facts.incomplete++;
            size_b = hole(ring, tail, left);
        } else {
            if (size_b >= sizeof *record && size_b % 8 == 0 && size_b <= left)
                AS_TRY(copy_timer_record(s, index, record, (uint32_t)size_b, &whole));
            /* Its file exists now. */
            s->hurry = s->hurry || (whole && record->kind == AS_AGENT_MAP);
            if (!whole) {
                s->counts.damaged++;
                size_b = hole(ring, tail, left);
            }
        }
        memset(record, 0, size_b);
        tail += size_b;
        atomic_store_explicit(&ring->head->tail, tail, memory_order_release);
    }
    return 0;
}
