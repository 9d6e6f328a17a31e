/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code without a file. Kernel symbols come from /proc/kallsyms; kernel.kptr_restrict may
 * hide all addresses as zero. Names of generated code come from /tmp/perf-PID.map, which a
 * just-in-time compiler writes. Its lines are "START SIZE name" in hexadecimal
 * (tools/perf/Documentation/jit-interface.txt of the kernel). A later line describes later code: of
 * lines with the same start, the last one counts.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/untrusted_open.h"
#include "catalogue/internal.h"

/* A name with its line number in the file: of equal starts the last line counts. */
struct named {
    struct as_catalogue_name name;
    size_t line;
};
struct name_list {
    AS_VEC(struct named) at;
};

static int compare_names(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    if (x->name.start != y->name.start)
        return x->name.start < y->name.start ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Sorts the names by start; cuts a range where the next one begins. Returns 0 or a negative
 * code. */
static int settle_names(struct as_catalogue_entry *entry, struct name_list *list)
{
    if (list->at.n)
        qsort(list->at.at, list->at.n, sizeof *list->at.at, compare_names);
    for (size_t i = 0; i < list->at.n; i++) {
        struct as_catalogue_name name = list->at.at[i].name;
        if (i + 1 < list->at.n && list->at.at[i + 1].name.start < name.end)
            name.end = list->at.at[i + 1].name.start;
        if (name.start < name.end)
            AS_TRY(as_vec_push(&entry->name, name));
    }
    return 0;
}

static int add_name(struct as_catalogue_entry *entry, struct name_list *list, uint64_t start,
                    uint64_t end, const char *text)
{
    const struct named named = {
        .name = {start, end, as_arena_strndup(&entry->arena, text, strlen(text))},
        .line = list->at.n};
    return named.name.name ? as_vec_push(&list->at, named) : AS_ERR_NOMEM;
}

static int read_generated(struct as_catalogue_entry *entry, FILE *f, struct name_list *list)
{
    char *line = NULL;
    size_t cap = 0;
    int rc = 0;
    while (rc == 0 && getline(&line, &cap, f) > 0) {
        char *end, *name;
        line[strcspn(line, "\n")] = 0;
        const uint64_t start = strtoull(line, &end, 16);
        const uint64_t size_b = *end == ' ' ? strtoull(end, &name, 16) : 0;
        if (size_b == 0 || *name != ' ' || !name[1] || start + size_b < start)
            continue;
        rc = add_name(entry, list, start, start + size_b, name + 1);
    }
    free(line); /* allocated by getline */
    return rc;
}

static int read_kernel(struct as_catalogue_entry *entry, FILE *f, struct name_list *list)
{
    char line[1024], *end;
    int rc = 0;
    while (rc == 0 && fgets(line, sizeof line, f)) {
        const uint64_t start = strtoull(line, &end, 16);
        if (start == 0 || end[0] != ' ' || !end[1] || !strchr("tTwW", end[1]) || end[2] != ' ')
            continue;
        end[3 + strcspn(end + 3, " \t\n")] = 0;
        rc = add_name(entry, list, start, UINT64_MAX,
                      end + 3); /* settle_names cuts the end to the next start */
    }
    return rc;
}

int as_entry_pythons(struct as_catalogue_entry *entry, struct as_error *err)
{
    struct name_list list = {0};
    int rc = 0;
    for (size_t i = 0; i < entry->request.python_n && rc == 0; i++) {
        const struct as_catalogue_python *from = &entry->request.python[i];
        rc = add_name(entry, &list, from->address, from->address + AS_PYTHON_LINES, from->name);
    }
    if (rc == 0)
        rc = settle_names(entry, &list);
    as_vec_fini(&list.at);
    entry->module.named = (uint32_t)entry->name.n;
    entry->python_file[0] = entry->module.path;
    entry->module.debug.file = entry->python_file;
    entry->module.debug.file_n = 1;
    return rc < 0 ? as_error_nomem(err, entry->module.path) : 0;
}

int as_entry_names(struct as_catalogue_entry *entry, struct as_error *err)
{
    char path[4096 + 64] = "/proc/kallsyms";
    const bool generated = entry->module.kind == AS_MODULE_ANON;
    struct name_list list = {0};
    if (generated && !entry->request.directory)
        return 0;
    if (generated)
        snprintf(path, sizeof path, "%.4096s/perf-%" PRIu32 ".map", entry->request.directory,
                 entry->request.pid);
    /* The path is in a directory of an experiment or in /proc. */
    const int fd = as_foreign_open(AT_FDCWD, path, AS_FOREIGN_NO_LINK, NULL);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
    if (!f) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    int rc = generated ? read_generated(entry, f, &list) : read_kernel(entry, f, &list);
    fclose(f);
    if (rc == 0)
        rc = settle_names(entry, &list);
    as_vec_fini(&list.at);
    entry->module.named = (uint32_t)entry->name.n;
    return rc < 0 ? as_error_nomem(err, path) : 0;
}
