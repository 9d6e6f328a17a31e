/* SPDX-License-Identifier: Apache-2.0 */
/* Writes levels as rows. */
#include "base/error.h"
#include "base/str.h"
#include "experiment/bins.h"
#include "profile/attribute.h"

/* The last level has at most this number of bins for the whole run. */
#define BINS_LEAST 64u

/* Appends the shares of a state in the bins of a segment, in 0.1 %. The list ends with the last
 * share that is not 0, and is empty if all are 0. */
static void append_bin_shares(struct as_str *out, const struct as_level_thread *thread, size_t from,
                              size_t to, unsigned state, int64_t bin_ns)
{
    uint32_t next = thread->bin.at[from].number / AS_BINS_OF_ROW * AS_BINS_OF_ROW;
    as_str_clear(out);
    for (size_t i = from; i < to; i++) {
        const struct as_level_bin *bin = &thread->bin.at[i];
        const double share = (double)bin->ns[state] * 1000 / (double)bin_ns;
        const long thousandths = (long)(share + 0.5);
        as_bins_append(out, &next, bin->number, thousandths);
    }
    as_bins_end(out);
}

static int add_segment(struct as_attribution *all, uint32_t index, int64_t level, size_t from,
                       size_t to, struct as_str *bins, struct as_error *err)
{
    const struct as_levels *levels = &all->tally.levels;
    const struct as_level_thread *thread = &levels->thread.at[index];
    const int64_t segment = thread->bin.at[from].number / AS_BINS_OF_ROW;
    int rc = 0;
    for (unsigned state = 0; state < AS_LEVEL_STATES_N && rc == 0; state++) {
        append_bin_shares(bins, thread, from, to, state, levels->bin_ns);
        const struct as_row_thread_level row = {.thread_id = all->thread_id[index],
                                                .level = level,
                                                .segment = segment,
                                                .begin_ns =
                                                    segment * AS_BINS_OF_ROW * levels->bin_ns,
                                                .bin_ns = levels->bin_ns,
                                                .position = state,
                                                .name = as_level_state_word(state),
                                                .bins = as_str_z(bins)};
        rc = bins->failed ? as_error_nomem(err, "what threads did over time")
             : bins->n    ? as_experiment_add_thread_level(all->experiment, &row, err)
                          : 0;
    }
    return rc;
}

static int add_level(struct as_attribution *all, int64_t level, struct as_str *bins,
                     struct as_error *err)
{
    const struct as_levels *levels = &all->tally.levels;
    for (uint32_t index = 0; index < levels->thread.n; index++) {
        const struct as_level_thread *thread = &levels->thread.at[index];
        for (size_t from = 0, to; from < thread->bin.n; from = to) {
            const uint32_t segment = thread->bin.at[from].number / AS_BINS_OF_ROW;
            for (to = from; to < thread->bin.n; to++)
                if (thread->bin.at[to].number / AS_BINS_OF_ROW != segment)
                    break;
            AS_TRY(add_segment(all, index, level, from, to, bins, err));
        }
    }
    return 0;
}

int as_attribute_levels(struct as_attribution *all, struct as_error *err)
{
    struct as_levels *levels = &all->tally.levels;
    struct as_str bins = {0};
    int rc = 0;
    for (int64_t level = 0; rc == 0; level++) {
        rc = add_level(all, level, &bins, err);
        if (as_levels_length(levels) <= BINS_LEAST)
            break;
        as_levels_double(levels);
    }
    as_str_fini(&bins);
    return rc;
}
