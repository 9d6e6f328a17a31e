/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Each look-up of a word follows pointers down the tree of a std::map.
 * place: count_words operator[] _M_lower_bound lower_bound
 * finding: memory_latency pointer_chase cache_latency
 * words: (?i)\bmap\b|\btree\b|\bhash|pointer
 * false: scalar_chain scalar_exit memory_bandwidth divisions
 * flags: -O2 -g
 * arguments: 200000 1500000
 * repair: The counts are in a hash table.
 * clock: cpu */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unordered_map>
#include <vector>

#ifdef REPAIRED
using Counts = std::unordered_map<uint64_t, long>;
#else
using Counts = std::map<uint64_t, long>;
#endif

static uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Makes a text: frequent and rare words by their digests. */
static std::vector<uint64_t> read_words(uint64_t word_n, long n)
{
    std::vector<uint64_t> text;

    for (long i = 0; i < n; i++) {
        uint64_t draw = mixed(i);
        uint64_t range = draw % 4 ? word_n : word_n / 16;
        text.push_back(mixed((draw >> 8) % range));
    }
    return text;
}

static Counts count_words(const std::vector<uint64_t> &text)
{
    Counts counts;

    for (uint64_t word : text)
        counts[word]++; /* HERE */
    return counts;
}

static long most_frequent(const Counts &counts)
{
    long most = 0;

    for (const auto &[word, n] : counts)
        most = n > most ? n : most;
    return most;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    std::vector<uint64_t> text = read_words(atol(argv[1]), atol(argv[2]));
    Counts counts = count_words(text);
    uint64_t sum = 0;

    for (const auto &[word, n] : counts)
        sum += word * n;
    printf("checksum %zu %ld %llu\n", counts.size(), most_frequent(counts),
           (unsigned long long)sum);
}
