/* How much memory slices save, for people: bytes of temporaries that are alive at once when tasks run in network order.
 */
#ifndef SK_PEAK_H
#define SK_PEAK_H

#include "src/model/model.h"

struct sk_peak {
	uint64_t with; /* bytes, as it is */
	uint64_t without; /* if each slice had bytes of its own, and copies moved them */
};

struct sk_peak sk_peak_of_slices(const struct sk_model *model);

#endif
