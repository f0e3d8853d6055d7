/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The answers of the web server: the files of the page, which are the same for everybody, and
 * values as JSON, which need access (http_access.h). Requests without access get 401 (a token is
 * missing) or 403 (the request names another host).
 *
 *   /api/hosts    {"history": {"bytes", "points"}, "hosts": [{"row": [see web_stream.h],
 *                 "name", "interval": MS, "series", "past": [CPU, oldest first]}]}
 *   /api/series?target=NAME   {"state", "reason", "t": MS, "families": [{"name", "type", "help",
 *                 "unit", "series": [[name, labels, value, MS or 0]]}]}
 *   /api/history?target=NAME&from=MS&to=MS&points=N&q=QUERIES
 *                 {"plots": [see history_query.h]}, see selection.h for QUERIES
 *   /api/movers?target=NAME&seconds=S   {"movers": [see movers.h]}
 *   /api/live?target=NAME&q=QUERIES     events of a target, see web_stream.h
 *   /api/live     events of all hosts
 *   /api/schemas  {"schemas": [see key_schemas.h]}
 *   /api/lookup?target=NAME&store=STORE&schema=NAME&key=[TEXT of each field]
 *                 &policy=plurality, unique, merge or consensus&consensus=N   see lookup.h
 */
#ifndef CONTROLLER_WEB_PAGES_H
#define CONTROLLER_WEB_PAGES_H

#include "tools/controller/http/http_server.h"

#include "key_schemas.h"
#include "web_targets.h"

struct lookup_desk;

/* State that the pages share; it outlives the server. */
struct web_site {
	struct web_targets *targets;
	struct key_schemas schemas;
	struct lookup_desk *desk;
};

/*
 * Returns pages for http_server__new(), which the caller frees with free(); NULL if out of memory.
 */
struct http_page *web_pages__new(struct web_site *site, size_t *count);

#endif /* CONTROLLER_WEB_PAGES_H */
