/* SPDX-License-Identifier: GPL-2.0-only */
/* The settings of dart-members-zookeeper: its command line and its configuration file. */
#ifndef MEMBERS_OPTIONS_H
#define MEMBERS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>

#define OPTIONS_CONFIG "/etc/dart/members-zookeeper.yaml"

/* The list of members that is valid while no server of ZooKeeper answers. */
enum options_unreachable {
	OPTIONS_UNREACHABLE_CONTINUE = 1, /* the last list, for as long as this program runs */
	OPTIONS_UNREACHABLE_STOP, /* nothing, a session time-out after the last answer */
};

/* Of the file; texts are owned, NULL or 0 if they are not set. */
struct settings {
	char *servers; /* HOST:PORT,... as ZooKeeper's library takes them */
	char *path; /* of the node whose children are the members */
	char *file; /* the list that dart-controller reads */
	char *controller; /* its control socket */
	char *auth_file; /* a line USER:PASSWORD, for the scheme digest */
	unsigned int member; /* of this host */
	uint64_t session_ns;
	enum options_unreachable unreachable;
};

struct options {
	const char *config;
	bool is_check, is_help, is_version;
	struct settings settings; /* completed by defaults */
};

/*
 * Reads the command line, and the configuration unless it asks for help or the version.  Returns 0,
 * or -errno with a sentence in @error; options__clear() in both cases.
 */
int options__parse(struct options *options, int argc, char *argv[], struct dart_error *error);
void options__clear(struct options *options);
void options__print_help(void);

#endif /* MEMBERS_OPTIONS_H */
