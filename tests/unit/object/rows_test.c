/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rows against `readelf --debug-dump=frames-interp`: every row of every function of big
 * binaries, and of an assembly file with each directive; steps over frames made by hand; damage.
 */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "object/object.h"
#include "program.h"

static const char *const names[AS_UNWIND_REGISTERS] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                                       "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                                       "r12", "r13", "r14", "r15", "ra"};

static struct as_object *open_path(const char *path)
{
    struct as_object *object;
    struct as_error err = {0};
    if (as_object_open(path, NULL, &object, &err) < 0)
        fail_msg("%s", err.text);
    return object;
}

static const struct as_unwind_row *row_at(struct as_object *object, uint64_t address)
{
    const struct as_unwind_row *row;
    struct as_error err;
    assert_int_equal(as_object_unwind_row(object, address, &row, &err), 0);
    return row;
}

/* ---- Readelf's words ------------------------------------------------------------------------ */

static int column(const char *name)
{
    for (int i = 0; i < AS_UNWIND_REGISTERS; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1; /* a vector register */
}

static void cfa_words(const struct as_unwind_row *row, char *out, size_t n)
{
    if (row->cfa_kind == AS_CFA_EXPRESSION)
        snprintf(out, n, "exp");
    else if (row->cfa_kind == AS_CFA_REGISTER)
        snprintf(out, n, "%s%+d", names[row->cfa_register], row->cfa_value);
    else
        snprintf(out, n, "damaged");
}

static void rule_words(const struct as_unwind_row *row, int reg, char *out, size_t n)
{
    snprintf(out, n, "u");
    for (unsigned i = 0; i < row->rule_n; i++) {
        const struct as_unwind_rule *rule = &row->rule[i];
        if (rule->reg != reg)
            continue;
        switch (rule->kind) {
        case AS_RULE_SAME:
            snprintf(out, n, "s");
            break;
        case AS_RULE_OFFSET:
            snprintf(out, n, "c%+d", rule->value);
            break;
        case AS_RULE_VAL_OFFSET:
            snprintf(out, n, "v%+d", rule->value);
            break;
        case AS_RULE_REGISTER:
            snprintf(out, n, "%s", names[rule->value]);
            break;
        case AS_RULE_EXPRESSION:
            snprintf(out, n, "exp");
            break;
        case AS_RULE_VAL_EXPRESSION:
            snprintf(out, n, "vexp");
            break;
        default:
            break;
        }
    }
}

#define COLUMNS 80

struct truth {
    struct as_object *object;
    const char *path;
    int column[COLUMNS];
    unsigned column_n;
    uint64_t start, end; /* of the FDE being read */
    bool in_fde, in_debug, seen;
    char pending[1024]; /* the row without a known end */
    uint64_t pending_at;
    size_t rows, differ, absent;
    char first[512];
};

static void take_columns(struct truth *t, char *line)
{
    t->column_n = 0;
    strtok(line, " \n");
    strtok(NULL, " \n"); /* LOC, CFA */
    for (char *word; (word = strtok(NULL, " \n")) && t->column_n < COLUMNS;)
        t->column[t->column_n++] = column(word);
}

static void compare(struct truth *t, uint64_t address, const char *line)
{
    char text[1024], mine[64];
    const struct as_unwind_row *row = row_at(t->object, address);
    t->rows++;
    if (!row) {
        t->absent++;
        return;
    }
    snprintf(text, sizeof text, "%s", line);
    char *word = strtok(text, " \n");
    cfa_words(row, mine, sizeof mine);
    bool same = word && strcmp(word, mine) == 0;
    for (unsigned i = 0; i < t->column_n && (word = strtok(NULL, " \n")); i++) {
        if (t->column[i] < 0)
            continue; /* of a vector register */
        rule_words(row, t->column[i], mine, sizeof mine);
        if (word[0] == 'r') /* "r1 (rdx)" */
            word = strtok(NULL, " ()\n");
        same = same && word && strcmp(word, mine) == 0;
    }
    if (!same && t->differ++ == 0)
        snprintf(t->first, sizeof t->first, "%s: at %" PRIx64 " due %.200s", t->path, address,
                 line);
}

/* The row that waits for its end has it now. */
static void flush(struct truth *t, uint64_t end)
{
    if (t->pending[0] && end > t->pending_at) {
        compare(t, t->pending_at, t->pending);
        compare(t, end - 1, t->pending);
    }
    t->pending[0] = 0;
}

static void take_line(struct truth *t, char *line)
{
    uint64_t at;
    int used = 0;
    char *pc = strstr(line, " FDE ");
    if (strstr(line, "Contents of the "))
        t->in_debug = strstr(line, ".debug_frame") != NULL;
    if (pc || strstr(line, " CIE \"")) {
        if (t->in_fde)
            flush(t, t->end);
        t->pending[0] = 0;
        pc = pc ? strstr(line, "pc=") : NULL;
        t->in_fde =
            pc && sscanf(pc, "pc=%" SCNx64 "..%" SCNx64, &t->start, &t->end) == 2 && t->start;
    } else if (strstr(line, "   LOC ") == line) {
        take_columns(t, line);
    } else if (t->in_fde && sscanf(line, "%16" SCNx64 " %n", &at, &used) == 1 && used >= 17) {
        flush(t, at);
        if (at < t->end) {
            t->pending_at = at;
            snprintf(t->pending, sizeof t->pending, "%.1000s", line + used);
        }
    }
}

/* Compares every row that readelf prints; the number of rows. */
static size_t against_readelf(const char *path)
{
    char command[512], line[2048];
    struct truth t = {.object = open_path(path), .path = path};
    snprintf(command, sizeof command, "readelf -W --debug-dump=frames-interp '%s' 2>/dev/null",
             path);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        take_line(&t, line);
    if (t.in_fde)
        flush(&t, t.end);
    pclose(f);
    as_object_close(&t.object);
    if (t.differ || t.absent)
        fail_msg("%zu rows of %zu differ, %zu are absent; %s", t.differ, t.rows, t.absent, t.first);
    return t.rows;
}

static void test_system_libraries(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "/lib/x86_64-linux-gnu/libc.so.6",
        "/lib/x86_64-linux-gnu/libm.so.6",
        "/lib64/ld-linux-x86-64.so.2",
        "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
        "/usr/lib/x86_64-linux-gnu/libgfortran.so.5",
        "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0",
        "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
        "/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
        "/usr/bin/python3",
        "/usr/bin/bash",
    };
    size_t rows = 0;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (access(paths[i], R_OK) == 0)
            rows += against_readelf(paths[i]);
    print_message("# %zu rows compared\n", rows);
    assert_true(rows > 20000); /* libc alone has more */
}

/* ---- Every directive ------------------------------------------------------------------------ */

static const char directives[] = ".text\n"
                                 ".globl f\n"
                                 "f: .cfi_startproc\n"
                                 "nop\n"
                                 ".cfi_def_cfa_offset 16\n"
                                 ".cfi_offset rbp, -16\n"
                                 ".skip 70\n"
                                 ".cfi_def_cfa_register rbp\n"
                                 ".cfi_remember_state\n"
                                 ".skip 300\n"
                                 ".cfi_offset rbx, -24\n"
                                 ".cfi_val_offset r12, -32\n"
                                 ".cfi_register r13, rax\n"
                                 ".skip 70000\n"
                                 ".cfi_undefined r14\n"
                                 ".cfi_same_value r15\n"
                                 ".cfi_remember_state\n"
                                 "nop\n"
                                 ".cfi_restore rbx\n"
                                 ".cfi_def_cfa r10, 0\n"
                                 "nop\n"
                                 ".cfi_escape 0x0f, 3, 0x76, 0x78, 0x06\n" /* CFA = *(rbp - 8) */
                                 ".cfi_escape 0x10, 3, 2, 0x76, 0x70\n"    /* rbx at rbp - 16 */
                                 ".cfi_escape 0x16, 12, 2, 0x76, 0x68\n"   /* r12 = rbp - 24 */
                                 ".cfi_escape 0x2e, 16\n"                  /* GNU_args_size */
                                 ".cfi_escape 0x11, 13, 0x7d\n" /* offset_extended_sf r13, -3 */
                                 ".cfi_escape 0x2f, 14, 5\n"    /* GNU_negative_offset_extended */
                                 ".cfi_escape 0x05, 40, 3\n"    /* a vector register */
                                 "nop\n"
                                 ".cfi_restore_state\n"
                                 "nop\n"
                                 ".cfi_restore_state\n"
                                 ".cfi_escape 0x13, 0x7c\n" /* def_cfa_offset_sf -4 */
                                 "nop\n"
                                 ".cfi_escape 0x12, 7, 0x7e\n"  /* def_cfa_sf rsp, -2 */
                                 ".cfi_escape 0x15, 15, 0x7e\n" /* val_offset_sf */
                                 "nop\n"
                                 ".cfi_endproc\n"
                                 ".size f, .-f\n"
                                 ".type f, @function\n"
                                 "g: .cfi_startproc\n"
                                 ".cfi_signal_frame\n"
                                 "nop\n"
                                 ".cfi_endproc\n";

static void write_assembly(const char *name, const char *first, const char *text)
{
    char whole[8192];
    int n = snprintf(whole, sizeof whole, "%s%s", first, text);
    assert_true(n > 0 && (size_t)n < sizeof whole);
    program_write(name, whole, (size_t)n);
}

static void test_directives(void **state)
{
    (void)state;
    write_assembly("d.s", ".cfi_sections .eh_frame\n", directives);
    write_assembly("e.s", ".cfi_sections .debug_frame\n", directives);
    program_run("cc -shared -nostdlib -o d.so d.s");
    program_run("cc -shared -nostdlib -o e.so e.s");
    size_t eh = against_readelf(program_path("d.so"));
    assert_true(eh >= 18);
    assert_int_equal(against_readelf(program_path("e.so")), eh);
    struct as_object *object = open_path(program_path("d.so"));
    const struct as_function *f;
    size_t n;
    struct as_error err;
    assert_int_equal(as_object_functions(object, false, &f, &n, &err), 0);
    const struct as_unwind_row *row = row_at(object, f[0].start);
    assert_int_equal(row->size_b, 1);
    assert_false(row->signal_frame);
    row = row_at(object, f[0].end);
    assert_true(row->signal_frame);
    assert_null(row_at(object, f[0].end + 1));
    assert_null(row_at(object, f[0].start - 1));
    as_object_close(&object);
}

static uint64_t address_of(struct as_object *object, const char *name)
{
    const struct as_symbol *symbol;
    size_t n = as_object_symbols(object, &symbol);
    for (size_t i = 0; i < n; i++)
        if (strcmp(symbol[i].name, name) == 0)
            return symbol[i].address;
    fail_msg("no %s", name);
    return 0;
}

static void test_debug_frame(void **state)
{
    (void)state;
    static const char *const ways[] = {"-O2 -g -fno-asynchronous-unwind-tables",
                                       "-O0 -g -fno-asynchronous-unwind-tables -gz=zlib"};
    for (size_t i = 0; i < 2; i++)
        assert_true(against_readelf(program_build("frames", ways[i])) > 10);
    const char *path = program_build("separate", "-O2 -g -fno-asynchronous-unwind-tables");
    struct as_object *object = open_path(path);
    uint64_t work = address_of(object, "work");
    assert_non_null(row_at(object, work));
    as_object_close(&object);
    program_run("objcopy --only-keep-debug separate separate.debug && strip separate && "
                "objcopy --add-gnu-debuglink=separate.debug separate");
    object = open_path(path);
    assert_non_null(row_at(object, work)); /* only the debug file says it */
    as_object_close(&object);
    program_run("rm separate.debug");
    object = open_path(path);
    assert_null(row_at(object, work));
    as_object_close(&object);
    object = open_path(program_build("frames.o", "-O1 -g -fno-asynchronous-unwind-tables -c"));
    const struct as_unwind_row *row = row_at(object, address_of(object, "work"));
    assert_int_equal(row ? row->start : 0, address_of(object, "work"));
    as_object_close(&object);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static uint64_t stack[64]; /* stands at address 0x1000 */

static bool read_stack(void *context, uint64_t address, uint64_t *word)
{
    (void)context;
    if (address < 0x1000 || address >= 0x1000 + sizeof stack || address % 8)
        return false;
    *word = stack[(address - 0x1000) / 8];
    return true;
}

static enum as_unwind_result step(struct as_object *object, uint64_t pc,
                                  struct as_unwind_frame *frame)
{
    frame->reg[AS_UNWIND_RA] = pc;
    const struct as_unwind_row *row = row_at(object, pc);
    assert_non_null(row);
    return as_object_unwind_step(object, row, 0, frame, read_stack, NULL);
}

static void test_steps(void **state)
{
    (void)state;
    struct as_object *object = open_path(program_path("d.so"));
    const struct as_function *f;
    size_t n;
    struct as_error err;
    assert_int_equal(as_object_functions(object, false, &f, &n, &err), 0);
    for (size_t i = 0; i < 64; i++)
        stack[i] = 0x100 + i;
    struct as_unwind_frame start = {.known = 0x1ffff}, frame;
    for (unsigned i = 0; i < AS_UNWIND_REGISTERS; i++)
        start.reg[i] = 0x5000 + i;
    start.reg[AS_UNWIND_RSP] = 0x1000;
    start.reg[AS_UNWIND_RBP] = 0x1100;

    /* First row: CFA = rsp + 8, the return address below it. */
    frame = start;
    assert_int_equal(step(object, f[0].start, &frame), AS_UNWIND_CALLER);
    assert_int_equal(frame.reg[AS_UNWIND_RSP], 0x1008);
    assert_int_equal(frame.reg[AS_UNWIND_RA], 0x100);
    assert_int_equal(frame.reg[AS_UNWIND_RBX], 0x5003);
    assert_int_equal(frame.known, 1 << 3 | 1 << 6 | 1 << 7 | 0xf << 12 | 1 << 16);

    /* CFA = rsp + 16, rbp below the return address. */
    frame = start;
    assert_int_equal(step(object, f[0].start + 1, &frame), AS_UNWIND_CALLER);
    assert_int_equal(frame.reg[AS_UNWIND_RSP], 0x1010);
    assert_int_equal(frame.reg[AS_UNWIND_RA], 0x101);
    assert_int_equal(frame.reg[AS_UNWIND_RBP], 0x100);

    /* The row of expressions: CFA = *(0x10f8), r14 at CFA + 40, r13 at CFA + 24. */
    stack[31] = 0x1080;
    frame = start;
    uint64_t at = f[0].start + 1 + 70 + 300 + 70000 + 1 + 1;
    assert_int_equal(step(object, at, &frame), AS_UNWIND_CALLER);
    assert_int_equal(frame.reg[AS_UNWIND_RSP], 0x1080);
    assert_int_equal(frame.reg[AS_UNWIND_RA], 0x10f);
    assert_int_equal(frame.reg[AS_UNWIND_RBX], 0x11e);
    assert_int_equal(frame.reg[12], 0x1100 - 24);
    assert_int_equal(frame.reg[13], 0x113);
    assert_int_equal(frame.reg[14], 0x115);

    /* A CFA that leads outside the stack, a register that is not known, an end. */
    frame = start;
    frame.reg[AS_UNWIND_RSP] = 0x9000;
    assert_int_equal(step(object, f[0].start, &frame), AS_UNWIND_NO_MEMORY);
    assert_int_equal(frame.reg[AS_UNWIND_RSP], 0x9000);
    frame.known &= ~(1u << AS_UNWIND_RSP);
    assert_int_equal(step(object, f[0].start, &frame), AS_UNWIND_DAMAGED);
    frame = start;
    stack[0] = 0;
    assert_int_equal(step(object, f[0].start, &frame), AS_UNWIND_OUTERMOST);
    as_object_close(&object);
}

/* The expression of the lazy PLT: past its push, one word more is on the stack. */
static void test_plt(void **state)
{
    (void)state;
    struct as_object *object = open_path(program_build("plt", "-O1 -no-pie -Wl,-z,lazy"));
    const struct as_function *f;
    size_t n, stubs = 0;
    struct as_error err;
    assert_int_equal(as_object_functions(object, false, &f, &n, &err), 0);
    for (size_t i = 0; i < 64; i++)
        stack[i] = 0x100 + i;
    for (size_t i = 0; i < n; i++) {
        if (f[i].origin != AS_FUNCTION_PLT || f[i].start % 16)
            continue;
        const struct as_unwind_row *row = row_at(object, f[i].start);
        if (!row || row->cfa_kind != AS_CFA_EXPRESSION)
            continue; /* .plt.got */
        stubs++;
        for (unsigned at = 0; at < 16; at++) {
            struct as_unwind_frame frame = {.known = 0x1ffff};
            frame.reg[AS_UNWIND_RSP] = 0x1000;
            assert_int_equal(step(object, f[i].start + at, &frame), AS_UNWIND_CALLER);
            assert_int_equal(frame.reg[AS_UNWIND_RA], at < 11 ? 0x100 : 0x101);
        }
    }
    assert_true(stubs > 3);
    as_object_close(&object);
}

/* ---- Threads, damage, memory ----------------------------------------------------------------- */

struct reader {
    struct as_object *object;
    uint64_t sum;
};

static void *ask_all(void *context)
{
    struct reader *reader = context;
    const struct as_unwind_range *range;
    size_t n = as_object_unwind_ranges(reader->object, &range);
    for (size_t i = 0; i < n; i++) {
        const struct as_unwind_row *row = row_at(reader->object, range[i].end - 1);
        reader->sum = reader->sum * 31 + (row ? row->start + row->rule_n : 0);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    struct as_object *object = open_path("/lib/x86_64-linux-gnu/libc.so.6");
    struct reader reader[4];
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) {
        reader[i] = (struct reader){.object = object};
        assert_int_equal(pthread_create(&thread[i], NULL, ask_all, &reader[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(reader[i].sum, reader[0].sum);
    }
    as_object_close(&object);
}

/* Asks for and steps through every row; whatever the bytes say, it ends. */
static void walk(const uint8_t *bytes, size_t n)
{
    uint8_t *copy = malloc(n); /* exact, for the sanitizer */
    struct as_object *object;
    struct as_error err;
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    if (as_object_open_memory(copy, n, "damaged", NULL, &object, &err) == 0) {
        const struct as_unwind_range *range;
        size_t ranges = as_object_unwind_ranges(object, &range);
        for (size_t i = 0; i < ranges; i++) {
            uint64_t at = range[i].start;
            for (unsigned rows = 0; at < range[i].end && rows < 100; rows++) {
                const struct as_unwind_row *row = row_at(object, at);
                if (!row)
                    break;
                struct as_unwind_frame frame = {.known = 0x1ffff};
                frame.reg[AS_UNWIND_RSP] = 0x1000;
                frame.reg[AS_UNWIND_RBP] = 0x1100;
                as_object_unwind_step(object, row, 0, &frame, read_stack, NULL);
                assert_true(row->start + row->size_b > at);
                at = row->start + row->size_b;
            }
        }
    }
    as_object_close(&object);
    free(copy);
}

static void test_damage(void **state)
{
    (void)state;
    size_t n;
    uint8_t *bytes = program_read(program_path("d.so"), &n);
    struct as_object *object = open_path(program_path("d.so"));
    const struct as_section *section, *frames = NULL;
    size_t sections = as_object_sections(object, &section);
    for (size_t i = 1; i < sections; i++)
        if (strcmp(section[i].name, ".eh_frame") == 0)
            frames = &section[i];
    assert_non_null(frames);
    for (uint64_t i = frames->offset; i < frames->offset + frames->size_b; i++)
        for (unsigned c = 0; c < 256; c += c < 32 ? 1 : 29) {
            uint8_t was = bytes[i];
            bytes[i] = (uint8_t)c;
            walk(bytes, n);
            bytes[i] = was;
        }
    uint64_t seed = 88172645463325252u;
    for (unsigned round = 0; round < 2000; round++) {
        uint8_t saved[4096];
        assert_true(frames->size_b < sizeof saved);
        memcpy(saved, bytes + frames->offset, frames->size_b);
        for (unsigned k = 0; k < 6; k++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            bytes[frames->offset + (seed >> 8) % frames->size_b] = (uint8_t)seed;
        }
        walk(bytes, n);
        memcpy(bytes + frames->offset, saved, frames->size_b);
    }
    as_object_close(&object);
    free(bytes);
}

/* A row that cannot be known says so, and those before it stand. */
static void test_bad_instruction(void **state)
{
    (void)state;
    static const char text[] = ".globl f\nf: .cfi_startproc\nnop\n.cfi_def_cfa_offset 16\nnop\n"
                               ".cfi_escape 0x3f\nnop\n.cfi_endproc\n.size f, .-f\n"
                               ".type f, @function\n";
    write_assembly("b.s", "", text);
    program_run("cc -shared -nostdlib -o b.so b.s");
    struct as_object *object = open_path(program_path("b.so"));
    const struct as_function *f;
    size_t n;
    struct as_error err;
    assert_int_equal(as_object_functions(object, false, &f, &n, &err), 0);
    assert_int_equal(row_at(object, f[0].start)->cfa_value, 8);
    assert_int_equal(row_at(object, f[0].start + 1)->cfa_kind, AS_CFA_REGISTER);
    assert_int_equal(row_at(object, f[0].start + 2)->cfa_kind, AS_CFA_NONE);
    struct as_unwind_frame frame = {.known = 0x1ffff};
    assert_int_equal(step(object, f[0].start + 2, &frame), AS_UNWIND_DAMAGED);
    as_object_close(&object);
}

/* After a pop that the rules do not tell, the register itself is the caller's. */
static void test_popped(void **state)
{
    (void)state;
    static const char text[] = ".globl f\nf: .cfi_startproc\nnop\n.cfi_def_cfa_offset 16\n"
                               ".cfi_offset rbp, -16\nnop\n.cfi_def_cfa_offset 8\nnop\n"
                               ".cfi_endproc\n.size f, .-f\n.type f, @function\n";
    write_assembly("pop.s", "", text);
    program_run("cc -shared -nostdlib -o pop.so pop.s");
    struct as_object *object = open_path(program_path("pop.so"));
    uint64_t f = address_of(object, "f");
    struct as_unwind_frame start = {.known = 0x1ffff}, frame;
    start.reg[AS_UNWIND_RSP] = 0x1000; /* nothing can be read below */
    start.reg[AS_UNWIND_RBP] = 0x7777;
    stack[0] = 0x100;
    stack[1] = 0x101;
    frame = start;
    assert_int_equal(step(object, f + 1, &frame), AS_UNWIND_CALLER);
    assert_int_equal(frame.reg[AS_UNWIND_RBP], 0x100);
    frame = start;
    assert_int_equal(step(object, f + 2, &frame), AS_UNWIND_CALLER);
    assert_int_equal(frame.reg[AS_UNWIND_RBP], 0x7777);
    assert_int_equal(frame.reg[AS_UNWIND_RA], 0x100);
    as_object_close(&object);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    const struct as_unwind_row *row = NULL;
    for (int64_t after = 0; !row; after++) {
        struct as_object *object = open_path(program_path("e.so"));
        struct as_error err = {0};
        const struct as_symbol *symbol;
        assert_true(as_object_symbols(object, &symbol) > 0 && after < 100);
        as_alloc_fail_after(after);
        int rc = as_object_unwind_row(object, symbol[0].address, &row, &err);
        as_alloc_fail_after(-1);
        assert_true(rc == AS_ERR_NOMEM || (rc == 0 && row));
        as_object_close(&object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directives),  cmocka_unit_test(test_system_libraries),
        cmocka_unit_test(test_debug_frame), cmocka_unit_test(test_steps),
        cmocka_unit_test(test_plt),         cmocka_unit_test(test_threads),
        cmocka_unit_test(test_damage),      cmocka_unit_test(test_bad_instruction),
        cmocka_unit_test(test_popped),      cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("object/rows", tests, program_setup, program_teardown);
}
