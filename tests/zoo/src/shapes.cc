// SPDX-License-Identifier: Apache-2.0
// The C++ program: templates, inlining over three levels, virtual calls, lambdas, operators,
// an anonymous namespace, exceptions with a landing pad, and static initialisation.
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

namespace geometry
{
template <typename T> struct Vec {
    T x, y, z;
    Vec operator+(const Vec &o) const
    {
        return {x + o.x, y + o.y, z + o.z};
    }
    T dot(const Vec &o) const // inlined at -O2
    {
        return x * o.x + y * o.y + z * o.z;
    }
};

// Three levels of inlining: norm <- square <- Vec::dot.
template <typename T> inline T square(const Vec<T> &v)
{
    return v.dot(v); // call:dot
}

template <typename T> __attribute__((noinline)) T norm(const Vec<T> &v) // line:norm
{
    return std::sqrt(square(v)); // call:square
}

class Shape
{
  public:
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

class Disc final : public Shape
{
  public:
    explicit Disc(double radius);
    double area() const override;

  private:
    double radius_;
};

Disc::Disc(double radius) : radius_(radius) // line:Disc
{
    if (radius < 0)
        throw std::invalid_argument("negative radius");
}

double Disc::area() const // line:area
{
    return 3.14159265358979 * radius_ * radius_;
}
} // namespace geometry

namespace
{
struct Noisy {
    ~Noisy() // runs while an exception passes: a cleanup landing pad
    {
        std::puts("unwound");
    }
};

__attribute__((noinline)) double guarded(double r) // line:guarded
{
    Noisy noisy;
    try {
        std::unique_ptr<geometry::Shape> s = std::make_unique<geometry::Disc>(r);
        return s->area();
    } catch (const std::invalid_argument &e) {
        std::puts(e.what());
        return 0;
    }
}

std::vector<double> at_start(8, 1.5); // a dynamic initialiser: _GLOBAL__sub_I_...
} // namespace

template float geometry::norm<float>(const geometry::Vec<float> &);
template double geometry::norm<double>(const geometry::Vec<double> &);

int main() // line:main
{
    double sum = guarded(2) + guarded(-1);
    auto add = [&sum](double x) { sum += x; };
    for (double x : at_start)
        add(x);
    sum += geometry::norm(geometry::Vec<double>{1, 2, 3} + geometry::Vec<double>{0, 1, 0});
    sum += geometry::norm(geometry::Vec<float>{1, 2, 3});
    std::printf("%g\n", sum);
    return 0;
}
