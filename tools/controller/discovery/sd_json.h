/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists of targets in the JSON format of file_sd and http_sd of Prometheus:
 *
 *   [{"targets": ["host1", "host2:4792"], "labels": {"rack": "a7"}}, ...]
 *
 * The programs that write such lists are in Go.  As there, null or a missing member is an empty
 * list, object or text, and bytes that are not UTF-8 become U+FFFD.
 *
 * Each target of a group gets the labels of the group, which replace labels of the source with
 * the same name.  As in Prometheus, it does not get labels that begin with two underscores, but
 * __scrape_interval__ sets the interval, in the spelling of the configuration, __class__ the
 * class in flow control, and __transport__ the transport.  Rules of the source see all labels,
 * with the text of the target as __address__: see target_relabel.h.
 *
 * Pure code that parses hostile bytes.
 */
#ifndef CONTROLLER_SD_JSON_H
#define CONTROLLER_SD_JSON_H

#include <libdart/error.h>

#include "target_faults.h"
#include "target_list.h"

#define SD_JSON_BYTES_MAX (16U << 20)
/*
 * A parsed object or list takes up to 76 bytes of memory for each byte of text, so their number
 * is limited before the text is parsed: to a few more than the three for each target in a group
 * of its own.  A limit of commas, which separate values, limits the number of values.
 */
#define SD_JSON_OBJECTS_MAX (4U * SETTINGS_TARGETS_MAX)
#define SD_JSON_COMMAS_MAX (64U * SETTINGS_TARGETS_MAX)

/*
 * Parses @length bytes into @list, which is empty before, and which the caller clears afterwards.
 * Leaves out each target and group that cannot be used, and adds it to @faults, which are empty
 * before.  Returns 0; -EINVAL with a sentence in @error if the bytes are not such a list, or if it
 * names only targets and groups that are left out; -ENOMEM.
 */
int sd_json__parse(const void *bytes, size_t length, const struct target_defaults *defaults,
		   struct shared_text *source, struct target_list *list,
		   struct target_faults *faults, struct dart_error *error);

#endif /* CONTROLLER_SD_JSON_H */
