/* SPDX-License-Identifier: Apache-2.0 */
/* cause: A virtual call for each of many small objects of mixed types is mispredicted.
 * place: total_area area Circle Square Triangle Ring
 * finding: calls_in_loop scalar_calls pointer_calls
 * words: (?i)virtual|call
 * false: memory_bandwidth scalar_chain scalar_gather
 * flags: -O2 -g
 * arguments: 4000 40000
 * repair: Shapes of one type lie in one array, and their function is inlined.
 * clock: cpu */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <tuple>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
    double size = 1;
};

struct Circle final : Shape {
    double area() const override
    {
        return 3 * size * size;
    }
};

struct Square final : Shape {
    double area() const override
    {
        return size * size;
    }
};

struct Triangle final : Shape {
    double area() const override
    {
        return 0.5 * size * size;
    }
};

struct Ring final : Shape {
    double area() const override
    {
        return 3 * (size * size - 0.25);
    }
};

class Scene
{
  public:
    void add(unsigned kind, double size)
    {
#ifdef REPAIRED
        switch (kind) {
        case 0:
            return put(std::get<0>(shapes), size);
        case 1:
            return put(std::get<1>(shapes), size);
        case 2:
            return put(std::get<2>(shapes), size);
        default:
            return put(std::get<3>(shapes), size);
        }
#else
        std::unique_ptr<Shape> shape;
        if (kind == 0)
            shape = std::make_unique<Circle>();
        else if (kind == 1)
            shape = std::make_unique<Square>();
        else if (kind == 2)
            shape = std::make_unique<Triangle>();
        else
            shape = std::make_unique<Ring>();
        shape->size = size;
        shapes.push_back(std::move(shape));
#endif
    }

    double total_area() const
    {
#ifdef REPAIRED
        return std::apply([](const auto &...of) { return (sum(of) + ...); }, shapes);
#else
        double total = 0;
        for (const auto &shape : shapes) /* HERE */
            total += shape->area();      /* HERE */
        return total;
#endif
    }

  private:
#ifdef REPAIRED
    template <class T> static void put(std::vector<T> &to, double size)
    {
        to.emplace_back();
        to.back().size = size;
    }
    template <class T> static double sum(const std::vector<T> &of)
    {
        double total = 0;
        for (const T &shape : of)
            total += shape.area();
        return total;
    }
    std::tuple<std::vector<Circle>, std::vector<Square>, std::vector<Triangle>, std::vector<Ring>>
        shapes;
#else
    std::vector<std::unique_ptr<Shape>> shapes;
#endif
};

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    Scene scene;
    unsigned state = 99;
    double checksum = 0;

    for (int i = 0; i < atoi(argv[1]); i++) {
        state = state * 1664525u + 1013904223u;
        scene.add(state >> 30, 1 + (state >> 20) % 16);
    }
    for (int round = 0; round < atoi(argv[2]); round++)
        checksum += scene.total_area();
    printf("checksum %.0f\n", checksum);
}
