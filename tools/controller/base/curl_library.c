// SPDX-License-Identifier: GPL-2.0-only
/* Finds the functions of libcurl, and compares URLs by them. */
#include "curl_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Debian's library for programs under the GPL, and what others have. */
static const char *const names[] = { "libcurl-gnutls.so.4", "libcurl.so.4" };

static void *open_library(void)
{
	void *handle = NULL;
	size_t i;

	for (i = 0; !handle && i < sizeof(names) / sizeof(*names); i++)
		handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return handle;
}

int curl_library__load(struct curl_library *library, struct dart_error *error)
{
#define FUNCTION(name)                                           \
	{                                                        \
		"curl_" #name, offsetof(struct curl_library, name) \
	}
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
		FUNCTION(easy_init),	    FUNCTION(easy_setopt),
		FUNCTION(easy_getinfo),	    FUNCTION(easy_strerror),
		FUNCTION(easy_cleanup),	    FUNCTION(multi_init),
		FUNCTION(multi_add_handle), FUNCTION(multi_remove_handle),
		FUNCTION(multi_perform),    FUNCTION(multi_poll),
		FUNCTION(multi_info_read),  FUNCTION(multi_cleanup),
		FUNCTION(multi_setopt),	    FUNCTION(url),
		FUNCTION(url_set),	    FUNCTION(url_get),
		FUNCTION(url_cleanup),	    FUNCTION(free),
		FUNCTION(slist_append),	    FUNCTION(slist_free_all),
	};
	CURLcode (*global_init)(long flags) = NULL;
	void *handle = open_library(), *function;
	size_t i;

	if (!handle)
		return dart_error__set(
			error, ENOENT,
			"'%s' cannot be loaded (install libcurl)", names[1]);
	for (i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		function = dlsym(handle, functions[i].name);
		if (!function)
			return dart_error__set(error, ENOSYS,
					       "libcurl has no '%s'",
					       functions[i].name);
		memcpy((char *)library + functions[i].offset, &function,
		       sizeof(function));
	}
	function = dlsym(handle, "curl_global_init");
	memcpy(&global_init, &function, sizeof(function));
	if (!global_init || global_init(CURL_GLOBAL_DEFAULT))
		return dart_error__set(error, EIO, "libcurl cannot be set up");
	return 0;
}

/* "https://host:443/", which the caller frees by libcurl; NULL if @url is invalid. */
static char *origin_of(const struct curl_library *curl, const char *url)
{
	static const CURLUPart others[] = {
		CURLUPART_USER,	 CURLUPART_PASSWORD, CURLUPART_OPTIONS,
		CURLUPART_QUERY, CURLUPART_FRAGMENT,
	};
	CURLU *parts = curl->url();
	char *origin = NULL;
	size_t i;

	if (!parts)
		return NULL;
	if (curl->url_set(parts, CURLUPART_URL, url, 0))
		goto out;
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		curl->url_set(parts, others[i], NULL, 0);
	if (curl->url_set(parts, CURLUPART_PATH, "/", 0) ||
	    curl->url_get(parts, CURLUPART_URL, &origin, CURLU_DEFAULT_PORT))
		origin = NULL;
out:
	curl->url_cleanup(parts);
	return origin;
}

bool curl_library__is_same_origin(const struct curl_library *library,
				  const char *one, const char *other)
{
	char *first = origin_of(library, one);
	char *second = origin_of(library, other);
	const bool are_same = first && second && !strcasecmp(first, second);

	library->free(first);
	library->free(second);
	return are_same;
}
