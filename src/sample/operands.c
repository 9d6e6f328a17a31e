/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction of a sample has not been executed yet, so the registers give the address that it
 * will access. If it accesses no memory, the next instruction with a memory operand in the same
 * straight line is used. Nothing in between may change its registers.
 *
 * Two random draws from an array of S chunks fall into the same chunk with probability 1/S. So the
 * number of such pairs bounds S from below. The outermost addresses bound S from above, because a
 * regular walk hits a chunk twice less often than random draws. Chunks with many hits (a stack, the
 * first steps of a search) stay in a cache and are left out.
 */
#include "sample/operands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/index.h"
#include "isa/isa.h"
#include "sample/block_lives.h"
#include "sample/data_maps.h"
#include "sample/draws.h"
#include "sample/values.h"

#define SITES_MOST   8192u /* max instructions per process */
#define WALKS_MOST   (1u << 17)
#define KEPT_MOST    1024u /* max addresses per instruction, drawn at random */
#define LEAST        20u   /* min samples for a result */
#define CHUNK_BITS   16    /* 64 KiB */
#define LINE_INSN_N  8u    /* number of instructions searched from the sampled one on */
#define INSN_MOST_B  15u
#define BEFORE_B     96u
#define PERIODS_MOST 3.0 /* max time between two samples of one walk, in sampling periods */

/* An operand of an instruction, in DWARF registers. */
struct operand_form {
    uint8_t base, index, scale; /* NO_REG: none */
    /* Distance of the instruction with the operand from the sampled one; below 0: before it. */
    int8_t later_b;
    bool is_usable;
    int64_t disp;
};
#define NO_REG AS_REG_NONE

struct operand_site {
    uint32_t pid, module;
    uint64_t address; /* address of the samples in the module */
    struct operand_form form;
    uint64_t seen_n, last_ns;
    AS_VEC(uint64_t) kept;
    AS_VEC(float) pace;              /* bytes per second */
    uint64_t pace_seen_n, forward_n; /* number of moves, and of moves to higher addresses */
    struct as_register_values values;
    struct as_register_draws draws;
};

/* Last address of a thread at a site. */
struct operand_walk {
    uint64_t at, time_ns;
};

struct as_operands {
    AS_VEC(struct operand_site) site;
    struct as_index by_place;
    AS_VEC(struct operand_walk) walk;
    struct as_map_u64 by_thread; /* thread and site -> walk */
    /* tid -> number of its samples so far: a clock that other threads do not advance. */
    struct as_map_u64 clock;
    uint64_t period_ns, random;
    struct as_data_maps maps;
    struct as_block_lives blocks;
};

int as_operands_new(uint32_t rate_hz, bool imported, struct as_operands **out)
{
    struct as_operands *o = as_calloc(1, sizeof *o);

    *out = o;
    if (!o)
        return AS_ERR_NOMEM;
    o->period_ns = 1000000000u / (rate_hz ? rate_hz : 1);
    o->random = 1;
    o->maps.imported = imported;
    as_map_u64_init(&o->by_thread);
    as_map_u64_init(&o->clock);
    as_block_lives_init(&o->blocks);
    return 0;
}

void as_operands_free(struct as_operands **operands)
{
    struct as_operands *o = *operands;

    if (!o)
        return;
    as_vec_foreach (&o->site, site) {
        as_vec_fini(&site->kept);
        as_vec_fini(&site->pace);
        as_vec_fini(&site->draws.at);
    }
    as_vec_fini(&o->site);
    as_vec_fini(&o->walk);
    as_index_fini(&o->by_place);
    as_map_u64_fini(&o->by_thread);
    as_map_u64_fini(&o->clock);
    as_data_maps_fini(&o->maps);
    as_block_lives_fini(&o->blocks);
    as_free(o);
    *operands = NULL;
}

/* ---- Operands of instructions --------------------------------------------------------------- */

/* Finds an operand with a moving address: no stack, fixed address, gather or thread-local
 * memory. */
static bool form_of(const struct as_code *code, size_t at, struct operand_form *out)
{
    struct as_memory memory[2];
    const int n = as_insn_memory(code, &code->insn[at], memory);

    for (int i = 0; i < n; i++) {
        const struct as_memory *m = &memory[i];
        const bool has_base = m->base != AS_REG_NONE, has_index = m->index != AS_REG_NONE;

        if (m->stack || m->rip_relative || m->segment != AS_REG_NONE || !m->access ||
            (!has_base && !has_index))
            continue;
        *out = (struct operand_form){.base = has_base ? as_reg_dwarf(m->base) : NO_REG,
                                     .index = has_index ? as_reg_dwarf(m->index) : NO_REG,
                                     .scale = m->scale,
                                     .disp = m->disp,
                                     .is_usable = true};
        return (!has_base || out->base != NO_REG) && (!has_index || out->index != NO_REG);
    }
    return false;
}

static bool leaves_line(const struct as_form *form)
{
    return form->traits & AS_TRAIT_ENDS || form->insn_class == AS_CLASS_BRANCH ||
           form->insn_class == AS_CLASS_CALL || form->insn_class == AS_CLASS_INVALID;
}

static bool is_changed(const struct as_regset *written, uint8_t reg)
{
    for (unsigned gpr = 0; gpr < 16 && reg != NO_REG; gpr++)
        if (as_reg_dwarf(gpr) == reg)
            return as_regset_has(*written, AS_REG_GPR + gpr);
    return false;
}

/* Returns the first operand of the straight line that begins with `code`. */
static struct operand_form first_operand(const struct as_code *code)
{
    struct as_regset written = {{0, 0}};
    struct operand_form form = {0};

    for (size_t i = 0; i < code->n && i < LINE_INSN_N; i++) {
        struct as_effects effects;

        if (form_of(code, i, &form)) {
            form.is_usable = !is_changed(&written, form.base) && !is_changed(&written, form.index);
            form.later_b = (int8_t)(code->insn[i].address - code->insn[0].address);
            return form;
        }
        if (leaves_line(as_form_get(code->insn[i].form)))
            break;
        as_insn_effects(&code->insn[i], &effects);
        written.word[0] |= effects.written.word[0];
        written.word[1] |= effects.written.word[1];
    }
    return (struct operand_form){0};
}

/* Returns the last operand before `end` with registers that are not written up to `end`. */
static struct operand_form last_operand(const struct as_code *code, uint64_t end)
{
    struct as_regset written = {{0, 0}};
    struct operand_form form = {0};

    for (size_t i = code->n; i-- > 0 && i + LINE_INSN_N > code->n;) {
        struct as_effects effects;

        if (leaves_line(as_form_get(code->insn[i].form)))
            break;
        as_insn_effects(&code->insn[i], &effects);
        written.word[0] |= effects.written.word[0];
        written.word[1] |= effects.written.word[1];
        if (!form_of(code, i, &form))
            continue;
        form.is_usable = !is_changed(&written, form.base) && !is_changed(&written, form.index);
        form.later_b = (int8_t)(code->insn[i].address - end);
        return form;
    }
    return (struct operand_form){0};
}

static bool is_same_form(const struct operand_form *a, const struct operand_form *b)
{
    return a->base == b->base && a->index == b->index && a->scale == b->scale &&
           a->later_b == b->later_b && a->is_usable == b->is_usable && a->disp == b->disp;
}

/* Finds the operand before `address`. Decoding from a wrong start soon finds the true instruction
 * starts, so two starts must give the same result. */
static struct operand_form operand_before(const struct as_object *object, uint64_t address)
{
    struct operand_form form[2] = {{0}, {0}};
    uint64_t size_b;

    for (int i = 0; i < 2; i++) {
        const uint64_t start = address - BEFORE_B + (uint64_t)i * 13;
        const uint8_t *bytes = as_object_bytes(object, start, &size_b);
        struct as_code code;

        if (!bytes || size_b < address - start ||
            as_decode(bytes, address - start, start, &code, NULL) < 0)
            return form[1];
        if (code.n && code.insn[code.n - 1].address + code.insn[code.n - 1].length == address)
            form[i] = last_operand(&code, address);
        as_code_free(&code);
    }
    return is_same_form(&form[0], &form[1]) ? form[0] : (struct operand_form){0};
}

static struct operand_form read_form(const struct as_object *object, uint64_t offset)
{
    struct operand_form form = {0};
    struct as_code code;
    uint64_t address, size_b;
    const uint8_t *bytes;

    if (!object || !as_object_address_of(object, offset, &address))
        return form;
    bytes = as_object_bytes(object, address, &size_b);
    if (size_b > LINE_INSN_N * INSN_MOST_B)
        size_b = LINE_INSN_N * INSN_MOST_B;
    if (!bytes || as_decode(bytes, size_b, address, &code, NULL) < 0)
        return form;
    form = first_operand(&code);
    as_code_free(&code);
    if (form.is_usable && form.later_b == 0)
        return form;
    const struct operand_form before = operand_before(object, address);
    return before.is_usable ? before : form;
}

/* ---- Samples -------------------------------------------------------------------------------- */

static int site_of(struct as_operands *o, const struct as_object *object, struct as_frame frame,
                   uint32_t pid, uint32_t *out)
{
    const uint64_t hash = as_hash_mix((uint64_t)pid << 32 | frame.module, frame.address);
    struct operand_site site = {.pid = pid, .module = frame.module, .address = frame.address};

    for (struct as_probe probe = as_index_probe(&o->by_place, hash);
         (*out = as_index_next(&o->by_place, &probe)) != AS_INDEX_NONE;) {
        const struct operand_site *has = &o->site.at[*out];

        if (has->pid == pid && has->module == frame.module && has->address == frame.address)
            return 0;
    }
    if (o->site.n == SITES_MOST)
        return 0;
    *out = (uint32_t)o->site.n;
    site.form = read_form(object, frame.address);
    AS_TRY(as_vec_push(&o->site, site));
    return as_index_add(&o->by_place, hash, *out);
}

static int draw_address(struct as_operands *o, struct operand_site *site, uint64_t at)
{
    const uint32_t place = as_draw_place(&o->random, site->seen_n++, KEPT_MOST);

    if (place >= KEPT_MOST)
        return 0;
    if (place == site->kept.n)
        return as_vec_push(&site->kept, at);
    site->kept.at[place] = at;
    return 0;
}

static int draw_pace(struct as_operands *o, struct operand_site *site,
                     const struct operand_walk *from, const struct operand_walk *to)
{
    const double time_ns = (double)(to->time_ns - from->time_ns);
    const double far_b = fabs((double)(int64_t)(to->at - from->at));

    if (!(time_ns > 0) || time_ns > PERIODS_MOST * (double)o->period_ns)
        return 0;
    const uint32_t place = as_draw_place(&o->random, site->pace_seen_n++, KEPT_MOST);
    site->forward_n += to->at > from->at;
    const float pace = (float)(far_b / time_ns * 1e9);
    if (place >= KEPT_MOST)
        return 0;
    if (place == site->pace.n)
        return as_vec_push(&site->pace, pace);
    site->pace.at[place] = pace;
    return 0;
}

/* Computes the pace from the last sample of this thread at the same site. */
static int follow_walk(struct as_operands *o, uint32_t site, uint32_t tid, struct operand_walk now)
{
    const uint64_t key = (uint64_t)tid << 32 | site;
    const uint32_t at = as_map_u64_get(&o->by_thread, key);

    if (at != AS_MAP_NONE) {
        AS_TRY(draw_pace(o, &o->site.at[site], &o->walk.at[at], &now));
        o->walk.at[at] = now;
        return 0;
    }
    if (o->walk.n == WALKS_MOST)
        return 0;
    AS_TRY(as_map_u64_put(&o->by_thread, key, (uint32_t)o->walk.n));
    return as_vec_push(&o->walk, now);
}

int as_operands_add(struct as_operands *operands, const struct as_object *object,
                    struct as_frame frame, const struct as_sample_record *sample)
{
    const uint32_t before = as_map_u64_get(&operands->clock, sample->tid);
    const uint32_t ticks = before == AS_MAP_NONE ? 1 : before + 1;
    uint32_t index;

    AS_TRY(as_map_u64_put(&operands->clock, sample->tid, ticks));
    if (!sample->regs || sample->in_kernel)
        return 0;
    AS_TRY(site_of(operands, object, frame, sample->pid, &index));
    if (index == AS_INDEX_NONE)
        return 0;
    struct operand_site *site = &operands->site.at[index];
    const struct operand_form *form = &site->form;
    as_values_add(&site->values, sample->regs);
    site->last_ns = sample->time_ns;
    AS_TRY(as_draws_add(&site->draws, &operands->random, sample));
    if (!form->is_usable)
        return 0;
    struct operand_walk now = {.at = (uint64_t)form->disp, .time_ns = ticks * operands->period_ns};
    if (form->base != NO_REG)
        now.at += sample->regs[form->base];
    if (form->index != NO_REG)
        now.at += sample->regs[form->index] * form->scale;
    AS_TRY(as_data_maps_see(&operands->maps, sample->pid, now.at,
                            sample->regs[AS_DRAW_STACK_POINTER]));
    AS_TRY(draw_address(operands, site, now.at));
    return follow_walk(operands, index, sample->tid, now);
}

/* ---- Statistics ----------------------------------------------------------------------------- */

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static int compare_float(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* Returns the number of sorted addresses from `at` on in the same chunk. */
static size_t in_chunk(const uint64_t *address, size_t at, size_t n)
{
    size_t end = at + 1;

    while (end < n && address[end] >> CHUNK_BITS == address[at] >> CHUNK_BITS)
        end++;
    return end - at;
}

struct as_operand_reach as_operands_reach(uint64_t *address, size_t n)
{
    const double often = fmax(3, 0.02 * (double)n), chunk_b = (double)(1u << CHUNK_BITS);
    double far_n = 0, pairs = 0;
    uint64_t low = 0, high = 0;

    if (n < LEAST)
        return (struct as_operand_reach){0, 0};
    qsort(address, n, sizeof *address, compare_u64);
    for (size_t i = 0, step; i < n; i += step) {
        step = in_chunk(address, i, n);
        const double here = (double)step;
        if (here > often)
            continue;
        low = far_n > 0 ? low : address[i];
        high = address[i + step - 1];
        far_n += here;
        pairs += here * (here - 1) / 2;
    }
    /* Max number of pairs at the 95 % level, for the observed mean (Poisson, rounded up). */
    const double most = pairs + 1.96 * sqrt(pairs + 1) + 2;
    const struct as_operand_reach out = {
        .reach_b = fmin(chunk_b * far_n * (far_n - 1) / 2 / most, (double)(high - low) + chunk_b),
        .far = far_n / (double)n};
    return far_n < LEAST ? (struct as_operand_reach){0, out.far} : out;
}

static float median_pace(struct operand_site *site)
{
    if (site->pace.n < LEAST)
        return 0;
    qsort(site->pace.at, site->pace.n, sizeof *site->pace.at, compare_float);
    return site->pace.at[site->pace.n / 2];
}

static double forward_share(const struct operand_site *site)
{
    return site->pace_seen_n < LEAST ? -1 : (double)site->forward_n / (double)site->pace_seen_n;
}

/* Writes module, address and the text of as_values_text. With fewer samples the draws have all
 * values. */
static int write_values(const struct operand_site *site, struct as_writer *writer)
{
    char values[AS_VALUES_TEXT_B], text[AS_VALUES_TEXT_B + 64];

    if (site->values.sample_n < AS_VALUES_SAMPLES_LEAST || !as_values_text(&site->values, values))
        return 0;
    snprintf(text, sizeof text, "%u %llu %s", site->module, (unsigned long long)site->address,
             values);
    return as_writer_process(writer, site->pid, site->pid, site->last_ns, "values", text);
}

/* Writes module, address, samples and the text of as_draws_text, in parts. */
static int write_draws(const struct operand_site *site, struct as_writer *writer)
{
    char draws[AS_DRAWS_TEXT_B], text[AS_DRAWS_TEXT_B + 64];

    for (size_t from = 0; from < site->draws.at.n; from += AS_DRAWS_TEXT_N) {
        as_draws_text(&site->draws, from, draws);
        snprintf(text, sizeof text, "%u %llu %llu %s", site->module,
                 (unsigned long long)site->address, (unsigned long long)site->draws.sample_n,
                 draws);
        AS_TRY(as_writer_process(writer, site->pid, site->pid, site->last_ns, "draws", text));
    }
    return 0;
}

/* Writes start, end, base, offset, kind or kind:per cent in huge pages, path. */
static int write_ranges(const struct as_operands *operands, uint32_t pid, uint64_t time_ns,
                        struct as_writer *writer)
{
    const as_data_ranges *ranges = as_data_maps_of(&operands->maps, pid);

    if (!ranges)
        return 0;
    as_vec_foreach (ranges, range) {
        char text[4096], huge[8] = "";
        if (range->huge_pct >= 0)
            snprintf(huge, sizeof huge, ":%d", range->huge_pct);
        snprintf(text, sizeof text, "%llx %llx %llx %llx %s%s %s", (unsigned long long)range->start,
                 (unsigned long long)range->end, (unsigned long long)range->base,
                 (unsigned long long)range->offset, as_data_kind_word[range->kind], huge,
                 range->path ? range->path : "");
        AS_TRY(as_writer_process(writer, pid, pid, time_ns, "data", text));
    }
    return 0;
}

static int write_data(const struct as_operands *operands, struct as_writer *writer)
{
    struct as_map_u64 written;
    int rc = 0;

    as_map_u64_init(&written);
    as_vec_foreach (&operands->site, site) {
        if (rc < 0 || as_map_u64_get(&written, site->pid) != AS_MAP_NONE)
            continue;
        rc = as_map_u64_put(&written, site->pid, 0);
        if (rc == 0)
            rc = write_ranges(operands, site->pid, site->last_ns, writer);
    }
    as_map_u64_fini(&written);
    return rc;
}

static int by_process_and_time(const void *a, const void *b)
{
    const struct as_draw_time *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Lists the times of the kept samples with registers. */
static int list_draw_times(const struct as_operands *operands, as_draw_times *out)
{
    as_vec_foreach (&operands->site, site)
        as_vec_foreach (&site->draws.at, draw)
            AS_TRY(as_vec_push(out, (struct as_draw_time){site->pid, draw->time_ns}));
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, by_process_and_time);
    return 0;
}

static int write_blocks(struct as_operands *operands, const struct as_spaces *spaces,
                        struct as_writer *writer)
{
    as_draw_times times = {0};

    if (!operands->blocks.process.n)
        return 0;
    int rc = list_draw_times(operands, &times);
    if (rc == 0)
        rc = as_block_lives_write(&operands->blocks, &times, spaces, writer);
    as_vec_fini(&times);
    return rc;
}

/* Writes module, address, bytes to the instruction of the operand and samples. Then follow reach,
 * share of scattered addresses, pace, and share of forward moves. */
int as_operands_write(struct as_operands *operands, const struct as_spaces *spaces,
                      struct as_writer *writer)
{
    as_vec_foreach (&operands->site, site) {
        char text[160];

        AS_TRY(write_draws(site, writer));
        AS_TRY(write_values(site, writer));
        if (site->kept.n < LEAST)
            continue;
        const struct as_operand_reach reach = as_operands_reach(site->kept.at, site->kept.n);
        snprintf(text, sizeof text, "%u %llu %d %llu %.0f %.3f %.0f %.3f", site->module,
                 (unsigned long long)site->address, site->form.later_b,
                 (unsigned long long)site->seen_n, reach.reach_b, reach.far,
                 (double)median_pace(site), forward_share(site));
        AS_TRY(as_writer_process(writer, site->pid, site->pid, site->last_ns, "operands", text));
    }
    AS_TRY(write_data(operands, writer));
    return write_blocks(operands, spaces, writer);
}

/* ---- Blocks --------------------------------------------------------------------------------- */

int as_operands_block(struct as_operands *operands, const struct as_sample_record *record)
{
    as_draw_times times = {0};
    int rc = as_block_lives_add(&operands->blocks, record);

    if (rc < 0 || !as_block_lives_full(&operands->blocks))
        return rc;
    rc = list_draw_times(operands, &times);
    if (rc == 0)
        as_block_lives_prune(&operands->blocks, &times);
    as_vec_fini(&times);
    return rc;
}

static void locate_sites(struct as_operands *operands, uint32_t pid, const struct as_spaces *spaces,
                         uint64_t time_ns)
{
    const uint32_t space = as_map_u64_get(&spaces->by_pid, pid);

    if (space != AS_MAP_NONE)
        as_block_lives_locate(&operands->blocks, pid, &spaces->space.at[space], time_ns);
}

void as_operands_exit(struct as_operands *operands, uint32_t pid, const struct as_spaces *spaces)
{
    locate_sites(operands, pid, spaces, UINT64_MAX);
}

int as_operands_exec(struct as_operands *operands, const struct as_sample_record *record,
                     const struct as_spaces *spaces)
{
    /* Blocks of the new program may appear before its mappings. */
    locate_sites(operands, record->pid, spaces, record->time_ns);
    as_data_maps_exec(&operands->maps, record->pid);
    return as_block_lives_exec(&operands->blocks, record->pid, record->time_ns);
}
