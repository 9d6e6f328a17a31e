/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts events while sampling: one inherited counter per event and existing thread. The kernel
 * adds the counts of later threads and processes to the counter of their parent. If counters are
 * multiplexed, values are scaled by time. Source: perf_event_open(2).
 */
#include "sample/counting.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/nearest.h"
#include "base/str.h"
#include "sample/sampler.h"

/* Software events. `kernel`: the event happens only in the kernel. It counts nothing for a user who
 * may not measure the kernel. */
static const struct software {
    const char *name, *alias;
    uint64_t config;
    bool kernel, is_time;
    const char *meaning;
} software[] = {
    {"alignment-faults", NULL, PERF_COUNT_SW_ALIGNMENT_FAULTS, false, false,
     "Accesses to unaligned addresses that the kernel had to emulate."},
    {"context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, true, false,
     "Number of times that a thread left a CPU, to wait or because another was scheduled."},
    {"cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, true, false,
     "Number of times that a thread continued on another CPU."},
    {"emulation-faults", NULL, PERF_COUNT_SW_EMULATION_FAULTS, false, false,
     "Instructions that the kernel had to emulate."},
    {"major-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false, false,
     "Pages that were touched and had to be read from a disk first."},
    {"minor-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MIN, false, false,
     "Pages that were touched for the first time and were in memory, or had to be cleared."},
    {"page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, false, false,
     "Pages that were touched and not there yet: minor and major faults."},
    {"task-clock", NULL, PERF_COUNT_SW_TASK_CLOCK, false, true, "CPU time of all threads."},
};
#define SOFTWARE_N (sizeof software / sizeof *software)

struct event {
    struct as_event_code code;
    const char *name, *known, *meaning;
    bool kernel, is_time, user_only;
};

struct counter {
    int fd;
    uint32_t event;
};

struct as_counting {
    pid_t pid;
    bool on_exec, no_children;
    AS_VEC(struct event) event;
    AS_VEC(struct counter) counter;
    AS_VEC(struct as_count) count;
    struct as_arena arena; /* memory of the names */
};

/* ---- Names -------------------------------------------------------------------------------- */

#define SUGGESTED 3

struct suggestions {
    const char *word;
    size_t word_n;
    unsigned most;
    struct {
        char name[64];
        unsigned distance;
    } best[SUGGESTED]; /* nearest first */
    unsigned n;
};

static void suggest(void *context, const char *name)
{
    struct suggestions *s = context;
    const size_t name_n = strlen(name);
    unsigned distance = as_edit_distance(s->word, s->word_n, name, name_n, s->most), i;
    if (distance > s->most || name_n >= sizeof s->best[0].name)
        return;
    for (i = 0; i < s->n; i++)
        if (strcasecmp(s->best[i].name, name) == 0)
            return;
    if (s->n < SUGGESTED)
        s->n++;
    else if (distance >= s->best[SUGGESTED - 1].distance)
        return;
    for (i = s->n - 1; i > 0 && s->best[i - 1].distance > distance; i--)
        s->best[i] = s->best[i - 1];
    memcpy(s->best[i].name, name, name_n + 1);
    s->best[i].distance = distance;
}

/* Fills `err` for an unknown event name. */
static int unknown(const char *name, struct as_error *err)
{
    const char *event = strstr(name, "::");
    event = event ? event + 2 : name;
    struct suggestions s = {.word = event, .word_n = strcspn(event, ":")};
    s.most = s.word_n < 4 ? 1 : (unsigned)s.word_n / 3;
    for (size_t i = 0; i < SOFTWARE_N; i++)
        suggest(&s, software[i].name);
    as_pmu_names(suggest, &s);
    char text[512];
    int n = 0;
    if (s.n == 0) {
        for (size_t i = 0; i < SOFTWARE_N; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%s", i ? ", " : "",
                          software[i].name);
        return as_error_set(err, AS_ERR_USAGE,
                            "event '%s': unknown on this machine; use %s, or a name of libpfm4",
                            name, text);
    }
    for (unsigned i = 0; i < s.n; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s'%s'",
                      i == 0         ? ""
                      : i + 1 == s.n ? " or "
                                     : ", ",
                      s.best[i].name);
    return as_error_set(err, AS_ERR_USAGE, "event '%s': unknown on this machine; did you mean %s?",
                        name, text);
}

static int find_event(const char *name, struct event *out, struct as_error *err)
{
    struct as_error why;
    for (size_t i = 0; i < SOFTWARE_N; i++) {
        const struct software *s = &software[i];
        if (strcmp(name, s->name) != 0 && !(s->alias && strcmp(name, s->alias) == 0))
            continue;
        *out = (struct event){.code = {.type = PERF_TYPE_SOFTWARE, .config = s->config},
                              .name = name,
                              .known = s->name,
                              .meaning = s->meaning,
                              .kernel = s->kernel,
                              .is_time = s->is_time};
        return 0;
    }
    *out = (struct event){.name = name,
                          .known = name,
                          .meaning = "Counted by the CPU, with the vendor's name of the event."};
    return as_pmu_encode(name, &out->code, &why) < 0 ? unknown(name, err) : 0;
}

int as_counting_find(const char *name, struct as_event_code *out, const char **known,
                     struct as_error *err)
{
    struct event event;
    AS_TRY(find_event(name, &event, err));
    *out = event.code;
    *known = event.known;
    return 0;
}

static int add_names(struct as_counting *c, const char *names, struct as_error *err)
{
    struct as_view rest = as_view_of(names), part;
    while (as_view_split(&rest, ',', &part)) {
        struct event event;
        part = as_view_trim(part);
        if (part.n == 0)
            return as_error_set(err, AS_ERR_USAGE,
                                "events '%s': a name is missing; use names separated by commas",
                                names);
        const char *name = as_arena_strndup(&c->arena, part.p, part.n);
        if (!name)
            return as_error_nomem(err, "names of events");
        AS_TRY(find_event(name, &event, err));
        if (as_vec_push(&c->event, event) < 0)
            return as_error_nomem(err, "names of events");
    }
    return 0;
}

/* ---- Opening ------------------------------------------------------------------------------ */

static int refused(const struct as_counting *c, const struct event *event, pid_t tid, int error,
                   struct as_error *err)
{
    char why[128];
    if ((error == EACCES || error == EPERM) && event->kernel && as_sample_paranoid() == 2 &&
        geteuid() != 0)
        return as_error_set(err, AS_ERR_PERMISSION,
                            "event '%s': a kernel event, but kernel.perf_event_paranoid is 2; run "
                            "'sysctl kernel.perf_event_paranoid=1' as root, or give this program "
                            "the capability CAP_PERFMON",
                            event->name);
    if (error == EACCES || error == EPERM || error == ESRCH || error == EMFILE || error == ENFILE ||
        error == ENOMEM || error == ENOSYS)
        return as_sample_refused(err, c->on_exec ? 0 : tid, error);
    return as_error_set(err, AS_ERR_UNSUPPORTED,
                        "event '%s': cannot be counted for process %d: %s; remove it", event->name,
                        (int)c->pid, as_sample_why_not(error, why, sizeof why));
}

static int open_counter(struct as_counting *c, uint32_t index, pid_t tid, struct as_error *err)
{
    struct event *event = &c->event.at[index];
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = event->code.type,
                                   .config = event->code.config,
                                   .config1 = event->code.config1,
                                   .config2 = event->code.config2,
                                   .exclude_user = event->code.exclude_user,
                                   .exclude_kernel = event->code.exclude_kernel,
                                   .exclude_hv = event->code.exclude_hv,
                                   .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                  PERF_FORMAT_TOTAL_TIME_RUNNING,
                                   .inherit = !c->no_children,
                                   .disabled = c->on_exec,
                                   .enable_on_exec = c->on_exec};
    attr.exclude_kernel |= event->user_only;
    int fd = as_sample_perf_event_open(&attr, tid, -1);
    if (fd < 0 && (errno == EACCES || errno == EPERM) && !attr.exclude_kernel && !event->kernel) {
        attr.exclude_kernel = 1;
        fd = as_sample_perf_event_open(&attr, tid, -1);
        event->user_only = fd >= 0;
    }
    if (fd < 0)
        return errno == ESRCH && tid != c->pid ? 1 : refused(c, event, tid, errno, err);
    if (as_vec_push(&c->counter, (struct counter){fd, index}) < 0) {
        close(fd);
        return as_error_nomem(err, "counters");
    }
    return 0;
}

static int open_thread(void *counting, pid_t tid, struct as_error *err)
{
    struct as_counting *c = counting;
    for (uint32_t i = 0; i < c->event.n; i++) {
        int rc = open_counter(c, i, tid, err);
        if (rc)
            return rc < 0 ? rc : 0; /* the thread has ended meanwhile */
    }
    return 0;
}

int as_counting_open(pid_t pid, const char *names, bool on_exec, bool no_children,
                     struct as_counting **out, struct as_error *err)
{
    struct as_counting *c = as_calloc(1, sizeof *c);
    *out = NULL;
    if (!c)
        return as_error_nomem(err, "counters");
    c->pid = pid;
    c->on_exec = on_exec;
    c->no_children = no_children;
    as_arena_init(&c->arena);
    int rc = add_names(c, names, err);
    as_sample_raise_file_limit();
    if (rc == 0)
        rc = on_exec ? open_thread(c, pid, err) : as_sample_each_thread(pid, open_thread, c, err);
    if (rc < 0)
        as_counting_close(&c);
    *out = c;
    return rc;
}

void as_counting_close(struct as_counting **counting)
{
    struct as_counting *c = *counting;
    if (!c)
        return;
    as_vec_foreach (&c->counter, counter)
        close(counter->fd);
    as_vec_fini(&c->event);
    as_vec_fini(&c->counter);
    as_vec_fini(&c->count);
    as_arena_fini(&c->arena);
    as_free(c);
    *counting = NULL;
}

/* ---- Reading ------------------------------------------------------------------------------ */

static int add_counter(struct as_counting *c, const struct counter *counter, struct as_error *err)
{
    struct {
        uint64_t value, enabled_ns, running_ns;
    } now;
    struct as_count *count = &c->count.at[counter->event];
    ssize_t n = read(counter->fd, &now, sizeof now);
    if (n != (ssize_t)sizeof now)
        return as_error_set(err, AS_ERR_IO, "event '%s': its counter cannot be read: %s; remove it",
                            count->name,
                            n < 0 ? strerror(errno) : "the kernel could not keep it on a counter");
    count->raw += now.value;
    count->enabled_ns += now.enabled_ns;
    count->running_ns += now.running_ns;
    count->value += now.running_ns && now.running_ns < now.enabled_ns
                        ? (uint64_t)((unsigned __int128)now.value * now.enabled_ns / now.running_ns)
                        : now.value;
    return 0;
}

int as_counting_read(struct as_counting *counting, const struct as_count **out, size_t *n,
                     struct as_error *err)
{
    struct as_counting *c = counting;
    c->count.n = 0;
    as_vec_foreach (&c->event, event) {
        struct as_count count = {.name = event->name,
                                 .known = event->known,
                                 .meaning = event->meaning,
                                 .unit = event->is_time ? "ns" : "events",
                                 .user_only = event->user_only};
        if (as_vec_push(&c->count, count) < 0)
            return as_error_nomem(err, "counters");
    }
    as_vec_foreach (&c->counter, counter)
        AS_TRY(add_counter(c, counter, err));
    *out = c->count.at;
    *n = c->count.n;
    return 0;
}
