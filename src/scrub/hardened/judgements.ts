import type { Span } from '../../text/offset-map.ts';
import type { Finding } from '../finding.ts';
import { isOfManifest, judge, LOGIN_RULE } from './judge.ts';

/** What `judge` asks of a rule; all other rules have the same judgement of one place. */
type Kind = 'manifest' | 'login' | 'other';

interface Judgement {
  end: number;
  kind: Kind;
  /** Null: not a credential. */
  place: Span | null;
}

/** The judgements of the places of one text. Several rules often find the same place, which is judged once. */
export class Judgements {
  readonly #text: string;
  /** By where a place starts. */
  readonly #known = new Map<number, Judgement[]>();

  constructor(text: string) {
    this.#text = text;
  }

  /** As `judge`. */
  of(finding: Finding): Finding | null {
    const { rule, start, end } = finding;
    const kind = kindOf(finding);
    const here = this.#known.get(start);
    const known = here?.find((one) => one.end === end && one.kind === kind);
    if (known !== undefined) return known.place === null ? null : { rule, ...known.place };
    const judged = judge(this.#text, finding);
    const judgement = { end, kind, place: judged === null ? null : { start: judged.start, end: judged.end } };
    if (here === undefined) this.#known.set(start, [judgement]);
    else here.push(judgement);
    return judged;
  }
}

function kindOf(finding: Finding): Kind {
  if (isOfManifest(finding)) return 'manifest';
  return finding.rule === LOGIN_RULE ? 'login' : 'other';
}
