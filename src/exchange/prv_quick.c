/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/prv_quick.h"

#include <emmintrin.h>
#include <string.h>

#include "exchange/prv_lines.h"

#define BLOCK_B          64u
#define FIELDS_MAX       192u /* longer lines are for the other reader */
#define OBJECT_TEXT_MAX  16u
#define WAYS             4u /* slots for one key */
#define STATE_FIELDS     8u
#define EVENT_FIELDS_MIN 8u
#define MESSAGE_FIELDS   15u

void as_prv_quick_init(struct as_prv_quick *quick, int64_t unit_ns)
{
    *quick = (struct as_prv_quick){.unit_ns = unit_ns, .time_digits_max = AS_PRV_QUICK_DIGITS};
    for (; unit_ns > 1; unit_ns /= 10)
        quick->time_digits_max--;
}

/* ---- Separators ------------------------------------------------------------------------------ */

/* Positions of the separators behind each field. */
struct line_fields {
    uint32_t n;
    uint32_t end[FIELDS_MAX + BLOCK_B];
};

/* Bit sets of the bytes that are not digits, and of colons. */
struct block_masks {
    uint64_t separator, colon;
};

static struct block_masks masks_of_block(const char *p)
{
    const __m128i zero = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9), colon = _mm_set1_epi8(':');
    struct block_masks m = {0, 0};
    for (unsigned i = 0; i < BLOCK_B / 16; i++) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        const __m128i value = _mm_sub_epi8(bytes, zero);
        const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(value, nine), value);
        const __m128i is_colon = _mm_cmpeq_epi8(bytes, colon);
        m.separator |= (uint64_t)(uint32_t)_mm_movemask_epi8(is_digit) << 16 * i;
        m.colon |= (uint64_t)(uint32_t)_mm_movemask_epi8(is_colon) << 16 * i;
    }
    m.separator = ~m.separator;
    return m;
}

static void note_separators(struct line_fields *fields, uint32_t base, uint64_t separators)
{
    for (; separators; separators &= separators - 1)
        fields->end[fields->n++] = base + (uint32_t)__builtin_ctzll(separators);
}

/* Finds the fields. Returns false for other bytes, an empty field, too many fields, or a missing
 * line end. */
static bool find_fields(struct as_view text, struct line_fields *fields)
{
    uint64_t before = 1; /* a separator precedes the first byte */
    fields->n = 0;
    for (size_t base = 0; base < text.n && fields->n < FIELDS_MAX; base += BLOCK_B) {
        struct block_masks m = masks_of_block(text.p + base);
        const uint64_t other = m.separator & ~m.colon;
        const uint64_t in_line = other ^ (other - 1); /* up to the first other byte */
        m.separator &= in_line;
        if (m.separator & (m.separator << 1 | before))
            return false;
        before = m.separator >> (BLOCK_B - 1);
        note_separators(fields, (uint32_t)base, m.separator);
        if (other) {
            const size_t end = base + (size_t)__builtin_ctzll(other);
            return end < text.n && text.p[end] == '\n';
        }
    }
    return false;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* Returns the value of eight digits in text order, first digit in the lowest byte. Leading zero
 * bytes count as 0. */
static inline uint64_t value_of_eight(uint64_t digits)
{
    digits &= UINT64_C(0x0f0f0f0f0f0f0f0f);
    digits = digits * (10 * 256 + 1) >> 8 & UINT64_C(0x00ff00ff00ff00ff);
    digits = digits * (100 * 65536 + 1) >> 16 & UINT64_C(0x0000ffff0000ffff);
    return digits * (UINT64_C(10000) * 4294967296 + 1) >> 32;
}

static uint64_t eight_bytes(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* Returns the number of `n` digits, 1 to AS_PRV_QUICK_DIGITS, that ends before `end`. */
static inline int64_t number_before(const char *end, unsigned n)
{
    const uint64_t last = eight_bytes(end - 8);
    if (n <= 8)
        return (int64_t)value_of_eight(last & ~UINT64_C(0) << 8 * (8 - n));
    const uint64_t first = eight_bytes(end - 16) & ~UINT64_C(0) << 8 * (16 - n);
    return (int64_t)(value_of_eight(first) * 100000000 + value_of_eight(last));
}

/* Returns the number in field `at`, from 1. Sets `*is_long` for a number with too many digits. */
static inline int64_t field_number(const char *line, const struct line_fields *fields, unsigned at,
                                   unsigned digits_max, bool *is_long)
{
    const uint32_t n = fields->end[at] - fields->end[at - 1] - 1;
    if (n > digits_max) {
        *is_long = true;
        return 0;
    }
    return number_before(line + fields->end[at], n);
}

static inline int64_t field_time(const struct as_prv_quick *q, const char *line,
                                 const struct line_fields *fields, unsigned at, bool *is_long)
{
    return field_number(line, fields, at, q->time_digits_max, is_long) * q->unit_ns;
}

/* ---- Objects --------------------------------------------------------------------------------- */

/* Returns the first `n` of 16 bytes as a key, padded with 0. */
static inline void key_of_text(const char *text, size_t n, uint64_t key[2])
{
    static const uint8_t kept[2 * OBJECT_TEXT_MAX] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                      255, 255, 255, 255, 255, 255, 255, 255};
    uint64_t mask[2];
    memcpy(mask, kept + OBJECT_TEXT_MAX - n, sizeof mask);
    key[0] = eight_bytes(text) & mask[0];
    key[1] = eight_bytes(text + 8) & mask[1];
}

/* Returns the first slot for a key. */
static inline size_t slot_of_key(const uint64_t key[2])
{
    const uint64_t mixed = (key[0] ^ key[1] << 7) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 40) % AS_PRV_QUICK_OBJECTS / WAYS * WAYS;
}

void as_prv_quick_note(struct as_prv_quick *q, struct as_view object, uint32_t thread, uint32_t cpu)
{
    char text[OBJECT_TEXT_MAX] = {0};
    uint64_t key[2];
    if (object.n == 0 || object.n > sizeof text)
        return;
    memcpy(text, object.p, object.n);
    key_of_text(text, object.n, key);
    struct as_prv_quick_object *slot = &q->object[slot_of_key(key)];
    for (unsigned i = 0; i < WAYS && slot->text[0]; i++)
        slot += i + 1 < WAYS ? 1 : -(ptrdiff_t)(WAYS - 1);
    *slot = (struct as_prv_quick_object){{key[0], key[1]}, thread, cpu};
}

/* Returns the object of the four fields behind field `at`, or NULL if it is unknown. */
static inline const struct as_prv_quick_object *find_object(const struct as_prv_quick *q,
                                                            const char *line,
                                                            const struct line_fields *fields,
                                                            unsigned at)
{
    const uint32_t begin = fields->end[at] + 1, n = fields->end[at + 4] - begin;
    uint64_t key[2];
    if (n > OBJECT_TEXT_MAX)
        return NULL;
    key_of_text(line + begin, n, key);
    const struct as_prv_quick_object *slot = &q->object[slot_of_key(key)];
    for (unsigned i = 0; i < WAYS; i++)
        if (slot[i].text[0] == key[0] && slot[i].text[1] == key[1])
            return &slot[i];
    return NULL;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool read_quick_state(const struct as_prv_quick *q, const char *line,
                             const struct line_fields *fields, struct as_prv_line_read *out)
{
    bool is_long = fields->n != STATE_FIELDS;
    out->ns = field_time(q, line, fields, 5, &is_long);
    out->end_ns = field_time(q, line, fields, 6, &is_long);
    out->state = field_number(line, fields, 7, AS_PRV_QUICK_DIGITS, &is_long);
    return !is_long && out->end_ns >= out->ns;
}

static bool read_quick_events(const struct as_prv_quick *q, const char *line,
                              const struct line_fields *fields, struct as_prv_line_read *out)
{
    bool is_long = fields->n < EVENT_FIELDS_MIN || fields->n % 2;
    const unsigned n = fields->n - (EVENT_FIELDS_MIN - 2);
    if (is_long || as_vec_reserve(&out->value, n) < 0)
        return false;
    out->ns = field_time(q, line, fields, 5, &is_long);
    out->value.n = n;
    for (unsigned i = 0; i < n; i++)
        out->value.at[i] =
            field_number(line, fields, EVENT_FIELDS_MIN - 2 + i, AS_PRV_QUICK_DIGITS, &is_long);
    return !is_long;
}

static bool read_quick_message(const struct as_prv_quick *q, const char *line,
                               const struct line_fields *fields, struct as_prv_line_read *out)
{
    if (fields->n != MESSAGE_FIELDS)
        return false;
    const struct as_prv_quick_object *receiver = find_object(q, line, fields, 6);
    bool is_long = !receiver;
    out->ns = field_time(q, line, fields, 5, &is_long);
    out->physical_send_ns = field_time(q, line, fields, 6, &is_long);
    out->logical_receive_ns = field_time(q, line, fields, 11, &is_long);
    out->physical_receive_ns = field_time(q, line, fields, 12, &is_long);
    out->size_b = field_number(line, fields, 13, AS_PRV_QUICK_DIGITS, &is_long);
    out->tag = field_number(line, fields, 14, AS_PRV_QUICK_DIGITS, &is_long);
    if (is_long)
        return false;
    out->receiver = receiver->thread;
    out->receiver_cpu = receiver->cpu;
    return true;
}

size_t as_prv_quick_line(const struct as_prv_quick *q, struct as_view text,
                         struct as_prv_line_read *out)
{
    struct line_fields fields;
    if (text.n == 0 || *text.p < '1' || *text.p > '3' || !find_fields(text, &fields) ||
        fields.n < EVENT_FIELDS_MIN || fields.end[0] != 1)
        return 0;
    const struct as_prv_quick_object *object = find_object(q, text.p, &fields, 0);
    if (!object)
        return 0;
    out->kind = (enum as_prv_line)(*text.p - '0');
    out->thread = object->thread;
    out->cpu = object->cpu;
    const bool is_read = out->kind == AS_PRV_LINE_STATE ? read_quick_state(q, text.p, &fields, out)
                         : out->kind == AS_PRV_LINE_EVENTS
                             ? read_quick_events(q, text.p, &fields, out)
                             : read_quick_message(q, text.p, &fields, out);
    return is_read ? (size_t)fields.end[fields.n - 1] + 1 : 0;
}
