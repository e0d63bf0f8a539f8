import type { VerifiedCall } from '../call.ts';
import type { ScrubbedOutcome } from '../scrub.ts';
import type { StoredOutput } from '../store.ts';
import { type ShownOutput, type ViewDeps, viewOutput } from './view-output.ts';

/** A digest is JSON, so it cannot be cut. It is rebuilt at these scales until it fits. */
const DIGEST_SCALES = [0.6, 0.35, 0.2];

/** Makes the view of a call. `print` returns the answer that shows all of it, or null if it does not fit. */
export async function fitView<Output>(
  call: VerifiedCall,
  outcome: ScrubbedOutcome,
  stored: StoredOutput,
  deps: ViewDeps,
  print: (shown: ShownOutput) => Output | null,
): Promise<{ shown: ShownOutput; whole: Output | null }> {
  let shown = await viewOutput(call, outcome, stored, deps);
  let whole = print(shown);
  for (const scale of call.options.view.name === 'digest' ? DIGEST_SCALES : []) {
    if (whole !== null) break;
    shown = await viewOutput(call, outcome, stored, deps, scale);
    whole = print(shown);
  }
  return { shown, whole };
}
