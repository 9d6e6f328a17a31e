/* SPDX-License-Identifier: Apache-2.0 */
/* cause: A pool of threads waits for jobs while a serial computation runs; nothing waits for it.
 * place: settle
 * finding: nothing
 * false: lock_contention waiting waiting_in_turn parallel_overhead parallel_time load_imbalance
 * false: oversubscribed late
 * flags: -O2 -g -pthread
 * arguments: 6 1200000
 * naive: The program starts no pool.
 * clock: cpu */
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Pool
{
  public:
    explicit Pool(int n)
    {
        for (int i = 0; i < n; i++)
            threads.emplace_back([this] { serve(); });
    }

    ~Pool()
    {
        {
            std::lock_guard<std::mutex> guard(mutex);
            ends = true;
        }
        wake.notify_all();
        for (std::thread &one : threads)
            one.join();
    }

    void submit(std::function<void()> job)
    {
        if (threads.empty())
            return job();
        std::lock_guard<std::mutex> guard(mutex);
        jobs.push_back(std::move(job));
        wake.notify_one();
    }

  private:
    void serve()
    {
        std::unique_lock<std::mutex> lock(mutex);
        for (;;) {
            wake.wait(lock, [this] { return ends || !jobs.empty(); });
            if (jobs.empty())
                return;
            std::function<void()> job = std::move(jobs.front());
            jobs.pop_front();
            lock.unlock();
            job();
            lock.lock();
        }
    }

    std::mutex mutex;
    std::condition_variable wake;
    std::deque<std::function<void()>> jobs;
    bool ends = false;
    std::vector<std::thread> threads;
};

/* Each step needs the one before, so that no other thread can help. */
static uint64_t settle(uint64_t state, long n)
{
    for (long i = 0; i < n; i++) { /* HERE */
        state ^= state >> 12;      /* HERE */
        state ^= state << 25;
        state ^= state >> 27;
        state *= 2685821657736338717u;
    }
    return state;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
#ifdef NAIVE
    Pool pool(0);
#else
    Pool pool(atoi(argv[1]));
#endif
    uint64_t state = 1, logged = 0;

    for (int phase = 0; phase < 400; phase++) {
        state = settle(state + phase, atol(argv[2]));
        if (phase == 0)
            pool.submit([&logged, state] { logged = state; });
    }
    printf("checksum %llu\n", (unsigned long long)state);
}
