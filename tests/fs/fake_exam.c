#include "fake_exam.h"

#include <inttypes.h>

#include "cache.h"
#include "node.h"
#include "source.h"

atomic_int fake_exams;

/* ---- an inspection from lines -------------------------------------------------------- */

struct made {
	struct dec_inspection out; /* first */
	struct dec_kernel *kernels;
	uint32_t kernel_room;
	struct dec_problem problems[64];
	char *text; /* the payload, cut into words */
};

static struct dec_text text_of(const char *word)
{
	return (struct dec_text){ word, strlen(word) };
}

static const struct dec_text absent = { dec_absent, 0 };

static void add_problem(struct made *m, uint32_t kernel, const char *field)
{
	uint32_t at = m->out.problem_count++;

	assert_true(at < COUNT(m->problems));
	m->problems[at] = (struct dec_problem){
		.code = kernel == DEC_NONE ? DEC_PROBLEM_MALFORMED_NOTE : DEC_PROBLEM_LIMIT,
		.offset = 100 + at,
		.field = field,
		.message = text_of("It is wrong."),
		.object = kernel,
		.next = DEC_NONE,
		.partial = kernel == DEC_NONE,
	};
	if (kernel != DEC_NONE)
		m->kernels[kernel].problems = (struct dec_problem_list){ at, at };
}

static void add_fact(struct dec_kernel *k, const char *key, const char *value)
{
	struct dec_fact *facts = (struct dec_fact *)(uintptr_t)k->facts;
	struct dec_fact *fact = &facts[k->fact_count++];
	int id = 0;

	while (id < DEC_FACT_COUNT && strcmp(dec_fact_key((enum dec_fact_id)id), key) != 0)
		id++;
	if (id == DEC_FACT_COUNT)
		fail_msg("no fact is called %s", key);
	fact->id = (enum dec_fact_id)id;
	if (dec_fact_shape(fact->id) == DEC_SHAPE_TRIPLE)
		assert_int_equal(sscanf(value, "%u,%u,%u", &fact->triple[0], &fact->triple[1],
					&fact->triple[2]),
				 3);
	else if (dec_fact_shape(fact->id) == DEC_SHAPE_TEXT)
		fact->text = text_of(value);
	else
		fact->u = strtoull(value, NULL, 0);
}

static void add_arg(struct dec_kernel *k, char *value)
{
	struct dec_arg *args = (struct dec_arg *)(uintptr_t)k->args;
	char *size = strchr(value, ':');

	*size++ = '\0';
	args[k->arg_count++] = (struct dec_arg){
		.name = text_of(value),
		.type = absent,
		.kind = text_of("by_value"),
		.address_space = absent,
		.access = absent,
		.offset = DEC_UNSTATED,
		.size = strtoull(size, NULL, 0),
		.align = DEC_UNSTATED,
	};
}

static void add_kernel(struct made *m, char *rest)
{
	uint32_t index = m->out.kernel_count++;
	struct dec_kernel *k = &m->kernels[index];
	char *save = NULL;
	char *key = strtok_r(rest, " ", &save);

	assert_true(index < m->kernel_room);
	*k = (struct dec_kernel){ .name = text_of(key ? key : ""), .symbol = absent };
	k->problems.first = DEC_NONE;
	k->facts = calloc(DEC_FACT_COUNT, sizeof(struct dec_fact));
	k->args = calloc(8, sizeof(struct dec_arg));
	while (key && (key = strtok_r(NULL, " ", &save))) {
		char *value = strtok_r(NULL, " ", &save);

		if (strcmp(key, "code") == 0)
			assert_int_equal(sscanf(value, "%" SCNu64 "+%" SCNu64, &k->code.offset,
						&k->code.size),
					 2);
		else if (strcmp(key, "descriptor") == 0)
			k->descriptor = (struct dec_range){ strtoull(value, NULL, 0), 64 };
		else if (strcmp(key, "arg") == 0)
			add_arg(k, value);
		else if (strcmp(key, "note") == 0)
			add_problem(m, index, value);
		else
			add_fact(k, key, value);
	}
}

static void take_state(struct made *m, const char *word)
{
	m->out.state = DEC_STATE_COMPLETE;
	for (int i = DEC_STATE_UNEXAMINED; i <= DEC_STATE_MALFORMED; i++)
		if (strcmp(dec_state_word((enum dec_state)i), word) == 0)
			m->out.state = (enum dec_state)i;
}

static void take_consistency(struct made *m, const char *word)
{
	for (int i = DEC_CONSISTENCY_UNEXAMINED; i <= DEC_CONSISTENCY_UNKNOWN; i++)
		if (strcmp(dec_consistency_word((enum dec_consistency)i), word) == 0)
			m->out.consistency = (enum dec_consistency)i;
}

static void take_target(struct made *m, const char *word)
{
	m->out.payload_target = text_of(word);
	m->out.payload_target_raw = text_of(word);
	m->out.evidence = DEC_EVIDENCE_CUBIN_FLAGS;
}

/* No more kernels than lines. */
static void take_payload(struct made *m, const char *payload, size_t size)
{
	m->text = strndup(payload, size);
	m->kernel_room = 1;
	for (const char *p = m->text; *p; p++)
		m->kernel_room += *p == '\n';
	m->kernels = calloc(m->kernel_room, sizeof(*m->kernels));
	assert_non_null(m->kernels);
	m->out.kernels = m->kernels;
}

static void take_line(struct made *m, char *line)
{
	char *rest = strchrnul(line, ' ');

	if (*rest)
		*rest++ = '\0';
	if (strcmp(line, "kernel") == 0)
		add_kernel(m, rest);
	else if (strcmp(line, "state") == 0)
		take_state(m, rest);
	else if (strcmp(line, "consistency") == 0)
		take_consistency(m, rest);
	else if (strcmp(line, "target") == 0)
		take_target(m, rest);
	else if (strcmp(line, "problem") == 0)
		add_problem(m, DEC_NONE, rest);
}

static struct made *made_new(void)
{
	struct made *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->out = (struct dec_inspection){
		.state = DEC_STATE_COMPLETE,
		.consistency = DEC_CONSISTENCY_UNKNOWN,
		.payload_target = absent,
		.payload_target_raw = absent,
		.problems = m->problems,
		.memory = 4096,
	};
	atomic_fetch_add(&fake_exams, 1);
	return m;
}

struct dec_inspection *__wrap_dec_inspect(const struct dec_artifact *artifact, uint32_t object,
					  const void *payload, size_t size, unsigned wants,
					  struct dec_error *err);
struct dec_inspection *__wrap_dec_inspect_without(const struct dec_artifact *artifact,
						  uint32_t object, const struct dec_error *why,
						  struct dec_error *err);
struct dec_inspection *__wrap_dec_inspect_source(const struct dec_artifact *artifact,
						 uint32_t object, const struct dec_source *payload,
						 void *room, unsigned wants, struct dec_error *err);
void __wrap_dec_inspection_free(struct dec_inspection *inspection);

struct dec_inspection *__wrap_dec_inspect(const struct dec_artifact *artifact, uint32_t object,
					  const void *payload, size_t size, unsigned wants,
					  struct dec_error *err)
{
	static const struct dec_meta meta[] = {
		{ .type = DEC_META_MAP, .items = meta + 1, .count = 9 },
		{ .type = DEC_META_NIL, .key = { "nil", 3 } },
		{ .type = DEC_META_BOOL, .key = { "b\xff", 2 }, .u = 1 },
		{ .type = DEC_META_UINT, .key = { "u", 1 }, .u = UINT64_MAX },
		{ .type = DEC_META_INT, .key = { "i", 1 }, .i = -3 },
		{ .type = DEC_META_FLOAT, .key = { "f", 1 }, .f = 0.5 },
		{ .type = DEC_META_TEXT, .key = { "t", 1 }, .text = { "x", 1 } },
		{ .type = DEC_META_HEX, .key = { "h", 1 }, .u = 16 },
		{ .type = DEC_META_BYTES, .key = { "y", 1 }, .text = { "\x01\xab", 2 } },
		{ .type = DEC_META_ARRAY, .key = { "a", 1 }, .items = meta + 4, .count = 1 },
	};
	struct made *m = made_new();
	char *save = NULL;

	err->status = DEC_OK;
	m->out.representation = artifact->objects[object].kind == DEC_KIND_CUBIN
					? DEC_REPRESENTATION_CUBIN
					: DEC_REPRESENTATION_AMDGPU_ELF;
	take_payload(m, payload, size);
	for (char *line = strtok_r(m->text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		take_line(m, line);
	m->out.memory = 4096 + m->out.kernel_count * sizeof(m->kernels[0]);
	m->out.metadata = wants & DEC_WANT_METADATA ? meta : NULL;
	return &m->out;
}

struct dec_inspection *__wrap_dec_inspect_source(const struct dec_artifact *artifact,
						 uint32_t object, const struct dec_source *payload,
						 void *room, unsigned wants, struct dec_error *err)
{
	int rc = payload->read(payload->ctx, 0, room, (size_t)payload->size);

	if (rc == 0)
		return __wrap_dec_inspect(artifact, object, room, (size_t)payload->size, wants,
					  err);
	*err = (struct dec_error){ .status = DEC_E_READ, .sys_errno = -rc };
	return NULL;
}

struct dec_inspection *__wrap_dec_inspect_without(const struct dec_artifact *artifact,
						  uint32_t object, const struct dec_error *why,
						  struct dec_error *err)
{
	struct made *m = made_new();

	(void)artifact;
	(void)object;
	err->status = DEC_OK;
	m->out.state = why ? DEC_STATE_MALFORMED : DEC_STATE_UNSUPPORTED;
	if (why)
		add_problem(m, DEC_NONE, why->field);
	return &m->out;
}

void __wrap_dec_inspection_free(struct dec_inspection *inspection)
{
	struct made *m = (struct made *)inspection;

	for (uint32_t i = 0; m && i < m->out.kernel_count; i++) {
		free((void *)(uintptr_t)m->kernels[i].facts);
		free((void *)(uintptr_t)m->kernels[i].args);
	}
	if (m) {
		free(m->kernels);
		free(m->text);
	}
	free(m);
}

/* ---- an artifact of them ------------------------------------------------------------- */

static bool is_amd(const char *target)
{
	return strncmp(target, "gfx", 3) == 0;
}

static struct dec_object object_of(const struct fake_object *o, uint64_t offset)
{
	return (struct dec_object){
		.vendor = is_amd(o->target) ? DEC_VENDOR_AMD : DEC_VENDOR_NVIDIA,
		.kind = is_amd(o->target) ? DEC_KIND_CODE_OBJECT : DEC_KIND_CUBIN,
		.target_kind = DEC_TARGET_FATBIN_ENTRY,
		.has_payload = o->payload,
		.target = text_of(o->target),
		.target_raw = text_of(o->target),
		.identifier = absent,
		.options = absent,
		.payload_size = o->payload ? strlen(o->payload) : 0,
		.encoded = { offset, o->payload ? strlen(o->payload) : 0 },
		.problems = { DEC_NONE, DEC_NONE },
	};
}

static char *join(const struct fake_object *objects, uint32_t count)
{
	char *bytes;
	size_t size;
	FILE *f = open_memstream(&bytes, &size);

	assert_non_null(f);
	fputc('#', f);
	for (uint32_t i = 0; i < count; i++)
		fputs(objects[i].payload ? objects[i].payload : "", f);
	assert_int_equal(fclose(f), 0);
	return bytes;
}

static int compare_targets(const void *a, const void *b)
{
	return strcmp(((const struct dec_target *)a)->name.p,
		      ((const struct dec_target *)b)->name.p);
}

static void list_targets(struct fake *f, uint32_t count)
{
	struct dec_artifact *a = &f->artifact;
	uint32_t *next = f->of_targets;

	for (uint32_t i = 0; i < count; i++) {
		struct dec_target target = {
			.name = f->objects[i].target,
			.vendor = f->objects[i].vendor,
			.class = f->objects[i].vendor == DEC_VENDOR_AMD ? DEC_CLASS_GFX
									: DEC_CLASS_SM,
		};
		uint32_t at = 0;

		while (at < a->target_count && compare_targets(&f->targets[at], &target) != 0)
			at++;
		if (at == a->target_count)
			f->targets[a->target_count++] = target;
	}
	qsort(f->targets, a->target_count, sizeof(f->targets[0]), compare_targets);
	for (uint32_t t = 0; t < a->target_count; t++) {
		f->targets[t].objects = next;
		for (uint32_t i = 0; i < count; i++) {
			if (strcmp(f->objects[i].target.p, f->targets[t].name.p) != 0)
				continue;
			f->objects[i].target_index = t;
			*next++ = i;
			f->targets[t].object_count++;
		}
	}
}

static bool begins(const struct fake_object *o)
{
	return o->payload && strncmp(o->payload, "begins\n", 7) == 0;
}

/* Of the kind that goes with the vendor of the first object. */
static void list_containers(struct fake *f, const struct fake_object *objects, uint32_t count)
{
	struct dec_artifact *a = &f->artifact;

	for (uint32_t i = 0; i < count; i++) {
		struct dec_container *c;

		if (i == 0 || begins(&objects[i]))
			f->containers[a->container_count++] = (struct dec_container){
				.kind = is_amd(objects[i].target) ? DEC_CONTAINER_BUNDLE
								  : DEC_CONTAINER_FATBIN,
				.place = DEC_NONE,
				.first_object = i,
				.problems = { DEC_NONE, DEC_NONE },
			};
		c = &f->containers[a->container_count - 1];
		f->objects[i].container = a->container_count - 1;
		f->objects[i].entry_index = c->object_count++;
		c->entries = c->object_count;
	}
}

struct fake *fake_open(const struct fake_object *objects, uint32_t count, uint64_t cache)
{
	struct fake *f = calloc(1, sizeof(*f));
	char *bytes = join(objects, count);
	struct gfs_message msg;
	uint64_t at = 1;

	assert_non_null(f);
	f->dir = scratch_new();
	f->path = scratch_file(f->dir, "lib.so", bytes, strlen(bytes));
	f->containers = calloc(count + 1, sizeof(*f->containers));
	f->objects = calloc(count + 1, sizeof(*f->objects));
	f->targets = calloc(count + 1, sizeof(*f->targets));
	f->of_targets = calloc(count + 1, sizeof(*f->of_targets));
	for (uint32_t i = 0; i < count; i++) {
		f->objects[i] = object_of(&objects[i], at);
		at += f->objects[i].encoded.size;
	}
	f->artifact = (struct dec_artifact){
		.name = text_of("lib.so"),
		.size = strlen(bytes),
		.containers = f->containers,
		.objects = f->objects,
		.object_count = count,
		.targets = f->targets,
	};
	list_targets(f, count);
	list_containers(f, objects, count);
	free(bytes);
	f->fs.options.artifact = f->path;
	f->fs.options.limits = dec_limits_default();
	assert_int_equal(gfs_source_open(&f->fs.options, &f->fs.source, &msg), 0);
	f->fs.cache = gfs_cache_new(cache, cache, f->dir);
	f->fs.artifact = &f->artifact;
	f->fs.id_width = 5;
	atomic_store(&fake_exams, 0);
	return f;
}

void fake_close(struct fake *f)
{
	gfs_cache_free(f->fs.cache);
	gfs_source_close(f->fs.source);
	scratch_free(f->dir);
	free(f->path);
	free(f->containers);
	free(f->objects);
	free(f->targets);
	free(f->of_targets);
	free(f);
}

void fake_same_every_time(const struct fake_object *objects, uint32_t count, const char *path)
{
	enum { MANY = 300, ROUNDS = 6 };
	struct fake_object *many = calloc(MANY, sizeof(*many));
	char *texts[ROUNDS];

	assert_non_null(many);
	for (uint32_t i = 0; i < MANY; i++)
		many[i] = objects[i % count];
	for (int round = 0; round < ROUNDS; round++) {
		struct fake *f = fake_open(many, MANY, round % 2 ? 1 << 20 : 0);

		texts[round] = slurp(&f->fs, path);
		fake_close(f);
		assert_string_equal(texts[0], texts[round]);
	}
	for (int round = 0; round < ROUNDS; round++)
		free(texts[round]);
	free(many);
}
