// SPDX-License-Identifier: GPL-2.0-only
/* Reads the head of a request: see http_head.h. */
#include "http_head.h"

#include <microhttpd.h>
#include <string.h>
#include <strings.h>

/* Characters of a host in RFC 3986, section 3.2.2, and the colon before the port. */
#define HOST_CHARACTERS \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:[]%!$&'()*+,;="
#define BLANKS " \t"

/* Counts the headers that may occur only once, and notes invalid values. */
struct heads {
	struct http_head *head;
	unsigned int hosts, lengths, encodings;
	bool is_wrong;
};

/* A value without surrounding blanks. */
struct value {
	const char *text;
	size_t length;
};

static struct value trim(const char *text, size_t length)
{
	struct value value = { text, length };

	while (value.length && strchr(BLANKS, *value.text)) {
		value.text++;
		value.length--;
	}
	while (value.length && strchr(BLANKS, value.text[value.length - 1]))
		value.length--;
	return value;
}

static bool is_named(const char *name, size_t length, const char *expected)
{
	return length == strlen(expected) && !strncasecmp(name, expected, length);
}

/* Returns false if @text is too long or not a host. */
static bool take_host(struct http_head *head, const char *text, size_t length)
{
	if (length > HTTP_HOST_BYTES_MAX)
		return false;
	memcpy(head->host, text, length);
	head->host[length] = '\0';
	head->has_host = true;
	return strspn(head->host, HOST_CHARACTERS) == length;
}

static enum MHD_Result on_header(void *data, enum MHD_ValueKind kind, const char *name,
				 size_t name_length, const char *text, size_t length)
{
	const struct value value = trim(text ?: "", text ? length : 0);
	struct heads *heads = data;

	if (is_named(name, name_length, MHD_HTTP_HEADER_HOST)) {
		heads->hosts++;
		if (!take_host(heads->head, value.text, value.length))
			heads->is_wrong = true;
	} else if (is_named(name, name_length, MHD_HTTP_HEADER_CONTENT_LENGTH)) {
		heads->lengths++;
	} else if (is_named(name, name_length, MHD_HTTP_HEADER_TRANSFER_ENCODING)) {
		heads->encodings++;
		if (!is_named(value.text, value.length, "chunked"))
			heads->is_wrong = true;
	}
	return MHD_YES;
}

/* Returns the authority of an absolute target such as "http://HOST:PORT/PATH"; else NULL. */
static const char *find_authority(const char *target)
{
	if (!strncasecmp(target, "http://", 7))
		return target + 7;
	if (!strncasecmp(target, "https://", 8))
		return target + 8;
	return NULL;
}

bool http_head__read(struct http_head *head, struct MHD_Connection *connection, const char *target,
		     const char *version)
{
	const char *authority = find_authority(target), *path = target;
	struct heads heads = { .head = head };

	*head = (struct http_head){ .path = path };
	MHD_get_connection_values_n(connection, MHD_HEADER_KIND, on_header, &heads);
	if (heads.is_wrong || heads.hosts > 1 || heads.lengths + heads.encodings > 1 ||
	    (!heads.hosts && strcmp(version, MHD_HTTP_VERSION_1_0)))
		return false;
	if (!authority)
		return true;
	path = authority + strcspn(authority, "/");
	head->path = *path ? path : "/";
	return path > authority && take_host(head, authority, path - authority);
}

static int digit_of(char character)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *found = character ? strchr(digits, character) : NULL;

	return found ? (found - digits) % 16 : -1;
}

size_t http_head__unescape(char *text)
{
	char *from = text, *to = text;
	int high, low;

	while (*from) {
		high = *from == '%' ? digit_of(from[1]) : -1;
		low = high < 0 ? -1 : digit_of(from[2]);
		if (low < 0 || !(high | low)) {
			*to++ = *from++;
		} else {
			*to++ = high << 4 | low;
			from += 3;
		}
	}
	*to = '\0';
	return to - text;
}
