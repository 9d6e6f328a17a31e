/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampler as a client of the agent: what happens to the program becomes records of the ring,
 * and each thread has a timer.
 */
#include "agent/sampler/sampler.h"
#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

/* ---- Threads ------------------------------------------------------------------------------ */

static void record_thread(uint32_t kind, uint32_t parent_tid)
{
    if (as_agent_is_confined())
        return;
    struct as_agent_thread_record *record = as_sampler_reserve(sizeof *record, 0);
    if (!record)
        return;
    record->cpu_ns = kind == AS_AGENT_EXIT ? as_clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
    char name[AS_AGENT_NAME_B] = "";
    prctl(PR_GET_NAME, name, 0, 0, 0);
    memcpy(record->name, name, sizeof name);
    record->parent_tid = parent_tid;
    as_sampler_commit(record, sizeof *record, kind, as_monotonic_ns());
}

static void arm_wanted(void)
{
    if (as_sampler_state.sampling->python != AS_AGENT_PYTHON_ALONE || as_sampler_python_is_wanted())
        as_sampler_arm();
}

static void begin_sampled_thread(void)
{
    record_thread(AS_AGENT_THREAD, (uint32_t)as_agent_self.parent_tid);
    arm_wanted();
}

static void end_sampled_thread(void)
{
    as_sampler_disarm();
    record_thread(AS_AGENT_EXIT, 0);
}

static void rename_sampled_thread(void)
{
    record_thread(AS_AGENT_NAME, 0);
}

/* A thread that gives up system calls loses its timer before; what it does from then on is not
 * sampled. Of all threads the timers stay away though it be refused. */
static void confine_sampled(enum as_agent_confinement what)
{
    static __thread bool had;
    if (what == AS_AGENT_CONFINING || what == AS_AGENT_CONFINING_ALL)
        had = as_sampler_disarm();
    if (what == AS_AGENT_CONFINING_ALL)
        as_sampler_disarm_all();
    if (what == AS_AGENT_CONFINED && had)
        as_sampler_missed(EPERM);
    if (what == AS_AGENT_UNCONFINED && had)
        as_sampler_arm();
}

/* ---- Modules ------------------------------------------------------------------------------ */

static void record_modules(void)
{
    as_sampler_python_look();
    if (as_agent_self.loading_ns == 0) /* they only go */
        return;
    as_sampler_maps(as_agent_self.loading_ns);
    as_agent_wake(); /* while the file is there */
}

static void mark_modules_loaded(void)
{
    if (!as_agent_is_confined())
        as_sampler_mark(AS_AGENT_LOADED);
}

/* ---- The process -------------------------------------------------------------------------- */

static bool make_own_ring(bool forked)
{
    const int rc = as_sampler_ring_make(forked);
    if (rc < 0) {
        as_agent_process_missed(-rc);
        return false;
    }
    as_sampler_python_look();
    arm_wanted();
    return true;
}

static bool begin_sampler(void)
{
    as_sampler_state.sampling = as_agent_part(&as_agent_sampler);
    if (!as_sampler_state.sampling)
        return false;
    if (as_sampler_state.sampling->python == AS_AGENT_PYTHON_ALONE && !as_sampler_python_is_here())
        return false;
    if (as_agent_claim_signal() == 0 || as_sampler_handle() < 0) {
        as_agent_process_missed(EAGAIN);
        return false;
    }
    return make_own_ring(false);
}

/* Timers are not inherited; the ring is the parent's. */
static void begin_sampled_child(void)
{
    if (!as_sampler_state.ring)
        return;
    as_sampler_ring_drop();
    as_sampler_timers_forked();
    as_sampler_maps_forked();
    as_sampler_python_forked();
    if (as_agent_active())
        make_own_ring(true);
}

static void note_code(int code)
{
    struct as_agent_ring *ring = as_sampler_state.ring;
    if (ring)
        atomic_store(&ring->exit_code, (uint32_t)(code & 0xff) + 1);
}

static void end_sampled(void)
{
    as_sampler_mark(AS_AGENT_END);
}

static void record_child_end_status(pid_t pid, int status)
{
    struct as_agent_child_record *record = as_sampler_reserve(sizeof *record, 0);
    if (!record)
        return;
    record->pid = (uint32_t)pid;
    record->status = status;
    as_sampler_commit(record, sizeof *record, AS_AGENT_CHILD, as_monotonic_ns());
}

const struct as_agent_client as_agent_sampler = {.name = "sampler",
                                                 .begin = begin_sampler,
                                                 .thread_begin = begin_sampled_thread,
                                                 .thread_end = end_sampled_thread,
                                                 .modules_changed = record_modules,
                                                 .forked = begin_sampled_child,
                                                 .end = end_sampled,
                                                 .modules_unseen = mark_modules_loaded,
                                                 .thread_named = rename_sampled_thread,
                                                 .thread_missed = as_sampler_missed,
                                                 .confined = confine_sampled,
                                                 .exiting = note_code,
                                                 .child_ended = record_child_end_status};
