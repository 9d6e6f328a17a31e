/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the analysis of a trace of several processes and threads. Its streams are complete
 * and have any content. The input is, for each stream, uint8_t which;      two bits: the process;
 * three above: the thread, 0 the definitions uint8_t size_b[2];  little endian: so many bytes of
 * records, as far as they are there uint8_t records[];  src/trace/record.h Sums must add up to what
 * they are sums of, whatever events say; exports must be written.
 */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analytics/store/trace_result.h"
#include "exchange/perfetto.h"
#include "exchange/prv.h"
#include "scratch.h"

#define BEGIN_NS  1000
#define DATA_MOST 16384u /* of one stream */

bool fuzz_taken;

/* ---- Streams --------------------------------------------------------------------------------- */

static void put_stream(unsigned process, unsigned thread, const uint8_t *data, size_t data_b)
{
    static uint8_t file[AS_TRACE_PAGE_B + sizeof(struct as_trace_block) + DATA_MOST];
    struct as_trace_head head = {.magic = AS_TRACE_MAGIC,
                                 .version = AS_TRACE_VERSION,
                                 .block_b = AS_TRACE_BLOCK_B,
                                 .pid = process + 1,
                                 .tid = thread,
                                 .parent_tid = thread > 1,
                                 .clock = AS_TRACE_KERNEL,
                                 .end = AS_TRACE_CLOSED,
                                 .begin = {BEGIN_NS, BEGIN_NS},
                                 .latest = {BEGIN_NS, BEGIN_NS},
                                 .blocks_n = 1};
    const struct as_trace_block block = {.used_b = (uint32_t)(sizeof block + data_b),
                                         .magic = AS_TRACE_BLOCK_MAGIC,
                                         .tick = BEGIN_NS,
                                         .at = {BEGIN_NS, BEGIN_NS}};
    char name[64];
    memcpy(file, &head, sizeof head);
    memcpy(file + AS_TRACE_PAGE_B, &block, sizeof block);
    if (data_b)
        memcpy(file + AS_TRACE_PAGE_B + sizeof block, data, data_b);
    snprintf(name, sizeof name, "stream.%u.9.%u", process + 1, thread);
    const char *path = scratch_write(name, file, AS_TRACE_PAGE_B + sizeof block + data_b);
    FUZZ_CHECK(truncate(path, AS_TRACE_PAGE_B + AS_TRACE_BLOCK_B) == 0);
}

static unsigned put_streams(struct fuzz_input *in)
{
    unsigned n = 0;
    for (const uint8_t *lead; (lead = fuzz_next(in, 3)); n++) {
        size_t data_b = (size_t)lead[1] | (size_t)lead[2] << 8;
        data_b = data_b < in->left ? data_b : in->left;
        data_b = data_b < DATA_MOST ? data_b : DATA_MOST;
        put_stream(lead[0] & 3u, lead[0] >> 2 & 7u, fuzz_next(in, data_b), data_b);
    }
    return n;
}

/* ---- What must add up ------------------------------------------------------------------------ */

/* A thread did something at every moment that it was there. */
static void check_locations(const struct as_analysis *a)
{
    as_vec_foreach (&a->location, location) {
        int64_t sum_ns = 0;
        for (unsigned i = 0; i < AS_ACTIVITIES_N; i++) {
            FUZZ_CHECK(location->activity_ns[i] >= 0);
            sum_ns += location->activity_ns[i];
        }
        FUZZ_CHECK(sum_ns == location->span.end_ns - location->span.begin_ns);
        FUZZ_CHECK(location->span.begin_ns >= a->begin_ns && location->span.end_ns <= a->end_ns);
    }
    as_vec_foreach (&a->site, site)
        fuzz_touch_string(site->routine);
    as_vec_foreach (&a->sum, sum) {
        FUZZ_CHECK(sum->location < a->location.n && sum->site < a->site.n);
        FUZZ_CHECK(sum->most_ns >= 0 && sum->open_n <= sum->calls_n);
    }
}

static void check_path(const struct as_analysis *a)
{
    const struct as_path_piece *before = NULL;
    as_vec_foreach (&a->path.piece, piece) {
        FUZZ_CHECK(piece->location < a->location.n && piece->begin_ns <= piece->end_ns);
        FUZZ_CHECK(!before || before->begin_ns == piece->end_ns);
        before = piece;
    }
}

/* Delay costs have causes: their sum is the sum of all waits, but for rounding. */
static void check_waits(const struct as_analysis *a)
{
    double waited_ns = 0, blamed_ns = 0;
    as_vec_foreach (&a->waits.wait, wait) {
        FUZZ_CHECK(wait->kind < AS_WAIT_KINDS_N && wait->begin_ns < wait->end_ns);
        FUZZ_CHECK(wait->location < a->location.n);
        FUZZ_CHECK(wait->site == AS_WAIT_UNKNOWN || wait->site < a->site.n);
        FUZZ_CHECK(wait->cause == AS_WAIT_UNKNOWN || wait->cause < a->location.n);
        if (wait->cause != AS_WAIT_UNKNOWN)
            waited_ns += (double)(wait->end_ns - wait->begin_ns);
    }
    as_vec_foreach (&a->blame.blame, blame) {
        FUZZ_CHECK(blame->location < a->location.n && blame->total_ns >= 0);
        blamed_ns += (double)blame->total_ns;
    }
    const double off_ns = waited_ns > blamed_ns ? waited_ns - blamed_ns : blamed_ns - waited_ns;
    FUZZ_CHECK(off_ns <= 1e-9 * waited_ns + 2.0 * (double)(a->blame.blame.n + a->waits.wait.n));
}

static void check_timeline(const struct as_timeline *t)
{
    for (uint32_t location = 0; location < t->location_n; location++)
        for (uint32_t bin = 0; bin < t->bin_n; bin++) {
            int64_t sum_ns = 0;
            for (unsigned plane = 0; plane < AS_TIMELINE_PATH; plane++) {
                const int64_t ns = as_timeline_bins(t, location, plane)[bin];
                FUZZ_CHECK(ns >= 0);
                sum_ns += ns;
            }
            FUZZ_CHECK(sum_ns <= t->bin_ns);
            FUZZ_CHECK(as_timeline_bins(t, location, AS_TIMELINE_PATH)[bin] <= t->bin_ns);
        }
}

/* Times in which nothing was recorded lie apart from each other, and are all of that state. */
static void check_gaps(const struct as_gaps *gaps, const struct as_location *location)
{
    int64_t before_ns = INT64_MIN, off_ns = 0;
    as_vec_foreach (&gaps->gap, gap) {
        FUZZ_CHECK(gap->begin_ns > before_ns && gap->end_ns > gap->begin_ns);
        FUZZ_CHECK(gap->off_ns <= gap->end_ns - gap->begin_ns);
        before_ns = gap->end_ns;
        off_ns += gap->off_ns;
    }
    FUZZ_CHECK(gaps->gap.n <= AS_GAPS_MOST);
    FUZZ_CHECK(off_ns == location->activity_ns[AS_ACTIVITY_OFF]);
}

static void check_sums(const struct as_traced *traced)
{
    as_vec_foreach (&traced->counters.range, counter) {
        FUZZ_CHECK(counter->least <= counter->first && counter->last <= counter->most);
        FUZZ_CHECK(counter->point.n > 0 && counter->point.n <= AS_COUNTER_POINTS_MOST);
    }
    as_vec_foreach (&traced->gaps, gaps)
        check_gaps(gaps, &traced->analysis.location.at[gaps - traced->gaps.at]);
    for (size_t i = 0; i < traced->analysis.location.n; i++) {
        const struct as_span *span = &traced->analysis.location.at[i].span;
        FUZZ_CHECK(traced->sums.waiting_ns[i] >= 0);
        FUZZ_CHECK(traced->sums.waiting_ns[i] <= span->end_ns - span->begin_ns);
    }
}

static void check_exports(const struct as_trace *trace)
{
    struct as_perfetto_counts perfetto;
    struct as_prv_counts prv;
    struct as_error err = {0};
    int rc = as_perfetto_write(trace, scratch_path("out.perfetto"), &perfetto, &err);
    if (rc < 0)
        fuzz_check_error(rc, &err);
    err = (struct as_error){0};
    rc = as_prv_write(trace, scratch_path("out.prv"), &prv, &err);
    if (rc < 0)
        fuzz_check_error(rc, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    struct fuzz_input in = {bytes, size_b};
    struct as_error err = {0};
    struct as_traced traced = {.record_ns = 20};
    const unsigned streams_n = put_streams(&in);
    FUZZ_CHECK(as_trace_open(scratch_directory(), &traced.trace, &err) == 0);
    FUZZ_CHECK(as_traced_analyse(&traced, NULL, &err) == 0);
    fuzz_taken |= streams_n > 1 && traced.analysis.events_n > 0 && traced.trace.damaged_n == 0;
    check_locations(&traced.analysis);
    check_path(&traced.analysis);
    check_waits(&traced.analysis);
    check_timeline(&traced.timeline);
    check_sums(&traced);
    check_exports(&traced.trace);
    as_traced_fini(&traced);
    scratch_empty();
    return 0;
}
