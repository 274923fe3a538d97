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
static const char *const passes[] = {"fuse_basic",	    "graph_kernel_cluster",   "graph_kernel_splitter",
				     "arithmetic_simplify", "transform_op_optimizer", "parallel_fusion"};
/* The passes that replace patterns by one operator. */
static const char *const fusions[] = {
	"onnx_fusion",
	"FlashAttentionFusionV1",
	"FlashAttentionFusionV2",
	"add_layer_norm_fusion",
	"add_layer_norm_v3_fusion",
	"add_layer_norm_ext_fusion",
	"inference_swiglu_fusion",
	"inference_matmul_split_fusion",
	"add_rms_norm_quant_fusion",
	"rms_norm_quant_fusion",
	"add_rms_norm_fusion",
	"add_cast_rms_norm_cast_fusion",
	"split_concat_fusion",
	"matmul_elem_biasadd_fusion",
	"matmul_elem_add_fusion",
	"matmul_elem_relu_fusion",
	"matmul_elem_gelu_fusion",
	"inference_qbmm_add_fusion",
	"torchair_generic_pattern_pass",
};
static const char *const patterns[] = {"elemwise", "fwd", "bwd", "depth", "width", "reduce", "reshape", "matmul"};

enum {
	OPERATORS = sizeof(operators) / sizeof(*operators),
	PASSES = sizeof(passes) / sizeof(*passes),
	FUSIONS = sizeof(fusions) / sizeof(*fusions),
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
		say(flags, one_in(flags, 2) ? " --enable_parallel_fusion" : " --enable_parallel_fusion=false");
	if (one_in(flags, 3))
		say(flags, " --fusion_ops_level=1");
}

static const char *const targets[] = {"host", "ascend", "cpu", "gpu"};

void flags_without_fusion(char *text, size_t size)
{
	size_t length = strlen(text);

	for (uint32_t i = 0; i < FUSIONS; i++)
		length +=
			(size_t)snprintf(text + length, size - length, "%s%s", i ? "," : "--disable_pass=", fusions[i]);
}

/* With patterns or without; some of the passes. */
static void say_passes(struct flags *flags, bool fuses)
{
	say(flags, " ");
	if (!fuses)
		flags_without_fusion(flags->text, flags->size);
	else
		say_list(flags, "--disable_pass=", fusions, FUSIONS);
	/* An expansion computes with other roundings. */
	say(flags, ",graph_kernel_expander");
	if (one_in(flags, 4))
		say_list(flags, ",", passes, PASSES);
}

void flags_draw(uint64_t seed, bool fuses, const char **target, char *text, size_t size)
{
	struct flags flags = {seed * 2654435761u + 1 + (fuses ? 2 : 0), text, size};

	*text = 0;
	*target = targets[random_below(&flags.random, 4)];
	say_number(&flags, "--opt_level=", random_below(&flags.random, 4));
	say_passes(&flags, fuses);
	if (seed % 5 == 1)
		say(&flags, ",FusionVirtualOpSetSwitch");
	say_lists(&flags);
	say_limits(&flags);
}

static void write_switch(struct flags *flags, FILE *file, bool json, const char *pass)
{
	const char *word = one_in(flags, 2) ? "on" : "off";

	fprintf(file, json ? "\"%s\": \"%s\"" : "%s:%s\n", pass, word);
}

void flags_write_switches(uint64_t seed, FILE *file)
{
	struct flags flags = {.random = seed * 2654435761u + 5};
	bool json = one_in(&flags, 2);

	fprintf(file, "%s", json ? "{\"Switch\": {\"UBFusion\": {" : "");
	write_switch(&flags, file, json, "FusionVirtualOpSetSwitch");
	fprintf(file, "%s", json ? "}, \"GraphFusion\": {" : "");
	write_switch(&flags, file, json, one_in(&flags, 6) ? "ALL" : "onnx_fusion");
	for (uint32_t i = 1; i < FUSIONS + PASSES; i++)
		if (one_in(&flags, 4)) {
			fprintf(file, "%s", json ? ", " : "");
			write_switch(&flags, file, json, i < FUSIONS ? fusions[i] : passes[i - FUSIONS]);
		}
	fprintf(file, "%s", json ? "}}}" : "");
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
