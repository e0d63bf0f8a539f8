import { editMatches, type View } from '../../../text/view.ts';

/** Super- and subscripts, letter-like signs, Roman and circled figures, ligatures, full-width and mathematical letters. */
const LOOK_ALIKES =
  /[\u2070-\u209c\u2100-\u214f\u2160-\u217f\u2460-\u24ff\ufb00-\ufb06\uff01-\uff5e]|\ud835[\udc00-\udfff]|\ud83c[\udd30-\udd69]/g;
const ASCII = /^[!-~]+$/;

/** Characters that are letters in another dress, as the plain letters (NFKC), one by one. */
export function inPlainLetters(text: string): View | null {
  return editMatches(text, LOOK_ALIKES, ([character]) => {
    const plain = character.normalize('NFKC');
    return ASCII.test(plain) ? plain : null;
  });
}
