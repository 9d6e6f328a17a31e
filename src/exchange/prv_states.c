/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a thread are in linked blocks. The thread owns the block that is being filled or
 * read from the file.
 */
#include "exchange/prv_states.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/losers.h"
#include "base/vec.h"
#include "exchange/scratch.h"

#define BLOCK_N  128u /* words */
#define BLOCK_B  (BLOCK_N * sizeof(uint64_t))
#define KEPT_N   ((size_t)64 << 10) /* max blocks in memory */
#define NO_BLOCK UINT32_MAX

/* One word has the length, the state, and the increase of the number. The length LONG_STATE marks
 * that four words follow: begin, end, number, state. */
#define LENGTH_BITS 30u
#define STATE_BITS  6u
#define GROWN_BITS  20u
#define SINCE_BITS  8u
#define LONG_STATE  ((UINT64_C(1) << LENGTH_BITS) - 1)
#define FOUND_SHIFT AS_PRV_FOUND_BITS
#define FOUND_MASK  ((UINT64_C(1) << FOUND_SHIFT) - 1)
_Static_assert(LENGTH_BITS + STATE_BITS + GROWN_BITS + SINCE_BITS == 64, "a stretch is a word");

struct state_row {
    struct as_prv_interval it; /* the last added interval, or the next one to return */
    uint64_t *word;            /* block of BLOCK_N words owned by the thread; NULL: none yet */
    const uint64_t *from;      /* next word to read */
    const uint64_t *end;       /* end of the current block */
    uint32_t n;                /* words in the own block, or in the last block */
    uint32_t first, last;      /* first and last block of the thread */
};

struct as_prv_states {
    uint32_t row_n;
    struct state_row *row;
    uint64_t *kept;        /* KEPT_N blocks; NULL: no block is full yet */
    AS_VEC(uint32_t) next; /* by block: the next block */
    int fd;                /* -1: all blocks are in memory */
    off_t end;
    struct as_losers heads; /* the next interval of each row */
    bool is_taking;         /* the first of them was returned */
};

int as_prv_states_new(struct as_prv_states **out, uint32_t locations_n)
{
    struct as_prv_states *s = *out = as_calloc(1, sizeof *s);
    if (!s)
        return AS_ERR_NOMEM;
    s->fd = -1;
    s->row = as_calloc((size_t)locations_n + 1, sizeof *s->row);
    if (!s->row) {
        as_prv_states_free(out);
        return AS_ERR_NOMEM;
    }
    s->row_n = locations_n;
    for (uint32_t i = 0; i < locations_n; i++)
        s->row[i] = (struct state_row){
            .it = {.location = i}, .n = BLOCK_N, .first = NO_BLOCK, .last = NO_BLOCK};
    return 0;
}

void as_prv_states_free(struct as_prv_states **states)
{
    struct as_prv_states *s = *states;
    if (!s)
        return;
    for (uint32_t i = 0; s->row && i < s->row_n; i++)
        as_free(s->row[i].word);
    as_free(s->row);
    as_free(s->kept);
    as_vec_fini(&s->next);
    as_losers_fini(&s->heads);
    if (s->fd >= 0)
        close(s->fd);
    as_free(s);
    *states = NULL;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static int store_block(struct as_prv_states *s, const uint64_t *word, struct as_error *err)
{
    const size_t block = s->next.n;
    if (block < KEPT_N) {
        if (!s->kept)
            s->kept = as_malloc_large(KEPT_N, BLOCK_B);
        if (!s->kept)
            return as_error_nomem(err, "states of a trace");
        memcpy(s->kept + block * BLOCK_N, word, BLOCK_B);
        return 0;
    }
    if (s->fd < 0)
        AS_TRY(as_scratch_open(&s->fd, err));
    return as_scratch_write(s->fd, word, BLOCK_B, &s->end, err);
}

/* Adds the own block of a thread to its row. */
static int end_block(struct as_prv_states *s, struct state_row *row, struct as_error *err)
{
    AS_TRY(store_block(s, row->word, err));
    const uint32_t block = (uint32_t)s->next.n;
    if (block == NO_BLOCK || as_vec_push(&s->next, NO_BLOCK) < 0)
        return as_error_nomem(err, "states of a trace");
    if (row->last == NO_BLOCK)
        row->first = block;
    else
        s->next.at[row->last] = block;
    row->last = block;
    return 0;
}

/* Makes space in the own block of a thread. */
static int begin_block(struct as_prv_states *s, struct state_row *row, struct as_error *err)
{
    if (row->word)
        AS_TRY(end_block(s, row, err));
    else
        row->word = as_malloc(BLOCK_B);
    if (!row->word)
        return as_error_nomem(err, "states of a trace");
    row->n = 0;
    return 0;
}

static inline int append_state_word(struct as_prv_states *s, struct state_row *row, uint64_t word,
                                    struct as_error *err)
{
    if (row->n == BLOCK_N)
        AS_TRY(begin_block(s, row, err));
    row->word[row->n++] = word;
    return 0;
}

static int append_long_state(struct as_prv_states *s, struct state_row *row, struct as_error *err)
{
    const struct as_prv_interval *it = &row->it;
    const uint64_t word[] = {LONG_STATE, (uint64_t)it->ns, (uint64_t)it->end_ns, it->number,
                             it->state};
    for (unsigned i = 0; i < sizeof word / sizeof *word; i++)
        AS_TRY(append_state_word(s, row, word[i], err));
    return 0;
}

int as_prv_states_add(struct as_prv_states *s, const struct as_prv_interval *it,
                      struct as_error *err)
{
    struct state_row *row = &s->row[it->location];
    const uint64_t length_ns = (uint64_t)(it->end_ns - it->ns);
    const uint64_t since = it->number & FOUND_MASK;
    const uint64_t grown = (it->number - since - (row->it.number & ~FOUND_MASK)) >> FOUND_SHIFT;
    const bool goes_on = it->ns == row->it.end_ns;
    row->it = *it;
    if (!goes_on || length_ns >= LONG_STATE || it->state >> STATE_BITS || grown >> GROWN_BITS ||
        since >> SINCE_BITS)
        return append_long_state(s, row, err);
    return append_state_word(s, row,
                             length_ns | (uint64_t)it->state << LENGTH_BITS |
                                 grown << (LENGTH_BITS + STATE_BITS) | since << (64 - SINCE_BITS),
                             err);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Loads the words of the next block; none at the end of the row. */
static int load_states(struct as_prv_states *s, struct state_row *row, struct as_error *err)
{
    const uint32_t block = row->first;
    if (block == NO_BLOCK)
        return 0;
    const uint32_t n = block == row->last ? row->n : BLOCK_N;
    row->first = s->next.at[block];
    row->from = row->word;
    if (block >= KEPT_N)
        AS_TRY(
            as_scratch_read(s->fd, row->word, BLOCK_B, (off_t)((block - KEPT_N) * BLOCK_B), err));
    else
        row->from = s->kept + (size_t)block * BLOCK_N;
    row->end = row->from + n;
    return 0;
}

static int read_long(struct as_prv_states *s, struct state_row *row, struct as_error *err)
{
    uint64_t word[4] = {0};
    for (unsigned i = 0; i < sizeof word / sizeof *word; i++) {
        if (row->from == row->end)
            AS_TRY(load_states(s, row, err));
        word[i] = *row->from++;
    }
    row->it.ns = (int64_t)word[0];
    row->it.end_ns = (int64_t)word[1];
    row->it.number = word[2];
    row->it.state = (uint32_t)word[3];
    return 0;
}

/* Reads the next interval. Returns 1, or 0 at the end of the row. */
static inline int read_stretch(struct as_prv_states *s, struct state_row *row, struct as_error *err)
{
    if (row->from == row->end)
        AS_TRY(load_states(s, row, err));
    if (row->from == row->end)
        return 0;
    struct as_prv_interval *it = &row->it;
    const uint64_t word = *row->from++;
    if ((word & LONG_STATE) == LONG_STATE) {
        AS_TRY(read_long(s, row, err));
        return 1;
    }
    const uint64_t grown = word >> (LENGTH_BITS + STATE_BITS) & ((1u << GROWN_BITS) - 1);
    it->ns = it->end_ns;
    it->end_ns += (int64_t)(word & LONG_STATE);
    it->state = word >> LENGTH_BITS & ((1u << STATE_BITS) - 1);
    it->number = (it->number & ~FOUND_MASK) + (grown << FOUND_SHIFT) + (word >> (64 - SINCE_BITS));
    return 1;
}

/* Starts reading a row: its last block is the one being filled. */
static int begin_row(struct as_prv_states *s, struct state_row *row, struct as_loser *head,
                     struct as_error *err)
{
    *head = (struct as_loser){.ns = INT64_MAX, .order = AS_LOSER_OVER};
    if (!row->word)
        return 0;
    AS_TRY(end_block(s, row, err));
    row->it = (struct as_prv_interval){.location = row->it.location};
    AS_TRY(read_stretch(s, row, err));
    *head = (struct as_loser){.ns = row->it.ns, .order = row->it.number};
    return 0;
}

int as_prv_states_begin(struct as_prv_states *s, struct as_error *err)
{
    struct as_loser *head = as_calloc((size_t)s->row_n + 1, sizeof *head);
    int rc = head ? 0 : AS_ERR_NOMEM;
    for (uint32_t i = 0; rc == 0 && i < s->row_n; i++)
        rc = begin_row(s, &s->row[i], &head[i], err);
    if (rc == 0)
        rc = as_losers_init(&s->heads, head, s->row_n);
    as_free(head);
    return rc == AS_ERR_NOMEM ? as_error_nomem(err, "states of a trace") : rc;
}

int as_prv_states_next(struct as_prv_states *s, const struct as_prv_interval **out,
                       struct as_error *err)
{
    *out = NULL;
    if (s->is_taking) {
        struct state_row *row = &s->row[as_losers_first(&s->heads)->leaf];
        const int rc = read_stretch(s, row, err);
        if (rc < 0)
            return rc;
        if (rc > 0)
            as_losers_next(&s->heads, row->it.ns, row->it.number);
        else
            as_losers_end(&s->heads);
    }
    s->is_taking = !as_losers_are_over(&s->heads);
    if (s->is_taking)
        *out = &s->row[as_losers_first(&s->heads)->leaf].it;
    return 0;
}
