/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads back the sheets of a new workbook: each must be complete with all its rows. It parses only
 * the needed parts of ZIP (PKWARE's application note: end record, central directory, local
 * headers). It refuses other files, because assay wrote this one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "report/xlsx.h"

#define END_B     22 /* end record without a comment */
#define CENTRAL_B 46 /* directory entry without names */
#define LOCAL_B   30
#define BLOCK_B   32768

struct zip {
    FILE *file;
    unsigned char block[BLOCK_B], text[BLOCK_B];
};

static uint32_t zip_number(const unsigned char *p, int bytes)
{
    uint32_t value = 0;

    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | p[i];
    return value;
}

static bool read_at(struct zip *zip, long offset, int whence, unsigned char *to, size_t n)
{
    return fseek(zip->file, offset, whence) == 0 && fread(to, 1, n, zip->file) == n;
}

/* ---- One sheet ---------------------------------------------------------------------------- */

/* Searches a text stream for row ends and the end of the sheet. */
struct zip_scan {
    size_t row_n;
    bool ended;
    char word[16]; /* the current tag, as far as needed */
    size_t word_n;
};

static void scan_text(struct zip_scan *scan, const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '<')
            scan->word_n = 0;
        if (scan->word_n < sizeof scan->word)
            scan->word[scan->word_n++] = (char)p[i];
        if (p[i] != '>')
            continue;
        if (scan->word_n == 6 && memcmp(scan->word, "</row>", 6) == 0)
            scan->row_n++;
        if (scan->word_n == 12 && memcmp(scan->word, "</worksheet>", 12) == 0)
            scan->ended = true;
    }
}

/* Inflates `n` bytes at the file position and scans them. */
static bool scan_entry(struct zip *zip, size_t n, struct zip_scan *scan)
{
    z_stream z = {0};
    int code = Z_OK;

    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return false;
    while (code == Z_OK && n) {
        const size_t want = n < sizeof zip->block ? n : sizeof zip->block;

        if (fread(zip->block, 1, want, zip->file) != want)
            break;
        n -= want;
        z.next_in = zip->block;
        z.avail_in = (uInt)want;
        do {
            z.next_out = zip->text;
            z.avail_out = sizeof zip->text;
            code = inflate(&z, Z_NO_FLUSH);
            scan_text(scan, zip->text, sizeof zip->text - z.avail_out);
        } while (code == Z_OK && z.avail_out == 0);
        code = code == Z_BUF_ERROR ? Z_OK : code;
    }
    inflateEnd(&z);
    return code == Z_STREAM_END;
}

/* ---- The directory ------------------------------------------------------------------------ */

/* Returns the number of a sheet, from 0, for the name of its entry; -1 for other entries. */
static long sheet_of(const char *name)
{
    static const char before[] = "xl/worksheets/sheet";
    char *end;
    long sheet;

    if (strncmp(name, before, strlen(before)) != 0)
        return -1;
    sheet = strtol(name + strlen(before), &end, 10);
    return strcmp(end, ".xml") == 0 ? sheet - 1 : -1;
}

/* Reads the directory entry at `*offset` and checks its file. */
static bool check_entry(struct zip *zip, long *offset, const size_t *row_n, size_t sheet_n,
                        size_t *seen)
{
    unsigned char central[CENTRAL_B], local[LOCAL_B];
    char name[64] = "";
    struct zip_scan scan = {0};

    if (!read_at(zip, *offset, SEEK_SET, central, sizeof central))
        return false;
    const size_t name_b = zip_number(central + 28, 2);
    const long size_b = (long)zip_number(central + 20, 4),
               begin = (long)zip_number(central + 42, 4);

    if (name_b < sizeof name && fread(name, 1, name_b, zip->file) != name_b)
        return false;
    *offset +=
        (long)(CENTRAL_B + name_b + zip_number(central + 30, 2) + zip_number(central + 32, 2));
    const long sheet = sheet_of(name);

    if (sheet < 0 || (size_t)sheet >= sheet_n)
        return true;
    if (!read_at(zip, begin, SEEK_SET, local, sizeof local) ||
        fseek(zip->file, (long)zip_number(local + 26, 2) + (long)zip_number(local + 28, 2),
              SEEK_CUR) != 0)
        return false;
    ++*seen;
    return scan_entry(zip, (size_t)size_b, &scan) && scan.ended && scan.row_n == row_n[sheet];
}

static bool check_all(struct zip *zip, const size_t *row_n, size_t sheet_n)
{
    unsigned char end[END_B];
    size_t seen = 0;

    if (!read_at(zip, -END_B, SEEK_END, end, sizeof end) || zip_number(end, 4) != 0x06054b50)
        return false;
    long offset = (long)zip_number(end + 16, 4);

    for (uint32_t i = zip_number(end + 10, 2); i; i--)
        if (!check_entry(zip, &offset, row_n, sheet_n, &seen))
            return false;
    return seen == sheet_n;
}

int as_xlsx_verify(const char *path, const char *name, const size_t *row_n, size_t sheet_n,
                   struct as_error *err)
{
    struct zip *zip = as_calloc(1, sizeof *zip);
    bool is_whole;

    if (!zip)
        return as_error_nomem(err, name);
    zip->file = fopen(path, "rbe");
    is_whole = zip->file && check_all(zip, row_n, sheet_n);
    if (zip->file)
        (void)fclose(zip->file);
    as_free(zip);
    if (is_whole)
        return 0;
    return as_error_set(err, AS_ERR_IO,
                        "%s: cannot be written: the disk is full or the file size limit was "
                        "reached; free some space or use another place with 'assay report "
                        "--output'",
                        name);
}
