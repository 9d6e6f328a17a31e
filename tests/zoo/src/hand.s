# SPDX-License-Identifier: Apache-2.0
# Assembly with line information: a function with a size, one without, and a jump into the next.
        .text
        .globl  hand_add
        .type   hand_add, @function
hand_add:
        lea     (%rdi,%rsi), %rax
        jmp     hand_tail
        .size   hand_add, .-hand_add
        .globl  hand_tail
        .type   hand_tail, @function
hand_tail:
        add     $1, %rax
        ret
        .section .note.GNU-stack,"",@progbits
