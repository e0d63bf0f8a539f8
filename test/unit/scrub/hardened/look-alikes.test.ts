import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMadeOfWords } from '#src/scrub/words.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { seededRandom } from '../../../helpers/secret-samples.ts';
import { engine } from '../../../helpers/test-rules.ts';

function masked(text: string): string[] {
  return engine.scan(text).map(({ start, end }) => text.slice(start, end));
}

const of = (characters: string, length: number) =>
  fc.array(fc.constantFrom(...characters), { minLength: length, maxLength: length }).map((picked) => picked.join(''));
const hex = (length: number) =>
  fc.integer().map((of) => createHash('sha256').update(String(of)).digest('hex').slice(0, length));
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** What a program makes for a password or a token. */
const literal = of(`${upper.toLowerCase()}${upper}23456789`, 20).filter(
  (text) =>
    /[0-9].*[0-9]/.test(text) &&
    /[a-z]/.test(text) &&
    /[A-Z]/.test(text) &&
    !isMadeOfWords(text) &&
    !/(.)\1{3}/.test(text),
);
const word = fc.constantFrom('user', 'session', 'build', 'current', 'request', 'config', 'store', 'admin', 'cache');
const name = fc.constantFrom('password', 'db_password', 'api_key', 'auth_token', 'client_secret');

function checkNone(texts: fc.Arbitrary<string>): void {
  fc.assert(
    fc.property(texts, (text) => {
      expect(masked(text)).toEqual([]);
    }),
  );
}

/** The same place with a literal in it: the syntax alone must not hide it. */
function checkLiteral(write: (value: string) => string): void {
  fc.assert(
    fc.property(literal, (value) => {
      expect(masked(write(value)).join()).toContain(value);
    }),
    { numRuns: propertyRuns('slow') },
  );
}

describe('SEC-1.1 the line around a value says that it is no secret', () => {
  it('in the attributes of a tag that follow its type or name', () => {
    const attribute = fc.constantFrom('class', 'id', 'placeholder', 'className', 'aria-label', 'for', 'title');
    const value = fc.tuple(word, word).map(([a, b]) => `form-${a}-${b}`);
    const tags = fc
      .tuple(name, attribute, value, fc.constantFrom('"', "'"))
      .map(([type, which, what, quote]) => `<input type=${quote}${type}${quote} ${which}=${quote}${what}${quote}>`);
    checkNone(tags);
    checkLiteral((value) => `<input name="password" value="${value}">`);
  });

  it('in the declaration of a variable whose type has such a parameter', () => {
    const constant = fc.tuple(of(upper, 5), fc.integer({ min: 100, max: 999 }), of(upper, 4));
    checkNone(
      constant.map(
        ([a, size, b]) =>
          `public final class Jwts {\n    static final KeyAlgorithm<Password, Password> ${a}_${b}${size} = Jwts.get(REGISTRY);\n}\n`,
      ),
    );
    checkLiteral((value) => `Map<String, String> password = "${value}";`);
  });

  it('in checksums under the name of a file or of what they are of', () => {
    const size = fc.constantFrom(32, 40, 64).chain(hex);
    const file = fc.tuple(word, fc.constantFrom('gif', 'js', 'svg', 'woff2', 'tgz'));
    checkNone(fc.tuple(file, size).map(([[base, type], sum]) => `"/assets/auth-token-${base}.${type}": "${sum}",`));
    checkNone(fc.tuple(word, size).map(([of, sum]) => `    checksum/secret-${of}: ${sum}`));
    fc.assert(
      fc.property(hex(40), (value) => {
        expect(masked(`"auth_token": "${value}",`)).toEqual([value]);
      }),
    );
  });

  it('in the attributes of a cookie', () => {
    checkNone(
      fc
        .constantFrom('SameSite=Lax', 'SameSite=None', 'Max-Age=3600', 'Path=/login')
        .map((attribute) => `set("csrf_token", "${attribute}")`),
    );
    checkLiteral((value) => `set("csrf_token", "${value}")`);
  });

  it('in the other word that a condition chooses', () => {
    const words = fc.constantFrom('cancel', 'failed', 'unknown', 'expired');
    const names = fc.constantFrom('pass', 'password', 'token', 'secret');
    checkNone(fc.tuple(names, words).map(([a, b]) => `  assert(result, 'should '.($expected ? '${a}' : '${b}'));`));
    checkLiteral((value) => `const options = ok ? { password: '${value}' } : null;`);
  });

  it('in a scheme of authorization before its parameters', () => {
    const scheme = fc.constantFrom('AWS4-HMAC-SHA256', 'GOOG4-RSA-SHA256', 'TC3-HMAC-SHA256', 'ACS3-HMAC-SM3');
    fc.assert(
      fc.property(scheme, hex(64), (name, signature) => {
        const credential = `Credential=me/20261124/eu/s3, SignedHeaders=host, Signature=${signature}`;
        expect(masked(`"Authorization": "${name} ${credential}"`)).not.toContain(name);
      }),
      { numRuns: propertyRuns('slow') },
    );
    checkLiteral((value) => `"Authorization": "Bearer ${value}"`);
  });

  it('in a word that a document emphasizes', () => {
    const words = fc.constantFrom('present', 'required', 'missing', 'stored', 'visible');
    checkNone(
      fc
        .tuple(words, fc.constantFrom('*', '**', '_'))
        .map(([what, sign]) => `checks that the password is ${sign}${what}${sign}. It`),
    );
  });
});

describe('SEC-1.1 a value that stands for another is no secret', () => {
  it('if it consists of one sign or letter', () => {
    const text = fc.tuple(fc.constantFrom('+', '~', '=', 'Y', 'q'), fc.integer({ min: 4, max: 7 }));
    checkNone(text.map(([sign, times]) => `<a name="create-secret">${sign.repeat(times)}</a>`));
    checkNone(text.map(([sign, times]) => `  --set galera.password=${sign.repeat(times)} \\`));
  });

  it('if it is the name of a variable in capitals, or of a field that ends with what it names', () => {
    const part = of(upper, 6);
    checkNone(
      fc
        .tuple(part, part)
        .map(([a, b]) => `kubectl create secret generic x --from-literal=password=${a}_${b}_PASSWORD`),
    );
    const field = fc.tuple(word, fc.integer({ min: 1, max: 9999 }), fc.constantFrom('secret', 'token', 'password'));
    checkNone(field.map(([a, number, b]) => `              key: rfc${number}_${a}_${b}`));
    checkLiteral((value) => `kubectl create secret generic x --from-literal=password=${value}`);
  });

  it('if it is a word with a small number where a token is expected', () => {
    checkNone(fc.tuple(word, fc.nat(99)).map(([kind, number]) => `    {regex: /\\S+/, token: "${kind}-${number}"},`));
    checkLiteral((value) => `    {regex: /\\S+/, token: "${value}"},`);
  });

  it('if it is a JSON Web Token that was cut off before its signature', () => {
    const head = of(`${upper}${upper.toLowerCase()}0123456789`, 30).map((rest) => `eyJ${rest}`);
    checkNone(head.map((cut) => `{"access_token":"${cut}..."}`));
  });

  it('if it has the prefix of a provider and is a name of a program', () => {
    // The rule of the provider takes exactly 34 letters.
    const part = fc.constantFrom(
      'Characteristic',
      'Required',
      'Media',
      'Player',
      'Identifier',
      'Capability',
      'Session',
    );
    const named = fc.array(part, { minLength: 3, maxLength: 4 }).map((parts) => `required${parts.join('')}`);
    checkNone(named.filter(({ length }) => length === 34).map((text) => `export function hf_${text}() {}`));
    fc.assert(
      fc.property(of(`${upper}${upper.toLowerCase()}`, 34), (rest) => {
        expect(masked(`export const x = "hf_${rest}";`)).toEqual([`hf_${rest}`]);
      }),
    );
  });
});

describe('SEC-1.1 texts of other languages are no passwords', () => {
  const LABELS: Readonly<Record<string, readonly string[]>> = {
    russian: ['Пароль', 'Подтвердить', 'Имя', 'Пользователь', 'Неверный'],
    japanese: ['パスワード', 'パスワード確認', '管理者', '名前を入力してください。'],
    latvian: ['Atiestatīt', 'Lūdzu', 'Pašreizējā', 'Ievadītais', 'Mainīt'],
    chinese: ['您帳號的密碼', '兩次輸入的密碼不同', '確認密碼', '使用者'],
    greek: ['Κωδικός', 'Όνομα', 'Σύνδεση'],
  };
  const label = fc
    .constantFrom(...Object.values(LABELS))
    .chain((labels) => fc.tuple(...Array.from({ length: 4 }, () => fc.constantFrom(...labels))));

  it('among others of the language, in JSON and in settings', () => {
    checkNone(
      label.map(
        ([a, b, c, d]) =>
          `{\n  "user": "${a}",\n  "password": "${b}",\n  "login": "${c}",\n  "reset_password": "${d}"\n}\n`,
      ),
    );
    checkNone(label.map(([a, b, c, d]) => `user=${a}\npassword=${b}\nconfirm_password=${c} ${d}\nhost=${d} ${a}\n`));
  });

  it.each(['Passwort', 'Parolă', 'Lösenord', 'Hasło', 'Contraseña', 'Пароль', '密码', 'Heslo'])(
    'if it is the word for a password: %s',
    (value) => {
      expect(masked(`{ "password": "${value}" }`)).toEqual([]);
    },
  );

  it('but a password among them is one', () => {
    fc.assert(
      fc.property(label, literal, ([a, b, c], value) => {
        const text = `user=${a}\npassword=${value}\nlogin=${b}\nhost=${c}\n`;
        expect(masked(text)).toEqual([value]);
      }),
      { numRuns: propertyRuns('slow') },
    );
    expect(masked('{ "user": "me", "password": "schöner-Tag7" }')).toEqual(['schöner-Tag7']);
    expect(masked('user=me\npassword=Blümchenwiese\nhost=db.example.com\n')).toEqual(['Blümchenwiese']);
  });
});

describe('SEC-1.1 expressions whose names have numbers', () => {
  it('are computed', () => {
    const call = fc.constantFrom(
      'base64.StdEncoding.EncodeToString',
      'toBase64',
      'crypto.sha256',
      'md5',
      'utf8Encode',
      'oauth2.basicAuth',
      'x509.encode',
    );
    checkNone(
      call.map(
        (encode) =>
          `func set(req *http.Request) {\n\treq.Header.Set("Authorization", "Basic "+${encode}(pair))\n\treturn nil\n}\n`,
      ),
    );
    const member = fc.tuple(of(upper, 3), fc.integer({ min: 100, max: 999 }), of(upper, 4));
    checkNone(
      member.map(
        ([a, size, b]) =>
          `public class Main {\n  void run() {\n    SecretKeyAlgorithm alg = Jwts.KEY.${a}${size}${b};\n  }\n}\n`,
      ),
    );
  });
});

describe('SEC-1.1 what everyone may read', () => {
  const random = seededRandom(20_261_124);
  const pem = (label: string): string => {
    const body = Buffer.from(Array.from({ length: 600 }, () => Math.floor(random() * 256))).toString('base64');
    return `-----BEGIN ${label}-----\n${body.replace(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`;
  };
  const manifest = (text: string): string =>
    `apiVersion: v1\nkind: Secret\ndata:\n  tls: ${Buffer.from(text).toString('base64')}\n`;

  it.each(['CERTIFICATE', 'PUBLIC KEY', 'CERTIFICATE REQUEST'])('a %s in base64 stays', (label) => {
    expect(masked(manifest(pem(label)))).toEqual([]);
  });

  it('a private key in base64 is masked, with a certificate too', () => {
    const key = ['PRIVATE', 'KEY'].join(' ');
    for (const text of [pem(key), pem('CERTIFICATE') + pem(key)]) {
      const [found = ''] = masked(manifest(text)).sort((a, b) => b.length - a.length);
      expect(found.length).toBeGreaterThan(Buffer.from(text).toString('base64').length - 8);
    }
  });

  it('the type of a secret stays', () => {
    const text = `apiVersion: v1\nkind: Secret\ndata:\n  password: ${'a1Q3d3Eyb'}Vg5c0xwNA==\ntype: kubernetes.io/glusterfs\n`;
    expect(masked(text)).toEqual([`${'a1Q3d3Eyb'}Vg5c0xwNA==`]);
  });

  it('a word in the place of a private key stays', () => {
    const key = ['EC', 'PRIVATE', 'KEY'].join(' ');
    expect(masked(`-----BEGIN ${key}-----\n  REDACTED\n-----END ${key}-----\n`)).toEqual([]);
  });

  it('colours of a terminal after a value do not hide what it is', () => {
    const stays = fc.tuple(of(upper, 6), fc.constantFrom('\x1b[32m', '\x1b[0m', '\x1b[1;31m\x1b[2m'));
    checkNone(stays.map(([what, colour]) => `create x --from-literal=db-password=${what}_PASSWORD${colour} 10ms\n`));
    checkLiteral((value) => `\x1b[2mDB_PASSWORD=${value}\x1b[32m 4\x1b[2mms\x1b[22m\n`);
  });

  it('names in columns are no tokens', () => {
    const cell = fc.constantFrom('Content-MD5', 'HTTP2-Settings', '`XECPublicKey`^*1*^', 'Set-Cookie2');
    checkNone(fc.tuple(cell, cell).map(([a, b]) => `type Header =\n  | 'Api-Key'\n  | '${a}'\n  | '${b}'\n`));
    checkNone(fc.tuple(cell, cell).map(([a, b]) => `| Secret Key\n| ${a}\n| ${b}\n`));
    checkLiteral((value) => `| api_key |\n|---|\n| ${value} |\n`);
    checkLiteral((value) => ` name | password\n------+---------\n me | ${value}\n`);
  });
});
