/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command will start, found out without starting it: the file that PATH gives, whether it
 * can run here, and whether it is a launcher of ranks. Errors are said before anything runs.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/str.h"
#include "launch/internal.h"

const char *assay_launch_kind_name(unsigned kind)
{
    static const char *const name[] = {
        [ASSAY_LAUNCH_PROGRAM] = "plain",   [ASSAY_LAUNCH_SCRIPT] = "plain",
        [ASSAY_LAUNCH_OPENMPI] = "openmpi", [ASSAY_LAUNCH_MPICH] = "mpich",
        [ASSAY_LAUNCH_SRUN] = "srun",       [ASSAY_LAUNCH_ATTACHED] = "attach",
    };
    return kind < sizeof name / sizeof *name ? name[kind] : "plain";
}

static const char *keep(struct as_plan *p, const char *text)
{
    return as_arena_strndup(&p->arena, text, strlen(text));
}

/* ---- Looking for the file ------------------------------------------------------------------ */

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* As execvp(3): the first executable file of PATH; one that may not be executed is remembered. */
static const char *search_path(struct as_plan *p, const char *name, bool *forbidden)
{
    const char *list = getenv("PATH");
    struct as_view rest = as_view_of(list ? list : "/bin:/usr/bin"), part;
    char path[4096];
    while (as_view_split(&rest, ':', &part)) {
        const int n = part.n ? snprintf(path, sizeof path, "%.*s/%s", (int)part.n, part.p, name)
                             : snprintf(path, sizeof path, "%s", name);
        if (n < 0 || (size_t)n >= sizeof path || is_directory(path))
            continue;
        if (access(path, X_OK) == 0)
            return keep(p, path);
        *forbidden |= errno == EACCES;
    }
    return NULL;
}

static int find_file(struct as_plan *p, const char *name, struct assay_error *err)
{
    bool forbidden = false;
    if (!name || !name[0])
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "no command is given; write it after --, as in: assay profile -- "
                            "./program");
    p->plan.path = strchr(name, '/') ? keep(p, name) : search_path(p, name, &forbidden);
    if (!p->plan.path && forbidden)
        return as_error_set(err, ASSAY_ERR_PERMISSION,
                            "%s: may not be executed where PATH finds it; chmod +x it, or name "
                            "another",
                            name);
    if (!p->plan.path)
        return as_error_set(err, ASSAY_ERR_NOT_FOUND,
                            "%s: no such command in PATH; write ./%s if it is in this directory",
                            name, name);
    return 0;
}

static int check_access(const struct as_plan *p, struct assay_error *err)
{
    const char *path = p->plan.path;
    struct stat st;
    if (stat(path, &st) < 0)
        return as_error_set(err, errno == EACCES ? ASSAY_ERR_PERMISSION : ASSAY_ERR_NOT_FOUND,
                            "%s: cannot be executed: %s; check the name", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return as_error_set(err, ASSAY_ERR_NOT_REGULAR,
                            "%s: is a directory; name the program in it", path);
    if (!S_ISREG(st.st_mode))
        return as_error_set(err, ASSAY_ERR_NOT_REGULAR,
                            "%s: is not a file that can be executed; name a program", path);
    if (access(path, X_OK) < 0)
        return as_error_set(err, ASSAY_ERR_PERMISSION,
                            "%s: may not be executed: %s; chmod +x it, or check who owns it", path,
                            strerror(errno));
    return 0;
}

/* ---- What it is ---------------------------------------------------------------------------- */

static int check_interpreter(struct as_plan *p, const char *line, size_t n, struct assay_error *err)
{
    char name[256];
    size_t at = 2, length = 0;
    while (at < n && (line[at] == ' ' || line[at] == '\t'))
        at++;
    while (at < n && length < sizeof name - 1 && line[at] && !strchr(" \t\r\n", line[at]))
        name[length++] = line[at++];
    name[length] = 0;
    p->plan.kind = ASSAY_LAUNCH_SCRIPT;
    p->plan.interpreter = keep(p, name);
    if (!p->plan.interpreter)
        return as_error_nomem(err, p->plan.path);
    if (access(name, X_OK) < 0)
        return as_error_set(err, ASSAY_ERR_NOT_FOUND,
                            "%s: its first line asks for the interpreter %s, which cannot be "
                            "executed: %s; correct the line or install it",
                            p->plan.path, name, strerror(errno));
    return 0;
}

/* The loader that an ELF program asks for must be there. */
static int check_loader(const struct as_plan *p, int fd, const Elf64_Ehdr *head,
                        struct assay_error *err)
{
    char loader[256];
    for (unsigned i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr ph;
        const off_t at = (off_t)(head->e_phoff + (uint64_t)i * head->e_phentsize);
        if (pread(fd, &ph, sizeof ph, at) != sizeof ph || ph.p_type != PT_INTERP)
            continue;
        const size_t n = ph.p_filesz < sizeof loader ? ph.p_filesz : sizeof loader - 1;
        const ssize_t got = pread(fd, loader, n, (off_t)ph.p_offset);
        loader[got > 0 ? got : 0] = 0;
        if (got > 0 && access(loader, X_OK) < 0)
            return as_error_set(err, ASSAY_ERR_NOT_FOUND,
                                "%s: needs the loader %s, which is not on this system; it was "
                                "built for another one",
                                p->plan.path, loader);
    }
    return 0;
}

static int check_elf(const struct as_plan *p, int fd, const Elf64_Ehdr *head, size_t n,
                     struct assay_error *err)
{
    const char *path = p->plan.path;
    if (n < sizeof *head)
        return as_error_set(err, ASSAY_ERR_TRUNCATED,
                            "%s: ends within its ELF header; copy or build it again", path);
    if (head->e_ident[EI_CLASS] != ELFCLASS64)
        return as_error_set(err, ASSAY_ERR_CLASS,
                            "%s: is a 32-bit program; assay reads 64-bit code: build it with -m64",
                            path);
    if (head->e_machine != EM_X86_64)
        return as_error_set(err, ASSAY_ERR_ARCH,
                            "%s: is for another processor (ELF machine %u), this one is x86-64; "
                            "build it for this machine",
                            path, head->e_machine);
    if (head->e_type != ET_EXEC && head->e_type != ET_DYN)
        return as_error_set(err, ASSAY_ERR_UNSUPPORTED,
                            "%s: is an object file, not a program; link it first", path);
    return check_loader(p, fd, head, err);
}

static int examine(struct as_plan *p, struct assay_error *err)
{
    union {
        Elf64_Ehdr head;
        char text[512];
    } begin = {0};
    const int fd = open(p->plan.path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES)
        return 0; /* may be executed though not read: the kernel will say */
    if (fd < 0)
        return as_error_set(err, ASSAY_ERR_IO, "%s: cannot be read: %s; check the file",
                            p->plan.path, strerror(errno));
    const ssize_t got = read(fd, &begin, sizeof begin);
    const size_t n = got > 0 ? (size_t)got : 0;
    int rc;
    if (n >= 4 && memcmp(begin.head.e_ident, ELFMAG, 4) == 0)
        rc = check_elf(p, fd, &begin.head, n, err);
    else if (n >= 2 && memcmp(begin.text, "#!", 2) == 0)
        rc = check_interpreter(p, begin.text, n, err);
    else
        rc = as_error_set(err, ASSAY_ERR_NOT_ELF,
                          "%s: is %s; a script needs #! and its interpreter in the first line",
                          p->plan.path, n ? "neither a program nor a script" : "empty");
    close(fd);
    return rc;
}

/* ---- Words --------------------------------------------------------------------------------- */

static void quote(struct as_str *out, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-+=:,./@%^";
    if (word[0] && strspn(word, safe) == strlen(word)) {
        as_str_appendz(out, word);
        return;
    }
    as_str_appendz(out, "'");
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            as_str_appendz(out, "'\\''");
        else
            as_str_append(out, c, 1);
    }
    as_str_appendz(out, "'");
}

static int say_command(struct as_plan *p, size_t n)
{
    struct as_str shell = {0}, text = {0};
    struct as_out out;
    struct as_json json;
    as_out_init_str(&out, &text);
    as_json_init(&json, &out, 0);
    as_json_array_begin(&json);
    for (size_t i = 0; i < n; i++) {
        as_str_appendz(&shell, i ? " " : "");
        quote(&shell, p->plan.argv[i]);
        as_json_string(&json, p->plan.argv[i]);
    }
    as_json_array_end(&json);
    int rc = as_out_flush(&out, NULL);
    as_out_fini(&out);
    p->plan.command = keep(p, as_str_z(&shell));
    p->plan.argv_json = keep(p, as_str_z(&text));
    if (shell.failed || !p->plan.command || !p->plan.argv_json)
        rc = ASSAY_ERR_NOMEM;
    as_str_fini(&shell);
    as_str_fini(&text);
    return rc;
}

static int copy_words(struct as_plan *p, const char *const *argv)
{
    size_t n = 0;
    while (argv[n])
        n++;
    const char **copy = as_arena_array(&p->arena, const char *, n + 1);
    if (!copy)
        return ASSAY_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        if (!(copy[i] = keep(p, argv[i])))
            return ASSAY_ERR_NOMEM;
    p->plan.argv = copy;
    return say_command(p, n);
}

static int add_places(struct as_plan *p)
{
    char path[4096];
    struct stat st;
    p->plan.real_path = keep(p, realpath(p->plan.path, path) ? path : p->plan.path);
    if (getcwd(path, sizeof path))
        p->plan.cwd = keep(p, path);
    if (stat(p->plan.path, &st) == 0)
        p->plan.gains_privilege = (st.st_mode & S_ISUID) && st.st_uid != geteuid();
    return p->plan.real_path ? 0 : ASSAY_ERR_NOMEM;
}

int assay_launch_plan(const char *const *argv, struct assay_launch_plan **out,
                      struct assay_error *err)
{
    struct as_plan *p = as_calloc(1, sizeof *p);
    *out = NULL;
    if (!p)
        return as_error_nomem(err, "a command");
    as_arena_init(&p->arena);
    int rc = find_file(p, argv[0], err);
    if (rc == 0)
        rc = check_access(p, err);
    if (rc == 0)
        rc = examine(p, err);
    if (rc == 0 && (copy_words(p, argv) < 0 || add_places(p) < 0))
        rc = as_error_nomem(err, argv[0]);
    if (rc == 0) {
        const enum assay_launch_kind launcher =
            as_launcher_of(p->plan.real_path, p->plan.kind == ASSAY_LAUNCH_SCRIPT);
        if (launcher != ASSAY_LAUNCH_PROGRAM)
            p->plan.kind = (uint8_t)launcher;
        p->plan.away = as_launcher_is_away(launcher, p->plan.argv, p->plan.away_reason,
                                           sizeof p->plan.away_reason);
    }
    *out = &p->plan;
    if (rc < 0)
        assay_launch_plan_free(out);
    return rc;
}

void assay_launch_plan_free(struct assay_launch_plan **plan)
{
    struct as_plan *p = (struct as_plan *)*plan;
    if (!p)
        return;
    as_arena_fini(&p->arena);
    as_free(p);
    *plan = NULL;
}
