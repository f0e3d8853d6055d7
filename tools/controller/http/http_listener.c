// SPDX-License-Identifier: GPL-2.0-only
/* Opens and replaces HTTP servers: see http_listener.h. */
#include "http_listener.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "http_access.h"
#include "tools/controller/base/http_address.h"
#include "tools/controller/settings/http_settings.h"

struct http_listener {
	struct http_settings settings;
	struct http_access access;
	char *address; /* with a port */
	struct http_server *server;
};

/* Without an address, the default one; an address that is invalid stays so. */
static int complete_address(struct http_listener *listener, unsigned int port)
{
	const char *address = listener->settings.address ?: HTTP_ADDRESS_DEFAULT;
	int ret;

	if (port && http_address__is_valid(address) && !http_address__has_port(address))
		ret = asprintf(&listener->address, "%s:%u", address, port);
	else
		ret = asprintf(&listener->address, "%s", address);
	if (ret < 0)
		listener->address = NULL;
	return ret < 0 ? -ENOMEM : 0;
}

static int http_listener__open(struct http_listener *listener, const struct http_settings *settings,
			       const struct http_listener_options *options,
			       struct http_server *before, struct dart_error *error)
{
	struct http_server_options server = {
		.pages = options->pages,
		.page_count = options->page_count,
		.access = &listener->access,
		.pages_decide = options->pages_decide,
		.threads = options->threads,
		.streams = options->streams,
		.remedy = options->remedy,
		.before = before,
	};
	int ret;

	if (http_settings__copy(&listener->settings, settings) ||
	    complete_address(listener, options->port))
		return dart_error__no_memory(error);
	ret = http_access__load(&listener->access, &listener->settings, error);
	if (ret)
		return ret;
	server.address = listener->address;
	server.certificate = listener->settings.certificate;
	server.key = listener->settings.key;
	return http_server__new(&server, &listener->server, error);
}

int http_listener__replace(struct http_listener **listenerp, const struct http_settings *settings,
			   const struct http_listener_options *options, struct dart_error *error)
{
	struct http_server *before = *listenerp ? (*listenerp)->server : NULL;
	struct http_listener *listener = calloc(1, sizeof(*listener));
	int ret;

	if (!listener)
		return dart_error__no_memory(error);
	ret = http_listener__open(listener, settings, options, before, error);
	if (ret) {
		http_listener__free(listener);
		return ret;
	}
	http_listener__free(*listenerp);
	*listenerp = listener;
	return 0;
}

int http_listener__reload(struct http_listener *listener, struct dart_error *error)
{
	return http_access__reload(&listener->access, &listener->settings, error) ?:
		       http_server__reload(listener->server, error);
}

const struct http_settings *http_listener__settings(const struct http_listener *listener)
{
	return &listener->settings;
}

const struct http_server *http_listener__server(const struct http_listener *listener)
{
	return listener->server;
}

void http_listener__free(struct http_listener *listener)
{
	if (!listener)
		return;
	http_server__free(listener->server);
	http_access__clear(&listener->access);
	http_settings__clear(&listener->settings);
	free(listener->address);
	free(listener);
}
