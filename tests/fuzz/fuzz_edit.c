/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: changing a trace of Paraver. Lines up to "%prv" are words of options ("cut 1:5"), or
 * behind "%xml" an option file; behind "%prv" is the trace, and behind "%pcf" its labels. A change
 * is refused with one sentence, or every line of the new trace makes sense.
 */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

#include "edit/edit.h"
#include "scratch.h"

#define WORD_MAX_B   256
#define INTERVAL_MIN (INT64_C(1) << 52) /* short ones make output that never ends */

bool fuzz_taken;

/* Takes what lies before a mark off the front; false: there is no mark. */
static bool split_at_mark(struct as_view *rest, const char *mark, struct as_view *before)
{
    const char *at = rest->n ? memmem(rest->p, rest->n, mark, strlen(mark)) : NULL;
    if (!at)
        return false;
    *before = (struct as_view){rest->p, (size_t)(at - rest->p)};
    rest->n -= before->n + strlen(mark);
    rest->p = at + strlen(mark);
    return true;
}

static int add_word_of_line(struct as_edit *edit, struct as_view line, struct as_error *err)
{
    static const struct {
        const char *name;
        int (*add)(struct as_edit *edit, const char *word, struct as_error *err);
    } options[] = {{"cut ", as_edit_add_cut},
                   {"filter ", as_edit_add_filter},
                   {"counters ", as_edit_add_counters},
                   {"shift ", as_edit_add_shift},
                   {"translate ", as_edit_add_translation}};
    char word[WORD_MAX_B];
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const size_t n = strlen(options[i].name);
        if (!as_view_starts(line, options[i].name) || line.n - n >= sizeof word)
            continue;
        memcpy(word, line.p + n, line.n - n);
        word[line.n - n] = 0;
        if (!strchr(word, '/')) /* files of this machine */
            return options[i].add(edit, word, err);
    }
    return 0;
}

static int read_edit(struct as_edit *edit, struct as_view text, struct as_error *err)
{
    struct as_view words = text, line;
    int rc = 0;
    if (split_at_mark(&text, "%xml\n", &words))
        rc = as_edit_parse_options(edit, text, "options", err);
    while (rc == 0 && as_view_split(&words, '\n', &line))
        rc = add_word_of_line(edit, line, err);
    if (edit->counters.interval_ns && edit->counters.interval_ns < INTERVAL_MIN)
        edit->counters.interval_ns = INTERVAL_MIN;
    return rc == 0 ? as_edit_check(edit, err) : rc;
}

/* Every line of what was written is a record. */
static void check_output(const struct as_str *text, uint64_t records_n)
{
    struct as_prv_file *file = NULL;
    struct as_error err = {0};
    const struct as_prv_line_read *line;
    uint64_t n = 0;
    int rc;
    FUZZ_CHECK(as_prv_file_open(scratch_write("y.prv", text->p, text->n), &file, &err) == 0);
    const uint64_t of_head_n = as_prv_file_bad(file).lines_n; /* communicators are copied */
    while ((rc = as_prv_file_next(file, &line, &err)) > 0)
        n++;
    FUZZ_CHECK(rc == 0 && as_prv_file_bad(file).lines_n == of_head_n);
    FUZZ_CHECK(n == records_n);
    as_prv_file_close(&file);
}

static bool has_long_number(struct as_view head)
{
    unsigned digits = 0;
    const char *paren = head.n ? memchr(head.p, ')', head.n) : NULL;
    const char *colon =
        paren ? memchr(paren + 2, ':', head.n - (size_t)(paren + 2 - head.p)) : NULL;
    for (const char *p = colon; p && p < head.p + head.n && *p != '\n'; p++) {
        digits = *p >= '0' && *p <= '9' ? digits + 1 : 0;
        if (digits > 2)
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    struct as_view rest = {(const char *)bytes, size_b}, words, trace;
    struct as_edit edit = {0};
    struct as_error err = {0};
    struct as_edit_counts counts;
    struct as_str text = {0}, labels = {0};
    struct as_out out;
    char path[512];
    if (!split_at_mark(&rest, "%prv\n", &words) || rest.n < 4)
        return 0;
    trace = rest;
    scratch_empty();
    if (split_at_mark(&rest, "%pcf\n", &trace))
        scratch_write("x.pcf", rest.p, rest.n);
    if (trace.n < 4 || has_long_number(trace))
        return 0;
    snprintf(path, sizeof path, "%s", scratch_write("x.prv", trace.p, trace.n));
    as_out_init_str(&out, &text);
    int rc = read_edit(&edit, words, &err);
    if (rc == 0)
        rc = as_edit_run(&edit, path, "20260101000000", &out, &counts, &err);
    if (rc == 0)
        rc = as_out_flush(&out, &err);
    if (rc == 0)
        rc = as_edit_labels(&edit, path, &labels, &err);
    if (rc < 0) {
        fuzz_check_error(rc, &err);
    } else {
        fuzz_taken = true;
        check_output(&text, counts.written_n);
    }
    as_out_fini(&out);
    as_edit_fini(&edit);
    as_str_fini(&text);
    as_str_fini(&labels);
    scratch_empty();
    return 0;
}
