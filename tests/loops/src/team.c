/* SPDX-License-Identifier: Apache-2.0 */
/* Parallel loops of OpenMP: their bodies are outlined; OUTLINED names the function they stand in.
 */
volatile double sink;

__attribute__((noinline)) void scale(double *x, int n) /* OUTLINED scale 1 */
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = x[i] * 3 + 1;
}

__attribute__((noinline)) double sum(const double *x, int n) /* OUTLINED sum 1 */
{
    double s = 0;
#pragma omp parallel for reduction(+ : s) schedule(dynamic, 4)
    for (int i = 0; i < n; i++)
        s += x[i];
    return s;
}

__attribute__((noinline)) void rows(double *x, int n) /* OUTLINED rows 1 */
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                x[i * n + j] += i - j;
#pragma omp single
        sink = x[0];
    }
}

int main(void)
{
    static double x[64];
    scale(x, 64);
    rows(x, 8);
    sink = sum(x, 64);
    return 0;
}
