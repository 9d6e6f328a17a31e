/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluations from an index against those from its trace: equal pieces, cells and sums. Traces are
 * random: lines of one time, states that overlap, CPUs, late messages. Damaged and stale indexes
 * change no result.
 *
 *     timeline-replay-test TRACE FROM_NS TO_NS CFG...
 *
 * compares evaluations of other traces and configurations. It leaves the index beside the trace.
 */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/infile.h"
#include "timeline/replay.h"
#include "timeline/timeline.h"

#define THREADS_N 5
#define CPUS_N    3
#define CFG_MAX_B ((size_t)1 << 20)

/* A result: numbers in an order that does not depend on the order of objects. */
struct replayed_number {
    uint64_t line_object;
    size_t place;
    int64_t begin_ns, end_ns;
    struct as_quantity value;
};
struct replayed_result {
    AS_VEC(struct replayed_number) number;
    bool from_index, is_damaged;
};

static struct {
    char folder[64], trace[96], directory[112], path[160];
    uint64_t seed;
} t;

static uint64_t any_number(uint64_t n)
{
    t.seed = t.seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (t.seed >> 33) % n;
}

/* ---- Evaluating ------------------------------------------------------------------------------ */

static int keep_number(void *context, uint32_t time_line, uint32_t object, int64_t begin_ns,
                       int64_t end_ns, struct as_quantity value)
{
    struct replayed_result *r = context;
    const struct replayed_number number = {(uint64_t)time_line << 32 | object, r->number.n,
                                           begin_ns, end_ns, value};
    return as_vec_push(&r->number, number);
}

static void forget_numbers(void *context)
{
    ((struct replayed_result *)context)->number.n = 0;
}

static int compare_places(const void *a, const void *b)
{
    const struct replayed_number *x = a, *y = b;
    if (x->line_object != y->line_object)
        return x->line_object < y->line_object ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static void keep_cells(const struct as_evaluator *evaluation, struct replayed_result *out)
{
    size_t n;
    const struct as_histogram_result *table = as_evaluator_tables(evaluation, &n);
    for (size_t i = 0; i < n; i++) {
        const struct as_histogram_result *r = &table[i];
        assert_int_equal(keep_number(out, UINT32_MAX, (uint32_t)i, (int64_t)r->outside_n,
                                     r->outside_ns, r->columns.max),
                         0);
        as_vec_foreach (&r->cell, c) {
            const struct as_quantity value = as_histogram_cell_value(evaluation, r, c);
            keep_number(out, UINT32_MAX, (uint32_t)i, c->row, c->column, value);
            keep_number(out, UINT32_MAX, (uint32_t)i, c->plane, c->cell.bursts_n, c->cell.max);
            keep_number(out, UINT32_MAX, (uint32_t)i, c->cell.time_ns, c->cell.not_zero_ns,
                        as_sum_number(&c->cell.integral));
        }
    }
}

/* `how` NULL: from the trace. */
static int evaluate_once(const char *path, struct as_timeline_evaluation *how, int64_t from_ns,
                         int64_t to_ns, const struct as_configuration *c, size_t n,
                         struct replayed_result *out)
{
    const struct as_evaluator_options options = {.from_ns = from_ns,
                                                 .to_ns = to_ns,
                                                 .on_piece = keep_number,
                                                 .on_restart = forget_numbers,
                                                 .context = out};
    struct as_evaluator *evaluation;
    struct as_evaluated trace;
    struct as_error err = {0};
    *out = (struct replayed_result){0};
    assert_int_equal(as_evaluated_open(path, &trace, &err), 0);
    assert_int_equal(as_evaluator_new(&trace.objects, &options, &evaluation), 0);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = as_evaluator_add(evaluation, &c[i], &err);
    if (rc == 0)
        rc = how ? as_timeline_evaluate(&trace, evaluation, how, &err)
                 : as_evaluated_run(&trace, evaluation, &err);
    if (rc == 0)
        keep_cells(evaluation, out);
    keep_number(out, UINT32_MAX, UINT32_MAX, as_evaluator_end_ns(evaluation), rc, as_whole(0));
    out->from_index = how && how->from_index;
    out->is_damaged = how && *how->damage.text;
    qsort(out->number.at, out->number.n, sizeof *out->number.at, compare_places);
    as_evaluator_free(&evaluation);
    as_evaluated_close(&trace);
    return rc;
}

static bool quantities_are_equal(struct as_quantity a, struct as_quantity b)
{
    return a.is_real == b.is_real && a.whole == b.whole; /* bit for bit */
}

static bool results_are_equal(const struct replayed_result *a, const struct replayed_result *b)
{
    if (a->number.n != b->number.n)
        return false;
    for (size_t i = 0; i < a->number.n; i++) {
        const struct replayed_number *x = &a->number.at[i], *y = &b->number.at[i];
        if (x->line_object != y->line_object || x->begin_ns != y->begin_ns ||
            x->end_ns != y->end_ns || !quantities_are_equal(x->value, y->value))
            return false;
    }
    return true;
}

/* The ways to read an index. */
static const struct as_timeline_evaluation ways[] = {
    {0}, {.part_blocks = 1}, {.part_blocks = 7}, {.by_time = true}};
#define WAYS_N (sizeof ways / sizeof *ways)

/* How many ways differ from the trace, or were not from the index. */
static unsigned compare_ways(const char *path, int64_t from_ns, int64_t to_ns,
                             const struct as_configuration *c, size_t n)
{
    struct replayed_result plain, got;
    unsigned differ_n = 0;
    const int rc = evaluate_once(path, NULL, from_ns, to_ns, c, n, &plain);
    for (size_t i = 0; i < WAYS_N; i++) {
        struct as_timeline_evaluation how = ways[i];
        const int other = evaluate_once(path, &how, from_ns, to_ns, c, n, &got);
        differ_n += rc != other || (rc == 0 && !got.from_index) || got.is_damaged ||
                    !results_are_equal(&plain, &got);
        as_vec_fini(&got.number);
    }
    as_vec_fini(&plain.number);
    return differ_n;
}

/* ---- Indexes --------------------------------------------------------------------------------- */

static const struct as_ready *ready_named(const char *name)
{
    for (size_t i = 0; i < as_ready_n; i++)
        if (strcmp(as_ready_configurations[i].name, name) == 0)
            return &as_ready_configurations[i];
    fail_msg("no configuration %s", name);
    return NULL;
}

static void read_ready(const char *name, struct as_configuration *out)
{
    struct as_error err = {0};
    assert_int_equal(as_cfg_read(as_view_of(ready_named(name)->text), name, out, &err), 0);
}

/* As `assay open` makes it; `waiting_max` small: blocks of few items. */
static void make_records(const char *trace_path, const char *path, size_t waiting_max)
{
    const struct as_ready *ready = ready_named(AS_TIMELINE_RECORDS);
    struct as_configuration c;
    struct as_timeline_making making = {
        .configuration = &c, .with_records = true, .waiting_max = waiting_max};
    struct as_evaluated trace;
    struct as_error err = {0};
    read_ready(AS_TIMELINE_RECORDS, &c);
    assert_int_equal(as_timeline_identify(trace_path, as_view_of(ready->text), &making.of, &err),
                     0);
    assert_int_equal(as_evaluated_open(trace_path, &trace, &err), 0);
    assert_int_equal(as_timeline_make(&trace, &making, path, &err), 0);
    as_evaluated_close(&trace);
    as_configuration_fini(&c);
}

/* ---- Traces ---------------------------------------------------------------------------------- */

static void write_random_line(FILE *file, int64_t ns)
{
    const unsigned cpu = (unsigned)any_number(CPUS_N + 1);
    const unsigned thread = 1 + (unsigned)any_number(THREADS_N);
    const uint64_t kind = any_number(10);
    fprintf(file, "%d:%u:1:%u:%u:%lld:",
            kind < 3   ? 1
            : kind < 8 ? 2
                       : 3,
            cpu, 1 + (thread - 1) / 3, 1 + (thread - 1) % 3, (long long)ns);
    if (kind < 3) {
        const int64_t end_ns = ns + (int64_t)any_number(4) * (int64_t)any_number(40);
        fprintf(file, "%lld:%u\n", any_number(40) ? (long long)end_ns : -1LL,
                (unsigned)any_number(5));
    } else if (kind < 8) {
        fprintf(file, "%u:%lld", 50000001 + (unsigned)any_number(3), (long long)any_number(9));
        if (any_number(3) == 0)
            fprintf(file, ":42000050:%lld:42000059:%llu", (long long)any_number(1000000) - 20,
                    (unsigned long long)any_number(1000) << any_number(40));
        fprintf(file, "\n");
    } else {
        const unsigned other = 1 + (unsigned)any_number(THREADS_N);
        fprintf(file, "%lld:%u:1:%u:%u:%lld:%lld:%llu:%u\n", (long long)(ns + any_number(5)),
                (unsigned)any_number(CPUS_N + 1), 1 + (other - 1) / 3, 1 + (other - 1) % 3,
                (long long)(ns + any_number(300)), (long long)(ns + any_number(300)),
                (unsigned long long)any_number(65536), (unsigned)any_number(4));
    }
}

/* Two tasks of three and two threads. One line in so many is late; 0: none is. */
static void write_random_trace(uint64_t seed, unsigned lines_n, unsigned late)
{
    const int64_t span_ns = (int64_t)lines_n * 4;
    FILE *file = fopen(t.trace, "w");
    int64_t ns = 0;
    assert_non_null(file);
    t.seed = seed;
    fprintf(file, "#Paraver (01/01/2026 at 00:00):%lld_ns:1(%d):1:2(3:1,2:1),0\n",
            (long long)span_ns, CPUS_N);
    for (unsigned i = 0; i < lines_n; i++) {
        ns += any_number(3) ? 0 : (int64_t)any_number(20);
        write_random_line(file, late && any_number(late) == 0 ? ns / 2 : ns);
    }
    assert_int_equal(fclose(file), 0);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void compare_ready(const char *name, int64_t from_ns, int64_t to_ns)
{
    struct as_configuration c;
    read_ready(name, &c);
    if (compare_ways(t.trace, from_ns, to_ns, &c, 1))
        fail_msg("%s, %lld to %lld: the index gives another result", name, (long long)from_ns,
                 (long long)to_ns);
    as_configuration_fini(&c);
}

static void test_equal(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        write_random_trace(seed, 2500, seed % 2 ? 0 : 50);
        make_records(t.trace, t.path, seed < 3 ? 0 : 100);
        for (size_t i = 0; i < as_ready_n; i++) {
            compare_ready(as_ready_configurations[i].name, 0, INT64_MAX);
            compare_ready(as_ready_configurations[i].name, (int64_t)any_number(4000),
                          4001 + (int64_t)any_number(4000));
        }
    }
}

/* More records than the evaluator takes at once: parts of the trace and of the index differ. */
static void test_many_records(void **state)
{
    (void)state;
    write_random_trace(9, 160000, 0);
    make_records(t.trace, t.path, 0);
    compare_ready("mpi-profile", 0, INT64_MAX);
    compare_ready("useful-duration", 0, INT64_MAX);
    compare_ready("ipc", 100000, 400000);
    compare_ready("communication-bytes", 0, INT64_MAX);
}

/* Empty traces and traces without a kind of lines have results, too. */
static void test_few_records(void **state)
{
    (void)state;
    for (unsigned lines_n = 0; lines_n < 6; lines_n++) {
        write_random_trace(20 + lines_n, lines_n, 0);
        make_records(t.trace, t.path, 0);
        compare_ready("mpi-profile", 0, INT64_MAX);
        compare_ready("states", 0, INT64_MAX);
        compare_ready("communication-bytes", 0, INT64_MAX);
    }
}

static void expect_trace(const char *name, bool is_damaged)
{
    struct as_timeline_evaluation how = {0};
    struct replayed_result plain, got;
    struct as_configuration c;
    read_ready(name, &c);
    assert_int_equal(evaluate_once(t.trace, NULL, 0, INT64_MAX, &c, 1, &plain), 0);
    assert_int_equal(evaluate_once(t.trace, &how, 0, INT64_MAX, &c, 1, &got), 0);
    assert_false(got.from_index);
    assert_int_equal(got.is_damaged, is_damaged);
    assert_true(results_are_equal(&plain, &got));
    as_vec_fini(&plain.number);
    as_vec_fini(&got.number);
    as_configuration_fini(&c);
}

static void test_stale(void **state)
{
    struct stat st;
    (void)state;
    unlink(t.path);
    write_random_trace(30, 2000, 0);
    expect_trace("mpi-profile", false); /* no index */
    make_records(t.trace, t.path, 0);
    compare_ready("mpi-profile", 0, INT64_MAX);
    assert_int_equal(stat(t.trace, &st), 0);
    FILE *file = fopen(t.trace, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, st.st_size / 2, SEEK_SET), 0);
    while (fgetc(file) != '\n')
        ;
    fputs("2:0:1:1:1", file); /* another object; the size stays */
    assert_int_equal(fclose(file), 0);
    const struct timespec times[2] = {st.st_atim, st.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, t.trace, times, 0), 0); /* the time stays, too */
    expect_trace("mpi-profile", false);
    make_records(t.trace, t.path, 0);
    file = fopen(t.trace, "a");
    assert_non_null(file);
    fputs("2:1:1:1:1:900000:50000001:1\n", file);
    assert_int_equal(fclose(file), 0);
    expect_trace("mpi-profile", false);
}

/* A note about lines that are left out needs the trace. */
static void test_bad_lines(void **state)
{
    FILE *file;
    (void)state;
    write_random_trace(31, 500, 0);
    file = fopen(t.trace, "a");
    assert_non_null(file);
    fputs("2:1:9:9:9:900000:50000001:1\n", file);
    assert_int_equal(fclose(file), 0);
    make_records(t.trace, t.path, 0);
    expect_trace("states", false);
}

static void change_byte(long at, int flip)
{
    FILE *file = fopen(t.path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    const int byte = fgetc(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    fputc(byte ^ flip, file);
    assert_int_equal(fclose(file), 0);
}

/* Any changed byte is found where it matters: results are those of the trace. */
static void test_damaged(void **state)
{
    const char *const names[] = {"mpi-profile", "states", "communication-bytes"};
    unsigned found_n = 0;
    struct stat st;
    (void)state;
    write_random_trace(32, 1500, 0);
    make_records(t.trace, t.path, 0);
    assert_int_equal(stat(t.path, &st), 0);
    for (unsigned i = 0; i < 300; i++) {
        const long at = i < 60 ? (long)any_number(192) : (long)any_number((uint64_t)st.st_size);
        const int flip = 1 << any_number(8);
        struct as_timeline_evaluation how = {.by_time = i % 2};
        struct replayed_result plain, got;
        struct as_configuration c;
        read_ready(names[i % 3], &c);
        change_byte(at, flip);
        assert_int_equal(evaluate_once(t.trace, NULL, 0, INT64_MAX, &c, 1, &plain), 0);
        assert_int_equal(evaluate_once(t.trace, &how, 0, INT64_MAX, &c, 1, &got), 0);
        assert_true(results_are_equal(&plain, &got));
        assert_true(!got.is_damaged || !got.from_index);
        found_n += got.is_damaged;
        change_byte(at, flip);
        as_vec_fini(&plain.number);
        as_vec_fini(&got.number);
        as_configuration_fini(&c);
    }
    assert_true(found_n > 50);
    compare_ready("mpi-profile", 0, INT64_MAX);
    assert_int_equal(truncate(t.path, st.st_size - 8), 0);
    expect_trace("mpi-profile", true);
}

/* The word behind the magic is the version. */
static void test_old_version(void **state)
{
    (void)state;
    write_random_trace(33, 300, 0);
    make_records(t.trace, t.path, 0);
    change_byte(8, AS_TIMELINE_VERSION ^ 1);
    expect_trace("mpi-profile", false);
}

static int begin_folder(void **state)
{
    const char *temporary = getenv("TMPDIR");
    (void)state;
    snprintf(t.folder, sizeof t.folder, "%s/assay-replay-XXXXXX",
             temporary && strlen(temporary) < 40 ? temporary : "/tmp");
    if (!mkdtemp(t.folder))
        return -1;
    snprintf(t.trace, sizeof t.trace, "%s/x.prv", t.folder);
    snprintf(t.directory, sizeof t.directory, "%s.index", t.trace);
    snprintf(t.path, sizeof t.path, "%s/states.index", t.directory);
    return mkdir(t.directory, 0777);
}

static int end_folder(void **state)
{
    (void)state;
    unlink(t.trace);
    unlink(t.path);
    rmdir(t.directory);
    return rmdir(t.folder);
}

/* ---- Other traces ---------------------------------------------------------------------------- */

static int compare_files(int argc, char **argv)
{
    struct as_configuration c[16];
    struct as_error err = {0};
    char directory[4096], path[4200];
    const int n = argc - 4;
    snprintf(directory, sizeof directory, "%s.index", argv[1]);
    snprintf(path, sizeof path, "%s/states.index", directory);
    mkdir(directory, 0777);
    for (int i = 0; i < n && i < 16; i++) {
        char *text;
        size_t text_b;
        if (as_infile_read_text(argv[i + 4], "the configuration", CFG_MAX_B, AS_INFILE_PIPE, &text,
                                &text_b, &err) < 0 ||
            as_cfg_read((struct as_view){text, text_b}, argv[i + 4], &c[i], &err) < 0) {
            fprintf(stderr, "%s\n", err.text);
            return 2;
        }
        as_free(text);
    }
    unsigned differ_n = 0;
    for (unsigned waiting_max = 8; waiting_max <= 8000; waiting_max *= 1000) {
        make_records(argv[1], path, waiting_max);
        differ_n += compare_ways(argv[1], atoll(argv[2]), atoll(argv[3]), c, (size_t)n);
    }
    for (int i = 0; i < n; i++)
        as_configuration_fini(&c[i]);
    if (differ_n)
        printf("%u evaluations of the index differ\n", differ_n);
    return differ_n != 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),       cmocka_unit_test(test_many_records),
        cmocka_unit_test(test_few_records), cmocka_unit_test(test_stale),
        cmocka_unit_test(test_bad_lines),   cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_old_version),
    };
    if (argc > 4 && argc <= 20)
        return compare_files(argc, argv);
    return cmocka_run_group_tests(tests, begin_folder, end_folder);
}
