/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/levels.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"

#define BIN_LEAST_NS 1000000
#define BINS_MOST    2048         /* max bins of a thread */
#define BINS_IN_ALL  (128u << 10) /* max bins of all threads: 6 MiB of memory, 3 MB of rows */

const char *as_level_state_word(unsigned state)
{
    static const char *const word[] = {"user", "kernel", "running", "ready", "waiting"};
    assert((unsigned)state < sizeof word / sizeof *word);
    return word[state];
}

void as_levels_init(struct as_levels *levels)
{
    *levels = (struct as_levels){.bin_ns = BIN_LEAST_NS};
}

void as_levels_fini(struct as_levels *levels)
{
    as_vec_foreach (&levels->thread, thread)
        as_vec_fini(&thread->bin);
    as_vec_fini(&levels->thread);
}

void as_levels_double(struct as_levels *levels)
{
    levels->bins_n = 0;
    as_vec_foreach (&levels->thread, thread) {
        size_t n = 0;
        as_vec_foreach (&thread->bin, bin) {
            struct as_level_bin *last = n ? &thread->bin.at[n - 1] : NULL;
            bin->number /= 2;
            if (!last || last->number != bin->number) {
                thread->bin.at[n++] = *bin;
                continue;
            }
            for (unsigned state = 0; state < AS_LEVEL_STATES_N; state++)
                last->ns[state] += bin->ns[state];
        }
        thread->bin.n = n;
        levels->bins_n += n;
    }
    levels->bin_ns *= 2;
}

uint32_t as_levels_length(const struct as_levels *levels)
{
    uint32_t length = 0;
    as_vec_foreach (&levels->thread, thread)
        if (thread->bin.n && thread->bin.at[thread->bin.n - 1].number >= length)
            length = thread->bin.at[thread->bin.n - 1].number + 1;
    return length;
}

/* Returns the bin with this number, and adds it if it is new. NULL if memory is exhausted. It is
 * mostly the last bin. */
static struct as_level_bin *bin_of(struct as_levels *levels, struct as_level_thread *thread,
                                   uint32_t number)
{
    const size_t n = thread->bin.n, last = n ? n - 1 : 0;
    const size_t low = as_first_not_near(i, n, last, thread->bin.at[i].number < number);
    assert(low + 1 >= n || thread->bin.at[low].number < thread->bin.at[low + 1].number);
    if (low < thread->bin.n && thread->bin.at[low].number == number)
        return &thread->bin.at[low];
    if (as_vec_push(&thread->bin, (struct as_level_bin){0}) < 0)
        return NULL;
    struct as_level_bin *made = &thread->bin.at[low];
    memmove(made + 1, made, (thread->bin.n - 1 - low) * sizeof *made);
    *made = (struct as_level_bin){.number = number};
    levels->bins_n++;
    return made;
}

static int add_bins(struct as_levels *levels, uint32_t thread, enum as_level_state state,
                    int64_t begin_ns, int64_t end_ns)
{
    while (levels->thread.n <= thread)
        AS_TRY(as_vec_push(&levels->thread, (struct as_level_thread){0}));
    while (begin_ns < end_ns) {
        const int64_t number = begin_ns / levels->bin_ns;
        const int64_t next_ns = (number + 1) * levels->bin_ns;
        const int64_t until_ns = next_ns < end_ns ? next_ns : end_ns;
        struct as_level_bin *bin = bin_of(levels, &levels->thread.at[thread], (uint32_t)number);
        if (!bin)
            return AS_ERR_NOMEM;
        bin->ns[state] += until_ns - begin_ns;
        begin_ns = until_ns;
    }
    return 0;
}

void as_levels_add(struct as_levels *levels, uint32_t thread, enum as_level_state state,
                   int64_t begin_ns, int64_t end_ns)
{
    begin_ns = begin_ns > 0 ? begin_ns : 0;
    if (end_ns <= begin_ns || levels->failed)
        return;
    /* With more threads than bins, longer bins do not reduce their number; hence the limit of 4. */
    while ((end_ns - 1) / levels->bin_ns >= BINS_MOST ||
           (levels->bins_n > BINS_IN_ALL && levels->bins_n > 4 * levels->thread.n))
        as_levels_double(levels);
    levels->failed = add_bins(levels, thread, state, begin_ns, end_ns) < 0;
}
