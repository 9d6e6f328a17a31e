/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call paths of instances. Files of threads are read after the end of the run, so address spaces
 * are kept beyond the end of their process. The recorder does not keep them.
 */
#include "vprof/callers.h"

#include <assert.h>
#include <string.h>

#include "base/map.h"
#include "base/search.h"
#include "base/str.h"
#include "sample/recorder.h"

#define NAME_B 512u

/* Address space of a process before it executed another program, or before its pid was reused. */
struct past_space {
    uint32_t pid, space;
    uint64_t until_ns;
};

struct as_callers {
    struct as_modules *modules; /* the recorder's */
    struct as_spaces spaces;
    AS_VEC(struct past_space) past;
    struct as_unwinder *unwinder;
    struct as_map_view number; /* of a text; its bytes are those of the instances */
    struct as_str text;
    struct as_frames frames;
};

int as_callers_new(struct as_callers **out)
{
    struct as_callers *c = *out = as_calloc(1, sizeof *c);
    if (!c || as_spaces_init(&c->spaces) < 0)
        return AS_ERR_NOMEM;
    as_map_view_init(&c->number);
    return as_unwinder_new(&c->unwinder);
}

void as_callers_free(struct as_callers **callers)
{
    struct as_callers *c = *callers;
    if (!c)
        return;
    as_spaces_fini(&c->spaces);
    as_vec_fini(&c->past);
    as_unwinder_free(&c->unwinder);
    as_map_view_fini(&c->number);
    as_str_fini(&c->text);
    as_free(c);
    *callers = NULL;
}

/* ---- Spaces --------------------------------------------------------------------------------- */

/* Moves the current address space of a process to the past. */
static int retire_space(struct as_callers *c, uint32_t pid, uint64_t until_ns)
{
    const uint32_t space = as_map_u64_get(&c->spaces.by_pid, pid);
    if (space == AS_MAP_NONE || c->spaces.space.at[space].pid != pid)
        return 0;
    const struct past_space past = {pid, space, until_ns};
    AS_TRY(as_vec_push(&c->past, past));
    c->spaces.space.at[space].pid = UINT32_MAX;
    return 0;
}

int as_callers_follow(struct as_callers *c, struct as_recorder *recorder,
                      const struct as_sample_record *record)
{
    struct as_mapping mapping;
    c->modules = as_recorder_modules(recorder);
    switch (record->kind) {
    case AS_SAMPLE_MAP:
        if (record->pid == UINT32_MAX) /* the kernel's */
            return 0;
        AS_TRY(as_mapping_of(c->modules, record, &mapping));
        return as_space_map(&c->spaces, record->pid, mapping);
    case AS_SAMPLE_COMM:
        return record->out ? retire_space(c, record->pid, record->time_ns) : 0;
    case AS_SAMPLE_FORK:
        if (record->pid == record->parent_pid)
            return 0;
        AS_TRY(retire_space(c, record->pid, record->time_ns));
        return as_space_fork(&c->spaces, record);
    default:
        return 0;
    }
}

/* Finds the address space of the process at the begin of the thread. */
static int space_then(struct as_callers *c, const struct as_patch_thread *thread, uint32_t *out)
{
    as_vec_foreach (&c->past, past) {
        *out = past->space;
        if (past->pid == thread->pid && past->until_ns > thread->begun_ns)
            return 0;
    }
    return as_space_of(&c->spaces, thread->pid, out);
}

/* ---- Frames --------------------------------------------------------------------------------- */

static void write_module(struct as_callers *c, uint32_t module)
{
    const char *path = module < c->modules->module.n ? c->modules->module.at[module].fact.path : "";
    as_str_appendf(&c->text, " (%s)", path && path[0] ? as_path_last(path) : "generated code");
}

static void append_caller_line(struct as_callers *c, struct as_object *object, uint64_t address)
{
    struct as_debug debug;
    if (as_object_debug(object, AS_DEBUG_LINES, 1, &debug, NULL, NULL) < 0)
        return;
    const struct as_line *line = as_debug_line_at(&debug, address);
    if (line && line->line && line->file < debug.file_n)
        as_str_appendf(&c->text, " %s:%u", as_path_last(debug.file[line->file]), line->line);
}

static const struct as_function *function_at(struct as_object *object, uint64_t address)
{
    const struct as_function *function;
    size_t n;
    if (as_object_functions(object, false, &function, &n, NULL) < 0)
        return NULL;
    const size_t behind = as_first_not(i, n, function[i].start <= address);
    assert(behind < 2 ||
           function[behind - 2].start <= function[behind - 1].start); /* they ascend */
    return behind && address < function[behind - 1].end ? &function[behind - 1] : NULL;
}

/* Appends "NAME FILE:LINE". Returns false for main, the outermost frame of interest. */
static bool emit_frame(struct as_callers *c, const struct as_frame *frame, bool is_call)
{
    char name[NAME_B];
    struct as_object *object = as_module_object(c->modules, frame->module);
    uint64_t address = frame->address;
    const bool is_code = object && as_object_address_of(object, frame->address, &address);
    const struct as_function *function = is_code ? function_at(object, address) : NULL;
    if (function) {
        as_demangle(function->name, name, sizeof name);
        as_str_appendz(&c->text, name);
    } else
        as_str_appendf(&c->text, "0x%llx", (unsigned long long)address);
    if (is_call && is_code)
        append_caller_line(c, object, address);
    if (!function || function->origin == AS_FUNCTION_UNWIND)
        write_module(c, frame->module);
    return !function || strcmp(function->name, "main") != 0;
}

/* Returns the index of main, or the number of frames. Frames go from the innermost outwards. */
static unsigned outermost_frame(struct as_callers *c)
{
    for (unsigned i = 0; i < c->frames.n; i++) {
        as_str_clear(&c->text);
        if (!emit_frame(c, &c->frames.frame[i], false))
            return i;
    }
    return c->frames.n;
}

static void describe_path(struct as_callers *c)
{
    const unsigned main_at = outermost_frame(c);
    as_str_clear(&c->text);
    if (main_at == c->frames.n && c->frames.end != AS_STACK_COMPLETE)
        as_str_appendz(&c->text, "...");
    for (unsigned i = main_at < c->frames.n ? main_at + 1 : c->frames.n; i-- > 0;) {
        if (c->text.n)
            as_str_appendz(&c->text, "\n");
        emit_frame(c, &c->frames.frame[i], i > 0);
    }
}

static void unwind_path(struct as_callers *c, uint32_t space, const struct as_patch_path *path)
{
    uint64_t regs[AS_UNWIND_REGISTERS] = {
        [3] = path->rbx,  [6] = path->rbp,  [7] = path->rsp,  [12] = path->r12,
        [13] = path->r13, [14] = path->r14, [15] = path->r15, [16] = path->header};
    const struct as_sample_record sample = {.kind = AS_SAMPLE_SAMPLE,
                                            .ip = path->header,
                                            .regs = regs,
                                            .stack_at = path->rsp,
                                            .stack = (const uint8_t *)(path + 1),
                                            .stack_b = path->stack_b};
    const struct as_places places = {c->modules, &c->spaces, space, NULL};
    c->frames.n = 0;
    as_unwind(c->unwinder, &places, &sample, &c->frames);
}

int as_callers_find(struct as_callers *c, struct as_instances *out,
                    const struct as_patch_thread *thread, const struct as_patch_path *path,
                    uint32_t *number)
{
    uint32_t space;
    as_str_clear(&c->text);
    if (c->modules) {
        AS_TRY(space_then(c, thread, &space));
        unwind_path(c, space, path);
        describe_path(c);
    } else
        as_str_appendz(&c->text, "...");
    if (c->text.failed)
        return AS_ERR_NOMEM;
    const char *text = as_str_z(&c->text);
    *number = as_map_view_get(&c->number, as_view_of(text));
    if (*number != AS_MAP_NONE)
        return 0;
    *number = (uint32_t)out->path_text.n;
    char *own = as_calloc(1, c->text.n + 1);
    if (!own || as_vec_push(&out->path_text, own) < 0) {
        as_free(own);
        return AS_ERR_NOMEM;
    }
    memcpy(own, text, c->text.n + 1);
    return as_map_view_put(&c->number, as_view_of(own), *number);
}
