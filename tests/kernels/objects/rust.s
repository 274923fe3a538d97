/* Debian's rustc 1.63.0 of

#[no_mangle]
pub extern "C" fn gather(rows: usize, x: &[f32; 100], at: *const u32, y: *mut f32) {
    let (at, y) = unsafe { (std::slice::from_raw_parts(at, rows), std::slice::from_raw_parts_mut(y, rows)) };

    for (to, from) in y.iter_mut().zip(at) {
        *to = x[*from as usize];
    }
}

rustc -O -C panic=abort --crate-type=lib --emit=asm gather.rs */
	.text
	.file	"gather.77c0c290-cgu.0"
	.section	.text.gather,"ax",@progbits
	.globl	gather
	.p2align	4, 0x90
	.type	gather,@function
gather:
	.cfi_startproc
	pushq	%rax
	.cfi_def_cfa_offset 16
	testq	%rdi, %rdi
	je	.LBB0_4
	xorl	%eax, %eax
	.p2align	4, 0x90
.LBB0_2:
	movl	(%rdx,%rax,4), %r8d
	cmpq	$100, %r8
	jae	.LBB0_5
	movss	(%rsi,%r8,4), %xmm0
	movss	%xmm0, (%rcx,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %rdi
	jne	.LBB0_2
.LBB0_4:
	popq	%rax
	.cfi_def_cfa_offset 8
	retq
.LBB0_5:
	.cfi_def_cfa_offset 16
	leaq	.L__unnamed_1(%rip), %rdx
	movl	$100, %esi
	movq	%r8, %rdi
	callq	*_ZN4core9panicking18panic_bounds_check17haa0aa704ba684d7fE@GOTPCREL(%rip)
	ud2
.Lfunc_end0:
	.size	gather, .Lfunc_end0-gather
	.cfi_endproc

	.type	.L__unnamed_2,@object
	.section	.rodata..L__unnamed_2,"a",@progbits
.L__unnamed_2:
	.ascii	"gather.rs"
	.size	.L__unnamed_2, 9

	.type	.L__unnamed_1,@object
	.section	.data.rel.ro..L__unnamed_1,"aw",@progbits
	.p2align	3
.L__unnamed_1:
	.quad	.L__unnamed_2
	.asciz	"\t\000\000\000\000\000\000\000\006\000\000\000\017\000\000"
	.size	.L__unnamed_1, 24

	.section	".note.GNU-stack","",@progbits
