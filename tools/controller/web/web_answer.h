/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by all answers of the web server: headers, statuses, access, arguments. */
#ifndef CONTROLLER_WEB_ANSWER_H
#define CONTROLLER_WEB_ANSWER_H

#include "json_text.h"
#include "web_pages.h"

/* Status codes of RFC 9110, section 15. */
#define WEB_STATUS_BAD 400
#define WEB_STATUS_NO_TOKEN 401
#define WEB_STATUS_OTHER_HOST 403
#define WEB_STATUS_NOT_FOUND 404
#define WEB_STATUS_NO_MEMORY 500

/* Adds headers with the policies that browsers enforce. */
void web_answer__secure(struct http_answer *answer);
/* True if the request may see values. Otherwise the answer says why not. */
bool web_answer__is_allowed(const struct http_request *request, struct http_answer *answer);
/*
 * Sends @text as the body, and takes it. If @ret or the text tells of a failed allocation, sends
 * WEB_STATUS_NO_MEMORY instead.
 */
void web_answer__send(struct http_answer *answer, struct json_text *text, int ret);
/*
 * Finds the target that the argument "target" names. The caller puts it. NULL: the answer says why.
 */
struct web_target *web_answer__find_target(const struct web_site *site,
					   const struct http_request *request,
					   struct http_answer *answer);
/*
 * Returns false if the argument is not a number from @least to @most; true without such an
 * argument.
 */
bool web_answer__get_number(const struct http_request *request, const char *name, double least,
			    double most, double *number);

#endif /* CONTROLLER_WEB_ANSWER_H */
