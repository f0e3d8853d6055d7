// SPDX-License-Identifier: GPL-2.0-only
/* The reader of URLs that answer with lists of targets; it requests them at an interval. */
#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sd_json.h"
#include "source_private.h"
#include "tools/controller/base/request_headers.h"
#include "tools/controller/base/secret.h"

#define TIMEOUT_S 30L
#define CONNECT_TIMEOUT_S 10L
#define REDIRECTIONS_MAX 5L
#define PROTOCOLS "http,https"

struct http_state {
	CURL *easy;
	CURLM *multi;
	struct curl_slist *headers;
	char *bytes; /* of the answer so far */
	size_t length, room;
	bool is_too_long;
};

/*
 * Takes bytes of the answer.  Returns 0, which ends the transfer, if the answer is too long or
 * memory runs out.
 */
static size_t on_bytes(char *bytes, size_t size, size_t count, void *data)
{
	struct http_state *state = data;
	size_t wanted = state->length + count;
	char *grown;

	if (wanted > SD_JSON_BYTES_MAX) {
		state->is_too_long = true;
		return 0;
	}
	if (wanted > state->room) {
		grown = realloc(state->bytes, 2 * wanted);
		if (!grown)
			return 0;
		state->bytes = grown;
		state->room = 2 * wanted;
	}
	memcpy(state->bytes + state->length, bytes, count);
	state->length = wanted;
	return count;
}

static bool set_headers(struct source *source, struct http_state *state)
{
	const struct url_settings *url = &source__settings(source)->url;
	char refresh[80];

	snprintf(refresh, sizeof(refresh), "%g",
		 source__refresh_ms(source, SOURCE_HTTP_REFRESH_MS) / 1e3);
	return request_headers__add(&state->headers, "Accept", "application/json") &&
	       request_headers__add(&state->headers, "X-Prometheus-Refresh-Interval-Seconds",
				    refresh) &&
	       request_headers__add_all(&state->headers, url->headers) &&
	       !curl_easy_setopt(state->easy, CURLOPT_HTTPHEADER, state->headers);
}

static bool set_text(struct http_state *state, CURLoption option, const char *text)
{
	return !text || !curl_easy_setopt(state->easy, option, text);
}

static bool set_tls(struct source *source, struct http_state *state)
{
	const struct url_settings *url = &source__settings(source)->url;

	return set_text(state, CURLOPT_CAINFO, url->authorities) &&
	       set_text(state, CURLOPT_SSLCERT, url->certificate) &&
	       set_text(state, CURLOPT_SSLKEY, url->key);
}

/*
 * Reads the token before each look, because users replace it.  libcurl does not send it to another
 * host after a redirection.
 */
static int set_token(struct source *source, struct http_state *state, struct dart_error *error)
{
	const char *path = source__settings(source)->url.token_file;
	char *token;
	int ret;

	if (!path)
		return 0;
	ret = secret__read(path, &token, error);
	if (ret)
		return ret;
	if (curl_easy_setopt(state->easy, CURLOPT_HTTPAUTH, CURLAUTH_BEARER) ||
	    curl_easy_setopt(state->easy, CURLOPT_XOAUTH2_BEARER, token))
		ret = dart_error__no_memory(error);
	secret__free(token);
	return ret;
}

static bool set_options(struct source *source, struct http_state *state)
{
	CURL *easy = state->easy;

	/* After a redirection, libcurl would send the user's headers to the other host, too. */
	const long redirections = source__settings(source)->url.headers ? 0 : 1;

	return set_headers(source, state) && set_tls(source, state) &&
	       !curl_easy_setopt(easy, CURLOPT_URL, source__settings(source)->place) &&
	       !curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) &&
	       /* Closing does not wait for threads of libcurl that ask name services. */
	       !curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) &&
	       !curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, PROTOCOLS) &&
	       !curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, PROTOCOLS) &&
	       !curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, redirections) &&
	       !curl_easy_setopt(easy, CURLOPT_MAXREDIRS, REDIRECTIONS_MAX) &&
	       !curl_easy_setopt(easy, CURLOPT_TIMEOUT, TIMEOUT_S) &&
	       !curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S) &&
	       !curl_easy_setopt(easy, CURLOPT_USERAGENT, "dart-controller/" DART_VERSION) &&
	       !curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes) &&
	       !curl_easy_setopt(easy, CURLOPT_WRITEDATA, state);
}

static int open_http(struct source *source, struct dart_error *error)
{
	struct http_state *state = calloc(1, sizeof(*state));

	if (!state)
		return dart_error__no_memory(error);
	source->state = state;
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return dart_error__set(error, EIO, "libcurl cannot be set up");
	state->easy = curl_easy_init();
	state->multi = curl_multi_init();
	if (!state->easy || !state->multi || !set_options(source, state))
		return dart_error__set(error, EIO, "libcurl cannot be set up");
	return 0;
}

static void close_http(struct source *source)
{
	struct http_state *state = source->state;

	if (!state)
		return;
	if (state->easy)
		curl_easy_cleanup(state->easy);
	if (state->multi)
		curl_multi_cleanup(state->multi);
	if (state->headers)
		curl_slist_free_all(state->headers);
	free(state->bytes);
	free(state);
	source->state = NULL;
}

/* Runs the request until the answer is complete, it fails, or the source ends. */
static CURLcode transfer(struct source *source, struct http_state *state)
{
	struct curl_waitfd wake = {
		.fd = source->wake,
		.events = CURL_WAIT_POLLIN,
	};
	CURLcode code = CURLE_FAILED_INIT;
	const CURLMsg *message;
	int running, left;

	if (curl_multi_add_handle(state->multi, state->easy))
		return code;
	while (!source__is_ending(source) && !curl_multi_perform(state->multi, &running) &&
	       running && !curl_multi_poll(state->multi, &wake, !wake.revents, 1000, NULL))
		; /* after a first wake-up, checks once a second whether the source is ending */
	while ((message = curl_multi_info_read(state->multi, &left))) {
		if (message->msg == CURLMSG_DONE)
			code = message->data.result;
	}
	curl_multi_remove_handle(state->multi, state->easy);
	return code;
}

static int check_answer(struct http_state *state, CURLcode code, struct dart_error *error)
{
	static const char json[] = "application/json";
	const char *type = NULL;
	long status = 0;

	if (state->is_too_long)
		return dart_error__set(error, EINVAL, "answers with more than %u bytes",
				       SD_JSON_BYTES_MAX);
	if (code == CURLE_WRITE_ERROR)
		return dart_error__no_memory(error);
	/* libcurl's more exact text contains times: it would be said again after each look. */
	if (code)
		return dart_error__set(error, EHOSTUNREACH, "does not answer: %s",
				       curl_easy_strerror(code));
	curl_easy_getinfo(state->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(state->easy, CURLINFO_CONTENT_TYPE, &type);
	if (status != 200)
		return dart_error__set(error, EINVAL, "answers with status %ld, not 200", status);
	if (!type || strncasecmp(type, json, sizeof(json) - 1))
		return dart_error__set(error, EINVAL, "answers with '%s', not with '%s'",
				       type ?: "?", json);
	return 0;
}

static int read_http(struct source *source, struct source_news *news)
{
	struct http_state *state = source->state;
	CURLcode code;

	state->length = 0;
	state->is_too_long = false;
	news->result = set_token(source, state, &news->error);
	if (news->result)
		return source__retry_ms(source);
	code = transfer(source, state);
	news->result = check_answer(state, code, &news->error) ?:
			       sd_json__parse(state->bytes ?: "", state->length, &source->defaults,
					      source->name, &news->list, &news->faults,
					      &news->error);
	/* Until the next look the memory is of no use. */
	free(state->bytes);
	state->bytes = NULL;
	state->room = 0;
	return news->result ? source__retry_ms(source) :
			      source__refresh_ms(source, SOURCE_HTTP_REFRESH_MS);
}

const struct source_reader source_http_reader = {
	.kind = "http_sd",
	.pause_ms = 1000,
	.open = open_http,
	.read = read_http,
	.close = close_http,
};
