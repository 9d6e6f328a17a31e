/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renders the option table as --help. Only layout lives here; the words are in options.def.
 */
#include "help.h"

#include <string.h>

#include "formats.h"
#include "options.h"
#include "text.h"

#define TEXT_COLUMN 28 /* where explanations begin */
#define LETTERS     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

const char as_program_summary[] = "performance analysis of compute-heavy programs";

const struct as_note as_exit_notes[] = {
    {"0", "Done."},
    {"1", "The measurement or the target failed, or the result could not be written."},
    {"2", "Wrong usage, or an input that cannot be used."},
    {"3", "assay try: no setting is faster with certainty."},
    {"4", "assay try: no setting ran often enough to decide; set a longer --budget."},
    {NULL, NULL},
};

const struct as_note as_environment_notes[] = {
    {"COLUMNS", "Width of text output. Default: the width of the terminal, or 80. Tables in "
                "a file or pipe have the width of their content."},
    {"NO_COLOR", "If set and not empty, --color auto never colours."},
    {"ASSAY_LOG", "Diagnostic messages on standard error, as domain:level, for example "
                  "object:debug; levels are error, warn, info, debug and trace."},
    {NULL, NULL},
};

/* A name on the left, its explanation on the right, or below when the name is long. */
void as_help_entry(struct as_str *out, const char *name, const char *text, unsigned width)
{
    const unsigned n = (unsigned)strlen(name) + 2;

    as_str_appendf(out, "  %s", name);
    if (n + 2 > TEXT_COLUMN)
        as_str_appendf(out, "\n%*s", TEXT_COLUMN, "");
    else
        as_str_appendf(out, "%*s", (int)(TEXT_COLUMN - n), "");
    as_wrap(out, text, TEXT_COLUMN, TEXT_COLUMN, width);
}

/* Returns whether `word` stands in `text` by itself. */
static bool names_word(const char *text, const char *word, size_t n)
{
    for (const char *at = text; (at = memmem(at, strlen(at), word, n)); at++) {
        const bool begins = at == text || !strchr(LETTERS, at[-1]);

        if (begins && (!at[n] || !strchr(LETTERS, at[n])))
            return true;
    }
    return false;
}

void as_help_option(struct as_str *out, const struct as_option *option, int verb)
{
    const char *rest = option->choices, *word;
    bool names_all = true;
    size_t n;

    if (option == &as_options[AS_OPTION_FORMAT]) {
        as_formats_help(out, verb);
        return;
    }
    as_str_appendz(out, option->help);
    while (as_choice_next(&rest, &word, &n))
        names_all &= names_word(option->help, word, n);
    if (names_all)
        return;
    as_str_appendf(out, " %s is ", option->argument);
    for (rest = option->choices; as_choice_next(&rest, &word, &n);)
        as_str_appendf(out, "%.*s%s", (int)n, word,
                       !*rest              ? "."
                       : strchr(rest, '|') ? ", "
                                           : " or ");
}

static void option_entry(struct as_str *out, const struct as_option *option, int verb,
                         unsigned width)
{
    struct as_str name = {0}, text = {0};

    if (option->letter)
        as_str_appendf(&name, "-%c, --%s", option->letter, option->name);
    else
        as_str_appendf(&name, "    --%s", option->name);
    if (option->argument)
        as_str_appendf(&name, " %s", option->argument);
    as_help_option(&text, option, verb);
    as_help_entry(out, as_str_z(&name), as_str_z(&text), width);
    as_str_fini(&name);
    as_str_fini(&text);
}

static void options(struct as_str *out, int verb, unsigned width)
{
    bool any = false;

    for (int i = 0; i < AS_OPTION_COUNT; i++) {
        if (!as_option_of_verb(&as_options[i], verb))
            continue;
        if (!any)
            as_str_appendf(out, "\nOptions of %s:\n", as_verbs[verb].name);
        any = true;
        option_entry(out, &as_options[i], verb, width);
    }
    as_str_appendz(out, "\nCommon options:\n");
    for (int i = 0; i < AS_OPTION_COUNT; i++)
        if (as_option_common_to(&as_options[i], verb))
            option_entry(out, &as_options[i], verb, width);
}

static void notes(struct as_str *out, const char *title, const struct as_note *note, unsigned width)
{
    as_str_appendf(out, "\n%s:\n", title);
    for (; note->name; note++)
        as_help_entry(out, note->name, note->text, width);
}

static void program_help(struct as_str *out, unsigned width)
{
    as_str_appendf(out,
                   "Usage: assay VERB [options] ARGUMENTS\n\nassay: %s\n"
                   "Begin with 'assay run -- ./program'.\n\nVerbs:\n",
                   as_program_summary);
    for (int i = 0; i < AS_VERBS; i++) {
        struct as_str name = {0};

        as_str_appendf(&name, "%s %s", as_verbs[i].name, as_verbs[i].arguments);
        as_help_entry(out, as_str_z(&name), as_verbs[i].summary, width);
        as_str_fini(&name);
    }
    as_str_appendz(
        out, "\n'assay VERB --help' explains a verb, 'man assay' all. 'assay --help metrics'\n"
             "and 'assay --help findings' list these with their meaning.\n");
}

static void verb_help(struct as_str *out, int verb, unsigned width)
{
    as_str_appendf(out, "Usage: assay %s [options] %s\n\n", as_verbs[verb].name,
                   as_verbs[verb].arguments);
    as_wrap(out, as_verbs[verb].description, 0, 0, width);
}

static void examples(struct as_str *out, int verb, unsigned width)
{
    as_str_appendz(out, "\nExamples:\n");
    for (size_t i = 0; i < as_example_n; i++) {
        if ((int)as_examples[i].verb != verb)
            continue;
        as_str_appendf(out, "  %s\n      ", as_examples[i].command);
        as_wrap(out, as_examples[i].text, 6, 6, width);
    }
}

void as_help(struct as_str *out, int verb, unsigned width)
{
    if (verb < 0)
        program_help(out, width);
    else
        verb_help(out, verb, width);
    options(out, verb, width);
    if (verb >= 0) {
        examples(out, verb, width);
    } else {
        notes(out, "Exit status", as_exit_notes, width);
        notes(out, "Environment", as_environment_notes, width);
    }
}
