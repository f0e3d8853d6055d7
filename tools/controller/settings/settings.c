// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the targets and entries to scrape. */
#include <arpa/nameser.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include <dart/control.h>
#include <libdart/rdma/address.h>

#include "settings.h"

static int compare_names(const void *one, const void *other)
{
	return strcmp(one, other);
}

static void keep_name(void *name)
{
}

int settings__add_target(struct settings *settings, const char *host,
			 uint16_t port, uint64_t interval_ns)
{
	struct target_settings *targets;
	char *name = NULL, *copy = NULL;
	void **place = NULL;
	int err = -ENOMEM;

	if (!*host || !port)
		return -EINVAL;
	if (settings->target_count == SETTINGS_TARGETS_MAX)
		return -E2BIG;
	targets = reallocarray(settings->targets, settings->target_count + 1,
			       sizeof(*targets));
	if (!targets)
		return -ENOMEM;
	settings->targets = targets;
	name = dart_address__name(host, port);
	copy = strdup(host);
	if (name && copy)
		place = tsearch(name, &settings->by_name, compare_names);
	if (place && *place != name)
		err = -EEXIST;
	if (!place || *place != name)
		goto err_free;

	targets[settings->target_count] = (struct target_settings){
		.index = settings->target_count,
		.host = copy,
		.name = name,
		.port = port,
		.transport = SETTINGS_TRANSPORT_READ,
		.interval_ns = interval_ns,
		.class = SETTINGS_CLASS_DEFAULT,
	};
	settings->target_count++;
	return 0;

err_free:
	free(name);
	free(copy);
	return err;
}

/* Whether a name or a URL is one at all: who asks finds out the rest. */
static bool is_place(enum source_kind kind, const char *place)
{
	if (kind == SOURCE_DNS_SRV)
		return *place && strlen(place) < NS_MAXDNAME &&
		       !strpbrk(place, " /:");
	if (kind == SOURCE_HTTP_SD)
		return (!strncmp(place, "http://", 7) && place[7]) ||
		       (!strncmp(place, "https://", 8) && place[8]);
	return *place;
}

const char *source_kind__expected(enum source_kind kind)
{
	static const char *const expected[] = {
		[SOURCE_FILE_SD] = "a path",
		[SOURCE_DNS_SRV] = "a name (expected as in _dartd._tcp.example.com)",
		[SOURCE_HTTP_SD] = "a URL (expected http:// or https://)",
	};

	return expected[kind];
}

struct shared_text *source_kind__name(enum source_kind kind, const char *place)
{
	struct shared_text *name = shared_text__new(place);
	const char *authority, *end, *at;

	if (!name || kind != SOURCE_HTTP_SD)
		return name;
	/* Also of what is not quite a URL. */
	authority = strstr(place, "://");
	authority = authority ? authority + 3 : place;
	end = authority + strcspn(authority, "/?#");
	at = memrchr(authority, '@', end - authority);
	if (at)
		strcpy(name->text + (authority - place), at + 1);
	return name;
}

int settings__add_source(struct settings *settings, enum source_kind kind,
			 const char *place)
{
	struct source_settings *sources;
	size_t i;

	if (!is_place(kind, place))
		return -EINVAL;
	for (i = 0; i < settings->source_count; i++) {
		if (settings->sources[i].kind == kind &&
		    !strcmp(settings->sources[i].place, place))
			return -EEXIST;
	}
	if (i == SETTINGS_SOURCES_MAX)
		return -E2BIG;
	sources = reallocarray(settings->sources, i + 1, sizeof(*sources));
	if (!sources)
		return -ENOMEM;
	settings->sources = sources;
	sources[i] = (struct source_settings){
		.kind = kind,
		.place = strdup(place),
		.defaults.class = SETTINGS_CLASS_DEFAULT,
		.defaults.transport = SETTINGS_TRANSPORT_READ,
	};
	if (!sources[i].place)
		return -ENOMEM;
	settings->source_count++;
	return 0;
}

int settings__add_entry(struct settings *settings, const char *name)
{
	char **entries, *copy;
	size_t i;

	if (!*name || strlen(name) >= DART_CONTROL_ENTRY_NAME_MAX)
		return -EINVAL;
	for (i = 0; i < settings->entry_count; i++) {
		if (!strcmp(settings->entries[i], name))
			return -EEXIST;
	}
	entries = reallocarray(settings->entries, settings->entry_count + 1,
			       sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	settings->entries = entries;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	entries[settings->entry_count++] = copy;
	return 0;
}

int settings__parse_interval(const char *text, uint64_t *interval_ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
		{ "min", 60000000000 },
	};
	uint64_t value = 0;
	const char *c = text;
	size_t i;

	for (; *c >= '0' && *c <= '9'; c++) {
		value = value * 10 + (*c - '0');
		if (value > SETTINGS_INTERVAL_MAX_NS)
			return -EINVAL;
	}
	if (c == text)
		return -EINVAL;
	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(c, units[i].name))
			continue;
		if (value > SETTINGS_INTERVAL_MAX_NS / units[i].ns ||
		    value * units[i].ns < SETTINGS_INTERVAL_MIN_NS)
			return -EINVAL;
		*interval_ns = value * units[i].ns;
		return 0;
	}
	return -EINVAL;
}

int settings__parse_flow(const char *text, enum settings_flow *flow)
{
	static const char *const names[] = {
		[SETTINGS_FLOW_CREDIT] = "credit",
		[SETTINGS_FLOW_BDP] = "bdp",
		[SETTINGS_FLOW_NONE] = "none",
	};

	for (int i = SETTINGS_FLOW_CREDIT; i <= SETTINGS_FLOW_NONE; i++) {
		if (strcmp(text, names[i]))
			continue;
		*flow = i;
		return 0;
	}
	return -EINVAL;
}

int settings__parse_flow_bytes(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMG";
	uint64_t value = 0;
	const char *c = text, *unit;

	for (; *c >= '0' && *c <= '9'; c++) {
		value = value * 10 + (*c - '0');
		if (value > SETTINGS_FLOW_BYTES_MAX)
			return -EINVAL;
	}
	if (*c) {
		unit = strchr(units, *c);
		if (!unit || c[1])
			return -EINVAL;
		/* Below 2^30 and shifted by 30 at most. */
		value <<= 10 * (unit - units + 1);
	}
	if (value < SETTINGS_FLOW_BYTES_MIN || value > SETTINGS_FLOW_BYTES_MAX)
		return -EINVAL;
	*bytes = value;
	return 0;
}

int settings__parse_io(const char *text, enum settings_io *io)
{
	static const char *const names[] = {
		[SETTINGS_IO_EVENT] = "event",
		[SETTINGS_IO_POLL] = "poll",
		[SETTINGS_IO_HYBRID] = "hybrid",
	};

	for (int i = SETTINGS_IO_EVENT; i <= SETTINGS_IO_HYBRID; i++) {
		if (strcmp(text, names[i]))
			continue;
		*io = i;
		return 0;
	}
	return -EINVAL;
}

int settings__parse_number(const char *text, unsigned int max,
			   unsigned int *number)
{
	unsigned int value = 0;
	const char *c;

	for (c = text; *c >= '0' && *c <= '9'; c++) {
		value = value * 10 + (*c - '0');
		if (value > max)
			return -EINVAL;
	}
	if (*c || !value)
		return -EINVAL;
	*number = value;
	return 0;
}

int settings__parse_workers(const char *text, unsigned int *workers)
{
	return settings__parse_number(text, SETTINGS_WORKERS_MAX, workers);
}

static int copy_target(struct settings *copy,
		       const struct target_settings *target)
{
	struct target_settings *last;
	int err;

	err = settings__add_target(copy, target->host, target->port,
				   target->interval_ns);
	if (err)
		return err;
	last = &copy->targets[copy->target_count - 1];
	last->transport = target->transport;
	last->class = target->class;
	last->entries = entry_names__hold(target->entries);
	last->labels = shared_text__hold(target->labels);
	last->source = shared_text__hold(target->source);
	return 0;
}

static int copy_source(struct settings *copy,
		       const struct source_settings *source)
{
	struct target_defaults *defaults;
	int err;

	err = settings__add_source(copy, source->kind, source->place);
	if (err)
		return err;
	copy->sources[copy->source_count - 1].refresh_ns = source->refresh_ns;
	defaults = &copy->sources[copy->source_count - 1].defaults;
	*defaults = source->defaults;
	entry_names__hold(defaults->entries);
	json_incref(defaults->labels);
	return url_settings__copy(&copy->sources[copy->source_count - 1].url, &source->url);
}

int settings__copy(struct settings *copy, const struct settings *settings)
{
	int err = 0;
	size_t i;

	*copy = *settings;
	copy->tls = (struct settings_tls){};
	copy->record = (struct settings_record){};
	copy->entries = NULL;
	copy->entry_count = 0;
	copy->targets = NULL;
	copy->target_count = 0;
	copy->by_name = NULL;
	copy->sources = NULL;
	copy->source_count = 0;
	err = settings_tls__copy(&copy->tls, &settings->tls);
	err = output_settings__copy(&copy->outputs, &settings->outputs) ?: err;
	err = settings_record__copy(&copy->record, &settings->record) ?: err;
	for (i = 0; !err && i < settings->entry_count; i++)
		err = settings__add_entry(copy, settings->entries[i]);
	for (i = 0; !err && i < settings->target_count; i++)
		err = copy_target(copy, &settings->targets[i]);
	for (i = 0; !err && i < settings->source_count; i++)
		err = copy_source(copy, &settings->sources[i]);
	return err;
}

void settings__clear(struct settings *settings)
{
	struct target_settings *target;
	struct source_settings *source;
	size_t i;

	output_settings__clear(&settings->outputs);
	tdestroy(settings->by_name, keep_name);
	for (i = 0; i < settings->target_count; i++) {
		target = &settings->targets[i];
		free(target->host);
		free(target->name);
		entry_names__release(target->entries);
		shared_text__release(target->labels);
		shared_text__release(target->source);
	}
	free(settings->targets);
	for (i = 0; i < settings->source_count; i++) {
		source = &settings->sources[i];
		free(source->place);
		url_settings__clear(&source->url);
		entry_names__release(source->defaults.entries);
		json_decref(source->defaults.labels);
	}
	free(settings->sources);
	for (i = 0; i < settings->entry_count; i++)
		free(settings->entries[i]);
	free(settings->entries);
	free(settings->record.path);
	free(settings->tls.certificate);
	free(settings->tls.key);
	free(settings->tls.authorities);
	free(settings->tls.revoked);
	memset(settings, 0, sizeof(*settings));
}
