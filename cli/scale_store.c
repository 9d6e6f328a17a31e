/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay scale --trace --store EXP`: a scaling model becomes rows of an experiment, which 'assay
 * show' and the page of reports read. A model that was stored before is replaced.
 */
#include <inttypes.h>
#include <math.h>

#include "base/error.h"
#include "experiment/experiment.h"
#include "report/profile.h"
#include "scale.h"

#define PASS "scale"

struct stored_model {
    struct as_experiment *experiment;
    int64_t run_id, scaling_id;
    const struct as_scaling_model *model, *curve;
};

int as_scale_store_check(struct as_cli *cli, struct as_error *err)
{
    struct as_experiment *experiment = NULL;
    const char *path = cli->args.value[AS_OPTION_SCALE_STORE];
    if (!path)
        return 0;
    AS_TRY(as_experiment_read(path, &experiment, err));
    return as_experiment_close(&experiment, err);
}

/* Bounds that are infinite are unknown. */
static double finite_or_unknown(double value)
{
    return isfinite(value) ? value : (double)NAN;
}

static int store_factor(const struct stored_model *stored, struct as_row_scaling_factor *row,
                        const struct as_scaling_cell *cell, struct as_error *err)
{
    if (!isfinite(cell->value))
        return 0;
    row->value = cell->value;
    row->low = finite_or_unknown(cell->low);
    row->high = finite_or_unknown(cell->high);
    return as_experiment_add_scaling_factor(stored->experiment, row, err);
}

/* A size of a part, with the speed-up and the elapsed time. */
static int store_size(const struct stored_model *stored, const char *part, size_t position,
                      const struct as_scaling_row *it, struct as_error *err)
{
    struct as_row_scaling_factor row = {.scaling_id = stored->scaling_id,
                                        .part = part,
                                        .position = (int64_t)position,
                                        .size = it->size,
                                        .trace_n = (int64_t)it->trace_n};
    for (unsigned f = 0; f < AS_SCALING_FACTORS_N; f++) {
        if (f == AS_SCALING_THREADS && !stored->model->has_threads)
            continue;
        row.factor = as_scaling_word(f);
        row.place = f;
        row.title = as_scaling_title(f);
        row.depth = as_scaling_depth(f);
        AS_TRY(store_factor(stored, &row, &it->factor[f], err));
    }
    row.depth = 0;
    row.place = AS_SCALING_FACTORS_N;
    row.factor = "speedup";
    row.title = "Speed-up";
    AS_TRY(store_factor(stored, &row, &it->speedup, err));
    row.place++;
    row.factor = "elapsed";
    row.title = "Elapsed time";
    return store_factor(stored, &row, &it->elapsed_s, err);
}

static int store_law(const struct stored_model *stored, unsigned factor, struct as_error *err)
{
    const struct as_scaling_fit *fit = &stored->model->fit[factor];
    const struct as_law *law = &fit->choice.law;
    const bool is_projected = stored->model->row.n > stored->model->measured_n;
    const struct as_row_scaling_law row = {
        .scaling_id = stored->scaling_id,
        .position = factor,
        .factor = as_scaling_word(factor),
        .title = as_scaling_title(factor),
        .law = as_law_word(law->kind),
        .formula = as_law_formula(law->kind),
        .a = law->a,
        .f = law->kind == AS_LAW_CONSTANT ? (double)NAN : law->f,
        .error = finite_or_unknown(fit->choice.validation[law->kind]),
        .used_law = is_projected ? as_law_word(fit->used) : NULL,
        .used_value = is_projected ? finite_or_unknown(fit->value) : (double)NAN,
        .rival_law = fit->has_rival ? as_law_word(fit->rival) : NULL,
        .rival_value = fit->has_rival ? finite_or_unknown(fit->rival_value) : (double)NAN};
    return fit->is_fitted ? as_experiment_add_scaling_law(stored->experiment, &row, err) : 0;
}

static int store_rows(void *context, struct as_error *err)
{
    struct stored_model *stored = context;
    const struct as_scaling_model *model = stored->model, *curve = stored->curve;
    const struct as_row_scaling row = {.run_id = stored->run_id,
                                       .kind = model->is_weak ? "weak" : "strong",
                                       .is_given = model->is_given,
                                       .is_doubtful = model->is_doubtful,
                                       .work = model->has_counters ? "instructions" : "useful",
                                       .growth = model->growth,
                                       .size_n = (int64_t)model->measured_n,
                                       .lowest = as_scaling_word(as_scale_lowest(model)),
                                       .pass = PASS};
    AS_TRY(as_experiment_add_scaling(stored->experiment, &row, &stored->scaling_id, err));
    for (size_t i = 0; i < model->row.n; i++) {
        const bool is_measured = i < model->measured_n;
        AS_TRY(store_size(stored, is_measured ? "measured" : "projected",
                          is_measured ? i : i - model->measured_n, &model->row.at[i], err));
    }
    for (size_t i = curve->measured_n; i < curve->row.n; i++)
        AS_TRY(store_size(stored, "curve", i - curve->measured_n, &curve->row.at[i], err));
    for (unsigned f = 0; f < AS_SCALING_FACTORS_N; f++)
        AS_TRY(store_law(stored, f, err));
    return 0;
}

int as_scale_store(struct as_cli *cli, const struct as_scaling_model *model,
                   const struct as_scaling_model *curve, struct as_error *err)
{
    struct stored_model stored = {.model = model, .curve = curve};
    const char *path = cli->args.value[AS_OPTION_SCALE_STORE];
    int64_t run_n;
    AS_TRY(as_experiment_open(path, &stored.experiment, err));
    int rc = as_report_run(stored.experiment, 0, &stored.run_id, &run_n, err);
    if (rc == 0)
        rc = as_experiment_write_pass(stored.experiment, stored.run_id, PASS, store_rows, &stored,
                                      err);
    const int closed = as_experiment_close(&stored.experiment, rc < 0 ? NULL : err);
    if (rc == 0 && closed == 0)
        as_cli_note(cli, "scale: the model is stored with run %" PRId64 " of %s", stored.run_id,
                    path);
    return rc < 0 ? rc : closed;
}
