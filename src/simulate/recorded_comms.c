/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators of all ranks, by their global numbers. */
#include "base/error.h"
#include "simulate/recorded_state.h"

uint32_t as_recorded_place(const struct recorded_reader *reader, uint64_t global)
{
    const uint32_t row =
        as_index_of_word(&reader->comm_index, reader->comm.at, sizeof *reader->comm.at, global);
    return row == AS_INDEX_NONE ? AS_RECORDED_NO_PLACE : reader->comm.at[row].place;
}

static int add_recorded_comm(struct recorded_reader *reader, struct as_simulated_program *program,
                             const struct as_trace_comm *comm)
{
    const struct recorded_comm row = {comm->global, (uint32_t)program->comm.n};
    if (!comm->global || as_recorded_place(reader, comm->global) != AS_RECORDED_NO_PLACE)
        return 0;
    AS_TRY(as_vec_push(&program->comm, (struct as_program_comm){0}));
    AS_TRY(as_vec_push(&reader->comm, row));
    AS_TRY(as_index_add_word(&reader->comm_index, row.global, (uint32_t)(reader->comm.n - 1)));
    struct as_program_comm *to = &program->comm.at[row.place];
    for (size_t i = 0; !(comm->bits & (AS_TRACE_INTER | AS_TRACE_CUT)) && i < comm->member_n; i++)
        AS_TRY(as_vec_push(&to->rank, (uint32_t)comm->member[i]));
    return 0;
}

/* The first place is for messages in communicators that have no number of their own. */
int as_recorded_add_comms(struct recorded_reader *reader, struct as_simulated_program *program)
{
    AS_TRY(as_vec_push(&program->comm, (struct as_program_comm){0}));
    as_vec_foreach (&reader->thread, thread)
        as_vec_foreach (&thread->process->comm, comm)
            AS_TRY(add_recorded_comm(reader, program, comm));
    as_vec_foreach (&program->comm, comm) {
        bool is_known = true;
        as_vec_foreach (&comm->rank, rank)
            is_known &= *rank < program->rank_n;
        comm->rank.n = is_known ? comm->rank.n : 0;
    }
    return 0;
}
