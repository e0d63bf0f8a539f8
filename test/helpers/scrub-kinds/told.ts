import { type Kind, number, one, strong, word } from './sessions.ts';

type Random = () => number;

const quiet = (random: Random): string => strong(random).replaceAll(/[!$%*]/g, '4');
const chosen = (random: Random): string => `${word(random)}${number(100, 9999, random)}`;
const passwordOf = (random: Random): string => `«${one([quiet, quiet, chosen], random)(random)}»`;

/** Sentences that tell a password. `N` stands for whose it is, `§` for the password. */
const SENTENCES =
  'Das Passwort lautet §|Das Passwort für N ist §|Dein neues Passwort lautet: §|Kennwort für die Datenbank ist §|Das Datenbankpasswort war §|Das Passwort des Benutzers N lautet §|' +
  'Le mot de passe est §|Le mot de passe de la base est §|Votre mot de passe pour N est : §|La contraseña es §|La contraseña de la base es §|La nueva contraseña para N es §|' +
  'La password del database è §|La password di N è §|A senha é §|A senha do usuário N é §|Het wachtwoord is §|Het wachtwoord van N is §|Lösenordet är §|Lösenordet för N är §|' +
  'Adgangskoden er §|Passordet er §|Salasana on §|Hasło to §|Hasło użytkownika N to §|Heslo je §|Parola este §|Lozinka je §|Kata sandi adalah §|Mật khẩu là §|' +
  'Пароль — §|Пароль для входа — §|密码是§|数据库密码为 §|パスワードは§です|비밀번호는 §입니다';
const ENDS = ['\n', '.\n', ', OK\n', ' (temp)\n', '\n\n'];

/** Words for a user and a password together. */
const BOTH =
  'Zugangsdaten|Zugangsdaten für N|Anmeldedaten|Login-Daten|Credentials|Credentials (N)|Login credentials|Identifiants|Identifiants de connexion|Credenciales|Credenciais|Credenziali|Inloggegevens|Benutzer/Passwort|user / password|username/password|Учётные данные';

const filled = (text: string, random: Random): string => text.replace('N', one(['root', word(random)], random));

const WITHOUT: readonly ((random: Random) => string)[] = [
  () => 'Das Passwort ist zu kurz\nDas Passwort ist base64-kodiert\n',
  (r) => `Das Passwort ist mindestens ${number(8, 20, r)} Zeichen lang\nDas Kennwort ist ${number(8, 20, r)}-stellig\n`,
  (r) => `Das Passwort war bis 2026-11-${number(10, 30, r)} gültig\n`,
  () => 'Le mot de passe est obligatoire\nLe mot de passe est SHA-256\n',
  (r) => `Le mot de passe est trop court (${number(4, 7, r)} caractères)\n`,
  () => `La contraseña es demasiado corta: 8\nLa contraseña es \${PASSWORD}\n`,
  () => 'A senha é obrigatória, mínimo 8 caracteres\n密码是必填项\nパスワードは必須です\n',
  (r) => `Das Passwort ist https://${word(r)}.example.com/${number(1, 99, r)}\n`,
  (r) => `Passwort für: ${word(r)}${number(2, 99, r)}\n`,
  (r) => `Mot de passe pour : ${word(r)}${number(2000, 2026, r)}\n`,
  (r) => `Wachtwoord voor: ${word(r)}${number(2, 9, r)}.example.com\n`,
  () => 'Credentials: AWS / OAuth2\nCredentials: HTTP / HTTP/1.1\n',
  (r) => `Zugangsdaten: ${word(r)} / ${word(r)}\nCredentials: $USER / $PASS${number(10, 99, r)}\n`,
];

/** What people tell each other in sentences. */
export const told: Kind = {
  name: 'passwords told in sentences',
  makers: {
    'a sentence': (random) => ({
      texts: [filled(one(SENTENCES.split('|'), random), random).replace('§', passwordOf(random)) + one(ENDS, random)],
    }),
    'a user and a password': (random) => ({
      texts: [
        `${filled(one(BOTH.split('|'), random), random)}${one([': ', ' : '], random)}${one(['admin', 'root', word(random)], random)} / ${passwordOf(random)}${one(['\n', '.\n'], random)}`,
      ],
    }),
    'a sentence without one': (random) => ({ texts: [one(WITHOUT, random)(random)] }),
  },
};
