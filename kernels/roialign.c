/* roialign.c: samples of regions of images: x [n, c, k] are n images of c channels, k = dims[0] dims[1] elements each.
 * Region i of r is rois[i], its left, upper, right and lower ends, in image batches[i]; y [r, c, p] are p = sizes[0]
 * sizes[1] bins of it, each the mean of samples, or the largest one (MODE=max), as in ONNX.
 *
 * variants: OP=RoiAlign TYPE=floats MODE=avg,max
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

enum { MOST_SAMPLES = 4096 /* of a bin, along one dimension */ };

#define LARGEST_avg 0
#define LARGEST_max 1

/* Along one dimension: the beginning of the bins, and the distances of bins and of their samples. */
struct side {
	number start, bin;
	int64_t samples, size;
};

/* Two neighbours and their weights; none outside of the image. */
struct taps {
	int64_t at[2];
	number weights[2];
};

/* Return false if ends are not finite, or if there would be too many samples. Without a given number, a bin has as many
 * samples as its size. */
static int find_side(struct side *side, number low, number high, int64_t bins, int64_t size, int64_t half,
		     int64_t samples, number scale)
{
	number offset = half ? (number)0.5 : 0, start = low * scale - offset, length = high * scale - offset - start;

	if (!half && length < 1)
		length = 1;
	if (!(start - start == 0 && length - length == 0) || samples > MOST_SAMPLES ||
	    (!samples && length / bins > MOST_SAMPLES))
		return 0;
	*side = (struct side){start, length / bins, samples, size};
	if (samples)
		return 1;
	side->samples = side->bin > 0 ? (int64_t)side->bin : 0;
	side->samples += (number)side->samples < side->bin;
	return 1;
}

static struct taps find_taps(const struct side *side, int64_t bin, int64_t sample)
{
	number x = side->start + (number)bin * side->bin +
		   ((number)sample + (number)0.5) * side->bin / (number)side->samples;
	int64_t last = side->size - 1, at;

	if (!(x >= -1 && x <= (number)side->size))
		return (struct taps){{0, 0}, {0, 0}};
	x = x > 0 ? x : 0;
	at = (int64_t)x;
	if (at >= last)
		return (struct taps){{last, last}, {1, 0}};
	return (struct taps){{at, at + 1}, {1 - (x - (number)at), x - (number)at}};
}

static number sample(const element *x, int64_t width, const struct taps *rows, const struct taps *columns)
{
	number parts[4], result;

	for (int64_t i = 0; i < 4; i++)
		parts[i] = rows->weights[i / 2] * columns->weights[i % 2] *
			   LOAD(TYPE, x[rows->at[i / 2] * width + columns->at[i % 2]]);
	result = parts[0];
	for (int64_t i = 1; i < 4; i++)
		result = !JOIN(LARGEST_, MODE) ? result + parts[i] : result > parts[i] ? result : parts[i];
	return result;
}

/* Compute one bin of one channel. */
static number pool(const element *x, const struct side *sides, int64_t row, int64_t column)
{
	number result = 0;

	for (int64_t i = 0; i < sides[0].samples; i++) {
		struct taps rows = find_taps(&sides[0], row, i);

		for (int64_t j = 0; j < sides[1].samples; j++) {
			struct taps columns = find_taps(&sides[1], column, j);
			number one = sample(x, sides[1].size, &rows, &columns);

			result = !JOIN(LARGEST_, MODE) ? result + one : (i || j) && result > one ? result : one;
		}
	}
	int64_t count = sides[0].samples * sides[1].samples;
	return JOIN(LARGEST_, MODE) || !count ? result : result / (number)count;
}

/* Regions first … first + r - 1 are those of the call: rois, batches and y begin there. */
int KERNEL(const element *x, const element *rois, const int64_t *batches, element *y, int64_t r, int64_t n, int64_t c,
	   int64_t k, int64_t p, const int64_t *dims, const int64_t *sizes, int64_t half, int64_t samples, double scale)
{
	for (int64_t region = 0; region < r; region++) {
		const element *ends = rois + region * 4;
		struct side sides[2] = {{0}};

		if (batches[region] < 0 || batches[region] >= n)
			return 1;
		for (int64_t d = 0; d < 2; d++)
			if (!find_side(&sides[d], LOAD(TYPE, ends[1 - d]), LOAD(TYPE, ends[3 - d]), sizes[d], dims[d],
				       half, samples, (number)scale))
				return 1;
		for (int64_t channel = 0; channel < c; channel++)
			for (int64_t bin = 0; bin < p; bin++)
				*y++ = STORE(TYPE, pool(x + (batches[region] * c + channel) * k, sides, bin / sizes[1],
							bin % sizes[1]));
	}
	return 0;
}
SIGNATURE("split=r op=RoiAlign(mode=" TEXT(MODE) ")",
	  "in x " TEXT(TYPE) "[n,c,k], in rois " TEXT(TYPE) "[r,4], in batches i64[r], out y " TEXT(
		  TYPE) "[r,c,p], r i64, n i64, c i64, k i64, p i64, dims ptr = attr(dims), sizes ptr = attr(sizes), "
			"half i64 = attr(half_pixel), samples i64 = attr(sampling_ratio), scale f64 = "
			"attr(spatial_scale) -> status");
