/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the results of points. The files of threads are untrusted; they are added up and removed.
 * Each site then gets its part.
 */
#include <dirent.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/orphan_file.h"
#include "mil/probe.h"
#include "mil/run.h"

#define FILE_MOST_B (1ull << 32)

_Static_assert((int)AS_PROBE_FREQUENT == (int)AS_PROBE_TOP, "as many as threads keep");
_Static_assert((int)AS_PROBE_RESULT_ENDS == (int)AS_PROBE_ENDS, "as many as threads keep");
_Static_assert((int)AS_PROBE_RESULT_BUCKETS == (int)AS_PROBE_BUCKETS, "as many as threads keep");

void as_probe_bucket(unsigned bucket, bool is_real, double *low, double *high)
{
    const bool negative = bucket < AS_PROBE_BUCKET_ZERO;
    const int power =
        (int)(negative ? AS_PROBE_BUCKET_ZERO - 1 - bucket : bucket - AS_PROBE_BUCKET_ZERO - 1) -
        (is_real ? AS_PROBE_EXPONENT : 0);
    *low = *high = 0;
    if (bucket == AS_PROBE_BUCKET_ZERO || bucket >= AS_PROBE_BUCKETS)
        return;
    *low = negative ? -ldexp(1, power + 1) : ldexp(1, power);
    *high = negative ? -ldexp(1, power) : ldexp(1, power + 1);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static void add_timer(struct as_probe_timer *sum, const struct as_probe_timer *one)
{
    if (one->instances && (!sum->instances || one->least < sum->least))
        sum->least = one->least;
    if (one->largest > sum->largest)
        sum->largest = one->largest;
    sum->instances += one->instances;
    sum->ticks += one->ticks;
    sum->nested += one->nested;
    /* an instance was open when the thread or the program ended */
    sum->cut += one->cut + (one->sp != 0);
    sum->lost += one->lost;
}

static double real_of(int64_t value)
{
    double real;
    memcpy(&real, &value, sizeof real);
    return real;
}

static bool is_less(int64_t a, int64_t b, bool is_real)
{
    return is_real ? real_of(a) < real_of(b) : a < b;
}

/* Adds the counts of equal values of several threads. Entries without a certain count are
 * skipped. */
static void merge_top(struct as_probed_value *sum, const struct as_probe_values *one)
{
    for (unsigned i = 0; i < AS_PROBE_TOP; i++) {
        const struct as_probe_top *top = &one->top[i];
        struct as_probe_top *same = NULL;
        if (!top->n || top->n < top->over)
            continue;
        as_vec_foreach (&sum->top, it)
            if (it->value == top->value)
                same = it;
        if (!same) {
            sum->failed |= as_vec_push(&sum->top, *top) < 0;
            continue;
        }
        same->n += top->n;
        same->over += top->over;
    }
}

/* Returns a 128-bit sum as a double. If the sum fits into 64 bits, the upper half is only the
 * sign. The sum of both halves would then lose digits. */
static double whole_sum(const struct as_probe_values *one)
{
    const int64_t low = (int64_t)one->sum_low;
    return one->sum_high == (low < 0 ? -1 : 0)
               ? (double)low
               : ldexp((double)one->sum_high, 64) + (double)one->sum_low;
}

static void add_values(struct as_probed_value *sum, const struct as_probe_values *one)
{
    const uint64_t ordered = one->n - one->unordered;
    if (one->n < one->unordered)
        return;
    if (ordered && (sum->n == sum->unordered || is_less(one->least, sum->least, sum->is_real)))
        sum->least = one->least;
    if (ordered && (sum->n == sum->unordered || is_less(sum->largest, one->largest, sum->is_real)))
        sum->largest = one->largest;
    sum->n += one->n;
    sum->unordered += one->unordered;
    sum->missed += one->missed;
    sum->lost += one->lost;
    sum->sum += sum->is_real ? real_of((int64_t)one->sum_low) : whole_sum(one);
    for (unsigned i = 0; i < AS_PROBE_BUCKETS; i++)
        sum->bucket[i] += one->bucket[i];
    merge_top(sum, one);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool is_probed(const struct as_probed *file, uint64_t size_b,
                      const struct as_probe_plan *plan)
{
    return size_b >= sizeof *file && file->magic == AS_PROBED_MAGIC &&
           file->version == AS_PATCH_VERSION && file->timers <= plan->timers &&
           file->values <= plan->values && file->tallies <= plan->tallies &&
           size_b >= as_probed_b(file->timers, file->values, file->tallies);
}

static int store_probed_ends(struct as_probed_all *out, const struct as_probed *file,
                             uint32_t place, const struct as_probe_values *values)
{
    struct as_probed_ends it = {.pid = file->pid, .tid = file->tid, .place = place, .n = values->n};
    memcpy(it.first, values->first, sizeof it.first);
    for (uint64_t i = 0; i < AS_PROBE_ENDS; i++) /* oldest first */
        it.last[i] = values->last[(values->n + i) % AS_PROBE_ENDS];
    return values->n ? as_vec_push(&out->ends, it) : 0;
}

static int add_file(struct as_probed_all *out, const struct as_probed *file)
{
    const uint8_t *bytes = (const uint8_t *)file;
    const struct as_probe_timer *timer = (const void *)(bytes + as_probed_timers_at());
    const struct as_probe_values *values =
        (const void *)(bytes + as_probed_values_at(file->timers));
    const struct as_probe_tally *tally =
        (const void *)(bytes + as_probed_tallies_at(file->timers, file->values));
    for (uint64_t i = 0; i < file->timers; i++)
        add_timer(&out->timer[i], &timer[i]);
    for (uint64_t i = 0; i < file->values; i++) {
        add_values(&out->value[i], &values[i]);
        if (out->value[i].failed || store_probed_ends(out, file, (uint32_t)i, &values[i]) < 0)
            return AS_ERR_NOMEM;
    }
    for (uint64_t i = 0; i < file->tallies; i++) {
        out->tally[i].calls += tally[i].calls;
        out->tally[i].lost += tally[i].lost;
        out->tally[i].ticks += tally[i].ticks;
        out->tally[i].timed += tally[i].timed;
    }
    if (file->empty_ticks && (!out->empty_ticks || file->empty_ticks < out->empty_ticks))
        out->empty_ticks = file->empty_ticks;
    out->no_library += file->no_library;
    return 0;
}

static int read_probed_file(struct as_probe_session *run, int directory, const char *name)
{
    struct as_left left;
    as_left_open(directory, name, FILE_MOST_B, &left);
    const bool sound = left.at && is_probed(left.at, left.size_b, &run->plan);
    const int rc = sound ? add_file(&run->probed, left.at) : 0;
    run->probed.damaged += !sound;
    as_left_remove(&left);
    return rc;
}

/* Marks the values that are floating-point numbers. */
static void note_types(struct as_probe_session *run)
{
    const struct as_patch_plan *plan = (const void *)run->plan.points;
    const struct as_patch_act *act = as_patch_at(plan, &plan->act);
    for (uint64_t i = 0; i < plan->act.n; i++)
        if (act[i].kind == AS_PATCH_ACT_KEEPS)
            run->probed.value[act[i].place].is_real =
                act[i].type == AS_PATCH_DOUBLE || act[i].type == AS_PATCH_FLOAT;
}

int as_probe_read_probed(void *context, const char *directory, struct as_error *err)
{
    struct as_probe_session *run = context;
    struct as_probed_all *out = &run->probed;
    out->timer = as_calloc(run->plan.timers + 1, sizeof *out->timer);
    out->value = as_calloc(run->plan.values + 1, sizeof *out->value);
    out->tally = as_calloc(run->plan.tallies + 1, sizeof *out->tally);
    if (!out->timer || !out->value || !out->tally)
        return as_error_nomem(err, "what probes measured");
    note_types(run);
    int rc = 0;
    DIR *dir = opendir(directory);
    for (struct dirent *entry; rc == 0 && dir && (entry = readdir(dir));)
        if (strncmp(entry->d_name, AS_PROBED_PREFIX, strlen(AS_PROBED_PREFIX)) == 0)
            rc = read_probed_file(run, dirfd(dir), entry->d_name);
    if (dir)
        closedir(dir);
    return rc < 0 ? as_error_nomem(err, "what probes measured") : 0;
}

void as_probe_probed_fini(struct as_probe_session *run)
{
    for (uint64_t i = 0; run->probed.value && i < run->plan.values; i++)
        as_vec_fini(&run->probed.value[i].top);
    as_free(run->probed.timer);
    as_free(run->probed.value);
    as_free(run->probed.tally);
    as_vec_fini(&run->probed.ends);
}

/* ---- Sites ----------------------------------------------------------------------------------- */

static union as_probe_number number_of(int64_t value, bool is_real)
{
    return is_real ? (union as_probe_number){.real = real_of(value)}
                   : (union as_probe_number){.whole = value};
}

static void convert_recorded_value(const struct as_probed_value *from, struct as_probe_recorded *to)
{
    const uint64_t ordered = from->n - from->unordered;
    *to = (struct as_probe_recorded){.is_real = from->is_real,
                                     .n = from->n,
                                     .missed = from->missed,
                                     .lost = from->lost,
                                     .unordered = from->unordered,
                                     .least = number_of(from->least, from->is_real),
                                     .largest = number_of(from->largest, from->is_real),
                                     .mean = ordered ? from->sum / (double)ordered : (double)NAN};
    memcpy(to->bucket, from->bucket, sizeof to->bucket);
    for (unsigned k = 0; k < AS_PROBE_FREQUENT; k++) {
        const struct as_probe_top *most = NULL;
        as_vec_foreach (&from->top, it) {
            bool taken = false;
            for (unsigned j = 0; j < k; j++)
                taken |= to->frequent[j].value.whole == it->value;
            if (!taken && (!most || it->n - it->over > most->n - most->over))
                most = it;
        }
        if (!most || most->n == most->over)
            break;
        to->frequent[k].value = number_of(most->value, from->is_real);
        to->frequent[k].n = most->n - most->over;
    }
}

static void compute_probe_time(const struct as_probe_session *run,
                               const struct as_probe_timer *from, struct as_probe_value *value)
{
    const double empty = (double)run->probed.empty_ticks, ns = run->tick.ns;
    const double n = (double)from->instances;
    value->entries = n;
    value->cut_n = from->cut;
    value->lost_n = from->lost;
    value->time_s = fmax(0, (double)from->ticks - n * empty) * ns / 1e9;
    value->cycles = fmax(0, (double)from->ticks - n * empty) * run->tick.cycles;
    if (!from->instances)
        return;
    value->least_s = fmax(0, (double)from->least - empty) * ns / 1e9;
    value->largest_s = fmax(0, (double)from->largest - empty) * ns / 1e9;
}

/* Sets the results of a site. Returns true if the agent observed the site at all. */
static bool read_site_values(struct as_probe_session *run, size_t site,
                             const struct as_mil_probe *probe)
{
    const struct as_probe_place *place = &run->plan.place[site];
    struct as_probe_value *value = &run->result->value[site];
    bool any = false;
    if (place->timer != AS_NONE) {
        const struct as_probe_timer *timer = &run->probed.timer[place->timer];
        compute_probe_time(run, timer, value);
        any |= timer->instances + timer->cut + timer->lost > 0;
    }
    for (size_t i = 0; value->recorded && i < probe->record.n; i++) {
        const struct as_probed_value *from = &run->probed.value[place->first_value + i];
        convert_recorded_value(from, &value->recorded[i]);
        any |= from->n + from->missed + from->lost > 0;
    }
    for (size_t i = 0; i < probe->call.n; i++) {
        const struct as_probe_tally *tally = &run->probed.tally[place->first_tally + i];
        value->calls = i ? value->calls + (double)tally->calls : (double)tally->calls;
        value->lost_n += tally->lost;
        any |= tally->calls + tally->lost > 0;
    }
    return any;
}

int as_probe_read_values(struct as_probe_session *run, const struct as_instances *all,
                         struct as_error *err)
{
    const struct as_probes *probes = run->request->probes;
    for (size_t i = 0; i < run->result->sites.n; i++) {
        struct as_probe_site *site = &run->result->sites.at[i];
        const struct as_mil_probe *probe = &probes->probe.at[site->probe];
        struct as_probe_value *value = &run->result->value[i];
        if (site->refusal || !as_probe_has_points(probes, site))
            continue;
        if (probe->record.n) {
            value->recorded = as_calloc(probe->record.n, sizeof *value->recorded);
            if (!value->recorded)
                return as_error_nomem(err, "what probes measured");
        }
        if (!read_site_values(run, i, probe))
            site->refusal = as_instances_why_not(all, as_probe_region_of(run, all->plan, site));
        if (!site->refusal && probe->call.n && run->probed.no_library)
            site->refusal = "its library could not be loaded in the program";
    }
    return 0;
}
