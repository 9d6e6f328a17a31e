/* SPDX-License-Identifier: Apache-2.0 */
/* Writers that are killed, disks that are full, readers beside a writer. */
#include "place.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* `n` modules named from `from` on. */
static int add_modules(struct as_experiment *e, int from, int n, struct as_error *err)
{
    char path[1100];
    for (int i = from; i < from + n; i++) {
        const struct as_row_module row = {.path = path, .name = "m", .kind = "shared"};
        snprintf(path, sizeof path, "/%01000d", i);
        AS_TRY(as_experiment_add_module(e, &row, NULL, err));
    }
    return 0;
}

static int add_batch(struct as_experiment *e, int from, int n, struct as_error *err)
{
    AS_TRY(as_experiment_begin(e, err));
    int rc = add_modules(e, from, n, err);
    int commit = as_experiment_commit(e, err);
    return rc ? rc : commit;
}

/*
 * A child creates an experiment with a run and commits 100 modules. It adds 5000 more without a
 * commit, more than the cache holds, so that some reach the disk. Then it is killed.
 */
static void kill_a_writer(const struct place *place)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const struct as_row_run run = {.kind = "profile", .command = "x", .state = "recording"};
        struct as_experiment *e;
        struct as_error err = {0};
        int rc = as_experiment_create(place->exp, 0, &e, &err);
        if (rc == 0)
            rc = as_experiment_add_run(e, &run, NULL, &err);
        if (rc == 0)
            rc = add_batch(e, 0, 100, &err);
        if (rc == 0)
            rc = as_experiment_begin(e, &err);
        if (rc == 0)
            rc = add_modules(e, 100, 50000, &err);
        if (write(ready[1], rc == 0 ? "y" : "n", 1) != 1)
            _exit(1);
        pause();
    }
    char answer = 0;
    close(ready[1]);
    ssize_t got = read(ready[0], &answer, 1);
    close(ready[0]);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(got, 1);
    assert_int_equal(answer, 'y');
}

static void test_killed_then_read(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e;
    kill_a_writer(place);
    fine(as_experiment_read(place->exp, &e, err));
    assert_int_equal(integer_of(e, "SELECT count(*) FROM module"), 100);
    expect_row(e, "SELECT state FROM run", "interrupted");
    expect_row(e, "PRAGMA integrity_check", "ok");
    fine(as_experiment_close(&e, err));
}

static void test_killed_then_written_on(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e;
    kill_a_writer(place);
    fine(as_experiment_open(place->exp, &e, err)); /* the lock died with its holder */
    fine(add_batch(e, 100, 10, err));
    assert_int_equal(integer_of(e, "SELECT count(*) FROM module"), 110);
    fine(as_experiment_close(&e, err));
}

static void test_a_batch_not_committed_is_gone(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e;
    fine(as_experiment_create(place->exp, 0, &e, err));
    fine(as_experiment_begin(e, err));
    refused(as_experiment_begin(e, err), INTERNAL, "a batch is open already");
    fine(add_modules(e, 0, 3, err));
    as_experiment_rollback(e);
    refused(as_experiment_commit(e, err), INTERNAL, "no batch is open");
    fine(add_batch(e, 0, 2, err));
    fine(as_experiment_begin(e, err));
    fine(add_modules(e, 2, 3, err));
    fine(as_experiment_close(&e, err));
    fine(as_experiment_read(place->exp, &e, err));
    assert_int_equal(integer_of(e, "SELECT count(*) FROM module"), 2);
    fine(as_experiment_close(&e, err));
}

/* Fills a small disk in a child; the exit status is the line of the failed check. */
#define child_check(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, err.text);                  \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void fill_the_disk(const char *path, const char *why)
{
    struct as_error err = {0};
    struct as_experiment *e;
    int batches = 0, rc = 0;
    child_check(as_experiment_create(path, 0, &e, &err) == 0);
    while ((rc = add_batch(e, batches * 200, 200, &err)) == 0 && batches < 100)
        batches++;
    child_check(rc == AS_ERR_IO && err.code == AS_ERR_IO);
    child_check(has(err.text, why));
    child_check(has(err.text, "; free some space and repeat the command"));
    child_check(strchr(err.text, '\n') == NULL);
    /* The same again, and reading and closing work. */
    child_check(add_batch(e, batches * 200, 200, &err) == AS_ERR_IO);
    child_check(batches > 0);
    child_check(integer_of(e, "SELECT count(*) FROM module") == batches * 200);
    as_experiment_close(&e, NULL);
    child_check(as_experiment_read(path, &e, &err) == 0);
    child_check(integer_of(e, "SELECT count(*) FROM module") == batches * 200);
    expect_row(e, "PRAGMA integrity_check", "ok");
    as_experiment_close(&e, NULL);
}

static void wait_for(pid_t pid)
{
    int status;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("# skipped: this system does not permit it\n");
        return;
    }
    assert_int_equal(status, 0);
}

static void test_largest_file_reached(void **state)
{
    const struct place *place = *state;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit limit = {3 << 20, 3 << 20};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        fill_the_disk(place->exp, "cannot be written: ");
        _exit(0);
    }
    wait_for(pid);
}

static void test_full_disk(void **state)
{
    const struct place *place = *state;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        /* A disk of 3 MiB that only this child sees. */
        if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
            mount("tmpfs", place->dir, "tmpfs", 0, "size=3m") != 0)
            _exit(77);
        fill_the_disk(place->exp, "No space left on device");
        _exit(0);
    }
    wait_for(pid);
}

static void test_no_room_for_a_new_one(void **state)
{
    const struct place *place = *state;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit limit = {20000, 20000};
        struct as_error err = {0};
        struct as_experiment *e;
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        child_check(as_experiment_create(place->exp, 0, &e, &err) == AS_ERR_IO);
        child_check(has(err.text, "cannot be written: "));
        child_check(access(place->exp, F_OK) != 0); /* nothing half made stays */
        _exit(0);
    }
    wait_for(pid);
}

/* A reader sees whole batches only, keeps its view during a statement, and blocks no writer. */
static void test_reader_beside_a_writer(void **state)
{
    const struct place *place = *state;
    struct as_experiment *writer, *reader;
    struct as_rows *rows;
    int n = 0;
    fine(as_experiment_create(place->exp, 0, &writer, err));
    fine(add_batch(writer, 0, 50, err));
    fine(as_experiment_read(place->exp, &reader, err));
    fine(as_experiment_begin(writer, err));
    fine(add_modules(writer, 50, 50, err));
    assert_int_equal(integer_of(reader, "SELECT count(*) FROM module"), 50);
    fine(as_rows_open(reader, "SELECT path FROM module", &rows, err));
    fine(as_rows_next(rows, err));
    fine(as_experiment_commit(writer, err));
    fine(add_batch(writer, 100, 50, err));
    for (n = 1; as_rows_next(rows, NULL) == 1; n++)
        ;
    as_rows_close(&rows);
    assert_int_equal(n, 50);
    assert_int_equal(integer_of(reader, "SELECT count(*) FROM module"), 150);
    fine(as_experiment_close(&writer, err)); /* under a reader */
    assert_int_equal(integer_of(reader, "SELECT count(*) FROM module"), 150);
    fine(as_experiment_close(&reader, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_killed_then_read),
        place_test(test_killed_then_written_on),
        place_test(test_a_batch_not_committed_is_gone),
        place_test(test_largest_file_reached),
        place_test(test_full_disk),
        place_test(test_no_room_for_a_new_one),
        place_test(test_reader_beside_a_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
