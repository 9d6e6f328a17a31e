/* SPDX-License-Identifier: Apache-2.0 */
/* A list of forms; each form is made from the one before. The first form that fits is used. */
#include "base/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define OPERATOR "operator"

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool ends_in_operator(const char *name, const char *at)
{
    const char *from = at - strlen(OPERATOR);

    return from >= name && strncmp(from, OPERATOR, strlen(OPERATOR)) == 0;
}

/* Returns the closing bracket for the bracket at `open`, or NULL. "->" and "operator<" are not
 * brackets. */
static const char *closing(const char *name, const char *open)
{
    int round = 0, angle = 0, curly = 0;

    for (const char *p = open; *p; p++) {
        if (*p == '(')
            round++;
        else if (*p == ')')
            round--;
        else if (*p == '{')
            curly++;
        else if (*p == '}')
            curly--;
        else if (*p == '<' && !ends_in_operator(name, p))
            angle++;
        else if (*p == '>' && p[-1] != '-' && !ends_in_operator(name, p))
            angle--;
        if (round < 0 || angle < 0 || curly < 0)
            return NULL;
        if (!round && !angle && !curly)
            return p;
    }
    return NULL;
}

/* ---- Positions outside brackets -------------------------------------------------------------- */

static bool starts_operator(const char *name, const char *p)
{
    return strncmp(p, OPERATOR, strlen(OPERATOR)) == 0 && (p == name || !is_word(p[-1])) &&
           !is_word(p[strlen(OPERATOR)]);
}

static const char *behind_operator(const char *p)
{
    p += strlen(OPERATOR);
    if (strncmp(p, "()", 2) == 0)
        return p + 2;
    return p + strspn(p, "<>=!+-*/%^&|~,[]");
}

/* Returns the next position outside brackets and operator signs. */
static const char *next_place(const char *name, const char *p)
{
    const char *end = NULL;

    if (starts_operator(name, p))
        return behind_operator(p);
    if (*p == '(' || *p == '<' || *p == '{')
        end = closing(name, p);
    return end ? end + 1 : p + 1;
}

/* Returns the last parameter list, or NULL. "(anonymous namespace)" is not a parameter list. */
static const char *parameters(const char *name)
{
    const char *found = NULL;

    for (const char *p = name; *p; p = next_place(name, p))
        if (*p == '(' && p > name && p[-1] != ' ' && p[-1] != ':' && closing(name, p))
            found = p;
    return found;
}

/* Returns the start of the name that ends at `end`, behind its result type. */
static const char *behind_result(const char *name, const char *end)
{
    const char *from = name;

    for (const char *p = name; p < end && !starts_operator(name, p); p = next_place(name, p))
        if (*p == ' ')
            from = p + 1;
    return from;
}

/* Returns the position behind the outermost scope, or NULL if no class would be left. */
static const char *behind_scope(const char *name)
{
    const char *first = NULL;
    int scopes = 0;

    for (const char *p = name; *p && *p != ' '; p = next_place(name, p)) {
        if (strncmp(p, "::", 2) != 0)
            continue;
        if (!first)
            first = p + 2;
        scopes++;
        p++;
    }
    return scopes >= 2 ? first : NULL;
}

/* ---- Forms --------------------------------------------------------------------------------- */

static bool opens(const char *name, const char *p, char bracket)
{
    const bool word = p > name && (is_word(p[-1]) || p[-1] == '>' || p[-1] == '}' ||
                                   ends_in_operator(name, p - 2));

    if (*p != bracket || !word || ends_in_operator(name, p))
        return false;
    return p[1] != ')' && p[1] != '>' && p[1] != '=';
}

/* Appends `name`. The text `in` replaces each bracket of kind `bracket` with its content. Brackets
 * of the other kind stay complete. */
static void without(struct as_str *to, const char *name, char bracket, const char *in)
{
    for (const char *p = name; *p; p++) {
        const char *end = opens(name, p, bracket) ? closing(name, p) : NULL;

        if (end)
            as_str_appendz(to, in);
        else
            as_str_append(to, p, 1);
        p = end ? end : p;
    }
}

static void without_parameters(struct as_str *to, const char *name)
{
    without(to, name, '(', "(...)");
}

static void without_templates(struct as_str *to, const char *name)
{
    without(to, name, '<', "<...>");
}

/* Appends `name` without the result type and without the text behind the parameters ("const",
 * "[clone ...]"). */
static void without_result(struct as_str *to, const char *name)
{
    const char *list = parameters(name), *note = strstr(name, " [");
    const char *end = list ? closing(name, list) + 1 : note ? note : name + strlen(name);
    const char *from = list ? behind_result(name, list) : name;

    as_str_append(to, from, (size_t)(end - from));
}

static void without_scope(struct as_str *to, const char *name)
{
    const char *rest = behind_scope(name);

    as_str_appendz(to, rest ? rest : name);
}

static void without_brackets(struct as_str *to, const char *name)
{
    const char *list = parameters(name);
    size_t n = strlen(name);

    as_str_append(to, name, list && !closing(name, list)[1] ? (size_t)(list - name) : n);
}

static void without_angles(struct as_str *to, const char *name)
{
    without(to, name, '<', "");
}

typedef void form_fn(struct as_str *to, const char *name);

/* Changes `name` to its next form. Returns true if this form is shorter. */
static bool shorten_name(struct as_str *name, form_fn *form)
{
    struct as_str next = {0};
    bool another;

    form(&next, as_str_z(name));
    another = !next.failed && next.n && next.n <= name->n && strcmp(next.p, name->p) != 0;
    if (another) {
        as_str_clear(name);
        as_str_append(name, next.p, next.n);
    }
    name->failed |= next.failed;
    as_str_fini(&next);
    return another;
}

/* Marks behind the name of an inlined function; they stay. */
#define INLINED " (inlined"
#define INTO    " (inlined into "

/* Appends the mark behind a name. The function in the mark gets half of `most` bytes. */
static void append_mark(struct as_str *to, const char *mark, size_t most)
{
    const size_t n = strlen(mark);

    if (strncmp(mark, INTO, strlen(INTO)) != 0 || mark[n - 1] != ')') {
        as_str_appendz(to, mark);
        return;
    }
    struct as_str into = {0};

    as_str_append(&into, mark + strlen(INTO), n - strlen(INTO) - 1);
    as_str_appendz(to, INTO);
    as_short_name(to, as_str_z(&into), most / 2);
    as_str_append(to, ")", 1);
    to->failed |= into.failed;
    as_str_fini(&into);
}

void as_short_name(struct as_str *to, const char *name, size_t most)
{
    static form_fn *const forms[] = {without_parameters, without_result,   without_templates,
                                     without_scope,      without_brackets, without_angles};
    const char *mark = strstr(name, INLINED);
    struct as_str it = {0}, end = {0};

    as_str_append(&it, name, mark ? (size_t)(mark - name) : strlen(name));
    if (mark && strlen(name) > most)
        append_mark(&end, mark, most);
    else if (mark)
        as_str_appendz(&end, mark);
    most = most > end.n ? most - end.n : 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        while (it.n > most && shorten_name(&it, forms[i]) && forms[i] == without_scope)
            ;
    as_str_appendz(to, as_str_z(&it));
    as_str_appendz(to, as_str_z(&end));
    to->failed |= it.failed || end.failed;
    as_str_fini(&it);
    as_str_fini(&end);
}
