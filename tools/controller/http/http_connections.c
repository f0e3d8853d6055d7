// SPDX-License-Identifier: GPL-2.0-only
/* Accepts the connections of an HTTP server and limits their number: see http_connections.h. */
#include "http_connections.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tools/controller/base/http_address.h"

#define SLOTS (HTTP_CONNECTIONS_MAX + HTTP_CONNECTIONS_SPARE)
/* Pause after accept() failed for lack of descriptors or memory. */
#define PAUSE_MS 100

/* A place for a connection. */
struct slot {
	int fd; /* -1: free */
	struct in6_addr peer; /* the part of the address that peer_of() keeps */
	bool is_busy;
	bool is_leaving; /* it was shut down to make room, but is not closed yet */
	/*
	 * number of its last change: the smallest number belongs to the slot that is idle longest
	 */
	uint64_t since;
};

struct http_connections {
	int fds[HTTP_SOCKETS_MAX];
	int count;
	int stop_fd;
	pthread_t thread;
	http_connections_function *serve;
	void *data;

	pthread_mutex_t lock;
	uint64_t changes;
	struct slot slots[SLOTS];
};

/*
 * Returns the part of an address that identifies a peer. Of IPv6 that is the network, because one
 * host may use all its addresses.
 */
static struct in6_addr peer_of(const struct sockaddr *address)
{
	struct in6_addr peer = {};

	if (address->sa_family == AF_INET) {
		peer.s6_addr[10] = peer.s6_addr[11] = 0xff;
		memcpy(&peer.s6_addr[12], &((const struct sockaddr_in *)address)->sin_addr, 4);
	} else if (address->sa_family == AF_INET6) {
		peer = ((const struct sockaddr_in6 *)address)->sin6_addr;
		if (!IN6_IS_ADDR_V4MAPPED(&peer) && !IN6_IS_ADDR_LOOPBACK(&peer) &&
		    !IN6_IS_ADDR_LINKLOCAL(&peer))
			memset(&peer.s6_addr[8], 0, 8);
	}
	return peer;
}

static struct slot *find(struct http_connections *connections, int fd)
{
	size_t i;

	for (i = 0; i < SLOTS; i++)
		if (connections->slots[i].fd == fd)
			return &connections->slots[i];
	return NULL;
}

/*
 * Finds the slot that has been idle longest, among the slots of @peer, or of all peers if it is
 * NULL.
 */
static struct slot *find_idle(struct http_connections *connections, const struct in6_addr *peer)
{
	struct slot *slot, *found = NULL;
	size_t i;

	for (i = 0; i < SLOTS; i++) {
		slot = &connections->slots[i];
		if (slot->fd < 0 || slot->is_busy || slot->is_leaving ||
		    (peer && memcmp(&slot->peer, peer, sizeof(*peer))))
			continue;
		if (!found || slot->since < found->since)
			found = slot;
	}
	return found;
}

/*
 * Shuts down the connection that has been idle longest; libmicrohttpd reads its end and closes it.
 * The caller holds the lock, so that the descriptor stays open meanwhile.
 */
static bool make_room(struct http_connections *connections, const struct in6_addr *peer)
{
	struct slot *idle = find_idle(connections, peer);

	if (!idle)
		return false;
	idle->is_leaving = true;
	shutdown(idle->fd, SHUT_RDWR);
	return true;
}

static size_t count_of(const struct http_connections *connections, const struct in6_addr *peer)
{
	size_t count = 0, i;

	for (i = 0; i < SLOTS; i++)
		count += connections->slots[i].fd >= 0 && !connections->slots[i].is_leaving &&
			 !memcmp(&connections->slots[i].peer, peer, sizeof(*peer));
	return count;
}

/*
 * When all connections are busy, shuts down the oldest connection of the address with the most
 * connections, for an address that holds @count connections. False if no address holds more than
 * the @count + 1 that this address wants.
 */
static bool make_room_of_most(struct http_connections *connections, size_t count)
{
	size_t most = count + 1, of_peer, i;
	struct slot *slot, *found = NULL;

	for (i = 0; i < SLOTS; i++) {
		slot = &connections->slots[i];
		if (slot->fd < 0 || slot->is_leaving)
			continue;
		of_peer = count_of(connections, &slot->peer);
		if (of_peer < most || (of_peer == most && (!found || slot->since > found->since)))
			continue;
		most = of_peer;
		found = slot;
	}
	if (!found)
		return false;
	found->is_leaving = true;
	shutdown(found->fd, SHUT_RDWR);
	return true;
}

/* Assigns a slot to @fd. False if all slots are busy. */
static bool admit(struct http_connections *connections, int fd, const struct in6_addr *peer)
{
	size_t all = 0, of_peer = 0, i;
	struct slot *slot;
	bool has_room;

	pthread_mutex_lock(&connections->lock);
	/* libmicrohttpd closes a connection that it cannot serve without a notification. */
	slot = find(connections, fd);
	if (slot)
		slot->fd = -1;
	for (i = 0; i < SLOTS; i++) {
		slot = &connections->slots[i];
		if (slot->fd < 0 || slot->is_leaving)
			continue;
		all++;
		of_peer += !memcmp(&slot->peer, peer, sizeof(*peer));
	}
	has_room = (of_peer < HTTP_PEER_CONNECTIONS_MAX || make_room(connections, peer)) &&
		   (all < HTTP_CONNECTIONS_MAX || of_peer >= HTTP_PEER_CONNECTIONS_MAX ||
		    make_room(connections, NULL) || make_room_of_most(connections, of_peer));
	slot = has_room ? find(connections, -1) : NULL;
	if (slot)
		*slot = (struct slot){
			.fd = fd,
			.peer = *peer,
			.since = ++connections->changes,
		};
	pthread_mutex_unlock(&connections->lock);
	return slot;
}

void http_connections__set_busy(struct http_connections *connections, int fd, bool is_busy)
{
	struct slot *slot;

	pthread_mutex_lock(&connections->lock);
	slot = find(connections, fd);
	if (slot) {
		slot->is_busy = is_busy;
		slot->since = ++connections->changes;
	}
	pthread_mutex_unlock(&connections->lock);
}

void http_connections__remove(struct http_connections *connections, int fd)
{
	struct slot *slot;

	pthread_mutex_lock(&connections->lock);
	slot = find(connections, fd);
	if (slot)
		slot->fd = -1;
	pthread_mutex_unlock(&connections->lock);
}

static bool lacks_resources(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM;
}

/* Returns false if accepting must pause, for lack of descriptors or memory. */
static bool accept_one(struct http_connections *connections, int listener)
{
	struct sockaddr_storage address = {};
	socklen_t length = sizeof(address);
	struct in6_addr peer;
	int fd = accept4(listener, (struct sockaddr *)&address, &length,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0) {
		if (!lacks_resources(errno))
			return true;
		pthread_mutex_lock(&connections->lock);
		make_room(connections, NULL);
		pthread_mutex_unlock(&connections->lock);
		return false;
	}
	peer = peer_of((struct sockaddr *)&address);
	if (!admit(connections, fd, &peer))
		close(fd);
	else if (!connections->serve(connections->data, fd, (struct sockaddr *)&address, length))
		http_connections__remove(connections, fd);
	return true;
}

static void *accept_all(void *data)
{
	struct http_connections *connections = data;
	struct pollfd polls[HTTP_SOCKETS_MAX + 1];
	bool can_accept = true;
	int i;

	for (i = 0; i < connections->count; i++)
		polls[i] = (struct pollfd){ connections->fds[i], POLLIN, 0 };
	polls[i] = (struct pollfd){ connections->stop_fd, POLLIN, 0 };
	for (;;) {
		if (can_accept)
			poll(polls, connections->count + 1, -1);
		else
			poll(&polls[connections->count], 1, PAUSE_MS);
		if (polls[connections->count].revents)
			return NULL;
		can_accept = true;
		for (i = 0; i < connections->count; i++)
			if (polls[i].revents && !accept_one(connections, polls[i].fd))
				can_accept = false;
	}
}

struct http_connections *http_connections__new(const int *fds, int count,
					       http_connections_function *serve, void *data)
{
	struct http_connections *connections = calloc(1, sizeof(*connections));
	sigset_t all, before;
	size_t i;
	int err;

	if (!connections)
		return NULL;
	connections->serve = serve;
	connections->data = data;
	connections->count = count;
	memcpy(connections->fds, fds, count * sizeof(*fds));
	for (i = 0; i < SLOTS; i++)
		connections->slots[i].fd = -1;
	connections->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (connections->stop_fd < 0)
		goto err_connections;
	pthread_mutex_init(&connections->lock, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&connections->thread, NULL, accept_all, connections);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		goto err_stop;
	pthread_setname_np(connections->thread, "http-accept");
	return connections;

err_stop:
	pthread_mutex_destroy(&connections->lock);
	close(connections->stop_fd);
err_connections:
	free(connections);
	return NULL;
}

void http_connections__stop(struct http_connections *connections)
{
	int i;

	eventfd_write(connections->stop_fd, 1);
	pthread_join(connections->thread, NULL);
	for (i = 0; i < connections->count; i++)
		close(connections->fds[i]);
	close(connections->stop_fd);
}

void http_connections__free(struct http_connections *connections)
{
	pthread_mutex_destroy(&connections->lock);
	free(connections);
}
