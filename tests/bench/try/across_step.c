/* SPDX-License-Identifier: Apache-2.0 */
/* The second source of across.c. */
unsigned step(unsigned x);

unsigned step(unsigned x)
{
    return (x << 3) ^ (x + 5);
}
