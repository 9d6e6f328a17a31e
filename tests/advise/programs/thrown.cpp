/* SPDX-License-Identifier: Apache-2.0 */
/* finding: exceptions; flags: -O2; compiler: g++; repair: a missing value is a result;
 * says: C\+\+ exceptions: .* from (number|number_or) */
#include <optional>
#include <stdexcept>

#include "program.h"

#ifdef REPAIRED
__attribute__((noinline)) static std::optional<int> number(unsigned word)
{
    return word & 1 ? std::nullopt : std::optional<int>(word & 0xff);
}

static int number_or(unsigned word, int other)
{
    return number(word).value_or(other);
}
#else
__attribute__((noinline)) static int number(unsigned word)
{
    if (word & 1)
        throw std::runtime_error("no number");
    return word & 0xff;
}

static int number_or(unsigned word, int other)
{
    try {
        return number(word);
    } catch (const std::runtime_error &) {
        return other;
    }
}
#endif

int main()
{
    double all = 0;

    for (int step = 0; step < 1500000; step++)
        all += number_or(draw(), 1);
    return done(all);
}
