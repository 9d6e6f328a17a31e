/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one stream: its index of blocks, its clock, its events. Blocks are read and not mapped,
 * because their writer may truncate the file at the same time.
 */
#include "trace/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/read.h"
#include "base/untrusted_open.h"
#include "trace/numbers.h"

struct block_place {
    uint64_t offset, tick;
    uint32_t used_b;
};

struct as_trace_stream {
    int fd;
    struct as_trace_stream_facts facts;
    AS_VEC(struct block_place) place; /* sorted by time */
    size_t next;                      /* index of the next block */
    uint8_t *bytes;                   /* of the current block */
    size_t bytes_cap;
    struct as_read cursor;
    uint64_t tick;      /* of the previous record */
    uint64_t tick_most; /* max of the block: the start of the next one */
    uint64_t caller;    /* first address of the latest CALLERS of the block */
    /* The latest SAMPLE of the block, and the one before it. */
    struct sampled_stack {
        uint32_t n;
        uint64_t at[AS_TRACE_STACK_N];
    } stack, stack_before;
    AS_VEC(uint64_t) list;
    uint64_t tick0;
    int64_t raw0_ns;
    uint64_t ns_per_tick; /* ns per tick times 2^32 */
    bool is_shifted;
    int64_t shift_at_ns, shift_ns;
    double shift_rate;
    struct as_trace_pair begin, latest;
};

static const char *const fields_of[] = {[AS_TRACE_NONE] = NULL,
#define FIELDS(kind, name, fields) [AS_TRACE_##kind] = fields,
                                        AS_TRACE_KINDS(FIELDS)
#undef FIELDS
};
_Static_assert(sizeof fields_of / sizeof *fields_of == AS_TRACE_KINDS_N,
               "an entry for each of the enumeration");

const char *as_trace_kind_name(unsigned kind)
{
    static const char *const names[] = {[AS_TRACE_NONE] = "?",
#define NAME(kind, name, fields) [AS_TRACE_##kind] = name,
                                        AS_TRACE_KINDS(NAME)
#undef NAME
    };
    _Static_assert(sizeof names / sizeof *names == AS_TRACE_KINDS_N,
                   "an entry for each of the enumeration");
    return kind < AS_TRACE_KINDS_N ? names[kind] : "?";
}

const char *as_trace_group_name(unsigned group)
{
    static const char *const names[] = {
#define NAME(group, name) [AS_TRACE_OF_##group] = name,
        AS_TRACE_GROUPS(NAME)
#undef NAME
    };
    return group < AS_TRACE_GROUPS_N ? names[group] : "?";
}

/* ---- The clock ---------------------------------------------------------------------------- */

#define ONE        (UINT64_C(1) << 32)
#define LONG_NS    1000000 /* min distance of clock readings for a rate within 0.1 per mille */
#define RATE_LEAST (ONE / 100)
#define RATE_MOST  (ONE * 100)

static int64_t ns_of(const struct as_trace_stream *s, uint64_t ticks)
{
    const uint64_t ns = (uint64_t)(((unsigned __int128)ticks * s->ns_per_tick) >> 32);
    return ns > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)ns;
}

static int64_t shifted_ns(const struct as_trace_stream *s, int64_t raw_ns)
{
    const double more = (double)(raw_ns - s->shift_at_ns) * s->shift_rate;
    return raw_ns + s->shift_ns + (int64_t)more;
}

static int64_t raw_of(const struct as_trace_stream *s, uint64_t tick)
{
    const int64_t raw_ns = tick < s->tick0 ? s->raw0_ns - ns_of(s, s->tick0 - tick)
                                           : s->raw0_ns + ns_of(s, tick - s->tick0);
    return s->is_shifted ? shifted_ns(s, raw_ns) : raw_ns;
}

static uint64_t rate_between(const struct as_trace_pair *a, const struct as_trace_pair *b)
{
    if (b->tick <= a->tick || b->raw_ns <= a->raw_ns || b->raw_ns - a->raw_ns < LONG_NS)
        return 0;
    const unsigned __int128 ns = (uint64_t)(b->raw_ns - a->raw_ns);
    const unsigned __int128 rate = (ns << 32) / (b->tick - a->tick);
    return rate < RATE_LEAST || rate > RATE_MOST ? 0 : (uint64_t)rate;
}

static void set_clock(struct as_trace_stream *s, const struct as_trace_head *head)
{
    const uint64_t hz = head->tick_hz;
    s->tick0 = head->begin.tick;
    s->raw0_ns = head->begin.raw_ns;
    s->begin = head->begin;
    s->latest = head->latest.tick > head->begin.tick ? head->latest : head->begin;
    s->ns_per_tick = rate_between(&head->begin, &head->latest);
    if (s->ns_per_tick == 0 && hz >= 10000000 && hz <= UINT64_C(100000000000))
        s->ns_per_tick = (uint64_t)(((unsigned __int128)1000000000 << 32) / hz);
    if (s->ns_per_tick == 0 || head->clock != AS_TRACE_TSC)
        s->ns_per_tick = ONE;
}

/* ---- Opening ------------------------------------------------------------------------------ */

static bool is_time(int64_t ns)
{
    return ns > INT64_MIN / 4 && ns < INT64_MAX / 4;
}

static int check_head(const char *path, const struct as_trace_head *head, size_t got,
                      struct as_error *err)
{
    if (got != sizeof *head || head->magic != AS_TRACE_MAGIC)
        return as_error_set(err, AS_ERR_CORRUPT, "%s: not an event stream", path);
    if (head->version != AS_TRACE_VERSION)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "%s: stream of version %u, but version %u is supported; use the assay "
                            "that wrote it",
                            path, head->version, AS_TRACE_VERSION);
    if (head->block_b != AS_TRACE_BLOCK_B || head->clock > AS_TRACE_GIVEN ||
        !is_time(head->begin.raw_ns) || !is_time(head->latest.raw_ns) ||
        !is_time(head->monotonic_ns) || !is_time(head->real_ns))
        return as_error_set(err, AS_ERR_CORRUPT, "%s: its first page is invalid", path);
    return 0;
}

static void set_facts(struct as_trace_stream *s, const struct as_trace_head *head)
{
    struct as_trace_stream_facts *f = &s->facts;
    *f = (struct as_trace_stream_facts){
        .pid = head->pid,
        .tid = head->tid,
        .parent_tid = head->parent_tid,
        .clock = head->clock,
        .end = head->end <= AS_TRACE_REFUSED ? head->end : AS_TRACE_OPEN,
        .end_errno = head->end_errno,
        .is_ring = head->ring_n != 0,
        .lost_n = head->lost,
        .samples_lost_n = head->samples_lost,
        .filtered_n = head->filtered,
        .begin_raw_ns = head->begin.raw_ns,
        .end_raw_ns =
            head->latest.raw_ns > head->begin.raw_ns ? head->latest.raw_ns : head->begin.raw_ns,
        .monotonic_less_raw_ns = head->monotonic_ns - head->begin.raw_ns,
        .real_less_raw_ns = head->real_ns - head->begin.raw_ns};
    memcpy(f->name, head->name, sizeof f->name);
    f->name[sizeof f->name - 1] = 0;
}

static void note_residual(struct as_trace_stream *s, const struct as_trace_pair *pair)
{
    if (!is_time(pair->raw_ns))
        return;
    const int64_t off = raw_of(s, pair->tick) - pair->raw_ns;
    const int64_t size = off < 0 ? -off : off;
    if (size > s->facts.residual_ns)
        s->facts.residual_ns = size;
}

/* Max clock difference of streams of one machine. Machines with equal names may differ by more. */
#define ONE_MACHINE_NS 1000000

void as_trace_stream_share_clock(struct as_trace_stream *s, const struct as_trace_stream *first,
                                 const struct as_trace_stream *last)
{
    const struct as_trace_stream own = *s;
    const uint64_t rate = rate_between(&first->begin, &last->latest);
    if (rate == 0 || s->facts.clock != AS_TRACE_TSC)
        return;
    s->tick0 = first->begin.tick;
    s->raw0_ns = first->begin.raw_ns;
    s->ns_per_tick = rate;
    const int64_t begin_ns = raw_of(s, s->begin.tick), latest_ns = raw_of(s, s->latest.tick);
    if (llabs(begin_ns - s->begin.raw_ns) > ONE_MACHINE_NS ||
        llabs(latest_ns - s->latest.raw_ns) > ONE_MACHINE_NS || !is_time(begin_ns)) {
        *s = own;
        return;
    }
    s->facts.begin_raw_ns = begin_ns;
    s->facts.end_raw_ns = latest_ns;
    note_residual(s, &s->begin);
    note_residual(s, &s->latest);
}

const struct as_trace_stream *as_trace_stream_longer(const struct as_trace_stream *a,
                                                     const struct as_trace_stream *b, bool at_end)
{
    if (!a || !b || b->facts.clock != AS_TRACE_TSC)
        return a ? a : b && b->facts.clock == AS_TRACE_TSC ? b : NULL;
    const bool b_is_longer =
        at_end ? b->latest.raw_ns > a->latest.raw_ns : b->begin.raw_ns < a->begin.raw_ns;
    return b_is_longer ? b : a;
}

/* Adds a block to the index. Leaves it out if its head is incomplete, or if it goes back in time.
 */
static int add_place(struct as_trace_stream *s, uint64_t number, uint64_t offset)
{
    struct as_trace_block head;
    const ssize_t got = pread(s->fd, &head, sizeof head, (off_t)offset);
    const uint64_t last = s->place.n ? s->place.at[s->place.n - 1].tick : 0;
    if (got != (ssize_t)sizeof head || head.magic != AS_TRACE_BLOCK_MAGIC ||
        head.number != number || head.used_b < sizeof head || head.used_b > AS_TRACE_BLOCK_B ||
        head.tick < last) {
        s->facts.damaged_n++;
        return 0;
    }
    note_residual(s, &head.at);
    const struct block_place place = {offset, head.tick, head.used_b};
    return as_vec_push(&s->place, place);
}

static int make_index(struct as_trace_stream *s, const struct as_trace_head *head)
{
    const uint64_t size_b = s->facts.size_b;
    const uint64_t begun = head->blocks_n, ring = head->ring_n;
    uint64_t places = size_b < AS_TRACE_PAGE_B ? 0 : (size_b - AS_TRACE_PAGE_B) / AS_TRACE_BLOCK_B;
    if (ring && places > ring)
        places = ring;
    const uint64_t n = begun < places ? begun : places;
    const uint64_t first = ring && begun > ring ? begun - n : 0;
    if (begun > places && !ring)
        s->facts.damaged_n++; /* the file is truncated */
    for (uint64_t number = first; number < first + n; number++) {
        const uint64_t place = ring ? number % ring : number;
        if (add_place(s, number, AS_TRACE_PAGE_B + place * AS_TRACE_BLOCK_B) < 0)
            return AS_ERR_NOMEM;
    }
    s->facts.blocks_n = s->place.n;
    s->facts.overwritten_n = first;
    return 0;
}

static int open_file(struct as_trace_stream *s, int at, const char *path, struct as_error *err)
{
    struct as_trace_head head = {0};
    struct stat status;
    s->fd = as_foreign_open(at, path, AS_FOREIGN_NO_LINK, &status);
    if (s->fd < 0)
        return as_foreign_fail(path, "the stream of a trace", errno, err);
    const ssize_t got = pread(s->fd, &head, sizeof head, 0);
    AS_TRY(check_head(path, &head, got < 0 ? 0 : (size_t)got, err));
    set_clock(s, &head);
    set_facts(s, &head);
    s->facts.size_b = (uint64_t)status.st_size;
    return make_index(s, &head) < 0 ? as_error_nomem(err, "the index of a trace") : 0;
}

int as_trace_stream_open(int at, const char *path, struct as_trace_stream **out,
                         struct as_error *err)
{
    struct as_trace_stream *s = as_calloc(1, sizeof *s);
    *out = s;
    if (!s)
        return as_error_nomem(err, "a trace");
    s->fd = -1;
    const int rc = open_file(s, at, path, err);
    if (rc < 0)
        as_trace_stream_close(out);
    return rc;
}

void as_trace_stream_close(struct as_trace_stream **stream)
{
    struct as_trace_stream *s = *stream;
    *stream = NULL;
    if (!s)
        return;
    if (s->fd >= 0)
        close(s->fd);
    as_vec_fini(&s->place);
    as_vec_fini(&s->list);
    as_free(s->bytes);
    as_free(s);
}

const struct as_trace_stream_facts *as_trace_stream_facts(const struct as_trace_stream *stream)
{
    return &stream->facts;
}

void as_trace_stream_shift(struct as_trace_stream *s, int64_t at_ns, int64_t shift_ns, double rate)
{
    struct as_trace_stream_facts *f = &s->facts;
    s->is_shifted = true;
    s->shift_at_ns = at_ns;
    s->shift_ns = shift_ns;
    s->shift_rate = rate;
    f->shift_ns = shifted_ns(s, f->begin_raw_ns) - f->begin_raw_ns;
    f->end_raw_ns = shifted_ns(s, f->end_raw_ns);
    f->begin_raw_ns += f->shift_ns;
}

int64_t as_trace_stream_kept_ns(const struct as_trace_stream *s)
{
    const bool is_whole = s->facts.overwritten_n == 0 || s->place.n == 0;
    return is_whole ? s->facts.begin_raw_ns : raw_of(s, s->place.at[0].tick);
}

/* ---- Events ------------------------------------------------------------------------------- */

static int load_block(struct as_trace_stream *s, struct as_error *err)
{
    const struct block_place place = s->place.at[s->next++];
    const size_t head_b = sizeof(struct as_trace_block), size_b = place.used_b - head_b;
    if (!s->bytes || s->bytes_cap < size_b) {
        as_free(s->bytes);
        s->bytes_cap = 0;
        s->bytes = as_malloc(size_b + AS_NUMBERS_SPARE_B);
        if (!s->bytes)
            return as_error_nomem(err, "a block of a trace");
        s->bytes_cap = size_b;
    }
    const ssize_t got = pread(s->fd, s->bytes, size_b, (off_t)(place.offset + head_b));
    if (got < 0)
        return as_error_set(err, AS_ERR_IO, "an event stream cannot be read: %s", strerror(errno));
    memset(s->bytes + got, 0, AS_NUMBERS_SPARE_B);
    s->facts.damaged_n += (size_t)got < size_b;
    s->cursor = as_read_of(s->bytes, (size_t)got);
    s->tick_most = s->next < s->place.n ? s->place.at[s->next].tick : UINT64_MAX;
    s->tick = place.tick;
    s->caller = 0;
    s->stack.n = 0;
    return 0;
}

/* Reads a number of more than eight bytes. */
static uint64_t long_number(const uint8_t **at, const uint8_t *end)
{
    struct as_read rest = as_read_of(*at, *at < end ? (size_t)(end - *at) : 0);
    const uint64_t value = as_read_uleb_slow(&rest);
    *at = rest.bad ? end + 1 : rest.at;
    return value;
}

uint64_t as_numbers_more(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *p = *at;
    if (p[1] < 0x80) {
        *at = p + 2;
        return (p[0] & 0x7fu) | (uint64_t)p[1] << 7;
    }
    const uint64_t word = as_numbers_word(p);
    const uint64_t last = ~word & UINT64_C(0x8080808080808080);
    if (last == 0)
        return long_number(at, end);
    const unsigned n = ((unsigned)__builtin_ctzll(last) >> 3) + 1;
    *at = p + n;
    return as_numbers_packed(word, n);
}

/* Moves the cursor to the end of a record. Fails if that is after the end of the block. */
static bool pass_to(struct as_trace_stream *s, const uint8_t *at)
{
    if (at > s->cursor.end)
        as_read_fail(&s->cursor);
    else
        s->cursor.at = at;
    return !s->cursor.bad;
}

/* Returns the value to which the first entry of a list is relative. */
static uint64_t list_base(const struct as_trace_stream *s, unsigned kind)
{
    if (kind == AS_TRACE_CALLERS)
        return s->caller;
    return kind == AS_TRACE_SAMPLE && s->stack.n ? s->stack.at[0] : 0;
}

/* Appends the outermost `same` addresses of the previous sample to the `n` that were read. */
static void complete_stack(struct as_trace_stream *s, uint64_t n, uint64_t same)
{
    s->stack_before = s->stack;
    if (same > s->stack_before.n || n > AS_TRACE_STACK_N - same) {
        as_read_fail(&s->cursor);
        return;
    }
    if (n)
        memcpy(s->stack.at, s->list.at, n * sizeof *s->stack.at);
    memcpy(s->stack.at + n, s->stack_before.at + s->stack_before.n - same,
           same * sizeof *s->stack.at);
    s->stack.n = (uint32_t)(n + same);
}

static int read_list(struct as_trace_stream *s, struct as_trace_event *out)
{
    const uint64_t n = as_read_uleb(&s->cursor);
    uint64_t value = list_base(s, out->kind);
    if (n > as_read_left(&s->cursor)) { /* an entry has at least one byte */
        as_read_fail(&s->cursor);
        return 0;
    }
    if (as_vec_reserve(&s->list, (size_t)n + 1) < 0)
        return AS_ERR_NOMEM;
    const uint8_t *at = s->cursor.at;
    for (uint64_t i = 0; i < n && at <= s->cursor.end; i++) {
        value += (uint64_t)as_numbers_unzigzag(as_numbers_next(&at, s->cursor.end));
        s->list.at[i] = value;
    }
    pass_to(s, at);
    if (out->kind == AS_TRACE_CALLERS && n)
        s->caller = s->list.at[0];
    out->list = s->list.at;
    out->list_n = (size_t)n;
    if (out->kind == AS_TRACE_SAMPLE) {
        complete_stack(s, n, (uint64_t)out->field[1]);
        out->list = s->stack.at;
        out->list_n = s->stack.n;
    }
    return 0;
}

static struct as_view read_text(struct as_read *r)
{
    const uint64_t n = as_read_uleb(r);
    const uint8_t *p = as_read_bytes(r, n);
    return p ? (struct as_view){(const char *)p, (size_t)n} : (struct as_view){"", 0};
}

/* Reads the texts and lists, which follow the numbers. */
static int read_rest(struct as_trace_stream *s, const uint8_t *at, const char *fields,
                     struct as_trace_event *out)
{
    bool first = true;
    if (!pass_to(s, at))
        return 0;
    for (; *fields; fields++)
        if (*fields == 'l') {
            AS_TRY(read_list(s, out));
        } else if (*fields == 't') {
            *(first ? &out->text : &out->value) = read_text(&s->cursor);
            first = false;
        }
    return 0;
}

#define NUMBERS_MOST 6u /* max numbers of a record; they may be read after the block */
_Static_assert(sizeof(uint64_t) + NUMBERS_MOST + sizeof(uint64_t) <= AS_NUMBERS_SPARE_B,
               "a record that begins in the block ends in what it was read into");
#define FITS(kind, name, fields)                                                                   \
    _Static_assert(sizeof fields - 1 <= NUMBERS_MOST, "more numbers than are read");
AS_TRACE_KINDS(FITS)
#undef FITS

static inline int64_t number_of(char letter, const uint8_t **at, const uint8_t *end)
{
    const uint64_t value = as_numbers_next(at, end);
    return letter == 's' ? as_numbers_unzigzag(value) : (int64_t)value;
}

/* Field `i` of a kind. The letters are constants, so the compiler keeps only the reads. */
#define LETTER(fields, i) ((i) < sizeof(fields) - 1 ? (fields)[(i) < sizeof(fields) ? (i) : 0] : 0)
#define NUMBER(fields, i)                                                                          \
    if (LETTER(fields, i) == 'u' || LETTER(fields, i) == 's')                                      \
    out->field[i] = number_of(LETTER(fields, i), &at, end)
#define READ_KIND(kind, name, fields)                                                              \
    case AS_TRACE_##kind:                                                                          \
        NUMBER(fields, 0u);                                                                        \
        NUMBER(fields, 1u);                                                                        \
        NUMBER(fields, 2u);                                                                        \
        NUMBER(fields, 3u);                                                                        \
        NUMBER(fields, 4u);                                                                        \
        NUMBER(fields, 5u);                                                                        \
        break;

/* Reads the numbers of a record, with straight code for each kind. */
/* NOLINTNEXTLINE(readability-function-size): one line for each kind */
static const uint8_t *read_numbers(const uint8_t *at, const uint8_t *end,
                                   struct as_trace_event *out)
{
    switch (out->kind) {
        AS_TRACE_KINDS(READ_KIND)
    default:
        break;
    }
    return at;
}
#undef READ_KIND
#undef NUMBER
#undef LETTER

/* Bit mask of the kinds with a text or a list. */
#define MORE(kind, name, fields)                                                                   \
    | ((uint64_t)(fields[sizeof fields > 1 ? sizeof fields - 2 : 0] == 't' ||                      \
                  fields[sizeof fields > 1 ? sizeof fields - 2 : 0] == 'l')                        \
       << AS_TRACE_##kind)
#define MORE_KINDS (UINT64_C(0) AS_TRACE_KINDS(MORE))

/* Reads the record at the cursor. A damaged record ends the block. */
static int read_record(struct as_trace_stream *s, struct as_trace_event *out)
{
    static const uint8_t bytes[] = {0, 2, 4, 8};
    static const uint64_t bits[] = {0, UINT16_MAX, UINT32_MAX, UINT64_MAX};
    const uint8_t *begin = s->cursor.at, *end = s->cursor.end, *at = begin + 1;
    const unsigned kind = *begin & 63, code = *begin >> 6;
    const uint64_t since = as_numbers_word(at) & bits[code];
    /* Clears the parts, because compilers clear the whole by a slow string instruction. */
    memset(out->field, 0, sizeof out->field);
    out->text = out->value = (struct as_view){0};
    out->list = NULL;
    out->list_n = 0;
    /* A time after the start of the next block is damage, because a seek may read that block first.
     */
    if (kind - 1 >= AS_TRACE_KINDS_N - 1 || since > s->tick_most - s->tick) {
        as_read_fail(&s->cursor);
        return 0;
    }
    s->tick += since;
    out->kind = (uint8_t)kind;
    out->raw_ns = raw_of(s, s->tick);
    at = read_numbers(at + bytes[code], end, out);
    if (!(MORE_KINDS >> kind & 1))
        pass_to(s, at);
    else
        AS_TRY(read_rest(s, at, fields_of[kind], out));
    out->size_b = (uint32_t)(s->cursor.at - begin);
    if (kind == AS_TRACE_REPEATED) {
        out->repeated.inside_ns = ns_of(s, (uint64_t)out->field[1]);
        out->repeated.longest_ns = ns_of(s, (uint64_t)out->field[2]);
    }
    return 0;
}

int as_trace_stream_next(struct as_trace_stream *s, struct as_trace_event *out,
                         struct as_error *err)
{
    for (;;) {
        while (as_read_left(&s->cursor) == 0) {
            if (s->next >= s->place.n)
                return 0;
            AS_TRY(load_block(s, err));
        }
        if (read_record(s, out) < 0)
            return as_error_nomem(err, "a record of a trace");
        if (!s->cursor.bad) {
            s->facts.records_n++;
            return 1;
        }
        s->facts.damaged_n++;
        s->cursor = as_read_of(NULL, 0);
    }
}

int as_trace_stream_seek(struct as_trace_stream *s, int64_t raw_ns, struct as_error *err)
{
    size_t low = 0, high = s->place.n;
    struct as_trace_event event;
    while (low < high) { /* finds the first block that does not begin before */
        const size_t middle = low + (high - low) / 2;
        if (raw_of(s, s->place.at[middle].tick) < raw_ns)
            low = middle + 1;
        else
            high = middle;
    }
    s->next = low ? low - 1 : 0;
    s->cursor = as_read_of(NULL, 0);
    for (;;) {
        const struct as_read before = s->cursor;
        const uint64_t tick = s->tick, caller = s->caller;
        const size_t next = s->next;
        const int rc = as_trace_stream_next(s, &event, err);
        if (rc <= 0)
            return rc;
        s->facts.records_n--;
        if (event.raw_ns < raw_ns)
            continue;
        if (s->next == next) {
            s->cursor = before;
            s->tick = tick;
            s->caller = caller;
            if (event.kind == AS_TRACE_SAMPLE)
                s->stack = s->stack_before;
        } else { /* the event is the first one of its block */
            s->next--;
            s->cursor = as_read_of(NULL, 0);
        }
        return 0;
    }
}
