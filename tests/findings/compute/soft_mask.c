/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The condition of the loop calls strlen for each letter. Each call walks over the whole
 * string.
 * place: mask_repeats strlen __strlen_avx2 __strlen_evex __strlen_evex512 __strlen_sse2
 * finding: library_calls copying calls_in_loop
 * words: (?i)strlen|length of (the|a) string|outside (of )?the loop|before the loop|call
 * false: memory_bandwidth memory_latency mispredictions divisions page_faults
 * flags: -O2 -g
 * arguments: 4000 16000
 * repair: The length is taken once before the loop.
 * clock: cpu */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct contig {
    char *bases;
    long masked, gc;
};

static void contig_read(struct contig *c, size_t length, uint32_t *seed)
{
    static const char alphabet[] = "ACGTACGTacgtNACG";

    for (size_t i = 0; i < length; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        c->bases[i] = alphabet[*seed >> 28];
    }
    c->bases[length] = '\0';
}

/* Replaces the letters of repeats, which are in lower case, and counts what is left. */
static void __attribute__((noinline)) mask_repeats(struct contig *c)
{
    char *s = c->bases;
#ifdef REPAIRED
    size_t length = strlen(s);

    for (size_t i = 0; i < length; i++) {
#else
    for (size_t i = 0; i < strlen(s); i++) { /* HERE */
#endif
        if (islower((unsigned char)s[i])) {
            s[i] = 'N';
            c->masked++;
        }
        c->gc += s[i] == 'G' || s[i] == 'C';
    }
}

static uint32_t checksum(const char *s, uint32_t h)
{
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    return h;
}

int main(int argc, char **argv)
{
    size_t length = argc > 1 ? (size_t)atol(argv[1]) : 1000;
    long contigs = argc > 2 ? atol(argv[2]) : 100;
    uint32_t seed = 41u, h = 2166136261u;
    struct contig contig = {malloc(length + 1), 0, 0};

    if (!contig.bases)
        return 2;
    for (long n = 0; n < contigs; n++) {
        contig_read(&contig, length, &seed);
        mask_repeats(&contig);
        h = checksum(contig.bases, h);
    }
    printf("soft_mask %08x masked %ld gc %ld\n", h, contig.masked, contig.gc);
    free(contig.bases);
    return 0;
}
