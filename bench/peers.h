/* Other ways to run a chain of steps that do nothing, each of which needs all parts of the one before. A run of any of
 * them returns when its last step has ended. Those with threads are opened before and closed afterwards. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#ifdef __cplusplus
extern "C" {
#endif

struct bench_chain {
	unsigned steps, parts, threads;
};

/* peers.c: a spinning thread for each part, which yields while it waits. Between runs the threads sleep. */
void bench_spinners_open(unsigned parts);
void bench_spinners_run(const void *chain);
void bench_spinners_close(void);

/* peers.c: a pool of two threads with a mutex and condition variables, which fork and join in each step. */
void bench_pool_open(void);
void bench_pool_run(const void *chain);
void bench_pool_close(void);

/* peers.c: wakes a thread that sleeps on a futex, and polls the line in which it answers: the minimal time of waking a
 * thread, for any purpose. */
void bench_sleeper_open(void);
void bench_sleeper_run(const void *context);
void bench_sleeper_close(void);

/* openmp.c: a parallel-for each step. */
void bench_openmp_run(const void *chain);

/* tbb.cc: a flow graph with a node for each part of each step, and edges from all parts of the step before. */
struct bench_graph;
struct bench_graph *bench_tbb_open(const struct bench_chain *chain);
void bench_tbb_run(const void *graph);
void bench_tbb_close(struct bench_graph *graph);

#ifdef __cplusplus
}
#endif

#endif
