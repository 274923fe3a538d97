/* Nodes of dumps, and GE's types; see onnx-parts.h. */
#include "graph/onnx/onnx-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "graph/onnx/onnx.h"

const sk_onnx_imports *sk_ge_imports(struct sk_arena *arena, const char *domain, int64_t version)
{
	sk_onnx_imports *imports = SK_NEW(arena, sk_onnx_imports);

	sk_array_push(arena, imports, (struct sk_onnx_import){.domain = domain, .version = version});
	return imports;
}

struct sk_onnx_attribute *sk_ge_attribute(const struct sk_onnx_node *node, const char *name)
{
	for (size_t i = 0; i < node->attributes.count; i++)
		if (node->attributes.items[i].name && !strcmp(node->attributes.items[i].name, name))
			return &node->attributes.items[i];
	return NULL;
}

void sk_ge_report(const struct sk_ge_translation *translation, const struct sk_onnx_node *node, const char *text)
{
	sk_error(translation->diag,
		 (struct sk_place){
			 .file = translation->path, .line = node->message.line, .column = node->message.column},
		 "%s: %s", sk_onnx_node_label(translation->arena, node), text);
}

/* GE's types, with its numbers and those of onnx.proto. */
static const struct {
	const char *name;
	int64_t number, element;
} types[] = {
	{"DT_FLOAT", 0, 1},
	{"DT_FLOAT16", 1, 10},
	{"DT_INT8", 2, 3},
	{"DT_INT32", 3, 6},
	{"DT_UINT8", 4, 2},
	{"DT_INT16", 6, 5},
	{"DT_UINT16", 7, 4},
	{"DT_UINT32", 8, 12},
	{"DT_INT64", 9, 7},
	{"DT_UINT64", 10, 13},
	{"DT_DOUBLE", 11, 11},
	{"DT_BOOL", 12, 9},
	{"DT_BF16", 27, 16},
	/* Types that sklink does not have, so that errors name them. */
	{"DT_STRING", 13, 8},
	{"DT_COMPLEX64", 16, 14},
	{"DT_COMPLEX128", 17, 15},
	{"DT_INT4", 29, 22},
	{"DT_INT2", 31, 26},
	{"DT_UINT2", 32, 25},
	{"DT_FLOAT8_E5M2", 35, 19},
	{"DT_FLOAT8_E4M3FN", 36, 17},
	{"DT_FLOAT8_E8M0", 37, 24},
	{"DT_FLOAT4_E2M1", 40, 23},
};

int64_t sk_onnx_ge_element(struct sk_onnx_bytes name)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (name.size == strlen(types[i].name) && !memcmp(name.bytes, types[i].name, name.size))
			return types[i].element;
	return 0;
}

const char *sk_onnx_ge_type_name(int64_t element)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].element == element)
			return types[i].name;
	return "DT_UNDEFINED";
}

int64_t sk_ge_element_of_number(int64_t number)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].number == number)
			return types[i].element;
	return 0;
}
