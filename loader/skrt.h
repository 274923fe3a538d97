/* skrt.h: load packages made by sklink and run them. C and C++.
 *
 *   skrt_device_open(NULL, &device);
 *   skrt_module_load(device, "model.sk", &module);
 *   skrt_instance_create(module, &instance);
 *   skrt_instance_bind(instance, 0, x, x_bytes);   // every tensor; numbers from skrt_module_find_tensor
 *   skrt_stream_create(device, &stream);
 *   skrt_launch_network(stream, instance);         // returns at once
 *   skrt_synchronise(stream);                      // waits, and says what went wrong
 *
 * Status and text. Every function that can fail returns a status; SKRT_OK is 0. skrt_error() is the text of the last
 * failure on the calling thread, and names what failed: the file, the tensor, the task and its kernel. A function that
 * fails has changed nothing, unless it says otherwise, and has left its result alone.
 *
 * Ownership. A device owns nothing but itself: streams, events and modules are made on a device, instances of a module,
 * and each is destroyed by its maker before what it was made of; the reverse order is refused with SKRT_BUSY. Kernels
 * and all strings belong to their module and live as long as it does. Bound memory belongs to the caller and must stay
 * until the instance is bound elsewhere or destroyed.
 *
 * Threads. All functions may be called from any thread, at the same time, also on the same objects, except that an
 * object must not be in use elsewhere while it is destroyed. Launches queued by several threads on one stream run in
 * the order in which the calls got through. Kernels run on the device's threads and on threads that wait in
 * skrt_synchronise, skrt_run or skrt_run_serial; they must not call these functions.
 *
 * A thread that is cancelled (pthread_cancel) in one of these functions ends when it has returned, or later; whom
 * skrt_stream_call calls is not cancelled. Who is cancelled asynchronously, or in a signal handler, must not call them.
 * A fork has none of the device's threads. There all functions that take a device, or what was made on it, are
 * SKRT_DEVICE_LOST, closing, destroying and looking for kernels included, but for those that only describe (counts,
 * tensors, names); it can open a device of its own.
 * What skrt_stream_call calls may fork, but must not return in the child.
 *
 * State of the calling thread. Package code (kernels, serial entries, constructors, destructors) begins in one state,
 * whatever thread plays it, and what it changes there does not reach the caller:
 *   Floating point: results are rounded to nearest, none is flushed to zero, long double has all its bits, no exception
 * interrupts (doc/abi.md has the registers). The caller's modes are restored. Exception flags can be set at the
 * beginning; of the caller's, those of the x87 unit can be cleared.
 *   errno is 0 at the beginning, and the caller's does not change while package code runs.
 *   Signals: a thread may block any. Those that report faults (below) are let through while the thread runs package
 * code, and so is SIGURG on a device with a time-out; afterwards the thread blocks what it blocked before. Which it
 * blocks is looked at when it first runs package code, and again after it has made an instance or a stream. A thread
 * that blocks them later makes one of these first, or a fault on it ends the process.
 *   Alternate signal stack: a thread without one gets one when it first runs package code, and keeps it until it ends
 * or takes another (sigaltstack). One of the program's own is used as it is.
 *   The direction flag is clear and alignment checks are off, as they must be where these functions are called.
 * Functions that skrt_stream_call calls begin in the same modes of floating point, and see the program's locale; all
 * else is as the thread has it.
 *
 * Locale. In every locale libskrt reads profiles, and writes messages and traces, as in the C locale; only a reason
 * that the operating system gives has the words of the locale. Kernels, constructors and destructors see the C locale,
 * whatever that of the program (setlocale) or of a thread (uselocale) is, and so do functions of the program that they
 * call. Functions that skrt_stream_call calls see the program's.
 *
 * Order. What is queued on one stream is done one after the other. Launches of different streams run at the same time
 * if there are cores for both and nothing orders them. What does: events; the instance, of which launches run in the
 * order of the calls, but for launches of one run through the network (calls in the plan's order, see
 * skrt_launch_network_on), where only those wait for each other that the plan says; and state that kernels keep in a
 * package's variables. All instances of a package share it: launches of two instances that have some do not overlap,
 * but their order is not that of the calls. Whichever can start first does; where it matters, events say it. Memory
 * that is bound to several instances is the caller's to order.
 *   A launch takes the cores that have a part in it: one, if all its tasks run on one core; as many as there are
 * blocks, if it has only blocks; else all of the lane, or as many as its options say. It starts when so many are free.
 * One that waits for cores goes before all that want cores of the same lanes and were queued later, so that many small
 * launches do not keep a large one away. Launches in flight share the device's threads, which may be fewer than its
 * cores.
 *
 * Faults. Whatever a kernel does that the hardware or the C library notices ends its launch, not the process: the text
 * names superkernel, task, kernel, core and place. Other launches in flight do not notice, except after a fault in a
 * package that imports functions with locks (malloc, printf …): then all later launches on it are SKRT_DEVICE_LOST.
 * What the launch was writing, and the package's own variables, hold anything. A kernel that returns with control state
 * changed (the direction flag, rounding, the x87 unit) breaks the calling convention, and can spoil what else its core
 * does in the launch, but nothing beyond; SKRT_GUARD finds it. One that loads FS, by which a thread finds its own
 * memory, has a fault; not so on a thread with an alternate signal stack (sigaltstack) of the program's own, where it
 * ends the process. GS is left as a kernel leaves it. */
#ifndef SKRT_H
#define SKRT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Behind the size that each struct begins with. In C the program sets it: struct skrt_tensor tensor = {.size =
 * sizeof(tensor)}; in C++, from C++14 on, each struct comes with it. */
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
	SKRT_UNSUPPORTED, /* a package that needs what libskrt does not offer: instruction sets of other processors,
			     unknown imports, more thread-local storage at one place than there is */
	SKRT_NOT_FOUND, /* no such name, or the package has no such entry */
	SKRT_NOT_BOUND, /* a launch of an instance with unbound tensors */
	SKRT_BUSY, /* still in use: launches pending, or objects made of it alive */
	SKRT_KERNEL_FAILED, /* a kernel returned non-zero, raised a fault, took too long, or called abort or the like */
	SKRT_NOT_READY, /* a query: what is asked for has not happened yet */
	SKRT_DEVICE_LOST, /* an earlier fault may have left a lock of the C library taken: close the device; or this is
			     a fork of the process that opened it */
	SKRT_CANNOT_WRITE /* the operating system would not create or write the file */
};

/* "SKRT_OK" …; "?" for a number that is none. */
const char *skrt_status_name(enum skrt_status status);

/* The text of the last failure on this thread: one sentence, without a newline; "" if there was none. Valid until the
 * next call on this thread. Control characters
 * in names that it holds are escaped (\xNN). */
const char *skrt_error(void);

/* The version of the library, "0.1.0". */
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
	/* Bytes of each core's stack, 16 KiB to 1 TiB; default 8 MiB. A kernel that needs more ends with a fault that
	 * says so if what it touches is at most 1 GiB below the stack (256 KiB if the process has a limit of address
	 * space, RLIMIT_AS). */
	uint64_t stack_size;
	uint64_t checks; /* SKRT_GUARD, SKRT_CHECK_RACES, SKRT_CHECK_SPLIT; 0: none */
};

/* Checks of a device, for finding what kernels and packages do wrong. One launch runs at a time, whatever its stream;
 * it goes through the plan step by step instead of the dispatchers, all cores on one thread, in memory of its own for
 * every tensor: what is bound is copied in and out. What is found ends the launch with SKRT_KERNEL_FAILED, and the text
 * names task, kernel, core, tensor and bytes. With any check a call may access only the bytes that its arguments let
 * it: memory is open to it by pages, and what it has written beyond on open pages is noticed behind it, or when it
 * waits for other blocks; so is control state that it has changed. Before sk_wait_pre_task_end, and behind
 * sk_set_next_task_start, only scratch is open. Serial entries run as always. An instance has memory of its own for all
 * tensors, and fills it: where the system has less, skrt_instance_create fails before that with SKRT_OUT_OF_MEMORY. */
enum {
	/* Also finds calls that read bytes that nobody has written, in words of 8 bytes (f32: 4), and kernels that
	 * leave such words of an `out` parameter as they are: before each call these bytes get a pattern, which
	 * temporaries and outputs hold since the instance was made or its workspace filled. */
	SKRT_GUARD = 1,
	/* Also finds accesses of two cores to the same bytes, one a write, that no await of the plan orders, whatever
	 * the order in which the cores happen to run. */
	SKRT_CHECK_RACES = 2,
	/* Also calls each kernel with `split`, `each` or `tile` again, for each unit of its part alone and for several
	 * other lengths of whole units, from the same bytes each time, and finds what it writes, or returns, otherwise
	 * than in one call for all of the part. In launches of single tasks one core has all parts. Of a part with more
	 * units than SKRT_SPLIT_UNITS short calls are made for samples, each the same in every run, and long ones for
	 * what lies between. */
	SKRT_CHECK_SPLIT = 4
};

enum { SKRT_SPLIT_UNITS = 16384 };

/* Opens a device. Options may be NULL (all 0).
 *
 * The host device plays cores on threads of this process, each bound to a processor: one core on each thread or, where
 * a lane has more cores than there are processors, several in turn. The first thread is the one that waits in
 * skrt_synchronise or skrt_run (else a thread of the device); the others are created when the first package that needs
 * them is loaded. A caller that stands on another thread's processor moves to the first one, if it may run there; its
 * affinity is as before. Between launches the threads spin for some microseconds and then sleep.
 *
 * A simulated device plays all cores on one thread, one at a time: what it computes, and whether it hangs, depends on
 * the package, the number of cores and the seed alone; with several launches in flight also on which of them had been
 * queued when others started or ended. It notices at once if all cores wait for each other.
 *
 * The first device that is opened installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP and SIGURG (which ends
 * kernels that take too long). What does not come from a kernel goes on to the handlers that were there before;
 * handlers that are installed later, and do not pass on, take the faults of kernels away from libskrt.
 *
 * Errors: SKRT_NOT_FOUND (no such device, or its profile has an error), SKRT_INVALID_ARGUMENT (more than 4096 cores; a
 * seed for the host), SKRT_OUT_OF_MEMORY. */
enum skrt_status skrt_device_open(const struct skrt_device_options *options, struct skrt_device **device);

/* Ends the threads and frees the device. NULL is allowed. SKRT_BUSY while modules or streams of it are alive, or a
 * trace has not ended. */
enum skrt_status skrt_device_close(struct skrt_device *device);

/* Cores of a lane, by the lane's number in the plan (0, 1); 0 if no device has such a lane. */
uint32_t skrt_device_cores(const struct skrt_device *device, uint32_t lane);

/* "host", "a3", or what its profile says. Lives as long as the device. */
const char *skrt_device_name(const struct skrt_device *device);

/* ---- memory ---- */

/* Memory for tensors, aligned as bindings want it; it holds anything. Any memory of this process can be bound; this is
 * for those who have none of their own. It belongs to the device, which cannot be closed before it is freed. Errors:
 * SKRT_OUT_OF_MEMORY. */
enum skrt_status skrt_allocate(struct skrt_device *device, uint64_t bytes, void **memory);

/* Frees what skrt_allocate gave for the same device. It must not be in use: bound to an instance with launches pending,
 * or in a pending copy. NULL is allowed. */
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
	uint64_t shape[SKRT_MAX_RANK]; /* extents from the outermost; those behind rank are 0 */
	uint64_t bytes;
	uint64_t padding; /* bytes behind these that kernels may read, and do not use */
};

/* Loads a package: checks the file's structure, maps it (text and constants are shared with other processes and
 * not copied), relocates it and protects it. None of it is run. A package loaded twice is two independent modules.
 * The file must not be changed while it is loaded; replacing it by a rename, as sklink does, is fine. Unless it is
 * loaded with a public key, who writes into it changes what is run, and who cuts it makes it fault.
 * gdb is told of the package if it traced the program when the first device was opened, or with SKRT_GDB=1 in the
 * environment (for one that is to come later; SKRT_GDB=0: never): then it stops in kernels and shows their source.
 * Errors: SKRT_CANNOT_READ, SKRT_BAD_PACKAGE, SKRT_UNSUPPORTED, SKRT_OUT_OF_MEMORY. */
enum skrt_status skrt_module_load(struct skrt_device *device, const char *path, struct skrt_module **module);

/* What a package imports, and the address that it is to get. */
struct skrt_import {
	size_t size SKRT_SIZE_OF(struct skrt_import);
	const char *name;
	void (*function)(void); /* called as the kernel that imports it declares it; of data (stderr) its address */
};

/* Where a package comes from: exactly one of path, memory and descriptor. Zero the rest. */
struct skrt_source {
	size_t size SKRT_SIZE_OF(struct skrt_source);
	const char *path;
	const void *memory; /* a whole package, `bytes` long; it is copied, and may go when the module is loaded */
	uint64_t bytes;
	int use_descriptor; /* not 0: descriptor of a regular file, open for reading; it stays open and where it is */
	int descriptor;
	const char *name; /* for error texts, if there is no path; NULL: "package in memory" */
	/* Functions that go before those that libskrt provides; a package's other imports must be among the latter.
	 * They run on the cores' stacks, several at a time. They are taken not to hold locks: see SKRT_DEVICE_LOST. The
	 * array is not needed any more when the module is loaded. */
	const struct skrt_import *imports;
	uint32_t import_count;
	/* Not 0: the package must be byte for byte what sklink wrote, or what is left of it behind strip. Its seal is a
	 * hash (XXH3-128), which finds damage, but not somebody who makes a new seal. Without a key it looks at the
	 * mapped file: one that is changed afterwards is not noticed, and one that is cut meanwhile raises SIGBUS in
	 * the call, which goes to the handler that the program had before, and ends a program without one. */
	int check_integrity;
	/* NULL, or the 32 bytes of an Ed25519 key whose owner must have signed what is loaded (sklink --sign): all
	 * bytes that come into memory, and the headers that say where and with which protection. With a key the package
	 * is not mapped but read into memory of this process alone, and checked there, so what is run is what was
	 * checked, whatever becomes of the file. This costs memory: the constants are not shared with other processes.
	 * Loading 1 GiB of constants takes 1.7 s of one core, 1.6 s of them for the signature, rather than the time for
	 * mapping. perf does not find the names of functions in such memory. */
	const unsigned char *public_key;
	/* Of a package whose constants are in a file of their own (sklink --weights), that file: its path, or a
	 * descriptor of a regular file, open for reading, which stays open and where it is. Neither: the file of the
	 * name that the package knows, in the folder of `path`. A file that holds other constants, or not all, is
	 * refused; check_integrity and public_key are about it, too. */
	const char *weights;
	int use_weights_descriptor; /* not 0 */
	int weights_descriptor;
};

/* skrt_module_load from anywhere. Errors: as there, SKRT_BAD_PACKAGE also for a package that does not fit its seal or
 * is not signed with the key; SKRT_INVALID_ARGUMENT for a source that is none, or several; SKRT_UNSUPPORTED for a key
 * if libskrt was built without libsodium. */
enum skrt_status skrt_module_load_from(struct skrt_device *device, const struct skrt_source *source,
				       struct skrt_module **module);

/* Makes a module of a package that `sklink -r` has linked into this program, or into a shared object that stays open as
 * long as the module: `plan` is the address of its global symbol sk_plan_<package>, which the header that
 * `sklink --header` writes declares. Nothing is loaded or copied; the plan is checked as a file's is, against the
 * object that holds it. Modules of one plan share the kernels' hidden state, as all packages share what rand and its
 * like keep in the C library: launches on one device that reach it do not overlap; on two devices they may, as may the
 * program's own calls. Functions that would end the process do so. Errors: SKRT_BAD_PACKAGE, SKRT_OUT_OF_MEMORY. */
enum skrt_status skrt_module_load_linked(struct skrt_device *device, const struct sk_plan *plan,
					 struct skrt_module **module);

/* Unmaps it (not a linked one); before, its destructors run, if its constructors have, and those of its static objects.
 * What is still loaded when the process ends is not destructed. NULL is allowed. SKRT_BUSY while
 * instances of it, or traces of its launches, are alive. */
enum skrt_status skrt_module_unload(struct skrt_module *module);

/* Tensors to bind, by binding number. SKRT_INVALID_ARGUMENT if the number is out of range; SKRT_NOT_FOUND with a
 * suggestion if there is no such name. */
uint32_t skrt_module_tensor_count(const struct skrt_module *module);
enum skrt_status skrt_module_tensor(const struct skrt_module *module, uint32_t index, struct skrt_tensor *tensor);
enum skrt_status skrt_module_find_tensor(const struct skrt_module *module, const char *name, uint32_t *index);

enum skrt_kernel_kind {
	SKRT_SUPERKERNEL, /* several tasks of a scope in one launch */
	SKRT_SINGLE, /* a launch of one task that was not fused */
	SKRT_TASK /* one task by itself, for unfused runs; not part of the network's launches */
};

struct skrt_kernel_info {
	size_t size SKRT_SIZE_OF(struct skrt_kernel_info);
	const char *name; /* the entry's symbol; of TASK what it would be (sklink --task-entries) */
	const char *scope; /* "" if none */
	enum skrt_kernel_kind kind;
	uint32_t task_count;
	uint32_t stream; /* that the manifest puts it on */
	int has_serial_entry; /* skrt_run_serial runs it */
};

/* The network's launches, in the plan's order, by number or name. What the file says of a launch is checked
 * when it is first asked for, here or by skrt_launch_network; ranges are computed for every core when it first runs.
 * Errors: SKRT_INVALID_ARGUMENT, SKRT_NOT_FOUND with a suggestion, SKRT_BAD_PACKAGE, SKRT_OUT_OF_MEMORY. */
uint32_t skrt_module_kernel_count(const struct skrt_module *module);
enum skrt_status skrt_module_kernel(struct skrt_module *module, uint32_t index, const struct skrt_kernel **kernel);
enum skrt_status skrt_module_find_kernel(struct skrt_module *module, const char *name,
					 const struct skrt_kernel **kernel);

/* The tasks by themselves, in network order, by number or name: launched one after another they compute what the
 * network computes, but with a workspace in which nothing shares bytes. SKRT_NOT_FOUND also if the package was linked
 * without them; other errors as above. */
uint32_t skrt_module_task_count(const struct skrt_module *module);
enum skrt_status skrt_module_task(struct skrt_module *module, uint32_t index, const struct skrt_kernel **kernel);
enum skrt_status skrt_module_find_task(struct skrt_module *module, const char *name, const struct skrt_kernel **kernel);

enum skrt_status skrt_kernel_describe(const struct skrt_kernel *kernel, struct skrt_kernel_info *info);

/* Networks. A package has one, without a name, or several (sklink --dim SET:NAME=N), which share constants and kernels.
 * Tensors, launches and tasks of each have numbers one behind the other, and names of tensors and tasks begin with the
 * network's name and a colon: "short:x". An instance is one network's. */
struct skrt_network {
	size_t size SKRT_SIZE_OF(struct skrt_network);
	const char *name; /* "": the package has one network */
	uint32_t first_tensor, tensor_count;
	uint32_t first_kernel, kernel_count;
	uint32_t first_task, task_count;
};

/* By number, from 0 up to SKRT_NOT_FOUND. Errors: also SKRT_BAD_PACKAGE. */
enum skrt_status skrt_module_network(struct skrt_module *module, uint32_t index, struct skrt_network *network);

/* By name; NULL: the only one, else SKRT_INVALID_ARGUMENT. Errors: SKRT_NOT_FOUND with the names that there are,
 * SKRT_BAD_PACKAGE. */
enum skrt_status skrt_module_find_network(struct skrt_module *module, const char *name, struct skrt_network *network);

/* ---- instances ---- */

struct skrt_instance;

/* Makes an instance: a place for bindings, and a workspace of its own. The first one of a module runs the package's
 * constructors, on the calling thread: what they do wrong is an error as in a kernel, also of all later calls. They
 * wait for no launch, and none waits for them, nor for destructors: where they seed rand or its like, or draw, while
 * launches of other packages do, what those draw is anybody's guess. Who makes all instances first, or waits for the
 * launches, has an order. Errors: SKRT_OUT_OF_MEMORY, SKRT_KERNEL_FAILED. */
enum skrt_status skrt_instance_create(struct skrt_module *module, struct skrt_instance **instance);

/* The same for one of several networks, by its name; skrt_instance_create is for a package's only one, and else
 * SKRT_INVALID_ARGUMENT. What is to be bound, and what skrt_launch_network launches, is the network's alone; other
 * tensors, launches and tasks are SKRT_INVALID_ARGUMENT. Instances of different networks have workspaces of their own,
 * and can run at the same time. Errors: also those of skrt_module_find_network. */
enum skrt_status skrt_instance_create_for(struct skrt_module *module, const char *network,
					  struct skrt_instance **instance);

/* Frees it, not what was bound. NULL is allowed. SKRT_BUSY while launches of it are pending. */
enum skrt_status skrt_instance_destroy(struct skrt_instance *instance);

/* Binds memory to tensor number `index`: `bytes` must be the tensor's size, and data aligned to 64. Of a tensor with
 * padding `bytes` is all that the memory has, which must be the size and the padding, or more. What has neither bytes
 * nor padding may be bound to NULL, or not at all. Binding again replaces. What is written (outputs, inouts) must not
 * overlap what else is bound; that is checked when the instance is launched, so that buffers can be exchanged one by
 * one. Memory of an input may be read-only: a kernel that writes it has a fault, whose text names the tensor. Errors:
 * SKRT_INVALID_ARGUMENT; SKRT_BUSY while launches are pending. */
enum skrt_status skrt_instance_bind(struct skrt_instance *instance, uint32_t index, void *data, uint64_t bytes);

/* Binds memory to the tensor with the name (in the instance's network), which must have that type and shape (row-major,
 * contiguous), and no padding. Errors: SKRT_NOT_FOUND with a suggestion; SKRT_INVALID_ARGUMENT if type, shape or
 * alignment do not fit; SKRT_BUSY. */
enum skrt_status skrt_instance_bind_array(struct skrt_instance *instance, const char *name, enum skrt_dtype dtype,
					  uint32_t rank, const uint64_t *shape, void *data);

/* Fills the workspaces and scratch with a byte, so that a test notices what reads them too early. SKRT_BUSY while
 * launches are pending. What has run once will run again. With SKRT_GUARD they hold the pattern of what is not written,
 * whatever the byte, and so do the outputs. A workspace that is made later is filled with the byte, too. */
enum skrt_status skrt_instance_fill_workspace(struct skrt_instance *instance, int byte);

/* ---- streams and launches ---- */

struct skrt_stream;

enum skrt_status skrt_stream_create(struct skrt_device *device, struct skrt_stream **stream);

/* Frees it. NULL is allowed. SKRT_BUSY while anything is pending on it. */
enum skrt_status skrt_stream_destroy(struct skrt_stream *stream);

/* Queues a launch and returns; threads of the device run it, and somebody who waits. An instance may be launched again
 * before it has been waited for: the launches follow each other. What stands in front of the launch in the plan, runs
 * once (`once` in the manifest), and has not yet for this instance, is queued before it; the launch fails if that does.
 * Of a launch that runs once, and has, there is nothing to queue.
 * Errors that are noticed at once: SKRT_NOT_BOUND, SKRT_INVALID_ARGUMENT (bindings overlap; kernel, instance and stream
 * do not belong together), SKRT_BUSY (a serial run of the instance is going on), SKRT_OUT_OF_MEMORY. Errors of kernels
 * come from skrt_synchronise. */
enum skrt_status skrt_launch(struct skrt_stream *stream, struct skrt_instance *instance,
			     const struct skrt_kernel *kernel);

/* Queues all launches of the network in the plan's order. Errors: as skrt_launch and skrt_module_kernel; then nothing
 * has been queued. */
enum skrt_status skrt_launch_network(struct skrt_stream *stream, struct skrt_instance *instance);

/* The same on several streams, so that launches which the plan does not order can run at the same time: a launch of the
 * manifest's stream s goes to streams[s % count]. All launches are queued before one starts. A failure ends the whole
 * run through the network: what has not started is skipped, and each of its streams has the failure. Errors: also
 * SKRT_INVALID_ARGUMENT for a count of 0. */
enum skrt_status skrt_launch_network_on(struct skrt_stream *const *streams, uint32_t count,
					struct skrt_instance *instance);

/* Waits until all that was launched on the stream has ended, and helps: if the device's first thread is wanted for a
 * launch of the stream, and nobody is it, the caller becomes it. While that launch waits it plays what else is in
 * flight, and can so be late. Returns the first failure since the last call: SKRT_KERNEL_FAILED, with the text
 * "superkernel sp1: task 'act': kernel swiglu returned status 3". What the stream had queued behind the failed launch
 * has been skipped, and the memory it writes holds anything; device, instance and stream go on. */
enum skrt_status skrt_synchronise(struct skrt_stream *stream);

/* skrt_launch and skrt_synchronise in one, without waking the device's thread: the quickest way to run a launch. */
enum skrt_status skrt_run(struct skrt_stream *stream, struct skrt_instance *instance, const struct skrt_kernel *kernel);
enum skrt_status skrt_run_network(struct skrt_stream *stream, struct skrt_instance *instance);

/* SKRT_OK if nothing is pending on the stream, else SKRT_NOT_READY. Does not wait, does not help, and leaves failures
 * to skrt_synchronise. */
enum skrt_status skrt_stream_query(struct skrt_stream *stream);

/* Queues a copy, which is made when everything before it on the stream has ended. The ranges may overlap. Skipped
 * behind a failure, like a launch. Errors: SKRT_OUT_OF_MEMORY. */
enum skrt_status skrt_copy(struct skrt_stream *stream, void *to, const void *from, uint64_t bytes);

/* Queues a call of a function of the program, which is made when everything before it on the stream has ended, by a
 * thread of the device or one that waits. Other streams go on meanwhile. It is called behind a failure, too: status is
 * the stream's, so far. It may queue work, but must not wait for this device, nor open, load, unload or close anything.
 * Errors: SKRT_OUT_OF_MEMORY. */
enum skrt_status skrt_stream_call(struct skrt_stream *stream, void (*function)(void *context, enum skrt_status status),
				  void *context);

/* ---- events ---- */

/* A mark in a stream: reached when everything queued there before its last record has ended, well or not. */
struct skrt_event;

enum skrt_status skrt_event_create(struct skrt_device *device, struct skrt_event **event);

/* Frees it. NULL is allowed. SKRT_BUSY while it is recorded and not reached. */
enum skrt_status skrt_event_destroy(struct skrt_event *event);

/* Queues the mark. An event that is recorded several times is reached when all these marks have been. Errors:
 * SKRT_INVALID_ARGUMENT (not of one device), SKRT_OUT_OF_MEMORY. */
enum skrt_status skrt_event_record(struct skrt_event *event, struct skrt_stream *stream);

/* What is queued on the stream from now on starts when the event, as recorded so far, has been reached. An event that
 * was never recorded holds nobody up. Errors: SKRT_INVALID_ARGUMENT (not of one device), SKRT_OUT_OF_MEMORY. */
enum skrt_status skrt_stream_wait(struct skrt_stream *stream, struct skrt_event *event);

/* SKRT_OK if it has been reached or was never recorded, else SKRT_NOT_READY. */
enum skrt_status skrt_event_query(struct skrt_event *event);

/* Waits until it has been reached, and helps like skrt_synchronise; failures stay with their stream. */
enum skrt_status skrt_event_synchronise(struct skrt_event *event);

/* Seconds from the one to the other. SKRT_NOT_READY if one was never recorded, or has not been reached. */
enum skrt_status skrt_event_elapsed(struct skrt_event *start, struct skrt_event *end, double *seconds);

/* ---- serial runs ---- */

/* Runs the launch's serial entry on the calling thread: all tasks in order on one core, as a program without libskrt
 * would run them; with checks, behind all that runs once in front of it, else behind what of that has not yet for the
 * instance. It is on its own: launches and serial runs of other instances that have hidden state in common with
 * it may run meanwhile, unless the caller sees to it that they do not. Errors: SKRT_NOT_FOUND if the launch has none;
 * SKRT_BUSY if launches of the instance are pending; SKRT_NOT_BOUND, SKRT_INVALID_ARGUMENT, SKRT_OUT_OF_MEMORY as in
 * skrt_launch; SKRT_KERNEL_FAILED. */
enum skrt_status skrt_run_serial(struct skrt_instance *instance, const struct skrt_kernel *kernel);

/* ---- traces ---- */

/* What a device does, and when: which core ran which task from when to when, what it waited for, and totals. The times
 * are those that dispatchers note in scopes with profiling=1 (sklink --scope-options '*=profiling=1'); launches
 * of one task, such as the tasks' own entries, do without. They are times of this machine, also on simulated
 * devices, whose cores run one after the other: there they say how long the simulation took. */
struct skrt_trace;

/* Records all launches of the device from now on; serial runs are not recorded, nor launches that fail. Of launches
 * whose slices (a core at a task, a core in a launch) would be more than most_slices together, only totals are kept.
 * A launch that notes no times is refused from now on: SKRT_UNSUPPORTED from skrt_launch and the like.
 * Errors: SKRT_BUSY (the device has a trace already, or work is pending on it), SKRT_UNSUPPORTED (the device has
 * checks, and so does not run the dispatchers), SKRT_OUT_OF_MEMORY. */
enum skrt_status skrt_trace_begin(struct skrt_device *device, uint64_t most_slices, struct skrt_trace **trace);

/* Ends the recording. Then the trace can be looked at; its modules cannot be unloaded before it is destroyed. Errors:
 * SKRT_BUSY (work is pending on the device); SKRT_INVALID_ARGUMENT (it has ended); SKRT_OUT_OF_MEMORY (it has ended,
 * but does not hold everything). */
enum skrt_status skrt_trace_end(struct skrt_trace *trace);

/* Frees it. NULL is allowed. SKRT_BUSY before it has ended. */
enum skrt_status skrt_trace_destroy(struct skrt_trace *trace);

/* Writes it as JSON in the Trace Event format, which Perfetto (ui.perfetto.dev) and chrome://tracing show: a row for
 * launches for each that was in flight at a time, one for each core with a slice for each task and wait, and an arrow
 * for each await. Core numbers are the device's; a launch numbers its own from 0. Replaces the file once all is
 * written beside it; after an error it is as it was. What is no regular file is written in place. Errors:
 * SKRT_NOT_READY before it has ended; SKRT_CANNOT_WRITE. */
enum skrt_status skrt_trace_write(const struct skrt_trace *trace, const char *path);

/* Sums over all launches. run_seconds and wait_seconds are parts of core_seconds; the rest of it is cores that have not
 * begun, have left, or are between two tasks. */
struct skrt_trace_info {
	size_t size SKRT_SIZE_OF(struct skrt_trace_info);
	uint64_t launch_count;
	uint64_t kept_launches; /* those that have slices */
	uint64_t task_count; /* of the modules that were launched */
	double seconds; /* that launches took, from the first core's start to when the last one has left */
	double core_seconds; /* the same, times the cores that had a part in each */
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

/* Of a trace that has ended; else all times are 0. The tasks are in the order of their modules' first launches. Error:
 * SKRT_INVALID_ARGUMENT for an index that is out of range. */
enum skrt_status skrt_trace_describe(const struct skrt_trace *trace, struct skrt_trace_info *info);
enum skrt_status skrt_trace_task(const struct skrt_trace *trace, uint64_t index, struct skrt_task_times *times);

#ifdef __cplusplus
}
#endif

#endif
