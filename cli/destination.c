/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the named file with everything else on the command line, by device and inode. */
#include "destination.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"

/* ---- Inputs ------------------------------------------------------------------------------- */

static bool is_same_file(const char *path, const char *other)
{
    struct stat a, b;

    return stat(path, &a) == 0 && stat(other, &b) == 0 && S_ISREG(a.st_mode) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Two options with the same new file conflict as well. */
static bool is_named_by(const struct as_arguments *args, int id, const char *path)
{
    const enum as_option_kind kind = as_options[id].kind;
    const bool is_file = kind == AS_KIND_FILE || kind == AS_KIND_DIRECTORY;

    if (!is_file && kind != AS_KIND_LIST && id != AS_OPTION_MACHINE)
        return false;
    as_vec_foreach (&args->list[id], it)
        if (is_same_file(path, *it))
            return true;
    return args->value[id] &&
           (is_same_file(path, args->value[id]) || (is_file && !strcmp(args->value[id], path)));
}

static bool is_input(const struct as_arguments *args, enum as_option_id own, const char *path)
{
    for (size_t i = 0; i < args->positional_n; i++)
        if (is_same_file(path, args->positional[i]))
            return true;
    for (int id = 0; id < AS_OPTION_COUNT; id++)
        if (id != (int)own && is_named_by(args, id, path))
            return true;
    return false;
}

/* ---- Experiments -------------------------------------------------------------------------- */

static bool is_experiment(const char *directory)
{
    struct as_str database = {0};
    struct stat st;

    as_str_appendf(&database, "%s/experiment.db", directory);
    const bool is = lstat(as_str_z(&database), &st) == 0;
    as_str_fini(&database);
    return is;
}

/* The path without links; its directory exists. False otherwise. */
static bool find_real_path(const char *path, char real[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    char above[PATH_MAX] = ".";
    const size_t n = slash ? (size_t)(slash - path) : 1;

    if (realpath(path, real))
        return true;
    if (n >= sizeof above)
        return false;
    if (slash)
        memcpy(above, n ? path : "/", n ? n : 1);
    above[n ? n : 1] = 0;
    if (!realpath(above, real))
        return false;
    const size_t at = strlen(real);
    const int added = snprintf(real + at, PATH_MAX - at, "/%s", slash ? slash + 1 : path);
    return added > 0 && (size_t)added < PATH_MAX - at;
}

/* Returns true if the file is part of an experiment and not a report of it; `real` becomes the
 * experiment. */
static bool is_fact(const char *path, char real[PATH_MAX])
{
    char *slash = NULL;

    if (!find_real_path(path, real))
        return false;
    while ((slash = strrchr(real, '/')) && slash != real) {
        *slash = 0;
        if (is_experiment(real))
            return strncmp(slash + 1, "report", 6) != 0;
    }
    return false;
}

/* ---- The file ----------------------------------------------------------------------------- */

static unsigned replaces(const struct as_arguments *args)
{
    return as_given(args, AS_OPTION_FORCE) || as_given(args, AS_OPTION_FORCE_FILE)
               ? AS_OUTFILE_REPLACE
               : 0;
}

static int check_conflicts(const struct as_arguments *args, enum as_option_id own, const char *path,
                           struct as_error *err)
{
    char experiment[PATH_MAX];

    if (is_input(args, own, path))
        return as_error_set(err, AS_ERR_USAGE,
                            "%s: cannot be written: the command reads or writes it already; name "
                            "another file",
                            path);
    if (is_fact(path, experiment))
        return as_error_set(err, AS_ERR_USAGE,
                            "%s: cannot be written: it is inside the experiment %s; name a file "
                            "outside of it",
                            path, experiment);
    return 0;
}

int as_destination_check(const struct as_arguments *args, enum as_option_id own, const char *path,
                         struct as_error *err)
{
    AS_TRY(check_conflicts(args, own, path, err));
    return as_outfile_check(path, replaces(args), err);
}

int as_destination_begin(const struct as_arguments *args, enum as_option_id own, const char *path,
                         unsigned bits, struct as_outfile *out, struct as_error *err)
{
    AS_TRY(check_conflicts(args, own, path, err));
    return as_outfile_begin(out, path, bits | replaces(args), err);
}
