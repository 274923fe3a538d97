/* TVM's backend interface, tvm/runtime/c_backend_api.h of 0.8 to 0.27 and tvm/ffi/c_api.h: workspaces, parallel loops
 * by the calling core alone, errors. A failing kernel returns -1, which ends the launch; its error is printed.
 *
 * Functions of a module's environment (TVMBackendGetFuncFromEnv, TVMFFIFunctionCall: packed functions that Python or
 * another module registers) are not defined. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "compat/compat.h"

enum { TVM_ALIGNMENT = 64 }; /* kAllocAlignment on processors */

struct tvm_group {
	void *sync_handle;
	int32_t task_count;
};

typedef int tvm_task(int number, struct tvm_group *group, void *data);

SK_COMPAT void *TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t size, int code, int bits)
{
	void *workspace;

	(void)device_type, (void)device_id, (void)code, (void)bits;
	return posix_memalign(&workspace, TVM_ALIGNMENT, size ? size : 1) ? NULL : workspace;
}

SK_COMPAT int TVMBackendFreeWorkspace(int device_type, int device_id, void *workspace)
{
	(void)device_type, (void)device_id;
	free(workspace);
	return 0;
}

/* A count of 0 leaves the number of tasks to the runtime: one. */
SK_COMPAT int TVMBackendParallelLaunch(tvm_task *task, void *data, int count)
{
	struct tvm_group group = {NULL, count > 0 ? count : 1};

	for (int i = 0; i < group.task_count; i++) {
		int status = task(i, &group, data);

		if (status)
			return status;
	}
	return 0;
}

SK_COMPAT int TVMBackendParallelBarrier(int number, struct tvm_group *group)
{
	(void)number;
	if (group->task_count == 1)
		return 0;
	sk_compat_tell("TVM", __func__, "the loop asks for several tasks, which one core cannot run at the same time");
	return -1;
}

SK_COMPAT void TVMAPISetLastError(const char *message)
{
	sk_compat_tell("TVM", "error", message);
}

SK_COMPAT void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message)
{
	sk_compat_tell("TVM", kind, message);
}

SK_COMPAT void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts, int32_t count)
{
	fprintf(stderr, "TVM: %s: ", kind);
	for (int32_t i = 0; i < count; i++)
		if (parts[i])
			fputs(parts[i], stderr);
	fputc('\n', stderr);
}
