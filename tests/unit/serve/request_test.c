/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of requests and what is answered to them. */
#include "unit.h"

#include "serve/request.h"

#define HOST "Host: 127.0.0.1:8000\r\n"
#define KEY  "0123456789abcdef0123456789abcdef"

static const struct {
    const char *text;
    int status;
} at[] = {
    {"GET /" KEY "/ HTTP/1.1\r\n" HOST "\r\n", 200},
    {"HEAD /" KEY "/report.html HTTP/1.1\r\n" HOST "Accept: */*\r\n\r\n", 200},
    {"GET /" KEY "/?run=1 HTTP/1.0\nhost:localhost\n\n", 200},
    {"GET /" KEY "/ HTTP/1.1\r\nHost: [::1]:9\r\n\r\n", 200},
    {"GET /" KEY "/ HTTP/1.1\r\n" HOST, 0},
    {"", 0},
    {"GET", 0},
    {"GET /" KEY "/../experiment.db HTTP/1.1\r\n" HOST "\r\n", 404},
    {"GET /" KEY "/favicon.ico HTTP/1.1\r\n" HOST "\r\n", 200},
    {"GET /" KEY "/.hidden HTTP/1.1\r\n" HOST "\r\n", 404},
    {"GET /" KEY "/a/b HTTP/1.1\r\n" HOST "\r\n", 404},
    {"GET /" KEY "/a%2fb HTTP/1.1\r\n" HOST "\r\n", 404},
    {"GET http://127.0.0.1/" KEY "/ HTTP/1.1\r\n" HOST "\r\n", 404},
    {"GET / HTTP/1.1\r\n" HOST "\r\n", 404},
    {"GET /report.html HTTP/1.1\r\n" HOST "\r\n", 404},
    {"GET /" KEY " HTTP/1.1\r\n" HOST "\r\n", 404},
    {"GET /" KEY "x/ HTTP/1.1\r\n" HOST "\r\n", 404},
    {"GET /0123456789abcdef0123456789abcde/ HTTP/1.1\r\n" HOST "\r\n", 404},
    {"GET /0123456789abcdef0123456789abcdeF/ HTTP/1.1\r\n" HOST "\r\n", 404},
    {"GET /x123456789abcdef0123456789abcdef/ HTTP/1.1\r\n" HOST "\r\n", 404},
    {"GET //" KEY "/ HTTP/1.1\r\n" HOST "\r\n", 404},
    {"GET /?/" KEY "/ HTTP/1.1\r\n" HOST "\r\n", 404},
    {"POST /" KEY "/ HTTP/1.1\r\n" HOST "\r\n", 405},
    {"OPTIONS * HTTP/1.1\r\n" HOST "\r\n", 405},
    {"GET /" KEY "/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403},
    {"GET /" KEY "/ HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n", 403},
    {"GET /" KEY "/ HTTP/1.1\r\nHost: localhost:80:80\r\n\r\n", 403},
    {"GET /" KEY "/ HTTP/1.1\r\nHost: :80\r\n\r\n", 403},
    {"POST /x HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403},
    {"GET /" KEY "/ HTTP/1.1\r\n\r\n", 400},
    {"GET /" KEY "/ HTTP/1.1\r\n" HOST HOST "\r\n", 400},
    {"GET /" KEY "/ HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 400},
    {"GET /" KEY "/ HTTP/1.1\r\nHost: evil.example\r\nHOST: localhost\r\n\r\n", 400},
    {"GET /" KEY "/ HTTP/1.1\r\n" HOST "Host : evil.example\r\n\r\n", 400},
    {"GET /" KEY "/ HTTP/1.1\r\n" HOST "Host\t: evil.example\r\n\r\n", 400},
    {"GET /" KEY "/ HTTP/1.1\r\n" HOST ": evil.example\r\n\r\n", 400},
    {"GET /" KEY "/ HTTP/1.1\r\n" HOST "no field\r\n\r\n", 400},
    {"GET /" KEY "/ HTTP/1.1\r\n" HOST " folded: x\r\n\r\n", 400},
    {"GET /" KEY "/\r\n" HOST "\r\n", 400},
    {"GET  /" KEY "/ HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /" KEY "/ HTTP/1.1 x\r\n" HOST "\r\n", 400},
    {"\r\n\r\n", 400},
    {"\x16\x03\x01\x02\r\n\r\n", 400}, /* TLS */
    {"GET /" KEY "/ HTTP/2.0\r\n" HOST "\r\n", 505},
};

static void test_statuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct as_http_request request;
        const int status = as_request_read(at[i].text, strlen(at[i].text), KEY, &request);

        if (status != at[i].status)
            fail_msg("%d instead of %d for: %s", status, at[i].status, at[i].text);
        assert_int_equal(request.is_head, strncmp(at[i].text, "HEAD ", 5) == 0);
    }
}

/* However it arrives, nothing is answered before the end, and the same at the end. */
static void test_in_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        const size_t n = strlen(at[i].text);
        struct as_http_request request;

        for (size_t k = 0; k + 1 < n; k++) {
            char *copy = malloc(k + 1); /* exact, so that the address sanitizer sees one too many */

            memcpy(copy, at[i].text, k);
            const int status = as_request_read(copy, k, KEY, &request);

            assert_true(status == 0 || status == at[i].status);
            free(copy);
        }
    }
}

static void test_too_long(void **state)
{
    (void)state;
    char head[AS_REQUEST_MOST_B];
    struct as_http_request request;

    memset(head, 'x', sizeof head);
    assert_int_equal(as_request_read(head, sizeof head - 1, KEY, &request), 0);
    assert_int_equal(as_request_read(head, sizeof head, KEY, &request), 431);
}

static void test_zero_bytes(void **state)
{
    (void)state;
    static const char head[] = "GET /" KEY "/ HTTP/1.1\r\nHost: 127.0.0.1\0\r\n\r\n";
    struct as_http_request request;

    assert_int_equal(as_request_read(head, sizeof head - 1, KEY, &request), 400);
}

static void test_name_and_query(void **state)
{
    (void)state;
    static const char head[] = "GET /" KEY "/tile?m=states&px=10 HTTP/1.1\r\n" HOST "\r\n";
    struct as_http_request request;

    assert_int_equal(as_request_read(head, sizeof head - 1, KEY, &request), 200);
    assert_true(as_view_equal(request.name, as_view_of("tile")));
    assert_true(as_view_equal(request.query, as_view_of("m=states&px=10")));
    assert_int_equal(as_request_read(at[0].text, strlen(at[0].text), KEY, &request), 200);
    assert_int_equal(request.name.n, 0);
    assert_int_equal(request.query.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statuses),       cmocka_unit_test(test_in_pieces),
        cmocka_unit_test(test_too_long),       cmocka_unit_test(test_zero_bytes),
        cmocka_unit_test(test_name_and_query),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
