# Made of loops.c by truth.py record: -O2 -g0 -S -fno-math-errno -fno-tree-loop-distribute-patterns -fno-asynchronous-unwind-tables -fcf-protection=none -march=x86-64-v4 -fno-tree-vectorize
	.text
	.p2align 4
	.globl	axpy64
	.type	axpy64, @function
axpy64:
	testq	%r8, %r8
	jle	.L2
	vmovsd	.LC0(%rip), %xmm1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L3:
	vmovsd	(%rsi,%rax,8), %xmm0
	vfmadd213sd	(%rdi,%rax,8), %xmm1, %xmm0
	vmovsd	%xmm0, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L3
.L2:
	vmovsd	(%rdi), %xmm0
	ret
	.size	axpy64, .-axpy64
	.p2align 4
	.globl	axpy32
	.type	axpy32, @function
axpy32:
	testq	%r8, %r8
	jle	.L7
	vmovss	.LC1(%rip), %xmm1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L8:
	vmovss	(%rsi,%rax,4), %xmm0
	vfmadd213ss	(%rdi,%rax,4), %xmm1, %xmm0
	vmovss	%xmm0, (%rdi,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L8
.L7:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.size	axpy32, .-axpy32
	.p2align 4
	.globl	add64
	.type	add64, @function
add64:
	testq	%r8, %r8
	jle	.L11
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L12:
	vmovsd	(%rsi,%rax,8), %xmm0
	vaddsd	(%rdx,%rax,8), %xmm0, %xmm0
	vmovsd	%xmm0, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L12
.L11:
	vmovsd	(%rdi), %xmm0
	ret
	.size	add64, .-add64
	.p2align 4
	.globl	triad32
	.type	triad32, @function
triad32:
	testq	%r8, %r8
	jle	.L15
	vmovss	.LC1(%rip), %xmm1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L16:
	vmovss	(%rdx,%rax,4), %xmm0
	vfmadd213ss	(%rsi,%rax,4), %xmm1, %xmm0
	vmovss	%xmm0, (%rdi,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L16
.L15:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.size	triad32, .-triad32
	.p2align 4
	.globl	scale64
	.type	scale64, @function
scale64:
	testq	%r8, %r8
	jle	.L19
	vmovsd	.LC0(%rip), %xmm1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L20:
	vmulsd	(%rsi,%rax,8), %xmm1, %xmm0
	vmovsd	%xmm0, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L20
.L19:
	vmovsd	(%rdi), %xmm0
	ret
	.size	scale64, .-scale64
	.p2align 4
	.globl	divide64
	.type	divide64, @function
divide64:
	testq	%r8, %r8
	jle	.L23
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L24:
	vmovsd	(%rsi,%rax,8), %xmm0
	vdivsd	(%rdx,%rax,8), %xmm0, %xmm0
	vmovsd	%xmm0, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L24
.L23:
	vmovsd	(%rdi), %xmm0
	ret
	.size	divide64, .-divide64
	.p2align 4
	.globl	divide32
	.type	divide32, @function
divide32:
	testq	%r8, %r8
	jle	.L27
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L28:
	vmovss	(%rsi,%rax,4), %xmm0
	vdivss	(%rdx,%rax,4), %xmm0, %xmm0
	vmovss	%xmm0, (%rdi,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L28
.L27:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.size	divide32, .-divide32
	.p2align 4
	.globl	root64
	.type	root64, @function
root64:
	testq	%r8, %r8
	jle	.L31
	vxorps	%xmm1, %xmm1, %xmm1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L32:
	vsqrtsd	(%rsi,%rax,8), %xmm1, %xmm0
	vmovsd	%xmm0, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L32
.L31:
	vmovsd	(%rdi), %xmm0
	ret
	.size	root64, .-root64
	.p2align 4
	.globl	root32
	.type	root32, @function
root32:
	vxorps	%xmm0, %xmm0, %xmm0
	testq	%r8, %r8
	jle	.L35
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L36:
	vsqrtss	(%rsi,%rax,4), %xmm0, %xmm1
	vmovss	%xmm1, (%rdi,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L36
.L35:
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.size	root32, .-root32
	.p2align 4
	.globl	length32
	.type	length32, @function
length32:
	testq	%r8, %r8
	jle	.L39
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L40:
	vmovss	(%rdx,%rax,4), %xmm1
	vmovss	(%rsi,%rax,4), %xmm0
	vmulss	%xmm1, %xmm1, %xmm1
	vfmadd132ss	%xmm0, %xmm1, %xmm0
	vsqrtss	%xmm0, %xmm0, %xmm0
	vmovss	%xmm0, (%rdi,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L40
.L39:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.size	length32, .-length32
	.p2align 4
	.globl	cubic64
	.type	cubic64, @function
cubic64:
	testq	%r8, %r8
	jle	.L43
	vmovsd	.LC0(%rip), %xmm5
	xorl	%eax, %eax
	vmovsd	.LC2(%rip), %xmm4
	vmovsd	.LC3(%rip), %xmm3
	vmovsd	.LC4(%rip), %xmm2
	.p2align 4,,10
	.p2align 3
.L44:
	vmovsd	(%rsi,%rax,8), %xmm0
	vmovsd	%xmm0, %xmm0, %xmm1
	vfmadd132sd	%xmm5, %xmm4, %xmm1
	vfmadd132sd	%xmm0, %xmm3, %xmm1
	vfmadd132sd	%xmm1, %xmm2, %xmm0
	vmovsd	%xmm0, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L44
.L43:
	vmovsd	(%rdi), %xmm0
	ret
	.size	cubic64, .-cubic64
	.p2align 4
	.globl	greater64
	.type	greater64, @function
greater64:
	testq	%r8, %r8
	jle	.L47
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L50:
	vmovsd	(%rsi,%rax,8), %xmm0
	vmaxsd	(%rdx,%rax,8), %xmm0, %xmm0
	vmovsd	%xmm0, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L50
.L47:
	vmovsd	(%rdi), %xmm0
	ret
	.size	greater64, .-greater64
	.p2align 4
	.globl	add_i32
	.type	add_i32, @function
add_i32:
	testq	%r8, %r8
	jle	.L54
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L55:
	movl	(%rdx,%rax,4), %ecx
	addl	(%rsi,%rax,4), %ecx
	movl	%ecx, (%rdi,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L55
.L54:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdl	(%rdi), %xmm0, %xmm0
	ret
	.size	add_i32, .-add_i32
	.p2align 4
	.globl	multiply_i32
	.type	multiply_i32, @function
multiply_i32:
	testq	%r8, %r8
	jle	.L58
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L59:
	movl	(%rsi,%rax,4), %ecx
	imull	(%rdx,%rax,4), %ecx
	addl	$7, %ecx
	movl	%ecx, (%rdi,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L59
.L58:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdl	(%rdi), %xmm0, %xmm0
	ret
	.size	multiply_i32, .-multiply_i32
	.p2align 4
	.globl	bits_i32
	.type	bits_i32, @function
bits_i32:
	testq	%r8, %r8
	jle	.L62
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L63:
	movl	(%rsi,%rax,4), %ecx
	xorl	(%rdx,%rax,4), %ecx
	andl	$65295, %ecx
	movl	%ecx, (%rdi,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L63
.L62:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdl	(%rdi), %xmm0, %xmm0
	ret
	.size	bits_i32, .-bits_i32
	.p2align 4
	.globl	add_i64
	.type	add_i64, @function
add_i64:
	testq	%r8, %r8
	jle	.L66
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L67:
	movq	(%rdx,%rax,8), %r9
	movq	(%rsi,%rax,8), %rcx
	leaq	(%rcx,%r9,2), %rcx
	movq	%rcx, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L67
.L66:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdq	(%rdi), %xmm0, %xmm0
	ret
	.size	add_i64, .-add_i64
	.p2align 4
	.globl	sum64
	.type	sum64, @function
sum64:
	testq	%r8, %r8
	jle	.L72
	leaq	(%rsi,%r8,8), %rax
	vxorpd	%xmm0, %xmm0, %xmm0
	.p2align 4,,10
	.p2align 3
.L71:
	vaddsd	(%rsi), %xmm0, %xmm0
	addq	$8, %rsi
	cmpq	%rax, %rsi
	jne	.L71
	ret
	.p2align 4,,10
	.p2align 3
.L72:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.size	sum64, .-sum64
	.p2align 4
	.globl	sum32
	.type	sum32, @function
sum32:
	testq	%r8, %r8
	jle	.L77
	leaq	(%rsi,%r8,4), %rax
	vxorps	%xmm0, %xmm0, %xmm0
	.p2align 4,,10
	.p2align 3
.L76:
	vaddss	(%rsi), %xmm0, %xmm0
	addq	$4, %rsi
	cmpq	%rsi, %rax
	jne	.L76
	vcvtss2sd	%xmm0, %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L77:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.size	sum32, .-sum32
	.p2align 4
	.globl	dot64
	.type	dot64, @function
dot64:
	testq	%r8, %r8
	jle	.L82
	xorl	%eax, %eax
	vxorpd	%xmm0, %xmm0, %xmm0
	.p2align 4,,10
	.p2align 3
.L81:
	vmovsd	(%rsi,%rax,8), %xmm1
	vfmadd231sd	(%rdx,%rax,8), %xmm1, %xmm0
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L81
	ret
	.p2align 4,,10
	.p2align 3
.L82:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.size	dot64, .-dot64
	.p2align 4
	.globl	dot32
	.type	dot32, @function
dot32:
	testq	%r8, %r8
	jle	.L87
	xorl	%eax, %eax
	vxorps	%xmm0, %xmm0, %xmm0
	.p2align 4,,10
	.p2align 3
.L86:
	vmovss	(%rsi,%rax,4), %xmm1
	vfmadd231ss	(%rdx,%rax,4), %xmm1, %xmm0
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L86
	vcvtss2sd	%xmm0, %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L87:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.size	dot32, .-dot32
	.p2align 4
	.globl	product64
	.type	product64, @function
product64:
	testq	%r8, %r8
	jle	.L92
	vmovsd	.LC7(%rip), %xmm0
	leaq	(%rsi,%r8,8), %rax
	.p2align 4,,10
	.p2align 3
.L91:
	vmulsd	(%rsi), %xmm0, %xmm0
	addq	$8, %rsi
	cmpq	%rax, %rsi
	jne	.L91
	ret
	.p2align 4,,10
	.p2align 3
.L92:
	vmovsd	.LC7(%rip), %xmm0
	ret
	.size	product64, .-product64
	.p2align 4
	.globl	most64
	.type	most64, @function
most64:
	testq	%r8, %r8
	jle	.L98
	leaq	(%rsi,%r8,8), %rax
	vxorpd	%xmm0, %xmm0, %xmm0
	.p2align 4,,10
	.p2align 3
.L97:
	vmovsd	(%rsi), %xmm1
	addq	$8, %rsi
	vmaxsd	%xmm0, %xmm1, %xmm0
	cmpq	%rax, %rsi
	jne	.L97
	ret
	.p2align 4,,10
	.p2align 3
.L98:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.size	most64, .-most64
	.p2align 4
	.globl	sum_i32
	.type	sum_i32, @function
sum_i32:
	testq	%r8, %r8
	jle	.L104
	leaq	(%rsi,%r8,4), %rdx
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L103:
	addl	(%rsi), %eax
	addq	$4, %rsi
	cmpq	%rdx, %rsi
	jne	.L103
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdl	%eax, %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L104:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.size	sum_i32, .-sum_i32
	.p2align 4
	.globl	sum_i64
	.type	sum_i64, @function
sum_i64:
	testq	%r8, %r8
	jle	.L109
	leaq	(%rsi,%r8,8), %rdx
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L108:
	addq	(%rsi), %rax
	addq	$8, %rsi
	cmpq	%rdx, %rsi
	jne	.L108
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdq	%rax, %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L109:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.size	sum_i64, .-sum_i64
	.p2align 4
	.globl	squares32
	.type	squares32, @function
squares32:
	testq	%r8, %r8
	jle	.L114
	vmovss	.LC8(%rip), %xmm2
	leaq	(%rsi,%r8,4), %rax
	vxorps	%xmm0, %xmm0, %xmm0
	.p2align 4,,10
	.p2align 3
.L113:
	vmovss	(%rsi), %xmm1
	addq	$4, %rsi
	vsubss	%xmm2, %xmm1, %xmm1
	vfmadd231ss	%xmm1, %xmm1, %xmm0
	cmpq	%rsi, %rax
	jne	.L113
	vcvtss2sd	%xmm0, %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L114:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.size	squares32, .-squares32
	.p2align 4
	.globl	distance64
	.type	distance64, @function
distance64:
	testq	%r8, %r8
	jle	.L119
	vmovq	.LC9(%rip), %xmm2
	xorl	%eax, %eax
	vxorpd	%xmm1, %xmm1, %xmm1
	.p2align 4,,10
	.p2align 3
.L118:
	vmovsd	(%rsi,%rax,8), %xmm0
	vsubsd	(%rdx,%rax,8), %xmm0, %xmm0
	addq	$1, %rax
	vandpd	%xmm2, %xmm0, %xmm0
	vaddsd	%xmm0, %xmm1, %xmm1
	cmpq	%rax, %r8
	jne	.L118
	vmovsd	%xmm1, %xmm1, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L119:
	vxorpd	%xmm1, %xmm1, %xmm1
	vmovsd	%xmm1, %xmm1, %xmm0
	ret
	.size	distance64, .-distance64
	.p2align 4
	.globl	roots64
	.type	roots64, @function
roots64:
	testq	%r8, %r8
	jle	.L124
	vxorps	%xmm2, %xmm2, %xmm2
	leaq	(%rsi,%r8,8), %rax
	vxorpd	%xmm1, %xmm1, %xmm1
	.p2align 4,,10
	.p2align 3
.L123:
	vsqrtsd	(%rsi), %xmm2, %xmm0
	addq	$8, %rsi
	vaddsd	%xmm0, %xmm1, %xmm1
	cmpq	%rax, %rsi
	jne	.L123
	vmovsd	%xmm1, %xmm1, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L124:
	vxorpd	%xmm1, %xmm1, %xmm1
	vmovsd	%xmm1, %xmm1, %xmm0
	ret
	.size	roots64, .-roots64
	.p2align 4
	.globl	quotients64
	.type	quotients64, @function
quotients64:
	testq	%r8, %r8
	jle	.L129
	xorl	%eax, %eax
	vxorpd	%xmm1, %xmm1, %xmm1
	.p2align 4,,10
	.p2align 3
.L128:
	vmovsd	(%rsi,%rax,8), %xmm0
	vdivsd	(%rdx,%rax,8), %xmm0, %xmm0
	addq	$1, %rax
	vaddsd	%xmm0, %xmm1, %xmm1
	cmpq	%rax, %r8
	jne	.L128
	vmovsd	%xmm1, %xmm1, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L129:
	vxorpd	%xmm1, %xmm1, %xmm1
	vmovsd	%xmm1, %xmm1, %xmm0
	ret
	.size	quotients64, .-quotients64
	.p2align 4
	.globl	inverse32
	.type	inverse32, @function
inverse32:
	testq	%r8, %r8
	jle	.L132
	vmovss	.LC1(%rip), %xmm1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L133:
	vdivss	(%rsi,%rax,4), %xmm1, %xmm0
	vmovss	%xmm0, (%rdi,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L133
.L132:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.size	inverse32, .-inverse32
	.p2align 4
	.globl	scale32
	.type	scale32, @function
scale32:
	testq	%r8, %r8
	jle	.L136
	vmovss	.LC1(%rip), %xmm1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L137:
	vmulss	(%rsi,%rax,4), %xmm1, %xmm0
	vmovss	%xmm0, (%rdi,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L137
.L136:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.size	scale32, .-scale32
	.p2align 4
	.globl	shift_i32
	.type	shift_i32, @function
shift_i32:
	testq	%r8, %r8
	jle	.L140
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L141:
	movl	(%rsi,%rax,4), %edx
	leal	5(,%rdx,8), %edx
	movl	%edx, (%rdi,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L141
.L140:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtsi2sdl	(%rdi), %xmm0, %xmm0
	ret
	.size	shift_i32, .-shift_i32
	.p2align 4
	.globl	gather64
	.type	gather64, @function
gather64:
	testq	%r8, %r8
	jle	.L146
	leaq	(%rcx,%r8,4), %rdx
	vxorpd	%xmm0, %xmm0, %xmm0
	.p2align 4,,10
	.p2align 3
.L145:
	movslq	(%rcx), %rax
	addq	$4, %rcx
	vaddsd	(%rsi,%rax,8), %xmm0, %xmm0
	cmpq	%rcx, %rdx
	jne	.L145
	ret
	.p2align 4,,10
	.p2align 3
.L146:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.size	gather64, .-gather64
	.p2align 4
	.globl	gather32
	.type	gather32, @function
gather32:
	testq	%r8, %r8
	jle	.L149
	vmovss	.LC1(%rip), %xmm1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L150:
	movslq	(%rcx,%rax,4), %rdx
	vmulss	(%rsi,%rdx,4), %xmm1, %xmm0
	vmovss	%xmm0, (%rdi,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L150
.L149:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.size	gather32, .-gather32
	.p2align 4
	.globl	strided64
	.type	strided64, @function
strided64:
	testq	%r8, %r8
	jle	.L153
	vmovsd	.LC0(%rip), %xmm1
	movq	%rdi, %rax
	leaq	(%rdi,%r8,8), %rdx
	.p2align 4,,10
	.p2align 3
.L154:
	vmulsd	(%rsi), %xmm1, %xmm0
	addq	$8, %rax
	addq	$24, %rsi
	vmovsd	%xmm0, -8(%rax)
	cmpq	%rdx, %rax
	jne	.L154
.L153:
	vmovsd	(%rdi), %xmm0
	ret
	.size	strided64, .-strided64
	.p2align 4
	.globl	parts64
	.type	parts64, @function
parts64:
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%r12
	pushq	%rbx
	testq	%r8, %r8
	jle	.L159
	leaq	-4(,%r8,4), %rax
	vxorpd	%xmm3, %xmm3, %xmm3
	andq	$-32, %rax
	leaq	32(%rcx,%rax), %rbx
	.p2align 4,,10
	.p2align 3
.L158:
	movslq	16(%rcx), %r10
	movslq	24(%rcx), %r12
	addq	$32, %rcx
	movslq	-12(%rcx), %r9
	movslq	-4(%rcx), %r11
	vmovsd	(%rsi,%r12,8), %xmm0
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
	cmpq	%rcx, %rbx
	jne	.L158
.L157:
	vextractf64x4	$0x1, %zmm3, %ymm0
	vaddpd	%ymm3, %ymm0, %ymm0
	vextractf64x2	$0x1, %ymm0, %xmm1
	vaddpd	%xmm0, %xmm1, %xmm1
	vmovsd	%xmm1, %xmm1, %xmm0
	vunpckhpd	%xmm1, %xmm1, %xmm1
	vaddsd	%xmm1, %xmm0, %xmm0
	vzeroupper
	popq	%rbx
	popq	%r12
	popq	%rbp
	ret
	.p2align 4,,10
	.p2align 3
.L159:
	vxorpd	%xmm3, %xmm3, %xmm3
	jmp	.L157
	.size	parts64, .-parts64
	.p2align 4
	.globl	parts32
	.type	parts32, @function
parts32:
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
	jle	.L163
	vbroadcastss	.LC1(%rip), %zmm4
	movq	%rsi, %rax
	xorl	%edx, %edx
	.p2align 4,,10
	.p2align 3
.L164:
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
	jg	.L164
	vzeroupper
.L163:
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
	.size	parts32, .-parts32
	.p2align 4
	.globl	holes64
	.type	holes64, @function
holes64:
	testq	%r8, %r8
	jle	.L168
	vbroadcastsd	.LC0(%rip), %zmm3
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L169:
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
	jg	.L169
	vzeroupper
.L168:
	vmovsd	(%rdi), %xmm0
	ret
	.size	holes64, .-holes64
	.p2align 4
	.globl	chain_sum
	.type	chain_sum, @function
chain_sum:
	testq	%r8, %r8
	jle	.L174
	vmovsd	.LC7(%rip), %xmm1
	leaq	-8(,%r8,8), %rax
	andq	$-64, %rax
	leaq	64(%rsi,%rax), %rax
	vmovsd	%xmm1, %xmm1, %xmm0
	.p2align 4,,10
	.p2align 3
.L173:
	vaddsd	(%rsi), %xmm0, %xmm0
	addq	$64, %rsi
	vaddsd	-56(%rsi), %xmm0, %xmm0
	vaddsd	-48(%rsi), %xmm0, %xmm0
	vaddsd	-40(%rsi), %xmm0, %xmm0
	vaddsd	-32(%rsi), %xmm0, %xmm0
	vaddsd	-24(%rsi), %xmm0, %xmm0
	vaddsd	-16(%rsi), %xmm0, %xmm0
	vaddsd	-8(%rsi), %xmm0, %xmm0
	cmpq	%rsi, %rax
	jne	.L173
	vaddsd	%xmm1, %xmm0, %xmm0
	vaddsd	%xmm1, %xmm0, %xmm0
	vaddsd	%xmm1, %xmm0, %xmm0
	vaddsd	%xmm1, %xmm0, %xmm0
	vaddsd	%xmm1, %xmm0, %xmm0
	vaddsd	%xmm1, %xmm0, %xmm0
	vaddsd	%xmm1, %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L174:
	vmovsd	.LC12(%rip), %xmm0
	ret
	.size	chain_sum, .-chain_sum
	.p2align 4
	.globl	free_sum
	.type	free_sum, @function
free_sum:
	testq	%r8, %r8
	jle	.L179
	vmovsd	.LC7(%rip), %xmm1
	leaq	-8(,%r8,8), %rax
	andq	$-64, %rax
	leaq	64(%rsi,%rax), %rax
	vmovsd	%xmm1, %xmm1, %xmm2
	vmovsd	%xmm1, %xmm1, %xmm3
	vmovsd	%xmm1, %xmm1, %xmm4
	vmovsd	%xmm1, %xmm1, %xmm5
	vmovsd	%xmm1, %xmm1, %xmm6
	vmovsd	%xmm1, %xmm1, %xmm7
	vmovsd	%xmm1, %xmm1, %xmm0
	.p2align 4,,10
	.p2align 3
.L178:
	vaddsd	(%rsi), %xmm0, %xmm0
	vaddsd	8(%rsi), %xmm7, %xmm7
	addq	$64, %rsi
	vaddsd	-48(%rsi), %xmm6, %xmm6
	vaddsd	-40(%rsi), %xmm5, %xmm5
	vaddsd	-32(%rsi), %xmm4, %xmm4
	vaddsd	-24(%rsi), %xmm3, %xmm3
	vaddsd	-16(%rsi), %xmm2, %xmm2
	vaddsd	-8(%rsi), %xmm1, %xmm1
	cmpq	%rsi, %rax
	jne	.L178
	vaddsd	%xmm7, %xmm0, %xmm0
	vaddsd	%xmm6, %xmm0, %xmm0
	vaddsd	%xmm5, %xmm0, %xmm0
	vaddsd	%xmm4, %xmm0, %xmm0
	vaddsd	%xmm3, %xmm0, %xmm0
	vaddsd	%xmm2, %xmm0, %xmm0
	vaddsd	%xmm1, %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L179:
	vmovsd	.LC12(%rip), %xmm0
	ret
	.size	free_sum, .-free_sum
	.p2align 4
	.globl	chain_product
	.type	chain_product, @function
chain_product:
	testq	%r8, %r8
	jle	.L184
	vmovsd	.LC7(%rip), %xmm1
	leaq	-8(,%r8,8), %rax
	andq	$-64, %rax
	leaq	64(%rsi,%rax), %rax
	vmovsd	%xmm1, %xmm1, %xmm0
	.p2align 4,,10
	.p2align 3
.L183:
	vmulsd	(%rsi), %xmm0, %xmm0
	addq	$64, %rsi
	vmulsd	-56(%rsi), %xmm0, %xmm0
	vmulsd	-48(%rsi), %xmm0, %xmm0
	vmulsd	-40(%rsi), %xmm0, %xmm0
	vmulsd	-32(%rsi), %xmm0, %xmm0
	vmulsd	-24(%rsi), %xmm0, %xmm0
	vmulsd	-16(%rsi), %xmm0, %xmm0
	vmulsd	-8(%rsi), %xmm0, %xmm0
	cmpq	%rsi, %rax
	jne	.L183
	vaddsd	%xmm1, %xmm0, %xmm0
	vaddsd	%xmm1, %xmm0, %xmm0
	vaddsd	%xmm1, %xmm0, %xmm0
	vaddsd	%xmm1, %xmm0, %xmm0
	vaddsd	%xmm1, %xmm0, %xmm0
	vaddsd	%xmm1, %xmm0, %xmm0
	vaddsd	%xmm1, %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L184:
	vmovsd	.LC12(%rip), %xmm0
	ret
	.size	chain_product, .-chain_product
	.p2align 4
	.globl	free_product
	.type	free_product, @function
free_product:
	testq	%r8, %r8
	jle	.L189
	vmovsd	.LC7(%rip), %xmm1
	leaq	-8(,%r8,8), %rax
	andq	$-64, %rax
	leaq	64(%rsi,%rax), %rax
	vmovsd	%xmm1, %xmm1, %xmm2
	vmovsd	%xmm1, %xmm1, %xmm3
	vmovsd	%xmm1, %xmm1, %xmm4
	vmovsd	%xmm1, %xmm1, %xmm5
	vmovsd	%xmm1, %xmm1, %xmm6
	vmovsd	%xmm1, %xmm1, %xmm7
	vmovsd	%xmm1, %xmm1, %xmm0
	.p2align 4,,10
	.p2align 3
.L188:
	vmulsd	(%rsi), %xmm0, %xmm0
	addq	$64, %rsi
	vmulsd	-56(%rsi), %xmm7, %xmm7
	vmulsd	-48(%rsi), %xmm6, %xmm6
	vmulsd	-40(%rsi), %xmm5, %xmm5
	vmulsd	-32(%rsi), %xmm4, %xmm4
	vmulsd	-24(%rsi), %xmm3, %xmm3
	vmulsd	-16(%rsi), %xmm2, %xmm2
	vmulsd	-8(%rsi), %xmm1, %xmm1
	cmpq	%rsi, %rax
	jne	.L188
	vaddsd	%xmm7, %xmm0, %xmm0
	vaddsd	%xmm6, %xmm0, %xmm0
	vaddsd	%xmm5, %xmm0, %xmm0
	vaddsd	%xmm4, %xmm0, %xmm0
	vaddsd	%xmm3, %xmm0, %xmm0
	vaddsd	%xmm2, %xmm0, %xmm0
	vaddsd	%xmm1, %xmm0, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L189:
	vmovsd	.LC12(%rip), %xmm0
	ret
	.size	free_product, .-free_product
	.p2align 4
	.globl	recurrence
	.type	recurrence, @function
recurrence:
	testq	%r8, %r8
	jle	.L194
	vmovsd	.LC13(%rip), %xmm1
	xorl	%eax, %eax
	vxorpd	%xmm0, %xmm0, %xmm0
	.p2align 4,,10
	.p2align 3
.L193:
	vfnmadd213sd	(%rsi,%rax,8), %xmm1, %xmm0
	vmovsd	%xmm0, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L193
	ret
	.p2align 4,,10
	.p2align 3
.L194:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.size	recurrence, .-recurrence
	.p2align 4
	.globl	no_recurrence
	.type	no_recurrence, @function
no_recurrence:
	testq	%r8, %r8
	jle	.L197
	vmovsd	.LC13(%rip), %xmm1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L198:
	vmovsd	(%rdx,%rax,8), %xmm0
	vfnmadd213sd	(%rsi,%rax,8), %xmm1, %xmm0
	vmovsd	%xmm0, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L198
.L197:
	vmovsd	(%rdi), %xmm0
	ret
	.size	no_recurrence, .-no_recurrence
	.p2align 4
	.globl	pointers
	.type	pointers, @function
pointers:
	testq	%r8, %r8
	jle	.L201
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L202:
	movq	8(%rdi), %rsi
	movq	16(%rdi), %rcx
	movq	(%rdi), %rdx
	vmovsd	(%rsi,%rax,8), %xmm0
	vaddsd	(%rcx,%rax,8), %xmm0, %xmm0
	vmovsd	%xmm0, (%rdx,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L202
.L201:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.size	pointers, .-pointers
	.p2align 4
	.globl	no_pointers
	.type	no_pointers, @function
no_pointers:
	movq	(%rdi), %rdx
	movq	8(%rdi), %rcx
	movq	16(%rdi), %rsi
	testq	%r8, %r8
	jle	.L205
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L206:
	vmovsd	(%rcx,%rax,8), %xmm0
	vaddsd	(%rsi,%rax,8), %xmm0, %xmm0
	vmovsd	%xmm0, (%rdx,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L206
.L205:
	vxorpd	%xmm0, %xmm0, %xmm0
	ret
	.size	no_pointers, .-no_pointers
	.p2align 4
	.globl	quotient
	.type	quotient, @function
quotient:
	testq	%r8, %r8
	jle	.L209
	vmovsd	.LC14(%rip), %xmm1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L210:
	vmovsd	(%rsi,%rax,8), %xmm0
	vdivsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L210
.L209:
	vmovsd	(%rdi), %xmm0
	ret
	.size	quotient, .-quotient
	.p2align 4
	.globl	by_reciprocal
	.type	by_reciprocal, @function
by_reciprocal:
	testq	%r8, %r8
	jle	.L213
	vmovsd	.LC15(%rip), %xmm1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L214:
	vmulsd	(%rsi,%rax,8), %xmm1, %xmm0
	vmovsd	%xmm0, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L214
.L213:
	vmovsd	(%rdi), %xmm0
	ret
	.size	by_reciprocal, .-by_reciprocal
	.p2align 4
	.globl	quotient32
	.type	quotient32, @function
quotient32:
	testq	%r8, %r8
	jle	.L217
	vmovss	.LC16(%rip), %xmm1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L218:
	vmovss	(%rsi,%rax,4), %xmm0
	vdivss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, (%rdi,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L218
.L217:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.size	quotient32, .-quotient32
	.p2align 4
	.globl	by_reciprocal32
	.type	by_reciprocal32, @function
by_reciprocal32:
	testq	%r8, %r8
	jle	.L221
	vmovss	.LC17(%rip), %xmm1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L222:
	vmulss	(%rsi,%rax,4), %xmm1, %xmm0
	vmovss	%xmm0, (%rdi,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L222
.L221:
	vxorps	%xmm0, %xmm0, %xmm0
	vcvtss2sd	(%rdi), %xmm0, %xmm0
	ret
	.size	by_reciprocal32, .-by_reciprocal32
	.p2align 4
	.globl	indexed
	.type	indexed, @function
indexed:
	testq	%r8, %r8
	jle	.L225
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L226:
	movslq	(%rcx,%rax,4), %r9
	vmovsd	(%rsi,%r9,8), %xmm0
	vaddsd	(%rdx,%r9,8), %xmm0, %xmm0
	vmovsd	%xmm0, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L226
.L225:
	vmovsd	(%rdi), %xmm0
	ret
	.size	indexed, .-indexed
	.p2align 4
	.globl	in_order
	.type	in_order, @function
in_order:
	testq	%r8, %r8
	jle	.L229
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L230:
	vmovsd	(%rsi,%rax,8), %xmm0
	vaddsd	(%rdx,%rax,8), %xmm0, %xmm0
	vmovsd	%xmm0, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %r8
	jne	.L230
.L229:
	vmovsd	(%rdi), %xmm0
	ret
	.size	in_order, .-in_order
	.section	.rodata.cst8,"aM",@progbits,8
	.align 8
.LC0:
	.long	0
	.long	1073217536
	.section	.rodata.cst4,"aM",@progbits,4
	.align 4
.LC1:
	.long	1069547520
	.section	.rodata.cst8
	.align 8
.LC2:
	.long	0
	.long	1074003968
	.align 8
.LC3:
	.long	0
	.long	1074528256
	.align 8
.LC4:
	.long	0
	.long	1074921472
	.align 8
.LC7:
	.long	0
	.long	1072693248
	.section	.rodata.cst4
	.align 4
.LC8:
	.long	1056964608
	.section	.rodata.cst16,"aM",@progbits,16
	.align 16
.LC9:
	.long	-1
	.long	2147483647
	.long	0
	.long	0
	.section	.rodata.cst8
	.align 8
.LC12:
	.long	0
	.long	1075838976
	.align 8
.LC13:
	.long	0
	.long	1071644672
	.align 8
.LC14:
	.long	858993459
	.long	1073427251
	.align 8
.LC15:
	.long	-757935405
	.long	1071829714
	.section	.rodata.cst4
	.align 4
.LC16:
	.long	1071225242
	.align 4
.LC17:
	.long	1058444950
	.section	.note.GNU-stack,"",@progbits
