/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attribution without a kernel. A stream with frames in functions of this very program goes in,
 * rows of the experiment come out. Every number is known by construction.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "catalogue/catalogue.h"
#include "experiment/internal.h"
#include "profile/profile.h"
#include "quality/quality.h"

static const struct as_sample_choice choice = {
    .event = AS_EVENT_CPU_CLOCK, .rate_hz = 500, .reason = "because"};

int callee(int n);
int caller(int n);

__attribute__((noinline)) int callee(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        __asm__ volatile("" : "+r"(sum));
        sum += i;
    }
    return sum;
}

__attribute__((noinline)) int caller(int n)
{
    return callee(n) + 1;
}

/* Inlined into each other, whatever the options: the addresses of the inner ones are their marks.
 */
int outermost(int n);
extern const char inner_mark[], middle_mark[], outer_mark[];

static inline __attribute__((always_inline)) int inner(int n)
{
    __asm__ volatile(".globl inner_mark\ninner_mark: nop\n\tnop" : "+r"(n));
    return n;
}

static inline __attribute__((always_inline)) int middle(int n)
{
    __asm__ volatile(".globl middle_mark\nmiddle_mark: nop\n\tnop" : "+r"(n));
    return inner(n) + 1;
}

__attribute__((noinline)) int outermost(int n)
{
    __asm__ volatile(".globl outer_mark\nouter_mark: nop\n\tnop" : "+r"(n));
    return middle(n) + 1;
}

/* ---- A stream ------------------------------------------------------------------------------ */

struct setting {
    char directory[64], experiment[96], program[4096];
    uint64_t callee_at, caller_at, outermost_at; /* as mapped at BASE */
    struct as_experiment *store;
    int64_t run_id;
};

#define BASE 0x555500000000u
#define LONG 0x40000000u

static struct setting setting;
static struct as_recorder *recorder;

static void give(struct as_sample_record record)
{
    struct as_error err;
    assert_int_equal(as_recorder_add(recorder, &record, &err), 0);
}

static void give_sample(uint32_t pid, uint32_t tid, uint64_t time_ns, const uint64_t *chain,
                        size_t n)
{
    give((struct as_sample_record){.kind = AS_SAMPLE_SAMPLE,
                                   .pid = pid,
                                   .tid = tid,
                                   .cpu = 1,
                                   .time_ns = time_ns,
                                   .period = 2000000,
                                   .chain = chain,
                                   .chain_n = n});
}

static void give_map(uint32_t pid, uint64_t address, uint64_t size_b, const char *path)
{
    struct stat st = {.st_ino = 7};
    (void)stat(path, &st);
    give((struct as_sample_record){.kind = AS_SAMPLE_MAP,
                                   .pid = pid,
                                   .tid = pid,
                                   .time_ns = 1000,
                                   .address = address,
                                   .size_b = size_b,
                                   .inode = st.st_ino,
                                   .text = path});
}

/* 101 enters CPU 2 and leaves CPU 1; those after 102 have CPUs of their own. */
static void give_switch(uint32_t tid, uint64_t time_ns, bool out, bool preempted)
{
    give((struct as_sample_record){.kind = AS_SAMPLE_SWITCH,
                                   .pid = 100,
                                   .tid = tid,
                                   .cpu = tid == 101 && !out ? 2
                                          : tid > 102        ? tid - 100
                                                             : 1,
                                   .time_ns = time_ns,
                                   .out = out,
                                   .preempted = preempted});
}

/* 30 samples in callee <- caller of thread 100; 10 in caller of thread 101; 5 of recursion; 2 where
 * nothing is mapped; 3 in a process that is a rank and has generated code. */
static void give_all(void)
{
    const uint64_t user = (uint64_t)PERF_CONTEXT_USER;
    const uint64_t in_callee[] = {user, setting.callee_at + 1, setting.caller_at + 6};
    const uint64_t in_caller[] = {user, setting.caller_at + 1};
    const uint64_t again[] = {user, setting.callee_at + 1, setting.caller_at + 6,
                              setting.caller_at + 6};
    const uint64_t nowhere[] = {user, 0x1234};
    const uint64_t generated[] = {user, 0x7000, setting.caller_at + 6};
    struct as_error err;
    /* The kernel's account, with the user part for this run: 0.1 s of it is in samples, and one
     * process has no samples. */
    assert_int_equal(as_recorder_info(recorder, "cpu_ns", "6000000000", &err), 0);
    assert_int_equal(as_recorder_info(recorder, "cpu_user_ns", "5000000000", &err), 0);
    assert_int_equal(
        as_recorder_info(recorder, "process_cpu", "300 4000000000 fixed\tis static", &err), 0);
    assert_int_equal(as_recorder_info(recorder, "process_cpu", "100 95000000 seen\t", &err), 0);
    give_map(100, BASE, LONG, setting.program);
    give_switch(101, 1500, false, false);
    for (unsigned i = 0; i < 30; i++)
        give_sample(100, 100, 2000 + i, in_callee, 3);
    for (unsigned i = 0; i < 10; i++)
        give_sample(100, 101, 3000 + i, in_caller, 2);
    for (unsigned i = 0; i < 5; i++)
        give_sample(100, 100, 4000 + i, again, 4);
    give_sample(100, 100, 5000, nowhere, 2);
    give_sample(100, 100, 5001, nowhere, 2);
    give_switch(101, 3500, true, false);
    give_switch(101, 9500, false, false);
    give_switch(101, 9600, true, true);
    give_map(200, BASE, LONG, setting.program);
    give_map(200, 0x7000, 0x1000, "//anon");
    assert_int_equal(as_recorder_process(recorder, 200, 5500, "rank", "3", &err), 0);
    assert_int_equal(as_recorder_process(recorder, 200, 5500, "exit_code", "7", &err), 0);
    for (unsigned i = 0; i < 3; i++)
        give_sample(200, 200, 6000 + i, generated, 3);
}

static void write_jit(const char *directory)
{
    char path[4200];
    snprintf(path, sizeof path, "%.4096s/perf-200.map", directory);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "6000 2000 old code\n7000 10 hot code of 3 words\nnonsense\n7010 20 other\n");
    fclose(f);
}

static int make(void **state)
{
    char path[4200];
    struct as_error err;
    const struct as_row_run run = {.kind = "profile",
                                   .command = "x",
                                   .start_ns = 5000000000,
                                   .state = "complete",
                                   .launcher = "plain"};
    const struct as_sample_counts counts = {.lost = 4, .lost_other = 2};
    Dl_info info;
    (void)state;
    strcpy(setting.directory, "/tmp/assay-attribute-XXXXXX");
    assert_non_null(mkdtemp(setting.directory));
    snprintf(setting.experiment, sizeof setting.experiment, "%s/x.assay", setting.directory);
    const ssize_t n = readlink("/proc/self/exe", setting.program, sizeof setting.program - 1);
    assert_true(n > 0);
    /* The recorder's offsets are those of the file: the test maps it from offset 0. */
    assert_true(dladdr((void *)(uintptr_t)callee, &info));
    struct as_object *object;
    const struct as_segment *segment;
    assert_int_equal(as_object_open(setting.program, NULL, &object, &err), 0);
    const size_t segments = as_object_segments(object, &segment);
    for (size_t i = 0; i < segments; i++) {
        if (segment[i].type != PT_LOAD || !segment[i].exec)
            continue;
        const uint64_t bias = BASE + segment[i].offset - segment[i].address;
        setting.callee_at = (uintptr_t)callee - (uintptr_t)info.dli_fbase + bias;
        setting.caller_at = (uintptr_t)caller - (uintptr_t)info.dli_fbase + bias;
        setting.outermost_at = (uintptr_t)outermost - (uintptr_t)info.dli_fbase + bias;
    }
    as_object_close(&object);
    assert_int_equal(as_experiment_create(setting.experiment, 0, &setting.store, &err), 0);
    assert_int_equal(as_experiment_add_run(setting.store, &run, &setting.run_id, &err), 0);
    assert_int_equal(as_experiment_run_directory(setting.store, setting.run_id, path, 4096, &err),
                     0);
    write_jit(path);
    strcat(path, "/main.samples");
    assert_int_equal(as_recorder_new(path, &choice, 0, &recorder, &err), 0);
    assert_int_equal(as_recorder_info(recorder, "clock_offset_ns", "5000000000", &err), 0);
    give_all();
    assert_int_equal(as_recorder_finish(&recorder, &counts, &err), 0);
    if (as_profile_attribute(setting.store, setting.run_id, NULL, &err) < 0)
        fail_msg("%s", err.text);
    return 0;
}

static int remove_all(void **state)
{
    char command[128];
    (void)state;
    as_experiment_close(&setting.store, NULL);
    snprintf(command, sizeof command, "rm -r %s", setting.directory);
    return system(command);
}

/* ---- Asking -------------------------------------------------------------------------------- */

static void expect(const char *sql, const char *answer)
{
    struct as_rows *rows;
    struct as_error err;
    char text[4096] = "";
    size_t at = 0;
    if (as_rows_open(setting.store, sql, &rows, &err) < 0)
        fail_msg("%s: %s", sql, err.text);
    while (as_rows_next(rows, &err) == 1) {
        for (int i = 0; i < as_rows_column_n(rows); i++) {
            const char *cell = as_rows_text(rows, i);
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s",
                                   i    ? "|"
                                   : at ? ";"
                                        : "",
                                   cell ? cell : "-");
        }
    }
    as_rows_close(&rows);
    if (strcmp(text, answer) != 0)
        fail_msg("%s\n  gives    %s\n  expected %s", sql, text, answer);
}

static void test_functions(void **state)
{
    (void)state;
    expect("SELECT name, exclusive_sample_n, inclusive_sample_n, category FROM v_functions ORDER "
           "BY exclusive_sample_n DESC, name",
           "callee|35|35|application;caller|10|48|application;hot code of 3 words|3|3|application;"
           "[unknown]|2|2|other");
    expect("SELECT printf('%.6f', exclusive_time_s) FROM v_functions WHERE name = 'callee'",
           "0.070000");
    expect("SELECT known_from FROM function WHERE name LIKE 'hot%'", "jit");
    expect("SELECT name, kind FROM v_modules WHERE name LIKE '%generated%' OR kind = 'anonymous' "
           "ORDER BY name",
           "[generated code of process 200]|jit;[unknown]|anonymous");
}

static void test_loops_and_lines(void **state)
{
    (void)state;
    /* The sample stands in the loop's block or before it, as the compiler has it. */
    expect(
        "SELECT count(*) >= 1 FROM loop AS l JOIN function AS f USING (function_id) WHERE f.name "
        "= 'callee'",
        "1");
    expect("SELECT count(*) FROM location WHERE line_id IS NULL AND function_id IN (SELECT "
           "function_id FROM function WHERE name = 'callee')",
           "0");
}

static void test_callpaths(void **state)
{
    (void)state;
    expect("SELECT path, exclusive_sample_n, inclusive_sample_n FROM v_callpaths WHERE path NOT "
           "LIKE '%unknown%' ORDER BY path",
           "caller|10|48;caller;callee|30|30;caller;caller|0|5;caller;caller;callee|5|5;caller;hot "
           "code of 3 words|3|3");
}

static void test_processes(void **state)
{
    (void)state;
    expect("SELECT pid, rank, exit_code, sample_n, thread_n FROM v_processes ORDER BY pid",
           "100|-|-|47|2;200|3|7|3|1");
    expect("SELECT exe FROM v_processes WHERE pid = 200", setting.program);
    expect("SELECT tid, sample_n FROM v_threads ORDER BY tid", "100|37;101|10;200|3");
    /* In at 1500, out to wait at 3500, in at 9500, pushed out at 9600. */
    expect("SELECT cpu_ns, blocked_ns, switch_voluntary_n, switch_involuntary_n FROM thread WHERE "
           "tid = 101",
           "2100|6000|1|1");
}

static void test_trust(void **state)
{
    (void)state;
    expect("SELECT name, n FROM v_flags ORDER BY name",
           "crashed|1;event_fallback|1;lost_records|2;lost_samples|4;unseen_time|1");
    expect("SELECT text FROM v_flags WHERE name = 'unseen_time'",
           "4.89 s of 5.00 s of CPU time (98 %) were not sampled: all shares refer to the rest. "
           "fixed (process 300, at least 4.00 s) is static.");
    expect("SELECT text LIKE 'rank 3 (%, process 200) ended with exit code 7' FROM v_flags WHERE "
           "name = 'crashed'",
           "1");
    expect("SELECT sample_n FROM v_runs", "50");
    expect("SELECT sum(exclusive_sample_n) FROM v_functions", "50");
    expect("SELECT sum(sample_n) FROM v_categories", "50");
}

static void test_excerpts(void **state)
{
    (void)state;
    expect("SELECT count(*) > 3 FROM disassembly JOIN function USING (function_id) WHERE name = "
           "'callee'",
           "1");
    expect("SELECT count(*) >= 1 FROM line WHERE text LIKE '%sum += i;%'", "1");
}

/* Adds a run with a stream that `fill` makes; it is attributed if it has samples. */
static int64_t add_run(void (*fill)(void), char *path)
{
    const struct as_row_run run = {.kind = "profile", .command = "x", .state = "interrupted"};
    struct as_error err;
    int64_t run_id;
    assert_int_equal(as_experiment_add_run(setting.store, &run, &run_id, &err), 0);
    assert_int_equal(as_experiment_run_directory(setting.store, run_id, path, 4096, &err), 0);
    strcat(path, "/main.samples");
    assert_int_equal(as_recorder_new(path, &choice, 0, &recorder, &err), 0);
    fill();
    assert_int_equal(as_recorder_finish(&recorder, NULL, &err), 0);
    return run_id;
}

static uint64_t recorded(const char *place)
{
    return setting.callee_at + (uint64_t)((uintptr_t)place - (uintptr_t)callee);
}

/* 4 samples in outermost, 5 in middle, 6 in inner, 7 in callee called from inner. */
static void give_inlined(void)
{
    const uint64_t user = (uint64_t)PERF_CONTEXT_USER;
    const uint64_t outer[] = {user, recorded(outer_mark)};
    const uint64_t mid[] = {user, recorded(middle_mark)};
    const uint64_t in[] = {user, recorded(inner_mark)};
    const uint64_t called[] = {user, setting.callee_at + 1, recorded(inner_mark) + 1};
    give_map(100, BASE, LONG, setting.program);
    for (unsigned i = 0; i < 4; i++)
        give_sample(100, 100, 2000 + i, outer, 2);
    for (unsigned i = 0; i < 5; i++)
        give_sample(100, 100, 3000 + i, mid, 2);
    for (unsigned i = 0; i < 6; i++)
        give_sample(100, 100, 4000 + i, in, 2);
    for (unsigned i = 0; i < 7; i++)
        give_sample(100, 100, 5000 + i, called, 3);
}

/* Rules by symbol hold for inlined functions, which absorb what they call as others do. */
static void test_inlined(void **state)
{
    char path[4200], rules[128], sql[512];
    struct as_error err;
    (void)state;
    snprintf(rules, sizeof rules, "%s/rules.txt", setting.directory);
    FILE *f = fopen(rules, "w");
    assert_non_null(f);
    fprintf(f, "category wires\nsymbol middle\nabsorbs string\n\ncategory string\nsymbol callee\n");
    fclose(f);
    const struct as_attribute_options options = {.categories = rules};
    const int64_t run_id = add_run(give_inlined, path);
    if (as_profile_attribute(setting.store, run_id, &options, &err) < 0)
        fail_msg("%s", err.text);
    snprintf(sql, sizeof sql,
             "SELECT name, is_inlined, exclusive_sample_n, inclusive_sample_n, binary_sample_n,"
             " category FROM v_functions WHERE run_id = %lld ORDER BY exclusive_sample_n",
             (long long)run_id);
    expect(sql, "outermost|0|4|22|15|application;middle|1|5|18|-|wires;inner|1|6|13|-|wires;"
                "callee|0|7|7|7|wires");
    snprintf(sql, sizeof sql,
             "SELECT path, exclusive_sample_n, category FROM v_callpaths WHERE run_id = %lld"
             " ORDER BY depth",
             (long long)run_id);
    expect(sql, "outermost|4|application;outermost;middle|5|wires;outermost;middle;inner|6|wires;"
                "outermost;middle;inner;callee|7|wires");
    snprintf(sql, sizeof sql,
             "SELECT name, sample_n FROM v_categories WHERE run_id = %lld ORDER BY 2",
             (long long)run_id);
    expect(sql, "application|4;wires|18");
    expect("SELECT path, depth FROM v_inlinings WHERE binary_function = 'outermost' ORDER BY depth",
           "outermost;middle|1;outermost;middle;inner|2");
    expect("SELECT f.known_from, s.path LIKE '%attribute_test.c', l.number > 0 FROM function f"
           " JOIN line l USING (line_id) JOIN source_file s USING (source_file_id)"
           " WHERE f.name = 'inner'",
           "inlined|1|1");
}

static void give_nothing(void)
{
}

/* Also a recording that was cut off before its first block is attributed once. */
static void test_nothing_recorded(void **state)
{
    struct as_error err;
    char path[4200], sql[128];
    const int64_t run_id = add_run(give_nothing, path);
    (void)state;
    assert_int_equal(truncate(path, 16), 0);
    assert_int_equal(as_profile_attribute(setting.store, run_id, NULL, &err), 0);
    snprintf(sql, sizeof sql, "SELECT kind, size_b FROM run_file WHERE run_id = %lld",
             (long long)run_id);
    expect(sql, "samples|16");
    assert_int_equal(as_profile_attribute(setting.store, run_id, NULL, &err), AS_ERR_USAGE);
    assert_non_null(strstr(err.text, "attributed already"));
}

/* The same once more finds the call paths of the first run, and makes none. */
static void test_another_run(void **state)
{
    const struct as_row_run run = {
        .kind = "profile", .command = "x", .start_ns = 5000000000, .state = "complete"};
    struct as_error err;
    char path[4200], command[9000];
    int64_t run_id;

    (void)state;
    assert_int_equal(as_experiment_add_run(setting.store, &run, &run_id, &err), 0);
    assert_int_equal(as_experiment_run_directory(setting.store, run_id, path, 4096, &err), 0);
    snprintf(command, sizeof command, "cp %s/run-001/* %.4096s", setting.experiment, path);
    assert_int_equal(system(command), 0);
    expect("SELECT count(*) FROM callpath", "6");
    assert_int_equal(as_profile_attribute(setting.store, run_id, NULL, &err), 0);
    expect("SELECT count(*) FROM callpath", "6");
    expect("SELECT count(*) FROM callpath_time AS a JOIN callpath_time AS b USING (callpath_id, "
           "exclusive_n, inclusive_n, inclusive_ns, thread_n) WHERE a.run_id = 1 AND b.run_id = 3",
           "6");
}

/* The stacks of two threads begin in an OpenMP runtime: of the first because it is cut. */
static void give_openmp(void)
{
    const uint64_t user = (uint64_t)PERF_CONTEXT_USER;
    const uint64_t in_runtime[] = {user, 0x7f0000000010}, in_program[] = {user, 0x10000010};
    give_map(300, 0x10000000, 0x1000, "/nowhere/program");
    give_map(300, 0x7f0000000000, 0x1000, "/nowhere/libgomp.so.1");
    give_sample(300, 300, 2000, in_program, 2);
    give_sample(300, 300, 2001, in_runtime, 2);
    give_sample(300, 305, 2002, in_runtime, 2);
}

static void test_openmp_numbers(void **state)
{
    struct as_error err;
    char path[4200];
    (void)state;
    const int64_t run_id = add_run(give_openmp, path);
    assert_int_equal(as_profile_attribute(setting.store, run_id, NULL, &err), 0);
    expect("SELECT tid, omp_thread FROM v_threads WHERE pid = 300 ORDER BY tid", "300|0;305|1");
}

/* A region of the program on its first thread, and on a worker that the thread library began. With
 * `two`, another function calls the region too. */
static void give_region(bool two)
{
    const uint64_t user = (uint64_t)PERF_CONTEXT_USER, gomp = 0x7f0000000010;
    const uint64_t libpthread = 0x7f0000100010;
    const uint64_t first[] = {user, setting.callee_at + 1, gomp, setting.caller_at + 6,
                              setting.outermost_at + 1};
    const uint64_t second[] = {user, setting.callee_at + 1, gomp, setting.outermost_at + 1};
    const uint64_t worker[] = {user, setting.callee_at + 1, gomp + 0x100, libpthread};
    give_map(300, BASE, LONG, setting.program);
    give_map(300, 0x7f0000000000, 0x1000, "/nowhere/libgomp.so.1");
    give_map(300, 0x7f0000100000, 0x1000, "/nowhere/libpthread.so.0");
    give_sample(300, 305, 2000, worker, 4);
    give_sample(300, 300, 2001, first, 5);
    give_sample(300, 305, 2002, worker, 4);
    if (two)
        give_sample(300, 300, 2003, second, 4);
}

static void give_one_caller(void)
{
    give_region(false);
}

static void give_two_callers(void)
{
    give_region(true);
}

/* Inclusive samples of the program's functions, by path. */
static void expect_region(void (*content)(void), const char *answer)
{
    struct as_error err;
    char path[4200], sql[1024];
    const int64_t run_id = add_run(content, path);
    if (as_profile_attribute(setting.store, run_id, NULL, &err) < 0)
        fail_msg("%s", err.text);
    snprintf(sql, sizeof sql,
             "SELECT f.name, p.depth, t.inclusive_n FROM callpath_time AS t JOIN callpath AS p "
             "USING (callpath_id) JOIN function AS f USING (function_id) WHERE t.run_id = %" PRId64
             " AND f.name NOT LIKE '[%%' ORDER BY p.depth, f.name",
             run_id);
    expect(sql, answer);
}

static void test_workers_join_their_region(void **state)
{
    (void)state;
    expect_region(give_one_caller, "outermost|1|3;caller|2|3;callee|4|3");
    /* Which of the two it was is not known: below what they have in common. */
    expect_region(give_two_callers, "outermost|1|4;callee|2|2;caller|2|1;callee|3|1;callee|4|1");
}

static void give_fact(uint32_t tid, uint64_t time_ns, const char *name, const char *value)
{
    struct as_error err;
    assert_int_equal(as_recorder_thread(recorder, 100, tid, time_ns, name, value, &err), 0);
}

static void give_wait_at(uint32_t tid, uint64_t time_ns)
{
    const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_USER, setting.callee_at + 1};
    give((struct as_sample_record){.kind = AS_SAMPLE_SAMPLE,
                                   .pid = 100,
                                   .tid = tid,
                                   .cpu = 1,
                                   .time_ns = time_ns,
                                   .waits = true,
                                   .chain = chain,
                                   .chain_n = 2});
}

/* 102 is pushed off for 300 ns and waits 1000 ns, of which it was ready for the last 200: only the
 * kernel's account tells. 103 yields and ends in the queue; of it there is no such account. 104 has
 * an account of less than what its switches say. 101 goes to the other node and back. */
static void give_queues(void)
{
    struct as_error err;
    assert_int_equal(as_recorder_info(recorder, "numa", "0-1=0,2-3=1", &err), 0);
    give_map(100, BASE, LONG, setting.program);
    for (uint32_t tid = 102; tid <= 104; tid++) {
        give_switch(tid, 10000, false, false);
        give_switch(tid, 10100, true, true);
        give_switch(tid, 10400, false, false);
    }
    give_wait_at(102, 10500);
    give_switch(102, 10500, true, false);
    give_switch(102, 11500, false, false);
    give_fact(102, 11500, "run_delay_ns", "100");
    give((struct as_sample_record){
        .kind = AS_SAMPLE_EXIT, .pid = 100, .tid = 102, .time_ns = 11600});
    give_fact(102, 11600, "run_delay_ns", "500"); /* told after its end */
    give_switch(103, 10500, true, true);
    give((struct as_sample_record){
        .kind = AS_SAMPLE_EXIT, .pid = 100, .tid = 103, .time_ns = 10900});
    give_fact(104, 11600, "run_delay_ns", "250");
    give_switch(101, 12000, false, false); /* on CPU 2 */
    give_switch(101, 12100, true, false);  /* on 1 */
    give_switch(101, 12200, false, false);
    give_sample(100, 101, 12300, (const uint64_t[]){(uint64_t)PERF_CONTEXT_USER, 0x10}, 2);
}

static bool late_told; /* the first records come before what is known of the start */

/* The account of the program's first thread, 100, has 700 ns from before its records; that of 106
 * begins when it is made, 250 ns before it runs. Both wait 1000 ns, and are ready for the last 200.
 */
static void give_beginnings(void)
{
    struct as_error err;
    assert_int_equal(as_recorder_process(recorder, 100, 10450, "start_delay_ns", "1000", &err), 0);
    give_switch(100, 10000, false, false);
    give((struct as_sample_record){.kind = AS_SAMPLE_FORK,
                                   .pid = 100,
                                   .tid = 106,
                                   .parent_pid = 100,
                                   .parent_tid = 100,
                                   .time_ns = 10000});
    give_switch(100, 10100, true, true);
    give_switch(106, 10250, false, false);
    give_switch(100, 10400, false, false);
    for (uint32_t tid = 100; tid <= 106; tid += 6) {
        give_switch(tid, 10500, true, false);
        if (tid == 100 && late_told)
            assert_int_equal(
                as_recorder_process(recorder, 100, 10450, "start_delay_ns", "1000", &err), 0);
        give_switch(tid, 11500, false, false);
        give_fact(tid, 11600, "run_delay_ns", tid == 100 ? "1200" : "450");
        give((struct as_sample_record){
            .kind = AS_SAMPLE_EXIT, .pid = 100, .tid = tid, .time_ns = 11600});
    }
}

static void test_waiting_before_it_began(void **state)
{
    struct as_error err;
    char path[4200], sql[256];
    (void)state;
    for (int late = 0; late < 2; late++) {
        late_told = late;
        const int64_t run_id = add_run(give_beginnings, path);
        assert_int_equal(as_profile_attribute(setting.store, run_id, NULL, &err), 0);
        snprintf(sql, sizeof sql,
                 "SELECT tid, cpu_ns, blocked_ns, runnable_ns FROM thread JOIN process USING "
                 "(process_id) WHERE run_id = %lld ORDER BY tid",
                 (long long)run_id);
        expect(sql, "100|300|800|500;106|350|800|450");
    }
}

static void test_waiting_for_a_processor(void **state)
{
    struct as_error err;
    char path[4200], sql[256];
    (void)state;
    const int64_t run_id = add_run(give_queues, path);
    assert_int_equal(as_profile_attribute(setting.store, run_id, NULL, &err), 0);
    snprintf(sql, sizeof sql,
             "SELECT tid, cpu_ns, blocked_ns, runnable_ns FROM thread JOIN process USING "
             "(process_id) WHERE run_id = %lld AND tid > 101 ORDER BY tid",
             (long long)run_id);
    expect(sql, "102|300|800|500;103|200|0|700;104|2000|0|300");
    /* The wait at its place is as much shorter. */
    snprintf(sql, sizeof sql,
             "SELECT printf('%%.0f', 1e9 * blocked_time_s) FROM v_functions WHERE run_id = %lld "
             "AND name = 'callee'",
             (long long)run_id);
    expect(sql, "800");
    snprintf(sql, sizeof sql,
             "SELECT numa_migration_n, cpus, numa_nodes FROM v_threads WHERE run_id = %lld AND "
             "tid = 101",
             (long long)run_id);
    expect(sql, "3|1|0");
    expect("SELECT numa_migration_n, numa_nodes FROM v_threads WHERE run_id = 1 AND tid = 101",
           "-|-");
}

/* Each of three threads runs five times for 1000 ns. It yields three times and returns after 1000
 * ns, and waits once for 5000 ns. A switch takes 400 ns, of which the records tell nothing: the
 * account of 102 has 6600 ns of CPU time, and a run delay of three times 600 ns. 103 has no
 * account. 104 has more CPU time than four switches explain. */
static void give_yields(void)
{
    for (uint32_t tid = 102; tid <= 104; tid++) {
        give_switch(tid, 10000, false, false);
        for (uint64_t at = 11000; at < 17000; at += 2000) {
            give_switch(tid, at, true, true);
            give_switch(tid, at + 1000, false, false);
        }
        give_switch(tid, 17000, true, false);
        give_switch(tid, 22000, false, false);
        if (tid == 102)
            give_fact(tid, 22500, "ran_ns", "6100");
        give((struct as_sample_record){
            .kind = AS_SAMPLE_EXIT, .pid = 100, .tid = tid, .time_ns = 23000});
        if (tid == 102) {
            give_fact(tid, 23000, "ran_ns", "6600");
            give_fact(tid, 23000, "run_delay_ns", "1800");
        }
        if (tid == 104)
            give_fact(tid, 23000, "ran_ns", "45001");
    }
}

static void test_time_of_switches(void **state)
{
    struct as_error err;
    char path[4200], sql[256];
    (void)state;
    const int64_t run_id = add_run(give_yields, path);
    assert_int_equal(as_profile_attribute(setting.store, run_id, NULL, &err), 0);
    snprintf(sql, sizeof sql,
             "SELECT tid, cpu_ns, blocked_ns, runnable_ns FROM thread JOIN process USING "
             "(process_id) WHERE run_id = %lld AND tid > 101 ORDER BY tid",
             (long long)run_id);
    expect(sql, "102|6600|4600|1800;103|5000|5000|3000;104|5000|5000|3000");
}

/* The switch of 102 was not read in time: 102 had left the CPU when 100 came. */
static void give_lost_switch(void)
{
    give_switch(102, 1000, false, false);
    give_switch(100, 1500, false, false);
    give_switch(100, 1700, true, false);
    give_switch(100, 90000, false, false);
    give_switch(100, 91000, true, false);
}

static void test_lost_switch(void **state)
{
    struct as_error err;
    char path[4200], sql[256];
    (void)state;
    const int64_t run_id = add_run(give_lost_switch, path);
    assert_int_equal(as_profile_attribute(setting.store, run_id, NULL, &err), 0);
    snprintf(sql, sizeof sql,
             "SELECT tid, cpu_ns FROM thread JOIN process USING (process_id) WHERE run_id = %lld "
             "ORDER BY tid",
             (long long)run_id);
    expect(sql, "100|1200;102|500");
}

/* ---- Reading the code again ---------------------------------------------------------------- */

static int64_t count(const char *sql)
{
    struct as_rows *rows;
    struct as_error err;
    assert_int_equal(as_rows_open(setting.store, sql, &rows, &err), 0);
    assert_int_equal(as_rows_next(rows, &err), 1);
    const int64_t n = as_rows_integer(rows, 0);
    as_rows_close(&rows);
    return n;
}

/* The compiler may place the sample before the loop or in it; this does not matter here. */
static void give_loops_time(void)
{
    struct as_error err;
    assert_int_equal(
        as_sql_run(setting.store,
                   "CREATE TEMP TABLE lent AS SELECT t.*, l.loop_id FROM object_time t JOIN "
                   "function f ON f.function_id = t.object_id JOIN loop l USING (function_id) "
                   "WHERE t.object_kind = 'function' AND f.name = 'callee';"
                   "UPDATE lent SET object_kind = 'loop', object_id = loop_id;"
                   "ALTER TABLE lent DROP COLUMN loop_id;"
                   "DELETE FROM object_time WHERE object_kind = 'loop';"
                   "INSERT INTO object_time SELECT * FROM lent",
                   "test", &err),
        0);
}

/* The program's row says that it is the file with that identity; then its loops are read. */
static int64_t values_of(const char *identity)
{
    char sql[4400];
    struct as_error err = {0};
    snprintf(sql, sizeof sql, "UPDATE module SET %s WHERE path = '%s'", identity, setting.program);
    assert_int_equal(as_sql_run(setting.store, sql, "test", &err), 0);
    if (as_quality_run(setting.store, setting.run_id, NULL, &err) < 0)
        fail_msg("%s", err.text);
    return count("SELECT count(*) FROM v_values WHERE metric = 'flow_paths'");
}

/* A file that is not the one that ran is not read in its place; without a build-id nothing but the
 * inode and the time tells. */
static void test_code_of_another(void **state)
{
    struct stat st;
    char same[128], later[128];
    (void)state;
    assert_int_equal(stat(setting.program, &st), 0);
    const long long mtime_ns = st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec;
    snprintf(same, sizeof same, "build_id = NULL, inode = %llu, mtime_ns = %lld",
             (unsigned long long)st.st_ino, mtime_ns);
    snprintf(later, sizeof later, "build_id = NULL, inode = %llu, mtime_ns = %lld",
             (unsigned long long)st.st_ino, mtime_ns + 1);
    give_loops_time();
    assert_int_equal(values_of("build_id = '00112233445566778899aabbccddeeff00112233'"), 0);
    assert_int_equal(values_of(later), 0);
    assert_int_equal(values_of("build_id = NULL, inode = NULL, mtime_ns = NULL"), 0);
    assert_true(count("SELECT count(*) FROM flag WHERE name = 'code_not_read'") > 0);
    assert_true(values_of(same) > 0);
}

static uint64_t in_loop; /* as mapped at BASE */

static void give_loop(void)
{
    const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_USER, in_loop};
    give_map(400, BASE, LONG, setting.program);
    for (unsigned i = 0; i < 50; i++)
        give_sample(400, 400, 2000 + i, chain, 2);
}

/* Returns the mapped address of the header of the loop in callee. */
static uint64_t find_loop(struct as_catalogue *catalogue)
{
    struct as_catalogue_request request = {
        .file = {.path = setting.program, .kind = AS_MODULE_FILE}, .depth = AS_CATALOGUE_ANALYSED};
    const int fd = open(setting.program, O_RDONLY | O_CLOEXEC);
    struct as_catalogue_module *module;
    struct as_error err;
    const struct as_segment *segment;
    uint64_t address = 0, offset = 0;
    assert_true(as_file_identify(fd, &request.file.file));
    close(fd);
    assert_int_equal(as_catalogue_open(catalogue, &request, &module, &err), 0);
    assert_non_null(module->program);
    for (size_t i = 0; i < module->program->loop_n; i++) {
        const struct as_loop *loop = &module->program->loop[i];
        if (strcmp(module->program->body[loop->body].name, "callee") == 0)
            address = module->program->block[loop->header].start;
    }
    const size_t segments = as_object_segments(module->object, &segment);
    for (size_t i = 0; i < segments; i++)
        if (segment[i].type == PT_LOAD && segment[i].exec)
            offset = segment[i].offset - segment[i].address;
    as_catalogue_close(catalogue, &module);
    assert_true(address > 0);
    return BASE + offset + address;
}

/* The second pass finds the code that the first one has opened, and the loop by the first's row. */
static void test_code_is_analysed_once(void **state)
{
    struct as_catalogue *catalogue, *other;
    struct as_error err;
    char path[4200];
    (void)state;
    assert_int_equal(as_sql_run(setting.store, "DELETE FROM value; DELETE FROM flag", "test", &err),
                     0);
    assert_int_equal(as_catalogue_new(setting.store, NULL, &other, &err), 0);
    in_loop = find_loop(other);
    as_catalogue_free(&other);
    const int64_t run_id = add_run(give_loop, path);
    assert_int_equal(as_catalogue_new(setting.store, NULL, &catalogue, &err), 0);
    const struct as_attribute_options attribute = {.catalogue = catalogue};
    const struct as_quality_options quality = {.catalogue = catalogue};
    assert_int_equal(as_profile_attribute(setting.store, run_id, &attribute, &err), 0);
    assert_int_equal(as_catalogue_counts(catalogue).analysed, 1);
    assert_int_equal(as_quality_run(setting.store, run_id, &quality, &err), 0);
    assert_int_equal(as_catalogue_counts(catalogue).opened, 1);
    assert_int_equal(as_catalogue_counts(catalogue).analysed, 1);
    as_catalogue_free(&catalogue);
    expect("SELECT f.name, v.value >= 1 FROM v_values AS v JOIN loop AS l ON l.loop_id = "
           "v.object_id JOIN function AS f USING (function_id) WHERE v.metric = 'flow_paths' AND "
           "v.object_kind = 'loop'",
           "callee|1");
    expect("SELECT count(*) FROM v_flags WHERE name = 'code_not_read'", "0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_loops_and_lines),
        cmocka_unit_test(test_callpaths),
        cmocka_unit_test(test_processes),
        cmocka_unit_test(test_trust),
        cmocka_unit_test(test_excerpts),
        cmocka_unit_test(test_nothing_recorded),
        cmocka_unit_test(test_another_run),
        cmocka_unit_test(test_openmp_numbers),
        cmocka_unit_test(test_workers_join_their_region),
        cmocka_unit_test(test_waiting_for_a_processor),
        cmocka_unit_test(test_waiting_before_it_began),
        cmocka_unit_test(test_time_of_switches),
        cmocka_unit_test(test_lost_switch),
        cmocka_unit_test(test_code_of_another),
        cmocka_unit_test(test_code_is_analysed_once),
        cmocka_unit_test(test_inlined),
    };
    return cmocka_run_group_tests(tests, make, remove_all);
}
