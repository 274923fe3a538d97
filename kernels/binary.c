/* binary.c: elementwise operators of two inputs, in all forms: a, b -> y of the same type.
 *
 * variants: OP=Add TYPE=floats FORM=same,scalar,row,column,strided ISA=base,v3
 * variants: OP=Add TYPE=integers FORM=same,scalar,row,column,strided
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef STORED(TYPE) result;
typedef COMPUTED(TYPE) number;

static inline number op_Add(number a, number b)
{
	return a + b;
}

#define RESULT TEXT(TYPE)
static inline element of_operands(element a, element b)
{
	return STORE(TYPE, JOIN(op_, OP)(LOAD(TYPE, a), LOAD(TYPE, b)));
}

#include "kernels/binary-forms.h"
