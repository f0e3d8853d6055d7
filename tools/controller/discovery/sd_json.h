/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists of targets as Prometheus' file_sd and http_sd have them, JSON:
 *
 *   [{"targets": ["host1", "host2:4792"], "labels": {"rack": "a7"}}, ...]
 *
 * As in Go, whose programs write them, null is an empty list, object or text, and so is a member
 * that is not there; bytes that are not UTF-8 become U+FFFD.
 *
 * Labels go to each target of their group, over those of the source.  Labels that begin
 * with two underscores do not, as in Prometheus; of these, __scrape_interval__ sets the
 * interval, as the configuration has it, __class__ the class in flow control, and
 * __transport__ the transport.
 *
 * Pure code, for bytes of strangers.
 */
#ifndef CONTROLLER_SD_JSON_H
#define CONTROLLER_SD_JSON_H

#include <libdart/error.h>

#include "target_faults.h"
#include "target_list.h"

#define SD_JSON_BYTES_MAX (16U << 20)
/*
 * Each object or list takes up to 76 bytes of memory for a byte of text, so these have a
 * bound of their own, before anything is parsed: three for each target in a group of its
 * own, and some.  Values have commas between them.
 */
#define SD_JSON_OBJECTS_MAX (4U * SETTINGS_TARGETS_MAX)
#define SD_JSON_COMMAS_MAX (64U * SETTINGS_TARGETS_MAX)

/*
 * Parses @length bytes.  @list is empty before, and the caller's to clear afterwards.  A target or
 * a group that cannot be used is left out and added to @faults, which have none before.  Returns 0;
 * -EINVAL with a sentence in @error if the bytes are no list, or if all that it has is left out;
 * -ENOMEM.
 */
int sd_json__parse(const void *bytes, size_t length, const struct target_defaults *defaults,
		   struct shared_text *source, struct target_list *list,
		   struct target_faults *faults, struct dart_error *error);

#endif /* CONTROLLER_SD_JSON_H */
