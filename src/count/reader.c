/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads recorded addresses. The control words are shared with the thread of the program. Records
 * are copied before they are checked, since the program could change them in between.
 */
#include "count/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"

enum { THREADS_MOST = 4096, PAUSE_NS = 25, HEAD_B = 4096 };
/* Pauses that make a half slow, and slow halves before one class is sampled. The first ones still
 * have records of all lines. */
enum { LONG_WAIT = 20000, SLOW_MOST = 4 };
#define SCAN_NS  (INT64_C(5) * 1000000)
#define SLEEP_NS (INT64_C(200) * 1000)

/* ---- Halves --------------------------------------------------------------------------------- */

static uint64_t half_begin(const struct as_reader *r, const struct as_reader_thread *t)
{
    return t->local_b + as_patch_addresses_at(r->plan) +
           t->half * (uint64_t)r->plan->addresses_b / 2;
}

static uint64_t half_limit(const struct as_reader *r, const struct as_reader_thread *t)
{
    return half_begin(r, t) + r->plan->addresses_b / 2 - AS_PATCH_ADDRESSES_MARGIN_B;
}

/* Returns the number of pauses that threads may still wait, which grows with time. */
static uint64_t patience_left(const struct as_reader *r)
{
    const uint64_t passed_ns = (uint64_t)(as_monotonic_ns() - r->begin_ns);
    const uint64_t grown_ns = AS_READER_PATIENCE_NS + 3 * passed_ns / 20;
    const uint64_t all = (grown_ns < r->patience_ns ? grown_ns : r->patience_ns) / PAUSE_NS;
    return all > r->waited_n ? all - r->waited_n : 0;
}

/* Subtracts the used patience of a thread, and sets its patience for the next half. */
static void renew_patience(struct as_reader *r, struct as_reader_thread *t)
{
    uint64_t *patience = &t->head->addresses.patience;
    const uint64_t left = __atomic_load_n(patience, __ATOMIC_RELAXED);
    const uint64_t waited = left < t->patience ? t->patience - left : 0;
    r->waited_n += waited;
    r->slow_n += waited > LONG_WAIT && r->replay->kept_n == AS_REPLAY_KEPT_LEAST;
    if (r->replay->is_sampled && r->slow_n > SLOW_MOST)
        as_level_replay_hurry(r->replay);
    const uint64_t more = patience_left(r);
    t->patience = more < AS_PATCH_PATIENCE ? more : AS_PATCH_PATIENCE;
    __atomic_store_n(patience, t->patience, __ATOMIC_RELAXED);
}

/* Lets a full thread continue in the other half. clone_addresses.c relies on the order of stores.
 */
static void switch_half(struct as_reader *r, struct as_reader_thread *t)
{
    t->half ^= 1;
    renew_patience(r, t);
    __atomic_store_n(&t->head->addresses.cursor, half_begin(r, t), __ATOMIC_RELEASE);
    __atomic_store_n(&t->head->addresses.limit, half_limit(r, t), __ATOMIC_RELEASE);
}

/* Copies `n` words at offset `at` of the file. Returns false if the file is too short. */
static bool copy_words(const struct as_reader *r, const struct as_reader_thread *t, uint64_t at,
                       uint64_t n)
{
    uint8_t *to = (uint8_t *)r->word;
    for (uint64_t have_b = 0; have_b < 8 * n;) {
        const ssize_t got = pread(t->fd, to + have_b, 8 * n - have_b, (off_t)(at + have_b));
        if (got <= 0)
            return false;
        have_b += (uint64_t)got;
    }
    return true;
}

/* Replays the walk that was unfinished when its half was read; `drop` discards it. */
static bool replay_pending(struct as_reader *r, struct as_reader_thread *t, bool drop)
{
    if (t->pending_n == 0)
        return true;
    if (copy_words(r, t, t->pending_at, t->pending_n) &&
        as_level_replay_words(r->replay, &t->model, r->word, t->pending_n) == t->pending_n)
        t->pending_n = 0;
    else if (drop) {
        r->replay->damaged++;
        t->pending_n = 0;
    }
    return t->pending_n == 0;
}

static void replay_half(struct as_reader *r, struct as_reader_thread *t, uint64_t begin,
                        uint64_t cursor)
{
    const uint64_t at = begin - t->local_b, n = (cursor - begin) / 8;
    replay_pending(r, t, true);
    if (n == 0 || !copy_words(r, t, at, n))
        return;
    const size_t done = as_level_replay_words(r->replay, &t->model, r->word, n);
    t->pending_at = at + 8 * done;
    t->pending_n = n - done;
}

/* Returns the place that the thread writes to; 0: not in its half, or not at a word. */
static uint64_t cursor_of(struct as_reader *r, struct as_reader_thread *t)
{
    const uint64_t cursor = __atomic_load_n(&t->head->addresses.cursor, __ATOMIC_ACQUIRE);
    const uint64_t begin = half_begin(r, t);
    if (cursor >= begin && cursor <= begin + r->plan->addresses_b / 2 && (cursor - begin) % 8 == 0)
        return cursor;
    t->is_damaged = true;
    r->missed++;
    return 0;
}

/* Processes new records of a thread. Returns true if there were any. */
static bool look_at_thread(struct as_reader *r, struct as_reader_thread *t)
{
    if (t->is_damaged)
        return false;
    const uint64_t begin = half_begin(r, t), limit = half_limit(r, t), cursor = cursor_of(r, t);
    if (cursor < limit) {
        replay_pending(r, t, false);
        return false;
    }
    /* A thread that gave up records again only with enough patience: the caches must fill first. */
    const bool gave_up = __atomic_load_n(&t->head->addresses.patience, __ATOMIC_RELAXED) == 0;
    if (gave_up && !t->is_parked) {
        replay_half(r, t, begin, cursor);
        t->is_parked = true;
        r->waited_n += t->patience;
        t->patience = 0;
    }
    if (gave_up && patience_left(r) < AS_READER_PATIENCE_NS / PAUSE_NS)
        return false;
    switch_half(r, t);
    if (!t->is_parked)
        replay_half(r, t, begin, cursor);
    t->is_parked = false;
    return true;
}

static void finish_thread(struct as_reader *r, struct as_reader_thread *t)
{
    const uint64_t cursor = t->is_damaged || t->is_parked ? 0 : cursor_of(r, t);
    if (cursor)
        replay_half(r, t, half_begin(r, t), cursor);
    replay_pending(r, t, true);
}

/* Tells all threads which lines are sampled. Records of more lines do no harm. */
static void publish_sample(struct as_reader *r)
{
    const uint64_t lines = as_level_replay_mask(r->replay, false);
    const uint64_t spans = as_level_replay_mask(r->replay, true);
    as_vec_foreach (&r->thread, it) {
        __atomic_store_n(&(*it)->head->line_sample, lines, __ATOMIC_RELAXED);
        __atomic_store_n(&(*it)->head->span_sample, spans, __ATOMIC_RELAXED);
    }
}

/* ---- Files ---------------------------------------------------------------------------------- */

static bool is_known(const struct as_reader *r, const char *name)
{
    as_vec_foreach (&r->thread, it)
        if (strcmp((*it)->name, name) == 0)
            return true;
    return false;
}

static void close_thread(struct as_reader_thread *t)
{
    as_level_replay_thread_fini(&t->model);
    if (t->head)
        munmap(t->head, HEAD_B);
    if (t->fd >= 0)
        close(t->fd);
    as_free(t);
}

/* Opens the file of a thread. Returns false if it is incomplete or invalid. */
static bool open_thread(const struct as_reader *r, struct as_reader_thread *t, int directory)
{
    struct stat status;
    t->fd = openat(directory, t->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (t->fd < 0 || fstat(t->fd, &status) < 0 || !S_ISREG(status.st_mode) ||
        (uint64_t)status.st_size < as_patch_thread_b(r->plan))
        return false;
    void *at = mmap(NULL, HEAD_B, PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0);
    t->head = at == MAP_FAILED ? NULL : at;
    if (!t->head || __atomic_load_n(&t->head->magic, __ATOMIC_ACQUIRE) != AS_PATCH_THREAD ||
        t->head->version != AS_PATCH_VERSION)
        return false;
    t->local_b = t->head->addresses.begin - as_patch_addresses_at(r->plan);
    t->patience = AS_PATCH_PATIENCE;
    return t->local_b == 0 || t->local_b == HEAD_B;
}

static void add_reader_thread(struct as_reader *r, int directory, const char *name)
{
    struct as_reader_thread *t = r->thread.n < THREADS_MOST ? as_calloc(1, sizeof *t) : NULL;
    if (!t)
        return;
    t->fd = -1;
    snprintf(t->name, sizeof t->name, "%s", name);
    if (!open_thread(r, t, directory) ||
        as_level_replay_thread_init(r->replay, &t->model, NULL) < 0 ||
        as_vec_push(&r->thread, t) < 0)
        close_thread(t);
}

static void scan_files(struct as_reader *r)
{
    DIR *dir = opendir(r->directory);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (strncmp(entry->d_name, AS_PATCH_PREFIX, strlen(AS_PATCH_PREFIX)) == 0 &&
            strlen(entry->d_name) < sizeof((struct as_reader_thread *)0)->name &&
            !is_known(r, entry->d_name))
            add_reader_thread(r, dirfd(dir), entry->d_name);
    if (dir)
        closedir(dir);
}

/* ---- Its life ------------------------------------------------------------------------------- */

static void *read_until_over(void *context)
{
    struct as_reader *r = context;
    int64_t scanned_ns = 0;
    while (!atomic_load(&r->is_over)) {
        const int64_t now_ns = as_monotonic_ns();
        bool worked = false;
        if (now_ns - scanned_ns > SCAN_NS) {
            scan_files(r);
            scanned_ns = now_ns;
            publish_sample(r);
        }
        as_vec_foreach (&r->thread, it)
            if (look_at_thread(r, *it)) {
                worked = true;
                publish_sample(r);
            }
        if (!worked)
            nanosleep(&(struct timespec){0, SLEEP_NS}, NULL);
    }
    return NULL;
}

int as_reader_start(struct as_reader *r, const struct as_patch_plan *plan,
                    struct as_level_replay *replay, uint64_t patience_ns, const char *directory,
                    struct as_error *err)
{
    *r = (struct as_reader){
        .plan = plan, .replay = replay, .patience_ns = patience_ns, .begin_ns = as_monotonic_ns()};
    snprintf(r->directory, sizeof r->directory, "%s", directory);
    r->word = as_malloc(plan->addresses_b / 2);
    if (!r->word)
        return as_error_nomem(err, "addresses");
    const int error = pthread_create(&r->worker, NULL, read_until_over, r);
    r->has_worker = error == 0;
    return error ? as_error_set(err, AS_ERR_IO,
                                "addresses: no thread could be started to read them: %s; raise "
                                "the limit of processes (ulimit -u)",
                                strerror(error))
                 : 0;
}

void as_reader_stop(struct as_reader *r, bool last)
{
    if (r->has_worker) {
        atomic_store(&r->is_over, true);
        pthread_join(r->worker, NULL);
        r->has_worker = false;
    }
    if (last && r->word)
        scan_files(r);
    as_vec_foreach (&r->thread, it) {
        if (last)
            finish_thread(r, *it);
        close_thread(*it);
    }
    as_vec_fini(&r->thread);
    as_free(r->word);
    r->word = NULL;
}
