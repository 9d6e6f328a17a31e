/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of the table; the other functions are inline in the header. */
#include "base/id_table.h"

#include "base/alloc.h"

#include "base/error.h"

#define PLACES_LEAST 64u

void as_numbered_fini(struct as_numbered_table *table)
{
    as_free(table->at);
    *table = (struct as_numbered_table){0};
}

int as_numbered_grow(struct as_numbered_table *table, size_t row_b)
{
    const size_t place_n = table->place_n ? 2 * table->place_n : PLACES_LEAST;
    struct as_numbered_table more = {as_calloc(place_n, row_b), place_n, table->n};
    if (!more.at)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < table->place_n; i++) {
        const struct as_numbered *row = as_numbered_at(table, row_b, i);
        if (row->kind)
            memcpy(as_numbered_place(&more, row_b, row->process, row->number), row, row_b);
    }
    as_free(table->at);
    *table = more;
    return 0;
}
