import type { SessionRef } from '../../call/session.ts';
import { ContextdError } from '../../core/errors.ts';
import type { OpenBranch } from './branch.ts';

/** The open branches of all sessions, and which branches each is nested in. */
export class BranchTree {
  readonly #open = new Map<string, OpenBranch>();
  /** Branch id → ancestors (and itself) that own files, outermost first. Includes branches closed since startup. */
  readonly #chains = new Map<string, readonly string[]>();

  load(branches: readonly OpenBranch[]): void {
    for (const branch of branches) this.#open.set(branch.id, branch);
    for (const id of this.#open.keys()) this.keepChain(id);
  }

  clear(): void {
    this.#open.clear();
    this.#chains.clear();
  }

  get all(): readonly OpenBranch[] {
    return [...this.#open.values()];
  }

  /** The open branches of a session, oldest first. */
  of({ project, session }: Pick<SessionRef, 'project' | 'session'>): readonly OpenBranch[] {
    return this.all.filter((one) => one.project === project && one.session === session);
  }

  get(id: string | null): OpenBranch | undefined {
    return id === null ? undefined : this.#open.get(id);
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  add(branch: OpenBranch): void {
    this.#open.set(branch.id, branch);
  }

  delete(id: string): void {
    this.#open.delete(id);
  }

  /** Call once the branch is open for good. Its chain is known even after it is closed. */
  keepChain(id: string): void {
    const own = this.ancestors(id).filter(({ files }) => files === 'own');
    this.#chains.set(id, own.map((branch) => branch.id).reverse());
  }

  /** The branch and its ancestors that own files, outermost first. Empty for the base. */
  chainOf(id: string | null): readonly string[] {
    return id === null ? [] : (this.#chains.get(id) ?? []);
  }

  /**
   * The branches whose files the session's calls see, outermost first; null: the base. Throws CONFLICT if one of them
   * is closed: a call that began earlier must not reach other files.
   */
  layersOf({ branch }: Pick<SessionRef, 'branch'>): readonly string[] | null {
    const chain = this.chainOf(branch);
    if (chain.length === 0) return null;
    const closed = chain.find((id) => !this.#open.has(id));
    if (closed === undefined) return chain;
    throw new ContextdError('CONFLICT', `branch ${closed} is closed, and so are its files`, {
      remedy: 'Leave "branch" out, or open another branch.',
    });
  }

  /** The branch whose files the session's calls change, if it and those around it are open. */
  innermostOf({ branch }: Pick<SessionRef, 'branch'>): string | undefined {
    const chain = this.chainOf(branch);
    return chain.every((id) => this.#open.has(id)) ? chain.at(-1) : undefined;
  }

  /** The branch and its ancestors, innermost first. */
  ancestors(id: string | null): OpenBranch[] {
    const branch = this.get(id);
    return branch === undefined ? [] : [branch, ...this.ancestors(branch.parent)];
  }

  /** The branch and its open descendants, innermost first. */
  family(branch: OpenBranch): OpenBranch[] {
    const children = this.all.filter(({ parent }) => parent === branch.id);
    return [...children.flatMap((child) => this.family(child)), branch];
  }
}
