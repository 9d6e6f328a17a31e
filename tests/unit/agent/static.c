/* SPDX-License-Identifier: Apache-2.0 */
/* A program that nothing can be preloaded into. */
int main(void)
{
    return 0;
}
