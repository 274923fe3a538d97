/* Debian's MLIR 14.0.6 (mlir-14-tools) and LLVM 14.0.6 of

func @layer(%x: memref<?x?xf32>, %w: memref<?x?xf32>, %y: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0.0 : f32
  linalg.fill(%zero, %y) : f32, memref<?x?xf32>
  linalg.matmul ins(%x, %w : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    outs(%y : memref<?x?xf32>) {
  ^bb0(%v: f32):
    %max = arith.maxf %v, %zero : f32
    linalg.yield %max : f32
  }
  return
}

mlir-opt layer.mlir -convert-linalg-to-loops -lower-affine -convert-scf-to-std -convert-memref-to-llvm -arith-expand \
	-convert-arith-to-llvm -convert-std-to-llvm -reconcile-unrealized-casts -strip-debuginfo |
	mlir-translate --mlir-to-llvmir | opt -strip-debug | llc -O2 -relocation-model=pic */
	.text
	.file	"LLVMDialectModule"
	.globl	layer
	.p2align	4, 0x90
	.type	layer,@function
layer:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	pushq	%r15
	.cfi_def_cfa_offset 24
	pushq	%r14
	.cfi_def_cfa_offset 32
	pushq	%r13
	.cfi_def_cfa_offset 40
	pushq	%r12
	.cfi_def_cfa_offset 48
	pushq	%rbx
	.cfi_def_cfa_offset 56
	.cfi_offset %rbx, -56
	.cfi_offset %r12, -48
	.cfi_offset %r13, -40
	.cfi_offset %r14, -32
	.cfi_offset %r15, -24
	.cfi_offset %rbp, -16
	movq	104(%rsp), %r12
	movq	96(%rsp), %r14
	movq	72(%rsp), %r13
	movq	160(%rsp), %r15
	movq	152(%rsp), %r11
	movq	128(%rsp), %rdi
	xorl	%eax, %eax
	jmp	.LBB0_1
	.p2align	4, 0x90
.LBB0_5:
	incq	%rax
.LBB0_1:
	cmpq	144(%rsp), %rax
	jge	.LBB0_6
	xorl	%edx, %edx
	cmpq	%r11, %rdx
	jge	.LBB0_5
	.p2align	4, 0x90
.LBB0_4:
	movq	%rax, %rbx
	imulq	%r15, %rbx
	addq	%rdx, %rbx
	movl	$0, (%rdi,%rbx,4)
	incq	%rdx
	cmpq	%r11, %rdx
	jl	.LBB0_4
	jmp	.LBB0_5
.LBB0_6:
	xorl	%r10d, %r10d
	jmp	.LBB0_7
	.p2align	4, 0x90
.LBB0_14:
	incq	%r10
.LBB0_7:
	cmpq	%rcx, %r10
	jge	.LBB0_15
	xorl	%edx, %edx
	jmp	.LBB0_9
	.p2align	4, 0x90
.LBB0_13:
	incq	%rdx
.LBB0_9:
	cmpq	%r14, %rdx
	jge	.LBB0_14
	xorl	%ebx, %ebx
	cmpq	%r8, %rbx
	jge	.LBB0_13
	.p2align	4, 0x90
.LBB0_12:
	movq	%r10, %rbp
	imulq	%r9, %rbp
	addq	%rbx, %rbp
	movss	(%rsi,%rbp,4), %xmm0
	movq	%rbx, %rbp
	imulq	%r12, %rbp
	addq	%rdx, %rbp
	movq	%r10, %rax
	imulq	%r15, %rax
	addq	%rdx, %rax
	mulss	(%r13,%rbp,4), %xmm0
	addss	(%rdi,%rax,4), %xmm0
	movss	%xmm0, (%rdi,%rax,4)
	incq	%rbx
	cmpq	%r8, %rbx
	jl	.LBB0_12
	jmp	.LBB0_13
.LBB0_15:
	xorl	%eax, %eax
	xorps	%xmm0, %xmm0
	movq	144(%rsp), %rsi
	jmp	.LBB0_16
	.p2align	4, 0x90
.LBB0_20:
	incq	%rax
.LBB0_16:
	cmpq	%rsi, %rax
	jge	.LBB0_21
	xorl	%ecx, %ecx
	cmpq	%r11, %rcx
	jge	.LBB0_20
	.p2align	4, 0x90
.LBB0_19:
	movq	%rax, %rdx
	imulq	%r15, %rdx
	addq	%rcx, %rdx
	movss	(%rdi,%rdx,4), %xmm1
	movaps	%xmm1, %xmm2
	cmpnless	%xmm0, %xmm2
	andps	%xmm1, %xmm2
	movss	%xmm2, (%rdi,%rdx,4)
	incq	%rcx
	cmpq	%r11, %rcx
	jl	.LBB0_19
	jmp	.LBB0_20
.LBB0_21:
	popq	%rbx
	.cfi_def_cfa_offset 48
	popq	%r12
	.cfi_def_cfa_offset 40
	popq	%r13
	.cfi_def_cfa_offset 32
	popq	%r14
	.cfi_def_cfa_offset 24
	popq	%r15
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	retq
.Lfunc_end0:
	.size	layer, .Lfunc_end0-layer
	.cfi_endproc
	.globl	_mlir_ciface_layer
	.p2align	4, 0x90
	.type	_mlir_ciface_layer,@function
_mlir_ciface_layer:
	.cfi_startproc
	pushq	%rax
	.cfi_def_cfa_offset 16
	movq	%rdx, %rax
	movq	%rsi, %r11
	movq	%rdi, %r10
	movq	40(%rdi), %r9
	movq	32(%rdi), %r8
	movq	24(%rdi), %rcx
	movq	16(%rdi), %rdx
	movq	(%rdi), %rdi
	movq	8(%r10), %rsi
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	pushq	48(%rax)
	.cfi_adjust_cfa_offset 8
	pushq	40(%rax)
	.cfi_adjust_cfa_offset 8
	pushq	32(%rax)
	.cfi_adjust_cfa_offset 8
	pushq	24(%rax)
	.cfi_adjust_cfa_offset 8
	pushq	16(%rax)
	.cfi_adjust_cfa_offset 8
	pushq	8(%rax)
	.cfi_adjust_cfa_offset 8
	pushq	(%rax)
	.cfi_adjust_cfa_offset 8
	pushq	48(%r11)
	.cfi_adjust_cfa_offset 8
	pushq	40(%r11)
	.cfi_adjust_cfa_offset 8
	pushq	32(%r11)
	.cfi_adjust_cfa_offset 8
	pushq	24(%r11)
	.cfi_adjust_cfa_offset 8
	pushq	16(%r11)
	.cfi_adjust_cfa_offset 8
	pushq	8(%r11)
	.cfi_adjust_cfa_offset 8
	pushq	(%r11)
	.cfi_adjust_cfa_offset 8
	pushq	48(%r10)
	.cfi_adjust_cfa_offset 8
	callq	layer@PLT
	addq	$128, %rsp
	.cfi_adjust_cfa_offset -128
	popq	%rax
	.cfi_def_cfa_offset 8
	retq
.Lfunc_end1:
	.size	_mlir_ciface_layer, .Lfunc_end1-_mlir_ciface_layer
	.cfi_endproc
	.section	".note.GNU-stack","",@progbits
