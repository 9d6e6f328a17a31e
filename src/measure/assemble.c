/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts lines to bytes and bytes to an executable page. A function with a wrong line, or one
 * that does not fit, is refused with the line.
 */
#include "measure/assemble.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "isa/encode.h"

void as_assembly_bytes(struct as_assembly *a, const uint8_t *bytes, size_t n, const char *what)
{
    if (a->refused[0])
        return;
    if (n == 0 || a->n + n + 16 > sizeof a->code) {
        snprintf(a->refused, sizeof a->refused, "%s", what);
        return;
    }
    memcpy(a->code + a->n, bytes, n);
    a->n += n;
}

void as_assembly_line(struct as_assembly *a, const char *format, ...)
{
    char text[96];
    uint8_t insn[AS_ENCODE_B];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    as_assembly_bytes(a, insn, as_encode_text(text, insn), text);
}

size_t as_assembly_label(struct as_assembly *a)
{
    static const uint8_t nop = 0x90;

    while (a->n % 64 && !a->refused[0])
        as_assembly_bytes(a, &nop, 1, "nop");
    return a->n;
}

void as_assembly_jump_back(struct as_assembly *a, size_t label)
{
    const int32_t far = (int32_t)label - (int32_t)(a->n + 6);
    uint8_t jnz[6] = {0x0f, 0x85};

    memcpy(jnz + 2, &far, sizeof far);
    as_assembly_bytes(a, jnz, sizeof jnz, "jnz");
}

int as_kernel_open(const struct as_assembly *a, struct as_kernel *kernel, struct as_error *err)
{
    static const uint8_t ret = 0xc3;

    *kernel = (struct as_kernel){.size_b = sizeof a->code};
    if (a->refused[0])
        return as_error_set(err, AS_ERR_INTERNAL,
                            "measuring: a kernel cannot be encoded for this CPU: %s", a->refused);
    void *memory =
        mmap(NULL, kernel->size_b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return as_error_set(err, AS_ERR_IO, "measuring: no memory for a kernel: %s",
                            strerror(errno));
    kernel->memory = memory;
    memcpy(memory, a->code, a->n);
    memcpy((uint8_t *)memory + a->n, &ret, 1);
    if (mprotect(memory, kernel->size_b, PROT_READ | PROT_EXEC) < 0) {
        const int why = errno;
        as_kernel_close(kernel);
        return as_error_set(err, AS_ERR_IO,
                            "measuring: this system forbids code generation at run time: %s",
                            strerror(why));
    }
    memcpy(&kernel->run, &memory, sizeof memory);
    return 0;
}

void as_kernel_close(struct as_kernel *kernel)
{
    if (kernel->memory)
        munmap(kernel->memory, kernel->size_b);
    *kernel = (struct as_kernel){0};
}
