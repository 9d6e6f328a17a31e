/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the key `roofline`: points of counted loops and functions, and ceilings of the machine. */
#include "roofline/roofline.h"

#include <math.h>

#include "base/error.h"
#include "report/data.h"

static void write_finite(struct as_json *json, const char *key, double value)
{
    as_json_key(json, key);
    if (isfinite(value))
        as_json_double(json, value);
    else
        as_json_null(json);
}

static void write_roofs(struct as_json *json, const struct as_roof *roof, size_t n, unsigned core_n)
{
    for (size_t i = 0; i < n; i++) {
        as_json_object_begin(json);
        as_json_key_string(json, "name", roof[i].name);
        as_json_key_bool(json, "is_bandwidth", roof[i].is_bandwidth);
        as_json_key_bool(json, "is_huge", roof[i].is_huge);
        as_json_key_double(json, "value", roof[i].value);
        as_json_key_u64(json, "core_n", core_n);
        as_json_object_end(json);
    }
}

static void write_marks(struct as_json *json, unsigned marks)
{
    const char *word;
    as_json_key(json, "marks");
    as_json_array_begin(json);
    for (unsigned bit = 0; (word = as_roof_mark_word(bit)); bit++)
        if (marks >> bit & 1)
            as_json_string(json, word);
    as_json_array_end(json);
}

static void write_point(struct as_json *json, const struct as_roof_point *it)
{
    const bool has_flops = it->flops > 0;
    as_json_object_begin(json);
    as_json_key_string(json, "kind", as_object_word(it->kind));
    as_json_key_i64(json, "id", it->id);
    as_json_key_string(json, "name", it->name);
    as_json_key_i64(json, "parent_id", it->parent_id);
    as_json_key_i64(json, "function_id", it->function_id);
    as_json_key_double(json, "share", it->share);
    as_json_key_double(json, "time_s", it->time_s);
    as_json_key_i64(json, "sample_n", it->sample_n);
    as_json_key_double(json, "core_n", it->core_n);
    as_json_key_double(json, "flop_n", it->flops);
    as_json_key_double(json, "load_b", it->load_b);
    as_json_key_double(json, "store_b", it->store_b);
    as_json_key_double(json, "int_op_n", it->int_ops);
    write_finite(json, "intensity", it->intensity);
    write_finite(json, "flop_s", has_flops ? it->flop_s : (double)NAN);
    write_finite(json, "flop_s_low", has_flops ? it->flop_s_low : (double)NAN);
    write_finite(json, "flop_s_high", has_flops ? it->flop_s_high : (double)NAN);
    write_finite(json, "byte_s", it->byte_s);
    write_finite(json, "bytes_l2_l1", it->level_b[AS_ROOF_L2]);
    write_finite(json, "bytes_l3_l2", it->level_b[AS_ROOF_L3]);
    write_finite(json, "bytes_memory", it->level_b[AS_ROOF_MEMORY]);
    as_json_key_string(json, "vector", as_roof_vector_word(it->vector));
    as_json_key_double(json, "packed_share", it->packed_share);
    as_json_key_double(json, "single_share", it->single_share);
    as_json_key_string(json, "roof", it->roof.value > 0 ? it->roof.name : "");
    write_finite(json, "roof_share", it->roof.value > 0 ? it->roof_share : (double)NAN);
    write_finite(json, "headroom_x", it->headroom_x);
    write_finite(json, "huge_x", it->roof.value > 0 ? it->huge_x : (double)NAN);
    write_marks(json, it->marks);
    as_json_object_end(json);
}

static void write_roofline(struct as_json *json, const struct as_roofline *it)
{
    as_json_object_begin(json);
    as_json_key_u64(json, "core_n", it->core_n);
    as_json_key_double(json, "counted_share", it->counted_share);
    as_json_key_double(json, "waiting_share", it->waiting_share);
    as_json_key_bool(json, "external_load", it->is_busy);
    as_json_key_bool(json, "has_levels", it->has_levels);
    write_finite(json, "huge_share", it->huge_share);
    as_json_key(json, "roofs");
    as_json_array_begin(json);
    write_roofs(json, it->one, it->one_n, 1);
    write_roofs(json, it->all, it->all_n, it->core_n);
    as_json_array_end(json);
    as_json_key(json, "points");
    as_json_array_begin(json);
    for (size_t i = 0; i < it->point_n; i++)
        write_point(json, &it->point[i]);
    as_json_array_end(json);
    as_json_object_end(json);
}

int as_data_roofline(struct as_document *document, struct as_error *err)
{
    struct as_roofline *roofline = NULL;
    const int rc = as_roofline_read(document->experiment, document->run_id, NULL, &roofline, err);
    if (rc < 0 && rc != AS_ERR_NOT_FOUND)
        return rc;
    as_json_key(&document->json, "roofline");
    if (roofline)
        write_roofline(&document->json, roofline);
    else
        as_json_null(&document->json);
    as_roofline_free(&roofline);
    return 0;
}
