/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The configuration file, YAML:
 *
 *   interval: 100ms          # of all agents; 1s by default
 *   entries: [cpustat]       # all by default
 *   flow:                    # what may be in flight
 *     control: credit        # the default, or bdp or none
 *     bytes: 256K            # by default, what the speed of the port calls for
 *   workers: 2               # threads that decode; 1 by default
 *   handshakes: 64           # agents that connect at a time; 64 by default
 *   clock_bound: 2s          # how far clocks of hosts may be off; 2s by default
 *   transport: read          # of agents and sources in this file; or rpc or tcp
 *   tls:                     # for tcp: paths of PEM files
 *     certificate: own.pem
 *     key: own.key
 *     authorities: ca.pem    # that sign the certificates of agents
 *   agents:
 *     - host: 10.0.0.1       # name or address
 *       port: 4792           # optional; 4793 is the default of tcp
 *       transport: rpc       # of this agent; optional
 *       interval: 1s         # of this agent; optional
 *       class: 0             # of 0 (first) to 3; 1 by default
 *       entries: [vmstat]    # of this agent; optional
 *       labels: {rack: a7}   # in its output; optional
 *   sources:                 # name further agents, again and again
 *     - file_sd: agents.json # or dns_srv: NAME, or http_sd: URL
 *       refresh: 30s         # optional, as are transport, interval, class, entries and
 *                            # labels
 */
#ifndef CONTROLLER_CONFIG_H
#define CONTROLLER_CONFIG_H

#include <stdio.h>

#include <libdart/error.h>

#include "settings.h"

/*
 * Adds the agents and sources in @file to @settings, and its interval, entries, flow control,
 * workers and TLS if @settings has none: the command line takes precedence.  @path is for messages,
 * which also name the line.  Returns 0; -EINVAL with a sentence in @error;
 * -ENOMEM.  @settings may have changed even if refused.
 */
int config__load(struct settings *settings, FILE *file, const char *path,
		 struct dart_error *error);

/*
 * Puts into @settings, which are empty, those of the command line, @own, and of the file at
 * @path, which must name an agent or a source.  Returns and leaves @settings as
 * config__load() does.
 */
int config__read(struct settings *settings, const struct settings *own,
		 const char *path, struct dart_error *error);

#endif /* CONTROLLER_CONFIG_H */
