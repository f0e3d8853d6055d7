// SPDX-License-Identifier: GPL-2.0-only
/*
 * invent_recording FILE HOSTS SERIES SCRAPES
 *
 * Records invented hosts, like a controller that scrapes them each second, but as fast as
 * possible: for measurements of programs that read recordings.  Each host has SERIES
 * counters, four in ten of which grow between two scrapes.  The same arguments make the same
 * values.
 */
#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <libdart/table/table_writer.h>

#include "tools/controller/decode/budget.h"
#include "tools/controller/decode/ring.h"
#include "tools/controller/record/recorder.h"
#include "tools/lib/dart/random.h"

#define ROWS		8
#define TABLE_ADDRESS	0x1000
#define VALUES_ADDRESS	0x10000
#define SECOND_NS	1000000000LL
/* The first scrape: a Wednesday in 2025. */
#define BEGAN_NS	(1764066600LL * SECOND_NS)
/* The recorder drops scrapes that wait for longer than a disk needs for this amount. */
#define BURST_BYTES	(16U << 20)
#define BURST_NS	100000000

struct host {
	struct target_settings settings;
	char name[32];
	struct ring *ring;
	uint64_t *values;
};

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count ?: 1, size);

	if (!memory)
		err(EXIT_FAILURE, "memory");
	return memory;
}

static struct dart_schema *make_schema(uint32_t fields)
{
	struct dart_schema *schema = dart_schema__new("invented", fields * sizeof(uint64_t));
	char name[32];
	struct dart_field field = {
		.name = name,
		.unit = "",
		.width = sizeof(uint64_t),
		.count = 1,
		.kind = DART_CONTROL_FIELD_COUNTER,
	};
	uint32_t i;

	for (i = 0; schema && i < fields; i++) {
		snprintf(name, sizeof(name), "events_%u", i);
		field.offset = i * sizeof(uint64_t);
		if (dart_schema__add(schema, &field))
			errx(EXIT_FAILURE, "a schema refuses '%s'", name);
	}
	if (!schema)
		err(EXIT_FAILURE, "a schema");
	return schema;
}

/* The bytes of the table of a host with ROWS rows of @schema. */
static uint8_t *write_table(const struct host *host,
			    const struct dart_schema *schema, size_t *length)
{
	const size_t room = 65536 + 256ULL * schema->field_count;
	uint8_t *bytes = allocate(1, room);
	struct dart_memory_region region = {
		.address = VALUES_ADDRESS,
		.length = ROWS * schema->length,
		.rkey = 1,
	};
	struct dart_range range = {
		.address = VALUES_ADDRESS,
		.stride = schema->length,
		.copies = ROWS,
		.length = schema->length,
	};
	struct dart_entry entry = {
		.name = "invented",
		.schema = schema,
		.kind = DART_CONTROL_ENTRY_MAP,
		.lifetime = DART_CONTROL_LIFETIME_DYNAMIC,
		.copies_are = DART_CONTROL_COPIES_ROW,
		.copies = ROWS,
		.ranges = &range,
		.range_count = 1,
	};
	struct dart_table table = {
		.generation = 1,
		.instance = host->settings.index + 1,
		.exposure = DART_CONTROL_EXPOSURE_EXACT,
		.cpus = 4,
		.page_size = 4096,
		.entries = &entry,
		.entry_count = 1,
		.memory_regions = &region,
		.memory_region_count = 1,
	};
	struct dart_table_writer *writer;
	int used;

	snprintf(table.node_name, sizeof(table.node_name), "host%zu", host->settings.index);
	writer = dart_table_writer__new(bytes, room);
	used = writer ? dart_table_writer__rewrite(writer, &table) : -1;
	if (used < 0)
		errx(EXIT_FAILURE, "a table cannot be written");
	dart_table_writer__free(writer);
	*length = used;
	return bytes;
}

static void host__init(struct host *host, size_t index, const struct dart_schema *schema)
{
	const struct scraper_use use = { .value_bytes = BUDGET_TEXT_BYTES };
	const struct dart_endpoint_accept accept = {
		.address = TABLE_ADDRESS,
		.length = 4096,
		.used = 4096,
	};
	const struct settings all = { };
	struct dart_table *table;
	struct scraper *scraper;
	struct dart_error error;
	size_t length;
	uint8_t *bytes;

	snprintf(host->name, sizeof(host->name), "host%zu:4792", index);
	host->settings = (struct target_settings){
		.index = index,
		.name = host->name,
		.host = host->name,
		.interval_ns = SECOND_NS,
	};
	host->values = allocate(ROWS, schema->length);
	bytes = write_table(host, schema, &length);
	if (dart_table__decode(bytes, length, &table, NULL, &error) ||
	    scraper__new(table, &all, &use, &accept, &scraper, &error))
		errx(EXIT_FAILURE, "%s", error.text);
	host->ring = ring__new(scraper);
	if (!host->ring)
		err(EXIT_FAILURE, "memory");
	host->ring->table.bytes = bytes;
	host->ring->table.length = length;
}

/* Lands its values of scrape @number. */
static void host__scrape(struct host *host, struct tap *tap, uint64_t number,
			 struct dart_random *random)
{
	const struct dart_read *read = &host->ring->scraper->reads[0];
	const uint64_t now_ns = (number + 100) * SECOND_NS;
	const struct sample sample = {
		.head = {
			.sequence = number,
			.start_ns = now_ns,
			.landed_ns = now_ns + 20000,
			.time_ns = BEGAN_NS + number * SECOND_NS +
				   host->settings.index % 1000 * 1000,
			.reads = 2,
			.bytes = read->length,
		},
		.end_ns = now_ns + 50000,
	};
	struct scrape *scrape = ring__current(host->ring);
	size_t i;

	for (i = 0; i < read->length / sizeof(*host->values); i++)
		if (dart_random__below(random, 10) < 4)
			host->values[i] += dart_random__below(random, 1000);
	memcpy((char *)host->ring->memory + read->landing, host->values, read->length);
	tap->operations->landed(tap, &host->settings, host->ring, scrape->landing, &sample);
}

static uint64_t number_of(const char *text)
{
	char *end;
	const unsigned long long number = strtoull(text, &end, 10);

	if (!number || *end || number > 1000000000)
		errx(EXIT_FAILURE, "'%s' is not a number above 0", text);
	return number;
}

static void end_log(struct output *log)
{
	struct pollfd event = { output__event_fd(log), POLLIN, 0 };

	output__end(log);
	while (!output__has_ended(log))
		poll(&event, 1, -1);
	output__close(log);
}

int main(int argc, char *argv[])
{
	const struct timespec pause = { .tv_nsec = BURST_NS };
	struct settings_record settings = { .size = SETTINGS_RECORD_SIZE_MAX };
	struct recorder *recorder;
	struct dart_random random;
	struct dart_schema *schema;
	struct dart_error error;
	struct host *hosts;
	struct output *log;
	uint64_t count, scrapes, series, burst = 0, i, number;
	struct tap *tap;
	int failed;

	if (argc != 5)
		errx(EXIT_FAILURE, "expected FILE HOSTS SERIES SCRAPES");
	settings.path = argv[1];
	count = number_of(argv[2]);
	series = number_of(argv[3]);
	scrapes = number_of(argv[4]);
	if (count > SETTINGS_TARGETS_MAX || series < ROWS || series > 100000)
		errx(EXIT_FAILURE, "at most %d hosts, of %d to 100000 series",
		     SETTINGS_TARGETS_MAX, ROWS);
	random = dart_random__of(1);
	if (output__open(STDERR_FILENO, "standard error", 65536, NULL, &log))
		err(EXIT_FAILURE, "a thread");
	if (recorder__open(&settings, log, &recorder, &error))
		errx(EXIT_FAILURE, "%s", error.text);
	tap = recorder__tap(recorder);
	schema = make_schema(series / ROWS);
	hosts = allocate(count, sizeof(*hosts));
	for (i = 0; i < count; i++) {
		host__init(&hosts[i], i, schema);
		tap->operations->added(tap, &hosts[i].settings);
	}
	for (number = 1; number <= scrapes; number++) {
		for (i = 0; i < count; i++) {
			host__scrape(&hosts[i], tap, number, &random);
			burst += ROWS * schema->length;
			if (burst < BURST_BYTES)
				continue;
			burst = 0;
			nanosleep(&pause, NULL);
		}
	}
	failed = recorder__close(recorder);
	end_log(log);
	for (i = 0; i < count; i++) {
		ring__release(hosts[i].ring);
		free(hosts[i].values);
	}
	free(hosts);
	dart_schema__free(schema);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
