/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages with values of one target: /api/series, /api/history and /api/movers of web_pages.h. */
#ifndef CONTROLLER_WEB_PAGES_TARGET_H
#define CONTROLLER_WEB_PAGES_TARGET_H

#include "tools/controller/http/http_server.h"

/* @data is the struct web_site. */
void web_pages_target__series(void *data, const struct http_request *request,
			      struct http_answer *answer);
void web_pages_target__history(void *data, const struct http_request *request,
			       struct http_answer *answer);
void web_pages_target__movers(void *data, const struct http_request *request,
			      struct http_answer *answer);

#endif /* CONTROLLER_WEB_PAGES_TARGET_H */
