/* Symbols of an AMDGPU code object, found by name without a search of all of them. */
#include "amdgpu.h"

#include <elf.h>
#include <stdlib.h>

static uint64_t hash_bytes(const uint8_t *p, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a, 64 bits */

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* By hash first: names share long beginnings. Names made to collide cost comparisons, and no
 * more than sorting by name would. */
static int compare(uint64_t hash_a, const void *a, size_t len_a, uint64_t hash_b, const void *b,
		   size_t len_b)
{
	if (hash_a != hash_b)
		return hash_a < hash_b ? -1 : 1;
	if (len_a != len_b)
		return len_a < len_b ? -1 : 1;
	return a == b ? 0 : memcmp(a, b, len_a);
}

/* ---- where the table is -------------------------------------------------------------------- */

struct table {
	struct dec_elfsection symbols, strings;
	uint64_t count;
};

#define FIELD(member) ((struct dec_elf_field){ offsetof(Elf64_Shdr, member), #member })

/* What keeps a section from being a table of symbols; name NULL: nothing. */
static struct dec_elf_field bad_table(const struct dec_elfview *elf,
				      const struct dec_elfsection *symbols)
{
	struct dec_elfsection strings;

	if (symbols->entsize != sizeof(Elf64_Sym))
		return FIELD(sh_entsize);
	if (symbols->size % sizeof(Elf64_Sym))
		return FIELD(sh_size);
	if (!dec_elfview_section(elf, symbols->link, &strings) || strings.type != SHT_STRTAB)
		return FIELD(sh_link);
	return (struct dec_elf_field){ 0, NULL };
}

static bool note_table(struct dec_amdgpu *g, uint64_t section, struct dec_elf_field bad,
		       const char *sentence)
{
	return dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_MALFORMED_ELF,
			     g->x->payload.origin + g->elf.h.shoff + section * sizeof(Elf64_Shdr) +
				     bad.offset,
			     bad.name, DEC_COMPLETE, "%s", sentence);
}

/* Another table may say the same, but a header is right or it is not. */
static bool check_tables(struct dec_amdgpu *g)
{
	struct dec_elfsection s;

	if (!dec_elfview_has_sections(&g->elf))
		return true;
	for (uint64_t i = 0; dec_elfview_section(&g->elf, i, &s); i++) {
		struct dec_elf_field bad = bad_table(&g->elf, &s);

		if ((s.type == SHT_SYMTAB || s.type == SHT_DYNSYM) && s.inside && bad.name &&
		    !note_table(g, i, bad, "this section cannot be read as a table of symbols"))
			return false;
	}
	return true;
}

static bool table_section(const struct dec_elfview *elf, uint32_t type, struct table *t)
{
	if (!dec_elfview_has_sections(elf))
		return false;
	for (uint64_t i = 0; dec_elfview_section(elf, i, &t->symbols); i++) {
		if (t->symbols.type != type)
			continue;
		t->count = dec_elfview_symbol_count(&t->symbols);
		if (t->count && dec_elfview_section(elf, t->symbols.link, &t->strings) &&
		    t->strings.type == SHT_STRTAB)
			return true;
	}
	return false;
}

static bool word_at(const struct dec_elfview *elf, uint64_t vaddr, uint32_t *word)
{
	struct dec_view v;
	uint64_t offset;

	if (!dec_elfview_address(elf, vaddr, sizeof(*word), &offset) ||
	    !dec_payload_slice(elf->payload, offset, sizeof(*word), &v))
		return false;
	*word = dec_le32(v.p);
	return true;
}

/* DT_HASH counts the symbols in its second word (gABI, "Hash Table"). */
static uint64_t count_by_hash(const struct dec_elfview *elf, uint64_t vaddr)
{
	uint32_t count;

	return word_at(elf, vaddr + 4, &count) ? count : 0;
}

/* DT_GNU_HASH does not: the longest chain's last entry is the last symbol. */
static uint64_t count_by_gnu_hash(const struct dec_elfview *elf, uint64_t vaddr)
{
	uint32_t buckets, first, bloom, word, last = 0;
	uint64_t table, chains;

	if (!word_at(elf, vaddr, &buckets) || !word_at(elf, vaddr + 4, &first) ||
	    !word_at(elf, vaddr + 8, &bloom) || buckets > DEC_ELF_SYMBOLS_MAX)
		return 0;
	table = vaddr + 16 + 8 * (uint64_t)bloom;
	chains = table + 4 * (uint64_t)buckets;
	for (uint64_t i = 0; i < buckets && word_at(elf, table + 4 * i, &word); i++)
		if (word > last)
			last = word;
	if (last < first)
		return first;
	for (; last < DEC_ELF_SYMBOLS_MAX; last++)
		if (!word_at(elf, chains + 4 * (uint64_t)(last - first), &word) || word & 1)
			break;
	return (uint64_t)last + 1;
}

/* The entries of PT_DYNAMIC that lead to symbols. */
struct dynamic {
	uint64_t symtab, strtab, strsz, hash, gnu_hash;
};

static struct dynamic dynamic_read(const struct dec_elfview *elf)
{
	struct dynamic d = { 0 };
	uint64_t offset, vaddr, filesz, memsz;
	struct dec_view v = { (const uint8_t *)dec_absent, 0, 0 };
	uint32_t type;

	for (uint64_t i = 0; i < DEC_ELF_SEGMENTS_MAX; i++)
		if (dec_elfview_segment(elf, i, &type, &offset, &vaddr, &filesz, &memsz) &&
		    type == PT_DYNAMIC && dec_payload_slice(elf->payload, offset, filesz, &v))
			break;
	for (size_t at = 0; v.len - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
		uint64_t value = dec_le64(v.p + at + 8);

		switch (dec_le64(v.p + at)) {
		case DT_SYMTAB:
			d.symtab = value;
			break;
		case DT_STRTAB:
			d.strtab = value;
			break;
		case DT_STRSZ:
			d.strsz = value;
			break;
		case DT_HASH:
			d.hash = value;
			break;
		case DT_GNU_HASH:
			d.gnu_hash = value;
			break;
		case DT_NULL:
			return d;
		default:
			break;
		}
	}
	return d;
}

static bool mapped(const struct dec_elfview *elf, uint64_t vaddr, uint64_t size,
		   struct dec_range *range)
{
	uint64_t offset;

	if (!dec_elfview_address(elf, vaddr, size, &offset))
		return false;
	*range = (struct dec_range){ offset, size };
	return true;
}

static bool table_dynamic(const struct dec_elfview *elf, struct table *t)
{
	struct dynamic d = dynamic_read(elf);

	*t = (struct table){ .symbols.entsize = sizeof(Elf64_Sym) };
	if (d.symtab && d.hash)
		t->count = count_by_hash(elf, d.hash);
	else if (d.symtab && d.gnu_hash)
		t->count = count_by_gnu_hash(elf, d.gnu_hash);
	return t->count &&
	       mapped(elf, d.symtab, t->count * sizeof(Elf64_Sym), &t->symbols.content) &&
	       mapped(elf, d.strtab, d.strsz, &t->strings.content);
}

/* The segments' word on the table: there must be a section of it, of that size. */
static bool check_dynamic(struct dec_amdgpu *g)
{
	struct dynamic d = dynamic_read(&g->elf);
	uint64_t count = d.symtab && d.hash ? count_by_hash(&g->elf, d.hash) : 0;
	struct dec_elfsection s;

	if (!count || !dec_elfview_has_sections(&g->elf))
		return true;
	for (uint64_t i = 0; dec_elfview_section(&g->elf, i, &s); i++) {
		if (s.addr != d.symtab || !s.inside || s.size == 0)
			continue;
		if (s.type != SHT_DYNSYM && s.type != SHT_SYMTAB)
			return note_table(g, i, FIELD(sh_type),
					  "DT_SYMTAB says that this is a table of symbols");
		return bad_table(&g->elf, &s).name || s.size / sizeof(Elf64_Sym) == count ||
		       note_table(g, i, FIELD(sh_size),
				  "DT_HASH counts another number of symbols in this table");
	}
	return true;
}

/* ---- reading and sorting ------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
	const struct dec_amdgpu_symbol *s = *(struct dec_amdgpu_symbol *const *)a;
	const struct dec_amdgpu_symbol *t = *(struct dec_amdgpu_symbol *const *)b;
	int order = compare(s->hash, s->name.p, s->name.len, t->hash, t->name.p, t->name.len);

	if (order)
		return order;
	return s->index < t->index ? -1 : s->index > t->index;
}

static bool limit(struct dec_amdgpu *g, const struct table *t)
{
	return dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_LIMIT,
			     g->x->payload.origin + t->symbols.content.offset, "symbols",
			     DEC_PARTIAL, "more than %d symbols, or than %llu bytes of their names",
			     DEC_ELF_SYMBOLS_MAX, (unsigned long long)DEC_ELF_SYMBOL_NAMES_MAX);
}

static bool read_table(struct dec_amdgpu *g, const struct table *t)
{
	struct dec_amdgpu_symbols *all = &g->symbols;
	uint64_t bytes_left = DEC_ELF_SYMBOL_NAMES_MAX;
	size_t count = (size_t)t->count;
	struct dec_elfsymbol s;

	all->origin = g->x->payload.origin + t->symbols.content.offset;
	all->list = dec_arena_array(&g->scratch, count, sizeof(*all->list));
	all->sorted = dec_arena_array(&g->scratch, count, sizeof(*all->sorted));
	if (!all->list || !all->sorted)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		struct dec_amdgpu_symbol *kept = &all->list[all->count];

		if (!dec_elfview_symbol(&g->elf, &t->symbols, &t->strings, i, &s) ||
		    s.shndx == SHN_UNDEF || s.name.len == 0)
			continue;
		if (s.name.len > bytes_left)
			return limit(g, t);
		bytes_left -= s.name.len;
		*kept = (struct dec_amdgpu_symbol){
			.name = s.name,
			.hash = hash_bytes(s.name.p, s.name.len),
			.index = i,
			.value = s.value,
			.size = s.size,
			.shndx = s.shndx,
			.type = ELF64_ST_TYPE(s.info),
		};
		all->sorted[all->count++] = kept;
	}
	return true;
}

bool dec_amdgpu_symbols(struct dec_amdgpu *g)
{
	struct table t;

	if (!check_tables(g) || !check_dynamic(g))
		return false;
	if (!table_section(&g->elf, SHT_SYMTAB, &t) && !table_section(&g->elf, SHT_DYNSYM, &t) &&
	    !table_dynamic(&g->elf, &t))
		return true;
	if (t.count > DEC_ELF_SYMBOLS_MAX) {
		t.count = DEC_ELF_SYMBOLS_MAX;
		if (!limit(g, &t))
			return false;
	}
	if (!read_table(g, &t))
		return false;
	qsort(g->symbols.sorted, g->symbols.count, sizeof(struct dec_amdgpu_symbol *), by_name);
	return true;
}

struct dec_amdgpu_symbol *dec_amdgpu_symbol(const struct dec_amdgpu *g, struct dec_text name)
{
	const struct dec_amdgpu_symbols *all = &g->symbols;
	uint64_t hash = hash_bytes((const uint8_t *)name.p, name.len);
	size_t low = 0, high = all->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct dec_amdgpu_symbol *s = all->sorted[middle];

		if (compare(s->hash, s->name.p, s->name.len, hash, name.p, name.len) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == all->count || all->sorted[low]->hash != hash ||
	    all->sorted[low]->name.len != name.len ||
	    memcmp(all->sorted[low]->name.p, name.p, name.len) != 0)
		return NULL;
	return all->sorted[low];
}

/* Addresses of linked objects lead through segments; where those are broken, the symbol's own
 * section may still know. */
static bool by_section(const struct dec_amdgpu *g, const struct dec_amdgpu_symbol *symbol,
		       uint64_t skip, uint64_t size, struct dec_range *range)
{
	bool linked = g->elf.h.type != ET_REL;
	struct dec_elfsection s;
	uint64_t at;

	if (symbol->shndx >= SHN_LORESERVE || !dec_elfview_section(&g->elf, symbol->shndx, &s) ||
	    (linked && symbol->value < s.addr))
		return false;
	at = linked ? symbol->value - s.addr : symbol->value;
	if (!dec_fits(at, skip, s.content.size) || !dec_fits(at + skip, size, s.content.size))
		return false;
	*range = (struct dec_range){ s.content.offset + at + skip, size };
	return true;
}

/* Linked objects have addresses, relocatable ones offsets in sections. */
bool dec_amdgpu_locate(const struct dec_amdgpu *g, const struct dec_amdgpu_symbol *symbol,
		       uint64_t skip, uint64_t size, struct dec_range *range)
{
	if (g->elf.h.type != ET_REL && skip <= UINT64_MAX - symbol->value &&
	    mapped(&g->elf, symbol->value + skip, size, range))
		return true;
	return (g->elf.h.type == ET_REL || g->segments_broken) &&
	       by_section(g, symbol, skip, size, range);
}

/* ---- kernels of one name ------------------------------------------------------------------------- */

struct named {
	struct dec_text name;
	uint64_t hash;
	uint32_t kernel;
};

static int by_kernel_name(const void *a, const void *b)
{
	const struct named *s = a, *t = b;
	int order = compare(s->hash, s->name.p, s->name.len, t->hash, t->name.p, t->name.len);

	if (order)
		return order;
	return s->kernel < t->kernel ? -1 : s->kernel > t->kernel;
}

static bool same_name(const struct named *a, const struct named *b)
{
	return compare(a->hash, a->name.p, a->name.len, b->hash, b->name.p, b->name.len) == 0;
}

bool dec_amdgpu_duplicates(struct dec_amdgpu *g)
{
	struct dec_exam *x = g->x;
	uint32_t count = x->out->kernel_count;
	struct named *names = dec_arena_array(&g->scratch, count, sizeof(*names));

	if (!names)
		return false;
	for (uint32_t k = 0; k < count; k++) {
		struct dec_text name = x->kernels[k].name;

		names[k] = (struct named){ name, hash_bytes((const uint8_t *)name.p, name.len), k };
	}
	if (count)
		qsort(names, count, sizeof(*names), by_kernel_name);
	for (uint32_t i = 1; i < count; i++)
		if (names[i].name.len && same_name(&names[i - 1], &names[i]) &&
		    !dec_exam_note(x, names[i].kernel, DEC_PROBLEM_DUPLICATE_KERNEL,
				   g->kernel_offsets[names[i].kernel], "kernel", DEC_COMPLETE,
				   "an earlier kernel of this object has the same name"))
			return false;
	return true;
}
