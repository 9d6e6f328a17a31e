/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Each pixel is divided by numbers that are the same for the whole image.
 * place: calibrate
 * finding: divisions divider
 * false: memory_bandwidth cache_bandwidth memory_pace
 * flags: -O2 -g
 * arguments: 20000 2500
 * repair: The loop multiplies by reciprocals that are computed once.
 * clock: cpu */
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Camera {
    double exposure, gain, well_depth;
};

class Frame
{
  public:
    explicit Frame(long n) : raw(n), light(n), filling(n)
    {
    }

    void expose(int shot)
    {
        for (size_t i = 0; i < raw.size(); i++)
            raw[i] = static_cast<double>((i * 37 + shot) % 4096);
    }

    void calibrate(const Camera &camera);
    double brightness() const;

  private:
    std::vector<double> raw, light, filling;
};

void Frame::calibrate(const Camera &camera)
{
    const size_t n = raw.size();
    const double dark = 3.0 * camera.exposure;
#ifdef REPAIRED
    const double per_light = 1 / (camera.exposure * camera.gain);
    const double per_depth = 1 / camera.well_depth;
#endif

    for (size_t i = 0; i < n; i++) { /* HERE */
#ifdef REPAIRED
        light[i] = (raw[i] - dark) * per_light;
        filling[i] = raw[i] * per_depth;
#else
        light[i] = (raw[i] - dark) / (camera.exposure * camera.gain); /* HERE */
        filling[i] = raw[i] / camera.well_depth;                      /* HERE */
#endif
    }
}

double Frame::brightness() const
{
    double sum = 0;

    for (size_t i = 0; i < light.size(); i += 97)
        sum += light[i] * (1 - filling[i]);
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    Frame frame(atol(argv[1]));
    double checksum = 0;

    for (int shot = 0; shot < 8; shot++) {
        Camera camera = {0.02 * (shot + 1), 1.7, 40000};

        frame.expose(shot);
        for (int round = 0; round < atoi(argv[2]); round++) {
            camera.gain += 1e-6;
            frame.calibrate(camera);
            checksum += frame.brightness();
        }
    }
    printf("checksum %.5e\n", checksum);
}
