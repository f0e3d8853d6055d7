// SPDX-License-Identifier: GPL-2.0-only
/* Sends messages by HTTP: see poster.h. */
#include "poster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>

#include "tools/controller/secret.h"
#include "tools/controller/curl_library.h"

#define CONNECT_TIMEOUT_MS 10000L
/* Of an answer's body: only its first line is used. */
#define BODY_MAX (1U << 20)
#define WRITTEN "x-prometheus-remote-write-"

struct poster {
	struct curl_library curl;
	const struct receiver_settings *settings;
	char *url;
	CURL *easy;
	CURLM *multi;
	struct curl_slist *headers;
	bool is_under_way;
	uint64_t bytes;
	/* Of the answer so far. */
	struct answer answer;
	size_t body_length;
	bool has_line;		/* answer.text is whole */
};

/* The first line, as far as it fits; a body without end is cut off. */
static size_t on_body(char *bytes, size_t size, size_t count, void *data)
{
	struct poster *poster = data;
	size_t length = strlen(poster->answer.text), i;

	poster->body_length += count;
	for (i = 0; i < count && !poster->has_line; i++) {
		if (bytes[i] == '\n' || length + 1 == ANSWER_TEXT_MAX) {
			poster->has_line = true;
		} else {
			poster->answer.text[length++] =
				bytes[i] < ' ' || bytes[i] > '~' ? ' ' :
								   bytes[i];
			poster->answer.text[length] = '\0';
		}
	}
	return poster->body_length > BODY_MAX ? 0 : count;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *data)
{
	struct poster *poster = data;

	if (count > sizeof(WRITTEN) - 1 &&
	    !strncasecmp(bytes, WRITTEN, sizeof(WRITTEN) - 1) &&
	    memmem(bytes, count, "ritten:", 7))
		poster->answer.has_written = true;
	return count;
}

static bool set_options(struct poster *poster)
{
	const struct receiver_settings *settings = poster->settings;
	const struct curl_library *curl = &poster->curl;
	CURL *easy = poster->easy;

	/* Redirections are not followed: a POST would become a GET. */
	return !curl->easy_setopt(easy, CURLOPT_URL, poster->url) &&
	       !curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) &&
	       !curl->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) &&
	       !curl->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") &&
	       !curl->easy_setopt(easy, CURLOPT_POST, 1L) &&
	       !curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS,
				  (long)(settings->timeout_ns / 1000000)) &&
	       !curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
				  CONNECT_TIMEOUT_MS) &&
	       !curl->easy_setopt(easy, CURLOPT_USERAGENT,
				  "dart-controller/" DART_VERSION) &&
	       (!settings->authorities ||
		!curl->easy_setopt(easy, CURLOPT_CAINFO,
				   settings->authorities)) &&
	       !curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body) &&
	       !curl->easy_setopt(easy, CURLOPT_WRITEDATA, poster) &&
	       !curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header) &&
	       !curl->easy_setopt(easy, CURLOPT_HEADERDATA, poster);
}

/* User and password; or the header of a token, which the caller frees. */
static int set_secret(struct poster *poster, char **header,
		      struct dart_error *error)
{
	const struct receiver_settings *settings = poster->settings;
	const char *path = settings->token_file ?: settings->password_file;
	char *secret;
	int ret;

	*header = NULL;
	if (!path)
		return 0;
	ret = secret__read(path, &secret, error);
	if (ret)
		return ret;
	if (settings->token_file) {
		/* InfluxDB 2 has its own word for it. */
		if (asprintf(header, "Authorization: %s %s",
			     settings->bucket ? "Token" : "Bearer",
			     secret) < 0)
			ret = dart_error__no_memory(error);
	} else if (poster->curl.easy_setopt(poster->easy, CURLOPT_USERNAME,
					    settings->user) ||
		   poster->curl.easy_setopt(poster->easy, CURLOPT_PASSWORD,
					    secret)) {
		ret = dart_error__no_memory(error);
	}
	secret__free(secret);
	return ret;
}

int poster__new(const struct receiver_settings *settings, struct poster **posterp,
		struct dart_error *error)
{
	struct poster *poster = calloc(1, sizeof(*poster));
	char *header = NULL;
	int ret;

	if (!poster)
		return dart_error__no_memory(error);
	poster->settings = settings;
	ret = curl_library__load(&poster->curl, error);
	if (ret) {
		free(poster);
		return ret;
	}
	poster->url = receiver_settings__target(settings);
	poster->easy = poster->curl.easy_init();
	poster->multi = poster->curl.multi_init();
	if (!poster->url || !poster->easy || !poster->multi ||
	    !set_options(poster))
		ret = dart_error__set(error, EIO, "libcurl cannot be set up");
	/* A file that is missing is said at once. */
	if (!ret)
		ret = set_secret(poster, &header, error);
	secret__free(header);
	if (ret)
		poster__free(poster);
	else
		*posterp = poster;
	return ret;
}

void poster__free(struct poster *poster)
{
	const struct curl_library *curl;

	if (!poster)
		return;
	curl = &poster->curl;
	if (poster->is_under_way)
		curl->multi_remove_handle(poster->multi, poster->easy);
	if (poster->easy)
		curl->easy_cleanup(poster->easy);
	if (poster->multi)
		curl->multi_cleanup(poster->multi);
	curl->slist_free_all(poster->headers);
	free(poster->url);
	free(poster);
}

/* Without "Expect", for which receivers would wait before they read. */
static const char *const *headers_of(enum message_format format)
{
	static const char *const first[] = {
		"Content-Type: application/x-protobuf",
		"Content-Encoding: snappy",
		"X-Prometheus-Remote-Write-Version: 0.1.0",
		"Expect:",
		NULL,
	};
	static const char *const second[] = {
		"Content-Type: application/x-protobuf;proto=io.prometheus.write.v2.Request",
		"Content-Encoding: snappy",
		"X-Prometheus-Remote-Write-Version: 2.0.0",
		"Expect:",
		NULL,
	};
	static const char *const influx[] = {
		"Content-Type: text/plain; charset=utf-8",
		"Content-Encoding: gzip",
		"Expect:",
		NULL,
	};

	switch (format) {
	case MESSAGE_REMOTE_WRITE_1:
		return first;
	case MESSAGE_REMOTE_WRITE_2:
		return second;
	case MESSAGE_INFLUX:
		break;
	}
	return influx;
}

static bool add_header(struct poster *poster, const char *header)
{
	struct curl_slist *list =
		poster->curl.slist_append(poster->headers, header);

	if (list)
		poster->headers = list;
	return list;
}

static bool set_headers(struct poster *poster, enum message_format format,
			const char *secret)
{
	const char *const *header;

	poster->curl.slist_free_all(poster->headers);
	poster->headers = NULL;
	for (header = headers_of(format); *header; header++) {
		if (!add_header(poster, *header))
			return false;
	}
	return !secret || add_header(poster, secret);
}

int poster__begin(struct poster *poster, const struct message *message,
		  struct dart_error *error)
{
	const struct curl_library *curl = &poster->curl;
	CURL *easy = poster->easy;
	char *secret;
	bool is_ready;
	int ret;

	ret = set_secret(poster, &secret, error);
	if (ret)
		return ret;
	is_ready = set_headers(poster, message->format, secret) &&
		   !curl->easy_setopt(easy, CURLOPT_HTTPHEADER,
				      poster->headers) &&
		   !curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
				      (curl_off_t)message->length) &&
		   !curl->easy_setopt(easy, CURLOPT_POSTFIELDS,
				      message->body);
	secret__free(secret);
	if (!is_ready || curl->multi_add_handle(poster->multi, easy))
		return dart_error__no_memory(error);
	poster->is_under_way = true;
	poster->answer = (struct answer){};
	poster->body_length = 0;
	poster->has_line = false;
	return 0;
}

static void end(struct poster *poster, CURLcode code)
{
	const struct curl_library *curl = &poster->curl;
	struct answer *answer = &poster->answer;
	curl_off_t sent = 0, retry_after_s = 0;
	long head = 0;

	curl->easy_getinfo(poster->easy, CURLINFO_RESPONSE_CODE,
			   &answer->status);
	curl->easy_getinfo(poster->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
	curl->easy_getinfo(poster->easy, CURLINFO_REQUEST_SIZE, &head);
	curl->easy_getinfo(poster->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
	poster->bytes += sent + head;
	/* The status says all, even if the body that follows does not end. */
	answer->is_one = answer->status >= 200;
	if (!answer->is_one)
		snprintf(answer->text, sizeof(answer->text), "%s",
			 curl->easy_strerror(code));
	if (retry_after_s > 0)
		answer->retry_after_ns =
			(retry_after_s < 3600 ? retry_after_s : 3600) *
			1000000000ULL;
	curl->multi_remove_handle(poster->multi, poster->easy);
	poster->is_under_way = false;
}

bool poster__wait(struct poster *poster, int wake, int timeout_ms,
		  struct answer *answer)
{
	struct curl_waitfd waited = { .fd = wake, .events = CURL_WAIT_POLLIN };
	const struct curl_library *curl = &poster->curl;
	const CURLMsg *message;
	int running, left;
	eventfd_t count;

	curl->multi_perform(poster->multi, &running);
	if (!poster->is_under_way || running)
		curl->multi_poll(poster->multi, &waited, 1, timeout_ms, NULL);
	if (waited.revents)
		eventfd_read(wake, &count);
	curl->multi_perform(poster->multi, &running);
	message = curl->multi_info_read(poster->multi, &left);
	if (!message || message->msg != CURLMSG_DONE)
		return false;
	end(poster, message->data.result);
	*answer = poster->answer;
	return true;
}

uint64_t poster__bytes(const struct poster *poster)
{
	return poster->bytes;
}
