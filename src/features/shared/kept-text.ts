import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import { newRequestId } from '../../core/ids.ts';
import type { Json } from '../../core/json.ts';
import { collectLeaves, replaceLeaves } from '../../scrub/leaves.ts';
import { replaceSpans } from '../../scrub/mask-leaf.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { tokenOf, UNNUMBERED } from '../../scrub/vault/look-alike.ts';

/**
 * Masks a value that outlives its session. A secret becomes `[SECRET:rule]`, and so does a token of the session: a number
 * would name another secret in another session. `issuer`: the session whose tokens are in it, if it is another. Throws
 * SCRUB_FAILED.
 */
export async function maskForKeeping<T extends Json>(
  session: SessionRef,
  value: T,
  scrubber: Pick<Scrubber, 'scrub' | 'secrets'>,
  issuer: SessionRef = session,
): Promise<T> {
  const rules = new Map(scrubber.secrets(issuer).map(({ token, rule }) => [token, rule]));
  const named = collectLeaves(value).map((text) => nameTokens(text, rules));
  const withoutTokens = replaceLeaves(value, named);
  const { spans } = await scrubber.scrub(session, withoutTokens);
  const masked = collectLeaves(withoutTokens).map((text, position) => {
    const found = spans[position] ?? [];
    return replaceSpans(text, found, { tokenAt: (index) => nameOf(found[index]?.rule) });
  });
  // The same shape with other strings in it, which the type system cannot see.
  return replaceLeaves(withoutTokens, masked) as T;
}

/** As `maskForKeeping`, in a session of these texts only, of which nothing is left. `issuer`: as there, none by default. */
export async function maskAlone<T extends Json>(
  project: string,
  value: T,
  { scrubber, clock }: { scrubber: Pick<Scrubber, 'scrub' | 'secrets' | 'forget'>; clock: Clock },
  issuer?: SessionRef,
): Promise<T> {
  const session = { project, session: newRequestId(clock.now()), branch: null };
  try {
    return await maskForKeeping(session, value, scrubber, issuer);
  } finally {
    scrubber.forget(session);
  }
}

/**
 * Masks what an agent says about its own session. A token that the session gave out stays one, because the agent may use
 * it: `scrub` alone would take it for a look-alike. Throws SCRUB_FAILED.
 */
export async function maskOwnWords<T extends Json>(
  session: SessionRef,
  value: T,
  scrubber: Pick<Scrubber, 'scrub' | 'issuedIn'>,
): Promise<T> {
  const issued = new Set(await scrubber.issuedIn(session, collectLeaves(value).join('\n')));
  const { value: masked } = await scrubber.scrub(session, value);
  const texts = collectLeaves(masked).map((text) =>
    text.replace(ESCAPED_TOKEN, (escaped: string, digits: string) =>
      issued.has(tokenOf(Number(digits))) ? tokenOf(Number(digits)) : escaped,
    ),
  );
  // The same shape with other strings in it, which the type system cannot see.
  return replaceLeaves(masked, texts) as T;
}

/** As `scrub` writes a text that was `[SECRET_1]`. */
const ESCAPED_TOKEN = /\[SECRET\\_(\d+)\]/g;
const TOKEN = /\[SECRET\\*_\d+\]/g;

function nameTokens(text: string, rules: ReadonlyMap<string, string>): string {
  return text.includes('[SECRET') ? text.replace(TOKEN, (token) => nameOf(rules.get(token))) : text;
}

function nameOf(rule: string | undefined): string {
  return rule === undefined ? UNNUMBERED : `[SECRET:${rule}]`;
}
