/* Operators of ai.onnx.ml that look elements up, arrange them, or name them; and Lookup, an operator of the domain
 * "sklink" with a kernel of its own. Tables are sorted while linking. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

/* ---- Lookup ---- */

static enum sk_dtype bits_of(enum sk_dtype dtype)
{
	static const enum sk_dtype unsigneds[] = {[1] = SK_U8, [2] = SK_U16, [4] = SK_U32, [8] = SK_U64};

	return unsigneds[sk_dtype_size(dtype)];
}

/* Keys are bits of elements of x, in order; a value follows for each, and one for all other elements. */
static bool infer_lookup(struct sk_inference *inference)
{
	const struct sk_value x = *sk_infer_input(inference, 0), *keys = sk_infer_input(inference, 1),
			      *values = sk_infer_input(inference, 2);

	if (sk_dtype_size(x.dtype) < 2 || keys->dtype != bits_of(x.dtype) || sk_dtype_size(values->dtype) < 2)
		return sk_infer_error(inference, "'%s' is %s, and '%s' %s", x.name, sk_dtype_name(x.dtype), keys->name,
				      sk_dtype_name(keys->dtype));
	if (keys->rank != 1 || values->rank != 1 || values->shape[0] != keys->shape[0] + 1)
		return sk_infer_error(inference, "'%s' and '%s' are not lists, the second one by one longer",
				      keys->name, values->name);
	return sk_infer_output(inference, 0, values->dtype, x.rank, x.shape);
}

static bool canonical_lookup(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	bool by_value = sk_node_integer(&graph->nodes.items[canonical->node], "by_value", 0);
	struct sk_operand x = sk_operand_flat(graph, sk_canonical_input(canonical, 0));
	struct sk_graph_call *call;

	if (!sk_operand_elements(&x))
		return true;
	call = sk_canonical_call(canonical, "Lookup");
	sk_call_input(canonical, call, by_value ? x : sk_operand_moved(x));
	for (size_t i = 1; i < 3; i++)
		sk_call_input(canonical, call,
			      sk_operand_moved(sk_operand_flat(graph, sk_canonical_input(canonical, i))));
	sk_call_output(canonical, call, sk_operand_moved(sk_operand_flat(graph, sk_canonical_output(canonical, 0))));
	return true;
}

/* ---- tables ---- */

/* A list of elements, of an attribute. */
struct list {
	const char *name; /* of the attribute; NULL: there is none */
	enum sk_dtype dtype;
	size_t count;
	const void *elements;
};

struct entry {
	uint64_t key;
	size_t number; /* its place in the list */
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *one = a, *other = b;

	if (one->key != other->key)
		return one->key < other->key ? -1 : 1;
	return one->number < other->number ? -1 : one->number > other->number;
}

/* Return the bits of an element. By value, all NaNs are alike, and -0 is 0. */
static uint64_t key_of(const struct list *keys, size_t number, bool by_value)
{
	uint32_t size = sk_dtype_size(keys->dtype);
	uint64_t bits = 0;

	memcpy(&bits, (const char *)keys->elements + number * size, size);
	if (by_value && keys->dtype == SK_F32)
		bits = (bits & INT32_MAX) > 0x7f800000 ? 0x7fc00000 : bits & INT32_MAX ? bits : 0;
	if (by_value && keys->dtype == SK_F64)
		bits = (bits & INT64_MAX) > 0x7ff0000000000000 ? 0x7ff8000000000000 : bits & INT64_MAX ? bits : 0;
	return bits;
}

static struct entry *sort_keys(struct sk_arena *arena, const struct list *keys, bool by_value)
{
	struct entry *entries = SK_NEW_ARRAY(arena, struct entry, keys->count);

	for (size_t i = 0; i < keys->count; i++)
		entries[i] = (struct entry){key_of(keys, i, by_value), i};
	qsort(entries, keys->count, sizeof(*entries), compare_entries);
	return entries;
}

/* Return the value of each element of x by a table of sorted, different keys. `values` has one more than there are
 * keys, for other elements. */
static uint32_t look_up(const struct sk_expansion *expansion, uint32_t x, bool by_value, enum sk_dtype dtype,
			const struct entry *entries, size_t count, enum sk_dtype value_dtype, const void *values)
{
	struct sk_op_graph *graph = expansion->graph;
	uint32_t size = sk_dtype_size(dtype), output = sk_expansion_value(expansion), operands[2];
	char *keys = SK_NEW_ARRAY(graph->arena, char, count *size);
	struct sk_graph_node *node;

	for (size_t i = 0; i < count; i++)
		memcpy(keys + i * size, &entries[i].key, size);
	operands[0] = sk_graph_new_constant(graph, "keys", bits_of(dtype), 1, &(uint64_t){count}, keys);
	operands[1] = sk_graph_new_constant(graph, "values", value_dtype, 1, &(uint64_t){count + 1}, values);
	node = sk_expansion_node(expansion, "Lookup", x, output);
	node->domain = SK_OWN_DOMAIN;
	node->version = 1;
	sk_array_push(graph->arena, &node->inputs, operands[0]);
	sk_array_push(graph->arena, &node->inputs, operands[1]);
	if (by_value)
		sk_node_set_integer(graph, node, "by_value", 1);
	return output;
}

/* ---- LabelEncoder, CategoryMapper ---- */

static const struct sk_value *find_tensor(const struct sk_expansion *expansion, const char *name)
{
	for (size_t i = 0; i < expansion->node->tensors.count; i++)
		if (!strcmp(expansion->node->tensors.items[i].name, name))
			return &expansion->graph->values.items[expansion->node->tensors.items[i].value];
	return NULL;
}

/* Read the one list of an encoder that is given: NAME_floats, NAME_int64s or NAME_tensor. False after an error: there
 * is none, there are two, or it has texts. */
static bool read_list(const struct sk_expansion *expansion, const char *name, struct list *list)
{
	struct sk_arena *arena = expansion->graph->arena;
	const char *floats = sk_arena_print(arena, "%s_floats", name),
		   *texts = sk_arena_print(arena, "%s_strings", name);
	const char *integers = sk_arena_print(arena, "%s_int64s", name);
	const char *tensor = sk_arena_print(arena, "%s_tensor", name);
	const struct sk_value *value = find_tensor(expansion, tensor);
	size_t counts[2];
	const double *reals = sk_classical_list(expansion, floats, &counts[0]);
	const int64_t *numbers = sk_node_integers(expansion->node, integers, &counts[1]);
	const struct sk_attribute *strings = sk_node_attribute(expansion->node, texts);

	if (strings && strings->count)
		return sk_expansion_refuse(expansion,
					   "'%s' are texts, which sklink does not have; map them in the program that "
					   "calls the network",
					   texts);
	if ((counts[0] != 0) + (counts[1] != 0) + (value != NULL) != 1)
		return sk_expansion_refuse(expansion, "it needs one of '%s', '%s' and '%s'", floats, integers, tensor);
	if (counts[0])
		*list = (struct list){floats, SK_F32, counts[0], sk_elements_of_reals(arena, SK_F32, counts[0], reals)};
	else if (counts[1])
		*list = (struct list){integers, SK_I64, counts[1], numbers};
	else
		*list = (struct list){tensor, value->dtype, sk_value_elements(value), value->contents};
	return list->dtype == SK_F32 || list->dtype == SK_F64 || list->dtype == SK_I16 || list->dtype == SK_I32 ||
	       list->dtype == SK_I64 ||
	       sk_expansion_refuse(expansion, "'%s' is %s, and must be f32, f64, i16, i32 or i64", list->name,
				   sk_dtype_name(list->dtype));
}

/* Write the value of elements without a key. */
static bool read_default(const struct sk_expansion *expansion, const struct list *values, void *element)
{
	const struct sk_value *tensor = find_tensor(expansion, "default_tensor");
	double real = sk_node_real(expansion->node, "default_float", -0.0);
	int64_t integer = sk_node_integer(expansion->node, "default_int64", -1);
	float single = (float)real;

	if (tensor && (tensor->dtype != values->dtype || sk_value_elements(tensor) != 1))
		return sk_expansion_refuse(expansion, "'default_tensor' is not one %s, as '%s' are",
					   sk_dtype_name(values->dtype), values->name);
	if (tensor)
		memcpy(element, tensor->contents, sk_dtype_size(values->dtype));
	else if (values->dtype == SK_F32)
		memcpy(element, &single, sizeof(single));
	else if (values->dtype == SK_F64)
		memcpy(element, &real, sizeof(real));
	else /* little-endian; the default is -1 where the type is not i64 */
		memcpy(element, values->dtype == SK_I64 ? &integer : (int64_t[]){-1}, sk_dtype_size(values->dtype));
	return true;
}

/* Bring the values into the order of the entries, and merge entries of one key: the last one counts since operator set
 * 4, and before they must agree. */
static bool merge(const struct sk_expansion *expansion, const struct list *values, struct entry *entries, size_t *count,
		  char *to)
{
	uint32_t size = sk_dtype_size(values->dtype);
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++) {
		const char *value = (const char *)values->elements + entries[i].number * size;

		if (kept && entries[kept - 1].key == entries[i].key) {
			kept--;
			if (expansion->node->version < 4 && memcmp(to + kept * size, value, size) != 0)
				return sk_expansion_refuse(expansion,
							   "the keys %zu and %zu are the same, and have "
							   "different values",
							   entries[kept].number, entries[i].number);
		}
		memcpy(to + kept * size, value, size);
		entries[kept++] = entries[i];
	}
	*count = kept;
	return read_default(expansion, values, to + kept * size);
}

static bool expand_label_encoder(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	const struct sk_value *x = sk_node_input(graph, node, 0);
	bool by_value = node->version >= 4;
	struct list keys, values;
	struct entry *entries;
	char *sorted;
	size_t count;

	if (!read_list(&expansion, "keys", &keys) || !read_list(&expansion, "values", &values))
		return false;
	if (keys.count != values.count)
		return sk_expansion_refuse(&expansion, "'%s' has %zu element%s, and '%s' has %zu", keys.name,
					   keys.count, sk_plural(keys.count), values.name, values.count);
	if (x->dtype != keys.dtype)
		return sk_expansion_refuse(&expansion, "'%s' is %s, and '%s' are %s", x->name, sk_dtype_name(x->dtype),
					   keys.name, sk_dtype_name(keys.dtype));
	count = keys.count;
	sorted = SK_NEW_ARRAY(graph->arena, char, (count + 1) * sk_dtype_size(values.dtype));
	by_value &= keys.dtype == SK_F32 || keys.dtype == SK_F64;
	entries = sort_keys(graph->arena, &keys, by_value);
	if (!merge(&expansion, &values, entries, &count, sorted))
		return false;
	sk_expansion_node(
		&expansion, "Identity",
		look_up(&expansion, node->inputs.items[0], by_value, keys.dtype, entries, count, values.dtype, sorted),
		node->outputs.items[0]);
	return true;
}

/* One side of its map is texts. */
static bool expand_category_mapper(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};

	return sk_expansion_refuse(&expansion, "it maps texts, which sklink does not have; map them in the program "
					       "that calls the network");
}

/* ---- OneHotEncoder ---- */

/* Fail, when the network runs, at places that are not below `count`. */
static uint32_t check_places(const struct sk_expansion *expansion, uint32_t places, size_t count)
{
	int64_t *numbers = SK_NEW_ARRAY(expansion->graph->arena, int64_t, count);

	for (size_t i = 0; i < count; i++)
		numbers[i] = (int64_t)i;
	return sk_expansion_binary(expansion, "Gather",
				   sk_graph_new_integers(expansion->graph, "categories", count, numbers), places);
}

static bool expand_one_hot(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	const struct sk_attribute *texts = sk_node_attribute(node, "cats_strings");
	struct list cats = {"cats_int64s", SK_I64, 0, NULL};
	struct sk_classical_input x;
	struct sk_graph_node *hot;
	struct entry *entries;
	int64_t *numbers;
	uint32_t places, operands[2];

	cats.elements = sk_node_integers(node, cats.name, &cats.count);
	if (texts && texts->count)
		return sk_expansion_refuse(&expansion, "'cats_strings' are texts, which sklink does not have; map them "
						       "to numbers in the program that calls the network");
	if (!cats.count)
		return sk_expansion_refuse(&expansion, "it has no 'cats_int64s'");
	if (!sk_classical_input(&expansion, 0, &x))
		return false;
	entries = sort_keys(graph->arena, &cats, false);
	numbers = SK_NEW_ARRAY(graph->arena, int64_t, cats.count + 1);
	for (size_t i = 0; i < cats.count; i++) {
		numbers[i] = (int64_t)entries[i].number;
		if (i && entries[i].key == entries[i - 1].key)
			return sk_expansion_refuse(&expansion, "'cats_int64s' has %" PRIi64 " twice",
						   (int64_t)entries[i].key);
	}
	numbers[cats.count] = (int64_t)cats.count;
	places = x.dtype == SK_I64 ? x.value : sk_classical_cast(&expansion, x.value, SK_I64);
	places = look_up(&expansion, places, false, SK_I64, entries, cats.count, SK_I64, numbers);
	if (x.dtype == SK_F32 || x.dtype == SK_F64) /* a NaN is not a category, whatever integer it becomes */
		places = sk_classical_choose(&expansion, sk_classical_unary(&expansion, "IsNaN", x.value),
					     sk_graph_new_integers(graph, "none", 1, (int64_t[]){(int64_t)cats.count}),
					     places);
	if (!sk_node_integer(node, "zeros", 1))
		places = check_places(&expansion, places, cats.count);
	operands[0] = sk_graph_new_integers(graph, "depth", 1, (int64_t[]){(int64_t)cats.count});
	operands[1] = sk_classical_reals(&expansion, SK_F32, 1, (uint64_t[]){2}, (double[]){0, 1});
	hot = sk_expansion_node(&expansion, "OneHot", places, node->outputs.items[0]);
	sk_array_push(graph->arena, &hot->inputs, operands[0]);
	sk_array_push(graph->arena, &hot->inputs, operands[1]);
	return true;
}

/* ---- ArrayFeatureExtractor ---- */

/* Return the places of features as a list; false after an error: a constant one is none of them. */
static bool read_features(const struct sk_expansion *expansion, const struct sk_classical_input *x, uint32_t *features)
{
	struct sk_op_graph *graph = expansion->graph;
	const struct sk_value *places = sk_node_input(graph, expansion->node, 1);
	const int64_t *integers;
	uint64_t count;

	if (places->dtype != SK_I64)
		return sk_expansion_refuse(expansion, "'%s' is %s, and must be i64", places->name,
					   sk_dtype_name(places->dtype));
	*features = expansion->node->inputs.items[1];
	if (!places->contents) {
		if (places->rank != 1)
			*features = sk_expansion_binary(expansion, "Reshape", *features,
							sk_graph_new_integers(graph, "flat", 1, (int64_t[]){-1}));
		return true;
	}
	sk_value_integers(graph->arena, places, &count, &integers);
	for (uint64_t i = 0; i < count; i++)
		if (integers[i] < 0 || (uint64_t)integers[i] >= x->width)
			return sk_expansion_refuse(expansion,
						   "there is no feature %" PRIi64 " of the %" PRIu64 " of '%s'",
						   integers[i], x->width, x->name);
	*features = sk_graph_new_integers(graph, places->name, count, integers);
	return true;
}

static bool expand_extractor(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	uint32_t features = SK_NONE, to = node->outputs.items[0];
	struct sk_classical_input x;
	struct sk_graph_node *gather;

	if (!sk_classical_input(&expansion, 0, &x) || !read_features(&expansion, &x, &features))
		return false;
	gather = sk_expansion_node(&expansion, "Gather", x.value, x.rank == 1 ? sk_expansion_value(&expansion) : to);
	sk_array_push(graph->arena, &gather->inputs, features);
	sk_node_set_integer(graph, gather, "axis", -1);
	if (x.rank > 1)
		return true;

	uint32_t list = gather->outputs.items[0], first = sk_graph_new_integers(graph, "first", 1, (int64_t[]){0});
	struct sk_graph_node *row = sk_expansion_node(&expansion, "Unsqueeze", list, to);

	sk_array_push(graph->arena, &row->inputs, first);
	return true;
}

/* ---- FeatureVectorizer ---- */

static bool expand_vectorizer(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	sk_graph_sequence tensors = {NULL, 0, 0};
	size_t count;
	const int64_t *widths = sk_node_integers(node, "inputdimensions", &count);

	if (count && count != node->inputs.count)
		return sk_expansion_refuse(&expansion, "'inputdimensions' has %zu number%s, and it has %zu input%s",
					   count, sk_plural(count), node->inputs.count, sk_plural(node->inputs.count));
	for (size_t i = 0; i < node->inputs.count; i++) {
		struct sk_classical_input x;
		uint32_t axes;

		if (!sk_classical_input(&expansion, i, &x))
			return false;
		if (x.rank > 2 || (count && widths[i] != (int64_t)x.width))
			return sk_expansion_refuse(&expansion, "'%s' is %s, and must be [N, %" PRIi64 "]", x.name,
						   sk_value_shape_text(graph->arena, sk_node_input(graph, node, i)),
						   count ? widths[i] : (int64_t)x.width);
		sk_classical_floats(&expansion, &x);
		if (x.dtype == SK_F64)
			x.value = sk_classical_cast(&expansion, x.value, SK_F32);
		if (x.rank == 1) {
			axes = sk_graph_new_integers(graph, "first", 1, (int64_t[]){0});
			x.value = sk_expansion_binary(&expansion, "Unsqueeze", x.value, axes);
		}
		sk_array_push(graph->arena, &tensors, x.value);
	}
	sk_expansion_concat(&expansion, &tensors, 1, false, node->outputs.items[0]);
	return true;
}

/* ---- ZipMap ---- */

/* The map is dropped: its numbers are the output, a column for each key. */
static bool expand_zip_map(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	const struct sk_attribute *texts = sk_node_attribute(node, "classlabels_strings");
	const char *output = sk_node_output(graph, node, 0)->name;
	struct sk_classical_input x;
	size_t count;

	sk_node_integers(node, "classlabels_int64s", &count);
	if (!count == !(texts && texts->count))
		return sk_expansion_refuse(&expansion,
					   "it needs one of 'classlabels_int64s' and 'classlabels_strings'");
	count = count ? count : texts->count;
	if (!sk_classical_input(&expansion, 0, &x))
		return false;
	if (x.rank > 2 || x.width != count)
		return sk_expansion_refuse(&expansion, "'%s' is %s, and there %s %zu label%s", x.name,
					   sk_value_shape_text(graph->arena, sk_node_input(graph, node, 0)),
					   count == 1 ? "is" : "are", count, sk_plural(count));
	sk_warning_alike(graph->diag, node->place, "ZipMap",
			 sk_arena_print(graph->arena, "node '%s' (ZipMap)", sk_node_name(graph, node)),
			 "'%s' would be a list of maps; it is the tensor '%s' that they are made from, with a column "
			 "for each label, in their order",
			 output, x.name);
	sk_expansion_node(&expansion, "Identity", x.value, node->outputs.items[0]);
	return true;
}

/* ---- the table ---- */

#define LIST(NAME, KIND)                                                                                               \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_##KIND                                                                              \
	}

static const struct sk_schema_attribute encoder[] = {{"default_float", SK_ATTRIBUTE_REAL, .real = -0.0},
						     {"default_int64", SK_ATTRIBUTE_INTEGER, .integer = -1},
						     {"default_string", SK_ATTRIBUTE_STRING, .string = "_Unused"},
						     LIST("classes_strings", STRINGS),
						     LIST("keys_floats", REALS),
						     LIST("keys_int64s", INTEGERS),
						     LIST("keys_strings", STRINGS),
						     LIST("values_floats", REALS),
						     LIST("values_int64s", INTEGERS),
						     LIST("values_strings", STRINGS),
						     {NULL}};
static const struct sk_schema_attribute mapper[] = {{"default_int64", SK_ATTRIBUTE_INTEGER, .integer = -1},
						    {"default_string", SK_ATTRIBUTE_STRING, .string = "_Unused"},
						    LIST("cats_int64s", INTEGERS),
						    LIST("cats_strings", STRINGS),
						    {NULL}};
static const struct sk_schema_attribute one_hot[] = {LIST("cats_int64s", INTEGERS),
						     LIST("cats_strings", STRINGS),
						     {"zeros", SK_ATTRIBUTE_INTEGER, .integer = 1},
						     {NULL}};
static const struct sk_schema_attribute vectorizer[] = {LIST("inputdimensions", INTEGERS), {NULL}};
static const struct sk_schema_attribute zip_map[] = {
	LIST("classlabels_int64s", INTEGERS), LIST("classlabels_strings", STRINGS), {NULL}};
static const struct sk_schema_attribute lookup[] = {{"by_value", SK_ATTRIBUTE_INTEGER}, {NULL}};

const struct sk_schema sk_operators_classical_tables[] = {
	{"ArrayFeatureExtractor", SK_CLASSICAL_DOMAIN, 2, 2, 1, 1, .expand = expand_extractor},
	{"CategoryMapper", SK_CLASSICAL_DOMAIN, 1, 1, 1, 1, .attributes = mapper, .expand = expand_category_mapper},
	{"FeatureVectorizer", SK_CLASSICAL_DOMAIN, 1, SK_VARIADIC, 1, 1, .attributes = vectorizer,
	 .expand = expand_vectorizer},
	{"LabelEncoder", SK_CLASSICAL_DOMAIN, 1, 1, 1, 1, .attributes = encoder, .expand = expand_label_encoder},
	{"Lookup", SK_OWN_DOMAIN, 3, 3, 1, 1, .attributes = lookup, .infer = infer_lookup,
	 .canonical = canonical_lookup},
	{"OneHotEncoder", SK_CLASSICAL_DOMAIN, 1, 1, 1, 1, .attributes = one_hot, .expand = expand_one_hot},
	{"ZipMap", SK_CLASSICAL_DOMAIN, 1, 1, 1, 1, .attributes = zip_map, .expand = expand_zip_map},
	{NULL},
};
