/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the machine and the environment of a run.
 */
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "machine/machine.h"
#include "profile/numa.h"
#include "profile/record.h"

static struct as_number known_if(int64_t value)
{
    return (struct as_number){.value = value, .known = value >= 0};
}

static int add_host(struct as_experiment *experiment, const struct as_host *host, int64_t *host_id,
                    struct as_error *err)
{
    const struct as_row_host row = {.name = host->name,
                                    .kernel = host->kernel,
                                    .os = host->os,
                                    .cpu_vendor = host->cpu_vendor,
                                    .cpu_model = host->cpu_model,
                                    .cpu_family = known_if(host->cpu_family),
                                    .cpu_model_number = known_if(host->cpu_model_number),
                                    .cpu_stepping = known_if(host->cpu_stepping),
                                    .hypervisor = host->hypervisor,
                                    .socket_n = known_if(host->socket_n),
                                    .core_n = known_if(host->core_n),
                                    .cpu_n = known_if(host->cpu_n),
                                    .numa_n = known_if(host->numa_n),
                                    .memory_b = known_if(host->memory_b),
                                    .tsc_hz = known_if(host->tsc_hz),
                                    .base_hz = known_if(host->base_hz),
                                    .max_hz = known_if(host->max_hz)};
    AS_TRY(as_experiment_add_host(experiment, &row, host_id, err));
    for (size_t i = 0; i < host->fact_n; i++) {
        const struct as_row_host_fact fact = {
            .host_id = *host_id, .name = host->fact[i].name, .value = host->fact[i].value};
        AS_TRY(as_experiment_add_host_fact(experiment, &fact, err));
    }
    return 0;
}

static const char *known_word(const struct as_place *place)
{
    return place->kind != AS_PLACE_CACHE ? NULL
           : place->cache == 'd'         ? "data"
           : place->cache == 'i'         ? "instructions"
                                         : "both";
}

static int add_places(struct as_experiment *experiment, const struct as_topology *topology,
                      int64_t host_id, struct as_error *err)
{
    for (size_t i = 0; topology && i < topology->place_n; i++) {
        const struct as_place *p = &topology->place[i];
        const struct as_row_machine_place row = {
            .host_id = host_id,
            .place = (int64_t)i,
            .parent = p->parent,
            .kind = as_place_word(p->kind),
            .number = known_if(p->number),
            .level = known_if(p->kind == AS_PLACE_CACHE ? p->level : -1),
            .cache = known_word(p),
            .size_b = known_if(p->size_b ? (int64_t)p->size_b : -1),
            .memory = p->memory,
            .efficiency = known_if(p->efficiency),
            .is_usable = p->usable};
        AS_TRY(as_experiment_add_machine_place(experiment, &row, err));
    }
    return 0;
}

/* Adds the measured figures of this machine, which metrics of the run may use. A damaged file
 * counts as missing; `assay machine` reports it. */
static int add_figures(struct as_experiment *experiment, const struct as_host *host,
                       int64_t host_id, struct as_error *err)
{
    char path[PATH_MAX];
    struct as_figures *figures;
    struct as_error ignored;
    int rc = 0;

    if (!as_figures_path(host, path, sizeof path) || as_figures_open(path, &figures, &ignored) < 0)
        return 0;
    for (size_t i = 0; i < figures->figure_n && rc == 0; i++) {
        const struct as_figure *f = &figures->figure[i];
        const struct as_row_machine_figure row = {.host_id = host_id,
                                                  .name = f->name,
                                                  .value = f->value,
                                                  .unit = f->unit,
                                                  .spread = f->spread < 0 ? NAN : f->spread,
                                                  .sample_n = as_known(f->sample_n),
                                                  .confidence = as_figure_confidence(f),
                                                  .measured_s = known_if(f->when_s)};
        rc = as_experiment_add_machine_figure(experiment, &row, err);
    }
    for (size_t i = 0; i < figures->finding_n && rc == 0; i++) {
        const struct as_row_machine_finding row = {
            .host_id = host_id, .name = figures->finding[i].name, .text = figures->finding[i].text};
        rc = as_experiment_add_machine_finding(experiment, &row, err);
    }
    as_figures_free(&figures);
    return rc;
}

int as_run_host(struct as_experiment *experiment, int64_t *host_id, char *numa, size_t numa_b,
                struct as_error *err)
{
    struct as_host *host;
    AS_TRY(as_host_read(NULL, &host, err));
    as_numa_write(host, numa, numa_b);
    int rc = add_host(experiment, host, host_id, err);
    if (rc == 0)
        rc = add_places(experiment, host->topology, *host_id, err);
    if (rc == 0)
        rc = add_figures(experiment, host, *host_id, err);
    as_host_free(&host);
    return rc;
}

static struct as_number counted_between(int64_t before, int64_t after)
{
    return before >= 0 && after >= before ? as_known(after - before) : (struct as_number){0};
}

void as_run_usage(const struct as_launch_outcome *outcome, struct as_row_run *row)
{
    if (!outcome->exited && !outcome->signalled)
        return; /* we have not waited for the process, so there are no counts */
    row->resident_max_b = as_known((int64_t)outcome->resident_max_b);
    row->fault_major_n = as_known((int64_t)outcome->fault_major_n);
    row->fault_minor_n = as_known((int64_t)outcome->fault_minor_n);
    row->switch_voluntary_n = as_known((int64_t)outcome->switch_voluntary_n);
    row->switch_involuntary_n = as_known((int64_t)outcome->switch_involuntary_n);
}

void as_run_load(const struct as_host_load *before, const struct as_host_load *after,
                 struct as_row_run *row)
{
    if (before->usable_cpu_n > 0)
        row->usable_milli_cpu_n = as_known((int64_t)(before->usable_cpu_n * 1000 + 0.5));
    if (!row->wall_ns.known || row->wall_ns.value < AS_LOAD_WALL_NS)
        return;
    row->host_busy_ns = counted_between(before->busy_ns, after->busy_ns);
    row->host_steal_ns = counted_between(before->steal_ns, after->steal_ns);
    row->host_pressure_ns = counted_between(before->pressure_ns, after->pressure_ns);
}

int as_run_environment(struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    char name[256];
    for (char **word = environ; *word; word++) {
        const char *equals = strchr(*word, '=');
        const size_t n = equals ? (size_t)(equals - *word) : 0;
        if (n == 0 || n >= sizeof name || !as_launch_variable_matters(*word))
            continue;
        memcpy(name, *word, n);
        name[n] = 0;
        const struct as_row_run_environment row = {
            .run_id = run_id, .name = name, .value = equals + 1};
        AS_TRY(as_experiment_add_run_environment(experiment, &row, err));
    }
    return 0;
}
