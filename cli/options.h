/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line as tables (made from options.def) and its parsing into struct as_arguments.
 * Knows nothing of what the verbs do.
 */
#ifndef AS_CLI_OPTIONS_H
#define AS_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

enum as_verb_id {
#define VERB(id, ...) AS_VERB_##id,
#include "options.def"
    AS_VERBS
};

enum as_option_id {
#define OPTION(id, ...) AS_OPTION_##id,
#include "options.def"
    AS_OPTION_COUNT
};

enum as_option_kind {
    AS_KIND_FLAG,
    AS_KIND_CHOICE,
    AS_KIND_CHOICES,
    AS_KIND_NUMBER,
    AS_KIND_TEXT,
    AS_KIND_FILE,
    AS_KIND_DIRECTORY,
    AS_KIND_LIST
};

#define AS_SCOPE_COMMON UINT64_MAX

struct as_verb {
    const char *name;
    const char *arguments; /* as in the usage line: "BIN..." */
    unsigned fewest, most; /* positional arguments */
    const char *summary;
    const char *description;
};

struct as_option {
    uint64_t scope; /* bit per verb, or AS_SCOPE_COMMON */
    const char *name;
    const char *argument; /* NULL for flags */
    const char *choices;  /* "a|b|c" or NULL */
    const char *help;
    enum as_option_kind kind;
    char letter; /* 0 = none */
};

struct as_example {
    enum as_verb_id verb;
    const char *command;
    const char *text;
};

extern const struct as_verb as_verbs[AS_VERBS];
extern const struct as_option as_options[AS_OPTION_COUNT];
extern const struct as_example as_examples[];
extern const size_t as_example_n;

/* Returns true if an option belongs to `verb` itself (not a common option). */
bool as_option_of_verb(const struct as_option *option, int verb);
/* Returns true for a common option of `verb` (-1 = none), unless the verb has its own of that
 * name. */
bool as_option_common_to(const struct as_option *option, int verb);
static inline bool as_option_is_common(const struct as_option *option)
{
    return option->scope == AS_SCOPE_COMMON;
}

/* What --help lists besides verbs and options. */
enum as_topic { AS_TOPIC_NONE, AS_TOPIC_METRICS, AS_TOPIC_FINDINGS, AS_TOPICS };
extern const char *const as_topic_words[AS_TOPICS]; /* NULL for NONE */

/* Everything borrowed from argv. */
struct as_arguments {
    int verb; /* as_verb_id, or -1 when none was given (--help, --version) */
    const char *value[AS_OPTION_COUNT]; /* last value, "" for flags; NULL = not given */
    uint64_t
        number[AS_OPTION_COUNT]; /* NUMBER: the value; CHOICE: its index; CHOICES: a bit each */
    AS_VEC(const char *) list[AS_OPTION_COUNT]; /* LIST: all values in order */
    char **positional;
    size_t positional_n;
    enum as_topic topic; /* of --help metrics [NAME]; NAME is the first positional */
};

/*
 * Reads argv (and permutes it). Errors: USAGE, with a sentence that suggests the nearest verb,
 * option or choice; NOMEM. Release with as_arguments_fini in any case. Not thread-safe (getopt).
 */
int as_arguments_parse(int argc, char **argv, struct as_arguments *out, struct as_error *err);
void as_arguments_fini(struct as_arguments *arguments);

static inline bool as_given(const struct as_arguments *arguments, enum as_option_id id)
{
    return arguments->value[id] != NULL;
}

/* Takes the next of "a|b|c" off `*rest`; false at the end. */
bool as_choice_next(const char **rest, const char **word, size_t *word_n);

/* Returns whether the first positional argument is an experiment, or has the name of one. */
bool as_arguments_name_experiment(const struct as_arguments *args);

#endif
