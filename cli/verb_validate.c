/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay validate`: predictions beside measured cycles, which stand in a file (--blocks, --truths)
 * or are measured here (--binary, --suite).
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/infile.h"
#include "base/map.h"
#include "external_load.h"
#include "names.h"
#include "program.h"
#include "validate.h"

enum { JUDGED_MOST_B = 65536, JUDGED_COLUMNS = 64 };

struct validating {
    struct as_predicting p;
    struct as_validation *judged;
    struct as_arena arena;
    struct as_map_view truth; /* id -> index into `cycles` */
    AS_VEC(double) cycles;
};

static volatile int stop_asked; /* set by SIGINT: what is measured by then is judged */

static void note_stop(int signal)
{
    (void)signal;
    stop_asked = 1;
}

/* ---- CSV with a head ----------------------------------------------------------------------- */

struct table_head {
    int id, hex, cycles, ok, address;
};

static int column_of(struct as_view head, const char *first, const char *second)
{
    struct as_view part;
    int found = -1;
    for (int i = 0; as_view_split(&head, ',', &part); i++) {
        part = as_view_trim(part);
        if (as_view_equal(part, as_view_of(first)))
            return i;
        if (as_view_equal(part, as_view_of(second)))
            found = i;
    }
    return found;
}

static struct table_head read_head(const struct validating *v, const char *line)
{
    const bool unrolled = v->p.options.mode == AS_PREDICT_UNROLLED;
    const struct as_view head = as_view_of(line);
    return (struct table_head){
        column_of(head, "id", "id"), column_of(head, "hex", "hex"),
        column_of(head, unrolled ? "cycles_unrolled" : "cycles_loop", "cycles"),
        column_of(head, unrolled ? "ok_u" : "ok_l", "ok"), column_of(head, "address", "address")};
}

static size_t split_row(const char *line, struct as_view out[JUDGED_COLUMNS])
{
    struct as_view rest = as_view_of(line);
    size_t n = 0;
    while (n < JUDGED_COLUMNS && as_view_split(&rest, ',', &out[n]))
        n++;
    return n;
}

static struct as_view cell_of(const struct as_view *row, size_t n, int column)
{
    return column >= 0 && (size_t)column < n ? as_view_trim(row[column]) : (struct as_view){0};
}

/* The cycles of a row; below 0: not measured, or not to be relied on. */
static double measured_of(const struct table_head *head, const struct as_view *row, size_t n)
{
    char text[64];
    const struct as_view ok = cell_of(row, n, head->ok), cycles = cell_of(row, n, head->cycles);
    if ((head->ok >= 0 && !as_view_equal(ok, as_view_of("1"))) || cycles.n >= sizeof text)
        return -1;
    snprintf(text, sizeof text, "%.*s", (int)cycles.n, cycles.n ? cycles.p : "");
    const double value = strtod(text, NULL);
    return value > 0 ? value : -1;
}

/* Calls `each` for the rows of a file. */
static int read_rows(struct validating *v, const char *path,
                     int (*each)(struct validating *, const struct table_head *,
                                 const struct as_view *, size_t, struct as_error *),
                     struct as_error *err)
{
    struct as_view row[JUDGED_COLUMNS];
    struct table_head head = {-1, -1, -1, -1, -1};
    char *text, *rest, *line;
    size_t text_n, number = 0;
    int rc = 0;
    AS_TRY(as_infile_read_text(path, "the table of blocks", AS_RECORD_MAX_B, AS_INFILE_PIPE, &text,
                               &text_n, err));
    rest = text;
    while (rc == 0 && (line = as_infile_line(&rest))) {
        if (!number++) {
            head = read_head(v, line);
            if (head.id < 0)
                rc = as_error_set(err, AS_ERR_USAGE,
                                  "%s: no column 'id' in the first line; "
                                  "add a heading",
                                  path);
            continue;
        }
        const size_t n = split_row(line, row);
        rc = each(v, &head, row, n, err);
    }
    as_free(text);
    return rc;
}

/* ---- Blocks -------------------------------------------------------------------------------- */

static uint64_t address_of(const struct table_head *head, const struct as_view *row, size_t n)
{
    char text[32];
    const struct as_view address = cell_of(row, n, head->address);
    snprintf(text, sizeof text, "%.*s", address.n < sizeof text ? (int)address.n : 0,
             address.n ? address.p : "");
    return strtoull(text, NULL, 0);
}

static int judge_code(struct validating *v, struct as_view id, double measured, uint64_t address,
                      const uint8_t *bytes, size_t size_b, struct as_error *err)
{
    struct as_code code;
    struct as_str name = {0};
    AS_TRY(as_decode(bytes, size_b, address, &code, err));
    as_str_append(&name, id.p, id.n);
    const int rc =
        as_validation_add(v->judged, as_str_z(&name), measured, -1, &code, bytes, size_b, err);
    as_str_fini(&name);
    as_code_free(&code);
    return rc;
}

static int judge_row(struct validating *v, const struct table_head *head, const struct as_view *row,
                     size_t n, struct as_error *err)
{
    static uint8_t bytes[JUDGED_MOST_B];
    const struct as_view id = cell_of(row, n, head->id), hex = cell_of(row, n, head->hex);
    double measured = measured_of(head, row, n);
    if (as_given(&v->p.cli->args, AS_OPTION_TRUTHS)) {
        const uint32_t at = as_map_view_get(&v->truth, id);
        measured = at == AS_MAP_NONE ? -1 : v->cycles.at[at];
    }
    if (measured < 0)
        return as_validation_leave_out(v->judged, "no reliable measurement", err);
    if (head->hex < 0)
        return as_error_set(err, AS_ERR_USAGE, "--blocks: no column 'hex' in its first line");
    if (!hex.n && head->address >= 0) /* as --save writes it */
        return as_validation_leave_out(v->judged, "it has several paths", err);
    const int size_b = as_hex_read(hex.p, hex.n, bytes, sizeof bytes, "--blocks", err);
    AS_TRY(size_b);
    return judge_code(v, id, measured, address_of(head, row, n), bytes, (size_t)size_b, err);
}

static int store_measured_cycles(struct validating *v, const struct table_head *head,
                                 const struct as_view *row, size_t n, struct as_error *err)
{
    const struct as_view id = cell_of(row, n, head->id);
    const double measured = measured_of(head, row, n);
    const char *kept = as_arena_strndup(&v->arena, id.p, id.n);
    if (measured < 0)
        return 0;
    if (!kept || as_vec_push(&v->cycles, measured) < 0 ||
        as_map_view_put(&v->truth, (struct as_view){kept, id.n}, (uint32_t)v->cycles.n - 1) < 0)
        return as_error_nomem(err, "the measured cycles");
    return 0;
}

static int judge_blocks(struct validating *v, const char *blocks, struct as_error *err)
{
    const char *truths = v->p.cli->args.value[AS_OPTION_TRUTHS];
    if (truths)
        AS_TRY(read_rows(v, truths, store_measured_cycles, err));
    return read_rows(v, blocks, judge_row, err);
}

/* ---- Measured here ------------------------------------------------------------------------- */

/* A loop of the suite is wanted when one of --function is its name or matches its id. */
static bool wants_loop(void *context, const char *id)
{
    const struct as_arguments *args = context;
    for (size_t i = 0; i < args->list[AS_OPTION_FUNCTION].n; i++) {
        const char *name = args->list[AS_OPTION_FUNCTION].at[i];
        const size_t n = strcspn(id, " ");
        regex_t regex;
        if (strlen(name) == n && strncmp(name, id, n) == 0)
            return true;
        if (strcspn(name, "^$.*+?()[]{}|") == strlen(name) ||
            regcomp(&regex, name, REG_EXTENDED | REG_NOSUB) != 0)
            continue;
        const bool matches = regexec(&regex, id, 0, NULL, 0) == 0;
        regfree(&regex);
        if (matches)
            return true;
    }
    return args->list[AS_OPTION_FUNCTION].n == 0;
}

static int judge_binary(struct validating *v, struct as_meter *meter,
                        const struct as_validation_progress *progress, struct as_error *err)
{
    struct as_chosen chosen;
    int rc = as_chosen_open(v->p.cli, v->p.cli->args.value[AS_OPTION_BINARY], &chosen, err);
    if (rc == 0 && chosen.object)
        rc = as_validation_binary(v->judged, meter, chosen.program, chosen.body, progress, err);
    as_chosen_free(&chosen);
    return rc;
}

static int measure_here(struct validating *v, struct as_error *err)
{
    const struct sigaction action = {.sa_handler = note_stop, .sa_flags = (int)SA_RESETHAND};
    const struct as_validation_progress progress = {2, &stop_asked};
    const bool suite = as_given(&v->p.cli->args, AS_OPTION_SUITE);
    /* The suite measures each loop a dozen times, and takes the middle. */
    const struct as_meter_options options = {
        .cpu = -1, .samples = suite ? 16 : 40, .patience_ms = 600};
    struct as_meter *meter;
    struct sigaction before;
    AS_TRY(as_meter_new(&options, &meter, err));
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
    const int rc =
        suite ? as_validation_suite(v->judged, meter, wants_loop, &v->p.cli->args, &progress, err)
              : judge_binary(v, meter, &progress, err);
    as_meter_free(&meter);
    return rc;
}

/* ---- The verb ------------------------------------------------------------------------------ */

static int judge_given(struct validating *v, struct as_error *err)
{
    const struct as_arguments *args = &v->p.cli->args;
    const char *blocks = args->value[AS_OPTION_BLOCKS];
    struct as_external_watch load;
    as_external_begin(&load);
    if (!v->p.equal_given)
        v->p.options.equal_memory = blocks != NULL;
    AS_TRY(as_validation_new(v->p.predictor, &v->p.options, &v->judged, err));
    AS_TRY(blocks ? judge_blocks(v, blocks, err) : measure_here(v, err));
    if (v->p.cli->status != 0)
        return 0; /* a file was refused: said already */
    if (!blocks)
        as_external_load_print(v->p.cli, &load);
    return as_validate_show(&v->p, v->judged, err);
}

int as_verb_validate(struct as_cli *cli, struct as_error *err)
{
    const struct as_arguments *args = &cli->args;
    struct validating v = {.p.cli = cli};
    if (as_given(args, AS_OPTION_BLOCKS) + as_given(args, AS_OPTION_BINARY) +
            as_given(args, AS_OPTION_SUITE) !=
        1)
        return as_error_set(err, AS_ERR_USAGE,
                            "validate: no input; use one of --blocks FILE (a CSV with id, hex and "
                            "measured cycles), --binary BIN and --suite");
    int rc = as_predicting_init(cli, &v.p, err);
    as_arena_init(&v.arena);
    as_map_view_init(&v.truth);
    if (rc == 0)
        rc = judge_given(&v, err);
    as_validation_free(&v.judged);
    as_vec_fini(&v.cycles);
    as_map_view_fini(&v.truth);
    as_arena_fini(&v.arena);
    as_predicting_fini(&v.p);
    return rc;
}
