/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Each evaluation of the model allocates and releases vectors of a few elements.
 * place: activate combine evaluate
 * finding: memory_management
 * false: memory_given_back page_faults copying memory_latency
 * flags: -O2 -g
 * arguments: 2500000
 * repair: The vectors belong to the model and are used again.
 * clock: cpu */
#include <cstdio>
#include <cstdlib>
#include <vector>

using Values = std::vector<double>;

struct Layer {
    Values weights;
    size_t input_n, output_n;
};

#ifdef REPAIRED
static void combine(const Layer &layer, const Values &input, Values &output)
{
    output.assign(layer.output_n, 0.0);
#else
static Values combine(const Layer &layer, const Values &input)
{
    Values output(layer.output_n); /* HERE */
#endif
    for (size_t o = 0; o < layer.output_n; o++)
        for (size_t i = 0; i < layer.input_n; i++)
            output[o] += layer.weights[o * layer.input_n + i] * input[i];
#ifndef REPAIRED
    return output;
#endif
}

#ifdef REPAIRED
static void activate(Values &values)
{
    for (double &value : values)
        value = value > 0 ? value : 0.1 * value;
}
#else
static Values activate(const Values &values)
{
    Values result; /* HERE */

    for (double value : values)
        result.push_back(value > 0 ? value : 0.1 * value); /* HERE */
    return result;
}
#endif

static double evaluate(const std::vector<Layer> &layers, double first, double second)
{
#ifdef REPAIRED
    static Values values, output;

    values.assign({first, second});
    for (const Layer &layer : layers) {
        combine(layer, values, output);
        activate(output);
        values.swap(output);
    }
#else
    Values values = {first, second};

    for (const Layer &layer : layers)
        values = activate(combine(layer, values)); /* HERE */
#endif
    return values[0];
}

static Layer layer_of(size_t input_n, size_t output_n)
{
    Layer layer = {Values(input_n * output_n), input_n, output_n};

    for (size_t i = 0; i < layer.weights.size(); i++)
        layer.weights[i] = 0.25 * (static_cast<double>(i % 7) - 3);
    return layer;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    std::vector<Layer> layers = {layer_of(2, 4), layer_of(4, 4), layer_of(4, 4), layer_of(4, 1)};
    double checksum = 0;

    for (long i = 0; i < atol(argv[1]); i++)
        checksum += evaluate(layers, i % 10, i % 3);
    printf("checksum %.6f\n", checksum);
}
