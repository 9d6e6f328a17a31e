/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build-time program: writes the man page and the shell completions from the option table, so
 * that they cannot disagree with the parser. `assay-generate man|bash|zsh|fish` writes to standard
 * output. Formats: man(7), bash's programmable completion, zsh's _arguments (zshcompsys(1)),
 * fish's complete.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "help.h"
#include "options.h"

/* ---- man(7) ------------------------------------------------------------------------------ */

/* One word of roff text: backslashes, hyphens and quotes escaped, and a control character at the
 * beginning of a line. */
static void roff_word(const char *p, size_t n, bool starts_line)
{
    if (starts_line && (*p == '.' || *p == '\''))
        fputs("\\&", stdout);
    for (; n--; p++) {
        if (*p == '\\')
            fputs("\\e", stdout);
        else if (*p == '-')
            fputs("\\-", stdout);
        else if (*p == '\'')
            fputs("\\(aq", stdout);
        else
            putchar(*p);
    }
}

/* Roff text, each sentence on lines of its own and none longer than 80. */
static void roff(const char *text)
{
    size_t at = 0;

    while (*text) {
        const size_t n = strcspn(text, " ");

        roff_word(text, n, at == 0);
        at += n + 1;
        text += n;
        if (!*text)
            break;
        text++;
        if ((n && text[-2] == '.') || at + strcspn(text, " ") > 70) {
            putchar('\n');
            at = 0;
        } else {
            putchar(' ');
        }
    }
}

static void roff_line(const char *before, const char *text, const char *after)
{
    fputs(before, stdout);
    roff(text);
    puts(after);
}

static void man_option(const struct as_option *option)
{
    struct as_str help = {0};

    puts(".TP");
    if (option->letter)
        printf("\\fB\\-%c\\fR, ", option->letter);
    roff_line("\\fB\\-\\-", option->name, option->argument ? "\\fR \\c" : "\\fR");
    if (option->argument)
        roff_line("\\fI", option->argument, "\\fR");
    as_help_option(&help, option, -1);
    roff_line("", as_str_z(&help), "");
    as_str_fini(&help);
}

static void man_verb(int verb)
{
    const struct as_verb *v = &as_verbs[verb];

    roff_line(".SS assay ", v->name, "");
    roff_line("\\fBassay ", v->name, "\\fR [\\fIoptions\\fR] \\c");
    roff_line("\\fI", v->arguments, "\\fR");
    puts(".PP");
    roff_line("", v->description, "");
    for (int i = 0; i < AS_OPTION_COUNT; i++)
        if (as_option_of_verb(&as_options[i], verb))
            man_option(&as_options[i]);
}

static void man_notes(const char *title, const struct as_note *note)
{
    printf(".SH %s\n", title);
    for (; note->name; note++) {
        puts(".TP");
        roff_line("\\fB", note->name, "\\fR");
        roff_line("", note->text, "");
    }
}

static void man(void)
{
    printf(".\\\" Written from the option table at build time; do not edit.\n"
           ".TH ASSAY 1 2026-11-20 \"assay %s\" \"User Commands\"\n.SH NAME\nassay \\- ",
           AS_VERSION);
    puts(as_program_summary);
    puts(".SH SYNOPSIS\n\\fBassay\\fR \\fIVERB\\fR [\\fIoptions\\fR] \\fIARGUMENTS\\fR\n.br");
    puts("\\fBassay\\fR [\\fIVERB\\fR] \\fB\\-\\-help\\fR\n.br");
    puts("\\fBassay\\fR \\fB\\-\\-help metrics\\fR [\\fINAME\\fR]\n.br");
    puts("\\fBassay\\fR \\fB\\-\\-help findings\\fR [\\fINAME\\fR]\n.SH DESCRIPTION");
    roff_line("",
              "assay shows where the time of a compute-heavy program goes, and what would make it "
              "faster. Its verbs:",
              "");
    for (int i = 0; i < AS_VERBS; i++) {
        puts(".TP");
        roff_line("\\fB", as_verbs[i].name, "\\fR \\c");
        roff_line("\\fI", as_verbs[i].arguments, "\\fR");
        roff_line("", as_verbs[i].summary, "");
    }
    puts(".PP");
    roff_line(
        "",
        "assay --help metrics lists the metrics with unit and meaning. assay --help findings lists "
        "the rules of findings with level and meaning. NAME selects some of them, and * stands for "
        "any characters.",
        "");
    puts(".SH VERBS");
    for (int i = 0; i < AS_VERBS; i++)
        man_verb(i);
    puts(".SH COMMON OPTIONS");
    for (int i = 0; i < AS_OPTION_COUNT; i++)
        if (as_option_is_common(&as_options[i]))
            man_option(&as_options[i]);
    man_notes("EXIT STATUS", as_exit_notes);
    man_notes("ENVIRONMENT", as_environment_notes);
    puts(".SH EXAMPLES");
    for (size_t i = 0; i < as_example_n; i++) {
        puts(".TP");
        roff_line("\\fB", as_examples[i].command, "\\fR");
        roff_line("", as_examples[i].text, "");
    }
}

/* ---- bash -------------------------------------------------------------------------------- */

/* "a|b|c" with blanks between. */
static void words(const char *choices)
{
    for (; *choices; choices++)
        putchar(*choices == '|' ? ' ' : *choices);
}

/* "show/-o|show/--output|..." of the verbs it belongs to, any verb for common ones. */
static void bash_value_pattern(const struct as_option *option)
{
    const char *separator = "    ";

    for (int verb = -1; verb < AS_VERBS; verb++) {
        const char *name = verb < 0 ? "*" : as_verbs[verb].name;

        if (verb < 0 ? !as_option_is_common(option) : !as_option_of_verb(option, verb))
            continue;
        if (option->letter)
            printf("%s%s/-%c|%s/--%s", separator, name, option->letter, name, option->name);
        else
            printf("%s%s/--%s", separator, name, option->name);
        separator = "|";
    }
    putchar(')');
}

static void bash_value_case(const struct as_option *option)
{
    bash_value_pattern(option);
    switch (option->kind) {
    case AS_KIND_CHOICE:
    case AS_KIND_CHOICES:
        fputs(" COMPREPLY=($(compgen -W '", stdout);
        words(option->choices);
        fputs("' -- \"$cur\"));", stdout);
        break;
    case AS_KIND_FILE:
        fputs(" COMPREPLY=($(compgen -f -- \"$cur\"));", stdout);
        break;
    case AS_KIND_DIRECTORY:
        fputs(" COMPREPLY=($(compgen -d -- \"$cur\"));", stdout);
        break;
    case AS_KIND_FLAG:
    case AS_KIND_NUMBER:
    case AS_KIND_TEXT:
    case AS_KIND_LIST:
        break;
    }
    puts(" return ;;");
}

static void bash_option_words(int verb)
{
    for (int i = 0; i < AS_OPTION_COUNT; i++) {
        const struct as_option *option = &as_options[i];

        if (verb < 0 ? !as_option_is_common(option) : !as_option_of_verb(option, verb))
            continue;
        if (option->letter)
            printf(" -%c", option->letter);
        printf(" --%s", option->name);
    }
}

static void bash(void)
{
    puts(
        "# bash completion for assay; written from the option table at build time\n"
        "_assay()\n{\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb= i\n"
        "    COMPREPLY=()\n"
        "    if [[ $cur == '=' ]]; then cur=; fi\n"
        "    if [[ $prev == '=' ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
        "    if [[ ${COMP_WORDS[COMP_CWORD]} == '=' ]]; then prev=${COMP_WORDS[COMP_CWORD-1]}; fi\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "        case ${COMP_WORDS[i]} in");
    for (int i = 0; i < AS_VERBS; i++)
        printf("%s%s", i ? "|" : "            ", as_verbs[i].name);
    puts(") verb=${COMP_WORDS[i]}; break ;;\n        esac\n    done\n    case $verb/$prev in");
    for (int is_common = 0; is_common < 2; is_common++) /* those of a verb come first */
        for (int i = 0; i < AS_OPTION_COUNT; i++)
            if (as_options[i].argument && as_option_is_common(&as_options[i]) == is_common)
                bash_value_case(&as_options[i]);
    puts("    esac\n    local words=");
    fputs("    words+='", stdout);
    bash_option_words(-1);
    puts("'\n    case $verb in");
    for (int i = 0; i < AS_VERBS; i++) {
        printf("    %s) words+='", as_verbs[i].name);
        bash_option_words(i);
        puts("' ;;");
    }
    fputs("    '') words+='", stdout);
    for (int i = 0; i < AS_VERBS; i++)
        printf(" %s", as_verbs[i].name);
    puts("' ;;\n    esac\n"
         "    if [[ $cur == -* || -z $verb ]]; then\n"
         "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "    else\n"
         "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
         "    fi\n}\ncomplete -o filenames -o bashdefault -F _assay assay");
}

/* ---- zsh --------------------------------------------------------------------------------- */

/* Text inside '...[here]...' of _arguments: quotes, brackets and colons escaped. */
static void zsh_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void zsh_value(const struct as_option *option)
{
    if (!option->argument)
        return;
    putchar(':');
    zsh_text(option->argument);
    putchar(':');
    if (option->kind == AS_KIND_CHOICE || option->kind == AS_KIND_CHOICES) {
        putchar('(');
        words(option->choices);
        putchar(')');
    } else if (option->kind == AS_KIND_FILE) {
        fputs("_files", stdout);
    } else if (option->kind == AS_KIND_DIRECTORY) {
        fputs("_files -/", stdout);
    } else {
        putchar(' ');
    }
}

static void zsh_spec(const struct as_option *option, bool short_form)
{
    fputs("        '", stdout);
    if (option->kind == AS_KIND_LIST || option->kind == AS_KIND_CHOICES)
        putchar('*');
    if (short_form)
        printf("-%c[", option->letter);
    else
        printf("--%s%s[", option->name, option->argument ? "=" : "");
    zsh_text(option->help);
    putchar(']');
    zsh_value(option);
    puts("'");
}

static void zsh_specs(int verb)
{
    for (int i = 0; i < AS_OPTION_COUNT; i++) {
        const struct as_option *option = &as_options[i];

        if (verb < 0 ? !as_option_is_common(option) : !as_option_of_verb(option, verb))
            continue;
        if (option->letter)
            zsh_spec(option, true);
        zsh_spec(option, false);
    }
}

/* Common options of which the verb has its own. */
static void zsh_hide(int verb)
{
    for (int i = 0; i < AS_OPTION_COUNT; i++)
        if (as_option_is_common(&as_options[i]) && !as_option_common_to(&as_options[i], verb))
            printf("        common=(\"${(@)common:#--%s=*}\")\n", as_options[i].name);
}

static void zsh(void)
{
    puts("#compdef assay\n# zsh completion for assay; written from the option table at build time\n"
         "_assay()\n{\n"
         "    local curcontext=$curcontext state line ret=1\n"
         "    local -a common verbs own\n"
         "    common=(");
    zsh_specs(-1);
    puts("    )\n    verbs=(");
    for (int i = 0; i < AS_VERBS; i++) {
        printf("        '%s:", as_verbs[i].name);
        zsh_text(as_verbs[i].summary);
        puts("'");
    }
    puts("    )\n"
         "    _arguments -C -s $common '1:verb:->verb' '*::argument:->argument' && ret=0\n"
         "    case $state in\n"
         "    verb) _describe verb verbs && ret=0 ;;\n"
         "    argument)\n"
         "        case $words[1] in");
    for (int i = 0; i < AS_VERBS; i++) {
        printf("        %s) own=(\n", as_verbs[i].name);
        zsh_specs(i);
        puts("        )");
        zsh_hide(i);
        puts("        ;;");
    }
    puts("        esac\n"
         "        _arguments -s $common $own '*:file:_files' && ret=0 ;;\n"
         "    esac\n    return ret\n}\n_assay \"$@\"");
}

/* ---- fish -------------------------------------------------------------------------------- */

/* Text between the single quotes of fish: quotes and backslashes escaped. */
static void fish_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
}

/* The condition of an option: its verb, or for common ones no verb that has its own. */
static void fish_condition(const struct as_option *option, int verb)
{
    if (verb >= 0) {
        printf(" -n '__assay_verb %s'", as_verbs[verb].name);
        return;
    }
    const char *before = " -n 'not __assay_verb";
    for (int i = 0; i < AS_VERBS; i++)
        if (!as_option_common_to(option, i)) {
            printf("%s %s", before, as_verbs[i].name);
            before = "";
        }
    if (!*before)
        putchar('\'');
}

static void fish_value(const struct as_option *option)
{
    if (!option->argument)
        return;
    if (option->kind == AS_KIND_CHOICE || option->kind == AS_KIND_CHOICES) {
        fputs(" -x -a '", stdout);
        words(option->choices);
        putchar('\'');
    } else if (option->kind == AS_KIND_FILE) {
        fputs(" -r -F", stdout);
    } else if (option->kind == AS_KIND_DIRECTORY) {
        fputs(" -x -a '(__fish_complete_directories)'", stdout);
    } else {
        fputs(" -x", stdout);
    }
}

static void fish_options(int verb)
{
    for (int i = 0; i < AS_OPTION_COUNT; i++) {
        const struct as_option *option = &as_options[i];

        if (verb < 0 ? !as_option_is_common(option) : !as_option_of_verb(option, verb))
            continue;
        fputs("complete -c assay", stdout);
        fish_condition(option, verb);
        if (option->letter)
            printf(" -s %c", option->letter);
        printf(" -l %s", option->name);
        fish_value(option);
        fputs(" -d '", stdout);
        fish_text(option->help);
        puts("'");
    }
}

/* The function __assay_verb succeeds if the line has one of its arguments as the verb. Without
 * arguments it succeeds if the line has no verb. */
static void fish(void)
{
    puts("# fish completion for assay; written from the option table at build time\n"
         "function __assay_verb\n"
         "    for word in (commandline -opc)[2..-1]\n"
         "        string match -q -- '-*' $word; and continue\n"
         "        contains -- $word $argv\n"
         "        return\n"
         "    end\n"
         "    test (count $argv) -eq 0\n"
         "end");
    for (int i = 0; i < AS_VERBS; i++) {
        printf("complete -c assay -n __assay_verb -f -a %s -d '", as_verbs[i].name);
        fish_text(as_verbs[i].summary);
        puts("'");
    }
    fish_options(-1);
    for (int i = 0; i < AS_VERBS; i++)
        fish_options(i);
}

/* ---- Checks ------------------------------------------------------------------------------ */

/* Returns whether `assay VERB --help` of every verb shows examples; names a verb without. */
static bool check_examples(void)
{
    enum { LEAST = 2 };

    for (int verb = 0; verb < AS_VERBS; verb++) {
        int n = 0;

        for (size_t i = 0; i < as_example_n; i++)
            n += (int)as_examples[i].verb == verb;
        if (n < LEAST) {
            fprintf(stderr,
                    "cli/options.def: '%s' has %d examples: help needs %d; add an EXAMPLE\n",
                    as_verbs[verb].name, n, LEAST);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";

    if (!check_examples())
        return 1;
    if (strcmp(what, "man") == 0)
        man();
    else if (strcmp(what, "bash") == 0)
        bash();
    else if (strcmp(what, "zsh") == 0)
        zsh();
    else if (strcmp(what, "fish") == 0)
        fish();
    else
        return 2;
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
