/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proofs from addresses of operands: against arrays of known size, over seeded draws, and against
 * instructions of this very program with made-up registers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sample/operands.h"

#define MIB 1048576.0

static uint64_t draw(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return *random >> 20;
}

/* ---- Reach ---------------------------------------------------------------------------------- */

/* Of 400 recordings of 250 samples of an array of `size_b`: how often more than that is claimed,
 * and what is claimed on average. */
static unsigned claims_too_much(double size_b, double *mean_b)
{
    uint64_t random = 7, address[250];
    unsigned wrong = 0;

    *mean_b = 0;
    for (int run = 0; run < 400; run++) {
        for (int i = 0; i < 250; i++)
            address[i] = (1ull << 32) + draw(&random) % (uint64_t)size_b;
        const struct as_operand_reach it = as_operands_reach(address, 250);
        wrong += it.reach_b > size_b;
        *mean_b += it.reach_b / 400;
    }
    return wrong;
}

static void test_bound(void **state)
{
    double mean_b;

    (void)state;
    assert_in_range(claims_too_much(64 * MIB, &mean_b), 0, 20); /* 5 in 100 */
    assert_true(mean_b > 30 * MIB);
    assert_in_range(claims_too_much(1000 * MIB, &mean_b), 0, 20);
    assert_true(mean_b > 200 * MIB);
    assert_in_range(claims_too_much(8 * MIB, &mean_b), 0, 20);
}

/* A walk that meets itself less often than chance claims no more than lies between its ends. */
static void test_even_walk(void **state)
{
    uint64_t address[200];

    (void)state;
    for (unsigned i = 0; i < 200; i++)
        address[i] = 4096 + (uint64_t)i * 65536;
    const struct as_operand_reach it = as_operands_reach(address, 200);
    assert_true(it.reach_b <= 200 * 65536.0 && it.reach_b > 190 * 65536.0);
}

/* Addresses that stay in a cache are left out; few samples prove nothing. */
static void test_near_and_far(void **state)
{
    uint64_t random = 3, address[256];
    struct as_operand_reach it;

    (void)state;
    for (int i = 0; i < 256; i++)
        address[i] = draw(&random) % 40000;
    it = as_operands_reach(address, 256);
    assert_true(it.reach_b == 0 && it.far == 0);
    for (int i = 0; i < 256; i++)
        address[i] = i % 4 ? draw(&random) % (1u << 30) : 64;
    it = as_operands_reach(address, 256);
    assert_true(it.far > 0.74 && it.far < 0.76);
    assert_true(it.reach_b > 100 * MIB && it.reach_b < 1024 * MIB);
    for (int i = 0; i < 19; i++)
        address[i] = draw(&random);
    assert_true(as_operands_reach(address, 19).reach_b == 0);
}

/* ---- Instructions --------------------------------------------------------------------------- */

extern const char walk_plain[], walk_indexed[], walk_later[], walk_changed[], walk_stack[],
    walk_no[], walk_before[], walk_chased[];
extern const char __executable_start[];
__asm__(".text\n"
        "walk_plain: mov 8(%rdx), %rax\n ret\n"
        "walk_indexed: addsd (%rsi,%rcx,8), %xmm0\n ret\n"
        "walk_later: addsd %xmm1, %xmm0\n movsd %xmm0, (%rdi,%rax)\n ret\n"
        "walk_changed: add $8, %rdi\n movsd %xmm0, (%rdi)\n ret\n"
        ".skip 96, 0x90\n"
        "mov (%rbx,%r9,4), %eax\n walk_before: add %eax, %ecx\n ret\n"
        ".skip 96, 0x90\n"
        "mov (%rbx), %rbx\n walk_chased: add %eax, %ecx\n ret\n"
        "walk_stack: mov 16(%rsp), %rax\n ret\n"
        "walk_no: ret\n");

struct stage {
    struct as_operands *operands;
    struct as_object *object;
    uint64_t regs[17];
};

static uint64_t offset_of(const struct stage *s, const char *place)
{
    const uint64_t address = (uint64_t)(place - __executable_start);
    const struct as_segment *segment;
    const size_t n = as_object_segments(s->object, &segment);

    for (size_t i = 0; i < n; i++)
        if (address - segment[i].address < segment[i].file_b)
            return address - segment[i].address + segment[i].offset;
    fail_msg("this program has no such place");
    return 0;
}

/* A hundred samples at `place`, register `number` of DWARF 1 MiB on in each, from 1 GiB. */
static void walk(struct stage *s, const char *place, int number)
{
    const struct as_frame frame = {.module = 3, .address = offset_of(s, place)};

    for (unsigned i = 0; i < 100; i++) {
        const struct as_sample_record sample = {
            .pid = 5, .tid = 6, .time_ns = 1000 + i, .regs = s->regs};

        s->regs[number] = (1u << 30) + (uint64_t)i * (1u << 20);
        assert_int_equal(as_operands_add(s->operands, s->object, frame, &sample), 0);
    }
    s->regs[number] = 0;
}

/* Writes the facts on `place` at the end of the stream: "" for none. */
static void told(const char *path, uint64_t offset, char *out, size_t n)
{
    struct as_stream_record record;
    struct as_stream *stream;
    char want[64];

    out[0] = 0;
    snprintf(want, sizeof want, "3 %llu ", (unsigned long long)offset);
    assert_int_equal(as_stream_open(path, &stream, NULL), 0);
    while (as_stream_next(stream, &record, NULL) > 0)
        if (record.kind == AS_STREAM_PROCESS && strcmp(record.text, "operands") == 0 &&
            strncmp(record.value, want, strlen(want)) == 0)
            snprintf(out, n, "%s", record.value + strlen(want));
    as_stream_close(&stream);
}

static void test_instructions(void **state)
{
    struct stage s = {0};
    struct as_writer *writer;
    char path[] = "/tmp/assay-operands-XXXXXX", text[160];
    uint64_t at[8];

    (void)state;
    assert_true(mkdtemp(path) != NULL);
    char stream[64];
    snprintf(stream, sizeof stream, "%s/s", path);
    assert_int_equal(as_object_open("/proc/self/exe", NULL, &s.object, NULL), 0);
    assert_int_equal(as_operands_new(1000, true, &s.operands), 0);
    walk(&s, walk_plain, 1); /* rdx, the third register of the CPU's order */
    s.regs[2] = 1;           /* rcx: as good as none */
    walk(&s, walk_indexed, 4);
    walk(&s, walk_later, 5);
    walk(&s, walk_before, 3);
    walk(&s, walk_changed, 5);
    walk(&s, walk_chased, 3);
    walk(&s, walk_stack, 7);
    walk(&s, walk_no, 5);
    const char *const place[] = {walk_plain,   walk_indexed, walk_later, walk_before,
                                 walk_changed, walk_stack,   walk_no,    walk_chased};
    for (int i = 0; i < 8; i++)
        at[i] = offset_of(&s, place[i]);
    assert_int_equal(as_writer_new(stream, &writer, NULL), 0);
    const struct as_spaces spaces = {0};
    assert_int_equal(as_operands_write(s.operands, &spaces, writer), 0);
    assert_int_equal(as_writer_finish(&writer, NULL), 0);
    for (int i = 0; i < 4; i++) { /* 64 KiB * 4950 pairs / 3.96 of 99 MiB; a MiB a millisecond */
        static const char *const later[] = {"0", "0", "4", "-4"};
        char want[64];

        snprintf(want, sizeof want, "%s 100 81920000 1.000 1048576000 1.000", later[i]);
        told(stream, at[i], text, sizeof text);
        assert_string_equal(text, want);
    }
    for (int i = 4; i < 8; i++) {
        told(stream, at[i], text, sizeof text);
        assert_string_equal(text, "");
    }
    as_operands_free(&s.operands);
    as_object_close(&s.object);
    unlink(stream);
    rmdir(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_even_walk),
        cmocka_unit_test(test_near_and_far),
        cmocka_unit_test(test_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
