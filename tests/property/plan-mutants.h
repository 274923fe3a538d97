/* Mutants of plans: one field of one record of a package's plan becomes another number, or takes the number of another
 * record, or two records exchange one field or all fields. Every field of every record that format/skplan.h defines has
 * its turn.
 *
 * Each mutant is tried twice: with the code of the package, and with dispatchers that are made again from the changed
 * plan, as an attacker would who knows that skdump --verify compares them. It must be refused, unless the field follows
 * from nothing else in the package, or is a signature that asks the same of all calls. A mutant that is accepted must
 * compute the same as serially, and with the package's code the same as the package itself, on 1, 2 and 7 cores and in
 * 20 orders. Only mutants that pass other arguments to a kernel, which the plan allows, are not run. */
#ifndef SK_TESTS_PLAN_MUTANTS_H
#define SK_TESTS_PLAN_MUTANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mutant_package {
	const uint8_t *bytes;
	size_t size;
	void *const *contents; /* by binding number: the contents before a run */
};

enum { MUTANT_TEXT = 512, MOST_MUTANT_FIELDS = 256 };

struct mutant_outcome {
	uint32_t field; /* which one was changed */
	bool changed; /* false: no record has the field, or nothing would have changed */
	bool whole; /* two records exchanged all that they say, which may be as good a plan */
	uint32_t refused, accepted; /* of the tries */
	char text[MUTANT_TEXT]; /* the change; after a failure, also the error */
};

/* Numbers in sequence go through all fields, then through all ways to change them. False after a failure. */
bool mutant_try(const struct mutant_package *package, uint64_t number, struct mutant_outcome *outcome);

uint32_t mutant_field_count(void);

/* Mutants until each field has been changed in each way. */
uint32_t mutant_count(void);

/* "step.task" */
const char *mutant_field_name(uint32_t field, char text[MUTANT_TEXT]);

#endif
