/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log for developers of assay, with levels and one domain per room. The log is off unless ASSAY_LOG
 * is set: "debug" (every domain) or "object:debug,isa:info". Messages for users go into the error
 * object or the result, not into the log. A disabled call costs one load and one compare. Lines of
 * concurrent threads are not mixed.
 */
#ifndef AS_BASE_LOG_H
#define AS_BASE_LOG_H

#include "base/error.h"

/* X(NAME, word in ASSAY_LOG) */
#define AS_LOG_DOMAIN_LIST(X)                                                                      \
    X(BASE, "base")                                                                                \
    X(ISA, "isa")                                                                                  \
    X(OBJECT, "object")                                                                            \
    X(CODE, "code")                                                                                \
    X(CLI, "cli")

/* X(NAME, word), from silent to verbose. A level includes all levels before it. */
#define AS_LOG_LEVEL_LIST(X)                                                                       \
    X(OFF, "off")                                                                                  \
    X(ERROR, "error")                                                                              \
    X(WARN, "warn")                                                                                \
    X(INFO, "info")                                                                                \
    X(DEBUG, "debug")                                                                              \
    X(TRACE, "trace")

enum as_log_domain {
#define AS_LOG_ENUM(name, word) AS_LOG_DOMAIN_##name,
    AS_LOG_DOMAIN_LIST(AS_LOG_ENUM)
#undef AS_LOG_ENUM
        AS_LOG_DOMAIN_COUNT
};

enum as_log_level {
#define AS_LOG_ENUM(name, word) AS_LOG_LEVEL_##name,
    AS_LOG_LEVEL_LIST(AS_LOG_ENUM)
#undef AS_LOG_ENUM
        AS_LOG_LEVEL_COUNT
};

/* Level of each domain. as_log_configure writes it before threads start; it is read-only
 * afterwards. */
extern unsigned char as_log_levels[AS_LOG_DOMAIN_COUNT];

/*
 * Sets the levels from `spec`: comma-separated LEVEL or DOMAIN:LEVEL. A later entry overrides an
 * earlier one. NULL or "" switches everything off. Returns AS_ERR_USAGE for an unknown word and
 * leaves the levels as they were. Not thread-safe: call it before threads start.
 */
int as_log_configure(const char *spec, struct as_error *err);

/* As as_log_configure, with the environment variable ASSAY_LOG. */
int as_log_configure_env(struct as_error *err);

/* Writes log lines to `fd` instead of standard error (2). Not thread-safe. */
void as_log_to(int fd);

/* Writes one line "assay: LEVEL: DOMAIN: text" at any level. Use the macro as_log. errno is
 * kept. */
void as_log_line(enum as_log_domain domain, enum as_log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));

#define as_log_on(domain, level)                                                                   \
    __builtin_expect(as_log_levels[AS_LOG_DOMAIN_##domain] >= AS_LOG_LEVEL_##level, 0)

/* as_log(OBJECT, DEBUG, "%s: %zu symbols", path, n). Arguments are evaluated only if the level is
 * on. */
#define as_log(domain, level, ...)                                                                 \
    do {                                                                                           \
        if (as_log_on(domain, level))                                                              \
            as_log_line(AS_LOG_DOMAIN_##domain, AS_LOG_LEVEL_##level, __VA_ARGS__);                \
    } while (0)

#endif
