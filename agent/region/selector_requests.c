// SPDX-License-Identifier: GPL-2.0-only
/* Requests that name sources and selectors. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "selector.h"

/* Parses "100ms", "1s" or "1min", at least @least_ms. */
static int parse_interval(const char *text, uint32_t least_ms, uint32_t *ms)
{
	static const struct {
		const char *suffix;
		uint32_t ms;
	} units[] = { { "ms", 1 }, { "s", 1000 }, { "min", 60000 } };
	unsigned long number;
	size_t i;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	number = strtoul(text, &end, 10);
	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(end, units[i].suffix))
			continue;
		if (number > DART_ZERO_RECORD_MS_MAX / units[i].ms ||
		    number * units[i].ms < least_ms)
			return -EINVAL;
		*ms = number * units[i].ms;
		return 0;
	}
	return -EINVAL;
}

int selector__parse_interval_from(uint32_t least_ms, const char *text, uint32_t *ms,
				  struct dart_error *error)
{
	if (!parse_interval(text, least_ms, ms))
		return 0;
	return dart_error__set(error, EINVAL,
			       "'%s' is not an interval from %ums to 60min, such as 1s", text,
			       least_ms);
}

int selector__parse_interval(const char *text, uint32_t *ms, struct dart_error *error)
{
	return selector__parse_interval_from(DART_ZERO_RECORD_MS_MIN, text, ms, error);
}

int selector__find_source(const char *name, const struct source **source, struct dart_error *error)
{
	*source = source__find(name);
	if (*source)
		return 0;
	return dart_error__set(error, EINVAL,
			       "there is no source '%s' (dartctl source list names them)", name);
}

int selector__unpack(struct request *request, const struct source **source,
		     struct selector_choice *choice)
{
	const char *name, *gather = NULL;
	int is_deferrable = false;
	int ret;

	*choice = (struct selector_choice){
		.fd = request->fd,
		.path = request->path,
	};
	ret = request__unpack(request, "{s:s, s?s, s?s, s?s, s?s, s?s, s?s, s?b !}", "source",
			      &name, "netns", &choice->netns, "netdev", &choice->netdev, "disk",
			      &choice->disk, "cgroup", &choice->cgroup, "filesystem",
			      &choice->filesystem, "gather", &gather, "deferrable", &is_deferrable);
	if (ret)
		return ret;
	if (is_deferrable && !gather)
		return dart_error__set(
			&request->error, EINVAL,
			"only gathering can be deferrable (say how often, as in --gather 1s)");
	choice->is_deferrable = is_deferrable;
	if (gather) {
		ret = selector__parse_interval(gather, &choice->gather_ms, &request->error);
		if (ret)
			return ret;
	}
	return selector__find_source(name, source, &request->error);
}

static int list_sources(struct request *request)
{
	const struct source *source;

	request->result = json_array();
	for (source = sources; source->name; source++)
		reply__append(&request->result,
			      json_pack("{s:s, s:s, s:b, s:b, s:s}", "name", source->name,
					"selector", selector__name(source), "follows",
					source__can_be_followed(source), "gathered_only",
					source->fields != NULL, "description",
					source->description));
	return 0;
}

const struct request_type selector_requests[] = {
	{ "source-list", "sources", list_sources, .member = "" },
	{ }
};
