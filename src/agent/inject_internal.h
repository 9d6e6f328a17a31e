/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the injector share. All but the reading of the image runs in a process of its
 * own, forked from one that may have threads: no allocation, no stdio, no lock.
 */
#ifndef AS_AGENT_INJECT_INTERNAL_H
#define AS_AGENT_INJECT_INTERNAL_H

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/bare.h"
#include "agent/control.h"

/* The bare agent as its file says; behind it lies a page for what it is given. */
struct as_image_place {
    uint64_t at, value; /* 8 bytes at `at` are the address of `value` */
};
struct as_image {
    uint8_t *bytes; /* as in memory, before relocation */
    uint64_t size_b;
    uint64_t text, text_end; /* what is executable */
    uint64_t entry;
    struct as_image_place *place;
    uint64_t places;
};

/* A process with the agent in it. */
struct as_injected {
    pid_t pid;
    uint64_t entry, given;    /* addresses there: of the hooks, of struct as_bare_given */
    uint64_t nowhere, missed; /* as there */
};

/* ---- inject_image.c ---- */

int as_image_read(const char *path, struct as_image *image, struct assay_error *err);
void as_image_free(struct as_image *image);

/* ---- inject_call.c: a thread that stands at a stop; 0, or -1: it ended or cannot be asked ---- */

int as_inject_memory(pid_t pid); /* a descriptor */
bool as_inject_read(int memory, uint64_t at, void *out, size_t n);
bool as_inject_write(int memory, uint64_t at, const void *from, size_t n);
/* From the stop at which it has executed to the end of that system call. */
bool as_inject_leave_execve(pid_t tid);
/* A system call (its number, its arguments) by the `syscall` at `at`. */
int as_inject_syscall(pid_t tid, uint64_t at, const uint64_t argument[7], int64_t *out);
/* Runs a hook to its trap; %gs stays where that has led it. */
int as_inject_hook(pid_t tid, uint64_t entry, uint64_t hook, uint64_t given);
int as_inject_set_gs(pid_t tid, uint64_t base);

/* ---- inject_program.c ---- */

char *as_inject_number(char *at, uint64_t value); /* its digits and a zero; where that stands */
/* A number behind `key` in /proc/PID/status; 0: there is none. */
uint64_t as_inject_status(pid_t pid, const char *key, unsigned base);
/* Of a process that has just executed: brings the agent there when it is wanted and can be. 0, or
 * -1: it goes on without. */
int as_inject_program(pid_t pid, struct as_agent_control *control, const struct as_image *image,
                      const char *directory, struct as_injected *out);
/* In a new thread, or the first of a new process. */
void as_inject_tell(const struct as_injected *it, pid_t tid, uint64_t hook);
/* A process in the memory of another: nobody counts what it does. */
void as_inject_leave_out(const struct as_injected *it, pid_t tid);

#endif
