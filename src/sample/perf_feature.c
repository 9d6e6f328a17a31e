/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the features of perf.data files (machine, command, build-ids, names of events), in the
 * header and in records. Source: see perf_header.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sample/perf_data.h"

/* Bit of `misc`: the build-id record has its length. */
#define MISC_BUILD_ID_SIZE (1u << 15)
/* Type of an AS_PERF_EVENT_UPDATE record. */
#define UPDATE_NAME 2u

/* ---- Features ------------------------------------------------------------------------------ */

/* Reads a length and a text with padding and a zero. Sets `*out` to NULL without a zero. */
static int read_text(struct as_perf_data *data, struct as_read *r, const char **out)
{
    uint32_t n = as_read_u32(r);
    struct as_read inner = as_read_sub(r, n);
    struct as_view text = as_read_string(&inner);
    *out = NULL;
    if (inner.bad || text.n == 0)
        return 0;
    *out = as_arena_strndup(&data->arena, text.p, text.n);
    return *out ? 0 : AS_ERR_NOMEM;
}

/* Options of `perf record` with a separate argument. */
static bool takes_word(const char *option)
{
    static const char *const known[] = {"--event",
                                        "--filter",
                                        "--pid",
                                        "--tid",
                                        "--realtime",
                                        "--cpu",
                                        "--count",
                                        "--output",
                                        "--freq",
                                        "--uid",
                                        "--mmap-pages",
                                        "--call-graph",
                                        "--delay",
                                        "--cgroup",
                                        "--branch-filter",
                                        "--clockid",
                                        "--proc-map-timeout",
                                        "--max-size",
                                        "--num-thread-synthesize",
                                        "--vmlinux",
                                        "--affinity",
                                        "--control",
                                        "--synth",
                                        "--debuginfod"};
    if (option[1] != '-') {
        /* The first letter with an argument decides. The argument may follow directly ("-F99"). */
        size_t i = 1;
        while (option[i] && !strchr("eptrCcoFumDGjk", option[i]))
            i++;
        return option[i] && option[i + 1] == 0;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(option, known[i]) == 0)
            return true;
    return false;
}

/* Returns the first word that is neither of perf nor one of its options; NULL if there is none. */
static const char *const *program_words(const char *const *argv, size_t n)
{
    size_t i = 1;
    while (i < n && strcmp(argv[i], "record") != 0)
        i++;
    for (i++; i < n; i++) {
        if (strcmp(argv[i], "--") == 0)
            return i + 1 < n ? argv + i + 1 : NULL;
        if (argv[i][0] != '-' || argv[i][1] == 0)
            return argv + i;
        i += takes_word(argv[i]);
    }
    return NULL;
}

static int read_command(struct as_perf_data *data, struct as_read *r)
{
    uint32_t n = as_read_u32(r);
    if (n == 0 || n > as_read_left(r) / 4)
        return 0;
    const char **argv = as_arena_array(&data->arena, const char *, n + 1);
    if (!argv)
        return AS_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        AS_TRY(read_text(data, r, &argv[i]));
        if (!argv[i])
            argv[i] = "";
    }
    if (r->bad)
        return 0;
    data->facts.perf_argv = argv;
    data->facts.argv = program_words(argv, n);
    return 0;
}

int as_perf_build_id(struct as_perf_data *data, uint16_t misc, struct as_read r)
{
    struct as_perf_build_id id = {.size_b = 20};
    as_read_skip(&r, 4); /* process id, not used */
    const uint8_t *bytes = as_read_bytes(&r, 20);
    uint8_t size_b = as_read_u8(&r);
    as_read_skip(&r, 3);
    struct as_view path = as_read_string(&r);
    if (r.bad || path.n == 0)
        return 0;
    memcpy(id.id, bytes, sizeof id.id);
    if ((misc & MISC_BUILD_ID_SIZE) && size_b <= 20)
        id.size_b = size_b;
    path.p = as_arena_strndup(&data->arena, path.p, path.n);
    if (!path.p)
        return AS_ERR_NOMEM;
    AS_TRY(as_map_view_put(&data->by_path, path, (uint32_t)data->build_id.n));
    return as_vec_push(&data->build_id, id);
}

static int read_build_ids(struct as_perf_data *data, struct as_read *r)
{
    while (as_read_left(r) >= sizeof(struct perf_event_header)) {
        struct perf_event_header header;
        memcpy(&header, r->at, sizeof header);
        if (header.size < sizeof header || header.size > as_read_left(r))
            return 0;
        struct as_read body = as_read_sub(r, header.size);
        as_read_skip(&body, sizeof header);
        AS_TRY(as_perf_build_id(data, header.misc, body));
    }
    return 0;
}

static int read_event_names(struct as_perf_data *data, struct as_read *r)
{
    uint32_t n = as_read_u32(r), attr_b = as_read_u32(r);
    for (uint32_t i = 0; i < n && i < data->event.n && !r->bad; i++) {
        const char *name;
        as_read_skip(r, attr_b);
        uint32_t ids = as_read_u32(r);
        AS_TRY(read_text(data, r, &name));
        as_read_skip(r, (uint64_t)ids * 8);
        if (!r->bad && name)
            data->event.at[i].name = name;
    }
    return 0;
}

static void read_clock(struct as_perf_data *data, struct as_read *r)
{
    as_read_skip(r, 8); /* version, clock */
    uint64_t wall_ns = as_read_u64(r), clock_ns = as_read_u64(r);
    if (r->bad || wall_ns == 0 || wall_ns > AS_TIME_MOST_NS || clock_ns > AS_TIME_MOST_NS)
        return;
    data->facts.clock_offset_ns = (int64_t)(wall_ns - clock_ns);
    data->facts.clock_offset_exact = true;
}

static int read_number_facts(struct as_perf_data *data, unsigned feature, struct as_read *r)
{
    struct as_perf_facts *facts = &data->facts;
    uint64_t a = feature == AS_FEATURE_NRCPUS ? as_read_u32(r) : as_read_u64(r);
    uint64_t b = feature == AS_FEATURE_NRCPUS        ? as_read_u32(r)
                 : feature == AS_FEATURE_SAMPLE_TIME ? as_read_u64(r)
                                                     : 0;
    if (r->bad)
        return 0;
    if (feature == AS_FEATURE_NRCPUS) {
        facts->cpus_online = (uint32_t)a;
        facts->cpus = (uint32_t)b;
    } else if (feature == AS_FEATURE_TOTAL_MEM) {
        facts->memory_b =
            a <= INT64_MAX >> 10 ? a << 10 : 0; /* in KiB; the documentation is wrong here */
    } else if (a <= b && b <= AS_TIME_MOST_NS) {
        facts->first_ns = a;
        facts->last_ns = b;
    }
    return 0;
}

int as_perf_feature(struct as_perf_data *data, unsigned feature, struct as_read r)
{
    struct as_perf_facts *facts = &data->facts;
    switch (feature) {
    case AS_FEATURE_BUILD_ID:
        return read_build_ids(data, &r);
    case AS_FEATURE_HOSTNAME:
        return read_text(data, &r, &facts->host);
    case AS_FEATURE_OSRELEASE:
        return read_text(data, &r, &facts->os_release);
    case AS_FEATURE_VERSION:
        return read_text(data, &r, &facts->perf_version);
    case AS_FEATURE_ARCH:
        return read_text(data, &r, &facts->arch);
    case AS_FEATURE_CPUDESC:
        return read_text(data, &r, &facts->cpu_model);
    case AS_FEATURE_CPUID:
        return read_text(data, &r, &facts->cpu_id);
    case AS_FEATURE_NRCPUS:
    case AS_FEATURE_TOTAL_MEM:
    case AS_FEATURE_SAMPLE_TIME:
        return read_number_facts(data, feature, &r);
    case AS_FEATURE_CMDLINE:
        return read_command(data, &r);
    case AS_FEATURE_EVENT_DESC:
        return read_event_names(data, &r);
    case AS_FEATURE_CLOCK_DATA:
        read_clock(data, &r);
        return 0;
    default:
        return 0;
    }
}

/* Parses a later name of an event. */
static int read_update(struct as_perf_data *data, struct as_read *r)
{
    uint64_t what = as_read_u64(r), id = as_read_u64(r);
    struct as_view name = as_read_string(r);
    uint32_t event = as_map_u64_get(&data->by_id, id);
    if (what != UPDATE_NAME || r->bad || name.n == 0 || event == AS_MAP_NONE)
        return 0;
    data->event.at[event].name = as_arena_strndup(&data->arena, name.p, name.n);
    return data->event.at[event].name ? 0 : AS_ERR_NOMEM;
}

int as_perf_own_record(struct as_perf_data *data, const struct perf_event_header *header,
                       const uint8_t *bytes)
{
    struct as_read r = as_read_of(bytes + sizeof *header, header->size - sizeof *header);
    uint64_t feature;
    if (header->type == AS_PERF_HEADER_ATTR) {
        uint32_t attr_b = 0;
        if (data->at || as_read_left(&r) < PERF_ATTR_SIZE_VER0) /* reading has begun */
            return 0;
        memcpy(&attr_b, r.at + 4, sizeof attr_b);
        const uint8_t *attr = as_read_bytes(&r, attr_b);
        return attr && attr_b >= PERF_ATTR_SIZE_VER0 ? as_perf_add_event(data, attr, attr_b, &r)
                                                     : 0;
    }
    switch (header->type) {
    case AS_PERF_BUILD_ID:
        return as_perf_build_id(data, header->misc, r);
    case AS_PERF_EVENT_UPDATE:
        return read_update(data, &r);
    case AS_PERF_FEATURE:
        feature = as_read_u64(&r);
        return feature < AS_FEATURES ? as_perf_feature(data, (unsigned)feature, r) : 0;
    default:
        return 0;
    }
}
