import { basename } from 'node:path';
import { readQuoted } from './quoted-word.ts';

// What other clients put around a command. It is recognized by its shape and taken off; any other text runs inside as it stands.

/**
 * Codex restores the person's variables in lines of fixed forms and ends with `exec 'SHELL' -c 'COMMAND'`, the command in single
 * quotes, so nothing in it can end it (seen in 0.171.0). Null for any other text.
 */
export function unwrapCodex(text: string): string | null {
  for (const { 0: start, index } of text.matchAll(/(?:^|\n)exec (?=')/g)) {
    const shell = readQuoted(text, index + start.length);
    const option = ' -c ';
    if (shell === null || !text.startsWith(option, shell.end) || !SHELLS.has(basename(shell.value))) continue;
    const command = readQuoted(text, shell.end + option.length);
    if (command?.end === text.length && text.slice(0, index).split('\n').every(isSetup)) return command.value;
  }
  return null;
}

const SHELLS: ReadonlySet<string> = new Set(['bash', 'sh', 'zsh']);

const SETUP: readonly RegExp[] = [
  /^$|^fi$/,
  /^__CODEX_SNAPSHOT_\w+="\$\{\w+(?:\+x|-)\}"$/,
  /^if \. '[^']*' >\/dev\/null 2>&1; then :; fi$/,
  /^if \[ -n "\$\{?__CODEX_SNAPSHOT_\w+\}?" \](?: \|\| \[ -n "\$\{\w+\+x\}" \])?; then$/,
  /^ {2}if \[ -z "\$\{\w+\+x\}" \] \|\| \[ "\$\{\w+-\}" != "\$\{__CODEX_\w+\}" \]; then export \w+="\$\{__CODEX_\w+\}"; else export \w+; fi$/,
  /^(?:else )?builtin unset [\w ]+ 2>\/dev\/null \|\| command unset [\w ]+(?:; fi)?$/,
  /^if \[ -n "\$\{PATH:-\}" \]; then export PATH='[^']*':"\$PATH"; else export PATH='[^']*'; fi$/,
];

function isSetup(line: string): boolean {
  return SETUP.some((form) => form.test(line));
}

/** Gemini CLI runs the command in a subshell that notes what it leaves in the background (seen in 0.61.0). Null for any other text. */
export function unwrapGemini(text: string): string | null {
  return GEMINI.exec(text)?.groups?.command ?? null;
}

const GEMINI =
  /^(?:shopt -u [\w ]+; )?_bgpids_file=\S+\n\(\n {2}trap 'jobs -p > "\$_bgpids_file"' EXIT\n(?<command>[\s\S]*)\n\)\n__code=\$\?\nexit \$__code\n?$/;
