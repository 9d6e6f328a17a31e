/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of the summary: caveats, findings, and recommended commands.
 */
#include <stdio.h>

#include "report/profile_text.h"

#define FLAGS_MOST 8

void as_summary_flags(struct as_summary_text *s)
{
    size_t shown = 0;

    if (!s->profile->flag.n)
        return;
    as_page_heading(&s->page, "Caveats");
    as_vec_foreach (&s->profile->flag, it) {
        if (++shown > FLAGS_MOST)
            break;
        as_str_clear(&s->text);
        as_str_appendf(&s->text, "%s: %s", it->name, it->text);
        if (it->n > 1)
            as_str_appendf(&s->text, " (%lld such)", (long long)it->n);
        as_page_wrap(&s->page, "  - ", as_str_z(&s->text), false);
    }
    if (s->profile->flag.n > FLAGS_MOST) {
        as_str_clear(&s->text);
        as_str_appendf(&s->text, "%zu more kinds", s->profile->flag.n - FLAGS_MOST);
        as_page_wrap(&s->page, "  - ", as_str_z(&s->text), false);
    }
}

void as_summary_advice(struct as_summary_text *s)
{
    int i = 0;

    if (s->profile->advice.n)
        as_page_heading(&s->page, "Recommendations");
    as_vec_foreach (&s->profile->advice, it) {
        char first[16];

        snprintf(first, sizeof first, "  %d. ", ++i);
        as_page_wrap(&s->page, first, it->text, false);
    }
    if (s->profile->finding_n > s->profile->advice.n) {
        as_str_clear(&s->text);
        as_str_appendf(&s->text, "%zu more: --view findings",
                       s->profile->finding_n - s->profile->advice.n);
        as_page_wrap(&s->page, "     ", as_str_z(&s->text), false);
    }
    if (s->profile->command.n)
        as_out_c(s->page.out, '\n');
    as_vec_foreach (&s->profile->command, it)
        as_page_wrap(&s->page, "    ", *it, true);
}
