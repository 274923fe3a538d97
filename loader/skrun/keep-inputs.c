/* Protection of the files that a run reads; see skrun.h. */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "format/skweights.h"
#include "loader/flight/flight.h"
#include "loader/image/image.h"

/* Find the file that the package names, beside it; libskrt has checked the record. False: none. */
static bool find_weights(const struct sk_session *session, char path[PATH_MAX])
{
	const char *slash = strrchr(session->path, '/');
	const struct sk_weights *record;
	uint64_t size;

	if (!session->module->image.weights.size)
		return false;
	record = sk_image_find(&session->module->image, "sk_weights", &size);
	return snprintf(path, PATH_MAX, "%.*s%s", slash ? (int)(slash + 1 - session->path) : 0, session->path,
			record->name) < PATH_MAX;
}

bool sk_keep_inputs(const struct sk_session *session, const struct sk_run_options *options, const char *output)
{
	char named[PATH_MAX];
	const char *weights = options->package.weights;
	const char *inputs[] = {options->package.path, options->costs, weights};
	size_t count = sizeof(inputs) / sizeof(inputs[0]);

	if (!weights && find_weights(session, named))
		inputs[count - 1] = named;
	for (size_t i = 0; output && i < count; i++)
		if (inputs[i] && sk_is_same(output, inputs[i])) {
			sk_skrun_error("%s: is also an input; give the output a name of its own", output);
			return false;
		}
	return true;
}
