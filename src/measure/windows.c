/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes of structures that hold instructions in flight, by the method of H. Wong, "Measuring
 * Reorder Buffer Capacity" (2013). Two loads miss all caches, each at an address from the load
 * before, with N instructions behind each. While both fit, they overlap. When N fills a structure,
 * the second load cannot begin, and an iteration takes twice as long. The kind of the N
 * instructions decides which structure fills first.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/error.h"
#include "measure/crew.h"
#include "measure/internal.h"
#include "measure/kernels.h"
#include "measure/knee.h"
#include "measure/parameters.h"

enum {
    FILL_MOST = 768,
    FILL_LEAST = 16,
    COARSE = 30, /* points from min to max, a seventh apart */
    FINE = 28,   /* points around the knee */
    SHORT = 40,  /* iterations of the shorter run */
    SPAN = 100,
    LINE_APART_B = 128 /* pairs of lines are fetched together */
};

#define STEP   1.4 /* lost overlap doubles the time; half of the rise is a knee */
#define HIDDEN 0.94
/* Max difference of two measurements of one structure: instructions are dispatched in groups. */
#define SAME_ENTRIES 6
#define SAME_SHARE   0.05

/* Text of an instruction. %g and %v are registers in turn, and %b is an address in the buffer. %c
 * is the result of the load before. */
struct filler {
    const char *name, *first; /* `first` stands before the others */
    const char *text[7];
    const char *behind; /* the structure that holds all of these too; NULL: none */
    double more;        /* entries that the loads take */
    bool needs_avx;
};

/* The window (rob): a mix, so that no other structure fills first. */
static const struct filler fillers[] = {
    {"rob",
     NULL,
     {"lea %g,m64[rsi+rsi*1]", "vpaddd xmm%v,xmm14,xmm13", "lea %g,m64[rsi+rsi*1]",
      "vpaddd xmm%v,xmm14,xmm13", "lea %g,m64[rsi+rsi*1]", "vpaddd xmm%v,xmm14,xmm13",
      "mov m64[rsi+%b],rsi"},
     NULL,
     1,
     true},
    {"regs_int", NULL, {"lea %g,m64[rsi+rsi*1]"}, "rob", 1, false},
    {"regs_fp", NULL, {"vpaddd xmm%v,xmm14,xmm13"}, "rob", 0, true},
    {"store_queue", NULL, {"mov m64[rsi+%b],rsi"}, "rob", 0, false},
    {"load_queue", NULL, {"vmovups xmm%v,m128[rsi+%b]"}, "rob", 2, true},
    {"sched_int", NULL, {"lea %g,m64[%c+%c*1]"}, "regs_int", 0, false},
    {"sched_mem", NULL, {"mov %g,m64[%c+8]"}, "regs_int", 0, false},
    {"sched_fp",
     "vmovq xmm12,%c",
     {"vaddps xmm%v,xmm12,xmm12", "vmulps xmm%v,xmm12,xmm12", "vpermilps xmm%v,xmm12,27",
      "vpaddd xmm%v,xmm12,xmm12"},
     "regs_fp",
     0,
     true},
};

enum { FILLERS = sizeof fillers / sizeof *fillers, PASSES = 3 };

/* ---- The kernel ------------------------------------------------------------------------------ */

static void expand(char *out, size_t out_b, const char *text, unsigned i, const char *cursor)
{
    size_t n = 0;

    for (; *text && n + 8 < out_b; text++) {
        if (*text != '%') {
            out[n++] = *text;
            continue;
        }
        text++;
        if (*text == 'c')
            n += (size_t)snprintf(out + n, out_b - n, "%s", cursor);
        else if (*text == 'b')
            n += (size_t)snprintf(out + n, out_b - n, "%u", 64 + 64 * (i % 16));
        else
            n += (size_t)snprintf(out + n, out_b - n, *text == 'g' ? "r%u" : "%u",
                                  *text == 'g' ? 8 + i % 4 : i % 8);
    }
    out[n] = 0;
}

static void write_fill(struct as_assembly *a, const struct filler *f, unsigned n,
                       const char *cursor)
{
    char line[64];
    unsigned kinds = 0;

    while (kinds < 7 && f->text[kinds])
        kinds++;
    assert(kinds > 0);
    if (f->first) {
        expand(line, sizeof line, f->first, 0, cursor);
        as_assembly_line(a, "%s", line);
    }
    for (unsigned i = 0; i < n; i++) {
        expand(line, sizeof line, f->text[i % kinds], i, cursor);
        as_assembly_line(a, "%s", line);
    }
}

/* Generates the kernel. rdi: two cursors; rsi: a buffer; rcx: iterations. */
static int open_kernel(const struct filler *f, unsigned n, struct as_kernel *kernel,
                       struct as_error *err)
{
    struct as_assembly *a = as_calloc(1, sizeof *a);

    if (!a)
        return as_error_nomem(err, "a kernel");
    as_assembly_line(a, "mov rax,m64[rdi]");
    as_assembly_line(a, "mov rdx,m64[rdi+8]");
    const size_t loop = as_assembly_label(a);
    as_assembly_line(a, "mov rax,m64[rax]");
    write_fill(a, f, n, "rax");
    as_assembly_line(a, "mov rdx,m64[rdx]");
    write_fill(a, f, n, "rdx");
    as_assembly_line(a, "dec rcx");
    as_assembly_jump_back(a, loop);
    as_assembly_line(a, "mov m64[rdi],rax");
    as_assembly_line(a, "mov m64[rdi+8],rdx");
    const int rc = as_kernel_open(a, kernel, err);
    as_free(a);
    return rc;
}

/* ---- A curve --------------------------------------------------------------------------------- */

struct window {
    struct as_parameter_work *work;
    struct as_room room;
    void **cursor; /* shared with the children, so that each walks through new lines */
    void *buffer;
    struct as_kernel kernel;
};

static void run_window(void *context, bool longer, unsigned repeats)
{
    const struct window *w = context;

    for (unsigned i = 0; i < repeats; i++)
        w->kernel.run(w->cursor, w->buffer, NULL, SHORT + (longer ? SPAN : 0), 0);
}

struct window_curve {
    double x[COARSE + FINE + 4], y[COARSE + FINE + 4];
    size_t n;
    unsigned noisy_n, sample_n;
};

static int add_point(struct window *w, const struct filler *f, unsigned n,
                     struct window_curve *curve, struct as_error *err)
{
    const struct as_meter_work work = {run_window, w, SPAN};
    struct as_cycles cycles;

    for (size_t i = 0; i < curve->n; i++)
        if (curve->x[i] == n)
            return 0;
    int rc = 0;
    if (w->work->made_up) {
        w->work->made_up(w->work->context, f->name, n, &cycles);
    } else {
        AS_TRY(open_kernel(f, n, &w->kernel, err));
        rc = as_meter_work(w->work->meter, &work, &cycles, err);
        as_kernel_close(&w->kernel);
    }
    if (rc < 0 || !(cycles.cycles > 0))
        return rc;
    curve->x[curve->n] = n;
    curve->y[curve->n++] = cycles.cycles;
    curve->noisy_n += cycles.status == AS_METER_NOISY;
    curve->sample_n += cycles.sample_n;
    return 0;
}

/* Measures a curve with 1 / `share` of the points; a curve that only confirms has half as many. */
static int measure_curve(struct window *w, const struct filler *f, unsigned share,
                         struct window_curve *curve, struct as_error *err)
{
    struct as_knee knee;
    const unsigned coarse = COARSE / share, fine = FINE / share;
    const double apart = pow((double)FILL_MOST / FILL_LEAST, 1. / (coarse - 1));

    for (unsigned i = 0; i < coarse; i++) {
        if (w->work->stop && *w->work->stop)
            return 0;
        AS_TRY(add_point(w, f, (unsigned)(FILL_LEAST * pow(apart, i)), curve, err));
    }
    /* The transition of a coarse curve is as wide as the distance of its points. Only its position
     * counts. */
    as_knee_find(curve->x, curve->y, curve->n, STEP, &knee);
    if (knee.high < STEP * knee.low)
        return 0;
    const double from = knee.from / 1.03, to = fmin(knee.at * 1.06, FILL_MOST);
    for (unsigned i = 0; i < fine; i++)
        AS_TRY(add_point(w, f, (unsigned)(from + (to - from) * i / (fine - 1)), curve, err));
    return 0;
}

/* ---- Evaluation ---------------------------------------------------------------------------- */

static void sort_points(double *x, double *y, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && x[k] < x[k - 1]; k--) {
            const double held_x = x[k], held_y = y[k];
            x[k] = x[k - 1], x[k - 1] = held_x;
            y[k] = y[k - 1], y[k - 1] = held_y;
        }
}

void as_window_judge(struct as_parameter *p, double *x, double *y, size_t n, double beyond,
                     double more)
{
    struct as_knee knee;

    sort_points(x, y, n);
    if (!as_knee_find(x, y, n, STEP, &knee)) {
        snprintf(p->missing_why, sizeof p->missing_why, "no clear knee up to %.0f instructions",
                 n ? x[n - 1] : 0.);
        return;
    }
    p->value = knee.at + more;
    p->spread = (knee.at - knee.from) / knee.at;
    if (beyond > 0 && p->value >= HIDDEN * beyond)
        snprintf(p->missing_why, sizeof p->missing_why,
                 "what holds all of them fills first, at %.0f", beyond);
}

/* ---- Passes ---------------------------------------------------------------------------------- */

static bool is_same(const struct as_parameter *a, const struct as_parameter *b)
{
    if (*a->missing_why || *b->missing_why)
        return *a->missing_why && *b->missing_why;
    return fabs(a->value - b->value) <= fmax(SAME_ENTRIES, SAME_SHARE * fmax(a->value, b->value));
}

bool as_window_agree(const struct as_parameter *pass, size_t n, struct as_parameter *out)
{
    size_t best = 0;
    bool agreed = false;

    for (size_t i = 1; i < n; i++)
        if (!*pass[i].missing_why && (*pass[best].missing_why || pass[i].value > pass[best].value))
            best = i;
    *out = pass[best];
    for (size_t i = 0; i < n; i++)
        if (i != best && is_same(&pass[i], &pass[best])) {
            const bool is_noisy = out->is_noisy && pass[i].is_noisy;
            if (pass[i].spread < out->spread) /* the curve with more points */
                *out = pass[i];
            out->is_noisy = is_noisy;
            agreed = true;
        }
    return agreed;
}

static int measure_one(struct window *w, const struct filler *f, bool again, struct as_parameter *p,
                       struct as_error *err)
{
    struct window_curve curve = {.n = 0};
    const struct as_parameter *behind =
        f->behind ? as_parameter_find(w->work->list, f->behind) : NULL;

    AS_TRY(measure_curve(w, f, again ? 2 : 1, &curve, err));
    *p = (struct as_parameter){.name = f->name, .unit = "entries", .spread = -1};
    p->sample_n = curve.sample_n;
    p->is_noisy = 4 * curve.noisy_n > curve.n;
    as_window_judge(p, curve.x, curve.y, curve.n,
                    behind && !*behind->missing_why ? behind->value : 0, f->more);
    return 0;
}

static void write_disagreement(const struct as_parameter *pass, size_t n, char *out, size_t out_b)
{
    size_t at = (size_t)snprintf(out, out_b, "measured %zu times, with ", n);

    for (size_t i = 0; i < n && at < out_b; i++) {
        const char *between = i == 0 ? "" : i + 1 < n ? ", " : " and ";
        if (*pass[i].missing_why)
            at += (size_t)snprintf(out + at, out_b - at, "%snone", between);
        else
            at += (size_t)snprintf(out + at, out_b - at, "%s%.0f", between, pass[i].value);
    }
    if (at < out_b)
        snprintf(out + at, out_b - at,
                 " entries seen: the other hardware thread is in use at times");
}

static void store_window_parameter(const struct window *w, const struct as_parameter *pass,
                                   size_t n)
{
    struct as_parameter all;
    const bool agreed = as_window_agree(pass, n, &all);

    if (n > 1 && !agreed) {
        all.is_noisy = true;
        write_disagreement(pass, n, all.doubt, sizeof all.doubt);
    }
    *as_parameter_add(w->work->list, pass->name, pass->unit) = all;
}

/* Measures all structures twice, and a third time if the two disagree. Seconds lie between
 * passes. */
static int measure_passes(struct window *w, struct as_error *err)
{
    struct as_parameter pass[FILLERS][PASSES];
    size_t n[FILLERS] = {0};
    struct as_widths widths;

    as_widths_read(&widths);
    for (unsigned round = 0; round < PASSES; round++)
        for (size_t i = 0; i < FILLERS; i++) {
            struct as_parameter seen;
            if ((!widths.avx && fillers[i].needs_avx) ||
                (round == 2 && as_window_agree(pass[i], n[i], &seen)))
                continue;
            AS_TRY(measure_one(w, &fillers[i], round == 1, &pass[i][n[i]], err));
            if (w->work->stop && *w->work->stop)
                return 0;
            store_window_parameter(w, pass[i], ++n[i]);
        }
    return 0;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Returns a size so that half of its lines exceed the last cache. */
static size_t area_for(const struct as_host *host)
{
    uint64_t last_b = 16u << 20;

    for (unsigned level = 1; host->topology && level < 4; level++) {
        const uint64_t size_b = as_topology_cache_b(host->topology, 0, level, NULL);
        last_b = size_b > last_b ? size_b : last_b;
    }
    const uint64_t wanted_b = 4 * last_b, most_b = (uint64_t)256 << 20;
    return wanted_b < most_b ? wanted_b : most_b;
}

static int open_window(struct window *w, struct as_error *err)
{
    const size_t size_b = area_for(w->work->host), nodes = size_b / LINE_APART_B;
    uint32_t *order = as_malloc(nodes * sizeof *order);
    void *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    w->cursor = shared == MAP_FAILED ? NULL : shared;
    w->buffer = w->cursor ? (uint8_t *)shared + 4096 : NULL;
    if (!order || !w->cursor || !as_room_open(&w->room, size_b, AS_PAGES_HUGE)) {
        as_free(order);
        return as_error_nomem(err, "memory that misses the caches");
    }
    as_chase_thread(w->room.at, nodes, LINE_APART_B, order);
    as_free(order);
    memset(w->buffer, 1, 4096);
    w->cursor[0] = w->room.at;
    w->cursor[1] = (uint8_t *)w->room.at + nodes / 2 * LINE_APART_B;
    return 0;
}

int as_measure_windows(struct as_parameter_work *work, struct as_error *err)
{
    struct window w = {.work = work};
    int rc = work->made_up ? 0 : open_window(&w, err);

    if (rc == 0)
        rc = measure_passes(&w, err);
    as_room_close(&w.room);
    if (w.cursor)
        munmap(w.cursor, 8192);
    return rc;
}
