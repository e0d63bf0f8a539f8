import type { Logger } from '../../core/log.ts';
import type { RunRef } from '../../sandbox/contract/command.ts';
import type { NetworkRules, StoredRule } from '../../stores/network-rules.ts';

/** A command that runs. */
export interface RunningCommand {
  readonly project: string;
  readonly run: RunRef | undefined;
}

/** The connection that used a permission. */
interface Use {
  readonly connection: number;
  /** The call it belongs to; null if that is not known. */
  readonly run: RunRef | null;
  /** The commands that run in its project. */
  readonly inside: readonly RunningCommand[];
}

/** A permission that was used, with all rules of its group, and what may go on using it. */
interface Claim {
  readonly rules: readonly StoredRule[];
  /** Commands, or a connection if no command runs. */
  readonly holders: Set<RunningCommand | number>;
  /** True: not known which of the holders used it, so it is over when the first of them ends. */
  readonly isGuess: boolean;
}

/** The `--once` permissions in use: the call that used one keeps it to its end. */
export class OncePermissions {
  readonly #rules: Pick<NetworkRules, 'list' | 'use'>;
  readonly #logger: Logger;
  #claims: Claim[] = [];

  constructor(rules: Pick<NetworkRules, 'list' | 'use'>, logger: Logger) {
    this.#rules = rules;
    this.#logger = logger;
  }

  inUse(): StoredRule[] {
    return this.#claims.flatMap(({ rules }) => rules);
  }

  /** Does nothing if the rule is in use. The first use takes it out of the database, so that no restart brings it back. */
  use(rule: StoredRule, { connection, run, inside }: Use): void {
    if (this.#claims.some(({ rules }) => rules.includes(rule))) return;
    const rules = [rule, ...this.#rules.list(rule.scope).filter((other) => isOfSameGrant(rule, other))];
    const users = run === null ? inside : inside.filter((one) => one.run?.requestId === run.requestId);
    const holders = new Set<RunningCommand | number>(users.length > 0 ? users : [connection]);
    this.#claims.push({ rules, holders, isGuess: run === null });
    this.#rules.use(rules).catch((cause) => {
      this.#logger.error('network.once_failed', { pattern: rule.pattern }, cause);
    });
  }

  /** A command or connection has ended. Returns the scopes in which permissions are over. */
  letGo(holder: RunningCommand | number): string[] {
    return this.#end(
      this.#claims.filter(({ holders, isGuess }) => holders.delete(holder) && (isGuess || holders.size === 0)),
    );
  }

  /** A new proxy process has none of the connections of the one before. Returns the scopes as `letGo` does. */
  dropConnections(): string[] {
    return this.#end(this.#claims.filter(({ holders }) => [...holders].some((holder) => typeof holder === 'number')));
  }

  /** Takes away the rules that a person has removed. */
  drop(isGone: (rule: StoredRule) => boolean): void {
    const claims = this.#claims.map((claim) => ({ ...claim, rules: claim.rules.filter((rule) => !isGone(rule)) }));
    this.#claims = claims.filter(({ rules }) => rules.length > 0);
  }

  #end(over: readonly Claim[]): string[] {
    this.#claims = this.#claims.filter((claim) => !over.includes(claim));
    return [...new Set(over.flatMap(({ rules }) => rules.map(({ scope }) => scope)))];
  }
}

/** A group that is allowed for one call is one permission, with the mirrors that it includes. */
function isOfSameGrant(rule: StoredRule, other: StoredRule): boolean {
  return other !== rule && other.once && other.group !== null && other.group === rule.group;
}
