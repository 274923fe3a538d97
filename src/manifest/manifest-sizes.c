/* Sizes with bounds of a manifest's own network. Input: the texts of `dims:` and of --dim, and expressions in shapes.
 * Output: the dimensions of the model, and numbers at the sizes that the model is read for. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/document.h"
#include "base/map.h"
#include "base/sizes.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"

/* True if the text is "NAME=…" for a name of this length. */
static bool gives(const char *text, const char *name, size_t length)
{
	return !strncmp(text, name, length) && text[length] == '=';
}

/* Return the command line's text for the dimension, or else the manifest's. */
static struct sk_name text_of(const struct sk_model *model, const struct sk_name *said, size_t length)
{
	for (size_t i = model->given_sizes.count; i-- > 0;)
		if (gives(model->given_sizes.items[i], said->text, length))
			return (struct sk_name){model->given_sizes.items[i], {.file = model->manifest}};
	return *said;
}

static void add_dimension(struct sk_model *model, const struct sk_name *said)
{
	size_t length = strcspn(said->text, "=");
	const struct sk_name text = text_of(model, said, length);
	struct sk_size_dimension dimension = {.name = sk_arena_copy(model->arena, said->text, length)};
	const char *error;

	if (!sk_size_parse_bounds(model->arena, text.text + length + 1, &dimension, &error))
		sk_error(model->diag, text.place, "dimension '%s': %s", text.text, error);
	else if (!dimension.least && dimension.most)
		sk_error(model->diag, text.place, "dimension '%s': %s", text.text,
			 error = "the least size of a manifest's dimension is 1");
	if (error) /* shapes have the name, which is no further error */
		dimension.least = dimension.most = dimension.multiple = dimension.usual = 1;
	sk_sizes_add_dimension(model->sizes, &dimension);
}

/* The command line changes dimensions of the manifest; it adds none. */
static void check_given(const struct sk_model *model)
{
	const sk_dimensions *said = &model->graph.dimensions;
	const char **names = SK_NEW_ARRAY(model->arena, const char *, said->count + 1);

	for (size_t i = 0; i < said->count; i++)
		names[i] =
			sk_arena_copy(model->arena, said->items[i].size.text, strcspn(said->items[i].size.text, "="));
	for (size_t g = 0; g < model->given_sizes.count; g++) {
		const char *text = model->given_sizes.items[g];
		const char *name = sk_arena_copy(model->arena, text, strcspn(text, "="));
		bool known = false;

		for (size_t i = 0; i < said->count; i++)
			known |= !strcmp(names[i], name);
		if (!known || !strchr(text, '='))
			sk_error(model->diag, (struct sk_place){.file = model->manifest},
				 "--dim '%s': the manifest has no dimension '%s' under 'dims'%s", text, name,
				 sk_did_you_mean(model->arena, name, names, said->count));
	}
}

void sk_manifest_read_sizes(struct sk_model *model)
{
	const sk_dimensions *said = &model->graph.dimensions;
	uint64_t *largest = SK_NEW_ARRAY(model->arena, uint64_t, said->count + 1);
	size_t bounded = 0;

	check_given(model);
	if (model->sizes_at || !said->count)
		return;
	model->sizes = sk_sizes_create(model->arena);
	for (size_t i = 0; i < said->count; i++) {
		if (said->items[i].network)
			sk_error(model->diag, said->items[i].size.place,
				 "a manifest with tasks is one network; '%s' is that of a model",
				 said->items[i].network);
		else
			add_dimension(model, &said->items[i].size);
	}
	for (size_t i = 0; i < sk_sizes_count(model->sizes); i++) {
		const struct sk_size_dimension *dimension = sk_sizes_dimension(model->sizes, i);

		largest[i] = dimension->most;
		bounded += dimension->least < dimension->most;
	}
	model->sizes_at = largest;
	model->has_bounds = bounded != 0;
	if (bounded > SK_MOST_BOUNDED)
		sk_error(model->diag, said->items[0].size.place, "%zu dimensions have bounds, which are more than %d",
			 bounded, SK_MOST_BOUNDED);
}

static bool is_integer(const struct sk_node *node)
{
	size_t sign = *node->text == '-';

	return sign + strspn(node->text + sign, "0123456789") == node->length;
}

bool sk_manifest_read_size(const struct sk_document *document, const struct sk_node *node, const char *label,
			   const char *name, uint64_t most, uint64_t *size)
{
	struct sk_model *model = document->owner;
	const char *error;

	if (!model->sizes || node->kind != SK_NODE_SCALAR || is_integer(node))
		return sk_read_integer(document, node, label, name, 0, most, size);
	error = sk_manifest_parse_size(model, node->text, size);
	if (!error && *size > most)
		error = sk_arena_print(document->arena, "'%s' is %" PRIu64 ", which is more than %" PRIu64, node->text,
				       *size, most);
	if (error)
		sk_error(document->diag, sk_node_place(document, node), "%s%s%s%s: %s", label, name ? " '" : "",
			 name ? name : "", name ? "'" : "", error);
	return !error;
}

const char *sk_manifest_parse_size(struct sk_model *model, const char *text, uint64_t *number)
{
	const char *error = "it is not a number";
	const struct sk_size *size = model->sizes ? sk_size_parse(model->sizes, NULL, text, &error) : NULL;
	int64_t value = size ? sk_size_at(size, model->sizes_at) : -1;

	if (!size)
		return error;
	if (value < 0)
		return sk_arena_print(model->arena, "'%s' is %" PRId64, text, value);
	if (!sk_size_is_number(size, NULL))
		sk_array_push(model->arena, &model->size_expressions, size);
	*number = (uint64_t)value;
	return NULL;
}
