/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The counters of both threads share a cache line (false sharing).
 * place: count_packets
 * finding: false_sharing
 * false: lock_contention load_imbalance scalar_chain parallel_overhead
 * flags: -O2 -g -pthread
 * arguments: 60000 9000
 * repair: The counters of each thread have cache lines of their own.
 * clock: wall */
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#ifdef REPAIRED
struct alignas(128) Traffic {
#else
struct Traffic {
#endif
    long packet_n, byte_n, large_n;
};

static std::vector<long> capture(long n)
{
    std::vector<long> sizes(n);
    unsigned state = 7;

    for (long &size : sizes) {
        state = state * 1103515245u + 12345u;
        size = 64 + (state >> 16) % 1400;
    }
    return sizes;
}

static void count_packets(const std::vector<long> &sizes, Traffic &to)
{
    for (const long &size : sizes) { /* HERE */
        to.packet_n++;               /* HERE */
        to.byte_n += size;           /* HERE */
        to.large_n += size > 1000;   /* HERE */
    }
}

static void monitor(const std::vector<long> &sizes, Traffic &to, int round_n)
{
    for (int round = 0; round < round_n; round++)
        count_packets(sizes, to);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    std::vector<long> sizes = capture(atol(argv[1]));
    std::vector<Traffic> traffic(2);
    std::vector<std::thread> threads;
    int round_n = atoi(argv[2]);

    for (Traffic &one : traffic)
        threads.emplace_back(monitor, std::cref(sizes), std::ref(one), round_n);
    for (std::thread &one : threads)
        one.join();
    printf("checksum %ld %ld %ld\n", traffic[0].packet_n + traffic[1].packet_n, traffic[0].byte_n,
           traffic[1].large_n);
}
