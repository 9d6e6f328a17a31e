/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiler wrappers with options for some files only. A script has the names of all installed
 * compilers and comes first in PATH. It calls the next compiler of the same name.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "trial/build.h"

static const char *const compiler_pattern[] = {
    "cc",    "c++",     "gcc",          "g++",           "gfortran",
    "f95",   "f77",     "gcc-[0-9]*",   "g++-[0-9]*",    "gfortran-[0-9]*",
    "clang", "clang++", "clang-[0-9]*", "clang++-[0-9]*"};

static const char script[] =
    "#!/bin/sh\n"
    "# A compiler: files that ASSAY_TRY_FILES names get ASSAY_TRY_FLAGS too.\n"
    "rest=$PATH: PATH=\n"
    "while [ -n \"$rest\" ]; do\n"
    "    one=${rest%%:*} rest=${rest#*:}\n"
    "    [ \"$one\" = \"$ASSAY_TRY_WRAPPERS\" ] || PATH=$PATH${PATH:+:}$one\n"
    "done\n"
    "export PATH\n"
    "is_hot() {\n"
    "    path=$(readlink -f -- \"$1\") || return 1\n"
    "    while IFS= read -r file; do\n"
    "        case $path in */\"$file\") return 0 ;; esac\n"
    "    done <<END\n"
    "$ASSAY_TRY_FILES\n"
    "END\n"
    "    return 1\n"
    "}\n"
    "for word; do\n"
    "    case $word in\n"
    "    -*) ;;\n"
    "    *.*) [ ! -f \"$word\" ] || ! is_hot \"$word\" || exec \"${0##*/}\" \"$@\" "
    "$ASSAY_TRY_FLAGS ;;\n"
    "    esac\n"
    "done\n"
    "exec \"${0##*/}\" \"$@\"\n";

static bool write_script(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    const bool done = fd >= 0 && write(fd, script, sizeof script - 1) == (ssize_t)sizeof script - 1;

    return (fd < 0 || close(fd) == 0) && done;
}

/* Links the script under the names of the compilers in one directory of PATH. */
static void link_compilers(const char *wrappers, const char *directory)
{
    char path[2 * PATH_MAX];
    DIR *open_directory = opendir(directory);
    const struct dirent *entry;

    while (open_directory && (entry = readdir(open_directory)))
        for (size_t i = 0; i < sizeof compiler_pattern / sizeof *compiler_pattern; i++)
            if (fnmatch(compiler_pattern[i], entry->d_name, 0) == 0) {
                snprintf(path, sizeof path, "%s/%s", wrappers, entry->d_name);
                (void)symlink("compiler", path); /* fails if an earlier directory had it */
            }
    if (open_directory)
        closedir(open_directory);
}

int as_build_tree_wrap(struct as_build_tree *build_tree, struct as_error *err)
{
    char path[PATH_MAX + 32];
    const char *at = getenv("PATH");

    if (build_tree->wrappers[0])
        return 0;
    snprintf(build_tree->wrappers, sizeof build_tree->wrappers, "%s/compilers", build_tree->root);
    snprintf(path, sizeof path, "%s/compiler", build_tree->wrappers);
    if (mkdir(build_tree->wrappers, 0700) != 0 || !write_script(path))
        return as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    for (at = at ? at : ""; *at; at += *at == ':') {
        const size_t n = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s", (int)n, at);
        link_compilers(build_tree->wrappers, path);
        at += n;
    }
    return 0;
}

void as_build_tree_enter_wrap(const struct as_build_tree *build_tree,
                              const struct as_build_plan *plan)
{
    const char *path = getenv("PATH");
    struct as_str all = {0};

    as_str_appendf(&all, "%s:%s", build_tree->wrappers, path ? path : "");
    (void)setenv("PATH", as_str_z(&all), 1);
    as_str_clear(&all);
    for (size_t i = 0; plan->only[i]; i++)
        as_str_appendf(&all, "%s%s", i ? "\n" : "", plan->only[i]);
    (void)setenv("ASSAY_TRY_FILES", as_str_z(&all), 1);
    (void)setenv("ASSAY_TRY_FLAGS", plan->flags, 1);
    (void)setenv("ASSAY_TRY_WRAPPERS", build_tree->wrappers, 1);
    as_str_fini(&all);
}
