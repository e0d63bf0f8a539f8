import type { JsonObject } from '../core/json.ts';
import { CHARSET_NAMES, type Charset, charsetNamed } from '../text/charset.ts';
import { invalid, readOptionalString } from './input.ts';

export { type Charset, decodeBytes, decoderOf, UTF8, withBomOf } from '../text/charset.ts';
export { CharsetDetector, detectCharset } from '../text/charset-detector.ts';
export { describeCharacter, encodeFile, encodeText, UnencodableCharacter } from '../text/charset-encode.ts';

/** Reads the name of an encoding; null if it is absent. Throws ARGS_INVALID for an unknown name. */
export function readCharset(input: JsonObject, name: string): Charset | null {
  const given = readOptionalString(input, name);
  if (given === undefined) return null;
  const charset = charsetNamed(given);
  if (charset !== null) return charset;
  const names = CHARSET_NAMES.join(', ');
  throw invalid(name, `is ${JSON.stringify(given)}, which is not a known encoding`, `Pass one of ${names}.`);
}
