/* Chooses the flags of graph-kernel fusion; see link.h. A variable counts even if it is empty, so that a single link
 * can ignore flags in the environment. */
#include "src/link/link.h"

#include <string.h>

#include "base/diag.h"
#include "graph/manager/manager.h"
#include "graph/onnx/onnx.h"
#include "src/command/command.h"

static struct sk_flags_text find_text(const struct sk_link *link)
{
	const struct sk_command_line *command = link->command;
	const struct sk_graph_file *file = &link->model->graph;

	if (command->fusion_flags)
		return (struct sk_flags_text){
			command->fusion_flags, {.file = "--fusion-flags", .line = 1, .column = 1}, true};
	if (file->fusion.text)
		return (struct sk_flags_text){file->fusion.text, file->fusion.place, file->fusion_in_line};
	if (command->environment_flags)
		return (struct sk_flags_text){
			command->environment_flags, {.file = command->environment_name, .line = 1, .column = 1}, true};
	return (struct sk_flags_text){.text = ""};
}

bool sk_fusion_flags_given(const struct sk_link *link, struct sk_fusion_flags *flags)
{
	const char *name = link->command->fusion_target;
	size_t target = link->model->device->lane_count > 1 ? SK_TARGET_ASCEND : SK_TARGET_HOST;

	if (name)
		for (target = 0; target < SK_FUSION_TARGETS && strcmp(sk_fusion_targets[target], name); target++)
			;
	if (target == SK_FUSION_TARGETS) {
		sk_error(link->diag, (struct sk_place){0}, "--fusion-target wants host, ascend, cpu or gpu, not '%s'",
			 name);
		return false;
	}
	sk_fusion_flags_read(link->arena, link->diag, find_text(link), (enum sk_fusion_target)target, flags);
	return true;
}

const char *sk_fusion_flags_of_environment(const struct sk_link *link)
{
	const struct sk_graph_file *file = &link->model->graph;
	bool fuses = sk_onnx_is_model(link->command->manifest) || file->path.text;
	bool others = link->command->fusion_flags || file->fusion.text;

	return fuses && !others ? link->command->environment_flags : NULL;
}
