/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The thread of the analysis asks a flag again and again while the simulation computes.
 * place: wait_for_step analyse_steps
 * finding: busy_waiting spin_loop
 * false: load_imbalance memory_bandwidth oversubscribed memory_management scalar_exit scalar_chain
 * false: false_sharing
 * flags: -O2 -g -pthread
 * arguments: 900 2000 220
 * repair: The thread sleeps at a condition variable until a step is ready.
 * clock: cpu */
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

/* Simulates a chain of springs; another thread collects statistics of each step. */

struct Chain {
    std::vector<double> position, velocity;

    explicit Chain(size_t n) : position(n, 0.0), velocity(n, 0.0)
    {
        position[n / 2] = 1;
    }

    void advance(double step)
    {
        size_t n = position.size();

        for (size_t i = 1; i + 1 < n; i++)
            velocity[i] += step * (position[i - 1] - 2 * position[i] + position[i + 1]);
        for (size_t i = 1; i + 1 < n; i++)
            position[i] += step * velocity[i];
    }
};

/* Hands the positions of a step from the simulation to the analysis. */
class Exchange
{
  public:
    void publish(const std::vector<double> &values, int step)
    {
#ifdef REPAIRED
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [this] { return taken == ready; });
        copy = values;
        ready = step;
        lock.unlock();
        changed.notify_all();
#else
        while (taken.load(std::memory_order_acquire) != ready.load(std::memory_order_relaxed))
            std::this_thread::yield();
        copy = values;
        ready.store(step, std::memory_order_release);
#endif
    }

    /* Returns when the step is ready. */
    void wait_for_step(int step)
    {
#ifdef REPAIRED
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [this, step] { return ready == step; });
#else
        while (ready.load(std::memory_order_acquire) != step) /* HERE */
            ;                                                 /* HERE */
#endif
    }

    const std::vector<double> &values() const
    {
        return copy;
    }

    void release(int step)
    {
#ifdef REPAIRED
        std::lock_guard<std::mutex> guard(mutex);
        taken = step;
        changed.notify_all();
#else
        taken.store(step, std::memory_order_release);
#endif
    }

  private:
    std::vector<double> copy;
#ifdef REPAIRED
    std::mutex mutex;
    std::condition_variable changed;
    int ready = 0, taken = 0;
#else
    alignas(64) std::atomic<int> ready{0};
    alignas(64) std::atomic<int> taken{0};
#endif
};

struct Statistics {
    double energy = 0, highest = 0;

    void add(const std::vector<double> &values)
    {
        double sum = 0;

        for (double value : values) {
            sum += value * value;
            if (value > highest)
                highest = value;
        }
        energy += sum;
    }
};

static void analyse_steps(Exchange &exchange, int step_n, Statistics &statistics)
{
    for (int step = 1; step <= step_n; step++) {
        exchange.wait_for_step(step); /* HERE */
        statistics.add(exchange.values());
        exchange.release(step);
    }
}

static void simulate(Exchange &exchange, Chain &chain, int step_n, int inner_n)
{
    for (int step = 1; step <= step_n; step++) {
        for (int inner = 0; inner < inner_n; inner++)
            chain.advance(0.01);
        exchange.publish(chain.position, step);
    }
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    int step_n = atoi(argv[1]);
    Chain chain(static_cast<size_t>(atoi(argv[2])));
    Exchange exchange;
    Statistics statistics;
    std::thread analysis(analyse_steps, std::ref(exchange), step_n, std::ref(statistics));

    simulate(exchange, chain, step_n, atoi(argv[3]));
    analysis.join();
    printf("energy %.9f, highest %.6f\n", statistics.energy, statistics.highest);
}
