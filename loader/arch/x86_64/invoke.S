/* A call with arguments that are known at run time only (psABI 3.2.3). */
	.text

/* void sk_invoke(struct sk_registers *registers, void (*function)(void)): loader/arch/machine.h has the struct. Pass
 * six integers, eight floats and stack_count words on the stack; store rax and xmm0 after the call, and the control
 * state before and after it. The caller gets back its own control state. */
	.set	INTEGERS, 0
	.set	FLOATS, 48
	.set	STACK_COUNT, 112
	.set	STACK, 120
	.set	INTEGER_RESULT, 128
	.set	FLOAT_RESULT, 136
	.set	FLAGS, 144
	.set	MXCSR, 152
	.set	MXCSR_BEFORE, 156
	.set	X87, 160
	.set	X87_BEFORE, 188

	.globl	sk_invoke
	.hidden	sk_invoke
	.type	sk_invoke, @function
	.p2align 4
sk_invoke:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	pushq	%rbx
	.cfi_offset rbx, -24
	subq	$8, %rsp
	movq	%rdi, %rbx
	movq	%rsi, %r11
	stmxcsr	MXCSR_BEFORE(%rbx)
	fnstcw	X87_BEFORE(%rbx)
	/* Push the words of the stack, the last one first; rsp is a multiple of 16 at the call. */
	movq	STACK_COUNT(%rbx), %rcx
	movq	STACK(%rbx), %rdx
	leaq	1(%rcx), %rax
	andq	$-2, %rax
	shlq	$3, %rax
	subq	%rax, %rsp
.Lcopy:
	testq	%rcx, %rcx
	je	.Lcopied
	movq	-8(%rdx,%rcx,8), %rax
	movq	%rax, -8(%rsp,%rcx,8)
	decq	%rcx
	jmp	.Lcopy
.Lcopied:
	movsd	FLOATS(%rbx), %xmm0
	movsd	FLOATS+8(%rbx), %xmm1
	movsd	FLOATS+16(%rbx), %xmm2
	movsd	FLOATS+24(%rbx), %xmm3
	movsd	FLOATS+32(%rbx), %xmm4
	movsd	FLOATS+40(%rbx), %xmm5
	movsd	FLOATS+48(%rbx), %xmm6
	movsd	FLOATS+56(%rbx), %xmm7
	movq	INTEGERS(%rbx), %rdi
	movq	INTEGERS+8(%rbx), %rsi
	movq	INTEGERS+16(%rbx), %rdx
	movq	INTEGERS+24(%rbx), %rcx
	movq	INTEGERS+32(%rbx), %r8
	movq	INTEGERS+40(%rbx), %r9
	callq	*%r11
	movq	%rax, INTEGER_RESULT(%rbx)
	movsd	%xmm0, FLOAT_RESULT(%rbx)
	pushfq
	popq	FLAGS(%rbx)
	stmxcsr	MXCSR(%rbx)
	fnstenv	X87(%rbx)
	callq	sk_fibre_tidy
	ldmxcsr	MXCSR_BEFORE(%rbx)
	fldcw	X87_BEFORE(%rbx)
	leaq	-8(%rbp), %rsp
	popq	%rbx
	popq	%rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	sk_invoke, . - sk_invoke

	.section .note.GNU-stack, "", @progbits
