/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: importing a trace of Paraver. The input is a .prv, or with a line "%pcf" in it a .prv
 * and behind that line its .pcf. The import must be read and analysed as a trace of our own. It is
 * whole and has as many threads as were said. The same lines with CR LF, which the quick reader
 * leaves to the other one, must give the same records.
 */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

#include "analytics/state/analysis.h"
#include "exchange/import.h"
#include "exchange/prv_read.h"
#include "scratch.h"

bool fuzz_taken;

static const char *behind_mark(const uint8_t *bytes, size_t size_b)
{
    static const char mark[] = "\n%pcf\n";
    const char *at = memmem(bytes, size_b, mark, sizeof mark - 1);
    return at ? at + sizeof mark - 1 : NULL;
}

/* Many threads cost the fuzzer its time and tell it nothing: numbers of the header are short. */
static bool is_too_large(const uint8_t *bytes, size_t size_b)
{
    const uint8_t *end = size_b ? memchr(bytes, '\n', size_b) : NULL;
    const uint8_t *at = end ? memchr(bytes, ')', (size_t)(end - bytes)) : NULL;
    unsigned fields = 0, digits = 0;
    for (; at && at < end; at++) {
        fields += *at == ':';
        digits = *at >= '0' && *at <= '9' ? digits + 1 : 0;
        if (fields > 1 && digits > 2)
            return true;
    }
    return false;
}

static void compare_lines(const struct as_prv_line_read *a, const struct as_prv_line_read *b)
{
    FUZZ_CHECK(a->kind == b->kind && a->thread == b->thread && a->cpu == b->cpu && a->ns == b->ns);
    if (a->kind == AS_PRV_LINE_STATE)
        FUZZ_CHECK(a->end_ns == b->end_ns && a->state == b->state);
    if (a->kind == AS_PRV_LINE_EVENTS)
        FUZZ_CHECK(a->value.n == b->value.n &&
                   memcmp(a->value.at, b->value.at, a->value.n * sizeof *a->value.at) == 0);
    if (a->kind == AS_PRV_LINE_MESSAGE)
        FUZZ_CHECK(a->receiver == b->receiver && a->receiver_cpu == b->receiver_cpu &&
                   a->physical_send_ns == b->physical_send_ns &&
                   a->logical_receive_ns == b->logical_receive_ns &&
                   a->physical_receive_ns == b->physical_receive_ns && a->size_b == b->size_b &&
                   a->tag == b->tag);
}

static void compare_readers(const uint8_t *bytes, size_t size_b)
{
    struct as_str with_cr = {0};
    struct as_prv_file *quick = NULL, *other = NULL;
    const struct as_prv_line_read *a, *b;
    struct as_error err = {0};
    if (memchr(bytes, '\r', size_b))
        return;
    for (size_t i = 0; i < size_b; i++)
        as_str_append(&with_cr, bytes[i] == '\n' ? "\r\n" : (const char *)&bytes[i],
                      bytes[i] == '\n' ? 2 : 1);
    const char *path = scratch_write("y.prv", bytes, size_b);
    const int opened = as_prv_file_open(path, &quick, &err);
    path = scratch_write("z.prv", as_str_z(&with_cr), with_cr.n);
    FUZZ_CHECK(as_prv_file_open(path, &other, &err) == opened);
    for (int more = opened == 0; more > 0;) {
        more = as_prv_file_next(quick, &a, &err);
        FUZZ_CHECK(as_prv_file_next(other, &b, &err) == more);
        if (more > 0)
            compare_lines(a, b);
    }
    if (opened == 0) {
        const struct as_prv_bad bad = as_prv_file_bad(quick), same = as_prv_file_bad(other);
        FUZZ_CHECK(bad.lines_n == same.lines_n && bad.first_line == same.first_line &&
                   bad.cut_line == same.cut_line);
    }
    as_prv_file_close(&quick);
    as_prv_file_close(&other);
    as_str_fini(&with_cr);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    const char *pcf = behind_mark(bytes, size_b);
    const size_t prv_b = pcf ? (size_t)(pcf - (const char *)bytes) - 5 : size_b;
    char path[512], directory[512];
    struct as_error err = {0};
    struct as_import_counts counts;
    struct as_trace trace;
    struct as_analysis analysis;
    uint64_t threads_n = 0;
    if (is_too_large(bytes, size_b))
        return 0;
    compare_readers(bytes, prv_b);
    snprintf(path, sizeof path, "%s", scratch_write("x.prv", bytes, prv_b));
    if (pcf)
        scratch_write("x.pcf", pcf, size_b - (size_t)(pcf - (const char *)bytes));
    snprintf(directory, sizeof directory, "%s", scratch_directory());
    const int rc = as_prv_import(path, directory, &counts, &err);
    if (rc < 0) {
        fuzz_check_error(rc, &err);
        scratch_empty();
        return 0;
    }
    fuzz_taken = true;
    FUZZ_CHECK(as_trace_open(directory, &trace, &err) == 0);
    FUZZ_CHECK(trace.damaged_n == 0);
    as_vec_foreach (&trace.process, process)
        threads_n += process->thread.n;
    FUZZ_CHECK(threads_n == counts.threads_n && trace.process.n == counts.processes_n);
    FUZZ_CHECK(as_analyse_trace(&trace, NULL, &analysis, &err) == 0);
    as_analysis_fini(&analysis);
    as_trace_close(&trace);
    scratch_empty();
    return 0;
}
