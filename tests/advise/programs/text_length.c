/* SPDX-License-Identifier: Apache-2.0 */
/* finding: library_calls; repair: the length is asked for once;
 * says: goes into strlen, .* from count_capitals; advises: Call it once before the loop */
#include "program.h"

#define N 20000

/* The call may change the length, as far as the compiler knows. */
__attribute__((noinline, noipa)) static void note(char *letter)
{
    *letter |= 1;
}

__attribute__((noinline, noipa)) static long count_capitals(char *text)
{
    long n = 0;

#ifdef REPAIRED
    for (size_t i = 0, length = strlen(text); i < length; i++)
#else
    for (size_t i = 0; i < strlen(text); i++)
#endif
        if (text[i] >= 'A' && text[i] <= 'Z') {
            note(&text[i]);
            n++;
        }
    return n;
}

int main(void)
{
    char *text = malloc(N + 1);
    long n = 0;

    if (!text)
        abort();
    for (long i = 0; i < N; i++)
        text[i] = (char)(draw() % 4 ? 'a' + draw() % 26 : 'A' + draw() % 26);
    text[N] = 0;
    for (int step = 0; step < 400; step++)
        n += count_capitals(text);
    free(text);
    return done((double)n);
}
