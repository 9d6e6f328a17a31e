/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Each call takes its large work fields fresh from the system and gives them back. All
 * their pages are faulted in again.
 * place: convolve open_work close_work
 * finding: memory_given_back
 * flags: -O3 -g -pthread -march=x86-64-v3
 * libraries: -lm
 * arguments: 11
 * repair: Each thread keeps its work fields from call to call.
 * clock: cpu */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define WORKERS 2
#define SAMPLES 9000000
#define TAPS    5

struct work {
    float *real;
    float *imag;
};

struct job {
    int index;
    int packets;
    float *signal;
    double power;
};

static float *field(size_t n)
{
    float *p = malloc(n * sizeof *p); /* HERE */
    if (!p)
        exit(2);
    return p;
}

static void __attribute__((noinline)) open_work(struct work *w)
{
#ifdef REPAIRED
    static _Thread_local struct work kept;
    if (!kept.real) {
        kept.real = field(SAMPLES);
        kept.imag = field(SAMPLES);
    }
    *w = kept;
#else
    w->real = field(SAMPLES); /* HERE */
    w->imag = field(SAMPLES); /* HERE */
#endif
}

static void __attribute__((noinline)) close_work(struct work *w)
{
#ifndef REPAIRED
    free(w->real); /* HERE */
    free(w->imag); /* HERE */
#endif
    w->real = w->imag = NULL;
}

static void wavelet(float *re, float *im, int packet)
{
    float freq = 0.3f + 0.05f * (float)packet;
    for (int t = 0; t < TAPS; t++) {
        float x = (float)(t - TAPS / 2);
        float g = expf(-0.2f * x * x);
        re[t] = g * cosf(freq * x);
        im[t] = g * sinf(freq * x);
    }
}

static void __attribute__((noinline))
convolve(const float *restrict s, const float *re, const float *im, float *restrict outr,
         float *restrict outi)
{
    for (size_t i = 0; i + TAPS <= SAMPLES; i++) {
        float a = 0.0f, b = 0.0f;
        for (int t = 0; t < TAPS; t++) {
            a += re[t] * s[i + t];
            b += im[t] * s[i + t];
        }
        outr[i] = a; /* HERE */
        outi[i] = b; /* HERE */
    }
}

static double __attribute__((noinline)) power(const float *restrict re, const float *restrict im)
{
    double sum = 0.0;
    for (size_t i = 0; i + TAPS + 64 <= SAMPLES; i += 64) {
        float block[8] = {0};
        for (int k = 0; k < 64; k += 8)
            for (int j = 0; j < 8; j++) {
                float a = re[i + k + j], b = im[i + k + j];
                block[j] += a * a + b * b;
            }
        for (int j = 0; j < 8; j++)
            sum += block[j];
    }
    return sum;
}

static double packet_power(const float *signal, int packet)
{
    struct work w;
    float re[TAPS], im[TAPS];
    wavelet(re, im, packet);
    open_work(&w);
    convolve(signal, re, im, w.real, w.imag);
    double p = power(w.real, w.imag);
    close_work(&w);
    return p;
}

static void *analyse(void *arg)
{
    struct job *j = arg;
    for (int p = 0; p < j->packets; p++)
        j->power += packet_power(j->signal, p * WORKERS + j->index);
    return NULL;
}

int main(int argc, char **argv)
{
    int packets = argc > 1 ? atoi(argv[1]) : 4;
    float *signal = field(SAMPLES);
    pthread_t thread[WORKERS];
    struct job job[WORKERS];
    unsigned s = 99u;

    for (size_t i = 0; i < SAMPLES; i++) {
        s = s * 1664525u + 1013904223u;
        signal[i] = (float)(s >> 16) / 65536.0f - 0.5f;
    }
    for (int i = 0; i < WORKERS; i++) {
        job[i] = (struct job){i, packets, signal, 0.0};
        if (pthread_create(&thread[i], NULL, analyse, &job[i]))
            return 2;
    }
    double sum = 0.0;
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(thread[i], NULL);
        sum += job[i].power;
    }
    printf("wavepacket %.8e\n", sum);
    free(signal);
    return 0;
}
