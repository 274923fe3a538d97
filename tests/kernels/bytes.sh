#!/bin/bash
# Functions over bytes from Debian's libsodium, zlib and lz4: a message is encrypted, hashed, summed, packed and
# unpacked.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"
need "$libraries/libsodium.a" libsodium-dev
need "$libraries/libz.a" zlib1g-dev
need "$libraries/liblz4.a" liblz4-dev

cat >model.yaml <<Y
sklink: 1
tensors:
  message: {dtype: u8, shape: [5000]}
  key:     {dtype: u8, shape: [32]}
  nonce:   {dtype: u8, shape: [16]}
  subkey:  {dtype: u8, shape: [32], role: output}
  half:    {of: subkey, shape: [16]}
  digest:  {dtype: u8, shape: [8]}
  stream:  {dtype: u8, shape: [8]}
  secret:  {dtype: u8, shape: [5000], role: output}
  longer:  {dtype: u8, shape: [32]}
  crc:     {dtype: u64, shape: [1]}
  adler:   {dtype: u64, shape: [1]}
  packed:  {dtype: u8, shape: [5100], role: inout}
  size:    {dtype: i32, shape: [1], role: output}
  again:   {dtype: u8, shape: [5000]}
  length:  {dtype: i32, shape: [1]}
$(kernels crypto_core_hchacha20 crypto_shorthash_siphash24 crypto_stream_chacha20_xor crypto_hash_sha256 \
	crc32_z adler32_z LZ4_compress_default LZ4_decompress_safe)
tasks:
  - {name: derive, kernel: crypto_core_hchacha20, args: [subkey, nonce, key], scope: all}
  - {name: hash, kernel: crypto_shorthash_siphash24, args: [digest, message, half], scope: all}
  - {name: encrypt, kernel: crypto_stream_chacha20_xor, args: [secret, message, stream, subkey], scope: all}
  - {name: digest, kernel: crypto_hash_sha256, args: [longer, secret], scope: all}
  - {name: sum, kernel: crc32_z, args: [message, crc], stream: 1, scope: all}
  - {name: sums, kernel: adler32_z, args: [message, adler], stream: 1, scope: all}
  - {name: pack, kernel: LZ4_compress_default, args: [message, packed, size], scope: all}
  - {name: unpack, kernel: LZ4_decompress_safe, args: [packed, again, length], scope: all, set: {size: {tensor: size}}}
Y
# Functions that are never called here, but are in the same objects: locked memory, random numbers, a mutex.
fuse -L "$libraries" --unresolved-symbols=trap

# The libraries' functions themselves, and that unpacking gives the original bytes.
cat >oracle.c <<'C'
#include "oracle.h"
#include <lz4.h>
#include <sodium.h>
#include <zlib.h>

static void network(void)
{
	INPUT_WITHIN(uint8_t, message, 97, 100, 5000);
	INPUT(uint8_t, key, 32);
	INPUT(uint8_t, nonce, 16);
	OUTPUT(uint8_t, subkey, 0, 32);
	OUTPUT(uint8_t, digest, 0, 8);
	INPUT(uint8_t, stream, 8);
	OUTPUT(uint8_t, secret, 0, 5000);
	OUTPUT(uint8_t, longer, 0, 32);
	OUTPUT(uint64_t, crc, 0, 1);
	OUTPUT(uint64_t, adler, 0, 1);
	UPDATED(uint8_t, packed, 0, 5100);
	OUTPUT(int32_t, size, 0, 1);
	OUTPUT(uint8_t, again, 0, 5000);

	crypto_core_hchacha20(subkey, nonce, key, NULL);
	crypto_shorthash_siphash24(digest, message, 5000, subkey);
	crypto_stream_chacha20_xor(secret, message, 5000, stream, subkey);
	crypto_hash_sha256(longer, secret, 5000);
	crc[0] = crc32(0, message, 5000);
	adler[0] = adler32(1, message, 5000);
	memcpy(packed_new, packed, 5100);
	size[0] = LZ4_compress_default((char *)message, (char *)packed_new, 5000, 5100);
	memcpy(again, message, 5000);
}
C
right "$libraries/liblz4.a" "$libraries/libsodium.a" "$libraries/libz.a"
