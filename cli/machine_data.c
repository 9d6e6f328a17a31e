/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay machine` for programs, the list of machines that were measured here, and two of them side
 * by side.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "machine_page.h"
#include "sheet.h"

/* ---- Numbers as texts ------------------------------------------------------------------------ */

static const char *utc_text(int64_t when_s, char out[32])
{
    const time_t when = (time_t)when_s;
    struct tm utc;

    if (!when_s || !gmtime_r(&when, &utc) || !strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc))
        out[0] = 0;
    return out;
}

static struct as_cell known_count(int64_t value)
{
    return value >= 0 ? as_cell_count((uint64_t)value) : as_cell_text(NULL);
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static void host_facts(struct as_facts *facts, const struct as_host *h)
{
    as_facts_object(facts, "host");
    as_facts_cell(facts, "name", as_cell_text(h->name));
    as_facts_cell(facts, "cpu_vendor", as_cell_text(h->cpu_vendor));
    as_facts_cell(facts, "cpu_model", as_cell_text(h->cpu_model));
    as_facts_cell(facts, "cpu_family", known_count(h->cpu_family));
    as_facts_cell(facts, "cpu_model_number", known_count(h->cpu_model_number));
    as_facts_cell(facts, "cpu_stepping", known_count(h->cpu_stepping));
    as_facts_cell(facts, "microarchitecture", as_cell_text(h->microarchitecture));
    as_facts_cell(facts, "core_doubt", as_cell_text(h->core_doubt));
    as_facts_cell(facts, "hypervisor", as_cell_text(h->hypervisor));
    as_facts_cell(facts, "kernel", as_cell_text(h->kernel));
    as_facts_cell(facts, "os", as_cell_text(h->os));
    as_facts_cell(facts, "memory_b", known_count(h->memory_b));
    as_facts_cell(facts, "tsc_hz", known_count(h->tsc_hz));
    as_facts_cell(facts, "tsc_origin", as_cell_text(h->tsc_origin));
    as_facts_object(facts, "facts");
    for (size_t i = 0; i < h->fact_n; i++)
        as_facts_cell(facts, h->fact[i].name, as_cell_text(h->fact[i].value));
    as_facts_close(facts);
    as_facts_close(facts);
}

static void place_row(void *context, size_t row, struct as_cell *cell)
{
    const struct as_topology *t = context;
    const struct as_place *p = &t->place[row];
    static const char *const kinds[] = {"data", "instructions", "both"};

    *cell++ = as_cell_count(row);
    *cell++ = as_cell_count(p->parent);
    *cell++ = as_cell_text(as_place_word(p->kind));
    *cell++ = known_count(p->number);
    *cell++ = p->kind == AS_PLACE_CACHE ? as_cell_count(p->level) : as_cell_text(NULL);
    *cell++ = as_cell_text(p->kind != AS_PLACE_CACHE ? NULL
                           : p->cache == 'd'         ? kinds[0]
                           : p->cache == 'i'         ? kinds[1]
                                                     : kinds[2]);
    *cell++ = p->size_b ? as_cell_count(p->size_b) : as_cell_text(NULL);
    *cell++ = p->line_b ? as_cell_count(p->line_b) : as_cell_text(NULL);
    *cell++ = p->ways ? as_cell_count(p->ways) : as_cell_text(NULL);
    *cell++ = as_cell_text(p->memory);
    *cell++ = known_count(p->efficiency);
    *cell++ = p->kind == AS_PLACE_PU ? as_cell_bool(p->usable) : as_cell_text(NULL);
}

static void topology_facts(struct as_facts *facts, const struct as_topology *t)
{
    static const struct as_field fields[] = {
        {"place", 0, 0}, {"parent", 0, 0}, {"kind", 0, 0},       {"number", 0, 0},
        {"level", 0, 0}, {"cache", 0, 0},  {"size_b", 0, 0},     {"line_b", 0, 0},
        {"ways", 0, 0},  {"memory", 0, 0}, {"efficiency", 0, 0}, {"usable", 0, 0}};
    const struct as_sheet sheet = {.field = fields,
                                   .field_n = sizeof fields / sizeof *fields,
                                   .row_n = t->place_n,
                                   .context = (void *)t,
                                   .row = place_row};

    as_facts_object(facts, "topology");
    as_facts_cell(facts, "package_n", known_count(t->package_n));
    as_facts_cell(facts, "numa_n", known_count(t->numa_n));
    as_facts_cell(facts, "core_n", known_count(t->core_n));
    as_facts_cell(facts, "processor_n", known_count(t->cpu_n));
    as_facts_cell(facts, "usable_processor_n", known_count(t->usable_cpu_n));
    as_facts_sheet(facts, "places", &sheet);
    as_facts_close(facts);
}

static void one_figure(struct as_facts *facts, const struct as_figure *f)
{
    char text[32];

    as_facts_object(facts, NULL);
    as_facts_cell(facts, "name", as_cell_text(f->name));
    as_facts_cell(facts, "value", as_cell_real(f->value));
    as_facts_cell(facts, "unit", as_cell_text(f->unit));
    as_facts_cell(facts, "spread", as_cell_real(f->spread < 0 ? NAN : f->spread));
    as_facts_cell(facts, "sample_n", as_cell_count(f->sample_n));
    as_facts_cell(facts, "confidence", as_cell_text(as_figure_confidence(f)));
    as_facts_cell(facts, "measured", as_cell_text(utc_text(f->when_s, text)));
    as_facts_close(facts);
}

static void one_group(struct as_facts *facts, const struct as_figure_group *g)
{
    char text[32];

    as_facts_object(facts, NULL);
    as_facts_cell(facts, "name", as_cell_text(g->name));
    as_facts_cell(facts, "is_done", as_cell_bool(g->is_done));
    as_facts_cell(facts, "measured", as_cell_text(utc_text(g->when_s, text)));
    as_facts_cell(facts, "took_s", as_cell_real(g->took_s > 0 ? g->took_s : NAN));
    as_facts_cell(facts, "waited_s", as_cell_real(g->took_s > 0 ? g->waited_s : NAN));
    as_facts_close(facts);
}

static void figure_facts(struct as_facts *facts, const struct as_figures *f)
{
    as_facts_array(facts, "figures");
    for (size_t i = 0; i < f->figure_n; i++)
        one_figure(facts, &f->figure[i]);
    as_facts_close(facts);
    as_facts_array(facts, "groups");
    for (size_t i = 0; i < f->group_n; i++)
        one_group(facts, &f->group[i]);
    as_facts_close(facts);
    as_facts_array(facts, "findings");
    for (size_t i = 0; i < f->finding_n; i++)
        as_facts_cell(facts, NULL, as_cell_text(f->finding[i].text));
    as_facts_close(facts);
}

void as_machine_facts(struct as_cli *cli, const struct as_machine_page *page)
{
    struct as_facts facts;

    as_facts_begin(&facts, cli);
    if (page->host)
        host_facts(&facts, page->host);
    if (page->topology)
        topology_facts(&facts, page->topology);
    if (page->figures)
        figure_facts(&facts, page->figures);
    as_facts_end(&facts);
}

/* ---- Two machines ---------------------------------------------------------------------------- */

struct pairing {
    const struct as_figures *a, *b;
};

static void pair_row(void *context, size_t row, struct as_cell *cell)
{
    const struct pairing *p = context;
    const struct as_figure *a = &p->a->figure[row], *b = as_figures_find(p->b, a->name);

    *cell++ = as_cell_text(a->name);
    *cell++ = as_cell_text(a->unit);
    *cell++ = as_cell_real(a->value);
    *cell++ = as_cell_real(b ? b->value : NAN);
    *cell++ = as_cell_real(b ? b->value / a->value : NAN);
    *cell++ = as_cell_text(as_figure_confidence(a));
    *cell++ = as_cell_text(b ? as_figure_confidence(b) : NULL);
}

static int print_pairs(struct as_cli *cli, const struct pairing *p, struct as_error *err)
{
    static const struct as_column columns[] = {{.title = "figure"},
                                               {.title = "unit"},
                                               {.title = "A", .align = AS_ALIGN_RIGHT},
                                               {.title = "B", .align = AS_ALIGN_RIGHT},
                                               {.title = "B/A", .align = AS_ALIGN_RIGHT},
                                               {.title = "trust A"},
                                               {.title = "B"}};
    struct as_table table;

    as_table_init(&table, columns, 7);
    for (size_t i = 0; i < p->a->figure_n; i++) {
        const struct as_figure *a = &p->a->figure[i], *b = as_figures_find(p->b, a->name);
        as_table_string(&table, a->name);
        as_table_string(&table, a->unit);
        as_table_f(&table, "%.6g", a->value);
        if (b) {
            as_table_f(&table, "%.6g", b->value);
            as_table_f(&table, "%.3f", b->value / a->value);
        } else {
            as_table_string(&table, NULL);
            as_table_string(&table, NULL);
        }
        as_table_string(&table, as_figure_confidence(a));
        as_table_string(&table, b ? as_figure_confidence(b) : "");
    }
    const int rc = as_table_print(&table, &cli->out, as_cli_table_width(cli), cli->color, err);
    as_table_fini(&table);
    return rc;
}

int as_machine_diff(struct as_cli *cli, const struct as_figures *a, const struct as_figures *b,
                    struct as_error *err)
{
    static const struct as_field fields[] = {
        {"name", 0, 0},  {"unit", 0, 0},         {"a", 0, 0},           {"b", 0, 0},
        {"ratio", 0, 0}, {"confidence_a", 0, 0}, {"confidence_b", 0, 0}};
    struct pairing p = {.a = a, .b = b};
    const struct as_sheet sheet = {.field = fields,
                                   .field_n = sizeof fields / sizeof *fields,
                                   .row_n = a->figure_n,
                                   .context = &p,
                                   .row = pair_row};

    if (cli->format == AS_FORMAT_TEXT)
        return print_pairs(cli, &p, err);
    if (cli->format == AS_FORMAT_CSV) {
        as_sheet_csv_header(cli, &sheet);
        as_sheet_csv_rows(cli, &sheet);
        return 0;
    }
    struct as_facts facts;
    as_facts_begin(&facts, cli);
    as_facts_sheet(&facts, "figures", &sheet);
    as_facts_end(&facts);
    return 0;
}

/* ---- Machines -------------------------------------------------------------------------------- */

static void list_one(struct as_cli *cli, const char *directory, const char *name,
                     struct as_table *table, struct as_facts *facts)
{
    char path[PATH_MAX], date[32];
    struct as_error err;
    struct as_figures *f;
    int64_t last_s = 0;

    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
        return;
    if (as_figures_open(path, &f, &err) < 0) {
        as_cli_complain(cli, &err);
        return;
    }
    for (size_t i = 0; i < f->figure_n; i++)
        last_s = f->figure[i].when_s > last_s ? f->figure[i].when_s : last_s;
    const char *host = as_figures_fact(f, "name"), *cpu = as_figures_fact(f, "cpu");
    if (facts) {
        as_facts_object(facts, NULL);
        as_facts_cell(facts, "file", as_cell_text(path));
        as_facts_cell(facts, "name", as_cell_text(host));
        as_facts_cell(facts, "cpu", as_cell_text(cpu));
        as_facts_cell(facts, "figure_n", as_cell_count(f->figure_n));
        as_facts_cell(facts, "measured", as_cell_text(utc_text(last_s, date)));
        as_facts_close(facts);
    } else {
        as_table_string(table, host ? host : "?");
        as_table_string(table, cpu ? cpu : "?");
        as_table_u64(table, f->figure_n);
        as_table_string(table, utc_text(last_s, date));
        as_table_string(table, path);
    }
    as_figures_free(&f);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_table(const struct dirent *entry)
{
    const size_t n = strlen(entry->d_name);
    return n > 4 && strcmp(entry->d_name + n - 4, ".tsv") == 0 && !strstr(entry->d_name, ".uarch.");
}

int as_machine_list(struct as_cli *cli, struct as_error *err)
{
    static const struct as_column columns[] = {{.title = "machine"},
                                               {.title = "processor"},
                                               {.title = "figures", .align = AS_ALIGN_RIGHT},
                                               {.title = "measured"},
                                               {.title = "file", .shrink = AS_SHRINK_START}};
    char directory[PATH_MAX];
    struct dirent **entry = NULL;
    struct as_table table;
    struct as_facts facts;
    const bool text = cli->format == AS_FORMAT_TEXT;

    if (!as_figures_directory(directory, sizeof directory))
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "machines: no home directory is known; set "
                            "XDG_DATA_HOME");
    const int n = scandir(directory, &entry, is_table, by_name);
    if (text)
        as_table_init(&table, columns, 5);
    else {
        as_facts_begin(&facts, cli);
        as_facts_array(&facts, "machines");
    }
    for (int i = 0; i < n; i++) {
        list_one(cli, directory, entry[i]->d_name, &table, text ? NULL : &facts);
        free(entry[i]);
    }
    free(entry);
    int rc = 0;
    if (text) {
        if (n > 0)
            rc = as_table_print(&table, &cli->out, as_cli_table_width(cli), cli->color, err);
        else
            as_cli_note(cli, "no machine was measured yet; run 'assay machine --measure all'");
        as_table_fini(&table);
    } else {
        as_facts_close(&facts);
        as_facts_end(&facts);
    }
    return rc;
}
