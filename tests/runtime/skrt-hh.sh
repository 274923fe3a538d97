#!/bin/bash
# skrt.hh in programs of C++14 to C++23, in several files of one: objects that move and are destroyed in order with work
# pending, and exceptions that they throw.
. "$top_srcdir/tests/lib/lib.sh"
echo 'int main() { return 0; }' >works.cc
sanitize=$(sed -n 's/^SANITIZE_CFLAGS = //p' "$top_builddir/Makefile")
for compiler in g++ clang++; do
	$compiler $sanitize works.cc -o works 2>err.txt && compilers="${compilers-} $compiler"
done
[ -n "${compilers-}" ] || { echo "SKIP: there is no C++ compiler"; exit 77; }
case $CC:$sanitize in
*:) ;;
*clang*) compilers=clang++ ;; # sanitizers of two compilers do not go together
*) compilers=g++ ;;
esac

sample=$top_srcdir/samples/composite
"$sklink" "$sample/composite.yaml" "$top_builddir/samples/composite/kernels.o" -o composite.sk
"$sklink" "$sample/composite.yaml" "$top_builddir/samples/composite/kernels.o" -r -o composite.o --header composite.h
"$sklink" "$sample/composite.pbtxt" --dim short:rows=2 --dim long:rows=4 -L "$top_builddir/kernels" -lskernels -o \
	networks.sk
"$sklink" "$sample/composite.pbtxt" --dim rows=1..8@4 -L "$top_builddir/kernels" -lskernels -o bounds.sk

cat >program.cc <<'C'
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "composite.h"
#include "skrt.hh"

static_assert(!std::is_copy_constructible<skrt::device>::value && !std::is_copy_assignable<skrt::stream>::value, "");
static_assert(std::is_nothrow_move_constructible<skrt::instance>::value, "");

int elsewhere(skrt_device *device);

static int failures;

static void expect(bool holds, const char *what)
{
	if (!holds) {
		std::printf("not so: %s\n", what);
		failures++;
	}
}

template <typename Function> static void throws(skrt_status status, const char *text, Function function)
{
	try {
		function();
		std::printf("nothing is thrown: %s\n", text);
		failures++;
	} catch (const skrt::error &error) {
		if (error.status() == status && std::strstr(error.what(), text))
			return;
		std::printf("%s: %s\n", skrt_status_name(error.status()), error.what());
		failures++;
	}
}

static bool mapped(const char *name)
{
	std::ifstream maps("/proc/self/maps");
	std::string all((std::istreambuf_iterator<char>(maps)), std::istreambuf_iterator<char>());

	return all.find(name) != std::string::npos;
}

alignas(64) static float x[16], y[16];

static void cubes(skrt::stream &stream, skrt::instance &instance, std::uint64_t rows)
{
	instance.bind("x", x, {rows, 4});
	instance.bind("y", y, {rows, 4});
	for (int i = 0; i < 16; i++)
		x[i] = static_cast<float>(i), y[i] = -1;
	stream.run(instance);
	for (unsigned i = 0; i < 16; i++) {
		float base = 2 * x[i] + 1;
		expect(y[i] == (i < 4 * rows ? base * base * base : -1), "the result");
	}
}

static void slow(void *count, skrt_status)
{
	usleep(100000);
	++*static_cast<int *>(count);
}

int main()
{
	int ended = 0;
	{
		skrt::device device;
		skrt::module module(device, "composite.sk");
		skrt::instance first(module), instance(std::move(first));
		skrt::event early(device), late(device);
		std::vector<skrt::stream> streams;
		expect(!first.get() && instance.get(), "moved");
		streams.emplace_back(device);
		streams.emplace_back(device);
		throws(SKRT_NOT_BOUND, "", [&] { streams[0].run(instance); });
		cubes(streams[0], instance, 4);
		throws(SKRT_INVALID_ARGUMENT, "'x'", [&] { instance.bind("x", reinterpret_cast<double *>(x), {4, 4}); });
		throws(SKRT_INVALID_ARGUMENT, "'x'", [&] { instance.bind("x", x, {16}); });
		throws(SKRT_NOT_FOUND, "'z'", [&] { instance.bind("z", SKRT_F32, x, {4, 4}); });
		throws(SKRT_NOT_READY, "", [&] { skrt::elapsed(early, late); });
		throws(SKRT_CANNOT_READ, "none.sk", [&] { skrt::module none(device, "none.sk"); });

		std::memset(y, 0, sizeof(y));
		streams[0].record(early);
		streams[0].call(slow, &ended);
		streams[0].launch(instance);
		streams[0].record(late);
		expect(!streams[0].query() && !late.query(), "pending");
		streams[1].wait(late);
		alignas(64) float copied[16] = {};
		streams[1].copy(copied, y, sizeof(y));
		streams[1].synchronise();
		expect(ended == 1 && late.query() && copied[15] == 29791, "the streams' order");
		late.synchronise();
		streams[0].synchronise();
		expect(streams[0].query() && skrt::elapsed(early, late) > 0, "reached");
		expect(mapped("composite.sk"), "loaded");

		streams[0].launch(instance);
		streams[1].call(slow, &ended); // they go with work pending
		streams[1].launch(instance);
	}
	expect(ended == 2, "the stream has been waited for");
	expect(!mapped("composite.sk"), "unloaded");
	{
		skrt_device_options options = {};
		options.device = "a3";
		skrt::device device(options);
		std::ifstream file("composite.sk", std::ios::binary);
		std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
		skrt_source source = {};
		source.memory = bytes.data();
		source.bytes = bytes.size();
		skrt::module copied(device, source), linked(device, &sk_plan_composite), networks(device, "networks.sk");
		skrt::instance one(copied), two(linked), three(networks, "short"), four(networks, "long");
		skrt::stream stream(device);
		cubes(stream, one, 4);
		cubes(stream, two, 4);
		cubes(stream, three, 2);
		cubes(stream, four, 4);
		throws(SKRT_NOT_FOUND, "'none'", [&] { skrt::instance none(networks, "none"); });
		expect(elsewhere(device) == SKRT_CANNOT_READ, "in another file");
	}
	{
		skrt_device_options options = {};
		skrt::device device(options);
		skrt::module bounds(device, "bounds.sk");
		skrt::instance sized(bounds);
		skrt_dimension rows = bounds.dimension(0);

		expect(bounds.dimension_count() == 1 && !std::strcmp(rows.name, "rows") && rows.least == 1 &&
			       rows.most == 8 && rows.usual == 4, "the bounds");
		expect(sized.tensor(0).shape[0] == 4, "the usual size");
		sized.set_dimension("rows", 7);
		expect(sized.tensor(0).shape[0] == 7, "another size");
		throws(SKRT_INVALID_ARGUMENT, "rows is 9", [&] { sized.set_dimension("rows", 9); });
		throws(SKRT_NOT_FOUND, "'columns'", [&] { sized.set_dimension("columns", 1); });
		throws(SKRT_INVALID_ARGUMENT, "", [&] { bounds.dimension(1); });
	}
	expect(!mapped("networks.sk"), "unloaded");
	return failures != 0;
}
C
cat >elsewhere.cc <<'C'
#include "skrt.hh"

int elsewhere(skrt_device *device)
try {
	skrt::module none(device, "none.sk");
	return 0;
} catch (const skrt::error &error) {
	return error.status();
}
C
libskrt="$top_builddir/.libs/libskrt.a $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc")"
count=0
for compiler in $compilers; do
	for standard in 14 17 20 23; do
		$compiler -std=c++$standard works.cc -o works 2>err.txt || {
			echo "left out: $compiler -std=c++$standard"; continue; }
		$compiler -std=c++$standard -O1 -Wall -Wextra -Wshadow -Wpedantic -Werror $sanitize \
			-I"$top_srcdir/loader" program.cc elsewhere.cc \
			composite.o -o program $libskrt -ldl -lm -pthread ||
				fail "$compiler does not take skrt.hh as C++$standard"
		./program >out.txt || { cat out.txt >&2; fail "$compiler -std=c++$standard"; }
		count=$((count + 1))
	done
done
[ "$count" -ge 1 ] || fail "no compiler has been tried"
