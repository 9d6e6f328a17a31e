/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of parameters, and parameters from chains of a few instructions: loads, forwarding, and
 * dependency-breaking idioms.
 */
#include "measure/parameters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "isa/encode.h"
#include "machine/uarch_table.h"
#include "measure/internal.h"

/* Returns the index of a parameter, or `n` of the list. */
static size_t place_of(const struct as_parameter_list *list, const char *name)
{
    size_t i = 0;

    while (i < list->n && strcmp(list->at[i].name, name) != 0)
        i++;
    return i;
}

struct as_parameter *as_parameter_add(struct as_parameter_list *list, const char *name,
                                      const char *unit)
{
    size_t at = place_of(list, name);

    at = at < AS_PARAMETERS_MOST ? at : AS_PARAMETERS_MOST - 1;
    list->n = at < list->n ? list->n : at + 1;
    struct as_parameter *p = &list->at[at];
    *p = (struct as_parameter){.name = name, .unit = unit, .spread = -1};
    return p;
}

const struct as_parameter *as_parameter_find(const struct as_parameter_list *list, const char *name)
{
    const size_t at = place_of(list, name);
    return at < list->n ? &list->at[at] : NULL;
}

/* Min share of the known size. A measured size is some per cent below the published one. The reason
 * is a queue before a scheduler that not all instructions see (170 of 210 on Zen 5). With load on
 * the other hardware thread it is about half. */
#define LEAST_OF_KNOWN 0.7

void as_parameters_compare(struct as_parameter_list *list, const struct as_uarch *known)
{
    for (size_t i = 0; i < list->n; i++) {
        struct as_parameter *p = &list->at[i];
        const int at = as_uarch_parameter_of(p->name);
        if (at < 0 || *p->missing_why || *p->doubt || strcmp(p->unit, "entries") != 0 ||
            p->value >= LEAST_OF_KNOWN * known->set[at])
            continue;
        p->is_noisy = true;
        snprintf(p->doubt, sizeof p->doubt,
                 "%.0f entries of %.0f: the other hardware thread is in use", p->value,
                 known->set[at]);
    }
}

double as_cycles_whole(double cycles, double spread)
{
    const double whole = cycles < 1 ? 1 / round(1 / cycles) : round(cycles);
    const double apart = fmin(fmax(spread, 0.03), 0.1);

    return fabs(cycles - whole) <= apart * whole ? whole : round(cycles * 100) / 100;
}

/* ---- Output -------------------------------------------------------------------------------- */

void as_parameters_append(struct as_str *to, const struct as_parameter_list *list, bool has_base)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct as_parameter *p = &list->at[i];
        if (!as_uarch_is_parameter(p->name))
            continue;
        if (*p->missing_why) {
            as_str_appendf(to, "# %s: not seen: %s\nset\t%s\t-\tm1\n", p->name, p->missing_why,
                           p->name);
            continue;
        }
        as_str_appendf(to, "%sset\t%s\t%.4g\t%s", p->is_noisy && has_base ? "# noisy: " : "",
                       p->name, p->value, p->is_noisy ? "noisy" : "m1");
        if (p->spread >= 0)
            as_str_appendf(to, " %.1f%%", 100 * p->spread);
        as_str_appendz(to, "\n");
    }
}

int as_parameters_keep(const struct as_parameter_list *list, struct as_figures *figures,
                       struct as_error *err)
{
    char name[64], text[256];

    for (size_t i = 0; i < list->n; i++) {
        const struct as_parameter *p = &list->at[i];
        const struct as_figure figure = {.name = name,
                                         .unit = *p->unit ? p->unit : "yes",
                                         .value = p->value,
                                         .spread = fmax(p->spread, 0),
                                         .sample_n = p->sample_n,
                                         .is_calm = !p->is_noisy,
                                         .when_s = (int64_t)time(NULL)};
        snprintf(name, sizeof name, "core.%s", p->name);
        as_figures_drop_findings(figures, name);
        if (!*p->missing_why)
            AS_TRY(as_figures_set(figures, &figure, err));
        if (!*p->missing_why && !*p->doubt)
            continue;
        if (*p->missing_why)
            snprintf(text, sizeof text, "%s: not seen: %s", name, p->missing_why);
        else
            snprintf(text, sizeof text, "%s: of little trust: %s", name, p->doubt);
        AS_TRY(as_figures_add_finding(figures, name, text, err));
    }
    return 0;
}

/* ---- Chains ---------------------------------------------------------------------------------- */

enum { CHAIN_B = 256 };
#define RENAMED 2 /* cycles: no load and no forwarding is as fast */

static size_t assemble_block(const char *const *text, uint8_t *out)
{
    size_t at = 0;

    for (; *text; text++) {
        const size_t n = as_encode_text(*text, out + at);
        if (!n)
            return 0;
        at += n;
    }
    return at;
}

static int cycles_of_text(struct as_parameter_work *w, const char *const *text,
                          struct as_cycles *out, struct as_error *err)
{
    uint8_t bytes[CHAIN_B];
    const size_t n = assemble_block(text, bytes);

    *out = (struct as_cycles){.status = AS_METER_UNDECODED};
    if (n)
        AS_TRY(as_meter_block(w->meter, bytes, n, AS_METER_UNROLLED, out, err));
    if (out->status != AS_METER_OK && out->status != AS_METER_NOISY)
        out->cycles = 0;
    return 0;
}

/* Chains and how often each contains the parameter; results are rounded to half a cycle. The
 * latency of a vector load is seen only together with the move back, so the built-in value
 * stays. */
static const struct measured_chain {
    const char *name;
    const char *text[7];
    double times; /* occurrences of the parameter in the chain */
    bool needs_avx;
} chains[] = {
    {"load_int", {"mov rax,m64[rax]"}, 1, false},
    {"load_int_indexed", {"mov rax,m64[rax+rcx*1]", "xor ecx,ecx"}, 1, false},
    /* A store and a load with differently written addresses forward data. Some cores rename the
     * pair if the addresses are written alike. */
    {"forward_int", {"lea rsi,m64[rbx]", "mov m64[rbx],rax", "mov rax,m64[rsi]"}, 1, false},
    {"forward_fp",
     {"lea rsi,m64[rbx]", "movaps m128[rbx],xmm0", "movaps xmm0,m128[rsi]"},
     1,
     false},
    {"forward_mixed", /* to a vector register and back through another address */
     {"lea rsi,m64[rbx]", "lea rdi,m64[rbx+64]", "mov m64[rbx],rax", "vmovq xmm0,m64[rsi]",
      "vmovq m64[rbx+64],xmm0", "mov rax,m64[rdi]"},
     2,
     true},
    {"forward_failed", {"lea rsi,m64[rbx]", "mov m32[rbx],eax", "mov rax,m64[rsi]"}, 1, false},
};

static int measure_chain(struct as_parameter_work *w, const struct measured_chain *chain,
                         struct as_error *err)
{
    struct as_cycles cycles;

    AS_TRY(cycles_of_text(w, chain->text, &cycles, err));
    struct as_parameter *p = as_parameter_add(w->list, chain->name, "cycles");
    p->sample_n = cycles.sample_n;
    p->is_noisy = cycles.status == AS_METER_NOISY;
    if (cycles.cycles > 0) {
        p->value = round(cycles.cycles / chain->times * 2) / 2;
        p->spread = (cycles.high - cycles.low) / cycles.cycles;
        if (strncmp(chain->name, "forward", 7) == 0 && p->value < RENAMED)
            snprintf(
                p->missing_why, sizeof p->missing_why,
                "its chain: a load takes %.2g cycles behind the store: the core renames memory",
                p->value);
    } else {
        snprintf(p->missing_why, sizeof p->missing_why, "its chain: %s",
                 as_meter_status_text(cycles.status));
    }
    return 0;
}

/* Sets a parameter to yes if a chain takes less than `most` cycles. */
static int measure_yes(struct as_parameter_work *w, const char *name, double most,
                       const char *const *text, struct as_error *err)
{
    struct as_cycles cycles;

    AS_TRY(cycles_of_text(w, text, &cycles, err));
    struct as_parameter *p = as_parameter_add(w->list, name, "");
    p->sample_n = cycles.sample_n;
    p->is_noisy = cycles.status == AS_METER_NOISY;
    p->value = cycles.cycles < most;
    if (!(cycles.cycles > 0))
        snprintf(p->missing_why, sizeof p->missing_why, "its chain: %s",
                 as_meter_status_text(cycles.status));
    return 0;
}

int as_measure_chains(struct as_parameter_work *w, struct as_error *err)
{
    static const char *const trip[] = {"vmovq xmm0,rax", "vmovq rax,xmm0", NULL};
    static const char *const alike[] = {"mov m64[rbx],rax", "mov rax,m64[rbx]", NULL};
    static const char *const borrow[] = {"lea rax,m64[rax+8]", "lea rax,m64[rax+8]",
                                         "lea rax,m64[rax+8]", "sbb rax,rax", NULL};
    struct as_widths widths;
    struct as_cycles cycles;

    as_widths_read(&widths);
    if (widths.avx) {
        AS_TRY(cycles_of_text(w, trip, &cycles, err));
        w->half_trip = cycles.cycles / 2;
    }
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        if (widths.avx || !chains[i].needs_avx)
            AS_TRY(measure_chain(w, &chains[i], err));
    /* Renamed: up to 2 cycles; forwarded: from 4. */
    AS_TRY(measure_yes(w, "rename_memory", 3, alike, err));
    return measure_yes(w, "sbb_breaks", 2.5, borrow, err);
}
