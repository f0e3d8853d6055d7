/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A selection: one of the many that a source has, such as the TCP counters of
 * one network namespace, and what its entry is called.
 */
#ifndef SELECTOR_H
#define SELECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include <dart/registration.h>

#include <libdart/error.h>

#include "agent/base/request.h"
#include "source.h"

/* What the counters are of, for as long as that exists. */
struct selector_key {
	enum dart_zero_source source;
	uint32_t ifindex;	/* of a network device, or 0 */
	uint64_t object;	/* namespace, cgroup: inode; disk: its number */
};

struct selector {
	const struct source *source;
	struct selector_key key;
	char name[DART_REGISTRATION_NAME_MAX];
	/* The caller's; -1 if nothing selects, or key.object does. */
	int fd;
	bool has_own_fd;	/* the selector closes it */
};

/* The words of a client for the one it selects, NULL for those it left out. */
struct selector_choice {
	const char *netns;
	const char *netdev;	/* an interface in the namespace */
	const char *disk;
	const char *cgroup; /* path below the root of its hierarchy: "/a/b" */
	int fd;	/* open on the netns, disk or cgroup, or -1 */
};

/* The source and the choice of a request that has nothing else. */
int selector__unpack(struct request *request, const struct source **source,
		     struct selector_choice *choice);

/* "none", "netns", "netdev", "disk" or "cgroup" */
const char *selector__name(const struct source *source);

/* Refuses a choice that does not say exactly what the source needs. */
int selector__check(const struct source *source,
		    const struct selector_choice *choice,
		    struct dart_error *error);

/*
 * All find out what the descriptor refers to and refuse what the source does
 * not take.  selector__close() once the selection has been registered.
 */
int selector__choose(struct selector *selector, const struct source *source,
		     const struct selector_choice *choice,
		     struct dart_error *error);
/* The namespace with this inode. */
int selector__netns_inode(struct selector *selector,
			  const struct source *source, uint32_t inode,
			  const char *label, struct dart_error *error);
int selector__cgroup(struct selector *selector, const struct source *source,
		     int fd, const char *path, struct dart_error *error);
void selector__close(struct selector *selector);

bool selector_key__equal(const struct selector_key *a,
			 const struct selector_key *b);

/* The request about sources, without a subject. */
extern const struct request_type selector_requests[];

#endif /* SELECTOR_H */
