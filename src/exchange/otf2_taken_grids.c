/* SPDX-License-Identifier: Apache-2.0 */
/* Cartesian topologies and windows of one-sided access of an imported OTF2 archive. */
#include "base/error.h"
#include "exchange/otf2_taken.h"

static OTF2_CallbackCode note_grid(struct as_otf2_reading *t, int rc)
{
    t->no_memory |= rc < 0;
    return rc < 0 ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_dimension(void *user, OTF2_CartDimensionRef number, OTF2_StringRef name,
                                      uint32_t size, OTF2_CartPeriodicity periodicity)
{
    struct as_otf2_reading *t = user;
    const struct as_otf2_taken_dimension dimension = {number, size,
                                                      periodicity == OTF2_CART_PERIODIC_TRUE};
    (void)name;
    return note_grid(t, as_vec_push(&t->dimension, dimension));
}

static OTF2_CallbackCode on_topology(void *user, OTF2_CartTopologyRef number, OTF2_StringRef name,
                                     OTF2_CommRef comm, uint8_t dimensions_n,
                                     const OTF2_CartDimensionRef *dimensions)
{
    struct as_otf2_reading *t = user;
    struct as_otf2_taken_topology topology = {.number = number, .comm = comm};
    int rc = 0;
    (void)name;
    for (uint8_t d = 0; rc == 0 && d < dimensions_n; d++)
        rc = as_vec_push(&topology.dimension, dimensions[d]);
    if (rc == 0)
        rc = as_vec_push(&t->topology, topology);
    if (rc < 0)
        as_vec_fini(&topology.dimension);
    return note_grid(t, rc);
}

/* The coordinates of all ranks are stored one after another. */
static OTF2_CallbackCode on_coordinate(void *user, OTF2_CartTopologyRef number, uint32_t rank,
                                       uint8_t dimensions_n, const uint32_t *coordinates)
{
    struct as_otf2_reading *t = user;
    const struct as_otf2_taken_topology *topology = as_vec_find(&t->topology, number, number);
    if (!topology || topology->dimension.n != dimensions_n)
        return OTF2_CALLBACK_SUCCESS;
    const struct as_otf2_taken_coordinate known = {number, rank, t->coordinates.n};
    int rc = as_vec_push(&t->coordinate, known);
    for (uint8_t d = 0; rc == 0 && d < dimensions_n; d++)
        rc = as_vec_push(&t->coordinates, (uint64_t)coordinates[d]);
    return note_grid(t, rc);
}

static OTF2_CallbackCode on_window(void *user, OTF2_RmaWinRef number, OTF2_StringRef name,
                                   OTF2_CommRef comm, OTF2_RmaWinFlag flags)
{
    struct as_otf2_reading *t = user;
    (void)name, (void)flags;
    return note_grid(t, as_vec_push(&t->window, (struct as_otf2_taken_window){number, comm}));
}

void as_otf2_grid_callbacks(OTF2_GlobalDefReaderCallbacks *c)
{
    OTF2_GlobalDefReaderCallbacks_SetCartDimensionCallback(c, on_dimension);
    OTF2_GlobalDefReaderCallbacks_SetCartTopologyCallback(c, on_topology);
    OTF2_GlobalDefReaderCallbacks_SetCartCoordinateCallback(c, on_coordinate);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(c, on_window);
}

static const uint64_t *coordinates_of(const struct as_otf2_reading *t, uint32_t topology,
                                      uint64_t rank)
{
    as_vec_foreach (&t->coordinate, it)
        if (it->topology == topology && it->rank == rank)
            return &t->coordinates.at[it->first];
    return NULL;
}

/* Defines a topology, unless dimensions or the coordinates of the rank are missing. */
static void define_grid(struct as_otf2_reading *t, const struct as_otf2_taken_topology *topology,
                        uint32_t made, uint64_t comm, uint64_t rank)
{
    uint64_t list[3 * UINT8_MAX];
    const size_t n = topology->dimension.n;
    const uint64_t *own = coordinates_of(t, topology->number, rank);
    bool is_whole = own && n > 0;
    for (size_t d = 0; is_whole && d < n; d++) {
        const struct as_otf2_taken_dimension *dimension =
            as_vec_find(&t->dimension, number, topology->dimension.at[d]);
        is_whole = dimension != NULL;
        list[d] = dimension ? dimension->size : 0;
        list[n + d] = dimension && dimension->is_periodic;
        list[2 * n + d] = own[d];
    }
    if (is_whole)
        as_maker_grid(t->maker, made, comm, list, n);
}

void as_otf2_define_grids(struct as_otf2_reading *t, uint32_t comm, uint32_t made, uint64_t rank)
{
    const uint64_t number = (uint64_t)as_otf2_known_comm_of(t, comm);
    as_vec_foreach (&t->topology, topology)
        if (topology->comm == comm)
            define_grid(t, topology, made, number, rank);
    as_vec_foreach (&t->window, window)
        if (window->comm == comm)
            as_maker_window(t->maker, made, (uint64_t)window->number + 1, number);
}

void as_otf2_free_grids(struct as_otf2_reading *t)
{
    as_vec_foreach (&t->topology, topology)
        as_vec_fini(&topology->dimension);
    as_vec_fini(&t->topology);
    as_vec_fini(&t->dimension);
    as_vec_fini(&t->coordinate);
    as_vec_fini(&t->coordinates);
    as_vec_fini(&t->window);
}
