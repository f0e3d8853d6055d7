// SPDX-License-Identifier: GPL-2.0-only
/* Answers of the web server: see web_answer.h. */
#include <stdlib.h>

#include "tools/controller/http/http_access.h"

#include "web_answer.h"

static const struct http_header headers[] = {
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cache-Control", "no-store" },
	/*
	 * Only the answer that demands a password contains the last header: browsers then show a
	 * form.
	 */
	{ "WWW-Authenticate", "Basic realm=\"dart-controller\", charset=\"UTF-8\"" },
};

void web_answer__secure(struct http_answer *answer)
{
	answer->headers = headers;
	answer->header_count = sizeof(headers) / sizeof(headers[0]) - 1;
}

bool web_answer__is_allowed(const struct http_request *request, struct http_answer *answer)
{
	unsigned int status;

	web_answer__secure(answer);
	status = http_access__refuses(request->access, request);
	if (!status)
		return true;
	answer->status = status;
	if (status == WEB_STATUS_NO_TOKEN && http_access__has_password(request->access))
		answer->header_count++;
	return false;
}

void web_answer__send(struct http_answer *answer, struct json_text *text, int ret)
{
	if (ret || text->has_failed) {
		json_text__clear(text);
		answer->status = WEB_STATUS_NO_MEMORY;
		return;
	}
	answer->type = "application/json";
	answer->body = text->bytes;
	answer->length = text->length;
}

struct web_target *web_answer__find_target(const struct web_site *site,
					   const struct http_request *request,
					   struct http_answer *answer)
{
	const char *name = http_request__argument(request, "target");
	struct web_target *target = name ? web_targets__find(site->targets, name) : NULL;

	if (!target)
		answer->status = name ? WEB_STATUS_NOT_FOUND : WEB_STATUS_BAD;
	return target;
}

bool web_answer__get_number(const struct http_request *request, const char *name, double least,
			    double most, double *number)
{
	const char *text = http_request__argument(request, name);
	double found;
	char *end;

	if (!text)
		return true;
	found = strtod(text, &end);
	if (!*text || *end || !(found >= least && found <= most))
		return false;
	*number = found;
	return true;
}
