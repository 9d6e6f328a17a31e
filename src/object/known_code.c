/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns are short and have no other purpose: a system call that only one function makes, or the
 * end of a stack that makecontext(3) made. */
#include "object/known_code.h"

#include <string.h>

#define MOST_B 16

struct known_code {
    const char *name;
    uint8_t n;
    uint8_t bytes[MOST_B];
};

static const struct known_code known[] = {
    /* mov $15, %rax; syscall: rt_sigreturn(2) of glibc and musl */
    {"__restore_rt", 9, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}},
    /* mov $15, %eax; syscall */
    {"__restore_rt", 7, {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05}},
    /* mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi; je: glibc */
    {"__start_context", 11, {0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff, 0x74}},
};

const char *as_known_code_name(const struct assay_object *object, uint64_t address)
{
    uint64_t have_b = 0;
    const uint8_t *p = assay_object_bytes(object, address, &have_b);
    for (size_t i = 0; p && i < sizeof known / sizeof *known; i++)
        if (have_b >= known[i].n && memcmp(p, known[i].bytes, known[i].n) == 0)
            return known[i].name;
    return NULL;
}
