import type { GitleaksFinding } from './run.ts';

/** A secret that is in a scrubbed text all the same. */
export interface MissedSecret {
  /** As gitleaks calls the rule, with where it comes from: `gitleaks/generic-api-key`. */
  rule: string;
  value: string;
}

/** A token of ours, with or without the brackets that a pattern leaves out, and what neutralised look-alikes are. */
const TOKEN = /\[?SECRET\\*(?:_\d+)?\]?/g;
/** Characters of a piece between tokens that is a secret of its own. */
const MIN_PIECE_CHARS = 8;

/**
 * What gitleaks found in scrubbed texts that is not a token: the whole secret, or the piece beside a token when it is
 * long and mixed enough to be more than a label.
 */
export function missedSecrets(findings: readonly GitleaksFinding[]): MissedSecret[] {
  const missed = new Map<string, MissedSecret>();
  for (const { rule, secret } of findings)
    for (const value of piecesOf(secret)) missed.set(value, missed.get(value) ?? { rule: `gitleaks/${rule}`, value });
  return [...missed.values()];
}

function piecesOf(secret: string): string[] {
  if (secret.search(TOKEN) === -1) return secret === '' ? [] : [secret];
  return secret
    .split(TOKEN)
    .filter((piece) => piece.length >= MIN_PIECE_CHARS && /\d/.test(piece) && /[a-z]/i.test(piece));
}
