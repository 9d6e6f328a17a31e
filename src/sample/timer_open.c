/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampling part of the control file. Also finds programs that cannot preload a library
 * (ld.so(8), secure execution).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "agent/inject/inject.h"
#include "base/alloc.h"
#include "base/io_full.h"
#include "base/untrusted_open.h"
#include "object/object.h"
#include "sample/timer.h"
#include "sample/timer_session.h"

#define STACK_B 16384u
/* A handler copies only the used stack; few stacks are as deep as this. */
#define STACK_MOST_B  65528u
#define RING_LEAST_B  (256u << 10)
#define RING_MOST_B   (64u << 20)
#define RING_STACKS_B (1024u << 10)

/* ---- Opening ------------------------------------------------------------------------------ */

static void fill_part(struct as_timer_sampler *s)
{
    struct as_agent_sampling *sampling = s->sampling =
        as_agent_session_part(&s->session, "sampler");
    const struct as_sample_options *o = &s->options;
    bool copy = o->stacks == AS_STACKS_DWARF;
    uint32_t least_b = copy ? RING_STACKS_B : RING_LEAST_B;
    sampling->stacks = copy                           ? AS_AGENT_COPY
                       : o->stacks == AS_STACKS_FRAME ? AS_AGENT_FRAME
                                                      : AS_AGENT_OFF;
    sampling->period_ns = 1000000000u / o->rate_hz;
    sampling->stack_b = o->stack_b;
    while (o->ring_b && least_b < o->ring_b && least_b < RING_MOST_B)
        least_b *= 2;
    sampling->ring_least_b = least_b;
    sampling->ring_most_b = o->ring_b ? least_b : RING_MOST_B;
    /* Bytes for half a second of samples: a quarter of the usual copy, or a call chain, for
     * each. */
    const uint32_t usual_b = o->stack_b < STACK_B ? o->stack_b : STACK_B;
    sampling->ring_processor_b = o->rate_hz / 2 * (copy ? usual_b / 4 + 256 : 256);
    s->choice.ring_b = least_b;
    sampling->enabled = 1;
    sampling->python = copy ? AS_AGENT_PYTHON_ALSO : AS_AGENT_PYTHON_OFF;
    as_agent_session_begin(&s->session);
}

/* Limits the rate: the kernel checks timers only at scheduler ticks. */
static void choose_period(struct as_timer_sampler *s, const char *why)
{
    struct timespec tick = {0, 4000000};
    struct as_sample_choice *choice = &s->choice;
    char rate[160] = "";
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    uint64_t most_hz = tick.tv_nsec ? 1000000000u / (uint64_t)tick.tv_nsec : 1000;
    choice->event = AS_EVENT_TIMER;
    choice->kernel = true; /* its time counts at the position that called it */
    choice->rate_hz = s->options.rate_hz;
    if (most_hz && choice->rate_hz > most_hz) {
        choice->rate_hz = (uint32_t)most_hz;
        snprintf(rate, sizeof rate,
                 "the rate is %u, not %u per second: this kernel checks timers of CPU time at its "
                 "tick",
                 choice->rate_hz, s->options.rate_hz);
    }
    snprintf(choice->reason, sizeof choice->reason, "%s%.*s%s%s", why ? "no perf events: " : "",
             360, why ? why : "", why && rate[0] ? "; " : "", rate);
}

static int set_timer_options(struct as_timer_sampler *s, const struct as_sample_options *options,
                             struct as_error *err)
{
    struct as_sample_options *o = &s->options;
    if (options)
        *o = *options;
    if (o->rate_hz == 0)
        o->rate_hz = AS_RATE_MEDIUM;
    if (o->stack_b == 0)
        o->stack_b = STACK_MOST_B;
    o->stack_b = o->stack_b > STACK_MOST_B ? STACK_MOST_B : (o->stack_b + 7) & ~7u;
    if (o->stacks <= AS_STACKS_DWARF && o->rate_hz <= 1000000)
        return 0;
    return as_error_set(err, AS_ERR_USAGE,
                        "timers: invalid stacks %u or rate %u; use a rate of at most 1000000 per "
                        "second",
                        o->stacks, o->rate_hz);
}

int as_timer_sampler_open(const char *directory, const struct as_sample_options *options,
                          const char *why, struct as_timer_sampler **out, struct as_error *err)
{
    struct as_timer_sampler *s = as_calloc(1, sizeof *s);
    *out = NULL;
    if (!s)
        return as_error_nomem(err, "a sampling session");
    s->session.control_fd = -1;
    as_arena_init(&s->arena);
    as_map_view_init(&s->files);
    as_spaces_init(&s->spaces);
    as_python_codes_init(&s->python);
    int rc = set_timer_options(s, options, err);
    if (rc == 0)
        rc = as_agent_session_open(directory, &s->session, err);
    if (rc == 0) {
        fill_part(s);
        choose_period(s, why);
    }
    if (rc < 0)
        as_timer_sampler_close(&s);
    *out = s;
    return rc;
}

void as_timer_sampler_sweep(const char *place, const char *prefix)
{
    as_agent_session_sweep(place, prefix);
}

/* Cleans the directory, which belongs to the session. Running programs find nothing to use
 * there. */
static void clean(struct as_timer_sampler *s)
{
    if (s->sampling)
        s->sampling->enabled = 0;
    if (s->session.control) {
        as_agent_session_end(&s->session);
        as_timer_find(s, NULL);
    }
    as_agent_session_close(&s->session);
}

void as_timer_sampler_close(struct as_timer_sampler **sampler)
{
    struct as_timer_sampler *s = *sampler;
    if (!s)
        return;
    clean(s);
    as_vec_foreach (&s->ring, ring)
        as_timer_ring_close(ring);
    as_vec_fini(&s->ring);
    as_vec_fini(&s->item);
    as_vec_fini(&s->bytes);
    as_vec_fini(&s->spare);
    as_spaces_fini(&s->spaces);
    as_python_codes_fini(&s->python);
    as_map_view_fini(&s->files);
    as_arena_fini(&s->arena);
    as_free(s);
    *sampler = NULL;
}

struct as_agent_session *as_timer_session(struct as_timer_sampler *sampler)
{
    return &sampler->session;
}

const char *const *as_timer_sampler_environment(const struct as_timer_sampler *sampler)
{
    return sampler->session.word;
}

const char *as_timer_sampler_preload(const struct as_timer_sampler *sampler)
{
    return sampler->session.preload;
}

void as_timer_python_alone(struct as_timer_sampler *sampler)
{
    sampler->sampling->python = AS_AGENT_PYTHON_ALONE;
}

void as_timer_sampler_only(struct as_timer_sampler *sampler, pid_t pid)
{
    sampler->session.control->only_pid = (uint32_t)pid;
}

const struct as_sample_choice *as_timer_sampler_choice(const struct as_timer_sampler *sampler)
{
    return &sampler->choice;
}

const struct as_sample_counts *as_timer_sampler_counts(const struct as_timer_sampler *sampler)
{
    return &sampler->counts;
}

const struct as_timer_facts *as_timer_sampler_facts(const struct as_timer_sampler *sampler)
{
    return &sampler->facts;
}

int as_timer_sampler_enable(struct as_timer_sampler *sampler, bool on, struct as_error *err)
{
    (void)err;
    sampler->sampling->enabled = on;
    return 0;
}

/* ---- What can be preloaded ---------------------------------------------------------------- */

/* Writes the interpreter of a script to `out`. Returns false if the file is not a script. */
static bool script_of(const char *path, char *out, size_t n)
{
    char line[512] = "";
    const int fd = as_foreign_open(AT_FDCWD, path, 0, NULL);
    const bool script =
        fd >= 0 && as_whole_read(fd, line, sizeof line - 1) > 2 && strncmp(line, "#!", 2) == 0;
    if (fd >= 0)
        close(fd);
    const char *at = line + 2 + strspn(line + (script ? 2 : 0), " \t");
    if (script)
        snprintf(out, n, "%.*s", (int)strcspn(at, " \t\r\n"), at);
    return script;
}

/* Returns true if the kernel gives the program more privileges than its user has. */
static bool gains(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return false;
    return ((status.st_mode & S_ISUID) && status.st_uid != getuid()) ||
           ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) &&
            status.st_gid != getgid()) ||
           (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

static bool needs(const struct as_object *object, const char *library)
{
    const char *const *name;
    const size_t n = as_object_needed(object, &name);
    for (size_t i = 0; i < n; i++)
        if (strncmp(name[i], library, strlen(library)) == 0)
            return true;
    return false;
}

/* Returns an error if the agent cannot enter the program. `is_entered`: ptrace(2) can be used, so
 * the program needs no GNU loader. */
static int check_program(const char *path, const char *what, const char *instead, bool is_entered,
                         struct as_error *err)
{
    char interpreter[512];
    struct as_object *object;
    if (script_of(path, interpreter, sizeof interpreter))
        path = interpreter;
    if (gains(path))
        return as_error_set(err, AS_ERR_PERMISSION,
                            "%s: has set-user-ID or capabilities, so no library can be preloaded "
                            "and it cannot be %s; run it as its owner%s",
                            path, what, instead);
    AS_TRY(as_object_open(path, NULL, &object, err));
    const struct as_object_info *info = as_object_info(object);
    int rc = 0;
    if (is_entered && (!info->interpreter || !strstr(info->interpreter, AS_LOADER_PRELOADS)))
        rc = as_injector_check(err);
    else if (!info->interpreter)
        rc = as_error_set(err, AS_ERR_UNSUPPORTED,
                          "%s: is statically linked, so no library can be preloaded and it cannot "
                          "be %s; link it dynamically%s",
                          path, what, instead);
    else if (!strstr(info->interpreter, AS_LOADER_PRELOADS))
        rc = as_error_set(err, AS_ERR_UNSUPPORTED,
                          "%s: its loader is %s, so it cannot be %s; link it with the GNU C "
                          "library%s",
                          path, info->interpreter, what, instead);
    else if (needs(object, "libasan.so"))
        rc = as_error_set(err, AS_ERR_UNSUPPORTED,
                          "%s: is built with AddressSanitizer, which must be loaded first, so it "
                          "cannot be %s; build it without%s",
                          path, what, instead);
    as_object_close(&object);
    return rc;
}

int as_preload_check(const char *path, const char *what, const char *instead, struct as_error *err)
{
    return check_program(path, what, instead, false, err);
}

int as_entry_check(const char *path, const char *what, struct as_error *err)
{
    return check_program(path, what, "", true, err);
}

int as_timer_sampler_check(const char *path, struct as_error *err)
{
    return as_preload_check(path, "sampled by timers", ", or permit perf events", err);
}
