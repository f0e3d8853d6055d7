// SPDX-License-Identifier: LGPL-2.1-or-later
/* The setting "tcp" of a configuration file: callers by TCP, and their certificates. */
#include <stdlib.h>
#include <string.h>

#include <libdart/configuration/configuration_loader_internal.h>
#include <libdart/tls_places.h>

static struct dart_configuration_tcp *tcp_of(void *into)
{
	struct dart_configuration_loader *loader = into;

	return &loader->configuration->tcp;
}

/* dartd may run anywhere, so that a relative path has no meaning. */
static int take_path(struct dart_yaml *yaml, const yaml_node_t *node,
		     struct dart_configuration_loader *loader, const char *name,
		     char **path)
{
	const char *text;
	int ret;

	ret = dart_configuration__claim_setting(loader, yaml, node, name) ?:
		      dart_configuration__take_text(yaml, node, &text);
	if (ret)
		return ret;
	if (*text != '/')
		return dart_yaml__refuse(yaml, node,
					 "'%s' is not an absolute path", text);
	*path = strdup(text);
	return *path ? 0 : dart_error__no_memory(yaml->error);
}

static int take_certificate(struct dart_yaml *yaml, const yaml_node_t *node,
			    void *into)
{
	return take_path(yaml, node, into, "tcp: certificate",
			 &tcp_of(into)->certificate);
}

static int take_key(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return take_path(yaml, node, into, "tcp: key", &tcp_of(into)->key);
}

static int take_authorities(struct dart_yaml *yaml, const yaml_node_t *node,
			    void *into)
{
	return take_path(yaml, node, into, "tcp: authorities",
			 &tcp_of(into)->authorities);
}

static int take_revoked(struct dart_yaml *yaml, const yaml_node_t *node,
			void *into)
{
	return take_path(yaml, node, into, "tcp: revoked",
			 &tcp_of(into)->revoked);
}

static int take_subject(struct dart_yaml *yaml, const yaml_node_t *item,
			void *into)
{
	struct dart_configuration_tcp *tcp = tcp_of(into);
	const char *name;
	int ret = dart_configuration__take_text(yaml, item, &name);

	if (ret)
		return ret;
	if (strchr(name, '*'))
		return dart_yaml__refuse(
			yaml, item, "'%s': each caller is named in full", name);
	if (dart_configuration__append(&tcp->subjects, &tcp->subject_count,
				       name))
		return dart_error__no_memory(yaml->error);
	return 0;
}

static int take_subjects(struct dart_yaml *yaml, const yaml_node_t *node,
			 void *into)
{
	return dart_yaml__take_list(yaml, node, take_subject, into);
}

static int take_address(struct dart_yaml *yaml, const yaml_node_t *item,
			void *into)
{
	struct dart_configuration_tcp *tcp = tcp_of(into);

	return dart_configuration__take_address(into, yaml, item, "tcp: listen",
						&tcp->listen,
						&tcp->listen_count);
}

static int take_listen(struct dart_yaml *yaml, const yaml_node_t *node,
		       void *into)
{
	int ret = dart_yaml__take_list(yaml, node, take_address, into);

	if (!ret && !tcp_of(into)->listen_count)
		return dart_yaml__refuse(
			yaml, node,
			"no address to listen at (remove 'listen' for all)");
	return ret;
}

static int take_port(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	long long port;
	int ret;

	ret = dart_configuration__claim_setting(into, yaml, node,
						"tcp: port") ?:
		      dart_configuration__take_number(yaml, node, 1, UINT16_MAX,
						      &port);
	if (!ret)
		tcp_of(into)->port = port;
	return ret;
}

/* Takes the files that dartctl tls makes, and allows all controllers with its certificates. */
static int take_defaults(struct dart_yaml *yaml,
			 struct dart_configuration_loader *loader)
{
	struct dart_configuration_tcp *tcp = tcp_of(loader);

	tcp->certificate = strdup(DART_TLS_HOST_CERTIFICATE);
	tcp->key = strdup(DART_TLS_HOST_KEY);
	tcp->authorities = strdup(DART_TLS_AUTHORITIES);
	if (!tcp->revoked)
		tcp->revoked = strdup(DART_TLS_REVOKED);
	if (!tcp->certificate || !tcp->key || !tcp->authorities ||
	    !tcp->revoked ||
	    (!tcp->subject_count &&
	     dart_configuration__append(&tcp->subjects, &tcp->subject_count,
					DART_TLS_CONTROLLER_SUBJECT)))
		return dart_error__no_memory(yaml->error);
	return 0;
}

int dart_configuration__take_tcp(struct dart_yaml *yaml,
				 const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "certificate", take_certificate, 0 },
		{ "key", take_key, 0 },
		{ "authorities", take_authorities, 0 },
		{ "revoked", take_revoked, 0 },
		{ "subjects", take_subjects, 0 },
		{ "listen", take_listen, 0 },
		{ "port", take_port, 0 },
		{}
	};
	struct dart_configuration_tcp *tcp = tcp_of(into);
	int ret;

	ret = dart_configuration__claim_setting(into, yaml, node, "tcp");
	if (ret)
		return ret;
	if (asprintf(&tcp->place, "%s:%u", yaml->path,
		     dart_yaml__line(node)) < 0) {
		tcp->place = NULL;
		return dart_error__no_memory(yaml->error);
	}
	ret = dart_yaml__take_mapping(yaml, node, members, into);
	if (ret)
		return ret;
	if (!tcp->certificate && !tcp->key && !tcp->authorities)
		return take_defaults(yaml, into);
	if (!tcp->certificate || !tcp->key || !tcp->authorities ||
	    !tcp->subject_count)
		return dart_yaml__refuse(
			yaml, node,
			"'tcp' needs a certificate, a key, authorities and subjects, or none of these files (then those of dartctl tls are taken)");
	return 0;
}
