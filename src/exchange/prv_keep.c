/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the events of a Paraver file in the order in which they are found. */
#include <assert.h>

#include "base/error.h"
#include "exchange/prv_write.h"

/* Finds the index of a type. There are many events and few types, so a cache avoids most
 * searches. */
static inline int find_type(struct as_prv_writer *w, int64_t type, uint32_t *out)
{
    const uint32_t mixed = (uint32_t)type * UINT32_C(0x9e3779b1);
    struct as_prv_type_known *known = &w->type_known[mixed >> 26 & (AS_PRV_TYPES_KNOWN - 1)];
    *out = known->at;
    if (known->type == type && type)
        return 0;
    AS_TRY(as_prv_type_of(w, type, out));
    *known = (struct as_prv_type_known){type, *out};
    return 0;
}

int as_prv_store_event(struct as_prv_writer *w, uint32_t location, int64_t ns, int64_t type,
                       int64_t value)
{
    struct as_prv_event event = {
        .since_ns = ns - w->event_ns, .location = location, .value = value};
    uint8_t *at;
    assert(event.since_ns >= 0); /* the walk is in time order */
    if (find_type(w, type, &event.type) < 0)
        return as_error_nomem(w->err, "types of events");
    AS_TRY(as_lane_room(&w->events, &at, w->err));
    at = as_prv_event_encode(at, &event);
    as_lane_commit(&w->events, at);
    w->event_ns = ns;
    w->since_event_n = 0;
    w->counts->events_n++;
    return 0;
}
