/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page: an output that keeps the last hour of metrics in memory, and serves it to
 * browsers, live. See web_pages.h for what it answers.
 */
#ifndef CONTROLLER_WEB_H
#define CONTROLLER_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/settings/http_settings.h"

#define WEB_HISTORY_BYTES_DEFAULT ((size_t)256 << 20)
/* Beside 4794 of metrics. */
#define WEB_PORT_DEFAULT 4795

struct output;

struct web_settings {
	/*
	 * Its port is WEB_PORT_DEFAULT, and without an address it is at 127.0.0.1.  Without a
	 * token or a password only this host may see values, and the address must be local.
	 */
	const struct http_settings *http;
	size_t history_bytes; /* of all targets; 0: the default */
	uint64_t interval_ns; /* of targets without an own one; 0: the default */
	/* Values are of another time than now: none is late, and the hour is their last one. */
	bool is_replay;
};

/*
 * Serves at once.  @log, which gets one line with the address of the page, outlives the
 * output; it may be NULL; settings->http outlives it, too. Returns 0, or -errno with a sentence.
 */
int web__new(const struct web_settings *settings, struct output *log, struct metric_output **output,
	     struct dart_error *error);
/*
 * Reads the token, the password, the certificate and the key again.  Returns 0, or -errno with a
 * sentence, and what cannot be used stays as it was.
 */
int web__reload(struct metric_output *output, struct dart_error *error);
/* The port that it listens at. */
unsigned int web__port(const struct metric_output *output);

#endif /* CONTROLLER_WEB_H */
