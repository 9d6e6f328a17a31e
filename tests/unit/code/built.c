/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building and analysing test programs.
 */
#include "built.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

bool built_open(const char *path, struct built *out)
{
    struct as_error err = {0};
    struct as_program_options options = {
        .jobs = 2, .path_limit = AS_PATH_LIMIT, .with_source = true};
    *out = (struct built){0};
    if (as_object_open(path, NULL, &out->object, &err) < 0)
        return false;
    if (as_program_new(out->object, &options, &out->program, &err) < 0)
        fail_msg("%s: %s", path, err.text);
    return true;
}

struct built built_new(const char *compiler, const char *flags, const char *suffix,
                       const char *text)
{
    return built_new_kept(compiler, flags, suffix, text, NULL);
}

struct built built_new_kept(const char *compiler, const char *flags, const char *suffix,
                            const char *text, const char *keep)
{
    char directory[] = "code-test-XXXXXX", path[64], command[512];
    struct built built = {0};
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/p.%s", directory, suffix);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    snprintf(command, sizeof command, "%s %s -fPIC -shared -nostdlib -o %s/p.so %s", compiler,
             flags, directory, path);
    int rc = system(command);
    snprintf(path, sizeof path, "%s/p.so", directory);
    bool opened = rc == 0 && built_open(path, &built);
    if (opened && keep)
        opened = rename(path, keep) == 0;
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    if (system(command) != 0 || !opened)
        fail_msg("%s %s: no object", compiler, flags);
    return built;
}

void built_free(struct built *built)
{
    as_program_free(&built->program);
    as_object_close(&built->object);
}

bool built_has(const char *compiler)
{
    char command[128];
    snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", compiler);
    return system(command) == 0;
}

static const struct as_body *body_of(const struct built *built, const char *function)
{
    for (size_t i = 0; i < built->program->body_n; i++) {
        if (!strcmp(built->program->body[i].name, function))
            return &built->program->body[i];
    }
    fail_msg("no function %s", function);
    return NULL;
}

uint32_t built_loop(const struct built *built, const char *function, unsigned n)
{
    const struct as_body *body = body_of(built, function);
    if (n >= body->loops)
        fail_msg("%s has %u loops only", function, body->loops);
    return body->first_loop + n;
}

uint32_t built_hot(const struct built *built, const char *function)
{
    const struct as_body *body = body_of(built, function);
    const struct as_loop *loop = built->program->loop;
    uint32_t best = AS_NONE;
    for (uint32_t i = body->first_loop; i < body->first_loop + body->loops; i++) {
        bool inner = loop[i].level == AS_LEVEL_INNERMOST || loop[i].level == AS_LEVEL_SINGLE;
        if (inner && (best == AS_NONE || loop[i].insns > loop[best].insns))
            best = i;
    }
    if (best == AS_NONE)
        fail_msg("%s has no loop", function);
    return best;
}

const char *built_mnemonic(const struct built *built, uint32_t insn)
{
    return as_form_get(built->program->code.insn[insn].form)->mnemonic;
}
