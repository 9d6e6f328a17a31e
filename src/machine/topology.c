/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the topology with hwloc (https://www.open-mpi.org/projects/hwloc/): packages, NUMA nodes,
 * caches, cores and CPUs. CPUs that this process may not use are included. Devices are not. Plugins
 * of hwloc stay disabled, because they would load GPU drivers. A file from another machine is
 * untrusted, and hwloc's parser crashes on some files, so a child process reads it.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hwloc.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/infile.h"
#include "base/limited.h"
#include "base/str.h"
#include "base/vec.h"
#include "machine/machine.h"
#include "machine/topology_wire.h"

#define XML_MAX_B ((size_t)256 << 20) /* hwloc takes an int */

struct topology_reading {
    struct as_topology topology; /* must be first: callers get a pointer to this member */
    struct as_arena arena;
    AS_VEC(struct as_place) place;
    hwloc_topology_t hwloc;
    cpu_set_t affinity;
    bool is_here; /* this machine, so affinity counts */
    bool failed;  /* out of memory */
};

static const char *const place_words[] = {
#define PLACE_WORD(name, word) [AS_PLACE_##name] = word,
    AS_PLACE_LIST(PLACE_WORD)
#undef PLACE_WORD
};

const char *as_place_word(unsigned kind)
{
    return kind < AS_PLACE_KINDS ? place_words[kind] : "?";
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* An environment variable that is changed during a load. Environment variables are hwloc's only
 * interface for these settings. */
struct overridden_variable {
    const char *name;
    char *before;
};

static void hold_variable(struct overridden_variable *held, const char *name, const char *value)
{
    const char *now = getenv(name);

    *held = (struct overridden_variable){name, now ? strdup(now) : NULL};
    setenv(name, value, 1);
}

static void restore_variable(const struct overridden_variable *held)
{
    if (held->before)
        setenv(held->name, held->before, 1);
    else
        unsetenv(held->name);
    free(held->before);
}

/* Configures hwloc; returns a negative number on failure. Without cpuid hwloc does not need to
 * bind itself to every CPU in turn. */
static int prepare_hwloc(hwloc_topology_t hwloc, struct as_view xml, bool with_cpuid)
{
    /* Keep memory attributes: hwloc derives kinds of memory from them. */
    const unsigned long flags =
        HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED | HWLOC_TOPOLOGY_FLAG_NO_DISTANCES;

    hwloc_topology_set_io_types_filter(hwloc, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(hwloc, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_NONE);
    if (!with_cpuid)
        hwloc_topology_set_components(hwloc, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    if (hwloc_topology_set_flags(hwloc, flags) < 0)
        return -1;
    return xml.p ? hwloc_topology_set_xmlbuffer(hwloc, xml.p, (int)xml.n + 1) : 0;
}

static bool load_once(struct topology_reading *t, const char *root, struct as_view xml,
                      bool with_cpuid)
{
    struct overridden_variable plugins, fsroot, quiet;

    hold_variable(&plugins, "HWLOC_PLUGINS_PATH", "/nonexistent");
    hold_variable(&quiet, "HWLOC_HIDE_ERRORS", "2");
    if (root)
        hold_variable(&fsroot, "HWLOC_FSROOT", root);
    bool loaded = hwloc_topology_init(&t->hwloc) == 0;
    if (loaded &&
        (prepare_hwloc(t->hwloc, xml, with_cpuid) < 0 || hwloc_topology_load(t->hwloc) < 0)) {
        hwloc_topology_destroy(t->hwloc);
        loaded = false;
    }
    if (root)
        restore_variable(&fsroot);
    restore_variable(&quiet);
    restore_variable(&plugins);
    return loaded;
}

static bool knows_caches(hwloc_topology_t hwloc)
{
    return hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_L1CACHE) > 0;
}

static int load_hwloc(struct topology_reading *t, const char *root, const char *xml,
                      struct as_error *err)
{
    const struct as_view none = {0};
    struct as_view text = none;
    char path[PATH_MAX], *bytes = NULL;

    if (xml)
        AS_TRY(
            as_infile_read(xml, "the topology", XML_MAX_B, AS_INFILE_PIPE, &bytes, &text.n, err));
    text.p = bytes;
    if (root) {
        snprintf(path, sizeof path, "%s/sys/devices/system/cpu", root);
        if (access(path, R_OK) < 0)
            return as_error_set(err, AS_ERR_NOT_FOUND, "%s: not a recorded machine: %s", path,
                                strerror(errno));
    }
    const bool loaded = load_once(t, root, text, false);
    as_free(bytes);
    if (!loaded)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: not a machine description that hwloc can read",
                            xml    ? xml
                            : root ? root
                                   : "this machine");
    if (root || xml || knows_caches(t->hwloc))
        return 0;
    hwloc_topology_destroy(t->hwloc);
    if (!load_once(t, root, none, true))
        return as_error_set(err, AS_ERR_CORRUPT, "this machine: hwloc cannot read it");
    return 0;
}

/* ---- Tree -------------------------------------------------------------------------------- */

static int kind_of(hwloc_obj_type_t type)
{
    switch (type) {
    case HWLOC_OBJ_MACHINE:
        return AS_PLACE_MACHINE;
    case HWLOC_OBJ_PACKAGE:
        return AS_PLACE_PACKAGE;
    case HWLOC_OBJ_DIE:
        return AS_PLACE_DIE;
    case HWLOC_OBJ_GROUP:
        return AS_PLACE_GROUP;
    case HWLOC_OBJ_NUMANODE:
        return AS_PLACE_NUMA;
    case HWLOC_OBJ_CORE:
        return AS_PLACE_CORE;
    case HWLOC_OBJ_PU:
        return AS_PLACE_PU;
    default:
        return hwloc_obj_type_is_cache(type) ? AS_PLACE_CACHE : -1;
    }
}

static void describe_cache(const struct hwloc_cache_attr_s *cache, struct as_place *place)
{
    place->level = (uint8_t)cache->depth;
    place->cache = cache->type == HWLOC_OBJ_CACHE_DATA          ? 'd'
                   : cache->type == HWLOC_OBJ_CACHE_INSTRUCTION ? 'i'
                                                                : 'u';
    place->size_b = cache->size;
    place->line_b = cache->linesize;
    place->ways = cache->associativity < 0 ? UINT16_MAX : (uint16_t)cache->associativity;
}

static bool may_use(const struct topology_reading *t, hwloc_obj_t object)
{
    const unsigned number = object->os_index;

    return hwloc_bitmap_isset(hwloc_topology_get_allowed_cpuset(t->hwloc), number) &&
           (!t->is_here || number >= CPU_SETSIZE || CPU_ISSET(number, &t->affinity));
}

static int16_t efficiency_of(const struct topology_reading *t, hwloc_obj_t object)
{
    int efficiency = -1;

    if (hwloc_cpukinds_get_nr(t->hwloc, 0) < 2)
        return -1;
    const int kind = hwloc_cpukinds_get_by_cpuset(t->hwloc, object->cpuset, 0);
    if (kind < 0 ||
        hwloc_cpukinds_get_info(t->hwloc, (unsigned)kind, NULL, &efficiency, NULL, NULL, 0) < 0)
        return -1;
    return (int16_t)(efficiency >= 0 ? efficiency : kind);
}

static void describe_place(struct topology_reading *t, hwloc_obj_t object, struct as_place *place)
{
    place->number = object->os_index == HWLOC_UNKNOWN_INDEX ? -1 : (int32_t)object->os_index;
    switch (place->kind) {
    case AS_PLACE_CACHE:
        describe_cache(&object->attr->cache, place);
        break;
    case AS_PLACE_NUMA:
        place->size_b = object->attr->numanode.local_memory;
        place->memory = object->subtype
                            ? as_arena_strndup(&t->arena, object->subtype, strlen(object->subtype))
                            : "DRAM";
        t->failed |= !place->memory;
        break;
    case AS_PLACE_CORE:
        place->efficiency = efficiency_of(t, object);
        break;
    case AS_PLACE_PU:
        place->usable = may_use(t, object);
        break;
    default:
        break;
    }
}

/* Adds an object and its children. The limit on `depth` keeps untrusted files from exhausting
 * the stack. */
static void add_place(struct topology_reading *t, hwloc_obj_t object, uint32_t parent,
                      unsigned depth)
{
    const int kind = kind_of(object->type);
    const uint32_t index = kind < 0 ? parent : (uint32_t)t->place.n;

    if (t->failed || depth > 64)
        return;
    if (kind >= 0) {
        struct as_place place = {.kind = (uint8_t)kind, .parent = parent, .efficiency = -1};
        describe_place(t, object, &place);
        t->failed |= as_vec_push(&t->place, place) < 0;
    }
    for (hwloc_obj_t m = object->memory_first_child; m; m = m->next_sibling)
        add_place(t, m, index, depth + 1);
    for (unsigned i = 0; i < object->arity; i++)
        add_place(t, object->children[i], index, depth + 1);
}

static int64_t count_type(const struct topology_reading *t, hwloc_obj_type_t type)
{
    const int n = hwloc_get_nbobjs_by_type(t->hwloc, type);
    return n > 0 ? n : -1;
}

/* Sets `memory_most` to the memory kind of the largest NUMA node; of equal sizes, the last one
 * counts. */
static void find_memory(struct as_topology *out)
{
    uint64_t max_b = 0;

    for (size_t i = 0; i < out->place_n; i++) {
        const struct as_place *p = &out->place[i];

        if (p->kind != AS_PLACE_NUMA || p->size_b < max_b)
            continue;
        max_b = p->size_b;
        out->memory_most = p->memory;
    }
}

static void summarise_tree(struct topology_reading *t)
{
    struct as_topology *out = &t->topology;

    out->place = t->place.at;
    out->place_n = t->place.n;
    out->package_n = count_type(t, HWLOC_OBJ_PACKAGE);
    out->numa_n = count_type(t, HWLOC_OBJ_NUMANODE);
    out->core_n = count_type(t, HWLOC_OBJ_CORE);
    out->cpu_n = count_type(t, HWLOC_OBJ_PU);
    out->core_kind_n = hwloc_cpukinds_get_nr(t->hwloc, 0);
    out->core_kind_n = out->core_kind_n > 1 ? out->core_kind_n : 1;
    out->usable_cpu_n = t->is_here ? 0 : -1;
    as_vec_foreach (&t->place, p)
        if (t->is_here && p->kind == AS_PLACE_PU)
            out->usable_cpu_n += p->usable;
    find_memory(out);
}

static void find_model(struct topology_reading *t)
{
    const hwloc_obj_t package = hwloc_get_obj_by_type(t->hwloc, HWLOC_OBJ_PACKAGE, 0);
    const char *model = hwloc_obj_get_info_by_name(hwloc_get_root_obj(t->hwloc), "CPUModel");

    if (!model && package)
        model = hwloc_obj_get_info_by_name(package, "CPUModel");
    if (!model)
        return;
    t->topology.cpu_model = as_arena_strndup(&t->arena, model, strlen(model));
    t->failed |= !t->topology.cpu_model;
}

static int read_tree(struct topology_reading *t, const char *root, const char *xml,
                     struct as_error *err)
{
    AS_TRY(load_hwloc(t, root, xml, err));
    add_place(t, hwloc_get_root_obj(t->hwloc), 0, 0);
    find_model(t);
    summarise_tree(t);
    hwloc_topology_destroy(t->hwloc);
    return t->failed ? as_error_nomem(err, "the topology of the machine") : 0;
}

/* ---- Files of other machines ----------------------------------------------------------------- */

/* Runs in the child process; its memory is freed when the child exits. */
static int read_tree_of_file(void *context, struct as_str *answer, struct as_error *err)
{
    struct topology_reading t = {0};

    as_arena_init(&t.arena);
    AS_TRY(read_tree(&t, NULL, context, err));
    as_topology_encode(answer, &t.topology);
    return 0;
}

static int read_file(struct topology_reading *t, const char *xml, struct as_error *err)
{
    const struct as_limited limits = {.what = xml,
                                      .memory_b = (uint64_t)1 << 30,
                                      .cpu_s = 10,
                                      .wall_s = 300,
                                      .answer_max_b = (uint64_t)64 << 20};
    struct as_str answer = {0};
    int rc = as_limited_run(&limits, read_tree_of_file, (void *)(uintptr_t)xml, &answer, err);

    if (rc == 0 && !as_topology_get(answer.p, answer.n, &t->arena, &t->topology))
        rc =
            as_error_set(err, AS_ERR_CORRUPT,
                         "%s: damaged: incomplete description of a machine; use another copy", xml);
    if (rc == 0)
        find_memory(&t->topology);
    as_str_fini(&answer);
    return rc;
}

int as_topology_read(const char *root, const char *xml, struct as_topology **out,
                     struct as_error *err)
{
    struct topology_reading *t = as_calloc(1, sizeof *t);

    *out = NULL;
    if (!t)
        return as_error_nomem(err, "the topology of the machine");
    as_arena_init(&t->arena);
    t->is_here = !root && !xml && sched_getaffinity(0, sizeof t->affinity, &t->affinity) == 0;
    const int rc = xml ? read_file(t, xml, err) : read_tree(t, root, NULL, err);
    *out = &t->topology;
    if (rc < 0)
        as_topology_free(out);
    return rc;
}

void as_topology_free(struct as_topology **topology)
{
    struct topology_reading *t = (struct topology_reading *)*topology;

    if (!t)
        return;
    as_vec_fini(&t->place);
    as_arena_fini(&t->arena);
    as_free(t);
    *topology = NULL;
}

/* ---- Queries ----------------------------------------------------------------------------- */

static const struct as_place *find_cpu(const struct as_topology *topology, unsigned cpu)
{
    for (size_t i = 0; i < topology->place_n; i++)
        if (topology->place[i].kind == AS_PLACE_PU && topology->place[i].number == (int)cpu)
            return &topology->place[i];
    return NULL;
}

static bool is_inside(const struct as_topology *topology, const struct as_place *place,
                      uint32_t outer)
{
    const struct as_place *at = place;

    for (;;) {
        const uint32_t index = (uint32_t)(at - topology->place);
        if (index == outer)
            return true;
        if (at->parent == index)
            return false;
        at = &topology->place[at->parent];
    }
}

/* If several nodes share one place (kinds of memory), the first one is returned: the kernel
 * allocates from it by default. */
int as_topology_numa_of(const struct as_topology *topology, unsigned cpu)
{
    const struct as_place *pu = find_cpu(topology, cpu);
    int found = -1;
    uint32_t nearest = 0;

    for (size_t i = 0; pu && i < topology->place_n; i++) {
        const struct as_place *p = &topology->place[i];
        if (p->kind == AS_PLACE_NUMA && is_inside(topology, pu, p->parent) &&
            (found < 0 || p->parent > nearest)) {
            found = p->number;
            nearest = p->parent;
        }
    }
    return found;
}

uint64_t as_topology_cache_b(const struct as_topology *topology, unsigned cpu, unsigned level,
                             unsigned *sharers)
{
    const struct as_place *pu = find_cpu(topology, cpu);

    for (size_t i = 0; pu && i < topology->place_n; i++) {
        const struct as_place *p = &topology->place[i];
        if (p->kind != AS_PLACE_CACHE || p->level != level || p->cache == 'i' ||
            !is_inside(topology, pu, (uint32_t)i))
            continue;
        if (sharers) {
            *sharers = 0;
            for (size_t k = i; k < topology->place_n; k++)
                *sharers += topology->place[k].kind == AS_PLACE_PU &&
                            is_inside(topology, &topology->place[k], (uint32_t)i);
        }
        return p->size_b;
    }
    if (sharers)
        *sharers = 0;
    return 0;
}

static uint32_t core_of(const struct as_topology *topology, const struct as_place *pu)
{
    const struct as_place *at = pu;

    while (at->kind != AS_PLACE_CORE && at->parent != (uint32_t)(at - topology->place))
        at = &topology->place[at->parent];
    return (uint32_t)((at->kind == AS_PLACE_CORE ? at : pu) - topology->place);
}

size_t as_topology_cores(const struct as_topology *topology, int numa, int *cpu, size_t most)
{
    uint32_t last = UINT32_MAX; /* the threads of a core are adjacent in the tree */
    size_t n = 0;

    for (size_t i = 0; i < topology->place_n; i++) {
        const struct as_place *p = &topology->place[i];
        if (p->kind != AS_PLACE_PU || !p->usable || p->number < 0 ||
            (numa >= 0 && as_topology_numa_of(topology, (unsigned)p->number) != numa))
            continue;
        const uint32_t core = core_of(topology, p);
        if (core != last && n < most)
            cpu[n] = p->number;
        n += core != last;
        last = core;
    }
    return n;
}
