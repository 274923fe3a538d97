#!/bin/bash
# libskcompat.a for C++: kernels of AOTInductor's form, with its check of divisions, which throws an exception with a
# text that a stream has made; memory; exceptions, which end the launch; and libstdc++.a before it, which has them.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
compat="-L$top_builddir/compat -lskcompat"
# A call that an exception ends does not free what its objects have.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
g++ --version >/dev/null 2>&1 || { echo "SKIP: no g++"; exit 77; }

# The parts of torch/csrc/inductor/cpp_prefix.h and c10/util/StringUtil.h that each object has.
cat >prefix.h <<'C'
#include <atomic>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <omp.h>
#include <sstream>
#include <stdexcept>
#include <string>

template <typename... Args> struct str_wrapper final {
	static std::string call(const Args &...args)
	{
		std::ostringstream ss;
		((ss << args), ...);
		return ss.str();
	}
};
inline std::atomic<int> *inductor_cpu_integer_div_error_flag = nullptr;
inline void inductor_cpu_throw_if_integer_div_error(const std::atomic<int> &error)
{
	if (error.load() == 1)
		throw std::runtime_error(str_wrapper<const char *, const char *, int>::call("ZeroDivisionError", " at ", __LINE__));
}
C
cat >kernel.cc <<'C'
#include "prefix.h"
extern "C" void cpp_fused_softmax_0(const float *in_ptr0, float *out_ptr0, float *out_ptr1, float *out_ptr2,
				    const int64_t ks0)
{
	std::atomic<int> inductor_cpu_integer_div_error{0};
	inductor_cpu_integer_div_error_flag = &inductor_cpu_integer_div_error;
#pragma omp parallel
	{
		int tid = omp_get_thread_num();
		(void)tid;
		std::unique_ptr<float[]> tmp(new float[80]);
#pragma omp for
		for (int64_t x0 = 0; x0 < ks0; x0++) {
			float top = -std::numeric_limits<float>::infinity(), sum = 0;
			for (int64_t x1 = 0; x1 < 80; x1++)
				top = std::fmax(top, in_ptr0[x1 + 80 * x0]);
			for (int64_t x1 = 0; x1 < 80; x1++)
				sum += tmp[x1] = std::exp(in_ptr0[x1 + 80 * x0] - top);
			out_ptr0[x0] = top;
			out_ptr1[x0] = sum;
			for (int64_t x1 = 0; x1 < 80; x1++)
				out_ptr2[x1 + 80 * x0] = tmp[x1] / sum;
		}
#pragma omp single
		if (ks0 < 0)
			inductor_cpu_integer_div_error_flag->store(1);
	}
	inductor_cpu_integer_div_error_flag = nullptr;
	inductor_cpu_throw_if_integer_div_error(inductor_cpu_integer_div_error);
}
extern "C" void cpp_fused_scale_1(const float *in_ptr0, float *out_ptr0, const int64_t ks0)
{
	std::atomic<int> inductor_cpu_integer_div_error{0};
	inductor_cpu_integer_div_error_flag = &inductor_cpu_integer_div_error;
	for (int64_t x0 = 0; x0 < ks0; x0++)
		for (int64_t x1 = 0; x1 < 80; x1++)
			out_ptr0[x1 + 80 * x0] = 2 * in_ptr0[x1 + 80 * x0];
	inductor_cpu_integer_div_error_flag = nullptr;
	inductor_cpu_throw_if_integer_div_error(inductor_cpu_integer_div_error);
}
C
# objects FLAG…: the flags of torch 2.15, as far as they affect the form; two objects that share inline functions.
objects() {
	g++ -O3 -DNDEBUG -fno-omit-frame-pointer -g1 -fno-trapping-math -ffp-contract=off -fPIC -std=c++20 -fopenmp "$@" -c \
		kernel.cc -o kernel.o
	sed 's/cpp_fused_scale_1/cpp_fused_other_2/; /cpp_fused_softmax_0/,/^}/d; s/2 [*] in/3 * in/' kernel.cc >other.cc
	g++ -O3 -g1 -fPIC -std=c++20 -fopenmp "$@" -c other.cc -o other.o
}
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [64, 80]}
  t: {dtype: f32, shape: [64, 80]}
  u: {dtype: f32, shape: [64, 80]}
  top: {dtype: f32, shape: [64], role: output}
  sum: {dtype: f32, shape: [64], role: output}
  y: {dtype: f32, shape: [64, 80]}
kernels:
  cpp_fused_scale_1: {signature: "split=m reentrant; in x f32[m,80], out y f32[m,80], m i64"}
  cpp_fused_other_2: {signature: "split=m reentrant; in x f32[m,80], out y f32[m,80], m i64"}
  cpp_fused_softmax_0:
    signature: "split=m reentrant; in x f32[m,80], out top f32[m], out sum f32[m], out y f32[m,80], m i64"
tasks:
  - {name: scale, kernel: cpp_fused_scale_1, args: [x, t], scope: all}
  - {name: other, kernel: cpp_fused_other_2, args: [t, u], scope: all}
  - {name: softmax, kernel: cpp_fused_softmax_0, args: [u, top, sum, y], scope: all}
M
cat >oracle.py <<'P'
import math, struct
data = [struct.unpack("<5120f", open(name, "rb").read()[-20480:]) for name in ("x.npy", "y.npy")]
for row in range(64):
    x, y = [values[row * 80:row * 80 + 80] for values in data]
    e = [math.exp(6 * (value - max(x))) for value in x]
    assert all(abs(a / sum(e) - b) <= 1e-5 for a, b in zip(e, y)), row
P
/usr/bin/python3 - <<'P'
import random, struct
values = [random.Random(1).uniform(-1, 1) for _ in range(5120)]
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (64, 80), }"
start = b"\x93NUMPY\x01\x00v\x00" + header.ljust(117).encode() + b"\n"
open("x.npy", "wb").write(start + struct.pack("<5120f", *values))
P
for flags in "" -O1 "-O2 -D_GLIBCXX_ASSERTIONS -std=c++17" "-ffunction-sections -fdata-sections"; do
	objects $flags
	# shellcheck disable=SC2086 # a list of options
	"$sklink" model.yaml kernel.o other.o $compat -o model.sk || fail "flags '$flags'"
	for cores in 1 2 3; do
		for check in "" --verify --guard --check-races; do
			"$skrun" model.sk --input x=x.npy --cores $cores $check --output y=y.npy >out.txt 2>&1 ||
				{ cat out.txt; fail "flags '$flags' on $cores cores $check"; }
			[ -n "$check" ] || /usr/bin/python3 oracle.py || fail "wrong: flags '$flags' on $cores cores"
		done
	done
done

# ---- what a kernel needs is there, and each error ends the launch with its text ----

cat >errors.cc <<'C'
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

struct own final : std::exception { const char *what() const noexcept override { return "own"; } };
struct alignas(128) wide { float values[32]; };
extern "C" void kernel(const float *x, float *y, int64_t n, int64_t error)
{
	std::vector<float> copy(x, x + n);
	wide *aligned = new wide;
	float *plain = new float[n];

	if ((uintptr_t)aligned % 128)
		throw 1;
	for (int64_t i = 0; i < n; i++) {
		aligned->values[i % 32] = copy[i];
		plain[i] = aligned->values[i % 32] + 1;
		y[i] = plain[i];
	}
	delete aligned;
	delete[] plain;
	copy.push_back(7); /* which may throw std::length_error */
	try {
		switch (error) {
		case 1: throw own();
		case 2: throw std::runtime_error("a text");
		case 3: throw std::invalid_argument(std::string("a longer text than a string has room for, number ") + "3");
		case 4: y[0] = copy.at(n + 5); break;
		case 5: throw std::bad_alloc();
		case 6: throw n;
		case 7: throw std::out_of_range(std::string("short"));
		}
	} catch (const std::exception &) {
		y[0] = 100;
	}
}
C
g++ -O1 -fPIC -std=c++20 -c errors.cc -o errors.o
errors() { # NUMBER: errors.yaml, which makes that error
	cat >errors.yaml <<-M
		sklink: 1
		tensors: {x: {dtype: f32, shape: [40]}, y: {dtype: f32, shape: [40]}}
		kernels: {kernel: {signature: "in x f32[n], out y f32[n], n i64, error i64"}}
		tasks: [{name: t, kernel: kernel, args: [x, y], set: {error: $1}, scope: all}]
	M
}
errors 0
# shellcheck disable=SC2086 # a list of options
"$sklink" errors.yaml errors.o $compat -o errors.sk
for check in "" --verify --guard; do
	"$skrun" errors.sk --random 1 $check --output y=y.npy >out.txt || fail "no error: $check"
done
number=0
for text in 'C[+][+]: own: an exception has been thrown' 'C[+][+]: std::runtime_error: a text' \
	'C[+][+]: std::(string or stream|invalid_argument): ' 'C[+][+]: std::out_of_range: vector::_M_range_check' \
	'C[+][+]: std::bad_alloc: an exception has been thrown' 'C[+][+]: long: an exception has been thrown' \
	'C[+][+]: std::out_of_range: short'; do
	number=$((number + 1))
	errors $number
	# shellcheck disable=SC2086 # a list of options
	"$sklink" errors.yaml errors.o $compat -o errors.sk
	fails_with "^$text" "$skrun" errors.sk --random 1
	grep -q "task 't': kernel kernel" err.txt || { cat err.txt; fail "error $number: no kernel"; }
done

# libstdc++.a comes first if it is named first: exceptions are caught.
for library in libstdc++.a libgcc_eh.a libgcc.a; do
	[ -e "$(g++ -print-file-name=$library)" ] || exit 0
done
for number in 1 2 3 4 5 7; do
	errors $number
	# shellcheck disable=SC2046,SC2086 # lists of options
	"$sklink" errors.yaml errors.o $(g++ -print-file-name=libstdc++.a) $(g++ -print-file-name=libgcc_eh.a) \
		$(g++ -print-file-name=libgcc.a) --defsym=syscall=sched_yield $compat -o errors.sk || fail "error $number"
	"$skrun" errors.sk --random 1 --output y=y.npy >out.txt || fail "error $number is not caught"
	[ "$(tail -c 160 y.npy | od -An -tf4 -N4 | tr -d ' ')" = 100 ] || fail "error $number"
done
