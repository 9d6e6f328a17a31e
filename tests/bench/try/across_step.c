/* SPDX-License-Identifier: Apache-2.0 */
/* Of across.c. */
unsigned step(unsigned x);

unsigned step(unsigned x)
{
    return (x << 3) ^ (x + 5);
}
