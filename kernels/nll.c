/* nll.c: NegativeLogLikelihoodLoss without its reduction: x [n,c,i], target i64 [n,i], weight? [c] -> loss [n,i], and
 * the applied weights, applied? [n,i].
 *
 * Elements with the target `ignore_index` have loss and weight 0. Other targets that are not a channel read nothing:
 * their loss and weight are NaNs.
 *
 * variants: OP=NegativeLogLikelihoodLoss TYPE=floats
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#define T TEXT(TYPE)

void KERNEL(const element *x, const int64_t *target, const element *weight, element *loss, element *applied, int64_t n,
	    int64_t c, int64_t i, int64_t ignored)
{
	for (int64_t row = 0; row < n; row++)
		for (int64_t j = 0; j < i; j++) {
			int64_t at = row * i + j, class = target[at];
			int inside = class >= 0 && class < c && class != ignored;
			number weigh = inside		  ? weight ? LOAD(TYPE, weight[class]) : 1
				       : class == ignored ? 0
							  : (number)__builtin_nan("");

			loss[at] = STORE(TYPE, inside ? -LOAD(TYPE, x[(row * c + class) * i + j]) * weigh : weigh);
			if (applied)
				applied[at] = STORE(TYPE, weigh);
		}
}
SIGNATURE("split=n op=" TEXT(OP), "in x " T "[n,c,i], in target i64[n,i], in? weight " T "[c], out loss " T
				  "[n,i], out? applied " T "[n,i], n i64, c i64, i i64, ignored i64 = "
				  "attr(ignore_index, -9223372036854775807)");
