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

struct record_comparison {
    const struct assay_judged *piece;
    struct as_map_view at; /* id -> index of the piece */
    struct as_since *out;
};

static double number_of(struct as_view text)
{
    char number[64];
    snprintf(number, sizeof number, "%.*s", text.n < sizeof number ? (int)text.n : 0,
             text.n ? text.p : "");
    return strtod(number, NULL);
}

/* A line of a record: id, hex, address, cycles, ok, predicted. */
static void compare_line(const struct record_comparison *c, const char *line)
{
    struct as_view rest = as_view_of(line), cell[6];
    for (size_t i = 0; i < 6; i++)
        if (!as_view_split(&rest, ',', &cell[i]))
            return;
    const uint32_t at = as_map_view_get(&c->at, cell[0]);
    const double measured = number_of(cell[3]), predicted = number_of(cell[5]);
    if (at == AS_MAP_NONE || !(measured > 0))
        return;
    const double before = fabs(predicted - measured) / measured;
    const double now = assay_judged_error(&c->piece[at]);
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

int as_record_compare(const char *path, const struct assay_judged *piece, size_t n,
                      struct as_since *out, struct assay_error *err)
{
    struct record_comparison c = {.piece = piece, .out = out};
    int rc = 0;
    FILE *f = fopen(path, "re");
    *out = (struct as_since){.path = path};
    if (!f)
        return as_error_set(err, ASSAY_ERR_NOT_FOUND, "--against: %s: cannot be read", path);
    as_map_view_init(&c.at);
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (as_map_view_put(&c.at, as_view_of(piece[i].id), (uint32_t)i) < 0)
            rc = as_error_nomem(err, "the pieces by name");
    if (rc == 0)
        rc = read_record(f, &c, path, err);
    if (out->n) {
        out->before /= (double)out->n;
        out->now /= (double)out->n;
    }
    as_map_view_fini(&c.at);
    fclose(f);
    return rc;
}
