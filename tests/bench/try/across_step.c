/* SPDX-License-Identifier: Apache-2.0 */
/* Of across.c. */
double step(double x, double y)
{
    return 0.5 * x + y;
}
