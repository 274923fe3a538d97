/* Constants of types that only files have: integers of 2 and 4 bits, and floats of 4 and 8 bits. Elements of less than
 * 8 bits are packed in bytes, the first one in the lowest bits (onnx.proto, TensorProto.DataType). */
#include <math.h>

#include "base/arena.h"
#include "format/skplan.h"
#include "graph/graph.h"

/* A type: its number in files, its bits, and the type of its numbers here. Floats have a sign, unless they are powers
 * of two alone, `mantissa` bits, and exponents from 1 - bias on. */
struct narrow {
	const char *name;
	uint8_t element, bits;
	enum sk_dtype dtype;
	int8_t mantissa, bias;
};

enum { E4M3FN = 17, E4M3FNUZ, E5M2, E5M2FNUZ, UINT4, INT4, E2M1, E8M0, UINT2, INT2 };

static const struct narrow types[] = {
	{"float8e4m3fn", E4M3FN, 8, SK_F32, 3, 7}, {"float8e4m3fnuz", E4M3FNUZ, 8, SK_F32, 3, 8},
	{"float8e5m2", E5M2, 8, SK_F32, 2, 15},	   {"float8e5m2fnuz", E5M2FNUZ, 8, SK_F32, 2, 16},
	{"uint4", UINT4, 4, SK_U8, 0, 0},	   {"int4", INT4, 4, SK_I8, 0, 0},
	{"float4e2m1", E2M1, 4, SK_F32, 1, 1},	   {"float8e8m0", E8M0, 8, SK_F32, 0, 127},
	{"uint2", UINT2, 2, SK_U8, 0, 0},	   {"int2", INT2, 2, SK_I8, 0, 0},
};

static const struct narrow *find(int64_t element)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].element == element)
			return &types[i];
	return NULL;
}

bool sk_narrow_take(int64_t element, struct sk_value *value)
{
	const struct narrow *type = find(element);

	value->element = type ? type->element : 0;
	if (type)
		value->dtype = type->dtype;
	return type;
}

const char *sk_narrow_name(const struct sk_value *value)
{
	return find(value->element)->name;
}

unsigned sk_narrow_bits(const struct sk_value *value)
{
	return value->element ? find(value->element)->bits : 0;
}

uint64_t sk_narrow_bytes(const struct sk_value *value, uint64_t elements)
{
	uint64_t each = 8 / sk_narrow_bits(value);

	return elements / each + (elements % each != 0);
}

unsigned sk_narrow_code(const void *packed, unsigned bits, uint64_t index)
{
	unsigned each = 8 / bits;

	return ((const uint8_t *)packed)[index / each] >> (index % each * bits) & ((1U << bits) - 1);
}

/* True for the codes that are no number: all ones in the formats "fn" and E8M0, the sign alone in those with "uz", and
 * in E5M2 the greatest exponent with a fraction. */
static bool is_nan(const struct narrow *type, unsigned code)
{
	switch (type->element) {
	case E4M3FN:
		return (code & 0x7f) == 0x7f;
	case E4M3FNUZ:
	case E5M2FNUZ:
		return code == 0x80;
	case E5M2:
		return (code & 0x7f) > 0x7c;
	default:
		return type->element == E8M0 && code == 0xff;
	}
}

static float real_of(const struct narrow *type, unsigned code)
{
	unsigned sign = type->element == E8M0 ? 0 : 1U << (type->bits - 1);
	int magnitude = (int)(code & ~sign), exponent = magnitude >> type->mantissa;
	int fraction = magnitude & ((1 << type->mantissa) - 1);
	float real;

	if (is_nan(type, code))
		return NAN;
	if (type->element == E5M2 && magnitude == 0x7c)
		real = INFINITY;
	else if (type->element == E8M0)
		real = ldexpf(1, exponent - type->bias);
	else if (exponent)
		real = ldexpf((float)(fraction + (1 << type->mantissa)), exponent - type->bias - type->mantissa);
	else
		real = ldexpf((float)fraction, 1 - type->bias - type->mantissa);
	return code & sign ? -real : real;
}

void sk_narrow_widen(struct sk_arena *arena, struct sk_value *value)
{
	const struct narrow *type = find(value->element);
	uint64_t elements = sk_value_elements(value);
	unsigned sign = value->dtype == SK_I8 ? 1U << (type->bits - 1) : 0, codes = 1U << type->bits;
	uint8_t *bytes = sk_arena_alloc(arena, elements + 1, sk_dtype_size(value->dtype));
	float reals[256] = {0}, *to = (float *)(void *)bytes;

	for (unsigned code = 0; type->dtype == SK_F32 && code < codes; code++)
		reals[code] = real_of(type, code);
	for (uint64_t i = 0; i < elements; i++) {
		unsigned code = sk_narrow_code(value->contents, type->bits, i);

		if (type->dtype == SK_F32)
			to[i] = reals[code];
		else
			bytes[i] = (uint8_t)((code ^ sign) - sign);
	}
	value->contents = bytes;
	value->packed = false;
}
