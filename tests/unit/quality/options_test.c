/* SPDX-License-Identifier: Apache-2.0 */
/* Options of units: by words, and by what a real compiler records of the words it was given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "built.h"
#include "quality/options.h"
#include "quality/quality.h"

static struct as_unit_options of(const char *flags)
{
    struct as_unit_options out;

    as_unit_options("gcc", flags, &out);
    return out;
}

static bool has(uint64_t set, const char *name)
{
    const size_t i = as_compiler_option_find(name);

    assert_true(i < as_compiler_option_count());
    return set >> i & 1;
}

static void test_words(void **state)
{
    struct as_unit_options it = of("-mfpmath=387 -pg -O2 -march=x86-64 -g");

    (void)state;
    assert_true(as_compiler_option_count() <= 64);
    assert_true(it.known && has(it.harmful, "x87") && has(it.harmful, "profiling"));
    assert_false(has(it.harmful, "no_optimisation"));
    assert_true(it.cost == 70);
    assert_true(has(it.missing, "architecture") && has(it.missing, "reordering"));
    assert_false(has(it.missing, "level") || has(it.missing, "debug_lines"));
    assert_false(has(of("-mfpmath=387 -mfpmath=sse -O2").harmful, "x87")); /* the last one holds */
    assert_true(has(of("-O2 -fsanitize=address,undefined").harmful, "sanitizer"));
    assert_false(has(of("-O2 -fsanitize=address -fno-sanitize=all").harmful, "sanitizer"));
    assert_true(has(of("-g").harmful, "no_optimisation")); /* nothing said is -O0 */
    assert_true(has(of("-O3 -O0").harmful, "no_optimisation"));
    assert_false(has(of("-O0 -O3").harmful, "no_optimisation"));
    it = of("-Ofast");
    assert_false(has(it.missing, "reordering") || has(it.missing, "math_errno"));
    assert_true(has(of("-Ofast -fno-fast-math").missing, "reordering"));
    assert_false(of("").known || of(NULL).known);
    assert_int_equal(of(NULL).missing, 0);
}

static void test_architecture(void **state)
{
    static const struct {
        const char *flags, *name;
        bool specific, missing;
    } want[] = {
        {"-O2 -march=skylake-avx512", "skylake-avx512", true, false},
        {"-O2 -march=znver3 -mno-xop", "znver3", true, false},
        {"-O2 -march=native", "native", true, false},
        {"-O2 -march=x86-64-v3", "x86-64-v3", false, false},
        {"-O2 -march=x86-64", "x86-64", false, true},
        {"-O2 -march=haswell -march=x86-64", "x86-64", false, true},
        {"-O2", "", false, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct as_unit_options it = of(want[i].flags);

        assert_string_equal(it.architecture, want[i].name);
        assert_int_equal(it.specific, want[i].specific);
        assert_int_equal(has(it.missing, "architecture"), want[i].missing);
    }
}

static void test_score(void **state)
{
    struct as_options_score score;

    (void)state;
    as_score_options("gcc", "12.2.0", "-O3 -march=skylake-avx512 -fsanitize=address", &score);
    assert_true(score.score > 0.499 && score.score < 0.501);
    as_score_options("gcc", "12.2.0", "-O2 -pg -fsanitize=address -mfpmath=387", &score);
    assert_true(score.score == 0);
}

/* The flags that the unit of a file built with `flags` records. */
static void recorded(const char *flags, struct as_unit_options *out)
{
    struct built b = built_new(TEST_CC, flags, "c", "int f(int a) { return a + 1; }\n");
    const struct as_debug *debug = &b.program->debug;

    assert_true(debug->unit_n >= 1);
    as_unit_options("gcc", debug->unit[0].flags, out);
    built_free(&b);
}

/* What GCC does not write down of itself: what the preprocessor and the linker do, and -p. */
static bool is_silent(const char *word)
{
    return strncmp(word, "-D", 2) == 0 || strcmp(word, "-p") == 0 || strncmp(word, "-flto", 5) == 0;
}

static bool compiles(const char *word)
{
    char command[512];

    snprintf(command, sizeof command,
             "echo 'int f(int a) { return a; }' | "
             "%s -O2 %s -fPIC -shared -nostdlib -o /dev/null -x c - 2>/dev/null",
             TEST_CC, word);
    return system(command) == 0;
}

static void check_word(size_t option, const char *word)
{
    struct as_unit_options it;
    char flags[256];

    snprintf(flags, sizeof flags, "-g -w -O2 %s", word);
    recorded(flags, &it);
    if (!(it.given >> option & 1))
        fail_msg("%s: %s is not seen", as_compiler_option_get(option)->name, word);
}

/* Every word of the table that this compiler takes is seen in what it records. */
static void test_recorded(void **state)
{
    unsigned seen = 0;

    (void)state;
#ifdef __clang__
    skip(); /* Clang records nothing unless it is asked to */
#endif
    for (size_t i = 0; i < as_compiler_option_count(); i++) {
        char words[512], *save = NULL;

        snprintf(words, sizeof words, "%s", as_compiler_option_get(i)->words);
        for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
            if (strchr(w, '*') || is_silent(w) || !compiles(w))
                continue;
            check_word(i, w);
            seen++;
        }
    }
    assert_true(seen >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_architecture),
        cmocka_unit_test(test_score),
        cmocka_unit_test(test_recorded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
