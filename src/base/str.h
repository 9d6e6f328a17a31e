/* SPDX-License-Identifier: Apache-2.0 */
/*
 * String views (borrowed bytes with a length) and a growing string builder.
 */
#ifndef AS_BASE_STR_H
#define AS_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>

struct as_view {
    const char *p; /* not zero-terminated */
    size_t n;
};

struct as_view as_view_of(const char *z); /* NULL gives the empty view */
bool as_view_equal(struct as_view a, struct as_view b);
bool as_view_starts(struct as_view s, const char *prefix);
bool as_view_ends(struct as_view s, const char *suffix);
struct as_view as_view_trim(struct as_view s);
/*
 * Takes the part before `separator` off the front of `*rest` into `*part`; false at the end.
 * "a,,b" has three parts, "" has one (empty), the NULL view none; `*rest` ends as the NULL view.
 */
bool as_view_split(struct as_view *rest, char separator, struct as_view *part);

/* Returns the part of a path after its last slash, borrowed; the whole path if it ends in a
 * slash. NULL for NULL. */
const char *as_path_last(const char *path);

/* Two lower-case digits a byte and a zero: `to` has room for 2 n + 1. Gives 2 n. */
size_t as_hex_encode(char *to, const void *bytes, size_t n);
/* The other way: reads pairs of digits of either case up to the first that is none, `most` at most;
 * gives how many bytes they were. */
size_t as_hex_get(const char *text, void *bytes, size_t most);

/*
 * Zero-initialised is empty. After a failed allocation `failed` is set and appends do nothing.
 * Appended text must not lie in the builder itself, which may move.
 */
struct as_str {
    char *p; /* zero-terminated once anything was appended */
    size_t n;
    size_t cap;
    bool failed;
};

void as_str_append(struct as_str *s, const char *p, size_t n);
void as_str_appendz(struct as_str *s, const char *z);
void as_str_appendf(struct as_str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void as_str_clear(struct as_str *s);          /* empties, keeps the memory */
const char *as_str_z(const struct as_str *s); /* borrowed, "" when empty */
void as_str_fini(struct as_str *s);

#endif
