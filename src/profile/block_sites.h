/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the memory block of a run at an address and a time, and the code that allocated it. That is
 * the innermost call, also inlined, outside of runtime libraries and system headers.
 */
#ifndef AS_PROFILE_BLOCK_SITES_H
#define AS_PROFILE_BLOCK_SITES_H

#include "profile/attribute.h"

struct as_block_sites;

/* Sorts the blocks and sites of the tally. Sets `*out` to NULL if there are no blocks. The caller
 * frees `*out` with as_block_sites_free. Errors: NOMEM, those of the experiment. */
int as_block_sites_new(struct as_attribution *all, struct as_block_sites **out,
                       struct as_error *err);
void as_block_sites_free(struct as_block_sites **sites);

/* Returns the block at an address of a process at a time; NULL if none is known. The tally owns it.
 */
const struct as_tally_block *as_block_at(const struct as_block_sites *sites, uint32_t process,
                                         uint64_t address, uint64_t time_ns);
/* Sets the kind, the site, and the size of its largest block. The texts stay owned by `sites`. */
void as_block_row(const struct as_block_sites *sites, const struct as_tally_block *block,
                  struct as_row_data_object *row);

#endif
