/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a profile: whole pages against tests/golden/report (ASSAY_REBASE=1 writes them
 * anew: read the difference), and what must hold of every page.
 */
#include "place.h"

#include "advise/advise.h"
#include "base/short_name.h"
#include "base/utf8.h"
#include "cxx.h"
#include "report/report.h"

static struct as_experiment *filled(const struct place *place, bool cxx)
{
    struct as_experiment *e;
    struct fixture f;
    struct cxx c;

    if (chdir(place->dir) != 0)
        fail();
    fine(as_experiment_create("a.assay", AS_EXPERIMENT_FORCE, &e, err));
    if (cxx)
        fine(cxx_fill(e, &c, err));
    else
        fine(fixture_fill(e, &f, err));
    fine(as_advise_run(e, 1, err));
    return e;
}

static struct as_str page(struct as_experiment *e, const struct as_report_text_options *options)
{
    struct as_str str = {0};
    struct as_out out;

    as_out_init_str(&out, &str);
    fine(as_report_profile(e, 0, options, &out, err));
    fine(as_out_flush(&out, err));
    as_out_fini(&out);
    return str;
}

static size_t widest(const struct as_str *s)
{
    size_t most = 0;
    struct as_view rest = {.p = s->p, .n = s->n}, line;

    while (as_view_split(&rest, '\n', &line)) {
        const size_t width = as_utf8_width(line);

        most = width > most ? width : most;
        assert_false(line.n && line.p[line.n - 1] == ' ');
    }
    return most;
}

/* ---- Whole pages --------------------------------------------------------------------------- */

static void expect_golden(const char *name, const struct as_str *got)
{
    char path[400];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", GOLDEN_DIR, name);
    if (getenv("ASSAY_REBASE")) {
        file = fopen(path, "w");
        assert_non_null(file);
        fputs(as_str_z(got), file);
        fclose(file);
        return;
    }
    struct as_str want = {0};
    char block[4096];
    size_t n;

    file = fopen(path, "r");
    if (!file)
        fail_msg("%s is missing", path);
    while ((n = fread(block, 1, sizeof block, file)) > 0)
        as_str_append(&want, block, n);
    fclose(file);
    assert_string_equal(as_str_z(got), as_str_z(&want));
    as_str_fini(&want);
}

static void test_golden(void **state)
{
    static const struct {
        const char *name;
        bool cxx;
        struct as_report_text_options options;
    } at[] = {
        {"mpi-80.txt", false, {.width = 80, .utf8 = true}},
        {"mpi-120.txt", false, {.width = 120, .utf8 = true}},
        {"mpi-80-ascii.txt", false, {.width = 80}},
        {"mpi-80-colour.txt", false, {.width = 80, .utf8 = true, .colour = true, .rows = 2}},
        {"cxx-80.txt", true, {.width = 80, .utf8 = true}},
        {"cxx-120-ascii.txt", true, {.width = 120}},
        {"brief-80.txt", true, {.width = 80, .utf8 = true, .brief = true}},
        {"brief-40-ascii.txt", true, {.width = 40, .brief = true}},
        {"brief-mpi-80.txt", false, {.width = 80, .utf8 = true, .brief = true}},
    };

    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct as_experiment *e = filled(*state, at[i].cxx);
        struct as_str got = page(e, &at[i].options);

        expect_golden(at[i].name, &got);
        as_str_fini(&got);
        fine(as_experiment_close(&e, err));
    }
}

/* Checks one line of short-names.tsv: maximum of bytes, name, short name. */
static void expect_short(char *line)
{
    char *name = strchr(line, '\t'), *told = name ? strchr(name + 1, '\t') : NULL;
    struct as_str s = {0};

    assert_non_null(told);
    *name++ = *told++ = '\0';
    told[strcspn(told, "\n")] = '\0';
    as_short_name(&s, name, strtoul(line, NULL, 10));
    assert_string_equal(as_str_z(&s), told);
    as_str_clear(&s);
    as_short_name(&s, name, 1000);
    assert_string_equal(as_str_z(&s), name);
    as_str_fini(&s);
}

static void test_short_names(void **state)
{
    (void)state;
    FILE *file = fopen(GOLDEN_DIR "/short-names.tsv", "r");
    char line[1024];
    int n = 0;

    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (line[0] != '#') {
            expect_short(line);
            n++;
        }
    fclose(file);
    assert_true(n > 20);
}

/* ---- Every page ---------------------------------------------------------------------------- */

static void test_every_width(void **state)
{
    for (int cxx = 0; cxx < 2; cxx++) {
        struct as_experiment *e = filled(*state, cxx);

        for (unsigned width = 72; width < 260; width++) {
            for (int utf8 = 0; utf8 < 2; utf8++) {
                const struct as_report_text_options options = {.width = width, .utf8 = utf8 != 0};
                struct as_str got = page(e, &options);
                bool ascii = true;

                if (widest(&got) > width)
                    fail_msg("%zu columns instead of %u:\n%s", widest(&got), width, as_str_z(&got));
                for (size_t k = 0; k < got.n; k++) {
                    ascii &= (unsigned char)got.p[k] < 0x80;
                    assert_true(got.p[k] == '\n' || (unsigned char)got.p[k] >= 0x20);
                }
                assert_int_equal(ascii, !utf8);
                as_str_fini(&got);
            }
        }
        fine(as_experiment_close(&e, err));
    }
}

static void test_runs(void **state)
{
    struct as_experiment *e = filled(*state, false);
    const struct as_report_text_options options = {.width = 80};
    struct as_str str = {0};
    struct as_out out;
    struct cxx c;

    as_out_init_str(&out, &str);
    refused(as_report_profile(e, 2, &options, &out, err), NOT_FOUND,
            "a.assay: has no run 2; its last is 1");
    refused(as_report_profile_json(e, 2, 0, &out, err), NOT_FOUND, "has no run 2");
    fine(cxx_fill(e, &c, err));
    fine(as_report_profile(e, 0, &options, &out, err));
    fine(as_out_flush(&out, err));
    assert_true(has(as_str_z(&str), "  Run       2 of 2 (before), interrupted"));
    as_str_clear(&str);
    fine(as_report_profile(e, 1, &options, &out, err));
    fine(as_out_flush(&out, err));
    assert_true(has(as_str_z(&str), "  Run       1 of 2, complete"));
    as_out_fini(&out);
    as_str_fini(&str);
    fine(as_experiment_close(&e, err));
}

/* Checks the summary of a run before and after its attribution. */
static void expect_said(struct as_experiment *e, const char *want)
{
    const struct as_report_text_options options = {.width = 200};
    struct as_str got = page(e, &options);

    if (!has(as_str_z(&got), want))
        fail_msg("'%s' is not in:\n%s", want, as_str_z(&got));
    as_str_fini(&got);
}

static void test_unfinished(void **state)
{
    struct place *place = *state;
    struct as_row_run run = {.kind = "profile", .command = "x", .state = "recording"};
    struct as_experiment *e;
    int64_t id;

    fine(as_experiment_create(place->exp, 0, &e, err));
    fine(as_experiment_add_run(e, &run, &id, err));
    expect_said(e, "recording: this run is being recorded");
    run.state = "interrupted";
    fine(as_experiment_set_run(e, id, &run, err));
    expect_said(e, "not_attributed: the samples of this run are not attributed");
    expect_said(e, "    assay attribute /");
    const struct as_row_process process = {.run_id = id, .pid = 7};
    fine(as_experiment_add_process(e, &process, NULL, err));
    fine(as_experiment_summarise(e, id, err));
    fine(as_advise_run(e, id, err));
    expect_said(e, "no_samples: no sample was taken");
    fine(as_experiment_close(&e, err));
}

/* A run of which nothing is known but that it was: every part copes. */
static void test_empty(void **state)
{
    struct place *place = *state;
    const struct as_row_run run = {.kind = "profile", .command = "x", .state = "recording"};
    const struct as_report_text_options options = {.width = 80};
    struct as_experiment *e;
    struct as_str str = {0};
    struct as_out out;

    as_out_init_str(&out, &str);
    fine(as_experiment_create(place->exp, 0, &e, err));
    refused(as_report_profile(e, 0, &options, &out, err), NOT_FOUND, "has no run; record");
    fine(as_experiment_add_run(e, &run, NULL, err));
    fine(as_report_profile(e, 0, &options, &out, err));
    fine(as_report_profile_json(e, 0, 0, &out, err));
    fine(as_out_flush(&out, err));
    assert_true(has(as_str_z(&str), "\"is_attributed\": false"));
    assert_true(has(as_str_z(&str), "\"wall_s\": null"));
    as_out_fini(&out);
    as_str_fini(&str);
    fine(as_experiment_close(&e, err));
}

static void test_locale(void **state)
{
    (void)state;
    setenv("LANG", "en_US.UTF-8", 1);
    unsetenv("LC_ALL");
    unsetenv("LC_CTYPE");
    assert_true(as_report_locale_is_utf8());
    setenv("LC_CTYPE", "C", 1);
    assert_false(as_report_locale_is_utf8());
    setenv("LC_ALL", "C.utf8", 1);
    assert_true(as_report_locale_is_utf8());
    setenv("LC_ALL", "", 1);
    unsetenv("LC_CTYPE");
    unsetenv("LANG");
    assert_false(as_report_locale_is_utf8());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_golden),
        place_test(test_every_width),
        place_test(test_runs),
        place_test(test_empty),
        place_test(test_unfinished),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_short_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
