import { gzipSync } from 'node:zlib';

/** The forms in which tools show a text: printed, dumped or wrapped. Input is ASCII unless noted. */

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

export function base64Times(text: string, times: number): string {
  return times === 0 ? text : base64Times(base64(text), times - 1);
}

export function gzipBase64(text: string): string {
  return gzipSync(text).toString('base64');
}

export function base32(text: string): string {
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  const digits = groups.map((group) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(group.padEnd(5, '0'), 2)]);
  return digits.join('').padEnd(Math.ceil(digits.length / 8) * 8, '=');
}

/** base85 without delimiters and without the short form of four zeros. */
export function ascii85(text: string): string {
  const bytes = Buffer.from(text);
  let result = '';
  for (let at = 0; at < bytes.length; at += 4) {
    const group = Buffer.alloc(4);
    const taken = bytes.copy(group, 0, at, at + 4);
    let number = group.readUInt32BE();
    let digits = '';
    for (let digit = 0; digit < 5; digit++) {
      digits = String.fromCharCode(33 + (number % 85)) + digits;
      number = Math.floor(number / 85);
    }
    result += digits.slice(0, taken + 1);
  }
  return result;
}

export function hex(text: string): string {
  return Buffer.from(text).toString('hex');
}

/** `hexdump -C`: offset, sixteen bytes in two halves, the characters. */
export function hexdump(text: string): string {
  const bytes = Buffer.from(text);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.subarray(at, at + 16)].map((byte) => byte.toString(16).padStart(2, '0'));
    const halves = `${row.slice(0, 8).join(' ').padEnd(23)}  ${row.slice(8).join(' ').padEnd(23)}`;
    const shown = text.slice(at, at + 16).replace(/[^ -~]/g, '.');
    lines.push(`${at.toString(16).padStart(8, '0')}  ${halves}  |${shown}|`);
  }
  return `${lines.join('\n')}\n${bytes.length.toString(16).padStart(8, '0')}\n`;
}

/** Lines of `columns` characters, like `fold -w`. */
export function wrap(text: string, columns: number, lineEnd = '\n'): string {
  return (text.match(new RegExp(`[^]{1,${columns}}`, 'g')) ?? []).join(lineEnd);
}

export function eachCharacter(text: string, form: (character: string, code: number) => string): string {
  return [...text].map((character) => form(character, character.charCodeAt(0))).join('');
}

export function rot13(text: string): string {
  return text.replace(/[A-Za-z]/g, (letter) => {
    const first = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first);
  });
}

export function reversed(text: string): string {
  return [...text].reverse().join('');
}

export function grepNumbered(text: string): string {
  return text
    .split('\n')
    .map((line, position) => `${position + 12}:${line}`)
    .join('\n');
}
