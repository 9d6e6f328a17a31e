/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the compilers of this machine. Builds each source with each compiler, in each build that
 * the CPU can run.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io_full.h"
#include "validate/suite.h"

static const struct {
    const char *name, *language;
    const char *more; /* its own options: do not replace loops by calls */
} compilers[] = {
    {"gcc", "c", "-fno-tree-loop-distribute-patterns"},
    {"clang", "c", "-fno-builtin"},
    {"gfortran", "fortran", "-fno-tree-loop-distribute-patterns"},
};

static bool processor_has(const char *needs)
{
    __builtin_cpu_init();
    return !*needs ||
           (strcmp(needs, "x86-64-v2") == 0 && __builtin_cpu_supports("sse4.2") &&
            __builtin_cpu_supports("popcnt")) ||
           (strcmp(needs, "x86-64-v3") == 0 && __builtin_cpu_supports("avx2") &&
            __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) ||
           (strcmp(needs, "x86-64-v4") == 0 && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512cd"));
}

/* Runs a command without input and output; returns true for exit status 0. */
static bool run_quietly(char *const *words)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int end = -1;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    const bool is_started =
        words[0] && posix_spawnp(&pid, words[0], &actions, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    while (is_started && waitpid(pid, &end, 0) < 0 && errno == EINTR)
        ;
    return is_started && WIFEXITED(end) && WEXITSTATUS(end) == 0;
}

static bool has_compiler(const char *name)
{
    char *const words[] = {(char *)(uintptr_t)name, (char[]){"--version"}, NULL};
    return run_quietly(words);
}

static void add_libraries(struct as_suite *suite, size_t compiler)
{
    char directory[sizeof suite->directory];
    memcpy(directory, suite->directory, sizeof directory);
    for (const struct as_suite_source *source = as_suite_sources; source->file; source++)
        for (const struct as_suite_build *build = as_suite_builds; build->name; build++) {
            if (strcmp(source->language, compilers[compiler].language) != 0 ||
                strcmp(build->language, source->language) != 0 || !processor_has(build->needs) ||
                suite->library_n == AS_SUITE_LIBRARIES)
                continue;
            struct as_suite_library *library = &suite->library[suite->library_n++];
            library->compiler = compilers[compiler].name;
            library->build = build;
            library->source = source;
            snprintf(library->path, sizeof library->path, "%s/%s-%s.so", directory,
                     library->compiler, build->name);
        }
}

static int write_sources(const struct as_suite *suite, struct as_error *err)
{
    for (const struct as_suite_source *source = as_suite_sources; source->file; source++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", suite->directory, source->file);
        const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        const int code = fd < 0 ? errno : as_whole_write(fd, source->text, strlen(source->text));
        if (fd >= 0)
            close(fd);
        if (code)
            return as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s", path, strerror(code));
    }
    return 0;
}

int as_suite_open(struct as_suite *suite, struct as_error *err)
{
    const char *temporary = getenv("TMPDIR");
    *suite = (struct as_suite){0};
    snprintf(suite->directory, sizeof suite->directory, "%s/assay-suite-XXXXXX",
             temporary && *temporary && strlen(temporary) < 32 ? temporary : "/tmp");
    if (!mkdtemp(suite->directory)) {
        const int code = errno;
        *suite->directory = 0;
        return as_error_set(err, AS_ERR_IO, "the suite: its directory cannot be created: %s",
                            strerror(code));
    }
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
        if (has_compiler(compilers[i].name))
            add_libraries(suite, i);
    if (!suite->library_n)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "the suite: no compiler found; install gcc, clang or gfortran");
    return write_sources(suite, err);
}

void as_suite_close(struct as_suite *suite)
{
    char path[256];
    if (!*suite->directory)
        return;
    for (const struct as_suite_source *source = as_suite_sources; source->file; source++) {
        snprintf(path, sizeof path, "%s/%s", suite->directory, source->file);
        unlink(path);
    }
    for (size_t i = 0; i < suite->library_n; i++)
        unlink(suite->library[i].path);
    rmdir(suite->directory);
}

bool as_suite_compile(const struct as_suite *suite, const struct as_suite_library *library)
{
    enum { COMMAND_WORDS = 48 };
    struct as_str command = {0}, word[COMMAND_WORDS] = {0};
    char *words[COMMAND_WORDS + 1] = {0};
    const char *more = "";
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
        more = strcmp(compilers[i].name, library->compiler) == 0 ? compilers[i].more : more;
    as_str_appendf(&command, "%s -shared -fPIC -w %s %s -o %s %s/%s -lm", library->compiler,
                   library->build->options, more, library->path, suite->directory,
                   library->source->file);
    size_t n = 0;
    struct as_view rest = as_view_of(as_str_z(&command)), part;
    while (n < COMMAND_WORDS && as_view_split(&rest, ' ', &part))
        if (part.n) {
            as_str_append(&word[n], part.p, part.n);
            words[n] = word[n].p;
            n++;
        }
    const bool is_done = n < COMMAND_WORDS && run_quietly(words);
    for (size_t i = 0; i < COMMAND_WORDS; i++)
        as_str_fini(&word[i]);
    as_str_fini(&command);
    return is_done;
}
