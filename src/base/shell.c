/* SPDX-License-Identifier: Apache-2.0 */
/* Quoting by the rules of POSIX, 2.2.2: nothing in single quotes is special but the quote. */
#include "base/shell.h"

#include <string.h>

void as_shell_word(struct as_str *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./=:,@%+";

    if (word[0] && !word[strspn(word, plain)]) {
        as_str_appendz(out, word);
        return;
    }
    as_str_append(out, "'", 1);
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            as_str_appendz(out, "'\\''");
        else
            as_str_append(out, c, 1);
    }
    as_str_append(out, "'", 1);
}
