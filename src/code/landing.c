/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads exception tables (.gcc_except_table), which list the calls that may continue at a landing
 * pad. Only the call-site part is read; actions and types do not change the flow. Source: Itanium
 * C++ ABI, exception handling tables; DW_EH_PE encodings of the LSB core.
 */
#include "base/read.h"
#include "code/internal.h"

#define ENC_OMIT     0xff
#define ENC_FORM     0x0f
#define ENC_ULEB     0x01
#define ENC_UDATA2   0x02
#define ENC_UDATA4   0x03
#define ENC_UDATA8   0x04
#define ENC_SLEB     0x09
#define ENC_SDATA2   0x0a
#define ENC_SDATA4   0x0b
#define ENC_SDATA8   0x0c
#define ENC_RELATIVE 0x70
#define ENC_PCREL    0x10

/* Reads one encoded number. `address` is the address of the first byte of the table. */
static uint64_t encoded(struct as_read *r, uint8_t encoding, uint64_t address)
{
    uint64_t at = address + as_read_offset(r);
    uint64_t base = (encoding & ENC_RELATIVE) == ENC_PCREL ? at : 0;
    switch (encoding & ENC_FORM) {
    case ENC_ULEB:
        return base + as_read_uleb(r);
    case ENC_UDATA2:
        return base + as_read_u16(r);
    case ENC_UDATA4:
        return base + as_read_u32(r);
    case ENC_SLEB:
        return base + (uint64_t)as_read_sleb(r);
    case ENC_SDATA2:
        return base + (uint64_t)(int64_t)as_read_i16(r);
    case ENC_SDATA4:
        return base + (uint64_t)(int64_t)as_read_i32(r);
    case 0:
    case ENC_UDATA8:
    case ENC_SDATA8:
        return base + as_read_u64(r);
    default:
        as_read_fail(r);
        return 0;
    }
}

int as_landings_read(const struct as_builder *b, const struct as_region *region, as_landings *out)
{
    uint64_t size_b = 0;
    const uint8_t *bytes = as_object_bytes(b->object, region->lsda, &size_b);
    if (!bytes)
        return 0;
    struct as_read r = as_read_of(bytes, (size_t)size_b);
    uint64_t pads = region->start;
    uint8_t encoding = as_read_u8(&r);
    if (encoding != ENC_OMIT)
        pads = encoded(&r, encoding, region->lsda);
    if (as_read_u8(&r) != ENC_OMIT)
        (void)as_read_uleb(&r); /* distance to the type table */
    encoding = as_read_u8(&r);
    uint64_t table_b = as_read_uleb(&r);
    struct as_read sites = as_read_sub(&r, table_b);
    while (!sites.bad && as_read_left(&sites)) {
        uint64_t start = encoded(&sites, encoding, 0);
        uint64_t length = encoded(&sites, encoding, 0);
        uint64_t pad = encoded(&sites, encoding, 0);
        (void)as_read_uleb(&sites); /* action */
        if (sites.bad || pad == 0)
            continue;
        AS_TRY(as_vec_push(out, (struct as_landing){.start = region->start + start,
                                                    .end = region->start + start + length,
                                                    .pad = pads + pad}));
    }
    return 0;
}
