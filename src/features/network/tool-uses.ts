import type { Denial } from '../../core/envelope.ts';
import type { ScopeKey } from '../../egress/messages.ts';
import { DENIALS_MAX } from '../../sandbox/contract/refused-connection.ts';

/** A call of a tool's own process, whose connections name no call. */
interface ToolUse {
  readonly scope: ScopeKey;
  readonly denied: Denial[];
  onRefused(denial: Denial): void;
}

/** The calls of tools' own processes. What is refused to a process belongs to its call if it serves only one. */
export class ToolUses {
  readonly #uses = new Set<ToolUse>();

  /** `onRefused` is called once for each host and port. It must not throw. */
  begin(
    scope: ScopeKey,
    onRefused: (denial: Denial) => void = () => {},
  ): { readonly denied: readonly Denial[]; end(): void } {
    const use: ToolUse = { scope, denied: [], onRefused };
    this.#uses.add(use);
    return { denied: use.denied, end: () => void this.#uses.delete(use) };
  }

  /** Keeps one denial for each host and port. */
  refused(scope: ScopeKey, denial: Denial): void {
    const [use, ...others] = [...this.#uses].filter((one) => one.scope === scope);
    if (use === undefined || others.length > 0 || use.denied.length >= DENIALS_MAX) return;
    if (use.denied.some(({ host, port }) => host === denial.host && port === denial.port)) return;
    use.denied.push(denial);
    use.onRefused(denial);
  }
}
