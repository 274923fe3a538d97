/* See skdump.h. Names come from files and may contain "</script>" or "<!--". In JSON, '<' occurs only in strings, where
 * it can be escaped. */
#include "config.h"

#include "src/skdump/skdump.h"

#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/text.h"
#include "format/plan/plan.h"

static void put_json(const char *text, FILE *stream)
{
	for (size_t length; *text; text += length) {
		length = strcspn(text, "<");
		fwrite(text, 1, length, stream);
		if (text[length]) {
			fputs("\\u003c", stream);
			length++;
		}
	}
}

/* Return the place in the text. */
static struct sk_place find_place(const char *path, const char *text, const char *at)
{
	struct sk_place place = {.file = path, .line = 1, .column = 1};

	for (; text < at; text++) {
		place.line += *text == '\n';
		place.column = *text == '\n' ? 1 : place.column + 1;
	}
	return place;
}

/* Check that the trace is complete and JSON, as skrun writes it; the page cannot show anything else. */
static bool check_trace(struct sk_diag *diag, const char *path, const char *text)
{
	static const char start[] = "{\"traceEvents\":[", end[] = "}}\n";
	const char *error = sk_json_find_error(text);

	if (strncmp(text, start, strlen(start)) != 0 || strcmp(text + strlen(text) - strlen(end), end) != 0)
		sk_error(diag, (struct sk_place){.file = path}, "it is not a whole trace of skrun --trace");
	else if (error)
		sk_error(diag, find_place(path, text, error),
			 "from here on it is not JSON: the trace has been damaged; write it anew with skrun --trace");
	else
		return true;
	return false;
}

/* A program's trace may cover several packages. */
static bool has_packages(const char *text)
{
	static const char key[] = "\"package\":";
	const char *first = strstr(text, key), *next = first;

	while (next && !strncmp(first, next, strcspn(first, "}") + 1))
		next = strstr(next + 1, key);
	return next != NULL;
}

/* Check that the trace's tasks are the package's. Events are as libskrt and skrun --predict write them, a line each,
 * and quotes within a name are escapes. */
static bool check_tasks(const struct sk_show *show, struct sk_diag *diag, const char *path, const char *text)
{
	static const char category[] = ",\"cat\":\"task\"", key[] = "\"name\":";
	const struct sk_plan_view *plan = &show->file->plan;
	const char *from = text, *unknown = NULL;
	struct sk_map names;
	bool known = false, several = has_packages(text);

	sk_map_init(&names, diag->arena);
	for (uint32_t i = 0; i < plan->task_count; i++) {
		const char *name = sk_json_string(diag->arena, sk_plan_string(&plan->tasks[i].name));

		sk_map_insert(&names, name, strlen(name), i);
	}
	for (const char *at = text; (at = strstr(at, category)) && !unknown; from = at++) {
		const char *name = NULL; /* the last name before the category */

		for (const char *next = from; (next = memmem(next, (size_t)(at - next), key, strlen(key)));)
			name = next += strlen(key);
		if (!name)
			continue;
		if (sk_map_find(&names, name, (size_t)(at - name)) != SK_NONE)
			known = true;
		else if (!known || !several)
			unknown = name;
	}
	if (unknown)
		sk_error(
			diag, find_place(path, text, unknown),
			"it is a trace of another package: this one has no task %.*s; write it anew with skrun --trace",
			(int)(strstr(unknown, category) - unknown), unknown);
	return !unknown;
}

static bool put_trace(const struct sk_show *show, struct sk_diag *diag, const char *path, struct sk_json *json)
{
	const char *text = sk_file_read_text(diag, path, "trace");

	if (!text || !check_trace(diag, path, text) || !check_tasks(show, diag, path, text))
		return false;
	sk_json_begin_object(json, NULL, SK_JSON_LINE);
	put_json(sk_json_string(diag->arena, path), sk_json_put_value(json, "name"));
	put_json(text, sk_json_put_value(json, "trace"));
	sk_json_end(json);
	return true;
}

static void put_package(const struct sk_show *show, const struct sk_facts *facts, FILE *stream)
{
	struct sk_show shown = *show;
	struct sk_text text;

	sk_text_open(&text);
	shown.stream = text.stream;
	sk_show_json(&shown, facts);
	sk_text_close(show->arena, &text);
	put_json(text.bytes, stream);
}

bool sk_page_write(const struct sk_show *show, struct sk_diag *diag, const struct sk_facts *facts, const char *path,
		   const char *const *traces, size_t count)
{
	struct sk_text page;
	bool ok = true;

	sk_text_open(&page);

	struct sk_json json = {.stream = page.stream};

	fputs(sk_page_parts[0], page.stream);
	put_package(show, facts, page.stream);
	fputs(sk_page_parts[1], page.stream);
	sk_json_begin_list(&json, NULL, SK_JSON_LINES_BETWEEN);
	for (size_t i = 0; i < count; i++)
		ok &= put_trace(show, diag, traces[i], &json);
	sk_json_end(&json);
	fputs(sk_page_parts[2], page.stream);
	sk_text_close(show->arena, &page);
	return ok &&
	       sk_file_replace(diag, path, 0666, &(struct sk_file_part){.bytes = page.bytes, .size = page.size}, 1);
}
