import { parseSource } from '../../config/credential-source.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { normalName } from '../../egress/names.ts';
import { compilePolicy, decide } from '../../egress/rules.ts';
import type {
  NetworkCredentialChange__Output as NetworkCredentialChange,
  NetworkCredentialInfo__Output as NetworkCredentialInfo,
  NetworkCredentials__Output as Wire,
} from '../../protocol/generated/management.ts';
import type { Management } from '../../protocol/management-contract.ts';
import { SCHEMES, type StoredCredential } from '../../stores/credentials.ts';
import { MACHINE } from '../../stores/network-rules.ts';
import type { NetworkCredentials } from './credentials.ts';
import type { Network } from './network.ts';
import { commandRules, policyOf } from './policy.ts';

export interface NetworkCredentialManagementDeps {
  credentials: NetworkCredentials;
  network: Pick<Network, 'rulesFor'>;
  clock: Clock;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
/** Headers whose value belongs to the connection or to the message itself. */
const NOT_CREDENTIALS =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|keep-alive)$/;
/** Variables that programs and contextd itself depend on. */
const NOT_PLACEHOLDERS = /^(?:PATH|HOME|SHELL|USER|LANG|LC_.*|LD_.*|NODE_OPTIONS|BASH_ENV|ENV|IFS|TMPDIR|.*_PROXY)$/i;
const DAY_MS = 86_400_000;

/** Secrets that a person binds to hosts. Nothing that is answered holds one. */
export function createNetworkCredentialManagement(
  deps: NetworkCredentialManagementDeps,
): Pick<Management, 'setNetworkCredential' | 'removeNetworkCredentials' | 'listNetworkCredentials'> {
  const { credentials, clock } = deps;
  const answer = (root: string, changed: readonly StoredCredential[], notes: readonly string[]): Wire => ({
    credentials: credentials.list(root).map((one) => infoOf(one, credentials)),
    changed: changed.map((one) => infoOf(one, credentials)),
    notes: [...notes],
  });
  return {
    async setNetworkCredential(request) {
      const wanted = credentialOf(request, clock.now());
      await credentials.checkSource(wanted);
      credentials.check(wanted);
      if (!request.dry_run) await credentials.set(wanted);
      return answer(request.root, [wanted], notesOn(wanted, deps));
    },
    async removeNetworkCredentials({ root, host, paths }) {
      const place = placeOf(host);
      const gone = credentials
        .list(root)
        .filter((one) => one.scope === root && one.host === place.host && one.port === place.port)
        .filter((one) => paths.length === 0 || JSON.stringify(one.paths) === JSON.stringify(paths));
      if (gone.length === 0)
        throw new ContextdError(
          'NOT_FOUND',
          `no credential is bound to ${host} ${root === '' ? 'for the machine' : 'there'}`,
          {
            remedy: 'See `ctxd network credential list`.',
          },
        );
      await credentials.remove(gone);
      return answer(root, gone, []);
    },
    async listNetworkCredentials({ root }) {
      return answer(root, [], []);
    },
  };
}

function credentialOf({ root, secret, credential }: NetworkCredentialChange, nowMs: number): StoredCredential {
  if (credential === null) throw invalid('the request has no credential', 'Send one.');
  const { header, scheme, user, source, methods, paths, placeholders, refresh_ms: refreshMs, given_by } = credential;
  const known = SCHEMES.find((one) => one === scheme);
  if (known === undefined)
    throw invalid(`${JSON.stringify(scheme)} is not a scheme`, `Use one of ${SCHEMES.join(', ')}.`);
  if (!/^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/.test(header) || NOT_CREDENTIALS.test(header))
    throw invalid(`${JSON.stringify(header)} is not a header that can hold a credential`, 'Name another header.');
  const method = methods.find((one) => !METHODS.includes(one));
  if (methods.length === 0 || method !== undefined)
    throw invalid(`${JSON.stringify(method ?? '')} is not a method`, `Use some of ${METHODS.join(', ')}.`);
  const path = paths.find((one) => !/^\/[\x21-\x7e]{0,500}$/.test(one) || /\/\/|\/\.{1,2}(?:\/|$)|[?#\\]/.test(one));
  if (path !== undefined) throw invalid(`${JSON.stringify(path)} is not a path`, 'Write it as /org/repo.git/*.');
  const variable = placeholders.find((one) => !/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(one) || NOT_PLACEHOLDERS.test(one));
  if (variable !== undefined)
    throw invalid(`${JSON.stringify(variable)} cannot hold a placeholder`, 'Name the variable of the token.');
  if (/[^\x21-\x7e]|:/.test(user)) throw invalid('a user name has no blanks and no colon', 'Leave out --user.');
  parseSource(source);
  return {
    ...placeOf(credential.port === 0 ? credential.host : `${credential.host}:${credential.port}`),
    scope: root,
    header,
    scheme: known,
    user,
    secret,
    source,
    methods,
    paths,
    placeholders,
    refreshMs: Math.min(refreshMs, 366 * DAY_MS),
    readMs: nowMs,
    givenBy: given_by,
  };
}

function placeOf(text: string): { host: string; port: number } {
  const [, host = '', digits] = /^([^:]+)(?::([1-9]\d{0,4}))?$/.exec(text) ?? [];
  const { name, why } = normalName(host);
  const port = Number(digits ?? 443);
  if (name !== null && host !== '' && port <= 65_535) return { host: name, port };
  throw invalid(`${JSON.stringify(text.slice(0, 200))} is not a host: ${why ?? 'its port is wrong'}`, 'Name one host.');
}

function notesOn(credential: StoredCredential, { network }: NetworkCredentialManagementDeps): string[] {
  const { scope, host, port, methods, paths } = credential;
  const rules = compilePolicy(policyOf(commandRules(network.rulesFor(scope)), 0));
  const isReachable = decide(rules, host, port, credential.readMs).isAllowed;
  const target = port === 443 ? host : `${host}:${port}`;
  const machine = scope === MACHINE ? ' --machine' : '';
  const writes = methods.filter((one) => one !== 'GET' && one !== 'HEAD' && one !== 'OPTIONS');
  return [
    `Commands reach ${target} with this credential only: other paths and methods of it are refused.`,
    ...(writes.length > 0 && paths.length === 0
      ? [`Commands may send ${writes.join(', ')} to every path of ${host}.`]
      : []),
    ...(isReachable ? [] : [`Commands cannot reach ${target} yet: ctxd network allow ${target}${machine}`]),
  ];
}

function infoOf(one: StoredCredential, credentials: NetworkCredentials): NetworkCredentialInfo {
  const { host, port, header, scheme, user, source, givenBy } = one;
  return {
    host,
    port,
    header,
    scheme,
    user,
    source,
    given_by: givenBy,
    methods: [...one.methods],
    paths: [...one.paths],
    placeholders: [...one.placeholders],
    refresh_ms: one.refreshMs,
    read_ms: one.readMs,
    from: one.scope === MACHINE ? 'machine' : 'project',
    state: credentials.stateOf(one),
  };
}

function invalid(message: string, remedy: string): ContextdError {
  return new ContextdError('ARGS_INVALID', message, { remedy });
}
