/* SPDX-License-Identifier: Apache-2.0 */
/* finding: short_processes; repair: the program counts itself;
 * says: A process starts [0-9,]+ others that live [0-9.]+ ms each */
#include <spawn.h>
#include <sys/wait.h>

#include "program.h"

extern char **environ;

static int length_of(const char *word)
{
#ifdef REPAIRED
    return (int)strlen(word);
#else
    char test[] = "test $# -eq 1", shell[] = "/bin/sh", option[] = "-c", name[] = "sh", text[64];
    char *const words[] = {shell, option, test, name, text, NULL};
    pid_t child;
    int status;

    snprintf(text, sizeof text, "%s", word);
    if (posix_spawn(&child, shell, NULL, NULL, words, environ) || waitpid(child, &status, 0) < 0)
        abort();
    return (int)strlen(word) + WEXITSTATUS(status);
#endif
}

int main(void)
{
    char word[32];
    double all = 0;

    for (int step = 0; step < 1000; step++) {
        snprintf(word, sizeof word, "word%u", draw());
        all += length_of(word);
    }
    return done(all);
}
