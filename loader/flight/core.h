/* A core of a device: a stack for its calls, and what package code sees of it. */
#ifndef SK_LOADER_CORE_H
#define SK_LOADER_CORE_H

#include <stdalign.h>

#include "format/skabi.h"
#include "format/skplan.h"
#include "loader/core/call.h"

enum {
	SK_MAX_CORES = SK_MAX_RESIDENT, /* a lane */
	SK_LINE = 128, /* bytes that one core writes and others read are kept apart by this much */
};

struct sk_flight;
struct sk_own_cores;
struct sk_worker;

/* A core. Its call is what it does in one flight, in which it has whatever number the flight gives it. */
struct sk_device_core {
	alignas(SK_LINE) struct sk_core
		abi; /* what package code sees; first: the runtime's functions get its address */
	uint32_t number; /* among the lane's; abi.index is that in the flight */
	struct sk_worker *worker; /* that plays it in this flight */
	uint32_t turn; /* its place among the worker's */
	uint32_t planned_call; /* of the plan, that it is in; only devices with checks know, else SK_NO_INDEX */
	struct sk_flight *flight;
	struct sk_own_cores *own; /* by lane: of its worker in the flight */
	struct sk_call call;
	/* What it waits for, and if it was told to leave, waited for; NULL: nothing. */
	const volatile uint64_t *word;
	uint64_t target;
	uint64_t words; /* that must reach the target: this one and those behind it */
	struct sk_own_cores *told; /* of their lane, if workers tell each other about it; else NULL */
	uint64_t entered, left; /* the flight, by the processor's counter; noted only for a trace */
};

#endif
