// SPDX-License-Identifier: GPL-2.0-only
/* Computes again each value of a scrape of the farm. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "farm_sample.h"
#include "farm_table.h"

struct check {
	struct farm_sample *sample;
	const struct farm_shape *shape;
	uint32_t host;
	struct dart_error *error;
};

static int refuse(const struct check *check, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static int refuse(const struct check *check, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	dart_error__vset(check->error, EBADMSG, format, arguments);
	va_end(arguments);
	return -EBADMSG;
}

/* Returns a member that is an integer; UINT64_MAX if it is not. */
static uint64_t number_of(const json_t *object, const char *name)
{
	const json_t *member = json_object_get(object, name);

	return json_is_integer(member) ? (uint64_t)json_integer_value(member) : UINT64_MAX;
}

static bool is_id(const json_t *line, const char *name, uint32_t host, uint32_t epoch)
{
	const char *text = json_string_value(json_object_get(line, name));
	char expected[33];
	uint8_t id[16];
	int i;

	farm_rule__id(host, epoch, id);
	for (i = 0; i < 16; i++)
		snprintf(expected + 2 * i, 3, "%02x", id[i]);
	return text && !strcmp(text, expected);
}

/* Takes the epoch from the instance, and compares it with the boot ID. */
static int check_identity(struct check *check, const json_t *line)
{
	const char *text = json_string_value(json_object_get(line, "instance"));
	struct farm_sample *sample = check->sample;
	uint64_t instance;

	if (!text || sscanf(text, "%" SCNx64, &instance) != 1)
		return refuse(check, "it has no instance");
	sample->epoch = instance;
	if (instance != farm_rule__instance(check->host, sample->epoch))
		return refuse(check, "its instance, %s, is of another host", text);
	if (!is_id(line, "host_id", check->host, 0) ||
	    !is_id(line, "boot_id", check->host, sample->epoch))
		return refuse(check, "its host ID or boot ID is not that of epoch %u",
			      sample->epoch);
	return 0;
}

static int check_values(const struct check *check, const json_t *values, uint32_t line,
			struct dart_random *words, uint64_t update, const char *name, uint32_t copy)
{
	const uint32_t count = farm_shape__values(line);
	uint64_t value, expected;
	uint32_t i;

	if (json_array_size(values) != count)
		return refuse(check, "%s: row %u has not %u values in line %u",
			      name, copy, count, line);
	for (i = 0; i < count; i++) {
		value = json_integer_value(json_array_get(values, i));
		expected = farm_rule__next(words, update);
		if (value == expected)
			continue;
		return refuse(check,
			      "%s: value %u in line %u of row %u is %" PRIu64 ", not %" PRIu64
			      " as update %" PRIu64 " of epoch %u has it",
			      name, i, line, copy, value, expected, update, check->sample->epoch);
	}
	check->sample->values += count;
	return 0;
}

/* @row: NULL if it is missing, null if it is torn. */
static int check_row(const struct check *check, const json_t *row,
		     uint32_t entry, uint32_t copy, const char *name)
{
	struct farm_sample *sample = check->sample;
	const struct farm_row place = {
		.host = check->host,
		.epoch = sample->epoch,
		.entry = entry,
		.copy = copy,
	};
	struct dart_random words = farm_rule__words(&place);
	const uint64_t update = number_of(row, "update");
	char values[32];
	uint32_t line;
	int ret = 0;

	sample->rows++;
	if (json_is_null(row)) {
		sample->torn++;
		return 0;
	}
	if (!row)
		return refuse(check, "%s: row %u is missing", name, copy);
	if (number_of(row, "host") != check->host || number_of(row, "epoch") != sample->epoch)
		return refuse(check,
			      "%s: row %u is of host %" PRIu64
			      ", epoch %" PRIu64 ", in a scrape of epoch %u",
			      name, copy, number_of(row, "host"),
			      number_of(row, "epoch"), sample->epoch);
	for (line = 0; line < check->shape->lines && !ret; line++) {
		snprintf(values, sizeof(values), "value.%u", line);
		ret = check_values(check, json_object_get(row, values), line,
				   &words, update, name, copy);
	}
	if (!sample->update_min || update < sample->update_min)
		sample->update_min = update;
	if (update > sample->update_max)
		sample->update_max = update;
	return ret;
}

static int check_entry(const struct check *check, const json_t *values,
		       uint32_t entry, const char *name)
{
	const json_t *rows = json_object_get(values, "rows");
	const uint64_t torn = check->sample->torn;
	char number[16];
	uint32_t copy;
	int ret = 0;

	if (check->shape->form == FARM_RECORDS)
		return check_row(check, json_object_get(values, "sum"), entry, 0, name);
	for (copy = 0; copy < check->shape->copies && !ret; copy++) {
		snprintf(number, sizeof(number), "%u", copy);
		ret = check_row(check, json_object_get(rows, number), entry, copy, name);
	}
	if (!ret && check->sample->torn - torn == copy)
		ret = refuse(check, "%s: each row is torn", name);
	return ret;
}

int farm_sample__check(struct farm_sample *sample, const json_t *line,
		       const struct farm_shape *shape, uint32_t host, struct dart_error *error)
{
	struct check check = {
		.sample = sample,
		.shape = shape,
		.host = host,
		.error = error,
	};
	const json_t *entries = json_object_get(line, "entries"), *values;
	const uint32_t extra = farm_shape__extra(shape);
	char name[FARM_NAME_MAX];
	uint32_t entry;
	int ret;

	*sample = (struct farm_sample){
		.sequence = number_of(line, "sequence"),
		.start_ns = number_of(line, "start_ns"),
		.landed_ns = number_of(line, "landed_ns"),
	};
	ret = check_identity(&check, line);
	for (entry = 0; entry <= extra && !ret; entry++) {
		farm_entry__name(shape, entry, name);
		values = json_object_get(entries, name);
		if (values)
			ret = check_entry(&check, values, entry, name);
		else if (entry != extra)
			ret = refuse(&check, "it lacks the entry %s", name);
		else
			continue;
		sample->has_extra |= entry == extra;
	}
	if (!ret && json_object_size(entries) != extra + sample->has_extra)
		ret = refuse(&check, "it has %zu entries, not %u",
			     json_object_size(entries), extra);
	if (!ret && sample->torn == sample->rows)
		ret = refuse(&check, "each row is torn");
	return ret;
}
