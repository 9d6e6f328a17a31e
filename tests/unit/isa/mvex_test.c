/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of Knights Corner: instructions in its code alone, whatever was decoded before.
 */
#include "../base/unit.h"

#include "isa/isa.h"

#define KNC_ADD     "\x62\xf1\x70\x08\x58\xc2" /* vaddps zmm0,zmm1,zmm2 */
#define KNC_MASKED  "\x62\xf1\x70\x09\x58\xc2" /* zmm0 {k1} */
#define KNC_FMA     "\x62\xf2\x71\x08\xb8\xc2" /* vfmadd231ps zmm0,zmm1,zmm2 */
#define KNC_CARRIES "\x62\xf2\x79\x08\x5c\xc2" /* vpadcd zmm0,k0,zmm2 */
#define KNC_STORE   "\x62\xf1\x78\x08\x29\x06" /* vmovaps [rsi],zmm0 */

static const struct as_form *form_of(const char *bytes, bool k1om, struct as_insn *insn)
{
    const struct as_bytes range = {
        .bytes = (const uint8_t *)bytes, .size_b = 6, .address = 0x1000, .k1om = k1om};
    struct as_code code;
    struct as_error err;
    assert_int_equal(as_decode_ranges(&range, 1, &code, NULL, &err), 0);
    *insn = code.insn[0];
    as_code_free(&code);
    return as_form_get(insn->form);
}

static void decoded_in_its_code_alone(void **state)
{
    struct as_insn insn;
    char text[64];
    (void)state;
    for (int again = 0; again < 2; again++) {
        const struct as_form *form = form_of(KNC_ADD, true, &insn);
        assert_string_equal(form->mnemonic, "vaddps");
        assert_int_equal(insn.length, 6);
        assert_int_equal(form->flops, 16);
        assert_int_equal(insn.mask, AS_REG_NONE);
        form_of(KNC_ADD, false, &insn);
        assert_true(insn.bits & AS_INSN_INVALID);
    }
    as_insn_format((const uint8_t *)KNC_ADD, 6, 0, AS_SYNTAX_INTEL, text, sizeof text);
    assert_string_equal(text, "vaddps zmm0, zmm1, zmm2");
}

/* By the ISA manual (327364): k0 masks nothing; what is added to is read. */
static void destinations_are_read_where_they_are_sources(void **state)
{
    struct as_insn insn;
    (void)state;
    assert_int_equal(form_of(KNC_ADD, true, &insn)->operand[0].access, AS_ACCESS_WRITE);
    assert_true(form_of(KNC_MASKED, true, &insn)->operand[0].access & AS_ACCESS_READ);
    assert_int_equal(insn.mask, AS_REG_MASK + 1);
    assert_int_equal(form_of(KNC_FMA, true, &insn)->operand[0].access,
                     AS_ACCESS_READ | AS_ACCESS_WRITE);
    assert_string_equal(form_of(KNC_CARRIES, true, &insn)->mnemonic, "vpadcd");
    assert_true(form_of(KNC_CARRIES, true, &insn)->operand[0].access & AS_ACCESS_READ);
    assert_int_equal(form_of(KNC_STORE, true, &insn)->operand[0].access, AS_ACCESS_WRITE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoded_in_its_code_alone),
        cmocka_unit_test(destinations_are_read_where_they_are_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
