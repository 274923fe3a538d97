/* The switch between stacks on x86-64. The registers that a function must preserve (psABI 3.2.1 and table 3.4) are
 * saved on the stack that is left: rbx, rbp, r12 to r15, the control bits of MXCSR and the x87 control word. Upwards
 * from the stored stack pointer:
 *
 *	mxcsr (4), x87 control word (4), r15, r14, r13, r12, rbx, rbp, the address to continue at
 *
 * The switch ends with a return, which the processor predicts: nearly always both stacks were left in the same
 * functions. Beginning a fibre is a call, so calls and returns are balanced between leaving a stack and continuing
 * there after the fibre has ended. */
	.text

/* void sk_fibre_jump(void **left, void *sp): store the stack pointer in *left, and switch to sp. */
	.globl	sk_fibre_jump
	.hidden	sk_fibre_jump
	.type	sk_fibre_jump, @function
	.p2align 6
sk_fibre_jump:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	pushq	%r13
	.cfi_adjust_cfa_offset 8
	pushq	%r14
	.cfi_adjust_cfa_offset 8
	pushq	%r15
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	stmxcsr	(%rsp)
	fnstcw	4(%rsp)
	movq	%rsp, (%rdi)
	movq	%rsi, %rsp
	jmp	.Lgo_on
	.cfi_endproc
	.size	sk_fibre_jump, . - sk_fibre_jump

/* A kernel that a signal has ended may have left the x87 unit and the flags in any state; the handler clears TF. */
	.globl	sk_fibre_escape
	.hidden	sk_fibre_escape
	.type	sk_fibre_escape, @function
	.p2align 4
sk_fibre_escape:
	.cfi_startproc
	.cfi_def_cfa_offset 64
	.cfi_offset rip, -8
	fninit
	callq	sk_fibre_tidy
.Lgo_on:
	ldmxcsr	(%rsp)
	fldcw	4(%rsp)
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%r15
	.cfi_adjust_cfa_offset -8
	popq	%r14
	.cfi_adjust_cfa_offset -8
	popq	%r13
	.cfi_adjust_cfa_offset -8
	popq	%r12
	.cfi_adjust_cfa_offset -8
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	sk_fibre_escape, . - sk_fibre_escape

/* void sk_fibre_tidy(void): restore the flags that callers rely on (psABI 3.2.1: DF; also TF, NT and AC, which are
 * normally clear). Clear pending x87 exceptions: one would interrupt the next x87 instruction, or that of a later
 * caller that unmasks it. Empty the x87 stack, which MMX code without emms leaves full. Writing flags takes longer than
 * reading them, and so does fnclex.
 *
 * The word at FS:0 holds its own address (psABI, and the ELF specification of thread-local storage, 3.4.6). A call that
 * has changed FS does not get here before a fault, for which signal.c restores FS. */
	.set	FLAGS, 0x44500
	.set	EXCEPTIONS, 0xff
	.globl	sk_fibre_tidy
	.hidden	sk_fibre_tidy
	.type	sk_fibre_tidy, @function
	.p2align 4
sk_fibre_tidy:
	.cfi_startproc
	movq	%fs:0, %rax
	cmpq	%rax, (%rax)
	jne	.Llost
	fnstsw	%ax
	testb	$EXCEPTIONS, %al
	jne	.Lclear
.Lcleared:
	emms
	pushfq
	.cfi_adjust_cfa_offset 8
	testl	$FLAGS, (%rsp)
	jne	.Lflags
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 8
.Lflags:
	andl	$~FLAGS, (%rsp)
	popfq
	.cfi_adjust_cfa_offset -8
	ret
.Lclear:
	fnclex
	jmp	.Lcleared
.Llost:
	ud2
	.cfi_endproc
	.size	sk_fibre_tidy, . - sk_fibre_tidy

/* void sk_fibre_begin(void **left, char *top, void *(*run)(void *), void *argument): store the stack pointer in *left,
 * call run(argument) on the stack that ends at top, in the standard modes, and switch to the stack pointer that it
 * returns. For unwinders, run has no caller. The modes are nearly always the standard ones already; loading MXCSR takes
 * 8 ns if that changes an exception flag, so the flags stay unchanged. */
	.set	MXCSR, 0x1f80
	.set	MXCSR_FLAGS, 0x3f
	.set	CONTROL_WORD, 0x37f
	.globl	sk_fibre_begin
	.hidden	sk_fibre_begin
	.type	sk_fibre_begin, @function
	.p2align 6
sk_fibre_begin:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	pushq	%r13
	.cfi_adjust_cfa_offset 8
	pushq	%r14
	.cfi_adjust_cfa_offset 8
	pushq	%r15
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	stmxcsr	(%rsp)
	fnstcw	4(%rsp)
	movq	%rsp, (%rdi)
	.cfi_remember_state
	.cfi_undefined rip
	movl	(%rsp), %eax
	andl	$~MXCSR_FLAGS, %eax
	cmpl	$MXCSR, %eax
	jne	.Lother_modes
	movzwl	4(%rsp), %eax
	cmpl	$CONTROL_WORD, %eax
	jne	.Lother_modes
.Lmodes:
	movq	%rsi, %rsp
	movq	%rcx, %rdi
	xorl	%ebp, %ebp
	callq	*%rdx
	movq	%rax, %rsp
	.cfi_restore_state
	jmp	.Lgo_on
.Lother_modes:
	ldmxcsr	sk_standard_modes(%rip)
	fldcw	sk_standard_modes+4(%rip)
	jmp	.Lmodes
	.cfi_endproc
	.size	sk_fibre_begin, . - sk_fibre_begin

/* MXCSR and the x87 control word as at the start of a program (psABI 3.4.1): round to nearest, no flush to zero, all
 * exceptions masked, full precision of long double. */
	.section .rodata
	.globl	sk_standard_modes
	.hidden	sk_standard_modes
	.type	sk_standard_modes, @object
	.p2align 3
sk_standard_modes:
	.long	MXCSR
	.short	CONTROL_WORD
	.short	0
	.size	sk_standard_modes, . - sk_standard_modes

	.section .note.GNU-stack, "", @progbits
