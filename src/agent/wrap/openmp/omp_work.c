/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libgomp's barriers and the sharing of work. What only needs to be seen passing is a jump to
 * libgomp's routine with a look at its arguments before: of the many routines that begin or end a
 * loop nothing but the name differs then. Loops that gcc divides itself (static) call nobody.
 */
#include <stddef.h>

#include "agent/wrap/openmp/omp.h"

/* ---- What passes -------------------------------------------------------------------------- */

/* How the arguments say how many iterations there are. */
enum passing {
    PASSING_LOOP,     /* start, end, step */
    PASSING_UNSIGNED, /* whether up, start, end, step */
    PASSING_UNKNOWN,  /* a loop */
    PASSING_SECTIONS, /* number */
    PASSING_LOOP_END,
    PASSING_SECTIONS_END
};

/* number, name, how: numbers from 0 on */
#define PASSINGS(X)                                                                                \
    X(0, GOMP_loop_static_start, PASSING_LOOP)                                                     \
    X(1, GOMP_loop_dynamic_start, PASSING_LOOP)                                                    \
    X(2, GOMP_loop_guided_start, PASSING_LOOP)                                                     \
    X(3, GOMP_loop_runtime_start, PASSING_LOOP)                                                    \
    X(4, GOMP_loop_nonmonotonic_dynamic_start, PASSING_LOOP)                                       \
    X(5, GOMP_loop_nonmonotonic_guided_start, PASSING_LOOP)                                        \
    X(6, GOMP_loop_nonmonotonic_runtime_start, PASSING_LOOP)                                       \
    X(7, GOMP_loop_maybe_nonmonotonic_runtime_start, PASSING_LOOP)                                 \
    X(8, GOMP_loop_ordered_static_start, PASSING_LOOP)                                             \
    X(9, GOMP_loop_ordered_dynamic_start, PASSING_LOOP)                                            \
    X(10, GOMP_loop_ordered_guided_start, PASSING_LOOP)                                            \
    X(11, GOMP_loop_ordered_runtime_start, PASSING_LOOP)                                           \
    X(12, GOMP_loop_start, PASSING_LOOP)                                                           \
    X(13, GOMP_loop_ordered_start, PASSING_LOOP)                                                   \
    X(14, GOMP_loop_ull_static_start, PASSING_UNSIGNED)                                            \
    X(15, GOMP_loop_ull_dynamic_start, PASSING_UNSIGNED)                                           \
    X(16, GOMP_loop_ull_guided_start, PASSING_UNSIGNED)                                            \
    X(17, GOMP_loop_ull_runtime_start, PASSING_UNSIGNED)                                           \
    X(18, GOMP_loop_ull_nonmonotonic_dynamic_start, PASSING_UNSIGNED)                              \
    X(19, GOMP_loop_ull_nonmonotonic_guided_start, PASSING_UNSIGNED)                               \
    X(20, GOMP_loop_ull_nonmonotonic_runtime_start, PASSING_UNSIGNED)                              \
    X(21, GOMP_loop_ull_maybe_nonmonotonic_runtime_start, PASSING_UNSIGNED)                        \
    X(22, GOMP_loop_ull_ordered_static_start, PASSING_UNSIGNED)                                    \
    X(23, GOMP_loop_ull_ordered_dynamic_start, PASSING_UNSIGNED)                                   \
    X(24, GOMP_loop_ull_ordered_guided_start, PASSING_UNSIGNED)                                    \
    X(25, GOMP_loop_ull_ordered_runtime_start, PASSING_UNSIGNED)                                   \
    X(26, GOMP_loop_ull_start, PASSING_UNSIGNED)                                                   \
    X(27, GOMP_loop_ull_ordered_start, PASSING_UNSIGNED)                                           \
    X(28, GOMP_loop_doacross_static_start, PASSING_UNKNOWN)                                        \
    X(29, GOMP_loop_doacross_dynamic_start, PASSING_UNKNOWN)                                       \
    X(30, GOMP_loop_doacross_guided_start, PASSING_UNKNOWN)                                        \
    X(31, GOMP_loop_doacross_runtime_start, PASSING_UNKNOWN)                                       \
    X(32, GOMP_loop_doacross_start, PASSING_UNKNOWN)                                               \
    X(33, GOMP_loop_ull_doacross_static_start, PASSING_UNKNOWN)                                    \
    X(34, GOMP_loop_ull_doacross_dynamic_start, PASSING_UNKNOWN)                                   \
    X(35, GOMP_loop_ull_doacross_guided_start, PASSING_UNKNOWN)                                    \
    X(36, GOMP_loop_ull_doacross_runtime_start, PASSING_UNKNOWN)                                   \
    X(37, GOMP_loop_ull_doacross_start, PASSING_UNKNOWN)                                           \
    X(38, GOMP_sections_start, PASSING_SECTIONS)                                                   \
    X(39, GOMP_sections2_start, PASSING_SECTIONS)                                                  \
    X(40, GOMP_loop_end_nowait, PASSING_LOOP_END)                                                  \
    X(41, GOMP_sections_end_nowait, PASSING_SECTIONS_END)

#define PASSING_ROW(number, name, how) [number] = {#name, how, NULL},
static struct {
    const char *name;
    uint8_t how;
    void *_Atomic real;
} passing[] = {PASSINGS(PASSING_ROW)};

/* Unsigned numbers: only how far it is counts. */
static uint64_t unsigned_iterations(bool up, uint64_t start, uint64_t end, uint64_t step)
{
    const uint64_t way = up ? end - start : start - end, stride = up ? step : -step;
    return stride && (up ? end > start : start > end) ? way / stride + (way % stride != 0) : 0;
}

static void record_passing(unsigned how, const uint64_t *argument)
{
    switch (how) {
    case PASSING_LOOP:
        as_omp_begin_work(
            AS_TRACE_LOOP,
            as_omp_iterations((int64_t)argument[0], (int64_t)argument[1], (int64_t)argument[2]));
        break;
    case PASSING_UNSIGNED:
        as_omp_begin_work(AS_TRACE_LOOP, unsigned_iterations(argument[0] & 1, argument[1],
                                                             argument[2], argument[3]));
        break;
    case PASSING_UNKNOWN:
        as_omp_begin_work(AS_TRACE_LOOP, 0);
        break;
    case PASSING_SECTIONS:
        as_omp_begin_work(AS_TRACE_SECTIONS, (uint32_t)argument[0]);
        break;
    default:
        as_omp_end_work(how == PASSING_LOOP_END ? AS_TRACE_LOOP : AS_TRACE_SECTIONS);
        break;
    }
}

/* Answers where to jump. */
__attribute__((used, visibility("hidden"))) void *as_omp_pass(unsigned number,
                                                              const uint64_t *argument);
void *as_omp_pass(unsigned number, const uint64_t *argument)
{
    void *real = atomic_load_explicit(&passing[number].real, memory_order_relaxed);
    if (!real)
        passing[number].real = real = as_omp_find(passing[number].name, NULL);
    if (as_omp_records()) {
        as_omp_end_single();
        record_passing(passing[number].how, argument);
    }
    return real;
}

/* The six registers of arguments lie on the stack as an array meanwhile. */
#define PASSING_JUMP(number, name, how)                                                            \
    ".globl " #name "\n.type " #name ", @function\n" #name ":\n    movl $" #number ", %eax\n"      \
    "    jmp as_omp_passing\n.size " #name ", . - " #name "\n"
__asm__(".text\n" PASSINGS(PASSING_JUMP) //
        "as_omp_passing:\n"
        "    .cfi_startproc\n"
        "    subq $56, %rsp\n"
        "    .cfi_adjust_cfa_offset 56\n"
        "    movq %rdi, 0(%rsp)\n"
        "    movq %rsi, 8(%rsp)\n"
        "    movq %rdx, 16(%rsp)\n"
        "    movq %rcx, 24(%rsp)\n"
        "    movq %r8, 32(%rsp)\n"
        "    movq %r9, 40(%rsp)\n"
        "    movl %eax, %edi\n"
        "    movq %rsp, %rsi\n"
        "    call as_omp_pass\n"
        "    movq 0(%rsp), %rdi\n"
        "    movq 8(%rsp), %rsi\n"
        "    movq 16(%rsp), %rdx\n"
        "    movq 24(%rsp), %rcx\n"
        "    movq 32(%rsp), %r8\n"
        "    movq 40(%rsp), %r9\n"
        "    addq $56, %rsp\n"
        "    .cfi_adjust_cfa_offset -56\n"
        "    jmp *%rax\n"
        "    .cfi_endproc\n");

/* ---- Barriers ----------------------------------------------------------------------------- */

/* A routine that is a barrier, as the last thing that it does. */
#define BARRIER_ROUTINE(name, kind, before)                                                        \
    AS_WRAPPER void name(void);                                                                    \
    AS_WRAPPER void name(void)                                                                     \
    {                                                                                              \
        if (!as_omp_records()) {                                                                   \
            AS_OMP_REAL(name)();                                                                   \
            return;                                                                                \
        }                                                                                          \
        before;                                                                                    \
        as_omp_begin_sync(kind);                                                                   \
        AS_OMP_REAL(name)();                                                                       \
        as_omp_end_sync(kind);                                                                     \
    }
/* One that says whether the region was cancelled. */
#define BARRIER_CANCEL(name, kind, before)                                                         \
    AS_WRAPPER bool name(void);                                                                    \
    AS_WRAPPER bool name(void)                                                                     \
    {                                                                                              \
        if (!as_omp_records())                                                                     \
            return AS_OMP_REAL(name)();                                                            \
        before;                                                                                    \
        as_omp_begin_sync(kind);                                                                   \
        const bool cancelled = AS_OMP_REAL(name)();                                                \
        as_omp_end_sync(kind);                                                                     \
        return cancelled;                                                                          \
    }

BARRIER_ROUTINE(GOMP_barrier, AS_TRACE_EXPLICIT, )
BARRIER_ROUTINE(GOMP_loop_end, AS_TRACE_IMPLIED, as_omp_end_work(AS_TRACE_LOOP))
BARRIER_ROUTINE(GOMP_sections_end, AS_TRACE_IMPLIED, as_omp_end_work(AS_TRACE_SECTIONS))
BARRIER_CANCEL(GOMP_barrier_cancel, AS_TRACE_EXPLICIT, )
BARRIER_CANCEL(GOMP_loop_end_cancel, AS_TRACE_IMPLIED, as_omp_end_work(AS_TRACE_LOOP))
BARRIER_CANCEL(GOMP_sections_end_cancel, AS_TRACE_IMPLIED, as_omp_end_work(AS_TRACE_SECTIONS))
BARRIER_ROUTINE(GOMP_taskwait, AS_TRACE_TASKWAIT, )
BARRIER_ROUTINE(GOMP_taskgroup_end, AS_TRACE_TASKGROUP, )

AS_WRAPPER void GOMP_taskwait_depend(void **depend);
AS_WRAPPER void GOMP_taskwait_depend(void **depend)
{
    if (!as_omp_records()) {
        AS_OMP_REAL(GOMP_taskwait_depend)(depend);
        return;
    }
    as_omp_begin_sync(AS_TRACE_TASKWAIT);
    AS_OMP_REAL(GOMP_taskwait_depend)(depend);
    as_omp_end_sync(AS_TRACE_TASKWAIT);
}

AS_WRAPPER void GOMP_workshare_task_reduction_unregister(bool cancelled);
AS_WRAPPER void GOMP_workshare_task_reduction_unregister(bool cancelled)
{
    if (cancelled || !as_omp_records()) { /* then it is no barrier */
        AS_OMP_REAL(GOMP_workshare_task_reduction_unregister)(cancelled);
        return;
    }
    as_omp_begin_sync(AS_TRACE_IMPLIED);
    AS_OMP_REAL(GOMP_workshare_task_reduction_unregister)(cancelled);
    as_omp_end_sync(AS_TRACE_IMPLIED);
}

/* ---- Single ------------------------------------------------------------------------------- */

AS_WRAPPER bool GOMP_single_start(void);
AS_WRAPPER bool GOMP_single_start(void)
{
    if (!as_omp_records())
        return AS_OMP_REAL(GOMP_single_start)();
    as_omp_end_single();
    const bool mine = AS_OMP_REAL(GOMP_single_start)();
    if (mine) {
        as_omp_begin_work(AS_TRACE_SINGLE, 1);
        as_omp_self.in_single = true;
    }
    return mine;
}

/* One thread gets NULL at once and does the work; the others wait in here for its end. */
AS_WRAPPER void *GOMP_single_copy_start(void);
AS_WRAPPER void *GOMP_single_copy_start(void)
{
    if (!as_omp_records())
        return AS_OMP_REAL(GOMP_single_copy_start)();
    as_omp_end_single();
    struct as_tracer_thread *t = as_omp_self.region ? as_wrapped_thread() : NULL;
    const uint64_t field[] = {as_omp_self.region, AS_TRACE_IMPLIED};
    const uint64_t came = t ? as_trace_now(&t->writer) : 0;
    void *copy = AS_OMP_REAL(GOMP_single_copy_start)();
    if (!copy) {
        as_omp_begin_work(AS_TRACE_SINGLE, 1);
    } else if (t && as_omp_leaves_out(AS_OMP_BARRIER)) {
        as_trace_leave_out(&t->writer);
    } else if (t) {
        as_trace_emit(&t->writer, AS_TRACE_BARRIER, came, field, 2);
        as_trace_emit(&t->writer, AS_TRACE_BARRIER_END, as_trace_now(&t->writer), field, 2);
    }
    return copy;
}

AS_WRAPPER void GOMP_single_copy_end(void *copy);
AS_WRAPPER void GOMP_single_copy_end(void *copy)
{
    if (!as_omp_records()) {
        AS_OMP_REAL(GOMP_single_copy_end)(copy);
        return;
    }
    as_omp_end_work(AS_TRACE_SINGLE);
    as_omp_begin_sync(AS_TRACE_IMPLIED);
    AS_OMP_REAL(GOMP_single_copy_end)(copy);
    as_omp_end_sync(AS_TRACE_IMPLIED);
}
