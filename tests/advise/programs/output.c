/* SPDX-License-Identifier: Apache-2.0 */
/* finding: input_output; repair: gathered in a buffer. */
#include <fcntl.h>
#include <unistd.h>

#include "program.h"

int main(void)
{
    static char buffer[1 << 16];
    const int out = open("/dev/null", O_WRONLY);
    double sum = 0;
    size_t n = 0;

    for (int i = 0; i < 6000000; i++) {
        const double value = i * 0.5;
        sum += value;
#ifdef REPAIRED
        memcpy(buffer + n, &value, sizeof value);
        n += sizeof value;
        if (n == sizeof buffer) {
            sum += (double)write(out, buffer, n);
            n = 0;
        }
#else
        sum += (double)write(out, &value, sizeof value) + buffer[n];
#endif
    }
    return done(sum);
}
