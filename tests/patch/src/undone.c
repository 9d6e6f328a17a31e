/* SPDX-License-Identifier: Apache-2.0 */
/* Its code is looked at while it runs and at its end. */
#include <stdio.h>

void witness(void);

__attribute__((noinline)) static long mix(long n)
{
    long s = 1;
    for (long i = 0; i < n; i++)
        s = s * 5 ^ i;
    return s;
}

/* The jump over its header stands in two pieces. */
long hopped(long n);
__asm__(".text\n.globl hopped\n.type hopped, @function\nhopped:\n    xor %eax, %eax\n    jmp 1f\n"
        "2:  lea 3(%rax,%rax,2), %rax\n    add $1000, %rax\n"
        "1:  dec %edi\n    jns 2b\n    call 3f\n    add $1000, %rax\n    ret\n"
        "3:  lea 1(%rax), %rax\n    ret\n.size hopped, . - hopped\n");

int main(void)
{
    printf("%ld\n", mix(100) + hopped(10));
    witness();
    return 0;
}
