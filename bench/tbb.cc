// See peers.h. Compiled where oneTBB is installed.
#include "bench/peers.h"

#include <memory>
#include <vector>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task_arena.h>

namespace
{

using message = tbb::flow::continue_msg;
using node = tbb::flow::continue_node<message>;

} // namespace

struct bench_graph {
	tbb::task_arena arena;
	std::unique_ptr<tbb::flow::graph> graph;
	std::unique_ptr<tbb::flow::broadcast_node<message>> start;
	std::vector<std::unique_ptr<node>> nodes; // the parts of the first step, then those of the second …

	explicit bench_graph(const bench_chain &chain) : arena(static_cast<int>(chain.threads))
	{
		arena.execute([this, &chain] { build(chain); });
	}

	void build(const bench_chain &chain)
	{
		graph = std::make_unique<tbb::flow::graph>(); // takes the arena that it is made in
		start = std::make_unique<tbb::flow::broadcast_node<message>>(*graph);
		for (unsigned i = 0; i < chain.steps * chain.parts; i++) {
			unsigned before = i / chain.parts * chain.parts;

			nodes.push_back(std::make_unique<node>(*graph, [](message) { return message(); }));
			if (before == 0)
				tbb::flow::make_edge(*start, *nodes[i]);
			for (unsigned part = 0; before && part < chain.parts; part++)
				tbb::flow::make_edge(*nodes[before - chain.parts + part], *nodes[i]);
		}
	}

	void run() const
	{
		start->try_put(message());
		graph->wait_for_all();
	}
};

extern "C" bench_graph *bench_tbb_open(const bench_chain *chain)
{
	return new bench_graph(*chain);
}

extern "C" void bench_tbb_run(const void *graph)
{
	static_cast<const bench_graph *>(graph)->run();
}

extern "C" void bench_tbb_close(bench_graph *graph)
{
	delete graph;
}
