/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the sorted events, states and communications into the lines of a .prv. */
#include "base/digits.h"
#include "base/error.h"
#include "exchange/prv_write.h"

/* Sizes of the text of a time without its last eight digits, and of a complete time with spare
 * bytes. Each is copied at once. */
#define HIGH_MOST_B  16u
#define TIME_MOST_B  (AS_DIGITS_MOST + AS_DIGITS_SPARE)
#define HIGH_NONE_NS (UINT64_C(1) << 63) /* no time is within eight digits of it */

/* The next element of each source. */
struct prv_sources {
    struct as_prv_writer *w;
    struct as_out *out;
    struct as_error *err;
    struct as_prv_event event;
    bool has_event;
    int64_t event_ns;                    /* since the trace start */
    uint64_t event_number;               /* from 0 */
    const struct as_prv_interval *state; /* NULL: no more */
    const struct as_prv_message *message;
    /* The last written time without its last eight digits, and its text. */
    uint64_t high_ns;
    char high_text[HIGH_MOST_B];
    size_t high_n;
    /* Time of the last line, and its text. */
    int64_t line_ns;
    char line_text[TIME_MOST_B];
    size_t line_n;
};

/* Max length of a line: a communication has two threads and six more numbers. */
#define LINE_MOST_B                                                                                \
    (2 * sizeof(((struct as_prv_thread *)0)->text) +                                               \
     sizeof(((struct as_prv_event_type *)0)->text) + 8 * (AS_DIGITS_MOST + 1) + AS_DIGITS_SPARE)
_Static_assert(LINE_MOST_B <= AS_OUT_SPARE_B, "a line fits the smallest buffer of a sink");

static char *print_prv_thread(char *to, const struct prv_sources *s, uint32_t location)
{
    const struct as_prv_thread *thread = &s->w->thread.at[location];
    memcpy(to, thread->text, sizeof thread->text);
    return to + thread->text_n;
}

static char *print_prv_number(char *to, int64_t value, char behind)
{
    if ((uint64_t)value < 10) /* most values */
        *to++ = (char)('0' + value);
    else
        to = as_digits_signed(to, value);
    *to = behind;
    return to + 1;
}

static char *print_prv_whole_time(char *to, struct prv_sources *s, int64_t ns)
{
    const uint64_t high = (uint64_t)ns / AS_DIGITS_EIGHT;
    char text[AS_DIGITS_MOST + AS_DIGITS_SPARE];
    if (ns < AS_DIGITS_EIGHT)
        return as_digits_signed(to, ns);
    s->high_ns = high * AS_DIGITS_EIGHT;
    s->high_n = (size_t)(as_digits_print(text, high) - text);
    memcpy(s->high_text, text, sizeof s->high_text);
    return as_digits_print(to, (uint64_t)ns);
}

/* Prints a time. Times of consecutive lines differ only in their last eight digits. */
static inline char *print_prv_time(char *to, struct prv_sources *s, int64_t ns, char behind)
{
    const uint64_t rest = (uint64_t)ns - s->high_ns;
    if (rest < AS_DIGITS_EIGHT) {
        memcpy(to, s->high_text, sizeof s->high_text);
        to = as_digits_rest(to + s->high_n, (uint32_t)rest);
    } else {
        to = print_prv_whole_time(to, s, ns);
    }
    *to = behind;
    return to + 1;
}

/* Prints the time at the start of a line. Many lines have the time of the line before. */
static inline char *print_prv_begin(char *to, struct prv_sources *s, int64_t ns)
{
    if (ns != s->line_ns) {
        s->line_ns = ns;
        s->line_n = (size_t)(print_prv_time(s->line_text, s, ns, ':') - s->line_text);
    }
    memcpy(to, s->line_text, sizeof s->line_text);
    return to + s->line_n;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static inline int next_event(struct prv_sources *s)
{
    const uint8_t *at;
    AS_TRY(as_lane_next(&s->w->events, &at, s->err));
    s->has_event = at;
    if (!at)
        return 0;
    as_lane_pass(&s->w->events, as_prv_event_get(at, &s->event));
    s->event_ns += s->event.since_ns;
    return 0;
}

static inline void write_prv_event(struct prv_sources *s)
{
    const struct as_prv_event_type *type = &s->w->type.at[s->event.type];
    char *to = as_out_room(s->out, LINE_MOST_B);
    *to = '0' + AS_PRV_EVENT;
    to = print_prv_thread(to + 1, s, s->event.location);
    to = print_prv_begin(to, s, s->event_ns) - 1;
    memcpy(to, type->text, sizeof type->text);
    to = print_prv_number(to + type->text_n, s->event.value, '\n');
    as_out_passed(s->out, to);
    s->event_number++;
}

/* ---- States and communications ------------------------------------------------------------- */

static int next_state(struct prv_sources *s)
{
    return as_prv_states_next(s->w->states, &s->state, s->err);
}

static int next_message(struct prv_sources *s)
{
    const void *record;
    AS_TRY(as_ordered_next(s->w->messages, &record, s->err));
    s->message = record;
    return 0;
}

static int print_state(struct prv_sources *s)
{
    const struct as_prv_interval *r = s->state;
    char *to = as_out_room(s->out, LINE_MOST_B);
    *to = '0' + AS_PRV_STATE;
    to = print_prv_thread(to + 1, s, r->location);
    to = print_prv_begin(to, s, r->ns);
    to = print_prv_time(to, s, r->end_ns, ':');
    to = print_prv_number(to, r->state, '\n');
    as_out_passed(s->out, to);
    return next_state(s);
}

static int write_prv_message(struct prv_sources *s)
{
    const struct as_prv_message *r = s->message;
    char *to = as_out_room(s->out, LINE_MOST_B);
    *to = '0' + AS_PRV_MESSAGE;
    to = print_prv_thread(to + 1, s, r->location);
    to = print_prv_begin(to, s, r->ns);
    to = print_prv_time(to, s, r->sent_ns, ':') - 1;
    to = print_prv_thread(to, s, r->to);
    to = print_prv_time(to, s, r->asked_ns, ':');
    to = print_prv_time(to, s, r->received_ns, ':');
    to = print_prv_number(to, r->size_b, ':');
    to = print_prv_number(to, r->tag, '\n');
    as_out_passed(s->out, to);
    return next_message(s);
}

static bool state_is_next(const struct as_prv_interval *state, const struct as_prv_message *message)
{
    if (!state || !message)
        return state;
    return state->ns != message->ns ? state->ns < message->ns : state->number <= message->number;
}

/* Writes the events before `ns`, and those at `ns` that were found before. */
static int write_prv_events_until(struct prv_sources *s, int64_t ns, uint64_t number)
{
    const uint64_t found_n = number >> AS_PRV_FOUND_BITS;
    while (s->has_event && (s->event_ns < ns || (s->event_ns == ns && s->event_number < found_n))) {
        write_prv_event(s);
        AS_TRY(next_event(s));
    }
    return 0;
}

static int write_prv_lines(struct prv_sources *s)
{
    AS_TRY(next_event(s));
    AS_TRY(next_state(s));
    AS_TRY(next_message(s));
    while (s->state || s->message)
        if (state_is_next(s->state, s->message)) {
            AS_TRY(write_prv_events_until(s, s->state->ns, s->state->number));
            AS_TRY(print_state(s));
        } else {
            AS_TRY(write_prv_events_until(s, s->message->ns, s->message->number));
            AS_TRY(write_prv_message(s));
        }
    return write_prv_events_until(s, INT64_MAX, UINT64_MAX);
}

int as_prv_write_body(struct as_prv_writer *w, struct as_out *out, struct as_error *err)
{
    struct prv_sources s = {.w = w, .out = out, .err = err, .high_ns = HIGH_NONE_NS, .line_ns = -1};
    AS_TRY(as_lane_begin(&w->events, err));
    AS_TRY(as_prv_states_begin(w->states, err));
    AS_TRY(as_ordered_begin(w->messages, err));
    return write_prv_lines(&s);
}
