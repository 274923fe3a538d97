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

static void say_number(struct flags *flags, const char *key, uint32_t number)
{
	char word[16];

	snprintf(word, sizeof(word), "%u", number);
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

void flags_draw(uint64_t seed, const char **target, char *text, size_t size)
{
	static const char *const targets[] = {"host", "ascend", "cpu", "gpu"};
	struct flags flags = {seed * 2654435761u + 1, text, size};

	*text = 0;
	*target = targets[random_below(&flags.random, 4)];
	say_number(&flags, "--opt_level=", random_below(&flags.random, 4));
	/* An expansion computes with other roundings. */
	say(&flags, " --disable_pass=graph_kernel_expander");
	if (one_in(&flags, 4))
		say_list(&flags, ",", passes, PASSES);
	say_lists(&flags);
	if (one_in(&flags, 3))
		say_number(&flags, " --composite_op_limit_size=", 1 + random_below(&flags.random, 12));
	if (one_in(&flags, 3))
		say(&flags, one_in(&flags, 2) ? " --enable_stitch_fusion" : " --enable_stitch_fusion=false");
	if (one_in(&flags, 3))
		say(&flags, one_in(&flags, 2) ? " --enable_recompute_fusion" : " --enable_recompute_fusion=false");
	if (one_in(&flags, 3))
		say(&flags, " --fusion_ops_level=1");
}
