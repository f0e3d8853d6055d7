// SPDX-License-Identifier: GPL-2.0-only
/* dart-controller doctor: examines the way from this machine to a host. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

#include <libdart/rdma/address.h>
#include <libdart/tls_places.h>

#include "configuration.h"
#include "connection.h"
#include "doctor.h"
#include "reads.h"
#include "tcp.h"
#include "tools/controller/settings/config.h"
#include "tools/doctor/certificate.h"

/* @ret: result of the resolution, 0 or an error of getaddrinfo(). */
static void check_name(struct findings *findings, const char *host, const char *address, int ret)
{
	if (!ret) {
		findings__ok(findings, "name", "%s has the address %s", host, address);
		return;
	}
	findings__fail(findings, "name", "cannot resolve '%s': %s", host, gai_strerror(ret));
	findings__command(findings, "getent hosts %s", host);
}

/*
 * Reads the configuration file if the command line names one.  The host may be one of its agents;
 * the file may name no agents at all.
 */
static int load_configuration(const struct options *options, struct settings *settings)
{
	struct settings own = options->settings;
	struct dart_error error;
	FILE *file;
	int ret;

	*settings = (struct settings){};
	if (!options->config)
		return 0;
	own.targets = NULL;
	own.target_count = 0;
	dart_error__no_memory(&error);
	file = fopen(options->config, "re");
	if (!file) {
		ret = dart_error__system(&error, errno, "cannot open '%s'", options->config);
	} else {
		ret = settings__copy(settings, &own) ?:
			      config__load(settings, file, options->config, &error) ?:
			      shard__check(&settings->shard, &error);
		fclose(file);
	}
	if (ret)
		fprintf(stderr, "dart-controller: %s\n", error.text);
	return ret;
}

static void check_by_rdma(struct findings *findings, struct connection *connection,
			  const struct tcp_way *way, const struct settings *settings)
{
	const struct dart_endpoint_accept *accept;

	if (!check_connection(findings, connection)) {
		check_tcp(findings, connection, way, false);
		return;
	}
	findings->is_lenient = false;
	accept = dart_endpoint__accept(connection->endpoint);
	check_mtu(findings, connection);
	check_remote_clock(findings, connection, accept->clock_offset_ns,
			   accept->clock_uncertainty_ns);
	check_reads(findings, connection, settings);
	dart_endpoint__free(connection->endpoint);
}

/* Runs all checks that need the address of the host. */
static void check_host(struct findings *findings, struct connection *connection,
		       const struct options *options, const struct settings_tls *tls)
{
	const bool is_by_tcp = options->settings.transport == SETTINGS_TRANSPORT_TCP;
	const uint16_t port = is_by_tcp ? connection->target->port :
					  settings__default_port(SETTINGS_TRANSPORT_TCP);
	struct tcp_way way;

	tcp_way__try(&way, connection, port, tls);
	/* If TCP works, RDMA is optional. */
	findings->is_lenient = !is_by_tcp && tcp_way__is_open(&way);
	if (!is_by_tcp)
		check_rdma_cm(findings);
	check_name(findings, connection->target->host, connection->address, 0);
	if (is_by_tcp)
		check_tcp(findings, connection, &way, true);
	else
		check_by_rdma(findings, connection, &way, &options->settings);
	if (way.answer == TCP_SERVES && !connection->endpoint)
		check_remote_clock(findings, connection, way.clock_offset_ns,
				   way.clock_uncertainty_ns);
}

int doctor__run(const struct options *options)
{
	const struct target_settings *target = options->settings.targets;
	struct connection connection = { .target = target };
	const struct settings_tls *tls = &options->settings.tls;
	struct settings configured;
	struct findings findings;
	char *address = NULL;
	int ret;

	if (load_configuration(options, &configured)) {
		settings__clear(&configured);
		return EXIT_FAILURE;
	}
	if (!tls->certificate && configured.tls.certificate)
		tls = &configured.tls;
	findings__open(&findings, options->json);
	check_certificate(&findings, tls->certificate ?: DART_TLS_CONTROLLER_CERTIFICATE);
	ret = dart_address__resolve(target->host, &address);
	connection.address = address;
	if (ret) {
		check_name(&findings, target->host, NULL, ret);
	} else {
		check_host(&findings, &connection, options, tls);
	}
	if (!ret)
		free(address);
	check_members(&findings, &configured.shard);
	check_threads(&findings, &configured);
	check_receivers(&findings, &configured.outputs);
	settings__clear(&configured);
	return findings__close(&findings);
}
