/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the traffic of the cache model to loops and functions, including their inner loops. */
#include "count/traffic.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "vprof/clones.h"

/* Lines that are replayed with all sets, in less than 1 s; then the sets are halved repeatedly. */
#define FULL_LINES (UINT64_C(1) << 23)
/* Additional time that a program may wait for the reader, as a share of its own time. */
#define PATIENCE_SHARE 0.15

/* ---- The run -------------------------------------------------------------------------------- */

static int threads_of_run(void *context, struct as_rows *row, struct as_error *err)
{
    (void)err;
    *(int64_t *)context = as_rows_integer(row, 0);
    return 0;
}

/* Counts the threads with at least a tenth of the CPU time of the busiest one. */
static const char threads_sql[] =
    "SELECT count(*) FROM thread t JOIN process p USING (process_id) WHERE p.run_id = ?1 AND"
    " 10 * t.cpu_ns > (SELECT max(u.cpu_ns) FROM thread u JOIN process q USING (process_id)"
    "  WHERE q.run_id = ?1)";

int as_level_traffic_prepare(struct as_level_traffic *t, struct as_error *err)
{
    const struct as_count_request *request = t->counting->request;
    int64_t threads = 1;
    if (request->caches)
        AS_TRY(as_level_traffic_parse(request->caches, t->level, &t->levels, err));
    else {
        AS_TRY(as_rows_each(t->counting->experiment, threads_sql, t->counting->run_id,
                            threads_of_run, &threads, err));
        AS_TRY(
            as_level_traffic_host(threads > 0 ? (unsigned)threads : 1, t->level, &t->levels, err));
    }
    t->is_ready = true;
    return as_level_replay_init(&t->replay, &t->plan, t->level, t->levels, FULL_LINES, err);
}

int as_level_traffic_begin(void *context, const char *directory, struct as_error *err)
{
    struct as_level_traffic *t = context;
    const double cpu_ns = as_clones_cpu_ns(t->counting->experiment, t->counting->run_id);
    const uint64_t patience_ns = AS_READER_PATIENCE_NS + (uint64_t)(PATIENCE_SHARE * cpu_ns);
    return as_reader_start(&t->reader, t->clones, &t->replay, patience_ns, directory, err);
}

int as_level_traffic_end(void *context, const char *directory, struct as_error *err)
{
    struct as_level_traffic *t = context;
    (void)directory;
    (void)err;
    as_reader_stop(&t->reader, true);
    t->is_read = true;
    return 0;
}

void as_level_traffic_fini(struct as_level_traffic *t)
{
    as_reader_stop(&t->reader, false);
    if (t->is_ready)
        as_level_replay_fini(&t->replay);
    as_address_plan_fini(&t->plan);
}

/* ---- Sums ----------------------------------------------------------------------------------- */

/* Accesses of a group by exact counts: with records, and without. `seen_n` are those with sampled
 * records: as many as the program had space for. */
struct group_truth {
    double expected_n, missed_n, sampled_n, seen_n;
};

struct traffic_sums {
    struct as_level_traffic *traffic;
    const struct as_instances *all;
    struct as_counted_module *module;
    double *runs; /* per instruction of the program */
    struct group_truth *truth;
};

static int find_runs(struct traffic_sums *s)
{
    const struct as_program *p = s->module->code->program;
    s->runs = as_calloc(p->code.n + 1, sizeof *s->runs);
    if (!s->runs)
        return -1;
    as_vec_foreach (&s->module->ran, ran)
        for (uint32_t i = 0; i < p->block[ran->block].insns; i++)
            s->runs[p->block[ran->block].first_insn + i] = (double)ran->runs;
    return 0;
}

static double runs_at(const struct traffic_sums *s, uint64_t address)
{
    const size_t i = as_code_find(&s->module->code->program->code, address);
    return i == SIZE_MAX ? 0 : s->runs[i];
}

/* Returns the share of the records of a sampled record that the program had space for. */
static double share_recorded(const struct traffic_sums *s, size_t number)
{
    const struct as_level_replay *replay = &s->traffic->replay;
    const uint64_t counter = replay->plan->record.at[number].dropped;
    const double dropped = (counter < s->all->counter.n ? (double)s->all->counter.at[counter] : 0) *
                           replay->classes / replay->kept_n;
    const double all = replay->runs[number] + dropped;
    return all > 0 ? replay->runs[number] / all : 1;
}

static void find_truth(struct traffic_sums *s)
{
    struct as_level_replay *replay = &s->traffic->replay;
    const struct as_address_plan *plan = &s->traffic->plan;
    as_vec_foreach (&plan->record, record) {
        const size_t number = (size_t)(record - plan->record.at);
        if (record->module != s->module->planned || !record->operands)
            continue;
        struct group_truth *truth = &s->truth[replay->group_of[number]];
        const double runs =
            record->operands * runs_at(s, plan->operand.at[record->first_operand].insn);
        truth->expected_n += runs;
        truth->sampled_n += record->is_sampled ? runs : 0;
        truth->seen_n += record->is_sampled ? runs * share_recorded(s, number) : 0;
    }
    as_vec_foreach (&plan->missed, missed)
        as_vec_foreach (&replay->group, group)
            if (missed->module == s->module->planned && group->module == missed->module &&
                group->body == missed->body && group->loop == missed->loop)
                s->truth[group - replay->group.at].missed_n += runs_at(s, missed->insn);
}

static void add_traffic(struct as_count_traffic *to, const struct as_level_traffic *t,
                        const struct as_level_replay_group *group, const struct group_truth *truth)
{
    const double others = truth->expected_n - truth->sampled_n;
    const double seen = truth->seen_n + (group->replayed_n < others ? group->replayed_n : others);
    const double scale = seen > 0 ? truth->expected_n / seen : 0;
    for (unsigned k = 0; k < t->levels; k++) {
        to->line_in_n[k] += scale * group->counts.level[k].miss_n;
        to->line_out_n[k] += scale * group->counts.level[k].written_n;
    }
    to->stream_b += scale * group->counts.stream_b;
    to->replayed_n += seen;
    to->expected_n += truth->expected_n + truth->missed_n;
    to->event_n += group->miss_n;
    for (unsigned i = 0; group->curve && i < AS_COUNT_CURVE; i++) {
        const double lines = ldexp((double)AS_COUNT_CURVE_B / AS_REPLAY_LINE_B, (int)i);
        double all = group->curve->cold;
        for (unsigned b = 0; b < AS_REUSE_BINS; b++)
            all += group->curve->near[b];
        to->curve_b[i] += scale * AS_REPLAY_LINE_B * all * as_reuse_miss_share(group->curve, lines);
    }
}

static void add_traffic_to_objects(const struct traffic_sums *s,
                                   const struct as_level_replay_group *group,
                                   const struct group_truth *truth)
{
    const struct as_program *p = s->module->code->program;
    struct as_counted_object *object = s->traffic->counting->object.at;
    const uint32_t function = s->module->body_object[group->body];
    if (function != AS_NONE)
        add_traffic(&object[function].it.traffic, s->traffic, group, truth);
    for (uint32_t l = group->loop; l != AS_NONE; l = p->loop[l].parent)
        if (s->module->loop_object[l] != AS_NONE)
            add_traffic(&object[s->module->loop_object[l]].it.traffic, s->traffic, group, truth);
}

/* Computes bytes of each level. The error is that of sampled sets and of unrecorded accesses. */
static void settle_traffic(const struct as_level_traffic *t, struct as_count_traffic *it)
{
    const bool is_sampled = as_level_replay_share(&t->replay) < 1;
    it->is_known = it->replayed_n > 0;
    if (!it->is_known)
        return;
    const double covered = it->replayed_n / it->expected_n;
    it->covered = covered < 1 ? covered : 1;
    it->error = 1 - it->covered;
    if (is_sampled)
        it->error += it->event_n > 4 ? 2 / sqrt(it->event_n) : 1;
    it->error = it->error < 1 ? it->error : 1;
    it->levels = t->levels;
    it->bytes_l2_l1 =
        t->levels > 1 ? AS_REPLAY_LINE_B * (it->line_in_n[0] + it->line_out_n[0]) : (double)NAN;
    it->bytes_l3_l2 =
        t->levels > 2 ? AS_REPLAY_LINE_B * (it->line_in_n[1] + it->line_out_n[1]) : (double)NAN;
    it->bytes_memory =
        AS_REPLAY_LINE_B * (it->line_in_n[t->levels - 1] + it->line_out_n[t->levels - 1]) +
        it->stream_b;
}

int as_level_traffic_sum(struct as_level_traffic *t, const struct as_instances *all,
                         struct as_error *err)
{
    struct traffic_sums s = {.traffic = t, .all = all};
    if (!t->is_read)
        return 0;
    s.truth = as_calloc(t->replay.group.n + 1, sizeof *s.truth);
    int rc = s.truth ? 0 : -1;
    as_vec_foreach (&t->counting->module, module) {
        if (rc < 0 || module->planned == AS_NONE || !module->code->program)
            continue;
        s.module = module;
        rc = find_runs(&s);
        if (rc == 0)
            find_truth(&s);
        as_free(s.runs);
        s.runs = NULL;
        for (size_t i = 0; rc == 0 && i < t->replay.group.n; i++)
            if (t->replay.group.at[i].module == module->planned)
                add_traffic_to_objects(&s, &t->replay.group.at[i], &s.truth[i]);
    }
    as_free(s.truth);
    as_vec_foreach (&t->counting->object, object)
        settle_traffic(t, &object->it.traffic);
    return rc < 0 ? as_error_nomem(err, "traffic") : 0;
}
