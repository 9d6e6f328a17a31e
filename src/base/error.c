/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *assay_error_summary(int code)
{
    switch (code) {
    case ASSAY_OK:
        return "success";
#define ERROR_SUMMARY(name, code, status, summary)                                                 \
    case ASSAY_ERR_##name:                                                                         \
        return summary;
        ASSAY_ERROR_LIST(ERROR_SUMMARY)
#undef ERROR_SUMMARY
    default:
        return "unknown error";
    }
}

int assay_error_exit_status(int code)
{
    switch (code) {
    case ASSAY_OK:
        return 0;
#define ERROR_STATUS(name, code, status, summary)                                                  \
    case ASSAY_ERR_##name:                                                                         \
        return status;
        ASSAY_ERROR_LIST(ERROR_STATUS)
#undef ERROR_STATUS
    default:
        return 1;
    }
}

int as_error_set(struct assay_error *err, int code, const char *fmt, ...)
{
    if (!err)
        return code;
    err->code = code;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    if (n < 0)
        snprintf(err->text, sizeof err->text, "%s", assay_error_summary(code));
    else if ((size_t)n >= sizeof err->text)
        memcpy(err->text + sizeof err->text - 4, "...", 4);
    return code;
}

int as_error_nomem(struct assay_error *err, const char *what)
{
    return as_error_set(err, ASSAY_ERR_NOMEM,
                        "%s: out of memory; free some or analyse a smaller part", what);
}
