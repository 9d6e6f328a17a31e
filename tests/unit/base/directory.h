/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of its own for each test: make_place and remove_place, around cmocka's tests.
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

#endif
