// SPDX-License-Identifier: GPL-2.0-only
/* Options of recordings, and of what is replayed of them. */
#include "options_record.h"

#include <errno.h>

int options_record__parse(struct options *options, enum option_code code,
			  const char *value, struct dart_error *error)
{
	struct settings_record *record = &options->settings.record;
	struct replay_options *replay = &options->replay;
	int ret;

	switch (code) {
	case OPTION_RECORD:
		return settings_record__set_path(record, value);
	case OPTION_RECORD_SIZE:
		if (!settings__parse_record_size(value, &record->size))
			return 0;
		return dart_error__set(
			error, EINVAL,
			"'%s' is not the size of a recording (expected 1M to 16T, e.g. 1G)",
			value);
	case OPTION_RECORD_FILES:
		if (!settings__parse_record_files(value, &record->files))
			return 0;
		return dart_error__set(
			error, EINVAL,
			"'%s' is not a number of files (expected 1 to 1000)",
			value);
	case OPTION_SPEED:
		replay->has_speed = true;
		if (!replay_options__parse_speed(value, &replay->speed))
			return 0;
		return dart_error__set(
			error, EINVAL,
			"'%s' is not a speed (expected 0.001 to 1000000, or max)",
			value);
	case OPTION_FORMAT:
		if (!replay_options__parse_format(value, &replay->format))
			return 0;
		return dart_error__set(
			error, EINVAL,
			"'%s' is not a format (expected csv, json or openmetrics)", value);
	default:
		ret = replay_time__parse(value, code == OPTION_FROM ?
							&replay->from :
							&replay->to);
		if (!ret)
			return 0;
		if (ret == -ERANGE)
			return dart_error__set(
				error, EINVAL,
				"'%s' does not exist: the month has fewer days, or the clocks leave this time out (give another time)",
				value);
		return dart_error__set(
			error, EINVAL,
			"'%s' is not a time (expected '2026-11-25 10:30:00', +90s or @1764066600)",
			value);
	}
}
