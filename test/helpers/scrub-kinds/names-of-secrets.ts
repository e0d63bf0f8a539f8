import { generate } from '../sample-patterns.ts';
import { type Kind, kebab, number, one, snake, strong, title, word } from './sessions.ts';

type Random = () => number;

const quiet = (random: Random): string => strong(random).replaceAll(/[!$%*]/g, '4');
const chosen = (random: Random): string => `${title(random)}${number(10, 9999, random)}`;
const marked = (make: (random: Random) => string, random: Random): string => `«${make(random)}»`;
const passwordOf = (random: Random): string => marked(one([quiet, quiet, chosen], random), random);
const upper = (random: Random): string => snake(random).toUpperCase();

const KEYS =
  'ENCRYPTION_KEY MASTER_KEY SIGNING_KEY SESSION_KEY JWT_KEY HMAC_KEY WEBHOOK_KEY LICENSE_KEY STORAGE_KEY SERVICE_KEY CIPHER_KEY ADMIN_KEY API_KEY PRIVATE_KEY';

/** A name and a value as two members of an object, two attributes or two arguments. */
const PAIRS: readonly ((name: string, value: string, random: Random) => string)[] = [
  (n, v) => `        - name: ${n}\n          value: ${v}\n`,
  (n, v) => `{"name": "${n}", "value": "${v}"}\n`,
  (n, v) => `  { name = "${n}", value = "${v}" },\n`,
  (n, v) => `        {\n          "Name": "${n}",\n          "Value": "${v}"\n        },\n`,
  (n, v) => `    <add key="${n}" value="${v}" />\n`,
  (n, v) => `  <env name="${n}">${v}</env>\n`,
  (n, v) => `    builder.setProperty("${n}", "${v}");\n`,
  (n, v) => `[{"ParameterKey":"${n}","ParameterValue":"${v}"}]\n`,
  (n, v) => `  - key: ${n}\n    value: '${v}'\n`,
];

/** Names that end with the short word for a password. */
const PW_NAMES: readonly ((random: Random) => string)[] = [
  (r) => `${upper(r)}_PW`,
  () => `LDAP_BIND_PW`,
  (r) => `${snake(r)}_pw`,
  (r) => `${word(r)}.bind.pw`,
  (r) => `${word(r)}-bind-pw`,
  (r) => `${word(r)}BindPw`,
];
const ASSIGNED: readonly ((name: string, value: string) => string)[] = [
  (n, v) => `${n}=${v}\n`,
  (n, v) => `${n} = "${v}"\n`,
  (n, v) => `${n}: ${v}\n`,
  (n, v) => `  "${n}": "${v}",\n`,
  (n, v) => `    ${n}: '${v}'\n`,
  (n, v) => `  - name: ${n}\n    value: "${v}"\n`,
];

/** Commands that set a variable with its name and its value as two words. */
const SETTERS: readonly ((name: string, value: string, random: Random) => string)[] = [
  (n, v) => `set -gx ${n} ${v}\n`,
  (n, v) => `set -Ux ${n} '${v}'\n`,
  (n, v) => `set -x ${n} "${v}"\n`,
  (n, v) => `set --export --global ${n} ${v}\n`,
  (n, v, r) => `if status is-interactive\n    set -gx ${n} ${v}\n    set -gx PATH ~/${word(r)}/bin $PATH\nend\n`,
  (n, v, r) => `> set -gx ${n} ${v}; and ./${kebab(r)}.fish\n`,
  (n, v) => `set-env ${n} ${v}\n`,
  (n, v) => `tmux set-environment -g ${n} ${v}\n`,
  (n, v) => `launchctl setenv ${n} ${v}\n`,
  (n, v) => `setenv ${n} ${v}\n`,
  (n, v) => `setx ${n} "${v}" /M\n`,
];

const variable = (random: Random): string =>
  `${word(random).toUpperCase()}_${one(['PASSWORD', 'TOKEN', 'API_KEY', 'SECRET', 'ENCRYPTION_KEY'], random)}`;

/** An attribute or a variable before and after a change, as tools announce it. */
const CHANGES: readonly ((name: string, before: string, after: string, random: Random) => string)[] = [
  (n, a, b) => `  ~ resource "aws_db_instance" "main" {\n      ~ ${n} = "${a}" -> "${b}"\n    }\n`,
  (n, a, b) => `      ~ ${n}             = "${a}" -> "${b}" # forces replacement\n`,
  (n, a, b) => `    ~ ${n}: "${a}" => "${b}"\n`,
  (n, a, b) =>
    `          ~ {\n                name  = "${n.toUpperCase()}"\n              ~ value = "${a}" -> "${b}"\n            },\n`,
];
const CHANGED = 'password master_password db_password auth_token client_secret api_key encryption_key ldap_bind_pw';

/** Calls that connect with a user from a variable and a password as it is. */
const CONNECTS: readonly ((user: string, value: string, random: Random) => string)[] = [
  (u, v, r) => `$conn = oci_connect(${u}, "${v}", "${word(r)}/XE");\n`,
  (u, v, r) => `$conn = oci_pconnect(${u}, '${v}', '//${word(r)}:1521/${word(r)}');\n`,
  (u, v) => `connection = oracledb.connect(${u}, "${v}", dsn)\n`,
  (u, v) => `db = cx_Oracle.connect(${u}, '${v}', dsn_tns)\n`,
  (u, v, r) => `$link = mysqli_connect($host, ${u}, "${v}", "${word(r)}");\n`,
  (u, v, r) => `$pdo = new PDO("mysql:host=${word(r)}", ${u}, '${v}');\n`,
  (u, v) => `Connection c = DriverManager.getConnection(url, ${u}, "${v}");\n`,
];
const USERS = '$user $config->user $config["user"] USER settings.user self.user';

/** Phrases for passwords in other languages: the word, and whose password it is. `N` stands for a name. */
const PASSWORD_PHRASES =
  'Passwort für N|Passwort des Benutzers N|Kennwort von N|Das Passwort für N lautet|Neues Passwort|Datenbank-Passwort|MDP|mdp_base|Mot de passe de N|Mot de passe pour N|Nouveau mot de passe|Contraseña de N|Contraseña para N|Nueva contraseña|Senha de N|Senha para o usuário N|Palavra-passe de N|Password di N|Parola d’ordine di N|Wachtwoord voor N|Wachtwoord van N|Hasło dla N|Lösenord för N|Adgangskode til N|Passord for N|Salasana|Heslo pro N|Jelszó|Parola pentru N|Пароль для N|Пароль пользователя N|Lozinka za N|Şifre|Mật khẩu của N|パスワード|密码';
const KEY_PHRASES =
  'API-Schlüssel|Geheimer Schlüssel|Zugriffsschlüssel|Verschlüsselungsschlüssel|Clé secrète|Clé API|Clé d’API|Clé de chiffrement|Clave secreta|Clave de API|Chave secreta|Chave de API|Chiave segreta|Chiave API|API-sleutel|Geheime sleutel|Klucz API|Tajny klucz|API-nyckel|API-nøgle|API-avain|API klíč|API-kulcs|Cheie API|API anahtarı|Ключ API|Секретный ключ|Kunci API|Khóa API|APIキー|秘密鍵|API密钥|密钥|API 키|Zugriffstoken|Jeton d’accès|Token de acceso|Token di accesso|Токен доступа|アクセストークン|访问令牌|API-Geheimnis|Client-Geheimnis';

const phrase = (phrases: string, random: Random): string =>
  one(phrases.split('|'), random).replace('N', one(['root', word(random), `${word(random)}@db`], random));
const said = (name: string, value: string, random: Random): string =>
  one([`${name}: ${value}\n`, `${name} : ${value}\n`, `- ${name}: \`${value}\`\n`, `${name} = ${value}\n`], random);

/** Names of secrets, and ways to give them a value, that were missed. */
export const namesOfSecrets: Kind = {
  name: 'names of secrets that were missed',
  makers: {
    'a kind of key beside its value': (random) => ({
      texts: [
        one(PAIRS, random)(
          `${word(random).toUpperCase()}_${one(KEYS.split(' '), random)}`,
          marked(quiet, random),
          random,
        ),
      ],
    }),
    'the short word for a password': (random) => ({
      texts: [one(ASSIGNED, random)(one(PW_NAMES, random)(random), passwordOf(random))],
    }),
    'a command with a name and a value': (random) => ({
      texts: [one(SETTERS, random)(variable(random), passwordOf(random), random)],
    }),
    'a value before and after a change': (random) => ({
      texts: [
        one(CHANGES, random)(one(CHANGED.split(' '), random), marked(quiet, random), marked(quiet, random), random),
      ],
    }),
    'a call with the user in a variable': (random) => ({
      texts: [one(CONNECTS, random)(one(USERS.split(' '), random), passwordOf(random), random)],
    }),
    'a value that was not there before': (random) => ({
      texts: [
        `      + ${one(CHANGED.split(' '), random)} = "${marked(quiet, random)}"\n      ~ ${one(CHANGED.split(' '), random)} = null -> "${marked(quiet, random)}"\n`,
      ],
    }),
    'a phrase for a password in a language': (random) => ({
      texts: [said(phrase(PASSWORD_PHRASES, random), passwordOf(random), random)],
    }),
    'a phrase for a key in a language': (random) => ({
      texts: [said(phrase(KEY_PHRASES, random), marked(quiet, random), random)],
    }),
    'a password that begins with a dot': (random) => ({
      texts: [
        one(
          [
            (v: string) => `password: ${v}\n`,
            (v: string) => `DB_PASSWORD=${v}\n`,
            (v: string) => `password = "${v}"\n`,
            (v: string) => `  db_password = ${v}\n  port = 5432\n`,
            (v: string) => `mysql -u root -p${v} ${word(random)}\n`,
            (v: string) => `--password ${v}\n`,
            (v: string) => `Password: ${v}\n`,
            (v: string) => `"password": "${v}"\n`,
          ],
          random,
        )(
          `«.${one([chosen, chosen, quiet, (r: Random) => generate('[a-z]{2}[0-9]{2}[A-Z]{2}[a-z]{4}', r)], random)(random)}»`,
        ),
      ],
    }),
    'a name with a value that is no secret': (random) => ({
      texts: [
        one(
          [
            () => `set -gx ${variable(random)} $${variable(random)}\n`,
            () =>
              `oci_connect($user, $password, "${word(random)}/XE");\noci_connect('${word(random)}', $password, '${word(random)}/XE');\n`,
            () =>
              `oracledb.connect(user, getpass.getpass(), "${word(random)}")\nmysqli_connect($host, $user, $password, "${word(random)}");\n`,
            () => `set -l ${word(random)} (cat ~/.${word(random)})\n`,
            () =>
              `      ~ password = (sensitive value)\n      ~ api_key = "\${var.${word(random)}}" -> (known after apply)\n`,
            () => `const check = (token) => token.kind;\n  password: string -> Result\n`,
            () =>
              `  password: .${word(random)}${title(random)}(),\n    let token: Token = .${word(random)}\n    return token\n`,
            () => `        $dsn = 'password=' . $${word(random)} . ';';\n`,
            () => `Passwort für ${word(random)} vergessen: https://example.com/${word(random)}/2026\n`,
            () => `Mot de passe modifié le : 2026-11-${number(10, 29, random)}\n`,
            () => `Öffentlicher Schlüssel: ${generate('[A-Za-z0-9+/]{43}', random)}=\n`,
            () => `Clé publique : ${generate('[A-Za-z0-9+/]{43}', random)}=\n`,
            () => `Schlüssel: ${word(random)}-${word(random)}-${word(random)}-${word(random)}\n`,
            () => `密钥长度: 2048\nChave primária: ${snake(random)}_id\n`,
            () => `  - name: ${snake(random)}_pw_policy\n    value: ${kebab(random)}-${word(random)}\n`,
          ],
          random,
        )(),
      ],
    }),
  },
};
