/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of a profile as one JSON object; doc/reference/json.md explains its keys. */
#include <math.h>

#include "base/json.h"
#include "base/version.h"
#include "report/profile.h"
#include "report/report.h"

/* ---- Parts -------------------------------------------------------------------------------- */

/* Writes a number, or null if it is unknown. Not-a-number gives null anyway. */
static void known_member(struct as_json *json, const char *key, int64_t value, int64_t unknown)
{
    as_json_key(json, key);
    if (value == unknown)
        as_json_null(json);
    else
        as_json_i64(json, value);
}

/* Writes members such as "self_time_s" and "self_pct". */
static void share_member(struct as_json *json, const char *const key[4], const struct as_share *it)
{
    as_json_key_double(json, key[0], it->time_s);
    as_json_key_double(json, key[1], it->pct);
    as_json_key_double(json, key[2], it->low_pct);
    as_json_key_double(json, key[3], it->high_pct);
}

static const char *const time_key[] = {"time_s", "time_pct", "time_low_pct", "time_high_pct"};
static const char *const self_key[] = {"exclusive_time_s", "exclusive_pct", "exclusive_low_pct",
                                       "exclusive_high_pct"};
static const char *const total_key[] = {"inclusive_time_s", "inclusive_pct", "inclusive_low_pct",
                                        "inclusive_high_pct"};

static void write_run(struct as_json *json, const struct as_profile_run_facts *run)
{
    as_json_key(json, "run");
    as_json_object_begin(json);
    as_json_key_i64(json, "run_id", run->run_id);
    as_json_key_i64(json, "run_n", run->run_n);
    as_json_key_string(json, "kind", run->kind);
    as_json_key_string(json, "label", run->label);
    as_json_key_string(json, "command", run->command);
    as_json_key_string(json, "launcher", run->launcher);
    as_json_key_string(json, "state", run->state);
    as_json_key_bool(json, "is_attributed", !run->is_unfinished);
    as_json_key_string(json, "start_utc", run->start_utc);
    as_json_key_double(json, "wall_s", run->wall_s);
    known_member(json, "exit_code", run->exit_code, -1);
    known_member(json, "exit_signal", run->exit_signal, -1);
    as_json_key_string(json, "host", run->host);
    as_json_key_string(json, "cpu_model", run->cpu_model);
    known_member(json, "core_n", run->core_n, 0);
    known_member(json, "cpu_n", run->cpu_n, 0);
    as_json_key_i64(json, "host_n", run->host_n);
    as_json_key_i64(json, "rank_n", run->rank_n);
    as_json_key_i64(json, "process_n", run->process_n);
    as_json_key_i64(json, "thread_n", run->thread_n);
    as_json_key_string(json, "event", run->event);
    as_json_key_string(json, "event_reason", run->event_reason);
    known_member(json, "rate_hz", run->rate_hz, 0);
    as_json_key_string(json, "call_stacks", run->call_stacks);
    as_json_key_string(json, "scope", run->scope);
    as_json_key_i64(json, "sample_n", run->sample_n);
    as_json_key_i64(json, "lost_sample_n", run->lost_n);
    as_json_key_double(json, "sampled_time_s", run->sampled_s);
    as_json_key_double(json, "processor_time_s", run->cpu_s);
    as_json_key_double(json, "unseen_time_s", run->unseen_s);
    as_json_key_double(json, "blocked_time_s", run->blocked_s);
    as_json_key_double(json, "overhead_pct", run->overhead_pct);
    as_json_object_end(json);
}

static void write_waiting(struct as_json *json, struct as_profile *profile)
{
    as_json_key(json, "waiting");
    as_json_object_begin(json);
    as_json_key_double(json, "running_s", profile->running_s);
    as_json_key_double(json, "waiting_s", profile->blocked_s);
    as_json_key_double(json, "runnable_s", profile->queued_s);
    as_json_key_i64(json, "idle_thread_n", profile->idle_n);
    as_json_key_double(json, "idle_waiting_s", profile->idle_s);
    as_json_object_end(json);
}

static void write_categories(struct as_json *json, struct as_profile *profile)
{
    as_json_key(json, "categories");
    as_json_array_begin(json);
    as_vec_foreach (&profile->category, it) {
        as_json_object_begin(json);
        as_json_key_string(json, "name", it->name);
        as_json_key_string(json, "title", it->title);
        share_member(json, time_key, &it->share);
        as_json_key_double(json, "blocked_time_s", it->blocked_s);
        as_json_key_bool(json, "few_samples", it->share.few_samples);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}

static void write_balance(struct as_json *json, struct as_profile *profile)
{
    as_json_key(json, "balance");
    as_json_array_begin(json);
    as_vec_foreach (&profile->spread, it) {
        as_json_object_begin(json);
        as_json_key_string(json, "over", it->over);
        as_json_key_bool(json, "is_own_work", it->is_work);
        as_json_key_u64(json, "n", it->n);
        as_json_key_u64(json, "idle_n", it->idle_n);
        as_json_key_double(json, "min_s", it->min_s);
        as_json_key_double(json, "mean_s", it->mean_s);
        as_json_key_double(json, "max_s", it->max_s);
        as_json_key_double(json, "deviation_s", it->deviation_s);
        as_json_key_double(json, "balance_pct", it->balance_pct);
        as_json_key_string(json, "longest", it->slowest);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}

static void write_counts(struct as_json *json, struct as_profile *profile)
{
    as_json_key(json, "counts");
    as_json_array_begin(json);
    as_vec_foreach (&profile->count, it) {
        as_json_object_begin(json);
        as_json_key_string(json, "event", it->name);
        as_json_key_string(json, "unit", it->unit);
        as_json_key_double(json, "value", it->value);
        as_json_key_bool(json, "is_exact", it->is_exact);
        as_json_key_double(json, "most_in_a_thread", it->most);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}

static void write_functions(struct as_json *json, struct as_profile *profile)
{
    as_json_key(json, "functions");
    as_json_array_begin(json);
    as_vec_foreach (&profile->function, it) {
        as_json_object_begin(json);
        as_json_key_string(json, "name", it->name);
        as_json_key_string(json, "module", it->module);
        as_json_key_string(json, "category", it->category);
        as_json_key_string(json, "source_file", it->file);
        known_member(json, "line", it->line, 0);
        share_member(json, self_key, &it->self);
        share_member(json, total_key, &it->total);
        as_json_key_bool(json, "is_inlined", it->is_inlined);
        as_json_key_double(json, "binary_time_s", it->binary_s);
        as_json_key_double(json, "binary_pct", it->binary_pct);
        as_json_key_double(json, "blocked_time_s", it->blocked_s);
        as_json_key_bool(json, "few_samples", it->self.few_samples);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}

static void write_loops(struct as_json *json, struct as_profile *profile)
{
    as_json_key(json, "loops");
    as_json_array_begin(json);
    as_vec_foreach (&profile->loop, it) {
        as_json_object_begin(json);
        as_json_key_i64(json, "loop_id", it->loop_id);
        as_json_key_string(json, "function", it->function);
        as_json_key_string(json, "inlined_into", it->inlined_into);
        as_json_key_string(json, "module", it->module);
        as_json_key_string(json, "source_file", it->file);
        known_member(json, "first_line", it->first_line, 0);
        known_member(json, "last_line", it->last_line, 0);
        as_json_key_string(json, "address", it->address);
        as_json_key_i64(json, "depth", it->depth);
        as_json_key_bool(json, "is_innermost", it->is_innermost);
        as_json_key_string(json, "role", it->role);
        share_member(json, self_key, &it->self);
        share_member(json, total_key, &it->total);
        as_json_key_bool(json, "few_samples", it->self.few_samples);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}

static void write_advice(struct as_json *json, struct as_profile *profile)
{
    as_json_key(json, "flags");
    as_json_array_begin(json);
    as_vec_foreach (&profile->flag, it) {
        as_json_object_begin(json);
        as_json_key_string(json, "name", it->name);
        as_json_key_string(json, "text", it->text);
        as_json_key_i64(json, "object_n", it->n);
        as_json_object_end(json);
    }
    as_json_array_end(json);
    as_json_key(json, "advice");
    as_json_array_begin(json);
    as_vec_foreach (&profile->advice, it) {
        as_json_object_begin(json);
        as_json_key_string(json, "topic", it->topic);
        as_json_key_string(json, "text", it->text);
        as_json_key_string(json, "command", it->command);
        as_json_object_end(json);
    }
    as_json_array_end(json);
    as_json_key_u64(json, "finding_n", profile->finding_n);
    as_json_key(json, "commands");
    as_json_array_begin(json);
    as_vec_foreach (&profile->command, it)
        as_json_string(json, *it);
    as_json_array_end(json);
}

int as_report_profile_json(struct as_experiment *experiment, int64_t run_id,
                           const struct as_report_text_options *options, struct as_out *out,
                           struct as_error *err)
{
    struct as_profile profile;
    struct as_json json;
    const int rc = as_profile_read(experiment, run_id, options ? options->rows : 0,
                                   options && options->no_inline, &profile, err);

    if (rc == 0) {
        as_json_init(&json, out, 2);
        as_json_object_begin(&json);
        as_json_key_u64(&json, "schema", AS_JSON_SCHEMA);
        as_json_key_string(&json, "assay", AS_VERSION);
        as_json_key_string(&json, "command", "show");
        as_json_key_string(&json, "experiment", profile.path);
        write_run(&json, &profile.run);
        write_categories(&json, &profile);
        write_waiting(&json, &profile);
        write_balance(&json, &profile);
        if (profile.count.n)
            write_counts(&json, &profile);
        write_functions(&json, &profile);
        write_loops(&json, &profile);
        write_advice(&json, &profile);
        as_json_object_end(&json);
        as_json_finish(&json);
    }
    as_profile_release(&profile);
    return rc;
}
