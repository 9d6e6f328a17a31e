/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ELF side against readelf, nm and objdump on programs compiled here in every way of linking.
 */
#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/str.h"
#include "object/object.h"
#include "program.h"

static struct as_object *open_path(const char *path)
{
    struct as_object *object;
    struct as_error err = {0};
    if (as_object_open(path, NULL, &object, &err) < 0)
        fail_msg("%s", err.text);
    return object;
}

static const struct as_function *functions(struct as_object *object, size_t *n)
{
    const struct as_function *out;
    struct as_error err = {0};
    if (as_object_functions(object, false, &out, n, &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < *n; i++) {
        assert_true(out[i].end > out[i].start);
        assert_true(i == 0 || out[i].start > out[i - 1].start);
    }
    return out;
}

static const struct as_function *find(struct as_object *object, const char *name)
{
    size_t n;
    const struct as_function *f = functions(object, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(f[i].name, name) == 0)
            return &f[i];
    return NULL;
}

/* Sorts and compares two lists of lines, naming the first difference. */
static void expect_lines(const char *what, char *truth, struct as_str *ours)
{
    char *said = strdup(as_str_z(ours));
    program_sort_lines(said);
    if (strcmp(truth, said) != 0)
        fail_msg("%s differ\n-- due:\n%.2000s-- said:\n%.2000s", what, truth, said);
    free(said);
    free(truth);
    as_str_fini(ours);
}

/* The ways of linking; static ones have no names in objdump's table. */
static const struct variant {
    const char *name, *flags;
    enum as_object_type type;
    bool is_static;
} variants[] = {
    {"pie", "-O2 -pie -fPIE", AS_OBJECT_PIE, false},
    {"no-pie", "-O2 -no-pie -fno-pie", AS_OBJECT_EXECUTABLE, false},
    {"debug", "-O0 -g", AS_OBJECT_PIE, false},
    {"ibt", "-O2 -fcf-protection -Wl,-z,lazy -Wl,-z,ibtplt", AS_OBJECT_PIE, false},
    {"now", "-O2 -Wl,-z,now", AS_OBJECT_PIE, false},
    {"now-ibt", "-O2 -Wl,-z,now -fcf-protection -Wl,-z,ibtplt", AS_OBJECT_PIE, false},
    {"no-plt", "-O2 -fno-plt", AS_OBJECT_PIE, false},
    {"shared", "-O2 -shared -fPIC -Wl,-soname,libp.so.1", AS_OBJECT_SHARED, false},
    {"static", "-O2 -static", AS_OBJECT_EXECUTABLE, true},
    {"static-pie", "-O2 -static-pie", AS_OBJECT_PIE, true},
};
#define VARIANTS (sizeof variants / sizeof *variants)

static void test_identity(void **state)
{
    (void)state;
    for (size_t v = 0; v < VARIANTS; v++) {
        struct as_object *object = open_path(program_path(variants[v].name));
        const struct as_object_info *info = as_object_info(object);
        assert_int_equal(info->type, variants[v].type);
        assert_int_equal(info->is_static, variants[v].is_static);
        assert_false(info->is_stripped);
        assert_true(info->has_symtab);
        struct as_str id = {0};
        for (size_t i = 0; i < info->build_id_b; i++)
            as_str_appendf(&id, "%02x", info->build_id[i]);
        as_str_appendz(&id, "\n");
        expect_lines("build-ids",
                     program_lines("readelf -n %s | sed -n 's/.*Build ID: //p'", variants[v].name),
                     &id);
        struct as_str needed = {0};
        const char *const *name;
        size_t n = as_object_needed(object, &name);
        for (size_t i = 0; i < n; i++)
            as_str_appendf(&needed, "%s\n", name[i]);
        expect_lines("needed libraries",
                     program_lines("readelf -d %s | sed -n 's/.*NEEDED.*\\[\\(.*\\)\\]/\\1/p'",
                                   variants[v].name),
                     &needed);
        if (info->type == AS_OBJECT_SHARED)
            assert_string_equal(info->soname, "libp.so.1");
        else if (!info->is_static)
            assert_string_equal(info->interpreter, "/lib64/ld-linux-x86-64.so.2");
        as_object_close(&object);
        assert_null(object);
    }
}

static void test_sections(void **state)
{
    (void)state;
    struct as_object *object = open_path(program_path("pie"));
    struct as_str ours = {0};
    const struct as_section *section;
    size_t n = as_object_sections(object, &section);
    for (size_t i = 1; i < n; i++)
        as_str_appendf(&ours, "%s %016" PRIx64 " %06" PRIx64 " %06" PRIx64 "\n", section[i].name,
                       section[i].address, section[i].offset, section[i].size_b);
    expect_lines(
        "sections",
        program_lines("readelf -SW pie | sed -n 's/^ *\\[ *[0-9]*\\] \\(\\.[^ ]*\\) *[A-Z_]* "
                      "*\\([0-9a-f]* [0-9a-f]* [0-9a-f]*\\) .*/\\1 \\2/p'"),
        &ours);
    for (size_t i = 1; i < n; i++) {
        uint64_t size_b;
        const uint8_t *p = as_object_bytes(object, section[i].address + 1, &size_b);
        if (!section[i].data || section[i].size_b < 2)
            continue;
        assert_ptr_equal(p, section[i].data + 1);
        assert_int_equal(size_b, section[i].size_b - 1);
    }
    uint64_t size_b;
    assert_null(as_object_bytes(object, 0x7fffffff0000, &size_b));
    const struct as_segment *segment;
    assert_true(as_object_segments(object, &segment) > 5);
    assert_int_equal(segment[0].type, PT_PHDR);
    as_object_close(&object);
}

/* Every named symbol that nm shows with an address, and nothing else. */
static void test_symbols(void **state)
{
    (void)state;
    for (size_t v = 0; v < VARIANTS; v++) {
        struct as_object *object = open_path(program_path(variants[v].name));
        struct as_str ours = {0};
        const struct as_symbol *s;
        size_t n = as_object_symbols(object, &s);
        for (size_t i = 0; i < n; i++) {
            assert_true(i == 0 || s[i].address >= s[i - 1].address);
            assert_null(strstr(s[i].name, "@GLIBC"));
            if (s[i].kind != AS_SYMBOL_PLT)
                as_str_appendf(&ours, "%016" PRIx64 " %s\n", s[i].address, s[i].name);
        }
        expect_lines("symbols",
                     program_lines("nm %s | sed -n 's/^\\([0-9a-f]\\{16\\}\\) . "
                                   "\\([^@]*\\).*/\\1 \\2/p' | sort -u",
                                   variants[v].name),
                     &ours);
        struct as_symbol_counts counts;
        as_object_symbol_counts(object, &counts);
        struct as_str count = {0};
        as_str_appendf(&count, "%zu\n", counts.symtab + 1);
        expect_lines("counts",
                     program_lines("readelf -sW %s | sed -n \"s/.*'.symtab' contains \\([0-9]*\\) "
                                   "ent.*/\\1/p\"",
                                   variants[v].name),
                     &count);
        as_object_close(&object);
    }
}

static void test_plt(void **state)
{
    (void)state;
    for (size_t v = 0; v < VARIANTS && !variants[v].is_static; v++) {
        struct as_object *object = open_path(program_path(variants[v].name));
        struct as_str ours = {0};
        const struct as_symbol *s;
        size_t n = as_object_symbols(object, &s), plt = 0;
        for (size_t i = 0; i < n; i++) {
            if (s[i].kind != AS_SYMBOL_PLT)
                continue;
            as_str_appendf(&ours, "%016" PRIx64 " <%s>:\n", s[i].address, s[i].name);
            plt++;
        }
        struct as_symbol_counts counts;
        as_object_symbol_counts(object, &counts);
        assert_int_equal(counts.plt, plt);
        assert_true(plt > 0);
        expect_lines("PLT names",
                     program_lines("objdump -d %s | grep '^[0-9a-f]* <.*@plt>:'", variants[v].name),
                     &ours);
        as_object_close(&object);
    }
}

/* A static program calls its indirect functions through stubs named after the resolvers. */
static void test_static_plt(void **state)
{
    (void)state;
    struct as_object *object = open_path(program_path("static"));
    const struct as_symbol *s;
    size_t n = as_object_symbols(object, &s), plt = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i].kind != AS_SYMBOL_PLT)
            continue;
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)(strlen(s[i].name) - 4), s[i].name);
        size_t j = 0;
        while (j < n && (s[j].kind != AS_SYMBOL_IFUNC || strcmp(s[j].name, name) != 0))
            j++;
        if (j == n)
            fail_msg("no indirect function for %s", s[i].name);
        plt++;
    }
    struct as_str count = {0};
    as_str_appendf(&count, "%zu\n", plt);
    expect_lines("indirect relocations", program_lines("readelf -rW static | grep -c IRELATIV"),
                 &count);
    as_object_close(&object);
}

static void expect_frames(const char *path)
{
    struct as_object *object = open_path(path);
    struct as_str ours = {0};
    const struct as_unwind_range *range;
    size_t n = as_object_unwind_ranges(object, &range);
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || range[i].start >= range[i - 1].start);
        as_str_appendf(&ours, "%016" PRIx64 "..%016" PRIx64 "\n", range[i].start, range[i].end);
    }
    char *absolute = realpath(path, NULL);
    expect_lines("unwind ranges",
                 program_lines("readelf --debug-dump=frames '%s' 2>/dev/null | sed -n 's/.* FDE "
                               "cie=.* pc=\\(.*\\)/\\1/p'",
                               absolute),
                 &ours);
    free(absolute);
    as_object_close(&object);
}

static void test_unwind(void **state)
{
    (void)state;
    for (size_t v = 0; v < VARIANTS; v++)
        expect_frames(program_path(variants[v].name));
    static const char *const hosts[] = {"/lib/x86_64-linux-gnu/libc.so.6",
                                        "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                                        "/usr/lib/x86_64-linux-gnu/libopenblas.so.0"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (access(hosts[i], R_OK) == 0)
            expect_frames(hosts[i]);
}

/* Functions of the program: bounds as nm says, aliases counted, PLT marked. */
static void test_functions(void **state)
{
    (void)state;
    struct as_object *object = open_path(program_path("pie"));
    struct as_str ours = {0};
    static const char *const names[] = {"work", "main", "begin", "finish", "rare", "alias_b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct as_function *f = find(object, names[i]);
        assert_non_null(f);
        assert_int_equal(f->origin, AS_FUNCTION_SYMBOL);
        assert_int_equal(f->aliases, strcmp(names[i], "alias_b") == 0);
        assert_false(f->is_part);
        as_str_appendf(&ours, "%016" PRIx64 " %016" PRIx64 " %s\n", f->start, f->end - f->start,
                       f->name);
    }
    expect_lines(
        "function bounds",
        program_lines("nm -S pie | sed -n 's/ [tT] \\(work\\|main\\|begin\\|finish\\|rare\\|"
                      "alias_b\\)$/ \\1/p'"),
        &ours);
    assert_null(find(object, "alias_long"));
    const struct as_function *cold = find(object, "work.cold");
    if (cold) /* GCC splits, clang 14 does not */
        assert_true(cold->is_part);
    const struct as_function *sine = find(object, "sin@plt");
    assert_non_null(sine);
    assert_int_equal(sine->origin, AS_FUNCTION_PLT);
    const struct as_function *start = find(object, "_start");
    assert_non_null(start);
    assert_int_equal(start->start, as_object_info(object)->entry);
    /* Labels of the linker do not count as functions. */
    assert_null(find(object, "_etext"));
    assert_null(find(object, "exported_data"));
    as_object_close(&object);
}

/* The constructor and destructor of position-independent files stand in relocations only. */
static void test_init_functions(void **state)
{
    (void)state;
    static const char *const names[] = {"pie", "no-pie", "shared", "static", "static-pie"};
    for (size_t v = 0; v < sizeof names / sizeof *names; v++) {
        struct as_object *object = open_path(program_path(names[v]));
        const uint64_t *function;
        size_t n = as_object_init_functions(object, &function), found = 0;
        uint64_t begin = find(object, "begin")->start, finish = find(object, "finish")->start;
        for (size_t i = 0; i < n; i++)
            found += (function[i] == begin) + 2 * (function[i] == finish);
        assert_int_equal(found, 3);
        as_object_close(&object);
    }
}

/* Without symbols the same bodies are found by unwind ranges and entry points. */
static void expect_same_starts(const char *stripped)
{
    struct as_object *full = open_path(program_path("pie"));
    struct as_object *bare = open_path(program_path(stripped));
    assert_true(as_object_info(bare)->is_stripped);
    static const char *const names[] = {"work", "main", "begin", "finish", "rare", "_start"};
    size_t n;
    const struct as_function *f = functions(bare, &n);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct as_function *due = find(full, names[i]);
        size_t j = 0;
        while (j < n && f[j].start != due->start)
            j++;
        assert_true(j < n);
        char name[32];
        snprintf(name, sizeof name, "func_%" PRIx64, due->start);
        assert_string_equal(f[j].name, name);
        /* An unwind range is as long as the function. */
        assert_int_equal(f[j].end, due->end);
        assert_int_equal(f[j].origin, AS_FUNCTION_UNWIND);
    }
    const struct as_function *sine = find(bare, "sin@plt");
    assert_non_null(sine);
    assert_int_equal(sine->start, find(full, "sin@plt")->start);
    const char *const *needed;
    assert_int_equal(as_object_needed(bare, &needed), 2);
    assert_int_equal(as_object_info(bare)->build_id_b, 20);
    as_object_close(&full);
    as_object_close(&bare);
}

static void test_stripped(void **state)
{
    (void)state;
    program_run("strip -o stripped pie");
    expect_same_starts("stripped");
}

/* As sstrip does: the section headers are gone, program headers alone remain. */
static void test_without_sections(void **state)
{
    (void)state;
    size_t n;
    uint8_t *bytes = program_read(program_path("pie"), &n);
    Elf64_Ehdr ehdr;
    memcpy(&ehdr, bytes, sizeof ehdr);
    size_t cut = ehdr.e_shoff;
    ehdr.e_shoff = 0;
    ehdr.e_shnum = ehdr.e_shstrndx = 0;
    memcpy(bytes, &ehdr, sizeof ehdr);
    program_write("sstripped", bytes, cut);
    free(bytes);
    expect_same_starts("sstripped");
    struct as_object *full = open_path(program_path("pie"));
    struct as_object *bare = open_path(program_path("sstripped"));
    struct as_symbol_counts a, b;
    as_object_symbol_counts(full, &a);
    as_object_symbol_counts(bare, &b);
    assert_int_equal(a.dynsym, b.dynsym);
    assert_int_equal(a.plt, b.plt);
    const struct as_unwind_range *range;
    assert_int_equal(as_object_unwind_ranges(full, &range), as_object_unwind_ranges(bare, &range));
    as_object_close(&full);
    as_object_close(&bare);
}

/* Sections of a .o get addresses of their own; symbols, unwind ranges and calls follow. */
static void test_relocatable(void **state)
{
    (void)state;
    program_build("sections.o", "-O2 -c -ffunction-sections -fno-pic -fno-pie");
    struct as_object *object = open_path(program_path("sections.o"));
    assert_int_equal(as_object_info(object)->type, AS_OBJECT_RELOCATABLE);
    const struct as_section *section;
    size_t n = as_object_sections(object, &section);
    uint64_t last = AS_OBJECT_REL_BASE;
    for (size_t i = 1; i < n; i++) {
        if (!section[i].alloc)
            continue;
        assert_true(section[i].address >= last);
        last = section[i].address + section[i].size_b;
    }
    const struct as_unwind_range *range;
    size_t range_n = as_object_unwind_ranges(object, &range);
    static const char *const names[] = {"work", "main", "begin", "finish", "rare", "alias_b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct as_function *f = find(object, names[i]);
        assert_non_null(f);
        size_t j = 0;
        while (j < range_n && range[j].start != f->start)
            j++;
        assert_true(j < range_n);
        assert_int_equal(range[j].end, f->end);
    }
    const uint64_t *init;
    assert_int_equal(as_object_init_functions(object, &init), 2);
    assert_int_equal(init[0] + init[1],
                     find(object, "begin")->start + find(object, "finish")->start);
    /* main calls work: some call's target is where work stands. */
    const struct as_function *main_f = find(object, "main"), *work = find(object, "work");
    uint64_t size_b, main_b = main_f->end - main_f->start;
    const uint8_t *p = as_object_bytes(object, main_f->start, &size_b);
    bool called = false;
    for (uint64_t i = 0; i + 5 <= main_b; i++) {
        int32_t displacement;
        memcpy(&displacement, p + i + 1, sizeof displacement);
        called |=
            p[i] == 0xe8 && main_f->start + i + 5 + (uint64_t)(int64_t)displacement == work->start;
    }
    assert_true(called);
    as_object_close(&object);
}

/* Exception tables are found through the FDE; assembly without type or size is a function too. */
static void test_lsda_and_assembly(void **state)
{
    (void)state;
    static const char cxx[] = "extern \"C\" void f(); extern \"C\" int g()\n"
                              "{ try { f(); } catch (int) { return 1; } return 0; }\n"
                              "extern \"C\" int h() { return 2; }\n";
    program_write("x.cc", cxx, sizeof cxx - 1);
    program_run(TEST_CXX " -O1 -shared -fPIC -o x.so x.cc");
    struct as_object *object = open_path(program_path("x.so"));
    const struct as_unwind_range *range;
    size_t n = as_object_unwind_ranges(object, &range), with = 0;
    const struct as_section *section;
    size_t section_n = as_object_sections(object, &section);
    uint64_t g = find(object, "g")->start, lsda = 0;
    for (size_t i = 0; i < n; i++) {
        with += range[i].lsda != 0;
        if (range[i].start == g)
            lsda = range[i].lsda;
    }
    assert_int_equal(with, 1);
    bool inside = false;
    for (size_t i = 1; i < section_n; i++)
        if (strcmp(section[i].name, ".gcc_except_table") == 0)
            inside = lsda - section[i].address < section[i].size_b;
    assert_true(inside);
    as_object_close(&object);

    static const char assembly[] = ".text\n.globl entry_a\nentry_a:\n nop\n.Lloop: jmp .Lloop\n"
                                   "inner: nop\n"
                                   ".globl entry_b\n.type entry_b,@function\nentry_b: ret\n"
                                   "local: .cfi_startproc\n ret\n nop\n .cfi_endproc\n int3\n";
    program_write("a.s", assembly, sizeof assembly - 1);
    program_run(TEST_CC " -c -o a.o a.s");
    object = open_path(program_path("a.o"));
    size_t function_n;
    const struct as_function *f = functions(object, &function_n);
    assert_int_equal(function_n, 3);
    assert_string_equal(f[0].name, "entry_a");
    assert_int_equal(f[0].end - f[0].start, 4); /* to the next function */
    assert_string_equal(f[1].name, "entry_b");
    assert_int_equal(f[1].end - f[1].start, 1);
    assert_string_equal(f[2].name, "local");
    assert_int_equal(f[2].end - f[2].start, 2); /* by its unwind range, not to the end */
    as_object_close(&object);
}

/* BOLT leaves the code that it has moved behind: only functions with a symbol are live there. */
static void test_replaced_code(void **state)
{
    (void)state;
    static const char assembly[] =
        ".text\n.globl moved\n.type moved,@function\nmoved: .cfi_startproc\n jmp moved.cold.0\n"
        " .cfi_endproc\n.size moved,.-moved\n"
        ".section .text.cold,\"ax\"\n.type moved.cold.0,@function\nmoved.cold.0: ret\n"
        ".size moved.cold.0,.-moved.cold.0\n"
        ".section .bolt.org.text,\"ax\"\n"
        ".cfi_startproc\n.Ldead: dec %rdi\n jnz .Ldead\n ret\n .cfi_endproc\n"
        ".globl kept\n.type kept,@function\nkept: .cfi_startproc\n ret\n .cfi_endproc\n"
        ".size kept,.-kept\n";
    static const char *const names[] = {"moved", "moved.cold.0", "kept"};
    program_write("bolt.s", assembly, sizeof assembly - 1);
    program_run(TEST_CC " -c -o bolt.o bolt.s");
    struct as_object *object = open_path(program_path("bolt.o"));
    size_t n;
    const struct as_function *f = functions(object, &n);
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(f[i].name, names[i]);
        assert_int_equal(f[i].is_part, i == 1);
    }
    as_object_close(&object);
}

/* The unwind range of a signal's return begins one byte early; its code is known by itself. */
static void test_known_code(void **state)
{
    (void)state;
    static const char assembly[] =
        ".text\n.globl first\n.type first,@function\nfirst: ret\n.size first,.-first\n"
        ".cfi_startproc\n.cfi_signal_frame\n nop\n"
        "mov $15,%rax\n syscall\n .cfi_endproc\n"
        ".p2align 4\n.cfi_startproc\n mov %rbx,%rsp\n mov (%rsp),%rdi\n"
        "test %rdi,%rdi\n je 1f\n1: hlt\n .cfi_endproc\n"
        ".p2align 4\n.cfi_startproc\n mov %rbx,%rsp\n ret\n .cfi_endproc\n"
        ".section .note.GNU-stack,\"\",@progbits\n";
    program_write("known.s", assembly, sizeof assembly - 1);
    program_run(TEST_CC " -shared -o known.so known.s");
    struct as_object *object = open_path(program_path("known.so"));
    const struct as_function *first = find(object, "first");
    const struct as_function *signal_end = find(object, "__restore_rt");
    assert_non_null(signal_end);
    assert_int_equal(signal_end->start, first->start + 2);
    assert_non_null(find(object, "__start_context"));
    char name[32];
    snprintf(name, sizeof name, "func_%" PRIx64, first->start + 1);
    assert_null(find(object, name));
    as_object_close(&object);
}

/* A stripped libgomp: the tail calls of an exported function prove the names of what they reach. */
static void test_known_jumps(void **state)
{
    (void)state;
    static const char assembly[] =
        ".text\n.globl GOMP_barrier\n.type GOMP_barrier,@function\n"
        "GOMP_barrier: .cfi_startproc\n jmp .Lwait\n .cfi_endproc\n"
        ".size GOMP_barrier,.-GOMP_barrier\n.p2align 4\n.skip 128,0x90\n"
        ".Lwait: .cfi_startproc\n mov %rdi,%rax\n jmp .Lend\n .cfi_endproc\n"
        ".skip 128,0x90\n.Lend: .cfi_startproc\n pause\n ret\n .cfi_endproc\n"
        ".Lother: .cfi_startproc\n ret\n .cfi_endproc\n"
        ".section .note.GNU-stack,\"\",@progbits\n";
    program_write("gomp.s", assembly, sizeof assembly - 1);
    program_run(TEST_CC " -shared -o gomp.so gomp.s && strip gomp.so");
    struct as_object *object = open_path(program_path("gomp.so"));
    const struct as_function *wait = find(object, "gomp_team_barrier_wait");
    const struct as_function *end = find(object, "gomp_team_barrier_wait_end");
    assert_non_null(wait);
    assert_non_null(end);
    assert_true(end->start > wait->start);
    as_object_close(&object);
}

/* The function that a stripped libgomp starts threads with; of two it is not known which. */
static void test_known_thread_start(void **state)
{
    (void)state;
    static const char begin[] =
        ".text\n.globl GOMP_parallel\n.type GOMP_parallel,@function\n"
        "GOMP_parallel: .cfi_startproc\n lea .Lstart(%rip),%rdx\n xor %ecx,%ecx\n"
        " call pthread_create@PLT\n ret\n .cfi_endproc\n"
        ".size GOMP_parallel,.-GOMP_parallel\n.skip 128,0x90\n"
        ".Lstart: .cfi_startproc\n ret\n .cfi_endproc\n.skip 128,0x90\n"
        ".Lother: .cfi_startproc\n ret\n .cfi_endproc\n.skip 128,0x90\n"
        ".section .note.GNU-stack,\"\",@progbits\n.text\n";
    static const char again[] = "lea .Lother(%rip),%rdx\n call pthread_create@PLT\n";
    char text[sizeof begin + sizeof again];
    for (int several = 0; several < 2; several++) {
        snprintf(text, sizeof text, "%s%s", begin, several ? again : "");
        program_write("starts.s", text, strlen(text));
        program_run(TEST_CC " -shared -o starts.so starts.s -lpthread && strip starts.so");
        struct as_object *object = open_path(program_path("starts.so"));
        const struct as_function *parallel = find(object, "GOMP_parallel");
        const struct as_function *start = find(object, "gomp_thread_start");
        assert_non_null(parallel);
        assert_int_equal(start != NULL, !several);
        assert_true(several || start->start > parallel->start + 128);
        as_object_close(&object);
    }
}

/* The wait of a stripped libgomp's threads between regions: short functions jump to it. */
static void test_known_dock_wait(void **state)
{
    (void)state;
    static const char begin[] =
        ".text\n.globl GOMP_parallel, GOMP_barrier\n.type GOMP_parallel,@function\n"
        "GOMP_parallel: .cfi_startproc\n lea .Lstart(%rip),%rdx\n call pthread_create@PLT\n"
        " ret\n .cfi_endproc\n.size GOMP_parallel,.-GOMP_parallel\n.skip 128,0x90\n"
        ".type GOMP_barrier,@function\nGOMP_barrier: .cfi_startproc\n jmp .Lteam\n"
        " .cfi_endproc\n.size GOMP_barrier,.-GOMP_barrier\n.skip 128,0x90\n"
        ".Lteam: .cfi_startproc\n jmp .Lteam_end\n .cfi_endproc\n.skip 128,0x90\n"
        ".Lteam_end: .cfi_startproc\n ret\n .cfi_endproc\n.skip 128,0x90\n"
        ".Ldock: .cfi_startproc\n jmp .Ldock_end\n .cfi_endproc\n.skip 128,0x90\n"
        ".Ldock_end: .cfi_startproc\n pause\n ret\n .cfi_endproc\n.skip 128,0x90\n"
        ".Lmore: .cfi_startproc\n jmp .Lmore_end\n .cfi_endproc\n.skip 128,0x90\n"
        ".Lmore_end: .cfi_startproc\n ret\n .cfi_endproc\n.skip 128,0x90\n"
        ".section .note.GNU-stack,\"\",@progbits\n.text\n"
        ".Lstart: .cfi_startproc\n call .Lteam\n call .Ldock\n";
    static const char again[] = " call .Lmore\n", end[] = " ret\n .cfi_endproc\n";
    char text[sizeof begin + sizeof again + sizeof end];
    for (int several = 0; several < 2; several++) {
        snprintf(text, sizeof text, "%s%s%s", begin, several ? again : "", end);
        program_write("dock.s", text, strlen(text));
        program_run(TEST_CC " -shared -o dock.so dock.s -lpthread && strip dock.so");
        struct as_object *object = open_path(program_path("dock.so"));
        const struct as_function *team = find(object, "gomp_team_barrier_wait_end");
        const struct as_function *dock = find(object, "gomp_barrier_wait_end");
        assert_non_null(team);
        assert_int_equal(dock != NULL, !several);
        assert_true(several || dock->start > team->start + 256);
        as_object_close(&object);
    }
}

static int build_all(void **state)
{
    if (program_setup(state) < 0)
        return -1;
    for (size_t v = 0; v < VARIANTS; v++)
        program_build(variants[v].name, variants[v].flags);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_jumps),
        cmocka_unit_test(test_known_thread_start),
        cmocka_unit_test(test_known_dock_wait),
        cmocka_unit_test(test_replaced_code),
        cmocka_unit_test(test_known_code),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_plt),
        cmocka_unit_test(test_static_plt),
        cmocka_unit_test(test_unwind),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_init_functions),
        cmocka_unit_test(test_stripped),
        cmocka_unit_test(test_without_sections),
        cmocka_unit_test(test_relocatable),
        cmocka_unit_test(test_lsda_and_assembly),
    };
    return cmocka_run_group_tests_name("object/elf", tests, build_all, program_teardown);
}
