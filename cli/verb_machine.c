/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay machine`: what this machine is and what was measured on it; measures it, lists and
 * compares machines.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "external_load.h"
#include "isa/isa.h"
#include "machine_page.h"
#include "measure/measure.h"

static volatile int stop_asked; /* set by SIGINT: what is measured by then is kept */

static void note_stop(int signal)
{
    (void)signal;
    stop_asked = 1;
}

/* Opens the stored figures of this host, or empty ones. */
static int open_stored(struct as_cli *cli, const struct as_host *host, char path[PATH_MAX],
                       struct as_figures **out, struct as_error *err)
{
    *out = NULL;
    if (!as_figures_path(host, path, PATH_MAX)) {
        *path = 0;
        return 0;
    }
    const int rc = as_figures_open(path, out, err);
    if (rc == AS_ERR_NOT_FOUND)
        return 0;
    if (rc == AS_ERR_CORRUPT) {
        as_cli_complain(cli, err);
        return 0;
    }
    return rc;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

enum { MEASURE_ALL = 1, MEASURE_INSTRUCTIONS = 2, MEASURE_MEMORY = 4, MEASURE_PEAKS = 8 };

static unsigned ceilings_of(uint64_t choice)
{
    unsigned what = 0;

    if (choice & (MEASURE_ALL | MEASURE_MEMORY))
        what |= AS_CEILINGS_MEMORY;
    if (choice & (MEASURE_ALL | MEASURE_PEAKS))
        what |= AS_CEILINGS_PEAKS;
    return what;
}

/* ---- Instructions ---------------------------------------------------------------------------- */

typedef AS_VEC(struct as_bytes) code_list;

static int add_code(const struct as_object *object, code_list *code, struct as_error *err)
{
    const struct as_section *section;
    const size_t n = as_object_sections(object, &section);

    for (size_t i = 0; i < n; i++) {
        if (!section[i].exec || !section[i].alloc || section[i].size_b == 0)
            continue;
        const struct as_bytes range = {.bytes = section[i].data, .size_b = section[i].size_b};
        if (range.bytes && as_vec_push(code, range) < 0)
            return as_error_nomem(err, "the code of a binary");
    }
    return 0;
}

static int measure_table(struct as_cli *cli, const struct as_host *host, const code_list *code,
                         struct as_figures *figures, bool *stopped, struct as_error *err)
{
    char table[PATH_MAX];
    struct as_instruction_result result;

    if (!as_core_table_path(host, table, sizeof table))
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "--measure: no home directory is known; set XDG_DATA_HOME");
    const struct as_instruction_options options = {
        .path = table,
        .code = code->at,
        .code_n = code->n,
        .figures = figures,
        .progress_fd = as_given(&cli->args, AS_OPTION_QUIET) ? -1 : STDERR_FILENO,
        .stop = &stop_asked};
    AS_TRY(as_measure_instructions(host, &options, &result, err));
    if (*result.doubt)
        as_cli_note(cli, "%s", result.doubt);
    if (result.is_refused) {
        cli->status = 1;
        return 0;
    }
    as_cli_note(cli, "%zu forms measured (%zu of them under external load), %zu refused: %s%s",
                result.measured_n, result.noisy_n, result.refused_n, table,
                result.is_stopped ? ".part" : "");
    *stopped |= result.is_stopped;
    return 0;
}

static int measure_instructions(struct as_cli *cli, const struct as_host *host,
                                struct as_figures *figures, bool *stopped, struct as_error *err)
{
    AS_VEC(struct as_object *) objects = {0};
    code_list code = {0};
    int rc = 0;

    for (size_t i = 0; i < cli->args.list[AS_OPTION_FOR].n && rc == 0; i++) {
        struct as_object *object = as_cli_open(cli, cli->args.list[AS_OPTION_FOR].at[i]);
        if (!object)
            continue;
        rc = as_vec_push(&objects, object) < 0 ? as_error_nomem(err, "the binaries")
                                               : add_code(object, &code, err);
    }
    if (rc == 0 && (code.n || cli->args.list[AS_OPTION_FOR].n == 0))
        rc = measure_table(cli, host, &code, figures, stopped, err);
    as_vec_foreach (&objects, object)
        as_object_close(object);
    as_vec_fini(&objects);
    as_vec_fini(&code);
    return rc;
}

static void write_account(struct as_cli *cli, const struct as_figures *figures)
{
    struct as_str s = {0};

    as_append_account(&s, figures);
    if (s.n)
        as_cli_note(cli, "measured%s", as_str_z(&s));
    as_str_fini(&s);
}

static int measure_host(struct as_cli *cli, const struct as_host *host, const char *path,
                        struct as_figures *figures, struct as_error *err)
{
    const struct sigaction action = {.sa_handler = note_stop, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;
    const struct as_ceilings_options options = {
        .what = ceilings_of(cli->args.number[AS_OPTION_MEASURE]),
        .path = *path ? path : NULL,
        .progress_fd = as_given(&cli->args, AS_OPTION_QUIET) ? -1 : STDERR_FILENO,
        .stop = &stop_asked};
    bool stopped = false;

    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
    if (options.what)
        AS_TRY(as_measure_ceilings(host, &options, figures, &stopped, err));
    if (!stopped && cli->args.number[AS_OPTION_MEASURE] & (MEASURE_ALL | MEASURE_INSTRUCTIONS)) {
        if (*path)
            AS_TRY(as_figures_save(figures, path, err)); /* its directory is there then */
        AS_TRY(measure_instructions(cli, host, figures, &stopped, err));
        if (*path)
            AS_TRY(as_figures_save(figures, path, err));
    }
    write_account(cli, figures);
    if (!*path)
        as_cli_note(cli, "no home directory is known: the figures are not stored");
    if (stopped) {
        as_cli_note(cli, "interrupted; finished measurements are stored, and the same command "
                         "continues with the rest");
        cli->status = 128 + SIGINT;
    }
    return 0;
}

static int show_host(struct as_cli *cli, struct as_error *err)
{
    struct as_host *host;
    struct as_figures *figures = NULL;
    struct as_external_watch load;
    char path[PATH_MAX];

    as_external_begin(&load);
    AS_TRY(as_host_read(NULL, &host, err));
    int rc = open_stored(cli, host, path, &figures, err);
    if (rc == 0 && as_given(&cli->args, AS_OPTION_MEASURE)) {
        if (!figures)
            rc = as_figures_new(host, &figures, err);
        if (rc == 0)
            rc = measure_host(cli, host, path, figures, err);
    }
    const char *copy = cli->args.value[AS_OPTION_EXPORT_FIGURES];
    if (rc == 0 && copy) {
        if (!figures)
            rc = as_error_set(err, AS_ERR_NOT_FOUND,
                              "--export: nothing was measured on this machine; add --measure all");
        else
            rc = as_figures_save(figures, copy, err);
    }
    if (rc == 0 && as_given(&cli->args, AS_OPTION_MEASURE))
        as_external_load_print(cli, &load);
    if (rc == 0) {
        const struct as_machine_page page = {host, host->topology, figures};
        if (cli->format == AS_FORMAT_TEXT)
            rc = as_machine_card(cli, &page, err);
        else
            as_machine_facts(cli, &page);
    }
    as_figures_free(&figures);
    as_host_free(&host);
    return rc;
}

static bool knows_ceilings(const struct as_figures *figures)
{
    bool peaks = false, memory = false;

    for (size_t i = 0; figures && i < figures->group_n; i++) {
        const struct as_figure_group *g = &figures->group[i];
        const bool both = strcmp(g->name, "ceilings") == 0;
        peaks |= g->is_done && (both || strcmp(g->name, "peaks") == 0);
        memory |= g->is_done && (both || strcmp(g->name, "memory") == 0);
    }
    return peaks && memory;
}

static int measure_needed(struct as_cli *cli, const struct as_host *host, struct as_error *err)
{
    struct as_figures *figures = NULL;
    char path[PATH_MAX];
    bool stopped;
    int rc = open_stored(cli, host, path, &figures, err);

    if (rc == 0 && *path && !knows_ceilings(figures)) {
        const struct as_ceilings_options options = {
            .what = AS_CEILINGS_NEEDED,
            .path = path,
            .progress_fd = as_given(&cli->args, AS_OPTION_QUIET) ? -1 : STDERR_FILENO,
            .stop = &stop_asked};
        as_cli_note(cli, "measuring this machine, once, for some ten seconds (skip it with "
                         "--no-measure)");
        if (!figures)
            rc = as_figures_new(host, &figures, err);
        if (rc == 0)
            rc = as_measure_ceilings(host, &options, figures, &stopped, err);
    }
    as_figures_free(&figures);
    return rc;
}

void as_machine_need(struct as_cli *cli)
{
    const char *unwanted = getenv("ASSAY_NO_MEASURE");
    struct as_host *host;
    struct as_error err;

    if (as_given(&cli->args, AS_OPTION_NO_MEASURE) || (unwanted && *unwanted))
        return;
    int rc = as_host_read(NULL, &host, &err);
    if (rc == 0) {
        rc = measure_needed(cli, host, &err);
        as_host_free(&host);
    }
    if (rc < 0)
        as_cli_note(cli, "this machine was not measured: %s", err.text);
}

/* ---- Other machines -------------------------------------------------------------------------- */

static int show_topology(struct as_cli *cli, const char *file, struct as_error *err)
{
    struct as_topology *topology;
    int rc = 0;

    AS_TRY(as_topology_read(NULL, file, &topology, err));
    const struct as_machine_page page = {.topology = topology};
    if (cli->format == AS_FORMAT_TEXT)
        rc = as_machine_card(cli, &page, err);
    else
        as_machine_facts(cli, &page);
    as_topology_free(&topology);
    return rc;
}

int as_machine_open(const char *name, struct as_figures **out, struct as_error *err)
{
    char directory[PATH_MAX], path[2 * PATH_MAX];

    if (!strchr(name, '/') && access(name, F_OK) < 0 &&
        as_figures_directory(directory, sizeof directory)) {
        snprintf(path, sizeof path, "%s/%s%s", directory, name,
                 strlen(name) > 4 && strcmp(name + strlen(name) - 4, ".tsv") == 0 ? "" : ".tsv");
        if (access(path, F_OK) == 0)
            return as_figures_open(path, out, err);
    }
    return as_figures_open(name, out, err);
}

static int show_diff(struct as_cli *cli, struct as_error *err)
{
    struct as_figures *a = NULL, *b = NULL;

    if (cli->args.positional_n != 2)
        return as_error_set(err, AS_ERR_USAGE,
                            "--diff: needs two machines; use two files, or two names of 'assay "
                            "machine --list'");
    int rc = as_machine_open(cli->args.positional[0], &a, err);
    if (rc == 0)
        rc = as_machine_open(cli->args.positional[1], &b, err);
    if (rc == 0)
        rc = as_machine_diff(cli, a, b, err);
    as_figures_free(&a);
    as_figures_free(&b);
    return rc;
}

int as_verb_machine(struct as_cli *cli, struct as_error *err)
{
    const struct as_arguments *args = &cli->args;

    if (as_given(args, AS_OPTION_DIFF))
        return show_diff(cli, err);
    if (args->positional_n)
        return as_error_set(err, AS_ERR_USAGE,
                            "machine: one argument too many: %s; use machines only with --diff",
                            args->positional[0]);
    if (as_given(args, AS_OPTION_MACHINES))
        return as_machine_list(cli, err);
    if (as_given(args, AS_OPTION_TOPOLOGY)) {
        if (as_given(args, AS_OPTION_MEASURE))
            return as_error_set(
                err, AS_ERR_USAGE,
                "--measure: the machine of --topology cannot be measured here; remove one of the "
                "two");
        return show_topology(cli, args->value[AS_OPTION_TOPOLOGY], err);
    }
    return show_host(cli, err);
}
