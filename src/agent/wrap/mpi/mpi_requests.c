/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of a process: numbered when they are made, found again by their handles in the calls
 * that start, complete or free them; see mpi_wrap.h.
 */
#include "agent/wrap/mpi/mpi_wrap.h"

static struct as_keys requests;
static _Atomic uint64_t requests_n;

uint64_t as_mpi_new_request(void)
{
    return atomic_fetch_add(&requests_n, 1) + 1;
}

/* An MPI may give the same handle to all that is done as soon as it is begun: who has it already
 * is done. */
void as_mpi_store_request(const struct as_mpi_call *call, MPI_Request handle, uint64_t number,
                          unsigned kind, uint64_t comm, bool persistent, int rc)
{
    struct as_key before;
    if (rc != MPI_SUCCESS)
        return;
    if (as_keys_remove(&requests, AS_MPI_KEY(handle), &before) &&
        !(before.kind & REQUEST_PERSISTENT))
        as_mpi_emit_numbers(call, AS_TRACE_DONE, &before.number, 1);
    as_keys_put(&requests, &(struct as_key){.key = AS_MPI_KEY(handle),
                                            .number = number,
                                            .comm = (uint32_t)comm,
                                            .kind = kind | (persistent ? REQUEST_PERSISTENT : 0)});
}

void as_mpi_emit_request(const struct as_mpi_call *call, unsigned kind, MPI_Request handle,
                         bool gone)
{
    struct as_key found;
    if (gone ? as_keys_remove(&requests, AS_MPI_KEY(handle), &found)
             : as_keys_get(&requests, AS_MPI_KEY(handle), &found))
        as_mpi_emit_numbers(call, kind, &found.number, 1);
}

void as_mpi_cancel_request(MPI_Request handle)
{
    struct as_key found;
    if (!as_keys_get(&requests, AS_MPI_KEY(handle), &found))
        return;
    found.kind |= REQUEST_CANCELLED;
    as_keys_put(&requests, &found);
}

void as_mpi_emit_started(const struct as_mpi_call *call, int n, const MPI_Request *handle)
{
    for (int i = 0; i < n && handle; i++)
        as_mpi_emit_request(call, AS_TRACE_START, handle[i], false);
}

void as_mpi_emit_parts(const struct as_mpi_call *call, MPI_Request handle, int n)
{
    struct as_key found;
    if (n > 0 && as_keys_get(&requests, AS_MPI_KEY(handle), &found))
        as_mpi_emit_numbers(call, AS_TRACE_PARTS, (const uint64_t[]){found.number, (uint64_t)n}, 2);
}

/* ---- Completion --------------------------------------------------------------------------- */

#define FINT_STATUS 8u

void *as_mpi_room_of(const struct as_mpi_call *call, int n, enum as_mpi_rooms which)
{
    const size_t count = n > 0 ? (size_t)n : 0;
    const size_t part[] = {[AS_MPI_NOTES] = sizeof(struct as_mpi_note),
                           [AS_MPI_STATUSES] = sizeof(MPI_Status),
                           [AS_MPI_HANDLES] = sizeof(uint64_t),
                           [AS_MPI_FORTRAN_STATUSES] = FINT_STATUS * sizeof(int)};
    size_t offset = 0, all = 64;
    for (unsigned i = 0; i < sizeof part / sizeof *part; i++) {
        all += part[i] * count;
        offset += i < (unsigned)which ? part[i] * count : 0;
    }
    if (call->thread->noted_n != count) /* notes of another number lie where others will */
        call->thread->noted_n = 0;
    uint8_t *at = as_mpi_hooks->scratch(call->thread, all);
    return at ? at + offset : NULL;
}

/* What a thread polls over and over is known from the time before, if nothing came or went. */
static bool are_noted(const struct as_tracer_thread *thread, const struct as_mpi_note *note,
                      size_t n, const MPI_Request *handle)
{
    if (thread->noted_n != n || thread->noted_changes != as_keys_changes(&requests))
        return false;
    for (size_t i = 0; i < n; i++)
        if (note[i].handle != AS_MPI_KEY(handle[i]))
            return false;
    return true;
}

struct as_mpi_note *as_mpi_note_requests(const struct as_mpi_call *call, int n,
                                         const MPI_Request *handle)
{
    struct as_tracer_thread *thread = call->thread;
    if (!handle || n <= 0)
        return NULL;
    if (are_noted(thread, thread->scratch, (size_t)n, handle))
        return thread->scratch; /* notes are first in it */
    struct as_mpi_note *note = as_mpi_room_of(call, n, AS_MPI_NOTES);
    if (!note)
        return NULL;
    thread->noted_changes = as_keys_changes(&requests);
    for (int i = 0; i < n; i++) {
        note[i].handle = AS_MPI_KEY(handle[i]);
        note[i].known = as_keys_get(&requests, note[i].handle, &note[i].of);
    }
    thread->noted_n = (uint32_t)n;
    return note;
}

MPI_Status *as_mpi_statuses_of(const struct as_mpi_call *call, int n, MPI_Status *given)
{
    MPI_Status *room =
        given == MPI_STATUSES_IGNORE ? as_mpi_room_of(call, n, AS_MPI_STATUSES) : NULL;
    return room ? room : given;
}

/* Only a status that MPI has filled in is asked. */
static bool was_cancelled(const struct as_mpi_note *note, const MPI_Status *status)
{
    int is_cancelled = 0;
    return (note->of.kind & REQUEST_CANCELLED) &&
           as_mpi_own.Test_cancelled(status, &is_cancelled) == MPI_SUCCESS && is_cancelled;
}

static void complete_note(const struct as_mpi_call *call, const struct as_mpi_note *note,
                          const MPI_Status *status)
{
    struct as_key gone;
    if (!note->known)
        return;
    if (was_cancelled(note, status))
        as_mpi_emit_numbers(call, AS_TRACE_CANCELLED, &note->of.number, 1);
    else if ((note->of.kind & ~(unsigned)(REQUEST_PERSISTENT | REQUEST_CANCELLED)) ==
             REQUEST_RECEIVE)
        as_mpi_emit_status(call, status, note->of.comm, note->of.number);
    else
        as_mpi_emit_numbers(call, AS_TRACE_DONE, &note->of.number, 1);
    if (!(note->of.kind & REQUEST_PERSISTENT))
        as_keys_remove(&requests, note->of.key, &gone);
}

void as_mpi_complete_one(const struct as_mpi_call *call, const struct as_mpi_note *note, int n,
                         int index, const MPI_Status *status)
{
    if (note && index >= 0 && index < n)
        complete_note(call, &note[index], status);
}

void as_mpi_complete_some(const struct as_mpi_call *call, const struct as_mpi_note *note, int n,
                          int count, const int *index, int base, const MPI_Status *status)
{
    if (status == MPI_STATUSES_IGNORE || count == MPI_UNDEFINED)
        return;
    for (int i = 0; i < count && i < n; i++)
        as_mpi_complete_one(call, note, n, index[i] - base, &status[i]);
}

/* Two requests of one handle: the second is known by none. */
void as_mpi_complete_all(const struct as_mpi_call *call, struct as_mpi_note *note, int n,
                         const MPI_Status *status)
{
    struct as_key still;
    if (status == MPI_STATUSES_IGNORE)
        return;
    call->thread->noted_n = 0; /* notes are changed here */
    for (int i = 0; i < n && note; i++) {
        note[i].known = note[i].known && as_keys_get(&requests, note[i].of.key, &still) &&
                        still.number == note[i].of.number;
        complete_note(call, &note[i], &status[i]);
    }
}
