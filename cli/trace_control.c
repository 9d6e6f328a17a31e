/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_control.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/str.h"
#include "units.h"

/* Seconds; 0: not given. */
static int parse_option_seconds(const char *option, const char *text, double *out,
                                struct as_error *err)
{
    static const struct as_unit_factor units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};
    *out = 0;
    if (!text)
        return 0;
    if (!as_unit_parse(text, units, sizeof units / sizeof *units, out) || !(*out > 0) || *out > 1e9)
        return as_error_set(err, AS_ERR_USAGE,
                            "%s: invalid time '%s'; use seconds, ms or us, such as 0.5 or 200ms",
                            option, text);
    return 0;
}

/* Signals that can switch a trace. */
static const struct {
    const char *name;
    int number;
} signals[] = {{"USR1", SIGUSR1},   {"USR2", SIGUSR2},     {"HUP", SIGHUP},
               {"WINCH", SIGWINCH}, {"URG", SIGURG},       {"CONT", SIGCONT},
               {"IO", SIGIO},       {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}};

static int parse_toggle_signal(const char *text, int *out, struct as_error *err)
{
    *out = 0;
    if (!text)
        return 0;
    const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;
    char *end;
    const long number = strtol(text, &end, 10);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (strcasecmp(name, signals[i].name) == 0 ||
            (end != text && !*end && number == signals[i].number))
            *out = signals[i].number;
    if (*out)
        return 0;
    return as_error_set(err, AS_ERR_USAGE,
                        "--toggle-signal: invalid signal '%s'; use USR1, USR2, HUP, WINCH, URG, "
                        "CONT, IO, VTALRM or PROF",
                        text);
}

static uint32_t counter_bit(struct as_view name)
{
#define COUNTER(counter, word, bit) {word, bit},
    static const struct {
        const char *word;
        uint32_t bit;
    } counters[] = {AS_TRACED_COUNTERS(COUNTER)};
#undef COUNTER
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        if (as_view_equal(name, as_view_of(counters[i].word)))
            return counters[i].bit;
    return 0;
}

static int parse_os_counters(const char *text, uint32_t *out, struct as_error *err)
{
    struct as_view rest = as_view_of(text), part;
    *out = 0;
    while (text && as_view_split(&rest, ',', &part)) {
        const uint32_t bit = counter_bit(as_view_trim(part));
        if (!bit)
            return as_error_set(err, AS_ERR_USAGE,
                                "--os-counters: invalid value '%.*s'; use switches, faults, "
                                "memory or network, separated by commas",
                                (int)part.n, part.p);
        *out |= bit;
    }
    return 0;
}

int as_trace_control_parse(const struct as_arguments *args, struct as_trace_options *o,
                           struct as_error *err)
{
    AS_TRY(parse_option_seconds("--delay", args->value[AS_OPTION_TRACE_DELAY], &o->delay_s, err));
    AS_TRY(parse_option_seconds("--duration", args->value[AS_OPTION_TRACE_DURATION], &o->duration_s,
                                err));
    AS_TRY(parse_option_seconds("--burst", args->value[AS_OPTION_TRACE_BURST], &o->burst_s, err));
    AS_TRY(parse_os_counters(args->value[AS_OPTION_TRACE_COUNTERS], &o->counters, err));
    AS_TRY(parse_option_seconds("--os-interval", args->value[AS_OPTION_TRACE_COUNTERS_TIME],
                                &o->counters_s, err));
    if (!(o->counters_s > 0))
        o->counters_s = AS_TRACED_COUNTERS_MS / 1e3;
    o->events = args->value[AS_OPTION_TRACE_EVENTS];
    if (o->events && o->burst_s > 0)
        return as_error_set(err, AS_ERR_USAGE,
                            "--counters: calls are summed with --burst, so nothing reads them; "
                            "remove one of the two");
    AS_TRY(parse_toggle_signal(args->value[AS_OPTION_TRACE_SIGNAL], &o->toggle_signal, err));
    o->while_file = args->value[AS_OPTION_TRACE_WHILE];
    o->start_off = as_given(args, AS_OPTION_TRACE_START_OFF);
    if (o->duration_s > 0 && o->duration_s <= o->delay_s)
        return as_error_set(err, AS_ERR_USAGE,
                            "--duration: not longer than --delay, so nothing would be recorded; "
                            "raise it (both count from the start of the program)");
    return 0;
}
