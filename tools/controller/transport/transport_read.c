// SPDX-License-Identifier: GPL-2.0-only
/* READs from the memory of hosts. */
#include "transport_read.h"

#include <errno.h>
#include <stdlib.h>

#include "tools/controller/decode/ring.h"

struct transport_read {
	struct transport base; /* first: a transport is found by it */
	struct dart_endpoint *endpoint;
	struct dart_read table_read;
	struct dart_landing *table; /* NULL: no room */
	struct ring *ring; /* of the target; NULL: not prepared */
	struct dart_landing *values; /* its memory */
	const struct scraper *added; /* of the entries that were just added */
	uint32_t added_reads; /* of it */
	struct dart_landing *added_values; /* NULL: without a mirror, or no room */
};

/* Bytes of values that are READ when entries are added: of functions, not of hosts. */
#define ADDED_BYTES 16384

static struct transport_read *read_of(const struct transport *transport)
{
	return (struct transport_read *)transport;
}

static void transport_read__free(struct transport *transport)
{
	struct transport_read *read = read_of(transport);

	/* With all landings. */
	dart_endpoint__free(read->endpoint);
	free(read);
}

static void transport_read__unreserve(struct transport *transport)
{
	struct transport_read *read = read_of(transport);

	dart_landing__free(read->table);
	read->table = NULL;
}

static int transport_read__reserve(struct transport *transport, uint32_t length)
{
	struct transport_read *read = read_of(transport);

	transport_read__unreserve(transport);
	read->table_read = (struct dart_read){
		.address = transport->accept.address,
		.rkey = transport->accept.rkey,
		.length = length,
	};
	return dart_endpoint__register(read->endpoint, NULL, length, &read->table);
}

static const void *transport_read__table(const struct transport *transport)
{
	return dart_landing__memory(read_of(transport)->table);
}

static void transport_read__forget(struct transport *transport)
{
	struct transport_read *read = read_of(transport);

	dart_landing__free(read->values);
	read->values = NULL;
	read->ring = NULL;
}

static int transport_read__prepare(struct transport *transport, struct ring *ring)
{
	struct transport_read *read = read_of(transport);
	const struct scraper *scraper = ring->scraper;

	transport_read__forget(transport);
	read->ring = ring;
	transport->scrape.operations =
		dart_endpoint__operations(read->endpoint, scraper->reads, scraper->read_count);
	transport->scrape.bytes = scraper->bytes;
	/* Once, and ahead of time, because that takes longer than the READs of added entries. */
	if (transport->is_told && !read->added_values)
		dart_endpoint__register(read->endpoint, NULL, ADDED_BYTES, &read->added_values);
	return dart_endpoint__register(read->endpoint, ring->memory, ring__size(ring),
				       &read->values);
}

static int transport_read__prepare_added(struct transport *transport, const struct ring *ring)
{
	struct transport_read *read = read_of(transport);

	if (scraper__landing_size(ring->scraper) > ADDED_BYTES)
		return -EFBIG;
	read->added = ring->scraper;
	/* The last one is of the header. */
	read->added_reads = ring->scraper->read_count - ring->lacks_header;
	return read->added_values ? 0 : -ENOMEM;
}

static const void *transport_read__added(const struct transport *transport)
{
	return dart_landing__memory(read_of(transport)->added_values);
}

static void transport_read__path(const struct transport *transport, struct dart_endpoint_path *path)
{
	dart_endpoint__path(read_of(transport)->endpoint, path);
}

static uint32_t transport_read__group(const struct transport *transport)
{
	return dart_endpoint__group(read_of(transport)->endpoint);
}

static void *transport_read__mirror(const struct transport *transport, uint32_t *size)
{
	return dart_endpoint__mirror(read_of(transport)->endpoint, size);
}

static int transport_read__await_updates(struct transport *transport)
{
	return dart_endpoint__await_updates(read_of(transport)->endpoint);
}

static void transport_read__cut(struct transport *transport, uint32_t length)
{
	dart_endpoint__cut(read_of(transport)->endpoint, length);
}

static int transport_read__adopt(struct transport *transport, struct io_thread *thread)
{
	/* It was made for this thread. */
	return dart_endpoint__adopt(read_of(transport)->endpoint);
}

static void transport_read__leave(struct transport *transport)
{
	dart_endpoint__leave(read_of(transport)->endpoint);
}

static void transport_read__ahead(const struct transport *transport, unsigned int step)
{
	dart_endpoint__ahead(read_of(transport)->endpoint, step);
}

static int transport_read__begin(struct transport *transport, enum transport_part part,
				 uint32_t *fragments)
{
	struct transport_read *read = read_of(transport);
	struct dart_endpoint *endpoint = read->endpoint;
	const struct dart_landing *landing = read->values;
	const struct dart_read *reads;
	uint32_t count = 1;
	int err;

	switch (part) {
	case TRANSPORT_TABLE:
		reads = &read->table_read;
		landing = read->table;
		break;
	case TRANSPORT_HEADER:
		reads = scraper__header_read(read->ring->scraper);
		break;
	case TRANSPORT_ADDED:
		reads = read->added->reads;
		count = read->added_reads;
		landing = read->added_values;
		break;
	default:
		reads = read->ring->scraper->reads;
		count = read->ring->scraper->read_count;
	}
	err = dart_endpoint__land_at(endpoint, landing);
	if (err)
		return err;
	if (!fragments)
		return dart_endpoint__read(endpoint, reads, count);
	*fragments = dart_endpoint__operations(endpoint, reads, count);
	return dart_endpoint__begin(endpoint, reads, count);
}

static int transport_read__post(struct transport *transport, uint32_t fragments)
{
	return dart_endpoint__post(read_of(transport)->endpoint, fragments);
}

static uint32_t transport_read__take_completed(struct transport *transport)
{
	return dart_endpoint__take_completed(read_of(transport)->endpoint);
}

static void transport_read__explain(const struct transport *transport, struct dart_error *error)
{
	dart_endpoint__explain(read_of(transport)->endpoint, error);
}

static const struct transport_operations operations = {
	.reserve = transport_read__reserve,
	.table = transport_read__table,
	.unreserve = transport_read__unreserve,
	.prepare = transport_read__prepare,
	.forget = transport_read__forget,
	.path = transport_read__path,
	.group = transport_read__group,
	.mirror = transport_read__mirror,
	.prepare_added = transport_read__prepare_added,
	.added = transport_read__added,
	.await_updates = transport_read__await_updates,
	.cut = transport_read__cut,
	.free = transport_read__free,
	.ahead = transport_read__ahead,
	.adopt = transport_read__adopt,
	.leave = transport_read__leave,
	.begin = transport_read__begin,
	.post = transport_read__post,
	.take_completed = transport_read__take_completed,
	.explain = transport_read__explain,
};

int transport_read__connect(struct dart_endpoint_set *set, uint32_t number, const char *host,
			    uint16_t port, uint32_t interval_ms, bool offers_mirror,
			    const struct transport_handlers *handlers, void *data,
			    struct transport **transport, struct dart_error *error)
{
	struct transport_read *read = calloc(1, sizeof(*read));
	int err;

	if (!read)
		return dart_error__no_memory(error);
	read->base.operations = &operations;
	read->base.handlers = handlers;
	read->base.data = data;
	err = dart_endpoint_set__connect(set, number, host, port, read, &read->endpoint, error);
	if (err) {
		free(read);
		return err;
	}
	dart_endpoint__tell_interval(read->endpoint, interval_ms);
	if (!offers_mirror)
		dart_endpoint__withhold_mirror(read->endpoint);
	*transport = &read->base;
	return 0;
}

void transport_read__on_connection(struct dart_endpoint *endpoint, enum dart_endpoint_event event,
				   const struct dart_error *error)
{
	struct transport_read *read = dart_endpoint__user(endpoint);
	uint32_t size;

	if (event == DART_ENDPOINT_CONNECTED) {
		read->base.accept = *dart_endpoint__accept(endpoint);
		transport__date(&read->base);
		read->base.is_told = transport_read__mirror(&read->base, &size);
		error = NULL;
	}
	read->base.handlers->connected(read->base.data, error);
}

void transport_read__on_completion(struct dart_endpoint *endpoint, int result)
{
	const struct transport_read *read = dart_endpoint__user(endpoint);

	if (dart_endpoint__take_updates(endpoint)) {
		read->base.handlers->updated(read->base.data);
		return;
	}
	read->base.handlers->completed(read->base.data, result);
}
