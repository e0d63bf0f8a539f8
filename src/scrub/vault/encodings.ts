const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const ASCII85 = Array.from({ length: 85 }, (_, i) => String.fromCharCode(33 + i)).join('');
const BASE85 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
const Z85 = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';

/**
 * What must show of some bytes in base64 when `lead` (0 to 2) bytes of the encoded data stand before them in their
 * group: only characters that no neighbour has a bit in.
 */
export function base64Core(bytes: Buffer, lead: number): string {
  const whole = Buffer.concat([Buffer.alloc(lead), bytes]);
  return whole.toString('base64').slice(Math.ceil((lead * 8) / 6), Math.floor((whole.length * 8) / 6));
}

/** The same in base32, with `lead` from 0 to 4; upper case. */
export function base32Core(bytes: Buffer, lead: number): string {
  const bits = (lead + bytes.length) * 8;
  let core = '';
  for (let bit = Math.ceil((lead * 8) / 5) * 5; bit + 5 <= bits; bit += 5) {
    const byte = (bit >>> 3) - lead;
    const pair = (byteAt(bytes, byte) << 8) | byteAt(bytes, byte + 1);
    core += BASE32[(pair >>> (11 - (bit & 7))) & 31];
  }
  return core;
}

/** The whole groups of four bytes in the three common alphabets of base 85, with `lead` from 0 to 3. */
export function base85Cores(bytes: Buffer, lead: number): string[] {
  const groups: number[] = [];
  for (let at = (4 - lead) % 4; at + 4 <= bytes.length; at += 4) groups.push(bytes.readUInt32BE(at));
  return [ASCII85, BASE85, Z85].map((alphabet) => groups.map((group) => base85Group(group, alphabet)).join(''));
}

function base85Group(group: number, alphabet: string): string {
  let digits = '';
  for (let rest = group, i = 0; i < 5; i++, rest = Math.floor(rest / 85)) digits = alphabet[rest % 85] + digits;
  return digits;
}

/** A byte; 0 outside of the bytes. */
function byteAt(bytes: Buffer, at: number): number {
  return bytes[at] ?? 0;
}

/** Letters moved by thirteen places. */
export function rot13(text: string): string {
  return text.replace(/[A-Za-z]/g, (letter) => {
    const first = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first);
  });
}
