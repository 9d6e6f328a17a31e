/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicators of one process, numbered: what is told of each once, and the number
 * that calls carry; see mpi_wrap.h.
 */
#include <limits.h>

#include "agent/wrap/mpi/mpi_wrap.h"
#include "base/fnv.h"

static struct as_keys comms;
static _Atomic uint64_t comms_n;
static _Atomic int world_begun;

static uint64_t hash_of_members(const uint64_t *member, size_t n)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < n; i++)
        hash = as_fnv_mix_number(hash, member[i]);
    return hash;
}

/* Of all members in their order, and how many of just these were before: the same in all of them,
 * without a message that a member that is not traced would never answer. */
static uint64_t global_number(uint64_t hash)
{
    static struct as_keys alike;
    uint64_t before = 0;
    struct as_key found;
    if (as_keys_remove(&alike, hash, &found))
        before = found.number;
    as_keys_put(&alike, &(struct as_key){.key = hash, .number = before + 1});
    return as_fnv_mix_number(hash, before) >> 1;
}

/* World ranks of the members; those of the other group where there are two. */
static size_t find_members(const struct as_mpi_call *call, MPI_Comm comm, bool inter,
                           uint64_t **out)
{
    MPI_Group group, world;
    int n = 0;
    if ((inter ? as_mpi_own.Comm_remote_group : as_mpi_own.Comm_group)(comm, &group) != MPI_SUCCESS)
        return 0;
    as_mpi_own.Group_size(group, &n);
    const size_t room = n > 0 ? (size_t)n : 0;
    uint64_t *member = as_mpi_hooks->scratch(call->thread, room * 16);
    call->thread->noted_n = 0;
    size_t got = 0;
    if (member && as_mpi_own.Comm_group(as_mpi_own.world, &world) == MPI_SUCCESS) {
        int *from = (int *)(void *)(member + room), *to = from + room;
        bool all = true;
        for (int i = 0; i < n; i++)
            from[i] = i;
        all = as_mpi_own.Group_translate_ranks(group, n, from, world, to) == MPI_SUCCESS;
        for (int i = 0; i < n && all; i++) {
            all = to[i] >= 0; /* of another world */
            member[i] = (uint64_t)to[i];
        }
        got = all ? room : 0;
        as_mpi_own.Group_free(&world);
    }
    as_mpi_own.Group_free(&group);
    *out = member;
    return got;
}

#define MEMBERS_MOST 20000u /* fit into a block */

/* Of two groups; the one whose first member comes first in the world is the first of them, on both
 * sides. 0: members are of another world. */
static uint64_t number_of_two(const struct as_mpi_call *call, MPI_Comm comm, bool *is_second)
{
    uint64_t *member;
    size_t n = find_members(call, comm, false, &member);
    if (!n)
        return 0;
    const uint64_t own_first = member[0], own = hash_of_members(member, n);
    n = find_members(call, comm, true, &member);
    if (!n)
        return 0;
    const uint64_t other = hash_of_members(member, n);
    *is_second = member[0] < own_first;
    return global_number(*is_second ? as_fnv_mix_number(other, own)
                                    : as_fnv_mix_number(own, other));
}

static uint64_t define_communicator(const struct as_mpi_call *call, MPI_Comm comm)
{
    int inter = 0, rank = 0, size = 0;
    uint64_t *member = NULL;
    as_mpi_own.Comm_test_inter(comm, &inter);
    as_mpi_own.Comm_rank(comm, &rank);
    as_mpi_own.Comm_size(comm, &size);
    bool is_second = false;
    const uint64_t of_two = inter ? number_of_two(call, comm, &is_second) : 0;
    const size_t n = find_members(call, comm, inter, &member);
    const uint64_t number = atomic_fetch_add(&comms_n, 1) + 1;
    const uint64_t global = inter ? of_two : n ? global_number(hash_of_members(member, n)) : 0;
    const uint64_t field[] = {number, global, (uint64_t)size, (uint64_t)rank,
                              (inter ? AS_TRACE_INTER : 0) | (is_second ? AS_TRACE_SECOND : 0) |
                                  (n > MEMBERS_MOST ? AS_TRACE_CUT : 0)};
    static const uint64_t nobody;
    as_mpi_hooks->define(AS_TRACE_COMM, field, 5, NULL, n ? member : &nobody,
                         n > MEMBERS_MOST ? MEMBERS_MOST : n);
    as_keys_put(&comms, &(struct as_key){.key = AS_MPI_KEY(comm), .number = number});
    if (!inter)
        as_mpi_define_near(call, number, comm);
    return number;
}

static bool is_comm(MPI_Comm comm)
{
    return AS_MPI_KEY(comm) != 0 && comm != as_mpi_own.null;
}

void as_mpi_begin_world(const struct as_mpi_call *call)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING + 16] = "mpi";
    int n = 0, level = 0;
    if (atomic_exchange(&world_begun, 1))
        return;
    define_communicator(call, as_mpi_own.world);
    define_communicator(call, as_mpi_own.self);
    as_mpi_own.Query_thread(&level);
    const uint64_t field[] = {(uint64_t)as_mpi_comm_rank(as_mpi_own.world),
                              (uint64_t)as_mpi_comm_size(as_mpi_own.world), (uint64_t)level};
    as_mpi_hooks->define(AS_TRACE_WORLD, field, 3, NULL, NULL, 0);
    as_mpi_own.Get_library_version(version + 4, &n);
    as_mpi_hooks->define(AS_TRACE_FACT, NULL, 0, version, NULL, 0);
}

uint64_t as_mpi_comm_number(const struct as_mpi_call *call, MPI_Comm comm)
{
    struct as_key found;
    int ready = 0;
    if (as_keys_get(&comms, AS_MPI_KEY(comm), &found))
        return found.number;
    if (!is_comm(comm) || as_mpi_own.Initialized(&ready) != MPI_SUCCESS || !ready)
        return 0;
    as_mpi_begin_world(call);
    if (as_keys_get(&comms, AS_MPI_KEY(comm), &found))
        return found.number;
    return define_communicator(call, comm);
}

void as_mpi_define_comm(const struct as_mpi_call *call, MPI_Comm comm)
{
    if (is_comm(comm)) {
        as_mpi_begin_world(call);
        define_communicator(call, comm);
    }
}

void as_mpi_forget_comm(const struct as_mpi_call *call, MPI_Comm comm)
{
    struct as_key found;
    if (!as_keys_remove(&comms, AS_MPI_KEY(comm), &found))
        return;
    as_mpi_forget_near(comm);
    as_mpi_emit_numbers(call, AS_TRACE_COMM_FREE, &found.number, 1);
}

void as_mpi_name_comm(const struct as_mpi_call *call, MPI_Comm comm, const char *name)
{
    const uint64_t number = as_mpi_comm_number(call, comm);
    as_mpi_hooks->define(AS_TRACE_COMM_NAME, &number, 1, name, NULL, 0);
}
