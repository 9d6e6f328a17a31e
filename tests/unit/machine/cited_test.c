/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of cores that are cited: each names its sources, has the common forms, and says what is
 * published of that core. The figures here are copied from the publications, not from the tables.
 */
#include "unit.h"

#include <math.h>

#include "machine/uarch.h"

static const char *const cited[] = {"core2",   "nehalem",    "sandybridge", "ivybridge",
                                    "haswell", "skylake-sp", "icelake-sp",  "knightslanding",
                                    "zen1",    "zen2",       "zen3-cited",  "zen4-cited"};

static struct as_uarch *table(const char *name)
{
    struct as_uarch *uarch;
    struct as_error err;
    if (as_uarch_open(name, &uarch, &err) < 0)
        fail_msg("%s", err.text);
    return uarch;
}

/* The line of one instruction in hexadecimal digits. */
static const struct as_core_timing *line_of(const struct as_uarch *uarch, const char *hex,
                                            enum as_timing_match *match)
{
    uint8_t bytes[16];
    struct as_code code;
    struct as_error err;
    size_t n = 0;
    unsigned byte;
    while (n < sizeof bytes && sscanf(hex + 2 * n, "%2x", &byte) == 1)
        bytes[n++] = (uint8_t)byte;
    assert_int_equal(as_decode(bytes, n, 0x1000, &code, &err), 0);
    assert_int_equal(code.n, 1);
    const struct as_core_timing *timing = as_uarch_timing(uarch, &code.insn[0], match);
    as_code_free(&code);
    return timing;
}

/* Cycles of the busiest port beside those of dividers; what it says is 1 / throughput. */
static double port_cycles(const struct as_uarch *uarch, const struct as_core_timing *timing)
{
    double most = 0;
    for (unsigned i = 0; i < timing->use_n; i++) {
        const struct as_uarch_group *group = &uarch->group[timing->use[i].group];
        const double cycles = (double)timing->use[i].n / (double)__builtin_popcountll(group->ports);
        if (cycles > most && strstr(group->name, "DIV") == NULL)
            most = cycles;
    }
    return most;
}

static void every_line_is_cited(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cited / sizeof *cited; i++) {
        struct as_uarch *uarch = table(cited[i]);
        assert_string_equal(uarch->name, cited[i]);
        assert_true(uarch->timing_n > 500 && uarch->port_n > 5);
        /* A cited table serves comparison only, once the core has been measured. */
        assert_int_equal(uarch->match_n == 0, strstr(cited[i], "-cited") != NULL);
        for (size_t s = 0; s < uarch->source_n; s++)
            assert_true(strncmp(uarch->source[s].words, "cited: ", 7) == 0);
        for (unsigned p = 0; p < 10; p++) /* width to load queue ... */
            assert_true(uarch->is_set[p]);
        static const char *const groups[] = {"ALU", "FANY", "LD", "STA", "STD", "BR"};
        for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
            assert_true(as_uarch_group_find(uarch, groups[g]) >= 0);
        as_uarch_free(&uarch);
    }
}

static void common_forms_have_a_line(void **state)
{
    /* add rax,rbx; add rax,[rbx]; add [rbx],rax; mov rax,[rbx]; mov [rbx],rax; lea rax,[rbx+rcx*4];
     * imul rax,rbx; cmp rax,rbx; shl rax,3; addsd, mulsd, divsd xmm0,xmm1; movsd xmm0,[rbx];
     * movaps [rbx],xmm0; paddd xmm0,xmm1; pshufd xmm0,xmm1,1; cvtsi2sd xmm0,eax */
    static const char *const hex[] = {"4801d8",     "480303",   "480103",   "488b03",   "488903",
                                      "488d048b",   "480fafc3", "4839d8",   "48c1e003", "f20f58c1",
                                      "f20f59c1",   "f20f5ec1", "f20f1003", "0f2903",   "660ffec1",
                                      "660f70c101", "f20f2ac0"};
    enum as_timing_match match;
    (void)state;
    for (size_t i = 0; i < sizeof cited / sizeof *cited; i++) {
        struct as_uarch *uarch = table(cited[i]);
        for (size_t k = 0; k < sizeof hex / sizeof *hex; k++) {
            const struct as_core_timing *timing = line_of(uarch, hex[k], &match);
            if (!timing || match != AS_TIMING_EXACT)
                fail_msg("%s: no line for %s", cited[i], hex[k]);
            assert_true(timing->slots >= 1 && (timing->use_n > 0 || timing->own > 0));
        }
        as_uarch_free(&uarch);
    }
}

#define VFMADD231PD_YMM "c4e2f5b8c2"
#define VADDPD_YMM      "c5f558c2"
#define VMULPD_YMM      "c5f559c2"
#define ADDSD           "f20f58c1"
#define MULSD           "f20f59c1"
#define IMUL64          "480fafc3"
#define LOAD_YMM        "c5fd2803"
#define LOAD_XMM        "0f2803"
#define STORE_YMM       "c5fd2903"

static void published_costs_are_in_the_tables(void **state)
{
    static const struct {
        const char *core, *hex;
        float latency;
        double cycles; /* of the busiest port */
    } fact[] = {
        /* Intel optimization manual, appendix on latency and throughput; Fog, Instruction tables */
        {"core2", ADDSD, 3, 1},
        {"core2", MULSD, 5, 1},
        {"core2", IMUL64, 5, 1},
        {"nehalem", ADDSD, 3, 1},
        {"nehalem", MULSD, 5, 1},
        {"nehalem", IMUL64, 3, 1},
        {"sandybridge", VADDPD_YMM, 3, 1},
        {"sandybridge", VMULPD_YMM, 5, 1},
        {"sandybridge", LOAD_YMM, 0, 1}, /* 16 bytes a port and cycle: two cycles on two ports */
        {"sandybridge", LOAD_XMM, 0, 0.5},
        {"sandybridge", STORE_YMM, 0, 2},
        {"ivybridge", VMULPD_YMM, 5, 1},
        {"haswell", VFMADD231PD_YMM, 5, 0.5},
        {"haswell", VADDPD_YMM, 3, 1},
        {"haswell", LOAD_YMM, 0, 0.5},
        {"haswell", STORE_YMM, 0, 1},
        {"skylake-sp", VFMADD231PD_YMM, 4, 0.5},
        {"skylake-sp", VADDPD_YMM, 4, 0.5},
        {"icelake-sp", VFMADD231PD_YMM, 4, 0.5},
        {"icelake-sp", STORE_YMM, 0, 0.5},
        /* Fog, Instruction tables, Knights Landing: two vector units, 6 cycles */
        {"knightslanding", VFMADD231PD_YMM, 6, 0.5},
        {"knightslanding", VADDPD_YMM, 6, 0.5},
        /* AMD, software optimization guides 55723, 56305, 56665, 57647 */
        {"zen1", VFMADD231PD_YMM, 5, 1}, /* two halves of 128 bits */
        {"zen1", IMUL64, 4, 1},
        {"zen2", VFMADD231PD_YMM, 5, 0.5},
        {"zen2", VADDPD_YMM, 3, 0.5},
        {"zen2", VMULPD_YMM, 3, 0.5},
        {"zen2", IMUL64, 3, 1},
        {"zen3-cited", VFMADD231PD_YMM, 4, 0.5},
        {"zen3-cited", STORE_YMM, 0, 1},
        {"zen4-cited", VFMADD231PD_YMM, 4, 0.5},
        {"zen4-cited", VADDPD_YMM, 3, 0.5},
        /* The same of the tables that were measured. */
        {"zen3", VFMADD231PD_YMM, 4, 0.5},
        {"zen3", VADDPD_YMM, 3, 0.5},
        {"zen3", VMULPD_YMM, 3, 0.5},
        {"zen3", IMUL64, 3, 1},
        {"zen3", LOAD_YMM, 0, 0.5},
        {"zen3", STORE_YMM, 0, 1},
        {"zen4", VFMADD231PD_YMM, 4, 0.5},
        {"zen4", VADDPD_YMM, 3, 0.5},
        {"zen4", VMULPD_YMM, 3, 0.5},
        {"zen4", IMUL64, 3, 1},
        {"zen4", LOAD_YMM, 0, 0.5},
        {"zen4", STORE_YMM, 0, 1}};
    enum as_timing_match match;
    (void)state;
    for (size_t i = 0; i < sizeof fact / sizeof *fact; i++) {
        struct as_uarch *uarch = table(fact[i].core);
        const struct as_core_timing *timing = line_of(uarch, fact[i].hex, &match);
        if (!timing || timing->latency != fact[i].latency ||
            port_cycles(uarch, timing) != fact[i].cycles)
            fail_msg("%s %s: latency %g, %g cycles of a port", fact[i].core, fact[i].hex,
                     timing ? (double)timing->latency : -1,
                     timing ? port_cycles(uarch, timing) : -1);
        as_uarch_free(&uarch);
    }
}

/* Width and reorder buffer as the vendors' manuals give them. */
static void published_sizes_are_in_the_tables(void **state)
{
    static const struct {
        const char *core;
        double width, rob, load;
    } fact[] = {
        {"core2", 4, 96, 3},       {"nehalem", 4, 128, 4},        {"sandybridge", 4, 168, 4},
        {"ivybridge", 4, 168, 4},  {"haswell", 4, 192, 4},        {"skylake-sp", 4, 224, 4},
        {"icelake-sp", 5, 352, 5}, {"sapphirerapids", 6, 512, 5}, {"knightslanding", 2, 72, 4},
        {"zen1", 5, 192, 4},       {"zen2", 6, 224, 4},           {"zen3", 6, 256, 4},
        {"zen3-cited", 6, 256, 4}, {"zen4", 6, 320, 4},           {"zen4-cited", 6, 320, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof fact / sizeof *fact; i++) {
        struct as_uarch *uarch = table(fact[i].core);
        assert_true(uarch->set[AS_UARCH_dispatch_width] == fact[i].width);
        assert_true(uarch->set[AS_UARCH_rob] == fact[i].rob);
        assert_true(uarch->set[AS_UARCH_load_int] == fact[i].load);
        as_uarch_free(&uarch);
    }
}

static void processors_have_their_table(void **state)
{
    static const struct {
        const char *vendor;
        unsigned family, model;
        const char *table;
    } host[] = {
        {"GenuineIntel", 6, 23, "core2"},          {"GenuineIntel", 6, 26, "nehalem"},
        {"GenuineIntel", 6, 45, "sandybridge"},    {"GenuineIntel", 6, 62, "ivybridge"},
        {"GenuineIntel", 6, 63, "haswell"},        {"GenuineIntel", 6, 85, "skylake-sp"},
        {"GenuineIntel", 6, 106, "icelake-sp"},    {"GenuineIntel", 6, 143, "sapphirerapids"},
        {"GenuineIntel", 6, 207, "emeraldrapids"}, {"GenuineIntel", 6, 87, "knightslanding"},
        {"AuthenticAMD", 23, 1, "zen1"},           {"AuthenticAMD", 23, 49, "zen2"},
        {"AuthenticAMD", 25, 1, "zen3"},           {"AuthenticAMD", 25, 17, "zen4"},
        {"AuthenticAMD", 25, 97, "zen4"},          {"AuthenticAMD", 26, 2, "zen5"}};
    (void)state;
    for (size_t i = 0; i < sizeof host / sizeof *host; i++)
        assert_string_equal(as_uarch_name_of(host[i].vendor, host[i].family, host[i].model),
                            host[i].table);
}

/* Measured, and as published: Intel's optimization manual (Golden Cove: ports, FMA, additions,
 * loads and stores) and Intel at Hot Chips 2023 (Redwood Cove multiplies in 3 cycles, not 4). */
static void graniterapids_is_as_published(void **state)
{
    static const struct {
        const char *hex;
        double cycles, each;               /* from source to result; one a so many cycles */
    } known[] = {{"4801c8", 1, 0.2},       /* add rax,rcx: five ports */
                 {"480fafc1", 3, 1},       /* imul rax,rcx */
                 {"48c1e003", 1, 0.5},     /* shl rax,3: ports 0 and 6 */
                 {"c5f558c2", 2, 0.5},     /* vaddpd ymm0,ymm1,ymm2 */
                 {"c5f559c2", 3, 0.5},     /* vmulpd */
                 {"c4e2f5b8c2", 4, 0.5},   /* vfmadd231pd */
                 {"62f2f548b8c2", 4, 0.5}, /* of 64 bytes: port 5 has one too */
                 {"c5f5fec2", 1, 1 / 3.},  /* vpaddd */
                 {"62f17548fec2", 1, 0.5}, /* of 64 bytes: port 1 is closed */
                 {"488b03", 0, 1 / 3.},    /* mov rax,[rbx]; the load's own cycles come first */
                 {"62f1fd481003", 0, 0.5}, /* vmovupd zmm0,[rbx] */
                 {"488903", 0, 0.5},       /* mov [rbx],rax */
                 {"62f1fd481103", 0, 1}};  /* vmovupd [rbx],zmm0 */
    struct as_uarch *uarch = table("graniterapids");
    enum as_timing_match match;

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct as_core_timing *t = line_of(uarch, known[i].hex, &match);
        assert_non_null(t);
        if (fabs((double)t->latency - known[i].cycles) > 0.01 ||
            fabs(port_cycles(uarch, t) - known[i].each) > 0.01)
            fail_msg("%s: %g cycles, one in %g, in place of %g and %g", t->key, (double)t->latency,
                     port_cycles(uarch, t), known[i].cycles, known[i].each);
    }
    assert_true(fabs(uarch->set[AS_UARCH_rob] - 512) < 0.05 * 512);
    assert_int_equal(uarch->set[AS_UARCH_dispatch_width], 6);
    assert_true(uarch->timing_n > 5000);
    as_uarch_free(&uarch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_is_cited),
        cmocka_unit_test(common_forms_have_a_line),
        cmocka_unit_test(published_costs_are_in_the_tables),
        cmocka_unit_test(published_sizes_are_in_the_tables),
        cmocka_unit_test(processors_have_their_table),
        cmocka_unit_test(graniterapids_is_as_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
