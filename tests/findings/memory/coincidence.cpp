/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Old hits are erased at the front of a vector, and each erasure moves all others.
 * place: accept Trigger memmove __memmove_avx_unaligned_erms __memmove_evex_unaligned_erms
 * place: __memmove_avx512_unaligned_erms __memmove_avx_unaligned erase expire
 * finding: copying
 * words: (?i)mov(e|es|ing)|cop(y|ies|ied|ying)|memmove|eras|deque|front
 * false: memory_latency divisions page_faults memory_management scalar_mathematics
 * flags: -O2 -g
 * arguments: 540000 16000
 * repair: The hits are in a double-ended queue.
 * clock: cpu */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <vector>

namespace
{

struct Hit {
    std::int64_t time_ns;
    std::int32_t channel;
    float energy;
};

#ifdef REPAIRED
using Window = std::deque<Hit>;
#else
using Window = std::vector<Hit>;
#endif

// Finds hits of opposite channels that lie close together in time.
class Trigger
{
  public:
    explicit Trigger(std::int64_t length_ns) : length_ns_(length_ns)
    {
    }

    void accept(const Hit &hit)
    {
        expire(hit.time_ns - length_ns_);
        window_.push_back(hit);
        total_ += hit.energy;
        compare_with_recent(hit);
    }

    std::uint64_t pairs() const
    {
        return pairs_;
    }

    double mean_pile_up(double hits) const
    {
        return pile_up_ / hits;
    }

  private:
    __attribute__((noinline)) void expire(std::int64_t oldest_ns)
    {
        while (!window_.empty() && window_.front().time_ns < oldest_ns) {
            total_ -= window_.front().energy;
#ifdef REPAIRED
            window_.pop_front();
#else
            window_.erase(window_.begin()); /* HERE */
#endif
        }
    }

    void compare_with_recent(const Hit &hit)
    {
        const std::size_t n = window_.size(), first = n > 16 ? n - 16 : 0;
        for (std::size_t i = first; i + 1 < n; i++)
            if ((window_[i].channel ^ hit.channel) == 32)
                pairs_++;
        pile_up_ += total_;
    }

    Window window_;
    std::int64_t length_ns_;
    double total_ = 0, pile_up_ = 0;
    std::uint64_t pairs_ = 0;
};

Hit next_hit(std::uint64_t &seed, std::int64_t &time_ns)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    time_ns += 1 + static_cast<std::int64_t>(seed >> 61);
    return {time_ns, static_cast<std::int32_t>(seed >> 40 & 63),
            static_cast<float>(seed >> 32 & 255)};
}

} // namespace

int main(int argc, char **argv)
{
    const long hits = argc > 1 ? std::atol(argv[1]) : 10000;
    const long occupancy = argc > 2 ? std::atol(argv[2]) : 1000;
    Trigger trigger(occupancy * 9 / 2);
    std::uint64_t seed = 2026;
    std::int64_t time_ns = 0;

    for (long i = 0; i < hits; i++)
        trigger.accept(next_hit(seed, time_ns));
    std::printf("coincidence %llu pairs, pile-up %.3f\n",
                static_cast<unsigned long long>(trigger.pairs()),
                trigger.mean_pile_up(static_cast<double>(hits)));
    return 0;
}
