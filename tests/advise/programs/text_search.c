/* SPDX-License-Identifier: Apache-2.0 */
/* finding: library_calls; flags: -O2; repair: a hash table in place of a search by halves;
 * says: goes into strcmp; advises: hash table; within: 100 % (the search around it goes as well) */
#include "program.h"

#define WORDS 20000
#define SLOTS 65536
#define FINDS 6000000

static char word[WORDS][16], asked[4096][16];
#ifdef REPAIRED
static char *slot[SLOTS];

static unsigned hash(const char *text)
{
    unsigned h = 0;

    while (*text)
        h = h * 31 + (unsigned char)*text++;
    return (h ^ h >> 15) % SLOTS;
}

static int same(const char *one, const char *other)
{
    unsigned long a[2], b[2];

    memcpy(a, one, 16);
    memcpy(b, other, 16);
    return a[0] == b[0] && a[1] == b[1];
}
#endif

static int compare(const void *a, const void *b)
{
    return strcmp((const char *)a, (const char *)b);
}

__attribute__((noinline, noipa)) static int find(const char *text)
{
#ifdef REPAIRED
    for (unsigned h = hash(text);; h = (h + 1) % SLOTS)
        if (same(slot[h], text))
            return (int)((slot[h] - word[0]) / 16);
#else
    int from = 0, to = WORDS;

    while (to - from > 1) {
        const int mid = (from + to) / 2;

        if (strcmp(text, word[mid]) < 0)
            to = mid;
        else
            from = mid;
    }
    return from;
#endif
}

int main(void)
{
    double sum = 0;

    for (int i = 0; i < WORDS; i++)
        for (int k = 0; k < 12; k++)
            word[i][k] = (char)('a' + draw() % 26);
    qsort(word, WORDS, sizeof *word, compare);
#ifdef REPAIRED
    for (int i = 0; i < WORDS; i++) {
        unsigned h = hash(word[i]);

        while (slot[h])
            h = (h + 1) % SLOTS;
        slot[h] = word[i];
    }
#endif
    for (int i = 0; i < 4096; i++)
        strcpy(asked[i], word[draw() % WORDS]);
    for (int i = 0; i < FINDS; i++)
        sum += find(asked[i % 4096]);
    return done(sum);
}
