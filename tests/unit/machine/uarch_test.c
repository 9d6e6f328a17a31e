/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of cores: the built-in tables are complete. Mistakes in a table are reported with their
 * line. An instruction uses the nearest line.
 */
#include "unit.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "machine/machine.h"
#include "machine/uarch.h"
#include "machine/uarch_table.h"

static const char head[] = "core\ttoy\ta toy\nmatch\tToyVendor\t6\t1-3,9\nsource\ts\tthis test\n"
                           "set\tdispatch_width\t4\ts\ngroup\tALU\ta b\ts\ngroup\tMUL\ta\ts\n";

static struct as_uarch *toy(const char *lines)
{
    struct as_uarch *uarch;
    struct as_error err;
    char text[4096];
    const int n = snprintf(text, sizeof text, "%s%s", head, lines);
    if (as_uarch_parse(text, (size_t)n, "toy.tsv", &uarch, &err) < 0)
        fail_msg("%s", err.text);
    return uarch;
}

static void refuses(const char *lines, const char *part)
{
    struct as_uarch *uarch;
    struct as_error err;
    char text[4096];
    const int n = snprintf(text, sizeof text, "%s%s", head, lines);
    assert_int_equal(as_uarch_parse(text, (size_t)n, "toy.tsv", &uarch, &err), AS_ERR_CORRUPT);
    assert_null(uarch);
    if (!has(err.text, part))
        fail_msg("'%s' is not in '%s'", part, err.text);
}

/* The line that one instruction gets. */
static const struct as_core_timing *line_of(const struct as_uarch *uarch, const char *bytes,
                                            size_t n, enum as_timing_match *match)
{
    struct as_code code;
    struct as_error err;
    assert_int_equal(as_decode((const uint8_t *)bytes, n, 0x1000, &code, &err), 0);
    assert_int_equal(code.n, 1);
    const struct as_core_timing *timing = as_uarch_timing(uarch, &code.insn[0], match);
    as_code_free(&code);
    return timing;
}

static void key_is(const char *bytes, size_t n, const char *want)
{
    struct as_code code;
    struct as_error err;
    char key[AS_UARCH_KEY_B];
    assert_int_equal(as_decode((const uint8_t *)bytes, n, 0x1000, &code, &err), 0);
    const int length = as_uarch_key(&code.insn[0], key, sizeof key);
    assert_string_equal(key, want);
    assert_int_equal(length, strlen(want));
    as_code_free(&code);
}

static void tables_of_the_program_are_whole(void **state)
{
    struct as_error err;
    size_t tables = 0;
    (void)state;
    for (const char *const *name = as_uarch_names(); *name; name++, tables++) {
        struct as_uarch *uarch;
        if (as_uarch_open(*name, &uarch, &err) < 0)
            fail_msg("%s", err.text);
        assert_string_equal(uarch->name, *name);
        assert_true(uarch->timing_n > 500);
        /* Without a CPU: only a measured table refers to it. */
        assert_int_equal(uarch->match_n == 0, strstr(*name, "-cited") != NULL);
        for (size_t i = 0; i < uarch->timing_n; i++) {
            const struct as_core_timing *t = &uarch->timing[i];
            assert_true(t->source < uarch->source_n);
            assert_true(strlen(uarch->source[t->source].words) > 10);
            assert_true(t->latency < 1000 && t->slots < 1000);
        }
        for (unsigned i = 0; i < AS_UARCH_PARAMETERS; i++)
            assert_true(uarch->set[i] >= 0);
        as_uarch_free(&uarch);
    }
    assert_true(tables >= 15);
}

/* A table measured by a user refers to the table of its core, which may refer to others. */
static void measured_tables_are_like_any(void **state)
{
    (void)state;
    for (const char *const *name = as_uarch_names(); *name; name++) {
        struct as_uarch *uarch;
        struct as_error err;
        char text[512];
        const int n = snprintf(text, sizeof text, "like\t%s\n%s", *name, head);
        if (as_uarch_parse(text, (size_t)n, "measured.tsv", &uarch, &err) < 0)
            fail_msg("%s", err.text);
        assert_true(uarch->timing_n > 500);
        as_uarch_free(&uarch);
    }
}

static void hosts_find_their_table(void **state)
{
    (void)state;
    assert_string_equal(as_uarch_name_of("AuthenticAMD", 26, 2), "zen5");
    assert_string_equal(as_uarch_name_of("GenuineIntel", 6, 207), "emeraldrapids");
    assert_null(as_uarch_name_of("GenuineIntel", 6, 1));
    assert_null(as_uarch_name_of("AuthenticAMD", 6, 207));
}

static void a_table_is_read(void **state)
{
    struct as_uarch *uarch = toy("bypass\tfadd\t!fadd\t1\ts\n"
                                 "form\tadd r64,r64\t1\tALU:1\t1\t-\ts 0.5%\n"
                                 "form\tdiv r64\t2\tMUL:2 ALU:0.5-3\t13-20 1>0:4 f>0:5\t"
                                 "microcode,class=fadd\ts\n");
    (void)state;
    assert_int_equal(uarch->timing_n, 2);
    assert_true(uarch->set[AS_UARCH_dispatch_width] == 4 && uarch->is_set[0]);
    assert_int_equal(uarch->match_n, 2);
    assert_int_equal(uarch->match[1].model_first, 9);
    const struct as_core_timing *add = &uarch->timing[0], *div = &uarch->timing[1];
    assert_true(add->spread > 0.0049F && add->spread < 0.0051F);
    assert_int_equal(div->use_n, 2);
    assert_true(div->use[1].n == 0.5F && div->use[1].worst == 3);
    assert_true(div->latency == 13 && div->worst == 20);
    assert_int_equal(div->pair_n, 2);
    assert_int_equal(div->pair[1].from, AS_PLACE_FLAGS);
    assert_true(div->pair[1].latency == 5);
    assert_int_equal(div->flags, AS_TIMING_MICROCODE);
    assert_true(uarch->bypass[div->bypass][0] == 1 && uarch->bypass[0][div->bypass] == 0);
    assert_true(uarch->bypass[div->bypass][div->bypass] == 0);
    as_uarch_free(&uarch);
}

/* A parameter that measuring did not find keeps its value and has a note. A later number replaces
 * the note. */
static void parameters_say_where_they_are_from(void **state)
{
    struct as_uarch *uarch = toy("set\trob\t100\ts 1.5%\nset\trob\t-\ts\n"
                                 "set\tsched_fp\t-\ts\n"
                                 "form\tadd r64,r64\t1\tALU:1\t1\t-\ts\n");
    (void)state;
    assert_true(uarch->set[AS_UARCH_rob] == 100 && uarch->is_set[AS_UARCH_rob]);
    assert_true(uarch->is_unseen[AS_UARCH_rob]);
    assert_true(uarch->set_spread[AS_UARCH_rob] == 0.015F);
    assert_string_equal(uarch->source[uarch->set_source[AS_UARCH_rob]].id, "s");
    assert_true(uarch->set_spread[AS_UARCH_dispatch_width] < 0);
    assert_true(uarch->is_unseen[AS_UARCH_sched_fp] && !uarch->is_set[AS_UARCH_sched_fp]);
    assert_true(uarch->set[AS_UARCH_sched_fp] == 64); /* the default */
    as_uarch_free(&uarch);
    uarch = toy("set\trob\t-\ts\nset\trob\t50\ts\nform\tnop\t1\t-\t0\t-\ts\n");
    assert_true(uarch->set[AS_UARCH_rob] == 50 && !uarch->is_unseen[AS_UARCH_rob]);
    as_uarch_free(&uarch);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    refuses("set\tdispatch_widht\t4\ts\n", "line 7: no parameter is named 'dispatch_widht'");
    refuses("set\trob\tmany\ts\n", "not a number: 'many'");
    refuses("form\tnop\t1\tFPU:1\t0\t-\ts\n", "no group of this name");
    refuses("form\tnop\t1\tALU\t0\t-\ts\n", "not GROUP:n");
    refuses("form\tnop\t1\t-\t0\tfast\ts\n", "no flag is named 'fast'");
    refuses("form\tnop\t1\t-\t0\t-\tt\n", "no line 'source' before it is named 't'");
    refuses("form\tnop\t1\t-\t5-3\t-\ts\n", "not a latency");
    refuses("form\tnop\t1\t-\t1 9>0:2\t-\ts\n", "not SRC>DST:n");
    refuses("form\tnop\t1\t-\t0\t-\ts\nform\tnop\t1\t-\t0\t-\ts\n",
            "line 8: there is a line already");
    refuses("from\tnop\t1\t-\t0\t-\ts\n", "no line begins with 'from'");
    refuses("form\tnop\t1\t-\t0\ts\n", "too few or too many columns");
    refuses("group\tALU\tc\ts\n", "twice");
    refuses("", "ends without");
}

static void keys_say_what_forms_do_not(void **state)
{
    (void)state;
    key_is("\x48\x8d\x74\xcf\x10", 5, "lea r64,address64 [bisd]");
    key_is("\x48\x8d\x37", 3, "lea r64,address64 [b]");
    key_is("\x48\x8b\x34\xcf", 4, "mov r64,m64 [i]");
    key_is("\x31\xc0", 2, "xor r32,r32 [same]");
    key_is("\x31\xc8", 2, "xor r32,r32");
    key_is("\x48\x8b\x05\x10\x00\x00\x00", 7, "mov r64,m64");
}

static void the_nearest_line_is_found(void **state)
{
    struct as_uarch *uarch = toy("form\tadd r32,imm8\t1\tALU:1\t1\t-\ts\n"
                                 "form\tadd r64,r64\t1\tALU:1\t1\t-\ts\n"
                                 "form\txor r32,r32 [same]\t1\t-\t0\tzero\ts\n"
                                 "form\tcmovz r64,r64\t1\tALU:1\t1\t-\ts\n"
                                 "form\taddss xmm,xmm\t1\tALU:1\t3\t-\ts\n"
                                 "form\tvfmadd231pd ymm,ymm,ymm\t1\tALU:1\t4\t-\ts\n");
    enum as_timing_match match;
    (void)state;
    /* vfmsub132pd ymm0,ymm1,ymm2: another order and sign */
    assert_ptr_equal(line_of(uarch, "\xc4\xe2\xf5\x9a\xc2", 5, &match), &uarch->timing[5]);
    assert_int_equal(match, AS_TIMING_ALIKE);
    assert_ptr_equal(line_of(uarch, "\x4c\x01\xc0", 3, &match), &uarch->timing[1]);
    assert_int_equal(match, AS_TIMING_EXACT);
    /* add eax,0x1000: a fixed register and another immediate */
    assert_ptr_equal(line_of(uarch, "\x05\x00\x10\x00\x00", 5, &match), &uarch->timing[0]);
    assert_int_equal(match, AS_TIMING_ALIKE);
    /* add ax,cx: another width */
    assert_ptr_equal(line_of(uarch, "\x66\x01\xc8", 3, &match), &uarch->timing[1]);
    assert_int_equal(match, AS_TIMING_WIDTH);
    /* cmovs rax,rcx: another condition; vaddss xmm0,xmm1,xmm2: the AVX form */
    assert_ptr_equal(line_of(uarch, "\x48\x0f\x48\xc1", 4, &match), &uarch->timing[3]);
    assert_int_equal(match, AS_TIMING_ALIKE);
    assert_ptr_equal(line_of(uarch, "\xc5\xf2\x58\xc2", 4, &match), &uarch->timing[4]);
    assert_int_equal(match, AS_TIMING_ALIKE);
    /* add rax,[rcx]: the form with registers alone */
    assert_ptr_equal(line_of(uarch, "\x48\x03\x01", 3, &match), &uarch->timing[1]);
    assert_int_equal(match, AS_TIMING_REGISTER);
    /* what an idiom costs says nothing of others: xor eax,ecx */
    assert_null(line_of(uarch, "\x31\xc8", 2, &match));
    assert_int_equal(match, AS_TIMING_NONE);
    assert_null(line_of(uarch, "\x0f\x05", 2, &match));
    as_uarch_free(&uarch);
}

static struct as_uarch *alike(const char *lines, struct as_error *err)
{
    struct as_uarch *uarch;
    char text[1024];
    const int n = snprintf(text, sizeof text, "like\tzen5\ncore\ttwin\ta twin\n%s", lines);
    return as_uarch_parse(text, (size_t)n, "twin.tsv", &uarch, err) < 0 ? NULL : uarch;
}

static void a_table_may_be_like_another(void **state)
{
    struct as_error err;
    struct as_uarch *zen5;
    enum as_timing_match match;
    (void)state;
    struct as_uarch *twin = alike("match\tToy\t1\t2\nsource\ts\tthis test\nset\trob\t77\ts\n"
                                  "group\tALU\tq\ts\nform\timul r64,r64\t1\tALU:1\t9\t-\ts\n",
                                  &err);
    assert_non_null(twin);
    assert_int_equal(as_uarch_open("zen5", &zen5, &err), 0);
    assert_string_equal(twin->name, "twin");
    assert_int_equal(twin->timing_n, zen5->timing_n);
    assert_int_equal(twin->match_n, 1);
    assert_true(twin->set[AS_UARCH_rob] == 77 && twin->set[AS_UARCH_load_int] == 4);
    assert_int_equal(twin->group_n, zen5->group_n);
    const struct as_core_timing *imul = line_of(twin, "\x48\x0f\xaf\xc3", 4, &match);
    assert_true(imul->latency == 9);
    assert_string_equal(twin->source[imul->source].words, "this test");
    assert_true(line_of(twin, "\x48\x01\xd8", 3, &match)->latency == 1);
    as_uarch_free(&twin);
    as_uarch_free(&zen5);
    /* a line is written anew once */
    assert_null(alike("source\ts\tthis test\nform\timul r64,r64\t1\tALU:1\t9\t-\ts\n"
                      "form\timul r64,r64\t1\tALU:1\t8\t-\ts\n",
                      &err));
    assert_true(has(err.text, "line 5: there is a line already"));
    assert_null(alike("source\ts\tthis test\ngroup\tALU\tq\ts\ngroup\tALU\tr\ts\n", &err));
    assert_true(has(err.text, "line 5") && has(err.text, "twice"));
    refuses("like\tzen5\n", "'like' stands first");
    assert_int_equal(as_uarch_parse("like\tnone\n", 10, "t", &twin, &err), AS_ERR_CORRUPT);
}

/* A run keeps the table that predictions use. */
static void hosts_say_their_table(void **state)
{
    char directory[] = "/tmp/assay-uarch-XXXXXX", path[256], words[256];
    struct as_host host = {
        .cpu_vendor = "AuthenticAMD", .cpu_family = 23, .cpu_model_number = 49, .cpu_stepping = 1};
    (void)state;
    assert_non_null(mkdtemp(directory));
    setenv("XDG_DATA_HOME", directory, 1);
    as_uarch_describe_host(&host, words, sizeof words);
    assert_true(strncmp(words, "zen2: cited: ", 13) == 0);
    host.cpu_family = 6;
    as_uarch_describe_host(&host, words, sizeof words);
    assert_string_equal(words, "none of this core");
    snprintf(path, sizeof path, "%s/assay", directory);
    assert_int_equal(mkdir(path, 0700), 0);
    strncat(path, "/machines", sizeof path - strlen(path) - 1);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_true(as_core_table_path(&host, path, sizeof path));
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs("like\tzen3\ncore\tx\tx\nsource\tm1\tmeasured on a Tuesday\n", f);
    fclose(f);
    as_uarch_describe_host(&host, words, sizeof words);
    assert_string_equal(words, "measured on a Tuesday");
    unlink(path);
    for (unsigned i = 0; i < 3; i++) { /* machines, assay, the directory */
        *strrchr(path, '/') = 0;
        assert_int_equal(rmdir(path), 0);
    }
    unsetenv("XDG_DATA_HOME");
}

static void files_are_opened_by_path(void **state)
{
    char path[] = "/tmp/assay-uarch-XXXXXX.tsv";
    struct as_uarch *uarch;
    struct as_error err;
    (void)state;
    const int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    assert_true(write(fd, head, sizeof head - 1) > 0);
    assert_true(write(fd, "form\tnop\t1\t-\t0\t-\ts\n", 20) == 20);
    close(fd);
    assert_int_equal(as_uarch_open(path, &uarch, &err), 0);
    assert_string_equal(uarch->words, "a toy");
    as_uarch_free(&uarch);
    unlink(path);
    assert_int_equal(as_uarch_open(path, &uarch, &err), AS_ERR_NOT_FOUND);
    assert_int_equal(as_uarch_open("zen55", &uarch, &err), AS_ERR_NOT_FOUND);
    assert_true(has(err.text, "zen5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_the_program_are_whole),
        cmocka_unit_test(measured_tables_are_like_any),
        cmocka_unit_test(hosts_find_their_table),
        cmocka_unit_test(a_table_is_read),
        cmocka_unit_test(parameters_say_where_they_are_from),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(keys_say_what_forms_do_not),
        cmocka_unit_test(the_nearest_line_is_found),
        cmocka_unit_test(a_table_may_be_like_another),
        cmocka_unit_test(hosts_say_their_table),
        cmocka_unit_test(files_are_opened_by_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
