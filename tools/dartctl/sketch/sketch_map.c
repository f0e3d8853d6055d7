// SPDX-License-Identifier: GPL-2.0-only
/* Reads a period of a sketch of dartd here or on another host, and tells what is missing. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <libdart/json.h>
#include <libdart/rdma/address.h>

#include "sketch_map.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/file.h"

/* ---- reading */

static int read_with(struct sketch_map *map, struct dart_sketch_reader *reader,
		     const struct sketch_wanted *wanted)
{
	struct dart_error error;
	int ret;

	map->geometry = *dart_sketch_reader__geometry(reader);
	ret = dart_sketch_reader__read(reader, wanted->period, &map->merge, &error);
	return ret ? fail(-ret, "cannot read sketch '%s'%s%s: %s", wanted->name,
			  wanted->from ? " of " : "", wanted->from ?: "", error.text) :
		     EXIT_SUCCESS;
}

/* The numbers that dartd says, which may be wrong. */
static int read_geometry(json_t *description, struct dart_sketch_geometry *geometry)
{
	json_int_t rows, columns_log2, period, parts;
	const char *kind;

	if (json_unpack(description, "{s:s, s:I, s:I, s:I, s:I}", "kind", &kind, "rows", &rows,
			"columns_log2", &columns_log2, "period", &period, "parts", &parts))
		return -EPROTO;
	*geometry = (struct dart_sketch_geometry){
		.parts = parts,
		.kind = dart_sketch_kind__find(kind),
		.rows = rows,
		.columns_log2 = columns_log2,
		.period = period,
	};
	return dart_sketch_geometry__check(geometry) ? -EPROTO : 0;
}

static int read_descriptor(struct sketch_map *map, const struct sketch_wanted *wanted,
			   json_t *description, int fd)
{
	struct dart_sketch_reader *reader = NULL;
	struct dart_sketch_geometry geometry;
	void *memory = NULL;
	size_t length;
	int ret, status;

	ret = read_geometry(description, &geometry);
	if (!ret)
		ret = file__map(fd, dart_sketch_geometry__length(&geometry), &memory, &length);
	if (!ret)
		ret = dart_sketch_reader__map(&geometry, memory, &reader);
	if (ret)
		status = fail(-ret, "cannot map sketch '%s': %s", wanted->name, strerror(-ret));
	else
		status = read_with(map, reader, wanted);
	dart_sketch_reader__close(reader);
	if (memory)
		munmap(memory, length);
	return status;
}

static int read_here(struct sketch_map *map, const struct options *options,
		     const struct sketch_wanted *wanted)
{
	json_t *description, *reply;
	int fd, status;

	description = client__ask(
		options, json_pack("{s:s, s:s}", "request", "sketch-open", "name", wanted->name),
		-1, "sketch", &reply, &fd);
	if (!description)
		return EXIT_FAILURE;
	status = read_descriptor(map, wanted, description, fd);
	if (fd >= 0)
		close(fd);
	json_decref(reply);
	return status;
}

static int read_there(struct sketch_map *map, const struct sketch_wanted *wanted)
{
	struct dart_sketch_reader *reader;
	struct dart_error error;
	uint16_t port;
	int ret, status;
	char *host;

	ret = dart_address__parse(wanted->from, &host, &port);
	if (ret)
		return ret == -ENOMEM ? fail__out_of_memory() :
					misuse("'%s' is not HOST or HOST:PORT", wanted->from);
	ret = dart_sketch_reader__open(host, port, wanted->name, &reader, &error);
	free(host);
	if (ret)
		return fail(-ret, "cannot read sketch '%s' of %s: %s", wanted->name, wanted->from,
			    error.text);
	status = read_with(map, reader, wanted);
	dart_sketch_reader__close(reader);
	return status;
}

int sketch_map__read(struct sketch_map *map, const struct options *options,
		     const struct sketch_wanted *wanted)
{
	*map = (struct sketch_map){};
	return wanted->from ? read_there(map, wanted) : read_here(map, options, wanted);
}

/* ---- what is there */

static uint64_t since(const struct sketch_map *map)
{
	return (uint64_t)dart_sketch_merge__summary(map->merge)->period * map->geometry.period;
}

json_t *sketch_map__to_json(const struct sketch_map *map, const struct sketch_wanted *wanted)
{
	const struct dart_sketch_summary *summary = dart_sketch_merge__summary(map->merge);
	const struct dart_sketch_holes *holes = &summary->holes;
	json_t *missing = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "empty",
				    (json_int_t)holes->empty, "older", (json_int_t)holes->older,
				    "newer", (json_int_t)holes->newer, "torn",
				    (json_int_t)holes->torn, "fewer", (json_int_t)holes->fewer,
				    "more", (json_int_t)holes->more);

	return json_pack("{s:s, s:s?, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:I,"
			 " s:o, s:o}",
			 "sketch", wanted->name, "collector", wanted->from, "kind",
			 dart_sketch_kind__name(map->geometry.kind), "period",
			 (json_int_t)summary->period, "since", (json_int_t)since(map), "seconds",
			 (json_int_t)map->geometry.period, "present", (json_int_t)summary->present,
			 "absent", (json_int_t)summary->absent, "unused",
			 (json_int_t)summary->unused, "reporters", (json_int_t)summary->reporters,
			 "strips", (json_int_t)summary->strips, "without_hole",
			 (json_int_t)summary->without_hole, "holes", missing, "saturated",
			 (json_int_t)summary->saturated, "total",
			 dart_json__unsigned(summary->total), "epsilon",
			 dart_json__unsigned(summary->epsilon));
}

void sketch_map__print_period(const struct sketch_map *map)
{
	const time_t begin = since(map);
	char text[32] = "?";
	struct tm utc;

	if (gmtime_r(&begin, &utc))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &utc);
	printf("period %u, %u s from %s on\n", dart_sketch_merge__summary(map->merge)->period,
	       map->geometry.period, text);
}

void sketch_map__print_gaps(const struct sketch_map *map)
{
	const struct dart_sketch_summary *summary = dart_sketch_merge__summary(map->merge);
	const struct dart_sketch_holes *holes = &summary->holes;

	if (summary->absent)
		printf("%u of %u sketchers did not write this period: their counts are missing\n",
		       summary->absent, summary->absent + summary->present);
	if (summary->without_hole < summary->strips)
		printf("%u of %u strips have a hole: %" PRIu64 " empty, %" PRIu64 " older, %" PRIu64
		       " newer, %" PRIu64 " torn, %" PRIu64 " of fewer reporters, %" PRIu64
		       " of more\n",
		       summary->strips - summary->without_hole, summary->strips, holes->empty,
		       holes->older, holes->newer, holes->torn, holes->fewer, holes->more);
	if (summary->saturated)
		printf("%" PRIu64 " counters are saturated, so bounds may be too low\n",
		       summary->saturated);
}
