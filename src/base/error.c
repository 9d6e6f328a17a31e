/* SPDX-License-Identifier: Apache-2.0 */
/* The error object: summaries and exit statuses from AS_ERROR_LIST, and the sentence. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *as_error_summary(int code)
{
    switch (code) {
    case AS_OK:
        return "success";
#define ERROR_SUMMARY(name, code, status, summary)                                                 \
    case AS_ERR_##name:                                                                            \
        return summary;
        AS_ERROR_LIST(ERROR_SUMMARY)
#undef ERROR_SUMMARY
    default:
        return "unknown error";
    }
}

int as_error_exit_status(int code)
{
    switch (code) {
    case AS_OK:
        return 0;
#define ERROR_STATUS(name, code, status, summary)                                                  \
    case AS_ERR_##name:                                                                            \
        return status;
        AS_ERROR_LIST(ERROR_STATUS)
#undef ERROR_STATUS
    default:
        return 1;
    }
}

/*
 * Sentences contain foreign names, which must not break the line or control the terminal. Bytes
 * above 0x7f stay, because they may be UTF-8.
 */
static void clean_sentence(char *text)
{
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
}

/* Replaces the end of a text that did not fit by "...", and leaves no partial UTF-8 character. */
static void shorten(char text[static AS_ERROR_TEXT_B])
{
    size_t n = AS_ERROR_TEXT_B - 4;
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    memcpy(text + n, "...", 4);
}

int as_error_set(struct as_error *err, int code, const char *fmt, ...)
{
    if (!err)
        return code;
    /* A separate buffer: an argument may be the text of `err` itself. */
    char text[AS_ERROR_TEXT_B];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n < 0)
        snprintf(text, sizeof text, "%s", as_error_summary(code));
    else if ((size_t)n >= sizeof text)
        shorten(text);
    clean_sentence(text);
    err->code = code;
    memcpy(err->text, text, strlen(text) + 1);
    return code;
}

void as_error_set_nomem(struct as_error *err, const char *what)
{
    as_error_set(err, AS_ERR_NOMEM, "%s: out of memory; free some or analyse a smaller part", what);
}
