/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicators with a topology (MPI 4.0, 8.6): from whom and to whom a process's neighbourhood
 * operations go, told once with the communicator, and kept for the sizes of such operations. See
 * mpi_wrap.h.
 */
#include "agent/wrap/mpi/mpi_wrap.h"

static struct as_keys neighbourhoods;

#define NEIGHBOURS_MOST 20000 /* fit into a block */

/* Of a process: in-neighbours, then out-neighbours, each in the order of buffers. */
struct near_ranks {
    int in_n, out_n;
    int *rank;
};

/* Room for so many ranks, as many weights that nobody looks at, and the list that is told. */
static bool make_room(const struct as_mpi_call *call, struct near_ranks *near)
{
    const size_t n = (size_t)near->in_n + (size_t)near->out_n;
    if (near->in_n < 0 || near->out_n < 0)
        return false;
    call->thread->noted_n = 0;
    uint64_t *list =
        as_mpi_hooks->scratch(call->thread, 64 + n * (sizeof(uint64_t) + 2 * sizeof(int)));
    near->rank = list ? (int *)(void *)(list + n) : NULL;
    return list != NULL;
}

/* In each dimension the one before and the one behind; there may be none. */
static bool find_grid(const struct as_mpi_call *call, MPI_Comm comm, struct near_ranks *near)
{
    int dimensions_n = 0;
    if (as_mpi_own.Cartdim_get(comm, &dimensions_n) != MPI_SUCCESS)
        return false;
    near->in_n = near->out_n = 2 * dimensions_n;
    if (!make_room(call, near))
        return false;
    for (int d = 0; d < dimensions_n; d++) {
        int *pair = near->rank + 2 * d;
        if (as_mpi_own.Cart_shift(comm, d, 1, &pair[0], &pair[1]) != MPI_SUCCESS)
            return false;
    }
    memcpy(near->rank + near->in_n, near->rank, (size_t)near->in_n * sizeof *near->rank);
    return true;
}

static bool find_graph(const struct as_mpi_call *call, MPI_Comm comm, struct near_ranks *near)
{
    const int self = as_mpi_comm_rank(comm);
    int n = 0;
    if (as_mpi_own.Graph_neighbors_count(comm, self, &n) != MPI_SUCCESS)
        return false;
    near->in_n = near->out_n = n;
    if (!make_room(call, near) ||
        as_mpi_own.Graph_neighbors(comm, self, n, near->rank) != MPI_SUCCESS)
        return false;
    memcpy(near->rank + n, near->rank, (size_t)n * sizeof *near->rank);
    return true;
}

static bool find_dist_graph(const struct as_mpi_call *call, MPI_Comm comm, struct near_ranks *near)
{
    int is_weighted = 0;
    if (as_mpi_own.Dist_graph_neighbors_count(comm, &near->in_n, &near->out_n, &is_weighted) !=
            MPI_SUCCESS ||
        !make_room(call, near))
        return false;
    int *out = near->rank + near->in_n, *weight = out + near->out_n;
    return as_mpi_own.Dist_graph_neighbors(comm, near->in_n, near->rank, weight, near->out_n, out,
                                           weight + near->in_n) == MPI_SUCCESS;
}

/* Those that are there, and which are not: of a grid's first 32 dimensions, where a place is the
 * same among in- and out-neighbours. Graphs have none that are not there. */
static void define_neighbourhood(uint64_t number, MPI_Comm comm, const struct near_ranks *near)
{
    const int n = near->in_n + near->out_n;
    uint64_t *list = (uint64_t *)(void *)near->rank - n;
    uint64_t in_n = 0, nobody = 0;
    size_t told_n = 0;
    for (int i = 0; i < n; i++) {
        if (near->rank[i] >= 0) {
            list[told_n++] = (uint64_t)near->rank[i];
            in_n += i < near->in_n;
        } else if (i < 64) {
            nobody |= i < near->in_n ? 1ull << i : 0;
        }
    }
    as_keys_put(&neighbourhoods, &(struct as_key){.key = AS_MPI_KEY(comm),
                                                  .number = nobody,
                                                  .comm = (uint32_t)near->in_n,
                                                  .kind = (uint32_t)near->out_n});
    const uint64_t field[] = {number, in_n};
    if (told_n <= NEIGHBOURS_MOST)
        as_mpi_hooks->define(AS_TRACE_NEIGHBOURS, field, 2, NULL, list, told_n);
}

#define DIMENSIONS_MAX 32 /* that are recorded */

static void define_dimensions(uint64_t number, MPI_Comm comm)
{
    int size[DIMENSIONS_MAX], is_periodic[DIMENSIONS_MAX], own[DIMENSIONS_MAX], n = 0;
    uint64_t list[3 * DIMENSIONS_MAX];
    if (as_mpi_own.Cartdim_get(comm, &n) != MPI_SUCCESS || n < 1 || n > DIMENSIONS_MAX ||
        as_mpi_own.Cart_get(comm, n, size, is_periodic, own) != MPI_SUCCESS)
        return;
    for (int d = 0; d < n; d++) {
        list[d] = (uint64_t)size[d];
        list[n + d] = is_periodic[d] != 0;
        list[2 * n + d] = (uint64_t)own[d];
    }
    as_mpi_hooks->define(AS_TRACE_GRID, &number, 1, NULL, list, 3 * (size_t)n);
}

void as_mpi_define_near(const struct as_mpi_call *call, uint64_t number, MPI_Comm comm)
{
    struct near_ranks near = {0};
    int topology = MPI_UNDEFINED;
    bool found = false;
    if (as_mpi_own.Topo_test(comm, &topology) != MPI_SUCCESS)
        return;
    if (topology == MPI_CART)
        found = find_grid(call, comm, &near);
    else if (topology == MPI_GRAPH)
        found = find_graph(call, comm, &near);
    else if (topology == MPI_DIST_GRAPH)
        found = find_dist_graph(call, comm, &near);
    if (found)
        define_neighbourhood(number, comm, &near);
    if (found && topology == MPI_CART)
        define_dimensions(number, comm);
}

void as_mpi_forget_near(MPI_Comm comm)
{
    struct as_key gone;
    as_keys_remove(&neighbourhoods, AS_MPI_KEY(comm), &gone);
}

/* ---- Sizes -------------------------------------------------------------------------------- */

struct as_mpi_near as_mpi_near_of(const struct as_mpi_call *call, MPI_Comm comm, bool is_out)
{
    struct as_key found;
    as_mpi_comm_number(call, comm); /* told before the first look at it */
    if (!as_keys_get(&neighbourhoods, AS_MPI_KEY(comm), &found))
        return (struct as_mpi_near){0};
    return (struct as_mpi_near){.n = (int)(is_out ? found.kind : found.comm),
                                .nobody = found.number};
}

int as_mpi_near_n(const struct as_mpi_call *call, MPI_Comm comm, bool is_out)
{
    const struct as_mpi_near near = as_mpi_near_of(call, comm, is_out);
    return near.n - __builtin_popcountll(near.nobody);
}

int as_mpi_peers_n(MPI_Comm comm)
{
    int inter = 0, n = 0;
    as_mpi_own.Comm_test_inter(comm, &inter);
    if (inter)
        return as_mpi_own.Comm_remote_size(comm, &n) == MPI_SUCCESS ? n : 0;
    return as_mpi_comm_size(comm);
}
