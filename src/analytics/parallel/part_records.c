/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/parallel/part_records.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"

/* Numbers of a record, by kind: of its key, of its fields. */
#define AS_PART_SHAPE(KIND, name, key_n)                                                           \
    [AS_PART_##KIND] = {(key_n), (uint8_t)(sizeof(struct as_part_##name) / sizeof(int64_t))},
static const struct {
    uint8_t key_n, fields_n;
} part_shape[AS_PART_KINDS_N] = {AS_PART_RECORDS(AS_PART_SHAPE)};
#undef AS_PART_SHAPE

struct as_part_key as_part_key_of(const struct as_shuffle_record *record)
{
    return (struct as_part_key){record->field[0], (uint32_t)record->field[1],
                                (uint64_t)record->field[2]};
}

struct as_shuffle_record as_part_pack(const struct as_part_key *key, enum as_part_kind kind,
                                      const void *fields)
{
    const unsigned key_n = part_shape[kind].key_n, fields_n = part_shape[kind].fields_n;
    assert(kind < AS_PART_KINDS_N && key_n + fields_n <= AS_SHUFFLE_FIELDS_N);
    struct as_shuffle_record record = {.kind = (uint8_t)kind, .n = (uint8_t)(key_n + fields_n)};
    assert((key != NULL) == (key_n > 0));
    if (key) {
        record.field[0] = key->ns;
        record.field[1] = key->location;
        record.field[2] = (int64_t)key->step;
    }
    memcpy(record.field + key_n, fields, fields_n * sizeof *record.field);
    return record;
}

int as_part_unpack(const struct as_shuffle_record *record, enum as_part_kind kind, void *fields)
{
    const unsigned key_n = part_shape[kind].key_n, fields_n = part_shape[kind].fields_n;
    assert(kind < AS_PART_KINDS_N);
    if (record->kind != kind || record->n != key_n + fields_n)
        return AS_ERR_CORRUPT;
    memcpy(fields, record->field + key_n, fields_n * sizeof *record->field);
    return 0;
}
