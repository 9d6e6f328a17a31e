/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the texts that events refer to, and their tracks. `trace_processor` merges processes with
 * equal numbers. So processes of several machines, and successive programs of one process, get
 * numbers that Linux never uses.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/proto.h"
#include "exchange/perfetto_write.h"

#define FIRST_MADE_UP ((uint64_t)1 << 22) /* PID_MAX_LIMIT of Linux */

enum track_field { TRACK_UUID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_THREAD, TRACK_PARENT };
enum { TRACK_COUNTER = 8 };
enum track_process_field { TRACK_PROCESS_PID = 1, TRACK_PROCESS_NAME = 6 };
enum track_thread_field { TRACK_THREAD_PID = 1, TRACK_THREAD_TID = 2, TRACK_THREAD_NAME = 5 };
enum interned_field { INTERNED_CATEGORY = 1, INTERNED_NAME, INTERNED_NOTE };
enum interned_text_field { INTERNED_NUMBER = 1, INTERNED_TEXT };

struct perfetto_tracks {
    const struct as_perfetto_writer *w;
    struct as_out *out;
    struct as_str part, field, packet;
};

static void add_text(struct as_str *to, unsigned field, const char *text)
{
    const struct as_view view = as_view_of(text);
    as_proto_bytes(to, field, view.p ? view.p : "", view.n);
}

/* Writes `part` as field `field` of a packet. */
static void write_packet(struct perfetto_tracks *t, unsigned field, unsigned flags)
{
    as_proto_number(&t->packet, AS_PERFETTO_SEQUENCE, AS_PERFETTO_SEQUENCE_ID);
    as_proto_number(&t->packet, AS_PERFETTO_FLAGS, flags);
    as_proto_message(&t->packet, field, &t->part);
    as_str_clear(&t->part);
    as_proto_message(&t->part, 1, &t->packet);
    as_out_write(t->out, as_str_z(&t->part), t->part.n);
    as_str_clear(&t->part);
    as_str_clear(&t->packet);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static void add_interned(struct perfetto_tracks *t, unsigned field, uint64_t number,
                         const char *text)
{
    as_proto_number(&t->field, INTERNED_NUMBER, number);
    add_text(&t->field, INTERNED_TEXT, text);
    as_proto_message(&t->part, field, &t->field);
    as_str_clear(&t->field);
}

static void add_interned_texts(struct perfetto_tracks *t)
{
    static const char *const notes[] = {
        [AS_PERFETTO_NOTE_SENT] = "bytes sent", [AS_PERFETTO_NOTE_RECEIVED] = "bytes received",
        [AS_PERFETTO_NOTE_MOVED] = "bytes",     [AS_PERFETTO_NOTE_PARTNER] = "partner",
        [AS_PERFETTO_NOTE_TAG] = "tag",         [AS_PERFETTO_NOTE_SIZE] = "size"};
    _Static_assert(sizeof notes / sizeof *notes == AS_PERFETTO_NOTE_SIZE + 1,
                   "an entry for each of the enumeration");
    for (unsigned group = 0; group < AS_TRACE_GROUPS_N; group++)
        add_interned(t, INTERNED_CATEGORY, (uint64_t)group + 1, as_trace_group_name(group));
    for (size_t i = 1; i < t->w->text.n; i++)
        add_interned(t, INTERNED_NAME, i, t->w->text.at[i]);
    for (unsigned i = 1; i < sizeof notes / sizeof *notes; i++)
        add_interned(t, INTERNED_NOTE, i, notes[i]);
    write_packet(t, AS_PERFETTO_INTERNED, AS_PERFETTO_CLEARED);
}

/* ---- Tracks ---------------------------------------------------------------------------------- */

static bool is_only_one(const struct as_trace *trace, const struct as_trace_process *process)
{
    as_vec_foreach (&trace->process, other)
        if (other != process && other->pid == process->pid)
            return false;
    return process->pid > 0;
}

/* Returns the number of a process. Made-up numbers of processes and threads never equal real
 * ones. */
static uint64_t number_of_process(const struct perfetto_tracks *t, uint32_t p)
{
    const struct as_trace_process *process = &t->w->trace->process.at[p];
    return is_only_one(t->w->trace, process) ? process->pid
                                             : FIRST_MADE_UP + as_perfetto_process_track(p);
}

static void write_process_track(struct perfetto_tracks *t, uint32_t p)
{
    const struct as_trace_process *process = &t->w->trace->process.at[p];
    char name[256];
    if (process->rank >= 0)
        snprintf(name, sizeof name, "rank %" PRId64 "%s%.100s", process->rank,
                 *process->machine ? " on " : "", process->machine);
    else
        snprintf(name, sizeof name, "process %" PRIu32 "%s%.100s", process->pid,
                 *process->machine ? " on " : "", process->machine);
    as_proto_number(&t->field, TRACK_PROCESS_PID, number_of_process(t, p));
    add_text(&t->field, TRACK_PROCESS_NAME, name);
    as_proto_number(&t->part, TRACK_UUID, as_perfetto_process_track(p));
    as_proto_message(&t->part, TRACK_PROCESS, &t->field);
    as_str_clear(&t->field);
    write_packet(t, AS_PERFETTO_TRACK, 0);
}

static void write_thread_track(struct perfetto_tracks *t, uint32_t location)
{
    const struct as_perfetto_thread *thread = &t->w->thread.at[location];
    const struct as_trace_process *process = &t->w->trace->process.at[thread->process];
    const struct as_trace_stream_facts *facts =
        as_trace_stream_facts(process->thread.at[thread->thread]);
    const uint64_t pid = number_of_process(t, thread->process);
    const uint64_t track = as_perfetto_thread_track(t->w, location);
    uint64_t tid = facts->tid;
    if (pid != process->pid) /* the main thread has the number of its process */
        tid = thread->thread ? FIRST_MADE_UP + track : pid;
    char name[sizeof facts->name + 16];
    snprintf(name, sizeof name, "%s", *facts->name ? facts->name : "thread");
    as_proto_number(&t->field, TRACK_THREAD_PID, pid);
    as_proto_number(&t->field, TRACK_THREAD_TID, tid);
    add_text(&t->field, TRACK_THREAD_NAME, name);
    as_proto_number(&t->part, TRACK_UUID, track);
    as_proto_message(&t->part, TRACK_THREAD, &t->field);
    as_proto_number(&t->part, TRACK_PARENT, as_perfetto_process_track(thread->process));
    as_str_clear(&t->field);
    write_packet(t, AS_PERFETTO_TRACK, 0);
}

static void write_counter_track(struct perfetto_tracks *t, uint32_t at)
{
    const struct as_perfetto_counter *counter = &t->w->counter.at[at];
    as_proto_number(&t->part, TRACK_UUID, as_perfetto_counter_track(t->w, at));
    add_text(&t->part, TRACK_NAME, t->w->text.at[counter->name]);
    as_proto_number(&t->part, TRACK_PARENT, as_perfetto_thread_track(t->w, counter->location));
    as_proto_bytes(&t->part, TRACK_COUNTER, "", 0);
    write_packet(t, AS_PERFETTO_TRACK, 0);
}

int as_perfetto_write_tracks(const struct as_perfetto_writer *w, struct as_out *out)
{
    struct perfetto_tracks t = {.w = w, .out = out};
    add_interned_texts(&t);
    for (uint32_t p = 0; p < w->trace->process.n; p++)
        write_process_track(&t, p);
    for (uint32_t location = 0; location < w->thread.n; location++)
        write_thread_track(&t, location);
    for (uint32_t at = 0; at < w->counter.n; at++)
        write_counter_track(&t, at);
    const bool failed = t.part.failed || t.field.failed || t.packet.failed;
    as_str_fini(&t.part);
    as_str_fini(&t.field);
    as_str_fini(&t.packet);
    return failed ? AS_ERR_NOMEM : 0;
}
