import { isMadeOfWords } from '../words.ts';

/** Characters on each side among which other words of the language are looked for. */
const REACH_CHARS = 1_000;
const MIN_OTHER_WORDS = 2;
/** A word or a sentence with letters that ASCII does not have; digits and signs such as `$` belong to passwords. */
const TEXT = /^(?=.*[^ -~])[\p{L}\p{M} '’.,!?¿¡…:;()«»„“”。，、！？：「」・·ー-]+$/u;
const WORD_OF_LANGUAGE = /[A-Za-z]*(?![A-Za-z])[\p{L}\p{M}]{2,}/gu;
const NOT_ASCII = /[^ -~]/;

/** The word for a password in languages into which programs are translated, without accents and in lower case. */
const PASSWORDS: ReadonlySet<string> = new Set(
  (
    'adgangskode contrasena contrasenya contrasinal haslo hasło heslo jelszo kennwort lozinka losenord løsenord ' +
    'motdepasse palavra-chave palavra-passe parola parole passord passwort salasana sandi senha sifre slaptazodis wachtwoord ' +
    'пароль парола паролата лозинка パスワード 비밀번호 암호 密码 密碼 口令'
  ).split(' '),
);

/** Words for a key and a token in such languages. */
const KEYS: ReadonlySet<string> = new Set(
  (
    'schlussel schluessel sleutel nyckel nogle nøgle nokkel nøkkel avain kulcs cle clef clave chave chiave klucz klucza klic kluc kljuc cheie anahtar ' +
    'anahtarı kunci khoa token jeton gettone geheimnis secreto segreto segredo ключ ключа токен секрет κλειδι'
  ).split(' '),
);
/** Words for both in languages that write no blanks, or change the end of a word. */
const STEMS =
  /пароль|парол|パスワード|暗証番号|비밀번호|암호|密码|密碼|口令|(?:api|アクセス|シークレット|秘密) ?(?:キー|鍵)|(?:api|비밀|액세스) ?키|密钥|密鑰|令牌|토큰|סיסמה|رمز|รหัสผ่าน|पासवर्ड|wachtwoord|passw[oö]rt|kennwort|contrase[nñ]a|contrasenya|salasana|l[oö]senord|adgangskode|passord|jelszo|jelszav|hasł[aoe]|hesl[aoe]|sifre|şifre|schlüssel/i;
const PHRASES = /mot de passe|mots de passe|mat khau|mật khẩu|palavra[- ]passe|parola d['’]ordine|kata sandi/i;
/** What a label consists of: words, and signs between and behind them. */
const LABEL = /^[¿¡]?[\p{L}\p{M}]+(?:[ ’'][\p{L}\p{M}]+){0,7}[ \u00a0]?[?!.:…？！。：]{0,3}$/u;
/** `API-Schlüssel`. */
const ABBREVIATED = /^[A-Z]{2,5}-(?=\p{L})/u;
const MAX_ABBREVIATION_CHARS = 3;

/**
 * Whether a value is the label of a field in a language: words, one of which means a password, a key or a token. Random letters
 * beside such a word are no label.
 */
function isLabel(value: string): boolean {
  const label = value.replace(ABBREVIATED, '');
  if (!LABEL.test(label)) return false;
  const plain = withoutAccents(label);
  const words = plain.match(/[\p{L}\p{M}]+/gu) ?? [];
  const isNamed =
    words.some((word) => PASSWORDS.has(word) || KEYS.has(word)) ||
    // Among other words: a word that goes on where the stem ends may be a password.
    (words.length > 1 && (STEMS.test(label) || STEMS.test(plain))) ||
    PHRASES.test(plain);
  return (
    isNamed &&
    (words.length > 1 || NOT_ASCII.test(label)) &&
    words.every((word) => NOT_ASCII.test(word) || word.length <= MAX_ABBREVIATION_CHARS || isMadeOfWords(word))
  );
}

/**
 * A key of a file of translations: a path in quotes of three names and more, joined as keys of settings are not. What it names
 * is a text, so a value of letters is a word of some language.
 */
const TRANSLATION_KEY = /["'][\w-]+(?:::[\w-]+){2,}["'][ \t]*(?:=>?|:)[ \t]*["']$/;
const LETTERS = /^(?=.*[^ -~])[\p{L}\p{M}]+(?: [\p{L}\p{M}]+){0,3}$/u;
const MAX_KEY_CHARS = 200;

/**
 * Whether a value is a text of a language and not a password: the word for a password itself, or words with letters that
 * ASCII does not have among others of the kind, as in a file of translations.
 */
export function isTranslation(text: string, { start, end }: { start: number; end: number }): boolean {
  const value = text.slice(start, end);
  if (PASSWORDS.has(withoutAccents(value)) || isLabel(value)) return true;
  if (!TEXT.test(value)) return false;
  if (LETTERS.test(value) && TRANSLATION_KEY.test(text.slice(Math.max(0, start - MAX_KEY_CHARS), start))) return true;
  const around = text.slice(Math.max(0, start - REACH_CHARS), start) + text.slice(end, end + REACH_CHARS);
  let others = 0;
  for (const [word] of around.matchAll(WORD_OF_LANGUAGE)) {
    if (NOT_ASCII.test(word)) others += 1;
    if (others >= MIN_OTHER_WORDS) return true;
  }
  return false;
}

function withoutAccents(value: string): string {
  return value.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC');
}
