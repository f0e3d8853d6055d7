/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages about stores: /api/schemas and /api/lookup of web_pages.h. */
#ifndef CONTROLLER_WEB_PAGES_STORE_H
#define CONTROLLER_WEB_PAGES_STORE_H

#include "tools/controller/http/http_server.h"

/* @data is the struct web_site. */
void web_pages_store__schemas(void *data, const struct http_request *request,
			      struct http_answer *answer);
void web_pages_store__lookup(void *data, const struct http_request *request,
			     struct http_answer *answer);

#endif /* CONTROLLER_WEB_PAGES_STORE_H */
