/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run with clones of loops: the plan as a source of observation beside the others, which writes
 * it into the directory of the agent and reads what the threads left there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/whole.h"
#include "profile/inside.h"
#include "profile/record.h"
#include "vprof/timed.h"

#define SAMPLES_HZ                                                                                 \
    99 /* the profile is there already: this run is disturbed as little as can be                  \
        */

/* The request of such a run: the first member is what others see. */
struct timed_request {
    struct assay_profile_request request;
    const struct as_timed *timed;
    const uint8_t *plan;
    size_t plan_n;
    struct as_instances *out;
};

static const struct timed_request *request_of(const struct as_collection *all)
{
    return (const struct timed_request *)all->request;
}

static int write_plan(const struct timed_request *request, const char *directory,
                      struct assay_error *err)
{
    char path[4096 + 32];
    snprintf(path, sizeof path, "%s/" AS_PATCH_PLAN, directory);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const int error = fd < 0 ? errno : as_whole_write(fd, request->plan, request->plan_n);
    if (fd >= 0)
        close(fd);
    return error
               ? as_error_set(err, ASSAY_ERR_IO, "%s: cannot be written: %s", path, strerror(error))
               : 0;
}

static int prepare_clones(struct as_collector *it, const struct as_collection *all,
                          const struct assay_error *why, struct assay_error *err)
{
    const struct timed_request *request = request_of(all);
    struct as_inside *inside = as_calloc(1, sizeof *inside);
    (void)why;
    it->self = inside;
    if (!inside)
        return as_error_nomem(err, "a plan");
    AS_TRY(as_inside_join(inside, it, all, err));
    as_agent_session_part(inside->session, "patch");
    if (request->timed->program[0])
        as_agent_session_only(inside->session, request->timed->program);
    return write_plan(request, as_agent_session_path(inside->session), err);
}

static int read_clones(struct as_collector *it, const struct as_collection *all,
                       struct assay_error *err)
{
    const struct timed_request *request = request_of(all);
    const char *path = as_inside_path(it->self, all);
    return path ? as_instances_read(path, (const void *)request->plan, request->out, err) : 0;
}

static void close_clones(struct as_collector *it)
{
    struct as_inside *inside = it->self;
    if (!inside)
        return;
    if (inside->directory[0] && inside->session) { /* of a program that was never let go */
        struct as_instances rest = {0};
        static const struct as_patch_plan none;
        as_instances_read(inside->directory, &none, &rest, NULL);
        as_instances_fini(&rest);
    }
    as_inside_leave(inside);
    as_free(inside);
}

static const struct as_collector_kind clones = {
    .name = "clones", .prepare = prepare_clones, .finish = read_clones, .close = close_clones};

int as_timed_record(const struct as_timed *timed, const struct as_collector_kind *const *kinds,
                    const struct assay_profile_request *request,
                    struct assay_profile_result *result, struct assay_error *err)
{
    struct as_output output;
    AS_TRY(as_output_divert(&output, timed->experiment, err));
    as_input_rewind(&timed->input);
    const int rc = as_profile_run_with(kinds, timed->experiment, request, result, err);
    as_output_restore(&output);
    const int kept = as_output_keep(timed->experiment, result->run_id, rc < 0 ? NULL : err);
    return rc < 0 ? rc : kept;
}

int as_timed_run(const struct as_timed *timed, const uint8_t *plan, size_t plan_n,
                 struct as_instances *instances, struct assay_profile_result *result,
                 struct assay_error *err)
{
    const struct as_collector_kind *kinds[AS_COLLECTORS_MOST] = {0};
    struct timed_request request = {.request = timed->request->profile,
                                    .timed = timed,
                                    .plan = plan,
                                    .plan_n = plan_n,
                                    .out = instances};
    size_t n = 0;
    while (as_collector_kinds[n] && n + 2 < AS_COLLECTORS_MOST) {
        kinds[n] = as_collector_kinds[n];
        n++;
    }
    kinds[n] = &clones;
    request.request.kind = "vprof";
    request.request.role = "repetition";
    request.request.reference_id = timed->run_id;
    request.request.sampling.rate_hz = SAMPLES_HZ;
    request.request.sampling.stacks = ASSAY_STACKS_OFF;
    return as_timed_record(timed, kinds, &request.request, result, err);
}
