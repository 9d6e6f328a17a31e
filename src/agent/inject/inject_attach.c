/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's way into a process that runs, and out of it. All threads stand still while anything
 * is changed, for some milliseconds each time; where one stands in the way of a change all go on
 * for a moment, and it is tried again. On the way out the code becomes what it was first; a thread
 * that still runs a clone leaves it by itself, and only then goes what it ran in.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/inject/inject_internal.h"

#define MODULES_B   (UINT64_C(1) << 18)
#define STACK_B     (UINT64_C(16) << 20) /* of a stack is looked at, at most */
#define RED_ZONE_B  128u
#define WRITE_TRIES 40u
#define UNDO_TRIES  100u
#define LEAVE_TRIES 100u
#define LEAD_TRIES  50u /* then threads that are still in a clone are led out of it */
#define LEAD_STEPS  24u
#define STEPS_MOST  8u
#define DEAF_TRIES  3u
#define BETWEEN_MS  10u
#define CODE_64     0x33u

static uint64_t page_up(uint64_t n)
{
    return (n + AS_AGENT_PAGE_B - 1) & ~(uint64_t)(AS_AGENT_PAGE_B - 1);
}

/* ---- The table of threads -------------------------------------------------------------------- */

static uint64_t table_b(void)
{
    return page_up(AS_STOPPED_MAX * sizeof(struct as_bare_thread));
}

static bool write_table(int memory, uint64_t at, bool with_stacks)
{
    for (unsigned i = 0; i < as_stopped_n; i++) {
        const struct as_stopped_thread *it = &as_stopped_thread[i];
        struct as_bare_thread thread = {
            .tid = (uint32_t)it->tid, .pc = it->pc, .again = it->again, .base = it->base};
        const uint64_t end = with_stacks ? as_maps_end(it->sp) : 0;
        if (end) {
            const uint64_t low = it->sp - RED_ZONE_B;
            thread.stack = as_maps_end(low) == end ? low : it->sp;
            thread.stack_end = end - it->sp > STACK_B ? it->sp + STACK_B : end;
        }
        if (!as_inject_write(memory, at + i * sizeof thread, &thread, sizeof thread))
            return false;
    }
    return true;
}

/* %gs of each as the hook left it in the table. */
static bool set_gs_bases(int memory, uint64_t at)
{
    bool good = true;
    for (unsigned i = 0; i < as_stopped_n; i++) {
        struct as_bare_thread thread;
        if (!as_inject_read(memory, at + i * sizeof thread, &thread, sizeof thread))
            return false;
        good &= as_inject_set_gs(as_stopped_thread[i].tid, thread.base) == 0;
    }
    return good;
}

/* ---- A hook, while all stand still ----------------------------------------------------------- */

struct asked_change {
    uint64_t hook, last;
};

/* Runs it with the table of who is held; what it answers, or -1. */
static int64_t run_change(const struct as_injected *it, const struct asked_change *asked)
{
    const int memory = as_inject_memory(as_ptrace_living());
    const struct as_stopped_thread *leader = as_ptrace_leader(memory);
    struct as_bare_given given;
    const bool leaves = asked->hook == AS_BARE_LEAVE;
    int64_t pending = -1;
    as_maps_read(as_ptrace_living());
    if (memory >= 0 && leader && as_inject_read(memory, it->given, &given, sizeof given)) {
        given.threads = as_stopped_n;
        given.last = asked->last;
        if (as_inject_write(memory, it->given, &given, sizeof given) &&
            write_table(memory, given.thread, true) &&
            as_inject_run_hook(it, leader->tid, asked->hook) == 0 &&
            as_inject_read(memory, it->given, &given, sizeof given))
            pending = (int64_t)given.pending;
        if (pending >= 0 && leaves && !set_gs_bases(memory, given.thread))
            pending = -1;
    }
    if (memory >= 0)
        close(memory);
    return pending;
}

/* Those that stand in the way of the change go on by an instruction. */
static void step_aside(const struct as_injected *it)
{
    const int memory = as_inject_memory(as_ptrace_living());
    const uint64_t table = it->given + AS_AGENT_PAGE_B;
    for (unsigned i = 0; memory >= 0 && i < as_stopped_n; i++) {
        struct as_bare_thread thread;
        if (as_inject_read(memory, table + i * sizeof thread, &thread, sizeof thread) &&
            thread.is_inside)
            as_ptrace_step(&as_stopped_thread[i]);
    }
    if (memory >= 0)
        close(memory);
}

/* Most places are left in a few steps. */
static int64_t change_code(const struct as_injected *it, uint64_t hook, bool is_last)
{
    const struct asked_change asked = {hook, 0}, last = {hook, 1};
    int64_t pending = run_change(it, &asked);
    for (unsigned steps = 0; pending > 0 && steps < STEPS_MOST; steps++) {
        step_aside(it);
        pending = run_change(it, &asked);
    }
    return pending > 0 && is_last ? run_change(it, &last) : pending;
}

/* Threads that began since the agent came have their maker's %gs until they are told. */
static void run_hooks_of_new_threads(const struct as_injected *it)
{
    for (unsigned i = 0; i < as_stopped_n; i++)
        if (as_stopped_thread[i].is_new) {
            as_stopped_thread[i].is_new = false;
            as_stopped_thread[i].is_moved = true;
            as_inject_notify_thread(it, as_stopped_thread[i].tid, AS_BARE_THREAD);
            as_ptrace_read_registers(&as_stopped_thread[i]);
        }
}

static enum as_attach_refusal hold_again(const struct as_injected *it,
                                         struct as_attach_state *state)
{
    const enum as_attach_refusal refusal = as_ptrace_stop_all(it->pid, false, state);
    if (!refusal)
        run_hooks_of_new_threads(it);
    return refusal;
}

/* ---- In -------------------------------------------------------------------------------------- */

static bool is_halted(void)
{
    for (unsigned i = 0; i < as_stopped_n; i++)
        if (as_stopped_thread[i].is_grouped)
            return true;
    return false;
}

static enum as_attach_refusal check_threads(struct as_attach_state *state)
{
    for (unsigned i = 0; i < as_stopped_n; i++) {
        const struct as_stopped_thread *it = &as_stopped_thread[i];
        state->who = it->tid;
        if (it->segment != CODE_64)
            return AS_ATTACH_NARROW;
        if (it->base != 0)
            return AS_ATTACH_SEGMENT;
        if (as_inject_is_confined(it->tid))
            return AS_ATTACH_CONFINED;
    }
    return AS_ATTACH_DONE;
}

/* Behind the image and its page lie the tables of threads and of modules. */
static bool write_bare_tables(int memory, const struct as_injected *it, struct as_bare_given *given)
{
    static uint8_t room[MODULES_B] __attribute__((aligned(8)));
    size_t used_b;
    given->thread = it->given + AS_AGENT_PAGE_B;
    given->threads = as_stopped_n;
    given->module = given->thread + table_b();
    given->modules = as_maps_modules(memory, given->module, room, sizeof room, &used_b);
    given->image = it->base;
    given->image_end = it->given;
    return as_inject_write(memory, given->module, room, used_b) &&
           write_table(memory, given->thread, false);
}

static enum as_attach_refusal begin_agent(struct as_injected *it, int memory,
                                          const struct as_image *image, const char *directory,
                                          struct as_attach_state *state)
{
    struct as_bare_given given = {0};
    const struct as_stopped_thread *leader = as_ptrace_leader(memory);
    it->entry = it->base + image->entry;
    it->given = it->base + image->size_b;
    if (!as_inject_copy_image(memory, image, it->base) || !write_bare_tables(memory, it, &given) ||
        !as_inject_write_facts(as_ptrace_living(), memory, &given, it->given, directory) ||
        as_inject_run_hook(it, leader->tid, AS_BARE_ATTACH) < 0 ||
        !as_inject_read(memory, it->given, &given, sizeof given))
        return AS_ATTACH_GONE;
    state->error = 0;
    if (!given.nowhere)
        return AS_ATTACH_NO_FILES;
    it->nowhere = given.nowhere;
    it->missed = given.missed;
    return set_gs_bases(memory, given.thread) ? AS_ATTACH_DONE : AS_ATTACH_GONE;
}

static void unmap_injected_memory(const struct as_injected *it)
{
    const int memory = as_inject_memory(as_ptrace_living());
    const struct as_stopped_thread *leader = as_ptrace_leader(memory);
    const uint64_t unmap[7] = {SYS_munmap, it->base, it->room_b};
    int64_t rc;
    if (leader)
        as_inject_syscall(leader->tid, it->call, unmap, &rc);
    if (memory >= 0)
        close(memory);
}

static enum as_attach_refusal make_room(struct as_injected *it, int memory,
                                        const struct as_image *image)
{
    const struct as_stopped_thread *leader = as_ptrace_leader(memory);
    const uint64_t more_b = table_b() + MODULES_B;
    if (!as_maps_read(as_ptrace_living()))
        return AS_ATTACH_GONE;
    it->call = as_maps_call(memory);
    if (!it->call)
        return AS_ATTACH_NO_CALL;
    it->room_b = image->size_b + AS_AGENT_PAGE_B + more_b;
    return as_inject_map_image(leader->tid, it->call, image, more_b, &it->base)
               ? AS_ATTACH_DONE
               : AS_ATTACH_NO_MEMORY;
}

/* All stand still. */
static enum as_attach_refusal bring_agent(struct as_injected *it, const struct as_image *image,
                                          const char *directory, struct as_attach_state *state)
{
    const int memory = as_inject_memory(as_ptrace_living());
    enum as_attach_refusal refusal = memory < 0 ? AS_ATTACH_FORBIDDEN : check_threads(state);
    if (memory < 0)
        state->error = errno;
    if (!refusal)
        refusal = make_room(it, memory, image);
    if (!refusal) {
        refusal = begin_agent(it, memory, image, directory, state);
        if (refusal)
            unmap_injected_memory(it);
    }
    if (memory >= 0)
        close(memory);
    return refusal;
}

/* The process goes on between two tries. */
static void write_jumps(const struct as_injected *it, struct as_attach_state *state)
{
    for (unsigned tries = 1;; tries++) {
        const int64_t pending = change_code(it, AS_BARE_WRITE, tries == WRITE_TRIES);
        as_ptrace_resume_all();
        if (pending <= 0)
            return;
        as_inject_handle_for(BETWEEN_MS);
        if (hold_again(it, state))
            return;
    }
}

void as_attach_enter(pid_t pid, struct as_agent_control *control, const struct as_image *image,
                     const char *directory, struct as_attach_state *state)
{
    struct as_injected it = {.pid = pid, .is_attached = true};
    state->refusal = as_ptrace_stop_all(pid, true, state);
    if (state->refusal)
        return;
    state->refusal = is_halted() ? AS_ATTACH_HALTED : bring_agent(&it, image, directory, state);
    if (state->refusal == AS_ATTACH_NO_FILES)
        state->error = (int32_t)control->missed_errno;
    if (state->refusal) {
        as_ptrace_detach();
        return;
    }
    as_inject_add_process(&it);
    write_jumps(&it, state);
}

/* ---- Out ------------------------------------------------------------------------------------- */

/* Until the code is what it was; all stand still then. */
static enum as_attach_end undo_jumps(const struct as_injected *it, struct as_attach_state *state)
{
    for (unsigned tries = 1, deaf = 0;; tries++) {
        const enum as_attach_refusal refusal = hold_again(it, state);
        if (refusal && refusal != AS_ATTACH_DEAF)
            return AS_ATTACH_LOST;
        deaf += refusal == AS_ATTACH_DEAF;
        const int64_t pending = refusal ? 1 : change_code(it, AS_BARE_UNDO, false);
        if (pending == 0)
            return AS_ATTACH_CLEAN;
        if (tries == UNDO_TRIES || pending < 0 || deaf == DEAF_TRIES) {
            as_ptrace_resume_all();
            return AS_ATTACH_PATCHED;
        }
        as_ptrace_resume_all();
        as_inject_handle_for(BETWEEN_MS);
    }
}

/* A thread whose loop takes long goes on in the program's code, where that does the same next, or
 * by an instruction. How many are inside. */
static int64_t lead_out(const struct as_injected *it, int64_t inside)
{
    const struct asked_change asked = {AS_BARE_LEAVE, 0};
    const uint64_t table = it->given + AS_AGENT_PAGE_B;
    for (unsigned steps = 0; inside > 0 && steps < LEAD_STEPS; steps++) {
        const int memory = as_inject_memory(as_ptrace_living());
        for (unsigned i = 0; memory >= 0 && i < as_stopped_n; i++) {
            struct as_bare_thread thread;
            if (!as_inject_read(memory, table + i * sizeof thread, &thread, sizeof thread) ||
                !thread.is_inside)
                continue;
            if (thread.out == AS_BARE_STEP)
                as_ptrace_step(&as_stopped_thread[i]);
            else if (thread.out)
                as_ptrace_redirect(&as_stopped_thread[i], thread.out);
        }
        if (memory >= 0)
            close(memory);
        inside = run_change(it, &asked);
    }
    return inside;
}

/* Until no thread runs a clone; all stand still then. */
static enum as_attach_end empty_clones(const struct as_injected *it, struct as_attach_state *state)
{
    for (unsigned tries = 1;; tries++) {
        const struct asked_change asked = {AS_BARE_LEAVE, tries == LEAVE_TRIES};
        int64_t inside = run_change(it, &asked);
        if (inside > 0 && tries >= LEAD_TRIES)
            inside = lead_out(it, inside);
        if (inside == 0 && !asked.last) {
            const struct asked_change whole = {AS_BARE_LEAVE, 1};
            for (unsigned i = 0; i < as_stopped_n; i++)
                as_ptrace_read_registers(&as_stopped_thread[i]);
            inside = run_change(it, &whole);
        }
        if (inside == 0)
            return AS_ATTACH_CLEAN;
        state->inside = inside > 0 ? (uint32_t)inside : 0;
        if (tries == LEAVE_TRIES || inside < 0)
            return AS_ATTACH_INSIDE;
        as_ptrace_resume_all();
        as_inject_handle_for(BETWEEN_MS);
        if (hold_again(it, state))
            return AS_ATTACH_LOST;
    }
}

static enum as_attach_end leave_process(const struct as_injected *it, struct as_attach_state *state)
{
    enum as_attach_end end = undo_jumps(it, state);
    if (end == AS_ATTACH_CLEAN)
        end = empty_clones(it, state);
    if (end == AS_ATTACH_LOST || end == AS_ATTACH_PATCHED)
        return end;
    if (end == AS_ATTACH_CLEAN)
        unmap_injected_memory(it);
    as_inject_handle_for(0); /* children that it made are met while it is known */
    as_ptrace_detach();
    return end;
}

void as_attach_leave(struct as_attach_state *state)
{
    const struct as_injected *next;
    enum as_attach_end worst = AS_ATTACH_LOST;
    while ((next = as_inject_process(0))) {
        const struct as_injected it = *next;
        const enum as_attach_end end = leave_process(&it, state);
        worst = end > worst ? end : worst;
        as_inject_forget_process(it.pid);
    }
    state->end = worst;
}
