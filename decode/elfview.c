/*
 * An ELF file in memory. Every record is translated where it stands, so that nothing is
 * allocated and nothing is believed: a number from the file is a place only once it fits.
 */
#include "inspect_internal.h"

#include <elf.h>
#include <libelf.h>

/* CUDA's section types without content in relocatable cubins (docs/formats/cubin.md). */
static bool without_content(const struct dec_elfview *elf, uint32_t type)
{
	static const uint32_t cuda[] = { 0x70000007, 0x70000009, 0x7000000a, 0x70000015 };

	if (type == SHT_NULL || type == SHT_NOBITS)
		return true;
	for (size_t i = 0; i < sizeof(cuda) / sizeof(cuda[0]); i++)
		if (elf->h.machine == DEC_EM_CUDA && elf->h.type == ET_REL && type == cuda[i])
			return true;
	return false;
}

static struct dec_view empty_at(const struct dec_elfview *elf)
{
	return (struct dec_view){ elf->v.p, 0, elf->v.origin };
}

/* One record of a table whose entries have the size that ELF64 gives them. */
static bool record(const struct dec_elfview *elf, uint64_t table, uint64_t count, uint64_t index,
		   Elf_Type type, void *out, size_t size)
{
	struct dec_view v;

	if (index >= count || count > elf->v.len / size ||
	    !dec_slice(elf->v, table, count * size, &v) || !dec_slice(v, index * size, size, &v))
		return false;
	return dec_elf_translate(out, size, v.p, size, (int)type, &elf->h);
}

bool dec_elfview_open(struct dec_view v, struct dec_elfview *elf)
{
	*elf = (struct dec_elfview){ .v = v, .h = { .at = v.origin, .room = v.len } };
	if (!dec_elf_header(v, &elf->h) || elf->h.class != ELFCLASS64 || elf->h.data != ELFDATA2LSB)
		return false;
	if (dec_elf_has_escapes(&elf->h))
		dec_elf_escapes(&elf->h, v.p + elf->h.shoff);
	return true;
}

/* ---- sections -------------------------------------------------------------------------- */

bool dec_elfview_has_sections(const struct dec_elfview *elf)
{
	return elf->h.shoff && elf->h.shnum && elf->h.shentsize == sizeof(Elf64_Shdr) &&
	       elf->h.shnum <= DEC_ELF_SECTIONS_MAX &&
	       elf->h.shnum <= elf->v.len / sizeof(Elf64_Shdr) &&
	       dec_fits(elf->h.shoff, elf->h.shnum * sizeof(Elf64_Shdr), elf->v.len);
}

/* Bytes up to the NUL that ends them, which must be there. */
static struct dec_view name_in(const struct dec_elfview *elf, struct dec_view strings, uint64_t at)
{
	struct dec_view name;
	size_t len;

	if (!dec_slice(strings, at, 0, &name))
		return empty_at(elf);
	name.len = strings.len - (size_t)at;
	if (name.len > DEC_ELF_NAME_MAX)
		name.len = DEC_ELF_NAME_MAX;
	len = strnlen((const char *)name.p, name.len);
	if (len == name.len)
		return empty_at(elf);
	name.len = len;
	return name;
}

static bool header_at(const struct dec_elfview *elf, uint64_t index, Elf64_Shdr *h)
{
	return elf->h.shoff && elf->h.shentsize == sizeof(*h) && index < DEC_ELF_SECTIONS_MAX &&
	       record(elf, elf->h.shoff, elf->h.shnum, index, ELF_T_SHDR, h, sizeof(*h));
}

static struct dec_view section_names(const struct dec_elfview *elf)
{
	struct dec_view v;
	Elf64_Shdr h;

	if (header_at(elf, elf->h.shstrndx, &h) && !without_content(elf, h.sh_type) &&
	    dec_slice(elf->v, h.sh_offset, h.sh_size, &v))
		return v;
	return empty_at(elf);
}

bool dec_elfview_section(const struct dec_elfview *elf, uint64_t index, struct dec_elfsection *s)
{
	struct dec_view name;
	Elf64_Shdr h;

	if (!header_at(elf, index, &h))
		return false;
	name = name_in(elf, section_names(elf), h.sh_name);
	*s = (struct dec_elfsection){
		.index = index,
		.name = name,
		.named = name.p != elf->v.p,
		.type = h.sh_type,
		.link = h.sh_link,
		.info = h.sh_info,
		.flags = h.sh_flags,
		.addr = h.sh_addr,
		.offset = h.sh_offset,
		.size = h.sh_size,
		.align = h.sh_addralign,
		.entsize = h.sh_entsize,
		.inside = dec_fits(h.sh_offset, h.sh_size, elf->v.len),
		.bytes = empty_at(elf),
	};
	if (s->inside && !without_content(elf, s->type))
		dec_slice(elf->v, s->offset, s->size, &s->bytes);
	return true;
}

/* ---- segments --------------------------------------------------------------------------- */

static bool segment_at(const struct dec_elfview *elf, uint64_t index, Elf64_Phdr *h)
{
	return elf->h.phoff && elf->h.phentsize == sizeof(*h) &&
	       record(elf, elf->h.phoff, elf->h.phnum, index, ELF_T_PHDR, h, sizeof(*h));
}

bool dec_elfview_segment(const struct dec_elfview *elf, uint64_t index, uint32_t *type,
			 uint64_t *offset, uint64_t *vaddr, uint64_t *filesz, uint64_t *memsz)
{
	Elf64_Phdr h;

	if (!segment_at(elf, index, &h))
		return false;
	*type = h.p_type;
	*offset = h.p_offset;
	*vaddr = h.p_vaddr;
	*filesz = h.p_filesz;
	*memsz = h.p_memsz;
	return true;
}

bool dec_elfview_address(const struct dec_elfview *elf, uint64_t vaddr, uint64_t size,
			 uint64_t *offset)
{
	Elf64_Phdr h;

	for (uint64_t i = 0; i < DEC_ELF_SEGMENTS_MAX && segment_at(elf, i, &h); i++) {
		if (h.p_type != PT_LOAD || vaddr < h.p_vaddr ||
		    !dec_fits(vaddr - h.p_vaddr, size, h.p_filesz) ||
		    !dec_fits(h.p_offset, h.p_filesz, elf->v.len))
			continue;
		*offset = h.p_offset + (vaddr - h.p_vaddr);
		return true;
	}
	return false;
}

/* ---- symbols ------------------------------------------------------------------------------ */

uint64_t dec_elfview_symbol_count(const struct dec_elfsection *table)
{
	if (table->entsize != sizeof(Elf64_Sym))
		return 0;
	return table->bytes.len / sizeof(Elf64_Sym);
}

bool dec_elfview_symbol(const struct dec_elfview *elf, const struct dec_elfsection *table,
			const struct dec_elfsection *strings, uint64_t index,
			struct dec_elfsymbol *s)
{
	struct dec_view v;
	Elf64_Sym sym;

	if (index >= table->bytes.len / sizeof(sym) ||
	    !dec_slice(table->bytes, index * sizeof(sym), sizeof(sym), &v) ||
	    !dec_elf_translate(&sym, sizeof(sym), v.p, sizeof(sym), ELF_T_SYM, &elf->h))
		return false;
	*s = (struct dec_elfsymbol){
		.index = index,
		.name = name_in(elf, strings->bytes, sym.st_name),
		.info = sym.st_info,
		.other = sym.st_other,
		.shndx = sym.st_shndx,
		.value = sym.st_value,
		.size = sym.st_size,
	};
	return true;
}
