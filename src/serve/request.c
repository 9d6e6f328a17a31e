/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the head of a request. Host must name this machine: otherwise a page of another site could
 * read the report by pointing its own name at 127.0.0.1 (DNS rebinding).
 */
#include "serve/request.h"

#include <string.h>
#include <strings.h>

#include "base/str.h"

static bool is_word(struct as_view s, const char *word)
{
    return as_view_equal(s, as_view_of(word));
}

/* Shortens `rest` to the head without its empty line; false if the empty line is not there yet.
 * Bare line feeds end lines too. */
static bool cut_request_head(struct as_view *rest)
{
    for (size_t i = 0; i < rest->n; i++) {
        if (rest->p[i] != '\n')
            continue;
        const size_t next = i + 1 + (i + 1 < rest->n && rest->p[i + 1] == '\r');

        if (next < rest->n && rest->p[next] == '\n') {
            rest->n = i + 1;
            return true;
        }
    }
    return false;
}

static bool cut_request_line(struct as_view *rest, struct as_view *line)
{
    if (!as_view_split(rest, '\n', line))
        return false;
    if (line->n && line->p[line->n - 1] == '\r')
        line->n--;
    return true;
}

/* Returns true for a name of this machine with any port, since a tunnel may change the port. */
static bool is_this_machine(struct as_view host)
{
    size_t n = host.n;

    while (n && host.p[n - 1] >= '0' && host.p[n - 1] <= '9')
        n--;
    if (n && n < host.n && host.p[n - 1] == ':')
        host.n = n - 1;
    return is_word(host, "127.0.0.1") || is_word(host, "localhost") || is_word(host, "[::1]");
}

static bool is_field(struct as_view line, const char *name, struct as_view *value)
{
    const size_t n = strlen(name);

    if (line.n <= n || line.p[n] != ':' || strncasecmp(line.p, name, n) != 0)
        return false;
    *value = as_view_trim((struct as_view){line.p + n + 1, line.n - n - 1});
    return true;
}

/* Returns true for a field name and a colon without a blank between (RFC 9112, 5.1). With a
 * blank, another parser might see a field that this one does not. */
static bool is_any_field(struct as_view line)
{
    size_t n = 0;

    while (n < line.n && line.p[n] > ' ' && line.p[n] < 0x7f && line.p[n] != ':')
        n++;
    return n && n < line.n && line.p[n] == ':';
}

/* Checks the fields: exactly one Host, with a name of this machine. Returns a status. */
static int read_fields(struct as_view rest)
{
    struct as_view line, host = {0};
    unsigned host_n = 0;

    while (cut_request_line(&rest, &line)) {
        if (!line.n)
            continue;
        if (!is_any_field(line))
            return 400;
        host_n += is_field(line, "host", &host);
    }
    if (host_n != 1)
        return 400;
    return is_this_machine(host) ? 200 : 403;
}

/* Compares all characters, so that the time does not depend on the first difference. */
static bool is_key(const char *p, const char *key)
{
    unsigned differs = 0;

    for (size_t i = 0; i < AS_REQUEST_KEY_N; i++)
        differs |= (unsigned char)p[i] ^ (unsigned)(unsigned char)key[i];
    return differs == 0;
}

static bool is_name(struct as_view name)
{
    for (size_t i = 0; i < name.n; i++) {
        const char c = name.p[i], lower = (char)(c | 0x20);
        if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '.')
            return false;
    }
    return name.n == 0 || name.p[0] != '.';
}

/* Parses "/KEY/" or "/KEY/NAME?QUERY"; returns a status. */
static int read_target(struct as_view target, const char *key, struct as_http_request *request)
{
    const char *query = memchr(target.p, '?', target.n);

    if (query) {
        request->query = (struct as_view){query + 1, (size_t)(target.p + target.n - query - 1)};
        target.n = (size_t)(query - target.p);
    }
    if (target.n < 2 + AS_REQUEST_KEY_N || target.p[0] != '/' || !is_key(target.p + 1, key) ||
        target.p[1 + AS_REQUEST_KEY_N] != '/')
        return 404;
    request->name =
        (struct as_view){target.p + 2 + AS_REQUEST_KEY_N, target.n - 2 - AS_REQUEST_KEY_N};
    return is_name(request->name) ? 200 : 404;
}

/* Parses a request line such as "GET /KEY/ HTTP/1.1"; returns a status. */
static int read_first(struct as_view line, const char *key, struct as_http_request *request)
{
    struct as_view method, target, version, more;

    if (!as_view_split(&line, ' ', &method) || !as_view_split(&line, ' ', &target) ||
        !as_view_split(&line, ' ', &version) || as_view_split(&line, ' ', &more) || !method.n ||
        !target.n || !as_view_starts(version, "HTTP/"))
        return 400;
    if (!is_word(version, "HTTP/1.1") && !is_word(version, "HTTP/1.0"))
        return 505;
    request->is_head = is_word(method, "HEAD");
    if (!request->is_head && !is_word(method, "GET"))
        return 405;
    return read_target(target, key, request);
}

int as_request_read(const char *p, size_t n, const char key[AS_REQUEST_KEY_N],
                    struct as_http_request *request)
{
    struct as_view rest = {p, n}, line;
    int first, fields;

    *request = (struct as_http_request){0};
    if (!cut_request_head(&rest))
        return n >= AS_REQUEST_MOST_B ? 431 : 0;
    if (memchr(rest.p, '\0', rest.n))
        return 400;
    cut_request_line(&rest, &line);
    first = read_first(line, key, request);
    if (first == 400 || first == 505)
        return first;
    fields = read_fields(rest);
    return fields == 200 ? first : fields;
}

const char *as_request_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } at[] = {
        {200, "OK"},
        {400, "Bad Request"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {431, "Request Header Fields Too Large"},
        {505, "HTTP Version Not Supported"},
    };

    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        if (at[i].status == status)
            return at[i].reason;
    return "Internal Server Error";
}
