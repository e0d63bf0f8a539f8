const ESC = '\u001b';

/** What must stay whole: a second definition, without the patterns of the code under test. */
const UNITS = [
  /\[SECRET(_[0-9]+)?\]/g,
  /\r\n/g,
  /[\ud800-\udbff][\udc00-\udfff]/g,
  new RegExp(`${ESC}\\[[0-9;?]*[A-Za-z]`, 'g'),
  new RegExp(`${ESC}\\][0-9a-z:/?=;.]*(\u0007|${ESC}\\\\)`, 'g'),
  new RegExp(`${ESC}P[a-z]*${ESC}\\\\`, 'g'),
  new RegExp(`${ESC}\\(B`, 'g'),
];

/** The units of `text` that a cut at one of `places` (UTF-16 offsets) splits. */
export function partedUnits(text: string, places: Iterable<number>): string[] {
  const cuts = [...places];
  return UNITS.flatMap((unit) =>
    [...text.matchAll(unit)]
      .filter(({ index, 0: match }) => cuts.some((at) => at > index && at < index + match.length))
      .map(({ 0: match }) => match),
  );
}
