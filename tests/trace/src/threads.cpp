// SPDX-License-Identifier: Apache-2.0
// Threads that wait for each other in known ways, and log when: usage: threads CASE[,CASE...] LOG
// ROUNDS MS. A line of the log: KIND ROUND THREAD ENTER LEAVE TID, in nanoseconds of
// CLOCK_MONOTONIC_RAW.
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <thread>
#include <vector>

struct Line {
    const char *kind;
    int round, thread;
    long long enter, leave;
    long tid;
};

static const int threads = 3;
static int rounds, first_round; // each case has rounds of its own
static long late_ms;
static std::vector<Line> lines[16];

static long long now()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void rest(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, nullptr);
}

static void say(const char *kind, int round, int thread, long long enter, long long leave)
{
    static thread_local const long tid = syscall(SYS_gettid);
    lines[thread].push_back({kind, first_round + round, thread, enter, leave, tid});
}

template <class F> static void timed(const char *kind, int round, int thread, F call)
{
    long long enter = now();
    call();
    say(kind, round, thread, enter, now());
}

// ---- Threads of the C and C++ libraries -------------------------------------------------------

template <class F> static void in_threads(F work)
{
    std::vector<std::thread> team;
    for (int i = 1; i < threads; i++)
        team.emplace_back([work, i] { timed("thread", 0, i, [&] { work(i); }); });
    work(0);
    for (int i = 1; i < threads; i++)
        timed("join", 0, i, [&] { team[i - 1].join(); });
}

static void with_mutex()
{
    static std::mutex mutex;
    in_threads([](int i) {
        for (int r = 0; r < rounds; r++) {
            timed("lock", r, i, [] { mutex.lock(); });
            rest(late_ms);
            timed("unlock", r, i, [] { mutex.unlock(); });
        }
    });
}

static void with_condition()
{
    static std::mutex mutex;
    static std::condition_variable changed;
    static int turn;
    in_threads([](int i) {
        for (int r = 0; r < rounds; r++) {
            if (i == 0) {
                rest(late_ms);
                std::lock_guard<std::mutex> own(mutex);
                turn = r + 1;
                timed("signal", r, i, [] { changed.notify_all(); });
            } else {
                std::unique_lock<std::mutex> own(mutex);
                timed("wait", r, i, [&] { changed.wait(own, [&] { return turn > r; }); });
            }
        }
    });
}

static void with_semaphore()
{
    static sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    in_threads([](int i) {
        for (int r = 0; r < rounds; r++)
            if (i == 0) {
                rest(late_ms);
                for (int n = 1; n < threads; n++)
                    timed("signal", r, i, [] { sem_post(&semaphore); });
            } else {
                timed("wait", r, i, [] { sem_wait(&semaphore); });
            }
    });
}

static void with_barrier()
{
    static pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, threads);
    in_threads([](int i) {
        for (int r = 0; r < rounds; r++) {
            rest(i == 1 ? late_ms : 1);
            timed("thread_barrier", r, i, [] { pthread_barrier_wait(&barrier); });
        }
    });
}

static void with_join()
{
    for (int r = 0; r < rounds; r++) {
        std::thread one([r] {
            long long enter = now();
            rest(late_ms);
            say("thread", r, 1, enter, now());
        });
        timed("join", r, 1, [&] { one.join(); });
    }
}

// ---- OpenMP -----------------------------------------------------------------------------------

// The work of each thread of a team, and the end of that work.
template <class F> static void in_team(F work)
{
    long long begin = now();
#pragma omp parallel num_threads(threads)
    {
        int i = omp_get_thread_num();
        long long enter = now();
        work(i);
        say("part", 0, i, enter, now());
    }
    say("region", 0, 0, begin, now());
}

static void with_critical()
{
    in_team([](int i) {
        for (int r = 0; r < rounds; r++) {
            long long enter = now();
#pragma omp critical(planted)
            {
                say("critical", r, i, enter, now());
                rest(late_ms);
            }
        }
    });
}

static void with_omp_lock()
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    in_team([&](int i) {
        for (int r = 0; r < rounds; r++) {
            timed("lock", r, i, [&] { omp_set_lock(&lock); });
            rest(late_ms);
            omp_unset_lock(&lock);
        }
    });
    omp_destroy_lock(&lock);
}

// Between two regions workers have nothing to do; within one each has more than the one before.
static void with_regions(bool even)
{
    for (int r = 0; r < rounds; r++) {
        rest(even ? late_ms : 1);
        long long begin = now();
#pragma omp parallel num_threads(threads)
        {
            int i = omp_get_thread_num();
            long long enter = now();
            rest(even ? 2 : 1 + late_ms * i);
            say("part", r, i, enter, now());
        }
        say("region", r, 0, begin, now());
    }
}

static void with_omp_barrier()
{
    in_team([](int i) {
        for (int r = 0; r < rounds; r++) {
            rest(i == 2 ? late_ms : 1);
            long long enter = now();
#pragma omp barrier
            say("barrier", r, i, enter, now());
        }
    });
}

static void with_loop()
{
    in_team([](int i) {
        for (int r = 0; r < rounds; r++) {
            long long enter = now();
#pragma omp for schedule(dynamic, 1)
            for (int n = 0; n < threads; n++) {
                rest(n == 0 ? late_ms : 1);
                enter = now();
            }
            say("barrier", r, i, enter, now());
        }
    });
}

// Two tasks that others take while the one that made them rests, before it waits for them.
static void with_tasks()
{
    in_team([](int i) {
        for (int r = 0; r < rounds; r++) {
#pragma omp barrier
            if (i == 0) {
                for (int n = 0; n < 2; n++) {
#pragma omp task firstprivate(r, n)
                    {
                        long long enter = now();
                        rest(late_ms * (n + 1));
                        say("task", r, omp_get_thread_num(), enter, now());
                    }
                }
                rest(late_ms / 2);
                long long enter = now();
#pragma omp taskwait
                say("taskwait", r, i, enter, now());
            }
        }
    });
}

// A task that another makes within a task of the group, which is over before: the group waits for both.
static void with_groups()
{
    in_team([](int i) {
        for (int r = 0; r < rounds; r++) {
#pragma omp barrier
            if (i != 0)
                continue;
            long long enter = 0;
#pragma omp taskgroup
            {
#pragma omp task firstprivate(r)
                {
                    long long begun = now();
#pragma omp task firstprivate(r)
                    {
                        long long inner = now();
                        rest(late_ms * 2);
                        say("grouped", r, omp_get_thread_num(), inner, now());
                    }
                    rest(late_ms);
                    say("grouped", r, omp_get_thread_num(), begun, now());
                }
                rest(late_ms / 2);
                enter = now();
            }
            say("group", r, i, enter, now());
        }
    });
}

static const struct {
    const char *name;
    void (*run)();
} cases[] = {
    {"mutex", with_mutex},
    {"condition", with_condition},
    {"semaphore", with_semaphore},
    {"thread_barrier", with_barrier},
    {"join", with_join},
    {"critical", with_critical},
    {"omp_lock", with_omp_lock},
    {"serial", [] { with_regions(true); }},
    {"imbalance", [] { with_regions(false); }},
    {"omp_barrier", with_omp_barrier},
    {"loop", with_loop},
    {"tasks", with_tasks},
    {"groups", with_groups},
};

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    rounds = atoi(argv[3]);
    late_ms = atol(argv[4]);
    for (char *name = strtok(argv[1], ","); name; name = strtok(nullptr, ","), first_round += rounds)
        for (auto &one : cases)
            if (!strcmp(name, one.name))
                one.run();
    FILE *log = fopen(argv[2], "w");
    for (auto &own : lines)
        for (auto &line : own)
            fprintf(log, "%s %d %d %lld %lld %ld\n", line.kind, line.round, line.thread, line.enter,
                    line.leave, line.tid);
    return fclose(log) != 0;
}
