/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page: an output that keeps the last hour of metrics in memory, and serves it to browsers,
 * live. web_pages.h lists its answers.
 */
#ifndef CONTROLLER_WEB_H
#define CONTROLLER_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

#include "tools/controller/http/http_server.h"
#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/settings/http_settings.h"

#define WEB_HISTORY_BYTES_DEFAULT ((size_t)256 << 20)
/* Next to 4794, the port of metrics. */
#define WEB_PORT_DEFAULT 4795

struct output;

struct web_settings {
	/*
	 * Without a port it listens at WEB_PORT_DEFAULT, and without an address at 127.0.0.1.
	 * Without a token or a password only this host may see values, and the address must be
	 * local.
	 */
	const struct http_settings *http;
	size_t history_bytes; /* for all targets; 0: the default */
	uint64_t interval_ns; /* interval of targets that set none; 0: the default */
	/*
	 * Values are from another time: no target is late, and the hour ends with their last one.
	 */
	bool is_replay;
};

/*
 * Serves at once.  @log gets one line with the URL of the page; it outlives the output, and may be
 * NULL.  Returns 0, or -errno with a sentence in @error.
 */
int web__new(const struct web_settings *settings, struct output *log, struct metric_output **output,
	     struct dart_error *error);
/*
 * Reads the token, the password, the certificate and the key again.  Returns 0; or -errno with a
 * sentence in @error, and files that cannot be used leave the previous values in force.
 */
int web__reload(struct metric_output *output, struct dart_error *error);
/*
 * In the control loop, or before and after it: serves as @http says from now on, or goes on if
 * nothing of it has changed.  The server before ends when the new one listens.  Returns 0; or
 * -errno with a sentence in @error, and the page is served as it was.
 */
int web__serve(struct metric_output *output, const struct http_settings *http,
	       struct dart_error *error);
/* Nobody can ask for the page until web__serve(); it keeps its history. */
void web__end_serving(struct metric_output *output);
/* The URL of the page; "" if nobody can ask for it. */
void web__url(const struct metric_output *output, char url[HTTP_URL_MAX]);
/* Returns the port at which the page listens. */
unsigned int web__port(const struct metric_output *output);

#endif /* CONTROLLER_WEB_H */
