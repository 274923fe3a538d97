/* quantise.c: QuantizeLinear, y = x / scale + zero, in the forms of quantise-forms.h. Integers of 32 bits are quantised
 * as f64, which represents all of them.
 *
 * variants: OP=QuantizeLinear FROM=f32 TO=u8,i8 FORM=tensor,rows ISA=base,v3
 * variants: OP=QuantizeLinear FROM=f32 TO=u16,i16 FORM=tensor,rows
 * variants: OP=QuantizeLinear FROM=f64 TO=u8,i8,u16,i16 FORM=tensor,rows
 * variants: OP=QuantizeLinear FROM=halves TO=u8,i8,u16,i16 FORM=tensor,rows
 * variants: OP=QuantizeLinear FROM=f32,f64,halves TO=u8,i8,u16,i16 FORM=blocks
 */
#include "kernels/quantise.h"

typedef STORED(FROM) from;
typedef STORED(TO) to;

#if SIZE(FROM) == 8
#define QUANTISE quantise_f64
#else
#define QUANTISE quantise
#endif

static inline to converted(from x, COMPUTED(FROM) scale, int32_t zero)
{
	return (to)QUANTISE(LOAD(FROM, x) / scale, zero, LEAST_OF(TO), MOST_OF(TO));
}

#define SCALES FROM
#define ZEROS  TO
#include "kernels/quantise-forms.h"
