// SPDX-License-Identifier: GPL-2.0-only
/* Settings of transports: kinds, ports, certificates. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <dart/control.h>
#include <dart/rpc.h>
#include <libdart/rdma/address.h>
#include <libdart/tls_places.h>

#include "settings.h"

static const char *const names[] = {
	[SETTINGS_TRANSPORT_READ] = "read",
	[SETTINGS_TRANSPORT_RPC] = "rpc",
	[SETTINGS_TRANSPORT_TCP] = "tcp",
};

int settings__parse_transport(const char *text,
			      enum settings_transport *transport)
{
	for (int i = SETTINGS_TRANSPORT_READ; i <= SETTINGS_TRANSPORT_TCP;
	     i++) {
		if (strcmp(text, names[i]))
			continue;
		*transport = i;
		return 0;
	}
	return -EINVAL;
}

const char *settings__transport_name(enum settings_transport transport)
{
	return names[transport];
}

uint16_t settings__default_port(enum settings_transport transport)
{
	return transport == SETTINGS_TRANSPORT_TCP ? DART_RPC_TCP_PORT :
						     DART_CONTROL_PORT;
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

/* What is missing stays so. */
static int copy_path(char **copy, const char *path)
{
	*copy = path ? strdup(path) : NULL;
	return path && !*copy ? -ENOMEM : 0;
}

int settings_tls__copy(struct settings_tls *copy,
		       const struct settings_tls *tls)
{
	return copy_path(&copy->certificate, tls->certificate) ?:
	       copy_path(&copy->key, tls->key)		       ?:
	       copy_path(&copy->authorities, tls->authorities) ?:
	       copy_path(&copy->revoked, tls->revoked);
}

static bool is_same_path(const char *one, const char *other)
{
	return one && other ? !strcmp(one, other) : one == other;
}

bool settings_tls__equal(const struct settings_tls *one,
			 const struct settings_tls *other)
{
	return is_same_path(one->certificate, other->certificate) &&
	       is_same_path(one->key, other->key) &&
	       is_same_path(one->authorities, other->authorities) &&
	       is_same_path(one->revoked, other->revoked);
}

static bool settings_tls__is_set(const struct settings_tls *tls)
{
	return tls->certificate && tls->key && tls->authorities;
}

int settings__check_tls(const struct settings *settings,
			struct dart_error *error)
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
			return dart_error__set(error, EINVAL,
					       "agent '%s': " SETTINGS_TCP_NEEDS_TLS,
					       settings->targets[i].name);
	}
	for (i = 0; i < settings->source_count; i++) {
		source = &settings->sources[i];
		if (source->defaults.transport != SETTINGS_TRANSPORT_TCP)
			continue;
		/* Without the password of a URL. */
		name = source_kind__name(source->kind, source->place);
		dart_error__set(error, EINVAL,
				"source '%s': " SETTINGS_TCP_NEEDS_TLS,
				name ? name->text : "?");
		shared_text__release(name);
		return -EINVAL;
	}
	return 0;
}
