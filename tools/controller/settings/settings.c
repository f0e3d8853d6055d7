// SPDX-License-Identifier: GPL-2.0-only
/* Targets, sources and entries of settings, and the checks of transports: see settings.h. */
#include <arpa/nameser.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dart/control.h>
#include <dart/rpc.h>
#include <libdart/rdma/address.h>
#include <libdart/tls_places.h>

#include "labels.h"
#include "settings.h"

static int compare_names(const void *one, const void *other)
{
	return strcmp(one, other);
}

/* Makes room for one more target.  The room doubles: a configuration file names thousands. */
static int make_room(struct settings *settings)
{
	const size_t count = settings->target_count;
	struct target_settings *targets;

	if (count & (count - 1))
		return 0;
	targets = reallocarray(settings->targets, count ? 2 * count : 1, sizeof(*targets));
	if (!targets)
		return -ENOMEM;
	settings->targets = targets;
	return 0;
}

int settings__add_target(struct settings *settings, const char *host,
			 uint16_t port, uint64_t interval_ns)
{
	char *name = NULL, *copy = NULL;
	void **place = NULL;
	int err = -ENOMEM;

	if (!*host || !port)
		return -EINVAL;
	if (settings->target_count == SETTINGS_TARGETS_MAX)
		return -E2BIG;
	if (make_room(settings))
		return -ENOMEM;
	name = dart_address__name(host, port);
	copy = strdup(host);
	if (name && copy)
		place = tsearch(name, &settings->by_name, compare_names);
	if (place && *place != name)
		err = -EEXIST;
	if (!place || *place != name)
		goto err_free;

	settings->targets[settings->target_count] = (struct target_settings){
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

/* Only asking a source shows whether a place that looks right is right. */
static bool is_place(enum source_kind kind, const char *place)
{
	if (kind == SOURCE_DNS_SRV)
		return *place && strlen(place) < NS_MAXDNAME && !strpbrk(place, " /:");
	if (kind == SOURCE_HTTP_SD)
		return (!strncmp(place, "http://", 7) && place[7]) ||
		       (!strncmp(place, "https://", 8) && place[8]);
	return *place;
}

struct shared_text *source_kind__name(enum source_kind kind, const char *place)
{
	struct shared_text *name = shared_text__new(place);
	const char *authority, *end, *at;

	if (!name || kind != SOURCE_HTTP_SD)
		return name;
	/* A place that is not quite a URL may have a password, too. */
	authority = strstr(place, "://");
	authority = authority ? authority + 3 : place;
	end = authority + strcspn(authority, "/?#");
	at = memrchr(authority, '@', end - authority);
	if (at)
		strcpy(name->text + (authority - place), at + 1);
	return name;
}

int settings__add_source(struct settings *settings, enum source_kind kind, const char *place)
{
	struct source_settings *sources;
	size_t i;

	if (!is_place(kind, place))
		return -EINVAL;
	for (i = 0; i < settings->source_count; i++) {
		if (settings->sources[i].kind == kind && !strcmp(settings->sources[i].place, place))
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

int settings__name_source(struct settings *settings, enum source_kind kind, const char *place,
			  struct dart_error *error)
{
	static const char *const expected[] = {
		[SOURCE_FILE_SD] = "a path",
		[SOURCE_DNS_SRV] = "a name (expected as in _dartd._tcp.example.com)",
		[SOURCE_HTTP_SD] = "a URL (expected http:// or https://)",
	};
	int err = settings__add_source(settings, kind, place);
	struct shared_text *name = source_kind__name(kind, place);

	if (err == -ENOMEM || !name)
		dart_error__no_memory(error);
	else if (err == -EINVAL)
		dart_error__set(error, EINVAL, "'%s' is not %s", name->text, expected[kind]);
	else if (err == -EEXIST)
		dart_error__set(error, EINVAL, "source '%s' is named twice", name->text);
	else if (err)
		dart_error__set(error, EINVAL, "there are more than %d sources",
				SETTINGS_SOURCES_MAX);
	shared_text__release(name);
	return !err || err == -ENOMEM ? err : -EINVAL;
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
	entries = reallocarray(settings->entries, settings->entry_count + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	settings->entries = entries;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	entries[settings->entry_count++] = copy;
	return 0;
}

const char *settings__transport_name(enum settings_transport transport)
{
	static const char *const names[] = {
		[SETTINGS_TRANSPORT_READ] = "read",
		[SETTINGS_TRANSPORT_RPC] = "rpc",
		[SETTINGS_TRANSPORT_TCP] = "tcp",
	};

	return names[transport];
}

uint16_t settings__default_port(enum settings_transport transport)
{
	return transport == SETTINGS_TRANSPORT_TCP ? DART_RPC_TCP_PORT : DART_CONTROL_PORT;
}

int settings__parse_agent(const char *text, char **host, uint16_t *port)
{
	const size_t brackets = *text == '[' ? 2 : 0;
	int err;

	err = dart_address__parse(text, host, port);
	if (!err && strlen(text) == strlen(*host) + brackets)
		*port = 0;
	return err;
}

static bool settings_tls__is_set(const struct settings_tls *tls)
{
	return tls->certificate && tls->key && tls->authorities;
}

int settings__check_tls(const struct settings *settings, struct dart_error *error)
{
	const struct settings_tls *tls = &settings->tls;
	const struct source_settings *source;
	struct shared_text *name;
	size_t i;

	if (settings_tls__is_set(tls))
		return 0;
	if (tls->certificate || tls->key || tls->authorities || tls->revoked)
		return dart_error__set(error, EINVAL,
				       "TLS needs a certificate, a key and authorities, but has no %s",
				       !tls->certificate ? "certificate" :
				       !tls->key	 ? "key" :
							   "authorities");
	if (!access(DART_TLS_CONTROLLER_KEY, R_OK))
		return 0;
	for (i = 0; i < settings->target_count; i++) {
		if (settings->targets[i].transport == SETTINGS_TRANSPORT_TCP)
			return dart_error__set(error, EINVAL, "agent '%s': " SETTINGS_TCP_NEEDS_TLS,
					       settings->targets[i].name);
	}
	for (i = 0; i < settings->source_count; i++) {
		source = &settings->sources[i];
		if (source->defaults.transport != SETTINGS_TRANSPORT_TCP)
			continue;
		/* Without the password of a URL. */
		name = source_kind__name(source->kind, source->place);
		dart_error__set(error, EINVAL, "source '%s': " SETTINGS_TCP_NEEDS_TLS,
				name ? name->text : "?");
		shared_text__release(name);
		return -EINVAL;
	}
	return 0;
}

/* Adds the label to those of a target, which come from a configuration file or are NULL. */
static int label_target(struct target_settings *target, const json_t *replica,
			struct dart_error *error)
{
	json_t *own = target->labels ? json_loads(target->labels->text, 0, NULL) : NULL;
	struct shared_text *all;
	int ret;

	if (target->labels && !own)
		return dart_error__no_memory(error);
	ret = labels__text(own, replica, &all, error);
	json_decref(own);
	if (ret)
		return ret;
	shared_text__release(target->labels);
	target->labels = all;
	return 0;
}

/* Adds the label to those that targets of a source have by default. */
static int label_source(struct source_settings *source, const json_t *replica,
			struct dart_error *error)
{
	json_t *all = json_copy((json_t *)replica);

	if (!all || (source->defaults.labels && json_object_update(all, source->defaults.labels))) {
		json_decref(all);
		return dart_error__no_memory(error);
	}
	json_decref(source->defaults.labels);
	source->defaults.labels = all;
	return 0;
}

int settings__label_replica(struct settings *settings, struct dart_error *error)
{
	json_t *replica;
	size_t i;
	int ret;

	if (!settings->replica)
		return 0;
	replica = json_object();
	if (!replica)
		return dart_error__no_memory(error);
	ret = labels__add(replica, "replica", settings->replica, error);
	for (i = 0; !ret && i < settings->target_count; i++)
		ret = label_target(&settings->targets[i], replica, error);
	for (i = 0; !ret && i < settings->source_count; i++)
		ret = label_source(&settings->sources[i], replica, error);
	json_decref(replica);
	return ret;
}

struct settings_record settings_record__complete(const struct settings_record *record)
{
	return (struct settings_record){
		.path = record->path,
		.size = record->size ?: SETTINGS_RECORD_SIZE_DEFAULT,
		.files = record->files ?: 1,
	};
}
