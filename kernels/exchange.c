/* exchange.c: Exchange, the task in which a rank sends x and receives y. The runtime moves the bytes, by the package's
 * record of the exchange (format/skranks.h).
 *
 * variants: OP=Exchange TYPE=all
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;

void KERNEL(const struct sk_block *block, const element *x, element *y)
{
	sk_exchange(block, x, y);
}
SIGNATURE("sync-all reentrant op=Exchange", "block, in x " TEXT(TYPE) "[n], out y " TEXT(TYPE) "[m]");
