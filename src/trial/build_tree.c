/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares the build tree: the directory to copy, its place, and the built programs that replace
 * words of the user's command.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/tree.h"
#include "trial/build.h"
#include "trial/internal.h"

#define FLAGS "{flags}"

/* ---- Words --------------------------------------------------------------------------------- */

/* Removes "." and ".." from an absolute path without following links. */
static void clean_path(char *path)
{
    char *to = path;

    for (const char *at = path; *at;) {
        const size_t n = strcspn(at + 1, "/") + 1;
        if (n == 3 && memcmp(at, "/..", 3) == 0) {
            while (to > path && *--to != '/')
                continue;
        } else if (n > 1 && !(n == 2 && at[1] == '.')) {
            memmove(to, at, n);
            to += n;
        }
        at += n;
    }
    *to = '\0';
}

/* Returns the part of a word inside the source directory: "/solver", or NULL. */
static const char *inside_source(const struct as_build_tree *build_tree, const char *word,
                                 char *path, size_t size_b)
{
    const size_t n = strlen(build_tree->source);

    if (!strchr(word, '/'))
        return NULL;
    if (word[0] == '/')
        snprintf(path, size_b, "%s", word);
    else
        snprintf(path, size_b, "%s/%s", build_tree->here, word);
    clean_path(path);
    return strncmp(path, build_tree->source, n) == 0 && path[n] == '/' ? path + n : NULL;
}

const char *const *as_build_tree_words(struct as_build_tree *build_tree,
                                       const struct as_build *build, const char *const *words,
                                       size_t *replaced)
{
    char path[2 * PATH_MAX], made[2 * PATH_MAX];
    size_t n = 0;

    *replaced = 0;
    while (words[n])
        n++;
    const char **out = as_arena_array(&build_tree->arena, const char *, n + 1);
    for (size_t i = 0; out && i < n; i++) {
        const char *inside = inside_source(build_tree, words[i], path, sizeof path);
        out[i] = words[i];
        if (!inside)
            continue;
        snprintf(made, sizeof made, "%s%s", build->directory, inside);
        if (!as_code_is_program(made))
            continue;
        out[i] = as_arena_strndup(&build_tree->arena, made, strlen(made));
        if (!out[i])
            return NULL;
        ++*replaced;
    }
    return out;
}

const char *as_build_tree_fill(struct as_build_tree *build_tree, const char *text, const char *name,
                               const char *value)
{
    struct as_str out = {0};
    const char *at = text, *next;

    for (; (next = strstr(at, name)); at = next + strlen(name)) {
        as_str_append(&out, at, (size_t)(next - at));
        as_str_appendz(&out, value);
    }
    as_str_appendz(&out, at);
    const char *copy =
        out.failed ? NULL : as_arena_strndup(&build_tree->arena, as_str_z(&out), out.n);
    as_str_fini(&out);
    return copy;
}

const char *as_build_tree_command(struct as_build_tree *build_tree, const char *flags)
{
    return flags ? as_build_tree_fill(build_tree, build_tree->options.command, FLAGS, flags) : NULL;
}

bool as_build_tree_can_map(const struct as_build_tree *build_tree)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    return !build_tree->source[strspn(build_tree->source, plain)] &&
           !build_tree->root[strspn(build_tree->root, plain)];
}

struct compilers {
    unsigned found;
};

static int add_compilers(void *context, const char *path)
{
    struct compilers *it = context;
    if (as_code_is_program(path))
        it->found |= as_code_compilers(path);
    return 0;
}

int as_build_tree_compilers(const struct as_build_tree *build_tree, const struct as_build *build,
                            char *out, size_t size_b)
{
    struct compilers it = {0};

    (void)build_tree;
    (void)as_tree_files(build->directory, add_compilers, &it);
    return snprintf(out, size_b, "%s%s%s", it.found & AS_CODE_GCC ? "gcc " : "",
                    it.found & AS_CODE_CLANG ? "clang " : "",
                    it.found & AS_CODE_GFORTRAN ? "gfortran " : "");
}

/* ---- Open and close ------------------------------------------------------------------------ */

static int find_places(struct as_build_tree *build_tree, struct as_error *err)
{
    const char *source = build_tree->options.source ? build_tree->options.source : ".";
    const char *temporary = getenv("TMPDIR");

    if (!getcwd(build_tree->here, sizeof build_tree->here))
        return as_error_set(err, AS_ERR_IO, "the working directory cannot be found: %s",
                            strerror(errno));
    if (!realpath(source, build_tree->source))
        return as_error_set(err, AS_ERR_NOT_FOUND, "--source: %s: %s", source, strerror(errno));
    snprintf(build_tree->root, sizeof build_tree->root, "%.3800s/assay-try-XXXXXX",
             temporary && temporary[0] == '/' ? temporary : "/tmp");
    if (!mkdtemp(build_tree->root)) {
        const int why = errno;
        const int rc = as_error_set(err, AS_ERR_IO,
                                    "%s: cannot be created: %s; set TMPDIR to a writable directory",
                                    build_tree->root, strerror(why));
        build_tree->root[0] = '\0';
        return rc;
    }
    snprintf(build_tree->temporary, sizeof build_tree->temporary, "%s/tmp", build_tree->root);
    (void)mkdir(build_tree->temporary, 0700); /* without it, compilers use another directory */
    if (strncmp(build_tree->root, build_tree->source, strlen(build_tree->source)) == 0 &&
        build_tree->root[strlen(build_tree->source)] == '/')
        return as_error_set(err, AS_ERR_USAGE,
                            "TMPDIR: %s is inside the source directory %s; set TMPDIR to a "
                            "directory outside",
                            temporary, build_tree->source);
    return 0;
}

/* Lists the programs of the command, which are not copied: the build must make them. */
static int list_left_out(struct as_build_tree *build_tree, struct as_error *err)
{
    const char *const *words = build_tree->options.program;
    char path[2 * PATH_MAX];
    size_t n = 0, left = 0;

    while (words[n])
        n++;
    const char **leave = as_arena_array(&build_tree->arena, const char *, n + 1);
    for (size_t i = 0; leave && i < n; i++)
        if (inside_source(build_tree, words[i], path, sizeof path) && as_code_is_program(path))
            leave[left++] = as_arena_strndup(&build_tree->arena, path, strlen(path));
    build_tree->copy =
        (struct as_tree_copy){.from = build_tree->source, .sources = true, .leave = leave};
    return leave ? 0 : as_error_nomem(err, "the builds");
}

static int check_size(struct as_build_tree *build_tree, struct as_error *err)
{
    AS_TRY(as_tree_measure(&build_tree->copy, &build_tree->size, err));
    if (build_tree->size.size_b <= AS_YARD_SIZE_MOST || build_tree->options.any_size)
        return 0;
    return as_error_set(
        err, AS_ERR_USAGE,
        "%s: %.1f GiB in %llu files would be copied for each build; use --source with a directory "
        "of sources only, or --copy to copy everything",
        build_tree->source, (double)build_tree->size.size_b / (double)((uint64_t)1 << 30),
        (unsigned long long)build_tree->size.file_n);
}

int as_build_tree_open(struct as_build_tree *build_tree,
                       const struct as_build_tree_options *options, struct as_error *err)
{
    *build_tree = (struct as_build_tree){.options = *options};
    as_arena_init(&build_tree->arena);
    if (!build_tree->options.jobs)
        build_tree->options.jobs = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    if (!strstr(options->command, FLAGS))
        return as_error_set(err, AS_ERR_USAGE,
                            "--build: '%s' has no {flags}; add it to the compiler "
                            "options, as in 'make CFLAGS=\"-O2 {flags}\"'",
                            options->command);
    AS_TRY(find_places(build_tree, err));
    AS_TRY(list_left_out(build_tree, err));
    AS_TRY(check_size(build_tree, err));
    build_tree->is_protected = as_build_tree_can_protect(build_tree->source);
    return 0;
}

void as_build_tree_close(struct as_build_tree *build_tree)
{
    if (build_tree->root[0])
        (void)as_tree_remove(AT_FDCWD, build_tree->root);
    build_tree->root[0] = '\0';
    as_arena_fini(&build_tree->arena);
}
