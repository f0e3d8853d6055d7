// SPDX-License-Identifier: GPL-2.0-only
/* Keeps a list of devices up to date, and registers each. */
#include <errno.h>
#include <stdio.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/base/log.h"
#include "devices.h"

/* A datagram is shorter: netlink sends no more at once. */
#define DATAGRAM_MAX 65536

static struct device *devices__find(const struct devices *devices, uint64_t number)
{
	struct device *device;

	TAILQ_FOREACH(device, &devices->list, link)
		if (device->number == number)
			return device;
	return NULL;
}

/* The entry of @device if it is this follower's, or NULL. */
static struct entry *devices__entry(const struct devices *devices, const struct device *device)
{
	struct selector_key key = devices->key;
	struct entry *entry;

	devices->kind->set_key(device, &key);
	entry = inventory__find_source(&devices->follower.followers->registry->inventory, &key);
	return entry && entry->group == &devices->follower.group ? entry : NULL;
}

static void devices__forget(struct devices *devices, struct device *device)
{
	follower__forget(&devices->follower, &device->place);
	TAILQ_REMOVE(&devices->list, device, link);
	free(device);
}

static void devices__drop(struct devices *devices, struct device *device)
{
	struct entry *entry = devices__entry(devices, device);

	if (entry)
		registry__entry_ended(devices->follower.followers->registry, entry);
	devices__forget(devices, device);
}

void devices__lose(struct devices *devices, uint64_t number)
{
	struct device *device = devices__find(devices, number);

	if (device)
		devices__drop(devices, device);
}

static struct device *devices__add(struct devices *devices, uint64_t number,
				   uint64_t inode, const char *name)
{
	struct device *device = calloc(1, sizeof(*device) + strlen(name) + 1);
	struct dart_error error;

	if (!device) {
		dart_error__no_memory(&error);
		follower__fail(&devices->follower, NULL, COVERAGE_MEMORY, name, &error);
		return NULL;
	}
	device->number = number;
	device->inode = inode;
	device->is_new = true;
	device->is_seen = true;
	strcpy(device->name, name);
	TAILQ_INSERT_TAIL(&devices->list, device, link);
	return device;
}

/* Its entry leaves the table, to come back with its new name. */
static void devices__rename(struct devices *devices, struct device *device)
{
	struct registry *registry = devices->follower.followers->registry;
	struct entry *entry = devices__entry(devices, device);
	struct dart_error error;

	if (entry && !registry__remove(registry, entry, &error))
		devices->is_renamed = true;
	devices__forget(devices, device);
}

struct device *devices__see(struct devices *devices, uint64_t number,
			    uint64_t inode, const char *name)
{
	struct device *device;

	if (devices->count) {
		if (!devices->count->present++)
			snprintf(devices->count->example,
				 sizeof(devices->count->example), "%s", name);
		return NULL;
	}
	device = devices__find(devices, number);
	if (device && device->inode == inode && !strcmp(device->name, name)) {
		device->is_seen = true;
		/* The file system was mounted again, with the same numbers as before. */
		if (device->had_entry && !devices->kind->take && !devices__entry(devices, device))
			device->is_new = true;
		return device;
	}
	if (device && device->inode == inode)
		devices__rename(devices, device);
	else if (device)
		devices__drop(devices, device);
	return devices__add(devices, number, inode, name);
}

/* Part of a batch. */
static void devices__register_new(struct devices *devices)
{
	struct selector selector;
	struct dart_error error;
	struct device *device;
	int ret;

	TAILQ_FOREACH(device, &devices->list, link) {
		if (!device->is_new)
			continue;
		device->is_new = false;
		ret = devices->kind->select(devices, device, &selector, &error);
		/* It has ended already: a message will tell. */
		if (ret == -ENOENT || ret == -ENODEV)
			continue;
		if (ret) {
			follower__fail(&devices->follower, &device->place,
				       coverage__reason_of(-ret), device->name, &error);
			continue;
		}
		follower__register(&devices->follower, &selector, &device->place, device->name);
		selector__close(&selector);
		device->had_entry = devices__entry(devices, device);
	}
}

/* Compares all devices with the list. */
static int devices__sync(struct devices *devices)
{
	struct device *device, *next;
	int ret;

	TAILQ_FOREACH(device, &devices->list, link)
		device->is_seen = false;
	ret = devices->kind->list(devices);
	if (ret)
		return ret;
	for (device = TAILQ_FIRST(&devices->list); device; device = next) {
		next = TAILQ_NEXT(device, link);
		if (!device->is_seen)
			devices__drop(devices, device);
	}
	return 0;
}

/* Takes all messages that wait; -ENOBUFS: some were lost. */
static int devices__read(struct devices *devices)
{
	char *bytes = malloc(DATAGRAM_MAX);
	struct sockaddr_nl sender;
	struct iovec iov = { .iov_base = bytes, .iov_len = DATAGRAM_MAX - 1 };
	struct msghdr message = {
		.msg_name = &sender, .msg_iov = &iov, .msg_iovlen = 1,
	};
	bool have_lost = false;
	ssize_t length;
	int ret = 0;

	if (!bytes)
		return -ENOMEM;
	while (!ret) {
		message.msg_namelen = sizeof(sender);
		length = recvmsg(devices->socket, &message, 0);
		if (length < 0 && errno != ENOBUFS && errno != EINTR)
			ret = -errno;
		if (length < 0 || message.msg_flags & MSG_TRUNC) {
			have_lost |= length >= 0 || errno == ENOBUFS;
			continue;
		}
		/* Other processes may send, too. */
		if (sender.nl_pid)
			continue;
		bytes[length] = '\0';
		devices->kind->take(devices, bytes, length);
	}
	free(bytes);
	if (ret != -EAGAIN)
		return ret;
	return have_lost ? -ENOBUFS : 0;
}

/* In a batch that follower__begin() began: @ret is the result of learning the changes. */
static void devices__take_changes(struct devices *devices, int ret)
{
	/* A lease begins with the publication; only then can a removed entry be restored. */
	if (devices->is_renamed) {
		follower__end_or_log(&devices->follower);
		follower__begin(&devices->follower);
	}
	devices__register_new(devices);
	follower__end_or_log(&devices->follower);
	if (!ret)
		return;
	log__peer_error("cannot learn which %s there are: %s", devices->kind->what, strerror(-ret));
	follower__look_again(&devices->follower);
}

static int on_event(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct devices *devices = userdata;
	int ret;

	devices->is_renamed = false;
	follower__begin(&devices->follower);
	ret = devices->kind->take ? devices__read(devices) : -ENOBUFS;
	if (ret == -ENOBUFS || ret == -ENOMEM)
		ret = devices__sync(devices);
	devices__take_changes(devices, ret);
	return 0;
}

/* Reading the event has cleared it, so changes during the rate limit are not reported again. */
static int on_rested(sd_event_source *source, void *userdata)
{
	return on_event(source, -1, 0, userdata);
}

static void devices__retry(struct follower *follower)
{
	struct devices *devices = (struct devices *)follower;
	struct device *device;
	int ret;

	devices->is_renamed = false;
	follower__begin(follower);
	ret = devices__sync(devices);
	TAILQ_FOREACH(device, &devices->list, link)
		device->is_new |= coverage_place__is_missing(&device->place);
	devices__take_changes(devices, ret);
}

static void devices__free(struct follower *follower)
{
	struct devices *devices = (struct devices *)follower;
	struct device *device;

	while ((device = TAILQ_FIRST(&devices->list)))
		devices__forget(devices, device);
	sd_event_source_disable_unref(devices->events);
	if (devices->socket >= 0)
		close(devices->socket);
	if (devices->fd >= 0)
		close(devices->fd);
	free(devices);
}

static const struct follower_operations devices_operations = {
	.free = devices__free,
	.retry = devices__retry,
};

/* Opens everything but the list; devices__free() closes it, even on error. */
static int devices__open(struct devices *devices, sd_event *loop, struct dart_error *error)
{
	int ret;

	devices->socket = devices->kind->open(devices, error);
	if (devices->socket < 0)
		return devices->socket;
	ret = sd_event_add_io(loop, &devices->events, devices->socket,
			      devices->kind->changed ?: EPOLLIN, on_event, devices);
	if (ret >= 0 && !devices->kind->take)
		ret = sd_event_source_set_ratelimit(devices->events, 1000000, 1);
	if (ret >= 0 && !devices->kind->take)
		ret = sd_event_source_set_ratelimit_expire_callback(devices->events, on_rested);
	/* Handle the event after the ends of entries are known. */
	if (ret >= 0 && !devices->kind->take)
		ret = sd_event_source_set_priority(devices->events, SD_EVENT_PRIORITY_NORMAL + 1);
	if (ret < 0)
		return dart_error__system(error, -ret, "cannot wait for %s", devices->kind->what);
	return 0;
}

int devices__count(const struct devices_kind *kind, struct device_count *count,
		   struct dart_error *error)
{
	struct devices devices = { .kind = kind, .fd = -1, .count = count };
	int ret;

	*count = (struct device_count){ };
	TAILQ_INIT(&devices.list);
	devices.socket = kind->open(&devices, error);
	ret = devices.socket < 0 ? devices.socket : kind->list(&devices);
	if (devices.socket >= 0 && ret)
		dart_error__system(error, -ret, "cannot learn which %s there are", kind->what);
	if (devices.socket >= 0)
		close(devices.socket);
	if (devices.fd >= 0)
		close(devices.fd);
	return ret;
}

int devices__follow(struct followers *followers, const struct devices_kind *kind,
		    const struct source *source, const struct selector_choice *choice,
		    struct follower **result, struct dart_error *error)
{
	struct devices *devices = calloc(1, sizeof(*devices));
	int ret;

	if (!devices)
		return dart_error__no_memory(error);
	TAILQ_INIT(&devices->list);
	devices->kind = kind;
	devices->socket = -1;
	devices->fd = -1;
	devices->key = (struct selector_key){
		.source = source->id,
		.gather_ms = choice->gather_ms,
	};
	ret = devices__open(devices, followers->loop, error) ?:
		      followers__add(followers, &devices->follower, &devices_operations, source,
				     choice, NULL, error);
	if (ret) {
		devices__free(&devices->follower);
		return ret;
	}
	follower__begin(&devices->follower);
	ret = devices__sync(devices);
	if (ret)
		dart_error__system(error, -ret, "cannot learn which %s there are", kind->what);
	else
		devices__register_new(devices);
	ret = follower__end_with(&devices->follower, ret, error);
	if (ret)
		followers__drop(followers, &devices->follower);
	else
		*result = &devices->follower;
	return ret;
}
