import type { SessionRef } from '../../call/session.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { UNNUMBERED } from '../../scrub/vault/look-alike.ts';

/** Names that a person can paste into a shell as they are. */
const PLAIN_NAME = /^[A-Za-z0-9][\w.-]*$/;

/**
 * One sentence for each mask in the text of a question. An agent can get a part of a command masked by printing it as a
 * password first, so the person must know that the mask hides something that runs, and how to see it.
 */
export function hiddenIn(session: SessionRef, text: string, scrubber: Pick<Scrubber, 'tokensIn' | 'reveal'>): string[] {
  const named = scrubber.tokensIn(session, text).map((token) => sentenceFor(session, token, scrubber));
  const unnumbered = `${UNNUMBERED} stands for a hidden value that is part of what runs and cannot be shown.`;
  return text.includes(UNNUMBERED) ? [...named, unnumbered] : named;
}

function sentenceFor(session: SessionRef, token: string, scrubber: Pick<Scrubber, 'reveal'>): string {
  const chars = scrubber.reveal(session, token).value.length;
  const number = token.replaceAll(/\D/g, '');
  const where = PLAIN_NAME.test(session.session) ? ` --session ${session.session}` : '';
  const size = `a hidden value of ${chars} ${chars === 1 ? 'character' : 'characters'}`;
  return `${token} stands for ${size} that is part of what runs; \`ctxd scrub reveal ${number}${where}\` in the project shows it.`;
}
