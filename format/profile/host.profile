# The host: two processors of a Zen 4 server, as a small virtual machine has them. The origin of each number is in
# share/doc/sklink/doc/explain/simulation.md. Copy this file and change the numbers for your machine.
name: host
lanes: core
core.cores: 2
core.blocks: 8            # of `blocks` kernels, where the task does not say
core.operations: 16       # a core and cycle: one 512-bit multiply-add of floats in two halves, half of it achieved
core.code-cache: 32 KiB
core.data-cache: 1 MiB    # the second-level cache
clock: 3.7 GHz
launch: 130 ns            # a mailbox that a waiting thread polls; a sleeping thread would take 30 us
await: 50 ns              # half of a cache-line round trip of about 100 ns
check: 1 ns
call: 1.5 ns
flush: 10 ns              # coherent caches: a fence only
code-fetch: 20 GB/s       # from the second-level cache
memory: 25 GB/s           # of both cores together
core-memory: 20 GB/s
exchange: 150 ns          # MPI in shared memory, two ranks on one machine; a network has other numbers
link.latency: 300 ns
link.rate: 5.5 GB/s
