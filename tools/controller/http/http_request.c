// SPDX-License-Identifier: GPL-2.0-only
/* Asks libmicrohttpd for the parts of a request. */
#include "http_request.h"

#include <microhttpd.h>
#include <netdb.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "http_head.h"
#include "tools/controller/base/http_address.h"

const char *http_request__argument(const struct http_request *request, const char *name)
{
	const char *value = NULL;

	if (MHD_lookup_connection_value_n(request->connection, MHD_GET_ARGUMENT_KIND, name,
					  strlen(name), &value, NULL) != MHD_YES)
		return NULL;
	return value ?: "";
}

const char *http_request__host(const struct http_request *request)
{
	return request->head && request->head->has_host ? request->head->host : NULL;
}

const char *http_request__header(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *http_request__cookie(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND, name);
}

int http_request__fd(const struct http_request *request)
{
	return MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD)
		->connect_fd;
}

bool http_request__is_at_loopback(const struct http_request *request)
{
	struct sockaddr_storage address = {};
	socklen_t length = sizeof(address);

	return !getsockname(http_request__fd(request), (struct sockaddr *)&address, &length) &&
	       http_address__is_loopback((struct sockaddr *)&address);
}

/* Prints a numeric address, with or without its port; "" if that fails. */
static void print_address(const struct sockaddr *address, socklen_t length, bool has_port,
			  char text[static HTTP_ADDRESS_TEXT_MAX])
{
	const bool has_brackets = has_port && address->sa_family == AF_INET6;
	char host[INET6_ADDRSTRLEN + IFNAMSIZ], port[8];

	*text = '\0';
	if (getnameinfo(address, length, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	snprintf(text, HTTP_ADDRESS_TEXT_MAX, "%s%s%s%s%s", has_brackets ? "[" : "", host,
		 has_brackets ? "]" : "", has_port ? ":" : "", has_port ? port : "");
}

void http_request__own_address(const struct http_request *request,
			       char text[static HTTP_ADDRESS_TEXT_MAX])
{
	struct sockaddr_storage address = {};
	socklen_t length = sizeof(address);

	getsockname(http_request__fd(request), (struct sockaddr *)&address, &length);
	print_address((struct sockaddr *)&address, length, true, text);
}

void http_request__peer(const struct http_request *request, char text[static HTTP_ADDRESS_TEXT_MAX])
{
	const struct sockaddr *peer =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
			->client_addr;

	print_address(peer,
		      peer->sa_family == AF_INET ? sizeof(struct sockaddr_in) :
						   sizeof(struct sockaddr_in6),
		      false, text);
}

bool http_request__is_from_this_host(const struct http_request *request)
{
	const struct sockaddr *peer =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
			->client_addr;

	return http_address__is_loopback(peer) && !http_request__header(request, "Forwarded") &&
	       !http_request__header(request, "X-Forwarded-For");
}
