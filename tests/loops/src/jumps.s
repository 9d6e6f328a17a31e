# SPDX-License-Identifier: Apache-2.0
# Control flow that compilers do not make, known because it is written here.
#   LOOPS function loops irreducible
        .text
        .globl  main
        .type   main, @function
main:
        push    %rbx
        mov     $7, %edi
        call    two_entries
        mov     $8, %edi
        call    two_entries
        mov     $5, %edi
        call    padded
        mov     $3, %edi
        call    overlapping
        xor     %ebx, %ebx
1:      mov     %ebx, %edi
        call    by_table
        inc     %ebx
        cmp     $6, %ebx
        jne     1b
        mov     $4, %edi
        call    knotted
        mov     $4, %edi
        call    self
        xor     %eax, %eax
        pop     %rbx
        ret
        .size   main, . - main

# A loop with two entries: no block of it dominates the others.
# LOOPS two_entries 1 1
        .p2align 4
        .globl  two_entries
        .type   two_entries, @function
two_entries:
        mov     %edi, %eax
        test    $1, %al
        jne     3f
2:      dec     %eax
        js      4f
3:      dec     %eax
        jns     2b
4:      ret
        .size   two_entries, . - two_entries

# Padding between the blocks of a loop; a jump over it.
# LOOPS padded 1 0
        .p2align 4
        .globl  padded
        .type   padded, @function
padded:
        mov     %edi, %ecx
        jmp     2f
        .p2align 5
1:      dec     %ecx
        je      3f
        jmp     2f
        nopw    0x0(%rax,%rax,1)
        nopl    0x0(%rax)
        int3
        .p2align 4
2:      lea     1(%rdi), %rdi
        jmp     1b
        int3
3:      mov     %edi, %eax
        ret
        .size   padded, . - padded

# Two loops with a common part: neither is in the other; one region.
# LOOPS overlapping - -
        .p2align 4
        .globl  overlapping
        .type   overlapping, @function
overlapping:
        mov     %edi, %ecx
        mov     $3, %edx
1:      nop
2:      dec     %ecx
        jns     1b
        dec     %edx
        js      3f
        mov     $2, %ecx
        jmp     2b
3:      ret
        .size   overlapping, . - overlapping

# A table that leads to three places of one loop.
# LOOPS by_table 1 1
        .p2align 4
        .globl  by_table
        .type   by_table, @function
by_table:
        mov     %edi, %eax
        mov     $3, %ecx
        cmp     $4, %eax
        ja      9f
        lea     table(%rip), %rdx
        movslq  (%rdx,%rax,4), %rax
        add     %rdx, %rax
        notrack jmp *%rax
1:      inc     %edi
2:      inc     %edi
3:      dec     %ecx
        jne     1b
9:      mov     %edi, %eax
        ret
        .size   by_table, . - by_table
        .section .rodata
        .p2align 2
table:  .long   1b - table, 2b - table, 3b - table, 9b - table, 1b - table
        .text

# An irreducible loop around a natural one.
# LOOPS knotted 2 1
        .p2align 4
        .globl  knotted
        .type   knotted, @function
knotted:
        mov     %edi, %eax
        mov     $2, %esi
        test    $2, %al
        je      2f
1:      mov     $3, %ecx
5:      dec     %ecx
        jne     5b
        dec     %esi
        js      4f
2:      dec     %eax
        jns     1b
4:      ret
        .size   knotted, . - knotted

# A block that jumps to itself, the whole function but the return.
# LOOPS self 1 0
        .globl  self
        .type   self, @function
self:
        loop_: dec %edi
        jne     loop_
        ret
        .size   self, . - self
        .section .note.GNU-stack, "", @progbits
