// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers of a switch over Thrift: its tables for reports or for lookups, or its program.  The
 * bytes come from memory: this file defines the functions of wire.c.
 */
#include <errno.h>

#include "fuzz.h"
#include "tools/dartctl/switch/engine/live.h"
#include "tools/dartctl/switch/lookups/kind.h"
#include "tools/dartctl/switch/lookups/state.h"
#include "tools/dartctl/switch/reports/kind.h"
#include "tools/dartctl/switch/reports/state.h"
#include "tools/dartctl/switch/thrift/wire.h"

static const uint8_t *answers;
static size_t answers_left;

int thrift_wire__connect(struct thrift_wire *wire, const char *name)
{
	wire->ret = 0;
	return 0;
}

void thrift_wire__close(struct thrift_wire *wire)
{
}

void thrift_wire__put(struct thrift_wire *wire, const void *bytes, uint32_t length)
{
}

void thrift_wire__send(struct thrift_wire *wire)
{
	wire->answer_left = THRIFT_WIRE_ANSWER_MAX;
}

void thrift_wire__get(struct thrift_wire *wire, void *bytes, uint32_t length)
{
	if (!wire->ret && length > answers_left)
		thrift_wire__fail(wire, ECONNRESET, "it has disconnected");
	if (wire->ret) {
		memset(bytes, 0, length);
		return;
	}
	memcpy(bytes, answers, length);
	answers += length;
	answers_left -= length;
	wire->answer_left -= length;
}

static int read_program(struct thrift *thrift, const struct switch_kind *kind,
			struct dart_error *error)
{
	struct switch_program program;
	struct lookup_sizes sizes;
	int32_t list;
	int ret;

	ret = switch_program__read(&program, &kind->needs, thrift, error);
	if (ret)
		return ret;
	if (kind == &lookup_kind)
		ret = lookup_program__sizes(&program, &sizes, error) ?:
		      lookup_program__popular(&program, &list, error);
	switch_program__free(&program);
	return ret;
}

static int read_reports(struct thrift *thrift, struct dart_error *error)
{
	const struct report_wish wish = {
		.collectors.count = 1,
		.ports = { 3 },
	};
	void *state = switch_state__new(&report_kind);
	int ret;

	require(state);
	ret = switch_state__read(&report_kind, thrift, &wish, state, error);
	switch_state__free(&report_kind, state);
	return ret;
}

static int read_lookups(struct thrift *thrift, struct dart_error *error)
{
	const struct lookup_wish wish = {
		.tables.server_count = 1,
		.ports = { 3 },
	};
	struct lookup_state *state = switch_state__new(&lookup_kind);
	int ret;

	require(state);
	state->sizes = (struct lookup_sizes){ 13, 7, 8, 100, 100 };
	ret = switch_state__read(&lookup_kind, thrift, &wish, state, error);
	switch_state__free(&lookup_kind, state);
	return ret;
}

/* The first byte selects the kind of the answer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dart_error error = {};
	struct thrift *thrift;
	int ret;

	if (!size)
		return 0;
	answers = data + 1;
	answers_left = size - 1;
	require(!thrift__connect("switch:9090", &thrift, &error));
	switch (*data & 3) {
	case 0:
		ret = read_reports(thrift, &error);
		break;
	case 2:
		ret = read_lookups(thrift, &error);
		break;
	case 1:
		ret = read_program(thrift, &report_kind, &error);
		break;
	default:
		ret = read_program(thrift, &lookup_kind, &error);
		break;
	}
	if (ret)
		require_sentence(&error);
	thrift__close(thrift);
	return 0;
}
