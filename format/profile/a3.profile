# A die of the NPU generation that SuperKernel was made for: 24 cube and 48 vector cores. Few of these numbers are
# published; share/doc/sklink/doc/explain/simulation.md lists these, and the origin of the others. Copy this file and
# put your own measurements in their place.
name: a3
lanes: cube vector        # the first runs kernels marked cube, the second all others
cube.cores: 24
cube.operations: 16384    # 16 x 16 x 32 multiply-adds of 8-bit integers in a cycle
cube.code-cache: 32 KiB
vector.cores: 48
vector.operations: 128    # 64 lanes of 32 bits, a multiplication and an addition each
vector.code-cache: 16 KiB
clock: 1.85 GHz
launch: 0.8 us            # gap between two tasks of a stream: about 18 us in a layer of 23
await: 0.3 us             # one core's flag seen by all others
check: 0.02 us
call: 1 us                # until a kernel's first bytes have come and its last ones have gone
flush: 1 us               # of a core's whole data cache (debug-dcci-all)
code-fetch: 32 GB/s       # into one core
memory: 1.6 TB/s
core-memory: 100 GB/s
