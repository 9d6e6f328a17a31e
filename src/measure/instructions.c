/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of this core: each form among independent instances, in chains from operand to result,
 * and inside saturating kernels (core_probes.c). Lines are written to a file at once, so that an
 * interruption loses nothing.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/progress.h"
#include "machine/machine.h"
#include "measure/account.h"
#include "measure/core_table.h"
#include "measure/internal.h"
#include "measure/measure.h"
#include "measure/mixture.h"
#include "measure/table.h"
#include "measure/workers.h"

#define COPIES_MOST   8
#define WAITED_MOST_S 120 /* total wait at the gate, over all CPUs */
/* There are thousands of blocks: a block under external load is postponed, then marked. */
enum { PATIENCE_FIRST_MS = 100, PATIENCE_MS = 600, HURRY_MS = 20 };
#define SETTLED 0.01 /* two measurements of a block agree */
enum { SETTLE_MOST = 3 };
#define LONG_CYCLES 60 /* longer forms are microcode or wait for memory: no mixtures */

int as_table_cycles(struct as_table_work *w, const uint8_t *bytes, size_t n, struct as_cycles *out,
                    struct as_error *err)
{
    if (w->made_up)
        w->made_up(bytes, n, out);
    else
        AS_TRY(as_meter_block(w->meter, bytes, n, AS_METER_UNROLLED, out, err));
    if (out->status != AS_METER_OK && out->status != AS_METER_NOISY)
        out->cycles = 0;
    return 0;
}

/* Noise only adds time, so the lowest value is used. */
int as_table_settle(struct as_table_work *w, const uint8_t *bytes, size_t n, struct as_cycles *out,
                    struct as_error *err)
{
    struct as_cycles again;

    for (unsigned i = 0; i < SETTLE_MOST && out->cycles > 0; i++) {
        AS_TRY(as_table_cycles(w, bytes, n, &again, err));
        if (!(again.cycles > 0))
            return 0;
        const bool agree = fabs(again.cycles - out->cycles) <= SETTLED * out->cycles;
        if (again.status == AS_METER_OK &&
            (again.cycles < out->cycles || out->status == AS_METER_NOISY))
            *out = again;
        if (agree)
            return 0;
    }
    return 0;
}

int as_table_chain(struct as_table_work *w, const uint8_t *bytes, size_t n, struct as_cycles *out,
                   struct as_error *err)
{
    AS_TRY(as_table_cycles(w, bytes, n, out, err));
    const bool is_whole = out->cycles > 0.9 && fabs(out->cycles - round(out->cycles)) <=
                                                   fmax(0.05, SETTLED * out->cycles);
    return is_whole ? 0 : as_table_settle(w, bytes, n, out, err);
}

/* ---- A form ---------------------------------------------------------------------------------- */

static int measure_each(struct as_table_work *w, const struct as_form_case *one,
                        struct as_timing *t, enum as_meter_status *status, struct as_error *err)
{
    uint8_t bytes[5 * COPIES_MOST * AS_ENCODE_B];
    struct as_cycles cycles;
    size_t at = 0;

    *status = AS_METER_EXCLUDED;
    t->copies = as_form_copies(one);
    for (unsigned i = 0; i < t->copies; i++) {
        const size_t before = as_form_breaker(one, bytes + at);
        at += before;
        const size_t n = as_form_instance(one, i, -1, bytes + at);
        if (!n)
            return 0;
        at += n;
    }
    AS_TRY(as_table_cycles(w, bytes, at, &cycles, err));
    if (cycles.status == AS_METER_OK)
        AS_TRY(as_table_settle(w, bytes, at, &cycles, err));
    *status = cycles.status;
    t->each = t->copies ? cycles.cycles / t->copies : 0;
    t->is_noisy = cycles.status == AS_METER_NOISY;
    t->spread = cycles.cycles > 0 ? (cycles.high - cycles.low) / cycles.cycles : 0;
    return 0;
}

static int time_form(struct as_table_work *w, const struct as_form_case *one, struct as_timing *t,
                     enum as_meter_status *status, struct as_error *err)
{
    *t = (struct as_timing){0};
    AS_TRY(measure_each(w, one, t, status, err));
    const bool can_be_used = *status == AS_METER_OK || (*status == AS_METER_NOISY && !w->puts_off);
    if (!can_be_used)
        return 0;
    AS_TRY(as_form_latencies(w, one, t, err));
    AS_TRY(as_form_divisions(w, one, t, err));
    if (t->each <= LONG_CYCLES && as_form_get(one->insn.form)->isa != AS_ISA_MMX)
        AS_TRY(as_form_mixtures(w, one, t, err));
    return as_form_lateness(w, one, t, err);
}

static void write_line(struct as_table_work *w, const struct as_form_case *one,
                       const struct as_timing *t)
{
    struct as_str line = {0};

    as_timing_append(&line, one, t, &w->rates);
    if (!line.failed)
        fputs(as_str_z(&line), w->lines);
    as_str_fini(&line);
}

/* Measures one form and writes its line, unless it is postponed. */
static int measure_form(struct as_table_work *w, struct as_form_case *one, struct as_error *err)
{
    struct as_timing t;
    enum as_meter_status status;

    AS_TRY(time_form(w, one, &t, &status, err));
    /* Contradictory figures are measured once more. */
    if (status == AS_METER_OK && as_timing_contradicts(&t, &w->rates))
        AS_TRY(time_form(w, one, &t, &status, err));
    const bool is_refused = status != AS_METER_OK && status != AS_METER_NOISY;
    t.is_noisy |= w->is_doubted;
    const bool is_noisy = status == AS_METER_NOISY || t.is_noisy ||
                          (!is_refused && as_timing_contradicts(&t, &w->rates));
    if (is_noisy && w->puts_off)
        return 0;
    if (is_refused)
        fprintf(w->lines, "# %s: %s\n", one->key, as_meter_status_text(status));
    else
        write_line(w, one, &t);
    w->refused_n += is_refused;
    w->measured_n += !is_refused;
    w->noisy_n += is_noisy;
    one->n = 0;
    if (w->done)
        atomic_fetch_add(w->done, 1);
    return 0;
}

/* ---- The table ------------------------------------------------------------------------------- */

/* Removes forms that have a line from an interrupted measurement. */
static void forget_done(struct as_form_list *forms, const char *path)
{
    char line[512];
    FILE *f = fopen(path, "re");

    while (f && fgets(line, sizeof line, f)) {
        char *key = line, *end;
        if (strncmp(line, "form\t", 5) == 0)
            key += 5, end = strchr(key, '\t');
        else if (strncmp(line, "# ", 2) == 0)
            key += 2, end = strstr(key, ": ");
        else
            continue;
        if (!end)
            continue;
        *end = 0;
        as_vec_foreach (&forms->cases, one)
            if (strcmp(one->key, key) == 0)
                one->n = 0;
    }
    if (f)
        fclose(f);
}

/* Returns true if a form gets a line. EVEX forms that VEX has too equal those and are left out. */
static bool is_wanted(const struct as_form_case *one, bool given)
{
    const struct as_form *form = as_form_get(one->insn.form);
    struct as_metered_block block;

    if (one->n == 0 || (!given && (form->isa == AS_ISA_OTHER || form->isa == AS_ISA_AMX)))
        return false;
    if (!given && strstr(one->key, "{evex}") && form->vector_b < 64 && !as_form_gathers(form))
        return false;
    const int status = as_block_init(&block, one->bytes, one->n);
    as_block_fini(&block);
    return status == AS_METER_OK;
}

double as_table_waited_s(const struct as_table_work *w)
{
    struct as_meter_state state = {0};

    if (w->meter)
        as_meter_state_get(w->meter, &state);
    return w->waited_s + state.refused_s;
}

/* Sets how long a block may wait for a calm moment. If the external load never ends, a noisy table
 * is better than one after hours. */
static void be_patient(struct as_table_work *w, unsigned patience_ms)
{
    const bool is_hopeless = as_table_waited_s(w) > w->waited_most_s;

    w->puts_off &= !is_hopeless;
    if (w->meter)
        as_meter_be_patient(w->meter, is_hopeless ? HURRY_MS : patience_ms);
}

static int measure_pass(struct as_table_work *w, unsigned patience_ms, const char *label,
                        struct as_error *err)
{
    struct as_progress progress;
    uint64_t left = 0;
    int rc = 0;

    as_vec_foreach (&w->forms.cases, one)
        left += one->n > 0;
    as_progress_begin(&progress, w->options->progress_fd, label, left);
    as_vec_foreach (&w->forms.cases, one) {
        if (rc < 0 || as_table_is_to_stop(w))
            break;
        if (one->n == 0)
            continue;
        be_patient(w, patience_ms);
        rc = measure_form(w, one, err);
        fflush(w->lines);
        as_progress_add(&progress, 1);
    }
    as_progress_end(&progress);
    return rc;
}

void as_table_want(struct as_table_work *w)
{
    as_vec_foreach (&w->forms.cases, one)
        if (!is_wanted(one, w->options->code_n > 0))
            one->n = 0;
}

int as_table_forms(struct as_table_work *w, struct as_error *err)
{
    as_table_want(w);
    /* External load on one form has often ended when all others are done. */
    w->puts_off = !w->is_doubted;
    AS_TRY(measure_pass(w, PATIENCE_FIRST_MS, "measuring instructions", err));
    w->puts_off = false;
    return measure_pass(w, PATIENCE_MS, "repeating measurements with external load", err);
}

static int measure_all(struct as_table_work *w, struct as_instruction_result *result,
                       struct as_error *err)
{
    int rc = as_table_core(w, result, err);

    if (rc == 0 && !result->is_refused)
        rc = as_table_forms_by_workers(w, err);
    result->is_stopped = as_table_is_to_stop(w);
    return rc;
}

static int collect_forms(struct as_table_work *w, struct as_error *err)
{
    int rc = as_forms_init(&w->forms);

    for (size_t i = 0; i < w->options->code_n && rc == 0; i++)
        rc = as_forms_of_code(&w->forms, w->options->code[i].bytes, w->options->code[i].size_b);
    if (w->options->code_n == 0 && rc == 0)
        rc = as_forms_of_decoder(&w->forms);
    return rc < 0 ? as_error_nomem(err, "the forms of instructions") : 0;
}

static int store_table_doubt(struct as_figures *figures, const char *text, struct as_error *err)
{
    as_figures_drop_findings(figures, "instructions");
    return *text ? as_figures_add_finding(figures, "instructions", text, err) : 0;
}

int as_measure_instructions(const struct as_host *host,
                            const struct as_instruction_options *options,
                            struct as_instruction_result *result, struct as_error *err)
{
    struct as_table_work w = {
        .host = host,
        .options = options,
        .meter_options = {.cpu = -1, .samples = 32, .enough = 8, .patience_ms = PATIENCE_MS},
        .waited_most_s = WAITED_MOST_S};
    struct as_figure_group group = {.name = "instructions"};
    struct as_group_time time_of = {.began_ns = as_monotonic_ns()};
    char part[PATH_MAX];
    int rc = collect_forms(&w, err);

    *result = (struct as_instruction_result){0};
    snprintf(part, sizeof part, "%s.part", options->path);
    if (rc == 0) {
        forget_done(&w.forms, part);
        w.lines = fopen(part, "ae");
        if (!w.lines)
            rc = as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s", part, strerror(errno));
    }
    if (rc == 0 && options->figures)
        rc = as_group_begin(options->figures, &group, err);
    if (rc == 0)
        rc = as_meter_new(&w.meter_options, &w.meter, err);
    if (rc == 0)
        rc = measure_all(&w, result, err);
    if (w.lines)
        fclose(w.lines);
    const struct as_core_table table = {host, w.meter, &w.rates, &w.parameters,
                                        as_table_base(host)};
    const bool is_measured = !result->is_stopped && !result->is_refused;
    if (rc == 0 && is_measured)
        rc = as_core_table_finish(&table, part, options->path, err);
    if (rc == 0 && options->figures && !result->is_refused)
        rc = as_parameters_keep(&w.parameters, options->figures, err);
    time_of.waited_s = as_table_waited_s(&w);
    if (rc == 0 && options->figures)
        rc = as_group_end(options->figures, &group, is_measured, &time_of, err);
    if (rc == 0 && options->figures)
        rc = store_table_doubt(options->figures, result->doubt, err);
    result->measured_n = w.measured_n;
    result->refused_n = w.refused_n;
    result->noisy_n = w.noisy_n;
    as_meter_free(&w.meter);
    as_forms_fini(&w.forms);
    return rc;
}
