/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/trace_counters.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/shared/trace_part.h"
#include "base/error.h"
#include "sample/counting.h"
#include "sample/sample.h"

static int find_events(const char *names, struct as_event_counter *out, unsigned *n,
                       struct as_error *err)
{
    struct as_view rest = as_view_of(names), part;
    *n = 0;
    while (as_view_split(&rest, ',', &part)) {
        struct as_event_code code;
        const char *known;
        char name[AS_EVENT_COUNTER_B];
        part = as_view_trim(part);
        if (*n == AS_EVENT_COUNTERS_N)
            return as_error_set(err, AS_ERR_USAGE, "--counters: too many; use at most %u events",
                                AS_EVENT_COUNTERS_N);
        if (part.n == 0 || part.n >= sizeof name)
            return as_error_set(err, AS_ERR_USAGE,
                                "--counters: invalid value '%s'; use names of events separated by "
                                "commas",
                                names);
        snprintf(name, sizeof name, "%.*s", (int)part.n, part.p);
        AS_TRY(as_counting_find(name, &code, &known, err));
        out[*n] = (struct as_event_counter){.type = code.type,
                                            .exclude_user = code.exclude_user,
                                            .exclude_kernel = code.exclude_kernel,
                                            .exclude_hv = code.exclude_hv,
                                            .config = code.config,
                                            .config1 = code.config1,
                                            .config2 = code.config2};
        snprintf(out[*n].name, sizeof out[*n].name, "%s", known);
        ++*n;
    }
    return 0;
}

int as_trace_counters_check(const char *names, struct as_error *err)
{
    struct as_event_counter event[AS_EVENT_COUNTERS_N];
    struct as_counting *counting = NULL;
    unsigned n;
    AS_TRY(find_events(names, event, &n, err));
    const int rc = as_counting_open(getpid(), names, false, true, &counting, err);
    as_counting_close(&counting);
    return rc;
}

int as_trace_counters_pack(const char *names, struct as_str *out, struct as_error *err)
{
    struct as_event_counter event[AS_EVENT_COUNTERS_N];
    unsigned n;
    AS_TRY(find_events(names, event, &n, err));
    as_str_append(out, (const char *)event, n * sizeof *event);
    return out->failed ? as_error_nomem(err, "counters of a trace") : 0;
}
