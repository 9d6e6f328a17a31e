/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks: MPI when compiled with -DWITH_MPI, else one process alone. Nothing else calls MPI.
 */
#ifndef COMM_H
#define COMM_H

#include <stddef.h>

void comm_begin(int *argc, char ***argv);
void comm_end(void);
int comm_rank(void);
int comm_size(void);
double comm_sum(double value);
double comm_max(double value);
/* Fills the plane below the first and above the last from the neighbours; the outermost stay. */
void comm_exchange(double *field, size_t plane, int planes);

#endif
