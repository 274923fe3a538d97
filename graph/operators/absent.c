/* The reasons for the absence of ONNX's operators, for messages. More than the operator is missing in most cases. */
#include "graph/operators/operators.h"

#include <stddef.h>
#include <string.h>

#define OPTIONALS                                                                                                      \
	"works on optional values, which sklink does not have; whether an input is present must be decided when the "  \
	"model is exported"
#define TEXTS "works on texts, which sklink does not have; convert them to numbers before the network"
#define SHAPES                                                                                                         \
	"has outputs with shapes that depend on elements, and all shapes must be known when linking; compute it "      \
	"after "                                                                                                       \
	"the network, or before it"
#define FILES "decodes image files, which packages do not; decode them before the network"
#define GRADIENTS                                                                                                      \
	"asks for a derivative of the graph, and sklink computes graphs as they are; export the model with its "       \
	"backward "                                                                                                    \
	"pass as nodes"

static const struct absence {
	const char *op, *reason;
} absences[] = {
	{"ImageDecoder", FILES},
	{"NonMaxSuppression", SHAPES},
	{"Optional", OPTIONALS},
	{"OptionalGetElement", OPTIONALS},
	{"OptionalHasElement", OPTIONALS},
	{"RegexFullMatch", TEXTS},
	{"StringConcat", TEXTS},
	{"StringNormalizer", TEXTS},
	{"StringSplit", TEXTS},
	{"TfIdfVectorizer", "counts n-grams, for which there is no kernel; count them before the network"},
	{"Unique", SHAPES},
};

const char *sk_operator_absence(const char *domain, const char *op)
{
	if (!strcmp(domain, "ai.onnx.ml"))
		return "is one of ai.onnx.ml for maps and texts, which sklink does not have; keep "
		       "the steps before and after the network in the program that calls it";
	if (!strcmp(domain, "ai.onnx.preview.training") && !strcmp(op, "Gradient"))
		return GRADIENTS;
	for (size_t i = 0; !*domain && i < sizeof(absences) / sizeof(absences[0]); i++)
		if (!strcmp(absences[i].op, op))
			return absences[i].reason;
	return NULL;
}
