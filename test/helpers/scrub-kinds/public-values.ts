import { ALNUM, generate, HEX } from '../sample-patterns.ts';
import { type Kind, number, one, pascal, snake, strong, title } from './sessions.ts';

type Random = () => number;

const quiet = (random: Random): string => strong(random).replaceAll(/[!$%*]/g, '4');

/** Names of packages that hold the name of a secret. */
const PACKAGES =
  'AppAuth JWTDecode FirebaseAuth KeychainAccess GTMAppAuth SwiftToken TokenField SecretSharing PasswordField OneTimePassword AuthToken FlutterSecureKey react-native-config-secret APIKey';
const pod = (random: Random): string =>
  one([one(PACKAGES.split(' '), random), `${pascal(random)}Token`, pascal(random)], random);

/** Checksums under a heading that says so, in the order of package managers. */
const CHECKSUMS: readonly ((random: Random) => string)[] = [
  (r) =>
    `SPEC CHECKSUMS:\n${rows(r, () => `  ${pod(r)}: ${generate(`${HEX}{40}`, r)}\n`)}\nPODFILE CHECKSUM: ${generate(`${HEX}{40}`, r)}\n\nCOCOAPODS: 1.15.2\n`,
  (r) =>
    `{\n  "checksums": {\n${rows(r, () => `    "${pod(r)}": "${generate(`${HEX}{64}`, r)}",\n`)}    "x": "1"\n  }\n}\n`,
  (r) => `[checksums]\n${rows(r, () => `${pod(r)} = "${generate(`${HEX}{64}`, r)}"\n`)}`,
];

function rows(random: Random, row: () => string): string {
  return Array.from({ length: number(2, 6, random) }, row).join('');
}

/** Labels of a form in languages, as files of translations have them. */
const LABELS =
  'API-Schlüssel|Mot de passe oublié ?|Mot de passe|Passwort vergessen?|Passwort ändern|Neues Passwort|Clé API|Clé secrète|Contraseña actual|¿Olvidaste tu contraseña?|Nueva contraseña|Senha incorreta|Esqueceu a senha?|Chave de API|Password dimenticata?|Chiave API|Wachtwoord vergeten?|API-sleutel|Nie pamiętasz hasła?|Klucz API|Glömt lösenordet?|Glemt adgangskode?|Unohditko salasanan?|Zapomenuté heslo|Elfelejtett jelszó|Parolă uitată?|Забыли пароль?|Ключ API|Şifremi unuttum|パスワードを忘れた場合|密码错误|忘记密码？|비밀번호를 잊으셨나요?|API 키';
const label = (random: Random): string => one(LABELS.split('|'), random);
const FIELDS = 'api_key password token secret_key resetPassword client_secret access_token';

/** Values that vendors call publishable: they are in the pages of a shop. */
const publishable = (random: Random): string =>
  generate(
    one(
      [
        `pk_live_${ALNUM}{24}`,
        `pk_test_${ALNUM}{24}`,
        `pk_live_51${ALNUM}{97}`,
        `sb_publishable_${ALNUM}{22}_${ALNUM}{8}`,
      ],
      random,
    ),
    random,
  );

/** What is public, or a text, though the name of a secret stands beside it. */
export const publicValues: Kind = {
  name: 'public values under names of secrets',
  makers: {
    'a list of checksums': (random) => ({ texts: [one(CHECKSUMS, random)(random)] }),
    'a key below checksums': (random) => ({
      texts: [
        `SPEC CHECKSUMS:\n  ${pod(random)}: ${generate(`${HEX}{40}`, random)}\n\napi_token: «${generate(`${HEX}{40}`, random)}»\n`,
        `hmac:\n  sha256:\n    api_key: «${generate(`${HEX}{64}`, random)}»\n`,
        ...[
          `jobs:\n  checksums:\n    env:\n      SENTRY_AUTH_TOKEN: «»\n`,
          `checksums:\n\tGITHUB_TOKEN=«» gh release\n`,
          `integrity:\n  signing_key: «»\n`,
          `integrity:\n  secret: «»\n`,
          `const integrity = {\n  secretToken: '«»',\n};\n`,
          `[checksums]\na = "${generate(`${HEX}{40}`, random)}"\n\n$ cat .env\nDD_API_KEY=«»\n`,
          `checksum:\n  env:\n    DB_PASSWORD: «»\n`,
        ].map((text) => text.replace('«»', () => `«${generate(`${HEX}{40}`, random)}»`)),
        `settings:\n  checksum: crc32\n  auth:\n    api_token: «${generate(`${HEX}{40}`, random)}»\n`,
      ],
    }),
    'the label of a field': (random) => ({
      texts: [
        one(
          [
            (n: string, v: string) => `  "${n}": "${v}",\n`,
            (n: string, v: string) => `${n}: "${v}"\n`,
            (n: string, v: string) => `    ${n}: '${v}',\n`,
            (n: string, v: string) => `"${n}" = "${v}";\n`,
            (n: string, v: string) => `<string name="${n}">${v}</string>\n`,
          ],
          random,
        )(one(FIELDS.split(' '), random), label(random)),
      ],
    }),
    'a password beside a label': (random) => ({
      texts: [`{"label": "${label(random)}", "password": "«${quiet(random)}»"}\n`],
    }),
    'a password that a person chose from such words': (random) => ({
      texts: [
        one(
          [
            (v: string) => `password: ${v}\n`,
            (v: string) => `  "password": "${v}"\n`,
            (v: string) => `DB_PASSWORD="${v}"\n`,
          ],
          random,
        )(`«${one(['Passwort', 'Schlüssel', 'Senha', 'Hasło'], random)}${title(random)}${number(10, 9999, random)}»`),
      ],
    }),
    'a password that is one such word or joins several': (random) => ({
      texts: [
        one(
          [
            'password=«Schlüsselblume»',
            'DB_PASSWORD="«contraseñasegura»"',
            'PGPASSWORD=«passwort-sommer»',
            'password: "«clé-forêt-tempête»"',
            'DB_PASSWORD=«парольКотик»',
            'secret: "«xkq-cle-wvz-bnm-qrt»"',
          ],
          random,
        ),
      ],
    }),
    'a publishable key under the name of a secret': (random) => ({
      texts: [
        one(
          [
            (v: string) => `client_secret: ${v}\n`,
            (v: string) => `PRIVATE_KEY=${v}\n`,
            (v: string) => `db_password=${v}\n`,
            (v: string) => `Authorization: Bearer ${v}\n`,
          ],
          random,
        )(`«pk_${one(['live', 'test'], random)}_${generate(`${ALNUM}{24}`, random)}»`),
      ],
    }),
    'a publishable key': (random) => ({
      texts: [
        one(
          [
            (v: string) => `STRIPE_PUBLISHABLE_KEY=${v}\n`,
            (v: string) => `  "stripe_key": "${v}",\n`,
            (v: string) => `const stripe = Stripe('${v}');\n`,
            (v: string) => `NEXT_PUBLIC_CLERK_KEY="${v}"\n`,
            (v: string) => `<script data-api-key="${v}"></script>\n`,
            (v: string) => `api_key: ${v}\n`,
          ],
          random,
        )(publishable(random)),
      ],
    }),
    'the secret beside a publishable key': (random) => ({
      texts: [
        `${snake(random).toUpperCase()}_KEY=${publishable(random)}\nSTRIPE_SECRET_KEY=«sk_${one(['live', 'test'], random)}_${generate(`${ALNUM}{24}`, random)}»\n`,
        `clickup_token: «pk_${generate('[0-9]{8}', random)}_${generate('[A-Z0-9]{32}', random)}»\n`,
      ],
    }),
  },
};
