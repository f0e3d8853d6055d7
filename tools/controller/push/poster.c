// SPDX-License-Identifier: GPL-2.0-only
/* Sends messages by HTTP: see poster.h. */
#include "poster.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "credentials.h"
#include "tools/controller/base/url.h"

#define CONNECT_TIMEOUT_MS 10000L
/* Of an answer's body: only its first line is used. */
#define BODY_MAX (1U << 20)
#define REDIRECTIONS_MAX 10U

/* A message under way. */
struct slot {
	struct poster *poster;
	CURL *easy;
	struct curl_slist *headers;
	struct message *message; /* NULL: the slot is free */
	unsigned int redirections;
	uint64_t bytes; /* of the request so far */
	/* Of the answer so far. */
	struct answer answer;
	size_t body_length;
};

enum question {
	QUESTION_NONE,
	QUESTION_ASKED,
	QUESTION_ANSWERED,
	QUESTION_IN_VAIN,
};

struct poster {
	const struct receiver_settings *settings;
	const struct format *format;
	char *url;
	CURLM *multi;
	uint64_t bytes;
	unsigned int slot_count;
	struct slot slots[RECEIVER_SENDERS_MAX + 1]; /* the last for the question */
	enum question question;
};

/* A body without end is cut off. */
static size_t on_body(char *bytes, size_t size, size_t count, void *data)
{
	struct slot *slot = data;

	slot->body_length += count;
	answer__take_body(&slot->answer, bytes, count);
	return slot->body_length > BODY_MAX ? 0 : count;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *data)
{
	struct slot *slot = data;

	if (answer__take_header(&slot->answer, bytes, count))
		slot->body_length = 0;
	return count;
}

/*
 * Counts the bytes of requests.  CURLINFO_REQUEST_SIZE does not tell the length of the head: libcurl before
 * 8.7 includes bodies that are sent together with it, which are all below 64 KiB.
 */
static int on_traffic(CURL *easy, curl_infotype type, char *bytes, size_t size, void *data)
{
	struct slot *slot = data;

	if (type == CURLINFO_HEADER_OUT || type == CURLINFO_DATA_OUT)
		slot->bytes += size;
	return 0;
}

static void begin_answer(struct slot *slot)
{
	answer__begin(&slot->answer);
	slot->body_length = 0;
}

static bool set_options(struct slot *slot)
{
	const struct receiver_settings *settings = slot->poster->settings;
	CURL *easy = slot->easy;

	/* libcurl follows no redirection: it would make a GET of the POST at some. */
	return !curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) &&
	       !curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) &&
	       !curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") &&
	       !curl_easy_setopt(easy, CURLOPT_POST, 1L) &&
	       !curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
				 (long)(settings->timeout_ns / 1000000)) &&
	       !curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS) &&
	       !curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L) &&
	       !curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) &&
	       !curl_easy_setopt(easy, CURLOPT_USERAGENT, "dart-controller/" DART_VERSION) &&
	       (!settings->authorities ||
		!curl_easy_setopt(easy, CURLOPT_CAINFO, settings->authorities)) &&
	       !curl_easy_setopt(easy, CURLOPT_PRIVATE, slot) &&
	       !curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body) &&
	       !curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot) &&
	       !curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header) &&
	       !curl_easy_setopt(easy, CURLOPT_HEADERDATA, slot) &&
	       /* Without it, nothing is traced. */
	       !curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L) &&
	       !curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, on_traffic) &&
	       !curl_easy_setopt(easy, CURLOPT_DEBUGDATA, slot);
}

static bool open_slots(struct poster *poster, unsigned int count)
{
	struct slot *slot;

	poster->slot_count = count;
	for (slot = poster->slots; slot <= poster->slots + count; slot++) {
		slot->poster = poster;
		slot->easy = curl_easy_init();
		if (!slot->easy || !set_options(slot))
			return false;
	}
	return true;
}

int poster__new(const struct receiver_settings *settings, const struct format *format,
		unsigned int slots, struct poster **posterp, struct dart_error *error)
{
	struct poster *poster = calloc(1, sizeof(*poster));
	int ret = 0;

	if (!poster)
		return dart_error__no_memory(error);
	poster->settings = settings;
	poster->format = format;
	poster->url = format->url ? format->url(settings) : strdup(settings->url);
	/* In any thread, for the first of several users. */
	poster->multi = curl_global_init(CURL_GLOBAL_DEFAULT) ? NULL : curl_multi_init();
	if (!poster->url || !poster->multi ||
	    curl_multi_setopt(poster->multi, CURLMOPT_MAXCONNECTS, (long)slots) ||
	    !open_slots(poster, slots))
		ret = dart_error__set(error, EIO, "libcurl cannot be set up");
	if (!ret)
		ret = credentials__check_files(settings, error);
	if (ret)
		poster__free(poster);
	else
		*posterp = poster;
	return ret;
}

/* Nobody waits for it. */
static void end_question(struct poster *poster)
{
	if (poster->question != QUESTION_ASKED)
		return;
	curl_multi_remove_handle(poster->multi, poster->slots[poster->slot_count].easy);
	poster->question = QUESTION_IN_VAIN;
}

void poster__free(struct poster *poster)
{
	struct slot *slot;

	if (!poster)
		return;
	end_question(poster);
	for (slot = poster->slots; slot <= poster->slots + poster->slot_count; slot++) {
		if (slot->message)
			curl_multi_remove_handle(poster->multi, slot->easy);
		if (slot->easy)
			curl_easy_cleanup(slot->easy);
		curl_slist_free_all(slot->headers);
	}
	if (poster->multi)
		curl_multi_cleanup(poster->multi);
	free(poster->url);
	free(poster);
}

bool poster__forget(struct poster *poster)
{
	CURLM *multi = curl_multi_init();

	if (!multi)
		return false;
	end_question(poster);
	curl_multi_cleanup(poster->multi);
	poster->multi = multi;
	curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)poster->slot_count);
	return true;
}

bool poster__take_question(struct poster *poster, bool *is_answered)
{
	if (poster->question < QUESTION_ANSWERED)
		return false;
	*is_answered = poster->question == QUESTION_ANSWERED;
	poster->question = QUESTION_NONE;
	return true;
}

bool poster__is_free(const struct poster *poster, unsigned int slot)
{
	return !poster->slots[slot].message;
}

static bool add_header(struct slot *slot, const char *header)
{
	struct curl_slist *list = curl_slist_append(slot->headers, header);

	if (list)
		slot->headers = list;
	return list;
}

static void drop_headers(struct slot *slot)
{
	curl_slist_free_all(slot->headers);
	slot->headers = NULL;
}

/* The headers that any server may see. */
static bool add_headers(struct slot *slot)
{
	const char *const *header;

	for (header = slot->message->format->headers; *header; header++)
		if (!add_header(slot, *header))
			return false;
	/* Receivers would wait for it before they read. */
	return add_header(slot, "Expect:");
}

static int set_credentials(struct slot *slot, struct dart_error *error)
{
	const struct poster *poster = slot->poster;

	return credentials__set(slot->easy, poster->settings, poster->format, &slot->headers,
				error);
}

/* Gives libcurl the list and the URL of the next request. */
static bool set_request(struct slot *slot, const char *url)
{
	return !curl_easy_setopt(slot->easy, CURLOPT_HTTPHEADER, slot->headers) &&
	       !curl_easy_setopt(slot->easy, CURLOPT_URL, url);
}

static bool post(struct slot *slot)
{
	const struct message *message = slot->message;

	begin_answer(slot);
	return !curl_easy_setopt(slot->easy, CURLOPT_POSTFIELDSIZE_LARGE,
				 (curl_off_t)message->length) &&
	       !curl_easy_setopt(slot->easy, CURLOPT_POSTFIELDS, (const char *)message->body) &&
	       !curl_easy_setopt(slot->easy, CURLOPT_DNS_SHUFFLE_ADDRESSES,
				 message->attempts ? 1L : 0L) &&
	       !curl_multi_add_handle(slot->poster->multi, slot->easy);
}

int poster__begin(struct poster *poster, unsigned int number, struct message *message,
		  struct dart_error *error)
{
	struct slot *slot = poster->slots + number;
	int ret;

	slot->message = message;
	slot->redirections = 0;
	drop_headers(slot);
	ret = set_credentials(slot, error);
	if (!ret && (!add_headers(slot) || !set_request(slot, poster->url) || !post(slot)))
		ret = dart_error__no_memory(error);
	if (ret)
		slot->message = NULL;
	return ret;
}

void poster__ask(struct poster *poster)
{
	struct slot *slot = poster->slots + poster->slot_count;
	struct dart_error error;

	if (poster->question != QUESTION_NONE)
		return;
	drop_headers(slot);
	if (set_credentials(slot, &error))
		return;
	begin_answer(slot);
	if (set_request(slot, poster->url) &&
	    !curl_easy_setopt(slot->easy, CURLOPT_NOBODY, 1L) &&
	    !curl_easy_setopt(slot->easy, CURLOPT_FRESH_CONNECT, 1L) &&
	    !curl_multi_add_handle(poster->multi, slot->easy))
		poster->question = QUESTION_ASKED;
}

/* Sends the same to where the answer points.  False if that cannot be. */
static bool follow(struct slot *slot, const char *url)
{
	const bool is_own = url__is_same_origin(slot->poster->url, url);
	struct dart_error error;

	drop_headers(slot);
	if (is_own ? set_credentials(slot, &error) : !credentials__clear(slot->easy))
		return false;
	return add_headers(slot) && set_request(slot, url) && post(slot);
}

/* Is the message under way to another place now? */
static bool is_followed(struct slot *slot)
{
	struct answer *answer = &slot->answer;
	char *location = NULL, *url;
	bool is_under_way;

	if (answer->status != 307 && answer->status != 308)
		return false;
	curl_easy_getinfo(slot->easy, CURLINFO_REDIRECT_URL, &location);
	if (!location)
		return false;
	if (slot->redirections++ == REDIRECTIONS_MAX) {
		snprintf(answer->text, sizeof(answer->text), "more than %u redirections",
			 REDIRECTIONS_MAX);
		return false;
	}
	/* libcurl's own, until its handle has another URL. */
	url = strdup(location);
	is_under_way = url && follow(slot, url);
	free(url);
	return is_under_way;
}

/* False if the message is under way again. */
static bool end(struct slot *slot, CURLcode code)
{
	struct answer *answer = &slot->answer;
	curl_off_t retry_after_s = 0;

	curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &answer->status);
	curl_easy_getinfo(slot->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
	slot->poster->bytes += slot->bytes;
	slot->bytes = 0;
	curl_multi_remove_handle(slot->poster->multi, slot->easy);
	if (is_followed(slot))
		return false;
	/* The status says all, even if the body that follows does not end. */
	answer->is_one = answer->status >= 200;
	if (!answer->is_one)
		snprintf(answer->text, sizeof(answer->text), "%s", curl_easy_strerror(code));
	if (retry_after_s > 0)
		answer->retry_after_ns =
			(retry_after_s < 3600 ? retry_after_s : 3600) * 1000000000ULL;
	return true;
}

static void take_question(struct slot *slot)
{
	struct poster *poster = slot->poster;
	long status = 0;

	curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &status);
	end_question(poster);
	if (status)
		poster->question = QUESTION_ANSWERED;
}

static struct message *take_answer(struct poster *poster, struct answer *answer)
{
	const CURLMsg *event;
	struct message *message;
	struct slot *slot;
	int left;

	while ((event = curl_multi_info_read(poster->multi, &left))) {
		if (event->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(event->easy_handle, CURLINFO_PRIVATE, &slot);
		if (slot == poster->slots + poster->slot_count) {
			take_question(slot);
			continue;
		}
		if (!end(slot, event->data.result))
			continue;
		*answer = slot->answer;
		message = slot->message;
		slot->message = NULL;
		return message;
	}
	return NULL;
}

struct message *poster__wait(struct poster *poster, int wake, int timeout_ms, struct answer *answer)
{
	struct curl_waitfd waited = { .fd = wake, .events = CURL_WAIT_POLLIN };
	struct message *message;
	eventfd_t count;
	int running;

	curl_multi_perform(poster->multi, &running);
	message = take_answer(poster, answer);
	if (message)
		return message;
	curl_multi_poll(poster->multi, &waited, 1, timeout_ms, NULL);
	if (waited.revents)
		eventfd_read(wake, &count);
	curl_multi_perform(poster->multi, &running);
	return take_answer(poster, answer);
}

uint64_t poster__bytes(const struct poster *poster)
{
	return poster->bytes;
}
