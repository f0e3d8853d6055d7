// SPDX-License-Identifier: GPL-2.0-only
/* Invents hosts: see fleet_host.h. */
#include "fleet_host.h"

#include <errno.h>
#include <error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS 1000000000LL
#define HOUR_NS (3600 * SECOND_NS)
#define DAY_NS (24 * HOUR_NS)
#define LINE_WORDS 7
#define NAME_MAX_BYTES 4096

/* The same lines as in gathered records. */
struct line {
	uint32_t sequence;
	uint64_t words[LINE_WORDS];
	uint32_t last_sequence;
} __attribute__((packed, aligned(8)));

struct row {
	struct line lines[FLEET_ROW_LINES];
};

struct map_row {
	uint64_t words[FLEET_MAP_WORDS];
};

static const char *const names[FLEET_KINDS] = {
	[FLEET_GOOD] = "good",	       [FLEET_AHEAD] = "ahead",
	[FLEET_BEHIND] = "behind",     [FLEET_STEPS] = "steps",
	[FLEET_LIES] = "lies",	       [FLEET_NAMES] = "names",
	[FLEET_TORN] = "torn",	       [FLEET_NOISE] = "noise",
	[FLEET_GARBAGE] = "garbage",   [FLEET_ENDLESS] = "endless",
	[FLEET_CHANGING] = "changing", [FLEET_RESETS] = "resets",
	[FLEET_DIES] = "dies",	       [FLEET_SILENT] = "silent",
};

const char *fleet_kind__name(enum fleet_kind kind)
{
	return names[kind];
}

static int64_t nanoseconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

static void *allocate(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		error(1, ENOMEM, "a host");
	return memory;
}

/* ---- schemas */

static void add_field(struct dart_schema *schema, const char *name, uint32_t offset, uint32_t width,
		      uint32_t count, enum dart_control_field_kind kind)
{
	const struct dart_field field = {
		.name = (char *)name,
		.unit = "",
		.offset = offset,
		.width = width,
		.count = count,
		.kind = kind,
	};
	const int err = dart_schema__add(schema, &field);

	if (err)
		error(1, -err, "field %s", name);
}

static struct dart_schema *new_schema(const char *name, uint32_t length)
{
	struct dart_schema *schema = dart_schema__new(name, length);

	if (!schema)
		error(1, errno, "schema %s", name);
	return schema;
}

/* The words of a line from @first on. */
static uint32_t word_offset(uint32_t line, uint32_t first)
{
	return line * sizeof(struct line) + offsetof(struct line, words) + first * sizeof(uint64_t);
}

static struct dart_schema *make_row_schema(void)
{
	static const struct {
		const char *name;
		enum dart_control_field_kind kind;
	} head[] = {
		{ "time", DART_CONTROL_FIELD_TIME },
		{ "host", DART_CONTROL_FIELD_GAUGE },
		{ "epoch", DART_CONTROL_FIELD_GAUGE },
		{ "update", DART_CONTROL_FIELD_COUNTER },
	};
	struct dart_schema *schema = new_schema("fleet_row", sizeof(struct row));
	const uint32_t sequence = sizeof(uint32_t), word = sizeof(uint64_t);
	uint32_t i;

	add_field(schema, "sequence.0", 0, sequence, 1, DART_CONTROL_FIELD_SEQUENCE);
	for (i = 0; i < 4; i++)
		add_field(schema, head[i].name, word_offset(0, i), word, 1, head[i].kind);
	add_field(schema, "low", word_offset(0, 4), word, LINE_WORDS - 4,
		  DART_CONTROL_FIELD_COUNTER);
	add_field(schema, "sequence.1", offsetof(struct line, last_sequence),
		  sequence, 1, DART_CONTROL_FIELD_SEQUENCE);
	add_field(schema, "sequence.2", sizeof(struct line), sequence, 1,
		  DART_CONTROL_FIELD_SEQUENCE);
	add_field(schema, "high", word_offset(1, 0), word, LINE_WORDS, DART_CONTROL_FIELD_COUNTER);
	add_field(schema, "sequence.3", sizeof(struct line) + offsetof(struct line, last_sequence),
		  sequence, 1, DART_CONTROL_FIELD_SEQUENCE);
	return schema;
}

static struct dart_schema *make_map_schema(void)
{
	struct dart_schema *schema = new_schema("fleet_map", sizeof(struct map_row));

	add_field(schema, "calls", 0, sizeof(uint64_t), FLEET_MAP_WORDS,
		  DART_CONTROL_FIELD_COUNTER);
	return schema;
}

/* The schema of an entry with the name of a kernel source, but other values. */
static struct dart_schema *make_foreign_schema(void)
{
	struct dart_schema *schema = new_schema("foreign", sizeof(struct map_row));

	add_field(schema, "user", 0, sizeof(uint64_t), 1, DART_CONTROL_FIELD_GAUGE);
	add_field(schema, "a=b/c[d]~e", sizeof(uint64_t), sizeof(uint64_t), FLEET_MAP_WORDS - 1,
		  DART_CONTROL_FIELD_COUNTER);
	return schema;
}

/* ---- tables */

/* The objects of a table. */
struct content {
	struct dart_schema *row, *map, *foreign;
	struct dart_memory_region region;
	struct dart_range ranges[FLEET_ENTRIES_MAX];
	struct dart_entry entries[FLEET_ENTRIES_MAX];
	char names[FLEET_ENTRIES_MAX][NAME_MAX_BYTES];
};

static void add_entry(struct fleet_host *host, struct content *content,
		      const char *name, const struct dart_schema *schema,
		      uint32_t copies, enum dart_control_copies copies_are)
{
	const uint32_t place = host->entry_count++;
	const uint32_t offset = host->offsets[place];

	host->offsets[place + 1] = offset + copies * schema->length;
	snprintf(content->names[place], NAME_MAX_BYTES, "%s", name);
	content->ranges[place] = (struct dart_range){
		.address = content->region.address + offset,
		.stride = schema->length,
		.copies = copies,
		.length = schema->length,
	};
	content->entries[place] = (struct dart_entry){
		.name = content->names[place],
		.schema = schema,
		.kind = copies_are == DART_CONTROL_COPIES_SUM ? DART_CONTROL_ENTRY_SOURCE :
								DART_CONTROL_ENTRY_MAP,
		.lifetime = DART_CONTROL_LIFETIME_DYNAMIC,
		.copies_are = copies_are,
		.copies = copies,
		.ranges = &content->ranges[place],
		.range_count = 1,
		.since = place < 2 ? 1 : 0,
	};
}

static void add_foreign_names(struct fleet_host *host, struct content *content)
{
	char name[NAME_MAX_BYTES];
	size_t length = 0;

	add_entry(host, content, "fleet:odd@%ff%0a%22%5c%00%7f=[x]~..",
		  content->map, 1, DART_CONTROL_COPIES_ROW);
	add_entry(host, content, "fleet.twin", content->map, 1,
		  DART_CONTROL_COPIES_ROW);
	add_entry(host, content, "fleet-twin", content->map, 1,
		  DART_CONTROL_COPIES_ROW);
	add_entry(host, content, "cpustat", content->foreign, 1,
		  DART_CONTROL_COPIES_ROW);
	length = snprintf(name, sizeof(name), "fleet:long@");
	while (length + 10 < 3000)
		length += snprintf(name + length, sizeof(name) - length, "%%e2%%82%%ac");
	add_entry(host, content, name, content->map, 1, DART_CONTROL_COPIES_ROW);
}

static void describe(struct fleet_host *host, struct content *content)
{
	char name[32];

	host->entry_count = 0;
	content->region.address = 1 << 20;
	content->region.length = FLEET_TABLE_MAX;
	if (host->interval_ms % 1000)
		snprintf(name, sizeof(name), "fleet:row+%ums", host->interval_ms);
	else
		snprintf(name, sizeof(name), "fleet:row+%us", host->interval_ms / 1000);
	add_entry(host, content, name, content->row, 1, DART_CONTROL_COPIES_SUM);
	add_entry(host, content, "fleet:map", content->map, FLEET_MAP_ROWS,
		  DART_CONTROL_COPIES_ROW);
	if (host->kind == FLEET_NAMES)
		add_foreign_names(host, content);
	if (host->kind == FLEET_CHANGING) {
		snprintf(name, sizeof(name), "fleet:guest@%u", host->guest);
		add_entry(host, content, name, content->map, 1, DART_CONTROL_COPIES_ROW);
	}
}

uint64_t fleet_host__instance(const struct fleet_host *host)
{
	return (uint64_t)(host->index + 1) << 32 | host->epoch;
}

static void publish(struct fleet_host *host)
{
	struct content *content = allocate(sizeof(*content));
	struct dart_table table = {
		.generation = ++host->generation,
		.instance = fleet_host__instance(host),
		.clock_offset_ns = nanoseconds(CLOCK_REALTIME) -
				   nanoseconds(CLOCK_BOOTTIME) + host->wrong_ns,
		.exposure = DART_CONTROL_EXPOSURE_EXACT,
		.cpus = 1,
		.page_size = 4096,
		.lease_ms = 60000,
		.memory_regions = &content->region,
		.memory_region_count = 1,
		.entries = content->entries,
	};
	int length;

	content->row = make_row_schema();
	content->map = make_map_schema();
	content->foreign = make_foreign_schema();
	describe(host, content);
	table.entry_count = host->entry_count;
	memcpy(table.host_id, &host->index, sizeof(host->index));
	memcpy(table.boot_id, &table.instance, sizeof(table.instance));
	snprintf(table.node_name, sizeof(table.node_name),
		 host->kind == FLEET_NAMES ? "\"} 1\\n{%u\\" : "fleet-%u", host->index);
	length = dart_table_writer__rewrite(host->writer, &table);
	if (length < 0)
		error(1, -length, "the table of host %u", host->index);
	host->used = length;
	dart_schema__free(content->row);
	dart_schema__free(content->map);
	dart_schema__free(content->foreign);
	free(content);
}

/* ---- hosts */

void fleet_host__open(struct fleet_host *host, uint32_t index,
		      enum fleet_kind kind, uint64_t seed, uint32_t interval_ms)
{
	*host = (struct fleet_host){
		.index = index,
		.kind = kind,
		.interval_ms = interval_ms,
		.random = dart_random__of(seed ^ (index + 1) * UINT64_C(0x9e3779b97f4a7c15)),
		.epoch = 1,
		.wrong_ns = kind == FLEET_AHEAD	 ? 2 * DAY_NS :
			    kind == FLEET_BEHIND ? -2 * HOUR_NS :
						   0,
		.memory = allocate(FLEET_TABLE_MAX),
		.values = allocate(FLEET_TABLE_MAX),
	};
	host->writer = dart_table_writer__new(host->memory, FLEET_TABLE_MAX);
	if (!host->writer)
		error(1, ENOMEM, "a host");
	publish(host);
}

void fleet_host__close(struct fleet_host *host)
{
	dart_table_writer__free(host->writer);
	free(host->memory);
	free(host->values);
}

int64_t fleet_host__now(const struct fleet_host *host)
{
	return nanoseconds(CLOCK_REALTIME) + host->wrong_ns;
}

bool fleet_host__chance(struct fleet_host *host, uint32_t times)
{
	return !dart_random__below(&host->random, times);
}

bool fleet_host__live(struct fleet_host *host)
{
	switch (host->kind) {
	case FLEET_STEPS:
		if (!fleet_host__chance(host, 3))
			return false;
		host->wrong_ns =
			(int64_t)dart_random__below(&host->random, 6 * DAY_NS) - 3 * DAY_NS;
		break;
	case FLEET_CHANGING:
		host->guest++;
		break;
	case FLEET_RESETS:
		if (!fleet_host__chance(host, 5))
			return false;
		host->epoch++;
		host->update = 0;
		host->generation = 0;
		break;
	default:
		return false;
	}
	publish(host);
	return true;
}

/* When the row was written, as the host says. */
static uint64_t row_time(struct fleet_host *host)
{
	const uint64_t now = nanoseconds(CLOCK_BOOTTIME);

	host->is_row_odd = host->kind == FLEET_TORN;
	if (host->kind != FLEET_LIES || fleet_host__chance(host, 3))
		return now;
	host->is_row_odd = true;
	switch (dart_random__below(&host->random, 7)) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
		return UINT64_MAX;
	case 3:
		return INT64_MAX;
	case 4:
		return now + DAY_NS;
	case 5:
		return now - HOUR_NS;
	default:
		return dart_random__next(&host->random);
	}
}

static uint64_t value_of(const struct fleet_host *host, uint32_t entry,
			 uint32_t copy, uint32_t word)
{
	return host->index * UINT64_C(1000003) + entry * 100003 + copy * 10007 + word * 1009 +
	       host->epoch * UINT64_C(37) + host->update * (word + 1);
}

static void write_row(struct fleet_host *host)
{
	const uint32_t sequence = 2 * host->update + (host->kind == FLEET_TORN);
	uint64_t words[FLEET_ROW_LINES * LINE_WORDS] = {
		row_time(host),
		host->index,
		host->epoch,
		host->update,
	};
	struct row *row = (struct row *)host->values;
	uint32_t i;

	for (i = 0; i < FLEET_ROW_VALUES; i++)
		words[4 + i] = value_of(host, 0, 0, i);
	for (i = 0; i < FLEET_ROW_LINES; i++) {
		row->lines[i].sequence = row->lines[i].last_sequence = sequence;
		memcpy(row->lines[i].words, words + i * LINE_WORDS, sizeof(row->lines[i].words));
	}
}

void fleet_host__write(struct fleet_host *host)
{
	uint32_t entry, copy, copies, word;
	uint64_t *words;

	host->update++;
	write_row(host);
	for (entry = 1; entry < host->entry_count; entry++) {
		words = (uint64_t *)(host->values + host->offsets[entry]);
		copies = (host->offsets[entry + 1] - host->offsets[entry]) / sizeof(struct map_row);
		for (copy = 0; copy < copies; copy++)
			for (word = 0; word < FLEET_MAP_WORDS; word++)
				*words++ = value_of(host, entry, copy, word);
	}
}
