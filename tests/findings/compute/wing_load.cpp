/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The integrand comes as a std::function, so that each sample is an indirect call, which
 * the compiler cannot inline.
 * place: integrate simpson lift_of wing_lift _M_invoke operator
 * finding: pointer_calls
 * words: (?i)inline|indirect call|std::function|template|function pointer|\bcalls?\b
 * false: memory_bandwidth memory_latency mispredictions divisions page_faults
 * flags: -O2 -g
 * arguments: 3000 160000
 * repair: The integrand is a parameter of a template.
 * clock: cpu */
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace
{

struct Section {
    double chord_m, taper, twist, camber;
};

#ifdef REPAIRED
template <class Integrand> double integrate(const Integrand &f, double from, double to, long panels)
#else
__attribute__((noinline)) double integrate(const std::function<double(double)> &f, double from,
                                           double to, long panels)
#endif
{
    const double width = (to - from) / static_cast<double>(panels);
    double odd = 0, even = 0, x = from + width / 2;

    for (long i = 0; i < panels; i++) { /* HERE */
        odd += f(x);                    /* HERE */
        even += f(x + width / 2);       /* HERE */
        x += width;
    }
    return (odd * 4 + even * 2) * width / 6;
}

// Lift of a wing between its root and its tip, for an angle of attack.
double lift_of(const Section &s, double angle, long panels)
{
    return integrate(
        [&s, angle](double y) {
            const double chord = s.chord_m * (1 - s.taper * y);
            const double local = angle - s.twist * y * y;
            return chord * (local + s.camber) * (1 - y * y * 0.97);
        },
        0.0, 1.0, panels);
}

} // namespace

int main(int argc, char **argv)
{
    const long panels = argc > 1 ? std::atol(argv[1]) : 1000;
    const long angles = argc > 2 ? std::atol(argv[2]) : 100;
    const Section section{1.8, 0.55, 0.05, 0.035};
    double highest = 0, sum = 0;

    for (long k = 0; k < angles; k++) {
        const double lift = lift_of(section, 0.2 * static_cast<double>(k % 64) / 64, panels);
        highest = lift > highest ? lift : highest;
        sum += lift;
    }
    std::printf("wing_load %.9f highest %.9f\n", sum / static_cast<double>(angles), highest);
    return 0;
}
