/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libcurl, loaded when a URL is to be asked: it brings thirty libraries, which take a
 * controller without such a source three times as long to start.
 */
#ifndef CONTROLLER_CURL_LIBRARY_H
#define CONTROLLER_CURL_LIBRARY_H

#include <stdbool.h>

#include <curl/curl.h>

#include <libdart/error.h>

/* Functions by their names without "curl_". */
struct curl_library {
	CURL *(*easy_init)(void);
	CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
	CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
	const char *(*easy_strerror)(CURLcode code);
	void (*easy_cleanup)(CURL *easy);
	CURLM *(*multi_init)(void);
	CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
	CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
	CURLMcode (*multi_perform)(CURLM *multi, int *running);
	CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd fds[],
				unsigned int count, int timeout_ms, int *ready);
	CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
	CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
	CURLMcode (*multi_cleanup)(CURLM *multi);
	CURLU *(*url)(void);
	CURLUcode (*url_set)(CURLU *url, CURLUPart part, const char *text,
			     unsigned int flags);
	CURLUcode (*url_get)(const CURLU *url, CURLUPart part, char **text,
			     unsigned int flags);
	void (*url_cleanup)(CURLU *url);
	void (*free)(void *text);
	struct curl_slist *(*slist_append)(struct curl_slist *list,
					   const char *text);
	void (*slist_free_all)(struct curl_slist *list);
};

/*
 * In any thread.  The library stays loaded, for the same or another source.  Returns 0, or
 * -errno with a sentence in @error.
 */
int curl_library__load(struct curl_library *library, struct dart_error *error);

/*
 * Have both URLs the same scheme, host and port (RFC 6454)?  What one may know the other may know
 * then.  False if one is not a URL.
 */
bool curl_library__is_same_origin(const struct curl_library *library,
				  const char *one, const char *other);

#endif /* CONTROLLER_CURL_LIBRARY_H */
