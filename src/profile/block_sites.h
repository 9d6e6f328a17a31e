/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of memory of a run by address and time, and the code that allocated them: the innermost
 * place outside of runtime libraries and system headers, through inlined calls.
 */
#ifndef AS_PROFILE_BLOCK_SITES_H
#define AS_PROFILE_BLOCK_SITES_H

#include "profile/attribute.h"

struct as_block_sites;

/* Sorts the blocks and sites of the tally. NULL in `out`: there are no blocks. Errors: NOMEM, those
 * of the experiment. */
int as_block_sites_new(struct as_attribution *all, struct as_block_sites **out,
                       struct assay_error *err);
void as_block_sites_free(struct as_block_sites **sites);

/* The block at an address of a process at a time; NULL: none is known. Borrowed. */
const struct as_tally_block *as_block_at(const struct as_block_sites *sites, uint32_t process,
                                         uint64_t address, uint64_t time_ns);
/* Sets the kind, the size of the largest block of the site, and the site. Borrows texts. */
void as_block_row(const struct as_block_sites *sites, const struct as_tally_block *block,
                  struct assay_row_data_object *row);

#endif
