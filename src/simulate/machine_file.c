/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/machine_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define VALUES_MAX    16u
#define MEBIBYTE_B    1048576.0
#define NODES_MAX     65536u
#define LATENCY_S_MAX 1e6
#define BANDWIDTH_MAX 1e12 /* MiB/s */
#define NUMBER_TEXT_B 48u

struct file_value {
    struct as_view text; /* between quotes */
    double number;
    bool is_text;
};

/* Records of nodes in the file, by the number of their machine. */
struct file_machine {
    double id;
    uint32_t node_n;
};

/* A record: its name, and its values. Numbers of a list are in the parser. */
struct file_parser {
    const char *path;
    struct as_machine_model *model;
    struct as_machine_file *out;
    struct as_error *err;
    struct as_view name;
    struct file_value value[VALUES_MAX];
    size_t value_n;
    AS_VEC(double) list; /* of all lists of the record; a value has its length */
    AS_VEC(struct file_machine) machines, groups; /* of environments; of records of nodes */
    AS_VEC(double) link_ids;                      /* two machines of each link */
    double traffic;                               /* of the wide area network */
    double processor_n;                           /* of a node */
    uint32_t node_n;                              /* nodes that records have described */
    uint32_t file_node_n;                         /* of the environment */
    bool has_environment, is_filled, is_interleaved;
};

static int refuse_record(const struct file_parser *p, int code, const char *why)
{
    return as_error_set(p->err, code, "%s: \"%.*s\": %s", p->path, (int)p->name.n, p->name.p, why);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void skip_bytes(struct as_view *text, size_t n)
{
    text->p += n;
    text->n -= n;
}

static void skip_blanks(struct as_view *text)
{
    while (text->n && strchr(" \t\r\n", *text->p) && *text->p)
        skip_bytes(text, 1);
}

static bool match_char(struct as_view *text, char c)
{
    skip_blanks(text);
    if (!text->n || *text->p != c)
        return false;
    skip_bytes(text, 1);
    return true;
}

/* Up to a word, which is taken off too; the rest if there is none. */
static struct as_view cut_before_word(struct as_view *text, const char *word)
{
    const size_t word_n = strlen(word);
    const char *at = text->n >= word_n ? memmem(text->p, text->n, word, word_n) : NULL;
    const struct as_view before = {text->p, at ? (size_t)(at - text->p) : text->n};
    skip_bytes(text, before.n + (at ? word_n : 0));
    return before;
}

static bool parse_file_number(struct as_view *text, double *out)
{
    char copy[NUMBER_TEXT_B], *end;
    skip_blanks(text);
    const size_t n = text->n < sizeof copy - 1 ? text->n : sizeof copy - 1;
    memcpy(copy, text->p, n);
    copy[n] = 0;
    if (!strchr("0123456789+-.", copy[0]) || !copy[0])
        return false;
    *out = strtod(copy, &end);
    skip_bytes(text, (size_t)(end - copy));
    return end != copy && isfinite(*out);
}

/* "[3] {0, 1, 1}": its numbers follow in the list. */
static bool parse_file_list(struct file_parser *p, struct as_view *body, double *length)
{
    const size_t from = p->list.n;
    double number, n;
    if (!parse_file_number(body, &n) || !match_char(body, ']') || !match_char(body, '{'))
        return false;
    while (parse_file_number(body, &number)) {
        if (p->list.n >= NODES_MAX || as_vec_push(&p->list, number) < 0)
            return false;
        match_char(body, ',');
    }
    *length = (double)(p->list.n - from);
    return match_char(body, '}') && n == *length;
}

static bool parse_value(struct file_parser *p, struct as_view *body)
{
    struct file_value *value = &p->value[p->value_n];
    *value = (struct file_value){.is_text = false};
    if (p->value_n == VALUES_MAX - 1)
        return false;
    p->value_n++;
    if (match_char(body, '"')) {
        value->is_text = true;
        value->text = cut_before_word(body, "\"");
        return true;
    }
    if (match_char(body, '['))
        return parse_file_list(p, body, &value->number);
    if (body->n && *body->p && strchr("<=>&|", *body->p)) {
        value->is_text = true;
        value->text = (struct as_view){body->p, 1};
        skip_bytes(body, 1);
        return true;
    }
    return parse_file_number(body, &value->number);
}

/* 1: values, 0: it describes the fields of such records, -1: neither. */
static int parse_values(struct file_parser *p, struct as_view body)
{
    p->value_n = p->list.n = 0;
    skip_blanks(&body);
    if (!body.n)
        return 1;
    for (;;) {
        const bool is_value = parse_value(p, &body);
        skip_blanks(&body);
        if (is_value && !body.n)
            return 1;
        if (!is_value || !match_char(&body, ','))
            return p->value_n <= 1 ? 0 : -1;
    }
}

/* ---- Records --------------------------------------------------------------------------------- */

static bool whole_number(const struct file_value *value, uint32_t max, uint32_t *out)
{
    if (value->is_text || !(value->number >= 0 && value->number <= max) ||
        value->number != floor(value->number))
        return false;
    *out = (uint32_t)value->number;
    return true;
}

static bool set_latency(const struct file_value *value, int64_t *ns)
{
    if (value->is_text || !(value->number >= 0 && value->number <= LATENCY_S_MAX))
        return false;
    *ns = llround(value->number * 1e9);
    return true;
}

/* 0 is infinite. */
static bool set_bandwidth(const struct file_value *value, uint64_t *bps)
{
    if (value->is_text || !(value->number >= 0 && value->number <= BANDWIDTH_MAX))
        return false;
    *bps = (uint64_t)llround(value->number * MEBIBYTE_B);
    return value->number == 0 || *bps > 0;
}

static int add_machine(struct file_parser *p, double id, uint32_t node_n)
{
    as_vec_foreach (&p->machines, machine)
        if (machine->id == id)
            return refuse_record(p, AS_ERR_CORRUPT,
                                 "two machines have one number; number them 0, 1, 2");
    return as_vec_push(&p->machines, (struct file_machine){id, node_n}) < 0
               ? as_error_nomem(p->err, "the machines")
               : 0;
}

static int on_environment(struct file_parser *p)
{
    struct as_network *between = &p->model->network[AS_NETWORK_BETWEEN];
    const struct as_network first = *between;
    uint32_t node_n;
    if (p->value_n < 6 || p->value[1].is_text || !whole_number(&p->value[3], NODES_MAX, &node_n) ||
        !set_bandwidth(&p->value[4], &between->bandwidth_bps) ||
        !whole_number(&p->value[5], UINT32_MAX - 1, &between->buses))
        return refuse_record(p, AS_ERR_CORRUPT,
                             "its fields are not machine, number, architecture, nodes, "
                             "bandwidth, buses; repair the file");
    if (p->has_environment &&
        (first.bandwidth_bps != between->bandwidth_bps || first.buses != between->buses))
        return refuse_record(p, AS_ERR_UNSUPPORTED,
                             "machines have different networks; use one bandwidth and number of "
                             "buses");
    p->has_environment = true;
    if (node_n > NODES_MAX - p->file_node_n)
        return refuse_record(p, AS_ERR_CORRUPT, "more than 65536 nodes; use fewer");
    p->file_node_n += node_n;
    return add_machine(p, p->value[1].number, node_n);
}

static int on_wide_network(struct file_parser *p)
{
    struct as_network *wide = &p->model->network[AS_NETWORK_WIDE];
    if (p->value_n < 6)
        return 0;
    if (p->value[4].is_text || !set_bandwidth(&p->value[5], &wide->bandwidth_bps))
        return refuse_record(p, AS_ERR_CORRUPT,
                             "a field is not a number in its range; repair the file");
    p->traffic = p->value[4].number;
    return 0;
}

/* ---- Dedicated links ------------------------------------------------------------------------- */

static bool set_size_limit(const struct file_value *size, const struct file_value *is,
                           struct as_size_limit *out)
{
    uint32_t size_b;
    if (!whole_number(size, INT32_MAX, &size_b) || !is->is_text || is->text.n != 1 ||
        !strchr("<=>", *is->text.p))
        return false;
    *out = (struct as_size_limit){size_b, *is->text.p};
    return true;
}

static bool parse_link(struct file_parser *p, struct as_dedicated_link *link)
{
    const struct file_value *v = p->value;
    if (p->value_n != 13 || v[1].is_text || v[2].is_text || v[1].number == v[2].number ||
        v[4].is_text || v[10].is_text || v[4].number + v[10].number != (double)p->list.n ||
        !set_bandwidth(&v[3], &link->network.bandwidth_bps) ||
        !set_size_limit(&v[5], &v[6], &link->size[0]) || !v[7].is_text || v[7].text.n != 1 ||
        !strchr("&|", *v[7].text.p) || !set_size_limit(&v[8], &v[9], &link->size[1]) ||
        !set_latency(&v[11], &link->network.latency_ns) ||
        !set_latency(&v[12], &link->network.flight_ns))
        return false;
    link->is_either = *v[7].text.p == '|';
    link->tags_n = (uint32_t)v[4].number;
    for (uint32_t i = 0; i < link->tags_n; i++) {
        const double tag = p->list.at[i];
        if (!(tag >= INT32_MIN && tag <= INT32_MAX) || tag != floor(tag))
            return false;
    }
    return true;
}

static int on_link(struct file_parser *p)
{
    struct as_dedicated_link link = {.tags_at = (uint32_t)p->out->tags.n};
    if (!parse_link(p, &link))
        return refuse_record(p, AS_ERR_CORRUPT,
                             "its fields are not number, two machines, bandwidth, tags, size, "
                             "condition, operation, size, condition, communicators, latency, "
                             "flight; repair the file");
    for (uint32_t i = 0; i < link.tags_n; i++)
        if (as_vec_push(&p->out->tags, (int32_t)p->list.at[i]) < 0)
            return as_error_nomem(p->err, "the dedicated links");
    p->out->link_comms_n += (uint32_t)(p->list.n - link.tags_n);
    if (as_vec_push(&p->out->links, link) < 0 ||
        as_vec_push(&p->link_ids, p->value[1].number) < 0 ||
        as_vec_push(&p->link_ids, p->value[2].number) < 0)
        return as_error_nomem(p->err, "the dedicated links");
    return 0;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static int add_node_speeds(struct file_parser *p, uint32_t n, double times)
{
    for (uint32_t i = 0; times != 1 && i < n; i++) {
        const struct as_speed speed = {.number = p->node_n + i, .is_node = true, .times = times};
        if (as_vec_push(&p->out->speeds, speed) < 0)
            return as_error_nomem(p->err, "the nodes");
    }
    p->node_n += n;
    return 0;
}

static bool is_one_network(const struct as_network *a, const struct as_network *b)
{
    return a->latency_ns == b->latency_ns && a->bandwidth_bps == b->bandwidth_bps &&
           a->buses == b->buses && a->in_links == b->in_links && a->out_links == b->out_links;
}

/* Values of a node from its CPUs on. All nodes have one network. */
static int on_nodes(struct file_parser *p, const struct file_value *value, uint32_t n)
{
    struct as_network inside = {0}, between = p->model->network[AS_NETWORK_BETWEEN];
    struct as_network wide = p->model->network[AS_NETWORK_WIDE];
    const double times = value[1].is_text ? 0 : value[1].number;
    if (value[0].is_text || !set_latency(&value[2], &inside.latency_ns) ||
        !set_bandwidth(&value[3], &inside.bandwidth_bps) ||
        !whole_number(&value[4], UINT32_MAX - 1, &inside.buses) ||
        !whole_number(&value[5], UINT32_MAX - 1, &inside.in_links) ||
        !whole_number(&value[6], UINT32_MAX - 1, &inside.out_links) ||
        !set_latency(&value[7], &between.latency_ns) ||
        !whole_number(&value[8], UINT32_MAX - 1, &between.in_links) ||
        !whole_number(&value[9], UINT32_MAX - 1, &between.out_links) ||
        !set_latency(&value[10], &wide.latency_ns) || p->value[0].is_text)
        return refuse_record(p, AS_ERR_CORRUPT,
                             "a field is not a number in its range; repair the file");
    if (!(times >= 1e-6 && times <= 1e6))
        return refuse_record(p, AS_ERR_UNSUPPORTED,
                             "the speed of a CPU is not from 1e-6 to 1e6; use such a speed");
    if (n > NODES_MAX - p->node_n)
        return refuse_record(p, AS_ERR_CORRUPT, "more than 65536 nodes; use fewer");
    struct as_network *network = p->model->network;
    if (p->node_n && !(is_one_network(&network[AS_NETWORK_INSIDE], &inside) &&
                       is_one_network(&network[AS_NETWORK_BETWEEN], &between) &&
                       network[AS_NETWORK_WIDE].latency_ns == wide.latency_ns))
        return refuse_record(p, AS_ERR_UNSUPPORTED,
                             "nodes have different networks; use one network for all nodes");
    network[AS_NETWORK_INSIDE] = inside;
    network[AS_NETWORK_BETWEEN] = between;
    network[AS_NETWORK_WIDE].latency_ns = wide.latency_ns;
    if (as_vec_push(&p->groups, (struct file_machine){p->value[0].number, n}) < 0)
        return as_error_nomem(p->err, "the nodes");
    p->processor_n = value[0].number;
    return add_node_speeds(p, n, times);
}

static int on_mapping(struct file_parser *p)
{
    for (size_t i = 0; i < p->list.n; i++) {
        const struct file_value value = {.number = p->list.at[i]};
        uint32_t node;
        if (!whole_number(&value, NODES_MAX, &node))
            return refuse_record(p, AS_ERR_CORRUPT, "a node is not a number; repair the file");
        if (as_vec_push(&p->out->task_node, node) < 0)
            return as_error_nomem(p->err, "the mapping");
    }
    return 0;
}

/* "4 TASKS_PER_NODE", "FILL_NODES", "INTERLEAVED" */
static int on_predefined(struct file_parser *p)
{
    const struct file_value *last = p->value_n ? &p->value[p->value_n - 1] : NULL;
    struct as_view text = last && last->is_text ? last->text : (struct as_view){"", 0};
    double n;
    if (as_view_equal(text, as_view_of("INTERLEAVED"))) {
        p->is_interleaved = true;
    } else if (as_view_equal(text, as_view_of("FILL_NODES"))) {
        p->is_filled = true;
    } else if (parse_file_number(&text, &n) && n >= 1 && n <= NODES_MAX && n == floor(n) &&
               as_view_equal(as_view_trim(text), as_view_of("TASKS_PER_NODE"))) {
        p->model->ranks_per_node = (uint32_t)n;
    } else {
        return refuse_record(p, AS_ERR_CORRUPT,
                             "the mapping is unknown; use FILL_NODES, INTERLEAVED or '4 "
                             "TASKS_PER_NODE'");
    }
    return 0;
}

static int on_record(struct file_parser *p)
{
    const struct as_view name = p->name;
    uint32_t n;
    if (as_view_equal(name, as_view_of("environment information")))
        return on_environment(p);
    if (as_view_equal(name, as_view_of("node information")) && p->value_n == 13)
        return on_nodes(p, &p->value[2], 1);
    if (as_view_equal(name, as_view_of("multi node information")) && p->value_n == 14 &&
        whole_number(&p->value[1], NODES_MAX, &n))
        return on_nodes(p, &p->value[3], n);
    if (as_view_ends(name, "node information"))
        return refuse_record(p, AS_ERR_CORRUPT,
                             "it has not 13 fields, or 14 with a number of nodes; repair the file");
    if (as_view_equal(name, as_view_of("mapping information")))
        return on_mapping(p);
    if (as_view_equal(name, as_view_of("predefined mapping information")))
        return on_predefined(p);
    if (as_view_equal(name, as_view_of("modules information")))
        p->out->modules_n++;
    if (as_view_equal(name, as_view_of("dedicated connection information")))
        return on_link(p);
    if (as_view_equal(name, as_view_of("wide area network information")))
        return on_wide_network(p);
    return 0;
}

/* ---- All ------------------------------------------------------------------------------------- */

static int parse_records(struct file_parser *p, struct as_view text)
{
    while (text.n) {
        skip_blanks(&text);
        if (text.n >= 2 && memcmp(text.p, "/*", 2) == 0) {
            cut_before_word(&text, "*/");
        } else if (match_char(&text, '"')) {
            p->name = cut_before_word(&text, "\"");
            if (!match_char(&text, '{'))
                continue;
            const int kind = parse_values(p, cut_before_word(&text, "};;"));
            if (kind < 0)
                return refuse_record(p, AS_ERR_CORRUPT,
                                     "its values cannot be read; repair the file");
            if (kind > 0)
                AS_TRY(on_record(p));
        } else if (text.n) {
            cut_before_word(&text, "\n");
        }
    }
    return 0;
}

/* Nodes are numbered machine by machine, in the order of environments. */
static int place_machines(struct file_parser *p)
{
    size_t group = 0;
    as_vec_foreach (&p->machines, machine) {
        uint32_t node_n = 0;
        if (as_vec_push(&p->out->machine_node, p->out->node_n) < 0)
            return as_error_nomem(p->err, "the machines");
        for (; group < p->groups.n && p->groups.at[group].id == machine->id; group++)
            node_n += p->groups.at[group].node_n;
        if (node_n != machine->node_n)
            return as_error_set(p->err, AS_ERR_CORRUPT,
                                "%s: machine %.0f has %u nodes by its environment, %u by records "
                                "of nodes in its place; describe all nodes in the order of "
                                "machines",
                                p->path, machine->id, machine->node_n, node_n);
        p->out->node_n += node_n;
    }
    return group == p->groups.n
               ? 0
               : as_error_set(p->err, AS_ERR_CORRUPT,
                              "%s: a node has machine %.0f, which has no environment; add its "
                              "\"environment information\"",
                              p->path, p->groups.at[group].id);
}

static int place_links(struct file_parser *p)
{
    for (size_t i = 0; i < p->link_ids.n; i++) {
        uint32_t at = 0;
        while (at < p->machines.n && p->machines.at[at].id != p->link_ids.at[i])
            at++;
        if (at == p->machines.n)
            return as_error_set(p->err, AS_ERR_CORRUPT,
                                "%s: a dedicated connection has machine %.0f, which has no "
                                "environment; repair the file",
                                p->path, p->link_ids.at[i]);
        p->out->links.at[i / 2].node[i % 2] = p->out->machine_node.at[at];
    }
    as_vec_foreach (&p->out->links, link) {
        struct as_dedicated_link fast = *link, infinite = *link;
        fast.network.latency_ns = fast.network.flight_ns = 0;
        infinite.network.bandwidth_bps = 0;
        if (as_vec_push(&p->out->links_no_latency, fast) < 0 ||
            as_vec_push(&p->out->links_infinite, infinite) < 0)
            return as_error_nomem(p->err, "the dedicated links");
    }
    return 0;
}

static int end_machines(struct file_parser *p)
{
    struct as_machine_model *model = p->model;
    if (p->machines.n < 2 && p->link_ids.n == 0) {
        p->out->node_n = p->node_n;
        return 0;
    }
    AS_TRY(place_machines(p));
    AS_TRY(place_links(p));
    if (p->traffic != 0)
        return as_error_set(p->err, AS_ERR_UNSUPPORTED,
                            "%s: \"wide area network information\": traffic of other programs is "
                            "not simulated; set its maximum to 0",
                            p->path);
    model->machine_node = p->out->machine_node.at;
    model->machine_n = (uint32_t)p->out->machine_node.n;
    model->link = p->out->links.at;
    model->link_n = (uint32_t)p->out->links.n;
    model->link_tag = p->out->tags.at;
    return 0;
}

int as_machine_file_parse(struct as_view text, const char *path, struct as_machine_model *model,
                          struct as_machine_file *out, struct as_error *err)
{
    struct file_parser p = {.path = path, .model = model, .out = out, .err = err};
    *out = (struct as_machine_file){0};
    int rc = parse_records(&p, text);
    if (rc == 0 && (!p.has_environment || p.node_n == 0))
        rc = as_error_set(err, AS_ERR_CORRUPT,
                          "%s: has no \"environment information\" and \"node information\"; use a "
                          "file of a machine (.cfg)",
                          path);
    if (rc == 0)
        rc = end_machines(&p);
    if (rc == 0 && p.is_filled)
        model->ranks_per_node =
            p.processor_n >= 1 && p.processor_n <= NODES_MAX ? (uint32_t)p.processor_n : 1;
    if (rc == 0 && p.is_interleaved)
        out->interleaved_n = p.file_node_n;
    if (rc == 0 && (out->task_node.n || out->interleaved_n))
        model->ranks_per_node = 0;
    as_vec_fini(&p.list);
    as_vec_fini(&p.machines);
    as_vec_fini(&p.groups);
    as_vec_fini(&p.link_ids);
    return rc;
}

int as_machine_file_place(const struct as_machine_file *file, struct as_simulated_program *program,
                          struct as_error *err)
{
    if (file->task_node.n == 0 && file->interleaved_n == 0)
        return 0;
    if (file->task_node.n && file->task_node.n != program->rank_n)
        return as_error_set(err, AS_ERR_USAGE,
                            "--machine: its mapping has %zu tasks, the program %u ranks; use "
                            "--ranks-per-node, or another file",
                            file->task_node.n, program->rank_n);
    as_vec_foreach (&file->task_node, node)
        if (file->machine_node.n && *node >= file->node_n)
            return as_error_set(err, AS_ERR_USAGE,
                                "--machine: its mapping has node %u, its machines %u nodes; repair "
                                "the file",
                                *node, file->node_n);
    program->node.n = 0;
    for (uint32_t i = 0; i < program->rank_n; i++)
        if (as_vec_push(&program->node,
                        file->task_node.n ? file->task_node.at[i] : i % file->interleaved_n) < 0)
            return as_error_nomem(err, "the mapping");
    return 0;
}

void as_machine_file_fini(struct as_machine_file *file)
{
    as_vec_fini(&file->task_node);
    as_vec_fini(&file->speeds);
    as_vec_fini(&file->machine_node);
    as_vec_fini(&file->links);
    as_vec_fini(&file->links_no_latency);
    as_vec_fini(&file->links_infinite);
    as_vec_fini(&file->tags);
}
