import type { Logger } from '../../core/log.ts';
import type { NetworkScope } from '../../egress/messages.ts';
import type { LoopbackNamespace } from './network.ts';

/** The use of a namespace by one sandbox. Call `release` when the sandbox is dead, once. */
export interface LoopbackLease {
  readonly namespace: LoopbackNamespace;
  release(): void;
}

interface Entry {
  readonly made: Promise<LoopbackNamespace>;
  namespace: LoopbackNamespace | null;
  users: number;
  idleTimer: NodeJS.Timeout | undefined;
}

export interface LoopbacksDeps {
  make(scope: NetworkScope): Promise<LoopbackNamespace>;
  close(namespace: LoopbackNamespace): void;
  /** Milliseconds without a sandbox inside after which a namespace is given back. */
  idleMs: number;
  logger: Logger;
}

/** The network namespaces of all projects, by key: made for the first sandbox of a key, given back when idle. */
export class Loopbacks {
  readonly #deps: LoopbacksDeps;
  readonly #entries = new Map<string, Entry>();

  constructor(deps: LoopbacksDeps) {
    this.#deps = deps;
  }

  /** Null if no namespace can be made; the sandbox then gets one of its own. */
  async lease(key: string, scope: NetworkScope): Promise<LoopbackLease | null> {
    const entry = this.#entries.get(key) ?? this.#open(key, scope);
    entry.users += 1;
    clearTimeout(entry.idleTimer);
    try {
      const namespace = await entry.made;
      if (this.#entries.get(key) !== entry) return null;
      return { namespace, release: () => this.#release(key, entry) };
    } catch (cause) {
      this.#deps.logger.warn('sandbox.loopback_not_shared', { cause: String(cause) });
      return null;
    }
  }

  /** The name of the namespace that a sandbox would join now; '' if a new one would be made. */
  nameOf(key: string): string {
    return this.#entries.get(key)?.namespace?.name ?? '';
  }

  /** Gives every namespace back. A process that is still inside keeps its own alive. */
  close(): void {
    for (const [key, entry] of this.#entries) this.#giveBack(key, entry);
  }

  #open(key: string, scope: NetworkScope): Entry {
    const entry: Entry = { made: this.#deps.make(scope), namespace: null, users: 0, idleTimer: undefined };
    this.#entries.set(key, entry);
    entry.made.then(
      (namespace) => {
        if (this.#entries.get(key) === entry) entry.namespace = namespace;
        else this.#deps.close(namespace);
      },
      () => this.#entries.delete(key),
    );
    return entry;
  }

  #release(key: string, entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0 || this.#entries.get(key) !== entry) return;
    entry.idleTimer = setTimeout(() => this.#giveBack(key, entry), this.#deps.idleMs).unref();
  }

  #giveBack(key: string, entry: Entry): void {
    clearTimeout(entry.idleTimer);
    this.#entries.delete(key);
    if (entry.namespace !== null) this.#deps.close(entry.namespace);
  }
}
