import { type SecretPlace, secretPlaces } from '../catalog/secret-inputs.ts';
import type { Config } from '../config/schema.ts';
import { isJsonObject } from '../core/json.ts';
import { faultOfName } from '../core/variable-names.ts';
import { tokenDigits } from '../scrub/vault/look-alike.ts';
import type { Verdict } from './authorize.ts';
import type { VerifiedCall } from './call.ts';
import { readPlainCommand } from './plain-command.ts';
import { findProgram } from './programs.ts';

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
  if (why !== null) return { verdict: 'deny', code: 'PERMISSION_DENIED', ...why };
  if (places.length === 0) return { verdict: 'allow', reason: 'no secret is asked for' };
  const inputs = places.map(({ path, purpose }) => `/${path.join('/')} (${purpose})`);
  return { verdict: 'allow', reason: `secrets may be opened in ${inputs.slice(0, 10).join(', ')}` };
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
