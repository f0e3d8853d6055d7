// SPDX-License-Identifier: GPL-2.0-only
/* Opens the rooms of dartd and connects rooms that do not know each other. */
#include <assert.h>
#include <string.h>

#include "agent.h"
#include "agent/base/log.h"
#include "agent/store/store_kept.h"
#include "agent/table/client_memory_kept.h"
#include "agent/tea/table_kept.h"
#include "agent/gather/way.h"
#include "configuration.h"

static void on_map_ended(void *registry, uint32_t map_id)
{
	registry__map_ended(registry, map_id);
}

static void on_client_gone(void *registry, uint32_t id)
{
	registry__extent_ended(registry, id);
}

static int agent__open_registry(struct agent *agent, sd_event *loop, struct dart_error *error)
{
	const struct table_rooms rooms = {
		.changes = &agent->changes,
		.region = &agent->region,
		.exposure = &agent->exposure,
		.control_region = &agent->control_region,
		.file_watches = &agent->file_watches,
		.map_owner_watch = &agent->map_owner_watch,
		.clients = &agent->clients,
		.counts = &agent->self.counts->table,
	};

	return registry__open(&agent->registry, loop, &rooms, error);
}

static void on_cpus_changed(void *registry)
{
	registry__cpus_changed(registry);
}

/* Without it, the table names the online CPUs of its last change. */
static void agent__open_cpu_watch(struct agent *agent, sd_event *loop)
{
	struct dart_error error;

	if (cpu_watch__open(&agent->cpu_watch, loop, on_cpus_changed, &agent->registry, &error))
		log__warning("CPUs that go online are not noticed at once: %s", error.text);
}

static void on_clock_set(void *registry)
{
	registry__clock_was_set(registry);
}

/* Without it, the table shows the clock as of its last change. */
static void agent__open_clock_watch(struct agent *agent, sd_event *loop)
{
	struct dart_error error;

	if (clock_watch__open(&agent->clock_watch, loop, on_clock_set, &agent->registry, &error))
		log__warning("controllers are not told when the clock is set: %s", error.text);
}

/* Who may call by TCP: until the configuration is replaced. */
static struct tcp_admission tcp_admission(const struct dart_configuration *configuration)
{
	const struct dart_configuration_tcp *tcp = &configuration->tcp;
	const struct dart_configuration_limits *limits = &configuration->limits;

	return (struct tcp_admission){
		.files = {
			.certificate = tcp->certificate,
			.key = tcp->key,
			.authorities = tcp->authorities,
			.revoked = tcp->revoked,
		},
		.subjects = (const char *const *)tcp->subjects,
		.subject_count = tcp->subject_count,
		.changer_count = tcp->changer_count,
		.allowed = &configuration->callers,
		.most = limits->callers,
		.per_address = limits->per_address,
		.half_open = limits->half_open,
	};
}

/* Where to listen for callers over TCP; NULL: do not listen. */
static const struct tcp_place *tcp_place(const struct agent *agent)
{
	return agent->settings.tcp.port ? &agent->settings.tcp : NULL;
}

static int agent__open_tcp(struct agent *agent, sd_event *loop, struct dart_error *error)
{
	const struct tcp_admission admission = tcp_admission(&agent->configuration);
	struct tcp_listener *listener = &agent->tcp_listener;
	struct counts *counts = agent->self.counts;
	int ret;

	ret = tcp_listener__open(listener, loop, tcp_place(agent), &admission, &agent->snapshots,
				 &agent->changes, &counts->tcp, &counts->tcp_refused, error);
	listener->peers.sessions.epochs = &agent->epochs;
	listener->peers.sessions.lookups = &agent->lookups;
	/* Controllers that READ need no certificate. */
	if (!ret && *listener->failure.text)
		log__error("callers over TCP cannot connect: %s (tried again every %d s)",
			   listener->failure.text, TCP_LISTENER_RETRY_S);
	return ret;
}

/* @settings: of the configuration as it is now. */
static void agent__reload_tcp(struct agent *agent, struct settings *settings)
{
	const struct tcp_admission admission = tcp_admission(&agent->configuration);
	struct tcp_listener *listener = &agent->tcp_listener;
	struct dart_error error;
	int ret = tcp_listener__admit(listener, &admission, &error);

	/* Certificates that cannot be used change nothing. */
	if ((!ret || !listener->port) && settings__take_tcp(&agent->settings, settings))
		ret = tcp_listener__move(listener, tcp_place(agent), &error);
	if (ret)
		log__error("%s: %s",
			   listener->port ? "TCP callers still get the previous certificate" :
					    "callers over TCP cannot connect",
			   error.text);
}

static void agent__apply_limits(struct agent *agent)
{
	const struct dart_configuration_limits *limits = &agent->configuration.limits;
	struct inventory *inventory = &agent->registry.inventory;

	agent->peer_services[0].most = limits->controllers;
	agent->peer_services[1].most = limits->readers;
	agent->peer_services[2].most = limits->callers ?: CALLERS_MAX;
	agent->peer_services[3].most = limits->readers;
	agent->peer_services[4].most = limits->readers;
	agent->peer_services[5].most = limits->readers;
	agent->peer_services[6].most = limits->readers;
	agent->listener_limits = (struct listener_limits){
		.per_address = limits->per_address,
		.half_open = limits->half_open,
	};
	registration_socket__limit(&agent->socket, limits->clients,
				   limits->requests_per_second_per_user);
	quotas__limit(&inventory->quotas, limits->entries_per_user, limits->slice_mib_per_user);
	quotas__limit(&inventory->delegated, limits->entries_per_user, 0);
}

/* Registers the objects of the configuration, and keeps it for a start with an invalid one. */
static void agent__use_configuration(struct agent *agent)
{
	registrations__configure(&agent->registrations, &agent->configuration);
	configuration__keep(&agent->configuration, &agent->options);
}

/* Sets the kinds of peers, the objects that they connect to, who may, and their counts. */
static void agent__open_peer_services(struct agent *agent)
{
	struct counts *counts = agent->self.counts;

	agent->peer_services[0] = (struct peer_service){
		&controller_kind, &agent->control_region, &counts->controllers,
		.allowed = &agent->configuration.controllers,
		.list = "controllers",
	};
	agent->peer_services[1] = (struct peer_service){
		&reader_kind, &agent->stores.objects, &counts->readers,
		.allowed = &agent->configuration.readers, .needs_list = true,
		.list = "readers",
	};
	agent->peer_services[2] = (struct peer_service){
		&caller_kind, &agent->sessions, &counts->rpc.peers,
		.allowed = &agent->configuration.callers, .needs_list = true,
		.list = "callers",
	};
	agent->peer_services[3] = (struct peer_service){
		&table_reader_kind, &agent->tables.objects, &counts->table_readers,
		.allowed = &agent->configuration.readers, .needs_list = true,
		.list = "readers",
	};
	agent->peer_services[4] = (struct peer_service){
		&journal_reader_kind, &agent->journals, &counts->journal_readers,
		.allowed = &agent->configuration.readers, .needs_list = true,
		.list = "readers",
	};
	agent->peer_services[5] = (struct peer_service){
		&ledger_reader_kind, &agent->ledgers.objects, &counts->ledger_readers,
		.allowed = &agent->configuration.readers, .needs_list = true,
		.list = "readers",
	};
	agent->peer_services[6] = (struct peer_service){
		&sketch_reader_kind, &agent->sketches, &counts->sketch_readers,
		.allowed = &agent->configuration.readers, .needs_list = true,
		.list = "readers",
	};
	snapshots__open(&agent->snapshots, &agent->control_region);
	sessions__open(&agent->sessions, &agent->snapshots, &counts->rpc);
	agent->epochs = served_epochs__service(&agent->stores, &agent->configuration.readers);
	agent->sessions.epochs = &agent->epochs;
	agent->lookups = served_lookups__service(&agent->tables);
	agent->sessions.lookups = &agent->lookups;
}

/* Objects of @kind; they do not need the listener before it is open. */
static struct remote_objects agent__remote_objects(struct agent *agent,
						   const struct remote_kind *kind,
						   uint64_t *object_count, uint64_t *peer_count)
{
	return (struct remote_objects){
		.kind = kind,
		.device = &agent->device,
		.kept = { .descriptors = &agent->kept_descriptors, .noun = kind->noun },
		.listener = &agent->listener,
		.changes = &agent->changes,
		.memory_counts = &agent->self.counts->memory,
		.object_count = object_count,
		.peer_count = peer_count,
	};
}

/* Opens stores, tables, journals, ledgers and sketches. */
static void agent__open_remote_objects(struct agent *agent)
{
	struct lookup_counts *lookup = &agent->self.counts->lookup;
	struct journal_counts *journals = &agent->self.counts->journals;
	struct ledger_counts *ledgers = &agent->self.counts->ledgers;
	struct sketch_counts *sketches = &agent->self.counts->sketches;
	struct store_counts *stores = &agent->self.counts->stores;

	agent->stores.objects =
		agent__remote_objects(agent, &store_kind, &stores->stores, &stores->reporters);
	agent->stores.loop = agent->loop;
	agent->stores.state = agent->options.state;
	agent->stores.epoch_counts = &stores->epochs;
	remote_objects__open(&agent->stores.objects);
	agent->tables.objects =
		agent__remote_objects(agent, &table_kind, &lookup->tables, &lookup->requesters);
	remote_objects__open(&agent->tables.objects);
	agent->tables.renewal_count = &lookup->renewals;
	agent->journals = agent__remote_objects(agent, &journal_kind, &journals->journals,
						&journals->appenders);
	remote_objects__open(&agent->journals);
	agent->ledgers.objects =
		agent__remote_objects(agent, &ledger_kind, &ledgers->ledgers, &ledgers->adders);
	remote_objects__open(&agent->ledgers.objects);
	agent->ledgers.renewal_count = &ledgers->renewals;
	agent->sketches = agent__remote_objects(agent, &sketch_kind, &sketches->sketches,
						&sketches->sketchers);
	remote_objects__open(&agent->sketches);
}

/* Takes the descriptors that the last dartd left with the service manager. */
static void agent__open_kept_descriptors(struct agent *agent)
{
	static const char *const prefixes[] = { STORE_KEPT_PREFIX, TABLE_KEPT_PREFIX,
						JOURNAL_KEPT_PREFIX, LEDGER_KEPT_PREFIX,
						SKETCH_KEPT_PREFIX,  CLIENT_KEPT_MEMORY,
						CLIENT_KEPT_NOTES,   NULL };

	fd_store__open(&agent->kept_descriptors, prefixes);
}

/* Takes the module if it is there and has the ABI of this dartd, unless the settings say which. */
static int agent__open_region(struct agent *agent, struct dart_error *error)
{
	const enum dart_configuration_gatherer gatherer = agent->settings.gatherer;
	struct dart_error without_module;
	int ret;

	if (gatherer == DART_CONFIGURATION_GATHERER_PROGRAMS)
		return region__open(&agent->region, &programs_way, error);
	ret = region__open(&agent->region, &module_way, error);
	if (!ret)
		agent->region.rest_max = agent->settings.rest;
	if (!ret || gatherer == DART_CONFIGURATION_GATHERER_MODULE)
		return ret;
	ret = region__open(&agent->region, &programs_way, &without_module);
	if (ret)
		return dart_error__set(error, -ret, "%s; and without the module: %s", error->text,
				       without_module.text);
	log__info("gathers by eBPF programs: %s", error->text);
	return 0;
}

/* Says which object handles which requests of clients. */
static void agent__set_request_tables(struct agent *agent)
{
	const struct request_table tables[] = {
		{ selector_requests, NULL },
		{ registry_requests, &agent->registry },
		{ source_plan_requests, &agent->registry },
		{ follow_requests, &agent->followers },
		{ probe_requests, &agent->probes },
		{ application_requests, &agent->applications },
		{ stores_requests, &agent->stores.objects },
		{ tables_requests, &agent->tables.objects },
		{ journals_requests, &agent->journals },
		{ ledgers_requests, &agent->ledgers },
		{ sketches_requests, &agent->sketches },
		{ listener_requests, &agent->listener },
		{ client_requests, NULL },
		{ registrations_requests, &agent->registrations },
		{ coverage_requests, &agent->coverage },
		{ agent_requests, agent },
		{}
	};

	/* The end of the list is in the tables, too: a kind of request that is unknown meets it. */
	static_assert(sizeof(tables) <= sizeof(agent->request_tables));
	memcpy(agent->request_tables, tables, sizeof(tables));
}

int agent__open(struct agent *agent, const struct options *options,
		sd_event *loop, struct dart_error *error)
{
	struct counts *counts;
	bool is_last;
	int ret;

	*agent = (struct agent){
		.loop = loop,
		.options = *options,
	};
	agent__set_request_tables(agent);

	ret = configuration__load_or_last(&agent->configuration, options, &is_last, error);
	if (ret)
		return ret;
	ret = settings__open(&agent->settings, options, &agent->configuration, error);
	if (ret)
		goto close_configuration;
	ret = agent__open_region(agent, error);
	if (ret)
		goto close_settings;
	ret = self__open(&agent->self, &agent->region, error);
	if (ret)
		goto close_region;
	counts = agent->self.counts;
	log__count_suppressed(&counts->suppressed_messages);
	agent__open_peer_services(agent);
	ret = agent__open_first_device(agent, error);
	if (ret)
		goto close_self;
	ret = leases__open(&agent->leases, loop);
	if (ret < 0) {
		dart_error__system(error, -ret, "cannot create a timer");
		goto close_device;
	}
	changes__open(&agent->changes);
	ret = file_watches__open(&agent->file_watches, loop, error);
	if (ret)
		goto close_leases;
	agent__open_kept_descriptors(agent);
	/* Peers find memory that outlived the last dartd where it was. */
	ret = exposure__open(&agent->exposure, client_kept__base(&agent->kept_descriptors),
			     agent->settings.exposure, agent->device.pd, &agent->region,
			     &agent->leases, &counts->memory, error);
	if (ret)
		goto close_kept_descriptors;
	ret = client_memories__open(&agent->clients, &agent->region, &agent->kept_descriptors,
				    exposure__base(&agent->exposure), loop, on_client_gone,
				    &agent->registry, error);
	if (ret)
		goto close_exposure;
	ret = control_region__open(&agent->control_region, &agent->exposure, error);
	if (ret)
		goto close_clients;
	map_owner_watch__open(&agent->map_owner_watch, loop, on_map_ended, &agent->registry);
	ret = agent__open_registry(agent, loop, error);
	if (ret)
		goto close_map_watch;
	agent__open_cpu_watch(agent, loop);
	agent__open_clock_watch(agent, loop);
	ret = self__publish(&agent->self, &agent->registry, error);
	if (ret)
		goto close_registry;
	ret = followers__open(&agent->followers, &agent->registry, &agent->region,
			      &agent->file_watches, &agent->changes, loop, error);
	if (ret)
		goto close_registry;
	ret = region_events__open(&agent->region_events, loop, &agent->region, &agent->followers,
				  &counts->quarantine, error);
	if (ret)
		goto close_followers;
	ret = probes__open(&agent->probes, agent->region.cpus, &agent->registry,
			   &agent->changes, error);
	if (ret)
		goto close_region_events;
	ret = applications__open(&agent->applications, &agent->registry, &agent->changes, loop,
				 error);
	if (ret)
		goto close_probes;
	agent__open_remote_objects(agent);
	ret = registrations__open(&agent->registrations, loop, options->state,
				  agent->request_tables, &agent->changes, &agent->registry, error);
	if (ret)
		goto close_tables;
	ret = coverage_report__open(&agent->coverage, loop, counts->coverage, &agent->followers,
				    &agent->probes, &agent->registrations, error);
	if (ret)
		goto close_registrations;
	ret = registrations__add_first(
		&agent->registrations,
		json_pack("{s:s, s:s}", "request", "probe-load", "name", "tcp"), error);
	if (ret)
		goto close_coverage;
	ret = registration_socket__open(&agent->socket, loop, options->socket,
					agent->request_tables, &agent->registrations.recorder,
					&agent->changes, &counts->clients, error);
	if (ret)
		goto close_coverage;
	agent__apply_limits(agent);
	if (!agent->device.context)
		registrations__lose_device(&agent->registrations);
	/* Before controllers can connect, who then see all of it at once. */
	registry__restore_clients(&agent->registry);
	if (is_last)
		registrations__restore(&agent->registrations);
	else
		agent__use_configuration(agent);
	coverage_report__update(&agent->coverage);
	kept_memory__log(&agent->stores.objects.kept);
	kept_memory__log(&agent->tables.objects.kept);
	kept_memory__log(&agent->journals.kept);
	kept_memory__log(&agent->ledgers.objects.kept);
	kept_memory__log(&agent->sketches.kept);
	ret = agent__open_listener(agent, error);
	if (ret)
		goto close_socket;
	ret = agent__open_tcp(agent, loop, error);
	if (ret)
		goto close_listener;
	return 0;

close_listener:
	listener__close(&agent->listener);
close_socket:
	registration_socket__close(&agent->socket);
close_coverage:
	coverage_report__close(&agent->coverage);
close_registrations:
	registrations__close(&agent->registrations);
close_tables:
	remote_objects__close(&agent->sketches);
	remote_objects__close(&agent->ledgers.objects);
	remote_objects__close(&agent->journals);
	remote_objects__close(&agent->tables.objects);
	remote_objects__close(&agent->stores.objects);
	applications__close(&agent->applications);
close_probes:
	probes__close(&agent->probes);
close_region_events:
	region_events__close(&agent->region_events);
close_followers:
	followers__close(&agent->followers);
close_registry:
	clock_watch__close(&agent->clock_watch);
	cpu_watch__close(&agent->cpu_watch);
	client_memories__end(&agent->clients);
	registry__close(&agent->registry);
close_map_watch:
	map_owner_watch__close(&agent->map_owner_watch);
	control_region__close(&agent->control_region);
close_clients:
	client_memories__close(&agent->clients);
close_exposure:
	exposure__close(&agent->exposure);
close_kept_descriptors:
	fd_store__close(&agent->kept_descriptors);
	file_watches__close(&agent->file_watches);
close_leases:
	leases__close(&agent->leases);
close_device:
	agent__close_device(agent);
close_self:
	log__count_suppressed(NULL);
	self__close(&agent->self);
close_region:
	region__close(&agent->region);
close_settings:
	settings__close(&agent->settings);
close_configuration:
	dart_configuration__close(&agent->configuration);
	return ret;
}

void agent__close(struct agent *agent)
{
	struct background_close closing = {};

	probes__close_in_background(&agent->probes, &closing);
	map_owner_watch__close_in_background(&agent->map_owner_watch, &closing);
	background_close__start(&closing);
	tcp_listener__close(&agent->tcp_listener);
	listener__close(&agent->listener);
	registration_socket__close(&agent->socket);
	coverage_report__close(&agent->coverage);
	registrations__close(&agent->registrations);
	remote_objects__close(&agent->sketches);
	remote_objects__close(&agent->ledgers.objects);
	remote_objects__close(&agent->journals);
	remote_objects__close(&agent->tables.objects);
	remote_objects__close(&agent->stores.objects);
	applications__close(&agent->applications);
	probes__close(&agent->probes);
	region_events__close(&agent->region_events);
	followers__close(&agent->followers);
	clock_watch__close(&agent->clock_watch);
	cpu_watch__close(&agent->cpu_watch);
	client_memories__end(&agent->clients);
	registry__close(&agent->registry);
	map_owner_watch__close(&agent->map_owner_watch);
	control_region__close(&agent->control_region);
	client_memories__close(&agent->clients);
	exposure__close(&agent->exposure);
	fd_store__close(&agent->kept_descriptors);
	file_watches__close(&agent->file_watches);
	leases__close(&agent->leases);
	agent__close_device(agent);
	log__count_suppressed(NULL);
	self__close(&agent->self);
	region__close(&agent->region);
	settings__close(&agent->settings);
	dart_configuration__close(&agent->configuration);
	background_close__wait(&closing);
}

/* Names the settings that take effect at the next start only. */
static void agent__name_settings(const struct agent *agent, const struct settings *settings)
{
	char names[SETTINGS_NAMES_MAX];

	if (settings__compare(&agent->settings, settings, names, sizeof(names)))
		log__warning(
			"changed in the configuration, and used when dartd starts again: %s (systemctl restart dartd)",
			names);
}

void agent__reload(struct agent *agent)
{
	struct dart_configuration configuration, old;
	struct settings settings;
	struct dart_error error;

	if (configuration__load(&configuration, &agent->options, &error)) {
		log__error("the configuration was not reloaded: %s", error.text);
		return;
	}
	if (settings__open(&settings, &agent->options, &configuration, &error)) {
		log__error("the configuration was not reloaded: %s", error.text);
		dart_configuration__close(&configuration);
		return;
	}
	agent__name_settings(agent, &settings);
	/* Parts that know the lists of the old one learn of the new one first. */
	old = agent->configuration;
	agent->configuration = configuration;
	agent__reload_tcp(agent, &settings);
	settings__close(&settings);
	dart_configuration__close(&old);
	agent__use_configuration(agent);
	agent__apply_limits(agent);
	listener__enforce(&agent->listener);
	log__info("the configuration was reloaded");
}
