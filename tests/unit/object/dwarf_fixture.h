/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the tests of the DWARF side: a scratch directory with small sources, commands run in it,
 * and objects opened from it.
 */
#ifndef DWARF_FIXTURE_H
#define DWARF_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "object/object.h"

/* Makes the directory, writes a.cpp, m.f90 and two.c into it and goes there. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* Runs a shell command quietly; whether it succeeded. */
bool fixture_try(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* As above, and the test fails when it does. */
void fixture_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Output of a shell command; free() it. */
char *fixture_output(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool fixture_has(const char *program);

/* Opens and loads all of `path`; fails the test on an error. */
struct as_object *fixture_open(const char *path, struct as_debug *debug);
/* File of libc with DWARF by its build-id (libc6-dbg), or NULL. */
const char *fixture_libc(void);

/* Number of the inlined instances or subprograms called `name`. */
size_t fixture_count(const struct as_debug *debug, const char *name);

#endif
