/* Checks that the processor can run a package; see image.h. Only one word of the plan is read here, unless it asks for
 * more than this processor has: then the plan is opened as for a module, to get the names. */
#include "loader/image/image.h"

#include <sys/mman.h>

#include "format/plan/isa.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/skrt.h"

/* Every processor has it, and a query takes long on virtual machines. */
#define BASELINE UINT64_C(1)

enum skrt_status sk_processor_check(const char *path, const struct sk_image *image)
{
	uint64_t size = 0, has;
	const struct sk_plan *header = sk_image_find(image, "sk_plan", &size);
	char error[SK_ERROR_SIZE - 128];
	struct sk_plan_view plan;

	if (!header || size < sizeof(*header) || (uintptr_t)header % SK_PLAN_ALIGN ||
	    !sk_image_holds(image, header, size, PROT_READ) || header->magic != SK_PLAN_MAGIC ||
	    header->version != SK_PLAN_VERSION)
		return SKRT_OK; /* not a package, which is reported later */
	if (!(header->isa & ~BASELINE))
		return SKRT_OK;
	has = sk_isa_of_processor();
	if (!(header->isa & ~has))
		return SKRT_OK;
	if (!sk_plan_open_tables(header, size, &plan, error, sizeof(error)) ||
	    !sk_plan_check_records(&plan, error, sizeof(error)))
		return sk_fail(SKRT_BAD_PACKAGE, "%s: %s", path, error);
	sk_isa_check(&plan, has, error, sizeof(error));
	return sk_fail(SKRT_UNSUPPORTED, "%s: %s", path, error);
}
