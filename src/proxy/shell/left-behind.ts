/** A command that a shell leaves running, and the rest of the text, which the shell runs at once. */
export interface LeftBehind {
  command: string;
  /** Empty: nothing else. */
  rest: string;
}

/**
 * Reads `LIST & REST`. Null for every other text, for one of which it is unsure where the list ends, and if the rest refers to what
 * it left: the command then runs as it stands, and what it leaves in the background ends with it.
 */
export function readLeftBehind(text: string): LeftBehind | null {
  const end = LIST.exec(text)?.[0].length ?? 0;
  if (end === 0 || !ENDS_LIST.test(text.slice(end))) return null;
  const command = withoutWords(text.slice(0, end).trim());
  const rest = text.slice(end + 1).trim();
  const isAlone = rest === '' || rest === 'disown';
  if (command === '' || COMPOUND.test(command) || (!isAlone && REFERS_BACK.test(rest))) return null;
  return { command, rest: isAlone ? '' : rest };
}

/** Words, quoted texts, redirections, `|`, `&&` and `||`: no `;`, newline, group, substitution or here-document. */
const LIST =
  /^(?:[^\s&|;<>()'"`\\$#{}!]|[ \t]|\\[^\n]|'[^']*'|"(?:\\[^\n]|[^"\\`$]|\$\w+)*"|\$\w+|\|\|?|&&|\d*(?:&>>?|>>?(?:&\d?)?|<(?![<&(])))+/;
/** What ends the list: one `&`. */
const ENDS_LIST = /^&(?![&>])/;
/** Words by which the rest waits for the processes or ends them, in the shell that started them. */
const REFERS_BACK = /\b(?:wait|kill|pkill|killall|jobs|fg|bg|disown|trap|ps|pgrep)\b/;
const COMPOUND = /(?:^|[|&]\s*)(?:if|then|for|select|while|until|case|function|coproc|time)\b/;

/** Words that only keep a process alive after its shell, as a job is anyway. */
function withoutWords(command: string): string {
  return command.replace(/^(?:nohup|setsid(?: -f| --fork)?)\s+/, '');
}
