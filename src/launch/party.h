/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that a launcher of MPI started together and that work together without MPI: they meet
 * through small files in a directory that all of them see. Each says twice a second that it lives;
 * who is silent for a minute is dead, and who fails says why, so that nobody waits for ever.
 */
#ifndef AS_LAUNCH_PARTY_H
#define AS_LAUNCH_PARTY_H

#include <assay/error.h>
#include <stdbool.h>
#include <stdint.h>

struct as_party;

/*
 * Joins the others of the job, by the launcher's variables; the directory is PATH.ranks. NULL in
 * `out`: there are no others. `is_stopped` (or NULL) ends what waits. Errors: IO, NOMEM, USAGE (the
 * name is in use by others that live).
 */
int as_party_join(const char *path, bool (*is_stopped)(void), struct as_party **out,
                  struct assay_error *err);
/* Of NULL: 0 of 1. */
uint32_t as_party_rank(const struct as_party *party);
uint32_t as_party_size(const struct as_party *party);
const char *as_party_directory(const struct as_party *party);

/* How long the others may be silent from now on. */
void as_party_be_patient(struct as_party *party, unsigned seconds);
/* Goes on when all are here. Errors: LIMIT (one failed, with its sentence; one died or never came;
 * stopped). */
int as_party_barrier(struct as_party *party, struct assay_error *err);
/* Whether rank 0 lives and says what went wrong, so that others need not. */
bool as_party_is_follower(const struct as_party *party);
/* Tells the others if it failed (`err`, of `rc` < 0). Rank 0 removes the directory. NULL inside is
 * fine. */
void as_party_leave(struct as_party **party, int rc, const struct assay_error *err);

#endif
