/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The threads hand over each sample on its own. For each sample, both go to sleep and are
 * woken at a condition variable.
 * place: hand_over receive Relay digitise analyse wait notify_one pthread_cond_wait
 * place: pthread_cond_signal __futex_abstimed_wait_common futex_wait futex_wake
 * place: __pthread_cond_wait __pthread_cond_signal ___pthread_cond_signal syscall
 * finding: waiting parallel_overhead lock_contention system_calls
 * words: (?i)condition|wak(e|ing)|context switch|hand(s|ed)? over|batch|block|futex|ping-?pong|wait
 * false: memory_bandwidth memory_latency scalar_chain divisions oversubscribed false_sharing
 * flags: -O2 -g -pthread
 * arguments: 70000
 * repair: The threads hand over blocks of 1024 samples.
 * clock: cpu */
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace
{

#ifdef REPAIRED
constexpr std::size_t kBlock = 1024;
#else
constexpr std::size_t kBlock = 1; /* HERE */
#endif

// Hands samples from one thread to another; an empty block is the end.
class Relay
{
  public:
    void hand_over(const std::vector<std::int32_t> &block)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return !full_; }); /* HERE */
        block_ = block;
        full_ = true;
        changed_.notify_one(); /* HERE */
    }

    void receive(std::vector<std::int32_t> &block)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return full_; }); /* HERE */
        block.swap(block_);
        full_ = false;
        changed_.notify_one(); /* HERE */
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::int32_t> block_;
    bool full_ = false;
};

void digitise(Relay &relay, long samples)
{
    std::vector<std::int32_t> block;
    std::uint32_t noise = 17;
    std::int32_t level = 0;

    for (long i = 0; i < samples; i++) {
        noise = noise * 1664525u + 1013904223u;
        level += static_cast<std::int32_t>(noise >> 20) - 2048 - level / 16;
        block.push_back(level);
        if (block.size() == kBlock || i + 1 == samples) {
            relay.hand_over(block);
            block.clear();
        }
    }
    relay.hand_over(block);
}

// Returns a checksum of the smoothed signal.
std::uint64_t analyse(Relay &relay)
{
    std::vector<std::int32_t> block;
    std::uint64_t checksum = 0;
    std::int32_t smooth = 0;

    for (;;) {
        relay.receive(block);
        if (block.empty())
            return checksum;
        for (std::int32_t sample : block) {
            smooth += (sample - smooth) / 8;
            checksum = checksum * 31 + static_cast<std::uint32_t>(smooth);
        }
    }
}

} // namespace

int main(int argc, char **argv)
{
    const long samples = argc > 1 ? std::atol(argv[1]) : 1000;
    Relay relay;
    std::thread source(digitise, std::ref(relay), samples);
    const std::uint64_t checksum = analyse(relay);

    source.join();
    std::printf("sample_relay %016llx\n", static_cast<unsigned long long>(checksum));
    return 0;
}
