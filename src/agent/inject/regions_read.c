/* SPDX-License-Identifier: Apache-2.0 */
/* Files of regions: foreign bytes, for the program could write there too. */
#include "agent/inject/regions_read.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/io_full.h"

/* Of what a copy says: the program may write on. */
static bool make_fact(const struct as_regions *it, const struct as_region_row *row,
                      struct as_region_fact *out)
{
    if (row->name == 0 || row->name > AS_REGIONS_NAMES_N)
        return false;
    const struct as_region_name *name = &it->name[row->name - 1];
    *out = (struct as_region_fact){.kind = name->kind,
                                   .pid = it->pid,
                                   .tid = row->tid,
                                   .n = row->n,
                                   .ns = row->ns,
                                   .unmatched = row->unmatched,
                                   .open = row->depth > 0,
                                   .sum = row->sum,
                                   .least = row->least,
                                   .most = row->most};
    memcpy(out->name, name->text, sizeof out->name);
    out->name[sizeof out->name - 1] = 0;
    return name->state == 2 && name->kind >= AS_REGION_TIMED && name->kind <= AS_REGION_DATUM &&
           out->n < INT64_MAX && out->ns < INT64_MAX && isfinite(row->sum);
}

static int read_region_rows(const struct as_regions *it, struct as_region_facts *out)
{
    uint32_t n = it->rows < AS_REGIONS_ROWS_N ? it->rows : AS_REGIONS_ROWS_N;
    out->lost += it->lost;
    for (uint32_t i = 0; i < n; i++) {
        struct as_region_fact fact;
        if (!make_fact(it, &it->row[i], &fact))
            out->damaged++;
        else if (as_vec_push(&out->at, fact) < 0)
            return AS_ERR_NOMEM;
    }
    return 0;
}

static int read_file(int directory, const char *name, struct as_regions *room,
                     struct as_region_facts *out)
{
    const int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status;
    const bool whole = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                       as_whole_read(fd, room, sizeof *room) == sizeof *room &&
                       room->magic == AS_REGIONS_MAGIC && room->version == AS_REGIONS_VERSION;
    if (fd >= 0)
        close(fd);
    unlinkat(directory, name, 0);
    out->damaged += !whole;
    return whole ? read_region_rows(room, out) : 0;
}

int as_regions_read(const char *directory, struct as_region_facts *out, struct as_error *err)
{
    static const char prefix[] = AS_REGIONS_PREFIX ".";
    int rc = 0;
    DIR *dir = opendir(directory);
    struct as_regions *room = dir ? as_calloc(1, sizeof *room) : NULL;
    if (dir && !room)
        rc = AS_ERR_NOMEM;
    for (struct dirent *entry; rc == 0 && dir && (entry = readdir(dir));)
        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0)
            rc = read_file(dirfd(dir), entry->d_name, room, out);
    as_free(room);
    if (dir)
        closedir(dir);
    return rc < 0 ? as_error_nomem(err, "what the program says of itself") : 0;
}

void as_region_facts_fini(struct as_region_facts *facts)
{
    as_vec_fini(&facts->at);
}
