/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of its own for each test: make_place and remove_place, around cmocka's tests; path_of
 * is in it.
 */
#ifndef AS_TEST_DIRECTORY_H
#define AS_TEST_DIRECTORY_H

#include <stdio.h>
#include <stdlib.h>

static char directory[64];

static int make_place(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/assay-test-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_place(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

/* A name in it; valid until the next but one. */
static inline const char *path_of(const char *name)
{
    static char path[2][256];
    static unsigned which;
    which ^= 1;
    snprintf(path[which], sizeof path[which], "%s/%s", directory, name);
    return path[which];
}

#endif
