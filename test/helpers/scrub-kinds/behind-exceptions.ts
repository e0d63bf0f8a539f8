import { ALNUM, B64, generate, HEX } from '../sample-patterns.ts';
import { type Kind, number, one, strong, word } from './sessions.ts';

type Random = () => number;

const quiet = (random: Random): string => strong(random).replaceAll(/[!$%*]/g, '4');

/** Values of generators, in the forms that vendors and people take from them. */
const generated = (random: Random): string =>
  one(
    [
      quiet,
      (r: Random) =>
        generate('[a-z]{1}[A-Z]{1}[0-9]{1}[a-z]{2}[A-Z]{1}[a-z]{1}[0-9]{2}[a-z]{1}[A-Z]{1}[a-z]{1}[0-9]{1}', r),
      (r: Random) =>
        generate(
          '[0-9]{1}[a-z]{1}[A-Z]{1}[a-z]{1}[A-Z]{1}[0-9]{1}[a-z]{2}[A-Z]{2}[0-9]{1}[A-Z]{1}[a-z]{1}[0-9]{1}[a-z]{2}',
          r,
        ),
    ],
    random,
  )(random);

/** Letters that make no word: a generator of letters alone has as many vowels only by chance. */
const consonants = (count: number, random: Random): string => generate(`[bcdfghjkmpqvwxz]{${count}}`, random);

const ABOUT_NAMES = 'secret_ref credentials_provider secret_store passwordPolicy credential_store existing_api_token';
const PASSWORDS = 'password db_password root_password master_password admin_passwd';
const KEYS = 'encryption_key api_token master_key access_key signing_key';

type Write = (name: string, value: string) => string;

const ASSIGNED: readonly Write[] = [
  (n, v) => `{"username": "bob", "${n}": "${v}"}\n`,
  (n, v) => `${n}: ${v}\n`,
  (n, v) => `${n}: "${v}"\n`,
  (n, v) => `${n.toUpperCase()}=${v}\n`,
  (n, v) => `${n.toUpperCase()}="${v}"\n`,
];
const QUOTED: readonly Write[] = [
  (n, v) => `${n} = "${v}"\n`,
  (n, v) => `export ${n.toUpperCase()}="${v}"\n`,
  (n, v) => `    "${n}": "${v}",\n`,
];

const assigned = (names: string, value: string, random: Random, forms = ASSIGNED): string =>
  one(forms, random)(one(names.split(' '), random), `«${value}»`);

/** Groups of a key as printers and licences have them: each has letters and digits. */
function groups(sign: string, random: Random): string {
  const letters = one(['[A-Z]{1}', '[a-z]{1}'], random);
  const group = (): string =>
    one([`${letters}[0-9]{1}${letters}[0-9]{1}`, `[0-9]{1}${letters}[0-9]{1}${letters}`], random);
  // One group without a digit, as chance makes it.
  const last = generate(`${letters.replace('{1}', '{4}')}`, random);
  return [...Array.from({ length: number(2, 4, random) }, group).map((each) => generate(each, random)), last].join(
    sign,
  );
}

/** Addresses of services of messages, whose path or user is the secret. */
const NOTIFIED: readonly ((random: Random) => string)[] = [
  (r) => `gotifys://push.${word(r)}.example/${generate(`${ALNUM}{15}`, r)}/messages`,
  (r) =>
    `slack://T${generate('[A-Z0-9]{8}', r)}/A${generate('[A-Z0-9]{8}', r)}/${generate(`${ALNUM}{24}`, r)}/${word(r)}`,
  (r) => `discord://${generate('[0-9]{18}', r)}/${generate(`${ALNUM}{60}`, r)}/${word(r)}`,
  (r) => `pbul://o.${generate(`${ALNUM}{32}`, r)}/${word(r)}`,
  (r) => `mailgun://${word(r)}@${word(r)}.example/${generate(`${HEX}{32}`, r)}-${generate(`${HEX}{8}`, r)}/support`,
];

const keyId = (random: Random): string => `AK${'IA'}${generate('[A-Z2-7]{16}', random)}`;

/** A value that could be a credential, in a place or a form that an exception is for. */
export const behindExceptions: Kind = {
  name: 'a secret behind an exception',
  makers: {
    'a name that tells about a secret': (random) => ({
      texts: [
        assigned(ABOUT_NAMES, quiet(random), random),
        assigned('existing_password existingDbPassword existing_token_password', generated(random), random),
      ],
    }),
    'groups as the name of an object': (random) => ({
      texts: [
        assigned(
          'existing_secret secret_ref existingSecret',
          one(
            [
              () => groups('-', random).toLowerCase(),
              () =>
                `${consonants(3, random)}-${consonants(3, random)}-${consonants(3, random)}-${consonants(3, random)}-${generate('[a-z]{3}[0-9]{3}', random)}`,
            ],
            random,
          )(),
          random,
          QUOTED,
        ),
      ],
    }),
    'groups of letters and digits': (random) => ({
      texts: [
        one(
          [
            (v: string) => `curl -H "Authorization: Bearer ${v}" https://api.example.com/v1\n`,
            (v: string) => `Authorization: Bearer ${v}\n`,
            (v: string) => `GET https://api.example.com/${word(random)}?auth=${v}\n`,
          ],
          random,
        )(`«${groups('_', random)}»`),
        `curl -H "Authorization: Bearer «${groups('-', random)}»" https://api.example.com/v1\n`,
      ],
    }),
    'the address of a service of messages': (random) => ({
      texts: [
        `NOTIFY_TOKEN=«${one(NOTIFIED, random)(random)}»\n`,
        `notify_token: "«${one(NOTIFIED.slice(1), random)(random)}»"\n`,
      ],
    }),
    'words with dots and a number': (random) => ({
      texts: [assigned(PASSWORDS, `${word(random)}.${word(random)}.${number(1, 99, random)}`, random)],
    }),
    'letters before the word for a password': (random) => ({
      texts: [
        assigned(
          PASSWORDS,
          `${consonants(number(6, 12, random), random)}${one(['password', 'secret'], random)}`,
          random,
        ),
      ],
    }),
    'a sign before digits': (random) => ({
      texts: [
        one(
          [(v: string) => `PASSWORD=${v}\n`, (v: string) => `db_password: ${v}\n`],
          random,
        )(`«-20${generate('[0-2]{1}[0-9]{1}', random)}09${number(10, 28, random)}»`),
      ],
    }),
    'a token below a hash': (random) => ({
      texts: [
        `${generate(`${HEX}{40}`, random)}\n«${keyId(random)}»/${generate(`${ALNUM}{40}`, random)}\n`,
        `${generate(`${B64}{64}`, random)}\n«${keyId(random)}»/${generate(`${ALNUM}{40}`, random)}\n`,
        `${generate(`${HEX}{40}`, random)}\n${generate(`${HEX}{40}`, random)}\n«${keyId(random)}»/${generate(`${ALNUM}{24}`, random)}\n`,
      ],
    }),
    'rows as a key that someone set': (random) => ({
      texts: [
        assigned(
          KEYS,
          one(
            [
              () => `0123456789${generate('[0-9]{6}', random)}`,
              () => '0123456789012345',
              () => one(['abc123xyz123', 'qwe123abc123', '123abc123xyz'], random),
              () => one(['qwerty123456abc123', 'abcdef123456xyz123'], random),
            ],
            random,
          )(),
          random,
        ),
      ],
    }),
    'brackets of no format': (random) => ({
      texts: [
        assigned(
          'password jwt_secret',
          `${generate('[A-Z]{2}', random)}[X${number(1, 9, random)}:${generated(random)}]`,
          random,
          QUOTED,
        ),
        assigned('password jwt_secret', `ENC[${generate('[A-Z]{3}', random)},${generated(random)}]`, random, QUOTED),
      ],
    }),
    'a mark of a keeper before a password': (random) => ({
      texts: [
        `db.password=«vault:v1:plain${one(['password', 'kangaroo'], random)}${number(10, 99, random)}»\n`,
        assigned(PASSWORDS, `{cipher}${generated(random)}`, random, QUOTED),
      ],
    }),
    'a session by a number': (random) => ({
      texts: [`https://app.example.com/login?sid=«${generate('84[0-9]{1}293[0-9]{1}756[0-9]{1}1', random)}»\n`],
    }),
    'words that end with here': (random) => ({
      texts: [assigned(PASSWORDS, `${word(random)}-${number(10, 99, random)}-${word(random)}-here`, random, QUOTED)],
    }),
    'a word of a language under a key of settings': (random) => ({
      texts: [
        `"db.${one(['admin', 'root'], random)}.password": "«${one(['M', 'B', 'T'], random)}ü${one(['ller', 'hler', 'cher'], random)}m${one(['ühle', 'ärkte', 'öbel'], random)}»"\n`,
      ],
    }),
    'letters beside a word of a language': (random) => ({
      texts: [
        assigned(
          PASSWORDS,
          `${one(['Schlüssel', 'Passwort', 'clé', 'hasło', 'contraseña'], random)}-${consonants(number(6, 12, random), random)}`,
          random,
          QUOTED,
        ),
      ],
    }),
    'a hash under another heading': (random) => ({
      texts: [
        `${one(['digest', 'sha256', 'hmac', 'password_checksums'], random)}:\n  api_token: «${generate(`${HEX}{${one([32, 40, 64], random)}}`, random)}»\n`,
        `checksums:\n  app: ${generate(`${HEX}{64}`, random)}\nauth:\n  secret_key: «${generate(`${HEX}{64}`, random)}»\n`,
      ],
    }),
    'words with a bar': (random) => ({
      texts: [
        `PASSWORD=«required|${word(random)}|${word(random)}»\n`,
        `"password": "«required|string|${word(random)}|${word(random)}»"\n`,
        `"password": "«${word(random)}|${word(random)}|${word(random)}»"\n`,
      ],
    }),
    'the account of a signed URL': (random) => ({
      texts: [
        `GET https://${word(random)}.example/?X-${one(['Amz', 'Goog'], random)}-Credential=«${generated(random)}»\n`,
      ],
    }),
    'an object with a PIN': (random) => ({
      texts: [`export APP_SECRET='«{"pin": ${number(1000, 9999, random)}}»'\n`],
    }),
  },
};
