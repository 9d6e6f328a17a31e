/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: importing a trace of Paraver. The input is a .prv, or with a line "%pcf" in it a .prv
 * and behind that line its .pcf. What is imported must be read and analysed as a trace of our own,
 * whole, with as many threads as were said.
 */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

#include "analytics/analysis.h"
#include "exchange/import.h"
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    const char *pcf = behind_mark(bytes, size_b);
    const size_t prv_b = pcf ? (size_t)(pcf - (const char *)bytes) - 5 : size_b;
    char path[512], directory[512];
    struct assay_error err = {0};
    struct as_import_counts counts;
    struct as_trace trace;
    struct as_analysis analysis;
    uint64_t threads_n = 0;
    if (is_too_large(bytes, size_b))
        return 0;
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
