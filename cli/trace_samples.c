/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_samples.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "report/queries.h"

#define ROWS_SHOWN   24u /* as text */
#define THREAD_SHOWN 4u  /* of each thread */

enum {
    SAMPLED_WHO,
    SAMPLED_STATE,
    SAMPLED_ROUTINE,
    SAMPLED_FUNCTION,
    SAMPLED_PLACE,
    SAMPLED_CALLER,
    SAMPLED_N,
    SAMPLED_TIME,
    SAMPLED_SHARE,
    SAMPLED_COLUMNS
};

static const struct as_field sampled[SAMPLED_COLUMNS] = {
    [SAMPLED_WHO] = {"who", "who", 0},
    [SAMPLED_STATE] = {"state", NULL, 0},
    [SAMPLED_ROUTINE] = {"routine", NULL, 0},
    [SAMPLED_FUNCTION] = {"function", "computing in", AS_FIELD_FUNCTION},
    [SAMPLED_PLACE] = {"place", "at", AS_FIELD_IF_VARIED},
    [SAMPLED_CALLER] = {"caller", "called by", AS_FIELD_FUNCTION},
    [SAMPLED_N] = {"samples", "samples", AS_FIELD_RIGHT},
    [SAMPLED_TIME] = {"time_s", NULL, AS_FIELD_RIGHT},
    [SAMPLED_SHARE] = {"share_pct", "%", AS_FIELD_RIGHT},
};

/* ---- Rows ------------------------------------------------------------------------------------ */

static int copy_text(struct as_rows *row, int column, char **out)
{
    const char *text = as_rows_text(row, column);
    *out = NULL;
    if (!text)
        return 0;
    const size_t n = strlen(text) + 1;
    *out = as_malloc(n);
    if (!*out)
        return AS_ERR_NOMEM;
    memcpy(*out, text, n);
    return 0;
}

static void drop_row(struct as_trace_sample_row *row)
{
    as_free(row->who);
    as_free(row->state);
    as_free(row->routine);
    as_free(row->function);
    as_free(row->place);
    as_free(row->caller);
}

static int add_sample_row(void *context, struct as_rows *row, struct as_error *err)
{
    struct as_trace_sample_list *list = context;
    struct as_trace_sample_row it = {.number = as_rows_integer(row, 0),
                                     .n = as_rows_integer(row, 7),
                                     .time_s = as_rows_real(row, 8),
                                     .share_pct = as_rows_real(row, 9)};
    const int rc = copy_text(row, 1, &it.who) | copy_text(row, 2, &it.state) |
                   copy_text(row, 3, &it.routine) | copy_text(row, 4, &it.function) |
                   copy_text(row, 5, &it.place) | copy_text(row, 6, &it.caller);
    if (rc == 0 && as_vec_push(&list->row, it) == 0)
        return 0;
    drop_row(&it);
    return as_error_nomem(err, "samples of a trace");
}

int as_trace_samples_read(struct as_experiment *experiment, int64_t run_id,
                          struct as_trace_sample_list *out, struct as_error *err)
{
    *out = (struct as_trace_sample_list){0};
    return as_query_each(experiment, AS_QUERY_TRACE_SAMPLES, run_id, add_sample_row, out, err);
}

void as_trace_samples_fini(struct as_trace_sample_list *list)
{
    as_vec_foreach (&list->row, row)
        drop_row(row);
    as_vec_fini(&list->row);
}

/* ---- Showing --------------------------------------------------------------------------------- */

struct shown_samples {
    const struct as_trace_sample_list *list;
    uint32_t at[ROWS_SHOWN]; /* of as text */
    bool is_text;
};

static void fill_sample_row(void *context, size_t row, struct as_cell *cell)
{
    const struct shown_samples *shown = context;
    const struct as_trace_sample_row *it =
        &shown->list->row.at[shown->is_text ? shown->at[row] : row];
    const struct {
        int column;
        const char *text;
    } texts[] = {{SAMPLED_WHO, it->who},           {SAMPLED_STATE, it->state},
                 {SAMPLED_ROUTINE, it->routine},   {SAMPLED_PLACE, it->place},
                 {SAMPLED_FUNCTION, it->function}, {SAMPLED_CALLER, it->caller}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].text)
            cell[texts[i].column] = as_cell_text(texts[i].text);
    cell[SAMPLED_N] = as_cell_count((uint64_t)it->n);
    cell[SAMPLED_TIME] = as_cell_real(it->time_s);
    cell[SAMPLED_SHARE] = as_cell_real(
        shown->is_text ? (double)(int64_t)(it->share_pct * 10 + 0.5) / 10 : it->share_pct);
}

int as_trace_samples_text(struct as_cli *cli, const struct as_trace_sample_list *list,
                          struct as_error *err)
{
    struct shown_samples shown = {.list = list, .is_text = true};
    struct as_sheet sheet = {sampled, SAMPLED_COLUMNS, 0, &shown, fill_sample_row};
    struct as_str same = {0};
    int64_t number = -1;
    uint32_t of_thread = 0;
    for (uint32_t i = 0; i < list->row.n && sheet.row_n < ROWS_SHOWN; i++) {
        const struct as_trace_sample_row *row = &list->row.at[i];
        of_thread = row->number == number ? of_thread : 0;
        number = row->number;
        if (strcmp(row->state, "computing") == 0 && of_thread++ < THREAD_SHOWN)
            shown.at[sheet.row_n++] = i;
    }
    if (sheet.row_n == 0)
        return 0;
    as_out_c(&cli->out, '\n');
    const int rc = as_sheet_text(cli, &sheet, &same, err);
    as_str_fini(&same);
    return rc;
}

void as_trace_samples_facts(struct as_facts *facts, const struct as_trace_sample_list *list)
{
    struct shown_samples shown = {.list = list};
    const struct as_sheet sheet = {sampled, SAMPLED_COLUMNS, list->row.n, &shown, fill_sample_row};
    as_facts_sheet(facts, "samples", &sheet);
}
