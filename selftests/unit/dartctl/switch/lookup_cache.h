/* SPDX-License-Identifier: GPL-2.0-only */
/* A switch with its digests, and the servers of a table, in place of the real ones. */
#ifndef LOOKUP_CACHE_TEST_H
#define LOOKUP_CACHE_TEST_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/dartctl/switch/bmv2/register.h"
#include "tools/dartctl/switch/bmv2/table.h"
#include "tools/dartctl/switch/cache/cache.h"
#include "tools/dartctl/switch/cache/readers.h"
#include "tools/dartctl/switch/lookups/kind.h"
#include "tools/dartctl/switch/lookups/program.h"
#include "tools/dartctl/switch/thrift/digests.h"

#define KEY 4
#define VALUE 2
#define ROOM 4
#define KEYS 16
#define ABSENT 0 /* a value of no entry */

/* ---- a switch */

static struct {
	uint32_t count;
	struct bmv2_entry entries[ROOM];
	uint64_t packets[ROOM]; /* of each entry */
	int32_t next_handle;
	uint64_t threshold;
	uint32_t clears; /* of registers */
	bool fails; /* changes and removals */
} device;

const struct switch_kind lookup_kind;
static uint32_t program_key; /* bytes of a key in the program */

static uint32_t index_of(int32_t handle)
{
	uint32_t i;

	for (i = 0; i < device.count; i++)
		if (device.entries[i].handle == handle)
			return i;
	fail_msg("no entry has the handle %d", handle);
	return 0;
}

/* The value that the switch caches for a key, or ABSENT. */
static uint8_t cached(uint8_t key)
{
	uint32_t i;

	for (i = 0; i < device.count; i++)
		if (device.entries[i].key.bytes[KEY - 1] == key)
			return device.entries[i].values[0].bytes[VALUE - 1];
	return ABSENT;
}

int switch_program__read(struct switch_program *program, const struct switch_needs *needs,
			 struct thrift *thrift, struct dart_error *error)
{
	return 0;
}

void switch_program__free(struct switch_program *program)
{
}

int lookup_program__sizes(const struct switch_program *program,
			  struct lookup_sizes *sizes, struct dart_error *error)
{
	*sizes = (struct lookup_sizes){ program_key, VALUE, 8, 100, ROOM };
	return 0;
}

int lookup_program__check(const struct switch_program *program,
			  const struct dart_tea_tables *tables, struct dart_error *error)
{
	if (tables->geometry.key_length != program_key)
		return dart_error__set(error, EINVAL, "it has other keys");
	return 0;
}

int lookup_program__popular(const struct switch_program *program, int32_t *list,
			    struct dart_error *error)
{
	*list = 7;
	return 0;
}

void bmv2_bytes__set(struct bmv2_bytes *bytes, uint64_t number, uint32_t bits)
{
	bytes->length = bits / 8;
	bytes->bytes[0] = number >> 8;
	bytes->bytes[1] = number;
}

int bmv2_table__add(struct thrift *thrift, const char *table, const char *action,
		    struct bmv2_entry *entry, struct dart_error *error)
{
	assert_string_equal(table, LOOKUP_TABLE_CACHE);
	assert_string_equal(action, LOOKUP_ACTION_CACHE);
	assert_int_equal(entry->key.length, KEY);
	assert_int_equal(entry->values[0].length, VALUE);
	if (device.count == ROOM)
		return dart_error__set(error, EREMOTEIO, "it is full");
	assert_int_equal(cached(entry->key.bytes[KEY - 1]), ABSENT);
	entry->handle = device.next_handle++;
	device.entries[device.count] = *entry;
	device.packets[device.count++] = 0;
	return 0;
}

int bmv2_table__change(struct thrift *thrift, const char *table, const char *action,
		       const struct bmv2_entry *entry, struct dart_error *error)
{
	if (device.fails)
		return dart_error__set(error, EREMOTEIO, "it does not answer");
	device.entries[index_of(entry->handle)] = *entry;
	return 0;
}

int bmv2_table__remove(struct thrift *thrift, const char *table, int32_t handle,
		       struct dart_error *error)
{
	const uint32_t i = index_of(handle);

	if (device.fails)
		return dart_error__set(error, EREMOTEIO, "it does not answer");
	device.entries[i] = device.entries[--device.count];
	device.packets[i] = device.packets[device.count];
	return 0;
}

int bmv2_table__clear(struct thrift *thrift, const char *table, struct dart_error *error)
{
	assert_string_equal(table, LOOKUP_TABLE_CACHE);
	device.count = 0;
	return 0;
}

int bmv2_table__set_default(struct thrift *thrift, const char *table, const char *action,
			    const struct bmv2_entry *entry, struct dart_error *error)
{
	assert_string_equal(table, "tea_popular");
	device.threshold = entry->values[0].bytes[0] << 8 | entry->values[0].bytes[1];
	return 0;
}

int bmv2_register__clear(struct thrift *thrift, const char *name, struct dart_error *error)
{
	device.clears++;
	return 0;
}

int bmv2_counter__packets_of(struct thrift *thrift, const char *table, int32_t handle,
			     uint64_t *packets, struct dart_error *error)
{
	*packets = device.packets[index_of(handle)];
	return 0;
}

/* ---- its digests */

static struct {
	uint8_t samples[KEYS * KEY];
	uint32_t count; /* that wait */
	uint32_t acknowledged; /* calls */
	bool is_lost;
	int pipe[2];
} digests;

static void report(uint8_t key)
{
	uint8_t *sample = &digests.samples[digests.count++ * KEY];

	memset(sample, 0, KEY);
	sample[KEY - 1] = key;
}

int switch_digests__open(const struct switch_digests_settings *settings,
			 struct switch_digests **result, struct dart_error *error)
{
	assert_int_equal(settings->list, 7);
	assert_int_equal(settings->sample_length, program_key);
	assert_int_equal(pipe(digests.pipe), 0);
	digests.is_lost = false;
	*result = (void *)&digests;
	return 0;
}

void switch_digests__close(struct switch_digests *switch_digests)
{
	if (!switch_digests)
		return;
	close(digests.pipe[0]);
	close(digests.pipe[1]);
}

int switch_digests__descriptor(const struct switch_digests *switch_digests)
{
	return digests.pipe[0];
}

int switch_digests__next(struct switch_digests *switch_digests, const void **samples,
			 uint32_t *count, struct dart_error *error)
{
	if (digests.is_lost)
		return dart_error__set(error, ECONNRESET, "it is gone");
	if (!digests.count)
		return 0;
	*samples = digests.samples;
	*count = digests.count;
	digests.count = 0;
	return 1;
}

int switch_digests__acknowledge(struct switch_digests *switch_digests,
				struct thrift *thrift, struct dart_error *error)
{
	digests.acknowledged++;
	return 0;
}

/* ---- the table */

static uint8_t table[KEYS]; /* values by key */
static bool is_server_down;

struct readers *readers__new(void)
{
	return malloc(1);
}

void readers__free(struct readers *readers)
{
	free(readers);
}

int readers__set_tables(struct readers *readers, const struct dart_tea_tables *tables)
{
	return 0;
}

void readers__lookup(struct readers *readers, const uint8_t *keys, size_t count,
		     struct dart_tea_answer *answers, struct dart_error *error)
{
	size_t i;

	*error->text = '\0';
	if (is_server_down && count)
		dart_error__set(error, EHOSTUNREACH, "the server is down");
	for (i = 0; i < count; i++) {
		memset(answers[i].value, 0, VALUE);
		answers[i].value[VALUE - 1] = table[keys[i * KEY + KEY - 1]];
		answers[i].ret = is_server_down			       ? -EHOSTUNREACH :
				 answers[i].value[VALUE - 1] == ABSENT ? -ENOENT :
									 0;
	}
}

#endif /* LOOKUP_CACHE_TEST_H */
