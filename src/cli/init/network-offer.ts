import { userInfo } from 'node:os';
import { ContextdError } from '../../core/errors.ts';
import type {
  NetworkChange__Output as NetworkChange,
  NetworkRuleInfo__Output as NetworkRuleInfo,
} from '../../protocol/generated/management.ts';
import type { DaemonClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import { confirm } from '../input.ts';
import type { Answer } from '../toolchains/offer.ts';
import type { Answers } from './answers.ts';
import { findNetworkNeeds } from './network-needs.ts';

/** One name that a project uses, and the files that say so. */
export interface OfferedName {
  readonly name: string;
  readonly files: readonly string[];
}

/** What the project's lock files and remotes name and nobody has decided about, and what came of it. */
export interface NetworkOffer {
  /** `allowed`: by the answer of this run; `pending`: nobody could be asked; `none`: nothing was to decide. */
  readonly state: 'none' | 'allowed' | 'declined' | 'pending';
  readonly groups: readonly OfferedName[];
  /** Hosts that no group has. Only an answer to their own question allows them, never `--yes`. */
  readonly hosts: readonly OfferedName[];
  /** Hosts of those that the person allowed. */
  readonly allowedHosts: readonly string[];
}

/** Proposes what the project's package managers and remotes need. A repository can only propose. */
export async function offerNetwork(
  context: CliContext,
  client: Pick<DaemonClient, 'listNetwork' | 'listNetworkGroups' | 'changeNetwork'>,
  root: string,
  answer: Answer,
  answers: Answers | null = null,
): Promise<NetworkOffer> {
  const { groups: known } = await client.listNetworkGroups({});
  const { rules, is_on: isOn } = await client.listNetwork({ root });
  const needs = await findNetworkNeeds(root, known);
  const isMissing = (pattern: string): boolean => !rules.some((rule) => decides(rule, pattern));
  // What was declined before is named in one line and not asked about again.
  const declined: string[] = [];
  const isOpen = ({ name }: OfferedName): boolean => {
    if (answer !== 'ask' || answers?.hasDeclined([`network ${name}`]) !== true) return true;
    declined.push(name);
    return false;
  };
  const groups = [...needs.groups]
    .map(([name, files]) => ({ name, files }))
    .filter(({ name }) => known.find((group) => group.name === name)?.patterns.some(isMissing))
    .filter(isOpen);
  const hosts = [...needs.hosts]
    .map(([name, files]) => ({ name, files }))
    .filter(({ name }) => isMissing(name))
    .filter(isOpen);
  if (isOn && declined.length > 0) answers?.note(leftOut(declined));
  const offer = { groups, hosts, allowedHosts: [] };
  if (!isOn || groups.length + hosts.length === 0) return { ...offer, groups: [], hosts: [], state: 'none' };
  if (answer === 'no') return { ...offer, state: 'declined' };
  const ask = async (question: typeof GROUPS, names: readonly OfferedName[]): Promise<boolean> => {
    if (names.length === 0) return false;
    const isAgreed = await isWanted(context, question, names);
    if (!isAgreed && context.stdin.isTTY === true) await answers?.decline(names.map(({ name }) => `network ${name}`));
    return isAgreed;
  };
  const isAgreed = answer === 'yes' || (await ask(GROUPS, groups));
  if (isAgreed && groups.length > 0) await allow(client, root, groups);
  const isAsked = answer === 'ask' && context.stdin.isTTY === true;
  const areHostsWanted = isAsked && (await ask(HOSTS, hosts));
  if (areHostsWanted) await allow(client, root, hosts);
  const allowedHosts = areHostsWanted ? hosts.map(({ name }) => name) : [];
  const isDone = (isAgreed && groups.length > 0) || areHostsWanted;
  return { ...offer, allowedHosts, state: isDone ? 'allowed' : isAsked ? 'declined' : 'pending' };
}

function leftOut(names: readonly string[]): string {
  return `Commands cannot reach ${names.join(', ')}, as you chose. To allow: ctxd network allow ${names.join(' ')}`;
}

/** What `ctxd init` prints about an offer. */
export function networkLines({ state, groups, hosts, allowedHosts }: NetworkOffer): string[] {
  const open = hosts.filter(({ name }) => !allowedHosts.includes(name));
  const isAllowed = state === 'allowed';
  const names = groups.map(({ name }) => name).join(' ');
  return [
    ...(groups.length === 0
      ? []
      : [isAllowed ? 'Commands can reach:' : `Commands cannot reach (allow them: ctxd network allow ${names}):`]),
    ...groups.map(describe),
    ...(allowedHosts.length === 0 ? [] : [`Commands can also reach ${allowedHosts.join(', ')}.`]),
    ...(open.length === 0
      ? []
      : ['The project names other hosts. Allow only those that you know: ctxd network allow HOST']),
    ...open.map(describe),
  ];
}

const GROUPS = {
  heading: 'The files of this project name what these groups of hosts serve (ctxd network groups):',
  question: 'Let its commands reach them? Everything else stays refused.',
};
const HOSTS = {
  heading: 'They also name hosts that are in no group. Anyone who can write to the repository can put a host there:',
  question: 'Let its commands reach these hosts too?',
};

async function isWanted(
  context: CliContext,
  { heading, question }: typeof GROUPS,
  names: readonly OfferedName[],
): Promise<boolean> {
  const refusal = new ContextdError('CANCELLED', 'the network was not changed');
  try {
    await confirm(context, [heading, ...names.map(describe)], question, refusal);
    return true;
  } catch (thrown) {
    if (thrown === refusal) return false;
    throw thrown;
  }
}

async function allow(
  client: Pick<DaemonClient, 'changeNetwork'>,
  root: string,
  names: readonly OfferedName[],
): Promise<void> {
  const change: NetworkChange = {
    root,
    action: 'allow',
    targets: names.map(({ name }) => name),
    by: userInfo().username,
    once: false,
    for_ms: 0,
    private_addresses: [],
    dry_run: false,
  };
  await client.changeNetwork(change);
}

const FILES_SHOWN = 3;

function describe({ name, files }: OfferedName): string {
  const more = files.length > FILES_SHOWN ? ', …' : '';
  return `  ${name} (${files.slice(0, FILES_SHOWN).map(shownFile).join(', ')}${more})`;
}

const FILE_MAX_CHARS = 100;

/** The repository chose the name: an odd one is quoted and a long one cut, so that it does not look like other words. */
function shownFile(path: string): string {
  const short = path.length > FILE_MAX_CHARS ? `${path.slice(0, FILE_MAX_CHARS)}…` : path;
  return /^[\w./@+-]+…?$/.test(short) ? short : JSON.stringify(short);
}

/** Whether somebody decided about exactly this pattern for good. */
function decides({ pattern, once, expires_ms }: NetworkRuleInfo, wanted: string): boolean {
  return pattern === wanted && !once && expires_ms === 0;
}
