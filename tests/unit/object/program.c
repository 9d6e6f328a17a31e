/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles test programs and reads them with the binutils. The program has the cases of ELF:
 * imported functions, an alias, a constructor and a destructor. It also has static and global
 * functions, data and thread-local data. Another file tests exception tables like those of C++.
 */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[64];

static const char source[] =
    "#include <math.h>\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "static int counter;\n"
    "int exported_data = 7;\n"
    "__thread int per_thread = 3;\n"
    "__attribute__((constructor)) static void begin(void) { counter++; }\n"
    "__attribute__((destructor)) static void finish(void) { counter--; }\n"
    "__attribute__((noinline, cold)) void rare(void) { puts(\"rare\"); abort(); }\n"
    "__attribute__((noinline)) int work(int n)\n"
    "{\n"
    "    double *p = malloc((size_t)n * sizeof *p);\n"
    "    for (int i = 0; i < n; i++)\n"
    "        p[i] = sin(i);\n"
    "    int r = (int)p[n / 2];\n"
    "    free(p);\n"
    "    if (r > 1)\n"
    "        rare();\n"
    "    return r;\n"
    "}\n"
    "int alias_long(int x) { return work(x) + 1; }\n"
    "extern int alias_b(int) __attribute__((alias(\"alias_long\")));\n"
    "int main(int c, char **v)\n"
    "{\n"
    "    atexit(finish);\n"
    "    printf(\"%d %s %d\\n\", work(c + 10), strerror(c), per_thread);\n"
    "    puts(v[0]);\n"
    "    return alias_b(counter) == 3;\n"
    "}\n";

int program_setup(void **state)
{
    (void)state;
    strcpy(directory, "object-test-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    program_write("p.c", source, sizeof source - 1);
    return 0;
}

int program_teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

const char *program_path(const char *name)
{
    static char paths[8][256];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static FILE *start(const char *format, va_list args)
{
    char command[2048];
    int n = snprintf(command, sizeof command, "cd '%s' && ", directory);
    vsnprintf(command + n, sizeof command - (size_t)n, format, args);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    return f;
}

static char *read_all(FILE *f, size_t *n)
{
    size_t cap = 1 << 16;
    char *text = malloc(cap);
    *n = 0;
    for (size_t got; text && (got = fread(text + *n, 1, cap - *n - 1, f)) > 0;) {
        *n += got;
        if (*n + 1 == cap)
            text = realloc(text, cap *= 2);
    }
    assert_non_null(text);
    text[*n] = '\0';
    return text;
}

void program_run(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    FILE *f = start(format, args);
    va_end(args);
    size_t n;
    free(read_all(f, &n));
    if (pclose(f) != 0)
        fail_msg("command failed: %s", format);
}

const char *program_build(const char *name, const char *flags)
{
    program_run(TEST_CC " -o '%s' p.c %s -lm 2>&1", name, flags);
    return program_path(name);
}

void program_write(const char *name, const void *bytes, size_t n)
{
    FILE *f = fopen(program_path(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

uint8_t *program_read(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *bytes = read_all(f, n);
    fclose(f);
    return (uint8_t *)bytes;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void program_sort_lines(char *text)
{
    size_t n = 0, used = 0;
    for (char *p = text; *p; p++)
        n += *p == '\n';
    char **line = calloc(n + 1, sizeof *line);
    char *copy = strdup(text);
    assert_non_null(line);
    assert_non_null(copy);
    n = 0;
    for (char *p = strtok(copy, "\n"); p; p = strtok(NULL, "\n"))
        line[n++] = p;
    qsort(line, n, sizeof *line, compare_lines);
    for (size_t i = 0; i < n; i++) {
        size_t line_n = strlen(line[i]);
        memcpy(text + used, line[i], line_n);
        text[used + line_n] = '\n';
        used += line_n + 1;
    }
    text[used] = '\0';
    free(line);
    free(copy);
}

char *program_lines(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    FILE *f = start(format, args);
    va_end(args);
    size_t n;
    char *text = read_all(f, &n);
    pclose(f); /* grep without a match is an answer too */
    program_sort_lines(text);
    return text;
}
