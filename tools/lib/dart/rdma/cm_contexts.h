/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The devices that librdmacm has opened for the identifiers of a program.  It keeps each open until
 * the process ends, or until there is another device, and the kernel does not finish the removal of
 * a device that is open.  So a program that runs for long remembers their descriptors, and replaces
 * the descriptors of a device that is removed.
 */
#ifndef DART_CM_CONTEXTS_H
#define DART_CM_CONTEXTS_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <sys/types.h>

struct dart_cm_context {
	struct ibv_context *verbs;	/* only compared: it may have been freed */
	char node[IBV_SYSFS_NAME_MAX];	/* of the device in /dev/infiniband */
	int command_fd, event_fd;
	dev_t number;			/* of the file behind command_fd */
};

/* All zeros: empty. */
struct dart_cm_contexts {
	struct dart_cm_context *list;
	size_t count;
};

/* Remembers @verbs, the context of an RDMA CM identifier, which may be NULL. */
void dart_cm_contexts__note(struct dart_cm_contexts *contexts, struct ibv_context *verbs);
/*
 * The device called @node in /dev/infiniband is being removed: lets go of it.  Nothing else
 * of the process uses it through the RDMA CM any more.
 */
void dart_cm_contexts__let_go(struct dart_cm_contexts *contexts, const char *node);
void dart_cm_contexts__close(struct dart_cm_contexts *contexts);

#endif /* DART_CM_CONTEXTS_H */
