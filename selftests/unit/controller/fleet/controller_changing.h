/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A controller, and hosts whose tables change, which may tell or lie about that.
 */
#ifndef CONTROLLER_CHANGING_H
#define CONTROLLER_CHANGING_H

#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

#include <libdart/table/table_format_internal.h>
#include <libdart/table/table_writer.h>

#include "selftests/unit/unit.h"
#include "tools/bench/simulated_network.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/decode/catalog.h"
#include "tools/controller/fleet/target_private.h"
#include "tools/controller/transport/transport_read.h"

#define HOSTS 2
#define MIRROR 65536
#define LEASE_MS 60000
#ifndef ROOM
#define ROOM 65536
#endif
#define DEADLINE_NS 600000000000ULL
/* In the thread of the adapter, where no assertion of cmocka works. */
#define MUST(condition)						\
	do {							\
		if (!(condition))				\
			errx(EXIT_FAILURE, "%s", #condition);	\
	} while (0)

/* ---- hosts whose table changes; all but is_due belongs to the I/O thread */

struct changing {
	struct simulated_host host; /* first */
	struct changing *other;
	struct dart_table_writer *writer;
	struct dart_schema *schema;
	uint8_t *bytes;
	uint64_t value;
	uint64_t generation, told; /* the latter was in the last update */
	bool lies; /* it WRITEs noise instead of the table */
	bool floods; /* it ends updates without changes, as often as it can */
	bool is_restless; /* it changes before each READ, and tells nothing */
	uint32_t entries; /* of a restless host */
	atomic_bool is_due; /* it is to change */
	unsigned int denied, allowed; /* attempts to reach another mirror, or beyond its own */
	unsigned int most; /* updates that ended between two READs */
};

static struct changing hosts[HOSTS];
static uint32_t lease = LEASE_MS; /* of their tables, ms */
static struct simulated_host *all_hosts[HOSTS];

/* @generation 1 is the first table, with one entry; later ones add one each. */
static int host__publish(struct changing *own)
{
	char name[32];
	struct dart_memory_region region = {
		.address = (uintptr_t)&own->value,
		.length = sizeof(own->value),
		.rkey = own->host.values.rkey,
	};
	struct dart_range range = {
		.address = region.address,
		.copies = 1,
		.length = sizeof(own->value),
	};
	struct dart_entry entry = {
		.name = name,
		.schema = own->schema,
		.kind = DART_CONTROL_ENTRY_SLICE,
		.lifetime = DART_CONTROL_LIFETIME_SERVERLESS,
		.copies_are = DART_CONTROL_COPIES_ROW,
		.copies = 1,
		.ranges = &range,
		.range_count = 1,
	};
	struct dart_table table = {
		.generation = ++own->generation,
		.instance = own - hosts + 1,
		.exposure = DART_CONTROL_EXPOSURE_EXACT,
		.cpus = 4,
		.page_size = 4096,
		.lease_ms = lease,
		.node_name = "host",
		.entries = &entry,
		.entry_count = 1,
		.memory_regions = &region,
		.memory_region_count = table.generation == 1,
	};

	snprintf(name, sizeof(name), "entry_%llu", (unsigned long long)own->generation);
	if (own->generation == 1)
		return dart_table_writer__rewrite(own->writer, &table);
	return dart_table_writer__append(own->writer, &table);
}

/* Tries what a hostile agent may try with keys and addresses that it can guess. */
static void host__reach_out(struct changing *own)
{
	const struct dart_control_mirror *mine = &own->host.mirror, *other = &own->other->host.mirror;
	const uint32_t rkey = le32toh(mine->rkey), other_rkey = le32toh(other->rkey);
	const uint64_t distance = le64toh(other->address) - le64toh(mine->address);
	const uint8_t noise[64] = { 1, 2, 3 };
	const struct {
		uint64_t offset;
		uint32_t rkey;
	} attempts[] = {
		{ distance, other_rkey }, { 0, other_rkey }, { distance, rkey }, { MIRROR, rkey },
		{ MIRROR - 63, rkey },	  { -1ULL, rkey },   { 0, rkey + 1000 },
	};
	size_t i;

	for (i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
		if (simulated_host__write(&own->host, attempts[i].offset, attempts[i].rkey, noise,
					  sizeof(noise)))
			own->allowed++;
		else
			own->denied++;
	}
}

static void host__update(struct changing *own)
{
	const uint32_t rkey = le32toh(own->host.mirror.rkey);
	uint8_t noise[DART_CONTROL_BLOCK];
	uint32_t begin, length, offset;
	size_t i;

	for (i = 0; i < sizeof(noise); i++)
		noise[i] = random();
	for (offset = 0;; offset = begin + length) {
		length = dart_table_writer__changed(own->writer, own->told, offset, ROOM, &begin);
		if (!length)
			break;
		MUST(simulated_host__write(&own->host, begin, rkey, own->bytes + begin, length));
		/* In the last block. */
		if (own->lies)
			MUST(simulated_host__write(&own->host,
						   begin + length - sizeof(noise), rkey, noise,
						   sizeof(noise)));
	}
	own->told = own->generation;
	MUST(simulated_host__tell(&own->host));
}

static void host__flood(struct changing *own)
{
	unsigned int count = 0;

	while (simulated_host__tell(&own->host))
		count++;
	own->most = count > own->most ? count : own->most;
}

/* The next table differs by its generation, in the first block. */
static void host__change(struct changing *own)
{
	const uint64_t generation = htole64(++own->generation);
	struct dart_control_header header;
	uint64_t sum;

	memcpy(&header, own->bytes, sizeof(header));
	sum = le64toh(header.checksum) - dart_table__checksum(own->bytes, DART_CONTROL_BLOCK);
	header.generation_begin = header.generation_end = generation;
	memcpy(own->bytes, &header, sizeof(header));
	header.checksum =
		htole64(sum + dart_table__checksum(own->bytes, DART_CONTROL_BLOCK));
	memcpy(own->bytes, &header, sizeof(header));
}

static void host__go_on(struct simulated_host *host)
{
	struct changing *own = (struct changing *)host;

	if (own->is_restless)
		host__change(own);
	if (own->floods)
		host__flood(own);
	if (!atomic_exchange(&own->is_due, false))
		return;
	MUST(host__publish(own) > 0);
	host__reach_out(own);
	host__update(own);
}

static void hosts__open(void)
{
	const struct dart_field field = {
		.name = "value",
		.unit = "",
		.width = 8,
		.count = 1,
		.kind = DART_CONTROL_FIELD_COUNTER,
	};
	struct changing *own;

	memset(hosts, 0, sizeof(hosts));
	for (own = hosts; own < hosts + HOSTS; own++) {
		own->other = &hosts[own == hosts];
		own->bytes = calloc(1, ROOM);
		own->writer = dart_table_writer__new(own->bytes, ROOM);
		own->schema = dart_schema__new("schema", 8);
		assert_true(own->bytes && own->writer && own->schema);
		assert_int_equal(dart_schema__add(own->schema, &field), 0);
		own->host.table = (struct simulated_memory){ own->bytes, ROOM, 2 };
		own->host.values = (struct simulated_memory){ &own->value, sizeof(own->value), 3 };
		own->host.go_on = host__go_on;
		assert_true(host__publish(own) > 0);
		own->told = own->generation;
		all_hosts[own - hosts] = &own->host;
	}
	simulated_network__open(all_hosts, HOSTS);
}

static void hosts__close(void)
{
	struct changing *own;

	for (own = hosts; own < hosts + HOSTS; own++) {
		dart_table_writer__free(own->writer);
		dart_schema__free(own->schema);
		free(own->bytes);
	}
}

/* ---- a sink that counts entries, in the worker */

static atomic_uint entries[HOSTS], losses;
/* Partial samples, and the ones whose entry a scrape had shown before, or that had others. */
static atomic_uint parts, late_parts;
/* READs of all of them: of the header, too, if the table is not known well enough. */
static atomic_uint part_reads;

static int note_sample(struct sink *sink, const struct target_settings *target,
		       const struct sample *sample, const struct latency *decoded)
{
	if (sample->is_partial) {
		if (sample->entry_count != 1 ||
		    sample->entries[0].entry->place < atomic_load(&entries[target->index]))
			atomic_fetch_add(&late_parts, 1);
		atomic_fetch_add(&part_reads, sample->head.reads);
		atomic_fetch_add(&parts, 1);
		return 0;
	}
	atomic_store(&entries[target->index], sample->entry_count);
	return 0;
}

static int note_loss(struct sink *sink, const struct target_settings *target, const char *reason)
{
	atomic_fetch_add(&losses, 1);
	return 0;
}

static const struct sink_operations operations = {
	.sample = note_sample,
	.lost = note_loss,
};

static struct sink sink = { .operations = &operations };

/* ---- the controller around the targets */

static struct {
	struct target_context context;
	struct options options;
	struct catalogs catalogs;
	sd_event_source *connections, *mail;
	int said; /* a file: the log */
	struct target *targets[HOSTS];
	struct target_settings settings[HOSTS];
	unsigned int finished;
} bed;

static enum settings_flow flow; /* of the next bed */

static void on_finished(struct target_context *context, struct target *target, int result)
{
	bed.finished++;
}

static int on_connection(sd_event_source *source, int fd, uint32_t events, void *data)
{
	return dart_endpoint_set__on_connection(bed.context.io.set, transport_read__on_connection);
}

static int on_mail(sd_event_source *source, int fd, uint32_t events, void *data)
{
	mailbox__read(&bed.context.mailbox);
	return 0;
}

static void bed__open(uint64_t mirror_bytes, uint64_t interval_ns)
{
	struct target_context *context = &bed.context;
	struct dart_error error;

	memset(&bed, 0, sizeof(bed));
	memset(entries, 0, sizeof(entries));
	atomic_store(&losses, 0);
	atomic_store(&parts, 0);
	atomic_store(&late_parts, 0);
	atomic_store(&part_reads, 0);
	bed.options.settings.interval_ns = interval_ns;
	bed.options.settings.mirror_bytes = mirror_bytes;
	bed.options.settings.flow = flow;
	bed.said = memfd_create("log", MFD_CLOEXEC);
	assert_true(bed.said >= 0);
	context->options = &bed.options;
	context->sink = &sink;
	context->catalogs = &bed.catalogs;
	context->finished = on_finished;
	context->target_count = SIZE_MAX;
	assert_int_equal(sd_event_new(&context->event), 0);
	assert_int_equal(output__open(bed.said, "log", 1 << 20, NULL, &context->log), 0);
	assert_int_equal(workers__start(1, &context->workers), 0);
	assert_int_equal(catalogs__open(&bed.catalogs), 0);
	assert_int_equal(timers__new(context->event, &context->timers), 0);
	clock_messages__open(&context->clocks, 0, context->log);
	handshakes__open(&context->handshakes, context->timers, HOSTS);
	assert_int_equal(resolver__new(context->event, &context->resolver), 0);
	assert_int_equal(flow_control__new(context->timers, &bed.options.settings, false,
					   &context->flow_control),
			 0);
	assert_int_equal(mailbox__open(&context->mailbox), 0);
	assert_true(sd_event_add_io(context->event, &bed.mail, mailbox__fd(&context->mailbox),
				    EPOLLIN, on_mail, NULL) >= 0);
	assert_int_equal(io_threads__start(&context->io, &bed.options.settings, false,
					   context->flow_control, transport_read__on_completion,
					   &error),
			 0);
	assert_true(sd_event_add_io(context->event, &bed.connections,
				    dart_endpoint_set__connection_fd(context->io.set), EPOLLIN,
				    on_connection, NULL) >= 0);
}

static void bed__add_named(uint32_t index, const char *host)
{
	struct target_settings *settings = &bed.settings[index];

	settings->index = index;
	settings->port = DART_CONTROL_PORT;
	settings->transport = SETTINGS_TRANSPORT_READ;
	settings->name = settings->host = (char *)host;
	assert_int_equal(target__new(&bed.context, settings, &bed.targets[index]), 0);
}

static inline void bed__add(uint32_t index)
{
	bed__add_named(index, index ? "10.0.0.1" : "10.0.0.0");
}

/* Runs the loop until the host has shown @count entries. */
static void bed__await(uint32_t index, unsigned int count)
{
	const uint64_t end_ns = monotonic_ns() + DEADLINE_NS;

	while (atomic_load(&entries[index]) < count) {
		assert_true(sd_event_run(bed.context.event, 1000) >= 0);
		assert_true(monotonic_ns() < end_ns);
	}
}

static inline void bed__run_scrapes(uint32_t index, uint64_t count)
{
	const struct summary *summary = target__summary(bed.targets[index]);
	const uint64_t end = count__of(&summary->scrapes) + count;

	while (count__of(&summary->scrapes) < end)
		assert_true(sd_event_run(bed.context.event, 1000) >= 0);
}

static void bed__close(void)
{
	struct target_context *context = &bed.context;
	uint32_t i;

	for (i = 0; i < HOSTS; i++)
		target__stop(bed.targets[i]);
	while (bed.finished < HOSTS)
		assert_true(sd_event_run(context->event, 1000) >= 0);
	io_threads__stop(&context->io);
	workers__stop(context->workers);
	for (i = 0; i < HOSTS; i++)
		target__free(bed.targets[i]);
	sd_event_source_disable_unref(bed.connections);
	io_threads__free(&context->io);
	sd_event_source_disable_unref(bed.mail);
	mailbox__close(&context->mailbox);
	resolver__free(context->resolver);
	flow_control__free(context->flow_control);
	handshakes__close(&context->handshakes);
	timers__free(context->timers);
	clock_messages__close(&context->clocks);
	catalogs__close(&bed.catalogs);
	sd_event_unref(context->event);
	output__close(context->log);
	close(bed.said);
}

static inline void begin(uint64_t mirror_bytes)
{
	uint32_t i;

	hosts__open();
	bed__open(mirror_bytes, 10000000);
	for (i = 0; i < HOSTS; i++)
		bed__add(i);
	for (i = 0; i < HOSTS; i++)
		bed__await(i, 1);
}

static void end(void)
{
	bed__close();
	hosts__close();
	assert_int_equal(atomic_load(&losses), 0);
}

#endif /* CONTROLLER_CHANGING_H */
