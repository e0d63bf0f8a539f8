import { Guard } from '../../scrub/vault/guard.ts';
import type { Seeds } from '../../scrub/vault/seeds.ts';
import type { UpstreamServerStore } from '../../stores/upstream-servers.ts';

const RULE = 'upstream-variable';

/** The values of the variables of MCP servers: secrets of their project from before their first use. */
export class VariableMasks {
  /** Every value that a server ever had, by project: an answer may still hold one that was replaced. */
  readonly #guards = new Map<string, Guard>();
  readonly #store: Pick<UpstreamServerStore, 'all'>;

  constructor(store: Pick<UpstreamServerStore, 'all'>) {
    this.#store = store;
  }

  start(): void {
    for (const { project, variables } of this.#store.all()) this.add(project, variables);
  }

  /** Short and simple values are no secrets, and stay visible. */
  add(project: string, variables: Readonly<Record<string, string>>): void {
    const guard = this.#guards.get(project) ?? new Guard();
    for (const value of Object.values(variables)) guard.add(value, RULE);
    if (guard.size > 0) this.#guards.set(project, guard);
  }

  /** The seeds, and the values of the project of a session. */
  withSeeds(seeds: Seeds | null): Seeds {
    return {
      start: async () => seeds?.start(),
      guardsFor: async (session) => [
        ...((await seeds?.guardsFor(session)) ?? []),
        ...(this.#guards.has(session.project) ? [this.#guards.get(session.project) ?? new Guard()] : []),
      ],
      guards: () => [...(seeds?.guards() ?? []), ...this.#guards.values()],
      skipped: () => seeds?.skipped() ?? [],
    };
  }
}
