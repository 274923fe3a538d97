/* Numbers in manifests: values that tasks set, elements of constants, attributes. Input: a scalar's text. Output: its
 * value. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/signature/signature.h"
#include "src/manifest/manifest.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Parse [+-] digits, or [+-] 0x and hexadecimal digits, up to 64 bits. *valid is false for a number that is too
 * large. */
static bool parse_integer(const char *text, struct sk_number *number, bool *valid)
{
	bool negative = *text == '-';
	const char *digits = text + (*text == '-' || *text == '+');
	bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	char *end;

	if (digits[0] == '0' && is_digit(digits[1])) { /* some YAML readers take it as octal */
		*valid = false;
		return true;
	}
	if (!is_digit(*digits) ||
	    strspn(digits, hexadecimal ? "0123456789abcdefABCDEFxX" : "0123456789") != strlen(digits))
		return false;
	errno = 0;

	uint64_t magnitude = strtoull(digits, &end, hexadecimal ? 16 : 10);

	*valid = !*end && errno == 0 && (!negative || magnitude <= (uint64_t)INT64_MAX + 1);
	number->kind = SK_NUMBER_INTEGER;
	number->negative = negative && magnitude > 0;
	number->integer = (int64_t)(negative ? -magnitude : magnitude);
	return true;
}

/* Parse [+-] digits with a point or an exponent, or inf and nan as signatures and YAML (.inf) write them. */
static bool parse_real(const char *text, struct sk_number *number, bool *valid)
{
	const char *digits = text + (*text == '-' || *text == '+'), *word = digits + (*digits == '.');
	char *end;

	number->kind = SK_NUMBER_REAL;
	*valid = true;
	if (!strcmp(word, "inf") || !strcmp(word, "nan")) {
		number->real = *word == 'n' ? (double)NAN : *text == '-' ? -(double)INFINITY : (double)INFINITY;
		return true;
	}
	if ((!is_digit(*digits) && !(*digits == '.' && is_digit(digits[1]))) ||
	    strspn(digits, "0123456789.eE+-") != strlen(digits))
		return false;
	number->real = strtod(text, &end);
	*valid = !*end && !isinf(number->real);
	return true;
}

bool sk_manifest_parse_number(const char *text, struct sk_number *number, bool *valid)
{
	number->text = text;
	return parse_integer(text, number, valid) || parse_real(text, number, valid);
}
