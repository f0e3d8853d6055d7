// SPDX-License-Identifier: GPL-2.0-only
/*
 * InfluxDB's line protocol
 * (https://docs.influxdata.com/influxdb/v1/write_protocols/line_protocol_reference/), a line
 * for each point:
 *
 *   node_cpu_seconds_total,cpu=0,instance=a:4792,job=dart,mode=user value=12.5 1700000000000000000
 *
 * The name of a series is the measurement, its labels are tags, in the order of their names,
 * and the value is the field "value", a float; the time is in ns.  InfluxDB itself stores
 * Prometheus' metrics in this way (its endpoint /api/v1/prom/write), so dashboards and queries for
 * such data, as SELECT value FROM node_load1, work for ours.  Telegraf's input prometheus
 * names the field after the type (metric_version = 1), or has one measurement for all
 * (metric_version = 2), so that a query must know how the value came in.  VictoriaMetrics
 * makes the metric node_load1_value of it, or with -influxSkipSingleField the very name
 * node_load1.
 *
 * The protocol cannot express NaN, infinite values or the end of a series: such points are left
 * out.
 */
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "lines.h"

#define PRECISION_NS 1
/* InfluxDB's database if neither settings nor URL name one. */
#define DATABASE "dart"

/* Bytes of a line for one of a text, at most: "\x5c". */
#define ESCAPED_MAX 4

/*
 * A line feed would end the line, and a backslash at the end or before one of @special would hide
 * a separator.  Only rules make such values: escape.h of libdart has replaced them in others.
 */
static const char *find_escape(const char *c, const char *special)
{
	if (*c == '\n')
		return "\\x0a";
	return *c == '\\' && strchr(special, c[1]) ? "\\x5c" : NULL;
}

/* Names and values of tags: a backslash before each of @special. */
static void put_escaped(struct bytes *lines, const char *text, const char *special)
{
	uint8_t *to = bytes__reserve(lines, ESCAPED_MAX * strlen(text));
	const char *c, *escape;

	if (!to)
		return;
	for (c = text; *c; c++) {
		escape = find_escape(c, special);
		if (escape) {
			to = mempcpy(to, escape, ESCAPED_MAX);
			continue;
		}
		if (strchr(special, *c))
			*to++ = '\\';
		*to++ = *c;
	}
	lines->length = to - lines->data;
}

/* A line for each finite point. */
static size_t put_lines(struct draft *draft, const struct merged_labels *labels,
			const struct metric_family *family, const struct metric_point *points,
			size_t count)
{
	struct bytes *lines = &draft->series;
	const size_t start = lines->length;
	size_t i;

	put_escaped(lines, merged_labels__name(labels), ", ");
	for (i = 0; i < labels->count; i++) {
		if (!strcmp(labels->labels[i].name, LABEL_SET_NAME))
			continue;
		bytes__put_byte(lines, ',');
		put_escaped(lines, labels->labels[i].name, ", =");
		bytes__put_byte(lines, '=');
		put_escaped(lines, labels->labels[i].value, ", =");
	}
	bytes__put(lines, " value=", 7);
	return lines__put(lines, start, points, count, PRECISION_NS);
}

/* Finds the tag of the host, with its escapes; tags end at a blank without a backslash before. */
static void find_host(struct found_series *found, const uint8_t *line, const uint8_t *end)
{
	static const char tag[] = "," PIECES_HOST_LABEL "=";
	const size_t length = sizeof(tag) - 1;
	const uint8_t *value = NULL, *at;

	for (at = line; at < end && *at != ' '; at++) {
		if (*at == '\\' && end - at > 1) {
			at++;
		} else if (*at == ',') {
			if (value)
				break;
			if ((size_t)(end - at) > length && !memcmp(at, tag, length))
				value = at + length;
		}
	}
	if (!value)
		return;
	found->host = value;
	found->host_length = at - value;
}

static int read_lines(struct pieces *pieces)
{
	return lines__read(pieces, find_host);
}

/* The value of a key of a query: all but letters and digits is encoded (RFC 3986, 2.1). */
static void put_value(FILE *out, const char *key, const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

	fprintf(out, "%s=", key);
	for (; *value; value++) {
		if (strchr(plain, *value))
			fputc(*value, out);
		else
			fprintf(out, "%%%02X", (unsigned char)*value);
	}
}

static void put_url(const struct receiver_settings *settings, FILE *out)
{
	const char *url = settings->url;
	const char *authority = strstr(url, "://") + 3;
	const char *path = authority + strcspn(authority, "/?#");
	const bool has_path = *path && strcmp(path, "/");
	/* Without the query, and the path if it is only "/". */
	const int base = has_path ? (int)strcspn(url, "?#") : (int)(path - url);

	if (settings->bucket) {
		fprintf(out, "%.*s/api/v2/write?", base, url);
		put_value(out, "org", settings->organization);
		put_value(out, "&bucket", settings->bucket);
		fprintf(out, "&precision=ns");
	} else if (settings->database || !has_path) {
		fprintf(out, "%.*s/write?", base, url);
		put_value(out, "db", settings->database ?: DATABASE);
		fprintf(out, "&precision=ns");
	} else {
		fprintf(out, "%.*s", (int)strcspn(url, "#"), url);
		if (!strstr(path, "precision="))
			fprintf(out, "%cprecision=ns", strchr(path, '?') ? '&' : '?');
	}
}

static char *url_of(const struct receiver_settings *settings)
{
	size_t length;
	char *url;
	FILE *out = open_memstream(&url, &length);

	if (!out)
		return NULL;
	put_url(settings, out);
	if (!fclose(out))
		return url;
	free(url);
	return NULL;
}

/* InfluxDB 2 has its own word for it. */
static const char *token_scheme(const struct receiver_settings *settings)
{
	return settings->bucket ? "Token" : "Bearer";
}

static const char *const headers[] = {
	"Content-Type: text/plain; charset=utf-8",
	"Content-Encoding: gzip",
	NULL,
};

const struct format format_influx = {
	.name = "influx",
	.number = 3,
	.title = "InfluxDB's line protocol",
	.headers = headers,
	.compression = &compression_gzip,
	.precision_ns = PRECISION_NS,
	.put = put_lines,
	.read = read_lines,
	.url = url_of,
	.token_scheme = token_scheme,
};
