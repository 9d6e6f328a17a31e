/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file a mapping is of, when files come and go: records of mappings are made up, files are
 * real ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* Order matters: cmocka uses the types above without including them. */
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample/recorder.h"

static char path[4096];

static void remove_copy(void)
{
    unlink(path);
}

static void copy_library(void)
{
    char command[2 * 4096];
    snprintf(command, sizeof command, "cp '%s' '%s'", LIBRARY, path);
    assert_int_equal(system(command), 0);
}

/* As the kernel tells of it: by its build-id, or without by its inode. */
static struct as_sample_record mapping(const char *of, bool by_build_id)
{
    struct as_file_identity file;
    const int fd = open(of, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && as_file_identify(fd, &file));
    close(fd);
    struct as_sample_record map = {.kind = AS_SAMPLE_MAP,
                                   .pid = (uint32_t)getpid(),
                                   .address = 0x10000, /* below all that is mapped */
                                   .size_b = 0x1000,
                                   .text = path};
    assert_int_equal(file.build_id_b, 20);
    if (by_build_id)
        memcpy(map.build_id, file.build_id, map.build_id_b = file.build_id_b);
    else
        map.inode = file.inode;
    return map;
}

/* The reader may miss a library that is unloaded at once, and see it when it is mapped again. Its
 * build-id is the same, so the samples of the first time are resolved too. */
static void test_gone_then_there(void **state)
{
    (void)state;
    struct as_modules modules;
    uint32_t first, second, third;
    const struct as_sample_record map = mapping(LIBRARY, true);
    assert_int_equal(as_modules_init(&modules), 0);
    assert_int_equal(as_modules_of(&modules, &map, &first), 0);
    assert_int_equal(modules.module.at[first].fd, -1);
    assert_null(as_module_object(&modules, first));

    copy_library();
    assert_int_equal(as_modules_of(&modules, &map, &second), 0);
    assert_int_equal(second, first);
    assert_true(modules.module.at[first].fd >= 0);
    assert_int_equal(modules.module.at[first].fact.file.known, AS_FILE_SEEN);
    unlink(path);
    assert_non_null(as_module_object(&modules, first));

    const int fd = modules.module.at[first].fd;
    assert_int_equal(as_modules_of(&modules, &map, &third), 0);
    assert_int_equal(third, first);
    assert_int_equal(modules.module.at[first].fd, fd);
    assert_int_equal(modules.held_n, 1);
    as_modules_fini(&modules);
}

/* Another file that took its path is not it, whatever tells them apart. */
static void test_replaced(void **state)
{
    (void)state;
    struct as_modules modules;
    uint32_t index;
    copy_library();
    const struct as_sample_record by_inode = mapping(path, false);
    struct as_sample_record by_build_id = mapping(path, true);
    by_build_id.build_id[0] ^= 1;
    assert_int_equal(as_modules_init(&modules), 0);
    assert_int_equal(as_modules_of(&modules, &by_build_id, &index), 0);
    assert_int_equal(modules.module.at[index].fd, -1);
    assert_int_equal(as_modules_of(&modules, &by_inode, &index), 0);
    assert_true(modules.module.at[index].fd >= 0);
    as_modules_fini(&modules);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gone_then_there),
        cmocka_unit_test(test_replaced),
    };
    snprintf(path, sizeof path, "%s/sample-modules-%d.so", TARGETS, (int)getpid());
    atexit(remove_copy);
    return cmocka_run_group_tests_name("modules", tests, NULL, NULL);
}
