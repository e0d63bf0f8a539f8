import { judge } from '../hardened/judge.ts';
import type { GitleaksFinding } from './run.ts';

/** Whether a finding of the real gitleaks is a secret in the texts in which it was found. */
export type IsSecret = (finding: Pick<GitleaksFinding, 'rule' | 'secret'>, texts: readonly string[]) => boolean;

/** Places of one secret that are looked at; a text with more of them holds something that is not ordinary. */
const MAX_PLACES = 100;

/**
 * Judges what gitleaks finds as what our own engine finds with the same rules: a value that its rule knows only by its
 * surroundings is no secret if the text says so at each of its places. `isStrong`: whether a rule demands a value that is a
 * token by itself; it is believed.
 */
export function judgedBy(isStrong: (rule: string) => boolean): IsSecret {
  return ({ rule, secret }, texts) => {
    if (isStrong(rule) || secret === '') return true;
    let places = 0;
    for (const text of texts)
      for (let start = text.indexOf(secret); start !== -1; start = text.indexOf(secret, start + secret.length)) {
        places += 1;
        if (places > MAX_PLACES || judge(text, { rule, start, end: start + secret.length }) !== null) return true;
      }
    // It stands there in an encoded form.
    return places === 0;
  };
}
