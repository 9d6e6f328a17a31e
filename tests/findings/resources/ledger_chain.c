/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The hash of each record needs the hash before; memory of records costs hardly anything.
 * place: hash_record append mixed
 * finding: nothing
 * false: memory_management memory_given_back page_faults copying memory_latency memory_bandwidth
 * false: kernel_time system_calls scalar_gather
 * flags: -O2 -g
 * arguments: 2600000
 * naive: One buffer serves all records, so that none is allocated.
 * clock: cpu */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Appends records to a ledger; each has the hash of the record before. */

#define MAX_WORDS 120

struct record {
    uint64_t sequence;
    uint32_t word_n;
    uint64_t words[];
};

struct ledger {
    uint64_t hash, record_n, word_n;
};

static struct record *create_record(uint32_t word_n)
{
    size_t size_b = sizeof(struct record) + word_n * sizeof(uint64_t);
#ifdef NAIVE
    static uint64_t buffer[MAX_WORDS + 2];
    struct record *record = size_b <= sizeof buffer ? (struct record *)buffer : NULL;
#else
    struct record *record = malloc(size_b); /* HERE */
#endif

    if (!record)
        abort();
    record->word_n = word_n;
    return record;
}

static void free_record(struct record *record)
{
#ifdef NAIVE
    (void)record;
#else
    free(record);                           /* HERE */
#endif
}

/* Fills a record with amounts. */
static void fill_record(struct record *record, uint64_t sequence)
{
    record->sequence = sequence;
    for (uint32_t i = 0; i < record->word_n; i++)
        record->words[i] = sequence * 100 + i;
}

static uint64_t mixed(uint64_t value)
{
    value ^= value >> 29;
    return value * 0xbf58476d1ce4e5b9u; /* HERE */
}

/* Each of the four products for a word needs the product before. */
static uint64_t hash_record(uint64_t hash, const struct record *record)
{
    hash ^= record->sequence;
    for (uint32_t i = 0; i < record->word_n; i++) {               /* HERE */
        hash = mixed(mixed(hash ^ record->words[i]));             /* HERE */
        hash = mixed(mixed(hash + UINT64_C(0x9e3779b97f4a7c15))); /* HERE */
    }
    return hash;
}

static void append(struct ledger *ledger, uint32_t word_n)
{
    struct record *record = create_record(word_n);

    fill_record(record, ledger->record_n);
    ledger->hash = hash_record(ledger->hash, record); /* HERE */
    ledger->record_n++;
    ledger->word_n += word_n;
    free_record(record);
}

/* Lengths of records, from half of the maximum up. */
static uint32_t length_of(uint64_t sequence)
{
    return MAX_WORDS / 2 + (uint32_t)(sequence * 2654435761u >> 7) % (MAX_WORDS / 2);
}

static void print_ledger(const struct ledger *ledger)
{
    printf("%llu records, %llu words, hash %016llx\n", (unsigned long long)ledger->record_n,
           (unsigned long long)ledger->word_n, (unsigned long long)ledger->hash);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    uint64_t record_n = strtoull(argv[1], NULL, 10);
    struct ledger ledger = {.hash = 1};

    for (uint64_t i = 0; i < record_n; i++)
        append(&ledger, length_of(i));
    if (ledger.record_n != record_n) {
        fprintf(stderr, "ledger_chain: records are missing\n");
        return 1;
    }
    print_ledger(&ledger);
    return 0;
}
