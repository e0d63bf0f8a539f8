import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { loadCommands } from '#src/cli/commands.js';

const COMMANDS = await loadCommands();
type Command = (typeof COMMANDS)[number];

/** A command that a message of the product names, as it is printed; what is put in at run time is `VALUE`. */
export interface NamedCommand {
  text: string;
  file: string;
}

const ROOT = join(import.meta.dirname, '../..');
const VALUE = 'VALUE';

/** Every `ctxd …` between backquotes, and every one after a colon, in the strings of the sources. */
export function namedCommands(): NamedCommand[] {
  const listed = execFileSync('git', ['ls-files', 'src', 'tools'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
  const files = listed.filter((file) => file.endsWith('.ts') && !file.includes('/generated/'));
  return files.flatMap((file) =>
    stringsOf(file).flatMap((text) => commandsIn(text).map((command) => ({ text: command, file }))),
  );
}

export function commandsIn(text: string): string[] {
  const marked = [...text.matchAll(/`(ctxd [^`]+)`/g)].map(([, command = '']) => command);
  const plain = [...text.replaceAll(/`[^`]*`/g, '').matchAll(/: (ctxd [^.,;()]+(?:\.[\w-][^.,;()]*)*)/g)];
  return [...marked, ...plain.map(([, command = '']) => command.trim())];
}

function stringsOf(file: string): string[] {
  const written = readFileSync(join(ROOT, file), 'utf8');
  if (!written.includes('ctxd ')) return [];
  const source = ts.createSourceFile(file, written, ts.ScriptTarget.Latest);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) found.push(node.text);
    else if (ts.isTemplateExpression(node))
      found.push(node.head.text + node.templateSpans.map(({ literal }) => VALUE + literal.text).join(''));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The commands of ctxd that a text may call, the longest name first. */
function commandsOf(text: string): Command[] {
  const words = text.split(' ').slice(1);
  const fits = COMMANDS.filter(({ name }) =>
    name.every((word, index) => words[index] === word || words[index] === VALUE),
  );
  return fits.sort((a, b) => b.name.length - a.name.length);
}

/** Why a shell or ctxd refuses a command as it is printed; null if both take it. */
export function faultOf(text: string): string | null {
  if (text === 'ctxd --help') return null;
  const faults = commandsOf(text).map((command) => faultFor(command, text));
  return faults.length === 0 ? 'is no command' : faults.includes(null) ? null : (faults[0] ?? null);
}

function faultFor(command: Command, text: string): string | null {
  const rest = text.split(' ').slice(1 + command.name.length);
  if (/[<>|&;$*?()]/.test(text.replaceAll(/'[^']*'/g, ''))) return 'has a character that a shell acts on';
  const isHelp = rest.includes('--help');
  let words = 0;
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    if (word === '--') {
      words += rest.length - at - 1;
      break;
    }
    if (!word.startsWith('-')) words += 1;
    else {
      const option = command.options.find(({ syntax }) => syntax.split(/[ ,]+/).includes(word));
      if (option === undefined && !['--json', '--help'].includes(word)) return `has no option ${word}`;
      if (option !== undefined && /[<[]/.test(option.syntax)) at += 1;
    }
  }
  const needed = command.parameters.filter(({ syntax }) => syntax.startsWith('<')).length;
  if (!isHelp && words < needed) return `needs ${needed} words`;
  const takesMany = command.parameters.some(({ syntax }) => syntax.includes('...'));
  return !takesMany && words > command.parameters.length ? 'takes fewer words' : null;
}
