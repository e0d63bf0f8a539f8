/** A here-document that a command substitution reads: the way to pass any text that the tools' documents teach. */
const HERE_DOCUMENT = /\$\(cat <<'(\w+)'\n([\s\S]*?)\n\1\n\)/y;
const PART = {
  plain: /[\w./@%+=:,~-]+|\\([^\n])/y,
  single: /'([^']*)'/y,
  double: /(?:[^"\\$`]|\\[^\n])+/y,
} as const;

/**
 * The words of one simple command that the shell would pass on as they are written: no expansion, operator, assignment or redirection
 * but a final `2>&1`. Null for any other command.
 */
export function literalWords(command: string): string[] | null {
  const text = command.trim().replace(/\s+2>&1$/, '');
  const words: string[] = [];
  for (let at = 0; at < text.length; ) {
    const gap = take(/[ \t]+/y, text, at);
    if (gap !== null) at = gap.end;
    const word = readWord(text, at);
    if (word === null || (gap === null && words.length > 0)) return null;
    words.push(word.value);
    at = word.end;
  }
  const isAssignment = /^[A-Za-z_]\w*\+?=/.test(text);
  return words.length === 0 || isAssignment ? null : words;
}

interface Taken {
  value: string;
  end: number;
}

function readWord(text: string, start: number): Taken | null {
  let [value, end] = ['', start];
  for (let part = readPart(text, end); part !== null; part = readPart(text, end)) {
    value += part.value;
    end = part.end;
  }
  return end === start ? null : { value, end };
}

function readPart(text: string, at: number): Taken | null {
  if (text[at] === '"') return readDouble(text, at + 1);
  // `~` at the start of a word is a directory for the shell.
  if (text[at] === '~') return null;
  return take(PART.single, text, at) ?? take(PART.plain, text, at);
}

/** After the opening quote. A backslash stays unless the shell would drop it. */
function readDouble(text: string, start: number): Taken | null {
  let [value, end] = ['', start];
  while (text[end] !== '"') {
    HERE_DOCUMENT.lastIndex = end;
    const document = HERE_DOCUMENT.exec(text);
    const plain = document === null ? take(PART.double, text, end) : null;
    if (document !== null) [value, end] = [value + (document[2] ?? '').replace(/\n+$/, ''), HERE_DOCUMENT.lastIndex];
    else if (plain !== null)
      [value, end] = [value + text.slice(end, plain.end).replace(/\\([\\"$`])/g, '$1'), plain.end];
    else return null;
  }
  return { value, end: end + 1 };
}

function take(pattern: RegExp, text: string, at: number): Taken | null {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match === null ? null : { value: match[1] ?? match[0], end: pattern.lastIndex };
}
