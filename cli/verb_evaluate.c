/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay evaluate TRACE [CFG...]`: time lines and tables of a trace, as configurations of Paraver
 * describe them. The work is done by semantic/; here are options, order and output.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/infile.h"
#include "evaluate.h"
#include "semantic/ready.h"
#include "stops.h"
#include "timeline/replay.h"

#define CFG_MAX_B       ((size_t)16 << 20)
#define LIST_FIELDS_MAX 5
#define FIRST_DEFAULT   "useful-time" /* what is shown without a configuration */

/* ---- Lists ----------------------------------------------------------------------------------- */

/* A list in any format: rows of texts. */
struct known_list {
    struct as_cli *cli;
    struct as_csv csv;
    struct as_json json;
    const char *const *names;
    size_t n;
};

static void begin_known_list(struct known_list *l, const char *key)
{
    if (l->cli->format == AS_FORMAT_CSV) {
        as_cli_csv(l->cli, &l->csv);
        as_csv_header(&l->csv, l->names, l->n);
    } else if (l->cli->format == AS_FORMAT_JSON) {
        as_evaluate_json_begin(&l->json, l->cli, 1);
        as_json_key(&l->json, key);
        as_json_array_begin(&l->json);
    }
}

/* False where the caller writes the row as text. */
static bool list_row(struct known_list *l, const char *const *fields)
{
    if (l->cli->format == AS_FORMAT_JSON)
        as_json_object_begin(&l->json);
    for (size_t i = 0; i < l->n && i < LIST_FIELDS_MAX && l->cli->format != AS_FORMAT_TEXT; i++)
        if (l->cli->format == AS_FORMAT_CSV)
            as_csv_string(&l->csv, fields[i]);
        else
            as_json_key_string(&l->json, l->names[i], fields[i]);
    if (l->cli->format == AS_FORMAT_CSV)
        as_csv_row_end(&l->csv);
    if (l->cli->format == AS_FORMAT_JSON)
        as_json_object_end(&l->json);
    return l->cli->format != AS_FORMAT_TEXT;
}

static void end_known_list(struct known_list *l)
{
    if (l->cli->format != AS_FORMAT_JSON)
        return;
    as_json_array_end(&l->json);
    as_json_object_end(&l->json);
    as_json_finish(&l->json);
}

static void list_configurations(struct as_cli *cli)
{
    static const char *const names[LIST_FIELDS_MAX] = {"name", "shows"};
    struct known_list l = {.cli = cli, .names = names, .n = 2};
    begin_known_list(&l, "configurations");
    for (size_t i = 0; i < as_ready_n; i++) {
        const struct as_ready *ready = &as_ready_configurations[i];
        const char *const fields[LIST_FIELDS_MAX] = {ready->name, ready->description};
        if (!list_row(&l, fields))
            as_cli_print(cli, "%-24s%s\n", ready->name, ready->description);
    }
    end_known_list(&l);
}

static void list_function(struct known_list *l, const char *kind, const char *name,
                          const char *parameters, const char *defaults, const char *summary)
{
    const char *const fields[LIST_FIELDS_MAX] = {kind, name, parameters, defaults, summary};
    if (list_row(l, fields))
        return;
    as_cli_print(l->cli, "%-10s%-26s%s", kind, name, summary);
    if (*parameters)
        as_cli_print(l->cli, " (%s: %s)", parameters, *defaults ? defaults : "empty");
    as_cli_print(l->cli, "\n");
}

static void list_functions_known(struct as_cli *cli)
{
    static const char *const kinds[] = {"thread", "above", "cpu", "compose", "derived"};
    static const char *const names[LIST_FIELDS_MAX] = {"kind", "name", "parameters", "defaults",
                                                       "summary"};
    struct known_list l = {.cli = cli, .names = names, .n = LIST_FIELDS_MAX};
    begin_known_list(&l, "functions");
    for (unsigned f = 0; f < AS_FUNCTION_FAMILIES_N; f++) {
        size_t n;
        const struct as_semantic_function *row = as_functions((enum as_function_family)f, &n);
        for (size_t i = 0; i < n; i++)
            list_function(&l, kinds[f], row[i].name, row[i].parameters, row[i].defaults,
                          row[i].summary);
    }
    for (size_t i = 0; i < as_statistics_n; i++)
        list_function(&l, "statistic", as_statistics[i].name, "", "", as_statistics[i].summary);
    end_known_list(&l);
}

/* ---- Configurations -------------------------------------------------------------------------- */

static const struct as_ready *find_ready(const char *name)
{
    for (size_t i = 0; i < as_ready_n; i++)
        if (strcmp(as_ready_configurations[i].name, name) == 0)
            return &as_ready_configurations[i];
    return NULL;
}

/* A file of this name comes before the ready-made one. */
static int read_configuration(const char *name, struct as_configuration *out, struct as_error *err)
{
    const struct as_ready *ready = find_ready(name);
    char *text = NULL;
    size_t n;
    int rc =
        as_infile_read_text(name, "the configuration", CFG_MAX_B, AS_INFILE_PIPE, &text, &n, err);
    if (rc == AS_ERR_NOT_FOUND && ready)
        return as_cfg_read(as_view_of(ready->text), name, out, err);
    if (rc == AS_ERR_NOT_FOUND && !strchr(name, '/') && !strchr(name, '.'))
        rc = as_error_set(err, rc,
                          "%s: no such configuration; use a .cfg file or a name of 'assay evaluate "
                          "--list'",
                          name);
    if (rc == 0)
        rc = as_cfg_read((struct as_view){text, n}, name, out, err);
    as_free(text);
    return rc;
}

static int add_configuration(struct as_evaluating *it, const char *name, struct as_error *err)
{
    struct as_configuration c;
    AS_TRY(read_configuration(name, &c, err));
    if (as_vec_push(&it->configuration, c) == 0)
        return 0;
    as_configuration_fini(&c);
    return as_error_nomem(err, name);
}

static int read_configurations(struct as_evaluating *it, size_t first, struct as_error *err)
{
    const struct as_arguments *args = &it->cli->args;
    for (size_t i = first; i < args->positional_n; i++)
        AS_TRY(add_configuration(it, args->positional[i], err));
    if (args->positional_n <= first)
        AS_TRY(add_configuration(it, FIRST_DEFAULT, err));
    return 0;
}

static int show_cfg(struct as_evaluating *it, struct as_error *err)
{
    struct as_str text = {0};
    AS_TRY(read_configurations(it, 0, err));
    int rc = 0;
    as_vec_foreach (&it->configuration, c)
        if (rc == 0)
            rc = as_cfg_write(c, &text, err);
    if (rc == 0)
        as_out_write(&it->cli->out, as_str_z(&text), text.n);
    as_str_fini(&text);
    return rc;
}

/* ---- Times ----------------------------------------------------------------------------------- */

static int read_time(const struct as_cli *cli, enum as_option_id option, const char *name,
                     int64_t *out, struct as_error *err)
{
    const char *text = cli->args.value[option];
    if (!text || (*text != '-' && as_time_read(as_view_of(text), out)))
        return 0;
    return as_error_set(err, AS_ERR_USAGE,
                        "--%s: invalid value '%s'; use a number with ns, us, ms or s", name, text);
}

static int read_times(struct as_evaluating *it, struct as_error *err)
{
    it->to_ns = INT64_MAX;
    AS_TRY(read_time(it->cli, AS_OPTION_FROM, "from", &it->from_ns, err));
    AS_TRY(read_time(it->cli, AS_OPTION_TO, "to", &it->to_ns, err));
    if (it->from_ns >= it->to_ns)
        return as_error_set(err, AS_ERR_USAGE,
                            "--from, --to: the time ends before it begins; use --from below --to");
    return 0;
}

/* ---- Evaluating ------------------------------------------------------------------------------ */

static int store_piece(void *context, uint32_t time_line, uint32_t object, int64_t begin_ns,
                       int64_t end_ns, struct as_quantity value)
{
    struct as_evaluating *it = context;
    const struct as_evaluated_piece piece = {(int64_t)((uint64_t)time_line << 32 | object),
                                             begin_ns, end_ns, value};
    return as_ordered_add(it->pieces, &piece, it->err);
}

/* The evaluation reports no failure here: an empty store without memory fails when it is used. */
static void forget_pieces(void *context)
{
    struct as_evaluating *it = context;
    as_ordered_free(&it->pieces);
    (void)as_ordered_new(&it->pieces, sizeof(struct as_evaluated_piece));
}

static void note_what_is_left_out(const struct as_evaluating *it)
{
    size_t n;
    const struct as_histogram_result *table = as_evaluator_tables(it->evaluation, &n);
    as_evaluate_note_bad(it);
    as_vec_foreach (&it->configuration, c)
        as_vec_foreach (&c->window, w)
            if (w->has_selection)
                as_cli_note(it->cli, "%s: window '%s': its selection of objects is not applied",
                            c->name, w->name);
    for (size_t i = 0; i < n; i++)
        if (table[i].outside_n)
            as_cli_note(it->cli, "table '%s': %llu pieces have values outside its columns",
                        table[i].table->name, (unsigned long long)table[i].outside_n);
}

static int write_results(struct as_evaluating *it, struct as_error *err)
{
    AS_TRY(as_ordered_begin(it->pieces, err));
    if (it->cli->format == AS_FORMAT_JSON)
        return as_evaluate_json(it, err);
    if (it->cli->format == AS_FORMAT_SVG)
        return as_evaluate_svg(it, err);
    return it->cli->format == AS_FORMAT_CSV ? as_evaluate_csv(it, err) : as_evaluate_text(it, err);
}

static int evaluate_trace(struct as_evaluating *it, struct as_error *err)
{
    const struct as_evaluator_options options = {.from_ns = it->from_ns,
                                                 .to_ns = it->to_ns,
                                                 .on_piece = store_piece,
                                                 .on_restart = forget_pieces,
                                                 .context = it};
    struct as_timeline_evaluation how = {.verifies = as_given(&it->cli->args, AS_OPTION_VERIFY)};
    if (as_ordered_new(&it->pieces, sizeof(struct as_evaluated_piece)) < 0 ||
        as_evaluator_new(&it->trace.objects, &options, &it->evaluation) < 0)
        return as_error_nomem(err, "an evaluation");
    as_vec_foreach (&it->configuration, c)
        AS_TRY(as_evaluator_add(it->evaluation, c, err));
    AS_TRY(as_timeline_evaluate(&it->trace, it->evaluation, &how, err));
    if (*how.damage.text)
        as_cli_note(it->cli, "%s", how.damage.text);
    note_what_is_left_out(it);
    return write_results(it, err);
}

static void evaluating_fini(struct as_evaluating *it)
{
    as_evaluator_free(&it->evaluation);
    as_ordered_free(&it->pieces);
    as_vec_foreach (&it->configuration, c)
        as_configuration_fini(c);
    as_vec_fini(&it->configuration);
    as_evaluate_close(it);
}

int as_verb_evaluate(struct as_cli *cli, struct as_error *err)
{
    struct as_evaluating it = {.cli = cli, .err = err};
    if (as_given(&cli->args, AS_OPTION_CONFIGURATIONS)) {
        list_configurations(cli);
        return 0;
    }
    if (as_given(&cli->args, AS_OPTION_FUNCTIONS_KNOWN)) {
        list_functions_known(cli);
        return 0;
    }
    if (cli->args.positional_n == 0)
        return as_error_set(err, AS_ERR_USAGE,
                            "no trace; use a .prv file or an experiment of 'assay trace'");
    int rc;
    if (as_given(&cli->args, AS_OPTION_SHOW_CFG)) {
        rc = show_cfg(&it, err);
    } else {
        rc = read_times(&it, err);
        if (rc == 0)
            rc = read_configurations(&it, 1, err);
        if (rc == 0)
            rc = as_evaluate_open(&it, cli->args.positional[0], err);
        if (rc == 0)
            rc = evaluate_trace(&it, err);
    }
    evaluating_fini(&it);
    if (as_stops_came())
        cli->status = as_stops_status();
    return rc;
}
