/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Teams of OpenMP: waits for the last thread at the end of a region and at its barriers. Workers
 * are idle while no region is open. A thread that runs tasks at a barrier arrives at the end of the
 * last task.
 */
#include "analytics/state/walking.h"
#include "base/error.h"

#define TEAMS_MOST 4096u /* of a process; an end that is missing in the trace leaves one open */

/* ---- Barriers -------------------------------------------------------------------------------- */

static struct as_collective_member *member_at(struct as_team_barrier *meeting, uint32_t location)
{
    return as_vec_find(&meeting->member, location, location);
}

int as_team_barrier_enter(struct as_team_barrier *meeting, uint32_t location, uint32_t site,
                          int64_t ns)
{
    struct as_collective_member *again = member_at(meeting, location);
    const struct as_collective_member member = {.location = location,
                                                .site = site,
                                                .arrival_site = site,
                                                .begin_ns = ns,
                                                .enter_ns = ns,
                                                .leave_ns = INT64_MAX};
    if (!again)
        return as_vec_push(&meeting->member, member);
    *again = member; /* the end of the one before is not in the trace */
    return 0;
}

int as_team_barrier_end(struct as_team_barrier *meeting, enum as_wait_kind kind,
                        struct as_wait_list *out)
{
    const struct as_collective met = {.member_n = (uint32_t)meeting->member.n,
                                      .member = meeting->member.at,
                                      .kind = AS_COLLECTIVE_KIND_BARRIER,
                                      .root = -1};
    const int rc = met.member_n > 1 ? as_waits_of_threads(&met, kind, out) : 0;
    meeting->member.n = 0;
    return rc;
}

int as_team_barrier_leave(struct as_team_barrier *meeting, uint32_t location,
                          enum as_wait_kind kind, struct as_wait_list *out)
{
    /* A missing member was counted already: another thread went on at the same time. */
    return member_at(meeting, location) ? as_team_barrier_end(meeting, kind, out) : 0;
}

/* ---- Teams ----------------------------------------------------------------------------------- */

static struct as_open_team *find_team(struct as_trace_walk *walk, uint32_t process, int64_t region)
{
    struct as_open_teams *teams = &walk->teams.at[process];
    for (size_t i = teams->team.n; i-- > 0;)
        if (teams->team.at[i].region == region)
            return &teams->team.at[i];
    return NULL;
}

static void remove_team(struct as_open_teams *teams, struct as_open_team *team)
{
    as_vec_fini(&team->barrier.member);
    as_vec_fini(&team->end.member);
    for (; team + 1 < teams->team.at + teams->team.n; team++)
        *team = team[1];
    teams->team.n--;
}

static int site_in_team(struct as_trace_walk *walk, const struct as_walker *walker,
                        const struct as_open_team *team, uint32_t routine, uint32_t *out)
{
    const struct as_open_call frame = {
        .routine = routine, .group = AS_TRACE_OF_OPENMP, .address = team->place};
    return as_walk_site(walk, walker, &frame, out);
}

int as_teams_site(struct as_trace_walk *walk, const struct as_walker *walker, int64_t region,
                  uint32_t *out)
{
    static const struct as_open_team none;
    const struct as_open_team *team = find_team(walk, walker->process, region);
    return site_in_team(walk, walker, team ? team : &none, walk->barrier_routine, out);
}

static int open_team(struct as_trace_walk *walk, struct as_walker *walker,
                     const struct as_trace_event *event)
{
    struct as_open_teams *teams = &walk->teams.at[walker->process];
    struct as_open_team team = {.region = event->parallel.region,
                                .place = (uint64_t)event->parallel.threads,
                                .master = walker->location,
                                .begin_ns = event->raw_ns,
                                .closed_ns = INT64_MIN};
    AS_TRY(site_in_team(walk, walker, &team, walk->parallel_routine, &team.site));
    if (teams->team.n >= TEAMS_MOST)
        remove_team(teams, &teams->team.at[0]);
    return as_vec_push(&teams->team, team);
}

/* When all have come, which a clock may say after its master went on: workers have nothing to do
 * from then on. */
static int finish_team(struct as_trace_walk *walk, uint32_t process, struct as_open_team *team)
{
    int rc = 0;
    if (team->closed_ns == INT64_MIN || (int64_t)team->end.member.n < team->threads)
        return 0;
    as_vec_foreach (&team->end.member, member)
        if (rc == 0)
            rc = as_doing_released(walk, &walk->walker.at[member->location], team->closed_ns);
    if (rc == 0 && !walk->is_watched)
        rc = as_team_barrier_end(&team->end, AS_WAIT_OMP_BARRIER, &walk->out->waits);
    walk->out->unshared_n +=
        walk->trace->process.at[process].has_libgomp && team->threads > 1 && !team->has_work;
    remove_team(&walk->teams.at[process], team);
    return rc;
}

static int close_team(struct as_trace_walk *walk, const struct as_walker *walker,
                      const struct as_trace_event *event)
{
    struct as_open_team *team = find_team(walk, walker->process, event->parallel.region);
    if (!team)
        return 0;
    team->closed_ns = event->raw_ns;
    return finish_team(walk, walker->process, team);
}

/* A worker between two regions waited for the one that opens the next. */
static int begin_part(struct as_trace_walk *walk, const struct as_walker *walker,
                      const struct as_trace_event *event)
{
    struct as_open_team *team = find_team(walk, walker->process, event->parallel.region);
    if (team && event->parallel.threads < UINT32_MAX)
        team->threads = event->parallel.threads;
    if (!team || !walker->is_spare || team->master == walker->location ||
        team->begin_ns <= walker->spare_ns)
        return 0;
    return as_vec_push(&walk->out->waits.wait, (struct as_wait){.kind = AS_WAIT_IDLE,
                                                                .location = walker->location,
                                                                .site = team->site,
                                                                .cause = team->master,
                                                                .cause_site = team->site,
                                                                .begin_ns = walker->spare_ns,
                                                                .end_ns = team->begin_ns,
                                                                .cause_ns = team->begin_ns});
}

static int begin_work(struct as_trace_walk *walk, const struct as_walker *walker, int64_t region)
{
    struct as_open_team *team = find_team(walk, walker->process, region);
    if (team)
        team->has_work = true;
    return 0;
}

static int end_part(struct as_trace_walk *walk, struct as_walker *walker,
                    const struct as_trace_event *event)
{
    struct as_open_team *team = find_team(walk, walker->process, event->parallel.region);
    walker->awaits_team = team && team->closed_ns == INT64_MIN;
    if (!team)
        return 0;
    AS_TRY(as_team_barrier_enter(&team->end, walker->location, team->site, event->raw_ns));
    return finish_team(walk, walker->process, team);
}

static bool is_of_team(int64_t kind)
{
    return kind == AS_TRACE_EXPLICIT || kind == AS_TRACE_IMPLIED;
}

static int come_to_barrier(struct as_trace_walk *walk, const struct as_walker *walker,
                           const struct as_trace_event *event)
{
    struct as_open_team *team = find_team(walk, walker->process, event->lock.address);
    uint32_t site;
    if (!team)
        return 0;
    AS_TRY(site_in_team(walk, walker, team, walk->barrier_routine, &site));
    return as_team_barrier_enter(&team->barrier, walker->location, site, event->raw_ns);
}

static int leave_barrier(struct as_trace_walk *walk, const struct as_walker *walker,
                         const struct as_trace_event *event)
{
    struct as_open_team *team = find_team(walk, walker->process, event->lock.address);
    return team ? as_team_barrier_leave(&team->barrier, walker->location, AS_WAIT_OMP_BARRIER,
                                        &walk->out->waits)
                : 0;
}

static void come_later(struct as_team_barrier *meeting, uint32_t location, int64_t ns)
{
    struct as_collective_member *member = member_at(meeting, location);
    if (member)
        member->begin_ns = member->enter_ns = ns;
}

static int end_task(struct as_trace_walk *walk, const struct as_walker *walker, int64_t ns)
{
    as_vec_foreach (&walk->teams.at[walker->process].team, team) {
        come_later(&team->barrier, walker->location, ns);
        come_later(&team->end, walker->location, ns);
    }
    return 0;
}

/* ---- Events ---------------------------------------------------------------------------------- */

int as_teams_new(struct as_trace_walk *walk)
{
    for (size_t p = 0; p < walk->trace->process.n; p++)
        AS_TRY(as_vec_push(&walk->teams, (struct as_open_teams){0}));
    return 0;
}

void as_teams_free(struct as_trace_walk *walk)
{
    as_vec_foreach (&walk->teams, teams) {
        while (teams->team.n)
            remove_team(teams, &teams->team.at[teams->team.n - 1]);
        as_vec_fini(&teams->team);
    }
    as_vec_fini(&walk->teams);
}

/* Forgets the open regions: their arrivals while tracing is off are unknown. */
void as_teams_off(struct as_trace_walk *walk, const struct as_walker *walker)
{
    struct as_open_teams *teams = &walk->teams.at[walker->process];
    while (teams->team.n)
        remove_team(teams, &teams->team.at[teams->team.n - 1]);
}

int as_teams_event(struct as_trace_walk *walk, struct as_walker *walker,
                   const struct as_trace_event *event)
{
    switch (event->kind) {
    case AS_TRACE_PARALLEL:
        return open_team(walk, walker, event);
    case AS_TRACE_PARALLEL_END:
        return close_team(walk, walker, event);
    case AS_TRACE_IMPLICIT:
        return begin_part(walk, walker, event);
    case AS_TRACE_IMPLICIT_END:
        return end_part(walk, walker, event);
    case AS_TRACE_WORK:
        return begin_work(walk, walker, event->parallel.region);
    case AS_TRACE_BARRIER:
        return is_of_team(event->lock.kind) ? come_to_barrier(walk, walker, event) : 0;
    case AS_TRACE_BARRIER_END:
        return is_of_team(event->lock.kind) ? leave_barrier(walk, walker, event) : 0;
    case AS_TRACE_TASK_END:
        return end_task(walk, walker, event->raw_ns);
    default:
        return 0;
    }
}
