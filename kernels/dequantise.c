/* dequantise.c: DequantizeLinear, y = (x - zero) * scale, in the forms of quantise-forms.h.
 *
 * variants: OP=DequantizeLinear FROM=u8,i8 TO=f32 FORM=tensor,rows ISA=base,v3
 * variants: OP=DequantizeLinear FROM=u16,i16,i32 TO=f32 FORM=tensor,rows
 * variants: OP=DequantizeLinear FROM=u8,i8,u16,i16,i32 TO=halves FORM=tensor,rows
 * variants: OP=DequantizeLinear FROM=u8,i8,u16,i16,i32 TO=f32,halves FORM=blocks
 */
#include "kernels/family.h"

typedef STORED(FROM) from;
typedef STORED(TO) to;

static inline to converted(from x, float scale, from zero)
{
	return STORE(TO, (float)(int32_t)((uint32_t)x - (uint32_t)zero) * scale);
}

#define SCALES TO
#define ZEROS  FROM
#include "kernels/quantise-forms.h"
