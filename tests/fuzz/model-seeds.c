/* Writes small models that have everything that the readers of models know: model-seeds writes into the working
 * directory, a file for each kind of thing. Field numbers are those of onnx.proto. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/protobuf-writer.h"

enum { FLOAT = 1, INT8 = 3, INT64 = 7, BOOL = 9, DOUBLE = 11, UINT32 = 12 };

static struct writer writer;

static void begin_model(void)
{
	write_integer(&writer, 1, 8); /* ir_version */
	write_text(&writer, 2, "seeds"); /* producer_name */
	write_begin(&writer, 8); /* opset_import */
	write_integer(&writer, 2, 17);
	write_end(&writer);
	write_begin(&writer, 7);
	write_text(&writer, 2, "graph");
}

static void end_model(const char *name)
{
	while (writer.depth)
		write_end(&writer);

	FILE *stream = fopen(name, "wb");

	if (!stream || fwrite(writer.bytes, 1, writer.size, stream) != writer.size || fclose(stream)) {
		perror(name);
		exit(1);
	}
	write_reset(&writer);
}

/* [2, N] */
static void write_value(unsigned field, const char *name, int element)
{
	write_begin(&writer, field);
	write_text(&writer, 1, name);
	write_begin(&writer, 2);
	write_begin(&writer, 1);
	write_integer(&writer, 1, element);
	write_begin(&writer, 2);
	write_begin(&writer, 1);
	write_integer(&writer, 1, 2);
	write_end(&writer);
	write_begin(&writer, 1);
	write_text(&writer, 2, "N");
	for (int i = 0; i < 5; i++)
		write_end(&writer);
}

static void begin_node(unsigned field, const char *op, const char *domain, const char *input, const char *output)
{
	write_begin(&writer, field);
	write_text(&writer, 1, input);
	write_text(&writer, 2, output);
	write_text(&writer, 3, op);
	write_text(&writer, 4, op);
	write_text(&writer, 7, domain);
}

static void write_node(unsigned field, const char *op, const char *domain, const char *input, const char *output)
{
	begin_node(field, op, domain, input, output);
	write_end(&writer);
}

static void begin_tensor(unsigned field, const char *name, int element, int64_t elements)
{
	write_begin(&writer, field);
	write_integer(&writer, 1, elements);
	write_integer(&writer, 2, element);
	write_text(&writer, 8, name);
}

static void begin_attribute(const char *name, int type)
{
	write_begin(&writer, 5);
	write_text(&writer, 1, name);
	write_integer(&writer, 20, type);
}

/* Constants in every kind of field, each an output. */
static void constants(void)
{
	static const int64_t numbers[2] = {1, 100};
	static const char *const names[] = {"floats", "doubles", "integers", "longs", "unsigned", "raw"};

	begin_model();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		write_value(12, names[i], FLOAT);
	begin_tensor(5, "floats", FLOAT, 2);
	write_float(&writer, 4, 1);
	write_float(&writer, 4, 2);
	write_end(&writer);
	begin_tensor(5, "doubles", DOUBLE, 1);
	write_bytes(&writer, 10, "12345678", 8);
	write_end(&writer);
	begin_tensor(5, "integers", INT8, 2);
	write_packed(&writer, 5, numbers, 2);
	write_end(&writer);
	begin_tensor(5, "longs", INT64, 2);
	write_packed(&writer, 7, numbers, 2);
	write_end(&writer);
	begin_tensor(5, "unsigned", UINT32, 2);
	write_packed(&writer, 11, numbers, 2);
	write_end(&writer);
	begin_tensor(5, "raw", BOOL, 4);
	write_bytes(&writer, 9, "\0\1\2\3", 4);
	end_model("constants.onnx");
}

static void attributes(void)
{
	static const int64_t numbers[2] = {-1, 100};

	begin_model();
	write_value(11, "x", FLOAT);
	write_value(12, "y", FLOAT);
	write_value(13, "t", FLOAT);
	write_node(1, "Neg", "", "t", "y");
	begin_node(1, "Op", "ai.onnx", "x", "t");
	begin_attribute("real", 1);
	write_float(&writer, 2, 0.5f);
	write_end(&writer);
	begin_attribute("integer", 2);
	write_integer(&writer, 3, 7);
	write_end(&writer);
	begin_attribute("text", 3);
	write_text(&writer, 4, "same");
	write_end(&writer);
	begin_attribute("value", 4);
	begin_tensor(5, "", INT64, 2);
	write_packed(&writer, 7, numbers, 2);
	write_end(&writer);
	write_end(&writer);
	begin_attribute("reals", 6);
	write_bytes(&writer, 7, "12345678", 8);
	write_end(&writer);
	begin_attribute("integers", 7);
	write_packed(&writer, 8, numbers, 2);
	write_end(&writer);
	begin_attribute("texts", 8);
	write_text(&writer, 9, "a");
	write_text(&writer, 9, "b");
	end_model("attributes.onnx");
}

static void bodies(void)
{
	begin_model();
	write_value(11, "x", BOOL);
	write_value(12, "y", FLOAT);
	write_node(1, "Exp", "", "x", "t");
	begin_node(1, "If", "", "x", "y");
	for (int i = 0; i < 2; i++) {
		begin_attribute(i ? "else_branch" : "then_branch", 5);
		write_begin(&writer, 6);
		write_value(12, "z", FLOAT);
		write_node(1, "Neg", "", "t", "s");
		write_node(1, "Abs", "", "s", "z");
		write_end(&writer);
		write_end(&writer);
	}
	end_model("bodies.onnx");
}

static void functions(void)
{
	begin_model();
	write_value(11, "x", FLOAT);
	write_value(12, "y", FLOAT);
	begin_node(1, "Outer", "local", "x", "y");
	begin_attribute("given", 2);
	write_integer(&writer, 3, 7);
	write_end(&writer);
	write_end(&writer);
	write_end(&writer);
	for (int i = 0; i < 2; i++) {
		write_begin(&writer, 25);
		write_text(&writer, 1, i ? "Outer" : "Inner");
		write_text(&writer, 10, "local");
		write_text(&writer, 4, "a");
		write_text(&writer, 5, "b");
		begin_node(7, i ? "Inner" : "Neg", i ? "local" : "", "a", "t");
		begin_attribute("axis", 2);
		write_text(&writer, 21, "given");
		write_end(&writer);
		write_end(&writer);
		write_node(7, "Exp", "", "t", "b");
		write_begin(&writer, 9);
		write_integer(&writer, 2, 15);
		write_end(&writer);
		write_end(&writer);
	}
	end_model("functions.onnx");
}

int main(void)
{
	constants();
	attributes();
	bodies();
	functions();
	return 0;
}
