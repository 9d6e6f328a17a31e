/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs of MPI through a .prv and back. Messages and collectives keep all their wait
 * states and causes, to the nanosecond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "directory.h"
#include "exchange/import.h"
#include "exchange/prv.h"
#include "made.h"

enum { TRACES_N = 150 };

static void make_directory(const char *name)
{
    assert_int_equal(mkdir(path_of(name), 0777), 0);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static const char *routine_of(const struct as_analysis *a, uint32_t site)
{
    return site == AS_WAIT_UNKNOWN ? "nobody's" : a->site.at[site].routine;
}

static int64_t rank_of(const struct as_analysis *a, uint32_t location)
{
    return location == AS_WAIT_UNKNOWN ? -1 : a->location.at[location].rank;
}

/* The waits of a trace as sorted lines, since the begin of the world's time. The caller frees it.
 */
static char *waits_of(const char *name, int64_t begin_ns)
{
    struct as_error err = {0};
    struct as_trace trace;
    struct as_analysis a;
    AS_VEC(char *) line = {.n = 0};
    char *text = NULL;
    size_t n = 0;
    if (as_trace_open(path_of(name), &trace, &err) < 0 ||
        as_analyse_trace(&trace, NULL, &a, &err) < 0)
        fail_msg("%s", err.text);
    as_vec_foreach (&a.waits.wait, w) {
        char *made;
        assert_true(asprintf(&made, "rank %ld from %08ld to %08ld: %s in %s for %ld in %s\n",
                             (long)rank_of(&a, w->location), (long)(w->begin_ns - begin_ns),
                             (long)(w->end_ns - begin_ns), as_wait_word((enum as_wait_kind)w->kind),
                             routine_of(&a, w->site), (long)rank_of(&a, w->cause),
                             routine_of(&a, w->cause_site)) > 0);
        assert_int_equal(as_vec_push(&line, made), 0);
    }
    if (line.n)
        qsort(line.at, line.n, sizeof *line.at, compare_lines);
    FILE *out = open_memstream(&text, &n);
    assert_non_null(out);
    as_vec_foreach (&line, one) {
        fputs(*one, out);
        free(*one);
    }
    fclose(out);
    as_vec_fini(&line);
    as_analysis_fini(&a);
    as_trace_close(&trace);
    return text;
}

/* The file begins with the first stream. Its clock is at 1000 then. */
static void write_and_import(const char *name, const char *again)
{
    struct as_error err = {0};
    struct as_prv_counts written;
    struct as_import_counts counts;
    struct as_trace trace;
    char prv[64];
    snprintf(prv, sizeof prv, "%s.prv", name);
    if (as_trace_open(path_of(name), &trace, &err) < 0 ||
        as_prv_write(&trace, path_of(prv), &written, &err) < 0)
        fail_msg("%s", err.text);
    as_trace_close(&trace);
    make_directory(again);
    char place[300];
    snprintf(place, sizeof place, "%s", path_of(again));
    if (as_prv_import(path_of(prv), place, &counts, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(counts.bad_n, 0);
}

static void test_waits_are_kept(void **state)
{
    size_t size_b = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= TRACES_N; seed++) {
        struct made_program program;
        char name[32], again[32], place[300];
        snprintf(name, sizeof name, "made%lu", (unsigned long)seed);
        snprintf(again, sizeof again, "again%lu", (unsigned long)seed);
        make_directory(name);
        made_program_new(&program, seed, 1);
        snprintf(place, sizeof place, "%s", path_of(name));
        made_program_write(&program, place);
        made_program_fini(&program);
        write_and_import(name, again);
        char *was = waits_of(name, 1000), *is = waits_of(again, 0);
        if (strcmp(was, is) != 0)
            fail_msg("trace %lu was\n%sand is\n%s", (unsigned long)seed, was, is);
        size_b += strlen(was);
        free(was);
        free(is);
    }
    assert_true(size_b > (size_t)TRACES_N * 1000); /* there were waits */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_waits_are_kept, make_place, remove_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
