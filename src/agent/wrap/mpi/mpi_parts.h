/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands before MPI has two halves. The front (mpi_front.c, preloaded) has the names of all
 * routines and knows no MPI: at the first call it finds out which MPI is loaded and loads the
 * wrappers for its ABI (mpi_wrap.c with what tools/gen-wrappers.py makes, built once for each).
 */
#ifndef AS_AGENT_MPI_H
#define AS_AGENT_MPI_H

#include <stddef.h>

#include "agent/tracer/tracer.h"

struct as_mpi_front {
    const struct as_tracer_hooks *hooks;
    void *(*find)(const char *symbol); /* in the MPI that is loaded; NULL: it has none */
    /* The same of data, which a program may have a copy of that counts. */
    void *(*find_data)(const char *symbol);
    size_t n;
    void *const *real;         /* by number of the routine: in C */
    void *const *real_fortran; /* and of mpif.h */
};

/* Of the wrappers' library: puts wrappers where there are some; 0, or -1: nothing is wrapped. */
#define AS_MPI_WRAP "as_mpi_wrap"
typedef int as_mpi_wrap_function(const struct as_mpi_front *front, void **slot, void **slot_fortran,
                                 void **slot_profiling);

#endif
