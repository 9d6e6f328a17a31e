/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of an OTF2 archive: the meaning of the numbers in its events. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "exchange/common.h"
#include "exchange/otf2_write.h"

/* ---- Regions and communicators of all processes ---------------------------------------------- */

static OTF2_CollectiveOp operation_of(const char *routine)
{
    static const struct {
        const char *name;
        OTF2_CollectiveOp op;
    } operations[] = {
        {"barrier", OTF2_COLLECTIVE_OP_BARRIER},
        {"bcast", OTF2_COLLECTIVE_OP_BCAST},
        {"gatherv", OTF2_COLLECTIVE_OP_GATHERV},
        {"gather", OTF2_COLLECTIVE_OP_GATHER},
        {"scatterv", OTF2_COLLECTIVE_OP_SCATTERV},
        {"scatter", OTF2_COLLECTIVE_OP_SCATTER},
        {"allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
        {"allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
        {"alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
        {"alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW},
        {"alltoall", OTF2_COLLECTIVE_OP_ALLTOALL},
        {"allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE},
        {"reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
        {"reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
        {"reduce", OTF2_COLLECTIVE_OP_REDUCE},
        {"exscan", OTF2_COLLECTIVE_OP_EXSCAN},
        {"scan", OTF2_COLLECTIVE_OP_SCAN},
    };
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (as_mpi_is(routine, operations[i].name))
            return operations[i].op;
    return OTF2_COLLECTIVE_OP_CREATE_HANDLE;
}

int as_otf2_list_region(struct as_otf2_writer *w, const char *text, uint32_t group, uint32_t *out)
{
    const uint64_t hash = as_hash_text(group, text);
    for (struct as_probe probe = as_index_probe(&w->regions, hash);
         (*out = as_index_next(&w->regions, &probe)) != AS_INDEX_NONE;)
        if (w->region.at[*out].group == group && strcmp(w->region.at[*out].text, text) == 0)
            return 0;
    AS_TRY(as_vec_push(&w->region, (struct as_otf2_region){text, group, operation_of(text)}));
    *out = (uint32_t)(w->region.n - 1);
    return as_index_add(&w->regions, hash, *out);
}

static int find_region(struct as_otf2_writer *w, const struct as_trace_name *name, uint32_t *out)
{
    return as_otf2_list_region(w, name->text ? name->text : "?", name->group, out);
}

static OTF2_CommRef find_comm(const struct as_otf2_writer *w, uint64_t global)
{
    const uint32_t at = as_index_of_word(&w->comms, w->comm.at, sizeof *w->comm.at, global);
    return at == AS_INDEX_NONE ? OTF2_UNDEFINED_COMM : at;
}

static int list_comms(struct as_otf2_writer *w, const struct as_trace_process *process)
{
    as_vec_foreach (&process->comm, comm) {
        if (!comm->global || !comm->member_n || (comm->bits & AS_TRACE_INTER) ||
            find_comm(w, comm->global) != OTF2_UNDEFINED_COMM)
            continue;
        AS_TRY(as_vec_push(&w->comm, (struct as_otf2_comm){comm->global, comm}));
        AS_TRY(as_index_add_word(&w->comms, comm->global, (uint32_t)(w->comm.n - 1)));
    }
    return 0;
}

static int find_window(struct as_otf2_writer *w, OTF2_CommRef comm, uint32_t number, uint32_t *out)
{
    for (*out = 0; *out < w->window.n; ++*out)
        if (w->window.at[*out].comm == comm && w->window.at[*out].number == number)
            return 0;
    return as_vec_push(&w->window, (struct as_otf2_window){comm, number});
}

/* Lists windows. All members create the windows of a communicator in the same order. */
static int list_windows(struct as_otf2_writer *w, uint32_t at)
{
    const struct as_trace_process *process = &w->trace->process.at[at];
    uint32_t *row = as_calloc(process->window.n + 1, sizeof *row);
    w->process.at[at].window = row;
    if (!row)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < process->window.n; i++) {
        uint32_t number = 0;
        for (size_t k = 0; k < i; k++)
            number += process->window.at[k].comm == process->window.at[i].comm;
        AS_TRY(find_window(w, as_otf2_comm_of(w, at, (int64_t)process->window.at[i].comm), number,
                           &row[i]));
    }
    return 0;
}

OTF2_RmaWinRef as_otf2_window_of(const struct as_otf2_writer *w, uint32_t process, int64_t window)
{
    const struct as_trace_process *p = &w->trace->process.at[process];
    const struct as_trace_window *known = as_vec_find(&p->window, window, (uint64_t)window);
    const uint32_t row = known ? w->process.at[process].window[known - p->window.at] : 0;
    return known && w->window.at[row].comm != OTF2_UNDEFINED_COMM ? row : OTF2_UNDEFINED_RMA_WIN;
}

int as_otf2_list(struct as_otf2_writer *w)
{
    uint32_t unknown;
    AS_TRY(find_region(w, &(struct as_trace_name){AS_TRACE_OF_USER, "?", 0}, &unknown));
    as_vec_foreach (&w->trace->process, process) {
        struct as_otf2_process known = {.region = as_calloc(process->name.n + 1, sizeof(uint32_t))};
        if (!known.region || as_vec_push(&w->process, known) < 0) {
            as_free(known.region);
            return AS_ERR_NOMEM;
        }
        for (size_t i = 0; i < process->name.n; i++)
            AS_TRY(find_region(w, &process->name.at[i], &known.region[i]));
        AS_TRY(list_comms(w, process));
    }
    for (uint32_t at = 0; at < w->trace->process.n; at++)
        AS_TRY(list_windows(w, at));
    return 0;
}

OTF2_CommRef as_otf2_comm_of(const struct as_otf2_writer *w, uint32_t process, int64_t comm)
{
    const struct as_trace_comm *c = as_trace_comm_of(&w->trace->process.at[process], comm);
    return c ? find_comm(w, c->global) : OTF2_UNDEFINED_COMM;
}

/* ---- Output ------------------------------------------------------------------------------- */

struct otf2_names {
    const struct as_otf2_writer *w;
    OTF2_GlobalDefWriter *to;
    OTF2_StringRef strings_n;
    OTF2_ErrorCode rc; /* the first error */
};

static void note_code(struct otf2_names *n, OTF2_ErrorCode rc)
{
    if (n->rc == OTF2_SUCCESS)
        n->rc = rc;
}

static OTF2_StringRef write_otf2_string(struct otf2_names *n, const char *text)
{
    note_code(n, OTF2_GlobalDefWriter_WriteString(n->to, n->strings_n, text));
    return n->strings_n++;
}

static OTF2_Paradigm paradigm_of(uint32_t group)
{
    if (as_trace_is_mpi(group))
        return OTF2_PARADIGM_MPI;
    if (group == AS_OTF2_SAMPLED)
        return OTF2_PARADIGM_SAMPLING;
    if (group == AS_TRACE_OF_OPENMP)
        return OTF2_PARADIGM_OPENMP;
    if (group == AS_TRACE_OF_THREAD || group == AS_TRACE_OF_LOCK || group == AS_TRACE_OF_SLEEP)
        return OTF2_PARADIGM_PTHREAD;
    if (group == AS_TRACE_OF_OPENCL || group == AS_TRACE_OF_KERNEL || group == AS_TRACE_OF_COPY)
        return OTF2_PARADIGM_OPENCL;
    return OTF2_PARADIGM_USER;
}

static OTF2_RegionRole role_of(const struct as_otf2_region *region)
{
    switch (region->group) {
    case AS_TRACE_OF_MPI_POINT:
    case AS_TRACE_OF_MPI_COMPLETION:
        return OTF2_REGION_ROLE_POINT2POINT;
    case AS_TRACE_OF_MPI_COLLECTIVE:
        return region->op == OTF2_COLLECTIVE_OP_BARRIER ? OTF2_REGION_ROLE_BARRIER
                                                        : OTF2_REGION_ROLE_COLL_OTHER;
    case AS_TRACE_OF_MPI_RMA:
        return OTF2_REGION_ROLE_RMA;
    case AS_TRACE_OF_MPI_IO:
    case AS_TRACE_OF_FILES:
        return OTF2_REGION_ROLE_FILE_IO;
    case AS_TRACE_OF_MEMORY:
        return OTF2_REGION_ROLE_ALLOCATE;
    case AS_TRACE_OF_COPY:
        return OTF2_REGION_ROLE_DATA_TRANSFER;
    default:
        return OTF2_REGION_ROLE_FUNCTION;
    }
}

static void write_otf2_regions(struct otf2_names *n, OTF2_StringRef empty)
{
    as_vec_foreach (&n->w->region, region) {
        OTF2_StringRef name = write_otf2_string(n, region->text);
        note_code(n, OTF2_GlobalDefWriter_WriteRegion(
                         n->to, (OTF2_RegionRef)(region - n->w->region.at), name, name, empty,
                         role_of(region), paradigm_of(region->group), OTF2_REGION_FLAG_NONE, empty,
                         0, 0));
    }
}

/* Writes the tree of contexts, parents first. */
static void write_otf2_contexts(struct otf2_names *n)
{
    const struct as_otf2_samples *s = &n->w->samples;
    for (uint32_t i = 0; i < s->source.n; i++)
        note_code(n,
                  OTF2_GlobalDefWriter_WriteSourceCodeLocation(
                      n->to, i, write_otf2_string(n, s->source.at[i].file), s->source.at[i].line));
    for (uint32_t i = 0; i < s->context.n; i++)
        note_code(n, OTF2_GlobalDefWriter_WriteCallingContext(n->to, i, s->context.at[i].region,
                                                              s->context.at[i].source,
                                                              s->context.at[i].parent));
    if (s->context.n)
        note_code(n, OTF2_GlobalDefWriter_WriteAttribute(
                         n->to, AS_OTF2_CALLER, write_otf2_string(n, AS_OTF2_CALLER_NAME),
                         write_otf2_string(n, "calling context that a call was made from"),
                         OTF2_TYPE_CALLING_CONTEXT));
    if (n->w->block_b.n) {
        note_code(n, OTF2_GlobalDefWriter_WriteAttribute(
                         n->to, AS_OTF2_ALLOCATED, write_otf2_string(n, "ALLOCATION_SIZE"),
                         write_otf2_string(n, "bytes that a call allocates"), OTF2_TYPE_UINT64));
        note_code(n, OTF2_GlobalDefWriter_WriteAttribute(
                         n->to, AS_OTF2_RELEASED, write_otf2_string(n, "DEALLOCATION_SIZE"),
                         write_otf2_string(n, "bytes that a call gives back"), OTF2_TYPE_UINT64));
    }
    for (uint32_t i = 0; i < s->period_ns.n; i++)
        note_code(n, OTF2_GlobalDefWriter_WriteInterruptGenerator(
                         n->to, i, write_otf2_string(n, "processor time"),
                         OTF2_INTERRUPT_GENERATOR_MODE_TIME, OTF2_BASE_DECIMAL, -9,
                         (uint64_t)s->period_ns.at[i]));
}

bool as_otf2_is_metric(const struct as_otf2_writer *w, uint32_t region)
{
    assert(region < w->region.n);
    return w->region.at[region].group == AS_TRACE_OF_COUNTED;
}

static void write_otf2_metrics(struct otf2_names *n, OTF2_StringRef empty)
{
    for (uint32_t at = 0; at < n->w->region.n; at++) {
        if (!as_otf2_is_metric(n->w, at))
            continue;
        OTF2_StringRef name = write_otf2_string(n, n->w->region.at[at].text);
        note_code(n, OTF2_GlobalDefWriter_WriteMetricMember(
                         n->to, at, name, empty, OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_POINT,
                         OTF2_TYPE_INT64, OTF2_BASE_DECIMAL, 0, empty));
        note_code(n, OTF2_GlobalDefWriter_WriteMetricClass(
                         n->to, at, 1, &at, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
    }
}

/* Writes a process as "rank 3" or "process 4711". */
static void write_process(struct otf2_names *n, uint32_t at)
{
    const struct as_trace_process *process = &n->w->trace->process.at[at];
    char name[64];
    if (process->rank >= 0)
        snprintf(name, sizeof name, "MPI Rank %" PRId64, process->rank);
    else
        snprintf(name, sizeof name, "Process %" PRIu32, process->pid);
    note_code(n, OTF2_GlobalDefWriter_WriteLocationGroup(n->to, at, write_otf2_string(n, name),
                                                         OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                         OTF2_UNDEFINED_LOCATION_GROUP));
}

/* Queues of one device of a process have equal names up to the colon. */
static bool is_same_device(const struct as_otf2_writer *w, size_t a, size_t b)
{
    const char *x = as_exchange_queue_name(w->trace, a), *y = as_exchange_queue_name(w->trace, b);
    if (!x || !y || w->thread.at[a].process != w->thread.at[b].process)
        return false;
    const char *x_end = strrchr(x, ':'), *y_end = strrchr(y, ':');
    return x_end && y_end && x_end - x == y_end - y && memcmp(x, y, (size_t)(x_end - x)) == 0;
}

/* The first queue of the same device. */
static size_t first_of_device(const struct as_otf2_writer *w, size_t at)
{
    size_t first = 0;
    while (first < at && !is_same_device(w, first, at))
        first++;
    return first;
}

/* A queue is in the group of its device, which follows those of all processes. */
static OTF2_LocationGroupRef group_of_thread(const struct as_otf2_writer *w, size_t at)
{
    OTF2_LocationGroupRef before = 0;
    if (!as_exchange_queue_name(w->trace, at))
        return w->thread.at[at].process;
    const size_t first = first_of_device(w, at);
    for (size_t i = 0; i < first; i++)
        before += as_exchange_queue_name(w->trace, i) && first_of_device(w, i) == i;
    return (OTF2_LocationGroupRef)w->trace->process.n + before;
}

static void write_otf2_devices(struct otf2_names *n)
{
    for (size_t at = 0; at < n->w->thread.n; at++) {
        const char *queue = as_exchange_queue_name(n->w->trace, at);
        char name[AS_TRACE_NAME_B];
        if (!queue || first_of_device(n->w, at) != at)
            continue;
        const char *colon = strrchr(queue, ':');
        snprintf(name, sizeof name, "%.*s", colon ? (int)(colon - queue) : (int)strlen(queue),
                 queue);
        note_code(n, OTF2_GlobalDefWriter_WriteLocationGroup(
                         n->to, group_of_thread(n->w, at), write_otf2_string(n, name),
                         OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 0, n->w->thread.at[at].process));
    }
}

static void write_otf2_threads(struct otf2_names *n)
{
    as_vec_foreach (&n->w->thread, thread) {
        char name[64];
        const size_t at = (size_t)(thread - n->w->thread.at);
        const char *queue = as_exchange_queue_name(n->w->trace, at);
        snprintf(name, sizeof name, thread->thread ? "Thread %u" : "Master thread", thread->thread);
        note_code(n,
                  OTF2_GlobalDefWriter_WriteLocation(
                      n->to, (OTF2_LocationRef)at, write_otf2_string(n, queue ? queue : name),
                      queue ? OTF2_LOCATION_TYPE_ACCELERATOR_STREAM : OTF2_LOCATION_TYPE_CPU_THREAD,
                      thread->events_n, group_of_thread(n->w, at)));
    }
}

/* Writes the first thread of each rank, by rank. Communicator members are indices into this
 * list. */
static void write_otf2_ranks(struct otf2_names *n, OTF2_StringRef empty, uint64_t *members)
{
    uint32_t ranks_n = 0;
    as_vec_foreach (&n->w->thread, thread)
        if (thread->thread == 0 && n->w->trace->process.at[thread->process].rank == ranks_n)
            members[ranks_n++] = (uint64_t)(thread - n->w->thread.at);
    if (ranks_n)
        note_code(n, OTF2_GlobalDefWriter_WriteGroup(
                         n->to, 0, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                         OTF2_GROUP_FLAG_NONE, ranks_n, members));
}

static void write_otf2_communicators(struct otf2_names *n, OTF2_StringRef empty)
{
    as_vec_foreach (&n->w->comm, known) {
        const uint32_t at = (uint32_t)(known - n->w->comm.at);
        const struct as_trace_comm *comm = known->comm;
        OTF2_StringRef name = write_otf2_string(n, comm->name        ? comm->name
                                                   : comm->comm == 1 ? "MPI_COMM_WORLD"
                                                                     : "");
        note_code(n, OTF2_GlobalDefWriter_WriteGroup(
                         n->to, at + 1, empty, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                         OTF2_GROUP_FLAG_NONE, (uint32_t)comm->member_n, comm->member));
        note_code(n, OTF2_GlobalDefWriter_WriteComm(n->to, at, name, at + 1, OTF2_UNDEFINED_COMM,
                                                    OTF2_COMM_FLAG_NONE));
    }
}

/* Writes the coordinates of a rank. The last dimension changes fastest (MPI 4.0, 8.2). */
static void write_coordinates(struct otf2_names *n, uint32_t topology,
                              const struct as_trace_comm *comm)
{
    uint32_t own[UINT8_MAX];
    for (uint64_t rank = 0; rank < comm->size; rank++) {
        uint64_t rest = rank;
        for (size_t d = comm->grid_n; d-- > 0; rest /= comm->grid[d])
            own[d] = (uint32_t)(rest % comm->grid[d]);
        note_code(n, OTF2_GlobalDefWriter_WriteCartCoordinate(n->to, topology, (uint32_t)rank,
                                                              (uint8_t)comm->grid_n, own));
    }
}

static void write_topologies(struct otf2_names *n)
{
    uint32_t dimensions_n = 0, topologies_n = 0;
    as_vec_foreach (&n->w->comm, known) {
        const struct as_trace_comm *comm = known->comm;
        uint32_t dimension[UINT8_MAX];
        char name[32];
        if (!comm->grid || comm->grid_n > UINT8_MAX)
            continue;
        for (size_t d = 0; d < comm->grid_n; d++) {
            snprintf(name, sizeof name, "dimension %zu", d);
            dimension[d] = dimensions_n++;
            note_code(n,
                      OTF2_GlobalDefWriter_WriteCartDimension(
                          n->to, dimension[d], write_otf2_string(n, name), (uint32_t)comm->grid[d],
                          comm->grid[comm->grid_n + d] ? OTF2_CART_PERIODIC_TRUE
                                                       : OTF2_CART_PERIODIC_FALSE));
        }
        note_code(n,
                  OTF2_GlobalDefWriter_WriteCartTopology(
                      n->to, topologies_n, write_otf2_string(n, comm->name ? comm->name : "grid"),
                      (OTF2_CommRef)(known - n->w->comm.at), (uint8_t)comm->grid_n, dimension));
        write_coordinates(n, topologies_n++, comm);
    }
}

static void write_windows(struct otf2_names *n)
{
    char name[32];
    as_vec_foreach (&n->w->window, window) {
        const uint32_t at = (uint32_t)(window - n->w->window.at);
        snprintf(name, sizeof name, "window %" PRIu32, at);
        if (window->comm != OTF2_UNDEFINED_COMM)
            note_code(n, OTF2_GlobalDefWriter_WriteRmaWin(n->to, at, write_otf2_string(n, name),
                                                          window->comm, OTF2_RMA_WIN_FLAG_NONE));
    }
}

OTF2_ErrorCode as_otf2_write_definitions(const struct as_otf2_writer *w)
{
    struct otf2_names n = {
        .w = w, .to = OTF2_Archive_GetGlobalDefWriter(w->archive), .rc = OTF2_SUCCESS};
    uint64_t *members = as_calloc(w->thread.n + 1, sizeof *members);
    if (!n.to || !members) {
        as_free(members);
        return OTF2_ERROR_MEM_FAULT;
    }
    OTF2_StringRef empty = write_otf2_string(&n, "");
    note_code(&n, OTF2_GlobalDefWriter_WriteClockProperties(n.to, 1000000000, 0,
                                                            (uint64_t)(w->end_ns - w->begin_ns),
                                                            OTF2_UNDEFINED_TIMESTAMP));
    note_code(&n, OTF2_GlobalDefWriter_WriteParadigm(n.to, OTF2_PARADIGM_MPI,
                                                     write_otf2_string(&n, "MPI"),
                                                     OTF2_PARADIGM_CLASS_PROCESS));
    note_code(&n, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                      n.to, 0, write_otf2_string(&n, "machine"), write_otf2_string(&n, "machine"),
                      OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    write_otf2_regions(&n, empty);
    write_otf2_metrics(&n, empty);
    write_otf2_contexts(&n);
    for (uint32_t p = 0; p < w->trace->process.n; p++)
        write_process(&n, p);
    write_otf2_devices(&n);
    write_otf2_threads(&n);
    write_otf2_ranks(&n, empty, members);
    write_otf2_communicators(&n, empty);
    write_topologies(&n);
    write_windows(&n);
    as_free(members);
    return n.rc;
}
