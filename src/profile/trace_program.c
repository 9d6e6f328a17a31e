/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/trace_program.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/untrusted_open.h"
#include "object/executable.h"
#include "trace/filter.h"

/* ---- The program ---------------------------------------------------------------------------- */

static bool is_of_system(const char *path)
{
    return strncmp(path, "/usr/bin/", 9) == 0 || strncmp(path, "/bin/", 5) == 0;
}

static bool is_program(const char *word, char *path)
{
    struct as_executable executable;
    const int fd = strchr(word, '/') ? as_foreign_open(AT_FDCWD, word, 0, NULL) : -1;
    const bool is = fd >= 0 && as_executable_read(word, fd, &executable, NULL) == 0 &&
                    executable.type != ET_REL && realpath(word, path) && !is_of_system(path);
    if (fd >= 0)
        close(fd);
    return is;
}

void as_trace_program(const struct as_launch_plan *plan, char *path)
{
    const bool is_own = plan->kind == AS_LAUNCH_PROGRAM && !is_of_system(plan->real_path);
    for (size_t i = 1; !is_own && plan->argv[i]; i++)
        if (is_program(plan->argv[i], path))
            return;
    snprintf(path, PATH_MAX, "%s", plan->real_path);
}

/* ---- Readable names ------------------------------------------------------------------------- */

int as_trace_readable_rules(const struct as_object *object, struct as_str *rules,
                            struct as_error *err)
{
    const struct as_symbol *symbol;
    const size_t symbols_n = as_object_symbols(object, &symbol);
    const size_t rules_b = rules->n; /* size of the user's rules */
    struct as_trace_filter more = {0};
    char readable[4096];
    for (size_t i = 0; i < symbols_n; i++) {
        if (symbol[i].kind != AS_SYMBOL_FUNCTION || !symbol[i].name || symbol[i].name[0] != '_' ||
            as_demangle(symbol[i].name, readable, sizeof readable) <= 0)
            continue;
        const enum as_filter_verdict verdict =
            as_filter_verdict_of(as_str_z(rules), rules_b, readable);
        if (verdict != as_filter_verdict_of(as_str_z(rules), rules_b, symbol[i].name))
            as_trace_filter_add(&more, verdict, symbol[i].name);
    }
    as_str_append(rules, as_str_z(&more.rules), more.rules.n);
    const bool failed = rules->failed || more.rules.failed;
    as_trace_filter_fini(&more);
    return failed ? as_error_nomem(err, "a filter") : 0;
}
