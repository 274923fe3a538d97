/* Operators that sklink knows of and does not have. */
#ifndef SK_ABSENT_H
#define SK_ABSENT_H

/* Why there is no such operator, and what to do: a sentence about it, or NULL: nobody knows the operator. */
const char *sk_operator_absence(const char *domain, const char *op);

#endif
