/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrences: each iteration needs what the one before computed. */

void recurrence_first(double *restrict a, const double *restrict b, const double *restrict c,
                      long n)
{
    for (long i = 1; i < n; i++) /* loop f64: chain */
        a[i] = a[i - 1] * b[i] + c[i];
}

void recurrence_scalar(double *restrict a, const double *restrict b, double x, long n)
{
    for (long i = 0; i < n; i++) { /* loop f64: chain */
        x = x * 0.5 + b[i];
        a[i] = x;
    }
}

double recurrence_horner(const double *restrict a, double x, long n)
{
    double y = 0.0;
    for (long i = 0; i < n; i++) /* loop f64: chain */
        y = y * x + a[i];
    return y;
}

void recurrence_prefix(int *restrict a, const int *restrict b, long n)
{
    int s = 0;
    for (long i = 0; i < n; i++) { /* loop i32: chain */
        s += b[i];
        a[i] = s;
    }
}

void recurrence_prefix_max(double *restrict a, const double *restrict b, long n)
{
    double m = b[0];
    for (long i = 0; i < n; i++) { /* loop f64: chain */
        m = b[i] > m ? b[i] : m;
        a[i] = m;
    }
}

void recurrence_second(double *restrict a, const double *restrict b, long n)
{
    for (long i = 2; i < n; i++) /* loop f64: chain */
        a[i] = 0.3 * a[i - 1] + 0.6 * a[i - 2] + b[i];
}

void recurrence_divide(double *restrict a, const double *restrict b, long n)
{
    for (long i = 1; i < n; i++) /* loop f64: chain */
        a[i] = b[i] / (2.0 - a[i - 1]);
}

unsigned recurrence_hash(const unsigned char *a, long n)
{
    unsigned h = 5381;
    for (long i = 0; i < n; i++) /* loop i32: chain */
        h = (h << 5) + h + a[i];
    return h;
}

void recurrence_random(unsigned *restrict a, unsigned x, long n)
{
    for (long i = 0; i < n; i++) { /* loop i32: chain */
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        a[i] = x;
    }
}

void recurrence_coupled(double *restrict a, double x, double y, long n)
{
    for (long i = 0; i < n; i++) { /* loop f64: chain */
        double t = x * 0.8 - y * 0.6;
        y = x * 0.6 + y * 0.8;
        x = t;
        a[i] = x;
    }
}

void recurrence_filter(float *restrict a, const float *restrict b, float k, long n)
{
    float y = 0.0f;
    for (long i = 0; i < n; i++) { /* loop f32: chain */
        y += k * (b[i] - y);
        a[i] = y;
    }
}

void recurrence_column(double *restrict a, const double *restrict b, long lead, long n)
{
    for (long i = 1; i < n; i++) /* loop f64: chain */
        a[i * lead] = a[(i - 1) * lead] * b[i] + 1.0;
}

struct recurrence_node {
    struct recurrence_node *next;
    double value;
};

double recurrence_list(const struct recurrence_node *at)
{
    double s = 0.0;
    for (; at; at = at->next) /* loop f64: chain exits */
        s += at->value;
    return s;
}
