/* Thread-local storage of packages. The C library gives blocks to what it has loaded itself, so a package gets its
 * blocks here: one for each thread that runs its code, made before the first instruction of a call, and made anew when
 * a call has been left in the middle. Code that asks __tls_get_addr gets this room's; code that reads a distance from
 * the thread pointer wants the block at the same place in every thread, of which libskrt has a little to give away. */
#ifndef SK_LOADER_THREAD_STORAGE_H
#define SK_LOADER_THREAD_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of each thread that blocks at one distance from the thread pointer share. Few: a library that is loaded by
 * dlopen gets such memory from some hundred bytes that the C library keeps for all of them. */
enum { SK_STATIC_STORAGE = 256, SK_STATIC_STORAGE_ALIGNMENT = 64 };

/* What the blocks of a package are made from. */
struct sk_thread_storage {
	const void *image; /* `filled` bytes; the rest of a block is zero */
	size_t filled, size, alignment;
	bool is_static; /* the block has to be at one distance from the thread pointer */
	uint64_t number; /* that package code knows it by; 0: the package has no blocks */
	uint64_t generation; /* of all that have had the number */
	size_t place; /* of a static block, among the bytes that they share */
};

/* Gives it a number, and a place if it needs one. On failure *room is what there is left of such places, or SIZE_MAX if
 * memory is missing. */
bool sk_thread_storage_open(struct sk_thread_storage *storage, size_t *room);

/* No thread is in the package's code any more. What threads have for it they keep until the number has a new owner, or
 * they end. */
void sk_thread_storage_close(struct sk_thread_storage *storage);

/* How far from the thread pointer static blocks are. */
uint64_t sk_thread_storage_distance(const struct sk_thread_storage *storage);

/* How far from the thread pointer the C library's errno is. */
uint64_t sk_errno_distance(void);

/* The calling thread has a block. False: no memory. */
bool sk_thread_storage_enter(const struct sk_thread_storage *storage);

/* The calling thread's block is as it was in the beginning. */
void sk_thread_storage_renew(const struct sk_thread_storage *storage);

/* Where the thread has the byte: what packages call as __tls_get_addr. */
struct sk_thread_address {
	uint64_t number, offset;
};
void *sk_thread_storage_find(const struct sk_thread_address *address);

#endif
