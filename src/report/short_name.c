/* SPDX-License-Identifier: Apache-2.0 */
/* Skips what stands in balanced <> and (), outermost ones only, parameters before templates. */
#include "report/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool ends_in_operator(const char *name, const char *at)
{
    const char *from = at - strlen("operator");

    return from >= name && strncmp(from, "operator", strlen("operator")) == 0;
}

/* The bracket that closes the one at `open`, or NULL. "->" and "operator<" are no brackets. */
static const char *closing(const char *name, const char *open)
{
    int round = 0, angle = 0;

    for (const char *p = open; *p; p++) {
        if (*p == '(')
            round++;
        else if (*p == ')')
            round--;
        else if (*p == '<' && !ends_in_operator(name, p))
            angle++;
        else if (*p == '>' && p[-1] != '-' && !ends_in_operator(name, p))
            angle--;
        if (round < 0 || angle < 0)
            return NULL;
        if (!round && !angle)
            return p;
    }
    return NULL;
}

static bool opens(const char *name, const char *p, char bracket)
{
    const bool word = p > name && (isalnum((unsigned char)p[-1]) || p[-1] == '_' || p[-1] == '>' ||
                                   ends_in_operator(name, p - 2));

    if (*p != bracket || !word || ends_in_operator(name, p))
        return false;
    return p[1] != ')' && p[1] != '>' && p[1] != '=';
}

/* Leaves out what stands in the brackets; what is in brackets of the other kind stays whole. */
static void without(struct as_str *to, const char *name, char bracket)
{
    for (const char *p = name; *p; p++) {
        const char *end = opens(name, p, bracket) ? closing(name, p) : NULL;

        if (end) {
            as_str_append(to, p, 1);
            as_str_appendz(to, "...");
            p = end;
        }
        as_str_append(to, p, 1);
    }
}

void as_short_name(struct as_str *to, const char *name, size_t most)
{
    struct as_str once = {0};

    if (strlen(name) <= most) {
        as_str_appendz(to, name);
        return;
    }
    without(&once, name, '(');
    if (once.n <= most)
        as_str_appendz(to, as_str_z(&once));
    else
        without(to, as_str_z(&once), '<');
    to->failed |= once.failed;
    as_str_fini(&once);
}
