/* SPDX-License-Identifier: Apache-2.0 */
/* Records of compilers: each form, together, damaged, and without memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "quality/remarks.h"

static const char text[] = "src/a.c:9:3: optimized: loop vectorized using 32 byte vectors\n"
                           "src/a.c:20:3: missed: couldn't vectorize loop\n"
                           "src/a.c:21:5: missed: not vectorized: control flow in loop.\n"
                           "src/a.c:21:5: missed: not vectorized: control flow in loop.\n"
                           "src/a.c:21:5: note: vectorized 0 loops in function.\n"
                           "  Vector cost: 56\n"
                           "x:y: optimized: no place\n";

static const char json[] =
    "[{\"format\": \"1\"}, [{\"id\": \"0x1\", \"name\": \"*\", \"children\": [{\"id\": \"0x2\", "
    "\"name\": "
    "\"vect\"}]}, {\"id\": \"0x3\", \"name\": \"dce\"}],\n"
    "[{\"kind\": \"scope\", \"pass\": \"0x2\", \"message\": [\"=== x ===\\n\"], \"children\": [\n"
    "{\"kind\": \"failure\", \"pass\": \"0x2\", \"function\": \"f\", \"location\": {\"file\": "
    "\"/proj/src/a.c\", \"line\": 21, \"column\": 7}, \"message\": [\"no vectype for stmt: \", "
    "{\"location\": {\"line\": 1}, \"stmt\": \"_4 = *_3;\\n\"}]}]},\n"
    "{\"kind\": \"success\", \"pass\": \"0x3\", \"message\": [\"gone\"]}]]";

static const char yaml[] =
    "--- !Passed\nPass:            loop-vectorize\nName:            Vectorized\n"
    "DebugLoc:        { File: '/proj/src/a.c', Line: 30, \n"
    "                   Column: 5 }\nFunction:        f\nArgs:\n"
    "  - String:          'vectorized loop (vectorization width: '\n"
    "  - VectorizationFactor: '4'\n  - String:          ')'\n...\n"
    "--- !Analysis\nPass:            loop-vectorize\n"
    "DebugLoc:        { File: b.c, Line: 2, Column: 1 }\nFunction:        g\n"
    "Args:\n  - String:          'it''s not\n      safe'\n"
    "  - Callee:          h\n"
    "    DebugLoc:        { File: b.c, Line: 99, Column: 1 }\n...\n"
    "--- !Passed\nPass:            regalloc\nFunction:        g\n...\n";

static struct as_remarks *read_all(void)
{
    struct as_remarks *remarks;

    assert_int_equal(as_remarks_new(&remarks, NULL), 0);
    assert_int_equal(as_remarks_parse(remarks, text, sizeof text - 1, "text", NULL), 0);
    assert_int_equal(as_remarks_parse(remarks, yaml, sizeof yaml - 1, "yaml", NULL), 0);
    assert_int_equal(as_remarks_parse(remarks, json, sizeof json - 1, "json", NULL), 0);
    return remarks;
}

static const struct as_remark *only_at(const struct as_remarks *remarks, const char *file,
                                       uint32_t line)
{
    const size_t i = as_remarks_find(remarks, file, line, line, 0);

    assert_true(i < remarks->n);
    assert_int_equal(as_remarks_find(remarks, file, line, line, i + 1), remarks->n);
    return &remarks->at[i];
}

static void test_forms(void **state)
{
    struct as_remarks *remarks = read_all();
    const struct as_remark *at = only_at(remarks, "/proj/src/a.c", 9);

    (void)state;
    assert_int_equal(remarks->n, 6);
    assert_int_equal(at->kind, AS_REMARK_DONE);
    assert_int_equal(at->width_b, 32);
    assert_true(at->vector);
    assert_int_equal(at->column, 3);
    at = only_at(remarks, "a.c", 30);
    assert_int_equal(at->lanes, 4);
    assert_string_equal(at->function, "f");
    assert_string_equal(at->pass, "loop-vectorize");
    assert_string_equal(at->text, "vectorized loop (vectorization width: 4)");
    at = only_at(remarks, "/elsewhere/b.c", 2);
    assert_int_equal(at->kind, AS_REMARK_MISSED);
    assert_string_equal(at->text, "it's not safeh");
    as_remarks_free(&remarks);
}

/* Remarks in two formats, merged by lines of one file, even if the names of the file differ.
 * Duplicates count once. */
static void test_merged(void **state)
{
    struct as_remarks *remarks = read_all();
    size_t i = as_remarks_find(remarks, "/proj/src/a.c", 20, 25, 0);

    (void)state;
    assert_string_equal(remarks->at[i].text, "couldn't vectorize loop");
    i = as_remarks_find(remarks, "/proj/src/a.c", 20, 25, i + 1);
    assert_string_equal(remarks->at[i].text, "not vectorized: control flow in loop.");
    i = as_remarks_find(remarks, "/proj/src/a.c", 20, 25, i + 1);
    assert_string_equal(remarks->at[i].text, "no vectype for stmt: _4 = *_3;");
    assert_string_equal(remarks->at[i].pass, "vect");
    assert_int_equal(as_remarks_find(remarks, "/proj/src/a.c", 20, 25, i + 1), remarks->n);
    assert_int_equal(as_remarks_find(remarks, "/other/a.c", 20, 20, 0), remarks->n);
    assert_int_equal(as_remarks_find(remarks, "aa.c", 20, 20, 0), remarks->n);
    assert_true(as_remarks_find(remarks, "./src/a.c", 20, 20, 0) < remarks->n);
    as_remarks_free(&remarks);
}

static void test_bad(void **state)
{
    static const struct {
        const char *bytes, *says;
        size_t n;
        int code;
    } bad[] = {
        {"hello\n", "x: not a file of optimisation remarks", 6, AS_ERR_UNSUPPORTED},
        {"[1, 2", "x: byte 5: not a remark of gcc", 5, AS_ERR_CORRUPT},
        {"[{}, [], [{\"kind\": \"success\"", "x: byte 28: not a remark of gcc", 28, AS_ERR_CORRUPT},
        {"\x1f\x8b\x08\0\0\0\0\0", "x: damaged or truncated", 8, AS_ERR_CORRUPT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct as_remarks *remarks = read_all();
        struct as_error err = {0};

        assert_int_equal(as_remarks_parse(remarks, bad[i].bytes, bad[i].n, "x", &err), bad[i].code);
        assert_non_null(strstr(err.text, bad[i].says));
        assert_int_equal(remarks->n, 6); /* what was there stays */
        as_remarks_free(&remarks);
    }
}

static void test_no_memory(void **state)
{
    int rc = -1;

    (void)state;
    for (long n = 0; rc < 0; n++) {
        struct as_remarks *remarks = NULL;
        struct as_error err = {0};

        as_alloc_fail_after(n);
        rc = as_remarks_new(&remarks, &err);
        if (rc == 0)
            rc = as_remarks_parse(remarks, json, sizeof json - 1, "json", &err);
        if (rc == 0)
            rc = as_remarks_parse(remarks, yaml, sizeof yaml - 1, "yaml", &err);
        as_alloc_fail_after(-1);
        assert_true(rc == 0 || rc == AS_ERR_NOMEM);
        assert_true(rc == 0 || err.text[0]);
        as_remarks_free(&remarks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_merged),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
