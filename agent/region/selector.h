/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A selector: one of the objects of a source, such as a network namespace for its TCP counters, and
 * the name of its entry.
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
	uint32_t gather_ms;	/* interval of gathering; 0: direct */
	uint64_t object;	/* inode, or device number of a disk or file system */
};

struct selector {
	const struct source *source;
	struct selector_key key;
	bool is_deferrable; /* as in struct selector_choice */
	uid_t delegated_to;	/* user whose quota the entry counts in; 0: none */
	/*
	 * Owned by the caller unless @has_own_fd; -1 if no descriptor is needed or key.object
	 * selects.
	 */
	int fd;
	bool has_own_fd;	/* selector__close() closes @fd */
	/*
	 * The mount point of a file system, as PID 1 sees it; or NULL.  selector__close() frees it.
	 */
	char *path;
	char name[DART_CONTROL_ENTRY_NAME_MAX];	/* last: see selector__init() */
};

/* The selector in a request.  Members that the client left out are NULL. */
struct selector_choice {
	const char *netns;
	const char *netdev;	/* an interface in the namespace */
	const char *disk;
	const char *cgroup;	/* path below the root of its hierarchy: "/a/b" */
	const char *filesystem;	/* mount point; names the entry */
	const char *path;	/* the mount point, if @filesystem is not it; or NULL */
	uint32_t gather_ms;	/* as in struct selector_key */
	bool is_deferrable; /* gathering does not wake an idle CPU */
	/* Open on the namespace, disk, cgroup or mount point; -1 without a descriptor. */
	int fd;
};

/* Unpacks a request that consists of a source and a choice only. */
int selector__unpack(struct request *request, const struct source **source,
		     struct selector_choice *choice);

/*
 * Parses "100ms", "1s" or "1min".  -EINVAL: another text, or an interval that the module does not
 * accept.
 */
int selector__parse_interval(const char *text, uint32_t *ms, struct dart_error *error);
/* The same with another shortest interval. */
int selector__parse_interval_from(uint32_t least_ms, const char *text, uint32_t *ms,
				  struct dart_error *error);
/* -EINVAL: there is no source of this name. */
int selector__find_source(const char *name, const struct source **source, struct dart_error *error);

/* "none", "netns", "netdev", "disk", "cgroup" or "filesystem" */
const char *selector__name(const struct source *source);

/* Refuses a choice with more or fewer members than the source needs. */
int selector__check(const struct source *source, const struct selector_choice *choice,
		    struct dart_error *error);

/*
 * The inode of "net:INODE", if a client chose a namespace so, without a descriptor; otherwise 0.
 * dartd names namespaces of processes in this form.
 */
uint32_t selector__chosen_inode(const struct source *source, const struct selector_choice *choice);

/* Checks a choice for a follower: all objects of a kind, or all cgroups below one. */
int selector__check_follow(const struct source *source, const struct selector_choice *choice,
			   struct dart_error *error);

/* The name of the entry.  The object need not exist. */
int selector__entry_name(char name[static DART_CONTROL_ENTRY_NAME_MAX], const struct source *source,
			 const struct selector_choice *choice, struct dart_error *error);

/*
 * The functions that follow identify the object that a descriptor refers to, and refuse objects
 * that do not suit the source.  The caller ends with selector__close() once the entry is
 * registered.
 */
int selector__choose(struct selector *selector, const struct source *source,
		     const struct selector_choice *choice, struct dart_error *error);
/* Selects the network namespace with this inode. */
int selector__netns_inode(struct selector *selector, const struct source *source, uint32_t inode,
			  const char *label, struct dart_error *error);
/* Selects the device with the number in @key, in the namespace that @netns refers to. */
int selector__netdev(struct selector *selector, const struct source *source, int netns,
		     const struct selector_key *key, const char *label, struct dart_error *error);
int selector__disk(struct selector *selector, const struct source *source, int fd,
		   const char *label, struct dart_error *error);
int selector__cgroup(struct selector *selector, const struct source *source, int fd,
		     const char *path, struct dart_error *error);
/*
 * Selects the file system of @device that is mounted at @path (as in struct mount); @label is for
 * the name of the entry.  Opens no file, because the server of the file system may be down.
 */
int selector__filesystem(struct selector *selector, const struct source *source, dev_t device,
			 const char *path, const char *label, struct dart_error *error);
/*
 * Chooses gathering every @gather_ms and appends the interval, such as "+1s", to the name.  Does
 * nothing if it is 0.
 */
int selector__gather(struct selector *selector, uint32_t gather_ms, struct dart_error *error);
/* Appends an interval such as "+1s" to @name. */
int selector__add_interval(char name[static DART_CONTROL_ENTRY_NAME_MAX],
			   uint32_t gather_ms, struct dart_error *error);
void selector__close(struct selector *selector);

/* The request that lists sources; it has no subject. */
extern const struct request_type selector_requests[];

#endif /* SELECTOR_H */
