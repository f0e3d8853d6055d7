// SPDX-License-Identifier: GPL-2.0-only
/* Connects to a host step by step, and says at which step and why it failed. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"
#include "tools/controller/base/schedule.h"
#include "tools/doctor/firewall.h"
#include "tools/doctor/text_file.h"
#include "tools/doctor/transport.h"

#define ROCE_PORT "4791"
/* An ICMP error arrives within a round trip. */
#define ICMP_TIMEOUT_MS 1000
/* NTP keeps two clocks within this difference. */
#define CLOCK_TOLERANCE_NS 100000000LL

/* Suggests the command that examines the host itself, the remedy of most failures. */
static void look_there(struct findings *findings, const struct connection *connection)
{
	findings__command(findings, "ssh %s dartctl doctor", connection->target->host);
}

/*
 * Sends an empty datagram to the port of RoCE, which soft-RoCE and adapters drop silently.  Returns
 * the errno of the ICMP error that comes back; 0 if none does.
 */
static int ask_for_icmp(const char *address)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_DGRAM,
		.ai_flags = AI_NUMERICHOST,
	};
	struct addrinfo *found;
	struct pollfd answer = { .events = POLLIN };
	socklen_t length = sizeof(int);
	int code = 0;

	if (getaddrinfo(address, ROCE_PORT, &hints, &found))
		return 0;
	answer.fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (answer.fd >= 0 && !connect(answer.fd, found->ai_addr, found->ai_addrlen)) {
		if (send(answer.fd, "", 0, 0) < 0)
			code = errno;
		else if (poll(&answer, 1, ICMP_TIMEOUT_MS) > 0)
			getsockopt(answer.fd, SOL_SOCKET, SO_ERROR, &code, &length);
	}
	if (answer.fd >= 0)
		close(answer.fd);
	freeaddrinfo(found);
	return code;
}

static void explain_silence(struct findings *findings, const struct connection *connection)
{
	int code = ask_for_icmp(connection->address);

	if (code == ECONNREFUSED)
		findings__fail(
			findings, "connect",
			"%s has no RDMA device for this address, or a firewall that rejects UDP to port " ROCE_PORT,
			connection->address);
	else if (code)
		findings__fail(findings, "connect",
			       "UDP to port " ROCE_PORT " of %s is refused on the way: %s",
			       connection->address, strerror(code));
	else
		findings__fail(
			findings, "connect",
			"%s does not answer within %u s: a firewall drops UDP to port " ROCE_PORT
			", or it has no RDMA device",
			connection->address, ANSWER_TIMEOUT_MS / 1000);
	look_there(findings, connection);
}

static void explain(struct findings *findings, const struct connection *connection, int failure,
		    const struct dart_error *error)
{
	const struct target_settings *target = connection->target;

	switch (failure) {
	case -ETIMEDOUT:
		explain_silence(findings, connection);
		break;
	case -ECONNREFUSED:
		findings__fail(findings, "connect",
			       "%s answers, but dartd does not listen on its port %u",
			       connection->address, target->port);
		look_there(findings, connection);
		break;
	case -EACCES:
		findings__fail(findings, "connect", "%s", error->text);
		findings__command(findings, "ssh %s journalctl -n 20 -u dartd", target->host);
		break;
	case -EPROTONOSUPPORT:
		findings__fail(findings, "connect", "%s", error->text);
		findings__advise(findings, "use programs of one release on both machines");
		break;
	default:
		findings__fail(findings, "connect", "%s", error->text);
		look_there(findings, connection);
	}
}

/* Waits until the endpoint is connected or has failed.  Returns 0 or the -errno of the failure. */
static int await_connection(struct dart_endpoint *endpoint, struct dart_error *error)
{
	struct pollfd events = {
		.fd = dart_endpoint__connection_fd(endpoint),
		.events = POLLIN,
	};
	uint64_t end_ns = monotonic_ns() + ANSWER_TIMEOUT_MS * 1000000ULL;
	enum dart_endpoint_event event = DART_ENDPOINT_NOTHING;
	uint64_t now_ns;

	while (event == DART_ENDPOINT_NOTHING) {
		now_ns = monotonic_ns();
		if (now_ns >= end_ns)
			return dart_error__set(error, ETIMEDOUT, "no answer");
		if (poll(&events, 1, (end_ns - now_ns) / 1000000 + 1) < 0 && errno != EINTR)
			return dart_error__system(error, errno, "cannot wait");
		event = dart_endpoint__on_connection(endpoint, error);
	}
	if (event == DART_ENDPOINT_CONNECTED)
		return 0;
	return dart_endpoint__failure(endpoint) ?: -ECONNRESET;
}

/* Explains that no device reaches the host: either the host is down or this machine has no RDMA. */
static void explain_route(struct findings *findings, struct connection *connection,
			  const struct dart_error *error)
{
	if (!check_rdma_port(findings, &connection->port, NULL))
		return;
	check_transport(findings, &connection->port, TRANSPORT_OF_CONTROLLER);
	findings__fail(findings, "route",
		       "no RDMA device of this machine reaches %s; there is %s%s%s%s: %s",
		       connection->address, connection->port.device,
		       *connection->port.netdev ? " (" : "", connection->port.netdev,
		       *connection->port.netdev ? ")" : "", error->text);
	findings__command(findings, "ip route get %s && ping -c 3 %s", connection->address,
			  connection->address);
}

bool check_connection(struct findings *findings, struct connection *connection)
{
	const struct target_settings *target = connection->target;
	uint64_t begin_ns = monotonic_ns();
	struct dart_error error = {};
	char command[300];
	int ret;

	ret = dart_endpoint__connect(connection->address, target->port, &connection->endpoint,
				     &error);
	if (ret) {
		connection->endpoint = NULL;
		explain_route(findings, connection, &error);
		return false;
	}
	ret = await_connection(connection->endpoint, &error);
	begin_ns = monotonic_ns() - begin_ns;
	dart_endpoint__path(connection->endpoint, &connection->path);
	if (ret == -EHOSTUNREACH || !*connection->path.device) {
		explain_route(findings, connection, &error);
		goto free;
	}
	findings__ok(findings, "route", "%s to %s through %s", connection->path.source,
		     connection->path.destination, connection->path.device);
	snprintf(command, sizeof(command), "dart-controller doctor %s", target->name);
	if (check_rdma_port(findings, &connection->port, connection->path.device)) {
		check_transport(findings, &connection->port, TRANSPORT_OF_CONTROLLER);
		check_firewall(findings, &connection->port, command);
	}
	if (ret) {
		explain(findings, connection, ret, &error);
		goto free;
	}
	findings__ok(findings, "connect", "dartd accepted on port %u after %.1f ms", target->port,
		     begin_ns / 1e6);
	return true;

free:
	dart_endpoint__free(connection->endpoint);
	connection->endpoint = NULL;
	return false;
}

/* Returns the largest payload of a RoCE packet on an interface with this MTU. */
static unsigned int best_mtu(long long netdev_mtu)
{
	/* IPv4 or IPv6, UDP, BTH, RETH, ICRC, and room for further headers. */
	const unsigned int headers = 40 + 8 + 12 + 16 + 4 + 16;
	unsigned int mtu = 4096;

	while (mtu > 256 && mtu + headers > netdev_mtu)
		mtu /= 2;
	return mtu;
}

void check_mtu(struct findings *findings, const struct connection *connection)
{
	const char *netdev = connection->port.netdev;
	long long netdev_mtu = -1;

	if (!connection->path.mtu)
		return;
	if (connection->path.mtu < connection->path.own_mtu) {
		findings__warn(
			findings, "mtu",
			"%u bytes in a packet, which is what the host takes; this machine takes %u",
			connection->path.mtu, connection->path.own_mtu);
		findings__advise(
			findings,
			"give the interface there, and the switches between, the MTU of this one");
		return;
	}
	if (*netdev && connection->port.is_roce)
		netdev_mtu = text_file__number("/sys/class/net/%s/mtu", netdev);
	if (netdev_mtu < 0 || connection->path.mtu >= best_mtu(netdev_mtu)) {
		findings__ok(findings, "mtu", "%u bytes in a packet", connection->path.mtu);
		return;
	}
	findings__warn(findings, "mtu", "%u bytes in a packet, though %s takes %u (MTU %lld)",
		       connection->path.mtu, netdev, best_mtu(netdev_mtu), netdev_mtu);
	findings__advise(
		findings,
		"set the port of the adapter, or create the soft-RoCE device again: its MTU is fixed when its interface comes up");
}

void check_remote_clock(struct findings *findings, const struct connection *connection,
			int64_t offset_ns, uint64_t uncertainty_ns)
{
	int64_t doubt_ns = uncertainty_ns;
	int64_t size_ns = offset_ns < 0 ? -offset_ns : offset_ns;

	if (!doubt_ns) {
		findings__warn(findings, "clock", "dartd is older and does not tell its time");
		findings__advise(findings, "upgrade dartd there");
		return;
	}
	if (size_ns <= doubt_ns + CLOCK_TOLERANCE_NS) {
		findings__ok(findings, "clock",
			     "%+.1f ms against this machine, give or take %.1f ms", offset_ns / 1e6,
			     doubt_ns / 1e6);
		return;
	}
	findings__warn(findings, "clock",
		       "the host is %.3f s %s this machine (give or take %.3f s)", size_ns / 1e9,
		       offset_ns < 0 ? "behind" : "ahead of", doubt_ns / 1e9);
	findings__advise(findings, "see which of both is not synchronised");
	findings__command(findings, "timedatectl; ssh %s timedatectl", connection->target->host);
}
