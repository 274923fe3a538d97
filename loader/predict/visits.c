/* Visits and the critical path; see predict-parts.h. */
#include "config.h"

#include "loader/predict/predict-parts.h"

#include <math.h>
#include <stdlib.h>

#include "format/skplan.h"

/* The parts that count the time up to each point; up to SK_POINT_RESUMED, the visit has it. */
static const enum sk_path_part part_before[SK_POINTS] = {
	[SK_POINT_CALLED] = SK_PART_CALL,  [SK_POINT_FETCHED] = SK_PART_FETCH, [SK_POINT_PREPARED] = SK_PART_RUN,
	[SK_POINT_BEGUN] = SK_PART_CALL,   [SK_POINT_WAITED] = SK_PART_AWAIT,  [SK_POINT_SET] = SK_PART_RUN,
	[SK_POINT_RETURNED] = SK_PART_RUN, [SK_POINT_ENDED] = SK_PART_CALL,
};

void sk_visit_reach(struct sk_visit *visit, enum sk_point point, double now)
{
	while (visit->reached < point)
		visit->at[++visit->reached] = now;
}

void sk_visit_let_go(struct sk_visit *visit, uint32_t cause, double since, double resumed)
{
	visit->cause = cause;
	visit->between = SK_PART_AWAIT;
	visit->at[SK_POINT_SINCE] = since;
	for (int point = SK_POINT_RESUMED; point <= (int)visit->reached; point++)
		visit->at[point] = resumed;
}

/* Fill in the item for the part of a visit before `until`, when it has let the next one on the path go on. Return false
 * if that part takes no time. */
static bool fill_item(const struct sk_visit *visit, double until, struct sk_path_item *item)
{
	*item = (struct sk_path_item){.step = visit->step, .core = visit->core};
	for (int point = SK_POINT_RESUMED; point < SK_POINTS; point++) {
		enum sk_path_part part = point == SK_POINT_RESUMED ? visit->between : part_before[point];

		item->parts[part] += fmin(visit->at[point], until) - fmin(visit->at[point - 1], until);
	}
	return fmin(visit->at[SK_POINT_ENDED], until) > visit->at[SK_POINT_SINCE];
}

bool sk_visits_trace(const struct sk_visit *visits, uint32_t last, struct sk_simulation *result)
{
	double until = (double)INFINITY;
	struct sk_path_item item;
	uint32_t count = 0;

	for (uint32_t v = last; v != SK_NO_INDEX; until = visits[v].at[SK_POINT_SINCE], v = visits[v].cause)
		count += fill_item(&visits[v], until, &item);
	result->path = calloc(count + (size_t)1, sizeof(*result->path));
	result->path_count = count;
	if (!result->path)
		return false;
	until = (double)INFINITY;
	for (uint32_t v = last; v != SK_NO_INDEX; until = visits[v].at[SK_POINT_SINCE], v = visits[v].cause) {
		if (!fill_item(&visits[v], until, &item))
			continue;
		result->path[--count] = item;
		for (int part = 0; part < SK_PARTS; part++)
			result->parts[part] += item.parts[part];
	}
	return true;
}
