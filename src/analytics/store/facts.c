/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the results of a trace as rows of the tables trace and trace_* (tables.txt). */
#include "analytics/store/facts.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analytics/state/interest.h"
#include "base/error.h"
#include "base/untrusted_open.h"
#include "experiment/bins.h"
#include "object/executable.h"

/* ---- The trace, its threads, its routines ---------------------------------------------------- */

static int64_t whole_ns(double ns)
{
    return isnan(ns) ? 0 : (int64_t)llround(ns);
}

static int64_t count_ranks(const struct as_analysis *a)
{
    int64_t n = 0;
    as_vec_foreach (&a->location, location)
        n += location->rank >= 0 && location->thread == 0;
    return n;
}

/* Since the trace began; not known of a whole trace. */
static struct as_number range_edge(const struct as_traced *traced, int64_t ns)
{
    return traced->is_ranged ? as_known(ns - traced->analysis.whole.begin_ns)
                             : (struct as_number){0};
}

/* Returns an end of the part that efficiencies refer to, or none if they refer to all of it. */
static struct as_number efficiency_edge(const struct as_analysis *a, int64_t ns)
{
    return as_interest_is_part(&a->interest) ? as_known(ns - a->begin_ns) : (struct as_number){0};
}

static int add_trace_row(struct as_trace_facts *f, struct as_error *err)
{
    const struct as_traced *traced = f->traced;
    const struct as_analysis *a = &traced->analysis;
    const int64_t bin_ns = as_timeline_bin_ns(&traced->timeline, AS_TIMELINE_SHOWN);
    const struct as_row_trace row = {.run_id = f->run_id,
                                     .traced_run_id = f->traced_id,
                                     .begin_ns = a->begin_ns,
                                     .elapsed_ns = a->end_ns - a->begin_ns,
                                     .from_ns = range_edge(traced, a->begin_ns),
                                     .to_ns = range_edge(traced, a->end_ns),
                                     .efficient_from_ns = efficiency_edge(a, a->interest.begin_ns),
                                     .efficient_to_ns = efficiency_edge(a, a->interest.end_ns),
                                     .location_n = (int64_t)a->location.n,
                                     .rank_n = count_ranks(a),
                                     .events_n = (int64_t)a->events_n,
                                     .lost_n = (int64_t)traced->lost_n,
                                     .damaged_n = (int64_t)traced->damaged_n,
                                     .broken_n = (int64_t)a->broken_n,
                                     .matched_n = (int64_t)a->messages.matched_n,
                                     .sends_n = (int64_t)a->messages.sends_n,
                                     .receives_n = (int64_t)a->messages.receives_n,
                                     .unmet_n = (int64_t)a->unmet_n,
                                     .violated_n = (int64_t)a->violated_n,
                                     .missed_n = as_known((int64_t)a->missed_n),
                                     .doubtful_n = as_known((int64_t)a->doubtful_n),
                                     .summed_n = as_known((int64_t)a->summed_n),
                                     .filtered_n = as_known((int64_t)traced->filtered_n),
                                     .samples_lost_n = as_known((int64_t)traced->samples_lost_n),
                                     .waited_ns = traced->sums.waited_ns,
                                     .bin_ns = bin_ns,
                                     .bin_n = (a->end_ns - a->begin_ns + bin_ns - 1) / bin_ns,
                                     .record_ns = traced->record_ns,
                                     .cost_ns = whole_ns(as_traced_cost_ns(traced)),
                                     .cost_most_ns = whole_ns(as_traced_cost_most_ns(traced)),
                                     .pass = AS_ANALYTICS_PASS};
    return as_experiment_add_trace(f->experiment, &row, &f->trace_id, err);
}

/* Threads that were seen running: by process and thread number. */
static int map_thread_id(void *context, struct as_rows *row, struct as_error *err)
{
    const struct as_trace_facts *f = context;
    const struct as_analysis *a = &f->traced->analysis;
    (void)err;
    for (size_t i = 0; i < a->location.n; i++) {
        const struct as_location *l = &a->location.at[i];
        if (l->tid == (uint32_t)as_rows_integer(row, 2) &&
            f->traced->trace.process.at[l->process].pid == (uint32_t)as_rows_integer(row, 1) &&
            !f->thread_id[i])
            f->thread_id[i] = as_rows_integer(row, 0);
    }
    return 0;
}

/* Returns the name of the queue's stream up to the label. */
static const char *device_of(const struct as_trace_facts *f, const struct as_location *l,
                             char text[AS_TRACE_NAME_B])
{
    const struct as_trace_process *process = &f->traced->trace.process.at[l->process];
    const char *name = as_trace_stream_facts(process->thread.at[l->thread])->name;
    const char *colon = strrchr(name, ':');
    snprintf(text, AS_TRACE_NAME_B, "%.*s", colon ? (int)(colon - name) : 0, name);
    return text;
}

static int add_locations(struct as_trace_facts *f, struct as_error *err)
{
    const struct as_analysis *a = &f->traced->analysis;
    AS_TRY(as_rows_each(f->experiment,
                        "SELECT x.thread_id, p.pid, x.tid FROM thread x JOIN process p"
                        " USING (process_id) WHERE p.run_id = ?1 ORDER BY x.thread_id",
                        f->traced_id, map_thread_id, f, err));
    for (size_t i = 0; i < a->location.n; i++) {
        const struct as_location *l = &a->location.at[i];
        char device[AS_TRACE_NAME_B];
        const struct as_row_trace_location row = {
            .trace_id = f->trace_id,
            .number = (int64_t)i,
            .rank = l->rank >= 0 ? as_known(l->rank) : (struct as_number){0},
            .pid = f->traced->trace.process.at[l->process].pid,
            .tid = l->tid,
            .thread = l->thread,
            .queue = l->queue,
            .device = l->queue ? device_of(f, l, device) : NULL,
            .thread_id = f->thread_id[i],
            .begin_ns = l->span.begin_ns - a->begin_ns,
            .end_ns = l->span.end_ns - a->begin_ns,
            .events_n = (int64_t)l->events_n,
            .waiting_ns = f->traced->sums.waiting_ns[i],
            .late_ns = f->traced->sums.late_ns[i],
            .path_ns = f->traced->sums.path_ns[i]};
        AS_TRY(as_experiment_add_trace_location(f->experiment, &row, &f->location_id[i], err));
    }
    return 0;
}

static int add_sites(struct as_trace_facts *f, struct as_error *err)
{
    const struct as_analysis *a = &f->traced->analysis;
    for (size_t i = 0; i < a->site.n; i++) {
        const struct as_site *site = &a->site.at[i];
        struct as_row_trace_site row = {.trace_id = f->trace_id,
                                        .number = (int64_t)i,
                                        .routine = site->routine,
                                        .kind = as_trace_group_name(site->group),
                                        .address = site->address ? as_known((int64_t)site->address)
                                                                 : (struct as_number){0},
                                        .function_id = f->function_id[i],
                                        .line_id = f->line_id[i]};
        AS_TRY(as_experiment_add_trace_site(f->experiment, &row, &f->site_id[i], err));
    }
    return 0;
}

/* ---- What threads did ------------------------------------------------------------------------ */

static int add_states(const struct as_trace_facts *f, struct as_error *err)
{
    const struct as_analysis *a = &f->traced->analysis;
    for (size_t i = 0; i < a->location.n; i++)
        for (unsigned s = 0; s < AS_ACTIVITIES_N; s++) {
            const struct as_row_trace_state row = {.trace_location_id = f->location_id[i],
                                                   .position = s,
                                                   .name = as_activity_word((enum as_activity)s),
                                                   .title = as_activity_title((enum as_activity)s),
                                                   .time_ns = a->location.at[i].activity_ns[s]};
            if (row.time_ns > 0)
                AS_TRY(as_experiment_add_trace_state(f->experiment, &row, err));
        }
    return 0;
}

/* Thousandths of bins from `from` to `to`, up to the last that has any; "": none has. */
static void append_bins(struct as_str *out, const struct as_timeline *timeline, uint32_t location,
                        unsigned plane, unsigned level, uint32_t from, uint32_t to)
{
    const int64_t bin_ns = as_timeline_bin_ns(timeline, level);
    uint32_t next = from;
    as_str_clear(out);
    for (uint32_t i = from; i < to; i++) {
        const int64_t ns = as_timeline_ns(timeline, location, plane, level, i);
        const int64_t thousandths = (ns * 2000 + bin_ns) / (2 * bin_ns);
        as_bins_append(out, &next, i, thousandths);
    }
    as_bins_end(out);
}

static int add_timeline(const struct as_trace_facts *f, struct as_error *err)
{
    const struct as_timeline *timeline = &f->traced->timeline;
    struct as_str bins = {0};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < timeline->location_n; i++)
        for (unsigned s = 0; rc == 0 && s < AS_TIMELINE_PLANES_N; s++) {
            append_bins(&bins, timeline, i, s, AS_TIMELINE_SHOWN, 0,
                        timeline->bin_n >> AS_TIMELINE_SHOWN);
            const struct as_row_trace_timeline row = {.trace_location_id = f->location_id[i],
                                                      .position = s,
                                                      .name = as_timeline_word(s),
                                                      .title = as_timeline_title(s),
                                                      .bins = as_str_z(&bins)};
            rc = bins.failed ? as_error_nomem(err, "a time line")
                 : bins.n    ? as_experiment_add_trace_timeline(f->experiment, &row, err)
                             : 0;
        }
    as_str_fini(&bins);
    return rc;
}

static int add_level(const struct as_trace_facts *f, uint32_t location, unsigned level,
                     struct as_str *bins, struct as_error *err)
{
    const struct as_timeline *timeline = &f->traced->timeline;
    const int64_t bin_ns = as_timeline_bin_ns(timeline, level);
    const uint32_t bin_n = timeline->bin_n >> level;
    int rc = 0;
    for (uint32_t from = 0; from < bin_n && rc == 0; from += AS_BINS_OF_ROW)
        for (unsigned plane = 0; plane < AS_TIMELINE_PLANES_N && rc == 0; plane++) {
            const uint32_t to = bin_n - from < AS_BINS_OF_ROW ? bin_n : from + AS_BINS_OF_ROW;
            append_bins(bins, timeline, location, plane, level, from, to);
            const struct as_row_trace_level row = {.trace_location_id = f->location_id[location],
                                                   .level = level,
                                                   .segment = from / AS_BINS_OF_ROW,
                                                   .begin_ns = timeline->begin_ns -
                                                               f->traced->analysis.begin_ns +
                                                               (int64_t)from * bin_ns,
                                                   .bin_ns = bin_ns,
                                                   .position = plane,
                                                   .name = as_timeline_word(plane),
                                                   .bins = as_str_z(bins)};
            rc = bins->failed ? as_error_nomem(err, "a time line")
                 : bins->n    ? as_experiment_add_trace_level(f->experiment, &row, err)
                              : 0;
        }
    return rc;
}

static int add_levels(const struct as_trace_facts *f, struct as_error *err)
{
    struct as_str bins = {0};
    int rc = 0;
    for (unsigned level = 0; rc == 0 && level < AS_TIMELINE_LEVELS_N; level++)
        for (uint32_t i = 0; rc == 0 && i < f->traced->timeline.location_n; i++)
            rc = add_level(f, i, level, &bins, err);
    as_str_fini(&bins);
    return rc;
}

static int add_counters(const struct as_trace_facts *f, struct as_error *err)
{
    struct as_str bins = {0};
    int rc = 0;
    as_vec_foreach (&f->traced->counters.range, range) {
        as_counter_bins(range, &f->traced->timeline, &bins);
        const struct as_row_trace_counter row = {.trace_location_id =
                                                     f->location_id[range->location],
                                                 .name = range->text,
                                                 .unit = as_counter_unit(range),
                                                 .n = (int64_t)range->n,
                                                 .first = range->first,
                                                 .last = range->last,
                                                 .least = range->least,
                                                 .most = range->most,
                                                 .computing = as_known(range->computing),
                                                 .bins = as_str_z(&bins)};
        rc = bins.failed ? as_error_nomem(err, "readings of a counter")
                         : as_experiment_add_trace_counter(f->experiment, &row, err);
        if (rc < 0)
            break;
    }
    as_str_fini(&bins);
    return rc;
}

static int add_offs(const struct as_trace_facts *f, struct as_error *err)
{
    const int64_t begin_ns = f->traced->analysis.begin_ns;
    for (size_t i = 0; i < f->traced->analysis.location.n; i++)
        as_vec_foreach (&f->traced->gaps.at[i].gap, gap) {
            const struct as_row_trace_off row = {.trace_location_id = f->location_id[i],
                                                 .begin_ns = gap->begin_ns - begin_ns,
                                                 .end_ns = gap->end_ns - begin_ns,
                                                 .off_ns = gap->off_ns,
                                                 .n = (int64_t)gap->n,
                                                 .reason = as_gap_reason(gap->why)};
            AS_TRY(as_experiment_add_trace_off(f->experiment, &row, err));
        }
    return 0;
}

static int64_t site_of(const struct as_trace_facts *f, uint32_t site)
{
    return site == AS_WAIT_UNKNOWN ? 0 : f->site_id[site];
}

/* Calls of MPI alone have it. Sums of calls (--burst) do not tell waiting from transfer. */
static struct as_number transfer_of(const struct as_trace_facts *f, const struct as_site_sum *sum)
{
    const struct as_analysis *a = &f->traced->analysis;
    const bool is_mpi = as_activity_of_group(a->site.at[sum->site].group) == AS_ACTIVITY_MPI;
    return is_mpi && a->summed_n == 0 ? as_known(sum->transfer_ns) : (struct as_number){0};
}

static int add_calls(const struct as_trace_facts *f, struct as_error *err)
{
    as_vec_foreach (&f->traced->analysis.sum, sum) {
        const struct as_row_trace_call row = {.trace_location_id = f->location_id[sum->location],
                                              .trace_site_id = f->site_id[sum->site],
                                              .calls_n = (int64_t)sum->calls_n,
                                              .open_n = (int64_t)sum->open_n,
                                              .time_ns = sum->time_ns,
                                              .longest_ns = sum->most_ns,
                                              .waiting_ns = as_known(sum->waiting_ns),
                                              .transfer_ns = transfer_of(f, sum),
                                              .sent_b = (int64_t)sum->sent_b,
                                              .received_b = (int64_t)sum->received_b};
        AS_TRY(as_experiment_add_trace_call(f->experiment, &row, err));
    }
    return 0;
}

/* ---- Wait states ----------------------------------------------------------------------------- */

static int add_waits(const struct as_trace_facts *f, struct as_error *err)
{
    as_vec_foreach (&f->traced->sums.of_location, wait) {
        const struct as_row_trace_wait row = {.trace_location_id = f->location_id[wait->location],
                                              .trace_site_id = site_of(f, wait->site),
                                              .kind = as_wait_word((enum as_wait_kind)wait->kind),
                                              .title = as_wait_title((enum as_wait_kind)wait->kind),
                                              .n = (int64_t)wait->n,
                                              .time_ns = wait->time_ns,
                                              .longest_ns = wait->most_ns};
        AS_TRY(as_experiment_add_trace_wait(f->experiment, &row, err));
    }
    return 0;
}

static int add_late(const struct as_trace_facts *f, struct as_error *err)
{
    const struct as_delay_cost_list *list = &f->traced->analysis.blame;
    as_vec_foreach (&list->blame, blame) {
        const struct as_row_trace_late row = {.trace_location_id = f->location_id[blame->location],
                                              .trace_site_id = site_of(f, blame->site),
                                              .n = (int64_t)blame->n,
                                              .direct_ns = blame->direct_ns,
                                              .total_ns = blame->total_ns,
                                              .longest_ns = blame->most_ns,
                                              .elapsed_ns =
                                                  f->traced->sums.blame_ns[blame - list->blame.at]};
        AS_TRY(as_experiment_add_trace_late(f->experiment, &row, err));
    }
    return 0;
}

static double phase_share(double share)
{
    return isnan(share) ? share : 100 * share;
}

static int add_phases(const struct as_trace_facts *f, struct as_error *err)
{
    const struct as_analysis *a = &f->traced->analysis;
    int64_t number = 0;
    as_vec_foreach (&a->phase, phase) {
        const struct as_efficiency *e = &phase->efficiency;
        const struct as_row_trace_phase row = {
            .trace_id = f->trace_id,
            .number = number++,
            .name = phase->name,
            .iteration = phase->first ? as_known((int64_t)phase->first) : (struct as_number){0},
            .calls_n = (int64_t)phase->calls_n,
            .begin_ns = phase->begin_ns - a->begin_ns,
            .end_ns = phase->end_ns - a->begin_ns,
            .rank_n = phase->rank_n,
            .thread_n = phase->thread_n,
            .time_ns = whole_ns(e->elapsed_ns),
            .useful_ns = whole_ns(phase->useful_ns),
            .mpi_ns = whole_ns(phase->mpi_ns),
            .busiest_location_id =
                phase->busiest == AS_WAIT_UNKNOWN ? 0 : f->location_id[phase->busiest],
            .parallel_pct = phase_share(e->parallel),
            .balance_pct = phase_share(e->balance),
            .communication_pct = phase_share(e->communication),
            .mpi_parallel_pct = phase_share(e->mpi_parallel),
            .mpi_balance_pct = phase_share(e->mpi_balance),
            .mpi_communication_pct = phase_share(e->mpi_communication),
            .mpi_serialisation_pct = phase_share(e->mpi_serialisation),
            .mpi_transfer_pct = phase_share(e->mpi_transfer)};
        AS_TRY(as_experiment_add_trace_phase(f->experiment, &row, err));
    }
    return 0;
}

static int add_messages(const struct as_trace_facts *f, struct as_error *err)
{
    as_vec_foreach (&f->traced->analysis.traffic, traffic) {
        const struct as_row_trace_message row = {.trace_id = f->trace_id,
                                                 .from_rank = traffic->from,
                                                 .to_rank = traffic->to,
                                                 .n = (int64_t)traffic->messages_n,
                                                 .size_b = (int64_t)traffic->size_b};
        AS_TRY(as_experiment_add_trace_message(f->experiment, &row, err));
    }
    for (unsigned i = 0; i < AS_SIZE_CLASSES_N; i++) {
        const struct as_size_class *size = &f->traced->size[i];
        const struct as_row_trace_message_size row = {.trace_id = f->trace_id,
                                                      .from_b = as_size_class_from(i),
                                                      .below_b = as_size_class_from(i + 1),
                                                      .n = (int64_t)size->n,
                                                      .size_b = (int64_t)size->size_b,
                                                      .wait_ns = size->wait_ns};
        if (size->n)
            AS_TRY(as_experiment_add_trace_message_size(f->experiment, &row, err));
    }
    return 0;
}

static int add_exchanges(const struct as_trace_facts *f, struct as_error *err)
{
    as_vec_foreach (&f->traced->exchanges.row, exchange) {
        const struct as_row_trace_exchange row = {.trace_id = f->trace_id,
                                                  .trace_site_id = site_of(f, exchange->site),
                                                  .from_rank = exchange->from,
                                                  .to_rank = exchange->to,
                                                  .n = (int64_t)exchange->n,
                                                  .size_b = (int64_t)exchange->size_b,
                                                  .transfer_ns = exchange->transfer_ns,
                                                  .wait_ns = exchange->wait_ns};
        AS_TRY(as_experiment_add_trace_exchange(f->experiment, &row, err));
    }
    return 0;
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Writes a flag: gcc divides a loop with a static schedule without a call of the runtime. */
static int add_unshared(const struct as_trace_facts *f, struct as_error *err)
{
    const struct as_flag flag = {
        .run_id = f->run_id,
        .kind = AS_OBJECT_RUN,
        .object_id = f->run_id,
        .name = "worksharing_unseen",
        .text = "OpenMP parallel regions have no visible loop or other work sharing: gcc divides "
                "loops with a static schedule itself; use assay trace --functions '*._omp_fn.*' "
                "to time the work of each thread",
        .n = f->traced->filtered_n ? 0 : (int64_t)f->traced->analysis.unshared_n,
        .pass = AS_ANALYTICS_PASS};
    return flag.n ? as_experiment_flag(f->experiment, &flag, err) : 0;
}

/* Programs that the command started and that take no library. */
struct static_programs {
    int64_t n; /* processes */
    char text[512];
};

static int note_static_program(void *context, struct as_rows *row, struct as_error *err)
{
    struct static_programs *programs = context;
    struct as_executable executable;
    const char *path = as_rows_text(row, 0);
    const int fd = path ? as_foreign_open(AT_FDCWD, path, 0, NULL) : -1;
    (void)err;
    if (fd >= 0 && as_executable_read(path, fd, &executable, NULL) == 0 && !executable.loader[0]) {
        if (!programs->n)
            snprintf(programs->text, sizeof programs->text,
                     "processes are not in the trace: %.300s is statically linked, so its calls "
                     "cannot be wrapped; link it dynamically",
                     path);
        programs->n += as_rows_integer(row, 1);
    }
    if (fd >= 0)
        close(fd);
    return 0;
}

static int add_static(const struct as_trace_facts *f, struct as_error *err)
{
    struct static_programs programs = {0};
    AS_TRY(as_rows_each(f->experiment,
                        "SELECT exe, count(*) FROM process WHERE run_id = ?1"
                        " GROUP BY exe ORDER BY exe",
                        f->traced_id, note_static_program, &programs, err));
    const struct as_flag flag = {.run_id = f->run_id,
                                 .kind = AS_OBJECT_RUN,
                                 .object_id = f->run_id,
                                 .name = "trace_static",
                                 .text = programs.text,
                                 .n = programs.n,
                                 .pass = AS_ANALYTICS_PASS};
    return flag.n ? as_experiment_flag(f->experiment, &flag, err) : 0;
}

static int store_trace_facts(void *context, struct as_error *err)
{
    struct as_trace_facts *f = context;
    AS_TRY(add_trace_row(f, err));
    AS_TRY(add_locations(f, err));
    AS_TRY(as_trace_places(f, err));
    AS_TRY(add_sites(f, err));
    AS_TRY(add_states(f, err));
    AS_TRY(add_timeline(f, err));
    AS_TRY(add_levels(f, err));
    AS_TRY(add_counters(f, err));
    AS_TRY(add_offs(f, err));
    AS_TRY(add_calls(f, err));
    AS_TRY(as_trace_sample_rows(f, err));
    AS_TRY(add_waits(f, err));
    AS_TRY(add_late(f, err));
    AS_TRY(add_messages(f, err));
    AS_TRY(add_exchanges(f, err));
    AS_TRY(add_phases(f, err));
    AS_TRY(as_trace_partial(f, err));
    AS_TRY(as_trace_clocks(f, err));
    AS_TRY(add_unshared(f, err));
    AS_TRY(add_static(f, err));
    AS_TRY(as_trace_unsimulated(f, err));
    AS_TRY(as_trace_gains(f, err));
    return as_trace_metrics(f, err);
}

int as_traced_write(struct as_experiment *experiment, int64_t run_id, int64_t traced_id,
                    const struct as_traced *traced, struct as_error *err)
{
    struct as_trace_facts f = {
        .experiment = experiment, .traced = traced, .run_id = run_id, .traced_id = traced_id};
    f.location_id = as_calloc(traced->analysis.location.n + 1, sizeof *f.location_id);
    f.thread_id = as_calloc(traced->analysis.location.n + 1, sizeof *f.thread_id);
    f.site_id = as_calloc(traced->analysis.site.n + 1, sizeof *f.site_id);
    f.function_id = as_calloc(traced->analysis.site.n + 1, sizeof *f.function_id);
    f.line_id = as_calloc(traced->analysis.site.n + 1, sizeof *f.line_id);
    f.sampled_function_id = as_calloc(traced->sampled.place.n + 1, sizeof *f.sampled_function_id);
    f.sampled_line_id = as_calloc(traced->sampled.place.n + 1, sizeof *f.sampled_line_id);
    const int rc = f.location_id && f.thread_id && f.site_id && f.function_id && f.line_id &&
                           f.sampled_function_id && f.sampled_line_id
                       ? as_experiment_write_pass(experiment, run_id, AS_ANALYTICS_PASS,
                                                  store_trace_facts, &f, err)
                       : as_error_nomem(err, "facts of a trace");
    as_free(f.location_id);
    as_free(f.thread_id);
    as_free(f.site_id);
    as_free(f.function_id);
    as_free(f.line_id);
    as_free(f.sampled_function_id);
    as_free(f.sampled_line_id);
    return rc;
}
