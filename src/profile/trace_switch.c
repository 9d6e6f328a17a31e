/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/trace_switch.h"

#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "base/clock.h"

#define LOOK_NS 50000000 /* time between two checks of the file */
#define S_NS    1e9

bool as_trace_switch_is_wanted(const struct as_trace_options *o)
{
    return o->delay_s > 0 || o->duration_s > 0 || o->while_file || o->toggle_signal || o->start_off;
}

static bool has_outside(const struct as_trace_options *o)
{
    return o->delay_s > 0 || o->duration_s > 0 || o->while_file;
}

/* ---- What is to be --------------------------------------------------------------------------- */

static bool is_past(const struct as_trace_switch *it, double after_s, int64_t now_ns)
{
    return (double)(now_ns - it->begin_ns) >= after_s * S_NS;
}

static bool is_to_end(const struct as_trace_switch *it, int64_t now_ns)
{
    return it->options->duration_s > 0 && is_past(it, it->options->duration_s, now_ns);
}

static bool is_to_be_off(const struct as_trace_switch *it, int64_t now_ns)
{
    const struct as_trace_options *o = it->options;
    return is_to_end(it, now_ns) || (o->delay_s > 0 && !is_past(it, o->delay_s, now_ns)) ||
           (o->while_file && access(o->while_file, F_OK) != 0);
}

/* Returns the time of the next possible change, in ns of CLOCK_MONOTONIC. */
static int64_t next_look_ns(const struct as_trace_switch *it, int64_t now_ns)
{
    const double at_s[] = {it->options->delay_s, it->options->duration_s};
    int64_t next_ns = it->options->while_file ? now_ns + LOOK_NS : INT64_MAX;
    for (unsigned i = 0; i < 2; i++) {
        const double after_ns = at_s[i] * S_NS;
        if (at_s[i] <= 0 || is_past(it, at_s[i], now_ns))
            continue;
        const int64_t at_ns = it->begin_ns + (int64_t)after_ns;
        next_ns = at_ns < next_ns ? at_ns : next_ns;
    }
    return next_ns;
}

/* ---- Switching ------------------------------------------------------------------------------- */

static uint64_t tick_now(const struct as_trace_switch *it)
{
    return it->by_counter ? __rdtsc() : (uint64_t)as_clock_ns(CLOCK_MONOTONIC_RAW);
}

static void look_once(const struct as_trace_switch *it)
{
    struct as_switch_part *part = it->part;
    const int64_t now_ns = as_monotonic_ns();
    const uint32_t changes = part->changes;
    if (is_to_be_off(it, now_ns) == (changes & 1))
        return;
    part->tick[(changes + 1) % AS_SWITCH_TICKS_N] = tick_now(it);
    part->limited = is_to_end(it, now_ns);
    atomic_store_explicit(&part->changes, changes + 1, memory_order_release);
}

static void *look_until_end(void *context)
{
    struct as_trace_switch *it = context;
    pthread_mutex_lock(&it->lock);
    for (;;) {
        look_once(it);
        const int64_t now_ns = as_monotonic_ns(), at_ns = next_look_ns(it, now_ns);
        if (it->is_over || is_to_end(it, now_ns) || at_ns == INT64_MAX)
            break;
        const struct timespec at = {at_ns / 1000000000, at_ns % 1000000000};
        pthread_cond_timedwait(&it->end, &it->lock, &at);
    }
    pthread_mutex_unlock(&it->lock);
    return NULL;
}

/* ---- Its life -------------------------------------------------------------------------------- */

void as_trace_switch_fill(struct as_trace_switch *it, struct as_switch_part *part,
                          const struct as_trace_options *options, bool by_counter)
{
    *it = (struct as_trace_switch){.part = part, .options = options, .by_counter = by_counter};
    part->signal = (uint32_t)options->toggle_signal;
    part->begins_off = options->start_off;
    it->begin_ns = as_monotonic_ns();
    part->changes = is_to_be_off(it, it->begin_ns);
}

int as_trace_switch_start(struct as_trace_switch *it)
{
    pthread_condattr_t by;
    if (!it->part || !has_outside(it->options))
        return 0;
    it->begin_ns = as_monotonic_ns();
    look_once(it);
    pthread_mutex_init(&it->lock, NULL);
    pthread_condattr_init(&by);
    pthread_condattr_setclock(&by, CLOCK_MONOTONIC);
    pthread_cond_init(&it->end, &by);
    pthread_condattr_destroy(&by);
    const int error = pthread_create(&it->thread, NULL, look_until_end, it);
    it->has_thread = error == 0;
    return -error;
}

void as_trace_switch_stop(struct as_trace_switch *it)
{
    if (!it->has_thread)
        return;
    pthread_mutex_lock(&it->lock);
    it->is_over = true;
    pthread_cond_signal(&it->end);
    pthread_mutex_unlock(&it->lock);
    pthread_join(it->thread, NULL);
    pthread_cond_destroy(&it->end);
    pthread_mutex_destroy(&it->lock);
    it->has_thread = false;
}
