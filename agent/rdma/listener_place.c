// SPDX-License-Identifier: GPL-2.0-only
/* Listens for peers at the addresses of the configuration, or at all. */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/listen_address.h"
#include "listener.h"

/* The errors of the RDMA CM for a port in use. */
static bool is_taken(int code)
{
	return code == EADDRINUSE || code == EADDRNOTAVAIL;
}

static struct rdma_cm_id *listener__add_id(struct listener *listener)
{
	uint8_t class = device__traffic_class(listener->device);
	struct rdma_cm_id **ids, **id;

	ids = reallocarray(listener->ids, listener->id_count + 1, sizeof(*ids));
	if (!ids)
		return NULL;
	listener->ids = ids;
	id = &ids[listener->id_count];
	if (rdma_create_id(listener->channel, id, NULL, RDMA_PS_TCP))
		return NULL;
	listener->id_count++;
	/* Of the TCP connections of iWARP; RoCE takes it from the queue pairs. */
	if (class)
		rdma_set_option(*id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &class, sizeof(class));
	return *id;
}

static void listener__remove_id(struct listener *listener)
{
	rdma_destroy_id(listener->ids[--listener->id_count]);
}

#define BACKLOG 64

/*
 * Listens at any address of one family.  One listener for both families would not do: the kernel
 * opens a TCP socket for each address and family on iWARP devices, and rejects IPv4 peers of an
 * IPv6 listener before dartd hears of them.
 */
static int listen_family(struct listener *listener, sa_family_t family, uint16_t port)
{
	union listen_address address = { .any.sa_family = family };
	struct rdma_cm_id *id = listener__add_id(listener);
	int only = 1;
	int code;

	if (!id)
		return -errno;
	/* The port has the same place in addresses of both families. */
	address.v4.sin_port = htobe16(port);
	if (family == AF_INET6)
		rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &only, sizeof(only));
	if (!rdma_bind_addr(id, &address.any) && !rdma_listen(id, BACKLOG))
		return 0;
	code = errno;
	listener__remove_id(listener);
	return -code;
}

/* Listens at all addresses, of IPv6 and IPv4 if the host supports both. */
static int listen_any(struct listener *listener, uint16_t port, struct dart_error *error)
{
	int v6 = listen_family(listener, AF_INET6, port);
	int v4 = is_taken(-v6) ? v6 : listen_family(listener, AF_INET, port);

	if (!v4 || (!v6 && !is_taken(-v4)))
		return 0;
	return dart_error__set(error, -v4, "cannot listen for controllers on port %u: %s%s", port,
			       strerror(-v4), is_taken(-v4) ? " (choose another with --port)" : "");
}

static const char *remedy(int code)
{
	if (code == EADDRINUSE)
		return " (choose another port)";
	if (code == EADDRNOTAVAIL || code == ENODEV)
		return " (is it an address of this host, on an interface with an RDMA device?)";
	return "";
}

static int listen_at(struct listener *listener, const char *text, uint16_t port,
		     struct dart_error *error)
{
	struct rdma_cm_id *id = listener__add_id(listener);
	union listen_address address = listen_address__parse(text, port);

	if (!id)
		return dart_error__system(error, errno, "cannot use the RDMA CM");
	if (rdma_bind_addr(id, &address.any))
		return dart_error__set(error, errno,
				       "cannot listen for controllers at %s, port %u: %s%s", text,
				       port, strerror(errno), remedy(errno));
	dart_cm_contexts__note(listener->device->cm_contexts, id->verbs);
	/* Its memory regions belong to the one device. */
	if (id->verbs && !device__is(listener->device, id->verbs))
		return dart_error__set(
			error, EXDEV,
			"cannot listen for controllers at %s: it is an address of RDMA device %s, and the agent uses %s (choose the device in the configuration)",
			text, ibv_get_device_name(id->verbs->device),
			device__name(listener->device));
	if (rdma_listen(id, BACKLOG))
		return dart_error__set(error, errno,
				       "cannot listen for controllers at %s, port %u: %s%s", text,
				       port, strerror(errno), remedy(errno));
	return 0;
}

int listener__listen(struct listener *listener, const struct listener_place *place,
		     struct dart_error *error)
{
	size_t i;
	int ret = 0;

	if (!place->count)
		return listen_any(listener, place->port, error);
	for (i = 0; !ret && i < place->count; i++)
		ret = listen_at(listener, place->addresses[i], place->port, error);
	return ret;
}

void listener__destroy_ids(struct listener *listener)
{
	while (listener->id_count)
		listener__remove_id(listener);
	free(listener->ids);
	listener->ids = NULL;
}
