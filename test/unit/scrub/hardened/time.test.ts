import { describe, expect, it } from 'vitest';
import { costOf } from '../../../../scripts/pattern-trial.ts';
import { seededRandom } from '../../../helpers/secret-samples.ts';
import { engine } from '../../../helpers/test-rules.ts';

const CHARS = 65_536;
/**
 * Microseconds of this thread for each character. An ordinary text takes less than one; one for which a pattern reads the
 * rest of the text from each of many places takes more than five.
 */
const MAX_COST = 5;

/** What a value follows, and what a value, a path and a text in another text consist of. */
const LEADS = ['', 'password = "', 'API_TOKEN=', 'token: ', '--password ', 'https://u:', '"kind', 'htpasswd -b '];
const PIECES = [
  ...Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)),
  ...['\n', '\t', '\r', '\0', '\u00e9', '://', '://u:', '\\"', '\t-', ' --', ': ', '=" ', 'a b', 'Ab', 'aB', '12'],
  ...['T/', 'yaSecretb', 'ticket', 'password', 'token=', 'x.y', '0x', '%41', '&#65;', '<b>', '-----', '["a",'],
];

describe('SEC-1.1 the time of a scan grows with the text alone', () => {
  it.each(PIECES.map((piece) => [piece]))('for what is made of %j', (piece) => {
    const random = seededRandom(piece.length + piece.charCodeAt(0));
    const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? '';
    for (const unit of [piece, piece + pick(PIECES), pick(LEADS) + piece]) {
      for (const lead of ['', pick(LEADS)]) {
        const text = `${lead}${unit.repeat(Math.ceil(CHARS / unit.length)).slice(0, CHARS)}!\n`;
        const cost = costOf(() => void engine.scan(text), text.length, MAX_COST);
        expect(cost, JSON.stringify(text.slice(0, 80))).toBeLessThan(MAX_COST);
      }
    }
  });

  it.each(LEADS)('and not with the ways to divide a value, behind %j', (lead) => {
    for (const mark of '/._-:,@') {
      const text = `${lead}${`T${mark}`.repeat(40)}!1x\n`;
      // Each further pair doubled the time: forty would take hours.
      expect(
        costOf(() => void engine.scan(text), CHARS, MAX_COST),
        text,
      ).toBeLessThan(MAX_COST);
    }
  });
});
