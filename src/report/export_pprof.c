/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes pprof's profile.proto (github.com/google/pprof/blob/main/proto/profile.proto). Field
 * numbers below are from this file. Samples have their thread as labels. Addresses are file
 * addresses, as if each file were mapped at its own addresses.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/proto.h"
#include "report/export.h"
#include "report/gzip.h"

enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NS = 9,
    PROFILE_DURATION_NS = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14
};
enum value_type_field { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum label_field { LABEL_KEY = 1, LABEL_TEXT = 2 };
enum mapping_field {
    MAPPING_ID = 1,
    MAPPING_START = 2,
    MAPPING_LIMIT = 3,
    MAPPING_FILE = 5,
    MAPPING_BUILD_ID = 6,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILES = 8,
    MAPPING_HAS_LINES = 9,
    MAPPING_HAS_INLINED = 10
};
enum location_field {
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4
};
enum line_field { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum function_field {
    FUNCTION_NUMBER = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
    FUNCTION_LINE = 5
};

/* Values of a module that are known after all sites. */
struct extent {
    uint64_t start, end; /* range of addresses; `end` 0: none */
};

struct pprof_writing {
    struct as_stacks *stacks;
    bool blocked;
    struct as_gzip gzip;
    struct as_map_view text_of;
    AS_VEC(struct as_view) text; /* the string table */
    struct as_str message, field, whole;
    struct extent *extent; /* by module */
    bool *is_used;         /* by function */
    bool failed;           /* no memory */
};

/* ---- Parts --------------------------------------------------------------------------------- */

/* Returns the index of a text in the string table; 0 is "". The text must live until the end. */
static uint64_t text_number(struct pprof_writing *w, const char *z)
{
    const struct as_view view = as_view_of(z ? z : "");
    uint32_t at = as_map_view_get(&w->text_of, view);

    if (at != AS_MAP_NONE)
        return at;
    at = (uint32_t)w->text.n;
    w->failed |= as_vec_push(&w->text, view) < 0 || as_map_view_put(&w->text_of, view, at) < 0;
    return at;
}

/* Writes a field of the profile and clears its message. */
static void emit_field(struct pprof_writing *w, unsigned field)
{
    as_str_clear(&w->whole);
    as_proto_message(&w->whole, field, &w->message);
    w->failed |= w->message.failed || w->field.failed || w->whole.failed;
    as_gzip_write(&w->gzip, as_str_z(&w->whole), w->whole.n);
    as_str_clear(&w->message);
}

static void emit_number(struct pprof_writing *w, unsigned field, uint64_t v)
{
    as_str_clear(&w->whole);
    as_proto_number(&w->whole, field, v);
    w->failed |= w->whole.failed;
    as_gzip_write(&w->gzip, as_str_z(&w->whole), w->whole.n);
}

static void value_type(struct pprof_writing *w, unsigned field, const char *type, const char *unit)
{
    as_proto_number(&w->message, VALUE_TYPE, text_number(w, type));
    as_proto_number(&w->message, VALUE_UNIT, text_number(w, unit));
    emit_field(w, field);
}

/* Adds the last built field to the message. */
static void add_field(struct pprof_writing *w, unsigned field)
{
    as_proto_message(&w->message, field, &w->field);
    w->failed |= w->field.failed;
    as_str_clear(&w->field);
}

static void label_text(struct pprof_writing *w, const char *key, const char *value)
{
    if (!value)
        return;
    as_proto_number(&w->field, LABEL_KEY, text_number(w, key));
    as_proto_number(&w->field, LABEL_TEXT, text_number(w, value));
    add_field(w, SAMPLE_LABEL);
}

/* Adds a label with a number as text: readers drop the number 0, and rank 0 is valid. */
static void label_number(struct pprof_writing *w, const char *key, int64_t value)
{
    char digits[24];
    char *copy;

    if (value < 0)
        return;
    const int n = snprintf(digits, sizeof digits, "%" PRId64, value);

    copy = as_arena_strndup(&w->stacks->arena, digits, (size_t)n);
    w->failed |= !copy;
    label_text(w, key, copy);
}

/* ---- Samples ------------------------------------------------------------------------------- */

static void write_labels(struct pprof_writing *w, const struct as_stack_thread *thread)
{
    const struct as_stack_process *process = &w->stacks->process.at[thread->process];

    label_text(w, "process", process->name);
    label_number(w, "pid", process->pid);
    label_number(w, "rank", process->rank);
    label_text(w, "host", process->host);
    label_text(w, "thread", thread->name);
    label_number(w, "tid", thread->tid);
    label_number(w, "omp_thread", thread->omp_thread);
}

static int write_samples(struct pprof_writing *w, uint64_t *stack_n, struct as_error *err)
{
    as_stack_list sites = {0};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < w->stacks->sample.n; i++) {
        const struct as_stack_sample *it = &w->stacks->sample.at[i];

        rc = as_stacks_walk(w->stacks, it, &sites, err);
        if (rc < 0)
            break;
        as_vec_foreach (&sites, site)
            as_proto_varint(&w->field, *site + 1);
        add_field(w, SAMPLE_LOCATION);
        as_proto_varint(&w->field, (uint64_t)it->n);
        as_proto_varint(&w->field, (uint64_t)it->time_ns);
        add_field(w, SAMPLE_VALUE);
        write_labels(w, &w->stacks->thread.at[it->thread]);
        emit_field(w, PROFILE_SAMPLE);
        ++*stack_n;
    }
    as_vec_fini(&sites);
    return rc;
}

/* ---- Tables --------------------------------------------------------------------------------- */

static void write_locations(struct pprof_writing *w)
{
    for (size_t i = 0; i < w->stacks->site.n; i++) {
        const struct as_stack_site *site = &w->stacks->site.at[i];
        struct extent *extent = &w->extent[site->module];
        const uint64_t address = (uint64_t)site->address;

        extent->start = extent->end && extent->start < address ? extent->start : address;
        extent->end = extent->end > address + 1 ? extent->end : address + 1;
        as_proto_number(&w->message, LOCATION_ID, i + 1);
        as_proto_number(&w->message, LOCATION_MAPPING, site->module);
        as_proto_number(&w->message, LOCATION_ADDRESS, address);
        for (uint32_t j = site->line_n; j-- > 0;) {
            const struct as_stack_line *line = &w->stacks->line.at[site->line + j];

            w->is_used[line->function] = true;
            as_proto_number(&w->field, LINE_FUNCTION, (uint64_t)line->function + 1);
            as_proto_number(&w->field, LINE_LINE, (uint64_t)line->line);
            add_field(w, LOCATION_LINE);
        }
        emit_field(w, PROFILE_LOCATION);
    }
}

/* Writes mappings. Files of users begin at 0, so their addresses need no relocation; the kernel has
 * its range of addresses. */
static void write_mappings(struct pprof_writing *w)
{
    const uint64_t page = 4096;

    for (size_t i = 1; i < w->stacks->module.n; i++) {
        const struct as_stack_module *it = &w->stacks->module.at[i];
        const struct extent *extent = &w->extent[i];
        const uint64_t last = (extent->end - 1) & ~(page - 1);

        if (!extent->end)
            continue;
        as_proto_number(&w->message, MAPPING_ID, i);
        as_proto_number(&w->message, MAPPING_START,
                        it->is_kernel ? extent->start & ~(page - 1) : 0);
        as_proto_number(&w->message, MAPPING_LIMIT, last > UINT64_MAX - page ? last : last + page);
        as_proto_number(&w->message, MAPPING_FILE, text_number(w, it->path));
        as_proto_number(&w->message, MAPPING_BUILD_ID, text_number(w, it->build_id));
        as_proto_number(&w->message, MAPPING_HAS_FUNCTIONS, 1);
        as_proto_number(&w->message, MAPPING_HAS_FILES, 1);
        as_proto_number(&w->message, MAPPING_HAS_LINES, 1);
        as_proto_number(&w->message, MAPPING_HAS_INLINED, 1);
        emit_field(w, PROFILE_MAPPING);
    }
}

static void write_functions(struct pprof_writing *w)
{
    for (size_t i = 0; i < w->stacks->function.n; i++) {
        const struct as_stack_function *it = &w->stacks->function.at[i];

        if (!w->is_used[i])
            continue;
        as_proto_number(&w->message, FUNCTION_NUMBER, i + 1);
        as_proto_number(&w->message, FUNCTION_NAME, text_number(w, it->name));
        as_proto_number(&w->message, FUNCTION_SYSTEM_NAME, text_number(w, it->linkage_name));
        as_proto_number(&w->message, FUNCTION_FILE, text_number(w, it->file));
        as_proto_number(&w->message, FUNCTION_LINE, (uint64_t)it->line);
        emit_field(w, PROFILE_FUNCTION);
    }
}

/* ---- The profile --------------------------------------------------------------------------- */

static void comment(struct pprof_writing *w, const char *z)
{
    if (z)
        emit_number(w, PROFILE_COMMENT, text_number(w, z));
}

static void write_head(struct pprof_writing *w)
{
    const struct as_stack_run *run = &w->stacks->run;
    const char *const type = w->blocked ? "waiting" : "running";

    text_number(w, "");
    value_type(w, PROFILE_SAMPLE_TYPE, w->blocked ? "waits" : "samples", "count");
    value_type(w, PROFILE_SAMPLE_TYPE, type, "nanoseconds");
    emit_number(w, PROFILE_DEFAULT_TYPE, text_number(w, type));
    emit_number(w, PROFILE_TIME_NS, (uint64_t)run->start_ns);
    emit_number(w, PROFILE_DURATION_NS, (uint64_t)run->wall_ns);
    if (!w->blocked && run->rate_hz > 0) {
        value_type(w, PROFILE_PERIOD_TYPE, type, "nanoseconds");
        emit_number(w, PROFILE_PERIOD, (uint64_t)(1000000000 / run->rate_hz));
    }
    comment(w, run->command);
    comment(w, run->label);
    comment(w, run->event);
}

static void write_texts(struct pprof_writing *w)
{
    as_vec_foreach (&w->text, it) {
        as_str_append(&w->message, it->p, it->n);
        emit_field(w, PROFILE_STRING);
    }
}

static int write_profile(struct pprof_writing *w, uint64_t *stack_n, struct as_error *err)
{
    write_head(w);
    AS_TRY(write_samples(w, stack_n, err));
    write_locations(w);
    write_mappings(w);
    write_functions(w);
    write_texts(w);
    return w->failed ? as_error_nomem(err, "the export") : 0;
}

int as_export_pprof(struct as_stacks *stacks, const struct as_export_options *options,
                    struct as_out *out, uint64_t *stack_n, struct as_error *err)
{
    struct pprof_writing w = {.stacks = stacks, .blocked = options->blocked};
    int rc = 0;

    as_map_view_init(&w.text_of);
    w.extent = as_calloc(stacks->module.n, sizeof *w.extent);
    /* The walk adds sites and lines, but no functions or modules. */
    w.is_used = as_calloc(stacks->function.n, sizeof *w.is_used);
    if (!w.extent || !w.is_used)
        rc = as_error_nomem(err, "the export");
    if (rc == 0)
        rc = as_gzip_begin(&w.gzip, out, err);
    if (rc == 0) {
        rc = write_profile(&w, stack_n, err);
        as_gzip_end(&w.gzip);
    }
    as_map_view_fini(&w.text_of);
    as_vec_fini(&w.text);
    as_str_fini(&w.message);
    as_str_fini(&w.field);
    as_str_fini(&w.whole);
    as_free(w.extent);
    as_free(w.is_used);
    return rc;
}
