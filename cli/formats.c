/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats; see formats.h. */
#include "formats.h"

#include "base/error.h"

#define BIT(format) (1u << AS_FORMAT_##format)
#define USUAL       (BIT(TEXT) | BIT(JSON) | BIT(CSV))

#define AFTERWARDS "'assay show EXP --view VIEW --format csv' afterwards"

/* Verbs that do not write exactly text, json and csv. */
static const struct verb_formats {
    enum as_verb_id verb;
    unsigned bits;
    const char *instead; /* of a format that is refused; or NULL */
} verb_formats[] = {
    {AS_VERB_CFG, USUAL | BIT(DOT) | BIT(SVG), NULL},
    {AS_VERB_EVALUATE, USUAL | BIT(SVG), NULL},
    {AS_VERB_CQA, USUAL | BIT(HTML), NULL},
    {AS_VERB_PROFILE, BIT(TEXT) | BIT(JSON), AFTERWARDS},
    {AS_VERB_RUN, BIT(TEXT) | BIT(JSON), AFTERWARDS},
    {AS_VERB_MERGE, BIT(TEXT) | BIT(JSON), AFTERWARDS},
    {AS_VERB_ATTRIBUTE, BIT(TEXT), "'assay show EXP --format json' afterwards"},
    {AS_VERB_OPEN, BIT(TEXT), "'assay report EXP --format json'"},
    {AS_VERB_EXPORT, 0, "--as folded, speedscope, pprof, prv, otf2 or perfetto"},
    {AS_VERB_EDIT, 0, "'assay evaluate' with the new trace"},
    {AS_VERB_SCRIPT, 0, "the output of the script"},
};

static struct verb_formats formats_of_verb(int verb)
{
    for (size_t i = 0; i < sizeof verb_formats / sizeof *verb_formats; i++)
        if ((int)verb_formats[i].verb == verb)
            return verb_formats[i];
    return (struct verb_formats){.bits = USUAL};
}

/* "text, json or csv", `after_text` behind the first. */
static void append_formats(struct as_str *out, unsigned bits, const char *after_text)
{
    const char *rest = as_options[AS_OPTION_FORMAT].choices, *word;
    size_t n;

    for (unsigned i = 0, left = bits; as_choice_next(&rest, &word, &n); i++) {
        if (!(bits >> i & 1))
            continue;
        left &= ~(1u << i);
        as_str_appendf(out, "%s%.*s",
                       left == (bits & ~(1u << i)) ? ""
                       : left                      ? ", "
                                                   : " or ",
                       (int)n, word);
        if (i == AS_FORMAT_TEXT && left)
            as_str_appendz(out, after_text);
    }
}

void as_formats_help(struct as_str *out, int verb)
{
    const struct verb_formats formats = formats_of_verb(verb);

    if (verb < 0) {
        as_str_appendz(out, as_options[AS_OPTION_FORMAT].help);
        return;
    }
    if (!formats.bits) {
        as_str_appendf(out, "Not for this verb: use %s.", formats.instead);
        return;
    }
    as_str_appendz(out, "Write ");
    append_formats(out, formats.bits, " (the default)");
    as_str_appendz(out, ".");
    if (formats.instead)
        as_str_appendf(out, " For others use %s.", formats.instead);
}

int as_formats_check(const struct as_arguments *args, struct as_error *err)
{
    const char *value = args->value[AS_OPTION_FORMAT];

    if (!value || args->verb < 0)
        return 0;
    const char *verb = as_verbs[args->verb].name;
    if (!as_option_common_to(&as_options[AS_OPTION_FORMAT], args->verb))
        return as_error_set(
            err, AS_ERR_USAGE,
            "--format: '%s' has a --format of its own, after the verb; use 'assay %s --format %s'",
            verb, verb, value);
    const struct verb_formats formats = formats_of_verb(args->verb);
    if (!formats.bits)
        return as_error_set(err, AS_ERR_USAGE,
                            "--format: '%s' does not have this option; use "
                            "%s",
                            verb, formats.instead);
    if (formats.bits >> args->number[AS_OPTION_FORMAT] & 1)
        return 0;
    struct as_str use = {0};
    append_formats(&use, formats.bits, "");
    if (formats.instead)
        as_str_appendf(&use, ", or %s", formats.instead);
    const int rc = as_error_set(err, AS_ERR_USAGE, "--format: '%s' does not write %s; use %s", verb,
                                value, as_str_z(&use));
    as_str_fini(&use);
    return rc;
}
