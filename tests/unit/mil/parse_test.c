/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The language of probes: valid input, and the line and column of every mistake.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "mil/probe.h"
#include "patch/plan.h"
#include "patch/probe_plan.h"

static const char good[] = "# a comment\n"
                           "probe hot.1 # another\n"
                           "    at loop\n"
                           "    where function ~ \"k*\", \"dax#py\" and level innermost, single\n"
                           "    where not share <= 2.5 % and depth 2 - 4 and file = \"a.c\"\n"
                           "    do count, time\n"
                           "end\n"
                           "\r\n"
                           "probe b\n"
                           "at call before\n"
                           "where callee = \"f\" and line >= 10 and address 0x1a2b\n"
                           "do record argument 1, record register rdi, record memory \"[rsi+8]\", "
                           "call \"lib.so\" \"seen\"\n"
                           "end";

static struct as_probes *parse(const char *text)
{
    struct as_probes *probes;
    struct as_error err = {0};
    const int rc = as_probes_parse(text, strlen(text), "p", &probes, &err);
    if (rc < 0)
        print_message("%s\n", err.text);
    assert_int_equal(rc, 0);
    return probes;
}

static void test_understood(void **state)
{
    struct as_probes *probes = parse(good);
    struct as_probe_facts facts;
    (void)state;
    assert_int_equal(as_probes_count(probes), 2);
    as_probes_get(probes, 0, &facts);
    assert_string_equal(facts.name, "hot.1");
    assert_int_equal(facts.event, AS_PROBE_LOOP);
    assert_int_equal(facts.actions, AS_PROBE_COUNT | AS_PROBE_TIME);
    assert_int_equal(facts.line, 2);
    assert_true(facts.asks_share);
    const struct as_mil_probe *probe = &probes->probe.at[0];
    assert_int_equal(probe->filter.n, 5);
    assert_true(probe->filter.at[0].is_pattern);
    assert_true(as_view_equal(probe->filter.at[0].text.at[1], as_view_of("dax#py")));
    assert_int_equal(probe->filter.at[1].levels, 1u << AS_LEVEL_INNERMOST | 1u << AS_LEVEL_SINGLE);
    assert_true(probe->filter.at[2].negated);
    assert_float_equal(probe->filter.at[2].high, 0.025, 1e-12);
    assert_float_equal(probe->filter.at[3].low, 2, 0);
    assert_float_equal(probe->filter.at[3].high, 4, 0);
    probe = &probes->probe.at[1];
    assert_int_equal(probe->event, AS_PROBE_CALL_BEFORE);
    assert_int_equal(probe->actions, AS_PROBE_RECORD | AS_PROBE_CALL);
    assert_int_equal(probe->filter.at[2].address, 0x1a2b);
    assert_true(probe->filter.at[1].low == 10 && probe->filter.at[1].high > 1e300);
    as_probes_free(&probes);
}

/* Recorded values, in the form that the plan needs. */
static void test_values(void **state)
{
    static const char text[] = "probe a\nat function\ndo record int argument 3, record double "
                               "register xmm12, record memory \" [ rbp + r9 * 8 - 0x10 ] \", "
                               "record float memory \"[r15]\", call \"./b.so\" \"f\", call "
                               "\"c.so\" \"g\"\nend\n";
    struct as_probes *probes = parse(text);
    struct as_probe_facts facts;
    (void)state;
    as_probes_get(probes, 0, &facts);
    assert_int_equal(facts.records, 4);
    assert_int_equal(facts.calls, 2);
    const struct as_probe_record *it = probes->probe.at[0].record.at;
    assert_int_equal(it[0].of, AS_PROBE_VALUE_ARGUMENT);
    assert_int_equal(it[0].argument, 3);
    assert_int_equal(it[0].type, AS_PATCH_INT);
    assert_string_equal(as_probes_record_text(probes, 0, 0), "int argument 3");
    assert_int_equal(it[1].of, AS_PROBE_VALUE_VECTOR);
    assert_int_equal(it[1].reg, 12);
    assert_int_equal(it[2].of, AS_PROBE_VALUE_MEMORY);
    assert_int_equal(it[2].base, 5);
    assert_int_equal(it[2].index, 9);
    assert_int_equal(it[2].scale, 8);
    assert_int_equal(it[2].offset, -16);
    assert_int_equal(it[3].base, 15);
    assert_int_equal(it[3].index, AS_PATCH_NONE);
    assert_int_equal(it[3].type, AS_PATCH_FLOAT);
    assert_string_equal(probes->probe.at[0].call.at[1].library, "c.so");
    assert_string_equal(probes->probe.at[0].call.at[1].function, "g");
    as_probes_free(&probes);
}

/* Buckets by powers of two meet each other, and zero has its own. */
static void test_buckets(void **state)
{
    double low, high, next_low, next_high;
    (void)state;
    as_probe_bucket(64, false, &low, &high);
    assert_true(low == 0 && high == 0);
    as_probe_bucket(65, false, &low, &high);
    assert_true(low == 1 && high == 2);
    as_probe_bucket(63, false, &low, &high);
    assert_true(low == -2 && high == -1);
    as_probe_bucket(65 + 31, true, &low, &high);
    assert_true(low == 1 && high == 2);
    for (unsigned i = 0; i + 1 < AS_PROBE_RESULT_BUCKETS; i++) {
        as_probe_bucket(i, false, &low, &high);
        as_probe_bucket(i + 1, false, &next_low, &next_high);
        assert_true(i + 1 == 64 || i == 64 || high == next_low);
    }
}

static void test_events(void **state)
{
    (void)state;
    for (unsigned e = 0; e < AS_PROBE_EVENTS; e++) {
        char text[128];
        struct as_probe_facts facts;
        snprintf(text, sizeof text, "probe p\nat %s\ndo count\nend\n",
                 as_probe_event_words((enum as_probe_event)e));
        struct as_probes *probes = parse(text);
        as_probes_get(probes, 0, &facts);
        assert_int_equal(facts.event, e);
        as_probes_free(&probes);
    }
}

static void test_mistakes(void **state)
{
    static const struct {
        const char *text, *sentence;
    } wrong[] = {
        {"", "p:1:1: the file has no probe; add one"},
        {"prob x\n", "p:1:1: 'prob' stands here; expected probe, at, where, do or end"},
        {"  at loop\n", "p:1:3: 'at' is outside of a probe"},
        {"probe\n", "p:1:6: the line ends here; expected a name for the probe"},
        {"probe a b\n", "p:1:9: 'b' stands here; expected the end of the line"},
        {"probe a\nprobe b\n", "p:2:1: probe 'a' has no end yet"},
        {"probe a\nat loop\ndo count\n", "p:4:1: probe 'a' has no end"},
        {"probe a\n at lop\n", "p:2:5: unknown event 'lop'; use program"},
        {"probe a\nat call\n", "p:2:4: unknown event 'call'"},
        {"probe a\nat loop\nat loop\n", "p:3:4: probe 'a' has an event"},
        {"probe a\nat loop\nend\n", "p:3:1: probe 'a' has no action"},
        {"probe a\ndo count\nend\n", "p:3:1: probe 'a' has no event"},
        {"probe a\nat block\ndo time\nend\n", "p:4:1: probe 'a': block has no duration"},
        {"probe a\ndo count, count\n", "p:2:11: 'count' is in this probe already"},
        {"probe a\ndo cont\n", "p:2:4: 'cont' stands here; expected count, time, record or call"},
        {"probe a\ndo record rdi\n", "p:2:11: 'rdi' stands here; expected register, argument"},
        {"probe a\nwhere name = \"x\"\n", "p:2:7: 'name' stands here; expected function, file"},
        {"probe a\nwhere function \"x\"\n", "p:2:16: 'x' stands here; expected = and a name"},
        {"probe a\nwhere function = x\n", "p:2:18: 'x' stands here; expected a name in quotes"},
        {"probe a\nwhere function = \"x\n\"", "p:2:18: the closing quote is missing"},
        {"probe a\nwhere level inner\n", "p:2:13: 'inner' stands here; expected single"},
        {"probe a\nwhere line 1x\n", "p:2:12: invalid number"},
        {"probe a\nwhere line 0x\n", "p:2:12: invalid number"},
        {"probe a\nwhere line 9 - 3\n", "p:2:16: '3' stands here; expected a number not below"},
        {"probe a\nwhere share >= 3\n", "p:2:17: the line ends here; expected % after the share"},
        {"probe a\nwhere address 1.5\n", "p:2:15: '1.5' stands here; expected an address"},
        {"probe a\nwhere depth 2 & depth 3\n", "p:2:15: unexpected character"},
        {"probe a\nat program\ndo count\nwhere depth 1\nend\n",
         "p:5:1: probe 'a': program has no filter depth"},
        {"probe a\nat loop\ndo count\nwhere callee = \"f\"\nend\n",
         "p:5:1: probe 'a': loop has no filter callee"},
        {"probe a\nat loop\ndo count\nend\nprobe a\n",
         "p:5:7: the probe of line 1 has the name 'a' too"},
        {"probe a\ndo record register eax\n", "p:2:20: 'eax' stands here; expected a general"},
        {"probe a\ndo record double register rax\n",
         "p:2:27: 'rax' stands here; expected a vector"},
        {"probe a\ndo record float register xmm16\n", "p:2:26: 'xmm16' stands here; expected a"},
        {"probe a\ndo record argument 33\n", "p:2:20: '33' stands here; expected an argument"},
        {"probe a\ndo record argument 0\n", "p:2:20: '0' stands here; expected an argument"},
        {"probe a\ndo record memory rdi\n", "p:2:18: 'rdi' stands here; expected the place"},
        {"probe a\ndo record memory \"[rdi+eax]\"\n", "p:2:18: '[rdi+eax]' stands here"},
        {"probe a\ndo record memory \"[8]\"\n", "p:2:18: '[8]' stands here"},
        {"probe a\ndo record memory \"[rax+rsp*2]\"\n", "p:2:18: '[rax+rsp*2]' stands here"},
        {"probe a\ndo record memory \"[rax-99999999999]\"\n", "p:2:18: '[rax-99999999999]'"},
        {"probe a\ndo record memory \"[rax] x\"\n", "p:2:18: '[rax] x' stands here"},
        {"probe a\ndo call \"a.so\" f\n", "p:2:16: 'f' stands here; expected the function in"},
        {"probe a\nat loop back\ndo call \"a.so\" \"f\"\nend\n",
         "p:4:1: probe 'a': loop back can be counted and timed only"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct as_probes *probes;
        struct as_error err = {0};
        assert_int_equal(as_probes_parse(wrong[i].text, strlen(wrong[i].text), "p", &probes, &err),
                         AS_ERR_USAGE);
        assert_null(probes);
        if (strncmp(err.text, wrong[i].sentence, strlen(wrong[i].sentence)) != 0)
            fail_msg("want: %s\ngot:  %s", wrong[i].sentence, err.text);
    }
}

static void test_no_memory(void **state)
{
    int rc = -1;
    (void)state;
    for (long n = 0; rc < 0; n++) {
        struct as_probes *probes = NULL;
        struct as_error err = {0};
        as_alloc_fail_after(n);
        rc = as_probes_parse(good, sizeof good - 1, "p", &probes, &err);
        as_alloc_fail_after(-1);
        assert_true(rc == 0 || (rc == AS_ERR_NOMEM && err.text[0] && !probes));
        as_probes_free(&probes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_understood), cmocka_unit_test(test_values),
        cmocka_unit_test(test_buckets),    cmocka_unit_test(test_events),
        cmocka_unit_test(test_mistakes),   cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
