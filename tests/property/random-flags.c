/* See random-flags.h. */
#include "tests/property/random-flags.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/random.h"

struct flags {
	uint64_t random;
	char *text;
	size_t size;
};

static bool one_in(struct flags *flags, uint32_t count)
{
	return random_below(&flags->random, count) == 0;
}

static void say(struct flags *flags, const char *text)
{
	size_t length = strlen(flags->text);

	snprintf(flags->text + length, flags->size - length, "%s", text);
}

/* Some of the words, with commas. */
static void say_list(struct flags *flags, const char *key, const char *const *words, uint32_t count)
{
	say(flags, key);
	for (uint32_t i = 0, left = 1 + random_below(&flags->random, 4); i < left; i++) {
		say(flags, i ? "," : "");
		say(flags, words[random_below(&flags->random, count)]);
	}
}

static void say_number(struct flags *flags, const char *key, uint32_t value)
{
	char word[16];

	snprintf(word, sizeof(word), "%u", value);
	say(flags, key);
	say(flags, word);
}

static const char *const operators[] = {"Add",	     "Mul",	  "Sub",    "Div",     "Exp",	    "Tanh",
					"ReduceSum", "Pow",	  "MatMul", "Softmax", "Transpose", "Concat",
					"Gemm",	     "ReduceMax", "Where",  "Cast",    "Reshape",   "LayerNorm",
					"Neg",	     "Slice",	  "Conv",   "Max",     "Relu",	    "ReduceMean"};
static const char *const passes[] = {"fuse_basic", "graph_kernel_cluster", "graph_kernel_splitter",
				     "arithmetic_simplify", "transform_op_optimizer"};
static const char *const patterns[] = {"elemwise", "fwd", "bwd", "depth", "width", "reduce", "reshape", "matmul"};

enum {
	OPERATORS = sizeof(operators) / sizeof(*operators),
	PASSES = sizeof(passes) / sizeof(*passes),
	PATTERNS = sizeof(patterns) / sizeof(*patterns),
};

static void say_lists(struct flags *flags)
{
	if (!one_in(flags, 3))
		say_list(flags, " --enable_cluster_ops=", operators, OPERATORS);
	if (one_in(flags, 3))
		say_list(flags, " --disable_cluster_ops=", operators, OPERATORS);
	if (one_in(flags, 6))
		say_list(flags, " --enable_cluster_ops_only=", operators, OPERATORS);
	if (one_in(flags, 4))
		say_list(flags, " --disable_fusion_pattern=", patterns, PATTERNS);
	if (one_in(flags, 8))
		say_list(flags, " --enable_fusion_pattern_only=", patterns, PATTERNS);
}

static void say_limits(struct flags *flags)
{
	if (one_in(flags, 3))
		say_number(flags, " --composite_op_limit_size=", 1 + random_below(&flags->random, 12));
	if (one_in(flags, 3))
		say(flags, one_in(flags, 2) ? " --enable_stitch_fusion" : " --enable_stitch_fusion=false");
	if (one_in(flags, 3))
		say(flags, one_in(flags, 2) ? " --enable_recompute_fusion" : " --enable_recompute_fusion=false");
	if (one_in(flags, 3))
		say(flags, " --fusion_ops_level=1");
}

static const char *const targets[] = {"host", "ascend", "cpu", "gpu"};

void flags_draw(uint64_t seed, const char **target, char *text, size_t size)
{
	struct flags flags = {seed * 2654435761u + 1, text, size};

	*text = 0;
	*target = targets[random_below(&flags.random, 4)];
	say_number(&flags, "--opt_level=", random_below(&flags.random, 4));
	/* An expansion computes with other roundings. */
	say(&flags, " --disable_pass=graph_kernel_expander");
	if (seed % 5 == 1)
		say(&flags, ",FusionVirtualOpSetSwitch");
	if (one_in(&flags, 4))
		say_list(&flags, ",", passes, PASSES);
	say_lists(&flags);
	say_limits(&flags);
}

/* About half of the operators of the graph, and one at least. */
static void say_operators(struct flags *flags, const char *key, const struct graph *graph)
{
	uint32_t least = random_below(&flags->random, graph->node_count);

	say(flags, key);
	say(flags, graph->nodes[least].op);
	for (uint32_t i = 0; i < graph->node_count; i++)
		if (one_in(flags, 2)) {
			say(flags, ",");
			say(flags, graph->nodes[i].op);
		}
}

void flags_draw_expansion(const struct graph *graph, const char **target, char *text, size_t size)
{
	struct flags flags = {graph->seed * 2654435761u + 2, text, size};

	*text = 0;
	*target = targets[random_below(&flags.random, 4)];
	say_number(&flags, "--opt_level=", 1 + random_below(&flags.random, 3));
	say_operators(&flags, one_in(&flags, 6) ? " --enable_expand_ops_only=" : " --enable_expand_ops=", graph);
	if (one_in(&flags, 8))
		say_list(&flags, " --disable_expand_ops=", operators, OPERATORS);
	if (one_in(&flags, 3))
		say(&flags, " --exact_precision_mode=false");
	say_lists(&flags);
	say_limits(&flags);
}
