/* Halide's runtime (HalideRuntime.h v10 to v21) for objects that were compiled with no_runtime: memory, parallel loops
 * by the calling core alone, errors. In objects with that runtime, halide-hook.c lets it call the functions
 * sk_halide_…. An error is printed by its function's name, without the values, and its code is returned, which ends the
 * launch.
 *
 * Not defined: asynchronous pipelines (halide_do_parallel_tasks), devices, tracing, profiling. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "compat/compat.h"

/* Halide reads up to 8 bytes before and after the memory that it asked for; glibc's own words come before it. */
enum { HALIDE_ALIGNMENT = 64 };

SK_COMPAT void *halide_malloc(void *context, size_t size)
{
	void *memory;

	(void)context;
	return posix_memalign(&memory, HALIDE_ALIGNMENT, size + HALIDE_ALIGNMENT) ? NULL : memory;
}

SK_COMPAT void halide_free(void *context, void *memory)
{
	(void)context;
	free(memory);
}

SK_COMPAT void sk_halide_print(void *context, const char *text)
{
	(void)context;
	sk_compat_tell("Halide", "print", text);
}

SK_COMPAT void sk_halide_error(void *context, const char *text)
{
	(void)context;
	sk_compat_tell("Halide", "error", text);
}

SK_COMPAT void halide_print(void *context, const char *text) { sk_halide_print(context, text); }
SK_COMPAT void halide_error(void *context, const char *text) { sk_halide_error(context, text); }

typedef int halide_task(void *context, int number, uint8_t *closure);
typedef int halide_loop_task(void *context, int least, int extent, uint8_t *closure, void *parent);

SK_COMPAT int halide_do_task(void *context, halide_task *task, int number, uint8_t *closure)
{
	return task(context, number, closure);
}

SK_COMPAT int halide_do_loop_task(void *context, halide_loop_task *task, int least, int extent, uint8_t *closure,
				  void *parent)
{
	return task(context, least, extent, closure, parent);
}

SK_COMPAT int sk_halide_do_par_for(void *context, halide_task *task, int least, int size, uint8_t *closure)
{
	for (int i = 0; i < size; i++) {
		int status = task(context, least + i, closure);

		if (status)
			return status;
	}
	return 0;
}

SK_COMPAT int halide_do_par_for(void *context, halide_task *task, int least, int size, uint8_t *closure)
{
	return sk_halide_do_par_for(context, task, least, size, closure);
}

/* Parameters beyond the context are not looked at: their types differ. The codes are those of enum
 * halide_error_code_t. */
#define ERROR(name, code)                                   \
	SK_COMPAT int halide_error_##name(void *context)    \
	{                                                   \
		halide_error(context, "halide_error_" #name); \
		return code;                                \
	}
ERROR(bounds_inference_call_failed, -1)
ERROR(extern_stage_failed, -1)
ERROR(explicit_bounds_too_small, -2)
ERROR(bad_type, -3)
ERROR(access_out_of_bounds, -4)
ERROR(buffer_allocation_too_large, -5)
ERROR(buffer_extents_too_large, -6)
ERROR(constraints_make_required_region_smaller, -7)
ERROR(constraint_violated, -8)
ERROR(param_too_small_i64, -9)
ERROR(param_too_small_u64, -9)
ERROR(param_too_small_f64, -9)
ERROR(param_too_large_i64, -10)
ERROR(param_too_large_u64, -10)
ERROR(param_too_large_f64, -10)
ERROR(out_of_memory, -11)
ERROR(buffer_argument_is_null, -12)
ERROR(debug_to_file_failed, -13)
ERROR(no_device_interface, -19)
ERROR(unaligned_host_ptr, -24)
ERROR(bad_fold, -25)
ERROR(fold_factor_too_small, -26)
ERROR(requirement_failed, -27)
ERROR(buffer_extents_negative, -28)
ERROR(specialize_fail, -31)
ERROR(host_is_null, -34)
ERROR(bad_extern_fold, -35)
ERROR(device_interface_no_device, -36)
ERROR(host_and_device_dirty, -37)
ERROR(buffer_is_null, -38)
ERROR(device_crop_failed, -41)
ERROR(bad_dimensions, -43)
ERROR(device_dirty_with_no_device_support, -44)
ERROR(storage_bound_too_small, -45)
ERROR(split_factor_not_positive, -46)
ERROR(vscale_invalid, -47)
