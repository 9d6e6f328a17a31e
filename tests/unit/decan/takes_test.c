/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements of variants from records that are written here. Checks buckets, medians and their
 * intervals, left out records and the reason, and drift. Also files of threads in a wrong
 * format. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "decan/internal.h"
#include "decan/variants.h"

#define NEAR(want, got) assert_true(fabs((want) - (got)) < 1e-9)

static struct as_error err;

struct made {
    struct as_varied it[512];
    size_t n;
    struct as_decan_bucket *bucket;
    size_t bucket_n;
};

static void add(struct made *m, unsigned kind, double trips, double ticks, unsigned flags)
{
    m->it[m->n] = (struct as_varied){.begun = 100 * m->n,
                                     .ticks = ticks,
                                     .trips = trips,
                                     .whole = trips,
                                     .kind = (uint16_t)kind,
                                     .flags = (uint16_t)flags};
    m->n++;
}

/* Makes the last one a slice of an instance with so many iterations. */
static void set_whole(struct made *m, double whole)
{
    m->it[m->n - 1].whole = whole;
    m->it[m->n - 1].flags |= AS_VARIANT_SLICED;
}

/* Two cycles a tick; an instance is far from the others by 1,000 ticks. */
static void take(struct made *m)
{
    const struct as_decan_scale scale = {2, 1000};
    assert_int_equal(as_measurements_make(m->it, m->n, &scale, &m->bucket, &m->bucket_n, &err), 0);
}

static void test_medians(void **state)
{
    struct made m = {.n = 0};
    (void)state;
    for (unsigned i = 0; i < 31; i++) { /* 100 iterations of 10 to 13 ticks */
        add(&m, AS_VARIANT_REF, 100, 1000 + 10 * i, 0);
        add(&m, AS_VARIANT_DL1, 100, 500, 0);
        add(&m, AS_VARIANT_REC, 100, 70, 0);
    }
    take(&m);
    assert_int_equal(m.bucket_n, 1);
    const struct as_decan_bucket *b = m.bucket;
    NEAR(64, b->low);
    NEAR(128, b->high);
    assert_int_equal(b->take_n, 2); /* the loop that records addresses of stores does not count as a
                                     * variant */
    const struct as_decan_measured *ref = as_bucket_variant(b, AS_VARIANT_REF);
    const struct as_decan_measured *dl1 = as_bucket_variant(b, AS_VARIANT_DL1);
    assert_non_null(ref);
    assert_non_null(dl1);
    assert_null(as_bucket_variant(b, AS_VARIANT_FP));
    assert_int_equal(ref->n, 31);
    NEAR(2 * 11.5, ref->median);
    NEAR(2 * 10, ref->least);
    NEAR(0.15, ref->stability);
    NEAR(2 * 1150, ref->instance);
    NEAR(100, ref->iterations);
    NEAR(1, ref->speedup);
    NEAR(2.3, dl1->speedup);
    assert_int_equal(ref->reliability, AS_DECAN_RELIABLE);
    assert_true(as_measurements_exist(b));
    /* Of 31 the 11th and the 22nd enclose the median with 95 %. */
    assert_true(ref->low < ref->median && ref->low >= 2 * 10.9);
    assert_true(ref->high > ref->median && ref->high <= 2 * 12.2);
    NEAR(10, dl1->low);
    NEAR(100 * ref->low, ref->instance_low); /* all of 100 iterations */
    NEAR(100 * ref->high, ref->instance_high);
    char name[64];
    as_bucket_name(b, name, sizeof name);
    assert_string_equal(name, "64 to 127 iterations");
    as_free(m.bucket);
}

/* They stand with the instances that they are of, and cost what an iteration of them does. */
static void test_slices(void **state)
{
    struct made m = {.n = 0};
    (void)state;
    add(&m, AS_VARIANT_ORIG, 1e6, 5e6, 0);
    for (unsigned i = 0; i < 31; i++) {
        add(&m, AS_VARIANT_REF, 4096, 4 * 4096, 0);
        set_whole(&m, 1e6);
    }
    take(&m);
    assert_int_equal(m.bucket_n, 1);
    const struct as_decan_measured *ref = as_bucket_variant(m.bucket, AS_VARIANT_REF);
    assert_non_null(ref);
    assert_int_equal(ref->n, 31);
    NEAR(2 * 4, ref->median);
    NEAR(1e6, ref->iterations);
    NEAR(2 * 4 * 4096, ref->instance);
    NEAR(1e6, m.bucket->iterations);
    as_free(m.bucket);
}

static void test_left_out(void **state)
{
    struct made m = {.n = 0};
    (void)state;
    for (unsigned i = 0; i < 9; i++)
        add(&m, AS_VARIANT_REF, 10, 100, 0);
    add(&m, AS_VARIANT_REF, 10, 90, AS_VARIANT_SWITCHED); /* shorter, and yet not to be trusted */
    add(&m, AS_VARIANT_REF, 10, 1101, 0);                 /* far: over 4 times, and 1,000 more */
    add(&m, AS_VARIANT_REF, 10, 1099, 0);                 /* over 4 times, but not so many more */
    add(&m, AS_VARIANT_REF, 10, 0, AS_VARIANT_ENDLESS);
    add(&m, AS_VARIANT_FP, 10, 0, AS_VARIANT_FAULTED);
    add(&m, AS_VARIANT_LS, 10, 100, AS_VARIANT_SWITCHED); /* there are no others of it */
    take(&m);
    assert_int_equal(m.bucket_n, 1);
    const struct as_decan_measured *ref = as_bucket_variant(m.bucket, AS_VARIANT_REF);
    assert_int_equal(ref->n, 10);
    assert_int_equal(ref->disturbed, 2);
    assert_int_equal(ref->ended, 1);
    NEAR(20, ref->least);
    assert_int_equal(ref->reliability, AS_DECAN_UNRELIABLE); /* 200 cycles */
    assert_non_null(as_bucket_variant(m.bucket, AS_VARIANT_LS));
    assert_null(as_bucket_variant(m.bucket, AS_VARIANT_FP));
    bool said = false;
    for (size_t i = 0; i < m.bucket->take_n; i++)
        said |= m.bucket->take[i].reason && strstr(m.bucket->take[i].reason, "fault");
    assert_true(said);
    as_free(m.bucket);
}

static void test_buckets_and_drift(void **state)
{
    struct made m = {.n = 0};
    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        add(&m, AS_VARIANT_ORIG, 8, i < 8 ? 80 : 88, 0); /* the host gets slower */
        add(&m, AS_VARIANT_ORIG, 7, 70, 0);
        add(&m, AS_VARIANT_ORIG, 1000, 5000, 0);
    }
    add(&m, AS_VARIANT_REC, 0, 0, AS_VARIANT_WIDE); /* of no bucket */
    take(&m);
    assert_int_equal(m.bucket_n, 3);
    NEAR(4, m.bucket[0].low);
    NEAR(8, m.bucket[1].low);
    NEAR(512, m.bucket[2].low);
    NEAR(0, m.bucket[0].column[AS_DECAN_COLUMN_DRIFT]);
    NEAR(10, m.bucket[1].column[AS_DECAN_COLUMN_DRIFT]);
    NEAR(10, m.bucket[1].column_low[AS_DECAN_COLUMN_DRIFT]); /* halves without any spread */
    NEAR(10, m.bucket[1].column_high[AS_DECAN_COLUMN_DRIFT]);
    NEAR(1, m.bucket[1].take[0].speedup); /* without REF the loop itself is the measure */
    assert_true(isnan(m.bucket[1].column[AS_DECAN_COLUMN_VERDICT]));
    as_free(m.bucket);
}

static void test_few(void **state)
{
    struct made m = {.n = 0};
    (void)state;
    for (unsigned i = 0; i < 5; i++)
        add(&m, AS_VARIANT_REF, 100, 1000 + i, 0);
    take(&m);
    assert_true(isnan(m.bucket[0].take[0].low) && isnan(m.bucket[0].take[0].high));
    as_free(m.bucket);
    m = (struct made){.n = 0};
    take(&m);
    assert_int_equal(m.bucket_n, 0);
    as_free(m.bucket);
}

/* 200 cycles are the cost of reading the clock; a message about them is not a finding. */
static void test_too_short(void **state)
{
    struct made m = {.n = 0};
    (void)state;
    for (unsigned i = 0; i < 31; i++)
        add(&m, AS_VARIANT_ORIG, 10, 100, 0);
    take(&m);
    assert_int_equal(as_bucket_variant(m.bucket, AS_VARIANT_ORIG)->reliability,
                     AS_DECAN_UNRELIABLE);
    assert_false(as_measurements_exist(m.bucket));
    as_free(m.bucket);
    m = (struct made){.n = 0};
    add(&m, AS_VARIANT_DL1, 100, 1000, 0);
    take(&m);
    assert_false(as_measurements_exist(m.bucket));
    as_free(m.bucket);
}

/* ---- Names ---------------------------------------------------------------------------------- */

static void test_names(void **state)
{
    uint32_t kinds;
    const char *title;
    (void)state;
    assert_int_equal(as_variants_parse("dl1,fp", &kinds, &err), 0);
    assert_int_equal(kinds, 1u << AS_VARIANT_ORIG | 1u << AS_VARIANT_REC | 1u << AS_VARIANT_REF |
                                1u << AS_VARIANT_DL1 | 1u << AS_VARIANT_FP);
    assert_int_equal(as_variants_parse(NULL, &kinds, &err), 0);
    assert_int_equal(kinds, AS_VARIANTS_USUAL);
    assert_int_equal(as_variants_parse("dl1,rec", &kinds, &err), AS_ERR_USAGE);
    assert_non_null(strstr(err.text, "invalid value 'rec'; use some of orig, ref, fp, ls"));
    assert_string_equal(as_decan_variant(0, &title), "orig");
    assert_string_equal(as_decan_variant(1, &title), "ref");
    assert_non_null(as_decan_variant(AS_VARIANT_KINDS - 2, &title));
    assert_null(as_decan_variant(AS_VARIANT_KINDS - 1, &title));
    size_t n = 0;
    while (as_decan_column(n))
        n++;
    assert_int_equal(n, AS_DECAN_COLUMNS);
    assert_string_equal(as_decan_column(AS_DECAN_COLUMN_WAITS)->name, "decan_waits_pct");
    assert_string_equal(as_decan_column(AS_DECAN_COLUMN_FP_USE)->name, "decan_fp_cap_per_cy");
    assert_string_equal(as_decan_column(AS_DECAN_COLUMNS - 1)->name, "decan_ram_write_sat_x");
    assert_string_equal(as_decan_column(AS_DECAN_COLUMN_LEVELS + 6)->name,
                        "decan_l2_read_cap_per_cy");
}

/* ---- Files ---------------------------------------------------------------------------------- */

static struct as_variant_file file;

static void put_file(const char *directory, const char *name, size_t size_b)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(&file, 1, size_b, f), size_b);
    fclose(f);
}

static void test_files(void **state)
{
    struct {
        struct as_patch_plan plan;
        struct as_patch_region region[2];
    } planned = {.region = {{.first_loop = 7}, {.first_loop = 3}}};
    struct as_varied_all all = {.threads = 0};
    char directory[] = "/tmp/takes-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(directory));
    planned.plan.region.at = offsetof(__typeof__(planned), region);
    planned.plan.region.n = 2;
    file.magic = AS_VARIANT_MAGIC;
    file.version = AS_PATCH_VERSION;
    file.records = 4;
    file.empty_ticks = 30;
    file.lost = 5;
    file.spent_ns = 900;
    file.record[0] = (struct as_variant_record){.ticks = 130, .trips = 9, .kind = AS_VARIANT_FP};
    file.record[1] = (struct as_variant_record){.ticks = 20, .kind = AS_VARIANT_ORIG, .region = 1};
    file.record[2] = (struct as_variant_record){.kind = AS_VARIANT_KINDS}; /* there is none */
    file.record[3] = (struct as_variant_record){.region = 2};              /* there is none */
    put_file(directory, "varied.1.1.1", sizeof file);
    put_file(directory, "varied.1.1.2", sizeof file - 1); /* cut off */
    file.magic++;
    put_file(directory, "varied.1.1.3", sizeof file);
    file.magic--;
    file.records = AS_VARIANT_RECORDS + 1;
    put_file(directory, "varied.1.1.4", sizeof file);
    assert_int_equal(as_varied_read(directory, &planned.plan, 8, &all, &err), 0);
    assert_int_equal(all.record.n, 2);
    assert_int_equal(all.damaged, 5);
    assert_int_equal(all.lost, 5);
    assert_int_equal(all.threads, 1);
    NEAR(900, all.spent_ns);
    NEAR(100, all.record.at[0].ticks); /* an empty variant took 30 */
    assert_int_equal(all.record.at[0].loop, 7);
    NEAR(12, all.record.at[1].ticks); /* the clone that is timed has no more than its stamps */
    assert_int_equal(all.record.at[1].loop, 3);
    assert_int_equal(rmdir(directory), 0); /* all of them are gone */
    as_varied_fini(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_medians),  cmocka_unit_test(test_slices),
        cmocka_unit_test(test_left_out), cmocka_unit_test(test_buckets_and_drift),
        cmocka_unit_test(test_few),      cmocka_unit_test(test_too_short),
        cmocka_unit_test(test_names),    cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
