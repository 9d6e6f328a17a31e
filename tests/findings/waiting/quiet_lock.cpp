/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Threads share one locked map, but take the lock so rarely that hardly any time is lost.
 * place: walk report mixed
 * finding: nothing
 * false: lock_contention waiting waiting_in_turn parallel_overhead parallel_time load_imbalance
 * false: late oversubscribed busy_waiting false_sharing memory_latency
 * flags: -O2 -g -pthread
 * arguments: 2 250000000 16
 * naive: Each thread has a map of its own, and the maps are combined at the end.
 * clock: cpu */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

/* Walks in parallel over a random function and keeps the marked points to find collisions. */

struct Point {
    uint64_t a, b, c, d, e, f;
};

static uint64_t mixed(uint64_t value)
{
    value ^= value >> 29;
    return value * 0xbf58476d1ce4e5b9u; /* HERE */
}

/* The next point needs the one before; its six products keep the multiplier busy. */
static void step(Point &point)
{
    uint64_t last = point.f;

    point.f = mixed(point.f + point.e); /* HERE */
    point.e = mixed(point.e + point.d); /* HERE */
    point.d = mixed(point.d + point.c);
    point.c = mixed(point.c + point.b);
    point.b = mixed(point.b + point.a);
    point.a = mixed(point.a ^ last); /* HERE */
}

class Collector
{
  public:
    void add(uint64_t key, int walker)
    {
        std::lock_guard<std::mutex> guard(mutex);
        auto found = walkers.try_emplace(key, walker);
        if (!found.second && found.first->second != walker)
            collision_n++;
    }

    void combine(const std::vector<std::pair<uint64_t, int>> &points)
    {
        for (const auto &point : points)
            add(point.first, point.second);
    }

    void print() const
    {
        uint64_t sum = 0;

        for (const auto &point : walkers)
            sum += point.first;
        printf("%zu points, %ld collisions, sum %016llx\n", walkers.size(), collision_n,
               static_cast<unsigned long long>(sum));
    }

  private:
    std::mutex mutex;
    std::unordered_map<uint64_t, int> walkers;
    long collision_n = 0;
};

/* Passes the marked points of one walker on. */
class Reporter
{
  public:
    Reporter(Collector &to, int of) : collector(to), walker(of)
    {
    }

    void report(uint64_t key)
    {
#ifdef NAIVE
        points.emplace_back(key, walker);
#else
        collector.add(key, walker); /* HERE */
#endif
    }

    void finish()
    {
        collector.combine(points);
        points.clear();
    }

  private:
    Collector &collector;
    int walker;
    std::vector<std::pair<uint64_t, int>> points;
};

static Point first_point(int walker)
{
    uint64_t seed = static_cast<uint64_t>(walker) + 1;

    return {3 * seed, 4 * seed, 5 * seed, 6 * seed, 7 * seed, 8 * seed};
}

static void walk(Collector &collector, int walker, long step_n, int zero_n)
{
    Reporter reporter(collector, walker);
    Point point = first_point(walker);
    uint64_t mask = (UINT64_C(1) << zero_n) - 1;

    for (long i = 0; i < step_n; i++) { /* HERE */
        step(point);                    /* HERE */
        if ((point.a & mask) == 0)
            reporter.report(point.f);
    }
    reporter.finish();
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    Collector collector;
    std::vector<std::thread> walkers;

    for (int i = 0; i < atoi(argv[1]); i++)
        walkers.emplace_back(walk, std::ref(collector), i, atol(argv[2]), atoi(argv[3]));
    for (std::thread &walker : walkers)
        walker.join();
    collector.print();
}
