// SPDX-License-Identifier: Apache-2.0
/* cause: Each word is counted at once at a random place of a table of 256 MiB. Nearly every
 * access misses the caches.
 * place: count add
 * finding: memory_latency cache_latency
 * flags: -O2 -g
 * arguments: 28 40000000
 * repair: The words are first distributed by the upper bits of their place.
 * clock: cpu */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace
{

constexpr int K = 27;
constexpr std::uint64_t kWord = (std::uint64_t{1} << (2 * K)) - 1;

class Table
{
  public:
    explicit Table(int bits) : bits_(bits), slot_(std::size_t{1} << bits)
    {
    }

    std::uint32_t place(std::uint64_t word) const
    {
        return static_cast<std::uint32_t>(mix(word) >> (64 - bits_));
    }

    // Adds one occurrence and returns how often the place has been seen.
    unsigned add(std::uint32_t place)
    {
        std::uint8_t &c = slot_[place]; /* HERE */
        if (c < 255)
            ++c; /* HERE */
        return c;
    }

    int bits() const
    {
        return bits_;
    }

  private:
    static std::uint64_t mix(std::uint64_t x)
    {
        x ^= x >> 31;
        x *= 0x7fb5d329728ea185ull;
        x ^= x >> 27;
        return x * 0x81dadef4bc2dd44dull;
    }

    int bits_;
    std::vector<std::uint8_t> slot_;
};

class Genome
{
  public:
    explicit Genome(std::size_t length) : bases_(length, '\0')
    {
        std::uint64_t s = 1234567;
        for (std::size_t i = 0; i < length; ++i) {
            s = s * 6364136223846793005ull + 1442695040888963407ull;
            // Parts of the genome are copies of earlier parts.
            bool copy = i > 4096 && (i >> 11) % 5 == 0;
            bases_[i] = copy ? bases_[i - 4096] : static_cast<char>(s >> 62);
        }
    }
    std::size_t length() const
    {
        return bases_.size();
    }
    unsigned base(std::size_t i) const
    {
        return static_cast<unsigned>(bases_[i]);
    }

  private:
    std::string bases_;
};

#ifdef REPAIRED
class Sorter
{
  public:
    explicit Sorter(int bits) : shift_(bits - 8), start_(257), sorted_(kBatch)
    {
        batch_.reserve(kBatch);
    }

    std::uint64_t put(std::uint32_t place, Table &table)
    {
        batch_.push_back(place);
        return batch_.size() == kBatch ? flush(table) : 0;
    }

    std::uint64_t flush(Table &table)
    {
        std::uint64_t repeated = 0;
        start_.assign(257, 0);
        for (std::uint32_t p : batch_)
            ++start_[(p >> shift_) + 1];
        for (int i = 0; i < 256; ++i)
            start_[i + 1] += start_[i];
        for (std::uint32_t p : batch_)
            sorted_[start_[p >> shift_]++] = p;
        for (std::size_t i = 0; i < batch_.size(); ++i)
            repeated += table.add(sorted_[i]) > 1;
        batch_.clear();
        return repeated;
    }

  private:
    static constexpr std::size_t kBatch = std::size_t{10} << 20;
    int shift_;
    std::vector<std::uint32_t> start_, batch_, sorted_;
};
#endif

__attribute__((noinline)) std::uint64_t count(const Genome &g, Table &table)
{
    std::uint64_t word = 0, repeated = 0;
#ifdef REPAIRED
    Sorter sorter(table.bits());
#endif
    for (std::size_t i = 0; i < g.length(); ++i) {
        word = (word << 2 | g.base(i)) & kWord;
        std::uint32_t place = table.place(word);
#ifdef REPAIRED
        repeated += sorter.put(place, table);
#else
        repeated += table.add(place) > 1; /* HERE */
#endif
    }
#ifdef REPAIRED
    repeated += sorter.flush(table);
#endif
    return repeated;
}

} // namespace

int main(int argc, char **argv)
{
    int bits = argc > 1 ? std::atoi(argv[1]) : 24;
    std::size_t length = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000000;
    Table table(bits);
    Genome genome(length);
    std::printf("kmerindex %llu\n", static_cast<unsigned long long>(count(genome, table)));
    return 0;
}
