/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the code of innermost loops a table of a core (data/uarch/) has lines for:
 * uarch-coverage CORE FILE... writes a line a kind of match and file, then a line a form without a
 * line of its own: kind, instructions, key, an encoding. Jumps have no lines and do not count.
 * Shares are of what the core of the table can execute; 'foreign' is FMA4 and XOP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/vec.h"
#include "code/code.h"
#include "machine/uarch.h"

struct form_count {
    char *key;
    uint64_t n;
    enum as_timing_match match;
    uint8_t length, bytes[15];
};

struct coverage {
    const struct as_uarch *uarch;
    uint64_t foreign; /* instructions that only another core has */
    AS_VEC(struct form_count) form;
    struct as_index by_key;
    uint64_t matched[AS_TIMING_NONE + 1];
};

static const char *const kind_word[] = {"exact", "alike", "width", "register", "none"};

static uint64_t text_hash(const char *text)
{
    uint64_t hash = 1;
    while (*text)
        hash = as_hash_mix(hash, (uint8_t)*text++);
    return hash;
}

static struct form_count *form_of(struct coverage *c, const struct as_insn *insn)
{
    char key[AS_UARCH_KEY_B];
    uint32_t row;
    as_uarch_key(insn, key, sizeof key);
    const uint64_t hash = text_hash(key);
    for (struct as_probe probe = as_index_probe(&c->by_key, hash);
         (row = as_index_next(&c->by_key, &probe)) != AS_INDEX_NONE;)
        if (strcmp(c->form.at[row].key, key) == 0)
            return &c->form.at[row];
    struct form_count made = {.key = strdup(key)};
    as_uarch_timing(c->uarch, insn, &made.match);
    if (!made.key || as_vec_push(&c->form, made) < 0 ||
        as_index_add(&c->by_key, hash, (uint32_t)c->form.n - 1) < 0)
        exit(1);
    return &c->form.at[c->form.n - 1];
}

static bool has_no_line(const struct as_insn *insn)
{
    switch (as_form_get(insn->form)->insn_class) {
    case AS_CLASS_JUMP:
    case AS_CLASS_BRANCH:
    case AS_CLASS_CALL:
    case AS_CLASS_RETURN:
        return true;
    default:
        return false;
    }
}

/* FMA4 and XOP: of AMD's family 21 alone, and never a line that is wanted of another core. */
static bool is_of_bulldozer(const struct as_insn *insn, const uint8_t *bytes)
{
    const struct as_form *form = as_form_get(insn->form);
    const bool fma4 = form->isa == AS_ISA_OTHER && form->operands == 4 &&
                      (!strncmp(form->mnemonic, "vfm", 3) || !strncmp(form->mnemonic, "vfnm", 4));
    return fma4 || (bytes && bytes[0] == 0x8f && form->traits & AS_TRAIT_VEX);
}

static bool is_bulldozer(const struct as_uarch *uarch)
{
    for (size_t i = 0; i < uarch->match_n; i++)
        if (uarch->match[i].family == 21)
            return true;
    return false;
}

static void count_block(struct coverage *c, const struct as_program *program,
                        const struct as_block *block)
{
    for (uint32_t i = 0; i < block->insns; i++) {
        const struct as_insn *insn = &program->code.insn[block->first_insn + i];
        if (has_no_line(insn))
            continue;
        uint64_t size_b = insn->length;
        const uint8_t *bytes = as_object_bytes(program->object, insn->address, &size_b);
        if (is_of_bulldozer(insn, bytes) && !is_bulldozer(c->uarch)) {
            c->foreign++;
            continue;
        }
        struct form_count *form = form_of(c, insn);
        if (!form->n++ && bytes) {
            form->length = insn->length;
            memcpy(form->bytes, bytes, insn->length);
        }
        c->matched[form->match]++;
    }
}

static int count_file(struct coverage *c, const char *path, struct as_error *err)
{
    const struct as_program_options options = {.jobs = 1, .path_limit = 1};
    struct as_object *object;
    struct as_program *program;
    int rc = as_object_open(path, NULL, &object, err);
    if (rc < 0)
        return rc;
    rc = as_program_new(object, &options, &program, err);
    for (size_t l = 0; rc == 0 && l < program->loop_n; l++) {
        const struct as_loop *loop = &program->loop[l];
        if (loop->level != AS_LEVEL_INNERMOST && loop->level != AS_LEVEL_SINGLE)
            continue;
        for (uint32_t i = 0; i < loop->blocks; i++)
            count_block(c, program, &program->block[program->loop_block[loop->first_block + i]]);
    }
    if (rc == 0)
        as_program_free(&program);
    as_object_close(&object);
    return rc;
}

static void print_shares(struct coverage *c, const char *path)
{
    uint64_t whole = 0;
    for (unsigned m = 0; m <= AS_TIMING_NONE; m++)
        whole += c->matched[m];
    for (unsigned m = 0; m <= AS_TIMING_NONE; m++)
        printf("%s\t%s\t%llu\t%.3f %%\n", path, kind_word[m], (unsigned long long)c->matched[m],
               100 * (double)c->matched[m] / (double)(whole ? whole : 1));
    printf("%s\tforeign\t%llu\t%.3f %% of all\n", path, (unsigned long long)c->foreign,
           100 * (double)c->foreign / (double)(whole + c->foreign ? whole + c->foreign : 1));
    memset(c->matched, 0, sizeof c->matched);
    c->foreign = 0;
}

static int by_count(const void *a, const void *b)
{
    const struct form_count *x = a, *y = b;
    return x->n < y->n ? 1 : x->n > y->n ? -1 : strcmp(x->key, y->key);
}

int main(int argc, char **argv)
{
    struct coverage c = {0};
    struct as_uarch *uarch;
    struct as_error err;
    if (argc < 3 || as_uarch_open(argv[1], &uarch, &err) < 0)
        return fprintf(stderr, "uarch-coverage: %s\n", argc < 3 ? "CORE FILE..." : err.text), 2;
    c.uarch = uarch;
    for (int i = 2; i < argc; i++) {
        if (count_file(&c, argv[i], &err) < 0)
            return fprintf(stderr, "uarch-coverage: %s\n", err.text), 1;
        print_shares(&c, argv[i]);
    }
    qsort(c.form.at, c.form.n, sizeof *c.form.at, by_count);
    as_vec_foreach (&c.form, form) {
        if (form->match == AS_TIMING_EXACT && !getenv("ALL_FORMS"))
            continue;
        printf("%s\t%llu\t%s\t", kind_word[form->match], (unsigned long long)form->n, form->key);
        for (unsigned i = 0; i < form->length; i++)
            printf("%02x", form->bytes[i]);
        printf("\n");
    }
    return 0;
}
