// SPDX-License-Identifier: GPL-2.0-only
/*
 * OTLP/HTTP, the protocol of OpenTelemetry, with protobuf and gzip: see otlp_fields.h.  Metrics
 * become those of the specification "Prometheus and OpenMetrics Compatibility"
 * (https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/):
 *
 *   counter     Sum, cumulative and monotonic
 *   gauge       Gauge, and so does a metric of unknown type
 *   histogram   Histogram with explicit bounds; its count is the bucket le="+Inf", a sum is unknown
 *   job         service.name, an attribute of the resource
 *   instance    service.instance.id, and the host in it, without a port, host.name
 *   labels      attributes of points; but of the resource if the name contains a dot, as
 *               deployment.environment.name: only labels of targets and outputs do
 *   unit        as UCUM writes it
 *   stale marker  a point with the flag NO_RECORDED_VALUE
 *
 * Names stay as they are.  A label that is named as one of these attributes of the resource takes
 * its place.
 *
 * A bucket of an exponential histogram contains values above 2^i, up to 2^(i+1); ours contains
 * those from 2^i on, below 2^(i+1), in a unit that is rarely the base unit.  So a Histogram with
 * explicit bounds is exact, and an ExponentialHistogram never is.  The time when a counter began is
 * left out, as the protocol demands where it is not known: metrics have no such time.
 *
 * A histogram without the bucket le="+Inf", which rules may drop, cannot be expressed.
 */
#include <math.h>

#include "format.h"
#include "otlp_fields.h"
#include "otlp_read.h"
#include "pieces.h"

/*
 * Times are in ns; but receivers that store metrics as Prometheus does keep ms, and would refuse
 * two points of a series in one of them.
 */
#define PRECISION_NS 1000000

#define NAME_KEY "service.name"
#define HOST_KEY "host.name"

/* ---- attributes */

static const struct metric_label *find(const struct merged_labels *labels, const char *name)
{
	size_t i;

	for (i = 0; i < labels->count; i++)
		if (!strcmp(labels->labels[i].name, name))
			return labels->labels + i;
	return NULL;
}

/* The attribute of the resource that a label becomes; NULL: it is one of points, or the name. */
static const char *resource_key(const struct merged_labels *labels,
				const struct metric_label *label)
{
	const char *key = NULL;

	if (!strcmp(label->name, "job"))
		key = NAME_KEY;
	else if (!strcmp(label->name, PIECES_HOST_LABEL))
		key = INSTANCE_KEY;
	if (key)
		return find(labels, key) ? NULL : key;
	return strchr(label->name, '.') ? label->name : NULL;
}

static bool is_of_points(const struct merged_labels *labels, const struct metric_label *label)
{
	return strcmp(label->name, LABEL_SET_NAME) && !resource_key(labels, label);
}

/* The length of KeyValue, without its head. */
static size_t pair_size(size_t key, size_t value)
{
	return protobuf__bytes_size(key) + protobuf__bytes_size(protobuf__bytes_size(value));
}

static uint8_t *put_attribute(uint8_t *to, unsigned int field, const char *key, const char *value,
			      size_t length)
{
	const size_t key_length = strlen(key);

	to = protobuf__put_head(to, field, pair_size(key_length, length));
	to = protobuf__put_bytes(to, PAIR_KEY, key, key_length);
	to = protobuf__put_head(to, PAIR_VALUE, protobuf__bytes_size(length));
	return protobuf__put_bytes(to, VALUE_STRING, value, length);
}

static void add_attribute(struct bytes *bytes, unsigned int field, const char *key,
			  const char *value, size_t length)
{
	uint8_t *to = bytes__reserve(bytes, protobuf__bytes_size(pair_size(strlen(key), length)));

	if (to)
		bytes->length = put_attribute(to, field, key, value, length) - bytes->data;
}

static void add_text(struct bytes *bytes, unsigned int field, const char *text)
{
	const size_t length = strlen(text);
	uint8_t *to = bytes__reserve(bytes, protobuf__bytes_size(length));

	if (to && length)
		bytes->length = protobuf__put_bytes(to, field, text, length) - bytes->data;
}

static void add_number(struct bytes *bytes, unsigned int field, uint8_t number)
{
	bytes__put_byte(bytes, PROTOBUF_TAG(field, PROTOBUF_VARINT));
	bytes__put_byte(bytes, number);
}

/* The host in HOST:PORT or [V6]:PORT; other texts are hosts. */
static const char *host_of(const char *instance, size_t *length)
{
	const char *colon = strrchr(instance, ':');
	const size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;

	*length = strlen(instance);
	if (!digits || colon[1 + digits] || colon == instance)
		return instance;
	if (*instance == '[' && colon[-1] == ']') {
		*length = colon - instance - 2;
		return instance + 1;
	}
	/* An address of IPv6 without a port. */
	if (strchr(instance, ':') == colon)
		*length = colon - instance;
	return instance;
}

static void add_resource(struct bytes *bytes, const struct merged_labels *labels)
{
	const struct metric_label *instance = find(labels, PIECES_HOST_LABEL);
	const size_t at = otlp__begin(bytes, RESOURCE);
	const char *key, *host;
	size_t length, i;

	for (i = 0; i < labels->count; i++) {
		key = resource_key(labels, labels->labels + i);
		if (key)
			add_attribute(bytes, RESOURCE_ATTRIBUTES, key, labels->labels[i].value,
				      strlen(labels->labels[i].value));
	}
	if (instance && !find(labels, HOST_KEY)) {
		host = host_of(instance->value, &length);
		add_attribute(bytes, RESOURCE_ATTRIBUTES, HOST_KEY, host, length);
	}
	otlp__end(bytes, at);
}

/* ---- messages that series are put into */

/* Messages inside each other, each of which ends where the draft does. */
enum {
	OPEN_RESOURCE_METRICS,
	OPEN_SCOPE_METRICS,
	OPEN_METRIC,
	OPEN_DATA,
};

/* A series that is being put. */
struct place {
	struct draft *draft;
	size_t start;
	/* As draft->open, if the series fits. */
	size_t open[DRAFT_OPEN_MAX];
	/* The attributes of points: their size, and where they were written; 0: not yet. */
	size_t attributes_size;
	size_t attributes_at;
};

/* As of https://ucum.org; other units stay as they are. */
static const char *unit_of(const struct metric_family *family)
{
	static const struct {
		const char *unit, *ucum;
	} units[] = {
		{ "seconds", "s" }, { "bytes", "By" }, { "hertz", "Hz" }, { "celsius", "Cel" },
		{ "ratio", "1" },   { "meters", "m" }, { "volts", "V" },  { "amperes", "A" },
		{ "joules", "J" },  { "grams", "g" },  { "watts", "W" },
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(family->unit, units[i].unit))
			return units[i].ucum;
	return family->unit;
}

static unsigned int data_of(const struct metric_family *family, const char **type)
{
	static const struct {
		unsigned int data;
		const char *type;
	} types[] = {
		[METRIC_COUNTER] = { METRIC_OF_SUM, "counter" },
		[METRIC_GAUGE] = { METRIC_OF_GAUGE, "gauge" },
		[METRIC_UNTYPED] = { METRIC_OF_GAUGE, "unknown" },
		[METRIC_HISTOGRAM] = { METRIC_OF_HISTOGRAM, "histogram" },
	};

	*type = types[family->type].type;
	return types[family->type].data;
}

/*
 * Do the @length bytes after the head of the message that begins at @open equal those after
 * @start?  All bytes of the draft are of that message.
 */
static bool is_repeated(const struct bytes *bytes, size_t open, size_t start)
{
	const size_t length = bytes->length - start - OTLP_HEAD;

	return open + OTLP_HEAD + length <= start &&
	       !memcmp(bytes->data + open + OTLP_HEAD, bytes->data + start + OTLP_HEAD, length);
}

/* Opens the messages for a resource, unless they are open.  Returns whether they were not. */
static bool open_resource(struct place *place, const struct merged_labels *labels)
{
	struct bytes *bytes = &place->draft->series;
	const size_t start = otlp__begin(bytes, RESOURCE_METRICS);
	size_t scope;

	add_resource(bytes, labels);
	if (bytes->has_failed)
		return false;
	if (start && is_repeated(bytes, place->open[OPEN_RESOURCE_METRICS], start)) {
		bytes->length = start;
		return false;
	}
	place->open[OPEN_RESOURCE_METRICS] = start;
	place->open[OPEN_SCOPE_METRICS] = otlp__begin(bytes, SCOPE_METRICS);
	scope = otlp__begin(bytes, SCOPE);
	add_text(bytes, SCOPE_NAME, "dart-controller");
	otlp__end(bytes, scope);
	return true;
}

static void open_metric(struct place *place, const char *name, const struct metric_family *family,
			bool is_first)
{
	struct bytes *bytes = &place->draft->series;
	const size_t start = otlp__begin(bytes, METRICS);
	const char *type;
	const unsigned int data = data_of(family, &type);

	add_text(bytes, METRIC_NAME, name);
	add_text(bytes, METRIC_DESCRIPTION, family->help);
	add_text(bytes, METRIC_UNIT, unit_of(family));
	add_attribute(bytes, METRIC_METADATA, "prometheus.type", type, strlen(type));
	/* The tag of its data is the last byte to compare. */
	bytes__put_byte(bytes, PROTOBUF_TAG(data, PROTOBUF_BYTES));
	if (bytes->has_failed)
		return;
	if (!is_first && is_repeated(bytes, place->open[OPEN_METRIC], start)) {
		bytes->length = start;
		return;
	}
	bytes->length--;
	place->open[OPEN_METRIC] = start;
	place->open[OPEN_DATA] = otlp__begin(bytes, data);
	if (data != METRIC_OF_GAUGE)
		add_number(bytes, DATA_TEMPORALITY, TEMPORALITY_CUMULATIVE);
	if (data == METRIC_OF_SUM)
		add_number(bytes, DATA_IS_MONOTONIC, true);
}

static struct place begin_series(struct draft *draft, const struct merged_labels *labels,
				 const struct metric_family *family)
{
	struct place place = { .draft = draft, .start = draft->series.length };
	const struct metric_label *label = labels->labels;

	memcpy(place.open, draft->open, sizeof(place.open));
	open_metric(&place, merged_labels__name(labels), family, open_resource(&place, labels));
	for (; label < labels->labels + labels->count; label++)
		if (is_of_points(labels, label))
			place.attributes_size += protobuf__bytes_size(
				pair_size(strlen(label->name), strlen(label->value)));
	return place;
}

/* Returns @count, of the points that were put; 0 if the message would be too long. */
static size_t end_series(struct place *place, size_t count)
{
	struct bytes *bytes = &place->draft->series;
	size_t i;

	if (bytes->has_failed)
		return count;
	if (!count || bytes->length - place->open[OPEN_RESOURCE_METRICS] > OTLP_MESSAGE_MAX) {
		bytes->length = place->start;
		return 0;
	}
	for (i = 0; i <= OPEN_DATA; i++)
		otlp__end(bytes, place->open[i]);
	memcpy(place->draft->open, place->open, sizeof(place->open));
	return count;
}

/* ---- points */

static uint8_t *put_fixed(uint8_t *to, uint64_t value)
{
	value = htole64(value);
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static uint8_t *put_tagged(uint8_t *to, unsigned int field, uint64_t value)
{
	*to++ = PROTOBUF_TAG(field, PROTOBUF_FIXED64);
	return put_fixed(to, value);
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Of the bytes: a signalling NaN does not survive some registers. */
static bool is_stale(const struct metric_point *point)
{
	uint64_t bits;

	memcpy(&bits, &point->value, sizeof(bits));
	return bits == FORMAT_STALE;
}

static uint8_t *put_attributes(struct place *place, uint8_t *to, unsigned int field,
			       const struct merged_labels *labels)
{
	const struct bytes *bytes = &place->draft->series;
	const struct metric_label *label = labels->labels;

	if (place->attributes_at && place->attributes_size)
		memcpy(to, bytes->data + place->attributes_at, place->attributes_size);
	if (place->attributes_at)
		return to + place->attributes_size;
	place->attributes_at = to - bytes->data;
	for (; label < labels->labels + labels->count; label++)
		if (is_of_points(labels, label))
			to = put_attribute(to, field, label->name, label->value,
					   strlen(label->value));
	return to;
}

static void put_number(struct place *place, const struct merged_labels *labels,
		       const struct metric_point *point)
{
	struct bytes *bytes = &place->draft->series;
	const size_t size = place->attributes_size + 9 + (is_stale(point) ? 2 : 9);
	uint8_t *to = bytes__reserve(bytes, protobuf__bytes_size(size));

	if (!to)
		return;
	to = protobuf__put_head(to, DATA_POINTS, size);
	to = put_attributes(place, to, NUMBER_ATTRIBUTES, labels);
	to = put_tagged(to, POINT_TIME, point->time_ns);
	if (is_stale(point)) {
		*to++ = PROTOBUF_TAG(NUMBER_FLAGS, PROTOBUF_VARINT);
		*to++ = FLAG_NO_RECORDED_VALUE;
	} else {
		to = put_tagged(to, NUMBER_VALUE, bits_of(point->value));
	}
	bytes->length = to - bytes->data;
}

static size_t put(struct draft *draft, const struct merged_labels *labels,
		  const struct metric_family *family, const struct metric_point *points,
		  size_t count)
{
	struct place place = begin_series(draft, labels, family);
	size_t i;

	for (i = 0; i < count; i++)
		put_number(&place, labels, points + i);
	return end_series(&place, count);
}

/* ---- histograms */

static const char *bound_text(const struct format_histogram *histogram, uint32_t bucket)
{
	const struct metric_series *series =
		histogram->plan->series + format_histogram__series(histogram, bucket);
	uint32_t i;

	for (i = 0; i < series->label_count; i++)
		if (!strcmp(series->labels[i].name, FORMAT_BOUND_LABEL))
			return series->labels[i].value;
	return "";
}

/* The bounds of all buckets, which the caller frees.  NULL if they do not grow up to +Inf. */
static double *read_bounds(const struct format_histogram *histogram)
{
	double *bounds = calloc(histogram->bucket_count, sizeof(*bounds));
	double before = -INFINITY;
	const char *text;
	char *end;
	uint32_t i;

	for (i = 0; bounds && i < histogram->bucket_count; i++) {
		text = bound_text(histogram, i);
		bounds[i] = strtod(text, &end);
		if (end == text || *end || !(bounds[i] > before))
			break;
		before = bounds[i];
	}
	if (bounds && i == histogram->bucket_count && before == INFINITY)
		return bounds;
	free(bounds);
	return NULL;
}

/* The bucket of a scrape, if it belongs to the point whose last bucket is @last. */
static const struct metric_point *bucket_of(const struct format_histogram *histogram,
					    uint32_t scrape, uint32_t bucket,
					    const struct metric_point *last)
{
	const struct metric_point *point =
		histogram->rows[scrape] + format_histogram__series(histogram, bucket);

	return point->time_ns == last->time_ns && is_stale(point) == is_stale(last) ? point : NULL;
}

/* The number of buckets of the point; 0: they do not cumulate to counts, or there is no point. */
static uint32_t count_buckets(const struct format_histogram *histogram, uint32_t scrape,
			      const struct metric_point *last)
{
	const struct metric_point *point;
	double before = 0;
	uint32_t count = 0, i;

	if (!last->time_ns)
		return 0;
	for (i = 0; i < histogram->bucket_count; i++) {
		point = bucket_of(histogram, scrape, i, last);
		if (!point)
			continue;
		if (!is_stale(last) && !(point->value >= before && point->value < 0x1p64))
			return 0;
		before = point->value;
		count++;
	}
	return count;
}

static uint8_t *put_buckets(uint8_t *to, const struct format_histogram *histogram, uint32_t scrape,
			    const struct metric_point *last, uint32_t count, const double *bounds)
{
	const struct metric_point *point;
	uint64_t before = 0, value;
	uint32_t i;

	to = protobuf__put_head(to, HISTOGRAM_BUCKETS, count * sizeof(uint64_t));
	for (i = 0; i < histogram->bucket_count; i++) {
		point = bucket_of(histogram, scrape, i, last);
		if (!point)
			continue;
		value = is_stale(last) ? 0 : (uint64_t)point->value;
		to = put_fixed(to, value - before);
		before = value;
	}
	to = protobuf__put_head(to, HISTOGRAM_BOUNDS, (count - 1) * sizeof(uint64_t));
	for (i = 0; i + 1 < histogram->bucket_count; i++)
		if (bucket_of(histogram, scrape, i, last))
			to = put_fixed(to, bits_of(bounds[i]));
	return to;
}

/* The buckets of a scrape; returns their number. */
static uint32_t put_scrape(struct place *place, const struct merged_labels *labels,
			   const struct format_histogram *histogram, uint32_t scrape,
			   const double *bounds)
{
	struct bytes *bytes = &place->draft->series;
	const struct metric_point *last =
		histogram->rows[scrape] +
		format_histogram__series(histogram, histogram->bucket_count - 1);
	const uint32_t count = count_buckets(histogram, scrape, last);
	size_t size;
	uint8_t *to;

	if (!count)
		return 0;
	size = place->attributes_size + 9 + (is_stale(last) ? 2 : 9) +
	       protobuf__bytes_size(count * sizeof(uint64_t)) +
	       protobuf__bytes_size((count - 1) * sizeof(uint64_t));
	to = bytes__reserve(bytes, protobuf__bytes_size(size));
	if (!to)
		return count;
	to = protobuf__put_head(to, DATA_POINTS, size);
	to = put_attributes(place, to, HISTOGRAM_ATTRIBUTES, labels);
	to = put_tagged(to, POINT_TIME, last->time_ns);
	if (is_stale(last)) {
		*to++ = PROTOBUF_TAG(HISTOGRAM_FLAGS, PROTOBUF_VARINT);
		*to++ = FLAG_NO_RECORDED_VALUE;
	} else {
		to = put_tagged(to, HISTOGRAM_COUNT, (uint64_t)last->value);
	}
	to = put_buckets(to, histogram, scrape, last, count, bounds);
	bytes->length = to - bytes->data;
	return count;
}

static size_t put_histogram(struct draft *draft, const struct merged_labels *labels,
			    const struct metric_family *family,
			    const struct format_histogram *histogram)
{
	double *bounds = read_bounds(histogram);
	struct place place;
	size_t count = 0;
	uint32_t i;

	if (!bounds)
		return 0;
	place = begin_series(draft, labels, family);
	for (i = 0; i < histogram->scrapes; i++)
		count += put_scrape(&place, labels, histogram, i, bounds);
	free(bounds);
	return end_series(&place, count);
}

/* ---- requests and answers */

/* The specification's path, unless the URL has one. */
static char *url_of(const struct receiver_settings *settings)
{
	const char *url = settings->url;
	const char *authority = strstr(url, "://") + 3;
	const char *path = authority + strcspn(authority, "/?#");
	char *whole;

	if (*path == '/' && path[1] && !strchr("?#", path[1]))
		return strdup(url);
	return asprintf(&whole, "%.*s/v1/metrics%s", (int)(path - url), url,
			path + (*path == '/')) < 0 ?
		       NULL :
		       whole;
}

/*
 * Of 5xx only these come from a receiver that may take the message later.  400 is final: the
 * specification forbids another attempt with any of its points.
 */
static enum verdict judge(const struct answer *answer, bool may_be_older)
{
	const long status = answer->status;
	const enum verdict verdict = answer__judge(answer);

	if (!answer->is_one)
		return verdict;
	if (status == 400 || status == 422 ||
	    (status / 100 == 5 && status != 502 && status != 503 && status != 504))
		return VERDICT_REFUSED;
	return verdict == VERDICT_DONE && answer->rejected ? VERDICT_PARTLY : verdict;
}

static const char *const headers[] = {
	"Content-Type: application/x-protobuf",
	"Content-Encoding: gzip",
	NULL,
};

const struct format format_otlp = {
	.name = "otlp",
	.number = 4,
	.title = "OTLP/HTTP",
	.headers = headers,
	.compression = &compression_gzip,
	.precision_ns = PRECISION_NS,
	.has_markers = true,
	.put = put,
	.put_histogram = put_histogram,
	.read = otlp__read,
	.read_answer = otlp__read_answer,
	.judge = judge,
	.url = url_of,
};
