/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures as a file. Each line is a fact, figure, point, finding or group; tabs separate the
 * columns. A new file is written under another name and then replaces the old one.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fnv.h"
#include "base/infile.h"
#include "base/outfile.h"
#include "base/str.h"
#include "machine/figures.h"

/* ---- Writing --------------------------------------------------------------------------------- */

static const char *date_of(int64_t when_s, char out[32])
{
    const time_t when = (time_t)when_s;
    struct tm utc;

    if (!gmtime_r(&when, &utc) || strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        snprintf(out, 32, "-");
    return out;
}

/* Appends the text with control characters as blanks: a tab in a machine name would add a
 * column. */
static void append_clean(struct as_str *to, const char *text)
{
    for (; *text; text++)
        as_str_appendf(to, "%c", (unsigned char)*text < ' ' ? ' ' : *text);
}

void as_figures_append(struct as_str *to, const struct as_figures *f)
{
    char date[32];

    as_str_appendz(to, "# Figures of a machine, measured by assay (doc/reference/machine.md)\n");
    for (size_t i = 0; i < f->fact_n; i++) {
        as_str_appendf(to, "machine\t%s\t", f->fact[i].name);
        append_clean(to, f->fact[i].value);
        as_str_appendz(to, "\n");
    }
    for (size_t i = 0; i < f->group_n; i++)
        as_str_appendf(to, "%s\t%s\t%s\t%.1f\t%.1f\n", f->group[i].is_done ? "done" : "begun",
                       f->group[i].name, date_of(f->group[i].when_s, date), f->group[i].took_s,
                       f->group[i].waited_s);
    for (size_t i = 0; i < f->figure_n; i++) {
        const struct as_figure *figure = &f->figure[i];
        as_str_appendf(to, "figure\t%s\t%.6g\t%s\t%.4g\t%u\t%s\t%s\n", figure->name, figure->value,
                       figure->unit, figure->spread, figure->sample_n,
                       figure->is_calm ? "calm" : "noisy", date_of(figure->when_s, date));
    }
    for (size_t i = 0; i < f->point_n; i++)
        as_str_appendf(to, "point\t%s\t%.8g\t%.6g\n", f->point[i].curve, f->point[i].x,
                       f->point[i].y);
    for (size_t i = 0; i < f->finding_n; i++) {
        as_str_appendf(to, "finding\t%s\t", f->finding[i].name);
        append_clean(to, f->finding[i].text);
        as_str_appendz(to, "\n");
    }
}

/* Creates the missing directories above a file, accessible to this user only. */
static void make_directories(const char *path)
{
    char part[PATH_MAX];

    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return;
    for (char *at = part + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = 0;
        mkdir(part, 0700); /* existing directories stay; open reports other failures */
        *at = '/';
    }
}

int as_figures_save(const struct as_figures *figures, const char *path, struct as_error *err)
{
    struct as_str text = {0};
    int rc;

    as_figures_append(&text, figures);
    if (text.failed) {
        as_str_fini(&text);
        return as_error_nomem(err, "the figures of a machine");
    }
    make_directories(path);
    rc = as_outfile_write(path, AS_OUTFILE_REPLACE | AS_OUTFILE_PRIVATE, text.p, text.n, err);
    as_str_fini(&text);
    return rc;
}

/* ---- Reading --------------------------------------------------------------------------------- */

enum { FIGURE_COLUMNS = 8 };

struct figure_line {
    char *column[FIGURE_COLUMNS];
    size_t n;
    const char *path;
    size_t number;
    struct as_error *err;
};

static int bad_line(const struct figure_line *l, const char *what)
{
    return as_error_set(l->err, AS_ERR_CORRUPT, "%s:%zu: %s; measure again or remove the file",
                        l->path, l->number, what);
}

static bool number_in(const char *text, double *out)
{
    char *end;

    *out = strtod(text, &end);
    return end != text && *end == 0 && isfinite(*out);
}

static bool date_in(const char *text, int64_t *when_s)
{
    struct tm utc = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc);

    *when_s = end && *end == 0 ? (int64_t)timegm(&utc) : 0;
    return (end && *end == 0) || strcmp(text, "-") == 0;
}

static int read_figure(struct as_figures *f, const struct figure_line *l)
{
    struct as_figure figure = {.name = l->column[1], .unit = l->column[3]};
    double samples;

    if (l->n != 8 || !number_in(l->column[2], &figure.value) ||
        !number_in(l->column[4], &figure.spread) || !number_in(l->column[5], &samples) ||
        samples < 0 || samples > 1e9 || !date_in(l->column[7], &figure.when_s))
        return bad_line(
            l, "not a figure with name, value, unit, spread, samples, calm or noisy, date");
    figure.sample_n = (uint32_t)samples;
    figure.is_calm = strcmp(l->column[6], "calm") == 0;
    return as_figures_set(f, &figure, l->err);
}

static int read_point(struct as_figures *f, const struct figure_line *l)
{
    struct as_figure_point point = {.curve = l->column[1]};

    if (l->n != 4 || !number_in(l->column[2], &point.x) || !number_in(l->column[3], &point.y))
        return bad_line(l, "not a point with curve and two numbers");
    return as_figures_add_point(f, &point, l->err);
}

static int read_group(struct as_figures *f, const struct figure_line *l)
{
    struct as_figure_group group = {.name = l->column[1],
                                    .is_done = strcmp(l->column[0], "done") == 0};

    if ((l->n != 3 && l->n != 5) || !date_in(l->column[2], &group.when_s))
        return bad_line(l, "not a group with a date");
    if (l->n == 5 &&
        (!number_in(l->column[3], &group.took_s) || !number_in(l->column[4], &group.waited_s)))
        return bad_line(l, "not a group with a date, its duration and its waiting time");
    return as_figures_set_group(f, &group, l->err);
}

static int read_line(struct as_figures *f, const struct figure_line *l)
{
    const char *kind = l->column[0];

    if (strcmp(kind, "figure") == 0)
        return read_figure(f, l);
    if (strcmp(kind, "point") == 0)
        return read_point(f, l);
    if (strcmp(kind, "begun") == 0 || strcmp(kind, "done") == 0)
        return read_group(f, l);
    if (l->n != 3)
        return bad_line(l, "not three columns");
    if (strcmp(kind, "machine") == 0)
        return as_figures_set_fact(f, l->column[1], l->column[2], l->err);
    if (strcmp(kind, "finding") == 0)
        return as_figures_add_finding(f, l->column[1], l->column[2], l->err);
    return bad_line(l, "unknown first word");
}

static int read_lines(struct as_figures *f, char *text, const char *path, struct as_error *err)
{
    struct figure_line l = {.path = path, .err = err};

    for (char *next = text; next && *next;) {
        char *rest = next;
        next = strchr(next, '\n');
        if (next)
            *next++ = 0;
        l.number++;
        if (*rest == 0 || *rest == '#')
            continue;
        for (l.n = 0; rest; l.n++) {
            char *column = strsep(&rest, "\t");
            if (l.n == FIGURE_COLUMNS)
                return bad_line(&l, "too many columns");
            l.column[l.n] = column;
        }
        for (size_t i = l.n; i < FIGURE_COLUMNS; i++)
            l.column[i] = "";
        AS_TRY(read_line(f, &l));
    }
    return 0;
}

int as_figures_parse(char *text, const char *name, struct as_figures **out, struct as_error *err)
{
    int rc = as_figures_new(NULL, out, err);

    if (rc == 0)
        rc = read_lines(*out, text, name, err);
    if (rc < 0)
        as_figures_free(out);
    return rc;
}

#define FILE_MOST_B ((size_t)4 << 20) /* figure files of assay have about 10 KiB */

int as_figures_open(const char *path, struct as_figures **out, struct as_error *err)
{
    char *text;
    size_t n;

    *out = NULL;
    AS_TRY(
        as_infile_read(path, "the file of figures", FILE_MOST_B, AS_INFILE_PIPE, &text, &n, err));
    const int rc = as_figures_parse(text, path, out, err);
    as_free(text);
    return rc;
}

/* ---- Paths ----------------------------------------------------------------------------------- */

bool as_figures_directory(char *out, size_t out_b)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int n = 0;

    if (data && *data == '/') /* the XDG specification says to ignore relative paths */
        n = snprintf(out, out_b, "%s/assay/machines", data);
    else if (home && *home == '/')
        n = snprintf(out, out_b, "%s/.local/share/assay/machines", home);
    return n > 0 && (size_t)n < out_b;
}

bool as_core_table_path(const struct as_host *host, char *out, size_t out_b)
{
    if (!as_figures_directory(out, out_b))
        return false;
    const size_t used = strlen(out);
    return snprintf(out + used, out_b - used, "/%.32s-%d-%d-%d.uarch.tsv",
                    host->cpu_vendor ? host->cpu_vendor : "unknown", (int)host->cpu_family,
                    (int)host->cpu_model_number, (int)host->cpu_stepping) < (int)(out_b - used);
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    const char *known = text ? text : "-";
    return as_fnv_mix_number(as_fnv_mix(hash, known, strlen(known)), 0);
}

/* Returns a hash of the host. Memory is rounded to GiB because the share that the kernel
 * reserves varies between boots. */
static uint32_t host_key(const struct as_host *host)
{
    const int64_t number[] = {host->cpu_family,
                              host->cpu_model_number,
                              host->cpu_stepping,
                              host->cpu_n,
                              host->core_n,
                              host->numa_n,
                              (host->memory_b + (INT64_C(1) << 29)) >> 30};
    uint64_t hash = AS_FNV_BASIS;
    const char *const text[] = {host->cpu_vendor, host->cpu_model, host->hypervisor};

    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        hash = as_fnv_mix_number(hash, (uint64_t)number[i]);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        hash = mix_text(hash, text[i]);
    return (uint32_t)(hash ^ hash >> 32);
}

bool as_figures_path(const struct as_host *host, char *out, size_t out_b)
{
    char name[65];
    size_t n = 0;

    if (!as_figures_directory(out, out_b))
        return false;
    for (const char *at = host->name ? host->name : "host"; *at && n < sizeof name - 1; at++)
        name[n++] = isalnum((unsigned char)*at) || *at == '-' ? *at : '_';
    name[n] = 0;
    const size_t used = strlen(out);
    return snprintf(out + used, out_b - used, "/%s-%08x.tsv", name, host_key(host)) <
           (int)(out_b - used);
}

int as_figures_of_host(struct as_figures **out, struct as_error *err)
{
    struct as_host *host;
    char path[PATH_MAX];

    *out = NULL;
    AS_TRY(as_host_read(NULL, &host, err));
    const bool known = as_figures_path(host, path, sizeof path);
    as_host_free(&host);
    return known && access(path, R_OK) == 0 ? as_figures_open(path, out, err) : 0;
}
