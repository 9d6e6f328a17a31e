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

struct as_view as_view_of(const char *z); /* NULL gives an empty view */
bool as_view_equal(struct as_view a, struct as_view b);
bool as_view_starts(struct as_view s, const char *prefix);
bool as_view_ends(struct as_view s, const char *suffix);
struct as_view as_view_trim(struct as_view s);
/*
 * Splits the part before `separator` off `*rest` into `*part`. Returns false at the end. "a,,b" has
 * three parts, "" has one (empty), and the NULL view has none. `*rest` ends as the NULL view.
 */
bool as_view_split(struct as_view *rest, char separator, struct as_view *part);

/* Returns the part of `path` after its last slash, borrowed. Returns the complete path if it ends
 * in a slash, and NULL for NULL. */
const char *as_path_last(const char *path);

/* Writes `n` bytes as pairs of lower-case digits with a terminating zero. `to` needs 2 n + 1 bytes.
 * Returns 2 n. */
size_t as_hex_encode(char *to, const void *bytes, size_t n);
/* Decodes pairs of hexadecimal digits of either case, up to the first other byte and at most `most`
 * bytes. Returns the number of decoded bytes. */
size_t as_hex_get(const char *text, void *bytes, size_t most);

/*
 * A zeroed struct is empty. A failed allocation sets `failed`, and later appends do nothing. The
 * appended text must not lie in the builder itself, because the builder may move.
 */
struct as_str {
    char *p; /* zero-terminated after the first append */
    size_t n;
    size_t cap;
    bool failed;
};

void as_str_append(struct as_str *s, const char *p, size_t n);
void as_str_appendz(struct as_str *s, const char *z);
void as_str_appendf(struct as_str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void as_str_clear(struct as_str *s);          /* empties the text, keeps the memory */
const char *as_str_z(const struct as_str *s); /* borrowed; "" if empty */
void as_str_fini(struct as_str *s);

#endif
