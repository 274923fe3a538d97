/* An empty model, and functions on any model: paths that it names, and texts about it for messages. */
#include "src/model/model.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "format/profile/profile.h"
#include "format/skplan.h"
#include "linker/linker.h"

static const struct sk_profile *default_device(struct sk_arena *arena)
{
	struct sk_profile *profile = SK_NEW(arena, struct sk_profile);
	char error[128];

	if (!sk_profile_load("host", profile, error, sizeof(error)))
		sk_out_of_memory(); /* the tests show that the built-in profiles are valid */
	return profile;
}

struct sk_model *sk_model_create(struct sk_arena *arena, struct sk_diag *diag)
{
	struct sk_model *model = SK_NEW(arena, struct sk_model);

	model->arena = arena;
	model->diag = diag;
	model->device = default_device(arena);
	model->manifest = model->directory = model->root = "";
	model->allowed_isa = UINT64_MAX;
	sk_map_init(&model->tensor_names, arena);
	sk_map_init(&model->declared_names, arena);
	sk_map_init(&model->kernel_names, arena);
	sk_map_init(&model->task_names, arena);
	sk_map_init(&model->scope_names, arena);
	sk_map_init(&model->idle_scopes, arena);
	sk_map_init(&model->event_names, arena);
	return model;
}

void sk_model_set_file(struct sk_model *model, const char *path)
{
	const char *slash = strrchr(path, '/');

	model->manifest = sk_arena_copy(model->arena, path, strlen(path));
	model->directory = slash ? sk_arena_copy(model->arena, path, slash == path ? 1 : (size_t)(slash - path)) : ".";
}

const char *sk_model_path(const struct sk_model *model, const char *path)
{
	if (*path == '/')
		return *model->root ? sk_arena_print(model->arena, "%s%s", model->root, path) : path;
	if (!strcmp(model->directory, "."))
		return path;
	return sk_arena_print(model->arena, "%s/%s", strcmp(model->directory, "/") ? model->directory : "", path);
}

const char *sk_shape_text(struct sk_arena *arena, uint32_t rank, const uint64_t *shape)
{
	char text[SK_SHAPE_SIZE];

	return sk_arena_print(arena, "%s", sk_print_shape(rank, shape, text, sizeof(text)));
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

sk_symbol sk_kernel_root(const struct sk_model *model, const struct sk_kernel *kernel, uint32_t number)
{
	bool sides = kernel->vector_code != SK_NONE;

	if (number <= sides)
		return number ? kernel->vector_code : kernel->code;
	number -= 1 + sides;
	return number < kernel->signature->symbol_count ? model->symbols.items[kernel->symbols[number]].symbol
							: SK_NONE;
}
