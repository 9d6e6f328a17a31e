/* SPDX-License-Identifier: Apache-2.0 */
/* cause: One mutex guards the whole index, and each document takes it for each word.
 * place: add_word index_documents Index
 * finding: lock_contention
 * false: load_imbalance oversubscribed memory_management scalar_exit
 * flags: -O2 -g -pthread
 * arguments: 60000 400
 * repair: Each thread has an index of its own, and the indices are combined once.
 * clock: wall */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

class Index
{
  public:
    Index() : frequency(1024)
    {
    }

    void add_word(uint32_t word)
    {
#ifndef REPAIRED
        std::lock_guard<std::mutex> guard(mutex); /* HERE */
#endif
        frequency[word % frequency.size()] += 1 + word % 3;
    }

    void add_all(const Index &other)
    {
        for (size_t i = 0; i < frequency.size(); i++)
            frequency[i] += other.frequency[i];
    }

    uint64_t digest() const
    {
        uint64_t hash = 14695981039346656037u;
        for (long n : frequency)
            hash = (hash ^ n) * 1099511628211u;
        return hash;
    }

  private:
    std::mutex mutex;
    std::vector<long> frequency;
};

static uint32_t next_word(uint32_t &state)
{
    for (int i = 0; i < 4; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
    }
    return state;
}

static void index_documents(Index &to, uint32_t first, uint32_t end, int word_n)
{
    for (uint32_t document = first; document < end; document++) {
        uint32_t state = document + 1;
        for (int i = 0; i < word_n; i++)
            to.add_word(next_word(state)); /* HERE */
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    uint32_t document_n = atoi(argv[1]);
    int word_n = atoi(argv[2]);
    Index index, second;
#ifdef REPAIRED
    Index &of_second = second;
#else
    Index &of_second = index;
#endif
    std::thread helper([&] { index_documents(of_second, 0, document_n / 2, word_n); });

    index_documents(index, document_n / 2, document_n, word_n);
    helper.join();
    index.add_all(second);
    printf("checksum %llu\n", (unsigned long long)index.digest());
}
