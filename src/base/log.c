/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: parses ASSAY_LOG and writes one line with one write(2). So lines of several threads and
 * processes are not mixed, without a lock. A line longer than the buffer ends in "...".
 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"

#define LINE_B 2048

unsigned char as_log_levels[AS_LOG_DOMAIN_COUNT];

/* Set before threads start, see as_log_to. */
static int log_fd = STDERR_FILENO;

#define LOG_WORD(name, word) word,
static const char *const domain_words[] = {AS_LOG_DOMAIN_LIST(LOG_WORD)};
static const char *const level_words[] = {AS_LOG_LEVEL_LIST(LOG_WORD)};
#undef LOG_WORD

#define LOG_WORD(name, word) word ", "
#define DOMAINS_TEXT         AS_LOG_DOMAIN_LIST(LOG_WORD)
#define LEVELS_TEXT          AS_LOG_LEVEL_LIST(LOG_WORD)

/* Returns the index of `s` in `words`, or -1. */
static int find_word(struct as_view s, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (as_view_equal(s, as_view_of(words[i])))
            return i;
    return -1;
}

static int unknown_word(struct as_error *err, const char *kind, struct as_view word,
                        const char *known)
{
    size_t n = strlen(known) - 2; /* without the last ", " */
    return as_error_set(err, AS_ERR_USAGE, "ASSAY_LOG: unknown log %s \"%.*s\"; use %.*s", kind,
                        (int)(word.n < 64 ? word.n : 64), word.n ? word.p : "", (int)n, known);
}

int as_log_configure(const char *spec, struct as_error *err)
{
    unsigned char levels[AS_LOG_DOMAIN_COUNT] = {0};
    struct as_view rest = as_view_of(spec), part;
    while (as_view_split(&rest, ',', &part)) {
        part = as_view_trim(part);
        if (!part.n)
            continue;
        struct as_view level_word = part, domain_word;
        as_view_split(&level_word, ':', &domain_word);
        int domain = -1;
        if (level_word.p) {
            domain = find_word(domain_word, domain_words, AS_LOG_DOMAIN_COUNT);
            if (domain < 0)
                return unknown_word(err, "domain", domain_word, DOMAINS_TEXT);
        } else {
            level_word = domain_word;
        }
        int level = find_word(level_word, level_words, AS_LOG_LEVEL_COUNT);
        if (level < 0)
            return unknown_word(err, "level", level_word, LEVELS_TEXT);
        if (domain < 0)
            memset(levels, level, sizeof levels);
        else
            levels[domain] = (unsigned char)level;
    }
    memcpy(as_log_levels, levels, sizeof levels);
    return 0;
}

int as_log_configure_env(struct as_error *err)
{
    return as_log_configure(getenv("ASSAY_LOG"), err);
}

void as_log_to(int fd)
{
    log_fd = fd;
}

void as_log_line(enum as_log_domain domain, enum as_log_level level, const char *fmt, ...)
{
    int saved = errno;
    char line[LINE_B];
    size_t room = sizeof line - 1; /* the last byte is for the newline */
    int head = snprintf(line, room, "assay: %s: %s: ", level_words[level], domain_words[domain]);
    size_t n = head < 0 ? 0 : (size_t)head;
    va_list args;
    va_start(args, fmt);
    int more = vsnprintf(line + n, room - n, fmt, args);
    va_end(args);
    if (more > 0 && (size_t)more >= room - n) {
        memcpy(line + room - 4, "...", 3);
        n = room - 1;
    } else if (more > 0) {
        n += (size_t)more;
    }
    /* Foreign names in the text must not break the line or control the terminal. */
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            line[i] = ' ';
    line[n++] = '\n';
    ssize_t written;
    do
        written = write(log_fd, line, n);
    while (written < 0 && errno == EINTR);
    errno = saved;
}
