/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Fortran gives: handles are numbers, statuses arrays of them. Of Open MPI alone, whose
 * Fortran routines are wrapped themselves.
 */
#ifndef AS_AGENT_MPI_FORTRAN_H
#define AS_AGENT_MPI_FORTRAN_H

#include "agent/wrap/mpi/mpi_wrap.h"

#ifdef OPEN_MPI
#define AS_MPI_HANDLES(X)     X(Comm) X(Group) X(Type) X(Win) X(Message) X(Request)
#define AS_MPI_DECLARED(name) __typeof__(&MPI_##name##_f2c) name;
struct as_mpi_fortran {
    AS_MPI_HANDLES(AS_MPI_DECLARED)
    __typeof__(&MPI_Status_f2c) Status;
};
#undef AS_MPI_DECLARED
extern struct as_mpi_fortran as_mpi_fortran;

#define Comm_of_fortran(f)    as_mpi_fortran.Comm(*(const MPI_Fint *)(f))
#define Group_of_fortran(f)   as_mpi_fortran.Group(*(const MPI_Fint *)(f))
#define Type_of_fortran(f)    as_mpi_fortran.Type(*(const MPI_Fint *)(f))
#define Win_of_fortran(f)     as_mpi_fortran.Win(*(const MPI_Fint *)(f))
#define Message_of_fortran(f) as_mpi_fortran.Message(*(const MPI_Fint *)(f))
#define Request_of_fortran(f) as_mpi_fortran.Request(*(const MPI_Fint *)(f))

void as_mpi_find_fortran(const struct as_mpi_front *front);
bool as_mpi_is_ignored(const void *status);
void as_mpi_status_of_fortran(const MPI_Fint *f, MPI_Status *c);
/* Room of this thread, until the next call. */
MPI_Request *as_mpi_requests_of_fortran(const struct as_mpi_call *call, int n, const MPI_Fint *f);
void *as_mpi_statuses_for_fortran(const struct as_mpi_call *call, int n, void *given);
MPI_Status *as_mpi_statuses_of_fortran(const struct as_mpi_call *call, int n, const MPI_Fint *f);
#endif

#endif
