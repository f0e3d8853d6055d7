// SPDX-License-Identifier: GPL-2.0-only
/* Keeps descriptors in the file descriptor store of systemd. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "fd_store.h"
#include "log.h"

/* A service manager that does not answer must not stop dartd for long. */
#define BARRIER_US	UINT64_C(5000000)
#define FDNAME_MAX	256	/* with the NUL */

struct fd_store_item {
	TAILQ_ENTRY(fd_store_item) link;
	char name[FD_STORE_NAME_MAX];
	int fd;
};

/* FDNAME= takes no colon, which separates the names in LISTEN_FDNAMES. */
static void encode(const char *name, char encoded[static FDNAME_MAX])
{
	size_t length = 0;

	for (; *name; name++) {
		if (*name == ':' || *name == '%')
			length += sprintf(encoded + length, "%%%02X", *name);
		else
			encoded[length++] = *name;
	}
	encoded[length] = '\0';
}

/* Returns false if encode() does not make @encoded, which is hostile. */
static bool decode(const char *encoded, char name[static FD_STORE_NAME_MAX])
{
	char again[FDNAME_MAX];
	const char *from = encoded;
	unsigned int byte;
	size_t length = 0;

	for (; *from; from++) {
		byte = *from;
		if (*from == '%') {
			if (sscanf(from + 1, "%2x", &byte) != 1 || !from[2])
				return false;
			from += 2;
		}
		if (!byte || length == FD_STORE_NAME_MAX - 1)
			return false;
		name[length++] = byte;
	}
	name[length] = '\0';
	encode(name, again);
	return !strcmp(again, encoded);
}

static struct fd_store_item *fd_store__item(const struct fd_store *store, const char *name)
{
	struct fd_store_item *item;

	TAILQ_FOREACH(item, &store->items, link)
		if (!strcmp(item->name, name))
			return item;
	return NULL;
}

/* Closes @fd unless it becomes an item. */
static void fd_store__add(struct fd_store *store, const char *name, int fd)
{
	struct fd_store_item *item = NULL;

	if (!fd_store__item(store, name))
		item = malloc(sizeof(*item));
	if (!item) {
		log__error("a kept descriptor '%s' is not used: out of memory, or there are two",
			   name);
		close(fd);
		return;
	}
	item->fd = fd;
	strcpy(item->name, name);
	TAILQ_INSERT_TAIL(&store->items, item, link);
}

static void forget(const char *encoded)
{
	if (sd_notifyf(0, "FDSTOREREMOVE=1\nFDNAME=%s", encoded) < 0)
		log__error("the service manager still keeps the descriptor '%s'", encoded);
}

static bool has_prefix(const char *name, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (!strncmp(name, *prefixes, strlen(*prefixes)))
			return true;
	return false;
}

void fd_store__open(struct fd_store *store, const char *const *prefixes)
{
	char **encoded = NULL, name[FD_STORE_NAME_MAX];
	int count = sd_listen_fds_with_names(1, &encoded), i;

	TAILQ_INIT(&store->items);
	if (count < 0)
		log__error("cannot take over the descriptors of the last dartd: %s",
			   strerror(-count));
	for (i = 0; i < count; i++) {
		if (decode(encoded[i], name) && has_prefix(name, prefixes)) {
			fd_store__add(store, name, SD_LISTEN_FDS_START + i);
		} else {
			log__warning("closed the unknown descriptor '%s' of the service manager",
				     encoded[i]);
			close(SD_LISTEN_FDS_START + i);
			forget(encoded[i]);
		}
		free(encoded[i]);
	}
	free(encoded);
}

static void fd_store__drop(struct fd_store *store, struct fd_store_item *item)
{
	TAILQ_REMOVE(&store->items, item, link);
	close(item->fd);
	free(item);
}

void fd_store__close(struct fd_store *store)
{
	struct fd_store_item *item;

	while ((item = TAILQ_FIRST(&store->items)))
		fd_store__drop(store, item);
}

int fd_store__send(const char *name, int fd, struct dart_error *error)
{
	char encoded[FDNAME_MAX], message[FDNAME_MAX + 32];
	int ret;

	encode(name, encoded);
	/* Polled memory would look as if its peer had closed it. */
	snprintf(message, sizeof(message), "FDSTORE=1\nFDPOLL=0\nFDNAME=%s", encoded);
	ret = sd_pid_notify_with_fds(0, 0, message, &fd, 1);
	if (!ret)
		return dart_error__set(error, ENOTCONN, "there is no service manager");
	return ret < 0 ? dart_error__system(error, -ret, "the service manager") : 0;
}

int fd_store__put(const char *name, int fd, struct dart_error *error)
{
	int ret = fd_store__send(name, fd, error);

	if (ret)
		return ret;
	ret = sd_notify_barrier(0, BARRIER_US);
	return ret < 0 ? dart_error__system(error, -ret, "the service manager") : 0;
}

void fd_store__forget(struct fd_store *store, const char *name)
{
	struct fd_store_item *item = fd_store__item(store, name);
	char encoded[FDNAME_MAX];

	encode(name, encoded);
	forget(encoded);
	if (item)
		fd_store__drop(store, item);
}

void fd_store__remove(struct fd_store *store, const char *name)
{
	fd_store__forget(store, name);
	/* The reply to the client must not overtake it. */
	sd_notify_barrier(0, BARRIER_US);
}

void fd_store__each(const struct fd_store *store, const char *prefix,
		    void (*each)(void *userdata, const char *name), void *userdata)
{
	const struct fd_store_item *item;

	TAILQ_FOREACH(item, &store->items, link)
		if (!strncmp(item->name, prefix, strlen(prefix)))
			each(userdata, item->name);
}

bool fd_store__find(const struct fd_store *store, const char *prefix,
		    char name[static FD_STORE_NAME_MAX])
{
	const struct fd_store_item *item;

	TAILQ_FOREACH(item, &store->items, link) {
		if (strncmp(item->name, prefix, strlen(prefix)))
			continue;
		strcpy(name, item->name);
		return true;
	}
	return false;
}

int fd_store__get(const struct fd_store *store, const char *name)
{
	const struct fd_store_item *item = fd_store__item(store, name);

	return item ? item->fd : -1;
}

void fd_store__release(struct fd_store *store, const char *name)
{
	struct fd_store_item *item = fd_store__item(store, name);

	if (item)
		fd_store__drop(store, item);
}
