/* SPDX-License-Identifier: Apache-2.0 */
/* Targets under the sampler, for the tests of the room. */
#include "session.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool session_has_events(void)
{
    struct as_sampler *sampler;
    struct as_error err = {0};
    if (as_sampler_open(getpid(), NULL, &sampler, &err) < 0) {
        /* Not skip(): tests/unit/skips.py makes a skipped point of this. */
        print_message("# skipped: %s\n", err.text);
        return false;
    }
    as_sampler_close(&sampler);
    return true;
}

static char stream_path[64], account_path[64];
static struct target_account *account;

static void remove_stream(void)
{
    unlink(stream_path);
}

static void remove_account(void)
{
    unlink(account_path);
}

const struct target_account *session_account(void)
{
    return account;
}

/* Empty, for the next target. */
void session_begin_account(void)
{
    if (!account) {
        snprintf(account_path, sizeof account_path, "/tmp/sample-test-%d.account", (int)getpid());
        const int fd = open(account_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        atexit(remove_account);
        assert_true(fd >= 0);
        assert_int_equal(ftruncate(fd, sizeof *account), 0);
        account = mmap(NULL, sizeof *account, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        assert_true(account != MAP_FAILED);
        close(fd);
        setenv(ACCOUNT_VARIABLE, account_path, 1);
    }
    memset(account, 0, sizeof *account);
}

const char *session_stream(void)
{
    if (!stream_path[0]) {
        snprintf(stream_path, sizeof stream_path, "/tmp/sample-test-%d.samples", (int)getpid());
        atexit(remove_stream);
    }
    unlink(stream_path);
    return stream_path;
}

/* ---- Names -------------------------------------------------------------------------------- */

struct known {
    char path[256];
    struct as_object *object;
};
static struct known known[64];
static size_t known_n;

static struct as_object *object_of(const char *path)
{
    for (size_t i = 0; i < known_n; i++)
        if (strcmp(known[i].path, path) == 0)
            return known[i].object;
    if (known_n == sizeof known / sizeof *known)
        return NULL;
    struct known *k = &known[known_n++];
    snprintf(k->path, sizeof k->path, "%s", path);
    as_object_open(path, NULL, &k->object, NULL);
    return k->object;
}

static const char *name_of(const struct as_stream_module *module, uint64_t offset)
{
    const struct as_segment *segment;
    const struct as_function *f;
    struct as_error err;
    size_t n, segments;
    if (module->kind != AS_MODULE_FILE)
        return module->path;
    struct as_object *object = object_of(module->path);
    if (!object)
        return "?";
    segments = as_object_segments(object, &segment);
    for (size_t i = 0; i < segments; i++) {
        uint64_t address = segment[i].address + (offset - segment[i].offset);
        if (segment[i].type != 1 || offset < segment[i].offset ||
            offset - segment[i].offset >= segment[i].file_b ||
            as_object_functions(object, false, &f, &n, &err) < 0)
            continue;
        for (size_t k = 0; k < n; k++)
            if (address >= f[k].start && address < f[k].end)
                return f[k].name;
    }
    return "?";
}

/* ---- Reading ------------------------------------------------------------------------------ */

static void take_sample(struct session *out, struct as_stream *stream,
                        const struct as_stream_record *record)
{
    size_t modules_n, nodes_n, threads_n, n = 0;
    const struct as_stream_module *module = as_stream_modules(stream, &modules_n);
    const struct as_stream_node *node = as_stream_nodes(stream, &nodes_n);
    const struct as_stream_thread *thread = as_stream_threads(stream, &threads_n);
    struct one one = {.pid = thread[record->thread].pid,
                      .tid = thread[record->thread].tid,
                      .cpu = record->cpu,
                      .period = record->period,
                      .time_ns = record->time_ns,
                      .end = record->end};
    for (uint32_t i = record->node; i && n < sizeof one.path; i = node[i].parent) {
        const char *name = name_of(&module[node[i].module], node[i].address);
        const char *part = strstr(name, ".cold"); /* where the compiler moved it does not matter */
        n += (size_t)snprintf(one.path + n, sizeof one.path - n, "%s%.*s", n ? "<" : "",
                              part ? (int)(part - name) : (int)strlen(name), name);
    }
    assert_int_equal(as_vec_push(&out->sample, one), 0);
}

static void take_switch(struct session *out, struct as_stream *stream,
                        const struct as_stream_record *record)
{
    size_t n;
    const struct as_stream_thread *thread = as_stream_threads(stream, &n);
    struct as_stream_thread of = thread[record->thread];
    struct turn turn = {of.tid, record->cpu, of.pid == of.tid, record->out};
    assert_int_equal(as_vec_push(&out->turn, turn), 0);
}

void session_read(struct session *out, const char *path)
{
    struct as_stream *stream;
    struct as_stream_record record;
    struct as_error err = {0};
    int rc;
    if (as_stream_open(path, &stream, &err) < 0)
        fail_msg("%s", err.text);
    while ((rc = as_stream_next(stream, &record, &err)) > 0) {
        if (record.kind == AS_STREAM_SAMPLE)
            take_sample(out, stream, &record);
        out->maps += record.kind == AS_STREAM_MAP;
        out->comms += record.kind == AS_STREAM_COMM;
        out->forks += record.kind == AS_STREAM_FORK;
        out->exits += record.kind == AS_STREAM_EXIT;
        if (record.kind == AS_STREAM_SWITCH)
            take_switch(out, stream, &record);
        out->throttles += record.kind == AS_STREAM_THROTTLE;
    }
    assert_int_equal(rc, 0);
    out->truncated = as_stream_truncated(stream);
    out->counts = *as_stream_counts(stream, &out->dropped);
    as_stream_close(&stream);
}

void session_fini(struct session *session)
{
    as_vec_fini(&session->sample);
    as_vec_fini(&session->turn);
}

/* ---- Recording ---------------------------------------------------------------------------- */

pid_t session_start(const char *const *argv, int output, int *go)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    session_begin_account();
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        if (read(ends[0], &byte, 1) == 1 && (output < 0 || dup2(output, 1) == 1))
            execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    assert_true(pid > 0);
    close(ends[0]);
    *go = ends[1];
    return pid;
}

void session_release(int go)
{
    assert_int_equal(write(go, "", 1), 1);
    close(go);
}

static void must(int rc, const struct as_error *err)
{
    if (rc < 0)
        fail_msg("%s", err->text);
}

static uint64_t clock_ns(clockid_t id)
{
    struct timespec t;
    assert_int_equal(clock_gettime(id, &t), 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* CPU time that all threads of a process have used. */
static uint64_t used_ns(pid_t pid)
{
    clockid_t id;
    assert_int_equal(clock_getcpuclockid(pid, &id), 0);
    return clock_ns(id);
}

/* CPU time of a process that has been waited for, and of the children that it waited for. */
static uint64_t usage_ns(const struct rusage *usage)
{
    int64_t us = (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000 +
                 usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;
    return (uint64_t)us * 1000;
}

/* A target that hangs must not hang the tests; on the most loaded machine none takes this long. */
static void not_for_ever(uint64_t begun_ns)
{
    if (clock_ns(CLOCK_MONOTONIC) - begun_ns > 240000000000u)
        fail_msg("the target does not end");
}

/* Pumps until the target ends, or has had `until_ns` in all when that is positive. */
static void record(struct session *out, struct as_sampler *sampler, pid_t pid, uint64_t max_b,
                   uint64_t until_ns)
{
    struct as_recorder *recorder;
    struct as_error err = {0};
    struct rusage usage = {0};
    const char *path = session_stream();
    uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);
    int status = 0;
    out->choice = *as_sampler_choice(sampler);
    must(as_recorder_new(path, &out->choice, max_b, &recorder, &err), &err);
    while (wait4(pid, &status, WNOHANG, &usage) == 0) {
        if (until_ns && account->fair_ns >= until_ns) {
            kill(pid, SIGKILL);
            assert_int_equal(wait4(pid, &status, 0, &usage), pid);
            break;
        }
        not_for_ever(begun_ns);
        as_sampler_wait(sampler, -1, 50);
        must(as_sampler_pump(sampler, false, as_recorder_add, recorder, &err), &err);
    }
    out->cpu_ns = usage_ns(&usage);
    out->fair_ns = account->fair_ns;
    must(as_sampler_pump(sampler, true, as_recorder_add, recorder, &err), &err);
    must(as_recorder_finish(&recorder, as_sampler_counts(sampler), &err), &err);
    as_sampler_close(&sampler);
    if (!until_ns)
        assert_int_equal(status, 0);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    out->bytes = (size_t)st.st_size;
    session_read(out, path);
    assert_false(out->truncated);
    assert_int_equal(out->sample.n + out->dropped, out->counts.samples);
    assert_int_equal(out->counts.damaged, 0);
}

void session_run(struct session *out, const struct as_sample_options *options, uint64_t max_b,
                 const char *const *argv)
{
    struct as_sample_options on_exec = {0};
    struct as_sampler *sampler;
    struct as_error err = {0};
    int go;
    if (options)
        on_exec = *options;
    on_exec.on_exec = true;
    *out = (struct session){0};
    pid_t pid = session_start(argv, -1, &go);
    int rc = as_sampler_open(pid, &on_exec, &sampler, &err);
    session_release(go);
    must(rc, &err);
    record(out, sampler, pid, max_b, 0);
}

static int threads_of(pid_t pid)
{
    char path[64];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

void session_attach(struct session *out, const struct as_sample_options *options,
                    const char *const *argv, int threads, unsigned cpu_ms)
{
    struct as_sampler *sampler;
    struct as_error err = {0};
    uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);
    int go;
    *out = (struct session){0};
    pid_t pid = session_start(argv, -1, &go);
    session_release(go);
    /* Its threads are there, and it has long been at work. */
    while (threads_of(pid) < threads || used_ns(pid) < 100000000u) {
        not_for_ever(begun_ns);
        usleep(10000);
    }
    const uint64_t before_ns = used_ns(pid);
    must(as_sampler_open(pid, options, &sampler, &err), &err);
    const uint64_t fair_before_ns =
        account->fair_ns; /* less than a turn of each thread is not in */
    record(out, sampler, pid, 0, fair_before_ns + cpu_ms * 1000000u);
    out->cpu_ns -= before_ns;
    out->fair_ns -= fair_before_ns;
}
