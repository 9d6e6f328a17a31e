/* SPDX-License-Identifier: Apache-2.0 */
/* cause: localtime is called for each record. As TZ is not set, it asks for the state of the
 * time zone file.
 * place: stamp localtime
 * finding: library_calls system_calls input_output
 * words: stamp
 * flags: -O2 -g
 * arguments: 600000
 * repair: The broken-down time is kept while the second does not change.
 * clock: cpu */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUFFER 65536

struct record {
    time_t second;
    unsigned micro;
    unsigned request;
    unsigned status;
    unsigned bytes;
};

struct sink {
    char text[BUFFER];
    size_t used;
    uint64_t digest;
    uint64_t total;
};

static void drain(struct sink *s)
{
    uint64_t h = s->digest;
    for (size_t i = 0; i < s->used; i++)
        h = (h ^ (unsigned char)s->text[i]) * 1099511628211ull;
    s->digest = h;
    s->total += s->used;
    s->used = 0;
}

static char *digits(char *p, unsigned value, int width)
{
    for (int i = width - 1; i >= 0; i--) {
        p[i] = (char)('0' + value % 10);
        value /= 10;
    }
    return p + width;
}

static char *__attribute__((noinline)) stamp(char *p, const struct record *r)
{
#ifdef REPAIRED
    static time_t known = -1;
    static struct tm kept;
    if (r->second != known) {
        kept = *localtime(&r->second);
        known = r->second;
    }
    const struct tm *t = &kept;
#else
    const struct tm *t = localtime(&r->second); /* HERE */
#endif
    p = digits(p, (unsigned)t->tm_year + 1900, 4);
    *p++ = '-';
    p = digits(p, (unsigned)t->tm_mon + 1, 2);
    *p++ = '-';
    p = digits(p, (unsigned)t->tm_mday, 2);
    *p++ = ' ';
    p = digits(p, (unsigned)t->tm_hour, 2);
    *p++ = ':';
    p = digits(p, (unsigned)t->tm_min, 2);
    *p++ = ':';
    p = digits(p, (unsigned)t->tm_sec, 2);
    *p++ = '.';
    return digits(p, r->micro, 6);
}

static char *field(char *p, const char *name, unsigned value)
{
    size_t n = strlen(name);
    *p++ = ' ';
    memcpy(p, name, n);
    p[n] = '=';
    return digits(p + n + 1, value, 7);
}

static void __attribute__((noinline)) append(struct sink *s, const struct record *r)
{
    if (s->used + 128 > BUFFER)
        drain(s);
    char *start = s->text + s->used, *p = stamp(start, r);
    p = field(p, "request", r->request);
    p = field(p, "status", r->status);
    p = field(p, "bytes", r->bytes);
    *p++ = '\n';
    s->used += (size_t)(p - start);
}

/* A replayed series of requests, about a thousand in a second. */
static void arrive(struct record *r, uint32_t *state)
{
    uint32_t s = *state * 1664525u + 1013904223u;
    *state = s;
    r->micro += 500 + (s >> 22);
    if (r->micro >= 1000000) {
        r->micro -= 1000000;
        r->second++;
    }
    r->request++;
    r->status = s >> 28 ? 200 : 404;
    r->bytes = s >> 8 & 65535;
}

int main(int argc, char **argv)
{
    long records = argc > 1 ? atol(argv[1]) : 10000;
    static struct sink sink;
    struct record r = {1600000000, 0, 0, 0, 0};
    uint32_t state = 1u;

    sink.digest = 14695981039346656037ull;
    for (long i = 0; i < records; i++) {
        arrive(&r, &state);
        append(&sink, &r);
    }
    drain(&sink);
    printf("tracelog %llu %016llx\n", (unsigned long long)sink.total,
           (unsigned long long)sink.digest);
    return 0;
}
