/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From lists of threads, processes, nodes and other settings and a template to the commands that
 * are run.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "scale.h"

#define LIST_MOST  256
#define COUNT_MOST 1000000
#define POINT_MOST 1000

struct list {
    int64_t at[LIST_MOST];
    size_t n;
};

/* ---- Lists --------------------------------------------------------------------------------- */

static int no_list(const char *option, const char *text, struct as_error *err)
{
    return as_error_set(err, AS_ERR_USAGE,
                        "--%s: invalid list '%s'; use numbers from 1 to %d, such as 1,2,4 or 1-4",
                        option, text, COUNT_MOST);
}

static bool parse_positive(const char **text, int64_t *number)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    const unsigned long long value = strtoull(*text, &end, 10);
    *number = (int64_t)value;
    *text = end;
    return value >= 1 && value <= COUNT_MOST;
}

static bool add_number(struct list *list, int64_t number)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i] == number)
            return true;
    if (list->n == LIST_MOST)
        return false;
    list->at[list->n++] = number;
    return true;
}

static int parse_scale_list(struct as_cli *cli, enum as_option_id option, const char *name,
                            struct list *list, struct as_error *err)
{
    const char *text = cli->args.value[option];
    for (const char *at = text; at;) {
        int64_t first, last;
        if (!parse_positive(&at, &first))
            return no_list(name, text, err);
        last = first;
        if (*at == '-' && (at++, !parse_positive(&at, &last)))
            return no_list(name, text, err);
        if (last < first || (*at && *at != ','))
            return no_list(name, text, err);
        for (int64_t i = first; i <= last; i++)
            if (!add_number(list, i))
                return as_error_set(err, AS_ERR_USAGE,
                                    "--%s: '%s' has more than %d numbers; use fewer", name, text,
                                    LIST_MOST);
        at = *at ? at + 1 : NULL;
    }
    return 0;
}

/* 1, 2, 4, ... up to the number of CPUs, and that number. */
static void default_threads(struct list *list)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    for (int64_t n = 1; n < cpus && list->n < LIST_MOST - 1; n *= 2)
        list->at[list->n++] = n;
    list->at[list->n++] = cpus > 1 ? cpus : 1;
}

/* ---- The template -------------------------------------------------------------------------- */

static bool has(char *const *words, const char *name)
{
    for (; *words; words++)
        if (as_setting_is_in(*words, name))
            return true;
    return false;
}

static int64_t most_of_list(const struct list *list)
{
    int64_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n = list->at[i] > n ? list->at[i] : n;
    return n;
}

/* Each varied setting must be in the command, and each placeholder of the command must be
 * varied. */
static int check_placeholder(char *const *words, const char *name, const struct list *list,
                             const char *example, struct as_error *err)
{
    const bool there = has(words, name);
    if (!there && most_of_list(list) > 1)
        return as_error_set(err, AS_ERR_USAGE,
                            "--%s: the command has no {%s}; use it as the number of the launcher, "
                            "as in '%s'",
                            name, name, example);
    if (there && !list->n)
        return as_error_set(err, AS_ERR_USAGE,
                            "scale: the command has {%s} without numbers for it; add --%s 1,2,4",
                            name, name);
    return 0;
}

/* "{threads}" and what else each point has, before what --vary names. */
enum { THREADS, PROCESSES, NODES, UNITS, OWN_N };

static const char *const own_names[OWN_N] = {"threads", "processes", "nodes", "units"};

static int64_t units_of(const struct as_scale_setting *it)
{
    return it->processes * (it->threads ? it->threads : 1);
}

static const char *const *expand_all(struct as_scale_plan *plan, char *const *words, size_t n,
                                     const struct as_scale_plan_point *it)
{
    const int64_t own[OWN_N] = {it->setting.threads, it->setting.processes, it->setting.nodes,
                                units_of(&it->setting)};
    char number[OWN_N][32];
    const char **command = as_arena_array(&plan->arena, const char *, n + 1);
    struct as_setting *all = as_arena_array(&plan->arena, struct as_setting, OWN_N + plan->axis_n);
    for (size_t i = 0; all && i < OWN_N; i++) {
        snprintf(number[i], sizeof number[i], "%lld", (long long)own[i]);
        all[i] = (struct as_setting){.name = own_names[i], .value = number[i]};
    }
    for (size_t i = 0; all && i < plan->axis_n; i++)
        all[OWN_N + i] = it->variant[i];
    for (size_t i = 0; all && command && i < n; i++) {
        char *word = as_setting_expand(words[i], all, OWN_N + plan->axis_n);
        command[i] = word ? as_arena_strndup(&plan->arena, word, strlen(word)) : NULL;
        free(word);
        if (!command[i])
            return NULL;
    }
    return all ? command : NULL;
}

/* ---- Other settings ------------------------------------------------------------------------ */

static int check_axis(struct as_cli *cli, const struct as_scale_plan *plan,
                      const struct as_axis *axis, struct as_error *err)
{
    for (size_t i = 0; i < OWN_N; i++)
        if (strcmp(axis->name, own_names[i]) == 0)
            return as_error_set(err, AS_ERR_USAGE,
                                "--vary: {%s} is computed from --threads, --processes and "
                                "--nodes; set those",
                                axis->name);
    for (size_t i = 0; i < plan->axis_n; i++)
        if (strcmp(plan->axis[i]->name, axis->name) == 0)
            return as_error_set(err, AS_ERR_USAGE,
                                "--vary: %s is set twice; use one list with all values",
                                axis->name);
    if (strcmp(axis->name, "env:OMP_NUM_THREADS") == 0 && as_given(&cli->args, AS_OPTION_THREADS))
        return as_error_set(err, AS_ERR_USAGE,
                            "--vary: --threads sets OMP_NUM_THREADS too; remove one of the two");
    if (strncmp(axis->name, "env:", 4) != 0 && !has(cli->args.positional, axis->name))
        return as_error_set(err, AS_ERR_USAGE,
                            "--vary: the command has no {%s}; add it as the argument of the "
                            "program",
                            axis->name);
    return 0;
}

static int parse_axes(struct as_cli *cli, struct as_scale_plan *plan, struct as_error *err)
{
    const size_t n = cli->args.list[AS_OPTION_VARY].n;
    plan->axis = as_arena_array(&plan->arena, struct as_axis *, n + 1);
    if (!plan->axis)
        return as_error_nomem(err, "the combinations");
    for (size_t i = 0; i < n; i++) {
        struct as_axis *axis;
        AS_TRY(as_axis_parse(cli->args.list[AS_OPTION_VARY].at[i], &axis, err));
        const int rc = check_axis(cli, plan, axis, err);
        if (rc < 0) {
            as_axis_free(&axis);
            return rc;
        }
        plan->axis[plan->axis_n++] = axis;
    }
    return 0;
}

/* ---- Combinations -------------------------------------------------------------------------- */

static int by_units(const void *a, const void *b)
{
    const struct as_scale_plan_point *p = a, *q = b;
    const struct as_scale_setting *x = &p->setting, *y = &q->setting;
    const int64_t ux = units_of(x), uy = units_of(y);
    if (p->variant_number != q->variant_number)
        return p->variant_number < q->variant_number ? -1 : 1;
    if (ux != uy)
        return ux < uy ? -1 : 1;
    if (x->processes != y->processes)
        return x->processes < y->processes ? -1 : 1;
    return (x->nodes > y->nodes) - (x->nodes < y->nodes);
}

/* "size=1000 NAME=x", then those of nodes, processes and threads that are set. */
static void emit_label(struct as_str *label, const struct as_scale_plan *plan,
                       const struct as_scale_plan_point *it, bool with_nodes)
{
    for (size_t i = 0; i < plan->axis_n; i++) {
        const char *name = it->variant[i].name;
        as_str_appendf(label, "%s%s=%s", label->n ? " " : "",
                       strncmp(name, "env:", 4) == 0 ? name + 4 : name, it->variant[i].value);
    }
    if (plan->axis_n && it->setting.threads == 0 && it->setting.processes == 1 && !with_nodes)
        return;
    if (label->n)
        as_str_appendz(label, " ");
    if (with_nodes)
        as_str_appendf(label, "%lldx", (long long)it->setting.nodes);
    as_str_appendf(label, "%lldx", (long long)it->setting.processes);
    if (it->setting.threads)
        as_str_appendf(label, "%lld", (long long)it->setting.threads);
    else
        as_str_appendz(label, "any");
}

static int add_point(struct as_cli *cli, struct as_scale_plan *plan,
                     const struct as_scale_setting *it, size_t variant, bool with_nodes)
{
    struct as_str label = {0};
    struct as_scale_plan_point *point = &plan->point[plan->point_n++];
    struct as_setting *settings = as_arena_array(&plan->arena, struct as_setting, plan->axis_n + 1);
    if (!settings)
        return AS_ERR_NOMEM;
    as_axes_at(plan->axis, plan->axis_n, variant, settings);
    *point = (struct as_scale_plan_point){
        .setting = *it, .variant = settings, .variant_number = variant};
    emit_label(&label, plan, point, with_nodes);
    point->label = label.failed ? NULL : as_arena_strndup(&plan->arena, as_str_z(&label), label.n);
    point->command = expand_all(plan, cli->args.positional, cli->args.positional_n, point);
    as_str_fini(&label);
    return point->label && point->command ? 0 : AS_ERR_NOMEM;
}

struct lists {
    struct list nodes, processes, threads;
};

/* As many processes on each node, or none of them can be started as told. */
static bool makes_sense(struct as_cli *cli, const struct as_scale_setting *it, bool is_first)
{
    if (it->processes % it->nodes == 0)
        return true;
    if (is_first)
        as_cli_note(cli,
                    "--processes %lld with --nodes %lld is left out: the nodes do not divide "
                    "the processes evenly",
                    (long long)it->processes, (long long)it->nodes);
    return false;
}

static int combine(struct as_cli *cli, struct as_scale_plan *plan, const struct lists *lists,
                   struct as_error *err)
{
    const bool with_nodes = as_given(&cli->args, AS_OPTION_NODES);
    const size_t own_n = lists->nodes.n * lists->processes.n * lists->threads.n;
    const size_t variant_n = as_axes_product(plan->axis, plan->axis_n);
    size_t n;
    if (__builtin_mul_overflow(own_n, variant_n, &n) || n > POINT_MOST)
        return as_error_set(err, AS_ERR_USAGE,
                            "scale: the settings have more than %d combinations; vary fewer at "
                            "once",
                            POINT_MOST);
    plan->point = as_arena_array(&plan->arena, struct as_scale_plan_point, n);
    if (!plan->point)
        return as_error_nomem(err, "the combinations");
    for (size_t i = 0; i < n; i++) {
        const size_t own = i % own_n, t = own % lists->threads.n, rest = own / lists->threads.n;
        const struct as_scale_setting it = {.nodes = lists->nodes.at[rest / lists->processes.n],
                                            .processes =
                                                lists->processes.at[rest % lists->processes.n],
                                            .threads = lists->threads.at[t],
                                            .weak = as_given(&cli->args, AS_OPTION_WEAK)};
        if (makes_sense(cli, &it, t == 0 && i < own_n) &&
            add_point(cli, plan, &it, i / own_n, with_nodes) < 0)
            return as_error_nomem(err, "the combinations");
    }
    qsort(plan->point, plan->point_n, sizeof *plan->point, by_units);
    if (plan->point_n == 0)
        return as_error_set(err, AS_ERR_USAGE,
                            "scale: no combination of --nodes and --processes can be run; "
                            "processes must be a multiple of nodes");
    return 0;
}

static int parse_scale_lists(struct as_cli *cli, struct lists *lists, struct as_error *err)
{
    char *const *words = cli->args.positional;
    AS_TRY(parse_scale_list(cli, AS_OPTION_NODES, "nodes", &lists->nodes, err));
    AS_TRY(parse_scale_list(cli, AS_OPTION_PROCESSES, "processes", &lists->processes, err));
    AS_TRY(parse_scale_list(cli, AS_OPTION_THREADS, "threads", &lists->threads, err));
    AS_TRY(check_placeholder(words, "nodes", &lists->nodes,
                             "srun -N {nodes} -n {processes} ./program", err));
    AS_TRY(check_placeholder(words, "processes", &lists->processes,
                             "mpirun -n {processes} ./program", err));
    const bool is_varied = as_given(&cli->args, AS_OPTION_VARY);
    if (!lists->threads.n &&
        (has(words, "threads") || (!lists->processes.n && (!is_varied || has(words, "units")))))
        default_threads(&lists->threads);
    if (!lists->threads.n && is_varied)
        (void)add_number(&lists->threads, 0); /* as many as the program likes */
    (void)add_number(&lists->nodes, lists->nodes.n ? lists->nodes.at[0] : 1);
    (void)add_number(&lists->processes, lists->processes.n ? lists->processes.at[0] : 1);
    (void)add_number(&lists->threads, lists->threads.n ? lists->threads.at[0] : 1);
    return 0;
}

/* ---- The whole ----------------------------------------------------------------------------- */

int as_scale_reference(struct as_cli *cli, struct as_scale_setting *setting,
                       const struct as_scale_setting **out, struct as_error *err)
{
    const char *text = cli->args.value[AS_OPTION_REFERENCE], *at = text;
    *out = NULL;
    if (!text)
        return 0;
    if (!parse_positive(&at, &setting->processes) || *at++ != ':' ||
        !parse_positive(&at, &setting->threads) || *at)
        return as_error_set(err, AS_ERR_USAGE,
                            "--reference: invalid value '%s'; use processes and threads, such as "
                            "1:4",
                            text);
    *out = setting;
    return 0;
}

static int mark_reference(struct as_cli *cli, struct as_scale_plan *plan, struct as_error *err)
{
    struct as_scale_setting setting;
    const struct as_scale_setting *wanted;
    AS_TRY(as_scale_reference(cli, &setting, &wanted, err));
    bool found = wanted == NULL;
    for (size_t i = 0; i < plan->point_n && !found; i++) {
        struct as_scale_setting *it = &plan->point[i].setting;
        it->is_reference = found =
            it->processes == wanted->processes && it->threads == wanted->threads;
        plan->reference = found ? i : 0;
    }
    if (!found)
        return as_error_set(err, AS_ERR_USAGE,
                            "--reference: %s is not one of the combinations; add it to "
                            "--processes and --threads",
                            cli->args.value[AS_OPTION_REFERENCE]);
    return 0;
}

int as_scale_sizes(struct as_cli *cli, enum as_option_id option, const char *name, double *size,
                   size_t capacity, size_t *n, struct as_error *err)
{
    struct list list = {.n = 0};
    AS_TRY(parse_scale_list(cli, option, name, &list, err));
    if (list.n > capacity)
        return as_error_set(err, AS_ERR_USAGE, "--%s: more than %zu numbers; use fewer", name,
                            capacity);
    for (size_t i = 0; i < list.n; i++)
        size[i] = (double)list.at[i];
    *n = list.n;
    return 0;
}

int as_scale_plan(struct as_cli *cli, struct as_scale_plan *plan, struct as_error *err)
{
    struct lists lists = {0};
    const uint64_t repeats = cli->args.number[AS_OPTION_REPEATS];
    *plan = (struct as_scale_plan){.repeat_n = repeats ? (unsigned)repeats : 1};
    as_arena_init(&plan->arena);
    if (!cli->args.positional_n)
        return as_error_set(err, AS_ERR_USAGE,
                            "scale: no command given; use 'assay scale --threads 1,2,4 -- "
                            "./program'");
    if (repeats > 10000)
        return as_error_set(err, AS_ERR_USAGE, "--repeats: at most 10000 are possible");
    AS_TRY(parse_axes(cli, plan, err));
    AS_TRY(parse_scale_lists(cli, &lists, err));
    AS_TRY(combine(cli, plan, &lists, err));
    return mark_reference(cli, plan, err);
}

void as_scale_plan_fini(struct as_scale_plan *plan)
{
    for (size_t i = 0; i < plan->axis_n; i++)
        as_axis_free(&plan->axis[i]);
    as_arena_fini(&plan->arena);
}
