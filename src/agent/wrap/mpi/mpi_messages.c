/* SPDX-License-Identifier: Apache-2.0 */
/* Records of messages and operations of many, with partners, tags and bytes; see mpi_wrap.h. */
#include "agent/wrap/mpi/mpi_wrap.h"

uint64_t as_mpi_partner_of(int partner)
{
    return as_trace_zigzag(partner == MPI_ANY_SOURCE  ? AS_TRACE_ANY
                           : partner == MPI_PROC_NULL ? AS_TRACE_NO_RANK
                                                      : partner);
}

static uint64_t tag_of(int tag)
{
    return as_trace_zigzag(tag == MPI_ANY_TAG ? AS_TRACE_ANY : tag);
}

void as_mpi_emit_message(const struct as_mpi_call *call, unsigned kind, int partner, int tag,
                         int64_t size_b, MPI_Comm comm, uint64_t request, unsigned bits)
{
    const uint64_t field[] = {as_mpi_partner_of(partner),     tag_of(tag), (uint64_t)size_b,
                              as_mpi_comm_number(call, comm), request,     bits};
    as_mpi_emit_numbers(call, kind, field, 6);
}

void as_mpi_emit_status(const struct as_mpi_call *call, const MPI_Status *status, uint64_t comm,
                        uint64_t request)
{
    int size_b = 0;
    as_mpi_own.Get_count(status, as_mpi_own.byte, &size_b);
    const uint64_t field[] = {as_mpi_partner_of(status->MPI_SOURCE), tag_of(status->MPI_TAG),
                              size_b > 0 ? (uint64_t)size_b : 0, comm, request};
    as_mpi_emit_numbers(call, AS_TRACE_RECEIVE, field, 5);
}

void as_mpi_emit_received(const struct as_mpi_call *call, const MPI_Status *status, uint64_t comm,
                          uint64_t request, int rc)
{
    if (rc == MPI_SUCCESS)
        as_mpi_emit_status(call, status, comm, request);
}

void as_mpi_emit_probed(const struct as_mpi_call *call, const MPI_Status *status, MPI_Comm comm,
                        int rc)
{
    int size_b = 0;
    if (rc != MPI_SUCCESS)
        return;
    as_mpi_own.Get_count(status, as_mpi_own.byte, &size_b);
    const uint64_t field[] = {as_mpi_partner_of(status->MPI_SOURCE), tag_of(status->MPI_TAG),
                              size_b > 0 ? (uint64_t)size_b : 0, as_mpi_comm_number(call, comm), 1};
    as_mpi_emit_numbers(call, AS_TRACE_PROBE, field, 5);
}

void as_mpi_poll_probe(const struct as_mpi_call *call, unsigned number, int partner, int tag,
                       MPI_Comm comm)
{
    struct as_trace_polls *first = as_mpi_poll(call, number);
    if (!first)
        return;
    const uint64_t field[] = {as_mpi_partner_of(partner), tag_of(tag), 0,
                              as_mpi_comm_number(call, comm), 0};
    first->kind = AS_TRACE_PROBE;
    first->field_n = 5;
    memcpy(first->field, field, sizeof field);
}

static struct as_keys messages;

void as_mpi_store_message(const struct as_mpi_call *call, MPI_Message message, MPI_Comm comm,
                          int rc)
{
    if (rc == MPI_SUCCESS)
        as_keys_put(&messages, &(struct as_key){.key = AS_MPI_KEY(message),
                                                .number = as_mpi_comm_number(call, comm)});
}

/* The communicator of a message that was probed. */
uint64_t as_mpi_remove_message(MPI_Message message)
{
    struct as_key found;
    return as_keys_remove(&messages, AS_MPI_KEY(message), &found) ? found.number : 0;
}

void as_mpi_emit_matched(const struct as_mpi_call *call, int64_t size_b, uint64_t comm,
                         uint64_t request)
{
    const uint64_t any = as_trace_zigzag(AS_TRACE_ANY);
    const uint64_t field[] = {any, any, (uint64_t)size_b, comm, request, AS_TRACE_MATCHED};
    as_mpi_emit_numbers(call, AS_TRACE_POST, field, 6);
}

void as_mpi_emit_collective(const struct as_mpi_call *call, MPI_Comm comm, uint64_t request,
                            int root, int64_t sent_b, int64_t received_b, unsigned bits)
{
    const uint64_t field[] = {as_mpi_comm_number(call, comm), request,
                              as_trace_zigzag(root),          (uint64_t)sent_b,
                              (uint64_t)received_b,           bits};
    as_mpi_emit_numbers(call, AS_TRACE_COLLECTIVE, field, 6);
}
