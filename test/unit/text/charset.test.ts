import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHARSET_NAMES, charsetNamed, decodeBytes, UTF8, withBomOf } from '#src/text/charset.js';
import { CharsetDetector, detectCharset } from '#src/text/charset-detector.js';
import { encodeFile, UnencodableCharacter } from '#src/text/charset-encode.js';

function named(name: string) {
  const charset = charsetNamed(name);
  if (charset === null) throw new Error(`there is no ${name}`);
  return charset;
}

const encoded = (text: string, name: string): Buffer => encodeFile(text, named(name));

/** Text as people write it in files of such an encoding. */
const TEXTS: readonly (readonly [name: string, text: string])[] = [
  ['utf-8', 'plain ASCII\n'],
  ['utf-8', 'Größe: 5 €, 日本語, 🙂\n'],
  ['utf-8-bom', 'key;value\n'],
  ['utf-16le-bom', 'Windows Registry Editor Version 5.00\r\n\r\n[HKEY_LOCAL_MACHINE]\r\n'],
  ['utf-16be-bom', 'Größe 🙂\n'],
  ['utf-16le', 'no mark, but text\r\nin two lines\r\n'],
  ['utf-16be', 'no mark, Größe\n'],
  ['iso-8859-1', '// Prüfung der Größe\nfunction size(x) {\n  return x.length; // Rückgabe\n}\n'],
  ['iso-8859-1', 'int main() { return 0; }\n/* café */\n'],
  ['iso-8859-1', 'café\r\nnaïve\r\n'],
  ['iso-8859-1', '[größe]\r\n'],
  ['iso-8859-1', 'temp = 25 °C; width = 3 µm\n'],
  ['windows-1252', 'It’s a “quoted” text – with dashes…\n'],
  ['windows-1252', 'Les élèves ont été reçus à l’école où ils étudiaient. Voilà, ça suffit.\n'],
  ['iso-8859-2', 'Zażółć gęślą jaźń. Proszę wprowadzić wartość.\n'],
  ['windows-1251', 'Привет, мир! Это проверка кодировки файла.\n'],
  ['koi8-r', 'Привет, мир! Это проверка кодировки файла.\n'],
  ['iso-8859-7', 'Καλημέρα κόσμε, αυτό είναι ένα αρχείο.\n'],
  ['shift_jis', 'int x = 1; // 変数の初期化\nreturn x; // 結果を返す\n'],
  ['euc-jp', 'これは日本語のテキストです。ファイルの内容を確認してください。\n'],
  ['gbk', '这是一个中文文件，用来测试编码检测。请确认内容是否正确。\n'],
  ['big5', '這是一個中文檔案，用來測試編碼偵測。請確認內容是否正確。\n'],
  ['euc-kr', '이것은 한국어 텍스트입니다. 파일의 내용을 확인하십시오.\n'],
];

describe('the encoding of a text', () => {
  it.each(TEXTS)('%s is recognized and decoded: %s', (name, text) => {
    const bytes = encoded(text, name);
    const found = detectCharset(bytes);
    expect(found?.name).toBe(name);
    expect(decodeBytes(bytes, found ?? UTF8, true)).toBe(text);
  });

  it.each(TEXTS)('%s is recognized however the bytes arrive: %s', (name, text) => {
    const bytes = encoded(`${'a line before\n'.repeat(30)}${text}`, name);
    for (const step of [2, 3, 7, 1000]) {
      const detector = new CharsetDetector(bytes);
      for (let at = 0; at < bytes.length; at += step) detector.add(bytes.subarray(at, at + step));
      expect(detector.finish()?.name.replace('windows-1252', 'iso-8859-1')).toBe(
        name.replace('windows-1252', 'iso-8859-1'),
      );
    }
  });

  it('is found behind any amount of ASCII, at the end of the file too', () => {
    const bytes = Buffer.concat([Buffer.from('some words\n'.repeat(100_000)), Buffer.from([0x63, 0x61, 0x66, 0xe9])]);
    expect(detectCharset(bytes)?.name).toBe('iso-8859-1');
  });

  it('is still UTF-8 if a few bytes of a UTF-8 text are damaged', () => {
    const bytes = Buffer.concat([Buffer.from('größer\n'.repeat(20)), Buffer.from([0xc3, 0x0a, 0xff, 0x0a])]);
    expect(detectCharset(bytes)).toBe(UTF8);
  });

  it.each([
    ['NUL bytes alone', Buffer.alloc(100)],
    [
      'an archive',
      Buffer.concat([
        Buffer.from('a/b.txt'),
        Buffer.alloc(93),
        Buffer.from('0000644\0'),
        Buffer.from('text\n'.repeat(200)),
      ]),
    ],
    ['control characters between NUL bytes', Buffer.from('\x01\0\x02\0abc\0\x03\0')],
    ['a program', Buffer.concat([Buffer.from('7f454c46020101000000', 'hex'), Buffer.alloc(90, 3)])],
    ['small numbers of 16 bits', Buffer.from(Uint16Array.from({ length: 200 }, (_, n) => n % 31).buffer)],
    ['compressed data', Buffer.from('1f8b0800e38c', 'hex')],
    ['UTF-32', Buffer.from('fffe0000610000006200000', 'hex')],
    ['random bytes', Buffer.from(Array.from({ length: 3000 }, (_, n) => ((n * 7919 + (n >> 3) * 104_729) % 255) + 1))],
  ])('is not guessed for %s', (_, bytes) => {
    expect(detectCharset(bytes)).toBeNull();
  });
});

describe('NUL bytes in a text', () => {
  it.each(TEXTS.filter(([name]) => !name.startsWith('utf-16')))('change nothing in %s: %s', (name, text) => {
    const bytes = encoded(text, name);
    const end = bytes.indexOf(0x0a) + 1;
    const one = Buffer.concat([bytes.subarray(0, end), Buffer.from([0]), bytes.subarray(end)]);
    expect(detectCharset(one)?.name).toBe(name);
  });

  it('may be at any place, and separate the shortest names', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme-ascii', minLength: 1 }), { minLength: 1 }), (names) => {
        // The NUL of a blank or a line end is how UTF-16 writes it.
        const bytes = Buffer.from(`first name\0${names.map((one) => `${one.trim()}.\0`).join('')}`);
        expect(detectCharset(bytes)).toBe(UTF8);
      }),
    );
  });
});

describe('the encoding of one or two bytes', () => {
  it('is not guessed by a language or by one NUL byte, because they say nothing of either', () => {
    const names = new Set<string>();
    for (let first = 0; first < 256; first++) {
      names.add(detectCharset(Buffer.from([first]))?.name ?? 'no text');
      for (let second = 0; second < 256; second++) {
        const bytes = Buffer.from([first, second]);
        if (bytes.equals(Buffer.from('feff', 'hex')) || bytes.equals(Buffer.from('fffe', 'hex'))) continue;
        names.add(detectCharset(bytes)?.name ?? 'no text');
      }
    }
    expect(names).toEqual(new Set(['utf-8', 'iso-8859-1', 'windows-1252', 'no text']));
  });

  it('is UTF-8 for each text of which the end is cut off within a character, after two of its bytes', () => {
    const character = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 1 })
      .filter((one) => Buffer.byteLength(one) > 2);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), character, (text, last) => {
        const bytes = Buffer.from(`${text}${last}`);
        for (let cut = 1; cut <= Buffer.byteLength(last) - 2; cut++)
          expect(detectCharset(bytes.subarray(0, -cut))?.name).toBe('utf-8');
      }),
    );
  });
});

describe('every encoding that a caller may name', () => {
  it.each(CHARSET_NAMES)('%s gives back the characters that it has', (name) => {
    const charset = named(name);
    const all = Buffer.from(Array.from({ length: 128 }, (_, byte) => [byte + 128, 0x20]).flat());
    const characters = [...decodeBytes(all, charset), ...'äñя日本語中文한국'].filter((one) => one !== '\ufffd');
    for (const character of characters) {
      try {
        expect(decodeBytes(encodeFile(character, charset), charset)).toBe(character);
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(UnencodableCharacter);
      }
    }
    expect(decodeBytes(encodeFile('plain {}\n', charset), charset)).toBe('plain {}\n');
  });

  it('refuses exactly the characters that it does not have', () => {
    expect(() => encoded('5 €', 'iso-8859-1')).toThrow('iso-8859-1 has no "€" (U+20AC)');
    expect(encoded('5 €', 'windows-1252')).toEqual(Buffer.from([0x35, 0x20, 0x80]));
    expect(() => encoded('→', 'windows-1252')).toThrow(UnencodableCharacter);
    expect(encoded('日本', 'shift_jis').toString('hex')).toBe('93fa967b');
    expect(encoded('中文', 'gbk').toString('hex')).toBe('d6d0cec4');
  });

  it('has a byte order mark only if it is named with one, or if the file has one', () => {
    expect(encoded('a', 'utf-16le-bom').toString('hex')).toBe('fffe6100');
    expect(encoded('a', 'utf-16le').toString('hex')).toBe('6100');
    expect(withBomOf(named('utf-8'), Buffer.from('efbbbf61', 'hex')).name).toBe('utf-8-bom');
    expect(withBomOf(named('utf-16be-bom'), Buffer.from('0061', 'hex')).name).toBe('utf-16be');
    expect([charsetNamed('UTF-8')?.name, charsetNamed('Latin1')?.name, charsetNamed('rot13')]).toEqual([
      'utf-8',
      'iso-8859-1',
      null,
    ]);
  });

  it('survives any text of Unicode encodings', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom('utf-8-bom', 'utf-16le-bom', 'utf-16be'),
        (text, name) => {
          expect(decodeBytes(encoded(text, name), named(name), true)).toBe(text);
        },
      ),
    );
  });
});
