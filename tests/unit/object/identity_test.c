/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identity of a file: by build-id for copies too, else by inode, size and time of change. An
 * unknown identity matches no file.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "object/object.h"
#include "program.h"

static struct as_file_identity identity_of(const char *name)
{
    struct as_file_identity identity;
    const int fd = open(program_path(name), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(as_file_identify(fd, &identity));
    close(fd);
    return identity;
}

static void expect(const char *name, const struct as_file_identity *identity, const char *why)
{
    struct as_object *object;
    struct as_error err = {0};
    const int rc = as_object_open_same(program_path(name), identity, NULL, &object, &err);
    if (why) {
        print_message("# %s\n", err.text);
        assert_int_equal(rc, AS_ERR_NOT_FOUND);
        assert_non_null(strstr(err.text, why));
        assert_null(object);
    } else if (rc < 0) {
        fail_msg("%s", err.text);
    }
    as_object_close(&object);
}

/* The identity's build-id is that of the object: of all ways to link, also far from the header. */
static void test_build_ids(void **state)
{
    static const char *const flags[] = {"-Wl,--build-id=sha1", "-Wl,--build-id=md5 -no-pie",
                                        "-Wl,--build-id=none", "-Wl,--build-id=0x1234 -static",
                                        "-Wl,--build-id=sha1 -Wl,-z,noseparate-code -shared -fPIC"};
    static const unsigned due[] = {20, 16, 0, 2, 20};
    (void)state;
    for (unsigned i = 0; i < sizeof due / sizeof *due; i++) {
        struct as_object *object;
        struct as_error err;
        program_build("built", flags[i]);
        const struct as_file_identity identity = identity_of("built");
        assert_int_equal(as_object_open(program_path("built"), NULL, &object, &err), 0);
        const struct as_object_info *info = as_object_info(object);
        assert_int_equal(identity.build_id_b, due[i]);
        assert_int_equal(info->build_id_b, due[i]);
        assert_memory_equal(identity.build_id, info->build_id, due[i]);
        assert_int_equal(identity.inode, info->inode);
        assert_int_equal(identity.size_b, info->size_b);
        assert_int_equal(identity.mtime_ns, info->mtime_ns);
        as_object_close(&object);
    }
    /* Longer than what the kernel tells: then the file itself is what counts. */
    program_build("built",
                  "-Wl,--build-id=0x000102030405060708090a0b0c0d0e0f101112131415161718191a");
    assert_int_equal(identity_of("built").build_id_b, 0);
}

static void test_with_build_id(void **state)
{
    (void)state;
    program_build("one", "-Wl,--build-id=sha1");
    program_build("two", "-Wl,--build-id=sha1 -O3 -DOTHER");
    program_build("bare", "-Wl,--build-id=none");
    const struct as_file_identity one = identity_of("one");
    expect("one", &one, NULL);
    program_run("cp one copy && strip copy");
    expect("copy", &one, NULL);
    expect("two", &one, "build-id differs");
    expect("bare", &one, "build-id differs"); /* none is not the same */
}

static void test_without_build_id(void **state)
{
    (void)state;
    program_build("one", "-Wl,--build-id=none");
    const struct as_file_identity one = identity_of("one");
    expect("one", &one, NULL);
    program_run("mv one elsewhere && chmod 700 elsewhere");
    expect("elsewhere", &one, NULL);
    program_run("cp -p elsewhere one");
    expect("one", &one, "may not be the file that ran");
    program_run("cat one >elsewhere");
    expect("elsewhere", &one, "may not be the file that ran"); /* the same bytes, but not
                                                                * provably */
    const struct as_file_identity inode = {.known = AS_FILE_INODE, .inode = one.inode};
    expect("elsewhere", &inode, NULL);
    expect("one", &inode, "may not be the file that ran");
    expect("one", &(struct as_file_identity){.inode = one.inode}, "cannot be identified");
}

static void test_no_files(void **state)
{
    struct as_file_identity identity;
    (void)state;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_false(as_file_identify(fd, &identity));
    assert_int_equal(identity.known, AS_FILE_UNSEEN);
    close(fd);
    /* Every beginning of a file: what its header says is not all there. */
    program_build("built", "-Wl,--build-id=sha1");
    for (unsigned n = 0; n < 1200; n += 7) {
        program_run("head -c %u built >cut", n);
        assert_int_equal(identity_of("cut").size_b, n);
        assert_true(identity_of("cut").build_id_b == 0 || n > 64 + 56);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_ids), cmocka_unit_test(test_with_build_id),
        cmocka_unit_test(test_without_build_id), cmocka_unit_test(test_no_files)};
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
