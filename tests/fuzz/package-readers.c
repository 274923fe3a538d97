/* See package-readers.h. */
#include "tests/fuzz/package-readers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"
#include "src/proof/proof.h"
#include "src/skdump/skdump.h"
#include "tests/fuzz/fuzz.h"

static bool look_at(struct skrt_module *module)
{
	const struct skrt_kernel *kernel;
	struct skrt_tensor tensor = {.size = sizeof(tensor)};
	bool prepared = true;

	for (uint32_t i = 0; i < skrt_module_tensor_count(module); i++)
		skrt_module_tensor(module, i, &tensor);
	for (uint32_t i = 0; i < module->plan.launch_count; i++)
		prepared &= !sk_module_prepare(module, i, &kernel) && !sk_module_check_steps(kernel); /* for traces */
	return prepared;
}

/* Opened once, since opening a device takes longer than a test. */
static struct skrt_device *device;

bool readers_load(const char *path, bool check_integrity, const unsigned char *public_key, char *reason, size_t size)
{
	struct skrt_source source = {
		.size = sizeof(source), .path = path, .check_integrity = check_integrity, .public_key = public_key};
	struct skrt_device_options options = {.size = sizeof(options), .cores = 1};
	struct skrt_module *module;
	bool loaded = false;

	setenv("SKRT_GDB", "1", 1); /* the data for debuggers is checked as well */
	fuzz_promise(device || !skrt_device_open(&options, &device), "a device can be opened");
	if (!skrt_module_load_from(device, &source, &module)) {
		loaded = look_at(module);
		snprintf(reason, size, "%s", loaded ? "" : skrt_error());
		fuzz_promise(!skrt_module_unload(module), "a module can be unloaded");
	} else {
		snprintf(reason, size, "%s", skrt_error());
	}
	fuzz_promise(loaded || strlen(reason) > strlen(path), "a package that is refused gives an error");
	return loaded;
}

enum { EXPLAINED = 64 };

/* Print skdump's views of a proved package: none of its names and numbers may break them. */
static void tell(struct sk_arena *arena, const struct sk_package_file *file, const struct sk_facts *facts)
{
	FILE *stream = fopen("/dev/null", "w");
	struct sk_plan_view room, *usual = sk_usual_plan(&file->plan, &file->dims, &room);
	const struct sk_explanation_index index = sk_explanation_index(arena, &file->plan, &file->dims, usual, facts);
	const struct sk_explanation explanation = {arena, &file->plan, &file->account, facts, &index, stream};

	fuzz_promise(stream, "there is a /dev/null");
	for (uint32_t i = 0; i < file->plan.task_count && i < EXPLAINED; i++)
		sk_explain(&explanation, i);
	fuzz_promise(!sk_diff_print(arena, file, file, stream), "a package is no different from itself");
	if (usual)
		sk_plan_close(usual);
	fclose(stream);
}

bool readers_prove(const char *path)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_package_file file = {0};
	struct sk_diag diag;
	bool sound = false;

	sk_diag_init(&diag, arena);
	if (sk_package_file_open(arena, &diag, path, &file)) {
		struct sk_facts facts = {0};
		struct sk_unknown_code unknown;

		sound = sk_verify(arena, &diag, &file.plan, path, file.account.orders, file.account.order_count,
				  &facts) &&
			sk_consistency_check(arena, &diag, &file.plan, path, file.has_account ? &file.account : NULL) &&
			sk_kernel_symbols_check(arena, &diag, &file, &unknown) && sk_reemit_compare(&diag, &file) &&
			sk_loadable_check(&diag, &file);
		if (sound)
			tell(arena, &file, &facts);
		fuzz_promise(sound == !diag.errors, "a proof fails if and only if there is an error");
		sk_package_file_close(&file);
	} else {
		fuzz_promise(diag.errors, "a package that is refused gives an error");
	}
	sk_arena_destroy(arena);
	return sound;
}
