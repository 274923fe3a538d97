/* Frames; see signature-parts.h. A frame is a row of a table: text with placeholders for facts about one tensor, or
 * about all. */
#include "format/signature/signature-parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

const char *const sk_frame_names[SK_FRAMES] = {"mlir", "gfortran", "gsl", "halide", "tvm-packed", "xla-cpu"};

/* The placeholders in the texts:
 *
 *   $x  the parameter as it is written        $r  its rank            $b  bits of an element
 *   $t  the number of its element type        $o  0 - all strides     $B  bytes of an element
 *   $z  bytes of the call's part              $l  elements from row to row
 *   $[  text for each dimension $]            $^[ the last one first $]
 *       $e  the dimension's extent, of the call   $s  its stride in elements
 *   $*[ text for each parameter $]            $p  the parameter in its own text (tensor or scalar)
 *       $c  its code (tensor or scalar)           $n  the number of parameters
 *   $i  the block's number, or 0              $g  the number of blocks, or 1
 *
 * The texts are signatures (doc/reference/signatures.md). An extent of the call is the whole, or its part if it is
 * split. */
struct frame {
	const char *vector; /* for a tensor of one dimension; NULL: as for others */
	const char *tensor; /* replaces the parameter, or is part of `call` */
	uint32_t most_dimensions;
	const char *call; /* replaces all parameters; NULL: they stay */
	const char *tensor_code, *integer_code, *float_code; /* $c */
	bool only_64_bits; /* scalars are i64 and f64 */
	bool no_scalars;
	bool compact; /* without strides, or they are omitted */
	bool status; /* the function returns int, 0 for success */
	int8_t types[SK_DTYPE_COUNT]; /* $t; 0 for types that the frame does not specify: use `typed` */
	bool typed; /* element types without a number (-1) are refused */
};

/* Numbers of element types in dlpack.h (v0.5 to v1.0: DLDataTypeCode) and HalideRuntime.h (v10 to v19:
 * halide_type_code_t), which agree except for bfloat. In TVM and Halide bool is an unsigned integer of one bit. */
#define LANGUAGE_TYPES(bfloat)                                                                                         \
	{                                                                                                              \
		[SK_DTYPE_NONE] = -1, [SK_I8] = 0, [SK_U8] = 1, [SK_I16] = 0, [SK_U16] = 1, [SK_I32] = 0,              \
		[SK_U32] = 1, [SK_I64] = 0, [SK_U64] = 1, [SK_F16] = 2, [SK_BF16] = (bfloat), [SK_F32] = 2,            \
		[SK_F64] = 2, [SK_BOOL] = 1,                                                                           \
	}

static const struct frame frames[SK_FRAMES] = {
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
	 .types = {[SK_DTYPE_NONE] = -1,
		   [SK_I8] = 1,
		   [SK_U8] = 1,
		   [SK_I16] = 1,
		   [SK_U16] = 1,
		   [SK_I32] = 1,
		   [SK_U32] = 1,
		   [SK_I64] = 1,
		   [SK_U64] = 1,
		   [SK_F16] = -1,
		   [SK_BF16] = -1,
		   [SK_F32] = 3,
		   [SK_F64] = 3,
		   [SK_BOOL] = 2}},
	/* GSL, gsl/gsl_vector_double.h, gsl/gsl_matrix_double.h and those of other types, 2.0 to 2.8: size, stride,
	 * data, block, owner; size1, size2, tda, data, block, owner. */
	{.vector = "vector {$[size u64 = $e$], stride u64 = 1, $x, memory ptr = null, owner i32 = 0}*",
	 .tensor = "matrix {$[size u64 = $e$], tda u64 = $l, $x, memory ptr = null, owner i32 = 0}*",
	 .most_dimensions = 2},
	/* Halide's ahead-of-time functions, HalideRuntime.h v10 to v19: struct halide_buffer_t; halide_type_t {uint8_t
	 * code, bits; uint16_t lanes}; halide_dimension_t {int32_t min, extent, stride; uint32_t flags}, innermost
	 * first. */
	{.tensor = "buffer {device u64 = 0, interface ptr = null, $x, flags u64 = 0, code u8 = $t, bits u8 = $b, lanes "
		   "u16 = 1, dimensions i32 = $r, dim {$^[min i32 = 0, extent i32 = $e, stride i32 = $s, flags u32 = "
		   "0$]}*, padding ptr = null}*",
	 .most_dimensions = SK_MAX_RANK,
	 .status = true,
	 .typed = true,
	 .types = LANGUAGE_TYPES(4)},
	/* TVM's packed functions, tvm/runtime/c_runtime_api.h of 0.8 to 0.18 (TVMBackendPackedCFunc): int (*)(TVMValue
	 * *args, int *type_codes, int num_args, TVMValue *ret, int *ret_type_code, void *resource_handle), with
	 * kTVMDLTensorHandle 7, kTVMArgInt 0, kTVMArgFloat 2; DLTensor of dlpack.h v0.5 to v0.8: data, device (kDLCPU
	 * 1), ndim, dtype, shape, strides (NULL: compact), byte_offset. */
	{.tensor = "tensor {$x, device_type i32 = 1, device_id i32 = 0, ndim i32 = $r, code u8 = $t, bits u8 = $b, "
		   "lanes u16 = 1, shape {$[extent i64 = $e$]}*, strides ptr = null, byte_offset u64 = 0}*",
	 .most_dimensions = SK_MAX_RANK,
	 .call = "args {$*[$p$]}*, type_codes {$*[code i32 = $c$]}*, num_args i32 = $n, ret {value u64 = 0}*, ret_code "
		 "{code i32 = 0}*, resource ptr = null",
	 .tensor_code = "7",
	 .integer_code = "0",
	 .float_code = "2",
	 .only_64_bits = true,
	 .compact = true,
	 .status = true,
	 .typed = true,
	 .types = LANGUAGE_TYPES(4)},
	/* XLA:CPU's kernels, xla/backends/cpu/runtime/kernel_c_api.h of 2024 and 2025 (before:
	 * xla/stream_executor/host/host_kernel_c_api.h): XLA_CPU_KernelCallFrame {const dims *num_workgroups,
	 * *workgroup_id; size_t num_args; const XLA_CPU_KernelArg *args}, dims {uint64_t x, y, z}, args {void *data;
	 * size_t size}. */
	{.tensor = "$x, size u64 = $z",
	 .most_dimensions = SK_MAX_RANK,
	 .call = "frame {count {x u64 = $g, y u64 = 1, z u64 = 1}*, id {x u64 = $i, y u64 = 0, z u64 = 0}*, num_args "
		 "u64 = $n, args {$*[$p$]}*}*",
	 .no_scalars = true,
	 .compact = true},
};

struct expander {
	struct sk_signature_source *source;
	struct sk_signature_source *inner;
	const struct sk_signature *signature;
	const struct frame *frame;
	FILE *out;
	uint32_t parameter; /* the current one */
	uint32_t dimension;
};

static void put_text(const struct expander *expander, const char *text, size_t length)
{
	fwrite(text, 1, length, expander->out);
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

static void expand(struct expander *expander, const char *text, size_t length);

static void put_parameter(struct expander *expander)
{
	const struct sk_parameter *parameter = parameter_of(expander);
	const struct frame *frame = expander->frame;
	const char *from = expander->source->parameter_from[expander->parameter];
	const char *text = frame->vector && parameter->rank == 1 ? frame->vector : frame->tensor;

	if (parameter->kind == SK_PARAMETER_TENSOR)
		expand(expander, text, strlen(text));
	else
		put_slice(expander, from, (size_t)(expander->source->parameter_to[expander->parameter] - from));
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

static void put_word(struct expander *expander, char word)
{
	const struct sk_parameter *parameter = parameter_of(expander);
	const char *from = expander->source->parameter_from[expander->parameter];
	uint32_t bytes = sk_dtype_size(parameter->dtype);

	switch (word) {
	case 'x':
		put_slice(expander, from, (size_t)(expander->source->parameter_to[expander->parameter] - from));
		break;
	case 'p':
		put_parameter(expander);
		break;
	case 'c':
		fputs(code_of(expander), expander->out);
		break;
	case 'r':
		fprintf(expander->out, "%u", parameter->rank);
		break;
	case 'b':
		fprintf(expander->out, "%u", parameter->dtype == SK_BOOL ? 1 : 8 * bytes);
		break;
	case 'B':
		fprintf(expander->out, "%u", bytes);
		break;
	case 't':
		fprintf(expander->out, "%d", expander->frame->types[parameter->dtype]);
		break;
	case 'e':
		put_extent(expander, expander->dimension, true);
		break;
	case 'l':
		put_product(expander, parameter->rank - 1, false);
		break;
	case 's':
		put_product(expander, expander->dimension + 1, false);
		break;
	case 'o':
		put_offset(expander);
		break;
	case 'z':
		fprintf(expander->out, "%u*", bytes);
		put_product(expander, 0, true);
		break;
	case 'n':
		fprintf(expander->out, "%u", count_parameters(expander->signature));
		break;
	case 'i':
		fputs(sk_signature_has_blocks(expander->signature) ? "block.index" : "0", expander->out);
		break;
	case 'g':
		fputs(sk_signature_has_blocks(expander->signature) ? "block.count" : "1", expander->out);
		break;
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
		if (sign[1] != '[' && sign[1] != '^' && sign[1] != '*') {
			put_word(expander, sign[1]);
			continue;
		}

		const char *body = sign[1] == '[' ? text : text + 1, *close = strstr(body, "$]");

		if (sign[1] == '*')
			put_each_parameter(expander, body, (size_t)(close - body));
		else
			put_each_dimension(expander, sign[1] == '^', body, (size_t)(close - body));
		text = close + 2;
	}
}

/* ---- unsupported parameters ---- */

static const char *unsupported(const struct frame *frame, const struct sk_parameter *parameter)
{
	switch (parameter->kind) {
	case SK_PARAMETER_TENSOR:
		if (parameter->optional)
			return "has no tensors that may be absent";
		if (parameter->rank > frame->most_dimensions)
			return "has no tensors of that many dimensions";
		if (frame->compact && parameter->stride != SK_NONE)
			return "has no tensors with gaps between rows";
		return frame->typed && frame->types[parameter->dtype] < 0 ? "has no such element type" : NULL;
	case SK_PARAMETER_SCALAR:
		if (frame->no_scalars)
			return "has only tensors";
		return frame->only_64_bits && parameter->dtype != SK_I64 && parameter->dtype != SK_F64
			       ? "has only i64 and f64 beside tensors"
			       : NULL;
	default:
		if (parameter->operands)
			return "has no tables of tensors";
		return frame->call ? "has only tensors and scalars" : NULL;
	}
}

static bool check_parameters(struct sk_signature_source *source, const struct sk_signature *signature, uint32_t number)
{
	bool good = true;

	for (uint32_t i = 0; i < signature->parameter_count; i++) {
		const char *reason = signature->parameters[i].owner == SK_NONE
					     ? unsupported(&frames[number], &signature->parameters[i])
					     : NULL;

		if (reason)
			sk_signature_error(source, source->parameter_from[i], "frame=%s %s", sk_frame_names[number],
					   reason);
		good &= !reason;
	}
	return good;
}

/* ---- whole signatures ---- */

static void put_all(struct expander *expander)
{
	const struct sk_signature *signature = expander->signature;
	const char *call = expander->frame->call ? expander->frame->call : "$*[$p$]";
	const char *attributes_end = sk_signature_attributes_end(expander->source);
	const char *result = expander->source->result_from;

	put_slice(expander, expander->source->text, (size_t)(attributes_end + 1 - expander->source->text));
	expander->parameter = 0;
	expand(expander, call, strlen(call));
	if (result)
		put_slice(expander, result, strlen(result));
	else if (expander->frame->status && !signature->returns_status)
		fputs(" -> status", expander->out);
}

struct sk_signature_source *sk_signature_expand(struct sk_signature_source *source,
						const struct sk_signature *signature, uint32_t number)
{
	struct sk_signature_source *inner = SK_NEW(source->arena, struct sk_signature_source);
	struct expander expander = {.source = source, .inner = inner, .signature = signature, .frame = &frames[number]};
	struct sk_text text;

	if (!check_parameters(source, signature, number))
		return NULL;
	*inner = (struct sk_signature_source){.arena = source->arena, .diag = source->diag, .outer = source};
	sk_text_open(&text);
	expander.out = text.stream;
	put_all(&expander);
	sk_text_close(source->arena, &text);
	inner->text = text.bytes;
	return inner;
}
