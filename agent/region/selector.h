/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A selector: which of a source's objects is meant, such as one network
 * namespace for its TCP counters, and the name of the entry.
 */
#ifndef SELECTOR_H
#define SELECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <dart/control.h>
#include <libdart/error.h>

#include "agent/base/request.h"
#include "source.h"

/* Identifies the selected object as long as it exists. */
struct selector_key {
	enum dart_zero_source source;
	uint32_t ifindex;	/* of a network device, or 0 */
	uint32_t gather_ms;	/* how often it is gathered; 0: direct */
	uint64_t object;	/* inode, or device number of a disk or file system */
};

struct selector {
	const struct source *source;
	struct selector_key key;
	bool is_deferrable; /* as in struct selector_choice */
	uid_t delegated_to;	/* user whose quota the entry counts in; 0: none */
	/* The caller's; -1 without a selector or if key.object selects. */
	int fd;
	bool has_own_fd;	/* the selector closes it */
	/* The mount point of a file system as PID 1 has it, which the selector frees; or NULL. */
	char *path;
	char name[DART_CONTROL_ENTRY_NAME_MAX];	/* last: see selector__init() */
};

/* The selector in a request; NULL for the members that the client left out. */
struct selector_choice {
	const char *netns;
	const char *netdev;	/* an interface in the namespace */
	const char *disk;
	const char *cgroup;	/* path below the root of its hierarchy: "/a/b" */
	const char *filesystem;	/* mount point, which the entry is called after */
	const char *path;	/* where the mount point is, if not there; or NULL */
	uint32_t gather_ms;	/* as in struct selector_key */
	bool is_deferrable; /* gathering does not wake an idle CPU */
	/* Open on the netns, disk or cgroup; on the mount point, if the client has one; or -1. */
	int fd;
};

/* Unpacks a request that has a source and a choice, and nothing else. */
int selector__unpack(struct request *request, const struct source **source,
		     struct selector_choice *choice);

/* "100ms", "1s" or "1min"; -EINVAL: another text, or not in the module's limits. */
int selector__parse_interval(const char *text, uint32_t *ms,
			     struct dart_error *error);

/* "none", "netns", "netdev", "disk", "cgroup" or "filesystem" */
const char *selector__name(const struct source *source);

/* Refuses a choice with more or less than the source needs. */
int selector__check(const struct source *source,
		    const struct selector_choice *choice,
		    struct dart_error *error);

/*
 * The inode that "net:INODE" gives without a descriptor: how dartd itself knows
 * the namespace of a process.  Returns 0 if the choice is another one.
 */
uint32_t selector__chosen_inode(const struct source *source,
				const struct selector_choice *choice);

/* The same for a source that is followed: all of a kind, or cgroups below one. */
int selector__check_follow(const struct source *source,
			   const struct selector_choice *choice,
			   struct dart_error *error);

/* The name of the entry, for which no object need exist. */
int selector__entry_name(char name[static DART_CONTROL_ENTRY_NAME_MAX],
			 const struct source *source,
			 const struct selector_choice *choice,
			 struct dart_error *error);

/*
 * These identify the object behind the descriptor, and refuse objects that the
 * source does not take.  selector__close() after registering the selector.
 */
int selector__choose(struct selector *selector, const struct source *source,
		     const struct selector_choice *choice,
		     struct dart_error *error);
/* Selects the network namespace with this inode. */
int selector__netns_inode(struct selector *selector,
			  const struct source *source, uint32_t inode,
			  const char *label, struct dart_error *error);
/* The device that @key has the number of, in the namespace that @netns is open on. */
int selector__netdev(struct selector *selector, const struct source *source,
		     int netns, const struct selector_key *key,
		     const char *label, struct dart_error *error);
int selector__disk(struct selector *selector, const struct source *source,
		   int fd, const char *label, struct dart_error *error);
int selector__cgroup(struct selector *selector, const struct source *source,
		     int fd, const char *path, struct dart_error *error);
/*
 * The file system of @device that is mounted at @path, as mounts.h has both; @label is what
 * the entry is called after.  Nothing is opened: a server of it may be down.
 */
int selector__filesystem(struct selector *selector, const struct source *source,
			 dev_t device, const char *path, const char *label,
			 struct dart_error *error);
/*
 * The counters are to be gathered every @gather_ms: the name ends with that, "+1s";
 * nothing changes if it is 0.
 */
int selector__gather(struct selector *selector, uint32_t gather_ms,
		     struct dart_error *error);
/* Appends "+1s" to a name that has room for DART_CONTROL_ENTRY_NAME_MAX. */
int selector__add_interval(char name[static DART_CONTROL_ENTRY_NAME_MAX],
			   uint32_t gather_ms, struct dart_error *error);
void selector__close(struct selector *selector);

/* The request about sources, without a subject. */
extern const struct request_type selector_requests[];

#endif /* SELECTOR_H */
