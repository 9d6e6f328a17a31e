/* SPDX-License-Identifier: Apache-2.0 */
/* finding: copying; flags: -O2; compiler: g++; libraries: -lstdc++;
 * repair: eight bytes of each text are a number, which is compared first;
 * says: comparing memory and text, in a sort; advises: the first 8 bytes of each element;
 * within: 60 % (what is compared is loaded by a pointer) */
#include "program.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#define N 30000

static std::vector<std::string> texts()
{
    std::vector<std::string> all(N);

    for (std::string &text : all) {
        char room[40];
        snprintf(room, sizeof room, "%08x-%08x-of-some-length", draw(), draw());
        text = room;
    }
    return all;
}

int main()
{
    const std::vector<std::string> all = texts();
    double sum = 0;

    for (int step = 0; step < 80; step++) {
        std::vector<const std::string *> by(N);
        for (int i = 0; i < N; i++)
            by[i] = &all[i];
#ifdef REPAIRED
        std::vector<std::pair<unsigned long, const std::string *>> keyed(N);
        for (int i = 0; i < N; i++) {
            unsigned long key;
            memcpy(&key, by[i]->data(), sizeof key);
            keyed[i] = {__builtin_bswap64(key), by[i]};
        }
        std::sort(keyed.begin(), keyed.end(), [](const auto &a, const auto &b) {
            return a.first != b.first ? a.first < b.first : *a.second < *b.second;
        });
        sum += (*keyed[step].second)[3];
#else
        std::sort(by.begin(), by.end(),
                  [](const std::string *a, const std::string *b) { return *a < *b; });
        sum += (*by[step])[3];
#endif
    }
    return done(sum);
}
