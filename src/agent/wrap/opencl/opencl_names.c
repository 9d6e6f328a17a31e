/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of kernels and queues, each with one number. Texts stay: the tracer reads them again after
 * a fork. A spinlock guards the table, which is only added to.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/wrap/opencl/opencl.h"
#include "base/fnv.h"

#define AS_OPENCL_TYPES
#include "opencl_made.h"
#undef AS_OPENCL_TYPES

#define NAMES_N 4096u /* a power of 2; of more kernels the rest have no name of their own */
#define TEXT_B  256u
#define CHUNK_B 65536u

static struct {
    const char *text; /* NULL: free */
    uint64_t number;
} kernel_names[NAMES_N];
static unsigned kernel_names_n;
static char *chunk;
static size_t chunk_left_b;
static atomic_flag naming = ATOMIC_FLAG_INIT;
static struct as_wrapped command_names[AS_OPENCL_ROUTINES_N];

/* Returns a copy that is never freed; NULL: no memory. */
static const char *keep_text(const char *text)
{
    const size_t n = strlen(text) + 1;
    if (chunk_left_b < n) {
        char *at = mmap(NULL, CHUNK_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            return NULL;
        chunk = at;
        chunk_left_b = CHUNK_B;
    }
    char *kept = memcpy(chunk, text, n);
    chunk += n;
    chunk_left_b -= n;
    return kept;
}

static uint64_t number_of_text(const char *text, uint32_t group)
{
    const char *kept = keep_text(text);
    const uint32_t number = kept ? as_wrapped_hooks->name(group, kept) : 0;
    return number & AS_TRACER_LEFT_OUT ? 0 : AS_TRACER_NUMBER(number);
}

static uint64_t find_kernel_name(const char *text)
{
    const uint64_t hash = as_fnv_mix(AS_FNV_BASIS, text, strlen(text));
    unsigned i = (unsigned)(hash >> 32) % NAMES_N;
    for (; kernel_names[i].text; i = (i + 1) % NAMES_N)
        if (strcmp(kernel_names[i].text, text) == 0)
            return kernel_names[i].number;
    if (kernel_names_n >= NAMES_N / 2)
        return 0;
    const char *kept = keep_text(text);
    if (!kept)
        return 0;
    const uint32_t number = as_wrapped_hooks->name(AS_TRACE_OF_KERNEL, kept);
    kernel_names[i].text = kept;
    kernel_names[i].number = number & AS_TRACER_LEFT_OUT ? 0 : AS_TRACER_NUMBER(number);
    kernel_names_n++;
    return kernel_names[i].number;
}

uint64_t as_opencl_kernel_name(void *kernel)
{
    char text[TEXT_B] = "";
    size_t n = 0;
    const int32_t rc = AS_OPENCL_REAL(as_opencl_info_type, clGetKernelInfo)(
        kernel, AS_CL_KERNEL_NAME, sizeof text, text, &n);
    if (rc != 0 || n == 0 || n > sizeof text) /* a longer name */
        strcpy(text, "kernel");
    text[sizeof text - 1] = 0;
    while (atomic_flag_test_and_set_explicit(&naming, memory_order_acquire))
        ;
    const uint64_t number = find_kernel_name(text);
    atomic_flag_clear_explicit(&naming, memory_order_release);
    return number;
}

uint64_t as_opencl_command_name(unsigned routine)
{
    struct as_wrapped *name = &command_names[routine];
    uint32_t number = atomic_load_explicit(&name->number, memory_order_relaxed);
    if (!number) {
        number = as_wrapped_hooks->name(AS_TRACE_OF_COPY, as_opencl_routine_name(routine));
        uint32_t none = 0;
        if (!atomic_compare_exchange_strong(&name->number, &none, number))
            number = none;
    }
    return number & AS_TRACER_LEFT_OUT ? 0 : AS_TRACER_NUMBER(number);
}

/* Queues of one device have equal names up to the last colon. */
uint64_t as_opencl_queue_name(void *device, unsigned device_number, unsigned queue_number)
{
    char text[TEXT_B], name[TEXT_B - 64] = "device";
    const int32_t rc = AS_OPENCL_REAL(as_opencl_info_type, clGetDeviceInfo)(
        device, AS_CL_DEVICE_NAME, sizeof name, name, NULL);
    name[sizeof name - 1] = 0;
    snprintf(text, sizeof text, "%s %u: queue %u", rc ? "device" : name, device_number,
             queue_number);
    while (atomic_flag_test_and_set_explicit(&naming, memory_order_acquire))
        ;
    const uint64_t number = number_of_text(text, AS_TRACE_OF_QUEUE);
    atomic_flag_clear_explicit(&naming, memory_order_release);
    return number;
}
