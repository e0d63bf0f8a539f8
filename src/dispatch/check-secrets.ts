import { accessSync, constants, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { plainPlaces, type SecretPlace, secretPlaces } from '../catalog/secret-inputs.ts';
import type { Config } from '../config/schema.ts';
import { isJsonObject } from '../core/json.ts';
import { isWithin } from '../core/paths.ts';
import { faultOfName } from '../core/variable-names.ts';
import type { SandboxPolicy } from '../sandbox/contract/policy.ts';
import { binDirsOf } from '../sandbox/machine/host.ts';
import { buildEnvironment } from '../sandbox/machine/mount-plan.ts';
import { readOnlyPathOf } from '../sandbox/run/toolchains.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import { tokenDigits } from '../scrub/vault/look-alike.ts';
import type { VerifiedCall } from './call.ts';
import type { Denied, Verdict } from './decision.ts';
import { holderOf } from './open-secrets.ts';

type Settings = Pick<Config, 'sandbox' | 'secrets'>;

export interface SecretsDeps {
  config: Settings;
  scrubber: Pick<Scrubber, 'issuedIn' | 'tokensIn'>;
  /** What a person allowed a project's commands to use outside it. */
  outside: { partsFor(project: string): Required<Pick<SandboxPolicy, 'toolchains' | 'allowedPaths'>> };
}

/**
 * Checks that the secrets a call wants opened may go where it wants them, and that no token is where a program would
 * get its characters. A project file may hold a secret that was seen in the same project. A program may get a secret
 * only if a person listed it and the command is that program alone, because a shell or a second program could do
 * anything with the value.
 */
export async function checkSecrets(call: VerifiedCall, deps: SecretsDeps): Promise<Verdict> {
  const misplaced = await findMisplaced(call, deps.scrubber);
  if (misplaced !== null) return misplaced;
  const places = secretPlaces(call.tool.arguments.secretInputs, call.input).filter(holdsToken);
  const forProgram = places.filter(({ purpose }) => purpose !== 'file');
  const why = forProgram.length === 0 ? null : (faultOfProgram(call, deps) ?? faultOfVariables(call, forProgram));
  if (why !== null) return { verdict: 'deny', code: 'PERMISSION_DENIED', ...why };
  if (places.length === 0) return { verdict: 'allow', reason: 'the call asks for no secret' };
  const inputs = places.map(({ path, purpose }) => `/${path.join('/')} (${purpose})`);
  return { verdict: 'allow', reason: `secrets may be opened in ${inputs.slice(0, 10).join(', ')}` };
}

/**
 * Refuses a token of the session in an input that does not open it: a shell would write the token into a file, or a
 * program would send it as a password. A token that the session never issued is ordinary text, and so is one with a
 * backslash. Messages name the secret by its number, because a whole token in an answer would be shown as a look-alike.
 */
async function findMisplaced(call: VerifiedCall, scrubber: SecretsDeps['scrubber']): Promise<Denied | null> {
  const { secretInputs, refusesTokens } = call.tool.arguments;
  if (!refusesTokens) return null;
  for (const { path, text } of plainPlaces(secretInputs, call.input)) {
    const [token] = await scrubber.issuedIn(call.session, text);
    if (token === undefined) continue;
    const [where, number] = [holderOf(call, path), tokenDigits(token)[0]];
    if (scrubber.tokensIn(call.session, token).length === 0)
      return {
        verdict: 'deny',
        code: 'SECRET_UNKNOWN',
        reason: `${where} holds the token of secret ${number}, whose value is gone since the daemon started again`,
        remedy: `Read its source again, then use the new token. ${WAYS_TO_USE}`,
      };
    return {
      verdict: 'deny',
      code: 'ARGS_INVALID',
      reason: `${where} holds the token of secret ${number}: a program would get the token, not the value`,
      remedy: WAYS_TO_USE,
    };
  }
  return null;
}

const WAYS_TO_USE =
  'To write a file, use safe_write: it puts the value in. To give the value to a program, use safe_bash with "secrets":{"NAME":"[SECRET_n]"}.';

interface Fault {
  reason: string;
  remedy: string;
}

function holdsToken({ text }: SecretPlace): boolean {
  return tokenDigits(text).length > 0;
}

function faultOfProgram({ input, request }: VerifiedCall, { config, outside }: SecretsDeps): Fault | null {
  const { secrets, sandbox } = config;
  const command = typeof input.command === 'string' ? input.command : '';
  const { program, fault } = readPlainCommand(command);
  if (secrets.programs.length === 0)
    return { reason: 'no program may get a secret: secrets.programs is empty', remedy: allow(program, []) };
  if (program === null) {
    return {
      reason: `a command that gets a secret must be one program and its arguments: ${fault}`,
      remedy: 'Call the program alone, without pipes, redirections, variables, globs or several commands.',
    };
  }
  if (!secrets.programs.includes(program))
    return {
      reason: `${program} may not get a secret: it is not in secrets.programs`,
      remedy: allow(program, secrets.programs),
    };
  const { toolchains, allowedPaths } = outside.partsFor(request.projectRoot);
  const found = findProgram(program, [...binDirsOf(sandbox.ro_paths), ...readOnlyPathOf(toolchains)]);
  const writable = [request.projectRoot, ...allowedPaths];
  if (found === null || writable.some((tree) => isWithin(tree, found.file) || isWithin(tree, found.dir)))
    return {
      reason: `${program} is not an installed program outside the workspace`,
      remedy: 'Name an installed program: a program of the workspace gets no secret.',
    };
  if (!toolchains.mounts.some((mount) => isWithin(mount, found.dir)) || !isShim(program, found)) return null;
  return {
    reason: `${join(found.dir, program)} starts another program, which files of the workspace can choose`,
    remedy: 'A person can put the directory of the program itself before it on PATH, then run `ctxd init`.',
  };
}

/** The command with which a person can allow this, for the agent to pass on. */
function allow(program: string | null, listed: readonly string[]): string {
  const list = JSON.stringify([...listed, program ?? 'gh']);
  return `A person can allow a program that neither prints nor runs its input: \`ctxd config set secrets.programs '${list}'\`, then \`ctxd server restart\`.`;
}

/** Checks `env` as well as `secrets`, because the program gets both. */
function faultOfVariables({ input }: VerifiedCall, places: readonly SecretPlace[]): Fault | null {
  const others = isJsonObject(input.env) ? Object.keys(input.env) : [];
  const names = places.flatMap(({ purpose, path }) => (purpose === 'env' ? path.slice(-1) : []));
  for (const name of [...names, ...others]) {
    const fault = faultOfName(name);
    if (fault !== null)
      return {
        reason: `${JSON.stringify(name)} ${fault}, so it cannot be set together with a secret`,
        remedy: 'Use another variable.',
      };
  }
  const both = names.find((name) => others.includes(name));
  if (both === undefined) return null;
  return { reason: `${both} is given twice`, remedy: 'Give it in "secrets" alone.' };
}

/** A command that a shell passes on unexpanded: a bare program name and its arguments. */
type PlainCommand = { program: string; fault: null } | { program: null; fault: string };

const BARE_NAME = /^[A-Za-z0-9][\w.+-]*$/;
/** Part of a word that a shell does not expand: plain characters, or quotes without expansions. */
const PIECE = /[\w./:@%+,=-]+|'[^'\0]*'|"[^"$`\\\0]*"/y;
const BLANKS = /[ \t]+/y;

/** Bash keywords and builtins: a command with such a name runs no program. */
const SHELL_WORDS = new Set(
  `alias bg bind break builtin caller case cd command compgen complete compopt continue coproc declare dirs disown do
  done echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash help history if in
  jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt source
  suspend test then time times trap true type typeset ulimit umask unalias unset until wait while`.split(/\s+/),
);

/**
 * Parses a command that asks for a secret. Anything a shell would act on is a fault: operators, expansions, globs,
 * redirections, assignments, escapes and line breaks. Single quotes may hold anything; double quotes may not hold `$`,
 * `` ` `` or `\`.
 */
export function readPlainCommand(command: string): PlainCommand {
  const words = splitWords(command);
  if (typeof words === 'string') return { program: null, fault: words };
  const [program = ''] = words;
  if (!BARE_NAME.test(program)) return { program: null, fault: 'it does not start with the bare name of a program' };
  if (SHELL_WORDS.has(program)) return { program: null, fault: `${program} is a shell builtin` };
  return { program, fault: null };
}

/** Returns the words with their quotes, or the fault. */
function splitWords(command: string): string[] | string {
  const words: string[] = [];
  const text = command.replace(/^[ \t]+|[ \t]+$/g, '');
  let at = 0;
  while (at < text.length) {
    const start = at;
    for (let next = endOf(PIECE, text, at); next > at; next = endOf(PIECE, text, at)) at = next;
    if (at === start) return `a shell would interpret its character ${at + 1}`;
    words.push(text.slice(start, at));
    const blank = endOf(BLANKS, text, at);
    if (blank === at && at < text.length) return `a shell would interpret its character ${at + 1}`;
    at = blank;
  }
  return words;
}

/** Returns the end of a match that starts at `at`, or `at` if nothing matches there. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** A program on PATH. */
interface FoundProgram {
  readonly dir: string;
  /** Its real path. */
  readonly file: string;
}

/** Finds the program that a bare name runs inside the sandbox, with `dirs` first on PATH. */
function findProgram(name: string, dirs: readonly string[]): FoundProgram | null {
  const { PATH = '' } = buildEnvironment(dirs);
  for (const dir of PATH.split(':')) {
    const file = programAt(join(dir, name));
    if (file !== null) return { dir, file };
  }
  return null;
}

/**
 * Detects the shims of version managers, which put one program under many names: it reads project files, such as
 * `rust-toolchain.toml`, and starts the programs they name. A shim is a script in a directory `shims`, or a link of
 * either kind to a program of another name.
 */
function isShim(name: string, { dir, file }: FoundProgram): boolean {
  if (basename(dir) === 'shims' || basename(file) !== name) return true;
  const { dev, ino, nlink } = statSync(file);
  if (nlink === 1) return false;
  const siblings = readdirSync(dirname(file)).filter((sibling) => sibling !== name);
  return siblings.some((sibling) => {
    const other = statSync(join(dirname(file), sibling), { throwIfNoEntry: false });
    return other?.ino === ino && other.dev === dev;
  });
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
