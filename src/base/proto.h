/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the wire format of protocol buffers (protobuf.dev/programming-guides/encoding), as far as
 * pprof and Perfetto need it: numbers, packed numbers, texts and messages. The number 0 is not
 * written, because a missing field means 0.
 */
#ifndef AS_BASE_PROTO_H
#define AS_BASE_PROTO_H

#include <stdint.h>

#include "base/str.h"

static inline void as_proto_varint(struct as_str *out, uint64_t v)
{
    char bytes[10];
    size_t n = 0;

    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (char)(v | 0x80);
    bytes[n++] = (char)v;
    as_str_append(out, bytes, n);
}

static inline void as_proto_number(struct as_str *out, unsigned field, uint64_t v)
{
    if (!v)
        return;
    as_proto_varint(out, (uint64_t)field << 3);
    as_proto_varint(out, v);
}

/* Writes a text, a message or packed numbers. */
static inline void as_proto_bytes(struct as_str *out, unsigned field, const char *p, size_t n)
{
    as_proto_varint(out, (uint64_t)field << 3 | 2);
    as_proto_varint(out, n);
    as_str_append(out, p, n);
}

static inline void as_proto_message(struct as_str *out, unsigned field, const struct as_str *inner)
{
    as_proto_bytes(out, field, as_str_z(inner), inner->n);
}

#endif
