import type { Denial } from '../../core/envelope.ts';
import type { CommandResult, DenialSource } from '../sandbox.ts';
import type { SandboxPolicy } from '../sandbox-policy.ts';

/** Denials that one command may report. */
export const DENIALS_MAX = 10;

/** Runs a command and adds to its result what the sources know about it. What was read from its output comes last. */
export async function withDenialFacts<R extends Pick<CommandResult, 'denied'>>(
  sources: readonly DenialSource[],
  policy: SandboxPolicy,
  run: () => Promise<R>,
): Promise<R> {
  const ends = sources.map((source) => source.begin(policy));
  const [outcome] = await Promise.allSettled([run()]);
  const facts = ends.map((end) => end());
  if (outcome.status === 'rejected') throw outcome.reason;
  return { ...outcome.value, denied: mergeDenials([...facts, outcome.value.denied]) };
}

/** Of two sources that report the same refusal, the first one counts. */
function mergeDenials(sources: readonly (readonly Denial[])[]): Denial[] {
  const merged: Denial[] = [];
  for (const denials of sources) {
    const known = new Set(merged.map(subjectOf));
    merged.push(...denials.filter((denial) => !known.has(subjectOf(denial))));
  }
  return merged.slice(0, DENIALS_MAX);
}

function subjectOf({ kind, path, host }: Denial): string {
  return JSON.stringify([kind, path ?? null, host ?? null]);
}
