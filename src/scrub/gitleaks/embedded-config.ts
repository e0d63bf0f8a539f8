/**
 * gitleaks carries its default configuration as plain text in the program. It begins with these words, ends where
 * text ends, and must be cut there: the bytes behind it belong to something else.
 */
const FIRST_WORDS = ['# This file has been auto-generated. Do not edit manually.', 'title = "gitleaks config"'];
/** Bytes looked at from there on; the configuration has about 100,000. */
const WINDOW_BYTES = 4 * 1024 * 1024;

/** The text of the configuration in a program's bytes; null when there is none. `accept` judges a candidate. */
export function cutConfig(program: Buffer, accept: (text: string) => boolean): string | null {
  for (const words of FIRST_WORDS)
    for (let at = program.indexOf(words); at !== -1; at = program.indexOf(words, at + 1)) {
      const text = cutToml(textAt(program, at));
      if (text !== null && accept(text)) return text;
    }
  return null;
}

/** Up to the first byte that no text file holds. */
function textAt(program: Buffer, start: number): string {
  const window = program.subarray(start, start + WINDOW_BYTES);
  const end = window.findIndex((byte) => byte < 0x20 && byte !== 0x0a && byte !== 0x09 && byte !== 0x0d);
  return window.toString('utf8', 0, end === -1 ? window.length : end);
}

const TOP_LEVEL = /^\s*(?:#.*|\[{1,2}[\w.-]+\]{1,2}\s*(?:#.*)?|"?[\w.-]+"?\s*=.*)?$/;

/** The lines that can be TOML, up to the last that can: what follows in the program is no setting. */
function cutToml(text: string): string | null {
  const lines = text.split('\n');
  const state = { quote: null as string | null, depth: 0 };
  let kept = 0;
  for (const [position, line] of lines.entries()) {
    if (state.quote === null && state.depth === 0 && !TOP_LEVEL.test(line)) break;
    if (position === lines.length - 1 && line !== '' && !text.endsWith('\n')) break;
    followLine(line, state);
    if (state.quote === null && state.depth <= 0) kept = position + 1;
  }
  if (kept === 0) return null;
  return kept === lines.length ? text : `${lines.slice(0, kept).join('\n')}\n`;
}

/** Keeps track of open strings over several lines and of open lists. */
function followLine(line: string, state: { quote: string | null; depth: number }): void {
  let rest = line;
  while (rest !== '') {
    if (state.quote !== null) {
      const end = rest.indexOf(state.quote);
      if (end === -1) {
        // A string of one line ends with it.
        if (state.quote.length === 1) state.quote = null;
        return;
      }
      rest = rest.slice(end + state.quote.length);
      state.quote = null;
      continue;
    }
    const next = /'''|"""|'|"(?:[^"\\]|\\.)*"|[[\]{}#]/.exec(rest);
    if (next === null) return;
    rest = rest.slice(next.index + next[0].length);
    if (next[0] === '#') return;
    if (next[0] === '[' || next[0] === '{') state.depth += 1;
    else if (next[0] === ']' || next[0] === '}') state.depth -= 1;
    else if (!next[0].startsWith('"') || next[0] === '"""') state.quote = next[0];
  }
}
