/* Files that are written, then read for an answer: reserve, wait, replay. */
#include "tree.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "queues.h"

/*
 * Where an answer is in the file does not matter: a shell writes and reads one open file at
 * one position. So the first read after the write is where it begins.
 */
struct answer {
	struct gfs_text text;
	uint64_t start;
	bool placed;
};

static void answer_reset(struct answer *a)
{
	a->text.len = 0;
	a->placed = false;
}

static void answer_read(struct answer *a, struct gfs_io *io)
{
	if (!a->placed) {
		a->start = io->offset;
		a->placed = true;
	}
	gfs_io_copy(io, a->start, a->text.p, a->text.len);
}

/* Splits at blanks, in place; the number of words, more than MOST if there are more. */
static int split(char *text, char **words, int most)
{
	int count = 0;
	char *rest = text;
	char *word;

	while ((word = strsep(&rest, " \t")) != NULL) {
		if (!*word)
			continue;
		if (count < most)
			words[count] = word;
		count++;
	}
	return count;
}

/* ---- reserve -------------------------------------------------------------------------------- */

static int reserve_write(struct gfs_file *f, struct gfs_io *io)
{
	struct answer *a = f->state;
	char line[GFS_WORD_MAX + 1];
	uint64_t count, old;
	char *word;
	int rc;

	if (!gfs_io_word(io, line) || split(line, &word, 1) != 1)
		return -EINVAL;
	rc = gfs_parse_u64(word, &count);
	if (rc == 0)
		rc = gfs_queues_errno(
			sg_queue_reserve(f->at.q->dev, f->at.object->handle, count, &old));
	if (rc != 0)
		return rc;
	answer_reset(a);
	gfs_text_print(&a->text, "%" PRIu64 "\n", old);
	io->done = io->size;
	return a->text.failed ? -ENOMEM : 0;
}

static int reserve_read(struct gfs_file *f, struct gfs_io *io)
{
	answer_read(f->state, io);
	return 0;
}

static void reserve_fini(struct gfs_file *f)
{
	struct answer *state = f->state;

	gfs_text_fini(&state->text);
}

const struct gfs_file_kind gfs_file_reserve = {
	.state = sizeof(struct answer),
	.read = reserve_read,
	.write = reserve_write,
	.fini = reserve_fini,
};

/* ---- wait -------------------------------------------------------------------------------------- */

struct waiting {
	struct answer answer;
	struct sg_wait wait;
	bool asked; /* the wait has begun, and has no answer yet */
};

static int find_condition(const char *word, uint32_t *condition)
{
	static const char *const words[] = {
		[SG_CONDITION_EQ] = "eq",
		[SG_CONDITION_NE] = "ne",
		[SG_CONDITION_LT] = "lt",
		[SG_CONDITION_GTE] = "gte",
	};

	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i], word) == 0) {
			*condition = i;
			return 0;
		}
	}
	return -EINVAL;
}

/* 0: for ever, which 2^64 - 1 stands for and a sum that does not fit amounts to. */
static uint64_t deadline_after(uint64_t timeout)
{
	uint64_t now = gfs_queues_now();

	return timeout < UINT64_MAX - now ? now + timeout : 0;
}

static void end_wait(struct gfs_file *f)
{
	struct waiting *w = f->state;

	if (w->asked)
		sg_wait_end(&w->wait);
	w->asked = false;
	f->deadline = 0;
}

/* Moves a decided wait into the answer. False: nothing is decided. */
static bool settle(struct gfs_file *f, bool expired)
{
	struct waiting *w = f->state;
	enum sg_outcome outcome;
	int64_t value;

	if (!w->asked)
		return true;
	outcome = sg_wait_check(&w->wait, expired, &value);
	if (outcome == SG_WAIT_PENDING)
		return false;
	end_wait(f);
	gfs_text_print(&w->answer.text, "%s %" PRId64 "\n", sg_outcome_name(outcome), value);
	return true;
}

static void wait_expire(struct gfs_file *f)
{
	settle(f, true);
}

static int begin_wait(struct gfs_file *f, uint32_t condition, int64_t value, uint64_t timeout)
{
	struct waiting *w = f->state;
	int rc;

	end_wait(f);
	answer_reset(&w->answer);
	rc = gfs_queues_errno(
		sg_wait_begin(f->at.q->dev, f->at.object->handle, condition, value, &w->wait));
	if (rc != 0)
		return rc;
	w->asked = true;
	if (!settle(f, timeout == 0))
		rc = gfs_queues_set_deadline(f, deadline_after(timeout));
	if (rc != 0)
		end_wait(f);
	return rc;
}

static int wait_write(struct gfs_file *f, struct gfs_io *io)
{
	char line[GFS_WORD_MAX + 1];
	uint64_t timeout = UINT64_MAX;
	uint32_t condition;
	char *words[3];
	int64_t value;
	int count;
	int rc;

	if (!gfs_io_word(io, line))
		return -EINVAL;
	count = split(line, words, 3);
	if (count != 2 && count != 3)
		return -EINVAL;
	rc = find_condition(words[0], &condition);
	if (rc == 0)
		rc = gfs_parse_i64(words[1], &value);
	if (rc == 0 && count == 3)
		rc = gfs_parse_u64(words[2], &timeout);
	if (rc == 0)
		rc = begin_wait(f, condition, value, timeout);
	if (rc == 0)
		io->done = io->size;
	return rc;
}

/* The signal may be gone: that is an answer, "cancelled". */
static int wait_read(struct gfs_file *f, struct gfs_io *io)
{
	struct waiting *w = f->state;

	if (!settle(f, false))
		return -EAGAIN;
	if (w->answer.text.failed)
		return -ENOMEM;
	if (w->answer.text.len == 0 && f->at.object->gone)
		return -ENODEV;
	answer_read(&w->answer, io);
	return 0;
}

static unsigned int wait_ready(struct gfs_file *f)
{
	return POLLOUT | (settle(f, false) ? POLLIN : 0);
}

static void wait_fini(struct gfs_file *f)
{
	struct waiting *state = f->state;

	end_wait(f);
	gfs_text_fini(&state->answer.text);
}

const struct gfs_file_kind gfs_file_wait = {
	.state = sizeof(struct waiting),
	.outlives = true,
	.read = wait_read,
	.write = wait_write,
	.ready = wait_ready,
	.expire = wait_expire,
	.fini = wait_fini,
};

/* ---- replay ----------------------------------------------------------------------------------- */

/* A thousand packets; one is what replay takes, the rest is for saying how many there were. */
#define REPLAY_MAX 65536

struct replaying {
	struct answer answer;
	struct gfs_text given; /* since the latest answer */
};

static int replay_write(struct gfs_file *f, struct gfs_io *io)
{
	struct replaying *r = f->state;

	if (io->size > REPLAY_MAX - r->given.len)
		return -EFBIG;
	answer_reset(&r->answer);
	gfs_text_add(&r->given, (const char *)io->from, io->size);
	if (r->given.failed) {
		gfs_text_fini(&r->given);
		return -ENOMEM;
	}
	io->done = io->size;
	return 0;
}

static int put_replay(struct gfs_text *given, struct gfs_text *text)
{
	const uint8_t *bytes = (const uint8_t *)given->p;
	char sentence[SG_DETAIL_MAX];
	struct sg_packet_error err;
	struct sg_descriptor desc;
	struct cJSON *root;
	struct gfs_json w;

	gfs_json_init(&w);
	root = gfs_json_object(&w, NULL, NULL);
	if (sg_replay(bytes, given->len, 0, SG_MODE_SOFTGPU, &desc, &err)) {
		gfs_descriptor_put(&w, root, &desc, 0);
	} else {
		sg_packet_error_text(err, sentence, sizeof(sentence));
		gfs_json_word(&w, root, "error", sentence);
	}
	return gfs_json_text_end(&w, true, text);
}

static int replay_read(struct gfs_file *f, struct gfs_io *io)
{
	struct replaying *r = f->state;

	if (r->given.len) {
		int rc = put_replay(&r->given, &r->answer.text);

		if (rc != 0)
			return rc;
		r->given.len = 0;
	}
	answer_read(&r->answer, io);
	return 0;
}

static void replay_fini(struct gfs_file *f)
{
	struct replaying *r = f->state;

	gfs_text_fini(&r->answer.text);
	gfs_text_fini(&r->given);
}

const struct gfs_file_kind gfs_file_replay = {
	.state = sizeof(struct replaying),
	.read = replay_read,
	.write = replay_write,
	.fini = replay_fini,
};
