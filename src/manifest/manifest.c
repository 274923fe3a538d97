/* The manifest's top level: device, kernels, libraries, scopes; tensors and tasks have files of their own. Input: a
 * file. Output: the model's first part (see manifest.h). The sections are read in a fixed order, whatever their order
 * in the file: named objects are read before the sections that name them. */
#include "src/manifest/manifest.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/document.h"
#include "base/map.h"
#include "base/text.h"
#include "format/profile/profile.h"
#include "format/signature/signature.h"
#include "src/model/model.h"

/* ---- kernels ---- */

/* The kernel being read, and the texts of signatures so far; many kernels share one signature. */
struct kernel_draft {
	struct sk_declared_kernel kernel;
	struct sk_map *signatures; /* maps to the first kernel of each */
};

static void read_symbol(const struct sk_document *document, void *target, const struct sk_node *value)
{
	sk_read_name(document, value, "the symbol of a kernel", NULL, &((struct kernel_draft *)target)->kernel.symbol);
}

static void read_object(const struct sk_document *document, void *target, const struct sk_node *value)
{
	sk_read_text(document, value, "the object of a kernel", NULL, &((struct kernel_draft *)target)->kernel.object);
}

static const struct sk_signature *parse_signature(const struct sk_document *document, const struct sk_node *node)
{
	struct sk_place place = sk_node_place(document, node);

	if (!node->in_line)
		return sk_signature_parse_folded(document->arena, document->diag, place, node->text);
	place.column += !node->plain;
	return sk_signature_parse(document->arena, document->diag, place, node->text);
}

static void read_signature(const struct sk_document *document, void *target, const struct sk_node *value)
{
	const struct sk_model *model = document->owner;
	struct kernel_draft *draft = target;

	if (!sk_expect_text(document, value, "a signature", NULL))
		return;

	uint32_t same = sk_map_find(draft->signatures, value->text, value->length);

	if (same != SK_NONE) {
		draft->kernel.parsed = model->declared.items[same].parsed;
		return;
	}
	draft->kernel.parsed = parse_signature(document, value);
	if (draft->kernel.parsed) /* otherwise the next kernel with this text reports the same errors */
		sk_map_insert(draft->signatures, value->text, value->length, (uint32_t)model->declared.count);
}

static void read_kernels(const struct sk_document *document, const struct sk_node *map)
{
	struct sk_model *model = document->owner;
	static const struct sk_field fields[] = {
		{"symbol", false, read_symbol}, {"object", false, read_object}, {"signature", false, read_signature}};

	struct sk_map signatures;

	if (!sk_expect_map(document, map, "'kernels'", NULL))
		return;
	sk_map_init(&signatures, document->texts);
	model->declared.items = SK_NEW_ARRAY(document->arena, struct sk_declared_kernel, map->count + 1);
	model->declared.capacity = map->count + 1;
	sk_map_reserve(&model->declared_names, map->count);
	for (const struct sk_node *key = sk_node_first(map); key && !sk_diag_is_hopeless(document->diag);
	     key = sk_node_next(key)) {
		struct kernel_draft draft = {.kernel = {.place = sk_node_place(document, key)},
					     .signatures = &signatures};
		struct sk_name name;

		if (!sk_read_name(document, key, "the name of a kernel", NULL, &name))
			continue;
		draft.kernel.name = name.text;
		sk_read_fields(document, sk_node_value(key), "kernel", name.text, fields,
			       sizeof(fields) / sizeof(fields[0]), &draft);
		sk_map_insert(&model->declared_names, name.text, key->length, (uint32_t)model->declared.count);
		sk_array_push(document->arena, &model->declared, draft.kernel);
	}
}

/* ---- scopes ---- */

static void read_options(const struct sk_document *document, void *target, const struct sk_node *value)
{
	struct sk_place place = sk_node_place(document, value);
	struct sk_name options;

	if (value->kind == SK_NODE_SCALAR && !value->length)
		return; /* "": none */
	if (!sk_read_text(document, value, "the options of a scope", NULL, &options) ||
	    !options.text[strspn(options.text, " \t")])
		return;
	((struct sk_scope *)target)->has_options = true;
	place.column += value->in_line && !value->plain;
	sk_scope_options_parse(document->diag, place, value->in_line, options.text, target);
}

static void read_nodes(const struct sk_document *document, void *target, const struct sk_node *value)
{
	sk_manifest_read_patterns(document, ((const struct sk_scope *)target)->name, value);
}

/* Suggest {options: "stream-fusion=1"} for {stream-fusion: 1}. */
static const char *explain_scope_key(const struct sk_document *document, const struct sk_node *key)
{
	const char *value = sk_node_value(key)->text;

	if (!sk_scope_option_is_known(key->text))
		return "";
	return sk_arena_print(document->arena, "; it is an option, and these are one text: {options: \"%s=%s\"}",
			      key->text, value);
}

static void read_scopes(const struct sk_document *document, const struct sk_node *map)
{
	struct sk_model *model = document->owner;
	static const struct sk_field fields[] = {
		{"options", false, read_options}, {"nodes", false, read_nodes}, {.explain = explain_scope_key}};

	if (!sk_expect_map(document, map, "'scopes'", NULL))
		return;
	for (const struct sk_node *key = sk_node_first(map); key && !sk_diag_is_hopeless(document->diag);
	     key = sk_node_next(key)) {
		if (!sk_expect_identifier(document, key, "the name of a scope", NULL))
			continue;

		uint32_t scope = sk_manifest_scope(document, key);

		model->scopes.items[scope].declared = true;
		sk_read_fields(document, sk_node_value(key), "scope", key->text, fields,
			       sizeof(fields) / sizeof(fields[0]), &model->scopes.items[scope]);
	}
}

/* An undeclared scope with nearly the same name as a declared one is most likely a misspelling. Its tasks would be in a
 * scope of their own, without options. Short names are exempt, since they are all similar. */
static void warn_of_undeclared_scopes(struct sk_model *model, const bool *used)
{
	enum { SHORT = 4 };
	const char **names = SK_NEW_ARRAY(model->arena, const char *, model->scopes.count + 1);
	size_t count = 0, asked = 0;

	for (size_t i = 0; i < model->scopes.count && count < SK_MAX_CANDIDATES; i++)
		if (model->scopes.items[i].declared && used[i])
			names[count++] = model->scopes.items[i].name;
	for (size_t i = 0; i < model->scopes.count && count && asked < SK_MAX_SUGGESTIONS; i++) {
		const struct sk_scope *scope = &model->scopes.items[i];
		const char *near = scope->declared || strlen(scope->name) < SHORT
					   ? NULL
					   : sk_nearest_name(scope->name, names, count);

		asked += !scope->declared;
		if (near && !sk_differ_in_digits_only(scope->name, near))
			sk_warning(model->diag, scope->place,
				   "scope '%s' is not declared, and so has no options; did you mean '%s'?", scope->name,
				   near);
	}
}

/* A declared scope that no task names is most likely misspelt in the tasks, which would then be in a scope without
 * options. */
static void warn_of_unused_scopes(struct sk_model *model, const bool *used)
{
	const char **names = SK_NEW_ARRAY(model->arena, const char *, model->scopes.count + 1);
	size_t count = 0, unused = 0;

	for (size_t i = 0; i < model->scopes.count; i++)
		if (used[i])
			names[count++] = model->scopes.items[i].name;
	for (size_t i = 0; i < model->scopes.count; i++) {
		const struct sk_scope *scope = &model->scopes.items[i];

		if (!used[i])
			sk_warning(model->diag, scope->place, "no task is in scope '%s'%s", scope->name,
				   unused++ < SK_MAX_SUGGESTIONS
					   ? sk_suggest_name(model, scope->name, names, count, sizeof(*names))
					   : "");
	}
}

void sk_manifest_check_scopes(struct sk_model *model)
{
	bool *used = SK_NEW_ARRAY(model->arena, bool, model->scopes.count + 1);

	for (size_t t = 0; t < model->tasks.count; t++)
		for (size_t i = 0; i < model->tasks.items[t].said.scopes.count; i++)
			used[model->tasks.items[t].said.scopes.items[i]] = true;
	for (size_t i = 0; i < model->scopes.count; i++) {
		const char *base = used[i] ? model->scopes.items[i].base : NULL;
		uint32_t scope = base ? sk_map_find(&model->scope_names, base, strlen(base)) : SK_NONE;

		if (scope != SK_NONE)
			used[scope] = true;
	}
	warn_of_unused_scopes(model, used);
	warn_of_undeclared_scopes(model, used);
}

/* ---- the top level ---- */

struct top {
	const struct sk_node *graph, *tensors, *kernels, *tasks, *scopes;
	const struct sk_node *shapes, *dimensions, *frozen, *states, *fusion, *switches, *rules, *patterns;
	const struct sk_node *ranks, *groups;
};

static void read_version(const struct sk_document *document, void *target, const struct sk_node *value)
{
	uint64_t version;

	(void)target;
	if (sk_read_integer(document, value, "'sklink' (the format version)", NULL, 1, UINT32_MAX, &version) &&
	    version != 1)
		sk_error(document->diag, sk_node_place(document, value),
			 "the manifest is of format version %" PRIu64 ", but this sklink reads version 1", version);
}

static bool is_builtin(const char *device)
{
	for (size_t i = 0; i < SK_PROFILE_BUILTINS; i++)
		if (!strcmp(device, sk_profile_builtins[i]))
			return true;
	return false;
}

/* Read the name of a built-in profile, or the path of a file, which contains a point or a slash. */
static void read_device(const struct sk_document *document, void *target, const struct sk_node *value)
{
	struct sk_model *model = document->owner;
	struct sk_profile *profile = SK_NEW(document->arena, struct sk_profile);
	bool file = value->kind == SK_NODE_SCALAR && strpbrk(value->text, "./");
	const char *source;
	char error[512];
	size_t index;

	(void)target;
	if (!file && !sk_read_choice(document, value, "'device' (if it is not the path of a profile)", NULL,
				     sk_profile_builtins, SK_PROFILE_BUILTINS, &index))
		return;
	source = file ? sk_model_path(model, sk_arena_copy(document->arena, value->text, value->length))
		      : sk_profile_builtins[index];
	if (!sk_profile_load(source, profile, error, sizeof(error))) {
		sk_error(document->diag, sk_node_place(document, value), "cannot use the device profile: %s", error);
		return;
	}
	if (file && is_builtin(profile->name))
		sk_error(document->diag, sk_node_place(document, value),
			 "the device profile %s has the name of the built-in one, '%s'; give it another", source,
			 profile->name);
	model->device = profile;
	model->device_file = file ? source : NULL;
}

static void read_libraries(const struct sk_document *document, void *target, const struct sk_node *value)
{
	struct sk_model *model = document->owner;
	(void)target;
	for (const struct sk_node *item = sk_node_items(value, NULL); item && !sk_diag_is_hopeless(document->diag);
	     item = sk_node_next(item)) {
		struct sk_name name;

		if (sk_read_text(document, item, "a library", NULL, &name))
			sk_array_push(document->arena, &model->libraries, name);
	}
}

/* The network is given by a model file or by the manifest itself. */
static void check_network(const struct sk_document *document, const struct sk_node *root, const struct top *top)
{
	const struct sk_node *here = top->tensors ? top->tensors : top->tasks, *said = top->shapes;

	said = said ? said : top->frozen ? top->frozen : top->states;
	said = said ? said : top->fusion ? top->fusion : top->switches;
	said = said ? said : top->rules ? top->rules : top->patterns;
	if (top->graph && here)
		sk_error(document->diag, sk_node_place(document, here),
			 "tensors and tasks are those of the model that 'graph' names, and cannot also be given here");
	if (!top->graph && said)
		sk_error(document->diag, sk_node_place(document, said),
			 "this applies to a model, but no 'graph' names one");
	if (!top->graph && !top->tensors)
		sk_error(document->diag, sk_node_place(document, root), "the manifest has no 'tensors'");
	if (!top->graph && !top->tasks)
		sk_error(document->diag, sk_node_place(document, root), "the manifest has no 'tasks'");
}

static void check_patterns(const struct sk_model *model)
{
	if (!model->graph.path.text && model->graph.scopes.count)
		sk_error(model->diag, model->graph.scopes.items[0].place,
			 "these are nodes of a model, but no 'graph' names one");
}

static void read_top(const struct sk_document *document, const struct sk_node *root)
{
	struct sk_model *model = document->owner;
	static const struct sk_field fields[] = {
		{"sklink", true, read_version},
		{"device", false, read_device},
		{"library", false, read_libraries},
		{"graph", false, NULL, offsetof(struct top, graph)},
		{"shapes", false, NULL, offsetof(struct top, shapes)},
		{"dims", false, NULL, offsetof(struct top, dimensions)},
		{"freeze", false, NULL, offsetof(struct top, frozen)},
		{"states", false, NULL, offsetof(struct top, states)},
		{"fusion", false, NULL, offsetof(struct top, fusion)},
		{"switches", false, NULL, offsetof(struct top, switches)},
		{"rules", false, NULL, offsetof(struct top, rules)},
		{"pattern_fusion_pass", false, NULL, offsetof(struct top, patterns)},
		{"tensors", false, NULL, offsetof(struct top, tensors)},
		{"kernels", false, NULL, offsetof(struct top, kernels)},
		{"tasks", false, NULL, offsetof(struct top, tasks)},
		{"scopes", false, NULL, offsetof(struct top, scopes)},
		{"ranks", false, NULL, offsetof(struct top, ranks)},
		{"groups", false, NULL, offsetof(struct top, groups)},
	};
	struct top top = {NULL};

	sk_read_fields(document, root, "the manifest", NULL, fields, sizeof(fields) / sizeof(fields[0]), &top);
	if (root->kind == SK_NODE_MAP)
		check_network(document, root, &top);
	sk_manifest_read_ranks(document, top.ranks, top.groups);
	if (top.graph)
		sk_manifest_read_graph_path(document, top.graph);
	sk_manifest_read_graph(document, top.shapes, top.dimensions, top.frozen, top.states);
	if (!top.graph)
		sk_manifest_read_sizes(model);
	if (top.fusion)
		sk_manifest_read_fusion(document, top.fusion);
	if (top.switches)
		sk_manifest_read_switches(document, top.switches);
	if (top.rules)
		sk_manifest_read_rules(document, top.rules);
	if (top.patterns)
		sk_manifest_read_pattern_fusion(document, top.patterns);
	if (top.tensors)
		sk_manifest_read_tensors(document, top.tensors);
	if (top.kernels)
		read_kernels(document, top.kernels);
	if (top.scopes)
		read_scopes(document, top.scopes);
	check_patterns(model);
	if (top.tasks)
		sk_manifest_read_tasks(document, top.tasks);
	if (top.tensors && top.tasks)
		sk_manifest_resolve_names(model);
	if (!top.graph)
		sk_manifest_check_scopes(model);
	if (sk_diag_is_hopeless(document->diag))
		sk_error(document->diag, (struct sk_place){.file = model->manifest},
			 "too many errors; the rest of the manifest has not been checked");
}

static struct sk_document document_of(struct sk_model *model, const char *path, struct sk_arena *scratch)
{
	return (struct sk_document){.arena = model->arena,
				    .diag = model->diag,
				    .file = path,
				    .kind = "the manifest",
				    .owner = model,
				    .texts = scratch};
}

bool sk_manifest_parse(struct sk_model *model, const char *path, const void *text, size_t size)
{
	unsigned errors = model->diag->errors;

	sk_model_set_file(model, path);

	if (size >= 8 &&
	    (!memcmp(text, "\177ELF", 4) || !memcmp(text, "!<arch>\n", 8) || !memcmp(text, "!<thin>\n", 8))) {
		sk_error(model->diag, (struct sk_place){.file = model->manifest},
			 "is an object or an archive; the first argument is the manifest");
		return false;
	}

	struct sk_arena *scratch = sk_arena_create();
	const struct sk_document document = document_of(model, model->manifest, scratch);
	const struct sk_node *root = sk_document_parse(&document, scratch, text, size);

	if (root)
		read_top(&document, root);
	sk_arena_destroy(scratch); /* the model has its own copies */
	return model->diag->errors == errors;
}

bool sk_manifest_read(struct sk_model *model, const char *path)
{
	struct sk_arena *scratch = sk_arena_create();
	const struct sk_document document = document_of(model, path, scratch);
	size_t size;
	const void *text = sk_document_read(&document, scratch, &size);
	bool ok = text && sk_manifest_parse(model, path, text, size);

	sk_arena_destroy(scratch);
	return ok;
}
