/* See bounds-link.h. */
#include "tests/property/bounds-link.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "src/bind/bind.h"
#include "src/manifest/manifest.h"
#include "src/package/package.h"
#include "src/planning/planning-parts.h"
#include "tests/lib/whole-link.h"

static struct sk_model *read_text(const struct link *link, struct sk_model *model)
{
	return sk_manifest_parse(model, "model.yaml", link->text, strlen(link->text)) ? model : NULL;
}

static struct sk_model *read_sample(void *context, struct sk_arena *arena, const uint64_t *sizes)
{
	struct link *link = context;
	struct sk_model *model = sk_model_create(arena, &link->diag);

	model->sizes = link->model->sizes;
	model->sizes_at = sizes;
	return read_text(link, model);
}

static bool bind(struct link *link)
{
	struct sk_model *model = link->model;

	return read_text(link, model) &&
	       (!model->has_bounds ||
		sk_model_sample(model, &(struct sk_sample_source){.read = read_sample, .context = link})) &&
	       sk_kernels_find(model, link->linker) && sk_model_bind(model) && sk_model_assign_roles(model) &&
	       sk_model_lift(model) && sk_model_leave_out_idle(model);
}

/* Report an error of a plan's reader. */
static bool refuse(struct link *link, const char *error)
{
	sk_error(&link->diag, (struct sk_place){.file = "model.yaml"}, "internal error: %s", error);
	return false;
}

static bool add_slots(struct link *link)
{
	bool *reads = SK_NEW_ARRAY(link->arena, bool, link->dims.value_count + (size_t)1);
	const char *reason = sk_entries_read(link->arena, &link->plan, &link->dims, reads);
	char error[256];

	if (reason)
		return refuse(link, reason);
	sk_plan_add_slots(link->arena, reads, link->dims.value_count, &link->image);
	if (link->change)
		damage_sizes(link);
	sk_dims_close(&link->dims);
	return sk_dims_open(link->image.sizes, link->image.sizes_size, &link->plan, &link->dims, error,
			    sizeof(error)) ||
	       refuse(link, error);
}

bool verify_plan(const struct link *link, struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *plan)
{
	return sk_verify(arena, diag, plan, "model.yaml", link->account.orders, link->account.order_count, NULL) &&
	       sk_consistency_check(arena, diag, plan, "model.yaml", &link->account);
}

static bool make_plan(struct link *link)
{
	struct sk_model *model = link->model;
	struct sk_fusion *fusion = sk_fusion_build(model);
	struct sk_schedule *schedule = fusion ? sk_schedule_build(model, fusion) : NULL;
	struct sk_memory *memory = schedule ? sk_memory_plan(model, fusion, schedule) : NULL;
	char error[256];

	if (!memory || !sk_plan_write(model, fusion, schedule, memory, EM_X86_64, SK_TASKS_BY_ENTRIES, &link->image))
		return false;
	if (!sk_plan_open(link->image.bytes, link->image.size, &link->plan, error, sizeof(error)) ||
	    (link->image.sizes &&
	     !sk_dims_open(link->image.sizes, link->image.sizes_size, &link->plan, &link->dims, error, sizeof(error))))
		return refuse(link, error);
	link->account = sk_account_build(model->arena, model, fusion, schedule->groups);
	return sk_plan_check_in_threads(&link->diag, &link->plan, "model.yaml", 1) &&
	       (!link->dims.dims || add_slots(link));
}

static bool prove(struct link *link)
{
	return verify_plan(link, link->arena, &link->diag, &link->plan) &&
	       (!link->dims.dims || sk_verify_sizes(link->arena, &link->diag, &link->plan, &link->dims, "model.yaml"));
}

static bool build(struct link *link)
{
	struct sk_package_parts parts = {0};
	struct sk_package_input input = {.model = link->model,
					 .image = &link->image,
					 .plan = &link->plan,
					 .dims = link->dims.dims ? &link->dims : NULL,
					 .threads = 1};

	sk_account_pack(link->arena, &link->account, &input.account, &input.account_size);
	if (!sk_package_build(&input, link->linker, &parts) || !link_whole(link->linker) ||
	    !sk_seal_write(link->arena, &link->diag, link->linker, &parts, NULL))
		return false;
	link->package = sk_linker_bytes(link->linker, &link->size);
	return true;
}

void begin_link(struct link *link, const char *kernels, const char *text, const struct change *change)
{
	*link = (struct link){.text = text, .arena = sk_arena_create(), .change = change};
	sk_diag_init(&link->diag, link->arena);
	link->diag.no_warnings = true;
	link->linker = sk_linker_create(link->arena, &link->diag, &(struct sk_linker_options){.threads = 1});
	sk_linker_add_file(link->linker, kernels, false);
	link->model = sk_model_create(link->arena, &link->diag);
	link->linked = bind(link) && make_plan(link) && prove(link) && build(link) && !link->diag.errors;
}

void end_link(struct link *link)
{
	sk_linker_destroy(link->linker);
	sk_dims_close(&link->dims);
	sk_plan_close(&link->plan);
	sk_arena_destroy(link->arena);
}

char *messages_of(struct sk_diag *diag)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		abort();
	sk_diag_flush(diag, "sklink", 1, stream);
	fclose(stream);
	return text;
}
