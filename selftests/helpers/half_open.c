// SPDX-License-Identifier: GPL-2.0-only
/*
 * half_open ADDRESS COUNT: keeps asking the dartd at "host" for connections from its own address
 * that it never establishes, COUNT at a time: it replaces each connection that ends.  It notifies
 * that it is ready when COUNT are accepted, and runs until a test kills it.  Every second it prints
 * "asked for COUNT connections in SECONDS s".
 */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include <dart/control.h>

static struct addrinfo *from, *host;
static struct rdma_event_channel *channel;
static long wanted, accepted, asked;
static time_t started, printed;
static uint32_t last_number = 4711;

static void fail(const char *step)
{
	fprintf(stderr, "half_open: %s: %m\n", step);
	exit(EXIT_FAILURE);
}

static struct addrinfo *resolve(const char *name, const char *port)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *found;

	if (getaddrinfo(name, port, &hints, &found))
		fail(name);
	return found;
}

static void begin(void)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, from->ai_addr, host->ai_addr, 2000))
		fail("resolve an address");
}

static void ask(struct rdma_cm_id *id)
{
	const struct dart_control_request request = {
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
	};
	/* A number that neither a queue pair nor another connection uses. */
	struct rdma_conn_param parameters = {
		.private_data = &request,
		.private_data_len = sizeof(request),
		.qp_num = ++last_number,
		.retry_count = 6,
	};

	if (rdma_connect(id, &parameters))
		fail("ask for a connection");
	asked++;
}

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

static void print_asked(void)
{
	if (printed == now())
		return;
	printed = now();
	printf("asked for %ld connections in %ld s\n", asked, (long)(printed - started));
	fflush(stdout);
}

static void handle(struct rdma_cm_id *id, enum rdma_cm_event_type event)
{
	switch (event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(id, 2000))
			fail("resolve a route");
		return;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		ask(id);
		return;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		if (++accepted == wanted)
			sd_notify(0, "READY=1");
		return;
	default:
		rdma_destroy_id(id);
		begin();
	}
}

int main(int argc, char *argv[])
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;
	long i;

	if (argc != 3)
		return 2;
	from = resolve(argv[1], NULL);
	host = resolve("host", "4792");
	wanted = atol(argv[2]);
	channel = rdma_create_event_channel();
	if (!channel)
		fail("open the RDMA CM");
	started = printed = now();
	for (i = 0; i < wanted; i++)
		begin();
	while (!rdma_get_cm_event(channel, &event)) {
		id = event->id;
		type = event->event;
		rdma_ack_cm_event(event);
		handle(id, type);
		print_asked();
	}
	fail("read an event");
}
