/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The journal waits for the disk after each record.
 * place: append commit_record
 * finding: input_output
 * words: (?i)flush|fsync|sync|less often
 * false: waiting lock_contention memory_latency processors_idle
 * flags: -O2 -g
 * arguments: 5000 4000
 * repair: 100 records share one fsync.
 * clock: wall */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef REPAIRED
#define GROUP 100
#else
#define GROUP 1
#endif

struct record {
    uint64_t number, amount, digest;
    char text[104];
};

struct journal {
    int file;
    int waiting_n;
};

static struct journal open_journal(void)
{
    const char *directory = getenv("TMPDIR");
    char path[4096];

    snprintf(path, sizeof path, "%s/journal-XXXXXX", directory ? directory : "/tmp");
    struct journal journal = {mkstemp(path), 0};

    unlink(path);
    return journal;
}

static void fill_record(struct record *record, uint64_t number, int round_n)
{
    record->number = number;
    record->amount = number * 37 % 1000;
    snprintf(record->text, sizeof record->text, "transfer %llu", (unsigned long long)number);
    record->digest = 14695981039346656037u;
    for (int i = 0; i < round_n; i++)
        record->digest = (record->digest ^ (uint64_t)record->text[i % 104]) * 1099511628211u;
}

static void commit_record(struct journal *journal)
{
    if (++journal->waiting_n >= GROUP) {
        fsync(journal->file); /* HERE */
        journal->waiting_n = 0;
    }
}

static void append(struct journal *journal, const struct record *record)
{
    if (write(journal->file, record, sizeof *record) != sizeof *record)
        abort();
    commit_record(journal); /* HERE */
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    struct journal journal = open_journal();
    struct record record = {0};
    uint64_t checksum = 0;

    for (int i = 0; i < atoi(argv[1]); i++) {
        fill_record(&record, (uint64_t)i, atoi(argv[2]));
        append(&journal, &record);
        checksum += record.digest;
    }
    close(journal.file);
    printf("checksum %llu\n", (unsigned long long)checksum);
    return 0;
}
