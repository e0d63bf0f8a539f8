import { type View, ViewBuilder } from '../../../text/offset-map.ts';

/**
 * Lists of arguments as the command line that they make: `["mysqladmin", "-pX"]`, a list in YAML, and `Args:` of
 * `kubectl describe`. An option and its value are a pair only there.
 */

/** An option as an element of a list: in quotes, behind a dash, or alone on its line. */
const OPTION = /^[ \t]*(?:-[ \t]+["']?|)-{1,2}[A-Za-z]|["'`]-{1,2}[A-Za-z]/gm;
/** How far above an option its list may begin. */
const REACH_CHARS = 512;
const MAX_ELEMENTS = 64;

/** An element of a list in brackets: a string, or a name of the program. */
const ELEMENT =
  /\s*(?:"((?:[^"\\\n]|\\.){0,256})"|'((?:[^'\\\n]|\\.){0,256})'|`([^`\n]{0,256})`|[A-Za-z_$][\w.$]{0,64})\s*(,|(?=[\])}]))/y;
/** A line of a list in YAML, and one of a list without signs. A value has no blanks unless it is quoted. */
const ITEM = /([ \t]*)(-[ \t]+|)(?:"([^"\n]{1,256})"|'([^'\n]{1,256})'|([^\s"'#][^\s]{0,255}))[ \t]*\r?(?:\n|$)/y;
/** What stands above a list without signs. */
const HEADING = /(?:^|\n)[ \t]*(?:args|command|cmd|entrypoint):[ \t]*\r?\n$/i;
const MAX_HEADING_CHARS = 80;
/** The program before a list of its arguments: `execFile('mysql', [`, `Command::new("mysql").args(&[`. */
const PROGRAM = /["'`]([\w./-]{1,64})["'`][\w\s).]{0,30}[,(][\w\s&:=]{0,20}$/;

interface Part {
  from: number;
  to: number;
}

/** The lists of arguments of a text, each on a line of its own. */
export function commandLines(text: string): View | null {
  const builder = new ViewBuilder(text);
  let shown = 0;
  OPTION.lastIndex = 0;
  for (let match = OPTION.exec(text); match !== null; match = OPTION.exec(text)) {
    const isQuoted = /^["'`]/.test(match[0]);
    const list = isQuoted ? inBrackets(text, match.index, shown) : onLines(text, match.index, shown);
    const next = Math.max(match.index + match[0].length, list?.end ?? 0);
    OPTION.lastIndex = next;
    if (list === null || list.parts.length < 2) continue;
    shown = list.end;
    builder.cut();
    for (const { from, to } of list.parts) {
      builder.copy(from, to);
      builder.put(' ', to, to + 1);
    }
  }
  return builder.isEmpty ? null : builder.build();
}

function partOf(from: number, value = ''): Part {
  return { from, to: from + value.length };
}

interface List {
  parts: Part[];
  end: number;
}

/** The elements of the list in brackets around an option, up to the first that is no string and no name. */
function inBrackets(text: string, option: number, from: number): List | null {
  const low = Math.max(from, option - REACH_CHARS);
  const before = text.slice(low, option);
  const open = Math.max(before.lastIndexOf('['), before.lastIndexOf('('), before.lastIndexOf('{'));
  if (open === -1) return null;
  const parts: Part[] = [];
  const program = PROGRAM.exec(before.slice(0, open));
  if (program !== null) parts.push(partOf(low + program.index + 1, program[1]));
  let end = low + open + 1;
  for (let count = 0; count < MAX_ELEMENTS; count++) {
    ELEMENT.lastIndex = end;
    const match = ELEMENT.exec(text);
    if (match === null) break;
    const value = match[1] ?? match[2] ?? match[3];
    if (value !== undefined) parts.push(partOf(match.index + match[0].search(/["'`]/) + 1, value));
    end = ELEMENT.lastIndex;
    if (match[4] !== ',') break;
  }
  return { parts, end };
}

/** The lines of the list around an option, all with the same sign and indentation. */
function onLines(text: string, option: number, from: number): List | null {
  const first = itemAt(text, option);
  if (first === null) return null;
  const parts = [first.part];
  let start = option;
  for (let count = 0; count < MAX_ELEMENTS && start > from; count++) {
    const above = text.lastIndexOf('\n', start - 2) + 1;
    const item = start - above > REACH_CHARS ? null : itemAt(text, above);
    if (item === null || item.sign !== first.sign || item.end !== start) break;
    parts.unshift(item.part);
    start = above;
  }
  let { end } = first;
  for (let count = 0; count < MAX_ELEMENTS && end < text.length; count++) {
    const item = itemAt(text, end);
    if (item === null || item.sign !== first.sign) break;
    parts.push(item.part);
    end = item.end;
  }
  const isHeaded = HEADING.test(text.slice(Math.max(0, start - MAX_HEADING_CHARS), start));
  return { parts: first.sign.trim() === '-' || isHeaded ? parts : [], end };
}

function itemAt(text: string, at: number): { part: Part; sign: string; end: number } | null {
  ITEM.lastIndex = at;
  const match = ITEM.exec(text);
  if (match === null) return null;
  const [whole, indent = '', dash = ''] = match;
  const value = match[3] ?? match[4] ?? match[5] ?? '';
  const start = at + whole.indexOf(value, indent.length + dash.length);
  return { part: partOf(start, value), sign: indent + dash.trimEnd(), end: ITEM.lastIndex };
}
