// SPDX-License-Identifier: GPL-2.0-only
/* Makes messages of blocks: see encoder.h. */
#include "encoder.h"

#include <errno.h>

#include "influx.h"
#include "remote_write.h"

void encoder__free(struct encoder *encoder)
{
	bytes__free(&encoder->body);
	symbols__free(&encoder->symbols);
}

static int make_message(struct encoder *encoder, struct message **message)
{
	struct bytes whole = {};
	int ret = 0;

	if (encoder->body.has_failed || encoder->symbols.fields.has_failed)
		return -ENOMEM;
	switch (encoder->format) {
	case MESSAGE_REMOTE_WRITE_1:
		return message__compress(encoder->format, encoder->samples,
					 encoder->body.data,
					 encoder->body.length, message);
	case MESSAGE_REMOTE_WRITE_2:
		/* Symbols first: so a receiver can decode while it reads. */
		bytes__put(&encoder->symbols.fields, encoder->body.data,
			   encoder->body.length);
		if (encoder->symbols.fields.has_failed)
			return -ENOMEM;
		return message__compress(encoder->format, encoder->samples,
					 encoder->symbols.fields.data,
					 encoder->symbols.fields.length,
					 message);
	case MESSAGE_INFLUX:
		ret = influx__compress(&encoder->body, &whole);
		if (!ret)
			*message = message__new(encoder->format,
						encoder->samples, whole.data,
						whole.length);
		if (!ret && !*message)
			ret = -ENOMEM;
		bytes__free(&whole);
		return ret;
	}
	return -EINVAL;
}

void encoder__finish(struct encoder *encoder, encoder_take *take, void *data)
{
	struct message *message;

	if (encoder->samples) {
		if (make_message(encoder, &message))
			encoder->unsent += encoder->samples;
		else
			take(data, message);
	}
	encoder->samples = 0;
	bytes__empty(&encoder->body);
	symbols__empty(&encoder->symbols);
}

/* Returns how many samples are in the message. */
static size_t put_series(struct encoder *encoder,
			 const struct metric_plan *plan, uint32_t series,
			 size_t count)
{
	const struct metric_series *what = plan->series + series;

	switch (encoder->format) {
	case MESSAGE_REMOTE_WRITE_1:
		remote_write_1__put(&encoder->body, &encoder->labels,
				    encoder->points, count);
		return count;
	case MESSAGE_REMOTE_WRITE_2:
		remote_write_2__put(&encoder->body, &encoder->symbols,
				    &encoder->labels,
				    plan->families + what->family,
				    encoder->points, count);
		return count;
	case MESSAGE_INFLUX:
		return influx__put(&encoder->body, &encoder->labels, what->name,
				   encoder->points, count);
	}
	return 0;
}

void encoder__add(struct encoder *encoder, const struct block *block,
		  encoder_take *take, void *data)
{
	const struct metric_plan *plan = block->plan;
	const struct label_set *labels = encoder->format == MESSAGE_REMOTE_WRITE_1 ?
						 label_set__plain(block->labels) :
						 block->labels;
	size_t count, put;
	uint32_t i;

	for (i = 0; i < plan->series_count; i++) {
		count = block__points(block, i, encoder->points);
		if (!count)
			continue;
		if (encoder->samples &&
		    (encoder->samples + count > encoder->batch ||
		     encoder->body.length + encoder->symbols.fields.length >=
			     MESSAGE_ENCODED_MAX))
			encoder__finish(encoder, take, data);
		put = label_set__merge(labels, plan->series + i,
				       &encoder->labels) ?
			      put_series(encoder, plan, i, count) :
			      0;
		encoder->samples += put;
		encoder->unsent += count - put;
	}
}
