import { editMatches, type View } from '../../../text/view.ts';

/** Something that no other text has: an encoded equals sign, underscore or line end, or a pair of bytes of UTF-8. */
const TRACE = /=3D|=5F|=0A|=[C-F][0-9A-F]=[89AB][0-9A-F]/;

/** Quoted-printable mail decoded, its soft line ends gone. */
export function quotedPrintableDecoded(text: string): View | null {
  if (!TRACE.test(text)) return null;
  return editMatches(text, /=(?:[ \t]*\r?\n|([0-9A-F]{2}))/g, ([, digits]) =>
    digits === undefined ? '' : String.fromCharCode(Number.parseInt(digits, 16)),
  );
}
