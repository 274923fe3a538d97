/* What all files of the manifest's reader share: scopes by name, paths beside the manifest, texts for messages. */
#include <inttypes.h>
#include <string.h>

#include "src/manifest/manifest-parts.h"
#include "src/manifest/manifest.h"

uint32_t sk_manifest_scope(struct sk_model *model, struct sk_name name)
{
	uint32_t new = (uint32_t)model->scopes.count;
	uint32_t scope = sk_map_insert(&model->scope_names, name.text, strlen(name.text), new);

	if (scope == new)
		sk_array_push(model->arena, &model->scopes, (struct sk_scope){.name = name.text, .place = name.place});
	return scope;
}

const char *sk_manifest_path(const struct sk_model *model, const char *path)
{
	if (*path == '/')
		return *model->root ? sk_arena_print(model->arena, "%s%s", model->root, path) : path;
	if (!strcmp(model->directory, "."))
		return path;
	return sk_arena_print(model->arena, "%s/%s", strcmp(model->directory, "/") ? model->directory : "", path);
}

const char *sk_shape_text(struct sk_arena *arena, uint32_t rank, const uint64_t *shape)
{
	char text[SK_MAX_RANK * 24 + 3] = "[";
	size_t length = 1;

	for (uint32_t i = 0; i < rank; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%" PRIu64, i ? ", " : "", shape[i]);
	return sk_arena_print(arena, "%s]", text);
}

const char *sk_suggest_name(const struct sk_model *model, const char *name, const char *const *first, size_t count,
			    size_t stride)
{
	if (count > SK_MAX_CANDIDATES)
		count = SK_MAX_CANDIDATES;
	if (!count || model->diag->errors > SK_MAX_SUGGESTIONS)
		return "";

	const char **names = SK_NEW_ARRAY(model->arena, const char *, count);

	for (size_t i = 0; i < count; i++)
		names[i] = *(const char *const *)((const char *)first + i * stride);
	return sk_did_you_mean(model->arena, name, names, count);
}
