/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that `assay validate --suite` compiles and runs: what numerical programs do in their
 * innermost loops. The number at the end of a name is how many arrays it walks through; all fit the
 * first level of the cache together. d is positive in three runs of four, k holds indices below
 * 256, s scalars that the compiler does not know. What is stored stays finite for some thousand
 * calls, or is not used.
 */
/* A loop a line, where it fits one. */
/* clang-format off */
#ifndef T
#define T double
#endif
#define SQRT(x) (sizeof(T) == 8 ? (T)__builtin_sqrt((double)(x)) : (T)__builtin_sqrtf((float)(x)))
#define ABS(x)  ((x) < 0 ? -(x) : (x))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define MIN(x, y) ((x) < (y) ? (x) : (y))

#define LOOP(name, ...)                                                                            \
    void name(long n, T *restrict a, const T *restrict b, const T *restrict c,                     \
              const T *restrict d, const int *restrict k, T *restrict s)                           \
    {                                                                                              \
        const T p = s[0], q = s[1], r = s[2];                                                      \
        (void)n, (void)a, (void)b, (void)c, (void)d, (void)k, (void)p, (void)q, (void)r;           \
        __VA_ARGS__                                                                                \
    }
#define EACH    for (long i = 0; i < n; i++)
#define MIDDLE  for (long i = 16; i < n - 16; i++)
#define REVERSE for (long i = n - 1; i >= 0; i--)

/* Vectors */
LOOP(fill_1, EACH a[i] = p;)
LOOP(copy_2, EACH a[i] = b[i];)
LOOP(scale_2, EACH a[i] = p * b[i];)
LOOP(scale_own_1, EACH a[i] *= q;)
LOOP(add_3, EACH a[i] = b[i] + c[i];)
LOOP(multiply_3, EACH a[i] = b[i] * c[i];)
LOOP(subtract_3, EACH a[i] = b[i] - c[i];)
LOOP(triad_3, EACH a[i] = b[i] + p * c[i];)
LOOP(full_triad_4, EACH a[i] = b[i] + c[i] * d[i];)
LOOP(axpy_2, EACH a[i] += p * b[i];)
LOOP(axpby_2, EACH a[i] = q * a[i] + p * b[i];)
LOOP(add_to_2, EACH a[i] += b[i];)
LOOP(linear_2, EACH a[i] = p * b[i] + q;)
LOOP(square_2, EACH a[i] = b[i] * b[i];)
LOOP(cube_2, EACH a[i] = b[i] * b[i] * b[i];)
LOOP(difference_squared_3, EACH a[i] = (b[i] - c[i]) * (b[i] - c[i]);)
LOOP(negate_2, EACH a[i] = -b[i];)
LOOP(absolute_2, EACH a[i] = ABS(d[i]);)
LOOP(mean_3, EACH a[i] = (T)0.5 * (b[i] + c[i]);)
LOOP(blend_3, EACH a[i] = p * b[i] + (1 - p) * c[i];)
LOOP(sum_of_three_4, EACH a[i] = b[i] + c[i] + d[i];)
LOOP(product_of_three_4, EACH a[i] = b[i] * c[i] * d[i];)
LOOP(cross_4, EACH a[i] = b[i] * c[i] - c[i] * d[i];)
LOOP(in_place_sum_4, EACH a[i] = q * a[i] + b[i] * c[i] + d[i];)
LOOP(polynomial3_2, EACH a[i] = ((p * b[i] + q) * b[i] + r) * b[i] + 1;)
LOOP(polynomial6_2, EACH {
    const T x = b[i];
    a[i] = (((((p * x + q) * x + r) * x + p) * x + q) * x + r) * x + 1;
})
LOOP(estrin_2, EACH {
    const T x = b[i], y = x * x;
    a[i] = (p + q * x) + y * ((r + p * x) + y * (q + r * x));
})
LOOP(reversed_copy_2, EACH a[i] = b[n - 1 - i];)
LOOP(backward_add_3, REVERSE a[i] = b[i] + c[i];)
LOOP(arithmetic_heavy_2, EACH {
    const T x = b[i], y = x * p + q, z = y * y - x, w = z * r + y;
    a[i] = w * z + y * x + p * w;
})
LOOP(index_value_1, EACH a[i] = (T)i * p;)
LOOP(two_targets_3, EACH {
    a[i] = b[i] + p;
    s[8 + (i & 7)] = c[i];
})

/* Strides and places */
LOOP(even_3, for (long i = 0; i < n; i += 2) a[i] = b[i] + c[i];)
LOOP(every_fourth_2, for (long i = 0; i < n; i += 4) a[i] = p * b[i];)
LOOP(pairs_sum_2, for (long i = 0; i < n / 2; i++) a[i] = b[2 * i] + b[2 * i + 1];)
LOOP(complex_multiply_3, for (long i = 0; i < n; i += 2) {
    a[i] = b[i] * c[i] - b[i + 1] * c[i + 1];
    a[i + 1] = b[i] * c[i + 1] + b[i + 1] * c[i];
})
LOOP(complex_scale_2, for (long i = 0; i < n; i += 2) {
    a[i] = b[i] * p - b[i + 1] * q;
    a[i + 1] = b[i] * q + b[i + 1] * p;
})
LOOP(complex_norm_2, for (long i = 0; i < n / 2; i++) a[i] =
         b[2 * i] * b[2 * i] + b[2 * i + 1] * b[2 * i + 1];)
LOOP(interleave_3, for (long i = 0; i < n / 2; i++) {
    a[2 * i] = b[i];
    a[2 * i + 1] = c[i];
})
LOOP(swap_pairs_2, for (long i = 0; i < n; i += 2) {
    a[i] = b[i + 1];
    a[i + 1] = b[i];
})
LOOP(points_3d_2, for (long i = 0; i + 2 < n; i += 3) {
    a[i] = p * b[i];
    a[i + 1] = q * b[i + 1];
    a[i + 2] = r * b[i + 2];
})
LOOP(length_3d_2, for (long i = 0; i < n / 4; i++) a[i] =
         b[3 * i] * b[3 * i] + b[3 * i + 1] * b[3 * i + 1] + b[3 * i + 2] * b[3 * i + 2];)

/* Reductions */
LOOP(sum_1, T t = 0; EACH t += b[i]; s[3] = t;)
LOOP(dot_2, T t = 0; EACH t += b[i] * c[i]; s[3] = t;)
LOOP(norm_1, T t = 0; EACH t += b[i] * b[i]; s[3] = t;)
LOOP(distance_2, T t = 0; EACH t += (b[i] - c[i]) * (b[i] - c[i]); s[3] = t;)
LOOP(sum_absolute_1, T t = 0; EACH t += ABS(d[i]); s[3] = t;)
LOOP(weighted_3, T t = 0; EACH t += b[i] * c[i] * d[i]; s[3] = t;)
LOOP(maximum_1, T t = b[0]; EACH t = MAX(t, b[i]); s[3] = t;)
LOOP(minimum_1, T t = b[0]; EACH t = MIN(t, b[i]); s[3] = t;)
LOOP(max_absolute_1, T t = 0; EACH t = MAX(t, ABS(d[i])); s[3] = t;)
LOOP(max_difference_2, T t = 0; EACH t = MAX(t, ABS(b[i] - c[i])); s[3] = t;)
LOOP(product_1, T t = 1; EACH t *= b[i]; s[3] = t;)
LOOP(two_sums_2, T t = 0; T u = 0; EACH {
    t += b[i];
    u += c[i];
} s[3] = t; s[4] = u;)
LOOP(sum_and_squares_1, T t = 0; T u = 0; EACH {
    t += b[i];
    u += b[i] * b[i];
} s[3] = t; s[4] = u;)
LOOP(moments_1, T t = 0; T u = 0; T v = 0; EACH {
    const T x = b[i] - p;
    t += x;
    u += x * x;
    v += x * x * x;
} s[3] = t; s[4] = u; s[5] = v;)
LOOP(four_dots_4, T t = 0; T u = 0; T v = 0; EACH {
    t += b[i] * a[i];
    u += c[i] * a[i];
    v += d[i] * a[i];
} s[3] = t; s[4] = u; s[5] = v;)
LOOP(sum_of_products_plus_2, T t = 0; EACH t += (b[i] + p) * (c[i] + q); s[3] = t;)
LOOP(range_1, T t = b[0]; T u = b[0]; EACH {
    t = MAX(t, b[i]);
    u = MIN(u, b[i]);
} s[3] = t; s[4] = u;)
LOOP(sum_while_stored_2, T t = 0; EACH {
    t += b[i];
    a[i] = b[i] * p;
} s[3] = t;)
LOOP(kahan_1, T t = 0; volatile T zero = 0; T e = zero; EACH {
    const T y = b[i] - e, u = t + y;
    e = (u - t) - y;
    t = u;
} s[3] = t; s[4] = e;)
LOOP(sum_unrolled_1, T t = 0; T u = 0; T v = 0; T w = 0; for (long i = 0; i < n; i += 4) {
    t += b[i];
    u += b[i + 1];
    v += b[i + 2];
    w += b[i + 3];
} s[3] = t + u + v + w;)

/* Recurrences */
LOOP(prefix_sum_2, T t = 0; EACH {
    t += b[i];
    a[i] = t;
})
LOOP(decay_2, T t = 0; EACH {
    t = q * t + b[i];
    a[i] = t;
})
LOOP(exponential_mean_2, T t = b[0]; EACH {
    t += q * (b[i] - t);
    a[i] = t;
})
LOOP(first_order_2, for (long i = 1; i < n; i++) a[i] = q * a[i - 1] + b[i];)
LOOP(first_order_varying_3, for (long i = 1; i < n; i++) a[i] = d[i] * q * a[i - 1] + b[i];)
LOOP(second_order_2, for (long i = 2; i < n; i++) a[i] = q * a[i - 1] - q * a[i - 2] + b[i];)
LOOP(memory_prefix_2, for (long i = 1; i < n; i++) a[i] = a[i - 1] + b[i];)
LOOP(distance_four_2, for (long i = 4; i < n; i++) a[i] = q * a[i - 4] + b[i];)
LOOP(distance_two_2, for (long i = 2; i < n; i++) a[i] = q * a[i - 2] + b[i];)
LOOP(horner_1, T t = 0; EACH t = t * q + b[i]; s[3] = t;)
LOOP(horner_two_1, T t = 0; T u = 0; EACH {
    t = t * q + b[i];
    u = u * t + q;
} s[3] = t; s[4] = u;)
LOOP(biquad_2, T t = 0; T u = 0; EACH {
    const T x = b[i] - q * t - q * u;
    a[i] = p * x + q * t + r * u;
    u = t;
    t = x;
})
LOOP(thomas_forward_3, for (long i = 1; i < n; i++) a[i] = (b[i] - q * a[i - 1]) * c[i];)
LOOP(thomas_backward_2, for (long i = n - 2; i >= 0; i--) a[i] = a[i] * q - b[i] * a[i + 1];)
LOOP(running_maximum_2, T t = b[0]; EACH {
    t = MAX(t, b[i]);
    a[i] = t;
})
LOOP(continued_fraction_1, T t = 1; EACH t = b[i] + 1 / t; s[3] = t;)
LOOP(newton_1, T t = 1; EACH t = (T)0.5 * (t + b[i] / t); s[3] = t;)
LOOP(root_chain_1, T t = 1; EACH t = SQRT(t + b[i]); s[3] = t;)
LOOP(logistic_0, T t = q; EACH t = r * t * (1 - t); s[3] = t;)
LOOP(verlet_1, T x = p; T v = q; EACH {
    x += q * v;
    v -= q * x;
} s[3] = x; s[4] = v;)
LOOP(previous_2, T t = b[0]; EACH {
    a[i] = b[i] - t;
    t = b[i];
})

/* Stencils */
LOOP(three_points_2, MIDDLE a[i] = b[i - 1] + b[i] + b[i + 1];)
LOOP(three_weights_2, MIDDLE a[i] = p * b[i - 1] + q * b[i] + r * b[i + 1];)
LOOP(five_points_2, MIDDLE a[i] = b[i - 2] + b[i - 1] + b[i] + b[i + 1] + b[i + 2];)
LOOP(five_weights_2, MIDDLE a[i] =
         p * (b[i - 2] + b[i + 2]) + q * (b[i - 1] + b[i + 1]) + r * b[i];)
LOOP(nine_points_2, MIDDLE a[i] = b[i - 4] + b[i - 3] + b[i - 2] + b[i - 1] + b[i] + b[i + 1] +
         b[i + 2] + b[i + 3] + b[i + 4];)
LOOP(forward_difference_2, MIDDLE a[i] = b[i + 1] - b[i];)
LOOP(central_difference_2, MIDDLE a[i] = p * (b[i + 1] - b[i - 1]);)
LOOP(second_difference_2, MIDDLE a[i] = b[i + 1] - 2 * b[i] + b[i - 1];)
LOOP(heat_2, MIDDLE a[i] = b[i] + q * (b[i + 1] - 2 * b[i] + b[i - 1]);)
LOOP(upwind_3, MIDDLE a[i] = b[i] - q * (c[i + 1] * b[i] - c[i] * b[i - 1]);)
LOOP(plane_five_4, MIDDLE a[i] = p * b[i] + q * (b[i - 1] + b[i + 1] + c[i] + d[i]);)
LOOP(plane_nine_4, MIDDLE a[i] = p * b[i] + q * (b[i - 1] + b[i + 1] + c[i] + d[i]) +
         r * (c[i - 1] + c[i + 1] + d[i - 1] + d[i + 1]);)
LOOP(wave_2, MIDDLE a[i] = 2 * b[i] - a[i] + q * (b[i + 1] - 2 * b[i] + b[i - 1]);)
LOOP(fir4_2, MIDDLE a[i] = p * b[i] + q * b[i + 1] + r * b[i + 2] + p * b[i + 3];)
LOOP(gauss_seidel_2, MIDDLE a[i] = q * (a[i - 1] + a[i + 1]) + b[i];)
LOOP(flux_3, MIDDLE a[i] += (b[i + 1] + b[i]) * (c[i + 1] - c[i]) -
         (b[i] + b[i - 1]) * (c[i] - c[i - 1]);)

/* Gathers */
LOOP(gather_3, EACH a[i] = b[k[i]];)
LOOP(gather_sum_2, T t = 0; EACH t += b[k[i]]; s[3] = t;)
LOOP(gather_dot_3, T t = 0; EACH t += b[k[i]] * c[i]; s[3] = t;)
LOOP(gather_axpy_3, EACH a[i] += p * b[k[i]];)
LOOP(gather_two_4, EACH a[i] = b[k[i]] + c[k[i]];)
LOOP(scatter_3, EACH a[k[i]] = b[i];)
LOOP(histogram_3, EACH a[k[i]] += b[i];)
LOOP(permuted_scale_3, EACH a[i] = b[k[i]] * c[i];)
LOOP(neighbours_3, EACH a[i] = b[k[i]] + b[k[i] + 1];)

/* Conversions */
LOOP(from_int_2, EACH a[i] = (T)k[i];)
LOOP(from_int_scaled_2, EACH a[i] = p * (T)k[i];)
LOOP(sum_of_ints_1, T t = 0; EACH t += (T)k[i]; s[3] = t;)
LOOP(dot_with_ints_2, T t = 0; EACH t += (T)k[i] * b[i]; s[3] = t;)
LOOP(truncate_2, EACH a[i] = (T)(int)b[i];)
LOOP(fraction_2, EACH a[i] = b[i] - (T)(int)b[i];)
LOOP(narrow_2, float *f = (float *)a; EACH f[i] = (float)b[i];)
LOOP(widen_2, const float *f = (const float *)b; EACH a[i] = (T)f[i];)
LOOP(widen_sum_1, const float *f = (const float *)b; double t = 0; EACH t += (double)f[i];
     s[3] = (T)t;)
LOOP(bytes_2, const unsigned char *f = (const unsigned char *)k; EACH a[i] = (T)f[i];)
LOOP(to_int_2, int *f = (int *)a; EACH f[i] = (int)(b[i] * p);)

/* Conditionals */
LOOP(relu_2, EACH a[i] = d[i] > 0 ? d[i] : 0;)
LOOP(leaky_2, EACH a[i] = d[i] > 0 ? d[i] : p * d[i];)
LOOP(clamp_2, EACH a[i] = MIN(MAX(b[i], p), q);)
LOOP(select_4, EACH a[i] = d[i] > 0 ? b[i] : c[i];)
LOOP(threshold_2, EACH a[i] = b[i] > p ? 1 : 0;)
LOOP(sum_positive_1, T t = 0; EACH if (d[i] > 0) t += d[i]; s[3] = t;)
LOOP(count_positive_1, long t = 0; EACH t += d[i] > 0; s[3] = (T)t;)
LOOP(masked_add_4, EACH if (d[i] > 0) a[i] = b[i] + c[i];)
LOOP(masked_in_place_3, EACH if (d[i] > 0) a[i] += b[i];)
LOOP(sign_2, EACH a[i] = d[i] > 0 ? 1 : -1;)
LOOP(larger_3, EACH a[i] = MAX(b[i], c[i]);)
LOOP(limiter_3, EACH a[i] = b[i] * c[i] > 0 ? MIN(ABS(b[i]), ABS(c[i])) : 0;)
LOOP(two_ways_3, EACH if (d[i] > 0) a[i] = b[i] * p; else a[i] = b[i] + q;)

/* Division, square roots */
LOOP(divide_3, EACH a[i] = b[i] / c[i];)
LOOP(reciprocal_2, EACH a[i] = 1 / b[i];)
LOOP(divide_by_scalar_2, EACH a[i] = b[i] / p;)
LOOP(divide_sum_2, T t = 0; EACH t += b[i] / c[i]; s[3] = t;)
LOOP(root_2, EACH a[i] = SQRT(b[i]);)
LOOP(hypotenuse_3, EACH a[i] = SQRT(b[i] * b[i] + c[i] * c[i]);)
LOOP(inverse_root_2, EACH a[i] = 1 / SQRT(b[i]);)
LOOP(normalise_3, EACH a[i] = b[i] / SQRT(b[i] * b[i] + c[i] * c[i]);)
LOOP(rational_2, EACH a[i] = (p * b[i] + q) / (r * b[i] + 1);)
LOOP(gravity_3, T t = 0; EACH {
    const T x = b[i] - p, y = c[i] - q, u = x * x + y * y + 1;
    t += x / (u * SQRT(u));
} s[3] = t;)
LOOP(lennard_jones_1, T t = 0; EACH {
    const T u = 1 / (b[i] * b[i]), v = u * u * u;
    t += v * (v - 1);
} s[3] = t;)
