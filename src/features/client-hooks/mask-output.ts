import type { SessionRef } from '../../call/session.ts';
import type { Json } from '../../core/json.ts';
import { isMedia } from '../../core/media.ts';
import type { MissedSecret } from '../../scrub/gitleaks/run.ts';
import { collectLeaves } from '../../scrub/leaves.ts';
import type { Scrubber, SecretUse } from '../../scrub/scrubber.ts';
import { handedIn } from '../../scrub/vault/look-alike.ts';
import type { HookEvent } from './hook-event.ts';

export interface MaskDeps {
  scrubber: Pick<Scrubber, 'scrub' | 'scrubAgain' | 'issuedIn'>;
  secondSearch: { missedIn(texts: readonly string[]): Promise<readonly MissedSecret[]> };
}

export interface MaskedOutput {
  /** In the shape of the original. */
  readonly output: Json;
  readonly secrets: readonly SecretUse[];
}

/**
 * Masks every text of the output of a client's tool; numbers, flags, images and PDFs stay. In the output of a shell and the
 * like the tokens of the session stay: they are answers of contextd, or words of the model. Elsewhere a text that looks like a
 * token is neutralised, as in the answer of safe_read. Throws SCRUB_FAILED.
 */
export async function maskOutput(
  session: SessionRef,
  { does, tool, output, input }: Pick<HookEvent, 'does' | 'tool' | 'output' | 'input'>,
  requestId: string,
  { scrubber, secondSearch }: MaskDeps,
): Promise<MaskedOutput> {
  const leaves = collectLeaves(output);
  const media = new Set([...leaves.keys()].filter((position) => isMedia(leaves[position] ?? '')));
  const handed = does === 'read' ? new Set<string>() : await knownTokens(session, leaves, scrubber);
  const call = { requestId, input: JSON.stringify(input).slice(0, INPUT_SHOWN_CHARS) };
  const first = await scrubber.scrub(session, output, { own: media, handed, tool, call });
  const missed = await secondSearch.missedIn(
    collectLeaves(first.value).map((text, position) => (media.has(position) ? '' : text)),
  );
  if (missed.length === 0) return { output: first.value, secrets: first.secrets };
  const again = await scrubber.scrubAgain(session, first.value, missed, { own: media });
  return { output: again.value, secrets: [...first.secrets, ...again.secrets] };
}

/** Characters of the input that a person is shown beside a secret. */
const INPUT_SHOWN_CHARS = 300;

/** The tokens that this session gave out, and neutralised look-alikes. */
async function knownTokens(
  session: SessionRef,
  leaves: readonly string[],
  scrubber: MaskDeps['scrubber'],
): Promise<Set<string>> {
  const text = leaves.filter((leaf) => leaf.includes('[SECRET')).join('\n');
  const issued = new Set(await scrubber.issuedIn(session, text));
  return new Set(handedIn(text).filter((one) => one.includes('\\') || issued.has(one)));
}
