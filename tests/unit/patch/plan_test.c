/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans of a program of loops (plan_loops.c), accepted or refused for their reasons. Also plans of
 * the agent, as of a program that was made for another purpose. Trip counts from registers must
 * equal those computed by hand. A truncated or overwritten plan is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "patch/patch.h"

struct plan {
    struct as_object *object;
    struct as_program *program;
    struct as_patch_verdict *verdict;
    uint8_t *bytes;
    size_t n;
};

static struct plan make_plan_of(const char *path, enum as_patch_mode mode)
{
    const struct as_program_options options = {.jobs = 1, .path_limit = AS_PATH_LIMIT};
    const struct as_patch_wish wish = {.mode = mode, .period = 10, .kept = 64};
    struct as_patch_maker *maker = NULL;
    struct as_error err;
    struct plan it = {0};
    assert_int_equal(as_object_open(path, NULL, &it.object, &err), 0);
    assert_int_equal(as_program_new(it.object, &options, &it.program, &err), 0);
    it.verdict = as_calloc(it.program->loop_n + 1, sizeof *it.verdict);
    assert_int_equal(as_patch_maker_new(&wish, &maker, &err), 0);
    assert_int_equal(as_patch_maker_add(maker, it.program, NULL, it.verdict, &err), 0);
    assert_int_equal(as_patch_maker_bytes(maker, &it.bytes, &it.n, &err), 0);
    as_patch_maker_free(&maker);
    return it;
}

static struct plan make_plan(enum as_patch_mode mode)
{
    return make_plan_of(LOOPS, mode);
}

static void drop_plan(struct plan *it)
{
    as_free(it->bytes);
    as_free(it->verdict);
    as_program_free(&it->program);
    as_object_close(&it->object);
}

/* The verdict on the only loop of the function `name`. */
static const struct as_patch_verdict *verdict_on(const struct plan *it, const char *name)
{
    const struct as_program *p = it->program;
    const struct as_patch_verdict *found = NULL;
    for (size_t l = 0; l < p->loop_n; l++) {
        if (strcmp(p->body[p->loop[l].body].name, name) != 0)
            continue;
        assert_null(found);
        found = &it->verdict[l];
    }
    assert_non_null(found);
    return found;
}

static const struct as_patch_loop *loop_of(const struct plan *it, const char *name)
{
    const struct as_patch_plan *plan = (const void *)it->bytes;
    const struct as_patch_verdict *verdict = verdict_on(it, name);
    if (verdict->refusal)
        fail_msg("%s is refused: %u", name, (unsigned)verdict->refusal);
    assert_true(verdict->loop < plan->loop.n);
    return (const struct as_patch_loop *)as_patch_at(plan, &plan->loop) + verdict->loop;
}

static void test_verdicts(void **state)
{
    struct plan it = make_plan(AS_PATCH_TIME);
    (void)state;
    assert_int_equal(loop_of(&it, "taken_plain")->induction, 7);
    assert_int_equal(loop_of(&it, "taken_plain")->step, 2);
    assert_int_equal(loop_of(&it, "taken_down")->step, -1);
    assert_int_equal(loop_of(&it, "taken_down")->induction_b, 4);
    assert_int_equal(loop_of(&it, "taken_free")->tally, 8);
    assert_int_equal(loop_of(&it, "taken_memory")->tally, AS_PATCH_NONE);
    assert_int_not_equal(loop_of(&it, "taken_memory")->counter, UINT32_MAX);
    assert_int_equal(loop_of(&it, "taken_call")->induction, 3);
    assert_int_equal(loop_of(&it, "taken_exits")->exits, 2);
    assert_int_equal(verdict_on(&it, "refused_narrow")->refusal, AS_PATCH_REFUSED_NARROW);
    assert_int_equal(verdict_on(&it, "refused_unreached")->refusal, AS_PATCH_REFUSED_UNREACHED);
    assert_int_equal(verdict_on(&it, "refused_branch")->refusal, AS_PATCH_REFUSED_BRANCH);
    assert_int_equal(verdict_on(&it, "refused_call")->refusal, AS_PATCH_REFUSED_CALL);
    assert_int_equal(verdict_on(&it, "refused_entered")->refusal, AS_PATCH_REFUSED_ENTERED);
    assert_int_equal(loop_of(&it, "carried_narrow")->induction, 7);
    assert_int_equal(loop_of(&it, "carried_call")->induction, 3);
    assert_int_equal(loop_of(&it, "carried_header")->induction, 3);
    assert_int_equal(verdict_on(&it, "carried_calls")->refusal, 0);
    assert_int_equal(loop_of(&it, "taken_loop")->tally, AS_PATCH_NONE);
    drop_plan(&it);
}

static const struct as_patch_region *region_of(const struct plan *it, const char *name)
{
    const struct as_patch_plan *plan = (const void *)it->bytes;
    return (const struct as_patch_region *)as_patch_at(plan, &plan->region) +
           loop_of(it, name)->region;
}

/* Each of two entries has a jump of its own, and begins instances. Register strides are unknown,
 * because the entry values are. Code that carries a loop does not begin it. */
static void test_entries(void **state)
{
    struct plan it = make_plan(AS_PATCH_SAMPLE);
    const struct as_patch_plan *plan = (const void *)it.bytes;
    const struct as_patch_site *site = as_patch_at(plan, &plan->site);
    const struct as_patch_region *entered = region_of(&it, "taken_entered");
    const struct as_patch_edge *edge = as_patch_at(plan, &plan->edge);
    const struct as_patch_event *event = as_patch_at(plan, &plan->event);
    unsigned enters = 0;
    (void)state;
    assert_int_equal(entered->sites, 1);
    assert_true(entered->enters);
    assert_int_not_equal(site[entered->first_site].address, entered->header);
    assert_int_equal(loop_of(&it, "taken_entered")->induction, AS_PATCH_NONE);
    for (uint32_t e = entered->first_edge; e < entered->first_edge + entered->edges; e++)
        enters += edge[e].inside && event[edge[e].first_event].kind == AS_PATCH_ENTER;
    assert_int_equal(enters, 1);
    assert_true(region_of(&it, "taken_plain")->enters);
    assert_int_equal(region_of(&it, "taken_plain")->hop, 0);
    const struct as_patch_region *hopped = region_of(&it, "hopped_header");
    const uint64_t hole = as_patch_jump_at(hopped->header, hopped->hop);
    assert_true(hopped->enters);
    assert_true(hole + AS_PATCH_JUMP_B <= hopped->header && hole + 13 >= hopped->header);
    assert_false(region_of(&it, "carried_narrow")->enters);
    assert_false(region_of(&it, "carried_header")->enters);
    drop_plan(&it);
}

/* An exit before the step has run its header once more than the register says. */
static void test_exits(void **state)
{
    struct plan it = make_plan(AS_PATCH_TIME);
    const struct as_patch_plan *plan = (const void *)it.bytes;
    const struct as_patch_loop *loop = loop_of(&it, "taken_exits");
    const struct as_patch_exit *exit =
        (const struct as_patch_exit *)as_patch_at(plan, &plan->exit) + loop->first_exit;
    (void)state;
    assert_int_equal(exit[0].add, 1);
    assert_int_equal(exit[1].add, 0);
    drop_plan(&it);
}

static void test_trips(void **state)
{
    struct as_patch_loop up = {
        .induction = 1, .induction_b = 8, .step = 8, .tally = AS_PATCH_NONE, .counter = UINT32_MAX};
    struct as_patch_loop down = up, narrow = up, tally = up, none = up;
    down.step = -2;
    narrow.induction_b = 4;
    narrow.step = -1;
    tally.tally = 3;
    none.induction = AS_PATCH_NONE;
    (void)state;
    assert_int_equal(as_patch_trips(&up, 0, 16, 16 + 80), 10);
    assert_int_equal(as_patch_trips(&up, 1, 16, 16 + 80), 11);
    assert_int_equal(as_patch_trips(&up, 0, UINT64_MAX - 7, 72), 10);
    assert_int_equal(as_patch_trips(&down, 0, 20, 0), 10);
    assert_int_equal(as_patch_trips(&narrow, 0, 10, 0), 10);
    assert_int_equal(as_patch_trips(&narrow, 0, 3, 0xffffffff), 4);
    assert_int_equal(as_patch_trips(&tally, 1, 99, 12), 12);
    assert_int_equal(as_patch_trips(&none, 0, 0, 12), UINT64_MAX);
    assert_int_equal(as_patch_trips(&up, UINT64_MAX, 0, 80), UINT64_MAX);
}

static void test_checks(void **state)
{
    (void)state;
    for (unsigned mode = AS_PATCH_IDENT; mode <= AS_PATCH_COUNT; mode++)
        for (int i = 0; i < 2; i++) {
            struct plan it = make_plan_of(i ? AGENT : LOOPS, (enum as_patch_mode)mode);
            assert_null(as_patch_plan_check(it.bytes, it.n));
            for (size_t n = 0; n < it.n; n += 1 + n / 4)
                assert_non_null(as_patch_plan_check(it.bytes, n));
            drop_plan(&it);
        }
}

/* A count or place that leads outside is noticed, whichever it is. */
static void test_damage(void **state)
{
    struct plan it = make_plan(AS_PATCH_SAMPLE);
    struct as_patch_plan *plan = (void *)it.bytes;
    uint64_t *word = (uint64_t *)&plan->module;
    (void)state;
    for (size_t i = 0; i < 36; i++) {
        const uint64_t was = word[i];
        word[i] = UINT64_MAX - 7;
        assert_non_null(as_patch_plan_check(it.bytes, it.n));
        word[i] = was;
    }
    struct as_patch_region *region = (void *)(it.bytes + plan->region.at);
    const struct as_patch_region good = *region;
    region->first_loop = UINT32_MAX;
    assert_non_null(as_patch_plan_check(it.bytes, it.n));
    *region = good;
    region->plain.header = region->plain.size_b;
    assert_non_null(as_patch_plan_check(it.bytes, it.n));
    *region = good;
    region->header = UINT64_MAX - 3;
    assert_non_null(as_patch_plan_check(it.bytes, it.n));
    *region = good;
    region->hop = -4; /* into itself */
    assert_non_null(as_patch_plan_check(it.bytes, it.n));
    *region = good;
    region->loops = 0;
    assert_non_null(as_patch_plan_check(it.bytes, it.n));
    *region = good;
    assert_null(as_patch_plan_check(it.bytes, it.n));
    drop_plan(&it);
}

/* The overwritten bytes are those of the file. Clones keep the position of their header within a
 * cache line. */
static void check_regions(const char *path, uint64_t least_n)
{
    struct plan it = make_plan_of(path, AS_PATCH_COUNT);
    const struct as_patch_plan *plan = (const void *)it.bytes;
    const struct as_patch_region *region = as_patch_at(plan, &plan->region);
    assert_true(plan->region.n > least_n);
    for (uint64_t r = 0; r < plan->region.n; r++) {
        uint64_t have_b;
        const uint8_t *bytes = as_object_bytes(it.object, region[r].header, &have_b);
        assert_memory_equal(bytes, region[r].original, 8);
        assert_true(region[r].measured.spans > 0);
    }
    drop_plan(&it);
}

static void test_regions(void **state)
{
    (void)state;
    check_regions(LOOPS, 10);
    check_regions(AGENT, 100);
}

/* Returns the number of blocks of loop `name` that are counted themselves, or on each exit of an
 * innermost loop. `*derived` receives the number of the others. */
static unsigned counted_of(const struct plan *it, const char *name, unsigned *derived)
{
    const struct as_patch_plan *plan = (const void *)it->bytes;
    const struct as_patch_counter *counter = as_patch_at(plan, &plan->counter);
    const struct as_patch_term *term = as_patch_at(plan, &plan->term);
    const struct as_patch_reloc *reloc = as_patch_at(plan, &plan->reloc);
    const uint32_t loop = verdict_on(it, name)->loop;
    unsigned counted = 0;
    *derived = 0;
    for (uint64_t c = 0; c < plan->counter.n; c++) {
        unsigned places = 0, terms = 0;
        for (uint64_t r = 0; r < plan->reloc.n; r++)
            places += reloc[r].kind == AS_PATCH_TO_COUNTER && reloc[r].value == c;
        for (uint64_t t = 0; t < plan->term.n; t++) {
            terms += term[t].to == c;
            assert_true(term[t].from != c || places > 0);
        }
        if (counter[c].loop != loop || counter[c].counts == AS_PATCH_OPEN)
            continue;
        assert_true(places == 0 || terms == 0);
        counted += places > 0;
        *derived += !places;
    }
    return counted;
}

/* The count of one of two arms follows from the other, that of the header from the end. A call may
 * not return, so a count after it does not follow from a count before it. */
static void test_counted(void **state)
{
    struct plan it = make_plan(AS_PATCH_COUNT);
    unsigned derived;
    (void)state;
    assert_int_equal(counted_of(&it, "taken_plain", &derived), 1);
    assert_int_equal(derived, 0);
    assert_int_equal(counted_of(&it, "counted_diamond", &derived), 2);
    assert_int_equal(derived, 2);
    assert_int_equal(counted_of(&it, "counted_call", &derived), 4); /* one behind the call */
    assert_int_equal(derived, 0);
    drop_plan(&it);
}

/* 7 times through the diamond, 3 of them by its first arm. */
static void test_completed(void **state)
{
    struct plan it = make_plan(AS_PATCH_COUNT);
    const struct as_patch_plan *plan = (const void *)it.bytes;
    const struct as_patch_counter *counter = as_patch_at(plan, &plan->counter);
    const struct as_patch_reloc *reloc = as_patch_at(plan, &plan->reloc);
    const uint32_t loop = verdict_on(&it, "counted_diamond")->loop;
    uint64_t *count = as_calloc(plan->counter.n, sizeof *count);
    uint64_t first = 0;
    (void)state;
    while (counter[first].loop != loop)
        first++;
    const uint64_t truth[] = {7, 3, 4, 7};
    for (uint64_t r = 0; r < plan->reloc.n; r++)
        if (reloc[r].kind == AS_PATCH_TO_COUNTER && reloc[r].value - first < 4)
            count[reloc[r].value] = truth[reloc[r].value - first];
    as_patch_counters_complete(plan, count);
    assert_memory_equal(count + first, truth, sizeof truth);
    as_free(count);
    drop_plan(&it);
}

/* A program killed between two blocks never yields a count below 0. */
static void test_nothing_less(void **state)
{
    struct plan it = make_plan_of(AGENT, AS_PATCH_COUNT);
    const struct as_patch_plan *plan = (const void *)it.bytes;
    const struct as_patch_term *term = as_patch_at(plan, &plan->term);
    uint64_t *count = as_calloc(plan->counter.n, sizeof *count);
    uint64_t less = 0;
    (void)state;
    while (less < plan->term.n && term[less].times > 0)
        less++;
    assert_true(less < plan->term.n);
    count[term[less].from] = 5;
    as_patch_counters_complete(plan, count);
    assert_int_equal(count[term[less].to], 0);
    as_free(count);
    drop_plan(&it);
}

/* Memory that runs out at any place is an error, not a crash. */
static void test_memory(void **state)
{
    struct plan it = make_plan_of(AGENT, AS_PATCH_IDENT);
    struct as_patch_wish wish = {.mode = AS_PATCH_TIME};
    struct as_error err;
    int rc = -1;
    (void)state;
    for (int64_t after = 0; rc < 0 || wish.mode == AS_PATCH_TIME; after += 1 + after / 3) {
        if (rc == 0) {
            wish.mode = AS_PATCH_COUNT;
            after = 0;
        }
        struct as_patch_maker *maker = NULL;
        as_alloc_fail_after(after);
        rc = as_patch_maker_new(&wish, &maker, &err);
        if (rc == 0)
            rc = as_patch_maker_add(maker, it.program, NULL, it.verdict, &err);
        as_alloc_fail_after(-1);
        if (rc < 0)
            assert_int_equal(err.code, AS_ERR_NOMEM);
        as_patch_maker_free(&maker);
    }
    drop_plan(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),  cmocka_unit_test(test_entries),
        cmocka_unit_test(test_exits),     cmocka_unit_test(test_trips),
        cmocka_unit_test(test_checks),    cmocka_unit_test(test_damage),
        cmocka_unit_test(test_regions),   cmocka_unit_test(test_counted),
        cmocka_unit_test(test_completed), cmocka_unit_test(test_nothing_less),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
