/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bare agent in a process that ran before it came, and goes on when it leaves. All threads
 * stand still here, and the tracer says where: jumps are written region by region, when nobody
 * stands where they would be in the way.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/bare/bare_hooks.h"
#include "agent/bare/bare_libc.h"

enum region_state { REGION_ORIGINAL, REGION_WRITTEN };

static uint8_t *state; /* of each region */
static bool undoes;    /* what is_free_now asks for */

/* ---- Who stands in the way ------------------------------------------------------------------- */

static struct as_bare_thread *threads(void)
{
    return (struct as_bare_thread *)(uintptr_t)as_bare_given->thread;
}

/* Whether bytes of a place may not change while a thread stands at `at`. What begins where a jump
 * does goes on as well with one as without. */
static bool meets_place(uint64_t at, uint64_t place, int32_t hop, bool undo)
{
    if (hop && at - as_patch_jump_at(place, hop) < AS_PATCH_JUMP_B)
        return true;
    return !undo && at - place - 1 < (hop ? AS_PATCH_HOP_B : AS_PATCH_JUMP_B) - 1u;
}

static bool meets_region(uint64_t r, uint64_t at, bool undo)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_region *region =
        (const struct as_patch_region *)as_patch_at(plan, &plan->region) + r;
    const struct as_patch_site *site = as_patch_at(plan, &plan->site);
    if (meets_place(at, region->header, region->hop, undo))
        return true;
    for (uint64_t i = region->first_site; i < (uint64_t)region->first_site + region->sites; i++)
        if (meets_place(at, site[i].address, site[i].hop, undo))
            return true;
    return !undo && region->spills && as_patcher_is_original(region, at);
}

#define FRAMES_MOST 4096u
static uint64_t frame_pc[FRAMES_MOST]; /* where handlers will return to */
static unsigned frames;

/* The kernel puts the place on the stack, and two words behind it the segments of 64-bit code
 * (struct sigcontext). */
static void find_frames(void)
{
    const struct as_bare_thread *thread = threads();
    frames = 0;
    for (uint64_t i = 0; i < as_bare_given->threads; i++) {
        const uint64_t *word = (const uint64_t *)(uintptr_t)((thread[i].stack + 7) & ~UINT64_C(7));
        const uint64_t *end = (const uint64_t *)(uintptr_t)thread[i].stack_end;
        for (; word + 2 < end && frames < FRAMES_MOST; word++)
            if ((word[2] & 0xffff) == 0x33 && word[0] >= AS_AGENT_PAGE_B)
                frame_pc[frames++] = word[0];
    }
}

static bool is_free_now(uint64_t r)
{
    const uint64_t bias = as_patcher_outcome(r)->bias;
    struct as_bare_thread *thread = threads();
    bool is_free = true;
    if (state[r] != (undoes ? REGION_WRITTEN : REGION_ORIGINAL))
        return false;
    if (frames == FRAMES_MOST)
        return false;
    for (unsigned i = 0; i < frames; i++)
        is_free &= !meets_region(r, frame_pc[i] - bias, undoes);
    for (uint64_t i = 0; i < as_bare_given->threads; i++)
        if (meets_region(r, thread[i].pc - bias, undoes) ||
            (thread[i].again != thread[i].pc && meets_region(r, thread[i].again - bias, undoes))) {
            thread[i].is_inside = 1;
            is_free = false;
        }
    return is_free;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static uint64_t mark_module(const struct as_patch_module *planned, bool is_last)
{
    uint64_t pending = 0;
    for (uint64_t r = planned->first_region; r < (uint64_t)planned->first_region + planned->regions;
         r++) {
        struct as_patch_outcome *outcome = as_patcher_outcome(r);
        if (outcome->kind != AS_PATCH_DONE)
            continue;
        if (is_free_now(r)) {
            state[r] = undoes ? REGION_ORIGINAL : REGION_WRITTEN;
        } else if (state[r] == (undoes ? REGION_WRITTEN : REGION_ORIGINAL)) {
            pending++;
            if (is_last && !undoes) {
                outcome->kind = AS_PATCH_THREADS;
                outcome->error = EBUSY;
            }
        }
    }
    return pending;
}

static void fail_original(const struct as_patch_module *planned, int error)
{
    for (uint64_t r = planned->first_region; r < (uint64_t)planned->first_region + planned->regions;
         r++) {
        struct as_patch_outcome *outcome = as_patcher_outcome(r);
        if (outcome->kind != AS_PATCH_DONE || state[r] != REGION_ORIGINAL)
            continue;
        outcome->kind = AS_PATCH_DENIED;
        outcome->error = (uint32_t)error;
    }
}

/* How many regions wait. */
static uint64_t change_code(bool undo, bool is_last)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_module *planned = as_patch_at(plan, &plan->module);
    uint64_t pending = 0;
    undoes = undo;
    find_frames();
    for (uint64_t m = 0; m < plan->module.n; m++) {
        if (!as_patcher.module[m].is_there)
            continue;
        const int error = as_patcher_write_regions(m, undo, is_free_now);
        if (error && !undo)
            fail_original(&planned[m], -error);
        else
            pending += error ? 1 : mark_module(&planned[m], is_last);
    }
    return pending;
}

/* ---- Leaving --------------------------------------------------------------------------------- */

static bool is_ours(uint64_t address)
{
    if (address - as_bare_given->image < as_bare_given->image_end - as_bare_given->image)
        return true;
    for (uint64_t m = 0; m < as_patcher.plan->module.n; m++)
        if (address - (uintptr_t)as_patcher.module[m].cache < as_patcher.module[m].cache_b)
            return true;
    return false;
}

/* Where the program's code does what comes next in a clone. Instructions are copied one by one; not
 * so what is put in between them, where more lies on the stack, and jumps that are no instruction
 * of the program, whose first byte is another than that of what they stand for. */
static uint64_t original_of(const struct as_patch_template *t, uint64_t clone, uint64_t bias,
                            uint64_t pc)
{
    const struct as_patch_span *span =
        (const struct as_patch_span *)as_patch_at(as_patcher.plan, &as_patcher.plan->span) +
        t->first_span;
    for (uint32_t i = 0; i < t->spans; i++) {
        const uint64_t at = pc - clone - span[i].at;
        if (at >= span[i].size_b)
            continue;
        const uint64_t original = span[i].address + bias + at;
        const bool is_copy =
            span[i].size_b == span[i].original_b && span[i].depth_b == 0 &&
            *(const uint8_t *)(uintptr_t)pc == *(const uint8_t *)(uintptr_t)original;
        return is_copy ? original : AS_BARE_STEP;
    }
    return 0;
}

static uint64_t way_out(uint64_t pc)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_region *region = as_patch_at(plan, &plan->region);
    for (uint64_t r = 0; r < plan->region.n; r++) {
        const struct as_patch_outcome *outcome = as_patcher_outcome(r);
        if (outcome->kind != AS_PATCH_DONE || state[r] != REGION_ORIGINAL)
            continue;
        if (pc - outcome->plain < region[r].plain.size_b)
            return original_of(&region[r].plain, outcome->plain, outcome->bias, pc);
        if (pc - outcome->measured < region[r].measured.size_b)
            return original_of(&region[r].measured, outcome->measured, outcome->bias, pc);
    }
    return 0;
}

/* A handler that interrupted a clone will return there: the kernel has put the place on the stack,
 * and two words behind it the segments of 64-bit code (struct sigcontext). */
static bool will_return(const struct as_bare_thread *thread)
{
    const uint64_t *word = (const uint64_t *)(uintptr_t)((thread->stack + 7) & ~UINT64_C(7));
    const uint64_t *end = (const uint64_t *)(uintptr_t)thread->stack_end;
    for (; word + 2 < end; word++)
        if ((word[2] & 0xffff) == 0x33 && is_ours(word[0]))
            return true;
    return false;
}

static void leave_thread(struct as_bare_thread *thread)
{
    struct as_patcher_locals *own = (struct as_patcher_locals *)(uintptr_t)thread->base;
    thread->is_inside = is_ours(thread->pc) || will_return(thread);
    thread->out = is_ours(thread->pc) && thread->again == thread->pc ? way_out(thread->pc) : 0;
    if (thread->is_inside || thread->base == 0)
        return;
    if (as_bare_is_thread(own))
        as_bare_end_thread(own);
    else if (thread->base != as_bare_given->nowhere)
        return;
    thread->base = 0;
}

static void unmap_memory(const void *at, uint64_t size_b)
{
    if (at)
        munmap((void *)(uintptr_t)at, size_b);
}

/* All but the image, which the tracer takes away. */
static void unmap_all(void)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    as_bare_end_ended(); /* all are by now, but for those that nobody told of */
    for (uint64_t m = 0; m < plan->module.n; m++) {
        as_patcher_map_gone(&as_patcher.module[m]);
        unmap_memory(as_patcher.module[m].cache, as_patcher.module[m].cache_b);
    }
    unmap_memory(state, plan->region.n + 1);
    unmap_memory(as_patcher.module, plan->module.n * sizeof *as_patcher.module);
    unmap_memory((const uint8_t *)as_patcher.nowhere - AS_PATCHER_LOCAL_B,
                 AS_PATCHER_LOCAL_B + as_patcher.thread_b);
    unmap_memory(as_patcher.outcomes,
                 sizeof *as_patcher.outcomes + plan->region.n * sizeof(struct as_patch_outcome));
    unmap_memory(as_agent.control, AS_AGENT_PAGE_B);
    unmap_memory(plan, plan->size_b);
    as_agent.state = AS_AGENT_INERT;
}

/* The tracer sets %gs of each thread as the table says then. */
static uint64_t leave_all(void)
{
    struct as_bare_thread *thread = (struct as_bare_thread *)(uintptr_t)as_bare_given->thread;
    uint64_t inside = 0;
    for (uint64_t i = 0; i < as_bare_given->threads; i++) {
        leave_thread(&thread[i]);
        inside += thread[i].is_inside;
    }
    return inside;
}

/* ---- Hooks ----------------------------------------------------------------------------------- */

void as_bare_attach(struct as_bare_given *given)
{
    struct as_bare_thread *thread = (struct as_bare_thread *)(uintptr_t)given->thread;
    const pid_t self = as_agent_self.tid;
    uint64_t own = 0;
    as_patcher.deferred = true;
    as_bare_begin(given);
    if (!given->nowhere)
        return;
    state = mmap(NULL, as_patcher.plan->region.n + 1, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (state == MAP_FAILED) {
        given->nowhere = 0;
        as_patcher_set_base(NULL);
        return;
    }
    for (uint64_t i = 0; i < given->threads; i++) {
        as_agent_self.tid = (pid_t)thread[i].tid;
        if (as_agent_self.tid == self) /* it has its file since the beginning */
            thread[i].base = own = (uintptr_t)as_patcher_locals();
    }
    for (uint64_t i = 0; i < given->threads; i++) {
        as_agent_self.tid = (pid_t)thread[i].tid;
        if (as_agent_self.tid != self)
            thread[i].base = (uintptr_t)as_bare_begin_thread();
    }
    as_agent_self.tid = self;
    as_patcher_set_base((const void *)(uintptr_t)own);
}

void as_bare_change(struct as_bare_given *given, uint64_t hook)
{
    if (!state)
        return;
    if (hook == AS_BARE_WRITE || hook == AS_BARE_UNDO) {
        given->pending = change_code(hook == AS_BARE_UNDO, given->last);
        return;
    }
    given->pending = leave_all();
    if (given->last && given->pending == 0)
        unmap_all();
}
