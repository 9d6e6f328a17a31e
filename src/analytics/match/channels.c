/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/match/channels.h"

#include "base/error.h"
#include "base/index.h"
#include "base/vec.h"

struct made_side {
    struct as_channel_side side;
    uint64_t made_n;
};

struct as_channels {
    AS_VEC(struct made_side) made;
    struct as_index rows;
};

int as_channels_new(struct as_channels **out)
{
    *out = as_calloc(1, sizeof **out);
    return *out ? 0 : AS_ERR_NOMEM;
}

void as_channels_free(struct as_channels **channels)
{
    struct as_channels *c = *channels;
    if (!c)
        return;
    as_vec_fini(&c->made);
    as_index_fini(&c->rows);
    as_free(c);
    *channels = NULL;
}

int as_channels_make(struct as_channels *c, const struct as_channel_side *side, uint64_t *out)
{
    const uint64_t ranks = as_hash_mix((uint64_t)side->from, (uint64_t)side->to);
    const uint64_t both = as_hash_mix(as_hash_mix(side->comm, ranks), (uint64_t)side->tag);
    const uint64_t hash = as_hash_mix(both, side->is_send);
    struct made_side *made = NULL;
    uint32_t at;
    for (struct as_probe probe = as_index_probe(&c->rows, hash);
         !made && (at = as_index_next(&c->rows, &probe)) != AS_INDEX_NONE;) {
        const struct as_channel_side *known = &c->made.at[at].side;
        if (known->comm == side->comm && known->from == side->from && known->to == side->to &&
            known->tag == side->tag && known->is_send == side->is_send)
            made = &c->made.at[at];
    }
    if (!made) {
        AS_TRY(as_vec_push(&c->made, (struct made_side){*side, 0}));
        made = &c->made.at[c->made.n - 1];
        AS_TRY(as_index_add(&c->rows, hash, (uint32_t)(c->made.n - 1)));
    }
    *out = as_hash_mix(both, ++made->made_n) | 1;
    return 0;
}
