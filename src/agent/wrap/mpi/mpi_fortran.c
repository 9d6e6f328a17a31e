/* SPDX-License-Identifier: Apache-2.0 */
/* Handles and statuses of Open MPI's Fortran routines as those of C; see mpi_fortran.h. */
#include "agent/wrap/mpi/mpi_fortran.h"

#ifdef OPEN_MPI
struct as_mpi_fortran as_mpi_fortran;
static const void *status_ignore, *statuses_ignore;

void as_mpi_find_fortran(const struct as_mpi_front *front)
{
#define HANDLE_FOUND(name)                                                                         \
    as_mpi_fortran.name = (__typeof__(as_mpi_fortran.name))front->find("PMPI_" #name "_f2c");
    AS_MPI_HANDLES(HANDLE_FOUND)
    HANDLE_FOUND(Status)
    status_ignore = front->find_data("mpi_fortran_status_ignore_");
    statuses_ignore = front->find_data("mpi_fortran_statuses_ignore_");
}

bool as_mpi_is_ignored(const void *status)
{
    return status == NULL || status == status_ignore || status == statuses_ignore;
}

void as_mpi_status_of_fortran(const MPI_Fint *f, MPI_Status *c)
{
    as_mpi_fortran.Status(f, c);
}

MPI_Request *as_mpi_requests_of_fortran(const struct as_mpi_call *call, int n, const MPI_Fint *f)
{
    MPI_Request *room = as_mpi_room_of(call, n, AS_MPI_HANDLES);
    for (int i = 0; i < n && room; i++)
        room[i] = as_mpi_fortran.Request(f[i]);
    return room;
}

void *as_mpi_statuses_for_fortran(const struct as_mpi_call *call, int n, void *given)
{
    void *room = as_mpi_is_ignored(given) ? as_mpi_room_of(call, n, AS_MPI_FORTRAN_STATUSES) : NULL;
    return room ? room : given;
}

#define FORTRAN_STATUS_N (sizeof(MPI_Status) / sizeof(MPI_Fint))
MPI_Status *as_mpi_statuses_of_fortran(const struct as_mpi_call *call, int n, const MPI_Fint *f)
{
    MPI_Status *room = as_mpi_is_ignored(f) ? NULL : as_mpi_room_of(call, n, AS_MPI_STATUSES);
    for (int i = 0; i < n && room; i++)
        as_mpi_fortran.Status(f + (size_t)i * FORTRAN_STATUS_N, &room[i]);
    return room;
}
#endif
