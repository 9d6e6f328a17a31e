/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a Paraver trace that stand for several calls: unsuccessful polls, and sums of calls. */
#include <string.h>

#include "base/error.h"
#include "exchange/prv_taking.h"

bool as_prv_is_sum(int64_t type)
{
    return (type >= AS_PRV_IPROBE_N && type <= AS_PRV_IMPROBE_N + 1) ||
           (type >= AS_PRV_SUM_N && type <= AS_PRV_SUM_RECEIVED);
}

/* Returns the polling routine of a type, or NULL if the type is for any routine. */
static const char *polled_by(int64_t type)
{
    switch (type) {
    case AS_PRV_IPROBE_N:
        return "MPI_Iprobe";
    case AS_PRV_GET_STATUS_N:
        return "MPI_Request_get_status";
    case AS_PRV_TEST_N:
        return "MPI_Test";
    case AS_PRV_IMPROBE_N:
        return "MPI_Improbe";
    default:
        return NULL;
    }
}

static void emit_sum(const struct as_prv_reading *t, const struct as_prv_import_thread *thread,
                     int64_t ns, enum as_trace_kind kind, const int64_t *field)
{
    as_maker_emit(t->maker, thread->made, kind, ns, field);
}

static int emit_polls(struct as_prv_reading *t, struct as_prv_import_thread *thread, int64_t ns,
                      int64_t type, int64_t inside_ns)
{
    const int64_t calls = thread->calls_n > 0 ? thread->calls_n : 1;
    const int64_t longest_ns = thread->longest_ns > 0 ? thread->longest_ns : inside_ns / calls;
    const int64_t field[8] = {thread->calls_n, inside_ns, longest_ns};
    const char *text = polled_by(type);
    uint32_t name = 0;
    const bool is_within = thread->call.n;
    if (thread->calls_n <= 0 || inside_ns < 0 || (!is_within && !text))
        return 0;
    /* Other tools write the number of polls when the next one succeeds. */
    if (!is_within && as_prv_taken_text(t, -3, type, AS_TRACE_OF_MPI_COMPLETION, text, &name) < 0)
        return as_error_nomem(t->err, t->path);
    if (!is_within)
        emit_sum(t, thread, ns, AS_TRACE_ENTER, (int64_t[8]){name});
    emit_sum(t, thread, ns, AS_TRACE_REPEATED, field);
    if (!is_within)
        emit_sum(t, thread, ns, AS_TRACE_LEAVE, (int64_t[8]){name});
    thread->calls_n = thread->longest_ns = 0;
    return 0;
}

int as_prv_import_sum(struct as_prv_reading *t, struct as_prv_import_thread *thread, int64_t ns,
                      int64_t type, int64_t value)
{
    switch (type) {
    case AS_PRV_SUM_LONGEST:
        thread->longest_ns = value;
        return 0;
    case AS_PRV_SUM_SENT:
        thread->sent_b = value;
        return 0;
    case AS_PRV_SUM_RECEIVED:
        if (thread->call.n)
            emit_sum(t, thread, ns, AS_TRACE_TRAFFIC, (int64_t[8]){thread->sent_b, value});
        return 0;
    default:
        break;
    }
    if (type % 2)
        return emit_polls(t, thread, ns, type - 1, value);
    thread->calls_n = value;
    return 0;
}
