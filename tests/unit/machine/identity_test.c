/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identification of cores by cpuid: a recorded CPU with a model that its hypervisor changed, models
 * that hide some features, unknown models. Checks the table that each of them gets.
 */
#include "unit.h"

#include "machine/cpu_features.h"
#include "machine/machine.h"
#include "machine/uarch.h"

static struct as_error err;

static uint64_t features_of(const char *core)
{
    for (size_t i = 0; i < as_cpu_core_n; i++)
        if (strcmp(as_cpu_cores[i].name, core) == 0)
            return as_cpu_cores[i].features;
    fail_msg("no features of %s", core);
    return 0;
}

static uint64_t feature(const char *name)
{
    for (size_t i = 0; i < as_cpu_feature_n; i++)
        if (strcmp(as_cpu_features[i].name, name) == 0)
            return UINT64_C(1) << i;
    fail_msg("no feature %s", name);
    return 0;
}

static struct as_core core_of(const char *vendor, unsigned family, unsigned model,
                              uint64_t features)
{
    struct as_processor it = {.family = family, .model = model, .features = features};
    struct as_core core;

    snprintf(it.vendor, sizeof it.vendor, "%s", vendor);
    as_core_of(&it, &core);
    return core;
}

/* A server of 2025 in a virtual machine: model 167, with AMX, AVX10 and 64 KiB for instructions. */
static void a_recorded_model_that_is_not_the_core(void **state)
{
    struct as_host *host;
    struct as_core core;

    (void)state;
    assert_int_equal(as_host_read(MACHINES_DIR "/hidden-model", &host, &err), 0);
    assert_int_equal(host->cpu_model_number, 167);
    assert_string_equal(host->microarchitecture, "graniterapids");
    assert_string_equal(host->microarchitecture_words, "Intel Granite Rapids");
    assert_int_equal(host->cpu_cache_kib[AS_CACHE_L1I], 64);
    assert_int_equal(host->cpu_cache_kib[AS_CACHE_L1D], 48);
    assert_int_equal(host->cpu_cache_kib[AS_CACHE_L2], 2048);
    assert_true(has(host->core_doubt, "model 167, Intel Rocket Lake, which has no "));
    assert_true(has(host->core_doubt, " more: by its instructions and caches this is Intel Granite "
                                      "Rapids"));
    as_core_of_host(host, &core);
    assert_true(core.is_contradicted);
    assert_string_equal(core.table, "graniterapids");
    assert_false(core.is_nearest);
    as_host_free(&host);
}

static void every_core_is_itself(void **state)
{
    static const struct {
        const char *vendor, *core;
        unsigned family, model;
    } known[] = {{"GenuineIntel", "sapphirerapids", 6, 143},
                 {"GenuineIntel", "icelake-sp", 6, 106},
                 {"GenuineIntel", "rocketlake", 6, 167},
                 {"GenuineIntel", "haswell", 6, 63},
                 {"AuthenticAMD", "zen5", 26, 2},
                 {"AuthenticAMD", "zen2", 23, 49}};

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        /* with all that it can, with a part, with one thing too many, and nothing known */
        const uint64_t all = features_of(known[i].core);
        const uint64_t sets[] = {all, all & features_of("merom"), all | feature("apx"), 0};
        for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
            const struct as_core core =
                core_of(known[i].vendor, known[i].family, known[i].model, sets[k]);
            assert_string_equal(core.name, known[i].core);
            assert_string_equal(core.doubt, "");
            assert_non_null(core.table);
        }
    }
}

/* Other models of one vendor: instructions decide, and of equal ones the caches. */
static void instructions_and_caches_decide(void **state)
{
    struct as_processor it = {.vendor = "GenuineIntel", .family = 6, .model = 94};
    struct as_core core;

    (void)state;
    it.features = features_of("graniterapids") & ~feature("avx10") & ~feature("prefetchi") &
                  ~feature("amx-fp16") & ~feature("amx-complex");
    it.cache_kib[AS_CACHE_L1I] = 32;
    as_core_of(&it, &core);
    assert_string_equal(core.name, "sapphirerapids");
    assert_string_equal(core.table, "sapphirerapids");
    it.cache_kib[AS_CACHE_L2] = 1024;
    it.features = features_of("cascadelake");
    as_core_of(&it, &core);
    assert_string_equal(core.name, "cascadelake");
    assert_true(core.is_contradicted && !core.is_nearest);
    /* newer than all that are known */
    it.features = features_of("graniterapids") | feature("apx") | feature("sha512");
    as_core_of(&it, &core);
    assert_string_equal(core.name, "graniterapids");
    assert_true(has(core.doubt, "Intel Granite Rapids or a later one"));
    assert_string_equal(core_of("AuthenticAMD", 23, 1, features_of("zen4")).name, "zen4");
}

static void unknown_cores_take_the_nearest_table(void **state)
{
    (void)state;
    const struct as_core unknown = core_of("GenuineIntel", 6, 250, features_of("cooperlake"));
    assert_null(unknown.name);
    assert_true(unknown.is_nearest && !unknown.is_contradicted);
    assert_string_equal(unknown.table, "skylake-sp");
    assert_true(has(unknown.doubt, "no table of this core; the nearest by instructions and "
                                   "caches is the table of Intel Cooper Lake"));
    const struct as_core known = /* a name without a table */
        core_of("GenuineIntel", 6, 198, features_of("alderlake") & ~feature("avx512f"));
    assert_string_equal(known.name, "arrowlake");
    assert_string_equal(known.table, "emeraldrapids");
    assert_true(has(known.doubt, "no table of Intel Arrow Lake"));
    assert_null(core_of("GenuineIntel", 6, 250, 0).table); /* nothing to go by */
    assert_null(core_of("CentaurHauls", 7, 11, features_of("haswell")).table);
}

static void what_is_no_record(void **state)
{
    struct as_processor it;

    (void)state;
    assert_false(as_processor_parse("", &it));
    assert_false(as_processor_parse("CPU 0:\n   0x00000000 0x00: eax=0x1\n", &it));
    assert_true(as_processor_parse(
        "CPU:\n   0x00000000 0x00: eax=0x00000001 ebx=0x68747541 ecx=0x444d4163 edx=0x69746e65\n"
        "   0x00000001 0x00: eax=0x00a20f12 ebx=0x0 ecx=0x00000001 edx=0x0\n",
        &it));
    assert_string_equal(it.vendor, "AuthenticAMD");
    assert_int_equal(it.family, 25);
    assert_int_equal(it.model, 33);
    assert_int_equal(it.stepping, 2);
    assert_true(it.features == feature("sse3"));
    assert_true(as_processor_read(&it)); /* the one at hand, whatever it is */
    assert_true(it.features & feature("sse3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recorded_model_that_is_not_the_core),
        cmocka_unit_test(every_core_is_itself),
        cmocka_unit_test(instructions_and_caches_decide),
        cmocka_unit_test(unknown_cores_take_the_nearest_table),
        cmocka_unit_test(what_is_no_record),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
