/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a stream into the tally. Numbers of the stream become numbers of the tally, and samples
 * become sums.
 */
#include "profile/tally_read.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

/* Number of nodes after which a stream may name a node again (sample/stream_write.c). */
#define NODES_ALONE (2u << 20)

const char *as_tally_keep(struct as_tally *t, const char *text)
{
    return as_arena_strndup(&t->arena, text, strlen(text));
}

/* Converts a time of the stream to a time of the run, at least 0. The reader limits times and clock
 * offsets to 2^62, so the sum does not overflow. */
static int64_t run_time(const struct as_tally_reading *r, uint64_t time_ns)
{
    int64_t at = (int64_t)time_ns + r->offset_ns;
    return at > 0 ? at : 0;
}

uint64_t as_tally_add_within(uint64_t *sum, int64_t ns)
{
    const uint64_t room = (UINT64_C(1) << 61) - *sum, more = ns > 0 ? (uint64_t)ns : 0;
    const uint64_t taken = more < room ? more : room;
    *sum += taken;
    return taken;
}

/* ---- Modules and frames -------------------------------------------------------------------- */

static int add_module(struct as_tally *t, const struct as_tally_module *module, uint32_t *out)
{
    uint64_t hash = as_hash_mix(module->kind, module->process);
    for (const char *c = module->path; *c; c++)
        hash = as_hash_mix(hash, (uint8_t)*c);
    for (unsigned i = 0; i < module->file.build_id_b; i++)
        hash = as_hash_mix(hash, module->file.build_id[i]);
    for (struct as_probe probe = as_index_probe(&t->module_index, hash);
         (*out = as_index_next(&t->module_index, &probe)) != AS_INDEX_NONE;) {
        const struct as_tally_module *has = &t->module.at[*out];
        if (has->kind == module->kind && has->process == module->process &&
            as_file_same(&has->file, &module->file) && strcmp(has->path, module->path) == 0)
            return 0;
    }
    *out = (uint32_t)t->module.n;
    AS_TRY(as_vec_push(&t->module, *module));
    struct as_tally_module *made = &t->module.at[*out];
    made->path = as_tally_keep(t, module->path);
    return made->path ? as_index_add(&t->module_index, hash, *out) : AS_ERR_NOMEM;
}

static int module_of(struct as_tally_reading *r, uint32_t index, uint32_t process, uint32_t *out)
{
    size_t n;
    const struct as_stream_module *known = &as_stream_modules(r->stream, &n)[index];
    struct as_tally_module module = {
        .path = known->path, .file = known->file, .kind = known->kind, .process = AS_NONE};
    if (known->kind == AS_MODULE_ANON)
        module.process = process;
    else if (index < r->module.n && r->module.at[index] != AS_NONE) {
        *out = r->module.at[index];
        return 0;
    }
    AS_TRY(add_module(r->tally, &module, out));
    while (r->module.n <= index)
        AS_TRY(as_vec_push(&r->module, AS_NONE));
    r->module.at[index] = *out;
    return 0;
}

/* Sets the copied files of modules, which are known after the stream is read. */
static int set_copied_files(struct as_tally_reading *r)
{
    size_t n;
    const struct as_stream_module *known = as_stream_modules(r->stream, &n);
    for (size_t i = 0; i < r->module.n && i < n; i++) {
        if (!known[i].kept || r->module.at[i] == AS_NONE)
            continue;
        struct as_tally_module *module = &r->tally->module.at[r->module.at[i]];
        if (!module->kept && !(module->kept = as_tally_keep(r->tally, known[i].kept)))
            return AS_ERR_NOMEM;
    }
    return 0;
}

/* Adds a Python function from "MODULE ADDRESS NAME". The stream has its module already. */
static int add_python(struct as_tally_reading *r, const char *text)
{
    char *address, *name;
    const unsigned long module = strtoul(text, &address, 10);
    const uint64_t at = strtoull(address, &name, 16);
    if (*name != ' ' || !name[1] || module >= r->module.n || r->module.at[module] == AS_NONE)
        return 0; /* the module has no samples, or the text is damaged */
    const struct as_tally_python python = {r->module.at[module], at, name + 1};
    return as_vec_push(&r->tally->python, python);
}

static int add_pythons(struct as_tally_reading *r)
{
    as_vec_foreach (&r->python, text)
        AS_TRY(add_python(r, *text));
    return 0;
}

static uint64_t hash_of_node(const struct as_tally_node *node)
{
    return as_hash_mix(as_hash_mix((uint64_t)node->parent << 32 | node->module, 1), node->address);
}

/* Adds a node, or finds it. A stream names each of its first NODES_ALONE nodes once. So the nodes
 * of the first stream are appended without the index until it is needed. */
static int add_node(struct as_tally *t, const struct as_tally_node *node, uint32_t *out)
{
    if (t->stream.n < 2 && t->node.n < NODES_ALONE) {
        *out = (uint32_t)t->node.n;
        return as_vec_push(&t->node, *node);
    }
    for (; t->indexed_n < t->node.n; t->indexed_n++)
        if (t->indexed_n)
            AS_TRY(as_index_add(&t->node_index, hash_of_node(&t->node.at[t->indexed_n]),
                                (uint32_t)t->indexed_n));
    const uint64_t hash = hash_of_node(node);
    for (struct as_probe probe = as_index_probe(&t->node_index, hash);
         (*out = as_index_next(&t->node_index, &probe)) != AS_INDEX_NONE;) {
        const struct as_tally_node *has = &t->node.at[*out];
        if (has->parent == node->parent && has->module == node->module &&
            has->address == node->address)
            return 0;
    }
    *out = (uint32_t)t->node.n;
    AS_TRY(as_vec_push(&t->node, *node));
    t->indexed_n++;
    return as_index_add(&t->node_index, hash, *out);
}

/* Finds the tally's node for a private node of a process, and adds it with its callers if needed.
 */
static int private_node(struct as_tally_reading *r, uint32_t index, uint32_t process, uint32_t *out)
{
    size_t n;
    const struct as_stream_node from = as_stream_nodes(r->stream, &n)[index];
    const uint64_t hash = as_hash_mix(index, process);
    struct as_tally_node node = {.address = from.address};
    uint32_t row;
    for (struct as_probe probe = as_index_probe(&r->own_index, hash);
         (row = as_index_next(&r->own_index, &probe)) != AS_INDEX_NONE;) {
        if (r->own.at[row].node == index && r->own.at[row].process == process) {
            *out = r->own.at[row].result;
            return 0;
        }
    }
    if (r->is_private.at[from.parent])
        AS_TRY(private_node(r, from.parent, process, &node.parent)); /* max depth 512 */
    else
        node.parent = r->node.at[from.parent];
    AS_TRY(module_of(r, from.module, process, &node.module));
    AS_TRY(add_node(r->tally, &node, out));
    AS_TRY(as_index_add(&r->own_index, hash, (uint32_t)r->own.n));
    return as_vec_push(&r->own, (struct as_tally_private){index, process, *out});
}

/* Adds the new nodes of the stream. Private nodes get their number later, for each process. */
static int add_stream_nodes(struct as_tally_reading *r)
{
    size_t n, module_n;
    const struct as_stream_node *known = as_stream_nodes(r->stream, &n);
    const struct as_stream_module *module = as_stream_modules(r->stream, &module_n);
    for (size_t i = r->node.n; i < n; i++) {
        const bool is_private = i && (r->is_private.at[known[i].parent] ||
                                      module[known[i].module].kind == AS_MODULE_ANON);
        uint32_t result = 0;
        if (i && !is_private) {
            struct as_tally_node node = {.parent = r->node.at[known[i].parent],
                                         .address = known[i].address};
            AS_TRY(module_of(r, known[i].module, AS_NONE, &node.module));
            AS_TRY(add_node(r->tally, &node, &result));
        }
        AS_TRY(as_vec_push(&r->node, result));
        AS_TRY(as_vec_push(&r->is_private, is_private));
    }
    return 0;
}

static int tally_sample(struct as_tally_reading *r, const struct as_stream_record *record,
                        int64_t at)
{
    struct as_tally *t = r->tally;
    uint32_t index, node;
    AS_TRY(as_tally_thread_of(r, record->thread, at, &index));
    AS_TRY(add_stream_nodes(r));
    assert(record->node < r->node.n && index < t->thread.n);
    node = r->node.at[record->node];
    assert(node < t->node.n);
    if (r->is_private.at[record->node])
        AS_TRY(private_node(r, record->node, t->thread.at[index].process, &node));
    struct as_tally_thread *thread = &t->thread.at[index];
    if (record->waits) {
        thread->waits_at = node; /* its switch record follows */
        return 0;
    }
    t->running_n++;
    t->cut_n += record->end == AS_STACK_CUT;
    t->broken_n += record->end == AS_STACK_BROKEN;
    t->switched_n += record->end == AS_STACK_SWITCHED;
    thread->n++;
    t->process.at[thread->process].n++;
    as_tally_seen_on(r, thread, record->cpu);
    AS_TRY(as_tally_count_cpu(r, thread, record->cpu));
    const uint64_t ns = r->sample_ns ? r->sample_ns : record->period;
    const bool in_kernel = t->module.at[t->node.at[node].module].kind == AS_MODULE_KERNEL;
    as_levels_add(&t->levels, index, in_kernel ? AS_LEVEL_KERNEL : AS_LEVEL_USER,
                  at - (int64_t)(ns < (uint64_t)at ? ns : (uint64_t)at), at);
    return as_tally_add_sum(t, index, node, false, 1, as_tally_add_within(&t->sum_ns, (int64_t)ns));
}

/* ---- Facts --------------------------------------------------------------------------------- */

/* Returns the latest thread with this pid and tid, which may have ended; NULL if there is none. */
static struct as_tally_thread *latest_of(struct as_tally *t, struct as_stream_thread who)
{
    for (size_t i = t->thread.n; i-- > 0;) {
        struct as_tally_thread *thread = &t->thread.at[i];
        if (thread->tid == who.tid && t->process.at[thread->process].pid == who.pid)
            return thread;
    }
    return NULL;
}

/* Stores a time of the kernel's account of a thread: its run delay or its CPU time. */
static void tally_thread_account(struct as_tally_reading *r, const struct as_stream_record *record)
{
    size_t n;
    const bool runs = record->thread < r->thread.n && r->thread.at[record->thread] != AS_NONE;
    struct as_tally_thread *thread =
        runs ? &r->tally->thread.at[r->thread.at[record->thread]]
             : latest_of(r->tally, as_stream_threads(r->stream, &n)[record->thread]);
    const int64_t time_ns = strtoll(record->value, NULL, 10);
    if (!thread)
        return;
    int64_t *kept_ns = strcmp(record->text, "ran_ns") == 0 ? &thread->ran_ns : &thread->delay_ns;
    if (time_ns > *kept_ns && time_ns < INT64_C(1) << 52)
        *kept_ns = time_ns;
}

/* Stores the early run delay of the first thread, which may have no earlier record. */
static void tally_start_delay(struct as_tally_reading *r, const struct as_stream_record *record,
                              int64_t at)
{
    size_t n;
    const struct as_stream_thread who = as_stream_threads(r->stream, &n)[record->thread];
    const int64_t delay_ns = strtoll(record->value, NULL, 10);
    if (delay_ns < 0 || delay_ns >= INT64_C(1) << 52)
        return;
    if (record->thread < r->thread.n && r->thread.at[record->thread] != AS_NONE) {
        struct as_tally_thread *thread = &r->tally->thread.at[r->thread.at[record->thread]];
        thread->early_delay_ns = delay_ns;
        thread->early_at_ns = at;
        thread->early_runnable_ns = thread->runnable_ns;
    } else {
        r->early.pid = who.pid;
        r->early.delay_ns = delay_ns;
        r->early.at_ns = at;
    }
}

static int tally_operand(struct as_tally_reading *r, const char *text, uint32_t process)
{
    size_t n;
    struct as_tally_operand operand;
    as_stream_modules(r->stream, &n);
    if (as_operand_read(text, &operand) < 0 || operand.place.module >= n)
        return 0;
    AS_TRY(module_of(r, operand.place.module, process, &operand.place.module));
    return as_vec_push(&r->tally->operand, operand);
}

/* The draws of an instruction come in parts, and its values right after them. */
static struct as_tally_registers *same_place(const struct as_tally *tally,
                                             const struct as_tally_registers *registers)
{
    struct as_tally_registers *last =
        tally->registers.n ? &tally->registers.at[tally->registers.n - 1] : NULL;
    return last && !last->values && last->process == registers->process &&
                   last->place.module == registers->place.module &&
                   last->place.address == registers->place.address
               ? last
               : NULL;
}

static int add_draws(struct as_arena *arena, struct as_tally_registers *to,
                     const struct as_tally_registers *from)
{
    struct as_tally_draw *all =
        as_arena_array(arena, struct as_tally_draw, (size_t)to->draws + from->draws + 1);
    if (!all)
        return AS_ERR_NOMEM;
    if (to->draws)
        memcpy(all, to->draw, to->draws * sizeof *all);
    if (from->draws)
        memcpy(all + to->draws, from->draw, from->draws * sizeof *all);
    to->draw = all;
    to->draws += from->draws;
    return 0;
}

static int tally_register_values(struct as_tally_reading *r, const char *text, uint32_t process,
                                 bool draws)
{
    size_t n;
    struct as_tally_registers registers;
    struct as_arena *arena = &r->tally->arena;
    as_stream_modules(r->stream, &n);
    if ((draws ? as_drawn_read(arena, text, &registers)
               : as_registers_read(arena, text, &registers)) < 0 ||
        registers.place.module >= n)
        return 0;
    AS_TRY(module_of(r, registers.place.module, process, &registers.place.module));
    registers.process = process;
    struct as_tally_registers *last = same_place(r->tally, &registers);
    if (!last)
        return as_vec_push(&r->tally->registers, registers);
    if (draws)
        return add_draws(arena, last, &registers);
    last->values = registers.values;
    last->value = registers.value;
    return 0;
}

static int tally_data_object(struct as_tally_reading *r, const char *text, uint32_t process)
{
    struct as_tally_data data;
    if (as_data_read(&r->tally->arena, text, &data) < 0)
        return 0;
    data.process = process;
    return as_vec_push(&r->tally->data, data);
}

static int parse_site(struct as_tally_reading *r, const char *text, uint32_t process)
{
    size_t n;
    struct as_tally_site site;
    as_stream_modules(r->stream, &n);
    if (as_site_read(&r->tally->arena, text, &site) < 0)
        return 0;
    struct as_tally_frame *frame =
        as_arena_array(&r->tally->arena, struct as_tally_frame, (size_t)site.frame_n + 1);
    if (!frame)
        return AS_ERR_NOMEM;
    for (uint32_t i = 0; i < site.frame_n; i++) {
        frame[i].address = site.frame[i].address;
        if (site.frame[i].module >= n)
            return 0;
        AS_TRY(module_of(r, site.frame[i].module, process, &frame[i].module));
    }
    site.stream = r->number;
    site.frame = frame;
    return as_vec_push(&r->tally->site, site);
}

static int parse_block(struct as_tally_reading *r, const char *text, uint32_t process)
{
    struct as_tally_block block;
    if (as_block_read(text, &block) < 0)
        return 0;
    block.process = process;
    block.stream = r->number;
    return as_vec_push(&r->tally->block, block);
}

static int tally_process_fact(struct as_tally_reading *r, const struct as_stream_record *record,
                              int64_t at)
{
    uint32_t index;
    size_t n;
    const uint32_t pid = as_stream_threads(r->stream, &n)[record->thread].pid;
    if (strcmp(record->text, "run_delay_ns") == 0 || strcmp(record->text, "ran_ns") == 0) {
        tally_thread_account(r, record);
        return 0;
    }
    if (strcmp(record->text, "start_delay_ns") == 0) {
        tally_start_delay(r, record, at);
        return 0;
    }
    /* The parent of a process knows its end, even if the process was not sampled. */
    if (strncmp(record->text, "exit_", 5) == 0 && as_map_u64_get(&r->process, pid) == AS_MAP_NONE)
        return 0;
    AS_TRY(as_tally_process_of(r, pid, at, &index));
    if (strcmp(record->text, "operands") == 0)
        return tally_operand(r, record->value, index);
    if (strcmp(record->text, "values") == 0)
        return tally_register_values(r, record->value, index, false);
    if (strcmp(record->text, "draws") == 0)
        return tally_register_values(r, record->value, index, true);
    if (strcmp(record->text, "data") == 0)
        return tally_data_object(r, record->value, index);
    if (strcmp(record->text, "site") == 0)
        return parse_site(r, record->value, index);
    if (strcmp(record->text, "block") == 0)
        return parse_block(r, record->value, index);
    struct as_tally_process *process = &r->tally->process.at[index];
    const char *value = as_tally_keep(r->tally, record->value);
    if (!value)
        return AS_ERR_NOMEM;
    if (strcmp(record->text, "exe") == 0)
        process->exe = value;
    else if (strcmp(record->text, "command") == 0)
        process->command = value;
    else if (strcmp(record->text, "root") == 0)
        process->root = value;
    else if (strcmp(record->text, "launcher") == 0)
        process->launcher = value;
    else if (strcmp(record->text, "rank") == 0)
        process->rank = strtoll(value, NULL, 10);
    else if (strcmp(record->text, "ns_pid") == 0)
        process->ns_pid = (uint32_t)strtoul(value, NULL, 10);
    else if (strcmp(record->text, "exit_code") == 0)
        process->exit_code = (int)strtol(value, NULL, 10);
    else if (strcmp(record->text, "exit_signal") == 0)
        process->exit_signal = (int)strtol(value, NULL, 10);
    return 0;
}

/* Handles a mapping. The first file that a program maps is the program itself. */
static int tally_map(struct as_tally_reading *r, const struct as_stream_record *record, int64_t at)
{
    uint32_t index;
    size_t n;
    const struct as_stream_module *module = &as_stream_modules(r->stream, &n)[record->module];
    AS_TRY(as_tally_thread_of(r, record->thread, at, &index));
    struct as_tally_process *process = &r->tally->process.at[r->tally->thread.at[index].process];
    if (process->exe || module->kind != AS_MODULE_FILE)
        return 0;
    process->exe = as_tally_keep(r->tally, module->path);
    return process->exe ? 0 : AS_ERR_NOMEM;
}

/* Returns the offset from the clock of a stream to that of its run; 0 if one of them is invalid. */
static int64_t between(int64_t clock_ns, int64_t run_start_ns)
{
    const int64_t most = INT64_C(1) << 61;
    return clock_ns > -most && clock_ns < most && run_start_ns > -most && run_start_ns < most
               ? clock_ns - run_start_ns
               : 0;
}

static int tally_info(struct as_tally_reading *r, const struct as_stream_record *record,
                      int64_t run_start_ns)
{
    struct as_tally_stream *stream = &r->tally->stream.at[r->number];
    const char *name = as_tally_keep(r->tally, record->text),
               *value = as_tally_keep(r->tally, record->value);
    if (!name || !value)
        return AS_ERR_NOMEM;
    if (strcmp(name, "event") == 0)
        stream->event = value;
    else if (strcmp(name, "reason") == 0)
        stream->reason = value;
    else if (strcmp(name, "stacks") == 0)
        stream->stacks = value;
    else if (strcmp(name, "host") == 0)
        stream->host = value;
    else if (strcmp(name, "kernel") == 0)
        stream->kernel = strcmp(value, "yes") == 0;
    else if (strcmp(name, "rate_hz") == 0)
        stream->rate_hz = (uint32_t)strtoul(value, NULL, 10);
    else if (strcmp(name, "numa") == 0)
        AS_TRY(as_numa_read(&r->numa, value));
    else if (strcmp(name, "clock_offset_ns") == 0)
        r->offset_ns = between(strtoll(value, NULL, 10), run_start_ns);
    /* A counter does not measure time, so each sample stands for one period of the rate. */
    if (stream->event && stream->rate_hz && strcmp(stream->event, "cpu-clock") != 0 &&
        strcmp(stream->event, "timer") != 0)
        r->sample_ns = 1000000000u / stream->rate_hz;
    if (strcmp(name, "python") == 0)
        return as_vec_push(&r->python, value);
    const struct as_tally_fact fact = {.stream = r->number, .name = name, .value = value};
    return as_vec_push(&r->tally->fact, fact);
}

/* Counts lost records. Their record comes late, so the thread may have ended; no new one is added.
 */
static int tally_lost(struct as_tally_reading *r, const struct as_stream_record *record, int64_t at)
{
    struct as_tally *t = r->tally;
    size_t n;
    uint32_t index;
    const struct as_stream_thread who = as_stream_threads(r->stream, &n)[record->thread];
    const bool runs = record->thread < r->thread.n && r->thread.at[record->thread] != AS_NONE;
    struct as_tally_thread *ended = runs ? NULL : latest_of(t, who);
    if (ended) {
        ended->lost_n += as_tally_add_within(&t->lost_n, (int64_t)record->lost);
        return 0;
    }
    AS_TRY(as_tally_thread_of(r, record->thread, at, &index));
    t->thread.at[index].lost_n += as_tally_add_within(&t->lost_n, (int64_t)record->lost);
    return 0;
}

static int tally_stream_record(struct as_tally_reading *r, const struct as_stream_record *record,
                               int64_t run_start_ns)
{
    int64_t at;
    uint32_t index;
    if (record->kind == AS_STREAM_INFO)
        return tally_info(r, record, run_start_ns);
    at = run_time(r, record->time_ns);
    r->last_ns = at > r->last_ns ? at : r->last_ns;
    switch (record->kind) {
    case AS_STREAM_SAMPLE:
        return tally_sample(r, record, at);
    case AS_STREAM_FORK:
        return as_tally_on_fork(r, record, at);
    case AS_STREAM_SWITCH:
        return as_tally_on_switch(r, record, at);
    case AS_STREAM_PROCESS:
        return tally_process_fact(r, record, at);
    case AS_STREAM_MAP:
        return tally_map(r, record, at);
    case AS_STREAM_COMM:
        AS_TRY(as_tally_thread_of(r, record->thread, at, &index));
        if (record->out) { /* the process executes another program */
            struct as_tally_process *process =
                &r->tally->process.at[r->tally->thread.at[index].process];
            process->exe = process->command = NULL;
        }
        r->tally->thread.at[index].name = as_tally_keep(r->tally, record->text);
        return r->tally->thread.at[index].name ? 0 : AS_ERR_NOMEM;
    case AS_STREAM_LOST:
        return tally_lost(r, record, at);
    case AS_STREAM_EXIT:
        AS_TRY(as_tally_thread_of(r, record->thread, at, &index));
        AS_TRY(as_tally_stop_waiting(r->tally, index, at));
        as_tally_end_thread(r->tally, index, at);
        r->thread.at[record->thread] = AS_NONE;
        return 0;
    default:
        return 0;
    }
}

/* ---- A stream, and all ---------------------------------------------------------------------- */

int as_tally_init(struct as_tally *tally)
{
    *tally = (struct as_tally){0};
    as_arena_init(&tally->arena);
    as_levels_init(&tally->levels);
    AS_TRY(as_vec_push(&tally->node, (struct as_tally_node){0}));
    uint32_t none;
    const struct as_tally_module unknown = {
        .path = "", .kind = AS_MODULE_UNKNOWN, .process = AS_NONE};
    return add_module(tally, &unknown, &none);
}

void as_tally_fini(struct as_tally *tally)
{
    as_vec_foreach (&tally->thread, thread)
        as_vec_fini(&thread->cpu);
    as_levels_fini(&tally->levels);
    as_vec_fini(&tally->stream);
    as_vec_fini(&tally->module);
    as_vec_fini(&tally->process);
    as_vec_fini(&tally->thread);
    as_vec_fini(&tally->node);
    as_vec_fini(&tally->sum);
    as_vec_fini(&tally->last_sum);
    as_vec_fini(&tally->fact);
    as_vec_fini(&tally->python);
    as_vec_fini(&tally->operand);
    as_vec_fini(&tally->registers);
    as_vec_fini(&tally->data);
    as_vec_fini(&tally->site);
    as_vec_fini(&tally->block);
    as_index_fini(&tally->node_index);
    as_index_fini(&tally->sum_index);
    as_index_fini(&tally->module_index);
    as_arena_fini(&tally->arena);
}

static int read_all(struct as_tally_reading *r, int64_t run_start_ns, struct as_error *err)
{
    struct as_stream_record record;
    int rc;
    while ((rc = as_stream_next(r->stream, &record, err)) > 0)
        if (tally_stream_record(r, &record, run_start_ns) < 0)
            return as_error_nomem(err, "the samples of a run");
    return rc;
}

/* Ends the running and blocked intervals of all threads at the end of the stream. */
static int end_all(struct as_tally_reading *r)
{
    as_vec_foreach (&r->thread, index) {
        if (*index == AS_NONE)
            continue;
        AS_TRY(as_tally_stop_waiting(r->tally, *index, r->last_ns));
        as_tally_stop_queueing(r->tally, &r->tally->thread.at[*index], r->last_ns);
        const struct as_tally_thread *thread = &r->tally->thread.at[*index];
        if (thread->on_ns >= 0) {
            as_tally_end_thread(r->tally, *index, r->last_ns);
            r->tally->thread.at[*index].end_ns = -1;
        }
    }
    return 0;
}

int as_tally_add(struct as_tally *tally, const char *path, const char *name, int64_t run_start_ns,
                 struct as_error *err)
{
    struct as_tally_reading r = {.tally = tally, .number = (uint32_t)tally->stream.n};
    const struct as_tally_stream stream = {.name = as_tally_keep(tally, name)};
    int rc = 0;
    as_map_u64_init(&r.process);
    if (!stream.name || as_vec_push(&tally->stream, stream) < 0)
        rc = as_error_nomem(err, path);
    if (rc == 0)
        rc = as_stream_open(path, &r.stream, err);
    if (rc == 0)
        rc = read_all(&r, run_start_ns, err);
    if (rc == 0 && (end_all(&r) < 0 || set_copied_files(&r) < 0 || add_pythons(&r) < 0))
        rc = as_error_nomem(err, path);
    if (r.stream) {
        struct as_tally_stream *made = &tally->stream.at[r.number];
        made->truncated = as_stream_truncated(r.stream);
        made->damaged = as_stream_reading(r.stream).damaged;
        made->counts = *as_stream_counts(r.stream, &made->dropped);
        made->has_numa = r.numa.node.n > 0;
    }
    as_stream_close(&r.stream);
    as_map_u64_fini(&r.process);
    as_vec_fini(&r.numa.node);
    as_vec_fini(&r.thread);
    as_vec_fini(&r.python);
    as_vec_fini(&r.on_cpu);
    as_vec_fini(&r.module);
    as_vec_fini(&r.node);
    as_vec_fini(&r.is_private);
    as_vec_fini(&r.own);
    as_index_fini(&r.own_index);
    return rc;
}
