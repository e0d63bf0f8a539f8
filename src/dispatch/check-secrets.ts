import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { type SecretPlace, secretPlaces } from '../catalog/secret-inputs.ts';
import type { Config } from '../config/schema.ts';
import { isJsonObject } from '../core/json.ts';
import { faultOfName } from '../core/variable-names.ts';
import { binDirsOf } from '../sandbox/host.ts';
import { buildEnvironment } from '../sandbox/policy.ts';
import { tokenDigits } from '../scrub/vault/look-alike.ts';
import type { Verdict } from './authorize.ts';
import type { VerifiedCall } from './call.ts';

type Settings = Pick<Config, 'sandbox' | 'secrets'>;

/**
 * Whether the secrets that a call wants opened may go where it wants them. A file of the project may hold what was
 * seen in the project: a session's tokens are one project's. A program may have a secret only when a person listed it
 * and the command is nothing but that program: what a shell or another program would do with the value is not known.
 */
export function checkSecrets(call: VerifiedCall, { config }: { config: Settings }): Verdict {
  const places = secretPlaces(call.tool.arguments.secretInputs, call.input).filter(holdsToken);
  const forProgram = places.filter(({ purpose }) => purpose !== 'file');
  const why = forProgram.length === 0 ? null : (faultOfProgram(call, config) ?? faultOfVariables(call, forProgram));
  if (why !== null) return { allowed: false, code: 'PERMISSION_DENIED', ...why };
  if (places.length === 0) return { allowed: true, reason: 'no secret is asked for' };
  const inputs = places.map(({ path, purpose }) => `/${path.join('/')} (${purpose})`);
  return { allowed: true, reason: `secrets may be opened in ${inputs.slice(0, 10).join(', ')}` };
}

interface Fault {
  reason: string;
  remedy: string;
}

function holdsToken({ text }: SecretPlace): boolean {
  return tokenDigits(text).length > 0;
}

function faultOfProgram({ input, request }: VerifiedCall, { secrets, sandbox }: Settings): Fault | null {
  const command = typeof input.command === 'string' ? input.command : '';
  const { program, fault } = readPlainCommand(command);
  if (secrets.programs.length === 0)
    return { reason: 'no program may be given a secret: secrets.programs is empty', remedy: allow(program, []) };
  if (program === null) {
    return {
      reason: `a command that is given a secret must be one program and its arguments: ${fault}`,
      remedy: 'Call the program alone, without pipes, redirections, variables, globs or several commands.',
    };
  }
  if (!secrets.programs.includes(program))
    return {
      reason: `${program} may not be given a secret: it is not in secrets.programs`,
      remedy: allow(program, secrets.programs),
    };
  if (findProgram(program, sandbox.ro_paths, request.projectRoot) !== null) return null;
  return {
    reason: `${program} is not a program of the machine outside the workspace`,
    remedy: 'Name a program that is installed; one of the workspace gets no secret.',
  };
}

/** The person's command; to the agent it is a text to show. */
function allow(program: string | null, listed: readonly string[]): string {
  const list = JSON.stringify([...listed, program ?? 'gh']);
  return `A person can allow a program that does not print or run what it is given: \`ctxd config set secrets.programs '${list}'\`, then \`ctxd server restart\`.`;
}

/** `env` beside it must not steer either: the variables of both come to the same program. */
function faultOfVariables({ input }: VerifiedCall, places: readonly SecretPlace[]): Fault | null {
  const others = isJsonObject(input.env) ? Object.keys(input.env) : [];
  const names = places.flatMap(({ purpose, path }) => (purpose === 'env' ? path.slice(-1) : []));
  for (const name of [...names, ...others]) {
    const fault = faultOfName(name);
    if (fault !== null)
      return { reason: `${JSON.stringify(name)} ${fault}, so no secret goes with it`, remedy: 'Use another variable.' };
  }
  const both = names.find((name) => others.includes(name));
  if (both === undefined) return null;
  return { reason: `${both} is given twice`, remedy: 'Give it in "secrets" alone.' };
}

/** One command as a shell reads it without doing anything of its own: a program's bare name and its arguments. */
type PlainCommand = { program: string; fault: null } | { program: null; fault: string };

const BARE_NAME = /^[A-Za-z0-9][\w.+-]*$/;
/** A stretch of a word that a shell takes as it stands: plain characters, or quotes in which nothing is expanded. */
const PIECE = /[\w./:@%+,=-]+|'[^'\0]*'|"[^"$`\\\0]*"/y;
const BLANKS = /[ \t]+/y;

/** What bash carries out itself, so that no program of that name would run; a keyword or a builtin of it. */
const SHELL_WORDS = new Set(
  `alias bg bind break builtin caller case cd command compgen complete compopt continue coproc declare dirs disown do
  done echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash help history if in
  jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt source
  suspend test then time times trap true type typeset ulimit umask unalias unset until wait while`.split(/\s+/),
);

/**
 * Reads a command that may be given a secret. Whatever a shell would act on is a fault: operators, expansions, globs,
 * redirections, assignments, escapes, several lines. Single quotes may hold anything, double quotes no `$`, `` ` `` or
 * `\`.
 */
export function readPlainCommand(command: string): PlainCommand {
  const words = splitWords(command);
  if (typeof words === 'string') return { program: null, fault: words };
  const [program = ''] = words;
  if (!BARE_NAME.test(program)) return { program: null, fault: 'it does not begin with the bare name of a program' };
  if (SHELL_WORDS.has(program)) return { program: null, fault: `${program} is carried out by the shell itself` };
  return { program, fault: null };
}

/** The words with their quotes, or what is wrong. */
function splitWords(command: string): string[] | string {
  const words: string[] = [];
  const text = command.replace(/^[ \t]+|[ \t]+$/g, '');
  let at = 0;
  while (at < text.length) {
    const start = at;
    for (let next = endOf(PIECE, text, at); next > at; next = endOf(PIECE, text, at)) at = next;
    if (at === start) return `a shell acts on what stands at character ${at + 1} of it`;
    words.push(text.slice(start, at));
    const blank = endOf(BLANKS, text, at);
    if (blank === at && at < text.length) return `a shell acts on what stands at character ${at + 1} of it`;
    at = blank;
  }
  return words;
}

/** Where a match that begins at `at` ends; `at` when there is none. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/**
 * The program that a bare name stands for inside the sandbox, as a real path; null when there is none, and when the
 * one that would run lies in the workspace, where an agent can write it.
 */
function findProgram(name: string, roPaths: readonly string[], workspace: string): string | null {
  const { PATH = '' } = buildEnvironment(binDirsOf(roPaths));
  for (const dir of PATH.split(':')) {
    const program = programAt(join(dir, name));
    if (program !== null) return [dir, program].some((path) => isInside(path, workspace)) ? null : program;
  }
  return null;
}

function programAt(path: string): string | null {
  try {
    if (!statSync(path).isFile()) return null;
    accessSync(path, constants.X_OK);
    return realpathSync(path);
  } catch {
    return null;
  }
}

function isInside(path: string, dir: string): boolean {
  return path === dir || path.startsWith(dir + sep);
}
