/* Check suite for format/signature/signature-parser: the results of the parser for good signatures, and the exact
 * messages for bad ones. */
#include <check.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "tests/lib/sink.h"
#include "tests/lib/suite.h"

/* The place of the signature's first character in a manifest. */
static const struct sk_place place = {.file = "m.yaml", .line = 7, .column = 11};

static const struct sk_signature *parse(const char *text)
{
	const struct sk_signature *signature = sk_signature_parse(arena, &diag, place, text);
	expect_messages("");
	ck_assert_ptr_nonnull(signature);
	return signature;
}

/* ---- good signatures ---- */

static const struct {
	const char *text, *normal;
} good[] = {
	{"in x f32[n]", "in x f32[n]"},
	{"  split=n;in x f32[n],out y f32[n],n i64,factor f32 ",
	 "split=n; in x f32[n], out y f32[n], n i64, factor f32"},
	{"cube\tblocks=m\n op=MatMul isa=x86-64-v3 ; block , in a f32 [ m , k ] , out c f32[m,n*4*h], in b f32[k,n,h]",
	 "cube blocks=m op=MatMul isa=x86-64-v3; block, in a f32[m,k], out c f32[m,n*4*h], in b f32[k,n,h]"},
	{"ref n i32, ref alpha f64, in x f64[n], ref incx i32, inout y f64[n], ref incy i32",
	 "ref n i32, ref alpha f64, in x f64[n], ref incx i32, inout y f64[n], ref incy i32"},
	{"split=n; in x f32[n,4], n i64, out y @ x f32[n,4]->status",
	 "split=n; in x f32[n,4], n i64, out y@x f32[n,4] -> status"},
	{"p{ a i32 ,q{in x f32[n],e u8='}'} }->status", "p {a i32, q {in x f32[n], e u8 = '}'}} -> status"},
	{"p {a i8 [ 4 ],b f32[2]= - inf,in x f32[n]}*", "p {a i8[4], b f32[2] = -inf, in x f32[n]}*"},
	{"split=n;in x f32[n],n i64,p{ lo f32=- inf ,q {in y f32[n],d f16=1 } * ,t ptr=&lut}*->status",
	 "split=n; in x f32[n], n i64, p {lo f32 = -inf, q {in y f32[n], d f16 = 1}*, t ptr = &lut}* -> status"},
	{"rows ptr [ m ] of in x f32[m,k] by 4*k,m i32", "rows ptr[m] of in x f32[m,k] by 4*k, m i32"},
	{"frame=halide;in x f32[n,m],k i32", "frame=halide; in x f32[n,m], k i32"},
	{"in x f32[n,m]as  memref,in as f32[n]", "in x f32[n,m] as memref, in as f32[n]"},
	{"in x f32[n],ref info i64->status info", "in x f32[n], ref info i64 -> status info"},
	{"in x f32[ n + k - 1 ] + 28,in y f32[m,k : ld],scratch t f32[ 2 * n + 3 ]",
	 "in x f32[n+k-1]+28, in y f32[m,k:ld], scratch t f32[2*n+3]"},
	{"in x bool[n], in y bf16[n], in z f16[n], scratch t[128] -> out r f32",
	 "in x bool[n], in y bf16[n], in z f16[n], scratch t[128] -> out r f32"},
	{"mix=1:2 sync-all early-start=both unfusible reentrant nontemporal; block, inout x u8[n]",
	 "mix=1:2 sync-all early-start=both unfusible reentrant nontemporal; block, inout x u8[n]"},
	{"op=com.example.Gelu; in x i8[1]", "op=com.example.Gelu; in x i8[1]"},
	{"op=Conv ( group = 1,alpha= - 0.5 , mode =linear,pads=[ 0,1 ], none=[] ) isa=avx2; in x i8[1]",
	 "op=Conv(group=1,alpha=-0.5,mode=linear,pads=[0,1],none=[]) isa=avx2; in x i8[1]"},
	{"in x f32[n], in ? b f32[n], out ? y @ x f32[n], p {in? z f32[n]}*",
	 "in x f32[n], in? b f32[n], out? y@x f32[n], p {in? z f32[n]}*"},
	{"in x f32[n], a i64=2*attr( axis )-n, f f32=attr(alpha,- 0.5), g i32 = attr(k,3), p ptr = attr(pads), q ptr= "
	 "attr(axes ,null), attr i32",
	 "in x f32[n], a i64 = 2*attr(axis)-n, f f32 = attr(alpha,-0.5), g i32 = attr(k, 3), p ptr = attr(pads), q "
	 "ptr "
	 "= attr(axes, null), attr i32"},
	{"in x u64[a*b], in y i16[b*c], in z u16[c]", "in x u64[a*b], in y i16[b*c], in z u16[c]"},
	{"in x f32[n], a i32=4*n, b f32=- 1.5e-3, c f32 = -inf, d bf16=1, e u8='T', f ptr=null, ref g u64 = "
	 "(n+1)/2-0x10",
	 "in x f32[n], a i32 = 4*n, b f32 = -1.5e-3, c f32 = -inf, d bf16 = 1, e u8 = 'T', f ptr = null, ref g u64 = "
	 "(n+1)/2-0x10"},
	{"split=n;bytes u64=size( n )*sizeof(f32),in x f32[n],in w u8[16],out y f32[n],first i64=begin(n),k "
	 "i64=sizeof(w)",
	 "split=n; bytes u64 = size(n)*sizeof(f32), in x f32[n], in w u8[16], out y f32[n], first i64 = begin(n), k "
	 "i64 = "
	 "sizeof(w)"},
	{"blocks; i i32=block . index, in x f32[n], c u8=';', f ptr = &table->status",
	 "blocks; i i32 = block.index, in x f32[n], c u8 = ';', f ptr = &table -> status"},
	{"tile=m:6,n:16 op=Gemm;in a f32[m,k],in b f32[k,n],out c f32[m,n],m u64,k u64,l u64=size(n)",
	 "tile=m:6,n:16 op=Gemm; in a f32[m,k], in b f32[k,n], out c f32[m,n], m u64, k u64, l u64 = size(n)"},
	{"split=n; out y f32[n]at-64 whole, i i32=begin(n), n i32",
	 "split=n; out y f32[n] at -64 whole, i i32 = begin(n), n i32"},
	{"in x f32[n]+4 at 20480 as memref, at{a i32=1}", "in x f32[n]+4 at 20480 as memref, at {a i32 = 1}"},
	{"each=b tile=h:4; inout x f32[b,h,8]whole, i i32=begin(b),j i32=begin(h),h i32",
	 "each=b tile=h:4; inout x f32[b,h,8] whole, i i32 = begin(b), j i32 = begin(h), h i32"},
	{"split=n : 32 untiled;in x f32[n],out y f32[n],n i64", "split=n:32 untiled; in x f32[n], out y f32[n], n i64"},
	{"operations=2*attr( k , 1 )*n;in x f32[n]", "operations=2*attr(k,1)*n; in x f32[n]"},
	{"each=m operations = 2 * m* k;in x f32[m,k],out y f32[m],k i64",
	 "each=m operations=2*m*k; in x f32[m,k], out y f32[m], k i64"},
	{"split = n reentrant ;in x f32[n],n i64", "split=n reentrant; in x f32[n], n i64"},
	{"tile = h : 4 , m:2 isa=avx2 + fma; inout x f32[h,m],m i32,h i32",
	 "tile=h:4,m:2 isa=avx2+fma; inout x f32[h,m], m i32, h i32"},
	{"grid = ( m + 63 ) / 64 , n/ 64 reentrant; i i32 = block.index,in x f32[m,n]",
	 "grid=(m+63)/64,n/64 reentrant; i i32 = block.index, in x f32[m,n]"},
	{"in ptr f32[size], begin ptr = null, nan f32 = nan", "in ptr f32[size], begin ptr = null, nan f32 = nan"},
	{"split=n;in w f32[1],in x [ ] f32[n]+8,out y@x f32[n],n i64,c i64=2*count( x )",
	 "split=n; in w f32[1], in x[] f32[n]+8, out y@x f32[n], n i64, c i64 = 2*count(x)"},
	{"in x [ 3 ]f32[n], in y[2]i8[m]", "in x[3] f32[n], in y[2] i8[m]"},
	{"cube i32, in op f32[n]", "cube i32, in op f32[n]"}, /* attributes' words are free in parameters */
};

START_TEST(test_good)
{
	const struct sk_signature *signature = parse(good[_i].text);

	ck_assert_str_eq(signature->text, good[_i].normal);
	/* Normalised text is a signature again, and normal. */
	ck_assert_str_eq(parse(signature->text)->text, good[_i].normal);
}
END_TEST

START_TEST(test_attributes)
{
	const struct sk_signature *s =
		parse("op=Conv(group=1,alpha=-0.5,mode=linear,pads=[0,-1],scales=[1,2.5]); in x f32[n], in? b f32[n], "
		      "p ptr = attr(pads), k i64 = attr(k, 3)");

	ck_assert_str_eq(s->op, "Conv");
	ck_assert_uint_eq(s->condition_count, 5);
	ck_assert_uint_eq(s->attribute_count, 6);
	ck_assert_str_eq(s->attributes[5], "k");
	ck_assert_str_eq(s->conditions[0].name, "group");
	ck_assert_int_eq(s->conditions[0].kind, SK_ATTRIBUTE_INTEGER);
	ck_assert_int_eq(s->conditions[0].integer, 1);
	ck_assert_int_eq(s->conditions[1].kind, SK_ATTRIBUTE_REAL);
	ck_assert_double_eq(s->conditions[1].real, -0.5);
	ck_assert_int_eq(s->conditions[2].kind, SK_ATTRIBUTE_STRING);
	ck_assert_str_eq(s->conditions[2].string, "linear");
	ck_assert_int_eq(s->conditions[3].kind, SK_ATTRIBUTE_INTEGERS);
	ck_assert_uint_eq(s->conditions[3].count, 2);
	ck_assert_int_eq(s->conditions[3].integers[1], -1);
	ck_assert_int_eq(s->conditions[4].kind, SK_ATTRIBUTE_REALS);
	ck_assert_double_eq(s->conditions[4].reals[0], 1);
	ck_assert(!s->parameters[0].optional && s->parameters[1].optional);
	ck_assert_int_eq(s->parameters[2].value->kind, SK_VALUE_ATTRIBUTE);
	ck_assert_str_eq(s->parameters[2].value->name, "pads");
	ck_assert_uint_eq(s->parameters[3].value->left->number, 3);
}
END_TEST

START_TEST(test_fields)
{
	const struct sk_signature *s =
		parse("vector split=n op=Add isa=avx2 reentrant nontemporal unfusible; in x f32[n*4,m], ref k i32, "
		      "inout y@x u8[n], scratch t[100], n u64 -> status");

	ck_assert_int_eq(s->lane, SK_LANE_VECTOR);
	ck_assert_int_eq(s->spread, SK_STEP_SPLIT);
	ck_assert_uint_eq(s->extent_count, 2);
	ck_assert_str_eq(s->extents[s->spread_extent], "n");
	ck_assert_str_eq(s->extents[1], "m");
	ck_assert(!s->elementwise && s->reentrant && s->nontemporal && s->unfusible && !s->sync_all && !s->early_wait &&
		  !s->early_set);
	ck_assert(s->returns_status);
	ck_assert_ptr_null(s->result);
	ck_assert_str_eq(s->op, "Add");
	ck_assert_uint_eq(s->isa, UINT64_C(1) << 40);
	ck_assert_uint_eq(s->parameter_count, 5);

	const struct sk_parameter *x = &s->parameters[0], *k = &s->parameters[1], *y = &s->parameters[2];

	ck_assert_int_eq(x->kind, SK_PARAMETER_TENSOR);
	ck_assert_str_eq(x->name, "x");
	ck_assert_int_eq(x->dtype, SK_F32);
	ck_assert_int_eq(x->access, SK_ACCESS_READ);
	ck_assert_uint_eq(x->alias_of, SK_NONE);
	ck_assert_uint_eq(x->rank, 2);
	ck_assert_uint_eq(x->extents[0].constant, 4);
	ck_assert_uint_eq(x->extents[0].name_count, 1);
	ck_assert_uint_eq(x->extents[0].names[0], s->spread_extent);
	ck_assert_uint_eq(x->extents[1].constant, 1);
	ck_assert(sk_parameter_is_divided_by(x, s->spread_extent));
	ck_assert(!sk_parameter_is_divided_by(x, 1));
	ck_assert_int_eq(k->kind, SK_PARAMETER_SCALAR);
	ck_assert(k->by_reference);
	ck_assert_int_eq(k->dtype, SK_I32);
	ck_assert_int_eq(y->access, SK_ACCESS_READ | SK_ACCESS_WRITE);
	ck_assert_uint_eq(y->alias_of, 0);
	ck_assert_int_eq(s->parameters[3].kind, SK_PARAMETER_SCRATCH);
	ck_assert_uint_eq(s->parameters[3].scratch_bytes, 100);
	ck_assert(!s->parameters[4].by_reference);
	ck_assert_uint_eq(sk_signature_find_parameter(s, "t"), 3);
	ck_assert_uint_eq(sk_signature_find_parameter(s, "z"), SK_NONE);
	ck_assert_uint_eq(sk_signature_find_extent(s, "m"), 1);
}
END_TEST

START_TEST(test_kinds)
{
	ck_assert_int_eq(parse("in x f32[n]")->spread, SK_STEP_PLAIN);
	ck_assert_uint_eq(parse("in x f32[n]")->spread_extent, SK_NONE);
	ck_assert_int_eq(parse("blocks; block, in x f32[n]")->spread, SK_STEP_BLOCKS);
	ck_assert_int_eq(parse("blocks=n; block, in x f32[n]")->spread, SK_STEP_BLOCKS_RANGE);
	ck_assert_int_eq(parse("cube; in x f32[n]")->lane, SK_LANE_CUBE);
	ck_assert_int_eq(parse("mix; block, in x f32[n]")->lane, SK_LANE_MIX);
	ck_assert(parse("split=n; in x f32[n], in w f32[m], out y u8[n], n i64")->elementwise);
	ck_assert(!parse("split=n; in x f32[n], out y f32[n,2], n i64")->elementwise);
	ck_assert(!parse("split=n; in x f32[n], out y f32[n*2], n i64")->elementwise);

	const struct sk_signature *tiles = parse("tile=m:6 each=n; in x f32[m,k], out y f32[m,n], m i64");

	ck_assert_int_eq(tiles->spread, SK_STEP_SPLIT);
	ck_assert_uint_eq(tiles->loop_count, 2);
	ck_assert_uint_eq(tiles->loops[0].tile, 6);
	ck_assert_uint_eq(tiles->loops[0].extent, tiles->spread_extent);
	ck_assert_uint_eq(tiles->loops[1].tile, 1);
	ck_assert_str_eq(tiles->extents[tiles->loops[1].extent], "n");
	ck_assert(sk_signature_divides(tiles, tiles->loops[1].extent) && !sk_signature_divides(tiles, 1));
	ck_assert_uint_eq(sk_parameter_dimension_of(&tiles->parameters[1], tiles->loops[1].extent), 1);
	ck_assert_uint_eq(sk_parameter_dimension_of(&tiles->parameters[0], tiles->loops[1].extent), SK_NONE);
	ck_assert(parse("each=n; in x f32[n], out y f32[n]")->elementwise);

	const struct sk_signature *units = parse("split=n:48 untiled; in x f32[n], out y f32[n], n i64");

	ck_assert(units->spread == SK_STEP_SPLIT && units->elementwise && units->untiled && units->unit == 48);
	ck_assert(tiles->unit == 0 && !tiles->untiled);
	ck_assert_int_eq(parse("in x f32[n]+64 at -20480, out y f32[n]")->parameters[0].displacement, -20480);
	ck_assert_int_eq(parse("align=64; in x f32[n] at 64, out y f32[n]")->parameters[0].displacement, 64);
	ck_assert(parse("split=n; in x f32[n] whole, out y f32[n], n i64, b i64 = begin(n)")->parameters[0].whole);

	const struct sk_signature *dot = parse("in x f64[n], in y f64[n] -> out r f64");

	ck_assert_str_eq(dot->result, "r");
	ck_assert_int_eq(dot->result_dtype, SK_F64);
}
END_TEST

/* ---- expressions ---- */

static const struct sk_value_expression *value_of(const char *text)
{
	char signature[256];

	snprintf(signature, sizeof(signature), "in x f32[n,m], a %s", text);
	return parse(signature)->parameters[1].value;
}

START_TEST(test_expressions)
{
	/* Products bind closer, and operators to the left. */
	const struct sk_value_expression *value = value_of("i64 = m - n*2 - 1");

	ck_assert_int_eq(value->kind, SK_VALUE_SUBTRACT);
	ck_assert_str_eq(value->text, "m - n*2 - 1");
	ck_assert_int_eq(value->left->kind, SK_VALUE_SUBTRACT);
	ck_assert_int_eq(value->left->left->kind, SK_VALUE_EXTENT);
	ck_assert_uint_eq(value->left->left->index, 1);
	ck_assert_int_eq(value->left->right->kind, SK_VALUE_MULTIPLY);
	ck_assert_uint_eq(value->left->right->left->index, 0);
	ck_assert_uint_eq(value->right->number, 1);
	ck_assert_ptr_null(value_of("i64"));

	value = value_of("ptr = &table_1");
	ck_assert_int_eq(value->kind, SK_VALUE_SYMBOL);
	ck_assert_str_eq(value->name, "table_1");
	ck_assert_int_eq(value_of("ptr = null")->kind, SK_VALUE_NULL);
	ck_assert_uint_eq(value_of("u8 = 'T'")->number, 'T');
	ck_assert_uint_eq(value_of("u64 = 18446744073709551615")->number, UINT64_MAX);
	ck_assert_uint_eq(value_of("u64 = 0x1F")->number, 31);

	const struct sk_signature *grid = parse("blocks; in x f32[n], i u16 = block.index, c i64 = block.count");

	ck_assert_int_eq(grid->parameters[1].value->kind, SK_VALUE_BLOCK_INDEX);
	ck_assert_uint_eq(grid->parameters[1].value->axis, SK_NONE);
	ck_assert_int_eq(grid->parameters[2].value->kind, SK_VALUE_BLOCK_COUNT);
	ck_assert_uint_eq(grid->grid_rank, 0);
	grid = parse("grid=(n+63)/64,2; in x f32[n], i u16 = block.index.y");
	ck_assert_int_eq(grid->spread, SK_STEP_BLOCKS);
	ck_assert_uint_eq(grid->grid_rank, 2);
	ck_assert_int_eq(grid->grid[0]->kind, SK_VALUE_DIVIDE);
	ck_assert_uint_eq(grid->grid[1]->number, 2);
	ck_assert_uint_eq(grid->parameters[1].value->axis, 1);
}
END_TEST

/* The bits, rounded once, to nearest and ties to even; numpy's, or for bf16 the upper half of f32's. */
static const struct {
	const char *text;
	uint64_t bits;
} floats[] = {
	{"f64 = 0.1", 0x3fb999999999999a},
	{"f64 = -inf", 0xfff0000000000000},
	{"f32 = 0.1", 0x3dcccccd},
	{"f32 = 3", 0x40400000},
	{"f32 = -7", 0xc0e00000},
	{"f32 = inf", 0x7f800000},
	{"f32 = nan", 0x7fc00000},
	{"f32 = 16777217", 0x4b800000},
	{"f32 = 1.000000059604644775390625", 0x3f800000}, /* a tie; a bit more is none, and would be one as a double */
	{"f32 = 1.00000005960464477539062500000001", 0x3f800001},
	{"f16 = 1", 0x3c00},
	{"f16 = 0.1", 0x2e66},
	{"f16 = -2.5", 0xc100},
	{"f16 = 65504", 0x7bff},
	{"f16 = 65519", 0x7bff},
	{"f16 = 1e-7", 0x0002},
	{"f16 = 6.097555e-5", 0x03ff},
	{"f16 = 6.1e-5", 0x03ff},
	{"f16 = 6.1034e-5", 0x0400},
	{"f16 = 1.00048828125", 0x3c00}, /* ties */
	{"f16 = 1.00146484375", 0x3c02},
	{"f16 = 2049", 0x6800},
	{"f16 = -inf", 0xfc00},
	{"f16 = nan", 0x7e00},
	{"f16 = 0.0", 0x0000},
	{"f16 = -0.0", 0x8000},
	{"bf16 = 1", 0x3f80},
	{"bf16 = 0.1", 0x3dcd},
	{"bf16 = 3.38e38", 0x7f7e},
	{"bf16 = 1.00390625", 0x3f80}, /* a tie */
	{"bf16 = 1e-40", 0x0001},
	{"bf16 = inf", 0x7f80},
};

START_TEST(test_floats)
{
	const struct sk_value_expression *value = value_of(floats[_i].text);

	ck_assert_int_eq(value->kind, SK_VALUE_REAL);
	ck_assert_uint_eq(value->number, floats[_i].bits);
}
END_TEST

/* ---- bad signatures ---- */

/* The column in the message; the parser also adds it to the place, which the test checks. */
static const struct {
	const char *text;
	unsigned column;
	const char *message;
} bad[] = {
	{"", 1, "expected a parameter, but the signature ends"},
	{"op=Conv(; in x f32[n]", 9, "expected a condition, such as group=1, but the attribute ends"},
	{"op=Conv(); in x f32[n]", 9, "expected a condition, such as group=1, but found ')'"},
	{"op=Conv(group); in x f32[n]", 14, "expected '=' and the value that the attribute must have, but found ')'"},
	{"op=Conv(group=); in x f32[n]", 15, "expected a number, a word or a list of numbers after '=', but found ')'"},
	{"op=Conv(group=1; in x f32[n]", 16, "expected ',' or ')', but the attribute ends"},
	{"op=Conv(group=1)2; in x f32[n]", 17, "expected the end of 'op', but found '2'"},
	{"op=Conv(a=1,a=2); in x f32[n]", 13, "two conditions on attribute 'a'"},
	{"op=Conv(a=1x); in x f32[n]", 11, "'1x' is not a number that an attribute can have"},
	{"op=Conv(a=[1,x]); in x f32[n]", 14, "expected a number, but found 'x'"},
	{"op=Conv(a=[1); in x f32[n]", 13, "expected ',' or ']', but found ')'"},
	{"op=Conv(a=1e999); in x f32[n]", 11, "'1e999' is not a number that an attribute can have"},
	{"op=(a=1); in x f32[n]", 1, "'' is not a name"},
	{"in x f32[n], a i32 = attr()", 27, "expected the name of an attribute after 'attr(', but found ')'"},
	{"in x f32[n], a i32 = attr(b c)", 29, "expected ',' or ')', but found 'c'"},
	{"in x f32[n], a i32 = attr(b, n)", 30, "the default of an attribute is one number, or null for a list"},
	{"in x f32[n], a i32 = attr(b, 1.5)", 22, "'attr(b, 1.5)' cannot be i32"},
	{"in x f32[n], a ptr = attr(b, 1)", 22,
	 "a pointer cannot be 'attr(b, 1)', but 'null', '&SYMBOL' or 'attr(NAME)'"},
	{"in x f32[n], a f32 = attr(b, 1e99)", 22, "'1e99' is too large for f32"},
	{"in x f32[n], a f32 = 2*attr(b)", 22, "a value of type f32 is one number: -1.5, inf, nan"},
	{"in x f32[n], a i32 = 1+attr(b, null)", 23, "'null' stands by itself; only whole numbers are computed with"},
	{"in x f32[n], scratch t[attr(b)]", 24, "t follows from extents alone and cannot have 'attr'"},
	{"in x f32[n], in? b f32[m]", 24, "nothing can bind extent 'm': it stands only in tensors that may be absent"},
	{"in x f32[n], in? b f32[n,4:ld], ld i64", 28,
	 "nothing can bind extent 'ld': it stands only in tensors that may be absent"},
	{"in x f32[n], in? b f32[n], a i64 = sizeof(b)", 43, "'b' may be absent, and has no bytes then"},
	{"in x f32[n], t ptr[n] of in? b f32[n]", 26, "the tensor that a table leads into is never absent"},
	{"frame=mlir; in x f32[n], in? b f32[n]", 26, "frame=mlir has no tensors that may be absent"},
	{"frame=mlir; in x[] f32[n]", 13, "frame=mlir has no tables of tensors"},
	{"out x[] f32[n]", 5, "a table of tensors is 'in x[]', and is not a field"},
	{"in? x[] f32[n]", 5, "a table of tensors is 'in x[]', and is not a field"},
	{"p {in x[] f32[n]}*", 7, "a table of tensors is 'in x[]', and is not a field"},
	{"t ptr[n] of in x[] f32[n]", 13, "the tensor that a table leads into is one"},
	{"in x[] f32[n], in y[] f32[n]", 19, "'x' takes any number of tensors already, and one parameter can"},
	{"in x[] f32[n], out z f32[n], inout y f32[n]", 36,
	 "'y' is read, but comes after 'x', which takes all inputs that are left"},
	{"in x[n] f32[n]", 5, "expected a type after 'x', but found '['"},
	{"in x[0] f32[n]", 6, "the number must be greater than 0"},
	{"in x[] f32[n], out x f32[n]", 20, "duplicate parameter 'x'"},
	{"in x[] f32[x]", 4, "'x' is also an extent; only a scalar can have an extent's name"},
	{"in x[128] f32[n]", 5, "more than 128 parameters"},
	{"in x[127] f32[n], n i64", 19, "more than 128 parameters"},
	{"in x[] f32[n], a i64 = count(n)", 30, "'n' is not a table of tensors, as 'in n[]' is one"},
	{"in x[] f32[n], a i64 = count(3)", 30, "expected a table of tensors after 'count(', but found '3'"},
	{"in x[] f32[n], a f32 = count(x)", 24, "a value of type f32 is one number: -1.5, inf, nan"},
	{"in x[] f32[n], a i64 = sizeof(x)", 31,
	 "'x' is a table of tensors; the bytes of each follow from its extents"},
	{"in", 3, "expected a name after 'in', but the signature ends"},
	{"in x", 5, "expected a type after 'x', but the signature ends"},
	{"in x f32", 9, "expected '[' with the extents of 'x', but the signature ends"},
	{"in x f23[n]", 6, "unknown type 'f23'; did you mean 'f32'?"},
	{"in x string[n]", 6, "unknown type 'string' (there are i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 bool)"},
	{"in x float[n]", 6, "unknown type 'float'; C's is f32 here"},
	{"in x f32[n], n size_t", 16, "unknown type 'size_t'; C's is u64 here"},
	{"in f32[n]", 4, "expected a name after 'in' (it comes before the type), but found 'f32'"},
	{"in float x[n]", 10, "unknown type 'x'; a name comes before its type: 'in x f32[n]', 'n i64', 'p ptr = null'"},
	{"const float *x", 7,
	 "unknown type 'float'; a name comes before its type: 'in x f32[n]', 'n i64', 'p ptr = null'"},
	{"in x f32[n], ptr p = null", 18,
	 "unknown type 'p'; a name comes before its type: 'in x f32[n]', 'n i64', 'p ptr = null'"},
	{"input x f32[n]", 1, "unknown word 'input'; did you mean 'in'?"},
	{"in x f32[n], output y f32[n]", 14, "unknown word 'output'; did you mean 'out'?"},
	{"in x f32[n], workspace w u8[64]", 14,
	 "unknown word 'workspace' (there are in, out, inout, ref, block and scratch)"},
	{"in x f32[n], n i64*", 19, "a pointer to one value is 'ref n i64', and one to a tensor says in, out or inout"},
	{"in x f32[n], {lo f32}* params", 14, "expected a name before the struct, but found '{'"},
	{"inn x f32[n]", 1, "unknown word 'inn'; did you mean 'in'?"},
	{"in x f32[n], n i64 status", 20, "expected ',' or '->', but found 'status'"},
	{"in x f32[n]; out y f32[n]", 12,
	 "';' ends the attributes, but 'in' before it begins a parameter; parameters have ',' between them"},
	{"split=n ref n i32, in x f32[n];", 31,
	 "';' ends the attributes, but 'ref' before it begins a parameter; parameters have ',' between them"},
	{"x f32[n]", 1, "a parameter with extents needs in, out or inout in front"},
	{"ref x f32[n]", 1, "a parameter with extents needs in, out or inout in front, not ref"},
	{"in x f32[]", 10, "expected an extent (a name, a number, or a product such as n*4), but found ']'"},
	{"in x f32[n", 11, "expected ',', '*' or ']', but the signature ends"},
	{"in x f32[n,]", 12, "expected an extent (a name, a number, or a product such as n*4), but found ']'"},
	{"in x f32[4*n]", 11, "expected ',' or ']' (a product starts with a name: n*4), but found '*'"},
	{"in x f32[n*]", 12, "expected an extent (a name, a number, or a product such as n*4), but found ']'"},
	{"in x f32[0]", 10, "the number must be greater than 0"},
	{"in x f32[99999999999999999999]", 10, "the number is too large"},
	{"in x f32[n*4611686018427387904*4]", 32, "the number is too large"},
	{"in x f32[4x]", 10, "expected an extent, but found '4x'"},
	{"in x f32[n],", 13, "expected a parameter, but the signature ends"},
	{"in x f32[n] out y f32[n]", 13, "expected ',' or '->', but found 'out'"},
	{"in x f32[n] -> ", 16, "expected 'status' or 'out NAME TYPE' after '->', but the signature ends"},
	{"in x f32[n] -> int", 16, "expected 'status' or 'out NAME TYPE' after '->', but found 'int'"},
	{"in x f32[n], ref info i32 -> status inf", 37,
	 "the function leaves a status in a parameter 'ref inf i32' or i64 without a value"},
	{"in x f32[n], info i32 -> status info", 33,
	 "the function leaves a status in a parameter 'ref info i32' or i64 without a value"},
	{"in x f32[n], ref info u32 -> status info", 37,
	 "the function leaves a status in a parameter 'ref info i32' or i64 without a value"},
	{"in x f32[n], ref info i32 = 1 -> status info", 41,
	 "the function leaves a status in a parameter 'ref info i32' or i64 without a value"},
	{"in x f32[n], ref n i32 -> status n", 34,
	 "the function leaves a status in a parameter 'ref n i32' or i64 without a value"},
	{"in x f32[n] -> status, in y f32[n]", 22, "expected the end of the signature, but found ','"},
	{"in x f32[n] -> out r bool", 22, "a result cannot be bool: say u8 for a C _Bool or char, i32 for an int"},
	{"in x f32[n], a bool", 16, "a scalar cannot be bool: say u8 for a C _Bool or char, i32 for an int"},
	{"in x f32[n], a bf16", 16,
	 "a scalar cannot be bf16: compilers differ in how they pass it; use a tensor of one element"},
	{"in x f32[n], ref a f16", 20,
	 "a scalar cannot be f16: compilers differ in how they pass it; use a tensor of one element"},
	{"in x f32[n], a", 15, "expected a type after 'a', but the signature ends"},
	{"in x f32[n], a +", 16, "expected a type after 'a', but found '+'"},
	{"in x f32[n], scratch [64]", 22, "expected a name after 'scratch', but found '['"},
	{"in x f32[n], scratch t", 23, "expected '[' with the number of bytes, but the signature ends"},
	{"in x f32[n], scratch t[0]", 24, "the number must be greater than 0"},
	{"in block f32[n]", 4, "expected a name after 'in' (words of the grammar cannot be names), but found 'block'"},
	{"in x f32[f32]", 10, "expected the name of an extent (words of the grammar cannot be names), but found 'f32'"},
	{"in x f32[n], in x u8[n]", 17, "duplicate parameter 'x'"},
	{"in x f32[n], in n u8[4]", 17, "'n' is also an extent; only a scalar can have an extent's name"},
	{"in x f32[n], n f32", 14, "'n' gets its value from the extent of that name and must be an integer, not f32"},
	{"in x f32[n] -> out x f32", 20, "the result's name 'x' is taken"},
	{"in x f32[n*n]", 10, "nothing can bind extent 'n': it stands only in products with other unknown extents"},
	{"in x f32[n], out y@ f32[n]", 21, "expected the name of a parameter after '@', but found 'f32'"},
	{"in x f32[n], out y@z f32[n]", 20, "no parameter 'z'"},
	{"in x f32[n], out y@y f32[n]", 20, "'y' cannot be an alias of itself"},
	{"in x f32[n], out y@n f32[n], n i32", 20, "'n' is not a tensor"},
	{";in x f32[n]", 1, "expected an attribute before ';'"},
	{"cub; in x f32[n]", 1, "unknown attribute 'cub'; did you mean 'cube'?"},
	{"cube vector; in x f32[n]", 6, "a kernel runs on one of cube, vector and mix"},
	{"cube cube; in x f32[n]", 6, "duplicate attribute 'cube'"},
	{"cube=1; in x f32[n]", 1, "'cube' takes no value"},
	{"split; in x f32[n]", 1, "'split' needs a value: split=NAME[:N]"},
	{"split=; in x f32[n]", 1, "'split' needs a value: split=NAME[:N]"},
	{"split=4; in x f32[n]", 7, "expected a name after '=', but found '4'"},
	{"split=n:; in x f32[n], n i64", 9,
	 "expected how many elements parts are multiples of, but the attribute ends"},
	{"split=n:k; in x f32[n], n i64", 9, "expected how many elements parts are multiples of, but found 'k'"},
	{"split=n:0; in x f32[n], n i64", 9, "the number must be greater than 0"},
	{"split=n:32,m:4; in x f32[n], n i64", 11, "expected the end of 'split', but found ','"},
	{"split=n:2147483648; in x f32[n], n i64", 9, "at most 2147483647 elements can belong together"},
	{"split=n,m; in x f32[n], n i64", 8,
	 "expected ':' and how many elements parts are multiples of, but found ','"},
	{"split=k:32; in x f32[n]", 1, "nothing can bind extent 'k': no tensor has it"},
	{"untiled=1; in x f32[n]", 1, "'untiled' takes no value"},
	{"operations; in x f32[n]", 1, "'operations' needs a value: operations=N"},
	{"operations=2*n,n; in x f32[n]", 15, "expected the end of 'operations', but found ','"},
	{"operations=2*k; in x f32[n]", 14, "no tensor has an extent 'k'"},
	{"grid=attr(k); i i32 = block.index, in x f32[n]", 6,
	 "a grid follows from extents alone and cannot have 'attr'"},
	{"split=n operations=size(n); in x f32[n], n i64", 20,
	 "a number of operations is fixed when linking and cannot have 'size'"},
	{"split n; in x f32[n], n i64", 1, "'split' needs a value: split=NAME[:N]"},
	{"split = 4; in x f32[n]", 9, "expected a name after '=', but found '4'"},
	{"blocks=4; block, in x f32[n]", 1,
	 "'4' is not a name; 'blocks=NAME' divides an extent, and how many blocks there are says 'blocks' of the task, "
	 "or 'grid=' here"},
	{"split=n, in x f32[n]", 1, "'split' is an attribute; attributes come before the parameters and end with ';'"},
	{"split=n in x f32[n]", 1, "'split' is an attribute; attributes come before the parameters and end with ';'"},
	{"align=3; in x f32[n]", 1, "'align' cannot be '3' (there are 2 4 8 16 32 64)"},
	{"early-start=now; block, in x f32[n]", 1, "'early-start' cannot be 'now' (there are wait set both)"},
	{"mix=1:3; block, in x f32[n]", 1, "'mix' cannot be '1:3'; did you mean '1:1'?"},
	{"early-start=wiat; block, in x f32[n]", 1, "'early-start' cannot be 'wiat'; did you mean 'wait'?"},
	{"op=a,b; in x f32[n]", 1, "'a,b' is not a name"},
	{"split=n blocks; block, in x f32[n]", 9, "'split' and 'blocks' exclude each other"},
	{"split=k; in x f32[n]", 1, "nothing can bind extent 'k': no tensor has it"},
	{"blocks=k; block, in x f32[n]", 1, "nothing can bind extent 'k': no tensor has it"},
	{"split=n; in x f32[m,n], out y f32[n], n i64", 13,
	 "the split extent 'n' must be the outermost factor of 'x' and stand there only once"},
	{"split=n; in x f32[m*n], in z f32[m], out y f32[n], n i64", 13,
	 "the split extent 'n' must be the outermost factor of 'x' and stand there only once"},
	{"split=n; in x f32[n,n], out y f32[n], n i64", 13,
	 "the split extent 'n' must be the outermost factor of 'x' and stand there only once"},
	{"split=n; in x f32[n], out y f32[m], n i64", 27,
	 "'y' is written, but has no extent 'n' that split= could divide"},
	{"split=n; in x f32[n], inout y f32[4], n i64", 29,
	 "'y' is written, but has no extent 'n' that split= could divide"},
	{"split=n; in x f32[n], n i64 -> out r f32", 36,
	 "a result is returned once, but a kernel with 'split' is called many times"},
	{"split=n; in x f32[n], out y f32[n]", 1,
	 "nothing tells the function how long its range of 'n' is: 'split=n' needs a scalar parameter 'n', such as "
	 "'n i64', or an expression with size(n)"},
	{"cube split=rows; in x f32[rows,n], out y f32[rows,n], n i64", 6,
	 "nothing tells the function how long its range of 'rows' is: 'split=rows' needs a scalar parameter 'rows', "
	 "such as 'rows i64', or an expression with size(rows)"},
	{"blocks=m; block, in x f32[m], out y f32[z], m i64", 35,
	 "'y' is written, but has no extent 'm' that blocks= could divide"},
	{"blocks=m; block, in x f32[m], inout y f32[8]", 37,
	 "'y' is written, but has no extent 'm' that blocks= could divide"},
	{"blocks=m; block, in x f32[n,m], out y f32[n,m]", 37,
	 "'y' is written, so 'm' must be its outermost factor, for blocks= to divide it"},
	{"blocks; block, in x f32[n] -> out r f32", 35,
	 "a result is returned once, but a kernel with 'blocks' is called many times"},
	{"sync-all; block, in x f32[n] -> out r f32", 37,
	 "a result is returned once, but a kernel with 'sync-all' is called many times"},
	{"blocks; in x f32[n]", 1, "'blocks' needs the parameter 'block' or an expression with block.index"},
	{"mix; in x f32[n]", 1, "'mix' needs the parameter 'block'"},
	{"sync-all; in x f32[n]", 1, "'sync-all' needs the parameter 'block'"},
	{"early-start=set; in x f32[n]", 1, "'early-start' needs the parameter 'block'"},
	{"block, in x f32[n]", 1, "the parameter 'block' needs the attribute 'blocks', 'blocks=NAME' or 'grid=…'"},
	{"split=n; block, in x f32[n], n i64", 10,
	 "the parameter 'block' needs the attribute 'blocks', 'blocks=NAME' or 'grid=…'"},
	{"split=n sync-all; block, in x f32[n], n i64", 1, "'split' and 'sync-all' exclude each other"},
	{"mix split=n; block, in x f32[n], n i64", 5, "'split' and 'mix' exclude each other"},
	{"split=n early-start=both; block, in x f32[n], n i64", 1, "'split' and 'early-start' exclude each other"},
	{"mix=1:2 blocks=n; block, in x f32[n]", 9,
	 "a 'mix' kernel cannot have 'blocks=NAME', since its sides may have different numbers of blocks; write "
	 "'blocks'"},
	{"cube aiv=f; in x f32[n]", 6, "'aic' and 'aiv' name the sides of a 'mix' kernel"},
	{"mix aic; block, in x f32[n]", 5, "'aic' needs a value: aic=NAME"},
	{"in x f32[n], a i32 =", 21, "expected a value, but the signature ends"},
	{"in x f32[n], a i32 = *", 22, "expected a value, but found '*'"},
	{"in x f32[n], a i32 = n+", 24, "expected a value, but the signature ends"},
	{"in x f32[n], a i32 = (n+1", 26, "expected ')', '+', '-', '*' or '/', but the signature ends"},
	{"in x f32[n], a i32 = 4 n", 24, "expected ',' or '->', but found 'n'"},
	{"in x f32[n], a i32 = f32", 22, "expected a value (words of the grammar cannot be names), but found 'f32'"},
	{"in x f32[rows], a i32 = row", 25, "no tensor has an extent 'row'; did you mean 'rows'?"},
	{"in x f32[n], a i32 = 4n", 22, "'4n' is not a number"},
	{"in x f32[n], a i32 = 0x", 22, "'0x' is not a number"},
	{"in x f32[n], a u64 = 18446744073709551616", 22, "the number is too large"},
	{"in x f32[n], a i32 = 1.5", 22, "'1.5' cannot be i32"},
	{"in x f32[n], a i32 = -inf", 22, "'-inf' cannot be i32"},
	{"in x f32[n], a f32 = n", 22, "a value of type f32 is one number: -1.5, inf, nan"},
	{"in x f32[n], a f32 = 1/3", 22, "a value of type f32 is one number: -1.5, inf, nan"},
	{"in x f32[n], a f32 = 1e39", 22, "'1e39' is too large for f32"},
	{"in x f32[n], a f16 = -65520", 22, "'-65520' is too large for f16"},
	{"in x f32[n], a f16 = 1e-9", 22, "'1e-9' is too small for f16"},
	{"in x f32[n], a f32 = 1.5*2", 25, "'1.5' stands by itself; only whole numbers are computed with"},
	{"in x f32[n], a bool = 1", 16, "a scalar cannot be bool: say u8 for a C _Bool or char, i32 for an int"},
	{"in x f32[n], a i32 = null", 22, "a i32 cannot be 'null', which is a pointer (ptr)"},
	{"in x f32[n], a i32 = 'ab'", 22, "expected one character between quotes, but found '''"},
	{"in x f32[n], a ptr = 0", 22, "a pointer cannot be '0', but 'null', '&SYMBOL' or 'attr(NAME)'"},
	{"in x f32[n], a ptr = &", 23, "expected the name of a symbol after '&', but the signature ends"},
	{"in x f32[n], a ptr = &f+8", 24, "'&f' stands by itself; only whole numbers are computed with"},
	{"in x f32[n], a ptr", 19,
	 "expected '=' after 'ptr' ('= null', '= &SYMBOL' or '= attr(NAME)'), or '[' for a table, but the signature "
	 "ends"},
	{"in x f32[n], a i32 = begin(n)", 28,
	 "extent 'n' is not divided, so no call has a part of it; 'n' alone is all of it"},
	{"split=n; in x f32[n], a i64 = size(n)*begin(n)", 38,
	 "one side of '*' must be fixed when linking: numbers, extents, block.count"},
	{"split=n; in x f32[n], a i64 = n/size(n)", 32,
	 "the divisor after '/' must be fixed when linking: numbers, extents, block.count"},
	{"split=n; in x f32[n], a i64 = size(4)", 36, "expected an extent after 'size(', but found '4'"},
	{"split=n; in x f32[n], a i64 = sizes(n)", 31,
	 "there is no 'sizes(…)'; there are begin, end, size, sizeof, count and attr"},
	{"split=n; in x f32[n], a i64 = 4*sizeof(x), b i64 = size(n)", 40,
	 "the bytes of 'x' are divided with 'n'; say those of a part with size(n)"},
	{"in x f32[n], a i64 = sizeof(y)", 29, "no parameter or type 'y'"},
	{"in x f32[n], a i64 = sizeof(float)", 29, "no parameter or type 'float'; C's is f32 here"},
	{"split=n; in x f32[n], out y f32[n], a i64 = end(n)", 1,
	 "nothing tells the function how long its range of 'n' is: 'split=n' needs a scalar parameter 'n', such as "
	 "'n i64', or an expression with size(n)"},
	{"split=n; in x f32[n], out y f32[n], n i64 = 4*n", 1,
	 "nothing tells the function how long its range of 'n' is: 'split=n' needs a scalar parameter 'n', such as "
	 "'n i64', or an expression with size(n)"},
	{"blocks; i i32 = core.index, in x f32[n]", 17,
	 "there is no 'core.index': results must not depend on which core runs a call, or on how many there are; say "
	 "block.index"},
	{"in x f32[n], i i32 = block.index", 22,
	 "'block.index' needs the attribute 'blocks', 'blocks=NAME' or 'grid=…'"},
	{"blocks; i i32 = block.number, in x f32[n]", 23,
	 "expected 'index' or 'count' after 'block.', but found 'number'"},
	{"blocks; i i32 = block, in x f32[n]", 22, "expected '.index' or '.count' after 'block', but found ','"},
	{"blocks; i i32 = block.index.w, in x f32[n]", 29, "expected 'x', 'y' or 'z', but found 'w'"},
	{"blocks; i i32 = block.index.x, in x f32[n]", 17, "'block.index' has '.x', '.y' and '.z' only with 'grid=…'"},
	{"each; in x f32[n]", 1, "'each' needs a value: each=NAME[,NAME]"},
	{"tile=m; in x f32[m], out y f32[m], m i64", 7,
	 "expected ':' and how many elements the function computes at once, but the attribute ends"},
	{"tile=m:0; in x f32[m], out y f32[m], m i64", 8, "the number must be greater than 0"},
	{"tile=m:n; in x f32[m], out y f32[m], m i64", 8,
	 "expected how many elements the function computes at once, but found 'n'"},
	{"tile=m:2147483648; in x f32[m], out y f32[m], m i64", 8, "at most 2147483647 elements can belong together"},
	{"each=m:4; in x f32[m], out y f32[m], m i64", 7,
	 "'each' has one element at a time; a kernel that computes several says 'tile=m:N'"},
	{"each=m,; inout x f32[m,n]", 8, "expected a name after ',', but the attribute ends"},
	{"each=a,b,c; inout x f32[a,b,c]", 10, "there are at most 2 loops"},
	{"each=m tile=m:4; in x f32[m], out y f32[m], m i64", 13, "'m' has a loop already"},
	{"split=m each=m; in x f32[m,n], out y f32[m,n], m i64", 14, "'split' and 'each' exclude each other"},
	{"each=m blocks; block, in x f32[m], out y f32[m]", 8, "'each' and 'blocks' exclude each other"},
	{"each=m sync-all; block, in x f32[m], out y f32[m]", 6, "'each' and 'sync-all' exclude each other"},
	{"each=z; in x f32[m], out y f32[m]", 6, "nothing can bind extent 'z': no tensor has it"},
	{"each=m,z; in x f32[m], out y f32[m]", 8, "nothing can bind extent 'z': no tensor has it"},
	{"tile=k:4; in a f32[k,m], out y f32[m], k i64", 30,
	 "'y' is written, but has no extent 'k' that tile= could divide"},
	{"tile=m:4,k:8; in a f32[m,k], in b f32[k,n], out c f32[m,n], m i64, k i64", 49,
	 "'c' is written, but has no extent 'k' that tile= could divide"},
	{"each=n; in x f32[m,n], out y f32[n]", 12,
	 "the first loop's extent 'n' must be the outermost factor of 'x' and stand there only once"},
	{"each=m,n; in x f32[k*n], in w f32[k], out y f32[m,n]", 14,
	 "the second loop's extent 'n' must be the first factor of a dimension of 'x' and stand there only once"},
	{"tile=m:4; in x f32[m], out y f32[m]", 6,
	 "nothing tells the function how long its range of 'm' is: 'tile=m' needs a scalar parameter 'm', such as "
	 "'m i64', or an expression with size(m)"},
	{"tile=m:4,n:2; in x f32[m,n], out y f32[m,n], m i64", 10,
	 "nothing tells the function how long its range of 'n' is: 'tile=n' needs a scalar parameter 'n', such as "
	 "'n i64', or an expression with size(n)"},
	{"each=m; in x f32[m] -> out r f32", 28,
	 "a result is returned once, but a kernel with 'each' is called many times"},
	{"split=n; in x f32[n] whole, out y f32[n], n i64", 13,
	 "'x' is passed whole, and nothing tells the function where its part of 'n' begins: it needs an expression "
	 "with "
	 "begin(n)"},
	{"split=n; in x f32[n], in w f32[m] whole, out y f32[n], n i64, b i64 = begin(n)", 26,
	 "'w' is passed whole anyway"},
	{"in x f32[n] whole, out y f32[n]", 4, "'x' is passed whole anyway"},
	{"in x f32[n] at, out y f32[n]", 15,
	 "expected the bytes from the tensor's address to the one that is passed, but found ','"},
	{"in x f32[n] at - n, out y f32[n]", 18,
	 "expected the bytes from the tensor's address to the one that is passed, but found 'n'"},
	{"in x f32[n] at 0, out y f32[n]", 16, "the number must be greater than 0"},
	{"in x f32[n] at -2147483648, out y f32[n]", 17, "the address of 'x' is displaced by at most 2147483647 bytes"},
	{"align=64; in x f32[n], out y f32[n] at -96", 28,
	 "'y' must be aligned to 64 bytes, but its address is displaced by -96"},
	{"blocks=n; block, in x f32[n] whole, b i64 = begin(n)", 21, "'x' is passed whole anyway"},
	{"grid; in x f32[n]", 1, "'grid' needs a value: grid=N[,N[,N]]"},
	{"grid=n; in x f32[n]", 1, "'grid' needs the parameter 'block' or an expression with block.index"},
	{"grid=n,; block, in x f32[n]", 8, "expected a value, but the attribute ends"},
	{"cube grid=n+; block, in x f32[n]", 13, "expected a value, but the attribute ends"},
	{"grid=n,2,m,3; block, in x f32[n,m]", 11, "expected the end of the grid's three numbers, but found ','"},
	{"grid=k; in x f32[n], i i32 = block.index", 6, "no tensor has an extent 'k'"},
	{"grid=size(n); in x f32[n], i i32 = block.index", 6, "a grid is fixed when linking and cannot have 'size'"},
	{"grid=2.5; in x f32[n], i i32 = block.index", 6, "'2.5' cannot be u64"},
	{"grid=n,n; in x f32[n], i i32 = block.index.z", 32, "'block.index' has only 2 axes, as 'grid=…' says"},
	{"split=n grid=n; in x f32[n], n i32, i i32 = block.index", 9, "'split' and 'grid' exclude each other"},
	{"mix grid=n; block, in x f32[n]", 5,
	 "a 'mix' kernel cannot have 'grid', since its sides may have different numbers of blocks; write 'blocks'"},
	{"blocks; c i32 = block.count, in x f32[n]", 1,
	 "'blocks' needs the parameter 'block' or an expression with block.index"},
	{"mix; block, c i32 = block.count, in x f32[n]", 21,
	 "the sides of a 'mix' kernel may have different numbers of blocks; it gets its own with 'block'"},
	{"blocks; block, in x f32[n], block", 29, "duplicate parameter 'block'"},
	{"in x f32[n], p {a i32, block}*", 24,
	 "a field cannot be 'block'; it is a value, a tensor, a struct or a pointer to one"},
	{"in x f32[n], p {ref a i32}*", 17,
	 "a field cannot be 'ref'; it is a value, a tensor, a struct or a pointer to one"},
	{"in x f32[n], ref p ptr = &lut", 14,
	 "'&lut' is passed without 'ref'; a pointer to it is a struct: {p ptr = &lut}*"},
	{"in x f32[n], ref p {a i32}*", 14, "'ref' is for scalars; 'p' is passed by a pointer without it"},
	{"ref rows ptr[n] of in x f32[n]", 1, "'ref' is for scalars; 'rows' is passed by a pointer without it"},
	{"in x f32[n], p {a i32", 22, "expected ',' or '}', but the signature ends"},
	{"in x f32[n], p {}*", 17, "expected a parameter, but found '}'"},
	{"in x f32[n], p {a i32, in x f32[n]}*", 27, "duplicate parameter 'x'"},
	{"p {q {r {s {t {u {v {w {x {y i32}*}*}*}*}*}*}*}*}*", 27, "more than 8 structs, one in another"},
	{"p {q {r {s {t {u {v {w {x {y i32}}}}}}}}}", 27, "more than 8 structs, one in another"},
	{"in x f32[n], p {a i32[200] = 0}", 17, "more than 128 parameters"},
	{"in x f32[n], p {a i32[0]}", 23, "the number must be greater than 0"},
	{"in x f32[n], p {a i32[2, b i32}", 24, "expected ']', but found ','"},
	{"in x f32[n], p {a i32[2], a i32}", 27, "duplicate parameter 'a'"},
	{"in x f32[n], p {a i32[n]}", 17, "a parameter with extents needs in, out or inout in front"},
	{"in x f32[n], p {a i32, q {}}", 27, "expected a parameter, but found '}'"},
	{"in x f32[n], p {a i32, q {b i32}", 33, "expected ',' or '}', but the signature ends"},
	{"in x f32[n], p {a i32, in {b i32}}", 27, "expected a name after 'in', but found '{'"},
	{"in x f32[n], p {a i32, ref q {b i32}}", 24, "'ref' is for scalars; 'q' is passed by a pointer without it"},
	{"p ptr, in x f32[n]", 6,
	 "expected '=' after 'ptr' ('= null', '= &SYMBOL' or '= attr(NAME)'), or '[' for a table, but found ','"},
	{"rows ptr[n] of x f32[n]", 16,
	 "expected 'in', 'out' or 'inout', since a table leads into a tensor, but found 'x'"},
	{"rows ptr[n], in x f32[n]", 12, "expected 'of' and the tensor that the addresses lead into, but found ','"},
	{"rows ptr[m] of in x f32[n]", 10, "no tensor has an extent 'm'"},
	{"split=n; rows ptr[size(n)] of in x f32[n], n i64", 19,
	 "the table 'rows' is fixed when linking and cannot have 'size'"},
	{"frame=mlirr; in x f32[n]", 1, "'frame' cannot be 'mlirr'; did you mean 'mlir'?"},
	{"frame=gsl; in x f64[n], in y f64[n,m,k]", 25, "frame=gsl has no tensors of that many dimensions"},
	{"frame=gfortran; in x bf16[n]", 17, "frame=gfortran has no such element type"},
	{"frame=tvm-packed; in x f32[n], k i32", 32, "frame=tvm-packed has only i64 and f64 beside tensors"},
	{"frame=tvm-packed; in x f32[n], scratch k[8]", 32, "frame=tvm-packed has only tensors and scalars"},
	{"frame=xla-cpu; in x f32[n], k i64", 29, "frame=xla-cpu has only tensors"},
	{"in x f32[n] as memreff", 16, "'memreff' is not a layout; did you mean 'memref'?"},
	{"in x f32[n] as, k i64", 15,
	 "expected a layout after 'as' (memref, gfortran, gsl, halide, dltensor, cfi or flang), but found ','"},
	{"in? x f32[n] as memref", 1, "as memref has no tensors that may be absent"},
	{"in x f32[n,m,k] as gsl", 1, "as gsl has no tensors of that many dimensions"},
	{"k i64, in x f16[n] as cfi", 8, "as cfi has no such element type"},
	{"frame=mlir; in x f32[n] as memref", 13, "frame=mlir has a layout for all tensors: omit 'as'"},
	{"p {in x f32[n] as memref}*", 16, "'as' is for parameters, and not for fields of a struct"},
	{"p ptr[m] of in x f32[m,k] as memref", 13,
	 "the tensor that a table leads into is passed as addresses, without 'as'"},
	{"in x f32[n] as memref, in y f32[n], in x f32[m]", 40, "duplicate parameter 'x'"},
	{"frame=iree; in x f32[n], k i64", 26, "frame=iree has only i32, u32 and f32 beside tensors"},
	{"frame=tvm-ffi; in x f32[n], k i32", 29, "frame=tvm-ffi has only i64 and f64 beside tensors"},
	{"frame=mlir; in x f32[n], in y f32[n], in x f32[m]", 42, "duplicate parameter 'x'"},
	{"frame=mlir split=m; in x f32[n]", 12, "nothing can bind extent 'm': no tensor has it"},
	{"split=p; in x f32[m,k:p], p i64", 1, "'p' is the distance between rows, not a dimension that can be divided"},
};

/* As gcc lays it out: struct {uint8_t a; void *x; struct {int32_t c; int16_t d;} *q; uint8_t e; double f; int16_t g;}
 */
START_TEST(test_struct)
{
	const struct sk_signature *signature = sk_signature_parse(
		arena, &diag, place,
		"p {a u8, in x f32[n], q {c i32, d i16}*, e u8 = 1, f f64, g i16}*, t ptr[n] of out y f32[n]");
	static const struct {
		const char *name;
		uint32_t owner;
		uint64_t offset, bytes;
	} expected[] = {{"p", SK_NONE, 0, 48}, {"a", 0, 0, 0},	     {"x", 0, 8, 0},  {"q", 0, 16, 8},
			{"c", 3, 0, 0},	       {"d", 3, 4, 0},	     {"e", 0, 24, 0}, {"f", 0, 32, 0},
			{"g", 0, 40, 0},       {"t", SK_NONE, 0, 0}, {"y", 9, 0, 0}};

	expect_messages("");
	ck_assert_uint_eq(signature->parameter_count, 11);
	for (uint32_t i = 0; i < 11; i++) {
		const struct sk_parameter *parameter = &signature->parameters[i];

		ck_assert_str_eq(parameter->name, expected[i].name);
		ck_assert_uint_eq(parameter->owner, expected[i].owner);
		ck_assert_uint_eq(parameter->offset, expected[i].offset);
		ck_assert_uint_eq(parameter->scratch_bytes, expected[i].bytes);
	}
	ck_assert(signature->parameters[10].table_count && !signature->parameters[10].table_stride);
	ck_assert_uint_eq(sk_signature_find_parameter(signature, "e"), SK_NONE); /* no parameter sets it */
	ck_assert_uint_eq(sk_signature_find_parameter(signature, "a"), 1);
}
END_TEST

/* As gcc lays it out, and as psABI 3.2.3 classifies its parts: struct {float a; struct {double b; uint8_t c; struct
 * {int16_t d;} e;} f; void *g; struct {float h;} *i; float j[2];} */
/* An open table is as many signatures as there are numbers of operands. */
START_TEST(test_operands)
{
	const struct sk_signature *open =
		parse("split=n; in w f32[1], in x[] f32[n], out y@x f32[n], n i64, c i8 = count(x)");
	const struct sk_signature *three = sk_signature_of_operands(arena, &diag, place, open, 3);

	expect_messages("");
	ck_assert_uint_eq(open->open_table, 1);
	ck_assert_uint_eq(open->parameters[1].operands, 1);
	ck_assert_uint_eq(sk_signature_most_operands(open), SK_MAX_PARAMETERS - 5);
	ck_assert_str_eq(three->text, "split=n; in w f32[1], in x[3] f32[n], out y@x f32[n], n i64, c i8 = count(x)");
	ck_assert_ptr_eq(three->open, open);
	ck_assert_ptr_eq(three, sk_signature_of_operands(arena, &diag, place, open, 3));
	ck_assert_ptr_ne(three, sk_signature_of_operands(arena, &diag, place, open, 2));
	ck_assert_uint_eq(three->parameter_count, 8);
	ck_assert_uint_eq(three->parameters[1].kind, SK_PARAMETER_STRUCT);
	ck_assert_uint_eq(three->parameters[1].scratch_bytes, 24);
	for (uint32_t i = 2; i < 5; i++) {
		ck_assert_uint_eq(three->parameters[i].kind, SK_PARAMETER_TENSOR);
		ck_assert_uint_eq(three->parameters[i].owner, 1);
		ck_assert_uint_eq(three->parameters[i].offset, 8 * (i - 2));
		ck_assert(sk_signature_may_alias(three, 5, i));
	}
	ck_assert_str_eq(three->parameters[4].name, "x[2]");
	ck_assert(!sk_signature_may_alias(three, 5, 0));
	ck_assert_uint_eq(three->parameters[7].value->kind, SK_VALUE_NUMBER);
	ck_assert_uint_eq(three->parameters[7].value->number, 3);
	ck_assert_ptr_nonnull(sk_signature_of_operands(arena, &diag, place, open, sk_signature_most_operands(open)));
	expect_messages("");
}
END_TEST

START_TEST(test_struct_by_value)
{
	const struct sk_signature *signature =
		parse("in x f32[n], p {a f32, f {b f64, c u8, e {d i16}}, g ptr = null, i "
		      "{h f32}*, j f32[2]}, q {l f16 = 1, m f32}, r {o f32, p i8}");
	static const struct {
		const char *name;
		uint32_t owner;
		uint64_t offset, bytes, floats;
	} expected[] = {{"x", SK_NONE, 0, 0, 0}, {"p", SK_NONE, 0, 48, 0x23}, {"a", 1, 0, 0, 0},
			{"b", 1, 8, 0, 0},	 {"c", 1, 16, 0, 0},	      {"d", 1, 18, 0, 0},
			{"g", 1, 24, 0, 0},	 {"i", 1, 32, 4, 0},	      {"h", 7, 0, 0, 0},
			{"j", 1, 40, 0, 0},	 {"j", 1, 44, 0, 0},	      {"q", SK_NONE, 0, 8, 1},
			{"l", 11, 0, 0, 0},	 {"m", 11, 4, 0, 0},	      {"r", SK_NONE, 0, 8, 0},
			{"o", 14, 0, 0, 0},	 {"p", 14, 4, 0, 0}};

	ck_assert_uint_eq(signature->parameter_count, 17);
	for (uint32_t i = 0; i < 17; i++) {
		const struct sk_parameter *parameter = &signature->parameters[i];

		ck_assert_str_eq(parameter->name, expected[i].name);
		ck_assert_uint_eq(parameter->owner, expected[i].owner);
		ck_assert_uint_eq(parameter->offset, expected[i].offset);
		ck_assert_uint_eq(parameter->scratch_bytes, expected[i].bytes);
		ck_assert_uint_eq(parameter->float_parts, expected[i].floats);
		ck_assert(parameter->by_value == (i == 1 || i == 11 || i == 14));
	}
}
END_TEST

/* The frame's numbers for dimensions that are sums: the length of the call's part with its halo, and the distance of
 * rows. */
START_TEST(test_frame_of_sums)
{
	const struct sk_signature *signature = parse("frame=mlir split=n; in x f32[n+2,k*2-1], out y f32[n,k]");
	static const char *const expected[] = {"(size(n)+2)", "(k*2-1)", "(k*2-1)", "1", "size(n)", "k", "k", "1"};
	uint32_t count = 0;

	for (uint32_t i = 0; i < signature->parameter_count; i++) {
		const struct sk_parameter *parameter = &signature->parameters[i];

		if (parameter->value && strcmp(parameter->name, "allocated") && strcmp(parameter->name, "offset"))
			ck_assert_str_eq(parameter->value->text, expected[count++]);
	}
	ck_assert_uint_eq(count, sizeof(expected) / sizeof(expected[0]));
}
END_TEST

START_TEST(test_bad)
{
	char expected[512];

	ck_assert_ptr_null(sk_signature_parse(arena, &diag, place, bad[_i].text));
	snprintf(expected, sizeof(expected), "t: error: m.yaml:7:%u: signature, column %u: %s\n",
		 place.column + bad[_i].column - 1, bad[_i].column, bad[_i].message);

	expect_messages(expected);
}
END_TEST

START_TEST(test_all_errors_are_collected)
{
	ck_assert_ptr_null(
		sk_signature_parse(arena, &diag, place, "split=n cub; in x f32[m,n], out y@z f32[m], in x u8[m]"));
	ck_assert_uint_eq(diag.errors, 6);
}
END_TEST

/* If the text does not say the op clearly, it is not guessed. */
START_TEST(test_glances)
{
	static const struct {
		const char *text, *op;
	} texts[] = {
		{"op=Relu; in x f32[n]", "Relu"},
		{"split=n op=com.x:Y(k=';',l=1) isa=avx2; in x f32[n]", "com.x:Y"},
		{"op=; in x f32[n]", NULL},
		{"op=Relu", NULL},
		{"noop=Relu; in x f32[n]", NULL},
		{"op=A(a=1, op=2); in x f32[n]", NULL},
		{"split=n; in op=Relu f32[n]", NULL},
		{"op=A op=B; in x f32[n]", NULL},
		{"", NULL},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size_t length;
		const char *op = sk_signature_glance_op(texts[i].text, &length);

		ck_assert_msg(!op == !texts[i].op, "%s", texts[i].text);
		if (op)
			ck_assert_str_eq(sk_arena_copy(arena, op, length), texts[i].op);
	}
}
END_TEST

/* In an object, and in folded text, only the column within the signature is known. */
START_TEST(test_places)
{
	const struct sk_place record = {.file = "l.a(m.o)", .section = ".sk.kernels", .offset = 16};

	ck_assert_ptr_null(sk_signature_parse(arena, &diag, record, "in x f23[n]"));
	ck_assert_ptr_null(sk_signature_parse_folded(arena, &diag, place, "in x f23[n]"));
	ck_assert_ptr_null(sk_signature_parse(arena, &diag, (struct sk_place){.file = "x.o"}, "in x f23[n]"));

	expect_messages("t: error: l.a(m.o):(.sk.kernels+0x10): signature, column 6: unknown type 'f23'; did you mean "
			"'f32'?\n"
			"t: error: m.yaml:7:11: signature, column 6: unknown type 'f23'; did you mean 'f32'?\n"
			"t: error: x.o: signature, column 6: unknown type 'f23'; did you mean 'f32'?\n");
}
END_TEST

/* Every limit is an error, not a crash. */
START_TEST(test_limits)
{
	char text[4096] = "";

	for (unsigned i = 0; i < 129; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%sa%u i32", i ? ", " : "", i);
	ck_assert_ptr_null(sk_signature_parse(arena, &diag, place, text));
	snprintf(text, sizeof(text), "in x f32[n*n*n*n*n], in y f32[n]");
	ck_assert_ptr_null(sk_signature_parse(arena, &diag, place, text));
	snprintf(text, sizeof(text), "in x f32[a,b,c,d,e,f,g,h,i]");
	ck_assert_ptr_null(sk_signature_parse(arena, &diag, place, text));
	*text = 0;
	for (unsigned i = 0; i < 26; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%sin p%u f32[a%u,b%u,c%u,d%u,e%u]",
			 i ? ", " : "", i, i, i, i, i, i);
	ck_assert_ptr_null(sk_signature_parse(arena, &diag, place, text));

	strcpy(text, "in x f32[n], a i64 = ");
	for (unsigned i = 0; i < 2000; i++)
		strcat(text, "(");
	ck_assert_ptr_null(sk_signature_parse(arena, &diag, place, text));
	strcpy(text, "in x f32[n], a i64 = 1");
	for (unsigned i = 0; i < 100; i++)
		strcat(text, "+n");
	ck_assert_ptr_null(sk_signature_parse(arena, &diag, place, text));

	char *longer = calloc(1, 20001);

	memset(longer, ' ', 20000);
	ck_assert_ptr_null(sk_signature_parse(arena, &diag, place, longer));
	free(longer);

	char *messages = take_messages(&diag);

	ck_assert_ptr_nonnull(strstr(messages, "longer than 16384 characters\n"));
	ck_assert_ptr_nonnull(strstr(messages, "more than 128 parameters\n"));
	ck_assert_ptr_nonnull(strstr(messages, "a product has at most 4 names\n"));
	ck_assert_ptr_nonnull(strstr(messages, "more than 8 dimensions\n"));
	ck_assert_ptr_nonnull(strstr(messages, "signature, column 86: an expression has at most 64 parts\n"));
	ck_assert_ptr_nonnull(strstr(messages, "an expression has at most 64 parts\n"));
	ck_assert_ptr_nonnull(strstr(messages, "more than 128 extents\n"));
	free(messages);
}
END_TEST

/* Damaged signatures end in errors, or in signatures that parse again to the same text. */
START_TEST(test_mutations)
{
	static const char characters[] = "nx,;[]*@->=0123456789 \t_.:abcé()+/&'{}";
	uint32_t seed = 1;
	char text[256];

	for (unsigned round = 0; round < 4000; round++) {
		strcpy(text, good[round % (sizeof(good) / sizeof(good[0]))].text);
		for (unsigned flip = 0; flip <= round % 3; flip++) {
			seed = seed * 1664525 + 1013904223;
			text[(seed >> 8) % strlen(text)] = characters[(seed >> 20) % (sizeof(characters) - 1)];
		}
		if (round % 5 == 0)
			text[(seed >> 4) % strlen(text)] = 0;

		unsigned errors = diag.errors;
		const struct sk_signature *signature = sk_signature_parse(arena, &diag, place, text);

		ck_assert((signature == NULL) == (diag.errors > errors));
		if (signature)
			ck_assert_str_eq(parse(signature->text)->text, signature->text);
		free(take_messages(&diag));
	}
}
END_TEST

static Suite *signature_suite(void)
{
	Suite *suite = suite_create("signature");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, open_sink, close_sink);
	tcase_add_loop_test(tcase, test_good, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_test(tcase, test_attributes);
	tcase_add_test(tcase, test_fields);
	tcase_add_test(tcase, test_kinds);
	tcase_add_test(tcase, test_expressions);
	tcase_add_loop_test(tcase, test_floats, 0, sizeof(floats) / sizeof(floats[0]));
	tcase_add_test(tcase, test_struct);
	tcase_add_test(tcase, test_struct_by_value);
	tcase_add_test(tcase, test_operands);
	tcase_add_test(tcase, test_frame_of_sums);
	tcase_add_loop_test(tcase, test_bad, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tcase, test_all_errors_are_collected);
	tcase_add_test(tcase, test_glances);
	tcase_add_test(tcase, test_places);
	tcase_add_test(tcase, test_limits);
	tcase_add_test(tcase, test_mutations);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return run_suite(signature_suite());
}
