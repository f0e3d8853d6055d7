// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of requests that a controller reads: lines "NAME: VALUE" of headers, and lines
 * "NAME=VALUE" of arguments and cookies, as libmicrohttpd takes them apart.  Bits of the first
 * byte:
 *
 *   1  the server uses a token and a password; otherwise requests must name it 2  no
 *   other host can connect to it
 */
#include <jansson.h>
#include <strings.h>

#include "fuzz.h"
#include "tools/controller/base/gzip.h"
#include "tools/controller/exposition/exposition_sd.h"
#include "tools/controller/http/http_access.h"
#include "tools/controller/settings/http_settings.h"
#include "tools/controller/web/selection.h"

#define TOKEN "0123456789abcdef"
#define BASIC "YTpvcGVuIHNlc2FtZQ=="	/* a:open sesame */
#define NAME "dart.example"
#define LINES_MAX 64

struct MHD_Connection {
	char *lines[LINES_MAX];
	size_t count;
	bool is_loopback;
};

/* Takes the place of http_request.c, which asks libmicrohttpd. */
static const char *find(const struct http_request *request, const char *name, const char *mark)
{
	const struct MHD_Connection *connection = request->connection;
	const size_t length = strlen(name);
	size_t i;

	for (i = 0; i < connection->count; i++)
		if (!strncasecmp(connection->lines[i], name, length) &&
		    !strncmp(connection->lines[i] + length, mark, strlen(mark)))
			return connection->lines[i] + length + strlen(mark);
	return NULL;
}

const char *http_request__argument(const struct http_request *request, const char *name)
{
	return find(request, name, "=");
}

const char *http_request__header(const struct http_request *request, const char *name)
{
	return find(request, name, ": ");
}

const char *http_request__host(const struct http_request *request)
{
	return find(request, "Host", ": ");
}

const char *http_request__cookie(const struct http_request *request, const char *name)
{
	return find(request, name, "=");
}

bool http_request__is_at_loopback(const struct http_request *request)
{
	return request->connection->is_loopback;
}

static char *secret_file(const char *text)
{
	char *path = strdup("/tmp/fuzz-secret-XXXXXX");
	int fd = path ? mkstemp(path) : -1;

	require(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	return path;
}

static void load(struct http_access *secrets, struct http_access *names)
{
	struct http_settings settings = {
		.token_path = secret_file(TOKEN "\n"),
		.user = strdup("a"),
		.password_path = secret_file("open sesame\n"),
	};
	struct dart_error error;

	require(!http_access__load(secrets, &settings, &error));
	unlink(settings.token_path);
	unlink(settings.password_path);
	http_settings__clear(&settings);
	require(!http_settings__add_name(&settings, NAME, &error));
	require(!http_access__load(names, &settings, &error));
	http_settings__clear(&settings);
}

/* Can a stranger own this name? It consists of letters and dots only, unlike any address. */
static bool is_foreign(const char *host)
{
	const size_t length = strspn(host, "ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ.");
	char own[256] = "";

	gethostname(own, sizeof(own) - 1);
	return length && !host[length] && strchr(host, '.') && strcasecmp(host, NAME) &&
	       strcasecmp(host, own);
}

static void check_access(const struct http_access *access, const struct http_request *request,
			 bool has_secrets)
{
	const char *authorization = http_request__header(request, "Authorization");
	const char *cookie = http_request__cookie(request, "dart_token");
	const char *host = http_request__host(request);
	const char *origin = http_request__header(request, "Origin");

	if (http_access__refuses(access, request))
		return;
	if (has_secrets) {
		require((authorization && (strstr(authorization, " " TOKEN) ||
					   strstr(authorization, " " BASIC))) ||
			(cookie && !strcmp(cookie, TOKEN)));
		return;
	}
	require(!host || !is_foreign(host));
	require(!origin || (host && strlen(origin) > strlen(host) &&
			    !strcasecmp(origin + strlen(origin) - strlen(host), host)));
}

/* The list for Prometheus contains the address that the request names. */
static void print_list(const struct http_request *request)
{
	const char *host = http_request__host(request) ?: "localhost";
	const enum label_names_form form =
		exposition_sd__form(http_request__header(request, "User-Agent"));
	struct shared_text *labels = shared_text__new("{\"a.b\":\"c\",\"a_b\":\"d\"}");
	size_t length = 0;
	char *text = NULL;
	FILE *file = open_memstream(&text, &length);
	json_t *json;
	int ret;

	require(labels && file);
	ret = exposition_sd__print(file, host, "target", labels, form);
	fclose(file);
	/* JSON contains no other bytes. */
	require(!ret == dart_escape__is_utf8(host));
	json = ret ? NULL : json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	require(ret || json);
	json_decref(json);
	shared_text__release(labels);
	free(text);
}

static void query(const struct http_request *request)
{
	struct web_queries queries;
	size_t i;

	if (web_queries__parse(http_request__argument(request, "q"), &queries))
		return;
	for (i = 0; i < queries.count; i++)
		require(queries.queries[i].family &&
			!queries.queries[i].label == !queries.queries[i].value);
	web_queries__clear(&queries);
}

static void take_lines(struct MHD_Connection *connection, const uint8_t *data, size_t size)
{
	const uint8_t *end;
	size_t length;

	while (size && connection->count < LINES_MAX) {
		end = memchr(data, '\n', size);
		length = end ? (size_t)(end - data) : size;
		connection->lines[connection->count] = strndup((const char *)data, length);
		require(connection->lines[connection->count]);
		connection->count++;
		length += !!end;
		data += length;
		size -= length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct http_access secrets, names;
	struct MHD_Connection connection = {};
	const struct http_request request = { .connection = &connection };

	if (!names.names)
		load(&secrets, &names);
	if (!size)
		return 0;
	connection.is_loopback = data[0] & 2;
	take_lines(&connection, data + 1, size - 1);
	check_access(data[0] & 1 ? &secrets : &names, &request, data[0] & 1);
	(void)gzip__is_accepted(http_request__header(&request, "Accept-Encoding"));
	print_list(&request);
	query(&request);
	while (connection.count)
		free(connection.lines[--connection.count]);
	return 0;
}
