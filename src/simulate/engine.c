/* SPDX-License-Identifier: Apache-2.0 */
/* Running ranks: instant by instant if a network is limited, else as far ahead as they come. */
#include "simulate/engine.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* ---- Actions --------------------------------------------------------------------------------- */

/* A burst at the speed of its function and CPU, rounded to ns. */
static int64_t scaled_ns(int64_t ns, double speed)
{
    const double scaled = floor((double)ns / speed + 0.5);
    return scaled < (double)AS_SIMULATED_NS_MAX ? (int64_t)scaled : AS_SIMULATED_NS_MAX;
}

static int compute(struct as_replay *sim, uint32_t rank, const struct as_action *action)
{
    struct as_rank_state *r = &sim->rank[rank];
    const double speed = sim->name_speed[action->name] * r->speed;
    const int64_t ns = speed == 1 ? action->ns : scaled_ns(action->ns, speed);
    r->now_ns += ns;
    sim->out->rank.at[rank].computing_ns += ns;
    return 0;
}

static int wait_request(struct as_replay *sim, uint32_t rank, const struct as_action *action)
{
    struct as_request_row *found =
        as_numbered_find(&sim->requests, sizeof *found, rank, action->request);
    if (!found)
        return 0;
    const struct as_request_row row = *found;
    as_numbered_drop(&sim->requests, sizeof *found, found);
    if (row.id.kind == AS_REQUEST_COLLECTIVE)
        as_sim_wait_collective(sim, rank, row.comm, row.item);
    else
        as_sim_wait_message(sim, rank, row.item, row.id.kind == AS_REQUEST_SEND);
    return 0;
}

static int report_mark(const struct as_replay *sim, uint32_t rank, const struct as_action *action)
{
    const struct as_simulated_program *program = sim->program;
    return program->mark ? program->mark(program->mark_context, rank, action,
                                         sim->rank[rank].now_ns, sim->err)
                         : 0;
}

static int do_action(struct as_replay *sim, uint32_t rank, const struct as_action *action)
{
    switch (action->kind) {
    case AS_ACTION_COMPUTE:
        return compute(sim, rank, action);
    case AS_ACTION_SEND:
        return as_sim_send(sim, rank, action);
    case AS_ACTION_RECEIVE:
        return as_sim_receive(sim, rank, action);
    case AS_ACTION_COLLECTIVE:
        return as_sim_collective(sim, rank, action);
    case AS_ACTION_WAIT:
        return wait_request(sim, rank, action);
    case AS_ACTION_MARK:
        return report_mark(sim, rank, action);
    default:
        return as_sim_forget(sim, rank, action);
    }
}

static int read_actions(struct as_replay *sim, uint32_t rank)
{
    struct as_rank_state *r = &sim->rank[rank];
    size_t n = 0;
    if (sim->program->is_stopped && sim->program->is_stopped())
        return as_error_set(sim->err, AS_ERR_LIMIT, "simulation: stopped");
    AS_TRY(sim->program->read(sim->program->context, rank, r->action, sim->read_n, &n, sim->err));
    r->action_at = 0;
    r->action_n = (uint32_t)n;
    sim->out->actions_n += n;
    if (n == 0) {
        r->is_over = true;
        sim->out->rank.at[rank].end_ns = r->now_ns;
    }
    return 0;
}

/*
 * Until it waits, is over, or has done so many actions. It may run ahead of `until_ns`: its actions
 * have effects at its own time or later, whatever order ranks come in. A request that is given up
 * is the exception: it depends on the other side.
 */
static int run_rank(struct as_replay *sim, uint32_t rank, int64_t until_ns, unsigned budget)
{
    struct as_rank_state *r = &sim->rank[rank];
    while (budget-- > 0) {
        if (r->action_at == r->action_n)
            AS_TRY(read_actions(sim, rank));
        if (r->is_over)
            return 0;
        if (r->now_ns > until_ns && r->action[r->action_at].kind == AS_ACTION_FORGET)
            break;
        AS_TRY(do_action(sim, rank, &r->action[r->action_at++]));
        if (r->waits_for)
            return 0;
        if (r->now_ns > AS_SIMULATED_NS_MAX)
            return as_error_set(sim->err, AS_ERR_CORRUPT,
                                "rank %u: simulated time exceeds 36 years; check the lengths of "
                                "its bursts",
                                rank);
    }
    return as_due_push(&sim->timers, r->now_ns, rank, rank) < 0
               ? as_error_nomem(sim->err, "the ranks")
               : 0;
}

/* ---- Both ways to run ------------------------------------------------------------------------ */

static int run_ahead(struct as_replay *sim)
{
    while (sim->timers.due.n)
        AS_TRY(run_rank(sim, as_due_pop(&sim->timers), INT64_MAX, AS_ACTIONS_MAX));
    return 0;
}

static int64_t next_instant(const struct as_replay *sim)
{
    const int64_t timer_ns = as_due_first_ns(&sim->timers), end_ns = as_due_first_ns(&sim->ends);
    const int64_t ready_ns = as_due_first_ns(&sim->ready);
    const int64_t ns = timer_ns < end_ns ? timer_ns : end_ns;
    return ns < ready_ns ? ns : ready_ns;
}

static int run_in_order(struct as_replay *sim)
{
    for (int64_t ns; (ns = next_instant(sim)) != INT64_MAX;) {
        AS_TRY(as_sim_release(sim, ns));
        do {
            while (as_due_first_ns(&sim->timers) <= ns)
                AS_TRY(run_rank(sim, as_due_pop(&sim->timers), ns, AS_ACTIONS_MIN));
            AS_TRY(as_sim_begin_ready(sim, ns));
        } while (as_due_first_ns(&sim->timers) <= ns);
    }
    return 0;
}

/* ---- Beginning ------------------------------------------------------------------------------- */

static uint32_t node_of(const struct as_replay *sim, uint32_t rank)
{
    if (sim->model->ranks_per_node)
        return rank / sim->model->ranks_per_node;
    return sim->program->node.n ? sim->program->node.at[rank] : rank;
}

static double speed_of_cpu(const struct as_machine_model *model, uint32_t rank, uint32_t node)
{
    double speed = model->speed;
    as_vec_foreach (&model->speeds, s)
        if (!s->name && s->number == (s->is_node ? node : rank))
            speed *= s->times;
    return speed;
}

static int begin_ranks(struct as_replay *sim)
{
    const uint32_t n = sim->program->rank_n;
    sim->rank = as_calloc(n ? n : 1, sizeof *sim->rank);
    sim->name_speed = as_malloc((sim->model->speeds.n + 1) * sizeof *sim->name_speed);
    if (!sim->rank || !sim->name_speed || as_vec_reserve(&sim->out->rank, n) < 0)
        return as_error_nomem(sim->err, "the ranks");
    sim->name_speed[0] = 1;
    sim->read_n = AS_ACTIONS_ALL_N / (n ? n : 1);
    sim->read_n = sim->read_n < AS_ACTIONS_MIN   ? AS_ACTIONS_MIN
                  : sim->read_n > AS_ACTIONS_MAX ? AS_ACTIONS_MAX
                                                 : sim->read_n;
    for (size_t i = 0; i < sim->model->speeds.n; i++)
        sim->name_speed[i + 1] = sim->model->speeds.at[i].name ? sim->model->speeds.at[i].times : 1;
    for (uint32_t i = 0; i < n; i++) {
        struct as_rank_state *r = &sim->rank[i];
        r->node = node_of(sim, i);
        r->machine = as_machine_of_node(sim->model, r->node);
        r->speed = speed_of_cpu(sim->model, i, r->node);
        sim->node_n = r->node >= sim->node_n ? r->node + 1 : sim->node_n;
        assert(r->machine <= r->node);
        r->action = as_malloc(sim->read_n * sizeof *r->action);
        sim->out->rank.at[sim->out->rank.n++] = (struct as_simulated_rank){0};
        if (!r->action || as_due_push(&sim->timers, 0, i, i) < 0)
            return as_error_nomem(sim->err, "the ranks");
    }
    sim->node = as_calloc(sim->node_n ? sim->node_n : 1, sizeof *sim->node);
    return sim->node ? 0 : as_error_nomem(sim->err, "the nodes");
}

struct spread_count {
    uint32_t members_n, nodes_n; /* of a node; of a machine, at its first node */
};

static void note_max(uint32_t *max, uint32_t n)
{
    *max = n > *max ? n : *max;
}

/* Members of a node, nodes of a machine, machines. */
static void spread_comm(const struct as_replay *sim, const struct as_program_comm *from,
                        struct spread_count *count, struct as_simulated_comm *to)
{
    memset(count, 0, sim->node_n * sizeof *count);
    to->member_n = (uint32_t)from->rank.n;
    as_vec_foreach (&from->rank, rank) {
        const struct as_rank_state *r = &sim->rank[*rank];
        struct spread_count *node = &count[r->node], *machine = &count[r->machine];
        note_max(&to->spread.n[AS_NETWORK_INSIDE], ++node->members_n);
        if (node->members_n > 1)
            continue;
        note_max(&to->spread.n[AS_NETWORK_BETWEEN], ++machine->nodes_n);
        to->spread.n[AS_NETWORK_WIDE] += machine->nodes_n == 1;
    }
}

static int begin_comms(struct as_replay *sim)
{
    const size_t n = sim->program->comm.n;
    struct spread_count *count = as_calloc(sim->node_n + 1, sizeof *count);
    sim->comm = as_calloc(n + 1, sizeof *sim->comm);
    const bool is_there = count && sim->comm;
    for (size_t i = 0; is_there && i < n; i++)
        spread_comm(sim, &sim->program->comm.at[i], count, &sim->comm[i]);
    as_free(count);
    return is_there ? 0 : as_error_nomem(sim->err, "the communicators");
}

static int begin_simulation(struct as_replay *sim)
{
    for (unsigned i = 0; i < AS_NETWORKS_N; i++) {
        const struct as_network *network = &sim->model->network[i];
        sim->is_limited[i] = network->buses || network->in_links || network->out_links;
        sim->is_ordered |= sim->is_limited[i];
    }
    AS_TRY(begin_ranks(sim));
    return begin_comms(sim);
}

/* ---- The end --------------------------------------------------------------------------------- */

static int explain_deadlock(const struct as_replay *sim, uint32_t waiting_n)
{
    char text[2][160] = {"", ""};
    unsigned told = 0;
    for (uint32_t i = 0; i < sim->program->rank_n && told < 2; i++)
        if (sim->rank[i].waits_for)
            as_sim_explain_wait(sim, i, text[told++], sizeof text[0]);
    return as_error_set(sim->err, AS_ERR_CORRUPT,
                        "deadlock: %u of %u ranks never end: %s%s%s; record the whole program, "
                        "or raise --eager",
                        waiting_n, sim->program->rank_n, text[0], told > 1 ? ", " : "", text[1]);
}

static int end_simulation(struct as_replay *sim)
{
    uint32_t waiting_n = 0;
    for (uint32_t i = 0; i < sim->program->rank_n; i++) {
        const int64_t end_ns = sim->out->rank.at[i].end_ns;
        waiting_n += sim->rank[i].waits_for != AS_WAITS_FOR_NOTHING;
        sim->out->total_ns = end_ns > sim->out->total_ns ? end_ns : sim->out->total_ns;
    }
    if (waiting_n)
        return explain_deadlock(sim, waiting_n);
    for (size_t i = 0; i < sim->chain_n; i++)
        for (uint32_t at = sim->chain[i].first; at != AS_NO_MESSAGE; at = sim->message.at[at].next)
            sim->out->unreceived_n += sim->message.at[at].sent_ns != AS_UNKNOWN_NS;
    return 0;
}

static void free_simulation(struct as_replay *sim)
{
    for (uint32_t i = 0; sim->rank && i < sim->program->rank_n; i++)
        as_free(sim->rank[i].action);
    for (size_t i = 0; sim->comm && i < sim->program->comm.n; i++)
        as_vec_fini(&sim->comm[i].open);
    for (uint32_t i = 0; sim->node && i < sim->node_n; i++)
        for (unsigned k = 0; k < AS_NETWORKS_N; k++) {
            as_vec_fini(&sim->node[i].network[k].queue.due);
            as_vec_fini(&sim->node[i].in[k].queue.due);
            as_vec_fini(&sim->node[i].out[k].queue.due);
        }
    as_free(sim->rank);
    as_free(sim->comm);
    as_free(sim->node);
    as_free(sim->name_speed);
    as_free(sim->chain);
    as_vec_fini(&sim->timers.due);
    as_vec_fini(&sim->ends.due);
    as_vec_fini(&sim->ready.due);
    as_vec_fini(&sim->changed);
    as_vec_fini(&sim->message);
    as_vec_fini(&sim->meeting);
    as_numbered_fini(&sim->requests);
    as_numbered_fini(&sim->counts);
}

int as_simulate_program(struct as_simulated_program *program, const struct as_machine_model *model,
                        struct as_simulated *out, struct as_error *err)
{
    struct as_replay sim = {.program = program,
                            .model = model,
                            .out = out,
                            .err = err,
                            .free_message = AS_NO_MESSAGE,
                            .free_meeting = UINT32_MAX};
    *out = (struct as_simulated){0};
    int rc = program->rewind ? program->rewind(program->context, err) : 0;
    if (rc == 0)
        rc = begin_simulation(&sim);
    if (rc == 0)
        rc = sim.is_ordered ? run_in_order(&sim) : run_ahead(&sim);
    if (rc == 0)
        rc = end_simulation(&sim);
    free_simulation(&sim);
    return rc;
}

void as_simulated_fini(struct as_simulated *simulated)
{
    as_vec_fini(&simulated->rank);
}

void as_program_fini(struct as_simulated_program *program)
{
    if (program->close)
        program->close(program->context);
    as_vec_foreach (&program->comm, comm)
        as_vec_fini(&comm->rank);
    as_vec_fini(&program->comm);
    as_vec_fini(&program->node);
    *program = (struct as_simulated_program){0};
}
