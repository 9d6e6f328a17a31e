/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of new experiments; see experiment_name.h. Nothing is looked for before it is made: what is
 * there is found by making it, so that any number may be started at once.
 */
#include "experiment_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "launch/launch.h"

#define SUFFIX ".assay"

#define RANK_NOTE  "this was rank %" PRId64 "%s, in %s; 'assay merge "
#define MERGE_NOTE "' makes one experiment of all"

/* ---- Ranks --------------------------------------------------------------------------------- */

/* Finds the rank of this process; a job of one rank has none. */
static void find_rank(struct as_experiment_name *name)
{
    struct as_job_rank own;

    name->rank = -1;
    if (!as_launch_rank_of_self(&own))
        return;
    name->rank = own.rank;
    name->size = own.size;
    name->is_rank = own.size != 1;
}

/* ---- What stands for something ------------------------------------------------------------- */

static int no_rank(const char *given, struct as_error *err)
{
    return as_error_set(err, AS_ERR_USAGE,
                        "--output: '%s': this process has no rank for %%r (no launcher has set "
                        "OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID or the like); remove %%r",
                        given);
}

/* Appends what `letter` stands for; in a pattern of all ranks, what a shell matches it with. */
static int append_one(const struct as_experiment_name *name, const char *given, char letter,
                      bool is_pattern, struct as_str *out, struct as_error *err)
{
    char host[256] = "";

    if (is_pattern && strchr("rhp", letter)) {
        as_str_append(out, "*", 1);
    } else if (letter == '%') {
        as_str_append(out, "%", 1);
    } else if (letter == 'p') {
        as_str_appendf(out, "%d", (int)getpid());
    } else if (letter == 'h') {
        if (gethostname(host, sizeof host - 1) != 0 || !host[0] || strchr(host, '/'))
            snprintf(host, sizeof host, "unknown");
        as_str_appendz(out, host);
    } else if (name->rank < 0) {
        return no_rank(given, err);
    } else {
        as_str_appendf(out, "%" PRId64, name->rank);
    }
    return 0;
}

static int expand_name(const struct as_experiment_name *name, const char *given, bool is_pattern,
                       struct as_str *out, struct as_error *err)
{
    for (const char *c = given; *c; c++) {
        if (*c != '%') {
            as_str_append(out, c, 1);
            continue;
        }
        if (!*++c || !strchr("rhp%", *c))
            return as_error_set(err, AS_ERR_USAGE,
                                "--output: '%s': %%%.1s is unknown; use %%r (rank), %%h "
                                "(machine), %%p (process id) or %%%%",
                                given, c);
        AS_TRY(append_one(name, given, *c, is_pattern, out, err));
    }
    return 0;
}

/* Returns true if the name distinguishes ranks. */
static bool has_rank(const char *given)
{
    for (const char *c = given; *c; c++)
        if (*c == '%' && *++c == 'r')
            return true;
        else if (!*c)
            return false;
    return false;
}

/* ---- The name ------------------------------------------------------------------------------ */

static size_t without_suffix(const char *text)
{
    size_t n = strlen(text);

    while (n > 1 && text[n - 1] == '/')
        n--;
    if (n > sizeof SUFFIX - 1 &&
        memcmp(text + n - (sizeof SUFFIX - 1), SUFFIX, sizeof SUFFIX - 1) == 0)
        n -= sizeof SUFFIX - 1;
    return n;
}

/* "x.assay" is x.r3.assay for rank 3. */
static void name_of_rank(struct as_experiment_name *name, const char *given, size_t n)
{
    as_str_append(&name->stem, given, n);
    as_str_appendf(&name->tail, ".r%" PRId64 SUFFIX, name->rank);
}

/* As it was given, with each % replaced. */
static int name_as_given(struct as_experiment_name *name, const char *given, struct as_error *err)
{
    struct as_str full = {0};
    int rc = expand_name(name, given, false, &full, err);

    if (rc == 0 && name->is_rank) {
        const char *text = as_str_z(&full);
        const size_t n = without_suffix(text);

        /* A job that has begun does not end for a name that is there. */
        as_str_append(&name->stem, text, n);
        as_str_append(&name->tail, text + n, strlen(text) - n);
        rc = expand_name(name, given, true, &name->pattern, err);
    } else if (rc == 0) {
        as_str_appendz(&name->stem, as_str_z(&full));
    }
    name->stem.failed |= full.failed;
    as_str_fini(&full);
    return rc;
}

int as_experiment_name(struct as_cli *cli, const char *own, struct as_experiment_name *name,
                       struct as_error *err)
{
    const char *given = cli->args.value[AS_OPTION_EXPERIMENT];
    int rc = 0;

    find_rank(name);
    if (name->is_rank && name->rank != 0)
        cli->args.value[AS_OPTION_QUIET] = "";
    name->is_free = name->is_rank || !given;
    if (given && (!name->is_rank || has_rank(given))) {
        rc = name_as_given(name, given, err);
    } else if (given) {
        struct as_str full = {0};

        rc = expand_name(name, given, false, &full, err);
        name_of_rank(name, as_str_z(&full), without_suffix(as_str_z(&full)));
        name->stem.failed |= full.failed;
        as_str_fini(&full);
    } else if (name->is_rank) {
        name_of_rank(name, own, strlen(own));
    } else {
        as_str_appendz(&name->stem, own);
        as_str_appendz(&name->tail, SUFFIX);
    }
    if (rc == 0 && (name->stem.failed || name->tail.failed || name->pattern.failed))
        rc = as_error_nomem(err, "the experiment's name");
    return rc;
}

void as_experiment_name_fini(struct as_experiment_name *name)
{
    as_str_fini(&name->stem);
    as_str_fini(&name->tail);
    as_str_fini(&name->pattern);
    as_str_fini(&name->made);
}

int as_experiment_name_create(struct as_cli *cli, struct as_experiment_name *name,
                              struct as_experiment **out, struct as_error *err)
{
    const bool force = as_given(&cli->args, AS_OPTION_FORCE);
    int rc;

    as_str_appendf(&name->made, "%s%s", as_str_z(&name->stem), as_str_z(&name->tail));
    if (name->is_free && !(force && as_given(&cli->args, AS_OPTION_EXPERIMENT)))
        rc = as_experiment_create_free(as_str_z(&name->stem), as_str_z(&name->tail), out, err);
    else
        rc = as_experiment_create(as_str_z(&name->made), force ? AS_EXPERIMENT_FORCE : 0, out, err);
    if (rc < 0)
        return rc;
    as_str_clear(&name->made);
    as_str_appendz(&name->made, as_experiment_path(*out));
    if (!name->made.failed)
        return 0;
    as_experiment_discard(out);
    return as_error_nomem(err, "the experiment's name");
}

int as_experiment_continue(struct as_cli *cli, struct as_experiment_name *name,
                           struct as_experiment **out, struct as_error *err)
{
    int rc;

    if (!as_given(&cli->args, AS_OPTION_EXPERIMENT))
        return as_error_set(err, AS_ERR_USAGE,
                            "--add: no experiment named; use --output NAME.assay");
    if (as_given(&cli->args, AS_OPTION_FORCE))
        return as_error_set(err, AS_ERR_USAGE,
                            "--add: --force would replace the experiment; use one of the two");
    as_str_appendf(&name->made, "%s%s", as_str_z(&name->stem), as_str_z(&name->tail));
    rc = name->made.failed ? as_error_nomem(err, "the experiment's name")
                           : as_experiment_open(as_str_z(&name->made), out, err);
    return rc == AS_ERR_NOT_FOUND ? as_experiment_create(as_str_z(&name->made), 0, out, err) : rc;
}

void as_experiment_name_print(const struct as_cli *cli, const struct as_experiment_name *name)
{
    const char *path = as_str_z(&name->made), *pattern = as_str_z(&name->pattern);
    const int stem_n = (int)(strlen(path) - name->tail.n); /* "x" of x.r3.assay */
    char of[48] = "";

    if (!name->is_rank) {
        as_cli_note(cli, "the experiment is %s", path);
        return;
    }
    if (name->size > 0)
        snprintf(of, sizeof of, " of %" PRId64, name->size);
    if (*pattern)
        as_cli_note(cli, RANK_NOTE "%s -o merged" SUFFIX MERGE_NOTE, name->rank, of, path, pattern);
    else
        as_cli_note(cli, RANK_NOTE "%.*s.r*" SUFFIX " -o %.*s" SUFFIX MERGE_NOTE, name->rank, of,
                    path, stem_n, path, stem_n, path);
}
