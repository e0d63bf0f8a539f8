/**
 * A whole token, or what could open a tag or a fenced block, or look like a token or a line of contextd. `a < b`, `<5` and the
 * `<<EOF` of a shell open no tag.
 */
const STEERING =
  /\[SECRET(?:_\d+|:[\w.-]{1,64})\]|<(?=[^\s\d<='"\\()])(?!(?<=<<)\w+(?=[\s"\\);,|&])[^>]*$)|`{3,}|\[(?=\s*(?:SECRET|contextd))/gi;

/**
 * Foreign text in which nothing opens a tag or a fence, or looks like a token or a line of contextd: the character that would is
 * written as `\u003c`. `isToken`: whether a token, such as `[SECRET_1]`, is one of the reader's and stays readable (default:
 * none is).
 */
export function withoutSteering(text: string, isToken: (token: string) => boolean = isNoToken): string {
  return text.replaceAll(STEERING, (found) => (isToken(found) ? found : escaped(found)));
}

const isNoToken = (_token: string): boolean => false;

/** Of a token the bracket is enough. */
function escaped(found: string): string {
  const steering = found.startsWith('[') ? '[' : found;
  return (
    Array.from(steering, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('') +
    found.slice(steering.length)
  );
}
