/* SPDX-License-Identifier: Apache-2.0 */
#include "semantic/cfg_keys.h"

#include <stdlib.h>

#include "base/error.h"

typedef struct as_cfg_place place_t;

/* ---- Windows --------------------------------------------------------------------------------- */

#define READ(name)  static int read_##name(place_t *place, struct as_view value)
#define WRITE(name) static void write_##name(const place_t *place, struct as_str *out)
/* A key that is one number, truth or text of its owner. */
#define TRUTH(name, field)                                                                         \
    READ(name)                                                                                     \
    {                                                                                              \
        return as_cfg_truth(place, value, &place->field);                                          \
    }                                                                                              \
    WRITE(name)                                                                                    \
    {                                                                                              \
        as_str_appendz(out, place->field ? TRUE_WORD : FALSE_WORD);                                \
    }
#define NUMBER(name, field)                                                                        \
    READ(name)                                                                                     \
    {                                                                                              \
        return as_cfg_number(place, &value, &place->field);                                        \
    }                                                                                              \
    WRITE(name)                                                                                    \
    {                                                                                              \
        as_cfg_write_number(out, place->field);                                                    \
    }
#define WHOLE(name, field)                                                                         \
    READ(name)                                                                                     \
    {                                                                                              \
        return as_cfg_whole(place, &value, &place->field);                                         \
    }                                                                                              \
    WRITE(name)                                                                                    \
    {                                                                                              \
        as_str_appendf(out, "%lld", (long long)place->field);                                      \
    }
#define TEXT(name, field)                                                                          \
    READ(name)                                                                                     \
    {                                                                                              \
        return as_cfg_text(place, value, &place->field);                                           \
    }                                                                                              \
    WRITE(name)                                                                                    \
    {                                                                                              \
        as_str_appendz(out, place->field);                                                         \
    }

#define TRUE_WORD  "true"
#define FALSE_WORD "false"
TEXT(window_name, window->name)
WHOLE(window_id, window->id)
TRUTH(logical, window->takes_logical)
TRUTH(physical, window->takes_physical)
TRUTH(same_node, window->takes_same_node)
TRUTH(other_node, window->takes_other_node)
TRUTH(both_ends, window->both_ends)
TRUTH(both_tag_size, window->both_tag_size)
TRUTH(both_type_value, window->both_type_value)

READ(window_type)
{
    place->window->is_derived = as_cfg_same_word(value, "composed");
    if (place->window->is_derived || as_cfg_same_word(value, "single"))
        return 0;
    return as_cfg_refuse(place, AS_ERR_CORRUPT, "'%.*s' is neither single nor composed",
                         (int)(value.n < 40 ? value.n : 40), value.n ? value.p : "");
}

WRITE(window_type)
{
    as_str_appendz(out, place->window->is_derived ? "composed" : "single");
}

READ(window_level)
{
    if (as_object_level_read(value, &place->window->level))
        return 0;
    return as_cfg_refuse(place, AS_ERR_CORRUPT, "invalid level '%.*s'",
                         (int)(value.n < 40 ? value.n : 40), value.n ? value.p : "");
}

WRITE(window_level)
{
    as_str_appendz(out, as_object_level_word(place->window->level));
}

READ(window_units)
{
    if (as_unit_read(value, &place->window->unit_ns))
        return 0;
    return as_cfg_refuse(place, AS_ERR_CORRUPT, "invalid unit of time '%.*s'",
                         (int)(value.n < 40 ? value.n : 40), value.n ? value.p : "");
}

WRITE(window_units)
{
    as_str_appendz(out, as_unit_word(place->window->unit_ns));
}

READ(window_color_mode)
{
    place->window->is_code = as_cfg_same_word(value, "window_in_code_mode");
    place->is_kept = true;
    return 0;
}

READ(window_drawmode)
{
    as_draw_mode_read(value, &place->window->draw_mode); /* another word is kept */
    place->is_kept = true;
    return 0;
}

READ(window_object)
{
    struct as_view word, rest = value;
    place->is_kept = true;
    place->window->has_selection = true;
    while (as_cfg_word(&rest, &word))
        if (as_cfg_same_word(word, "All"))
            place->window->has_selection = false;
    return 0;
}

READ(window_operation)
{
    place->window->operation.function = as_function_find(AS_FUNCTION_DERIVED, value);
    if (place->window->operation.function)
        return 0;
    return as_cfg_refuse(place, AS_ERR_UNSUPPORTED, "operation '%.*s' is not known",
                         (int)(value.n < 60 ? value.n : 60), value.n ? value.p : "");
}

WRITE(window_operation)
{
    as_str_appendz(out, place->window->operation.function->name);
}

READ(window_identifiers)
{
    for (unsigned i = 0; i < 2; i++)
        AS_TRY(as_cfg_whole(place, &value, &place->window->operand_id[i]));
    return 0;
}

WRITE(window_identifiers)
{
    as_str_appendf(out, "%lld %lld", (long long)place->window->operand_id[0],
                   (long long)place->window->operand_id[1]);
}

READ(window_factors)
{
    for (unsigned i = 0; i < 2; i++)
        AS_TRY(as_cfg_number(place, &value, &place->window->factor[i]));
    return 0;
}

WRITE(window_factors)
{
    as_cfg_write_number(out, place->window->factor[0]);
    as_str_appendz(out, " ");
    as_cfg_write_number(out, place->window->factor[1]);
}

#define SHIFT_MAX 32767

READ(window_shifts)
{
    for (unsigned i = 0; i < 2; i++) {
        AS_TRY(as_cfg_whole(place, &value, &place->window->shift[i]));
        if (llabs(place->window->shift[i]) > SHIFT_MAX)
            return as_cfg_refuse(place, AS_ERR_LIMIT, "a shift of more than %d pieces", SHIFT_MAX);
    }
    return 0;
}

WRITE(window_shifts)
{
    as_str_appendf(out, "%lld %lld", (long long)place->window->shift[0],
                   (long long)place->window->shift[1]);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

#undef TRUE_WORD
#undef FALSE_WORD
#define TRUE_WORD  "True"
#define FALSE_WORD "False"
TEXT(table_name, table->name)
WHOLE(control_window, table->control_id)
WHOLE(data_window, table->data_id)
WHOLE(plane_window, table->plane_id)
TRUTH(hide_columns, table->hides_empty)
TRUTH(sort_columns, table->is_sorted)
TRUTH(sort_reverse, table->is_reverse)
TRUTH(compute_scale, table->columns.is_automatic)
TRUTH(compute_scale_zero, table->columns.begins_at_zero)
TRUTH(compute_planes, table->planes.is_automatic)
NUMBER(minimum, table->columns.min)
NUMBER(maximum, table->columns.max)
NUMBER(delta, table->columns.delta)
NUMBER(plane_minimum, table->planes.min)
NUMBER(plane_maximum, table->planes.max)
NUMBER(plane_delta, table->planes.delta)
WHOLE(columns, table->columns_asked)

READ(decimals)
{
    AS_TRY(as_cfg_whole(place, &value, &place->table->decimals));
    if (place->table->decimals < 0 || place->table->decimals > 17)
        return as_cfg_refuse(place, AS_ERR_CORRUPT, "decimals are 0 to 17");
    return 0;
}

WRITE(decimals)
{
    as_str_appendf(out, "%lld", (long long)place->table->decimals);
}

READ(statistic)
{
    place->table->statistic = as_statistic_find(value);
    if (place->table->statistic)
        return 0;
    return as_cfg_refuse(place, AS_ERR_UNSUPPORTED, "statistic '%.*s' is not known",
                         (int)(value.n < 60 ? value.n : 60), value.n ? value.p : "");
}

WRITE(statistic)
{
    as_str_appendz(out, place->table->statistic->name);
}

READ(direction)
{
    place->table->is_vertical = as_cfg_same_word(value, "Vertical");
    place->is_kept = true;
    return 0;
}

READ(sort_criteria)
{
    static const char *const words[] = {"Average", "Total", "Maximum",
                                        "Minimum", "Stdev", "Avg/Max"};
    place->is_kept = true;
    place->table->sort = AS_SORT_NONE;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (as_cfg_same_word(value, words[i]))
            place->table->sort = (enum as_histogram_sort)(AS_SORT_AVERAGE + i);
    return 0;
}

READ(fixed_delta)
{
    bool is_fixed;
    AS_TRY(as_cfg_truth(place, value, &is_fixed));
    place->table->fixed_delta = is_fixed;
    return 0;
}

WRITE(fixed_delta)
{
    as_str_appendz(out, place->table->fixed_delta > 0 ? TRUE_WORD : FALSE_WORD);
}

/* ---- The table ------------------------------------------------------------------------------- */

#define OF_WINDOW(key, name)                                                                       \
    {                                                                                              \
        key, AS_CFG_OF_WINDOW, read_##name, write_##name                                           \
    }
#define OF_TABLE(key, name)                                                                        \
    {                                                                                              \
        key, AS_CFG_OF_TABLE, read_##name, write_##name                                            \
    }

const struct as_cfg_key as_cfg_keys[] = {
    OF_WINDOW("window_name", window_name),
    OF_WINDOW("window_type", window_type),
    OF_WINDOW("window_id", window_id),
    OF_WINDOW("window_level", window_level),
    OF_WINDOW("window_units", window_units),
    OF_WINDOW("window_operation", window_operation),
    OF_WINDOW("window_identifiers", window_identifiers),
    OF_WINDOW("window_factors", window_factors),
    OF_WINDOW("window_shifts", window_shifts),
    OF_WINDOW("window_logical_filtered", logical),
    OF_WINDOW("window_physical_filtered", physical),
    OF_WINDOW("window_intracomms_enabled", same_node),
    OF_WINDOW("window_intercomms_enabled", other_node),
    OF_WINDOW("window_comm_fromto", both_ends),
    OF_WINDOW("window_comm_tagsize", both_tag_size),
    OF_WINDOW("window_comm_typeval", both_type_value),
    {"window_color_mode", AS_CFG_OF_WINDOW, read_window_color_mode, NULL},
    {"window_drawmode", AS_CFG_OF_WINDOW, read_window_drawmode, NULL},
    {"window_object", AS_CFG_OF_WINDOW, read_window_object, NULL},
    {"window_selected_functions", AS_CFG_OF_WINDOW, as_cfg_read_selected, as_cfg_write_selected},
    {"window_compose_functions", AS_CFG_OF_WINDOW, as_cfg_read_composed, as_cfg_write_composed},
    {"window_semantic_module", AS_CFG_OF_WINDOW, as_cfg_read_parameters, as_cfg_write_parameters},
    {"window_filter_module", AS_CFG_OF_WINDOW, as_cfg_read_filter, as_cfg_write_filter},
    OF_TABLE("Analyzer2D.Name:", table_name),
    OF_TABLE("Analyzer2D.ControlWindow:", control_window),
    OF_TABLE("Analyzer2D.DataWindow:", data_window),
    OF_TABLE("Analyzer2D.Statistic:", statistic),
    OF_TABLE("Analyzer2D.HideCols:", hide_columns),
    {"Analyzer2D.HorizVert:", AS_CFG_OF_TABLE, read_direction, NULL},
    OF_TABLE("Analyzer2D.SortCols:", sort_columns),
    {"Analyzer2D.SortCriteria:", AS_CFG_OF_TABLE, read_sort_criteria, NULL},
    OF_TABLE("Analyzer2D.SortReverse:", sort_reverse),
    OF_TABLE("Analyzer2D.ComputeYScale:", compute_scale),
    OF_TABLE("Analyzer2D.ComputeYScaleZero:", compute_scale_zero),
    OF_TABLE("Analyzer2D.Minimum:", minimum),
    OF_TABLE("Analyzer2D.Maximum:", maximum),
    OF_TABLE("Analyzer2D.Delta:", delta),
    OF_TABLE("Analyzer2D.NumColumns:", columns),
    OF_TABLE("Analyzer2D.num_columns:", columns),
    OF_TABLE("Analyzer2D.UseFixedDelta:", fixed_delta),
    OF_TABLE("Analyzer2D.num_decimals:", decimals),
    OF_TABLE("Analyzer2D.3D_ControlWindow:", plane_window),
    OF_TABLE("Analyzer3D.ComputeYScale:", compute_planes),
    OF_TABLE("Analyzer2D.3D_Minimum:", plane_minimum),
    OF_TABLE("Analyzer2D.3D_Maximum:", plane_maximum),
    OF_TABLE("Analyzer2D.3D_Delta:", plane_delta),
};
const size_t as_cfg_keys_n = sizeof as_cfg_keys / sizeof *as_cfg_keys;
