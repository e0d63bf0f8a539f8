import { basename, dirname } from 'node:path';
import { literalWords } from './literal-words.ts';
import { readQuoted } from './quoted-word.ts';

/** A command as a model wrote it, out of the text that Claude Code gives its shell. */
export interface WrappedCommand {
  command: string;
  /** Variables that hooks of the session export for its commands. */
  variables: Readonly<Record<string, string>>;
  /** The file from which Claude Code reads where the command ended. */
  directoryFile: string;
}

/**
 * Claude Code writes `SETUP && eval 'COMMAND' [< /dev/null] && pwd -P >| FILE` (seen in 2.1.197 and 2.1.329). The command is one word
 * in single quotes, so nothing in it can end it. Null for any other text. `temporary`: directories in which FILE may be.
 */
export function unwrap(text: string, temporary: readonly string[]): WrappedCommand | null {
  for (const { 0: start, index } of text.matchAll(/(?:^| && )(?:\\builtin )?eval (?=['"\\\w@%+=:,./-])/g)) {
    const setup = SETUP.exec(text.slice(0, index));
    const word = setup && readQuoted(text, index + start.length);
    const [, file] = (word && END.exec(text.slice(word.end))) ?? [];
    if (setup === null || word === null || file === undefined || !isDirectoryFile(file, temporary)) continue;
    const { exported = '' } = setup.groups ?? {};
    const variables = readExports(exported);
    return {
      command: variables === null ? `${exported}\n${word.value}` : word.value,
      variables: variables ?? {},
      directoryFile: file,
    };
  }
  return null;
}

/**
 * What stands before the command: the functions and aliases of the person's own shell, which a sandbox does not have; what hooks wrote
 * into CLAUDE_ENV_FILE; options of the shell.
 */
const SETUP =
  /^(?:(?:\\builtin )?source \S+ 2>\/dev\/null(?: \|\| true)?)?(?:(?:^| && )(?<exported>[\s\S]*)\n:)?(?:(?:^| && )(?:(?:\\builtin )?(?:shopt|setopt) [\w -]+ 2>\/dev\/null|\{ [\\\w\s'|;-]+; \} >\/dev\/null 2>&1)(?: \|\| true)?)*$/;
const END = /^(?: \\?< \/dev\/null)? && pwd -P >\| ['"]?([^\s'"]+)['"]?$/;
/** What contextd's own hook writes. */
const OWN_PATH = /^export PATH='[^']*\/\.claude\/bin':"\$PATH"$/;

function isDirectoryFile(file: string, temporary: readonly string[]): boolean {
  return /^claude-[\w-]+-cwd$/.test(basename(file)) && temporary.includes(dirname(file));
}

/** The variables of lines `export NAME=VALUE`. Null if the shell would do more with a line than keep its value. */
function readExports(script: string): Record<string, string> | null {
  const variables: Record<string, string> = {};
  for (const line of script.split('\n')) {
    if (line.trim() === '' || OWN_PATH.test(line)) continue;
    const [word, ...assignments] = literalWords(line) ?? [];
    if (word !== 'export' || assignments.length === 0) return null;
    for (const assignment of assignments) {
      const [, name, value] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(assignment) ?? [];
      if (name === undefined || value === undefined) return null;
      variables[name] = value;
    }
  }
  return variables;
}
