/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One loop in assembly, built and analysed on a core: what the tests of code quality analysis
 * share.
 */
#ifndef TEST_QUALITY_ANALYSED_H
#define TEST_QUALITY_ANALYSED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <math.h>

#include "built.h"
#include "quality/quality.h"

struct fixture {
    struct as_uarch *uarch;
    struct as_cqa_engine *engine;
    struct built built;
    struct as_cqa out;
};

/* Analyses the loop of `f` in `text` on the core of the fixture, which is open. */
static inline void analyse_text(struct fixture *f, const char *text,
                                const struct as_cqa_options *options)
{
    struct as_error err;

    f->built = built_new(TEST_CC, "", "S", text);
    assert_int_equal(as_cqa_engine_new(f->uarch, &f->engine, &err), 0);
    assert_int_equal(as_cqa_loop(f->engine, f->built.program, built_loop(&f->built, "f", 0),
                                 options, &f->out, &err),
                     0);
}

/* Analyses a loop in assembly: "1: ... jne 1b"; on the core of that name. */
static inline struct fixture analyse_on(const char *name, const char *loop,
                                        const struct as_cqa_options *options)
{
    struct fixture f = {0};
    struct as_error err;
    char text[2048];

    snprintf(text, sizeof text,
             ".intel_syntax noprefix\n.globl f\n.type f,@function\nf:\n1: %s\nret\n", loop);
    assert_int_equal(as_uarch_open(name, &f.uarch, &err), 0);
    analyse_text(&f, text, options);
    return f;
}

static inline void done(struct fixture *f)
{
    as_cqa_engine_free(&f->engine);
    as_uarch_free(&f->uarch);
    built_free(&f->built);
}

static inline double metric(const struct as_cqa_path *path, const char *name)
{
    const int at = as_cqa_metric_find(name);

    if (at < 0)
        fail_msg("there is no metric %s", name);
    return path->value[at];
}

static inline void is(const struct as_cqa_path *path, const char *name, double expected)
{
    const double got = metric(path, name);

    /* The simulation of some hundred iterations is above a bound by its beginning and end. */
    if (!(fabs(got - expected) <= 0.004 * fabs(expected)) && !(isnan(got) && isnan(expected)))
        fail_msg("%s is %g, expected %g", name, got, expected);
}

#endif
