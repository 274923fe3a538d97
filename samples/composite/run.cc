// A C++ program that uses libskrt like a driver, with the classes of skrt.hh: arrays bound by name, work queued on a
// stream ahead of its execution. It runs the package on the host and on the simulated device, where the order of the
// cores must make no difference: run-cc composite.sk
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "skrt.hh"

namespace {

constexpr int elements = 16, runs = 3;

// Several runs in flight: for each, the inputs are copied in, the network runs, the results are copied out.
std::vector<float> compute(const char *package, const skrt_device_options &options)
{
	alignas(64) float x[elements], y[elements];
	std::vector<float> inputs(runs * elements), results(runs * elements);
	int ended = 0;
	skrt::device device(options);
	skrt::module module(device, package);
	skrt::instance instance(module);
	skrt::stream stream(device);
	skrt::event done(device);

	instance.bind("x", x, {4, 4});
	instance.bind("y", y, {4, 4});
	for (int run = 0; run < runs; run++) {
		for (int i = 0; i < elements; i++)
			inputs[run * elements + i] = static_cast<float>(i + run);
		stream.copy(x, &inputs[run * elements], sizeof(x));
		stream.launch(instance);
		stream.copy(&results[run * elements], y, sizeof(y));
		stream.call([](void *count, skrt_status) { ++*static_cast<int *>(count); }, &ended);
	}
	stream.record(done);
	done.synchronise();
	stream.synchronise(); // nothing to wait for: it throws the error
	if (ended != runs)
		throw std::runtime_error("a callback is missing");
	return results;
}

} // namespace

int main(int argc, char **argv)
try {
	if (argc != 2) {
		std::fputs("usage: run-cc PACKAGE\n", stderr);
		return 1;
	}
	skrt_device_options host = {}, simulated = {};
	simulated.device = "a3";
	const std::vector<float> results = compute(argv[1], host);
	for (simulated.seed = 0; simulated.seed < 5; simulated.seed++)
		if (compute(argv[1], simulated) != results)
			throw std::runtime_error("the simulated device computes something else");
	for (int i = 0; i < elements; i++)
		std::printf("%g%c", results[i], i == elements - 1 ? '\n' : ' ');
	return 0;
} catch (const std::exception &error) {
	std::fprintf(stderr, "run-cc: %s\n", error.what());
	return 1;
}
