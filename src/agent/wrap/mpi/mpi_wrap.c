/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wrappers of MPI's routines, for the ABI of the mpi.h that this is compiled with: what they
 * say of a call stands in the files that mpi_wrap.h names.
 */
#include "agent/wrap/mpi/mpi_wrap.h"
#include "agent/wrap/mpi/mpi_fortran.h"

struct mpi_routine {
    const char *name;
    uint32_t group;
};
struct mpi_wrapper {
    unsigned number;
    void (*function)(void);
};

const struct as_tracer_hooks *as_mpi_hooks;
static void *const *real_c, *const *real_f;

/* Of the wrapper that the program called. */
#define CALLED_FROM                                                                                \
    .return_address = __builtin_return_address(0), .frame = __builtin_frame_address(0)

static bool enter_call(struct as_mpi_call *call, unsigned number);
static bool enter_poll(struct as_mpi_call *call, unsigned number);
static void leave_unrecorded(const struct as_mpi_call *call);
static void begin_call(const struct as_mpi_call *call, unsigned number);
static void stamp_call(struct as_mpi_call *call);
static void leave_call(struct as_mpi_call *call, unsigned number);
static void leave_poll(struct as_mpi_call *call);

#include AS_MPI_MADE

static uint32_t name_of[ROUTINES_N];

/* The first call in a process names the routine. Of two threads at once the second finds a number:
 * a call ends as it began. */
static uint32_t number_of(unsigned number)
{
    uint32_t known = __atomic_load_n(&name_of[number], __ATOMIC_RELAXED);
    if (known)
        return known;
    const uint32_t given = as_mpi_hooks->name(routine[number].group, routine[number].name);
    return __atomic_compare_exchange_n(&name_of[number], &known, given, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED)
               ? given
               : known;
}

/* ---- Calls -------------------------------------------------------------------------------- */

static void begin_call(const struct as_mpi_call *call, unsigned number)
{
    const uint64_t field = AS_TRACER_NUMBER(number_of(number));
    if (call->thread->quiet)
        return;
    as_trace_emit(&call->thread->writer, AS_TRACE_ENTER, call->enter, &field, 1);
    call->thread->is_undecided = false;
    as_mpi_hooks->callers(call->thread, call->return_address, call->frame);
}

/* What a call that the user's filter leaves out calls, is not recorded either. */
static bool enter_poll(struct as_mpi_call *call, unsigned number)
{
    call->thread = as_mpi_hooks->enter(AS_TRACER_MPI);
    if (!call->thread)
        return false;
    call->thread->inside = 1;
    if (number_of(number) & AS_TRACER_LEFT_OUT) {
        as_trace_leave_out(&call->thread->writer);
        return false;
    }
    if (as_mpi_missed && call->thread->quiet != AS_TRACER_MUTED)
        as_mpi_emit_missed(call->thread);
    call->thread->is_undecided = true;
    call->enter = as_trace_now(&call->thread->writer);
    return true;
}

static bool enter_call(struct as_mpi_call *call, unsigned number)
{
    if (!enter_poll(call, number))
        return false;
    begin_call(call, number);
    return true;
}

/* What is told behind the call has the time at which it came back. */
static void stamp_call(struct as_mpi_call *call)
{
    call->tick = as_trace_now(&call->thread->writer);
}

static void leave_unrecorded(const struct as_mpi_call *call)
{
    if (call->thread)
        call->thread->inside = 0;
}

static struct as_trace_polls *note_poll(const struct as_mpi_call *call, uint64_t name)
{
    struct as_trace_polls *first =
        as_trace_poll(&call->thread->writer, name, call->enter, call->tick);
    if (first)
        first->callers_n =
            as_mpi_hooks->find_callers(call->return_address, call->frame, first->caller);
    return first;
}

/* Nothing was found. */
struct as_trace_polls *as_mpi_poll(const struct as_mpi_call *call, unsigned number)
{
    const uint32_t name = number_of(number);
    if (name & AS_TRACER_NO_POLLS) {
        as_trace_leave_out(&call->thread->writer);
        return NULL;
    }
    return note_poll(call, AS_TRACER_NUMBER(name));
}

static void sum_call(const struct as_mpi_call *call, uint64_t name)
{
    struct as_tracer_thread *thread = call->thread;
    note_poll(call, name);
    as_trace_poll_traffic(&thread->writer, name, thread->sent_b, thread->received_b);
    thread->sent_b = thread->received_b = 0;
}

static void leave_call(struct as_mpi_call *call, unsigned number)
{
    const uint64_t field = AS_TRACER_NUMBER(name_of[number]);
    if (call->thread->quiet == AS_TRACER_SUMMED)
        sum_call(call, field);
    else
        as_mpi_emit_numbers(call, AS_TRACE_LEAVE, &field, 1);
    call->thread->is_undecided = false;
    call->thread->inside = 0;
}

static void leave_poll(struct as_mpi_call *call)
{
    call->thread->is_undecided = false;
    call->thread->inside = 0;
}

/* ---- Into the front ----------------------------------------------------------------------- */

/* MPICH's module mpi_f08 calls PMPI_* where there is no buffer: these are wrapped too, and what is
 * within another call is not recorded twice. In Open MPI the Fortran routines are wrapped. */
as_mpi_wrap_function as_mpi_wrap;
__attribute__((visibility("default"))) int as_mpi_wrap(const struct as_mpi_front *front,
                                                       void **slot, void **slot_fortran,
                                                       void **slot_profiling)
{
    as_mpi_hooks = front->hooks;
    real_c = front->real;
    real_f = front->real_fortran;
    if (front->n != ROUTINES_N || !as_mpi_find_own(front))
        return -1;
    as_mpi_find_clocks(front);
    for (size_t i = 0; i < sizeof wrapper / sizeof *wrapper; i++)
        if (real_c[wrapper[i].number])
            slot[wrapper[i].number] = (void *)wrapper[i].function;
#ifdef OPEN_MPI
    (void)slot_profiling;
    as_mpi_find_fortran(front);
    for (size_t i = 0; i < sizeof wrapper_fortran / sizeof *wrapper_fortran; i++)
        if (real_f[wrapper_fortran[i].number])
            slot_fortran[wrapper_fortran[i].number] = (void *)wrapper_fortran[i].function;
#else
    (void)slot_fortran; /* MPICH's Fortran calls the C routines */
    for (size_t i = 0; i < sizeof wrapper / sizeof *wrapper; i++)
        if (real_c[wrapper[i].number])
            slot_profiling[wrapper[i].number] = (void *)wrapper[i].function;
#endif
    return 0;
}
