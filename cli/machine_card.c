/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The card of a machine: one screen of 80 columns. Figures of little trust carry a '?'.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "machine/uarch.h"
#include "machine_page.h"
#include "text.h"

#define FINDINGS_MOST 3 /* more would push the figures off the screen */

/* ---- Lines ----------------------------------------------------------------------------------- */

/* No line where there is nothing to say. */
static void card_line(struct as_cli *cli, const char *title, struct as_str *value)
{
    if (value->n)
        as_cli_fact(cli, title, as_str_z(value));
    as_str_fini(value);
}

static const char *fact_named(const struct as_host *host, const char *name)
{
    for (size_t i = 0; host && i < host->fact_n; i++)
        if (strcmp(host->fact[i].name, name) == 0)
            return host->fact[i].value;
    return NULL;
}

static void append_fact(struct as_str *to, const struct as_host *host, const char *name,
                        const char *title)
{
    const char *value = fact_named(host, name);

    if (value)
        as_str_appendf(to, "%s%s %s", to->n ? ", " : "", title, value);
}

/* ---- What it is ------------------------------------------------------------------------------ */

static void print_machine_name(struct as_cli *cli, const struct as_machine_page *page)
{
    const struct as_host *h = page->host;
    struct as_str s = {0}, wrapped = {0};

    as_str_appendf(&s, "%s: %s", h && h->name ? h->name : "a machine",
                   h && h->cpu_model           ? h->cpu_model
                   : page->topology->cpu_model ? page->topology->cpu_model
                                               : "unknown processor");
    if (h && h->microarchitecture_words)
        as_str_appendf(&s, ", %s", h->microarchitecture_words);
    if (h && h->cpu_family >= 0)
        as_str_appendf(&s, " (family %" PRId64 ", model %" PRId64 ", stepping %" PRId64 ")",
                       h->cpu_family, h->cpu_model_number, h->cpu_stepping);
    as_wrap(&wrapped, as_str_z(&s), 0, 2, as_cli_width(cli));
    as_cli_styled(cli, AS_STYLE_BOLD, as_str_z(&wrapped));
    as_str_fini(&wrapped);
    as_str_fini(&s);
}

/* The kernel's words are written for programs. */
static void append_smt(struct as_str *to, const struct as_host *host)
{
    const char *value = fact_named(host, "smt");

    if (value && strcmp(value, "notsupported") == 0)
        as_str_appendz(to, ", no SMT");
    else if (value && strcmp(value, "notimplemented") != 0)
        as_str_appendf(to, ", SMT %s", strcmp(value, "forceoff") == 0 ? "off for good" : value);
}

static void write_cores(struct as_cli *cli, const struct as_machine_page *page)
{
    const struct as_topology *t = page->topology;
    struct as_str s = {0};

    if (t->package_n > 0) {
        as_append_counted(&s, (uint64_t)t->package_n, "package");
        as_str_appendz(&s, ", ");
    }
    if (t->core_n > 0) {
        as_append_counted(&s, (uint64_t)t->core_n, "core");
        as_str_appendz(&s, ", ");
    }
    as_append_counted(&s, t->cpu_n > 0 ? (uint64_t)t->cpu_n : 0, "processor");
    if (t->core_kind_n > 1)
        as_str_appendf(&s, ", %" PRId64 " kinds of cores", t->core_kind_n);
    if (t->usable_cpu_n >= 0 && t->usable_cpu_n < t->cpu_n)
        as_str_appendf(&s, ", %" PRId64 " may be used here", t->usable_cpu_n);
    append_smt(&s, page->host);
    append_fact(&s, page->host, "governor", "governor");
    card_line(cli, "cores", &s);
}

static unsigned processors_below(const struct as_topology *t, size_t place)
{
    unsigned n = 0;

    for (size_t k = place; k < t->place_n; k++) {
        size_t at = k;
        while (at > place)
            at = t->place[at].parent;
        n += at == place && t->place[k].kind == AS_PLACE_PU;
    }
    return n;
}

/* The first of each level: those of other cores are as large, but for other kinds of cores. */
static void write_caches(struct as_cli *cli, const struct as_topology *t)
{
    struct as_str s = {0};

    for (unsigned level = 1; level <= 4; level++)
        for (size_t i = 0; i < t->place_n; i++) {
            const struct as_place *p = &t->place[i];
            if (p->kind != AS_PLACE_CACHE || p->cache == 'i' || p->level != level)
                continue;
            const unsigned cpu_n = processors_below(t, i);
            as_str_appendf(&s, "%sL%u ", s.n ? ", " : "", level);
            as_append_size(&s, p->size_b);
            if (cpu_n > 1)
                as_str_appendf(&s, " for %u", cpu_n);
            break;
        }
    card_line(cli, "caches", &s);
}

/* Bytes of nodes with memory of a kind (NULL: any), from node `first` of the places on. */
static uint64_t memory_of_kind(const struct as_topology *t, const char *kind, size_t first)
{
    uint64_t all_b = 0;

    for (size_t i = first; i < t->place_n; i++)
        if (t->place[i].kind == AS_PLACE_NUMA &&
            (!kind || (t->place[i].memory && strcmp(t->place[i].memory, kind) == 0)))
            all_b += t->place[i].size_b;
    return all_b;
}

/* "96 GiB DRAM, 16 GiB HBM": each kind with the sum of its nodes. */
static void append_kinds(struct as_str *s, const struct as_topology *t)
{
    for (size_t i = 0; i < t->place_n; i++) {
        const char *kind = t->place[i].kind == AS_PLACE_NUMA ? t->place[i].memory : NULL;
        if (!kind || memory_of_kind(t, kind, i) < memory_of_kind(t, kind, 0))
            continue; /* was appended with the first of its kind */
        if (s->n)
            as_str_appendz(s, ", ");
        as_append_size(s, memory_of_kind(t, kind, 0));
        as_str_appendf(s, " %s", kind);
    }
}

static void print_machine_memory(struct as_cli *cli, const struct as_machine_page *page)
{
    const struct as_topology *t = page->topology;
    const uint64_t all_b = memory_of_kind(t, NULL, 0);
    struct as_str s = {0};

    if (t->memory_most && memory_of_kind(t, t->memory_most, 0) < all_b)
        append_kinds(&s, t);
    else {
        as_append_size(&s, page->host && page->host->memory_b > 0 ? (uint64_t)page->host->memory_b
                                                                  : all_b);
        if (t->memory_most)
            as_str_appendf(&s, " %s", t->memory_most);
    }
    if (t->numa_n > 0) {
        as_str_appendz(&s, ", ");
        as_append_counted(&s, (uint64_t)t->numa_n, "NUMA node");
    }
    append_fact(&s, page->host, "transparent_huge_pages", "transparent huge pages");
    card_line(cli, "memory", &s);
}

static void write_clock(struct as_cli *cli, const struct as_machine_page *page)
{
    const struct as_host *h = page->host;
    const char *invariant = fact_named(h, "tsc_invariant");
    struct as_str s = {0};

    if (h && h->tsc_hz > 0)
        as_str_appendf(&s, "TSC %.3f GHz (%s)%s", (double)h->tsc_hz / 1e9, h->tsc_origin,
                       !invariant            ? ""
                       : invariant[0] == '1' ? ", invariant"
                                             : ", NOT invariant");
    static const char *const width[] = {"avx512", "avx2", "sse", "scalar"};
    for (size_t i = 0; page->figures && i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "frequency.fma.f64.%s.core", width[i]);
        const struct as_figure *f = as_figures_find(page->figures, name);
        if (!f)
            continue;
        as_str_appendf(&s, "; core %.2f GHz in FMA %s", f->value / 1e9, width[i]);
        snprintf(name, sizeof name, "peak.fma.f64.%s.core", width[i]);
        const struct as_figure *peak = as_figures_find(page->figures, name);
        if (peak)
            as_str_appendf(&s, ", %.1f f64 operations a cycle", peak->value / f->value);
        break;
    }
    card_line(cli, "clock", &s);
}

static void write_system(struct as_cli *cli, const struct as_machine_page *page)
{
    const struct as_host *h = page->host;
    struct as_str s = {0};

    if (!h)
        return;
    as_str_appendf(&s, "%s, Linux %s, %s%s", h->os ? h->os : "unknown system",
                   h->kernel ? h->kernel : "?", h->hypervisor ? "in a virtual machine of " : "",
                   h->hypervisor ? h->hypervisor : "bare metal");
    card_line(cli, "system", &s);
    const char *pmu = fact_named(h, "pmu");
    as_str_appendz(&s, pmu ? pmu : "not known");
    card_line(cli, "counters", &s);
}

/* Which table of a core there is for this one, and whether one was measured here. */
static void emit_table(struct as_cli *cli, const struct as_host *h)
{
    char path[PATH_MAX];
    struct as_str s = {0};
    struct as_core core;

    if (!h || h->cpu_family < 0)
        return;
    as_core_of_host(h, &core);
    as_str_appendf(&s, "%s%s", core.table ? "table " : "no table of this core",
                   core.table ? core.table : "");
    if (as_core_table_path(h, path, sizeof path) && access(path, R_OK) == 0)
        as_str_appendf(&s, "; measured here: %s", path);
    if (h->core_doubt)
        as_str_appendf(&s, "; %s", h->core_doubt);
    card_line(cli, "core", &s);
}

/* ---- What was measured ----------------------------------------------------------------------- */

void as_figure_text(const struct as_figure *figure, char *out, size_t out_b)
{
    const bool rate = strcmp(figure->unit, "B/s") == 0 || strcmp(figure->unit, "op/s") == 0 ||
                      strcmp(figure->unit, "Hz") == 0;
    const char *mark = strcmp(as_figure_confidence(figure), "low") == 0 ? "?" : "";
    const double value = rate ? figure->value / 1e9 : figure->value;

    snprintf(out, out_b, "%.*f%s", value < 10 ? 2 : value < 100 ? 1 : 0, value, mark);
}

static void table_figure(struct as_table *table, const struct as_figures *figures, const char *name)
{
    const struct as_figure *f = as_figures_find(figures, name);
    char text[32] = "";

    if (f)
        as_figure_text(f, text, sizeof text);
    as_table_string(table, text);
}

/* Returns true if a finding says why the figure is missing. */
static bool has_finding(const struct as_figures *figures, const char *name)
{
    for (size_t i = 0; i < figures->finding_n; i++)
        if (strcmp(figures->finding[i].name, name) == 0)
            return true;
    return false;
}

static bool has_figures(const struct as_figures *figures, const char *begin)
{
    for (size_t i = 0; i < figures->figure_n; i++)
        if (strncmp(figures->figure[i].name, begin, strlen(begin)) == 0)
            return true;
    return false;
}

static int print_table(struct as_cli *cli, struct as_table *table, struct as_error *err)
{
    table->indent = 2;
    as_cli_print(cli, "\n");
    const int rc = as_table_print(table, &cli->out, as_cli_width(cli), cli->color, err);
    as_table_fini(table);
    return rc;
}

/* "ROB 443, store queue 105?": parameters of the core that were seen. */
static void append_parameters(struct as_str *to, const struct as_figures *figures,
                              const char *const (*parameter)[2], size_t n)
{
    char name[64];

    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "core.%s", parameter[i][0]);
        const struct as_figure *f = as_figures_find(figures, name);
        if (f)
            as_str_appendf(to, "%s%s %.4g%s", to->n ? ", " : "", parameter[i][1], f->value,
                           strcmp(as_figure_confidence(f), "low") == 0 ? "?" : "");
    }
}

/* Pairs of an operation and a branch that take one slot. */
static void append_fused(struct as_str *to, const struct as_figures *figures)
{
    static const char begin[] = "core.fuse.";
    const char *before = "fused with a branch ";

    for (size_t i = 0; i < figures->figure_n; i++) {
        const struct as_figure *f = &figures->figure[i];
        if (strncmp(f->name, begin, sizeof begin - 1) != 0 || f->value != 1)
            continue;
        as_str_appendf(to, "%s%s%s", to->n && *before != ' ' ? ", " : "", before,
                       f->name + sizeof begin - 1);
        before = " ";
    }
}

static void print_core_parameters(struct as_cli *cli, const struct as_figures *figures)
{
    static const char *const window[][2] = {{"rob", "ROB"},
                                            {"regs_int", "integer registers"},
                                            {"regs_fp", "vector registers"},
                                            {"sched_int", "waiting: integer"},
                                            {"sched_mem", "memory"},
                                            {"sched_fp", "vector"},
                                            {"load_queue", "load queue"},
                                            {"store_queue", "store queue"}};
    static const char *const front[][2] = {{"dispatch_width", "slots a cycle"},
                                           {"taken_branch", "cycles per taken branch"},
                                           {"opcache_slots", "op cache"}};
    struct as_str s = {0};

    append_parameters(&s, figures, window, sizeof window / sizeof *window);
    card_line(cli, "window", &s);
    append_parameters(&s, figures, front, sizeof front / sizeof *front);
    append_fused(&s, figures);
    card_line(cli, "front end", &s);
}

static int emit_levels(struct as_cli *cli, const struct as_figures *figures, struct as_error *err)
{
    static const struct as_column columns[] = {
        {.title = "memory"},
        {.title = "L1", .align = AS_ALIGN_RIGHT, .wide = 7},
        {.title = "L2", .align = AS_ALIGN_RIGHT, .wide = 7},
        {.title = "L3", .align = AS_ALIGN_RIGHT, .wide = 7},
        {.title = "memory", .align = AS_ALIGN_RIGHT, .wide = 7}};
    static const struct {
        const char *title, *before, *behind;
    } rows[] = {{"latency, huge pages, ns", "latency.", ".huge"},
                {"latency, small pages, ns", "latency.", ".small"},
                {"read, one core, GB/s", "bandwidth.read.", ".core"},
                {"triad, one core, GB/s", "bandwidth.triad.", ".core"},
                {"read, all cores, GB/s", "bandwidth.read.", ".all"},
                {"triad, all cores, GB/s", "bandwidth.triad.", ".all"},
                {"  on small pages, GB/s", "bandwidth.triad-small.", ".all"}};
    static const char *const level[] = {"L1", "L2", "L3", "memory"};
    struct as_table table;
    char name[64];

    as_table_init(&table, columns, 5);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!has_figures(figures, rows[i].before))
            continue;
        as_table_string(&table, rows[i].title);
        for (size_t k = 0; k < 4; k++) {
            snprintf(name, sizeof name, "bandwidth.%s%s", level[k], rows[i].behind);
            const bool is_unseen = has_finding(figures, name);
            snprintf(name, sizeof name, "%s%s%s", rows[i].before, level[k], rows[i].behind);
            if (is_unseen && !as_figures_find(figures, name))
                as_table_string(&table, "-");
            else
                table_figure(&table, figures, name);
        }
    }
    return print_table(cli, &table, err);
}

static int write_peaks(struct as_cli *cli, const struct as_figures *figures, struct as_error *err)
{
    static const struct as_column columns[] = {
        {.title = "arithmetic, Gop/s"},
        {.title = "scalar", .align = AS_ALIGN_RIGHT, .wide = 7},
        {.title = "SSE", .align = AS_ALIGN_RIGHT, .wide = 7},
        {.title = "AVX2", .align = AS_ALIGN_RIGHT, .wide = 7},
        {.title = "AVX-512", .align = AS_ALIGN_RIGHT, .wide = 7}};
    static const struct {
        const char *title, *what, *scope;
    } rows[] = {{"FMA f64, one core", "fma.f64", "core"}, {"FMA f32, one core", "fma.f32", "core"},
                {"add f64, one core", "add.f64", "core"}, {"mul f64, one core", "mul.f64", "core"},
                {"add i32, one core", "add.i32", "core"}, {"FMA f64, all cores", "fma.f64", "all"}};
    static const char *const width[] = {"scalar", "sse", "avx2", "avx512"};
    struct as_table table;
    char name[64];

    as_table_init(&table, columns, 5);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(name, sizeof name, "peak.%s", rows[i].what);
        if (!has_figures(figures, name))
            continue;
        as_table_string(&table, rows[i].title);
        for (size_t k = 0; k < 4; k++) {
            snprintf(name, sizeof name, "peak.%s.%s.%s", rows[i].what, width[k], rows[i].scope);
            table_figure(&table, figures, name);
        }
    }
    return print_table(cli, &table, err);
}

void as_append_account(struct as_str *to, const struct as_figures *figures)
{
    double took_s = 0, waited_s = 0;

    for (size_t i = 0; i < figures->group_n; i++) {
        took_s += figures->group[i].took_s;
        waited_s += figures->group[i].waited_s;
    }
    if (took_s > 0)
        as_str_appendf(to, " in %.0f s, %.0f s of them waiting for low external load", took_s,
                       waited_s);
}

static void write_origin(struct as_cli *cli, const struct as_figures *figures)
{
    unsigned count[3] = {0};
    int64_t last_s = 0;
    char date[32] = "";
    struct as_str s = {0};

    for (size_t i = 0; i < figures->figure_n; i++) {
        const char *word = as_figure_confidence(&figures->figure[i]);
        count[*word == 'h' ? 0 : *word == 'm' ? 1 : 2]++;
        last_s = figures->figure[i].when_s > last_s ? figures->figure[i].when_s : last_s;
    }
    const time_t when = (time_t)last_s;
    struct tm utc;
    if (gmtime_r(&when, &utc))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
    as_str_appendz(&s, date);
    as_append_account(&s, figures);
    as_str_appendf(&s, "; trust: %u high, %u medium, %u low (?)", count[0], count[1], count[2]);
    for (size_t i = 0; i < figures->group_n; i++)
        if (!figures->group[i].is_done)
            as_str_appendf(&s, "; '%s' is incomplete: --measure continues it",
                           figures->group[i].name);
    as_cli_print(cli, "\n");
    card_line(cli, "measured", &s);
    for (size_t i = 0; i < figures->finding_n && i < FINDINGS_MOST; i++) {
        as_str_appendz(&s, figures->finding[i].text);
        card_line(cli, i ? "" : "findings", &s);
    }
    if (figures->finding_n > FINDINGS_MOST) {
        as_append_counted(&s, figures->finding_n - FINDINGS_MOST, "more finding");
        as_str_appendz(&s, ": see --format json");
        card_line(cli, "", &s);
    }
}

int as_machine_card(struct as_cli *cli, const struct as_machine_page *page, struct as_error *err)
{
    const struct as_figures *f = page->figures;
    struct as_str never = {0};

    print_machine_name(cli, page);
    if (page->topology) {
        write_cores(cli, page);
        write_caches(cli, page->topology);
        print_machine_memory(cli, page);
    }
    write_clock(cli, page);
    write_system(cli, page);
    emit_table(cli, page->host);
    if (f)
        print_core_parameters(cli, f);
    if (!f || f->figure_n == 0) {
        if (page->host) {
            as_str_appendz(&never, "never; run 'assay machine --measure all' (some minutes)");
            card_line(cli, "measured", &never);
        }
        return 0;
    }
    if (has_figures(f, "bandwidth.") || has_figures(f, "latency."))
        AS_TRY(emit_levels(cli, f, err));
    if (has_figures(f, "peak."))
        AS_TRY(write_peaks(cli, f, err));
    write_origin(cli, f);
    return 0;
}
