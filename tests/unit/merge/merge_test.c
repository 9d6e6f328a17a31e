/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging against sums that can be added up by hand (200 samples per input). Refusals are compared
 * word by word. Also foreign inputs, and more inputs than descriptors.
 */
#include "place.h"

#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/sendfile.h>

#include "merge/merge.h"

#define SAMPLES 200

/* ---- Inputs -------------------------------------------------------------------------------- */

static void path_of(const struct place *place, const char *name, char *out, size_t out_b)
{
    snprintf(out, out_b, "%s/%s.assay", place->dir, name);
}

/* Statements behind the room's back. */
static void edit(const struct place *place, const char *name, const char *format, ...)
{
    char path[200], sql[1000];
    sqlite3 *db;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sql, sizeof sql, format, arguments);
    va_end(arguments);
    snprintf(path, sizeof path, "%s/%s.assay/experiment.db", place->dir, name);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void write_file(const struct place *place, const char *name, const char *file,
                       const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s.assay/run-001/%s", place->dir, name, file);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

/* The fixture with sums, a stream and a kept module. */
static void make_plain(const struct place *place, const char *name)
{
    struct as_experiment *e;
    struct fixture f;
    char path[200], run[300];
    path_of(place, name, path, sizeof path);
    fine(as_experiment_create(path, 0, &e, err));
    fine(fixture_fill(e, &f, err));
    const struct as_row_run_file file = {
        .run_id = f.run, .path = "run-001/main.samples", .kind = "samples"};
    fine(as_experiment_add_run_file(e, &file, NULL, err));
    fine(as_experiment_run_directory(e, f.run, run, sizeof run, err));
    fine(as_experiment_summarise(e, f.run, err));
    fine(as_experiment_close(&e, err));
    write_file(place, name, "main.samples", "samples");
    write_file(place, name, "0-libm.so", name);
    edit(place, name, "UPDATE module SET kept_path = 'run-001/0-libm.so' WHERE name = 'libc.so.6'");
}

/* An input of rank `rank` of 4, which began `begin_s` after the first. */
static void make_rank(const struct place *place, const char *name, int rank, int begin_s)
{
    make_plain(place, name);
    edit(place, name,
         "UPDATE process SET rank = CASE WHEN process_id = 1 THEN %d END;"
         "UPDATE run SET start_ns = start_ns + %d * 1000000000, launcher = 'plain',"
         " command = './solver';"
         "INSERT INTO run_environment VALUES (1, 'OMPI_COMM_WORLD_RANK', '%d'),"
         " (1, 'OMPI_COMM_WORLD_SIZE', '4'), (1, 'OMP_NUM_THREADS', '2')",
         rank, begin_s, rank);
}

static int merge(const struct place *place, const struct as_merge_request *asked,
                 const char *const *name, size_t n, struct as_merge_result *result,
                 struct as_error *why)
{
    struct as_merge_request request = *asked;
    struct as_experiment *to;
    char path[8][200], out[200];
    const char *all[8];
    assert_true(n <= 8);
    for (size_t i = 0; i < n; i++) {
        path_of(place, name[i], path[i], sizeof path[i]);
        all[i] = path[i];
    }
    request.path = all;
    request.n = n;
    path_of(place, "out", out, sizeof out);
    fine(as_experiment_create(out, AS_EXPERIMENT_FORCE, &to, err));
    const int rc = as_merge_experiments(to, &request, result, why);
    as_experiment_close(&to, NULL);
    return rc;
}

static struct as_experiment *read_out(const struct place *place)
{
    struct as_experiment *e;
    char path[200];
    path_of(place, "out", path, sizeof path);
    fine(as_experiment_read(path, &e, err));
    return e;
}

static const struct as_merge_request plain;

/* ---- Sums ---------------------------------------------------------------------------------- */

static void test_sums(void **state)
{
    const struct place *place = *state;
    static const char *const name[] = {"c", "a", "b"};
    struct as_merge_result result;
    make_rank(place, "a", 0, 0);
    make_rank(place, "b", 1, 1);
    make_rank(place, "c", 3, 2);
    fine(merge(place, &plain, name, 3, &result, err));
    assert_int_equal(result.rank_n, 3);
    assert_int_equal(result.host_n, 1);
    assert_int_equal(result.left_n, 0);
    struct as_experiment *e = read_out(place);
    expect_row(e,
               "SELECT run_id, kind, command, launcher, wall_s, exit_code, state, rank_n,"
               " process_n, sample_n, lost_sample_n, host, overhead_s, rate_hz FROM v_runs",
               "1 profile ./solver openmpi 3.25 0 complete 3 6 600 9 node1 0.0375 100");
    assert_int_equal(integer_of(e, "SELECT sum(n) FROM sample WHERE state = 0"), 3 * SAMPLES);
    /* Each rank by itself, in the order of ranks, at its time. */
    expect_row(e,
               "SELECT group_concat(rank || ':' || sample_n || '@' || start_s, ' ') FROM"
               " (SELECT * FROM v_processes WHERE rank IS NOT NULL ORDER BY rank)",
               "0:100@0.0 1:100@1.0 3:100@2.0");
    expect_row(e, "SELECT sum(exclusive_sample_n), max(thread_n) FROM v_functions", "600 6");
    expect_row(e, "SELECT exclusive_sample_n, inclusive_pct FROM v_functions WHERE name = 'fib'",
               "87 14.5");
    /* The program is there once. */
    assert_int_equal(integer_of(e, "SELECT count(*) FROM module"), 3);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM function"), 5);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM callpath"), 8);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM host"), 1);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    /* Variables that are equal in all; ranks come from processes. */
    expect_row(e, "SELECT group_concat(name || '=' || value, ' ') FROM run_environment",
               "OMPI_COMM_WORLD_SIZE=4 OMP_NUM_THREADS=2");
    expect_row(e, "SELECT n, text FROM v_flags WHERE name = 'missing_ranks'",
               "1 the job had 4 ranks: rank 2 is missing and not in any sum");
    assert_int_equal(integer_of(e, "SELECT count(*) FROM v_flags WHERE name = 'ranks_differ'"), 0);
    as_experiment_close(&e, NULL);
}

/* Memory is the maximum over processes. All else is the sum, if it is known of each. */
static void test_usage(void **state)
{
    const struct place *place = *state;
    static const char *const name[] = {"a", "b"};
    struct as_merge_result result;
    make_rank(place, "a", 0, 0);
    make_rank(place, "b", 1, 0);
    edit(place, "a",
         "UPDATE run SET resident_max_b = 7000, fault_major_n = 1, fault_minor_n = 20,"
         " switch_voluntary_n = 300, switch_involuntary_n = 4");
    edit(place, "b",
         "UPDATE run SET resident_max_b = 5000, fault_major_n = 0, fault_minor_n = 22,"
         " switch_voluntary_n = 33");
    fine(merge(place, &plain, name, 2, &result, err));
    struct as_experiment *e = read_out(place);
    expect_row(e,
               "SELECT resident_max_b, fault_major_n, fault_minor_n, switch_voluntary_n,"
               " switch_involuntary_n IS NULL FROM v_runs",
               "7000 1 42 333 1");
    as_experiment_close(&e, NULL);
}

/* Facts about a loop are merged, conclusions of the inputs are not. */
static void test_facts(void **state)
{
    const struct place *place = *state;
    static const char *const name[] = {"a", "b"};
    struct as_merge_result result;
    make_rank(place, "a", 0, 0);
    make_rank(place, "b", 1, 0);
    for (int i = 0; i < 2; i++)
        edit(
            place, name[i],
            "INSERT INTO metric (name, unit, meaning, better, formula, topic) VALUES"
            " ('page_faults', '1', 'x', 'lower', 'counted', 'counted');"
            "INSERT INTO value SELECT metric_id, 'run', 1, 1, 0, %d, 'exact', %d, %d, 1 FROM metric"
            " WHERE name = 'page_faults';"
            "INSERT INTO value SELECT metric_id, 'thread', 1, 1, 0, %d, 'exact', %d, %d, 1 FROM "
            "metric"
            " WHERE name = 'page_faults'",
            7 + i, 7 + i, 7 + i, 3 + i, 3 + i, 3 + i);
    fine(merge(place, &plain, name, 2, &result, err));
    struct as_experiment *e = read_out(place);
    expect_row(
        e,
        "SELECT group_concat(object_kind || '=' || CAST(value AS INTEGER), ' ') FROM (SELECT *"
        " FROM v_values WHERE metric = 'page_faults' ORDER BY object_kind, object_id)",
        "run=15 thread=3 thread=4");
    assert_int_equal(integer_of(e, "SELECT count(*) FROM finding"), 0);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM v_values WHERE object_kind = 'loop'"), 1);
    as_experiment_close(&e, NULL);
}

static void test_hosts_and_differences(void **state)
{
    const struct place *place = *state;
    static const char *const name[] = {"a", "b", "c"};
    struct as_merge_result result;
    make_rank(place, "a", 0, 0);
    make_rank(place, "b", 1, 0);
    make_rank(place, "c", 2, 0);
    edit(place, "c",
         "UPDATE host SET name = 'node2'; UPDATE run SET start_ns = start_ns + 250000000,"
         " exit_code = NULL, exit_signal = 11;"
         "UPDATE run_environment SET value = '8' WHERE name = 'OMP_NUM_THREADS'");
    edit(place, "b", "UPDATE run SET event = 'timer', state = 'interrupted'");
    fine(merge(place, &plain, name, 3, &result, err));
    assert_int_equal(result.host_n, 2);
    struct as_experiment *e = read_out(place);
    expect_row(e, "SELECT exit_code, exit_signal, state, event FROM v_runs",
               "- 11 interrupted cpu-clock");
    expect_row(e, "SELECT host FROM v_processes WHERE rank = 2", "node2");
    expect_row(
        e, "SELECT n, text FROM v_flags WHERE name = 'clocks'",
        "2 times of different machines are related by their clocks, which NTP synchronises to "
        "some milliseconds at best; relative to node1 began node2 at +0.250 s");
    expect_row(e,
               "SELECT group_concat(text, ' | ') FROM (SELECT * FROM v_flags WHERE name ="
               " 'ranks_differ' ORDER BY flag_id)",
               "what was sampled by is not the same in all ranks: 'cpu-clock' in ranks 0, 2, "
               "'timer' in rank 1 | OMP_NUM_THREADS is not the same in all ranks: '2' in ranks "
               "0-1, '8' in rank 2");
    as_experiment_close(&e, NULL);
}

/* A flag of all inputs is merged into one. A flag of some has their ranks. Many numbers of one kind
 * are shortened. */
static void test_flags(void **state)
{
    const struct place *place = *state;
    static const char *const name[] = {"a", "b", "c"};
    struct as_merge_result result;
    make_rank(place, "a", 0, 0);
    make_rank(place, "b", 1, 0);
    make_rank(place, "c", 2, 0);
    for (int i = 0; i < 3; i++) {
        edit(place, name[i],
             "DELETE FROM flag; INSERT INTO flag (run_id, object_kind, object_id, name, n, text)"
             " VALUES (1, 'run', 1, 'event_fallback', 1, 'no cycles'),"
             " (1, 'module', 2, 'no_symbols', 4, 'libmpi'), (1, 'thread', 2, 'lost_samples', 2, "
             "'a thread'),"
             " (1, 'run', 1, 'code_not_read', 1, 'made anew')");
        for (int k = 0; k < 4; k++)
            edit(place, name[i],
                 "INSERT INTO flag (run_id, object_kind, object_id, name, n, text)"
                 " VALUES (1, 'run', 1, 'throttled', 1, 'times %d')",
                 10 * i + k);
    }
    edit(place, "b",
         "INSERT INTO flag (run_id, object_kind, object_id, name, n, text)"
         " VALUES (1, 'run', 1, 'truncated', 5, 'cut off')");
    fine(merge(place, &plain, name, 3, &result, err));
    struct as_experiment *e = read_out(place);
    expect_row(e, "SELECT n, text FROM v_flags WHERE name = 'event_fallback'", "3 no cycles");
    expect_row(e, "SELECT object_kind, n, text FROM v_flags WHERE name = 'no_symbols'",
               "module 12 libmpi");
    expect_row(e, "SELECT object_kind, n, text FROM v_flags WHERE name = 'truncated'",
               "run 5 rank 1: cut off");
    /* Each thread has its own. */
    expect_row(e,
               "SELECT count(*), count(DISTINCT object_id), sum(n), min(text) FROM v_flags"
               " WHERE name = 'lost_samples'",
               "3 3 6 a thread");
    assert_int_equal(integer_of(e, "SELECT count(*) FROM flag WHERE name = 'code_not_read'"), 0);
    expect_row(
        e, "SELECT count(*), sum(n), min(text), max(text) FROM v_flags WHERE name = 'throttled'",
        "8 12 rank 0: times 0 the same with other numbers in ranks 1-2");
    as_experiment_close(&e, NULL);
}

/* ---- Files --------------------------------------------------------------------------------- */

static bool same_text(const struct place *place, const char *file, const char *want)
{
    char path[300], got[100] = "";
    snprintf(path, sizeof path, "%s/out.assay/%s", place->dir, file);
    FILE *in = fopen(path, "r");
    if (!in)
        return false;
    const size_t n = fread(got, 1, sizeof got - 1, in);
    got[n] = '\0';
    fclose(in);
    return strcmp(got, want) == 0;
}

static size_t file_n(const struct place *place)
{
    char path[300];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/out.assay/run-001", place->dir);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *it; (it = readdir(dir));)
        n += it->d_name[0] != '.';
    closedir(dir);
    return n;
}

/* Also of a foreign input: nothing but plain files of its run, nothing outside, no waiting. */
static void test_files(void **state)
{
    const struct place *place = *state;
    static const char *const name[] = {"a", "b"};
    struct as_merge_result result;
    char path[300];
    make_rank(place, "a", 0, 0);
    make_rank(place, "b", 1, 0);
    snprintf(path, sizeof path, "%s/b.assay/run-001/pipe", place->dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/b.assay/run-001/link", place->dir);
    assert_int_equal(symlink("/etc/hostname", path), 0);
    edit(place, "b",
         "INSERT INTO module (path, name, kind, kept_path) VALUES"
         " ('/x', 'x', 'shared', '../../../etc/hostname'),"
         " ('/y', 'y', 'shared', 'run-001/../experiment.db'),"
         " ('[generated code of process 7]', '[generated code of process 7]', 'jit', NULL)");
    edit(place, "a",
         "INSERT INTO module (path, name, kind) VALUES ('[generated code of process 7]',"
         " '[generated code of process 7]', 'jit')");
    fine(merge(place, &plain, name, 2, &result, err));
    struct as_experiment *e = read_out(place);
    expect_row(e, "SELECT group_concat(path, ' ') FROM (SELECT path FROM run_file ORDER BY path)",
               "run-001/0001-main.samples run-001/0002-main.samples");
    expect_row(e, "SELECT kept_path FROM module WHERE name = 'libc.so.6'",
               "run-001/0001-0-libm.so");
    assert_true(same_text(place, "run-001/0001-0-libm.so", "a"));
    assert_true(same_text(place, "run-001/0002-0-libm.so", "b"));
    assert_true(same_text(place, "run-001/0002-main.samples", "samples"));
    assert_int_equal(file_n(place), 4);
    assert_int_equal(
        integer_of(e, "SELECT count(*) FROM module WHERE name IN ('x', 'y') AND kept_path IS NULL"),
        2);
    /* Processes of one number on two machines. */
    expect_row(e,
               "SELECT group_concat(path, ' ') FROM (SELECT path FROM module WHERE kind = 'jit')",
               "[generated code of process 7, rank 0] [generated code of process 7, rank 1]");
    as_experiment_close(&e, NULL);
}

/* ---- Refusals ------------------------------------------------------------------------------ */

/* Merging must be refused with just this sentence; DIR in it is the place. */
static void refuses(const struct place *place, const struct as_merge_request *request,
                    const char *const *name, size_t n, int code, const char *want)
{
    struct as_merge_result result;
    struct as_error err = {0};
    char text[2000] = "";
    assert_int_equal(merge(place, request, name, n, &result, &err), code);
    for (const char *at = want; *at;) {
        const bool is_dir = strncmp(at, "DIR", 3) == 0;
        snprintf(text + strlen(text), sizeof text - strlen(text), is_dir ? "%s" : "%.1s",
                 is_dir ? place->dir : at);
        at += is_dir ? 3 : 1;
    }
    assert_string_equal(err.text, text);
}

static void test_doubled(void **state)
{
    const struct place *place = *state;
    static const char *const name[] = {"a", "b"}, *const twice[] = {"a", "a"},
                             *const itself[] = {"a", "out"};
    make_rank(place, "a", 2, 0);
    make_rank(place, "b", 2, 1);
    refuses(place, &plain, name, 2, AS_ERR_USAGE,
            "DIR/b.assay: holds rank 2, which DIR/a.assay has too; use one experiment for each "
            "rank");
    refuses(place, &plain, twice, 2, AS_ERR_USAGE,
            "DIR/a.assay: is the same experiment as DIR/a.assay; use each once");
    refuses(place, &plain, itself, 2, AS_ERR_USAGE,
            "DIR/out.assay: is the result too; set another --output");
}

static void test_jobs(void **state)
{
    const struct place *place = *state;
    static const char *const name[] = {"a", "b", "c"};
    struct as_merge_result result;
    const struct as_merge_request accept = {.accept = AS_MERGE_JOBS};
    for (int i = 0; i < 3; i++) {
        make_rank(place, name[i], i, 0);
        edit(place, name[i], "INSERT INTO run_environment VALUES (1, 'SLURM_JOB_ID', '%d')",
             17 + (i == 1));
    }
    refuses(place, &plain, name, 3, AS_ERR_USAGE,
            "SLURM_JOB_ID: is another in rank 1 than in ranks 0, 2 (18 and 17); merge the ranks of "
            "one job, or those of several with --accept jobs");
    fine(merge(place, &accept, name, 3, &result, err));
}

static void test_binaries(void **state)
{
    const struct place *place = *state;
    static const char *const name[] = {"a", "b", "c", "d"};
    struct as_merge_result result;
    const struct as_merge_request accept = {.accept = AS_MERGE_BINARIES};
    for (int i = 0; i < 4; i++)
        make_rank(place, name[i], i, 0);
    edit(place, "c", "UPDATE module SET build_id = 'fedcba98' WHERE name = 'solver'");
    edit(place, "d", "UPDATE module SET build_id = 'fedcba98' WHERE name = 'solver'");
    refuses(place, &plain, name, 4, AS_ERR_USAGE,
            "/opt/solver: is another file in ranks 2-3 than in ranks 0-1 (build-id fedcba98 and "
            "build-id 0123456789abcdef); run the same file in all ranks, or accept both with "
            "--accept binaries");
    fine(merge(place, &accept, name, 4, &result, err));
    struct as_experiment *e = read_out(place);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM module WHERE path = '/opt/solver'"), 2);
    expect_row(e, "SELECT count(*), sum(exclusive_sample_n) FROM v_functions WHERE name = 'solve'",
               "2 420");
    as_experiment_close(&e, NULL);
    /* Without build-ids by size. */
    edit(place, "a", "UPDATE module SET size_b = 10 WHERE path = '/usr/lib/libc.so.6'");
    edit(place, "b", "UPDATE module SET size_b = 11 WHERE path = '/usr/lib/libc.so.6'");
    refuses(place, &plain, name, 2, AS_ERR_USAGE,
            "/usr/lib/libc.so.6: is another file in rank 1 than in rank 0 (11 bytes and 10 bytes); "
            "run the same file in all ranks, or accept both with --accept binaries");
}

static void test_times(void **state)
{
    const struct place *place = *state;
    static const char *const name[] = {"a", "b", "c"};
    struct as_merge_result result;
    const struct as_merge_request accept = {.accept = AS_MERGE_TIMES};
    make_rank(place, "a", 0, 0);
    make_rank(place, "b", 1, 3600);
    make_rank(place, "c", 2, 9); /* within 10 s of the end of the first */
    refuses(
        place, &plain, name, 3, AS_ERR_USAGE,
        "DIR/b.assay: began 3590 s after DIR/c.assay had ended, so they are not of one run; use "
        "--accept times to merge them anyway");
    fine(merge(place, &accept, name, 3, &result, err));
    struct as_experiment *e = read_out(place);
    expect_row(e, "SELECT wall_s FROM v_runs", "3601.25");
    as_experiment_close(&e, NULL);
}

static void test_states(void **state)
{
    const struct place *place = *state;
    static const char *const name[] = {"a", "b"};
    const struct as_merge_request third = {.run_id = 3};
    make_rank(place, "a", 0, 0);
    make_rank(place, "b", 1, 0);
    refuses(place, &third, name, 2, AS_ERR_NOT_FOUND,
            "DIR/a.assay: has no run 3; 'assay show DIR/a.assay --view runs' lists them");
    edit(place, "b", "DELETE FROM object_time");
    refuses(place, &plain, name, 2, AS_ERR_USAGE,
            "DIR/b.assay: run 1 is not attributed: assay was stopped before; run "
            "'assay attribute DIR/b.assay'");
    edit(place, "b", "PRAGMA foreign_keys = ON; DELETE FROM run");
    refuses(place, &plain, name, 2, AS_ERR_NOT_FOUND, "DIR/b.assay: has no run; remove it");
}

/* The last run of several, or the one that is asked for. */
static void test_runs(void **state)
{
    const struct place *place = *state;
    static const char *const name[] = {"a", "b"};
    const struct as_merge_request first = {.run_id = 1};
    struct as_merge_result result;
    struct as_experiment *e;
    struct fixture f;
    char path[200];
    make_rank(place, "a", 0, 0);
    make_rank(place, "b", 1, 0);
    path_of(place, "b", path, sizeof path);
    fine(as_experiment_open(path, &e, err));
    fine(fixture_fill(e, &f, err));
    fine(as_experiment_summarise(e, f.run, err));
    as_experiment_close(&e, NULL);
    fine(merge(place, &first, name, 2, &result, err));
    assert_int_equal(result.left_n, 1);
    e = read_out(place);
    expect_row(e, "SELECT sample_n, process_n, rank_n FROM v_runs", "400 4 2");
    as_experiment_close(&e, NULL);
    /* Run 2 has ranks 0 and 1 of its own. */
    refuses(place, &plain, name, 2, AS_ERR_USAGE,
            "DIR/b.assay: holds rank 0, which DIR/a.assay has too; use one experiment for each "
            "rank");
}

/* ---- Bounds -------------------------------------------------------------------------------- */

static void copy_database(const struct place *place, const char *from, const char *to)
{
    char path[300];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s.assay/experiment.db", place->dir, from);
    const int in = open(path, O_RDONLY);
    snprintf(path, sizeof path, "%s/%s.assay", place->dir, to);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/%s.assay/experiment.db", place->dir, to);
    const int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(in >= 0 && out >= 0 && fstat(in, &st) == 0);
    assert_int_equal(sendfile(out, in, NULL, (size_t)st.st_size), st.st_size);
    close(in);
    close(out);
}

/* As many as programs may open by default; a sanitizer's heap makes minutes of that, which SQLite
 * opens them in. */
#ifdef __SANITIZE_ADDRESS__
#define INPUTS 130
#else
#define INPUTS 1100
#endif

/* More inputs than descriptors; all but one lack ranks, so that their paths distinguish them. */
static void test_many(void **state)
{
    const struct place *place = *state;
    static char path[INPUTS][120];
    static const char *all[INPUTS];
    const struct as_merge_request request = {.path = all, .n = INPUTS};
    struct as_merge_result result;
    struct as_experiment *to;
    struct rlimit was, few;
    char out[200], sums[64];
    make_rank(place, "a", 0, 0);
    make_plain(place, "b");
    edit(place, "b", "UPDATE process SET rank = NULL");
    path_of(place, "a", path[0], sizeof path[0]);
    all[0] = path[0];
    for (int i = 1; i < INPUTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        copy_database(place, "b", name);
        path_of(place, name, path[i], sizeof path[i]);
        all[i] = path[i];
    }
    edit(place, "m7", "UPDATE run SET command = './other'");
    path_of(place, "out", out, sizeof out);
    fine(as_experiment_create(out, 0, &to, err));
    getrlimit(RLIMIT_NOFILE, &was);
    few = was;
    few.rlim_cur = 40;
    setrlimit(RLIMIT_NOFILE, &few);
    fine(as_merge_experiments(to, &request, &result, err));
    setrlimit(RLIMIT_NOFILE, &was);
    snprintf(sums, sizeof sums, "%d 1 %d %d", 2 * INPUTS, SAMPLES * INPUTS, 3 * INPUTS);
    expect_row(to, "SELECT process_n, rank_n, sample_n, lost_sample_n FROM v_runs", sums);
    assert_int_equal(integer_of(to, "SELECT count(*) FROM callpath"), 8);
    as_experiment_close(&to, NULL);
}

static int calls_left;
static bool stopped(void)
{
    return calls_left-- < 0;
}

/* A stop at any point returns an error to the caller. */
static void test_stopped(void **state)
{
    const struct place *place = *state;
    struct as_merge_result result;
    char path[2][200], out[200];
    const char *all[2] = {path[0], path[1]};
    const struct as_merge_request request = {.path = all, .n = 2};
    make_rank(place, "a", 0, 0);
    make_rank(place, "b", 1, 0);
    path_of(place, "a", path[0], sizeof path[0]);
    path_of(place, "b", path[1], sizeof path[1]);
    path_of(place, "out", out, sizeof out);
    for (int most = 0;; most += 40) {
        struct as_experiment *to;
        struct as_error why = {0};
        fine(as_experiment_create(out, AS_EXPERIMENT_FORCE, &to, err));
        calls_left = most;
        as_experiment_stop_when(to, stopped);
        const int rc = as_merge_experiments(to, &request, &result, &why);
        as_experiment_discard(&to);
        assert_int_not_equal(access(out, F_OK), 0);
        if (rc == 0) {
            assert_true(most > 100);
            break;
        }
        assert_int_equal(rc, AS_ERR_LIMIT);
        assert_true(has(why.text, "out.assay: stopped before it was complete"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_sums),    place_test(test_facts),   place_test(test_hosts_and_differences),
        place_test(test_usage),   place_test(test_flags),   place_test(test_files),
        place_test(test_doubled), place_test(test_jobs),    place_test(test_binaries),
        place_test(test_times),   place_test(test_states),  place_test(test_runs),
        place_test(test_many),    place_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
