/* linear-attention.c: LinearAttention. Each head of keys has a state S [dk, dv]. A step multiplies its rows by
 * exp(decay), adds k v' to it, and gives scale q' S for each of `group` queries that share the head. With `delta` the
 * step adds beta k (v - S' k)' instead.
 *
 * Rows are heads of all batches: past and present states [r,u], results [r,w] of all steps, one after the other. q, k
 * and v are [batch, steps, heads, width of a head]. decay is [batch, steps, heads, decays], where `decays` is 1, or dk
 * for one of each row of S; beta is [batch, steps, betas], for each head, or one for all. They are not read if these
 * numbers are 0.
 *
 * variants: OP=LinearAttention TYPE=f32 ISA=base,v3
 */
#include "kernels/family.h"
#include "kernels/math.h"

struct head {
	int64_t dk, dv, group, decays;
	float scale;
};

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Multiply the rows of the state, and add up the products with k if `seen` is not NULL. */
static ALWAYS_INLINE void recall(const struct head *head, const float *k, const float *decay, float *state, float *seen)
{
	for (int64_t m = 0; seen && m < head->dv; m++)
		seen[m] = 0;
	for (int64_t i = 0; i < head->dk && (decay || seen); i++) {
		float factor = decay ? MATH(exp)(decay[head->decays == 1 ? 0 : i]) : 1, own = k[i];
		float *row = state + i * head->dv;

		INDEPENDENT
		for (int64_t m = 0; m < head->dv; m++)
			row[m] *= factor;
		if (!seen)
			continue;
		INDEPENDENT
		for (int64_t m = 0; m < head->dv; m++)
			seen[m] += row[m] * own;
	}
}

/* Add the products of k and v. */
static ALWAYS_INLINE void keep(const struct head *head, const float *k, const float *v, float *state)
{
	for (int64_t i = 0; i < head->dk; i++) {
		float *row = state + i * head->dv, own = k[i];

		INDEPENDENT
		for (int64_t m = 0; m < head->dv; m++)
			row[m] += own * v[m];
	}
}

static ALWAYS_INLINE void answer(const struct head *head, const float *q, const float *state, float *y)
{
	for (int64_t m = 0; m < head->dv; m++)
		y[m] = 0;
	for (int64_t i = 0; i < head->dk; i++) {
		const float *row = state + i * head->dv;
		float own = q[i];

		INDEPENDENT
		for (int64_t m = 0; m < head->dv; m++)
			y[m] += own * row[m];
	}
	INDEPENDENT
	for (int64_t m = 0; m < head->dv; m++)
		y[m] *= head->scale;
}

void KERNEL(const float *q, const float *k, const float *v, const float *decay, const float *beta, const float *past,
	    float *y, float *present, float *room, int64_t r, int64_t w, int64_t u, int64_t first, int64_t heads,
	    int64_t group, int64_t steps, int64_t dk, int64_t dv, int64_t decays, int64_t betas, int64_t delta,
	    float scale)
{
	const struct head head = {dk, dv, group, decays, scale};

	for (int64_t row = 0; row < r; row++) {
		int64_t own = (first + row) % heads, batch = (first + row) / heads;
		float *state = present + row * u;

		for (int64_t i = 0; i < u; i++)
			state[i] = past ? past[row * u + i] : 0;
		for (int64_t step = 0; step < steps; step++) {
			int64_t at = batch * steps + step, head_at = at * heads + own;
			const float *key = k + head_at * dk, *value = v + head_at * dv;
			float rate = delta && betas ? beta[betas == 1 ? at : head_at] : 1;

			recall(&head, key, decays ? decay + head_at * decays : 0, state, delta ? room : 0);
			INDEPENDENT
			for (int64_t m = 0; delta && m < dv; m++)
				room[m] = rate * (value[m] - room[m]);
			keep(&head, key, delta ? room : value, state);
			for (int64_t g = 0; g < group; g++)
				answer(&head, q + (head_at * group + g) * dk, state,
				       y + row * w + (step * group + g) * dv);
		}
	}
}
SIGNATURE("split=r operations=6*r*attr(steps)*u op=LinearAttention",
	  "in q f32[a], in k f32[b], in v f32[c], in decay f32[d], in beta f32[e], in? past f32[r,u], out y f32[r,w], "
	  "out present f32[r,u], scratch room f32[u], r i64, w i64, u i64, first i64 = begin(r), heads i64 = "
	  "attr(heads), "
	  "group i64 = attr(group), steps i64 = attr(steps), dk i64 = attr(dk), dv i64 = attr(dv), decays i64 = "
	  "attr(decays, 0), betas i64 = attr(betas, 0), delta i64 = attr(delta, 0), scale f32 = attr(scale)");
