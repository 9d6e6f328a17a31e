/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of an imported OTF2 archive: the meaning of the numbers in its events. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "exchange/otf2_taken.h"

static OTF2_CallbackCode code_of(struct as_otf2_reading *t, int rc)
{
    t->no_memory |= rc < 0;
    return rc < 0 ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

/* ---- Reading ------------------------------------------------------------------------------ */

static OTF2_CallbackCode on_otf2_clock(void *user, uint64_t tick_hz, uint64_t begin_tick,
                                       uint64_t ticks_n, uint64_t real_ns)
{
    struct as_otf2_reading *t = user;
    (void)ticks_n;
    t->counts->start_ns = real_ns < INT64_MAX ? (int64_t)real_ns : 0;
    t->tick_hz = tick_hz;
    t->begin_tick = begin_tick;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_otf2_string(void *user, OTF2_StringRef number, const char *string)
{
    struct as_otf2_reading *t = user;
    const size_t n = strlen(string);
    const struct as_otf2_known_text text = {number, as_malloc(n + 1)};
    if (!text.text || as_vec_push(&t->text, text) < 0) {
        as_free(text.text);
        return code_of(t, AS_ERR_NOMEM);
    }
    memcpy(text.text, string, n + 1);
    return code_of(t, as_map_u64_put(&t->texts, number, (uint32_t)t->text.n - 1));
}

static OTF2_CallbackCode on_otf2_node(void *user, OTF2_SystemTreeNodeRef number,
                                      OTF2_StringRef name, OTF2_StringRef class_name,
                                      OTF2_SystemTreeNodeRef parent)
{
    struct as_otf2_reading *t = user;
    (void)class_name, (void)parent;
    const struct as_otf2_known_node node = {number, as_otf2_known_text_of(t, name)};
    return code_of(t, as_vec_push(&t->node, node));
}

static uint32_t group_of_mpi(OTF2_RegionRole role, const char *name)
{
    switch (role) {
    case OTF2_REGION_ROLE_POINT2POINT:
        return strncasecmp(name, "MPI_Wait", 8) == 0 || strncasecmp(name, "MPI_Test", 8) == 0
                   ? AS_TRACE_OF_MPI_COMPLETION
                   : AS_TRACE_OF_MPI_POINT;
    case OTF2_REGION_ROLE_BARRIER:
    case OTF2_REGION_ROLE_COLL_ONE2ALL:
    case OTF2_REGION_ROLE_COLL_ALL2ONE:
    case OTF2_REGION_ROLE_COLL_ALL2ALL:
    case OTF2_REGION_ROLE_COLL_OTHER:
        return AS_TRACE_OF_MPI_COLLECTIVE;
    case OTF2_REGION_ROLE_RMA:
        return AS_TRACE_OF_MPI_RMA;
    case OTF2_REGION_ROLE_FILE_IO:
        return AS_TRACE_OF_MPI_IO;
    default:
        return AS_TRACE_OF_MPI_OTHER;
    }
}

static bool is_omp_barrier(OTF2_Paradigm paradigm, OTF2_RegionRole role)
{
    return paradigm == OTF2_PARADIGM_OPENMP &&
           (role == OTF2_REGION_ROLE_BARRIER || role == OTF2_REGION_ROLE_IMPLICIT_BARRIER);
}

/* Returns the group of a region. An OpenMP parallel region or loop is work of the program; only
 * waiting belongs to OpenMP. */
static uint32_t group_of_region(OTF2_Paradigm paradigm, OTF2_RegionRole role, const char *name)
{
    switch (paradigm) {
    case OTF2_PARADIGM_MPI:
        return group_of_mpi(role, name);
    case OTF2_PARADIGM_OPENMP:
        return is_omp_barrier(paradigm, role) || role == OTF2_REGION_ROLE_TASK_WAIT ||
                       role == OTF2_REGION_ROLE_FUNCTION
                   ? AS_TRACE_OF_OPENMP
                   : AS_TRACE_OF_USER;
    case OTF2_PARADIGM_PTHREAD:
        return AS_TRACE_OF_THREAD;
    default:
        break;
    }
    if (role == OTF2_REGION_ROLE_FILE_IO)
        return AS_TRACE_OF_FILES;
    if (role == OTF2_REGION_ROLE_ALLOCATE || role == OTF2_REGION_ROLE_DEALLOCATE ||
        role == OTF2_REGION_ROLE_REALLOCATE)
        return AS_TRACE_OF_MEMORY;
    return AS_TRACE_OF_USER;
}

static OTF2_CallbackCode on_otf2_region(void *user, OTF2_RegionRef number, OTF2_StringRef name,
                                        OTF2_StringRef canonical, OTF2_StringRef description,
                                        OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                        OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
                                        uint32_t end)
{
    struct as_otf2_reading *t = user;
    const char *text = as_otf2_known_text_of(t, name);
    (void)canonical, (void)description, (void)flags, (void)end;
    const struct as_otf2_known_region region = {number,
                                                group_of_region(paradigm, role, text),
                                                text,
                                                is_omp_barrier(paradigm, role),
                                                as_otf2_known_text_of(t, file),
                                                begin};
    const int rc = as_vec_push(&t->region, region);
    return code_of(t, rc < 0 ? rc : as_map_u64_put(&t->regions, number, (uint32_t)t->region.n - 1));
}

static OTF2_CallbackCode on_otf2_process(void *user, OTF2_LocationGroupRef number,
                                         OTF2_StringRef name, OTF2_LocationGroupType type,
                                         OTF2_SystemTreeNodeRef parent,
                                         OTF2_LocationGroupRef creator)
{
    struct as_otf2_reading *t = user;
    const struct as_otf2_known_node *node = as_vec_find(&t->node, number, parent);
    (void)type, (void)creator;
    const struct as_otf2_known_process process = {number, as_otf2_known_text_of(t, name),
                                                  node ? node->text : "", -1, 0};
    return code_of(t, as_vec_push(&t->process, process));
}

static OTF2_CallbackCode on_otf2_location(void *user, OTF2_LocationRef number, OTF2_StringRef name,
                                          OTF2_LocationType type, uint64_t events_n,
                                          OTF2_LocationGroupRef group)
{
    struct as_otf2_reading *t = user;
    const struct as_otf2_known_process *process = as_vec_find(&t->process, number, group);
    if (!process)
        return OTF2_CALLBACK_SUCCESS;
    const struct as_otf2_known_thread location = {
        number, events_n, (uint32_t)(process - t->process.at), as_otf2_known_text_of(t, name),
        type == OTF2_LOCATION_TYPE_CPU_THREAD};
    return code_of(t, as_vec_push(&t->location, location));
}

static OTF2_CallbackCode on_otf2_group(void *user, OTF2_GroupRef number, OTF2_StringRef name,
                                       OTF2_GroupType type, OTF2_Paradigm paradigm,
                                       OTF2_GroupFlag flags, uint32_t members_n,
                                       const uint64_t *members)
{
    struct as_otf2_reading *t = user;
    struct as_otf2_known_group group = {.number = number, .type = type, .paradigm = paradigm};
    int rc = 0;
    (void)name, (void)flags;
    for (uint32_t i = 0; rc == 0 && i < members_n; i++)
        rc = as_vec_push(&group.member, members[i]);
    if (rc == 0)
        rc = as_vec_push(&t->group, group);
    if (rc < 0)
        as_vec_fini(&group.member);
    return code_of(t, rc);
}

static OTF2_CallbackCode on_otf2_comm(void *user, OTF2_CommRef number, OTF2_StringRef name,
                                      OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
    struct as_otf2_reading *t = user;
    (void)parent, (void)flags;
    const struct as_otf2_known_comm comm = {number, group, as_otf2_known_text_of(t, name), 0};
    const int rc = as_vec_push(&t->comm, comm);
    return code_of(t, rc < 0 ? rc : as_map_u64_put(&t->comms, number, (uint32_t)t->comm.n - 1));
}

static OTF2_CallbackCode on_otf2_metric_member(void *user, OTF2_MetricMemberRef number,
                                               OTF2_StringRef name, OTF2_StringRef description,
                                               OTF2_MetricType type, OTF2_MetricMode mode,
                                               OTF2_Type value, OTF2_Base base, int64_t exponent,
                                               OTF2_StringRef unit)
{
    struct as_otf2_reading *t = user;
    (void)description, (void)type, (void)mode, (void)value, (void)base, (void)exponent, (void)unit;
    return code_of(
        t, as_vec_push(&t->member, (struct as_otf2_known_metric){
                                       .number = number, .text = as_otf2_known_text_of(t, name)}));
}

static int add_metric(struct as_otf2_reading *t, uint32_t number, size_t n, const uint32_t *members)
{
    struct as_otf2_known_metric metric = {.number = number};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = as_vec_push(&metric.member, members[i]);
    if (rc == 0)
        rc = as_vec_push(&t->metric, metric);
    if (rc < 0)
        as_vec_fini(&metric.member);
    return rc;
}

static OTF2_CallbackCode on_otf2_metric(void *user, OTF2_MetricRef number, uint8_t n,
                                        const OTF2_MetricMemberRef *members,
                                        OTF2_MetricOccurrence occurrence, OTF2_RecorderKind kind)
{
    (void)occurrence, (void)kind;
    return code_of(user, add_metric(user, number, n, members));
}

static OTF2_CallbackCode on_otf2_metric_instance(void *user, OTF2_MetricRef number,
                                                 OTF2_MetricRef of, OTF2_LocationRef recorder,
                                                 OTF2_MetricScope scope, uint64_t what)
{
    struct as_otf2_reading *t = user;
    const struct as_otf2_known_metric *class = as_vec_find(&t->metric, number, of);
    (void)recorder, (void)scope, (void)what;
    return class ? code_of(t, add_metric(t, number, class->member.n, class->member.at))
                 : OTF2_CALLBACK_SUCCESS;
}

OTF2_ErrorCode as_otf2_read_definitions(struct as_otf2_reading *t)
{
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(t->reader);
    OTF2_GlobalDefReaderCallbacks *c = OTF2_GlobalDefReaderCallbacks_New();
    uint64_t read_n;
    if (!definitions || !c) {
        OTF2_GlobalDefReaderCallbacks_Delete(c);
        return OTF2_ERROR_MEM_FAULT;
    }
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, on_otf2_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, on_otf2_string);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(c, on_otf2_node);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, on_otf2_region);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(c, on_otf2_process);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, on_otf2_location);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, on_otf2_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, on_otf2_comm);
    OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(c, on_otf2_metric_member);
    OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(c, on_otf2_metric);
    OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(c, on_otf2_metric_instance);
    as_otf2_place_callbacks(c);
    as_otf2_grid_callbacks(c);
    OTF2_ErrorCode rc = OTF2_Reader_RegisterGlobalDefCallbacks(t->reader, definitions, c, t);
    OTF2_GlobalDefReaderCallbacks_Delete(c);
    if (rc == OTF2_SUCCESS)
        rc = OTF2_Reader_ReadAllGlobalDefinitions(t->reader, definitions, &read_n);
    return rc;
}

/* ---- Relations ------------------------------------------------------------------------------- */

/* Returns the locations of the MPI ranks, by rank, or NULL without MPI. */
static const struct as_otf2_known_group *rank_locations(const struct as_otf2_reading *t)
{
    as_vec_foreach (&t->group, group)
        if (group->type == OTF2_GROUP_TYPE_COMM_LOCATIONS && group->paradigm == OTF2_PARADIGM_MPI)
            return group;
    return NULL;
}

const struct as_otf2_known_group *as_otf2_members_of(const struct as_otf2_reading *t, uint32_t comm)
{
    const uint32_t at = as_map_u64_get(&t->comms, comm);
    return at == AS_MAP_NONE ? NULL : as_vec_find(&t->group, number, t->comm.at[at].group);
}

static bool is_of_mpi(const struct as_otf2_known_group *group)
{
    return group && group->paradigm == OTF2_PARADIGM_MPI &&
           group->type == OTF2_GROUP_TYPE_COMM_GROUP;
}

void as_otf2_relate(struct as_otf2_reading *t)
{
    const struct as_otf2_known_group *ranks = rank_locations(t);
    bool has_world = false;
    for (size_t rank = 0; ranks && rank < ranks->member.n; rank++) {
        const struct as_otf2_known_thread *location =
            as_vec_find(&t->location, number, ranks->member.at[rank]);
        if (location && t->process.at[location->process].rank < 0)
            t->process.at[location->process].rank = (int64_t)rank;
    }
    as_vec_foreach (&t->comm, comm) {
        const struct as_otf2_known_group *group = as_vec_find(&t->group, number, comm->group);
        if (!ranks || !is_of_mpi(group))
            continue;
        const bool is_world = !has_world && group->member.n == ranks->member.n;
        has_world |= is_world;
        comm->comm = is_world ? 1 : 3 + (uint64_t)(comm - t->comm.at);
    }
}

/* ---- Output ------------------------------------------------------------------------------- */

static void define_comms(struct as_otf2_reading *t, const struct as_otf2_known_process *process)
{
    as_vec_foreach (&t->comm, comm) {
        const struct as_otf2_known_group *group = as_vec_find(&t->group, number, comm->group);
        for (size_t rank = 0; comm->comm && rank < group->member.n; rank++)
            if (group->member.at[rank] == (uint64_t)process->rank) {
                as_maker_comm(t->maker, process->made, comm->comm, comm->comm, rank,
                              group->member.at, group->member.n, comm->text);
                as_otf2_define_grids(t, comm->number, process->made, rank);
            }
    }
}

void as_otf2_define(struct as_otf2_reading *t)
{
    const struct as_otf2_known_group *ranks = rank_locations(t);
    uint32_t next = (uint32_t)t->region.n;
    as_vec_foreach (&t->member, member)
        member->name = ++next;
    as_vec_foreach (&t->process, process) {
        as_maker_fact(t->maker, process->made, "imported", t->path);
        as_vec_foreach (&t->region, region)
            as_maker_name(t->maker, process->made, (uint64_t)(region - t->region.at) + 1,
                          region->group, region->text);
        as_vec_foreach (&t->member, member)
            as_maker_name(t->maker, process->made, member->name, AS_TRACE_OF_COUNTED, member->text);
        as_otf2_define_places(t, process->made);
        if (!ranks || process->rank < 0)
            continue;
        as_maker_world(t->maker, process->made, (uint64_t)process->rank, ranks->member.n);
        define_comms(t, process);
    }
}

void as_otf2_free_definitions(struct as_otf2_reading *t)
{
    as_vec_foreach (&t->text, text)
        as_free(text->text);
    as_vec_foreach (&t->group, group)
        as_vec_fini(&group->member);
    as_vec_foreach (&t->metric, metric)
        as_vec_fini(&metric->member);
    as_otf2_free_grids(t);
    as_vec_fini(&t->text);
    as_vec_fini(&t->node);
    as_vec_fini(&t->source);
    as_vec_fini(&t->context);
    as_vec_fini(&t->generator);
    as_vec_fini(&t->region);
    as_vec_fini(&t->process);
    as_vec_fini(&t->location);
    as_vec_fini(&t->group);
    as_vec_fini(&t->comm);
    as_vec_fini(&t->member);
    as_vec_fini(&t->metric);
    as_map_u64_fini(&t->texts);
    as_map_u64_fini(&t->regions);
    as_map_u64_fini(&t->comms);
    as_map_u64_fini(&t->sources);
    as_map_u64_fini(&t->contexts);
}
