/* Hashes and signatures over parts of a file, in which holes count as zeros; see seal.h. */
#include "config.h"

#include "format/seal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL /* so that libskrt needs no library for it */
#include <xxhash.h>

#ifdef HAVE_SODIUM
#include <sodium.h>

#include "format/skplan.h"
#endif

/* ---- the bytes, piece by piece ---- */

struct hole {
	const char *start;
	size_t size;
};

/* Holes of the ELF header, of each program header, and of the seal. */
struct holes {
	struct hole items[SK_SEAL_HEADERS + 3];
	size_t count;
};

static void add_hole(struct holes *holes, const void *start, size_t size)
{
	holes->items[holes->count++] = (struct hole){start, size};
}

static const struct hole *next_hole(const struct holes *holes, const char *start, const char *end)
{
	const struct hole *next = NULL;

	for (size_t i = 0; i < holes->count; i++) {
		const struct hole *hole = &holes->items[i];

		if (hole->start >= start && hole->start < end && (!next || hole->start < next->start))
			next = hole;
	}
	return next;
}

typedef void take_function(void *context, const void *bytes, size_t size);

static void take_zeros(take_function *take, void *context, uint64_t size)
{
	static const char zeros[4096];

	for (uint64_t done = 0; done < size;) {
		size_t part = size - done < sizeof(zeros) ? (size_t)(size - done) : sizeof(zeros);

		take(context, zeros, part);
		done += part;
	}
}

/* Pass the bytes of a part, with the intersections of holes as zeros. */
static void take_part(const struct sk_seal_part *part, const struct holes *holes, take_function *take, void *context)
{
	const char *at = part->bytes, *end;
	const struct hole *hole;

	if (!at) {
		take_zeros(take, context, part->size);
		return;
	}
	end = at + part->size;
	while ((hole = next_hole(holes, at, end))) {
		size_t size = hole->size < (size_t)(end - hole->start) ? hole->size : (size_t)(end - hole->start);

		take(context, at, (size_t)(hole->start - at));
		take_zeros(take, context, size);
		at = hole->start + size;
	}
	take(context, at, (size_t)(end - at));
}

/* Add the fields that strip changes: e_shoff, e_shentsize to e_shstrndx, and p_offset of program headers if zeroed data
 * is between segments. They do not affect the use of bytes: sections are not loaded, and the bytes at p_offset,
 * wherever it points, are the hashed ones. */
static void add_fields(struct holes *holes, const Elf64_Ehdr *header)
{
	const Elf64_Phdr *headers = (const void *)((const char *)header + header->e_phoff);

	add_hole(holes, &header->e_shoff, sizeof(header->e_shoff));
	add_hole(holes, &header->e_shentsize, 3 * sizeof(Elf64_Half));
	for (uint32_t i = 0; i < header->e_phnum && i < SK_SEAL_HEADERS; i++)
		add_hole(holes, &headers[i].p_offset, sizeof(headers[i].p_offset));
}

/* Return the position of the address in the loaded bytes. */
static uint64_t position_of(const struct sk_seal_bytes *loaded, const void *address)
{
	uint64_t before = 0;

	for (size_t i = 0; i < loaded->count; i++)
		for (size_t j = 0; j < loaded->segments[i].count; j++) {
			const struct sk_seal_part *part = &loaded->segments[i].parts[j];
			uintptr_t within = (uintptr_t)address - (uintptr_t)part->bytes;

			if (part->bytes && within < part->size)
				return before + within;
			before += part->size;
		}
	return before;
}

/* Return the bytes that count as zeros. The position of the seal is hashed as well, so that nobody can pass off other
 * zeros as the hole and change its contents. */
static struct holes find_holes(const struct sk_seal_bytes *loaded, const void *hole, size_t size)
{
	struct holes holes = {.count = 0};

	add_fields(&holes, loaded->header);
	add_hole(&holes, hole, size);
	return holes;
}

static void take_position(const struct sk_seal_bytes *loaded, take_function *take, void *context)
{
	uint64_t position = position_of(loaded, loaded->seal);

	take(context, &position, sizeof(position)); /* little-endian, like everything in a package */
}

static void take_segment(const struct sk_seal_segment *segment, const struct holes *holes, take_function *take,
			 void *context)
{
	for (size_t i = 0; i < segment->count; i++)
		take_part(&segment->parts[i], holes, take, context);
}

/* ---- hashes ---- */

static void hash_bytes(void *state, const void *bytes, size_t size)
{
	XXH3_128bits_update(state, bytes, size);
}

static void finish_hash(XXH3_state_t *state, uint8_t hash[SK_SEAL_HASH])
{
	XXH128_canonical_t result;

	XXH128_canonicalFromHash(&result, XXH3_128bits_digest(state));
	memcpy(hash, &result, SK_SEAL_HASH);
}

/* Segments are hashed one by one, so that a known hash saves reading gigabytes again. */
void sk_seal_hash_loaded(const struct sk_seal_bytes *loaded, uint8_t hash[SK_SEAL_HASH])
{
	const struct holes holes = find_holes(loaded, loaded->seal->loaded, sizeof(loaded->seal->loaded));
	XXH3_state_t all, state;

	XXH3_128bits_reset(&all);
	take_position(loaded, hash_bytes, &all);
	for (size_t i = 0; i < loaded->count; i++) {
		const uint8_t *known = loaded->segments[i].hash;

		if (!known) {
			XXH3_128bits_reset(&state);
			take_segment(&loaded->segments[i], &holes, hash_bytes, &state);
			finish_hash(&state, hash);
		}
		hash_bytes(&all, known ? known : hash, SK_SEAL_HASH);
	}
	finish_hash(&all, hash);
}

void sk_seal_hash_weights(const struct sk_seal_part *parts, size_t count, uint8_t hash[SK_SEAL_HASH])
{
	const struct holes none = {.count = 0};
	XXH3_state_t state;

	XXH3_128bits_reset(&state);
	for (size_t i = 0; i < count; i++)
		take_part(&parts[i], &none, hash_bytes, &state);
	finish_hash(&state, hash);
}

void sk_seal_hash_rest(const Elf64_Ehdr *header, const struct sk_seal_part *parts, size_t count,
		       uint8_t hash[SK_SEAL_HASH])
{
	struct holes fields = {.count = 0}, none = {.count = 0};
	XXH3_state_t state;

	XXH3_128bits_reset(&state);
	add_fields(&fields, header);
	for (size_t i = 0; i < fields.count; i++)
		hash_bytes(&state, fields.items[i].start, fields.items[i].size);
	for (size_t i = 0; i < count; i++)
		take_part(&parts[i], &none, hash_bytes, &state);
	finish_hash(&state, hash);
}

/* ---- signatures and keys ---- */

#ifdef HAVE_SODIUM

_Static_assert(SK_SEAL_SIGNATURE == crypto_sign_BYTES && SK_SEAL_KEY == crypto_sign_SEEDBYTES &&
		       SK_SEAL_KEY == crypto_sign_PUBLICKEYBYTES,
	       "Ed25519");

bool sk_seal_can_sign(void)
{
	return true;
}

static void sign_bytes(void *state, const void *bytes, size_t size)
{
	crypto_sign_update(state, bytes, size);
}

/* `signature` and `loaded` are adjacent in the seal. */
static void take_signed(const struct sk_seal_bytes *loaded, crypto_sign_state *state)
{
	const struct sk_plan_seal *seal = loaded->seal;
	const struct holes holes = find_holes(loaded, seal->signature, sizeof(seal->signature) + sizeof(seal->loaded));

	crypto_sign_init(state);
	take_position(loaded, sign_bytes, state);
	for (size_t i = 0; i < loaded->count; i++)
		take_segment(&loaded->segments[i], &holes, sign_bytes, state);
}

bool sk_seal_sign(const struct sk_seal_bytes *loaded, const uint8_t seed[SK_SEAL_KEY],
		  uint8_t signature[SK_SEAL_SIGNATURE])
{
	uint8_t public_key[SK_SEAL_KEY], private_key[crypto_sign_SECRETKEYBYTES];
	crypto_sign_state state;

	if (sodium_init() < 0)
		return false;
	crypto_sign_seed_keypair(public_key, private_key, seed);
	take_signed(loaded, &state);

	bool good = crypto_sign_final_create(&state, signature, NULL, private_key) == 0;

	sodium_memzero(private_key, sizeof(private_key));
	return good;
}

bool sk_seal_check_signature(const struct sk_seal_bytes *loaded, const uint8_t public_key[SK_SEAL_KEY],
			     const uint8_t signature[SK_SEAL_SIGNATURE])
{
	uint8_t copy[SK_SEAL_SIGNATURE];
	crypto_sign_state state;

	if (sodium_init() < 0)
		return false;
	memcpy(copy, signature, sizeof(copy));
	take_signed(loaded, &state);
	return crypto_sign_final_verify(&state, copy, public_key) == 0;
}

/* The DER encoding before the key: RFC 8410, sections 4 and 7 (PKCS #8 with the seed as a nested octet string). */
static const struct encoding {
	const char *missing; /* the error for a file without a key */
	const char *begin, *end;
	size_t prefix_size;
	uint8_t prefix[16];
} encodings[] = {
	[SK_KEY_PRIVATE] = {"it holds no private key in PEM (openssl genpkey -algorithm ed25519 makes one)",
			    "-----BEGIN PRIVATE KEY-----",
			    "-----END PRIVATE KEY-----",
			    16,
			    {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04,
			     0x20}},
	[SK_KEY_PUBLIC] = {"it holds no public key in PEM (openssl pkey -pubout makes it of the private one)",
			   "-----BEGIN PUBLIC KEY-----",
			   "-----END PUBLIC KEY-----",
			   12,
			   {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00}},
};

static const char *decode(const char *text, const struct encoding *encoding, uint8_t key[SK_SEAL_KEY])
{
	const char *begin = strstr(text, encoding->begin), *end = begin ? strstr(begin, encoding->end) : NULL;
	uint8_t bytes[64];
	size_t size = 0;

	if (!end)
		return encoding->missing;
	begin += strlen(encoding->begin);
	if (sodium_base642bin(bytes, sizeof(bytes), begin, (size_t)(end - begin), " \t\r\n", &size, NULL,
			      sodium_base64_VARIANT_ORIGINAL) ||
	    size != encoding->prefix_size + SK_SEAL_KEY || memcmp(bytes, encoding->prefix, encoding->prefix_size) != 0)
		return "it is not an Ed25519 key";
	memcpy(key, bytes + encoding->prefix_size, SK_SEAL_KEY);
	sodium_memzero(bytes, sizeof(bytes));
	return NULL;
}

const char *sk_key_read(const char *path, enum sk_key_kind kind, uint8_t key[SK_SEAL_KEY])
{
	char text[4096] = "";
	FILE *file = fopen(path, "re");

	if (!file)
		return strerror(errno);

	size_t size = fread(text, 1, sizeof(text) - 1, file);
	const char *error = ferror(file) ? strerror(errno) : NULL;

	fclose(file);
	text[size] = '\0';
	if (!error)
		error = decode(text, &encodings[kind], key);
	sodium_memzero(text, sizeof(text));
	return error;
}

#else

bool sk_seal_can_sign(void)
{
	return false;
}

bool sk_seal_sign(const struct sk_seal_bytes *loaded, const uint8_t seed[SK_SEAL_KEY],
		  uint8_t signature[SK_SEAL_SIGNATURE])
{
	(void)loaded;
	(void)seed;
	(void)signature;
	return false;
}

bool sk_seal_check_signature(const struct sk_seal_bytes *loaded, const uint8_t public_key[SK_SEAL_KEY],
			     const uint8_t signature[SK_SEAL_SIGNATURE])
{
	(void)loaded;
	(void)public_key;
	(void)signature;
	return false;
}

const char *sk_key_read(const char *path, enum sk_key_kind kind, uint8_t key[SK_SEAL_KEY])
{
	(void)path;
	(void)kind;
	(void)key;
	return "built without libsodium, which keys need (configure --with-sodium)";
}

#endif
