/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of `assay validate`: a CSV file that --blocks reads, with predicted beside measured
 * cycles. Another version can be compared with it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/infile.h"
#include "base/map.h"
#include "base/outfile.h"
#include "validate.h"

static const char *const record_head = "id,hex,address,cycles,ok,predicted,spread,bound";

static void append_piece(struct as_str *to, const struct as_judged *piece)
{
    as_str_appendf(to, "%s,%s,0x%" PRIx64 ",%.4f,1,%.4f,%.4f,%s\n", piece->id,
                   piece->hex ? piece->hex : "", piece->address, piece->measured, piece->predicted,
                   piece->spread, as_bound_name(piece->bound));
}

int as_record_save(const char *path, const struct as_judged *piece, size_t n, struct as_error *err)
{
    struct as_str text = {0};
    as_str_appendf(&text, "%s\n", record_head);
    for (size_t i = 0; i < n; i++)
        append_piece(&text, &piece[i]);
    const int rc = text.failed ? as_error_nomem(err, "the record of --save")
                               : as_outfile_write(path, AS_OUTFILE_REPLACE, text.p, text.n, err);
    as_str_fini(&text);
    return rc;
}

/* ---- Since an earlier one ------------------------------------------------------------------- */

/* Pieces are paired by name and code, those left over by code alone: a loop of a program that was
 * built anew has another address in its name. */
struct record_comparison {
    const struct as_judged *piece;
    struct as_map_view by_id, by_code; /* -> index of the piece */
    bool *paired;                      /* by piece */
    bool by_code_alone;                /* the second round */
    struct as_since *out;
};

static double number_of(struct as_view text)
{
    char number[64];
    snprintf(number, sizeof number, "%.*s", text.n < sizeof number ? (int)text.n : 0,
             text.n ? text.p : "");
    return strtod(number, NULL);
}

static bool same_code(const struct as_judged *piece, struct as_view hex)
{
    return !hex.n || !piece->hex || as_view_equal(hex, as_view_of(piece->hex));
}

/* The piece that a line is about in this round, AS_MAP_NONE without one. */
static uint32_t piece_of_line(const struct record_comparison *c, struct as_view id,
                              struct as_view hex)
{
    const uint32_t named = as_map_view_get(&c->by_id, id);
    const bool is_it = named != AS_MAP_NONE && same_code(&c->piece[named], hex);
    if (!c->by_code_alone)
        return is_it ? named : AS_MAP_NONE;
    const uint32_t alike = is_it || !hex.n ? AS_MAP_NONE : as_map_view_get(&c->by_code, hex);
    if (named != AS_MAP_NONE && !is_it && alike == AS_MAP_NONE)
        c->out->changed_n++;
    return alike;
}

/* A line of a record: id, hex, address, cycles, ok, predicted. */
static void compare_line(const struct record_comparison *c, const char *line)
{
    struct as_view rest = as_view_of(line), cell[6];
    for (size_t i = 0; i < 6; i++)
        if (!as_view_split(&rest, ',', &cell[i]))
            return;
    const uint32_t at = piece_of_line(c, cell[0], cell[1]);
    const double measured = number_of(cell[3]), predicted = number_of(cell[5]);
    if (at == AS_MAP_NONE || c->paired[at] || !(measured > 0))
        return;
    const double before = fabs(predicted - measured) / measured;
    const double now = as_judged_error(&c->piece[at]);
    c->paired[at] = true;
    c->out->n++;
    c->out->before += 100 * before;
    c->out->now += 100 * now;
    c->out->better_n += now < before - 0.01;
    c->out->worse_n += now > before + 0.01;
}

/* Reads the lines once; the lines are cut in a copy. */
static int read_record(const char *record, size_t n, const struct record_comparison *c,
                       const char *path, struct as_error *err)
{
    char *copy = as_malloc(n + 1), *rest = copy, *line;
    size_t number = 0;
    int rc = 0;
    if (!copy)
        return as_error_nomem(err, path);
    memcpy(copy, record, n + 1);
    while (rc == 0 && (line = as_infile_line(&rest))) {
        if (number++)
            compare_line(c, line);
        else if (strcmp(line, record_head) != 0)
            rc = as_error_set(err, AS_ERR_USAGE,
                              "--against: %s: not a file of 'assay validate --save'; use such a "
                              "file",
                              path);
    }
    as_free(copy);
    return rc;
}

static int compare_rounds(const char *record, size_t record_n, struct record_comparison *c,
                          const char *path, size_t n, struct as_error *err)
{
    c->paired = as_calloc(n + 1, sizeof *c->paired);
    bool failed = !c->paired;
    for (size_t i = 0; !failed && i < n; i++)
        failed = as_map_view_put(&c->by_id, as_view_of(c->piece[i].id), (uint32_t)i) < 0 ||
                 (c->piece[i].hex &&
                  as_map_view_put(&c->by_code, as_view_of(c->piece[i].hex), (uint32_t)i) < 0);
    if (failed)
        return as_error_nomem(err, "the pieces by name");
    AS_TRY(read_record(record, record_n, c, path, err));
    c->by_code_alone = true;
    return read_record(record, record_n, c, path, err);
}

int as_record_compare(const char *path, const struct as_judged *piece, size_t n,
                      struct as_since *out, struct as_error *err)
{
    struct record_comparison c = {.piece = piece, .out = out};
    char *text;
    size_t text_n;
    *out = (struct as_since){.path = path};
    AS_TRY(as_infile_read_text(path, "the record of --against", AS_RECORD_MAX_B, AS_INFILE_PIPE,
                               &text, &text_n, err));
    as_map_view_init(&c.by_id);
    as_map_view_init(&c.by_code);
    const int rc = compare_rounds(text, text_n, &c, path, n, err);
    if (out->n) {
        out->before /= (double)out->n;
        out->now /= (double)out->n;
    }
    as_map_view_fini(&c.by_id);
    as_map_view_fini(&c.by_code);
    as_free(c.paired);
    as_free(text);
    return rc;
}
