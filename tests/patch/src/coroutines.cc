// SPDX-License-Identifier: Apache-2.0
// Coroutines of C++20 that are suspended in the middle of loops. They continue in another order, in
// another caller and in another thread; one is destroyed in its loop. Prints how often loops ran.
#include <coroutine>
#include <cstdio>
#include <thread>
#include <utility>
#include <vector>
#define ALONE __attribute__((noinline))

struct Numbers {
    struct promise_type {
        double value = 0;
        Numbers get_return_object()
        {
            return Numbers{handle::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept
        {
            return {};
        }
        std::suspend_always final_suspend() noexcept
        {
            return {};
        }
        std::suspend_always yield_value(double v) noexcept
        {
            value = v;
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
        }
    };
    using handle = std::coroutine_handle<promise_type>;
    explicit Numbers(handle h) : it(h)
    {
    }
    Numbers(Numbers &&other) noexcept : it(std::exchange(other.it, {}))
    {
    }
    ~Numbers()
    {
        if (it)
            it.destroy();
    }
    bool next()
    {
        return it.resume(), !it.done();
    }
    handle it;
};

ALONE double sum(long n, const double *x)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += x[i];
    return s;
}

ALONE double round_off(double s)
{
    return s * 0.9375;
}

Numbers numbers(int me, long n, const double *x)
{
    double s = me;
    for (long i = 0; i < n; i++) {
        for (long k = 0; k < 5; k++)
            s = s * 0.5 + x[i + k];
        if (i % 3 == 2)
            co_yield round_off(s);
        s += sum(4, x + i);
    }
}

ALONE double take(std::vector<Numbers> &all, int from)
{
    double s = 0;
    for (size_t i = 0; i < all.size(); i++) {
        Numbers &one = all[(i * 3 + (size_t)from) % all.size()];
        if (!one.it.done() && one.next())
            s = s * 1.0625 + one.it.promise().value;
    }
    return s;
}

int main()
{
    static double x[200];
    double s = 0;
    for (int i = 0; i < 200; i++)
        x[i] = i * 0.25;
    {
        std::vector<Numbers> all;
        for (int i = 0; i < 7; i++)
            all.push_back(numbers(i, 60 + i, x));
        for (int r = 0; r < 6; r++)
            s = s * 0.5 + take(all, r);
        std::thread([&] { s += take(all, 2); }).join();
        all.pop_back();
        for (int r = 0; r < 30; r++)
            s = s * 0.5 + take(all, r % 6);
    }
    for (int r = 0; r < 50; r++)
        s += sum(40 + r, x);
    std::printf("%.17g\n", s);
    return 0;
}
