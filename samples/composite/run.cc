// A C++ program that uses libskrt as one uses a driver: a class that owns each object and throws what skrt_error() says,
// arrays bound by name, work queued on a stream ahead of its execution. It runs the package on the host and on the
// simulated device, where the order of the cores must make no difference: run-cc composite.sk
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "skrt.h"

namespace {

void check(skrt_status status)
{
	if (status != SKRT_OK)
		throw std::runtime_error(std::string(skrt_status_name(status)) + ": " + skrt_error());
}

// Destroys in the reverse order of construction, which is what libskrt asks for.
template <typename T, skrt_status (*destroy)(T *)> struct destroyer {
	void operator()(T *object) const { destroy(object); }
};
template <typename T, skrt_status (*destroy)(T *)> using owned = std::unique_ptr<T, destroyer<T, destroy>>;

using device_ptr = owned<skrt_device, skrt_device_close>;
using module_ptr = owned<skrt_module, skrt_module_unload>;
using instance_ptr = owned<skrt_instance, skrt_instance_destroy>;
using stream_ptr = owned<skrt_stream, skrt_stream_destroy>;
using event_ptr = owned<skrt_event, skrt_event_destroy>;

template <typename Pointer, typename Make> Pointer make(Make create)
{
	typename Pointer::pointer object = nullptr;

	check(create(&object));
	return Pointer(object);
}

constexpr std::uint64_t shape[] = {4, 4};
constexpr int elements = 16, runs = 3;

// Several runs in flight: for each, the inputs are copied in, the network runs, the results are copied out.
std::vector<float> compute(const char *package, const skrt_device_options &options)
{
	auto device = make<device_ptr>([&](skrt_device **d) { return skrt_device_open(&options, d); });
	auto module = make<module_ptr>([&](skrt_module **m) { return skrt_module_load(device.get(), package, m); });
	auto instance = make<instance_ptr>([&](skrt_instance **i) { return skrt_instance_create(module.get(), i); });
	auto stream = make<stream_ptr>([&](skrt_stream **s) { return skrt_stream_create(device.get(), s); });
	auto done = make<event_ptr>([&](skrt_event **e) { return skrt_event_create(device.get(), e); });
	alignas(64) float x[elements], y[elements];
	std::vector<float> inputs(runs * elements), results(runs * elements);
	int ended = 0;

	check(skrt_instance_bind_array(instance.get(), "x", SKRT_F32, 2, shape, x));
	check(skrt_instance_bind_array(instance.get(), "y", SKRT_F32, 2, shape, y));
	for (int run = 0; run < runs; run++) {
		for (int i = 0; i < elements; i++)
			inputs[run * elements + i] = static_cast<float>(i + run);
		check(skrt_copy(stream.get(), x, &inputs[run * elements], sizeof(x)));
		check(skrt_launch_network(stream.get(), instance.get()));
		check(skrt_copy(stream.get(), &results[run * elements], y, sizeof(y)));
		check(skrt_stream_call(
			stream.get(), [](void *count, skrt_status) { ++*static_cast<int *>(count); }, &ended));
	}
	check(skrt_event_record(done.get(), stream.get()));
	check(skrt_event_synchronise(done.get()));
	check(skrt_synchronise(stream.get())); // nothing to wait for: it says what went wrong
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
