/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What wrappers of MPI's routines do, for the ABI of the mpi.h that this is compiled with: which
 * requests and communicators there are, and the records of what a call means. The wrappers follow
 * from the table of routines (tools/gen-wrappers.py). No function of MPI is linked: all are found
 * in the MPI that the program has loaded, by the names that tools may call (PMPI_*).
 */
#include <mpi.h>

#include <limits.h>

#include "agent/mpi_keys.h"
#include "agent/mpi_parts.h"

struct routine {
    const char *name;
    uint32_t group;
};
struct wrapper {
    unsigned number;
    void (*function)(void);
};
struct call {
    struct as_tracer_thread *thread;
    uint64_t tick; /* when it came back; 0: it did not yet */
};

static const struct as_tracer_hooks *hooks;
static void *const *real_c, *const *real_f;

/* ---- MPI's own ---------------------------------------------------------------------------- */

#define OWN(X)                                                                                     \
    X(Type_size)                                                                                   \
    X(Comm_size)                                                                                   \
    X(Comm_rank)                                                                                   \
    X(Comm_test_inter)                                                                             \
    X(Comm_group)                                                                                  \
    X(Comm_remote_group)                                                                           \
    X(Group_size)                                                                                  \
    X(Group_translate_ranks)                                                                       \
    X(Group_free)                                                                                  \
    X(Get_count)                                                                                   \
    X(Initialized)                                                                                 \
    X(Get_library_version)                                                                         \
    X(Query_thread)                                                                                \
    X(Comm_get_name)
#define OWN_DECLARED(name) __typeof__(&MPI_##name) name;
static struct {
    OWN(OWN_DECLARED)
} own;

static MPI_Comm world_comm, self_comm;
static MPI_Datatype byte_type;
static const void *in_place_fortran;
#ifdef OPEN_MPI
static const void *status_ignore_fortran, *statuses_ignore_fortran;
#endif

#ifdef OPEN_MPI
static MPI_Comm null_comm;
#define NULL_COMM null_comm
#else
#define NULL_COMM MPI_COMM_NULL
#endif

static bool find_own(const struct as_mpi_front *front)
{
    bool all = true;
#define OWN_FOUND(name)                                                                            \
    all &= (own.name = (__typeof__(own.name))front->find("PMPI_" #name)) != NULL;
    OWN(OWN_FOUND)
#ifdef OPEN_MPI
    world_comm = (MPI_Comm)front->find_data("ompi_mpi_comm_world");
    self_comm = (MPI_Comm)front->find_data("ompi_mpi_comm_self");
    null_comm = (MPI_Comm)front->find_data("ompi_mpi_comm_null");
    byte_type = (MPI_Datatype)front->find_data("ompi_mpi_byte");
    in_place_fortran = front->find_data("mpi_fortran_in_place_");
    status_ignore_fortran = front->find_data("mpi_fortran_status_ignore_");
    statuses_ignore_fortran = front->find_data("mpi_fortran_statuses_ignore_");
    all &= world_comm && self_comm && byte_type;
#else
    world_comm = MPI_COMM_WORLD;
    self_comm = MPI_COMM_SELF;
    byte_type = MPI_BYTE;
#endif
    return all;
}

#define KEY_OF(handle) ((uint64_t)(uintptr_t)(handle))

/* ---- Calls -------------------------------------------------------------------------------- */

static bool enter_call(struct call *call, unsigned number);
static void stamp_call(struct call *call);
static void leave_call(struct call *call, unsigned number);

static void put_numbers(const struct call *call, unsigned kind, const uint64_t *field, unsigned n)
{
    as_trace_put(&call->thread->writer, kind, call->tick, field, n);
}

static bool is_in_place(const void *buffer)
{
    return buffer == MPI_IN_PLACE || (in_place_fortran && buffer == in_place_fortran);
}

static int64_t bytes_of(long long count, MPI_Datatype type)
{
    int size_b = 0;
    if (count <= 0 || own.Type_size(type, &size_b) != MPI_SUCCESS || size_b < 0)
        return 0;
    return count * size_b;
}

static int comm_size(MPI_Comm comm)
{
    int n = 0;
    return own.Comm_size(comm, &n) == MPI_SUCCESS ? n : 0;
}

static int comm_rank(MPI_Comm comm)
{
    int n = 0;
    return own.Comm_rank(comm, &n) == MPI_SUCCESS ? n : 0;
}

static bool is_own(int root, MPI_Comm comm)
{
    return root == comm_rank(comm);
}

#define sum_of(counts, n)                                                                          \
    ({                                                                                             \
        long long sum_all = 0;                                                                     \
        for (int sum_i = 0; sum_i < (n); sum_i++)                                                  \
            sum_all += (counts)[sum_i];                                                            \
        sum_all;                                                                                   \
    })

/* ---- Communicators ------------------------------------------------------------------------ */

static struct as_keys comms;
static _Atomic uint64_t comms_n;
static _Atomic int world_begun;

static uint64_t fnv(uint64_t hash, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        hash = (hash ^ (value >> 8 * i & 255)) * 1099511628211u;
    return hash;
}

/* Of all members in their order, and how many of just these were before: the same in all of them,
 * without a message that a member that is not traced would never answer. */
static uint64_t global_number(const uint64_t *member, size_t n)
{
    static struct as_keys alike;
    uint64_t hash = 1469598103934665603u, before = 0;
    for (size_t i = 0; i < n; i++)
        hash = fnv(hash, member[i]);
    struct as_key found;
    if (as_keys_take(&alike, hash, &found))
        before = found.number;
    as_keys_put(&alike, &(struct as_key){.key = hash, .number = before + 1});
    return fnv(hash, before) >> 1;
}

/* World ranks of the members; those of the other group where there are two. */
static size_t find_members(const struct call *call, MPI_Comm comm, bool inter, uint64_t **out)
{
    MPI_Group group, world;
    int n = 0;
    if ((inter ? own.Comm_remote_group : own.Comm_group)(comm, &group) != MPI_SUCCESS)
        return 0;
    own.Group_size(group, &n);
    const size_t room = n > 0 ? (size_t)n : 0;
    uint64_t *member = hooks->scratch(call->thread, room * 16);
    size_t got = 0;
    if (member && own.Comm_group(world_comm, &world) == MPI_SUCCESS) {
        int *from = (int *)(void *)(member + room), *to = from + room;
        bool all = true;
        for (int i = 0; i < n; i++)
            from[i] = i;
        all = own.Group_translate_ranks(group, n, from, world, to) == MPI_SUCCESS;
        for (int i = 0; i < n && all; i++) {
            all = to[i] >= 0; /* of another world */
            member[i] = (uint64_t)to[i];
        }
        got = all ? room : 0;
        own.Group_free(&world);
    }
    own.Group_free(&group);
    *out = member;
    return got;
}

#define MEMBERS_MOST 20000u /* fit into a block */

static uint64_t tell_comm(const struct call *call, MPI_Comm comm)
{
    int inter = 0, rank = 0, size = 0;
    uint64_t *member = NULL;
    own.Comm_test_inter(comm, &inter);
    own.Comm_rank(comm, &rank);
    own.Comm_size(comm, &size);
    const size_t n = find_members(call, comm, inter, &member);
    const uint64_t number = atomic_fetch_add(&comms_n, 1) + 1;
    const uint64_t global = n && !inter ? global_number(member, n) : 0;
    const uint64_t field[] = {number, global, (uint64_t)size, (uint64_t)rank,
                              (inter ? AS_TRACE_INTER : 0) | (n > MEMBERS_MOST ? AS_TRACE_CUT : 0)};
    static const uint64_t nobody;
    hooks->define(AS_TRACE_COMM, field, 5, NULL, n ? member : &nobody,
                  n > MEMBERS_MOST ? MEMBERS_MOST : n);
    as_keys_put(&comms, &(struct as_key){.key = KEY_OF(comm), .number = number});
    return number;
}

static bool is_comm(MPI_Comm comm)
{
    return KEY_OF(comm) != 0 && comm != NULL_COMM;
}

static void begin_world(const struct call *call)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING + 16] = "mpi";
    int n = 0, level = 0;
    if (atomic_exchange(&world_begun, 1))
        return;
    tell_comm(call, world_comm);
    tell_comm(call, self_comm);
    own.Query_thread(&level);
    const uint64_t field[] = {(uint64_t)comm_rank(world_comm), (uint64_t)comm_size(world_comm),
                              (uint64_t)level};
    hooks->define(AS_TRACE_WORLD, field, 3, NULL, NULL, 0);
    own.Get_library_version(version + 4, &n);
    hooks->define(AS_TRACE_FACT, NULL, 0, version, NULL, 0);
}

/* Of one that was made in a way that is not wrapped: where it is first used. */
static uint64_t comm_number_of(const struct call *call, MPI_Comm comm)
{
    struct as_key found;
    int ready = 0;
    if (as_keys_get(&comms, KEY_OF(comm), &found))
        return found.number;
    if (!is_comm(comm) || own.Initialized(&ready) != MPI_SUCCESS || !ready)
        return 0;
    begin_world(call);
    if (as_keys_get(&comms, KEY_OF(comm), &found))
        return found.number;
    return tell_comm(call, comm);
}
#define comm_number(comm) comm_number_of(&call, comm)

static void define_comm(const struct call *call, MPI_Comm comm)
{
    if (is_comm(comm)) {
        begin_world(call);
        tell_comm(call, comm);
    }
}

static void forget_comm(const struct call *call, MPI_Comm comm)
{
    struct as_key found;
    if (!as_keys_take(&comms, KEY_OF(comm), &found))
        return;
    put_numbers(call, AS_TRACE_COMM_FREE, &found.number, 1);
}

static void name_comm(const struct call *call, MPI_Comm comm, const char *name)
{
    const uint64_t number = comm_number_of(call, comm);
    hooks->define(AS_TRACE_COMM_NAME, &number, 1, name, NULL, 0);
}

/* ---- Messages ----------------------------------------------------------------------------- */

static uint64_t partner_of(int partner)
{
    return as_trace_zigzag(partner == MPI_ANY_SOURCE  ? AS_TRACE_ANY
                           : partner == MPI_PROC_NULL ? AS_TRACE_NOBODY
                                                      : partner);
}

static uint64_t tag_of(int tag)
{
    return as_trace_zigzag(tag == MPI_ANY_TAG ? AS_TRACE_ANY : tag);
}

static void put_message(const struct call *call, unsigned kind, int partner, int tag,
                        int64_t size_b, MPI_Comm comm, uint64_t request, unsigned bits)
{
    const uint64_t field[] = {partner_of(partner),        tag_of(tag), (uint64_t)size_b,
                              comm_number_of(call, comm), request,     bits};
    put_numbers(call, kind, field, 6);
}

static void put_status(const struct call *call, const MPI_Status *status, uint64_t comm,
                       uint64_t request)
{
    int size_b = 0;
    own.Get_count(status, byte_type, &size_b);
    const uint64_t field[] = {partner_of(status->MPI_SOURCE), tag_of(status->MPI_TAG),
                              size_b > 0 ? (uint64_t)size_b : 0, comm, request};
    put_numbers(call, AS_TRACE_RECEIVE, field, 5);
}

static void put_received(const struct call *call, const MPI_Status *status, uint64_t comm,
                         uint64_t request, int rc)
{
    if (rc == MPI_SUCCESS)
        put_status(call, status, comm, request);
}

static void put_probed(const struct call *call, int partner, int tag, MPI_Comm comm, bool found,
                       const MPI_Status *status, int rc)
{
    int size_b = 0;
    if (rc != MPI_SUCCESS)
        return;
    if (found) {
        own.Get_count(status, byte_type, &size_b);
        partner = status->MPI_SOURCE;
        tag = status->MPI_TAG;
    }
    const uint64_t field[] = {partner_of(partner), tag_of(tag), size_b > 0 ? (uint64_t)size_b : 0,
                              comm_number_of(call, comm), found};
    put_numbers(call, AS_TRACE_PROBE, field, 5);
}

static struct as_keys messages;

static void keep_message_of(const struct call *call, MPI_Message message, MPI_Comm comm, int rc)
{
    if (rc == MPI_SUCCESS)
        as_keys_put(&messages,
                    &(struct as_key){.key = KEY_OF(message), .number = comm_number_of(call, comm)});
}
#define keep_message(message, comm, rc) keep_message_of(&call, message, comm, rc)

/* The communicator of a message that was probed. */
static uint64_t take_message(MPI_Message message)
{
    struct as_key found;
    return as_keys_take(&messages, KEY_OF(message), &found) ? found.number : 0;
}

static void put_matched(const struct call *call, int64_t size_b, uint64_t comm, uint64_t request)
{
    const uint64_t any = as_trace_zigzag(AS_TRACE_ANY);
    const uint64_t field[] = {any, any, (uint64_t)size_b, comm, request, AS_TRACE_MATCHED};
    put_numbers(call, AS_TRACE_POST, field, 6);
}

static void put_collective(const struct call *call, MPI_Comm comm, uint64_t request, int root,
                           int64_t sent_b, int64_t received_b, unsigned bits)
{
    const uint64_t field[] = {comm_number_of(call, comm), request,
                              as_trace_zigzag(root),      (uint64_t)sent_b,
                              (uint64_t)received_b,       bits};
    put_numbers(call, AS_TRACE_COLLECTIVE, field, 6);
}

/* ---- One-sided ---------------------------------------------------------------------------- */

static struct as_keys windows;
static _Atomic uint64_t windows_n;

static void define_window(const struct call *call, MPI_Win win, MPI_Comm comm)
{
    const uint64_t number = atomic_fetch_add(&windows_n, 1) + 1;
    const uint64_t field[] = {number, comm_number_of(call, comm)};
    as_keys_put(&windows, &(struct as_key){.key = KEY_OF(win), .number = number});
    hooks->define(AS_TRACE_WINDOW, field, 2, NULL, NULL, 0);
}

static void put_access(const struct call *call, int target, int64_t size_b, MPI_Win win)
{
    struct as_key found = {0};
    as_keys_get(&windows, KEY_OF(win), &found);
    const uint64_t field[] = {partner_of(target), (uint64_t)size_b, found.number};
    put_numbers(call, AS_TRACE_RMA, field, 3);
}

/* ---- Requests ----------------------------------------------------------------------------- */

enum { REQUEST_SEND = 1, REQUEST_RECEIVE, REQUEST_OTHER, REQUEST_PERSISTENT = 8 };

static struct as_keys requests;
static _Atomic uint64_t requests_n;

static uint64_t new_request(void)
{
    return atomic_fetch_add(&requests_n, 1) + 1;
}

/* An MPI may give the same handle to all that is done as soon as it is begun: who has it already
 * is done. */
static void keep_request(const struct call *call, MPI_Request handle, uint64_t number,
                         unsigned kind, uint64_t comm, bool persistent, int rc)
{
    struct as_key before;
    if (rc != MPI_SUCCESS)
        return;
    if (as_keys_take(&requests, KEY_OF(handle), &before) && !(before.kind & REQUEST_PERSISTENT))
        put_numbers(call, AS_TRACE_DONE, &before.number, 1);
    as_keys_put(&requests, &(struct as_key){.key = KEY_OF(handle),
                                            .number = number,
                                            .comm = (uint32_t)comm,
                                            .kind = kind | (persistent ? REQUEST_PERSISTENT : 0)});
}

static void put_of_request(const struct call *call, unsigned kind, MPI_Request handle, bool gone)
{
    struct as_key found;
    if (gone ? as_keys_take(&requests, KEY_OF(handle), &found)
             : as_keys_get(&requests, KEY_OF(handle), &found))
        put_numbers(call, kind, &found.number, 1);
}

static void put_started(const struct call *call, int n, const MPI_Request *handle)
{
    for (int i = 0; i < n && handle; i++)
        put_of_request(call, AS_TRACE_START, handle[i], false);
}

/* ---- Completion --------------------------------------------------------------------------- */

/* What was known of a handle before the call, which may take it away. */
struct note {
    struct as_key of;
    bool known;
};

/* Of a call of n requests: notes, statuses, handles, and Fortran's statuses. */
#define FINT_STATUS 8u
static void *room_of(const struct call *call, int n, unsigned which)
{
    const size_t count = n > 0 ? (size_t)n : 0;
    const size_t part[] = {sizeof(struct note), sizeof(MPI_Status), sizeof(uint64_t),
                           FINT_STATUS * sizeof(int)};
    size_t offset = 0, all = 64;
    for (unsigned i = 0; i < 4; i++) {
        all += part[i] * count;
        offset += i < which ? part[i] * count : 0;
    }
    uint8_t *at = hooks->scratch(call->thread, all);
    return at ? at + offset : NULL;
}

static struct note *note_requests(const struct call *call, int n, const MPI_Request *handle)
{
    struct note *note = room_of(call, n, 0);
    for (int i = 0; i < n && note && handle; i++)
        note[i].known = as_keys_get(&requests, KEY_OF(handle[i]), &note[i].of);
    return handle ? note : NULL;
}

static MPI_Status *statuses_of(const struct call *call, int n, MPI_Status *given)
{
    MPI_Status *room = given == MPI_STATUSES_IGNORE ? room_of(call, n, 1) : NULL;
    return room ? room : given;
}

static void complete_note(const struct call *call, const struct note *note,
                          const MPI_Status *status)
{
    struct as_key gone;
    if (!note->known)
        return;
    if ((note->of.kind & ~(unsigned)REQUEST_PERSISTENT) == REQUEST_RECEIVE)
        put_status(call, status, note->of.comm, note->of.number);
    else
        put_numbers(call, AS_TRACE_DONE, &note->of.number, 1);
    if (!(note->of.kind & REQUEST_PERSISTENT))
        as_keys_take(&requests, note->of.key, &gone);
}

static void complete_one(const struct call *call, const struct note *note, int n, int index,
                         const MPI_Status *status)
{
    if (note && index >= 0 && index < n)
        complete_note(call, &note[index], status);
}

static void complete_some(const struct call *call, const struct note *note, int n, int count,
                          const int *index, int base, const MPI_Status *status)
{
    if (status == MPI_STATUSES_IGNORE || count == MPI_UNDEFINED)
        return;
    for (int i = 0; i < count && i < n; i++)
        complete_one(call, note, n, index[i] - base, &status[i]);
}

/* Two requests of one handle: the second is known by none. */
static void complete_all(const struct call *call, struct note *note, int n,
                         const MPI_Status *status)
{
    struct as_key still;
    if (status == MPI_STATUSES_IGNORE)
        return;
    for (int i = 0; i < n && note; i++) {
        note[i].known = note[i].known && as_keys_get(&requests, note[i].of.key, &still) &&
                        still.number == note[i].of.number;
        complete_note(call, &note[i], &status[i]);
    }
}

/* ---- Fortran ------------------------------------------------------------------------------ */

#ifdef OPEN_MPI
#define HANDLES(X)            X(Comm) X(Type) X(Win) X(Message) X(Request)
#define HANDLE_DECLARED(name) __typeof__(&MPI_##name##_f2c) name;
static struct {
    HANDLES(HANDLE_DECLARED)
    __typeof__(&MPI_Status_f2c) Status;
} of_fortran;

static void find_fortran(const struct as_mpi_front *front)
{
#define HANDLE_FOUND(name)                                                                         \
    of_fortran.name = (__typeof__(of_fortran.name))front->find("PMPI_" #name "_f2c");
    HANDLES(HANDLE_FOUND)
    HANDLE_FOUND(Status)
}

#define Comm_of_fortran(f)    of_fortran.Comm(*(const MPI_Fint *)(f))
#define Type_of_fortran(f)    of_fortran.Type(*(const MPI_Fint *)(f))
#define Win_of_fortran(f)     of_fortran.Win(*(const MPI_Fint *)(f))
#define Message_of_fortran(f) of_fortran.Message(*(const MPI_Fint *)(f))
#define Request_of_fortran(f) of_fortran.Request(*(const MPI_Fint *)(f))

static bool is_ignored(const void *status)
{
    return status == NULL || status == status_ignore_fortran || status == statuses_ignore_fortran;
}

static void status_of_fortran(const MPI_Fint *f, MPI_Status *c)
{
    of_fortran.Status(f, c);
}

static MPI_Request *requests_of_fortran(const struct call *call, int n, const MPI_Fint *f)
{
    MPI_Request *room = room_of(call, n, 2);
    for (int i = 0; i < n && room; i++)
        room[i] = of_fortran.Request(f[i]);
    return room;
}

static void *statuses_for_fortran(const struct call *call, int n, void *given)
{
    void *room = is_ignored(given) ? room_of(call, n, 3) : NULL;
    return room ? room : given;
}

#define FORTRAN_STATUS_N (sizeof(MPI_Status) / sizeof(MPI_Fint))
static MPI_Status *statuses_of_fortran(const struct call *call, int n, const MPI_Fint *f)
{
    MPI_Status *room = is_ignored(f) ? NULL : room_of(call, n, 1);
    for (int i = 0; i < n && room; i++)
        of_fortran.Status(f + (size_t)i * FORTRAN_STATUS_N, &room[i]);
    return room;
}
#endif

/* ---- The wrappers ------------------------------------------------------------------------- */

#include AS_MPI_MADE

static uint32_t name_of[ROUTINES_N];

/* The first call in a process names the routine. Of two threads at once the second finds a number:
 * a call ends as it began. */
static uint32_t number_of(unsigned number)
{
    uint32_t known = __atomic_load_n(&name_of[number], __ATOMIC_RELAXED);
    if (known)
        return known;
    const uint32_t given = hooks->name(routine[number].group, routine[number].name);
    return __atomic_compare_exchange_n(&name_of[number], &known, given, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED)
               ? given
               : known;
}

static bool enter_call(struct call *call, unsigned number)
{
    call->thread = hooks->enter(AS_TRACER_MPI);
    if (!call->thread)
        return false;
    call->thread->inside = 1;
    call->tick = 0;
    const uint64_t field = number_of(number);
    as_trace_put(&call->thread->writer, AS_TRACE_ENTER, as_trace_now(&call->thread->writer), &field,
                 1);
    return true;
}

/* What is told behind the call has the time at which it came back. */
static void stamp_call(struct call *call)
{
    call->tick = as_trace_now(&call->thread->writer);
}

static void leave_call(struct call *call, unsigned number)
{
    const uint64_t field = name_of[number];
    put_numbers(call, AS_TRACE_LEAVE, &field, 1);
    call->thread->inside = 0;
}

/* MPICH's module mpi_f08 calls PMPI_* where there is no buffer: these are wrapped too, and what is
 * within another call is not recorded twice. In Open MPI the Fortran routines are wrapped. */
as_mpi_wrap_function as_mpi_wrap;
__attribute__((visibility("default"))) int as_mpi_wrap(const struct as_mpi_front *front,
                                                       void **slot, void **slot_fortran,
                                                       void **slot_profiling)
{
    hooks = front->hooks;
    real_c = front->real;
    real_f = front->real_fortran;
    if (front->n != ROUTINES_N || !find_own(front))
        return -1;
    for (size_t i = 0; i < sizeof wrapper / sizeof *wrapper; i++)
        if (real_c[wrapper[i].number])
            slot[wrapper[i].number] = (void *)wrapper[i].function;
#ifdef OPEN_MPI
    (void)slot_profiling;
    find_fortran(front);
    for (size_t i = 0; i < sizeof wrapper_fortran / sizeof *wrapper_fortran; i++)
        if (real_f[wrapper_fortran[i].number])
            slot_fortran[wrapper_fortran[i].number] = (void *)wrapper_fortran[i].function;
#else
    (void)slot_fortran; /* MPICH's Fortran calls the C routines */
    for (size_t i = 0; i < sizeof wrapper / sizeof *wrapper; i++)
        if (real_c[wrapper[i].number])
            slot_profiling[wrapper[i].number] = (void *)wrapper[i].function;
#endif
    return 0;
}
