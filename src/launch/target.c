/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Examines the file of a command. It must be an ELF program that can run and be analysed here, or a
 * script with an existing interpreter. Source: execve(2), "Interpreter scripts".
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/str.h"
#include "base/untrusted_open.h"
#include "launch/internal.h"
#include "object/executable.h"

/* Bytes of the first line of a script that the kernel reads, and max nesting of script
 * interpreters. */
#define LINE_B     256
#define SCRIPTS_IN 4

static int examine_file(struct as_plan *plan, const char *path, unsigned depth,
                        struct as_error *err);

/* ---- Scripts ------------------------------------------------------------------------------- */

static struct as_view word_of(struct as_view *line)
{
    *line = as_view_trim(*line);
    struct as_view word = {line->p, 0};
    while (word.n < line->n && line->p[word.n] != ' ' && line->p[word.n] != '\t')
        word.n++;
    line->p += word.n;
    line->n -= word.n;
    return word;
}

/* Checks "#!/usr/bin/env [-S] [NAME=VALUE ...] COMMAND". Without the check env would report a
 * missing command after the start. Other options of env are not checked. */
static int check_env(struct as_plan *plan, const char *path, struct as_view rest,
                     struct as_error *err)
{
    struct as_view word = word_of(&rest);
    while (word.n && (as_view_equal(word, as_view_of("-S")) || memchr(word.p, '=', word.n)))
        word = word_of(&rest);
    if (!word.n || word.p[0] == '-')
        return 0;
    const char *name = as_arena_strndup(&plan->arena, word.p, word.n);
    if (!name)
        return as_error_nomem(err, path);
    if (as_path_has(name))
        return 0;
    return as_error_set(err, AS_ERR_NOT_FOUND,
                        "%s: is a script for '%s', which is not in the directories of PATH; "
                        "install it or load its module",
                        path, name);
}

static int examine_script(struct as_plan *plan, const char *path, struct as_view line,
                          unsigned depth, struct as_error *err)
{
    const bool foreign = as_view_ends(line, "\r");
    struct as_view rest = {line.p + 2, line.n - 2}, word = word_of(&rest);
    if (!word.n)
        return as_error_set(err, AS_ERR_NOT_ELF,
                            "%s: the first line of the script has no interpreter; add one after "
                            "'#!', as in '#!/bin/sh'",
                            path);
    const char *name = as_arena_strndup(&plan->arena, word.p, word.n);
    struct stat st;
    if (!name)
        return as_error_nomem(err, path);
    if (depth == 0) {
        plan->plan.kind = AS_LAUNCH_SCRIPT;
        plan->plan.interpreter = name;
    }
    /* The carriage return becomes a part of the interpreter name (or of its argument). */
    if (foreign)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: its first line ends in a carriage return, which becomes part of "
                            "the interpreter's name; convert it with 'dos2unix' or sed -i "
                            "'s/\\r$//'",
                            path);
    if (stat(name, &st) < 0)
        return as_error_set(err, errno == EACCES ? AS_ERR_PERMISSION : AS_ERR_NOT_FOUND,
                            "%s: is a script for '%s', which cannot be found: %s; install it, or "
                            "correct the first line",
                            path, name, strerror(errno));
    if (!S_ISREG(st.st_mode) || faccessat(AT_FDCWD, name, X_OK, AT_EACCESS) < 0)
        return as_error_set(err, AS_ERR_PERMISSION,
                            "%s: is a script for '%s', which is not executable; correct the first "
                            "line or the permissions",
                            path, name);
    AS_TRY(examine_file(plan, name, depth + 1, err));
    if (as_view_ends(word, "/env"))
        return check_env(plan, path, rest, err);
    return 0;
}

/* ---- Programs ------------------------------------------------------------------------------ */

static bool gains_privilege(const char *path)
{
    struct stat st;
    struct statvfs fs;
    if (stat(path, &st) < 0 || (statvfs(path, &fs) == 0 && fs.f_flag & ST_NOSUID))
        return false;
    if ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
        (st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getegid()))
        return true;
    return geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
}

static int examine_program(struct as_plan *plan, const char *path, int fd, struct as_error *err)
{
    struct as_executable program;
    AS_TRY(as_executable_read(path, fd, &program, err));
    plan->plan.gains_privilege = gains_privilege(path);
    if (program.type == ET_REL)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "%s: is an object file, not a program; link it first", path);
    if (!program.loader[0])
        return program.entry ? 0
                             : as_error_set(err, AS_ERR_UNSUPPORTED,
                                            "%s: is a library, not a program; use a program that "
                                            "loads it",
                                            path);
    struct stat st;
    if (stat(program.loader, &st) < 0)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: needs the dynamic loader '%s', which is missing: %s; build the "
                            "program on this system",
                            path, program.loader, strerror(errno));
    return 0;
}

/* ---- Both ---------------------------------------------------------------------------------- */

static bool is_text(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)p[i] < ' ' && !strchr("\t\n\r\f\v\b\033", p[i]))
            return false;
    return n > 0 && memchr(p, 0, n) == NULL;
}

static int examine_open(struct as_plan *plan, const char *path, int fd, unsigned depth,
                        struct as_error *err)
{
    char begin[LINE_B];
    const ssize_t got = pread(fd, begin, sizeof begin, 0);
    if (got < 0)
        return as_error_set(err, AS_ERR_IO, "%s: cannot be read: %s; check the disk it is on", path,
                            strerror(errno));
    struct as_view text = {begin, (size_t)got}, line = text;
    if (as_view_starts(text, "#!") && depth > SCRIPTS_IN)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "%s: is an interpreter and a script itself, which the kernel rejects; "
                            "use a program as the interpreter",
                            path);
    if (as_view_starts(text, "#!") && as_view_split(&text, '\n', &line))
        return examine_script(plan, path, line, depth, err);
    if (is_text(begin, (size_t)got) && !as_view_starts(text, "!<") &&
        !as_view_starts(text, "\x7f"
                              "ELF"))
        return as_error_set(err, AS_ERR_NOT_ELF,
                            "%s: is a text file without an interpreter line; add '#!/bin/sh' or "
                            "the like, or run it with its interpreter",
                            path);
    return examine_program(plan, path, fd, err);
}

static int examine_file(struct as_plan *plan, const char *path, unsigned depth,
                        struct as_error *err)
{
    const int fd = as_foreign_open(AT_FDCWD, path, 0, NULL);
    if (fd < 0 && errno == EACCES) {
        /* Executable but unreadable: the kernel will run it, and hides its actions from this
         * process. */
        plan->plan.gains_privilege = true;
        return 0;
    }
    if (fd < 0)
        return as_foreign_fail(path, "the program", errno, err);
    const int rc = examine_open(plan, path, fd, depth, err);
    close(fd);
    return rc;
}

int as_target_examine(struct as_plan *plan, struct as_error *err)
{
    plan->plan.kind = AS_LAUNCH_PROGRAM;
    return examine_file(plan, plan->plan.path, 0, err);
}
