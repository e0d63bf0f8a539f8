import { describe, expect, it } from 'vitest';
import { parseGo } from '#src/scrub/exact/go-syntax.js';
import { CREDENTIAL_FILES, readDotenv } from '#src/scrub/vault/seeds/credential-files.js';
import { type NamedValue, seedValues } from '#src/scrub/vault/seeds/seed-value.js';
import { attackStrings, seededRandom } from '../../../../scripts/attack-strings.ts';
import { costOf } from '../../../../scripts/pattern-trial.ts';

type Read = (text: string) => NamedValue[];

/** Grammars with loops that overlap: texts made from them are costly for a reader that tries the loops in turn. */
const ASSIGNMENT = String.raw`^[ \t-]*"?([^\s=:#;"][^\s="]*?)"?[ \t]*[=:][ \t]*("(.*)"[ \t]*#.*|.*)$`;
const DOTENV = String.raw`^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*[=:][ \t]*("(?:[^"\\]|\\.)*"|'[^']*'|.* #.*)`;
const NPMRC = String.raw`^[ \t]*([^\s=;#][^=\r\n]*?)[ \t]*=[ \t]*(.*)$`;
const NETRC = String.raw`(?:^|\s)(password|account)\s+("(?:[^"\\]|\\.)*"|\S+)`;
const PGPASS = String.raw`h:5432:(\\\\|\\:|[^:\\])*:u:(\\\\|\\:|.)*`;
const URL = String.raw`^A=[a-z][a-z0-9+.-]*://(?:(.*)@)?[^@\s]*[A-Za-z]:[\\/][\w.\\/@+ -]*([a-z0-9-]{1,40}\.)+[a-z]{2,12}$`;

const readerOf = (path: string): Read => CREDENTIAL_FILES.find((file) => file.path === path)?.read ?? expect.fail(path);
const READERS: [string, string, Read][] = [
  ['.env', ASSIGNMENT, readDotenv],
  ['.env', DOTENV, readDotenv],
  ['.env', URL, readDotenv],
  ['.kube/config', ASSIGNMENT, readerOf('.kube/config')],
  ['.npmrc', NPMRC, readerOf('.npmrc')],
  ['.netrc', NETRC, readerOf('.netrc')],
  ['.pgpass', PGPASS, readerOf('.pgpass')],
  ['.git-credentials', URL, readerOf('.git-credentials')],
];

const CHARS = 32_768;
/** Microseconds per character. A reader takes less than one; one whose time grows with the square takes more than fifteen. */
const MAX_COST = 8;

describe('the time to read a credentials file grows with its length alone', () => {
  it.each(READERS)('%s: %s', (_path, grammar, read) => {
    const random = seededRandom(7);
    for (const made of attackStrings(parseGo(grammar), CHARS, random)) {
      for (const text of new Set([made, made.replaceAll(/[\r\n]/g, '\u2028')])) {
        const cost = () => costOf(() => seedValues(read(text), true), text.length, MAX_COST);
        // A busy machine may stop one try.
        const isSlow = [1, 2, 3].every(() => cost() > MAX_COST);
        expect(isSlow, JSON.stringify([text.slice(0, 80), text.slice(-40)])).toBe(false);
      }
    }
  });
});
