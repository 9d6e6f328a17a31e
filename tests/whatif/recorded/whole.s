# Made of loops.c by truth.py record: -O2 -g0 -S -fno-math-errno -fno-tree-loop-distribute-patterns -fno-asynchronous-unwind-tables -fcf-protection=none -march=x86-64-v4 -O3 -mprefer-vector-width=512 -ffinite-math-only -fno-signed-zeros -fassociative-math -fno-trapping-math -D 'FORM(name)=whole_##name'
	.text
	.p2align 4
	.globl	whole_axpy64
	.type	whole_axpy64, @function
whole_axpy64:
	testq	%r8, %r8
	jle	.L2
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L8
	vbroadcastsd	.LC1(%rip), %zmm1
	movq	%r8, %rdx
	xorl	%eax, %eax
	shrq	$3, %rdx
	salq	$6, %rdx
	.p2align 4,,10
	.p2align 3
.L4:
	vmovupd	(%rsi,%rax), %zmm0
	vfmadd213pd	(%rdi,%rax), %zmm1, %zmm0
	vmovupd	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rax, %rdx
	jne	.L4
	movq	%r8, %rax
	andq	$-8, %rax
	movq	%rax, %rdx
	cmpq	%rax, %r8
	je	.L15
.L3:
	movq	%r8, %rcx
	subq	%rdx, %rcx
	leaq	-1(%rcx), %r9
	cmpq	$2, %r9
	jbe	.L6
	leaq	(%rdi,%rdx,8), %r9
	vmovupd	(%rsi,%rdx,8), %ymm0
	movq	%rcx, %rdx
	vmovupd	(%r9), %ymm2
	andq	$-4, %rdx
	addq	%rdx, %rax
	andl	$3, %ecx
	vfmadd132pd	.LC1(%rip){1to4}, %ymm2, %ymm0
	vmovupd	%ymm0, (%r9)
	je	.L15
.L6:
	leaq	0(,%rax,8), %rdx
	vmovsd	(%rsi,%rax,8), %xmm1
	vmovsd	.LC1(%rip), %xmm0
	leaq	(%rdi,%rdx), %rcx
	vfmadd213sd	(%rcx), %xmm0, %xmm1
	vmovsd	%xmm1, (%rcx)
	leaq	1(%rax), %rcx
	cmpq	%rcx, %r8
	jle	.L15
	leaq	8(%rdi,%rdx), %rcx
	vmovsd	8(%rsi,%rdx), %xmm1
	addq	$2, %rax
	vfmadd213sd	(%rcx), %xmm0, %xmm1
	vmovsd	%xmm1, (%rcx)
	cmpq	%rax, %r8
	jle	.L15
	leaq	16(%rdi,%rdx), %rax
	vmovsd	(%rax), %xmm3
	vfmadd132sd	16(%rsi,%rdx), %xmm3, %xmm0
	vmovsd	%xmm0, (%rax)
	vzeroupper
	vmovsd	(%rdi), %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L15:
	vzeroupper
.L2:
	vmovsd	(%rdi), %xmm0
	ret
.L8:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.L3
	.size	whole_axpy64, .-whole_axpy64
	.p2align 4
	.globl	whole_axpy32
	.type	whole_axpy32, @function
whole_axpy32:
	testq	%r8, %r8
	jle	.L18
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L24
	vbroadcastss	.LC4(%rip), %zmm1
	movq	%r8, %rdx
	xorl	%eax, %eax
	shrq	$4, %rdx
	salq	$6, %rdx
	.p2align 4,,10
	.p2align 3
.L20:
	vmovups	(%rsi,%rax), %zmm0
	vfmadd213ps	(%rdi,%rax), %zmm1, %zmm0
	vmovups	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rax, %rdx
	jne	.L20
	movq	%r8, %rax
	andq	$-16, %rax
	movq	%rax, %rdx
	cmpq	%rax, %r8
	je	.L35
.L19:
	movq	%r8, %rcx
	subq	%rdx, %rcx
	leaq	-1(%rcx), %r9
	cmpq	$6, %r9
	jbe	.L22
	leaq	(%rdi,%rdx,4), %r9
	vmovups	(%rsi,%rdx,4), %ymm0
	movq	%rcx, %rdx
	vmovups	(%r9), %ymm2
	andq	$-8, %rdx
	addq	%rdx, %rax
	andl	$7, %ecx
	vfmadd132ps	.LC4(%rip){1to8}, %ymm2, %ymm0
	vmovups	%ymm0, (%r9)
	je	.L35
.L22:
	leaq	0(,%rax,4), %rdx
	vmovss	(%rsi,%rax,4), %xmm1
	vmovss	.LC4(%rip), %xmm0
	leaq	(%rdi,%rdx), %rcx
	vfmadd213ss	(%rcx), %xmm0, %xmm1
	vmovss	%xmm1, (%rcx)
	leaq	1(%rax), %rcx
	cmpq	%rcx, %r8
	jle	.L35
	leaq	4(%rdi,%rdx), %rcx
	vmovss	4(%rsi,%rdx), %xmm1
	vfmadd213ss	(%rcx), %xmm0, %xmm1
	vmovss	%xmm1, (%rcx)
	leaq	2(%rax), %rcx
	cmpq	%rcx, %r8
	jle	.L35
	leaq	8(%rdi,%rdx), %rcx
	vmovss	8(%rsi,%rdx), %xmm1
	vfmadd213ss	(%rcx), %xmm0, %xmm1
	vmovss	%xmm1, (%rcx)
	leaq	3(%rax), %rcx
	cmpq	%rcx, %r8
	jle	.L35
	leaq	12(%rdi,%rdx), %rcx
	vmovss	12(%rsi,%rdx), %xmm1
	vfmadd213ss	(%rcx), %xmm0, %xmm1
	vmovss	%xmm1, (%rcx)
	leaq	4(%rax), %rcx
	cmpq	%rcx, %r8
	jle	.L35
	leaq	16(%rdi,%rdx), %rcx
	vmovss	16(%rsi,%rdx), %xmm1
	vfmadd213ss	(%rcx), %xmm0, %xmm1
	vmovss	%xmm1, (%rcx)
	leaq	5(%rax), %rcx
	cmpq	%rcx, %r8
	jle	.L35
	leaq	20(%rdi,%rdx), %rcx
	vmovss	20(%rsi,%rdx), %xmm1
	addq	$6, %rax
	vfmadd213ss	(%rcx), %xmm0, %xmm1
	vmovss	%xmm1, (%rcx)
	cmpq	%rax, %r8
	jle	.L35
	leaq	24(%rdi,%rdx), %rax
	vmovss	(%rax), %xmm3
	vfmadd132ss	24(%rsi,%rdx), %xmm3, %xmm0
	vmovss	%xmm0, (%rax)
	vzeroupper
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L35:
	vzeroupper
.L18:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
.L24:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.L19
	.size	whole_axpy32, .-whole_axpy32
	.p2align 4
	.globl	whole_add64
	.type	whole_add64, @function
whole_add64:
	testq	%r8, %r8
	jle	.L37
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L43
	movq	%r8, %rcx
	xorl	%eax, %eax
	shrq	$3, %rcx
	salq	$6, %rcx
	.p2align 4,,10
	.p2align 3
.L39:
	vmovupd	(%rsi,%rax), %zmm1
	vaddpd	(%rdx,%rax), %zmm1, %zmm0
	vmovupd	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rcx, %rax
	jne	.L39
	movq	%r8, %rax
	andq	$-8, %rax
	movq	%rax, %rcx
	cmpq	%rax, %r8
	je	.L50
.L38:
	movq	%r8, %r9
	subq	%rcx, %r9
	leaq	-1(%r9), %r10
	cmpq	$2, %r10
	jbe	.L41
	vmovupd	(%rsi,%rcx,8), %ymm2
	vaddpd	(%rdx,%rcx,8), %ymm2, %ymm0
	vmovupd	%ymm0, (%rdi,%rcx,8)
	movq	%r9, %rcx
	andq	$-4, %rcx
	addq	%rcx, %rax
	andl	$3, %r9d
	je	.L50
.L41:
	vmovsd	(%rsi,%rax,8), %xmm0
	vaddsd	(%rdx,%rax,8), %xmm0, %xmm0
	leaq	1(%rax), %r9
	leaq	0(,%rax,8), %rcx
	vmovsd	%xmm0, (%rdi,%rax,8)
	cmpq	%r9, %r8
	jle	.L50
	vmovsd	8(%rdx,%rcx), %xmm0
	vaddsd	8(%rsi,%rcx), %xmm0, %xmm0
	addq	$2, %rax
	vmovsd	%xmm0, 8(%rdi,%rcx)
	cmpq	%rax, %r8
	jle	.L50
	vmovsd	16(%rsi,%rcx), %xmm0
	vaddsd	16(%rdx,%rcx), %xmm0, %xmm0
	vmovsd	%xmm0, 16(%rdi,%rcx)
	vzeroupper
	vmovsd	(%rdi), %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L50:
	vzeroupper
.L37:
	vmovsd	(%rdi), %xmm0
	ret
.L43:
	xorl	%ecx, %ecx
	xorl	%eax, %eax
	jmp	.L38
	.size	whole_add64, .-whole_add64
	.p2align 4
	.globl	whole_triad32
	.type	whole_triad32, @function
whole_triad32:
	testq	%r8, %r8
	jle	.L52
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L58
	vbroadcastss	.LC4(%rip), %zmm1
	movq	%r8, %rcx
	xorl	%eax, %eax
	shrq	$4, %rcx
	salq	$6, %rcx
	.p2align 4,,10
	.p2align 3
.L54:
	vmovups	(%rdx,%rax), %zmm0
	vfmadd213ps	(%rsi,%rax), %zmm1, %zmm0
	vmovups	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rcx, %rax
	jne	.L54
	movq	%r8, %rax
	andq	$-16, %rax
	movq	%rax, %rcx
	cmpq	%rax, %r8
	je	.L69
.L53:
	movq	%r8, %r9
	subq	%rcx, %r9
	leaq	-1(%r9), %r10
	cmpq	$6, %r10
	jbe	.L56
	vmovups	(%rdx,%rcx,4), %ymm0
	vmovups	(%rsi,%rcx,4), %ymm2
	vfmadd132ps	.LC4(%rip){1to8}, %ymm2, %ymm0
	vmovups	%ymm0, (%rdi,%rcx,4)
	movq	%r9, %rcx
	andq	$-8, %rcx
	addq	%rcx, %rax
	andl	$7, %r9d
	je	.L69
.L56:
	vmovss	.LC4(%rip), %xmm0
	vmovss	(%rdx,%rax,4), %xmm1
	leaq	0(,%rax,4), %rcx
	leaq	1(%rax), %r9
	vfmadd213ss	(%rsi,%rax,4), %xmm0, %xmm1
	vmovss	%xmm1, (%rdi,%rcx)
	cmpq	%r9, %r8
	jle	.L69
	vmovss	4(%rdx,%rcx), %xmm1
	vfmadd213ss	4(%rsi,%rcx), %xmm0, %xmm1
	leaq	2(%rax), %r9
	vmovss	%xmm1, 4(%rdi,%rcx)
	cmpq	%r9, %r8
	jle	.L69
	vmovss	8(%rdx,%rcx), %xmm1
	vfmadd213ss	8(%rsi,%rcx), %xmm0, %xmm1
	leaq	3(%rax), %r9
	vmovss	%xmm1, 8(%rdi,%rcx)
	cmpq	%r9, %r8
	jle	.L69
	vmovss	12(%rdx,%rcx), %xmm1
	vfmadd213ss	12(%rsi,%rcx), %xmm0, %xmm1
	leaq	4(%rax), %r9
	vmovss	%xmm1, 12(%rdi,%rcx)
	cmpq	%r9, %r8
	jle	.L69
	vmovss	16(%rdx,%rcx), %xmm1
	vfmadd213ss	16(%rsi,%rcx), %xmm0, %xmm1
	leaq	5(%rax), %r9
	vmovss	%xmm1, 16(%rdi,%rcx)
	cmpq	%r9, %r8
	jle	.L69
	vmovss	20(%rdx,%rcx), %xmm1
	vfmadd213ss	20(%rsi,%rcx), %xmm0, %xmm1
	addq	$6, %rax
	vmovss	%xmm1, 20(%rdi,%rcx)
	cmpq	%rax, %r8
	jle	.L69
	vmovss	24(%rsi,%rcx), %xmm3
	vfmadd132ss	24(%rdx,%rcx), %xmm3, %xmm0
	vmovss	%xmm0, 24(%rdi,%rcx)
	vzeroupper
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L69:
	vzeroupper
.L52:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
.L58:
	xorl	%ecx, %ecx
	xorl	%eax, %eax
	jmp	.L53
	.size	whole_triad32, .-whole_triad32
	.p2align 4
	.globl	whole_scale64
	.type	whole_scale64, @function
whole_scale64:
	testq	%r8, %r8
	jle	.L71
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L77
	vbroadcastsd	.LC1(%rip), %zmm1
	movq	%r8, %rdx
	xorl	%eax, %eax
	shrq	$3, %rdx
	salq	$6, %rdx
	.p2align 4,,10
	.p2align 3
.L73:
	vmulpd	(%rsi,%rax), %zmm1, %zmm0
	vmovupd	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rax, %rdx
	jne	.L73
	movq	%r8, %rax
	andq	$-8, %rax
	movq	%rax, %rdx
	cmpq	%rax, %r8
	je	.L84
.L72:
	movq	%r8, %rcx
	subq	%rdx, %rcx
	leaq	-1(%rcx), %r9
	cmpq	$2, %r9
	jbe	.L75
	vbroadcastsd	.LC1(%rip), %ymm0
	vmulpd	(%rsi,%rdx,8), %ymm0, %ymm0
	vmovupd	%ymm0, (%rdi,%rdx,8)
	movq	%rcx, %rdx
	andq	$-4, %rdx
	addq	%rdx, %rax
	andl	$3, %ecx
	je	.L84
.L75:
	vmovsd	.LC1(%rip), %xmm0
	vmulsd	(%rsi,%rax,8), %xmm0, %xmm1
	leaq	1(%rax), %rcx
	leaq	0(,%rax,8), %rdx
	vmovsd	%xmm1, (%rdi,%rax,8)
	cmpq	%rcx, %r8
	jle	.L84
	vmulsd	8(%rsi,%rdx), %xmm0, %xmm1
	addq	$2, %rax
	vmovsd	%xmm1, 8(%rdi,%rdx)
	cmpq	%rax, %r8
	jle	.L84
	vmulsd	16(%rsi,%rdx), %xmm0, %xmm0
	vmovsd	%xmm0, 16(%rdi,%rdx)
	vzeroupper
	vmovsd	(%rdi), %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L84:
	vzeroupper
.L71:
	vmovsd	(%rdi), %xmm0
	ret
.L77:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.L72
	.size	whole_scale64, .-whole_scale64
	.p2align 4
	.globl	whole_divide64
	.type	whole_divide64, @function
whole_divide64:
	testq	%r8, %r8
	jle	.L86
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L92
	movq	%r8, %rcx
	xorl	%eax, %eax
	shrq	$3, %rcx
	salq	$6, %rcx
	.p2align 4,,10
	.p2align 3
.L88:
	vmovupd	(%rsi,%rax), %zmm1
	vdivpd	(%rdx,%rax), %zmm1, %zmm0
	vmovupd	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rcx, %rax
	jne	.L88
	movq	%r8, %rax
	andq	$-8, %rax
	movq	%rax, %rcx
	cmpq	%rax, %r8
	je	.L99
.L87:
	movq	%r8, %r9
	subq	%rcx, %r9
	leaq	-1(%r9), %r10
	cmpq	$2, %r10
	jbe	.L90
	vmovupd	(%rsi,%rcx,8), %ymm2
	vdivpd	(%rdx,%rcx,8), %ymm2, %ymm0
	vmovupd	%ymm0, (%rdi,%rcx,8)
	movq	%r9, %rcx
	andq	$-4, %rcx
	addq	%rcx, %rax
	andl	$3, %r9d
	je	.L99
.L90:
	leaq	1(%rax), %r9
	vmovsd	(%rsi,%rax,8), %xmm0
	leaq	0(,%rax,8), %rcx
	vdivsd	(%rdx,%rax,8), %xmm0, %xmm0
	vmovsd	%xmm0, (%rdi,%rax,8)
	cmpq	%r9, %r8
	jle	.L99
	addq	$2, %rax
	vmovsd	8(%rsi,%rcx), %xmm0
	vdivsd	8(%rdx,%rcx), %xmm0, %xmm0
	vmovsd	%xmm0, 8(%rdi,%rcx)
	cmpq	%rax, %r8
	jle	.L99
	vmovsd	16(%rsi,%rcx), %xmm0
	vdivsd	16(%rdx,%rcx), %xmm0, %xmm0
	vmovsd	%xmm0, 16(%rdi,%rcx)
	vzeroupper
	vmovsd	(%rdi), %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L99:
	vzeroupper
.L86:
	vmovsd	(%rdi), %xmm0
	ret
.L92:
	xorl	%ecx, %ecx
	xorl	%eax, %eax
	jmp	.L87
	.size	whole_divide64, .-whole_divide64
	.p2align 4
	.globl	whole_divide32
	.type	whole_divide32, @function
whole_divide32:
	testq	%r8, %r8
	jle	.L101
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L107
	movq	%r8, %rcx
	xorl	%eax, %eax
	shrq	$4, %rcx
	salq	$6, %rcx
	.p2align 4,,10
	.p2align 3
.L103:
	vmovups	(%rsi,%rax), %zmm1
	vdivps	(%rdx,%rax), %zmm1, %zmm0
	vmovups	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rcx, %rax
	jne	.L103
	movq	%r8, %rax
	andq	$-16, %rax
	movq	%rax, %rcx
	cmpq	%rax, %r8
	je	.L118
.L102:
	movq	%r8, %r9
	subq	%rcx, %r9
	leaq	-1(%r9), %r10
	cmpq	$6, %r10
	jbe	.L105
	vmovups	(%rsi,%rcx,4), %ymm2
	vdivps	(%rdx,%rcx,4), %ymm2, %ymm0
	vmovups	%ymm0, (%rdi,%rcx,4)
	movq	%r9, %rcx
	andq	$-8, %rcx
	addq	%rcx, %rax
	andl	$7, %r9d
	je	.L118
.L105:
	leaq	1(%rax), %r9
	vmovss	(%rsi,%rax,4), %xmm0
	leaq	0(,%rax,4), %rcx
	vdivss	(%rdx,%rax,4), %xmm0, %xmm0
	vmovss	%xmm0, (%rdi,%rax,4)
	cmpq	%r9, %r8
	jle	.L118
	leaq	2(%rax), %r9
	vmovss	4(%rsi,%rcx), %xmm0
	vdivss	4(%rdx,%rcx), %xmm0, %xmm0
	vmovss	%xmm0, 4(%rdi,%rcx)
	cmpq	%r9, %r8
	jle	.L118
	leaq	3(%rax), %r9
	vmovss	8(%rsi,%rcx), %xmm0
	vdivss	8(%rdx,%rcx), %xmm0, %xmm0
	vmovss	%xmm0, 8(%rdi,%rcx)
	cmpq	%r9, %r8
	jle	.L118
	leaq	4(%rax), %r9
	vmovss	12(%rsi,%rcx), %xmm0
	vdivss	12(%rdx,%rcx), %xmm0, %xmm0
	vmovss	%xmm0, 12(%rdi,%rcx)
	cmpq	%r9, %r8
	jle	.L118
	leaq	5(%rax), %r9
	vmovss	16(%rsi,%rcx), %xmm0
	vdivss	16(%rdx,%rcx), %xmm0, %xmm0
	vmovss	%xmm0, 16(%rdi,%rcx)
	cmpq	%r9, %r8
	jle	.L118
	addq	$6, %rax
	vmovss	20(%rsi,%rcx), %xmm0
	vdivss	20(%rdx,%rcx), %xmm0, %xmm0
	vmovss	%xmm0, 20(%rdi,%rcx)
	cmpq	%rax, %r8
	jle	.L118
	vmovss	24(%rsi,%rcx), %xmm0
	vdivss	24(%rdx,%rcx), %xmm0, %xmm0
	vmovss	%xmm0, 24(%rdi,%rcx)
	vzeroupper
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L118:
	vzeroupper
.L101:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
.L107:
	xorl	%ecx, %ecx
	xorl	%eax, %eax
	jmp	.L102
	.size	whole_divide32, .-whole_divide32
	.p2align 4
	.globl	whole_root64
	.type	whole_root64, @function
whole_root64:
	testq	%r8, %r8
	jle	.L120
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L126
	movq	%r8, %rdx
	xorl	%eax, %eax
	shrq	$3, %rdx
	salq	$6, %rdx
	.p2align 4,,10
	.p2align 3
.L122:
	vsqrtpd	(%rsi,%rax), %zmm0
	vmovupd	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rax, %rdx
	jne	.L122
	movq	%r8, %rax
	andq	$-8, %rax
	movq	%rax, %rdx
	cmpq	%rax, %r8
	je	.L133
.L121:
	movq	%r8, %rcx
	subq	%rdx, %rcx
	leaq	-1(%rcx), %r9
	cmpq	$2, %r9
	jbe	.L124
	vsqrtpd	(%rsi,%rdx,8), %ymm0
	vmovupd	%ymm0, (%rdi,%rdx,8)
	movq	%rcx, %rdx
	andq	$-4, %rdx
	addq	%rdx, %rax
	andl	$3, %ecx
	je	.L133
.L124:
	vxorps	%xmm0, %xmm0, %xmm0
	vsqrtsd	(%rsi,%rax,8), %xmm0, %xmm1
	leaq	1(%rax), %rcx
	leaq	0(,%rax,8), %rdx
	vmovsd	%xmm1, (%rdi,%rax,8)
	cmpq	%rcx, %r8
	jle	.L133
	vsqrtsd	8(%rsi,%rdx), %xmm0, %xmm1
	addq	$2, %rax
	vmovsd	%xmm1, 8(%rdi,%rdx)
	cmpq	%r8, %rax
	jge	.L133
	vsqrtsd	16(%rsi,%rdx), %xmm0, %xmm0
	vmovsd	%xmm0, 16(%rdi,%rdx)
	vzeroupper
	vmovsd	(%rdi), %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L133:
	vzeroupper
.L120:
	vmovsd	(%rdi), %xmm0
	ret
.L126:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.L121
	.size	whole_root64, .-whole_root64
	.p2align 4
	.globl	whole_root32
	.type	whole_root32, @function
whole_root32:
	vxorps	%xmm0, %xmm0, %xmm0
	testq	%r8, %r8
	jle	.L135
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L141
	movq	%r8, %rdx
	xorl	%eax, %eax
	shrq	$4, %rdx
	salq	$6, %rdx
	.p2align 4,,10
	.p2align 3
.L137:
	vsqrtps	(%rsi,%rax), %zmm1
	vmovups	%zmm1, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rax, %rdx
	jne	.L137
	movq	%r8, %rax
	andq	$-16, %rax
	movq	%rax, %rdx
	cmpq	%rax, %r8
	je	.L152
.L136:
	movq	%r8, %rcx
	subq	%rdx, %rcx
	leaq	-1(%rcx), %r9
	cmpq	$6, %r9
	jbe	.L139
	vsqrtps	(%rsi,%rdx,4), %ymm1
	vmovups	%ymm1, (%rdi,%rdx,4)
	movq	%rcx, %rdx
	andq	$-8, %rdx
	addq	%rdx, %rax
	andl	$7, %ecx
	je	.L152
.L139:
	vsqrtss	(%rsi,%rax,4), %xmm0, %xmm1
	leaq	1(%rax), %rcx
	leaq	0(,%rax,4), %rdx
	vmovss	%xmm1, (%rdi,%rax,4)
	cmpq	%rcx, %r8
	jle	.L152
	vsqrtss	4(%rsi,%rdx), %xmm0, %xmm1
	leaq	2(%rax), %rcx
	vmovss	%xmm1, 4(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L152
	vsqrtss	8(%rsi,%rdx), %xmm0, %xmm1
	leaq	3(%rax), %rcx
	vmovss	%xmm1, 8(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L152
	vsqrtss	12(%rsi,%rdx), %xmm0, %xmm1
	leaq	4(%rax), %rcx
	vmovss	%xmm1, 12(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L152
	vsqrtss	16(%rsi,%rdx), %xmm0, %xmm1
	leaq	5(%rax), %rcx
	vmovss	%xmm1, 16(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L152
	vsqrtss	20(%rsi,%rdx), %xmm0, %xmm1
	addq	$6, %rax
	vmovss	%xmm1, 20(%rdi,%rdx)
	cmpq	%rax, %r8
	jle	.L152
	vsqrtss	24(%rsi,%rdx), %xmm0, %xmm1
	vmovss	%xmm1, 24(%rdi,%rdx)
	vzeroupper
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L152:
	vzeroupper
.L135:
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
.L141:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.L136
	.size	whole_root32, .-whole_root32
	.p2align 4
	.globl	whole_length32
	.type	whole_length32, @function
whole_length32:
	movq	%rdi, %rcx
	testq	%r8, %r8
	jle	.L154
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L160
	movq	%r8, %rdi
	xorl	%eax, %eax
	shrq	$4, %rdi
	salq	$6, %rdi
	.p2align 4,,10
	.p2align 3
.L156:
	vmovups	(%rdx,%rax), %zmm2
	vmovups	(%rsi,%rax), %zmm3
	vmulps	%zmm2, %zmm2, %zmm0
	vfmadd231ps	%zmm3, %zmm3, %zmm0
	vsqrtps	%zmm0, %zmm0
	vmovups	%zmm0, (%rcx,%rax)
	addq	$64, %rax
	cmpq	%rdi, %rax
	jne	.L156
	movq	%r8, %rax
	andq	$-16, %rax
	movq	%rax, %rdi
	cmpq	%r8, %rax
	je	.L171
.L155:
	movq	%r8, %r9
	subq	%rdi, %r9
	leaq	-1(%r9), %r10
	cmpq	$6, %r10
	jbe	.L158
	vmovups	(%rdx,%rdi,4), %ymm4
	vmovups	(%rsi,%rdi,4), %ymm5
	vmulps	%ymm4, %ymm4, %ymm0
	vfmadd231ps	%ymm5, %ymm5, %ymm0
	vsqrtps	%ymm0, %ymm0
	vmovups	%ymm0, (%rcx,%rdi,4)
	movq	%r9, %rdi
	andq	$-8, %rdi
	addq	%rdi, %rax
	andl	$7, %r9d
	je	.L171
.L158:
	vmovss	(%rdx,%rax,4), %xmm1
	vmovss	(%rsi,%rax,4), %xmm0
	leaq	1(%rax), %r9
	leaq	0(,%rax,4), %rdi
	vmulss	%xmm1, %xmm1, %xmm1
	vfmadd132ss	%xmm0, %xmm1, %xmm0
	vsqrtss	%xmm0, %xmm0, %xmm0
	vmovss	%xmm0, (%rcx,%rax,4)
	cmpq	%r9, %r8
	jle	.L171
	vmovss	4(%rdx,%rdi), %xmm1
	vmovss	4(%rsi,%rdi), %xmm0
	leaq	2(%rax), %r9
	vmulss	%xmm1, %xmm1, %xmm1
	vfmadd132ss	%xmm0, %xmm1, %xmm0
	vsqrtss	%xmm0, %xmm0, %xmm0
	vmovss	%xmm0, 4(%rcx,%rdi)
	cmpq	%r9, %r8
	jle	.L171
	vmovss	8(%rdx,%rdi), %xmm1
	vmovss	8(%rsi,%rdi), %xmm0
	leaq	3(%rax), %r9
	vmulss	%xmm1, %xmm1, %xmm1
	vfmadd132ss	%xmm0, %xmm1, %xmm0
	vsqrtss	%xmm0, %xmm0, %xmm0
	vmovss	%xmm0, 8(%rcx,%rdi)
	cmpq	%r9, %r8
	jle	.L171
	vmovss	12(%rdx,%rdi), %xmm1
	vmovss	12(%rsi,%rdi), %xmm0
	leaq	4(%rax), %r9
	vmulss	%xmm1, %xmm1, %xmm1
	vfmadd132ss	%xmm0, %xmm1, %xmm0
	vsqrtss	%xmm0, %xmm0, %xmm0
	vmovss	%xmm0, 12(%rcx,%rdi)
	cmpq	%r9, %r8
	jle	.L171
	vmovss	16(%rdx,%rdi), %xmm1
	vmovss	16(%rsi,%rdi), %xmm0
	leaq	5(%rax), %r9
	vmulss	%xmm1, %xmm1, %xmm1
	vfmadd132ss	%xmm0, %xmm1, %xmm0
	vsqrtss	%xmm0, %xmm0, %xmm0
	vmovss	%xmm0, 16(%rcx,%rdi)
	cmpq	%r9, %r8
	jle	.L171
	vmovss	20(%rdx,%rdi), %xmm1
	vmovss	20(%rsi,%rdi), %xmm0
	addq	$6, %rax
	vmulss	%xmm1, %xmm1, %xmm1
	vfmadd132ss	%xmm0, %xmm1, %xmm0
	vsqrtss	%xmm0, %xmm0, %xmm0
	vmovss	%xmm0, 20(%rcx,%rdi)
	cmpq	%rax, %r8
	jle	.L171
	vmovss	24(%rdx,%rdi), %xmm1
	vmovss	24(%rsi,%rdi), %xmm0
	vmulss	%xmm1, %xmm1, %xmm1
	vfmadd132ss	%xmm0, %xmm1, %xmm0
	vsqrtss	%xmm0, %xmm0, %xmm0
	vmovss	%xmm0, 24(%rcx,%rdi)
	vzeroupper
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rcx), %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L171:
	vzeroupper
.L154:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rcx), %xmm0, %xmm0
	ret
.L160:
	xorl	%edi, %edi
	xorl	%eax, %eax
	jmp	.L155
	.size	whole_length32, .-whole_length32
	.p2align 4
	.globl	whole_cubic64
	.type	whole_cubic64, @function
whole_cubic64:
	testq	%r8, %r8
	jle	.L173
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L179
	vbroadcastsd	.LC1(%rip), %zmm4
	movq	%r8, %rdx
	xorl	%eax, %eax
	vbroadcastsd	.LC7(%rip), %zmm3
	vbroadcastsd	.LC9(%rip), %zmm2
	shrq	$3, %rdx
	vbroadcastsd	.LC11(%rip), %zmm1
	salq	$6, %rdx
	.p2align 4,,10
	.p2align 3
.L175:
	vmovapd	%zmm4, %zmm0
	vfmadd132pd	(%rsi,%rax), %zmm3, %zmm0
	vfmadd132pd	(%rsi,%rax), %zmm2, %zmm0
	vfmadd132pd	(%rsi,%rax), %zmm1, %zmm0
	vmovupd	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rax, %rdx
	jne	.L175
	movq	%r8, %rax
	andq	$-8, %rax
	movq	%rax, %rdx
	cmpq	%r8, %rax
	je	.L186
.L174:
	movq	%r8, %rcx
	subq	%rdx, %rcx
	leaq	-1(%rcx), %r9
	cmpq	$2, %r9
	jbe	.L177
	vmovupd	(%rsi,%rdx,8), %ymm0
	vbroadcastsd	.LC1(%rip), %ymm1
	vfmadd213pd	.LC7(%rip){1to4}, %ymm0, %ymm1
	vfmadd213pd	.LC9(%rip){1to4}, %ymm0, %ymm1
	vfmadd213pd	.LC11(%rip){1to4}, %ymm1, %ymm0
	vmovupd	%ymm0, (%rdi,%rdx,8)
	movq	%rcx, %rdx
	andq	$-4, %rdx
	addq	%rdx, %rax
	andl	$3, %ecx
	je	.L186
.L177:
	vmovsd	(%rsi,%rax,8), %xmm1
	leaq	1(%rax), %rcx
	vmovsd	.LC1(%rip), %xmm0
	leaq	0(,%rax,8), %rdx
	vmovsd	.LC7(%rip), %xmm5
	vmovsd	.LC9(%rip), %xmm4
	vmovsd	.LC11(%rip), %xmm3
	vmovsd	%xmm1, %xmm1, %xmm2
	vfmadd132sd	%xmm0, %xmm5, %xmm2
	vfmadd132sd	%xmm1, %xmm4, %xmm2
	vfmadd132sd	%xmm2, %xmm3, %xmm1
	vmovsd	%xmm1, (%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L186
	vmovsd	8(%rsi,%rdx), %xmm2
	addq	$2, %rax
	vmovsd	%xmm2, %xmm2, %xmm1
	vfmadd132sd	%xmm0, %xmm5, %xmm1
	vfmadd132sd	%xmm2, %xmm4, %xmm1
	vfmadd132sd	%xmm2, %xmm3, %xmm1
	vmovsd	%xmm1, 8(%rdi,%rdx)
	cmpq	%rax, %r8
	jle	.L186
	vmovsd	16(%rsi,%rdx), %xmm1
	vfmadd132sd	%xmm1, %xmm5, %xmm0
	vfmadd132sd	%xmm1, %xmm4, %xmm0
	vfmadd132sd	%xmm0, %xmm3, %xmm1
	vmovsd	%xmm1, 16(%rdi,%rdx)
	vzeroupper
	vmovsd	(%rdi), %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L186:
	vzeroupper
.L173:
	vmovsd	(%rdi), %xmm0
	ret
.L179:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.L174
	.size	whole_cubic64, .-whole_cubic64
	.p2align 4
	.globl	whole_greater64
	.type	whole_greater64, @function
whole_greater64:
	testq	%r8, %r8
	jle	.L188
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L194
	movq	%r8, %rcx
	xorl	%eax, %eax
	shrq	$3, %rcx
	salq	$6, %rcx
	.p2align 4,,10
	.p2align 3
.L190:
	vmovupd	(%rdx,%rax), %zmm1
	vmaxpd	(%rsi,%rax), %zmm1, %zmm0
	vmovupd	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rcx, %rax
	jne	.L190
	movq	%r8, %rax
	andq	$-8, %rax
	movq	%rax, %rcx
	cmpq	%rax, %r8
	je	.L201
.L189:
	movq	%r8, %r9
	subq	%rcx, %r9
	leaq	-1(%r9), %r10
	cmpq	$2, %r10
	jbe	.L192
	vmovupd	(%rdx,%rcx,8), %ymm2
	vmaxpd	(%rsi,%rcx,8), %ymm2, %ymm0
	vmovupd	%ymm0, (%rdi,%rcx,8)
	movq	%r9, %rcx
	andq	$-4, %rcx
	addq	%rcx, %rax
	andl	$3, %r9d
	je	.L201
.L192:
	vmovsd	(%rdx,%rax,8), %xmm3
	vmaxsd	(%rsi,%rax,8), %xmm3, %xmm0
	leaq	1(%rax), %r9
	leaq	0(,%rax,8), %rcx
	vmovsd	%xmm0, (%rdi,%rax,8)
	cmpq	%r9, %r8
	jle	.L201
	vmovsd	8(%rsi,%rcx), %xmm4
	vmaxsd	8(%rdx,%rcx), %xmm4, %xmm0
	addq	$2, %rax
	vmovsd	%xmm0, 8(%rdi,%rcx)
	cmpq	%rax, %r8
	jle	.L201
	vmovsd	16(%rdx,%rcx), %xmm5
	vmaxsd	16(%rsi,%rcx), %xmm5, %xmm0
	vmovsd	%xmm0, 16(%rdi,%rcx)
	vzeroupper
	vmovsd	(%rdi), %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L201:
	vzeroupper
.L188:
	vmovsd	(%rdi), %xmm0
	ret
.L194:
	xorl	%ecx, %ecx
	xorl	%eax, %eax
	jmp	.L189
	.size	whole_greater64, .-whole_greater64
	.p2align 4
	.globl	whole_add_i32
	.type	whole_add_i32, @function
whole_add_i32:
	testq	%r8, %r8
	jle	.L203
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L209
	movq	%r8, %rcx
	xorl	%eax, %eax
	shrq	$4, %rcx
	salq	$6, %rcx
	.p2align 4,,10
	.p2align 3
.L205:
	vmovdqu32	(%rsi,%rax), %zmm1
	vpaddd	(%rdx,%rax), %zmm1, %zmm0
	vmovdqu32	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rcx, %rax
	jne	.L205
	movq	%r8, %rax
	andq	$-16, %rax
	movq	%rax, %rcx
	cmpq	%rax, %r8
	je	.L220
.L204:
	movq	%r8, %r9
	subq	%rcx, %r9
	leaq	-1(%r9), %r10
	cmpq	$6, %r10
	jbe	.L207
	vmovdqu	(%rsi,%rcx,4), %ymm2
	vpaddd	(%rdx,%rcx,4), %ymm2, %ymm0
	vmovdqu	%ymm0, (%rdi,%rcx,4)
	movq	%r9, %rcx
	andq	$-8, %rcx
	addq	%rcx, %rax
	andl	$7, %r9d
	je	.L220
.L207:
	movl	(%rdx,%rax,4), %r9d
	addl	(%rsi,%rax,4), %r9d
	leaq	0(,%rax,4), %rcx
	movl	%r9d, (%rdi,%rax,4)
	leaq	1(%rax), %r9
	cmpq	%r9, %r8
	jle	.L220
	movl	4(%rsi,%rcx), %r9d
	addl	4(%rdx,%rcx), %r9d
	movl	%r9d, 4(%rdi,%rcx)
	leaq	2(%rax), %r9
	cmpq	%r9, %r8
	jle	.L220
	movl	8(%rdx,%rcx), %r9d
	addl	8(%rsi,%rcx), %r9d
	movl	%r9d, 8(%rdi,%rcx)
	leaq	3(%rax), %r9
	cmpq	%r9, %r8
	jle	.L220
	movl	12(%rdx,%rcx), %r9d
	addl	12(%rsi,%rcx), %r9d
	movl	%r9d, 12(%rdi,%rcx)
	leaq	4(%rax), %r9
	cmpq	%r9, %r8
	jle	.L220
	movl	16(%rdx,%rcx), %r9d
	addl	16(%rsi,%rcx), %r9d
	movl	%r9d, 16(%rdi,%rcx)
	leaq	5(%rax), %r9
	cmpq	%r9, %r8
	jle	.L220
	movl	20(%rdx,%rcx), %r9d
	addq	$6, %rax
	addl	20(%rsi,%rcx), %r9d
	movl	%r9d, 20(%rdi,%rcx)
	cmpq	%rax, %r8
	jle	.L220
	movl	24(%rdx,%rcx), %eax
	addl	24(%rsi,%rcx), %eax
	movl	%eax, 24(%rdi,%rcx)
	vzeroupper
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdl	(%rdi), %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L220:
	vzeroupper
.L203:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdl	(%rdi), %xmm0, %xmm0
	ret
.L209:
	xorl	%ecx, %ecx
	xorl	%eax, %eax
	jmp	.L204
	.size	whole_add_i32, .-whole_add_i32
	.p2align 4
	.globl	whole_multiply_i32
	.type	whole_multiply_i32, @function
whole_multiply_i32:
	testq	%r8, %r8
	jle	.L222
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L228
	movq	%r8, %r9
	movl	$7, %ecx
	xorl	%eax, %eax
	shrq	$4, %r9
	vpbroadcastd	%ecx, %zmm1
	salq	$6, %r9
	.p2align 4,,10
	.p2align 3
.L224:
	vmovdqu32	(%rsi,%rax), %zmm2
	vpmulld	(%rdx,%rax), %zmm2, %zmm0
	vpaddd	%zmm1, %zmm0, %zmm0
	vmovdqu32	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%r9, %rax
	jne	.L224
	movq	%r8, %rax
	andq	$-16, %rax
	movq	%rax, %rcx
	cmpq	%rax, %r8
	je	.L239
.L223:
	movq	%r8, %r10
	subq	%rcx, %r10
	leaq	-1(%r10), %r9
	cmpq	$6, %r9
	jbe	.L226
	movl	$7, %r9d
	vmovdqu	(%rsi,%rcx,4), %ymm3
	vpmulld	(%rdx,%rcx,4), %ymm3, %ymm0
	vpbroadcastd	%r9d, %ymm1
	vpaddd	%ymm1, %ymm0, %ymm0
	vmovdqu	%ymm0, (%rdi,%rcx,4)
	movq	%r10, %rcx
	andq	$-8, %rcx
	addq	%rcx, %rax
	andl	$7, %r10d
	je	.L239
.L226:
	movl	(%rsi,%rax,4), %r9d
	imull	(%rdx,%rax,4), %r9d
	leaq	0(,%rax,4), %rcx
	addl	$7, %r9d
	movl	%r9d, (%rdi,%rax,4)
	leaq	1(%rax), %r9
	cmpq	%r9, %r8
	jle	.L239
	movl	4(%rdx,%rcx), %r9d
	imull	4(%rsi,%rcx), %r9d
	addl	$7, %r9d
	movl	%r9d, 4(%rdi,%rcx)
	leaq	2(%rax), %r9
	cmpq	%r9, %r8
	jle	.L239
	movl	8(%rsi,%rcx), %r9d
	imull	8(%rdx,%rcx), %r9d
	addl	$7, %r9d
	movl	%r9d, 8(%rdi,%rcx)
	leaq	3(%rax), %r9
	cmpq	%r9, %r8
	jle	.L239
	movl	12(%rsi,%rcx), %r9d
	imull	12(%rdx,%rcx), %r9d
	addl	$7, %r9d
	movl	%r9d, 12(%rdi,%rcx)
	leaq	4(%rax), %r9
	cmpq	%r9, %r8
	jle	.L239
	movl	16(%rsi,%rcx), %r9d
	imull	16(%rdx,%rcx), %r9d
	addl	$7, %r9d
	movl	%r9d, 16(%rdi,%rcx)
	leaq	5(%rax), %r9
	cmpq	%r9, %r8
	jle	.L239
	movl	20(%rsi,%rcx), %r9d
	imull	20(%rdx,%rcx), %r9d
	addq	$6, %rax
	addl	$7, %r9d
	movl	%r9d, 20(%rdi,%rcx)
	cmpq	%rax, %r8
	jle	.L239
	movl	24(%rsi,%rcx), %eax
	imull	24(%rdx,%rcx), %eax
	addl	$7, %eax
	movl	%eax, 24(%rdi,%rcx)
	vzeroupper
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdl	(%rdi), %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L239:
	vzeroupper
.L222:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdl	(%rdi), %xmm0, %xmm0
	ret
.L228:
	xorl	%ecx, %ecx
	xorl	%eax, %eax
	jmp	.L223
	.size	whole_multiply_i32, .-whole_multiply_i32
	.p2align 4
	.globl	whole_bits_i32
	.type	whole_bits_i32, @function
whole_bits_i32:
	testq	%r8, %r8
	jle	.L241
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L247
	movq	%r8, %r9
	movl	$65295, %ecx
	xorl	%eax, %eax
	shrq	$4, %r9
	vpbroadcastd	%ecx, %zmm1
	salq	$6, %r9
	.p2align 4,,10
	.p2align 3
.L243:
	vmovdqu32	(%rdx,%rax), %zmm2
	vmovdqa32	%zmm1, %zmm0
	vpternlogd	$96, (%rsi,%rax), %zmm2, %zmm0
	vmovdqu32	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%r9, %rax
	jne	.L243
	movq	%r8, %rax
	andq	$-16, %rax
	movq	%rax, %r9
	cmpq	%rax, %r8
	je	.L258
.L242:
	movq	%r8, %r10
	subq	%r9, %r10
	leaq	-1(%r10), %rcx
	cmpq	$6, %rcx
	jbe	.L245
	movl	$65295, %ecx
	vmovdqu	(%rdx,%r9,4), %ymm3
	vpbroadcastd	%ecx, %ymm0
	movq	%r10, %rcx
	andq	$-8, %rcx
	vpternlogd	$96, (%rsi,%r9,4), %ymm3, %ymm0
	addq	%rcx, %rax
	andl	$7, %r10d
	vmovdqu	%ymm0, (%rdi,%r9,4)
	je	.L258
.L245:
	movl	(%rsi,%rax,4), %r9d
	xorl	(%rdx,%rax,4), %r9d
	leaq	0(,%rax,4), %rcx
	andl	$65295, %r9d
	movl	%r9d, (%rdi,%rax,4)
	leaq	1(%rax), %r9
	cmpq	%r9, %r8
	jle	.L258
	movl	4(%rdx,%rcx), %r9d
	xorl	4(%rsi,%rcx), %r9d
	andl	$65295, %r9d
	movl	%r9d, 4(%rdi,%rcx)
	leaq	2(%rax), %r9
	cmpq	%r9, %r8
	jle	.L258
	movl	8(%rsi,%rcx), %r9d
	xorl	8(%rdx,%rcx), %r9d
	andl	$65295, %r9d
	movl	%r9d, 8(%rdi,%rcx)
	leaq	3(%rax), %r9
	cmpq	%r9, %r8
	jle	.L258
	movl	12(%rsi,%rcx), %r9d
	xorl	12(%rdx,%rcx), %r9d
	andl	$65295, %r9d
	movl	%r9d, 12(%rdi,%rcx)
	leaq	4(%rax), %r9
	cmpq	%r9, %r8
	jle	.L258
	movl	16(%rsi,%rcx), %r9d
	xorl	16(%rdx,%rcx), %r9d
	andl	$65295, %r9d
	movl	%r9d, 16(%rdi,%rcx)
	leaq	5(%rax), %r9
	cmpq	%r9, %r8
	jle	.L258
	movl	20(%rsi,%rcx), %r9d
	xorl	20(%rdx,%rcx), %r9d
	addq	$6, %rax
	andl	$65295, %r9d
	movl	%r9d, 20(%rdi,%rcx)
	cmpq	%rax, %r8
	jle	.L258
	movl	24(%rsi,%rcx), %eax
	xorl	24(%rdx,%rcx), %eax
	andl	$65295, %eax
	movl	%eax, 24(%rdi,%rcx)
	vzeroupper
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdl	(%rdi), %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L258:
	vzeroupper
.L241:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdl	(%rdi), %xmm0, %xmm0
	ret
.L247:
	xorl	%r9d, %r9d
	xorl	%eax, %eax
	jmp	.L242
	.size	whole_bits_i32, .-whole_bits_i32
	.p2align 4
	.globl	whole_add_i64
	.type	whole_add_i64, @function
whole_add_i64:
	testq	%r8, %r8
	jle	.L260
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L266
	movq	%r8, %rcx
	xorl	%eax, %eax
	shrq	$3, %rcx
	salq	$6, %rcx
	.p2align 4,,10
	.p2align 3
.L262:
	vpsllq	$1, (%rdx,%rax), %zmm0
	vpaddq	(%rsi,%rax), %zmm0, %zmm0
	vmovdqu64	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rcx, %rax
	jne	.L262
	movq	%r8, %rax
	andq	$-8, %rax
	movq	%rax, %rcx
	cmpq	%rax, %r8
	je	.L273
.L261:
	movq	%r8, %r9
	subq	%rcx, %r9
	leaq	-1(%r9), %r10
	cmpq	$2, %r10
	jbe	.L264
	vpsllq	$1, (%rdx,%rcx,8), %ymm0
	vpaddq	(%rsi,%rcx,8), %ymm0, %ymm0
	vmovdqu	%ymm0, (%rdi,%rcx,8)
	movq	%r9, %rcx
	andq	$-4, %rcx
	addq	%rcx, %rax
	andl	$3, %r9d
	je	.L273
.L264:
	movq	(%rdx,%rax,8), %r10
	movq	(%rsi,%rax,8), %r9
	leaq	0(,%rax,8), %rcx
	leaq	(%r9,%r10,2), %r9
	movq	%r9, (%rdi,%rax,8)
	leaq	1(%rax), %r9
	cmpq	%r9, %r8
	jle	.L273
	movq	8(%rdx,%rcx), %r10
	movq	8(%rsi,%rcx), %r9
	addq	$2, %rax
	leaq	(%r9,%r10,2), %r9
	movq	%r9, 8(%rdi,%rcx)
	cmpq	%rax, %r8
	jle	.L273
	movq	16(%rdx,%rcx), %rdx
	movq	16(%rsi,%rcx), %rax
	leaq	(%rax,%rdx,2), %rax
	movq	%rax, 16(%rdi,%rcx)
	vzeroupper
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdq	(%rdi), %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L273:
	vzeroupper
.L260:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdq	(%rdi), %xmm0, %xmm0
	ret
.L266:
	xorl	%ecx, %ecx
	xorl	%eax, %eax
	jmp	.L261
	.size	whole_add_i64, .-whole_add_i64
	.p2align 4
	.globl	whole_sum64
	.type	whole_sum64, @function
whole_sum64:
	testq	%r8, %r8
	jle	.L282
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L283
	movq	%r8, %rdx
	movq	%rsi, %rax
	vxorpd	%xmm1, %xmm1, %xmm1
	shrq	$3, %rdx
	salq	$6, %rdx
	addq	%rsi, %rdx
	.p2align 4,,10
	.p2align 3
.L277:
	vaddpd	(%rax), %zmm1, %zmm1
	addq	$64, %rax
	cmpq	%rdx, %rax
	jne	.L277
	vextractf64x4	$0x1, %zmm1, %ymm3
	movq	%r8, %rax
	vaddpd	%ymm1, %ymm3, %ymm0
	andq	$-8, %rax
	vaddpd	%ymm3, %ymm1, %ymm1
	movq	%rax, %rcx
	vextractf64x2	$0x1, %ymm0, %xmm2
	vaddpd	%xmm0, %xmm2, %xmm2
	vunpckhpd	%xmm2, %xmm2, %xmm0
	vaddpd	%xmm2, %xmm0, %xmm0
	cmpq	%rax, %r8
	je	.L290
.L276:
	movq	%r8, %rdx
	subq	%rcx, %rdx
	leaq	-1(%rdx), %rdi
	cmpq	$2, %rdi
	jbe	.L280
	vaddpd	(%rsi,%rcx,8), %ymm1, %ymm1
	movq	%rdx, %rcx
	andq	$-4, %rcx
	addq	%rcx, %rax
	andl	$3, %edx
	vextractf64x2	$0x1, %ymm1, %xmm0
	vaddpd	%xmm1, %xmm0, %xmm1
	vunpckhpd	%xmm1, %xmm1, %xmm0
	vaddpd	%xmm1, %xmm0, %xmm0
	je	.L290
.L280:
	leaq	1(%rax), %rcx
	vaddsd	(%rsi,%rax,8), %xmm0, %xmm0
	leaq	0(,%rax,8), %rdx
	cmpq	%rcx, %r8
	jle	.L290
	addq	$2, %rax
	vaddsd	8(%rsi,%rdx), %xmm0, %xmm0
	cmpq	%r8, %rax
	jge	.L290
	vaddsd	16(%rsi,%rdx), %xmm0, %xmm0
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L290:
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L282:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
.L283:
	vxorpd	%xmm1, %xmm1, %xmm1
	xorl	%ecx, %ecx
	vxorpd	%xmm0, %xmm0, %xmm0
	xorl	%eax, %eax
	jmp	.L276
	.size	whole_sum64, .-whole_sum64
	.p2align 4
	.globl	whole_sum32
	.type	whole_sum32, @function
whole_sum32:
	movq	%rsi, %rdx
	testq	%r8, %r8
	jle	.L298
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L299
	movq	%r8, %rcx
	movq	%rsi, %rax
	vxorps	%xmm1, %xmm1, %xmm1
	shrq	$4, %rcx
	salq	$6, %rcx
	addq	%rsi, %rcx
	.p2align 4,,10
	.p2align 3
.L294:
	vaddps	(%rax), %zmm1, %zmm1
	addq	$64, %rax
	cmpq	%rcx, %rax
	jne	.L294
	vextractf32x8	$0x1, %zmm1, %ymm3
	movq	%r8, %rax
	vaddps	%ymm1, %ymm3, %ymm2
	andq	$-16, %rax
	vaddps	%ymm3, %ymm1, %ymm1
	movq	%rax, %rsi
	vextractf128	$0x1, %ymm2, %xmm0
	vaddps	%xmm2, %xmm0, %xmm0
	vmovhlps	%xmm0, %xmm0, %xmm2
	vaddps	%xmm0, %xmm2, %xmm2
	vshufps	$85, %xmm2, %xmm2, %xmm0
	vaddps	%xmm2, %xmm0, %xmm0
	cmpq	%rax, %r8
	je	.L295
.L293:
	movq	%r8, %rcx
	subq	%rsi, %rcx
	leaq	-1(%rcx), %rdi
	cmpq	$6, %rdi
	jbe	.L296
	vaddps	(%rdx,%rsi,4), %ymm1, %ymm1
	movq	%rcx, %rsi
	andq	$-8, %rsi
	addq	%rsi, %rax
	andl	$7, %ecx
	vextractf128	$0x1, %ymm1, %xmm0
	vaddps	%xmm1, %xmm0, %xmm0
	vmovhlps	%xmm0, %xmm0, %xmm1
	vaddps	%xmm0, %xmm1, %xmm1
	vshufps	$85, %xmm1, %xmm1, %xmm0
	vaddps	%xmm1, %xmm0, %xmm0
	je	.L295
.L296:
	leaq	1(%rax), %rsi
	vaddss	(%rdx,%rax,4), %xmm0, %xmm0
	leaq	0(,%rax,4), %rcx
	cmpq	%rsi, %r8
	jle	.L295
	leaq	2(%rax), %rsi
	vaddss	4(%rdx,%rcx), %xmm0, %xmm0
	cmpq	%r8, %rsi
	jge	.L295
	leaq	3(%rax), %rsi
	vaddss	8(%rdx,%rcx), %xmm0, %xmm0
	cmpq	%rsi, %r8
	jle	.L295
	leaq	4(%rax), %rsi
	vaddss	12(%rdx,%rcx), %xmm0, %xmm0
	cmpq	%rsi, %r8
	jle	.L295
	leaq	5(%rax), %rsi
	vaddss	16(%rdx,%rcx), %xmm0, %xmm0
	cmpq	%rsi, %r8
	jle	.L295
	addq	$6, %rax
	vaddss	20(%rdx,%rcx), %xmm0, %xmm0
	cmpq	%rax, %r8
	jle	.L295
	vaddss	24(%rdx,%rcx), %xmm0, %xmm0
.L295:
	vcvtss2sd	%xmm0, %xmm0, %xmm0
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L298:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
.L299:
	vxorps	%xmm1, %xmm1, %xmm1
	xorl	%esi, %esi
	vxorps	%xmm0, %xmm0, %xmm0
	xorl	%eax, %eax
	jmp	.L293
	.size	whole_sum32, .-whole_sum32
	.p2align 4
	.globl	whole_dot64
	.type	whole_dot64, @function
whole_dot64:
	testq	%r8, %r8
	jle	.L312
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L313
	movq	%r8, %rcx
	xorl	%eax, %eax
	vxorpd	%xmm1, %xmm1, %xmm1
	shrq	$3, %rcx
	salq	$6, %rcx
	.p2align 4,,10
	.p2align 3
.L307:
	vmovupd	(%rsi,%rax), %zmm4
	vfmadd231pd	(%rdx,%rax), %zmm4, %zmm1
	addq	$64, %rax
	cmpq	%rax, %rcx
	jne	.L307
	vextractf64x4	$0x1, %zmm1, %ymm3
	movq	%r8, %rax
	vaddpd	%ymm1, %ymm3, %ymm0
	andq	$-8, %rax
	vaddpd	%ymm3, %ymm1, %ymm1
	movq	%rax, %rcx
	vextractf64x2	$0x1, %ymm0, %xmm2
	vaddpd	%xmm0, %xmm2, %xmm2
	vunpckhpd	%xmm2, %xmm2, %xmm0
	vaddpd	%xmm2, %xmm0, %xmm0
	cmpq	%rax, %r8
	je	.L320
.L306:
	movq	%r8, %rdi
	subq	%rcx, %rdi
	leaq	-1(%rdi), %r9
	cmpq	$2, %r9
	jbe	.L310
	vmovupd	(%rsi,%rcx,8), %ymm5
	vfmadd231pd	(%rdx,%rcx,8), %ymm5, %ymm1
	movq	%rdi, %rcx
	andq	$-4, %rcx
	addq	%rcx, %rax
	andl	$3, %edi
	vextractf64x2	$0x1, %ymm1, %xmm0
	vaddpd	%xmm1, %xmm0, %xmm1
	vunpckhpd	%xmm1, %xmm1, %xmm0
	vaddpd	%xmm1, %xmm0, %xmm0
	je	.L320
.L310:
	leaq	1(%rax), %rdi
	vmovsd	(%rsi,%rax,8), %xmm6
	leaq	0(,%rax,8), %rcx
	vfmadd231sd	(%rdx,%rax,8), %xmm6, %xmm0
	cmpq	%rdi, %r8
	jle	.L320
	addq	$2, %rax
	vmovsd	8(%rdx,%rcx), %xmm7
	vfmadd231sd	8(%rsi,%rcx), %xmm7, %xmm0
	cmpq	%rax, %r8
	jle	.L320
	vmovsd	16(%rsi,%rcx), %xmm7
	vfmadd231sd	16(%rdx,%rcx), %xmm7, %xmm0
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L320:
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L312:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
.L313:
	vxorpd	%xmm1, %xmm1, %xmm1
	xorl	%ecx, %ecx
	vxorpd	%xmm0, %xmm0, %xmm0
	xorl	%eax, %eax
	jmp	.L306
	.size	whole_dot64, .-whole_dot64
	.p2align 4
	.globl	whole_dot32
	.type	whole_dot32, @function
whole_dot32:
	testq	%r8, %r8
	jle	.L328
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L329
	movq	%r8, %rcx
	xorl	%eax, %eax
	vxorps	%xmm1, %xmm1, %xmm1
	shrq	$4, %rcx
	salq	$6, %rcx
	.p2align 4,,10
	.p2align 3
.L324:
	vmovups	(%rsi,%rax), %zmm4
	vfmadd231ps	(%rdx,%rax), %zmm4, %zmm1
	addq	$64, %rax
	cmpq	%rax, %rcx
	jne	.L324
	vextractf32x8	$0x1, %zmm1, %ymm3
	movq	%r8, %rax
	vaddps	%ymm1, %ymm3, %ymm2
	andq	$-16, %rax
	vaddps	%ymm3, %ymm1, %ymm1
	movq	%rax, %rcx
	vextractf128	$0x1, %ymm2, %xmm0
	vaddps	%xmm2, %xmm0, %xmm0
	vmovhlps	%xmm0, %xmm0, %xmm2
	vaddps	%xmm0, %xmm2, %xmm2
	vshufps	$85, %xmm2, %xmm2, %xmm0
	vaddps	%xmm2, %xmm0, %xmm0
	cmpq	%r8, %rax
	je	.L325
.L323:
	movq	%r8, %rdi
	subq	%rcx, %rdi
	leaq	-1(%rdi), %r9
	cmpq	$6, %r9
	jbe	.L326
	vmovups	(%rsi,%rcx,4), %ymm5
	vfmadd231ps	(%rdx,%rcx,4), %ymm5, %ymm1
	movq	%rdi, %rcx
	andq	$-8, %rcx
	addq	%rcx, %rax
	andl	$7, %edi
	vextractf128	$0x1, %ymm1, %xmm0
	vaddps	%xmm1, %xmm0, %xmm0
	vmovhlps	%xmm0, %xmm0, %xmm1
	vaddps	%xmm0, %xmm1, %xmm1
	vshufps	$85, %xmm1, %xmm1, %xmm0
	vaddps	%xmm1, %xmm0, %xmm0
	je	.L325
.L326:
	leaq	1(%rax), %rdi
	vmovss	(%rsi,%rax,4), %xmm6
	leaq	0(,%rax,4), %rcx
	vfmadd231ss	(%rdx,%rax,4), %xmm6, %xmm0
	cmpq	%rdi, %r8
	jle	.L325
	leaq	2(%rax), %rdi
	vmovss	4(%rdx,%rcx), %xmm7
	vfmadd231ss	4(%rsi,%rcx), %xmm7, %xmm0
	cmpq	%rdi, %r8
	jle	.L325
	leaq	3(%rax), %rdi
	vmovss	8(%rsi,%rcx), %xmm7
	vfmadd231ss	8(%rdx,%rcx), %xmm7, %xmm0
	cmpq	%rdi, %r8
	jle	.L325
	leaq	4(%rax), %rdi
	vmovss	12(%rsi,%rcx), %xmm6
	vfmadd231ss	12(%rdx,%rcx), %xmm6, %xmm0
	cmpq	%rdi, %r8
	jle	.L325
	leaq	5(%rax), %rdi
	vmovss	16(%rsi,%rcx), %xmm3
	vfmadd231ss	16(%rdx,%rcx), %xmm3, %xmm0
	cmpq	%rdi, %r8
	jle	.L325
	addq	$6, %rax
	vmovss	20(%rsi,%rcx), %xmm7
	vfmadd231ss	20(%rdx,%rcx), %xmm7, %xmm0
	cmpq	%rax, %r8
	jle	.L325
	vmovss	24(%rsi,%rcx), %xmm6
	vfmadd231ss	24(%rdx,%rcx), %xmm6, %xmm0
.L325:
	vcvtss2sd	%xmm0, %xmm0, %xmm0
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L328:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
.L329:
	vxorps	%xmm1, %xmm1, %xmm1
	xorl	%ecx, %ecx
	vxorps	%xmm0, %xmm0, %xmm0
	xorl	%eax, %eax
	jmp	.L323
	.size	whole_dot32, .-whole_dot32
	.p2align 4
	.globl	whole_product64
	.type	whole_product64, @function
whole_product64:
	movq	%rsi, %rcx
	testq	%r8, %r8
	jle	.L343
	leaq	-1(%r8), %rax
	cmpq	$7, %rax
	jbe	.L344
	vbroadcastsd	.LC22(%rip), %zmm0
	movq	%r8, %rdx
	movq	%rsi, %rax
	shrq	$3, %rdx
	salq	$6, %rdx
	addq	%rsi, %rdx
	.p2align 4,,10
	.p2align 3
.L337:
	vmulpd	(%rax), %zmm0, %zmm0
	addq	$64, %rax
	cmpq	%rdx, %rax
	jne	.L337
	vmovapd	%ymm0, %ymm1
	vextractf64x4	$0x1, %zmm0, %ymm0
	movq	%r8, %rax
	vmulpd	%ymm0, %ymm1, %ymm0
	andq	$-8, %rax
	movq	%rax, %rsi
	vmovapd	%xmm0, %xmm1
	vextractf64x2	$0x1, %ymm0, %xmm0
	vmulpd	%xmm0, %xmm1, %xmm1
	vpsrldq	$8, %xmm1, %xmm0
	vmulpd	%xmm0, %xmm1, %xmm0
	cmpq	%rax, %r8
	je	.L356
	vzeroupper
.L336:
	movq	%r8, %rdx
	subq	%rsi, %rdx
	leaq	-1(%rdx), %rdi
	cmpq	$2, %rdi
	jbe	.L340
	leaq	(%rcx,%rsi,8), %rsi
	movq	%rdx, %rdi
	vmulpd	(%rsi), %xmm1, %xmm1
	shrq	%rdi
	vmulpd	16(%rsi), %xmm1, %xmm0
	cmpq	$2, %rdi
	je	.L341
	vmulpd	32(%rsi), %xmm0, %xmm0
	cmpq	$3, %rdi
	je	.L341
	vmulpd	48(%rsi), %xmm0, %xmm0
.L341:
	vpsrldq	$8, %xmm0, %xmm1
	vmulpd	%xmm1, %xmm0, %xmm0
	testb	$1, %dl
	je	.L334
	andq	$-2, %rdx
	addq	%rdx, %rax
.L340:
	leaq	1(%rax), %rsi
	vmulsd	(%rcx,%rax,8), %xmm0, %xmm0
	leaq	0(,%rax,8), %rdx
	cmpq	%rsi, %r8
	jle	.L334
	vmulsd	8(%rcx,%rdx), %xmm0, %xmm0
	addq	$2, %rax
	cmpq	%r8, %rax
	jge	.L334
	vmulsd	16(%rcx,%rdx), %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L343:
	vmovsd	.LC22(%rip), %xmm0
.L334:
	ret
	.p2align 4,,10
	.p2align 3
.L356:
	vzeroupper
	ret
.L344:
	vmovsd	.LC22(%rip), %xmm0
	xorl	%esi, %esi
	xorl	%eax, %eax
	vmovddup	.LC22(%rip), %xmm1
	jmp	.L336
	.size	whole_product64, .-whole_product64
	.p2align 4
	.globl	whole_most64
	.type	whole_most64, @function
whole_most64:
	movq	%rsi, %rcx
	testq	%r8, %r8
	jle	.L363
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L364
	movq	%r8, %rdx
	movq	%rsi, %rax
	vxorpd	%xmm0, %xmm0, %xmm0
	shrq	$3, %rdx
	salq	$6, %rdx
	addq	%rsi, %rdx
	.p2align 4,,10
	.p2align 3
.L360:
	vmaxpd	(%rax), %zmm0, %zmm0
	addq	$64, %rax
	cmpq	%rdx, %rax
	jne	.L360
	vextractf64x4	$0x1, %zmm0, %ymm1
	movq	%r8, %rax
	vmaxpd	%ymm0, %ymm1, %ymm0
	andq	$-8, %rax
	vextractf64x2	$0x1, %ymm0, %xmm1
	vmaxpd	%xmm0, %xmm1, %xmm1
	vunpckhpd	%xmm1, %xmm1, %xmm0
	vmaxpd	%xmm1, %xmm0, %xmm0
	testb	$7, %r8b
	je	.L367
	vzeroupper
.L359:
	leaq	1(%rax), %rsi
	vmaxsd	(%rcx,%rax,8), %xmm0, %xmm0
	leaq	0(,%rax,8), %rdx
	cmpq	%rsi, %r8
	jle	.L357
	leaq	2(%rax), %rsi
	vmaxsd	8(%rcx,%rdx), %xmm0, %xmm0
	cmpq	%rsi, %r8
	jle	.L357
	leaq	3(%rax), %rsi
	vmaxsd	16(%rcx,%rdx), %xmm0, %xmm0
	cmpq	%rsi, %r8
	jle	.L357
	leaq	4(%rax), %rsi
	vmaxsd	24(%rcx,%rdx), %xmm0, %xmm0
	cmpq	%rsi, %r8
	jle	.L357
	leaq	5(%rax), %rsi
	vmaxsd	32(%rcx,%rdx), %xmm0, %xmm0
	cmpq	%rsi, %r8
	jle	.L357
	addq	$6, %rax
	vmaxsd	40(%rcx,%rdx), %xmm0, %xmm0
	cmpq	%rax, %r8
	jle	.L357
	vmaxsd	48(%rcx,%rdx), %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L363:
	vxorpd	%xmm0, %xmm0, %xmm0
.L357:
	ret
	.p2align 4,,10
	.p2align 3
.L367:
	vzeroupper
	ret
.L364:
	xorl	%eax, %eax
	vxorpd	%xmm0, %xmm0, %xmm0
	jmp	.L359
	.size	whole_most64, .-whole_most64
	.p2align 4
	.globl	whole_sum_i32
	.type	whole_sum_i32, @function
whole_sum_i32:
	movq	%rsi, %rcx
	testq	%r8, %r8
	jle	.L375
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L376
	movq	%r8, %rdx
	movq	%rsi, %rax
	vpxor	%xmm0, %xmm0, %xmm0
	shrq	$4, %rdx
	salq	$6, %rdx
	addq	%rsi, %rdx
	.p2align 4,,10
	.p2align 3
.L371:
	vpaddd	(%rax), %zmm0, %zmm0
	addq	$64, %rax
	cmpq	%rdx, %rax
	jne	.L371
	vmovdqa	%ymm0, %ymm1
	vextracti32x8	$0x1, %zmm0, %ymm0
	movq	%r8, %rdx
	vpaddd	%ymm0, %ymm1, %ymm1
	andq	$-16, %rdx
	vextracti128	$0x1, %ymm1, %xmm2
	movq	%rdx, %rdi
	vpaddd	%xmm2, %xmm1, %xmm0
	vpsrldq	$8, %xmm0, %xmm2
	vpaddd	%xmm2, %xmm0, %xmm0
	vpsrldq	$4, %xmm0, %xmm2
	vpaddd	%xmm2, %xmm0, %xmm0
	vmovd	%xmm0, %eax
	cmpq	%rdx, %r8
	je	.L372
.L370:
	movq	%r8, %rsi
	subq	%rdi, %rsi
	leaq	-1(%rsi), %r9
	cmpq	$6, %r9
	jbe	.L373
	vpaddd	(%rcx,%rdi,4), %ymm1, %ymm1
	movq	%rsi, %rdi
	andq	$-8, %rdi
	vmovdqa	%xmm1, %xmm0
	vextracti128	$0x1, %ymm1, %xmm1
	addq	%rdi, %rdx
	andl	$7, %esi
	vpaddd	%xmm1, %xmm0, %xmm0
	vpsrldq	$8, %xmm0, %xmm1
	vpaddd	%xmm1, %xmm0, %xmm0
	vpsrldq	$4, %xmm0, %xmm1
	vpaddd	%xmm1, %xmm0, %xmm0
	vmovd	%xmm0, %eax
	je	.L372
.L373:
	leaq	1(%rdx), %rdi
	leaq	0(,%rdx,4), %rsi
	addl	(%rcx,%rdx,4), %eax
	cmpq	%rdi, %r8
	jle	.L372
	leaq	2(%rdx), %rdi
	addl	4(%rcx,%rsi), %eax
	cmpq	%r8, %rdi
	jge	.L372
	leaq	3(%rdx), %rdi
	addl	8(%rcx,%rsi), %eax
	cmpq	%rdi, %r8
	jle	.L372
	leaq	4(%rdx), %rdi
	addl	12(%rcx,%rsi), %eax
	cmpq	%rdi, %r8
	jle	.L372
	leaq	5(%rdx), %rdi
	addl	16(%rcx,%rsi), %eax
	cmpq	%rdi, %r8
	jle	.L372
	addq	$6, %rdx
	addl	20(%rcx,%rsi), %eax
	cmpq	%rdx, %r8
	jle	.L372
	addl	24(%rcx,%rsi), %eax
.L372:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdl	%eax, %xmm0, %xmm0
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L375:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
.L376:
	vpxor	%xmm1, %xmm1, %xmm1
	xorl	%edi, %edi
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.L370
	.size	whole_sum_i32, .-whole_sum_i32
	.p2align 4
	.globl	whole_sum_i64
	.type	whole_sum_i64, @function
whole_sum_i64:
	testq	%r8, %r8
	jle	.L386
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L387
	movq	%r8, %rdx
	movq	%rsi, %rax
	vpxor	%xmm0, %xmm0, %xmm0
	shrq	$3, %rdx
	salq	$6, %rdx
	addq	%rsi, %rdx
	.p2align 4,,10
	.p2align 3
.L384:
	vpaddq	(%rax), %zmm0, %zmm0
	addq	$64, %rax
	cmpq	%rdx, %rax
	jne	.L384
	vmovdqa	%ymm0, %ymm1
	vextracti64x4	$0x1, %zmm0, %ymm0
	movq	%r8, %rdx
	vpaddq	%ymm0, %ymm1, %ymm1
	andq	$-8, %rdx
	vmovdqa	%xmm1, %xmm0
	vextracti64x2	$0x1, %ymm1, %xmm1
	vpaddq	%xmm1, %xmm0, %xmm0
	vpsrldq	$8, %xmm0, %xmm1
	vpaddq	%xmm1, %xmm0, %xmm0
	vmovq	%xmm0, %rax
	testb	$7, %r8b
	je	.L390
	vzeroupper
.L383:
	leaq	1(%rdx), %rdi
	leaq	0(,%rdx,8), %rcx
	addq	(%rsi,%rdx,8), %rax
	cmpq	%rdi, %r8
	jle	.L385
	leaq	2(%rdx), %rdi
	addq	8(%rsi,%rcx), %rax
	cmpq	%rdi, %r8
	jle	.L385
	leaq	3(%rdx), %rdi
	addq	16(%rsi,%rcx), %rax
	cmpq	%rdi, %r8
	jle	.L385
	leaq	4(%rdx), %rdi
	addq	24(%rsi,%rcx), %rax
	cmpq	%rdi, %r8
	jle	.L385
	leaq	5(%rdx), %rdi
	addq	32(%rsi,%rcx), %rax
	cmpq	%rdi, %r8
	jle	.L385
	addq	$6, %rdx
	addq	40(%rsi,%rcx), %rax
	cmpq	%rdx, %r8
	jle	.L385
	addq	48(%rsi,%rcx), %rax
.L385:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdq	%rax, %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L386:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L390:
	vzeroupper
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdq	%rax, %xmm0, %xmm0
	ret
.L387:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.L383
	.size	whole_sum_i64, .-whole_sum_i64
	.p2align 4
	.globl	whole_squares32
	.type	whole_squares32, @function
whole_squares32:
	testq	%r8, %r8
	jle	.L398
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L399
	movq	%r8, %rdx
	movq	%rsi, %rax
	vxorps	%xmm1, %xmm1, %xmm1
	vbroadcastss	.LC25(%rip), %zmm2
	shrq	$4, %rdx
	salq	$6, %rdx
	addq	%rsi, %rdx
	.p2align 4,,10
	.p2align 3
.L394:
	vaddps	(%rax), %zmm2, %zmm0
	addq	$64, %rax
	vfmadd231ps	%zmm0, %zmm0, %zmm1
	cmpq	%rdx, %rax
	jne	.L394
	vextractf32x8	$0x1, %zmm1, %ymm3
	movq	%r8, %rax
	vaddps	%ymm1, %ymm3, %ymm2
	andq	$-16, %rax
	vaddps	%ymm3, %ymm1, %ymm1
	movq	%rax, %rcx
	vextractf128	$0x1, %ymm2, %xmm0
	vaddps	%xmm2, %xmm0, %xmm0
	vmovhlps	%xmm0, %xmm0, %xmm2
	vaddps	%xmm0, %xmm2, %xmm2
	vshufps	$85, %xmm2, %xmm2, %xmm0
	vaddps	%xmm2, %xmm0, %xmm0
	cmpq	%r8, %rax
	je	.L395
.L393:
	movq	%r8, %rdx
	subq	%rcx, %rdx
	leaq	-1(%rdx), %rdi
	cmpq	$6, %rdi
	jbe	.L396
	vbroadcastss	.LC25(%rip), %ymm0
	vaddps	(%rsi,%rcx,4), %ymm0, %ymm0
	movq	%rdx, %rcx
	andq	$-8, %rcx
	addq	%rcx, %rax
	andl	$7, %edx
	vfmadd132ps	%ymm0, %ymm1, %ymm0
	vextractf128	$0x1, %ymm0, %xmm1
	vaddps	%xmm0, %xmm1, %xmm0
	vmovhlps	%xmm0, %xmm0, %xmm1
	vaddps	%xmm0, %xmm1, %xmm1
	vshufps	$85, %xmm1, %xmm1, %xmm0
	vaddps	%xmm1, %xmm0, %xmm0
	je	.L395
.L396:
	vmovss	(%rsi,%rax,4), %xmm2
	leaq	1(%rax), %rcx
	vmovss	.LC27(%rip), %xmm1
	leaq	0(,%rax,4), %rdx
	vsubss	%xmm1, %xmm2, %xmm2
	vfmadd231ss	%xmm2, %xmm2, %xmm0
	cmpq	%rcx, %r8
	jle	.L395
	vmovss	4(%rsi,%rdx), %xmm2
	leaq	2(%rax), %rcx
	vsubss	%xmm1, %xmm2, %xmm2
	vfmadd231ss	%xmm2, %xmm2, %xmm0
	cmpq	%rcx, %r8
	jle	.L395
	vmovss	8(%rsi,%rdx), %xmm2
	leaq	3(%rax), %rcx
	vsubss	%xmm1, %xmm2, %xmm2
	vfmadd231ss	%xmm2, %xmm2, %xmm0
	cmpq	%rcx, %r8
	jle	.L395
	vmovss	12(%rsi,%rdx), %xmm2
	leaq	4(%rax), %rcx
	vsubss	%xmm1, %xmm2, %xmm2
	vfmadd231ss	%xmm2, %xmm2, %xmm0
	cmpq	%rcx, %r8
	jle	.L395
	vmovss	16(%rsi,%rdx), %xmm2
	leaq	5(%rax), %rcx
	vsubss	%xmm1, %xmm2, %xmm2
	vfmadd231ss	%xmm2, %xmm2, %xmm0
	cmpq	%rcx, %r8
	jle	.L395
	vmovss	20(%rsi,%rdx), %xmm2
	addq	$6, %rax
	vsubss	%xmm1, %xmm2, %xmm2
	vfmadd231ss	%xmm2, %xmm2, %xmm0
	cmpq	%rax, %r8
	jle	.L395
	vmovss	24(%rsi,%rdx), %xmm2
	vsubss	%xmm1, %xmm2, %xmm1
	vfmadd231ss	%xmm1, %xmm1, %xmm0
.L395:
	vcvtss2sd	%xmm0, %xmm0, %xmm0
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L398:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
.L399:
	vxorps	%xmm1, %xmm1, %xmm1
	xorl	%ecx, %ecx
	vxorps	%xmm0, %xmm0, %xmm0
	xorl	%eax, %eax
	jmp	.L393
	.size	whole_squares32, .-whole_squares32
	.p2align 4
	.globl	whole_distance64
	.type	whole_distance64, @function
whole_distance64:
	movq	%rsi, %rcx
	testq	%r8, %r8
	jle	.L412
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L413
	movq	%r8, %rsi
	xorl	%eax, %eax
	vxorpd	%xmm1, %xmm1, %xmm1
	vbroadcastsd	.LC29(%rip), %zmm2
	shrq	$3, %rsi
	salq	$6, %rsi
	.p2align 4,,10
	.p2align 3
.L407:
	vmovupd	(%rcx,%rax), %zmm4
	vsubpd	(%rdx,%rax), %zmm4, %zmm0
	addq	$64, %rax
	vandpd	%zmm2, %zmm0, %zmm0
	vaddpd	%zmm0, %zmm1, %zmm1
	cmpq	%rax, %rsi
	jne	.L407
	vextractf64x4	$0x1, %zmm1, %ymm3
	movq	%r8, %rax
	vaddpd	%ymm1, %ymm3, %ymm0
	andq	$-8, %rax
	vaddpd	%ymm3, %ymm1, %ymm1
	movq	%rax, %rsi
	vextractf64x2	$0x1, %ymm0, %xmm2
	vaddpd	%xmm0, %xmm2, %xmm2
	vunpckhpd	%xmm2, %xmm2, %xmm0
	vaddpd	%xmm2, %xmm0, %xmm0
	cmpq	%r8, %rax
	je	.L420
.L406:
	movq	%r8, %rdi
	subq	%rsi, %rdi
	leaq	-1(%rdi), %r9
	cmpq	$2, %r9
	jbe	.L410
	vmovupd	(%rcx,%rsi,8), %ymm5
	vsubpd	(%rdx,%rsi,8), %ymm5, %ymm0
	movq	%rdi, %rsi
	vbroadcastsd	.LC29(%rip), %ymm2
	andq	$-4, %rsi
	addq	%rsi, %rax
	andl	$3, %edi
	vandpd	%ymm2, %ymm0, %ymm0
	vaddpd	%ymm1, %ymm0, %ymm0
	vextractf64x2	$0x1, %ymm0, %xmm1
	vaddpd	%xmm0, %xmm1, %xmm1
	vunpckhpd	%xmm1, %xmm1, %xmm0
	vaddpd	%xmm1, %xmm0, %xmm0
	je	.L420
.L410:
	vmovsd	(%rcx,%rax,8), %xmm1
	vsubsd	(%rdx,%rax,8), %xmm1, %xmm1
	leaq	1(%rax), %rdi
	vmovq	.LC31(%rip), %xmm2
	leaq	0(,%rax,8), %rsi
	vandpd	%xmm2, %xmm1, %xmm1
	vaddsd	%xmm1, %xmm0, %xmm0
	cmpq	%rdi, %r8
	jle	.L420
	vmovsd	8(%rcx,%rsi), %xmm1
	vsubsd	8(%rdx,%rsi), %xmm1, %xmm1
	addq	$2, %rax
	vandpd	%xmm2, %xmm1, %xmm1
	vaddsd	%xmm1, %xmm0, %xmm0
	cmpq	%rax, %r8
	jle	.L420
	vmovsd	16(%rcx,%rsi), %xmm1
	vsubsd	16(%rdx,%rsi), %xmm1, %xmm1
	vandpd	%xmm2, %xmm1, %xmm1
	vaddsd	%xmm1, %xmm0, %xmm0
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L420:
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L412:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
.L413:
	vxorpd	%xmm1, %xmm1, %xmm1
	xorl	%esi, %esi
	vxorpd	%xmm0, %xmm0, %xmm0
	xorl	%eax, %eax
	jmp	.L406
	.size	whole_distance64, .-whole_distance64
	.p2align 4
	.globl	whole_roots64
	.type	whole_roots64, @function
whole_roots64:
	testq	%r8, %r8
	jle	.L429
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L430
	movq	%r8, %rdx
	movq	%rsi, %rax
	vxorpd	%xmm1, %xmm1, %xmm1
	shrq	$3, %rdx
	salq	$6, %rdx
	addq	%rsi, %rdx
	.p2align 4,,10
	.p2align 3
.L424:
	vsqrtpd	(%rax), %zmm0
	addq	$64, %rax
	vaddpd	%zmm0, %zmm1, %zmm1
	cmpq	%rdx, %rax
	jne	.L424
	vextractf64x4	$0x1, %zmm1, %ymm3
	movq	%r8, %rax
	vaddpd	%ymm1, %ymm3, %ymm0
	andq	$-8, %rax
	vaddpd	%ymm3, %ymm1, %ymm1
	movq	%rax, %rcx
	vextractf64x2	$0x1, %ymm0, %xmm2
	vaddpd	%xmm0, %xmm2, %xmm2
	vunpckhpd	%xmm2, %xmm2, %xmm0
	vaddpd	%xmm2, %xmm0, %xmm0
	cmpq	%rax, %r8
	je	.L437
.L423:
	movq	%r8, %rdx
	subq	%rcx, %rdx
	leaq	-1(%rdx), %rdi
	cmpq	$2, %rdi
	jbe	.L427
	vsqrtpd	(%rsi,%rcx,8), %ymm0
	movq	%rdx, %rcx
	andq	$-4, %rcx
	addq	%rcx, %rax
	andl	$3, %edx
	vaddpd	%ymm0, %ymm1, %ymm1
	vextractf64x2	$0x1, %ymm1, %xmm0
	vaddpd	%xmm1, %xmm0, %xmm1
	vunpckhpd	%xmm1, %xmm1, %xmm0
	vaddpd	%xmm1, %xmm0, %xmm0
	je	.L437
.L427:
	vxorps	%xmm1, %xmm1, %xmm1
	vsqrtsd	(%rsi,%rax,8), %xmm1, %xmm2
	leaq	1(%rax), %rcx
	leaq	0(,%rax,8), %rdx
	vaddsd	%xmm2, %xmm0, %xmm0
	cmpq	%rcx, %r8
	jle	.L437
	vsqrtsd	8(%rsi,%rdx), %xmm1, %xmm2
	addq	$2, %rax
	vaddsd	%xmm2, %xmm0, %xmm0
	cmpq	%rax, %r8
	jle	.L437
	vsqrtsd	16(%rsi,%rdx), %xmm1, %xmm1
	vaddsd	%xmm1, %xmm0, %xmm0
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L437:
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L429:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
.L430:
	vxorpd	%xmm1, %xmm1, %xmm1
	xorl	%ecx, %ecx
	vxorpd	%xmm0, %xmm0, %xmm0
	xorl	%eax, %eax
	jmp	.L423
	.size	whole_roots64, .-whole_roots64
	.p2align 4
	.globl	whole_quotients64
	.type	whole_quotients64, @function
whole_quotients64:
	testq	%r8, %r8
	jle	.L446
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L447
	movq	%r8, %rcx
	xorl	%eax, %eax
	vxorpd	%xmm1, %xmm1, %xmm1
	shrq	$3, %rcx
	salq	$6, %rcx
	.p2align 4,,10
	.p2align 3
.L441:
	vmovupd	(%rsi,%rax), %zmm4
	vdivpd	(%rdx,%rax), %zmm4, %zmm0
	addq	$64, %rax
	vaddpd	%zmm0, %zmm1, %zmm1
	cmpq	%rax, %rcx
	jne	.L441
	vextractf64x4	$0x1, %zmm1, %ymm3
	movq	%r8, %rax
	vaddpd	%ymm1, %ymm3, %ymm0
	andq	$-8, %rax
	vaddpd	%ymm3, %ymm1, %ymm1
	movq	%rax, %rcx
	vextractf64x2	$0x1, %ymm0, %xmm2
	vaddpd	%xmm0, %xmm2, %xmm2
	vunpckhpd	%xmm2, %xmm2, %xmm0
	vaddpd	%xmm2, %xmm0, %xmm0
	cmpq	%rax, %r8
	je	.L454
.L440:
	movq	%r8, %rdi
	subq	%rcx, %rdi
	leaq	-1(%rdi), %r9
	cmpq	$2, %r9
	jbe	.L444
	vmovupd	(%rsi,%rcx,8), %ymm5
	vdivpd	(%rdx,%rcx,8), %ymm5, %ymm0
	vaddpd	%ymm1, %ymm0, %ymm0
	movq	%rdi, %rcx
	andq	$-4, %rcx
	addq	%rcx, %rax
	andl	$3, %edi
	vextractf64x2	$0x1, %ymm0, %xmm1
	vaddpd	%xmm0, %xmm1, %xmm1
	vunpckhpd	%xmm1, %xmm1, %xmm0
	vaddpd	%xmm1, %xmm0, %xmm0
	je	.L454
.L444:
	leaq	1(%rax), %rdi
	vmovsd	(%rsi,%rax,8), %xmm1
	leaq	0(,%rax,8), %rcx
	vdivsd	(%rdx,%rax,8), %xmm1, %xmm1
	vaddsd	%xmm1, %xmm0, %xmm0
	cmpq	%rdi, %r8
	jle	.L454
	addq	$2, %rax
	vmovsd	8(%rsi,%rcx), %xmm1
	vdivsd	8(%rdx,%rcx), %xmm1, %xmm1
	vaddsd	%xmm1, %xmm0, %xmm0
	cmpq	%rax, %r8
	jle	.L454
	vmovsd	16(%rsi,%rcx), %xmm1
	vdivsd	16(%rdx,%rcx), %xmm1, %xmm1
	vaddsd	%xmm1, %xmm0, %xmm0
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L454:
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L446:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
.L447:
	vxorpd	%xmm1, %xmm1, %xmm1
	xorl	%ecx, %ecx
	vxorpd	%xmm0, %xmm0, %xmm0
	xorl	%eax, %eax
	jmp	.L440
	.size	whole_quotients64, .-whole_quotients64
	.p2align 4
	.globl	whole_inverse32
	.type	whole_inverse32, @function
whole_inverse32:
	testq	%r8, %r8
	jle	.L456
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L462
	vbroadcastss	.LC4(%rip), %zmm1
	movq	%r8, %rdx
	xorl	%eax, %eax
	shrq	$4, %rdx
	salq	$6, %rdx
	.p2align 4,,10
	.p2align 3
.L458:
	vdivps	(%rsi,%rax), %zmm1, %zmm0
	vmovups	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rax, %rdx
	jne	.L458
	movq	%r8, %rax
	andq	$-16, %rax
	movq	%rax, %rdx
	cmpq	%rax, %r8
	je	.L473
.L457:
	movq	%r8, %rcx
	subq	%rdx, %rcx
	leaq	-1(%rcx), %r9
	cmpq	$6, %r9
	jbe	.L460
	vbroadcastss	.LC4(%rip), %ymm0
	vdivps	(%rsi,%rdx,4), %ymm0, %ymm0
	vmovups	%ymm0, (%rdi,%rdx,4)
	movq	%rcx, %rdx
	andq	$-8, %rdx
	addq	%rdx, %rax
	andl	$7, %ecx
	je	.L473
.L460:
	leaq	1(%rax), %rcx
	leaq	0(,%rax,4), %rdx
	vmovss	.LC4(%rip), %xmm0
	vdivss	(%rsi,%rax,4), %xmm0, %xmm1
	vmovss	%xmm1, (%rdi,%rax,4)
	cmpq	%rcx, %r8
	jle	.L473
	leaq	2(%rax), %rcx
	vdivss	4(%rsi,%rdx), %xmm0, %xmm1
	vmovss	%xmm1, 4(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L473
	leaq	3(%rax), %rcx
	vdivss	8(%rsi,%rdx), %xmm0, %xmm1
	vmovss	%xmm1, 8(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L473
	leaq	4(%rax), %rcx
	vdivss	12(%rsi,%rdx), %xmm0, %xmm1
	vmovss	%xmm1, 12(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L473
	leaq	5(%rax), %rcx
	vdivss	16(%rsi,%rdx), %xmm0, %xmm1
	vmovss	%xmm1, 16(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L473
	addq	$6, %rax
	vdivss	20(%rsi,%rdx), %xmm0, %xmm1
	vmovss	%xmm1, 20(%rdi,%rdx)
	cmpq	%rax, %r8
	jle	.L473
	vdivss	24(%rsi,%rdx), %xmm0, %xmm0
	vmovss	%xmm0, 24(%rdi,%rdx)
	vzeroupper
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L473:
	vzeroupper
.L456:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
.L462:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.L457
	.size	whole_inverse32, .-whole_inverse32
	.p2align 4
	.globl	whole_scale32
	.type	whole_scale32, @function
whole_scale32:
	testq	%r8, %r8
	jle	.L475
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L481
	vbroadcastss	.LC4(%rip), %zmm1
	movq	%r8, %rdx
	xorl	%eax, %eax
	shrq	$4, %rdx
	salq	$6, %rdx
	.p2align 4,,10
	.p2align 3
.L477:
	vmulps	(%rsi,%rax), %zmm1, %zmm0
	vmovups	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rax, %rdx
	jne	.L477
	movq	%r8, %rax
	andq	$-16, %rax
	movq	%rax, %rdx
	cmpq	%rax, %r8
	je	.L492
.L476:
	movq	%r8, %rcx
	subq	%rdx, %rcx
	leaq	-1(%rcx), %r9
	cmpq	$6, %r9
	jbe	.L479
	vbroadcastss	.LC4(%rip), %ymm0
	vmulps	(%rsi,%rdx,4), %ymm0, %ymm0
	vmovups	%ymm0, (%rdi,%rdx,4)
	movq	%rcx, %rdx
	andq	$-8, %rdx
	addq	%rdx, %rax
	andl	$7, %ecx
	je	.L492
.L479:
	vmovss	.LC4(%rip), %xmm0
	vmulss	(%rsi,%rax,4), %xmm0, %xmm1
	leaq	1(%rax), %rcx
	leaq	0(,%rax,4), %rdx
	vmovss	%xmm1, (%rdi,%rax,4)
	cmpq	%rcx, %r8
	jle	.L492
	vmulss	4(%rsi,%rdx), %xmm0, %xmm1
	leaq	2(%rax), %rcx
	vmovss	%xmm1, 4(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L492
	vmulss	8(%rsi,%rdx), %xmm0, %xmm1
	leaq	3(%rax), %rcx
	vmovss	%xmm1, 8(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L492
	vmulss	12(%rsi,%rdx), %xmm0, %xmm1
	leaq	4(%rax), %rcx
	vmovss	%xmm1, 12(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L492
	vmulss	16(%rsi,%rdx), %xmm0, %xmm1
	leaq	5(%rax), %rcx
	vmovss	%xmm1, 16(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L492
	vmulss	20(%rsi,%rdx), %xmm0, %xmm1
	addq	$6, %rax
	vmovss	%xmm1, 20(%rdi,%rdx)
	cmpq	%rax, %r8
	jle	.L492
	vmulss	24(%rsi,%rdx), %xmm0, %xmm0
	vmovss	%xmm0, 24(%rdi,%rdx)
	vzeroupper
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L492:
	vzeroupper
.L475:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
.L481:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.L476
	.size	whole_scale32, .-whole_scale32
	.p2align 4
	.globl	whole_shift_i32
	.type	whole_shift_i32, @function
whole_shift_i32:
	testq	%r8, %r8
	jle	.L494
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L500
	movq	%r8, %rcx
	movl	$5, %edx
	xorl	%eax, %eax
	shrq	$4, %rcx
	vpbroadcastd	%edx, %zmm1
	salq	$6, %rcx
	.p2align 4,,10
	.p2align 3
.L496:
	vpslld	$3, (%rsi,%rax), %zmm0
	vpaddd	%zmm1, %zmm0, %zmm0
	vmovdqu32	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rax, %rcx
	jne	.L496
	movq	%r8, %rax
	andq	$-16, %rax
	movq	%rax, %rcx
	cmpq	%rax, %r8
	je	.L511
.L495:
	movq	%r8, %r9
	subq	%rcx, %r9
	leaq	-1(%r9), %rdx
	cmpq	$6, %rdx
	jbe	.L498
	movl	$5, %edx
	vpslld	$3, (%rsi,%rcx,4), %ymm0
	vpbroadcastd	%edx, %ymm1
	movq	%r9, %rdx
	andq	$-8, %rdx
	vpaddd	%ymm1, %ymm0, %ymm0
	addq	%rdx, %rax
	andl	$7, %r9d
	vmovdqu	%ymm0, (%rdi,%rcx,4)
	je	.L511
.L498:
	movl	(%rsi,%rax,4), %ecx
	leaq	0(,%rax,4), %rdx
	leal	5(,%rcx,8), %ecx
	movl	%ecx, (%rdi,%rax,4)
	leaq	1(%rax), %rcx
	cmpq	%rcx, %r8
	jle	.L511
	movl	4(%rsi,%rdx), %ecx
	leal	5(,%rcx,8), %ecx
	movl	%ecx, 4(%rdi,%rdx)
	leaq	2(%rax), %rcx
	cmpq	%rcx, %r8
	jle	.L511
	movl	8(%rsi,%rdx), %ecx
	leal	5(,%rcx,8), %ecx
	movl	%ecx, 8(%rdi,%rdx)
	leaq	3(%rax), %rcx
	cmpq	%rcx, %r8
	jle	.L511
	movl	12(%rsi,%rdx), %ecx
	leal	5(,%rcx,8), %ecx
	movl	%ecx, 12(%rdi,%rdx)
	leaq	4(%rax), %rcx
	cmpq	%rcx, %r8
	jle	.L511
	movl	16(%rsi,%rdx), %ecx
	leal	5(,%rcx,8), %ecx
	movl	%ecx, 16(%rdi,%rdx)
	leaq	5(%rax), %rcx
	cmpq	%rcx, %r8
	jle	.L511
	movl	20(%rsi,%rdx), %ecx
	addq	$6, %rax
	leal	5(,%rcx,8), %ecx
	movl	%ecx, 20(%rdi,%rdx)
	cmpq	%rax, %r8
	jle	.L511
	movl	24(%rsi,%rdx), %eax
	leal	5(,%rax,8), %eax
	movl	%eax, 24(%rdi,%rdx)
	vzeroupper
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdl	(%rdi), %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L511:
	vzeroupper
.L494:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdl	(%rdi), %xmm0, %xmm0
	ret
.L500:
	xorl	%ecx, %ecx
	xorl	%eax, %eax
	jmp	.L495
	.size	whole_shift_i32, .-whole_shift_i32
	.p2align 4
	.globl	whole_gather64
	.type	whole_gather64, @function
whole_gather64:
	testq	%r8, %r8
	jle	.L520
	pushq	%rbp
	leaq	-1(%r8), %rdx
	movq	%rsi, %rax
	movq	%rsp, %rbp
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	cmpq	$14, %rdx
	jbe	.L521
	movq	%r8, %rdi
	movq	%rcx, %rdx
	vxorpd	%xmm4, %xmm4, %xmm4
	shrq	$4, %rdi
	salq	$6, %rdi
	addq	%rcx, %rdi
	.p2align 4,,10
	.p2align 3
.L515:
	movslq	16(%rdx), %r12
	movslq	24(%rdx), %r14
	addq	$64, %rdx
	movslq	-44(%rdx), %rbx
	movslq	-36(%rdx), %r13
	vmovsd	(%rax,%r14,8), %xmm0
	vmovsd	(%rax,%r12,8), %xmm1
	movslq	-64(%rdx), %r9
	movslq	-56(%rdx), %r11
	vmovhpd	(%rax,%r13,8), %xmm0, %xmm0
	vmovhpd	(%rax,%rbx,8), %xmm1, %xmm1
	movslq	-60(%rdx), %rsi
	movslq	-52(%rdx), %r10
	vinsertf128	$0x1, %xmm0, %ymm1, %ymm1
	vmovsd	(%rax,%r11,8), %xmm2
	vmovsd	(%rax,%r9,8), %xmm0
	movslq	-16(%rdx), %r12
	movslq	-8(%rdx), %r14
	vmovhpd	(%rax,%r10,8), %xmm2, %xmm2
	vmovhpd	(%rax,%rsi,8), %xmm0, %xmm0
	movslq	-12(%rdx), %rbx
	movslq	-4(%rdx), %r13
	vinsertf128	$0x1, %xmm2, %ymm0, %ymm0
	vmovsd	(%rax,%r12,8), %xmm2
	movslq	-32(%rdx), %r9
	vinsertf64x4	$0x1, %ymm1, %zmm0, %zmm0
	vmovsd	(%rax,%r14,8), %xmm1
	movslq	-24(%rdx), %r11
	vmovhpd	(%rax,%rbx,8), %xmm2, %xmm2
	movslq	-28(%rdx), %rsi
	movslq	-20(%rdx), %r10
	vmovhpd	(%rax,%r13,8), %xmm1, %xmm1
	vmovsd	(%rax,%r11,8), %xmm3
	vinsertf128	$0x1, %xmm1, %ymm2, %ymm2
	vmovsd	(%rax,%r9,8), %xmm1
	vmovhpd	(%rax,%r10,8), %xmm3, %xmm3
	vmovhpd	(%rax,%rsi,8), %xmm1, %xmm1
	vinsertf128	$0x1, %xmm3, %ymm1, %ymm1
	vinsertf64x4	$0x1, %ymm2, %zmm1, %zmm1
	vaddpd	%zmm1, %zmm0, %zmm0
	vaddpd	%zmm0, %zmm4, %zmm4
	cmpq	%rdx, %rdi
	jne	.L515
	vextractf64x4	$0x1, %zmm4, %ymm2
	movq	%r8, %rsi
	vaddpd	%ymm4, %ymm2, %ymm0
	andq	$-16, %rsi
	vaddpd	%ymm2, %ymm4, %ymm4
	movq	%rsi, %rdx
	vextractf64x2	$0x1, %ymm0, %xmm1
	vaddpd	%xmm0, %xmm1, %xmm1
	vunpckhpd	%xmm1, %xmm1, %xmm0
	vaddpd	%xmm1, %xmm0, %xmm0
	cmpq	%r8, %rsi
	je	.L532
.L514:
	movq	%r8, %rdi
	subq	%rdx, %rdi
	leaq	-1(%rdi), %r9
	cmpq	$6, %r9
	jbe	.L518
	leaq	(%rcx,%rdx,4), %rdx
	movslq	8(%rdx), %rbx
	movslq	(%rdx), %r10
	movslq	12(%rdx), %r11
	movslq	4(%rdx), %r9
	vmovsd	(%rax,%rbx,8), %xmm1
	vmovsd	(%rax,%r10,8), %xmm0
	movslq	16(%rdx), %r10
	vmovhpd	(%rax,%r11,8), %xmm1, %xmm1
	movslq	24(%rdx), %r11
	vmovhpd	(%rax,%r9,8), %xmm0, %xmm0
	movslq	20(%rdx), %r9
	vinsertf128	$0x1, %xmm1, %ymm0, %ymm0
	movslq	28(%rdx), %rdx
	vmovsd	(%rax,%r10,8), %xmm1
	vmovsd	(%rax,%r11,8), %xmm2
	vmovhpd	(%rax,%r9,8), %xmm1, %xmm1
	vmovhpd	(%rax,%rdx,8), %xmm2, %xmm2
	movq	%rdi, %rdx
	vinsertf128	$0x1, %xmm2, %ymm1, %ymm1
	andq	$-8, %rdx
	vaddpd	%ymm1, %ymm0, %ymm0
	addq	%rdx, %rsi
	andl	$7, %edi
	vaddpd	%ymm4, %ymm0, %ymm0
	vextractf64x2	$0x1, %ymm0, %xmm1
	vaddpd	%xmm0, %xmm1, %xmm1
	vunpckhpd	%xmm1, %xmm1, %xmm0
	vaddpd	%xmm1, %xmm0, %xmm0
	je	.L532
.L518:
	movslq	(%rcx,%rsi,4), %rdi
	leaq	0(,%rsi,4), %rdx
	vaddsd	(%rax,%rdi,8), %xmm0, %xmm0
	leaq	1(%rsi), %rdi
	cmpq	%rdi, %r8
	jle	.L532
	movslq	4(%rcx,%rdx), %rdi
	vaddsd	(%rax,%rdi,8), %xmm0, %xmm0
	leaq	2(%rsi), %rdi
	cmpq	%rdi, %r8
	jle	.L532
	movslq	8(%rcx,%rdx), %rdi
	vaddsd	(%rax,%rdi,8), %xmm0, %xmm0
	leaq	3(%rsi), %rdi
	cmpq	%rdi, %r8
	jle	.L532
	movslq	12(%rcx,%rdx), %rdi
	vaddsd	(%rax,%rdi,8), %xmm0, %xmm0
	leaq	4(%rsi), %rdi
	cmpq	%rdi, %r8
	jle	.L532
	movslq	16(%rcx,%rdx), %rdi
	vaddsd	(%rax,%rdi,8), %xmm0, %xmm0
	leaq	5(%rsi), %rdi
	cmpq	%rdi, %r8
	jle	.L532
	movslq	20(%rcx,%rdx), %rdi
	addq	$6, %rsi
	vaddsd	(%rax,%rdi,8), %xmm0, %xmm0
	cmpq	%rsi, %r8
	jle	.L532
	movslq	24(%rcx,%rdx), %rdx
	vaddsd	(%rax,%rdx,8), %xmm0, %xmm0
	vzeroupper
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%rbp
	ret
	.p2align 4,,10
	.p2align 3
.L532:
	vzeroupper
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%rbp
	ret
	.p2align 4,,10
	.p2align 3
.L520:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
.L521:
	vxorpd	%xmm4, %xmm4, %xmm4
	xorl	%edx, %edx
	vxorpd	%xmm0, %xmm0, %xmm0
	xorl	%esi, %esi
	jmp	.L514
	.size	whole_gather64, .-whole_gather64
	.p2align 4
	.globl	whole_gather32
	.type	whole_gather32, @function
whole_gather32:
	testq	%r8, %r8
	jle	.L557
	pushq	%rbp
	leaq	-1(%r8), %rdx
	movq	%rsi, %rax
	movq	%rcx, %r9
	movq	%rsp, %rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	andq	$-64, %rsp
	cmpq	$14, %rdx
	jbe	.L544
	movq	%r8, %rsi
	movq	%r8, -16(%rsp)
	xorl	%ecx, %ecx
	vmovq	%rdi, %xmm8
	shrq	$4, %rsi
	vmovq	%r9, %xmm9
	vbroadcastss	.LC4(%rip), %zmm4
	salq	$6, %rsi
	movq	%rsi, -8(%rsp)
	.p2align 4,,10
	.p2align 3
.L540:
	vmovq	%xmm9, %rbx
	leaq	(%rbx,%rcx), %rdx
	movslq	32(%rdx), %rsi
	movslq	40(%rdx), %r8
	movslq	24(%rdx), %rdi
	movslq	(%rdx), %r11
	vmovq	%rsi, %xmm7
	movslq	48(%rdx), %rsi
	movslq	4(%rdx), %r10
	vmovq	%r8, %xmm5
	movslq	8(%rdx), %r12
	movslq	12(%rdx), %rbx
	vmovq	%rsi, %xmm1
	movslq	52(%rdx), %rsi
	movslq	16(%rdx), %r14
	movslq	20(%rdx), %r13
	movslq	28(%rdx), %r15
	vmovq	%rsi, %xmm6
	movslq	56(%rdx), %rsi
	movslq	36(%rdx), %r9
	movslq	44(%rdx), %r8
	movslq	60(%rdx), %rdx
	vmovss	(%rax,%rsi,4), %xmm2
	vmovq	%xmm1, %rsi
	vmovss	(%rax,%rdi,4), %xmm3
	vmovq	%xmm8, %rdi
	vmovss	(%rax,%rsi,4), %xmm1
	vmovq	%xmm6, %rsi
	vinsertps	$0x10, (%rax,%rdx,4), %xmm2, %xmm2
	vinsertps	$0x10, (%rax,%rsi,4), %xmm1, %xmm1
	vmovq	%xmm5, %rsi
	vinsertps	$0x10, (%rax,%r15,4), %xmm3, %xmm3
	vmovlhps	%xmm2, %xmm1, %xmm1
	vmovss	(%rax,%rsi,4), %xmm2
	vmovq	%xmm7, %rsi
	vinsertps	$0x10, (%rax,%r8,4), %xmm2, %xmm2
	vmovss	(%rax,%rsi,4), %xmm0
	vinsertps	$0x10, (%rax,%r9,4), %xmm0, %xmm0
	vmovlhps	%xmm2, %xmm0, %xmm0
	vmovss	(%rax,%r14,4), %xmm2
	vinsertps	$0x10, (%rax,%r13,4), %xmm2, %xmm2
	vinsertf128	$0x1, %xmm1, %ymm0, %ymm1
	vmovss	(%rax,%r11,4), %xmm0
	vinsertps	$0x10, (%rax,%r10,4), %xmm0, %xmm0
	vmovlhps	%xmm3, %xmm2, %xmm2
	vmovss	(%rax,%r12,4), %xmm3
	vinsertps	$0x10, (%rax,%rbx,4), %xmm3, %xmm3
	vmovlhps	%xmm3, %xmm0, %xmm0
	vinsertf128	$0x1, %xmm2, %ymm0, %ymm0
	vinsertf64x4	$0x1, %ymm1, %zmm0, %zmm0
	vmulps	%zmm4, %zmm0, %zmm0
	vmovups	%zmm0, (%rdi,%rcx)
	addq	$64, %rcx
	cmpq	%rcx, -8(%rsp)
	jne	.L540
	movq	-16(%rsp), %r8
	vmovq	%xmm9, %r9
	movq	%r8, %rcx
	andq	$-16, %rcx
	movq	%rcx, %r10
	cmpq	%r8, %rcx
	je	.L555
.L539:
	movq	%r8, %rsi
	subq	%r10, %rsi
	leaq	-1(%rsi), %rdx
	cmpq	$6, %rdx
	jbe	.L542
	leaq	(%r9,%r10,4), %rdx
	movslq	4(%rdx), %r14
	movslq	(%rdx), %rbx
	movslq	8(%rdx), %r13
	movslq	12(%rdx), %r12
	movslq	16(%rdx), %r15
	movslq	24(%rdx), %r11
	vmovq	%r14, %xmm4
	movslq	20(%rdx), %r14
	movslq	28(%rdx), %rdx
	vmovss	(%rax,%r11,4), %xmm1
	vmovss	(%rax,%r15,4), %xmm0
	vinsertps	$0x10, (%rax,%rdx,4), %xmm1, %xmm1
	vinsertps	$0x10, (%rax,%r14,4), %xmm0, %xmm0
	movq	%rsi, %rdx
	vmovss	(%rax,%r13,4), %xmm2
	vinsertps	$0x10, (%rax,%r12,4), %xmm2, %xmm2
	andq	$-8, %rdx
	vmovlhps	%xmm1, %xmm0, %xmm1
	vmovss	(%rax,%rbx,4), %xmm0
	addq	%rdx, %rcx
	vmovq	%xmm4, %rbx
	vinsertps	$0x10, (%rax,%rbx,4), %xmm0, %xmm0
	andl	$7, %esi
	vmovlhps	%xmm2, %xmm0, %xmm0
	vinsertf128	$0x1, %xmm1, %ymm0, %ymm0
	vmulps	.LC4(%rip){1to8}, %ymm0, %ymm0
	vmovups	%ymm0, (%rdi,%r10,4)
	je	.L555
.L542:
	movslq	(%r9,%rcx,4), %rsi
	leaq	0(,%rcx,4), %rdx
	vmovss	.LC4(%rip), %xmm0
	vmulss	(%rax,%rsi,4), %xmm0, %xmm1
	leaq	1(%rcx), %rsi
	vmovss	%xmm1, (%rdi,%rcx,4)
	cmpq	%rsi, %r8
	jle	.L555
	movslq	4(%r9,%rdx), %rsi
	vmulss	(%rax,%rsi,4), %xmm0, %xmm1
	leaq	2(%rcx), %rsi
	vmovss	%xmm1, 4(%rdi,%rdx)
	cmpq	%rsi, %r8
	jle	.L555
	movslq	8(%r9,%rdx), %rsi
	vmulss	(%rax,%rsi,4), %xmm0, %xmm1
	leaq	3(%rcx), %rsi
	vmovss	%xmm1, 8(%rdi,%rdx)
	cmpq	%rsi, %r8
	jle	.L555
	movslq	12(%r9,%rdx), %rsi
	vmulss	(%rax,%rsi,4), %xmm0, %xmm1
	leaq	4(%rcx), %rsi
	vmovss	%xmm1, 12(%rdi,%rdx)
	cmpq	%rsi, %r8
	jle	.L555
	movslq	16(%r9,%rdx), %rsi
	vmulss	(%rax,%rsi,4), %xmm0, %xmm1
	leaq	5(%rcx), %rsi
	vmovss	%xmm1, 16(%rdi,%rdx)
	cmpq	%rsi, %r8
	jle	.L555
	movslq	20(%r9,%rdx), %rsi
	addq	$6, %rcx
	vmulss	(%rax,%rsi,4), %xmm0, %xmm1
	vmovss	%xmm1, 20(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L555
	movslq	24(%r9,%rdx), %rcx
	vmulss	(%rax,%rcx,4), %xmm0, %xmm0
	vmovss	%xmm0, 24(%rdi,%rdx)
	vzeroupper
	jmp	.L538
	.p2align 4,,10
	.p2align 3
.L555:
	vzeroupper
.L538:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	leaq	-40(%rbp), %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	ret
	.p2align 4,,10
	.p2align 3
.L557:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
.L544:
	xorl	%r10d, %r10d
	xorl	%ecx, %ecx
	jmp	.L539
	.size	whole_gather32, .-whole_gather32
	.p2align 4
	.globl	whole_strided64
	.type	whole_strided64, @function
whole_strided64:
	movq	%rsi, %r9
	testq	%r8, %r8
	jle	.L561
	leaq	-1(%r8), %rcx
	cmpq	$7, %rcx
	jbe	.L565
	vmovdqa64	.LC34(%rip), %zmm3
	movq	%rsi, %rax
	movq	%rcx, %rsi
	vmovdqa64	.LC35(%rip), %zmm2
	shrq	$3, %rsi
	movq	%rdi, %rdx
	vbroadcastsd	.LC1(%rip), %zmm1
	salq	$6, %rsi
	addq	%rdi, %rsi
	.p2align 4,,10
	.p2align 3
.L563:
	vmovupd	(%rax), %zmm0
	addq	$64, %rdx
	addq	$192, %rax
	vpermt2pd	-128(%rax), %zmm3, %zmm0
	vpermt2pd	-64(%rax), %zmm2, %zmm0
	vmulpd	%zmm1, %zmm0, %zmm0
	vmovupd	%zmm0, -64(%rdx)
	cmpq	%rdx, %rsi
	jne	.L563
	movq	%rcx, %rdx
	andq	$-8, %rdx
	movq	%rdx, %rax
.L562:
	subq	%rdx, %rcx
	cmpq	$3, %rcx
	jbe	.L564
	leaq	(%rdx,%rdx,2), %rsi
	andq	$-4, %rcx
	vmovdqa	.LC36(%rip), %ymm1
	vmovdqa	.LC37(%rip), %ymm0
	leaq	(%r9,%rsi,8), %rsi
	addq	%rcx, %rax
	vmovupd	(%rsi), %ymm4
	vpermi2pd	32(%rsi), %ymm4, %ymm1
	vpermi2pd	64(%rsi), %ymm1, %ymm0
	vmulpd	.LC1(%rip){1to4}, %ymm0, %ymm0
	vmovupd	%ymm0, (%rdi,%rdx,8)
.L564:
	leaq	(%rax,%rax,2), %rdx
	leaq	1(%rax), %rsi
	vmovsd	.LC1(%rip), %xmm0
	salq	$3, %rdx
	leaq	0(,%rax,8), %rcx
	vmulsd	(%r9,%rdx), %xmm0, %xmm1
	vmovsd	%xmm1, (%rdi,%rax,8)
	cmpq	%r8, %rsi
	jge	.L569
	vmulsd	24(%r9,%rdx), %xmm0, %xmm1
	leaq	2(%rax), %rsi
	vmovsd	%xmm1, 8(%rdi,%rcx)
	cmpq	%rsi, %r8
	jle	.L569
	vmulsd	48(%r9,%rdx), %xmm0, %xmm1
	addq	$3, %rax
	vmovsd	%xmm1, 16(%rdi,%rcx)
	cmpq	%rax, %r8
	jle	.L569
	vmulsd	72(%r9,%rdx), %xmm0, %xmm0
	vmovsd	%xmm0, 24(%rdi,%rcx)
	vzeroupper
.L561:
	vmovsd	(%rdi), %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L569:
	vzeroupper
	vmovsd	(%rdi), %xmm0
	ret
.L565:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.L562
	.size	whole_strided64, .-whole_strided64
	.p2align 4
	.globl	whole_parts64
	.type	whole_parts64, @function
whole_parts64:
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%r12
	pushq	%rbx
	testq	%r8, %r8
	jle	.L573
	leaq	-4(,%r8,4), %rax
	vxorpd	%xmm3, %xmm3, %xmm3
	andq	$-32, %rax
	leaq	32(%rcx,%rax), %r12
	.p2align 4,,10
	.p2align 3
.L572:
	movslq	16(%rcx), %r10
	movslq	24(%rcx), %rbx
	addq	$32, %rcx
	movslq	-12(%rcx), %r9
	movslq	-4(%rcx), %r11
	vmovsd	(%rsi,%rbx,8), %xmm0
	vmovsd	(%rsi,%r10,8), %xmm1
	movslq	-32(%rcx), %rdx
	movslq	-24(%rcx), %r8
	vmovhpd	(%rsi,%r11,8), %xmm0, %xmm0
	vmovhpd	(%rsi,%r9,8), %xmm1, %xmm1
	movslq	-28(%rcx), %rax
	movslq	-20(%rcx), %rdi
	vinsertf128	$0x1, %xmm0, %ymm1, %ymm1
	vmovsd	(%rsi,%r8,8), %xmm2
	vmovsd	(%rsi,%rdx,8), %xmm0
	vmovhpd	(%rsi,%rdi,8), %xmm2, %xmm2
	vmovhpd	(%rsi,%rax,8), %xmm0, %xmm0
	vinsertf128	$0x1, %xmm2, %ymm0, %ymm0
	vinsertf64x4	$0x1, %ymm1, %zmm0, %zmm0
	vaddpd	%zmm0, %zmm3, %zmm3
	cmpq	%r12, %rcx
	jne	.L572
.L571:
	vextractf64x4	$0x1, %zmm3, %ymm0
	vaddpd	%ymm3, %ymm0, %ymm0
	vextractf64x2	$0x1, %ymm0, %xmm1
	vaddpd	%xmm0, %xmm1, %xmm1
	vunpckhpd	%xmm1, %xmm1, %xmm0
	vaddpd	%xmm1, %xmm0, %xmm0
	vzeroupper
	popq	%rbx
	popq	%r12
	popq	%rbp
	ret
	.p2align 4,,10
	.p2align 3
.L573:
	vxorpd	%xmm3, %xmm3, %xmm3
	jmp	.L571
	.size	whole_parts64, .-whole_parts64
	.p2align 4
	.globl	whole_parts32
	.type	whole_parts32, @function
whole_parts32:
	pushq	%rbp
	vmovq	%rdi, %xmm6
	movq	%rsp, %rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	andq	$-64, %rsp
	movq	%r8, -8(%rsp)
	testq	%r8, %r8
	jle	.L577
	vbroadcastss	.LC4(%rip), %zmm4
	movq	%rsi, %rax
	xorl	%edx, %edx
	.p2align 4,,10
	.p2align 3
.L578:
	movslq	40(%rcx), %rsi
	movslq	32(%rcx), %r15
	addq	$64, %rcx
	movslq	-28(%rcx), %r14
	movslq	-48(%rcx), %rbx
	vmovq	%rsi, %xmm3
	movslq	-20(%rcx), %rsi
	movslq	-44(%rcx), %r11
	movslq	-40(%rcx), %r13
	movslq	-36(%rcx), %r12
	vmovq	%rsi, %xmm0
	movslq	-16(%rcx), %rsi
	movslq	-64(%rcx), %r8
	movslq	-60(%rcx), %rdi
	movslq	-56(%rcx), %r10
	vmovq	%rsi, %xmm1
	movslq	-12(%rcx), %rsi
	movslq	-52(%rcx), %r9
	vmovq	%rsi, %xmm5
	movslq	-8(%rcx), %rsi
	vmovq	%rsi, %xmm2
	movslq	-4(%rcx), %rsi
	vmovq	%rsi, %xmm7
	vmovq	%xmm2, %rsi
	vmovss	(%rax,%rsi,4), %xmm2
	vmovq	%xmm7, %rsi
	vinsertps	$0x10, (%rax,%rsi,4), %xmm2, %xmm2
	vmovq	%xmm1, %rsi
	vmovss	(%rax,%rsi,4), %xmm1
	vmovq	%xmm5, %rsi
	vinsertps	$0x10, (%rax,%rsi,4), %xmm1, %xmm1
	vmovq	%xmm3, %rsi
	vmovss	(%rax,%r13,4), %xmm3
	vinsertps	$0x10, (%rax,%r12,4), %xmm3, %xmm3
	vmovlhps	%xmm2, %xmm1, %xmm1
	vmovss	(%rax,%rsi,4), %xmm2
	vmovq	%xmm0, %rsi
	vmovss	(%rax,%r15,4), %xmm0
	vinsertps	$0x10, (%rax,%rsi,4), %xmm2, %xmm2
	vinsertps	$0x10, (%rax,%r14,4), %xmm0, %xmm0
	vmovlhps	%xmm2, %xmm0, %xmm0
	vmovss	(%rax,%rbx,4), %xmm2
	vinsertps	$0x10, (%rax,%r11,4), %xmm2, %xmm2
	vmovq	%xmm6, %rbx
	vinsertf128	$0x1, %xmm1, %ymm0, %ymm1
	vmovss	(%rax,%r8,4), %xmm0
	vinsertps	$0x10, (%rax,%rdi,4), %xmm0, %xmm0
	vmovlhps	%xmm3, %xmm2, %xmm2
	vmovss	(%rax,%r10,4), %xmm3
	vinsertps	$0x10, (%rax,%r9,4), %xmm3, %xmm3
	vmovlhps	%xmm3, %xmm0, %xmm0
	vinsertf128	$0x1, %xmm2, %ymm0, %ymm0
	vinsertf64x4	$0x1, %ymm1, %zmm0, %zmm0
	vmulps	%zmm4, %zmm0, %zmm0
	vmovups	%zmm0, (%rbx,%rdx,4)
	addq	$16, %rdx
	cmpq	%rdx, -8(%rsp)
	jg	.L578
	vzeroupper
.L577:
	vxorps	%xmm0, %xmm0, %xmm0
	vmovq	%xmm6, %rax
	vcvtss2sd	(%rax), %xmm0, %xmm0
	leaq	-40(%rbp), %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	ret
	.size	whole_parts32, .-whole_parts32
	.p2align 4
	.globl	whole_holes64
	.type	whole_holes64, @function
whole_holes64:
	testq	%r8, %r8
	jle	.L582
	vbroadcastsd	.LC1(%rip), %zmm3
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L583:
	vmovsd	144(%rsi), %xmm0
	addq	$192, %rsi
	vmovhpd	-24(%rsi), %xmm0, %xmm1
	vmovsd	-96(%rsi), %xmm0
	vmovhpd	-72(%rsi), %xmm0, %xmm0
	vinsertf128	$0x1, %xmm1, %ymm0, %ymm1
	vmovsd	-144(%rsi), %xmm0
	vmovhpd	-120(%rsi), %xmm0, %xmm2
	vmovsd	-192(%rsi), %xmm0
	vmovhpd	-168(%rsi), %xmm0, %xmm0
	vinsertf128	$0x1, %xmm2, %ymm0, %ymm0
	vinsertf64x4	$0x1, %ymm1, %zmm0, %zmm0
	vmulpd	%zmm3, %zmm0, %zmm0
	vmovupd	%zmm0, (%rdi,%rax,8)
	addq	$8, %rax
	cmpq	%rax, %r8
	jg	.L583
	vzeroupper
.L582:
	vmovsd	(%rdi), %xmm0
	ret
	.size	whole_holes64, .-whole_holes64
	.p2align 4
	.globl	whole_chain_sum
	.type	whole_chain_sum, @function
whole_chain_sum:
	movq	%rsi, %rdx
	testq	%r8, %r8
	jle	.L592
	leaq	-1(%r8), %rax
	movq	%rax, %rsi
	shrq	$3, %rsi
	leaq	1(%rsi), %rdi
	cmpq	$55, %rax
	jbe	.L593
	movq	%rdi, %rcx
	movq	%rdx, %rax
	vxorpd	%xmm10, %xmm10, %xmm10
	vmovdqa64	.LC39(%rip), %zmm2
	vmovdqa64	.LC40(%rip), %zmm1
	shrq	$3, %rcx
	salq	$9, %rcx
	addq	%rdx, %rcx
	.p2align 4,,10
	.p2align 3
.L588:
	vmovupd	256(%rax), %zmm7
	vmovupd	(%rax), %zmm5
	addq	$512, %rax
	vmovupd	-128(%rax), %zmm8
	vmovupd	-512(%rax), %zmm0
	vpermt2pd	-192(%rax), %zmm2, %zmm7
	vmovupd	-384(%rax), %zmm11
	vmovupd	-384(%rax), %zmm6
	vpermt2pd	-448(%rax), %zmm2, %zmm5
	vmovupd	-256(%rax), %zmm3
	vpermt2pd	-64(%rax), %zmm2, %zmm8
	vpermt2pd	-448(%rax), %zmm1, %zmm0
	vmovapd	%zmm7, %zmm12
	vmovupd	-128(%rax), %zmm4
	vpermt2pd	%zmm8, %zmm2, %zmm12
	vpermt2pd	-320(%rax), %zmm2, %zmm11
	vpermt2pd	-320(%rax), %zmm1, %zmm6
	vpermt2pd	%zmm8, %zmm1, %zmm7
	vmovapd	%zmm5, %zmm9
	vpermt2pd	-192(%rax), %zmm1, %zmm3
	vmovapd	%zmm0, %zmm8
	vpermt2pd	-64(%rax), %zmm1, %zmm4
	vpermt2pd	%zmm11, %zmm2, %zmm9
	vpermt2pd	%zmm11, %zmm1, %zmm5
	vpermt2pd	%zmm6, %zmm2, %zmm8
	vmovapd	%zmm3, %zmm11
	vpermt2pd	%zmm6, %zmm1, %zmm0
	vpermt2pd	%zmm4, %zmm2, %zmm11
	vpermt2pd	%zmm4, %zmm1, %zmm3
	vmovapd	%zmm8, %zmm6
	vmovapd	%zmm9, %zmm4
	vpermt2pd	%zmm11, %zmm2, %zmm8
	vpermt2pd	%zmm12, %zmm1, %zmm4
	vpermt2pd	%zmm12, %zmm2, %zmm9
	vpermt2pd	%zmm11, %zmm1, %zmm6
	vaddpd	%zmm8, %zmm6, %zmm6
	vaddpd	%zmm9, %zmm4, %zmm4
	vaddpd	%zmm6, %zmm4, %zmm4
	vmovapd	%zmm5, %zmm6
	vpermt2pd	%zmm7, %zmm2, %zmm5
	vpermt2pd	%zmm7, %zmm1, %zmm6
	vaddpd	%zmm5, %zmm6, %zmm5
	vmovapd	%zmm0, %zmm6
	vpermt2pd	%zmm3, %zmm1, %zmm0
	vpermt2pd	%zmm3, %zmm2, %zmm6
	vaddpd	%zmm10, %zmm0, %zmm0
	vaddpd	%zmm6, %zmm5, %zmm5
	vaddpd	%zmm5, %zmm4, %zmm4
	vaddpd	%zmm0, %zmm4, %zmm10
	cmpq	%rax, %rcx
	jne	.L588
	vextractf64x4	$0x1, %zmm10, %ymm2
	movq	%rdi, %rax
	vmovsd	.LC22(%rip), %xmm6
	vaddpd	%ymm10, %ymm2, %ymm0
	andq	$-8, %rax
	andl	$7, %edi
	vaddpd	%ymm2, %ymm10, %ymm10
	leaq	0(,%rax,8), %rcx
	vextractf64x2	$0x1, %ymm0, %xmm1
	vaddpd	%xmm0, %xmm1, %xmm1
	vunpckhpd	%xmm1, %xmm1, %xmm0
	vaddpd	%xmm1, %xmm0, %xmm0
	vaddsd	%xmm6, %xmm0, %xmm0
	je	.L589
.L587:
	subq	%rax, %rsi
	leaq	1(%rsi), %rdi
	cmpq	$2, %rsi
	jbe	.L590
	vmovdqa	.LC41(%rip), %ymm0
	salq	$6, %rax
	vmovdqa	.LC42(%rip), %ymm1
	addq	%rdx, %rax
	vmovupd	(%rax), %ymm3
	vmovupd	32(%rax), %ymm12
	vmovupd	64(%rax), %ymm7
	vmovupd	96(%rax), %ymm8
	vmovupd	128(%rax), %ymm4
	vmovapd	%ymm3, %ymm5
	vmovupd	160(%rax), %ymm9
	vpermt2pd	%ymm12, %ymm1, %ymm3
	vmovupd	192(%rax), %ymm2
	vpermt2pd	%ymm12, %ymm0, %ymm5
	vmovapd	%ymm7, %ymm12
	vmovupd	224(%rax), %ymm11
	vpermt2pd	%ymm8, %ymm0, %ymm12
	vpermt2pd	%ymm8, %ymm1, %ymm7
	movq	%rdi, %rax
	vmovapd	%ymm4, %ymm8
	vpermt2pd	%ymm9, %ymm1, %ymm4
	andq	$-4, %rax
	andl	$3, %edi
	vpermt2pd	%ymm9, %ymm0, %ymm8
	vmovapd	%ymm2, %ymm9
	leaq	(%rcx,%rax,8), %rcx
	vpermt2pd	%ymm11, %ymm0, %ymm9
	vmovapd	%ymm8, %ymm13
	vpermt2pd	%ymm11, %ymm1, %ymm2
	vpermt2pd	%ymm9, %ymm0, %ymm13
	vpermt2pd	%ymm9, %ymm1, %ymm8
	vmovapd	%ymm5, %ymm11
	vmovapd	%ymm3, %ymm9
	vpermt2pd	%ymm12, %ymm0, %ymm11
	vpermt2pd	%ymm12, %ymm1, %ymm5
	vpermt2pd	%ymm7, %ymm0, %ymm9
	vmovapd	%ymm4, %ymm12
	vpermt2pd	%ymm7, %ymm1, %ymm3
	vpermt2pd	%ymm2, %ymm0, %ymm12
	vpermt2pd	%ymm2, %ymm1, %ymm4
	vmovapd	%ymm9, %ymm7
	vmovapd	%ymm11, %ymm2
	vpermt2pd	%ymm12, %ymm0, %ymm7
	vpermt2pd	%ymm13, %ymm1, %ymm11
	vpermt2pd	%ymm13, %ymm0, %ymm2
	vpermt2pd	%ymm12, %ymm1, %ymm9
	vaddpd	%ymm9, %ymm7, %ymm7
	vaddpd	%ymm11, %ymm2, %ymm2
	vaddpd	%ymm7, %ymm2, %ymm2
	vmovapd	%ymm5, %ymm7
	vpermt2pd	%ymm8, %ymm1, %ymm5
	vpermt2pd	%ymm8, %ymm0, %ymm7
	vpermi2pd	%ymm4, %ymm3, %ymm1
	vpermi2pd	%ymm4, %ymm3, %ymm0
	vaddpd	%ymm5, %ymm7, %ymm5
	vaddpd	%ymm1, %ymm0, %ymm0
	vaddpd	%ymm10, %ymm5, %ymm5
	vaddpd	%ymm5, %ymm2, %ymm2
	vaddpd	%ymm0, %ymm2, %ymm0
	vextractf64x2	$0x1, %ymm0, %xmm1
	vaddpd	%xmm0, %xmm1, %xmm1
	vunpckhpd	%xmm1, %xmm1, %xmm0
	vaddpd	%xmm1, %xmm0, %xmm0
	vaddsd	%xmm6, %xmm0, %xmm0
	je	.L589
.L590:
	leaq	0(,%rcx,8), %rax
	vaddsd	(%rdx,%rcx,8), %xmm0, %xmm0
	vmovsd	8(%rdx,%rax), %xmm1
	vaddsd	16(%rdx,%rax), %xmm1, %xmm1
	leaq	8(%rcx), %rsi
	vaddsd	%xmm0, %xmm1, %xmm1
	vmovsd	24(%rdx,%rax), %xmm0
	vaddsd	32(%rdx,%rax), %xmm0, %xmm0
	vaddsd	40(%rdx,%rax), %xmm0, %xmm0
	vaddsd	%xmm0, %xmm1, %xmm1
	vmovsd	48(%rdx,%rax), %xmm0
	vaddsd	56(%rdx,%rax), %xmm0, %xmm0
	vaddsd	%xmm0, %xmm1, %xmm0
	cmpq	%rsi, %r8
	jle	.L589
	vmovsd	80(%rdx,%rax), %xmm1
	vmovsd	96(%rdx,%rax), %xmm2
	addq	$16, %rcx
	vaddsd	88(%rdx,%rax), %xmm2, %xmm2
	vaddsd	72(%rdx,%rax), %xmm1, %xmm1
	vaddsd	120(%rdx,%rax), %xmm0, %xmm0
	vaddsd	%xmm2, %xmm1, %xmm1
	vmovsd	112(%rdx,%rax), %xmm2
	vaddsd	104(%rdx,%rax), %xmm2, %xmm2
	vaddsd	64(%rdx,%rax), %xmm2, %xmm2
	vaddsd	%xmm2, %xmm1, %xmm1
	vaddsd	%xmm0, %xmm1, %xmm0
	cmpq	%rcx, %r8
	jle	.L589
	vmovsd	152(%rdx,%rax), %xmm1
	vmovsd	136(%rdx,%rax), %xmm2
	vaddsd	160(%rdx,%rax), %xmm1, %xmm1
	vaddsd	144(%rdx,%rax), %xmm2, %xmm2
	vaddsd	184(%rdx,%rax), %xmm0, %xmm0
	vaddsd	%xmm2, %xmm1, %xmm1
	vmovsd	168(%rdx,%rax), %xmm2
	vaddsd	176(%rdx,%rax), %xmm2, %xmm2
	vaddsd	128(%rdx,%rax), %xmm2, %xmm2
	vaddsd	%xmm2, %xmm1, %xmm1
	vaddsd	%xmm0, %xmm1, %xmm0
.L589:
	vaddsd	.LC43(%rip), %xmm0, %xmm0
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L592:
	vmovsd	.LC38(%rip), %xmm0
	ret
.L593:
	vmovsd	.LC22(%rip), %xmm6
	vxorpd	%xmm10, %xmm10, %xmm10
	xorl	%eax, %eax
	xorl	%ecx, %ecx
	vmovsd	%xmm6, %xmm6, %xmm0
	jmp	.L587
	.size	whole_chain_sum, .-whole_chain_sum
	.p2align 4
	.globl	whole_free_sum
	.type	whole_free_sum, @function
whole_free_sum:
	testq	%r8, %r8
	jle	.L604
	vbroadcastsd	.LC22(%rip), %zmm0
	subq	$1, %r8
	xorl	%eax, %eax
	shrq	$3, %r8
	leaq	1(%r8), %rdx
	.p2align 4,,10
	.p2align 3
.L603:
	movq	%rax, %rcx
	addq	$1, %rax
	salq	$6, %rcx
	vaddpd	(%rsi,%rcx), %zmm0, %zmm0
	cmpq	%rdx, %rax
	jb	.L603
	vextractf64x4	$0x1, %zmm0, %ymm1
	vaddpd	%ymm0, %ymm1, %ymm0
	vextractf64x2	$0x1, %ymm0, %xmm1
	vaddpd	%xmm0, %xmm1, %xmm1
	vunpckhpd	%xmm1, %xmm1, %xmm0
	vaddpd	%xmm1, %xmm0, %xmm0
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L604:
	vmovsd	.LC38(%rip), %xmm0
	ret
	.size	whole_free_sum, .-whole_free_sum
	.p2align 4
	.globl	whole_chain_product
	.type	whole_chain_product, @function
whole_chain_product:
	movq	%rsi, %rdx
	testq	%r8, %r8
	jle	.L613
	leaq	-1(%r8), %rax
	movq	%rax, %rsi
	shrq	$3, %rsi
	leaq	1(%rsi), %rdi
	cmpq	$55, %rax
	jbe	.L614
	vbroadcastsd	.LC22(%rip), %zmm12
	movq	%rdi, %rcx
	movq	%rdx, %rax
	vmovdqa64	.LC39(%rip), %zmm2
	vmovdqa64	.LC40(%rip), %zmm1
	shrq	$3, %rcx
	salq	$9, %rcx
	addq	%rdx, %rcx
	.p2align 4,,10
	.p2align 3
.L609:
	vmovupd	256(%rax), %zmm7
	vmovupd	(%rax), %zmm5
	addq	$512, %rax
	vmovupd	-128(%rax), %zmm8
	vmovupd	-512(%rax), %zmm0
	vpermt2pd	-192(%rax), %zmm2, %zmm7
	vmovupd	-384(%rax), %zmm10
	vmovupd	-384(%rax), %zmm6
	vpermt2pd	-448(%rax), %zmm2, %zmm5
	vmovupd	-256(%rax), %zmm3
	vpermt2pd	-64(%rax), %zmm2, %zmm8
	vpermt2pd	-448(%rax), %zmm1, %zmm0
	vmovapd	%zmm7, %zmm11
	vmovupd	-128(%rax), %zmm4
	vpermt2pd	%zmm8, %zmm2, %zmm11
	vpermt2pd	-320(%rax), %zmm2, %zmm10
	vpermt2pd	-320(%rax), %zmm1, %zmm6
	vpermt2pd	%zmm8, %zmm1, %zmm7
	vmovapd	%zmm5, %zmm9
	vpermt2pd	-192(%rax), %zmm1, %zmm3
	vmovapd	%zmm0, %zmm8
	vpermt2pd	-64(%rax), %zmm1, %zmm4
	vpermt2pd	%zmm10, %zmm2, %zmm9
	vpermt2pd	%zmm10, %zmm1, %zmm5
	vpermt2pd	%zmm6, %zmm2, %zmm8
	vmovapd	%zmm3, %zmm10
	vpermt2pd	%zmm6, %zmm1, %zmm0
	vpermt2pd	%zmm4, %zmm2, %zmm10
	vpermt2pd	%zmm4, %zmm1, %zmm3
	vmovapd	%zmm8, %zmm6
	vmovapd	%zmm9, %zmm4
	vpermt2pd	%zmm10, %zmm2, %zmm8
	vpermt2pd	%zmm11, %zmm1, %zmm4
	vpermt2pd	%zmm11, %zmm2, %zmm9
	vpermt2pd	%zmm10, %zmm1, %zmm6
	vmulpd	%zmm8, %zmm6, %zmm6
	vmulpd	%zmm9, %zmm4, %zmm4
	vmulpd	%zmm6, %zmm4, %zmm4
	vmovapd	%zmm5, %zmm6
	vpermt2pd	%zmm7, %zmm2, %zmm5
	vpermt2pd	%zmm7, %zmm1, %zmm6
	vmulpd	%zmm5, %zmm6, %zmm5
	vmovapd	%zmm0, %zmm6
	vpermt2pd	%zmm3, %zmm1, %zmm0
	vmulpd	%zmm12, %zmm0, %zmm0
	vpermt2pd	%zmm3, %zmm2, %zmm6
	vmulpd	%zmm6, %zmm5, %zmm5
	vmulpd	%zmm5, %zmm4, %zmm4
	vmulpd	%zmm0, %zmm4, %zmm12
	cmpq	%rcx, %rax
	jne	.L609
	vmovapd	%ymm12, %ymm10
	vextractf64x4	$0x1, %zmm12, %ymm12
	movq	%rdi, %rax
	vmulpd	%ymm12, %ymm10, %ymm10
	andq	$-8, %rax
	andl	$7, %edi
	leaq	0(,%rax,8), %rcx
	vextractf64x2	$0x1, %ymm10, %xmm1
	vmulpd	%xmm1, %xmm10, %xmm0
	vpsrldq	$8, %xmm0, %xmm1
	vmulpd	%xmm1, %xmm0, %xmm0
	je	.L610
.L608:
	subq	%rax, %rsi
	leaq	1(%rsi), %rdi
	cmpq	$2, %rsi
	jbe	.L611
	vmovdqa	.LC41(%rip), %ymm0
	salq	$6, %rax
	vmovdqa	.LC42(%rip), %ymm1
	addq	%rdx, %rax
	vmovupd	(%rax), %ymm3
	vmovupd	32(%rax), %ymm11
	vmovupd	64(%rax), %ymm6
	vmovupd	96(%rax), %ymm7
	vmovupd	128(%rax), %ymm4
	vmovapd	%ymm3, %ymm5
	vmovupd	160(%rax), %ymm9
	vpermt2pd	%ymm11, %ymm1, %ymm3
	vmovupd	192(%rax), %ymm2
	vpermt2pd	%ymm11, %ymm0, %ymm5
	vmovapd	%ymm6, %ymm11
	vmovupd	224(%rax), %ymm8
	vpermt2pd	%ymm7, %ymm0, %ymm11
	vpermt2pd	%ymm7, %ymm1, %ymm6
	movq	%rdi, %rax
	vmovapd	%ymm4, %ymm7
	vpermt2pd	%ymm9, %ymm1, %ymm4
	andq	$-4, %rax
	andl	$3, %edi
	vpermt2pd	%ymm9, %ymm0, %ymm7
	vmovapd	%ymm2, %ymm9
	leaq	(%rcx,%rax,8), %rcx
	vpermt2pd	%ymm8, %ymm0, %ymm9
	vpermt2pd	%ymm8, %ymm1, %ymm2
	vmovapd	%ymm5, %ymm8
	vpermt2pd	%ymm11, %ymm0, %ymm8
	vpermt2pd	%ymm11, %ymm1, %ymm5
	vmovapd	%ymm7, %ymm11
	vpermt2pd	%ymm9, %ymm0, %ymm11
	vpermt2pd	%ymm9, %ymm1, %ymm7
	vmovapd	%ymm3, %ymm9
	vpermt2pd	%ymm6, %ymm0, %ymm9
	vpermt2pd	%ymm6, %ymm1, %ymm3
	vmovapd	%ymm4, %ymm6
	vpermt2pd	%ymm2, %ymm0, %ymm6
	vpermt2pd	%ymm2, %ymm1, %ymm4
	vmovapd	%ymm9, %ymm2
	vpermt2pd	%ymm6, %ymm0, %ymm2
	vpermt2pd	%ymm6, %ymm1, %ymm9
	vmovapd	%ymm8, %ymm6
	vpermt2pd	%ymm11, %ymm0, %ymm6
	vpermt2pd	%ymm11, %ymm1, %ymm8
	vmulpd	%ymm8, %ymm6, %ymm6
	vmulpd	%ymm9, %ymm2, %ymm2
	vmulpd	%ymm6, %ymm2, %ymm2
	vmovapd	%ymm5, %ymm6
	vpermt2pd	%ymm7, %ymm1, %ymm5
	vpermt2pd	%ymm7, %ymm0, %ymm6
	vpermi2pd	%ymm4, %ymm3, %ymm1
	vpermi2pd	%ymm4, %ymm3, %ymm0
	vmulpd	%ymm5, %ymm6, %ymm5
	vmulpd	%ymm1, %ymm0, %ymm0
	vmulpd	%ymm10, %ymm5, %ymm5
	vmulpd	%ymm5, %ymm2, %ymm2
	vmulpd	%ymm0, %ymm2, %ymm1
	vmovapd	%xmm1, %xmm0
	vextractf64x2	$0x1, %ymm1, %xmm1
	vmulpd	%xmm1, %xmm0, %xmm0
	vpsrldq	$8, %xmm0, %xmm1
	vmulpd	%xmm1, %xmm0, %xmm0
	je	.L610
.L611:
	leaq	0(,%rcx,8), %rax
	vmulsd	(%rdx,%rcx,8), %xmm0, %xmm0
	leaq	8(%rcx), %rsi
	vmovsd	8(%rdx,%rax), %xmm1
	vmulsd	16(%rdx,%rax), %xmm1, %xmm1
	vmulsd	%xmm0, %xmm1, %xmm1
	vmovsd	24(%rdx,%rax), %xmm0
	vmulsd	32(%rdx,%rax), %xmm0, %xmm0
	vmulsd	40(%rdx,%rax), %xmm0, %xmm0
	vmulsd	%xmm0, %xmm1, %xmm1
	vmovsd	48(%rdx,%rax), %xmm0
	vmulsd	56(%rdx,%rax), %xmm0, %xmm0
	vmulsd	%xmm0, %xmm1, %xmm0
	cmpq	%rsi, %r8
	jle	.L610
	vmovsd	80(%rdx,%rax), %xmm1
	vmovsd	96(%rdx,%rax), %xmm2
	addq	$16, %rcx
	vmulsd	88(%rdx,%rax), %xmm2, %xmm2
	vmulsd	72(%rdx,%rax), %xmm1, %xmm1
	vmulsd	120(%rdx,%rax), %xmm0, %xmm0
	vmulsd	%xmm2, %xmm1, %xmm1
	vmovsd	112(%rdx,%rax), %xmm2
	vmulsd	104(%rdx,%rax), %xmm2, %xmm2
	vmulsd	64(%rdx,%rax), %xmm2, %xmm2
	vmulsd	%xmm2, %xmm1, %xmm1
	vmulsd	%xmm0, %xmm1, %xmm0
	cmpq	%rcx, %r8
	jle	.L610
	vmovsd	152(%rdx,%rax), %xmm1
	vmovsd	136(%rdx,%rax), %xmm2
	vmulsd	160(%rdx,%rax), %xmm1, %xmm1
	vmulsd	144(%rdx,%rax), %xmm2, %xmm2
	vmulsd	184(%rdx,%rax), %xmm0, %xmm0
	vmulsd	%xmm2, %xmm1, %xmm1
	vmovsd	168(%rdx,%rax), %xmm2
	vmulsd	176(%rdx,%rax), %xmm2, %xmm2
	vmulsd	128(%rdx,%rax), %xmm2, %xmm2
	vmulsd	%xmm2, %xmm1, %xmm1
	vmulsd	%xmm0, %xmm1, %xmm0
.L610:
	vaddsd	.LC43(%rip), %xmm0, %xmm0
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L613:
	vmovsd	.LC38(%rip), %xmm0
	ret
.L614:
	vbroadcastsd	.LC22(%rip), %ymm10
	xorl	%eax, %eax
	xorl	%ecx, %ecx
	vmovsd	.LC22(%rip), %xmm0
	jmp	.L608
	.size	whole_chain_product, .-whole_chain_product
	.p2align 4
	.globl	whole_free_product
	.type	whole_free_product, @function
whole_free_product:
	testq	%r8, %r8
	jle	.L625
	vbroadcastsd	.LC22(%rip), %zmm0
	subq	$1, %r8
	xorl	%eax, %eax
	shrq	$3, %r8
	leaq	1(%r8), %rdx
	.p2align 4,,10
	.p2align 3
.L624:
	movq	%rax, %rcx
	addq	$1, %rax
	salq	$6, %rcx
	vmulpd	(%rsi,%rcx), %zmm0, %zmm0
	cmpq	%rdx, %rax
	jb	.L624
	vextractf64x4	$0x1, %zmm0, %ymm1
	vaddpd	%ymm0, %ymm1, %ymm0
	vextractf64x2	$0x1, %ymm0, %xmm1
	vaddpd	%xmm0, %xmm1, %xmm1
	vunpckhpd	%xmm1, %xmm1, %xmm0
	vaddpd	%xmm1, %xmm0, %xmm0
	vzeroupper
	ret
	.p2align 4,,10
	.p2align 3
.L625:
	vmovsd	.LC38(%rip), %xmm0
	ret
	.size	whole_free_product, .-whole_free_product
	.p2align 4
	.globl	whole_recurrence
	.type	whole_recurrence, @function
whole_recurrence:
	testq	%r8, %r8
	jle	.L630
	vmovsd	.LC45(%rip), %xmm1
	xorl	%eax, %eax
	vxorpd	%xmm0, %xmm0, %xmm0
	.p2align 4,,10
	.p2align 3
.L629:
	vfnmadd213sd	(%rsi,%rax,8), %xmm1, %xmm0
	vmovsd	%xmm0, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L629
	ret
	.p2align 4,,10
	.p2align 3
.L630:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.size	whole_recurrence, .-whole_recurrence
	.p2align 4
	.globl	whole_no_recurrence
	.type	whole_no_recurrence, @function
whole_no_recurrence:
	testq	%r8, %r8
	jle	.L633
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L639
	vbroadcastsd	.LC45(%rip), %zmm1
	movq	%r8, %rcx
	xorl	%eax, %eax
	shrq	$3, %rcx
	salq	$6, %rcx
	.p2align 4,,10
	.p2align 3
.L635:
	vmovupd	(%rdx,%rax), %zmm0
	vfnmadd213pd	(%rsi,%rax), %zmm1, %zmm0
	vmovupd	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rcx, %rax
	jne	.L635
	movq	%r8, %rax
	andq	$-8, %rax
	movq	%rax, %rcx
	cmpq	%rax, %r8
	je	.L646
.L634:
	movq	%r8, %r9
	subq	%rcx, %r9
	leaq	-1(%r9), %r10
	cmpq	$2, %r10
	jbe	.L637
	vmovupd	(%rdx,%rcx,8), %ymm0
	vmovupd	(%rsi,%rcx,8), %ymm2
	vfnmadd132pd	.LC45(%rip){1to4}, %ymm2, %ymm0
	vmovupd	%ymm0, (%rdi,%rcx,8)
	movq	%r9, %rcx
	andq	$-4, %rcx
	addq	%rcx, %rax
	andl	$3, %r9d
	je	.L646
.L637:
	vmovsd	.LC45(%rip), %xmm0
	vmovsd	(%rdx,%rax,8), %xmm1
	leaq	0(,%rax,8), %rcx
	leaq	1(%rax), %r9
	vfnmadd213sd	(%rsi,%rax,8), %xmm0, %xmm1
	vmovsd	%xmm1, (%rdi,%rcx)
	cmpq	%r9, %r8
	jle	.L646
	vmovsd	8(%rdx,%rcx), %xmm1
	vfnmadd213sd	8(%rsi,%rcx), %xmm0, %xmm1
	addq	$2, %rax
	vmovsd	%xmm1, 8(%rdi,%rcx)
	cmpq	%rax, %r8
	jle	.L646
	vmovsd	16(%rsi,%rcx), %xmm3
	vfnmadd132sd	16(%rdx,%rcx), %xmm3, %xmm0
	vmovsd	%xmm0, 16(%rdi,%rcx)
	vzeroupper
	vmovsd	(%rdi), %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L646:
	vzeroupper
.L633:
	vmovsd	(%rdi), %xmm0
	ret
.L639:
	xorl	%ecx, %ecx
	xorl	%eax, %eax
	jmp	.L634
	.size	whole_no_recurrence, .-whole_no_recurrence
	.p2align 4
	.globl	whole_pointers
	.type	whole_pointers, @function
whole_pointers:
	testq	%r8, %r8
	jle	.L648
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L649:
	movq	8(%rdi), %rsi
	movq	16(%rdi), %rcx
	movq	(%rdi), %rdx
	vmovsd	(%rsi,%rax,8), %xmm0
	vaddsd	(%rcx,%rax,8), %xmm0, %xmm0
	vmovsd	%xmm0, (%rdx,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L649
.L648:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.size	whole_pointers, .-whole_pointers
	.p2align 4
	.globl	whole_no_pointers
	.type	whole_no_pointers, @function
whole_no_pointers:
	movq	(%rdi), %rdx
	movq	8(%rdi), %rcx
	movq	16(%rdi), %rsi
	testq	%r8, %r8
	jle	.L652
	leaq	-1(%r8), %rax
	movq	%r8, %rdi
	cmpq	$2, %rax
	jbe	.L662
	leaq	8(%rcx), %r10
	movq	%rdx, %r9
	subq	%r10, %r9
	cmpq	$48, %r9
	jbe	.L662
	leaq	8(%rsi), %r10
	movq	%rdx, %r9
	subq	%r10, %r9
	cmpq	$48, %r9
	jbe	.L662
	cmpq	$6, %rax
	jbe	.L663
	shrq	$3, %rdi
	xorl	%eax, %eax
	salq	$6, %rdi
	.p2align 4,,10
	.p2align 3
.L655:
	vmovupd	(%rcx,%rax), %zmm1
	vaddpd	(%rsi,%rax), %zmm1, %zmm0
	vmovupd	%zmm0, (%rdx,%rax)
	addq	$64, %rax
	cmpq	%rdi, %rax
	jne	.L655
	movq	%r8, %rax
	andq	$-8, %rax
	movq	%rax, %r9
	cmpq	%rax, %r8
	je	.L678
	movq	%r8, %rdi
	subq	%rax, %rdi
	leaq	-1(%rdi), %r10
	cmpq	$2, %r10
	jbe	.L657
.L654:
	vmovupd	(%rcx,%r9,8), %ymm2
	vaddpd	(%rsi,%r9,8), %ymm2, %ymm0
	vmovupd	%ymm0, (%rdx,%r9,8)
	movq	%rdi, %r9
	andq	$-4, %r9
	addq	%r9, %rax
	andl	$3, %edi
	je	.L678
.L657:
	vmovsd	(%rcx,%rax,8), %xmm0
	vaddsd	(%rsi,%rax,8), %xmm0, %xmm0
	leaq	1(%rax), %r9
	leaq	0(,%rax,8), %rdi
	vmovsd	%xmm0, (%rdx,%rax,8)
	cmpq	%r9, %r8
	jle	.L678
	vmovsd	8(%rcx,%rdi), %xmm0
	vaddsd	8(%rsi,%rdi), %xmm0, %xmm0
	addq	$2, %rax
	vmovsd	%xmm0, 8(%rdx,%rdi)
	cmpq	%rax, %r8
	jle	.L678
	vmovsd	16(%rcx,%rdi), %xmm0
	vaddsd	16(%rsi,%rdi), %xmm0, %xmm0
	vmovsd	%xmm0, 16(%rdx,%rdi)
	vzeroupper
.L652:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L662:
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L659:
	vmovsd	(%rcx,%rax,8), %xmm0
	vaddsd	(%rsi,%rax,8), %xmm0, %xmm0
	vmovsd	%xmm0, (%rdx,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L659
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L678:
	vzeroupper
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
.L663:
	xorl	%r9d, %r9d
	xorl	%eax, %eax
	jmp	.L654
	.size	whole_no_pointers, .-whole_no_pointers
	.p2align 4
	.globl	whole_quotient
	.type	whole_quotient, @function
whole_quotient:
	testq	%r8, %r8
	jle	.L680
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L686
	vbroadcastsd	.LC49(%rip), %zmm1
	movq	%r8, %rdx
	xorl	%eax, %eax
	shrq	$3, %rdx
	salq	$6, %rdx
	.p2align 4,,10
	.p2align 3
.L682:
	vmovupd	(%rsi,%rax), %zmm2
	vdivpd	%zmm1, %zmm2, %zmm0
	vmovupd	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rax, %rdx
	jne	.L682
	movq	%r8, %rax
	andq	$-8, %rax
	movq	%rax, %rdx
	cmpq	%rax, %r8
	je	.L693
.L681:
	movq	%r8, %rcx
	subq	%rdx, %rcx
	leaq	-1(%rcx), %r9
	cmpq	$2, %r9
	jbe	.L684
	vmovupd	(%rsi,%rdx,8), %ymm3
	vdivpd	.LC49(%rip){1to4}, %ymm3, %ymm0
	vmovupd	%ymm0, (%rdi,%rdx,8)
	movq	%rcx, %rdx
	andq	$-4, %rdx
	addq	%rdx, %rax
	andl	$3, %ecx
	je	.L693
.L684:
	vmovsd	(%rsi,%rax,8), %xmm0
	leaq	1(%rax), %rcx
	vmovsd	.LC49(%rip), %xmm1
	leaq	0(,%rax,8), %rdx
	vdivsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, (%rdi,%rax,8)
	cmpq	%rcx, %r8
	jle	.L693
	vmovsd	8(%rsi,%rdx), %xmm0
	addq	$2, %rax
	vdivsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, 8(%rdi,%rdx)
	cmpq	%rax, %r8
	jle	.L693
	vmovsd	16(%rsi,%rdx), %xmm0
	vdivsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, 16(%rdi,%rdx)
	vzeroupper
	vmovsd	(%rdi), %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L693:
	vzeroupper
.L680:
	vmovsd	(%rdi), %xmm0
	ret
.L686:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.L681
	.size	whole_quotient, .-whole_quotient
	.p2align 4
	.globl	whole_by_reciprocal
	.type	whole_by_reciprocal, @function
whole_by_reciprocal:
	testq	%r8, %r8
	jle	.L695
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L701
	vbroadcastsd	.LC52(%rip), %zmm1
	movq	%r8, %rdx
	xorl	%eax, %eax
	shrq	$3, %rdx
	salq	$6, %rdx
	.p2align 4,,10
	.p2align 3
.L697:
	vmulpd	(%rsi,%rax), %zmm1, %zmm0
	vmovupd	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rax, %rdx
	jne	.L697
	movq	%r8, %rax
	andq	$-8, %rax
	movq	%rax, %rdx
	cmpq	%rax, %r8
	je	.L708
.L696:
	movq	%r8, %rcx
	subq	%rdx, %rcx
	leaq	-1(%rcx), %r9
	cmpq	$2, %r9
	jbe	.L699
	vbroadcastsd	.LC52(%rip), %ymm0
	vmulpd	(%rsi,%rdx,8), %ymm0, %ymm0
	vmovupd	%ymm0, (%rdi,%rdx,8)
	movq	%rcx, %rdx
	andq	$-4, %rdx
	addq	%rdx, %rax
	andl	$3, %ecx
	je	.L708
.L699:
	vmovsd	.LC52(%rip), %xmm0
	vmulsd	(%rsi,%rax,8), %xmm0, %xmm1
	leaq	1(%rax), %rcx
	leaq	0(,%rax,8), %rdx
	vmovsd	%xmm1, (%rdi,%rax,8)
	cmpq	%rcx, %r8
	jle	.L708
	vmulsd	8(%rsi,%rdx), %xmm0, %xmm1
	addq	$2, %rax
	vmovsd	%xmm1, 8(%rdi,%rdx)
	cmpq	%rax, %r8
	jle	.L708
	vmulsd	16(%rsi,%rdx), %xmm0, %xmm0
	vmovsd	%xmm0, 16(%rdi,%rdx)
	vzeroupper
	vmovsd	(%rdi), %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L708:
	vzeroupper
.L695:
	vmovsd	(%rdi), %xmm0
	ret
.L701:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.L696
	.size	whole_by_reciprocal, .-whole_by_reciprocal
	.p2align 4
	.globl	whole_quotient32
	.type	whole_quotient32, @function
whole_quotient32:
	testq	%r8, %r8
	jle	.L710
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L716
	vbroadcastss	.LC55(%rip), %zmm1
	movq	%r8, %rdx
	xorl	%eax, %eax
	shrq	$4, %rdx
	salq	$6, %rdx
	.p2align 4,,10
	.p2align 3
.L712:
	vmovups	(%rsi,%rax), %zmm2
	vdivps	%zmm1, %zmm2, %zmm0
	vmovups	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rax, %rdx
	jne	.L712
	movq	%r8, %rax
	andq	$-16, %rax
	movq	%rax, %rdx
	cmpq	%rax, %r8
	je	.L727
.L711:
	movq	%r8, %rcx
	subq	%rdx, %rcx
	leaq	-1(%rcx), %r9
	cmpq	$6, %r9
	jbe	.L714
	vmovups	(%rsi,%rdx,4), %ymm3
	vdivps	.LC55(%rip){1to8}, %ymm3, %ymm0
	vmovups	%ymm0, (%rdi,%rdx,4)
	movq	%rcx, %rdx
	andq	$-8, %rdx
	addq	%rdx, %rax
	andl	$7, %ecx
	je	.L727
.L714:
	vmovss	(%rsi,%rax,4), %xmm1
	leaq	1(%rax), %rcx
	vmovss	.LC55(%rip), %xmm0
	leaq	0(,%rax,4), %rdx
	vdivss	%xmm0, %xmm1, %xmm1
	vmovss	%xmm1, (%rdi,%rax,4)
	cmpq	%rcx, %r8
	jle	.L727
	vmovss	4(%rsi,%rdx), %xmm1
	leaq	2(%rax), %rcx
	vdivss	%xmm0, %xmm1, %xmm1
	vmovss	%xmm1, 4(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L727
	vmovss	8(%rsi,%rdx), %xmm1
	leaq	3(%rax), %rcx
	vdivss	%xmm0, %xmm1, %xmm1
	vmovss	%xmm1, 8(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L727
	vmovss	12(%rsi,%rdx), %xmm1
	leaq	4(%rax), %rcx
	vdivss	%xmm0, %xmm1, %xmm1
	vmovss	%xmm1, 12(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L727
	vmovss	16(%rsi,%rdx), %xmm1
	leaq	5(%rax), %rcx
	vdivss	%xmm0, %xmm1, %xmm1
	vmovss	%xmm1, 16(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L727
	vmovss	20(%rsi,%rdx), %xmm1
	addq	$6, %rax
	vdivss	%xmm0, %xmm1, %xmm1
	vmovss	%xmm1, 20(%rdi,%rdx)
	cmpq	%rax, %r8
	jle	.L727
	vmovss	24(%rsi,%rdx), %xmm1
	vdivss	%xmm0, %xmm1, %xmm0
	vmovss	%xmm0, 24(%rdi,%rdx)
	vzeroupper
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L727:
	vzeroupper
.L710:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
.L716:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.L711
	.size	whole_quotient32, .-whole_quotient32
	.p2align 4
	.globl	whole_by_reciprocal32
	.type	whole_by_reciprocal32, @function
whole_by_reciprocal32:
	testq	%r8, %r8
	jle	.L729
	leaq	-1(%r8), %rax
	cmpq	$14, %rax
	jbe	.L735
	vbroadcastss	.LC58(%rip), %zmm1
	movq	%r8, %rdx
	xorl	%eax, %eax
	shrq	$4, %rdx
	salq	$6, %rdx
	.p2align 4,,10
	.p2align 3
.L731:
	vmulps	(%rsi,%rax), %zmm1, %zmm0
	vmovups	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rax, %rdx
	jne	.L731
	movq	%r8, %rax
	andq	$-16, %rax
	movq	%rax, %rdx
	cmpq	%rax, %r8
	je	.L746
.L730:
	movq	%r8, %rcx
	subq	%rdx, %rcx
	leaq	-1(%rcx), %r9
	cmpq	$6, %r9
	jbe	.L733
	vbroadcastss	.LC58(%rip), %ymm0
	vmulps	(%rsi,%rdx,4), %ymm0, %ymm0
	vmovups	%ymm0, (%rdi,%rdx,4)
	movq	%rcx, %rdx
	andq	$-8, %rdx
	addq	%rdx, %rax
	andl	$7, %ecx
	je	.L746
.L733:
	vmovss	.LC58(%rip), %xmm0
	vmulss	(%rsi,%rax,4), %xmm0, %xmm1
	leaq	1(%rax), %rcx
	leaq	0(,%rax,4), %rdx
	vmovss	%xmm1, (%rdi,%rax,4)
	cmpq	%rcx, %r8
	jle	.L746
	vmulss	4(%rsi,%rdx), %xmm0, %xmm1
	leaq	2(%rax), %rcx
	vmovss	%xmm1, 4(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L746
	vmulss	8(%rsi,%rdx), %xmm0, %xmm1
	leaq	3(%rax), %rcx
	vmovss	%xmm1, 8(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L746
	vmulss	12(%rsi,%rdx), %xmm0, %xmm1
	leaq	4(%rax), %rcx
	vmovss	%xmm1, 12(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L746
	vmulss	16(%rsi,%rdx), %xmm0, %xmm1
	leaq	5(%rax), %rcx
	vmovss	%xmm1, 16(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L746
	vmulss	20(%rsi,%rdx), %xmm0, %xmm1
	addq	$6, %rax
	vmovss	%xmm1, 20(%rdi,%rdx)
	cmpq	%rax, %r8
	jle	.L746
	vmulss	24(%rsi,%rdx), %xmm0, %xmm0
	vmovss	%xmm0, 24(%rdi,%rdx)
	vzeroupper
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L746:
	vzeroupper
.L729:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
.L735:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.L730
	.size	whole_by_reciprocal32, .-whole_by_reciprocal32
	.p2align 4
	.globl	whole_indexed
	.type	whole_indexed, @function
whole_indexed:
	testq	%r8, %r8
	jle	.L767
	pushq	%rbp
	movq	%rdx, %rax
	leaq	-1(%r8), %rdx
	vmovq	%rcx, %xmm5
	movq	%rsp, %rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	andq	$-64, %rsp
	cmpq	$14, %rdx
	jbe	.L754
	movq	%r8, %r10
	movq	%r8, -16(%rsp)
	xorl	%ecx, %ecx
	vmovq	%rdi, %xmm10
	shrq	$4, %r10
	salq	$6, %r10
	movq	%r10, -8(%rsp)
	.p2align 4,,10
	.p2align 3
.L750:
	vmovq	%xmm5, %rdi
	leaq	(%rdi,%rcx), %rdx
	movslq	4(%rdx), %rdi
	movslq	52(%rdx), %r11
	movslq	44(%rdx), %r9
	movslq	8(%rdx), %rbx
	vmovq	%rdi, %xmm8
	movslq	12(%rdx), %rdi
	vmovq	%r11, %xmm7
	movslq	56(%rdx), %r11
	movslq	(%rdx), %r10
	movslq	16(%rdx), %r13
	vmovq	%r9, %xmm6
	vmovq	%rdi, %xmm9
	movslq	36(%rdx), %rdi
	movslq	20(%rdx), %r12
	movslq	28(%rdx), %r14
	movslq	32(%rdx), %r8
	movslq	48(%rdx), %r9
	vmovq	%rdi, %xmm4
	movslq	24(%rdx), %r15
	movslq	40(%rdx), %rdi
	vmovsd	(%rsi,%r11,8), %xmm0
	movslq	60(%rdx), %rdx
	vmovsd	(%rsi,%r8,8), %xmm2
	vmovhpd	(%rsi,%rdx,8), %xmm0, %xmm1
	vmovsd	(%rsi,%r9,8), %xmm0
	vmovq	%rdx, %xmm3
	vmovq	%xmm7, %rdx
	vmovhpd	(%rsi,%rdx,8), %xmm0, %xmm0
	vmovq	%xmm6, %rdx
	vinsertf128	$0x1, %xmm1, %ymm0, %ymm1
	vmovsd	(%rsi,%rdi,8), %xmm0
	vmovhpd	(%rsi,%rdx,8), %xmm0, %xmm0
	vmovq	%xmm4, %rdx
	vmovhpd	(%rsi,%rdx,8), %xmm2, %xmm2
	vmovq	%xmm3, %rdx
	vmovsd	(%rax,%rdi,8), %xmm3
	vmovq	%xmm6, %rdi
	vinsertf128	$0x1, %xmm0, %ymm2, %ymm2
	vmovsd	(%rax,%r11,8), %xmm0
	vinsertf64x4	$0x1, %ymm1, %zmm2, %zmm2
	vmovsd	(%rax,%r9,8), %xmm1
	vmovhpd	(%rax,%rdi,8), %xmm3, %xmm3
	vmovq	%xmm4, %rdi
	vmovhpd	(%rax,%rdx,8), %xmm0, %xmm0
	vmovq	%xmm7, %rdx
	vmovhpd	(%rax,%rdx,8), %xmm1, %xmm1
	vinsertf128	$0x1, %xmm0, %ymm1, %ymm1
	vmovsd	(%rax,%r8,8), %xmm0
	vmovhpd	(%rax,%rdi,8), %xmm0, %xmm0
	vmovq	%xmm9, %rdi
	vinsertf128	$0x1, %xmm3, %ymm0, %ymm0
	vinsertf64x4	$0x1, %ymm1, %zmm0, %zmm0
	vaddpd	%zmm0, %zmm2, %zmm2
	vmovsd	(%rsi,%r15,8), %xmm0
	vmovsd	(%rax,%rbx,8), %xmm4
	vmovhpd	(%rsi,%r14,8), %xmm0, %xmm1
	vmovsd	(%rsi,%r13,8), %xmm0
	vmovhpd	(%rsi,%r12,8), %xmm0, %xmm0
	vinsertf128	$0x1, %xmm1, %ymm0, %ymm1
	vmovsd	(%rsi,%rbx,8), %xmm0
	vmovq	%xmm9, %rbx
	vmovhpd	(%rax,%rbx,8), %xmm4, %xmm4
	vmovq	%xmm10, %rbx
	vmovhpd	(%rsi,%rdi,8), %xmm0, %xmm3
	vmovsd	(%rsi,%r10,8), %xmm0
	vmovq	%xmm8, %rdi
	vmovhpd	(%rsi,%rdi,8), %xmm0, %xmm0
	vinsertf128	$0x1, %xmm3, %ymm0, %ymm0
	vmovsd	(%rax,%r13,8), %xmm3
	vinsertf64x4	$0x1, %ymm1, %zmm0, %zmm0
	vmovsd	(%rax,%r15,8), %xmm1
	vmovhpd	(%rax,%r12,8), %xmm3, %xmm3
	vmovhpd	(%rax,%r14,8), %xmm1, %xmm1
	vinsertf128	$0x1, %xmm1, %ymm3, %ymm3
	vmovsd	(%rax,%r10,8), %xmm1
	vmovhpd	(%rax,%rdi,8), %xmm1, %xmm1
	vmovupd	%zmm2, 64(%rbx,%rcx,2)
	vinsertf128	$0x1, %xmm4, %ymm1, %ymm1
	vinsertf64x4	$0x1, %ymm3, %zmm1, %zmm1
	vaddpd	%zmm1, %zmm0, %zmm0
	vmovupd	%zmm0, (%rbx,%rcx,2)
	addq	$64, %rcx
	cmpq	%rcx, -8(%rsp)
	jne	.L750
	movq	-16(%rsp), %r8
	vmovq	%xmm10, %rdi
	movq	%r8, %rcx
	andq	$-16, %rcx
	movq	%rcx, %r10
	cmpq	%r8, %rcx
	je	.L765
.L749:
	movq	%r8, %r9
	subq	%r10, %r9
	leaq	-1(%r9), %rdx
	cmpq	$6, %rdx
	jbe	.L752
	vmovq	%xmm5, %rbx
	leaq	(%rbx,%r10,4), %rdx
	leaq	(%rdi,%r10,8), %rbx
	movslq	24(%rdx), %r10
	movslq	(%rdx), %r12
	vmovq	%rbx, %xmm4
	movslq	8(%rdx), %r14
	movslq	4(%rdx), %rbx
	vmovsd	(%rsi,%r10,8), %xmm0
	movslq	12(%rdx), %r13
	movslq	16(%rdx), %r11
	movslq	20(%rdx), %r15
	movslq	28(%rdx), %rdx
	vmovsd	(%rax,%r10,8), %xmm2
	vmovsd	(%rax,%r14,8), %xmm3
	vmovhpd	(%rsi,%rdx,8), %xmm0, %xmm1
	vmovsd	(%rsi,%r11,8), %xmm0
	vmovhpd	(%rax,%rdx,8), %xmm2, %xmm2
	movq	%r9, %rdx
	vmovhpd	(%rax,%r13,8), %xmm3, %xmm3
	andq	$-8, %rdx
	vmovhpd	(%rsi,%r15,8), %xmm0, %xmm0
	addq	%rdx, %rcx
	andl	$7, %r9d
	vinsertf128	$0x1, %xmm1, %ymm0, %ymm0
	vmovsd	(%rax,%r11,8), %xmm1
	vmovhpd	(%rax,%r15,8), %xmm1, %xmm1
	vinsertf128	$0x1, %xmm2, %ymm1, %ymm1
	vaddpd	%ymm1, %ymm0, %ymm0
	vmovsd	(%rsi,%r14,8), %xmm1
	vmovhpd	(%rsi,%r13,8), %xmm1, %xmm2
	vmovsd	(%rsi,%r12,8), %xmm1
	vmovhpd	(%rsi,%rbx,8), %xmm1, %xmm1
	vinsertf128	$0x1, %xmm2, %ymm1, %ymm1
	vmovsd	(%rax,%r12,8), %xmm2
	vmovhpd	(%rax,%rbx,8), %xmm2, %xmm2
	vmovq	%xmm4, %rbx
	vinsertf128	$0x1, %xmm3, %ymm2, %ymm2
	vmovupd	%ymm0, 32(%rbx)
	vaddpd	%ymm2, %ymm1, %ymm1
	vmovupd	%ymm1, (%rbx)
	je	.L765
.L752:
	vmovq	%xmm5, %rbx
	leaq	0(,%rcx,4), %r10
	leaq	0(,%rcx,8), %rdx
	movslq	(%rbx,%rcx,4), %r11
	vmovsd	(%rsi,%r11,8), %xmm0
	vaddsd	(%rax,%r11,8), %xmm0, %xmm0
	leaq	1(%rcx), %r11
	vmovsd	%xmm0, (%rdi,%rcx,8)
	cmpq	%r11, %r8
	jle	.L765
	movslq	4(%rbx,%r10), %r11
	vmovsd	(%rax,%r11,8), %xmm0
	vaddsd	(%rsi,%r11,8), %xmm0, %xmm0
	leaq	2(%rcx), %r11
	vmovsd	%xmm0, 8(%rdi,%rdx)
	cmpq	%r11, %r8
	jle	.L765
	movslq	8(%rbx,%r10), %r11
	vmovsd	(%rsi,%r11,8), %xmm0
	vaddsd	(%rax,%r11,8), %xmm0, %xmm0
	leaq	3(%rcx), %r11
	vmovsd	%xmm0, 16(%rdi,%rdx)
	cmpq	%r11, %r8
	jle	.L765
	movslq	12(%rbx,%r10), %r11
	vmovsd	(%rsi,%r11,8), %xmm0
	vaddsd	(%rax,%r11,8), %xmm0, %xmm0
	leaq	4(%rcx), %r11
	vmovsd	%xmm0, 24(%rdi,%rdx)
	cmpq	%r11, %r8
	jle	.L765
	movslq	16(%rbx,%r10), %r11
	vmovsd	(%rsi,%r11,8), %xmm0
	vaddsd	(%rax,%r11,8), %xmm0, %xmm0
	leaq	5(%rcx), %r11
	vmovsd	%xmm0, 32(%rdi,%rdx)
	cmpq	%r11, %r8
	jle	.L765
	movslq	20(%rbx,%r10), %r11
	addq	$6, %rcx
	vmovsd	(%rsi,%r11,8), %xmm0
	vaddsd	(%rax,%r11,8), %xmm0, %xmm0
	vmovsd	%xmm0, 40(%rdi,%rdx)
	cmpq	%rcx, %r8
	jle	.L765
	movslq	24(%rbx,%r10), %rcx
	vmovsd	(%rsi,%rcx,8), %xmm0
	vaddsd	(%rax,%rcx,8), %xmm0, %xmm0
	vmovsd	%xmm0, 48(%rdi,%rdx)
	vzeroupper
	jmp	.L748
	.p2align 4,,10
	.p2align 3
.L765:
	vzeroupper
.L748:
	vmovsd	(%rdi), %xmm0
	leaq	-40(%rbp), %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	ret
	.p2align 4,,10
	.p2align 3
.L767:
	vmovsd	(%rdi), %xmm0
	ret
.L754:
	xorl	%r10d, %r10d
	xorl	%ecx, %ecx
	jmp	.L749
	.size	whole_indexed, .-whole_indexed
	.p2align 4
	.globl	whole_in_order
	.type	whole_in_order, @function
whole_in_order:
	testq	%r8, %r8
	jle	.L771
	leaq	-1(%r8), %rax
	cmpq	$6, %rax
	jbe	.L777
	movq	%r8, %rcx
	xorl	%eax, %eax
	shrq	$3, %rcx
	salq	$6, %rcx
	.p2align 4,,10
	.p2align 3
.L773:
	vmovupd	(%rsi,%rax), %zmm1
	vaddpd	(%rdx,%rax), %zmm1, %zmm0
	vmovupd	%zmm0, (%rdi,%rax)
	addq	$64, %rax
	cmpq	%rcx, %rax
	jne	.L773
	movq	%r8, %rax
	andq	$-8, %rax
	movq	%rax, %rcx
	cmpq	%rax, %r8
	je	.L784
.L772:
	movq	%r8, %r9
	subq	%rcx, %r9
	leaq	-1(%r9), %r10
	cmpq	$2, %r10
	jbe	.L775
	vmovupd	(%rsi,%rcx,8), %ymm2
	vaddpd	(%rdx,%rcx,8), %ymm2, %ymm0
	vmovupd	%ymm0, (%rdi,%rcx,8)
	movq	%r9, %rcx
	andq	$-4, %rcx
	addq	%rcx, %rax
	andl	$3, %r9d
	je	.L784
.L775:
	vmovsd	(%rsi,%rax,8), %xmm0
	vaddsd	(%rdx,%rax,8), %xmm0, %xmm0
	leaq	1(%rax), %r9
	leaq	0(,%rax,8), %rcx
	vmovsd	%xmm0, (%rdi,%rax,8)
	cmpq	%r9, %r8
	jle	.L784
	vmovsd	8(%rsi,%rcx), %xmm0
	vaddsd	8(%rdx,%rcx), %xmm0, %xmm0
	addq	$2, %rax
	vmovsd	%xmm0, 8(%rdi,%rcx)
	cmpq	%rax, %r8
	jle	.L784
	vmovsd	16(%rsi,%rcx), %xmm0
	vaddsd	16(%rdx,%rcx), %xmm0, %xmm0
	vmovsd	%xmm0, 16(%rdi,%rcx)
	vzeroupper
	vmovsd	(%rdi), %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L784:
	vzeroupper
.L771:
	vmovsd	(%rdi), %xmm0
	ret
.L777:
	xorl	%ecx, %ecx
	xorl	%eax, %eax
	jmp	.L772
	.size	whole_in_order, .-whole_in_order
	.section	.rodata.cst8,"aM",@progbits,8
	.align 8
.LC1:
	.long	0
	.long	1073217536
	.section	.rodata.cst4,"aM",@progbits,4
	.align 4
.LC4:
	.long	1069547520
	.section	.rodata.cst8
	.align 8
.LC7:
	.long	0
	.long	1074003968
	.align 8
.LC9:
	.long	0
	.long	1074528256
	.align 8
.LC11:
	.long	0
	.long	1074921472
	.align 8
.LC22:
	.long	0
	.long	1072693248
	.section	.rodata.cst4
	.align 4
.LC25:
	.long	-1090519040
	.align 4
.LC27:
	.long	1056964608
	.set	.LC29,.LC31
	.section	.rodata.cst16,"aM",@progbits,16
	.align 16
.LC31:
	.long	-1
	.long	2147483647
	.long	0
	.long	0
	.section	.rodata
	.align 64
.LC34:
	.quad	0
	.quad	3
	.quad	6
	.quad	9
	.quad	12
	.quad	15
	.quad	0
	.quad	0
	.align 64
.LC35:
	.quad	0
	.quad	1
	.quad	2
	.quad	3
	.quad	4
	.quad	5
	.quad	10
	.quad	13
	.section	.rodata.cst32,"aM",@progbits,32
	.align 32
.LC36:
	.quad	0
	.quad	3
	.quad	6
	.quad	0
	.align 32
.LC37:
	.quad	0
	.quad	1
	.quad	2
	.quad	5
	.section	.rodata.cst8
	.align 8
.LC38:
	.long	0
	.long	1075838976
	.section	.rodata
	.align 64
.LC39:
	.quad	0
	.quad	2
	.quad	4
	.quad	6
	.quad	8
	.quad	10
	.quad	12
	.quad	14
	.align 64
.LC40:
	.quad	1
	.quad	3
	.quad	5
	.quad	7
	.quad	9
	.quad	11
	.quad	13
	.quad	15
	.set	.LC41,.LC39
	.set	.LC42,.LC40
	.section	.rodata.cst8
	.align 8
.LC43:
	.long	0
	.long	1075576832
	.align 8
.LC45:
	.long	0
	.long	1071644672
	.align 8
.LC49:
	.long	858993459
	.long	1073427251
	.align 8
.LC52:
	.long	-757935405
	.long	1071829714
	.section	.rodata.cst4
	.align 4
.LC55:
	.long	1071225242
	.align 4
.LC58:
	.long	1058444950
	.section	.note.GNU-stack,"",@progbits
