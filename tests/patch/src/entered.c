/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions in assembly that share an end, as string functions of C libraries do: one jumps behind
 * the first instruction of the other, where the bytes of a jump over its entry would lie; one into
 * its loop.
 */
#include <stdio.h>

__asm__(".text\n"
        ".globl sum\n.type sum, @function\n"
        "sum:\n"
        "    mov %rdi, %rax\n"
        "1:  cmp $64, %rsi\n"
        "    jb 3f\n"
        "2:  add %rsi, %rax\n"
        "3:  lea 3(%rax), %rax\n"
        "    sub $1, %rsi\n"
        "    ja 2b\n"
        "    ret\n"
        ".size sum, . - sum\n"
        ".globl sum_twice\n.type sum_twice, @function\n"
        "sum_twice:\n"
        "    lea (%rdi, %rdi), %rax\n"
        "    jmp 1b\n"
        ".size sum_twice, . - sum_twice\n"
        ".globl sum_rest\n.type sum_rest, @function\n"
        "sum_rest:\n"
        "    lea 5(%rdi), %rax\n"
        "    jmp 3b\n"
        ".size sum_rest, . - sum_rest\n");
unsigned long sum(unsigned long start, unsigned long n);
unsigned long sum_twice(unsigned long start, unsigned long n);
unsigned long sum_rest(unsigned long start, unsigned long n);

/* A loop of a few blocks, which is not entered so. */
__attribute__((noinline)) static unsigned long steps(unsigned long n)
{
    unsigned long k = 0;
    for (; n != 1; k++) {
        if (n % 2)
            n = 3 * n + 1;
        else if (n % 4)
            n /= 2;
        else
            n /= 4;
    }
    return k;
}

int main(void)
{
    unsigned long all = 0;
    for (unsigned long i = 1; i < 200; i++)
        all = all * 31 + sum(i, i) + sum_twice(i, 3 * i) + sum_rest(all, 7);
    printf("%lu %lu\n", all, steps(97));
    return 0;
}
