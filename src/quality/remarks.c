/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of compiler remarks. Opens and unpacks files, calls the reader of their format, and
 * sorts the remarks.
 */
#include "quality/remark_draft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "base/infile.h"
#include "base/search.h"
#include "base/vec.h"

#define TEXT_MOST 600 /* max bytes of the text of a remark */
#define CHUNK_B   (1u << 20)

struct as_remarks_memory {
    struct as_arena arena;
    size_t cap;
};

int as_remarks_new(struct as_remarks **out, struct as_error *err)
{
    struct as_remarks *it = as_calloc(1, sizeof *it);

    *out = it;
    if (it)
        it->memory = as_calloc(1, sizeof *it->memory);
    if (!it || !it->memory) {
        as_free(it);
        *out = NULL;
        return as_error_nomem(err, "the records of a compiler");
    }
    as_arena_init(&it->memory->arena);
    return 0;
}

void as_remarks_free(struct as_remarks **remarks)
{
    if (!*remarks)
        return;
    as_arena_fini(&(*remarks)->memory->arena);
    as_free((*remarks)->memory);
    as_free((*remarks)->at);
    as_free(*remarks);
    *remarks = NULL;
}

/* ---- Keeping ------------------------------------------------------------------------------- */

uint32_t as_remark_number(struct as_view digits, uint32_t none)
{
    uint64_t value = 0;

    if (digits.n == 0 || digits.n > 9)
        return none;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9')
            return none;
        value = value * 10 + (uint64_t)(digits.p[i] - '0');
    }
    return (uint32_t)value;
}

/* Returns the number after `words`, or 0 if there is none. */
static uint32_t number_behind(const char *text, const char *words)
{
    const char *at = strstr(text, words);

    if (!at)
        return 0;
    at += strlen(words);
    return as_remark_number((struct as_view){at, strspn(at, "0123456789")}, 0);
}

/* Returns a copy on one line, or `before` if that is the same text. Returns NULL
 * if out of memory. */
static const char *copy_remark_text(struct as_remarks *remarks, struct as_view text,
                                    const char *before)
{
    char *copy;

    text = as_view_trim(text);
    if (text.n > TEXT_MOST)
        text.n = TEXT_MOST;
    if (before && as_view_equal(text, as_view_of(before)))
        return before;
    copy = as_arena_strndup(&remarks->memory->arena, text.n ? text.p : "", text.n);
    for (char *c = copy; copy && *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    return copy;
}

static bool is_of_vectors(const struct as_remark *it)
{
    return strcmp(it->pass, "vect") == 0 || strncmp(it->pass, "slp", 3) == 0 ||
           strcmp(it->pass, "loop-vectorize") == 0 || strstr(it->text, "vectoriz") != NULL;
}

int as_remark_keep(struct as_remarks *remarks, const struct as_remark_draft *draft)
{
    const struct as_remark *last = remarks->n ? &remarks->at[remarks->n - 1] : NULL;
    struct as_remark it = {
        .file = copy_remark_text(remarks, draft->file, last ? last->file : NULL),
        .function = copy_remark_text(remarks, draft->function, last ? last->function : NULL),
        .pass = copy_remark_text(remarks, draft->pass, last ? last->pass : NULL),
        .text = copy_remark_text(remarks, (struct as_view){as_str_z(&draft->text), draft->text.n},
                                 NULL),
        .line = draft->line,
        .column = draft->column,
        .kind = (uint8_t)draft->kind};

    if (draft->text.failed || !it.file || !it.function || !it.pass || !it.text)
        return AS_ERR_NOMEM;
    if (!*it.text)
        return 0;
    if (remarks->n == AS_REMARKS_MOST) {
        remarks->dropped_n++;
        return 0;
    }
    if (remarks->n == remarks->memory->cap) {
        void *grown =
            as_vec_grow(remarks->at, &remarks->memory->cap, remarks->n + 1, sizeof *remarks->at);

        if (!grown)
            return AS_ERR_NOMEM;
        remarks->at = grown;
    }
    it.vector = is_of_vectors(&it);
    if (it.kind == AS_REMARK_DONE) {
        it.width_b = number_behind(it.text, "vectorized using ");
        it.lanes = number_behind(it.text, "vectorization width: ");
    }
    remarks->at[remarks->n++] = it;
    return 0;
}

/* ---- Order --------------------------------------------------------------------------------- */

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_remarks(const void *left, const void *right)
{
    const struct as_remark *a = left, *b = right;
    int order = strcmp(as_path_last(a->file), as_path_last(b->file));

    order = order ? order : compare_numbers(a->line, b->line);
    order = order ? order : compare_numbers(a->column, b->column);
    order = order ? order : strcmp(a->file, b->file);
    order = order ? order : compare_numbers(a->kind, b->kind);
    order = order ? order : strcmp(a->function, b->function);
    order = order ? order : strcmp(a->pass, b->pass);
    return order ? order : strcmp(a->text, b->text);
}

/* Sorts the remarks and removes duplicates: compilers repeat a remark for each
 * width that they try. */
static void order_remarks(struct as_remarks *remarks)
{
    size_t kept = 0;

    if (remarks->n)
        qsort(remarks->at, remarks->n, sizeof *remarks->at, compare_remarks);
    for (size_t i = 0; i < remarks->n; i++)
        if (kept == 0 || compare_remarks(&remarks->at[kept - 1], &remarks->at[i]))
            remarks->at[kept++] = remarks->at[i];
    remarks->n = kept;
}

/* Returns true if one path ends with the other, at a slash. */
static bool is_same_path(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);

    while (strncmp(a, "./", 2) == 0)
        a += 2, n -= 2;
    while (strncmp(b, "./", 2) == 0)
        b += 2, m -= 2;
    if (n < m)
        return is_same_path(b, a);
    return strcmp(a + n - m, b) == 0 && (n == m || a[n - m - 1] == '/');
}

size_t as_remarks_find(const struct as_remarks *remarks, const char *file, uint32_t first,
                       uint32_t last, size_t from)
{
    const char *name = as_path_last(file);
    const struct as_remark *at = remarks->at;
    size_t i =
        as_first_not(k, remarks->n,
                     strcmp(as_path_last(at[k].file), name) < 0 ||
                         (strcmp(as_path_last(at[k].file), name) == 0 && at[k].line < first));

    for (i = i > from ? i : from; i < remarks->n; i++) {
        if (strcmp(as_path_last(at[i].file), name) != 0 || at[i].line > last)
            return remarks->n;
        if (is_same_path(at[i].file, file))
            return i;
    }
    return remarks->n;
}

/* ---- Bytes --------------------------------------------------------------------------------- */

static int inflate_all(z_stream *z, struct as_str *out, const char *name, struct as_error *err)
{
    char *chunk = as_malloc(CHUNK_B);
    int rc = Z_OK;

    while (chunk && rc == Z_OK && out->n <= AS_REMARKS_MOST_B && !out->failed) {
        z->next_out = (Bytef *)chunk;
        z->avail_out = CHUNK_B;
        rc = inflate(z, Z_NO_FLUSH);
        if (rc == Z_OK || rc == Z_STREAM_END)
            as_str_append(out, chunk, CHUNK_B - z->avail_out);
    }
    as_free(chunk);
    if (!chunk || out->failed || rc == Z_MEM_ERROR)
        return as_error_nomem(err, "the record of a compiler");
    if (rc == Z_OK)
        return as_error_set(err, AS_ERR_LIMIT,
                            "%s: has more than %zu MiB when unpacked; use a "
                            "smaller file",
                            name, AS_REMARKS_MOST_B >> 20);
    if (rc != Z_STREAM_END)
        return as_error_set(err, AS_ERR_CORRUPT, "%s: damaged or truncated; compile again", name);
    return 0;
}

static int unpack_record(struct as_view bytes, struct as_str *out, const char *name,
                         struct as_error *err)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes.p, .avail_in = (uInt)bytes.n};
    int rc;

    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return as_error_nomem(err, "the record of a compiler");
    rc = inflate_all(&z, out, name, err);
    inflateEnd(&z);
    return rc;
}

static int read_kind(struct as_remarks *remarks, struct as_view bytes, const char *name,
                     struct as_error *err)
{
    const struct as_view start =
        as_view_trim((struct as_view){bytes.p, bytes.n < 64 ? bytes.n : 64});
    const size_t before = remarks->n;

    if (as_view_starts(start, "["))
        return as_remarks_gcc_json(remarks, bytes, name, err);
    if (as_view_starts(start, "--- !"))
        return as_remarks_clang(remarks, bytes, err);
    AS_TRY(as_remarks_gcc_text(remarks, bytes, err));
    return bytes.n == 0 || remarks->n > before
               ? 0
               : as_error_set(err, AS_ERR_UNSUPPORTED,
                              "%s: not a file of optimisation remarks; use a .opt.yaml of clang, "
                              "a .opt-record.json.gz of gcc, or the output of -fopt-info",
                              name);
}

int as_remarks_parse(struct as_remarks *remarks, const void *bytes, size_t size_b, const char *name,
                     struct as_error *err)
{
    const struct as_view all = {bytes, size_b};
    const size_t before = remarks->n;
    struct as_str unpacked = {0};
    int rc;

    if (size_b > AS_REMARKS_MOST_B)
        return as_error_set(err, AS_ERR_LIMIT, "%s: has more than %zu MiB", name,
                            AS_REMARKS_MOST_B >> 20);
    if (as_view_starts(all, "\x1f\x8b")) {
        rc = unpack_record(all, &unpacked, name, err);
        if (rc == 0)
            rc = read_kind(remarks, (struct as_view){as_str_z(&unpacked), unpacked.n}, name, err);
        as_str_fini(&unpacked);
    } else {
        rc = read_kind(remarks, all, name, err);
    }
    if (rc < 0)
        remarks->n = before;
    else
        order_remarks(remarks);
    return rc;
}

int as_remarks_add(struct as_remarks *remarks, const char *path, struct as_error *err)
{
    char *bytes;
    size_t n;
    int rc;

    AS_TRY(as_infile_read(path, "the record of a compiler", AS_REMARKS_MOST_B, AS_INFILE_PIPE,
                          &bytes, &n, err));
    rc = as_remarks_parse(remarks, bytes, n, path, err);
    as_free(bytes);
    return rc;
}
