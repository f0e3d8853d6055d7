/* SPDX-License-Identifier: GPL-2.0-only */
/* What all answers of the web server have: headers, statuses, access, arguments. */
#ifndef CONTROLLER_WEB_ANSWER_H
#define CONTROLLER_WEB_ANSWER_H

#include "json_text.h"
#include "web_pages.h"

/* RFC 9110, section 15. */
#define WEB_STATUS_BAD 400
#define WEB_STATUS_NO_TOKEN 401
#define WEB_STATUS_OTHER_HOST 403
#define WEB_STATUS_NOT_FOUND 404
#define WEB_STATUS_NO_MEMORY 500

/* Headers with the policies that browsers enforce. */
void web_answer__secure(struct http_answer *answer);
/* May the request see values?  Otherwise the answer says why not. */
bool web_answer__is_allowed(const struct web_site *site, const struct http_request *request,
			    struct http_answer *answer);
/* The body is @text, which is taken; or there is no memory, after @ret. */
void web_answer__send(struct http_answer *answer, struct json_text *text, int ret);
/* That of the argument "target", to be put; NULL: the answer says why. */
struct web_target *web_answer__find_target(const struct web_site *site,
					   const struct http_request *request,
					   struct http_answer *answer);
/* False: there is such an argument, and it is no number from @least to @most. */
bool web_answer__get_number(const struct http_request *request, const char *name, double least,
			    double most, double *number);

#endif /* CONTROLLER_WEB_ANSWER_H */
