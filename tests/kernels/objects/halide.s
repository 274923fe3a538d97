/* Debian's Halide 14.0.0 (python3-halide) of

import halide as hl
x = hl.ImageParam(hl.Float(32), 2, "x")
w = hl.Param(hl.Float(32), "weight")
i, j = hl.Var("i"), hl.Var("j")
f = hl.Func("soften")
f[i, j] = (1 - w) * x[i + 1, j] + w * (x[i, j] + x[i + 2, j]) / 2
target = hl.Target("x86-64-linux-sse41-no_runtime-no_bounds_query")
f.compile_to_assembly("soften.s", [x, w], "soften", target) */
	.text
	.file	"halide_buffer_t.cpp"
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2
.LCPI0_0:
	.long	0x3f800000
.LCPI0_2:
	.long	0x3f000000
	.section	.rodata.cst16,"aM",@progbits,16
	.p2align	4
.LCPI0_1:
	.long	0x3f000000
	.long	0x3f000000
	.long	0x3f000000
	.long	0x3f000000
	.section	.text.soften,"ax",@progbits
	.globl	soften
	.p2align	4, 0x90
	.type	soften,@function
soften:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$168, %rsp
	testq	%rdi, %rdi
	je	.LBB0_1
	testq	%rsi, %rsi
	je	.LBB0_5
	movq	%rdi, %r11
	movl	32(%rsi), %eax
	movq	40(%rsi), %r13
	movl	8(%r13), %ecx
	movslq	4(%r13), %r9
	movl	%r9d, %r12d
	xorl	%r14d, %r14d
	movl	%ecx, 108(%rsp)
	cmpl	$1, %ecx
	setne	%r14b
	movl	32(%rdi), %ecx
	xorl	%r10d, %r10d
	movl	%ecx, 104(%rsp)
	cmpl	$73730, %ecx
	setne	%r10b
	movl	36(%rdi), %ecx
	xorl	%edx, %edx
	movl	%ecx, 100(%rsp)
	cmpl	$2, %ecx
	setne	%dl
	movq	%rdx, 32(%rsp)
	movq	40(%rdi), %rdx
	movl	8(%rdx), %ecx
	xorl	%r15d, %r15d
	movl	%ecx, 96(%rsp)
	cmpl	$1, %ecx
	setne	%r15b
	xorl	%ecx, %ecx
	movl	%eax, 112(%rsp)
	cmpl	$73730, %eax
	setne	%cl
	movq	%rcx, 152(%rsp)
	shlq	$2, %r10
	movq	%r12, %rbx
	shrq	$27, %rbx
	andl	$-16, %ebx
	movslq	20(%r13), %rbp
	movq	%rbp, %rdi
	shrq	$26, %rdi
	andl	$32, %edi
	movq	%rsi, 48(%rsp)
	movl	(%r13), %ecx
	movl	(%rdx), %esi
	cmpl	%esi, %ecx
	setl	%r8b
	movslq	4(%rdx), %rax
	movq	%rcx, 128(%rsp)
	movq	%r9, 24(%rsp)
	leal	2(%r9,%rcx), %ecx
	movq	%rsi, 120(%rsp)
	addl	%eax, %esi
	movl	%esi, 92(%rsp)
	cmpl	%esi, %ecx
	setg	%cl
	orb	%r8b, %cl
	movq	%r11, 160(%rsp)
	movzbl	%cl, %r9d
	shlq	$6, %r9
	movq	%rax, 72(%rsp)
	movl	%eax, %esi
	movq	%rsi, 16(%rsp)
	shrq	$24, %rsi
	andl	$-128, %esi
	movq	%r13, 40(%rsp)
	movl	16(%r13), %ecx
	movl	16(%rdx), %r13d
	movl	%ecx, %eax
	subl	%r13d, %eax
	movl	%eax, 116(%rsp)
	setl	%r11b
	movq	%rdx, 56(%rsp)
	movslq	20(%rdx), %r8
	movq	%rbp, 64(%rsp)
	movq	%rcx, 144(%rsp)
	leal	(%rbp,%rcx), %eax
	movq	%r13, 136(%rsp)
	leal	(%r8,%r13), %ecx
	movl	%eax, 88(%rsp)
	movl	%ecx, 84(%rsp)
	cmpl	%ecx, %eax
	setg	%al
	orb	%r11b, %al
	movq	48(%rsp), %rcx
	movzbl	%al, %ebp
	shlq	$8, %rbp
	movq	%r8, %r11
	shrq	$22, %r11
	andl	$512, %r11d
	shlq	$10, %r14
	shlq	$11, %r15
	movl	36(%rcx), %r13d
	cmpl	$2, %r13d
	movabsq	$-9223372036854775808, %rdx
	leaq	2(%rdx), %rax
	cmoveq	%rdx, %rax
	addq	152(%rsp), %rax
	orq	%rbx, %rax
	orq	%r14, %rax
	orq	%rdi, %rax
	movq	32(%rsp), %rdx
	leaq	(%rax,%rdx,8), %rax
	orq	%r10, %rsi
	orq	%r15, %rsi
	orq	%r9, %rsi
	orq	%rax, %rsi
	orq	%rbp, %r11
	orq	%rsi, %r11
	bsfq	%r11, %rsi
	cmpl	$11, %esi
	jbe	.LBB0_8
	movq	16(%rcx), %r14
	movq	40(%rsp), %rax
	movslq	24(%rax), %r15
	movq	64(%rsp), %r13
	movq	%r13, %rsi
	imulq	24(%rsp), %rsi
	movq	%r8, %rbx
	imulq	72(%rsp), %rbx
	movq	%r12, %rax
	shrq	$31, %rax
	movq	%rax, 40(%rsp)
	movq	%r15, %rax
	imulq	%r13, %rax
	movq	%rax, %rdx
	negq	%rdx
	cmovsq	%rax, %rdx
	xorl	%r10d, %r10d
	movq	%rdx, 32(%rsp)
	cmpq	$2147483647, %rdx
	seta	%r10b
	movq	%rcx, %rdi
	movq	56(%rsp), %rax
	movslq	24(%rax), %rdx
	addq	%r10, %r10
	xorl	%r9d, %r9d
	movq	%rsi, 56(%rsp)
	cmpq	$2147483647, %rsi
	setg	%r9b
	shlq	$2, %r9
	movq	16(%rsp), %rcx
	shrq	$28, %rcx
	andl	$-8, %ecx
	movq	%rdx, %rax
	movq	%rdx, 16(%rsp)
	imulq	%rdx, %r8
	movq	%r8, %rdx
	negq	%rdx
	cmovsq	%r8, %rdx
	movq	160(%rsp), %rsi
	movq	16(%rsi), %rax
	movl	24(%rsi), %esi
	movl	24(%rdi), %r11d
	xorl	%edi, %edi
	cmpq	$2147483647, %rdx
	seta	%dil
	shlq	$4, %rdi
	xorl	%r8d, %r8d
	movq	%rbx, 48(%rsp)
	cmpq	$2147483647, %rbx
	setg	%r8b
	shlq	$5, %r8
	shll	$5, %r11d
	andl	$64, %r11d
	andl	$2, %esi
	shlq	$6, %rsi
	xorl	%ebx, %ebx
	testq	%rax, %rax
	sete	%bl
	shlq	$9, %rbx
	testq	%r14, %r14
	movabsq	$-9223372036854775808, %rbp
	leaq	256(%rbp), %r13
	cmovneq	%rbp, %r13
	orq	40(%rsp), %r13
	orq	%rbx, %r13
	orq	%r9, %r13
	orq	%rcx, %r13
	orq	%r8, %r13
	orq	%r10, %r13
	orq	%rdi, %rsi
	orq	%r13, %rsi
	orq	%r11, %rsi
	bsfq	%rsi, %rsi
	cmpl	$9, %esi
	movq	64(%rsp), %rcx
	movq	72(%rsp), %rbp
	jbe	.LBB0_10
	testl	%ecx, %ecx
	jle	.LBB0_3
	testl	%r12d, %r12d
	jle	.LBB0_3
	movss	.LCPI0_0(%rip), %xmm1
	subss	%xmm0, %xmm1
	movl	%ecx, %r11d
	leaq	-1(%r12), %r8
	movq	16(%rsp), %rcx
	movl	116(%rsp), %edx
	imull	%ecx, %edx
	movq	128(%rsp), %rsi
	addl	%edx, %esi
	subl	120(%rsp), %esi
	movl	%r12d, %r10d
	andl	$-4, %r10d
	movaps	%xmm1, %xmm2
	shufps	$0, %xmm1, %xmm2
	movaps	%xmm0, %xmm3
	shufps	$0, %xmm0, %xmm3
	movl	%ecx, %r13d
	xorl	%ebp, %ebp
	movss	.LCPI0_2(%rip), %xmm4
	movaps	.LCPI0_1(%rip), %xmm8
	movq	%rsi, %r9
	xorl	%edx, %edx
	jmp	.LBB0_45
	.p2align	4, 0x90
.LBB0_54:
	incq	%rdx
	addl	%r15d, %ebp
	addq	%r13, %rsi
	cmpq	%r11, %rdx
	je	.LBB0_3
.LBB0_45:
	movslq	%ebp, %rdi
	leaq	(%r14,%rdi,4), %rbx
	cmpl	$4, 24(%rsp)
	jae	.LBB0_47
	xorl	%edi, %edi
	.p2align	4, 0x90
.LBB0_53:
	leal	(%rsi,%rdi), %ecx
	movslq	%ecx, %rcx
	movss	4(%rax,%rcx,4), %xmm5
	mulss	%xmm1, %xmm5
	movss	(%rax,%rcx,4), %xmm6
	addss	8(%rax,%rcx,4), %xmm6
	mulss	%xmm0, %xmm6
	mulss	%xmm4, %xmm6
	addss	%xmm5, %xmm6
	movss	%xmm6, (%rbx,%rdi,4)
	incq	%rdi
	cmpq	%rdi, %r12
	jne	.LBB0_53
	jmp	.LBB0_54
	.p2align	4, 0x90
.LBB0_47:
	movl	%edx, %edi
	imull	16(%rsp), %edi
	addl	%r9d, %edi
	leal	(%rdi,%r8), %ecx
	cmpl	%edi, %ecx
	jl	.LBB0_48
	movq	%r8, %rcx
	shrq	$32, %rcx
	movl	$0, %edi
	jne	.LBB0_53
	xorl	%edi, %edi
	.p2align	4, 0x90
.LBB0_51:
	leal	(%rsi,%rdi), %ecx
	movslq	%ecx, %rcx
	movups	(%rax,%rcx,4), %xmm6
	movups	4(%rax,%rcx,4), %xmm7
	mulps	%xmm2, %xmm7
	movups	8(%rax,%rcx,4), %xmm5
	addps	%xmm6, %xmm5
	mulps	%xmm3, %xmm5
	mulps	%xmm8, %xmm5
	addps	%xmm7, %xmm5
	movups	%xmm5, (%rbx,%rdi,4)
	addq	$4, %rdi
	cmpq	%rdi, %r10
	jne	.LBB0_51
	movq	%r10, %rdi
	cmpq	%r12, %r10
	jne	.LBB0_53
	jmp	.LBB0_54
.LBB0_48:
	xorl	%edi, %edi
	jmp	.LBB0_53
.LBB0_3:
	xorl	%eax, %eax
.LBB0_4:
	addq	$168, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	retq
.LBB0_1:
	leaq	.Lstr(%rip), %rsi
	jmp	.LBB0_2
.LBB0_5:
	leaq	.Lstr.4(%rip), %rsi
.LBB0_2:
	xorl	%edi, %edi
	addq	$168, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	jmp	halide_error_buffer_argument_is_null@PLT
.LBB0_8:
	movl	%r13d, 16(%rsp)
	movl	84(%rsp), %r12d
	movl	88(%rsp), %r15d
	movq	136(%rsp), %r13
	movl	92(%rsp), %edi
	movl	96(%rsp), %r14d
	movl	100(%rsp), %ebp
	movl	104(%rsp), %ebx
	movl	108(%rsp), %r11d
	movl	112(%rsp), %edx
	movq	72(%rsp), %r10
	movq	64(%rsp), %rcx
	movq	24(%rsp), %r9
	leaq	.LJTI0_0(%rip), %rax
	movslq	(%rax,%rsi,4), %rsi
	addq	%rax, %rsi
	jmpq	*%rsi
.LBB0_11:
	leaq	.Lstr.6(%rip), %rsi
	xorl	%edi, %edi
	jmp	.LBB0_12
.LBB0_10:
	movq	32(%rsp), %r9
	movq	48(%rsp), %rbx
	movq	56(%rsp), %r8
	leaq	.LJTI0_1(%rip), %rax
	movslq	(%rax,%rsi,4), %rcx
	addq	%rax, %rcx
	jmpq	*%rcx
.LBB0_28:
	leaq	.Lstr.4(%rip), %rsi
	movl	$2147483647, %ecx
	xorl	%edi, %edi
	movq	24(%rsp), %rdx
	jmp	.LBB0_34
.LBB0_29:
	leaq	.Lstr.4(%rip), %rsi
	movl	$2147483647, %ecx
	xorl	%edi, %edi
	movq	%r9, %rdx
	jmp	.LBB0_34
.LBB0_30:
	leaq	.Lstr.4(%rip), %rsi
	movl	$2147483647, %ecx
	xorl	%edi, %edi
	movq	%r8, %rdx
	jmp	.LBB0_31
.LBB0_32:
	leaq	.Lstr(%rip), %rsi
	movl	$2147483647, %ecx
	xorl	%edi, %edi
	movq	%rbp, %rdx
	jmp	.LBB0_34
.LBB0_33:
	leaq	.Lstr(%rip), %rsi
	movl	$2147483647, %ecx
	xorl	%edi, %edi
.LBB0_34:
	addq	$168, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	jmp	halide_error_buffer_allocation_too_large@PLT
.LBB0_35:
	leaq	.Lstr(%rip), %rsi
	movl	$2147483647, %ecx
	xorl	%edi, %edi
	movq	%rbx, %rdx
.LBB0_31:
	addq	$168, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	jmp	halide_error_buffer_extents_too_large@PLT
.LBB0_36:
	leaq	.Lstr.6(%rip), %rsi
	jmp	.LBB0_37
.LBB0_38:
	leaq	.Lstr.7(%rip), %rsi
.LBB0_37:
	xorl	%edi, %edi
	addq	$168, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	jmp	halide_error_device_dirty_with_no_device_support@PLT
.LBB0_39:
	leaq	.Lstr.6(%rip), %rsi
	jmp	.LBB0_40
.LBB0_41:
	leaq	.Lstr.7(%rip), %rsi
.LBB0_40:
	xorl	%edi, %edi
	addq	$168, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	jmp	halide_error_host_is_null@PLT
.LBB0_13:
	leaq	.Lstr.6(%rip), %rsi
	xorl	%edi, %edi
	movl	16(%rsp), %edx
	jmp	.LBB0_16
.LBB0_14:
	leaq	.Lstr.7(%rip), %rsi
	xorl	%edi, %edi
	movl	%ebx, %edx
.LBB0_12:
	movl	$73730, %ecx
	addq	$168, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	jmp	halide_error_bad_type@PLT
.LBB0_15:
	leaq	.Lstr.7(%rip), %rsi
	xorl	%edi, %edi
	movl	%ebp, %edx
.LBB0_16:
	movl	$2, %ecx
	addq	$168, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	jmp	halide_error_bad_dimensions@PLT
.LBB0_17:
	leaq	.Lstr.6(%rip), %rsi
	xorl	%edi, %edi
	xorl	%edx, %edx
	movl	%r9d, %ecx
	jmp	.LBB0_18
.LBB0_19:
	leaq	.Lstr.6(%rip), %rsi
	xorl	%edi, %edi
	movl	$1, %edx
	jmp	.LBB0_18
.LBB0_20:
	movq	128(%rsp), %rcx
	leal	(%r9,%rcx), %r8d
	incl	%r8d
	decl	%edi
	movl	%edi, (%rsp)
	leaq	.Lstr.7(%rip), %rsi
	xorl	%edi, %edi
	xorl	%edx, %edx
	movq	120(%rsp), %r9
	callq	halide_error_access_out_of_bounds@PLT
	jmp	.LBB0_4
.LBB0_21:
	leaq	.Lstr.7(%rip), %rsi
	xorl	%edi, %edi
	xorl	%edx, %edx
	movl	%r10d, %ecx
	jmp	.LBB0_18
.LBB0_22:
	decl	%r15d
	decl	%r12d
	movl	%r12d, (%rsp)
	leaq	.Lstr.7(%rip), %rsi
	xorl	%edi, %edi
	movl	$1, %edx
	movq	144(%rsp), %rcx
	movl	%r15d, %r8d
	movl	%r13d, %r9d
	callq	halide_error_access_out_of_bounds@PLT
	jmp	.LBB0_4
.LBB0_24:
	leaq	.Lstr.7(%rip), %rsi
	xorl	%edi, %edi
	movl	$1, %edx
	movl	%r8d, %ecx
.LBB0_18:
	addq	$168, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	jmp	halide_error_buffer_extents_negative@PLT
.LBB0_25:
	leaq	.Lstr.8(%rip), %rsi
	leaq	.Lstr.9(%rip), %rcx
	xorl	%edi, %edi
	movl	%r11d, %edx
	jmp	.LBB0_26
.LBB0_27:
	leaq	.Lstr.10(%rip), %rsi
	leaq	.Lstr.9(%rip), %rcx
	xorl	%edi, %edi
	movl	%r14d, %edx
.LBB0_26:
	movl	$1, %r8d
	addq	$168, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	jmp	halide_error_constraint_violated@PLT
.Lfunc_end0:
	.size	soften, .Lfunc_end0-soften
	.section	.rodata.soften,"a",@progbits
	.p2align	2
.LJTI0_0:
	.long	.LBB0_11-.LJTI0_0
	.long	.LBB0_13-.LJTI0_0
	.long	.LBB0_14-.LJTI0_0
	.long	.LBB0_15-.LJTI0_0
	.long	.LBB0_17-.LJTI0_0
	.long	.LBB0_19-.LJTI0_0
	.long	.LBB0_20-.LJTI0_0
	.long	.LBB0_21-.LJTI0_0
	.long	.LBB0_22-.LJTI0_0
	.long	.LBB0_24-.LJTI0_0
	.long	.LBB0_25-.LJTI0_0
	.long	.LBB0_27-.LJTI0_0
.LJTI0_1:
	.long	.LBB0_28-.LJTI0_1
	.long	.LBB0_29-.LJTI0_1
	.long	.LBB0_30-.LJTI0_1
	.long	.LBB0_32-.LJTI0_1
	.long	.LBB0_33-.LJTI0_1
	.long	.LBB0_35-.LJTI0_1
	.long	.LBB0_36-.LJTI0_1
	.long	.LBB0_38-.LJTI0_1
	.long	.LBB0_39-.LJTI0_1
	.long	.LBB0_41-.LJTI0_1
	.section	.text.soften_argv,"ax",@progbits
	.globl	soften_argv
	.p2align	4, 0x90
	.type	soften_argv,@function
soften_argv:
	movq	(%rdi), %rax
	movq	8(%rdi), %rcx
	movss	(%rcx), %xmm0
	movq	16(%rdi), %rsi
	movq	%rax, %rdi
	jmp	soften@PLT
.Lfunc_end1:
	.size	soften_argv, .Lfunc_end1-soften_argv
	.section	.text.soften_metadata,"ax",@progbits
	.globl	soften_metadata
	.p2align	4, 0x90
	.type	soften_metadata,@function
soften_metadata:
	leaq	.Lsoften_metadata_storage(%rip), %rax
	retq
.Lfunc_end2:
	.size	soften_metadata, .Lfunc_end2-soften_metadata
	.type	.L__unnamed_1,@object
	.section	.rodata,"a",@progbits
	.p2align	4
.L__unnamed_1:
	.zero	32
	.size	.L__unnamed_1, 32
	.type	.Lstr,@object
	.p2align	5
.Lstr:
	.asciz	"x"
	.size	.Lstr, 2
	.type	.Lstr.3,@object
	.p2align	5
.Lstr.3:
	.asciz	"weight"
	.size	.Lstr.3, 7
	.type	.L__unnamed_2,@object
	.p2align	4
.L__unnamed_2:
	.zero	32
	.size	.L__unnamed_2, 32
	.type	.Lstr.4,@object
	.p2align	5
.Lstr.4:
	.asciz	"soften"
	.size	.Lstr.4, 7
	.type	.L__unnamed_3,@object
	.section	.data.rel.ro,"aw",@progbits
	.p2align	4
.L__unnamed_3:
	.quad	.Lstr
	.long	1
	.long	2
	.byte	2
	.byte	32
	.short	1
	.zero	4
	.quad	0
	.quad	0
	.quad	0
	.quad	0
	.quad	.L__unnamed_1
	.quad	.Lstr.3
	.long	0
	.long	0
	.byte	2
	.byte	32
	.short	1
	.zero	4
	.quad	0
	.quad	0
	.quad	0
	.quad	0
	.quad	0
	.quad	.Lstr.4
	.long	2
	.long	2
	.byte	2
	.byte	32
	.short	1
	.zero	4
	.quad	0
	.quad	0
	.quad	0
	.quad	0
	.quad	.L__unnamed_2
	.size	.L__unnamed_3, 192
	.type	.Lstr.5,@object
	.section	.rodata,"a",@progbits
	.p2align	5
.Lstr.5:
	.asciz	"x86-64-linux-no_bounds_query-no_runtime-sse41"
	.size	.Lstr.5, 46
	.type	.Lsoften_metadata_storage,@object
	.section	.data.rel.ro,"aw",@progbits
	.p2align	4
.Lsoften_metadata_storage:
	.long	1
	.long	3
	.quad	.L__unnamed_3
	.quad	.Lstr.5
	.quad	.Lstr.4
	.size	.Lsoften_metadata_storage, 32
	.type	.Lstr.6,@object
	.section	.rodata,"a",@progbits
	.p2align	5
.Lstr.6:
	.asciz	"Output buffer soften"
	.size	.Lstr.6, 21
	.type	.Lstr.7,@object
	.p2align	5
.Lstr.7:
	.asciz	"Input buffer x"
	.size	.Lstr.7, 15
	.type	.Lstr.8,@object
	.p2align	5
.Lstr.8:
	.asciz	"soften.stride.0"
	.size	.Lstr.8, 16
	.type	.Lstr.9,@object
	.p2align	5
.Lstr.9:
	.asciz	"1"
	.size	.Lstr.9, 2
	.type	.Lstr.10,@object
	.p2align	5
.Lstr.10:
	.asciz	"x.stride.0"
	.size	.Lstr.10, 11
	.ident	"Debian clang version 14.0.6"
	.ident	"Debian clang version 14.0.6"
	.ident	"Debian clang version 14.0.6"
	.ident	"Debian clang version 14.0.6"
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
