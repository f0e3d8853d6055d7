// SPDX-License-Identifier: GPL-2.0-only
/* Parses SRV records, and refuses truncated ones. */
#include "srv_answer.h"

#include <arpa/nameser.h>
#include <errno.h>
#include <limits.h>
#include <resolv.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/rdma/address.h>

#include "target_relabel.h"
#include "tools/controller/settings/labels.h"

/* Offset of the target's name, after priority, weight and port. */
#define SRV_NAME_AT (3 * NS_INT16SZ)

/* Adds the target of a record as the rules of the source make it. */
static int relabel_record(struct target_list_builder *builder, const char *host, uint16_t port,
			  struct target_faults *faults, struct dart_error *error)
{
	const struct target_defaults *defaults = builder->defaults;
	char *address = dart_address__name(host, port);
	json_t *meta = json_pack("{s:s, s:o}", "__meta_dns_srv_record_target", host,
				 "__meta_dns_srv_record_port", json_sprintf("%u", port));
	const struct unlabelled_target target = {
		.address = address,
		.labels = { defaults->meta, defaults->labels, meta },
	};
	int ret = -ENOMEM;

	if (address && meta)
		ret = target_relabel__add(builder, defaults->relabel, &target, faults, error);
	json_decref(meta);
	free(address);
	return ret;
}

static int take_record(struct target_list_builder *builder, const ns_msg *message,
		       const ns_rr *record, struct shared_text *labels,
		       struct target_faults *faults, struct dart_error *error)
{
	const unsigned char *data = ns_rr_rdata(*record);
	struct target_item *item;
	char host[NS_MAXDNAME];
	struct dart_error fault;
	int ret;

	if (ns_rr_rdlen(*record) <= SRV_NAME_AT ||
	    dn_expand(ns_msg_base(*message), ns_msg_end(*message), data + SRV_NAME_AT, host,
		      sizeof(host)) < 0)
		return dart_error__set(error, EINVAL, "a SRV record is not whole");
	/* The root as target says that there is no such service. */
	if (!*host || !strcmp(host, "."))
		return 0;
	if (!relabel_rules__is_empty(builder->defaults->relabel))
		return relabel_record(builder, host, ns_get16(data + 2 * NS_INT16SZ), faults,
				      error);
	ret = target_list__add(builder, host, ns_get16(data + 2 * NS_INT16SZ), &item);
	if (ret == -EINVAL) {
		dart_error__set(&fault, EINVAL,
				"a SRV record names '%.300s' port %u, which is not an agent", host,
				ns_get16(data + 2 * NS_INT16SZ));
		target_faults__add(faults, &fault);
		return 0;
	}
	if (ret == -E2BIG)
		return dart_error__set(error, EINVAL, "there are more than %d agents",
				       SETTINGS_TARGETS_MAX);
	if (!ret)
		item->settings.labels = shared_text__hold(labels);
	return ret;
}

static int take_records(struct target_list_builder *builder, ns_msg *message,
			struct shared_text *labels, uint32_t *ttl_s, struct target_faults *faults,
			struct dart_error *error)
{
	const int count = ns_msg_count(*message, ns_s_an);
	bool is_empty = true;
	ns_rr record;
	int i, ret;

	*ttl_s = INT_MAX;
	for (i = 0; i < count; i++) {
		if (ns_parserr(message, ns_s_an, i, &record))
			return dart_error__set(error, EINVAL,
					       "the answer of the name server is not whole");
		/* The time to live of a CNAME counts, too: the alias may lead elsewhere later. */
		if (ns_rr_ttl(record) < *ttl_s)
			*ttl_s = ns_rr_ttl(record);
		if (ns_rr_type(record) != ns_t_srv || ns_rr_class(record) != ns_c_in)
			continue;
		is_empty = false;
		ret = take_record(builder, message, &record, labels, faults, error);
		if (ret)
			return ret;
	}
	/* Such as an alias without records, which does not say that there is no such service. */
	if (is_empty)
		return dart_error__set(error, EINVAL, "the answer has no SRV record");
	return 0;
}

int srv_answer__parse(const void *message, size_t length, const struct target_defaults *defaults,
		      struct shared_text *source, struct target_list *list, uint32_t *ttl_s,
		      struct target_faults *faults, struct dart_error *error)
{
	struct target_list_builder builder = {
		.defaults = defaults,
		.source = source,
	};
	struct shared_text *labels = NULL;
	ns_msg parsed;
	int ret;

	dart_error__set(error, 0, "out of memory");
	if (length > NS_MAXMSG || ns_initparse(message, length, &parsed))
		return dart_error__set(error, EINVAL, "the answer of the name server is not whole");
	ret = labels__text(NULL, defaults->labels, &labels, error) ?:
		      take_records(&builder, &parsed, labels, ttl_s, faults, error);
	shared_text__release(labels);
	if (!ret && faults->count && !faults->dropped && !builder.list.count)
		ret = dart_error__set(error, EINVAL, "%s", faults->first[0].text);
	if (ret)
		target_list__clear(&builder.list);
	else
		target_list__finish(&builder, list);
	return ret;
}
