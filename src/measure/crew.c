/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each thread reads the clock at its own start and end. The thread that starts a round may have to
 * wait for a CPU.
 */
#include "measure/crew.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"

struct crew_member {
    struct as_crew *crew;
    size_t index;
    pthread_t thread;
    int64_t begin_ns, end_ns; /* of the last round; protected by `lock` between rounds */
};

struct as_crew {
    struct as_crew_part *part; /* borrowed; changed only between rounds */
    size_t n;
    struct crew_member *member;
    size_t started;
    pthread_mutex_t lock; /* protects all members below */
    pthread_cond_t changed;
    unsigned round; /* increases with each round */
    size_t busy;    /* members that are still working in this round */
    as_kernel_fn *kernel;
    void (*fill)(struct as_crew_part *part);
    bool is_over;
    _Atomic size_t ready; /* members that are awake in this round */
};

#define TOGETHER_NS INT64_C(1000000) /* longest wait for members without a CPU */

/* Members wake at different times, so those that are awake spin until all are. */
static void begin_together(struct as_crew *crew)
{
    atomic_fetch_add(&crew->ready, 1);
    const int64_t until_ns = as_monotonic_ns() + TOGETHER_NS;
    while (atomic_load(&crew->ready) < crew->n && as_monotonic_ns() < until_ns)
        __builtin_ia32_pause();
}

static void bind_to(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

/* Waits for a round other than `seen`. Returns false when the crew ends. */
static bool await_round(struct as_crew *crew, unsigned *seen)
{
    pthread_mutex_lock(&crew->lock);
    while (crew->round == *seen && !crew->is_over)
        pthread_cond_wait(&crew->changed, &crew->lock);
    *seen = crew->round;
    const bool goes_on = !crew->is_over;
    pthread_mutex_unlock(&crew->lock);
    return goes_on;
}

static void *work_along(void *context)
{
    struct crew_member *me = context;
    struct as_crew *crew = me->crew;
    struct as_crew_part *part = &crew->part[me->index];
    unsigned seen = 0;

    bind_to(part->cpu);
    while (await_round(crew, &seen)) {
        begin_together(crew);
        me->begin_ns = as_monotonic_ns();
        if (crew->fill)
            crew->fill(part);
        else
            crew->kernel(part->a, part->b, part->c, part->n, part->passes);
        me->end_ns = as_monotonic_ns();
        pthread_mutex_lock(&crew->lock);
        if (--crew->busy == 0)
            pthread_cond_broadcast(&crew->changed);
        pthread_mutex_unlock(&crew->lock);
    }
    return NULL;
}

int as_crew_new(struct as_crew_part *part, size_t n, struct as_crew **out, struct as_error *err)
{
    struct as_crew *crew = as_calloc(1, sizeof *crew);

    *out = crew;
    if (!crew)
        return as_error_nomem(err, "the threads of a measurement");
    crew->part = part;
    crew->n = n;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->changed, NULL);
    crew->member = as_calloc(n, sizeof *crew->member);
    if (!crew->member) {
        as_crew_free(out);
        return as_error_nomem(err, "the threads of a measurement");
    }
    for (; crew->started < n; crew->started++) {
        struct crew_member *m = &crew->member[crew->started];
        *m = (struct crew_member){.crew = crew, .index = crew->started};
        const int why = pthread_create(&m->thread, NULL, work_along, m);
        if (why) {
            as_crew_free(out);
            return as_error_set(err, AS_ERR_IO, "measuring: a thread does not start: %s",
                                strerror(why));
        }
    }
    return 0;
}

void as_crew_free(struct as_crew **out)
{
    struct as_crew *crew = *out;

    if (!crew)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->is_over = true;
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
    for (size_t i = 0; i < crew->started; i++)
        pthread_join(crew->member[i].thread, NULL);
    pthread_cond_destroy(&crew->changed);
    pthread_mutex_destroy(&crew->lock);
    as_free(crew->member);
    as_free(crew);
    *out = NULL;
}

static int64_t run_round(struct as_crew *crew)
{
    int64_t first_ns = INT64_MAX, last_ns = 0;

    pthread_mutex_lock(&crew->lock);
    crew->busy = crew->n;
    atomic_store(&crew->ready, 0);
    crew->round++;
    pthread_cond_broadcast(&crew->changed);
    while (crew->busy)
        pthread_cond_wait(&crew->changed, &crew->lock);
    for (size_t i = 0; i < crew->n; i++) {
        const struct crew_member *m = &crew->member[i];
        first_ns = m->begin_ns < first_ns ? m->begin_ns : first_ns;
        last_ns = m->end_ns > last_ns ? m->end_ns : last_ns;
    }
    pthread_mutex_unlock(&crew->lock);
    return last_ns > first_ns ? last_ns - first_ns : 1;
}

size_t as_crew_size(const struct as_crew *crew)
{
    return crew->n;
}

int64_t as_crew_run(struct as_crew *crew, as_kernel_fn *kernel)
{
    crew->fill = NULL;
    crew->kernel = kernel;
    return run_round(crew);
}

void as_crew_passes(struct as_crew *crew, size_t passes)
{
    for (size_t i = 0; i < crew->n; i++)
        crew->part[i].passes = passes;
}

void as_crew_fill(struct as_crew *crew, void (*fill)(struct as_crew_part *part))
{
    crew->fill = fill;
    run_round(crew);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

#define HUGE_B ((size_t)2 << 20)

bool as_room_open(struct as_room *room, size_t size_b, enum as_pages pages)
{
    const size_t whole_b = ((size_b + HUGE_B - 1) & ~(HUGE_B - 1)) + HUGE_B;
    uint8_t *from = mmap(NULL, whole_b, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    *room = (struct as_room){0};
    if (from == MAP_FAILED)
        return false;
    uint8_t *at = (uint8_t *)(((uintptr_t)from + HUGE_B - 1) & ~(HUGE_B - 1));
    if (at > from)
        munmap(from, (size_t)(at - from));
    const size_t behind_b = (size_t)(from + whole_b - (at + whole_b - HUGE_B));
    if (behind_b)
        munmap(at + whole_b - HUGE_B, behind_b);
    room->at = at;
    room->size_b = whole_b - HUGE_B;
    madvise(at, room->size_b, pages == AS_PAGES_SMALL ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    return true;
}

/* The file has "55d0...-55d1... rw-p ...", then "AnonHugePages: 2048 kB". */
void as_room_look(struct as_room *room)
{
    char line[512];
    static const char huge[] = "AnonHugePages:";
    bool inside = false;
    FILE *f = fopen("/proc/self/smaps", "re");

    room->huge = false;
    while (f && fgets(line, sizeof line, f)) {
        char *end;
        const unsigned long long first = strtoull(line, &end, 16);
        if (end != line && *end == '-')
            inside =
                first <= (uintptr_t)room->at && (uintptr_t)room->at < strtoull(end + 1, NULL, 16);
        else if (inside && strncmp(line, huge, sizeof huge - 1) == 0)
            room->huge = strtoull(line + sizeof huge - 1, NULL, 10) * 1024 >= room->size_b / 2;
    }
    if (f)
        fclose(f);
}

void as_room_close(struct as_room *room)
{
    if (room->at)
        munmap(room->at, room->size_b);
    *room = (struct as_room){0};
}
