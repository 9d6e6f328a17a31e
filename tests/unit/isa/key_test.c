/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of forms: one key a form and one form a key, on random bytes and on a whole compiler; the
 * same as what the decoder library says of mnemonic and operands; and independent of what was
 * decoded before, and by how many threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

#include "base/map.h"
#include "base/str.h"
#include "isa/internal.h"

/* ---- Bytes --------------------------------------------------------------------------------- */

struct range {
    const uint8_t *p;
    size_t n;
};

enum { RANDOM_B = 200000, PART_B = 1 << 16 };

/* Random, with starts that random bytes seldom hit. */
static void fill_random(uint8_t *bytes, uint64_t *x)
{
    static const uint8_t starts[] = {0x62, 0xc4, 0xc5, 0x66, 0xf2, 0xf3, 0x48, 0x0f,
                                     0x67, 0x64, 0x8f, 0x62, 0x65, 0x62, 0x0f, 0xf0};
    for (size_t i = 0; i < RANDOM_B; i++) {
        *x ^= *x << 13;
        *x ^= *x >> 7;
        *x ^= *x << 17;
        bytes[i] = i % 7 ? (uint8_t)(*x >> 32) : starts[*x >> 40 & 15];
    }
}

/* The executable segment of the compiler proper: megabytes of code of all kinds. */
static struct range big_code(void)
{
    char path[512] = "";
    FILE *f = popen("gcc -print-prog-name=cc1", "r");
    if (f) {
        if (!fgets(path, sizeof path, f))
            path[0] = 0;
        pclose(f);
    }
    path[strcspn(path, "\n")] = 0;
    const int fd = open(path[0] == '/' ? path : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat st;
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    const uint8_t *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    assert_ptr_not_equal(file, MAP_FAILED);
    const Elf64_Ehdr *header = (const void *)file;
    const Elf64_Phdr *ph = (const void *)(file + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (ph[i].p_type == PT_LOAD && ph[i].p_flags & PF_X)
            return (struct range){file + ph[i].p_offset, ph[i].p_filesz};
    fail_msg("%s has no code", path);
    return (struct range){0};
}

/* ---- Words --------------------------------------------------------------------------------- */

static void expect_text(const char *hex, const char *expected)
{
    uint8_t bytes[15];
    const size_t n = as_hex_get(hex, bytes, sizeof bytes);
    char text[AS_FORM_TEXT_B];
    struct as_code code;
    assert_int_equal(as_decode(bytes, n, 0x1000, &code, NULL), 0);
    assert_int_equal(code.n, 1);
    const struct as_form *form = as_form_get(code.insn[0].form);
    const int length = as_form_text(form, text, sizeof text);
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(text));
    as_code_free(&code);
}

static void words(void **state)
{
    char small[8];
    (void)state;
    expect_text("c4e2f5b806", "vfmadd231pd ymm,ymm,m256");
    expect_text("c4e2f5b8c2", "vfmadd231pd ymm,ymm,ymm");
    expect_text("62f2f558b806", "vfmadd231pd zmm,zmm,m64 {evex} {broadcast}");
    expect_text("62f2f529b8c2", "vfmadd231pd ymm,ymm,ymm {evex} {k}");
    expect_text("62f2f5a9b8c2", "vfmadd231pd ymm,ymm,ymm {evex} {k} {z}");
    expect_text("4801d8", "add r64,r64");
    expect_text("480305aabbcc00", "add r64,m64 {rip}");
    expect_text("f0480107", "lock add m64,r64");
    expect_text("48d3e0", "shl r64,cl");
    expect_text("48d1e0", "shl r64,1");
    expect_text("48c1e003", "shl r64,imm8");
    expect_text("f348a5", "rep movsq");
    expect_text("c4e1fb92c8", "kmovq k,r64"); /* three forms of one mnemonic and one width */
    expect_text("c4e1fb93c1", "kmovq r64,k");
    expect_text("c4e1f890ca", "kmovq k,k");
    expect_text("7405", "jz rel8");
    expect_text("0f8405000000", "jz rel32");
    expect_text("488d04c8", "lea r64,address64");
    expect_text("06", "(bad)");
    /* Tables are made of these numbers: they may never change. */
    assert_true(as_form_key(as_form_get(0)) == 0x5503c4ec6bf57579u);
    assert_int_equal(as_form_text(as_form_get(0), small, 4), 3);
    assert_string_equal(small, "(ba");
}

/* ---- One key a form ------------------------------------------------------------------------ */

/* All forms there are so far: distinct words, distinct numbers. Returns how many. */
static size_t check_distinct(void)
{
    const size_t n = as_form_count();
    char(*text)[AS_FORM_TEXT_B] = calloc(n, sizeof *text);
    struct as_map_view by_text;
    struct as_map_u64 by_key;
    assert_non_null(text);
    as_map_view_init(&by_text);
    as_map_u64_init(&by_key);
    for (uint32_t i = 0; i < n; i++) {
        const struct as_form *form = as_form_get((uint16_t)i);
        const int length = as_form_text(form, text[i], sizeof text[i]);
        if (length + 1 >= AS_FORM_TEXT_B)
            fail_msg("'%s' is cut", text[i]);
        if (as_map_view_get(&by_text, as_view_of(text[i])) != AS_MAP_NONE)
            fail_msg("two forms are '%s'", text[i]);
        if (as_map_u64_get(&by_key, as_form_key(form)) != AS_MAP_NONE)
            fail_msg("two forms have the key of '%s'", text[i]);
        assert_int_equal(as_map_view_put(&by_text, as_view_of(text[i]), i), 0);
        assert_int_equal(as_map_u64_put(&by_key, as_form_key(form), i), 0);
    }
    as_map_view_fini(&by_text);
    as_map_u64_fini(&by_key);
    free(text);
    return n;
}

static void distinct(void **state)
{
    static uint8_t bytes[RANDOM_B];
    uint64_t x = 88172645463325252u;
    struct as_code code;
    (void)state;
    for (int round = 0; round < 60; round++) {
        fill_random(bytes, &x);
        assert_int_equal(as_decode(bytes, sizeof bytes, 0x1000, &code, NULL), 0);
        as_code_free(&code);
    }
    const size_t n = check_distinct();
    print_message("# %zu forms\n", n);
    assert_true(n > 3000);
}

/* ---- Against the decoder library ----------------------------------------------------------- */

struct words {
    char p[512];
    size_t n;
};

static void add(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct words *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    w->n += (size_t)vsnprintf(w->p + w->n, sizeof w->p - w->n, format, args);
    va_end(args);
    assert_true(w->n < sizeof w->p);
}

static void add_operand(struct words *w, const ZydisDecodedOperand *o)
{
    const bool is_implicit = o->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT;
    switch (o->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER:
        add(w, " r%d", (int)ZydisRegisterGetClass(o->reg.value));
        if (is_implicit)
            add(w, "=%d", (int)o->reg.value);
        break;
    case ZYDIS_OPERAND_TYPE_MEMORY:
        add(w, " m%d/%u%s", (int)o->mem.type, o->size,
            o->mem.base == ZYDIS_REGISTER_RIP ? "rip" : "");
        break;
    default:
        add(w, " i%u%s", o->size, o->imm.is_relative ? "rel" : "");
        if (is_implicit)
            add(w, "=%d", (int)o->imm.value.u);
    }
}

/* Writes the form of an instruction in words of the decoder library: mnemonic, prefixes, mask,
 * operands. Two instructions of one form have equal words. */
static void signature(const uint8_t *bytes, size_t n, struct words *w)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    w->n = 0;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, n, &insn, ops)) ||
        insn.encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX) {
        add(w, "bad");
        return;
    }
    add(w, "%d %d", (int)insn.encoding, (int)insn.mnemonic);
    add(w, " %d%d", !!(insn.attributes & ZYDIS_ATTRIB_HAS_LOCK),
        !!(insn.attributes &
           (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)));
    add(w, " k%d b%d", (int)insn.avx.mask.mode,
        insn.avx.broadcast.mode && !insn.avx.broadcast.is_static);
    for (unsigned i = 0; i < insn.operand_count; i++) {
        const ZydisDecodedOperand *o = &ops[i];
        const bool is_hidden_memory = o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
                                      o->visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT;
        if (is_hidden_memory) /* of strings and the stack: width, and what prefixes change */
            add(w, " [%d %d %u]", (int)o->mem.base, (int)o->mem.segment, o->size);
        else if (o->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
                 o->encoding != ZYDIS_OPERAND_ENCODING_MASK)
            add_operand(w, o);
    }
}

struct pairing {
    struct as_map_u64 of_key;        /* key -> index of its signature */
    struct as_map_view of_signature; /* the other way */
    char (*text)[512];
    size_t n, cap;
};

static void pair_up(struct pairing *p, const struct as_form *form, const struct words *w)
{
    char text[AS_FORM_TEXT_B];
    const uint64_t key = as_form_key(form);
    const uint32_t known = as_map_u64_get(&p->of_key, key);
    const uint32_t same = as_map_view_get(&p->of_signature, as_view_of(w->p));
    if (known != AS_MAP_NONE && known == same)
        return;
    as_form_text(form, text, sizeof text);
    if (known != AS_MAP_NONE)
        fail_msg("'%s' is %s and %s", text, p->text[known], w->p);
    if (same != AS_MAP_NONE)
        fail_msg("%s is '%s' and another form", w->p, text);
    assert_true(p->n < p->cap);
    strcpy(p->text[p->n], w->p);
    assert_int_equal(as_map_u64_put(&p->of_key, key, (uint32_t)p->n), 0);
    assert_int_equal(as_map_view_put(&p->of_signature, as_view_of(p->text[p->n]), (uint32_t)p->n),
                     0);
    p->n++;
}

static void library_agrees(void **state)
{
    const struct range big = big_code();
    struct pairing p = {.cap = 1 << 16};
    struct as_code code;
    struct words w;
    (void)state;
    p.text = calloc(p.cap, sizeof *p.text);
    assert_non_null(p.text);
    as_map_u64_init(&p.of_key);
    as_map_view_init(&p.of_signature);
    assert_int_equal(as_decode(big.p, big.n, 0, &code, NULL), 0);
    for (size_t i = 0; i < code.n; i++) {
        const uint64_t at = code.insn[i].address;
        signature(big.p + at, big.n - at < 15 ? big.n - at : 15, &w);
        pair_up(&p, as_form_get(code.insn[i].form), &w);
    }
    assert_true(p.n > 300);
    assert_true(check_distinct() > p.n);
    as_code_free(&code);
    as_map_u64_fini(&p.of_key);
    as_map_view_fini(&p.of_signature);
    free(p.text);
}

/* ---- Order and threads --------------------------------------------------------------------- */

struct sums {
    uint64_t keys, numbers;
};

static uint64_t mix(uint64_t sum, uint64_t value)
{
    return (sum ^ value) * 1099511628211u;
}

struct part_work {
    struct range all;
    size_t first, step;
    struct sums *sum; /* by part */
};

/* Every step-th part, each from its own start. */
static void *decode_parts(void *context)
{
    const struct part_work *w = context;
    const size_t parts = w->all.n / PART_B;
    for (size_t i = w->first; i < parts; i += w->step) {
        struct as_code code;
        struct sums sum = {1, 1};
        const size_t at = (parts - 1 - i) * PART_B; /* from the end */
        if (as_decode(w->all.p + at, PART_B, 0, &code, NULL) < 0)
            return (void *)1;
        for (size_t k = 0; k < code.n; k++) {
            sum.keys = mix(sum.keys, as_form_key(as_form_get(code.insn[k].form)));
            sum.numbers = mix(sum.numbers, code.insn[k].form);
        }
        w->sum[parts - 1 - i] = sum;
        as_code_free(&code);
    }
    return NULL;
}

static struct sums decode_all(struct range all, size_t threads, bool after_others)
{
    pthread_t thread[4];
    struct part_work work[4];
    struct sums *part = calloc(all.n / PART_B + 1, sizeof *part), sum = {1, 1};
    if (after_others) {
        static uint8_t bytes[RANDOM_B];
        struct as_code code;
        uint64_t x = 2463534242u;
        fill_random(bytes, &x);
        if (as_decode(bytes, sizeof bytes, 0, &code, NULL) == 0)
            as_code_free(&code);
    }
    for (size_t i = 0; i < threads; i++) {
        work[i] = (struct part_work){all, i, threads, part};
        pthread_create(&thread[i], NULL, decode_parts, &work[i]);
    }
    for (size_t i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    for (size_t i = 0; i < all.n / PART_B; i++) {
        sum.keys = mix(sum.keys, part[i].keys);
        sum.numbers = mix(sum.numbers, part[i].numbers);
    }
    free(part);
    return sum;
}

/* In a process that has decoded nothing yet. */
static struct sums decode_apart(struct range all, size_t threads, bool after_others)
{
    int fd[2], status;
    struct sums sum = {0};
    assert_int_equal(pipe(fd), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        sum = decode_all(all, threads, after_others);
        _exit(write(fd[1], &sum, sizeof sum) != sizeof sum);
    }
    close(fd[1]);
    assert_int_equal(read(fd[0], &sum, sizeof sum), sizeof sum);
    close(fd[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    return sum;
}

static void independent(void **state)
{
    struct range some = big_code();
    (void)state;
    assert_int_equal(as_form_count(), 1); /* else the processes below are not fresh */
    if (some.n > 4 << 20)
        some.n = 4 << 20;
    const struct sums alone = decode_apart(some, 1, false);
    const struct sums later = decode_apart(some, 1, true);
    const struct sums many = decode_apart(some, 4, true);
    assert_true(alone.keys == later.keys);
    assert_true(alone.keys == many.keys);
    assert_true(alone.numbers != later.numbers); /* it could have been otherwise */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent), /* first: nothing is decoded yet */
        cmocka_unit_test(words),
        cmocka_unit_test(library_agrees),
        cmocka_unit_test(distinct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
