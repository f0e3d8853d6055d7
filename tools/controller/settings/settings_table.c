// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of settings, and copies of settings: see settings.h.  A new setting is one row here;
 * Documentation/adding/setting.md says what its columns mean.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include <dart/control.h>

#include "labels.h"
#include "settings.h"
#include "tools/controller/base/http_address.h"

/* ---- values that have a grammar of their own */

static int take_file_sd(void *settings, const struct dart_setting *setting, const char *text,
			struct dart_error *error)
{
	return settings__name_source(settings, SOURCE_FILE_SD, text, error);
}

static int take_dns_srv(void *settings, const struct dart_setting *setting, const char *text,
			struct dart_error *error)
{
	return settings__name_source(settings, SOURCE_DNS_SRV, text, error);
}

static int take_http_sd(void *settings, const struct dart_setting *setting, const char *text,
			struct dart_error *error)
{
	return settings__name_source(settings, SOURCE_HTTP_SD, text, error);
}

static int take_entries(void *settings, const struct dart_setting *setting, const char *text,
			struct dart_error *error)
{
	char *copy = strdup(text), *rest = copy, *name;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (name = strsep(&rest, ","))) {
		err = settings__add_entry(settings, name);
		if (err == -EEXIST)
			err = dart_error__set(error, EINVAL, "entry '%s' is named twice", name);
		else if (err == -EINVAL)
			dart_setting__refuse(setting, name, error);
	}
	free(copy);
	return err == -ENOMEM ? dart_error__no_memory(error) : err;
}

static int read_entry(struct dart_yaml *yaml, const yaml_node_t *item, void *settings)
{
	const char *text = dart_yaml__text(item);
	int err = text ? settings__add_entry(settings, text) : -EINVAL;

	if (err == -EEXIST)
		return dart_yaml__refuse(yaml, item, "entry '%s' is named twice", text);
	if (err == -EINVAL)
		return dart_yaml__refuse(yaml, item, "expected the name of an entry");
	return err;
}

static int read_entries(struct dart_yaml *yaml, const yaml_node_t *node, void *settings)
{
	return dart_yaml__take_list(yaml, node, read_entry, settings);
}

/* "credit", or with a bound "credit,16K". */
static int take_flow(void *object, const struct dart_setting *setting, const char *text,
		     struct dart_error *error)
{
	char *copy = strdup(text), *bytes = copy;
	struct settings *settings = object;
	int err;

	if (!copy)
		return dart_error__no_memory(error);
	settings->flow_bytes = 0;
	err = dart_setting__take(dart_settings__find(&settings__table, "flow.control"), settings,
				 strsep(&bytes, ","), error);
	if (!err && bytes && settings->flow == SETTINGS_FLOW_NONE)
		err = dart_error__set(error, EINVAL, "flow control 'none' has no bytes");
	else if (!err && bytes)
		err = dart_setting__take(dart_settings__find(&settings__table, "flow.bytes"),
					 settings, bytes, error);
	free(copy);
	return err;
}

/* Reads the rows of one mapping. */
static int read_members(struct dart_yaml *yaml, const yaml_node_t *node, const char *group,
			struct settings *settings)
{
	const struct dart_settings_of places[] = {
		{ .table = &settings__table, .object = settings },
		{},
	};

	return dart_settings__read(yaml, node, group, places);
}

static int read_flow(struct dart_yaml *yaml, const yaml_node_t *node, void *object)
{
	struct settings *settings = object;
	int ret = read_members(yaml, node, "flow", settings);

	if (!ret && settings->flow == SETTINGS_FLOW_NONE && settings->flow_bytes)
		return dart_yaml__refuse(yaml, node, "flow control 'none' has no bytes");
	settings->flow = settings->flow ?: SETTINGS_FLOW_CREDIT;
	return ret;
}

static int read_record(struct dart_yaml *yaml, const yaml_node_t *node, void *object)
{
	struct settings *settings = object;
	int ret = read_members(yaml, node, "record", settings);

	if (!ret && !settings->record.path)
		return dart_yaml__refuse(yaml, node, "'record' needs a 'file'");
	return ret;
}

static int read_shard(struct dart_yaml *yaml, const yaml_node_t *node, void *settings)
{
	return read_members(yaml, node, "shard", settings);
}

static int read_limits(struct dart_yaml *yaml, const yaml_node_t *node, void *settings)
{
	return read_members(yaml, node, "limits", settings);
}

static int set_text(char **member, const char *text, struct dart_error *error)
{
	free(*member);
	*member = strdup(text);
	return *member ? 0 : dart_error__no_memory(error);
}

/* output_settings.h copies and frees the texts that these options set. */
static int take_output_text(void *settings, const struct dart_setting *setting, const char *text,
			    struct dart_error *error)
{
	return set_text((char **)((char *)settings + setting->offset), text, error);
}

static int take_address(void *settings, const struct dart_setting *setting, const char *text,
			struct dart_error *error)
{
	if (text && !http_address__is_valid(text))
		return dart_setting__refuse(setting, text, error);
	return take_output_text(settings, setting, text ?: HTTP_ADDRESS_DEFAULT, error);
}

/* The rows of options for both servers have offsets in a struct http_settings. */
static int take_http(void *object, const struct dart_setting *setting, const char *text,
		     struct dart_error *error)
{
	struct output_settings *outputs = &((struct settings *)object)->outputs;

	return set_text((char **)((char *)&outputs->listen + setting->offset), text, error) ?:
	       set_text((char **)((char *)&outputs->web + setting->offset), text, error);
}

static int take_http_name(void *object, const struct dart_setting *setting, const char *text,
			  struct dart_error *error)
{
	struct output_settings *outputs = &((struct settings *)object)->outputs;

	return http_settings__add_name(&outputs->listen, text, error) ?:
	       http_settings__add_name(&outputs->web, text, error);
}

/* The rows of receivers have the name of their format in place of words. */
static int take_receiver(void *object, const struct dart_setting *setting, const char *text,
			 struct dart_error *error)
{
	struct output_settings *outputs = &((struct settings *)object)->outputs;
	struct receiver_settings receiver = { .format = setting->words, .url = strdup(text) };
	int err = receiver.url ? output_settings__add_receiver(outputs, &receiver, error) :
				 dart_error__no_memory(error);

	receiver_settings__clear(&receiver);
	return err;
}

/* A digit: "01" is not a class. */
static int take_class(void *object, const struct dart_setting *setting, const char *text,
		      struct dart_error *error)
{
	struct target_defaults *defaults = object;

	if (*text < '0' || *text > '0' + SETTINGS_CLASS_MAX || text[1])
		return dart_setting__refuse(setting, text, error);
	defaults->class = *text - '0';
	return 0;
}

static int read_labels(struct dart_yaml *yaml, const yaml_node_t *node, void *object)
{
	struct target_defaults *defaults = object;

	return labels__read(yaml, node, &defaults->labels);
}

static int read_all_metric_rules(struct dart_yaml *yaml, const yaml_node_t *node, void *object)
{
	struct settings *settings = object;

	return relabel_rules__read(yaml, node, &settings->metric_relabel);
}

static int read_all_rules(struct dart_yaml *yaml, const yaml_node_t *node, void *object)
{
	struct settings *settings = object;

	return relabel_rules__read(yaml, node, &settings->relabel);
}

static int read_metric_rules(struct dart_yaml *yaml, const yaml_node_t *node, void *object)
{
	struct target_defaults *defaults = object;

	return relabel_rules__read(yaml, node, &defaults->metric_relabel);
}

static int read_target_entries(struct dart_yaml *yaml, const yaml_node_t *node, void *object)
{
	struct target_defaults *defaults = object;
	struct settings names = {};
	int ret = read_entries(yaml, node, &names);

	if (!ret) {
		defaults->entries = entry_names__new(names.entries, names.entry_count);
		ret = defaults->entries ? 0 : -ENOMEM;
	}
	settings__clear(&names);
	return ret;
}

/* ---- the tables */

#define MEMBER(member)	DART_SETTING_MEMBER(struct settings, member)
#define FILE_OF(member)	\
	.argument = "FILE", .type = DART_SETTING_TEXT, MEMBER(member), .completion = "@file"
#define TRANSPORT	\
	.type = DART_SETTING_CHOICE, .words = "read|rpc|tcp", .noun = "a transport"
#define INTERVAL							\
	.type = DART_SETTING_TIME, .least = SETTINGS_INTERVAL_MIN_NS,	\
	.most = SETTINGS_INTERVAL_MAX_NS, .noun = "an interval", .example = "1s"
#define ADDRESS	\
	.noun = "an address to listen at", .expected = "HOST:PORT, [V6]:PORT or :PORT"

static const struct dart_setting rows[] = {
	{ .option = "interval", .letter = 'i', .argument = "TIME", .key = "interval", INTERVAL,
	  MEMBER(interval_ns), .completion = "10ms 100ms 1s 10s 1min",
	  .help = "time between scrapes: 100ms, 1s (default), 1min" },
	{ .option = "entries", .letter = 'e', .argument = "NAME,...", .key = "entries",
	  .take = take_entries, .read = read_entries, .noun = "an entry",
	  .expected = "NAME,NAME as in dartctl list", .is_repeatable = true,
	  .completion = "cpustat vmstat softnet tcp",
	  .help = "scrape only these entries; 'cgroup:*' is a pattern" },
	{ .option = "flow", .argument = "KIND[,BYTES]", .key = "flow", .take = take_flow,
	  .read = read_flow, .completion = "credit bdp none",
	  .help = "bound the bytes in flight: credit (of all agents, the default if there can be several), bdp (of each) or none" },
	{ .key = "flow.control", .type = DART_SETTING_CHOICE, MEMBER(flow),
	  .words = "credit|bdp|none", .noun = "a flow control", .is_joint = true,
	  .is_for_start = true },
	{ .key = "flow.bytes", .type = DART_SETTING_BYTES, MEMBER(flow_bytes),
	  .least = SETTINGS_FLOW_BYTES_MIN, .most = SETTINGS_FLOW_BYTES_MAX,
	  .noun = "a number of bytes", .example = "256K", .is_joint = true, .is_for_start = true },
	{ .option = "io", .argument = "KIND", .key = "io.kind", .type = DART_SETTING_CHOICE,
	  MEMBER(io), .words = "event|poll|hybrid", .noun = "a kind of I/O", .is_for_start = true,
	  .help = "how the end of READs is noticed: by event (the default), poll, or hybrid, which polls for small scrapes and waits for large ones" },
	{ .option = "io-threads", .argument = "N", .key = "io.threads", .type = DART_SETTING_NUMBER,
	  MEMBER(io_threads), .least = 1, .most = SETTINGS_IO_THREADS_MAX,
	  .noun = "a number of I/O threads", .is_for_start = true,
	  .help = "share the agents out among N I/O threads of each kind; 1 by default" },
	{ .key = "io.fragments", .type = DART_SETTING_NUMBER, MEMBER(io_fragments), .least = 1,
	  .most = SETTINGS_IO_FRAGMENTS_MAX, .noun = "a number of fragments",
	  .is_for_start = true },
	{ .key = "io.group", .type = DART_SETTING_NUMBER, MEMBER(io_group), .least = 1,
	  .most = SETTINGS_IO_GROUP_MAX, .noun = "a number of queue pairs", .is_for_start = true },
	{ .option = "transport", .argument = "KIND", .key = "transport", TRANSPORT,
	  MEMBER(transport),
	  .help = "how values get here: READ from the memory of hosts (read, the default), or asked of their agents over RDMA (rpc) or over TCP with TLS (tcp)" },
	{ .option = "dscp", .argument = "N", .key = "dscp", .type = DART_SETTING_NUMBER,
	  MEMBER(dscp), .least = 1, .most = SETTINGS_DSCP_MAX, .noun = "a code point",
	  .example = "26", .is_for_start = true, .completion = "10 18 26 34 46",
	  .help = "mark packets over RDMA, and the answers to them, with this DSCP, which switches map to a traffic class" },
	{ .option = "mirror", .argument = "BYTES", .key = "mirror", .type = DART_SETTING_BYTES,
	  MEMBER(mirror_bytes), .least = SETTINGS_MIRROR_MIN, .most = DART_CONTROL_MIRROR_MAX,
	  .noun = "a number of bytes", .example = "64K", .is_for_start = true,
	  .completion = "64K 256K 1M",
	  .help = "offer each agent that is READ so much memory to write changes of its table to, and let other agents tell of them, so that entries have values at once" },
	{ .option = "tls-certificate", .key = "tls.certificate", FILE_OF(tls.certificate),
	  .noun = "a path", .is_joint = true, .is_for_start = true,
	  .help = "certificate of this controller, for tcp" },
	{ .option = "tls-key", .key = "tls.key", FILE_OF(tls.key), .noun = "a path",
	  .is_joint = true, .is_for_start = true, .help = "key of this certificate" },
	{ .option = "tls-authorities", .key = "tls.authorities", FILE_OF(tls.authorities),
	  .noun = "a path", .is_joint = true, .is_for_start = true,
	  .help = "authorities that sign the certificates of agents" },
	{ .option = "tls-revoked", .key = "tls.revoked", FILE_OF(tls.revoked), .noun = "a path",
	  .is_joint = true, .is_for_start = true,
	  .help = "lists of revoked certificates of agents (CRLs)" },
	{ .option = "workers", .argument = "N", .key = "workers", .type = DART_SETTING_NUMBER,
	  MEMBER(workers), .least = 1, .most = SETTINGS_WORKERS_MAX, .noun = "a number of workers",
	  .is_for_start = true, .help = "decode in N threads; 1 by default" },
	{ .key = "handshakes", .type = DART_SETTING_NUMBER, MEMBER(handshakes), .least = 1,
	  .most = SETTINGS_HANDSHAKES_MAX, .noun = "a number of handshakes", .is_for_start = true },
	{ .option = "clock-bound", .argument = "TIME", .key = "clock_bound",
	  .type = DART_SETTING_TIME, MEMBER(clock_bound_ns), .least = SETTINGS_INTERVAL_MIN_NS,
	  .most = SETTINGS_INTERVAL_MAX_NS, .noun = "a bound of clocks", .example = "2s",
	  .is_for_start = true, .completion = "100ms 1s 2s 10s",
	  .help = "report a host whose clock is off by more; 2s by default" },
	{ .key = "shard", .read = read_shard },
	{ .option = "shard-member", .argument = "I", .key = "shard.member",
	  .type = DART_SETTING_NUMBER, MEMBER(shard.member), .least = 1,
	  .most = SHARD_MEMBERS_MAX, .noun = "the number of a member",
	  .help = "scrape the part of the agents that falls to member I of several controllers" },
	{ .option = "shard-members", .argument = "N", .key = "shard.members",
	  .type = DART_SETTING_NUMBER, MEMBER(shard.members), .least = 1,
	  .most = SHARD_MEMBERS_MAX, .noun = "a number of members",
	  .help = "the number of these controllers" },
	{ .key = "shard.replication", .type = DART_SETTING_NUMBER, MEMBER(shard.replication),
	  .least = 1, .most = SHARD_MEMBERS_MAX, .noun = "a number of members" },
	{ .key = "shard.standby", INTERVAL, MEMBER(shard.standby_ns) },
	{ .key = "shard.members_file", .type = DART_SETTING_TEXT, MEMBER(shard.file),
	  .noun = "a path" },
	{ .key = "shard.handover", INTERVAL, MEMBER(shard.handover_ns) },
	{ .option = "replica", .argument = "NAME", .key = "replica", .type = DART_SETTING_TEXT,
	  MEMBER(replica), .noun = "the name of a replica",
	  .help = "give agents the label replica=\"NAME\", by which receivers tell several controllers of the same agents apart" },
	{ .key = "relabel_configs", .read = read_all_rules },
	{ .key = "metric_relabel_configs", .read = read_all_metric_rules },
	{ .key = "limits", .read = read_limits },
	{ .key = "limits.series", .type = DART_SETTING_NUMBER, MEMBER(limits.series), .least = 1,
	  .most = SETTINGS_SERIES_MAX, .noun = "a number of series", .is_for_start = true },
	{ .key = "limits.all_series", .type = DART_SETTING_NUMBER, MEMBER(limits.all_series),
	  .least = 1, .most = SETTINGS_SERIES_MAX, .noun = "a number of series",
	  .is_for_start = true },
	{ .key = "limits.label_bytes", .type = DART_SETTING_NUMBER, MEMBER(limits.label_bytes),
	  .least = 1, .most = SETTINGS_LABEL_BYTES_MAX, .noun = "a number of bytes",
	  .is_for_start = true },
	{ .option = "file-sd", .argument = "FILE", .take = take_file_sd, .is_repeatable = true,
	  .completion = "@file json", .help = "scrape the agents of a JSON file, as it changes" },
	{ .option = "dns-srv", .argument = "NAME", .take = take_dns_srv, .is_repeatable = true,
	  .help = "scrape the agents of SRV records" },
	{ .option = "http-sd", .argument = "URL", .take = take_http_sd, .is_repeatable = true,
	  .completion = "@url", .help = "scrape the agents that a URL names" },
	{ .option = "listen", .argument = "[=ADDRESS:PORT]", .take = take_address, ADDRESS,
	  MEMBER(outputs.listen.address), .completion = "@host",
	  .help = "serve metrics over HTTP, at 127.0.0.1:4794 by default" },
	{ .option = "listen-token-file", .argument = "FILE", .take = take_output_text,
	  MEMBER(outputs.listen.token_path), .completion = "@file",
	  .help = "the token that a peer must send to get the metrics" },
	{ .option = "web", .argument = "[=ADDRESS:PORT]", .take = take_address, ADDRESS,
	  MEMBER(outputs.web.address), .completion = "@host",
	  .help = "serve a page that shows all values, live, and the last hour; at 127.0.0.1:4795 by default" },
	{ .option = "web-token-file", .argument = "FILE", .take = take_output_text,
	  MEMBER(outputs.web.token_path), .completion = "@file",
	  .help = "the token that a browser must send to get the page" },
	{ .option = "http-certificate", .argument = "FILE", .take = take_http,
	  DART_SETTING_MEMBER(struct http_settings, certificate), .completion = "@file",
	  .help = "certificate of both servers, for HTTPS" },
	{ .option = "http-key", .argument = "FILE", .take = take_http,
	  DART_SETTING_MEMBER(struct http_settings, key), .completion = "@file",
	  .help = "key of this certificate" },
	{ .option = "http-user", .argument = "NAME", .take = take_http,
	  DART_SETTING_MEMBER(struct http_settings, user),
	  .help = "the user whom a peer of both servers must name" },
	{ .option = "http-password-file", .argument = "FILE", .take = take_http,
	  DART_SETTING_MEMBER(struct http_settings, password_path), .completion = "@file",
	  .help = "the password of this user, in the first line" },
	{ .option = "http-name", .argument = "NAME", .take = take_http_name, .is_repeatable = true,
	  .completion = "@host", .help = "a further name by which requests may call both servers" },
	{ .option = "remote-write", .argument = "URL", .take = take_receiver,
	  .words = "remote_write",
	  .is_repeatable = true, .completion = "@url",
	  .help = "send metrics to a receiver of Prometheus' remote write" },
	{ .option = "influx", .argument = "URL", .take = take_receiver,
	  .words = "influx", .is_repeatable = true,
	  .completion = "@url",
	  .help = "send metrics to an InfluxDB, or to a receiver that takes its line protocol" },
	{ .key = "record", .read = read_record },
	{ .option = "record", .key = "record.file", FILE_OF(record.path),
	  .noun = "the path of a file", .is_for_start = true,
	  .help = "also record all READs; the command record does only that" },
	{ .option = "record-size", .argument = "SIZE", .key = "record.size",
	  .type = DART_SETTING_BYTES, MEMBER(record.size), .least = SETTINGS_RECORD_SIZE_MIN,
	  .most = SETTINGS_RECORD_SIZE_MAX, .noun = "the size of a recording", .example = "1G",
	  .is_for_start = true, .completion = "64M 1G 10G",
	  .help = "end the recording, or begin another file, at so many bytes; 1G by default" },
	{ .option = "record-files", .argument = "N", .key = "record.files",
	  .type = DART_SETTING_NUMBER, MEMBER(record.files), .least = 1,
	  .most = SETTINGS_RECORD_FILES_MAX, .noun = "a number of files", .is_for_start = true,
	  .help = "keep N files: FILE, FILE.1 and so on; 1 by default" },
};

const struct dart_settings settings__table = DART_SETTINGS(rows);

#undef MEMBER
#define MEMBER(member)	DART_SETTING_MEMBER(struct target_defaults, member)

static const struct dart_setting target_rows[] = {
	{ .key = "transport", TRANSPORT, MEMBER(transport) },
	{ .key = "interval", INTERVAL, MEMBER(interval_ns) },
	{ .key = "class", .take = take_class, .noun = "a class", .expected = "0 to 3, 0 first" },
	{ .key = "labels", .read = read_labels },
	{ .key = "entries", .read = read_target_entries },
	{ .key = "metric_relabel_configs", .read = read_metric_rules },
};

const struct dart_settings target_defaults__table = DART_SETTINGS(target_rows);

int target_defaults__take(struct target_defaults *defaults, const char *key, const char *text,
			  struct dart_error *error)
{
	return dart_setting__take(dart_settings__find(&target_defaults__table, key), defaults, text,
				  error);
}

/* ---- the whole structure */

static int copy_target(struct settings *copy, const struct target_settings *target)
{
	struct target_settings *last;
	int err;

	err = settings__add_target(copy, target->host, target->port, target->interval_ns);
	if (err)
		return err;
	last = &copy->targets[copy->target_count - 1];
	last->transport = target->transport;
	last->class = target->class;
	last->entries = entry_names__hold(target->entries);
	last->labels = shared_text__hold(target->labels);
	last->source = shared_text__hold(target->source);
	last->metric_relabel = relabel_rules__hold(target->metric_relabel);
	return 0;
}

static int copy_source(struct settings *copy, const struct source_settings *source)
{
	struct target_defaults *defaults;
	int err;

	err = settings__add_source(copy, source->kind, source->place);
	if (err)
		return err;
	copy->sources[copy->source_count - 1].refresh_ns = source->refresh_ns;
	defaults = &copy->sources[copy->source_count - 1].defaults;
	*defaults = source->defaults;
	entry_names__hold(defaults->entries);
	json_incref(defaults->labels);
	relabel_rules__hold(defaults->metric_relabel);
	relabel_rules__hold(defaults->relabel);
	json_incref(defaults->meta);
	return url_settings__copy(&copy->sources[copy->source_count - 1].url, &source->url);
}

int settings__copy_members(struct settings *copy, const struct settings *settings)
{
	int err;

	*copy = *settings;
	copy->entries = NULL;
	copy->entry_count = 0;
	copy->targets = NULL;
	copy->target_count = 0;
	copy->by_name = NULL;
	copy->sources = NULL;
	copy->source_count = 0;
	relabel_rules__hold(copy->metric_relabel);
	relabel_rules__hold(copy->relabel);
	err = dart_settings__own(&settings__table, copy);
	return output_settings__copy(&copy->outputs, &settings->outputs) ?: err;
}

int settings__copy(struct settings *copy, const struct settings *settings)
{
	int err = settings__copy_members(copy, settings);
	size_t i;

	for (i = 0; !err && i < settings->entry_count; i++)
		err = settings__add_entry(copy, settings->entries[i]);
	for (i = 0; !err && i < settings->target_count; i++)
		err = copy_target(copy, &settings->targets[i]);
	for (i = 0; !err && i < settings->source_count; i++)
		err = copy_source(copy, &settings->sources[i]);
	return err;
}

bool settings__start_alike(const struct settings *one, const struct settings *other)
{
	return dart_settings__equal(&settings__table, one, other, true);
}

static void keep_name(void *name)
{
}

void settings__clear(struct settings *settings)
{
	struct target_settings *target;
	struct source_settings *source;
	size_t i;

	output_settings__clear(&settings->outputs);
	tdestroy(settings->by_name, keep_name);
	for (i = 0; i < settings->target_count; i++) {
		target = &settings->targets[i];
		free(target->host);
		free(target->name);
		entry_names__release(target->entries);
		shared_text__release(target->labels);
		shared_text__release(target->source);
		relabel_rules__release(target->metric_relabel);
	}
	free(settings->targets);
	for (i = 0; i < settings->source_count; i++) {
		source = &settings->sources[i];
		free(source->place);
		url_settings__clear(&source->url);
		entry_names__release(source->defaults.entries);
		json_decref(source->defaults.labels);
		relabel_rules__release(source->defaults.metric_relabel);
		relabel_rules__release(source->defaults.relabel);
		json_decref(source->defaults.meta);
	}
	relabel_rules__release(settings->metric_relabel);
	relabel_rules__release(settings->relabel);
	free(settings->sources);
	for (i = 0; i < settings->entry_count; i++)
		free(settings->entries[i]);
	free(settings->entries);
	dart_settings__clear(&settings__table, settings);
	memset(settings, 0, sizeof(*settings));
}
