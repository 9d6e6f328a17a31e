/* SPDX-License-Identifier: Apache-2.0 */
/* finding: pointer_calls; flags: -O2; compiler: g++; repair: the type of the elements is known;
 * says: calls a function through a pointer */
#include <memory>
#include <vector>

#include "program.h"

#define N 2000

struct shape {
    double a = 1, b = 2;
    virtual ~shape() = default;
    virtual double area() const = 0;
};

struct box : shape {
    double area() const override
    {
        return a * b;
    }
};

struct oval final : shape {
    double area() const override
    {
        return 0.785 * a * b;
    }
};

int main()
{
    std::vector<std::unique_ptr<shape>> each;
    std::vector<oval> known(N);
    double all = 0;

    for (int i = 0; i < N; i++) {
        if (i % 2)
            each.push_back(std::make_unique<oval>());
        else
            each.push_back(std::make_unique<box>());
    }
    for (int step = 0; step < 150000; step++) {
        each[step % N]->a += 0.01;
        known[step % N].a += 0.01;
#ifdef REPAIRED
        for (const oval &one : known)
            all += one.area();
#else
        for (const auto &one : each)
            all += one->area();
#endif
    }
    return done(all);
}
