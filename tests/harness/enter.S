/* SPDX-License-Identifier: Apache-2.0 */
#define ALL_VECTORS 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,\
        29,30,31
/*
 * Loads every register from hx_in and jumps to hx_code. The code comes back through hx_exit, or
 * through hx_exit_taken after a taken branch. Both store every register to hx_out. All accesses are
 * RIP-relative, so that no register is needed to hold an address. Offsets: struct hx_state.
 */
#define GPR   0
#define FLAGS 128
#define TAKEN 136
#define MASK  192
#define VEC   256
#define FX    2304

        .text
        .globl  hx_enter
        .type   hx_enter, @function
hx_enter:
        pushq   %rbx
        pushq   %rbp
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rsp, host_rsp(%rip)
        fxrstor64 hx_in+FX(%rip)
        cmpl    $1, hx_level(%rip)
        jb      2f
        ja      1f
        .irp    r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovdqu hx_in+VEC+64*\r(%rip), %ymm\r
        .endr
        jmp     3f
1:
        .irp    r, ALL_VECTORS
        vmovdqu64 hx_in+VEC+64*\r(%rip), %zmm\r
        .endr
        .irp    r, 0,1,2,3,4,5,6,7
        kmovq   hx_in+MASK+8*\r(%rip), %k\r
        .endr
        jmp     3f
2:
        .irp    r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movdqu  hx_in+VEC+64*\r(%rip), %xmm\r
        .endr
3:
        pushq   hx_in+FLAGS(%rip)
        popfq
        movq    hx_in+GPR+0(%rip), %rax
        movq    hx_in+GPR+8(%rip), %rcx
        movq    hx_in+GPR+16(%rip), %rdx
        movq    hx_in+GPR+24(%rip), %rbx
        movq    hx_in+GPR+40(%rip), %rbp
        movq    hx_in+GPR+48(%rip), %rsi
        movq    hx_in+GPR+56(%rip), %rdi
        movq    hx_in+GPR+64(%rip), %r8
        movq    hx_in+GPR+72(%rip), %r9
        movq    hx_in+GPR+80(%rip), %r10
        movq    hx_in+GPR+88(%rip), %r11
        movq    hx_in+GPR+96(%rip), %r12
        movq    hx_in+GPR+104(%rip), %r13
        movq    hx_in+GPR+112(%rip), %r14
        movq    hx_in+GPR+120(%rip), %r15
        movq    hx_in+GPR+32(%rip), %rsp
        jmp     *hx_code(%rip)
        .size   hx_enter, .-hx_enter

        .globl  hx_exit_taken
        .type   hx_exit_taken, @function
hx_exit_taken:
        movq    $1, hx_out+TAKEN(%rip)
        .globl  hx_exit
        .type   hx_exit, @function
hx_exit:
        movq    %rsp, hx_out+GPR+32(%rip)
        movq    host_rsp(%rip), %rsp
        pushfq
        popq    hx_out+FLAGS(%rip)
        cld
        movq    %rax, hx_out+GPR+0(%rip)
        movq    %rcx, hx_out+GPR+8(%rip)
        movq    %rdx, hx_out+GPR+16(%rip)
        movq    %rbx, hx_out+GPR+24(%rip)
        movq    %rbp, hx_out+GPR+40(%rip)
        movq    %rsi, hx_out+GPR+48(%rip)
        movq    %rdi, hx_out+GPR+56(%rip)
        movq    %r8, hx_out+GPR+64(%rip)
        movq    %r9, hx_out+GPR+72(%rip)
        movq    %r10, hx_out+GPR+80(%rip)
        movq    %r11, hx_out+GPR+88(%rip)
        movq    %r12, hx_out+GPR+96(%rip)
        movq    %r13, hx_out+GPR+104(%rip)
        movq    %r14, hx_out+GPR+112(%rip)
        movq    %r15, hx_out+GPR+120(%rip)
        fxsave64 hx_out+FX(%rip)
        cmpl    $1, hx_level(%rip)
        jb      2f
        ja      1f
        .irp    r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovdqu %ymm\r, hx_out+VEC+64*\r(%rip)
        .endr
        vzeroupper
        jmp     3f
1:
        .irp    r, ALL_VECTORS
        vmovdqu64 %zmm\r, hx_out+VEC+64*\r(%rip)
        .endr
        .irp    r, 0,1,2,3,4,5,6,7
        kmovq   %k\r, hx_out+MASK+8*\r(%rip)
        .endr
        vzeroupper
        jmp     3f
2:
        .irp    r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movdqu  %xmm\r, hx_out+VEC+64*\r(%rip)
        .endr
3:
        fninit
        ldmxcsr host_mxcsr(%rip)
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbp
        popq    %rbx
        ret
        .size   hx_exit, .-hx_exit

        .section .rodata
        .align  4
host_mxcsr:
        .long   0x1f80

        .bss
        .align  64
        .globl  hx_in
        .type   hx_in, @object
        .size   hx_in, 2816
hx_in:  .zero   2816
        .globl  hx_out
        .type   hx_out, @object
        .size   hx_out, 2816
hx_out: .zero   2816
        .globl  hx_code
        .type   hx_code, @object
        .size   hx_code, 8
hx_code: .zero  8
        .globl  hx_level
        .type   hx_level, @object
        .size   hx_level, 4
hx_level: .zero 4
        .align  8
host_rsp: .zero 8

        .section .note.GNU-stack, "", @progbits
