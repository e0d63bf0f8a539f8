import {
  ascii85,
  base32,
  base64,
  base64Times,
  eachCharacter,
  grepNumbered,
  gzipBase64,
  hex,
  hexdump,
  reversed,
  rot13,
  wrap,
} from './evasion-forms.ts';
import { contexts, excused, linesOf, makeSamples, type Row, type Samples } from './evasion-samples.ts';

/** One way in which a secret evades a scanner of plain text. No secret is real; all are generated from a seed. */
export interface EvasionCase {
  /** 1 to 78. */
  n: number;
  name: string;
  text: string;
  /** The values as a vault holds them after they were seen. */
  secrets: string[];
  /** The pieces that must be gone: the secret as the text shows it. */
  pieces: string[];
}

/** The number of characters of a piece that must not survive together. */
const PIECE_CHARS = 8;

/** Returns true if the masked text contains no eight characters in a row of any piece (or a whole shorter piece). */
export function isMasked({ pieces }: EvasionCase, masked: string): boolean {
  return pieces.every((piece) => {
    for (let at = 0; at <= Math.max(0, piece.length - PIECE_CHARS); at++)
      if (masked.includes(piece.slice(at, at + PIECE_CHARS))) return false;
    return true;
  });
}

/** Makes the 78 cases; the same seed gives the same cases. */
export function evasionCases(seed: number): EvasionCase[] {
  const samples = makeSamples(seed);
  const cases = [...plain(samples), ...display(samples), ...json(samples), ...keys(samples), ...encoded(samples)];
  cases.push(...disguised(samples), ...excused(samples), ...contexts(samples));
  return cases.map(([name, secret, text, pieces], position) => {
    const secrets = typeof secret === 'string' ? [secret] : secret;
    return { n: position + 1, name, text, secrets, pieces: pieces ?? secrets };
  });
}

function plain({ pat, aws, generic, key }: Samples): Row[] {
  return [
    ['plain github-pat', pat, `remote: signed in with ${pat}\n`],
    ['plain aws', aws, `aws_access_key_id = ${aws}\n`],
    ['plain generic', generic, `api_key = "${generic}"\n`],
    ['plain PEM', key, `${key}\n`, linesOf(key)],
    ['chunk 1 of stream split mid-token', pat, `signed in with ${pat.slice(0, 18)}`, [pat.slice(0, 18)]],
    ['chunk 2 of stream split mid-token', pat, `${pat.slice(18)} and went on\n`, [pat.slice(18)]],
    ['keyword in chunk 1, value in chunk 2 (generic)', generic, `"${generic}"\n`],
  ];
}

function display({ pat, aws, generic }: Samples): Row[] {
  const sgr = (text: string): string => `\x1b[01;31m\x1b[K${text}\x1b[m\x1b[K`;
  const inside = `${pat.slice(0, 9)}\x1b[1m${pat.slice(9, 20)}\x1b[0m${pat.slice(20)}`;
  const link = `\x1b]8;;https://example.com/t\x1b\\${pat}\x1b]8;;\x1b\\`;
  const folded = wrap(`token = ${pat}`, 20);
  const continued = `${pat.slice(0, 15)}\\\n${pat.slice(15, 30)}\\\n${pat.slice(30)}`;
  const overwritten = `****${pat.slice(4)}\r${pat.slice(0, 4)}`;
  const struck = eachCharacter(pat, (character) => `${character}\b${character}`);
  return [
    ['ANSI SGR inside token', pat, `pat ${inside} end\n`, [pat, inside]],
    ['ANSI colour around github-pat', pat, `pat \x1b[32m${pat}\x1b[0m end\n`],
    ['ANSI colour around AWS id (\\b lost after m)', aws, `id \x1b[32m${aws}\x1b[0m end\n`],
    ['ANSI colour around generic value (grep --color / jq -C)', generic, `api_key = "${sgr(generic)}"\n`],
    ['ANSI colour on key only', generic, `\x1b[34;1m"api_key"\x1b[0m\x1b[1;39m:\x1b[0m "${generic}"\n`],
    ['OSC 8 hyperlink around token', pat, `see ${link} end\n`],
    ['hard wrap at 20 columns', pat, `${folded}\n`, [pat, folded.slice(8)]],
    ['backslash-newline continuation', pat, `curl -u me:${continued} x\n`, [pat, continued]],
    ['carriage-return overwrite inside', pat, `${overwritten}\n`, [pat, overwritten.slice(4)]],
    ['backspace overstrike (man bold)', pat, `       ${struck}\n`, [pat, struck]],
  ];
}

function json({ pat, generic, key }: Samples): Row[] {
  const unicode = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const one = `${unicode('g')}${pat.slice(1)}`;
  const all = eachCharacter(pat, unicode);
  const pem = JSON.stringify({ name: 'deploy', private_key: `${key}\n` });
  return [
    ['JSON string value', generic, `${JSON.stringify({ api_key: generic, n: 1 })}\n`],
    ['JSON in JSON (escaped quotes)', generic, JSON.stringify({ body: JSON.stringify({ api_key: generic, n: 1 }) })],
    ['JSON \\u escape of one char of token', pat, `{"text":"${one}"}`, [pat, one]],
    ['JSON \\u002d / every char escaped', pat, `{"text":"${all}"}`, [pat, all]],
    ['PEM inside JSON (\\n literal)', key, pem, linesOf(key)],
    ['PEM inside JSON inside JSON (\\\\n)', key, JSON.stringify({ body: pem }), linesOf(key)],
  ];
}

function keys({ key }: Samples): Row[] {
  const lines = key.split('\n');
  return [
    ['PEM with grep -n line prefixes', key, `${grepNumbered(key)}\n`, linesOf(key)],
    ['PEM truncated by head (no END)', key, `${lines.slice(0, 10).join('\n')}\n`, lines.slice(1, 10)],
    ['PEM body only (sed -n 2,12p)', key, `${lines.slice(1, 12).join('\n')}\n`, lines.slice(1, 12)],
  ];
}

function encoded(samples: Samples): Row[] {
  const { pat } = samples;
  const whole = (name: string, text: string, shown = text): Row => [name, pat, `${text}\n`, [pat, shown]];
  const wrapped = wrap(base64(`the deployment of tuesday needs this one: ${pat} and nothing else, they say\n`), 76);
  const dump = hexdump(`token=${pat}\n`);
  const percent = (character: string): string => `%${hex(character)}`;
  const escapes = eachCharacter(pat, (_, code) => `\\x${code.toString(16)}`);
  return [
    whole('base64 of "token=..."', base64(`token=${pat}`)),
    whole('base64 of bare token', base64(pat)),
    whole('base64url no padding', Buffer.from(`${pat}?>`).toString('base64url')),
    whole('std base64 with + or / and padding stripped', base64(`~~>>??${pat}~`).replaceAll('=', '')),
    whole('base64 wrapped at 76, token crosses a line', wrapped, wrapped.slice(56, 110)),
    whole('base64 of text that has a UTF-8 é', base64(`café, clé: ${pat} voilà`)),
    whole('base64 with 1 extra leading char (misaligned)', `x${base64(pat)}`),
    whole('base64 x2', base64Times(pat, 2)),
    whole('base64 x5', base64Times(pat, 5)),
    whole('base64 x6', base64Times(pat, 6)),
    whole('base64 of gzip', gzipBase64(`token=${pat}\n`)),
    whole('base32', base32(pat)),
    whole('ascii85', ascii85(pat)),
    whole('hex xxd -p (one line)', hex(pat)),
    whole('hex xxd -p wrapped at 60', wrap(hex(`token=${pat}\n`), 60), wrap(hex(`token=${pat}`), 60).slice(12)),
    ['hexdump -C', pat, dump, [pat, ...dumped(dump)]],
    whole('hex with \\x escapes', escapes),
    whole(
      'octal escapes',
      eachCharacter(pat, (_, code) => `\\${code.toString(8).padStart(3, '0')}`),
    ),
    whole('percent-encoding all bytes', eachCharacter(pat, percent)),
    whole('percent-encoding partial', pat.replace(/[aeiou_0-9]/g, percent)),
    whole('double percent-encoding', eachCharacter(pat, percent).replaceAll('%', '%25')),
  ];
}

/** The bytes and characters of the second and third line of a dump, which hold only the secret. */
function dumped(dump: string): string[] {
  return dump
    .split('\n')
    .slice(1, 2)
    .flatMap((line) => [line.slice(10, 58), line.slice(61, 77)]);
}

function disguised({ pat, generic, make }: Samples): Row[] {
  const shown = (name: string, form: string): Row => [name, pat, `pat ${form} end\n`, [pat, form]];
  const printable = `${pat.replace('_', '=5F').slice(0, 30)}=\n${pat.slice(28)}`;
  const filler = make('[a-z]{5} [a-z]{9} [a-z]{7}');
  const wide = eachCharacter(pat, (_, code) => String.fromCharCode(code + 0xfee0));
  const split = (joint: string): string => `${pat.slice(0, 14)}${joint}${pat.slice(14, 26)}${joint}${pat.slice(26)}`;
  const utf16 = eachCharacter(pat, (character) => `${character}\0`);
  const column = [...pat].join('\n');
  return [
    ['query string ?token=..&x=1', generic, `GET /callback?token=${generic}&x=1 HTTP/1.1\n`],
    shown(
      'HTML entities',
      eachCharacter(pat, (_, code) => `&#${code};`),
    ),
    ['quoted-printable', pat, `${filler} =E2=80=94 token=3D${printable} end\n`, [pat, printable]],
    ['UTF-16LE (NULs kept)', pat, `p\0a\0t\0 \0${utf16}\n\0`, [pat, utf16]],
    shown('zero-width space inside', split('\u200b')),
    shown('soft hyphen inside', split('\u00ad')),
    shown('full-width letters', wide),
    shown('reversed (rev)', reversed(pat)),
    shown('rot13', rot13(pat)),
    shown('upper-cased (tr)', pat.toUpperCase()),
    shown('space between chars', [...pat].join(' ')),
    ['one char per line (fold -w1)', pat, `${column}\n`, [pat, column]],
    ['first half only (cut -c1-20)', pat, `${pat.slice(0, 20)}\n`, [pat.slice(0, 20)]],
    ['string concatenation "ghp_" + "..."', pat, `const t = "ghp_" + "${pat.slice(4)}";\n`, [pat, pat.slice(4)]],
  ];
}
