/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The HTTP servers of a controller: of metrics (listen) and of the page (web).  When the
 * configuration is read again, changed settings are those of a successor, which listens before the
 * server that it replaces ends; a server that is not configured any more ends, and can come back
 * later.  A server that did not run since the start begins at the next start, because its pages
 * know only the samples that they were given.
 *
 * All functions are called in the control loop, or before and after it.
 */
#ifndef CONTROLLER_CONTROLLER_SERVERS_H
#define CONTROLLER_CONTROLLER_SERVERS_H

#include <libdart/error.h>

#include "http/http_listener.h"
#include "metrics/metric/metric.h"
#include "outputs/output_list.h"
#include "settings/output_settings.h"

struct output;

/* A server as others see it. */
struct server_state {
	const char *kind; /* "listen" or "web" */
	pthread_mutex_t lock; /* of the next two members */
	char url[HTTP_URL_MAX]; /* "": it does not listen */
	bool is_failing; /* the last settings could not be used */
	struct output_error_holder error;
};

struct controller_servers {
	struct output_list *list;
	struct output *log;
	struct http_listener_options options; /* of the metrics */
	struct http_listener *listener; /* of the metrics; NULL: none */
	struct metric_output *web; /* NULL: no page since the start */
	struct server_state listen_state, web_state;
	bool has_metrics; /* there was a server of metrics at the start */
};

/* Zeroed before; @list and @log outlive it.  controller_servers__close() in any case. */
void controller_servers__open(struct controller_servers *servers, struct output_list *list,
			      struct output *log);
/*
 * Serve metrics, with @options, and the page, which serves already and outlives the servers, from
 * the start.  Return 0 or -errno, with a sentence in @error if errno does not say enough.
 */
int controller_servers__begin_metrics(struct controller_servers *servers,
				      const struct http_settings *settings,
				      const struct http_listener_options *options,
				      struct dart_error *error);
int controller_servers__begin_web(struct controller_servers *servers, struct metric_output *web);
/*
 * From now on both serve as @settings say.  A server whose settings cannot be used stays as it is:
 * the log says why, and so does the status until others are used.  Returns true if both do.
 */
bool controller_servers__want(struct controller_servers *servers,
			      const struct output_settings *settings);
/*
 * Reads the files of both again.  Returns 0; or -errno with a sentence about the first that failed.
 */
int controller_servers__reload(struct controller_servers *servers, struct dart_error *error);
/* Ends the server of metrics; nobody asks for figures any more. */
void controller_servers__close(struct controller_servers *servers);

#endif /* CONTROLLER_CONTROLLER_SERVERS_H */
