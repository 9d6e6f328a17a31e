/* SPDX-License-Identifier: Apache-2.0 */
/* Machine figures in memory. A few hundred exist at most, so a linear search finds them. */
#include "machine/figures.h"

#include <string.h>

#include "base/error.h"

static const char *copy_figure_text(struct as_figures_memory *f, const char *text)
{
    return as_arena_strndup(&f->arena, text, strlen(text));
}

static int no_room(struct as_error *err)
{
    return as_error_nomem(err, "the figures of a machine");
}

/* Updates the public pointers, because growing vectors move. */
static void publish(struct as_figures_memory *f)
{
    struct as_figures *out = &f->figures;

    out->fact = f->fact.at, out->fact_n = f->fact.n;
    out->figure = f->figure.at, out->figure_n = f->figure.n;
    out->point = f->point.at, out->point_n = f->point.n;
    out->finding = f->finding.at, out->finding_n = f->finding.n;
    out->group = f->group.at, out->group_n = f->group.n;
}

static int describe_host(struct as_figures *figures, const struct as_host *host,
                         struct as_error *err)
{
    const struct {
        const char *name, *value;
    } texts[] = {{"name", host->name},
                 {"cpu", host->cpu_model},
                 {"vendor", host->cpu_vendor},
                 {"microarchitecture", host->microarchitecture},
                 {"hypervisor", host->hypervisor},
                 {"kernel", host->kernel}};
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"family", host->cpu_family},     {"model", host->cpu_model_number},
                   {"stepping", host->cpu_stepping}, {"packages", host->socket_n},
                   {"cores", host->core_n},          {"processors", host->cpu_n},
                   {"numa_nodes", host->numa_n},     {"memory_b", host->memory_b},
                   {"tsc_hz", host->tsc_hz}};
    char text[32];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].value)
            AS_TRY(as_figures_set_fact(figures, texts[i].name, texts[i].value, err));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].value < 0)
            continue;
        snprintf(text, sizeof text, "%lld", (long long)numbers[i].value);
        AS_TRY(as_figures_set_fact(figures, numbers[i].name, text, err));
    }
    return 0;
}

int as_figures_new(const struct as_host *host, struct as_figures **out, struct as_error *err)
{
    struct as_figures_memory *f = as_calloc(1, sizeof *f);

    *out = NULL;
    if (!f)
        return no_room(err);
    as_arena_init(&f->arena);
    *out = &f->figures;
    const int rc = host ? describe_host(*out, host, err) : 0;
    if (rc < 0)
        as_figures_free(out);
    return rc;
}

void as_figures_free(struct as_figures **figures)
{
    struct as_figures_memory *f = (struct as_figures_memory *)*figures;

    if (!f)
        return;
    as_vec_fini(&f->fact);
    as_vec_fini(&f->figure);
    as_vec_fini(&f->point);
    as_vec_fini(&f->finding);
    as_vec_fini(&f->group);
    as_arena_fini(&f->arena);
    as_free(f);
    *figures = NULL;
}

const struct as_figure *as_figures_find(const struct as_figures *figures, const char *name)
{
    for (size_t i = 0; i < figures->figure_n; i++)
        if (strcmp(figures->figure[i].name, name) == 0)
            return &figures->figure[i];
    return NULL;
}

const char *as_figures_fact(const struct as_figures *figures, const char *name)
{
    for (size_t i = 0; i < figures->fact_n; i++)
        if (strcmp(figures->fact[i].name, name) == 0)
            return figures->fact[i].value;
    return NULL;
}

int as_figures_set(struct as_figures *figures, const struct as_figure *figure, struct as_error *err)
{
    struct as_figures_memory *f = (struct as_figures_memory *)figures;
    struct as_figure kept = *figure;

    kept.name = copy_figure_text(f, figure->name);
    kept.unit = copy_figure_text(f, figure->unit);
    if (!kept.name || !kept.unit)
        return no_room(err);
    as_vec_foreach (&f->figure, there)
        if (strcmp(there->name, figure->name) == 0) {
            *there = kept;
            return 0;
        }
    if (as_vec_push(&f->figure, kept) < 0)
        return no_room(err);
    publish(f);
    return 0;
}

int as_figures_set_fact(struct as_figures *figures, const char *name, const char *value,
                        struct as_error *err)
{
    struct as_figures_memory *f = (struct as_figures_memory *)figures;
    const struct as_host_fact kept = {copy_figure_text(f, name), copy_figure_text(f, value)};

    if (!kept.name || !kept.value)
        return no_room(err);
    as_vec_foreach (&f->fact, there)
        if (strcmp(there->name, name) == 0) {
            *there = kept;
            return 0;
        }
    if (as_vec_push(&f->fact, kept) < 0)
        return no_room(err);
    publish(f);
    return 0;
}

int as_figures_set_group(struct as_figures *figures, const struct as_figure_group *group,
                         struct as_error *err)
{
    struct as_figures_memory *f = (struct as_figures_memory *)figures;
    struct as_figure_group kept = *group;

    kept.name = copy_figure_text(f, group->name);
    if (!kept.name)
        return no_room(err);
    as_vec_foreach (&f->group, there)
        if (strcmp(there->name, group->name) == 0) {
            *there = kept;
            return 0;
        }
    if (as_vec_push(&f->group, kept) < 0)
        return no_room(err);
    publish(f);
    return 0;
}

int as_figures_add_point(struct as_figures *figures, const struct as_figure_point *point,
                         struct as_error *err)
{
    struct as_figures_memory *f = (struct as_figures_memory *)figures;
    struct as_figure_point kept = *point;

    kept.curve = copy_figure_text(f, point->curve);
    if (!kept.curve || as_vec_push(&f->point, kept) < 0)
        return no_room(err);
    publish(f);
    return 0;
}

int as_figures_add_finding(struct as_figures *figures, const char *name, const char *text,
                           struct as_error *err)
{
    struct as_figures_memory *f = (struct as_figures_memory *)figures;
    const struct as_figure_finding kept = {copy_figure_text(f, name), copy_figure_text(f, text)};

    if (!kept.name || !kept.text || as_vec_push(&f->finding, kept) < 0)
        return no_room(err);
    publish(f);
    return 0;
}

void as_figures_drop_curve(struct as_figures *figures, const char *curve)
{
    struct as_figures_memory *f = (struct as_figures_memory *)figures;
    size_t n = 0;

    for (size_t i = 0; i < f->point.n; i++)
        if (strcmp(f->point.at[i].curve, curve) != 0)
            f->point.at[n++] = f->point.at[i];
    f->point.n = n;
    publish(f);
}

void as_figures_drop_findings(struct as_figures *figures, const char *name)
{
    struct as_figures_memory *f = (struct as_figures_memory *)figures;
    size_t n = 0;

    for (size_t i = 0; i < f->finding.n; i++)
        if (strcmp(f->finding.at[i].name, name) != 0)
            f->finding.at[n++] = f->finding.at[i];
    f->finding.n = n;
    publish(f);
}

const char *as_figure_confidence(const struct as_figure *figure)
{
    if (!figure->is_calm || figure->spread < 0 || figure->spread > 0.1 || figure->sample_n < 3)
        return "low";
    return figure->spread <= 0.02 ? "high" : "medium";
}
