/* SPDX-License-Identifier: Apache-2.0 */
/* cause: A control loop sleeps until its next period by intent.
 * place: run_control wait_for_period
 * finding: nothing
 * false: waiting processors_idle lock_contention input_output system_calls kernel_time
 * false: parallel_overhead load_imbalance
 * flags: -O2 -g
 * libraries: -lm
 * arguments: 150 10
 * naive: The loop asks the clock again and again in place of the sleep.
 * clock: wall */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct plant {
    double temperature, heating, integral;
};

static double measure(const struct plant *plant, int period)
{
    double sum = 0;

    for (int i = 1; i <= 20000; i++)
        sum += sin(plant->temperature + i * 0.001) / i;
    return plant->temperature + 0.01 * sum + 0.1 * (period % 3 - 1);
}

static void control(struct plant *plant, double measured)
{
    double error = 60 - measured;

    plant->integral += 0.02 * error;
    plant->heating = 0.5 * error + plant->integral;
    plant->temperature += 0.1 * (plant->heating - 0.2 * (plant->temperature - 20));
}

/* Sleeps until the next period; the clock decides, so that delays do not add up. */
static void wait_for_period(struct timespec *next, long period_ms)
{
    next->tv_nsec += period_ms * 1000000;
    if (next->tv_nsec >= 1000000000) {
        next->tv_nsec -= 1000000000;
        next->tv_sec++;
    }
#ifdef NAIVE
    struct timespec now;

    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec < next->tv_sec ||
           (now.tv_sec == next->tv_sec && now.tv_nsec < next->tv_nsec));
#else
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL) == EINTR) /* HERE */
        continue;
#endif
}

static void run_control(struct plant *plant, int period_n, long period_ms)
{
    struct timespec next;

    clock_gettime(CLOCK_MONOTONIC, &next);
    for (int period = 0; period < period_n; period++) {
        control(plant, measure(plant, period));
        wait_for_period(&next, period_ms);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    struct plant plant = {20, 0, 0};

    run_control(&plant, atoi(argv[1]), atol(argv[2]));
    printf("checksum %.9f\n", plant.temperature);
    return 0;
}
