/* SPDX-License-Identifier: Apache-2.0 */
/* Making, opening and replacing experiments, and every way that goes wrong. */
#include "place.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "experiment/internal.h"

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool is_there(const char *dir, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

static void make_filled(const struct place *place)
{
    struct as_experiment *e;
    struct fixture f;
    fine(as_experiment_create(place->exp, 0, &e, err));
    fine(fixture_fill(e, &f, err));
    fine(as_experiment_close(&e, err));
    assert_null(e);
}

static void test_create_and_read(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e;
    make_filled(place);
    fine(as_experiment_read(place->exp, &e, err));
    assert_string_equal(as_experiment_path(e), place->exp);
    assert_int_equal(integer_of(e, "PRAGMA user_version"), as_experiment_schema());
    assert_int_equal(integer_of(e, "SELECT count(*) FROM function"), 5);
    fine(as_experiment_close(&e, err));
    /* One plain file is left. */
    assert_true(is_there(place->exp, "experiment.db"));
    assert_false(is_there(place->exp, "experiment.db-wal"));
    assert_false(is_there(place->exp, "experiment.db-shm"));
}

/* As many call paths as a writer that has grown leaves, and the room of an index that is gone. */
static struct as_experiment *make_grown(const char *exp)
{
    enum { N = 20000 };
    struct as_experiment *e;
    struct as_row_callpath *path = calloc(N, sizeof *path), more = {.function_id = 2, .depth = 1};
    for (int i = 0; i < N; i++)
        path[i] = (struct as_row_callpath){.function_id = 1, .call_location_id = i, .depth = 1};
    fine(as_experiment_create(exp, 0, &e, err));
    fine(as_experiment_begin(e, err));
    fine(as_experiment_add_new_callpaths(e, path, N, 1, err));
    fine(as_experiment_add_callpath(e, &more, NULL, err));
    fine(as_experiment_commit(e, err));
    free(path);
    assert_true(integer_of(e, "PRAGMA freelist_count") > 50);
    return e;
}

/* A store that has grown is packed at its close, under the same name and mode. Nothing else is
 * left. */
static void test_packed(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e;
    struct stat st;
    e = make_grown(place->exp);
    write_file(place->exp, "experiment.db-packed", "left by one that was killed");
    assert_int_equal(chmod(place->db, 0640), 0);
    fine(as_experiment_close(&e, err));
    assert_false(is_there(place->exp, "experiment.db-packed"));
    assert_int_equal(stat(place->db, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    fine(as_experiment_open(place->exp, &e, err));
    assert_int_equal(integer_of(e, "PRAGMA freelist_count"), 0);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM callpath"), 20001);
    fine(as_experiment_close(&e, err));
}

/* A store stays as it is beside a reader, and on a full disk. Characters with a meaning in SQLite
 * are valid in a name. */
static void test_packed_or_not(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e, *reader;
    char path[160];
    e = make_grown(place->exp);
    fine(as_experiment_read(place->exp, &reader, err));
    assert_int_equal(integer_of(reader, "SELECT count(*) FROM callpath"), 20001);
    fine(as_experiment_close(&e, err));
    assert_int_equal(integer_of(reader, "SELECT count(*) FROM callpath"), 20001);
    fine(as_experiment_close(&reader, err));
    assert_false(is_there(place->exp, "experiment.db-packed"));

    snprintf(path, sizeof path, "%s/it's 50%% #1?.assay", place->dir);
    e = make_grown(path);
    fine(as_experiment_close(&e, err));
    fine(as_experiment_read(path, &e, err));
    assert_int_equal(integer_of(e, "PRAGMA freelist_count"), 0);
    fine(as_experiment_close(&e, err));

    snprintf(path, sizeof path, "%s/b.assay", place->dir);
    e = make_grown(path);
    snprintf(path, sizeof path, "%s/b.assay/experiment.db-packed", place->dir);
    assert_int_equal(mkdir(path, 0700), 0); /* it cannot be written */
    fine(as_experiment_close(&e, err));
    assert_int_equal(rmdir(path), 0); /* which is refused in an experiment */
    snprintf(path, sizeof path, "%s/b.assay", place->dir);
    fine(as_experiment_read(path, &e, err));
    assert_int_equal(integer_of(e, "SELECT count(*) FROM callpath"), 20001);
    fine(as_experiment_close(&e, err));
}

static void test_trailing_slash_and_odd_names(void **state)
{
    struct place *place = *state;
    struct as_experiment *e;
    char path[160];
    snprintf(path, sizeof path, "%s/100%% of #1? \xc3\xa9.assay//", place->dir);
    fine(as_experiment_create(path, 0, &e, err));
    fine(as_experiment_close(&e, err));
    fine(as_experiment_read(path, &e, err));
    fine(as_experiment_close(&e, err));
}

static void test_exists(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e, *other;
    char run[200];
    make_filled(place);
    refused(as_experiment_create(place->exp, 0, &e, err), USAGE, "exists; use another name");
    assert_null(e);
    fine(as_experiment_open(place->exp, &e, err));
    fine(as_experiment_run_directory(e, 1, run, sizeof run, err));
    assert_true(has(run, "a.assay/run-001"));
    refused(as_experiment_create(place->exp, AS_EXPERIMENT_FORCE, &other, err), LIMIT,
            "another assay process is writing it");
    fine(as_experiment_close(&e, err));
}

static void test_force_replaces_ours_only(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e;
    char run[200];
    make_filled(place);
    fine(as_experiment_open(place->exp, &e, err));
    fine(as_experiment_run_directory(e, 1, run, sizeof run, err));
    fine(as_experiment_close(&e, err));
    write_file(run, "samples", "x");
    write_file(place->exp, "mine.txt", "x");
    fine(as_experiment_create(place->exp, AS_EXPERIMENT_FORCE, &e, err));
    assert_int_equal(integer_of(e, "SELECT count(*) FROM function"), 0);
    fine(as_experiment_close(&e, err));
    assert_false(is_there(place->exp, "run-001"));
    assert_true(is_there(place->exp, "mine.txt"));
}

static void test_force_never_touches_another_directory(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e;
    char run[200];
    assert_int_equal(mkdir(place->exp, 0777), 0);
    fine(as_experiment_create(place->exp, 0, &e, err)); /* empty: nothing to lose */
    fine(as_experiment_close(&e, err));
    snprintf(run, sizeof run, "%s/other", place->dir);
    assert_int_equal(mkdir(run, 0777), 0);
    write_file(run, "run-1", "x");
    refused(as_experiment_create(run, AS_EXPERIMENT_FORCE, &e, err), USAGE,
            "exists and is not an experiment; use another name");
    assert_true(is_there(run, "run-1"));
}

static void test_not_there(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e;
    char path[200];
    refused(as_experiment_read(place->exp, &e, err), NOT_FOUND, "no such experiment");
    refused(as_experiment_open(place->exp, &e, err), NOT_FOUND, "no such experiment");
    refused(as_experiment_read("", &e, err), USAGE, "empty name");
    snprintf(path, sizeof path, "%s/none/a.assay", place->dir);
    refused(as_experiment_create(path, 0, &e, err), NOT_FOUND, "create it first");
    refused(as_experiment_read(place->dir, &e, err), CORRUPT, "not an experiment");
    write_file(place->dir, "file", "x");
    snprintf(path, sizeof path, "%s/file", place->dir);
    refused(as_experiment_read(path, &e, err), CORRUPT, "it is not a directory");
}

static void test_foreign_databases(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e;
    assert_int_equal(mkdir(place->exp, 0777), 0);
    write_file(place->exp, "experiment.db",
               "this is no database, however long it may be ........"
               "....................................................");
    refused(as_experiment_read(place->exp, &e, err), CORRUPT, "no SQLite database");
    unlink(place->db);
    behind(place, "CREATE TABLE t (a)");
    refused(as_experiment_read(place->exp, &e, err), CORRUPT, "its database is incomplete");
    refused(as_experiment_open(place->exp, &e, err), CORRUPT, "its database is incomplete");
}

static void test_damaged(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e;
    struct as_rows *rows;
    make_filled(place);
    int fd = open(place->db, O_WRONLY);
    char junk[4096];
    memset(junk, 0xa5, sizeof junk);
    for (int page = 1; page < 60; page++)
        assert_int_equal(pwrite(fd, junk, sizeof junk, page * 4096), sizeof junk);
    close(fd);
    struct as_error err = {0};
    int rc = as_experiment_read(place->exp, &e, &err);
    if (rc == 0) {
        rc = as_rows_open(e, "SELECT count(*) FROM v_functions", &rows, &err);
        if (rc == 0)
            rc = as_rows_next(rows, &err);
        if (rows)
            as_rows_close(&rows);
        as_experiment_close(&e, NULL);
    }
    assert_int_equal(rc, AS_ERR_CORRUPT);
    assert_true(has(err.text, "damaged"));
}

static void test_newer_schema(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e;
    make_filled(place);
    behind(place, "PRAGMA user_version = 999");
    refused(as_experiment_read(place->exp, &e, err), UNSUPPORTED,
            "written by a newer assay: schema 999");
    refused(as_experiment_open(place->exp, &e, err), UNSUPPORTED, "use a newer assay");
}

/* Stores from before the first release, and stores that assay never wrote. */
static void test_other_schemas(void **state)
{
    static const struct {
        const char *sql, *why;
        int code;
    } other[] = {
        {"PRAGMA application_id = 0x41535359", "written by an assay before the first release",
         AS_ERR_UNSUPPORTED},
        {"PRAGMA application_id = 7", "not an experiment", AS_ERR_CORRUPT},
        {"PRAGMA application_id = 0x41534159; PRAGMA user_version = 0", "not an experiment",
         AS_ERR_CORRUPT},
        {"PRAGMA user_version = -4", "not an experiment", AS_ERR_CORRUPT},
        {"PRAGMA user_version = -2147483648", "not an experiment", AS_ERR_CORRUPT},
    };
    struct place *place = *state;
    make_filled(place);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        struct as_experiment *e;
        struct as_error err = {0};
        behind(place, other[i].sql);
        assert_int_equal(as_experiment_read(place->exp, &e, &err), other[i].code);
        assert_true(has(err.text, other[i].why));
        assert_int_equal(as_experiment_open(place->exp, &e, &err), other[i].code);
        assert_true(has(err.text, other[i].why));
    }
}

/* As another user who may only read: runs `body` in a child; skips where that cannot be. */
static void as_reader(void (*body)(const struct place *), const struct place *place)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(77);
        body(place);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("# skipped: this system does not permit it\n");
        return;
    }
    assert_int_equal(status, 0);
}

#define child_check(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, err.text);                  \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void lock_down(const struct place *place)
{
    chmod(place->dir, 0755);
    chmod(place->db, 0444);
    chmod(place->exp, 0555);
}

static void body_reads(const struct place *place)
{
    struct as_error err = {0};
    struct as_experiment *e;
    child_check(as_experiment_read(place->exp, &e, &err) == 0);
    child_check(integer_of(e, "SELECT count(*) FROM v_functions") == 5);
    child_check(as_experiment_close(&e, &err) == 0);
    child_check(as_experiment_open(place->exp, &e, &err) == AS_ERR_PERMISSION);
    child_check(has(err.text, "copy the directory to a writable place"));
}

static void test_read_only_place(void **state)
{
    const struct place *place = *state;
    make_filled(place);
    lock_down(place);
    as_reader(body_reads, place);
    /* Also when a reader kept the write-ahead log's mark from being taken off. */
    chmod(place->exp, 0755);
    chmod(place->db, 0644);
    behind(place, "PRAGMA journal_mode = WAL; UPDATE module SET kind = 'shared'");
    lock_down(place);
    as_reader(body_reads, place);
    chmod(place->exp, 0755);
}

static void body_cannot_create(const struct place *place)
{
    struct as_error err = {0};
    struct as_experiment *e;
    child_check(as_experiment_create(place->exp, 0, &e, &err) == AS_ERR_PERMISSION);
    child_check(has(err.text, "cannot be created: Permission denied"));
}

static void test_create_where_nothing_can_be_written(void **state)
{
    const struct place *place = *state;
    chmod(place->dir, 0555);
    as_reader(body_cannot_create, place);
    chmod(place->dir, 0755);
}

static void test_one_writer(void **state)
{
    const struct place *place = *state;
    struct as_experiment *first, *second;
    make_filled(place);
    fine(as_experiment_open(place->exp, &first, err));
    refused(as_experiment_open(place->exp, &second, err), LIMIT,
            "another assay process is writing it");
    fine(as_experiment_read(place->exp, &second, err));
    fine(as_experiment_close(&second, err));
    fine(as_experiment_close(&first, err));
    fine(as_experiment_open(place->exp, &first, err));
    fine(as_experiment_close(&first, err));
}

static void test_readers_cannot_write(void **state)
{
    const struct place *place = *state;
    const struct as_row_module module = {.path = "/a", .name = "a", .kind = "shared"};
    struct as_experiment *e;
    make_filled(place);
    fine(as_experiment_read(place->exp, &e, err));
    refused(as_experiment_begin(e, err), INTERNAL, "for reading only");
    refused(as_experiment_add_module(e, &module, NULL, err), INTERNAL, "for reading only");
    refused(as_experiment_summarise(e, 1, err), INTERNAL, "for reading only");
    fine(as_experiment_close(&e, err));
}

static void copy_file(const char *from, const char *to)
{
    char buffer[65536];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT, 0666);
    ssize_t n;
    assert_true(in >= 0 && out >= 0);
    while ((n = read(in, buffer, sizeof buffer)) > 0)
        assert_int_equal(write(out, buffer, (size_t)n), n);
    close(in);
    close(out);
}

static void test_a_copy_is_whole(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e;
    char copy[160], db[200];
    make_filled(place);
    snprintf(copy, sizeof copy, "%s/copy.assay", place->dir);
    snprintf(db, sizeof db, "%s/experiment.db", copy);
    assert_int_equal(mkdir(copy, 0777), 0);
    copy_file(place->db, db);
    fine(as_experiment_read(copy, &e, err));
    expect_row(e, "SELECT text FROM line WHERE number = 23", "sum += a[i];");
    expect_row(e, "PRAGMA integrity_check", "ok");
    assert_int_equal(integer_of(e, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    fine(as_experiment_close(&e, err));
}

/* ---- Many at once --------------------------------------------------------------------------- */

#define MANY 16

/* Lets MANY processes do `make` at the same moment; how many of them did. */
static int at_once(const struct place *place, int (*make)(const struct place *place))
{
    int gate[2], status, made = 0;
    char all[MANY] = {0};
    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < MANY; i++)
        if (fork() == 0) {
            char go;
            close(gate[1]);
            while (read(gate[0], &go, 1) < 0)
                continue;
            _exit(make(place));
        }
    close(gate[0]);
    assert_int_equal(write(gate[1], all, sizeof all), sizeof all);
    close(gate[1]);
    while (wait(&status) > 0)
        made += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return made;
}

static int make_free(const struct place *place)
{
    struct as_experiment *e;
    struct fixture f;
    char stem[100];
    snprintf(stem, sizeof stem, "%s/x", place->dir);
    return as_experiment_create_free(stem, ".r0.assay", &e, NULL) < 0 ||
           fixture_fill(e, &f, NULL) < 0 || as_experiment_close(&e, NULL) < 0;
}

/* Each process gets a name of its own, and never a part of another's. */
static void test_free_names_at_once(void **state)
{
    const struct place *place = *state;
    for (int round = 0; round < 2; round++)
        assert_int_equal(at_once(place, make_free), MANY);
    for (int i = 1; i <= 2 * MANY; i++) {
        struct as_experiment *e;
        char path[120];
        snprintf(path, sizeof path, i > 1 ? "%s/x-%d.r0.assay" : "%s/x.r0.assay", place->dir, i);
        fine(as_experiment_read(path, &e, err));
        assert_int_equal(integer_of(e, "SELECT count(*) FROM run"), 1);
        as_experiment_close(&e, NULL);
    }
}

static int make_same(const struct place *place)
{
    struct as_experiment *e;
    struct fixture f;
    return as_experiment_create(place->exp, 0, &e, NULL) < 0 || fixture_fill(e, &f, NULL) < 0 ||
           as_experiment_close(&e, NULL) < 0;
}

/* One name: one has it, whole; the others take nothing of it away. */
static void test_one_name_at_once(void **state)
{
    const struct place *place = *state;
    for (int round = 0; round < 8; round++) {
        struct as_experiment *e;
        assert_int_equal(at_once(place, make_same), 1);
        fine(as_experiment_open(place->exp, &e, err));
        assert_int_equal(integer_of(e, "SELECT count(*) FROM run"), 1);
        as_experiment_discard(&e);
        assert_false(is_there(place->dir, "a.assay"));
    }
}

/* ---- Putting it in its place ---------------------------------------------------------------- */

static void test_move(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e;
    struct fixture f;
    char to[100], sub[120];
    snprintf(to, sizeof to, "%s/b.assay", place->dir);
    snprintf(sub, sizeof sub, "%s/run-001", to);
    make_filled(place);
    fine(as_experiment_check_new(to, 0, err));
    fine(as_experiment_move(place->exp, to, 0, err));
    assert_false(is_there(place->dir, "a.assay"));
    /* Over another one: only when it is asked for, and what is not ours stays. */
    make_filled(place);
    write_file(to, "notes.txt", "mine");
    assert_int_equal(mkdir(sub, 0777), 0);
    refused(as_experiment_check_new(to, 0, err), USAGE, "b.assay: exists; use another name");
    refused(as_experiment_move(place->exp, to, 0, err), USAGE, "replace it with --force");
    fine(as_experiment_open(place->exp, &e, err));
    fine(fixture_fill(e, &f, err));
    fine(as_experiment_close(&e, err));
    fine(as_experiment_move(place->exp, to, AS_EXPERIMENT_FORCE, err));
    assert_false(is_there(place->dir, "a.assay"));
    assert_true(is_there(to, "notes.txt"));
    assert_false(is_there(to, "run-001"));
    fine(as_experiment_read(to, &e, err));
    assert_int_equal(integer_of(e, "SELECT count(*) FROM run"), 2);
    as_experiment_close(&e, NULL);
}

static bool is_stopped;
static bool stopped(void)
{
    return is_stopped;
}

static void test_stop(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e;
    struct fixture f;
    fine(as_experiment_create(place->exp, 0, &e, err));
    as_experiment_stop_when(e, stopped);
    fine(fixture_fill(e, &f, err));
    is_stopped = true;
    refused(fixture_fill(e, &f, err), LIMIT, "a.assay: stopped before it was complete");
    is_stopped = false;
    as_experiment_close(&e, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_create_and_read),
        place_test(test_packed),
        place_test(test_packed_or_not),
        place_test(test_trailing_slash_and_odd_names),
        place_test(test_exists),
        place_test(test_force_replaces_ours_only),
        place_test(test_force_never_touches_another_directory),
        place_test(test_not_there),
        place_test(test_foreign_databases),
        place_test(test_damaged),
        place_test(test_newer_schema),
        place_test(test_other_schemas),
        place_test(test_read_only_place),
        place_test(test_create_where_nothing_can_be_written),
        place_test(test_one_writer),
        place_test(test_readers_cannot_write),
        place_test(test_a_copy_is_whole),
        place_test(test_free_names_at_once),
        place_test(test_one_name_at_once),
        place_test(test_move),
        place_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
