/* The seal of a package, which its plan holds (struct sk_plan_seal): what its hashes and its signature cover. sklink
 * makes it when all bytes are known, libskrt compares. Uses libsodium for signatures, if that was there when it was
 * built. */
#ifndef SK_LOADER_SEAL_H
#define SK_LOADER_SEAL_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sk_plan_seal;

enum { SK_SEAL_HASH = 16, SK_SEAL_SIGNATURE = 64, SK_SEAL_KEY = 32, SK_SEAL_HEADERS = 64 /* program headers */ };

/* Bytes of a file. */
struct sk_seal_part {
	const void *bytes; /* NULL: zeros */
	uint64_t size;
};

/* A PT_LOAD that has bytes in the file. */
struct sk_seal_segment {
	const struct sk_seal_part *parts;
	size_t count;
	const uint8_t *hash; /* of them; NULL: it is not known yet */
};

/* The loaded bytes. Seal and ELF header lie in one of the parts each, the program headers in the header's. */
struct sk_seal_bytes {
	const struct sk_seal_segment *segments;
	size_t count;
	const Elf64_Ehdr *header;
	const struct sk_plan_seal *seal;
};

/* The hash of the loaded bytes; of the others, with what is left out of the header. */
void sk_seal_hash_loaded(const struct sk_seal_bytes *loaded, uint8_t hash[SK_SEAL_HASH]);
void sk_seal_hash_rest(const Elf64_Ehdr *header, const struct sk_seal_part *parts, size_t count,
		       uint8_t hash[SK_SEAL_HASH]);

/* The hash of constants that are in a file of their own. */
void sk_seal_hash_weights(const struct sk_seal_part *parts, size_t count, uint8_t hash[SK_SEAL_HASH]);

/* Whether it was built with libsodium; without, the functions below return false. */
bool sk_seal_can_sign(void);

/* `seed` is the private key, as RFC 8032 has it. */
bool sk_seal_sign(const struct sk_seal_bytes *loaded, const uint8_t seed[SK_SEAL_KEY],
		  uint8_t signature[SK_SEAL_SIGNATURE]);
bool sk_seal_check_signature(const struct sk_seal_bytes *loaded, const uint8_t public_key[SK_SEAL_KEY],
			     const uint8_t signature[SK_SEAL_SIGNATURE]);

enum sk_key_kind { SK_KEY_PRIVATE, SK_KEY_PUBLIC };

/* Reads an Ed25519 key from a PEM file (RFC 8410), as `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout`
 * write it. NULL, or what is wrong: a constant text. */
const char *sk_key_read(const char *path, enum sk_key_kind kind, uint8_t key[SK_SEAL_KEY]);

#endif
