/* The seal of a package, which its plan holds (struct sk_plan_seal): hashes and a signature. sklink computes it when
 * all bytes are final, libskrt verifies it. Signatures need libsodium when sklink is built. */
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

/* A PT_LOAD with bytes in the file. */
struct sk_seal_segment {
	const struct sk_seal_part *parts;
	size_t count;
	const uint8_t *hash; /* of its bytes; NULL: not known yet */
};

/* The loaded bytes. The seal and the ELF header are each within a part; the program headers are in the part of the ELF
 * header. */
struct sk_seal_bytes {
	const struct sk_seal_segment *segments;
	size_t count;
	const Elf64_Ehdr *header;
	const struct sk_plan_seal *seal;
};

/* Compute the hash of the loaded bytes, and that of the others, together with the fields of the header that the first
 * one leaves out. */
void sk_seal_hash_loaded(const struct sk_seal_bytes *loaded, uint8_t hash[SK_SEAL_HASH]);
void sk_seal_hash_rest(const Elf64_Ehdr *header, const struct sk_seal_part *parts, size_t count,
		       uint8_t hash[SK_SEAL_HASH]);

/* Compute the hash of constants in a file of their own. */
void sk_seal_hash_weights(const struct sk_seal_part *parts, size_t count, uint8_t hash[SK_SEAL_HASH]);

/* True if libsodium is available; otherwise the functions below return false. */
bool sk_seal_can_sign(void);

/* `seed` is the private key as in RFC 8032. */
bool sk_seal_sign(const struct sk_seal_bytes *loaded, const uint8_t seed[SK_SEAL_KEY],
		  uint8_t signature[SK_SEAL_SIGNATURE]);
bool sk_seal_check_signature(const struct sk_seal_bytes *loaded, const uint8_t public_key[SK_SEAL_KEY],
			     const uint8_t signature[SK_SEAL_SIGNATURE]);

enum sk_key_kind { SK_KEY_PRIVATE, SK_KEY_PUBLIC };

/* Read an Ed25519 key from a PEM file (RFC 8410), as `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout`
 * write it. Return NULL, or the error: a constant text. */
const char *sk_key_read(const char *path, enum sk_key_kind kind, uint8_t key[SK_SEAL_KEY]);

#endif
