// SPDX-License-Identifier: LGPL-2.1-or-later
/* Waits for one endpoint: see blocking_reads_internal.h. */
#include <errno.h>
#include <poll.h>

#include <libdart/clock.h>

#include "blocking_reads_internal.h"

/*
 * Waits until one of the descriptors is readable; -1 stands for no descriptor.
 * Returns 0, or sets @error and returns -ETIMEDOUT after @deadline, or -errno.
 */
static int wait_for(int connection, int completion, int64_t deadline, struct dart_error *error)
{
	struct pollfd fds[] = {
		{ .fd = connection, .events = POLLIN },
		{ .fd = completion, .events = POLLIN },
	};
	int64_t left;
	int count;

	do {
		left = deadline - dart_clock__ms(CLOCK_MONOTONIC);
		count = poll(fds, 2, left > 0 ? (int)left : 0);
	} while (count < 0 && errno == EINTR);
	if (count > 0)
		return 0;
	if (!count)
		return dart_error__set(error, ETIMEDOUT, "the host does not answer");
	return dart_error__system(error, errno, "cannot wait");
}

static int wait_for_connection(struct dart_endpoint *endpoint,
			       int64_t deadline, struct dart_error *error)
{
	int ret;

	for (;;) {
		ret = wait_for(dart_endpoint__connection_fd(endpoint), -1, deadline, error);
		if (ret)
			return ret;
		switch (dart_endpoint__on_connection(endpoint, error)) {
		case DART_ENDPOINT_CONNECTED:
			return 0;
		case DART_ENDPOINT_FAILED:
			return -ECONNREFUSED;
		case DART_ENDPOINT_DISCONNECTED:
			return -ECONNRESET;
		case DART_ENDPOINT_NOTHING:
			break;
		}
	}
}

int dart_blocking__connect(const char *host, uint16_t port, const void *request, size_t length,
			   int64_t timeout_ms, struct dart_endpoint **result,
			   struct dart_error *error)
{
	struct dart_endpoint *endpoint;
	int ret;

	ret = dart_endpoint__connect_with(host, port, request, length, &endpoint, error);
	if (ret)
		return ret;
	ret = wait_for_connection(endpoint, dart_clock__ms(CLOCK_MONOTONIC) + timeout_ms, error);
	if (ret) {
		dart_endpoint__free(endpoint);
		return ret;
	}
	*result = endpoint;
	return 0;
}

static int wait_for_reads(struct dart_endpoint *endpoint, int64_t deadline,
			  struct dart_error *error)
{
	int done, ret;

	for (;;) {
		ret = wait_for(dart_endpoint__connection_fd(endpoint),
			       dart_endpoint__completion_fd(endpoint), deadline, error);
		if (ret)
			return ret;
		/* A disconnect also fails the READs: report the cause. */
		if (dart_endpoint__on_connection(endpoint, error) == DART_ENDPOINT_DISCONNECTED)
			return -ECONNRESET;
		done = dart_endpoint__on_completion(endpoint, error);
		if (done)
			return done < 0 ? done : 0;
	}
}

int dart_blocking__read(struct dart_endpoint *endpoint, const struct dart_read *reads,
			uint32_t count, size_t size, int64_t timeout_ms, void **landing,
			struct dart_error *error)
{
	int ret = dart_endpoint__reserve(endpoint, size, landing) ?:
		  dart_endpoint__read(endpoint, reads, count);

	if (ret)
		return dart_error__system(error, -ret, "cannot READ");
	return wait_for_reads(endpoint, dart_clock__ms(CLOCK_MONOTONIC) + timeout_ms, error);
}
