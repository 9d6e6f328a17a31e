/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place for builds: which directory is copied, to where, and which program of a build stands
 * for which word of the user's command.
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

/* Takes "." and ".." out of an absolute path, as it is written. */
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

/* What of a word lies in the source directory: "/solver", or NULL. */
static const char *inside_source(const struct as_yard *yard, const char *word, char *path,
                                 size_t size_b)
{
    const size_t n = strlen(yard->source);

    if (!strchr(word, '/'))
        return NULL;
    if (word[0] == '/')
        snprintf(path, size_b, "%s", word);
    else
        snprintf(path, size_b, "%s/%s", yard->here, word);
    clean_path(path);
    return strncmp(path, yard->source, n) == 0 && path[n] == '/' ? path + n : NULL;
}

const char *const *as_yard_words(struct as_yard *yard, const struct as_build *build,
                                 const char *const *words, size_t *replaced)
{
    char path[2 * PATH_MAX], made[2 * PATH_MAX];
    size_t n = 0;

    *replaced = 0;
    while (words[n])
        n++;
    const char **out = as_arena_array(&yard->arena, const char *, n + 1);
    for (size_t i = 0; out && i < n; i++) {
        const char *inside = inside_source(yard, words[i], path, sizeof path);
        out[i] = words[i];
        if (!inside)
            continue;
        snprintf(made, sizeof made, "%s%s", build->directory, inside);
        if (!as_code_is_program(made))
            continue;
        out[i] = as_arena_strndup(&yard->arena, made, strlen(made));
        if (!out[i])
            return NULL;
        ++*replaced;
    }
    return out;
}

const char *as_yard_fill(struct as_yard *yard, const char *text, const char *name,
                         const char *value)
{
    struct as_str out = {0};
    const char *at = text, *next;

    for (; (next = strstr(at, name)); at = next + strlen(name)) {
        as_str_append(&out, at, (size_t)(next - at));
        as_str_appendz(&out, value);
    }
    as_str_appendz(&out, at);
    const char *copy = out.failed ? NULL : as_arena_strndup(&yard->arena, as_str_z(&out), out.n);
    as_str_fini(&out);
    return copy;
}

const char *as_yard_command(struct as_yard *yard, const char *flags)
{
    return flags ? as_yard_fill(yard, yard->options.command, FLAGS, flags) : NULL;
}

bool as_yard_can_map(const struct as_yard *yard)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    return !yard->source[strspn(yard->source, plain)] && !yard->root[strspn(yard->root, plain)];
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

int as_yard_compilers(const struct as_yard *yard, const struct as_build *build, char *out,
                      size_t size_b)
{
    struct compilers it = {0};

    (void)yard;
    (void)as_tree_files(build->directory, add_compilers, &it);
    return snprintf(out, size_b, "%s%s%s", it.found & AS_CODE_GCC ? "gcc " : "",
                    it.found & AS_CODE_CLANG ? "clang " : "",
                    it.found & AS_CODE_GFORTRAN ? "gfortran " : "");
}

/* ---- Beginning and end --------------------------------------------------------------------- */

static int find_places(struct as_yard *yard, struct assay_error *err)
{
    const char *source = yard->options.source ? yard->options.source : ".";
    const char *temporary = getenv("TMPDIR");

    if (!getcwd(yard->here, sizeof yard->here))
        return as_error_set(err, ASSAY_ERR_IO, "the working directory cannot be found: %s",
                            strerror(errno));
    if (!realpath(source, yard->source))
        return as_error_set(err, ASSAY_ERR_NOT_FOUND, "--source: %s: %s", source, strerror(errno));
    snprintf(yard->root, sizeof yard->root, "%.3800s/assay-try-XXXXXX",
             temporary && temporary[0] == '/' ? temporary : "/tmp");
    if (!mkdtemp(yard->root)) {
        const int why = errno;
        const int rc = as_error_set(err, ASSAY_ERR_IO,
                                    "%s: cannot be created: %s; set TMPDIR to a writable directory",
                                    yard->root, strerror(why));
        yard->root[0] = '\0';
        return rc;
    }
    snprintf(yard->temporary, sizeof yard->temporary, "%s/tmp", yard->root);
    (void)mkdir(yard->temporary, 0700); /* without it compilers take another place */
    if (strncmp(yard->root, yard->source, strlen(yard->source)) == 0 &&
        yard->root[strlen(yard->source)] == '/')
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "TMPDIR: %s is inside the source directory %s; set TMPDIR to a "
                            "directory outside",
                            temporary, yard->source);
    return 0;
}

/* Programs of the command stay behind: the build is to make them. */
static int list_left_out(struct as_yard *yard, struct assay_error *err)
{
    const char *const *words = yard->options.program;
    char path[2 * PATH_MAX];
    size_t n = 0, left = 0;

    while (words[n])
        n++;
    const char **leave = as_arena_array(&yard->arena, const char *, n + 1);
    for (size_t i = 0; leave && i < n; i++)
        if (inside_source(yard, words[i], path, sizeof path) && as_code_is_program(path))
            leave[left++] = as_arena_strndup(&yard->arena, path, strlen(path));
    yard->copy = (struct as_tree_copy){.from = yard->source, .sources = true, .leave = leave};
    return leave ? 0 : as_error_nomem(err, "the builds");
}

static int check_size(struct as_yard *yard, struct assay_error *err)
{
    AS_TRY(as_tree_measure(&yard->copy, &yard->size, err));
    if (yard->size.size_b <= AS_YARD_SIZE_MOST || yard->options.any_size)
        return 0;
    return as_error_set(
        err, ASSAY_ERR_USAGE,
        "%s: %.1f GiB in %llu files would be copied for each build; use --source with a directory "
        "of sources only, or --copy to copy everything",
        yard->source, (double)yard->size.size_b / (double)((uint64_t)1 << 30),
        (unsigned long long)yard->size.file_n);
}

int as_yard_open(struct as_yard *yard, const struct as_yard_options *options,
                 struct assay_error *err)
{
    *yard = (struct as_yard){.options = *options};
    as_arena_init(&yard->arena);
    if (!yard->options.jobs)
        yard->options.jobs = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    if (!strstr(options->command, FLAGS))
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--build: '%s' has no {flags}; add it to the compiler "
                            "options, as in 'make CFLAGS=\"-O2 {flags}\"'",
                            options->command);
    AS_TRY(find_places(yard, err));
    AS_TRY(list_left_out(yard, err));
    AS_TRY(check_size(yard, err));
    yard->is_protected = as_yard_can_protect(yard->source);
    return 0;
}

void as_yard_close(struct as_yard *yard)
{
    if (yard->root[0])
        (void)as_tree_remove(AT_FDCWD, yard->root);
    yard->root[0] = '\0';
    as_arena_fini(&yard->arena);
}
