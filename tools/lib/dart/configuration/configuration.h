/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The configuration of an agent, see dartd.yaml(5): settings of dartd, and items
 * that it registers, each a request of <dart/registration.h>.
 */
#ifndef DART_CONFIGURATION_H
#define DART_CONFIGURATION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <dart/control.h>
#include <libdart/configuration/object.h>
#include <libdart/configuration/prefix.h>
#include <libdart/error.h>

#define DART_CONFIGURATION_FILE "/etc/dart/dartd.yaml"

struct dart_configuration_item {
	json_t *request; /* as the registration socket takes it */
	char *path; /* of the object whose descriptor the request carries, or NULL */
	char *file; /* the file that has the item */
	unsigned int line;
};

/* How dartd gathers: by the module, by eBPF programs, or by the module if it is there. */
enum dart_configuration_gatherer {
	DART_CONFIGURATION_GATHERER_AUTO = 1,
	DART_CONFIGURATION_GATHERER_MODULE,
	DART_CONFIGURATION_GATHERER_PROGRAMS,
};

/* Bounds of numbers at a time; 0: not given. */
struct dart_configuration_limits {
	uint32_t controllers, readers, clients;
	uint32_t callers; /* over RDMA, and as many over TCP */
	uint32_t per_address; /* controllers, readers and callers; as many more over TCP */
	uint32_t half_open; /* connections that are not established */
	/* Of each user except root. */
	uint32_t entries_per_user, slice_mib_per_user;
	uint32_t requests_per_second_per_user;
};

/* Callers over TCP; off without a certificate. */
struct dart_configuration_tcp {
	/* Absolute paths of PEM files; revoked may be NULL. */
	char *certificate, *key, *authorities, *revoked;
	char **subjects; /* names in certificates of callers; none is given twice */
	size_t subject_count;
	char **listen; /* as below */
	size_t listen_count;
	uint16_t port; /* 0: not given */
	bool has_subjects; /* some were given: otherwise controllers have a default */
	uint32_t changer_count; /* so many subjects, the first ones, may change lookup tables */
	char *place; /* FILE:LINE of the setting */
};

struct dart_configuration {
	/* Settings; NULL and 0: not given. */
	char *device;
	char **listen; /* IPv4 and IPv6 addresses, as texts */
	size_t listen_count;
	uint16_t port;
	uint8_t dscp; /* of packets that dartd sends over RDMA */
	uint8_t rest; /* passes from one row of unchanged counters to the next, at most */
	uint32_t keepalive; /* s between probes of a peer */
	enum dart_control_exposure exposure;
	enum dart_configuration_gatherer gatherer;
	struct dart_prefixes controllers, readers, callers; /* that are allowed */
	struct dart_configuration_tcp tcp;
	struct dart_configuration_limits limits;
	char *settings_place; /* FILE:LINE of the first setting, or NULL */

	/* In an order in which dartd can register them. */
	struct dart_configuration_item *items;
	size_t item_count;
};

/*
 * Reads @file and, if it is NAME.yaml, the files NAME.d/X.yaml in the same directory, in the
 * order of X.  Either may be missing.  Lists of several files
 * become one.  Returns 0; -ENOENT if there is no file at all; -errno with a
 * sentence in @error, "FILE:LINE: ..." if a line is wrong.  After an error there is nothing to
 * close.
 */
int dart_configuration__load(struct dart_configuration *configuration,
			     const char *file, struct dart_error *error);
/* Reads @file alone, which must exist. */
int dart_configuration__load_file(struct dart_configuration *configuration,
				  const char *file, struct dart_error *error);
/*
 * Reads all files as dart_configuration__load() does, but goes on after a mistake: calls @tell with
 * @subject and a sentence, "FILE:LINE: ..." if a line is wrong, for each mistake.  Returns 0, or
 * -errno and the last mistake in @error; -ENOENT, without a call of @tell, if no file exists.  The
 * configuration then has all settings that could be read.  The caller closes it in each case.
 */
int dart_configuration__check(struct dart_configuration *configuration, const char *file,
			      void (*tell)(void *subject, const char *sentence), void *subject,
			      struct dart_error *error);
void dart_configuration__close(struct dart_configuration *configuration);

/*
 * Prints the settings that are given, without items, as a configuration file.
 * Returns 0; -ENOMEM; -EIO if @file cannot be written.
 */
int dart_configuration__print_settings(FILE *file, const struct dart_configuration *configuration);

/*
 * Prints registrations as a configuration file: an array as the request
 * "registration-list" gets it.  Loaded again, the items are the same requests
 * and paths.  A registration that a file cannot express, such as a map that is
 * not pinned, becomes a comment.  Returns the number of these comments; -EPROTO
 * for a registration that is not understood; -EIO if @file cannot be written.
 */
int dart_configuration__print(FILE *file, const json_t *registrations, struct dart_error *error);

#endif /* DART_CONFIGURATION_H */
