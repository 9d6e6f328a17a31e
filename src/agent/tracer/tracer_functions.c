/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each thread has a stack of the functions that it is in, recorded or not, so that an end finds its
 * beginning whatever was switched off in between. A function's number is found in a table of one
 * word each; the first call of a function in the process names it.
 */
#include "agent/tracer/tracer_functions.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/core/agent.h"
#include "agent/tracer/tracer.h"
#include "agent/unwind/callers.h"
#include "agent/unwind/function_names.h"

#define ANY_GROUP UINT32_MAX /* who tells of functions was asked for them */

extern const struct as_tracer_hooks assay_tracer_hooks;

/* ---- Numbers --------------------------------------------------------------------------------- */

/* key << 16, and what of it is recorded. */
#define KNOWN_N    (1u << 15)
#define KNOWN_MOST (KNOWN_N / 4 * 3)
#define LEFT_OUT   0x8000u
#define NAMELESS   0x4000u
_Static_assert(AS_TRACER_NAMES_N <= NAMELESS, "a number and two bits are 16");
static _Atomic uint64_t *known; /* KNOWN_N */
static _Atomic uint32_t known_n;

bool as_tracer_functions_start(void)
{
    known = as_agent_map(KNOWN_N * sizeof *known);
    return known != NULL;
}

static _Atomic uint64_t *place_of(uintptr_t key)
{
    uint64_t at = (uint64_t)key * 0x9e3779b97f4a7c15u >> 49;
    for (;; at++) {
        _Atomic uint64_t *place = &known[at & (KNOWN_N - 1)];
        const uint64_t word = atomic_load_explicit(place, memory_order_relaxed);
        if (!word || word >> 16 == key)
            return place;
    }
}

/* 0: nobody can say so now. Two threads at once give a function two numbers of one name. */
static uint32_t learn_function(const struct as_tracer_function *function)
{
    const int saved = errno;
    char path[PATH_MAX];
    struct as_unwind_module module;
    const char *name = function->name;
    const bool has_module = as_unwind_module_of(function->address, &module);
    if (!name && has_module)
        name = as_function_name(function->address, &module, as_callers_path(&module, path));
    else if (!name)
        name = "?";
    const uint32_t number =
        name ? as_tracer_name_function(name, function->address, has_module ? &module : NULL) : 0;
    uint32_t value = (uint32_t)AS_TRACER_NUMBER(number);
    if (number & AS_TRACER_LEFT_OUT)
        value = LEFT_OUT;
    else if (!number)
        value = NAMELESS;
    uint64_t nothing = 0;
    if (name && atomic_fetch_add(&known_n, 1) < KNOWN_MOST)
        atomic_compare_exchange_strong(place_of(function->key), &nothing,
                                       (uint64_t)function->key << 16 | value);
    errno = saved;
    return value;
}

static uint32_t value_of(const struct as_tracer_function *function)
{
    if (!known)
        return NAMELESS;
    const uint64_t word = atomic_load_explicit(place_of(function->key), memory_order_relaxed);
    return word ? (uint32_t)word & 0xffff : learn_function(function);
}

void as_tracer_functions_forget(void)
{
    if (!atomic_exchange(&known_n, 0))
        return;
    for (unsigned i = 0; i < KNOWN_N; i++)
        atomic_store_explicit(&known[i], 0, memory_order_relaxed);
}

/* ---- The stack ------------------------------------------------------------------------------- */

#define DEPTH_MOST       4096u
#define FRAME_WORDS_MOST 64u

struct open_function {
    uintptr_t key, frame, site, behind;
    uintptr_t slot;    /* of the stack, with `site` in it; 0: not found */
    uint32_t number;   /* 0: it is not recorded */
    uint32_t switches; /* of its thread's stream when it began: calls end where it is off */
};
struct function_stack {
    uintptr_t busy; /* frame of what is just told; 0: nothing is */
    uint32_t n;
    uint32_t over; /* that began while it was full */
    struct open_function at[DEPTH_MOST];
};
static AS_AGENT_LOCAL struct function_stack *own_stack;

static struct function_stack *begin_stack(void)
{
    const int saved = errno;
    if (as_agent_is_confined() || as_agent.state != AS_AGENT_READY)
        return NULL;
    const long at = syscall(SYS_mmap, NULL, sizeof *own_stack, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
    own_stack = at == -1 ? NULL : (struct function_stack *)at;
    errno = saved;
    return own_stack;
}

/* Of a handler that interrupts us in the middle it is not known what it does. One that a jump left
 * there is above us. */
static bool is_busy(const struct function_stack *s, uintptr_t frame)
{
    return s->busy && frame < s->busy;
}

/* Frames on other stacks say nothing by their order. */
static bool is_on_stack(uintptr_t frame)
{
    return frame >= as_agent_self.low && frame < as_agent_self.high;
}

/* Where the return address stands, if its frame is small. What looks the same and lies deeper, left
 * from before, makes us think less to be gone than is. */
static uintptr_t find_slot(const struct as_tracer_function *function)
{
    const uintptr_t first = function->frame + 16;
    for (unsigned i = 0; i < FRAME_WORDS_MOST; i++) {
        const uintptr_t at = first + i * sizeof at;
        if (!is_on_stack(function->frame) || !is_on_stack(at + sizeof at))
            return 0;
        if (*(const uintptr_t *)at == function->site)
            return at;
    }
    return 0;
}

/* Whether a function that has begun just now stands where an open one did. That has been left by a
 * jump, but where the new one was inlined into it: that says the same of its caller, from other
 * code. */
static bool has_replaced(const struct open_function *it, const struct as_tracer_function *function,
                         uintptr_t slot)
{
    if (!is_on_stack(it->frame) || !is_on_stack(function->frame))
        return false;
    if (it->frame < function->frame)
        return true;
    if (!slot || !it->slot || it->frame + 16 > slot)
        return false;
    return it->slot != slot || it->site != function->site || it->behind == function->behind;
}

static void close_last(struct function_stack *s, struct as_tracer_thread *t, uint64_t tick)
{
    const struct open_function it = s->at[--s->n];
    const uint64_t field = it.number;
    if (t && it.number && it.switches == t->switches)
        as_trace_emit(&t->writer, AS_TRACE_LEAVE, tick, &field, 1);
}

static void open_function(struct function_stack *s, struct as_tracer_thread *t,
                          const struct as_tracer_function *function, uint32_t number,
                          uintptr_t slot)
{
    const uint64_t field = number;
    if (s->n == DEPTH_MOST) {
        s->over++;
        if (t)
            t->writer.handlers_lost++;
        return;
    }
    s->over = 0;
    s->at[s->n++] = (struct open_function){.key = function->key,
                                           .frame = function->frame,
                                           .site = function->site,
                                           .behind = function->behind,
                                           .slot = slot,
                                           .number = t ? number : 0,
                                           .switches = t ? t->switches : 0};
    if (t && number)
        as_trace_emit(&t->writer, AS_TRACE_ENTER, as_trace_now(&t->writer), &field, 1);
}

/* A handler that interrupts us in the middle. */
static void lose_function(struct as_tracer_thread *t)
{
    if (t)
        t->writer.handlers_lost++;
}

static void close_replaced(struct function_stack *s, struct as_tracer_thread *t,
                           const struct as_tracer_function *function, uintptr_t slot)
{
    uint64_t tick = 0;
    while (s->n && has_replaced(&s->at[s->n - 1], function, slot)) {
        if (t && !tick)
            tick = as_trace_now(&t->writer);
        close_last(s, t, tick);
    }
}

void as_tracer_function_begins(const struct as_tracer_function *function)
{
    struct as_tracer_thread *t = assay_tracer_hooks.enter(ANY_GROUP);
    struct function_stack *s = own_stack ? own_stack : t ? begin_stack() : NULL;
    if (!s || is_busy(s, function->frame)) {
        lose_function(s ? t : NULL);
        return;
    }
    s->busy = function->frame;
    atomic_signal_fence(memory_order_seq_cst);
    const uintptr_t slot = find_slot(function);
    close_replaced(s, t, function, slot);
    const uint32_t value = value_of(function);
    if (!(value & LEFT_OUT))
        open_function(s, t, function, value & NAMELESS ? 0 : value, slot);
    else if (t)
        as_trace_leave_out(&t->writer);
    if (value & NAMELESS)
        lose_function(t);
    atomic_signal_fence(memory_order_seq_cst);
    s->busy = 0;
}

/* The latest of the function; 0: there is none. */
static uint32_t find_open(const struct function_stack *s, uintptr_t key, uintptr_t frame)
{
    for (uint32_t n = s->n; n > 0; n--)
        if (s->at[n - 1].key == key)
            return s->at[n - 1].frame == frame || !s->over ? n : 0;
    return 0;
}

void as_tracer_function_ends(uintptr_t key, uintptr_t frame, bool is_gone)
{
    struct function_stack *s = own_stack;
    if (!s || !s->n || is_busy(s, frame))
        return;
    s->busy = frame;
    atomic_signal_fence(memory_order_seq_cst);
    struct as_tracer_thread *t = assay_tracer_hooks.enter(ANY_GROUP);
    const uint64_t tick = t ? as_trace_now(&t->writer) : 0;
    while (s->n && is_on_stack(frame) && s->at[s->n - 1].frame < frame &&
           is_on_stack(s->at[s->n - 1].frame))
        close_last(s, t, tick); /* has been left, whatever way */
    const uint32_t open_n = is_gone && is_on_stack(frame) ? 0 : find_open(s, key, frame);
    while (open_n && s->n >= open_n)
        close_last(s, t, tick);
    atomic_signal_fence(memory_order_seq_cst);
    s->busy = 0;
}

/* ---- Threads and processes ------------------------------------------------------------------- */

void as_tracer_functions_thread_end(void)
{
    struct function_stack *s = own_stack;
    own_stack = NULL;
    if (s && !as_agent_is_confined())
        syscall(SYS_munmap, s, sizeof *s);
}

void as_tracer_functions_forked(void)
{
    struct function_stack *s = own_stack;
    for (uint32_t i = 0; s && i < s->n; i++)
        s->at[i].number = 0;
    as_function_names_forked();
    as_tracer_functions_forget(); /* the child's definitions do not have them */
}
