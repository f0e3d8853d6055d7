/* SPDX-License-Identifier: GPL-2.0-only */
/* All of dartd. */
#ifndef AGENT_H
#define AGENT_H

#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "agent/application/applications.h"
#include "agent/base/changes.h"
#include "agent/base/clock_watch.h"
#include "agent/base/fd_store.h"
#include "agent/base/file_watch.h"
#include "agent/base/lease.h"
#include "agent/coverage/report.h"
#include "agent/follow/follower.h"
#include "agent/journal/journal.h"
#include "agent/ledger/ledger.h"
#include "agent/sketch/sketch.h"
#include "agent/probe/probe.h"
#include "agent/rdma/device.h"
#include "agent/rdma/device_watch.h"
#include "agent/rdma/listener.h"
#include "agent/region/cpu_watch.h"
#include "agent/region/region.h"
#include "agent/registration/registrations.h"
#include "agent/self/self.h"
#include "agent/serve/caller.h"
#include "agent/serve/tcp_listener.h"
#include "agent/socket/registration_socket.h"
#include "agent/store/served_epochs.h"
#include "agent/tea/served_lookups.h"
#include "agent/store/store.h"
#include "agent/table/control_region.h"
#include "agent/table/exposure.h"
#include "agent/table/registry.h"
#include "agent/table/source_plan.h"
#include "agent/tea/lookup_tables.h"
#include "options.h"
#include "region_events.h"
#include "settings.h"

#define AGENT_REQUEST_TABLES 20
#define AGENT_PEER_SERVICES 8

/* State of the RDMA device. */
struct agent_device {
	struct device_watch watch;	/* no events: cannot watch devices */
	sd_event_source *change;	/* after loss or return events */
	sd_event_source *retry;
	bool is_lost;		/* the device has to be closed */
	bool is_removed;	/* removed, not only failed */
	char reason[64];	/* for the loss */
	struct dart_error missing;	/* why it is absent; "" if present or not wanted */
};

struct agent {
	sd_event *loop;
	struct options options;
	struct dart_configuration configuration;
	struct settings settings;	/* as at the start; tcp: as in use */
	struct region region;
	struct self self;
	struct dart_cm_contexts cm_contexts;
	struct device device;
	struct agent_device device_state;
	struct leases leases;
	struct changes changes;
	struct file_watches file_watches;
	struct fd_store kept_descriptors;
	struct exposure exposure;
	struct client_memories clients;
	struct control_region control_region;
	struct map_owner_watch map_owner_watch;
	struct registry registry;
	struct cpu_watch cpu_watch;
	struct clock_watch clock_watch;
	struct followers followers;
	struct region_events region_events;
	struct probes probes;
	struct applications applications;
	struct stores stores;
	struct lookup_tables tables;
	struct remote_objects journals;
	struct ledgers ledgers;
	struct remote_objects sketches;
	struct request_table request_tables[AGENT_REQUEST_TABLES];
	struct registrations registrations;
	struct coverage_report coverage;
	struct registration_socket socket;
	struct peer_service peer_services[AGENT_PEER_SERVICES];
	struct snapshots snapshots;	/* for callers by RDMA and TCP */
	struct sessions sessions;	/* of callers by RDMA */
	struct epoch_service epochs;	/* for all sessions, as the next one */
	struct lookup_service lookups;
	struct listener_limits listener_limits;
	struct listener listener;
	struct tcp_listener tcp_listener;
};

/* Opens everything in the order of struct agent, or nothing. */
int agent__open(struct agent *agent, const struct options *options,
		sd_event *loop, struct dart_error *error);
void agent__close(struct agent *agent);
/*
 * Reads the configuration again, and applies the differences.  If it is not
 * valid, everything stays, and the log says why.  It also names the settings that
 * need a restart.
 */
void agent__reload(struct agent *agent);

/* Tells the service manager whether the RDMA device is missing. */
void agent__announce(const struct agent *agent);

/* agent_device.c */
/*
 * Opens the device and watches for its end.  An absent device is not an error: the agent opens it
 * when it appears.
 */
int agent__open_first_device(struct agent *agent, struct dart_error *error);
void agent__close_device(struct agent *agent);
int agent__open_listener(struct agent *agent, struct dart_error *error);

/* The requests about the agent as a whole, which is their subject. */
extern const struct request_type agent_requests[];

#endif /* AGENT_H */
