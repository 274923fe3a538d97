/* unpool.c: MaxUnpool with 2 or 3 spatial dimensions. Indices are those of the smallest output that the window gives; y
 * may be larger than that, and indices outside of it are left out.
 *
 * variants: OP=MaxUnpool TYPE=u16,u32,u64 SPATIAL=2,3
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;

#if SPATIAL == 2
#define EXTENTS		int64_t h, int64_t w, int64_t oh, int64_t ow
#define IN		1, h, w
#define OUT		1, oh, ow
#define LIST(of, first) first, of[0], of[1]
#define IN_TEXT		"h,w"
#define OUT_TEXT	"oh,ow"
#define EXTENTS_TEXT	"h i64, w i64, oh i64, ow i64"
#else
#define EXTENTS		int64_t t, int64_t h, int64_t w, int64_t ot, int64_t oh, int64_t ow
#define IN		t, h, w
#define OUT		ot, oh, ow
#define LIST(of, first) of[0], of[1], of[2]
#define IN_TEXT		"t,h,w"
#define OUT_TEXT	"ot,oh,ow"
#define EXTENTS_TEXT	"t i64, h i64, w i64, ot i64, oh i64, ow i64"
#endif

void KERNEL(const element *x, const int64_t *indices, element *y, int64_t planes, EXTENTS, const int64_t *window,
	    const int64_t *strides, const int64_t *pads)
{
	int64_t in[3] = {IN}, out[3] = {OUT}, windows[3] = {LIST(window, 1)}, steps[3] = {LIST(strides, 1)},
		before[3] = {LIST(pads, 0)}, behind[3] = {LIST((pads + SPATIAL), 0)}, own[3];

	for (int d = 0; d < 3; d++)
		own[d] = (in[d] - 1) * steps[d] + windows[d] - before[d] - behind[d];
	for (int64_t i = 0; i < planes * out[0] * out[1] * out[2]; i++)
		y[i] = 0;
	for (int64_t i = 0; i < planes * in[0] * in[1] * in[2]; i++) {
		int64_t index = indices[i];
		if (index < 0 || index >= planes * own[0] * own[1] * own[2])
			continue;
		int64_t column = index % own[2], row = index / own[2] % own[1], deep = index / own[2] / own[1] % own[0],
			plane = index / own[2] / own[1] / own[0];
		if (column < out[2] && row < out[1] && deep < out[0])
			y[((plane * out[0] + deep) * out[1] + row) * out[2] + column] = x[i];
	}
}
SIGNATURE("op=MaxUnpool(spatial=" TEXT(SPATIAL) ")",
	  "in x " TEXT(TYPE) "[planes," IN_TEXT "], in indices i64[planes," IN_TEXT "], out y " TEXT(
		  TYPE) "[planes," OUT_TEXT "], planes i64, " EXTENTS_TEXT
			", window ptr = attr(kernel_shape), strides ptr = attr(strides), pads ptr = attr(pads)");
