/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The sum of charges uses 8 of the 128 bytes of each particle.
 * place: total_charge count_charged Plasma
 * finding: array_access strided_walk
 * false: scalar_chain scalar_arithmetic memory_bandwidth
 * flags: -O2 -g
 * arguments: 400000 150
 * repair: The charges have an array of their own.
 * clock: cpu */
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Particle {
    double position[3], velocity[3], field[3], moment[3];
    double mass, charge, lifetime;
    long id;
};

class Plasma
{
  public:
    explicit Plasma(long n) : particles(n), charges(n)
    {
        for (long i = 0; i < n; i++) {
            particles[i].velocity[i % 3] = i % 7;
            particles[i].mass = 1 + i % 3;
            particles[i].id = i;
            set_charge(i, i % 5 - 2);
        }
    }

    __attribute__((noinline)) double total_charge() const
    {
        double sum = 0;

        for (size_t i = 0; i < particles.size(); i++) /* HERE */
            sum += charge_of(i);                      /* HERE */
        return sum;
    }

    __attribute__((noinline)) long count_charged(double from) const
    {
        long n = 0;

        for (size_t i = 0; i < particles.size(); i++) /* HERE */
            n += charge_of(i) >= from;                /* HERE */
        return n;
    }

    void ionise(long first, long step)
    {
        for (size_t i = first; i < particles.size(); i += step) {
            set_charge(i, charge_of(i) + 1);
            particles[i].velocity[0] += 0.5;
        }
    }

    double momentum() const
    {
        double sum = 0;

        for (const Particle &one : particles)
            sum += one.mass * one.velocity[0];
        return sum;
    }

  private:
#ifdef REPAIRED
    double charge_of(size_t i) const
    {
        return charges[i];
    }
    void set_charge(size_t i, double charge)
    {
        charges[i] = charge;
    }
#else
    double charge_of(size_t i) const
    {
        return particles[i].charge;
    }
    void set_charge(size_t i, double charge)
    {
        particles[i].charge = charge;
    }
#endif

    std::vector<Particle> particles;
    std::vector<double> charges;
};

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    Plasma plasma(atol(argv[1]));
    double checksum = 0;

    for (int step = 0; step < atoi(argv[2]); step++) {
        checksum += plasma.total_charge() + plasma.count_charged(1);
        plasma.ionise(step, 1000);
    }
    printf("checksum %.3f\n", checksum + plasma.momentum());
}
