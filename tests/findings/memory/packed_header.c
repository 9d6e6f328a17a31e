/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The check code loads words of a header that was stored in smaller parts just before.
 * place: code_of seal send_frames
 * finding: failed_forwarding
 * false: memory_latency memory_bandwidth cache_latency pointer_chase divisions narrow_accesses
 * flags: -O2 -g
 * arguments: 85000000
 * repair: The words are combined in registers and stored once.
 * clock: cpu */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sends frames; each header has the check code of the header before. */

struct header {
    uint16_t kind;
    uint16_t length;
    uint32_t channel;
    uint16_t flags;
    uint16_t hop;
    uint32_t code;
};

struct link {
    uint32_t code;
    uint64_t byte_n;
    uint64_t frame_n[4];
};

static uint32_t mix(uint64_t code, uint64_t word)
{
    uint64_t product = (code ^ word) * 0x9e3779b97f4a7c15u;

    return (uint32_t)(product >> 32);
}

/* Fields of frame i. */
static void describe(uint64_t i, struct header *header)
{
    header->kind = (uint16_t)(i & 3);
    header->length = (uint16_t)(64 + (i * 37 & 1023));
    header->channel = (uint32_t)(i >> 4);
    header->flags = (uint16_t)(i >> 2 & 0xff);
    header->hop = (uint16_t)(i % 5);
}

#ifdef REPAIRED
static uint32_t code_of(const struct header *header, uint32_t last)
{
    uint64_t first =
        header->kind | (uint64_t)header->length << 16 | (uint64_t)header->channel << 32;
    uint64_t second = header->flags | (uint64_t)header->hop << 16 | (uint64_t)last << 32;

    return mix(mix(last, first), second);
}
#else
static uint32_t code_of(const struct header *header, uint32_t last)
{
    uint64_t words[2];

    memcpy(words, header, sizeof words); /* HERE */
    return mix(mix(last, words[0]), words[1]);
}
#endif

static void seal(struct header *header, struct link *link)
{
    header->code = link->code;                /* HERE */
    link->code = code_of(header, link->code); /* HERE */
}

static void transmit(struct link *link, const struct header *header)
{
    link->byte_n += header->length;
    link->frame_n[header->kind]++;
}

/* Sends frames from a ring of headers, as a driver does. */
static void send_frames(struct link *link, uint64_t frame_n)
{
    enum { RING = 64 };
    static struct header ring[RING];

    for (uint64_t i = 0; i < frame_n; i++) {
        struct header *header = &ring[i % RING];
        describe(i, header); /* HERE */
        seal(header, link);  /* HERE */
        transmit(link, header);
    }
}

static int is_complete(const struct link *link, uint64_t frame_n)
{
    uint64_t sum = 0;

    for (int kind = 0; kind < 4; kind++)
        sum += link->frame_n[kind];
    return sum == frame_n;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    uint64_t frame_n = strtoull(argv[1], NULL, 10);
    struct link link = {.code = 1};

    send_frames(&link, frame_n);
    if (!is_complete(&link, frame_n)) {
        fprintf(stderr, "packed_header: frames are missing; check the kinds\n");
        return 1;
    }
    printf("code %08x, %llu bytes\n", link.code, (unsigned long long)link.byte_n);
    return 0;
}
