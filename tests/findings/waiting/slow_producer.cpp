/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The producer decodes all records itself, and the consumer waits for them.
 * place: decode produce
 * finding: load_imbalance late
 * words: (?i)decode|produce
 * false: lock_contention parallel_overhead waiting_in_turn oversubscribed busy_waiting
 * flags: -O2 -g -pthread
 * arguments: 40000
 * repair: The producer passes half of the records on encoded.
 * clock: wall */
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

struct Record {
    uint64_t bits;
    bool decoded, last;
};

class Queue
{
  public:
    void push(Record record)
    {
        std::unique_lock<std::mutex> lock(mutex);
        records.push_back(record);
        if (records.size() >= 32 || record.last)
            ready.notify_one();
    }

    void pop_all(std::deque<Record> &to)
    {
        std::unique_lock<std::mutex> lock(mutex);
        ready.wait(lock, [this] {
            return records.size() >= 32 || (!records.empty() && records.back().last);
        });
        to.swap(records);
    }

  private:
    std::mutex mutex;
    std::condition_variable ready;
    std::deque<Record> records;
};

static uint64_t decode(uint64_t bits)
{
    for (int i = 0; i < 20000; i++) { /* HERE */
        bits ^= bits << 13;           /* HERE */
        bits ^= bits >> 7;
        bits ^= bits << 17;
    }
    return bits;
}

static void produce(Queue &queue, uint64_t n)
{
    for (uint64_t i = 1; i <= n; i++) {
#ifdef REPAIRED
        bool here = i % 2 == 0;
#else
        bool here = true;
#endif
        queue.push({here ? decode(i) : i, here, i == n}); /* HERE */
    }
}

static uint64_t consume(Queue &queue)
{
    std::deque<Record> batch;
    uint64_t sum = 0;

    for (bool last = false; !last;) {
        batch.clear();
        queue.pop_all(batch);
        for (const Record &record : batch) {
            sum += (record.decoded ? record.bits : decode(record.bits)) >> 8;
            last = record.last;
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    Queue queue;
    uint64_t sum = 0;
    std::thread consumer([&] { sum = consume(queue); });

    produce(queue, strtoul(argv[1], nullptr, 10));
    consumer.join();
    printf("checksum %llu\n", (unsigned long long)sum);
}
