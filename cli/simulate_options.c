/* SPDX-License-Identifier: Apache-2.0 */
/* Options of `assay simulate` become machines: units, speeds, models of collectives, sweeps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/infile.h"
#include "recording.h"
#include "simulate.h"
#include "units.h"

#define LATENCY_NS_MAX    (INT64_C(1) << 50)
#define BANDWIDTH_MAX     1e18
#define MACHINE_FILE_MAX  (16u << 20)
#define SPEED_MIN         1e-6
#define SPEED_MAX         1e6
#define SWEEP_CASES_MAX   4096u
#define SWEPT_OPTIONS_MAX 17u

/* ---- Units ----------------------------------------------------------------------------------- */

static bool parse_latency(const char *text, int64_t *ns)
{
    static const struct as_unit_factor units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    double value;
    if (strcmp(text, "0") == 0) {
        *ns = 0;
        return true;
    }
    if (!as_unit_parse(text, units, sizeof units / sizeof *units, &value) || value < 0 ||
        value > (double)LATENCY_NS_MAX)
        return false;
    *ns = llround(value);
    return true;
}

static bool parse_bandwidth(const char *text, uint64_t *bps)
{
    static const struct as_unit_factor units[] = {
        {"B/s", 1},           {"kB/s", 1e3},           {"MB/s", 1e6},
        {"GB/s", 1e9},        {"TB/s", 1e12},          {"KiB/s", 1024},
        {"MiB/s", 1048576.0}, {"GiB/s", 1073741824.0}, {"Gbit/s", 1.25e8}};
    double value;
    if (strcmp(text, "inf") == 0) {
        *bps = 0;
        return true;
    }
    if (!as_unit_parse(text, units, sizeof units / sizeof *units, &value) || value < 1 ||
        value > BANDWIDTH_MAX)
        return false;
    *bps = (uint64_t)llround(value);
    return true;
}

static bool parse_number(const char *text, uint32_t *out)
{
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end || *text == '-' || value >= UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

/* "2x", "0.5x". */
static bool parse_speed(const char *text, double *out)
{
    static const struct as_unit_factor units[] = {{"x", 1}, {"", 1}};
    return as_unit_parse(text, units, 2, out) && *out >= SPEED_MIN && *out <= SPEED_MAX;
}

/* ---- One parameter --------------------------------------------------------------------------- */

/* Options that make a network, by what is swept; the words are those of the options. */
enum swept_parameter {
    SWEPT_LATENCY,
    SWEPT_BANDWIDTH,
    SWEPT_BUSES,
    SWEPT_IN_LINKS,
    SWEPT_OUT_LINKS,
    SWEPT_INSIDE_LATENCY,
    SWEPT_INSIDE_BANDWIDTH,
    SWEPT_INSIDE_BUSES,
    SWEPT_RANKS_PER_NODE,
    SWEPT_NODES_PER_MACHINE,
    SWEPT_WIDE_LATENCY,
    SWEPT_WIDE_BANDWIDTH,
    SWEPT_WIDE_FLIGHT,
    SWEPT_WIDE_LINKS,
    SWEPT_EAGER,
    SWEPT_CPU,
    SWEPT_PARAMETERS_N
};
static const struct {
    const char *word;
    int option; /* -1: of a sweep alone */
    const char *fix;
} swept[SWEPT_PARAMETERS_N] = {
    [SWEPT_LATENCY] = {"latency", AS_OPTION_SIMULATE_LATENCY, "use a time such as 2us"},
    [SWEPT_BANDWIDTH] = {"bandwidth", AS_OPTION_SIMULATE_BANDWIDTH,
                         "use a rate such as 10GB/s, or inf"},
    [SWEPT_BUSES] = {"buses", AS_OPTION_SIMULATE_BUSES, "use a number, 0 for any number"},
    [SWEPT_IN_LINKS] = {"in-links", AS_OPTION_SIMULATE_IN_LINKS, "use a number, 0 for any number"},
    [SWEPT_OUT_LINKS] = {"out-links", AS_OPTION_SIMULATE_OUT_LINKS,
                         "use a number, 0 for any number"},
    [SWEPT_INSIDE_LATENCY] = {"inside-latency", AS_OPTION_SIMULATE_INSIDE_LATENCY,
                              "use a time such as 300ns"},
    [SWEPT_INSIDE_BANDWIDTH] = {"inside-bandwidth", AS_OPTION_SIMULATE_INSIDE_BANDWIDTH,
                                "use a rate such as 10GB/s, or inf"},
    [SWEPT_INSIDE_BUSES] = {"inside-buses", AS_OPTION_SIMULATE_INSIDE_BUSES,
                            "use a number, 0 for any number"},
    [SWEPT_RANKS_PER_NODE] = {"ranks-per-node", AS_OPTION_SIMULATE_RANKS_PER_NODE,
                              "use a number, 0 for nodes as recorded"},
    [SWEPT_NODES_PER_MACHINE] = {"nodes-per-machine", AS_OPTION_SIMULATE_NODES_PER_MACHINE,
                                 "use a number, 0 for one machine"},
    [SWEPT_WIDE_LATENCY] = {"wide-latency", AS_OPTION_SIMULATE_WIDE_LATENCY,
                            "use a time such as 1ms"},
    [SWEPT_WIDE_BANDWIDTH] = {"wide-bandwidth", AS_OPTION_SIMULATE_WIDE_BANDWIDTH,
                              "use a rate such as 1GB/s, or inf"},
    [SWEPT_WIDE_FLIGHT] = {"wide-flight", AS_OPTION_SIMULATE_WIDE_FLIGHT, "use a time such as 5ms"},
    [SWEPT_WIDE_LINKS] = {"wide-links", AS_OPTION_SIMULATE_WIDE_LINKS,
                          "use a number, 0 for any number"},
    [SWEPT_EAGER] = {"eager", AS_OPTION_SIMULATE_EAGER, "use a size such as 32K, or inf"},
    [SWEPT_CPU] = {"cpu", -1, "use a speed such as 2x"},
};

static bool set_eager(struct as_machine_model *model, const char *text)
{
    struct as_error ignored;
    if (strcmp(text, "inf") == 0)
        model->eager_b = UINT64_MAX;
    else if (strcmp(text, "0") == 0)
        model->eager_b = 0;
    else
        return as_recording_size("--eager", text, &model->eager_b, &ignored) == 0;
    return true;
}

static bool set_parameter(struct as_simulate_machine *machine, enum swept_parameter parameter,
                          const char *text)
{
    struct as_network *between = &machine->model.network[AS_NETWORK_BETWEEN];
    struct as_network *inside = &machine->model.network[AS_NETWORK_INSIDE];
    struct as_network *wide = &machine->model.network[AS_NETWORK_WIDE];
    switch (parameter) {
    case SWEPT_LATENCY:
        return parse_latency(text, &between->latency_ns);
    case SWEPT_BANDWIDTH:
        return parse_bandwidth(text, &between->bandwidth_bps);
    case SWEPT_BUSES:
        return parse_number(text, &between->buses);
    case SWEPT_IN_LINKS:
        return parse_number(text, &between->in_links);
    case SWEPT_OUT_LINKS:
        return parse_number(text, &between->out_links);
    case SWEPT_INSIDE_LATENCY:
        machine->has_inside_latency = true;
        return parse_latency(text, &inside->latency_ns);
    case SWEPT_INSIDE_BANDWIDTH:
        machine->has_inside_bandwidth = true;
        return parse_bandwidth(text, &inside->bandwidth_bps);
    case SWEPT_INSIDE_BUSES:
        return parse_number(text, &inside->buses);
    case SWEPT_RANKS_PER_NODE:
        return parse_number(text, &machine->model.ranks_per_node);
    case SWEPT_NODES_PER_MACHINE:
        machine->model.machine_n = machine->model.link_n = 0; /* of a file */
        return parse_number(text, &machine->model.nodes_per_machine);
    case SWEPT_WIDE_LATENCY:
        machine->has_wide_latency = true;
        return parse_latency(text, &wide->latency_ns);
    case SWEPT_WIDE_BANDWIDTH:
        machine->has_wide_bandwidth = true;
        return parse_bandwidth(text, &wide->bandwidth_bps);
    case SWEPT_WIDE_FLIGHT:
        return parse_latency(text, &wide->flight_ns);
    case SWEPT_WIDE_LINKS:
        return parse_number(text, &wide->in_links) && parse_number(text, &wide->out_links);
    case SWEPT_EAGER:
        return set_eager(&machine->model, text);
    default:
        return parse_speed(text, &machine->model.speed);
    }
}

static void settle_machine(struct as_simulate_machine *machine)
{
    const struct as_network *between = &machine->model.network[AS_NETWORK_BETWEEN];
    struct as_network *inside = &machine->model.network[AS_NETWORK_INSIDE];
    struct as_network *wide = &machine->model.network[AS_NETWORK_WIDE];
    if (!machine->has_inside_latency)
        inside->latency_ns = between->latency_ns;
    if (!machine->has_inside_bandwidth)
        inside->bandwidth_bps = between->bandwidth_bps;
    if (!machine->has_wide_latency)
        wide->latency_ns = between->latency_ns;
    if (!machine->has_wide_bandwidth)
        wide->bandwidth_bps = between->bandwidth_bps;
}

/* ---- Speeds ---------------------------------------------------------------------------------- */

/* "FUNCTION=2x", "rank:3=2x", "node:1=0.5x". */
static int add_speed(struct as_simulate_view *view, const char *text, struct as_error *err)
{
    const char *equals = strrchr(text, '=');
    struct as_speed speed = {.times = 1};
    if (!equals || equals == text || !parse_speed(equals + 1, &speed.times))
        return as_error_set(err, AS_ERR_USAGE,
                            "--cpu: invalid value '%s'; use FUNCTION=2x, rank:3=2x or node:0=0.5x, "
                            "with a speed from 1e-6 to 1e6",
                            text);
    char *name = as_malloc((size_t)(equals - text) + 1);
    if (!name || as_vec_push(&view->owned, name) < 0) {
        as_free(name);
        return as_error_nomem(err, "the options");
    }
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = 0;
    if (strcmp(name, "each") == 0) {
        view->each = speed.times;
        return 0;
    }
    speed.is_node = strncmp(name, "node:", 5) == 0;
    if (!speed.is_node && strncmp(name, "rank:", 5) != 0)
        speed.name = name;
    else if (!parse_number(name + 5, &speed.number))
        return as_error_set(err, AS_ERR_USAGE, "--cpu: invalid number in '%s'; use rank:3=2x",
                            text);
    struct as_speed usual = speed;
    usual.times = 1;
    return as_vec_push(&view->speeds, speed) < 0 || as_vec_push(&view->of_machine, usual) < 0 ||
                   as_vec_push(&view->as_recorded, usual) < 0
               ? as_error_nomem(err, "the options")
               : 0;
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static int add_case(struct as_simulate_view *view, enum as_simulate_kind kind,
                    const struct as_simulate_machine *machine, const char *name,
                    struct as_error *err)
{
    struct as_simulate_case added = {.kind = kind, .machine = *machine};
    settle_machine(&added.machine);
    as_str_appendz(&added.name, name);
    if (added.name.failed || as_vec_push(&view->cases, added) < 0) {
        as_str_fini(&added.name);
        return as_error_nomem(err, "the simulations");
    }
    return 0;
}

static int set_options(const struct as_arguments *args, struct as_simulate_machine *machine,
                       bool *is_asked, struct as_error *err)
{
    for (unsigned p = 0; p < SWEPT_PARAMETERS_N; p++) {
        const char *text = swept[p].option < 0 ? NULL : args->value[swept[p].option];
        *is_asked |= text != NULL;
        if (text && !set_parameter(machine, (enum swept_parameter)p, text))
            return as_error_set(err, AS_ERR_USAGE, "--%s: invalid value '%s'; %s", swept[p].word,
                                text, swept[p].fix);
    }
    for (size_t i = 0; i < args->list[AS_OPTION_SIMULATE_COLLECTIVE].n; i++) {
        const char *text = args->list[AS_OPTION_SIMULATE_COLLECTIVE].at[i];
        *is_asked = true;
        if (!as_machine_set_collective(&machine->model, text))
            return as_error_set(err, AS_ERR_USAGE,
                                "--collective: invalid value '%s'; use NAME=FACTOR:SIZE, such as "
                                "allreduce=log:2max+log:max",
                                text);
    }
    return 0;
}

struct simulate_sweep {
    enum swept_parameter parameter[SWEPT_OPTIONS_MAX];
    const char *values[SWEPT_OPTIONS_MAX];
    size_t n;
};

static int find_parameter(struct as_view word)
{
    for (int p = 0; p < (int)SWEPT_PARAMETERS_N; p++)
        if (as_view_equal(word, as_view_of(swept[p].word)))
            return p;
    return -1;
}

static int parse_sweep(const char *text, struct simulate_sweep *sweep, struct as_error *err)
{
    struct as_view rest = as_view_of(text), word;
    as_view_split(&rest, '=', &word);
    const int parameter = find_parameter(word);
    if (parameter < 0 || !rest.p || sweep->n == SWEPT_OPTIONS_MAX)
        return as_error_set(
            err, AS_ERR_USAGE,
            "--sweep: invalid value '%s'; use OPTION=VALUE,VALUE with latency or another "
            "option of the machine, or with cpu",
            text);
    sweep->parameter[sweep->n] = (enum swept_parameter)parameter;
    sweep->values[sweep->n++] = rest.p;
    return 0;
}

/* One case for each combination of the values from the `at`-th parameter on. */
static int sweep_from(struct as_simulate_view *view, const struct simulate_sweep *sweep, size_t at,
                      const struct as_simulate_machine *machine, const char *name,
                      struct as_error *err)
{
    if (at == sweep->n) {
        if (view->cases.n >= SWEEP_CASES_MAX)
            return as_error_set(err, AS_ERR_USAGE,
                                "--sweep: more than %u simulations; use fewer values",
                                SWEEP_CASES_MAX);
        return add_case(view, AS_SIMULATE_SWEEP, machine, name, err);
    }
    struct as_view rest = as_view_of(sweep->values[at]), part;
    int rc = 0;
    while (rc == 0 && as_view_split(&rest, ',', &part)) {
        const unsigned parameter = sweep->parameter[at];
        struct as_simulate_machine next = *machine;
        struct as_str value = {0}, longer = {0};
        as_str_append(&value, part.p, part.n);
        as_str_appendf(&longer, "%s%s%s=%s", name, *name ? " " : "", swept[parameter].word,
                       as_str_z(&value));
        if (value.failed || longer.failed)
            rc = as_error_nomem(err, "the simulations");
        else if (!set_parameter(&next, (enum swept_parameter)parameter, as_str_z(&value)))
            rc = as_error_set(err, AS_ERR_USAGE, "--sweep %s: invalid value '%s'; %s",
                              swept[parameter].word, as_str_z(&value), swept[parameter].fix);
        else
            rc = sweep_from(view, sweep, at + 1, &next, as_str_z(&longer), err);
        as_str_fini(&value);
        as_str_fini(&longer);
    }
    return rc;
}

/* A file says all of both networks. */
static int read_machine(struct as_simulate_view *view, struct as_simulate_machine *asked,
                        bool *is_asked, struct as_error *err)
{
    const char *path = view->cli->args.value[AS_OPTION_SIMULATE_MACHINE];
    char *text = NULL;
    size_t n;
    if (!path)
        return 0;
    AS_TRY(as_infile_read_text(path, "the file of the machine", MACHINE_FILE_MAX, AS_INFILE_PIPE,
                               &text, &n, err));
    const int rc =
        as_machine_file_parse((struct as_view){text, n}, path, &asked->model, &view->file, err);
    as_free(text);
    AS_TRY(rc);
    *is_asked = asked->has_inside_latency = asked->has_inside_bandwidth = true;
    asked->has_wide_latency = asked->has_wide_bandwidth = asked->model.machine_n > 0;
    as_vec_foreach (&view->file.speeds, speed) {
        const struct as_speed usual = {.number = speed->number, .is_node = true, .times = 1};
        if (as_vec_push(&view->speeds, *speed) < 0 || as_vec_push(&view->of_machine, *speed) < 0 ||
            as_vec_push(&view->as_recorded, usual) < 0)
            return as_error_nomem(err, "the nodes");
    }
    if (view->file.link_comms_n)
        as_cli_note(view->cli, "simulate: collectives do not use dedicated connections");
    if (view->file.modules_n)
        as_cli_note(view->cli, "simulate: speeds of modules are left out (%u); use --cpu",
                    view->file.modules_n);
    return 0;
}

/* The network with half of its costs. */
static int add_halves(struct as_simulate_view *view, const struct as_simulate_machine *asked,
                      struct as_error *err)
{
    struct as_simulate_machine fast = *asked, wide = *asked;
    settle_machine(&fast);
    settle_machine(&wide);
    fast.has_inside_latency = fast.has_wide_latency = true;
    wide.has_inside_bandwidth = wide.has_wide_bandwidth = true;
    for (unsigned i = 0; i < AS_NETWORKS_N; i++) {
        fast.model.network[i].latency_ns = fast.model.network[i].flight_ns = 0;
        wide.model.network[i].bandwidth_bps = 0;
    }
    fast.model.link = view->file.links_no_latency.at;
    wide.model.link = view->file.links_infinite.at;
    AS_TRY(add_case(view, AS_SIMULATE_NO_LATENCY, &fast, "network latency=0", err));
    return add_case(view, AS_SIMULATE_ALL_BANDWIDTH, &wide, "network bandwidth=inf", err);
}

int as_simulate_choose(struct as_simulate_view *view, struct as_error *err)
{
    const struct as_arguments *args = &view->cli->args;
    struct as_simulate_machine ideal = {0};
    struct simulate_sweep sweep = {.n = 0};
    bool is_asked = false;
    as_machine_ideal(&ideal.model);
    ideal.model.ranks_per_node = 1;
    if (!view->streams)
        ideal.model.eager_b = UINT64_MAX; /* the records say which take a rendezvous */
    struct as_simulate_machine asked = ideal;
    AS_TRY(read_machine(view, &asked, &is_asked, err));
    AS_TRY(set_options(args, &asked, &is_asked, err));
    if (is_asked && as_given(args, AS_OPTION_SIMULATE_IDEAL))
        return as_error_set(err, AS_ERR_USAGE,
                            "--ideal: there are network options too; remove them or --ideal");
    for (size_t i = 0; i < args->list[AS_OPTION_SIMULATE_CPU].n; i++)
        AS_TRY(add_speed(view, args->list[AS_OPTION_SIMULATE_CPU].at[i], err));
    for (size_t i = 0; i < args->list[AS_OPTION_SIMULATE_SWEEP].n; i++)
        AS_TRY(parse_sweep(args->list[AS_OPTION_SIMULATE_SWEEP].at[i], &sweep, err));
    ideal.model.eager_b = asked.model.eager_b;
    AS_TRY(add_case(view, AS_SIMULATE_IDEAL, &ideal, "ideal", err));
    if (is_asked)
        AS_TRY(add_case(view, AS_SIMULATE_ASKED, &asked, "network", err));
    if (view->speeds.n > view->file.speeds.n)
        AS_TRY(add_case(view, AS_SIMULATE_WHAT_IF, &asked, "cpu", err));
    if (sweep.n)
        AS_TRY(sweep_from(view, &sweep, 0, &asked, "", err));
    return is_asked ? add_halves(view, &asked, err) : 0;
}

void as_simulate_choice_fini(struct as_simulate_view *view)
{
    as_vec_foreach (&view->cases, it) {
        as_str_fini(&it->name);
        as_simulated_fini(&it->result);
        as_recorded_fini(&it->recorded);
    }
    as_vec_foreach (&view->owned, owned)
        as_free(*owned);
    as_vec_foreach (&view->functions, function)
        as_free(function->name);
    as_vec_fini(&view->functions);
    as_machine_file_fini(&view->file);
    as_vec_fini(&view->cases);
    as_vec_fini(&view->owned);
    as_vec_fini(&view->speeds);
    as_vec_fini(&view->of_machine);
    as_vec_fini(&view->as_recorded);
}
