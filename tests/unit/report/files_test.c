/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a report: data packed for a page, and the check of a workbook that may have been
 * truncated.
 */
#include "place.h"

#include <zlib.h>

#include "report/packed.h"
#include "report/report.h"
#include "report/xlsx.h"

/* ---- Packed data -------------------------------------------------------------------------- */

static int value_of(char c)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digit, c);

    assert_true(c && at);
    return (int)(at - digit);
}

/* Strict: whole groups, '=' at the end only. Returns the bytes. */
static size_t decode(const char *text, size_t n, unsigned char *to)
{
    size_t b = 0;

    assert_int_equal(n % 4, 0);
    for (size_t i = 0; i < n; i += 4) {
        const bool is_last = i + 4 == n;
        const int pad = is_last ? (text[i + 3] == '=') + (text[i + 2] == '=') : 0;
        const int group = value_of(text[i]) << 18 | value_of(text[i + 1]) << 12 |
                          (pad > 1 ? 0 : value_of(text[i + 2])) << 6 |
                          (pad > 0 ? 0 : value_of(text[i + 3]));

        to[b++] = (unsigned char)(group >> 16);
        if (pad < 2)
            to[b++] = (unsigned char)(group >> 8);
        if (pad < 1)
            to[b++] = (unsigned char)group;
    }
    return b;
}

static struct as_str pack(const char *bytes, size_t n, size_t step)
{
    struct as_packed packed;
    struct as_str text = {0};
    struct as_out out;

    as_out_init_str(&out, &text);
    assert_int_equal(as_packed_init(&packed, &out), 0);
    for (size_t i = 0; i < n; i += step)
        assert_int_equal(as_packed_write(&packed, bytes + i, n - i < step ? n - i : step), 0);
    assert_int_equal(as_packed_end(&packed), 0);
    as_packed_fini(&packed);
    fine(as_out_flush(&out, err));
    as_out_fini(&out);
    return text;
}

/* Bytes that do not compress, so that all lengths occur; in one piece and in many. */
static void test_packed(void **state)
{
    static char bytes[100000];
    static unsigned char binary[200000], back[sizeof bytes];
    uint32_t random = 1;
    bool pad[3] = {false};

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) {
        random = random * 1664525 + 1013904223;
        bytes[i] = (char)(random >> 24);
    }
    for (size_t n = 0; n <= sizeof bytes; n += n < 40 ? 1 : 33320) {
        struct as_str text = pack(bytes, n, n < 40 ? 1 : 1000);
        const size_t binary_b = decode(text.p, text.n, binary);
        uLongf back_b = sizeof back;

        pad[binary_b % 3] = true;
        assert_int_equal(uncompress(back, &back_b, binary, binary_b), Z_OK);
        assert_int_equal(back_b, n);
        assert_memory_equal(back, bytes, n);
        as_str_fini(&text);
    }
    assert_true(pad[0] && pad[1] && pad[2]);
}

/* ---- Workbooks ---------------------------------------------------------------------------- */

static size_t workbook(struct place *place, char *path, size_t path_b, unsigned char **bytes)
{
    struct as_experiment *e;
    struct fixture f;
    struct stat st;
    FILE *file;

    snprintf(path, path_b, "%s/book.xlsx", place->dir);
    fine(as_experiment_create(place->exp, 0, &e, err));
    fine(fixture_fill(e, &f, err));
    fine(as_report_write(e, 0, AS_REPORT_XLSX, NULL, path, err));
    fine(as_experiment_close(&e, err));
    file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &st), 0);
    *bytes = malloc((size_t)st.st_size);
    assert_int_equal(fread(*bytes, 1, (size_t)st.st_size, file), st.st_size);
    fclose(file);
    return (size_t)st.st_size;
}

static void put(const char *path, const unsigned char *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

/* Rows of the fixture's sheets with their headers: summary (one finding), functions, loops, ... */
static const size_t rows[] = {6, 6, 3, 7, 4, 3, 3, 4, 2, 2, 2};
#define SHEETS (sizeof rows / sizeof *rows)

static void test_verify(void **state)
{
    size_t other[SHEETS];
    unsigned char *bytes;
    char path[100];
    const size_t n = workbook(*state, path, sizeof path, &bytes);

    fine(as_xlsx_verify(path, "book", rows, SHEETS, err));
    memcpy(other, rows, sizeof rows);
    other[3]++;
    refused(as_xlsx_verify(path, "book", other, SHEETS, err), IO, "book: cannot be written");
    refused(as_xlsx_verify("/nowhere", "book", rows, SHEETS, err), IO, "book");
    for (size_t i = 0; i < n; i += 997) { /* cut short anywhere */
        put(path, bytes, i);
        refused(as_xlsx_verify(path, "book", rows, SHEETS, err), IO, "book");
    }
    for (size_t i = 0; i < n; i += 61) { /* a byte that is wrong must not break anything */
        bytes[i] ^= 0xff;
        put(path, bytes, n);
        (void)as_xlsx_verify(path, "book", rows, SHEETS, NULL);
        bytes[i] ^= 0xff;
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {place_test(test_packed), place_test(test_verify)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
