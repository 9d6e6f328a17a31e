/* SPDX-License-Identifier: Apache-2.0 */
/* Which suffixes of symbols are made by compilers, and which dots belong to a name. */
#include "base/clone_suffix.h"
#include "unit.h"

static void test_bases(void **state)
{
    (void)state;
    static const struct {
        const char *base, *suffixes;
        bool is_part;
    } names[] = {
        {"work", ".part.0", true},
        {"work", ".isra.0.part.3", true},
        {"work", ".constprop.0.cold", true},
        {"work", ".cold.12", true},
        {"work", ".warm", true},
        {"work", ".__part.1", true},
        {"work", ".lto_priv.0", false},
        {"work", "._omp_fn.1", false},
        {"work", ".omp_outlined_debug__", false},
        {"work", ".llvm.8312345", false},
        {"work", ".specialized.2", false},
        {"work", ".arch_x86_64_v3.0", false},
        {"work", ".avx512f", false},
        {"work", ".resolver", false},
        {"inner.0", ".constprop.1", false},
        /* Dots of other languages and of people. */
        {"solver.step", "", false},
        {"main.main.func1", "", false},
        {"main.main.func1.2", "", false},
        {"main.(*Grid).sweep", "", false},
        {"camlStdlib__List.map_487", "", false},
        {"inner.0", "", false},
        {"work.part", "", false},
        {"work.colder", "", false},
        {"work.cold.x", "", false},
        {"main.coldStart", "", false},
        {"double K.hot(int)", "", false},
        {".cold", "", false},
        {"", "", false},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", names[i].base, names[i].suffixes);
        const struct as_view view = as_view_of(name);
        assert_int_equal(as_clone_base_n(view), strlen(names[i].base));
        assert_int_equal(as_clone_is_part(view), names[i].is_part);
    }
}

static void test_one_suffix(void **state)
{
    (void)state;
    assert_int_equal(as_clone_suffix_n(as_view_of(".isra.0.cold")), 7);
    assert_int_equal(as_clone_suffix_n(as_view_of(".cold.1.isra.0")), 7);
    assert_int_equal(as_clone_suffix_n(as_view_of(".step")), 0);
}

/* The body of a region is other code than the function around it. */
static void test_originals(void **state)
{
    (void)state;
    assert_int_equal(as_clone_original_n(as_view_of("f.isra.0.cold")), 1);
    assert_int_equal(as_clone_original_n(as_view_of("f._omp_fn.0")), 11);
    assert_int_equal(as_clone_original_n(as_view_of("f._omp_fn.0.cold")), 11);
    assert_int_equal(as_clone_original_n(as_view_of("f.step")), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bases),
        cmocka_unit_test(test_one_suffix),
        cmocka_unit_test(test_originals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
