// SPDX-License-Identifier: GPL-2.0-only
/*
 * attempt AS...: runs itself by the command AS... (setpriv, unshare), and tries each
 * call of the device and each request.  Prints lines "CALL<tab>OUTCOME"; the outcome
 * is "yes" or the name of an errno.
 *
 * For each call the process inherits from root a descriptor of a separate region with one
 * map in it, and descriptors of another map, of a slice of a closed region, and of a
 * change of a lookup table.
 */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <dart/registration.h>

#include "selftests/lib/device.h"
#include "selftests/lib/registration.h"
#include "selftests/lib/record.h"
#include "selftests/lib/slab.h"

/* Descriptors: of the map, of the slice, of changes, then of a region for each call. */
#define MAP 20
#define SLICE (MAP + 1)
#define CHANGES (SLICE + 1)
#define REGIONS (CHANGES + 1)
/* The id of the slab in each region, after the map. */
#define SLAB 2

#define ANOTHER 65532

/* An address that privileges.sh made reachable: of a reporter, a requester, an appender and an adder. */
#define REPORTER "10.77.0.2"

static int do_open(int region)
{
	int fd = open(DART_ZERO_DEVICE, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int do_info(int region)
{
	struct dart_zero_info info = { .size = sizeof(info) };

	return device_call(region, DART_ZERO_IOC_INFO, &info);
}

static int do_list(int region)
{
	struct dart_zero_extent extents[2];
	struct dart_zero_list list = {
		.size = sizeof(list),
		.count = 2,
		.extents = (uintptr_t)extents,
	};

	return device_call(region, DART_ZERO_IOC_LIST, &list);
}

static int do_mmap(int region)
{
	void *address = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, region, 0);

	return address == MAP_FAILED ? -errno : 0;
}

static int do_remove(int region)
{
	return device_remove(region, 1);
}

static int do_read(int region)
{
	struct dart_zero_event event;

	/* Without an event the answer is EAGAIN if the process may ask. */
	fcntl(region, F_SETFL, O_NONBLOCK);
	return read(region, &event, sizeof(event)) < 0 && errno != EAGAIN ? -errno : 0;
}

static int do_open_reader(int region)
{
	int reader;

	return device_open_reader(region, &reader);
}

static int do_add_slice(int region)
{
	struct dart_zero_slice slice;

	return slice_new(region, SLAB, 1, &slice);
}

static int do_adopt_slice(int region)
{
	struct dart_zero_adoption adoption;

	return slice_adopt(region, SLICE, &adoption);
}

static int do_add_counters(int region)
{
	return device_add_counters(region, "attempt-by-ioctl", 1, NULL);
}

static int do_add_slab(int region)
{
	struct dart_zero_extent extent;

	return slab_add(region, 1, &extent);
}

static int do_add_record(int region)
{
	return record_describe(region, DART_ZERO_SOURCE_CPUSTAT);
}

/* Descriptor SLICE, which belongs to no region. */
static void make_slice(void)
{
	struct dart_zero_slice slice;

	slices_without_region(1, &slice, 1);
	dup2(slice.fd, SLICE);
	close(slice.fd);
}

/* Descriptor CHANGES: a removal, of keys and values of 4 bytes. */
static void make_changes(void)
{
	static const uint8_t removal[] = { 2, 0, 0, 0, 1, 0, 0, 0, 0 };
	int fd = memfd_create("changes", MFD_CLOEXEC);

	if (write(fd, removal, sizeof(removal)) != sizeof(removal))
		exit(1);
	dup2(fd, CHANGES);
	close(fd);
}

static int do_namespaces(int region)
{
	return device_namespaces(region, 0);
}

static int do_add_map(int region)
{
	return device_add_map(region, MAP, NULL);
}

static int do_add_window(int region)
{
	return device_add_window(region, DART_ZERO_SOURCE_CPUSTAT, NULL);
}

static const struct call {
	const char *name;
	int (*run)(int region);		/* not negative, or -errno */
	const char *request;
	int passes;			/* a descriptor, if not 0 */
} calls[] = {
	{ "open", .run = do_open },
	{ "INFO", .run = do_info },
	{ "LIST", .run = do_list },
	{ "mmap", .run = do_mmap },
	{ "REMOVE", .run = do_remove },
	{ "read", .run = do_read },
	{ "QUARANTINE", .run = device_quarantine },
	{ "OPEN_READER", .run = do_open_reader },
	{ "ADD_SLICE", .run = do_add_slice },
	{ "ADD_MAP", .run = do_add_map },
	{ "ADD_WINDOW", .run = do_add_window },
	{ "ADD_COUNTERS", .run = do_add_counters },
	{ "ADD_RECORD", .run = do_add_record },
	{ "ADD_SLAB", .run = do_add_slab },
	{ "ADOPT_SLICE", .run = do_adopt_slice },
	{ "NAMESPACES", .run = do_namespaces },
	{ "list", .request = "{\"request\": \"list\"}\n" },
	{ "show", .request = "{\"request\": \"show\", \"name\": \"others\"}\n" },
	{ "status", .request = "{\"request\": \"status\"}\n" },
	{ "coverage", .request = "{\"request\": \"coverage\"}\n" },
	{ "source-list", .request = "{\"request\": \"source-list\"}\n" },
	{ "controller-list", .request = "{\"request\": \"controller-list\"}\n" },
	{ "monitor", .request = "{\"request\": \"monitor\"}\n" },
	{ "register-map", .passes = MAP,
	  .request = "{\"request\": \"register-map\", \"name\": \"own\"}\n" },
	{ "unregister own",
	  .request = "{\"request\": \"unregister\", \"name\": \"own\"}\n" },
	{ "unregister another's",
	  .request = "{\"request\": \"unregister\", \"name\": \"others\"}\n" },
	{ "source-plan",
	  .request = "{\"request\": \"source-plan\", \"source\": \"softnet\", "
		     "\"interval\": \"1s\"}\n" },
	{ "register-source",
	  .request = "{\"request\": \"register-source\", \"source\": \"softnet\"}\n" },
	{ "follow-source",
	  .request = "{\"request\": \"follow-source\", \"source\": \"snmp:udp\"}\n" },
	{ "register-host",
	  .request = "{\"request\": \"register-host\", \"gather\": \"1min\"}\n" },
	{ "register-counters",
	  .request = "{\"request\": \"register-counters\", \"name\": \"attempt\", "
		     "\"counters\": [\"attempts\"]}\n" },
	{ "new-slice",
	  .request = "{\"request\": \"new-slice\", \"name\": \"slice\", "
		     "\"schema\": {\"name\": \"attempt\", \"length\": 8, "
		     "\"fields\": [{\"name\": \"attempts\", \"offset\": 0, "
		     "\"width\": 8, \"kind\": \"counter\"}]}}\n" },
	{ "probe-list", .request = "{\"request\": \"probe-list\"}\n" },
	{ "probe-load",
	  .request = "{\"request\": \"probe-load\", \"name\": \"runqlat\"}\n" },
	{ "store-create",
	  .request = "{\"request\": \"store-create\", \"name\": \"attempt\", "
		     "\"slots_log2\": 4, \"value_length\": 4}\n" },
	{ "store-list", .request = "{\"request\": \"store-list\"}\n" },
	{ "store-open",
	  .request = "{\"request\": \"store-open\", \"name\": \"others\"}\n" },
	{ "store-rotate",
	  .request = "{\"request\": \"store-rotate\", \"name\": \"others\"}\n" },
	{ "epoch-list",
	  .request = "{\"request\": \"epoch-list\", \"name\": \"others\"}\n" },
	{ "reporter-add",
	  .request = "{\"request\": \"reporter-add\", \"store\": \"others\", "
		     "\"address\": \"" REPORTER "\"}\n" },
	{ "reporter-list", .request = "{\"request\": \"reporter-list\"}\n" },
	{ "store-export",
	  .request = "{\"request\": \"store-export\", \"name\": \"others\"}\n" },
	{ "reporter-remove",
	  .request = "{\"request\": \"reporter-remove\", \"store\": \"others\", "
		     "\"address\": \"" REPORTER "\"}\n" },
	{ "store-delete",
	  .request = "{\"request\": \"store-delete\", \"name\": \"others\"}\n" },
	{ "table-create",
	  .request = "{\"request\": \"table-create\", \"name\": \"attempt\", "
		     "\"rows_log2\": 4, \"key_length\": 4, \"value_length\": 4}\n" },
	{ "table-list", .request = "{\"request\": \"table-list\"}\n" },
	{ "table-open",
	  .request = "{\"request\": \"table-open\", \"name\": \"others\"}\n" },
	{ "table-change", .passes = CHANGES,
	  .request = "{\"request\": \"table-change\", \"name\": \"others\", "
		     "\"count\": 1}\n" },
	{ "requester-add",
	  .request = "{\"request\": \"requester-add\", \"table\": \"others\", "
		     "\"address\": \"" REPORTER "\"}\n" },
	{ "requester-list", .request = "{\"request\": \"requester-list\"}\n" },
	{ "requester-renew",
	  .request = "{\"request\": \"requester-renew\", \"table\": \"others\", "
		     "\"address\": \"" REPORTER "\"}\n" },
	{ "table-export",
	  .request = "{\"request\": \"table-export\", \"name\": \"others\"}\n" },
	{ "requester-remove",
	  .request = "{\"request\": \"requester-remove\", \"table\": \"others\", "
		     "\"address\": \"" REPORTER "\"}\n" },
	{ "table-delete",
	  .request = "{\"request\": \"table-delete\", \"name\": \"others\"}\n" },
	{ "journal-create",
	  .request = "{\"request\": \"journal-create\", \"name\": \"attempt\", "
		     "\"batches_log2\": 4, \"entry_length\": 4}\n" },
	{ "journal-list", .request = "{\"request\": \"journal-list\"}\n" },
	{ "journal-open",
	  .request = "{\"request\": \"journal-open\", \"name\": \"others\"}\n" },
	{ "appender-add",
	  .request = "{\"request\": \"appender-add\", \"journal\": \"others\", "
		     "\"address\": \"" REPORTER "\"}\n" },
	{ "appender-list", .request = "{\"request\": \"appender-list\"}\n" },
	{ "journal-export",
	  .request = "{\"request\": \"journal-export\", \"name\": \"others\"}\n" },
	{ "appender-remove",
	  .request = "{\"request\": \"appender-remove\", \"journal\": \"others\", "
		     "\"address\": \"" REPORTER "\"}\n" },
	{ "journal-delete",
	  .request = "{\"request\": \"journal-delete\", \"name\": \"others\"}\n" },
	{ "ledger-create",
	  .request = "{\"request\": \"ledger-create\", \"name\": \"attempt\", "
		     "\"words_log2\": 4}\n" },
	{ "ledger-list", .request = "{\"request\": \"ledger-list\"}\n" },
	{ "ledger-open",
	  .request = "{\"request\": \"ledger-open\", \"name\": \"others\"}\n" },
	{ "adder-add",
	  .request = "{\"request\": \"adder-add\", \"ledger\": \"others\", "
		     "\"address\": \"" REPORTER "\"}\n" },
	{ "adder-list", .request = "{\"request\": \"adder-list\"}\n" },
	{ "adder-renew",
	  .request = "{\"request\": \"adder-renew\", \"ledger\": \"others\", "
		     "\"address\": \"" REPORTER "\"}\n" },
	{ "ledger-export",
	  .request = "{\"request\": \"ledger-export\", \"name\": \"others\"}\n" },
	{ "adder-remove",
	  .request = "{\"request\": \"adder-remove\", \"ledger\": \"others\", "
		     "\"address\": \"" REPORTER "\"}\n" },
	{ "ledger-delete",
	  .request = "{\"request\": \"ledger-delete\", \"name\": \"others\"}\n" },
	{ "sketch-create",
	  .request = "{\"request\": \"sketch-create\", \"name\": \"attempt\", "
		     "\"columns_log2\": 4}\n" },
	{ "sketch-list", .request = "{\"request\": \"sketch-list\"}\n" },
	{ "sketch-open",
	  .request = "{\"request\": \"sketch-open\", \"name\": \"others\"}\n" },
	{ "sketcher-add",
	  .request = "{\"request\": \"sketcher-add\", \"sketch\": \"others\", "
		     "\"address\": \"" REPORTER "\"}\n" },
	{ "sketcher-list", .request = "{\"request\": \"sketcher-list\"}\n" },
	{ "sketch-export",
	  .request = "{\"request\": \"sketch-export\", \"name\": \"others\"}\n" },
	{ "sketcher-remove",
	  .request = "{\"request\": \"sketcher-remove\", \"sketch\": \"others\", "
		     "\"address\": \"" REPORTER "\"}\n" },
	{ "sketch-delete",
	  .request = "{\"request\": \"sketch-delete\", \"name\": \"others\"}\n" },
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* Over a separate connection: "yes" or the name of an errno. */
static const char *ask(const char *request, int fd)
{
	const struct sockaddr_un address = {
		.sun_family = AF_UNIX,
		.sun_path = DART_REGISTRATION_SOCKET,
	};
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	json_t *reply;

	if (connect(server, (const void *)&address, sizeof(address)))
		return strerrorname_np(errno);
	reply = registration__ask(server, request, fd);
	if (!reply)
		return "no answer";
	return registration__is_ok(reply) ?
		"yes" : json_string_value(json_object_get(reply, "error"));
}

/* Makes descriptors, entries, stores, tables, journals, ledgers and sketches as before earlier attempts. */
static void prepare(void)
{
	int first = array_map("first", 8, 1, BPF_F_MMAPABLE);
	int second = array_map("second", 8, 1, BPF_F_MMAPABLE);

	dup2(second, MAP);
	make_slice();
	make_changes();
	for (size_t i = 0; i < CALLS; i++) {
		int region = device_open();

		device_add_map(region, first, NULL);
		do_add_slab(region);
		dup2(region, REGIONS + i);
		close(region);
	}
	ask("{\"request\": \"unregister\", \"name\": \"own\"}\n", -1);
	ask("{\"request\": \"unregister\", \"name\": \"softnet\"}\n", -1);
	ask("{\"request\": \"unregister\", \"name\": \"snmp:udp@*\"}\n", -1);
	ask("{\"request\": \"unregister\", \"name\": \"host\"}\n", -1);
	ask("{\"request\": \"unregister\", \"name\": \"attempt\"}\n", -1);
	ask("{\"request\": \"unregister\", \"name\": \"slice\"}\n", -1);
	ask("{\"request\": \"probe-unload\", \"name\": \"runqlat\"}\n", -1);
	ask("{\"request\": \"store-delete\", \"name\": \"attempt\"}\n", -1);
	ask("{\"request\": \"store-create\", \"name\": \"others\", "
	    "\"slots_log2\": 4, \"value_length\": 4, \"epoch_ns\": 3600000000000}\n", -1);
	ask("{\"request\": \"table-delete\", \"name\": \"attempt\"}\n", -1);
	ask("{\"request\": \"table-create\", \"name\": \"others\", \"rows_log2\": 4, "
	    "\"key_length\": 4, \"value_length\": 4}\n", -1);
	ask("{\"request\": \"journal-delete\", \"name\": \"attempt\"}\n", -1);
	ask("{\"request\": \"journal-create\", \"name\": \"others\", \"batches_log2\": 4, "
	    "\"entry_length\": 4}\n", -1);
	ask("{\"request\": \"ledger-delete\", \"name\": \"attempt\"}\n", -1);
	ask("{\"request\": \"ledger-create\", \"name\": \"others\", \"words_log2\": 4}\n", -1);
	ask("{\"request\": \"sketch-delete\", \"name\": \"attempt\"}\n", -1);
	ask("{\"request\": \"sketch-create\", \"name\": \"others\", \"columns_log2\": 4}\n", -1);

	/* An entry of another member of the group. */
	if (setegid(getgrnam("dart")->gr_gid) || seteuid(ANOTHER))
		exit(1);
	ask("{\"request\": \"register-map\", \"name\": \"others\"}\n", first);
	if (seteuid(0) || setegid(0))
		exit(1);
}

static void attempt_all(void)
{
	for (size_t i = 0; i < CALLS; i++) {
		const char *outcome = "yes";
		int ret;

		if (calls[i].request) {
			outcome = ask(calls[i].request, calls[i].passes ?: -1);
		} else {
			ret = calls[i].run(REGIONS + i);
			if (ret < 0)
				outcome = strerrorname_np(-ret);
		}
		printf("%s\t%s\n", calls[i].name, outcome);
	}
}

int main(int argc, char *argv[])
{
	if (argc == 1) {
		attempt_all();
		return 0;
	}

	prepare();
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 1;
}
