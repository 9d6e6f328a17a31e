/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to look at next: sentences that follow from the numbers of a profile, heaviest first, and
 * the commands that go with them. Thresholds are the constants below; each rule says its numbers,
 * so that a reader can judge it.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "report/profile.h"
#include "report/short_name.h"

#define ADVICE_MOST    5
#define NAME_MOST      60 /* bytes of a name in a sentence */
#define LOST_PCT       1.0
#define OVERHEAD_PCT   5.0
#define NO_DEBUG_PCT   5.0
#define UNKNOWN_PCT    5.0
#define PARALLEL_PCT   20.0
#define OTHER_PCT      10.0
#define WAITING_PCT    20.0
#define UNEVEN         0.10 /* the slowest over the mean */
#define DOMINATING_PCT 30.0
#define HOT_LOOP_PCT   10.0
#define FLAT_PCT       10.0
#define FEW_SAMPLES    1000 /* a share of 10 % is known to about +-2 points */
#define SHORT_S        1.0

/* ---- Words -------------------------------------------------------------------------------- */

/* `z` as a shell reads it; NULL when out of memory. */
static const char *quoted(struct as_profile *profile, const char *z)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./+=:,@%";
    char *copy, *to;

    if (*z && !z[strspn(z, plain)])
        return z;
    copy = to = as_arena_alloc(&profile->arena, strlen(z) * 4 + 3, 1);
    if (!copy)
        return NULL;
    *to++ = '\'';
    for (; *z; z++) {
        if (*z == '\'') {
            memcpy(to, "'\\''", 4);
            to += 4;
        } else {
            *to++ = *z;
        }
    }
    *to++ = '\'';
    *to = '\0';
    return copy;
}

/* "solver.c:12-23", "solver.c:12", or NULL where no source is known. */
static const char *lines_of(struct as_profile *profile, const struct as_profile_loop *loop)
{
    const char *file = as_path_last(loop->file);

    if (!file || !loop->first_line)
        return NULL;
    if (!loop->last_line || loop->last_line == loop->first_line)
        return as_profile_text(profile, "%s:%lld", file, (long long)loop->first_line);
    return as_profile_text(profile, "%s:%lld-%lld", file, (long long)loop->first_line,
                           (long long)loop->last_line);
}

static const char *show(struct as_profile *profile, const char *view)
{
    const char *path = quoted(profile, profile->path);

    return path ? as_profile_text(profile, "assay show %s --view %s", path, view) : NULL;
}

/* A name short enough to stand in a sentence. */
static const char *short_name(struct as_profile *profile, const char *name)
{
    struct as_str s = {0};
    const char *copy;

    as_short_name(&s, name, NAME_MOST);
    if (s.n > 2 * NAME_MOST)
        copy = as_profile_text(profile, "%.*s...%s", NAME_MOST, as_str_z(&s),
                               as_str_z(&s) + s.n - NAME_MOST / 2);
    else
        copy = as_profile_text(profile, "%s", as_str_z(&s));
    as_str_fini(&s);
    return copy ? copy : name;
}

/* The code of a function, where it is in a file; the linkage name needs no quotes. */
static const char *disassemble(struct as_profile *profile,
                               const struct as_profile_function *function)
{
    const char *path = function->module_path;
    const char *name =
        quoted(profile, function->linkage_name ? function->linkage_name : function->name);
    const char *binary = path && *path == '/' ? quoted(profile, path) : NULL;

    return name && binary ? as_profile_text(profile, "assay disasm --function %s %s", name, binary)
                          : NULL;
}

/* What shares are of. */
static const char *time_of(const struct as_profile *profile)
{
    return as_profile_is_partial(profile) ? "sampled time" : "time";
}

/* ---- Rules -------------------------------------------------------------------------------- */

/* A rule adds at most one; a text that could not be made fails the push. */
static int add(struct as_profile *profile, double weight, const char *topic, const char *text,
               const char *command)
{
    const struct as_profile_advice it = {topic, text, command, weight};

    return text ? as_vec_push(&profile->advice, it) : ASSAY_ERR_NOMEM;
}

/* Then nothing else can be said. */
static int advise_unfinished(struct as_profile *profile)
{
    const struct as_profile_run *run = &profile->run;
    const char *path = quoted(profile, profile->path);

    const bool may_live = run->state && strcmp(run->state, "recording") == 0;

    return add(profile, 400, may_live ? "recording" : "not_attributed",
               may_live ? "This run is being recorded; if no assay does so any more, finish it "
                          "with the command below."
                        : "The samples of this run are not attributed, for assay was stopped "
                          "before: finish it with the command below.",
               path ? as_profile_text(profile, "assay attribute %s", path) : NULL);
}

static int advise_ending(struct as_profile *profile)
{
    const struct as_profile_run *run = &profile->run;

    as_vec_foreach (&profile->flag, it)
        if (it->name && strcmp(it->name, "crashed") == 0)
            return add(profile, 300, "crashed",
                       as_profile_text(profile,
                                       "The program crashed: %s. The profile shows what it did "
                                       "until then.",
                                       it->text),
                       show(profile, "processes"));
    if (run->exit_signal > 0)
        return add(profile, 300, "killed",
                   as_profile_text(profile,
                                   "The program was killed by SIG%s: the profile shows what it did "
                                   "until then.",
                                   sigabbrev_np((int)run->exit_signal)
                                       ? sigabbrev_np((int)run->exit_signal)
                                       : "?"),
                   NULL);
    if (run->exit_code > 0)
        return add(profile, 200, "failed",
                   as_profile_text(profile,
                                   "The program ended with exit code %lld: make sure that it did "
                                   "its work.",
                                   (long long)run->exit_code),
                   NULL);
    return 0;
}

/* What was not seen, why, and what to do stand in the flag. */
static int advise_unseen(struct as_profile *profile)
{
    const struct as_profile_run *run = &profile->run;

    if (!as_profile_is_partial(profile))
        return 0;
    return add(profile, 280, "unseen_time",
               as_profile_text(profile,
                               "%.0f %% of the processor time was not sampled, and all shares are "
                               "of the rest: above, unseen_time says of which processes it is and "
                               "what to do.",
                               100 * run->unseen_s / run->cpu_s),
               show(profile, "processes"));
}

static int advise_samples(struct as_profile *profile)
{
    const struct as_profile_run *run = &profile->run;
    const int64_t all = run->sample_n + run->lost_n;
    const double lost_pct = all ? 100.0 * (double)run->lost_n / (double)all : 0;

    if (lost_pct > LOST_PCT)
        AS_TRY(
            add(profile, 100 + lost_pct, "lost_samples",
                as_profile_text(profile,
                                "%.1f %% of the samples were lost: record with a lower --rate or "
                                "without unwinding (--call-stacks fp or off).",
                                lost_pct),
                NULL));
    if (run->overhead_pct > OVERHEAD_PCT && run->wall_s >= SHORT_S)
        AS_TRY(add(profile, 60, "overhead",
                   as_profile_text(profile,
                                   "Measuring took %.1f %% of the run: record with a lower --rate.",
                                   run->overhead_pct),
                   NULL));
    if (as_profile_is_partial(profile)) /* a longer run has no larger part of its time sampled */
        return 0;
    if (!run->sample_n)
        return add(profile, 250, "no_samples",
                   "No sample was taken of running code: the program hardly ran, or ended before "
                   "the first; run it longer or give --rate high.",
                   NULL);
    if (run->sample_n < FEW_SAMPLES)
        return add(
            profile, run->sample_n < 100 ? 150 : 50, "few_samples",
            as_profile_text(profile, "%lld samples tell a share of 10 %% to ±%.1f points only: %s.",
                            (long long)run->sample_n, 196 * sqrt(0.1 * 0.9 / (double)run->sample_n),
                            run->wall_s < SHORT_S ? "the run is short; give a larger problem or "
                                                    "--rate high"
                                                  : "run longer or give a higher --rate"),
            NULL);
    return 0;
}

static bool is_system(const char *path)
{
    return path && (strncmp(path, "/usr/lib", 8) == 0 || strncmp(path, "/lib", 4) == 0 ||
                    strncmp(path, "/usr/bin/", 9) == 0);
}

/* Only the hottest module without debug information: the others come after it is mended. */
static int advise_debug(struct as_profile *profile)
{
    as_vec_foreach (&profile->module, it) {
        const bool is_file =
            it->kind && (strcmp(it->kind, "executable") == 0 || strcmp(it->kind, "shared") == 0);

        if (!is_file || !it->no_debug || it->self.pct <= NO_DEBUG_PCT)
            continue;
        return add(
            profile, it->self.pct, "no_debug",
            as_profile_text(profile,
                            "%s has no debug information and takes %.1f %% of the %s: %s "
                            "to see its source lines%s.",
                            it->name, it->self.pct, time_of(profile),
                            is_system(it->path) ? "install its debug symbols" : "build it with -g",
                            is_system(it->path) ? "" : " (-g costs no speed)"),
            NULL);
    }
    return 0;
}

static int advise_unknown(struct as_profile *profile)
{
    if (profile->unknown_pct <= UNKNOWN_PCT)
        return 0;
    return add(profile, profile->unknown_pct, "unknown_code",
               as_profile_text(profile,
                               "%.1f %% of the %s is in code whose function is not known, most of "
                               "it in %s: keep its symbols (no strip, no -s); a just-in-time "
                               "compiler should write /tmp/perf-PID.map.",
                               profile->unknown_pct, time_of(profile), profile->unknown_module),
               show(profile, "modules"));
}

static const struct as_profile_spread *work_over(struct as_profile *profile)
{
    const struct as_profile_spread *worst = NULL;

    as_vec_foreach (&profile->spread, it) {
        /* Where there is a work row, it tells more than all time does. */
        if (!it->is_work && profile->spread.n > 1 &&
            it + 1 < profile->spread.at + profile->spread.n && it[1].is_work)
            continue;
        if (it->mean_s > 0 && (!worst || it->max_s / it->mean_s > worst->max_s / worst->mean_s))
            worst = it;
    }
    return worst;
}

static int advise_balance(struct as_profile *profile)
{
    const struct as_profile_spread *it = work_over(profile);
    double over;

    if (!it || it->max_s / it->mean_s - 1 <= UNEVEN || profile->run.sample_n < 100)
        return 0;
    over = it->max_s / it->mean_s - 1;
    return add(profile, 100 * over < 90 ? 100 * over : 90, "load_balance",
               as_profile_text(profile,
                               "The load is uneven over the %s: %s works %.0f %% longer than the "
                               "mean (%.2f s, mean %.2f s); the others wait for it.",
                               it->over, it->slowest, 100 * over, it->max_s, it->mean_s),
               show(profile, strcmp(it->over, "threads") == 0 ? "threads" : "processes"));
}

static int advise_categories(struct as_profile *profile)
{
    static const struct {
        const char *name;
        double least_pct;
        const char *text;
    } rule[] = {
        {"mpi", PARALLEL_PCT,
         "waiting for other ranks, or moving data: the call paths tell which calls, the load "
         "balance whether ranks wait for the slowest"},
        {"openmp", PARALLEL_PCT,
         "waiting at barriers or starting threads: look for uneven or very short parallel loops, "
         "and for more threads than cores"},
        {"pthread", PARALLEL_PCT, "locks and waiting for threads: look which locks are contended"},
        {"memory", OTHER_PCT,
         "allocating and freeing: keep buffers instead, or use another "
         "allocator"},
        {"io", OTHER_PCT, "reading and writing files: use larger or fewer requests"},
        {"string", OTHER_PCT, "copying and comparing memory: look who calls it in the call paths"},
        {"system", PARALLEL_PCT, "in the kernel: look which system calls or page faults cause it"},
    };

    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++) {
        as_vec_foreach (&profile->category, it) {
            if (!it->name || strcmp(it->name, rule[i].name) != 0 ||
                it->share.pct <= rule[i].least_pct)
                continue;
            AS_TRY(add(profile, it->share.pct, it->name,
                       as_profile_text(profile, "%s takes %.1f %% of the %s, %s.", it->title,
                                       it->share.pct, time_of(profile), rule[i].text),
                       show(profile, "callpaths")));
        }
    }
    return 0;
}

static int advise_waiting(struct as_profile *profile)
{
    const double all = profile->running_s + profile->blocked_s + profile->queued_s;
    const double pct = all > 0 ? 100 * profile->blocked_s / all : 0;

    if (pct <= WAITING_PCT)
        return 0;
    return add(profile, pct, "waiting",
               profile->blocked_function
                   ? as_profile_text(profile,
                                     "Threads that worked waited %.0f %% of their time off the "
                                     "processor, most of it in %s.",
                                     pct, short_name(profile, profile->blocked_function))
                   : as_profile_text(profile,
                                     "Threads that worked waited %.0f %% of their time off the "
                                     "processor.",
                                     pct),
               as_profile_text(profile, "assay show %s --view functions --sort blocked_time_s",
                               quoted(profile, profile->path)));
}

/* The hottest loop of a function, if it is among the hottest of all. */
static const struct as_profile_loop *loop_of(struct as_profile *profile,
                                             const struct as_profile_function *function)
{
    as_vec_foreach (&profile->loop, it)
        if (it->function && strcmp(it->function, function->name) == 0)
            return it;
    return NULL;
}

/* The hottest function that is no library's way of waiting or sending: that is advised on by its
 * category. */
static const struct as_profile_function *hottest(const struct as_profile *profile)
{
    as_vec_foreach (&profile->function, it)
        if (!it->category ||
            (strcmp(it->category, "openmp") != 0 && strcmp(it->category, "mpi") != 0 &&
             strcmp(it->category, "pthread") != 0))
            return it;
    return NULL;
}

static int advise_hottest(struct as_profile *profile)
{
    const struct as_profile_function *top = hottest(profile);
    const struct as_profile_loop *loop = top ? loop_of(profile, top) : NULL;
    const char *lines = loop ? lines_of(profile, loop) : NULL;
    const char *name = top ? short_name(profile, top->name) : NULL;

    if (!top)
        return 0;
    if (top->self.pct < FLAT_PCT)
        return add(
            profile, 10, "flat",
            as_profile_text(profile,
                            "The profile is flat: the hottest function, %s, takes %.1f %% of "
                            "the %s; look at the call paths for a caller worth changing.",
                            name, top->self.pct, time_of(profile)),
            show(profile, "callpaths"));
    if (loop && loop->self.pct > HOT_LOOP_PCT)
        return add(profile, top->self.pct, "hot_loop",
                   as_profile_text(profile,
                                   "%s takes %.1f %% of the %s by itself, %.1f %% in its loop %s%s:"
                                   " begin there.",
                                   name, top->self.pct, time_of(profile), loop->self.pct,
                                   lines ? "at " : "", lines ? lines : loop->address),
                   disassemble(profile, top));
    return add(profile, top->self.pct, "hot_function",
               as_profile_text(profile, "%s takes %.1f %% of the %s by itself%s: begin there.",
                               name, top->self.pct, time_of(profile),
                               top->self.pct > DOMINATING_PCT && top == profile->function.at
                                   ? ", more than any other"
                                   : ""),
               disassemble(profile, top));
}

/* ---- All of it ---------------------------------------------------------------------------- */

/* Heaviest first; those of equal weight stay in the order of the rules. */
static void sort(struct as_profile *profile)
{
    for (size_t i = 1; i < profile->advice.n; i++) {
        const struct as_profile_advice it = profile->advice.at[i];
        size_t to = i;

        for (; to > 0 && profile->advice.at[to - 1].weight < it.weight; to--)
            profile->advice.at[to] = profile->advice.at[to - 1];
        profile->advice.at[to] = it;
    }
    if (profile->advice.n > ADVICE_MOST)
        profile->advice.n = ADVICE_MOST;
}

static bool has_command(struct as_profile *profile, const char *command)
{
    as_vec_foreach (&profile->command, it)
        if (strcmp(*it, command) == 0)
            return true;
    return false;
}

/* The views first, then what the advice asks for, each once. */
static int add_commands(struct as_profile *profile)
{
    const char *view[] = {
        profile->function.n > 0 ? show(profile, "functions") : NULL,
        profile->loop.n > 0 ? show(profile, "loops") : NULL,
        profile->run.sample_n && profile->run.call_stacks &&
                strcmp(profile->run.call_stacks, "off") != 0
            ? show(profile, "callpaths")
            : NULL,
    };

    for (size_t i = 0; i < sizeof view / sizeof *view; i++)
        if (view[i])
            AS_TRY(as_vec_push(&profile->command, view[i]));
    as_vec_foreach (&profile->advice, it)
        if (it->command && !has_command(profile, it->command))
            AS_TRY(as_vec_push(&profile->command, it->command));
    return 0;
}

int as_profile_advise(struct as_profile *profile, struct assay_error *err)
{
    static int (*const rule[])(struct as_profile *) = {
        advise_ending,  advise_unseen,  advise_samples,    advise_hottest, advise_debug,
        advise_unknown, advise_balance, advise_categories, advise_waiting,
    };

    if (profile->run.is_unfinished && advise_unfinished(profile) < 0)
        return as_error_nomem(err, "the advice");
    const bool has_own = profile->run.is_unfinished || profile->has_findings;
    for (size_t i = 0; !has_own && i < sizeof rule / sizeof *rule; i++)
        if (rule[i](profile) < 0)
            return as_error_nomem(err, "the advice");
    if (!profile->has_findings)
        sort(profile);
    return add_commands(profile) < 0 ? as_error_nomem(err, "the advice") : 0;
}
