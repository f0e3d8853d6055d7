// SPDX-License-Identifier: GPL-2.0-only
/* Opens recordings as the options say. */
#include "controller_record.h"

/* The file is full, or cannot be written; outputs go on. */
static int on_ended(sd_event_source *source, int fd, uint32_t events,
		    void *data)
{
	const struct controller_record *record = data;
	const struct options *options = record->context->options;

	/* Why has been said; it is the exit status in the end. */
	if (options->only_records && !options->json &&
	    !output_settings__has_any(&options->settings.outputs))
		return sd_event_exit(record->context->event, 0);
	return sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

int controller_record__open(struct controller_record *record,
			    struct target_context *context,
			    struct dart_error *error)
{
	const struct options *options = context->options;
	int err;

	record->context = context;
	record->outputs = &context->outputs;
	if (!options->settings.record.path || options->replay.files)
		return 0;
	err = recorder__open(&options->settings.record, context->log,
			     &record->recorder, error);
	if (err)
		return err;
	err = output_list__add(&context->outputs, recorder__figures, record->recorder);
	if (err)
		return err;
	context->tap = recorder__tap(record->recorder);
	err = sd_event_add_io(context->event, &record->ended,
			      recorder__event_fd(record->recorder), EPOLLIN,
			      on_ended, record);
	return err < 0 ? err : 0;
}

int controller_record__close(struct controller_record *record)
{
	int err;

	sd_event_source_disable_unref(record->ended);
	if (record->recorder)
		output_list__remove(record->outputs, record->recorder);
	err = recorder__close(record->recorder);
	*record = (struct controller_record){};
	return err;
}
