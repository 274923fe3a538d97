/* Frames and layouts; see signature-parts.h. Each is a row of a table: text with placeholders for facts about one
 * tensor, or about all. */
#include "format/signature/signature-parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

const char *const sk_frame_names[SK_FRAMES] = {"mlir",	  "gfortran", "gsl",   "halide", "tvm-packed", "xla-cpu",
					       "tvm-ffi", "cfi",      "flang", "numba",	 "iree"};
const char *const sk_layout_names[SK_LAYOUTS] = {"memref", "gfortran", "gsl", "halide", "dltensor", "cfi", "flang"};

/* The placeholders in the texts:
 *
 *   $x  the parameter as it is written        $r  its rank            $b  bits of an element
 *   $t  the number of its element type        $o  0 - all strides     $B  bytes of an element
 *   $z  bytes from the address that is passed to the end of the call's part
 *                                             $l  elements from row to row
 *   $m  elements of the call's part           $k  its name
 *   $[  text for each dimension $]            $^[ the last one first $]
 *       $e  the dimension's extent, of the call   $s  its stride in elements
 *       $d  the dimension's number                $S  its stride in bytes
 *   $*[ text for each parameter $]            $p  the parameter in its own text (tensor or scalar)
 *       $c  its code (tensor or scalar)           $n  the number of parameters
 *   $+[ text for each tensor $]               $T  the number of tensors
 *   $-[ text for each scalar, and ", " $]     $V  the number of scalars
 *   $i  the block's number, or 0              $g  the number of blocks, or 1
 *   $X  $Y  $Z: its position in the grid      $U  $W  $Q: the numbers of blocks along x, y, z
 *
 * The texts are signatures (doc/reference/signatures.md). An extent of the call is the whole, or its part if it is
 * split. */

/* How one tensor is passed. */
struct layout {
	const char *vector; /* for a tensor of one dimension; NULL: as for others */
	const char *tensor; /* replaces the parameter */
	uint32_t most_dimensions;
	bool compact; /* without strides, or they are omitted */
	int16_t types[SK_DTYPE_COUNT]; /* $t; 0 for types that the layout does not specify: use `typed` */
	bool typed; /* element types without a number (-1) are refused */
};

/* Numbers of element types in dlpack.h (v0.5 to v1.0: DLDataTypeCode) and HalideRuntime.h (v10 to v21:
 * halide_type_code_t), which agree except for bfloat. In TVM and Halide bool is an unsigned integer of one bit. */
#define LANGUAGE_TYPES(bfloat)                                                                                         \
	{                                                                                                              \
		[SK_DTYPE_NONE] = -1, [SK_I8] = 0, [SK_U8] = 1, [SK_I16] = 0, [SK_U16] = 1, [SK_I32] = 0,              \
		[SK_U32] = 1, [SK_I64] = 0, [SK_U64] = 1, [SK_F16] = 2, [SK_BF16] = (bfloat), [SK_F32] = 2,            \
		[SK_F64] = 2, [SK_BOOL] = 1,                                                                           \
	}

/* Numbers of the types of Fortran, which has no unsigned ones: an integer passes for one. */
#define FORTRAN_TYPES(i1, i2, i4, i8, half, bfloat, float4, float8, logical)                                           \
	{                                                                                                              \
		[SK_DTYPE_NONE] = -1, [SK_I8] = (i1), [SK_U8] = (i1), [SK_I16] = (i2), [SK_U16] = (i2),                \
		[SK_I32] = (i4), [SK_U32] = (i4), [SK_I64] = (i8), [SK_U64] = (i8), [SK_F16] = (half),                 \
		[SK_BF16] = (bfloat), [SK_F32] = (float4), [SK_F64] = (float8), [SK_BOOL] = (logical),                 \
	}

/* DLTensor, dlpack.h v0.5 to v1.1: data, device (kDLCPU 1), ndim, dtype, shape, strides, byte_offset. */
#define DLTENSOR(strides)                                                                                              \
	"tensor {$x, device_type i32 = 1, device_id i32 = 0, ndim i32 = $r, code u8 = $t, bits u8 = $b, "              \
	"lanes u16 = 1, shape {$[extent i64 = $e$]}*, " strides ", byte_offset u64 = 0}*"

enum { LAYOUT_DLTENSOR = 4, LAYOUT_COMPACT_DLTENSOR = SK_LAYOUTS, LAYOUT_XLA, LAYOUT_NUMBA, LAYOUT_COMPACT, LAYOUTS };

/* Those of sk_layout_names, and others that only frames have. */
static const struct layout layouts[LAYOUTS] = {
	/* MLIR, functions with llvm.emit_c_interface (_mlir_ciface_NAME), mlir/ExecutionEngine/CRunnerUtils.h of LLVM
	 * 11 to 19: struct StridedMemRefType {T *basePtr, *data; int64_t offset, sizes[N], strides[N];}. basePtr is for
	 * releasing the memory, which functions do not do with arguments. */
	{.tensor = "memref {allocated ptr = null, $x, offset i64 = 0, $[size i64 = $e$], $[stride i64 = $s$]}*",
	 .most_dimensions = SK_MAX_RANK},
	/* GNU Fortran, assumed-shape arrays, libgfortran/libgfortran.h of GCC 9 to 14: GFC_FULL_ARRAY_DESCRIPTOR, with
	 * index_type of 8 bytes: base_addr, offset, dtype_type, span, descriptor_dimension[]. The first dimension of
	 * Fortran is the last one here. bt: BT_INTEGER 1, BT_LOGICAL 2, BT_REAL 3. */
	{.tensor = "array {$x, offset i64 = $o, elem_len u64 = $B, version i32 = 0, rank i8 = $r, type i8 = $t, "
		   "attribute i16 = 0, span i64 = $B, $^[stride i64 = $s, lower i64 = 1, upper i64 = $e$]}*",
	 .most_dimensions = SK_MAX_RANK,
	 .typed = true,
	 .types = FORTRAN_TYPES(1, 1, 1, 1, -1, -1, 3, 3, 2)},
	/* GSL, gsl/gsl_vector_double.h, gsl/gsl_matrix_double.h and those of other types, 2.0 to 2.8: size, stride,
	 * data, block, owner; size1, size2, tda, data, block, owner. */
	{.vector = "vector {$[size u64 = $e$], stride u64 = 1, $x, memory ptr = null, owner i32 = 0}*",
	 .tensor = "matrix {$[size u64 = $e$], tda u64 = $l, $x, memory ptr = null, owner i32 = 0}*",
	 .most_dimensions = 2},
	/* Halide's ahead-of-time functions, HalideRuntime.h v10 to v21: struct halide_buffer_t; halide_type_t {uint8_t
	 * code, bits; uint16_t lanes}; halide_dimension_t {int32_t min, extent, stride; uint32_t flags}, innermost
	 * first. */
	{.tensor = "buffer {device u64 = 0, interface ptr = null, $x, flags u64 = 0, code u8 = $t, bits u8 = $b, lanes "
		   "u16 = 1, dimensions i32 = $r, dim {$^[min i32 = 0, extent i32 = $e, stride i32 = $s, flags u32 = "
		   "0$]}*, padding ptr = null}*",
	 .most_dimensions = SK_MAX_RANK,
	 .typed = true,
	 .types = LANGUAGE_TYPES(4)},
	[LAYOUT_DLTENSOR] = {.tensor = DLTENSOR("strides {$[stride i64 = $s$]}*"),
			     .most_dimensions = SK_MAX_RANK,
			     .typed = true,
			     .types = LANGUAGE_TYPES(4)},
	/* C descriptors of Fortran 2018 (bind(c) procedures), ISO_Fortran_binding.h of GCC 12 to 14: base_addr,
	 * elem_len, version 1, rank, attribute (CFI_attribute_other 2), type (Integer 1, Logical 2, Real 3, with the
	 * kind in the upper byte), dim[] {lower_bound, extent, sm}. */
	{.tensor = "array {$x, elem_len u64 = $B, version i32 = 1, rank i8 = $r, attribute i8 = 2, type i16 = $t, "
		   "$^[lower i64 = 0, extent i64 = $e, sm i64 = $S$]}*",
	 .most_dimensions = SK_MAX_RANK,
	 .typed = true,
	 .types = FORTRAN_TYPES(0x101, 0x201, 0x401, 0x801, -1, -1, 0x403, 0x803, 0x102)},
	/* LLVM's Fortran, for all assumed-shape arrays, flang/ISO_Fortran_binding.h of LLVM 11 to 19: base_addr,
	 * elem_len, version, rank, type, attribute (CFI_attribute_other 0), extra 0, dim[]. */
	{.tensor =
		 "array {$x, elem_len u64 = $B, version i32 = 20180515, rank u8 = $r, type i8 = $t, attribute u8 = 0, "
		 "extra u8 = 0, $^[lower i64 = 0, extent i64 = $e, sm i64 = $S$]}*",
	 .most_dimensions = SK_MAX_RANK,
	 .typed = true,
	 .types = FORTRAN_TYPES(7, 8, 9, 10, 25, 26, 27, 28, 39)},
	[LAYOUT_COMPACT_DLTENSOR] = {.tensor = DLTENSOR("strides ptr = null"),
				     .most_dimensions = SK_MAX_RANK,
				     .compact = true,
				     .typed = true,
				     .types = LANGUAGE_TYPES(4)},
	[LAYOUT_XLA] = {.tensor = "$x, size u64 = $z", .most_dimensions = SK_MAX_RANK, .compact = true},
	/* numba/core/datamodel/models.py of 0.50 to 0.68, ArrayModel, member by member: meminfo, parent, nitems,
	 * itemsize, data, shape, strides in bytes. */
	[LAYOUT_NUMBA] =
		{.tensor = "meminfo_$k ptr = null, parent_$k ptr = null, items_$k i64 = $m, itemsize_$k i64 = $B, "
			   "$x, $[extent$d_$k i64 = $e$], $[stride$d_$k i64 = $S$]",
		 .most_dimensions = SK_MAX_RANK},
	/* An address without strides. */
	[LAYOUT_COMPACT] = {.tensor = "$x", .most_dimensions = SK_MAX_RANK, .compact = true},
};

struct frame {
	uint32_t layout; /* of all tensors */
	const char *call; /* replaces all parameters; NULL: they stay */
	const char *tensor_code, *integer_code, *float_code; /* $c */
	uint32_t scalar_bytes; /* of each scalar, an integer or a float; 0: any */
	bool no_scalars;
	bool status; /* the function returns int, 0 for success */
};

static const struct frame frames[SK_FRAMES] = {
	{.layout = 0},
	{.layout = 1},
	{.layout = 2},
	{.layout = 3, .status = true},
	/* TVM's packed functions, tvm/runtime/c_runtime_api.h of 0.8 to 0.18 (TVMBackendPackedCFunc): int (*)(TVMValue
	 * *args, int *type_codes, int num_args, TVMValue *ret, int *ret_type_code, void *resource_handle), with
	 * kTVMDLTensorHandle 7, kTVMArgInt 0, kTVMArgFloat 2. */
	{.layout = LAYOUT_COMPACT_DLTENSOR,
	 .call = "args {$*[$p$]}*, type_codes {$*[code i32 = $c$]}*, num_args i32 = $n, ret {value u64 = 0}*, ret_code "
		 "{code i32 = 0}*, resource ptr = null",
	 .tensor_code = "7",
	 .integer_code = "0",
	 .float_code = "2",
	 .scalar_bytes = 8,
	 .status = true},
	/* XLA:CPU's kernels, xla/backends/cpu/runtime/kernel_c_api.h of 2024 and 2025 (before:
	 * xla/stream_executor/host/host_kernel_c_api.h): XLA_CPU_KernelCallFrame {const dims *num_workgroups,
	 * *workgroup_id; size_t num_args; const XLA_CPU_KernelArg *args}, dims {uint64_t x, y, z}, args {void *data;
	 * size_t size}. */
	{.layout = LAYOUT_XLA,
	 .call = "frame {count {x u64 = $g, y u64 = 1, z u64 = 1}*, id {x u64 = $i, y u64 = 0, z u64 = 0}*, num_args "
		 "u64 = $n, args {$*[$p$]}*}*",
	 .no_scalars = true},
	/* TVM's functions since 0.20 (__tvm_ffi_NAME), tvm/ffi/c_api.h (TVMFFISafeCallType): int (*)(void *handle,
	 * const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result), TVMFFIAny {int32_t type_index; uint32_t padding;
	 * union of 8 bytes}, with kTVMFFIDLTensorPtr 7, kTVMFFIInt 1, kTVMFFIFloat 3. */
	{.layout = LAYOUT_DLTENSOR,
	 .call = "self ptr = null, args {$*[type i32 = $c, padding i32 = 0, $p$]}*, num_args i32 = $n, result {type "
		 "i32 "
		 "= 0, padding i32 = 0, value u64 = 0}*",
	 .tensor_code = "7",
	 .integer_code = "1",
	 .float_code = "3",
	 .scalar_bytes = 8,
	 .status = true},
	{.layout = 5},
	{.layout = 6},
	/* numba/core/callconv.py of 0.50 to 0.68, CPUCallConv: int32_t (*)(RESULT *, EXCEPTION **, arguments), 0 for
	 * success. The result of a function that returns nothing, or a scalar, fits in 16 bytes. */
	{.layout = LAYOUT_NUMBA,
	 .call = "result {value u64[2] = 0}*, exception {record ptr = null}*, $*[$p$]",
	 .status = true},
	/* IREE's dispatch functions, iree/hal/local/executable_library.h of version 0.6 (2023 to 2025): int (*)(const
	 * environment *, const dispatch_state *, const workgroup_state *), where the constants are 32-bit words and the
	 * bindings are addresses with lengths. */
	{.layout = LAYOUT_COMPACT,
	 .call = "environment {constants ptr = null, thunk ptr = null, functions ptr = null, contexts ptr = null, "
		 "processor u64[8] = 0}*, dispatch {size_x u32 = 1, size_y u32 = 1, size_z u16 = 1, constant_count u16 "
		 "= $V, count_x u32 = $U, count_y u32 = $W, count_z u16 = $Q, max_concurrency u8 = 1, binding_count u8 "
		 "= $T, constants {$-[$x$]end u32 = 0}*, bindings {$+[$x$]}*, lengths {$+[length u64 = $z$]}*}*, "
		 "workgroup {id_x u32 = $X, id_y u32 = $Y, id_z u16 = $Z, reserved u16 = 0, processor u32 = 0, memory "
		 "ptr "
		 "= null, memory_size u32 = 0}*",
	 .scalar_bytes = 4,
	 .status = true},
};

struct expander {
	struct sk_signature_source *source;
	struct sk_signature_source *inner;
	const struct sk_signature *signature;
	const struct frame *frame; /* NULL: parameters have layouts of their own */
	FILE *out;
	uint32_t parameter; /* the current one */
	uint32_t dimension;
};

static void put_text(const struct expander *expander, const char *text, size_t length)
{
	fwrite(text, 1, length, expander->out);
}

/* Return the layout of the current parameter; NULL: it is passed as it is written. */
static const struct layout *layout_of(const struct expander *expander)
{
	uint32_t number = expander->source->layout[expander->parameter];

	if (expander->signature->parameters[expander->parameter].kind != SK_PARAMETER_TENSOR)
		return NULL;
	if (expander->frame)
		return &layouts[expander->frame->layout];
	return number ? &layouts[number - 1] : NULL;
}

/* Append a part of the signature as it is written; it keeps its place in messages. */
static void put_slice(const struct expander *expander, const char *from, size_t length)
{
	const struct sk_signature_piece piece = {(size_t)ftell(expander->out), length, from};

	sk_array_push(expander->source->arena, &expander->inner->pieces, piece);
	put_text(expander, from, length);
}

static const struct sk_parameter *parameter_of(const struct expander *expander)
{
	return &expander->signature->parameters[expander->parameter];
}

static bool is_divided(const struct expander *expander, const char *name)
{
	const struct sk_signature_source *source = expander->source;
	bool split = expander->signature->spread == SK_STEP_SPLIT && source->spread_name;

	for (uint32_t i = 0; i < SK_MAX_LOOPS; i++)
		if (source->loop_name[i] && !strcmp(source->loop_name[i], name))
			return true;
	return split && !strcmp(source->spread_name, name);
}

/* Append "size(n)*4" for the call's part, or "n*4" for the whole. */
static void put_factors(const struct expander *expander, const struct sk_extent *extent, bool part)
{
	for (uint32_t i = 0; i < extent->name_count; i++) {
		const char *name = expander->signature->extents[extent->names[i]];
		bool divided = part && is_divided(expander, name);

		fprintf(expander->out, "%s%s%s%s", i ? "*" : "", divided ? "size(" : "", name, divided ? ")" : "");
	}
	if (extent->constant != 1 || !extent->name_count)
		fprintf(expander->out, "%s%" PRIu64, extent->name_count ? "*" : "", extent->constant);
}

/* Append "(size(n)*4+2)": a part with a halo includes the halo. */
static void put_extent(const struct expander *expander, uint32_t dimension, bool part)
{
	const struct sk_extent *extent = &parameter_of(expander)->extents[dimension];

	fputs(extent->more ? "(" : "", expander->out);
	put_factors(expander, extent, part);
	for (const struct sk_extent *more = extent->more; more; more = more->more) {
		fputc(more->subtracted ? '-' : '+', expander->out);
		put_factors(expander, more, part);
	}
	fputs(extent->more ? ")" : "", expander->out);
}

/* Append the product of the dimensions from this one on. For a whole tensor the dimensions of a row count as the
 * distance between rows. */
static void put_product(const struct expander *expander, uint32_t first, bool part)
{
	const struct sk_parameter *parameter = parameter_of(expander);

	if (first == parameter->rank)
		fputs("1", expander->out);
	for (uint32_t d = first; d < parameter->rank; d++) {
		fputs(d > first ? "*" : "", expander->out);
		if (!part && parameter->stride != SK_NONE && d == parameter->row_dimension) {
			fputs(expander->signature->extents[parameter->stride], expander->out);
			return;
		}
		put_extent(expander, d, part);
	}
}

static void put_offset(const struct expander *expander)
{
	for (uint32_t d = 0; d < parameter_of(expander)->rank; d++) {
		fputs(d ? "-" : "0-", expander->out);
		put_product(expander, d + 1, false);
	}
}

static const char *code_of(const struct expander *expander)
{
	const struct sk_parameter *parameter = parameter_of(expander);

	if (parameter->kind == SK_PARAMETER_TENSOR)
		return expander->frame->tensor_code;
	return parameter->dtype == SK_F64 ? expander->frame->float_code : expander->frame->integer_code;
}

static uint32_t count_parameters(const struct sk_signature *signature)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < signature->parameter_count; i++)
		count += signature->parameters[i].owner == SK_NONE;
	return count;
}

static uint32_t count_kind(const struct sk_signature *signature, enum sk_parameter_kind kind)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < signature->parameter_count; i++)
		count += signature->parameters[i].kind == kind;
	return count;
}

/* Append "block.index.y", or the value along an axis that the blocks do not have. */
static void put_axis(const struct expander *expander, const char *what, uint32_t axis, const char *none)
{
	const struct sk_signature *signature = expander->signature;

	if (axis < signature->grid_rank)
		fprintf(expander->out, "block.%s.%c", what, "xyz"[axis]);
	else if (axis == 0 && sk_signature_has_blocks(signature))
		fprintf(expander->out, "block.%s", what);
	else
		fputs(none, expander->out);
}

static void expand(struct expander *expander, const char *text, size_t length);

/* Append the parameter as it is written, without its layout. */
static void put_written(const struct expander *expander)
{
	const struct sk_signature_source *source = expander->source;
	const char *from = source->parameter_from[expander->parameter];
	bool has_layout = source->layout[expander->parameter] != 0;
	const char *to = (has_layout ? source->layout_at : source->parameter_to)[expander->parameter];

	put_slice(expander, from, (size_t)(to - from));
}

static void put_parameter(struct expander *expander)
{
	const struct layout *layout = layout_of(expander);

	if (!layout) {
		put_written(expander);
		return;
	}

	const char *text = layout->vector && parameter_of(expander)->rank == 1 ? layout->vector : layout->tensor;

	expand(expander, text, strlen(text));
}

static void put_each_dimension(struct expander *expander, bool reversed, const char *text, size_t length)
{
	uint32_t rank = parameter_of(expander)->rank;

	for (uint32_t i = 0; i < rank; i++) {
		expander->dimension = reversed ? rank - 1 - i : i;
		fputs(i ? ", " : "", expander->out);
		expand(expander, text, length);
	}
}

static void put_each_parameter(struct expander *expander, const char *text, size_t length)
{
	bool first = true;

	for (uint32_t i = 0; i < expander->signature->parameter_count; i++) {
		if (expander->signature->parameters[i].owner != SK_NONE)
			continue;
		expander->parameter = i;
		fputs(first ? "" : ", ", expander->out);
		expand(expander, text, length);
		first = false;
	}
}

static int number_for(const struct expander *expander, char word)
{
	const struct sk_parameter *parameter = parameter_of(expander);

	switch (word) {
	case 'r':
		return (int)parameter->rank;
	case 'b':
		return parameter->dtype == SK_BOOL ? 1 : 8 * (int)sk_dtype_size(parameter->dtype);
	case 'B':
		return (int)sk_dtype_size(parameter->dtype);
	case 't':
		return layout_of(expander)->types[parameter->dtype];
	case 'd':
		return (int)expander->dimension;
	case 'T':
		return (int)count_kind(expander->signature, SK_PARAMETER_TENSOR);
	case 'V':
		return (int)count_kind(expander->signature, SK_PARAMETER_SCALAR);
	default: /* 'n' */
		return (int)count_parameters(expander->signature);
	}
}

/* Append the text for each parameter of a kind: before or between commas. */
static void put_each_of(struct expander *expander, enum sk_parameter_kind kind, const char *text, size_t length)
{
	bool first = true;

	for (uint32_t i = 0; i < expander->signature->parameter_count; i++) {
		if (expander->signature->parameters[i].kind != kind)
			continue;
		expander->parameter = i;
		fputs(first || kind == SK_PARAMETER_SCALAR ? "" : ", ", expander->out);
		expand(expander, text, length);
		fputs(kind == SK_PARAMETER_SCALAR ? ", " : "", expander->out);
		first = false;
	}
}

static void put_word(struct expander *expander, char word)
{
	const struct sk_parameter *parameter = parameter_of(expander);
	bool has_blocks = sk_signature_has_blocks(expander->signature);

	switch (word) {
	case 'x':
		put_written(expander);
		break;
	case 'p':
		put_parameter(expander);
		break;
	case 'k':
		fputs(parameter->name, expander->out);
		break;
	case 'c':
		fputs(code_of(expander), expander->out);
		break;
	case 'e':
		put_extent(expander, expander->dimension, true);
		break;
	case 'l':
		put_product(expander, parameter->rank - 1, false);
		break;
	case 's':
	case 'S':
		put_product(expander, expander->dimension + 1, false);
		if (word == 'S')
			fprintf(expander->out, "*%u", sk_dtype_size(parameter->dtype));
		break;
	case 'o':
		put_offset(expander);
		break;
	case 'z':
		fprintf(expander->out, "%u*", sk_dtype_size(parameter->dtype));
		put_product(expander, 0, true);
		if (parameter->displacement < 0)
			fprintf(expander->out, "+%d", -parameter->displacement);
		break;
	case 'm':
		put_product(expander, 0, true);
		break;
	case 'i':
		fputs(has_blocks ? "block.index" : "0", expander->out);
		break;
	case 'g':
		fputs(has_blocks ? "block.count" : "1", expander->out);
		break;
	case 'X':
	case 'Y':
	case 'Z':
		put_axis(expander, "index", (uint32_t)(word - 'X'), "0");
		break;
	case 'U':
	case 'W':
	case 'Q':
		put_axis(expander, "count", word == 'U' ? 0 : word == 'W' ? 1 : 2, "1");
		break;
	default:
		fprintf(expander->out, "%d", number_for(expander, word));
	}
}

static void expand(struct expander *expander, const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end) {
		const char *sign = memchr(text, '$', (size_t)(end - text));

		put_text(expander, text, (size_t)((sign ? sign : end) - text));
		if (!sign)
			return;
		text = sign + 2;
		if (!strchr("[^*+-", sign[1])) {
			put_word(expander, sign[1]);
			continue;
		}

		const char *body = sign[1] == '[' ? text : text + 1, *close = strstr(body, "$]");
		size_t size = (size_t)(close - body);

		if (sign[1] == '*')
			put_each_parameter(expander, body, size);
		else if (sign[1] == '+' || sign[1] == '-')
			put_each_of(expander, sign[1] == '+' ? SK_PARAMETER_TENSOR : SK_PARAMETER_SCALAR, body, size);
		else
			put_each_dimension(expander, sign[1] == '^', body, size);
		text = close + 2;
	}
}

/* ---- unsupported parameters ---- */

static const char *unsupported_tensor(const struct layout *layout, const struct sk_parameter *parameter)
{
	if (parameter->optional)
		return "has no tensors that may be absent";
	if (parameter->rank > layout->most_dimensions)
		return "has no tensors of that many dimensions";
	if (layout->compact && parameter->stride != SK_NONE)
		return "has no tensors with gaps between rows";
	return layout->typed && layout->types[parameter->dtype] < 0 ? "has no such element type" : NULL;
}

static const char *unsupported(const struct frame *frame, const struct sk_parameter *parameter)
{
	switch (parameter->kind) {
	case SK_PARAMETER_TENSOR:
		return unsupported_tensor(&layouts[frame->layout], parameter);
	case SK_PARAMETER_SCALAR:
		if (frame->no_scalars)
			return "has only tensors";
		if (!frame->scalar_bytes || (!parameter->by_reference && parameter->dtype != SK_BOOL &&
					     sk_dtype_size(parameter->dtype) == frame->scalar_bytes &&
					     (frame->scalar_bytes != 8 || parameter->dtype != SK_U64)))
			return NULL;
		return frame->scalar_bytes == 8 ? "has only i64 and f64 beside tensors"
						: "has only i32, u32 and f32 beside tensors";
	default:
		if (parameter->operands)
			return "has no tables of tensors";
		return frame->call ? "has only tensors and scalars" : NULL;
	}
}

static bool check_frame(struct sk_signature_source *source, const struct sk_signature *signature)
{
	bool good = true;

	for (uint32_t i = 0; i < signature->parameter_count; i++) {
		const char *reason = signature->parameters[i].owner == SK_NONE
					     ? unsupported(&frames[source->frame - 1], &signature->parameters[i])
					     : NULL;

		if (source->layout[i])
			reason = "has a layout for all tensors: omit 'as'";
		if (reason)
			sk_signature_error(source, source->parameter_from[i], "frame=%s %s",
					   sk_frame_names[source->frame - 1], reason);
		good &= !reason;
	}
	return good;
}

static bool check_layouts(struct sk_signature_source *source, const struct sk_signature *signature)
{
	bool good = true;

	for (uint32_t i = 0; i < signature->parameter_count; i++) {
		uint32_t number = source->layout[i];
		const char *reason =
			number ? unsupported_tensor(&layouts[number - 1], &signature->parameters[i]) : NULL;

		if (reason)
			sk_signature_error(source, source->parameter_from[i], "as %s %s", sk_layout_names[number - 1],
					   reason);
		good &= !reason;
	}
	return good;
}

/* ---- whole signatures ---- */

static void put_all(struct expander *expander)
{
	const struct sk_signature *signature = expander->signature;
	const struct frame *frame = expander->frame;
	const char *call = frame && frame->call ? frame->call : "$*[$p$]";
	const char *attributes_end = sk_signature_attributes_end(expander->source);
	const char *result = expander->source->result_from;

	if (attributes_end)
		put_slice(expander, expander->source->text, (size_t)(attributes_end + 1 - expander->source->text));
	expander->parameter = 0;
	expand(expander, call, strlen(call));
	if (result)
		put_slice(expander, result, strlen(result));
	else if (frame && frame->status && !signature->returns_status)
		fputs(" -> status", expander->out);
}

struct sk_signature_source *sk_signature_expand(struct sk_signature_source *source,
						const struct sk_signature *signature)
{
	struct sk_signature_source *inner = SK_NEW(source->arena, struct sk_signature_source);
	struct expander expander = {.source = source, .inner = inner, .signature = signature};
	struct sk_text text;

	if (source->frame ? !check_frame(source, signature) : !check_layouts(source, signature))
		return NULL;
	expander.frame = source->frame ? &frames[source->frame - 1] : NULL;
	*inner = (struct sk_signature_source){.arena = source->arena, .diag = source->diag, .outer = source};
	sk_text_open(&text);
	expander.out = text.stream;
	put_all(&expander);
	sk_text_close(source->arena, &text);
	inner->text = text.bytes;
	return inner;
}
