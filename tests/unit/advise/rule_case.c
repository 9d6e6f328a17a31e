/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the stories of rules, and what must hold of all that is said in them. */
#include "rule_case.h"

#include <stdio.h>

#include "place.h"

static int64_t said(const struct story *story, const char *table, const char *column,
                    const char *rule)
{
    struct as_experiment *e = story_tell(story);
    char sql[256];
    int64_t n;

    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s WHERE pass = 'advise' AND %s = '%s'", table,
             column, rule);
    n = integer_of(e, sql);
    /* A gain has one for sure. A potential has a bound that begins at 0, or none. No check says it
     * again. */
    assert_int_equal(integer_of(e, "SELECT count(*) FROM v_findings f JOIN v_runs r USING (run_id)"
                                   " WHERE (level = 'gain' AND gain_s IS NULL)"
                                   " OR (level NOT IN ('gain', 'potential')"
                                   " AND gain_s IS NOT NULL) OR (level = 'gain') <>"
                                   " (ifnull(gain_low_s, 0) > 0) OR gain_high_s >= wall_s"),
                     0);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM v_findings f JOIN v_checks c"
                                   " ON c.run_id = f.run_id AND c.text = f.text"),
                     0);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM v_findings WHERE text LIKE '%e+0%'"
                                   " OR text LIKE '%{%' OR workaround LIKE '%{%'"),
                     0);
    fine(as_experiment_close(&e, err));
    return n;
}

void rule_cases_check(const struct rule_case *at, size_t n, const char *table, const char *column)
{
    size_t wrong_n = 0;

    for (size_t i = 0; i < n; i += CASE_STEP) {
        const bool speaks = said(&at[i].speaks, table, column, at[i].rule) == 1;
        const bool is_silent = said(&at[i].silent, table, column, at[i].rule) == 0;

        if (!speaks || !is_silent)
            print_error("%s (%zu) %s\n", at[i].rule, i,
                        speaks ? "is not silent" : "does not speak");
        wrong_n += !speaks || !is_silent;
    }
    assert_int_equal(wrong_n, 0);
}
