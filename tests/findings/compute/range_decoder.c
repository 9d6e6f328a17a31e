/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Each bit of a range coder needs the bit before: a chain that no option shortens.
 * place: decode_bit decode_byte decode
 * finding: nothing
 * false: scalar_branches scalar_gather scalar_arithmetic scalar_exit narrow_accesses
 * false: memory_latency array_access oldest_instruction_set divisions
 * flags: -O2 -g
 * arguments: 400000 90
 * naive: Options that vectorise and unroll are set.
 * naive flags: -O3 -g -march=native -funroll-loops
 * clock: cpu */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Packs a text with an adaptive model of its bits, and unpacks it again and again. */

#define CONTEXT_N 256
#define ONE       4096 /* the probability 1 */
#define RATE      5

struct model {
    uint16_t zeros[CONTEXT_N][256];
};

struct stream {
    uint8_t *bytes;
    long size, at;
};

static void reset_model(struct model *model)
{
    for (int context = 0; context < CONTEXT_N; context++)
        for (int node = 0; node < 256; node++)
            model->zeros[context][node] = ONE / 2;
}

/* Moves a probability towards the bit that came. */
static void learn(uint16_t *zero, unsigned bit)
{
    *zero = (uint16_t)(bit ? *zero - (*zero >> RATE) : *zero + ((ONE - *zero) >> RATE));
}

struct encoder {
    uint32_t low, high;
    struct stream *out;
};

static void encode_bit(struct encoder *coder, uint16_t *zero, unsigned bit)
{
    uint32_t middle = coder->low + ((coder->high - coder->low) >> 12) * *zero;

    if (bit)
        coder->low = middle + 1;
    else
        coder->high = middle;
    learn(zero, bit);
    while ((coder->low ^ coder->high) < UINT32_C(1) << 24) {
        coder->out->bytes[coder->out->at++] = (uint8_t)(coder->high >> 24);
        coder->low <<= 8;
        coder->high = coder->high << 8 | 255;
    }
}

static void encode(struct model *model, const uint8_t *text, long n, struct stream *out)
{
    struct encoder coder = {0, UINT32_MAX, out};
    unsigned context = 0;

    for (long i = 0; i < n; i++) {
        unsigned node = 1;
        for (int k = 7; k >= 0; k--) {
            unsigned bit = text[i] >> k & 1;
            encode_bit(&coder, &model->zeros[context][node], bit);
            node = 2 * node + bit;
        }
        context = text[i];
    }
    for (int k = 24; k >= 0; k -= 8)
        out->bytes[out->at++] = (uint8_t)(coder.low >> k);
}

struct decoder {
    uint32_t low, high, code;
    const uint8_t *next;
};

static unsigned decode_bit(struct decoder *coder, uint16_t *zero)
{
    uint32_t middle = coder->low + ((coder->high - coder->low) >> 12) * *zero; /* HERE */
    unsigned bit = coder->code > middle;                                       /* HERE */

    if (bit) /* HERE */
        coder->low = middle + 1;
    else
        coder->high = middle;
    learn(zero, bit);
    while ((coder->low ^ coder->high) < UINT32_C(1) << 24) {
        coder->low <<= 8;
        coder->high = coder->high << 8 | 255;
        coder->code = coder->code << 8 | *coder->next++;
    }
    return bit;
}

static unsigned decode_byte(struct decoder *coder, uint16_t *zeros)
{
    unsigned node = 1;

    while (node < 256)                                     /* HERE */
        node = 2 * node + decode_bit(coder, &zeros[node]); /* HERE */
    return node & 255;
}

static void decode(struct model *model, const struct stream *in, uint8_t *text, long n)
{
    struct decoder coder = {0, UINT32_MAX, 0, in->bytes};
    unsigned context = 0;

    for (int k = 0; k < 4; k++)
        coder.code = coder.code << 8 | *coder.next++;
    for (long i = 0; i < n; i++) {
        context = decode_byte(&coder, model->zeros[context]); /* HERE */
        text[i] = (uint8_t)context;
    }
}

/* Writes lines that look like a log: words with numbers. */
static void write_text(uint8_t *text, long n)
{
    static const char *WORDS[] = {"step ", "residual ", "cell ", "pressure ", "done\n", "flux "};
    uint32_t state = 17;
    long at = 0;

    while (at < n) {
        char word[32];
        state = state * 1664525u + 1013904223u;
        int length = snprintf(word, sizeof word, "%s%u ", WORDS[(state >> 16) % 6], state >> 22);
        for (int k = 0; k < length && at < n; k++)
            text[at++] = (uint8_t)word[k];
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    static struct model model;
    long n = atol(argv[1]);
    uint8_t *text = malloc((size_t)n), *again = malloc((size_t)n);
    struct stream packed = {calloc((size_t)n + 64, 2), 2 * n, 0};

    if (!text || !again || !packed.bytes)
        abort();
    write_text(text, n);
    reset_model(&model);
    encode(&model, text, n, &packed);
    for (int round = 0; round < atoi(argv[2]); round++) {
        reset_model(&model);
        decode(&model, &packed, again, n);
        if (memcmp(text, again, (size_t)n) != 0) {
            fprintf(stderr, "range_decoder: the text differs; check the coder\n");
            return 1;
        }
    }
    printf("%ld bytes packed to %ld\n", n, packed.at);
    free(text);
    free(again);
    free(packed.bytes);
    return 0;
}
