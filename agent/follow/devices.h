/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Followers of a kind of devices whose changes the kernel tells over a netlink socket: one message
 * for each, or none if the socket had no room, when all are compared.  For a kind without messages,
 * a file reports changes: then all are compared, at most once a second.
 */
#ifndef DEVICES_H
#define DEVICES_H

#include <limits.h>

#include "follower.h"

struct device {
	TAILQ_ENTRY(device) link;
	uint64_t number;	/* unique among the devices of its kind */
	uint64_t inode;		/* tells devices apart that had the same number; or 0 */
	struct coverage_place place;
	bool is_new;		/* its entry has not been added yet */
	bool is_seen;		/* while all are compared */
	bool had_entry;		/* its entry was added, and may have ended since */
	char name[];
};

/* The devices of a kind on the host. */
struct device_count {
	uint64_t present;
	char example[NAME_MAX + 1];	/* the name of one */
};

struct devices {
	struct follower follower;	/* first */
	const struct devices_kind *kind;
	int socket;			/* or another file that tells of changes */
	sd_event_source *events;
	struct selector_key key;	/* of all; of each with its number */
	int fd;				/* of the kind, or -1 */
	bool is_renamed;		/* an entry has left, and comes back */
	struct device_count *count;	/* devices are counted only; or NULL */
	TAILQ_HEAD(, device) list;
};

/* The operations of a kind of devices. */
struct devices_kind {
	const char *what;	/* "network devices" */
	/* Opens @devices->fd, if it needs one, and the socket, which it returns. */
	int (*open)(struct devices *devices, struct dart_error *error);
	/* Calls devices__see() for each device that there is; returns -errno. */
	int (*list)(struct devices *devices);
	/* The epoll event by which a file tells of a change; 0 for a socket. */
	uint32_t changed;
	/*
	 * Calls devices__see() or devices__lose() for each event in a datagram; NULL if the kind
	 * has no events.
	 */
	void (*take)(struct devices *devices, char *bytes, size_t length);
	void (*set_key)(const struct device *device, struct selector_key *key);
	/* selector__close() afterwards. */
	int (*select)(const struct devices *devices, const struct device *device,
		      struct selector *selector, struct dart_error *error);
};

/* Registers @source for all devices of @kind, present and future. */
int devices__follow(struct followers *followers, const struct devices_kind *kind,
		    const struct source *source, const struct selector_choice *choice,
		    struct follower **follower, struct dart_error *error);

/* Counts the devices that there are; returns -errno. */
int devices__count(const struct devices_kind *kind, struct device_count *count,
		   struct dart_error *error);

/* There is a device; NULL: out of memory, or devices are counted only. */
struct device *devices__see(struct devices *devices, uint64_t number,
			    uint64_t inode, const char *name);
/* The device of this number no longer exists. */
void devices__lose(struct devices *devices, uint64_t number);

/* All network devices of dartd's network namespace. */
extern const struct devices_kind netdevs;
/* All disks, without their partitions. */
extern const struct devices_kind disks;
/* All file systems of disks, by a mount point in the mount namespace of PID 1. */
extern const struct devices_kind filesystems;

#endif /* DEVICES_H */
