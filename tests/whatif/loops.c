/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops of which another form exists, for tests/whatif/truth.py. A comment `pair NAME: VARIANT`
 * says what `assay cqa` is asked of NAME. Without `to OTHER` the other form is the same loop
 * compiled for whole vectors; with it, OTHER compiled as NAME is. VARIANT `forms`: how many times
 * as fast OTHER is by the cycles of both.
 */
#include <immintrin.h>
#include <math.h>

#ifndef FORM
#define FORM(name) name
#endif
#define ARGS(T)                                                                                    \
    T *restrict x, const T *restrict y, const T *restrict z, const int *restrict k, long n
#define EACH for (long i = 0; i < n; i++)
#define LOOP(name, T, body)                                                                        \
    double FORM(name)(ARGS(T))                                                                     \
    {                                                                                              \
        (void)y, (void)z, (void)k;                                                                 \
        EACH body;                                                                                 \
        return x[0];                                                                               \
    }
#define FOLD(name, T, first, body)                                                                 \
    double FORM(name)(ARGS(T))                                                                     \
    {                                                                                              \
        T s = first;                                                                               \
        (void)x, (void)y, (void)z, (void)k;                                                        \
        EACH body;                                                                                 \
        return (double)s;                                                                          \
    }

/* ---- Scalar and vectorised ----------------------------------------------------------------- */

LOOP(axpy64, double, x[i] += 1.5 * y[i])                       /* pair axpy64: vector */
LOOP(axpy32, float, x[i] += 1.5f * y[i])                       /* pair axpy32: vector */
LOOP(add64, double, x[i] = y[i] + z[i])                        /* pair add64: vector */
LOOP(triad32, float, x[i] = y[i] + 1.5f * z[i])                /* pair triad32: vector */
LOOP(scale64, double, x[i] = 1.5 * y[i])                       /* pair scale64: vector */
LOOP(divide64, double, x[i] = y[i] / z[i])                     /* pair divide64: vector */
LOOP(divide32, float, x[i] = y[i] / z[i])                      /* pair divide32: vector */
LOOP(root64, double, x[i] = sqrt(y[i]))                        /* pair root64: vector */
LOOP(root32, float, x[i] = sqrtf(y[i]))                        /* pair root32: vector */
LOOP(length32, float, x[i] = sqrtf(y[i] * y[i] + z[i] * z[i])) /* pair length32: vector */
LOOP(cubic64, double,                                          /* pair cubic64: vector */
     x[i] = ((y[i] * 1.5 + 2.5) * y[i] + 3.5) * y[i] + 4.5)
LOOP(greater64, double, x[i] = y[i] > z[i] ? y[i] : z[i])     /* pair greater64: vector */
LOOP(add_i32, int, x[i] = y[i] + z[i])                        /* pair add_i32: vector */
LOOP(multiply_i32, int, x[i] = y[i] * z[i] + 7)               /* pair multiply_i32: vector */
LOOP(bits_i32, int, x[i] = (y[i] ^ z[i]) & 0xff0f)            /* pair bits_i32: vector */
LOOP(add_i64, long, x[i] = y[i] + 2 * z[i])                   /* pair add_i64: vector */
FOLD(sum64, double, 0, s += y[i])                             /* pair sum64: vector */
FOLD(sum32, float, 0, s += y[i])                              /* pair sum32: vector */
FOLD(dot64, double, 0, s += y[i] * z[i])                      /* pair dot64: vector */
FOLD(dot32, float, 0, s += y[i] * z[i])                       /* pair dot32: vector */
FOLD(product64, double, 1, s *= y[i])                         /* pair product64: vector */
FOLD(most64, double, 0, s = y[i] > s ? y[i] : s)              /* pair most64: vector */
FOLD(sum_i32, int, 0, s += y[i])                              /* pair sum_i32: vector */
FOLD(sum_i64, long, 0, s += y[i])                             /* pair sum_i64: vector */
FOLD(squares32, float, 0, s += (y[i] - 0.5f) * (y[i] - 0.5f)) /* pair squares32: vector */
FOLD(distance64, double, 0, s += fabs(y[i] - z[i]))           /* pair distance64: vector */
FOLD(roots64, double, 0, s += sqrt(y[i]))                     /* pair roots64: vector */
FOLD(quotients64, double, 0, s += y[i] / z[i])                /* pair quotients64: vector */
LOOP(inverse32, float, x[i] = 1.5f / y[i])                    /* pair inverse32: vector */
LOOP(scale32, float, x[i] = 1.5f * y[i])                      /* pair scale32: vector */
LOOP(shift_i32, int, x[i] = y[i] * 8 + 5)                     /* pair shift_i32: vector */
FOLD(gather64, double, 0, s += y[k[i]])                       /* pair gather64: vector to parts64 */
LOOP(gather32, float, x[i] = 1.5f * y[k[i]])                  /* pair gather32: vector to parts32 */
LOOP(strided64, double, x[i] = 1.5 * y[3 * i]) /* pair strided64: vector to holes64 */

/* Compilers treat indices and holes differently: these vectors are put together by hand. */
#define AT8(f, i)  f(i + 7), f(i + 6), f(i + 5), f(i + 4), f(i + 3), f(i + 2), f(i + 1), f(i)
#define AT16(f, i) AT8(f, i + 8), AT8(f, i)
#define INDEXED(i) y[k[i]]
#define HOLES(i)   y[3 * (i)]
double FORM(parts64)(ARGS(double))
{
    __m512d s = _mm512_setzero_pd();
    (void)x, (void)z;
    for (long i = 0; i < n; i += 8)
        s = _mm512_add_pd(s, _mm512_set_pd(AT8(INDEXED, i)));
    return _mm512_reduce_add_pd(s);
}
double FORM(parts32)(ARGS(float))
{
    (void)z;
    for (long i = 0; i < n; i += 16)
        _mm512_storeu_ps(x + i,
                         _mm512_mul_ps(_mm512_set1_ps(1.5f), _mm512_set_ps(AT16(INDEXED, i))));
    return (double)x[0];
}
double FORM(holes64)(ARGS(double))
{
    (void)z, (void)k;
    for (long i = 0; i < n; i += 8)
        _mm512_storeu_pd(x + i, _mm512_mul_pd(_mm512_set1_pd(1.5), _mm512_set_pd(AT8(HOLES, i))));
    return x[0];
}

/* ---- The same work without a dependence, or without address arithmetic --------------------- */

#define FOLD_IN_ORDER(name, op, a, b, c, d, e, f, g, h)                                            \
    double FORM(name)(ARGS(double))                                                                \
    {                                                                                              \
        double s[8] = {1, 1, 1, 1, 1, 1, 1, 1};                                                    \
        (void)x, (void)z, (void)k;                                                                 \
        for (long i = 0; i < n; i += 8) {                                                          \
            s[a] op y[i], s[b] op y[i + 1], s[c] op y[i + 2], s[d] op y[i + 3];                    \
            s[e] op y[i + 4], s[f] op y[i + 5], s[g] op y[i + 6], s[h] op y[i + 7];                \
        }                                                                                          \
        return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];                              \
    }

FOLD_IN_ORDER(chain_sum, +=, 0, 0, 0, 0, 0, 0, 0, 0) /* pair chain_sum: independent to free_sum */
FOLD_IN_ORDER(free_sum, +=, 0, 1, 2, 3, 4, 5, 6, 7)
/* pair chain_product: independent to free_product */
FOLD_IN_ORDER(chain_product, *=, 0, 0, 0, 0, 0, 0, 0, 0)
FOLD_IN_ORDER(free_product, *=, 0, 1, 2, 3, 4, 5, 6, 7)
/* pair recurrence: independent to no_recurrence */
double FORM(recurrence)(ARGS(double))
{
    double s = 0;
    (void)z, (void)k;
    EACH x[i] = s = y[i] - 0.5 * s;
    return s;
}
LOOP(no_recurrence, double, x[i] = y[i] - 0.5 * z[i])

struct holder {
    double *volatile x, *volatile y, *volatile z; /* read anew whenever they are wanted */
};
/* pair pointers: clean to no_pointers */
double FORM(pointers)(struct holder *h, const double *y, const double *z, const int *k, long n)
{
    (void)y, (void)z, (void)k;
    EACH h->x[i] = h->y[i] + h->z[i];
    return 0;
}
double FORM(no_pointers)(struct holder *h, const double *y, const double *z, const int *k, long n)
{
    double *restrict to = h->x;
    const double *restrict one = h->y, *restrict other = h->z;
    (void)y, (void)z, (void)k;
    EACH to[i] = one[i] + other[i];
    return 0;
}

/* ---- Other instructions -------------------------------------------------------------------- */

/* pair quotient: forms to by_reciprocal */
LOOP(quotient, double, x[i] = y[i] / 1.7)
LOOP(by_reciprocal, double, x[i] = y[i] * (1 / 1.7))
/* pair quotient32: forms to by_reciprocal32 */
LOOP(quotient32, float, x[i] = y[i] / 1.7f)
LOOP(by_reciprocal32, float, x[i] = y[i] * (1 / 1.7f))
/* pair indexed: forms to in_order */
LOOP(indexed, double, x[i] = y[k[i]] + z[k[i]])
LOOP(in_order, double, x[i] = y[i] + z[i])
