// SPDX-License-Identifier: GPL-2.0-only
/* Serves pages with libmicrohttpd: see http_server.h. */
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_access.h"
#include "http_connections.h"
#include "http_head.h"
#include "http_server.h"
#include "http_server_stream.h"
#include "tools/controller/base/gzip.h"
#include "tools/controller/base/http_address.h"

/* Shorter bodies are not compressed. */
#define PACKED_BYTES_MIN 1024

/* Far more than a chain of certificates, or a key, needs. */
#define PEM_BYTES_MAX (1U << 20)

#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

/* Serves with one certificate; without TLS there is only one such object. */
struct serving {
	struct http_server *server;
	struct MHD_Daemon *daemon;
	struct http_streams *streams;
};

struct http_server {
	int fds[HTTP_SOCKETS_MAX];
	int fd_count;
	struct http_server_options options;
	struct http_connections *connections;
	bool is_local;
	struct sockaddr_storage address; /* address of the first socket */

	pthread_mutex_t lock; /* protects @serving */
	struct serving *serving;
	/* Texts of the files that @serving was started with; NULL without TLS. */
	char *certificate, *key;
};

/* A request and its answer, from the end of the head until the answer was sent or the peer left. */
struct exchange {
	struct http_head head;
	struct MHD_Response *response; /* a reference */
	struct http_stream *stream; /* the stream of the response, which frees it; or NULL */
};

/*
 * Makes a body of the status's reason phrase.  An answer that lacks the body of its page is an
 * error.
 */
static struct MHD_Response *text_response(unsigned int status)
{
	char text[64];

	if (status < MHD_HTTP_BAD_REQUEST)
		status = MHD_HTTP_INTERNAL_SERVER_ERROR;
	snprintf(text, sizeof(text), "%s\n", MHD_get_reason_phrase_for(status));
	return MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_COPY);
}

/* Compresses the body if that makes it shorter. */
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

static void add_headers(struct MHD_Response *response, const struct http_answer *answer)
{
	size_t i;

	for (i = 0; i < answer->header_count; i++)
		MHD_add_response_header(response, answer->headers[i].name,
					answer->headers[i].value);
}

static struct MHD_Response *response_of(struct serving *serving, const struct http_request *request,
					struct http_answer *answer, struct http_stream **stream)
{
	struct MHD_Response *response = NULL;
	bool is_packed = false;
	const char *encoding = answer->encoding;

	if (answer->stream) {
		response = http_streams__add(serving->streams, answer, request->connection, stream);
		if (!response) {
			*answer = (struct http_answer){ .status = MHD_HTTP_SERVICE_UNAVAILABLE };
			encoding = NULL;
		}
	}
	if (response) {
		;
	} else if (!answer->body) {
		response = text_response(answer->status);
	} else {
		is_packed = !encoding &&
			    gzip__is_accepted(http_request__header(
				    request, MHD_HTTP_HEADER_ACCEPT_ENCODING)) &&
			    answer__pack(answer);
		response = MHD_create_response_from_buffer(answer->length, answer->body,
							   MHD_RESPMEM_MUST_FREE);
		if (!response)
			free(answer->body);
	}
	if (!response)
		return NULL;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				answer->type ?: "text/plain; charset=utf-8");
	MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding");
	add_headers(response, answer);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (is_packed)
		encoding = "gzip";
	if (encoding)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, encoding);
	return response;
}

static const struct http_header allow_reading[] = { { "Allow", "GET, HEAD" } };
static const struct http_header end_connection[] = { { "Connection", "close" } };
static const struct http_header allow_action[] = { { "Allow", "POST" } };
static const struct http_header ask_token[] = {
	{ "WWW-Authenticate", "Bearer realm=\"dart-controller\"" },
};
static const struct http_header ask_password[] = {
	{ "WWW-Authenticate", "Basic realm=\"dart-controller\", charset=\"UTF-8\"" },
};

static void refuse(struct http_answer *answer, unsigned int status,
		   const struct http_header *header)
{
	answer->status = status;
	answer->headers = header;
	answer->header_count = !!header;
}

/* Tells the operator of a proxy or of a DNS name which setting allows the name. */
static void refuse_name(struct http_answer *answer)
{
	refuse(answer, MHD_HTTP_FORBIDDEN, NULL);
	answer->body = strdup(
		"Forbidden: the request calls this server by a name that is not its own "
		"(use its address, or add the name to names of this output in controller.yaml)\n");
	answer->length = answer->body ? strlen(answer->body) : 0;
}

static bool is_refused(const struct http_server *server, const struct http_page *page,
		       const struct http_request *request, struct http_answer *answer)
{
	const struct http_access *access = server->options.access;
	unsigned int status;

	if (!access || page->is_open || server->options.pages_decide)
		return false;
	status = http_access__refuses(access, request);
	if (status == MHD_HTTP_UNAUTHORIZED)
		refuse(answer, status,
		       http_access__has_password(access) ? ask_password : ask_token);
	else if (status)
		refuse_name(answer);
	return status;
}

static void fill(const struct http_server *server, const char *path, const char *method,
		 const struct http_request *request, struct http_answer *answer)
{
	const bool reads = !strcmp(method, MHD_HTTP_METHOD_GET) ||
			   !strcmp(method, MHD_HTTP_METHOD_HEAD);
	const struct http_page *page = server->options.pages;
	const struct http_page *end = page + server->options.page_count;

	while (page < end && strcmp(page->path, path))
		page++;
	if (page == end) {
		if (reads)
			refuse(answer, MHD_HTTP_NOT_FOUND, NULL);
		else
			refuse(answer, MHD_HTTP_METHOD_NOT_ALLOWED, allow_reading);
		return;
	}
	if (page->is_action ? strcmp(method, MHD_HTTP_METHOD_POST) : !reads) {
		refuse(answer, MHD_HTTP_METHOD_NOT_ALLOWED,
		       page->is_action ? allow_action : allow_reading);
		return;
	}
	if (is_refused(server, page, request, answer))
		return;
	page->fill(page->data, request, answer);
	if (!answer->body && !answer->stream && answer->status == MHD_HTTP_OK)
		answer->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
}

static enum MHD_Result send_answer(struct exchange *exchange, struct serving *serving,
				   const struct http_request *request, const char *method,
				   struct http_answer *answer)
{
	exchange->response = response_of(serving, request, answer, &exchange->stream);
	if (!exchange->response)
		return MHD_NO;
	/*
	 * With chunks libmicrohttpd 0.9.75 would send the final chunk, although HEAD responses are
	 * without body.
	 */
	if (answer->stream && !strcmp(method, MHD_HTTP_METHOD_HEAD))
		MHD_set_response_options(exchange->response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT,
					 MHD_RO_END);
	return MHD_queue_response(request->connection, answer->status, exchange->response);
}

/*
 * The head has arrived.  A refused request has no clear end, so the connection is closed
 * afterwards.
 */
static enum MHD_Result begin(struct serving *serving, struct MHD_Connection *connection,
			     const char *url, const char *method, const char *version, void **state)
{
	struct exchange *exchange = calloc(1, sizeof(*exchange));
	const struct http_request request = { .connection = connection };
	struct http_answer answer = {};

	if (!exchange)
		return MHD_NO;
	*state = exchange;
	if (http_head__read(&exchange->head, connection, url, version))
		return MHD_YES;
	refuse(&answer, MHD_HTTP_BAD_REQUEST, end_connection);
	return send_answer(exchange, serving, &request, method, &answer);
}

/*
 * libmicrohttpd calls this after the head, then for each piece of a body, and once more at the end;
 * GET requests are without body.  The connection becomes busy only at the end, so an endless body
 * does not keep a connection from being evicted.
 */
static enum MHD_Result on_request(void *data, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **state)
{
	struct http_answer answer = { .status = MHD_HTTP_OK };
	struct exchange *exchange = *state;
	struct serving *serving = data;
	struct http_request request;

	if (!exchange)
		return begin(serving, connection, url, method, version, state);
	if (*upload_size) { /* dropped */
		*upload_size = 0;
		return MHD_YES;
	}
	request = (struct http_request){
		.connection = connection,
		.head = &exchange->head,
		.access = serving->server->options.access,
	};
	http_connections__set_busy(serving->server->connections, http_request__fd(&request), true);
	fill(serving->server, exchange->head.path, method, &request, &answer);
	return send_answer(exchange, serving, &request, method, &answer);
}

static void on_completed(void *data, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode code)
{
	const struct http_request request = { .connection = connection };
	struct http_server *server = ((struct serving *)data)->server;
	struct exchange *exchange = *state;

	if (!exchange)
		return;
	http_connections__set_busy(server->connections, http_request__fd(&request), false);
	if (exchange->stream && code == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED)
		http_stream__time_out(exchange->stream);
	if (exchange->response)
		MHD_destroy_response(exchange->response);
	free(exchange);
}

static size_t on_escaped(void *data, struct MHD_Connection *connection, char *text)
{
	return http_head__unescape(text);
}

static void on_connection(void *data, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	const struct http_request request = { .connection = connection };
	struct http_server *server = ((struct serving *)data)->server;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED)
		http_connections__remove(server->connections, http_request__fd(&request));
}

static bool serve(void *data, int fd, const struct sockaddr *peer, socklen_t length)
{
	struct http_server *server = data;
	bool is_served;

	pthread_mutex_lock(&server->lock);
	is_served = MHD_add_connection(server->serving->daemon, fd, peer, length) == MHD_YES;
	pthread_mutex_unlock(&server->lock);
	return is_served;
}

/* Ignores libmicrohttpd's messages, which strangers could cause in any number. */
static void ignore(void *data, const char *format, va_list arguments)
{
}

/* Reads a whole PEM file; the caller frees @text. */
static int read_pem(const char *path, char **text, struct dart_error *error)
{
	FILE *file = fopen(path, "re");
	size_t length;
	int ret = 0;

	*text = NULL;
	if (!file)
		return dart_error__system(error, errno, "cannot open '%s'", path);
	*text = calloc(1, PEM_BYTES_MAX + 1);
	length = *text ? fread(*text, 1, PEM_BYTES_MAX, file) : 0;
	if (!*text)
		ret = dart_error__no_memory(error);
	else if (ferror(file) || !length)
		ret = dart_error__set(error, EIO, "cannot read '%s', or it is empty", path);
	fclose(file);
	return ret;
}

static unsigned int threads_of(const struct http_server_options *options)
{
	const unsigned int threads = options->threads ?: 1;

	return threads < HTTP_THREADS_MAX ? threads : HTTP_THREADS_MAX;
}

/* Starts serving with the texts @certificate and @key; without TLS if they are NULL. */
static int start(struct serving *serving, const char *certificate, const char *key,
		 struct dart_error *error)
{
	struct http_server *server = serving->server;
	/* To libmicrohttpd one thread is not a pool; it starts a single thread itself. */
	const unsigned int threads = threads_of(&server->options);
	const struct MHD_OptionItem all[] = {
		{ MHD_OPTION_THREAD_POOL_SIZE, threads > 1 ? threads : 0, NULL },
		{ MHD_OPTION_END, 0, NULL },
	};
	const struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)certificate },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)TLS_PRIORITIES },
		{ MHD_OPTION_END, 0, NULL },
	};
	const struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };

	serving->daemon = MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG | MHD_USE_NO_LISTEN_SOCKET |
			MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME | (certificate ? MHD_USE_TLS : 0),
		0, NULL, NULL, on_request, serving, MHD_OPTION_EXTERNAL_LOGGER, ignore, NULL,
		MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)(HTTP_CONNECTIONS_MAX + HTTP_CONNECTIONS_SPARE),
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)HTTP_IDLE_SECONDS,
		MHD_OPTION_UNESCAPE_CALLBACK, on_escaped, NULL, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, serving, MHD_OPTION_NOTIFY_CONNECTION, on_connection, serving,
		MHD_OPTION_ARRAY, threads > 1 ? all : none, MHD_OPTION_ARRAY,
		certificate ? tls : none, MHD_OPTION_END);
	if (serving->daemon)
		return 0;
	return certificate ?
		       dart_error__set(
			       error, EINVAL,
			       "cannot serve HTTPS with the certificate '%s' and the key '%s' (are they a PEM certificate and its key?)",
			       server->options.certificate, server->options.key) :
		       dart_error__set(error, EIO, "cannot serve HTTP at '%s'",
				       server->options.address ?: HTTP_ADDRESS_DEFAULT);
}

/* Ends all connections.  NULL is allowed. */
static void serving__free(struct serving *serving)
{
	if (!serving)
		return;
	http_streams__end(serving->streams);
	MHD_stop_daemon(serving->daemon);
	http_streams__free(serving->streams);
	free(serving);
}

static int serving__new(struct http_server *server, const char *certificate, const char *key,
			struct serving **servingp, struct dart_error *error)
{
	struct serving *serving = calloc(1, sizeof(*serving));
	int ret;

	if (!serving)
		return dart_error__no_memory(error);
	serving->server = server;
	serving->streams = http_streams__new(server->options.streams ?: HTTP_STREAMS_MAX);
	ret = serving->streams ? start(serving, certificate, key, error) :
				 dart_error__no_memory(error);
	if (!ret) {
		*servingp = serving;
		return 0;
	}
	if (serving->streams)
		http_streams__free(serving->streams);
	free(serving);
	return ret;
}

static void forget(char *certificate, char *key)
{
	if (key)
		explicit_bzero(key, strlen(key));
	free(key);
	free(certificate);
}

static bool are_equal(const char *one, const char *other)
{
	return !strcmp(one ?: "", other ?: "");
}

int http_server__reload(struct http_server *server, struct dart_error *error)
{
	const struct http_server_options *options = &server->options;
	struct serving *serving = NULL, *before = NULL;
	char *certificate = NULL, *key = NULL;
	int ret = 0;

	if (options->certificate)
		ret = read_pem(options->certificate, &certificate, error) ?:
			      read_pem(options->key, &key, error);
	if (!ret && (!server->serving || !are_equal(certificate, server->certificate) ||
		     !are_equal(key, server->key)))
		ret = serving__new(server, certificate, key, &serving, error);
	if (ret || !serving) {
		forget(certificate, key);
		return ret;
	}
	pthread_mutex_lock(&server->lock);
	before = server->serving;
	server->serving = serving;
	pthread_mutex_unlock(&server->lock);
	serving__free(before);
	forget(server->certificate, server->key);
	server->certificate = certificate;
	server->key = key;
	return 0;
}

static void look_at_sockets(struct http_server *server)
{
	struct sockaddr_storage address;
	socklen_t length;
	int i;

	server->is_local = true;
	for (i = server->fd_count - 1; i >= 0; i--) {
		length = sizeof(address);
		memset(&address, 0, sizeof(address));
		getsockname(server->fds[i], (struct sockaddr *)&address, &length);
		if (!http_address__is_loopback((struct sockaddr *)&address))
			server->is_local = false;
		server->address = address;
	}
}

/* As http_address__listen(), also at addresses of the server before. */
static int listen_after(const struct http_server_options *options, int fds[static HTTP_SOCKETS_MAX],
			struct dart_error *error)
{
	const struct http_server *before = options->before;
	int count;

	if (!before)
		return http_address__listen(options->address, false, fds, error);
	http_address__share(before->fds, before->fd_count, true);
	count = http_address__listen(options->address, true, fds, error);
	http_address__share(before->fds, before->fd_count, false);
	if (count > 0)
		http_address__share(fds, count, false);
	return count;
}

static int check_remedy(const struct http_server *server, struct dart_error *error)
{
	const struct http_server_options *options = &server->options;

	if (!options->remedy || server->is_local || http_access__has_secret(options->access))
		return 0;
	return dart_error__set(error, EACCES, "the page at '%s' could be seen by other hosts: %s",
			       options->address ?: HTTP_ADDRESS_DEFAULT, options->remedy);
}

int http_server__new(const struct http_server_options *options, struct http_server **serverp,
		     struct dart_error *error)
{
	struct http_server *server = calloc(1, sizeof(*server));
	int ret;

	if (!server)
		return dart_error__no_memory(error);
	server->options = *options;
	pthread_mutex_init(&server->lock, NULL);
	server->fd_count = ret = listen_after(options, server->fds, error);
	if (ret < 0)
		goto err_server;
	server->options.before = NULL;
	look_at_sockets(server);
	ret = check_remedy(server, error) ?: http_server__reload(server, error);
	if (ret)
		goto err_sockets;
	/*
	 * The first connection may arrive at once; the lock makes it wait until this pointer is
	 * set.
	 */
	pthread_mutex_lock(&server->lock);
	server->connections = http_connections__new(server->fds, server->fd_count, serve, server);
	pthread_mutex_unlock(&server->lock);
	if (!server->connections) {
		ret = dart_error__no_memory(error);
		goto err_serving;
	}
	*serverp = server;
	return 0;

err_serving:
	serving__free(server->serving);
	forget(server->certificate, server->key);
err_sockets:
	while (server->fd_count)
		close(server->fds[--server->fd_count]);
err_server:
	pthread_mutex_destroy(&server->lock);
	free(server);
	return ret;
}

unsigned int http_server__port(const struct http_server *server)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&server->address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&server->address;

	return ntohs(server->address.ss_family == AF_INET ? v4->sin_port : v6->sin6_port);
}

bool http_server__is_local(const struct http_server *server)
{
	return server->is_local;
}

void http_server__url(const struct http_server *server, char url[HTTP_URL_MAX])
{
	http_address__url((const struct sockaddr *)&server->address, server->is_local,
			  server->options.certificate ? "https" : "http", url);
}

void http_server__free(struct http_server *server)
{
	if (!server)
		return;
	http_connections__stop(server->connections);
	serving__free(server->serving);
	http_connections__free(server->connections);
	forget(server->certificate, server->key);
	pthread_mutex_destroy(&server->lock);
	free(server);
}
