import { MIXED, type RuleSamples } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'password-in-a-language': {
    match: [
      'senha=«[a-z]{6}[0-9]{4}»\n',
      `пароль: «${MIXED}»\n`,
      `数据库密码：«${MIXED}»\n`,
      `"hasło": "«${MIXED}»"`,
      `mot de passe : «${MIXED}»\n`,
      `Passwort für root: «${MIXED}»\n`,
      `Mot de passe du compte admin : «[A-Z]{1}[a-z]{6}[0-9]{2}»\n`,
      `DB_MDP=«${MIXED}»\n`,
    ],
    clean: [
      'senha: obrigatória\n',
      'пароль: введите\n',
      'desenha=figura2024x\n',
      'mot de passe : https://example.com/1\n',
      'senha = obter_senha()\n',
      'パスワード: 8\n',
      'Mot de passe modifié le : 2026-11-29\n',
      'Passwort für root: vergessen\n',
      `Passwort für: [a-z]{6}[0-9]{2}\n`,
    ],
  },
  'password-told-in-a-language': {
    match: [
      `Das Passwort lautet «${MIXED}».\n`,
      `le mot de passe de la base est «${MIXED}»\n`,
      `Lösenordet är «[A-Z]{1}[a-z]{6}[0-9]{2}»\n`,
      `パスワードは«${MIXED}»です\n`,
    ],
    clean: [
      'Das Passwort ist zu kurz.\n',
      'Das Passwort ist base64-kodiert\n',
      'le mot de passe est obligatoire\n',
      'Das Passwort war bis 2026-11-29 gültig\n',
    ],
  },
  'told-credentials': {
    match: [`Zugangsdaten: admin / «${MIXED}»\n`, 'identifiants : admin / «[A-Z]{1}[a-z]{6}[0-9]{2}»\n'],
    clean: ['Credentials: AWS / OAuth2\n', 'Zugangsdaten: siehe / Handbuch\n', 'Credentials: GET / HTTP/1.1\n'],
  },
  'key-in-a-language': {
    match: [
      'API-Schlüssel: «[A-Za-z0-9]{24}[0-9]{2}[A-Z]{2}»\n',
      '"Clé secrète" : "«[A-Za-z0-9]{24}[0-9]{2}[A-Z]{2}»"',
      'Секретный ключ = «[A-Za-z0-9]{24}[0-9]{2}[A-Z]{2}»\n',
      'APIキー：«[A-Za-z0-9]{24}[0-9]{2}[A-Z]{2}»\n',
    ],
    clean: [
      'Öffentlicher Schlüssel: [A-Za-z0-9]{24}[0-9]{2}[A-Z]{2}\n',
      'Clé publique : [A-Za-z0-9]{24}[0-9]{2}[A-Z]{2}\n',
      'Schlüssel: /etc/ssl/private\n',
      'Schlüsselwort: [A-Za-z0-9]{24}\n',
    ],
  },
  'dumped-password': {
    match: ['  ["password"]=>\n  string(10) "«[a-z]{6}[0-9]{4}»"', '    \\[db_password\\] => «[a-z]{6}[0-9]{4}»\n'],
    clean: [
      '  ["password"]=>\n  NULL',
      "['password' => \\$value]",
      '    \\[password\\] => Array\n',
      '[password] => secret\n',
    ],
  },
  'declared-secret': {
    match: [
      `Password : constant String := "«${MIXED}»";`,
      `const api_key: \\[\\]const u8 = "«${MIXED}»";`,
      `01 WS-PASSWORD PIC X(20) VALUE "«${MIXED}»".`,
    ],
    clean: [
      'Password : constant String := Read;',
      'const password: \\[\\]const u8 = undefined;',
      'WS-PASSWORD PIC X(20).',
    ],
  },
  'defined-secret': {
    match: [`(defparameter *db-password* "«${MIXED}»")`, `(define password "«${MIXED}»")`],
    clean: ['(defun password (x) "docs")', '(define password (read))', '(setq password nil)'],
  },
  'password-given': {
    match: [`nmcli dev wifi connect home password «${MIXED}»`, `Created user x with password «${MIXED}»\n`],
    clean: ['log in with password authentication', 'connect user password required', 'with password less1 prompt'],
  },
  'lftp-login': {
    match: ['lftp -u me,«[a-z]{6}[0-9]{4}» sftp://example.com'],
    clean: ['lftp -u me sftp://example.com', 'lftp -u me,\\$PW x'],
  },
};
