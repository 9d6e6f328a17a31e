/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread pool. Threads take pieces in ascending order from one atomic counter. If a piece
 * fails, all lower pieces have been taken and will finish. So the lowest failure does not depend on
 * the number of threads.
 */
#include "base/pool.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"

/* Pieces per thread if the pool chooses the grain: enough to balance unequal work. */
#define PIECES_PER_JOB 8

/* One as_pool_for. */
struct task {
    as_pool_fn *fn;
    void *ctx;
    size_t n, grain, piece_n;
    atomic_size_t next;   /* next piece to hand out */
    atomic_size_t failed; /* lowest failing piece, piece_n: none; written under `lock` */
    int code;             /* error code of piece `failed`, protected by the lock of the pool */
    struct as_error *err;
    _Atomic int64_t longest_ns; /* longest time of one thread */
};

struct worker {
    struct as_pool *pool;
    pthread_t thread;
    unsigned number;
};

struct as_pool {
    pthread_mutex_t turn; /* held during one as_pool_for */
    pthread_mutex_t lock; /* protects the members below and the failure of a task */
    pthread_cond_t work, idle;
    struct task *task;   /* NULL between tasks */
    uint64_t task_count; /* tells a worker that a task is new */
    unsigned busy;       /* workers that have not finished the current task */
    bool ending;
    unsigned jobs; /* constant while threads work */
    struct worker workers[];
};

/* The pool of the piece that this thread runs, and the number of this thread. */
static _Thread_local const struct as_pool *inside;
static _Thread_local unsigned inside_as;

unsigned as_pool_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    /* The host has more CPUs than the set can hold (1,024). */
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

/* Sums over all pools. No memory order is needed, because they are read between tasks. */
static _Atomic int64_t shared_ns, longest_ns;

static void add_times(struct task *task, int64_t took_ns)
{
    int64_t longest = atomic_load_explicit(&task->longest_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&shared_ns, took_ns, memory_order_relaxed);
    while (longest < took_ns &&
           !atomic_compare_exchange_weak_explicit(&task->longest_ns, &longest, took_ns,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

struct as_pool_times as_pool_times(void)
{
    return (struct as_pool_times){atomic_load_explicit(&shared_ns, memory_order_relaxed),
                                  atomic_load_explicit(&longest_ns, memory_order_relaxed)};
}

static void work_on(struct as_pool *pool, struct task *task, unsigned number)
{
    struct as_error err = {.code = AS_OK};
    const int64_t began_ns = as_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    inside = pool;
    inside_as = number;
    for (;;) {
        size_t piece = atomic_fetch_add_explicit(&task->next, 1, memory_order_relaxed);
        if (piece >= task->piece_n ||
            piece > atomic_load_explicit(&task->failed, memory_order_relaxed))
            break;
        size_t from = piece * task->grain;
        size_t to = task->n - from > task->grain ? from + task->grain : task->n;
        int rc = task->fn(task->ctx, from, to, number, &err);
        if (rc >= 0)
            continue;
        pthread_mutex_lock(&pool->lock);
        if (piece < atomic_load_explicit(&task->failed, memory_order_relaxed)) {
            atomic_store_explicit(&task->failed, piece, memory_order_relaxed);
            task->code = rc;
            if (task->err)
                *task->err = err;
        }
        pthread_mutex_unlock(&pool->lock);
    }
    inside = NULL;
    add_times(task, as_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns);
}

static void *worker_main(void *arg)
{
    struct worker *self = arg;
    struct as_pool *pool = self->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->ending && pool->task_count == seen)
            pthread_cond_wait(&pool->work, &pool->lock);
        if (pool->ending)
            break;
        seen = pool->task_count;
        struct task *task = pool->task;
        pthread_mutex_unlock(&pool->lock);
        work_on(pool, task, self->number);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Starts up to `jobs` - 1 threads with blocked signals: the main thread handles signals. */
static void start_threads(struct as_pool *pool, unsigned jobs)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* the handler of base/filemap.h must run in the faulting thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (unsigned i = 1; i < jobs; i++) {
        struct worker *worker = &pool->workers[i];
        *worker = (struct worker){.pool = pool, .number = i};
        if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0) {
            as_log(BASE, WARN, "pool: %u of %u threads", i, jobs);
            break;
        }
        pool->jobs = i + 1;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int as_pool_new(struct as_pool **pool, unsigned jobs, struct as_error *err)
{
    *pool = NULL;
    if (!jobs)
        jobs = as_pool_processors();
    if (jobs > AS_POOL_MOST)
        jobs = AS_POOL_MOST;
    struct as_pool *made = as_calloc(1, sizeof *made + jobs * sizeof made->workers[0]);
    if (!made)
        return as_error_nomem(err, "thread pool");
    pthread_mutex_init(&made->turn, NULL);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->work, NULL);
    pthread_cond_init(&made->idle, NULL);
    made->jobs = 1;
    start_threads(made, jobs);
    *pool = made;
    return 0;
}

void as_pool_free(struct as_pool **pool)
{
    struct as_pool *old = *pool;
    *pool = NULL;
    if (!old)
        return;
    pthread_mutex_lock(&old->lock);
    assert(!old->task && "freed while it works");
    old->ending = true;
    pthread_cond_broadcast(&old->work);
    pthread_mutex_unlock(&old->lock);
    for (unsigned i = 1; i < old->jobs; i++)
        pthread_join(old->workers[i].thread, NULL);
    pthread_cond_destroy(&old->idle);
    pthread_cond_destroy(&old->work);
    pthread_mutex_destroy(&old->lock);
    pthread_mutex_destroy(&old->turn);
    as_free(old);
}

unsigned as_pool_jobs(const struct as_pool *pool)
{
    return pool ? pool->jobs : 1;
}

static int run_inline(size_t n, size_t grain, as_pool_fn *fn, void *ctx, unsigned number,
                      struct as_error *err)
{
    struct as_error own = {.code = AS_OK};
    for (size_t from = 0; from < n;) {
        size_t to = n - from > grain ? from + grain : n;
        int rc = fn(ctx, from, to, number, err ? err : &own);
        if (rc < 0)
            return rc;
        from = to;
    }
    return 0;
}

int as_pool_for(struct as_pool *pool, size_t n, size_t grain, as_pool_fn *fn, void *ctx,
                struct as_error *err)
{
    unsigned jobs = as_pool_jobs(pool);
    if (!grain)
        grain = n / ((size_t)jobs * PIECES_PER_JOB) + 1;
    if (pool && inside == pool)
        return run_inline(n, grain, fn, ctx, inside_as, err);
    if (jobs == 1 || n <= grain)
        return run_inline(n, grain, fn, ctx, 0, err);

    size_t piece_n = (n - 1) / grain + 1;
    struct task task = {.fn = fn, .ctx = ctx, .n = n, .grain = grain, .piece_n = piece_n};
    task.err = err;
    atomic_init(&task.next, 0);
    atomic_init(&task.failed, piece_n);
    atomic_init(&task.longest_ns, 0);
    pthread_mutex_lock(&pool->turn);
    pthread_mutex_lock(&pool->lock);
    pool->task = &task;
    pool->task_count++;
    pool->busy = jobs - 1;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);

    const struct as_pool *outer = inside;
    unsigned outer_as = inside_as;
    work_on(pool, &task, 0);
    inside = outer;
    inside_as = outer_as;

    pthread_mutex_lock(&pool->lock);
    while (pool->busy)
        pthread_cond_wait(&pool->idle, &pool->lock);
    pool->task = NULL;
    atomic_fetch_add_explicit(&longest_ns,
                              atomic_load_explicit(&task.longest_ns, memory_order_relaxed),
                              memory_order_relaxed);
    pthread_mutex_unlock(&pool->lock);
    pthread_mutex_unlock(&pool->turn);
    return task.code;
}
