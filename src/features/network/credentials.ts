import {
  type CredentialSource,
  parseSource,
  readSource,
  type SourceEnvironment,
} from '../../config/credential-source.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { BoundCredential } from '../../egress/messages.ts';
import { Guard } from '../../scrub/vault/guard.ts';
import type { Seeds } from '../../scrub/vault/seeds.ts';
import { type CredentialStore, keyOf, type StoredCredential } from '../../stores/credentials.ts';
import { MACHINE } from '../../stores/network-rules.ts';
import type { ProjectStore } from '../../stores/projects.ts';

/** What a variable holds in commands if a client insists on a token. It is no secret, and no host accepts it. */
const PLACEHOLDER = 'contextd-placeholder';
/** The user of a token in Basic authorization: the sites that read it take any. */
const TOKEN_USER = 'x-access-token';
const RULE = 'network-credential';
/** Least milliseconds between two attempts to read a secret again. */
const READ_AGAIN_MS = 60_000;

export interface NetworkCredentialsDeps {
  store: CredentialStore;
  projects: Pick<ProjectStore, 'list'>;
  environment: SourceEnvironment;
  clock: Clock;
  logger: Logger;
}

export type CredentialState = 'ok' | 'expired' | 'rejected';

/** Secrets bound to hosts: what the proxy process adds to requests, and what is masked wherever it appears. */
export class NetworkCredentials {
  readonly #deps: NetworkCredentialsDeps;
  /** Every value that was ever bound, by scope: an answer may still hold one that was replaced. */
  readonly #guards = new Map<string, Guard>();
  readonly #rejected = new Set<string>();
  /** Those whose expiry was announced. */
  readonly #expired = new Set<string>();
  readonly #readAt = new Map<string, number>();
  #onChange: (scope: string) => void = () => {};

  constructor(deps: NetworkCredentialsDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    await this.#deps.store.start();
    for (const credential of this.#deps.store.list()) this.#mask(credential);
  }

  /** Called with the scope whose credentials have changed. */
  onChange(listener: (scope: string) => void): void {
    this.#onChange = listener;
  }

  /** Those of the project, then those of the machine that it does not replace; those for every path last. */
  list(project: string): StoredCredential[] {
    const all = this.#deps.store.list();
    const own = all.filter(({ scope }) => project !== MACHINE && scope === project);
    const taken = new Set(own.map((one) => keyOf({ ...one, scope: '' })));
    const ofMachine = all.filter((one) => one.scope === MACHINE && !taken.has(keyOf(one)));
    return [own, ofMachine].flatMap((some) => some.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)));
  }

  stateOf(credential: StoredCredential): CredentialState {
    if (this.#isExpired(credential)) return 'expired';
    return this.#rejected.has(keyOf(credential)) ? 'rejected' : 'ok';
  }

  /** What the commands of a project use. One that has expired has no value: its host is refused, with the reason. */
  boundFor(project: string): BoundCredential[] {
    return this.list(project).map((one) => {
      const { host, port, header, methods, paths } = one;
      const value = this.#isExpired(one) ? '' : headerValue(one);
      return { id: keyOf(one), host, port, header, value, methods, paths };
    });
  }

  placeholdersFor(project: string): Record<string, string> {
    const names = this.list(project).flatMap(({ placeholders }) => placeholders);
    return Object.fromEntries(names.map((name) => [name, PLACEHOLDER]));
  }

  /** Throws ARGS_INVALID for a secret that could not be masked. */
  check(credential: StoredCredential): void {
    const guard = new Guard();
    for (const value of maskedValues(credential)) guard.add(value, RULE);
    const isMasked = guard.scan(` ${credential.secret} `).length > 0;
    if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(credential.secret) && isMasked) return;
    throw new ContextdError(
      'ARGS_INVALID',
      'the secret is too short, too simple, or has characters no header can hold',
      {
        remedy: 'Bind a token: one line, at least eight characters, not a word or a number.',
      },
    );
  }

  /** Throws ARGS_INVALID for a file that commands can replace. */
  async checkSource({ source }: Pick<StoredCredential, 'source'>): Promise<void> {
    const roots = (await this.#deps.projects.list()).map(({ root }) => root);
    const inside = roots.find((root) => source.startsWith(`file:${root}/`));
    if (inside === undefined) return;
    throw new ContextdError('ARGS_INVALID', `the file of the secret is in ${inside}, where commands can replace it`, {
      remedy: 'Keep it elsewhere.',
    });
  }

  async set(credential: StoredCredential): Promise<void> {
    this.check(credential);
    // Masked before anything can use it.
    this.#mask(credential);
    await this.#deps.store.set(credential);
    this.#rejected.delete(keyOf(credential));
    this.#expired.delete(keyOf(credential));
    this.#onChange(credential.scope);
  }

  async remove(credentials: readonly StoredCredential[]): Promise<void> {
    await this.#deps.store.remove(credentials);
    for (const scope of new Set(credentials.map((one) => one.scope))) this.#onChange(scope);
  }

  /** Forgets what was bound for a project. */
  async forget(project: string): Promise<void> {
    await this.remove(this.#deps.store.list().filter(({ scope }) => scope === project));
  }

  /** The host does not accept the value: it is read again, from where it came. */
  async rejected(id: string): Promise<void> {
    const credential = this.#deps.store.list().find((one) => keyOf(one) === id);
    if (credential === undefined) return;
    this.#rejected.add(id);
    await this.#readAgain(credential);
  }

  /** Reads the secrets again that are due. */
  async refresh(): Promise<void> {
    for (const one of this.#deps.store.list()) {
      if (!this.#isExpired(one)) continue;
      await this.#readAgain(one);
      const key = keyOf(one);
      if (!this.#deps.store.list().includes(one) || this.#expired.has(key)) continue;
      this.#expired.add(key);
      this.#onChange(one.scope);
    }
  }

  /** The seeds, and every value that is bound for the project of a session. */
  withSeeds(seeds: Seeds | null): Seeds {
    const guardsOf = (project: string): Guard[] => [MACHINE, project].flatMap((scope) => this.#guards.get(scope) ?? []);
    return {
      start: async () => seeds?.start(),
      guardsFor: async (session) => [...((await seeds?.guardsFor(session)) ?? []), ...guardsOf(session.project)],
      guards: () => [...(seeds?.guards() ?? []), ...this.#guards.values()],
      skipped: () => seeds?.skipped() ?? [],
    };
  }

  #isExpired({ refreshMs, readMs }: StoredCredential): boolean {
    return refreshMs > 0 && readMs + refreshMs <= this.#deps.clock.now();
  }

  #mask(credential: StoredCredential): void {
    const guard = this.#guards.get(credential.scope) ?? new Guard();
    for (const value of maskedValues(credential)) guard.add(value, RULE);
    this.#guards.set(credential.scope, guard);
  }

  async #readAgain(credential: StoredCredential): Promise<void> {
    const { store, environment, clock, logger } = this.#deps;
    const key = keyOf(credential);
    const now = clock.monotonic();
    const source: CredentialSource = parseSource(credential.source);
    // A variable is of the shell in which ctxd ran.
    if (source.kind === 'env' || now - (this.#readAt.get(key) ?? Number.NEGATIVE_INFINITY) < READ_AGAIN_MS) return;
    this.#readAt.set(key, now);
    try {
      // The project may be newer than the credential.
      await this.checkSource(credential);
      const secret = await readSource(source, credential.host, environment);
      // Removed or replaced while it was read.
      if (!store.list().includes(credential)) return;
      const isNew = secret !== credential.secret;
      if (isNew || this.#isExpired(credential)) await this.set({ ...credential, secret, readMs: clock.now() });
    } catch (cause) {
      const why = cause instanceof ContextdError ? cause.message : 'no reason given';
      logger.warn('network.credential_not_read', { host: credential.host, why });
    }
  }
}

function orderOf(credential: StoredCredential): string {
  return `${credential.paths.length === 0 ? 1 : 0} ${keyOf(credential)}`;
}

/** The whole value of the header. */
export function headerValue({ scheme, user, secret }: Pick<StoredCredential, 'scheme' | 'user' | 'secret'>): string {
  if (scheme === 'plain') return secret;
  if (scheme === 'basic') return `Basic ${encoded(user, secret)}`;
  return `${scheme === 'bearer' ? 'Bearer' : 'token'} ${secret}`;
}

function encoded(user: string, secret: string): string {
  const isPair = user === '' && secret.includes(':');
  return Buffer.from(isPair ? secret : `${user || TOKEN_USER}:${secret}`).toString('base64');
}

/** What must not be shown: the secret, its password if it is a pair, and what the host gets. */
function maskedValues({ scheme, user, secret }: StoredCredential): string[] {
  const pair = scheme === 'basic' && user === '' && secret.includes(':') ? [secret.slice(secret.indexOf(':') + 1)] : [];
  return [secret, ...pair, ...(scheme === 'basic' ? [encoded(user, secret)] : [])];
}
