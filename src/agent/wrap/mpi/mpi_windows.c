/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of one process, numbered; accesses to them, and what synchronises these. See mpi_wrap.h.
 */
#include "agent/wrap/mpi/mpi_wrap.h"

static struct as_keys windows;
static _Atomic uint64_t windows_n;

static uint64_t number_of_window(MPI_Win win)
{
    struct as_key found = {0};
    return as_keys_get(&windows, AS_MPI_KEY(win), &found) ? found.number : 0;
}

static void emit_window_sync(const struct as_mpi_call *call, unsigned kind, int rank,
                             uint64_t window)
{
    const uint64_t field[] = {window, kind, as_mpi_partner_of(rank)};
    if (window)
        as_mpi_emit_numbers(call, AS_TRACE_SYNC, field, 3);
}

void as_mpi_emit_sync(const struct as_mpi_call *call, unsigned kind, int rank, MPI_Win win)
{
    emit_window_sync(call, kind, rank, number_of_window(win));
}

void as_mpi_define_window(const struct as_mpi_call *call, MPI_Win win, MPI_Comm comm)
{
    const uint64_t number = atomic_fetch_add(&windows_n, 1) + 1;
    const uint64_t field[] = {number, as_mpi_comm_number(call, comm)};
    as_keys_put(&windows, &(struct as_key){.key = AS_MPI_KEY(win), .number = number});
    as_mpi_hooks->define(AS_TRACE_WINDOW, field, 2, NULL, NULL, 0);
    emit_window_sync(call, AS_TRACE_WINDOW_MADE, AS_MPI_NO_RANK, number);
}

void as_mpi_forget_window(const struct as_mpi_call *call, MPI_Win win)
{
    struct as_key found;
    if (as_keys_remove(&windows, AS_MPI_KEY(win), &found))
        emit_window_sync(call, AS_TRACE_WINDOW_FREED, AS_MPI_NO_RANK, found.number);
}

/* Of a group: each of its ranks, as ranks of the window. */
void as_mpi_emit_sync_group(const struct as_mpi_call *call, unsigned kind, MPI_Group group,
                            MPI_Win win)
{
    MPI_Group all;
    int n = 0;
    const uint64_t number = number_of_window(win);
    if (!number || as_mpi_own.Group_size(group, &n) != MPI_SUCCESS || n <= 0 ||
        as_mpi_own.Win_get_group(win, &all) != MPI_SUCCESS)
        return;
    call->thread->noted_n = 0;
    int *from = as_mpi_hooks->scratch(call->thread, 2 * (size_t)n * sizeof *from);
    int *to = from ? from + n : NULL;
    for (int i = 0; from && i < n; i++)
        from[i] = i;
    if (from && as_mpi_own.Group_translate_ranks(group, n, from, all, to) == MPI_SUCCESS)
        for (int i = 0; i < n; i++)
            if (to[i] >= 0)
                emit_window_sync(call, kind, to[i], number);
    as_mpi_own.Group_free(&all);
}

/* What is said to be free is not waited for. */
void as_mpi_emit_lock(const struct as_mpi_call *call, int type, int rank, int assertion,
                      MPI_Win win)
{
    if (!(assertion & MPI_MODE_NOCHECK))
        as_mpi_emit_sync(
            call, type == MPI_LOCK_EXCLUSIVE ? AS_TRACE_LOCK_EXCLUSIVE : AS_TRACE_LOCK_SHARED, rank,
            win);
}

void as_mpi_emit_access(const struct as_mpi_call *call, int target, int64_t size_b, MPI_Win win)
{
    const uint64_t field[] = {as_mpi_partner_of(target), (uint64_t)size_b, number_of_window(win)};
    as_mpi_emit_numbers(call, AS_TRACE_RMA, field, 3);
}
