import type { HostNetwork } from '../../call/management.ts';
import { ContextdError } from '../../core/errors.ts';
import type { DaemonClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import { confirm } from '../input.ts';
import type { Answer } from '../toolchains/offer.ts';
import { describeHosts, describeMirrors, isEmpty, isSame } from './describe.ts';
import { type FoundMirrors, findMirrors } from './find.ts';

/** What the person's network clients use beyond the public defaults, and what came of it. */
export interface MirrorOffer {
  /** `allowed`: now or before; `declined`: not wanted; `pending`: nobody could be asked. */
  readonly state: 'none' | 'allowed' | 'declined' | 'pending';
  /** What commands did not have before; empty if nothing is new. */
  readonly lines: readonly string[];
  readonly settings: HostNetwork;
}

/**
 * Finds the registries and certificates of the person's clients and hands them in if the person says yes. What was
 * allowed before stays until a new yes replaces it.
 */
export async function offerMirrors(
  context: CliContext,
  client: Pick<DaemonClient, 'readHostNetwork' | 'setHostNetwork'>,
  answer: Answer,
): Promise<MirrorOffer> {
  const found = await lookForMirrors(context);
  const before = await client.readHostNetwork({});
  if (isEmpty(found.wanted) && isEmpty(before)) return { state: 'none', lines: [], settings: before };
  if (isSame(found.wanted, before)) return { state: 'allowed', lines: [], settings: before };
  const lines = describeMirrors(found);
  if (answer === 'yes' || (answer === 'ask' && (await isWanted(context, lines)))) {
    return { state: 'allowed', lines, settings: await client.setHostNetwork(found.wanted) };
  }
  const isDeclined = answer === 'no' || context.stdin.isTTY === true;
  return { state: isDeclined ? 'declined' : 'pending', lines, settings: before };
}

/** What `ctxd init` says of the offer: nothing if nothing is new, or if the person declined. */
export function mirrorLines({ state, lines, settings }: MirrorOffer): string[] {
  if (lines.length === 0 || state === 'declined') return [];
  if (state !== 'allowed')
    return ['Registries and certificates that commands do not use (allow them: ctxd network mirrors):', ...lines];
  const included = describeHosts(settings).map((line) => `  a permission for ${line.replace(':', ' includes')}`);
  return ['Commands use the registries and certificates of this machine:', ...lines, ...included];
}

export function lookForMirrors({ env }: CliContext): Promise<FoundMirrors> {
  return findMirrors({ home: env.home, variables: env.network, root: '/' }, Date.now());
}

async function isWanted(context: CliContext, lines: readonly string[]): Promise<boolean> {
  const refusal = new ContextdError('CANCELLED', 'the settings of network clients were not handed in');
  try {
    const question = 'Let commands of every project use them? What may be reached is decided by `ctxd network`.';
    await confirm(context, ['Registries and certificates of this machine:', ...lines], question, refusal);
    return true;
  } catch (thrown) {
    if (thrown === refusal) return false;
    throw thrown;
  }
}
