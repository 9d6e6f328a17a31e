/* SPDX-License-Identifier: Apache-2.0 */
/* finding: formatted_text; flags: -O2; repair: values are copied as they are;
 * says: converts numbers to text or text to numbers.* called from save */
#include "program.h"

#define N 1000

__attribute__((noinline)) static size_t save(const double *value, char *to)
{
    size_t n = 0;

    for (int i = 0; i < N; i++) {
#ifdef REPAIRED
        memcpy(to + n, &value[i], sizeof *value);
        n += sizeof *value;
#else
        n += (size_t)sprintf(to + n, "%.12g ", value[i]);
#endif
    }
    return n;
}

int main(void)
{
    double *value = array_of(N), all = 0;
    char *to = malloc(32 * N);

    for (int step = 0; step < 3500; step++) {
        value[step % N] += 0.37;
        all += (double)save(value, to);
    }
    return done(all);
}
