/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the agent's results by site: totals of timed loops, and counts of block executions. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/search.h"
#include "mil/run.h"

/* ---- Times ----------------------------------------------------------------------------------- */

/* Returns the totals of a loop over all threads. */
static struct as_patch_total total_of(const struct as_instances *all, uint32_t loop)
{
    struct as_patch_total sum = {0};
    for (size_t at = loop; at < all->total.n; at += (size_t)all->plan->loop.n) {
        sum.instances += all->total.at[at].instances;
        sum.trips += all->total.at[at].trips;
        sum.ticks += all->total.at[at].ticks;
        sum.dropped += all->total.at[at].dropped;
    }
    return sum;
}

/* Returns true if every exit of the loop reports how often its header ran. */
static bool tells_rounds(const struct as_patch_plan *plan, const struct as_patch_loop *loop)
{
    const struct as_patch_exit *exit = as_patch_at(plan, &plan->exit);
    if (loop->tally != AS_PATCH_NONE || loop->counter != UINT32_MAX)
        return true;
    for (uint32_t i = 0; i < loop->exits; i++)
        if (exit[loop->first_exit + i].add == UINT64_MAX)
            return false;
    return loop->induction != AS_PATCH_NONE;
}

static void read_probed_loop(struct as_probe_session *run, const struct as_instances *all,
                             size_t site, const struct as_probe_facts *facts)
{
    struct as_probe_site *it = &run->result->sites.at[site];
    struct as_probe_value *value = &run->result->value[site];
    const uint32_t number = run->plan.verdict[it->loop].loop;
    const struct as_patch_loop *loops = as_patch_at(all->plan, &all->plan->loop);
    const struct as_patch_total sum = total_of(all, number);
    const double n = (double)sum.instances;
    const double ticks = fmax(0, (double)sum.ticks - run->tick.overhead * n);
    if (!sum.instances)
        it->refusal = as_instances_why_not(all, loops[number].region);
    if (it->refusal)
        return;
    value->cut_n = sum.dropped;
    value->entries = n;
    if (tells_rounds(all->plan, &loops[number]))
        value->rounds = (double)sum.trips;
    if (facts->actions & AS_PROBE_COUNT)
        value->count = facts->event == AS_PROBE_LOOP_BACK ? value->rounds - n : n;
    if (facts->actions & AS_PROBE_TIME) {
        value->time_s = ticks * run->tick.ns / 1e9;
        value->cycles = ticks * run->tick.cycles;
    }
    if (isnan(value->count) && facts->event == AS_PROBE_LOOP_BACK)
        it->refusal = "no register counts its iterations";
}

void as_probe_read_times(struct as_probe_session *run, const struct as_instances *all)
{
    for (size_t i = 0; i < run->result->sites.n; i++) {
        struct as_probe_facts facts;
        as_probes_get(run->request->probes, run->result->sites.at[i].probe, &facts);
        if (as_probe_is_timed(facts.event) && !run->result->sites.at[i].refusal)
            read_probed_loop(run, all, i, &facts);
    }
}

/* ---- Counts ---------------------------------------------------------------------------------- */

struct runs_from {
    uint64_t address, runs;
};

struct counted_code {
    const struct as_program *program;
    AS_VEC(struct runs_from) at; /* sorted by address */
};

static int by_address(const void *a, const void *b)
{
    const struct runs_from *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static int list_counters(struct counted_code *code, const struct as_instances *all)
{
    const struct as_patch_counter *counter = as_patch_at(all->plan, &all->plan->counter);
    for (uint64_t i = 0; i < all->counter.n; i++) {
        const struct runs_from it = {counter[i].address, all->counter.at[i]};
        if (counter[i].counts == AS_PATCH_RUNS && as_vec_push(&code->at, it) < 0)
            return -1;
    }
    if (code->at.n)
        qsort(code->at.at, code->at.n, sizeof *code->at.at, by_address);
    return 0;
}

/* Returns how often the code at an address of a block ran. The last counter at or before it in
 * the block gives the number. Returns NaN without such a counter. */
static double runs_at(const struct counted_code *code, const struct as_block *block,
                      uint64_t address)
{
    const struct runs_from *at = code->at.at;
    const size_t after = as_first_not(i, code->at.n, at[i].address <= address);
    assert(after < 2 || at[after - 2].address <= at[after - 1].address); /* counters ascend */
    return after && at[after - 1].address >= block->start ? (double)at[after - 1].runs
                                                          : (double)NAN;
}

static double exits_of(const struct counted_code *code, uint32_t body)
{
    const struct as_program *p = code->program;
    const struct as_body *it = &p->body[body];
    double sum = 0;
    for (uint32_t b = it->first_block; b < it->first_block + it->blocks; b++) {
        const struct as_block *block = &p->block[b];
        if (block->insns && block->bits & (AS_BLOCK_RETURN | AS_BLOCK_TAILCALL))
            sum += runs_at(code, block, p->code.insn[block->first_insn + block->insns - 1].address);
    }
    return sum;
}

/* Returns how often a call returned. The code behind a call has its own counter; at the end of a
 * block, that of the successor. */
static double returns_of(const struct counted_code *code, const struct as_probe_site *site)
{
    const struct as_program *p = code->program;
    const struct as_block *block = &p->block[site->block];
    const size_t call = as_code_find(&p->code, site->address);
    if (call + 1 < (size_t)block->first_insn + block->insns)
        return runs_at(code, block, p->code.insn[call + 1].address);
    block = &p->block[p->succ[block->first_succ].block];
    return runs_at(code, block, block->start);
}

static double count_of(const struct counted_code *code, const struct as_probe_site *site,
                       enum as_probe_event event)
{
    if (event == AS_PROBE_FUNCTION_EXIT)
        return exits_of(code, site->body);
    if (event == AS_PROBE_CALL_AFTER)
        return returns_of(code, site);
    return runs_at(code, &code->program->block[site->block], site->address);
}

uint32_t as_probe_region_of(const struct as_probe_session *run, const struct as_patch_plan *plan,
                            const struct as_probe_site *site)
{
    const bool points = plan->mode == AS_PATCH_PROBE;
    const struct as_patch_verdict *body_verdict =
        points ? run->plan.probed_body_verdict : run->plan.body_verdict;
    const uint8_t *refusal = points ? run->plan.probed_refusal : run->plan.refusal;
    const struct as_program *p = run->result->program;
    const struct as_patch_region *region = as_patch_at(plan, &plan->region);
    const struct as_patch_loop *loops = as_patch_at(plan, &plan->loop);
    const uint64_t entry = p->block[p->body[site->body].entry_block].start;
    for (uint32_t l = p->block[site->block].loop; l != AS_NONE; l = p->loop[l].parent)
        if (body_verdict[l].loop != AS_NONE && refusal[site->body])
            return loops[body_verdict[l].loop].region;
    for (uint32_t r = 0; r < plan->region.n; r++)
        if (region[r].header == entry)
            return r;
    return UINT32_MAX;
}

static void read_probe_count(struct as_probe_session *run, const struct counted_code *code,
                             const struct as_instances *all, size_t site)
{
    struct as_probe_site *it = &run->result->sites.at[site];
    struct as_probe_facts facts;
    as_probes_get(run->request->probes, it->probe, &facts);
    if (it->refusal || as_probe_is_timed(facts.event) || as_probe_is_whole(facts.event) ||
        !(facts.actions & AS_PROBE_COUNT))
        return;
    const double count = count_of(code, it, facts.event);
    if (!(count > 0))
        it->refusal = as_instances_why_not(all, as_probe_region_of(run, all->plan, it));
    if (!it->refusal && isnan(count))
        it->refusal = "its part of the program could not be counted";
    if (!it->refusal)
        run->result->value[site].count = count;
}

int as_probe_read_counts(struct as_probe_session *run, const struct as_instances *all,
                         struct as_error *err)
{
    struct counted_code code = {.program = run->result->program};
    const int rc = list_counters(&code, all) < 0 ? as_error_nomem(err, "counts") : 0;
    for (size_t i = 0; rc == 0 && i < run->result->sites.n; i++)
        read_probe_count(run, &code, all, i);
    as_vec_fini(&code.at);
    return rc;
}
