import { ContextdError } from '../../core/errors.ts';
import { isWithin } from '../../core/paths.ts';
import { hostsOfSettings, type RegistrySetting } from '../../core/registries.ts';
import type { HostNetwork__Output as HostNetwork } from '../../protocol/generated/management.ts';
import type { DaemonClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import type { Answers } from '../init/answers.ts';
import { findRepository } from '../init/repository-above.ts';
import { confirm } from '../input.ts';
import { findProjectRoot, realOrGiven } from '../project-root.ts';
import type { Answer } from '../toolchains/offer.ts';
import { describeHosts, describeLeftOut, describeMirrors, isEmpty, isSame } from './describe.ts';
import { type FoundMirrors, findMirrors, type LocalHost } from './find.ts';

/** What the person's network clients use beyond the public defaults, and what came of it. */
export interface MirrorOffer {
  /** `allowed`: now or before; `declined`: not wanted; `pending`: nobody could be asked. */
  readonly state: 'none' | 'allowed' | 'declined' | 'pending';
  /** What commands did not have before; empty if nothing is new. */
  readonly lines: readonly string[];
  readonly settings: HostNetwork;
  /** What nobody was asked about: a project decides about it, or it leads to this machine and there was no terminal. */
  readonly left_out: readonly string[];
}

const LEFT_OUT =
  'Commands do not use the registries and certificates of this machine, as you chose. To allow them: ctxd network mirrors';

/**
 * Finds the registries and certificates of the person's clients and hands them in if the person says yes. What was
 * allowed before stays until a new yes replaces it. An answer that was given beforehand takes no mirror on this machine.
 * Nothing in the project or repository at `directory` counts. `answers`: where a no is remembered.
 */
export async function offerMirrors(
  context: CliContext,
  client: Pick<DaemonClient, 'readHostNetwork' | 'setHostNetwork'>,
  directory: string,
  answer: Answer,
  answers: Answers | null = null,
): Promise<MirrorOffer> {
  const all = await lookForMirrors(context, directory);
  const before = await client.readHostNetwork({});
  const found = answer === 'yes' ? withoutLocal(all, before) : all;
  const left_out = found.foreign;
  if (isEmpty(found.wanted) && isEmpty(before)) return { state: 'none', lines: [], settings: before, left_out };
  if (isSame(found.wanted, before)) return { state: 'allowed', lines: [], settings: before, left_out };
  const lines = describeMirrors(found);
  const about = lines.map((line) => `mirror ${line}`);
  const ask = (): Promise<boolean> => isWanted(context, lines);
  const asked = (): Promise<boolean> => answers?.ask(context, { about, line: LEFT_OUT }, ask) ?? ask();
  const hasDeclined = answer === 'no' || answers?.hasDeclined(about) === true;
  if (answer === 'yes' || (answer === 'ask' && (await asked()))) {
    return { state: 'allowed', lines, settings: await client.setHostNetwork(found.wanted), left_out };
  }
  const isDeclined = hasDeclined || context.stdin.isTTY === true;
  return { state: isDeclined ? 'declined' : 'pending', lines, settings: before, left_out };
}

/** What `ctxd init` says of the offer: nothing if nothing is new, or if the person declined. */
export function mirrorLines({ state, lines, settings, left_out }: MirrorOffer): string[] {
  if (state === 'declined') return [];
  if (lines.length === 0)
    return left_out.length === 0
      ? []
      : ['Registries and certificates that commands do not use:', ...describeLeftOut(left_out)];
  // The question has listed them already, even without a terminal to answer it.
  if (state !== 'allowed')
    return ['Commands do not use the registries and certificates of this machine. To allow them: ctxd network mirrors'];
  const included = describeHosts(settings).map((line) => `  a permission for ${line.replace(':', ' includes')}`);
  return ['Commands use the registries and certificates of this machine:', ...lines, ...included];
}

async function lookForMirrors({ env }: CliContext, directory: string): Promise<FoundMirrors> {
  const { home, network: variables, projectRunner } = env;
  const project = await projectAround(directory, await realOrGiven(home));
  return findMirrors({ home, variables, projectRunner, root: '/', project }, Date.now());
}

/** The project or, if that is larger, the repository at a directory; null without one, and if HOME is a part of it. */
async function projectAround(directory: string, home: string): Promise<string | null> {
  const found = [await findRepository(directory), await findProjectRoot(directory)];
  const tops = found.flatMap((top) => (top == null || isWithin(top, home) ? [] : [top]));
  return tops.sort((a, b) => a.length - b.length)[0] ?? null;
}

/** Without the clients that use a host on this machine, unless a person allowed exactly this before. */
function withoutLocal(found: FoundMirrors, before: HostNetwork): FoundMirrors {
  const { registries, private_hosts } = found.wanted;
  const refused = registries.flatMap((setting) => {
    const hosts = hostsOfSettings([setting]).map(({ host }) => host);
    const local = found.local.find(({ host }) => hosts.includes(host));
    return local === undefined || isAllowed(before, setting, local) ? [] : [{ ...setting, ...local }];
  });
  const clients = new Set(refused.map(({ client }) => client));
  const kept = registries.filter(({ client }) => !clients.has(client));
  const hosts = new Set(hostsOfSettings(kept).map(({ host }) => host));
  return {
    ...found,
    wanted: { ...found.wanted, registries: kept, private_hosts: private_hosts.filter(({ host }) => hosts.has(host)) },
    foreign: [
      ...found.foreign,
      ...refused.map(
        ({ client, key, host, address, what }) =>
          `${client}: ${key} leads to ${host} (${address}), ${what}. Only a person at a terminal can allow it: ctxd network mirrors`,
      ),
    ],
  };
}

function isAllowed(before: HostNetwork, setting: RegistrySetting, { host, address }: LocalHost): boolean {
  const isKnown = before.registries.some(
    ({ client, key, value }) => client === setting.client && key === setting.key && value === setting.value,
  );
  return isKnown && before.private_hosts.some((one) => one.host === host && one.addresses.includes(address));
}

async function isWanted(context: CliContext, lines: readonly string[]): Promise<boolean> {
  const refusal = new ContextdError('CANCELLED', 'the settings of network clients were not handed in');
  try {
    const question =
      'Let commands of every project use them? What may be reached is decided elsewhere: `ctxd network list`.';
    await confirm(context, ['Registries and certificates of this machine:', ...lines], question, refusal);
    return true;
  } catch (thrown) {
    if (thrown === refusal) return false;
    throw thrown;
  }
}
