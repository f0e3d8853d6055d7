// SPDX-License-Identifier: GPL-2.0-only
/*
 * call_agent rpc HOST[:PORT] COUNT [ENTRY...]
 * call_agent tcp HOST[:PORT] COUNT DIRECTORY NAME AGENT [ENTRY...]
 *
 * Asks the agent of HOST, over RDMA or TCP, COUNT times for the values of the entries,
 * by default of all, every 100 ms, and prints each time a line as dart-controller
 * --json does.  Over TCP it shows the certificate DIRECTORY/NAME.pem, and expects a
 * certificate for AGENT. At an error it prints the reason and exits with 1.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dart/rpc.h>
#include <libdart/rdma/address.h>
#include <libdart/rpc/client.h>
#include <libdart/table/value.h>

#define INTERVAL_NS 100000000
#define TIMEOUT_MS 20000

struct caller {
	struct dart_rpc_client *client;
	struct dart_tls *tls;
	char **names;		/* of entries; none: all */
	uint32_t name_count;
	struct dart_table *table;
	struct dart_read_plan *reads;
	struct dart_rpc_plan *plan;
	uint32_t *entries;	/* NULL: all */
	uint32_t entry_count;
	void *landing;
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "call_agent: %s: %s\n", what, why);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* The next event but NOTHING. */
static enum dart_rpc_client_event await(struct caller *caller)
{
	enum dart_rpc_client_event event;
	struct pollfd descriptors[2];
	struct dart_error error;
	int count;

	while (!(event = dart_rpc_client__on_ready(caller->client, &error))) {
		count = dart_rpc_client__wait(caller->client, descriptors);
		if (poll(descriptors, count, TIMEOUT_MS) < 1)
			fail("waiting", "no answer");
	}
	if (event == DART_RPC_CLIENT_FAILED)
		fail("not connected", error.text);
	if (event == DART_RPC_CLIENT_DISCONNECTED)
		fail("disconnected", error.text);
	return event;
}

static void connect_rpc(struct caller *caller, const char *host, uint16_t port)
{
	struct dart_error error;

	if (dart_rpc_client__connect_rdma(host, port, 0, &caller->client, &error))
		fail(host, error.text);
}

static void connect_tcp(struct caller *caller, const char *host, uint16_t port, char *const *files)
{
	char certificate[512], key[512], authorities[512];
	const struct dart_tls_files paths = {
		.certificate = certificate,
		.key = key,
		.authorities = authorities,
	};
	struct dart_error error;

	snprintf(certificate, sizeof(certificate), "%s/%s.pem", files[0], files[1]);
	snprintf(key, sizeof(key), "%s/%s.key", files[0], files[1]);
	snprintf(authorities, sizeof(authorities), "%s/authority.pem", files[0]);
	if (dart_tls__load(&paths, &caller->tls, &error) ||
	    dart_rpc_client__connect_tcp(host, port, caller->tls, files[2],
					 &caller->client, &error))
		fail(host, error.text);
}

static void forget_table(struct caller *caller)
{
	dart_rpc_plan__free(caller->plan);
	dart_read_plan__free(caller->reads);
	dart_table__free(caller->table);
	free(caller->entries);
	free(caller->landing);
	caller->plan = NULL;
	caller->reads = NULL;
	caller->table = NULL;
	caller->entries = NULL;
	caller->landing = NULL;
}

static void choose_entries(struct caller *caller)
{
	const struct dart_entry *entry;
	uint32_t i;

	caller->entry_count = caller->table->entry_count;
	if (!caller->name_count)
		return;
	caller->entry_count = caller->name_count;
	caller->entries = calloc(caller->name_count, sizeof(*caller->entries));
	for (i = 0; caller->entries && i < caller->name_count; i++) {
		entry = dart_table__find(caller->table, caller->names[i]);
		if (!entry)
			fail(caller->names[i], "the agent has no such entry");
		caller->entries[i] = entry - caller->table->entries;
	}
}

static void plan(struct caller *caller)
{
	choose_entries(caller);
	if (dart_read_plan__new(caller->table, caller->entries,
				caller->entry_count, &caller->reads) ||
	    dart_rpc_plan__new(caller->table, caller->reads, caller->entries,
			       caller->entry_count, &caller->plan))
		fail("the plan", "too large, or out of memory");
	caller->landing = malloc(dart_rpc_plan__landing_size(caller->plan));
	if (!caller->landing)
		fail("the plan", "out of memory");
}

static void fetch_table(struct caller *caller)
{
	size_t size = dart_rpc_client__welcome(caller->client)->used;
	struct dart_error error;
	void *bytes;
	int ret;

	forget_table(caller);
	do {
		bytes = malloc(size);
		if (!bytes || dart_rpc_client__get_table(caller->client, bytes, size, &error))
			fail("the table", "cannot ask for it");
		if (await(caller) != DART_RPC_CLIENT_ANSWERED)
			fail("the table", "not now");
		ret = dart_table__decode(bytes, dart_rpc_client__length(caller->client),
					 &caller->table, &size, &error);
		free(bytes);
	} while (ret == -EMSGSIZE);
	if (ret)
		fail("the table", error.text);
	plan(caller);
}

/* A table stays usable for a while after a change. */
static uint64_t fetch_values(struct caller *caller)
{
	struct dart_error error;
	uint64_t start_ns;

	for (;;) {
		start_ns = now_ns();
		if (dart_rpc_client__get_values(caller->client, caller->plan,
						caller->landing, &error))
			fail("the values", "cannot ask for them");
		if (await(caller) == DART_RPC_CLIENT_ANSWERED)
			return start_ns;
		fetch_table(caller);
	}
}

static void print(const struct caller *caller, uint64_t start_ns, int state)
{
	const struct dart_table *table = caller->table;
	const struct dart_entry *entry;
	uint32_t i, number;
	void *copies;

	printf("{\"start_ns\":%" PRIu64 ",\"end_ns\":%" PRIu64
	       ",\"reads\":0,\"generation\":%" PRIu64 ",\"changed\":%s,\"entries\":{",
	       start_ns, now_ns(), table->generation, state ? "true" : "false");
	for (i = 0; i < caller->entry_count; i++) {
		number = caller->entries ? caller->entries[i] : i;
		entry = &table->entries[number];
		copies = malloc(dart_entry__size(entry));
		if (!copies)
			fail("the values", "out of memory");
		dart_read_plan__gather(caller->reads, number, caller->landing, copies);
		printf("%s\"%s\":", i ? "," : "", entry->name);
		dart_entry__print_json(entry, copies, stdout);
		free(copies);
	}
	puts("}}");
	fflush(stdout);
}

static void scrape(struct caller *caller)
{
	uint64_t start_ns = fetch_values(caller);
	const char *header = (const char *)caller->landing +
			     dart_read_plan__landing_size(caller->reads);
	int state = dart_table__same(caller->table, header);

	if (state == -ECONNRESET)
		fail("the values", "they are of another run of the agent");
	print(caller, start_ns, state);
	if (state)
		fetch_table(caller);
}

/* Times from the first scrape on, so that they do not drift. */
static void wait_until(uint64_t time_ns)
{
	const struct timespec time = { time_ns / 1000000000, time_ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL))
		;
}

int main(int argc, char *argv[])
{
	bool is_tcp = argc > 1 && !strcmp(argv[1], "tcp");
	const int first = is_tcp ? 7 : 4;
	struct caller caller = {};
	uint64_t begin_ns;
	uint16_t port;
	char *host;
	long i;

	if (argc < first || (!is_tcp && strcmp(argv[1], "rpc")) ||
	    dart_address__parse(argv[2], &host, &port)) {
		fputs("usage: call_agent rpc HOST[:PORT] COUNT [ENTRY...]\n"
		      "       call_agent tcp HOST[:PORT] COUNT DIRECTORY NAME AGENT [ENTRY...]\n",
		      stderr);
		return 2;
	}
	caller.names = argv + first;
	caller.name_count = argc - first;
	if (is_tcp)
		connect_tcp(&caller, host, port == DART_CONTROL_PORT ? DART_RPC_TCP_PORT : port,
			    argv + 4);
	else
		connect_rpc(&caller, host, port);
	await(&caller);
	fetch_table(&caller);
	begin_ns = now_ns();
	for (i = 0; i < atol(argv[3]); i++) {
		wait_until(begin_ns + i * INTERVAL_NS);
		scrape(&caller);
	}
	forget_table(&caller);
	dart_rpc_client__free(caller.client);
	dart_tls__put(caller.tls);
	free(host);
	return 0;
}
