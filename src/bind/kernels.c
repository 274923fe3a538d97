/* Kernels of tasks. The input is the manifest's names, and the linker with its inputs. The output is model->kernels,
 * each with the handle of its function and its signature; kernel-reach.c finds the code and data that they reach.
 * `kernel:` is looked up by name, declared kernels first. For `op:`, operators.c chooses. */
#include "src/bind/bind.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "linker/linker.h"
#include "src/bind/bind-parts.h"
#include "src/model/model.h"

enum { FAILED = SK_NONE - 1 /* the lookup of this name has failed */ };

/* Limit of kernels that are compared for tasks that none fits; further tasks are skipped. */
enum { MOST_MISFITS = 1 << 20 };

/* A task that copies a tensor for another one, since that one's kernel needs greater alignment. */
struct copy {
	size_t task; /* the task that it precedes */
	struct sk_task copy;
};

struct sk_kernel_finder {
	struct sk_model *model;
	struct sk_linker *linker;
	bool failed; /* an input that the manifest names cannot be read, which has been reported */
	struct sk_map known; /* kernel name -> index in model->kernels, or FAILED */
	struct sk_record_signatures signatures;
	struct sk_map inputs; /* path as written -> index in input_numbers */
	SK_ARRAY(uint32_t) input_numbers;
	SK_ARRAY(uint32_t) libraries; /* input numbers */
	struct sk_ops ops; /* once the libraries are known */
	struct sk_request request; /* of the current task */
	SK_ARRAY(struct copy) copies;
	uint32_t named; /* number of kernels in model->kernel_names, which only operators use */
	struct sk_map functions; /* names of inputs' functions and of imports, at the first use */
	struct sk_map counted; /* kernel and another number of operands -> index in model->kernels */
};

/* ---- inputs that the manifest names ---- */

static uint32_t add_input(struct sk_kernel_finder *finder, const struct sk_name *name)
{
	struct sk_model *model = finder->model;
	const char *path = sk_model_path(model, name->text);

	if (access(path, F_OK) != 0) {
		const char *found = strchr(name->text, '/') ? NULL : sk_linker_search(finder->linker, name->text);

		if (!found) {
			sk_error(model->diag, name->place, "cannot find '%s'%s", path,
				 strchr(name->text, '/') ? "" : ", nor is it on the search paths (-L)");
			return SK_NONE;
		}
		path = found;
	}
	return sk_linker_add_file(finder->linker, path, false);
}

/* Return the input's number; SK_NONE if it cannot be read, which is reported once. */
static uint32_t input_of(struct sk_kernel_finder *finder, const struct sk_name *name)
{
	size_t length = strlen(name->text);
	uint32_t index = sk_map_find(&finder->inputs, name->text, length);

	if (index == SK_NONE) {
		index = (uint32_t)finder->input_numbers.count;
		sk_map_insert(&finder->inputs, name->text, length, index);
		sk_array_push(finder->model->arena, &finder->input_numbers, add_input(finder, name));
	}
	return finder->input_numbers.items[index];
}

/* `object:` of a declared kernel: a file, or "lib.a(member.o)" unless that is the name of a file. If an object is
 * named, its local functions count as well. */
static struct sk_lookup read_object(struct sk_kernel_finder *finder, const struct sk_name *name)
{
	struct sk_model *model = finder->model;
	struct sk_lookup where = {.input = SK_NONE, .local = name->text, .imported = !name->text};
	const char *bracket = name->text ? strrchr(name->text, '(') : NULL;
	size_t length = name->text ? strlen(name->text) : 0;
	struct sk_name file = *name;

	if (!name->text)
		return where;
	if (bracket > name->text && bracket[1] != ')' && name->text[length - 1] == ')' &&
	    access(sk_model_path(model, name->text), F_OK) != 0) {
		file.text = sk_arena_print(model->arena, "%.*s", (int)(bracket - name->text), name->text);
		where.member = sk_arena_print(model->arena, "%.*s", (int)(strlen(bracket) - 2), bracket + 1);
	}
	where.input = input_of(finder, &file);
	return where;
}

static void add_libraries(struct sk_kernel_finder *finder)
{
	for (size_t i = 0; i < finder->model->libraries.count; i++) {
		uint32_t input = input_of(finder, &finder->model->libraries.items[i]);

		if (input != SK_NONE)
			sk_array_push(finder->model->arena, &finder->libraries, input);
	}
}

/* ---- functions of a kernel ---- */

/* The functions of a kernel's symbol. */
struct functions {
	struct sk_kernel_record record; /* its code is the function, or the cube side */
	sk_symbol vector; /* of a mix kernel; else SK_NONE */
	const struct sk_signature *signature; /* NULL: there is none */
	bool misread; /* there is one, but it is wrong, which has been reported */
};

static bool find_side(struct sk_kernel_finder *finder, struct sk_lookup where, const struct sk_kernel_record *kernel,
		      const char *symbol, const char *suffix, struct sk_kernel_record *side)
{
	struct sk_model *model = finder->model;
	unsigned errors = model->diag->errors;

	if (!symbol)
		symbol = sk_arena_print(model->arena, "%s_mix_%s", kernel->symbol, suffix);
	if (sk_linker_find_kernel(finder->linker, where, symbol, side))
		return true;
	if (model->diag->errors == errors)
		sk_error(model->diag, kernel->place,
			 "kernel '%s': no function '%s'; the signature of a mix kernel can name another one: %s=NAME",
			 kernel->symbol, symbol, suffix);
	return false;
}

/* Find both sides in the input that has the signature. */
static bool find_sides(struct sk_kernel_finder *finder, struct sk_lookup where, struct functions *functions)
{
	const struct sk_kernel_record *record = &functions->record;
	struct sk_kernel_record cube, vector;

	where.input = record->input;
	where.imported = false;
	if (!find_side(finder, where, record, functions->signature->aic, "aic", &cube) ||
	    !find_side(finder, where, record, functions->signature->aiv, "aiv", &vector))
		return false;
	functions->record.object = cube.object;
	functions->record.code = cube.code;
	functions->vector = vector.code;
	return true;
}

/* Find a kernel's functions. `declared` is the signature in the manifest, or NULL: then the object's signature is used.
 * A mix kernel's symbol need not be a function. Return false if something is missing; if nothing has been reported, it
 * is the symbol. */
static bool find_functions(struct sk_kernel_finder *finder, struct sk_lookup where, const char *symbol,
			   struct sk_place place, const struct sk_signature *declared, struct functions *functions)
{
	struct sk_kernel_record *record = &functions->record;
	bool known = sk_linker_find_record(finder->linker, where, symbol, record);

	functions->vector = SK_NONE;
	functions->signature = declared;
	functions->misread = false;
	if (known && !declared && !(functions->signature = sk_record_signature(&finder->signatures, record))) {
		functions->misread = true;
		return false;
	}
	if (!known && declared)
		*record = (struct sk_kernel_record){.symbol = symbol, .input = where.input, .place = place};
	if (functions->signature && functions->signature->lane == SK_LANE_MIX)
		return find_sides(finder, where, functions);
	if (!sk_linker_find_kernel(finder->linker, where, symbol, record))
		return false;
	if (declared || !record->signature)
		return true;
	functions->signature = sk_record_signature(&finder->signatures, record);
	functions->misread = !functions->signature;
	return functions->signature &&
	       (functions->signature->lane != SK_LANE_MIX || find_sides(finder, where, functions));
}

/* ---- kernels by name ---- */

static uint32_t add_kernel(struct sk_kernel_finder *finder, const char *name, struct sk_place place,
			   const struct functions *functions)
{
	struct sk_model *model = finder->model;
	const struct sk_kernel_record *record = &functions->record;

	sk_array_push(model->arena, &model->kernels,
		      (struct sk_kernel){.name = name,
					 .symbol = record->symbol,
					 .place = place,
					 .object_name = record->object,
					 .signature = functions->signature,
					 .code = record->code,
					 .vector_code = functions->vector});
	return (uint32_t)model->kernels.count - 1;
}

/* Return the symbol of the function with this C++ or Rust name, with or without parameters. NULL: there is none, or
 * there are several. */
static const char *find_mangled(const struct sk_kernel_finder *finder, const char *const *names, size_t count,
				const char *name)
{
	size_t length = strlen(name);
	const char *found = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *demangled = sk_demangled(finder->linker, names[i]);

		if (demangled == names[i] || strncmp(demangled, name, length) != 0 ||
		    (demangled[length] && demangled[length] != '('))
			continue;
		if (found)
			return NULL;
		found = names[i];
	}
	return found;
}

/* Return "; did you mean 'x'?" with one of the functions there or, with `kernels`, of the declared kernels. */
static const char *suggest_function(struct sk_kernel_finder *finder, struct sk_lookup where, bool kernels,
				    const char *name)
{
	struct sk_model *model = finder->model;
	size_t functions, declared = kernels ? model->declared.count : 0, count = 0;

	if (model->diag->errors > SK_MAX_SUGGESTIONS)
		return "";

	const char *const *names = sk_linker_function_names(finder->linker, where, &functions);
	const char **candidates = SK_NEW_ARRAY(model->arena, const char *, declared + functions + 1);
	const char *mangled = find_mangled(finder, names, functions, name);

	if (mangled)
		return sk_arena_print(model->arena, "; the symbol of %s is '%s'%s",
				      sk_demangled(finder->linker, mangled), mangled,
				      strchr(name, '(') ? "" : ", unless it is declared extern \"C\"");

	for (size_t i = 0; i < declared && count < SK_MAX_CANDIDATES; i++)
		candidates[count++] = model->declared.items[i].name;
	for (size_t i = 0; i < functions && count < SK_MAX_CANDIDATES; i++)
		candidates[count++] = names[i];
	return sk_did_you_mean(model->arena, name, candidates, count);
}

/* TVM has changed the frame of its functions, and at the same time their names. */
static void warn_of_age(struct sk_model *model, const struct sk_declared_kernel *declared, const char *symbol,
			const struct sk_signature *signature)
{
	bool is_new = strncmp(symbol, "__tvm_ffi_", strlen("__tvm_ffi_")) == 0;

	if (!signature->frame)
		return;
	if (is_new && !strcmp(signature->frame, "tvm-packed"))
		sk_warning(model->diag, declared->place,
			   "kernel '%s': frame=tvm-packed is that of TVM up to 0.18, but names such as '%s' are those "
			   "of TVM since 0.20; say frame=tvm-ffi",
			   declared->name, symbol);
	if (!is_new && !strcmp(signature->frame, "tvm-ffi"))
		sk_warning(model->diag, declared->place,
			   "kernel '%s': frame=tvm-ffi is that of TVM since 0.20, which names functions "
			   "__tvm_ffi_NAME; a function '%s' of TVM up to 0.18 has frame=tvm-packed",
			   declared->name, symbol);
}

static uint32_t find_declared(struct sk_kernel_finder *finder, const struct sk_declared_kernel *declared)
{
	struct sk_model *model = finder->model;
	unsigned errors = model->diag->errors;
	const char *symbol = declared->symbol.text ? declared->symbol.text : declared->name;
	struct sk_place place = declared->symbol.text ? declared->symbol.place : declared->place;
	struct functions functions;
	struct sk_lookup where = read_object(finder, &declared->object);

	if (declared->object.text && where.input == SK_NONE)
		return FAILED;
	if (!find_functions(finder, where, symbol, place, declared->parsed, &functions)) {
		if (model->diag->errors == errors && !functions.misread)
			sk_error(model->diag, place, "kernel '%s': no function '%s' in %s%s", declared->name, symbol,
				 declared->object.text ? declared->object.text : "any input",
				 suggest_function(finder, where, false, symbol));
		return FAILED;
	}
	if (!functions.signature) {
		sk_error(model->diag, declared->place,
			 "kernel '%s': the object has no signature for '%s' (%s); give it here: signature: \"…\"",
			 declared->name, symbol, functions.record.object);
		return FAILED;
	}
	warn_of_age(model, declared, symbol, functions.signature);
	return add_kernel(finder, declared->name, declared->place, &functions);
}

static bool is_function(struct sk_kernel_finder *finder, const char *name)
{
	if (!finder->functions.count) {
		size_t count;
		const char *const *names = sk_linker_function_names(
			finder->linker, (struct sk_lookup){.input = SK_NONE, .imported = true}, &count);

		for (size_t i = 0; i < count; i++)
			sk_map_insert(&finder->functions, names[i], strlen(names[i]), 0);
	}
	return sk_map_find(&finder->functions, name, strlen(name)) != SK_NONE;
}

static const char *symbol_of(const void *declared, uint32_t index)
{
	const struct sk_declared_kernel *kernel = (const struct sk_declared_kernel *)declared + index;

	return kernel->symbol.text ? kernel->symbol.text : kernel->name;
}

/* Return a hint at a signature in the manifest for a similar name that is in no input; or "". */
static const char *suggest_signature(struct sk_kernel_finder *finder, const char *name)
{
	const struct sk_model *model = finder->model;
	const char *near = model->diag->errors > SK_MAX_SUGGESTIONS
				   ? NULL
				   : sk_nearest_of(name, model->declared.count, symbol_of, model->declared.items);

	return near && !is_function(finder, near)
		       ? sk_arena_print(model->arena, ", where there is a signature for '%s', which no input defines",
					near)
		       : "";
}

static uint32_t find_undeclared(struct sk_kernel_finder *finder, const struct sk_name *name)
{
	struct sk_model *model = finder->model;
	unsigned errors = model->diag->errors;
	struct sk_lookup anywhere = {.input = SK_NONE, .imported = true};
	struct functions functions;

	if (!find_functions(finder, anywhere, name->text, name->place, NULL, &functions)) {
		if (model->diag->errors == errors && !functions.misread) {
			const char *near = suggest_function(finder, anywhere, true, name->text);

			sk_error(model->diag, name->place, "unknown kernel '%s'%s", name->text,
				 *near ? near : ": it is neither declared under 'kernels' nor a function of an input");
		}
		return FAILED;
	}
	if (!functions.signature) {
		sk_error(model->diag, name->place, "function '%s' in %s has no signature; declare it under 'kernels'%s",
			 name->text, functions.record.object, suggest_signature(finder, name->text));
		return FAILED;
	}
	return add_kernel(finder, name->text, name->place, &functions);
}

static uint32_t find_by_name(struct sk_kernel_finder *finder, const struct sk_name *name)
{
	struct sk_model *model = finder->model;
	size_t length = strlen(name->text);
	uint32_t kernel = sk_map_find(&finder->known, name->text, length);
	uint32_t declared = sk_map_find(&model->declared_names, name->text, length);

	if (kernel != SK_NONE)
		return kernel;
	kernel = declared == SK_NONE ? find_undeclared(finder, name)
				     : find_declared(finder, &model->declared.items[declared]);
	return sk_map_insert(&finder->known, name->text, length, kernel);
}

/* ---- kernels by op ---- */

static bool has_signature(const struct sk_kernel *kernel, const struct sk_signature *signature)
{
	return kernel->signature == signature || kernel->signature->open == signature;
}

/* Return the first kernel of the name, or SK_NONE. */
static uint32_t kernel_of_name(struct sk_kernel_finder *finder, const char *name)
{
	struct sk_model *model = finder->model;

	for (; finder->named < model->kernels.count; finder->named++) {
		const char *next = model->kernels.items[finder->named].name;

		sk_map_insert(&model->kernel_names, next, strlen(next), finder->named);
	}
	return sk_map_find(&model->kernel_names, name, strlen(name));
}

static uint32_t use_op_kernel(struct sk_kernel_finder *finder, struct sk_op_kernel *chosen, const struct sk_task *task)
{
	struct sk_model *model = finder->model;
	struct functions functions;

	if (chosen->declared != SK_NONE) {
		const struct sk_declared_kernel *declared = &model->declared.items[chosen->declared];

		return find_by_name(finder, &(struct sk_name){.text = declared->name, .place = declared->place});
	}
	if (chosen->kernel != SK_NONE)
		return chosen->kernel;
	struct sk_lookup where = {.input = chosen->input};

	if (!find_functions(finder, where, chosen->name, sk_task_place(task, task->said.op.spot), chosen->signature,
			    &functions))
		return chosen->kernel = FAILED; /* the linker has reported the reason */

	/* The same function may have been found by its name already. */
	uint32_t known = kernel_of_name(finder, chosen->name);

	if (known != SK_NONE && model->kernels.items[known].code == functions.record.code &&
	    has_signature(&model->kernels.items[known], chosen->signature))
		chosen->kernel = known;
	else
		chosen->kernel = add_kernel(finder, chosen->name, sk_task_place(task, task->said.op.spot), &functions);
	return chosen->kernel;
}

static struct sk_op_kernel *find_op(struct sk_kernel_finder *finder, const struct sk_task *task)
{
	sk_request_of_task(finder->model, task, &finder->request);
	return sk_ops_find(&finder->ops, task->said.op.text, &finder->request);
}

static uint32_t find_by_op(struct sk_kernel_finder *finder, struct sk_task *task, bool may_copy);

/* Copies also need kernels. */
static void add_copy(struct sk_kernel_finder *finder, size_t number, struct sk_task copy)
{
	uint32_t kernel = find_by_op(finder, &copy, false);

	copy.bound.kernel = kernel == FAILED ? SK_NONE : kernel;
	sk_array_push(finder->model->arena, &finder->copies, (struct copy){number, copy});
}

/* Return the kernel for a node's call if unaligned tensors are replaced by copies; NULL: there is none either. */
static struct sk_op_kernel *find_aligned(struct sk_kernel_finder *finder, struct sk_task *task)
{
	size_t number = (size_t)(task - finder->model->tasks.items);
	struct sk_unaligned unaligned;
	struct sk_op_kernel *found;

	if (!task->told.origin || !sk_unaligned_copy(finder->model, task, &unaligned))
		return NULL;
	found = find_op(finder, task);
	if (!found) {
		sk_unaligned_undo(finder->model, task, &unaligned);
		return find_op(finder, task); /* so that the error is about the original tensors */
	}
	for (size_t i = 0; i < unaligned.before.count; i++)
		add_copy(finder, number, unaligned.before.items[i]);
	for (size_t i = 0; i < unaligned.behind.count; i++)
		add_copy(finder, number + 1, unaligned.behind.items[i]);
	return find_op(finder, task);
}

static uint32_t find_by_op(struct sk_kernel_finder *finder, struct sk_task *task, bool may_copy)
{
	struct sk_op_kernel *found = find_op(finder, task);

	if (!found && may_copy)
		found = find_aligned(finder, task);
	if (found && !finder->ops.tied) {
		if (task->told.explained)
			task->told.others =
				sk_ops_say_others(&finder->ops, task->said.op.text, &finder->request, found);
		return use_op_kernel(finder, found, task);
	}
	if (found) {
		sk_ops_report_tie(&finder->ops, task, found);
		return FAILED;
	}
	sk_ops_report_none(&finder->ops, task, &finder->request);
	return FAILED;
}

/* The copies are in the order of the tasks that they precede. */
static void insert_copies(struct sk_kernel_finder *finder)
{
	struct sk_model *model = finder->model;
	size_t tasks = model->tasks.count, next = finder->copies.count;

	for (size_t i = 0; i < finder->copies.count; i++)
		sk_array_push(model->arena, &model->tasks, finder->copies.items[i].copy);
	for (size_t to = model->tasks.count, t = tasks + 1; t-- > 0 && next;) {
		if (t < tasks)
			model->tasks.items[--to] = model->tasks.items[t];
		while (next && finder->copies.items[next - 1].task == t)
			model->tasks.items[--to] = finder->copies.items[--next].copy;
	}
}

/* ---- tables of operands ---- */

/* Return the kernel with the task's number of operands. A kernel of the plan has one signature, so a kernel with an
 * open table becomes one kernel for each number of operands. The first of them replaces it. */
static uint32_t with_operands(struct sk_kernel_finder *finder, uint32_t kernel, const struct sk_task *task)
{
	struct sk_model *model = finder->model;
	struct sk_kernel found = model->kernels.items[kernel];
	const struct sk_signature *open = found.signature->open ? found.signature->open : found.signature;
	size_t operands;

	if (open->open_table == SK_NONE)
		return kernel;
	sk_request_of_task(model, task, &finder->request);
	operands = sk_request_operands(&finder->request, open);
	if (!operands || operands > sk_signature_most_operands(open))
		return kernel; /* binding reports the error */
	const struct sk_signature *wanted =
		sk_signature_of_operands(model->arena, model->diag, found.place, open, (uint32_t)operands);

	if (!wanted || found.signature == wanted)
		return kernel;
	if (found.signature == open) {
		model->kernels.items[kernel].signature = wanted;
		return kernel;
	}

	const char *key = sk_arena_print(model->arena, "%u %zu", kernel, operands);
	uint32_t fresh = (uint32_t)model->kernels.count;
	uint32_t counted = sk_map_insert(&finder->counted, key, strlen(key), fresh);

	if (counted == fresh) {
		found.signature = wanted;
		sk_array_push(model->arena, &model->kernels, found);
	}
	return counted;
}

/* ---- unused signatures ---- */

/* Return the functions that tasks call by the signatures of their objects, which may be unintended. */
static const char **called_as_objects_say(const struct sk_model *model, size_t *count)
{
	const char **names = SK_NEW_ARRAY(model->arena, const char *, model->kernels.count + 1);

	*count = 0;
	for (size_t i = 0; i < model->kernels.count && *count < SK_MAX_CANDIDATES; i++) {
		const struct sk_kernel *kernel = &model->kernels.items[i];

		if (sk_map_find(&model->declared_names, kernel->name, strlen(kernel->name)) == SK_NONE)
			names[(*count)++] = kernel->symbol;
	}
	return names;
}

/* Manifests of several packages have entries that one of them does not need. But if an entry is for a function that is
 * in no input, and a task calls a similar name without an entry, the entry's name is probably misspelt. The symbol of a
 * mix kernel need not be a function, and `object:` is read only for tasks. */
static void warn_of_lost_signatures(struct sk_kernel_finder *finder)
{
	enum { MOST_COMPARED = SK_MAX_SUGGESTIONS * SK_MAX_CANDIDATES };
	struct sk_model *model = finder->model;
	size_t count, compared = 0;
	const char **called = called_as_objects_say(model, &count);

	for (uint32_t i = 0; i < model->declared.count && compared < MOST_COMPARED; i++) {
		const struct sk_declared_kernel *declared = &model->declared.items[i];
		const char *symbol = symbol_of(model->declared.items, i), *near;

		if (!declared->parsed || declared->parsed->lane == SK_LANE_MIX || declared->object.text)
			continue;
		compared += count;
		near = sk_nearest_name(symbol, called, count);
		if (near && !sk_differ_in_digits_only(symbol, near) && !is_function(finder, symbol))
			sk_warning(
				model->diag, declared->symbol.text ? declared->symbol.place : declared->place,
				"no input defines function '%s', and no task uses this signature; did you mean '%s'?",
				symbol, near);
	}
}

/* ---- all tasks ---- */

/* The first caller creates it. */
static struct sk_kernel_finder *finder_of(struct sk_model *model, struct sk_linker *linker)
{
	struct sk_kernel_finder *finder = model->finder;
	unsigned errors = model->diag->errors;

	if (finder)
		return finder;
	model->finder = finder = SK_NEW(model->arena, struct sk_kernel_finder);
	finder->model = model;
	finder->linker = linker;
	sk_map_init(&finder->known, model->arena);
	sk_map_init(&finder->functions, model->arena);
	sk_map_init(&finder->counted, model->arena);
	sk_record_signatures_init(&finder->signatures, model);
	sk_map_init(&finder->inputs, model->arena);
	add_libraries(finder);
	sk_ops_init(&finder->ops, model, linker, &finder->signatures, finder->libraries.items, finder->libraries.count);
	finder->failed = model->diag->errors != errors;
	return finder;
}

const char *sk_kernels_missing(struct sk_model *model, struct sk_linker *linker, struct sk_model *other,
			       const struct sk_task *task, const struct sk_op_kernel **found)
{
	struct sk_ops *ops = &finder_of(model, linker)->ops;
	struct sk_request request = {0};
	struct sk_misfits misfits;
	uint64_t counted = ops->misfits;

	sk_request_of_task(other, task, &request);
	*found = sk_ops_find(ops, task->said.op.text, &request);
	if (*found)
		return ops->tied ? sk_arena_print(other->arena, "two kernels for op '%s' fit equally well",
						  task->said.op.text)
				 : NULL;
	misfits = sk_ops_explain(ops, task->said.op.text, &request, NULL);
	ops->misfits = counted; /* it counts comparisons for tasks only */
	if (!misfits.items.count)
		return sk_arena_print(other->arena, "no kernel has op=%s", task->said.op.text);
	return sk_arena_print(other->arena, "no kernel for op '%s' fits, not even %s, the nearest one: %s",
			      task->said.op.text, misfits.items.items[0].kernel->name, misfits.items.items[0].reason);
}

static uint32_t find_kernel(struct sk_kernel_finder *finder, struct sk_task *task)
{
	const struct sk_named *name = &task->said.kernel_name;

	return task->said.op.text
		       ? find_by_op(finder, task, true)
		       : find_by_name(finder, &(struct sk_name){name->text, sk_task_place(task, name->spot)});
}

bool sk_kernels_find(struct sk_model *model, struct sk_linker *linker)
{
	struct sk_kernel_finder *finder = finder_of(model, linker);
	unsigned errors = model->diag->errors;

	if (!model->samples.count)
		model->finder = NULL;
	for (size_t t = 0;
	     t < model->tasks.count && !sk_diag_is_hopeless(model->diag) && finder->ops.misfits <= MOST_MISFITS; t++) {
		struct sk_task *task = &model->tasks.items[t];
		uint32_t kernel = find_kernel(finder, task);

		task->bound.kernel = kernel == FAILED ? SK_NONE : with_operands(finder, kernel, task);
	}
	insert_copies(finder);
	if (!finder->failed && model->diag->errors == errors && model->tasks.count && !sk_linker_machine(linker))
		sk_error(model->diag, (struct sk_place){.file = model->manifest},
			 "no object is among the inputs, so the machine of the package is unknown");
	if (model->diag->errors == errors)
		warn_of_lost_signatures(finder);
	return !finder->failed && model->diag->errors == errors && sk_kernels_reach(model, linker);
}
