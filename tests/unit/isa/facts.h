/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line that says everything the room knows of one encoding; shared by the tests of isa/.
 */
#ifndef TEST_ISA_FACTS_H
#define TEST_ISA_FACTS_H

#include "isa/isa.h"

/* Bytes of hexadecimal text ("0f 58 c1", spaces optional) up to '|' or the end; returns how many.
 */
size_t facts_bytes(const char *hex, uint8_t *out, size_t max);

/* Facts of the first instruction of `bytes`, in `buf`; the words are those of the headers. */
void facts_line(const uint8_t *bytes, size_t n, char *buf, size_t buf_b);

#endif
