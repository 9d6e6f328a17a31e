/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cooperation of processes that an MPI launcher started together, without MPI. They synchronise
 * through small files in a directory that all of them see. Each process shows twice a second that
 * it lives. A process that is silent for 90 s counts as dead, and one that fails writes its error.
 * So no process waits for ever.
 */
#ifndef AS_LAUNCH_PARTY_H
#define AS_LAUNCH_PARTY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct as_party;

/*
 * Joins the other ranks of the job, known from the variables of the launcher. The directory is
 * PATH.ranks. Sets `*out` to NULL for one rank, too many ranks, or an unknown
 * launcher. `is_stopped` (may be NULL) ends a wait.
 * Errors: IO, NOMEM, LIMIT, USAGE (running processes use this name).
 */
int as_party_join(const char *path, bool (*is_stopped)(void), struct as_party **out,
                  struct as_error *err);
/* Return rank and number of ranks; 0 and 1 for NULL. */
uint32_t as_party_rank(const struct as_party *party);
uint32_t as_party_size(const struct as_party *party);
const char *as_party_directory(const struct as_party *party);

/* Sets how long other ranks may be silent. */
void as_party_be_patient(struct as_party *party, unsigned seconds);
/* Waits until all ranks have called it. Errors: LIMIT (a rank failed, with its error; a rank died
 * or never came; stopped). */
int as_party_barrier(struct as_party *party, struct as_error *err);
/* Returns true if rank 0 lives and reports errors, so that this rank need not. */
bool as_party_is_follower(const struct as_party *party);
/* Ends the cooperation and frees `*party`, which may be NULL. If `rc` is negative, the others get
 * the error `err`. Rank 0 removes the directory. */
void as_party_leave(struct as_party **party, int rc, const struct as_error *err);

#endif
