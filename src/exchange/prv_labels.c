/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the files beside a Paraver trace: labels of its numbers (.pcf), and its objects (.row). */
#include <inttypes.h>

#include "exchange/common.h"
#include "exchange/prv_write.h"

/* Writes the colour of a state. Colours differ clearly: running is blue, waiting is red. */
static void write_colour(struct as_out *out, uint32_t number)
{
    static const uint8_t some[][3] = {
        {117, 195, 255}, {0, 0, 255},     {255, 255, 255}, {255, 0, 0},     {255, 0, 174},
        {179, 0, 0},     {0, 255, 0},     {255, 255, 0},   {235, 0, 0},     {0, 162, 0},
        {255, 0, 255},   {100, 100, 177}, {172, 174, 41},  {255, 144, 26},  {2, 255, 177},
        {192, 224, 0},   {66, 66, 66},    {255, 0, 96},    {169, 169, 169}, {169, 0, 0},
        {0, 109, 255}};
    const uint8_t *c = some[number % (sizeof some / sizeof *some)];
    as_out_f(out, "%u    {%u,%u,%u}\n", number, c[0], c[1], c[2]);
}

/* Returns true if no earlier routine of the table has this number. Each value is written once. */
static bool is_first_call(size_t at)
{
    return at == 0 || as_prv_calls[at].type != as_prv_calls[at - 1].type ||
           as_prv_calls[at].number != as_prv_calls[at - 1].number;
}

static void write_pcf_value(struct as_out *out, bool *any, int64_t number, const char *label)
{
    if (!*any)
        as_out_z(out, "VALUES\n");
    *any = true;
    as_out_f(out, "%" PRId64 "    %s\n", number, label);
}

static void write_pcf_values(const struct as_prv_writer *w, struct as_out *out, uint32_t type)
{
    bool any = false, has_zero = false;
    for (size_t i = 0; i < as_prv_values_n; i++)
        if (as_prv_values[i].type == type) {
            write_pcf_value(out, &any, as_prv_values[i].number, as_prv_values[i].label);
            has_zero |= as_prv_values[i].number == 0;
        }
    for (size_t i = 0; i < as_prv_routines_n; i++)
        if (as_prv_routines[i].type == type &&
            (as_prv_routines[i].number < AS_PRV_OWN_ROUTINES || w->routine_used[i]))
            write_pcf_value(out, &any, as_prv_routines[i].number, as_prv_routines[i].label);
    for (size_t i = 0; i < as_prv_calls_n; i++)
        if (as_prv_calls[i].type == type && is_first_call(i))
            write_pcf_value(out, &any, as_prv_calls[i].number, as_prv_calls[i].label);
    as_vec_foreach (&w->extra, extra)
        if (extra->type == type)
            write_pcf_value(out, &any, extra->number, extra->text);
    if (any && !has_zero)
        write_pcf_value(out, &any, 0, "End");
}

static void emit_type(const struct as_prv_writer *w, struct as_out *out,
                      const struct as_prv_label *type)
{
    as_out_f(out, "\nEVENT_TYPE\n0    %u    %s\n", type->number, type->label);
    write_pcf_values(w, out, type->number);
    if (type->number != AS_PRV_OMP_FUNCTION || !w->function.n)
        return;
    as_out_z(out, "VALUES\n0    End\n");
    for (size_t i = 0; i < w->function.n; i++)
        as_out_f(out, "%zu    parallel function 0x%" PRIx64 "\n", i + 1,
                 (uint64_t)w->function.at[i]);
}

static void write_counters(const struct as_prv_writer *w, struct as_out *out)
{
    as_vec_foreach (&w->counter, counter) {
        const char *public_name = counter->public_name;
        as_out_f(out, "\nEVENT_TYPE\n7    %" PRId64 "    %s%s%s%s\n", counter->type,
                 public_name ? public_name : "", public_name ? " [" : "", counter->text,
                 public_name ? "]" : "");
        if (counter->is_real)
            as_out_f(out, "PRECISION %u\n", AS_PRV_PRECISION);
    }
}

void as_prv_write_pcf(const struct as_prv_writer *w, struct as_out *out)
{
    as_out_z(out, "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n"
                  "LOOK_BACK           100\nSPEED               1\nFLAG_ICONS          ENABLED\n"
                  "NUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n\n"
                  "DEFAULT_SEMANTIC\n\nTHREAD_FUNC         State As Is\n\n\nSTATES\n");
    for (size_t i = 0; i < as_prv_states_n; i++)
        as_out_f(out, "%u    %s\n", as_prv_states[i].number, as_prv_states[i].label);
    as_out_z(out, "\n\nSTATES_COLOR\n");
    for (size_t i = 0; i < as_prv_states_n; i++)
        write_colour(out, as_prv_states[i].number);
    as_out_c(out, '\n');
    for (size_t i = 0; i < as_prv_types_n; i++)
        emit_type(w, out, &as_prv_types[i]);
    write_counters(w, out);
    as_prv_write_places(w, out);
}

void as_prv_write_row(const struct as_prv_writer *w, struct as_out *out)
{
    as_out_f(out, "LEVEL NODE SIZE %zu\n", w->node.n);
    as_vec_foreach (&w->node, node)
        as_out_f(out, "%s\n", **node ? *node : "node");
    as_out_f(out, "\nLEVEL THREAD SIZE %zu\n", w->thread.n);
    as_vec_foreach (&w->thread, thread) {
        const char *queue = as_exchange_queue_name(w->trace, (size_t)(thread - w->thread.at));
        if (queue)
            as_out_f(out, "%s\n", queue);
        else
            as_out_f(out, "THREAD 1.%u.%u\n", thread->task, thread->thread);
    }
}
