/* skrt.hh: skrt.h for C++ (from C++14 on). Each class owns an object of libskrt: it can be moved, not copied, and its
 * destructor destroys the object. A failure throws skrt::error.
 *
 *   skrt::device device;
 *   skrt::module module(device, "model.sk");
 *   skrt::instance instance(module);
 *   skrt::stream stream(device);
 *   instance.bind("x", x, {4, 4});                 // float *x, aligned to 64
 *   instance.bind("y", y, {4, 4});
 *   stream.run(instance);                          // or launch, and later synchronise
 *
 * Objects convert to the pointers that skrt.h's functions take; skrt::check throws the failures that these return.
 *
 * Order of destruction: declare each object after the objects that it is made of, and streams after the instances that
 * are launched on them. C++ destroys in reverse, which is the order that libskrt requires. The destructor of a stream
 * or an event waits first: then nothing is pending for an instance that was declared before it, nor for memory that
 * was. Destructors report no errors. */
#ifndef SKRT_HH
#define SKRT_HH

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>

#include "skrt.h"

namespace skrt
{

/* A failure: the text of skrt_error(), and the status. */
class error : public std::runtime_error
{
      public:
	error(skrt_status status, const char *text) : std::runtime_error(text), status_(status)
	{
	}
	skrt_status status() const
	{
		return status_;
	}

      private:
	skrt_status status_;
};

inline void check(skrt_status status)
{
	if (status != SKRT_OK)
		throw error(status, skrt_error());
}

/* Convert the status of a query of a stream or an event: SKRT_NOT_READY is false. */
inline bool ready(skrt_status status)
{
	if (status == SKRT_NOT_READY)
		return false;
	check(status);
	return true;
}

/* The number of an element type. */
template <typename T> struct dtype;
template <> struct dtype<std::int8_t> : std::integral_constant<skrt_dtype, SKRT_I8> {
};
template <> struct dtype<std::uint8_t> : std::integral_constant<skrt_dtype, SKRT_U8> {
};
template <> struct dtype<std::int16_t> : std::integral_constant<skrt_dtype, SKRT_I16> {
};
template <> struct dtype<std::uint16_t> : std::integral_constant<skrt_dtype, SKRT_U16> {
};
template <> struct dtype<std::int32_t> : std::integral_constant<skrt_dtype, SKRT_I32> {
};
template <> struct dtype<std::uint32_t> : std::integral_constant<skrt_dtype, SKRT_U32> {
};
template <> struct dtype<std::int64_t> : std::integral_constant<skrt_dtype, SKRT_I64> {
};
template <> struct dtype<std::uint64_t> : std::integral_constant<skrt_dtype, SKRT_U64> {
};
template <> struct dtype<float> : std::integral_constant<skrt_dtype, SKRT_F32> {
};
template <> struct dtype<double> : std::integral_constant<skrt_dtype, SKRT_F64> {
};
template <> struct dtype<bool> : std::integral_constant<skrt_dtype, SKRT_BOOL> {
};

/* The owner of an object of libskrt. */
template <typename T, void (*destroy)(T *)> class owned
{
      public:
	T *get() const
	{
		return pointer_.get();
	}
	operator T *() const
	{
		return get();
	}

      protected:
	template <typename Create> explicit owned(Create create)
	{
		T *object = nullptr;

		check(create(&object));
		pointer_.reset(object);
	}

      private:
	struct destroyer {
		void operator()(T *object) const
		{
			destroy(object);
		}
	};
	std::unique_ptr<T, destroyer> pointer_;
};

inline void end(skrt_device *device)
{
	skrt_device_close(device);
}

inline void end(skrt_module *module)
{
	skrt_module_unload(module);
}

inline void end(skrt_instance *instance)
{
	skrt_instance_destroy(instance);
}

inline void end(skrt_stream *stream)
{
	skrt_synchronise(stream);
	skrt_stream_destroy(stream);
}

inline void end(skrt_event *event)
{
	skrt_event_synchronise(event);
	skrt_event_destroy(event);
}

class device : public owned<skrt_device, end>
{
      public:
	explicit device(const skrt_device_options &options = {})
	    : owned([&](skrt_device **result) { return skrt_device_open(&options, result); })
	{
	}
};

class module : public owned<skrt_module, end>
{
      public:
	module(skrt_device *device, const std::string &path) :owned([&](skrt_module **result) {
		return skrt_module_load(device, path.c_str(), result);
	})
	{
	}
	module(skrt_device *device, const skrt_source &source) :owned([&](skrt_module **result) {
		return skrt_module_load_from(device, &source, result);
	})
	{
	}
	module(skrt_device *device, const sk_plan *plan) /* for a package that is linked into the program */
		:owned([&](skrt_module **result) { return skrt_module_load_linked(device, plan, result); })
	{
	}
	/* The dimensions of a package with bounds, of all networks. */
	std::uint32_t dimension_count() const
	{
		return skrt_module_dimension_count(get());
	}
	skrt_dimension dimension(std::uint32_t index) const
	{
		skrt_dimension result = skrt_dimension();

		result.size = sizeof(result);
		check(skrt_module_dimension(get(), index, &result));
		return result;
	}
};

class instance : public owned<skrt_instance, end>
{
      public:
	explicit instance(skrt_module *module)
	    : owned([&](skrt_instance **result) { return skrt_instance_create(module, result); })
	{
	}
	instance(skrt_module *module, const std::string &network)
	    : owned([&](skrt_instance **result) { return skrt_instance_create_for(module, network.c_str(), result); })
	{
	}

	/* Call skrt_instance_bind_array: the tensor must have the type and shape. For types that C++ lacks (f16, bf16),
	 * give the number: bind("x", SKRT_BF16, x, {4, 4}). */
	template <typename T> void bind(const char *name, T *data, std::initializer_list<std::uint64_t> shape)
	{
		bind(name, dtype<T>::value, data, shape);
	}
	void bind(const char *name, skrt_dtype type, void *data, std::initializer_list<std::uint64_t> shape)
	{
		check(skrt_instance_bind_array(get(), name, type, static_cast<std::uint32_t>(shape.size()),
					       shape.begin(), data));
	}
	/* Set the size of a dimension that has bounds; bind() sets those that its shape shows. */
	void set_dimension(const char *name, std::uint64_t size)
	{
		check(skrt_instance_set_dimension(get(), name, size));
	}
	/* The present size of a dimension, by its number in the module, and the tensor that shows it. */
	skrt_extent dimension(std::uint32_t index) const
	{
		skrt_extent result = skrt_extent();

		result.size = sizeof(result);
		check(skrt_instance_dimension(get(), index, &result));
		return result;
	}
	/* The tensor with that binding number, with the shape and bytes of the present sizes. */
	skrt_tensor tensor(std::uint32_t index) const
	{
		skrt_tensor result = skrt_tensor();

		result.size = sizeof(result);
		check(skrt_instance_tensor(get(), index, &result));
		return result;
	}
};

class event : public owned<skrt_event, end>
{
      public:
	explicit event(skrt_device *device)
	    : owned([&](skrt_event **result) { return skrt_event_create(device, result); })
	{
	}
	void synchronise()
	{
		check(skrt_event_synchronise(get()));
	}
	bool query() const
	{
		return ready(skrt_event_query(get()));
	}
};

class stream : public owned<skrt_stream, end>
{
      public:
	explicit stream(skrt_device *device)
	    : owned([&](skrt_stream **result) { return skrt_stream_create(device, result); })
	{
	}
	void launch(skrt_instance *instance)
	{
		check(skrt_launch_network(get(), instance));
	}
	void run(skrt_instance *instance)
	{
		check(skrt_run_network(get(), instance));
	}
	void copy(void *to, const void *from, std::uint64_t bytes)
	{
		check(skrt_copy(get(), to, from, bytes));
	}
	void call(void (*function)(void *, skrt_status), void *context)
	{
		check(skrt_stream_call(get(), function, context));
	}
	void record(skrt_event *event)
	{
		check(skrt_event_record(event, get()));
	}
	void wait(skrt_event *event)
	{
		check(skrt_stream_wait(get(), event));
	}
	void synchronise()
	{
		check(skrt_synchronise(get()));
	}
	bool query() const
	{
		return ready(skrt_stream_query(get()));
	}
};

/* Return the seconds between two events that have been reached. */
inline double elapsed(skrt_event *start, skrt_event *end)
{
	double seconds = 0;

	check(skrt_event_elapsed(start, end, &seconds));
	return seconds;
}

} // namespace skrt

#endif
