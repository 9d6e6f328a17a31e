/* SPDX-License-Identifier: Apache-2.0 */
/* Between the stages of an edit: each gets lines, and gives them to the next. */
#ifndef AS_EDIT_EDIT_STAGE_H
#define AS_EDIT_EDIT_STAGE_H

#include "edit/edit.h"

struct as_edit_stage {
    struct as_edit_stage *next; /* NULL: the last */
    /* May change the line. Errors: those of the stage and of all behind it. */
    int (*on_line)(struct as_edit_stage *stage, struct as_prv_line_read *line,
                   struct as_error *err);
    /* Behind the last line; NULL: nothing is to be done. */
    int (*on_end)(struct as_edit_stage *stage, struct as_error *err);
    void (*fini)(struct as_edit_stage *stage); /* frees the stage */
};

static inline int as_edit_pass(struct as_edit_stage *stage, struct as_prv_line_read *line,
                               struct as_error *err)
{
    return stage->next->on_line(stage->next, line, err);
}

/* Facts of the trace for all stages. */
struct as_edit_trace {
    const struct as_prv_header *header;
    const struct as_prv_pcf *labels;
    int64_t end_ns; /* of all times that the stage gets */
};

/* The cut of a trace, in nanoseconds that are multiples of the trace's unit. */
struct as_edit_part {
    int64_t from_ns, to_ns;
    int64_t offset_ns; /* is taken off all times */
};

/* All: errors NOMEM; of a filter USAGE (an unknown state), too. */
int as_edit_cut_new(const struct as_edit *edit, const struct as_edit_trace *trace,
                    const struct as_edit_part *part, struct as_edit_stage **out,
                    struct as_error *err);
int as_edit_filter_new(const struct as_edit *edit, const struct as_edit_trace *trace,
                       struct as_edit_stage **out, struct as_error *err);
int as_edit_translate_new(const struct as_edit *edit, const struct as_edit_trace *trace,
                          struct as_edit_stage **out, struct as_error *err);
int as_edit_counters_new(const struct as_edit *edit, const struct as_edit_trace *trace,
                         struct as_edit_stage **out, struct as_error *err);

/* By how much each thread is moved; of `header->threads_n` threads. Errors: USAGE (an object that
 * the trace does not have), NOMEM. */
int as_edit_shifts(const struct as_edit *edit, const struct as_prv_header *header, int64_t **out,
                   struct as_error *err);

/* Returns whether the types have this pair. */
bool as_edit_types_have(const struct as_edit_types *types, int64_t type, int64_t value);
/* The type of a counter: as Paraver's own software counters number them. */
int64_t as_edit_counter_type(const struct as_edit_counters *counters, int64_t type, int64_t value);
/* All translations, with those of `like`, sorted by type, those with a value first. `*out` is
 * freed by the caller. Errors: NOMEM, NOT_FOUND. */
struct as_edit_translations {
    AS_VEC(struct as_edit_translation) at;
};
int as_edit_translations_of(const struct as_edit *edit, const struct as_prv_pcf *labels,
                            struct as_edit_translations *out, struct as_error *err);
/* Changes a pair; false: it stays as it is. */
bool as_edit_translate(const struct as_edit_translations *translations, int64_t *type,
                       int64_t *value);

#endif
