/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder: takes records in time order, maintains the address spaces, and writes the stream.
 * Each sample becomes a path of frames. A frame is a module and an offset, which have the same
 * meaning in each process and run. Stacks are unwound here: 16 KiB of stack become a few bytes.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "sample/branches.h"
#include "sample/operands.h"
#include "sample/python_stack.h"
#include "sample/recorder.h"

struct as_recorder {
    struct as_writer *writer;
    struct as_modules modules;
    size_t modules_written;
    struct as_spaces spaces;
    struct as_unwinder *unwinder;
    struct as_operands *operands;
    struct as_code_maps *maps; /* maps of moved code or NULL; borrowed */
    uint64_t max_b, dropped;
    uint32_t stack_b; /* size of the smaller copy */
    struct as_stack_counts stacks;
    struct as_frames frames; /* frames of the current sample */
    struct as_python_names python;
};

static void release_recorder(struct as_recorder **recorder)
{
    struct as_recorder *r = *recorder;
    as_writer_free(&r->writer);
    as_unwinder_free(&r->unwinder);
    as_operands_free(&r->operands);
    as_map_u64_fini(&r->python.written);
    as_spaces_fini(&r->spaces);
    as_modules_fini(&r->modules);
    as_free(r);
    *recorder = NULL;
}

/* Writes the modules that are new since the last call. */
static int write_modules(struct as_recorder *r)
{
    for (; r->modules_written < r->modules.module.n; r->modules_written++)
        AS_TRY(as_writer_module(r->writer, &r->modules.module.at[r->modules_written].fact));
    return 0;
}

static int write_choice(struct as_recorder *r, const struct as_sample_choice *choice)
{
    char number[32];
    AS_TRY(as_writer_info(r->writer, "event", as_sample_event_name(choice->event)));
    snprintf(number, sizeof number, "%u", choice->rate_hz);
    AS_TRY(as_writer_info(r->writer, "rate_hz", number));
    AS_TRY(as_writer_info(r->writer, "kernel", choice->kernel ? "yes" : "no"));
    return as_writer_info(r->writer, "reason", choice->reason);
}

int as_recorder_new(const char *path, const struct as_sample_choice *choice, uint64_t max_b,
                    struct as_recorder **out, struct as_error *err)
{
    struct as_recorder *r = as_calloc(1, sizeof *r);
    *out = NULL;
    if (!r)
        return as_error_nomem(err, path);
    r->max_b = max_b;
    r->stack_b = choice->stack_b;
    as_map_u64_init(&r->python.written);
    int rc = as_modules_init(&r->modules);
    r->modules.imported = choice->imported;
    r->modules.clock_offset_ns = choice->clock_offset_ns;
    r->modules.written_ns = choice->written_ns;
    if (as_spaces_init(&r->spaces) < 0 || as_unwinder_new(&r->unwinder) < 0 ||
        as_operands_new(choice->rate_hz, r->modules.imported, &r->operands) < 0 || rc < 0)
        rc = as_error_nomem(err, path);
    if (rc == 0)
        rc = as_writer_new(path, &r->writer, err);
    if (rc == 0 && (write_modules(r) < 0 || write_choice(r, choice) < 0))
        rc = as_writer_flush(r->writer, err);
    if (rc < 0)
        release_recorder(&r);
    *out = r;
    return rc;
}

/* ---- Samples ------------------------------------------------------------------------------ */

/* Appends the call chain of the kernel. Marks separate kernel and user addresses. The first address
 * of each part is a position, the others are return addresses. `user` false: only the kernel
 * part. */
static void append_kernel_chain(struct as_recorder *r, const struct as_sample_record *sample,
                                const struct as_space *space, bool user)
{
    struct as_frames *out = &r->frames;
    bool in_kernel = sample->in_kernel, exact = true;
    for (size_t i = 0; i < sample->chain_n; i++) {
        uint64_t ip = sample->chain[i];
        if (ip >= (uint64_t)PERF_CONTEXT_MAX) {
            in_kernel = ip == (uint64_t)PERF_CONTEXT_KERNEL;
            exact = true;
            continue;
        }
        ip -= !exact;
        exact = false;
        if (in_kernel)
            as_frames_push(out, (struct as_frame){AS_MODULE_ID_KERNEL, ip});
        else if (user && ip)
            as_frames_push(out, as_frame_moved(r->maps, sample, space, ip));
    }
}

static int write_path(struct as_recorder *r, const struct as_sample_record *sample)
{
    uint32_t node = 0;
    AS_TRY(as_writer_trim(r->writer));
    for (unsigned i = r->frames.n; i-- > 0;) {
        const struct as_frame frame = r->frames.frame[i];
        r->modules.module.at[frame.module].sampled = true;
        AS_TRY(as_writer_node(r->writer, node, frame, &node));
    }
    return as_writer_sample(r->writer, sample, node, r->frames.end);
}

static void unwind_copy(struct as_recorder *r, uint32_t space,
                        const struct as_sample_record *sample)
{
    const struct as_places places = {&r->modules, &r->spaces, space, r->maps};
    as_unwind(r->unwinder, &places, sample, &r->frames);
    if (sample->waits) /* these have copies of another size */
        return;
    const bool cut = r->frames.end == AS_STACK_CUT;
    r->stacks.copied++;
    r->stacks.cut += cut;
    r->stacks.deep += cut || r->frames.reach_b > r->stack_b;
}

/* Returns true if the registers are not those of the original code. */
static bool is_in_stub(const struct as_recorder *r, const struct as_sample_record *sample)
{
    struct as_code_origin origin;
    return as_code_maps_find(r->maps, sample->pid, sample->time_ns, sample->ip, &origin) &&
           origin.is_stub;
}

static int record_sample(struct as_recorder *r, const struct as_sample_record *sample)
{
    uint32_t index;
    if (r->max_b && as_writer_bytes(r->writer) > r->max_b) {
        r->dropped++;
        return 0;
    }
    AS_TRY(as_space_of(&r->spaces, sample->pid, &index));
    const struct as_space *space = &r->spaces.space.at[index];
    r->frames.n = 0;
    r->frames.end = AS_STACK_COMPLETE;
    /* A perf.data file may have both. The chain is used if no call was recorded. */
    const bool by_calls = sample->calls && (sample->call_n || sample->regs);
    append_kernel_chain(r, sample, space, !sample->regs && !by_calls);
    if (by_calls)
        as_branches_frames(sample, space, r->maps, &r->frames);
    else if (sample->regs && sample->stack_b)
        unwind_copy(r, index, sample);
    else if (r->frames.n == 0)
        as_frames_push(&r->frames, sample->in_kernel
                                       ? (struct as_frame){AS_MODULE_ID_KERNEL, sample->ip}
                                       : as_frame_moved(r->maps, sample, space, sample->ip));
    if (!sample->waits && r->frames.n && !is_in_stub(r, sample)) {
        const struct as_frame frame = r->frames.frame[0];
        AS_TRY(as_operands_add(r->operands, as_module_object(&r->modules, frame.module), frame,
                               sample));
    }
    if (sample->python_n)
        AS_TRY(as_python_weave(&r->python, &r->modules, r->writer, &r->modules_written, sample,
                               &r->frames));
    return write_path(r, sample);
}

/* ---- Other records ------------------------------------------------------------------------ */

int as_mapping_of(struct as_modules *modules, const struct as_sample_record *map,
                  struct as_mapping *out)
{
    *out = (struct as_mapping){
        .start = map->address, .end = map->address + map->size_b, .offset = map->offset};
    AS_TRY(as_modules_of(modules, map, &out->module));
    if (modules->module.at[out->module].fact.kind == AS_MODULE_VDSO)
        out->offset = 0;
    return 0;
}

static int record_map(struct as_recorder *r, const struct as_sample_record *map)
{
    struct as_mapping mapping;
    if (map->pid == UINT32_MAX) /* code of the kernel */
        return 0;
    AS_TRY(as_mapping_of(&r->modules, map, &mapping));
    AS_TRY(write_modules(r));
    AS_TRY(as_space_map(&r->spaces, map->pid, mapping));
    return as_writer_map(r->writer, map, mapping.module);
}

static int record_other(struct as_recorder *r, const struct as_sample_record *record)
{
    switch (record->kind) {
    case AS_SAMPLE_COMM:
        if (!record->out)
            break;
        AS_TRY(as_operands_exec(r->operands, record, &r->spaces));
        as_space_exec(&r->spaces, record->pid);
        as_code_maps_exec(r->maps, record->pid, record->time_ns);
        break;
    case AS_SAMPLE_FORK:
        AS_TRY(as_space_fork(&r->spaces, record));
        break;
    case AS_SAMPLE_ALLOCATE:
    case AS_SAMPLE_RELEASE:
    case AS_SAMPLE_INHERIT:
        return as_operands_block(r->operands, record);
    case AS_SAMPLE_EXIT:
        if (record->pid == record->tid)
            as_operands_exit(r->operands, record->pid, &r->spaces);
        as_space_exit(&r->spaces, record);
        break;
    default:
        break;
    }
    return as_writer_event(r->writer, record);
}

/* Returns the error of the writer, or NOMEM. */
static int writer_error(struct as_recorder *r, int rc, struct as_error *err)
{
    if (rc == AS_ERR_IO)
        return as_writer_flush(r->writer, err);
    return rc < 0 ? as_error_nomem(err, "the record of a run") : 0;
}

int as_recorder_add(void *recorder, const struct as_sample_record *record, struct as_error *err)
{
    struct as_recorder *r = recorder;
    int rc;
    if (record->kind == AS_SAMPLE_SAMPLE)
        rc = record_sample(r, record);
    else if (record->kind == AS_SAMPLE_MAP)
        rc = record_map(r, record);
    else
        rc = record_other(r, record);
    return writer_error(r, rc, err);
}

int as_recorder_keep(struct as_recorder *recorder, const char *directory, struct as_error *err)
{
    recorder->modules.keep =
        as_arena_strndup(&recorder->modules.arena, directory, strlen(directory));
    return recorder->modules.keep ? 0 : as_error_nomem(err, directory);
}

int as_recorder_info(struct as_recorder *recorder, const char *name, const char *value,
                     struct as_error *err)
{
    return writer_error(recorder, as_writer_info(recorder->writer, name, value), err);
}

int as_recorder_process(struct as_recorder *recorder, uint32_t pid, uint64_t time_ns,
                        const char *name, const char *value, struct as_error *err)
{
    return as_recorder_thread(recorder, pid, pid, time_ns, name, value, err);
}

int as_recorder_thread(struct as_recorder *recorder, uint32_t pid, uint32_t tid, uint64_t time_ns,
                       const char *name, const char *value, struct as_error *err)
{
    return writer_error(recorder,
                        as_writer_process(recorder->writer, pid, tid, time_ns, name, value), err);
}

void as_recorder_code_maps(struct as_recorder *recorder, struct as_code_maps *maps)
{
    recorder->maps = maps;
}

struct as_modules *as_recorder_modules(struct as_recorder *recorder)
{
    return &recorder->modules;
}

const struct as_stack_counts *as_recorder_stacks(const struct as_recorder *recorder)
{
    return &recorder->stacks;
}

int as_recorder_flush(struct as_recorder *recorder, struct as_error *err)
{
    AS_TRY(writer_error(recorder, as_module_file_copy(&recorder->modules, false, recorder->writer),
                        err));
    return as_writer_flush(recorder->writer, err);
}

int as_recorder_finish(struct as_recorder **recorder, const struct as_sample_counts *counts,
                       struct as_error *err)
{
    struct as_recorder *r = *recorder;
    int rc = as_module_file_copy(&r->modules, true, r->writer);
    if (rc == 0)
        rc = as_operands_write(r->operands, &r->spaces, r->writer);
    if (rc == 0)
        rc = as_writer_end(r->writer, counts, r->dropped);
    rc = rc < 0 ? as_writer_flush(r->writer, err) : as_writer_finish(&r->writer, err);
    release_recorder(recorder);
    return rc;
}
