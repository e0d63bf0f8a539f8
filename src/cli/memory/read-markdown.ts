import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import { draftJsonOf, type Entry, type ImportSource } from './import.ts';

/** Bytes; a longer file is no note. */
const FILE_MAX_BYTES = 1024 * 1024;
/** The file in a folder of Claude Code that lists the others. */
const INDEX = 'MEMORY.md';

/**
 * The notes of a Markdown file, or of the files of a folder as Claude Code keeps them (`~/.claude/projects/<project>/memory`). A
 * file with frontmatter (`name`, `description`, `type`) is one memory; any other has one for each section.
 */
export async function readMarkdown(path: string): Promise<ImportSource> {
  const isFolder = (await stat(path)).isDirectory();
  const names = isFolder ? (await readdir(path)).filter((name) => name.endsWith('.md')).sort() : [basename(path)];
  if (names.length === 0)
    throw new ContextdError('ARGS_INVALID', `${path} has no Markdown files`, {
      remedy: 'Pass a folder of notes, such as ~/.claude/projects/<project>/memory, or a file of JSON lines.',
    });
  async function* entries(): AsyncGenerator<Entry> {
    for (const name of names) {
      const source = isFolder ? `${basename(path)}/${name}` : name;
      yield* entriesOf(isFolder ? join(path, name) : path, source, names);
    }
  }
  return { entries: entries(), readBytes: () => 0, totalBytes: 0 };
}

async function* entriesOf(file: string, source: string, names: readonly string[]): AsyncGenerator<Entry> {
  const text = await textOf(file);
  if (text.fault !== '') yield { place: source, source, draftJson: null, fault: text.fault };
  else
    for (const note of notesIn(basename(file), text.text, names)) {
      yield { place: `${source}, ${note.title}`, source, draftJson: draftJsonOf(note), fault: '' };
    }
}

async function textOf(file: string): Promise<{ text: string; fault: string }> {
  try {
    const { size } = await stat(file);
    if (size > FILE_MAX_BYTES) return { text: '', fault: `it has ${size} bytes of at most ${FILE_MAX_BYTES}` };
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
    const fault = /^---\r?\n/.test(text) && !FRONTMATTER.test(text) ? 'its frontmatter has no end' : '';
    return { text: text.replaceAll('\r\n', '\n'), fault: text.trim() === '' ? 'it is empty' : fault };
  } catch (thrown) {
    const isText = thrown instanceof TypeError;
    return { text: '', fault: isText ? 'it is not UTF-8' : ContextdError.from(thrown).message };
  }
}

interface Note {
  title: string;
  description: string;
  content: string;
  tags: string[];
}

const FRONTMATTER = /^---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

function notesIn(name: string, text: string, names: readonly string[]): Note[] {
  const head = FRONTMATTER.exec(text);
  const stem = name.replace(/\.md$/, '').replace(/[-_]+/g, ' ').trim();
  if (head === null) {
    const body = name === INDEX ? withoutIndex(text, names) : text;
    return sectionsOf(body, stem).map((section) => ({ ...section, description: '', tags: ['claude'] }));
  }
  const fields = fieldsIn(head[1] ?? '');
  const content = text.slice(head[0].length).trim();
  const title = (fields.get('name') ?? '') === '' ? stem : (fields.get('name') ?? stem);
  const type = fields.get('type') ?? '';
  return [
    { title, description: fields.get('description') ?? '', content, tags: ['claude', ...(type === '' ? [] : [type])] },
  ];
}

/** The lines that only name another file of the folder are no notes. */
function withoutIndex(text: string, names: readonly string[]): string {
  const isPointer = (line: string): boolean => {
    const [, target] = /^\s*[-*+]\s+\[[^\]]*\]\((?:\.\/)?([^)]+)\)/.exec(line) ?? [];
    return target !== undefined && names.includes(target);
  };
  return text
    .split('\n')
    .filter((line) => !isPointer(line))
    .join('\n');
}

/** Each heading of the first two levels begins a section; lines in a fence are no headings. Empty sections are left out. */
function sectionsOf(text: string, stem: string): { title: string; content: string }[] {
  const sections: { title: string; lines: string[] }[] = [{ title: stem, lines: [] }];
  let top = '';
  let fence = '';
  for (const line of text.split('\n')) {
    const [mark = ''] = /^\s*(?:```+|~~~+)/.exec(line) ?? [];
    if (mark !== '') fence = fence === '' ? mark.trim() : line.trim().startsWith(fence) ? '' : fence;
    const [, level = '', heading = ''] = fence === '' && mark === '' ? (/^(##?)\s+(.+?)\s*#*$/.exec(line) ?? []) : [];
    if (level === '#') top = heading;
    if (level === '') sections.at(-1)?.lines.push(line);
    else sections.push({ title: level === '#' || top === '' ? heading : `${top}: ${heading}`, lines: [] });
  }
  return sections
    .map(({ title, lines }) => ({ title: title.slice(0, 500), content: lines.join('\n').trim() }))
    .filter(({ content }) => content !== '');
}

/**
 * The texts of the frontmatter by name, nested ones too: `name: text`, in quotes, or as a block after `|` or `>`. Other
 * YAML, such as lists, is left out.
 */
function fieldsIn(yaml: string): Map<string, string> {
  const fields = new Map<string, string>();
  const lines = yaml.split('\n');
  for (const [at, line] of lines.entries()) {
    const [, indent = '', name, rest = ''] = /^(\s*)([A-Za-z_][\w-]*):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || fields.has(name)) continue;
    const [, style] = /^([|>])[-+]?\d*$/.exec(rest) ?? [];
    if (style === undefined) fields.set(name, unquoted(rest));
    else
      fields.set(
        name,
        blockAfter(lines.slice(at + 1), indent.length)
          .join(style === '|' ? '\n' : ' ')
          .trim(),
      );
  }
  return fields;
}

function blockAfter(lines: readonly string[], indent: number): string[] {
  const end = lines.findIndex((line) => line.trim() !== '' && line.search(/\S/) <= indent);
  return lines.slice(0, end === -1 ? lines.length : end).map((line) => line.trim());
}

function unquoted(text: string): string {
  const trimmed = text.trim();
  if (/^".*"$/.test(trimmed)) {
    try {
      return String(JSON.parse(trimmed));
    } catch {
      return trimmed.slice(1, -1);
    }
  }
  return /^'.*'$/.test(trimmed) ? trimmed.slice(1, -1).replaceAll("''", "'") : trimmed.replace(/\s+#.*$/, '');
}
