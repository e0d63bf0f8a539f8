import { generate } from '../sample-patterns.ts';

/** Texts that one session shows, in order. « and » stand around what must be masked; everything else must stay. */
export interface KindSession {
  texts: readonly string[];
}

/** Makes a session. The same numbers make the same session, but for keys, which are made at run time. */
export type MakeSession = (random: () => number) => KindSession | Promise<KindSession>;

/** A kind of mistake, with generators of texts in which it was made or could be. */
export interface Kind {
  name: string;
  makers: Readonly<Record<string, MakeSession>>;
}

/** A text without the marks, and the places that they stood around. */
export interface Unmarked {
  text: string;
  secrets: { start: number; end: number }[];
}

export function withoutMarks(marked: string): Unmarked {
  let text = '';
  const secrets: { start: number; end: number }[] = [];
  for (const [at, part] of marked.split(/[«»]/).entries()) {
    if (at % 2 === 1) secrets.push({ start: text.length, end: text.length + part.length });
    text += part;
  }
  return { text, secrets };
}

export function one<T>(items: readonly T[], random: () => number): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new RangeError('nothing to choose from');
  return item;
}

/** Words of ten languages, without accents: no rule and no list of the scrubber was written from them. */
const WORDS = (
  'factura pedido cuchara lluvia ventana mensaje ciudadano bestelling winkelwagen regenboog gebruiker fiets kirjasto tilaus kuvaaja ' +
  'verkko sanoma zamowienie wiadomosc ksiazka pocztowka siparis kullanici pencere mektup pesanan pengguna jendela kupukupu ujumbe ' +
  'dirisha mtumiaji kitabu rechnung fenster werkzeug vorhang rendeles szamla ablak objednavka okno zprava chapeau facteur parapluie ' +
  'nuvola cucchiaio bicicletta janela guarda chuva'
).split(' ');

export const word = (random: () => number): string => one(WORDS, random);
export const title = (random: () => number): string => word(random).replace(/^./, (first) => first.toUpperCase());
export const camel = (random: () => number): string => word(random) + title(random);
export const pascal = (random: () => number): string => title(random) + title(random);
export const snake = (random: () => number): string => `${word(random)}_${word(random)}`;
export const kebab = (random: () => number): string => `${word(random)}-${word(random)}`;
export const number = (low: number, high: number, random: () => number): number =>
  low + Math.floor(random() * (high - low + 1));

/** A random value: it is a credential wherever it stands. */
export function strong(random: () => number): string {
  return generate(
    one(
      [
        '[A-Za-z]{1}[A-Za-z0-9]{7}[0-9]{2}[A-Z]{2}[a-z]{2}[A-Za-z0-9]{10}',
        '[a-z]{3}[0-9]{2}[A-Z]{3}[!$%*]{1}[a-z]{2}[0-9]{2}[A-Z]{2}[a-z]{2}',
        '[A-Za-z0-9]{20}[0-9]{2}[A-Z]{2}[a-z]{2}[A-Za-z0-9]{14}',
        '[a-z0-9]{12}[0-9]{3}[a-z]{2}[0-9]{2}[a-z0-9]{13}',
      ],
      random,
    ),
    random,
  );
}

/** Lines of a program in no particular language. */
export function ordinary(random: () => number): string {
  return one(
    [
      () => `  if (${camel(random)} > ${number(2, 90, random)}) return ${camel(random)};`,
      () => `# ${title(random)} ${word(random)} ${word(random)}`,
      () => `    ${snake(random)} = ${word(random)}(${word(random)})`,
      () => `import { ${pascal(random)} } from './${kebab(random)}';`,
      () => `${word(random)}: ${number(1, 400, random)}`,
      () => '',
    ],
    random,
  )();
}
