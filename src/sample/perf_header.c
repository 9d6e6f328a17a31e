/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens perf.data files: the header and its sections, and for pipe files the records that replace
 * them. Source: the kernel's tools/perf/Documentation/perf.data-file-format.txt.
 */
#include "sample/perf_data.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/untrusted_open.h"

#define PIPE_HEADER_B 16u
#define FILE_HEADER_B 104u
/* Max number of events. perf opens one event per CPU under one attr, so files have only a few. */
#define EVENTS_MOST 4096u

void as_perf_damaged(struct as_perf_data *data, const char *format, ...)
{
    va_list ap;
    if (data->damage[0])
        return;
    va_start(ap, format);
    vsnprintf(data->damage, sizeof data->damage, format, ap);
    va_end(ap);
}

/* ---- The file ------------------------------------------------------------------------------ */

static int system_error(const char *path, struct as_error *err)
{
    int code = errno == ENOENT || errno == ENOTDIR ? AS_ERR_NOT_FOUND
               : errno == EACCES || errno == EPERM ? AS_ERR_PERMISSION
                                                   : AS_ERR_IO;
    return as_error_set(err, code, "%s: cannot be read: %s", path, strerror(errno));
}

/* Returns the time of the last write in ns since 1970, or 0 for an invalid time. */
static int64_t written_ns(const struct stat *st)
{
    const int64_t most_s = AS_TIME_MOST_NS / 1000000000u - 1;
    return st->st_mtim.tv_sec < 0 || st->st_mtim.tv_sec > most_s
               ? 0
               : (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

static int map_file(struct as_perf_data *data, const char *path, struct as_error *err)
{
    struct stat st = {0};
    const int fd = as_foreign_open(AT_FDCWD, path, 0, &st);
    int rc = 0;
    if (fd < 0 && errno != EMEDIUMTYPE) {
        rc = system_error(path, err);
    } else if (S_ISDIR(st.st_mode)) {
        rc = as_error_set(err, AS_ERR_NOT_REGULAR,
                          "%s: is a directory of 'perf record --threads'; record without --threads",
                          path);
    } else if (fd < 0) {
        rc = as_error_set(err, AS_ERR_NOT_REGULAR,
                          "%s: is not a regular file; save the output of perf to a file first",
                          path);
    } else if (st.st_size < (off_t)PIPE_HEADER_B) {
        rc = as_error_set(err, AS_ERR_CORRUPT, "%s: not a perf file: it has %lld bytes", path,
                          (long long)st.st_size);
    } else {
        errno = as_filemap_open(fd, (size_t)st.st_size, path, &data->map);
        if (errno) {
            rc = errno == ENOMEM ? as_error_nomem(err, path) : system_error(path, err);
        } else {
            data->bytes = data->map.at;
            data->size_b = data->map.n;
            data->written_ns = written_ns(&st);
            data->facts.clock_offset_ns = data->written_ns;
            if (data->map.is_mapped)
                madvise(data->map.at, data->size_b, MADV_SEQUENTIAL);
        }
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Returns the bytes of a section that the file contains. */
static struct as_read section_of(const struct as_perf_data *data, struct as_perf_section section)
{
    if (section.offset >= data->size_b)
        return as_read_of(data->bytes, 0);
    uint64_t left = data->size_b - section.offset;
    return as_read_of(data->bytes + section.offset,
                      (size_t)(section.size < left ? section.size : left));
}

static struct as_perf_section read_section(struct as_read *r)
{
    struct as_perf_section section = {.offset = as_read_u64(r)};
    section.size = as_read_u64(r);
    return section;
}

/* ---- Events -------------------------------------------------------------------------------- */

int as_perf_add_event(struct as_perf_data *data, const uint8_t *attr, size_t attr_b,
                      struct as_read *ids)
{
    struct perf_event_attr copy = {0};
    struct as_perf_event event = {0};
    uint32_t index = (uint32_t)data->attr.n;
    if (index == EVENTS_MOST) {
        as_perf_damaged(data, "%s: names more than %u events: only those were read", data->path,
                        EVENTS_MOST);
        return 0;
    }
    memcpy(&copy, attr, attr_b < sizeof copy ? attr_b : sizeof copy);
    AS_TRY(as_vec_push(&data->attr, copy));
    AS_TRY(as_vec_push(&data->event, event));
    /* Each id is stored once in a valid file. Overlapping sections are damaged. */
    for (; as_read_left(ids) >= 8 && data->ids < data->size_b / 8; data->ids++)
        AS_TRY(as_map_u64_put(&data->by_id, as_read_u64(ids), index));
    return 0;
}

/* Reads entries of `entry_b` bytes: an attr and the section of its ids. */
static int read_attrs(struct as_perf_data *data, struct as_perf_section section, uint64_t entry_b,
                      struct as_error *err)
{
    struct as_read r = section_of(data, section);
    if (entry_b < PERF_ATTR_SIZE_VER0 + 16 || entry_b > 4096 || as_read_left(&r) < entry_b)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: damaged: the header has no events; record again", data->path);
    while (as_read_left(&r) >= entry_b) {
        const uint8_t *attr = as_read_bytes(&r, entry_b);
        struct as_read tail = as_read_of(attr + entry_b - 16, 16);
        struct as_read ids = section_of(data, read_section(&tail));
        if (as_perf_add_event(data, attr, (size_t)entry_b - 16, &ids) < 0)
            return as_error_nomem(err, data->path);
    }
    return 0;
}

/* ---- Files --------------------------------------------------------------------------------- */

/* Reads the feature sections. They are behind the data in the order of their bits. */
static int read_features(struct as_perf_data *data, const uint64_t *flags, struct as_error *err)
{
    if (data->data_to >= data->size_b)
        return 0;
    struct as_read r =
        as_read_of(data->bytes + data->data_to, (size_t)(data->size_b - data->data_to));
    for (unsigned i = 0; i < AS_FEATURES; i++) {
        if (!(flags[i / 64] >> i % 64 & 1))
            continue;
        struct as_perf_section section = read_section(&r);
        if (r.bad || section.offset > data->size_b ||
            section.size > data->size_b - section.offset) {
            as_perf_damaged(data, "%s: the machine description is truncated", data->path);
            break;
        }
        if (as_perf_feature(data, i, section_of(data, section)) < 0)
            return as_error_nomem(err, data->path);
    }
    return 0;
}

static int read_file_header(struct as_perf_data *data, struct as_error *err)
{
    struct as_read r = as_read_of(data->bytes, data->size_b);
    uint64_t flags[AS_FEATURES / 64];
    as_read_skip(&r, 16); /* magic, size */
    uint64_t entry_b = as_read_u64(&r);
    struct as_perf_section attrs = read_section(&r), at = read_section(&r);
    read_section(&r); /* event types: obsolete */
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        flags[i] = as_read_u64(&r);
    if (r.bad)
        return as_error_set(err, AS_ERR_CORRUPT, "%s: truncated in its header; record again",
                            data->path);
    AS_TRY(read_attrs(data, attrs, entry_b, err));
    if (at.offset < FILE_HEADER_B || at.offset > data->size_b)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: damaged: the header has no data section; record again",
                            data->path);
    data->data_from = at.offset;
    data->data_to = at.offset + at.size;
    /* perf writes the size at the end of the recording. */
    if (at.size == 0 || at.size > data->size_b - at.offset) {
        data->unfinished = true;
        as_perf_damaged(data,
                        at.size ? "%s: truncated; the rest was read"
                                : "%s: perf was stopped before the file was complete; the rest "
                                  "was read",
                        data->path);
        data->data_to = data->size_b;
        return 0;
    }
    return read_features(data, flags, err);
}

/* ---- Pipes --------------------------------------------------------------------------------- */

/* Reads the records that replace the header at the beginning. */
static int read_pipe_header(struct as_perf_data *data, struct as_error *err)
{
    struct perf_event_header header;
    const uint8_t *bytes;
    uint64_t at = PIPE_HEADER_B;
    data->facts.pipe = true;
    data->data_to = data->size_b;
    while ((bytes = as_perf_record_at(data, at, &header)) != NULL) {
        bool own = header.type >= AS_PERF_HEADER_ATTR && header.type != AS_PERF_COMPRESSED &&
                   header.type != AS_PERF_COMPRESSED2;
        if (!own && data->attr.n)
            break;
        if (own && as_perf_own_record(data, &header, bytes) < 0)
            return as_error_nomem(err, data->path);
        at += header.size;
        const uint64_t extra_b = as_perf_extra_b(&header, bytes);
        if (extra_b > data->data_to - at) {
            as_perf_damaged(data, "%s: truncated at its beginning", data->path);
            at = data->data_to;
            break;
        }
        at += extra_b;
    }
    data->data_from = at;
    if (data->attr.n == 0)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: has no events: it is damaged, or nothing was recorded; record "
                            "again",
                            data->path);
    return 0;
}

static int read_header(struct as_perf_data *data, struct as_error *err)
{
    struct as_read r = as_read_of(data->bytes, data->size_b);
    const char *magic = (const char *)as_read_bytes(&r, 8);
    uint64_t header_b = as_read_u64(&r);
    if (memcmp(magic, "2ELIFREP", 8) == 0)
        return as_error_set(err, AS_ERR_ARCH,
                            "%s: recorded on a big-endian machine; only x86-64 is supported",
                            data->path);
    if (memcmp(magic, "PERFFILE", 8) == 0 || memcmp(magic, "ELIFFREP", 8) == 0)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "%s: first version of perf's format (before 2012); record again",
                            data->path);
    if (memcmp(magic, "PERFILE2", 8) != 0)
        return as_error_set(err, AS_ERR_CORRUPT, "%s: not a perf file; use a file of 'perf record'",
                            data->path);
    return header_b == PIPE_HEADER_B ? read_pipe_header(data, err) : read_file_header(data, err);
}

/* ---- Opening ------------------------------------------------------------------------------- */

static int check_machine(const struct as_perf_data *data, struct as_error *err)
{
    const char *arch = data->facts.arch;
    if (!arch || strcmp(arch, "x86_64") == 0)
        return 0;
    return as_error_set(err, AS_ERR_ARCH, "%s: recorded on %s; only x86_64 is supported",
                        data->path, arch);
}

/* Sets the clock offset. Before, the offset was the time of the last write. */
static void place_in_time(struct as_perf_data *data)
{
    uint64_t last_ns = data->facts.last_ns ? data->facts.last_ns : data->facts.first_ns;
    if (!data->facts.clock_offset_exact)
        data->facts.clock_offset_ns -= (int64_t)last_ns;
    data->choice.clock_offset_ns = data->facts.clock_offset_ns;
    data->choice.written_ns = data->written_ns;
}

int as_perf_data_open(const char *path, struct as_perf_data **out, struct as_error *err)
{
    struct as_perf_data *data = as_calloc(1, sizeof *data);
    *out = NULL;
    if (!data)
        return as_error_nomem(err, path);
    as_arena_init(&data->arena);
    as_map_u64_init(&data->by_id);
    as_map_view_init(&data->by_path);
    data->path = as_arena_strndup(&data->arena, path, strlen(path));
    int rc = data->path ? map_file(data, path, err) : as_error_nomem(err, path);
    if (rc == 0)
        rc = read_header(data, err);
    if (rc == 0)
        rc = check_machine(data, err);
    if (rc == 0)
        rc = as_perf_choose(data, err);
    if (rc < 0) {
        as_perf_data_close(&data);
        return rc;
    }
    place_in_time(data);
    *out = data;
    return 0;
}

void as_perf_data_close(struct as_perf_data **data)
{
    struct as_perf_data *d = *data;
    if (!d)
        return;
    as_filemap_close(&d->map);
    as_perf_reset(d);
    as_vec_fini(&d->attr);
    as_vec_fini(&d->event);
    as_vec_fini(&d->build_id);
    as_vec_fini(&d->waiting);
    as_vec_fini(&d->block);
    as_map_u64_fini(&d->by_id);
    as_map_view_fini(&d->by_path);
    as_arena_fini(&d->arena);
    as_free(d);
    *data = NULL;
}

const struct as_perf_facts *as_perf_data_facts(const struct as_perf_data *data)
{
    return &data->facts;
}

const struct as_sample_choice *as_perf_data_choice(const struct as_perf_data *data)
{
    return &data->choice;
}

const struct as_sample_counts *as_perf_data_counts(const struct as_perf_data *data)
{
    return &data->counts;
}

const char *as_perf_data_damage(const struct as_perf_data *data)
{
    return data->damage;
}

void as_perf_data_progress(const struct as_perf_data *data, uint64_t *done, uint64_t *total)
{
    *total = data->data_to - data->data_from;
    *done = data->at > data->data_from ? data->at - data->data_from : 0;
}
