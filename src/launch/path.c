/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the file of a command by the rules of execvp(3), without executing it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "launch/internal.h"

/* Used by execvp(3) without PATH (confstr(_CS_PATH)). */
#define DEFAULT_PATH "/bin:/usr/bin"

/* Returns true if the effective user may execute the file. */
static bool may_execute(const char *path)
{
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

/* Sets `out` to "DIRECTORY/NAME"; an empty directory is the current one. */
static void join_path(struct as_str *out, struct as_view directory, const char *name)
{
    as_str_clear(out);
    as_str_append(out, directory.p, directory.n);
    if (directory.n)
        as_str_appendz(out, "/");
    as_str_appendz(out, name);
}

/* Sets `out` to the first executable file in PATH. Sets `*forbidden` if a file with this name is
 * not executable. */
static bool search_path(const char *name, struct as_str *out, bool *forbidden)
{
    const char *list = getenv("PATH");
    struct as_view rest = as_view_of(list ? list : DEFAULT_PATH), part;
    *forbidden = false;
    while (as_view_split(&rest, ':', &part)) {
        struct stat st;
        join_path(out, part, name);
        if (out->failed || stat(as_str_z(out), &st) < 0 || !S_ISREG(st.st_mode))
            continue;
        if (may_execute(as_str_z(out)))
            return true;
        *forbidden = true;
    }
    return false;
}

bool as_path_has(const char *name)
{
    struct as_str found = {0};
    bool forbidden;
    const bool has = strchr(name, '/') ? may_execute(name) : search_path(name, &found, &forbidden);
    as_str_fini(&found);
    return has;
}

static const char without_quotes[] =
    "use separate arguments without quotes around the whole command, or sh -c '...'";

/* Returns a hint for a word that only a shell can interpret. */
static const char *shell_hint(const char *name)
{
    static const char *const builtins[] = {".",      "alias", "cd",     "eval", "exec",
                                           "export", "set",   "source", "trap", "ulimit"};
    const size_t variable_n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                           "0123456789_");
    if (variable_n && name[variable_n] == '=')
        return "use 'env' before it to set a variable";
    if (strpbrk(name, " \t"))
        return without_quotes;
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (strcmp(name, builtins[i]) == 0)
            return "it is a shell keyword: use sh -c '...'";
    return "check the name, load its module, or use its path";
}

static int report_missing_command(const char *name, bool forbidden, struct as_error *err)
{
    struct stat st;
    if (forbidden)
        return as_error_set(err, AS_ERR_PERMISSION,
                            "%s: is in PATH but not executable; run 'chmod +x', or use another "
                            "program",
                            name);
    if (stat(name, &st) == 0 && S_ISREG(st.st_mode))
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: no such command in PATH; use ./%s for the file in this directory",
                            name, name);
    return as_error_set(err, AS_ERR_NOT_FOUND, "%s: no such command in PATH; %s", name,
                        shell_hint(name));
}

/* Checks a file given by a path with a slash, or found in PATH. */
static int check_program(const char *path, struct as_error *err)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return as_error_set(err,
                            errno == EACCES    ? AS_ERR_PERMISSION
                            : errno == ENOENT  ? AS_ERR_NOT_FOUND
                            : errno == ENOTDIR ? AS_ERR_NOT_FOUND
                                               : AS_ERR_IO,
                            "%s: cannot be executed: %s; %s", path, strerror(errno),
                            strpbrk(path, " \t") ? without_quotes : "check the path");
    if (S_ISDIR(st.st_mode))
        return as_error_set(err, AS_ERR_NOT_REGULAR,
                            "%s: is a directory, not a program; use a program in it", path);
    if (!S_ISREG(st.st_mode))
        return as_error_set(err, AS_ERR_NOT_REGULAR,
                            "%s: is not a regular file, so it cannot be executed; use a program",
                            path);
    if (may_execute(path))
        return 0;
    if (st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH))
        return as_error_set(err, AS_ERR_PERMISSION,
                            "%s: is not executable by you: %s; ask its owner, or, if its file "
                            "system is mounted with noexec, copy it elsewhere",
                            path, strerror(errno));
    return as_error_set(err, AS_ERR_PERMISSION, "%s: is not executable; run 'chmod +x %s'", path,
                        path);
}

int as_path_find(struct as_plan *plan, const char *name, const char **out, struct as_error *err)
{
    struct as_str found = {0};
    bool forbidden = false;
    if (!name || !name[0])
        return as_error_set(err, AS_ERR_USAGE,
                            "no command given; add it after the options, as in '-- ./program "
                            "arguments'");
    if (strchr(name, '/')) {
        as_str_appendz(&found, name);
    } else if (!search_path(name, &found, &forbidden)) {
        const bool failed = found.failed;
        as_str_fini(&found);
        return failed ? as_error_nomem(err, name) : report_missing_command(name, forbidden, err);
    }
    *out = as_plan_keep(plan, as_str_z(&found));
    const bool failed = found.failed || !*out;
    as_str_fini(&found);
    return failed ? as_error_nomem(err, name) : check_program(*out, err);
}
