/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call sites: a routine, and the place in the file that calls it. Processes map a file at different
 * addresses. The same place in a known file is one site in all processes.
 */
#include <string.h>

#include "analytics/state/walking.h"
#include "base/error.h"

static uint64_t hash_of_place(const struct as_site *site)
{
    const uint64_t hash = as_hash_mix((uintptr_t)site->routine, site->in_file);
    return site->place ? as_hash_text(as_hash_mix(hash, site->place->line), site->place->linkage)
                       : hash;
}

static bool is_one_site(const struct as_site *a, const struct as_site *b)
{
    if (a->routine != b->routine || a->in_file != b->in_file || a->is_function != b->is_function ||
        !a->module != !b->module || !a->place != !b->place)
        return false;
    if (a->module)
        return strcmp(a->module, b->module) == 0;
    return a->place->line == b->place->line && strcmp(a->place->linkage, b->place->linkage) == 0 &&
           strcmp(a->place->file, b->place->file) == 0 &&
           strcmp(a->place->code, b->place->code) == 0;
}

/* The site of a place in a file, or a new one. */
static int find_place(struct as_trace_walk *walk, const struct as_site *site, uint32_t *out)
{
    const uint64_t hash = hash_of_place(site);
    if (!site->module && !site->place) {
        AS_TRY(as_vec_push(&walk->out->site, *site));
        *out = (uint32_t)(walk->out->site.n - 1);
        return 0;
    }
    for (struct as_probe probe = as_index_probe(&walk->places, hash);
         (*out = as_index_next(&walk->places, &probe)) != AS_INDEX_NONE;)
        if (is_one_site(&walk->out->site.at[*out], site))
            return 0;
    AS_TRY(as_vec_push(&walk->out->site, *site));
    *out = (uint32_t)(walk->out->site.n - 1);
    return as_index_add(&walk->places, hash, *out);
}

int as_walk_site(struct as_trace_walk *walk, const struct as_walker *walker,
                 const struct as_open_call *frame, uint32_t *out)
{
    struct as_site_seen seen = {.routine = frame->routine,
                                .process = frame->address ? walker->process : AS_WAIT_UNKNOWN,
                                .address = frame->address};
    uint64_t hash = as_hash_mix(as_hash_mix(seen.routine, seen.process), seen.address);
    uint32_t at;
    *out = 0;
    if (walk->is_watched) /* without a consumer */
        return 0;
    for (struct as_probe probe = as_index_probe(&walk->sites, hash);
         (at = as_index_next(&walk->sites, &probe)) != AS_INDEX_NONE;) {
        const struct as_site_seen *known = &walk->seen.at[at];
        if (known->routine == seen.routine && known->process == seen.process &&
            known->address == seen.address) {
            *out = known->site;
            return 0;
        }
    }
    struct as_site site = {.routine = walk->text.at[frame->routine],
                           .group = frame->group,
                           .process = seen.process,
                           .address = seen.address,
                           .is_function = frame->is_function};
    if (seen.address) {
        const struct as_trace_process *process = &walk->trace->process.at[walker->process];
        const struct as_trace_module *module =
            as_trace_module_of(process, seen.address, &site.in_file);
        site.module = module ? module->path : NULL;
        site.place = module ? NULL : as_trace_place_of(process, seen.address);
    }
    AS_TRY(find_place(walk, &site, &seen.site));
    *out = seen.site;
    AS_TRY(as_vec_push(&walk->seen, seen));
    return as_index_add(&walk->sites, hash, (uint32_t)(walk->seen.n - 1));
}
