/* SPDX-License-Identifier: Apache-2.0 */
/* Files of variants, one a thread: foreign bytes, for the program could write there too. */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/orphan_file.h"
#include "decan/internal.h"

static int store_varied_record(struct as_varied_all *out, const struct as_patch_plan *plan,
                               const struct as_variant_record *record, double empty_ticks)
{
    const struct as_patch_region *region = as_patch_at(plan, &plan->region);
    if (record->region >= plan->region.n || record->kind >= AS_VARIANT_KINDS) {
        out->damaged++;
        return 0;
    }
    const double ticks = (double)record->ticks;
    const struct as_varied it = {.begun = record->t0,
                                 .ticks = ticks > empty_ticks ? ticks - empty_ticks : 0,
                                 .trips = (double)record->trips,
                                 .whole = (double)record->trips,
                                 .loop = region[record->region].first_loop,
                                 .thread = out->threads,
                                 .kind = record->kind,
                                 .flags = record->flags & ((1u << AS_VARIANT_TOGETHER) - 1)};
    const unsigned team = record->flags >> AS_VARIANT_TOGETHER;
    out->overlap_n += team > 1;
    out->team += team > 1 ? team : 0;
    return as_vec_push(&out->record, it);
}

static int store_varied_records(struct as_varied_all *out, const struct as_patch_plan *plan,
                                double orig_ticks, const struct as_variant_file *file)
{
    const double own_ticks = file->bare_ticks ? (double)file->bare_ticks : orig_ticks;
    for (uint64_t i = 0; i < file->records; i++) {
        const struct as_variant_record *record = &file->record[i];
        const double empty =
            record->kind == AS_VARIANT_ORIG ? own_ticks : (double)file->empty_ticks;
        if (store_varied_record(out, plan, record, empty) < 0)
            return AS_ERR_NOMEM;
    }
    out->lost += file->lost;
    out->spent_ns += (double)file->spent_ns;
    out->threads += file->records > 0;
    return 0;
}

static bool is_sound(const struct as_variant_file *file, uint64_t size_b)
{
    return size_b >= sizeof *file && file->magic == AS_VARIANT_MAGIC &&
           file->version == AS_PATCH_VERSION && file->records <= AS_VARIANT_RECORDS;
}

static int read_file(int directory, const char *name, const struct as_patch_plan *plan,
                     double orig_ticks, struct as_varied_all *out)
{
    struct as_left left;
    as_left_open(directory, name, UINT64_MAX, &left);
    const bool sound = left.at && is_sound(left.at, left.size_b);
    const int rc = sound ? store_varied_records(out, plan, orig_ticks, left.at) : 0;
    out->damaged += !sound;
    as_left_remove(&left);
    return rc;
}

int as_varied_read(const char *directory, const struct as_patch_plan *plan, double orig_ticks,
                   struct as_varied_all *out, struct as_error *err)
{
    int rc = 0;
    DIR *dir = opendir(directory);
    for (struct dirent *entry; rc == 0 && dir && (entry = readdir(dir));)
        if (strncmp(entry->d_name, AS_VARIANT_PREFIX, strlen(AS_VARIANT_PREFIX)) == 0)
            rc = read_file(dirfd(dir), entry->d_name, plan, orig_ticks, out);
    if (dir)
        closedir(dir);
    return rc < 0 ? as_error_nomem(err, "records of variants") : 0;
}

void as_varied_fini(struct as_varied_all *all)
{
    as_vec_fini(&all->record);
}
