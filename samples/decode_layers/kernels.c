/* The kernels of a decoder layer with compressed attention and experts, in plain C: cube kernels share out rows of
 * their result among blocks, vector kernels work row by row. m is the number of tokens, one of each sequence.
 *
 * A cached row holds `r` compressed values, followed by a key that is rotated by its position. */
#include <math.h>

#include "skkernel.h"

/* ---- vector kernels: rows of tokens ---- */

static void normalise(const float *x, const float *weight, float *y, int64_t n)
{
	float sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += x[i] * x[i];

	float factor = 1 / sqrtf(sum / (float)n + 1e-6f);

	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] * factor * weight[i];
}

/* Rotates pairs of neighbours by angles that fall from `position` on. */
static void rotate(const float *x, float *y, int64_t n, int64_t position)
{
	for (int64_t i = 0; i + 1 < n; i += 2) {
		float angle = (float)position * powf(10000, -(float)i / (float)n);
		float c = cosf(angle), s = sinf(angle), a = x[i], b = x[i + 1];

		y[i] = a * c - b * s;
		y[i + 1] = a * s + b * c;
	}
}

SK_KERNEL(rms_norm, "vector split=m; in x f32[m,n], in weight f32[n], out y f32[m,n], m i64, n i64");
void rms_norm(const float *x, const float *weight, float *y, int64_t m, int64_t n)
{
	for (int64_t row = 0; row < m; row++)
		normalise(x + row * n, weight, y + row * n, n);
}

SK_KERNEL(write_cache, "vector split=m; in latent f32[m,c], in weight f32[r], inout cache f32[m,t,c], m i64, t i64, "
		       "c i64, r i64, position i64");
void write_cache(const float *latent, const float *weight, float *cache, int64_t m, int64_t t, int64_t c, int64_t r,
		 int64_t position)
{
	for (int64_t row = 0; row < m; row++) {
		float *target = cache + (row * t + position) * c;

		normalise(latent + row * c, weight, target, r);
		rotate(latent + row * c + r, target + r, c - r, position);
	}
}

SK_KERNEL(rotate_query, "vector split=m; in x f32[m,n], out y f32[m,n], m i64, n i64, heads i64, rotated i64, "
			"position i64");
void rotate_query(const float *x, float *y, int64_t m, int64_t n, int64_t heads, int64_t rotated, int64_t position)
{
	int64_t width = n / heads, plain = width - rotated;

	for (int64_t head = 0; head < m * heads; head++) {
		for (int64_t i = 0; i < plain; i++)
			y[head * width + i] = x[head * width + i];
		rotate(x + head * width + plain, y + head * width + plain, rotated, position);
	}
}

SK_KERNEL(softmax, "vector split=m; in x f32[m,l], out y f32[m,l], m i64, l i64, heads i64, position i64");
void softmax(const float *x, float *y, int64_t m, int64_t l, int64_t heads, int64_t position)
{
	int64_t t = l / heads;

	for (int64_t head = 0; head < m * heads; head++) {
		const float *from = x + head * t;
		float *to = y + head * t, greatest = from[0], sum = 0;

		for (int64_t i = 1; i <= position; i++)
			greatest = from[i] > greatest ? from[i] : greatest;
		for (int64_t i = 0; i <= position; i++)
			sum += to[i] = expf(from[i] - greatest);
		for (int64_t i = 0; i < t; i++)
			to[i] = i <= position ? to[i] / sum : 0;
	}
}

SK_KERNEL(add_norm, "vector split=m; in x f32[m,n], in y f32[m,n], in weight f32[n], out sum f32[m,n], out z f32[m,n], "
		    "m i64, n i64");
void add_norm(const float *x, const float *y, const float *weight, float *sum, float *z, int64_t m, int64_t n)
{
	for (int64_t i = 0; i < m * n; i++)
		sum[i] = x[i] + y[i];
	rms_norm(sum, weight, z, m, n);
}

SK_KERNEL(choose_experts, "vector split=m; in x f32[m,e], out gates f32[m,e], m i64, e i64, top i64");
void choose_experts(const float *x, float *gates, int64_t m, int64_t e, int64_t top)
{
	for (int64_t row = 0; row < m; row++) {
		const float *from = x + row * e;
		float *to = gates + row * e, sum = 0;

		for (int64_t i = 0; i < e; i++)
			to[i] = 0;
		for (int64_t count = 0; count < top && count < e; count++) {
			int64_t best = -1;

			for (int64_t i = 0; i < e; i++)
				if (to[i] == 0 && (best < 0 || from[i] > from[best]))
					best = i;
			sum += to[best] = 1 / (1 + expf(-from[best]));
		}
		for (int64_t i = 0; i < e; i++)
			to[i] /= sum;
	}
}

SK_KERNEL(swiglu, "vector split=m; in x f32[m,n], out y f32[m,k], m i64, n i64, k i64, groups i64");
void swiglu(const float *x, float *y, int64_t m, int64_t n, int64_t k, int64_t groups)
{
	int64_t width = k / groups;

	(void)n;
	for (int64_t group = 0; group < m * groups; group++) {
		const float *gate = x + group * 2 * width, *up = gate + width;

		for (int64_t i = 0; i < width; i++)
			y[group * width + i] = gate[i] / (1 + expf(-gate[i])) * up[i];
	}
}

SK_KERNEL(add3, "vector split=m; in x f32[m,n], in y f32[m,n], in z f32[m,n], out sum f32[m,n], m i64, n i64");
void add3(const float *x, const float *y, const float *z, float *sum, int64_t m, int64_t n)
{
	for (int64_t i = 0; i < m * n; i++)
		sum[i] = x[i] + y[i] + z[i];
}

/* ---- cube kernels: blocks of rows or columns, which start early ---- */

static float dot(const float *x, const float *y, int64_t n)
{
	float sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += x[i] * y[i];
	return sum;
}

/* y = x w': each block has some of the columns. */
SK_KERNEL(matmul, "cube blocks early-start=both; block, in x f32[m,k], in w f32[n,k], out y f32[m,n], m i64, k i64, n "
		  "i64");
void matmul(const struct sk_block *block, const float *x, const float *w, float *y, int64_t m, int64_t k, int64_t n)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)n, &low, &high);
	sk_wait_pre_task_end(block);
	for (int64_t row = 0; row < m; row++)
		for (int64_t column = (int64_t)low; column < (int64_t)high; column++)
			y[row * n + column] = dot(x + row * k, w + column * k, k);
	sk_set_next_task_start(block);
}

/* Transforms each head's query into the space of the compressed keys; its rotated part is unchanged. Each block has
 * some of the tokens' heads. */
SK_KERNEL(absorb, "cube blocks early-start=both; block, in x f32[m,n], in w f32[h,r,a], out y f32[m,k], m i64, n i64, "
		  "h i64, r i64, a i64, k i64");
void absorb(const struct sk_block *block, const float *x, const float *w, float *y, int64_t m, int64_t n, int64_t h,
	    int64_t r, int64_t a, int64_t k)
{
	int64_t from = n / h, to = k / h;
	uint64_t low, high;

	sk_block_range(block, (uint64_t)(m * h), &low, &high);
	sk_wait_pre_task_end(block);
	for (int64_t head = (int64_t)low; head < (int64_t)high; head++) {
		for (int64_t i = 0; i < r; i++)
			y[head * to + i] = dot(x + head * from, w + (head % h * r + i) * a, a);
		for (int64_t i = r; i < to; i++)
			y[head * to + i] = x[head * from + a + i - r];
	}
	sk_set_next_task_start(block);
}

SK_KERNEL(scores, "cube blocks early-start=both; block, in x f32[m,k], in cache f32[m,t,c], out y f32[m,l], m i64, k "
		  "i64, t i64, c i64, l i64, position i64, scale f32");
void scores(const struct sk_block *block, const float *x, const float *cache, float *y, int64_t m, int64_t k, int64_t t,
	    int64_t c, int64_t l, int64_t position, float scale)
{
	int64_t heads = k / c;
	uint64_t low, high;

	(void)l;
	sk_block_range(block, (uint64_t)(m * heads), &low, &high);
	sk_wait_pre_task_end(block);
	for (int64_t head = (int64_t)low; head < (int64_t)high; head++)
		for (int64_t i = 0; i < t; i++)
			y[head * t + i] =
				i <= position ? scale * dot(x + head * c, cache + (head / heads * t + i) * c, c) : 0;
	sk_set_next_task_start(block);
}

/* The compressed values under the weights of the scores. */
SK_KERNEL(context, "cube blocks early-start=both; block, in x f32[m,l], in cache f32[m,t,c], out y f32[m,k], m i64, l "
		   "i64, t i64, c i64, k i64, position i64");
void context(const struct sk_block *block, const float *x, const float *cache, float *y, int64_t m, int64_t l,
	     int64_t t, int64_t c, int64_t k, int64_t position)
{
	int64_t heads = l / t, r = k / heads;
	uint64_t low, high;

	sk_block_range(block, (uint64_t)(m * heads), &low, &high);
	sk_wait_pre_task_end(block);
	for (int64_t head = (int64_t)low; head < (int64_t)high; head++) {
		float *to = y + head * r;

		for (int64_t i = 0; i < r; i++)
			to[i] = 0;
		for (int64_t i = 0; i <= position; i++)
			for (int64_t j = 0; j < r; j++)
				to[j] += x[head * t + i] * cache[(head / heads * t + i) * c + j];
	}
	sk_set_next_task_start(block);
}

/* Each head's compressed context to its values. */
SK_KERNEL(values, "cube blocks early-start=both; block, in x f32[m,k], in w f32[h,v,r], out y f32[m,n], m i64, k i64, "
		  "h i64, v i64, r i64, n i64");
void values(const struct sk_block *block, const float *x, const float *w, float *y, int64_t m, int64_t k, int64_t h,
	    int64_t v, int64_t r, int64_t n)
{
	uint64_t low, high;

	(void)k;
	(void)n;
	sk_block_range(block, (uint64_t)(m * h), &low, &high);
	sk_wait_pre_task_end(block);
	for (int64_t head = (int64_t)low; head < (int64_t)high; head++)
		for (int64_t i = 0; i < v; i++)
			y[head * v + i] = dot(x + head * r, w + (head % h * v + i) * r, r);
	sk_set_next_task_start(block);
}

/* The first matrix of each expert, for the tokens that have chosen it; 0 for the others. Each block has some of the
 * rows of all experts' matrices. */
SK_KERNEL(experts_up, "cube blocks early-start=both; block, in x f32[m,k], in w f32[e,n,k], in gates f32[m,e], out y "
		      "f32[m,j], m i64, k i64, e i64, n i64, j i64");
void experts_up(const struct sk_block *block, const float *x, const float *w, const float *gates, float *y, int64_t m,
		int64_t k, int64_t e, int64_t n, int64_t j)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)j, &low, &high);
	sk_wait_pre_task_end(block);
	for (int64_t row = 0; row < m; row++)
		for (int64_t i = (int64_t)low; i < (int64_t)high; i++)
			y[row * j + i] = gates[row * e + i / n] != 0 ? dot(x + row * k, w + i * k, k) : 0;
	sk_set_next_task_start(block);
}

/* The second one, and the sum of the experts, weighted by the gates. */
SK_KERNEL(experts_down, "cube blocks early-start=both; block, in x f32[m,j], in w f32[e,n,k], in gates f32[m,e], out "
			"y f32[m,n], m i64, j i64, e i64, n i64, k i64");
void experts_down(const struct sk_block *block, const float *x, const float *w, const float *gates, float *y, int64_t m,
		  int64_t j, int64_t e, int64_t n, int64_t k)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)n, &low, &high);
	sk_wait_pre_task_end(block);
	for (int64_t row = 0; row < m; row++)
		for (int64_t i = (int64_t)low; i < (int64_t)high; i++) {
			float sum = 0;

			for (int64_t expert = 0; expert < e; expert++)
				if (gates[row * e + expert] != 0)
					sum += gates[row * e + expert] *
					       dot(x + row * j + expert * k, w + (expert * n + i) * k, k);
			y[row * n + i] = sum;
		}
	sk_set_next_task_start(block);
}
