/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The front end: consecutive taken branches, branches on random bits, pairs that share a slot among
 * nops. Also the loop size from which instructions no longer come from the op cache.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "isa/encode.h"
#include "measure/kernels.h"
#include "measure/knee.h"
#include "measure/parameters.h"

enum { DRAWN = 400, GROUPS = 64, OPCACHE_POINTS = 44, OPCACHE_LEAST = 512, OPCACHE_MOST = 12288 };

#define OPCACHE_STEP 1.25
/* Cycles: no pipeline is shorter. */
#define MISPREDICTED_LEAST 4
/* Instructions of three bytes: 21.3 in 64 bytes of code. An op cache needs four lines of six or
 * three lines of eight for them. */
#define SLOTS_OF_INSN 1.125

/* Instructions that fill slots: nops of three and five bytes. If a nop shares a slot, a zero idiom
 * is used (xor eax,eax, with prefixes without effect). */
static const uint8_t nop3[] = {0x0f, 0x1f, 0x00}, idle3[] = {0x3e, 0x31, 0xc0};
static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00},
                     idle5[] = {0x3e, 0x3e, 0x3e, 0x31, 0xc0};

struct front_end_run {
    struct as_kernel kernel;
    size_t shorter, longer;
};

static void run_front_end(void *context, bool longer, unsigned repeats)
{
    const struct front_end_run *r = context;
    static uint64_t cell[2] = {1, 1};

    for (unsigned i = 0; i < repeats; i++)
        r->kernel.run(cell, cell, cell, longer ? r->longer : r->shorter, 0);
}

/* Measures the cycles of an iteration of a loop that ends with dec and jnz. */
static int measure_loop(struct as_parameter_work *w, struct as_assembly *a, size_t label,
                        size_t iterations, struct as_cycles *out, struct as_error *err)
{
    struct front_end_run r = {.shorter = iterations, .longer = 4 * iterations};
    const struct as_meter_work work = {run_front_end, &r, 3 * (double)iterations};

    as_assembly_line(a, "dec rcx");
    as_assembly_jump_back(a, label);
    AS_TRY(as_kernel_open(a, &r.kernel, err));
    const int rc = as_meter_work(w->meter, &work, out, err);
    as_kernel_close(&r.kernel);
    return rc;
}

static struct as_parameter *note_cycles(struct as_parameter_work *w, const char *name,
                                        const char *unit, const struct as_cycles *cycles)
{
    struct as_parameter *p = as_parameter_add(w->list, name, unit);

    p->sample_n = cycles->sample_n;
    p->is_noisy = cycles->status == AS_METER_NOISY;
    p->spread = cycles->cycles > 0 ? (cycles->high - cycles->low) / cycles->cycles : -1;
    if (!(cycles->cycles > 0))
        snprintf(p->missing_why, sizeof p->missing_why, "%s", as_meter_status_text(cycles->status));
    return p;
}

/* ---- Taken branches -------------------------------------------------------------------------- */

/* Measures jumps to the next line of code: the longest step of the branch prediction. */
static int measure_taken(struct as_parameter_work *w, struct as_assembly *a, struct as_error *err)
{
    static const uint8_t jump[16] = {0xeb, 14}; /* jumps over the rest */
    struct as_cycles cycles;

    a->n = 0;
    const size_t label = as_assembly_label(a);
    for (unsigned i = 0; i < GROUPS; i++)
        as_assembly_bytes(a, jump, sizeof jump, "jmp");
    AS_TRY(measure_loop(w, a, label, 40, &cycles, err));
    struct as_parameter *p = note_cycles(w, "taken_branch", "cycles", &cycles);
    p->value = as_cycles_whole(cycles.cycles / (GROUPS + 1), p->spread);
    return 0;
}

/* ---- Mispredicted branches ------------------------------------------------------------------- */

/* Writes a loop with a random series (Knuth's MMIX) in r9 and a branch on the sign of `by`. The
 * series continues from call to call, so that no predictor learns it. */
static void write_drawn(struct as_assembly *a, const char *by, size_t *label)
{
    static const uint8_t over_nop[] = {0x78, 3, 0x0f, 0x1f, 0x00};

    a->n = 0;
    as_assembly_line(a, "mov r8,0x5851f42d4c957f2d");
    as_assembly_line(a, "mov r10,0x14057b7ef767814f");
    as_assembly_line(a, "mov r11,0x7fffffffffffffff");
    as_assembly_line(a, "mov r9,m64[rdi]");
    *label = as_assembly_label(a);
    as_assembly_line(a, "imul r9,r8");
    as_assembly_line(a, "add r9,r10");
    as_assembly_line(a, "test %s,%s", by, by);
    as_assembly_bytes(a, over_nop, sizeof over_nop, "js");
}

/* Half of the branches on a random bit are mispredicted, and none of those on a constant. */
static int measure_mispredicted(struct as_parameter_work *w, struct as_assembly *a,
                                struct as_error *err)
{
    struct as_cycles cycles[2];
    size_t label;

    for (int k = 0; k < 2; k++) {
        struct front_end_run r = {.shorter = DRAWN, .longer = (size_t)4 * DRAWN};
        const struct as_meter_work work = {run_front_end, &r, 3.0 * DRAWN};

        write_drawn(a, k ? "r9" : "r11", &label);
        as_assembly_line(a, "dec rcx");
        as_assembly_jump_back(a, label);
        as_assembly_line(a, "mov m64[rdi],r9");
        AS_TRY(as_kernel_open(a, &r.kernel, err));
        const int rc = as_meter_work(w->meter, &work, &cycles[k], err);
        as_kernel_close(&r.kernel);
        AS_TRY(rc);
    }
    struct as_parameter *p = note_cycles(w, "mispredicted_branch", "cycles", &cycles[1]);
    p->value = 2 * (cycles[1].cycles - cycles[0].cycles);
    p->is_noisy |= cycles[0].status == AS_METER_NOISY;
    if (!*p->missing_why && !(cycles[0].cycles > 0 && p->value >= MISPREDICTED_LEAST))
        snprintf(p->missing_why, sizeof p->missing_why,
                 "a branch on random bits takes %.2f cycles more than one on a constant",
                 p->value / 2);
    return 0;
}

/* ---- Fusion ---------------------------------------------------------------------------------- */

struct fused_pair {
    const char *name, *first, *second; /* `second` NULL: the branch; "": nothing */
    uint8_t condition;                 /* condition code of the branch */
    unsigned rank;                     /* `fuse_branch` of cores that fuse it; 0: no branch */
};

/* One instruction, and two that no core fuses. */
static const struct fused_pair references[2] = {
    {"", "lea r%u,m64[rsi+8]", "", 0, 0}, {"", "lea r%u,m64[rsi+8]", "lea r%u,m64[rsi+9]", 0, 0}};

/* Pairs with a branch that is never taken; %u is one of four registers. */
static const struct fused_pair pairs[] = {
    {"fuse.cmp", "cmp rsi,rsi", NULL, 0x75, 1},       {"fuse.test", "test rsi,rsi", NULL, 0x74, 1},
    {"fuse.add", "add r%u,1", NULL, 0x74, 2},         {"fuse.sub", "sub r%u,1", NULL, 0x74, 2},
    {"fuse.inc", "inc r%u", NULL, 0x74, 2},           {"fuse.dec", "dec r%u", NULL, 0x74, 2},
    {"fuse.and", "and r%u,rsi", NULL, 0x74, 2},       {"fuse.or", "or r%u,rsi", NULL, 0x74, 3},
    {"fuse_move", "mov r%u,rsi", "add r%u,rsi", 0, 0}};

static void write_pair(const struct as_parameter_work *w, struct as_assembly *a,
                       const struct fused_pair *pair, unsigned i)
{
    const uint8_t branch[] = {pair->condition, 0};
    const char *const text[] = {pair->first, pair->second};
    char line[64];

    for (unsigned k = 0; k < 2; k++) {
        if (!text[k]) {
            as_assembly_bytes(a, branch, sizeof branch, "jcc");
            continue;
        }
        if (!*text[k])
            continue;
        const char *reg = strchr(text[k], '%');
        if (reg)
            snprintf(line, sizeof line, "%.*s%u%s", (int)(reg - text[k]), text[k], 8 + i % 4,
                     reg + 2);
        as_assembly_line(a, "%s", reg ? line : text[k]);
    }
    for (unsigned k = 0; k < w->width - 2; k++)
        as_assembly_bytes(a, w->nops_fuse ? idle5 : nop5, sizeof nop5, "nop");
}

/* Measures a pair among enough nops to fill a cycle with it. */
static int pair_cycles(struct as_parameter_work *w, struct as_assembly *a,
                       const struct fused_pair *pair, struct as_cycles *cycles,
                       struct as_error *err)
{
    a->n = 0;
    for (unsigned i = 0; i < 4; i++)
        as_assembly_line(a, "mov r%u,0x7fffffffffffffff", 8 + i);
    const size_t label = as_assembly_label(a);
    for (unsigned i = 0; i < GROUPS; i++)
        write_pair(w, a, pair, i);
    return measure_loop(w, a, label, 40, cycles, err);
}

/* Compares a pair with one instruction and with two that never share a slot. Effects of code lines
 * and of the op cache on all three cancel out. */
void as_fusion_judge(struct as_parameter *p, double one, double two, double pair)
{
    const double share = (pair - one) / (two - one);

    if (!(one > 0) || two < 1.05 * one)
        snprintf(p->missing_why, sizeof p->missing_why,
                 "one instruction and two among nops take the same");
    else if (fabs(share - (share > 0.5)) > 0.35)
        snprintf(p->missing_why, sizeof p->missing_why, "%.2f slots are neither one nor two",
                 1 + share);
    p->value = share > 0.5 ? 2 : 1;
}

static int measure_pair(struct as_parameter_work *w, struct as_assembly *a,
                        const struct fused_pair *pair, const double reference[2],
                        struct as_error *err)
{
    struct as_cycles cycles;

    AS_TRY(pair_cycles(w, a, pair, &cycles, err));
    struct as_parameter *p = note_cycles(w, pair->name, pair->rank ? "slots" : "", &cycles);
    if (!*p->missing_why)
        as_fusion_judge(p, reference[0], reference[1], cycles.cycles);
    if (!pair->rank)
        p->value = p->value == 1;
    return 0;
}

/* Stores the highest rank up to which all pairs fuse. */
static void store_fusion_rank(struct as_parameter_work *w)
{
    unsigned rank = 3;
    struct as_parameter *all = as_parameter_add(w->list, "fuse_branch", "kinds");

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct as_parameter *p = as_parameter_find(w->list, pairs[i].name);
        if (!p || !pairs[i].rank)
            continue;
        all->is_noisy |= p->is_noisy;
        if (*p->missing_why)
            memcpy(all->missing_why, p->missing_why, sizeof all->missing_why);
        if (p->value > 1 && pairs[i].rank <= rank)
            rank = pairs[i].rank - 1;
    }
    all->value = rank;
}

static int measure_fusion(struct as_parameter_work *w, struct as_assembly *a, struct as_error *err)
{
    struct as_cycles cycles;
    double reference[2];

    for (size_t i = 0; i < 2; i++) {
        AS_TRY(pair_cycles(w, a, &references[i], &cycles, err));
        reference[i] = cycles.cycles;
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        AS_TRY(measure_pair(w, a, &pairs[i], reference, err));
    store_fusion_rank(w);
    return 0;
}

/* ---- The op cache -------------------------------------------------------------------------- */

static int opcache_point(struct as_parameter_work *w, struct as_assembly *a, size_t insns,
                         struct as_cycles *cycles, struct as_error *err)
{
    a->n = 0;
    const size_t label = as_assembly_label(a);
    for (size_t i = 0; i < insns; i++)
        as_assembly_bytes(a, w->nops_fuse ? idle3 : nop3, sizeof nop3, "nop");
    return measure_loop(w, a, label, insns < 2048 ? 24 : 8, cycles, err);
}

static int measure_opcache(struct as_parameter_work *w, struct as_assembly *a, struct as_error *err)
{
    double x[OPCACHE_POINTS], y[OPCACHE_POINTS];
    struct as_cycles cycles = {0};
    struct as_knee knee;
    size_t n = 0;
    unsigned noisy = 0;

    for (unsigned i = 0; i < OPCACHE_POINTS && !(w->stop && *w->stop); i++) {
        const double share = (double)i / (OPCACHE_POINTS - 1);
        const double insns =
            round(OPCACHE_LEAST * pow((double)OPCACHE_MOST / OPCACHE_LEAST, share));
        AS_TRY(opcache_point(w, a, (size_t)insns, &cycles, err));
        noisy += cycles.status == AS_METER_NOISY;
        if (!(cycles.cycles > 0))
            continue;
        x[n] = insns;
        y[n++] = cycles.cycles / insns;
    }
    if (w->stop && *w->stop)
        return 0;
    struct as_parameter *p = as_parameter_add(w->list, "opcache_slots", "slots");
    p->is_noisy = 4 * noisy > n;
    p->sample_n = (unsigned)n;
    if (!as_knee_find(x, y, n, OPCACHE_STEP, &knee)) {
        snprintf(p->missing_why, sizeof p->missing_why,
                 "the rate of nops does not fall at once up to %u", OPCACHE_MOST);
        return 0;
    }
    p->value = round(knee.from * SLOTS_OF_INSN);
    p->spread = (knee.at - knee.from) / knee.at;
    return 0;
}

int as_measure_front_end(struct as_parameter_work *w, struct as_error *err)
{
    struct as_assembly *a = as_calloc(1, sizeof *a);

    if (!a)
        return as_error_nomem(err, "a kernel");
    int rc = measure_taken(w, a, err);
    if (rc == 0)
        rc = measure_mispredicted(w, a, err);
    if (rc == 0 && w->width >= 2)
        rc = measure_fusion(w, a, err);
    if (rc == 0)
        rc = measure_opcache(w, a, err);
    as_free(a);
    return rc;
}
