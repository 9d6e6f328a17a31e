/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans of commands. Every mistake in a name gets its own code and sentence, before anything runs.
 * A command that can run is described.
 */
#include <elf.h>
#include <sys/wait.h>

#include "place.h"

static struct as_launch_plan *plan_of(const char *first, const char *second)
{
    const char *const argv[] = {first, second, NULL};
    struct as_launch_plan *plan = NULL;
    fine(as_launch_plan(argv, &plan, err));
    return plan;
}

static void expect_refused(const char *name, int code, const char *part)
{
    const char *const argv[] = {name, NULL};
    struct as_launch_plan *plan = NULL;
    refused(as_launch_plan(argv, &plan, err), code, part);
    assert_null(plan);
}

/* A header like that of /bin/true, changed by the caller. */
static Elf64_Ehdr header(void)
{
    Elf64_Ehdr h = {.e_type = ET_EXEC,
                    .e_machine = EM_X86_64,
                    .e_version = EV_CURRENT,
                    .e_entry = 0x401000,
                    .e_ehsize = sizeof h};
    memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS64;
    h.e_ident[EI_DATA] = ELFDATA2LSB;
    h.e_ident[EI_VERSION] = EV_CURRENT;
    return h;
}

static const char *put_elf(const struct place *place, const char *name, const Elf64_Ehdr *h)
{
    return put(place, name, h, sizeof *h, 0755);
}

/* ---- Not there, not executable ------------------------------------------------------------- */

static void test_not_found(void **state)
{
    const struct place *place = *state;
    expect_refused("assay-no-such-command", AS_ERR_NOT_FOUND, "no such command");
    expect_refused(in(place, "none"), AS_ERR_NOT_FOUND, "No such file");
    put_text(place, "file", "x");
    expect_refused(in(place, "file/below"), AS_ERR_NOT_FOUND, "Not a directory");
    expect_refused("", AS_ERR_USAGE, "no command");
    expect_refused(NULL, AS_ERR_USAGE, "no command");
}

/* A file in this directory is not in PATH: the sentence says how to name it. */
static void test_here_but_not_in_path(void **state)
{
    const struct place *place = *state;
    char *before = getcwd(NULL, 0);
    put_text(place, "assay-here", "#!/bin/sh\n");
    assert_int_equal(chdir(place->dir), 0);
    expect_refused("assay-here", AS_ERR_NOT_FOUND, "./assay-here");
    assert_int_equal(chdir(before), 0);
    free(before);
}

static void test_rights(void **state)
{
    const struct place *place = *state;
    put(place, "plain", "#!/bin/sh\n", 10, 0644);
    expect_refused(in(place, "plain"), AS_ERR_PERMISSION, "chmod +x");
    setenv("PATH", place->dir, 1);
    expect_refused("plain", AS_ERR_PERMISSION, "in PATH but not executable");
    expect_refused(place->dir, AS_ERR_NOT_REGULAR, "is a directory");
    expect_refused("/dev/null", AS_ERR_NOT_REGULAR, "not a regular file");
}

/* ---- PATH ---------------------------------------------------------------------------------- */

static void test_path(void **state)
{
    const struct place *place = *state;
    char list[2048];
    assert_int_equal(mkdir(in(place, "one"), 0755), 0);
    assert_int_equal(mkdir(in(place, "two"), 0755), 0);
    assert_int_equal(mkdir(in(place, "one/tool"), 0755), 0); /* passed over, as by execvp */
    put_text(place, "two/tool", "#!/bin/sh\n");
    assert_int_equal(symlink(in(place, "two/tool"), in(place, "link")), 0);
    snprintf(list, sizeof list, "%s/one:%s/none:%s/two:%s", place->dir, place->dir, place->dir,
             place->dir);
    setenv("PATH", list, 1);
    struct as_launch_plan *plan = plan_of("tool", NULL);
    assert_string_equal(plan->path, in(place, "two/tool"));
    assert_string_equal(plan->argv[0], "tool");
    as_launch_plan_free(&plan);
    assert_null(plan);
    plan = plan_of("link", NULL);
    assert_string_equal(plan->path, in(place, "link"));
    assert_string_equal(plan->real_path, in(place, "two/tool"));
    as_launch_plan_free(&plan);
    unsetenv("PATH");
    plan = plan_of("true", NULL); /* then /bin and /usr/bin, as execvp has it */
    assert_string_equal(plan->path, "/bin/true");
    as_launch_plan_free(&plan);
    /* An empty part is this directory. */
    char *before = getcwd(NULL, 0);
    assert_int_equal(chdir(in(place, "two")), 0);
    setenv("PATH", ":/bin", 1);
    plan = plan_of("tool", NULL);
    assert_string_equal(plan->path, "tool");
    as_launch_plan_free(&plan);
    assert_int_equal(chdir(before), 0);
    free(before);
}

/* ---- Scripts ------------------------------------------------------------------------------- */

static void test_scripts(void **state)
{
    const struct place *place = *state;
    struct as_launch_plan *plan = plan_of(put_text(place, "good", "#! /bin/sh -e\necho\n"), NULL);
    assert_int_equal(plan->kind, AS_LAUNCH_SCRIPT);
    assert_string_equal(plan->interpreter, "/bin/sh");
    assert_string_equal(as_launch_kind_name(plan->kind), "plain");
    as_launch_plan_free(&plan);
    plan = plan_of(put_text(place, "env", "#!/usr/bin/env -S A=1 sh -e\n"), NULL);
    assert_string_equal(plan->interpreter, "/usr/bin/env");
    as_launch_plan_free(&plan);
    /* A script for a script, and without a newline at the end. */
    char text[300];
    snprintf(text, sizeof text, "#!%s", in(place, "good"));
    plan = plan_of(put_text(place, "nested", text), NULL);
    assert_string_equal(plan->interpreter, in(place, "good"));
    as_launch_plan_free(&plan);
}

static void test_bad_scripts(void **state)
{
    const struct place *place = *state;
    char text[300];
    expect_refused(put_text(place, "a", "#!/no/such/sh\n"), AS_ERR_NOT_FOUND,
                   "script for '/no/such/sh'");
    expect_refused(put_text(place, "b", "#!/usr/bin/env assay-no-such\n"), AS_ERR_NOT_FOUND,
                   "script for 'assay-no-such'");
    expect_refused(put_text(place, "c", "#!/bin/sh\r\nexit\r\n"), AS_ERR_NOT_FOUND,
                   "carriage return");
    expect_refused(put_text(place, "d", "#!\n"), AS_ERR_NOT_ELF, "has no interpreter");
    expect_refused(put_text(place, "e", "#!"), AS_ERR_NOT_ELF, "has no interpreter");
    expect_refused(put_text(place, "f", "#!/etc/passwd\n"), AS_ERR_PERMISSION, "not executable");
    expect_refused(put_text(place, "g", "#!/tmp\n"), AS_ERR_PERMISSION, "not executable");
    expect_refused(put_text(place, "h", "echo no first line\n"), AS_ERR_NOT_ELF,
                   "without an interpreter line");
    snprintf(text, sizeof text, "#!%s\n", in(place, "self"));
    expect_refused(put_text(place, "self", text), AS_ERR_UNSUPPORTED, "the kernel rejects");
    /* Errors behind the interpreter's name do not matter, nor does a bad program further on. */
    Elf64_Ehdr h = header();
    h.e_machine = EM_AARCH64;
    put_elf(place, "arm", &h);
    snprintf(text, sizeof text, "#!%s\n", in(place, "arm"));
    expect_refused(put_text(place, "i", text), AS_ERR_ARCH, "AArch64");
}

/* ---- ELF files ----------------------------------------------------------------------------- */

static void test_elf(void **state)
{
    const struct place *place = *state;
    Elf64_Ehdr h = header();
    struct as_launch_plan *plan = plan_of(put_elf(place, "static", &h), NULL);
    assert_int_equal(plan->kind, AS_LAUNCH_PROGRAM);
    assert_false(plan->away);
    assert_false(plan->gains_privilege);
    assert_null(plan->interpreter);
    as_launch_plan_free(&plan);
    h.e_machine = EM_AARCH64;
    expect_refused(put_elf(place, "arm", &h), AS_ERR_ARCH, "AArch64");
    h = header();
    h.e_ident[EI_CLASS] = ELFCLASS32;
    h.e_machine = EM_386;
    expect_refused(put_elf(place, "i386", &h), AS_ERR_CLASS, "32-bit");
    h = header();
    h.e_type = ET_REL;
    expect_refused(put_elf(place, "object.o", &h), AS_ERR_UNSUPPORTED, "link it");
    h.e_type = ET_DYN;
    h.e_entry = 0;
    expect_refused(put_elf(place, "library.so", &h), AS_ERR_UNSUPPORTED, "is a library");
    h = header();
    expect_refused(put(place, "cut", &h, 40, 0755), AS_ERR_TRUNCATED, "truncated");
    h.e_phnum = 1;
    h.e_phoff = sizeof h;
    h.e_phentsize = sizeof(Elf64_Phdr);
    expect_refused(put_elf(place, "cut-headers", &h), AS_ERR_TRUNCATED, "program header 0");
    expect_refused(put(place, "empty", "", 0, 0755), AS_ERR_NOT_ELF, "is empty");
    expect_refused(put(place, "bytes", "\1\2\3\0\4", 5, 0755), AS_ERR_NOT_ELF, "not an ELF file");
    expect_refused(put(place, "pe", "MZ\220\0", 4, 0755), AS_ERR_NOT_ELF, "Windows");
}

static void test_loader(void **state)
{
    const struct place *place = *state;
    struct {
        Elf64_Ehdr h;
        Elf64_Phdr ph;
        char loader[32];
    } file = {.h = header(), .loader = "/lib64/ld-assay-none.so.2"};
    file.h.e_phnum = 1;
    file.h.e_phoff = sizeof file.h;
    file.h.e_phentsize = sizeof file.ph;
    file.ph.p_type = PT_INTERP;
    file.ph.p_offset = sizeof file.h + sizeof file.ph;
    file.ph.p_filesz = sizeof "/lib64/ld-assay-none.so.2";
    expect_refused(put(place, "foreign", &file, sizeof file, 0755), AS_ERR_NOT_FOUND,
                   "dynamic loader '/lib64/ld-assay-none.so.2'");
    expect_refused(put(place, "cut", &file, sizeof file - 20, 0755), AS_ERR_TRUNCATED,
                   "dynamic loader");
    file.ph.p_filesz = UINT64_MAX;
    expect_refused(put(place, "huge", &file, sizeof file, 0755), AS_ERR_CORRUPT, "dynamic loader");
}

static void test_privilege(void **state)
{
    const struct place *place = *state;
    const Elf64_Ehdr h = header();
    const char *path = put_elf(place, "suid", &h);
    if (geteuid() != 0) {
        print_message("# not root: a program of another user cannot be made here\n");
        return;
    }
    assert_int_equal(chown(path, 1, 1), 0);
    assert_int_equal(chmod(path, 04755), 0);
    struct as_launch_plan *plan = plan_of(path, NULL);
    assert_true(plan->gains_privilege);
    as_launch_plan_free(&plan);
}

/* ---- Words and places ---------------------------------------------------------------------- */

static void test_words(void **state)
{
    (void)state;
    const char *const argv[] = {"/bin/echo", "a b", "", "it's", "$x", "-n=1,2", "\n", NULL};
    struct as_launch_plan *plan = NULL;
    fine(as_launch_plan(argv, &plan, err));
    assert_string_equal(plan->command, "/bin/echo 'a b' '' 'it'\\''s' '$x' -n=1,2 '\n'");
    assert_string_equal(plan->argv_json,
                        "[\"/bin/echo\",\"a b\",\"\",\"it's\",\"$x\",\"-n=1,2\",\"\\n\"]");
    for (size_t i = 0; argv[i]; i++) {
        assert_string_equal(plan->argv[i], argv[i]);
        assert_true(plan->argv[i] != argv[i]);
    }
    char *cwd = getcwd(NULL, 0);
    assert_string_equal(plan->cwd, cwd);
    free(cwd);
    as_launch_plan_free(&plan);
    as_launch_plan_free(&plan);
}

static void test_directory_gone(void **state)
{
    const struct place *place = *state;
    char *before = getcwd(NULL, 0);
    assert_int_equal(mkdir(in(place, "gone"), 0755), 0);
    assert_int_equal(chdir(in(place, "gone")), 0);
    assert_int_equal(rmdir(in(place, "gone")), 0);
    struct as_launch_plan *plan = plan_of("/bin/true", NULL);
    assert_null(plan->cwd);
    as_launch_plan_free(&plan);
    assert_int_equal(chdir(before), 0);
    free(before);
}

static void test_memory(void **state)
{
    (void)state;
    const char *const argv[] = {"/bin/sh", "-c", "a b", NULL};
    struct as_launch_plan *plan = NULL;
    int rc = AS_ERR_NOMEM;
    int64_t n = 0;
    for (; rc < 0 && n < 1000; n++) {
        struct as_error err = {0};
        as_alloc_fail_after(n);
        rc = as_launch_plan(argv, &plan, &err);
        as_alloc_fail_after(-1);
        if (rc < 0) {
            assert_int_equal(rc, AS_ERR_NOMEM);
            assert_int_equal(err.code, AS_ERR_NOMEM);
            assert_null(plan);
        }
    }
    assert_int_equal(rc, 0);
    assert_true(n > 3);
    as_launch_plan_free(&plan);
}

/* ---- Launchers ----------------------------------------------------------------------------- */

static void expect_kind(const char *path, unsigned kind, bool away)
{
    struct as_launch_plan *plan = plan_of(path, NULL);
    if (plan->kind != kind || plan->away != away)
        fail_msg("%s (%s) is %u, away %d", path, plan->real_path, plan->kind, plan->away);
    assert_int_equal(plan->away, plan->away_reason[0] != 0);
    as_launch_plan_free(&plan);
}

static void test_launchers(void **state)
{
    const struct place *place = *state;
    const Elf64_Ehdr h = header();
    put_elf(place, "orterun", &h);
    put_elf(place, "mpiexec.hydra", &h);
    put_elf(place, "srun", &h);
    assert_int_equal(symlink("orterun", in(place, "mpirun")), 0);
    assert_int_equal(symlink("mpiexec.hydra", in(place, "mpiexec")), 0);
    expect_kind(in(place, "mpirun"), AS_LAUNCH_OPENMPI, false);
    expect_kind(in(place, "mpiexec"), AS_LAUNCH_MPICH, false);
    expect_kind(in(place, "srun"), AS_LAUNCH_SRUN, true);
    /* No link that says it: what stands in the file does. */
    assert_int_equal(mkdir(in(place, "b"), 0755), 0);
    expect_kind(put_text(place, "b/mpirun", "#!/bin/sh\nexec mpiexec.hydra \"$@\"\n"),
                AS_LAUNCH_MPICH, false);
    expect_kind(put_text(place, "b/mpiexec", "#!/bin/sh\nexec prterun \"$@\"\n"), AS_LAUNCH_OPENMPI,
                false);
    assert_int_equal(mkdir(in(place, "c"), 0755), 0);
    expect_kind(put_text(place, "c/mpirun", "#!/bin/sh\n\"$@\"\n"), AS_LAUNCH_SCRIPT, false);
    /* Other programs are none, whatever stands in them. */
    expect_kind(put_text(place, "run", "#!/bin/sh\nexec mpiexec.hydra \"$@\"\n"), AS_LAUNCH_SCRIPT,
                false);
    assert_string_equal(as_launch_kind_name(AS_LAUNCH_OPENMPI), "openmpi");
    assert_string_equal(as_launch_kind_name(AS_LAUNCH_ATTACHED), "attach");
    assert_string_equal(as_launch_kind_name(99), "unknown");
}

static void test_installed_launchers(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        unsigned kind;
    } known[] = {{"/usr/bin/mpirun.openmpi", AS_LAUNCH_OPENMPI},
                 {"/usr/bin/mpiexec.openmpi", AS_LAUNCH_OPENMPI},
                 {"/usr/bin/mpirun.mpich", AS_LAUNCH_MPICH},
                 {"/usr/bin/mpiexec.mpich", AS_LAUNCH_MPICH},
                 {"/usr/bin/srun", AS_LAUNCH_SRUN}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (access(known[i].path, X_OK) < 0)
            print_message("# %s is not installed\n", known[i].path);
        else
            expect_kind(known[i].path, known[i].kind, known[i].kind == AS_LAUNCH_SRUN);
    }
}

/* Each test may change PATH. */
static char path_before[8192];

static int keep_path(void **state)
{
    (void)state;
    snprintf(path_before, sizeof path_before, "%s", getenv("PATH") ? getenv("PATH") : "/bin");
    return 0;
}

static int set_up(void **state)
{
    setenv("PATH", path_before, 1);
    return place_set_up(state);
}

#define plan_test(f) cmocka_unit_test_setup_teardown(f, set_up, place_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        plan_test(test_not_found),
        plan_test(test_here_but_not_in_path),
        plan_test(test_rights),
        plan_test(test_path),
        plan_test(test_scripts),
        plan_test(test_bad_scripts),
        plan_test(test_elf),
        plan_test(test_loader),
        plan_test(test_privilege),
        plan_test(test_words),
        plan_test(test_directory_gone),
        plan_test(test_memory),
        plan_test(test_launchers),
        plan_test(test_installed_launchers),
    };
    return cmocka_run_group_tests(tests, keep_path, NULL);
}
