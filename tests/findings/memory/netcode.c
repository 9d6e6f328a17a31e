/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Products are looked up at random places in a table of 32 MiB, which fits into none of
 * the near caches.
 * place: combine times
 * finding: memory_latency cache_latency array_access
 * flags: -O2 -g
 * arguments: 600 9
 * repair: Products are formed from small tables of logarithms and powers.
 * clock: cpu */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BITS       12
#define ORDER      (1 << BITS)
#define POLY       0x1053
#define SYMBOLS    512
#define GENERATION 48

typedef uint16_t symbol;

struct field {
    symbol power[2 * ORDER];
    uint16_t logarithm[ORDER];
#ifndef REPAIRED
    symbol *product; /* HERE */
#endif
};

static struct field gf;

static void make_field(struct field *f)
{
    unsigned x = 1;
    for (int i = 0; i < ORDER - 1; i++) {
        f->power[i] = (symbol)x;
        f->power[i + ORDER - 1] = (symbol)x;
        f->logarithm[x] = (uint16_t)i;
        x <<= 1;
        if (x & ORDER)
            x ^= POLY;
    }
#ifndef REPAIRED
    f->product = calloc((size_t)ORDER * ORDER, sizeof(symbol));
    if (!f->product)
        exit(2);
    for (int a = 1; a < ORDER; a++)
        for (int b = 1; b < ORDER; b++)
            f->product[(size_t)a << BITS | (size_t)b] = f->power[f->logarithm[a] + f->logarithm[b]];
#endif
}

static inline symbol times(const struct field *f, symbol a, symbol b)
{
#ifdef REPAIRED
    if (a == 0 || b == 0)
        return 0;
    return f->power[f->logarithm[a] + f->logarithm[b]];
#else
    return f->product[(size_t)a << BITS | b]; /* HERE */
#endif
}

static uint32_t next(uint32_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 17;
    *s ^= *s << 5;
    return *s;
}

struct packet {
    symbol data[SYMBOLS];
};

static void source(struct packet *p, int n, uint32_t *s)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < SYMBOLS; k++)
            p[i].data[k] = (symbol)(next(s) >> 7) & (ORDER - 1);
}

/* The code is interleaved: no coefficient is used twice in a row. */
static void __attribute__((noinline))
combine(const struct field *f, struct packet *out, const struct packet *in, const symbol *weight)
{
    for (int k = 0; k < SYMBOLS; k++) {
        symbol sum = 0;
        for (int i = 0; i < GENERATION; i++)
            sum ^= times(f, weight[(i * 37 + k) & (SYMBOLS - 1)], /* HERE */
                         in[i].data[k]);
        out->data[k] = sum;
    }
}

static uint32_t digest(const struct packet *p, uint32_t h)
{
    for (int k = 0; k < SYMBOLS; k++)
        h = (h ^ p->data[k]) * 16777619u;
    return h;
}

int main(int argc, char **argv)
{
    int generations = argc > 1 ? atoi(argv[1]) : 20;
    int coded = argc > 2 ? atoi(argv[2]) : 8;
    uint32_t seed = 2463534242u, h = 2166136261u;
    struct packet *in = malloc(sizeof *in * GENERATION);
    struct packet out;
    symbol weight[SYMBOLS];

    if (!in)
        return 2;
    make_field(&gf);
    for (int g = 0; g < generations; g++) {
        source(in, GENERATION, &seed);
        for (int c = 0; c < coded; c++) {
            for (int i = 0; i < SYMBOLS; i++)
                weight[i] = (symbol)(next(&seed) >> 9) & (ORDER - 1);
            combine(&gf, &out, in, weight);
            h = digest(&out, h);
        }
    }
    printf("netcode %08x\n", h);
    free(in);
    return 0;
}
