/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs compiled at test time, and the output of the tools that say the truth about them.
 * Everything stands in one directory below the current one, removed at the end.
 */
#ifndef TEST_OBJECT_PROGRAM_H
#define TEST_OBJECT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes the directory and writes the source of the program; 0 or -1. For cmocka's group set-up. */
int program_setup(void **state);
int program_teardown(void **state);

/* Path of a file in the directory: static storage, good for the next 8 calls. */
const char *program_path(const char *name);
/* Compiles the program to `name` with these flags; fails the test when that does not work. */
const char *program_build(const char *name, const char *flags);
/* Runs a shell command in the directory; fails the test when it fails. */
void program_run(const char *format, ...) __attribute__((format(printf, 1, 2)));
void program_write(const char *name, const void *bytes, size_t n);
/* Whole file on the heap. */
uint8_t *program_read(const char *path, size_t *n);
/* Sorted lines of a command's output, as one string on the heap. */
char *program_lines(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* As above: lines put together by the caller ("a\nb\n"), sorted in place. */
void program_sort_lines(char *text);

#endif
