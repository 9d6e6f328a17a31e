/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options and option files. All return 0, NOMEM, or CORRUPT without a sentence. */
#ifndef AS_EDIT_EDIT_WORDS_H
#define AS_EDIT_EDIT_WORDS_H

#include "edit/edit_stage.h"

bool as_edit_number(struct as_view text, int64_t *out);
/* "1-24,27" */
int as_edit_read_tasks(struct as_view text, struct as_edit_cut *cut);
/* "50000001;50000003:3,10;40000001-40000009", or types without values with commas */
int as_edit_read_types(struct as_view text, struct as_edit_types *types);
/* "Running,13" */
int as_edit_read_states(struct as_view text, struct as_edit_filter *filter);
int as_edit_add_state(struct as_edit_filter *filter, struct as_view name);
/* Sets the values that a cut has before words change them. */
void as_edit_begin_cut(struct as_edit_cut *cut);

#endif
