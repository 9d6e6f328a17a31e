/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of loops and edges.
 */
#include "loop_words.h"

#include <inttypes.h>
#include <string.h>

#include "names.h"

const char *as_level_word(unsigned level)
{
    static const char *const word[] = {"single", "outermost", "between", "innermost"};
    return level < sizeof word / sizeof *word ? word[level] : "?";
}

const char *as_role_word(unsigned role)
{
    static const char *const word[] = {"main",        "peel",        "tail",
                                       "vector peel", "vector tail", "version"};
    return role < sizeof word / sizeof *word ? word[role] : "?";
}

const char *as_edge_word(unsigned kind)
{
    static const char *const word[] = {"fall", "taken", "jump", "table", "landing"};
    return kind < sizeof word / sizeof *word ? word[kind] : "?";
}

void as_words_loop_marks(struct as_str *out, const struct as_loop *loop, char separator)
{
    static const struct {
        unsigned bit;
        const char *word;
    } mark[] = {
        {AS_LOOP_IRREDUCIBLE, "irreducible"},
        {AS_LOOP_UNRESOLVED, "unresolved jump"},
        {AS_LOOP_CALLS, "calls"},
        {AS_LOOP_PATH_LIMIT, "path limit"},
        {AS_LOOP_MERGED, "merged continue"},
        {AS_LOOP_FOLDED, "folded gather"},
        {AS_LOOP_UNREACHED, "unreached"},
        {AS_LOOP_OUTSIZE, "outsize nest"},
    };
    for (size_t i = 0; i < sizeof mark / sizeof *mark; i++) {
        if (!(loop->bits & mark[i].bit))
            continue;
        if (out->n)
            as_str_append(out, &separator, 1);
        as_str_appendz(out, mark[i].word);
    }
}

void as_words_source(struct as_str *out, const struct as_debug *debug,
                     const struct as_source_range *range, bool is_short)
{
    const char *file = range->file < debug->file_n ? debug->file[range->file] : NULL;
    const char *slash = file && is_short ? strrchr(file, '/') : NULL;

    if (!file)
        return;
    as_str_appendf(out, "%s:%" PRIu32, slash ? slash + 1 : file, range->first_line);
    if (range->last_line != range->first_line)
        as_str_appendf(out, "-%" PRIu32, range->last_line);
}

void as_words_inlined(struct as_str *out, const struct as_debug *debug, uint32_t inlined,
                      bool plain, char separator)
{
    while (inlined < debug->inline_n && debug->inlines[inlined].call_line) {
        const struct as_inline *it = &debug->inlines[inlined];
        const char *file = it->call_file < debug->file_n ? debug->file[it->call_file] : NULL;

        if (out->n)
            as_str_append(out, &separator, 1);
        if (it->name)
            as_name_append(out, it->name, plain);
        else
            as_str_appendz(out, "?");
        if (file)
            as_str_appendf(out, " at %s:%" PRIu32, file, it->call_line);
        inlined = it->parent;
    }
}
