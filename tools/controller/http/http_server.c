// SPDX-License-Identifier: GPL-2.0-only
/* Serves pages by libmicrohttpd: see http_server.h. */
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gzip.h"
#include "http_address.h"
#include "http_server.h"
#include "http_server_stream.h"

/* Below that, a body is sent as it is. */
#define PACKED_BYTES_MIN 1024

struct http_server {
	struct MHD_Daemon *daemon;
	int fd;
	const struct http_page *pages;
	size_t count;
	struct http_streams *streams;
};

struct http_request {
	struct MHD_Connection *connection;
};

const char *http_request__argument(const struct http_request *request,
				   const char *name)
{
	return MHD_lookup_connection_value(request->connection,
					   MHD_GET_ARGUMENT_KIND, name);
}

const char *http_request__header(const struct http_request *request,
				 const char *name)
{
	return MHD_lookup_connection_value(request->connection,
					   MHD_HEADER_KIND, name);
}

const char *http_request__cookie(const struct http_request *request,
				 const char *name)
{
	return MHD_lookup_connection_value(request->connection,
					   MHD_COOKIE_KIND, name);
}

static const char *text_of(unsigned int status)
{
	switch (status) {
	case MHD_HTTP_BAD_REQUEST:
		return "Bad Request\n";
	case MHD_HTTP_UNAUTHORIZED:
		return "Unauthorized\n";
	case MHD_HTTP_FORBIDDEN:
		return "Forbidden\n";
	case MHD_HTTP_NOT_FOUND:
		return "Not Found\n";
	case MHD_HTTP_METHOD_NOT_ALLOWED:
		return "Method Not Allowed\n";
	case MHD_HTTP_SERVICE_UNAVAILABLE:
		return "Service Unavailable\n";
	default:
		return "Internal Server Error\n";
	}
}

/* Packs the body if that makes it shorter. */
static bool answer__pack(struct http_answer *answer)
{
	size_t length;
	char *packed;

	if (answer->length < PACKED_BYTES_MIN ||
	    gzip__pack(answer->body, answer->length, &packed, &length))
		return false;
	free(answer->body);
	answer->body = packed;
	answer->length = length;
	return true;
}

static void add_headers(struct MHD_Response *response,
			const struct http_answer *answer)
{
	size_t i;

	for (i = 0; i < answer->header_count; i++)
		MHD_add_response_header(response, answer->headers[i].name,
					answer->headers[i].value);
}

static struct MHD_Response *response_of(struct http_server *server,
					const struct http_request *request,
					struct http_answer *answer)
{
	struct MHD_Response *response = NULL;
	bool is_packed = false;
	const char *text;

	if (answer->stream) {
		response = http_streams__add(server->streams, answer,
					     request->connection);
		if (!response)
			*answer = (struct http_answer){
				.status = MHD_HTTP_SERVICE_UNAVAILABLE
			};
	}
	if (response) {
		;
	} else if (!answer->body) {
		text = text_of(answer->status);
		response = MHD_create_response_from_buffer(
			strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
	} else {
		is_packed = gzip__is_accepted(http_request__header(
				    request, MHD_HTTP_HEADER_ACCEPT_ENCODING)) &&
			    answer__pack(answer);
		response = MHD_create_response_from_buffer(
			answer->length, answer->body, MHD_RESPMEM_MUST_FREE);
		if (!response)
			free(answer->body);
	}
	if (!response)
		return NULL;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				answer->type ?: "text/plain; charset=utf-8");
	MHD_add_response_header(response, MHD_HTTP_HEADER_VARY,
				"Accept, Accept-Encoding");
	add_headers(response, answer);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (is_packed)
		MHD_add_response_header(
			response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
					"GET, HEAD");
	return response;
}

static void fill(const struct http_server *server, const char *path,
		 const struct http_request *request, struct http_answer *answer)
{
	size_t i;

	for (i = 0; i < server->count; i++) {
		if (strcmp(server->pages[i].path, path))
			continue;
		server->pages[i].fill(server->pages[i].data, request, answer);
		if (!answer->body && !answer->stream &&
		    answer->status == MHD_HTTP_OK)
			answer->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
		return;
	}
	answer->status = MHD_HTTP_NOT_FOUND;
}

/* Called once with the header, and once more behind a body, which GET has none of. */
static enum MHD_Result on_request(void *data, struct MHD_Connection *connection,
				  const char *url, const char *method,
				  const char *version, const char *upload,
				  size_t *upload_size, void **state)
{
	const struct http_request request = { .connection = connection };
	struct http_answer answer = { .status = MHD_HTTP_OK };
	struct MHD_Response *response;
	enum MHD_Result ret;

	if (!*state) {
		*state = connection;
		return MHD_YES;
	}
	if (*upload_size) { /* it is dropped */
		*upload_size = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD))
		answer.status = MHD_HTTP_METHOD_NOT_ALLOWED;
	else
		fill(data, url, &request, &answer);
	response = response_of(data, &request, &answer);
	if (!response)
		return MHD_NO;
	ret = MHD_queue_response(connection, answer.status, response);
	MHD_destroy_response(response);
	return ret;
}

/* Peers send what they like: nothing is said of it. */
static void ignore(void *data, const char *format, va_list arguments)
{
}

int http_server__new(const char *address, const struct http_page *pages,
		     size_t count, struct http_server **serverp,
		     struct dart_error *error)
{
	struct http_server *server = calloc(1, sizeof(*server));
	int ret;

	if (!server)
		return dart_error__no_memory(error);
	server->pages = pages;
	server->count = count;
	server->streams = http_streams__new();
	if (!server->streams) {
		ret = dart_error__no_memory(error);
		goto err_server;
	}
	server->fd = ret = http_address__listen(address, error);
	if (ret < 0)
		goto err_streams;
	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG |
			MHD_ALLOW_SUSPEND_RESUME,
		0, NULL, NULL, on_request, server, MHD_OPTION_EXTERNAL_LOGGER, ignore, NULL,
		MHD_OPTION_LISTEN_SOCKET, server->fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)HTTP_CONNECTIONS_MAX,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		(unsigned int)HTTP_PEER_CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)HTTP_IDLE_SECONDS,
		MHD_OPTION_END);
	if (!server->daemon) {
		ret = dart_error__set(error, EIO,
				      "cannot serve HTTP at '%s'",
				      address ?: HTTP_ADDRESS_DEFAULT);
		goto err_socket;
	}
	*serverp = server;
	return 0;

err_socket:
	close(server->fd);
err_streams:
	http_streams__free(server->streams);
err_server:
	free(server);
	return ret;
}

unsigned int http_server__port(const struct http_server *server)
{
	return MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT)
		->port;
}

bool http_server__is_local(const struct http_server *server)
{
	struct sockaddr_storage address = { };
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address;
	socklen_t length = sizeof(address);

	if (getsockname(server->fd, (struct sockaddr *)&address, &length))
		return false;
	if (address.ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return address.ss_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* The name of this host, or "localhost" if no name is set. */
static void name_host(char name[static NI_MAXHOST])
{
	if (gethostname(name, NI_MAXHOST - 1) || !*name)
		strcpy(name, "localhost");
	name[NI_MAXHOST - 1] = '\0';
}

void http_server__url(const struct http_server *server, char url[HTTP_URL_MAX])
{
	struct sockaddr_storage address = { };
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address;
	socklen_t length = sizeof(address);
	char host[NI_MAXHOST] = "localhost";
	bool is_v6;

	getsockname(server->fd, (struct sockaddr *)&address, &length);
	is_v6 = address.ss_family == AF_INET6;
	if (is_v6 ? IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr) :
		    v4->sin_addr.s_addr == htonl(INADDR_ANY)) {
		name_host(host);
		is_v6 = false;
	} else if (http_server__is_local(server) ||
		   getnameinfo((struct sockaddr *)&address, length, host,
			       sizeof(host), NULL, 0, NI_NUMERICHOST)) {
		is_v6 = false;
	}
	snprintf(url, HTTP_URL_MAX, "http://%s%.256s%s:%u/", is_v6 ? "[" : "",
		 host, is_v6 ? "]" : "", http_server__port(server));
}

void http_server__free(struct http_server *server)
{
	if (!server)
		return;
	http_streams__end(server->streams);
	MHD_stop_daemon(server->daemon); /* closes the socket as well */
	http_streams__free(server->streams);
	free(server);
}
