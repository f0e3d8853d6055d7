// SPDX-License-Identifier: GPL-2.0-only
/* Counts and logs the connect requests that are rejected, by the reason. */
#include <errno.h>

#include "agent/base/log.h"
#include "rejection.h"

static enum rejection reason_of(int code)
{
	switch (-code) {
	case EPROTO:
		return REJECTED_MALFORMED;
	case EPROTONOSUPPORT:
		return REJECTED_VERSION;
	case EACCES:
	case EPERM:
		return REJECTED_NOT_ALLOWED;
	case EUSERS:
		return REJECTED_LIMIT;
	case EXDEV:
		return REJECTED_DEVICE;
	case ENOENT:
		return REJECTED_NO_STORE;
	default:
		return REJECTED_RESOURCES;
	}
}

void rejection__note(struct connection_counts *counts, int code,
		     const char *kind, const char *peer, const char *text)
{
	/* Many rejections for one reason do not hide those for others. */
	static struct log_limit limits[REJECTIONS];
	enum rejection reason = reason_of(code);

	count__add(&counts->rejected[reason], 1);
	log__write_limited(&limits[reason], LOG_WARNING, "%s %s rejected: %s",
			   kind, peer, text);
}
