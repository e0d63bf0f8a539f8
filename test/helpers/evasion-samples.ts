import { wrap } from './evasion-forms.ts';
import { generate, seededRandom } from './sample-patterns.ts';

/** Name, secret or secrets, text, and the pieces that must be gone if they differ from the secret. */
export type Row = [name: string, secret: string | string[], text: string, pieces?: string[]];

export interface Samples {
  pat: string;
  aws: string;
  generic: string;
  password: string;
  word: string;
  key: string;
  make(pattern: string): string;
}

export function makeSamples(seed: number): Samples {
  const random = seededRandom(seed);
  const make = (pattern: string): string => generate(pattern, random);
  return {
    pat: make('ghp_[A-Za-z0-9]{36}'),
    aws: make('AKIA[A-Z2-7]{16}'),
    generic: make('[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{10}[0-9]{2}[A-Za-z0-9]{8}'),
    password: make('[a-z]{4}[0-9]{2}[A-Z]{2}[a-z]{4}'),
    word: make('[bdfklmnprst]{1}[aeiou]{1}[bdfklmnprst]{1}[aeiou]{1}[lmnrst]{2}[aeiou]{1}[bdfklmnprst]{1}[aeiou]{1}ng'),
    key: makeKey(random),
    make,
  };
}

/** The first bytes are those of a private key (DER of a PKCS #8 RSA key); the rest is noise. */
function makeKey(random: () => number): string {
  const head = [0x30, 0x82, 4, 0xbd, 2, 1, 0, 0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 1, 5, 0, 4];
  const noise = Array.from({ length: 1200 - head.length }, () => Math.floor(random() * 256));
  const body = wrap(Buffer.from([...head, ...noise]).toString('base64'), 64);
  return `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----`;
}

export function linesOf(key: string): string[] {
  return key.split('\n').slice(1, -1);
}
