/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of options.def, and parsing by getopt_long built from them: first the common options
 * up to the verb, then the verb's own and the common ones in any order. Values are checked here
 * (choices, numbers), so that verbs only see valid ones.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/str.h"
#include "report/view_choices.h"

#define MANY   UINT_MAX
#define COMMON AS_SCOPE_COMMON
#define ON(id) (UINT64_C(1) << AS_VERB_##id)

const struct as_verb as_verbs[AS_VERBS] = {
#define VERB(id, name, arguments, fewest, most, summary, description)                              \
    {#name, arguments, fewest, most, summary, description},
#include "options.def"
};

const struct as_option as_options[AS_OPTION_COUNT] = {
#define OPTION(id, scope, letter, name, argument, kind, choices, help)                             \
    {scope, name, argument, choices, help, AS_KIND_##kind, letter},
#include "options.def"
};

const struct as_example as_examples[] = {
#define EXAMPLE(verb, command, text) {AS_VERB_##verb, command, text},
#include "options.def"
};
const size_t as_example_n = sizeof as_examples / sizeof as_examples[0];

/* getopt values of long options: above any letter. */
#define LONG_BASE 1000

struct getopt_tables {
    char letters[2 * AS_OPTION_COUNT + 3];
    struct option longs[AS_OPTION_COUNT + 1];
};

bool as_option_of_verb(const struct as_option *option, int verb)
{
    return !as_option_is_common(option) && verb >= 0 && (option->scope >> verb & 1);
}

bool as_option_common_to(const struct as_option *option, int verb)
{
    if (!as_option_is_common(option))
        return false;
    for (int i = 0; i < AS_OPTION_COUNT; i++)
        if (as_option_of_verb(&as_options[i], verb) &&
            strcmp(as_options[i].name, option->name) == 0)
            return false;
    return true;
}

static bool allowed(const struct as_option *option, int verb)
{
    return as_option_common_to(option, verb) || as_option_of_verb(option, verb);
}

bool as_choice_next(const char **rest, const char **word, size_t *word_n)
{
    if (!*rest || !**rest)
        return false;
    *word = *rest;
    *word_n = strcspn(*rest, "|");
    *rest += *word_n + ((*rest)[*word_n] == '|');
    return true;
}

/* `first` is "+" to stop at the verb, "" to take options anywhere; then ':' tells a missing
 * argument from an unknown option. */
static void tables_make(struct getopt_tables *tables, int verb, const char *first)
{
    char *letter = tables->letters;
    struct option *to = tables->longs;

    if (*first)
        *letter++ = *first;
    *letter++ = ':';
    for (int i = 0; i < AS_OPTION_COUNT; i++) {
        const struct as_option *option = &as_options[i];
        int has_arg = option->argument ? required_argument : no_argument;

        if (!allowed(option, verb))
            continue;
        if (option->letter) {
            *letter++ = option->letter;
            if (has_arg)
                *letter++ = ':';
        }
        *to++ = (struct option){option->name, has_arg, NULL, LONG_BASE + i};
    }
    *letter = '\0';
    *to = (struct option){0};
}

static int option_of(int value, int verb)
{
    if (value >= LONG_BASE)
        return value - LONG_BASE;
    for (int i = 0; i < AS_OPTION_COUNT; i++)
        if (as_options[i].letter == value && value && allowed(&as_options[i], verb))
            return i;
    return -1;
}

static const char *help_command(int verb, struct as_str *s)
{
    as_str_appendf(s, "assay %s%s--help", verb >= 0 ? as_verbs[verb].name : "",
                   verb >= 0 ? " " : "");
    return as_str_z(s);
}

/* Reports an unknown option, with the nearest known one. */
static int unknown_option(const char *text, int verb, struct as_error *err)
{
    struct as_str help = {0}, near = {0};
    struct as_nearest nearest;
    size_t n = strcspn(text, "=");
    int rc;

    as_nearest_init(&nearest, text + 2, n > 2 ? n - 2 : 0);
    for (int i = 0; i < AS_OPTION_COUNT; i++)
        if (allowed(&as_options[i], verb))
            as_nearest_offer(&nearest, as_options[i].name);
    if (nearest.best)
        as_str_appendf(&near, "did you mean --%s?", nearest.best);
    else
        as_str_appendf(&near, "'%s' lists the options", help_command(verb, &help));
    rc = as_error_set(err, AS_ERR_USAGE, "%.*s: unknown option%s%s; %s", (int)n, text,
                      verb >= 0 ? " of assay " : "", verb >= 0 ? as_verbs[verb].name : "",
                      as_str_z(&near));
    as_str_fini(&help);
    as_str_fini(&near);
    return rc;
}

/* Reports an error of getopt: `c` is its result, `text` the word of argv. */
static int refused_option(int c, const char *text, int verb, struct as_error *err)
{
    struct as_str help = {0};
    const int id = option_of(optopt, verb);
    int rc;

    if (c == ':' && id >= 0)
        return as_error_set(err, AS_ERR_USAGE, "--%s: missing %s; use --%s %s", as_options[id].name,
                            as_options[id].argument, as_options[id].name, as_options[id].argument);
    if (optopt >= LONG_BASE)
        return as_error_set(err, AS_ERR_USAGE, "--%s: does not take a value; use --%s alone",
                            as_options[id].name, as_options[id].name);
    if (optopt == 0)
        return unknown_option(text, verb, err);
    rc = as_error_set(err, AS_ERR_USAGE, "-%c: unknown option; '%s' lists the options", optopt,
                      help_command(verb, &help));
    as_str_fini(&help);
    return rc;
}

/* Appends the choice that `value` is nearest to; nothing where none is near. Two letters are too
 * few to tell. */
static void append_near_choice(struct as_str *out, const char *choices, struct as_view value)
{
    struct as_nearest nearest;
    const char *rest = choices, *word;
    char name[64];
    size_t n;

    as_nearest_init(&nearest, value.p, value.n);
    for (; value.n > 2 && as_choice_next(&rest, &word, &n);) {
        if (n >= sizeof name)
            continue;
        memcpy(name, word, n);
        name[n] = '\0';
        nearest.best = NULL;
        as_nearest_offer(&nearest, name);
        if (!nearest.best)
            continue;
        as_str_clear(out);
        as_str_appendz(out, name);
    }
}

static int parse_choice(int id, struct as_view value, uint64_t *index, struct as_error *err)
{
    const struct as_option *option = &as_options[id];
    const char *rest = option->choices, *word;
    struct as_str text = {0};
    size_t n;
    int rc;

    for (*index = 0; as_choice_next(&rest, &word, &n); ++*index)
        if (as_view_equal(value, (struct as_view){word, n}))
            return 0;
    append_near_choice(&text, option->choices, value);
    if (text.n) {
        rc = as_error_set(err, AS_ERR_USAGE, "--%s: invalid value '%.*s'; did you mean %s?",
                          option->name, (int)value.n, value.p, as_str_z(&text));
        as_str_fini(&text);
        return rc;
    }
    for (rest = option->choices; as_choice_next(&rest, &word, &n);)
        as_str_appendf(&text, "%s%.*s", !text.n ? "" : *rest ? ", " : " or ", (int)n, word);
    rc = as_error_set(err, AS_ERR_USAGE, "--%s: invalid value '%.*s'; use %s", option->name,
                      (int)value.n, value.p, as_str_z(&text));
    as_str_fini(&text);
    return rc;
}

/* "a,c": the bits of the first and the third choice. */
static int parse_choices(int id, const char *value, uint64_t *bits, struct as_error *err)
{
    struct as_view rest = as_view_of(value), word;
    uint64_t index;

    while (as_view_split(&rest, ',', &word)) {
        AS_TRY(parse_choice(id, word, &index, err));
        *bits |= UINT64_C(1) << index;
    }
    return 0;
}

static int parse_option_number(int id, const char *value, uint64_t *number, struct as_error *err)
{
    char *end;

    errno = 0;
    *number = strtoull(value, &end, 10);
    if (errno || *end || value[0] < '0' || value[0] > '9' || *number > INT_MAX)
        return as_error_set(err, AS_ERR_USAGE,
                            "--%s: '%s' is not a number; use a whole number from 0 to %d",
                            as_options[id].name, value, INT_MAX);
    return 0;
}

static int parse_option_value(struct as_arguments *out, int id, const char *value,
                              struct as_error *err)
{
    if (!value)
        value = ""; /* a flag */
    out->value[id] = value;
    switch (as_options[id].kind) {
    case AS_KIND_CHOICE:
        return parse_choice(id, as_view_of(value), &out->number[id], err);
    case AS_KIND_CHOICES:
        return parse_choices(id, value, &out->number[id], err);
    case AS_KIND_NUMBER:
        return parse_option_number(id, value, &out->number[id], err);
    case AS_KIND_LIST:
        return as_vec_push(&out->list[id], value) < 0 ? as_error_nomem(err, "the command line") : 0;
    case AS_KIND_FLAG:
    case AS_KIND_TEXT:
    case AS_KIND_FILE:
    case AS_KIND_DIRECTORY:
        break;
    }
    return 0;
}

/* Runs getopt over argv once; afterwards optind is the first word that is not an option. */
static int run_getopt(int argc, char **argv, int verb, const char *first, struct as_arguments *out,
                      struct as_error *err)
{
    struct getopt_tables tables;
    int c;

    tables_make(&tables, verb, first);
    opterr = 0;
    optind = 0; /* GNU: begin anew */
    while ((c = getopt_long(argc, argv, tables.letters, tables.longs, NULL)) != -1) {
        if (c == '?' || c == ':')
            return refused_option(c, argv[optind - 1], verb, err);
        if (optarg && strcmp(optarg, "--") == 0) { /* the end of options is not a value */
            optopt = c;
            return refused_option(':', optarg, verb, err);
        }
        AS_TRY(parse_option_value(out, option_of(c, verb), optarg, err));
    }
    return 0;
}

bool as_arguments_name_experiment(const struct as_arguments *args)
{
    struct as_str path = {0};
    struct stat st;
    if (args->positional_n == 0)
        return false;
    const size_t n = strlen(args->positional[0]);
    as_str_appendf(&path, "%s/experiment.db", args->positional[0]);
    const bool is = (!path.failed && stat(as_str_z(&path), &st) == 0) ||
                    (n > 6 && strcmp(args->positional[0] + n - 6, ".assay") == 0);
    as_str_fini(&path);
    return is;
}

/* Behind an experiment there are options of assay, behind a command its own. */
static int parse_behind_experiment(struct as_arguments *out, struct as_error *err)
{
    AS_TRY(run_getopt((int)out->positional_n, out->positional, out->verb, "", out, err));
    const size_t rest = out->positional_n - (size_t)optind;
    if (rest)
        return as_error_set(err, AS_ERR_USAGE,
                            "%s: one argument too many: %s; use one experiment, or '--' before a "
                            "command",
                            as_verbs[out->verb].name, out->positional[optind]);
    out->positional_n = 1;
    return 0;
}

static int find_verb(const char *word, int *verb, struct as_error *err)
{
    struct as_nearest nearest;

    as_nearest_init(&nearest, word, strlen(word));
    for (int i = 0; i < AS_VERBS; i++) {
        if (strcmp(as_verbs[i].name, word) == 0) {
            *verb = i;
            return 0;
        }
        as_nearest_offer(&nearest, as_verbs[i].name);
    }
    if (nearest.best)
        return as_error_set(err, AS_ERR_USAGE, "%s: unknown verb; did you mean '%s'?", word,
                            nearest.best);
    return as_error_set(err, AS_ERR_USAGE, "%s: unknown verb; 'assay --help' lists the verbs",
                        word);
}

static int check_positional(const struct as_arguments *args, struct as_error *err)
{
    const struct as_verb *verb = &as_verbs[args->verb];

    if (args->positional_n < verb->fewest)
        return as_error_set(err, AS_ERR_USAGE, "%s: missing %.*s; use 'assay %s [options] %s'",
                            verb->name, (int)strcspn(verb->arguments, " ."), verb->arguments,
                            verb->name, verb->arguments);
    if (args->positional_n > verb->most)
        return as_error_set(err, AS_ERR_USAGE,
                            "%s: one argument too many: %s; use 'assay %s [options] %s'",
                            verb->name, args->positional[verb->most], verb->name, verb->arguments);
    return 0;
}

static bool only_asks(const struct as_arguments *args)
{
    return as_given(args, AS_OPTION_HELP) || as_given(args, AS_OPTION_VERSION);
}

const char *const as_topic_words[AS_TOPICS] = {
    [AS_TOPIC_METRICS] = "metrics", [AS_TOPIC_FINDINGS] = "findings"};

static enum as_topic topic_of_word(const char *word)
{
    for (enum as_topic topic = AS_TOPIC_NONE + 1; topic < AS_TOPICS; topic++)
        if (strcmp(word, as_topic_words[topic]) == 0)
            return topic;
    return AS_TOPIC_NONE;
}

/* Reads "metrics [NAME]" or the like, the rest of what asks for help. Errors: USAGE. */
static int parse_topic(int n, char **word, struct as_arguments *out, struct as_error *err)
{
    if (n > 2)
        return as_error_set(err, AS_ERR_USAGE,
                            "--help %s: one argument too many: %s; use 'assay --help %s [NAME]'",
                            word[0], word[2], word[0]);
    out->topic = topic_of_word(word[0]);
    out->positional = word + 1;
    out->positional_n = (size_t)n - 1;
    return 0;
}

int as_arguments_parse(int argc, char **argv, struct as_arguments *out, struct as_error *err)
{
    *out = (struct as_arguments){.verb = -1};
    AS_TRY(run_getopt(argc, argv, -1, "+", out, err));
    if (optind >= argc) {
        if (only_asks(out))
            return 0;
        return as_error_set(err, AS_ERR_USAGE, "no verb given; 'assay --help' lists the verbs");
    }
    const bool is_help = strcmp(argv[optind], "help") == 0; /* assay help [VERB] */
    if (is_help)
        out->value[AS_OPTION_HELP] = "";
    const int topic = optind + is_help;
    if (as_given(out, AS_OPTION_HELP) && topic < argc && topic_of_word(argv[topic]))
        return parse_topic(argc - topic, argv + topic, out, err);
    if (is_help) {
        return optind + 1 < argc ? find_verb(argv[optind + 1], &out->verb, err) : 0;
    }
    AS_TRY(find_verb(argv[optind], &out->verb, err));
    argc -= optind;
    argv += optind;
    /* The options behind a command are its own. */
    const bool runs_command = strstr(as_verbs[out->verb].arguments, "CMD");
    AS_TRY(run_getopt(argc, argv, out->verb, runs_command ? "+" : "", out, err));
    out->positional = argv + optind;
    out->positional_n = (size_t)(argc - optind);
    if (strstr(as_verbs[out->verb].arguments, "EXP |") && as_arguments_name_experiment(out))
        AS_TRY(parse_behind_experiment(out, err));
    return only_asks(out) ? 0 : check_positional(out, err);
}

void as_arguments_fini(struct as_arguments *arguments)
{
    for (int i = 0; i < AS_OPTION_COUNT; i++)
        as_vec_fini(&arguments->list[i]);
}
