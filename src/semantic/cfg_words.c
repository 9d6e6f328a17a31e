/* SPDX-License-Identifier: Apache-2.0 */
/* Words, numbers and texts in lines of .cfg files. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "semantic/cfg_keys.h"

typedef struct as_cfg_place place_t;

int as_cfg_refuse(place_t *place, int code, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    as_str_appendz(&place->why, text);
    return place->code = code;
}

static bool is_between_words(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == '{' || c == '}';
}

bool as_cfg_word(struct as_view *rest, struct as_view *word)
{
    while (rest->n && is_between_words(*rest->p))
        rest->p++, rest->n--;
    *word = (struct as_view){rest->p, 0};
    while (rest->n && !is_between_words(*rest->p))
        rest->p++, rest->n--, word->n++;
    return word->n;
}

int as_cfg_number(place_t *place, struct as_view *rest, struct as_quantity *out)
{
    struct as_view word;
    if (as_cfg_word(rest, &word) && as_quantity_read(word, out))
        return 0;
    return as_cfg_refuse(place, AS_ERR_CORRUPT, "invalid number '%.*s'",
                         (int)(word.n < 40 ? word.n : 40), word.p ? word.p : "");
}

int as_cfg_whole(place_t *place, struct as_view *rest, int64_t *out)
{
    struct as_quantity number = {0};
    AS_TRY(as_cfg_number(place, rest, &number));
    if (number.is_real)
        return as_cfg_refuse(place, AS_ERR_CORRUPT, "a whole number is needed");
    *out = number.whole;
    return 0;
}

bool as_cfg_same_word(struct as_view value, const char *word)
{
    return value.n == strlen(word) && strncasecmp(value.p, word, value.n) == 0;
}

int as_cfg_truth(place_t *place, struct as_view value, bool *out)
{
    *out = as_cfg_same_word(value, "true");
    if (*out || as_cfg_same_word(value, "false"))
        return 0;
    return as_cfg_refuse(place, AS_ERR_CORRUPT, "'%.*s' is neither true nor false",
                         (int)(value.n < 40 ? value.n : 40), value.n ? value.p : "");
}

int as_cfg_text(place_t *place, struct as_view value, char **out)
{
    char *copy = as_malloc(value.n + 1);
    if (!copy)
        return place->code = AS_ERR_NOMEM;
    if (value.n)
        memcpy(copy, value.p, value.n);
    copy[value.n] = 0;
    as_free(*out);
    *out = copy;
    return 0;
}

/* With twelve decimals where they are enough. */
void as_cfg_write_number(struct as_str *out, struct as_quantity number)
{
    char text[400];
    if (!number.is_real) {
        as_quantity_write_decimals(out, number, 12);
        return;
    }
    snprintf(text, sizeof text, "%.12f", number.real);
    if (strtod(text, NULL) != number.real)
        snprintf(text, sizeof text, "%.17g", number.real);
    as_str_appendz(out, text);
}
