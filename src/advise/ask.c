/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements of the tables, put to an experiment. `set_cqa(NAME)` in them is what code quality
 * analysis says of loop l: a column of its set, which an experiment may have without that column,
 * or not at all; then it is NULL.
 */
#include <stdio.h>
#include <string.h>

#include "advise/run.h"
#include "base/error.h"

static const char marker[] = "set_cqa(";

static int list_column(void *columns, struct as_rows *row, struct as_error *err)
{
    struct as_str *out = columns;

    as_str_appendf(out, " %s ", as_rows_text(row, 0));
    return out->failed ? as_error_nomem(err, "the columns of a set") : 0;
}

int as_advice_open(struct as_advice *advice, struct as_error *err)
{
    return as_rows_each(advice->experiment, "SELECT name FROM pragma_table_info('v_set_cqa')", 0,
                        list_column, &advice->columns, err);
}

void as_advice_close(struct as_advice *advice)
{
    as_str_fini(&advice->columns);
}

/* The column that `name` stands for. */
static void append_column_expression(struct as_str *out, const struct as_advice *advice,
                                     struct as_view name)
{
    char wanted[80];
    const int n = snprintf(wanted, sizeof wanted, " cqa_%.*s ", (int)name.n, name.p);
    const bool known =
        n > 0 && (size_t)n < sizeof wanted && strstr(as_str_z(&advice->columns), wanted);

    if (known)
        as_str_appendf(out,
                       "(SELECT cqa_row.cqa_%.*s FROM v_set_cqa cqa_row WHERE cqa_row.loop_id ="
                       " l.loop_id AND cqa_row.context_id = 0 AND cqa_row.run_id IN (0, ?1))",
                       (int)name.n, name.p);
    else
        as_str_appendz(out, "NULL");
}

static void fill_statement(struct as_str *out, const struct as_advice *advice, const char *sql)
{
    const char *at;

    while ((at = strstr(sql, marker))) {
        const char *name = at + sizeof marker - 1;
        const size_t n = strcspn(name, ")");

        as_str_append(out, sql, (size_t)(at - sql));
        append_column_expression(out, advice, (struct as_view){name, n});
        sql = name + n + (name[n] == ')');
    }
    as_str_appendz(out, sql);
}

int as_advice_open_rows(const struct as_advice *advice, const char *sql, struct as_rows **rows,
                        struct as_error *err)
{
    struct as_str text = {0};
    int rc;

    fill_statement(&text, advice, sql);
    rc = text.failed ? as_error_nomem(err, "a statement of advice")
                     : as_rows_open(advice->experiment, as_str_z(&text), rows, err);
    as_str_fini(&text);
    if (rc == 0)
        as_rows_bind_integer(*rows, 1, advice->run_id);
    return rc;
}
