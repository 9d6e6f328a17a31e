/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redaction of secrets. A value ends with its word: text behind a comma may belong to it. A word
 * with blanks is a command line of its own (sh -c '...').
 */
#include "experiment/secrets.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "base/json.h"
#include "base/json_read.h"
#include "base/out.h"
#include "experiment/experiment.h"

#define NAME_MAX_B 100 /* longer names are not secrets */

static bool are_kept; /* written before threads start */

void as_secrets_keep(bool keep)
{
    are_kept = keep;
}

bool as_secrets_are_in(const char *text)
{
    return text && strstr(text, AS_SECRETS_WORD);
}

/* ---- Names ------------------------------------------------------------------------------- */

static bool fits_any(const char *const *pattern, struct as_view name)
{
    for (; *pattern; pattern++)
        if (as_glob_match(as_view_of(*pattern), name))
            return true;
    return false;
}

bool as_secrets_is_name(struct as_view name)
{
    char lower[NAME_MAX_B];

    while (name.n && *name.p == '-') {
        name.p++;
        name.n--;
    }
    if (are_kept || !name.n || name.n > sizeof lower)
        return false;
    for (size_t i = 0; i < name.n; i++)
        lower[i] = (char)tolower((unsigned char)name.p[i]);
    const struct as_view it = {lower, name.n};
    return fits_any(as_secrets_secret, it) && !fits_any(as_secrets_plain, it);
}

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* ---- Words ------------------------------------------------------------------------------- */

/* Returns where the value of the first secret in a word begins: for "--export=A=1,TOKEN=x",
 * behind "TOKEN=". Returns the length of the word if there is none. */
static size_t find_value(struct as_view word)
{
    size_t name = 0;

    for (size_t i = 0; i < word.n; i++) {
        if (is_of_name(word.p[i]))
            continue;
        if (word.p[i] == '=' && as_secrets_is_name((struct as_view){word.p + name, i - name}))
            return i + 1;
        name = i + 1;
    }
    return word.n;
}

/* Returns true if the next word is the value of this word: behind "--password", or behind NAME
 * in "-genv NAME VALUE". */
static bool asks_for_value(struct as_view before, struct as_view word)
{
    static const char *const setting[] = {"-env", "-genv", "--env", "--genv"};

    if (memchr(word.p, '=', word.n) || !as_secrets_is_name(word))
        return false;
    for (size_t i = 0; i < sizeof setting / sizeof *setting; i++)
        if (as_view_equal(before, as_view_of(setting[i])))
            return true;
    return word.n > 1 && word.p[0] == '-';
}

/* State of the words so far. */
struct redaction {
    struct as_view before; /* last word */
    bool is_value;         /* the next word is a value */
};

/* Returns true if the word is a command line of its own: behind "-c" of a shell, or with blanks.
 * A secret with blanks is not one: "PASSWORD=two words". */
static bool is_line(const struct redaction *state, struct as_view word)
{
    const struct as_view before = state->before;
    const size_t at = find_value(word);

    if (state->is_value || !memchr(word.p, ' ', word.n))
        return false;
    if (before.n > 1 && before.p[0] == '-' && before.p[before.n - 1] == 'c')
        return true;
    return at == word.n || memchr(word.p, ' ', at);
}

/* Appends one word without quotes. */
static void redact_word(struct as_str *out, struct redaction *state, struct as_view word)
{
    const bool is_value = state->is_value && word.n && word.p[0] != '-';
    const size_t at = is_value ? 0 : find_value(word);

    state->is_value = !is_value && asks_for_value(state->before, word);
    state->before = word;
    as_str_append(out, word.p, at);
    if (at < word.n)
        as_str_appendz(out, AS_SECRETS_WORD);
}

/* ---- Command lines ----------------------------------------------------------------------- */

/* Returns the length of the word at `text`, by the rules of a shell. */
static size_t word_length(const char *text)
{
    char quote = 0;
    size_t i = 0;

    for (; text[i] && (quote || !strchr(" \t\n", text[i])); i++) {
        if (text[i] == '\\' && quote != '\'' && text[i + 1])
            i++;
        else if (quote ? text[i] == quote : text[i] == '\'' || text[i] == '"')
            quote = quote ? 0 : text[i];
    }
    return i;
}

/* Returns the quote around the whole word, or 0 if there is none. */
static char quote_around(struct as_view word)
{
    const char quote = word.n > 1 ? word.p[0] : 0;

    if ((quote != '\'' && quote != '"') || word.p[word.n - 1] != quote)
        return 0;
    return memchr(word.p + 1, quote, word.n - 2) ? 0 : quote;
}

static void redact_line(struct as_str *out, struct as_view line, unsigned depth);

static void redact_shell_word(struct as_str *out, struct redaction *state, struct as_view word,
                              unsigned depth)
{
    const char quote = quote_around(word);
    const struct as_view inner = quote ? (struct as_view){word.p + 1, word.n - 2} : word;
    const bool is_inner_line = quote && depth < 3 && is_line(state, inner);

    if (quote)
        as_str_append(out, &quote, 1);
    if (is_inner_line) {
        redact_line(out, inner, depth + 1);
        state->before = word;
    } else {
        redact_word(out, state, inner);
    }
    if (quote)
        as_str_append(out, &quote, 1);
}

static void redact_line(struct as_str *out, struct as_view line, unsigned depth)
{
    struct redaction state = {0};
    struct as_str text = {0};

    as_str_append(&text, line.p, line.n);
    out->failed |= text.failed;
    for (const char *at = as_str_z(&text); *at;) {
        const size_t blank = strspn(at, " \t\n");
        const size_t n = word_length(at + blank);

        as_str_append(out, at, blank);
        if (n)
            redact_shell_word(out, &state, (struct as_view){at + blank, n}, depth);
        at += blank + n;
    }
    as_str_fini(&text);
}

void as_secrets_command(struct as_str *out, const char *text)
{
    redact_line(out, as_view_of(text), 0);
}

/* Appends an unquoted word, or a command line inside it. */
static void redact_plain_word(struct as_str *out, struct redaction *state, struct as_view word)
{
    if (is_line(state, word))
        redact_line(out, word, 1);
    else
        redact_word(out, state, word);
    state->before = word;
}

void as_secrets_words(struct as_str *out, const char *words, size_t n)
{
    struct redaction state = {0};

    for (size_t at = 0; at < n;) {
        const size_t length = strnlen(words + at, n - at);

        if (at)
            as_str_append(out, " ", 1);
        redact_plain_word(out, &state, (struct as_view){words + at, length});
        at += length + 1;
    }
}

/* ---- Words in JSON ----------------------------------------------------------------------- */

/* Appends one word of an array. `kept` owns the last word, which `state` refers to. */
static void redact_json_word(struct as_json *json, struct redaction *state, struct as_str *kept,
                             const struct as_str *word)
{
    struct as_str one = {0}, copy = {0};

    as_str_append(&copy, as_str_z(word), word->n);
    const struct as_view text = {as_str_z(&copy), copy.n};
    redact_plain_word(&one, state, text);
    as_json_view(json, (struct as_view){as_str_z(&one), one.n});
    if (one.failed || copy.failed)
        json->out->failed = ENOMEM;
    as_str_fini(&one);
    as_str_fini(kept);
    *kept = copy;
}

bool as_secrets_argv(struct as_str *out, const char *json)
{
    struct as_json_read read;
    struct as_json write;
    struct as_out sink;
    struct as_str kept = {0}, made = {0};
    struct redaction state = {0};
    enum as_json_token token;

    as_json_read_init(&read, json, strlen(json));
    as_out_init_str(&sink, &made);
    as_json_init(&write, &sink, 0);
    bool is_list = as_json_next(&read) == AS_JSON_ARRAY;
    as_json_array_begin(&write);
    while (is_list && (token = as_json_next(&read)) != AS_JSON_ARRAY_END) {
        is_list = token == AS_JSON_STRING;
        if (is_list)
            redact_json_word(&write, &state, &kept, &read.text);
    }
    as_json_array_end(&write);
    is_list &= as_out_flush(&sink, NULL) == 0 && !made.failed;
    if (is_list)
        as_str_append(out, as_str_z(&made), made.n);
    as_out_fini(&sink);
    as_json_read_fini(&read);
    as_str_fini(&made);
    as_str_fini(&kept);
    return is_list;
}

/* ---- Variables --------------------------------------------------------------------------- */

void as_secrets_value(struct as_str *out, const char *name, const char *value)
{
    const char *last = strrchr(name, ':'); /* "env:NAME" */
    const bool is_secret = as_secrets_is_name(as_view_of(last ? last + 1 : name));

    as_str_appendz(out, is_secret && *value ? AS_SECRETS_WORD : value);
}
