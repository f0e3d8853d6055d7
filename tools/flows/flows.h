/* SPDX-License-Identifier: GPL-2.0-only */
/* The daemon: connects port, NAT, table, journal and control socket in one event loop. */
#ifndef FLOWS_FLOWS_H
#define FLOWS_FLOWS_H

#include <libdart/error.h>

struct flows_options {
	const char *policy; /* path */
	const char *control; /* path */
};

/* Runs until SIGTERM or SIGINT.  Returns 0, or -errno with a sentence in @error. */
int flows__run(const struct flows_options *options, struct dart_error *error);

#endif /* FLOWS_FLOWS_H */
