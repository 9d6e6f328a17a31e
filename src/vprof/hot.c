/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the hottest loops and functions by names that options accept. */
#include "vprof/hot.h"

#include "base/error.h"
#include "base/str.h"

#define NAMED_B 300u /* maximum length of the list of candidates */

static const char hot_loops_sql[] =
    "SELECT printf('0x%x (%s)', l.address, ifnull(f.name, '?')) FROM object_time o"
    " JOIN loop l ON l.loop_id = o.object_id JOIN function f USING (function_id)"
    " JOIN module m USING (module_id) WHERE o.run_id = ?1 AND o.object_kind = 'loop'"
    " AND o.exclusive_n > 0 AND m.kind IN ('executable', 'shared')"
    " ORDER BY o.exclusive_ns DESC, l.loop_id";

static const char hot_functions_sql[] =
    "SELECT f.name FROM object_time o JOIN function f ON f.function_id = o.object_id"
    " JOIN module m USING (module_id) WHERE o.run_id = ?1 AND o.object_kind = 'function'"
    " AND o.exclusive_n > 0 AND m.kind IN ('executable', 'shared') AND f.address IS NOT NULL"
    " AND f.name IS NOT NULL ORDER BY o.exclusive_ns DESC, f.function_id";

static int add_name(void *context, struct as_rows *row, struct as_error *err)
{
    struct as_str *text = context;
    (void)err;
    if (text->n < NAMED_B)
        as_str_appendf(text, "%s%s", text->n ? ", " : "", as_rows_text(row, 0));
    return 0;
}

int as_hot_missed(struct as_experiment *experiment, int64_t run_id,
                  const struct as_hot_question *question, struct as_error *err)
{
    const bool is_loop = question->kind == AS_OBJECT_LOOP;
    struct as_str text = {0};
    int rc = as_rows_each(experiment, is_loop ? hot_loops_sql : hot_functions_sql, run_id, add_name,
                          &text, err);
    if (rc == 0 && text.n)
        rc = as_error_set(err, AS_ERR_USAGE, "%s: %s '%s'; those with the most time are %s",
                          question->option, question->nothing, question->asked, as_str_z(&text));
    else if (rc == 0)
        rc = as_error_set(err, AS_ERR_USAGE, "%s: %s '%s'; no %s of the program has samples",
                          question->option, question->nothing, question->asked,
                          is_loop ? "loop" : "function");
    as_str_fini(&text);
    return rc;
}
