/* skrt.h: load packages made by sklink and run them. C and C++. libskrt(3) has an example, and the rules for all
 * functions: ownership, threads, the state of the calling thread, locale, order, faults.
 *
 * At each function: @param is an argument, not NULL unless it says so. @return is the result; for a status it lists the
 * failures, besides SKRT_INVALID_ARGUMENT for a null pointer and SKRT_DEVICE_LOST, which any function may return. A
 * failure has changed nothing and left its result alone, unless the function says otherwise. @threads is one of these:
 * *any* thread, also at the same time as other calls on the object; the same, and also in a *fork* of the process; the
 * same as any, and the thread *plays* package code; or any thread, but no other call may use the object, now or later
 * (*last*). */
#ifndef SKRT_H
#define SKRT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ABI policy. Functions, constants and fields keep their type, place and meaning. New functions come in a new symbol
 * version (SKRT_1.0 is the first, SKRT_1.1 has the functions for sizes), new constants with new numbers, new fields at
 * the end of their struct. Every struct begins with its size. A program in C sets it:
 * struct skrt_tensor tensor = {.size = sizeof(tensor)}. In C++, from C++14 on, each struct is initialised with it. If a
 * struct is smaller than the library's, missing fields are taken as 0, and are not filled. A larger one is accepted if
 * all bytes that the library does not know are 0; otherwise the result is SKRT_INVALID_ARGUMENT, and the text has the
 * offset of the first such byte. After the library has filled a struct, its size is the number of bytes filled.
 * Programs that were linked before versions existed still run, with functions of the version SKRT_0. */
#if defined(__cplusplus) && __cplusplus >= 201402L
#define SKRT_SIZE_OF(type) = sizeof(type)
#else
#define SKRT_SIZE_OF(type)
#endif

/* ---- status ---- */

enum skrt_status {
	SKRT_OK,
	SKRT_INVALID_ARGUMENT, /* a null pointer, an index out of range, a binding of the wrong size or alignment */
	SKRT_OUT_OF_MEMORY, /* memory, threads or address space */
	SKRT_CANNOT_READ, /* the operating system would not open or map the file */
	SKRT_BAD_PACKAGE, /* not a package, damaged, or made for another version or machine */
	SKRT_UNSUPPORTED, /* a package that needs something that libskrt does not offer: instruction sets of other
			     processors, unknown imports, more thread-local storage at one place than there is */
	SKRT_NOT_FOUND, /* no such name, or the package has no such entry */
	SKRT_NOT_BOUND, /* a launch of an instance with unbound tensors */
	SKRT_BUSY, /* still in use: launches pending, or objects made of it alive */
	SKRT_KERNEL_FAILED, /* a kernel returned non-zero, raised a fault, took too long, or called abort or the like */
	SKRT_NOT_READY, /* a query: it has not happened yet */
	SKRT_DEVICE_LOST, /* an earlier fault may have left a lock of the C library taken: close the device; or this is
			     a fork of the process that opened it */
	SKRT_CANNOT_WRITE /* the operating system would not create or write the file */
};

/* Return the name of a status.
 *
 * @param status: any number
 * @return "SKRT_OK" …; "?" for a number that is not a status
 * @threads fork */
const char *skrt_status_name(enum skrt_status status);

/* Return the text of the last failure on this thread.
 *
 * @return one sentence, without a newline, that names the file, the tensor, the task and its kernel; "" if nothing has
 *         failed. Control characters in names are escaped (\xNN). Valid until the next call on this thread
 * @threads fork */
const char *skrt_error(void);

/* Return the version of the library.
 *
 * @return "0.1.0"
 * @threads fork */
const char *skrt_version(void);

/* ---- devices ---- */

struct skrt_device;

/* Zero in a field means the default. */
struct skrt_device_options {
	size_t size SKRT_SIZE_OF(struct skrt_device_options);
	/* "host", "a3" (simulated, 24 cube and 48 vector cores), or the path of a profile of another device to
	 * simulate, with a point or a slash in it; NULL: host */
	const char *device;
	uint32_t cores; /* of each lane; host: as many as there are processors for this process */
	/* Most time for one launch, from its start on, for a serial run, and for a package's constructors and
	 * destructors; 0: no bound. */
	uint32_t timeout_ms;
	uint64_t seed; /* simulated devices: permutes the order in which ready cores go on; 0: in turn */
	/* Bytes of each core's stack, 16 KiB to 1 TiB; default 8 MiB. If a kernel needs more, it has a fault. The text
	 * of the fault says so if it touched at most 1 GiB below the stack (256 KiB if the process has a limit of
	 * address space, RLIMIT_AS). */
	uint64_t stack_size;
	uint64_t checks; /* SKRT_GUARD, SKRT_CHECK_RACES, SKRT_CHECK_SPLIT; 0: none */
};

/* Checks of a device find errors of kernels and packages. One launch runs at a time, over all streams. It goes through
 * the plan step by step, without the dispatchers, with all cores on one thread. Every tensor is in memory of its own:
 * the bound memory is copied in and out. A finding ends the launch with SKRT_KERNEL_FAILED, and the text names task,
 * kernel, core, tensor and bytes.
 *
 * With any check a call may access only the bytes of its arguments. Memory is opened by pages. A write outside these
 * bytes on open pages is found after the call, or when the call waits for other blocks; so is changed control state.
 * Before sk_wait_pre_task_end, and after sk_set_next_task_start, only scratch is open. Serial entries run unchecked.
 *
 * An instance has memory of its own for all tensors, and fills it. If the system has less, skrt_instance_create fails
 * first, with SKRT_OUT_OF_MEMORY. */
enum {
	/* Also find calls that read unwritten bytes, in words of 8 bytes (f32: 4), and kernels that leave such words of
	 * an `out` parameter unwritten. Before each call these bytes get a pattern; temporaries and outputs hold it
	 * from the creation of the instance, or the filling of its workspace, on. */
	SKRT_GUARD = 1,
	/* Also find accesses of two cores to the same bytes, at least one a write, that no await of the plan orders.
	 * Findings do not depend on the order in which the cores happen to run. */
	SKRT_CHECK_RACES = 2,
	/* Also call each kernel with `split`, `each` or `tile` again, from the same bytes each time: for each unit of
	 * its part alone, and for several other lengths of whole units. Find results that differ from those of one call
	 * for all of the part. In launches of single tasks one core has all parts. For a part with more units than
	 * SKRT_SPLIT_UNITS, short calls are made for samples, the same in every run, and long ones for the units
	 * between them. */
	SKRT_CHECK_SPLIT = 4
};

enum { SKRT_SPLIT_UNITS = 16384 };

/* Open a device.
 *
 * The host device plays cores on threads of this process, each bound to a processor: one core on each thread or, if a
 * lane has more cores than there are processors, several in turn. The first thread is the one that waits in
 * skrt_synchronise or skrt_run (else a thread of the device). The others are created when the first package that needs
 * them is loaded. A caller on another thread's processor moves to the first one, if it may run there; its affinity is
 * restored afterwards. Between launches the threads spin for some microseconds and then sleep.
 *
 * A simulated device plays all cores on one thread, one at a time. Results, and hangs, depend only on the package, the
 * number of cores and the seed; with several launches in flight also on the launches that had been queued when others
 * started or ended. It detects at once that all cores wait for each other.
 *
 * The first device that is opened installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP and SIGURG (which ends
 * kernels that take too long). Signals that do not come from a kernel are passed on to the previous handlers. Handlers
 * that are installed later must pass signals on: otherwise libskrt does not see the faults of kernels.
 *
 * @param options: NULL: all defaults
 * @param device: receives the device, to be closed by skrt_device_close
 * @return SKRT_NOT_FOUND: no such device, or its profile has an error; SKRT_INVALID_ARGUMENT: more than 4096 cores, a
 *         seed for the host, unknown checks, an impossible size; SKRT_OUT_OF_MEMORY
 * @threads fork: the new device can be used in the fork */
enum skrt_status skrt_device_open(const struct skrt_device_options *options, struct skrt_device **device);

/* End the threads and free the device.
 *
 * @param device: may be NULL
 * @return SKRT_BUSY: modules, streams, events or memory of it are alive, or a trace has not ended
 * @threads last */
enum skrt_status skrt_device_close(struct skrt_device *device);

/* Return the number of cores of a lane.
 *
 * @param lane: its number in the plan (0, 1)
 * @return the number; 0 if no device has such a lane
 * @threads fork */
uint32_t skrt_device_cores(const struct skrt_device *device, uint32_t lane);

/* Return the name of the device.
 *
 * @return "host", "a3", or the name in its profile; lives as long as the device
 * @threads fork */
const char *skrt_device_name(const struct skrt_device *device);

/* ---- memory ---- */

/* Allocate memory for tensors, aligned for bindings. Its contents are undefined. Any memory of this process can be
 * bound; this is for programs that have none of their own. It belongs to the device.
 *
 * @param memory: receives the address, to be freed by skrt_free
 * @return SKRT_OUT_OF_MEMORY
 * @threads any */
enum skrt_status skrt_allocate(struct skrt_device *device, uint64_t bytes, void **memory);

/* Free memory of skrt_allocate for the same device.
 *
 * @param memory: not in use: neither bound to an instance with launches pending, nor in a pending copy; may be NULL
 * @return no other failure
 * @threads last, of the memory */
enum skrt_status skrt_free(struct skrt_device *device, void *memory);

/* ---- modules ---- */

struct skrt_module;
struct skrt_kernel;
struct sk_plan; /* of a package that is linked into the program */

/* Element types; the numbers are part of the package format. */
enum skrt_dtype {
	SKRT_I8 = 1,
	SKRT_U8,
	SKRT_I16,
	SKRT_U16,
	SKRT_I32,
	SKRT_U32,
	SKRT_I64,
	SKRT_U64,
	SKRT_F16,
	SKRT_BF16,
	SKRT_F32,
	SKRT_F64,
	SKRT_BOOL
};

enum skrt_role {
	SKRT_INPUT = 1, /* read */
	SKRT_OUTPUT, /* written */
	SKRT_INOUT /* read and written: state */
};

enum { SKRT_MAX_RANK = 8 };

/* A tensor that must be bound. Row-major and contiguous. */
struct skrt_tensor {
	size_t size SKRT_SIZE_OF(struct skrt_tensor);
	const char *name;
	enum skrt_dtype dtype;
	enum skrt_role role;
	uint32_t rank;
	uint64_t shape[SKRT_MAX_RANK]; /* extents from the outermost; those from rank on are 0 */
	uint64_t bytes;
	uint64_t padding; /* bytes after these that kernels may read, and do not use */
};

/* Load a package: check the file's structure, map it (text and constants are shared with other processes and not
 * copied), relocate it and protect it. None of it is run. A package loaded twice is two independent modules. The file
 * must not be changed while it is loaded; replacing it by a rename, as sklink does, is fine. Without a public key a
 * change of the file changes the code that runs, and a cut of the file makes it fault.
 *
 * The package is registered with gdb if gdb traced the program when the first device was opened; then gdb stops in
 * kernels and shows their source. With SKRT_GDB=1 in the environment it is always registered, for a gdb that attaches
 * later; with SKRT_GDB=0 never.
 *
 * @param path: of the file
 * @param module: receives the module, to be unloaded by skrt_module_unload
 * @return SKRT_CANNOT_READ, SKRT_BAD_PACKAGE, SKRT_UNSUPPORTED, SKRT_OUT_OF_MEMORY
 * @threads any */
enum skrt_status skrt_module_load(struct skrt_device *device, const char *path, struct skrt_module **module);

/* An import of a package, and its address. All elements of an array have the same size. */
struct skrt_import {
	size_t size SKRT_SIZE_OF(struct skrt_import);
	const char *name;
	void (*function)(void); /* called as declared in the kernel that imports it; for data (stderr) its address */
};

/* The source of a package: exactly one of path, memory and descriptor. The rest is 0. */
struct skrt_source {
	size_t size SKRT_SIZE_OF(struct skrt_source);
	const char *path;
	const void *memory; /* a whole package, `bytes` long; it is copied, and can be freed after loading */
	uint64_t bytes;
	int use_descriptor; /* not 0: descriptor of a regular file, open for reading; it stays open, and its offset
			     * unchanged */
	int descriptor;
	const char *name; /* for error texts, without a path; NULL: "package in memory" */
	/* Functions with priority over those of libskrt; libskrt must provide all other imports of the package. They
	 * run on the cores' stacks, several at a time. They are assumed not to hold locks: see SKRT_DEVICE_LOST. The
	 * array is not needed after loading. */
	const struct skrt_import *imports;
	uint32_t import_count;
	/* Not 0: the package must be byte for byte as sklink wrote it, or as strip left that. Its seal is a hash
	 * (XXH3-128), which finds damage, but not a manipulated package with a new seal. Without a key the mapped file
	 * is checked, so a later change of it is not found. If the file is truncated during the call, SIGBUS goes to
	 * the previous handler, and ends a program without one. */
	int check_integrity;
	/* NULL, or the 32 bytes of an Ed25519 public key: the package must be signed with the matching private key
	 * (sklink --sign). The signature covers all bytes that come into memory, and the headers with their addresses
	 * and protection. With a key the package is not mapped but read into private memory and checked there, so the
	 * code that runs is the code that was checked, even if the file changes. This costs memory: the constants are
	 * not shared with other processes. It also costs time: loading 1 GiB of constants takes 1.7 s of one core, 1.6
	 * s of them for the signature. perf does not find the names of functions in such memory. */
	const unsigned char *public_key;
	/* The weights file of a package that has one (sklink --weights): its path, or a descriptor of a regular file,
	 * open for reading, which stays open with its offset unchanged. Neither: the file with the name in the package,
	 * in the folder of `path`. A file with other constants, or not all of them, is refused; check_integrity and
	 * public_key also apply to it. */
	const char *weights;
	int use_weights_descriptor; /* not 0 */
	int weights_descriptor;
};

/* Load a package, as skrt_module_load does, from any source.
 *
 * @param source: not needed any more when the module is loaded
 * @param module: receives the module, to be unloaded by skrt_module_unload
 * @return as skrt_module_load; SKRT_BAD_PACKAGE: also a package that does not match its seal or is not signed with the
 *         key; SKRT_INVALID_ARGUMENT: not exactly one source, an import without a name or an address, imports of
 *         several sizes; SKRT_UNSUPPORTED: also a key for a libskrt that was built without libsodium
 * @threads any */
enum skrt_status skrt_module_load_from(struct skrt_device *device, const struct skrt_source *source,
				       struct skrt_module **module);

/* Make a module of a package that `sklink -r` has linked into this program, or into a shared object that stays open as
 * long as the module. Nothing is loaded or copied; the plan is checked like that of a file, against the object that
 * holds it. Functions that would end the process do so.
 *
 * Modules of one plan share the kernels' hidden state, as all packages share state of the C library, such as that of
 * rand. On one device, launches that reach the same state do not overlap. They may overlap with launches on another
 * device, and with the program's own calls.
 *
 * @param plan: the address of its global symbol sk_plan_<package>, which the header of `sklink --header` declares
 * @param module: receives the module, to be unloaded by skrt_module_unload
 * @return SKRT_BAD_PACKAGE, SKRT_UNSUPPORTED, SKRT_OUT_OF_MEMORY
 * @threads any */
enum skrt_status skrt_module_load_linked(struct skrt_device *device, const struct sk_plan *plan,
					 struct skrt_module **module);

/* Unmap the package (not a linked one). First run its destructors, and those of its static objects, if its constructors
 * have run. Modules that are still loaded when the process ends are not destructed.
 *
 * @param module: may be NULL
 * @return SKRT_BUSY: instances of it, or traces of its launches, are alive
 * @threads last; plays */
enum skrt_status skrt_module_unload(struct skrt_module *module);

/* Return the number of tensors to bind.
 *
 * @return the number, above all binding numbers
 * @threads fork */
uint32_t skrt_module_tensor_count(const struct skrt_module *module);

/* Describe a tensor to bind, in a dynamic package at its largest sizes.
 *
 * @param index: its binding number
 * @param tensor: with its size set; is filled
 * @return SKRT_INVALID_ARGUMENT: the index is out of range, or the size is impossible
 * @threads fork */
enum skrt_status skrt_module_tensor(const struct skrt_module *module, uint32_t index, struct skrt_tensor *tensor);

/* Find a tensor to bind.
 *
 * @param index: receives its binding number
 * @return SKRT_NOT_FOUND, with a suggestion
 * @threads fork */
enum skrt_status skrt_module_find_tensor(const struct skrt_module *module, const char *name, uint32_t *index);

enum skrt_kernel_kind {
	SKRT_SUPERKERNEL, /* several tasks of a scope in one launch */
	SKRT_SINGLE, /* a launch of one task that was not fused */
	SKRT_TASK, /* one task by itself, for unfused runs; not part of the network's launches */
	SKRT_EXCHANGE /* a launch of one task, in which ranks exchange data */
};

struct skrt_kernel_info {
	size_t size SKRT_SIZE_OF(struct skrt_kernel_info);
	const char *name; /* the entry's symbol; of TASK the one that it would have (sklink --task-entries) */
	const char *scope; /* "" if none */
	enum skrt_kernel_kind kind;
	uint32_t task_count;
	uint32_t stream; /* number in the manifest */
	int has_serial_entry; /* skrt_run_serial runs it */
};

/* Return the number of the network's launches.
 *
 * @return the number, above all numbers of launches
 * @threads fork */
uint32_t skrt_module_kernel_count(const struct skrt_module *module);

/* Get a launch of the network, ready to run. Its record in the file is checked when it is first asked for, here or by
 * skrt_launch_network; ranges are computed for every core when it first runs.
 *
 * @param index: its number, in the plan's order
 * @param kernel: receives the launch, which belongs to the module
 * @return SKRT_INVALID_ARGUMENT: the index is out of range; SKRT_BAD_PACKAGE, SKRT_OUT_OF_MEMORY
 * @threads any */
enum skrt_status skrt_module_kernel(struct skrt_module *module, uint32_t index, const struct skrt_kernel **kernel);

/* Find a launch of the network, as skrt_module_kernel gets it.
 *
 * @param kernel: receives the launch, which belongs to the module
 * @return SKRT_NOT_FOUND, with a suggestion; SKRT_BAD_PACKAGE, SKRT_OUT_OF_MEMORY
 * @threads any */
enum skrt_status skrt_module_find_kernel(struct skrt_module *module, const char *name,
					 const struct skrt_kernel **kernel);

/* Return the number of tasks.
 *
 * @return the number, above all numbers of tasks
 * @threads fork */
uint32_t skrt_module_task_count(const struct skrt_module *module);

/* Get the launch of a task by itself. Launched one after another in network order, tasks compute the same results as
 * the network, but with a workspace in which tensors share no bytes.
 *
 * @param index: the task's number, in network order
 * @param kernel: receives the launch, which belongs to the module
 * @return SKRT_INVALID_ARGUMENT: the index is out of range; SKRT_NOT_FOUND: the package was linked without task
 *         entries; SKRT_BAD_PACKAGE, SKRT_OUT_OF_MEMORY
 * @threads any */
enum skrt_status skrt_module_task(struct skrt_module *module, uint32_t index, const struct skrt_kernel **kernel);

/* Find the launch of a task by itself, as skrt_module_task gets it.
 *
 * @param name: the task's
 * @param kernel: receives the launch, which belongs to the module
 * @return SKRT_NOT_FOUND: no such name, with a suggestion, or no task entries; SKRT_BAD_PACKAGE, SKRT_OUT_OF_MEMORY
 * @threads any */
enum skrt_status skrt_module_find_task(struct skrt_module *module, const char *name, const struct skrt_kernel **kernel);

/* Describe a launch.
 *
 * @param info: with its size set; is filled
 * @return SKRT_INVALID_ARGUMENT: the size is impossible
 * @threads fork */
enum skrt_status skrt_kernel_describe(const struct skrt_kernel *kernel, struct skrt_kernel_info *info);

/* A network. A package has one, without a name, or several (sklink --dim SET:NAME=N), which share constants and
 * kernels. Tensors, launches and tasks of each have numbers in a row, and names of tensors and tasks begin with the
 * network's name and a colon: "short:x". An instance is one network's. */
struct skrt_network {
	size_t size SKRT_SIZE_OF(struct skrt_network);
	const char *name; /* "": the package has one network */
	uint32_t first_tensor, tensor_count;
	uint32_t first_kernel, kernel_count;
	uint32_t first_task, task_count;
};

/* Describe a network by its number.
 *
 * @param index: from 0 up to SKRT_NOT_FOUND
 * @param network: with its size set; is filled
 * @return SKRT_NOT_FOUND: there are fewer; SKRT_BAD_PACKAGE; SKRT_INVALID_ARGUMENT: the size is impossible
 * @threads any */
enum skrt_status skrt_module_network(struct skrt_module *module, uint32_t index, struct skrt_network *network);

/* Describe a network by its name.
 *
 * @param name: NULL: the only one
 * @param network: with its size set; is filled
 * @return SKRT_NOT_FOUND, with the names that there are; SKRT_BAD_PACKAGE; SKRT_INVALID_ARGUMENT: NULL, and there are
 *         several, or the size is impossible
 * @threads any */
enum skrt_status skrt_module_find_network(struct skrt_module *module, const char *name, struct skrt_network *network);

/* ---- instances ---- */

struct skrt_instance;

/* Make an instance of a package's only network: a place for bindings, and a workspace of its own. The first instance of
 * a module runs the package's constructors, on the calling thread. If they fail, so do this call and all later ones,
 * with an error as for a kernel.
 *
 * Constructors and destructors are not ordered with launches. If they seed or use the random numbers of the C library
 * while launches of other packages use them, the latter get unspecified numbers. To order them, make all instances
 * first, or wait for the launches.
 *
 * @param instance: receives the instance, to be destroyed by skrt_instance_destroy
 * @return SKRT_OUT_OF_MEMORY; SKRT_KERNEL_FAILED: a constructor failed; SKRT_BAD_PACKAGE; SKRT_INVALID_ARGUMENT: the
 *         package has several networks
 * @threads plays */
enum skrt_status skrt_instance_create(struct skrt_module *module, struct skrt_instance **instance);

/* Make an instance, as skrt_instance_create does, of one of several networks. Its tensors are the only ones to bind,
 * and its launches those of skrt_launch_network; with other tensors, launches and tasks functions return
 * SKRT_INVALID_ARGUMENT. Instances of different networks have workspaces of their own, and can run at the same time.
 *
 * @param network: its name; NULL: the only one
 * @param instance: receives the instance, to be destroyed by skrt_instance_destroy
 * @return as skrt_instance_create and skrt_module_find_network
 * @threads plays */
enum skrt_status skrt_instance_create_for(struct skrt_module *module, const char *network,
					  struct skrt_instance **instance);

/* Free an instance, and none of the bound memory.
 *
 * @param instance: may be NULL
 * @return SKRT_BUSY: launches of it are pending
 * @threads last */
enum skrt_status skrt_instance_destroy(struct skrt_instance *instance);

/* ---- sizes ---- */

/* A dimension of a dynamic package: its tensors have extents that are known only when it runs. A size is from least
 * to most, and a multiple of `multiple`. Numbers of the module (struct skrt_tensor) are those of the largest sizes. */
struct skrt_dimension {
	size_t size SKRT_SIZE_OF(struct skrt_dimension);
	const char *name; /* unique in its network */
	const char *network; /* "" if the package has one network */
	uint64_t least, most, multiple;
	uint64_t usual; /* the size for which the package is fast, and which new instances have */
};

/* The size that an instance has of a dimension. */
struct skrt_extent {
	size_t size SKRT_SIZE_OF(struct skrt_extent);
	uint64_t present; /* the usual one until a shape or the program sets it */
	int is_shown; /* by the shape of an array that is bound now; 0: nothing compares it with the program's arrays */
	uint32_t tensor; /* the binding number of the array that shows it; else 0 */
};

/* Return the number of dimensions of a package.
 *
 * @return the number, above all numbers of dimensions; 0 if the package is static
 * @threads fork */
uint32_t skrt_module_dimension_count(const struct skrt_module *module);

/* Describe a dimension.
 *
 * @param index: its number
 * @param dimension: with its size set; is filled
 * @return SKRT_INVALID_ARGUMENT: the index is out of range, or the size is impossible
 * @threads fork */
enum skrt_status skrt_module_dimension(const struct skrt_module *module, uint32_t index,
				       struct skrt_dimension *dimension);

/* Set the size of a dimension of the instance's network for all launches from now on. Tensors must have at least the
 * bytes of the present sizes when the instance is launched; the contents of inouts stay. Tasks that run once, and have,
 * run again. Setting the present size costs nothing.
 *
 * @param name: the dimension's
 * @param size: the new size
 * @return SKRT_NOT_FOUND: no such dimension; SKRT_INVALID_ARGUMENT: the dimension does not take the size, and the text
 *         has its bounds; SKRT_BUSY: launches are pending
 * @threads any */
enum skrt_status skrt_instance_set_dimension(struct skrt_instance *instance, const char *name, uint64_t size);

/* Return the size that the instance has of a dimension, and whether an array shows it.
 *
 * @param index: the dimension's number, as of skrt_module_dimension
 * @param extent: with its size set; is filled
 * @return SKRT_INVALID_ARGUMENT: the index is out of range or of another network, or the size is impossible
 * @threads any */
enum skrt_status skrt_instance_dimension(const struct skrt_instance *instance, uint32_t index,
					 struct skrt_extent *extent);

/* Describe a tensor to bind, at the present sizes of the instance.
 *
 * @param index: its binding number
 * @param tensor: with its size set; is filled
 * @return SKRT_INVALID_ARGUMENT: the index is out of range, or the size is impossible
 * @threads any */
enum skrt_status skrt_instance_tensor(const struct skrt_instance *instance, uint32_t index, struct skrt_tensor *tensor);

/* ---- bindings ---- */

/* Bind memory to a tensor; binding again replaces it. Outputs and inouts must not overlap other bound memory; that is
 * checked when the instance is launched, so that buffers can be exchanged one by one. Memory of an input may be
 * read-only: a kernel that writes it has a fault, with the tensor's name in the text.
 *
 * @param index: the tensor's binding number
 * @param data: aligned to 64; may be NULL, or not bound at all, if the tensor has neither bytes nor padding
 * @param bytes: the tensor's size; of a tensor with padding all that the memory has, the size and the padding or more;
 *        in a dynamic package the size at the present sizes or more
 * @return SKRT_INVALID_ARGUMENT: the index, the alignment or the size is wrong; SKRT_BUSY: launches are pending
 * @threads any */
enum skrt_status skrt_instance_bind(struct skrt_instance *instance, uint32_t index, void *data, uint64_t bytes);

/* Bind memory, as skrt_instance_bind does, to a tensor without padding, of which type and shape are compared. In a
 * dynamic package the shape may be any one within the bounds, and sets the sizes that it says: not one of several sizes
 * with the same extent. Shapes that contradict each other are found when the instance is launched; the text names both
 * tensors. An array for an input of the model that nothing uses is accepted, and is not read.
 *
 * @param name: the tensor's, in the instance's network
 * @param dtype: of the elements
 * @param rank: extents in shape
 * @param shape: from the outermost; the array is row-major and contiguous; may be NULL if rank is 0
 * @param data: aligned to 64
 * @return SKRT_NOT_FOUND, with a suggestion; SKRT_INVALID_ARGUMENT: type, shape or alignment do not fit; SKRT_BUSY:
 *         launches are pending
 * @threads any */
enum skrt_status skrt_instance_bind_array(struct skrt_instance *instance, const char *name, enum skrt_dtype dtype,
					  uint32_t rank, const uint64_t *shape, void *data);

/* Fill the workspaces and scratch with a byte, so that a test notices reads that come too early; a workspace that is
 * made later is also filled with it. Tasks that run once, and have, run again. With SKRT_GUARD the workspaces and
 * outputs hold the pattern of unwritten bytes instead.
 *
 * @param byte: to fill with
 * @return SKRT_BUSY: launches are pending
 * @threads any */
enum skrt_status skrt_instance_fill_workspace(struct skrt_instance *instance, int byte);

/* ---- streams and launches ---- */

struct skrt_stream;

/* Make a stream.
 *
 * @param stream: receives the stream, to be destroyed by skrt_stream_destroy
 * @return SKRT_OUT_OF_MEMORY
 * @threads any */
enum skrt_status skrt_stream_create(struct skrt_device *device, struct skrt_stream **stream);

/* Free a stream.
 *
 * @param stream: may be NULL
 * @return SKRT_BUSY: anything is pending on it
 * @threads last */
enum skrt_status skrt_stream_destroy(struct skrt_stream *stream);

/* Queue a launch and return; threads of the device run it, and threads that wait. An instance may be launched again
 * before its last launch has ended: its launches follow each other. Earlier launches of the plan that run once (`once`
 * in the manifest), and have not yet run for this instance, are queued before it; it fails if one of them does. A
 * launch that runs once, and has run, is not queued.
 *
 * @param kernel: a launch, or a task, of the instance's network
 * @return failures that are found at once; those of kernels come from skrt_synchronise. SKRT_NOT_BOUND;
 *         SKRT_INVALID_ARGUMENT: bindings overlap, or the objects do not belong together; SKRT_BUSY: a serial run of
 *         the instance is going on; SKRT_UNSUPPORTED: the device is traced, and the launch notes no times;
 *         SKRT_OUT_OF_MEMORY
 * @threads any */
enum skrt_status skrt_launch(struct skrt_stream *stream, struct skrt_instance *instance,
			     const struct skrt_kernel *kernel);

/* Queue all launches of the network in the plan's order.
 *
 * @return as skrt_launch and skrt_module_kernel
 * @threads any */
enum skrt_status skrt_launch_network(struct skrt_stream *stream, struct skrt_instance *instance);

/* Queue all launches of the network on several streams, so that launches which the plan does not order can run at the
 * same time: a launch of the manifest's stream s goes to streams[s % count]. All launches are queued before one starts.
 * A failure ends the whole run through the network: launches that have not started are skipped, and each of its streams
 * has the failure.
 *
 * @param streams: of one device
 * @param count: of them, at least 1
 * @return as skrt_launch_network; SKRT_INVALID_ARGUMENT: also a count of 0
 * @threads any */
enum skrt_status skrt_launch_network_on(struct skrt_stream *const *streams, uint32_t count,
					struct skrt_instance *instance);

/* Wait until all launches of the stream have ended, and help: if a launch of the stream needs the device's first
 * thread, and no thread has that role, the caller takes it. While that launch waits, the caller plays other launches in
 * flight, and may therefore return later. Launches that were queued on the stream after a failed one have been skipped,
 * and the contents of the memory that they write are undefined. Device, instance and stream can still be used.
 *
 * @return the first failure since the last call: SKRT_KERNEL_FAILED, with a text such as "superkernel sp1: task 'act':
 *         kernel swiglu returned status 3"
 * @threads plays */
enum skrt_status skrt_synchronise(struct skrt_stream *stream);

/* Launch and wait, without waking the device's thread: the quickest way to run a launch.
 *
 * @param kernel: as in skrt_launch
 * @return as skrt_launch and skrt_synchronise
 * @threads plays */
enum skrt_status skrt_run(struct skrt_stream *stream, struct skrt_instance *instance, const struct skrt_kernel *kernel);

/* Launch the network and wait, as skrt_run does.
 *
 * @return as skrt_launch_network and skrt_synchronise
 * @threads plays */
enum skrt_status skrt_run_network(struct skrt_stream *stream, struct skrt_instance *instance);

/* Return whether nothing is pending on the stream. Do not wait or help, and leave failures to skrt_synchronise.
 *
 * @return SKRT_OK: nothing is pending; SKRT_NOT_READY
 * @threads any */
enum skrt_status skrt_stream_query(struct skrt_stream *stream);

/* Queue a copy, which is made when everything before it on the stream has ended. After a failure it is skipped, like a
 * launch.
 *
 * @param to: may overlap from; NULL if bytes is 0
 * @param from: NULL if bytes is 0
 * @return SKRT_OUT_OF_MEMORY
 * @threads any */
enum skrt_status skrt_copy(struct skrt_stream *stream, void *to, const void *from, uint64_t bytes);

/* Queue a call of a function of the program. It is made when everything before it on the stream has ended, by a thread
 * of the device or one that waits. Other streams go on meanwhile. It is also called after a failure.
 *
 * @param function: is given the stream's status so far. It may queue work, but must not wait for this device, nor open,
 *        load, unload or close anything; it may fork, but must not return in the child
 * @param context: for function; may be NULL
 * @return SKRT_OUT_OF_MEMORY
 * @threads any */
enum skrt_status skrt_stream_call(struct skrt_stream *stream, void (*function)(void *context, enum skrt_status status),
				  void *context);

/* ---- events ---- */

/* A mark in a stream: reached when everything queued there before its last record has ended, well or not. */
struct skrt_event;

/* Make an event.
 *
 * @param event: receives the event, to be destroyed by skrt_event_destroy
 * @return SKRT_OUT_OF_MEMORY
 * @threads any */
enum skrt_status skrt_event_create(struct skrt_device *device, struct skrt_event **event);

/* Free an event.
 *
 * @param event: may be NULL
 * @return SKRT_BUSY: it is recorded and not reached
 * @threads last */
enum skrt_status skrt_event_destroy(struct skrt_event *event);

/* Queue the mark. An event that is recorded several times is reached when all these marks have been.
 *
 * @return SKRT_INVALID_ARGUMENT: not of one device; SKRT_OUT_OF_MEMORY
 * @threads any */
enum skrt_status skrt_event_record(struct skrt_event *event, struct skrt_stream *stream);

/* Make work that is queued on the stream from now on start when the event, as recorded so far, has been reached. An
 * event that was never recorded delays nothing.
 *
 * @return SKRT_INVALID_ARGUMENT: not of one device; SKRT_OUT_OF_MEMORY
 * @threads any */
enum skrt_status skrt_stream_wait(struct skrt_stream *stream, struct skrt_event *event);

/* Return whether the event has been reached, or was never recorded.
 *
 * @return SKRT_OK: so it is; SKRT_NOT_READY
 * @threads any */
enum skrt_status skrt_event_query(struct skrt_event *event);

/* Wait until the event has been reached, and help like skrt_synchronise; failures stay with their stream.
 *
 * @return no other failure
 * @threads plays */
enum skrt_status skrt_event_synchronise(struct skrt_event *event);

/* Measure the time from one event to another.
 *
 * @param seconds: receives the time
 * @return SKRT_NOT_READY: one was never recorded, or has not been reached; SKRT_INVALID_ARGUMENT: not of one device
 * @threads any */
enum skrt_status skrt_event_elapsed(struct skrt_event *start, struct skrt_event *end, double *seconds);

/* ---- serial runs ---- */

/* Run the launch's serial entry on the calling thread: all tasks in order on one core, as a program without libskrt
 * would run them. With checks, all launches that run once and stand before it run first, else those of them that have
 * not yet for the instance. It is on its own: launches and serial runs of other instances that have hidden state in
 * common with it may run meanwhile, unless the caller prevents that.
 *
 * @return SKRT_NOT_FOUND: the launch has no such entry; SKRT_BUSY: launches of the instance are pending;
 *         SKRT_KERNEL_FAILED; SKRT_NOT_BOUND, SKRT_INVALID_ARGUMENT, SKRT_OUT_OF_MEMORY: as skrt_launch
 * @threads plays */
enum skrt_status skrt_run_serial(struct skrt_instance *instance, const struct skrt_kernel *kernel);

/* ---- traces ---- */

/* The times of a device: the start and end of each task on each core, the time that it waited before, and totals. The
 * dispatchers of scopes with profiling=1 note them (sklink --scope-options '*=profiling=1'); launches of one task, such
 * as the tasks' own entries, need no such option. The times are those of this machine. On simulated devices, on which
 * cores run one after the other, they are the times of the simulation. */
struct skrt_trace;

/* Record all launches of the device from now on, except serial runs and launches that fail. From now on, a launch that
 * notes no times is refused.
 *
 * @param most_slices: most slices (a core at a task, a core in a launch) that are kept of all launches together; later
 *        launches count only in the totals
 * @param trace: receives the trace, to be ended by skrt_trace_end and destroyed by skrt_trace_destroy
 * @return SKRT_BUSY: the device has a trace already, or work is pending on it; SKRT_UNSUPPORTED: the device has checks,
 *         and so does not run the dispatchers; SKRT_OUT_OF_MEMORY
 * @threads any */
enum skrt_status skrt_trace_begin(struct skrt_device *device, uint64_t most_slices, struct skrt_trace **trace);

/* End the recording. From then on the trace can be read; its modules cannot be unloaded before it is destroyed.
 *
 * @return SKRT_BUSY: work is pending on the device; SKRT_INVALID_ARGUMENT: it has ended already; SKRT_OUT_OF_MEMORY: it
 *         has ended, but does not hold everything
 * @threads any */
enum skrt_status skrt_trace_end(struct skrt_trace *trace);

/* Free a trace.
 *
 * @param trace: may be NULL
 * @return SKRT_BUSY: it has not ended
 * @threads last */
enum skrt_status skrt_trace_destroy(struct skrt_trace *trace);

/* Write a trace as JSON in the Trace Event format, which Perfetto (ui.perfetto.dev) and chrome://tracing show. There
 * are rows for launches, as many as were in flight at a time, and a row for each core. A core's row has a slice for
 * each task and wait, and an arrow for each await. Core numbers are the device's; a launch numbers its own from 0.
 *
 * @param path: a file, which is replaced only after all has been written beside it; after an error it is unchanged.
 *        Anything except a regular file is written in place
 * @return SKRT_NOT_READY: the trace has not ended; SKRT_CANNOT_WRITE
 * @threads fork */
enum skrt_status skrt_trace_write(const struct skrt_trace *trace, const char *path);

/* Sums over all launches. run_seconds and wait_seconds are parts of core_seconds; in the rest of it cores have not
 * begun, have left, or are between two tasks. */
struct skrt_trace_info {
	size_t size SKRT_SIZE_OF(struct skrt_trace_info);
	uint64_t launch_count;
	uint64_t kept_launches; /* those that have slices */
	uint64_t task_count; /* in the modules that were launched */
	double seconds; /* of all launches, each from the first core's start until the last one has left */
	double core_seconds; /* the same, times the number of cores with a part in each launch */
	double run_seconds; /* of all cores, in tasks */
	double wait_seconds; /* of all cores, in awaits */
};

/* A task: sums over all cores and launches. */
struct skrt_task_times {
	size_t size SKRT_SIZE_OF(struct skrt_task_times);
	const char *task, *kernel; /* names; they live as long as the module */
	uint64_t runs; /* launches in which it ran */
	uint64_t calls; /* of its kernel */
	double run_seconds;
	double wait_seconds; /* in awaits before it */
};

/* Return the sums of a trace that has ended; for another one all times are 0.
 *
 * @param info: with its size set; is filled
 * @return SKRT_INVALID_ARGUMENT: the size is impossible
 * @threads fork */
enum skrt_status skrt_trace_describe(const struct skrt_trace *trace, struct skrt_trace_info *info);

/* Return the times of a task of a trace that has ended; for another one they are 0.
 *
 * @param index: from 0 below task_count; tasks are in the order of their modules' first launches
 * @param times: with its size set; is filled
 * @return SKRT_INVALID_ARGUMENT: the index is out of range, or the size is impossible
 * @threads fork */
enum skrt_status skrt_trace_task(const struct skrt_trace *trace, uint64_t index, struct skrt_task_times *times);

#ifdef __cplusplus
}
#endif

#endif
