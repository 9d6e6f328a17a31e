/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: effects_test ALLOW-LIST [MNEMONIC]
 * Executes an instance or three of every form the decoder knows, on this CPU, and compares what
 * happened with what isa/ claims. TAP, one test point per class. ASSAY_SEED varies registers and
 * states; with a mnemonic pattern, only that is tried and each over-claim is shown.
 *
 * An effect without a claim fails the test. A claim without an effect is counted: a rare operand
 * can hide an effect from any number of random states.
 *
 * Instructions this CPU lacks are counted, never failed: the same test passes on every x86-64.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

enum { SHOWN_PER_CLASS = 12, ALLOW_MAX = 256 };

/* Why an instruction is not executed; the first rule that applies counts. */
struct rule {
    const char *why;
    bool (*applies)(const struct as_form *form);
    unsigned n;
};

static bool is_system(const struct as_form *form)
{
    return form->insn_class == AS_CLASS_SYSTEM || form->traits & AS_TRAIT_PRIVILEGED;
}

static bool enters_kernel(const struct as_form *form)
{
    return form->insn_class == AS_CLASS_SYSCALL || form->insn_class == AS_CLASS_TRAP;
}

static bool leaves(const struct as_form *form)
{
    const bool transfers = form->insn_class == AS_CLASS_CALL || form->insn_class == AS_CLASS_JUMP;
    return form->insn_class == AS_CLASS_RETURN || (transfers && form->traits & AS_TRAIT_INDIRECT);
}

static bool is_tile(const struct as_form *form)
{
    return form->insn_class == AS_CLASS_TILE || form->isa == AS_ISA_AMX;
}

/* The images hold addresses of earlier instructions and bits of the system's choice. */
static bool is_state_area(const struct as_form *form)
{
    static const char *const names[] = {"xsave*",   "xrstor*", "fxsave*", "fxrstor*", "fldenv",
                                        "fn*stenv", "fstenv",  "frstor",  "fn*save",  "fsave"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!fnmatch(names[i], form->mnemonic, 0))
            return true;
    return false;
}

static bool loads_segment(const struct as_form *form)
{
    for (unsigned i = 0; i < 6; i++)
        if (as_regset_has(form->implicit_write, AS_REG_SEG + i))
            return true;
    return !strncmp(form->mnemonic, "wrfs", 4) || !strncmp(form->mnemonic, "wrgs", 4);
}

static bool is_transaction(const struct as_form *form)
{
    return !strcmp(form->mnemonic, "xbegin") || !strcmp(form->mnemonic, "xabort") ||
           !strcmp(form->mnemonic, "xend");
}

static bool waits(const struct as_form *form)
{
    return !strcmp(form->mnemonic, "umwait") || !strcmp(form->mnemonic, "tpause") ||
           !strcmp(form->mnemonic, "umonitor");
}

/* The memory it writes is named by a register operand, which no memory operand stands for. */
static bool is_pointer_operand(const struct as_form *form)
{
    return !strcmp(form->mnemonic, "movdir64b") || !strncmp(form->mnemonic, "enqcmd", 6);
}

/* AVX-512F without BW: masks and upper registers cannot be set in one way on all such CPUs. */
static bool is_out_of_view(const struct as_form *form)
{
    return hx_vector_level() < HX_LEVEL_AVX512 &&
           (form->traits & AS_TRAIT_EVEX || form->insn_class == AS_CLASS_MASK);
}

static struct rule rules[] = {
    {"system or privileged", is_system, 0},
    {"enters the kernel or traps", enters_kernel, 0},
    {"return or indirect transfer: no exit to come back through", leaves, 0},
    {"tile: needs the kernel's permission and state not in view", is_tile, 0},
    {"state image: holds addresses and bits of the system's choice", is_state_area, 0},
    {"loads a segment", loads_segment, 0},
    {"transaction", is_transaction, 0},
    {"waits", waits, 0},
    {"EVEX or masks without AVX-512BW", is_out_of_view, 0},
    {"writes through a register operand", is_pointer_operand, 0},
};

enum { RULES = sizeof rules / sizeof *rules };

struct allowed {
    char mnemonic[32], what[64];
    bool used;
};

struct totals {
    struct allowed allow[ALLOW_MAX];
    unsigned allow_n;
    unsigned verdict[HX_VERDICTS];
    unsigned checked[AS_CLASS_COUNT], failed[AS_CLASS_COUNT], over_allowed, over;
    bool verbose;
};

/* Lines "mnemonic-pattern <tab> finding-pattern <tab> reason"; false when it cannot be read. */
static bool read_allow_list(const char *path, struct totals *t)
{
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    char line[512];
    while (fgets(line, sizeof line, f) && t->allow_n < ALLOW_MAX) {
        struct allowed *a = &t->allow[t->allow_n];
        char reason[256];
        if (line[0] == '#' || line[0] == '\n')
            continue;
        if (sscanf(line, "%31[^\t]\t%63[^\t]\t%255[^\n]", a->mnemonic, a->what, reason) != 3) {
            fclose(f);
            return false;
        }
        t->allow_n++;
    }
    fclose(f);
    return true;
}

static bool is_allowed(struct totals *t, const char *mnemonic, const char *what)
{
    for (unsigned i = 0; i < t->allow_n; i++)
        if (!fnmatch(t->allow[i].mnemonic, mnemonic, 0) && !fnmatch(t->allow[i].what, what, 0))
            return t->allow[i].used = true;
    return false;
}

static void show(const struct hx_case *c, const char *kind, const char *what)
{
    char text[128];
    as_insn_format(c->bytes, c->insn.length, c->insn.address, AS_SYNTAX_INTEL, text, sizeof text);
    printf("# %s%s: %s [", kind, text, what);
    for (unsigned i = 0; i < c->insn.length; i++)
        printf("%s%02x", i ? " " : "", c->bytes[i]);
    printf("]\n");
}

static void found(void *context, const struct hx_case *c, enum hx_severity severity,
                  const char *what)
{
    struct totals *t = context;
    const struct as_form *form = as_form_get(c->insn.form);
    if (severity == HX_OVER) {
        if (is_allowed(t, form->mnemonic, what)) {
            t->over_allowed++;
            return;
        }
        t->over++;
        if (t->verbose)
            show(c, "over-claim: ", what);
        return;
    }
    if (t->failed[form->insn_class]++ < SHOWN_PER_CLASS || t->verbose)
        show(c, "", what);
}

static void check_one(struct totals *t, const struct hx_case *c, uint64_t seed)
{
    const struct as_form *form = as_form_get(c->insn.form);
    for (unsigned i = 0; i < RULES; i++)
        if (rules[i].applies(form)) {
            rules[i].n++;
            return;
        }
    const enum hx_verdict verdict = hx_check(c, seed, found, t);
    t->verdict[verdict]++;
    t->checked[form->insn_class] += verdict == HX_CHECKED || verdict == HX_CHECKED_WRITES;
    if (verdict == HX_FAULTS && c->draw != HX_DRAW_ANY)
        show(c, "", "faults in every state, not checked");
}

static unsigned summary(const struct totals *t, const struct hx_corpus *corpus)
{
    unsigned point = 0, bad = 0;
    for (unsigned i = 0; i < AS_CLASS_COUNT; i++) {
        if (!t->checked[i])
            continue;
        bad += t->failed[i] > 0;
        printf("%sok %u - %s: %u instances", t->failed[i] ? "not " : "", ++point, as_class_name(i),
               t->checked[i]);
        printf(t->failed[i] ? ", %u findings\n" : "\n", t->failed[i]);
    }
    printf("1..%u\n", point);
    printf("# %zu forms, %zu instances of %zu patterns; %u checked, %u in writes only, "
           "%u not on this CPU, %u fault\n",
           as_form_count(), corpus->n, corpus->tried, t->verdict[HX_CHECKED],
           t->verdict[HX_CHECKED_WRITES], t->verdict[HX_NOT_HERE], t->verdict[HX_FAULTS]);
    for (unsigned i = 0; i < RULES; i++)
        printf("# not run: %u %s\n", rules[i].n, rules[i].why);
    printf("# not run: %zu byte patterns forbidden\n", corpus->forbidden);
    printf("# over-claims: %u, and %u allowed\n", t->over, t->over_allowed);
    return bad;
}

int main(int argc, char **argv)
{
    static struct totals totals;
    const char *reason;
    const char *seed_text = getenv("ASSAY_SEED");
    const uint64_t seed = seed_text ? strtoull(seed_text, NULL, 0) : 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!hx_init(&reason)) {
        printf("1..0 # SKIP %s\n", reason);
        return 0;
    }
    if (argc < 2 || !read_allow_list(argv[1], &totals)) {
        fprintf(stderr, "effects_test: cannot read the allow-list\n");
        return 2;
    }
    struct hx_corpus corpus = {0};
    const uint64_t absolute = (uintptr_t)hx_memory() + 1536;
    if (hx_corpus_build(seed, absolute, &corpus) < 0) {
        fprintf(stderr, "effects_test: cannot build the corpus\n");
        return 1;
    }
    totals.verbose = argc > 2;
    for (size_t i = 0; i < corpus.n; i++) {
        const struct as_form *form = as_form_get(corpus.at[i].insn.form);
        if (argc < 3 || !fnmatch(argv[2], form->mnemonic, 0))
            check_one(&totals, &corpus.at[i], seed * 1000003 + i);
    }
    const unsigned bad = summary(&totals, &corpus);
    free(corpus.at);
    return bad > 0;
}
