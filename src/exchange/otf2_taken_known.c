/* SPDX-License-Identifier: Apache-2.0 */
/* Finds definitions of an imported OTF2 archive by number. */
#include "exchange/otf2_taken.h"

const char *as_otf2_known_text_of(const struct as_otf2_reading *t, OTF2_StringRef number)
{
    const uint32_t at = as_map_u64_get(&t->texts, number);
    return at == AS_MAP_NONE ? "" : t->text.at[at].text;
}

const struct as_otf2_known_region *as_otf2_region_of(const struct as_otf2_reading *t,
                                                     uint32_t region)
{
    const uint32_t at = as_map_u64_get(&t->regions, region);
    return at == AS_MAP_NONE ? NULL : &t->region.at[at];
}

int64_t as_otf2_known_comm_of(const struct as_otf2_reading *t, uint32_t comm)
{
    const uint32_t at = as_map_u64_get(&t->comms, comm);
    return at == AS_MAP_NONE ? 0 : (int64_t)t->comm.at[at].comm;
}
