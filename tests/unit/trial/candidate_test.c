/* SPDX-License-Identifier: Apache-2.0 */
/* The settings to try for a program, and the commands to type for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* Order matters: cmocka uses the types above without including them. */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "trial/candidate.h"

static const char *const plain[] = {"./solver", "in put.nml", NULL};

static struct as_candidate_facts facts_of(const char *const *command, const char *libraries,
                                          const char *rules)
{
    return (struct as_candidate_facts){.command = command,
                                       .launcher = AS_LAUNCH_PROGRAM,
                                       .libraries = libraries,
                                       .compilers = "gcc ",
                                       .rules = rules,
                                       .cpu_n = 8,
                                       .core_n = 4,
                                       .numa_n = 1,
                                       .thread_n = 1};
}

static const struct as_candidate *named(const as_candidate_list *all, const char *name)
{
    as_vec_foreach (all, it)
        if (strcmp(it->name, name) == 0)
            return it;
    return NULL;
}

struct chosen {
    struct as_arena arena;
    as_candidate_list all;
};

static void choose(struct chosen *it, const struct as_candidate_facts *facts, unsigned what)
{
    *it = (struct chosen){0};
    as_arena_init(&it->arena);
    assert_int_equal(as_candidates_choose(facts, what, &it->arena, &it->all, NULL), 0);
}

static void forget_chosen(struct chosen *it)
{
    as_vec_fini(&it->all);
    as_arena_fini(&it->arena);
}

static void test_what_fits(void **state)
{
    struct chosen it;
    (void)state;
    struct as_candidate_facts facts = facts_of(plain, " libc.so.6 ", " ");
    choose(&it, &facts, AS_TRIAL_ALL);
    assert_non_null(named(&it.all, "keep_freed_memory"));
    assert_non_null(named(&it.all, "o3"));
    assert_null(named(&it.all, "wait_passively"));     /* no OpenMP */
    assert_null(named(&it.all, "openmpi_yields"));     /* no launcher */
    assert_null(named(&it.all, "arrays_on_stack"));    /* no Fortran */
    assert_null(named(&it.all, "interleaved_memory")); /* one node */
    assert_null(named(&it.all, "one_arena"));          /* one thread */
    forget_chosen(&it);
    facts.libraries = " libgomp.so.1  libc.so.6 ";
    facts.compilers = "clang ";
    choose(&it, &facts, AS_TRIAL_ALL);
    assert_non_null(named(&it.all, "wait_passively"));
    assert_non_null(named(&it.all, "not_vectorised_by_clang"));
    assert_null(named(&it.all, "not_vectorised"));
    const struct as_candidate *cores = named(&it.all, "all_cores");
    assert_non_null(cores);
    assert_string_equal(cores->variable[0].name, "env:OMP_NUM_THREADS");
    assert_string_equal(cores->variable[0].value, "4");
    /* Half of 8 CPUs are the 4 cores: one try is enough. */
    assert_null(named(&it.all, "half_the_processors"));
    forget_chosen(&it);
    choose(&it, &facts, AS_TRIAL_THREADS);
    as_vec_foreach (&it.all, one)
        assert_int_equal(one->what, AS_TRIAL_THREADS);
    forget_chosen(&it);
}

/* A setting that the program has already is not tried. */
static void test_what_is_set(void **state)
{
    struct as_candidate_facts facts = facts_of(plain, " libgomp.so.1 ", " ");
    struct chosen it;
    (void)state;
    setenv("OMP_WAIT_POLICY", "passive", 1);
    setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
    choose(&it, &facts, AS_TRIAL_ENV);
    assert_null(named(&it.all, "wait_passively"));
    assert_non_null(named(&it.all, "wait_actively"));
    assert_string_equal(named(&it.all, "huge_pages_of_malloc")->variable[0].value,
                        "glibc.malloc.tcache_count=0:glibc.malloc.hugetlb=1");
    unsetenv("OMP_WAIT_POLICY");
    unsetenv("GLIBC_TUNABLES");
    forget_chosen(&it);
}

static void test_findings_come_first(void **state)
{
    struct as_candidate_facts facts = facts_of(plain, " ", " divisions  page_faults ");
    struct chosen it;
    (void)state;
    choose(&it, &facts, AS_TRIAL_ALL);
    bool is_later = false;
    as_vec_foreach (&it.all, one) {
        is_later |= !one->is_found;
        assert_true(one->is_found != is_later);
    }
    assert_true(named(&it.all, "reciprocal")->is_found);
    assert_true(named(&it.all, "keep_freed_memory")->is_found);
    assert_false(named(&it.all, "unrolled")->is_found);
    forget_chosen(&it);
}

static void test_ranks(void **state)
{
    static const char *const mpi[] = {"mpirun", "-n", "4", "./solver", NULL};
    struct as_candidate_facts facts = facts_of(mpi, " ", " ");
    struct chosen it;
    (void)state;
    facts.launcher = AS_LAUNCH_OPENMPI;
    choose(&it, &facts, AS_TRIAL_ALL);
    assert_null(named(&it.all, "ranks_for_cores")); /* as it is */
    assert_string_equal(
        as_candidate_type(named(&it.all, "half_the_ranks"), &facts, NULL, &it.arena),
        "mpirun -n 2 ./solver");
    assert_string_equal(as_candidate_type(named(&it.all, "ranks_free"), &facts, NULL, &it.arena),
                        "mpirun --bind-to none -n 4 ./solver");
    assert_null(named(&it.all, "mpich_yields"));
    forget_chosen(&it);
}

static void test_combinations(void **state)
{
    struct as_candidate_facts facts = facts_of(plain, " libgomp.so.1 ", " ");
    struct chosen it;
    struct as_candidate both;
    (void)state;
    choose(&it, &facts, AS_TRIAL_ALL);
    const uint32_t part[] = {(uint32_t)(named(&it.all, "wait_passively") - it.all.at),
                             (uint32_t)(named(&it.all, "o3") - it.all.at),
                             (uint32_t)(named(&it.all, "profile_guided") - it.all.at)};
    assert_int_equal(as_candidates_join(&it.all, part, 3, &it.arena, &both, NULL), 0);
    assert_string_equal(both.name, "wait_passively+o3+profile_guided");
    assert_string_equal(both.flags, "-O3 -fprofile-use -fprofile-partial-training "
                                    "-Wno-missing-profile");
    assert_string_equal(both.train, "-O3 -fprofile-generate -fprofile-update=atomic");
    assert_int_equal(both.what, AS_TRIAL_ENV | AS_TRIAL_FLAGS);
    assert_string_equal(as_candidate_type(&both, &facts, "make X", &it.arena),
                        "make X && OMP_WAIT_POLICY=passive ./solver 'in put.nml'");
    assert_int_equal(as_candidates_join(&it.all, part, 2, &it.arena, &both, NULL), 0);
    assert_null(both.train);
    forget_chosen(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_fits), cmocka_unit_test(test_what_is_set),
        cmocka_unit_test(test_findings_come_first), cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_combinations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
