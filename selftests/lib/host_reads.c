// SPDX-License-Identifier: GPL-2.0-only
/* READs from a host, each of which the test waits for. */
#include "host_reads.h"

#include <poll.h>
#include <string.h>

#include <libdart/error.h>

#include "test.h"

void host_reads__wait_for(int fd)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&readable, 1, 60000), 1);
}

struct dart_endpoint *host_reads__connect(const char *host)
{
	struct dart_endpoint *endpoint;
	enum dart_endpoint_event event;
	struct dart_error error = {};

	if (dart_endpoint__connect(host, DART_CONTROL_PORT, &endpoint, &error))
		fail_msg("%s", error.text);
	do {
		host_reads__wait_for(dart_endpoint__connection_fd(endpoint));
		event = dart_endpoint__on_connection(endpoint, &error);
	} while (event == DART_ENDPOINT_NOTHING);
	if (event != DART_ENDPOINT_CONNECTED)
		fail_msg("%s", error.text);
	return endpoint;
}

int host_reads__read(struct dart_endpoint *endpoint, const struct dart_read *read,
		     unsigned char pattern, void **landing)
{
	struct dart_error error;
	int ret;

	assert_int_equal(dart_endpoint__reserve(endpoint, read->length, landing), 0);
	memset(*landing, pattern, read->length);
	assert_int_equal(dart_endpoint__read(endpoint, read, 1), 0);
	do {
		host_reads__wait_for(dart_endpoint__completion_fd(endpoint));
		ret = dart_endpoint__on_completion(endpoint, &error);
	} while (!ret);
	return ret;
}

struct dart_table *host_reads__table(struct dart_endpoint *endpoint)
{
	const struct dart_endpoint_accept *accept = dart_endpoint__accept(endpoint);
	const struct dart_read read = {
		.address = accept->address,
		.rkey = accept->rkey,
		.length = accept->used,
	};
	struct dart_table *table;
	struct dart_error error;
	void *landing;

	assert_int_equal(host_reads__read(endpoint, &read, 0, &landing), 1);
	if (dart_table__decode(landing, read.length, &table, NULL, &error))
		fail_msg("%s", error.text);
	return table;
}
