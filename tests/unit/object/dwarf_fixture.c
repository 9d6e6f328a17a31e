/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf_fixture.h"

#include <unistd.h>

static char dir[64];

static const char cpp_source[] = "#include <vector>\n"
                                 "#include <algorithm>\n"
                                 "struct S { int x; int get() const; };\n"
                                 "inline int S::get() const { return x * 3; }\n"
                                 "static inline int square(int a) { return a * a; }\n"
                                 "int work(std::vector<int> &v, const S &s) {\n"
                                 "    int r = 0;\n"
                                 "    for (int x : v)\n"
                                 "        r += square(x) + s.get();\n"
                                 "    std::sort(v.begin(), v.end());\n"
                                 "    return r;\n"
                                 "}\n"
                                 "int unused(int a) { return square(a) + 1; }\n"
                                 "int main() {\n"
                                 "    std::vector<int> v{3, 2, 1};\n"
                                 "    S s{4};\n"
                                 "    return work(v, s);\n"
                                 "}\n";

static const char fortran_source[] = "module grid\n"
                                     "contains\n"
                                     "  subroutine smooth(a, n)\n"
                                     "    integer, intent(in) :: n\n"
                                     "    real, intent(inout) :: a(n)\n"
                                     "    a = a * 0.5\n"
                                     "  end subroutine smooth\n"
                                     "end module grid\n"
                                     "program m\n"
                                     "  use grid\n"
                                     "  real :: a(10)\n"
                                     "  a = 1.0\n"
                                     "  call smooth(a, 10)\n"
                                     "  print *, a(1)\n"
                                     "end program m\n";

static const char c_source[] = "static inline int twice(int a)\n"
                               "{\n"
                               "    return a + a;\n"
                               "}\n"
                               "int outer(int *p)\n"
                               "{\n"
                               "    return twice(p[0]) + twice(p[1]);\n"
                               "}\n"
                               "int main(int argc, char **argv)\n"
                               "{\n"
                               "    int p[2] = {argc, 2};\n"
                               "    (void)argv;\n"
                               "    return outer(p);\n"
                               "}\n";

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

int fixture_setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/assay-dwarf-XXXXXX");
    if (!mkdtemp(dir) || chdir(dir) != 0)
        return -1;
    write_file("a.cpp", cpp_source);
    write_file("m.f90", fortran_source);
    write_file("two.c", c_source);
    return 0;
}

int fixture_teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return chdir("/") == 0 ? system(command) : -1;
}

static bool run_va(const char *fmt, va_list args)
{
    char command[2048], all[2200];
    vsnprintf(command, sizeof command, fmt, args);
    snprintf(all, sizeof all, "{ %s ; } >/dev/null 2>&1", command);
    return system(all) == 0;
}

bool fixture_try(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    bool good = run_va(fmt, args);
    va_end(args);
    return good;
}

void fixture_run(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    bool good = run_va(fmt, args);
    va_end(args);
    if (!good)
        fail_msg("a command failed: %s", fmt);
}

char *fixture_output(const char *fmt, ...)
{
    char command[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(command, sizeof command, fmt, args);
    va_end(args);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = 0, cap = 1 << 16;
    char *text = malloc(cap);
    for (size_t got; text && (got = fread(text + n, 1, cap - n - 1, f)) > 0;) {
        n += got;
        if (cap - n < 4096)
            text = realloc(text, cap *= 2);
    }
    assert_non_null(text);
    text[n] = 0;
    pclose(f);
    return text;
}

bool fixture_has(const char *program)
{
    return fixture_try("command -v %s", program);
}

struct as_object *fixture_open(const char *path, struct as_debug *debug)
{
    struct as_object *object = NULL;
    struct as_error err = {0};
    size_t damaged = 0;
    if (as_object_open(path, NULL, &object, &err) < 0 ||
        as_object_debug(object, AS_DEBUG_ALL, 2, debug, &damaged, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(damaged, 0);
    return object;
}

const char *fixture_libc(void)
{
    static const char path[] = "/lib/x86_64-linux-gnu/libc.so.6";
    struct as_object *object = NULL;
    if (access(path, R_OK) != 0 || as_object_open(path, NULL, &object, NULL) < 0)
        return NULL;
    bool found = as_object_info(object)->debug == AS_DEBUG_SEPARATE;
    as_object_close(&object);
    return found ? path : NULL;
}

size_t fixture_count(const struct as_debug *debug, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < debug->inline_n; i++)
        n += strcmp(debug->inlines[i].name, name) == 0;
    return n;
}
