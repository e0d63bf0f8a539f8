import { isDeepStrictEqual } from 'node:util';
import { ContextdError } from '../../core/errors.ts';
import type {
  Toolchain__Output as Toolchain,
  ToolchainList__Output as ToolchainList,
} from '../../protocol/generated/management.ts';
import type { DaemonClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import type { Answers } from '../init/answers.ts';
import { confirm } from '../input.ts';
import { describeToolchains } from './describe.ts';
import { type Found, findToolchains } from './find.ts';

/** What was found outside /usr, and what came of it. */
export interface ToolchainOffer {
  /** `allowed`: now or before; `declined`: not wanted; `pending`: nobody could be asked. */
  readonly state: 'none' | 'allowed' | 'declined' | 'pending';
  /** What was not allowed before. */
  readonly added: readonly Toolchain[];
}

/** Whether to ask about new toolchains, or what the answer is. */
export type Answer = 'ask' | 'yes' | 'no';

const LEFT_OUT = 'Commands cannot run the programs outside /usr, as you chose. To allow them: ctxd allow toolchains';

/**
 * Finds the person's toolchains and lets commands use them if the person says yes. Toolchains that were allowed before
 * stay allowed; their directories and variables follow the machine only with a new yes. The person's PATH is sent in any
 * case: an answer then names a program that commands do not have. `answers`: where a no is remembered.
 */
export async function offerToolchains(
  context: CliContext,
  client: Pick<DaemonClient, 'listToolchains' | 'setToolchains'>,
  project: string | null,
  answer: Answer,
  answers: Answers | null = null,
): Promise<ToolchainOffer> {
  const found = await lookFor(context, project);
  const before = await client.listToolchains({});
  const added = newOf(found, before);
  const about = added.map(({ name }) => `toolchain ${name}`);
  const ask = (): Promise<boolean> => isWanted(context, added);
  const asked = (): Promise<boolean> => answers?.ask(context, { about, line: LEFT_OUT }, ask) ?? ask();
  const hasDeclined = answer === 'no' || answers?.hasDeclined(about) === true;
  const isAllowed = answer === 'yes' || (answer === 'ask' && (await asked()));
  const wanted = { toolchains: isAllowed ? merge(before, found) : before.toolchains, path: [...found.path] };
  // Each change is on record, so a run that changes nothing sends nothing.
  if (!isDeepStrictEqual(plainOf(wanted), plainOf(before))) await client.setToolchains(wanted);
  if (found.toolchains.length === 0) return { state: 'none', added };
  if (isAllowed || added.length === 0) return { state: 'allowed', added };
  return { state: hasDeclined || context.stdin.isTTY === true ? 'declined' : 'pending', added };
}

/** The toolchains that commands cannot use yet, or not as they are now. */
export async function missingToolchains(
  context: CliContext,
  allowed: ToolchainList,
  project: string | null,
): Promise<Toolchain[]> {
  return newOf(await lookFor(context, project), allowed);
}

function lookFor({ env, paths }: CliContext, project: string | null): Promise<Found> {
  const { path, home, toolchains: variables } = env;
  return findToolchains({ path, home, variables, project, installRoot: paths.installRoot });
}

function newOf(found: Found, allowed: ToolchainList): Toolchain[] {
  return found.toolchains.filter((one) => {
    const known = allowed.toolchains.find(({ name }) => name === one.name);
    if (known === undefined) return true;
    const hasAll = one.mounts.every((mount) => known.mounts.includes(mount));
    return !hasAll || Object.entries(one.variables).some(([name, value]) => known.variables[name] !== value);
  });
}

/** The same values are equal, whatever made the objects. */
function plainOf({ toolchains, path }: ToolchainList): unknown {
  const rows = toolchains.map(({ name, mounts, variables }) => ({
    name,
    mounts: [...mounts],
    variables: { ...variables },
  }));
  return { path: [...path], toolchains: rows.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

function merge(before: ToolchainList, found: Found): Toolchain[] {
  const names = new Set(found.toolchains.map(({ name }) => name));
  return [...before.toolchains.filter(({ name }) => !names.has(name)), ...found.toolchains];
}

async function isWanted(context: CliContext, added: readonly Toolchain[]): Promise<boolean> {
  if (added.length === 0) return false;
  const refusal = new ContextdError('CANCELLED', 'the toolchains were not allowed');
  try {
    const question = 'Let commands of every project read and run them? They cannot change them.';
    await confirm(context, ['Programs outside /usr:', ...describeToolchains(added)], question, refusal);
    return true;
  } catch (thrown) {
    if (thrown === refusal) return false;
    throw thrown;
  }
}
