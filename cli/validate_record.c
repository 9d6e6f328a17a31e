/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of `assay validate`: a CSV that --blocks reads again, with what was predicted beside what
 * was measured, so that another version can be compared.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "validate.h"

static const char *const record_head = "id,hex,address,cycles,ok,predicted,spread,bound";

static void put_piece(FILE *f, const struct assay_judged *piece)
{
    fprintf(f, "%s,%s,0x%" PRIx64 ",%.4f,1,%.4f,%.4f,%s\n", piece->id, piece->hex ? piece->hex : "",
            piece->address, piece->measured, piece->predicted, piece->spread,
            assay_bound_name(piece->bound));
}

int as_record_save(const char *path, const struct assay_judged *piece, size_t n,
                   struct assay_error *err)
{
    FILE *f = fopen(path, "we");
    if (!f)
        return as_error_set(err, ASSAY_ERR_IO, "--save: %s: cannot be written: %s", path,
                            strerror(errno));
    fprintf(f, "%s\n", record_head);
    for (size_t i = 0; i < n; i++)
        put_piece(f, &piece[i]);
    const bool failed = ferror(f);
    if (fclose(f) != 0 || failed)
        return as_error_set(err, ASSAY_ERR_IO, "--save: %s: cannot be written", path);
    return 0;
}

/* ---- Since an earlier one ------------------------------------------------------------------- */

/* Pieces are paired by name and code, those left over by code alone: a loop of a program that was
 * built anew has another address in its name. */
struct record_comparison {
    const struct assay_judged *piece;
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

static bool same_code(const struct assay_judged *piece, struct as_view hex)
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
    const double now = assay_judged_error(&c->piece[at]);
    c->paired[at] = true;
    c->out->n++;
    c->out->before += 100 * before;
    c->out->now += 100 * now;
    c->out->better_n += now < before - 0.01;
    c->out->worse_n += now > before + 0.01;
}

static int read_record(FILE *f, const struct record_comparison *c, const char *path,
                       struct assay_error *err)
{
    char *line = NULL;
    size_t cap = 0, number = 0;
    int rc = 0;
    while (rc == 0 && getline(&line, &cap, f) >= 0) {
        line[strcspn(line, "\r\n")] = 0;
        if (number++)
            compare_line(c, line);
        else if (strcmp(line, record_head) != 0)
            rc = as_error_set(err, ASSAY_ERR_USAGE,
                              "--against: %s: is no record of 'assay validate --save'", path);
    }
    free(line); /* of getline */
    return rc;
}

static int compare_rounds(FILE *f, struct record_comparison *c, const char *path, size_t n,
                          struct assay_error *err)
{
    c->paired = as_calloc(n + 1, sizeof *c->paired);
    bool failed = !c->paired;
    for (size_t i = 0; !failed && i < n; i++)
        failed = as_map_view_put(&c->by_id, as_view_of(c->piece[i].id), (uint32_t)i) < 0 ||
                 (c->piece[i].hex &&
                  as_map_view_put(&c->by_code, as_view_of(c->piece[i].hex), (uint32_t)i) < 0);
    if (failed)
        return as_error_nomem(err, "the pieces by name");
    AS_TRY(read_record(f, c, path, err));
    rewind(f);
    c->by_code_alone = true;
    return read_record(f, c, path, err);
}

int as_record_compare(const char *path, const struct assay_judged *piece, size_t n,
                      struct as_since *out, struct assay_error *err)
{
    struct record_comparison c = {.piece = piece, .out = out};
    FILE *f = fopen(path, "re");
    *out = (struct as_since){.path = path};
    if (!f)
        return as_error_set(err, ASSAY_ERR_NOT_FOUND, "--against: %s: cannot be read", path);
    as_map_view_init(&c.by_id);
    as_map_view_init(&c.by_code);
    const int rc = compare_rounds(f, &c, path, n, err);
    if (out->n) {
        out->before /= (double)out->n;
        out->now /= (double)out->n;
    }
    as_map_view_fini(&c.by_id);
    as_map_view_fini(&c.by_code);
    as_free(c.paired);
    fclose(f);
    return rc;
}
