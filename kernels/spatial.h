/* spatial.h: 2 or 3 spatial dimensions (SPATIAL) in kernels of convolutions: their extents and lists as parameters, the
 * same for code that always has three dimensions, and their form in signatures. */
#ifndef SK_KERNELS_SPATIAL_H
#define SK_KERNELS_SPATIAL_H

#define LISTS const int64_t *strides, const int64_t *pads, const int64_t *dilations
#define LISTS_TEXT                                                                                                     \
	", strides ptr = attr(strides), pads ptr = attr(pads), dilations ptr = attr(dilations), group i64 = "          \
	"attr(group,1)"
#if SPATIAL == 2
#define EXTENTS		int64_t h, int64_t w, int64_t kh, int64_t kw, int64_t oh, int64_t ow
#define IN		1, h, w
#define WINDOW		1, kh, kw
#define OUT		1, oh, ow
#define LIST(of, first) first, of[0], of[1]
#define IN_TEXT		"h,w"
#define IN_SIZE		"h*w"
#define WINDOW_TEXT	"kh,kw"
#define WINDOW_SIZE	"kh*kw"
#define OUT_TEXT	"oh,ow"
#define OUT_SIZE	"oh*ow"
#define EXTENTS_TEXT	"h i64, w i64, kh i64, kw i64, oh i64, ow i64"
#else
#define EXTENTS		int64_t t, int64_t h, int64_t w, int64_t kt, int64_t kh, int64_t kw, int64_t ot, int64_t oh, int64_t ow
#define IN		t, h, w
#define WINDOW		kt, kh, kw
#define OUT		ot, oh, ow
#define LIST(of, first) of[0], of[1], of[2]
#define IN_TEXT		"t,h,w"
#define IN_SIZE		"t*h*w"
#define WINDOW_TEXT	"kt,kh,kw"
#define WINDOW_SIZE	"kt*kh*kw"
#define OUT_TEXT	"ot,oh,ow"
#define OUT_SIZE	"ot*oh*ow"
#define EXTENTS_TEXT	"t i64, h i64, w i64, kt i64, kh i64, kw i64, ot i64, oh i64, ow i64"
#endif

#endif
