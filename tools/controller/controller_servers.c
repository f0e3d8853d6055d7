// SPDX-License-Identifier: GPL-2.0-only
/* Begins, replaces and ends the servers of metrics and of the page: see controller_servers.h. */
#include "controller_servers.h"

#include <errno.h>
#include <string.h>

#include "outputs/output.h"
#include "web/web.h"

/* ---- how a server does */

static void server_state__open(struct server_state *state, const char *kind)
{
	state->kind = kind;
	pthread_mutex_init(&state->lock, NULL);
	output_error_holder__open(&state->error);
}

static void server_state__close(struct server_state *state)
{
	if (!state->kind)
		return;
	output_error_holder__close(&state->error);
	pthread_mutex_destroy(&state->lock);
	state->kind = NULL;
}

/* In any thread. */
static void server_state__fill(void *data, struct output_figures *figures)
{
	struct server_state *state = data;
	bool is_failing;
	char url[HTTP_URL_MAX];

	pthread_mutex_lock(&state->lock);
	strcpy(url, state->url);
	is_failing = state->is_failing;
	pthread_mutex_unlock(&state->lock);
	output_figures__name(figures, state->kind, *url ? url : "nowhere");
	output_figures__set(figures, OUTPUT_FAILING, is_failing);
	output_error_holder__copy(&state->error, &figures->error);
}

static void server_state__set(struct server_state *state, const char *url, bool is_failing)
{
	pthread_mutex_lock(&state->lock);
	strcpy(state->url, url);
	state->is_failing = is_failing;
	pthread_mutex_unlock(&state->lock);
}

/* ---- both servers */

static void look_at_metrics(const struct controller_servers *servers, char url[HTTP_URL_MAX])
{
	*url = '\0';
	if (servers->listener)
		http_server__url(http_listener__server(servers->listener), url);
}

static void look_at_web(const struct controller_servers *servers, char url[HTTP_URL_MAX])
{
	web__url(servers->web, url);
}

void controller_servers__open(struct controller_servers *servers, struct output_list *list,
			      struct output *log)
{
	servers->list = list;
	servers->log = log;
	server_state__open(&servers->listen_state, "listen");
	server_state__open(&servers->web_state, "web");
}

int controller_servers__begin_metrics(struct controller_servers *servers,
				      const struct http_settings *settings,
				      const struct http_listener_options *options,
				      struct dart_error *error)
{
	char url[HTTP_URL_MAX];
	int err;

	servers->options = *options;
	err = http_listener__replace(&servers->listener, settings, options, error);
	if (err)
		return err;
	servers->has_metrics = true;
	look_at_metrics(servers, url);
	server_state__set(&servers->listen_state, url, false);
	return output_list__add(servers->list, server_state__fill, &servers->listen_state);
}

int controller_servers__begin_web(struct controller_servers *servers, struct metric_output *web)
{
	char url[HTTP_URL_MAX];

	servers->web = web;
	look_at_web(servers, url);
	server_state__set(&servers->web_state, url, false);
	return output_list__add(servers->list, server_state__fill, &servers->web_state);
}

/* A server of @kind was to change. */
static void controller_servers__tell(struct controller_servers *servers,
				     struct server_state *state,
				     void (*look)(const struct controller_servers *servers,
						  char url[HTTP_URL_MAX]),
				     int err, const struct dart_error *error)
{
	char url[HTTP_URL_MAX];

	look(servers, url);
	if (err) {
		output_error_holder__set(&state->error, "settings", error->text);
		output__print(servers->log, "dart-controller: %s: %s; it stays as it was%s%s",
			      state->kind, error->text, *url ? ", at " : "", url);
	} else if (strcmp(url, state->url)) {
		output__print(servers->log, "dart-controller: %s: %s%s", state->kind,
			      *url ? "now at " : "ends: the configuration does not name it any more",
			      url);
	}
	server_state__set(state, url, err);
}

static int begins_late(const struct http_settings *settings, struct dart_error *error)
{
	if (!settings->address)
		return 0;
	return dart_error__set(error, EINVAL,
			       "there was none at the start, so it begins at the next start");
}

static int controller_servers__want_metrics(struct controller_servers *servers,
					    const struct http_settings *settings,
					    struct dart_error *error)
{
	struct http_listener *listener = servers->listener;

	if (!servers->has_metrics)
		return begins_late(settings, error);
	if (!settings->address) {
		http_listener__free(listener);
		servers->listener = NULL;
		return 0;
	}
	if (listener && http_settings__equal(http_listener__settings(listener), settings))
		return 0;
	return http_listener__replace(&servers->listener, settings, &servers->options, error);
}

static int controller_servers__want_web(struct controller_servers *servers,
					const struct http_settings *settings,
					struct dart_error *error)
{
	if (!servers->web)
		return begins_late(settings, error);
	if (settings->address)
		return web__serve(servers->web, settings, error);
	web__end_serving(servers->web);
	return 0;
}

static void look_nowhere(const struct controller_servers *servers, char url[HTTP_URL_MAX])
{
	*url = '\0';
}

bool controller_servers__want(struct controller_servers *servers,
			      const struct output_settings *settings)
{
	struct dart_error error;
	int err = controller_servers__want_metrics(servers, &settings->listen, &error);
	bool are_taken = !err;

	controller_servers__tell(servers, &servers->listen_state, look_at_metrics, err, &error);
	err = controller_servers__want_web(servers, &settings->web, &error);
	are_taken &= !err;
	controller_servers__tell(servers, &servers->web_state,
				 servers->web ? look_at_web : look_nowhere, err, &error);
	return are_taken;
}

int controller_servers__reload(struct controller_servers *servers, struct dart_error *error)
{
	struct dart_error ignored;
	int err = 0;

	if (servers->listener)
		err = http_listener__reload(servers->listener, error);
	if (servers->web)
		err = web__reload(servers->web, err ? &ignored : error) ?: err;
	return err;
}

void controller_servers__close(struct controller_servers *servers)
{
	http_listener__free(servers->listener);
	servers->listener = NULL;
	if (servers->list) {
		output_list__remove(servers->list, &servers->listen_state);
		output_list__remove(servers->list, &servers->web_state);
	}
	server_state__close(&servers->listen_state);
	server_state__close(&servers->web_state);
}
