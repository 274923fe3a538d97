/* Transports in shared objects; see transport.h. A name stands for the file libskrt-NAME.so in one of the folders where
 * an installation has them. */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/skranks.h"
#include "loader/ranks/transport.h"
#include "loader/skrt-transport.h"

_Static_assert((int)SKRT_EXCHANGE_ALL_GATHER == (int)SK_EXCHANGE_ALL_GATHER &&
		       (int)SKRT_EXCHANGE_ALL_TO_ALL == (int)SK_EXCHANGE_ALL_TO_ALL &&
		       (int)SKRT_EXCHANGE_BROADCAST == (int)SK_EXCHANGE_BROADCAST &&
		       (int)SKRT_EXCHANGE_SEND == (int)SK_EXCHANGE_SEND,
	       "the kinds of exchanges are those of packages");

/* ---- launchers ---- */

static const struct known_launcher {
	const char *transport, *title, *ranks, *rank; /* the last two are variables of the environment */
} launchers[] = {
	{"openmpi", "Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
	{"mpich", "MPICH", "PMI_SIZE", "PMI_RANK"},
};
enum { LAUNCHERS = sizeof(launchers) / sizeof(launchers[0]) };

static bool read_number(const char *variable, uint32_t *number)
{
	const char *text = getenv(variable);
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = (uint32_t)strtoul(text, &end, 10);
	return !errno && !*end;
}

struct sk_launcher sk_launcher_find(void)
{
	struct sk_launcher found = {NULL};

	for (int i = 0; i < LAUNCHERS; i++)
		if (read_number(launchers[i].ranks, &found.ranks) && read_number(launchers[i].rank, &found.rank)) {
			found.transport = launchers[i].transport;
			found.variable = launchers[i].ranks;
			return found;
		}
	return (struct sk_launcher){NULL};
}

const char *sk_plugin_choose(const struct sk_launcher *launcher)
{
	const char *said = getenv("SKRT_TRANSPORT");

	if (said && *said)
		return strcmp(said, "none") ? said : NULL;
	return launcher->ranks > 1 ? launcher->transport : NULL;
}

/* ---- files ---- */

/* Open libskrt-NAME.so in the folder `below` of the one that has this program or libskrt. */
static void *open_beside(const char *object, const char *below, const char *name)
{
	const char *slash = strrchr(object, '/');
	char path[PATH_MAX];

	if (!slash || snprintf(path, sizeof(path), "%.*s/%s/libskrt-%s.so", (int)(slash - object), object, below,
			       name) >= (int)sizeof(path))
		return NULL;
	return access(path, R_OK) ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* An installed tree can be moved, so the places that depend on it come first: libskrt and the transports are in one
 * folder of libraries, and skrun, which has libskrt inside, is in a folder of programs. */
static void *open_named(const char *name)
{
	char program[PATH_MAX] = "", path[PATH_MAX];
	void *file = NULL;
	Dl_info info;
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (dladdr((void *)(uintptr_t)&sk_plugin_open, &info) && info.dli_fname && strchr(info.dli_fname, '/'))
		file = open_beside(info.dli_fname, "sklink", name);
	if (!file && length > 0)
		file = open_beside(program, SK_TRANSPORTS_FROM_PROGRAMS, name);
	if (file || snprintf(path, sizeof(path), "%s/libskrt-%s.so", SK_TRANSPORTS, name) >= (int)sizeof(path))
		return file;
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static const struct skrt_transport_table *open_file(const char *name, char *error, size_t error_size)
{
	void *file = strchr(name, '/') ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : open_named(name);
	const struct skrt_transport_table *table = file ? dlsym(file, "skrt_transport_table") : NULL;

	if (!file || !table)
		snprintf(error, error_size, "transport %s cannot be opened: %s", name, dlerror());
	else if (table->version != SKRT_TRANSPORT_VERSION)
		snprintf(error, error_size, "transport %s has version %" PRIu32 " of the interface, and libskrt has %d",
			 name, table->version, SKRT_TRANSPORT_VERSION);
	else
		return table;
	return NULL; /* the file stays open: libraries of MPI cannot be unloaded */
}

/* ---- the transport ---- */

static const struct known_launcher *find_known(const char *transport)
{
	for (int i = 0; i < LAUNCHERS; i++)
		if (!strcmp(launchers[i].transport, transport))
			return &launchers[i];
	return NULL;
}

/* Processes of the launcher of another MPI would be a run of one rank each, without an error. */
static bool check_launcher(const struct skrt_transport_table *table, const struct sk_launcher *launcher, char *error,
			   size_t error_size)
{
	const struct known_launcher *wanted = find_known(table->name);

	if (!launcher->transport || !wanted || !strcmp(launcher->transport, table->name))
		return true;
	snprintf(error, error_size,
		 "transport %s does not go with this launcher: %s started the process, as %s shows; start it with "
		 "mpirun of %s, or say SKRT_TRANSPORT=%s",
		 table->name, find_known(launcher->transport)->title, launcher->variable, wanted->title,
		 launcher->transport);
	return false;
}

/* Check that the transport has as many ranks as the launcher has started. */
static bool check_ranks(const struct sk_transport *transport, const struct sk_launcher *launcher, char *error,
			size_t error_size)
{
	if (!launcher->transport || launcher->ranks == transport->ranks)
		return true;
	snprintf(error, error_size,
		 "transport %s connects %" PRIu32 " rank%s, but the launcher has started %" PRIu32
		 " (%s): it is the launcher of another MPI",
		 transport->name, transport->ranks, transport->ranks == 1 ? "" : "s", launcher->ranks,
		 launcher->variable);
	return false;
}

bool sk_plugin_open(const char *name, const struct sk_launcher *launcher, struct sk_transport *transport, char *error,
		    size_t error_size)
{
	const struct skrt_transport_table *table = open_file(name, error, error_size);
	const char *checked = getenv("SKRT_CHECK_RANKS");
	char why[512];

	if (!table || !check_launcher(table, launcher, error, error_size))
		return false;
	*transport = (struct sk_transport){.name = table->name,
					   .checked = checked && !strcmp(checked, "1"),
					   .start = table->start,
					   .test = table->test,
					   .describe = table->describe,
					   .abort = table->abort,
					   .is_open = table->is_open,
					   .close = table->close};
	transport->context = table->open(&transport->rank, &transport->ranks, why, sizeof(why));
	if (transport->context && transport->rank < transport->ranks)
		return check_ranks(transport, launcher, error, error_size);
	snprintf(error, error_size, "transport %s: %s", name,
		 transport->context ? "its number of this rank is not below the number of ranks" : why);
	return false;
}
