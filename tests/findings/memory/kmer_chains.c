/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The hash table of the words never grows, so each look-up follows a long chain of entries.
 * place: find_entry count_word count_words
 * finding: memory_latency pointer_chase cache_latency
 * words: (?i)\bhash|bucket|\blists?\b|pointer|linked
 * false: scalar_chain scalar_exit memory_bandwidth divisions scalar_arithmetic
 * flags: -O2 -g
 * arguments: 540000 10 8192
 * repair: The table doubles when it has more entries than buckets.
 * clock: cpu */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Counts all words of a genome: its parts of a fixed length. */

struct entry {
    struct entry *next;
    uint64_t word;
    uint32_t count;
};

struct table {
    struct entry **buckets;
    uint64_t bucket_n; /* a power of two */
    uint64_t entry_n;
};

static uint64_t hash_of(uint64_t word)
{
    word *= 0x9e3779b97f4a7c15u;
    return word ^ (word >> 32);
}

static void create_table(struct table *table, uint64_t bucket_n)
{
    table->buckets = calloc(bucket_n, sizeof *table->buckets);
    table->bucket_n = bucket_n;
    table->entry_n = 0;
    if (!table->buckets)
        abort();
}

static void insert_entry(struct table *table, struct entry *entry)
{
    struct entry **head = &table->buckets[hash_of(entry->word) & (table->bucket_n - 1)];

    entry->next = *head;
    *head = entry;
    table->entry_n++;
}

#ifdef REPAIRED
static void grow_table(struct table *table)
{
    struct table larger;

    create_table(&larger, 2 * table->bucket_n);
    for (uint64_t i = 0; i < table->bucket_n; i++) {
        struct entry *entry = table->buckets[i];
        while (entry) {
            struct entry *next = entry->next;
            insert_entry(&larger, entry);
            entry = next;
        }
    }
    free(table->buckets);
    *table = larger;
}
#endif

static struct entry *find_entry(const struct table *table, uint64_t word)
{
    struct entry *entry = table->buckets[hash_of(word) & (table->bucket_n - 1)];

    while (entry && entry->word != word) /* HERE */
        entry = entry->next;             /* HERE */
    return entry;
}

static void count_word(struct table *table, uint64_t word)
{
    struct entry *entry = find_entry(table, word); /* HERE */

    if (entry) {
        entry->count++;
        return;
    }
#ifdef REPAIRED
    if (table->entry_n >= table->bucket_n)
        grow_table(table);
#endif
    entry = malloc(sizeof *entry);
    if (!entry)
        abort();
    entry->word = word;
    entry->count = 1;
    insert_entry(table, entry);
}

static void count_words(struct table *table, const char *genome, long base_n, int word_length)
{
    uint64_t word = 0, mask = (UINT64_C(1) << 2 * word_length) - 1;

    for (long i = 0; i < base_n; i++) {
        word = (word << 2 | (uint64_t)(genome[i] >> 1 & 3)) & mask;
        if (i + 1 >= word_length)
            count_word(table, word);
    }
}

static char *make_genome(long base_n)
{
    static const char BASES[] = "ACGT";
    char *genome = malloc((size_t)base_n);
    uint64_t state = 42;

    if (!genome)
        abort();
    for (long i = 0; i < base_n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        genome[i] = BASES[state >> 62];
    }
    return genome;
}

/* Prints how many words there are once, twice and more often. */
static void print_spectrum(const struct table *table)
{
    enum { MAX = 8 };
    long word_n[MAX + 1] = {0}, total = 0;

    for (uint64_t i = 0; i < table->bucket_n; i++)
        for (const struct entry *entry = table->buckets[i]; entry; entry = entry->next) {
            word_n[entry->count < MAX ? entry->count : MAX]++;
            total += entry->count;
        }
    printf("%ld words:", total);
    for (int count = 1; count <= MAX; count++)
        printf(" %ld", word_n[count]);
    printf("\n");
}

static void free_table(struct table *table)
{
    for (uint64_t i = 0; i < table->bucket_n; i++)
        while (table->buckets[i]) {
            struct entry *entry = table->buckets[i];
            table->buckets[i] = entry->next;
            free(entry);
        }
    free(table->buckets);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    long base_n = atol(argv[1]);
    char *genome = make_genome(base_n);
    struct table table;

    create_table(&table, strtoul(argv[3], NULL, 10));
    count_words(&table, genome, base_n, atoi(argv[2]));
    print_spectrum(&table);
    free_table(&table);
    free(genome);
    return 0;
}
