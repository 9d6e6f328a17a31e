/* SPDX-License-Identifier: Apache-2.0 */
/* What tools/gen-wrappers.py makes of the table of routines for the front, and what it calls. */
#ifndef AS_AGENT_MPI_FRONT_H
#define AS_AGENT_MPI_FRONT_H

#include <stddef.h>

#define AS_MPI_ROUTINES_MOST 1024u

/* Hidden, as all of the front but the routines: jumps go through these. */
extern void *as_mpi_slot[], *as_mpi_slot_fortran[], *as_mpi_slot_profiling[];
extern const char *const as_mpi_name[], *const as_mpi_name_fortran[];
extern const size_t as_mpi_routines_n;

/* Fills all slots, at the first call of any. */
void as_mpi_resolve(void);

#endif
