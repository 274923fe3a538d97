/* --dim, and `dims:` of a manifest, as sets with names. A text is NAME=N, or SET:NAME=N,NAME=N. The set's name is an
 * identifier before a colon that precedes the first "="; names of dimensions may be any other text. */
#include "src/link/link.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "format/skplan.h"
#include "src/command/command.h"
#include "src/model/model.h"

struct reader {
	struct sk_arena *arena;
	struct sk_diag *diag;
	struct sk_networks *networks;
};

/* ---- names ---- */

static bool is_identifier(struct sk_arena *arena, const char *name)
{
	return *name && !strcmp(sk_identifier(arena, name), name);
}

static bool has_set(const struct sk_networks *networks, const char *name)
{
	for (size_t i = 0; i < networks->names.count; i++)
		if (!strcmp(networks->names.items[i].text, name))
			return true;
	return false;
}

/* Add a set; `text` is the text that defines it. */
static bool add_set(struct reader *reader, const char *name, const char *text, struct sk_place place)
{
	const char *option = place.line ? "dims" : "--dim";

	if (!*name)
		sk_error(reader->diag, place, "%s '%s': the set has no name; write SET:NAME=N, such as short%s", option,
			 text, text);
	else if (has_set(reader->networks, name))
		sk_error(reader->diag, place, "%s '%s': there is a set '%s' already", option, text, name);
	else if (reader->networks->names.count == SK_MAX_NETWORKS)
		sk_error(reader->diag, place, "%s '%s': a package has at most %d networks", option, text,
			 SK_MAX_NETWORKS);
	else {
		sk_array_push(reader->arena, &reader->networks->names, (struct sk_name){name, place});
		return true;
	}
	return false;
}

/* ---- the command line ---- */

static void add_dimension(struct reader *reader, const char *network, const char *text, struct sk_place place)
{
	sk_array_push(reader->arena, &reader->networks->dimensions, (struct sk_dimension){network, {text, place}});
}

static bool read_option(struct reader *reader, const char *text, struct sk_place place)
{
	const char *colon = text + strcspn(text, ":="),
		   *name = sk_arena_copy(reader->arena, text, (size_t)(colon - text));

	if (*colon != ':' || (*name && !is_identifier(reader->arena, name))) {
		add_dimension(reader, NULL, text, place);
		return true;
	}
	if (!add_set(reader, name, text, place))
		return false;
	for (const char *start = colon + 1, *end;; start = end + 1) {
		end = start + strcspn(start, ",");
		add_dimension(reader, name, sk_arena_copy(reader->arena, start, (size_t)(end - start)), place);
		if (!*end)
			return true;
	}
}

/* ---- a manifest ---- */

/* The dimensions of a set are contiguous there. */
static bool take_dimension(struct reader *reader, const struct sk_dimension *dimension,
			   const struct sk_dimension *before)
{
	const char *network = dimension->network;

	if (network && (!before || before->network != network)) {
		if (!is_identifier(reader->arena, network)) {
			sk_error(reader->diag, dimension->size.place,
				 "'%s' is not a name of a network, which consists of letters, digits and underscores",
				 network);
			return false;
		}
		if (!add_set(reader, network, dimension->size.text, dimension->size.place))
			return false;
	}
	sk_array_push(reader->arena, &reader->networks->dimensions, *dimension);
	return true;
}

bool sk_networks_list(const struct sk_command_line *command, const struct sk_graph_file *file, const char *model,
		      struct sk_arena *arena, struct sk_diag *diag, struct sk_networks *networks)
{
	struct reader reader = {arena, diag, networks};
	bool listed = true;

	*networks = (struct sk_networks){0};
	for (size_t i = 0; i < command->dimensions.count && !sk_diag_is_hopeless(diag); i++)
		listed &= read_option(&reader, command->dimensions.items[i], (struct sk_place){.file = model});
	for (size_t i = 0; i < file->dimensions.count && !sk_diag_is_hopeless(diag); i++)
		listed &=
			take_dimension(&reader, &file->dimensions.items[i], i ? &file->dimensions.items[i - 1] : NULL);
	return listed;
}
