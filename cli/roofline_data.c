/* SPDX-License-Identifier: Apache-2.0 */
/* A roofline as JSON and CSV. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "compared.h"
#include "roofline_view.h"
#include "sheet.h"

static const struct as_field point_fields[] = {
    {"kind", NULL, 0},        {"id", NULL, 0},           {"name", NULL, 0},
    {"address", NULL, 0},     {"depth", NULL, 0},        {"share", NULL, 0},
    {"time_s", NULL, 0},      {"sample_n", NULL, 0},     {"core_n", NULL, 0},
    {"flop_n", NULL, 0},      {"load_b", NULL, 0},       {"store_b", NULL, 0},
    {"int_op_n", NULL, 0},    {"intensity", NULL, 0},    {"flop_s", NULL, 0},
    {"flop_s_low", NULL, 0},  {"flop_s_high", NULL, 0},  {"byte_s", NULL, 0},
    {"bytes_l2_l1", NULL, 0}, {"bytes_l3_l2", NULL, 0},  {"bytes_memory", NULL, 0},
    {"vector", NULL, 0},      {"packed_share", NULL, 0}, {"single_share", NULL, 0},
    {"roof", NULL, 0},        {"roof_at", NULL, 0},      {"roof_share", NULL, 0},
    {"attainable", NULL, 0},  {"headroom_x", NULL, 0},   {"huge_x", NULL, 0},
    {"marks", NULL, 0}};
enum { POINT_FIELDS = sizeof point_fields / sizeof *point_fields };

struct point_rows {
    const struct as_roofline *it;
    struct as_str marks;
};

static struct as_cell finite_cell(double value)
{
    return isfinite(value) ? as_cell_real(value) : (struct as_cell){0};
}

static struct as_cell marks_cell(struct point_rows *rows, unsigned marks)
{
    const char *word;
    as_str_clear(&rows->marks);
    for (unsigned bit = 0; (word = as_roof_mark_word(bit)); bit++)
        if (marks >> bit & 1)
            as_str_appendf(&rows->marks, "%s%s", rows->marks.n ? "\n" : "", word);
    return as_cell_list(as_str_z(&rows->marks));
}

static void fill_point(void *context, size_t row, struct as_cell *cell)
{
    struct point_rows *rows = context;
    const struct as_roof_point *it = &rows->it->point[row];
    const bool has_flops = it->flops > 0;
    size_t n = 0;
    cell[n++] = as_cell_text(as_object_word(it->kind));
    cell[n++] = as_cell_signed(it->id);
    cell[n++] = as_cell_text(it->name);
    cell[n++] = it->kind == AS_OBJECT_RUN ? (struct as_cell){0} : as_cell_hex(it->address);
    cell[n++] = it->kind == AS_OBJECT_LOOP ? as_cell_count(it->depth) : (struct as_cell){0};
    cell[n++] = as_cell_real(it->share);
    cell[n++] = as_cell_real(it->time_s);
    cell[n++] = as_cell_signed(it->sample_n);
    cell[n++] = as_cell_real(it->core_n);
    cell[n++] = as_cell_real(it->flops);
    cell[n++] = as_cell_real(it->load_b);
    cell[n++] = as_cell_real(it->store_b);
    cell[n++] = as_cell_real(it->int_ops);
    cell[n++] = finite_cell(it->intensity);
    cell[n++] = has_flops ? finite_cell(it->flop_s) : (struct as_cell){0};
    cell[n++] = has_flops ? finite_cell(it->flop_s_low) : (struct as_cell){0};
    cell[n++] = has_flops ? finite_cell(it->flop_s_high) : (struct as_cell){0};
    cell[n++] = finite_cell(it->byte_s);
    for (unsigned level = AS_ROOF_L2; level < AS_ROOF_LEVELS; level++)
        cell[n++] = finite_cell(it->level_b[level]);
    cell[n++] = as_cell_text(as_roof_vector_word(it->vector));
    cell[n++] = has_flops ? as_cell_real(it->packed_share) : (struct as_cell){0};
    cell[n++] = has_flops ? as_cell_real(it->single_share) : (struct as_cell){0};
    cell[n++] = it->roof.value > 0 ? as_cell_text(it->roof.name) : (struct as_cell){0};
    cell[n++] = it->roof.value > 0 ? as_cell_real(it->roof_at) : (struct as_cell){0};
    cell[n++] = it->roof.value > 0 ? as_cell_real(it->roof_share) : (struct as_cell){0};
    cell[n++] = finite_cell(it->attainable);
    cell[n++] = finite_cell(it->headroom_x);
    cell[n++] = it->roof.value > 0 ? as_cell_real(it->huge_x) : (struct as_cell){0};
    cell[n++] = marks_cell(rows, it->marks);
}

void as_roofline_csv(struct as_cli *cli, const struct as_roofline *it)
{
    struct point_rows rows = {.it = it};
    const struct as_sheet sheet = {point_fields, POINT_FIELDS, it->point_n, &rows, fill_point};
    as_sheet_csv_header(cli, &sheet);
    as_sheet_csv_rows(cli, &sheet);
    as_str_fini(&rows.marks);
}

static void roof_json(struct as_json *json, const struct as_roof *roof, unsigned core_n)
{
    as_json_object_begin(json);
    as_json_key_string(json, "name", roof->name);
    as_json_key_string(json, "kind", roof->is_bandwidth ? "bandwidth" : "peak");
    as_json_key_double(json, "value", roof->value);
    as_json_key_string(json, "unit", roof->is_bandwidth ? "B/s" : "flop/s");
    as_json_key_bool(json, "is_huge", roof->is_huge);
    as_json_key_u64(json, "core_n", core_n);
    as_json_object_end(json);
}

void as_roofline_json(struct as_cli *cli, const struct as_experiment *experiment,
                      const struct as_roofline *it)
{
    struct point_rows rows = {.it = it};
    struct as_json json;
    as_compared_json_begin(&json, cli, experiment, "points");
    as_json_array_begin(&json);
    for (size_t i = 0; i < it->point_n; i++) {
        struct as_cell cell[POINT_FIELDS] = {0};
        fill_point(&rows, i, cell);
        as_json_object_begin(&json);
        for (size_t k = 0; k < POINT_FIELDS; k++) {
            as_json_key(&json, point_fields[k].key);
            as_cell_json(&json, &cell[k]);
        }
        as_json_object_end(&json);
    }
    as_json_array_end(&json);
    as_json_key(&json, "roofs");
    as_json_array_begin(&json);
    for (size_t i = 0; i < it->one_n; i++)
        roof_json(&json, &it->one[i], 1);
    for (size_t i = 0; i < it->all_n; i++)
        roof_json(&json, &it->all[i], it->core_n);
    as_json_array_end(&json);
    as_json_key_i64(&json, "run_id", it->run_id);
    as_json_key_u64(&json, "core_n", it->core_n);
    as_json_key_double(&json, "counted_share", it->counted_share);
    as_json_key_double(&json, "waiting_share", it->waiting_share);
    as_json_key_bool(&json, "external_load", it->is_busy);
    as_json_key_bool(&json, "has_levels", it->has_levels);
    as_json_key(&json, "huge_share");
    if (isfinite(it->huge_share))
        as_json_double(&json, it->huge_share);
    else
        as_json_null(&json);
    as_compared_json_end(&json);
    as_str_fini(&rows.marks);
}
