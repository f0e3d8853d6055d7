// SPDX-License-Identifier: GPL-2.0-only
/* Asks libmicrohttpd for the parts of a request. */
#include "http_request.h"

#include <microhttpd.h>

#include "http_address.h"

const char *http_request__argument(const struct http_request *request,
				   const char *name)
{
	return MHD_lookup_connection_value(request->connection,
					   MHD_GET_ARGUMENT_KIND, name);
}

const char *http_request__header(const struct http_request *request,
				 const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND,
					   name);
}

const char *http_request__cookie(const struct http_request *request,
				 const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND,
					   name);
}

int http_request__fd(const struct http_request *request)
{
	return MHD_get_connection_info(request->connection,
				       MHD_CONNECTION_INFO_CONNECTION_FD)
		->connect_fd;
}

bool http_request__is_at_loopback(const struct http_request *request)
{
	struct sockaddr_storage address = {};
	socklen_t length = sizeof(address);

	return !getsockname(http_request__fd(request),
			    (struct sockaddr *)&address, &length) &&
	       http_address__is_loopback((struct sockaddr *)&address);
}

bool http_request__is_from_this_host(const struct http_request *request)
{
	const struct sockaddr *peer =
		MHD_get_connection_info(request->connection,
					MHD_CONNECTION_INFO_CLIENT_ADDRESS)
			->client_addr;

	return http_address__is_loopback(peer) &&
	       !http_request__header(request, "Forwarded") &&
	       !http_request__header(request, "X-Forwarded-For");
}
