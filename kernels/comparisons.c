/* comparisons.c: elementwise comparisons of two inputs, in all forms: a, b -> y of bools, 1 if the comparison holds.
 * With a NaN, only NotEqual holds.
 *
 * variants: OP=Equal,NotEqual TYPE=floats FORM=symmetric ISA=base,v3
 * variants: OP=Equal,NotEqual TYPE=integers,bool FORM=symmetric
 * variants: OP=Greater,GreaterOrEqual,Less,LessOrEqual TYPE=floats FORM=forms ISA=base,v3
 * variants: OP=Greater,GreaterOrEqual,Less,LessOrEqual TYPE=integers FORM=forms
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef STORED(bool) result;

#define COMPARE_Equal	       ==
#define COMPARE_NotEqual       !=
#define COMPARE_Greater	       >
#define COMPARE_GreaterOrEqual >=
#define COMPARE_Less	       <
#define COMPARE_LessOrEqual    <=

#define RESULT "bool"
#define RESULT_DIFFERS
static inline result of_operands(element a, element b)
{
	return LOAD(TYPE, a) JOIN(COMPARE_, OP) LOAD(TYPE, b);
}

#include "kernels/binary-forms.h"
