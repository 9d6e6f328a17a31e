/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiler options of a loop, from the record of its unit, and options that matter to it: harmful
 * ones and missing ones. An option that is set is never recommended.
 */
#include <stdio.h>
#include <string.h>

#include "cqa.h"

static const struct as_unit *unit_of(const struct as_quality_view *view, uint32_t body)
{
    const struct as_program *program = view->chosen.program;
    const uint32_t number = program->body[body].function;
    const struct as_function *function;
    size_t n;

    if (number == AS_NONE ||
        as_object_functions(view->chosen.object, true, &function, &n, NULL) < 0 || number >= n ||
        function[number].unit >= program->debug.unit_n)
        return NULL;
    return &program->debug.unit[function[number].unit];
}

static struct as_unit_options options_of(const struct as_unit *unit)
{
    struct as_unit_options out = {0};

    if (unit)
        as_unit_options(as_compiler_word(unit), unit->flags, &out);
    return out;
}

static bool is_missing(const struct as_unit_options *it, const char *name)
{
    const size_t at = as_compiler_option_find(name);

    return at < as_compiler_option_count() && it->missing >> at & 1;
}

static const char *title_of(const struct as_unit *unit, const char *name)
{
    static const struct {
        const char *name, *words;
    } of_intel[] = {{"architecture", "-xHost"},
                    {"reordering", "-fp-model fast=2"},
                    {"wide_vectors", "-qopt-zmm-usage=high"}};
    const char *compiler = unit ? as_compiler_word(unit) : NULL;

    for (size_t i = 0; compiler && i < sizeof of_intel / sizeof *of_intel; i++)
        if (strcmp(compiler, "intel") == 0 && strcmp(of_intel[i].name, name) == 0)
            return of_intel[i].words;
    return as_compiler_option_get(as_compiler_option_find(name))->title;
}

void as_cqa_order_words(const struct as_quality_view *view, const struct as_cqa *cqa,
                        struct as_str *out)
{
    const struct as_unit *unit = unit_of(view, cqa->body);
    const struct as_unit_options it = options_of(unit);

    as_str_appendz(out, "a reduction (such as a sum): the compiler must be allowed to reorder it");
    if (it.known && !is_missing(&it, "reordering"))
        as_str_appendz(out, "; the options allow it, so there is another obstacle");
    else
        as_str_appendf(out, " (%s, omp simd reduction)", title_of(unit, "reordering"));
}

/* ---- The section --------------------------------------------------------------------------- */

static void write_option(struct as_quality_view *view, const char *first, const char *second)
{
    struct as_str text = {0};

    as_str_appendf(&text, "%s: %s", first, second);
    as_cqa_wrapped(view, "  - ", 4, &text);
    as_str_fini(&text);
}

static bool bears_on(const struct as_cqa_path *mean, const char *name)
{
    const double width = as_cqa_value(mean, "vec_eff_all_pct");

    if (strcmp(name, "reordering") == 0)
        return mean->obstacles & AS_CQA_OBSTACLE_REDUCTION;
    if (strcmp(name, "wide_vectors") == 0)
        return width > 49 && width < 51 && as_cqa_value(mean, "reg_ymm_n") > 0;
    return width < 99.5;
}

void as_cqa_options_report(struct as_quality_view *view, const struct as_cqa *cqa)
{
    static const char *const useful[] = {"level", "highest_level", "architecture", "reordering",
                                         "wide_vectors"};
    const struct as_unit *unit = unit_of(view, cqa->body);
    const struct as_unit_options it = options_of(unit);
    const char *compiler = unit ? as_compiler_word(unit) : NULL;
    unsigned left = 0;

    if (!it.known)
        return;
    as_cli_print(view->cli, "\n  ");
    as_cli_styled(view->cli, AS_STYLE_BOLD, "compiled with");
    as_cli_print(view->cli, "\n  - by %s%s%s", compiler ? compiler : "an unknown compiler",
                 unit->compiler_version ? " " : "",
                 unit->compiler_version ? unit->compiler_version : "");
    for (size_t i = 0; i < sizeof useful / sizeof *useful; i++)
        if (is_missing(&it, useful[i]) && bears_on(&cqa->mean, useful[i]))
            left |= 1u << i;
    left &= left & 1 ? ~2u : ~0u; /* the level at all comes before the highest */
    as_cli_print(view->cli, "%s\n", left || it.harmful ? "" : "; no option that affects this");
    for (size_t i = 0; i < as_compiler_option_count(); i++)
        if (it.harmful >> i & 1)
            write_option(view, as_compiler_option_get(i)->title,
                         as_compiler_option_get(i)->meaning);
    for (size_t i = 0; i < sizeof useful / sizeof *useful; i++)
        if (left >> i & 1)
            write_option(view, title_of(unit, useful[i]),
                         as_compiler_option_get(as_compiler_option_find(useful[i]))->meaning);
}
